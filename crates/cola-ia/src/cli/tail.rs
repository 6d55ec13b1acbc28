//! `tail`: what arrives, as it arrives.
//!
//! The store is open only while it is read, so that whoever wants it alone (a restore, a person who moves it) gets it. Whether
//! there may be something new is seen by looking at its files, which costs next to nothing.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::store::{Cursor, DeliverySummary, FollowFrom, Store, StoreError};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pollster::block_on;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::deliveries::{as_json, what};
use super::jobs::to_the_second;
use super::show::paint_of_verdict;
use super::{Exit, Problem, Session};
use crate::config::Settings;
use crate::lang::{Lang, Message};
use crate::store::{self, Chosen};

/// The options of `tail`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TailOptions {
    /// `--filter`, `--source`, …
    pub filter: Filter,
    /// `-n`: how many of the latest come first.
    pub latest: u32,
    /// `--json`
    pub json: bool,
}

/// How often the store's files are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The store is read this often even where its files look as before: their times are no finer than the system's clock tick.
const READ_EVERY: Duration = Duration::from_secs(5);
/// How often a server or a database is asked: it has no files to look at.
const ASK_EVERY: Duration = Duration::from_millis(500);
/// How long a lock is waited for before the next attempt.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// Follows until somebody interrupts or stdout is closed.
///
/// # Errors
/// What stands at the store's path is no store of ours, or cannot be read.
pub fn run(session: &Session, options: &TailOptions, settings: &Settings) -> Result<Exit, Problem> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))
            .map_err(|error| Problem::failed(Message::new("signals-failed").caused_by(&error)))?;
    }
    let file = settings.db.file().filter(|_| settings.server.is_none());
    let remote = if file.is_none() { Some(store::view(session, settings)?) } else { None };
    let look = || file.map(Look::at);
    let mut follower = Follower { session, options, settings, remote: remote.as_ref(), cursor: None, waits_for: None };
    loop {
        let seen = look();
        let delay = match follower.read_on(&interrupted) {
            Ok(()) if remote.is_some() => ASK_EVERY,
            Ok(()) => READ_EVERY,
            Err(Stop::Retry) => LOOK_EVERY,
            Err(Stop::Closed) => return Ok(Exit::Done),
            Err(Stop::Problem(problem)) => return Err(problem),
        };
        let next = Instant::now() + delay;
        loop {
            if interrupted.load(Ordering::SeqCst) {
                return Ok(Exit::Interrupted);
            }
            if matches!(wait_for_stdout(PollFlags::empty(), LOOK_EVERY), Ready::Closed) {
                return Ok(Exit::Done);
            }
            if Instant::now() >= next || look() != seen {
                break;
            }
        }
    }
}

/// Why reading stopped.
enum Stop {
    /// The store cannot be read just now.
    Retry,
    /// Nobody reads stdout any more.
    Closed,
    Problem(Problem),
}

struct Follower<'a> {
    session: &'a Session,
    options: &'a TailOptions,
    settings: &'a Settings,
    /// The store, where it is no file.
    remote: Option<&'a Chosen>,
    cursor: Option<Cursor>,
    /// The error that has been told while the store is waited for.
    waits_for: Option<&'static str>,
}

impl Follower<'_> {
    /// Prints all that there is by now.
    fn read_on(&mut self, interrupted: &AtomicBool) -> Result<(), Stop> {
        let opened;
        let store: &dyn Store = match self.remote {
            Some(remote) => &**remote,
            None => {
                let path = self.settings.db.file().unwrap_or(Path::new(""));
                opened = store::view_briefly(path, self.settings, LOCK_WAIT).map_err(|error| self.cannot(&error))?;
                &opened
            }
        };
        loop {
            let from = match &self.cursor {
                Some(cursor) => FollowFrom::After(cursor.clone()),
                None => FollowFrom::Latest(self.options.latest),
            };
            let found =
                block_on(store.follow(self.options.filter.clone(), from)).map_err(|error| self.cannot(&error))?;
            if self.waits_for.take().is_some() {
                self.session.note(&Message::new("tail-again"));
            }
            if found.rewound {
                self.session.note(&Message::new("tail-rewound"));
            }
            self.cursor = Some(found.cursor);
            write(&self.told(&found.items), interrupted)?;
            if !found.more || interrupted.load(Ordering::SeqCst) {
                return Ok(());
            }
        }
    }

    fn told(&self, items: &[DeliverySummary]) -> String {
        if self.options.json {
            return as_json(items);
        }
        items.iter().map(|item| line(&self.session.lang, item, self.session.colour.stdout)).collect()
    }

    /// What passes is waited for and told once; anything else ends.
    fn cannot(&mut self, error: &StoreError) -> Stop {
        const PASSING: [&str; 7] = [
            "server_unreachable",
            "store_unreachable",
            "store_locked",
            "store_missing",
            "store_needs_migration",
            "store_wal_orphan",
            "store_io",
        ];
        let problem = Problem::from_store(error);
        if !PASSING.contains(&error.code) {
            return Stop::Problem(problem);
        }
        if self.waits_for != Some(error.code) {
            self.waits_for = Some(error.code);
            self.session.note(&Message::new("tail-waiting").message("problem", problem.message().clone()));
        }
        Stop::Retry
    }
}

