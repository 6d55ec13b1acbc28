//! The parts of an event, taken from where its places say.

use std::borrow::Cow;

use base64::Engine as _;
use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Content as Text, EventId, EventType, Fingerprint};
use cola_ia_core::intake::RefusalCode;
use sha2::{Digest as _, Sha256};

use crate::body::{Doc, Mode, ce_header, field, form_as_json};
use crate::canonical::canonical;
use crate::instant;
use crate::json::{Json, Kind};
use crate::outcome::{Found, Refused};
use crate::place::{Access, Part, Place};
use crate::pointer::Pointer;
use crate::request::{Names, Request};
use crate::scheme::{Encoding, TimeUnit};
use crate::signature::encode;
use crate::step::Trace;

/// Most events in one request.
pub const EVENTS_MAX: usize = 1_000;

/// What is looked for, read from a scheme once.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) each: Vec<Pointer>,
    pub(crate) id: Vec<Place>,
    pub(crate) event_type: Vec<Place>,
    /// Whether the source itself named the place of the type: then it must be well-formed where it is.
    pub(crate) strict_type: bool,
    pub(crate) time: Vec<Place>,
    pub(crate) strict_time: bool,
    pub(crate) time_unit: TimeUnit,
    pub(crate) text: Vec<Place>,
    pub(crate) ignore: Vec<Pointer>,
    pub(crate) max_text_bytes: usize,
    pub(crate) signed: Signed,
}

/// What of a request is signed.
#[derive(Debug, Clone)]
pub(crate) struct Signed {
    pub(crate) body: bool,
    pub(crate) url: bool,
    pub(crate) headers: Vec<String>,
    /// Whether the same signed bytes under another id are the same event; never where nothing is signed.
    pub(crate) guards_replays: bool,
}

/// One event, looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) names: Names<'a>,
    pub(crate) doc: &'a Doc<'a>,
    pub(crate) mode: Mode,
    /// The element of an array that is the event.
    pub(crate) element: Option<Json<'a>>,
    pub(crate) signed: Option<[u8; 32]>,
    pub(crate) now: Timestamp,
}

/// What stands at a place.
enum Got<'a> {
    Missing,
    Null,
    Text(Cow<'a, str>),
    Number(Json<'a>),
    Json(Json<'a>),
}

/// The events of a request that is verified.
pub(crate) fn events(rules: &Rules, view: &View<'_>, trace: &mut Trace) -> Result<Vec<Found>, Refused> {
    let batch = [Pointer::parse("/*").expect("the pointer is well-formed")];
    let each: &[Pointer] = if view.mode == Mode::Batch { &batch } else { &rules.each };
    if each.is_empty() {
        trace.add("events", true, || vec![("count", "1".into())]);
        return Ok(vec![event(rules, view, 0, false, trace)?]);
    }
    let Doc::Json(json) = view.doc else {
        return Err(Refused::new(RefusalCode::BodyMalformed, "a form or a text has no array of events"));
    };
    let elements = elements(each, *json)?;
    trace.add("events", true, || vec![("count", elements.len().to_string())]);
    let place = |(index, element)| event(rules, &View { element: Some(element), ..*view }, index, true, trace);
    elements.into_iter().enumerate().map(place).collect()
}

fn elements<'a>(each: &[Pointer], json: Json<'a>) -> Result<Vec<Json<'a>>, Refused> {
    let mut elements = Vec::new();
    for path in each {
        path.each(json, &mut |element| {
            elements.push(element);
            elements.len() <= EVENTS_MAX
        });
    }
    if elements.len() > EVENTS_MAX {
        return Err(Refused::new(RefusalCode::TooManyEvents, format!("more than {EVENTS_MAX}")));
    }
    // An empty array says that there is nothing; that there is no array says that the events are elsewhere.
    if elements.is_empty() && !each.iter().any(|path| has_array(path.tokens(), json)) {
        return Err(Refused::new(RefusalCode::IdMissing, "no array of events"));
    }
    Ok(elements)
}

