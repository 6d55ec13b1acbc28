//! Effects: external actions of a job that must not happen twice.
//!
//! A job is run at least once; an effect is the part of it that must not be repeated: the paid call, the published post. No
//! queue can make a foreign system's action and its own record one step. What can be done is done here: the intent is
//! recorded first, a key that stays the same is sent along, and where the outcome is unknown somebody looks before anybody
//! repeats. We say "at least once, effects guarded", never "exactly once".
//!
//! ```text
//!         begin          done
//! (none) ──────► intended ──────────────────────────────► done
//!                 │  ▲  │ failed                            ▲
//!                 │  │  └───────► failed ── begin ─► intended│ late evidence, alarm
//!  unknown, the   │  │ begin, by    ▲ absent               │
//!  lease ends, …  ▼  │ policy       │          found       │
//!               unknown ────────────┴──────────────────────┤
//!                 │ only a person can tell                 │
//!                 ▼               a person, a late done    │
//!                held ─────────────────────────────────────┘──► or failed, or abandoned
//! ```
//!
//! All of it is plain data and pure functions, the same for every store. A verb of a store is, in one transaction: read the job
//! and the effects of its run into a [`Case`], call one function of a [`Ledger`], write back what of the case is different.
//! [`Rule`] lists what the functions heed; the tests of this module explore all interleavings of a small world over this same
//! code, with all rules and without each.
//!
//! Nothing here knows SQL, processes, sockets or the text of a message.

mod begin;
mod case;
#[cfg(test)]
mod explore;
mod key;
mod lease_end;
mod ledger;
mod money;
mod name;
mod policy;
mod record;
mod report;
mod rules;
mod settle;
mod state;
#[cfg(test)]
mod tests;

pub use begin::{Begin, BeginAnswer, Go, Refused};
pub use case::Case;
pub use key::{JOB_EFFECT, effect_key, request_hash};
pub use lease_end::{EndAnswer, EndRefused, OrderDenied};
pub use ledger::Ledger;
pub use money::{Budget, COST_MAX_MICROS, Micros, MoneyMove, Reservation, UtcDay};
pub use name::{BeginId, EFFECT_NAME_MAX_BYTES, EffectName, RequestHash, parse_request_hash};
pub use policy::{Otherwise, Policy, SETTLE_DEFAULT};
pub use record::{Alarm, EFFECTS_MAX, Effect, Evidence, RECORDS_MAX, Recorded, TRIES_MAX, Try, TryOutcome, Witness};
pub use report::{ReportAnswer, TryRef};
pub use rules::Rule;
pub use settle::{Decision, SettleAnswer};
pub use state::{EffectState, Reason};
