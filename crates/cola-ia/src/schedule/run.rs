//! The clockwork: what is due becomes an event, whose id is made of the schedule's name and the instant.
//!
//! So a firing enters once, however many servers run and however often they start: the gate knows it. What was due while no
//! server ran is made up for, bounded, from the newest firing that the store knows; a schedule of which it knows none begins now.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::{Clock, Entropy, Timestamp};
use cola_ia_core::event::{Content, Delivery, EventId, Origin};
use cola_ia_core::intake::{Intake, RefusalCode};
use cola_ia_core::store::{Duty, OpId, Preview, Store, StoreError};

use super::LOOK_BACK_MAX;
use crate::config::ScheduleConfig;
use crate::http::App;

/// What is due for less than this is not late: it enters whatever `catch_up` says.
const ON_TIME: Duration = Duration::from_mins(2);
/// The longest sleep. Clocks are set and machines suspended meanwhile, and a sleep knows of neither.
const SLEEP_MAX: Duration = Duration::from_secs(15);
/// How long one server enters firings for all before it must say so again.
const HELD: Duration = Duration::from_secs(45);
/// The sleep after a store that could not do it.
const SLEEP_FAILED: Duration = Duration::from_secs(5);

/// Enters what is due until it is told to stop; returns at once where there is no schedule.
pub async fn run(app: Arc<App>, stop: impl Future<Output = ()>) {
    let (store, clock, entropy) = (Arc::clone(&app.store), Arc::clone(&app.clock), Arc::clone(&app.entropy));
    let mut scheduler = Scheduler::new(&app.settings.schedules, app.settings.max_text_bytes, store, clock, entropy);
    if scheduler.is_idle() {
        return;
    }
    let mut stop = std::pin::pin!(stop);
    loop {
        // A turn is not cut off in the middle: what it entered is remembered.
        let sleep = scheduler.turn().await;
        tokio::select! {
            () = &mut stop => return,
            () = tokio::time::sleep(sleep) => {}
        }
    }
}

/// All schedules and how far each is.
pub struct Scheduler {
    works: Vec<Work>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

struct Work {
    of: ScheduleConfig,
    content: Content,
    /// What was due up to here is in `due`, or was, or is another server's.
    after: Option<Timestamp>,
    /// Whether the store was asked how far it is.
    asked: bool,
    /// To be entered, oldest first.
    due: VecDeque<Timestamp>,
    /// Whether the store could not do it the last time, which is told once.
    failing: bool,
}

impl Scheduler {
    /// One that has not asked the store yet. A schedule whose text is longer than texts may be is left out.
    pub fn new(
        schedules: &[ScheduleConfig],
        max_text_bytes: usize,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let works = schedules.iter().filter_map(|of| {
            let content = Content::new(of.text.clone(), max_text_bytes).ok()?;
            Some(Work { of: of.clone(), content, after: None, asked: false, due: VecDeque::new(), failing: false })
        });
        Self { works: works.collect(), store, clock, entropy }
    }

    /// Whether there is nothing to do, ever.
    pub fn is_idle(&self) -> bool {
        self.works.is_empty()
    }

    /// Enters what is due, and says how long nothing will be, at most some seconds.
    pub async fn turn(&mut self) -> Duration {
        let mut sleep = SLEEP_MAX;
        // Where it is not known, all do it: the gate knows what entered.
        let is_ours = self.store.duty(Duty::Schedules, HELD).await.unwrap_or(true);
        if !is_ours {
            let now = self.clock.now();
            self.works.iter_mut().for_each(|work| work.stand_by(now));
            return sleep;
        }
        for work in &mut self.works {
            let turned = work.turn(&*self.store, &*self.clock, &*self.entropy).await;
            match (&turned, work.failing) {
                (Ok(()), true) => tracing::info!(schedule = %work.of.name, "the store takes its firings again"),
                (Err(error), false) => {
                    tracing::error!(schedule = %work.of.name, code = error.code, "a firing could not be stored and is tried again");
                }
                _ => {}
            }
            work.failing = turned.is_err();
            if work.failing {
                sleep = sleep.min(SLEEP_FAILED);
                continue;
            }
            let now = self.clock.now();
            if let Some(next) = work.of.plan.next(now) {
                let micros = next.as_micros().saturating_sub(now.as_micros()).max(0);
                sleep = sleep.min(Duration::from_micros(micros as u64));
            }
        }
        sleep
    }
}

impl Work {
    /// Another server enters what is due. Once that one is gone, all that was due since is looked at: the gate knows what
    /// entered.
    fn stand_by(&mut self, now: Timestamp) {
        self.after.get_or_insert(now);
    }

