//! `work --effect`: the whole command is one effect, guarded by the ledger.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::effect::{BeginAnswer, BeginId, EffectName, Micros, Refused, ReportAnswer};
use cola_ia_core::event::Fingerprint;
use cola_ia_core::job::{Ending, RetryPolicy, Setback};
use cola_ia_core::store::{EffectBegun, EffectRef, JobRun, Leased, Report, StoreError};

use super::Worker;
use super::child::{self, Cause, Exit, NotStarted, Spec};
use super::held::Grip;
use super::result::{self, LeftResult};
use super::stop::Stopping;
use super::verdict::{Facts, LATER_LEAST, Said, judge as judge_attempt};
use crate::cli::effect::told::refused_class;
use crate::effect::holder::{begin, of_store, tell};
use crate::effect::{
    BEGUN_VAR, CALL_TIME, Check, EffectCommand, Judged, KEY_VAR, Keeper, Later, Outcome, Permission, Plan, Seen,
    Sender, Sent, TRY_VAR, Unheard, Word, guard, judge, request_of, seen,
};
use crate::lang::Message;
use crate::print::id_on_a_line;

/// What became of the effect, and of the command where it ran.
pub(super) struct Guarded {
    pub(super) outcome: Outcome,
    pub(super) ran: Option<(Exit, LeftResult)>,
    pub(super) not_started: Option<NotStarted>,
}

/// Runs the command as the effect's ledger allows. `spec` is the command as it would run without one, but for what it reads.
pub(super) async fn run(
    worker: &Worker,
    leased: &Leased,
    grip: &Grip,
    of: &EffectCommand,
    (spec, stdin, result, said): (impl Fn() -> Spec, &str, &Path, impl Fn() -> Option<Said>),
) -> Guarded {
    let time = worker.time_limit.unwrap_or(CALL_TIME);
    let mut of = of.clone();
    of.effect.call_time = time;
    let fingerprint = Fingerprint::of(&leased.text).to_string();
    let request = request_of(&worker.how.program, &worker.how.args, Some(fingerprint.as_ref()));
    let plan = of.plan(Some(request), worker.grace);
    let keeper = OfWorker { worker, leased, grip };
    let mut commands =
        Commands { spec, said, time, stdin, result: result.to_owned(), grip, of, ran: None, not_started: None };
    let outcome = guard(&keeper, &mut commands, &plan, (&SystemClock, &SystemEntropy)).await;
    Guarded { outcome, ran: commands.ran, not_started: commands.not_started }
}

/// The run of a job that a lease is of.
pub(super) fn job_run(leased: &Leased) -> JobRun {
    JobRun { source: leased.job.source.clone(), id: leased.job.id.clone(), run: leased.job.run }
}

/// The worker's own store.
struct OfWorker<'a> {
    worker: &'a Worker,
    leased: &'a Leased,
    grip: &'a Grip,
}

impl OfWorker<'_> {
    fn heard<T>(&self, answer: Result<T, StoreError>) -> Result<T, Unheard> {
        match &answer {
            Ok(_) => self.worker.outage.is_over(),
            Err(error) => self.worker.outage.failed(error),
        }
        answer.map_err(|error| of_store(&error))
    }
}

impl Keeper for OfWorker<'_> {
    async fn begin(&self, plan: &Plan, id: BeginId) -> Result<EffectBegun, Unheard> {
        let asked = self.worker.store.effect_begin(begin(plan, id, self.leased.token), self.worker.policy);
        let begun = self.heard(asked.await)?;
        if matches!(begun.answer, BeginAnswer::Held(_)) {
            self.grip.settled.store(true, Ordering::SeqCst);
        }
        Ok(begun)
    }

    async fn report(&self, name: &EffectName, number: u32, word: &Word) -> Result<ReportAnswer, Unheard> {
        let of = EffectRef { lease: self.leased.token, name: name.clone(), number, job: Some(job_run(self.leased)) };
        let told = tell(&*self.worker.store, &self.worker.prices, of, word, self.worker.policy).await;
        let (answer, uncounted) = self.heard(told)?;
        if let Some(uncounted) = uncounted {
            let message = Message::new("work-cost").with("id", id_on_a_line(&self.leased.job.id));
            self.worker.voice.warn(message.message("fault", uncounted.message()));
        }
        Ok(answer)
    }

    async fn pause(&self, wait: Duration, _waited: Duration) -> bool {
        // As for the end of an attempt: it is kept until the store takes it.
        tokio::select! {
            () = tokio::time::sleep(wait) => true,
            () = self.worker.stopper.reaches(Stopping::Now) => false,
        }
    }
}

/// The command and its lookup.
struct Commands<'a, F, S> {
    spec: F,
    /// What the command has said of its job.
    said: S,
    time: Duration,
    /// What a lookup reads too: the text.
    stdin: &'a str,
    result: PathBuf,
    grip: &'a Grip,
    of: EffectCommand,
    ran: Option<(Exit, LeftResult)>,
    not_started: Option<NotStarted>,
}

impl<F: Fn() -> Spec, S> Commands<'_, F, S> {
    fn with(&self, more: impl IntoIterator<Item = (&'static str, String)>) -> Spec {
        let mut spec = (self.spec)();
        spec.env.extend(more.into_iter().map(|(name, value)| (name.to_owned(), OsString::from(value))));
        spec.time_limit = Some(self.time);
        spec
    }

    /// What the command left, and no longer there for the next one.
    fn left(&self) -> LeftResult {
        let left = result::read(&self.result, SystemClock.now());
        // What stays is removed with the folder.
        let _ = std::fs::remove_file(&self.result);
        left
    }
}

