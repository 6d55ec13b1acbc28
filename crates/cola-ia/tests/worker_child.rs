//! One run of a command, with real processes.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use cola_ia::worker::child::{Cause, Exit, NotStarted, OUTPUT_MAX_BYTES, Spec, Stop, run};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::sync::watch;

/// Far beyond what any of it takes; a run that hangs fails instead.
const PATIENCE: Duration = Duration::from_secs(20);
const LONG: Duration = Duration::from_mins(1);

fn sh(script: impl AsRef<str>) -> Spec {
    Spec {
        program: "sh".into(),
        args: vec!["-c".into(), script.as_ref().into()],
        env: Vec::new(),
        withheld: [].into(),
        stdin: String::new(),
        inherit: None,
        mark: None,
        time_limit: None,
        grace: LONG,
    }
}

fn program(program: impl Into<OsString>) -> Spec {
    Spec { program: program.into(), args: Vec::new(), ..sh("") }
}

fn limited(script: &str, time_limit_ms: u64, grace: Duration) -> Spec {
    Spec { time_limit: Some(Duration::from_millis(time_limit_ms)), grace, ..sh(script) }
}

async fn tried(spec: Spec) -> Result<Exit, NotStarted> {
    // The sender is gone at once, which stops nothing.
    tokio::time::timeout(PATIENCE, run(spec, watch::channel(Stop::Run).1)).await.expect("the run hangs")
}

async fn ran(spec: Spec) -> Exit {
    tried(spec).await.expect("it starts")
}

/// Runs it and says `words` one after the other, each when the script has printed one more line to `file`.
async fn stopped(spec: Spec, file: &Path, words: &[Stop]) -> Exit {
    let (say, stop) = watch::channel(Stop::Run);
    let running = tokio::spawn(run(spec, stop));
    for (number, word) in words.iter().enumerate() {
        wait_for(|| lines(file) > number, "a line").await;
        say.send(*word).unwrap();
    }
    tokio::time::timeout(PATIENCE, running).await.expect("the run hangs").unwrap().expect("it starts")
}

fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
}

