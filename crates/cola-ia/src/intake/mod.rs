//! From a stream of bytes to events: JSON Lines, plain or compressed.
//!
//! [`read_input`] reads one input to its end and hands every event and every refusal to a [`Sink`], on the caller's thread.
//! Nothing valid is lost to what stands beside it: a wrong line is refused and the lines after it still enter. Memory is
//! bounded by the longest line allowed, whatever the input is.
//!
//! This module must not know the store, the terminal or the language that people are addressed in: it gives codes, lines,
//! columns and details, and others say what they mean.
//!
//! The stages, each a file: `sniff` (what the first bytes say), `decode` (gzip and zstd to plain bytes), `lines` (bytes to
//! lines), `parse` (a line to an event, with `keys` and `fields`), `document` (many refused lines that are one JSON
//! document, with `outline`), `outlet` (what the sink hears), `read` (all of it in turn).

mod decode;
mod detail;
mod document;
mod fields;
mod fuzz;
mod gzip;
mod keys;
mod lines;
mod outlet;
mod outline;
mod parse;
mod raw;
mod read;
mod sniff;
mod zstandard;

use std::ops::ControlFlow;

use cola_ia_core::event::Source;
use cola_ia_core::intake::Intake;
use cola_ia_core::limits::{LINE_MAX_BYTES_DEFAULT, REFUSALS_ONE_BY_ONE, TEXT_MAX_BYTES_DEFAULT};

pub use decode::{InputError, InputErrorKind, Packing};
#[doc(hidden)]
pub use fuzz::fuzz_one;
pub use parse::{Cut, LineParser, ParseRefusal, ParsedLine};
pub use raw::{RawEnd, RawLine, read_raw};
pub use read::{InputEnd, read_input};

/// What an input is measured against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Longest line in bytes, without its end. From 1 to
    /// [`LINE_MAX_BYTES_CEILING`](cola_ia_core::limits::LINE_MAX_BYTES_CEILING).
    pub max_line_bytes: usize,
    /// Longest text in bytes of UTF-8, decoded.
    pub max_text_bytes: usize,
    /// The source that the whole input was given with. A line that names another one is refused.
    pub source: Option<Source>,
    /// The source of lines that name none, where the whole input was given with none.
    pub default_source: Source,
    /// How many refusals of the input are handed over one by one; later ones are counted by code and handed over at the end.
    pub one_by_one: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_line_bytes: LINE_MAX_BYTES_DEFAULT,
            max_text_bytes: TEXT_MAX_BYTES_DEFAULT,
            source: None,
            default_source: Source::default(),
            one_by_one: REFUSALS_ONE_BY_ONE,
        }
    }
}

/// Where the events and refusals of an input go.
pub trait Sink {
    /// Takes one event or refusal. A sink that can hold no more waits here, and the input waits with it.
    ///
    /// Events come in the order of their lines, and so do refusals. A refusal may come after the events of later lines,
    /// because it takes more lines to tell a truncated line from a JSON document.
    ///
    /// `Break` ends the reading at once; nothing more is handed over.
    fn intake(&mut self, item: Intake) -> ControlFlow<()>;

    /// Takes bytes of refused lines exactly as they were read, line ends included, in the order of the lines; a long line
    /// comes in several parts. All the bytes together are a file that can be mended and read again.
    ///
    /// They come before the refusal that they belong to. Nothing comes for an input that is refused as a whole, nor for an
    /// unfinished line. A byte order mark at the start of the input is not part of its first line.
    fn rejected(&mut self, raw: &[u8]) {
        let _ = raw;
    }

    /// The input has nothing to give at present: its reader said [`WouldBlock`](std::io::ErrorKind::WouldBlock). All that
    /// was read before has been handed over, except for an incomplete line.
    ///
    /// `Break` ends the reading.
    fn idle(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
