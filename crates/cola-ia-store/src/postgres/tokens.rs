//! Tokens: who may do what over the network.

use cola_ia_core::event::Source;
use cola_ia_core::store::{
    ErrorKind, OpId, StoreError, TokenHash, TokenRequest, TokenScope, TokenView, token_malformed,
};
use tokio_postgres::Row;

use super::error::Fault;
use super::ops::Call;
use super::row::{Columns as _, unexpected};
use super::sql::{micros, params};
use super::tx::Tx;
use crate::common::digest::digest;
use crate::common::token::{digest_of, scopes, sources};

/// See [`Store::token_create`](cola_ia_core::store::Store::token_create).
pub(super) async fn create(tx: &Tx, op: OpId, request: &TokenRequest) -> Result<TokenView, Fault> {
    let request = request.checked()?;
    let call = Call { op, verb: "token_create", request: digest_of(&request) };
    let here = of_name(tx, &request.name).await?;
    if call.first_answer(tx).await?.is_some() {
        // As it was made: what became of it since is not part of the answer.
        let view = here.ok_or_else(|| unexpected("token", "made and not there"))?;
        return Ok(TokenView { revoked_at: None, ..view });
    }
    if here.is_some() {
        return Err(StoreError::new(ErrorKind::Conflict, "token_name_taken").with("name", &request.name).into());
    }
    if find(tx, request.hash).await?.is_some() {
        return Err(token_malformed("hash").into());
    }
    tx.execute(
        "INSERT INTO tokens (name, hash, scopes, sources, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)",
        params![
            request.name,
            &request.hash.0[..],
            scopes(&request.scopes),
            sources(&request.sources),
            tx.now.as_micros(),
            micros(request.expires_at),
        ],
    )
    .await?;
    call.record(tx, &[]).await?;
    let TokenRequest { name, scopes, sources, expires_at, .. } = request;
    Ok(TokenView { name, scopes, sources, created_at: tx.now, expires_at, revoked_at: None })
}

/// See [`Store::token_revoke`](cola_ia_core::store::Store::token_revoke).
pub(super) async fn revoke(tx: &Tx, op: OpId, name: &str) -> Result<bool, Fault> {
    let call = Call { op, verb: "token_revoke", request: digest(&[name.as_bytes()]) };
    if let Some(mut answer) = call.first_answer(tx).await? {
        return Ok(answer.take()? == 1);
    }
    // No name has U+0000, and the server would not even be asked.
    let revoked = if name.contains('\0') {
        0
    } else {
        tx.execute(
            "UPDATE tokens SET revoked_at = $2 WHERE name = $1 AND revoked_at IS NULL",
            params![name, tx.now.as_micros()],
        )
        .await?
    };
    call.record(tx, &[revoked as i64]).await?;
    Ok(revoked == 1)
}

const COLUMNS: &str = "name, scopes, sources, created_at, expires_at, revoked_at";

/// See [`Store::token_find`](cola_ia_core::store::Store::token_find).
pub(super) async fn find(tx: &Tx, hash: TokenHash) -> Result<Option<TokenView>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM tokens WHERE hash = $1");
    tx.maybe(&sql, params![&hash.0[..]]).await?.map(|row| view(&row)).transpose()
}

/// See [`Store::tokens`](cola_ia_core::store::Store::tokens).
pub(super) async fn all(tx: &Tx) -> Result<Vec<TokenView>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM tokens ORDER BY name");
    tx.query(&sql, params![]).await?.iter().map(view).collect()
}

async fn of_name(tx: &Tx, name: &str) -> Result<Option<TokenView>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM tokens WHERE name = $1");
    tx.maybe(&sql, params![name]).await?.map(|row| view(&row)).transpose()
}

fn view(row: &Row) -> Result<TokenView, Fault> {
    let scope = |word: &str| TokenScope::from_word(word).ok_or_else(|| unexpected("scope", word));
    let source = |name: &str| Source::new(name).map_err(|_| unexpected("source", name));
    Ok(TokenView {
        name: row.read(0)?,
        scopes: row.read::<&str>(1)?.split_whitespace().map(scope).collect::<Result<_, _>>()?,
        sources: row.read::<&str>(2)?.split_whitespace().map(source).collect::<Result<_, _>>()?,
        created_at: row.time(3)?,
        expires_at: row.maybe_time(4)?,
        revoked_at: row.maybe_time(5)?,
    })
}
