//! Places of an event's parts, as [`Places`](crate::Places) writes them, read once.

use crate::braces::{self, Piece};
use crate::pointer::Pointer;

/// One place.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// As it was written, for people.
    pub(crate) written: String,
    pub(crate) parts: Vec<Part>,
    /// The characters by which values in it are kept apart; empty where it has one value.
    pub(crate) marks: String,
    /// Whether it is a template: its values may be strings or numbers.
    pub(crate) is_template: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Part {
    Literal(String),
    At(Access),
}

/// Where a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    Pointer(Pointer),
    Number(Pointer),
    Root(Pointer),
    Header(String),
    Form(String),
    Query(String),
    CloudEvent(String),
    /// The whole event.
    Body,
    HashOf(Pointer),
    HashOfBody,
    HashOfSigned,
    Received,
}

impl Place {
    /// Reads a place; an error is the part that cannot be.
    pub(crate) fn parse(written: &str) -> Result<Self, String> {
        if !written.contains('{') {
            let access = access(written).ok_or_else(|| written.to_owned())?;
            return Ok(Self::of(written, vec![Part::At(access)], false));
        }
        let mut parts = Vec::new();
        for piece in braces::pieces(written).ok_or_else(|| written.to_owned())? {
            parts.push(match piece {
                Piece::Literal(text) => Part::Literal(text),
                Piece::Name(name) => Part::At(access(name).ok_or_else(|| name.to_owned())?),
            });
        }
        let place = Self::of(written, parts, true);
        // With nothing between two values, `ab` and `c` would be `a` and `bc`.
        let touching = place.parts.windows(2).any(|pair| matches!(pair, [Part::At(_), Part::At(_)]));
        let fixed = place.accesses().next().is_none();
        if touching || fixed { Err(written.to_owned()) } else { Ok(place) }
    }

    fn of(written: &str, parts: Vec<Part>, is_template: bool) -> Self {
        let values = parts.iter().filter(|part| matches!(part, Part::At(_))).count();
        let literals =
            parts.iter().filter_map(|part| if let Part::Literal(text) = part { Some(text.as_str()) } else { None });
        let marks = if values > 1 { literals.chain(["\\"]).collect() } else { String::new() };
        Self { written: written.to_owned(), parts, marks, is_template }
    }

    pub(crate) fn accesses(&self) -> impl Iterator<Item = &Access> {
        self.parts.iter().filter_map(|part| if let Part::At(access) = part { Some(access) } else { None })
    }
}

fn access(text: &str) -> Option<Access> {
    let pointer = |text| Pointer::parse(text);
    let named = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    match text {
        "body" => return Some(Access::Body),
        "received" => return Some(Access::Received),
        "sha256:body" => return Some(Access::HashOfBody),
        "sha256:signed" => return Some(Access::HashOfSigned),
        _ => {}
    }
    match text.split_once(':') {
        Some(("number", rest)) => pointer(rest).map(Access::Number),
        Some(("root", rest)) => pointer(rest).map(Access::Root),
        Some(("header", rest)) => named(rest).map(Access::Header),
        Some(("form", rest)) => named(rest).map(Access::Form),
        Some(("query", rest)) => named(rest).map(Access::Query),
        Some(("ce", rest)) => named(rest).map(Access::CloudEvent),
        Some(("sha256", rest)) => pointer(rest).map(Access::HashOf),
        _ if text.starts_with('/') => pointer(text).map(Access::Pointer),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_or_refused() {
        for good in [
            "/a/b",
            "number:/update_id",
            "root:/x",
            "header:X-Id",
            "form:Body",
            "query:q",
            "ce:id",
            "body",
            "received",
            "sha256:body",
            "sha256:/record",
            "{/a}:{/b}",
            "x-{/a}",
            "{ce:source}#{ce:id}",
        ] {
            assert!(Place::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "a", "header:", "/~x", "{/a}{/b}", "{a}", "{/a", "{{x}}", "mail:/x"] {
            assert!(Place::parse(bad).is_err(), "{bad}");
        }
    }
}
