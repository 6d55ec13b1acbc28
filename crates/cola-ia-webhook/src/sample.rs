//! Signed sample requests, for `source test` and for tests.

use std::collections::BTreeMap;

use cola_ia_core::clock::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::canonical;
use crate::content::Filling;
use crate::form::{self, Fields};
use crate::instant;
use crate::json;
use crate::place::{Access, Part, Place};
use crate::pointer::Pointer;
use crate::receiver::Receiver;
use crate::request::{Header, Names, Request};
use crate::scheme::{Accepts, Algorithm, Encoding, TimeUnit};
use crate::secret::Secret;
use crate::signature::encode;
use crate::verify::mac;

/// What a sample request says.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The address as the sender sees it.
    pub url: &'a str,
    /// The event's id; a whole number where the scheme's ids are numbers. Where the id is put together of several values, it is
    /// each of them that is not a time.
    pub id: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Its type, where the scheme has a place for one.
    pub event_type: &'a str,
    /// The raw body, instead of one that is made of the others.
    pub body: Option<&'a [u8]>,
}

/// A request to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedRequest {
    /// `POST`.
    pub method: &'static str,
    /// The sample's, with what the scheme adds to it.
    pub url: String,
    /// Names as the provider writes them.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl SignedRequest {
    /// The lines of the header, to make a [`Request`] of.
    pub fn lines(&self) -> Vec<Header<'_>> {
        self.headers.iter().map(|(name, value)| Header { name, value: value.as_bytes() }).collect()
    }
}

/// Why no sample can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignFault {
    /// Only the provider has the private key.
    Asymmetric,
    /// The sample's id is no whole number and the scheme's ids are.
    IdNotANumber,
    /// The signature stands in the body, so that a given body cannot be signed.
    SignatureInBody,
    /// A part of the sample cannot stand in what is signed, such as a `.` in an id.
    NotSignable,
}

impl SignFault {
    /// The fault as a word, stable.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Asymmetric => "asymmetric",
            Self::IdNotANumber => "id_not_a_number",
            Self::SignatureInBody => "signature_in_body",
            Self::NotSignable => "not_signable",
        }
    }
}

impl std::fmt::Display for SignFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Asymmetric => "only the provider has the private key that signs",
            Self::IdNotANumber => "ids of this scheme are whole numbers",
            Self::SignatureInBody => "the signature stands in the body, so a given body cannot be signed",
            Self::NotSignable => "a part of the sample cannot stand in what is signed",
        })
    }
}

impl std::error::Error for SignFault {}

impl Receiver {
    /// A request that this receiver takes, signed now.
    ///
    /// # Errors
    /// [`SignFault`].
    pub fn sign(&self, sample: &Sample<'_>, now: Timestamp, secret: &Secret) -> Result<SignedRequest, SignFault> {
        if self.scheme.algorithm.is_asymmetric() {
            return Err(SignFault::Asymmetric);
        }
        let mut draft = Draft::of(self, sample, now)?;
        if let Some(body) = sample.body {
            if self.scheme.signature.pointer.is_some() {
                return Err(SignFault::SignatureInBody);
            }
            draft.body = Some(body.to_vec());
        }
        draft.signed(self, sample, now, secret)
    }
}

/// A request that is being made.
struct Draft {
    url: String,
    headers: Vec<(String, String)>,
    tree: Tree,
    fields: Fields,
    is_form: bool,
    body: Option<Vec<u8>>,
}

