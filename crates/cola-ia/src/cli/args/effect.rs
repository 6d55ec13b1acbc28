//! The shape of `effect`, and of what `work --effect` shares with it.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command as Clap};
use cola_ia_core::effect::{
    BeginId, Decision, EffectName, EffectState, Evidence, Micros, Otherwise, Policy, RequestHash, SETTLE_DEFAULT,
    parse_request_hash, request_hash,
};
use cola_ia_core::job::LeaseToken;
use cola_ia_core::store::{Cursor, Failure, RESOURCE_ID_MAX_BYTES};

use super::super::Problem;
use super::super::effect::report::told_file;
use super::super::effect::{
    BeginOptions, DecideOptions, EffectCommandOptions, EffectListOptions, ResultFrom, TryOptions, TrySaid,
};
use super::super::holder::no_lease;
use super::{Make, PAGE_MAX, input, number, os, path, read_report, source, text, unknown_word, utf8};
use crate::config::Kind;
use crate::effect::{CALL_TIME, EffectCommand, EffectOptions, EffectRunOptions, LONGEST, SEND_WITHIN, evidence};
use crate::lang::Message;

/// What belongs to `--effect` of `work`, and makes no sense without it.
const OF_WORK: [&str; 7] = ["lookup-line", "key-ttl", "settle", "otherwise", "retry-below", "max-cost", "send-within"];

/// The shortest time in which something can be sent.
const LEAST: Duration = Duration::from_secs(1);

impl Make<'_> {
    pub(super) fn effect(&self) -> Clap {
        self.command("effect", "effect")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommand(self.effect_run())
            .subcommand(self.effect_begin())
            .subcommand(self.effect_done())
            .subcommand(self.effect_failed())
            .subcommand(self.effect_unknown())
            .subcommand(self.effect_resolve())
            .subcommand(self.effect_list())
            .subcommand(
                self.command("find", "effect-find")
                    .arg(self.option("resource", "value-resource").help(self.t("arg-find-resource")).required(true))
                    .arg(self.flag("json")),
            )
    }

    fn effect_run(&self) -> Clap {
        self.with_policy(self.command("run", "effect-run").arg(self.name()), true)
            .arg(self.positional("exec", "value-exec").required(true).num_args(1..).last(true))
            .arg(self.option("timeout", "value-length").help(self.t("arg-effect-timeout")))
            .arg(self.option("request", "value-text").help(self.t("arg-request-run")).allow_hyphen_values(true))
            .arg(self.lease_option())
    }

    fn effect_begin(&self) -> Clap {
        self.with_policy(self.command("begin", "effect-begin").arg(self.name()), false)
            .arg(self.option("call-time", "value-length"))
            .arg(self.option("request", "value-text").allow_hyphen_values(true))
            .arg(self.option("request-hash", "value-hash"))
            .arg(self.option("begin-id", "value-hex"))
            .arg(self.lease_option())
            .arg(self.flag("json"))
    }

    fn effect_done(&self) -> Clap {
        let command = self
            .command("done", "effect-done")
            .arg(self.name())
            .arg(self.try_option())
            .arg(self.option("resource", "value-resource").alias("resource-id").allow_hyphen_values(true));
        self.evidence(command).arg(self.lease_option()).arg(self.flag("json"))
    }

    fn effect_failed(&self) -> Clap {
        self.command("failed", "effect-failed")
            .arg(self.name())
            .arg(self.try_option())
            .arg(self.flag("rejected"))
            .arg(self.flag("not-sent"))
            .arg(self.note())
            .arg(self.lease_option())
            .arg(self.flag("json"))
    }

    fn effect_unknown(&self) -> Clap {
        self.command("unknown", "effect-unknown")
            .arg(self.name())
            .arg(self.try_option())
            .arg(self.note())
            .arg(self.lease_option())
            .arg(self.flag("json"))
    }

    fn effect_resolve(&self) -> Clap {
        let command = self
            .command("resolve", "effect-resolve")
            .arg(self.positional("of-effect", "value-of-effect").required(true).num_args(1..=2))
            .arg(self.option("happened", "value-resource").action(ArgAction::Append).allow_hyphen_values(true))
            .arg(self.flag("did-not-happen"))
            .arg(self.flag("abandon"))
            .arg(self.try_option().help(self.t("arg-try-looked-at")))
            .arg(self.option("source", "value-source").help(self.t("arg-source-only")))
            .arg(self.note())
            .arg(self.option("ticket", "value-number"))
            .arg(self.option("found", "value-resource").allow_hyphen_values(true))
            .arg(self.flag("absent"));
        self.evidence(command).arg(self.lease_option()).arg(self.flag("json"))
    }

    fn effect_list(&self) -> Clap {
        self.command("list", "effect-list")
            .arg(self.option("state", "value-state").action(ArgAction::Append).help(self.t("arg-effect-state")))
            .arg(self.option("source", "value-source").action(ArgAction::Append).help(self.t("arg-source-filter")))
            .arg(self.flag("alarm"))
            .arg(self.option("limit", "value-number").help(self.t("arg-effect-limit")))
            .arg(self.option("after", "value-place").help(self.t("arg-after-place")))
            .arg(self.flag("json"))
    }

    /// `--effect` of `work`, and what belongs to it.
    pub(super) fn with_effect(&self, command: Clap) -> Clap {
        self.with_policy(command.arg(self.option("effect", "value-effect")), true)
    }

    fn with_policy(&self, command: Clap, is_command: bool) -> Clap {
        let lookup =
            if is_command { self.option("lookup-line", "value-lookup").long("lookup") } else { self.flag("lookup") };
        command
            .arg(self.option("key-ttl", "value-length"))
            .arg(lookup)
            .arg(self.option("settle", "value-length"))
            .arg(self.option("otherwise", "value-otherwise"))
            .arg(self.option("retry-below", "value-cost"))
            .arg(self.option("max-cost", "value-cost"))
            .arg(self.option("send-within", "value-length"))
    }

    fn evidence(&self, command: Clap) -> Clap {
        command
            .arg(self.option("result", "value-json").help(self.t("arg-effect-result")))
            .arg(self.option("result-file", "value-file"))
            .arg(self.option("cost", "value-cost"))
            .arg(self.option("tokens-in", "value-number"))
            .arg(self.option("tokens-out", "value-number"))
            .arg(self.option("model", "value-text"))
    }

    fn name(&self) -> Arg {
        self.positional("effect-name", "value-effect").required(true)
    }

    fn try_option(&self) -> Arg {
        self.option("try", "value-number")
    }

    fn note(&self) -> Arg {
        self.option("note", "value-text").allow_hyphen_values(true).help(self.t("arg-effect-note"))
    }

    fn lease_option(&self) -> Arg {
        self.option("of-lease", "value-lease").long("lease").help(self.t("arg-held"))
    }
}

