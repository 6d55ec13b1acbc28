//! What workers and a store say to each other.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::EffectName;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::{Ending, RetryPolicy, Setback};
use cola_ia_core::store;
use cola_ia_core::store::{EndRefused, Recovered as RecoveredJobs, Report};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Carry;
use super::effect::Effect;
use super::job::Job;
use super::shape::shape;
use super::values::{EffectNameText, Instant, LeaseHex, SourceName, Span, StateWord};

/// Who claims, what and for how long. Everything may be left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ClaimAsk {
    /// The worker's name, for people; the token's where it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// How long each lease lasts unless it is extended, in microseconds; as long as the server's configuration says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_micros: Option<Span>,
    /// At most so many jobs, 1 to 1,000; 1 where it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only jobs of this source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceName>,
    /// Where nothing is due, wait so long for something, in milliseconds; at most 30,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

shape! {
    /// The answer to a claim.
    pub struct Claimed of store::Claim {
        /// The store's clock.
        at: Instant,
        /// The jobs, the one that was due first first. It may be fewer than were asked for, and are due.
        leases: Vec<Leased>,
        /// When the next job becomes due, where none is now.
        next_due: Option<Instant>,
    }
}

shape! {
    /// A job in the hands of a worker.
    pub struct Leased of store::Leased {
        /// The lease, to be sent with everything that is said of the job.
        lease = token: LeaseHex,
        /// Until when it lasts, unless it is extended.
        lease_until = until: Instant,
        /// The attempt's number within the run, from 1.
        attempt: u32,
        /// Attempts of the run that were lost with their workers, before this one.
        crashes: u32,
        /// The job.
        job: Job,
        /// The text to work on.
        text: String,
        /// The effects of the job's run so far, by name.
        effects: Vec<Effect>,
    }
}

/// How often and when a job is tried again. What is left out is as the server's configuration says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Retry {
    /// Attempts of a run that may fail before the job is `failed`; at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// Attempts of a run that may be lost with their worker before the job is `failed`; at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_crashes: Option<u32>,
    /// The longest wait after the first setback, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_wait_micros: Option<Span>,
    /// The longest wait after any, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_wait_micros: Option<Span>,
    /// A source of which so many jobs failed in a row with one class of errors is paused; 0: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_after: Option<u32>,
}

impl From<RetryPolicy> for Retry {
    fn from(policy: RetryPolicy) -> Self {
        Self {
            max_attempts: Some(policy.max_attempts),
            max_crashes: Some(policy.max_crashes),
            first_wait_micros: Some(policy.first_wait.carry()),
            max_wait_micros: Some(policy.max_wait.carry()),
            pause_after: Some(policy.pause_after.unwrap_or(0)),
        }
    }
}

impl Retry {
    /// The policy, with this one where nothing is said.
    pub fn or(self, usual: RetryPolicy) -> RetryPolicy {
        RetryPolicy {
            max_attempts: self.max_attempts.map_or(usual.max_attempts, |attempts| attempts.max(1)),
            max_crashes: self.max_crashes.map_or(usual.max_crashes, |crashes| crashes.max(1)),
            first_wait: self.first_wait_micros.map_or(usual.first_wait, Carry::carry),
            max_wait: self.max_wait_micros.map_or(usual.max_wait, Carry::carry),
            pause_after: self.pause_after.map_or(usual.pause_after, |after| Some(after).filter(|after| *after > 0)),
        }
    }
}

/// Leases that are to last longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExtendAsk {
    /// The leases; at most 1,000.
    pub leases: Vec<LeaseHex>,
    /// How long they last from now on, in microseconds; as long as the server's configuration says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_micros: Option<Span>,
}

/// One answer for each lease, in the order in which they were named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeaseAnswers {
    /// The answers.
    pub leases: Vec<LeaseSaid>,
}

/// What became of a lease.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeaseSaid {
    /// `ok`; `lease_lost` or `effects_unresolved`: nothing was changed.
    pub result: String,
    /// Until when the lease lasts now; where it was extended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Instant>,
    /// The job's state from then on; where the lease ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateWord>,
    /// When the job is due again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Instant>,
    /// The newest attempt of the job, where the lease is lost to another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<u32>,
    /// The effects whose outcome is open, for which the job cannot be done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unresolved: Vec<EffectNameText>,
}

