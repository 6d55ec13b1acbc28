//! What the sink hears of one input, and the count of it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use cola_ia_core::event::{Delivery, Origin};
use cola_ia_core::intake::{Intake, Refusal, RefusalCode};
use cola_ia_core::limits::REFUSALS_ONE_BY_ONE;

use super::Sink;
use super::parse::{ParseRefusal, ParsedLine};

/// A line that is not blank: an event, which was delivered when it was read, or a refused line.
#[derive(Debug)]
pub(super) struct ReadLine<'a> {
    pub(super) number: u64,
    /// As read, with its end.
    pub(super) raw: Cow<'a, [u8]>,
    pub(super) terminated: bool,
    /// `None`: an event.
    pub(super) refusal: Option<ParseRefusal>,
}

impl ReadLine<'_> {
    pub(super) fn into_owned(self) -> ReadLine<'static> {
        ReadLine { raw: Cow::Owned(self.raw.into_owned()), ..self }
    }
}

/// Passes events and refusals on, until the sink says that it is enough.
pub(super) struct Outlet<'s, S> {
    sink: &'s mut S,
    input: Arc<str>,
    /// How many refusals may still be handed over one by one.
    one_by_one_left: u64,
    counted: BTreeMap<RefusalCode, Refusal>,
    delivered: u64,
    refused_lines: u64,
    unfinished: Option<u64>,
    stopped: bool,
}

/// What an outlet passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Passed {
    pub(super) delivered: u64,
    pub(super) refused_lines: u64,
    pub(super) unfinished: Option<u64>,
    pub(super) stopped: bool,
}

impl<'s, S: Sink> Outlet<'s, S> {
    pub(super) fn new(sink: &'s mut S, input: Arc<str>, one_by_one: u64) -> Self {
        Self {
            sink,
            input,
            one_by_one_left: one_by_one,
            counted: BTreeMap::new(),
            delivered: 0,
            refused_lines: 0,
            unfinished: None,
            stopped: false,
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.stopped
    }

    pub(super) fn deliver(&mut self, number: u64, line: ParsedLine) {
        let ParsedLine { source, id, content, event_type, time } = line;
        let origin = self.origin(number);
        self.delivered += 1;
        self.pass(Intake::Delivery(Delivery { source, id, content, event_type, time, origin, body: None }));
    }

    /// Refuses a line on its own. An event is passed over. A last line that may not be complete is left to the next reading.
    pub(super) fn refuse(&mut self, line: ReadLine<'_>) {
        let Some(refusal) = line.refusal else { return };
        if !line.terminated && refusal.is_syntax() {
            self.unfinished = Some(line.number);
            return;
        }
        self.reject(&line.raw);
        self.refused_lines += 1;
        let mut told = Refusal::new(refusal.code, self.origin(line.number)).about(&refusal.detail);
        told.column = refusal.column;
        self.refusal(told);
    }

    /// The raw line of a refusal that comes later, as one of many.
    pub(super) fn reject_line(&mut self, line: &ReadLine<'_>) {
        if line.refusal.is_some() {
            self.reject(&line.raw);
            self.refused_lines += 1;
        }
    }

    /// Raw bytes that belong to a refusal.
    pub(super) fn reject(&mut self, raw: &[u8]) {
        if !self.stopped {
            self.sink.rejected(raw);
        }
    }

    /// Refuses a line whose bytes were handed over before.
    pub(super) fn refuse_overlong(&mut self, number: u64, length: u64) {
        self.refused_lines += 1;
        let origin = self.origin(number);
        self.refusal(Refusal::new(RefusalCode::LineTooLong, origin).about(&length.to_string()));
    }

    /// Refuses so many JSON documents, the first of which starts on the line, and the last of which ends on another one.
    pub(super) fn refuse_documents(&mut self, first: u64, last: u64, documents: u64) {
        let mut refusal = Refusal::new(RefusalCode::JsonDocument, self.origin(first)).about(&last.to_string());
        refusal.count = documents;
        self.refusal(refusal);
    }

    /// Refuses the input as a whole.
    pub(super) fn refuse_input(&mut self, code: RefusalCode, detail: &str) {
        let origin = self.origin(1);
        self.refusal(Refusal::new(code, origin).about(detail));
    }

    pub(super) fn idle(&mut self) {
        self.tell_counted();
        if !self.stopped {
            self.stopped = self.sink.idle().is_break();
        }
    }

    pub(super) fn finish(mut self) -> Passed {
        self.tell_counted();
        Passed {
            delivered: self.delivered,
            refused_lines: self.refused_lines,
            unfinished: self.unfinished,
            stopped: self.stopped,
        }
    }

    /// Hands over the refusals that were only counted, in the order of their codes: when the input is silent, when it ends,
    /// and when there are many, so that a stop never leaves more than that untold.
    fn tell_counted(&mut self) {
        for refusal in std::mem::take(&mut self.counted).into_values() {
            self.pass(Intake::Refusal(refusal));
        }
    }

    fn refusal(&mut self, refusal: Refusal) {
        if self.one_by_one_left > 0 {
            self.one_by_one_left -= 1;
            self.pass(Intake::Refusal(refusal));
            return;
        }
        match self.counted.get_mut(&refusal.code) {
            None => {
                self.counted.insert(refusal.code, refusal);
            }
            Some(many) => {
                many.count += refusal.count;
                // What they are about is not the same thing.
                many.column = None;
                many.detail.clear();
                if many.count >= REFUSALS_ONE_BY_ONE {
                    self.tell_counted();
                }
            }
        }
    }

    fn pass(&mut self, item: Intake) {
        if !self.stopped {
            self.stopped = matches!(self.sink.intake(item), ControlFlow::Break(()));
        }
    }

    fn origin(&self, line: u64) -> Origin {
        Origin { input: Arc::clone(&self.input), line }
    }
}
