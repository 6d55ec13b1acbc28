//! What is wrong with a store, and with what is around it: findings, each a code with facts.
//!
//! It only looks. It works on what cannot be opened, too: then it says why. Nothing here holds a read transaction for long
//! but SQLite's own check of the pages and the count of jobs, which are broken off where the log grows too much meanwhile.

mod identities;
mod surroundings;
mod tables;
mod waiting;

use std::fs;
use std::path::Path;

use cola_ia_core::store::{ErrorKind, StoreError};
use rusqlite::Connection;

use super::connection::{self, Wait};
use super::file::{self, Found};
use super::{Options, check, home, migrate, refuse_network, take_over};
pub use crate::doctor::{Fact, Finding, Look, Severity};

/// Looks at the store at `path` and at what is around it. `quick`: only at the newest rows, and not at every entry of every
/// index. Answers in the order in which it looked.
///
/// # Errors
/// `interrupted`.
pub fn examine(path: &Path, options: &Options, quick: bool, look: &dyn Fn(Look)) -> Result<Vec<Finding>, StoreError> {
    let mut findings = Vec::new();
    // SQLite follows links: the side files stand beside the real one.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let readers = super::processes::readers_of_old_states(&real);
    let usable = stands(path, options, &mut findings);
    if usable == Some(Found::Absent) {
        return Ok(findings);
    }
    surroundings::folder(&real, &mut findings);
    if file::identity(&real).is_none() {
        return Ok(findings);
    }
    surroundings::users(&real, &readers, &mut findings);
    if matches!(usable, Some(Found::Store | Found::Claimed)) {
        inside(path, &real, options, quick, look, &mut findings)?;
    }
    Ok(findings)
}

/// What stands at the path. `None`: nothing that can be opened.
fn stands(path: &Path, options: &Options, findings: &mut Vec<Finding>) -> Option<Found> {
    let found = match file::inspect(path) {
        Ok(Found::Absent) => {
            findings.push(Finding::new(Severity::Error, "store_missing").text("path", path.display()));
            return Some(Found::Absent);
        }
        Ok(found) => found,
        Err(failed) => {
            findings.push(Finding::failed(Severity::Error, &failed));
            return None;
        }
    };
    if let Err(failed) = refuse_network(path, options) {
        findings.push(Finding::failed(Severity::Error, &failed));
    }
    if found == Found::Unsigned {
        let finding = match take_over::recognise(path, &options.wait()) {
            Ok(_) => Finding::new(Severity::Warning, "store_article").text("path", path.display()),
            Err(failed) => Finding::failed(Severity::Error, &failed),
        };
        findings.push(finding);
        return None;
    }
    Some(found)
}

/// What the store itself says. A store that cannot be read any further ends it with a finding.
fn inside(
    path: &Path,
    real: &Path,
    options: &Options,
    quick: bool,
    look: &dyn Fn(Look),
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    surroundings::size(real, findings);
    let mut examination = match Examination::start(path, real, options) {
        Ok(examination) => examination,
        Err(failed) => {
            findings.push(Finding::failed(Severity::Error, &failed));
            return Ok(());
        }
    };
    let seen = examination.versions(findings).and_then(|known| {
        if known {
            examination.kind(findings)?;
            waiting::waiting(&examination, findings)?;
            if examination.version >= 4 {
                waiting::alarms(&examination, findings)?;
            }
        }
        Ok(known)
    });
    let readable = match seen {
        // A newer program's tables say nothing to this one.
        Ok(false) => return Ok(()),
        Ok(true) => true,
        Err(cause) => {
            findings.push(Finding::failed(Severity::Error, &unreadable(path, &cause)));
            false
        }
    };
    surroundings::log(&examination.connection, real, findings);
    look(Look::Pages);
    examination.pages(quick, findings)?;
    if readable {
        examination.tables(quick, look, findings)?;
    }
    examination.log_alone(findings);
    if findings.iter().any(|finding| finding.code == "backup") {
        waiting::nobodys_in_a_backup(findings);
    }
    Ok(())
}

/// What an error of SQLite means for a file that has our signature: a table that is not there is damage.
fn unreadable(path: &Path, cause: &rusqlite::Error) -> StoreError {
    let failed = super::error::sqlite(path, cause);
    if cause.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown) {
        return StoreError { kind: ErrorKind::Corrupt, code: "store_damaged", ..failed };
    }
    failed
}

/// How far the log may grow while one read transaction is held.
const LOG_GROWTH_MAX: u64 = 512 << 20;

struct Examination<'a> {
    path: &'a Path,
    real: &'a Path,
    options: &'a Options,
    connection: Connection,
    version: u32,
}

impl<'a> Examination<'a> {
    fn start(path: &'a Path, real: &'a Path, options: &'a Options) -> Result<Self, StoreError> {
        let wait: Wait = options.wait();
        let connection = connection::open_to_look(path, &wait)?;
        let version = wait.for_lock(path, || migrate::version(&connection))?;
        Ok(Self { path, real, options, connection, version })
    }

