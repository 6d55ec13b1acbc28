//! Random sequences of calls, run on two stores and compared answer by answer.
//!
//! The universe is small, so that duplicates and conflicts are frequent: a few sources, ids that are easily mistaken for
//! each other, a few texts. A sequence also repeats earlier calls, misuses their op ids, looks ahead, lists jobs, decides
//! conflicts, ends jobs, prunes, erases, moves the clock either way and reopens the store; at the end everything that either
//! store holds and exports is compared, and the export is imported elsewhere.
//!
//! Delivery numbers may have gaps and differ between stores: each is renamed by its place in the order in which its store
//! gave it, and that they grow is demanded of each store.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::{Clock as _, Timestamp};
use cola_ia_core::effect::{Begin, BeginAnswer, Micros, ReportAnswer, SettleAnswer, effect_key};
use cola_ia_core::event::{Delivery, EventId, Fingerprint, Source};
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::{DeliveryNumber, EventNumber, Intake, Refusal, RefusalCode};
use cola_ia_core::job::{Ending, JobState, LeaseToken, RetryPolicy, Setback};
use cola_ia_core::store::export::{Kind, Record, Value};
use cola_ia_core::store::{
    Accepted, AttemptView, BudgetView, Claim, ClaimRequest, ConflictSummary, Costs, Cursor, Decision, DeliverySummary,
    EffectDecision, EffectFilter, EffectRef, EffectSummary, EffectView, End, EndRefused, Ended, Erased, ErrorKind,
    EventHistory, Failure as NotDone, FollowFrom, JobPage, JobSummary, LeaseLost, Looked, OpId, Order, OrderRefused,
    PageRequest, Preview, PruneRequest, Pruned, Recovered, Report, ResolveRequest, Resolved, Restored, RestoredMark,
    SourceView, Stats, StatsGroup, StoreError, Texts,
};
use cola_ia_core::verdict::Verdict;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

mod effects;

pub use effects::{Asked, Made, NAMES, Settled, Speaker, Word};

use crate::clock::ManualClock;
use crate::events::{delivery, event_type, line, source};
use crate::harness::{Backend, Failure, RecordedRefusal, Scratch, block_on};
use crate::report::differ;

/// The sources of the universe: what joins source and id carelessly takes some of its identities for one, and they stand
/// otherwise by length than by name.
pub const SOURCES: [&str; 3] = ["default", "z", "z.b"];
/// The ids of the universe.
pub const IDS: [&str; 10] = ["id", "ID", "id ", "i", "b.id", "caf\u{e9}", "cafe\u{301}", "1", "01", "%"];
/// The texts of the universe, without the long one.
pub const TEXTS: [&str; 4] = ["x", "y", "x ", "X"];

/// How many sequences, and from which seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The same seed gives the same sequences.
    pub seed: u64,
    /// So many sequences.
    pub cases: u32,
}

impl Plan {
    /// The seed where nothing else is said.
    pub const SEED: u64 = 0xc01a;

    /// So many sequences from [`Plan::SEED`]. `COLA_IA_TEST_SEED` and `COLA_IA_TEST_CASES` in the environment win, to try
    /// more or to see a failure again.
    pub fn of(cases: u32) -> Self {
        let set = |name| std::env::var(name).ok().and_then(|value| value.parse().ok());
        let cases_set = set("COLA_IA_TEST_CASES").and_then(|cases| u32::try_from(cases).ok());
        Self { seed: set("COLA_IA_TEST_SEED").unwrap_or(Self::SEED), cases: cases_set.unwrap_or(cases) }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "COLA_IA_TEST_SEED={} COLA_IA_TEST_CASES={}", self.seed, self.cases)
    }
}

/// One call, or one thing that happens to the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `accept` under a new op id.
    Accept(Vec<Member>),
    /// An earlier `accept`, counted modulo their number, with its op id and its batch.
    Repeat(usize),
    /// An earlier `accept`'s op id with one member more.
    Misuse(usize),
    /// `preview`.
    Preview(Vec<Member>),
    /// `find_events` of an id: by its place in [`IDS`], in one source or in all.
    Find(Option<usize>, usize),
    /// One page of jobs.
    Page {
        /// A place in [`SOURCES`].
        source: Option<usize>,
        /// Empty: any.
        states: Vec<JobState>,
        /// Below the delivery of this place, counted modulo their number; `None`: from the newest.
        below: Option<usize>,
        /// The page's limit.
        limit: u32,
    },
    /// All pages of jobs of one source or of all, with this limit.
    Walk(Option<usize>, u32),
    /// `restored` under a new op id: at so many microseconds after the clock's start, or the end of the mark.
    Mark(Option<i64>),
    /// `stats` of one source or of all, from and to so many seconds before now.
    Stats {
        /// A place in [`SOURCES`].
        source: Option<usize>,
        /// Below 0: later than now.
        since: Option<i64>,
        /// Below 0: later than now.
        until: Option<i64>,
    },
    /// All deliveries and all conflicts that a filter lets through.
    List {
        /// A place in [`SOURCES`].
        source: Option<usize>,
        /// Empty: any.
        verdicts: Vec<Verdict>,
        /// Received so many microseconds before the present or later.
        since: Option<i64>,
        /// The limit of each page.
        limit: u32,
    },
    /// What arrived since the last time.
    Follow,
    /// `resolve` of the event of this id in this source, if there is one, by places in [`SOURCES`] and [`IDS`].
    Resolve {
        /// A place in [`SOURCES`].
        source: usize,
        /// A place in [`IDS`].
        id: usize,
        /// Numbers of conflicts, which may not be there.
        conflicts: Vec<u32>,
        /// What is decided.
        choice: Choice,
        /// With a note.
        noted: bool,
    },
    /// Puts the job of the event of this id in this source, if there is one, into this state.
    SetJob(usize, usize, JobState),
    /// `erase` of this id in this source.
    Erase(usize, usize),
    /// `prune` to its end: texts and repeated deliveries of so many days.
    Prune(Option<u64>, Option<u64>),
    /// `claim` under a new op id: of a place in [`SOURCES`] or of all, at most so many, for so many seconds.
    Claim(Option<usize>, u32, u64),
    /// `claim` once more under the op id that gave a lease, by the lease's place.
    ClaimAgain(usize),
    /// `extend` a lease, by its place, by so many seconds.
    Extend(usize, u64),
    /// `end` leases, by their places, in one call.
    End(Vec<(usize, Said)>),
    /// `recover` at most so many.
    Recover(u32, bool),
    /// `order` for the jobs of deliveries, by their places.
    Order(Order, Vec<usize>),
    /// `resume` of a place in [`SOURCES`].
    Resume(usize),
    /// `effect_begin` under a lease, by its place.
    Begin(usize, Asked),
    /// A word on a try of a place in [`NAMES`], by its number.
    Word(Speaker, usize, u32, Word),
    /// `effect_decide` for the job of a delivery, by its place: of a place in [`NAMES`], by a try's number; without one,
    /// by that of the newest.
    Settle(usize, usize, Option<u32>, Settled),
    /// `effect_list`, all pages.
    Effects {
        /// A place in [`SOURCES`].
        of: Option<usize>,
        /// A place in [`cola_ia_core::effect::EffectState::ALL`].
        state: Option<usize>,
        /// The number of a resource.
        resource: Option<u8>,
        /// Only those with an alarm.
        alarmed: bool,
        /// The limit of each page.
        limit: u32,
    },
    /// `costs`.
    Costs {
        /// By source, model or day.
        by: usize,
        /// A place in [`SOURCES`].
        of: Option<usize>,
        /// So many days after that of the clock's start.
        since: Option<i64>,
        /// So many days after that of the clock's start.
        until: Option<i64>,
    },
    /// `set_budget` of a place in [`SOURCES`].
    Budget(usize, Option<i64>),
    /// Moves the clock, backwards if negative.
    Clock(i64),
    /// Closes the store and opens it again.
    Reopen,
}

