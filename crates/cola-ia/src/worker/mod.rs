//! Workers: claim jobs, run a command for each, tell the store how it ended.
//!
//! ```text
//! claiming.rs   free places ── claim ──► a task a job (job.rs): socket, command, verdict, end
//! keeper.rs     heartbeats for every lease in hand; recovery of what others lost
//! voice.rs      a thread that says what happened
//! ```
//! A task never waits for another one: they meet in the store, whose writer puts together what waits. A lease is kept alive
//! from outside of its command until its end is on record; what the store says of it decides. Nothing here remembers what a
//! restart would need.

mod adopted;
pub mod child;
pub(crate) mod claiming;
mod cost;
mod ended;
pub(crate) mod folder;
mod gather;
mod group;
mod guarded;
mod held;
pub mod inside;
mod job;
mod job_effects;
mod keeper;
pub(crate) mod outage;
mod pace;
mod pump;
pub(crate) mod result;
mod socket;
mod standing;
mod start;
pub(crate) mod stop;
pub(crate) mod tail;
pub(crate) mod verdict;
pub(crate) mod voice;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cola_ia_core::filter::Filter;
use cola_ia_core::job::{JobState, RetryPolicy};
use cola_ia_core::price::Prices;
use cola_ia_core::store::{OpId, Store, StoreError};
use cola_ia_store::sqlite::Patience;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, OnceCell, Semaphore};

use crate::cli::work::{self, Tally, WorkOptions};
use crate::cli::{Exit, Problem, Session};
use crate::config::Settings;
use crate::effect::no_folder;
use crate::lang::Message;
use crate::print::id_on_a_line;
use crate::remote::RemoteStore;
use crate::store::{self, Chosen, Making};
use crate::worker_name::worker_name;
use claiming::Left;
use folder::Folder;
use gather::Gather;
use held::Held;
use outage::{LockPatience, Outage};
use pace::Pace;
use standing::Standing;
use stop::{Stopper, Stopping};
use voice::{Speaker, Voice};

/// After a second signal, so long is waited for commands to be gone and for their jobs to be given back.
const END_NOW: Duration = Duration::from_secs(3);
/// How often the bar is told of what waits.
const GAUGE_EVERY: Duration = Duration::from_secs(1);

/// What all tasks share.
struct Worker {
    how: WorkOptions,
    /// For people, with each attempt.
    name: String,
    policy: RetryPolicy,
    lease: Duration,
    grace: Duration,
    time_limit: Option<Duration>,
    /// Variables that no command inherits.
    withheld: Arc<[String]>,
    store: Arc<dyn Store>,
    /// The same, where it is one behind a server.
    remote: Option<Arc<RemoteStore>>,
    namespace: OnceCell<[u8; 16]>,
    /// The store's currency, once it is known.
    currency: OnceCell<String>,
    prices: Prices,
    folder: Folder,
    held: Held,
    /// Held while a call is made that must not overtake another one.
    order: tokio::sync::Mutex<()>,
    places: Arc<Semaphore>,
    /// Tasks that have not ended: those of jobs, and claims that were handed on.
    live: AtomicUsize,
    /// Jobs that run alone, or wait to.
    alone: AtomicUsize,
    /// Claims whose answers were lost: the same calls again give what they gave.
    unheard: Mutex<Vec<OpId>>,
    /// Jobs that have a place or wait for one.
    taken: AtomicUsize,
    pace: Pace,
    gather: Gather,
    /// A task of a job has ended.
    ended: Notify,
    released: AtomicU64,
    /// The last reason why a command could not be started, told once.
    trouble: Mutex<Option<String>>,
    in_trouble: AtomicBool,
    standing: Standing,
    stopper: Arc<Stopper>,
    outage: Arc<Outage>,
    voice: Voice,
}

impl Worker {
    /// The store's namespace: fixed once there is an event, and whoever asks has one.
    async fn namespace(&self) -> Result<[u8; 16], StoreError> {
        self.namespace.get_or_try_init(|| self.store.namespace()).await.copied()
    }

