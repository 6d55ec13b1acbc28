//! `add`: from inputs through the gate, an answer for each event once it is durable.
//!
//! One thread reads, unpacks, parses and takes fingerprints; this one commits batch after batch; one says the answers; the
//! store's own writes. They meet in a queue (`queue.rs`) that holds one batch, and in a channel that holds none.

mod gate;
pub(crate) mod inputs;
pub(crate) mod interrupt;
mod progress;
mod queue;
mod read;

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use cola_ia_core::intake::Intake;
use cola_ia_core::store::StoreError;
use cola_ia_store::sqlite::{Opened, Options};

use crate::cli::add::{AddOptions, Refusals, Tally, push_answer, push_preview, push_refusal};
use crate::cli::errors::Bounds;
use crate::cli::{Exit, Problem, Session};
use crate::config::{Db, Settings};
use crate::lang::Message;
use crate::store::{self, Chosen, Making};
use gate::{Answers, DryRun, Gate};
use interrupt::{Interrupt, LockWait};
use progress::Progress;
use queue::Queue;
use read::Reading;

/// Runs the command.
///
/// # Errors
/// Where it could not be done, or not to its end; what was answered before is stored all the same, and running it again is
/// safe.
pub fn run(session: &Session, options: &AddOptions, settings: &Settings) -> Result<Exit, Problem> {
    let size = inputs::check(&options.inputs, settings.db.file(), options.rejects.as_deref())?;
    let queue = Arc::new(Queue::default());
    let stopped = Arc::clone(&queue);
    let interrupt = Interrupt::listen(move || stopped.stop())
        .map_err(|cause| Problem::failed(Message::new("signals-failed").caused_by(&cause)))?;
    let patience = Arc::new(LockWait::new(interrupt.clone(), session.clone()));
    let gate = open(session, options, settings, patience)?;
    if let Gate::Store(Chosen::File(store)) = &gate {
        let preparer = store.preparer();
        queue.prepare_with(move |batch| preparer.prepare(batch));
    }

    let progress = Progress::new(session, options, size);
    let reading = Reading::start(options, settings, &queue, progress.bytes());
    let bounds = Bounds { line: settings.max_line_bytes, text: settings.max_text_bytes };
    let mut answered = Answered::new(session, options, &progress, bounds);
    let failed = answered.all(&gate, &queue).err();
    queue.stop();
    // Moves the log into the file: part of the work, before it is called done.
    drop(gate);
    progress.finish();
    let mut tally = answered.tally;
    let read = if failed.is_some() || interrupt.came() {
        reading.abandon().map(|()| None)
    } else {
        reading.finish(session, &mut tally).map(Some)
    };
    session.note(&tally.summary(options.dry_run));
    if let Some(problem) = failed {
        return Err(problem);
    }
    if interrupt.came() {
        return Err(Problem::from_store(&StoreError::new(cola_ia_core::store::ErrorKind::Unavailable, "interrupted")));
    }
    let read = read?;
    tally.hints(options, settings).iter().for_each(|hint| session.hint(hint));
    Ok(if read.is_some_and(|read| read.broken) { Exit::Failed } else { tally.exit(options.fail_on_conflict) })
}

fn open(
    session: &Session,
    options: &AddOptions,
    settings: &Settings,
    patience: Arc<LockWait>,
) -> Result<Gate, Problem> {
    let failed = |error: StoreError| Problem::from_store(&error);
    let how = Options { patience: patience.clone(), ..store::options(settings) };
    let (gate, opened) = match (&settings.server, &settings.db) {
        (Some(_), _) if options.dry_run => {
            (DryRun::beside(Some(store::view(session, settings)?), &how), Opened::default())
        }
        (Some(_), _) => return store::change(session, settings).map(Gate::Store),
        (None, Db::File(path)) if options.dry_run => {
            let (dry_run, opened) = DryRun::open(path, &how).map_err(failed)?;
            (Ok(dry_run), opened)
        }
        (None, Db::Postgres(address)) if options.dry_run => {
            let real = match store::view_database(address, settings) {
                Ok(real) => Some(real),
                Err(error) if error.code == "store_missing" => None,
                Err(error) => return Err(failed(error)),
            };
            (DryRun::beside(real, &how), Opened::default())
        }
        (None, _) => {
            let made = store::made(settings, Making::ForIntake, patience).map_err(failed)?;
            return Ok(Gate::Store(store::told(session, settings, made)));
        }
    };
    store::report_opened(session, settings, &opened, true);
    Ok(Gate::DryRun(Box::new(gate.map_err(failed)?)))
}

