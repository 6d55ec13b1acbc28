//! The servers of `cargo xtask postgres`, from outside: they answer, and nothing of them outlives whoever asked for them.

#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const XTASK: &str = env!("CARGO_BIN_EXE_xtask");
/// Far more than servers need to start or to stop.
const PATIENCE: Duration = Duration::from_secs(90);

/// Where servers of this name leave their logs.
fn kept(name: &str) -> PathBuf {
    let target = Path::new(XTASK).parent().and_then(Path::parent).unwrap();
    target.join("postgres").join(name)
}

fn xtask(name: &str) -> Command {
    let mut command = Command::new(XTASK);
    command.args(["postgres", "--name", name]).stdin(Stdio::null());
    command
}

/// Whether the programs are here; where they must be, a missing one is a failure.
fn tools() -> bool {
    let out = Command::new(XTASK).arg("tools").output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let here = |name: &str| text.lines().any(|line| line.split_whitespace().take(2).eq([name, "ok"]));
    let missing: Vec<_> =
        ["initdb", "postgres", "psql", "pgbouncer", "openssl"].into_iter().filter(|name| !here(name)).collect();
    assert!(missing.is_empty() || std::env::var_os("COLA_IA_REQUIRE_TOOLS").is_none(), "needed: {missing:?}");
    if !missing.is_empty() {
        eprintln!("skipped: {missing:?} cannot be used here; COLA_IA_REQUIRE_TOOLS=1 makes this a failure");
    }
    missing.is_empty()
}

/// The processes, keeper and servers, whose command line has this name as a word or in a path.
fn processes(name: &str) -> Vec<u32> {
    let own = std::process::id();
    let numbers = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let named = |number: &u32| {
        let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        *number != own && String::from_utf8_lossy(&line).contains(name)
    };
    numbers.filter(named).collect()
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn kill(signal: &str, number: u32) {
    assert!(Command::new("sh").args(["-c", &format!("kill -s {signal} {number}")]).status().unwrap().success());
}

/// Servers that run until their user is killed; the lines that it printed about them.
fn start(name: &str) -> (Child, Vec<String>) {
    let mut user = xtask(name).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(user.stdout.take().unwrap()).lines().map(Result::unwrap);
    let exports = lines.skip_while(|line| !line.starts_with("export ")).take_while(|line| line.starts_with("export "));
    let exports: Vec<_> = exports.collect();
    assert_eq!(exports.len(), 3, "{exports:?}");
    (user, exports)
}

fn no_trace_of(name: &str) {
    let place = kept(name).join("place");
    wait_until("the place goes", || !place.exists() && !kept(name).join("run").exists());
    wait_until("the processes go", || processes(name).is_empty());
}

#[test]
fn a_command_reaches_both_servers_and_nothing_is_left_of_them() {
    const NAME: &str = "trial-with-command";
    const ASK: &str = r#"
        set -e
        vouched="sslmode=verify-full&sslrootcert=$COLA_IA_TEST_POSTGRES_CA"
        for url in "$COLA_IA_TEST_POSTGRES" "$COLA_IA_TEST_PGBOUNCER"; do
            by_name=$(printf %s "$url" | sed s/127.0.0.1/localhost/)
            for each in "$url" "$url?$vouched" "$by_name?$vouched"; do
                psql -qAtX "$each" -c "select 'answer ' || current_user || ' ' || current_setting('fsync')"
            done
        done
        without=$(printf %s "$COLA_IA_TEST_POSTGRES" | sed 's/:[0-9a-f]*@/:wrong@/')
        ! psql -qAtX "$without" -c "select 'answer without the password'" 2>&1
    "#;
    if !tools() {
        return;
    }
    let out = xtask(NAME).args(["--", "sh", "-c", ASK]).output().unwrap();
    let (said, wrong) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}\n{wrong}");
    assert_eq!(said.lines().filter(|line| *line == "answer cola off").count(), 6, "{said}");
    assert!(!said.lines().any(|line| line == "answer without the password"), "{said}");
    // At once: the command does not end before they have.
    assert_eq!(processes(NAME), []);
    assert!(!kept(NAME).join("run").exists() && !kept(NAME).join("place").exists());
}

#[test]
fn with_flushes_the_server_is_as_in_production() {
    const ASK: &str = r#"psql -qAtX "$COLA_IA_TEST_POSTGRES" -c "select 'answer ' || string_agg(setting, ' ')
        from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')""#;
    if !tools() {
        return;
    }
    let out = xtask("trial-with-flushes").args(["--flush", "--", "sh", "-c", ASK]).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(said.lines().any(|line| line == "answer on on on"), "{said}");
}

#[test]
fn however_their_user_is_killed_the_servers_go() {
    if !tools() {
        return;
    }
    for (name, signal) in [("trial-interrupted", "INT"), ("trial-ended", "TERM"), ("trial-killed", "KILL")] {
        let (mut user, _) = start(name);
        assert!(processes(name).len() >= 4, "user, keeper and two servers");
        kill(signal, user.id());
        assert!(!user.wait().unwrap().success());
        no_trace_of(name);
    }
}

#[test]
fn what_a_killed_keeper_left_does_not_disturb_the_next_run() {
    const NAME: &str = "trial-without-keeper";
    if !tools() {
        return;
    }
    let (mut user, first) = start(NAME);
    let all = processes(NAME);
    let keeper = |number: &u32| {
        fs::read(format!("/proc/{number}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains("postgres-keeper"))
    };
    let keeper = *all.iter().find(|number| keeper(number)).unwrap();
    let servers: Vec<_> = all.iter().copied().filter(|number| *number != keeper && *number != user.id()).collect();
    kill("KILL", keeper);
    assert!(!user.wait().unwrap().success(), "who waits for the servers is told that they are gone");
    assert!(servers.iter().all(|number| processes(NAME).contains(number)), "the keeper could stop nothing");
    let (mut user, second) = start(NAME);
    assert_ne!(first, second);
    let now = processes(NAME);
    assert!(!servers.iter().any(|number| now.contains(number)), "{servers:?} {now:?}");
    kill("TERM", user.id());
    user.wait().unwrap();
    no_trace_of(NAME);
}

#[test]
fn servers_of_one_name_run_once() {
    // Not a keeper: what a run holds is the lock.
    const NAME: &str = "trial-locked";
    if !tools() {
        return;
    }
    fs::create_dir_all(kept(NAME)).unwrap();
    let lock = fs::File::create(kept(NAME).join("lock")).unwrap();
    lock.lock().unwrap();
    let out = xtask(NAME).args(["--", "true"]).output().unwrap();
    assert!(!out.status.success());
    assert!(String::from_utf8_lossy(&out.stderr).contains("are running already"), "{out:?}");
}
