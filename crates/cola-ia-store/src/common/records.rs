//! Which table and column each record of an export is. Both engines have the same ones; the shapes are the core's.

use cola_ia_core::store::export::{Field, Kind};

/// The table of a kind; `None` for counters, which are sums.
pub(crate) const fn table(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Source => "sources",
        Kind::Event => "events",
        Kind::Job => "jobs",
        Kind::Revision => "revisions",
        Kind::Attempt => "attempts",
        Kind::Effect => "effects",
        Kind::EffectTry => "effect_tries",
        Kind::EffectRecord => "effect_records",
        Kind::Decision => "decisions",
        Kind::Pruned => "pruned_deliveries",
        Kind::SignedBody => "signed_bodies",
        Kind::Conflict => "conflicts",
        Kind::Delivery => "deliveries",
        Kind::Budget => "budgets",
        Kind::Money => "money",
        Kind::Counter => return None,
    })
}

/// The column of a field. Most have its name.
pub(crate) fn column(kind: Kind, field: &Field) -> &'static str {
    match (kind, field.name) {
        (Kind::Event | Kind::Delivery, "number") => "seq",
        (_, name) => name,
    }
}

/// Whether its table has the source's row too, which its record does not tell: it follows from the event.
pub(crate) const fn has_row_of_source(kind: Kind) -> bool {
    matches!(kind, Kind::Job | Kind::SignedBody)
}

/// What belongs to an event, in the order of the export. The first ones are always in the page of their event: people and
/// workers bound them.
pub(crate) const OF_AN_EVENT: [Kind; 11] = [
    Kind::Job,
    Kind::Revision,
    Kind::Attempt,
    Kind::Effect,
    Kind::EffectTry,
    Kind::EffectRecord,
    Kind::Decision,
    Kind::Pruned,
    Kind::SignedBody,
    Kind::Conflict,
    Kind::Delivery,
];
/// How many of them are the first ones.
pub(crate) const WITH_EVENT: usize = 9;

/// Where the rows of a kind with their events are: what stands behind `FROM`, the event's column, and the order within an event.
/// Tries and records know no event: their effects do, and are joined with this word.
pub(crate) fn by_event(kind: Kind, join: &str) -> (String, &'static str, &'static str) {
    let table = table(kind).unwrap_or_default();
    match kind {
        Kind::Event => (format!("{table} t"), "t.seq", ""),
        Kind::Revision | Kind::Conflict => (format!("{table} t"), "t.event", ", t.number"),
        Kind::Attempt => (format!("{table} t"), "t.event", ", t.run, t.number, t.attempt"),
        Kind::Effect => (format!("{table} t"), "t.event", ", t.run, t.name"),
        Kind::EffectTry | Kind::EffectRecord => {
            (format!("effects e {join} {table} t ON t.effect = e.effect"), "e.event", ", e.run, e.name, t.number")
        }
        Kind::Delivery => (format!("{table} t"), "t.event", ", t.seq"),
        Kind::Decision => (format!("{table} t"), "t.event", ", t.conflict, t.number"),
        Kind::SignedBody => (format!("{table} t"), "t.event", ", t.body"),
        Kind::Job | Kind::Pruned | Kind::Source | Kind::Budget | Kind::Counter | Kind::Money => {
            (format!("{table} t"), "t.event", "")
        }
    }
}