/// A [`Decision`] in the universe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// [`Decision::Keep`]
    Keep,
    /// [`Decision::Accept`], with a new run or without.
    Accept(bool),
    /// [`Decision::As`], by a place in [`IDS`].
    As(usize),
}

impl Choice {
    fn decision(self) -> Decision {
        match self {
            Self::Keep => Decision::Keep,
            Self::Accept(run) => Decision::Accept { run },
            Self::As(id) => Decision::As(EventId::new(IDS[id]).expect("an id of the universe")),
        }
    }
}

/// What the holder of a lease says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    ending: Ending,
    /// Names the resource of this number.
    resource: Option<u8>,
}

impl Said {
    fn of(self, token: LeaseToken) -> End {
        let resource_id = self.resource.map(|number| format!("post-{number}"));
        let failed = matches!(self.ending, Ending::Failed { .. });
        let report = Report {
            resource_id,
            exit_code: Some(i32::from(failed)),
            error_class: failed.then(|| "exit_1".to_owned()),
            error: failed.then(|| "it broke".to_owned()),
            stderr: if failed { b"it broke\n".to_vec() } else { Vec::new() },
            // One of them is no amount of money.
            cost_micros: self.resource.map(|number| i64::from(number) * 2 - 1),
            tokens_in: self.resource.map(|number| i64::from(number) * 100),
            model: self.resource.filter(|number| *number > 0).map(|number| format!("model {number}")),
            ..Report::default()
        };
        End { token, ending: self.ending, report }
    }
}

/// Waits of seconds, so that moving the clock passes them.
const POLICY: RetryPolicy = RetryPolicy {
    max_attempts: 2,
    max_crashes: 2,
    first_wait: Duration::from_secs(2),
    max_wait: Duration::from_secs(5),
    pause_after: Some(2),
};

/// A member of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Member {
    /// A delivery.
    Event {
        /// A place in [`SOURCES`].
        source: usize,
        /// A place in [`IDS`].
        id: usize,
        /// A place in [`TEXTS`]; the one after the last is a long text.
        text: usize,
        /// With a type.
        typed: bool,
        /// Its time in microseconds.
        time: Option<i64>,
        /// The line it was read at.
        line: u64,
        /// The signed bytes it came in.
        body: Option<u8>,
    },
    /// A refusal.
    Refusal {
        /// A place in [`RefusalCode::ALL`].
        code: usize,
        /// For so many lines.
        count: u64,
        /// A place in [`SOURCES`].
        source: Option<usize>,
    },
}

impl Member {
    /// The member that a batch holds.
    pub fn intake(&self) -> Intake {
        match *self {
            Self::Event { source, id, text, typed, time, line: number, body } => {
                let long = "ñ".repeat(3_000);
                let text = TEXTS.get(text).copied().unwrap_or(&long);
                Intake::Delivery(Delivery {
                    event_type: typed.then(|| event_type("order.paid")),
                    time: time.map(Timestamp::from_micros),
                    origin: line(number),
                    body: body.map(|body| Fingerprint([body; 32])),
                    ..delivery(SOURCES[source], IDS[id], text)
                })
            }
            Self::Refusal { code, count, source: named } => Intake::Refusal(Refusal {
                count,
                source: named.map(|named| source(SOURCES[named])),
                ..Refusal::new(RefusalCode::ALL[code], line(1)).about("detail")
            }),
        }
    }
}

fn member() -> impl Strategy<Value = Member> {
    // Of long ago, and of about now: late and ahead.
    let start = ManualClock::START.as_micros();
    let about_now = (start - 100_000_000)..(start + 100_000_000);
    let time = prop_oneof![3 => Just(None), 1 => (-5_i64..5).prop_map(Some), 1 => about_now.prop_map(Some)];
    // The first of each list is the most frequent and what a failure shrinks to.
    let source = prop_oneof![3 => Just(0), 1 => 1..SOURCES.len()];
    let id = prop_oneof![2 => Just(0), 3 => 0..IDS.len()];
    let text = prop_oneof![3 => Just(0), 2 => 0..=TEXTS.len()];
    let body = prop_oneof![4 => Just(None), 1 => (0_u8..3).prop_map(Some)];
    let event = (source, id, text, any::<bool>(), time, 1_u64..100, body).prop_map(
        |(source, id, text, typed, time, line, body)| Member::Event { source, id, text, typed, time, line, body },
    );
    let count = prop_oneof![4 => Just(1_u64), 1 => 2_u64..1_000_000];
    let named = prop_oneof![3 => Just(None), 1 => (0..SOURCES.len()).prop_map(Some)];
    let refusal = (0..RefusalCode::ALL.len(), count, named).prop_map(|(code, count, source)| Member::Refusal {
        code,
        count,
        source,
    });
    prop_oneof![9 => event, 1 => refusal]
}

fn said() -> impl Strategy<Value = Said> {
    let setback = prop_oneof![2 => Just(Setback::Error), 1 => Just(Setback::TimedOut), 1 => Just(Setback::Permanent)];
    let not_before = || (0_i64..20).prop_map(|seconds| ManualClock::START.after(Duration::from_secs(seconds as u64)));
    let failed = (setback, prop_oneof![2 => Just(None), 1 => not_before().prop_map(Some)])
        .prop_map(|(setback, not_before)| Ending::Failed { setback, not_before });
    let ending = prop_oneof![
        3 => Just(Ending::Done),
        4 => failed,
        1 => not_before().prop_map(|not_before| Ending::Later { not_before }),
        1 => Just(Ending::Released),
    ];
    let resource = prop_oneof![2 => Just(None), 1 => (0_u8..3).prop_map(Some)];
    (ending, resource).prop_map(|(ending, resource)| Said { ending, resource })
}

