//! Bytes to lines: they end at byte 0x0A only, are counted from 1, and are never kept where they are too long.

use std::io::{self, Read};

use memchr::memchr;

/// Least room for one read.
const READ_BYTES: usize = 64 << 10;
const BUFFER_BYTES: usize = 256 << 10;

/// Lines of a stream. Memory: the longest line allowed and 320 KiB.
pub(super) struct Lines<R> {
    input: R,
    max_line_bytes: usize,
    buf: Vec<u8>,
    /// `buf[start..end]` is read and not handed out.
    start: usize,
    /// `buf[start..searched]` holds no line end.
    searched: usize,
    end: usize,
    count: u64,
    blank: u64,
    /// The current line is too long: its bytes are handed out and forgotten.
    overlong: Option<Overlong>,
    ended: bool,
    /// Comes after the lines before it.
    error: Option<io::Error>,
}

/// What is known of a line that is too long.
#[derive(Debug, Default)]
struct Overlong {
    /// Bytes so far, with the line end.
    raw_bytes: u64,
    /// The last two bytes so far.
    tail: [u8; 2],
    complete: bool,
}

impl Overlong {
    fn add(&mut self, part: &[u8]) {
        self.raw_bytes += part.len() as u64;
        match part {
            [.., before, last] => self.tail = [*before, *last],
            [last] => self.tail = [self.tail[1], *last],
            [] => {}
        }
    }

    fn length(&self) -> u64 {
        let line_end = match self.tail {
            [b'\r', b'\n'] => 2,
            [_, b'\n'] => 1,
            _ => 0,
        };
        self.raw_bytes - line_end
    }
}

/// One thing that a stream of lines holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    /// A line that is not blank.
    Line(Line<'a>),
    /// The next bytes of a line that is too long, its end included.
    OverlongPart(&'a [u8]),
    /// All of that line was handed out.
    OverlongEnd {
        number: u64,
        /// Bytes without the line end.
        length: u64,
    },
    /// Nothing to read at present; ask again.
    Idle,
    End,
}

/// A line that is not blank and not too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// From 1, blank lines counted.
    pub(super) number: u64,
    /// Without its end.
    pub(super) content: &'a [u8],
    /// As read, with its end.
    pub(super) raw: &'a [u8],
    /// Whether it ends in 0x0A; only the last one may not.
    pub(super) terminated: bool,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R, max_line_bytes: usize) -> Self {
        Self {
            input,
            max_line_bytes,
            buf: vec![0; BUFFER_BYTES],
            start: 0,
            searched: 0,
            end: 0,
            count: 0,
            blank: 0,
            overlong: None,
            ended: false,
            error: None,
        }
    }

    /// Lines so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Blank lines so far.
    pub(super) fn blank(&self) -> u64 {
        self.blank
    }

    /// The next item.
    ///
    /// # Errors
    /// Once, after every line before the error, an unterminated one included.
    pub(super) fn next(&mut self) -> io::Result<Item<'_>> {
        loop {
            if let Some(overlong) = self.overlong.take_if(|overlong| overlong.complete) {
                return Ok(Item::OverlongEnd { number: self.count, length: overlong.length() });
            }
            // Long runs of empty lines are not worth a search each.
            while self.start < self.end && self.buf[self.start] == b'\n' && self.overlong.is_none() {
                self.start += 1;
                self.searched = self.start;
                self.count += 1;
                self.blank += 1;
            }
            if let Some(found) = memchr(b'\n', &self.buf[self.searched..self.end]) {
                let raw_end = self.searched + found + 1;
                if let Some(item) = self.take_line(raw_end, true) {
                    return Ok(self.item(item));
                }
                continue;
            }
            self.searched = self.end;
            // Two bytes more than the bound, as the last two may yet be a line end.
            let too_long = self.end - self.start >= self.max_line_bytes + 2;
            if self.start < self.end && (too_long || self.overlong.is_some()) {
                let part = self.start..self.end;
                self.overlong.get_or_insert_default().add(&self.buf[part.clone()]);
                self.start = self.end;
                return Ok(Item::OverlongPart(&self.buf[part]));
            }
            if self.ended {
                if let Some(overlong) = &mut self.overlong {
                    overlong.complete = true;
                    self.count += 1;
                    continue;
                }
                if self.start < self.end {
                    if let Some(item) = self.take_line(self.end, false) {
                        return Ok(self.item(item));
                    }
                    continue;
                }
                return self.error.take().map_or(Ok(Item::End), Err);
            }
            if !self.fill() {
                return Ok(Item::Idle);
            }
        }
    }

    /// Takes `buf[start..raw_end]` as the rest of a line; `None` where it is blank.
    fn take_line(&mut self, raw_end: usize, terminated: bool) -> Option<Taken> {
        let raw = self.start..raw_end;
        self.start = raw_end;
        self.searched = raw_end;
        self.count += 1;
        if let Some(overlong) = &mut self.overlong {
            overlong.add(&self.buf[raw.clone()]);
            overlong.complete = true;
            return Some(Taken::Part(raw));
        }
        let content_end = raw.end - line_end_bytes(&self.buf[raw.clone()], terminated);
        let content = raw.start..content_end;
        if content.len() > self.max_line_bytes {
            let mut overlong = Overlong { complete: true, ..Overlong::default() };
            overlong.add(&self.buf[raw.clone()]);
            self.overlong = Some(overlong);
            return Some(Taken::Part(raw));
        }
        if is_blank(&self.buf[content]) {
            self.blank += 1;
            return None;
        }
        Some(Taken::Line { raw, content_end, terminated })
    }

    fn item(&self, taken: Taken) -> Item<'_> {
        match taken {
            Taken::Part(raw) => Item::OverlongPart(&self.buf[raw]),
            Taken::Line { raw, content_end, terminated } => Item::Line(Line {
                number: self.count,
                content: &self.buf[raw.start..content_end],
                raw: &self.buf[raw],
                terminated,
            }),
        }
    }

    /// Reads more, or learns that there is no more. `false`: nothing at present.
    fn fill(&mut self) -> bool {
        if self.start == self.end {
            (self.start, self.searched, self.end) = (0, 0, 0);
        } else if self.buf.len() - self.end < READ_BYTES {
            // Only the beginning of the one line that does not end in the buffer is moved.
            self.buf.copy_within(self.start..self.end, 0);
            self.searched -= self.start;
            self.end -= self.start;
            self.start = 0;
            if self.buf.len() - self.end < READ_BYTES {
                let wanted = (self.buf.len() * 2).min(self.max_line_bytes.saturating_add(2 + READ_BYTES));
                self.buf.resize(wanted.max(self.end + READ_BYTES), 0);
            }
        }
        match self.input.read(&mut self.buf[self.end..]) {
            Ok(0) => self.ended = true,
            Ok(count) => self.end += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) => {
                self.ended = true;
                self.error = Some(error);
            }
        }
        true
    }
}

