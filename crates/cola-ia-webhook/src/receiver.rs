//! The receiver of one source.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::verdict::Verdict;

use crate::outcome::{Outcome, Reply};
use crate::request::Request;
use crate::scheme::Scheme;
use crate::secret::Secret;
use crate::spec::{Spec, SpecFault};
use crate::step::Step;

/// Judges the requests of one source. Cheap to share: it holds no state that changes.
#[derive(Debug, Clone)]
pub struct Receiver {
    scheme: Scheme,
}

impl Receiver {
    /// A receiver with one secret or several (rotation): a request that any of them signed is taken.
    ///
    /// # Errors
    /// What of the configuration cannot be, or cannot be together.
    pub fn new(spec: &Spec, secrets: Vec<Secret>, max_text_bytes: usize) -> Result<Self, SpecFault> {
        let _ = (secrets, max_text_bytes);
        Ok(Self { scheme: spec.resolve()? })
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
        let _ = (request, now);
        Outcome::Events(Vec::new())
    }

    /// The answer to events that are in the store, by what each was.
    pub fn answer(&self, verdicts: &[Verdict]) -> Reply {
        let _ = verdicts;
        Reply { status: 200, content_type: Some("application/json"), body: b"{}".to_vec(), headers: Vec::new() }
    }

    /// How a request is judged, step by step.
    pub fn explain(&self, request: &Request<'_>, now: Timestamp) -> Vec<Step> {
        let _ = (request, now);
        Vec::new()
    }

    /// A request that this receiver takes, signed now.
    ///
    /// # Errors
    /// [`SignFault`].
    pub fn sign(&self, sample: &Sample<'_>, now: Timestamp, secret: &Secret) -> Result<SignedRequest, SignFault> {
        let _ = (sample, now, secret);
        Err(SignFault::Asymmetric)
    }
}

/// What a sample request says.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The address as the sender sees it.
    pub url: &'a str,
    /// The event's id; a whole number where the scheme's ids are numbers.
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

/// Why no sample can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignFault {
    /// Only the provider has the private key.
    Asymmetric,
    /// The sample's id is no whole number and the scheme's ids are.
    IdNotANumber,
}

impl SignFault {
    /// The fault as a word, stable.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Asymmetric => "asymmetric",
            Self::IdNotANumber => "id_not_a_number",
        }
    }
}

impl std::fmt::Display for SignFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Asymmetric => "only the provider has the private key that signs",
            Self::IdNotANumber => "ids of this scheme are whole numbers",
        })
    }
}

impl std::error::Error for SignFault {}
