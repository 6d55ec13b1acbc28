//! Why a command stopped, with language still open.

use std::io;

use super::Exit;
use crate::lang::{Lang, Message};
use crate::print::Paint;

/// A reason to stop: how to exit, what to say, what to do next.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    exit: Exit,
    message: Message,
    hints: Vec<Message>,
}

impl Problem {
    /// A problem that ends the command with `exit`.
    pub const fn new(exit: Exit, message: Message) -> Self {
        Self { exit, message, hints: Vec::new() }
    }

    /// A usage mistake.
    pub const fn usage(message: Message) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Something that could not be done.
    pub const fn failed(message: Message) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// An answer could not be written to stdout. A reader that has gone away (`| head`) is told by [`is_broken_pipe`].
    ///
    /// [`is_broken_pipe`]: Self::is_broken_pipe
    pub fn stdout(error: &io::Error) -> Self {
        let key = if error.kind() == io::ErrorKind::BrokenPipe { "stdout-closed" } else { "stdout-failed" };
        Self::failed(Message::new(key).caused_by(error))
    }

    /// With what to do next. Each hint is a line of its own.
    #[must_use]
    pub fn hint(mut self, hint: Message) -> Self {
        self.hints.push(hint);
        self
    }

    /// What stopped it.
    pub const fn message(&self) -> &Message {
        &self.message
    }

    /// How the command ends.
    pub const fn exit(&self) -> Exit {
        self.exit
    }

    /// Whether the reader of stdout has gone away, which is nothing to complain about.
    pub fn is_broken_pipe(&self) -> bool {
        self.message.key() == "stdout-closed"
    }

    /// `error: …` and a `hint: …` for each hint, each ending in a line feed.
    pub fn render(&self, lang: &Lang, colour: bool) -> String {
        let mut out = labelled(lang, "label-error", Paint::Bad, &self.message, colour);
        // Not every error has something to do about it: hints of stores' codes are optional.
        for hint in self.hints.iter().filter(|hint| lang.has(hint.key())) {
            out.push_str(&labelled(lang, "label-hint", Paint::Calm, hint, colour));
        }
        out
    }
}

/// `label: sentence` and a line feed.
pub(super) fn labelled(lang: &Lang, label: &'static str, paint: Paint, message: &Message, colour: bool) -> String {
    format!("{} {}\n", paint.on(&lang.t(label, &[]), colour), message.in_prose(lang))
}
