//! Secrets and public keys, decoded once and never shown.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::GeneralPurpose;
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};
use p256::pkcs8::DecodePublicKey as _;

use crate::scheme::{Algorithm, KeyForm, Scheme};

/// Longest secret, in bytes: a larger file is not one.
pub const SECRET_MAX_BYTES: usize = 8 << 10;

/// Base64 with its padding or without: consoles show both.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

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
        let text = without_line_end(raw)?;
        let bytes = decode(scheme.key, text)?;
        let key = match scheme.algorithm {
            Algorithm::Ed25519 => {
                let bytes = <[u8; 32]>::try_from(&bytes[..]).map_err(|_| SecretFault::Length(bytes.len()))?;
                let key = ed25519_dalek::VerifyingKey::from_bytes(&bytes).map_err(|_| SecretFault::NotAKey)?;
                Key::Ed25519(Box::new(key))
            }
            Algorithm::EcdsaP256 => {
                let key = p256::ecdsa::VerifyingKey::from_public_key_der(&bytes).map_err(|_| SecretFault::NotAKey)?;
                Key::P256(Box::new(key))
            }
            _ if bytes.is_empty() => return Err(SecretFault::Empty),
            _ => Key::Shared(bytes),
        };
        Ok(Self { key, trimmed: text.len() < raw.len() })
    }

    /// The bytes of a shared secret; none of a public key.
    pub(crate) fn shared(&self) -> Option<&[u8]> {
        if let Key::Shared(bytes) = &self.key { Some(bytes) } else { None }
    }

    /// A token that is compared as it is, such as the second secret of a handshake; with the rules of [`parse`](Self::parse).
    ///
    /// # Errors
    /// [`SecretFault::Empty`], [`SecretFault::TooLong`].
    pub fn token(raw: &[u8]) -> Result<Self, SecretFault> {
        let text = without_line_end(raw)?;
        Ok(Self { key: Key::Shared(text.to_vec()), trimmed: text.len() < raw.len() })
    }

    /// Whether a final line end was taken away, which people are told.
    pub fn trimmed(&self) -> bool {
        self.trimmed
    }
}

/// Takes one final line end away.
fn without_line_end(raw: &[u8]) -> Result<&[u8], SecretFault> {
    let text = raw.strip_suffix(b"\r\n").or(raw.strip_suffix(b"\n")).unwrap_or(raw);
    if text.trim_ascii().is_empty() {
        Err(SecretFault::Empty)
    } else if text.len() > SECRET_MAX_BYTES {
        Err(SecretFault::TooLong)
    } else {
        Ok(text)
    }
}

fn decode(form: KeyForm, text: &[u8]) -> Result<Vec<u8>, SecretFault> {
    let base64 = |text: &[u8]| FORGIVING.decode(text).map_err(|_| SecretFault::NotBase64);
    let is_for_others = |own: &[u8]| {
        let other = |prefix: &&[u8]| *prefix != own && text.starts_with(prefix);
        [&b"whsec_"[..], b"whpk_", b"whsk_", b"-----BEGIN"].iter().any(other)
    };
    match form {
        KeyForm::Utf8 => Ok(text.to_vec()),
        KeyForm::Base64 => base64(text),
        KeyForm::Hex => crate::signature::hex(text).ok_or(SecretFault::NotHex),
        KeyForm::WhsecBase64 if is_for_others(b"whsec_") => Err(SecretFault::OtherKind),
        KeyForm::WhsecBase64 => {
            let text = text.strip_prefix(b"v1,").unwrap_or(text);
            base64(text.strip_prefix(b"whsec_").unwrap_or(text))
        }
        KeyForm::WhpkBase64 if is_for_others(b"whpk_") => Err(SecretFault::OtherKind),
        KeyForm::WhpkBase64 => base64(text.strip_prefix(b"whpk_").unwrap_or(text)),
        KeyForm::SpkiBase64 => {
            let text = String::from_utf8_lossy(text);
            let inner = text.trim().strip_prefix("-----BEGIN PUBLIC KEY-----");
            let inner = inner.and_then(|rest| rest.strip_suffix("-----END PUBLIC KEY-----"));
            if inner.is_none() && is_for_others(b"") {
                return Err(SecretFault::OtherKind);
            }
            let inner: Vec<u8> = inner.unwrap_or(&text).bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
            base64(&inner)
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::find;

    fn parse(scheme: &str, raw: &[u8]) -> Result<Secret, SecretFault> {
        Secret::parse(find(scheme).unwrap(), raw)
    }

    #[test]
    fn one_final_line_end_is_taken_away() {
        for (raw, kept, trimmed) in [
            (&b"topsecret\n"[..], &b"topsecret"[..], true),
            (b"topsecret\r\n", b"topsecret", true),
            (b"topsecret", b"topsecret", false),
            (b" top\n\n", b" top\n", true),
            (b"top\r", b"top\r", false),
        ] {
            let secret = parse("github", raw).unwrap();
            assert_eq!((secret.shared(), secret.trimmed()), (Some(kept), trimmed));
            assert_eq!(Secret::token(raw).unwrap().shared(), Some(kept));
        }
    }

    #[test]
    fn an_empty_secret_is_refused() {
        for raw in [&b""[..], b"\n", b"\r\n", b"  \t\n"] {
            assert_eq!(parse("github", raw).unwrap_err(), SecretFault::Empty);
            assert_eq!(Secret::token(raw).unwrap_err(), SecretFault::Empty);
        }
        assert_eq!(parse("svix", b"whsec_").unwrap_err(), SecretFault::Empty);
        assert_eq!(parse("github", &[b'x'; SECRET_MAX_BYTES + 1]).unwrap_err(), SecretFault::TooLong);
    }

    #[test]
    fn a_wrong_encoding_is_refused_without_showing_the_secret() {
        let cases: [(&str, &[u8], SecretFault); 9] = [
            ("svix", b"whsec_hunter2!", SecretFault::NotBase64),
            ("svix", b"whpk_aGVsbG8=", SecretFault::OtherKind),
            ("airtable", b"hunter2!", SecretFault::NotBase64),
            ("adyen-platform", b"hunter2!", SecretFault::NotHex),
            ("adyen-platform", b"abc", SecretFault::NotHex),
            ("discord", b"abcd", SecretFault::Length(2)),
            ("standard-webhooks-asymmetric", b"whsec_aGVsbG8=", SecretFault::OtherKind),
            ("sendgrid", b"aGVsbG8=", SecretFault::NotAKey),
            ("sendgrid", b"-----BEGIN PRIVATE KEY-----", SecretFault::OtherKind),
        ];
        for (scheme, raw, fault) in cases {
            let found = parse(scheme, raw).unwrap_err();
            assert_eq!(found, fault, "{scheme}");
            assert!(!found.to_string().contains("hunter2"));
        }
        assert_eq!(format!("{:?}", parse("github", b"hunter2").unwrap()), "Secret(..)");
    }

    #[test]
    fn prefixes_and_padding_are_understood() {
        for raw in [&b"whsec_aGVsbG8="[..], b"v1,whsec_aGVsbG8=", b"aGVsbG8", b"aGVsbG8="] {
            assert_eq!(parse("svix", raw).unwrap().shared(), Some(&b"hello"[..]));
        }
        // Stripe's prefix is part of its key.
        assert_eq!(parse("stripe", b"whsec_aGVsbG8=").unwrap().shared(), Some(&b"whsec_aGVsbG8="[..]));
    }
}