fn lease_step() -> impl Strategy<Value = Step> {
    let in_source = || prop_oneof![3 => Just(None), 1 => (0..SOURCES.len()).prop_map(Some)];
    // The newest leases are the likeliest to hold.
    let lease = || prop_oneof![3 => 0_usize..3, 1 => any::<u8>().prop_map(usize::from)];
    let order = prop_oneof![Just(Order::Cancel), Just(Order::Retry), Just(Order::Replay)];
    let deliveries = vec(any::<u16>().prop_map(usize::from), 0..4);
    prop_oneof![
        4 => (in_source(), 0_u32..4, 0_u64..6).prop_map(|(of, limit, seconds)| Step::Claim(of, limit, seconds)),
        1 => lease().prop_map(Step::ClaimAgain),
        2 => (lease(), 0_u64..10).prop_map(|(place, seconds)| Step::Extend(place, seconds)),
        5 => vec((lease(), said()), 0..4).prop_map(Step::End),
        5 => (1_u32..5, prop_oneof![3 => Just(false), 1 => Just(true)]).prop_map(|(limit, dry_run)| Step::Recover(limit, dry_run)),
        2 => (order, deliveries).prop_map(|(order, places)| Step::Order(order, places)),
        1 => (0..SOURCES.len()).prop_map(Step::Resume),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let in_source = || prop_oneof![Just(None), (0..SOURCES.len()).prop_map(Some)];
    let states = prop_oneof![
        2 => Just(Vec::new()),
        1 => vec((0..JobState::ALL.len()).prop_map(|state| JobState::ALL[state]), 1..3),
    ];
    let below = prop_oneof![1 => Just(None), 2 => any::<u16>().prop_map(|place| Some(place.into()))];
    let page = (in_source(), states, below, 0_u32..6).prop_map(|(source, states, below, limit)| Step::Page {
        source,
        states,
        below,
        limit,
    });
    let ago = || prop_oneof![1 => Just(None), 2 => (-90_i64..240).prop_map(Some)];
    let counted = (in_source(), ago(), ago()).prop_map(|(source, since, until)| Step::Stats { source, since, until });
    let verdicts = vec((0..Verdict::ALL.len()).prop_map(|verdict| Verdict::ALL[verdict]), 0..3);
    let since = prop_oneof![2 => Just(None), 1 => (0_i64..30_000_000).prop_map(Some)];
    let list = (in_source(), verdicts, since, 0_u32..6).prop_map(|(source, verdicts, since, limit)| Step::List {
        source,
        verdicts,
        since,
        limit,
    });
    let earlier = || any::<u16>().prop_map(usize::from);
    // Mostly the one identity that most deliveries have: else hardly any has a conflict.
    let one = || (prop_oneof![6 => Just(0), 1 => 0..SOURCES.len()], prop_oneof![6 => Just(0), 1 => 0..IDS.len()]);
    let choice =
        prop_oneof![Just(Choice::Keep), any::<bool>().prop_map(Choice::Accept), (0..IDS.len()).prop_map(Choice::As),];
    let conflicts = prop_oneof![2 => Just(Vec::new()), 2 => Just(vec![1]), 1 => vec(1_u32..4, 1..3)];
    let resolve = (one(), conflicts, choice, any::<bool>())
        .prop_map(|((source, id), conflicts, choice, noted)| Step::Resolve { source, id, conflicts, choice, noted });
    let job_state = prop_oneof![
        3 => Just(JobState::Done),
        1 => (0..JobState::ALL.len()).prop_map(|state| JobState::ALL[state]),
    ];
    let any_one = || (prop_oneof![3 => Just(0), 1 => 0..SOURCES.len()], prop_oneof![1 => Just(0), 2 => 0..IDS.len()]);
    let days = |most: u64| prop_oneof![1 => Just(None), 3 => (0..most).prop_map(Some)];
    let clock = prop_oneof![-5_000_000_i64..20_000_000, (0_i64..10).prop_map(|days| days * 86_400_000_000)];
    prop_oneof![
        8 => vec(member(), 0..8).prop_map(Step::Accept),
        3 => lease_step(),
        2 => effects::effect_step(1),
        2 => earlier().prop_map(Step::Repeat),
        1 => earlier().prop_map(Step::Misuse),
        2 => vec(member(), 0..5).prop_map(Step::Preview),
        2 => (in_source(), 0..IDS.len()).prop_map(|(source, id)| Step::Find(source, id)),
        2 => page,
        1 => (in_source(), 1_u32..5).prop_map(|(source, limit)| Step::Walk(source, limit)),
        1 => prop_oneof![3 => (-9_000_000_i64..9_000_000).prop_map(Some), 1 => Just(None)].prop_map(Step::Mark),
        2 => counted,
        2 => list,
        2 => Just(Step::Follow),
        9 => resolve,
        3 => (any_one(), job_state).prop_map(|((source, id), state)| Step::SetJob(source, id, state)),
        1 => any_one().prop_map(|(source, id)| Step::Erase(source, id)),
        3 => (days(3), days(15)).prop_map(|(texts, deliveries)| Step::Prune(texts, deliveries)),
        3 => clock.prop_map(Step::Clock),
        1 => Just(Step::Reopen),
    ]
}

/// What happens to a job with effects of this policy.
fn life_step(policy: usize) -> impl Strategy<Value = Step> {
    let mark = prop_oneof![2 => Just(None), 1 => (0_i64..9_000_000).prop_map(Some)].prop_map(Step::Mark);
    prop_oneof![
        32 => effects::effect_step(policy),
        8 => (0_u64..60).prop_map(|seconds| Step::Claim(None, 3, seconds)),
        6 => lease_step(),
        10 => (0_i64..9_000_000).prop_map(Step::Clock),
        1 => Just(Step::Reopen),
        1 => mark,
    ]
}

/// Sequences of 1 to 39 steps of every kind; or a few jobs and 20 to 50 steps of their leases, or of their leases and effects.
pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let few_jobs = || vec(member(), 1..4).prop_map(Step::Accept);
    let clock = || (0_i64..9_000_000).prop_map(Step::Clock);
    let of_leases = prop_oneof![8 => lease_step(), 4 => clock(), 1 => Just(Step::Reopen)];
    let first = |(first, mut rest): (Step, Vec<Step>)| {
        rest.insert(0, first);
        rest
    };
    let job = vec(member(), 1..3).prop_map(|members| [Step::Accept(members), Step::Claim(None, 3, 30)]);
    let effects = (job, (0..effects::POLICIES).prop_flat_map(|policy| vec(life_step(policy), 20..50)))
        .prop_map(|(job, rest)| [job.to_vec(), rest].concat());
    prop_oneof![
        5 => vec(step(), 1..40),
        3 => (few_jobs(), vec(of_leases, 20..50)).prop_map(first),
        3 => effects,
    ]
}

/// What the sequences of one comparison did, so that a test can tell whether they tried anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Receipts of first calls by verdict, in the order of [`Verdict::ALL`].
    pub verdicts: [u64; 4],
    /// Of the duplicates, those by their signed bytes.
    pub replays: u64,
    /// Calls repeated under their op id.
    pub repeats: u64,
    /// Times that a store was reopened.
    pub reopens: u64,
    /// Calls that decided something, by the place of the kind in [`cola_ia_core::store::DecisionKind::ALL`].
    pub decisions: [u64; 3],
    /// Events that were erased.
    pub erased: u64,
    /// What pruning removed: events' texts and repeated deliveries.
    pub pruned: [u64; 2],
    /// Leases given, ends heard, ends of leases that were lost, jobs recovered, orders followed.
    pub leases: [u64; 5],
    /// Begins answered go, done, check, wait, held, used, refused.
    pub begun: [u64; 7],
    /// Words on tries that counted, that came too late, that were void or early, of what was not there.
    pub told: [u64; 4],
    /// Decisions of people that counted.
    pub settled: u64,
}