impl Draft {
    fn of(receiver: &Receiver, sample: &Sample<'_>, now: Timestamp) -> Result<Self, SignFault> {
        let Receiver { scheme, rules, .. } = receiver;
        let mut draft = Self {
            url: sample.url.to_owned(),
            headers: Vec::new(),
            tree: Tree::default(),
            fields: Fields::new(),
            is_form: scheme.accepts.first() == Some(&Accepts::Form),
            body: None,
        };
        let element = rules.each.first().map(|path| within(&[], path)).unwrap_or_default();
        if let Some(path) = scheme.timestamp.as_ref().and_then(|time| time.pointer.as_deref()).and_then(Pointer::parse)
        {
            let unit = scheme.timestamp.as_ref().map(|time| time.unit).unwrap_or_default();
            draft.tree.set(path.tokens(), quoted(&instant::written(unit, now)));
        }
        // Parts that are signed by themselves and are neither the time nor the signature: the token of Mailgun.
        let token = encode(Encoding::Hex, &Sha256::digest(sample.id));
        for path in receiver.content.pointers() {
            draft.tree.set_if_absent(path.tokens(), quoted(&token));
        }
        if receiver.format.is_some() {
            draft.header("ce-specversion", "1.0");
        }
        if let Some(place) = rules.time.first().filter(|_| rules.time_unit != TimeUnit::Snowflake) {
            draft.put(place, &element, &instant::written(rules.time_unit, now), is_number(rules.time_unit));
        }
        if let Some(header) = &scheme.signed_id {
            draft.header(header, sample.id);
        }
        if let Some(place) = id_place(&rules.id) {
            let wants_number = place.accesses().any(|access| matches!(access, Access::Number(_)));
            if sample.body.is_none() && wants_number && !place.is_template && sample.id.parse::<u64>().is_err() {
                return Err(SignFault::IdNotANumber);
            }
            draft.put(place, &element, sample.id, wants_number);
        }
        if let Some(place) = rules.event_type.first() {
            draft.put(place, &element, sample.event_type, false);
        }
        match rules.text.first() {
            Some(place) if place.accesses().all(|access| *access != Access::Body) => {
                draft.put(place, &element, sample.text, false);
                // Where other parts of the event have made an object of that place, the text is a member of it.
                for access in place.accesses() {
                    if let Access::Pointer(path) = access {
                        let tokens = within(&element, path);
                        draft.tree.set_if_absent(&[tokens, vec!["text".to_owned()]].concat(), quoted(sample.text));
                    }
                }
            }
            _ => draft.anywhere(&element, sample.text),
        }
        Ok(draft)
    }

