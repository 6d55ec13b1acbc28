//! Workers that are stopped at every point, against a destination that counts what really happened.
//!
//! A worker makes effects as the documentation tells it to (`worker.rs`). Between it and everything outside stands a decorator
//! (`points.rs`): each call of a store verb and each request to the destination is a point *before* and one *after*; no list of
//! points is kept anywhere. A [`Plan`] says what happens at which point: the worker is killed, it freezes and wakes up as a
//! zombie long after another one took over, an answer is lost, or everything is lost and the store is restored from what it was
//! before. After that other workers go on, a person settles what is held, and what the ledger says is compared with what the
//! destination counted (`checks.rs`).
//!
//! One worker after the other works, or two take turns at each point. Time moves a little at each point and much between
//! rounds. A run is the same each time for the same [`Scenario`], [`Plan`] and kind of store.

mod checks;
mod points;
mod scenarios;
mod worker;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;

use cola_ia_core::clock::Clock as _;
use cola_ia_core::effect::{Decision, Evidence, Micros, SettleAnswer};
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::job::JobState;
use cola_ia_core::store::export::EXPORT_PAGE_MAX_RECORDS;
use cola_ia_core::store::{
    EffectDecision, EffectListRequest, EffectSummary, ImportBatch, JobSummary, ListRequest, OpId, PageRequest,
    RestoredMark, Store,
};

use crate::clock::{ManualClock, SeededEntropy};
use crate::destination::Destination;
use crate::events::event;
use crate::harness::{Backend, Failure, Place, block_on};

pub use points::Point;
pub use scenarios::{Promise, SCENARIOS, Scenario};

use points::{Gate, interrupting};
use worker::Worker;

/// What happens at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interruption {
    /// The worker is gone.
    Kill,
    /// The worker stands still, for so many rounds, in each of which others work and time passes.
    Freeze(u32),
    /// The call is not made, or its answer is not heard. The worker lives.
    Lose,
    /// All workers are gone, and the store is what it was before they began: restored.
    Restore,
}

impl Interruption {
    /// Those that are tried at each point. A zombie wakes up while its successor waits, and after it has ended.
    pub const ALL: [Self; 5] = [Self::Kill, Self::Freeze(1), Self::Freeze(6), Self::Lose, Self::Restore];
}

/// What happens at which points, by their numbers from 0 on. Points after an interruption count on.
pub type Plan = BTreeMap<usize, Interruption>;

/// What a run went through.
#[derive(Debug)]
pub struct Passed {
    /// All points, in their order.
    pub points: Vec<Point>,
}

/// How long a lease lasts; nobody extends it.
const LEASE: Duration = Duration::from_mins(1);
/// How far time moves between rounds.
const ROUND: Duration = Duration::from_secs(35);
/// Rounds until everything must have ended.
const ROUNDS_MAX: u32 = 80;
/// Points of one run; more is a run that goes round in circles.
const POINTS_MAX: usize = 20_000;

/// A kind of store under the driver, perhaps with a mistake in it.
#[derive(Clone)]
pub struct Subject {
    backend: Arc<dyn Backend>,
    mistake: Option<Mistake>,
}

/// A mistake between worker and store, to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// The key is another one in each attempt.
    KeyOfTheAttempt,
    /// An absence counts as soon as the call must have ended.
    SettleIgnored,
    /// A key is sent again however long ago it was sent first.
    TtlIgnored,
}

impl Subject {
    /// As it is.
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Self { backend, mistake: None }
    }

    /// With this mistake.
    #[must_use]
    pub fn with(self, mistake: Mistake) -> Self {
        Self { mistake: Some(mistake), ..self }
    }
}

/// Runs a scenario under a plan, to the end of all jobs, and checks what must hold.
///
/// # Errors
/// What does not hold, with the points that led there.
pub fn run(subject: &Subject, scenario: &Scenario, plan: &Plan) -> Result<Passed, Failure> {
    let mut world = World::new(subject, scenario, plan.clone())?;
    let outcome = world.run_to_the_end().and_then(|()| checks::check(&mut world));
    let points = world.gate.points();
    match outcome {
        Ok(()) => Ok(Passed { points }),
        Err(failure) => {
            let told = |number: &usize| points.get(*number).map_or_else(|| "never reached".into(), ToString::to_string);
            let places: Vec<String> =
                plan.iter().map(|(number, what)| format!("{what:?} at point {number} ({})", told(number))).collect();
            Err(format!("{}: {failure}\n  {}", scenario.name, places.join("\n  ")).into())
        }
    }
}

