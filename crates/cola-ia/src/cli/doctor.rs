//! `doctor`: what is wrong with the store, and with what is around it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cola_ia_core::clock::Timestamp;
use cola_ia_store::sqlite::doctor::{Fact, Finding, Look, Severity};
use cola_ia_wire::VERSION;
use pollster::block_on;

use super::add::push_json;
use super::errors::STORE_CODES;
use super::jobs::to_the_second;
use super::progress::{Progress, interruptible, problem, size};
use super::{Exit, Problem, Session, print};
use crate::config::Settings;
use crate::lang::{Lang, Message};
use crate::print::Paint;
use crate::store;

/// The options of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorOptions {
    /// `--quick`
    pub quick: bool,
    /// `--json`
    pub json: bool,
}

/// Every code of a finding that is not a store's error. Each has a sentence `doctor-CODE` in the catalogues and, where there
/// is something to do, `doctor-CODE-hint`.
pub const DOCTOR_CODES: [&str; 85] = [
    "arrivals_ahead",
    "attempt_of_nothing",
    "backup",
    "body_of_nothing",
    "clocks_apart",
    "conflict_of_nothing",
    "conflicts_undecided",
    "connections",
    "connections_few",
    "copied",
    "decision_of_nothing",
    "delivery_of_no_conflict",
    "delivery_of_nothing",
    "disk",
    "disk_low",
    "disk_tight",
    "double_effect",
    "effect_of_nothing",
    "event_without_identity",
    "event_without_job",
    "event_without_source",
    "file",
    "file_cut",
    "file_longer",
    "filesystem",
    "filesystem_fuse",
    "filesystem_passing",
    "identities_broken",
    "identities_miscounted",
    "identity_of_nothing",
    "identity_twice",
    "in_use",
    "index_invalid",
    "index_missing",
    "job_without_event",
    "job_without_state",
    "jobs_failed",
    "jobs_held",
    "jobs_miscounted",
    "jobs_past_lease",
    "jobs_uncounted",
    "jobs_waiting",
    "late_evidence",
    "leftover",
    "log",
    "log_foreign",
    "log_large",
    "money_miscounted",
    "money_uncounted",
    "number_twice",
    "numbers_behind",
    "pages",
    "pages_damaged",
    "pages_quick",
    "pages_unfinished",
    "prepared_old",
    "pruned_of_nothing",
    "readable_by_others",
    "reader_old",
    "record_of_nothing",
    "restored",
    "revision_of_nothing",
    "second_name",
    "server_autovacuum",
    "server_commits",
    "server_fsync",
    "server_full_pages",
    "server_hides",
    "server_old",
    "server_replica",
    "slot_twice",
    "slot_unused",
    "sources_failing",
    "sources_paused",
    "table_aged",
    "table_bloated",
    "table_missing",
    "table_unlogged",
    "table_untidied",
    "tables",
    "tables_quick",
    "transaction_old",
    "try_of_nothing",
    "versions",
    "versions_postgres",
];

/// Runs the command. Ends with 1 where there is a warning or an error among the findings.
///
/// # Errors
/// `interrupted`; stdout cannot be written.
pub fn run(session: &Session, options: &DoctorOptions, settings: &Settings) -> Result<Exit, Problem> {
    let progress = Progress::new(session, true);
    let findings = match &settings.server {
        Some(server) => {
            progress.say(&Message::new("progress-check"));
            block_on(store::remote(session, server)?.examine(options.quick))
        }
        None => {
            let look = |look: Look| {
                progress.say(&match look {
                    Look::Pages => Message::new("progress-check"),
                    Look::Tables { rows } => Message::new("progress-tables").number("count", rows),
                });
            };
            store::examine(settings, &interruptible(session, settings)?, options.quick, &look)
        }
    };
    progress.finish();
    let findings = findings.map_err(|error| problem(&error))?;
    let text = if options.json {
        as_json(&findings)
    } else {
        as_report(&session.lang, &findings, session.quiet, session.colour.stdout)
    };
    print(&text)?;
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count() as u64;
    let (warnings, errors) = (count(Severity::Warning), count(Severity::Error));
    if warnings + errors == 0 {
        session.note(&Message::new("doctor-well").with("path", store::place(settings)));
        return Ok(Exit::Done);
    }
    let parts = Message::new("doctor-unwell")
        .with("path", store::place(settings))
        .message("warnings", Message::new("doctor-warnings").number("count", warnings))
        .message("errors", Message::new("doctor-errors").number("count", errors));
    session.note(&parts);
    Ok(Exit::Failed)
}

