//! Where signatures are found in a request, and how they are read.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use cola_ia_core::intake::RefusalCode;

use crate::json::Json;
use crate::outcome::Refused;
use crate::pointer::Pointer;
use crate::request::{Names, Request};
use crate::scheme::{Encoding, SignaturePlace};

/// Most signatures that are looked at in one request: a few versions of a few secrets.
pub const SIGNATURES_MAX: usize = 16;

/// What the signature's header says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    /// Signatures, decoded; those whose form is wrong are not among them.
    pub(crate) signatures: Vec<Vec<u8>>,
    /// How many items there were, of whatever version or form.
    pub(crate) items: usize,
    /// The signed time, where it stands in the same header.
    pub(crate) time: Option<Cow<'a, str>>,
}

/// Finds the signatures of a request.
pub(crate) fn find<'a>(
    place: &SignaturePlace,
    time_key: Option<&str>,
    encoding: Encoding,
    request: &Request<'a>,
    names: Names<'_>,
    json: Option<Json<'a>>,
) -> Result<Found<'a>, Refused> {
    let (name, value) = if let Some(header) = &place.header {
        let name = names.name(header).into_owned();
        let value = request.header(&name).map_err(|_| unreadable(&name, "stands twice"))?;
        let value = value.map(|value| std::str::from_utf8(value).map(Cow::Borrowed)).transpose();
        (name.clone(), value.map_err(|_| unreadable(&name, "is not text"))?)
    } else {
        let path = place.pointer.as_deref().unwrap_or_default();
        let found = Pointer::parse(path).zip(json).and_then(|(path, json)| path.find(json));
        (path.to_owned(), found.and_then(Json::string))
    };
    let Some(value) = value.filter(|value| !value.trim().is_empty()) else {
        return Err(unreadable(&name, "is missing"));
    };
    read(place, time_key, encoding, &name, &value)
}

fn unreadable(name: &str, why: &str) -> Refused {
    Refused::new(RefusalCode::SignatureMissing, format!("{name} {why}"))
}

fn read<'a>(
    place: &SignaturePlace,
    time_key: Option<&str>,
    encoding: Encoding,
    name: &str,
    value: &str,
) -> Result<Found<'a>, Refused> {
    let mut found = Found::default();
    let items: Vec<&str> = match &place.separator {
        Some(separator) => value.split(separator.as_str()).map(str::trim).filter(|item| !item.is_empty()).collect(),
        None => vec![value],
    };
    found.items = items.len();
    let mut wanted = 0;
    for item in items {
        let text = if let Some(key) = &place.key {
            let Some((left, right)) = item.split_once('=') else {
                continue;
            };
            let (left, right) = (left.trim(), right.trim());
            if Some(left) == time_key && found.time.replace(Cow::Owned(right.to_owned())).is_some() {
                return Err(Refused::new(RefusalCode::TimestampInvalid, format!("{left} stands twice in {name}")));
            }
            if left != key {
                continue;
            }
            right
        } else if let Some(text) = item.strip_prefix(&place.prefix) {
            text
        } else {
            continue;
        };
        wanted += 1;
        if wanted > SIGNATURES_MAX {
            return Err(unreadable(name, "has more than 16 signatures"));
        }
        found.signatures.extend(decode(encoding, text));
    }
    if wanted == 0 {
        return Err(unreadable(name, "has no signature of the wanted version"));
    }
    Ok(found)
}

fn decode(encoding: Encoding, text: &str) -> Option<Vec<u8>> {
    match encoding {
        Encoding::Hex => hex(text.as_bytes()),
        Encoding::Base64 => STANDARD.decode(text).ok(),
        Encoding::Base64url => URL_SAFE_NO_PAD.decode(text).ok(),
        Encoding::Plain => Some(text.as_bytes().to_vec()),
    }
    .filter(|bytes| !bytes.is_empty())
}

/// A signature as a sender writes it.
pub(crate) fn encode(encoding: Encoding, bytes: &[u8]) -> String {
    match encoding {
        Encoding::Hex => bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect(),
        Encoding::Base64 => STANDARD.encode(bytes),
        Encoding::Base64url => URL_SAFE_NO_PAD.encode(bytes),
        Encoding::Plain => String::from_utf8_lossy(bytes).into_owned(),
    }
}

fn digit(value: u8) -> char {
    char::from_digit(u32::from(value), 16).unwrap_or('0')
}

/// Hexadecimal digits, all in one case, so that there is one other way at most to write the same.
pub(crate) fn hex(text: &[u8]) -> Option<Vec<u8>> {
    if text.iter().any(u8::is_ascii_uppercase) && text.iter().any(u8::is_ascii_lowercase) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.chunks(2);
    pairs.map(|pair| Some((digit(pair[0])? << 4 | digit(*pair.get(1)?)?) as u8)).collect()
}