/// Runs random sequences on both stores and compares every answer.
///
/// # Errors
/// The first difference, with its seed and the shortest sequence found that shows it.
pub fn compare(left: &dyn Backend, right: &dyn Backend, plan: Plan) -> Result<Tally, Failure> {
    shortened(left, right, plan, 2_000)
}

/// Whether [`compare`] finds a difference, without the time that it takes to make it short.
pub fn differ_somewhere(left: &dyn Backend, right: &dyn Backend, plan: Plan) -> bool {
    shortened(left, right, plan, 0).is_err()
}

/// [`compare`], which tries so often to make a difference shorter.
fn shortened(left: &dyn Backend, right: &dyn Backend, plan: Plan, tries: u32) -> Result<Tally, Failure> {
    let config = Config {
        cases: plan.cases,
        rng_seed: RngSeed::Fixed(plan.seed),
        failure_persistence: None,
        max_shrink_iters: tries,
        ..Config::default()
    };
    let tally = std::cell::Cell::new(Tally::default());
    let outcome = TestRunner::new(config).run(&steps(), |steps| {
        let mut so_far = tally.get();
        run(left, right, &steps, &mut so_far).map_err(|failure| TestCaseError::fail(failure.to_string()))?;
        tally.set(so_far);
        Ok(())
    });
    let names = format!("{} and {}", left.name(), right.name());
    match outcome {
        Ok(()) => Ok(tally.get()),
        Err(TestError::Abort(reason)) => Err(format!("{names}: {plan}: no sequence could be made: {reason}").into()),
        Err(TestError::Fail(reason, steps)) => {
            let steps: Vec<String> = steps.iter().map(|step| format!("    {step:?},\n")).collect();
            Err(format!("{names} differ: {plan}\n{reason}\nafter the steps [\n{}]", steps.concat()).into())
        }
    }
}

/// [`compare`] for a test: prints the plan, and panics with the difference.
///
/// # Panics
/// When the stores differ.
pub fn assert_agree(left: &dyn Backend, right: &dyn Backend, plan: Plan) {
    println!("{} and {}: {plan}", left.name(), right.name());
    if let Err(failure) = compare(left, right, plan) {
        panic!("{failure}");
    }
}

/// Runs one sequence on both stores and compares every answer: what a failure found becomes as a named test.
///
/// # Errors
/// The first difference.
pub fn run(left: &dyn Backend, right: &dyn Backend, steps: &[Step], tally: &mut Tally) -> Result<(), Failure> {
    let backends = (left, right);
    let (mut left, mut right) = (Side::new(left)?, Side::new(right)?);
    let mut calls: Vec<Call> = Vec::new();
    let mut tokens: Vec<LeaseToken> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let what = format!("step {index}, {step:?}");
        if let Step::Accept(members) = step {
            let batch = Arc::new(members.iter().map(Member::intake).collect());
            let call = Call { op: left.scratch.op(), batch };
            // Both stores are told the same op id.
            let accepted = left.accept_first(&call)?;
            same(&what, &accepted, &right.accept_first(&call)?)?;
            tally.count(left.last_verdicts());
            tally.answer(step, &accepted);
            calls.push(call);
        } else if let Step::Mark(at) = step {
            let op = left.scratch.op();
            same(&what, &left.mark(op, *at), &right.mark(op, *at))?;
        } else if let Some(call) = LeaseCall::of(step, &tokens, || left.scratch.op()) {
            let answer = left.call(&call);
            same(&what, &answer, &right.call(&call))?;
            tally.count_leases(&call, &answer);
            if let Answer::Claimed(claim) = answer {
                tokens.extend(claim.leases.iter().map(|leased| leased.token));
            }
        } else {
            let answer = left.play(step, &calls)?;
            same(&what, &answer, &right.play(step, &calls)?)?;
            tally.answer(step, &answer);
            tally.repeats += u64::from(matches!(step, Step::Repeat(_)) && !calls.is_empty());
            tally.reopens += u64::from(*step == Step::Reopen);
        }
    }
    same("in the end", &left.everything()?, &right.everything()?)?;
    same("the exports in the end", &left.moved(backends.0)?, &right.moved(backends.1)?)?;
    left.scratch.reopen()?;
    right.scratch.reopen()?;
    same("in the end, after a reopen", &left.everything()?, &right.everything()?)
}

impl Tally {
    fn count(&mut self, verdicts: &[Verdict]) {
        for verdict in verdicts {
            self.verdicts[*verdict as usize] += 1;
        }
    }

    fn answer(&mut self, step: &Step, answer: &Answer) {
        match (step, answer) {
            (Step::Resolve { choice, .. }, Answer::Resolved(_)) => {
                self.decisions[choice.decision().kind() as usize] += 1;
            }
            (Step::Accept(_), Answer::Accepted(accepted)) => {
                self.replays += accepted.receipts.iter().filter(|receipt| receipt.replayed).count() as u64;
            }
            (_, Answer::Erased(Some(_))) => self.erased += 1,
            (_, Answer::Settled(Some(SettleAnswer::Recorded))) => self.settled += 1,
            (_, Answer::Pruned(pruned)) => {
                self.pruned[0] += pruned.events;
                self.pruned[1] += pruned.deliveries;
            }
            _ => {}
        }
    }
}

impl Tally {
    fn count_leases(&mut self, call: &LeaseCall, answer: &Answer) {
        let [given, heard, lost, recovered, followed] = &mut self.leases;
        match answer {
            Answer::Claimed(claim) => *given += claim.leases.len() as u64,
            Answer::Ended(answers) => {
                let well = answers.iter().filter(|answer| answer.is_ok()).count() as u64;
                *heard += well;
                *lost += answers.len() as u64 - well;
            }
            Answer::Begun(answer) => {
                self.begun[match answer {
                    BeginAnswer::Go(_) => 0,
                    BeginAnswer::Done(_) => 1,
                    BeginAnswer::Check { .. } => 2,
                    BeginAnswer::Wait { .. } => 3,
                    BeginAnswer::Held(_) => 4,
                    BeginAnswer::Used => 5,
                    BeginAnswer::Refused(_) => 6,
                }] += 1;
            }
            Answer::Told(answer) => {
                self.told[match answer {
                    ReportAnswer::Recorded => 0,
                    ReportAnswer::LeaseLost => 1,
                    ReportAnswer::Wait { .. } | ReportAnswer::Void => 2,
                    ReportAnswer::Missing => 3,
                }] += 1;
            }
            Answer::Recovered(answer) if !matches!(call, LeaseCall::Recover(_, true)) => {
                *recovered += answer.jobs.len() as u64;
            }
            Answer::Ordered(answers) => *followed += answers.iter().filter(|answer| answer.is_ok()).count() as u64,
            _ => {}
        }
    }
}

