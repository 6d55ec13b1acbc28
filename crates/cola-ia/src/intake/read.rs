//! One input from its first byte to its last.

use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use cola_ia_core::intake::RefusalCode;

use super::decode::{Decoded, InputError, Packing, decode};
use super::document::Documents;
use super::lines::{Item, Line, Lines};
use super::outlet::{Outlet, ReadLine};
use super::parse::LineParser;
use super::{Settings, Sink};

/// What an input was, when it is over.
///
/// Unless the reading was stopped, `lines` is `blank` + `delivered` + `refused_lines`, and 1 where a line is unfinished.
#[derive(Debug)]
pub struct InputEnd {
    /// How it was packed; `None` where it was refused as a whole, or its beginning could not be read.
    pub packing: Option<Packing>,
    /// Lines, blank ones too.
    pub lines: u64,
    /// Blank lines.
    pub blank: u64,
    /// Lines that were handed over as events.
    pub delivered: u64,
    /// Lines that were refused, each line of a JSON document counted.
    pub refused_lines: u64,
    /// The last line, which has no end and does not parse: it is left to the next reading.
    pub unfinished: Option<u64>,
    /// Why it could not be read to its end.
    pub error: Option<InputError>,
    /// Whether the sink ended the reading.
    pub stopped: bool,
}

/// Reads one input to its end and hands over what it holds.
///
/// `name` is what people call the input; it goes into every origin. `consumed` grows by the bytes taken from `input`, as
/// packed, for whoever shows progress. gzip and zstd are recognised by their content. A reader that has nothing at present
/// may wait, or say [`WouldBlock`](std::io::ErrorKind::WouldBlock) after having waited for as long as it likes: then
/// everything held is handed over, [`Sink::idle`] is called, and the reader is asked again.
///
/// A line that ends with the input, without a line end, is an event if it parses as one. An error of the input comes after
/// everything that was read before it; the line that it tears is treated like a last line.
pub fn read_input(
    name: &Arc<str>,
    input: impl Read,
    settings: &Settings,
    consumed: &Arc<AtomicU64>,
    sink: &mut impl Sink,
) -> InputEnd {
    let decoded = decode(input, Arc::clone(consumed), || sink.idle().is_continue());
    let mut outlet = Outlet::new(sink, Arc::clone(name), settings.one_by_one);
    let mut end = InputEnd {
        packing: None,
        lines: 0,
        blank: 0,
        delivered: 0,
        refused_lines: 0,
        unfinished: None,
        error: None,
        stopped: false,
    };
    match decoded {
        Ok(Some(Decoded::Lines(packing, plain))) => {
            end.packing = Some(packing);
            let mut lines = Lines::new(plain, settings.max_line_bytes);
            end.error = read_lines(&mut lines, settings, &mut outlet);
            end.lines = lines.count();
            end.blank = lines.blank();
        }
        Ok(Some(Decoded::Utf16(name))) => outlet.refuse_input(RefusalCode::Utf16, name),
        Ok(Some(Decoded::Unsupported(name))) => outlet.refuse_input(RefusalCode::FormatUnsupported, name),
        Ok(None) => end.stopped = true,
        Err(error) => end.error = Some(InputError::from_io(error)),
    }
    let passed = outlet.finish();
    end.delivered = passed.delivered;
    end.refused_lines = passed.refused_lines;
    end.unfinished = passed.unfinished;
    end.stopped |= passed.stopped;
    end
}

fn read_lines<S: Sink>(
    lines: &mut Lines<impl Read>,
    settings: &Settings,
    outlet: &mut Outlet<'_, S>,
) -> Option<InputError> {
    let mut parser = LineParser::new(settings);
    let mut documents = Documents::default();
    let error = loop {
        match lines.next() {
            Ok(Item::Line(line)) => take_line(line, &mut parser, &mut documents, outlet),
            Ok(Item::OverlongPart(part)) => {
                documents.interrupt(outlet);
                outlet.reject(part);
            }
            Ok(Item::OverlongEnd { number, length }) => outlet.refuse_overlong(number, length),
            Ok(Item::Idle) => {
                documents.settle(outlet);
                outlet.idle();
            }
            Ok(Item::End) => break None,
            Err(error) => break Some(InputError::from_io(error)),
        }
        if outlet.stopped() {
            return None;
        }
    };
    documents.settle(outlet);
    error
}

fn take_line<S: Sink>(line: Line<'_>, parser: &mut LineParser, documents: &mut Documents, outlet: &mut Outlet<'_, S>) {
    let shown =
        |refusal| ReadLine { number: line.number, raw: Cow::Borrowed(line.raw), terminated: line.terminated, refusal };
    match parser.parse(line.content) {
        Ok(event) => {
            // Refusals of the lines before come first, where this line shows what they are.
            if documents.watches() {
                documents.line(shown(None), outlet);
            }
            outlet.deliver(line.number, event);
        }
        Err(refusal) => documents.line(shown(Some(refusal)), outlet),
    }
}