/// `2026-01-31T21:00:00Z  nuevo      form  idea-42`
fn line(lang: &Lang, delivery: &DeliverySummary, colour: bool) -> String {
    let width = cola_ia_core::verdict::Verdict::ALL.map(|verdict| lang.verdict(verdict).chars().count());
    let width = width.into_iter().max().unwrap_or_default();
    let verdict = lang.verdict(delivery.verdict);
    let padding = " ".repeat(width - verdict.chars().count());
    let verdict = paint_of_verdict(delivery.verdict).on(verdict, colour);
    let source = delivery.source.as_ref().map_or("-", Source::as_str);
    format!("{}  {verdict}{padding}  {source}  {}\n", to_the_second(delivery.received_at), what(delivery))
}

/// Bytes that a pipe which takes anything takes without waiting (`PIPE_BUF`).
const CHUNK: usize = 4_096;

/// Writes to stdout without ever waiting for its reader where an interrupt would not be noticed.
fn write(text: &str, interrupted: &AtomicBool) -> Result<(), Stop> {
    let stdout = io::stdout();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match wait_for_stdout(PollFlags::POLLOUT, LOOK_EVERY) {
            Ready::Closed => return Err(Stop::Closed),
            _ if interrupted.load(Ordering::SeqCst) => return Ok(()),
            Ready::NotYet => continue,
            Ready::Yes => {}
        }
        // Past the buffer of the standard library, in which nothing is left by anyone else here.
        match nix::unistd::write(&stdout, &rest[..rest.len().min(CHUNK)]) {
            Ok(written) => rest = &rest[written..],
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(Errno::EPIPE) => return Err(Stop::Closed),
            Err(error) => return Err(Stop::Problem(Problem::stdout(&error.into()))),
        }
    }
    Ok(())
}

enum Ready {
    Yes,
    NotYet,
    /// Nobody reads stdout any more.
    Closed,
}

/// Waits so long, or until a signal comes, for one of these to be true of stdout.
fn wait_for_stdout(what: PollFlags, most: Duration) -> Ready {
    let stdout = io::stdout();
    let mut watched = [PollFd::new(stdout.as_fd(), what)];
    let timeout = PollTimeout::try_from(most).unwrap_or(PollTimeout::ZERO);
    if poll(&mut watched, timeout).is_err() {
        return Ready::NotYet;
    }
    let seen = watched[0].revents().unwrap_or(PollFlags::empty());
    if seen.intersects(PollFlags::POLLERR | PollFlags::POLLHUP | PollFlags::POLLNVAL) {
        Ready::Closed
    } else if seen.intersects(what) {
        Ready::Yes
    } else {
        Ready::NotYet
    }
}

/// What the store's files look like: another look, another state.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Look([Option<[u64; 5]>; 2]);

impl Look {
    fn at(store: &Path) -> Self {
        let file = |path: &Path| {
            let metadata = std::fs::metadata(path).ok()?;
            let (seconds, nanos) = (metadata.mtime().cast_unsigned(), metadata.mtime_nsec().cast_unsigned());
            Some([metadata.dev(), metadata.ino(), metadata.len(), seconds, nanos])
        };
        // SQLite follows links: the log stands beside the real file.
        let real = std::fs::canonicalize(store).unwrap_or_else(|_| store.to_owned());
        let mut log = real.clone().into_os_string();
        log.push("-wal");
        Self([file(&real), file(Path::new(&log))])
    }
}
