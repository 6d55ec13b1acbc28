//! Whether a request is signed by one of the secrets, over its raw bytes and near enough to now.

use std::borrow::Cow;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::RefusalCode;
use hmac::{Hmac, KeyInit, Mac};
use p256::ecdsa::signature::Verifier as _;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};
use subtle::ConstantTimeEq as _;

use crate::content::{Content, Filling};
use crate::form::{self, Fields};
use crate::instant;
use crate::json::{self, Json};
use crate::outcome::Refused;
use crate::pointer::Pointer;
use crate::request::{Names, Request};
use crate::scheme::{Algorithm, Scheme, TimePlace};
use crate::secret::{Key, Secret};
use crate::signature;
use crate::step::Trace;
use crate::url;

/// A request whose signature is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verified {
    /// Which of the secrets, from 0.
    pub(crate) secret: usize,
    /// SHA-256 of the signed bytes; none where the scheme signs nothing.
    pub(crate) signed: Option<[u8; 32]>,
}

/// Judges steps 4 and 5 of the crate's list.
pub(crate) fn verify(
    scheme: &Scheme,
    content: &Content,
    secrets: &[Secret],
    request: &Request<'_>,
    now: Timestamp,
    trace: &mut Trace,
) -> Result<Verified, Refused> {
    if scheme.algorithm == Algorithm::None {
        return Ok(Verified { secret: 0, signed: None });
    }
    let names = Names::of(scheme.alias.as_ref(), scheme.signature.header.as_deref(), request);
    tell_headers(scheme, names, request, trace);
    let early = early_json(scheme, content, request)?;
    let time_key = scheme.timestamp.as_ref().and_then(|place| place.key.as_deref());
    let found = signature::find(&scheme.signature, time_key, scheme.encoding, request, names, early)?;
    trace.add("signature_form", !found.signatures.is_empty(), || {
        vec![("found", found.signatures.len().to_string()), ("items", found.items.to_string())]
    });
    let id = signed_id(scheme, content, request, names)?;
    let id_name = scheme.signed_id.as_deref().unwrap_or_default();
    let sent = match &scheme.timestamp {
        Some(place) if content.has_time() || early.is_some() => {
            Some(sent_time(place, request, names, found.time.as_deref(), early).inspect_err(|refused| {
                trace.add("timestamp", false, || vec![("reason", refused.detail.clone())]);
            })?)
        }
        _ => None,
    };
    let params = params(content, request)?;
    let urls = if content.has_url() { url::spellings(scheme, request.url) } else { vec![request.url.to_owned()] };
    let mut matched = None;
    for url in &urls {
        let time = sent.as_ref().map_or(&b""[..], |(raw, _)| raw);
        let filling = Filling { request, names, url, id, id_name, time, json: early, params: &params };
        let pieces = content.fill(&filling)?;
        // Every secret is tried with every signature: how long it takes does not tell which of them matched.
        for (place, secret) in secrets.iter().enumerate() {
            if any_matches(scheme.algorithm, secret, &pieces, &found.signatures) && matched.is_none() {
                matched = Some(Verified { secret: place, signed: hash(scheme.algorithm, &pieces) });
            }
        }
    }
    trace.add("signature", matched.is_some(), || {
        let mut facts = vec![("secrets", secrets.len().to_string())];
        facts.extend(matched.map(|verified| ("matched", (verified.secret + 1).to_string())));
        facts
    });
    let verified = matched.ok_or_else(|| {
        Refused::new(RefusalCode::SignatureInvalid, format!("none of {} secrets matches", secrets.len()))
    })?;
    check_body_hash(scheme, request)?;
    let sent = match (&scheme.timestamp, sent) {
        (_, Some((_, sent))) => Some(sent),
        // The time stands in the body, which may be read now that its signature is good.
        (Some(place), None) => {
            let json = json::check(request.body).map_err(|fault| json_refused(&fault))?;
            Some(sent_time(place, request, names, None, Some(json))?.1)
        }
        (None, None) => None,
    };
    if let Some(sent) = sent {
        check_window(scheme, sent, now, trace)?;
    }
    Ok(verified)
}