/// Whether an array stands where the last `*` of a path is.
fn has_array(tokens: &[String], json: Json<'_>) -> bool {
    let Some((token, rest)) = tokens.split_first() else {
        return true;
    };
    match (token == "*", json.kind()) {
        (true, Kind::Array) => rest.is_empty() || json.elements().any(|element| has_array(rest, element)),
        (true, _) => false,
        (false, _) => json.child(token).is_some_and(|child| has_array(rest, child)),
    }
}

fn event(rules: &Rules, view: &View<'_>, index: usize, fanned: bool, trace: &mut Trace) -> Result<Found, Refused> {
    let located = |mut refused: Refused| {
        if fanned {
            refused.detail = format!("event {}: {}", index + 1, refused.detail);
        }
        refused
    };
    let number = (index + 1).to_string();
    if view.mode != Mode::Plain {
        let version = view.cloud_event("specversion").map_err(located)?;
        if !matches!(&version, Got::Text(version) if version == "1.0") {
            return Err(located(Refused::new(RefusalCode::BodyMalformed, "specversion is not 1.0")));
        }
    }
    let (id, place) = id(rules, view).map_err(located).inspect_err(|refused| {
        trace.add("id", false, || vec![("event", number.clone()), ("reason", refused.detail.clone())]);
    })?;
    trace.add("id", true, || {
        vec![("event", number.clone()), ("place", place.written.clone()), ("value", id.as_str().to_owned())]
    });
    let event_type = event_type(rules, view, &number, trace).map_err(located)?;
    let time = time(rules, view, &number, trace).map_err(located)?;
    let content = text(rules, view, &number, trace).map_err(located).inspect_err(|refused| {
        trace.add("text", false, || vec![("event", number.clone()), ("reason", refused.detail.clone())]);
    })?;
    let body = view.signed.filter(|_| rules.signed.guards_replays && view.is_outside(rules, place)).map(|signed| {
        if fanned {
            let mut hash = Sha256::new();
            hash.update(signed);
            hash.update((index as u64).to_be_bytes());
            Fingerprint(hash.finalize().into())
        } else {
            Fingerprint(signed)
        }
    });
    Ok(Found { id, content, event_type, time, body })
}

/// The id, and the place that it was found at.
fn id<'r>(rules: &'r Rules, view: &View<'_>) -> Result<(EventId, &'r Place), Refused> {
    let mut fault = None;
    for place in &rules.id {
        if let Some(id) = joined(place, view, &mut fault)? {
            let id = EventId::new(id).map_err(|code| Refused::new(code, &place.written))?;
            return Ok((id, place));
        }
    }
    let written = || rules.id.iter().map(|place| place.written.as_str()).collect::<Vec<_>>().join(", ");
    Err(fault.unwrap_or_else(|| Refused::new(RefusalCode::IdMissing, written())))
}

/// The values of an id's place, joined so that no other values make the same; `None` where one of them is not there.
fn joined(place: &Place, view: &View<'_>, fault: &mut Option<Refused>) -> Result<Option<String>, Refused> {
    let refused = |code| Refused::new(code, &place.written);
    let mut id = String::new();
    for part in &place.parts {
        let access = match part {
            Part::Literal(text) => {
                id.push_str(text);
                continue;
            }
            Part::At(access) => access,
        };
        let takes_numbers = place.is_template || matches!(access, Access::Number(_));
        let takes_texts = !matches!(access, Access::Number(_));
        let value = match view.get(access)? {
            Got::Missing => return Ok(None),
            Got::Null => {
                fault.get_or_insert(refused(RefusalCode::IdNotString));
                return Ok(None);
            }
            Got::Text(text) if takes_texts => text,
            Got::Number(json) if takes_numbers => {
                Cow::Owned(whole_number(json.raw()).ok_or_else(|| refused(RefusalCode::IdNumber))?)
            }
            Got::Number(_) => return Err(refused(RefusalCode::IdNumber)),
            Got::Text(_) | Got::Json(_) => return Err(refused(RefusalCode::IdNotString)),
        };
        if value.trim().is_empty() {
            return Err(refused(RefusalCode::IdBlank));
        }
        for character in value.chars() {
            if place.marks.contains(character) {
                id.push('\\');
            }
            id.push(character);
        }
    }
    Ok(Some(id))
}

