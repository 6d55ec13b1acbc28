//! From what was given to plain bytes: gzip and zstd are recognised by their content.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::gzip::Gzip;
use super::sniff::{Kind, sniff};
use super::zstandard::Zstandard;

/// How an input is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// gzip (RFC 1952), any number of members.
    Gzip,
    /// zstd (RFC 8878), any number of frames.
    Zstd,
}

/// Why an input could not be read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputErrorKind {
    /// The operating system could not read it.
    Io,
    /// The gzip stream ends in the middle.
    GzipCut,
    /// The gzip stream is not what was packed. Checksums stand at the end of a member: lines read before may be damaged too.
    GzipDamaged,
    /// The zstd stream ends in the middle.
    ZstdCut,
    /// The zstd stream is not what was packed. Checksums stand at the end of a frame, if anywhere.
    ZstdDamaged,
    /// The zstd stream needs a window larger than 8 MiB.
    ZstdWindow,
}

impl InputErrorKind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Io, Self::GzipCut, Self::GzipDamaged, Self::ZstdCut, Self::ZstdDamaged, Self::ZstdWindow];

    /// The code in JSON and documentation, stable.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::GzipCut => "gzip_cut",
            Self::GzipDamaged => "gzip_damaged",
            Self::ZstdCut => "zstd_cut",
            Self::ZstdDamaged => "zstd_damaged",
            Self::ZstdWindow => "zstd_window",
        }
    }
}

/// The input could not be read to its end. What could be read before was handed over.
#[derive(Debug)]
pub struct InputError {
    /// What happened.
    pub kind: InputErrorKind,
    /// What the operating system or the decoder said, in its words; empty where it said nothing.
    pub detail: String,
}

impl InputError {
    /// An error to be passed through [`Read`], found again by [`from_io`](Self::from_io).
    pub(super) fn through_io(kind: InputErrorKind, detail: impl fmt::Display) -> io::Error {
        io::Error::other(Self { kind, detail: detail.to_string() })
    }

    pub(super) fn from_io(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(|other| Self { kind: InputErrorKind::Io, detail: other.to_string() })
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.as_str())?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

impl std::error::Error for InputError {}

/// A stream of plain bytes, or what it is instead.
pub(super) enum Decoded<'r> {
    /// Bytes of lines, without a byte order mark at their start.
    Lines(Packing, Box<dyn Read + 'r>),
    Utf16(&'static str),
    Unsupported(&'static str),
}

/// Recognises what `raw` is and unpacks it. `consumed` grows by the bytes taken from `raw`.
///
/// The bytes within a packed stream are looked at again, so that an archive in gzip is named and not read as lines.
/// Errors within the stream come from the reader, as [`InputError::through_io`], after everything readable before them.
///
/// `idle` is called while the beginning is awaited; `None` when it says that waiting is over.
pub(super) fn decode<'r>(
    raw: impl Read + 'r,
    consumed: Arc<AtomicU64>,
    mut idle: impl FnMut() -> bool,
) -> io::Result<Option<Decoded<'r>>> {
    let counted = BufReader::with_capacity(RAW_BUFFER_BYTES, Counted { inner: raw, consumed });
    let Some(outer) = sniff(counted, &mut idle)? else { return Ok(None) };
    let (packing, unpacked): (Packing, Box<dyn Read + 'r>) = match outer.kind {
        Kind::Plain => return Ok(Some(Decoded::Lines(Packing::Plain, Box::new(outer.stream)))),
        Kind::Utf16(name) => return Ok(Some(Decoded::Utf16(name))),
        Kind::Unsupported(name) => return Ok(Some(Decoded::Unsupported(name))),
        Kind::Gzip => (Packing::Gzip, Box::new(Gzip::new(outer.stream))),
        Kind::Zstd => (Packing::Zstd, Box::new(Zstandard::new(outer.stream)?)),
    };
    let Some(inner) = sniff(unpacked, idle)? else { return Ok(None) };
    Ok(Some(match inner.kind {
        Kind::Plain => Decoded::Lines(packing, Box::new(inner.stream)),
        Kind::Utf16(name) => Decoded::Utf16(name),
        Kind::Unsupported(name) => Decoded::Unsupported(name),
        // Packed twice: one layer is taken off, no more, so that the work is bounded by the input.
        Kind::Gzip => Decoded::Unsupported("gzip"),
        Kind::Zstd => Decoded::Unsupported("zstd"),
    }))
}

const RAW_BUFFER_BYTES: usize = 64 << 10;

/// Counts what is taken.
struct Counted<R> {
    inner: R,
    consumed: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buf)?;
        // A progress bar reads it; nothing is ordered by it.
        self.consumed.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
