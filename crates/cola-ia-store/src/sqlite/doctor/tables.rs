//! What must hold between our tables, looked at in pieces: each is a read transaction of its own.

use std::collections::BTreeMap;

use cola_ia_core::job::JobState;
use rusqlite::{Connection, OptionalExtension as _};

use super::identities::{self, Count, Identities};
use super::{Examination, Finding, Look, Severity, waiting};
use crate::sqlite::counters::each_delta;
use crate::sqlite::identities::blocks_are_counted;

/// Rows of a piece.
const PIECE: i64 = 10_000;
/// Of each table a quick look takes so many numbers, the newest.
const QUICK: i64 = 100_000;

/// Something that must not be.
struct Rule {
    code: &'static str,
    table: &'static str,
    /// Holds of the rows `t` that are wrong.
    wrong: &'static str,
}

const fn rule(code: &'static str, table: &'static str, wrong: &'static str) -> Rule {
    Rule { code, table, wrong }
}

const RULES: &[Rule] = &[
    rule("event_without_job", "events", "NOT EXISTS (SELECT 1 FROM jobs j WHERE j.event = t.seq)"),
    rule("event_without_source", "events", "NOT EXISTS (SELECT 1 FROM sources s WHERE s.source = t.source)"),
    rule("number_twice", "events", "EXISTS (SELECT 1 FROM deliveries d WHERE d.seq = t.seq)"),
    rule("job_without_event", "jobs", "NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.event)"),
    rule(
        "job_without_state",
        "jobs",
        "t.state NOT IN ('pending', 'running', 'done', 'failed', 'held', 'cancelled') OR t.state = 'running' AND t.lease IS NULL",
    ),
    rule(
        "delivery_of_nothing",
        "deliveries",
        "t.event IS NOT NULL AND NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.event)
         OR t.verdict NOT IN ('duplicate', 'conflict', 'invalid')",
    ),
    rule(
        "delivery_of_no_conflict",
        "deliveries",
        "t.conflict IS NOT NULL AND NOT EXISTS
             (SELECT 1 FROM conflicts c WHERE c.event = t.event AND c.number = t.conflict)",
    ),
    rule("conflict_of_nothing", "conflicts", "NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.event)"),
    rule(
        "revision_of_nothing",
        "revisions",
        "NOT EXISTS (SELECT 1 FROM conflicts c WHERE c.event = t.event AND c.number = t.conflict)
         OR NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.event)",
    ),
    rule(
        "decision_of_nothing",
        "decisions",
        "NOT EXISTS (SELECT 1 FROM conflicts c WHERE c.event = t.event AND c.number = t.conflict)
         OR NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.event)
         OR t.entered IS NOT NULL AND NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.entered)",
    ),
    rule("pruned_of_nothing", "pruned_deliveries", "NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.event)"),
    rule("attempt_of_nothing", "attempts", "NOT EXISTS (SELECT 1 FROM jobs j WHERE j.event = t.event)"),
    rule("effect_of_nothing", "effects", "NOT EXISTS (SELECT 1 FROM jobs j WHERE j.event = t.event)"),
    rule("try_of_nothing", "effect_tries", "NOT EXISTS (SELECT 1 FROM effects e WHERE e.effect = t.effect)"),
    rule("record_of_nothing", "effect_records", "NOT EXISTS (SELECT 1 FROM effects e WHERE e.effect = t.effect)"),
    rule(
        "body_of_nothing",
        "signed_bodies",
        "NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = t.event AND e.source = t.source)",
    ),
];

const TABLES: [&str; 8] =
    ["events", "jobs", "deliveries", "conflicts", "revisions", "attempts", "effects", "effect_tries"];
/// Those that schema 1 has not.
const LATER_TABLES: [&str; 2] = ["decisions", "pruned_deliveries"];
/// Those that schema 3 has not.
const LATEST_TABLES: [&str; 1] = ["effect_records"];
/// Those that schema 4 has not.
const TABLES_OF_THE_SERVER: [&str; 1] = ["signed_bodies"];

/// By what a table is gone through: one without rows of its own numbers by the event, of which it may have several.
fn number(table: &str) -> &'static str {
    if table == "signed_bodies" { "event" } else { "rowid" }
}