async fn wait_for(fact: impl Fn() -> bool, name: &str) {
    let until = Instant::now() + PATIENCE;
    while !fact() {
        assert!(Instant::now() < until, "waited in vain for {name}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The process whose number an output is.
fn pid(stdout: &[u8]) -> Pid {
    Pid::from_raw(text(stdout).trim().parse().unwrap())
}

fn lives(pid: Pid) -> bool {
    // Who has ended and waits for its own parent does not count.
    kill(pid, None).is_ok()
        && !std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z"))
}

#[tokio::test]
async fn code_signal_and_outputs_are_told() {
    let exit = ran(sh("echo out; echo err >&2; exit 65")).await;
    assert_eq!((exit.code, exit.signal, exit.cause, exit.escaped), (Some(65), None, Cause::Itself, false));
    assert_eq!((text(&exit.stdout), text(&exit.stderr)), ("out\n", "err\n"));

    let exit = ran(sh("kill -KILL $$")).await;
    assert_eq!((exit.code, exit.signal, exit.cause, exit.escaped), (None, Some(9), Cause::Itself, false));
}

#[tokio::test]
async fn a_text_of_any_length_and_any_bytes_arrives_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("received");
    let pwned = folder.path().join("pwned");
    let evil = format!("-n \"'`touch {0}`$(touch {0})\n\0; touch {0}\r\n\\", pwned.display());
    let long = |bytes| "0123456789abcde\n".repeat(1 + bytes / 16)[..bytes].to_owned();
    for sent in [String::new(), "ñ".into(), evil, long(65_536), long(131_000), long(132_000), long(3_000_000)] {
        let exit =
            ran(Spec { env: vec![("FILE".into(), file.clone().into())], stdin: sent.clone(), ..sh("cat > \"$FILE\"") })
                .await;
        assert_eq!(exit.code, Some(0), "{exit:?}");
        assert!(std::fs::read_to_string(&file).unwrap() == sent, "{} bytes", sent.len());
        assert!(!pwned.exists());
    }
}

#[tokio::test]
async fn a_text_that_comes_back_while_it_is_fed_blocks_neither_side() {
    let exit = ran(Spec { stdin: "a line\n".repeat(400_000), ..program("cat") }).await;
    assert_eq!(exit.code, Some(0));
    assert!(text(&exit.stdout).starts_with("[… ") && text(&exit.stdout).ends_with("a line\n"));
}

#[tokio::test]
async fn whoever_does_not_read_its_text_is_not_at_fault() {
    for script in ["exit 0", "exec 0<&-; sleep 0.05; exit 0", "head -c 10 > /dev/null", "sleep 0.05"] {
        let exit = ran(Spec { stdin: "x".repeat(3_000_000), ..sh(script) }).await;
        assert_eq!((exit.code, exit.cause, exit.escaped), (Some(0), Cause::Itself, false), "{script}");
    }
}

#[tokio::test]
async fn arguments_are_no_shell_text() {
    let exit =
        ran(Spec { args: vec!["%s|".into(), "a b".into(), "$(id)".into(), "-x".into()], ..program("printf") }).await;
    assert_eq!(text(&exit.stdout), "a b|$(id)|-x|");
}

#[tokio::test]
async fn a_flood_on_both_outputs_costs_bounded_memory() {
    let before = memory_kib();
    let exit =
        ran(sh("head -c 200000000 /dev/zero & head -c 200000000 /dev/zero >&2; wait; echo end; echo end >&2")).await;
    assert_eq!(exit.code, Some(0));
    for output in [&exit.stdout, &exit.stderr] {
        assert!(output.len() <= OUTPUT_MAX_BYTES && output.len() > OUTPUT_MAX_BYTES - 8);
        assert!(output.starts_with("[… 1999".as_bytes()) && output.ends_with(b"\0end\n"));
    }
    let more = memory_kib() - before;
    assert!(more < 8 * 1024, "{more} KiB more");
}

/// The most memory this process ever had.
fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

#[tokio::test]
async fn the_time_limit_ends_the_whole_group() {
    let folder = tempfile::tempdir().unwrap();
    let late = folder.path().join("late");
    let script = format!("echo $$; (sleep 0.6; echo late >> '{}') & sleep 300", late.display());
    let started = Instant::now();
    let exit = ran(limited(&script, 150, LONG)).await;
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!((exit.code, exit.signal, exit.cause, exit.escaped), (None, Some(15), Cause::TimedOut, false));
    assert_no_member(pid(&exit.stdout));
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(!late.exists(), "a grandchild went on working");
}

/// Nobody lives in the group.
fn assert_no_member(group: Pid) {
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()).map(Pid::from_raw) else {
            continue;
        };
        assert!(nix::unistd::getpgid(Some(pid)) != Ok(group) || !lives(pid), "{pid} lives in {group}");
    }
}

