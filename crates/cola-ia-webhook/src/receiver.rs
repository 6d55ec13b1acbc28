//! The receiver of one source.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::RefusalCode;
use cola_ia_core::verdict::Verdict;

use crate::body;
use crate::content::Content;
use crate::extract::{self, Rules, Signed, View};
use crate::handshake;
use crate::outcome::{Outcome, Refused, Reply};
use crate::place::{Access, Place};
use crate::pointer::Pointer;
use crate::request::{Names, Request};
use crate::scheme::{Algorithm, Handshake, Places, ReplyType, Scheme};
use crate::secret::Secret;
use crate::spec::{Format, Replays, Spec, SpecFault, fault};
use crate::step::{Step, Trace};
use crate::verify;

/// Judges the requests of one source. Cheap to share: it holds no state that changes.
#[derive(Debug, Clone)]
pub struct Receiver {
    pub(crate) scheme: Scheme,
    pub(crate) content: Content,
    pub(crate) rules: Rules,
    secrets: Vec<Secret>,
    verify_token: Option<Secret>,
    pending: bool,
    pub(crate) format: Option<Format>,
    conflict_status: u16,
}

impl Receiver {
    /// A receiver with one secret or several (rotation): a request that any of them signed is taken.
    ///
    /// # Errors
    /// What of the configuration cannot be, or cannot be together; `secret_needed` where there is no secret and the source neither
    /// is `unsigned` nor waits for a handshake that brings one.
    pub fn new(spec: &Spec, secrets: Vec<Secret>, max_text_bytes: usize) -> Result<Self, SpecFault> {
        let scheme = spec.resolve()?;
        let waits = spec.pending && scheme.handshakes.contains(&Handshake::VerificationToken);
        if spec.pending && !waits {
            return Err(fault("nothing_pending", "pending", &scheme.name));
        }
        if secrets.is_empty() && scheme.algorithm != Algorithm::None && !waits {
            return Err(fault("secret_needed", "secret", &scheme.name));
        }
        let content = Content::parse(&scheme.content).map_err(|name| fault("template", "content", &name))?;
        let rules = rules(spec, &scheme, &content, max_text_bytes)?;
        Ok(Self {
            content,
            rules,
            secrets,
            verify_token: spec.verify_token.clone(),
            pending: waits,
            format: spec.format,
            conflict_status: spec.conflict_status.unwrap_or(200),
            scheme,
        })
    }

    /// The scheme, with what the source wants otherwise.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// The largest body that is taken: what is read from a connection need not be more.
    pub fn max_body_bytes(&self) -> usize {
        self.scheme.max_body_bytes
    }

    /// What a request is. Pure: the same request at the same instant is the same again.
    pub fn receive(&self, request: &Request<'_>, now: Timestamp) -> Outcome {
        self.judge(request, now, &mut Trace::default())
    }

    /// How a request is judged, step by step. The last step is what [`receive`](Self::receive) answers.
    pub fn explain(&self, request: &Request<'_>, now: Timestamp) -> Vec<Step> {
        let mut trace = Trace::kept();
        match self.judge(request, now, &mut trace) {
            Outcome::Events(events) => trace.add("accepted", true, || vec![("events", events.len().to_string())]),
            Outcome::Reply(reply) => {
                trace.add("reply", reply.status < 400, || vec![("status", reply.status.to_string())]);
            }
            Outcome::Refused(refused) => trace.add("refused", false, || {
                let status = refused.status.to_string();
                vec![("code", refused.code.as_str().into()), ("detail", refused.detail.clone()), ("status", status)]
            }),
        }
        trace.into_steps()
    }

    fn judge(&self, request: &Request<'_>, now: Timestamp, trace: &mut Trace) -> Outcome {
        let known = matches!(request.method, "GET" | "HEAD" | "POST");
        trace.add("method", known, || vec![("method", request.method.chars().take(20).collect())]);
        trace.add("url", true, || vec![("url", hidden_query(request.url))]);
        match request.method {
            "POST" => self.post(request, now, trace).unwrap_or_else(Outcome::Refused),
            "GET" | "HEAD" => match handshake::of_get(&self.scheme, self.verify_token.as_ref(), request) {
                Some(handshake) => tell(handshake, trace),
                None => Outcome::Reply(Reply::empty(200)),
            },
            _ => {
                let mut reply = Reply::empty(405);
                reply.headers.push(("allow", "GET, HEAD, POST"));
                Outcome::Reply(reply)
            }
        }
    }

