//! The lines of an input that does not hold events: plain or compressed, with the same bounds, as bytes.

use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::decode::{Decoded, InputError, decode};
use super::lines::{Item, Lines};

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawLine<'a> {
    /// A line that is not blank.
    Line {
        /// From 1, blank lines counted.
        number: u64,
        /// Without its end.
        bytes: &'a [u8],
        /// Whether it has an end; only the last one may not.
        terminated: bool,
    },
    /// One that is longer than allowed.
    TooLong {
        /// From 1, blank lines counted.
        number: u64,
        /// Its length in bytes.
        length: u64,
    },
}

/// How an input ended.
#[derive(Debug)]
pub enum RawEnd {
    /// All of it was read.
    Whole,
    /// Whoever takes the lines wanted no more.
    Stopped,
    /// It is something else: the name of an encoding or a format.
    Other(&'static str),
    /// It could not be read to its end.
    Failed(InputError),
}

/// Hands over the lines of an input. gzip and zstd are recognised by their content.
pub fn read_raw(
    input: impl Read,
    max_line_bytes: usize,
    consumed: &Arc<AtomicU64>,
    mut take: impl FnMut(RawLine<'_>) -> ControlFlow<()>,
) -> RawEnd {
    let plain = match decode(input, Arc::clone(consumed), || true) {
        Ok(Some(Decoded::Lines(_, plain))) => plain,
        Ok(Some(Decoded::Utf16(name) | Decoded::Unsupported(name))) => return RawEnd::Other(name),
        Ok(None) => return RawEnd::Stopped,
        Err(error) => return RawEnd::Failed(InputError::from_io(error)),
    };
    let mut lines = Lines::new(plain, max_line_bytes);
    loop {
        let line = match lines.next() {
            Ok(Item::Line(line)) => {
                RawLine::Line { number: line.number, bytes: line.content, terminated: line.terminated }
            }
            Ok(Item::OverlongEnd { number, length }) => RawLine::TooLong { number, length },
            Ok(Item::OverlongPart(_) | Item::Idle) => continue,
            Ok(Item::End) => return RawEnd::Whole,
            Err(error) => return RawEnd::Failed(InputError::from_io(error)),
        };
        if take(line).is_break() {
            return RawEnd::Stopped;
        }
    }
}
