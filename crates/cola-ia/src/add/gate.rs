//! Where the batches go: into the store, or, for a dry run, nowhere.

use std::path::Path;
use std::sync::Arc;

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::intake::Intake;
use cola_ia_core::store::{OpId, Preview, Receipt, Store, StoreError};
use cola_ia_core::verdict::Verdict;
use cola_ia_store::sqlite::{Opened, Options, SqliteStore};

use pollster::block_on;

use crate::cli::add::Foretold;
use crate::store::Chosen;

/// The answers to a batch, in its order.
pub(super) enum Answers {
    /// What the store says and has recorded.
    Receipts(Vec<Receipt>),
    /// What it would say.
    Foretold(Vec<Foretold>),
}

/// Where the batches go.
pub(super) enum Gate {
    Store(Chosen),
    DryRun(Box<DryRun>),
}

impl Gate {
    /// One batch, one transaction.
    pub(super) fn judge(&self, batch: &Arc<Vec<Intake>>) -> Result<Answers, StoreError> {
        match self {
            Self::Store(store) => {
                let op = OpId::new(&SystemClock, &SystemEntropy);
                let accepted = block_on(store.accept(op, Arc::clone(batch)))?;
                Ok(Answers::Receipts(accepted.receipts))
            }
            Self::DryRun(dry_run) => dry_run.judge(batch).map(Answers::Foretold),
        }
    }
}

/// The real store is only looked at; what it does not know enters a scratch store, so that repetitions within the input
/// are seen, and memory stays bounded however long the input is.
pub(super) struct DryRun {
    real: Option<Chosen>,
    scratch: SqliteStore,
    _folder: tempfile::TempDir,
}

impl DryRun {
    /// Makes the scratch store. The article's database is copied there and taken over there, which tells what a real run
    /// would do to it.
    pub(super) fn open(path: &Path, options: &Options) -> Result<(Self, Opened), StoreError> {
        let folder = folder()?;
        let scratch_path = folder.path().join(SCRATCH);
        let real = match SqliteStore::view(path, options) {
            Ok(real) => Some(Chosen::File(Arc::new(real))),
            Err(error) if error.code == "store_missing" => None,
            Err(error) if error.code == "store_article" => {
                copy_as_it_stands(path, &scratch_path).map_err(scratch_failed)?;
                None
            }
            Err(error) => return Err(error),
        };
        // The scratch is thrown away: where it stands does not matter.
        let scratch_options = Options { allow_network_filesystem: true, ..options.clone() };
        let (scratch, opened) = SqliteStore::open(&scratch_path, &scratch_options)?;
        let opened = Opened { taken_over: opened.taken_over, ..Opened::default() };
        Ok((Self { real, scratch, _folder: folder }, opened))
    }

    /// The same of a store that is no file, if it is there: the scratch store is made on this machine.
    pub(super) fn beside(real: Option<Chosen>, options: &Options) -> Result<Self, StoreError> {
        let folder = folder()?;
        let scratch_options = Options { allow_network_filesystem: true, ..options.clone() };
        let (scratch, _) = SqliteStore::open(&folder.path().join(SCRATCH), &scratch_options)?;
        Ok(Self { real, scratch, _folder: folder })
    }

    fn judge(&self, batch: &Arc<Vec<Intake>>) -> Result<Vec<Foretold>, StoreError> {
        let known = match &self.real {
            Some(real) => block_on(real.preview(Arc::clone(batch)))?,
            None => vec![Preview::Unknown; batch.len()],
        };
        let unknown = batch
            .iter()
            .zip(&known)
            .filter(|(_, preview)| **preview == Preview::Unknown)
            .map(|(intake, _)| intake.clone())
            .collect();
        let op = OpId::new(&SystemClock, &SystemEntropy);
        let mut judged = block_on(self.scratch.accept(op, Arc::new(unknown)))?.receipts.into_iter();
        Ok(known
            .into_iter()
            .map(|preview| Foretold {
                // One receipt for each unknown member, in the same order.
                verdict: preview
                    .verdict()
                    .unwrap_or_else(|| judged.next().map_or(Verdict::Invalid, |receipt| receipt.verdict)),
                decided: preview == Preview::Decided,
            })
            .collect())
    }
}

/// The scratch store's name in its folder.
const SCRATCH: &str = "dry-run.sqlite3";

fn folder() -> Result<tempfile::TempDir, StoreError> {
    tempfile::Builder::new().prefix("cola-ia-").tempdir().map_err(scratch_failed)
}

#[allow(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
fn scratch_failed(cause: std::io::Error) -> StoreError {
    StoreError::new(cola_ia_core::store::ErrorKind::Unavailable, "store_io")
        .with("path", std::env::temp_dir().display())
        .with("cause", cause)
}

/// The file and what SQLite left beside it. Not SQLite's own copy: that would first recover the original, which writes.
fn copy_as_it_stands(from: &Path, to: &Path) -> std::io::Result<()> {
    // SQLite follows links: the side files stand beside the real one.
    let from = &std::fs::canonicalize(from)?;
    std::fs::copy(from, to)?;
    for ending in ["-journal", "-wal"] {
        let side = |path: &Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            std::path::PathBuf::from(name)
        };
        match std::fs::copy(side(from), side(to)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