const OK: &str = "ok";
const LEASE_LOST: &str = "lease_lost";
const UNRESOLVED: &str = "effects_unresolved";

impl LeaseSaid {
    fn of(result: &str) -> Self {
        Self { result: result.to_owned(), ..Self::default() }
    }

    fn lost(lost: store::LeaseLost) -> Self {
        Self { superseded_by: lost.superseded_by, ..Self::of(LEASE_LOST) }
    }

    /// The answer to `extend`.
    pub fn extended(answer: Result<Timestamp, store::LeaseLost>) -> Self {
        match answer {
            Ok(until) => Self { lease_until: Some(Instant(until)), ..Self::of(OK) },
            Err(lost) => Self::lost(lost),
        }
    }

    /// The answer to `end`.
    pub fn ended(answer: Result<store::Ended, EndRefused>) -> Self {
        match answer {
            Ok(ended) => {
                Self { state: Some(StateWord(ended.state)), due_at: ended.due_at.map(Instant), ..Self::of(OK) }
            }
            Err(EndRefused::LeaseLost(lost)) => Self::lost(lost),
            Err(EndRefused::Unresolved(names)) => {
                Self { unresolved: names.into_iter().map(EffectNameText).collect(), ..Self::of(UNRESOLVED) }
            }
        }
    }

    /// The answer to `extend` as it was given; `None` where it is none.
    pub fn into_extended(self) -> Option<Result<Timestamp, store::LeaseLost>> {
        match &*self.result {
            OK => Some(Ok(self.lease_until?.0)),
            LEASE_LOST => Some(Err(store::LeaseLost { superseded_by: self.superseded_by })),
            _ => None,
        }
    }

    /// The answer to `end` as it was given; `None` where it is none.
    pub fn into_ended(self) -> Option<Result<store::Ended, EndRefused>> {
        Some(match &*self.result {
            OK => Ok(store::Ended { state: self.state?.0, due_at: self.due_at.carry() }),
            LEASE_LOST => Err(EndRefused::LeaseLost(store::LeaseLost { superseded_by: self.superseded_by })),
            UNRESOLVED => Err(EndRefused::Unresolved(self.unresolved.into_iter().map(|name| name.0).collect())),
            _ => return None,
        })
    }
}

/// Leases that end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EndAsk {
    /// How each ends; at most 1,000.
    pub ends: Vec<EndIn>,
    /// How often and when a job that failed is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// What a worker says at the end of an attempt. What is too long is cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EndIn {
    /// The lease.
    pub lease: LeaseHex,
    /// How it ended.
    pub outcome: OutcomeIn,
    /// The job is not to be tried again before then; for `error`, `timed_out`, `permanent`, and needed for `later`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Instant>,
    /// The command's exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// A stable word for the kind of error; at most 64 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// What went wrong, for people; at most 4 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The resource that the job made; at most 1 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<String>,
    /// The job's result, JSON as text; at most 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What it cost, in millionths of the store's currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<i64>,
    /// Tokens that went into a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<i64>,
    /// Tokens that came out of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<i64>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The end of the output; at most 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// The same in Base64, where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout_base64: Option<String>,
    /// The end of the error output; at most 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// The same in Base64, where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_base64: Option<String>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeIn {
    /// Finished.
    Done,
    /// It failed, and may succeed another time.
    Error,
    /// It took longer than it may.
    TimedOut,
    /// It failed, and will not succeed however often.
    Permanent,
    /// It could not be done now, and nobody is to blame; costs no attempt.
    Later,
    /// Given back; costs no attempt.
    Released,
}

/// What is wrong with the end of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndMalformed {
    /// `later` without `not_before`.
    NotBefore,
    /// What is said to be Base64 is none.
    Base64,
}

impl fmt::Display for EndMalformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotBefore => "not_before",
            Self::Base64 => "base64",
        })
    }
}