#[tokio::test]
async fn whoever_does_not_hear_term_is_killed_after_the_grace() {
    let grace = Duration::from_millis(200);
    let started = Instant::now();
    let exit = ran(limited("echo $$; trap '' TERM; sleep 300 & sleep 300; sleep 300", 100, grace)).await;
    assert!(
        started.elapsed() >= Duration::from_millis(300) && started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
    assert_eq!((exit.code, exit.signal, exit.cause, exit.escaped), (None, Some(9), Cause::TimedOut, false));
    assert_no_member(pid(&exit.stdout));
}

#[tokio::test]
async fn the_grace_is_for_the_whole_group() {
    // The leader ends at once when asked; what it started cleans up for longer than what is merely left behind may live.
    let script = "sh -c 'trap \"sleep 1.3; echo clean; exit\" TERM; echo up; while :; do sleep 0.01; done' & trap 'exit 3' TERM; while :; do sleep 0.01; done";
    let exit = ran(limited(script, 200, LONG)).await;
    assert_eq!((exit.code, exit.cause, text(&exit.stdout)), (Some(3), Cause::TimedOut, "up\nclean\n"));
}

#[tokio::test]
async fn an_escaped_process_that_holds_the_outputs_holds_no_run() {
    for (script, limit) in [
        ("setsid sleep 300 & echo $!", None),
        ("setsid sleep 300 & echo $!; sleep 300", Some(Duration::from_millis(150))),
        ("setsid yes >&2 & echo $!", None),
    ] {
        let started = Instant::now();
        let exit = ran(Spec { time_limit: limit, ..sh(script) }).await;
        assert!(started.elapsed() < Duration::from_secs(3), "{script}: {:?}", started.elapsed());
        assert!(exit.escaped, "{script}");
        assert!(exit.stderr.len() <= OUTPUT_MAX_BYTES);
        assert_eq!(exit.cause, if limit.is_some() { Cause::TimedOut } else { Cause::Itself });
        let _ = kill(pid(&exit.stdout), Signal::SIGKILL);
    }
}

#[tokio::test]
async fn what_is_left_of_the_group_ends_with_its_leader() {
    for script in [
        "sleep 300 >/dev/null 2>&1 & echo $!",
        "(trap '' TERM; exec sleep 300) & echo $!",
        "sleep 300 & kill -STOP $!; echo $!",
    ] {
        let started = Instant::now();
        let exit = ran(sh(script)).await;
        assert!(started.elapsed() < Duration::from_secs(5), "{script}: {:?}", started.elapsed());
        assert_eq!((exit.code, exit.cause, exit.escaped), (Some(0), Cause::Itself, false), "{script}");
        assert!(!lives(pid(&exit.stdout)), "{script}");
    }
}

#[tokio::test]
async fn what_ends_of_itself_right_after_its_leader_may_finish() {
    // On a busy machine the tenth of a second may be over before it was its turn.
    for left in (0..10).rev() {
        let exit = ran(sh("(sleep 0.02; echo last words) & exit 4")).await;
        assert_eq!((exit.code, exit.escaped), (Some(4), false));
        if text(&exit.stdout) == "last words\n" {
            return;
        }
        assert!(left > 0, "never");
    }
}

/// Name, script, time limit, grace, what is said, code and signal.
type StopRow<'a> = (&'a str, &'a str, Option<Duration>, Duration, &'a [Stop], (Option<i32>, Option<i32>));

#[tokio::test]
async fn a_stop_is_heard_and_wins() {
    let folder = tempfile::tempdir().unwrap();
    let soft = "trap 'echo >> $FILE; exit 3' TERM; echo >> $FILE; while :; do sleep 0.01; done";
    let deaf = "trap 'echo >> $FILE' TERM; echo >> $FILE; while :; do sleep 0.01; done";
    let short = Duration::from_millis(100);
    let table: [StopRow; 6] = [
        ("asked", soft, None, LONG, &[Stop::Terminate], (Some(3), None)),
        ("asked twice and deaf", deaf, None, short, &[Stop::Terminate, Stop::Terminate], (None, Some(9))),
        ("killed", soft, None, LONG, &[Stop::Kill], (None, Some(9))),
        ("killed while asked", deaf, None, LONG, &[Stop::Terminate, Stop::Kill], (None, Some(9))),
        ("killed in the grace of the time limit", deaf, Some(short), LONG, &[Stop::Run, Stop::Kill], (None, Some(9))),
        (
            "stopped in the grace of the time limit",
            deaf,
            Some(short),
            5 * short,
            &[Stop::Run, Stop::Terminate],
            (None, Some(9)),
        ),
    ];
    for (name, script, time_limit, grace, words, end) in table {
        let file = folder.path().join(name);
        let spec = Spec {
            env: vec![("FILE".into(), file.clone().into())],
            time_limit,
            grace,
            ..sh(script.replace("$FILE", "\"$FILE\""))
        };
        let started = Instant::now();
        let exit = stopped(spec, &file, words).await;
        assert_eq!(((exit.code, exit.signal), exit.cause), (end, Cause::Stopped), "{name}");
        assert!(started.elapsed() < Duration::from_secs(5), "{name}: {:?}", started.elapsed());
    }
}

