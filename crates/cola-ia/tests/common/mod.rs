//! What the tests of the real binary share: a clean place to run it in, seeded randomness, and a look into a store that does
//! not go through the program.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

pub(crate) mod input;
pub(crate) mod later;
pub(crate) mod mounts;
pub(crate) mod redact;
pub(crate) mod server;
pub(crate) mod stored;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_cola-ia");

/// Prose is in both.
pub(crate) const BOTH: [&str; 2] = ["es", "en"];

/// The store's name where nobody names another.
pub(crate) const STORE: &str = "cola_ia.sqlite3";

/// A folder of its own with nothing in the environment but what a test asks for.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    vars: Vec<(&'static str, &'static str)>,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), vars: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.vars.push((name, value));
        self
    }

    pub(crate) fn file(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.write(name, bytes);
        self
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path(STORE)
    }

    /// What is in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names_in(self.folder.path())
    }

    /// Every file with its bytes.
    pub(crate) fn contents(&self) -> Vec<(String, Option<Vec<u8>>)> {
        self.names().into_iter().map(|name| (name.clone(), fs::read(self.path(&name)).ok())).collect()
    }

    /// Another program, in the same clean environment.
    pub(crate) fn tool(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("TZ", "UTC")
            .envs(self.vars.iter().copied())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = self.tool(PROGRAM);
        command.args(args);
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs with these bytes on stdin.
    pub(crate) fn run_with(&self, args: &[&str], stdin: &[u8]) -> Output {
        let mut child = self.start(args);
        let mut into = child.stdin.take().unwrap();
        let bytes = stdin.to_vec();
        // Who ends early closes the pipe; that is for the test to judge by the output.
        let writer = std::thread::spawn(move || drop(into.write_all(&bytes)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }

    /// Starts with pipes on all three.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// A store that was killed after these events were answered: the last of them are in its log only.
    pub(crate) fn kill_after(&self, events: &str) {
        let mut child = self.start(&["add", "-"]);
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        stdin.write_all(events.as_bytes()).unwrap();
        for _ in events.lines() {
            assert!(read_until(&mut stdout, "\n").ends_with('\n'));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(fs::metadata(self.path(&format!("{STORE}-wal"))).unwrap().len() > 0);
    }

    /// Command, both streams and exit code, as one text.
    pub(crate) fn shown(&self, args: &[&str]) -> String {
        shown(args, &self.run(args))
    }
}

/// Command, both streams and exit code, as one text.
pub(crate) fn shown(args: &[&str], output: &Output) -> String {
    let mut text = format!("$ cola-ia {}\n", args.join(" ").escape_debug());
    // A new version must not change a snapshot.
    text.push_str(&out(output).replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    for line in err(output).lines() {
        writeln!(text, "stderr: {line}").unwrap();
    }
    writeln!(text, "exit: {}", output.status.code().unwrap()).unwrap();
    text
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// stdout as text.
pub(crate) fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// stderr as text.
pub(crate) fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// How it ended: the exit code, or the signal as the shell gives it.
pub(crate) fn code(output: &Output) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap())
}

/// Fails with everything that was said, unless it ended as expected.
#[track_caller]
pub(crate) fn check_exit(output: &Output, expected: i32) {
    let shown = String::from_utf8_lossy(&output.stdout);
    let head: String = shown.chars().take(400).collect();
    assert_eq!(code(output), expected, "stderr: {}\nstdout: {head}", String::from_utf8_lossy(&output.stderr));
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

/// Longest wait for something that should be there in a moment.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until `look` sees something.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::yield_now();
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// Reads until a text ends in `end`, or until the end of the stream.
pub(crate) fn read_until(from: &mut impl Read, end: &str) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(end.as_bytes()) && from.read(&mut byte).unwrap() == 1 {
        bytes.push(byte[0]);
    }
    String::from_utf8(bytes).unwrap()
}

/// Whether a tool can be used. One that is missing fails the test where `COLA_IA_REQUIRE_TOOLS` is set; else the test is
/// skipped, and says so.
pub(crate) fn has_tool(what: &str, probe: &mut Command) -> bool {
    let probed = probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if probed.is_ok_and(|status| status.success()) {
        return true;
    }
    assert!(std::env::var_os("COLA_IA_REQUIRE_TOOLS").is_none(), "{what} is needed and cannot be used here");
    let _ = writeln!(io::stderr(), "skipped: {what} cannot be used here; COLA_IA_REQUIRE_TOOLS=1 makes this a failure");
    false
}

/// Reproducible randomness (splitmix64). Its seed is printed, and taken from `COLA_IA_TEST_SEED`.
pub(crate) struct Random(u64);

impl Random {
    /// For the test of this name.
    pub(crate) fn seeded(test: &str) -> Self {
        let given =
            std::env::var("COLA_IA_TEST_SEED").ok().map(|seed| seed.parse().expect("COLA_IA_TEST_SEED is a number"));
        let seed = given.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64);
        println!("{test}: COLA_IA_TEST_SEED={seed}");
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to `bound`, without it.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Another one, for something that goes on beside.
    pub(crate) fn split(&mut self) -> Self {
        Self(self.next())
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}