pub(super) fn read(matches: &ArgMatches) -> Result<EffectCommandOptions, Problem> {
    let (verb, matches) = matches.subcommand().unwrap_or(("list", matches));
    Ok(match verb {
        "run" => EffectCommandOptions::Run(read_run(matches)?),
        "begin" => EffectCommandOptions::Begin(BeginOptions {
            effect: read_effect(matches, name(matches, "effect-name")?, "call-time")?,
            lease: lease(matches)?,
            begin_id: text(matches, "begin-id")?
                .map(|word| BeginId::parse(word).ok_or_else(|| not_hex("--begin-id", word, 32)))
                .transpose()?,
            request: read_request(matches)?,
            json: matches.get_flag("json"),
        }),
        "resolve" => read_resolve(matches)?,
        "list" | "find" => EffectCommandOptions::List(read_list(matches, verb == "find")?),
        _ => {
            let note = || Ok::<_, Problem>(text(matches, "note")?.map(str::to_owned));
            let said = match verb {
                "done" => {
                    let resource_id = text(matches, "resource")?.map(str::to_owned);
                    TrySaid::Happened {
                        resource_id,
                        result: read_result(matches)?,
                        report: read_report(matches)?,
                        looked: false,
                    }
                }
                "failed" => match (matches.get_flag("rejected"), matches.get_flag("not-sent")) {
                    (true, false) => TrySaid::Failed(Failure::Rejected, note()?),
                    (false, true) => TrySaid::Failed(Failure::NotSent, note()?),
                    _ => return Err(Problem::usage(Message::new("usage-why-failed"))),
                },
                _ => TrySaid::Unknown(note()?),
            };
            let number = number(matches, "try", u64::from(u32::MAX))?
                .ok_or_else(|| Problem::usage(Message::new("usage-effect-try")))?;
            EffectCommandOptions::Report(TryOptions {
                name: name(matches, "effect-name")?,
                lease: lease(matches)?,
                number: number as u32,
                said,
                json: matches.get_flag("json"),
            })
        }
    })
}

