//! Fields of forms and queries. What is not UTF-8 is refused: a lenient reader would make one character of many different
//! bytes, and one id of many different ones.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::future::{Future, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use cola_ia_core::intake::RefusalCode;
use futures_util::stream;

use crate::media::Media;
use crate::outcome::Refused;

/// Most fields of one form.
pub const FIELDS_MAX: usize = 1_000;

/// Names and values, in the order of the form.
pub(crate) type Fields = Vec<(String, String)>;

/// The fields of a form's body, of either encoding; files in it are passed over. `None` where the body is no form.
///
/// # Errors
/// [`RefusalCode::Utf8Invalid`], [`RefusalCode::BodyMalformed`], [`RefusalCode::MediaTypeUnsupported`].
pub fn form_fields(content_type: &[u8], body: &[u8]) -> Result<Option<Vec<(String, String)>>, Refused> {
    let media =
        Media::parse(content_type).ok_or_else(|| Refused::new(RefusalCode::MediaTypeUnsupported, "content-type"))?;
    media.check_charset()?;
    match media.essence.as_str() {
        "application/x-www-form-urlencoded" => urlencoded(body).map(Some),
        "multipart/form-data" => multipart(&media, body).map(Some),
        _ => Ok(None),
    }
}

/// `a=b&c=d`, percent-encoded.
pub(crate) fn urlencoded(body: &[u8]) -> Result<Fields, Refused> {
    let mut fields = Fields::new();
    for pair in body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        if fields.len() == FIELDS_MAX {
            return Err(too_many());
        }
        let (name, value) = match pair.iter().position(|byte| *byte == b'=') {
            Some(at) => (&pair[..at], &pair[at + 1..]),
            None => (pair, &pair[..0]),
        };
        fields.push((unescaped(name, true)?, unescaped(value, true)?));
    }
    Ok(fields)
}

/// Takes `%41` for its byte and, in forms, `+` for a space.
pub(crate) fn unescaped(text: &[u8], plus: bool) -> Result<String, Refused> {
    let hex = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'+' if plus => bytes.push(b' '),
            b'%' => match hex(text.get(at)).zip(hex(text.get(at + 1))) {
                Some((high, low)) => {
                    bytes.push((high << 4 | low) as u8);
                    at += 2;
                }
                None => bytes.push(b'%'),
            },
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).map_err(|_| Refused::new(RefusalCode::Utf8Invalid, "form"))
}

/// Writes a name or a value for a form or a query.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// The fields of a buffered multipart body.
pub(crate) fn multipart(media: &Media, body: &[u8]) -> Result<Fields, Refused> {
    let boundary = media.boundary.clone().ok_or_else(|| Refused::new(RefusalCode::BodyMalformed, "boundary"))?;
    let whole = stream::once(ready(Ok::<_, Infallible>(body.to_vec())));
    let mut parts = multer::Multipart::new(whole, boundary);
    let read = pin!(async move {
        let mut fields = Fields::new();
        while let Some(part) = parts.next_field().await.map_err(|_| malformed())? {
            let name = part.name().map(str::to_owned);
            let is_file = part.file_name().is_some();
            let charset = part.content_type().and_then(|of| of.get_param("charset")).map(|charset| charset.to_string());
            // The part's bytes are read in any case, so that a form that is cut within a file is refused too.
            let bytes = part.bytes().await.map_err(|_| malformed())?;
            let Some(name) = name.filter(|_| !is_file) else {
                continue;
            };
            if fields.len() == FIELDS_MAX {
                return Err(too_many());
            }
            if charset.is_some_and(|charset| !crate::media::is_utf8(&charset)) {
                return Err(Refused::new(RefusalCode::MediaTypeUnsupported, "charset"));
            }
            let value = String::from_utf8(bytes.into()).map_err(|_| Refused::new(RefusalCode::Utf8Invalid, "form"))?;
            fields.push((name, value));
        }
        Ok(fields)
    });
    // The body is there, so nothing is waited for: a reader that asks for more than there is has found it cut.
    match read.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(fields) => fields,
        Poll::Pending => Err(malformed()),
    }
}

fn malformed() -> Refused {
    Refused::new(RefusalCode::BodyMalformed, "multipart")
}

fn too_many() -> Refused {
    Refused::new(RefusalCode::BodyMalformed, "more than 1000 fields")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(fields: &[(&str, &str)]) -> Fields {
        fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn urlencoded_fields_are_read() {
        let fields = urlencoded(b"a=1+2&b=%C3%A9%20&&c&d=%zz&a=%2B").unwrap();
        assert_eq!(fields, pairs(&[("a", "1 2"), ("b", "é "), ("c", ""), ("d", "%zz"), ("a", "+")]));
        assert_eq!(urlencoded(b"a=%ff").unwrap_err().code, RefusalCode::Utf8Invalid);
        assert!(urlencoded("a&".repeat(1_000).as_bytes()).is_ok());
        assert_eq!(urlencoded("a&".repeat(1_001).as_bytes()).unwrap_err().code, RefusalCode::BodyMalformed);
    }

    #[test]
    fn multipart_fields_are_read_and_files_passed_over() {
        let body = b"--B\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\ni1\r\n--B\r\nContent-Disposition: form-data; name=\"f\"; \
            filename=\"x.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n\xff\xfe\r\n--B\r\nContent-Disposition: form-data; \
            name=\"text\"\r\n\r\nma\xc3\xb1ana\r\n--B--\r\n";
        let of = b"multipart/form-data; boundary=B";
        assert_eq!(form_fields(of, body).unwrap(), Some(pairs(&[("id", "i1"), ("text", "mañana")])));
        for cut in 1..body.len() - 4 {
            assert!(form_fields(of, &body[..cut]).is_err(), "cut at {cut}");
        }
        assert_eq!(form_fields(b"multipart/form-data", body).unwrap_err().code, RefusalCode::BodyMalformed);
        assert_eq!(form_fields(b"text/plain", body).unwrap(), None);
    }
}