    fn post(&self, request: &Request<'_>, now: Timestamp, trace: &mut Trace) -> Result<Outcome, Refused> {
        let limit = self.scheme.max_body_bytes;
        let bytes = request.body.len();
        trace.add("body", bytes <= limit, || vec![("bytes", bytes.to_string()), ("limit", limit.to_string())]);
        if bytes > limit {
            return Err(Refused::new(RefusalCode::BodyTooLarge, format!("{bytes} bytes, allowed {limit}")));
        }
        if let Some(handshake) = handshake::unsigned(&self.scheme, self.pending, request) {
            return Ok(tell(handshake, trace));
        }
        let verified = verify::verify(&self.scheme, &self.content, &self.secrets, request, now, trace)?;
        let (read, mode) = body::read(&self.scheme, self.format, request).inspect_err(|refused| {
            trace.add("content_type", false, || vec![("reason", refused.detail.clone())]);
        })?;
        trace.add("content_type", true, || {
            let value = request.header("content-type").ok().flatten().unwrap_or_default();
            vec![("type", String::from_utf8_lossy(value).chars().take(100).collect())]
        });
        let doc = read.doc(&self.scheme)?;
        if let Some(handshake) = handshake::signed(&self.scheme, self.secrets.get(verified.secret), &doc) {
            return Ok(tell(handshake, trace));
        }
        let names = Names::of(self.scheme.alias.as_ref(), self.scheme.signature.header.as_deref(), request);
        let view = View { request, names, doc: &doc, mode, element: None, signed: verified.signed, now };
        extract::events(&self.rules, &view, trace).map(Outcome::Events)
    }

    /// The answer to events that are in the store, by what each was: the provider's own form, else `{"result":"new"}`, with all of
    /// them under `results` where there were several. `result` is then the first of conflict, new and duplicate that is among
    /// them.
    pub fn answer(&self, verdicts: &[Verdict]) -> Reply {
        let conflict = verdicts.contains(&Verdict::Conflict);
        let status = if conflict { self.conflict_status } else { 200 };
        if let Some(shape) = self.scheme.reply.as_ref().filter(|_| status == 200) {
            return Reply {
                status: shape.status,
                content_type: shape.content_type.map(ReplyType::as_str),
                body: shape.body.clone().into_bytes(),
                ..Reply::empty(shape.status)
            };
        }
        let first = [Verdict::Conflict, Verdict::New].into_iter().find(|verdict| verdicts.contains(verdict));
        let body = match verdicts {
            [] => "{}".to_owned(),
            [verdict] => format!("{{\"result\":\"{}\"}}", verdict.as_str()),
            several => {
                let words: Vec<String> = several.iter().map(|verdict| format!("\"{}\"", verdict.as_str())).collect();
                let first = first.unwrap_or(several[0]).as_str();
                format!("{{\"result\":\"{first}\",\"results\":[{}]}}", words.join(","))
            }
        };
        Reply::json(status, body)
    }
}

fn tell((handshake, reply): (Handshake, Reply), trace: &mut Trace) -> Outcome {
    trace.add("handshake", reply.status < 400, || vec![("kind", handshake.as_str().to_owned())]);
    Outcome::Reply(reply)
}

/// The address without what its query says: a token may stand there.
fn hidden_query(url: &str) -> String {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let names: Vec<&str> = query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name)).collect();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{}=…", names.join("=…&")) }
}

fn rules(spec: &Spec, scheme: &Scheme, content: &Content, max_text_bytes: usize) -> Result<Rules, SpecFault> {
    let id = places("id", &scheme.id)?;
    let several = id.iter().flat_map(Place::accesses).any(|access| match access {
        Access::Pointer(path) | Access::Number(path) | Access::Root(path) | Access::HashOf(path) => path.has_star(),
        _ => false,
    });
    if several {
        return Err(fault("id_of_several", "id", &scheme.id.as_slice().join(", ")));
    }
    let pointers = |field, written: &[String]| {
        written
            .iter()
            .map(|path| Pointer::parse(path).ok_or_else(|| fault("pointer", field, path)))
            .collect::<Result<Vec<_>, _>>()
    };
    let each = pointers("each", scheme.each.as_slice())?;
    if let Some(path) = each.iter().position(|path| path.tokens().last().is_none_or(|token| token != "*")) {
        return Err(fault("pointer", "each", &scheme.each.as_slice()[path]));
    }
    let text = places("text", &scheme.text)?;
    if text.is_empty() {
        return Err(fault("empty", "text", ""));
    }
    let is_signed = !matches!(scheme.algorithm, Algorithm::Token | Algorithm::None);
    let signed_headers = id
        .iter()
        .flat_map(Place::accesses)
        .filter_map(|access| if let Access::Header(header) = access { Some(header) } else { None })
        .filter(|header| {
            content.covers_header(header)
                || (content.has_id() && scheme.signed_id.as_ref().is_some_and(|id| id.eq_ignore_ascii_case(header)))
        })
        .cloned()
        .collect();
    Ok(Rules {
        each,
        id,
        event_type: places("type", &scheme.event_type)?,
        strict_type: spec.event_type.is_some(),
        time: places("time", &scheme.time)?,
        strict_time: spec.time.is_some(),
        time_unit: scheme.time_unit,
        text,
        ignore: pointers("ignore", &scheme.ignore)?,
        max_text_bytes,
        signed: Signed {
            body: content.covers_body(),
            url: content.has_url(),
            headers: signed_headers,
            guards_replays: is_signed && spec.replays == Replays::Duplicate,
        },
    })
}

fn places(field: &'static str, places: &Places) -> Result<Vec<Place>, SpecFault> {
    places.as_slice().iter().map(|place| Place::parse(place).map_err(|part| fault("place", field, &part))).collect()
}
