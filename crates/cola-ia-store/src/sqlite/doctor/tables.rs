//! What must hold between our tables, looked at in pieces: each is a read transaction of its own.

use rusqlite::{Connection, OptionalExtension as _};

use super::{Examination, Finding, Look, Severity, waiting};
use crate::sqlite::reader::Sight;
use crate::sqlite::{check, preview, slots_of};

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
        "NOT EXISTS (SELECT 1 FROM conflicts c WHERE c.event = t.event AND c.number = t.conflict)",
    ),
    rule("attempt_of_nothing", "attempts", "NOT EXISTS (SELECT 1 FROM jobs j WHERE j.event = t.event)"),
    rule("effect_of_nothing", "effects", "NOT EXISTS (SELECT 1 FROM jobs j WHERE j.event = t.event)"),
    rule("try_of_nothing", "effect_tries", "NOT EXISTS (SELECT 1 FROM effects e WHERE e.effect = t.effect)"),
];

const TABLES: [&str; 8] =
    ["events", "jobs", "deliveries", "conflicts", "revisions", "attempts", "effects", "effect_tries"];

/// What was found. `None`: nobody wants to know any more.
pub(super) fn examine(
    examination: &Examination<'_>,
    quick: bool,
    look: &dyn Fn(Look),
) -> rusqlite::Result<Option<Vec<Finding>>> {
    let connection = &examination.connection;
    let (mut rows, mut findings) = (0_u64, Vec::new());
    let (mut undecided, mut latest) = (0, None);
    for table in TABLES {
        let rules: Vec<&Rule> = RULES.iter().filter(|rule| rule.table == table).collect();
        let mut wrong: Vec<(u64, Option<i64>)> = vec![(0, None); rules.len()];
        let mut identities = Identities::default();
        let mut after = if quick { newest_but(connection, table, QUICK)? } else { i64::MIN };
        while let Some((last, count)) = piece(connection, table, after)? {
            if examination.options.patience.is_over() {
                return Ok(None);
            }
            for (rule, (many, first)) in rules.iter().zip(&mut wrong) {
                let sql = format!(
                    "SELECT count(*), min(t.rowid) FROM {table} t WHERE t.rowid > ?1 AND t.rowid <= ?2 AND ({})",
                    rule.wrong
                );
                let (found, at): (i64, Option<i64>) =
                    connection.prepare_cached(&sql)?.query_row((after, last), |row| Ok((row.get(0)?, row.get(1)?)))?;
                *many += found as u64;
                *first = first.or(at);
            }
            match table {
                "events" => identities.look(connection, after, last)?,
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
        for (rule, (many, first)) in rules.iter().zip(wrong) {
            findings.extend(broken(rule.code, table, many, first));
        }
        findings.extend(broken("event_without_identity", table, identities.without, identities.first));
    }
    if findings.is_empty() {
        let code = if quick { "tables_quick" } else { "tables" };
        findings.push(Finding::new(Severity::Ok, code).number("rows", rows));
    }
    findings.extend(waiting::undecided(undecided, latest));
    Ok(Some(findings))
}

fn broken(code: &'static str, table: &str, count: u64, first: Option<i64>) -> Option<Finding> {
    let finding = Finding::new(Severity::Error, code).text("table", table).number("count", count);
    (count > 0).then(|| finding.number("row", first.unwrap_or_default()))
}

/// The last row of the piece after a row, and how many it has.
fn piece(connection: &Connection, table: &str, after: i64) -> rusqlite::Result<Option<(i64, i64)>> {
    let sql = format!(
        "SELECT max(rowid), count(*) FROM (SELECT rowid FROM {table} WHERE rowid > ?1 ORDER BY rowid LIMIT {PIECE})"
    );
    connection.prepare_cached(&sql)?.query_row([after], |row| {
        let last: Option<i64> = row.get(0)?;
        Ok(last.map(|last| (last, row.get_unwrap(1))))
    })
}

/// The number before the newest ones.
fn newest_but(connection: &Connection, table: &str, count: i64) -> rusqlite::Result<i64> {
    let newest: Option<i64> =
        connection.query_row(&format!("SELECT max(rowid) FROM {table}"), [], |row| row.get(0)).optional()?.flatten();
    Ok(newest.map_or(i64::MIN, |newest| newest.saturating_sub(count)))
}

/// Whether events are found by their identity.
#[derive(Default)]
struct Identities {
    without: u64,
    first: Option<i64>,
}

impl Identities {
    fn look(&mut self, connection: &Connection, after: i64, last: i64) -> rusqlite::Result<()> {
        for event in without_identity(connection, after, last)? {
            self.without += 1;
            self.first = self.first.or(Some(event));
        }
        Ok(())
    }
}

/// Events of a piece that their identity does not lead to. The id of an erased one is gone: it is not asked for.
fn without_identity(connection: &Connection, after: i64, last: i64) -> rusqlite::Result<Vec<i64>> {
    let transaction = connection.unchecked_transaction()?;
    let sight = Sight { connection: &transaction, slots: slots_of(&transaction)? };
    let kept = if check::has_column(&transaction, "events", "erased_at")? { "e.erased_at IS NULL" } else { "true" };
    let sql = format!(
        "SELECT e.seq, s.name, e.id FROM events e JOIN sources s ON s.source = e.source
         WHERE e.seq > ?1 AND e.seq <= ?2 AND {kept} ORDER BY e.seq"
    );
    let mut events = transaction.prepare_cached(&sql)?;
    let mut rows = events.query((after, last))?;
    let mut without = Vec::new();
    while let Some(row) = rows.next()? {
        let event: i64 = row.get(0)?;
        let (source, id) = (row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?);
        let found = match preview::find(&sight, source, id) {
            // An identity that leads to an event that is not there.
            Err(rusqlite::Error::QueryReturnedNoRows) => None,
            other => other?,
        };
        if found != Some(event) {
            without.push(event);
        }
    }
    Ok(without)
}
