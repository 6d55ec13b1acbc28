//! Taking over the database of the article's script: one table `trabajos` (id, texto, huella, estado).
//!
//! First a copy beside it, then one transaction: the rows enter through the gate like any event, their jobs get the states
//! that the old words mean, and the old table is closed, so that an old script fails loudly instead of going its own way.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cola_ia_core::event::{Content, Delivery, EventId, Fingerprint, Origin, Source};
use cola_ia_core::intake::{Intake, RefusalCode};
use cola_ia_core::job::JobState;
use cola_ia_core::limits::{BATCH_MAX_BYTES, BATCH_MAX_EVENTS};
use cola_ia_core::store::{ErrorKind, OpId, StoreError};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::connection::Wait;
use super::counters::{Append as _, Tally};
use super::writer::Scope;
use super::{Options, accept, connection, copy, create, error, file, migrate};

/// What was found and done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenOver {
    /// The file as it was.
    pub copy: PathBuf,
    /// Jobs by their state now.
    pub pending: u64,
    /// `terminado`.
    pub done: u64,
    /// `en_proceso` (it may have published), a fingerprint that is not its text's, or a state that is not the article's.
    pub held: u64,
    /// Ids whose fingerprint is not their text's; at most [`REPORTED_MAX`].
    pub mismatched: Vec<String>,
    /// Ids with a state that is not the article's, and that state; at most [`REPORTED_MAX`].
    pub unknown_states: Vec<(String, String)>,
    /// Columns that the article does not have; they stay in the old table.
    pub other_columns: Vec<String>,
    /// Rows that cannot be events; they stay in the old table. At most [`REPORTED_MAX`].
    pub untaken: Vec<Untaken>,
    /// How many rows stay in the old table only.
    pub untaken_count: u64,
}

/// A row that cannot be an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untaken {
    /// SQLite's number of the row in `trabajos`.
    pub rowid: i64,
    /// Why.
    pub code: RefusalCode,
}

/// Most ids or rows named one by one in a [`TakenOver`].
pub const REPORTED_MAX: usize = 100;

/// The article's columns.
const COLUMNS: [&str; 4] = ["id", "texto", "huella", "estado"];

/// A held job's reasons.
const REASON_RUNNING: &str = "taken_over_running";
const REASON_FINGERPRINT: &str = "taken_over_fingerprint";
const REASON_STATE: &str = "taken_over_state";

/// The columns that a database like the article's has besides.
#[derive(Debug)]
pub(super) struct Article {
    other_columns: Vec<String>,
}

/// Whether an unsigned database is the article's and nothing else. `None`: it is a store by now.
///
/// It is read as it stands, without SQLite's recovery, which would write: it may be somebody else's.
pub(super) fn recognise(path: &Path, wait: &Wait) -> Result<Option<Article>, StoreError> {
    let connection = connection::open_untouched(path)?;
    let schema = wait.for_lock(path, || {
        // One transaction: another process may take the file over at any moment.
        let reading = connection.unchecked_transaction()?;
        let signature: u32 = reading.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        if signature == file::APPLICATION_ID { Ok(None) } else { schema(&reading).map(Some) }
    })?;
    schema.map(|schema| schema.article(path)).transpose()
}

#[derive(Default)]
struct Schema {
    tables: Vec<String>,
    /// Views, triggers, virtual tables and what else a database of the article has not.
    others: Vec<String>,
    columns: Vec<String>,
    /// What else about `trabajos` is not the article's.
    oddities: Vec<&'static str>,
}

fn schema(connection: &Connection) -> rusqlite::Result<Schema> {
    let mut schema = Schema::default();
    let mut objects = connection.prepare("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema")?;
    let mut rows = objects.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, name, table, sql) =
            (row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?);
        match kind.as_str() {
            "table" if name.starts_with("sqlite_stat") => {}
            "table" if name == "trabajos" && !sql.trim_start().to_ascii_uppercase().starts_with("CREATE VIRTUAL") => {
                schema.tables.push(name);
            }
            "index" if table == "trabajos" => {}
            _ => schema.others.push(format!("{kind} {name}")),
        }
    }
    let mut columns = connection.prepare("SELECT name FROM pragma_table_xinfo('trabajos')")?;
    schema.columns = columns.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    // Without it one id may stand in several rows with several states, and nobody can say which one holds.
    let key = "SELECT group_concat(name) = 'id' FROM pragma_table_xinfo('trabajos') WHERE pk > 0";
    if connection.query_row(key, [], |row| row.get::<_, Option<bool>>(0))? != Some(true) {
        schema.oddities.push("id: PRIMARY KEY ?");
    }
    let rowless = "SELECT coalesce(max(wr), 0) FROM pragma_table_list('trabajos')";
    if connection.query_row(rowless, [], |row| row.get(0))? {
        schema.oddities.push("WITHOUT ROWID");
    }
    Ok(schema)
}

