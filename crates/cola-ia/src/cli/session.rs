//! What every command needs to talk: language, colour, and how much to say.

use std::io::Write as _;

use super::Problem;
use super::problem::labelled;
use crate::config::{Environment, Warning};
use crate::lang::{Lang, Message};
use crate::print::{Colour, Paint};

/// The conversation with the person at the terminal.
#[derive(Debug, Clone)]
pub struct Session {
    /// The languages.
    pub lang: Lang,
    /// Where colour goes.
    pub colour: Colour,
    /// `--quiet`: warnings and errors only.
    pub quiet: bool,
    /// The environment.
    pub environment: Environment,
}

impl Session {
    /// Says what stopped the command. Nothing is said where the reader of stdout has gone away.
    pub fn problem(&self, problem: &Problem) {
        if !problem.is_broken_pipe() {
            to_stderr(&problem.render(&self.lang, self.colour.stderr));
        }
    }

    /// Says what is odd and no error.
    pub fn warn(&self, warning: &Warning) {
        to_stderr(&labelled(&self.lang, "label-warning", Paint::Alarm, &warning.message, self.colour.stderr));
        if let Some(hint) = &warning.hint {
            to_stderr(&self.hint_line(hint));
        }
    }

    /// Says what was done, unless `--quiet`.
    pub fn note(&self, message: &Message) {
        if !self.quiet {
            to_stderr(&format!("{}\n", message.in_prose(&self.lang)));
        }
    }

    /// Says what to do next, unless `--quiet`.
    pub fn hint(&self, message: &Message) {
        if !self.quiet {
            to_stderr(&self.hint_line(message));
        }
    }

    /// Says of one line of an input that it did not enter, and why.
    pub fn complain(&self, text: &str) {
        to_stderr(&format!("{text}\n"));
    }

    /// `hint: …` and a line feed.
    pub(super) fn hint_line(&self, message: &Message) -> String {
        labelled(&self.lang, "label-hint", Paint::Calm, message, self.colour.stderr)
    }
}

/// Where stderr is closed there is nobody left to tell.
fn to_stderr(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