    fn header(&mut self, name: &str, value: &str) {
        if !self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Puts a value where a place looks for it.
    fn put(&mut self, place: &Place, element: &[String], value: &str, number: bool) {
        let json = || if number { value.to_owned() } else { quoted(value) };
        for part in &place.parts {
            let Part::At(access) = part else {
                continue;
            };
            match access {
                Access::Pointer(path) | Access::Number(path) if !self.is_form => {
                    let tokens = within(element, path);
                    self.tree.set_if_absent(&tokens, json());
                }
                Access::Pointer(path) => {
                    if let [name] = path.tokens() {
                        self.field(name, value);
                    }
                }
                Access::Root(path) => self.tree.set_if_absent(path.tokens(), json()),
                Access::Header(name) => self.header(name, value),
                Access::Form(name) => self.field(name, value),
                Access::Query(name) => self.add_query(name, value),
                Access::CloudEvent(name) if name == "data" => self.anywhere(&[], value),
                Access::CloudEvent(name) => self.header(&format!("ce-{name}"), value),
                _ => {}
            }
        }
    }

    /// A text, where the whole body is one.
    fn anywhere(&mut self, element: &[String], text: &str) {
        if self.is_form {
            self.field("text", text);
        } else {
            let tokens: Vec<String> = element.iter().cloned().chain(["text".to_owned()]).collect();
            self.tree.set_if_absent(&tokens, quoted(text));
        }
    }

    fn field(&mut self, name: &str, value: &str) {
        if !self.fields.iter().any(|(known, _)| known == name) {
            self.fields.push((name.to_owned(), value.to_owned()));
        }
    }

    fn add_query(&mut self, name: &str, value: &str) {
        let mark = if self.url.contains('?') { '&' } else { '?' };
        self.url = format!("{}{mark}{}={}", self.url, form::escaped(name), form::escaped(value));
    }

    fn rendered(&self) -> Vec<u8> {
        match &self.body {
            Some(body) => body.clone(),
            None if self.is_form => {
                let pairs: Vec<String> = self
                    .fields
                    .iter()
                    .map(|(name, value)| format!("{}={}", form::escaped(name), form::escaped(value)))
                    .collect();
                pairs.join("&").into_bytes()
            }
            None => self.tree.rendered().into_bytes(),
        }
    }

    fn signed(
        mut self,
        receiver: &Receiver,
        sample: &Sample<'_>,
        now: Timestamp,
        secret: &Secret,
    ) -> Result<SignedRequest, SignFault> {
        let scheme = &receiver.scheme;
        // A given body of a sender of forms is one only if it looks like one.
        let is_form = self.is_form && self.body.as_ref().is_none_or(|body| json::check(body).is_err());
        self.header("content-type", if is_form { "application/x-www-form-urlencoded" } else { "application/json" });
        let body = self.rendered();
        if let Some(field) = scheme.body_hash.as_deref().filter(|_| !is_form) {
            self.add_query(field, &encode(Encoding::Hex, &Sha256::digest(&body)));
        }
        let unit = scheme.timestamp.as_ref().map(|time| time.unit).unwrap_or_default();
        let time = instant::written(unit, now);
        if let Some(header) = scheme.timestamp.as_ref().and_then(|time| time.header.as_deref()) {
            self.header(header, &time);
        }
        let lines: Vec<Header<'_>> =
            self.headers.iter().map(|(name, value)| Header { name, value: value.as_bytes() }).collect();
        let request = Request { method: "POST", url: &self.url, headers: &lines, body: &body };
        let key = secret.shared().unwrap_or_default();
        let signature = match scheme.algorithm {
            Algorithm::Token => String::from_utf8_lossy(key).into_owned(),
            Algorithm::None => String::new(),
            algorithm => {
                let params = if is_form { form::urlencoded(&body).unwrap_or_default() } else { Fields::new() };
                let filling = Filling {
                    request: &request,
                    names: Names::of(None, None, &request),
                    url: &self.url,
                    id: sample.id.as_bytes(),
                    id_name: scheme.signed_id.as_deref().unwrap_or_default(),
                    time: time.as_bytes(),
                    json: json::check(&body).ok(),
                    params: &params,
                };
                let pieces = receiver.content.fill(&filling).map_err(|_| SignFault::NotSignable)?;
                encode(scheme.encoding, &mac(algorithm, key, &pieces))
            }
        };
        let mut body = body;
        if scheme.algorithm != Algorithm::None {
            let place = &scheme.signature;
            if let Some(header) = &place.header {
                let value = match &place.key {
                    Some(key) => {
                        let time_key = scheme.timestamp.as_ref().and_then(|time| time.key.as_deref());
                        let start =
                            time_key.map(|key| format!("{key}={time}{}", place.separator.as_deref().unwrap_or(",")));
                        format!("{}{key}={signature}", start.unwrap_or_default())
                    }
                    None => format!("{}{signature}", place.prefix),
                };
                self.header(header, &value);
            } else if let Some(path) = place.pointer.as_deref().and_then(Pointer::parse) {
                self.tree.set(path.tokens(), quoted(&signature));
                body = self.rendered();
            }
        }
        Ok(SignedRequest { method: "POST", url: self.url, headers: self.headers, body })
    }
}

/// The place that a sample's id is put at: the first that has one value, else the first.
fn id_place(places: &[Place]) -> Option<&Place> {
    places.iter().find(|place| place.accesses().count() == 1).or(places.first())
}

/// Where a pointer of an event leads, in the first element of every array.
fn within(element: &[String], path: &Pointer) -> Vec<String> {
    let tokens = path.tokens().iter().map(|token| if token == "*" { "0".to_owned() } else { token.clone() });
    element.iter().cloned().chain(tokens).collect()
}

fn is_number(unit: TimeUnit) -> bool {
    matches!(unit, TimeUnit::S | TimeUnit::Ms)
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    canonical::string(&mut out, text);
    out
}

/// JSON that is being made: objects, and arrays of one element where a key is a number.
#[derive(Debug, Default)]
struct Tree {
    members: BTreeMap<String, Tree>,
    leaf: Option<String>,
}

impl Tree {
    fn set(&mut self, tokens: &[String], json: String) {
        match tokens.split_first() {
            None => self.leaf = Some(json),
            Some((first, rest)) => self.members.entry(first.clone()).or_default().set(rest, json),
        }
    }

    /// Puts a value where there is none yet, and nothing in its way.
    fn set_if_absent(&mut self, tokens: &[String], json: String) {
        match tokens.split_first() {
            _ if self.leaf.is_some() => {}
            None if self.members.is_empty() => self.leaf = Some(json),
            None => {}
            Some((first, rest)) => self.members.entry(first.clone()).or_default().set_if_absent(rest, json),
        }
    }

    fn rendered(&self) -> String {
        if let Some(leaf) = &self.leaf {
            return leaf.clone();
        }
        if self.members.len() == 1
            && let Some(only) = self.members.get("0")
        {
            return format!("[{}]", only.rendered());
        }
        let members: Vec<String> =
            self.members.iter().map(|(key, value)| format!("{}:{}", quoted(key), value.rendered())).collect();
        format!("{{{}}}", members.join(","))
    }
}
