//! Tokens: who may do what over the network.

use std::time::Duration;

use cola_ia_core::store::{ErrorKind, TokenHash, TokenRequest, TokenScope, TokenView};

use super::check::{cases, ensure, ensure_eq, refused};
use crate::clock::ManualClock;
use crate::events::source;
use crate::harness::{Backend, Failure, Scratch, block_on};

cases![
    a_token_is_found_by_its_hash_alone,
    a_name_is_given_once,
    a_revoked_token_stays_on_record,
    tokens_are_checked,
    the_same_op_makes_one_token,
    a_token_outlives_a_reopen,
];

fn request(name: &str, mark: u8) -> TokenRequest {
    TokenRequest {
        name: name.to_owned(),
        hash: TokenHash([mark; 32]),
        scopes: vec![TokenScope::Read, TokenScope::Ingest, TokenScope::Read],
        sources: vec![source("web"), source("form"), source("web")],
        expires_at: Some(ManualClock::START.after(Duration::from_hours(1))),
    }
}

fn create(scratch: &Scratch, request: TokenRequest) -> Result<TokenView, Failure> {
    Ok(block_on(scratch.store().token_create(scratch.op(), request))?)
}

fn find(scratch: &Scratch, mark: u8) -> Result<Option<TokenView>, Failure> {
    Ok(block_on(scratch.store().token_find(TokenHash([mark; 32])))?)
}

fn all(scratch: &Scratch) -> Result<Vec<TokenView>, Failure> {
    Ok(block_on(scratch.store().tokens())?)
}

fn a_token_is_found_by_its_hash_alone(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    ensure_eq!(find(&scratch, 1)?, None, "a token in a new store");
    let at = scratch.clock().advance(5);
    let made = create(&scratch, request("uno", 1))?;
    let expected = TokenView {
        name: "uno".to_owned(),
        scopes: vec![TokenScope::Ingest, TokenScope::Read],
        sources: vec![source("form"), source("web")],
        created_at: at,
        expires_at: request("uno", 1).expires_at,
        revoked_at: None,
    };
    ensure_eq!(made, expected, "what was made");
    ensure_eq!(find(&scratch, 1)?, Some(expected), "what is found");
    ensure_eq!(find(&scratch, 2)?, None, "another hash");
    let plain = TokenRequest { sources: Vec::new(), expires_at: None, ..request("dos", 2) };
    let plain = create(&scratch, plain)?;
    ensure_eq!((plain.sources.len(), plain.expires_at), (0, None), "of all sources, without an end");
    ensure_eq!(all(&scratch)?, [plain, made], "all of them, by name");
    Ok(())
}

fn a_name_is_given_once(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let made = create(&scratch, request("uno", 1))?;
    let store = scratch.store();
    let again = block_on(store.token_create(scratch.op(), request("uno", 2)));
    refused("the name again", again, ErrorKind::Conflict, "token_name_taken")?;
    block_on(store.token_revoke(scratch.op(), "uno".to_owned()))?;
    let again = block_on(store.token_create(scratch.op(), request("uno", 2)));
    refused("the name of a revoked one", again, ErrorKind::Conflict, "token_name_taken")?;
    ensure_eq!(find(&scratch, 2)?, None, "what was refused");
    ensure_eq!(find(&scratch, 1)?.map(|view| view.created_at), Some(made.created_at), "the first one");
    Ok(())
}

fn a_revoked_token_stays_on_record(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    create(&scratch, request("uno", 1))?;
    create(&scratch, request("dos", 2))?;
    let revoke = |name: &str| block_on(scratch.store().token_revoke(scratch.op(), name.to_owned()));
    ensure!(!revoke("tres")?, "a token that is not there was revoked");
    let at = scratch.clock().advance(5);
    ensure!(revoke("uno")?, "it was not revoked");
    scratch.clock().advance(5);
    ensure!(!revoke("uno")?, "it was revoked twice");
    let found = find(&scratch, 1)?;
    ensure_eq!(found.as_ref().and_then(|view| view.revoked_at), Some(at), "when it was revoked");
    ensure!(found.is_some_and(|view| !view.is_live(at)), "it is good for something");
    ensure!(find(&scratch, 2)?.is_some_and(|view| view.is_live(at)), "the other one is not");
    ensure_eq!(all(&scratch)?.len(), 2, "tokens on record");
    Ok(())
}

fn tokens_are_checked(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let wrong = [
        TokenRequest { name: " ".to_owned(), ..request("", 1) },
        TokenRequest { name: "a\nb".to_owned(), ..request("", 1) },
        TokenRequest { name: "a".repeat(129), ..request("", 1) },
        TokenRequest { scopes: Vec::new(), sources: Vec::new(), ..request("a", 1) },
        TokenRequest { scopes: vec![TokenScope::Read], ..request("a", 1) },
    ];
    create(&scratch, request("uno", 9))?;
    let wrong = wrong.into_iter().chain([request("another name", 9)]);
    for request in wrong {
        let what = format!("{request:?}");
        let answer = block_on(scratch.store().token_create(scratch.op(), request));
        refused(&what, answer, ErrorKind::Invalid, "token_malformed")?;
    }
    ensure_eq!(all(&scratch)?.len(), 1, "tokens");
    Ok(())
}

fn the_same_op_makes_one_token(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let (make, revoke) = (scratch.op(), scratch.op());
    let store = scratch.store();
    let first = block_on(store.token_create(make, request("uno", 1)))?;
    scratch.clock().advance(5);
    ensure!(block_on(store.token_revoke(revoke, "uno".to_owned()))?, "it was not revoked");
    ensure!(block_on(store.token_revoke(revoke, "uno".to_owned()))?, "the answer is another one");
    ensure_eq!(block_on(store.token_create(make, request("uno", 1)))?, first, "the answer");
    let other = block_on(store.token_create(make, request("dos", 2)));
    refused("the op for another token", other, ErrorKind::Conflict, "op_reused")?;
    let other = block_on(store.token_revoke(make, "uno".to_owned()));
    refused("the op for another verb", other, ErrorKind::Conflict, "op_reused")?;
    ensure_eq!(all(&scratch)?.len(), 1, "tokens");
    Ok(())
}

fn a_token_outlives_a_reopen(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let made = create(&scratch, request("uno", 1))?;
    scratch.reopen()?;
    ensure_eq!(find(&scratch, 1)?, Some(made), "the token");
    Ok(())
}
