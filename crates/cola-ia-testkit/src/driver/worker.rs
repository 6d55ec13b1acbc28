//! A worker as the documentation tells one to be: it begins each effect, does what it is answered, and says what it knows.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cola_ia_core::clock::{Clock as _, Timestamp};
use cola_ia_core::effect::{Begin, BeginAnswer, BeginId, EffectName, Evidence, Go, Policy, Refused, ReportAnswer};
use cola_ia_core::job::{Ending, Setback};
use cola_ia_core::store::{
    ClaimRequest, EffectRef, End, EndRefused, ErrorKind, Failure, JobRun, Leased, Looked, OpId, Report, Store,
    StoreError,
};

use super::points::Gate;
use super::scenarios::EffectPlan;
use super::{LEASE, Mistake, Scenario};
use crate::clock::{ManualClock, SeededEntropy};
use crate::destination::{self, Destination, Reply};

/// How long after a begin it may be sent, and how long it may take then.
const SEND_WITHIN: Duration = Duration::from_secs(10);
const CALL_TIME: Duration = Duration::from_secs(20);
/// How often a call whose answer was lost is made.
const CALLS: usize = 3;
/// Begins of one effect in one attempt.
const BEGINS: usize = 5;

pub(super) struct Worker {
    pub(super) id: usize,
    pub(super) scenario: Scenario,
    pub(super) mistake: Option<Mistake>,
    pub(super) store: Arc<dyn Store>,
    pub(super) gate: Arc<Gate>,
    pub(super) destinations: Vec<Arc<Mutex<Destination>>>,
    pub(super) clock: ManualClock,
    pub(super) entropy: SeededEntropy,
}

/// How it goes on after an effect.
enum Next {
    /// It happened.
    On,
    /// The attempt ends so.
    End(Ending),
    /// The lease is over, or nobody hears us: nothing more is said.
    Gone,
}

const FAILED: Ending = Ending::Failed { setback: Setback::Error, not_before: None };
const FOR_GOOD: Ending = Ending::Failed { setback: Setback::Permanent, not_before: None };

impl Worker {
    /// Works until nothing is due.
    pub(super) async fn work(self) {
        // As `work` does: what others lost is taken up first.
        for _ in 0..CALLS {
            if self.store.recover(self.scenario.policy(), 100, false).await.is_ok() {
                break;
            }
        }
        loop {
            let op = OpId::new(&self.clock, &self.entropy);
            let request = || ClaimRequest { worker: format!("w{}", self.id), lease: LEASE, limit: 1, source: None };
            let mut claim = None;
            for _ in 0..CALLS {
                match self.store.claim(op, request()).await {
                    Ok(answer) => {
                        claim = Some(answer);
                        break;
                    }
                    Err(error) if error.kind == ErrorKind::Unavailable => {}
                    Err(error) => panic!("a claim failed: {error}"),
                }
            }
            let Some(leased) = claim.and_then(|claim| claim.leases.into_iter().next()) else { return };
            self.job(&leased).await;
        }
    }

    async fn job(&self, leased: &Leased) {
        let mut ending = Ending::Done;
        for (place, plan) in self.scenario.effects.iter().enumerate() {
            match self.effect(leased, place, plan).await {
                Next::On => {}
                Next::End(FAILED) if self.scenario.careless => {}
                Next::End(FAILED) if self.scenario.gives_up => {
                    ending = FOR_GOOD;
                    break;
                }
                Next::End(other) => {
                    ending = other;
                    break;
                }
                Next::Gone => return,
            }
        }
        if let Some(Err(EndRefused::Unresolved(_))) = self.end(leased, ending).await {
            self.end(leased, FAILED).await;
        }
    }

    async fn end(&self, leased: &Leased, ending: Ending) -> Option<Result<(), EndRefused>> {
        let end = End { token: leased.token, ending, report: Report::default() };
        let ends = Arc::new(vec![end]);
        for _ in 0..CALLS {
            if let Ok(mut answers) = self.store.end(Arc::clone(&ends), self.scenario.policy()).await {
                return answers.pop().map(|answer| answer.map(drop));
            }
        }
        None
    }

    async fn effect(&self, leased: &Leased, place: usize, plan: &EffectPlan) -> Next {
        let name = EffectName::new(plan.name).expect("the scenario names an effect of the right form");
        for _ in 0..BEGINS {
            let begin = Begin {
                lease: leased.token,
                name: name.clone(),
                begin_id: BeginId::draw(&self.entropy),
                policy: self.policy_of(plan),
                request: None,
                expected: plan.cost,
                send_within: SEND_WITHIN,
                call_time: CALL_TIME,
            };
            let mut heard_back = None;
            for _ in 0..CALLS {
                if let Ok(answer) = self.store.effect_begin(begin.clone(), self.scenario.policy()).await {
                    heard_back = Some(answer);
                    break;
                }
            }
            // Nothing was sent, and whatever the store has recorded says so by its deadline.
            let Some(answered) = heard_back else { return Next::End(FAILED) };
            let of = |number| EffectRef {
                lease: leased.token,
                name: name.clone(),
                number,
                job: Some(JobRun { source: leased.job.source.clone(), id: leased.job.id.clone(), run: leased.job.run }),
            };
            let key = match self.mistake {
                Some(Mistake::KeyOfTheAttempt) => format!("{}{}", answered.key, leased.token),
                _ => answered.key,
            };
            let next = match answered.answer {
                BeginAnswer::Go(go) => self.send(place, plan, (&key, &leased.job.id), go, of(go.number)).await,
                BeginAnswer::Done(_) => Some(Next::On),
                BeginAnswer::Check { ticket, .. } => self.look(place, plan, &key, of(ticket)).await,
                BeginAnswer::Wait { until } => Some(later(until)),
                // The store has ended the lease; saying so again is the same.
                BeginAnswer::Held(_) => Some(Next::End(Ending::Released)),
                BeginAnswer::Used => None,
                BeginAnswer::Refused(Refused::LeaseLost) => Some(Next::Gone),
                BeginAnswer::Refused(Refused::Budget { resets_at }) => Some(later(resets_at)),
                BeginAnswer::Refused(refused) => panic!("begin was refused: {refused:?}"),
            };
            if let Some(next) = next {
                return next;
            }
        }
        Next::End(FAILED)
    }