/// `--effect` of `work`, where it is given.
pub(super) fn read_of_work(matches: &ArgMatches) -> Result<Option<EffectCommand>, Problem> {
    if os(matches, "effect").is_some() {
        // Nobody could say when what is sent has taken effect.
        let is_endless = text(matches, "timeout")?.is_some_and(|word| {
            let digits = word.trim().trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
            matches!(word.trim(), "never" | "nunca") || !digits.is_empty() && digits.bytes().all(|digit| digit == b'0')
        });
        if is_endless {
            return Err(Problem::usage(Message::new("usage-effect-endless")));
        }
        return read_command(matches, name(matches, "effect")?, None).map(Some);
    }
    match OF_WORK.into_iter().find(|option| os(matches, option).is_some()) {
        None => Ok(None),
        Some(option) => {
            let option = option.trim_end_matches("-line");
            Err(Problem::usage(Message::new("usage-without-effect").with("option", format!("--{option}"))))
        }
    }
}

fn read_run(matches: &ArgMatches) -> Result<EffectRunOptions, Problem> {
    let mut command = matches.get_many::<OsString>("exec").into_iter().flatten().cloned();
    let program = command.next().unwrap_or_default();
    Ok(EffectRunOptions {
        of: read_command(matches, name(matches, "effect-name")?, Some("timeout"))?,
        lease: lease(matches)?,
        request: os(matches, "request").map(OsString::from),
        program,
        args: command.collect(),
    })
}

fn read_command(matches: &ArgMatches, name: EffectName, time: Option<&'static str>) -> Result<EffectCommand, Problem> {
    let lookup = os(matches, "lookup-line").map(OsString::from);
    if lookup.as_ref().is_some_and(|line| line.as_encoded_bytes().trim_ascii().is_empty()) {
        return Err(Problem::usage(Message::new("usage-no-value").with("option", "--lookup")));
    }
    let mut effect = read_effect(matches, name, time.unwrap_or_default())?;
    effect.policy.lookup = lookup.is_some();
    if os(matches, "settle").is_some() && lookup.is_none() {
        return Err(Problem::usage(Message::new("usage-settle-without-lookup")));
    }
    Ok(EffectCommand { effect, lookup })
}

/// `time`: the option that says how long the call takes; empty: none does.
fn read_effect(matches: &ArgMatches, name: EffectName, time: &'static str) -> Result<EffectOptions, Problem> {
    let otherwise = match text(matches, "otherwise")? {
        None => Otherwise::Hold,
        Some(word) => Otherwise::from_word(word)
            .ok_or_else(|| unknown_word("--otherwise", word, &Otherwise::ALL.map(Otherwise::as_str)))?,
    };
    // With a command it is a line, and the flag is not there.
    let lookup = matches.try_get_one::<bool>("lookup").ok().flatten().copied().unwrap_or_default();
    let expected = money(matches, "max-cost")?;
    let retry_below = money(matches, "retry-below")?;
    if retry_below.is_some() && expected.is_none() {
        return Err(Problem::usage(Message::new("usage-retry-below-max-cost"))
            .hint(Message::new("usage-retry-below-max-cost-hint")));
    }
    Ok(EffectOptions {
        name,
        policy: Policy {
            key_ttl: length(matches, "key-ttl")?,
            lookup,
            settle: length(matches, "settle")?.unwrap_or(SETTLE_DEFAULT),
            otherwise,
            retry_below,
        },
        expected,
        send_within: length_from(matches, "send-within", if time == "call-time" { Duration::ZERO } else { LEAST })?
            .unwrap_or(SEND_WITHIN),
        call_time: match time {
            "" => None,
            // A command that has no time is killed at once; a call that is not one may take none.
            "timeout" => length_from(matches, time, LEAST)?,
            _ => length(matches, time)?,
        }
        .unwrap_or(CALL_TIME),
    })
}