/// What was found. `None`: nobody wants to know any more.
pub(super) fn examine(
    examination: &Examination<'_>,
    quick: bool,
    look: &dyn Fn(Look),
) -> rusqlite::Result<Option<Vec<Finding>>> {
    let connection = &examination.connection;
    let (mut rows, mut findings) = (0_u64, Vec::new());
    let (mut undecided, mut latest) = (0, None);
    let mut identities = Identities::new(examination)?;
    let later = if examination.version >= 2 { &LATER_TABLES[..] } else { &[] };
    let latest_tables = if examination.version >= 4 { &LATEST_TABLES[..] } else { &[] };
    let of_the_server = if examination.version >= 5 { &TABLES_OF_THE_SERVER[..] } else { &[] };
    for table in TABLES.iter().chain(later).chain(latest_tables).chain(of_the_server).copied() {
        let rules: Vec<&Rule> = RULES.iter().filter(|rule| rule.table == table).collect();
        let mut wrong = vec![Count::default(); rules.len()];
        let mut after = if quick { newest_but(connection, table, QUICK)? } else { i64::MIN };
        while let Some((last, count)) = piece(connection, table, after)? {
            if examination.options.patience.is_over() {
                return Ok(None);
            }
            for (rule, wrong) in rules.iter().zip(&mut wrong) {
                let (number, wrong_if) = (number(table), rule.wrong);
                let sql = format!(
                    "SELECT count(*), min(t.{number}) FROM {table} t
                     WHERE t.{number} > ?1 AND t.{number} <= ?2 AND ({wrong_if})"
                );
                let (found, at): (i64, Option<i64>) =
                    connection.prepare_cached(&sql)?.query_row((after, last), |row| Ok((row.get(0)?, row.get(1)?)))?;
                wrong.many += found as u64;
                wrong.first = wrong.first.or(at);
            }
            match table {
                "events" if quick => identities::look_up(examination, after, last, &mut identities.without)?,
                "events" if !identities.look(after, last)? => return Ok(None),
                "conflicts" => {
                    let (more, at): (i64, Option<i64>) = connection
                        .prepare_cached(
                            "SELECT count(*), max(last_at) FROM conflicts
                             WHERE rowid > ?1 AND rowid <= ?2 AND decision IS NULL",
                        )?
                        .query_row((after, last), |row| Ok((row.get(0)?, row.get(1)?)))?;
                    undecided += more as u64;
                    latest = latest.max(at);
                }
                _ => {}
            }
            rows += count as u64;
            look(Look::Tables { rows });
            after = last;
        }
        for (rule, wrong) in rules.iter().zip(wrong) {
            findings.extend(broken(rule.code, table, wrong));
        }
        if table == "events" {
            if !quick && !identities.finish()? {
                return Ok(None);
            }
            findings.extend(broken("event_without_identity", table, identities.without));
            findings.extend(broken("identity_of_nothing", "identities", identities.of_nothing));
            findings.extend(broken("identity_twice", "identities", identities.twice));
            findings.extend(broken("slot_twice", "identities", identities.slot_twice));
            findings.extend(
                identities.broken.into_iter().filter_map(|(table, count)| broken("identities_broken", table, count)),
            );
        }
    }
    if !quick && examination.version >= 2 {
        if !blocks_are_counted(connection)? {
            findings.push(Finding::new(Severity::Error, "identities_miscounted"));
        }
        match examination.break_off(|| miscounted(connection)) {
            Ok(Some(0)) => {}
            Ok(Some(count)) => findings.push(Finding::new(Severity::Warning, "jobs_miscounted").number("count", count)),
            Ok(None) if examination.options.patience.is_over() => return Ok(None),
            Ok(None) => findings.push(Finding::new(Severity::Note, "jobs_uncounted")),
            Err(cause) => return Err(cause),
        }
    }
    if !quick && examination.version >= 4 {
        match examination.break_off(|| money_miscounted(connection)) {
            Ok(Some(0)) => {}
            Ok(Some(count)) => {
                findings.push(Finding::new(Severity::Warning, "money_miscounted").number("count", count));
            }
            Ok(None) if examination.options.patience.is_over() => return Ok(None),
            Ok(None) => findings.push(Finding::new(Severity::Note, "money_uncounted")),
            Err(cause) => return Err(cause),
        }
    }
    if findings.iter().all(|finding| finding.severity < Severity::Warning) {
        let code = if quick { "tables_quick" } else { "tables" };
        findings.push(Finding::new(Severity::Ok, code).number("rows", rows));
    }
    findings.extend(waiting::undecided(undecided, latest));
    Ok(Some(findings))
}

