//! Attempts: those that went wrong as a list, those of one job as part of its history.

use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::store::{AttemptView, HISTORY_MAX, Page};
use rusqlite::{Connection, Row};

use super::conditions::Conditions;
use super::reader::Sight;
use super::stretch::{self, Question, Range, Stretch};
use super::{cursor, row};

const COLUMNS: &str = "a.attempt, a.event, s.name, e.id, a.run, a.number, a.worker, a.started_at, a.ended_at, a.outcome, \
     a.exit_code, a.signal, a.error_class, a.error, a.cost_micros, a.tokens_in, a.tokens_out, a.model, a.late";
const COLUMNS_LEN: usize = 19;
const JOINS: &str = "LEFT JOIN events e ON e.seq = a.event LEFT JOIN sources s ON s.source = e.source";

/// See [`Store::attempts`](cola_ia_core::store::Store::attempts).
pub(super) fn attempts(
    sight: &Sight<'_>,
    filter: &Filter,
    below: Option<i64>,
    limit: u32,
) -> rusqlite::Result<Page<AttemptView>> {
    let limit = limit.clamp(1, 1_000) as usize;
    let mut conditions = Conditions::default();
    conditions.of_sources("e.source", filter);
    conditions.of_types("e.type", filter);
    conditions.within("a.ended_at", filter);
    conditions.one_of("a.error_class", filter.reasons.iter().map(String::as_str));
    let question = Question {
        columns: COLUMNS,
        table: "attempts a INDEXED BY attempts_failed",
        number: "a.attempt",
        rows: "a.outcome NOT IN ('done', 'released')",
        joins: JOINS,
        conditions,
    };
    let range = Range { first: i64::MIN, end: below.unwrap_or(i64::MAX) };
    let read = |row: &Row<'_>| attempt(row).map(|attempt| (attempt.attempt, attempt));
    let stretch = Stretch::look(sight.connection, question, range, limit, read)?;
    let (items, next) = stretch::merge(vec![stretch], limit);
    Ok(Page { items, next: next.map(cursor::of_number) })
}

/// The latest attempts of a job, newest first, with what they wrote.
pub(super) fn of_event(connection: &Connection, event: i64) -> rusqlite::Result<Vec<AttemptView>> {
    let sql = format!(
        "SELECT {COLUMNS}, a.stdout, a.stderr FROM attempts a {JOINS}
         WHERE a.event = ?1 ORDER BY a.run DESC, a.number DESC LIMIT {HISTORY_MAX}"
    );
    connection
        .prepare_cached(&sql)?
        .query_map([event], |row| {
            let written = |column| -> rusqlite::Result<Option<String>> {
                let bytes: Option<Vec<u8>> = row.get(column)?;
                Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
            };
            Ok(AttemptView { stdout: written(COLUMNS_LEN)?, stderr: written(COLUMNS_LEN + 1)?, ..attempt(row)? })
        })?
        .collect()
}

fn attempt(row: &Row<'_>) -> rusqlite::Result<AttemptView> {
    Ok(AttemptView {
        attempt: row.get(0)?,
        event: EventNumber(row.get(1)?),
        source: row::source(row.get_ref(2)?.as_str()?)?,
        id: row.get(3)?,
        run: row.get(4)?,
        number: row.get(5)?,
        worker: row.get(6)?,
        started_at: row::time(row, 7)?,
        ended_at: row::maybe_time(row, 8)?,
        outcome: row.get(9)?,
        exit_code: row.get(10)?,
        signal: row.get(11)?,
        error_class: row.get(12)?,
        error: row.get(13)?,
        cost_micros: row.get(14)?,
        tokens_in: row.get(15)?,
        tokens_out: row.get(16)?,
        model: row.get(17)?,
        late: row.get(18)?,
        stdout: None,
        stderr: None,
    })
}
