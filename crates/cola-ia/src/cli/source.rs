//! `source`: senders, added, listed, explained and tried.

mod add;
mod check;
mod list;
mod send;

use std::path::PathBuf;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_webhook::{Scheme, catalogue};

use super::{Exit, Problem, Session};
use crate::config::{Flags, Settings, SourceConfig, nearest};
use crate::lang::Message;

/// The options of `source`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceOptions {
    /// `add`
    Add(AddSource),
    /// `list`
    List {
        /// `--schemes`
        schemes: bool,
        /// `--json`
        json: bool,
    },
    /// `check`
    Check(CheckRequest),
    /// `test`
    Test(TestSource),
}

/// The options of `source add`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddSource {
    /// `SCHEME`
    pub scheme: String,
    /// `--name`
    pub name: Option<Source>,
}

/// The options of `source check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRequest {
    /// `NAME`
    pub source: Source,
    /// `--request`; `-` is stdin.
    pub request: PathBuf,
    /// `--at`: as if it were this instant.
    pub at: Option<Timestamp>,
    /// `--json`
    pub json: bool,
}

/// The options of `source test`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestSource {
    /// `NAME`
    pub source: Source,
    /// `--url`: where the server is, if not where the settings say.
    pub url: Option<String>,
    /// `--id`
    pub id: Option<String>,
    /// `--text`
    pub text: Option<String>,
    /// `--json`
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// What keeps it from being done.
pub fn run(session: &Session, options: &SourceOptions, flags: &Flags, settings: &Settings) -> Result<Exit, Problem> {
    match options {
        SourceOptions::Add(add) => add::run(session, add, flags, settings),
        SourceOptions::List { schemes: true, json } => list::schemes(session, *json),
        SourceOptions::List { schemes: false, json } => list::configured(session, *json, settings),
        SourceOptions::Check(check) => check::run(session, check, settings),
        SourceOptions::Test(test) => send::run(session, test, settings),
    }
}

/// Where requests of a source go, as its sender sees it.
fn url_of(settings: &Settings, source: &Source) -> String {
    let base = settings.public_url.clone().unwrap_or_else(|| format!("http://{}", reachable(settings)));
    format!("{base}/in/{source}")
}

/// Where a server on this machine is reached: one that listens everywhere is here as well.
fn reachable(settings: &Settings) -> std::net::SocketAddr {
    let mut address = settings.listen;
    if address.ip().is_unspecified() {
        let here: std::net::IpAddr =
            if address.is_ipv4() { std::net::Ipv4Addr::LOCALHOST.into() } else { std::net::Ipv6Addr::LOCALHOST.into() };
        address.set_ip(here);
    }
    address
}

fn configured<'a>(settings: &'a Settings, name: &Source) -> Result<&'a SourceConfig, Problem> {
    if let Some(source) = settings.sources.iter().find(|source| source.name == *name) {
        return Ok(source);
    }
    let problem = Problem::usage(Message::new("source-unknown").with("source", name));
    Err(match nearest(name.as_str(), settings.sources.iter().map(|source| source.name.as_str())) {
        Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
        None => problem.hint(Message::new("source-unknown-hint")),
    })
}

fn scheme(name: &str) -> Result<&'static Scheme, Problem> {
    if let Some(scheme) = cola_ia_webhook::find(name) {
        return Ok(scheme);
    }
    let problem = Problem::usage(Message::new("source-unknown-scheme").with("scheme", name));
    Err(match nearest(name, catalogue().iter().map(|known| known.name.as_str())) {
        Some(meant) => problem.hint(Message::new("did-you-mean").with("meant", meant)),
        None => problem.hint(Message::new("source-schemes-hint")),
    })
}