    /// Whether this program knows the schema.
    fn versions(&mut self, findings: &mut Vec<Finding>) -> rusqlite::Result<bool> {
        let known = self.options.migrations.len() as u32;
        if self.version > known {
            let finding = Finding::new(Severity::Error, "store_newer").text("path", self.path.display());
            findings.push(finding.text("found", self.version).text("known", known));
            return Ok(false);
        }
        let made_by: String = self.connection.query_row("SELECT created_by FROM store", [], |row| row.get(0))?;
        findings.push(
            Finding::new(Severity::Ok, "versions")
                .text("program", env!("CARGO_PKG_VERSION"))
                .text("sqlite", rusqlite::version())
                .number("schema", self.version)
                .text("made_by", made_by),
        );
        if self.version < known {
            let finding = Finding::new(Severity::Warning, "store_needs_migration").text("path", self.path.display());
            findings.push(finding.text("found", self.version).text("known", known));
        }
        Ok(true)
    }

    /// Whether it is a backup, was restored, or is a copy.
    fn kind(&self, findings: &mut Vec<Finding>) -> rusqlite::Result<()> {
        let number = |sql: &str| self.connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
        let restored_at = number("SELECT restored_at FROM store")?;
        let backed_up_at = check::backed_up_at(&self.connection)?;
        let arrival = home::arrival(&self.connection, self.real)?;
        let with = |finding: Finding, name, at: Option<i64>| match at {
            Some(at) => finding.number(name, at),
            None => finding,
        };
        if arrival.backup_in_place {
            findings.push(with(Finding::new(Severity::Note, "backup"), "taken_at", backed_up_at));
            return Ok(());
        }
        if restored_at.is_some() {
            let finding = with(Finding::new(Severity::Warning, "restored"), "restored_at", restored_at);
            let finding = finding.number("effects", waiting::doubtful(&self.connection)?);
            findings.push(with(finding, "taken_at", backed_up_at));
        }
        if arrival.copied {
            findings.push(Finding::new(Severity::Warning, "copied"));
        } else if check::has_column(&self.connection, "store", "copied_at")? {
            let copied_at = number("SELECT copied_at FROM store")?;
            if copied_at.is_some() {
                findings.push(with(Finding::new(Severity::Warning, "copied"), "noticed_at", copied_at));
            }
        }
        Ok(())
    }

    /// Runs what holds a read transaction for long, and breaks it off where nobody wants it any more or where the log, which
    /// cannot be emptied meanwhile, grows too much: `None`.
    fn break_off<T>(&self, run: impl FnOnce() -> rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
        let log = file::length_of_side(self.real, "-wal");
        let has_grown = || file::length_of_side(self.real, "-wal") > log + LOG_GROWTH_MAX;
        check::breakable(&self.connection, || self.options.patience.is_over() || has_grown(), run)
    }

    fn pages(&self, quick: bool, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
        let found = match self.break_off(|| check::pages(&self.connection, quick)) {
            Ok(Some(found)) => found,
            Ok(None) if self.options.patience.is_over() => return Err(interrupted()),
            Ok(None) => {
                findings.push(Finding::new(Severity::Warning, "pages_unfinished"));
                return Ok(());
            }
            // Damage that stops the check itself.
            Err(cause) => vec![super::error::sqlite(self.path, &cause).fact("cause").unwrap_or("?").to_owned()],
        };
        if found.is_empty() {
            let code = if quick { "pages_quick" } else { "pages" };
            findings.push(Finding::new(Severity::Ok, code));
            return Ok(());
        }
        findings.push(Finding::new(Severity::Error, "pages_damaged").text("cause", found.join("; ")));
        Ok(())
    }

    /// Whether the file is sound without its log: then the log is not its own, or one of the two is older.
    fn log_alone(&self, findings: &mut Vec<Finding>) {
        if findings.iter().all(|finding| finding.severity < Severity::Error)
            || file::length_of_side(self.real, "-wal") == 0
        {
            return;
        }
        let is_sound = |alone: &Connection| -> rusqlite::Result<bool> {
            let stores: i64 = alone.query_row("SELECT count(*) FROM store", [], |row| row.get(0))?;
            Ok(stores == 1 && check::pages(alone, true)?.is_empty())
        };
        if connection::open_frozen(self.path).is_ok_and(|alone| is_sound(&alone).unwrap_or(false)) {
            let log = file::beside(self.real, "-wal");
            findings.push(Finding::new(Severity::Error, "log_foreign").text("wal", log.display()));
        }
    }

    fn tables(&self, quick: bool, look: &dyn Fn(Look), findings: &mut Vec<Finding>) -> Result<(), StoreError> {
        match tables::examine(self, quick, look) {
            Ok(Some(found)) => {
                findings.extend(found);
                Ok(())
            }
            Ok(None) => Err(interrupted()),
            Err(cause) => {
                findings.push(Finding::failed(Severity::Error, &unreadable(self.path, &cause)));
                Ok(())
            }
        }
    }
}

const fn interrupted() -> StoreError {
    StoreError::new(ErrorKind::Unavailable, "interrupted")
}