impl Schema {
    fn article(self, path: &Path) -> Result<Article, StoreError> {
        if self.tables.is_empty() {
            let what = if self.others.is_empty() { "no tables".to_owned() } else { listed(&self.others) };
            return Err(error::at(path, ErrorKind::Corrupt, "store_foreign").with("what", what));
        }
        let refused = |cause: String| error::at(path, ErrorKind::Corrupt, "takeover_refused").with("cause", cause);
        if !self.others.is_empty() {
            return Err(refused(listed(&self.others)));
        }
        let missing: Vec<_> = COLUMNS
            .iter()
            .filter(|name| !self.columns.iter().any(|has| has == **name))
            .map(ToString::to_string)
            .collect();
        if !missing.is_empty() {
            return Err(refused(format!("trabajos: {} ?", missing.join(", "))));
        }
        if let [oddity, ..] = self.oddities[..] {
            return Err(refused(format!("trabajos: {oddity}")));
        }
        let other_columns = self.columns.into_iter().filter(|name| !COLUMNS.contains(&name.as_str())).collect();
        Ok(Article { other_columns })
    }
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut listed = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        listed.push_str(", …");
    }
    listed
}

/// Takes the file over, unless another process has done so meanwhile.
pub(super) fn take_over(path: &Path, options: &Options, wait: &Wait) -> Result<Option<TakenOver>, StoreError> {
    let connection = connection::open_plain(path).map_err(|cause| error::sqlite(path, &cause))?;
    wait.for_lock(path, || connection.execute_batch("BEGIN IMMEDIATE"))?;
    let mut copied = None;
    let taken = take_over_locked(&connection, path, options, &mut copied);
    if matches!(taken, Ok(Some(_))) {
        // Without the write-ahead log a commit waits for readers.
        wait.for_lock(path, || connection.execute_batch("COMMIT"))?;
    } else {
        // The transaction may be gone already; what failed first is what counts.
        let _ = connection.execute_batch("ROLLBACK");
        // The file is as it was: a copy of it at each try would fill the disk.
        if let Some(copy) = copied {
            let _ = fs::remove_file(copy);
        }
    }
    taken
}

fn take_over_locked(
    connection: &Connection,
    path: &Path,
    options: &Options,
    copied: &mut Option<PathBuf>,
) -> Result<Option<TakenOver>, StoreError> {
    let sqlite = |cause: rusqlite::Error| error::sqlite(path, &cause);
    let signature: u32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(sqlite)?;
    if signature == file::APPLICATION_ID {
        return Ok(None);
    }
    // Looked at again: what was seen before was seen without the lock.
    let article = schema(connection).map_err(sqlite)?.article(path)?;
    let mut report = TakenOver { other_columns: article.other_columns, ..TakenOver::default() };
    report.copy = copy_as_it_was(path)?;
    *copied = Some(report.copy.clone());

    // The signature goes first: pages may reach the file before the commit, and whoever reads them after a kill, without
    // being able to roll them back, must see that the file is claimed and not a stranger's tables beside the article's.
    connection.pragma_update(None, "application_id", file::APPLICATION_ID).map_err(sqlite)?;
    for step in options.migrations {
        migrate::apply(connection, step).map_err(sqlite)?;
    }
    create::sign(connection, options).map_err(sqlite)?;
    let slots = super::slots(path, connection)?;
    let scope = Scope {
        connection,
        path,
        clock: &*options.clock,
        slots,
        fold_after: options.fold_after,
        packing: options.packing,
    };
    enter_rows(&scope, options, &mut report)?;
    connection.execute_batch(CLOSE_OLD_TABLE).map_err(sqlite)?;
    Ok(Some(report))
}

/// Whoever still writes to the old table learns why it stopped, in both languages.
const CLOSE_OLD_TABLE: &str = include_str!("close_old_table.sql");