/// The body as JSON, where the scheme signs a part of it or has its signature in it.
fn early_json<'a>(scheme: &Scheme, content: &Content, request: &Request<'a>) -> Result<Option<Json<'a>>, Refused> {
    if content.needs_json() || scheme.signature.pointer.is_some() {
        json::check(request.body).map(Some).map_err(|fault| json_refused(&fault))
    } else {
        Ok(None)
    }
}

pub(crate) fn json_refused(fault: &json::JsonFault) -> Refused {
    Refused::new(fault.code, format!("byte {}", fault.at))
}

fn tell_headers(scheme: &Scheme, names: Names<'_>, request: &Request<'_>, trace: &mut Trace) {
    let time = scheme.timestamp.as_ref().and_then(|place| place.header.as_deref());
    for name in [scheme.signature.header.as_deref(), scheme.signed_id.as_deref(), time].into_iter().flatten() {
        let name = names.name(name);
        let state = match request.header(&name) {
            Ok(Some(_)) => "found",
            Ok(None) => "missing",
            Err(_) => "twice",
        };
        trace.add("header", state == "found", || vec![("name", name.to_string()), ("state", state.to_owned())]);
    }
}

fn signed_id<'a>(
    scheme: &Scheme,
    content: &Content,
    request: &Request<'a>,
    names: Names<'_>,
) -> Result<&'a [u8], Refused> {
    let Some(header) = scheme.signed_id.as_deref().filter(|_| content.has_id()) else {
        return Ok(b"");
    };
    let name = names.name(header);
    let value = request.header(&name).map_err(|_| Refused::new(RefusalCode::FieldTwice, &*name))?;
    let value = value.ok_or_else(|| Refused::new(RefusalCode::IdMissing, &*name))?;
    if value.is_empty() { Err(Refused::new(RefusalCode::IdBlank, &*name)) } else { Ok(value) }
}

/// The signed time, as it was written and as an instant.
fn sent_time<'a>(
    place: &TimePlace,
    request: &Request<'a>,
    names: Names<'_>,
    in_signature: Option<&str>,
    json: Option<Json<'a>>,
) -> Result<(Cow<'a, [u8]>, Timestamp), Refused> {
    let invalid = |detail: String| Refused::new(RefusalCode::TimestampInvalid, detail);
    let (name, raw) = if let Some(header) = &place.header {
        let name = names.name(header).into_owned();
        let value = request.header(&name).map_err(|_| invalid(format!("{name} stands twice")))?;
        (name, value.map(Cow::Borrowed))
    } else if let Some(key) = &place.key {
        (key.clone(), in_signature.map(|text| Cow::Owned(text.as_bytes().to_vec())))
    } else {
        let path = place.pointer.as_deref().unwrap_or_default();
        let found = Pointer::parse(path).zip(json).and_then(|(path, json)| path.find(json));
        let text = found.map(|found| found.string().unwrap_or(Cow::Borrowed(found.raw())));
        (path.to_owned(), text.map(|text| Cow::Owned(text.into_owned().into_bytes())))
    };
    let raw = raw.ok_or_else(|| invalid(format!("{name} is missing")))?;
    let sent = instant::signed(place.unit, &raw).ok_or_else(|| invalid(format!("{name} is no time")))?;
    Ok((raw, sent))
}

/// The fields of a form, where the scheme signs them one by one.
fn params(content: &Content, request: &Request<'_>) -> Result<Fields, Refused> {
    if !content.has_params() || !is_form(request) {
        return Ok(Fields::new());
    }
    form::urlencoded(request.body)
}

fn is_form(request: &Request<'_>) -> bool {
    let media = request.header("content-type").ok().flatten().and_then(crate::media::Media::parse);
    media.is_some_and(|media| media.is_form())
}

/// A body that the signature covers only through its hash in the address has that hash.
fn check_body_hash(scheme: &Scheme, request: &Request<'_>) -> Result<(), Refused> {
    let Some(field) = &scheme.body_hash else {
        return Ok(());
    };
    let hashes: Vec<String> =
        request.query().into_iter().filter(|(name, _)| name == field).map(|(_, value)| value).collect();
    let wrong = |detail: &str| Err(Refused::new(RefusalCode::SignatureInvalid, format!("{field} {detail}")));
    match hashes.as_slice() {
        [] if is_form(request) || request.body.is_empty() => Ok(()),
        [] => wrong("is missing"),
        [hash] => {
            let body = signature::encode(crate::scheme::Encoding::Hex, &Sha256::digest(request.body));
            let same: bool = body.as_bytes().ct_eq(hash.as_bytes()).into();
            if same { Ok(()) } else { wrong("is not the hash of the body") }
        }
        _ => wrong("stands twice"),
    }
}

