//! What a command says to the worker that runs it, on the socket `COLA_IA_SOCKET`: one request a line, one answer a line.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What is said of the job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsideRequest<'a> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// `extend`, `complete`, `fail` or `release`.
    #[serde(borrow)]
    pub verb: Cow<'a, str>,
    /// For `extend`: how long the lease is to last from now on; without it as long as the worker's leases do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// For `fail`: it will not succeed, however often it is tried.
    #[serde(default, skip_serializing_if = "is_false")]
    pub permanent: bool,
    /// For `fail` and `release`: the job is not to be tried again before then. A `release` without it gives it back at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// For `fail` and `release`: what kind of error it was, a stable word.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error_class: Option<Cow<'a, str>>,
    /// For `fail` and `release`: what went wrong.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Cow<'a, str>>,
    /// The resource that the job made.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<Cow<'a, str>>,
    /// The job's result, JSON as text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Cow<'a, str>>,
    /// What it cost, in millionths of the currency's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<i64>,
    /// The currency of that, as ISO 4217 has it; without it the store's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<Cow<'a, str>>,
    /// Tokens that went in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<i64>,
    /// Tokens that came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<i64>,
    /// The model that was used.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Cow<'a, str>>,
}

/// The worker's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsideAnswer<'a> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// `ok`: a lease was extended, or the word is kept and recorded when the command has ended. `lease_lost`: the job is
    /// somebody else's by now, or another word about it was said before. `invalid`: the request is not understood.
    /// `unavailable`: the store cannot be used now.
    #[serde(borrow)]
    pub result: Cow<'a, str>,
    /// For `extend`: until when the lease lasts now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<String>,
    /// The newest attempt of the job, where the lease is lost to another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<u32>,
    /// What is wrong, a stable code, for `invalid` and `unavailable`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Cow<'a, str>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}