/// A call about leases, the same for both stores but for the numbers of events.
enum LeaseCall {
    Claim(OpId, ClaimRequest),
    Extend(LeaseToken, Duration),
    End(Vec<End>),
    Recover(u32, bool),
    Order(OpId, Order, Vec<usize>),
    Begin(Begin),
    Word(EffectRef, Word),
}

impl LeaseCall {
    fn of(step: &Step, tokens: &[LeaseToken], op: impl FnOnce() -> OpId) -> Option<Self> {
        // Place 0 is the newest lease; where there is none, a token that nobody gave.
        let token = |place: &usize| match tokens.len() {
            0 => LeaseToken::new([1; 16], 0),
            count => tokens[count - 1 - place % count],
        };
        let request = |of: &Option<usize>, limit: u32, seconds: u64| ClaimRequest {
            worker: "w".to_owned(),
            lease: Duration::from_secs(seconds),
            limit,
            source: named(*of),
        };
        Some(match step {
            Step::Claim(of, limit, seconds) => Self::Claim(op(), request(of, *limit, *seconds)),
            Step::ClaimAgain(place) => {
                let mut first = [0; 16];
                first.copy_from_slice(&token(place).0[..16]);
                Self::Claim(OpId(first), request(&None, 3, 5))
            }
            Step::Extend(place, seconds) => Self::Extend(token(place), Duration::from_secs(*seconds)),
            Step::End(said) => Self::End(said.iter().map(|(place, said)| said.of(token(place))).collect()),
            Step::Recover(limit, dry_run) => Self::Recover(*limit, *dry_run),
            Step::Order(order, places) => Self::Order(op(), *order, places.clone()),
            Step::Begin(place, asked) => Self::Begin(asked.begin(token(place))),
            Step::Word(speaker, name, number, word) => Self::Word(speaker.of(*name, *number, token), *word),
            _ => return None,
        })
    }
}

struct Call {
    op: OpId,
    batch: Arc<Vec<Intake>>,
}

/// What a store said, its numbers renamed.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Accepted(Accepted),
    Previews(Vec<Preview>),
    Events(Vec<EventHistory>),
    Pages(Vec<JobPage>),
    Marked(Restored),
    Stats(Box<Stats>),
    Listed(Vec<DeliverySummary>, Vec<ConflictSummary>),
    Resolved(Resolved),
    Erased(Option<Erased>),
    Pruned(Pruned),
    Claimed(Claim),
    Extended(Vec<Result<Timestamp, LeaseLost>>),
    Ended(Vec<Result<Ended, EndRefused>>),
    Recovered(Recovered),
    Ordered(Vec<Result<Ended, OrderRefused>>),
    Resumed(bool),
    Begun(BeginAnswer),
    Told(ReportAnswer),
    Settled(Option<SettleAnswer>),
    Effects(Vec<EffectSummary>),
    Costs(Costs),
    Refused(ErrorKind, &'static str),
    Nothing,
}

/// All that a store holds, its numbers renamed.
#[derive(Debug, PartialEq, Eq)]
struct Holdings {
    jobs: Vec<JobPage>,
    events: Vec<EventHistory>,
    refusals: Vec<RecordedRefusal>,
    restored_at: Option<Timestamp>,
    stats: Stats,
    listed: Answer,
    failed: Vec<AttemptView>,
    sources: Vec<SourceView>,
    effects: Vec<EffectSummary>,
    costs: [Costs; 3],
    budgets: Vec<BudgetView>,
}

impl From<StoreError> for Answer {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.kind, error.code)
    }
}

fn same<T: PartialEq + fmt::Debug>(what: &str, left: &T, right: &T) -> Result<(), Failure> {
    if left == right { Ok(()) } else { Err(differ(what, ("left", left), ("right", right))) }
}

/// One of the two stores.
struct Side {
    name: &'static str,
    scratch: Scratch,
    /// The numbers that the store gave, in the order in which it gave them.
    numbers: Vec<i64>,
    verdicts: Vec<Verdict>,
    /// Where it was followed to.
    followed: Option<Cursor>,
    /// Calls besides `accept`: they are no part of what is repeated, so that each store names its own.
    other_calls: u64,
}

impl Side {
    fn new(backend: &dyn Backend) -> Result<Self, Failure> {
        Ok(Self {
            name: backend.name(),
            scratch: Scratch::new(backend)?,
            numbers: Vec::new(),
            verdicts: Vec::new(),
            followed: None,
            other_calls: 0,
        })
    }

    fn last_verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    fn accept_first(&mut self, call: &Call) -> Result<Answer, Failure> {
        let accepted = match self.scratch.accept_as(call.op, &call.batch) {
            Ok(accepted) => accepted,
            Err(error) => return Ok(error.into()),
        };
        for receipt in &accepted.receipts {
            let number = receipt.number.0;
            if self.numbers.last().is_some_and(|last| number <= *last) {
                return Err(format!("{}: number {number} is not above the ones before: {accepted:?}", self.name).into());
            }
            self.numbers.push(number);
        }
        self.verdicts = accepted.receipts.iter().map(|receipt| receipt.verdict).collect();
        Ok(Answer::Accepted(self.renamed(accepted)))
    }

    fn mark(&self, op: OpId, at: Option<i64>) -> Answer {
        let mark = at.map_or(RestoredMark::Cleared, |micros| {
            RestoredMark::At(Timestamp::from_micros(ManualClock::START.as_micros() + micros))
        });
        self.scratch.restored_as(op, mark).map_or_else(Answer::from, Answer::Marked)
    }

