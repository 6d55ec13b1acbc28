//! Effects and money in random sequences.

use std::time::Duration;

use cola_ia_core::effect::{Begin, BeginId, Decision, EffectName, Evidence, Micros, Otherwise, Policy, UtcDay};
use cola_ia_core::event::Source;
use cola_ia_core::job::LeaseToken;
use cola_ia_core::store::{CostsBy, CostsRequest, EffectFilter, EffectRef, JobRun};
use proptest::prelude::{Just, Strategy, any, prop_oneof};

use super::{IDS, SOURCES, Step, named};
use crate::clock::ManualClock;
use crate::events::source;

/// The effects of the universe.
pub const NAMES: [&str; 2] = ["pay", "post"];

/// A call of `effect_begin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// A place in [`NAMES`].
    name: usize,
    /// Which begin id.
    id: u8,
    /// Which policy.
    policy: usize,
    request: Option<u8>,
    expected: Option<i64>,
}

impl Asked {
    pub(super) fn begin(&self, lease: LeaseToken) -> Begin {
        Begin {
            lease,
            name: effect(self.name),
            begin_id: BeginId([self.id; 16]),
            policy: policy(self.policy),
            request: self.request.map(|hash| [hash; 32]),
            expected: self.expected.map(micros),
            send_within: Duration::from_secs(2),
            call_time: Duration::from_secs(3),
        }
    }
}

/// What is said of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// It happened.
    Done(Made),
    /// It did not: it was rejected, or not sent.
    Failed(bool),
    /// Nobody knows; with a note or without.
    Unknown(bool),
    /// A lookup found it.
    Found(Made),
    /// A lookup found nothing.
    Absent,
}

/// Evidence in the universe: the number of a resource, a cost, with a model or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    resource: Option<u8>,
    cost: Option<i64>,
    with_model: bool,
}

impl Made {
    pub(super) fn evidence(self) -> Evidence {
        Evidence {
            resource_id: self.resource.map(|number| format!("post-{number}")),
            result: self.with_model.then(|| "{\"ok\":true}".to_owned()),
            cost: self.cost.map(micros),
            tokens_in: self.with_model.then_some(100),
            tokens_out: self.with_model.then_some(7),
            model: self.with_model.then(|| "small".to_owned()),
        }
    }
}

/// Whom a word is said for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// A lease, by its place.
    Lease(usize),
    /// A lease that nobody gave, of the job of places in [`SOURCES`] and [`IDS`].
    Stranger(usize, usize),
}

impl Speaker {
    /// `token` knows leases by their places.
    pub(super) fn of(self, name: usize, number: u32, token: impl Fn(&usize) -> LeaseToken) -> EffectRef {
        let (lease, job) = match self {
            Self::Lease(place) => (token(&place), None),
            Self::Stranger(in_source, id) => {
                let job = JobRun { source: source(SOURCES[in_source]), id: IDS[id].to_owned(), run: 1 };
                (LeaseToken::new([3; 16], 3), Some(job))
            }
        };
        EffectRef { lease, name: effect(name), number, job }
    }
}

/// A person's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// These were found.
    Found(Vec<Made>),
    /// Nothing was.
    Absent,
    /// Nobody will find out.
    Abandon,
}

impl Settled {
    pub(super) fn decision(&self) -> Decision {
        match self {
            Self::Found(made) => Decision::Found(made.iter().map(|one| one.evidence()).collect()),
            Self::Absent => Decision::Absent,
            Self::Abandon => Decision::Abandon,
        }
    }
}

pub(super) fn effect(place: usize) -> EffectName {
    EffectName::new(NAMES[place]).expect("an effect of the universe")
}

fn micros(amount: i64) -> Micros {
    Micros::new(amount).expect("an amount of the universe")
}

pub(super) const POLICIES: usize = 6;

/// What happened can be seen after five seconds; a key is known for twenty.
fn policy(place: usize) -> Policy {
    let plain = Policy { settle: Duration::from_secs(5), ..Policy::default() };
    let key_ttl = Some(Duration::from_secs(20));
    match place {
        0 => plain,
        1 => Policy { lookup: true, ..plain },
        2 => Policy { key_ttl, ..plain },
        3 => Policy { otherwise: Otherwise::Retry, ..plain },
        4 => Policy { retry_below: Some(micros(6)), ..plain },
        _ => Policy { key_ttl, lookup: true, otherwise: Otherwise::Retry, ..plain },
    }
}

/// The list's filter; `limit` makes pages of it.
pub(super) fn filter(
    in_source: Option<usize>,
    state: Option<usize>,
    resource: Option<u8>,
    alarmed: bool,
) -> EffectFilter {
    EffectFilter {
        sources: named(in_source).into_iter().collect::<Vec<Source>>(),
        states: state.map(|place| cola_ia_core::effect::EffectState::ALL[place]).into_iter().collect(),
        resource_id: resource.map(|number| format!("post-{number}")),
        alarmed,
    }
}

