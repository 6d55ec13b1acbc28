//! The shape of `source` and `token`.

use std::ffi::OsString;
use std::time::Duration;

use clap::{ArgAction, ArgMatches, Command as Clap};
use cola_ia_core::age::parse_age;
use cola_ia_core::clock::{Clock as _, SystemClock, Timestamp};
use cola_ia_core::event::Source;
use cola_ia_core::store::TokenScope;

use super::super::Problem;
use super::super::source::{AddSource, CheckRequest, SourceOptions, TestSource};
use super::super::token::TokenOptions;
use super::{Make, path, source_named, text, unknown_word, utf8};
use crate::lang::Message;

/// The longest life of a token that ends by itself; one without an end has none.
const LIFE_MAX: Duration = Duration::from_hours(24 * 36_525);

impl Make<'_> {
    pub(super) fn source(&self) -> Clap {
        let name = || self.positional("of-source", "value-of-source").required(true);
        self.command("source", "source")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommand(
                self.command("add", "source-add")
                    .arg(self.positional("scheme", "value-scheme").required(true))
                    .arg(self.option("name-of-source", "value-source").long("name")),
            )
            .subcommand(self.command("list", "source-list").arg(self.flag("schemes")).arg(self.flag("json")))
            .subcommand(
                self.command("check", "source-check")
                    .arg(name())
                    .arg(self.option("request", "value-file").help(self.t("arg-request-file")).required(true))
                    .arg(self.option("at", "value-instant").help(self.t("arg-check-at")))
                    .arg(self.flag("json")),
            )
            .subcommand(
                self.command("test", "source-test")
                    .arg(name())
                    .arg(self.option("url", "value-url"))
                    .arg(self.option("id", "value-id").help(self.t("arg-sample-id")).allow_hyphen_values(true))
                    .arg(self.option("sample-text", "value-text").long("text").allow_hyphen_values(true))
                    .arg(self.flag("json")),
            )
    }

    pub(super) fn token(&self) -> Clap {
        let name = || self.positional("token", "value-token").required(true);
        self.command("token", "token")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommand(
                self.command("create", "token-create")
                    .arg(name())
                    .arg(self.option("scope", "value-scope").action(ArgAction::Append).required(true))
                    .arg(
                        self.option("source", "value-source")
                            .help(self.t("arg-token-source"))
                            .action(ArgAction::Append),
                    )
                    .arg(self.option("expires", "value-age")),
            )
            .subcommand(self.command("list", "token-list").arg(self.flag("json")))
            .subcommand(self.command("revoke", "token-revoke").arg(name()))
    }
}

pub(super) fn read_source(matches: &ArgMatches) -> Result<SourceOptions, Problem> {
    let (name, matches) = matches.subcommand().unwrap_or(("list", matches));
    let source = || source_named("SOURCE", text(matches, "of-source")?.unwrap_or_default());
    Ok(match name {
        "add" => SourceOptions::Add(AddSource {
            scheme: text(matches, "scheme")?.unwrap_or_default().to_owned(),
            name: text(matches, "name-of-source")?.map(|name| source_named("--name", name)).transpose()?,
        }),
        "check" => SourceOptions::Check(CheckRequest {
            source: source()?,
            request: path(matches, "request").unwrap_or_default(),
            at: text(matches, "at")?.map(instant).transpose()?,
            json: matches.get_flag("json"),
        }),
        "test" => SourceOptions::Test(TestSource {
            source: source()?,
            url: text(matches, "url")?.map(str::to_owned),
            id: text(matches, "id")?.map(str::to_owned),
            text: text(matches, "sample-text")?.map(str::to_owned),
            json: matches.get_flag("json"),
        }),
        _ => SourceOptions::List { schemes: matches.get_flag("schemes"), json: matches.get_flag("json") },
    })
}

fn instant(word: &str) -> Result<Timestamp, Problem> {
    let message = || Message::new("usage-not-an-instant").with("option", "--at").with("value", word);
    Timestamp::parse_rfc3339(word).ok_or_else(|| Problem::usage(message()))
}

pub(super) fn read_token(matches: &ArgMatches) -> Result<TokenOptions, Problem> {
    let (name, matches) = matches.subcommand().unwrap_or(("list", matches));
    let token = || Ok::<_, Problem>(text(matches, "token")?.unwrap_or_default().to_owned());
    Ok(match name {
        "create" => TokenOptions::Create {
            name: token()?,
            scopes: scopes(matches)?,
            sources: sources(matches)?,
            expires_at: text(matches, "expires")?.map(end).transpose()?,
        },
        "revoke" => TokenOptions::Revoke { name: token()? },
        _ => TokenOptions::List { json: matches.get_flag("json") },
    })
}

/// `--scope ingest,work`, or the option several times.
fn scopes(matches: &ArgMatches) -> Result<Vec<TokenScope>, Problem> {
    let mut scopes = Vec::new();
    for words in matches.get_many::<OsString>("scope").into_iter().flatten() {
        for word in utf8("scope", words)?.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let known = TokenScope::ALL.map(TokenScope::as_str);
            scopes.push(TokenScope::from_word(word).ok_or_else(|| unknown_word("--scope", word, &known))?);
        }
    }
    if scopes.is_empty() {
        return Err(Problem::usage(Message::new("usage-no-value").with("option", "--scope")));
    }
    Ok(scopes)
}

fn sources(matches: &ArgMatches) -> Result<Vec<Source>, Problem> {
    let names = matches.get_many::<OsString>("source").into_iter().flatten();
    names.map(|name| source_named("--source", utf8("source", name)?)).collect()
}

fn end(word: &str) -> Result<Timestamp, Problem> {
    if let Some(life) = parse_age(word).filter(|life| (Duration::from_secs(1)..=LIFE_MAX).contains(life)) {
        return Ok(SystemClock.now().after(life));
    }
    let fault = Message::new("fault-not-age").with("value", word);
    Err(Problem::usage(Message::new("setting-value").with("place", "--expires").message("fault", fault))
        .hint(Message::new("fault-not-age-hint")))
}
