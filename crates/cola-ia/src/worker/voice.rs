//! What is said while jobs are worked on: one thread says it all, so that nothing waits for a slow reader but the words.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cola_ia_core::job::{JobState, Outcome};
use cola_ia_core::store::{Ended, JobSummary, LeaseLost, Report};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::stop::Stopper;
use crate::cli::work::{self, Tally};
use crate::cli::{Problem, Session};
use crate::config::Warning;
use crate::lang::Message;

/// Words that wait to be said.
const WAITING_MAX: usize = 1_024;

/// How a command ended and what that did to its job.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) job: JobSummary,
    pub(crate) attempt: u32,
    pub(crate) outcome: Outcome,
    pub(crate) answer: Result<Ended, LeaseLost>,
    pub(crate) report: Report,
    pub(crate) took: Duration,
}

#[derive(Debug)]
enum Word {
    Finished(Box<Finished>),
    Note(Message),
    Warn(Warning),
    /// How many run, and how many are due, where that is known.
    Gauge(usize, Option<u64>),
    End,
}

/// Where words go. What is no data is left out where too many wait: nobody reads them then.
#[derive(Debug, Clone)]
pub(super) struct Voice(Sender<Word>);

impl Voice {
    /// A job's end. Waits for its turn.
    pub(super) async fn finished(&self, finished: Finished) {
        // A thread that is gone has said why.
        let _ = self.0.send(Word::Finished(Box::new(finished))).await;
    }

    /// Something that was done.
    pub(super) fn note(&self, message: Message) {
        let _ = self.0.try_send(Word::Note(message));
    }

    /// Something odd.
    pub(super) fn warn(&self, message: Message) {
        self.warning(Warning { message, hint: None });
    }

    /// Something odd, and what to do about it.
    pub(super) fn warning(&self, warning: Warning) {
        let _ = self.0.try_send(Word::Warn(warning));
    }

    pub(super) fn gauge(&self, running: usize, waiting: Option<u64>) {
        let _ = self.0.try_send(Word::Gauge(running, waiting));
    }
}

/// After a second signal, so long is waited for what is still to be said.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The thread that says it.
pub(super) struct Speaker {
    thread: JoinHandle<Tally>,
    words: Sender<Word>,
    /// Whether somebody sees a bar.
    pub(super) has_bar: bool,
}

impl Speaker {
    /// Starts it. Where stdout cannot be written, `stopper` is told: work whose answers nobody hears is not begun.
    pub(super) fn start(session: &Session, how: work::Speech, stopper: Arc<Stopper>) -> io::Result<(Self, Voice)> {
        let (words, waiting) = channel(WAITING_MAX);
        let bar = (how.progress && !session.quiet && io::stderr().is_terminal()).then(bar);
        let has_bar = bar.is_some();
        let saying =
            Saying { session: session.clone(), how, bar, tally: Tally::default(), rate: Rate::default(), stopper };
        let thread = std::thread::Builder::new().name("voice".into()).spawn(move || saying.until_the_end(waiting))?;
        Ok((Self { thread, words: words.clone(), has_bar }, Voice(words)))
    }

    /// Says what waits, and takes the bar away. `at_once`: what nobody reads is not waited for.
    pub(super) fn finish(self, at_once: bool) -> Tally {
        if at_once {
            let _ = self.words.try_send(Word::End);
            let last = Instant::now() + LAST_WORDS;
            while !self.thread.is_finished() {
                if Instant::now() >= last {
                    return Tally::default();
                }
                std::thread::sleep(LAST_WORDS / 20);
            }
        } else {
            let _ = self.words.blocking_send(Word::End);
        }
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::no_length();
    bar.set_draw_target(ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

struct Saying {
    session: Session,
    how: work::Speech,
    bar: Option<ProgressBar>,
    tally: Tally,
    rate: Rate,
    stopper: Arc<Stopper>,
}

impl Saying {
    fn until_the_end(mut self, mut words: Receiver<Word>) -> Tally {
        while let Some(word) = words.blocking_recv() {
            match word {
                Word::Finished(finished) => self.finished(&finished),
                Word::Note(message) => self.hidden(|session| session.note(&message)),
                Word::Warn(warning) => self.hidden(|session| session.warn(&warning)),
                Word::Gauge(running, waiting) => self.gauge(running, waiting),
                Word::End => break,
            }
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.tally
    }

    fn finished(&mut self, finished: &Finished) {
        self.tally.count(finished);
        if matches!(&finished.answer, Ok(ended) if ended.state != JobState::Pending) {
            self.rate.ended += 1;
        }
        let line = work::line(&self.session.lang, self.how.json, finished);
        let lines = work::told(&self.session.lang, self.how, finished);
        let written = self.hidden(|session| {
            for line in &lines {
                session.complain(line);
            }
            let mut stdout = io::stdout().lock();
            stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush())
        });
        if let Err(cause) = written {
            self.stopper.because(Problem::stdout(&cause));
        }
    }

    fn gauge(&mut self, running: usize, waiting: Option<u64>) {
        let Some(bar) = &self.bar else { return };
        let rate = self.rate.a_second();
        let left = waiting.and_then(|waiting| time_left(waiting, rate));
        bar.set_message(self.tally.progress(running, rate, left).in_prose(&self.session.lang));
    }

    /// Runs something that writes to the terminal, with the bar out of its way.
    fn hidden<T>(&self, write: impl FnOnce(&Session) -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(|| write(&self.session)),
            None => write(&self.session),
        }
    }
}

/// `None` where nothing ends, or so seldom that no clock shows it.
fn time_left(waiting: u64, rate: f64) -> Option<Duration> {
    Some(rate).filter(|rate| *rate > 0.0).and_then(|rate| Duration::try_from_secs_f64(waiting as f64 / rate).ok())
}

/// Jobs that ended, a second, over the time since somebody looked last, smoothed.
#[derive(Debug, Default)]
struct Rate {
    ended: u64,
    looked: Option<(Instant, u64)>,
    smooth: Option<f64>,
}

impl Rate {
    fn a_second(&mut self) -> f64 {
        let now = Instant::now();
        let (then, before) = *self.looked.get_or_insert((now, 0));
        let elapsed = now.duration_since(then).as_secs_f64();
        if elapsed >= 0.5 {
            let seen = (self.ended - before) as f64 / elapsed;
            self.smooth = Some(self.smooth.map_or(seen, |smooth| smooth + (seen - smooth) * 0.3));
            self.looked = Some((now, self.ended));
        }
        self.smooth.unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rate_however_small_is_beyond_a_time() {
        assert_eq!(time_left(10, 2.0), Some(Duration::from_secs(5)));
        for rate in [0.0, -0.0, 1e-19, f64::MIN_POSITIVE, f64::NAN, f64::INFINITY] {
            assert!(time_left(u64::MAX, rate).is_none_or(|left| left.is_zero()), "{rate}");
        }
    }
}
