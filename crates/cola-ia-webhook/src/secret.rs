//! Secrets and public keys, decoded once and never shown.

use std::fmt;

use crate::scheme::Scheme;

/// A key that a request may be signed with, or a token that it may bear.
#[derive(Clone)]
pub struct Secret {
    pub(crate) key: Key,
    trimmed: bool,
}

#[derive(Clone)]
pub(crate) enum Key {
    /// Of an HMAC, or a token.
    Shared(Vec<u8>),
    Ed25519(Box<ed25519_dalek::VerifyingKey>),
    P256(Box<p256::ecdsa::VerifyingKey>),
}

impl Secret {
    /// Decodes what a file or a variable holds, as the scheme says. One final line end is taken away: editors and `echo` leave one.
    ///
    /// # Errors
    /// The reason, without the secret.
    pub fn parse(scheme: &Scheme, raw: &[u8]) -> Result<Self, SecretFault> {
        let _ = (scheme, raw);
        Err(SecretFault::Empty)
    }

    /// Whether a final line end was taken away, which people are told.
    pub fn trimmed(&self) -> bool {
        self.trimmed
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Why a secret cannot be used. None of these shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretFault {
    /// Nothing, or white space only: it would let anyone in.
    Empty,
    /// Longer than 8 KiB: that is another file.
    TooLong,
    /// Base64 is wanted.
    NotBase64,
    /// Hexadecimal digits are wanted.
    NotHex,
    /// A private or a public key stands where a shared secret is wanted, or a shared one where a public one is.
    OtherKind,
    /// It decodes to this many bytes, which no key of the algorithm has.
    Length(usize),
    /// It decodes, and is no key of the algorithm.
    NotAKey,
}

impl SecretFault {
    /// The fault as a word, stable.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooLong => "too_long",
            Self::NotBase64 => "not_base64",
            Self::NotHex => "not_hex",
            Self::OtherKind => "other_kind",
            Self::Length(_) => "length",
            Self::NotAKey => "not_a_key",
        }
    }
}

impl fmt::Display for SecretFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the secret is empty"),
            Self::TooLong => f.write_str("the secret is longer than 8 KiB"),
            Self::NotBase64 => f.write_str("the secret is not base64"),
            Self::NotHex => f.write_str("the secret is not hexadecimal"),
            Self::OtherKind => f.write_str("the secret is a key of another kind than the scheme's"),
            Self::Length(bytes) => write!(f, "the key has {bytes} bytes, which the algorithm does not take"),
            Self::NotAKey => f.write_str("the secret decodes and is no key of the algorithm"),
        }
    }
}

impl std::error::Error for SecretFault {}
