//! What a receiver answers.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{Content, EventId, EventType, Fingerprint};
use cola_ia_core::intake::RefusalCode;

/// What a request is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Events, in the order of the body: all of them enter in one `accept`, and then [`Receiver::answer`](crate::Receiver::answer)
    /// has the reply. Empty where the body holds an empty array of events.
    Events(Vec<Found>),
    /// A handshake, a test of the address or a wrong method: this is answered, and nothing is stored.
    Reply(Reply),
    /// Not taken; recorded as a refusal, and answered with its status.
    Refused(Refused),
}

/// One event of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The sender's name for it.
    pub id: EventId,
    /// What it says.
    pub content: Content,
    /// What kind of event the sender says it is.
    pub event_type: Option<EventType>,
    /// When it happened at the provider.
    pub time: Option<Timestamp>,
    /// SHA-256 of the signed bytes, where the id stands outside of them and the source does not say that such replays enter: the
    /// same signed bytes under another id are the same event again. Where one request has several events, the place of each is
    /// hashed with it.
    pub body: Option<Fingerprint>,
}

/// Why a request is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The reason, stable.
    pub code: RefusalCode,
    /// What it is about: a header's name, a pointer, two times and their difference. Never a secret, never an expected signature.
    pub detail: String,
    /// The answer's status, that of [`status_of`] its code.
    pub status: u16,
}

/// The status with which a request is answered that is refused for this reason. docs/WEBHOOKS.md prints it.
pub const fn status_of(code: RefusalCode) -> u16 {
    match code {
        // Who fills in everything learns nothing: it is answered as if it had entered.
        RefusalCode::Honeypot => 200,
        RefusalCode::SignatureMissing | RefusalCode::SignatureInvalid | RefusalCode::TimestampOutside => 401,
        RefusalCode::OriginNotAllowed => 403,
        RefusalCode::BodyTooSlow => 408,
        RefusalCode::BodyTooLarge | RefusalCode::TextTooLong | RefusalCode::TooManyEvents => 413,
        RefusalCode::MediaTypeUnsupported => 415,
        RefusalCode::RateLimited => 429,
        _ => 400,
    }
}

impl Refused {
    pub(crate) fn new(code: RefusalCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), status: status_of(code) }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`; none where the body is empty.
    pub content_type: Option<&'static str>,
    /// The body.
    pub body: Vec<u8>,
    /// Other headers.
    pub headers: Vec<(&'static str, &'static str)>,
    /// The secret that a source which waits for its handshake was sent. It is for the operator, who confirms it at the provider
    /// and configures it: it is unsigned, and belongs into no log.
    pub token: Option<HandshakeToken>,
}

impl Reply {
    /// A status alone.
    pub(crate) fn empty(status: u16) -> Self {
        Self { status, content_type: None, body: Vec::new(), headers: Vec::new(), token: None }
    }

    /// What a sender wants to see again. Never taken for a page.
    pub(crate) fn echo(text: &str) -> Self {
        let mut reply = Self::empty(200);
        reply.content_type = Some("text/plain; charset=utf-8");
        reply.headers.push(("x-content-type-options", "nosniff"));
        reply.body = text.as_bytes().to_vec();
        reply
    }

    pub(crate) fn json(status: u16, body: String) -> Self {
        Self { content_type: Some("application/json"), body: body.into_bytes(), ..Self::empty(status) }
    }
}

/// A secret that came in a handshake. Its text is taken by name, and never shown by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct HandshakeToken(pub(crate) String);

impl HandshakeToken {
    /// The secret.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for HandshakeToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HandshakeToken(..)")
    }
}
