//! `export`: all that a store keeps, as lines, to stdout or into a new file.

use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use cola_ia_core::clock::{Clock as _, SystemClock};
use cola_ia_core::store::export::{EXPORT_VERSION, ExportStage, Kind};
use cola_ia_core::store::{ErrorKind, Store, StoreError};
use cola_ia_wire::{ExportCounts, ExportHeader, ExportLine, push_export_line};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pollster::block_on;
use tempfile::NamedTempFile;

use super::{Exit, Problem, Session};
use crate::add::interrupt::Interrupt;
use crate::config::Settings;
use crate::lang::Message;

/// Records that are asked of the store at once.
const PAGE: u32 = 2_000;

/// The options of `export`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportOptions {
    /// The file to make; `None`: stdout.
    pub file: Option<PathBuf>,
    /// Without `--no-progress`.
    pub progress: bool,
}

/// Runs the command.
///
/// # Errors
/// Where it could not be done; then no file of that name is made.
pub fn run(session: &Session, options: &ExportOptions, settings: &Settings) -> Result<Exit, Problem> {
    let interrupt =
        Interrupt::listen(|| ()).map_err(|cause| Problem::failed(Message::new("signals-failed").caused_by(&cause)))?;
    let store = crate::store::view(session, settings)?;
    let bar = bar(session, options);
    let exported = match &options.file {
        None => {
            let mut stdout = io::stdout().lock();
            write(&*store, &mut stdout, &interrupt, bar.as_ref(), Problem::stdout)
        }
        Some(path) => {
            let failed = |cause: &io::Error| failed(path, cause);
            let mut file = temporary(path).map_err(|cause| failed(&cause))?;
            let exported = write(&*store, &mut file, &interrupt, bar.as_ref(), failed);
            exported.and_then(|counts| publish(file, path).map(|()| counts).map_err(|cause| failed(&cause)))
        }
    };
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let ExportCounts(counts) = exported?;
    let place = options.file.as_ref().map_or_else(|| "-".to_owned(), |path| path.display().to_string());
    session.note(
        &Message::new("export-done")
            .with("path", place)
            .number("events", counts[Kind::Event as usize])
            .number("deliveries", counts[Kind::Delivery as usize])
            .number("lines", counts.iter().sum::<u64>() + 2),
    );
    Ok(Exit::Done)
}

/// A bar on stderr, where the lines go elsewhere.
fn bar(session: &Session, options: &ExportOptions) -> Option<ProgressBar> {
    let elsewhere = options.file.is_some() || !io::stdout().is_terminal();
    let shown = options.progress && elsewhere && !session.quiet && io::stderr().is_terminal();
    shown.then(|| {
        let bar = ProgressBar::no_length();
        bar.set_draw_target(ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {eta}") {
            bar.set_style(style);
        }
        bar
    })
}

fn write(
    store: &dyn Store,
    to: &mut dyn Write,
    interrupt: &Interrupt,
    bar: Option<&ProgressBar>,
    failed: impl Fn(&io::Error) -> Problem,
) -> Result<ExportCounts, Problem> {
    let mut counts = ExportCounts::default();
    let (mut cursor, mut is_first) = (None, true);
    let mut out = String::new();
    loop {
        let page = block_on(store.export(cursor, PAGE)).map_err(|error| Problem::from_store(&error))?;
        if is_first {
            let header = ExportHeader {
                version: EXPORT_VERSION,
                namespace: page.head.namespace,
                program: concat!("cola-ia ", env!("CARGO_PKG_VERSION")).to_owned(),
                schema: page.head.schema,
                at: SystemClock.now(),
                currency: page.head.currency,
            };
            push_export_line(&mut out, &ExportLine::Header(header));
            is_first = false;
        }
        for record in page.records {
            counts.add(record.kind());
            push_export_line(&mut out, &ExportLine::Record(record));
        }
        if page.next.is_none() {
            push_export_line(&mut out, &ExportLine::End(counts));
        }
        to.write_all(out.as_bytes()).map_err(|cause| failed(&cause))?;
        out.clear();
        if interrupt.came() {
            return Err(Problem::from_store(&StoreError::new(ErrorKind::Unavailable, "interrupted")));
        }
        cursor = page.next;
        let Some(next) = cursor else { break };
        if let Some(bar) = bar {
            let at = match next.next {
                ExportStage::Sources(_) => 0,
                ExportStage::Events(event) | ExportStage::Conflicts(event, _) | ExportStage::Deliveries(event, _) => {
                    event
                }
                ExportStage::Refused(_) | ExportStage::Counters | ExportStage::Money(_) => next.upto,
            };
            bar.set_length(next.upto as u64);
            bar.set_position(at as u64);
        }
    }
    to.flush().map_err(|cause| failed(&cause))?;
    Ok(counts)
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A private file beside the one to be: a file of that name is whole or not there.
pub(super) fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    match fs::symlink_metadata(path) {
        Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => {}
        Err(other) => return Err(other),
    }
    // Whoever finds what a killed process left sees what it was to be.
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    tempfile::Builder::new().prefix(&name).suffix(".partial").tempfile_in(folder_of(path))
}

/// Gives it its name, unless something of that name has appeared.
pub(super) fn publish(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    File::open(folder_of(path))?.sync_all()
}

fn failed(path: &Path, cause: &io::Error) -> Problem {
    let problem = Problem::failed(Message::new("export-not-written").with("path", path.display()).caused_by(cause));
    if cause.kind() == io::ErrorKind::AlreadyExists {
        return problem.hint(Message::new("export-not-written-hint"));
    }
    problem
}
