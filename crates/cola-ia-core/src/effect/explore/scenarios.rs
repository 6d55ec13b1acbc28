//! What is tried, and what breaks without each rule.

use super::lab::SETTLE;
use super::properties::Property::{self, I1, L1, L2, M1, M2, R1, S1, S2, S3, S4, S5};
use super::world::{Kind, Scenario};
use crate::effect::Rule;

const ALL: &[Property] = &[S1, S2, S3, S4, S5, I1, R1, M1, M2, L1, L2];
/// After a restore the totals are those of the backup.
const RESTORED: &[Property] = &[S1, S2, S3, S4, S5, I1, R1, M1, L1, L2];
/// There is not money enough for all, or nobody says that it did not happen.
const NO_L2: &[Property] = &[S1, S2, S3, S4, S5, I1, R1, M1, M2, L1];
/// Nobody says that it did not happen: what is held may be so for ever. (Its paths are asked for among the wider worlds.)
const NO_PATHS: &[Property] = &[S1, S2, S3, S4, S5, I1, R1, M1, M2];
/// A worker says `failed` of what may have happened: until it is looked up the ledger repeats the error.
const MISTOLD: &[Property] = &[S1, S3, S4, S5, I1, R1, M1, L1, L2];
/// Nothing is on time.
const UNPUNCTUAL: &[Property] = &[S3, S4, S5, I1, R1, M1, L1, L2];

const fn scenario(name: &'static str, kind: Kind) -> Scenario {
    Scenario {
        name,
        kind,
        jobs: 1,
        effects: 1,
        attempts: 3,
        tries: 2,
        fallback: false,
        or_retry: false,
        reject: 0,
        twin: 0,
        late: 0,
        cancel: 0,
        replay: 0,
        restore: 0,
        raises: 0,
        again: 0,
        permanent: false,
        abandon: false,
        changing: false,
        skips: false,
        budget: 9,
        punctual: true,
        honours: true,
        lag: SETTLE,
        misknows: false,
        says_absent: true,
        check: ALL,
    }
}

pub(super) fn named(name: &str) -> &'static Scenario {
    SCENARIOS.iter().find(|scenario| scenario.name == name).expect("the table of counterexamples names a scenario")
}

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario { reject: 1, ..scenario("key", Kind::Key) },
    Scenario { reject: 1, ..scenario("lookup", Kind::Lookup) },
    Scenario { reject: 1, ..scenario("none/hold", Kind::Hold) },
    Scenario { reject: 1, ..scenario("none/retry", Kind::Retry) },
    Scenario { attempts: 2, fallback: true, ..scenario("key, looked up after the ttl", Kind::Key) },
    Scenario { attempts: 1, reject: 1, late: 1, ..scenario("key, late copies", Kind::Key) },
    Scenario { attempts: 2, late: 1, ..scenario("lookup, late copies", Kind::Lookup) },
    Scenario { attempts: 2, late: 1, ..scenario("none/hold, late copies", Kind::Hold) },
    Scenario { attempts: 2, twin: 1, ..scenario("lookup, two processes in one lease", Kind::Lookup) },
    Scenario { attempts: 2, twin: 1, ..scenario("none/hold, two processes in one lease", Kind::Hold) },
    Scenario { attempts: 2, changing: true, ..scenario("key, another request each time", Kind::Key) },
    Scenario { attempts: 2, changing: true, ..scenario("lookup, another request each time", Kind::Lookup) },
    Scenario { effects: 2, attempts: 2, tries: 1, skips: true, ..scenario("lookup, two effects", Kind::Lookup) },
    Scenario { effects: 2, attempts: 2, tries: 1, skips: true, ..scenario("none/hold, two effects", Kind::Hold) },
    Scenario { attempts: 2, cancel: 1, permanent: true, ..scenario("none/hold, exit 65, cancel", Kind::Hold) },
    Scenario { attempts: 1, tries: 1, replay: 1, abandon: true, ..scenario("none/hold, abandon, new run", Kind::Hold) },
    Scenario {
        jobs: 2,
        attempts: 1,
        tries: 1,
        budget: 1,
        check: NO_L2,
        ..scenario("none/hold, two jobs, money for one", Kind::Hold)
    },
    Scenario { attempts: 2, budget: 1, ..scenario("lookup, money for one try", Kind::Lookup) },
    Scenario { attempts: 2, raises: 1, budget: 1, ..scenario("none/retry, money for one try", Kind::Retry) },
    Scenario {
        effects: 2,
        attempts: 2,
        tries: 1,
        raises: 1,
        budget: 1,
        ..scenario("key, two effects, money for one", Kind::Key)
    },
    Scenario { attempts: 1, tries: 1, restore: 1, check: RESTORED, ..scenario("key, restored", Kind::Key) },
    Scenario { attempts: 1, tries: 3, restore: 1, check: RESTORED, ..scenario("lookup, restored", Kind::Lookup) },
    Scenario { attempts: 1, restore: 1, check: RESTORED, ..scenario("none/hold, restored", Kind::Hold) },
    Scenario {
        attempts: 2,
        misknows: true,
        check: MISTOLD,
        ..scenario("lookup, `failed` said in error", Kind::Lookup)
    },
    Scenario {
        attempts: 2,
        abandon: true,
        punctual: false,
        says_absent: false,
        check: NO_L2,
        ..scenario("none/hold, unpunctual", Kind::Hold)
    },
    Scenario {
        attempts: 2,
        punctual: false,
        check: UNPUNCTUAL,
        ..scenario("lookup, unpunctual: the rest holds", Kind::Lookup)
    },
];

