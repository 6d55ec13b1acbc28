//! What the first bytes of a stream say it is.
//!
//! Bytes are asked for one at a time and only while they can still become a known beginning: a pipe may trickle, and a
//! first `{` is already an answer.

use std::io::{self, BufRead, Cursor, Read};

/// What a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text, as far as can be told. A byte order mark of UTF-8 has been taken off.
    Plain,
    Gzip,
    Zstd,
    /// UTF-16, or UTF-32: the encoding's name.
    Utf16(&'static str),
    /// Something that is not lines: its name.
    Unsupported(&'static str),
}

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The longest of the beginnings.
const HEAD_MAX_BYTES: usize = 16;

/// Beginnings, from the formats' own specifications and the `file` utility's list. None of them starts with a byte that a
/// JSON object or white space starts with. UTF-16 is told by its mark only.
const BEGINNINGS: &[(&[u8], Kind)] = &[
    (b"\x1f\x8b", Kind::Gzip),
    (b"\x28\xb5\x2f\xfd", Kind::Zstd),
    (b"\xff\xfe", Kind::Utf16("UTF-16LE")),
    (b"\xfe\xff", Kind::Utf16("UTF-16BE")),
    (b"\0\0\xfe\xff", Kind::Utf16("UTF-32BE")),
    (b"BZh", Kind::Unsupported("bzip2")),
    (b"\xfd7zXZ\0", Kind::Unsupported("xz")),
    (b"\x5d\0\0\x80\0", Kind::Unsupported("lzma")),
    (b"LZIP", Kind::Unsupported("lzip")),
    (b"\x04\x22\x4d\x18", Kind::Unsupported("lz4")),
    (b"\xff\x06\0\0sNaPpY", Kind::Unsupported("snappy")),
    (b"\x1f\x9d", Kind::Unsupported("compress")),
    (b"\x78\x9c", Kind::Unsupported("zlib")),
    (b"\x78\xda", Kind::Unsupported("zlib")),
    (b"PK\x03\x04", Kind::Unsupported("zip")),
    (b"PK\x05\x06", Kind::Unsupported("zip")),
    (b"PK\x07\x08", Kind::Unsupported("zip")),
    (b"7z\xbc\xaf\x27\x1c", Kind::Unsupported("7z")),
    (b"Rar!\x1a\x07", Kind::Unsupported("rar")),
    (b"SQLite format 3\0", Kind::Unsupported("SQLite")),
    (b"%PDF-", Kind::Unsupported("PDF")),
    (b"\x89PNG\r\n\x1a\n", Kind::Unsupported("PNG")),
    (b"\xff\xd8\xff", Kind::Unsupported("JPEG")),
    (b"GIF8", Kind::Unsupported("GIF")),
    (b"\x7fELF", Kind::Unsupported("ELF")),
    (b"PAR1", Kind::Unsupported("Parquet")),
    (b"Obj\x01", Kind::Unsupported("Avro")),
    (b"ARROW1", Kind::Unsupported("Arrow")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind::Unsupported("OLE2")),
];

/// Skippable frames of zstd (RFC 8878, 3.1.2) start with one of sixteen bytes, `[` among them, and these.
const SKIPPABLE_REST: &[u8] = b"\x2a\x4d\x18";

/// A stream from its first byte again, and what it is.
#[derive(Debug)]
pub(super) struct Sniffed<R> {
    pub(super) kind: Kind,
    pub(super) stream: io::Chain<Cursor<Vec<u8>>, Resumed<R>>,
}

/// A stream behind its first bytes.
#[derive(Debug)]
pub(super) struct Resumed<R> {
    /// What the stream failed with while its first bytes were read. Not every stream would say it again.
    error: Option<io::Error>,
    stream: R,
}

impl<R: Read> Read for Resumed<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.error.take().map_or_else(|| self.stream.read(buf), Err)
    }
}

impl<R: BufRead> BufRead for Resumed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.stream.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        self.stream.consume(amount);
    }
}