/// One [`cola_ia_wire::Finding`] a line.
pub fn as_json(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let facts: BTreeMap<_, _> = finding
            .facts
            .iter()
            .map(|(name, fact)| {
                let fact = match fact {
                    Fact::Number(at) if name.ends_with("_at") => {
                        cola_ia_wire::Fact::Text(Timestamp::from_micros(*at).to_rfc3339().into())
                    }
                    Fact::Number(number) => cola_ia_wire::Fact::Number(*number),
                    Fact::Text(text) => cola_ia_wire::Fact::Text(text.as_str().into()),
                };
                ((*name).into(), fact)
            })
            .collect();
        let severity = finding.severity.as_str().into();
        push_json(&mut out, &cola_ia_wire::Finding { v: VERSION, severity, code: finding.code.into(), facts });
    }
    out
}

/// A line a finding, with what to do below. `quiet`: only what is wrong.
pub fn as_report(lang: &Lang, findings: &[Finding], quiet: bool, colour: bool) -> String {
    let severities = [Severity::Ok, Severity::Note, Severity::Warning, Severity::Error];
    let width = severities.map(|severity| label(lang, severity).chars().count()).into_iter().max().unwrap_or_default();
    let mut out = String::new();
    let is_database = findings.iter().any(|finding| finding.code == "versions_postgres");
    for finding in findings.iter().filter(|finding| !quiet || finding.severity > Severity::Note) {
        let label = label(lang, finding.severity);
        let padding = " ".repeat(width - label.chars().count());
        let paint = match finding.severity {
            Severity::Ok => Paint::Good,
            Severity::Note => Paint::Calm,
            Severity::Warning => Paint::Alarm,
            Severity::Error => Paint::Bad,
        };
        let (message, hint) = messages(finding, is_database);
        let code = if finding.severity > Severity::Note { format!(" [{}]", finding.code) } else { String::new() };
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(out, "{}{padding}  {}{code}", paint.on(&label, colour), message.in_prose(lang));
        if finding.severity > Severity::Ok && lang.has(hint.key()) {
            let _ = writeln!(out, "{}  {}", " ".repeat(width), hint.in_prose(lang));
        }
    }
    out
}

fn label(lang: &Lang, severity: Severity) -> String {
    let key = match severity {
        Severity::Ok => "severity-ok",
        Severity::Note => "severity-note",
        Severity::Warning => "severity-warning",
        Severity::Error => "severity-error",
    };
    lang.t(key, &[])
}

