//! One line for a backup, a restore, a mark, and for each thing that `doctor` looked at.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A backup that was made and checked.
///
/// ```
/// # use std::borrow::Cow;
/// let line = cola_ia_wire::Backup {
///     v: 1,
///     backup: Cow::Borrowed("b.sqlite3"),
///     bytes: 180_224,
///     taken_at: "2026-01-31T21:00:00.000000Z".into(),
///     schema: 2,
///     events: 3,
/// };
/// let json = r#"{"v":1,"backup":"b.sqlite3","bytes":180224,"taken_at":"2026-01-31T21:00:00.000000Z","schema":2,"events":3}"#;
/// assert_eq!(serde_json::to_string(&line).unwrap(), json);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup<'a> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// Its file, as it was named.
    #[serde(borrow)]
    pub backup: Cow<'a, str>,
    /// Bytes of the file.
    pub bytes: u64,
    /// All that was answered before this instant is in it.
    pub taken_at: String,
    /// The schema's version.
    pub schema: u32,
    /// Events in it.
    pub events: u64,
}

/// A store that was restored from a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restore<'a> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// The store's file.
    #[serde(borrow)]
    pub store: Cow<'a, str>,
    /// The backup that was put in its place.
    #[serde(borrow)]
    pub backup: Cow<'a, str>,
    /// Where what stood there before is kept; `null` where there was nothing.
    #[serde(borrow)]
    pub kept: Option<Cow<'a, str>>,
    /// When the backup was taken; `null` where it does not say.
    pub taken_at: Option<String>,
    /// When the newest delivery in it was received; `null` where there is none.
    pub newest_at: Option<String>,
    /// The mark that the store bears from now on.
    pub restored_at: String,
    /// Jobs whose lease ended: they were running when the backup was taken, and wait again.
    pub leases_voided: u64,
    /// Events in it.
    pub events: u64,
    /// The schema's version of the backup.
    pub schema_from: u32,
    /// The schema's version now.
    pub schema: u32,
}

/// The mark of a restored store, after it was set or taken away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// The mark; `null`: the store bears none.
    pub restored_at: Option<String>,
    /// Jobs whose lease ended with this call.
    pub leases_voided: u64,
}

/// One thing that `doctor` looked at.
///
/// ```
/// # use std::borrow::Cow;
/// # use std::collections::BTreeMap;
/// let line = cola_ia_wire::Finding {
///     v: 1,
///     severity: Cow::Borrowed("ok"),
///     code: Cow::Borrowed("disk"),
///     facts: BTreeMap::from([(Cow::Borrowed("free_bytes"), cola_ia_wire::Fact::Number(1_000))]),
/// };
/// let json = r#"{"v":1,"severity":"ok","code":"disk","facts":{"free_bytes":1000}}"#;
/// assert_eq!(serde_json::to_string(&line).unwrap(), json);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding<'a> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// `ok`, `note`, `warning` or `error`.
    #[serde(borrow)]
    pub severity: Cow<'a, str>,
    /// What was found, stable, explained in `docs/ERRORS.md`.
    #[serde(borrow)]
    pub code: Cow<'a, str>,
    /// With which values. Names that end in `_at` are instants, those that end in `bytes` sizes.
    #[serde(borrow)]
    pub facts: BTreeMap<Cow<'a, str>, Fact<'a>>,
}

/// A value of a [`Finding`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fact<'a> {
    /// A count or a size.
    Number(i64),
    /// Anything else; instants in RFC 3339.
    #[serde(borrow)]
    Text(Cow<'a, str>),
}
