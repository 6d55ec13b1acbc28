//! Tokens as they are kept.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_core::store::{TokenRequest, TokenScope};

use super::digest::digest;

/// Words of scopes in a column: a space between two.
pub(crate) fn scopes(scopes: &[TokenScope]) -> String {
    scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" ")
}

/// Names of sources in a column: a space between two.
pub(crate) fn sources(sources: &[Source]) -> String {
    sources.iter().map(Source::as_str).collect::<Vec<_>>().join(" ")
}

/// The digest of a request that was checked, for its op.
pub(crate) fn digest_of(request: &TokenRequest) -> i64 {
    let (scopes, sources) = (scopes(&request.scopes), sources(&request.sources));
    let expires = request.expires_at.map(Timestamp::as_micros);
    digest(&[
        request.name.as_bytes(),
        &request.hash.0,
        scopes.as_bytes(),
        sources.as_bytes(),
        expires.as_ref().map_or(&[][..], |_| b"expires"),
        &expires.unwrap_or_default().to_le_bytes(),
    ])
}
