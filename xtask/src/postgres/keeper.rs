//! The keeper: a process that starts the servers, tells where they are, and stops them when the pipe it reads from closes.
//!
//! The system closes that pipe however the other process ended, so the servers never outlive their user. The keeper is in a
//! process group of its own: what a terminal sends to a run does not reach it before it has stopped them.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::failure::{Attempt, Failure};
use crate::machine;
use crate::repository::Repository;

use super::account::Account;
use super::config::{self, Flush, Ports};
use super::folder::Folder;
use super::running::{self, PGBOUNCER, POSTGRES, Running};

/// The first argument of this program as a keeper; the name and the word for flushes follow.
pub(crate) const KEEPER: &str = "postgres-keeper";

/// Begins an answer of the keeper: variables follow, or why there are none.
pub(super) const STARTED: &str = "started";
pub(super) const FAILED: &str = "failed";

/// Ports that seem free can be taken by another program before the server has them.
const PORT_TRIES: u32 = 3;

/// Runs as the keeper until standard input ends or a server does.
///
/// # Errors
/// What the arguments are not; that a server ended by itself.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), Failure> {
    let [name, flush] = arguments else { return Err(Failure::new("a keeper is told a name and whether to flush")) };
    let flush = Flush::from_word(flush).ok_or_else(|| Failure::new(format!("flush `{flush}`?")))?;
    // From the first moment: whoever asked may be gone before the servers are up.
    let (gone, asker) = mpsc::channel::<()>();
    thread::spawn(move || {
        let _all = io::stdin().read_to_end(&mut Vec::new());
        drop(gone);
    });
    let started = start(repository, name, flush);
    let answer = match &started {
        Ok(pair) => {
            pair.environment.iter().fold(STARTED.to_owned(), |text, (name, value)| format!("{text}\n{name}={value}"))
        }
        Err(failure) => format!("{FAILED}\n{failure}"),
    };
    // An empty line is the end. An asker that is gone hears nothing, and is noticed below.
    let mut out = io::stdout();
    let _told = out.write_all(format!("{answer}\n\n").as_bytes()).and_then(|()| out.flush());
    let Ok(mut pair) = started else { return Ok(()) };
    while asker.recv_timeout(Duration::from_millis(200)) == Err(RecvTimeoutError::Timeout) {
        if pair.pgbouncer.has_ended() || pair.postgres.has_ended() {
            let logs = pair.folder.log(POSTGRES.name);
            return Err(Failure::new("a server of the tests ended by itself").hint(format!("see {}", logs.display())));
        }
    }
    Ok(())
}

/// Both servers. Dropped in this order: the pooler, its server, their files.
struct Pair {
    pgbouncer: Running,
    postgres: Running,
    folder: Folder,
    environment: Vec<(String, String)>,
}

fn start(repository: &Repository, name: &str, flush: Flush) -> Result<Pair, Failure> {
    let account = Account::of_servers()?;
    let folder = Folder::take(repository.target(), name, account)?;
    let programs = Programs::find()?;
    let password = running::random_word()?;
    let authority = certify(&programs, account, &folder)?;
    lay_out(&programs, account, &folder, &password)?;
    let (postgres, port) = with_free_port(|port| start_postgres(&programs, account, &folder, port, flush))?;
    folder.write(account, "users.txt", &config::users(&password))?;
    let (pgbouncer, pooled_port) = with_free_port(|pooled_port| {
        let ports = Ports { postgres: port, pgbouncer: pooled_port };
        let settings = folder.write(account, "pgbouncer.ini", &config::pgbouncer(ports, folder.path()))?;
        let mut command = account.command(&programs.pgbouncer, folder.path());
        Running::start(&PGBOUNCER, command.arg(settings), &folder, || running::listens(pooled_port))
    })?;
    let ports = Ports { postgres: port, pgbouncer: pooled_port };
    Ok(Pair { pgbouncer, postgres, environment: config::environment(ports, &password, &authority), folder })
}

