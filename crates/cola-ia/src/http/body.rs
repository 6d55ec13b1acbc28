//! Reading a body: a cap, a deadline, room in memory, and what a packed one becomes.

use std::io::Read as _;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use cola_ia_core::intake::RefusalCode;
use flate2::read::MultiGzDecoder;
use http_body_util::BodyExt as _;

use super::App;
use super::budget::Room;

/// A body that is whole, and the room that it takes.
pub(crate) struct Whole {
    /// Its bytes, unpacked.
    pub bytes: Vec<u8>,
    /// Bytes that came.
    pub received: usize,
    _room: Room,
}

/// Why there is no body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoBody {
    /// It is not taken: why, what it is about, and the answer's status.
    Refused(RefusalCode, String, u16),
    /// There is no room in memory now.
    Busy,
    /// The connection is gone.
    Gone,
}

/// Reads a body of at most `max` bytes, before and after unpacking.
///
/// # Errors
/// [`NoBody`].
pub(crate) async fn read(app: &App, headers: &HeaderMap, body: Body, max: usize) -> Result<Whole, NoBody> {
    let packed = is_packed(headers)?;
    let declared = declared(headers)?;
    let too_large =
        |found: &str| NoBody::Refused(RefusalCode::BodyTooLarge, format!("{found} bytes, at most {max}"), 413);
    if let Some(length) = declared.filter(|length| *length > max as u64) {
        return Err(too_large(&length.to_string()));
    }
    // Of a length that is not told, all that may come is set aside.
    let expected = declared.map_or(max, |length| length as usize);
    let room = app.bodies.room(if packed { max } else { expected }).await.map_err(|_| NoBody::Busy)?;
    let reading = collect(body, max, declared.map_or(8 * 1024, |length| length as usize));
    let bytes = match tokio::time::timeout(app.limits.body_deadline, reading).await {
        Ok(Ok(Some(bytes))) => bytes,
        Ok(Ok(None)) => return Err(too_large("more")),
        Ok(Err(())) => return Err(NoBody::Gone),
        Err(_) => return Err(NoBody::Refused(RefusalCode::BodyTooSlow, String::new(), 408)),
    };
    let received = bytes.len();
    let bytes = if packed {
        let unpacked = tokio::task::spawn_blocking(move || unpack(&bytes, max)).await;
        unpacked.unwrap_or(Err(Packed::Broken)).map_err(|fault| match fault {
            Packed::TooLarge => too_large("unpacked more"),
            Packed::Broken => NoBody::Refused(RefusalCode::BodyMalformed, "gzip".to_owned(), 400),
        })?
    } else {
        bytes
    };
    Ok(Whole { bytes, received, _room: room })
}

fn declared(headers: &HeaderMap) -> Result<Option<u64>, NoBody> {
    let malformed = || NoBody::Refused(RefusalCode::BodyMalformed, "content-length".to_owned(), 400);
    match headers.get(header::CONTENT_LENGTH) {
        None => Ok(None),
        Some(value) => value.to_str().ok().and_then(|text| text.parse().ok()).map(Some).ok_or_else(malformed),
    }
}

/// Whether it comes as gzip; any other coding is not read.
fn is_packed(headers: &HeaderMap) -> Result<bool, NoBody> {
    let mut packed = false;
    for line in headers.get_all(header::CONTENT_ENCODING) {
        let line = line.to_str().unwrap_or("?").trim().to_ascii_lowercase();
        match line.as_str() {
            "identity" | "" => {}
            "gzip" | "x-gzip" if !packed => packed = true,
            other => {
                let detail = format!("content-encoding {other}");
                return Err(NoBody::Refused(RefusalCode::MediaTypeUnsupported, detail, 415));
            }
        }
    }
    Ok(packed)
}

/// `None`: more than `max`, and the rest is not read.
async fn collect(mut body: Body, max: usize, expected: usize) -> Result<Option<Vec<u8>>, ()> {
    let mut bytes = Vec::with_capacity(expected.min(max).min(1 << 20));
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| ())?.into_data() else { continue };
        if bytes.len() + data.len() > max {
            return Ok(None);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Some(bytes))
}

/// Why a packed body is not unpacked.
enum Packed {
    TooLarge,
    Broken,
}

fn unpack(packed: &[u8], max: usize) -> Result<Vec<u8>, Packed> {
    let mut bytes = Vec::new();
    let mut reader = MultiGzDecoder::new(packed).take(max as u64 + 1);
    match reader.read_to_end(&mut bytes) {
        Ok(_) if bytes.len() > max => Err(Packed::TooLarge),
        Ok(_) => Ok(bytes),
        Err(_) => Err(Packed::Broken),
    }
}