/// A whole number's digits as they stand there: another spelling (`1.0`, `1e3`, `-0`) would be another id of the same number.
fn whole_number(digits: &str) -> Option<String> {
    let magnitude = digits.strip_prefix('-').unwrap_or(digits);
    let plain = magnitude.bytes().all(|byte| byte.is_ascii_digit()) && digits != "-0";
    plain.then(|| digits.to_owned())
}

/// The first of these places that holds a string or a number, or strings joined by a template; and the place.
fn scalar<'r, 'a>(places: &'r [Place], view: &View<'a>) -> Result<Option<(&'r Place, Cow<'a, str>)>, Refused> {
    'places: for place in places {
        let mut parts = Vec::with_capacity(place.parts.len());
        for part in &place.parts {
            parts.push(match part {
                Part::Literal(text) => Cow::Owned(text.clone()),
                Part::At(access) => match view.get(access)? {
                    Got::Text(text) if !text.trim().is_empty() => text,
                    Got::Number(json) => Cow::Borrowed(json.raw()),
                    Got::Missing | Got::Null | Got::Text(_) | Got::Json(_) => continue 'places,
                },
            });
        }
        let value = if parts.len() == 1 { parts.swap_remove(0) } else { Cow::Owned(parts.concat()) };
        return Ok(Some((place, value)));
    }
    Ok(None)
}

fn event_type(rules: &Rules, view: &View<'_>, number: &str, trace: &mut Trace) -> Result<Option<EventType>, Refused> {
    let Some((place, name)) = scalar(&rules.event_type, view)? else {
        return Ok(None);
    };
    let found = EventType::new(name.as_ref());
    trace.add("type", found.is_ok(), || {
        vec![("event", number.into()), ("place", place.written.clone()), ("value", name.chars().take(80).collect())]
    });
    match found {
        Err(code) if rules.strict_type => Err(Refused::new(code, &place.written)),
        found => Ok(found.ok()),
    }
}

fn time(rules: &Rules, view: &View<'_>, number: &str, trace: &mut Trace) -> Result<Option<Timestamp>, Refused> {
    let Some((place, written)) = scalar(&rules.time, view)? else {
        return Ok(None);
    };
    let found = instant::event(rules.time_unit, &written);
    trace.add("time", found.is_some(), || {
        let mut facts = vec![("event", number.into()), ("place", place.written.clone())];
        facts.extend(found.map(|time| ("value", time.to_rfc3339())));
        facts
    });
    if found.is_none() && rules.strict_time {
        return Err(Refused::new(RefusalCode::TimeInvalid, &place.written));
    }
    Ok(found)
}

fn text(rules: &Rules, view: &View<'_>, number: &str, trace: &mut Trace) -> Result<Text, Refused> {
    let mut fault = None;
    'places: for place in &rules.text {
        let mut whole = String::new();
        for part in &place.parts {
            match part {
                Part::Literal(text) => whole.push_str(text),
                Part::At(access) => match view.as_text(access, rules)? {
                    Some(text) => whole.push_str(&text),
                    None => continue 'places,
                },
            }
        }
        match Text::new(whole, rules.max_text_bytes) {
            Ok(content) => {
                trace.add("text", true, || {
                    let bytes = content.text().len().to_string();
                    vec![("event", number.into()), ("place", place.written.clone()), ("bytes", bytes)]
                });
                return Ok(content);
            }
            // A place with nothing in it is no text; the next one may have some.
            Err(RefusalCode::TextBlank) => {
                fault.get_or_insert(Refused::new(RefusalCode::TextBlank, &place.written));
            }
            Err(code) => return Err(Refused::new(code, &place.written)),
        }
    }
    let written = || rules.text.iter().map(|place| place.written.as_str()).collect::<Vec<_>>().join(", ");
    Err(fault.unwrap_or_else(|| Refused::new(RefusalCode::TextMissing, written())))
}