fn read_request(matches: &ArgMatches) -> Result<Option<RequestHash>, Problem> {
    match (os(matches, "request"), text(matches, "request-hash")?) {
        (Some(_), Some(_)) => Err(Problem::usage(Message::new("usage-request-both"))),
        (Some(words), None) => Ok(Some(request_hash([words.as_encoded_bytes()]))),
        (None, Some(word)) => parse_request_hash(word).map(Some).ok_or_else(|| not_hex("--request-hash", word, 64)),
        (None, None) => Ok(None),
    }
}

fn read_result(matches: &ArgMatches) -> Result<Option<ResultFrom>, Problem> {
    match (os(matches, "result"), path(matches, "result-file")) {
        (Some(_), Some(_)) => Err(Problem::usage(Message::new("usage-result-both"))),
        (None, Some(file)) => Ok(Some(ResultFrom::Input(input(file)))),
        // `complete --result` names a file: whoever is used to that is understood.
        (Some(word), None) if word.as_encoded_bytes().trim_ascii_start().starts_with(b"{") => {
            Ok(Some(ResultFrom::Json(utf8("result", word)?.to_owned())))
        }
        (Some(word), None) => Ok(Some(ResultFrom::Input(input(word.into())))),
        (None, None) => Ok(None),
    }
}

fn read_resolve(matches: &ArgMatches) -> Result<EffectCommandOptions, Problem> {
    let words: Vec<&OsString> = matches.get_many::<OsString>("of-effect").into_iter().flatten().collect();
    let happened: Vec<&OsString> = matches.get_many::<OsString>("happened").into_iter().flatten().collect();
    let by_person = !happened.is_empty() || matches.get_flag("did-not-happen") || matches.get_flag("abandon");
    let by_worker = os(matches, "ticket").is_some() || os(matches, "found").is_some() || matches.get_flag("absent");
    let how =
        || Problem::usage(Message::new("usage-effect-resolve-how")).hint(Message::new("usage-effect-resolve-how-hint"));
    let told = (tells(matches), os(matches, "note").is_some());
    if by_person == by_worker {
        return Err(how());
    }
    if by_worker {
        let [word] = words[..] else { return Err(how()) };
        if told.1 || os(matches, "try").is_some() || os(matches, "source").is_some() {
            return Err(how());
        }
        let ticket = number(matches, "ticket", u64::from(u32::MAX))?
            .ok_or_else(|| Problem::usage(Message::new("usage-effect-ticket")))?;
        let said = match (text(matches, "found")?, matches.get_flag("absent")) {
            (Some(found), false) => TrySaid::Happened {
                resource_id: Some(found.to_owned()),
                result: read_result(matches)?,
                report: read_report(matches)?,
                looked: true,
            },
            (None, true) if !told.0 => TrySaid::Absent,
            _ => return Err(how()),
        };
        return Ok(EffectCommandOptions::Report(TryOptions {
            name: name_of(utf8("NAME", word)?)?,
            lease: lease(matches)?,
            number: ticket as u32,
            said,
            json: matches.get_flag("json"),
        }));
    }
    let [id, word] = words[..] else { return Err(how()) };
    let mut found = Vec::new();
    for resource in happened {
        let resource = utf8("--happened", resource)?;
        if resource.trim().is_empty() || resource.len() > RESOURCE_ID_MAX_BYTES {
            let limit = RESOURCE_ID_MAX_BYTES as u64;
            return Err(Problem::usage(Message::new("usage-resource-too-long").number("limit", limit)));
        }
        found.push(Evidence { resource_id: Some(resource.to_owned()), ..Evidence::default() });
    }
    if tells(matches) {
        // It belongs to what happened, and of several nobody says to which.
        let [only] = &mut found[..] else { return Err(how()) };
        let file = told_file(read_result(matches)?, &read_report(matches)?)?;
        if file.currency.is_some() {
            return Err(how());
        }
        *only = Evidence { resource_id: only.resource_id.take(), ..evidence(file) };
    }
    if os(matches, "of-lease").is_some() {
        return Err(how());
    }
    let decision = match (found.is_empty(), matches.get_flag("did-not-happen"), matches.get_flag("abandon")) {
        (false, false, false) => Decision::Found(found),
        (true, true, false) => Decision::Absent,
        (true, false, true) => Decision::Abandon,
        _ => return Err(how()),
    };
    Ok(EffectCommandOptions::Decide(DecideOptions {
        id: utf8("ID", id)?.to_owned(),
        source: source(matches)?,
        name: name_of(utf8("NAME", word)?)?,
        number: number(matches, "try", u64::from(u32::MAX))?.map(|number| number as u32),
        decision,
        note: text(matches, "note")?.map(str::to_owned),
        json: matches.get_flag("json"),
    }))
}

