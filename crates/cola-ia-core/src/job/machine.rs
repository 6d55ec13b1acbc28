//! The moves of a job.
//!
//! ```text
//!            claim                 complete
//! pending ─────────► running ─────────────────► done
//!    ▲                  │  fail, lost: again later, or …──► failed
//!    └──────────────────┤  cancel ──► cancelled
//!                       └─ an effect's outcome is unknown ──► held
//! ```
//! `retry` takes failed, held and cancelled back to pending; `replay` makes a new run of what has ended.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use super::{Draw, JobState, RetryPolicy};
use crate::clock::Timestamp;

/// The longest lease: a longer one that is asked for is as long, so that no job can be put beyond recovery by a number.
pub const LEASE_MAX: Duration = Duration::from_hours(7 * 24);

/// The token of one lease. Never the same twice: it is made of the [`OpId`](crate::store::OpId) of the claim and the place in
/// its answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseToken(pub [u8; 18]);

impl LeaseToken {
    /// The token of one place in the answer to a claim.
    pub fn new(claim: [u8; 16], place: u16) -> Self {
        let mut bytes = [0; 18];
        bytes[..16].copy_from_slice(&claim);
        bytes[16..].copy_from_slice(&place.to_be_bytes());
        Self(bytes)
    }

    /// Reads what [`Display`](fmt::Display) writes: 36 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 18];
        if text.len() != 2 * bytes.len() || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for LeaseToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A token opens its job: logs get its beginning only.
impl fmt::Debug for LeaseToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LeaseToken({:02x}{:02x}…)", self.0[4], self.0[5])
    }
}

/// Who may work on a job, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lease {
    /// Every write of the worker carries it.
    pub token: LeaseToken,
    /// From then on anybody may end it. Until somebody does, its holder may still report.
    pub until: Timestamp,
}

/// What of a job decides its moves.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Job {
    /// Where it stands.
    pub state: JobState,
    /// From 1.
    pub run: u32,
    /// Attempts of this run that count: counted when claimed, taken back where the job was not to blame.
    pub attempts: u32,
    /// Of these, lost with their worker.
    pub crashes: u32,
    /// While pending: not before.
    pub due_at: Option<Timestamp>,
    /// While running.
    pub lease: Option<Lease>,
    /// Why it is held or failed, stable; empty where it needs no reason.
    pub reason: Cow<'static, str>,
}

/// How an attempt ended, as is recorded with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It finished the job.
    Done,
    /// It failed.
    Error,
    /// Its worker was lost: the lease ran out.
    Crashed,
    /// It took longer than it may.
    TimedOut,
    /// It gave the job back.
    Released,
    /// Somebody took the job away from it.
    LeaseLost,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Done, Self::Error, Self::Crashed, Self::TimedOut, Self::Released, Self::LeaseLost];

    /// The word in code, JSON, SQL and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Error => "error",
            Self::Crashed => "crashed",
            Self::TimedOut => "timed_out",
            Self::Released => "released",
            Self::LeaseLost => "lease_lost",
        }
    }

    /// The outcome that [`as_str`](Self::as_str) gives this word for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }
}

/// What went wrong with an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setback {
    /// It may succeed another time.
    Error,
    /// It took longer than it may.
    TimedOut,
    /// It will not succeed, however often.
    Permanent,
}

/// What the holder of a lease says of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Finished.
    Done,
    /// Failed; where the worker knows when to come back, not before.
    Failed {
        /// In what way.
        setback: Setback,
        /// Not before.
        not_before: Option<Timestamp>,
    },
    /// It could not be done now, and nobody is to blame: a rate limit, say. Costs no attempt.
    Later {
        /// Not before.
        not_before: Timestamp,
    },
    /// Given back, not begun or not finished: the worker stops. Costs no attempt.
    Released,
}

impl Ending {
    /// How the attempt that says so ends.
    pub const fn outcome(self) -> Outcome {
        match self {
            Self::Done => Outcome::Done,
            Self::Failed { setback: Setback::TimedOut, .. } => Outcome::TimedOut,
            Self::Failed { .. } => Outcome::Error,
            Self::Later { .. } | Self::Released => Outcome::Released,
        }
    }
}