/// A finding's sentence and what to do about it, which is something else where the store is in a database.
fn messages(finding: &Finding, is_database: bool) -> (Message, Message) {
    if let Some(known) = STORE_CODES.iter().find(|known| known.code == finding.code) {
        return known.messages(|name| match finding.fact(name) {
            Some(Fact::Text(text)) => text.clone(),
            Some(Fact::Number(number)) => number.to_string(),
            None => "?".to_owned(),
        });
    }
    // Some of them have more to say where more is known.
    let key = match finding.code {
        "restored" if finding.fact("taken_at").is_some() => "doctor-restored_from".to_owned(),
        "copied" if finding.fact("noticed_at").is_some() => "doctor-copied_before".to_owned(),
        "table_bloated" if finding.fact("vacuumed_at").is_some() => "doctor-table_bloated_since".to_owned(),
        code => format!("doctor-{code}"),
    };
    let with_facts = |key: String| {
        finding.facts.iter().fold(Message::new(key), |message, (name, fact)| match fact {
            Fact::Number(at) if name.ends_with("_at") => {
                message.with(*name, to_the_second(Timestamp::from_micros(*at)))
            }
            Fact::Number(bytes) if name.ends_with("bytes") => message.with(*name, size(bytes.unsigned_abs())),
            Fact::Number(number) => message.number(name, number.unsigned_abs()),
            Fact::Text(text) if *name == "cause" => message.cause(*name, text),
            Fact::Text(text) => message.with(*name, text),
        })
    };
    // A row that does not fit the others.
    let hint = if is_database && finding.fact("row").is_some() {
        "doctor-database_damaged-hint".to_owned()
    } else {
        format!("doctor-{}-hint", finding.code)
    };
    (with_facts(key), with_facts(hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::Language;

    fn finding(code: &'static str, count: i64) -> Finding {
        let number = Fact::Number(count);
        let size = Fact::Number(300 << 20);
        let at = Fact::Number(1_769_893_200_000_000);
        let text = |text: &str| Fact::Text(text.to_owned());
        let facts = vec![
            ("count", number.clone()),
            ("rows", number),
            ("effects", Fact::Number(2)),
            ("row", Fact::Number(7)),
            ("schema", Fact::Number(2)),
            ("table", text("TABLE")),
            ("sources", text("SOURCE, SOURCE, SOURCE")),
            ("path", text("PATH")),
            ("wal", text("PATH-wal")),
            ("who", text("4711 (sqlite3)")),
            ("cause", text("CAUSE")),
            ("filesystem", text("tmpfs")),
            ("name", text("NAME")),
            ("setting", text("SETTING")),
            ("server", text("99.9")),
            ("pid", Fact::Number(4711)),
            ("most", Fact::Number(100)),
            ("seconds", Fact::Number(7)),
            ("program", text("9.9.9")),
            ("sqlite", text("3.99.0")),
            ("made_by", text("9.9.8")),
            ("bytes", size.clone()),
            ("expected_bytes", size.clone()),
            ("waiting_bytes", size.clone()),
            ("behind_bytes", size.clone()),
            ("free_bytes", size),
            ("taken_at", at.clone()),
            ("restored_at", at.clone()),
            ("noticed_at", at.clone()),
            ("since_at", at.clone()),
            ("vacuumed_at", at.clone()),
            ("oldest_at", at.clone()),
            ("latest_at", at),
        ];
        Finding { code, severity: Severity::Warning, facts }
    }

    #[test]
    fn every_finding_has_a_sentence() {
        for language in Language::ALL {
            let mut findings: Vec<Finding> = DOCTOR_CODES.iter().map(|code| finding(code, 3)).collect();
            // Where less is known, and of one.
            for code in ["restored", "copied", "table_bloated"] {
                let mut finding = finding(code, 1);
                finding.facts.retain(|(name, _)| ["restored_at", "effects", "table", "count", "rows"].contains(name));
                findings.push(finding);
            }
            findings.extend(
                ["jobs_held", "conflicts_undecided", "double_effect", "late_evidence", "money_miscounted", "tables"]
                    .map(|code| finding(code, 1)),
            );
            let lang = Lang::only(language);
            let (of_a_database, of_files): (Vec<Finding>, Vec<Finding>) =
                findings.into_iter().partition(|finding| finding.code == "versions_postgres");
            let damaged = [of_a_database, vec![finding("job_without_event", 1)]].concat();
            let said = as_report(&lang, &of_files, false, false) + &as_report(&lang, &damaged, false, false);
            for leak in ["⟨", "⟩", "?", "{", "}", "$"] {
                assert!(!said.contains(leak), "{leak:?} in: {said}");
            }
            insta::assert_snapshot!(format!("every-finding-{}", language.tag()), said);
        }
    }

    #[test]
    fn json_has_instants_as_text_and_sizes_as_numbers() {
        let one = Finding {
            code: "log",
            severity: Severity::Ok,
            facts: vec![
                ("bytes", Fact::Number(5)),
                ("oldest_at", Fact::Number(0)),
                ("who", Fact::Text("x\u{1b}".into())),
            ],
        };
        let line = r#"{"v":1,"severity":"ok","code":"log","facts":{"bytes":5,"oldest_at":"1970-01-01T00:00:00.000000Z","who":"x\u001b"}}"#;
        assert_eq!(as_json(&[one]), format!("{line}\n"));
    }

    #[test]
    fn what_is_wrong_is_all_that_a_quiet_report_has() {
        let findings = [Severity::Ok, Severity::Note, Severity::Warning, Severity::Error]
            .map(|severity| Finding { severity, ..finding("leftover", 1) });
        let lang = Lang::only(Language::English);
        assert_eq!(as_report(&lang, &findings, true, false).matches("[leftover]").count(), 2);
        let odd = Finding {
            facts: vec![("path", Fact::Text("a\u{202e}b\n".into())), ("bytes", Fact::Number(1))],
            ..finding("leftover", 1)
        };
        assert!(as_report(&lang, &[odd], false, false).contains("a\\u202eb\\n"));
    }
}
