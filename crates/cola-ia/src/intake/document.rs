//! Many refused lines that are one JSON document get one refusal, not one each.
//!
//! A line that ends too early may be truncated, or it may be the first of a pretty-printed document. It is held back with
//! the lines after it until they tell:
//!
//! - the document is completed at the end of a line: these lines are a document;
//! - they cannot be one: the first line is refused for its own fault, and the others are looked at again without it;
//! - there are many of them, or the input ends or pauses, and they are still the beginning of one: a document if there are
//!   more than three, lines with faults of their own otherwise.
//!
//! Documents in a row, with blank lines at most between them, are told as one refusal. Events among the lines enter at once.
//! Held are at most [`HELD_LINES_MAX`] lines and about [`HELD_BYTES_MAX`] bytes; a longer document is only followed, and its
//! lines are rejected as they come. Each line is looked at once for each line held before it, so the work stays
//! proportional to the input.

use std::collections::VecDeque;
use std::mem;

use super::Sink;
use super::outlet::{Outlet, ReadLine};
use super::outline::{Outline, Progress};
use super::parse::Cut;

/// After so many lines the beginning of a document is taken for one.
const HELD_LINES_MAX: usize = 256;
/// After so many bytes of lines likewise.
const HELD_BYTES_MAX: usize = 1 << 20;
/// The beginning of a document that is not completed counts as one from so many lines.
const OPEN_DOCUMENT_LINES_MIN: usize = 4;

/// Watches the lines of one input for documents.
#[derive(Debug, Default)]
pub(super) struct Documents {
    state: State,
    /// Documents that have not been told of.
    run: Option<Run>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Outside,
    /// These lines may be the beginning of a document.
    Candidate(Candidate),
    /// Within a document, whose lines are not held.
    Within {
        outline: Outline,
        /// Whether it has been told of already.
        told: bool,
    },
}

#[derive(Debug)]
struct Candidate {
    outline: Outline,
    held: Vec<ReadLine<'static>>,
    bytes: usize,
}

/// Documents in a row.
#[derive(Debug)]
struct Run {
    first: u64,
    last: u64,
    documents: u64,
}

impl Documents {
    /// Whether an event has to be shown to [`line`](Self::line) too.
    pub(super) fn watches(&self) -> bool {
        !matches!(self.state, State::Outside) || self.run.is_some()
    }

    /// Takes the next line that is not blank. Every refused one is to be given, and events while it [watches](Self::watches).
    pub(super) fn line(&mut self, line: ReadLine<'_>, outlet: &mut Outlet<'_, impl Sink>) {
        let mut again = VecDeque::from(self.step(line, outlet));
        while let Some(line) = again.pop_front() {
            for line in self.step(line, outlet).into_iter().rev() {
                again.push_front(line);
            }
        }
    }

    /// The input pauses or ends, or something stands in it that is no part of a document: nothing is held any longer.
    pub(super) fn settle(&mut self, outlet: &mut Outlet<'_, impl Sink>) {
        match mem::take(&mut self.state) {
            State::Candidate(candidate) if candidate.held.len() >= OPEN_DOCUMENT_LINES_MIN => {
                self.state = self.enter(candidate, outlet);
                self.settle_within(outlet);
            }
            State::Candidate(candidate) => self.release(candidate, outlet),
            within @ State::Within { .. } => {
                self.state = within;
                self.settle_within(outlet);
            }
            State::Outside => self.tell(outlet),
        }
    }

    /// Forgets the document that is open: what follows is not its continuation.
    pub(super) fn interrupt(&mut self, outlet: &mut Outlet<'_, impl Sink>) {
        self.settle(outlet);
        self.state = State::Outside;
    }