/// Whether anything is told of what was sent, beside its id.
fn tells(matches: &ArgMatches) -> bool {
    ["result", "result-file", "cost", "tokens-in", "tokens-out", "model"]
        .into_iter()
        .any(|option| os(matches, option).is_some())
}

fn read_list(matches: &ArgMatches, find: bool) -> Result<EffectListOptions, Problem> {
    if find {
        return Ok(EffectListOptions {
            states: Vec::new(),
            sources: Vec::new(),
            resource_id: text(matches, "resource")?.map(str::to_owned),
            alarmed: false,
            limit: None,
            after: None,
            json: matches.get_flag("json"),
        });
    }
    let mut states = Vec::new();
    for word in matches.get_many::<OsString>("state").into_iter().flatten() {
        for word in utf8("--state", word)?.split(',') {
            let state = EffectState::ALL.into_iter().find(|state| state.as_str() == word || state.in_spanish() == word);
            let known = [EffectState::ALL.map(EffectState::as_str), EffectState::ALL.map(EffectState::in_spanish)];
            states.push(state.ok_or_else(|| unknown_word("--state", word, &known.concat()))?);
        }
    }
    let mut sources = Vec::new();
    for word in matches.get_many::<OsString>("source").into_iter().flatten() {
        sources.push(super::source_named("--source", utf8("--source", word)?)?);
    }
    Ok(EffectListOptions {
        states,
        sources,
        resource_id: None,
        alarmed: matches.get_flag("alarm"),
        limit: number(matches, "limit", u64::from(PAGE_MAX))?.map(|limit| limit as u32),
        after: text(matches, "after")?.map(|place| Cursor(place.to_owned())),
        json: matches.get_flag("json"),
    })
}

fn name(matches: &ArgMatches, argument: &'static str) -> Result<EffectName, Problem> {
    name_of(text(matches, argument)?.unwrap_or_default())
}

fn name_of(word: &str) -> Result<EffectName, Problem> {
    EffectName::new(word).ok_or_else(|| {
        Problem::usage(Message::new("usage-effect-name").with("value", word))
            .hint(Message::new("usage-effect-name-hint"))
    })
}

fn lease(matches: &ArgMatches) -> Result<Option<LeaseToken>, Problem> {
    text(matches, "of-lease")?.map(|word| LeaseToken::parse(word).ok_or_else(|| no_lease(word))).transpose()
}

fn money(matches: &ArgMatches, option: &'static str) -> Result<Option<Micros>, Problem> {
    text(matches, option)?
        .map(|word| {
            Micros::parse(word).ok_or_else(|| {
                let option = format!("--{option}");
                Problem::usage(Message::new("usage-not-a-cost").with("option", option).with("value", word))
            })
        })
        .transpose()
}

/// A length of time; a number alone is seconds.
fn length(matches: &ArgMatches, option: &'static str) -> Result<Option<Duration>, Problem> {
    length_from(matches, option, Duration::ZERO)
}

fn length_from(matches: &ArgMatches, option: &'static str, min: Duration) -> Result<Option<Duration>, Problem> {
    let Some(word) = os(matches, option) else { return Ok(None) };
    let mut word = word.to_owned();
    if !word.is_empty() && word.as_encoded_bytes().iter().all(u8::is_ascii_digit) {
        word.push("s");
    }
    let kind = Kind::Duration { min, max: LONGEST };
    Ok(kind.parse_flag(&format!("--{option}"), &word)?.as_duration())
}

fn not_hex(option: &str, word: &str, digits: u64) -> Problem {
    let message = Message::new("usage-not-hex").with("option", option).with("value", word);
    Problem::usage(message.number("digits", digits))
}