impl<'a> View<'a> {
    /// The event as JSON, where it is some.
    fn event(&self) -> Option<Json<'a>> {
        match (self.element, self.doc) {
            (Some(element), _) => Some(element),
            (None, Doc::Json(json)) => Some(*json),
            (None, _) => None,
        }
    }

    fn get(&self, access: &Access) -> Result<Got<'a>, Refused> {
        Ok(match access {
            Access::Pointer(path) | Access::Number(path) => match (self.doc, path.tokens()) {
                (Doc::Form(fields), [name]) => field(fields, name)?.map_or(Got::Missing, |text| Got::Text(text.into())),
                _ => value(self.event().and_then(|json| path.find(json))),
            },
            Access::Root(path) => match self.doc {
                Doc::Json(json) => value(path.find(*json)),
                _ => Got::Missing,
            },
            Access::Header(header) => {
                let name = self.names.name(header);
                let line = self.request.header(&name).map_err(|_| Refused::new(RefusalCode::FieldTwice, header))?;
                match line.map(std::str::from_utf8) {
                    None => Got::Missing,
                    Some(Ok(text)) => Got::Text(text.into()),
                    Some(Err(_)) => return Err(Refused::new(RefusalCode::Utf8Invalid, header)),
                }
            }
            Access::Form(name) => match self.doc {
                Doc::Form(fields) => field(fields, name)?.map_or(Got::Missing, |text| Got::Text(text.into())),
                _ => Got::Missing,
            },
            Access::Query(name) => match field(&self.request.query(), name)? {
                Some(text) => Got::Text(text.to_owned().into()),
                None => Got::Missing,
            },
            Access::CloudEvent(attribute) => self.cloud_event(attribute)?,
            Access::Body => self.event().map_or(Got::Missing, |json| value(Some(json))),
            Access::HashOf(path) => {
                let found = self.event().and_then(|json| path.find(json));
                match found.map(|json| canonical(json, &[], usize::MAX)) {
                    Some(Ok(text)) => Got::Text(hex(&Sha256::digest(text)).into()),
                    _ => Got::Missing,
                }
            }
            // Of one event among several, its own part of the body.
            Access::HashOfBody => match self.element.map(|json| canonical(json, &[], usize::MAX)) {
                Some(Ok(text)) => Got::Text(hex(&Sha256::digest(text)).into()),
                _ => Got::Text(hex(&Sha256::digest(self.request.body)).into()),
            },
            Access::HashOfSigned => self.signed.map_or(Got::Missing, |hash| Got::Text(hex(&hash).into())),
            Access::Received => Got::Text(self.now.to_rfc3339().into()),
        })
    }

    /// An attribute of a CloudEvent, or its data.
    fn cloud_event(&self, attribute: &str) -> Result<Got<'a>, Refused> {
        match (self.mode, attribute) {
            (Mode::Plain, _) => Ok(Got::Missing),
            (Mode::Binary, "data") => Ok(match self.doc {
                Doc::Json(json) => value(Some(*json)),
                Doc::Text(text) => Got::Text((*text).into()),
                Doc::Form(_) => Got::Missing,
            }),
            (Mode::Binary, _) => Ok(ce_header(self.request, attribute)?.map_or(Got::Missing, Got::Text)),
            (Mode::Structured | Mode::Batch, "data") => {
                let event = self.event();
                let data = value(event.and_then(|event| event.child("data")));
                let coded = event.and_then(|event| event.child("data_base64")).and_then(Json::string);
                match (data, coded) {
                    (Got::Missing | Got::Null, Some(coded)) => {
                        let bytes = base64::engine::general_purpose::STANDARD.decode(coded.as_bytes());
                        let bytes = bytes.map_err(|_| Refused::new(RefusalCode::BodyMalformed, "data_base64"))?;
                        let text = String::from_utf8(bytes);
                        let binary = |_| Refused::new(RefusalCode::MediaTypeUnsupported, "data_base64 is not text");
                        Ok(Got::Text(text.map_err(binary)?.into()))
                    }
                    (data, _) => Ok(data),
                }
            }
            (Mode::Structured | Mode::Batch, _) => Ok(value(self.event().and_then(|event| event.child(attribute)))),
        }
    }

    /// What stands at a place, as a text: a string as it is, another value as its canonical JSON. Several are joined by line ends.
    fn as_text(&self, access: &Access, rules: &Rules) -> Result<Option<Cow<'a, str>>, Refused> {
        let limit = rules.max_text_bytes;
        let too_long = |_| Refused::new(RefusalCode::TextTooLong, format!("more than {limit} bytes"));
        if let (Access::Pointer(path), Some(event)) = (access, self.event())
            && path.has_star()
        {
            return several(path, event, limit).map_err(too_long);
        }
        if *access == Access::Body {
            match (self.doc, self.element) {
                (Doc::Form(fields), None) => return Ok(Some(form_as_json(fields).into())),
                (Doc::Text(text), None) => return Ok(Some((*text).into())),
                _ => {}
            }
        }
        Ok(match self.get(access)? {
            Got::Missing | Got::Null => None,
            Got::Text(text) => Some(text),
            Got::Number(json) | Got::Json(json) => {
                let ignore = match access {
                    Access::Body => rules.ignore.clone(),
                    Access::Pointer(path) => rules.ignore.iter().filter_map(|ignored| ignored.below(path)).collect(),
                    _ => Vec::new(),
                };
                Some(Cow::Owned(canonical(json, &ignore, limit).map_err(too_long)?))
            }
        })
    }

    /// Whether the id at this place stands outside of what is signed.
    fn is_outside(&self, rules: &Rules, place: &Place) -> bool {
        let mut outside = false;
        for access in place.accesses() {
            outside |= match access {
                // Each request has its own: nothing can be told from equal bytes.
                Access::Received => return false,
                Access::Header(header) => !rules.signed.headers.iter().any(|name| name.eq_ignore_ascii_case(header)),
                Access::Query(_) => !rules.signed.url,
                Access::CloudEvent(_) if self.mode == Mode::Binary => true,
                Access::HashOfSigned => false,
                _ => !rules.signed.body,
            };
        }
        outside
    }
}