impl From<&store::End> for EndIn {
    fn from(end: &store::End) -> Self {
        let (outcome, not_before) = match end.ending {
            Ending::Done => (OutcomeIn::Done, None),
            Ending::Failed { setback: Setback::Error, not_before } => (OutcomeIn::Error, not_before),
            Ending::Failed { setback: Setback::TimedOut, not_before } => (OutcomeIn::TimedOut, not_before),
            Ending::Failed { setback: Setback::Permanent, not_before } => (OutcomeIn::Permanent, not_before),
            Ending::Later { not_before } => (OutcomeIn::Later, Some(not_before)),
            Ending::Released => (OutcomeIn::Released, None),
        };
        let report = end.report.clone();
        let (stdout, stdout_base64) = written(report.stdout);
        let (stderr, stderr_base64) = written(report.stderr);
        Self {
            lease: LeaseHex(end.token),
            outcome,
            not_before: not_before.map(Instant),
            exit_code: report.exit_code,
            signal: report.signal,
            error_class: report.error_class,
            error: report.error,
            resource_id: report.resource_id,
            result: report.result,
            cost_micros: report.cost_micros,
            tokens_in: report.tokens_in,
            tokens_out: report.tokens_out,
            model: report.model,
            stdout,
            stdout_base64,
            stderr,
            stderr_base64,
        }
    }
}

/// Output as text, or else in Base64.
fn written(bytes: Vec<u8>) -> (Option<String>, Option<String>) {
    match String::from_utf8(bytes) {
        Ok(text) => (Some(text).filter(|text| !text.is_empty()), None),
        Err(other) => (None, Some(STANDARD.encode(other.as_bytes()))),
    }
}

fn read(text: Option<String>, base64: Option<&String>) -> Result<Vec<u8>, EndMalformed> {
    match base64 {
        Some(base64) => STANDARD.decode(base64).map_err(|_| EndMalformed::Base64),
        None => Ok(text.unwrap_or_default().into_bytes()),
    }
}

impl EndIn {
    /// The end as a store takes it.
    ///
    /// # Errors
    /// [`EndMalformed`].
    pub fn read(self) -> Result<store::End, EndMalformed> {
        let not_before: Option<Timestamp> = self.not_before.carry();
        let failed = |setback| Ending::Failed { setback, not_before };
        let ending = match self.outcome {
            OutcomeIn::Done => Ending::Done,
            OutcomeIn::Error => failed(Setback::Error),
            OutcomeIn::TimedOut => failed(Setback::TimedOut),
            OutcomeIn::Permanent => failed(Setback::Permanent),
            OutcomeIn::Later => Ending::Later { not_before: not_before.ok_or(EndMalformed::NotBefore)? },
            OutcomeIn::Released => Ending::Released,
        };
        let report = Report {
            exit_code: self.exit_code,
            signal: self.signal,
            error_class: self.error_class,
            error: self.error,
            resource_id: self.resource_id,
            result: self.result,
            cost_micros: self.cost_micros,
            tokens_in: self.tokens_in,
            tokens_out: self.tokens_out,
            model: self.model,
            stdout: read(self.stdout, self.stdout_base64.as_ref())?,
            stderr: read(self.stderr, self.stderr_base64.as_ref())?,
        };
        Ok(store::End { token: self.lease.0, ending, report })
    }
}

/// Leases that have run out are to end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct RecoverAsk {
    /// At most so many, 1 to 1,000; 1,000 where it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only say what would become of them.
    pub dry_run: bool,
    /// How often and when a job is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// Jobs whose workers are lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Recovered {
    /// The jobs and where each is now.
    pub jobs: Vec<RecoveredJob>,
    /// There were more.
    pub more: bool,
}

/// A job whose worker is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecoveredJob {
    /// The event's number; the job has the same.
    pub event: i64,
    /// The job's state from then on.
    pub state: StateWord,
    /// When it is due again.
    pub due_at: Option<Instant>,
}

impl From<RecoveredJobs> for Recovered {
    fn from(recovered: RecoveredJobs) -> Self {
        let job = |(event, ended): (EventNumber, store::Ended)| RecoveredJob {
            event: event.0,
            state: StateWord(ended.state),
            due_at: ended.due_at.map(Instant),
        };
        Self { jobs: recovered.jobs.into_iter().map(job).collect(), more: recovered.more }
    }
}