fn with_free_port(start: impl Fn(u16) -> Result<Running, Failure>) -> Result<(Running, u16), Failure> {
    let mut tries = 1;
    loop {
        let port = running::free_port()?;
        match start(port) {
            Ok(running) => return Ok((running, port)),
            Err(failure) if tries == PORT_TRIES => return Err(failure),
            Err(_) => tries += 1,
        }
    }
}

/// The programs, of one version: that of the `initdb` that is found.
struct Programs {
    initdb: PathBuf,
    postgres: PathBuf,
    pgbouncer: PathBuf,
    openssl: PathBuf,
}

impl Programs {
    fn find() -> Result<Self, Failure> {
        let find = |name: &str| machine::find_program(name).ok_or_else(|| Failure::new(format!("{name} is missing")));
        // Past links to it: its neighbours are where it really is.
        let initdb = find("initdb")?;
        let initdb = initdb.canonicalize().attempt(|| format!("find {}", initdb.display()))?;
        let postgres = initdb.with_file_name("postgres");
        Ok(Self { initdb, postgres, pgbouncer: find("pgbouncer")?, openssl: find("openssl")? })
    }
}

/// Makes the data folder with its role and database.
fn lay_out(programs: &Programs, account: Account, folder: &Folder, password: &str) -> Result<(), Failure> {
    let place = folder.path();
    let initdb = ["--pgdata", "data", "--username", "postgres", "--encoding", "UTF8", "--no-locale", "--no-sync"];
    feed(account.command(&programs.initdb, place).args(initdb), "")?;
    folder.write(account, "data/pg_hba.conf", &config::access())?;
    // Written before a flush is turned on, and copied whole by a checkpoint: no reason to wait for the disk.
    let alone = ["--single", "-D", "data", "-c", "exit_on_error=on", "-c", "fsync=off", "postgres"];
    feed(account.command(&programs.postgres, place).args(alone), &config::first_statements(password))
}

fn start_postgres(
    programs: &Programs,
    account: Account,
    folder: &Folder,
    port: u16,
    flush: Flush,
) -> Result<Running, Failure> {
    folder.write(account, "data/postgresql.conf", &config::postgresql(port, flush))?;
    let data = folder.path().join("data");
    let state = data.join("postmaster.pid");
    // The whole path, so that a later run can see whose process this is.
    let mut command = account.command(&programs.postgres, folder.path());
    Running::start(&POSTGRES, command.arg("-D").arg(&data), folder, || {
        // The eighth line is how the server itself says that it takes connections.
        std::fs::read_to_string(&state).is_ok_and(|text| text.lines().nth(7).is_some_and(|line| line.trim() == "ready"))
    })
}

/// Makes a certificate for localhost and the authority that vouches for it; answers where the latter is.
fn certify(programs: &Programs, account: Account, folder: &Folder) -> Result<PathBuf, Failure> {
    folder.write(account, "certificates.cnf", config::CERTIFICATES)?;
    let openssl = |words: &str| feed(account.command(&programs.openssl, folder.path()).args(words.split(' ')), "");
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -config certificates.cnf";
    openssl(&format!("req -x509 {key} -extensions authority -keyout ca.key -out ca.pem -days 30"))?;
    openssl(&format!("req -new {key} -subj /CN=localhost -keyout server.key -out server.csr"))?;
    openssl(
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 30 \
         -extfile certificates.cnf -extensions server",
    )?;
    readable_authority(folder)
}

/// Tests run as whoever started them, so the authority's certificate is copied to where they can read it.
fn readable_authority(folder: &Folder) -> Result<PathBuf, Failure> {
    let (from, to) = (folder.path().join("ca.pem"), folder.authority());
    std::fs::copy(&from, &to).attempt(|| format!("copy {} to {}", from.display(), to.display()))?;
    Ok(to)
}

/// Runs a command with this input; fails with what it said unless it exits 0.
fn feed(command: &mut Command, input: &str) -> Result<(), Failure> {
    use std::process::Stdio;
    let name = Path::new(command.get_program()).display().to_string();
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.attempt(|| format!("start {name}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // What a program that has ended did not read is told by its status.
        let _written = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().attempt(|| format!("wait for {name}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("{name}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr).trim_end())))
    }
}
