//! Time and peak memory of one whole command.
//!
//! A small process of this program starts the command as its only child: the kernel's account of a process's ended children is
//! then that of this command alone. Polling would miss the peak of the last moments.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

use super::INNER;
use crate::failure::{Attempt, Failure};

pub(crate) const PART: &str = "measure";

/// A command to be measured.
pub(crate) struct Measured<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: Vec<&'a Path>,
    /// The working folder; its standard output and error go to files there.
    pub(crate) folder: &'a Path,
    /// The store it works on.
    pub(crate) store: &'a Path,
}

/// What a command took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) wall: Duration,
    /// Peak resident memory.
    pub(crate) peak_kib: u64,
    pub(crate) exit_code: i32,
}

impl Measured<'_> {
    /// Where its standard output goes.
    pub(crate) fn stdout(&self) -> PathBuf {
        self.folder.join("stdout")
    }

    /// Where its standard error goes.
    pub(crate) fn stderr(&self) -> PathBuf {
        self.folder.join("stderr")
    }

    /// Runs it once, on an otherwise quiet disk.
    pub(crate) fn run(&self) -> Result<Usage, Failure> {
        quiet_disk()?;
        let this = std::env::current_exe().attempt(|| "where is this program".to_owned())?;
        let mut command = Command::new(this);
        command.args([INNER, PART]).arg(self.program).args(&self.arguments).current_dir(self.folder);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"COLA_IA_")) {
            command.env_remove(name);
        }
        let output = command
            .env("COLA_IA_DB", self.store)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .attempt(|| format!("measure {}", self.program.display()))?;
        let line = String::from_utf8_lossy(&output.stdout);
        Usage::from_line(&line)
            .ok_or_else(|| Failure::new(format!("measuring {} said `{line}`", self.program.display())))
    }

    /// The end of what it wrote on standard error, for a message.
    pub(crate) fn complaint(&self) -> String {
        let text = fs::read_to_string(self.stderr()).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join("\n  ")
    }
}

impl Usage {
    fn line(self) -> String {
        format!("{} {} {}", self.wall.as_micros(), self.peak_kib, self.exit_code)
    }

    fn from_line(line: &str) -> Option<Self> {
        let mut parts = line.split_whitespace();
        let usage = Self {
            wall: Duration::from_micros(parts.next()?.parse().ok()?),
            peak_kib: parts.next()?.parse().ok()?,
            exit_code: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(usage)
    }
}

/// Writes out what earlier commands left in memory, so that nobody pays for another's pages.
pub(crate) fn quiet_disk() -> Result<(), Failure> {
    Command::new("sync").status().attempt(|| "start `sync`".to_owned()).map(|_| ())
}

/// The small process: `PROGRAM ARGUMENT...`, in the working folder.
pub(crate) fn child(arguments: &[String]) -> Result<(), Failure> {
    let (program, arguments) = arguments.split_first().ok_or_else(|| Failure::new("nothing to measure"))?;
    let create = |name: &str| File::create(name).attempt(|| format!("create {name}"));
    let mut command = Command::new(program);
    command.args(arguments).stdout(create("stdout")?).stderr(create("stderr")?);
    let started = Instant::now();
    let status = command.status().attempt(|| format!("start {program}"))?;
    let wall = started.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).attempt(|| "ask for the memory of a child".to_owned())?;
    let usage = Usage {
        wall,
        peak_kib: usage.max_rss().try_into().unwrap_or(0),
        // A signal has no code; -1 is none that a program can give.
        exit_code: status.code().unwrap_or(-1),
    };
    println!("{}", usage.line());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_survives_its_line() {
        let usage = Usage { wall: Duration::from_micros(1_234_567), peak_kib: 90_000, exit_code: 4 };
        assert_eq!(Usage::from_line(&usage.line()), Some(usage));
        assert_eq!(Usage::from_line("1 2"), None);
        assert_eq!(Usage::from_line("1 2 3 4"), None);
        assert_eq!(Usage::from_line("error: x"), None);
    }
}
