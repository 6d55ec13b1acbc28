//! The JSON that cola-ia prints with `--json`, one object a line, and will speak over HTTP.
//!
//! - Every object carries `v`, the version of its shape: [`VERSION`]. Within a version, fields may be added and words may join
//!   an open list (`code`, `reason`, `type`); a reader ignores what it does not know. Nothing is renamed or removed.
//! - Words are English whatever the language of the prose: verdicts `new`, `duplicate`, `conflict`, `invalid`; states
//!   `pending`, `running`, `done`, `failed`, `held`, `cancelled`.
//! - All fields of a shape are always there, `null` where there is nothing to say; the only exceptions are
//!   [`Entered::conflict`] and [`Entered::decided`].
//! - Instants are RFC 3339 in UTC with six digits, `2026-01-31T21:00:00.000000Z`. Fingerprints are SHA-256 in lower-case hex.
//!   Numbers (`event`, `delivery`, `next`) are whole and below 2^63; ids are strings, byte for byte as they were sent.
//!
//! The shapes are shown with examples in `docs/JSON.md`. This crate must know neither storage nor transport.

mod add;
mod config;
mod effects;
mod export;
mod import;
mod inside;
mod jobs;
mod keeping;
mod leases;
mod lists;
mod money;
mod problem;
mod retention;
mod sources;
mod stats;
mod tokens;
pub mod v1;
mod worked;

pub use add::{Entered, Refused};
pub use config::SettingLine;
pub use effects::{
    Effect, EffectAnswer, EffectDecided, EffectLine, EffectPolicy, EffectRecord, EffectRequest, EffectTry,
};
pub use export::{
    EXPORT_FORMAT, ExportCounts, ExportHeader, ExportLine, LINE_FAULTS, LineFault, push_export_line, read_export_line,
};
pub use import::{ImportKind, ImportTold};
pub use inside::{InsideAnswer, InsideRequest};
pub use jobs::{Conflict, Delivery, Event, Job};
pub use keeping::{Backup, Fact, Finding, Mark, Restore};
pub use leases::{ErrorExample, ErrorGroup, Lease, LeaseAnswer, OrderAnswer, Resumed};
pub use lists::{Attempt, ConflictLine, DeliveryLine, ErrorLine, FailedAttempt};
pub use money::{BudgetLine, BudgetRemoved, CostsLine, CurrencyLine};
pub use problem::Problem;
pub use retention::{Decision, Entry, Erasure, PrunedDeliveries, Pruning, Resolution, Revision};
pub use sources::{SampleLine, SchemeLine, SourceLine, StepLine};
pub use stats::{Failing, JobCounts, LatenessOf, StatsLine};
pub use tokens::TokenLine;
pub use worked::Worked;

/// The version of every shape here, its field `v`.
pub const VERSION: u32 = 1;