    async fn turn(&mut self, store: &dyn Store, clock: &dyn Clock, entropy: &dyn Entropy) -> Result<(), StoreError> {
        let now = clock.now();
        let mut missed = match self.after {
            None => Vec::new(),
            // A clock that was set back: what comes again is known to the store.
            Some(after) if now < after => Vec::new(),
            Some(after) => self.of.plan.since(after, now, LOOK_BACK_MAX),
        };
        if !self.asked {
            missed.extend(self.unknown(store, now).await?);
            missed.sort_unstable();
            missed.dedup();
            self.asked = true;
        }
        self.after = Some(now);
        self.due.extend(worth_entering(&missed, now, self.of.catch_up as usize));
        let too_many = self.due.len().saturating_sub(LOOK_BACK_MAX);
        self.due.drain(..too_many);
        while let Some(firing) = self.due.front() {
            self.enter(*firing, store, clock, entropy).await?;
            self.due.pop_front();
        }
        Ok(())
    }

    /// The firings up to now after the newest one that the store knows; none where it knows none.
    async fn unknown(&self, store: &dyn Store, now: Timestamp) -> Result<Vec<Timestamp>, StoreError> {
        let firings = self.of.plan.last(now, LOOK_BACK_MAX);
        // Whether an identity is known does not hang on its content; a long one need not be handed over a thousand times.
        let short = Content::new("-".to_owned(), 1).map_err(unlikely)?;
        let asked: Result<Vec<Intake>, StoreError> =
            firings.iter().map(|firing| Ok(Intake::Delivery(self.delivery(*firing, short.clone())?))).collect();
        let known = store.preview(Arc::new(asked?)).await?;
        let newest = known.iter().rposition(|preview| *preview != Preview::Unknown);
        Ok(newest.map_or_else(Vec::new, |at| firings[at + 1..].to_vec()))
    }

    async fn enter(
        &self,
        firing: Timestamp,
        store: &dyn Store,
        clock: &dyn Clock,
        entropy: &dyn Entropy,
    ) -> Result<(), StoreError> {
        let batch = Arc::new(vec![Intake::Delivery(self.delivery(firing, self.content.clone())?)]);
        // Another server may have been first, with another text in its configuration even: that is no conflict. Where both ask
        // at once, the gate decides.
        if store.preview(Arc::clone(&batch)).await?.iter().any(|preview| *preview != Preview::Unknown) {
            return Ok(());
        }
        let accepted = store.accept(OpId::new(clock, entropy), batch).await?;
        if let Some(receipt) = accepted.receipts.first() {
            tracing::info!(schedule = %self.of.name, firing = %firing.to_rfc3339(), verdict = receipt.verdict.as_str(), "fired");
        }
        Ok(())
    }

    fn delivery(&self, firing: Timestamp, content: Content) -> Result<Delivery, StoreError> {
        Ok(Delivery {
            source: self.of.source.clone(),
            id: EventId::new(id(self.of.name.as_str(), firing)).map_err(unlikely)?,
            content,
            event_type: self.of.event_type.clone(),
            time: Some(firing),
            origin: Origin { input: format!("schedule/{}", self.of.name).into(), line: 1 },
            body: None,
        })
    }
}

/// `daily@2026-01-31T09:00:00Z`: firings are at whole minutes.
fn id(name: &str, firing: Timestamp) -> String {
    let instant = jiff::Timestamp::from_microsecond(firing.as_micros()).unwrap_or_default();
    format!("{name}@{instant}")
}

/// A name and an instant are always an id, and a dash a text: the code is there so that nobody has to believe it.
fn unlikely(code: RefusalCode) -> StoreError {
    StoreError::new(cola_ia_core::store::ErrorKind::Invalid, code.as_str())
}

/// What is on time, and of the rest the newest.
fn worth_entering(missed: &[Timestamp], now: Timestamp, catch_up: usize) -> Vec<Timestamp> {
    let on_time = now.as_micros().saturating_sub(ON_TIME.as_micros() as i64);
    let late = missed.partition_point(|firing| firing.as_micros() < on_time);
    missed[late.saturating_sub(catch_up)..].to_vec()
}
