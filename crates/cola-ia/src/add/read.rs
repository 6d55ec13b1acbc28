//! The thread that reads: every input in its turn, into the queue.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use cola_ia_core::intake::Intake;

use super::inputs::{self, Rejects};
use super::queue::Queue;
use crate::cli::add::{AddOptions, Tally};
use crate::cli::errors::input_error;
use crate::cli::{Problem, Session};
use crate::config::Settings;
use crate::intake::{self, InputEnd, Sink, read_input};
use crate::lang::Message;
use crate::print::safe_line;

/// The thread, and what it has to say when it is over.
pub(super) struct Reading {
    thread: JoinHandle<()>,
    told: Arc<Mutex<Told>>,
    rejects: SharedRejects,
}

/// Apart from what the thread tells at its end: whoever stops before that keeps what was refused.
type SharedRejects = Arc<Mutex<Option<Rejects>>>;

#[derive(Default)]
struct Told {
    /// Inputs that were read, with how they ended, in their order.
    ended: Vec<(Arc<str>, InputEnd)>,
    /// Inputs that could not be opened any more.
    unopened: Vec<Problem>,
}

/// Ends the queue whatever happens to the thread that reads: who commits must not wait for ever.
struct EndsQueue(Arc<Queue>);

impl Drop for EndsQueue {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// How the reading went.
pub(super) struct Read {
    /// Some input could not be read to its end.
    pub(super) broken: bool,
}

impl Reading {
    /// Starts the thread. It ends the queue when the last input ends.
    pub(super) fn start(options: &AddOptions, settings: &Settings, queue: &Arc<Queue>, bytes: &Arc<AtomicU64>) -> Self {
        let told = Arc::new(Mutex::new(Told::default()));
        let rejects: SharedRejects = Arc::new(Mutex::new(options.rejects.clone().map(Rejects::new)));
        let intake_settings = intake::Settings {
            max_line_bytes: settings.max_line_bytes,
            max_text_bytes: settings.max_text_bytes,
            source: options.source.clone(),
            default_source: settings.default_source.clone(),
            ..intake::Settings::default()
        };
        let (inputs, queue, bytes, tell) =
            (options.inputs.clone(), EndsQueue(Arc::clone(queue)), Arc::clone(bytes), Arc::clone(&told));
        let refused = Arc::clone(&rejects);
        let thread = std::thread::Builder::new()
            .name("reader".into())
            .spawn(move || {
                let mut told = tell.lock().unwrap_or_else(PoisonError::into_inner);
                for input in inputs {
                    let opened = match inputs::open(&input) {
                        Ok(opened) => opened,
                        Err(cause) => {
                            let message = Message::new("input-not-readable").with("path", input.name());
                            told.unopened.push(Problem::failed(message.caused_by(&cause)));
                            continue;
                        }
                    };
                    queue.0.set_eager(opened.trickles);
                    let mut sink = ToQueue { queue: &queue.0, rejects: &refused, eager: opened.trickles };
                    sink.with_rejects(Rejects::next_input);
                    let end = read_input(&opened.name, opened.bytes, &intake_settings, &bytes, &mut sink);
                    let stopped = end.stopped;
                    told.ended.push((opened.name, end));
                    if stopped {
                        break;
                    }
                }
            })
            .expect("the operating system gives a thread");
        Self { thread, told, rejects }
    }

    /// Says what is to be said about the inputs, after the queue has ended.
    ///
    /// # Errors
    /// The rejects could not be written.
    pub(super) fn finish(self, session: &Session, tally: &mut Tally) -> Result<Read, Problem> {
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let mut broken = !told.unopened.is_empty();
        told.unopened.iter().for_each(|problem| session.problem(problem));
        for (name, end) in &told.ended {
            if let Some(error) = &end.error {
                // The line that it tears says nothing more.
                broken = true;
                session.problem(&input_error(name, error));
            } else if let Some(line) = end.unfinished {
                tally.unfinished += 1;
                let message = Message::new("add-unfinished-line").with("input", safe_line(name)).number("line", line);
                session.note(&message);
            }
        }
        keep_rejects(&self.rejects)?;
        Ok(Read { broken })
    }

    /// Leaves the thread to itself, which may be waiting for input for ever, and keeps the lines that it refused so far.
    ///
    /// # Errors
    /// They could not be written.
    pub(super) fn abandon(self) -> Result<(), Problem> {
        keep_rejects(&self.rejects)
    }
}

fn keep_rejects(rejects: &SharedRejects) -> Result<(), Problem> {
    let taken = rejects.lock().unwrap_or_else(PoisonError::into_inner).take();
    taken.map_or(Ok(()), Rejects::finish)
}

struct ToQueue<'a> {
    queue: &'a Queue,
    rejects: &'a SharedRejects,
    eager: bool,
}

impl ToQueue<'_> {
    fn with_rejects(&self, act: impl FnOnce(&mut Rejects)) {
        if let Some(rejects) = self.rejects.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            act(rejects);
        }
    }
}

impl Sink for ToQueue<'_> {
    fn intake(&mut self, item: Intake) -> ControlFlow<()> {
        if self.queue.push(item) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn rejected(&mut self, raw: &[u8]) {
        self.with_rejects(|rejects| {
            rejects.write(raw);
            // What came through a pipe cannot be read again.
            if self.eager {
                rejects.flush();
            }
        });
    }
}
