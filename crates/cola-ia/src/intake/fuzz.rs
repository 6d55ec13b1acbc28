//! What must be true of every input: the entry of the fuzzer, and of the test that replays its corpus.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cola_ia_core::intake::Intake;

use super::{InputEnd, InputErrorKind, Settings, Sink, read_input};

/// Reads the bytes as an input, whole and in chunks, and checks what must be true of any. Bounds are small, so that they are
/// met by small inputs.
///
/// # Panics
/// When something is not as it must be.
#[doc(hidden)]
pub fn fuzz_one(data: &[u8]) {
    let whole = Seen::of(data, usize::MAX);
    whole.check(data);
    for size in [1, 7] {
        let chunked = Seen::of(data, size);
        chunked.check(data);
        if whole.error() == Some(InputErrorKind::ZstdDamaged) {
            // zstd hands over an unpacked block as far as it came, and a whole one only if it is sound: a damaged last block
            // gives more in small chunks.
            assert_eq!(chunked.error(), whole.error());
            assert!(chunked.end.delivered >= whole.end.delivered);
            continue;
        }
        assert_eq!(whole.items, chunked.items, "the same in chunks of {size}");
        assert_eq!(whole.rejected, chunked.rejected, "the same in chunks of {size}");
        assert_eq!(whole.summary(), chunked.summary(), "the same in chunks of {size}");
    }
}

struct Seen {
    items: Vec<Intake>,
    rejected: Vec<u8>,
    consumed: u64,
    end: InputEnd,
}

impl Seen {
    fn of(data: &[u8], size: usize) -> Self {
        let settings = Settings { max_line_bytes: 400, max_text_bytes: 100, one_by_one: 6, ..Settings::default() };
        let mut sink = Collecting { items: Vec::new(), rejected: Vec::new() };
        let consumed = Arc::new(AtomicU64::new(0));
        let end = read_input(&"fuzz".into(), Chunked { rest: data, size }, &settings, &consumed, &mut sink);
        Self { items: sink.items, rejected: sink.rejected, consumed: consumed.load(Ordering::Relaxed), end }
    }

    fn error(&self) -> Option<InputErrorKind> {
        self.end.error.as_ref().map(|error| error.kind)
    }

    fn summary(&self) -> impl PartialEq + std::fmt::Debug {
        let InputEnd { packing, lines, blank, delivered, refused_lines, unfinished, stopped, .. } = &self.end;
        (*packing, (*lines, *blank, *delivered, *refused_lines), *unfinished, self.error(), *stopped)
    }

    fn check(&self, data: &[u8]) {
        let end = &self.end;
        assert!(!end.stopped);
        assert!(self.consumed <= data.len() as u64);
        let accounted = end.blank + end.delivered + end.refused_lines + u64::from(end.unfinished.is_some());
        assert_eq!(end.lines, accounted, "every line is accounted for");
        assert!(end.unfinished.is_none_or(|line| line == end.lines), "only the last line can be unfinished");
        let mut last_event = 0;
        let (mut events, mut refusals) = (0, 0);
        for item in &self.items {
            match item {
                Intake::Delivery(delivery) => {
                    events += 1;
                    assert!(delivery.origin.line > last_event, "events come in the order of their lines");
                    last_event = delivery.origin.line;
                }
                Intake::Refusal(refusal) => {
                    refusals += refusal.count;
                    assert!(refusal.origin.line >= 1 && refusal.count >= 1);
                    assert!(!refusal.detail.contains(char::is_control), "a detail can be printed");
                }
            }
        }
        assert_eq!(events, end.delivered);
        if end.packing.is_some() {
            assert!(refusals <= end.refused_lines, "no line is refused twice");
            assert_eq!(refusals == 0, end.refused_lines == 0);
        }
        if end.packing == Some(super::Packing::Plain) {
            assert_eq!(self.consumed, data.len() as u64);
            let mut rest = self.rejected.as_slice();
            for raw in data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data).split_inclusive(|byte| *byte == b'\n') {
                rest = rest.strip_prefix(raw).unwrap_or(rest);
            }
            assert!(rest.is_empty(), "rejected lines are lines of the input, in its order");
        }
    }
}

struct Collecting {
    items: Vec<Intake>,
    rejected: Vec<u8>,
}

impl Sink for Collecting {
    fn intake(&mut self, item: Intake) -> ControlFlow<()> {
        self.items.push(item);
        ControlFlow::Continue(())
    }

    fn rejected(&mut self, raw: &[u8]) {
        self.rejected.extend_from_slice(raw);
    }
}

struct Chunked<'a> {
    rest: &'a [u8],
    size: usize,
}

impl Read for Chunked<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.size.min(buf.len()).min(self.rest.len());
        buf[..count].copy_from_slice(&self.rest[..count]);
        self.rest = &self.rest[count..];
        Ok(count)
    }
}