    fn play(&mut self, step: &Step, calls: &[Call]) -> Result<Answer, Failure> {
        let earlier = |place: &usize| calls.get(place % calls.len().max(1));
        let answer = match step {
            Step::Accept(_) | Step::Mark(_) => return Err("a call under a new op is played by `run`".into()),
            Step::Repeat(place) => {
                let Some(call) = earlier(place) else { return Ok(Answer::Nothing) };
                self.scratch.accept_as(call.op, &call.batch).map(|accepted| Answer::Accepted(self.renamed(accepted)))
            }
            Step::Misuse(place) => {
                let Some(call) = earlier(place) else { return Ok(Answer::Nothing) };
                let mut longer = (*call.batch).clone();
                longer.push(Intake::Delivery(delivery(SOURCES[0], IDS[0], TEXTS[0])));
                let answer = self.scratch.accept_as(call.op, &Arc::new(longer));
                answer.map(|accepted| Answer::Accepted(self.renamed(accepted)))
            }
            Step::Preview(members) => {
                self.scratch.preview(members.iter().map(Member::intake).collect()).map(Answer::Previews)
            }
            Step::Find(in_source, id) => {
                let found = self.scratch.find(named(*in_source), IDS[*id]);
                found.map(|events| Answer::Events(events.into_iter().map(|event| self.renamed_event(event)).collect()))
            }
            Step::Page { source: in_source, states, below, limit } => {
                let filter = Filter {
                    sources: named(*in_source).into_iter().collect(),
                    states: states.clone(),
                    ..Filter::default()
                };
                let below = below.and_then(|place| self.numbers.get(place % self.numbers.len().max(1)));
                let page = PageRequest { below: below.copied().map(EventNumber), limit: *limit };
                self.scratch.jobs(filter, page).map(|page| Answer::Pages(vec![self.renamed_page(page)]))
            }
            Step::Walk(in_source, limit) => self.walk(named(*in_source), *limit).map(Answer::Pages),
            Step::Stats { source: in_source, since, until } => {
                let now = self.scratch.clock().now().as_micros();
                let ago = |seconds: i64| Timestamp::from_micros(now - seconds * 1_000_000);
                let filter = Filter {
                    since: since.map(ago),
                    until: until.map(ago),
                    sources: named(*in_source).into_iter().collect(),
                    ..Filter::default()
                };
                self.scratch.stats(filter).map(|stats| Answer::Stats(Box::new(stats)))
            }
            Step::List { source: in_source, verdicts, since, limit } => {
                let now = self.scratch.clock().now().as_micros();
                let filter = Filter {
                    sources: named(*in_source).into_iter().collect(),
                    verdicts: verdicts.clone(),
                    since: since.map(|before| Timestamp::from_micros(now - before)),
                    ..Filter::default()
                };
                return self.listed(&filter, *limit);
            }
            Step::Follow => {
                let from = self.followed.take().map_or(FollowFrom::Latest(0), FollowFrom::After);
                let found = self.scratch.follow(Filter::default(), from)?;
                self.followed = Some(found.cursor);
                let items = found.items.into_iter().map(|delivery| self.renamed_delivery(delivery)).collect();
                return Ok(Answer::Listed(items, Vec::new()));
            }
            Step::Resolve { source: in_source, id, conflicts, choice, noted } => {
                self.resolve((*in_source, *id), conflicts.clone(), *choice, *noted)
            }
            Step::SetJob(in_source, id, state) => {
                if let Some(event) = self.event_of(*in_source, *id)? {
                    self.scratch.set_job(event, *state)?;
                }
                Ok(Answer::Nothing)
            }
            Step::Erase(in_source, id) => {
                let Self { scratch, other_calls, .. } = self;
                let erased = scratch.erase_as(|| next_op(other_calls), &source(SOURCES[*in_source]), IDS[*id]);
                let renamed = |erased: Erased| Erased { event: self.event_place(erased.event), ..erased };
                erased.map(|erased| Answer::Erased(erased.map(renamed)))
            }
            Step::Prune(texts, deliveries) => return self.prune(*texts, *deliveries),
            Step::Resume(place) => self.resume(source(SOURCES[*place])),
            Step::Settle(..) | Step::Effects { .. } | Step::Costs { .. } | Step::Budget(..) => {
                return self.play_effects(step);
            }
            Step::Begin(..)
            | Step::Word(..)
            | Step::Claim(..)
            | Step::ClaimAgain(_)
            | Step::Extend(..)
            | Step::End(_)
            | Step::Recover(..)
            | Step::Order(..) => return Err("a call about leases is played by `call`".into()),
            Step::Clock(micros) => {
                self.scratch.clock().advance(*micros);
                Ok(Answer::Nothing)
            }
            Step::Reopen => {
                self.scratch.reopen()?;
                Ok(Answer::Nothing)
            }
        };
        Ok(answer.unwrap_or_else(Answer::from))
    }

    fn resume(&mut self, paused: Source) -> Result<Answer, StoreError> {
        let op = next_op(&mut self.other_calls);
        block_on(self.scratch.store().resume(op, paused)).map(Answer::Resumed)
    }

    fn play_effects(&mut self, step: &Step) -> Result<Answer, Failure> {
        Ok(match step {
            Step::Settle(place, name, number, settled) => self.settle(*place, *name, *number, settled)?,
            Step::Effects { of, state, resource, alarmed, limit } => {
                let filter = effects::filter(*of, *state, *resource, *alarmed);
                Answer::Effects(self.effects(&filter, *limit)?)
            }
            Step::Costs { by, of, since, until } => {
                Answer::Costs(block_on(self.scratch.store().costs(effects::costs(*by, *of, *since, *until)))?)
            }
            Step::Budget(of, limit) => {
                let limit = limit.and_then(Micros::new);
                let op = next_op(&mut self.other_calls);
                block_on(self.scratch.store().set_budget(op, source(SOURCES[*of]), limit))?;
                Answer::Nothing
            }
            _ => return Err("this is no step about effects".into()),
        })
    }

    fn prune(&mut self, texts: Option<u64>, deliveries: Option<u64>) -> Result<Answer, Failure> {
        let days = |days: Option<u64>| days.map(|days| Duration::from_hours(24 * days));
        let request = PruneRequest { texts: days(texts), deliveries: days(deliveries), after: None };
        let Self { scratch, other_calls, .. } = self;
        Ok(Answer::Pruned(scratch.prune_as(|| next_op(other_calls), &request)?))
    }

    fn event_of(&self, in_source: usize, id: usize) -> Result<Option<EventNumber>, StoreError> {
        let found = self.scratch.find(Some(source(SOURCES[in_source])), IDS[id])?;
        Ok(found.first().map(|event| event.job.event))
    }

    /// A person looks at the effect, and says what it is.
    fn settle(&mut self, place: usize, name: usize, number: Option<u32>, settled: &Settled) -> Result<Answer, Failure> {
        let event = EventNumber(self.numbers.get(place % self.numbers.len().max(1)).copied().unwrap_or(7));
        let name = effects::effect(name);
        let all = self.scratch.all_effects(&EffectFilter::default(), 1_000)?;
        let newest = all.iter().find(|one| one.event == event && one.view.effect.name == name);
        let note = number.is_none().then(|| "looked".to_owned());
        let number = number.or(newest.map(|one| one.view.effect.newest())).unwrap_or_default();
        let decision = EffectDecision { event, name, number, decision: settled.decision(), note };
        let op = next_op(&mut self.other_calls);
        let answer = block_on(self.scratch.store().effect_decide(op, decision, POLICY));
        Ok(answer.map_or_else(Answer::from, Answer::Settled))
    }

    fn resolve(
        &mut self,
        (in_source, id): (usize, usize),
        conflicts: Vec<u32>,
        choice: Choice,
        noted: bool,
    ) -> Result<Answer, StoreError> {
        let Some(event) = self.event_of(in_source, id)? else { return Ok(Answer::Nothing) };
        let note = noted.then(|| "a note".to_owned());
        let request = ResolveRequest { event, conflicts, decision: choice.decision(), note };
        let mut resolved = self.scratch.resolve_as(next_op(&mut self.other_calls), &request)?;
        if let Some((Verdict::New, number)) = resolved.entered {
            self.numbers.push(number.0);
        }
        resolved.entered = resolved.entered.map(|(verdict, event)| (verdict, self.event_place(event)));
        Ok(Answer::Resolved(resolved))
    }