    fn policy_of(&self, plan: &EffectPlan) -> Policy {
        let policy = (plan.policy)();
        match self.mistake {
            Some(Mistake::SettleIgnored) => Policy { settle: Duration::ZERO, ..policy },
            Some(Mistake::TtlIgnored) => {
                Policy { key_ttl: policy.key_ttl.and(Some(Duration::from_hours(24))), ..policy }
            }
            Some(Mistake::KeyOfTheAttempt) | None => policy,
        }
    }

    /// Sends, and says how it went. `None`: begin again.
    async fn send(
        &self,
        place: usize,
        plan: &EffectPlan,
        (key, request): (&str, &str),
        go: Go,
        of: EffectRef,
    ) -> Option<Next> {
        let reply = if self.gate.before(self.id, "the request").await {
            Reply::Cut
        } else if go.may_send(self.clock.now()) {
            let reply = self.destination(place).create(key, request, self.clock.now()).answer;
            if self.gate.after(self.id, "the request").await { Reply::Cut } else { reply }
        } else {
            let report = self
                .report(|| self.store.effect_failed(of.clone(), Failure::NotSent, None, self.scenario.policy()))
                .await;
            return heard(report).or(None);
        };
        match reply {
            Reply::Created(id) | Reply::Again(id) => {
                let evidence = Evidence { resource_id: Some(id), cost: plan.cost, ..Evidence::default() };
                let report =
                    self.report(|| self.store.effect_done(of.clone(), evidence.clone(), self.scenario.policy())).await;
                Some(heard(report).unwrap_or(Next::On))
            }
            Reply::Refused(status) if status < 500 => {
                let rejected = || self.store.effect_failed(of.clone(), Failure::Rejected, None, self.scenario.policy());
                Some(heard(self.report(rejected).await).unwrap_or(Next::End(FAILED)))
            }
            Reply::Refused(_) | Reply::Cut if self.scenario.silent => Some(Next::End(FAILED)),
            Reply::OtherRequest => panic!("the same request is another one"),
            Reply::Refused(_) | Reply::Cut => {
                let report = self.report(|| self.store.effect_unknown(of.clone(), None, self.scenario.policy())).await;
                Some(heard(report).unwrap_or(Next::End(FAILED)))
            }
        }
    }

    /// Looks it up. `None`: begin again.
    async fn look(&self, place: usize, plan: &EffectPlan, key: &str, of: EffectRef) -> Option<Next> {
        let looked = if self.gate.before(self.id, "the lookup").await {
            destination::Looked::Cut
        } else {
            let looked = self.destination(place).lookup(key, self.clock.now()).answer;
            if self.gate.after(self.id, "the lookup").await { destination::Looked::Cut } else { looked }
        };
        let looked = match looked {
            destination::Looked::Found(ids) => {
                let id = ids.into_iter().next();
                Looked::Found(Evidence { resource_id: id, cost: plan.cost, ..Evidence::default() })
            }
            destination::Looked::Absent => Looked::Absent,
            // It could not tell.
            destination::Looked::Refused(_) | destination::Looked::Cut => {
                return Some(later(self.clock.now().after(Duration::from_secs(1))));
            }
        };
        let report =
            self.report(|| self.store.effect_resolve(of.clone(), looked.clone(), self.scenario.policy())).await;
        // The next begin is answered `done`, or `go`.
        match report {
            Some(ReportAnswer::Wait { until }) => Some(later(until)),
            report => heard(report),
        }
    }

    /// Says it until it is heard; `None`: it was not.
    async fn report<F>(&self, call: impl Fn() -> F) -> Option<ReportAnswer>
    where
        F: Future<Output = Result<ReportAnswer, StoreError>>,
    {
        for _ in 0..CALLS {
            if let Ok(answer) = call().await {
                return Some(answer);
            }
        }
        None
    }

    fn destination(&self, place: usize) -> std::sync::MutexGuard<'_, Destination> {
        self.destinations[place].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn later(until: Timestamp) -> Next {
    Next::End(Ending::Later { not_before: until })
}

/// `None`: it counts, or says nothing against going on.
fn heard(report: Option<ReportAnswer>) -> Option<Next> {
    match report {
        Some(ReportAnswer::Recorded | ReportAnswer::Void) => None,
        Some(ReportAnswer::LeaseLost) | None => Some(Next::Gone),
        Some(ReportAnswer::Wait { until }) => Some(later(until)),
        Some(ReportAnswer::Missing) => panic!("the try that was begun is not known"),
    }
}