/// What is not in the specification: policies whose parts combine, and jobs that people have tried again.
pub(super) const OWN: &[Scenario] = &[
    Scenario {
        or_retry: true,
        tries: 3,
        says_absent: false,
        check: NO_PATHS,
        ..scenario("key, then retry", Kind::Key)
    },
    Scenario { or_retry: true, reject: 1, ..scenario("lookup or retry", Kind::Lookup) },
    Scenario {
        attempts: 1,
        tries: 2,
        fallback: true,
        restore: 1,
        check: RESTORED,
        ..scenario("key, looked up after the ttl, restored", Kind::Key)
    },
    Scenario { attempts: 1, restore: 1, check: RESTORED, ..scenario("none/retry, restored", Kind::Retry) },
    Scenario { attempts: 2, again: 1, cancel: 1, ..scenario("lookup, cancelled, tried again", Kind::Lookup) },
    Scenario { attempts: 1, again: 1, abandon: true, ..scenario("none/hold, abandon, tried again", Kind::Hold) },
    Scenario {
        attempts: 1,
        again: 1,
        restore: 1,
        check: RESTORED,
        ..scenario("lookup, restored, tried again", Kind::Lookup)
    },
];

pub(super) const DEEP: &[Scenario] = &[
    Scenario { or_retry: true, tries: 3, reject: 1, ..scenario("key, then retry", Kind::Key) },
    Scenario { tries: 3, reject: 1, ..scenario("key", Kind::Key) },
    Scenario { tries: 3, reject: 2, twin: 1, ..scenario("lookup", Kind::Lookup) },
    Scenario { tries: 3, reject: 1, twin: 1, ..scenario("none/hold", Kind::Hold) },
    Scenario { tries: 3, reject: 1, ..scenario("none/retry", Kind::Retry) },
    Scenario { attempts: 2, reject: 1, late: 1, ..scenario("key, late copies", Kind::Key) },
    Scenario { reject: 1, late: 1, ..scenario("lookup, late copies", Kind::Lookup) },
    Scenario { reject: 1, late: 1, ..scenario("none/hold, late copies", Kind::Hold) },
    Scenario { effects: 2, attempts: 2, tries: 1, skips: true, ..scenario("key, two effects", Kind::Key) },
    Scenario { effects: 2, attempts: 2, skips: true, ..scenario("lookup, two effects", Kind::Lookup) },
    Scenario { effects: 2, attempts: 2, skips: true, ..scenario("none/hold, two effects", Kind::Hold) },
    Scenario {
        jobs: 2,
        attempts: 2,
        tries: 1,
        raises: 1,
        budget: 1,
        ..scenario("none/hold, two jobs, money for one", Kind::Hold)
    },
    Scenario { attempts: 2, restore: 1, check: RESTORED, ..scenario("key, restored", Kind::Key) },
    Scenario { attempts: 2, restore: 1, check: RESTORED, ..scenario("lookup, restored", Kind::Lookup) },
    Scenario { attempts: 2, restore: 1, check: RESTORED, ..scenario("none/hold, restored", Kind::Hold) },
    Scenario {
        attempts: 2,
        punctual: false,
        check: UNPUNCTUAL,
        ..scenario("key, unpunctual: the rest holds", Kind::Key)
    },
];

