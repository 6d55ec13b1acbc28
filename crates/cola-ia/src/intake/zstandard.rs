//! zstd (RFC 8878): all frames, skippable ones too, with a bound on the window, and every byte that a damaged one still
//! gives.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::ops::Range;

use cola_ia_core::limits::ZSTD_WINDOW_LOG_MAX;
use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, get_error_name, is_error_kind};

use super::decode::{InputError, InputErrorKind};

/// A block header, which the decoder asks for together with the block before it.
const BLOCK_HEADER_BYTES: usize = 3;

/// The plain bytes of a zstd stream.
///
/// The decoder reports nothing of what it unpacked in a call that meets damage. So it is fed one block a call, without the
/// next block's header, into room for a whole block: what stands before the damaged block, at most 128 KiB, came from earlier
/// calls.
///
/// `WouldBlock` of the inner reader passes through, and reading can go on after it.
pub(super) struct Zstandard<R> {
    input: R,
    decoder: DCtx<'static>,
    /// How many bytes the decoder asks for; 0 between frames.
    wanted: usize,
    out: Box<[u8]>,
    /// The part of `out` that has not been taken.
    ready: Range<usize>,
    ended: bool,
}

impl<R: BufRead> Zstandard<R> {
    pub(super) fn new(input: R) -> io::Result<Self> {
        let mut decoder = DCtx::create();
        decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX)).map_err(error_of)?;
        Ok(Self {
            input,
            decoder,
            wanted: 0,
            out: vec![0; DCtx::out_size()].into_boxed_slice(),
            ready: 0..0,
            ended: false,
        })
    }

    fn advance(&mut self) -> io::Result<()> {
        let packed = self.input.fill_buf()?;
        if packed.is_empty() {
            self.ended = true;
            return if self.wanted == 0 { Ok(()) } else { Err(failed(InputErrorKind::ZstdCut, "")) };
        }
        let share = match self.wanted {
            0 => 1,
            wanted if wanted > BLOCK_HEADER_BYTES => wanted - BLOCK_HEADER_BYTES,
            wanted => wanted,
        };
        let mut input = InBuffer::around(&packed[..share.min(packed.len())]);
        let mut output = OutBuffer::around(&mut *self.out);
        let result = self.decoder.decompress_stream(&mut output, &mut input);
        let (taken, given) = (input.pos(), output.pos());
        self.input.consume(taken);
        self.ready = 0..given;
        match result {
            Ok(wanted) => {
                self.wanted = wanted;
                Ok(())
            }
            Err(code) => {
                self.ended = true;
                Err(error_of(code))
            }
        }
    }
}

impl<R: BufRead> Read for Zstandard<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            if self.ended {
                return Ok(0);
            }
            self.advance()?;
        }
        let count = buf.len().min(self.ready.len());
        buf[..count].copy_from_slice(&self.out[self.ready.start..self.ready.start + count]);
        self.ready.start += count;
        Ok(count)
    }
}

fn error_of(code: usize) -> io::Error {
    let kind = if is_error_kind(code, ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge) {
        InputErrorKind::ZstdWindow
    } else {
        InputErrorKind::ZstdDamaged
    };
    failed(kind, get_error_name(code))
}

fn failed(kind: InputErrorKind, detail: impl fmt::Display) -> io::Error {
    InputError::through_io(kind, detail)
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write as _};

    use zstd::stream::write::Encoder;
    use zstd::zstd_safe::CParameter;

    use super::*;

    fn packed(text: &[u8], set: impl Fn(&mut Encoder<'_, Vec<u8>>)) -> Vec<u8> {
        let mut encoder = Encoder::new(Vec::new(), 3).unwrap();
        set(&mut encoder);
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn plain(text: &[u8]) -> Vec<u8> {
        packed(text, |_| {})
    }

    fn unpacked(bytes: &[u8], buffer: usize) -> (Vec<u8>, Option<InputErrorKind>) {
        let mut out = Vec::new();
        let reader = Zstandard::new(BufReader::with_capacity(buffer, bytes));
        let error = reader.unwrap().read_to_end(&mut out).err();
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
    fn all_frames_are_read_and_skippable_ones_skipped() {
        let skippable = b"\x5f\x2a\x4d\x18\x03\0\0\0xyz".to_vec();
        let bytes = [skippable.clone(), plain(b"one\n"), plain(b""), skippable, plain(b"two\n")].concat();
        for buffer in [1, 2, 7, 8192] {
            assert_eq!(unpacked(&bytes, buffer), (b"one\ntwo\n".to_vec(), None), "{buffer}");
        }
    }

    #[test]
    fn a_cut_anywhere_gives_what_stands_before_it() {
        let text = noise(600_000);
        let bytes = plain(&text);
        let mut longest = 0;
        for length in (4..bytes.len()).step_by(7_919).chain([bytes.len() - 1]) {
            let (out, error) = unpacked(&bytes[..length], 8192);
            assert_eq!(error, Some(InputErrorKind::ZstdCut), "{length}");
            assert!(text.starts_with(&out) && out.len() >= longest);
            longest = out.len();
        }
        assert!(longest > 400_000);
    }

    #[test]
    fn damage_is_an_error_after_what_stands_before_it() {
        let text = noise(300_000);
        let mut encoder = Encoder::new(Vec::new(), 3).unwrap();
        encoder.write_all(&text).unwrap();
        encoder.flush().unwrap();
        let mut bytes = encoder.get_ref().clone();
        // A block header of the reserved type 3.
        bytes.extend([0x06, 0, 0, 0, 0, 0]);
        for buffer in [1, 64, 1 << 20] {
            assert_eq!(unpacked(&bytes, buffer), (text.clone(), Some(InputErrorKind::ZstdDamaged)), "{buffer}");
        }
        let mut summed = packed(&text, |encoder| encoder.include_checksum(true).unwrap());
        let at = summed.len() - 1;
        summed[at] ^= 1;
        assert_eq!(unpacked(&summed, 8192), (text.clone(), Some(InputErrorKind::ZstdDamaged)));
        let followed = [plain(&text), b"{\"id\":\"a\"}\n".to_vec()].concat();
        assert_eq!(unpacked(&followed, 8192), (text, Some(InputErrorKind::ZstdDamaged)));
    }

    #[test]
    fn a_window_of_8_mib_is_read_and_a_larger_one_refused() {
        let with_window = |log| {
            packed(b"one\n", move |encoder| {
                encoder.set_parameter(CParameter::WindowLog(log)).unwrap();
                encoder.include_contentsize(false).unwrap();
            })
        };
        assert_eq!(unpacked(&with_window(23), 64), (b"one\n".to_vec(), None));
        assert_eq!(unpacked(&with_window(24), 64), (Vec::new(), Some(InputErrorKind::ZstdWindow)));
        let behind = [plain(b"one\n"), with_window(27)].concat();
        assert_eq!(unpacked(&behind, 64), (b"one\n".to_vec(), Some(InputErrorKind::ZstdWindow)));
    }
}