enum Taken {
    Part(std::ops::Range<usize>),
    Line { raw: std::ops::Range<usize>, content_end: usize, terminated: bool },
}

fn line_end_bytes(raw: &[u8], terminated: bool) -> usize {
    match raw {
        _ if !terminated => 0,
        [.., b'\r', _] => 2,
        _ => 1,
    }
}

fn is_blank(content: &[u8]) -> bool {
    content.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads in chunks of these sizes, in turn.
    struct Chunked<'a> {
        rest: &'a [u8],
        sizes: Vec<usize>,
        turn: usize,
    }

    impl Read for Chunked<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let size = self.sizes[self.turn % self.sizes.len()];
            self.turn += 1;
            if size == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let count = size.min(buf.len()).min(self.rest.len());
            buf[..count].copy_from_slice(&self.rest[..count]);
            self.rest = &self.rest[count..];
            Ok(count)
        }
    }

    #[derive(Debug, PartialEq, Eq, Clone)]
    enum Seen {
        Line(u64, Vec<u8>, Vec<u8>, bool),
        Overlong(u64, u64, Vec<u8>),
    }

    fn seen(input: impl Read, max_line_bytes: usize) -> (Vec<Seen>, u64, u64, Option<io::ErrorKind>) {
        let mut lines = Lines::new(input, max_line_bytes);
        let (mut out, mut parts) = (Vec::new(), Vec::new());
        let error = loop {
            match lines.next() {
                Ok(Item::Line(line)) => {
                    out.push(Seen::Line(line.number, line.content.to_vec(), line.raw.to_vec(), line.terminated));
                }
                Ok(Item::OverlongPart(part)) => parts.extend(part),
                Ok(Item::OverlongEnd { number, length }) => {
                    out.push(Seen::Overlong(number, length, std::mem::take(&mut parts)));
                }
                Ok(Item::Idle) => {}
                Ok(Item::End) => break None,
                Err(error) => break Some(error.kind()),
            }
        };
        (out, lines.count(), lines.blank(), error)
    }

    /// The rules in their plainest form.
    fn model(bytes: &[u8], max_line_bytes: usize) -> (Vec<Seen>, u64, u64) {
        let (mut out, mut number, mut blank) = (Vec::new(), 0, 0);
        for raw in bytes.split_inclusive(|byte| *byte == b'\n') {
            number += 1;
            let terminated = raw.ends_with(b"\n");
            let content = raw.strip_suffix(b"\r\n").or(raw.strip_suffix(b"\n")).unwrap_or(raw);
            if content.len() > max_line_bytes {
                out.push(Seen::Overlong(number, content.len() as u64, raw.to_vec()));
            } else if content.trim_ascii().is_empty() {
                blank += 1;
            } else {
                out.push(Seen::Line(number, content.to_vec(), raw.to_vec(), terminated));
            }
        }
        (out, number, blank)
    }

    fn check(bytes: &[u8], max_line_bytes: usize, sizes: &[usize]) {
        let (out, count, blank, error) = seen(Chunked { rest: bytes, sizes: sizes.to_vec(), turn: 0 }, max_line_bytes);
        assert_eq!((out, count, blank), model(bytes, max_line_bytes), "{bytes:?} by {sizes:?}");
        assert_eq!(error, None);
    }

    #[test]
    fn lines_end_at_line_feed_only() {
        for bytes in [
            &b""[..],
            b"\n",
            b"a",
            b"a\n",
            b"a\r\n",
            b"a\r",
            b"a\rb\n",
            b"a\r\r\n",
            b"\r\n",
            b"\r",
            b"a\x0bb\x0cc\xc2\x85d\xe2\x80\xa8e\n",
            b"\n\n \n\t\r\n\x0c\n a\n\n",
            b"a\n   ",
            b"a\0b\n\0\n",
        ] {
            for sizes in [&[1][..], &[2], &[1, 0], &[1 << 20]] {
                check(bytes, 8, sizes);
            }
        }
    }

    #[test]
    fn the_bound_is_on_the_line_without_its_end() {
        for bytes in [
            &b"12345678"[..],
            b"12345678\n",
            b"12345678\r\n",
            b"12345678\r\r\n",
            b"123456789",
            b"123456789\n",
            b"123456789\r\n",
            b"12345678\r",
            b"1234567890123\r\nx\n",
            b"x\n1234567890123456789\nx\n1234567890123456789",
            b"           \nx\n",
        ] {
            for sizes in [&[1][..], &[3], &[10], &[11, 1], &[1 << 20]] {
                check(bytes, 8, sizes);
            }
        }
    }

    #[test]
    fn a_line_is_whole_across_reads_and_buffers() {
        let mut bytes = Vec::new();
        for length in [10, 70_000, 3, 300_000, 900_000, 900_001, 5] {
            bytes.extend(std::iter::repeat_n(b'x', length));
            bytes.push(b'\n');
        }
        for sizes in [&[4096][..], &[65_537], &[1 << 20], &[1, 100_000]] {
            check(&bytes, 900_000, sizes);
        }
    }

    #[test]
    fn an_error_comes_after_the_lines_before_it() {
        struct Fails;
        impl Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::ConnectionReset.into())
            }
        }
        let (out, count, _, error) = seen(b"a\nb".chain(Fails), 8);
        let line = |number, content: &[u8], raw: &[u8], terminated| {
            Seen::Line(number, content.to_vec(), raw.to_vec(), terminated)
        };
        assert_eq!(out, [line(1, b"a", b"a\n", true), line(2, b"b", b"b", false)]);
        assert_eq!((count, error), (2, Some(io::ErrorKind::ConnectionReset)));
    }

    proptest! {
        #[test]
        fn splitting_does_not_depend_on_the_chunks(
            bytes in prop::collection::vec(prop::sample::select(&b"ab\n\n\r {\xff"[..]), 0..200),
            max_line_bytes in 1_usize..12,
            sizes in prop::collection::vec(1_usize..20, 1..6),
        ) {
            check(&bytes, max_line_bytes, &sizes);
            check(&bytes, max_line_bytes, &[1]);
        }
    }
}