    fn call(&self, call: &LeaseCall) -> Answer {
        let store = self.scratch.store();
        let answer = match call {
            LeaseCall::Claim(op, request) => {
                block_on(store.claim(*op, request.clone())).map(|claim| Answer::Claimed(self.renamed_claim(claim)))
            }
            LeaseCall::Extend(token, length) => block_on(store.extend(vec![*token], *length)).map(Answer::Extended),
            LeaseCall::End(ends) => block_on(store.end(Arc::new(ends.clone()), POLICY)).map(Answer::Ended),
            LeaseCall::Recover(limit, dry_run) => {
                block_on(store.recover(POLICY, *limit, *dry_run)).map(|mut recovered| {
                    for (event, _) in &mut recovered.jobs {
                        *event = self.event_place(*event);
                    }
                    Answer::Recovered(recovered)
                })
            }
            LeaseCall::Order(op, order, places) => {
                let number = |place: &usize| {
                    EventNumber(self.numbers.get(place % self.numbers.len().max(1)).copied().unwrap_or(7))
                };
                block_on(store.order(*op, *order, places.iter().map(number).collect())).map(Answer::Ordered)
            }
            LeaseCall::Begin(begin) => block_on(store.effect_begin(begin.clone(), POLICY)).map(|begun| {
                assert_eq!(begun.at, self.scratch.clock().now(), "{}: instants are by the store's clock", self.name);
                Answer::Begun(begun.answer)
            }),
            LeaseCall::Word(of, word) => {
                let of = of.clone();
                let answer = match *word {
                    Word::Done(made) => block_on(store.effect_done(of, made.evidence(), POLICY)),
                    Word::Failed(rejected) => {
                        let how = if rejected { NotDone::Rejected } else { NotDone::NotSent };
                        block_on(store.effect_failed(of, how, rejected.then(|| "no".to_owned()), POLICY))
                    }
                    Word::Unknown(noted) => {
                        block_on(store.effect_unknown(of, noted.then(|| "who knows".to_owned()), POLICY))
                    }
                    Word::Found(made) => block_on(store.effect_resolve(of, Looked::Found(made.evidence()), POLICY)),
                    Word::Absent => block_on(store.effect_resolve(of, Looked::Absent, POLICY)),
                };
                answer.map(Answer::Told)
            }
        };
        answer.unwrap_or_else(Answer::from)
    }

    /// All pages; at most one more than there can be.
    fn walk(&self, in_source: Option<Source>, limit: u32) -> Result<Vec<JobPage>, StoreError> {
        let filter = Filter { sources: in_source.into_iter().collect(), ..Filter::default() };
        let mut pages = Vec::new();
        let mut below = None;
        while pages.len() <= self.numbers.len() {
            let page = self.scratch.jobs(filter.clone(), PageRequest { below, limit })?;
            below = page.next;
            pages.push(self.renamed_page(page));
            if below.is_none() {
                break;
            }
        }
        Ok(pages)
    }

    fn everything(&self) -> Result<Holdings, Failure> {
        let mut events = Vec::new();
        for id in IDS {
            events.extend(self.scratch.find(None, id)?.into_iter().map(|event| self.renamed_event(event)));
        }
        let mut refusals = self.scratch.refusals()?;
        for refusal in &mut refusals {
            refusal.number = DeliveryNumber(self.place(refusal.number.0));
        }
        let stats = self.scratch.stats(Filter::default())?;
        Ok(Holdings {
            jobs: self.walk(None, 1_000)?,
            events,
            refusals,
            listed: self.listed(&Filter::default(), 7)?,
            failed: self.failed()?,
            sources: self.sources()?,
            effects: self.effects(&EffectFilter::default(), 3)?,
            costs: self.costs()?,
            budgets: block_on(self.scratch.store().budgets())?,
            restored_at: self.scratch.restored_at()?,
            stats,
        })
    }

    fn sources(&self) -> Result<Vec<SourceView>, StoreError> {
        let mut sources = block_on(self.scratch.store().sources(Filter::default()))?;
        for streak in sources.iter_mut().filter_map(|source| source.streak.as_mut()) {
            streak.event = self.event_place(streak.event);
        }
        Ok(sources)
    }

    /// All effects that the filter lets through, page by page.
    fn effects(&self, filter: &EffectFilter, limit: u32) -> Result<Vec<EffectSummary>, Failure> {
        let mut found = self.scratch.all_effects(filter, limit)?;
        let namespace = block_on(self.scratch.store().namespace())?;
        for one in &mut found {
            rename_key(&mut one.view, &namespace, &one.source, &one.id);
            one.event = self.event_place(one.event);
            one.id = renamed_id(std::mem::take(&mut one.id));
        }
        Ok(found)
    }

    /// By source, model and day.
    fn costs(&self) -> Result<[Costs; 3], StoreError> {
        let costs = |by| block_on(self.scratch.store().costs(effects::costs(by, None, None, None)));
        Ok([costs(0)?, costs(1)?, costs(2)?])
    }

    /// All attempts that went wrong.
    fn failed(&self) -> Result<Vec<AttemptView>, Failure> {
        let mut attempts = self.scratch.all_attempts(&Filter::default(), 3)?;
        for attempt in &mut attempts {
            self.rename_attempt(attempt);
        }
        Ok(attempts)
    }

    fn rename_attempt(&self, attempt: &mut AttemptView) {
        attempt.event = self.event_place(attempt.event);
        attempt.id = renamed_id(std::mem::take(&mut attempt.id));
    }

    /// All deliveries and all conflicts that the filter lets through.
    fn listed(&self, filter: &Filter, limit: u32) -> Result<Answer, Failure> {
        let deliveries = self.scratch.all_deliveries(filter, limit)?;
        let mut conflicts = self.scratch.all_conflicts(filter, limit, Texts::Bring)?;
        for conflict in &mut conflicts {
            conflict.event = self.event_place(conflict.event);
            conflict.id = renamed_id(std::mem::take(&mut conflict.id));
            if let Some(decision) = &mut conflict.decision {
                decision.entered = decision.entered.map(|event| self.event_place(event));
            }
        }
        let deliveries = deliveries.into_iter().map(|delivery| self.renamed_delivery(delivery)).collect();
        Ok(Answer::Listed(deliveries, conflicts))
    }

    fn renamed_delivery(&self, mut delivery: DeliverySummary) -> DeliverySummary {
        delivery.number = DeliveryNumber(self.place(delivery.number.0));
        delivery.event = delivery.event.map(|event| self.event_place(event));
        delivery.id = delivery.id.map(renamed_id);
        delivery
    }