/// Looks at the beginning of a stream. `stream` should be buffered: it is read a byte at a time.
///
/// `idle` is called each time that the stream has nothing to give yet; `None` when it says that waiting is over.
pub(super) fn sniff<R: Read>(mut stream: R, mut idle: impl FnMut() -> bool) -> io::Result<Option<Sniffed<R>>> {
    let mut head = Vec::with_capacity(HEAD_MAX_BYTES);
    let mut failure = None;
    let kind = loop {
        if let Some(kind) = kind_of(&head) {
            break kind;
        }
        let mut byte = [0];
        match stream.read(&mut byte) {
            Ok(0) => break Kind::Plain,
            Ok(_) => head.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if !idle() {
                    return Ok(None);
                }
            }
            Err(error) if head.is_empty() => return Err(error),
            Err(error) => {
                failure = Some(error);
                break Kind::Plain;
            }
        }
    };
    if head == BOM {
        head.clear();
    }
    let stream = Cursor::new(head).chain(Resumed { error: failure, stream });
    Ok(Some(Sniffed { kind, stream }))
}

/// `None` while more bytes are needed.
fn kind_of(head: &[u8]) -> Option<Kind> {
    let mut may_become = head.len() < BOM.len() && BOM.starts_with(head);
    for (beginning, kind) in BEGINNINGS {
        if head.starts_with(beginning) {
            return Some(*kind);
        }
        may_become |= beginning.starts_with(head);
    }
    if let Some((0x50..=0x5f, rest)) = head.split_first() {
        if rest.starts_with(SKIPPABLE_REST) {
            return Some(Kind::Zstd);
        }
        may_become |= SKIPPABLE_REST.starts_with(rest);
    }
    if may_become { None } else { Some(Kind::Plain) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes, then panics: proves that nothing more was asked for.
    struct Exactly<'a>(&'a [u8]);
    impl Read for Exactly<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let (first, rest) = self.0.split_first().expect("more bytes were asked for than needed");
            buf[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn no_more_bytes_are_asked_for_than_needed() {
        let cases: [(&[u8], Kind); 12] = [
            (b"{", Kind::Plain),
            (b"[{", Kind::Plain),
            (b"\n", Kind::Plain),
            (b" ", Kind::Plain),
            (b"\x1f\x8b", Kind::Gzip),
            (b"\x1f{", Kind::Plain),
            (b"\x28\xb5\x2f\xfd", Kind::Zstd),
            (b"(x", Kind::Plain),
            (b"\x5a\x2a\x4d\x18", Kind::Zstd),
            (b"\xef\xbb\xbf", Kind::Plain),
            (b"\xef\xbb{", Kind::Plain),
            (b"7\n", Kind::Plain),
        ];
        for (bytes, kind) in cases {
            let sniffed = sniff(Exactly(bytes), || true).unwrap().unwrap();
            assert_eq!(sniffed.kind, kind, "{bytes:?}");
        }
    }

    #[test]
    fn every_beginning_is_told_and_a_part_of_one_is_plain() {
        for (beginning, kind) in BEGINNINGS {
            assert_eq!(sniff(*beginning, || true).unwrap().unwrap().kind, *kind, "{beginning:?}");
            assert!(beginning.len() <= HEAD_MAX_BYTES);
            assert!(!b"{[\" \t\r\n-0123456tfn".contains(&beginning[0]), "{beginning:?}");
            let part = &beginning[..beginning.len() - 1];
            let whole_part = BEGINNINGS.iter().any(|(other, _)| part.starts_with(other));
            let sniffed = sniff(part, || true).unwrap().unwrap();
            assert!(whole_part || sniffed.kind == Kind::Plain, "{part:?}");
        }
    }

    #[test]
    fn the_stream_is_whole_again_but_for_its_byte_order_mark() {
        let rest = |bytes: &[u8]| {
            let mut out = Vec::new();
            sniff(bytes, || true).unwrap().unwrap().stream.read_to_end(&mut out).unwrap();
            out
        };
        assert_eq!(rest(b"\x1f\x8bxyz"), b"\x1f\x8bxyz");
        assert_eq!(rest(b"\xef\xbb\xbfabc"), b"abc");
        assert_eq!(rest(b"\xef\xbb\xbf\xef\xbb\xbfabc"), b"\xef\xbb\xbfabc");
        assert_eq!(rest(b"\xef\xbb"), b"\xef\xbb");
        assert_eq!(rest(b"a\xef\xbb\xbf"), b"a\xef\xbb\xbf");
        assert_eq!(rest(b""), b"");
    }
}
