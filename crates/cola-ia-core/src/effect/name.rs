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
}

/// SHA-256 of what is sent, in whatever form its sender finds the same bytes again.
pub type RequestHash = [u8; 32];

#[cfg(test)]
mod tests {
    use super::*;

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