    /// What the store exports. It must enter another store of this kind and come out the same.
    fn moved(&self, backend: &dyn Backend) -> Result<Vec<Record>, Failure> {
        // An import makes a mark, and what is marked is shown otherwise.
        self.scratch.restored_as(OpId([0xfd; 16]), RestoredMark::Cleared)?;
        // What runs here does not run elsewhere.
        for job in self.scratch.all_jobs()?.into_iter().filter(|job| job.state == JobState::Running) {
            self.scratch.set_job(job.event, JobState::Held)?;
        }
        let all = self.scratch.export_all(7)?;
        let elsewhere = Scratch::new(backend)?;
        elsewhere.clock().set(self.scratch.clock().now());
        elsewhere.import_as(elsewhere.op(), &Arc::new(all.clone()))?;
        elsewhere.restored(RestoredMark::Cleared)?;
        same("an export, and that of the store that it entered", &all, &elsewhere.export_all(1_000)?)?;
        same("jobs here and where the export entered", &self.scratch.all_jobs()?, &elsewhere.all_jobs()?)?;
        for id in IDS {
            same(
                "an event here and where the export entered",
                &self.scratch.find(None, id)?,
                &elsewhere.find(None, id)?,
            )?;
        }
        let everything: Vec<Intake> = SOURCES
            .iter()
            .flat_map(|source| IDS.iter().map(move |id| (source, id)))
            .flat_map(|(source, id)| TEXTS.iter().map(|text| Intake::Delivery(delivery(source, id, text))))
            .collect();
        same(
            "what the gate would say here and where the export entered",
            &self.scratch.preview(everything.clone())?,
            &elsewhere.preview(everything)?,
        )?;
        let budgets = |scratch: &Scratch| block_on(scratch.store().budgets());
        same("budgets here and where the export entered", &budgets(&self.scratch)?, &budgets(&elsewhere)?)?;
        for by in [0, 1] {
            let costs = |scratch: &Scratch| block_on(scratch.store().costs(effects::costs(by, None, None, None)));
            same("costs here and where the export entered", &costs(&self.scratch)?, &costs(&elsewhere)?)?;
        }
        // How late those came that were pruned is not in an export.
        let counts = |scratch: &Scratch| -> Result<_, StoreError> {
            let stats = scratch.stats(Filter::default())?;
            let count = |group: &StatsGroup| (group.source.clone(), group.deliveries, group.jobs);
            Ok(stats.groups.iter().map(count).collect::<Vec<_>>())
        };
        same("counts here and where the export entered", &counts(&self.scratch)?, &counts(&elsewhere)?)?;
        Ok(all.records.into_iter().map(|record| self.renamed_record(record)).collect())
    }

    fn renamed_record(&self, record: Record) -> Record {
        let is_numbered = matches!(record.kind(), Kind::Event | Kind::Delivery);
        let number = is_numbered.then_some("number");
        let event = (record.kind() != Kind::Event && record.event().is_some()).then_some("event");
        let entered = (record.kind() == Kind::Decision).then_some("entered");
        let record = if record.is_erased() { record.with("id", Value::Text("erased".to_owned())) } else { record };
        let is_effect = record.kind() == Kind::Effect;
        let record = if is_effect { record.with("key", Value::Text("the store's own".to_owned())) } else { record };
        number.into_iter().chain(event).chain(entered).fold(record, |record, field| {
            match record.number(field).map(|number| self.place(number)) {
                Some(place) if place > 0 => record.with(field, Value::Number(place)),
                _ => record,
            }
        })
    }

    /// The place of a number from 1, or `i64::MIN` for one that the store never gave.
    fn place(&self, number: i64) -> i64 {
        self.numbers.binary_search(&number).map_or(i64::MIN, |place| place as i64 + 1)
    }

    fn event_place(&self, event: EventNumber) -> EventNumber {
        EventNumber(self.place(event.0))
    }

    fn renamed(&self, mut accepted: Accepted) -> Accepted {
        for receipt in &mut accepted.receipts {
            receipt.number = DeliveryNumber(self.place(receipt.number.0));
            receipt.event = receipt.event.map(|event| self.event_place(event));
        }
        accepted
    }

    fn renamed_claim(&self, mut claim: Claim) -> Claim {
        for leased in &mut claim.leases {
            leased.job.event = self.event_place(leased.job.event);
            for view in &mut leased.effects {
                self.rename_key(view, &leased.job);
            }
        }
        claim
    }

    fn rename_key(&self, view: &mut EffectView, job: &JobSummary) {
        let namespace = block_on(self.scratch.store().namespace()).expect("an open store has a namespace");
        rename_key(view, &namespace, &job.source, &job.id);
    }

    fn renamed_event(&self, mut event: EventHistory) -> EventHistory {
        for view in &mut event.effects {
            self.rename_key(view, &event.job);
        }
        event.job = self.renamed_job(event.job);
        for decision in event.conflicts.iter_mut().flat_map(|conflict| &mut conflict.decisions) {
            decision.entered = decision.entered.map(|event| self.event_place(event));
        }
        for attempt in &mut event.attempts {
            self.rename_attempt(attempt);
        }
        for delivery in &mut event.deliveries {
            delivery.number = DeliveryNumber(self.place(delivery.number.0));
        }
        event
    }

    /// What stands for the id of an erased event depends on the store.
    fn renamed_job(&self, mut job: JobSummary) -> JobSummary {
        job.event = self.event_place(job.event);
        if job.erased_at.is_some() {
            job.id = format!("erased, {} bytes", job.id.len());
        }
        job
    }

    fn renamed_page(&self, mut page: JobPage) -> JobPage {
        page.jobs = page.jobs.into_iter().map(|job| self.renamed_job(job)).collect();
        page.next = page.next.map(|next| self.event_place(next));
        page
    }
}

/// What stands for the id of an erased event depends on the store; no id of the universe is so long.
fn renamed_id(id: String) -> String {
    if id.len() == 64 { "erased".to_owned() } else { id }
}

/// A key depends on the store. One that is not as it should be is left as it is, but for those of erased events, whose ids are
/// gone.
fn rename_key(view: &mut EffectView, namespace: &[u8; 16], source: &Source, id: &str) {
    let own = effect_key(namespace, source, id, view.effect.run, view.effect.name.as_str());
    if view.key == own || id.len() == 64 {
        view.key = String::from("the store's own");
    }
}

/// An op that no clock and no entropy makes.
fn next_op(calls: &mut u64) -> OpId {
    *calls += 1;
    let mut bytes = [0xfe; 16];
    bytes[8..].copy_from_slice(&calls.to_be_bytes());
    OpId(bytes)
}

fn named(place: Option<usize>) -> Option<Source> {
    place.map(|place| source(SOURCES[place]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelBackend;

    #[test]
    fn the_model_agrees_with_itself_and_sequences_try_everything() {
        let tally = compare(&ModelBackend, &ModelBackend, Plan { seed: 1, cases: 900 }).unwrap();
        let receipts: u64 = tally.verdicts.iter().sum();
        for (verdict, count) in Verdict::ALL.iter().zip(tally.verdicts) {
            assert!(count * 20 > receipts, "{verdict:?} is rare: {tally:?}");
        }
        assert!(tally.repeats > 100 && tally.reopens > 100 && tally.replays > 50, "{tally:?}");
        assert!(tally.decisions.iter().all(|count| *count > 10) && tally.erased > 20, "{tally:?}");
        assert!(tally.pruned[0] > 2 && tally.pruned[1] > 5, "{tally:?}");
        assert!(tally.leases.iter().all(|count| *count > 15), "{tally:?}");
        assert!(tally.begun.iter().all(|count| *count > 3), "{tally:?}");
        assert!(tally.told.iter().all(|count| *count > 15) && tally.settled > 5, "{tally:?}");
    }

    #[test]
    fn a_seed_gives_its_sequences_again() {
        let tally = |seed| compare(&ModelBackend, &ModelBackend, Plan { seed, cases: 20 }).unwrap();
        assert_eq!(tally(7), tally(7));
        assert_ne!(tally(7), tally(8));
    }
}
