//! Who keeps the ledger for a command: the store that the settings name, or inside of a job the worker that runs it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;
use std::sync::{Mutex, PoisonError};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Begin, BeginId, EffectName, Evidence, Micros, ReportAnswer, RequestHash};
use cola_ia_core::event::Source;
use cola_ia_core::job::{LeaseToken, RetryPolicy};
use cola_ia_core::price::Prices;
use cola_ia_core::store::{EffectBegun, EffectRef, Failure, JobRun, LeaseLost, Looked, Store, StoreError};
use cola_ia_wire::{EffectAnswer, EffectRequest, VERSION};
use pollster::block_on;

use super::Unheard;
use super::guard::{Plan, Word};
use crate::cli::{Problem, Session, lease};
use crate::config::{Environment, Settings};
use crate::lang::Message;
use crate::money::{self, Uncounted};
use crate::store::{self, Chosen};
use crate::worker::inside::{Asked, Inside};
use crate::worker::outage::can_pass;

/// Who keeps the ledger.
pub(crate) enum Holder {
    /// The store, for the job of a lease.
    Store {
        store: Chosen,
        policy: RetryPolicy,
        lease: LeaseToken,
        job: Option<JobRun>,
        prices: Prices,
        /// A cost that was told in another currency than the store's.
        uncounted: Mutex<Option<Uncounted>>,
    },
    /// Inside of a job.
    Worker(Inside),
}

impl Holder {
    /// For this lease, or the one that the environment carries.
    ///
    /// # Errors
    /// There is none; the store cannot be opened.
    pub(crate) fn of(session: &Session, settings: &Settings, named: Option<LeaseToken>) -> Result<Self, Problem> {
        if let Some(inside) = Inside::of(&session.environment, named) {
            return Ok(Self::Worker(inside));
        }
        let lease = lease(session, named)?;
        let store = store::change(session, settings)?;
        Ok(Self::Store {
            store,
            policy: settings.retry,
            lease,
            job: job_of(&session.environment),
            prices: settings.prices.clone(),
            uncounted: Mutex::default(),
        })
    }

    /// As [`Store::effect_begin`].
    ///
    /// # Errors
    /// There is no answer.
    pub(crate) fn begin(&self, plan: &Plan, id: BeginId) -> Result<EffectBegun, Unheard> {
        match self {
            Self::Store { store, policy, lease, .. } => {
                block_on(store.effect_begin(begin(plan, id, *lease), *policy)).map_err(|error| of_store(&error))
            }
            Self::Worker(inside) => {
                let begin_id = id.to_string();
                let hash = plan.request.map(hex);
                let millis = |length: std::time::Duration| Some(u64::try_from(length.as_millis()).unwrap_or(u64::MAX));
                let asked = EffectRequest {
                    begin_id: Some(Cow::Borrowed(&begin_id)),
                    key_ttl_ms: plan.policy.key_ttl.and_then(millis),
                    lookup: plan.policy.lookup,
                    settle_ms: millis(plan.policy.settle),
                    otherwise: Some(Cow::Borrowed(plan.policy.otherwise.as_str())),
                    retry_below_micros: plan.policy.retry_below.map(Micros::get),
                    max_cost_micros: plan.expected.map(Micros::get),
                    request_hash: hash.map(Cow::Owned),
                    send_within_ms: millis(plan.send_within),
                    call_time_ms: millis(plan.call_time),
                    ..request("effect_begin", Some(&plan.name))
                };
                ask(inside, &asked, begun)
            }
        }
    }

    /// What is said of a try, or after a lookup with a ticket.
    ///
    /// # Errors
    /// There is no answer.
    pub(crate) fn report(&self, name: &EffectName, number: u32, word: &Word) -> Result<ReportAnswer, Unheard> {
        match self {
            Self::Store { store, policy, lease, job, prices, uncounted } => {
                let of = EffectRef { lease: *lease, name: name.clone(), number, job: job.clone() };
                let (answer, foreign) =
                    block_on(tell(&**store, prices, of, word, *policy)).map_err(|error| of_store(&error))?;
                *uncounted.lock().unwrap_or_else(PoisonError::into_inner) = foreign;
                Ok(answer)
            }
            Self::Worker(inside) => ask(inside, &told(name, number, word), reported),
        }
    }

    /// A cost that was reported and is not counted, for people. Inside of a job its worker tells them.
    pub(crate) fn uncounted(&self) -> Option<Message> {
        let Self::Store { uncounted, .. } = self else { return None };
        uncounted.lock().unwrap_or_else(PoisonError::into_inner).take().map(|uncounted| uncounted.message())
    }

    /// Makes the lease last as long as the settings say, where nobody else does.
    ///
    /// # Errors
    /// The store's.
    pub(crate) fn extend(&self, settings: &Settings) -> Result<Result<Timestamp, LeaseLost>, StoreError> {
        match self {
            Self::Store { store, lease, .. } => {
                let answers = block_on(store.extend(vec![*lease], settings.lease))?;
                Ok(answers.into_iter().next().unwrap_or(Err(LeaseLost { superseded_by: None })))
            }
            // The worker renews it.
            Self::Worker(_) => Err(StoreError::new(cola_ia_core::store::ErrorKind::Invalid, "not_ours")),
        }
    }

    /// Whether a worker holds the lease, and renews it.
    pub(crate) const fn is_inside(&self) -> bool {
        matches!(self, Self::Worker(_))
    }
}

/// The job that the environment tells of.
fn job_of(environment: &Environment) -> Option<JobRun> {
    Some(JobRun {
        source: Source::new(&environment.var("COLA_IA_SOURCE")?).ok()?,
        id: environment.var("COLA_IA_ID")?,
        run: environment.var("COLA_IA_RUN")?.parse().ok()?,
    })
}

