//! What names an effect, one permission to send, and what is sent.

use std::fmt;
use std::sync::Arc;

use crate::clock::Entropy;

/// Longest name of an effect, in bytes (it is ASCII).
pub const EFFECT_NAME_MAX_BYTES: usize = 64;

/// The name of an effect within a job's run: `[a-z0-9][a-z0-9._-]{0,63}`. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectName(Arc<str>);

impl EffectName {
    /// Checks the form; `None` where it is another.
    pub fn new(name: &str) -> Option<Self> {
        let bytes = name.as_bytes();
        let first = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let inner = |byte: &u8| first(byte) || matches!(byte, b'.' | b'_' | b'-');
        let well_formed =
            bytes.len() <= EFFECT_NAME_MAX_BYTES && bytes.first().is_some_and(first) && bytes.iter().all(inner);
        well_formed.then(|| Self(name.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EffectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names one call of `begin` and its repetitions. Random, drawn by the process that will send, and kept nowhere: a process that
/// starts anew has another, and so can never be taken for the one that may have sent ([`Rule::FreshId`](super::Rule::FreshId)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BeginId(pub [u8; 16]);

impl BeginId {
    /// A new one.
    pub fn draw(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 16];
        entropy.fill(&mut bytes);
        Self(bytes)
    }

    /// Reads 32 hexadecimal digits of either case; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        unhex(text).map(Self)
    }
}

/// 32 hexadecimal digits.
impl fmt::Display for BeginId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Reads the hash of a request from 64 hexadecimal digits of either case; `None` for anything else.
pub fn parse_request_hash(text: &str) -> Option<RequestHash> {
    unhex(text)
}

fn unhex<const LENGTH: usize>(text: &str) -> Option<[u8; LENGTH]> {
    if text.len() != 2 * LENGTH || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; LENGTH];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// SHA-256 of what is sent, in whatever form its sender finds the same bytes again.
pub type RequestHash = [u8; 32];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begin_ids_are_read_as_they_are_written() {
        let id = BeginId(std::array::from_fn(|at| at as u8 * 17));
        assert_eq!(id.to_string(), "00112233445566778899aabbccddeeff");
        assert_eq!(BeginId::parse(&id.to_string().to_uppercase()), Some(id));
        for wrong in ["", "0", &"0".repeat(31), &"0".repeat(34), &"+1".repeat(16), &"ñ".repeat(16)] {
            assert_eq!(BeginId::parse(wrong), None, "{wrong:?}");
        }
        assert_eq!(parse_request_hash(&"ab".repeat(32)), Some([0xab; 32]));
    }

    #[test]
    fn names_have_one_form() {
        let longest = "a".repeat(EFFECT_NAME_MAX_BYTES);
        for right in ["job", "publish", "0", "a.b-c_d", &longest] {
            assert_eq!(EffectName::new(right).unwrap().as_str(), right);
        }
        for wrong in ["", "Publish", "-a", ".a", "a b", "ñ", "a/b", "a\n", &(longest.clone() + "a")] {
            assert_eq!(EffectName::new(wrong), None, "{wrong:?}");
        }
    }
}
