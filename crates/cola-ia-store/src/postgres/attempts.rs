//! The list of attempts that went wrong, and those of one job.

use cola_ia_core::filter::Filter;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::store::{AttemptView, HISTORY_MAX, Page};
use tokio_postgres::Row;

use super::conditions::Conditions;
use super::error::Fault;
use super::row::Columns as _;
use super::sql::params;
use super::stretch::{self, Question, Range};
use super::tx::Tx;
use crate::common::cursor;
use crate::common::stretch::merge;

const COLUMNS: &str = "a.attempt, a.event, s.name, e.id, a.run, a.number, a.worker, a.started_at, a.ended_at, a.outcome, \
     a.exit_code, a.signal, a.error_class, a.error, a.cost_micros, a.tokens_in, a.tokens_out, a.model, a.late";
const COLUMNS_LEN: usize = 19;
const JOINS: &str = "LEFT JOIN events e ON e.seq = a.event LEFT JOIN sources s ON s.source = e.source";

/// See [`Store::attempts`](cola_ia_core::store::Store::attempts).
pub(super) async fn attempts(
    tx: &Tx,
    filter: &Filter,
    below: Option<i64>,
    limit: u32,
) -> Result<Page<AttemptView>, Fault> {
    let limit = limit.clamp(1, 1_000) as usize;
    let mut conditions = Conditions::default();
    conditions.of_sources("e.source", filter);
    conditions.of_types("e.type", filter);
    conditions.within("a.ended_at", filter);
    conditions.one_of("a.error_class", filter.reasons.iter().map(String::as_str));
    let question = Question {
        columns: COLUMNS,
        table: "attempts a",
        name: "a",
        number: "attempt",
        rows: "a.outcome NOT IN ('done', 'released')",
        word: None,
        joins: JOINS,
        conditions,
    };
    let range = Range { first: i64::MIN, end: below.unwrap_or(i64::MAX) };
    let read = |row: &Row| attempt(row).map(|attempt| (attempt.attempt, attempt));
    let stretch = stretch::look(tx, question, range, limit, read).await?;
    let (items, next) = merge(vec![stretch], limit);
    Ok(Page { items, next: next.map(cursor::of_number) })
}

/// The latest attempts of a job, newest first, with what they wrote.
pub(super) async fn of_event(tx: &Tx, event: i64) -> Result<Vec<AttemptView>, Fault> {
    let sql = format!(
        "SELECT {COLUMNS}, a.stdout, a.stderr FROM attempts a {JOINS}
         WHERE a.event = $1 ORDER BY a.run DESC, a.number DESC LIMIT {HISTORY_MAX}"
    );
    let written = |row: &Row, column| -> Result<Option<String>, Fault> {
        let bytes: Option<&[u8]> = row.read(column)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    };
    let of = |row: &Row| {
        let (stdout, stderr) = (written(row, COLUMNS_LEN)?, written(row, COLUMNS_LEN + 1)?);
        Ok(AttemptView { stdout, stderr, ..attempt(row)? })
    };
    tx.query(&sql, params![event]).await?.iter().map(of).collect()
}

fn attempt(row: &Row) -> Result<AttemptView, Fault> {
    Ok(AttemptView {
        attempt: row.read(0)?,
        event: EventNumber(row.read(1)?),
        source: row.source(2)?,
        id: row.read(3)?,
        run: row.count(4)?,
        number: row.count(5)?,
        worker: row.read(6)?,
        started_at: row.time(7)?,
        ended_at: row.maybe_time(8)?,
        outcome: row.read(9)?,
        exit_code: row.read(10)?,
        signal: row.read(11)?,
        error_class: row.read(12)?,
        error: row.read(13)?,
        cost_micros: row.read(14)?,
        tokens_in: row.read(15)?,
        tokens_out: row.read(16)?,
        model: row.read(17)?,
        late: row.read(18)?,
        stdout: None,
        stderr: None,
    })
}