/// Without this rule, in this scenario, this property breaks.
pub(super) const COUNTEREXAMPLES: &[(Rule, &str, Property)] = &[
    (Rule::LeaseFirst, "lookup", S4),
    (Rule::SendBefore, "lookup", S1),
    (Rule::SameInstant, "lookup", S1),
    (Rule::FreshId, "none/hold, two processes in one lease", S1),
    (Rule::OtherId, "none/hold, two processes in one lease", S1),
    (Rule::IdOnce, "lookup, late copies", I1),
    (Rule::MismatchLast, "lookup, another request each time", L2),
    (Rule::SettleFromDeadline, "lookup", S1),
    (Rule::Ticket, "lookup", S1),
    (Rule::TicketTry, "lookup, late copies", S2),
    (Rule::AbsentCloses, "lookup", L2),
    (Rule::LookAfterFailed, "lookup, `failed` said in error", S1),
    (Rule::TtlDeadline, "key", S1),
    (Rule::NamesTry, "none/hold, late copies", S2),
    (Rule::FailedNeedsAll, "key", S2),
    (Rule::DoneStays, "key", S2),
    (Rule::DoneHeard, "none/hold, abandon, new run", S4),
    (Rule::EvidenceKept, "key", M1),
    (Rule::CompleteRepeat, "lookup", I1),
    (Rule::CompleteSettled, "lookup", S3),
    (Rule::AnyEnd, "lookup", S5),
    (Rule::EndHeld, "none/hold, exit 65, cancel", S3),
    (Rule::HeldWakes, "none/hold", L1),
    (Rule::HeldFree, "none/hold", L2),
    (Rule::AbandonEnds, "none/hold, abandon, new run", S3),
    (Rule::PersonWaits, "none/hold", S1),
    (Rule::PersonTry, "none/hold, late copies", S2),
    (Rule::ReplaySettled, "none/hold, abandon, new run", R1),
    (Rule::RestoreUnknown, "lookup, restored", S1),
    (Rule::LeaseUnique, "lookup, restored", S4),
    (Rule::BudgetLast, "lookup, money for one try", L2),
    (Rule::ReserveCounts, "none/hold, two jobs, money for one", M1),
    (Rule::ReservePerTry, "none/retry, money for one try", M2),
    (Rule::ReserveShared, "key", M2),
    (Rule::ReleaseOnce, "lookup", M1),
];

/// With every rule, when this is so, an effect happens twice.
pub(super) const UNAVOIDABLE: &[(&str, Scenario)] = &[
    (
        "a request takes effect after its try's deadline + settle (its sender was frozen between its check of the time and the send, or the network or the destination held it), when the absence has been accepted and a further try given",
        Scenario { attempts: 2, punctual: false, ..scenario("lookup", Kind::Lookup) },
    ),
    (
        "a lookup misses an effect for longer than `settle`",
        Scenario { attempts: 2, lag: 3, ..scenario("lookup", Kind::Lookup) },
    ),
    (
        "a request arrives after its try's deadline, when the destination has forgotten the key of the try that worked",
        Scenario { attempts: 2, punctual: false, ..scenario("key", Kind::Key) },
    ),
    (
        "the destination does not honour the key, or forgets it before `ttl`",
        Scenario { attempts: 2, honours: false, ..scenario("key", Kind::Key) },
    ),
    (
        "a worker says `failed` of what happened, and more than the ttl goes by before the next try",
        Scenario { attempts: 2, misknows: true, check: MISTOLD, ..scenario("key", Kind::Key) },
    ),
    (
        "a worker says `failed` of what happened",
        Scenario { attempts: 2, misknows: true, check: MISTOLD, ..scenario("none/hold", Kind::Hold) },
    ),
    (
        "a person says `did not happen`, and the request takes effect after that",
        Scenario { attempts: 2, punctual: false, ..scenario("none/hold", Kind::Hold) },
    ),
];
