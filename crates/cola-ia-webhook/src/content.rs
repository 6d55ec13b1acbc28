//! The bytes that are signed, put together as a scheme's template says.

use std::borrow::Cow;

use cola_ia_core::intake::RefusalCode;

use crate::braces::{self, Piece};
use crate::form::Fields;
use crate::json::{Json, Kind};
use crate::outcome::Refused;
use crate::pointer::Pointer;
use crate::request::{Names, Request};

/// A template of signed content.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    parts: Vec<Part>,
    /// The characters of the literal parts, by which a value could be mistaken.
    marks: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Id,
    Time,
    Body,
    Url,
    Method,
    Params,
    Pointer(String, Pointer),
    Header(String),
}

/// What a template is filled with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Filling<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) names: Names<'a>,
    pub(crate) url: &'a str,
    pub(crate) id: &'a [u8],
    /// The header that it stands in.
    pub(crate) id_name: &'a str,
    pub(crate) time: &'a [u8],
    /// The body as JSON, where the template points into it.
    pub(crate) json: Option<Json<'a>>,
    pub(crate) params: &'a Fields,
}

impl Content {
    /// Reads a template; an error is the name that is not known.
    pub(crate) fn parse(template: &str) -> Result<Self, String> {
        let pieces = braces::pieces(template).ok_or_else(|| template.to_owned())?;
        let mut parts = Vec::new();
        let mut marks = String::new();
        for piece in pieces {
            parts.push(match piece {
                Piece::Literal(text) => {
                    marks.push_str(&text);
                    Part::Literal(text)
                }
                Piece::Name("id") => Part::Id,
                Piece::Name("ts") => Part::Time,
                Piece::Name("body") => Part::Body,
                Piece::Name("url") => Part::Url,
                Piece::Name("method") => Part::Method,
                Piece::Name("params") => Part::Params,
                Piece::Name(name) => {
                    if let Some(header) = name.strip_prefix("header:") {
                        Part::Header(header.to_owned())
                    } else {
                        let path = name.strip_prefix("ptr:").and_then(Pointer::parse);
                        let path = path.filter(|path| !path.has_star()).ok_or_else(|| name.to_owned())?;
                        Part::Pointer(name.trim_start_matches("ptr:").to_owned(), path)
                    }
                }
            });
        }
        Ok(Self { parts, marks })
    }

    pub(crate) fn has_id(&self) -> bool {
        self.parts.contains(&Part::Id)
    }

    pub(crate) fn has_time(&self) -> bool {
        self.parts.contains(&Part::Time)
    }

    pub(crate) fn has_url(&self) -> bool {
        self.parts.contains(&Part::Url)
    }

    pub(crate) fn has_params(&self) -> bool {
        self.parts.contains(&Part::Params)
    }

    /// Whether it signs the body as a whole, be it as the sorted fields of a form.
    pub(crate) fn covers_body(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Body | Part::Params))
    }

    pub(crate) fn covers_header(&self, header: &str) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Header(name) if name.eq_ignore_ascii_case(header)))
    }

    /// The places in the body that it takes by themselves.
    pub(crate) fn pointers(&self) -> impl Iterator<Item = &Pointer> {
        self.parts.iter().filter_map(|part| if let Part::Pointer(_, path) = part { Some(path) } else { None })
    }

    pub(crate) fn needs_json(&self) -> bool {
        self.pointers().next().is_some()
    }

    /// The signed bytes, in pieces so that a large body is not copied.
    pub(crate) fn fill<'a>(&'a self, with: &Filling<'a>) -> Result<Vec<Cow<'a, [u8]>>, Refused> {
        let mut signed = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            signed.push(match part {
                Part::Literal(text) => Cow::Borrowed(text.as_bytes()),
                Part::Id => Cow::Borrowed(self.unmistakable(with.id_name, with.id)?),
                Part::Time => Cow::Borrowed(with.time),
                Part::Body => Cow::Borrowed(with.request.body),
                Part::Url => Cow::Borrowed(with.url.as_bytes()),
                Part::Method => Cow::Borrowed(with.request.method.as_bytes()),
                Part::Params => Cow::Owned(sorted(with.params)),
                Part::Header(name) => {
                    let value = with.request.header(&with.names.name(name));
                    let value = value.map_err(|_| Refused::new(RefusalCode::FieldTwice, name))?;
                    let value = value.ok_or_else(|| Refused::new(RefusalCode::SignatureMissing, name))?;
                    Cow::Borrowed(self.unmistakable(name, value)?)
                }
                Part::Pointer(name, path) => {
                    let found = with.json.and_then(|json| path.find(json));
                    let missing = || Refused::new(RefusalCode::SignatureMissing, name);
                    let value = found.ok_or_else(missing)?;
                    match value.kind() {
                        Kind::String => match value.string().ok_or_else(missing)? {
                            Cow::Borrowed(text) => Cow::Borrowed(self.unmistakable(name, text.as_bytes())?),
                            Cow::Owned(text) => {
                                self.unmistakable(name, text.as_bytes())?;
                                Cow::Owned(text.into_bytes())
                            }
                        },
                        Kind::Number => Cow::Borrowed(value.raw().as_bytes()),
                        _ => return Err(missing()),
                    }
                }
            });
        }
        Ok(signed)
    }

    /// Refuses a value in which a literal part of the template stands: with `{id}.{ts}.{body}`, an id `a.1` and the time `2` would
    /// be signed as the id `a` and the time `1.2`.
    fn unmistakable<'v>(&self, name: &str, value: &'v [u8]) -> Result<&'v [u8], Refused> {
        match value.iter().find(|byte| self.marks.as_bytes().contains(byte)) {
            Some(byte) => {
                let detail = format!("{name} has `{}`, which separates what is signed", char::from(*byte));
                Err(Refused::new(RefusalCode::SignatureMissing, detail))
            }
            None => Ok(value),
        }
    }
}

/// Names and values one after the other: names sorted, of equal names the different values sorted.
fn sorted(params: &Fields) -> Vec<u8> {
    let mut params: Vec<&(String, String)> = params.iter().collect();
    params.sort_unstable();
    params.dedup();
    params.into_iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_read_or_refused() {
        for good in
            ["{body}", "{id}.{ts}.{body}", "{ptr:/a/b}{ptr:/c}", "{method}{url}{body}{ts}", "v0:{header:X-Id}:{body}"]
        {
            assert!(Content::parse(good).is_ok(), "{good}");
        }
        for bad in ["{boddy}", "{body", "{ptr:a}", "{ptr:/a/*}"] {
            assert!(Content::parse(bad).is_err(), "{bad}");
        }
    }
}