#[tokio::test]
async fn a_kill_does_not_wait_for_what_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lines");
    let script = format!(
        "(trap 'until grep -q \") Z\" /proc/$$/stat; do sleep 0.01; done; echo >> {0}' TERM; while :; do sleep 0.01; done) & trap 'exit 3' TERM; echo >> {0}; while :; do sleep 0.01; done",
        file.display()
    );
    let started = Instant::now();
    let exit =
        stopped(Spec { time_limit: Some(Duration::from_millis(100)), ..sh(script) }, &file, &[Stop::Run, Stop::Kill])
            .await;
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!((exit.code, exit.cause), (Some(3), Cause::TimedOut));
}

#[tokio::test]
async fn a_stop_that_was_first_starts_nothing() {
    for word in [Stop::Terminate, Stop::Kill] {
        let started = run(sh("exit 0"), watch::channel(word).1).await;
        assert!(matches!(started, Err(NotStarted::Stopped)), "{started:?}");
    }
}

#[tokio::test]
async fn a_suspended_command_ends_too() {
    let exit = ran(limited("kill -STOP $$", 100, LONG)).await;
    assert_eq!((exit.signal, exit.cause), (Some(15), Cause::TimedOut));
    let exit =
        ran(limited("trap 'kill -STOP $$' TERM; kill -STOP $$; sleep 300", 100, Duration::from_millis(100))).await;
    assert_eq!((exit.signal, exit.cause), (Some(9), Cause::TimedOut));
}

#[tokio::test]
async fn a_run_that_is_dropped_ends_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let script = format!("trap '' TERM; sleep 300 & echo $! >> {0}; echo $$ >> {0}; wait", file.display());
    let running = tokio::spawn(run(sh(script), watch::channel(Stop::Run).1));
    wait_for(|| lines(&file) == 2, "both numbers").await;
    running.abort();
    for line in std::fs::read_to_string(&file).unwrap().lines() {
        wait_for(|| !lives(pid(line.as_bytes())), "the end of the group").await;
    }
    wait_for(|| children().is_empty(), "the reaping").await;
}

#[tokio::test]
async fn why_a_command_did_not_start_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &[u8], mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.into_os_string()
    };
    let in_path = |name: &str| Spec { env: vec![("PATH".into(), folder.path().into())], ..program(name) };
    let not_executable = file("plain.sh", b"#!/bin/sh\n", 0o644);
    let no_interpreter = file("script.py", b"#! /no/such/python -u\n", 0o755);
    let from_windows = file("windows.sh", b"#!/bin/sh\r\nexit 0\r\n", 0o755);
    let no_format = file("text", b"exit 0\n", 0o755);
    let binary = std::fs::read("/bin/sleep").unwrap();
    let loader = binary.windows(4).position(|bytes| bytes == b"/ld-");
    let no_loader = loader.map(|at| file("binary", &[&binary[..at], b"/xx-", &binary[at + 4..]].concat(), 0o755));
    let long = "x".repeat(131_072);
    let table: [(&str, Spec, &str); 13] = [
        ("a name", program("no-such-program-of-cola-ia"), "NotFound"),
        ("a path", program("/no/such/program"), "NotFound"),
        ("below a file", program("/etc/passwd/program"), "NotFound"),
        ("an empty name", program(""), "NotFound"),
        ("a folder", program(folder.path()), "Denied"),
        ("not executable", program(not_executable), "Denied"),
        ("not executable, by name", in_path("plain.sh"), "Denied"),
        ("no interpreter", program(no_interpreter), "NoInterpreter(Some(\"/no/such/python\"))"),
        ("no interpreter, by name", in_path("script.py"), "NoInterpreter(Some(\"/no/such/python\"))"),
        ("line ends of Windows", program(from_windows), "NoInterpreter(Some(\"/bin/sh\\r\"))"),
        ("no format", program(no_format), "NoFormat"),
        ("a long argument", Spec { args: vec![long.clone().into()], ..program("true") }, "TooLong"),
        ("a long variable", Spec { env: vec![("LONG".into(), long.into())], ..program("true") }, "TooLong"),
    ];
    for (name, spec, want) in table {
        assert_eq!(format!("{:?}", tried(spec).await.unwrap_err()), want, "{name}");
    }
    if let Some(no_loader) = no_loader {
        assert_eq!(format!("{:?}", tried(program(no_loader)).await.unwrap_err()), "NoInterpreter(None)");
    }
    let nul = tried(Spec { args: vec!["a\0b".into()], ..program("true") }).await;
    assert!(
        matches!(&nul, Err(NotStarted::Other(error)) if error.kind() == std::io::ErrorKind::InvalidInput),
        "{nul:?}"
    );
    assert_eq!(children(), BTreeSet::new());
}