/// Removes the row of an event that is erased from the old table, which is closed to everybody else.
pub(super) fn forget_row(connection: &Connection, source: &str, id: &str) -> rusqlite::Result<()> {
    let trigger: Option<String> = connection
        .prepare_cached("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = 'trabajos_no_delete'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    let Some(trigger) = trigger.filter(|_| source == Source::DEFAULT) else { return Ok(()) };
    connection.execute_batch("DROP TRIGGER trabajos_no_delete")?;
    connection.execute("DELETE FROM trabajos WHERE id = ?1", [id])?;
    connection.execute_batch(&trigger)
}

/// A copy beside the file, under the first name of its kind that is free.
fn copy_as_it_was(path: &Path) -> Result<PathBuf, StoreError> {
    let free = (1..=u32::MAX)
        .map(|number| match number {
            1 => file::beside(path, ".antes-de-cola-ia"),
            more => file::beside(path, &format!(".antes-de-cola-ia.{more}")),
        })
        .find(|target| fs::symlink_metadata(target).is_err())
        .expect("a number is free");
    copy::copy(path, &free)?;
    Ok(free)
}

/// A row that can be an event.
struct Taken {
    state: JobState,
    reason: &'static str,
}

fn enter_rows(scope: &Scope<'_>, options: &Options, report: &mut TakenOver) -> Result<(), StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let mut select = scope
        .connection
        .prepare("SELECT rowid, id, texto, huella, estado FROM trabajos ORDER BY rowid")
        .map_err(sqlite)?;
    let mut rows = select.query([]).map_err(sqlite)?;
    let (mut batch, mut taken, mut weight) = (Vec::new(), Vec::new(), 0);
    loop {
        let row = rows.next().map_err(sqlite)?;
        let ended = row.is_none();
        if let Some(row) = row
            && let Some((delivery, fate)) = read(row, report).map_err(sqlite)?
        {
            weight += delivery.weight();
            batch.push(Intake::Delivery(delivery));
            taken.push(fate);
        }
        if ended || batch.len() == BATCH_MAX_EVENTS || weight >= BATCH_MAX_BYTES {
            enter_batch(scope, options, std::mem::take(&mut batch), &taken)?;
            weight = 0;
            taken.clear();
        }
        if ended {
            return Ok(());
        }
    }
}

fn enter_batch(scope: &Scope<'_>, options: &Options, batch: Vec<Intake>, taken: &[Taken]) -> Result<(), StoreError> {
    let op = OpId::new(&*options.clock, &*options.entropy);
    let prepared = accept::Prepared::new(Arc::new(batch), scope.slots)?;
    let accepted = accept::accept(scope, op, &prepared)?;
    let set = |receipt: &cola_ia_core::store::Receipt, fate: &Taken| {
        scope
            .connection
            .prepare_cached("UPDATE jobs SET state = ?2, reason = ?3, due_at = NULL, changed_at = ?4 WHERE event = ?1")?
            .execute(params![receipt.number.0, fate.state.as_str(), fate.reason, accepted.received_at.as_micros()])
    };
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    let source = accept::source_row(scope.connection, Source::DEFAULT).map_err(sqlite)?;
    let mut tally = Tally::default();
    for (receipt, fate) in accepted.receipts.iter().zip(taken) {
        if fate.state != JobState::Pending && set(receipt, fate).map_err(sqlite)? == 1 {
            tally.job_moves(source, JobState::Pending, fate.state);
        }
    }
    tally.write(scope.connection, accepted.received_at, scope.fold_after).map_err(sqlite)
}

/// A row as a delivery and the state of its job; `None` where it cannot be an event, which is reported.
fn read(row: &Row<'_>, report: &mut TakenOver) -> rusqlite::Result<Option<(Delivery, Taken)>> {
    let rowid: i64 = row.get(0)?;
    let (id, content) = match text(row.get_ref(1)?, RefusalCode::IdNotString)
        .and_then(EventId::new)
        .and_then(|id| Ok((id, text(row.get_ref(2).ok().unwrap_or(ValueRef::Null), RefusalCode::TextNotString)?)))
        // The bound of the configuration is about what comes in; this is here already.
        .and_then(|(id, text)| Ok((id, Content::new(text, usize::MAX)?)))
    {
        Ok(read) => read,
        Err(code) => {
            report.untaken_count += 1;
            if report.untaken.len() < REPORTED_MAX {
                report.untaken.push(Untaken { rowid, code });
            }
            return Ok(None);
        }
    };
    let fate = fate(row, &id, content.fingerprint(), report)?;
    match fate.state {
        JobState::Pending => report.pending += 1,
        JobState::Done => report.done += 1,
        _ => report.held += 1,
    }
    let origin = Origin { input: Arc::from("trabajos"), line: rowid.try_into().unwrap_or(0) };
    let delivery =
        Delivery { source: Source::default(), id, content, event_type: None, time: None, origin, body: None };
    Ok(Some((delivery, fate)))
}

fn text(value: ValueRef<'_>, otherwise: RefusalCode) -> Result<String, RefusalCode> {
    match value {
        ValueRef::Text(bytes) => String::from_utf8(bytes.to_vec()).map_err(|_| RefusalCode::Utf8Invalid),
        _ => Err(otherwise),
    }
}

fn fate(row: &Row<'_>, id: &EventId, fingerprint: Fingerprint, report: &mut TakenOver) -> rusqlite::Result<Taken> {
    let matches = row.get_ref(3)?.as_str().is_ok_and(|hex| hex == fingerprint.to_string());
    if !matches {
        remember(&mut report.mismatched, id.as_str().to_owned());
    }
    let state = row.get_ref(4)?;
    Ok(match state.as_str() {
        // It may have published: that weighs more than a wrong fingerprint.
        Ok("en_proceso") => Taken { state: JobState::Held, reason: REASON_RUNNING },
        _ if !matches => Taken { state: JobState::Held, reason: REASON_FINGERPRINT },
        Ok("pendiente") => Taken { state: JobState::Pending, reason: "" },
        Ok("terminado") => Taken { state: JobState::Done, reason: "" },
        other => {
            let word = other.map_or_else(|_| format!("{:?}", state.data_type()), str::to_owned);
            remember(&mut report.unknown_states, (id.as_str().to_owned(), word));
            Taken { state: JobState::Held, reason: REASON_STATE }
        }
    })
}

fn remember<T>(list: &mut Vec<T>, value: T) {
    if list.len() < REPORTED_MAX {
        list.push(value);
    }
}