/// Costs of a source or of all, of days from the clock's start on and before.
pub(super) fn costs(by: usize, in_source: Option<usize>, since: Option<i64>, until: Option<i64>) -> CostsRequest {
    let first = UtcDay::of(ManualClock::START);
    let day = |days: i64| UtcDay(first.0 + days);
    CostsRequest {
        by: [CostsBy::Source, CostsBy::Model, CostsBy::Day][by],
        sources: named(in_source).into_iter().collect(),
        since: since.map(day),
        until: until.map(day),
    }
}

fn made() -> impl Strategy<Value = Made> {
    let resource = prop_oneof![1 => Just(None), 4 => (0_u8..3).prop_map(Some)];
    let cost = prop_oneof![1 => Just(None), 2 => (0_i64..9).prop_map(Some)];
    (resource, cost, any::<bool>()).prop_map(|(resource, cost, with_model)| Made { resource, cost, with_model })
}

/// Mostly the first one or two.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![5 => Just(1_u32), 3 => Just(2), 1 => Just(3), 1 => 0_u32..6]
}

fn name() -> impl Strategy<Value = usize> {
    prop_oneof![4 => Just(0_usize), 1 => Just(1)]
}

/// Steps about effects, mostly under this policy: a further try under another one is refused.
pub(super) fn effect_step(usual: usize) -> impl Strategy<Value = Step> {
    let lease = || prop_oneof![5 => 0_usize..2, 1 => any::<u8>().prop_map(usize::from)];
    let policy = prop_oneof![12 => Just(usual), 1 => 0..POLICIES];
    let request = prop_oneof![3 => Just(None), 1 => (0_u8..2).prop_map(Some)];
    let expected = prop_oneof![1 => Just(None), 3 => (0_i64..9).prop_map(Some)];
    let asked = (name(), 0_u8..24, policy, request, expected).prop_map(|(name, id, policy, request, expected)| Asked {
        name,
        id,
        policy,
        request,
        expected,
    });
    let word = prop_oneof![
        3 => made().prop_map(Word::Done),
        3 => any::<bool>().prop_map(Word::Failed),
        2 => any::<bool>().prop_map(Word::Unknown),
        1 => made().prop_map(Word::Found),
        3 => Just(Word::Absent),
    ];
    let stranger = (prop_oneof![3 => Just(0), 1 => 0..SOURCES.len()], prop_oneof![2 => Just(0), 1 => 0..IDS.len()]);
    let speaker = prop_oneof![
        8 => lease().prop_map(Speaker::Lease),
        1 => stranger.prop_map(|(in_source, id)| Speaker::Stranger(in_source, id)),
    ];
    let settled = prop_oneof![
        3 => proptest::collection::vec(made(), 0..3).prop_map(Settled::Found),
        4 => Just(Settled::Absent),
        1 => Just(Settled::Abandon),
    ];
    let looked = prop_oneof![3 => Just(None), 1 => number().prop_map(Some)];
    let in_source = || prop_oneof![2 => Just(None), 1 => (0..SOURCES.len()).prop_map(Some)];
    let maybe_day = || prop_oneof![2 => Just(None), 1 => (-1_i64..4).prop_map(Some)];
    let state = prop_oneof![2 => Just(None), 1 => (0_usize..6).prop_map(Some)];
    let resource = prop_oneof![3 => Just(None), 1 => (0_u8..3).prop_map(Some)];
    let alarmed = prop_oneof![4 => Just(false), 1 => Just(true)];
    let limit = prop_oneof![3 => Just(None), 2 => (0_i64..40).prop_map(Some)];
    let mostly_first = || prop_oneof![4 => Just(0), 1 => 0..SOURCES.len()];
    prop_oneof![
        8 => (lease(), asked).prop_map(|(lease, asked)| Step::Begin(lease, asked)),
        8 => (speaker, name(), number(), word).prop_map(|(speaker, name, number, word)| Step::Word(speaker, name, number, word)),
        4 => (prop_oneof![3 => Just(0_usize), 1 => 0_usize..4], name(), looked, settled)
            .prop_map(|(place, name, number, settled)| Step::Settle(place, name, number, settled)),
        1 => (in_source(), state, resource, alarmed, 0_u32..4)
            .prop_map(|(of, state, resource, alarmed, limit)| Step::Effects { of, state, resource, alarmed, limit }),
        1 => (0_usize..3, in_source(), maybe_day(), maybe_day())
            .prop_map(|(by, of, since, until)| Step::Costs { by, of, since, until }),
        1 => (mostly_first(), limit).prop_map(|(of, limit)| Step::Budget(of, limit)),
    ]
}
