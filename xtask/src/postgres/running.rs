//! One server's process: started, waited for until it answers, stopped.

use std::fs::{self, File};
use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Attempt, Failure};
use crate::run;

use super::folder::Folder;

/// How long a server may take to answer, and to end.
const READY_WITHIN: Duration = Duration::from_mins(1);
const STOP_WITHIN: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(20);

/// A kind of server, and the signal at which it ends at once and in order.
pub(super) struct Server {
    pub(super) name: &'static str,
    signal: &'static str,
}

pub(super) const POSTGRES: Server = Server { name: "postgres", signal: "QUIT" };
pub(super) const PGBOUNCER: Server = Server { name: "pgbouncer", signal: "TERM" };
pub(super) const SERVERS: [&Server; 2] = [&PGBOUNCER, &POSTGRES];

/// A started server. Dropped, it is stopped.
pub(super) struct Running {
    server: &'static Server,
    child: Child,
}

impl Running {
    /// Starts a server and waits until it is ready.
    ///
    /// # Errors
    /// If it does not start, ends, or is not ready in time; with the end of its log.
    pub(super) fn start(
        server: &'static Server,
        command: &mut Command,
        folder: &Folder,
        is_ready: impl Fn() -> bool,
    ) -> Result<Self, Failure> {
        let (log, pid) = (folder.log(server.name), folder.pid(server.name));
        let out = File::create(&log).attempt(|| format!("make {}", log.display()))?;
        let err = out.try_clone().attempt(|| format!("open {} twice", log.display()))?;
        let child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn();
        let child = child.attempt(|| format!("start `{}`", run::shown(command)))?;
        let mut running = Self { server, child };
        fs::write(&pid, running.child.id().to_string()).attempt(|| format!("write {}", pid.display()))?;
        let started = Instant::now();
        loop {
            let ended = running.child.try_wait().attempt(|| format!("wait for {}", server.name))?;
            if let Some(status) = ended {
                return Err(Failure::new(format!("{} ended: {status}\n{}", server.name, last_lines(&log))));
            }
            // Asked while it runs: another program may have taken the port.
            if is_ready() {
                return Ok(running);
            }
            if started.elapsed() > READY_WITHIN {
                let seconds = READY_WITHIN.as_secs();
                return Err(Failure::new(format!(
                    "{} was not ready within {seconds} s\n{}",
                    server.name,
                    last_lines(&log)
                )));
            }
            thread::sleep(STEP);
        }
    }

    /// Whether it has ended by itself.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.has_ended() {
            return;
        }
        signal(self.server.signal, &self.child.id().to_string());
        let started = Instant::now();
        while started.elapsed() < STOP_WITHIN {
            if self.has_ended() {
                return;
            }
            thread::sleep(STEP);
        }
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// Stops the process of an earlier run, if it is still there: its number alone may be another's by now, so its command line must
/// name the place. Where the system does not show command lines nothing is stopped; PostgreSQL then ends by itself when its
/// files are gone.
///
/// # Errors
/// If it does not end.
pub(super) fn stop_leftover(server: &Server, number: &str, place: &Path) -> Result<(), Failure> {
    let is_there = || {
        let line = fs::read(Path::new("/proc").join(number).join("cmdline")).unwrap_or_default();
        !number.is_empty() && String::from_utf8_lossy(&line).contains(&*place.to_string_lossy())
    };
    let started = Instant::now();
    while is_there() {
        let elapsed = started.elapsed();
        if elapsed > 2 * STOP_WITHIN {
            return Err(Failure::new(format!("{} of an earlier run, process {number}, does not end", server.name)));
        }
        signal(if elapsed > STOP_WITHIN { "KILL" } else { server.signal }, number);
        thread::sleep(STEP);
    }
    Ok(())
}

/// The shell's own kill: there is a shell everywhere, and not everywhere the program.
fn signal(name: &str, number: &str) {
    let _ended = run::succeeds(Command::new("/bin/sh").args(["-c", "kill -s \"$0\" \"$1\"", name, number]));
}

/// A port of loopback that is free now.
pub(super) fn free_port() -> Result<u16, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    listener
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .attempt(|| "find a port".to_owned())
}

/// Whether somebody listens there.
pub(super) fn listens(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// 32 hexadecimal digits that nobody can guess.
pub(super) fn random_word() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    read.attempt(|| "read /dev/urandom".to_owned())?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// The end of a log, for people.
fn last_lines(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_not_of_the_place_is_left_alone() {
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        stop_leftover(&POSTGRES, &other.id().to_string(), Path::new("/no/such/place")).unwrap();
        assert!(other.try_wait().unwrap().is_none());
        other.kill().and_then(|()| other.wait()).unwrap();
    }

    #[test]
    fn what_an_earlier_run_left_running_is_stopped() {
        // The word behind the script is not used: it stands in the command line, as a server's folder does. `echo` says that it
        // does: a process that is just being made has no command line yet.
        let script = "echo; while :; do sleep 0.05; done";
        let mut command = Command::new("sh");
        let mut server = command.args(["-c", script, "/some/place/data"]).stdout(Stdio::piped()).spawn().unwrap();
        server.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let number = server.id().to_string();
        let waiting = thread::spawn(move || server.wait().unwrap());
        stop_leftover(&PGBOUNCER, &number, Path::new("/some/place")).unwrap();
        assert!(!waiting.join().unwrap().success());
    }

    #[test]
    fn random_words_differ() {
        let (one, other) = (random_word().unwrap(), random_word().unwrap());
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
    }
}