/// The question of a lease's holder.
pub(crate) fn begin(plan: &Plan, begin_id: BeginId, lease: LeaseToken) -> Begin {
    let Plan { name, policy, request, expected, send_within, call_time } = plan.clone();
    Begin { lease, name, begin_id, policy, request, expected, send_within, call_time }
}

/// Tells the store what is said of a try. What an effect cost is what was told, where that is in the store's currency, or else
/// what its model and tokens cost by the configured prices.
///
/// # Errors
/// The store's.
pub(crate) async fn tell(
    store: &dyn Store,
    prices: &Prices,
    of: EffectRef,
    word: &Word,
    policy: RetryPolicy,
) -> Result<(ReportAnswer, Option<Uncounted>), StoreError> {
    let mut uncounted = None;
    let answer = match word.clone() {
        Word::Done(mut evidence, currency) => {
            if let Some(told) = currency.filter(|_| evidence.cost.is_some()) {
                uncounted = money::takes(store, &told).await?.err();
                evidence.cost = evidence.cost.filter(|_| uncounted.is_none());
            } else {
                priced(prices, &mut evidence);
            }
            store.effect_done(of, evidence, policy).await
        }
        Word::Failed(failure, note) => store.effect_failed(of, failure, note, policy).await,
        Word::Unknown(note) => store.effect_unknown(of, note, policy).await,
        Word::Looked(Looked::Found(mut evidence)) => {
            priced(prices, &mut evidence);
            store.effect_resolve(of, Looked::Found(evidence), policy).await
        }
        Word::Looked(Looked::Absent) => store.effect_resolve(of, Looked::Absent, policy).await,
    }?;
    Ok((answer, uncounted))
}

fn priced(prices: &Prices, evidence: &mut Evidence) {
    if evidence.cost.is_none()
        && let Some(model) = &evidence.model
    {
        evidence.cost = prices.cost(model, evidence.tokens_in, evidence.tokens_out);
    }
}

/// Whether asking a store again can help.
pub(crate) fn of_store(error: &StoreError) -> Unheard {
    let problem = Problem::from_store(error);
    if can_pass(error) { Unheard::Again(problem) } else { Unheard::Never(problem) }
}

fn begun(answer: &EffectAnswer<'_>) -> Option<EffectBegun> {
    answer.begin()
}

fn reported(answer: &EffectAnswer<'_>) -> Option<ReportAnswer> {
    answer.report()
}

fn hex(hash: RequestHash) -> String {
    hash.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn request<'a>(verb: &'static str, name: Option<&'a EffectName>) -> EffectRequest<'a> {
    let name = Cow::Borrowed(name.map_or("", EffectName::as_str));
    EffectRequest { v: VERSION, verb: Cow::Borrowed(verb), name, ..EffectRequest::default() }
}

fn told<'a>(name: &'a EffectName, number: u32, word: &'a Word) -> EffectRequest<'a> {
    let text = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
    let with = |verb, evidence: &'a Evidence| EffectRequest {
        r#try: Some(number),
        resource_id: text(&evidence.resource_id),
        result: text(&evidence.result),
        cost_micros: evidence.cost.map(Micros::get),
        tokens_in: evidence.tokens_in,
        tokens_out: evidence.tokens_out,
        model: text(&evidence.model),
        ..request(verb, Some(name))
    };
    let plain = |verb| EffectRequest { r#try: Some(number), ..request(verb, Some(name)) };
    match word {
        Word::Done(evidence, currency) => EffectRequest { currency: text(currency), ..with("effect_done", evidence) },
        Word::Failed(failure, note) => {
            let outcome = match failure {
                Failure::Rejected => "rejected",
                Failure::NotSent => "not_sent",
            };
            EffectRequest { outcome: Some(Cow::Borrowed(outcome)), note: text(note), ..plain("effect_failed") }
        }
        Word::Unknown(note) => EffectRequest { note: text(note), ..plain("effect_unknown") },
        Word::Looked(Looked::Found(evidence)) => {
            EffectRequest { outcome: Some(Cow::Borrowed("found")), ..with("effect_resolve", evidence) }
        }
        Word::Looked(Looked::Absent) => {
            EffectRequest { outcome: Some(Cow::Borrowed("absent")), ..plain("effect_resolve") }
        }
    }
}

/// Asks the worker. One that is gone will never answer.
fn ask<T>(
    inside: &Inside,
    request: &EffectRequest<'_>,
    read: impl FnOnce(&EffectAnswer<'_>) -> Option<T>,
) -> Result<T, Unheard> {
    let refused = |code: &str| Problem::failed(Message::new("inside-refused").with("code", code));
    let text = inside.ask(request).map_err(|Asked { cause, problem }| match cause {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Unheard::Never(problem),
        _ => Unheard::Again(problem),
    })?;
    let answer: EffectAnswer<'_> = serde_json::from_str(&text).map_err(|_| Unheard::Again(refused("no_answer")))?;
    match (&*answer.result, &answer.code) {
        ("unavailable", code) => Err(Unheard::Again(refused(code.as_deref().unwrap_or("unavailable")))),
        ("invalid", code) => Err(Unheard::Never(refused(code.as_deref().unwrap_or("invalid")))),
        _ => read(&answer).ok_or_else(|| Unheard::Never(refused("no_answer"))),
    }
}

/// The effects of the job that this process is inside of, one JSON object a line as its worker has them.
///
/// # Errors
/// There is no answer.
pub(crate) fn list_inside<T>(
    inside: &Inside,
    read: impl FnOnce(&[cola_ia_wire::Effect<'_>]) -> T,
) -> Result<T, Unheard> {
    ask(inside, &request("effect_list", None), |answer| answer.effects.as_deref().map(read))
}