/// Commits and answers until the queue ends.
struct Answered<'a> {
    session: &'a Session,
    options: &'a AddOptions,
    progress: &'a Progress,
    refusals: Refusals,
    tally: Tally,
    /// Text for stdout and for stderr, kept for its room.
    out: String,
    err: String,
}

impl<'a> Answered<'a> {
    fn new(session: &'a Session, options: &'a AddOptions, progress: &'a Progress, bounds: Bounds) -> Self {
        let (refusals, tally) = (Refusals::new(bounds), Tally::default());
        Self { session, options, progress, refusals, tally, out: String::new(), err: String::new() }
    }

    /// Says each batch's answers while the next one is committed.
    fn all(&mut self, gate: &Gate, queue: &Queue) -> Result<(), Problem> {
        let (answers, to_say) = sync_channel::<(Arc<Vec<Intake>>, Answers)>(0);
        std::thread::scope(|scope| {
            let saying = scope.spawn(|| {
                let said = to_say.into_iter().try_for_each(|(batch, answers)| {
                    self.format(&batch, &answers);
                    // A slow reader of stdout must not keep a batch of texts in memory.
                    drop((batch, answers));
                    self.say()?;
                    self.progress.batch(&self.tally);
                    Ok(())
                });
                // Where nobody hears the answers, nothing more is committed.
                if said.is_err() {
                    queue.stop();
                }
                said
            });
            let committed = Self::commit(gate, queue, &answers);
            drop(answers);
            let said = saying.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            committed.and(said)
        })
    }

    fn commit(gate: &Gate, queue: &Queue, answers: &SyncSender<(Arc<Vec<Intake>>, Answers)>) -> Result<(), Problem> {
        while let Some(batch) = queue.take() {
            let answered = gate.judge(&batch).map_err(|error| Problem::from_store(&error))?;
            if answers.send((batch, answered)).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Puts what the gate said into words: it is durable now.
    fn format(&mut self, batch: &[Intake], answers: &Answers) {
        self.out.clear();
        self.err.clear();
        let (lang, json) = (&self.session.lang, self.options.json);
        for (index, intake) in batch.iter().enumerate() {
            match intake {
                Intake::Delivery(delivery) => {
                    let (verdict, decided) = match answers {
                        Answers::Receipts(receipts) => {
                            push_answer(&mut self.out, lang, json, delivery, &receipts[index]);
                            (receipts[index].verdict, receipts[index].decided)
                        }
                        Answers::Foretold(answers) => {
                            push_preview(&mut self.out, lang, json, delivery, answers[index]);
                            (answers[index].verdict, answers[index].decided)
                        }
                    };
                    self.tally.delivery(delivery, verdict, decided);
                }
                Intake::Refusal(refusal) => {
                    push_refusal(&mut self.out, json, refusal);
                    self.refusals.push(&mut self.err, self.session, refusal);
                    self.tally.refusal(refusal);
                }
            }
        }
    }

    fn say(&self) -> Result<(), Problem> {
        self.progress
            .hidden(|| {
                // Where stderr is closed there is nobody left to tell.
                let _ = io::stderr().write_all(self.err.as_bytes());
                let mut stdout = io::stdout().lock();
                stdout.write_all(self.out.as_bytes()).and_then(|()| stdout.flush())
            })
            .map_err(|cause| Problem::stdout(&cause))
    }
}
