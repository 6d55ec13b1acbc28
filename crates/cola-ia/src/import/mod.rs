//! `import`: from the lines of an export to records in the store, batch after batch.
//!
//! What belongs to an event enters with it or not at all: an event is held until something else follows, and one with a line
//! that cannot be read stays out as a whole. So an end in the middle of a file loses nothing silently: what was whole has
//! entered, and the rest enters with the whole file.

mod assemble;

use std::io::{IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cola_ia_core::clock::{SystemClock, SystemEntropy};
use cola_ia_core::store::export::{EXPORT_VERSION, ImportBatch, Kind};
use cola_ia_core::store::{ErrorKind, OpId, StoreError};
use cola_ia_wire::{ExportCounts, ExportHeader, ExportLine, read_export_line};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pollster::block_on;

use crate::add::inputs;
use crate::add::interrupt::{Interrupt, LockWait};
use crate::cli::add::Input;
use crate::cli::import::{ImportOptions, ImportTally};
use crate::cli::{Exit, Problem, Session, errors};
use crate::config::Settings;
use crate::intake::{RawEnd, RawLine, read_raw};
use crate::lang::Message;
use crate::store::{self, Chosen, Making};
use assemble::{Assembler, Member};

/// Runs the command.
///
/// # Errors
/// Where it could not be done, or not to its end; what entered before is there all the same, and running it again is safe.
pub fn run(session: &Session, options: &ImportOptions, settings: &Settings) -> Result<Exit, Problem> {
    let size = check(&options.input, settings.db.file())?;
    let interrupt =
        Interrupt::listen(|| ()).map_err(|cause| Problem::failed(Message::new("signals-failed").caused_by(&cause)))?;
    let name = options.name();
    let input = inputs::open(&options.input).map_err(|cause| not_readable(&name, &cause))?;
    let mut import = Import {
        session,
        options,
        settings,
        interrupt: interrupt.clone(),
        name: &name,
        consumed: Arc::default(),
        bar: bar(session, options, size),
        store: None,
        header: None,
        assembler: Assembler::default(),
        counts: ExportCounts::default(),
        end: None,
        tally: ImportTally::default(),
        is_at_sums: false,
        failed: None,
    };
    let consumed = Arc::clone(&import.consumed);
    let ended = read_raw(input.bytes, settings.max_line_bytes, &consumed, |line| match import.line(line) {
        Ok(()) if import.interrupt.came() => ControlFlow::Break(()),
        Ok(()) => ControlFlow::Continue(()),
        Err(problem) => {
            import.failed = Some(problem);
            ControlFlow::Break(())
        }
    });
    import.finish(&ended)
}

fn not_readable(name: &str, cause: &std::io::Error) -> Problem {
    Problem::failed(Message::new("input-not-readable").with("path", name).caused_by(cause))
}

/// Looks at the input before the store is opened, which would make one. Answers its size, where it has one.
fn check(input: &Input, store: Option<&Path>) -> Result<Option<u64>, Problem> {
    let Input::File(path) = input else { return Ok(None) };
    let metadata = std::fs::metadata(path).map_err(|cause| not_readable(&path.display().to_string(), &cause))?;
    if metadata.is_dir() {
        return Err(Problem::failed(Message::new("input-is-folder").with("path", path.display())));
    }
    let is_store = store.and_then(|store| std::fs::metadata(store).ok());
    let is_store = is_store.is_some_and(|store| (store.dev(), store.ino()) == (metadata.dev(), metadata.ino()));
    if is_store {
        return Err(Problem::failed(Message::new("input-is-store").with("path", path.display())));
    }
    Ok(metadata.is_file().then_some(metadata.len()))
}

/// On stderr, where somebody sees it and stdout is not there.
fn bar(session: &Session, options: &ImportOptions, size: Option<u64>) -> Option<ProgressBar> {
    let shown = options.progress && !session.quiet && std::io::stderr().is_terminal();
    shown.then(|| {
        let (bar, template) = match size {
            Some(size) => (ProgressBar::new(size), "{bar:30} {percent:>3} %  {binary_bytes_per_sec}  {eta}"),
            None => (ProgressBar::no_length(), "{spinner} {binary_bytes}  {binary_bytes_per_sec}"),
        };
        bar.set_draw_target(ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar
    })
}

struct Import<'a> {
    session: &'a Session,
    options: &'a ImportOptions,
    settings: &'a Settings,
    interrupt: Interrupt,
    name: &'a str,
    consumed: Arc<AtomicU64>,
    bar: Option<ProgressBar>,
    store: Option<Chosen>,
    header: Option<ExportHeader>,
    assembler: Assembler,
    /// Records that were read.
    counts: ExportCounts,
    end: Option<ExportCounts>,
    tally: ImportTally,
    /// Counters and money, the last kinds, have begun.
    is_at_sums: bool,
    failed: Option<Problem>,
}

impl Import<'_> {
    fn line(&mut self, line: RawLine<'_>) -> Result<(), Problem> {
        let (number, read) = match line {
            RawLine::Line { number, bytes, terminated } => match read_export_line(bytes) {
                Ok(line) => (number, Ok(line)),
                Err(_) if !terminated && self.header.is_some() => {
                    return Ok(());
                }
                Err(fault) => (number, Err((fault.code, fault.detail))),
            },
            RawLine::TooLong { number, length } => (number, Err(("line_too_long", length.to_string()))),
        };
        if self.header.is_none() {
            return self.first(read.ok());
        }
        if self.end.is_some() {
            return self.refuse(number, "export_after_end", "");
        }
        match read {
            Ok(ExportLine::Record(record)) => {
                let kind = record.kind();
                self.counts.add(kind);
                if matches!(kind, Kind::Counter | Kind::Money) && !self.takes_sums()? {
                    return Ok(());
                }
                let refused = self.assembler.take(number, record);
                for (line, code) in refused {
                    self.refuse(line, code, "")?;
                }
                if self.assembler.is_due() { self.commit() } else { Ok(()) }
            }
            Ok(ExportLine::Header(_)) => self.spoil(number, "export_order", "header"),
            Ok(ExportLine::End(counts)) => {
                for (line, code) in self.assembler.close() {
                    self.refuse(line, code, "")?;
                }
                self.end = Some(counts);
                Ok(())
            }
            Err((code, detail)) => self.spoil(number, code, &detail),
        }
    }

    /// Whether the sums of the export are those of what has entered. Where something was left out they are not: it may enter
    /// later, and would be counted twice.
    fn takes_sums(&mut self) -> Result<bool, Problem> {
        if !self.is_at_sums {
            self.is_at_sums = true;
            for (line, code) in self.assembler.close() {
                self.refuse(line, code, "")?;
            }
            self.commit()?;
        }
        Ok(!self.tally.left_something_out())
    }

    /// Nothing is touched before the first line says that it is an export that can be read.
    fn first(&mut self, line: Option<ExportLine>) -> Result<(), Problem> {
        let Some(ExportLine::Header(header)) = line else {
            return Err(self.not_an_export());
        };
        if header.version > EXPORT_VERSION {
            return Err(Problem::failed(
                Message::new("import-newer")
                    .with("input", self.name)
                    .number("found", header.version.into())
                    .number("known", EXPORT_VERSION.into()),
            )
            .hint(Message::new("import-newer-hint")));
        }
        self.store = Some(self.open()?);
        self.header = Some(header);
        // Refused before anything enters, also where the export holds nothing.
        self.commit()
    }

    fn open(&self) -> Result<Chosen, Problem> {
        if self.settings.server.is_some() {
            return store::change(self.session, self.settings);
        }
        let patience = Arc::new(LockWait::new(self.interrupt.clone(), self.session.clone()));
        let made = store::made(self.settings, Making::Plain, patience).map_err(|error| Problem::from_store(&error))?;
        Ok(store::told(self.session, self.settings, made))
    }

    fn not_an_export(&self) -> Problem {
        let problem = Problem::failed(Message::new("import-not-an-export").with("input", self.name));
        problem.hint(Message::new("import-not-an-export-hint").with("input", self.name))
    }

    fn refuse(&mut self, line: u64, code: &str, detail: &str) -> Result<(), Problem> {
        self.hidden(|import| import.tally.refused(import.session, import.name, line, code, detail));
        self.say_json()
    }

    /// A line that cannot be read, and with it the event that it may belong to.
    fn spoil(&mut self, line: u64, code: &str, detail: &str) -> Result<(), Problem> {
        self.assembler.spoil();
        self.refuse(line, code, detail)
    }

    /// Runs something that writes to the terminal, with the bar out of its way.
    fn hidden<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        match self.bar.clone() {
            Some(bar) => bar.suspend(|| write(self)),
            None => write(self),
        }
    }

    fn say_json(&mut self) -> Result<(), Problem> {
        let json = self.tally.take_json();
        if self.options.json { say(&json) } else { Ok(()) }
    }

    /// Enters what is ready.
    fn commit(&mut self) -> Result<(), Problem> {
        let (Some(store), Some(header)) = (&self.store, &self.header) else { return Ok(()) };
        let members = self.assembler.ready();
        let records = members.iter().map(|member| member.record.clone()).collect();
        let currency = header.currency.clone();
        let batch = Arc::new(ImportBatch { namespace: header.namespace, currency, records });
        let op = OpId::new(&SystemClock, &SystemEntropy);
        let imported = block_on(store.import(op, Arc::clone(&batch))).map_err(|error| Problem::from_store(&error))?;
        self.hidden(|import| {
            for (Member { line, record, is_repeated }, outcome) in members.iter().zip(imported.outcomes) {
                if !is_repeated {
                    import.tally.outcome(import.session, import.name, *line, record, outcome);
                }
            }
        });
        if let Some(bar) = &self.bar {
            bar.set_position(self.consumed.load(Ordering::Relaxed));
        }
        self.say_json()
    }

    fn finish(mut self, ended: &RawEnd) -> Result<Exit, Problem> {
        if self.failed.is_none() && self.header.is_none() {
            // An input that cannot be read is no export that is none.
            self.failed = match ended {
                RawEnd::Failed(error) => Some(errors::input_error(self.name, error)),
                _ => Some(self.not_an_export()),
            };
        }
        if self.header.is_none() {
            return Err(self.failed.unwrap_or_else(|| unreachable!("set above")));
        }
        if self.failed.is_none()
            && let Err(problem) = self.commit()
        {
            self.failed = Some(problem);
        }
        // Moves the log into the file: part of the work, before it is called done.
        drop(self.store.take());
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.options.json {
            say(&self.tally.as_json())?;
        } else {
            say(&self.tally.as_table(&self.session.lang, self.session.colour.stdout))?;
        }
        let exit = self.tally.finish(self.session);
        if let Some(problem) = self.failed {
            return Err(problem);
        }
        if self.interrupt.came() {
            return Err(Problem::from_store(&StoreError::new(ErrorKind::Unavailable, "interrupted")));
        }
        if let RawEnd::Failed(error) = ended {
            return Err(errors::input_error(self.name, error));
        }
        match self.end {
            None => Err(Problem::failed(Message::new("import-cut").with("input", self.name))
                .hint(Message::new("import-cut-hint"))),
            // A line that could not be read has been told.
            Some(counts) if exit == Exit::Done && counts != self.counts => {
                Err(Problem::failed(Message::new("import-counts").with("input", self.name))
                    .hint(Message::new("import-cut-hint")))
            }
            Some(_) => Ok(exit),
        }
    }
}

fn say(text: &str) -> Result<(), Problem> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|cause| Problem::stdout(&cause))
}