/// The processes that this one started and has not reaped.
fn children() -> BTreeSet<String> {
    let mine = format!(" {} ", std::process::id());
    let stats = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok());
    stats
        .filter(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.get(2..).unwrap().starts_with(&mine)))
        .collect()
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_runs_leave_no_process_and_no_descriptor() {
    const AT_ONCE: usize = 8;
    let runs: usize = std::env::var("COLA_IA_TEST_RUNS").map_or(300, |runs| runs.parse().unwrap());
    ran(program("true")).await;
    let before = descriptors();
    let started = Instant::now();
    let mut running = tokio::task::JoinSet::new();
    for number in 0..runs {
        if running.len() == AT_ONCE {
            running.join_next().await.unwrap().unwrap();
        }
        running.spawn(async move {
            let short = Duration::from_millis(20);
            match number % 50 {
                0 => assert_eq!(ran(limited("sleep 300 & sleep 300", 10, LONG)).await.cause, Cause::TimedOut),
                1 => assert_eq!(
                    ran(limited("trap '' TERM; sleep 300 & sleep 300; sleep 300", 10, short)).await.cause,
                    Cause::TimedOut
                ),
                2 => assert_eq!(ran(Spec { grace: short, ..sh("sleep 300 & exit 5") }).await.code, Some(5)),
                3 => assert_eq!(ran(Spec { stdin: "x".repeat(200_000), ..sh("exit 6") }).await.code, Some(6)),
                4 => assert!(matches!(tried(program("/no/such/program")).await, Err(NotStarted::NotFound))),
                5 => {
                    let exit = ran(sh("setsid sleep 300 & echo $!")).await;
                    kill(pid(&exit.stdout), Signal::SIGKILL).unwrap();
                    assert!(exit.escaped);
                }
                6 => drop(tokio::time::timeout(short, run(sh("sleep 300"), watch::channel(Stop::Run).1)).await),
                _ => assert_eq!(ran(program("true")).await.code, Some(0)),
            }
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    eprintln!("{runs} runs in {:?}", started.elapsed());
    wait_for(|| children().is_empty(), "the reaping of those that were dropped").await;
    assert_eq!(descriptors(), before);
}

#[test]
fn a_run_may_move_between_threads() {
    fn check(_: impl Send) {}
    check(run(sh(""), watch::channel(Stop::Run).1));
}

/// Starts `inside_of_a_strange_start` under circumstances that a process cannot make for itself.
#[cfg(target_os = "linux")]
#[test]
fn what_we_were_started_with_does_not_reach_the_command() {
    // In this order: a shell would give itself back the end of its children.
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "exec 7</dev/null 9>/dev/null; exec env --ignore-signal=CHLD --block-signal \"$@\"", "sh"]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "inside_of_a_strange_start", "--ignored", "--nocapture"]);
    command
        .env("COLA_IA_STORE", "ours")
        .env("COLA_IA_LEASE", "of an outer job")
        .env("COLA_IA_LANG", "es")
        .env("COLA_IAX", "theirs");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text(&output.stdout).contains("1 passed"), "{}", String::from_utf8_lossy(&output.stdout));
}