    fn not_heard(&self, claim: OpId) {
        self.unheard.lock().unwrap_or_else(PoisonError::into_inner).push(claim);
    }

    fn count_released(&self) {
        self.released.fetch_add(1, Ordering::Relaxed);
    }

    /// A command could not be started. Told where the reason is news.
    fn cannot_start(&self, id: &str, reason: &str, cause: Message) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        self.in_trouble.store(true, Ordering::Relaxed);
        if trouble.as_deref() != Some(reason) {
            *trouble = Some(reason.to_owned());
            self.voice.warn(Message::new("work-not-started").with("id", id_on_a_line(id)).message("cause", cause));
        }
    }

    /// A command was started.
    fn can_start(&self) {
        if self.in_trouble.swap(false, Ordering::Relaxed) {
            *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// How many jobs are in this state, of the sources that are worked on.
    async fn jobs_in(&self, states: [JobState; 2]) -> Result<[u64; 2], StoreError> {
        // Deliveries are not asked for: of an empty stretch of time there are none.
        let now = cola_ia_core::clock::Clock::now(&cola_ia_core::clock::SystemClock);
        let sources = self.how.source.iter().cloned().collect();
        let filter = Filter { sources, since: Some(now), until: Some(now), ..Filter::default() };
        let total = self.store.stats(filter).await?.total;
        Ok(states.map(|state| total.jobs_in(state)))
    }
}

/// Runs the command.
///
/// # Errors
/// Where it could not be done: no such command, a store that cannot be opened. What was told as done is on record.
pub fn run(session: &Session, options: &WorkOptions, settings: &Settings) -> Result<Exit, Problem> {
    work::check_program(&options.program, &session.environment)?;
    let system = |key: &'static str| move |cause: std::io::Error| Problem::failed(Message::new(key).caused_by(&cause));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(system("work-no-threads"))?;
    let stopper = Stopper::new();
    {
        let _inside = runtime.enter();
        stopper.listen().map_err(system("signals-failed"))?;
    }
    let folder = Folder::new().map_err(|cause| no_folder(&cause))?;
    let speech = options.speech();
    let (speaker, voice) = Speaker::start(session, speech, Arc::clone(&stopper)).map_err(system("work-no-threads"))?;
    let outage = Outage::new(voice.clone());
    let patience = Arc::new(LockPatience {
        outage: Arc::clone(&outage),
        stopper: Arc::clone(&stopper),
        opened: AtomicBool::new(false),
    });
    let chosen = match open(session, settings, &runtime, Arc::clone(&patience) as _) {
        Ok(chosen) => chosen,
        Err(problem) => {
            speaker.finish(false);
            return Err(problem);
        }
    };
    patience.opened.store(true, Ordering::SeqCst);
    let has_bar = speaker.has_bar;
    let worker = Arc::new(Worker {
        how: options.clone(),
        name: worker_name(std::process::id()),
        policy: settings.retry,
        lease: settings.lease,
        grace: settings.grace,
        time_limit: settings.time_limit,
        withheld: settings.secret_variables().into(),
        store: chosen.shared(),
        remote: match chosen {
            Chosen::Server(remote) => Some(remote),
            Chosen::File(_) | Chosen::Database(_) => None,
        },
        namespace: OnceCell::new(),
        currency: OnceCell::new(),
        prices: settings.prices.clone(),
        folder,
        held: Held::default(),
        order: tokio::sync::Mutex::default(),
        places: Arc::new(Semaphore::new(options.jobs as usize)),
        live: AtomicUsize::new(0),
        alone: AtomicUsize::new(0),
        unheard: Mutex::default(),
        taken: AtomicUsize::new(0),
        pace: Pace::default(),
        gather: Gather::default(),
        ended: Notify::new(),
        released: AtomicU64::new(0),
        trouble: Mutex::default(),
        in_trouble: AtomicBool::new(false),
        standing: Standing::default(),
        stopper,
        outage,
        voice,
    });
    // As a task, where timers need not wake another thread: an idle worker costs next to nothing.
    let working = runtime.spawn({
        let worker = Arc::clone(&worker);
        async move { work_until_the_end(&worker, has_bar).await }
    });
    let left = runtime.block_on(working).unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()));
    // Ends what a second signal did not wait for: commands that are let go of are killed.
    runtime.shutdown_timeout(Duration::from_millis(500));
    let mut tally = speaker.finish(worker.stopper.state() == Stopping::Now);
    tally.released = worker.released.load(Ordering::Relaxed);
    let (reason, interrupted) = (worker.stopper.reason(), worker.stopper.is_interrupted());
    // The last user of the store moves its log into the file: part of the work.
    drop(worker);
    say_the_end(session, &tally, &left);
    match reason {
        Some(problem) => Err(problem),
        None if interrupted => Ok(Exit::Interrupted),
        None => Ok(Exit::Done),
    }
}