fn value(found: Option<Json<'_>>) -> Got<'_> {
    let Some(json) = found else {
        return Got::Missing;
    };
    match json.kind() {
        Kind::Null => Got::Null,
        Kind::Number => Got::Number(json),
        Kind::String => json.string().map_or(Got::Missing, Got::Text),
        Kind::Bool | Kind::Array | Kind::Object => Got::Json(json),
    }
}

fn several<'a>(
    path: &Pointer,
    event: Json<'a>,
    limit: usize,
) -> Result<Option<Cow<'a, str>>, crate::canonical::TooLong> {
    let mut lines = Vec::new();
    let mut bytes = 0;
    let mut fault = Ok(());
    path.each(event, &mut |json| {
        let line = match json.kind() {
            Kind::Null => return true,
            Kind::String => Ok(json.string().unwrap_or_default().into_owned()),
            _ => canonical(json, &[], limit),
        };
        match line {
            Ok(line) => {
                bytes += line.len() + 1;
                lines.push(line);
            }
            Err(too_long) => fault = Err(too_long),
        }
        fault.is_ok() && bytes <= limit + 1
    });
    fault?;
    if bytes > limit + 1 {
        return Err(crate::canonical::TooLong);
    }
    Ok((!lines.is_empty()).then(|| Cow::Owned(lines.join("\n"))))
}

fn hex(bytes: &[u8]) -> String {
    encode(Encoding::Hex, bytes)
}
