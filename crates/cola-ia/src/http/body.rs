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
    /// It is not taken: why, and what it is about.
    Refused(RefusalCode, String),
    /// There is no room in memory now.
    Busy,
    /// The connection is gone.
    Gone,
}

/// A packed body is unpacked in pieces of this size.
const UNPACKED_AT_ONCE: usize = 256 * 1024;

/// Reads a body of at most `max` bytes, before and after unpacking.
///
/// # Errors
/// [`NoBody`].
pub(crate) async fn read(app: &App, headers: &HeaderMap, body: Body, max: usize) -> Result<Whole, NoBody> {
    let packed = is_packed(headers)?;
    let declared = declared(headers)?;
    let too_large = |found: &str| NoBody::Refused(RefusalCode::BodyTooLarge, format!("{found} bytes, at most {max}"));
    if let Some(length) = declared.filter(|length| *length > max as u64) {
        return Err(too_large(&length.to_string()));
    }
    // What is declared is set aside before it comes; of what is not, what has come is.
    let expected = declared.map_or(0, |length| length as usize);
    let mut room = app.bodies.room(expected).await.map_err(|_| NoBody::Busy)?;
    let reading = collect(body, &mut room, max, expected);
    let bytes = match tokio::time::timeout(app.limits.body_deadline, reading).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(Cut::TooLarge)) => return Err(too_large("more")),
        Ok(Err(Cut::NoRoom)) => return Err(NoBody::Busy),
        Ok(Err(Cut::Broken)) => return Err(NoBody::Gone),
        Err(_) => return Err(NoBody::Refused(RefusalCode::BodyTooSlow, String::new())),
    };
    let received = bytes.len();
    if !packed {
        return Ok(Whole { bytes, received, _room: room });
    }
    let unpacking = tokio::task::spawn_blocking(move || unpack(&bytes, &mut room, max).map(|bytes| (bytes, room)));
    let (bytes, room) = unpacking.await.unwrap_or(Err(Cut::Broken)).map_err(|cut| match cut {
        Cut::TooLarge => too_large("unpacked more"),
        Cut::NoRoom => NoBody::Busy,
        Cut::Broken => NoBody::Refused(RefusalCode::BodyMalformed, "gzip".to_owned()),
    })?;
    Ok(Whole { bytes, received, _room: room })
}

fn declared(headers: &HeaderMap) -> Result<Option<u64>, NoBody> {
    let malformed = || NoBody::Refused(RefusalCode::BodyMalformed, "content-length".to_owned());
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
                return Err(NoBody::Refused(RefusalCode::MediaTypeUnsupported, detail));
            }
        }
    }
    Ok(packed)
}

/// Why a body is not read, or not unpacked, to its end.
enum Cut {
    /// There is more than is taken, and the rest is not looked at.
    TooLarge,
    /// The room in memory is used up by others.
    NoRoom,
    /// The connection broke, or it is no gzip.
    Broken,
}

async fn collect(mut body: Body, room: &mut Room, max: usize, expected: usize) -> Result<Vec<u8>, Cut> {
    let mut bytes = Vec::with_capacity(expected.min(max).min(1 << 20));
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Cut::Broken)?.into_data() else { continue };
        if bytes.len() + data.len() > max {
            return Err(Cut::TooLarge);
        }
        room.grow(bytes.len() + data.len()).map_err(|_| Cut::NoRoom)?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// What both take that are in memory until it is unpacked: the packed and the unpacked bytes.
fn unpack(packed: &[u8], room: &mut Room, max: usize) -> Result<Vec<u8>, Cut> {
    let mut bytes = Vec::new();
    let mut reader = MultiGzDecoder::new(packed);
    loop {
        let before = bytes.len();
        let piece = UNPACKED_AT_ONCE.min(max + 1 - before);
        reader.by_ref().take(piece as u64).read_to_end(&mut bytes).map_err(|_| Cut::Broken)?;
        match bytes.len() {
            all if all > max => return Err(Cut::TooLarge),
            all if all == before => return Ok(bytes),
            all => room.grow(packed.len() + all).map_err(|_| Cut::NoRoom)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::http::budget::Budget;

    #[tokio::test]
    async fn what_is_unpacked_takes_room_as_it_grows() {
        let whole = vec![b' '; 3 << 20];
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&whole).unwrap();
        let packed = packed.finish().unwrap();
        for (budget, max, expected) in [
            (16 << 20, 3 << 20, Ok(3 << 20)),
            (16 << 20, (3 << 20) - 1, Err("too large")),
            // An eighth is for small bodies, and another body has half of the rest.
            (4 << 20, 3 << 20, Err("no room")),
        ] {
            let budget = Budget::new(budget);
            let _other = budget.room(7 << 18).await.unwrap();
            let mut room = budget.room(packed.len()).await.unwrap();
            let unpacked = unpack(&packed, &mut room, max).map(|bytes| bytes.len()).map_err(|cut| match cut {
                Cut::TooLarge => "too large",
                Cut::NoRoom => "no room",
                Cut::Broken => "broken",
            });
            assert_eq!(unpacked, expected);
        }
    }
}
