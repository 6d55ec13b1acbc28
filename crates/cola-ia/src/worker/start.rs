//! Starting a command: what it inherits, and why it did not start.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{SigSet, SigmaskHow};
use nix::unistd::{AccessFlags, access};
use tokio::net::unix::pipe::{Receiver, Sender};

use super::child::{NotStarted, Spec};
use super::ended::keep_the_ended;
use super::group::Leader;
use super::pump::{Feed, Output, Pump};

/// Variables of ours have this in front; of these a command inherits [`INHERITED`] only.
const OURS: &[u8] = b"COLA_IA_";
const INHERITED: &str = "COLA_IA_LANG";

/// Starts it. Whatever can fail on our side is done before.
pub(super) fn start(spec: Spec) -> Result<(Leader, Pump), NotStarted> {
    keep_the_ended();
    let mut command = command(&spec);
    let pipes = match spec.inherit {
        Some(heard) => ours(&mut command, heard),
        None => pipes(&mut command, spec.stdin.into_bytes()),
    };
    let pump = pipes.map_err(NotStarted::Other)?;
    let leader = spawn(&mut command).map_err(|error| why(error, &spec.program, &spec.env))?;
    Ok((leader, pump))
}

fn command(spec: &Spec) -> Command {
    let mut command = named(&spec.program, &spec.env);
    command.args(&spec.args).process_group(0);
    for (name, _) in std::env::vars_os() {
        let withheld = spec.withheld.iter().any(|secret| name == secret.as_str());
        if withheld || (name.as_bytes().starts_with(OURS) && name != INHERITED) {
            command.env_remove(name);
        }
    }
    command.envs(spec.env.iter().map(|(name, value)| (name, value)));
    command
}

/// The command of this name. Where it is looked for, its file is remembered: to try each folder of `PATH` takes the system longer
/// than all else that is done for a short command.
fn named(program: &OsStr, env: &[(String, OsString)]) -> Command {
    static LAST: Mutex<Option<(OsString, PathBuf)>> = Mutex::new(None);
    if program.as_bytes().contains(&b'/') || env.iter().any(|(name, _)| name == "PATH") {
        return Command::new(program);
    }
    let can_run = |file: &Path| access(file, AccessFlags::X_OK).is_ok();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let known = last.as_ref().filter(|(name, file)| name == program && can_run(file));
    let file = known.map(|(_, file)| file.clone()).or_else(|| in_path(env, program).find(|file| can_run(file)));
    // Where there is none, the system says why.
    let Some(file) = file else { return Command::new(program) };
    let mut command = Command::new(&file);
    command.arg0(program);
    *last = Some((program.to_owned(), file));
    command
}

/// Gives `command` a pipe for each of its descriptors. As much of `text` as a pipe takes is in it already: most commands need no more.
fn pipes(command: &mut Command, text: Vec<u8>) -> io::Result<Pump> {
    let (theirs, mut ours) = io::pipe()?;
    command.stdin(theirs);
    nonblocking(&ours)?;
    let mut taken = 0;
    while taken < text.len() {
        match ours.write(&text[taken..]) {
            Ok(bytes) => taken += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    let feed = if taken == text.len() {
        Feed::done()
    } else {
        Feed::rest(Sender::from_owned_fd(OwnedFd::from(ours))?, text, taken)
    };
    let (stdout, theirs) = output()?;
    command.stdout(theirs);
    let (stderr, theirs) = output()?;
    command.stderr(theirs);
    Ok(Pump { feed, stdout, stderr })
}

/// Gives `command` our own standard input, and a pipe for each of its outputs; the second one is `heard`.
fn ours(command: &mut Command, heard: SyncSender<Vec<u8>>) -> io::Result<Pump> {
    // In its group of its own it would be stopped when it reads from a terminal.
    if io::stdin().is_terminal() {
        command.stdin(Stdio::null());
    }
    let (stdout, theirs) = output()?;
    command.stdout(theirs);
    let (stderr, theirs) = output()?;
    command.stderr(theirs);
    Ok(Pump { feed: Feed::done(), stdout, stderr: stderr.heard(heard) })
}

fn output() -> io::Result<(Output, io::PipeWriter)> {
    let (ours, theirs) = io::pipe()?;
    Ok((Output::new(Receiver::from_owned_fd(OwnedFd::from(ours))?), theirs))
}

fn nonblocking(pipe: impl AsFd) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(pipe.as_fd(), FcntlArg::F_GETFL)?);
    fcntl(pipe.as_fd(), FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

/// Descriptors of ours are closed in the child, also those that we inherited or that a library opened without care. No signal is blocked in it;
/// the standard library gives it back the signal of a broken pipe.
fn spawn(command: &mut Command) -> io::Result<Leader> {
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
    let mask = SigSet::empty().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let leader = Leader::start(|| command.spawn());
    mask.thread_set_mask()?;
    leader
}

fn why(error: io::Error, program: &OsStr, env: &[(String, OsString)]) -> NotStarted {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT) => match find(program, env) {
            Some(file) => NotStarted::NoInterpreter(interpreter(&file)),
            None => NotStarted::NotFound,
        },
        // A folder of `PATH` that may not be looked into answers as a file that may not be executed does.
        Some(Errno::EACCES | Errno::EPERM) if find(program, env).is_some() || program.as_bytes().contains(&b'/') => {
            NotStarted::Denied
        }
        Some(Errno::EACCES | Errno::ENOTDIR) => NotStarted::NotFound,
        Some(Errno::ENOEXEC) => NotStarted::NoFormat,
        Some(Errno::E2BIG) => NotStarted::TooLong,
        _ => NotStarted::Other(error),
    }
}

/// The file that a name means, executable or not.
fn find(program: &OsStr, env: &[(String, OsString)]) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Path::new(program).exists().then(|| program.into());
    }
    in_path(env, program).next()
}

/// The files of this name in the folders of `PATH`, in their order.
fn in_path(env: &[(String, OsString)], program: &OsStr) -> impl Iterator<Item = PathBuf> + use<> {
    let given = env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let path = given.or_else(|| std::env::var_os("PATH")).unwrap_or_else(|| "/bin:/usr/bin".into());
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let program = program.to_owned();
    folders.into_iter().map(move |folder| folder.join(&program)).filter(|file| file.is_file())
}

/// What the first line of a script names, as it is: a carriage return at its end is part of the name.
fn interpreter(script: &Path) -> Option<PathBuf> {
    const LINE_MAX_BYTES: u64 = 4096;
    let mut line = Vec::new();
    let file = std::fs::File::open(script).ok()?;
    io::BufReader::new(file.take(LINE_MAX_BYTES)).read_until(b'\n', &mut line).ok()?;
    let name = line.strip_prefix(b"#!")?;
    let name = name.split(|byte| matches!(byte, b' ' | b'\t' | b'\n')).find(|word| !word.is_empty())?;
    Some(OsString::from_vec(name.to_vec()).into())
}
