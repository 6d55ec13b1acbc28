//! The last bytes of an output, however much there was.

use super::child::OUTPUT_MAX_BYTES;

/// How much is read at once, and so how much more than the bound is held for a moment.
pub(super) const READ_BYTES: usize = 64 * 1024;

/// The end of a stream of bytes: at most [`OUTPUT_MAX_BYTES`] of it are handed out, at most those and [`READ_BYTES`] are held.
#[derive(Debug, Default)]
pub(super) struct Tail {
    held: Vec<u8>,
    /// How many bytes were before `held`.
    dropped: u64,
}

impl Tail {
    /// Where the next read goes: there is room for [`READ_BYTES`] behind what is held.
    pub(super) fn room(&mut self) -> &mut Vec<u8> {
        let more = self.held.len().saturating_sub(OUTPUT_MAX_BYTES);
        self.held.drain(..more);
        self.dropped += more as u64;
        self.held.reserve(READ_BYTES);
        &mut self.held
    }

    /// The last so many bytes that were read.
    pub(super) fn newest(&self, bytes: usize) -> &[u8] {
        &self.held[self.held.len().saturating_sub(bytes)..]
    }

    /// What is kept. Where something was cut a line in front says how much, and the text goes on at a character.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let total = self.dropped + self.held.len() as u64;
        if total <= OUTPUT_MAX_BYTES as u64 {
            return self.held;
        }
        // The number of what is cut is not longer than that of all.
        let kept = OUTPUT_MAX_BYTES - mark(total).len();
        let from = self.held.len() - kept;
        let from = from + inside_of_a_character(&self.held[from..]);
        let mut text = mark(self.dropped + from as u64).into_bytes();
        text.extend(self.held.drain(from..));
        text
    }
}

fn mark(bytes: u64) -> String {
    format!("[… {bytes} bytes before this were cut]\n")
}

/// Whether an output as it was handed out lacks its beginning.
pub(crate) fn is_cut(output: &[u8]) -> bool {
    // As long as that only what was cut, or was just as long and begins so by itself.
    output.len() > OUTPUT_MAX_BYTES - 8
        && output
            .split(|byte| *byte == b'\n')
            .next()
            .is_some_and(|line| line.starts_with("[… ".as_bytes()) && line.ends_with(b" bytes before this were cut]"))
}

/// How many bytes at the front belong to a UTF-8 character that began before. Bytes that are no UTF-8 are left alone.
fn inside_of_a_character(bytes: &[u8]) -> usize {
    let continued = bytes.iter().take_while(|byte| (0x80..0xC0).contains(*byte)).count();
    if continued <= 3 { continued } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail_of(chunks: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
        let mut tail = Tail::default();
        for chunk in chunks {
            assert!(chunk.len() <= READ_BYTES);
            let room = tail.room();
            room.extend(chunk);
            assert!(room.capacity() <= 4 * (OUTPUT_MAX_BYTES + READ_BYTES), "held: {}", room.capacity());
        }
        tail.finish()
    }

    #[test]
    fn what_fits_is_kept_as_it_is() {
        let text = vec![b'x'; OUTPUT_MAX_BYTES];
        assert_eq!(tail_of([text.clone()]), text);
        assert_eq!(tail_of([]), b"");
    }

    #[test]
    fn one_byte_more_is_cut_and_the_mark_counts_within_the_bound() {
        let kept = tail_of([vec![b'x'; OUTPUT_MAX_BYTES], vec![b'y']]);
        assert!(kept.len() <= OUTPUT_MAX_BYTES);
        let text = String::from_utf8(kept).unwrap();
        let (mark, rest) = text.split_once('\n').unwrap();
        assert_eq!(mark, format!("[… {} bytes before this were cut]", OUTPUT_MAX_BYTES + 1 - rest.len()));
        assert!(rest.ends_with("xy"));
    }

    #[test]
    fn the_cut_is_at_a_character_whatever_its_width() {
        for character in ["ñ", "€", "🦀"] {
            for shift in 0..4 {
                let text = "a".repeat(shift) + &character.repeat(2 * OUTPUT_MAX_BYTES / character.len()) + "end";
                let kept = tail_of(text.as_bytes().chunks(READ_BYTES).map(<[u8]>::to_vec));
                assert!(kept.len() <= OUTPUT_MAX_BYTES && kept.len() > OUTPUT_MAX_BYTES - 8);
                let kept = String::from_utf8(kept).unwrap();
                let (mark, rest) = kept.split_once('\n').unwrap();
                assert_eq!(mark, format!("[… {} bytes before this were cut]", text.len() - rest.len()));
                assert!(text.ends_with(rest));
            }
        }
    }

    #[test]
    fn bytes_that_are_no_text_lose_nothing_to_a_boundary() {
        let kept = tail_of([vec![0x80; READ_BYTES], vec![0x80; READ_BYTES]]);
        assert_eq!(kept.len(), OUTPUT_MAX_BYTES - (mark(2 * READ_BYTES as u64).len() - mark(READ_BYTES as u64).len()));
    }

    #[test]
    fn a_great_deal_is_counted_and_not_held() {
        let kept = tail_of((0..1000).map(|_| vec![b'z'; READ_BYTES]));
        let total = 1000 * READ_BYTES;
        let rest = kept.iter().rev().take_while(|byte| **byte == b'z').count();
        assert!(kept.starts_with(format!("[… {} bytes", total - rest).as_bytes()));
    }
}