/// How much was tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tried {
    /// Points of runs without an interruption.
    pub points: usize,
    /// Runs with interruptions.
    pub runs: usize,
}

/// Interrupts a scenario at each of its points in each way.
///
/// # Errors
/// The first that does not hold.
pub fn each_point(subject: &Subject, scenario: &Scenario) -> Result<Tried, Failure> {
    let points = run(subject, scenario, &Plan::new())?.points.len();
    let mut tried = Tried { points, runs: 0 };
    for number in 0..points {
        for what in Interruption::ALL {
            run(subject, scenario, &Plan::from([(number, what)]))?;
            tried.runs += 1;
        }
    }
    Ok(tried)
}

/// Interrupts scenarios twice, at points and in ways drawn by a seed: `count` pairs, over the scenarios in turn.
///
/// # Errors
/// The first that does not hold, with the seed.
pub fn pairs(subject: &Subject, scenarios: &[Scenario], seed: u64, count: usize) -> Result<Tried, Failure> {
    let entropy = SeededEntropy::new(seed);
    let below = |bound: usize| (entropy.next_u64() % bound.max(1) as u64) as usize;
    let mut tried = Tried::default();
    let mut lengths = BTreeMap::new();
    for pair in 0..count {
        let scenario = &scenarios[pair % scenarios.len()];
        let length = match lengths.get(scenario.name) {
            Some(length) => *length,
            None => *lengths.entry(scenario.name).or_insert(run(subject, scenario, &Plan::new())?.points.len()),
        };
        let first = (below(length), Interruption::ALL[below(Interruption::ALL.len())]);
        let before = run(subject, scenario, &Plan::from([first]))?.points.len();
        let after = first.0 + 1;
        let second = (after + below(before.saturating_sub(after)), Interruption::ALL[below(Interruption::ALL.len())]);
        run(subject, scenario, &Plan::from([first, second])).map_err(|failure| format!("seed {seed}: {failure}"))?;
        tried.runs += 2;
    }
    tried.points = lengths.values().sum();
    Ok(tried)
}

/// The seed of random runs: what `COLA_IA_TORTURE_SEED` says, or always the same one.
pub fn seed() -> u64 {
    variable("COLA_IA_TORTURE_SEED").unwrap_or(20_261_130)
}

/// How many random runs: so many, or as many times that as `COLA_IA_TORTURE` says.
pub fn amount(usual: usize) -> usize {
    usual.saturating_mul(variable("COLA_IA_TORTURE").unwrap_or(1) as usize)
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

type Life = Pin<Box<dyn Future<Output = ()>>>;

/// Everything that a run needs.
struct World<'a> {
    subject: &'a Subject,
    scenario: &'a Scenario,
    place: Box<dyn Place>,
    store: Arc<dyn Store>,
    clock: ManualClock,
    entropy: SeededEntropy,
    destinations: Vec<Arc<Mutex<Destination>>>,
    gate: Arc<Gate>,
    /// The store as it was before anybody worked.
    backup: ImportBatch,
    lives: Vec<(usize, Life)>,
    workers: usize,
    restored: bool,
    /// What broke while it ran.
    budget_broken: Option<String>,
}

