//! Tokens, without anything by which one could be used.

use std::borrow::Cow;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::store::TokenView;
use serde::{Deserialize, Serialize};

use crate::VERSION;

/// A line of `token list --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenLine<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// Its name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// `live`, `expired` or `revoked`.
    #[serde(borrow)]
    pub state: Cow<'a, str>,
    /// What it allows: `ingest`, `work`, `read`, `operate`, `admin`.
    pub scopes: Vec<Cow<'a, str>>,
    /// For `ingest`, only of these sources; empty: of all.
    pub sources: Vec<Cow<'a, str>>,
    /// When it was made.
    pub created_at: String,
    /// When it ends by itself.
    pub expires_at: Option<String>,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

impl<'a> TokenLine<'a> {
    /// The line of a token, as it is at this instant.
    pub fn new(view: &'a TokenView, now: Timestamp) -> Self {
        let state = match (view.revoked_at, view.is_live(now)) {
            (Some(_), _) => "revoked",
            (None, true) => "live",
            (None, false) => "expired",
        };
        Self {
            v: VERSION,
            name: view.name.as_str().into(),
            state: state.into(),
            scopes: view.scopes.iter().map(|scope| scope.as_str().into()).collect(),
            sources: view.sources.iter().map(|source| source.as_str().into()).collect(),
            created_at: view.created_at.to_rfc3339(),
            expires_at: view.expires_at.map(Timestamp::to_rfc3339),
            revoked_at: view.revoked_at.map(Timestamp::to_rfc3339),
        }
    }
}