impl From<Recovered> for RecoveredJobs {
    fn from(recovered: Recovered) -> Self {
        let job = |job: RecoveredJob| {
            (EventNumber(job.event), store::Ended { state: job.state.0, due_at: job.due_at.carry() })
        };
        Self { jobs: recovered.jobs.into_iter().map(job).collect(), more: recovered.more }
    }
}

/// An effect's name stands in the answers of leases.
const _: fn(EffectName) -> EffectNameText = EffectNameText;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cola_ia_core::job::{JobState, LeaseToken};

    use super::*;

    const AT: Timestamp = Timestamp::from_micros(1_700_000_000_123_456);

    fn same<T: Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
        serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
    }

    #[test]
    fn every_ending_is_read_as_it_was_written() {
        let failed = |setback, not_before| Ending::Failed { setback, not_before };
        let endings = [
            Ending::Done,
            failed(Setback::Error, None),
            failed(Setback::Error, Some(AT)),
            failed(Setback::TimedOut, None),
            failed(Setback::Permanent, Some(AT)),
            Ending::Later { not_before: AT },
            Ending::Released,
        ];
        let reports = [
            Report::default(),
            Report {
                exit_code: Some(-1),
                signal: Some(9),
                error_class: Some("e".to_owned()),
                error: Some("é\u{0}".to_owned()),
                resource_id: Some("r".to_owned()),
                result: Some("{}".to_owned()),
                cost_micros: Some(i64::MAX),
                tokens_in: Some(1),
                tokens_out: Some(2),
                model: Some("m".to_owned()),
                stdout: vec![0xff, 0, b'a'],
                stderr: "texto ñ".as_bytes().to_vec(),
            },
        ];
        for ending in endings {
            for report in reports.clone() {
                let end = store::End { token: LeaseToken::new([3; 16], 7), ending, report };
                assert_eq!(same(&EndIn::from(&end)).read(), Ok(end));
            }
        }
    }

    #[test]
    fn an_end_that_makes_no_sense_is_refused() {
        let lease = "0".repeat(36);
        let read = |rest: &str| {
            serde_json::from_str::<EndIn>(&format!(r#"{{"lease":"{lease}",{rest}}}"#)).unwrap().read().map(drop)
        };
        assert_eq!(read(r#""outcome":"later""#), Err(EndMalformed::NotBefore));
        assert_eq!(read(r#""outcome":"done","stdout_base64":"?""#), Err(EndMalformed::Base64));
        assert_eq!(read(r#""outcome":"done","stdout":"a""#), Ok(()));
    }

    #[test]
    fn every_answer_is_read_as_it_was_written() {
        let lost = [None, Some(3)].map(|superseded_by| store::LeaseLost { superseded_by });
        for answer in [Ok(AT), Err(lost[0]), Err(lost[1])] {
            assert_eq!(same(&LeaseSaid::extended(answer)).into_extended(), Some(answer));
        }
        let names = vec![EffectName::new("publish").unwrap()];
        let answers = [
            Ok(store::Ended { state: JobState::Done, due_at: None }),
            Ok(store::Ended { state: JobState::Pending, due_at: Some(AT) }),
            Err(EndRefused::LeaseLost(lost[1])),
            Err(EndRefused::Unresolved(names)),
        ];
        for answer in answers {
            assert_eq!(same(&LeaseSaid::ended(answer.clone())).into_ended(), Some(answer));
        }
        assert_eq!(LeaseSaid::of("else").into_ended(), None);
    }

    #[test]
    fn a_retry_policy_is_read_as_it_was_written() {
        for pause_after in [None, Some(3)] {
            let policy = RetryPolicy {
                max_attempts: 7,
                max_crashes: 1,
                first_wait: Duration::from_micros(1),
                max_wait: Duration::from_hours(9),
                pause_after,
            };
            let usual = RetryPolicy { pause_after: Some(9), ..RetryPolicy::default() };
            assert_eq!(same(&Retry::from(policy)).or(usual), policy);
            assert_eq!(Retry::default().or(policy), policy);
        }
        let zero = Retry { max_attempts: Some(0), max_crashes: Some(0), ..Retry::default() };
        assert_eq!(zero.or(RetryPolicy::default()).max_attempts, 1);
    }
}