/// Opens the store, or asks the server a first time: one that is not there, or does not know the token, ends the command.
fn open(session: &Session, settings: &Settings, runtime: &Runtime, how: Arc<dyn Patience>) -> Result<Chosen, Problem> {
    if let Some(server) = &settings.server {
        let remote = Arc::new(store::remote(session, server)?);
        runtime.block_on(remote.namespace()).map_err(|error| Problem::from_store(&error))?;
        return Ok(Chosen::Server(remote));
    }
    // Beside the runtime's thread, which hears signals meanwhile: a lock may be waited for.
    let of = settings.clone();
    let opening = runtime.spawn_blocking(move || store::made(&of, Making::ForIntake, how));
    let opened = runtime.block_on(opening).unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()));
    Ok(store::told(session, settings, opened.map_err(|error| Problem::from_store(&error))?))
}

fn say_the_end(session: &Session, tally: &Tally, left: &Left) {
    session.note(&tally.summary());
    for message in work::left(left) {
        session.note(&message);
    }
}

async fn work_until_the_end(worker: &Arc<Worker>, has_bar: bool) -> Left {
    keeper::recover(worker).await;
    standing::look(worker).await;
    let keeping = tokio::spawn({
        let worker = Arc::clone(worker);
        async move { keeper::keep(&worker).await }
    });
    let passing_on = tokio::spawn({
        let worker = Arc::clone(worker);
        async move { pass_the_stop_on(&worker).await }
    });
    let gauging = has_bar.then(|| {
        let worker = Arc::clone(worker);
        tokio::spawn(async move { gauge(&worker).await })
    });
    let left = claiming::claim_until_the_end(worker).await;
    let all_ended = async {
        while worker.live.load(Ordering::SeqCst) > 0 {
            worker.ended.notified().await;
        }
    };
    let enough = async {
        worker.stopper.reaches(Stopping::Now).await;
        tokio::time::sleep(END_NOW).await;
    };
    tokio::select! {
        () = all_ended => {}
        () = enough => {}
    }
    keeping.abort();
    passing_on.abort();
    if let Some(gauging) = gauging {
        gauging.abort();
    }
    // What the last jobs did to their sources.
    if worker.stopper.state() != Stopping::Now {
        standing::look(worker).await;
    }
    left
}

/// Tells the commands to end, when the worker is told.
async fn pass_the_stop_on(worker: &Worker) {
    worker.stopper.reaches(Stopping::InOrder).await;
    // Where it stops of itself, the reason is told at the end.
    if !worker.held.is_empty() && worker.stopper.reason().is_none() {
        let seconds = worker.grace.as_secs();
        worker.voice.note(Message::new("work-stopping").number("seconds", seconds));
    }
    worker.held.stop(Stopping::InOrder);
    worker.stopper.reaches(Stopping::Now).await;
    worker.held.stop(Stopping::Now);
}

/// Tells the bar how many jobs run and wait.
async fn gauge(worker: &Worker) {
    loop {
        let waiting = worker.jobs_in([JobState::Pending, JobState::Running]).await.ok().map(|[pending, _]| pending);
        let running = worker.how.jobs as usize - worker.places.available_permits().min(worker.how.jobs as usize);
        worker.voice.gauge(running, waiting);
        tokio::time::sleep(GAUGE_EVERY).await;
    }
}
