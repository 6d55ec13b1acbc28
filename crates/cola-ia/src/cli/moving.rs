//! `move`: a whole store to another place, in another engine or the same.
//!
//! The source is marked first: from then on nothing enters it, so what is copied is one state and nobody can go on with both.
//! Records are copied page by page as an import takes them, which is safe to repeat: whoever is interrupted runs the command again.
//! At the end both are read once more and compared, record by record.

use std::collections::VecDeque;
use std::sync::Arc;

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::filter::Filter;
use cola_ia_core::store::export::{ExportCursor, ExportStage, ImportBatch, Kind, Record};
use cola_ia_core::store::{ErrorKind, ListRequest, OpId, PageRequest, RestoredMark, Store, StoreError};
use cola_ia_store::moved::Moved;
use pollster::block_on;

use super::import::ImportTally;
use super::{Exit, Problem, Session, print};
use crate::add::interrupt::Interrupt;
use crate::config::{Db, Settings, Warning};
use crate::lang::Message;
use crate::store::{self, Chosen, Making};

/// Records that are copied at once.
const PAGE: u32 = 5_000;

/// The options of `move`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveOptions {
    /// `--to`; `None`: `--undo`.
    pub to: Option<Db>,
    /// `--json`
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// Where it could not be done, or not to its end; running it again goes on.
pub fn run(session: &Session, options: &MoveOptions, settings: &Settings) -> Result<Exit, Problem> {
    let interrupt =
        Interrupt::listen(|| ()).map_err(|cause| Problem::failed(Message::new("signals-failed").caused_by(&cause)))?;
    let source = store::change(session, settings)?;
    let before = moved(&source)?;
    let Some(to) = &options.to else { return undo(session, &source, before.as_ref()) };
    let place = to.to_string();
    if same_place(to, &settings.db) {
        return Err(Problem::usage(Message::new("move-same-place").with("path", &place)));
    }
    if let Some(mark) = &before {
        if mark.to != place {
            let elsewhere = Message::new("move-elsewhere").with("path", &settings.db).with("to", &mark.to);
            return Err(Problem::failed(elsewhere).hint(Message::new("move-elsewhere-hint")));
        }
        if mark.is_over {
            session.note(&Message::new("move-already").with("path", &settings.db).with("to", &place));
            return Ok(Exit::Done);
        }
    }
    let target = store::open(session, &Settings { db: to.clone(), ..settings.clone() }, Making::Plain)?;
    if before.is_none() {
        if !is_empty(&*target)? {
            let full = Message::new("move-target-not-empty").with("to", &place);
            return Err(Problem::failed(full).hint(Message::new("move-target-not-empty-hint")));
        }
        mark(&source, Some(Moved { to: place.clone(), is_over: false }))?;
    }
    let mut tally = ImportTally::default();
    copy(session, &*source, &*target, &interrupt, &place, &mut tally)?;
    if tally.left_something_out() || !alike(&*source, &*target, &interrupt)? {
        let differs = Message::new("move-differs").with("path", &settings.db).with("to", &place);
        return Err(Problem::failed(differs).hint(Message::new("move-differs-hint")));
    }
    settle_mark(&*source, &*target)?;
    mark(&source, Some(Moved { to: place.clone(), is_over: true }))?;
    let told = if options.json { tally.as_json() } else { tally.as_table(&session.lang, session.colour.stdout) };
    session.note(&Message::new("move-done").with("path", &settings.db).with("to", &place));
    session.hint(&Message::new("move-done-hint").with("to", &place));
    print(&told)
}

/// The source takes things in again. Whoever has begun to work at the other place would go on with both: it is said.
fn undo(session: &Session, source: &Chosen, before: Option<&Moved>) -> Result<Exit, Problem> {
    let Some(moved) = before else {
        session.note(&Message::new("move-undo-nothing"));
        return Ok(Exit::Done);
    };
    mark(source, None)?;
    let message = Message::new("move-undone").with("to", &moved.to);
    session.warn(&Warning { message, hint: Some(Message::new("move-undone-hint")) });
    Ok(Exit::Done)
}

fn failed(error: &StoreError) -> Problem {
    Problem::from_store(error)
}

fn moved(store: &Chosen) -> Result<Option<Moved>, Problem> {
    match store {
        Chosen::File(store) => block_on(store.moved()),
        Chosen::Database(store) => block_on(store.moved()),
        // The command is not taken with a server.
        Chosen::Server(_) => Ok(None),
    }
    .map_err(|error| failed(&error))
}