impl<'a> World<'a> {
    fn new(subject: &'a Subject, scenario: &'a Scenario, plan: Plan) -> Result<Self, Failure> {
        let (clock, entropy) = (ManualClock::default(), SeededEntropy::new(7));
        let place = subject.backend.fresh()?;
        let store = place.open(clock.clone(), entropy.clone())?;
        let op = || OpId::new(&clock, &entropy);
        let events = scenario.jobs.iter().map(|id| event(id, &format!("text of {id}"))).collect();
        block_on(store.accept(op(), Arc::new(events)))?;
        if let Some(budget) = scenario.budget {
            block_on(store.set_budget(op(), source(), Some(budget)))?;
        }
        let backup = exported(&*store)?;
        let destinations = scenario.effects.iter().map(|effect| {
            let mut destination = Destination::new(effect.name);
            (effect.at)(&mut destination);
            Arc::new(Mutex::new(destination))
        });
        let destinations = destinations.collect();
        let gate = Gate::new(plan, clock.clone());
        let lives = Vec::new();
        let (workers, restored, budget_broken) = (0, false, None);
        #[rustfmt::skip]
        let world = Self {
            subject, scenario, place, store, clock, entropy, destinations, gate, backup, lives, workers, restored, budget_broken,
        };
        Ok(world)
    }

    /// Rounds of work until every job has ended. What is held is settled by a person, and a restored store is given back to its
    /// normal life once nothing is open.
    fn run_to_the_end(&mut self) -> Result<(), Failure> {
        for _ in 0..ROUNDS_MAX {
            self.round()?;
            if self.gate.points().len() > POINTS_MAX {
                return Err("it goes round in circles".into());
            }
            let jobs = self.jobs()?;
            let has_ended =
                |job: &JobSummary| matches!(job.state, JobState::Done | JobState::Failed | JobState::Cancelled);
            if jobs.iter().all(has_ended) && self.lives.is_empty() {
                if self.restored {
                    block_on(self.store.restored(OpId::new(&self.clock, &self.entropy), RestoredMark::Cleared))?;
                }
                return Ok(());
            }
            self.decide()?;
            self.clock.advance(ROUND.as_micros() as i64);
            // A budget is full until tomorrow: nobody waits for that.
            let due = |job: &JobSummary| if has_ended(job) { None } else { Some(job.due_at) };
            let next: Option<Vec<_>> = jobs.iter().filter_map(due).collect();
            if let Some(next) = next.and_then(|due| due.into_iter().min())
                && self.lives.is_empty()
                && next > self.clock.now()
            {
                self.clock.set(next);
            }
        }
        Err(format!("jobs have not ended: {:?}", self.jobs()?.iter().map(|job| job.state).collect::<Vec<_>>()).into())
    }

    /// New workers work until nothing is due; those that are frozen stand still.
    fn round(&mut self) -> Result<(), Failure> {
        self.gate.thaw();
        for _ in 0..self.scenario.workers {
            self.workers += 1;
            let id = self.workers;
            let store = interrupting(Arc::clone(&self.store), Arc::clone(&self.gate), id);
            let worker = Worker {
                id,
                scenario: *self.scenario,
                mistake: self.subject.mistake,
                store,
                gate: Arc::clone(&self.gate),
                destinations: self.destinations.clone(),
                clock: self.clock.clone(),
                entropy: self.entropy.clone(),
            };
            self.lives.push((id, Box::pin(worker.work())));
        }
        let mut context = Context::from_waker(Waker::noop());
        loop {
            let mut moved = false;
            let mut index = 0;
            while index < self.lives.len() {
                let (id, life) = &mut self.lives[index];
                if self.gate.stands(*id) {
                    index += 1;
                    continue;
                }
                moved = true;
                let ended = life.as_mut().poll(&mut context).is_ready();
                if ended || self.gate.is_dead(*id) {
                    drop(self.lives.remove(index));
                } else {
                    index += 1;
                }
                if self.gate.takes_restore() {
                    self.restore()?;
                    return Ok(());
                }
                self.look_at_the_budget()?;
            }
            if !moved || self.lives.is_empty() {
                return Ok(());
            }
        }
    }

    /// Everything that works is gone, and the store is what it was.
    fn restore(&mut self) -> Result<(), Failure> {
        self.lives.clear();
        self.gate.forget();
        self.place = self.subject.backend.fresh()?;
        self.store = self.place.open(self.clock.clone(), self.entropy.clone())?;
        block_on(self.store.import(OpId::new(&self.clock, &self.entropy), Arc::new(self.backup.clone())))?;
        let mark = RestoredMark::At(self.clock.now());
        block_on(self.store.restored(OpId::new(&self.clock, &self.entropy), mark))?;
        self.restored = true;
        Ok(())
    }

