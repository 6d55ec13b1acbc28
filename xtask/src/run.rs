//! Running other programs: shown to the reader as it goes, and judged by exit code.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Attempt, Failure};

/// Runs a command with the output of this program; fails unless it exits 0.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    announce(command);
    let status = command.status().attempt(|| format!("start `{}`", shown(command)))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{}`: {status}", shown(command)))) }
}

/// What the tests of a run came to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl std::ops::Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

/// Runs a command that ends in libtest's `test result:` lines, passing its output through and adding those lines up.
/// The flag says whether it exited 0.
pub(crate) fn run_counting_tests(command: &mut Command) -> Result<(Tally, bool), Failure> {
    announce(command);
    let mut child = command.stdout(Stdio::piped()).spawn().attempt(|| format!("start `{}`", shown(command)))?;
    let mut tally = Tally::default();
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout);
        let mut line = Vec::new();
        let mut out = io::stdout().lock();
        while lines.read_until(b'\n', &mut line).attempt(|| format!("read from `{}`", shown(command)))? > 0 {
            out.write_all(&line).attempt(|| "write to stdout".to_owned())?;
            tally = tally + tally_of_line(&String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    let status = child.wait().attempt(|| format!("wait for `{}`", shown(command)))?;
    Ok((tally, status.success()))
}

/// Reads `test result: ok. 3 passed; 1 failed; …`; any other line counts nothing.
fn tally_of_line(line: &str) -> Tally {
    let Some((_, counts)) = line.split_once("test result: ") else { return Tally::default() };
    let count_of = |word: &str| {
        let before = counts.split_once(word).map_or("", |(before, _)| before);
        before.split_whitespace().next_back().and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    Tally { passed: count_of(" passed"), failed: count_of(" failed") }
}

/// How a command that may take for ever ended.
#[derive(Debug)]
pub(crate) enum Ended {
    Success,
    /// With its whole standard error.
    Failure(String),
    TimedOut,
}

/// Runs a command silently, for no longer than `limit`.
pub(crate) fn run_within(limit: Duration, command: &mut Command) -> Result<Ended, Failure> {
    announce(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .attempt(|| format!("start `{}`", shown(command)))?;
    let reader =
        child.stderr.take().map(|stderr| thread::spawn(move || io::read_to_string(stderr).unwrap_or_default()));
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().attempt(|| format!("wait for `{}`", shown(command)))? {
            let said = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
            return Ok(if status.success() { Ended::Success } else { Ended::Failure(said) });
        }
        if started.elapsed() > limit {
            child.kill().and_then(|()| child.wait()).attempt(|| format!("end `{}`", shown(command)))?;
            return Ok(Ended::TimedOut);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Whether a command starts and exits 0; its output is thrown away.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The first line a command prints, if it exits 0.
pub(crate) fn first_line(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() { text.lines().next().map(str::to_owned) } else { None }
}

/// A command as one would type it, its extra environment first.
pub(crate) fn shown(command: &Command) -> String {
    let mut text = String::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            let _ = write!(text, "{}={} ", name.display(), quoted(&value.to_string_lossy()));
        }
    }
    let program = std::path::Path::new(command.get_program());
    text.push_str(&program.file_name().unwrap_or(command.get_program()).to_string_lossy());
    for argument in command.get_args() {
        let _ = write!(text, " {}", quoted(&argument.to_string_lossy()));
    }
    text
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains([' ', '"', '\'', '$', '*']) {
        format!("'{}'", word.replace('\'', "'\\''"))
    } else {
        word.to_owned()
    }
}

fn announce(command: &Command) {
    println!("$ {}", shown(command));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_of_libtest_are_counted_and_others_are_not() {
        let check = |line: &str, passed, failed| assert_eq!(tally_of_line(line), Tally { passed, failed }, "{line}");
        check("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s", 12, 0);
        check("test result: \u{1b}[31mFAILED\u{1b}[0m. 1 passed; 2 failed; 0 ignored; 0 measured", 1, 2);
        check("test a::b ... ok", 0, 0);
        check("12 passed", 0, 0);
    }

    #[test]
    fn command_is_shown_with_environment_and_quotes() {
        let mut command = Command::new("/usr/bin/tool");
        command.env("FLAGS", "-D warnings").env_remove("HOME").args(["--name", "two words"]);
        assert_eq!(shown(&command), "FLAGS='-D warnings' tool --name 'two words'");
    }

    #[test]
    fn command_over_its_time_is_ended() {
        let mut command = Command::new("sleep");
        let ended = run_within(Duration::from_millis(100), command.arg("60")).unwrap();
        assert!(matches!(ended, Ended::TimedOut), "{ended:?}");
    }

    #[test]
    fn failed_command_hands_over_what_it_said() {
        let mut command = Command::new("sh");
        let ended = run_within(Duration::from_secs(30), command.args(["-c", "echo why >&2; exit 3"])).unwrap();
        assert!(matches!(&ended, Ended::Failure(said) if said == "why\n"), "{ended:?}");
    }
}