    /// Takes a line; gives the lines that are to be looked at again.
    fn step(&mut self, line: ReadLine<'_>, outlet: &mut Outlet<'_, impl Sink>) -> Vec<ReadLine<'static>> {
        match mem::take(&mut self.state) {
            State::Outside => self.outside(line, outlet),
            State::Candidate(mut candidate) => {
                let progress = candidate.outline.line(&line.raw);
                candidate.bytes += line.raw.len();
                candidate.held.push(line.into_owned());
                return self.judge(candidate, progress, outlet);
            }
            State::Within { mut outline, told } => match outline.line(&line.raw) {
                Progress::Broken => {
                    self.leave(&outline, 1, told);
                    self.outside(line, outlet);
                }
                progress => {
                    outlet.reject_line(&line);
                    if let Some(run) = &mut self.run {
                        run.last = line.number;
                    }
                    if progress == Progress::Complete {
                        self.leave(&outline, 0, told);
                    } else {
                        self.state = State::Within { outline, told };
                    }
                }
            },
        }
        Vec::new()
    }

    /// Takes a line that no document is open for.
    fn outside(&mut self, line: ReadLine<'_>, outlet: &mut Outlet<'_, impl Sink>) {
        let may_begin = line.refusal.as_ref().is_some_and(|refusal| refusal.cut == Cut::BetweenTokens);
        if may_begin && line.raw.len() <= HELD_BYTES_MAX {
            let mut outline = Outline::new();
            if outline.line(&line.raw) == Progress::Open {
                let bytes = line.raw.len();
                self.state = State::Candidate(Candidate { outline, held: vec![line.into_owned()], bytes });
                return;
            }
        }
        self.tell(outlet);
        outlet.refuse(line);
    }

    fn judge(
        &mut self,
        candidate: Candidate,
        progress: Progress,
        outlet: &mut Outlet<'_, impl Sink>,
    ) -> Vec<ReadLine<'static>> {
        match progress {
            Progress::Broken => {
                self.tell(outlet);
                let mut lines = candidate.held.into_iter();
                if let Some(first) = lines.next() {
                    outlet.refuse(first);
                }
                return lines.collect();
            }
            Progress::Complete => {
                if let State::Within { outline, .. } = self.enter(candidate, outlet) {
                    self.leave(&outline, 0, false);
                }
            }
            Progress::Open => {
                let full = candidate.held.len() >= HELD_LINES_MAX || candidate.bytes > HELD_BYTES_MAX;
                if !full {
                    self.state = State::Candidate(candidate);
                } else if candidate.held.len() >= OPEN_DOCUMENT_LINES_MIN {
                    self.state = self.enter(candidate, outlet);
                } else {
                    self.release(candidate, outlet);
                }
            }
        }
        Vec::new()
    }

    /// The lines are a document: they are rejected together, and told of with those before them.
    fn enter(&mut self, candidate: Candidate, outlet: &mut Outlet<'_, impl Sink>) -> State {
        for line in &candidate.held {
            outlet.reject_line(line);
            let run = self.run.get_or_insert(Run { first: line.number, last: line.number, documents: 0 });
            run.last = line.number;
        }
        State::Within { outline: candidate.outline, told: false }
    }

    /// The document, or its beginning, is over. `open`: 1 where the last one was not completed.
    fn leave(&mut self, outline: &Outline, open: u64, told: bool) {
        if let (Some(run), false) = (&mut self.run, told) {
            run.documents += outline.documents() + open;
        }
    }

    /// The lines are refused each for its own fault.
    fn release(&mut self, candidate: Candidate, outlet: &mut Outlet<'_, impl Sink>) {
        self.tell(outlet);
        for line in candidate.held {
            outlet.refuse(line);
        }
    }

    fn settle_within(&mut self, outlet: &mut Outlet<'_, impl Sink>) {
        if let State::Within { outline, told } = mem::take(&mut self.state) {
            self.leave(&outline, 1, told);
            self.tell(outlet);
            self.state = State::Within { outline, told: true };
        }
    }

    fn tell(&mut self, outlet: &mut Outlet<'_, impl Sink>) {
        if let Some(run) = self.run.take() {
            outlet.refuse_documents(run.first, run.last, run.documents);
        }
    }
}