    fn jobs(&self) -> Result<Vec<JobSummary>, Failure> {
        let request = PageRequest { below: None, limit: 1_000 };
        Ok(block_on(self.store.jobs(Filter::default(), request))?.jobs)
    }

    fn effects(&self) -> Result<Vec<EffectSummary>, Failure> {
        let page = ListRequest { after: None, limit: 1_000 };
        Ok(block_on(self.store.effect_list(EffectListRequest { page, ..EffectListRequest::default() }))?.items)
    }

    /// A person looks at the destination and says of what is held what is there.
    fn decide(&mut self) -> Result<(), Failure> {
        for summary in self.effects()? {
            let effect = &summary.view.effect;
            if effect.state != cola_ia_core::effect::EffectState::Held {
                continue;
            }
            let Some(place) = self.scenario.effects.iter().position(|one| one.name == effect.name.as_str()) else {
                return Err(format!("an effect that nobody made: {}", effect.name).into());
            };
            let real = self.found(place, &summary.view.key);
            let decision = if real.is_empty() {
                Decision::Absent
            } else {
                let evidence = |id: String| Evidence { resource_id: Some(id), ..Evidence::default() };
                Decision::Found(real.into_iter().map(evidence).collect())
            };
            let (name, number) = (effect.name.clone(), effect.newest());
            let decision = EffectDecision { event: summary.event, name, number, decision, note: None };
            let answer = block_on(self.store.effect_decide(
                OpId::new(&self.clock, &self.entropy),
                decision,
                self.scenario.policy(),
            ))?;
            match answer {
                Some(SettleAnswer::Recorded | SettleAnswer::Wait { .. }) => {}
                other => return Err(format!("a person's word was answered {other:?}").into()),
            }
        }
        Ok(())
    }

    /// What is found under a key.
    fn found(&self, place: usize, key: &str) -> Vec<String> {
        let mut destination = self.destinations[place].lock().unwrap_or_else(PoisonError::into_inner);
        destination.by_key(self.clock.now()).remove(key).unwrap_or_default()
    }

    /// What really happened for a job, under whatever key.
    fn real(&self, place: usize, job: &str) -> Vec<String> {
        let mut destination = self.destinations[place].lock().unwrap_or_else(PoisonError::into_inner);
        let effects = destination.effects(self.clock.now()).iter();
        effects.filter(|effect| effect.request == job).map(|effect| effect.resource_id.clone()).collect()
    }

    /// All that really happened at a destination.
    fn happened(&self, place: usize) -> usize {
        self.destinations[place].lock().unwrap_or_else(PoisonError::into_inner).effects(self.clock.now()).len()
    }

    /// What is really paid never is more than the budget, at any moment of one day.
    fn look_at_the_budget(&mut self) -> Result<(), Failure> {
        let Some(budget) = self.scenario.budget else { return Ok(()) };
        let mut paid = 0;
        for (place, effect) in self.scenario.effects.iter().enumerate() {
            paid += self.happened(place) as i64 * effect.cost.map_or(0, Micros::get);
        }
        if paid > budget.get()
            && !self.restored
            && self.clock.now() < ManualClock::START.after(Duration::from_hours(10))
        {
            let text = format!("{paid} millionths were paid, and the budget is {}", budget.get());
            self.budget_broken.get_or_insert(text);
        }
        match &self.budget_broken {
            Some(text) => Err(text.clone().into()),
            None => Ok(()),
        }
    }
}

fn source() -> Source {
    crate::events::source("default")
}

/// All that a store holds.
fn exported(store: &dyn Store) -> Result<ImportBatch, Failure> {
    let mut page = block_on(store.export(None, EXPORT_PAGE_MAX_RECORDS))?;
    let head = page.head;
    let mut batch = ImportBatch { namespace: head.namespace, currency: head.currency, records: page.records };
    while let Some(next) = page.next {
        page = block_on(store.export(Some(next), EXPORT_PAGE_MAX_RECORDS))?;
        batch.records.append(&mut page.records);
    }
    Ok(batch)
}