#[cfg(target_os = "linux")]
#[tokio::test]
#[ignore = "what_we_were_started_with_does_not_reach_the_command runs it"]
async fn inside_of_a_strange_start() {
    let before = std::fs::read_to_string("/proc/self/status").unwrap();
    assert!(set(&before, "SigBlk:") != 0 && has(set(&before, "SigIgn:"), Signal::SIGCHLD), "{before}");
    assert!(Path::new("/proc/self/fd/7").exists());
    let careless = nix::fcntl::open("/dev/null", nix::fcntl::OFlag::O_RDONLY, nix::sys::stat::Mode::empty()).unwrap();

    let env = vec![("COLA_IA_JOB".into(), "1".into())];
    let exit = ran(Spec {
        env,
        ..sh("env; n=0; while [ $n -lt 99 ]; do [ ! -e /proc/$$/fd/$n ] || echo open $n; n=$((n+1)); done")
    })
    .await;
    assert_eq!(exit.code, Some(0), "an ignored end of children loses the exit code");
    let ours: BTreeSet<&str> = text(&exit.stdout).lines().filter(|line| line.starts_with("COLA_IA")).collect();
    assert_eq!(ours, BTreeSet::from(["COLA_IAX=theirs", "COLA_IA_JOB=1", "COLA_IA_LANG=es"]));
    let open: Vec<&str> = text(&exit.stdout).lines().filter(|line| line.starts_with("open ")).collect();
    assert_eq!(open, ["open 0", "open 1", "open 2"]);
    drop(careless);

    let exit = ran(Spec { args: vec!["/proc/self/status".into()], ..program("cat") }).await;
    let status = text(&exit.stdout);
    assert_eq!(set(status, "SigBlk:"), 0);
    // Others that are ignored stay so, as `nohup` wants it.
    for signal in [Signal::SIGCHLD, Signal::SIGPIPE] {
        assert!(!has(set(status, "SigIgn:"), signal), "{signal}");
    }
}

/// A set of signals in the status of a process.
fn set(status: &str, name: &str) -> u64 {
    let bits = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    u64::from_str_radix(bits.trim(), 16).unwrap()
}

fn has(set: u64, signal: Signal) -> bool {
    set & (1 << (signal as i32 - 1)) != 0
}

/// Runs a test of this file by itself, since what it does to its process would disturb the others.
fn run_alone(test: &str) {
    let alone = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored"])
        .output()
        .unwrap();
    assert!(text(&alone.stdout).contains("1 passed"), "{alone:?}");
}

#[test]
fn orphans_that_come_to_us_are_reaped_and_no_run_loses_its_exit_code() {
    run_alone("inside_of_one_who_adopts");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "orphans_that_come_to_us_are_reaped_and_no_run_loses_its_exit_code runs it"]
async fn inside_of_one_who_adopts() {
    nix::sys::prctl::set_child_subreaper(true).unwrap();
    let mut running = tokio::task::JoinSet::new();
    for number in 0..200 {
        if running.len() == 4 {
            running.join_next().await.unwrap().unwrap();
        }
        let code = number % 100;
        let script = match number % 4 {
            0 => format!("setsid sleep 0.03 > /dev/null 2>&1 & exit {code}"),
            1 => format!("sleep 300 & exit {code}"),
            _ => format!("exit {code}"),
        };
        running
            .spawn(async move { assert_eq!(ran(Spec { grace: Duration::ZERO, ..sh(script) }).await.code, Some(code)) });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    // Who escaped may still be on its way to its end; each run that ends looks for those that have.
    let until = Instant::now() + PATIENCE;
    while !children().is_empty() {
        assert!(Instant::now() < until, "{:?}", children());
        ran(program("true")).await;
    }
}