fn mark(store: &Chosen, mark: Option<Moved>) -> Result<(), Problem> {
    match store {
        Chosen::File(store) => block_on(store.mark_moved(mark)),
        Chosen::Database(store) => block_on(store.mark_moved(mark)),
        Chosen::Server(_) => Ok(()),
    }
    .map_err(|error| failed(&error))
}

fn same_place(a: &Db, b: &Db) -> bool {
    match (a, b) {
        (Db::File(a), Db::File(b)) => {
            let real = |path: &std::path::Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
            real(a) == real(b)
        }
        (a, b) => a.to_string() == b.to_string(),
    }
}

fn is_empty(store: &dyn Store) -> Result<bool, Problem> {
    let jobs = block_on(store.jobs(Filter::default(), PageRequest { below: None, limit: 1 }));
    let no_jobs = jobs.map_err(|error| failed(&error))?.jobs.is_empty();
    let request = ListRequest { after: None, limit: 1 };
    let deliveries = block_on(store.deliveries(Filter::default(), request)).map_err(|error| failed(&error))?;
    Ok(no_jobs && deliveries.items.is_empty())
}

fn interrupted() -> Problem {
    failed(&StoreError::new(ErrorKind::Unavailable, "interrupted"))
}

fn copy(
    session: &Session,
    source: &dyn Store,
    target: &dyn Store,
    interrupt: &Interrupt,
    place: &str,
    tally: &mut ImportTally,
) -> Result<(), Problem> {
    let (mut cursor, mut event, mut line): (Option<ExportCursor>, Option<Record>, u64) = (None, None, 0);
    loop {
        if interrupt.came() {
            return Err(interrupted());
        }
        let page = block_on(source.export(cursor, PAGE)).map_err(|error| failed(&error))?;
        // What goes on with an event stands behind the event again.
        let goes_on =
            matches!(cursor.map(|cursor| cursor.next), Some(ExportStage::Conflicts(..) | ExportStage::Deliveries(..)));
        let repeated = event.take().filter(|_| goes_on);
        event = page.records.iter().rfind(|record| record.kind() == Kind::Event).cloned().or(repeated.clone());
        let skipped = usize::from(repeated.is_some());
        let records: Vec<Record> = repeated.into_iter().chain(page.records).collect();
        let batch = ImportBatch { namespace: page.head.namespace, currency: page.head.currency, records };
        let batch = Arc::new(batch);
        let op = OpId::new(&SystemClock, &SystemEntropy);
        let imported = block_on(target.import(op, Arc::clone(&batch))).map_err(|error| failed(&error))?;
        for (record, outcome) in batch.records.iter().zip(imported.outcomes).skip(skipped) {
            line += 1;
            tally.outcome(session, place, line, record, outcome);
        }
        cursor = page.next;
        if cursor.is_none() {
            return Ok(());
        }
    }
}

/// The records of a store, one after the other.
struct Records<'s> {
    store: &'s dyn Store,
    page: VecDeque<Record>,
    next: Option<ExportCursor>,
    is_over: bool,
}

impl<'s> Records<'s> {
    fn of(store: &'s dyn Store) -> Self {
        Self { store, page: VecDeque::new(), next: None, is_over: false }
    }

    fn next(&mut self) -> Result<Option<Record>, Problem> {
        while self.page.is_empty() && !self.is_over {
            let page = block_on(self.store.export(self.next, PAGE)).map_err(|error| failed(&error))?;
            self.page = page.records.into();
            self.next = page.next;
            self.is_over = page.next.is_none();
        }
        Ok(self.page.pop_front())
    }
}

/// Whether both hold the same, to the last field.
fn alike(source: &dyn Store, target: &dyn Store, interrupt: &Interrupt) -> Result<bool, Problem> {
    let (mut here, mut there) = (Records::of(source), Records::of(target));
    loop {
        if interrupt.came() {
            return Err(interrupted());
        }
        match (here.next()?, there.next()?) {
            (None, None) => return Ok(true),
            (here, there) if here != there => return Ok(false),
            _ => {}
        }
    }
}

/// An import marks a store as restored, because somebody may have gone on elsewhere. Nobody has: the source takes nothing in since
/// no worker had anything in hand. Only where the source itself counts as restored the mark stays.
fn settle_mark(source: &dyn Store, target: &dyn Store) -> Result<(), Problem> {
    if block_on(source.restored_at()).map_err(|error| failed(&error))?.is_none() {
        let op = OpId::new(&SystemClock, &SystemEntropy);
        block_on(target.restored(op, RestoredMark::Cleared)).map_err(|error| failed(&error))?;
    }
    Ok(())
}