impl<F: Fn() -> Spec, S: Fn() -> Option<Said>> Sender for Commands<'_, F, S> {
    async fn send(&mut self, permission: &Permission) -> Judged {
        let number = permission.go.number.to_string();
        let spec = self.with([(KEY_VAR, permission.key.clone()), (TRY_VAR, number)]);
        match child::run(spec, self.grip.stop.clone()).await {
            Ok(exit) => {
                let left = self.left();
                let mut judged = judge(&exit, left.clone(), false);
                if let Some(said) = (self.said)() {
                    fill_in(&mut judged, said);
                }
                self.ran = Some((exit, left));
                judged
            }
            Err(why) => {
                let judged = Judged::not_started(&why);
                self.not_started = Some(why);
                judged
            }
        }
    }

    async fn look(&mut self, check: &Check) -> Seen {
        let Some(line) = &self.of.lookup else { return Seen::Nothing("there is no lookup".to_owned()) };
        let begun_at = check.begun_at.map(Timestamp::to_rfc3339).unwrap_or_default();
        let spec = Spec {
            program: "sh".into(),
            args: EffectCommand::lookup_args(line, &check.key),
            stdin: self.stdin.to_owned(),
            ..self.with([(KEY_VAR, check.key.clone()), (BEGUN_VAR, begun_at)])
        };
        match child::run(spec, self.grip.stop.clone()).await {
            Ok(exit) => seen(&exit, self.left()),
            Err(why) => Seen::Nothing(format!("it was not started: {why:?}")),
        }
    }
}

/// What a command said of its job on its socket is said of the effect, where its file says nothing.
fn fill_in(judged: &mut Judged, said: Said) {
    let Sent::Done(evidence) = &mut judged.sent else { return };
    if evidence.cost.is_none() {
        evidence.cost = said.report.cost_micros.and_then(Micros::new);
        judged.currency = said.currency;
    }
    evidence.tokens_in = evidence.tokens_in.or(said.report.tokens_in);
    evidence.tokens_out = evidence.tokens_out.or(said.report.tokens_out);
    evidence.model = evidence.model.take().or(said.report.model);
}

/// What is told to the store of the attempt, as [`judge`](judge_attempt) does for a command that is no effect. Cost and tokens are
/// counted with the effect and not a second time; those of a try that came to nothing are the attempt's, for no effect counts
/// them, and those of one of which nobody knows are reserved. `ran`: what is known of the command, where it ran.
pub(super) fn end_of(
    outcome: &Outcome,
    ran: Option<Facts<'_>>,
    now: Timestamp,
    policy: &RetryPolicy,
) -> (Ending, Report) {
    let cause = ran.as_ref().map(|facts| facts.exit.cause);
    let code = ran.as_ref().and_then(|facts| facts.exit.code);
    let was_said = ran.as_ref().is_some_and(|facts| facts.said.is_some());
    let (ending, mut report) = ran.map_or((Ending::Released, Report::default()), judge_attempt);
    let came_to_nothing = match outcome {
        Outcome::Rejected(_) | Outcome::Later(Later::NotSent(..)) => true,
        Outcome::LeaseLost { done: None } => matches!(code, Some(65 | 75)),
        _ => false,
    };
    if !came_to_nothing {
        (report.cost_micros, report.tokens_in, report.tokens_out, report.model) = (None, None, None, None);
    }
    let wait = || now.after(policy.first_wait.max(LATER_LEAST));
    let mut failed = |setback, class: &str, why: Option<&str>| {
        report.error_class = Some(class.to_owned());
        report.error = why.map(str::to_owned).or(report.error.take());
        Ending::Failed { setback, not_before: None }
    };
    let ending = match outcome {
        _ if was_said => ending,
        Outcome::Done { evidence, .. } => {
            report.error_class = None;
            report.resource_id = report.resource_id.take().or_else(|| evidence.resource_id.clone());
            report.result = report.result.take().or_else(|| evidence.result.clone());
            Ending::Done
        }
        Outcome::Unknown(_) if cause == Some(Cause::Stopped) => ending,
        Outcome::Unknown(why) => {
            let setback = if cause == Some(Cause::TimedOut) { Setback::TimedOut } else { Setback::Error };
            failed(setback, "effect_unknown", Some(why))
        }
        Outcome::NotRecorded { .. } => failed(Setback::Error, "effect_unknown", None),
        // The command has said so itself.
        Outcome::Rejected(_) | Outcome::Later(Later::NotSent(..)) if cause.is_some() => ending,
        Outcome::Rejected(why) => failed(Setback::Permanent, "effect_rejected", Some(why)),
        Outcome::Later(later) => {
            report.error_class = Some(later.class().to_owned());
            let until = match later {
                Later::Wait(until) | Later::Budget(until) => Some(*until),
                Later::CouldNotTell(why) | Later::NotSent(why, _) => {
                    report.error = Some(why.clone());
                    None
                }
            };
            Ending::Later { not_before: until.unwrap_or_else(wait) }
        }
        Outcome::Refused(refused) => {
            let for_good = matches!(refused, Refused::Abandoned | Refused::TooMany);
            let why = (*refused == Refused::CostRequired)
                .then_some("the source has a budget, and what it may cost was not said: --max-cost");
            failed(if for_good { Setback::Permanent } else { Setback::Error }, refused_class(*refused), why)
        }
        Outcome::Held(_) | Outcome::LeaseLost { .. } | Outcome::NotBegun(_) => Ending::Released,
    };
    (ending, report)
}