/// Why a move was not made. Nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    /// The lease is not, or no longer, this one.
    LeaseLost,
    /// A job in this state does not make this move.
    State(JobState),
}

/// Attempts used up.
pub(super) const ATTEMPTS_EXHAUSTED: &str = "attempts_exhausted";
/// Too many workers lost on it.
pub(super) const CRASHES_EXHAUSTED: &str = "crashes_exhausted";
/// The worker said that it will not succeed.
pub(super) const PERMANENT: &str = "permanent";
/// An effect's outcome is unknown, and only a person can tell. Settled, the job goes on.
const EFFECT_UNKNOWN: &str = "effect_unknown";
/// A person gave up finding out about an effect.
const EFFECT_ABANDONED: &str = "effect_abandoned";
/// While held: it is cancelled once its effects are settled.
const CANCELLED: &str = "cancelled";

impl Job {
    /// As it is born with its event.
    pub const fn born(now: Timestamp) -> Self {
        Self {
            state: JobState::Pending,
            run: 1,
            attempts: 0,
            crashes: 0,
            due_at: Some(now),
            lease: None,
            reason: Cow::Borrowed(""),
        }
    }

    /// Whether it may be claimed.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.state == JobState::Pending && self.due_at.is_none_or(|due| due <= now)
    }

    /// Whether it runs on a lease that anybody may end.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.state == JobState::Running && self.lease.is_none_or(|lease| lease.until <= now)
    }

    /// Leases a job that is due.
    ///
    /// # Errors
    /// It is not due.
    pub fn claim(&self, now: Timestamp, token: LeaseToken, length: Duration) -> Result<Self, Denied> {
        if !self.is_due(now) {
            return Err(Denied::State(self.state));
        }
        Ok(Self {
            state: JobState::Running,
            attempts: self.attempts.saturating_add(1),
            due_at: None,
            lease: Some(Lease { token, until: now.after(length.min(LEASE_MAX)) }),
            reason: Cow::Borrowed(""),
            ..self.clone()
        })
    }

    /// Makes the lease last from now on. It is never shortened.
    ///
    /// # Errors
    /// `LeaseLost`.
    pub fn extend(&self, now: Timestamp, token: LeaseToken, length: Duration) -> Result<Self, Denied> {
        let held = self.held_by(token)?;
        let lease = Lease { token, until: held.until.max(now.after(length.min(LEASE_MAX))) };
        Ok(Self { lease: Some(lease), ..self.clone() })
    }

    /// Ends the lease as its holder says.
    ///
    /// # Errors
    /// `LeaseLost`.
    pub fn end(
        &self,
        now: Timestamp,
        token: LeaseToken,
        ending: Ending,
        policy: &RetryPolicy,
        draw: Draw,
    ) -> Result<(Self, Outcome), Denied> {
        self.held_by(token)?;
        let job = match ending {
            Ending::Done => self.rest(JobState::Done, ""),
            Ending::Failed { setback, not_before } => {
                let failures = self.failures();
                if setback == Setback::Permanent {
                    self.rest(JobState::Failed, PERMANENT)
                } else if failures >= policy.max_attempts {
                    self.rest(JobState::Failed, ATTEMPTS_EXHAUSTED)
                } else {
                    let wait = now.after(policy.wait(failures, draw));
                    self.again(not_before.map_or(wait, |told| told.max(wait)))
                }
            }
            Ending::Later { not_before } => self.uncounted().again(not_before.max(now)),
            Ending::Released => self.uncounted().again(now),
        };
        Ok((job, ending.outcome()))
    }

    /// Ends a lease that ran out: its worker is lost.
    ///
    /// # Errors
    /// It has not run out, or there is none.
    pub fn expire(&self, now: Timestamp, policy: &RetryPolicy, draw: Draw) -> Result<Self, Denied> {
        if !self.is_expired(now) {
            return Err(Denied::State(self.state));
        }
        let lost = Self { crashes: self.crashes.saturating_add(1), ..self.clone() };
        if lost.crashes >= policy.max_crashes {
            return Ok(lost.rest(JobState::Failed, CRASHES_EXHAUSTED));
        }
        let wait = policy.wait(lost.crashes, draw);
        Ok(lost.again(now.after(wait)))
    }

    /// Stops a job for good, by a person's word. A worker that holds it has lost its lease.
    ///
    /// # Errors
    /// It has ended.
    pub fn cancel(&self) -> Result<Self, Denied> {
        match self.state {
            JobState::Pending | JobState::Running | JobState::Held | JobState::Failed => {
                Ok(self.rest(JobState::Cancelled, ""))
            }
            JobState::Done | JobState::Cancelled => Err(Denied::State(self.state)),
        }
    }

    /// Tries a job again that waits for a person, with all its attempts before it. The run is the same, and so are the keys of
    /// its effects. A pending one that waits for a later time becomes due.
    ///
    /// # Errors
    /// It runs, or it is done: that takes [`replay`](Self::replay).
    pub fn retry(&self, now: Timestamp) -> Result<Self, Denied> {
        match self.state {
            JobState::Failed | JobState::Cancelled | JobState::Held | JobState::Pending => {
                Ok(Self { attempts: 0, crashes: 0, ..self.again(now) })
            }
            JobState::Running | JobState::Done => Err(Denied::State(self.state)),
        }
    }

    /// Works once more on what has ended, as a run of its own: its effects have other keys.
    ///
    /// # Errors
    /// It has not ended.
    pub fn replay(&self, now: Timestamp) -> Result<Self, Denied> {
        match self.state {
            JobState::Done | JobState::Failed | JobState::Cancelled => Ok(self.rerun(now)),
            JobState::Pending | JobState::Running | JobState::Held => Err(Denied::State(self.state)),
        }
    }

    /// A new run, whatever the state. A worker that holds the job has lost its lease.
    #[must_use]
    pub fn rerun(&self, now: Timestamp) -> Self {
        Self { run: self.run.saturating_add(1), ..Self::born(now) }
    }

    /// Whether it runs under this lease.
    pub fn is_held_by(&self, token: LeaseToken) -> bool {
        self.held_by(token).is_ok()
    }

    /// What a held job becomes when its effects are settled; `None`: it goes on, or it is not held. Its reason tells.
    pub fn ends_as(&self) -> Option<JobState> {
        match &*self.reason {
            _ if self.state != JobState::Held => None,
            CANCELLED => Some(JobState::Cancelled),
            PERMANENT | ATTEMPTS_EXHAUSTED | CRASHES_EXHAUSTED | EFFECT_ABANDONED => Some(JobState::Failed),
            _ => None,
        }
    }

    /// Waits for a person, whatever it did; its attempt does not count, unless it is not `free`.
    pub(crate) fn held(&self, free: bool) -> Self {
        let job = if free { self.uncounted() } else { self.clone() };
        job.rest(JobState::Held, EFFECT_UNKNOWN)
    }

    /// A job that would have ended now waits until its effects are settled, and ends then.
    pub(crate) fn held_until_settled(self) -> Self {
        let reason = if self.state == JobState::Cancelled { Cow::Borrowed(CANCELLED) } else { self.reason };
        Self { state: JobState::Held, reason, due_at: None, lease: None, ..self }
    }

    /// A held job will not be done any more.
    pub(crate) fn doomed(&self) -> Self {
        match self.ends_as() {
            None if self.state == JobState::Held => self.rest(JobState::Held, EFFECT_ABANDONED),
            _ => self.clone(),
        }
    }

    /// A held job of which no effect waits for a person any more. Where its last attempt was not `free` it may have been the
    /// last one.
    pub(crate) fn settled(&self, now: Timestamp, policy: &RetryPolicy, free: bool) -> Self {
        match self.ends_as() {
            Some(JobState::Cancelled) => self.rest(JobState::Cancelled, ""),
            Some(_) => Self { state: JobState::Failed, ..self.clone() },
            None if !free && self.failures() >= policy.max_attempts => self.rest(JobState::Failed, ATTEMPTS_EXHAUSTED),
            None => self.again(now),
        }
    }

    /// Given back to whoever claims it next; the attempt does not count.
    pub(crate) fn given_back(&self, now: Timestamp) -> Self {
        self.uncounted().again(now)
    }

    /// Attempts that were not lost with their workers.
    fn failures(&self) -> u32 {
        self.attempts.saturating_sub(self.crashes)
    }

    fn held_by(&self, token: LeaseToken) -> Result<Lease, Denied> {
        match self.lease {
            Some(lease) if self.state == JobState::Running && lease.token == token => Ok(lease),
            _ => Err(Denied::LeaseLost),
        }
    }

    fn rest(&self, state: JobState, reason: &'static str) -> Self {
        Self { state, reason: Cow::Borrowed(reason), due_at: None, lease: None, ..self.clone() }
    }

    fn again(&self, due_at: Timestamp) -> Self {
        Self { state: JobState::Pending, due_at: Some(due_at), lease: None, reason: Cow::Borrowed(""), ..self.clone() }
    }

    /// The attempt that runs does not count.
    fn uncounted(&self) -> Self {
        Self { attempts: self.attempts.saturating_sub(1), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, VecDeque};
    use std::fmt::Write as _;

    use super::*;

    const POLICY: RetryPolicy = RetryPolicy {
        max_attempts: 2,
        max_crashes: 2,
        first_wait: Duration::from_secs(1),
        max_wait: Duration::from_secs(2),
        pause_after: None,
    };
    const NOW: Timestamp = Timestamp::from_micros(1_000_000_000);
    const LENGTH: Duration = Duration::from_secs(3);
    const MOST: Draw = Draw(u64::MAX);

    fn token(number: u16) -> LeaseToken {
        LeaseToken::new([7; 16], number)
    }

    fn later(seconds: u64) -> Timestamp {
        NOW.after(Duration::from_secs(seconds))
    }

    fn running() -> Job {
        Job::born(NOW).claim(NOW, token(1), LENGTH).unwrap()
    }

    fn in_state(state: JobState) -> Job {
        let failed = Ending::Failed { setback: Setback::Permanent, not_before: None };
        match state {
            JobState::Pending => Job::born(NOW),
            JobState::Running => running(),
            JobState::Done => running().end(NOW, token(1), Ending::Done, &POLICY, MOST).unwrap().0,
            JobState::Failed => running().end(NOW, token(1), failed, &POLICY, MOST).unwrap().0,
            JobState::Held => running().rest(JobState::Held, "unknown"),
            JobState::Cancelled => running().cancel().unwrap(),
        }
    }

    /// Each move from each state: where it leads, or that it is denied.
    #[test]
    fn every_move_from_every_state() {
        type Move = fn(&Job) -> Result<Job, Denied>;
        let moves: [(&str, Move); 10] = [
            ("claim", |job| job.claim(NOW, token(2), LENGTH)),
            ("extend", |job| job.extend(NOW, token(1), LENGTH)),
            ("complete", |job| job.end(NOW, token(1), Ending::Done, &POLICY, MOST).map(|(job, _)| job)),
            ("fail", |job| {
                let ending = Ending::Failed { setback: Setback::Error, not_before: None };
                job.end(NOW, token(1), ending, &POLICY, MOST).map(|(job, _)| job)
            }),
            ("later", |job| {
                job.end(NOW, token(1), Ending::Later { not_before: later(9) }, &POLICY, MOST).map(|(job, _)| job)
            }),
            ("release", |job| job.end(NOW, token(1), Ending::Released, &POLICY, MOST).map(|(job, _)| job)),
            ("expire", |job| job.expire(later(3), &POLICY, MOST)),
            ("cancel", Job::cancel),
            ("retry", |job| job.retry(NOW)),
            ("replay", |job| job.replay(NOW)),
        ];
        let mut table = String::new();
        for (name, make) in moves {
            let ends = JobState::ALL.map(|state| match make(&in_state(state)) {
                Ok(job) => format!("{:>10}", job.state.as_str()),
                Err(Denied::LeaseLost) => format!("{:>10}", "lost"),
                Err(Denied::State(denied)) => {
                    assert_eq!(denied, state, "{name}");
                    format!("{:>10}", "-")
                }
            });
            writeln!(table, "{name:>9}{}", ends.concat()).unwrap();
        }
        // From:      pending   running      done    failed      held cancelled
        let expected = "
    claim   running         -         -         -         -         -
   extend      lost   running      lost      lost      lost      lost
 complete      lost      done      lost      lost      lost      lost
     fail      lost   pending      lost      lost      lost      lost
    later      lost   pending      lost      lost      lost      lost
  release      lost   pending      lost      lost      lost      lost
   expire         -   pending         -         -         -         -
   cancel cancelled cancelled         - cancelled cancelled         -
    retry   pending         -         -   pending   pending   pending
   replay         -         -   pending   pending         - pending
";
        let squeezed = |text: &str| -> Vec<Vec<String>> {
            text.lines()
                .filter(|line| !line.trim().is_empty())
                .map(|line| line.split_whitespace().map(ToOwned::to_owned).collect())
                .collect()
        };
        assert_eq!(squeezed(&table), squeezed(expected), "\n{table}");
    }

    /// All jobs that any moves lead to keep together what belongs together.
    #[test]
    fn whatever_happens_a_job_makes_sense() {
        let times = [NOW, later(1), later(3), later(9)];
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut waiting = VecDeque::from([Job::born(NOW)]);
        while let Some(job) = waiting.pop_front() {
            if !seen.insert(format!("{job:?}")) {
                continue;
            }
            assert_eq!(job.lease.is_some(), job.state == JobState::Running, "{job:?}");
            assert_eq!(job.due_at.is_some(), job.state == JobState::Pending, "{job:?}");
            assert_eq!(!job.reason.is_empty(), job.state == JobState::Failed, "{job:?}");
            assert!(job.crashes <= job.attempts && job.crashes <= POLICY.max_crashes, "{job:?}");
            assert!(job.attempts <= POLICY.max_attempts + POLICY.max_crashes, "{job:?}");
            for now in times {
                let held = job.lease.map_or(token(0), |lease| lease.token);
                let mut push = |next: Result<Job, Denied>| waiting.extend(next);
                push(job.claim(now, token(job.attempts as u16), LENGTH));
                push(job.extend(now, held, LENGTH));
                push(job.expire(now, &POLICY, Draw(0)));
                for setback in [Setback::Error, Setback::TimedOut, Setback::Permanent] {
                    let ending = Ending::Failed { setback, not_before: None };
                    push(job.end(now, held, ending, &POLICY, Draw(0)).map(|(job, _)| job));
                }
                for ending in [Ending::Done, Ending::Released, Ending::Later { not_before: later(1) }] {
                    push(job.end(now, held, ending, &POLICY, Draw(0)).map(|(job, _)| job));
                }
                push(job.cancel());
                push(job.retry(now));
                push(job.replay(now).map(|job| Job { run: job.run.min(2), ..job }));
            }
        }
        assert!(seen.len() > 100, "{}", seen.len());
    }

    #[test]
    fn no_lease_lasts_beyond_recovery() {
        let token = LeaseToken::new([1; 16], 0);
        let job = Job::born(NOW).claim(NOW, token, Duration::MAX).unwrap();
        assert_eq!(job.lease.map(|lease| lease.until), Some(NOW.after(LEASE_MAX)));
        let job = job.extend(later(1), token, Duration::from_hours(1_000_000)).unwrap();
        assert_eq!(job.lease.map(|lease| lease.until), Some(later(1).after(LEASE_MAX)));
    }

    #[test]
    fn another_lease_changes_nothing() {
        let job = running();
        let old = token(9);
        assert_eq!(job.extend(NOW, old, LENGTH), Err(Denied::LeaseLost));
        assert_eq!(job.end(NOW, old, Ending::Done, &POLICY, MOST), Err(Denied::LeaseLost));
    }

    #[test]
    fn a_lease_that_ran_out_is_its_holders_until_somebody_ends_it() {
        let job = running();
        assert!(job.is_expired(later(3)) && !job.is_expired(later(2)));
        assert_eq!(job.end(later(60), token(1), Ending::Done, &POLICY, MOST).unwrap().0.state, JobState::Done);
        assert_eq!(job.extend(later(60), token(1), LENGTH).unwrap().lease.unwrap().until, later(63));
        let recovered = job.expire(later(60), &POLICY, MOST).unwrap();
        assert_eq!(recovered.end(later(60), token(1), Ending::Done, &POLICY, MOST), Err(Denied::LeaseLost));
    }

    #[test]
    fn a_lease_is_never_shortened() {
        let job = running();
        assert_eq!(job.extend(NOW, token(1), Duration::ZERO).unwrap().lease, job.lease);
        let back = Timestamp::from_micros(0);
        assert_eq!(job.extend(back, token(1), LENGTH).unwrap().lease, job.lease, "when the clock steps back");
    }

    #[test]
    fn failures_and_losses_are_counted_apart_and_both_are_bounded() {
        let fail = Ending::Failed { setback: Setback::Error, not_before: None };
        let claim = |job: &Job, number| job.claim(later(1_000 * u64::from(number)), token(number), LENGTH).unwrap();
        let expire = |job: &Job| job.expire(later(1_000 * u64::from(job.attempts) + 500), &POLICY, Draw(0)).unwrap();
        let once_lost = expire(&claim(&Job::born(NOW), 1));
        assert_eq!((once_lost.attempts, once_lost.crashes, once_lost.state), (1, 1, JobState::Pending));
        let once_failed = claim(&once_lost, 2).end(NOW, token(2), fail, &POLICY, Draw(0)).unwrap().0;
        assert_eq!((once_failed.attempts, once_failed.crashes, once_failed.state), (2, 1, JobState::Pending));
        let failed = claim(&once_failed, 3).end(NOW, token(3), fail, &POLICY, Draw(0)).unwrap().0;
        assert_eq!((failed.state, &*failed.reason), (JobState::Failed, "attempts_exhausted"));
        let lost = expire(&claim(&once_failed, 3));
        assert_eq!((lost.state, &*lost.reason), (JobState::Failed, "crashes_exhausted"));
    }

    #[test]
    fn waiting_costs_no_attempt_and_is_never_cut_short() {
        let job = running();
        let (told, outcome) = job.end(NOW, token(1), Ending::Later { not_before: later(50) }, &POLICY, MOST).unwrap();
        assert_eq!((told.attempts, told.due_at, outcome), (0, Some(later(50)), Outcome::Released));
        let not_before = Some(later(50));
        let ending = Ending::Failed { setback: Setback::Error, not_before };
        let (failed, outcome) = job.end(NOW, token(1), ending, &POLICY, MOST).unwrap();
        assert_eq!((failed.attempts, failed.due_at, outcome), (1, not_before, Outcome::Error));
        let past = Ending::Failed { setback: Setback::Error, not_before: Some(Timestamp::from_micros(0)) };
        assert_eq!(
            job.end(NOW, token(1), past, &POLICY, MOST).unwrap().0.due_at,
            Some(later(1)),
            "never before the wait"
        );
    }

    #[test]
    fn a_token_is_read_as_it_is_written() {
        let token = LeaseToken::new([0xab; 16], 258);
        assert_eq!(token.to_string(), "abababababababababababababababab0102");
        assert_eq!(LeaseToken::parse(&token.to_string()), Some(token));
        for wrong in ["", "ab", "ABABABABABABABABABABABABABABABAB0102", "zbababababababababababababababab0102"] {
            assert_eq!(LeaseToken::parse(wrong), None, "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "LeaseToken(abab…)");
    }
}
