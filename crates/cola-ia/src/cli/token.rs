//! `token`: who may do what over the network.

use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::event::Source;
use cola_ia_core::store::{OpId, Store, StoreError, TokenHash, TokenRequest, TokenScope, TokenView};
use cola_ia_wire::TokenLine;
use pollster::block_on;

use super::add::push_json;
use super::{Exit, Problem, Session, print};
use crate::config::{Settings, nearest};
use crate::http::auth::{hash_of, new_token};
use crate::lang::{Lang, Message};
use crate::print::{Cell, Paint, Table};
use crate::store;

/// The options of `token`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenOptions {
    /// `create`
    Create {
        /// `NAME`
        name: String,
        /// `--scope`
        scopes: Vec<TokenScope>,
        /// `--source`
        sources: Vec<Source>,
        /// `--expires`
        expires_at: Option<Timestamp>,
    },
    /// `list`
    List {
        /// `--json`
        json: bool,
    },
    /// `revoke`
    Revoke {
        /// `NAME`
        name: String,
    },
}

/// Runs the command.
///
/// # Errors
/// The store's; that of stdout.
pub fn run(session: &Session, options: &TokenOptions, settings: &Settings) -> Result<Exit, Problem> {
    match options {
        TokenOptions::Create { name, scopes, sources, expires_at } => {
            let request = TokenRequest {
                name: name.clone(),
                hash: TokenHash([0; 32]),
                scopes: scopes.clone(),
                sources: sources.clone(),
                expires_at: *expires_at,
            };
            create(session, &*store::change(session, settings)?, request)
        }
        TokenOptions::List { json } => list(session, *json, &*store::view(session, settings)?),
        TokenOptions::Revoke { name } => revoke(session, &*store::change(session, settings)?, name),
    }
}

fn of_store<T>(asked: impl Future<Output = Result<T, StoreError>>) -> Result<T, Problem> {
    block_on(asked).map_err(|error| Problem::from_store(&error))
}

/// The token is printed only once it is kept, and nowhere else.
fn create(session: &Session, store: &dyn Store, request: TokenRequest) -> Result<Exit, Problem> {
    let token = new_token(&SystemEntropy);
    let op = OpId::new(&SystemClock, &SystemEntropy);
    let view = of_store(store.token_create(op, TokenRequest { hash: hash_of(&token), ..request }))?;
    print(&format!("{token}\n"))?;
    session.note(&Message::new("token-created").with("name", &view.name).with("scopes", scopes_of(&view)));
    if let Some(end) = view.expires_at {
        session.note(&Message::new("token-ends").with("end", end.to_rfc3339()));
    }
    session.hint(&Message::new("token-created-hint"));
    Ok(Exit::Done)
}

fn scopes_of(view: &TokenView) -> String {
    view.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(",")
}

fn list(session: &Session, json: bool, store: &dyn Store) -> Result<Exit, Problem> {
    let (tokens, now) = (of_store(store.tokens())?, SystemClock.now());
    if json {
        let mut out = String::new();
        for view in &tokens {
            push_json(&mut out, &TokenLine::new(view, now));
        }
        return print(&out);
    }
    if tokens.is_empty() {
        session.note(&Message::new("token-none"));
        session.hint(&Message::new("token-none-hint"));
        return Ok(Exit::Done);
    }
    print(&as_table(&session.lang, &tokens, now, session.colour.stdout))
}

fn as_table(lang: &Lang, tokens: &[TokenView], now: Timestamp, colour: bool) -> String {
    let head =
        ["column-token-state", "column-scopes", "column-sources", "column-created", "column-ends", "column-name"];
    let mut table = Table::new(head.map(|key| Cell::new(lang.word(key))).to_vec());
    let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    for view in tokens {
        let state = match TokenLine::new(view, now).state.as_ref() {
            "revoked" => Cell::new(lang.word("token-state-revoked")).painted(Paint::Bad),
            "expired" => Cell::new(lang.word("token-state-expired")).painted(Paint::Alarm),
            _ => Cell::new(lang.word("token-state-live")),
        };
        let sources = view.sources.iter().map(Source::as_str).collect::<Vec<_>>().join(",");
        table.push(vec![
            state,
            Cell::new(scopes_of(view)),
            Cell::new(or_dash(sources)),
            Cell::new(view.created_at.to_rfc3339()),
            Cell::new(or_dash(view.expires_at.map_or_else(String::new, Timestamp::to_rfc3339))),
            Cell::new(crate::print::safe_line(&view.name)),
        ]);
    }
    table.render(colour)
}

fn revoke(session: &Session, store: &dyn Store, name: &str) -> Result<Exit, Problem> {
    let op = OpId::new(&SystemClock, &SystemEntropy);
    if of_store(store.token_revoke(op, name.to_owned()))? {
        session.note(&Message::new("token-revoked").with("name", name));
        return Ok(Exit::Done);
    }
    let known = of_store(store.tokens())?;
    if known.iter().any(|view| view.name == name) {
        session.note(&Message::new("token-was-revoked").with("name", name));
        return Ok(Exit::Done);
    }
    let problem = Problem::failed(Message::new("token-unknown").with("name", name));
    Err(match nearest(name, known.iter().map(|view| view.name.as_str())) {
        Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
        None => problem.hint(Message::new("token-unknown-hint")),
    })
}
