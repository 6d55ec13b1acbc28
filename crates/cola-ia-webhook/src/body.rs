//! What a body is, once it may be read.

use std::borrow::Cow;

use cola_ia_core::intake::RefusalCode;

use crate::form::{self, Fields};
use crate::json::{self, Json};
use crate::media::Media;
use crate::outcome::Refused;
use crate::request::Request;
use crate::scheme::{Accepts, Scheme};
use crate::spec::Format;
use crate::verify::json_refused;

/// How a CloudEvent came, or that it is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    /// Attributes in headers, the data as the body.
    Binary,
    /// One object with attributes and data.
    Structured,
    /// An array of those.
    Batch,
}

/// The bytes of a body, taken apart as far as its type says.
#[derive(Debug)]
pub(crate) enum Read<'a> {
    Json(&'a [u8]),
    Form(Fields),
    Text(&'a [u8]),
}

/// A body that can be looked into.
#[derive(Debug)]
pub(crate) enum Doc<'a> {
    Json(Json<'a>),
    Form(&'a Fields),
    Text(&'a str),
}

/// The body's type, refused where the source does not take it.
pub(crate) fn read<'a>(
    scheme: &Scheme,
    format: Option<Format>,
    request: &Request<'a>,
) -> Result<(Read<'a>, Mode), Refused> {
    let unsupported = |detail: &str| Refused::new(RefusalCode::MediaTypeUnsupported, detail);
    let value = request.header("content-type").map_err(|_| unsupported("content-type stands twice"))?;
    let media = Media::parse(value.unwrap_or_default()).ok_or_else(|| unsupported("content-type"))?;
    media.check_charset()?;
    let takes = |kind| scheme.accepts.contains(&kind);
    let essence = media.essence.as_str();
    let mode = match (format, essence) {
        (None, _) => Mode::Plain,
        (Some(Format::CloudEvents), "application/cloudevents+json") => Mode::Structured,
        (Some(Format::CloudEvents), "application/cloudevents-batch+json") => Mode::Batch,
        (Some(Format::CloudEvents), _) => Mode::Binary,
    };
    let body = if media.is_json() && takes(Accepts::Json) {
        Read::Json(request.body)
    } else if media.is_form() && takes(Accepts::Form) {
        Read::Form(form::urlencoded(request.body)?)
    } else if essence == "multipart/form-data" && takes(Accepts::Multipart) {
        Read::Form(form::multipart(&media, request.body)?)
    } else if essence == "text/plain" && takes(Accepts::Text) {
        Read::Text(request.body)
    } else {
        return Err(unsupported(essence.get(..essence.len().min(100)).unwrap_or_default()));
    };
    Ok((body, mode))
}

impl Read<'_> {
    /// Looks whether the bytes are what their type says. A form may wrap JSON in one of its fields.
    pub(crate) fn doc(&self, scheme: &Scheme) -> Result<Doc<'_>, Refused> {
        match self {
            Self::Json(bytes) => json::check(bytes).map(Doc::Json).map_err(|fault| json_refused(&fault)),
            Self::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Doc::Text(text)),
                Err(error) => Err(Refused::new(RefusalCode::Utf8Invalid, format!("byte {}", error.valid_up_to() + 1))),
            },
            Self::Form(fields) => {
                let payload = scheme.form_payload.as_ref().map(|name| field(fields, name)).transpose()?.flatten();
                match payload {
                    Some(json) => json::check(json.as_bytes()).map(Doc::Json).map_err(|fault| json_refused(&fault)),
                    None => Ok(Doc::Form(fields)),
                }
            }
        }
    }
}

/// The value of a field; refused where it stands twice.
pub(crate) fn field<'f>(fields: &'f Fields, name: &str) -> Result<Option<&'f str>, Refused> {
    let mut values = fields.iter().filter(|(field, _)| field == name).map(|(_, value)| value.as_str());
    let first = values.next();
    if values.next().is_some() { Err(Refused::new(RefusalCode::FieldTwice, name)) } else { Ok(first) }
}

/// A form as the canonical JSON of an object: one value is a string, several are an array of strings in their order.
pub(crate) fn form_as_json(fields: &Fields) -> String {
    let mut names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut sorted: Vec<&(String, String)> = fields.iter().collect();
    // Stable: equal names keep the order of their values.
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    let mut out = String::from("{");
    for (place, group) in sorted.chunk_by(|a, b| a.0 == b.0).enumerate() {
        if place > 0 {
            out.push(',');
        }
        crate::canonical::string(&mut out, &group[0].0);
        out.push(':');
        if let [(_, value)] = group {
            crate::canonical::string(&mut out, value);
        } else {
            out.push('[');
            for (place, (_, value)) in group.iter().map(|pair| (&pair.0, &pair.1)).enumerate() {
                if place > 0 {
                    out.push(',');
                }
                crate::canonical::string(&mut out, value);
            }
            out.push(']');
        }
    }
    out.push('}');
    out
}

/// A header of a CloudEvent, whose characters outside of ASCII are percent-encoded.
pub(crate) fn ce_header<'a>(request: &Request<'a>, attribute: &str) -> Result<Option<Cow<'a, str>>, Refused> {
    let name = format!("ce-{attribute}");
    let value = request.header(&name).map_err(|_| Refused::new(RefusalCode::FieldTwice, &name))?;
    value.map(|value| form::unescaped(value, false).map(Cow::Owned)).transpose()
}