fn check_window(scheme: &Scheme, sent: Timestamp, now: Timestamp, trace: &mut Trace) -> Result<(), Refused> {
    let micros = now.as_micros().saturating_sub(sent.as_micros());
    let difference = format!(
        "{}{}.{:03}",
        if micros < 0 { "-" } else { "" },
        micros.abs() / 1_000_000,
        micros.abs() / 1_000 % 1_000
    );
    let tolerance = scheme.tolerance_s;
    let outside = tolerance.is_some_and(|seconds| micros.unsigned_abs() > seconds.saturating_mul(1_000_000));
    trace.add("timestamp", !outside, || {
        let mut facts =
            vec![("sent", sent.to_rfc3339()), ("now", now.to_rfc3339()), ("difference_s", difference.clone())];
        facts.extend(tolerance.map(|seconds| ("tolerance_s", seconds.to_string())));
        facts
    });
    if outside {
        let allowed = tolerance.unwrap_or_default();
        let detail = format!("sent {sent}, received {now}, difference {difference} s, allowed {allowed} s");
        return Err(Refused::new(RefusalCode::TimestampOutside, detail));
    }
    Ok(())
}

/// Whether one of the signatures is the secret's. All are compared.
fn any_matches(algorithm: Algorithm, secret: &Secret, signed: &[Cow<'_, [u8]>], signatures: &[Vec<u8>]) -> bool {
    let count = match (algorithm, &secret.key) {
        (Algorithm::Ed25519, Key::Ed25519(key)) => {
            let message = signed.concat();
            let good = |bytes: &&Vec<u8>| {
                ed25519_dalek::Signature::from_slice(bytes)
                    .is_ok_and(|signature| key.verify_strict(&message, &signature).is_ok())
            };
            signatures.iter().filter(good).count()
        }
        (Algorithm::EcdsaP256, Key::P256(key)) => {
            let message = signed.concat();
            let good = |bytes: &&Vec<u8>| {
                p256::ecdsa::Signature::from_der(bytes).is_ok_and(|signature| key.verify(&message, &signature).is_ok())
            };
            signatures.iter().filter(good).count()
        }
        (Algorithm::Token, Key::Shared(token)) => {
            // Hashes are of one length, so that the token's own length does not show.
            let token = Sha256::digest(token);
            signatures.iter().filter(|sent| bool::from(token.ct_eq(&Sha256::digest(sent)))).count()
        }
        (_, Key::Shared(key)) => {
            let expected = mac(algorithm, key, signed);
            signatures.iter().filter(|sent| bool::from(expected.as_slice().ct_eq(sent.as_slice()))).count()
        }
        _ => 0,
    };
    count > 0
}

/// The HMAC of these pieces; empty, which no signature is, of an algorithm that is none.
pub(crate) fn mac(algorithm: Algorithm, key: &[u8], pieces: &[Cow<'_, [u8]>]) -> Vec<u8> {
    fn of<M: Mac + KeyInit>(key: &[u8], pieces: &[Cow<'_, [u8]>]) -> Vec<u8> {
        // HMAC takes keys of any length.
        let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else {
            return Vec::new();
        };
        for piece in pieces {
            mac.update(piece);
        }
        mac.finalize().into_bytes().to_vec()
    }
    match algorithm {
        Algorithm::HmacSha1 => of::<Hmac<Sha1>>(key, pieces),
        Algorithm::HmacSha256 => of::<Hmac<Sha256>>(key, pieces),
        Algorithm::HmacSha512 => of::<Hmac<Sha512>>(key, pieces),
        Algorithm::Ed25519 | Algorithm::EcdsaP256 | Algorithm::Token | Algorithm::None => Vec::new(),
    }
}

fn hash(algorithm: Algorithm, pieces: &[Cow<'_, [u8]>]) -> Option<[u8; 32]> {
    if algorithm == Algorithm::Token {
        return None;
    }
    let mut hash = Sha256::new();
    for piece in pieces {
        hash.update(piece);
    }
    Some(hash.finalize().into())
}
