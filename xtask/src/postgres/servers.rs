//! The side that asks for servers: it holds the pipe that keeps them running.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};

use crate::failure::{Attempt, Failure};
use crate::repository::Repository;

use super::config::Flush;
use super::keeper::{KEEPER, STARTED};

/// A PostgreSQL and a PgBouncer that run as long as this does. Dropped, they are stopped and their files removed; a process that
/// is killed drops nothing, and the keeper stops them all the same.
pub(crate) struct Servers {
    keeper: Child,
    environment: Vec<(String, String)>,
}

impl Servers {
    /// Starts both; `name` tells them apart from others of the same repository. Their programs must be here.
    ///
    /// # Errors
    /// What stood in the way; that servers of this name are running.
    pub(crate) fn start(repository: &Repository, name: &str, flush: Flush) -> Result<Self, Failure> {
        println!("\nstarting PostgreSQL and PgBouncer for the tests, flushes {}", flush.word());
        let program = std::env::current_exe().attempt(|| "where is this program".to_owned())?;
        let mut command = repository.command(program);
        command.args([KEEPER, name, flush.word()]).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let keeper = command.spawn().attempt(|| "start the keeper of PostgreSQL".to_owned())?;
        let mut servers = Self { keeper, environment: Vec::new() };
        let answer = servers.answer()?;
        match answer.split_first() {
            Some((first, rest)) if first == STARTED => {
                let pairs = rest.iter().filter_map(|line| line.split_once('='));
                servers.environment = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
                Ok(servers)
            }
            Some((_, reasons)) => {
                let reasons = reasons.join("\n");
                let reasons = reasons.strip_prefix("error: ").unwrap_or(&reasons);
                Err(Failure::new(format!("PostgreSQL for the tests was not started: {reasons}")))
            }
            None => Err(Failure::new("the keeper of PostgreSQL ended without a word")),
        }
    }

    /// The keeper's lines until an empty one, or until it ended.
    fn answer(&mut self) -> Result<Vec<String>, Failure> {
        let Some(stdout) = self.keeper.stdout.take() else { return Ok(Vec::new()) };
        let lines =
            BufReader::new(stdout).lines().take_while(|line| line.as_ref().map_or(true, |line| !line.is_empty()));
        lines.collect::<Result<_, _>>().attempt(|| "read from the keeper of PostgreSQL".to_owned())
    }

    /// The variables by which tests find them.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        self.environment.clone()
    }

    /// Waits until the servers end, which they do by themselves only when something is wrong.
    ///
    /// # Errors
    /// Always: what is wrong was said by the keeper.
    pub(crate) fn wait(&mut self) -> Result<(), Failure> {
        // `wait` would close the pipe and so end the servers.
        let pipe = self.keeper.stdin.take();
        let status = self.keeper.wait().attempt(|| "wait for the keeper of PostgreSQL".to_owned())?;
        drop(pipe);
        Err(Failure::new(format!("the servers have ended ({status})")))
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // Its own waits are bounded.
        let _ended = self.keeper.wait();
    }
}
