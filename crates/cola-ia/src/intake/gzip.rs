//! gzip (RFC 1952): all members, and every byte that a damaged one still gives.
//!
//! flate2's own reader drops what it had unpacked in the call that meets the damage. This one drives flate2's inflater
//! itself, so that those bytes come first and the error after them. Members are told apart by flate2's header parser.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use flate2::{Crc, Decompress, FlushDecompress};

use super::decode::{InputError, InputErrorKind};

/// At least the 32 KiB window of deflate: the inflater then hands over all it has with its error.
const OUT_BYTES: usize = 64 << 10;

/// The plain bytes of a gzip stream.
///
/// `WouldBlock` of the inner reader passes through, and reading can go on after it.
pub(super) struct Gzip<R> {
    /// `None` only while a stage hands the input to the next, and after the end.
    stage: Option<Stage<R>>,
    inflater: Decompress,
    sum: Crc,
    out: Box<[u8]>,
    /// The part of `out` that has not been taken.
    ready: std::ops::Range<usize>,
    /// Comes after `ready`.
    error: Option<io::Error>,
}

enum Stage<R> {
    Header(Box<GzDecoder<R>>),
    Body(R),
    Trailer {
        input: R,
        bytes: [u8; 8],
        filled: usize,
    },
    /// Behind a member: another one, zero bytes as padding, or the end.
    Between {
        input: R,
        padding: bool,
    },
}