/// Of how many states and sources the count of jobs is not what the jobs say. Counts and jobs are compared at one moment: this
/// is one read transaction, as short as reading the jobs once is.
fn miscounted(connection: &Connection) -> rusqlite::Result<u64> {
    let transaction = connection.unchecked_transaction()?;
    let mut counts: BTreeMap<(i64, JobState), i64> = BTreeMap::new();
    let mut counted = transaction.prepare("SELECT source, state, n FROM job_counts")?;
    let mut rows = counted.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(state) = JobState::from_word(row.get_ref(1)?.as_str()?) {
            *counts.entry((row.get(0)?, state)).or_default() += row.get::<_, i64>(2)?;
        }
    }
    each_delta(&transaction, |delta| {
        if let Some((state, n)) = delta.jobs() {
            *counts.entry((delta.source, state)).or_default() += n;
        }
        Ok(())
    })?;
    let mut jobs = transaction.prepare("SELECT source, state FROM jobs")?;
    let mut rows = jobs.query([])?;
    while let Some(row) = rows.next()? {
        // A state that does not exist is told of by another rule.
        if let Some(state) = JobState::from_word(row.get_ref(1)?.as_str()?) {
            *counts.entry((row.get(0)?, state)).or_default() -= 1;
        }
    }
    Ok(counts.values().filter(|left| **left != 0).count() as u64)
}

/// On how many days of how many sources the sums say another amount to be at risk than the tries hold. One read transaction, as
/// short as reading the tries once is.
fn money_miscounted(connection: &Connection) -> rusqlite::Result<u64> {
    let transaction = connection.unchecked_transaction()?;
    let mut left: BTreeMap<(i64, i64), i128> = BTreeMap::new();
    let mut add = |sql: &str, sign: i128| -> rusqlite::Result<()> {
        let mut select = transaction.prepare(sql)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            *left.entry((row.get(0)?, row.get(1)?)).or_default() += sign * i128::from(row.get::<_, i64>(2)?);
        }
        Ok(())
    };
    add("SELECT day, source, reserved FROM money", 1)?;
    add(
        "SELECT t.reserved_day, j.source, t.reserved_micros FROM effect_tries t
         CROSS JOIN effects e ON e.effect = t.effect CROSS JOIN jobs j ON j.event = e.event
         WHERE t.reserved_micros IS NOT NULL AND t.reserved_day IS NOT NULL AND t.outcome IS NULL",
        -1,
    )?;
    Ok(left.values().filter(|left| **left != 0).count() as u64)
}

fn broken(code: &'static str, table: &str, count: Count) -> Option<Finding> {
    let finding = Finding::new(Severity::Error, code).text("table", table).number("count", count.many);
    (count.many > 0).then(|| finding.number("row", count.first.unwrap_or_default()))
}

/// The last row of the piece after a row, and how many it has.
fn piece(connection: &Connection, table: &str, after: i64) -> rusqlite::Result<Option<(i64, i64)>> {
    let number = number(table);
    let sql = format!(
        "SELECT max(n), count(*) FROM
             (SELECT {number} AS n FROM {table} WHERE {number} > ?1 ORDER BY {number} LIMIT {PIECE})"
    );
    connection.prepare_cached(&sql)?.query_row([after], |row| {
        let last: Option<i64> = row.get(0)?;
        Ok(last.map(|last| (last, row.get_unwrap(1))))
    })
}

/// The number before the newest ones.
fn newest_but(connection: &Connection, table: &str, count: i64) -> rusqlite::Result<i64> {
    let sql = format!("SELECT max({}) FROM {table}", number(table));
    let newest: Option<i64> = connection.query_row(&sql, [], |row| row.get(0)).optional()?.flatten();
    Ok(newest.map_or(i64::MIN, |newest| newest.saturating_sub(count)))
}
