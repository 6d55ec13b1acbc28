//! Signed webhooks, as a pure function of (method, public URL, headers, body, secrets, now).
//!
//! A [`Spec`] says how a source sends: a scheme of the [`catalogue`](catalogue()) by its name, with what the source wants otherwise. A
//! [`Receiver`] is made of it once, with its [`Secret`]s, and then answers each [`Request`] with events, with a reply of its
//! own (a handshake), or with a refusal that has a stable code.
//!
//! The order in which a request is judged:
//!
//! 1. the method: `GET` and `HEAD` have no effect (and are where some senders ask for an echo), anything but `POST` is 405;
//! 2. the size of the body;
//! 3. handshakes that senders do not sign, where the source is set to take them;
//! 4. the form of the signed time, and the signature over the raw bytes; nothing of the body is read before, but what a scheme
//!    signs out of its middle (Mailgun) or in another order (Twilio), bounded and for that alone;
//! 5. how far the signed time is from `now`, in both directions;
//! 6. the type of the body and its charset, then its form: JSON, form, multipart or plain text;
//! 7. handshakes that are signed;
//! 8. which events there are, and of each the id, the text, the type and the time.
//!
//! **A header that stands twice** is refused where it is the signature, the id or the signed time: two readers could take
//! another of the two.
//!
//! This crate must not know storage, sockets, runtimes or the language of people: refusals and steps are codes with facts.

mod body;
mod braces;
mod canonical;
mod content;
mod extract;
mod form;
mod fuzz;
mod handshake;
mod instant;
mod json;
mod media;
mod outcome;
mod place;
mod pointer;
mod receiver;
mod request;
mod sample;
mod scheme;
mod secret;
mod signature;
mod spec;
mod step;
mod url;
mod verify;

pub use canonical::canonical_json;
pub use extract::EVENTS_MAX;
pub use form::{FIELDS_MAX, form_fields};
pub use fuzz::fuzz_one;
pub use outcome::{Found, HandshakeToken, Outcome, Refused, Reply, status_of};
pub use receiver::Receiver;
pub use request::{Header, Request};
pub use sample::{Sample, SignFault, SignedRequest};
pub use scheme::{
    Accepts, Algorithm, Encoding, Handshake, KeyForm, Places, ReplyShape, ReplyType, Scheme, SignaturePlace, TimePlace,
    TimeUnit, catalogue, find,
};
pub use secret::{SECRET_MAX_BYTES, Secret, SecretFault};
pub use signature::SIGNATURES_MAX;
pub use spec::{Fallback, Format, Replays, Spec, SpecFault};
pub use step::Step;