impl<R: BufRead> Gzip<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            stage: Some(Stage::Header(Box::new(GzDecoder::new(input)))),
            inflater: Decompress::new(false),
            sum: Crc::new(),
            out: vec![0; OUT_BYTES].into_boxed_slice(),
            ready: 0..0,
            error: None,
        }
    }

    /// Goes on by one step. The stage is put back before any error is returned that reading can go on after.
    fn advance(&mut self, stage: Stage<R>) -> io::Result<()> {
        match stage {
            Stage::Header(decoder) => self.header(decoder),
            Stage::Body(input) => self.body(input),
            Stage::Trailer { input, bytes, filled } => self.trailer(input, bytes, filled),
            Stage::Between { input, padding } => self.between(input, padding),
        }
    }

    fn header(&mut self, mut decoder: Box<GzDecoder<R>>) -> io::Result<()> {
        // Reading nothing parses the header and leaves the input at the member's body.
        match decoder.read(&mut []) {
            Ok(_) => {
                self.inflater.reset(false);
                self.sum.reset();
                self.stage = Some(Stage::Body(decoder.into_inner()));
                Ok(())
            }
            Err(error) if passes(&error) => {
                self.stage = Some(Stage::Header(decoder));
                Err(error)
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(cut()),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Err(damaged(error)),
            Err(error) => Err(error),
        }
    }

    fn body(&mut self, mut input: R) -> io::Result<()> {
        let packed = match input.fill_buf() {
            Ok(packed) => packed,
            Err(error) => {
                self.stage = Some(Stage::Body(input));
                return Err(error);
            }
        };
        let at_end = packed.is_empty();
        let (in_before, out_before) = (self.inflater.total_in(), self.inflater.total_out());
        let result = self.inflater.decompress(packed, &mut self.out, FlushDecompress::None);
        // Counted by the totals and not by the result: an error, too, comes with bytes.
        input.consume((self.inflater.total_in() - in_before) as usize);
        self.ready = 0..(self.inflater.total_out() - out_before) as usize;
        self.sum.update(&self.out[self.ready.clone()]);
        match result {
            Ok(flate2::Status::StreamEnd) => {
                self.stage = Some(Stage::Trailer { input, bytes: [0; 8], filled: 0 });
                Ok(())
            }
            Ok(_) if at_end && self.ready.is_empty() => Err(cut()),
            Ok(_) => {
                self.stage = Some(Stage::Body(input));
                Ok(())
            }
            Err(error) => Err(damaged(error)),
        }
    }

    fn trailer(&mut self, mut input: R, mut bytes: [u8; 8], mut filled: usize) -> io::Result<()> {
        let taken = input.fill_buf().map(|available| {
            let count = available.len().min(bytes.len() - filled);
            bytes[filled..filled + count].copy_from_slice(&available[..count]);
            count
        });
        match taken {
            Ok(0) => return Err(cut()),
            Ok(count) => {
                input.consume(count);
                filled += count;
            }
            Err(error) => {
                self.stage = Some(Stage::Trailer { input, bytes, filled });
                return Err(error);
            }
        }
        if filled < bytes.len() {
            self.stage = Some(Stage::Trailer { input, bytes, filled });
            return Ok(());
        }
        // RFC 1952, 2.3.1: CRC-32, then the length modulo 2^32, both with the low byte first.
        let expected = [self.sum.sum().to_le_bytes(), self.sum.amount().to_le_bytes()].concat();
        if bytes[..] != expected[..] {
            return Err(damaged("checksum"));
        }
        self.stage = Some(Stage::Between { input, padding: false });
        Ok(())
    }

    fn between(&mut self, mut input: R, padding: bool) -> io::Result<()> {
        match input.fill_buf() {
            // Dropping the stage ends the stream.
            Ok([]) => {}
            // Zeros fill up the last block of a tape or a device; gzip(1) passes over them too.
            Ok([0, ..]) => {
                input.consume(1);
                self.stage = Some(Stage::Between { input, padding: true });
            }
            Ok([first, ..]) if padding || *first != 0x1f => return Err(damaged("data behind the last member")),
            Ok(_) => self.stage = Some(Stage::Header(Box::new(GzDecoder::new(input)))),
            Err(error) => {
                self.stage = Some(Stage::Between { input, padding });
                return Err(error);
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            if let Some(error) = self.error.take() {
                return Err(error);
            }
            let Some(stage) = self.stage.take() else { return Ok(0) };
            if let Err(error) = self.advance(stage) {
                self.error = Some(error);
            }
        }
        let count = buf.len().min(self.ready.len());
        buf[..count].copy_from_slice(&self.out[self.ready.start..self.ready.start + count]);
        self.ready.start += count;
        Ok(count)
    }
}

/// An error after which the same input may be asked again.
fn passes(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn cut() -> io::Error {
    InputError::through_io(InputErrorKind::GzipCut, "")
}

fn damaged(detail: impl std::fmt::Display) -> io::Error {
    InputError::through_io(InputErrorKind::GzipDamaged, detail)
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write as _};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(bytes: &[u8], buffer: usize) -> (Vec<u8>, Option<InputErrorKind>) {
        let mut out = Vec::new();
        let error = Gzip::new(BufReader::with_capacity(buffer, bytes)).read_to_end(&mut out).err();
        (out, error.map(|error| InputError::from_io(error).kind))
    }

    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u32;
        (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                b'a' + (state >> 28) as u8
            })
            .collect()
    }

    #[test]
    fn all_members_are_read_however_they_are_chunked() {
        let bytes = [packed(b"one\n"), packed(b""), packed(b"two\n"), vec![0; 300]].concat();
        for buffer in [1, 2, 7, 8192] {
            assert_eq!(unpacked(&bytes, buffer), (b"one\ntwo\n".to_vec(), None), "{buffer}");
        }
    }

    #[test]
    fn a_cut_anywhere_gives_what_stands_before_it() {
        let text = noise(20_000);
        let bytes = packed(&text);
        let mut longest = 0;
        for length in (2..bytes.len()).step_by(97).chain(bytes.len() - 9..bytes.len()) {
            let (out, error) = unpacked(&bytes[..length], 8192);
            assert_eq!(error, Some(InputErrorKind::GzipCut), "{length}");
            assert!(text.starts_with(&out) && out.len() >= longest);
            longest = out.len();
        }
        assert_eq!(longest, text.len());
    }

    #[test]
    fn damage_is_an_error_after_what_stands_before_it() {
        let text = noise(200_000);
        let good = packed(&text);
        // A block that says it has the reserved type 3 is damage for certain; behind a stored member it is met at once.
        let mut bytes = [packed(&text), packed(b"")].concat();
        let body_of_second = good.len() + 10;
        bytes[body_of_second] = 0x07;
        assert_eq!(unpacked(&bytes, 8192), (text.clone(), Some(InputErrorKind::GzipDamaged)));
        // In the middle of one member: nothing that was unpacked before is dropped.
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&text).unwrap();
        encoder.flush().unwrap();
        let mut flushed = encoder.get_ref().clone();
        flushed.extend([0x07; 64]);
        assert_eq!(unpacked(&flushed, 8192), (text.clone(), Some(InputErrorKind::GzipDamaged)));
        // A wrong checksum is found at the end.
        let mut bytes = good.clone();
        let at = bytes.len() - 8;
        bytes[at] ^= 1;
        assert_eq!(unpacked(&bytes, 8192), (text.clone(), Some(InputErrorKind::GzipDamaged)));
        // Something else behind the last member.
        let bytes = [good, b"{\"id\":\"a\"}\n".to_vec()].concat();
        assert_eq!(unpacked(&bytes, 8192), (text, Some(InputErrorKind::GzipDamaged)));
    }

    #[test]
    fn reading_goes_on_after_would_block() {
        /// Gives one byte, then nothing for once, and so on.
        struct Trickle<'a>(&'a [u8], bool);
        impl Read for Trickle<'_> {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                self.1 = !self.1;
                if self.1 {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
                buf[0] = *first;
                self.0 = rest;
                Ok(1)
            }
        }
        let bytes = [packed(b"one\n"), packed(b"two\n")].concat();
        let mut reader = Gzip::new(BufReader::new(Trickle(&bytes, false)));
        let (mut out, mut buf) = (Vec::<u8>::new(), [0; 16]);
        loop {
            match reader.read(&mut buf) {
                Ok(0) => break,
                Ok(count) => out.extend(&buf[..count]),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        assert_eq!(out, b"one\ntwo\n");
    }
}
