//! Tokens: who may do what over the network.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::store::{
    ErrorKind, OpId, StoreError, TokenHash, TokenRequest, TokenScope, TokenView, token_malformed,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::ops::{Call, digest};
use super::row;
use super::writer::Scope;
use crate::common::token::{digest_of, scopes, sources};

const COLUMNS: &str = "name, scopes, sources, created_at, expires_at, revoked_at";

/// See [`Store::token_create`](cola_ia_core::store::Store::token_create).
pub(super) fn create(scope: &Scope<'_>, op: OpId, request: &TokenRequest) -> Result<TokenView, StoreError> {
    let request = request.checked()?;
    let (scopes, sources) = (scopes(&request.scopes), sources(&request.sources));
    let expires = request.expires_at.map(Timestamp::as_micros);
    let call = Call { op, verb: "token_create", request: digest_of(&request) };
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let here = || of_name(scope.connection, &request.name).map_err(sqlite);
    if call.first_answer(scope)?.is_some() {
        // As it was made: what became of it since is not part of the answer.
        let view = here()?.ok_or_else(|| sqlite(row::unexpected("token", "made and not there")))?;
        return Ok(TokenView { revoked_at: None, ..view });
    }
    if here()?.is_some() {
        return Err(StoreError::new(ErrorKind::Conflict, "token_name_taken").with("name", &request.name));
    }
    if find(scope.connection, request.hash).map_err(sqlite)?.is_some() {
        return Err(token_malformed("hash"));
    }
    let at = scope.clock.now();
    scope
        .connection
        .prepare_cached(
            "INSERT INTO tokens (name, hash, scopes, sources, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )
        .and_then(|mut insert| {
            insert.execute(params![request.name, request.hash.0, scopes, sources, at.as_micros(), expires])
        })
        .map_err(sqlite)?;
    call.record(scope, at, &[])?;
    let TokenRequest { name, scopes, sources, expires_at, .. } = request;
    Ok(TokenView { name, scopes, sources, created_at: at, expires_at, revoked_at: None })
}

/// See [`Store::token_revoke`](cola_ia_core::store::Store::token_revoke).
pub(super) fn revoke(scope: &Scope<'_>, op: OpId, name: &str) -> Result<bool, StoreError> {
    let call = Call { op, verb: "token_revoke", request: digest(&[name.as_bytes()]) };
    if let Some(mut answer) = call.first_answer(scope)? {
        return Ok(answer.take().map_err(|cause| scope.error(&cause))? == 1);
    }
    let at = scope.clock.now();
    let revoked = scope
        .connection
        .prepare_cached("UPDATE tokens SET revoked_at = ?2 WHERE name = ?1 AND revoked_at IS NULL")
        .and_then(|mut update| update.execute((name, at.as_micros())))
        .map_err(|cause| scope.error(&cause))?;
    call.record(scope, at, &[revoked as i64])?;
    Ok(revoked == 1)
}

/// See [`Store::token_find`](cola_ia_core::store::Store::token_find).
pub(super) fn find(connection: &Connection, hash: TokenHash) -> rusqlite::Result<Option<TokenView>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM tokens WHERE hash = ?1"))?
        .query_row([hash.0], view)
        .optional()
}

/// See [`Store::tokens`](cola_ia_core::store::Store::tokens).
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<TokenView>> {
    connection.prepare_cached(&format!("SELECT {COLUMNS} FROM tokens ORDER BY name"))?.query_map([], view)?.collect()
}

fn of_name(connection: &Connection, name: &str) -> rusqlite::Result<Option<TokenView>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM tokens WHERE name = ?1"))?
        .query_row([name], view)
        .optional()
}

fn view(row: &Row<'_>) -> rusqlite::Result<TokenView> {
    let scope = |word: &str| TokenScope::from_word(word).ok_or_else(|| row::unexpected("scope", word));
    Ok(TokenView {
        name: row.get(0)?,
        scopes: row.get_ref(1)?.as_str()?.split_whitespace().map(scope).collect::<rusqlite::Result<_>>()?,
        sources: row.get_ref(2)?.as_str()?.split_whitespace().map(row::source).collect::<rusqlite::Result<_>>()?,
        created_at: row::time(row, 3)?,
        expires_at: row::maybe_time(row, 4)?,
        revoked_at: row::maybe_time(row, 5)?,
    })
}
