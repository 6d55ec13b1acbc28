//! What `import` did.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A line that did not enter: it contradicts what is there, or is no line of an export.
///
/// ```
/// # use std::borrow::Cow;
/// let line = cola_ia_wire::ImportTold {
///     v: 1,
///     line: 3,
///     kind: Some(Cow::Borrowed("event")),
///     event: Some(17),
///     code: Cow::Borrowed("import_differs"),
///     detail: Cow::Borrowed(""),
/// };
/// let json = r#"{"v":1,"line":3,"kind":"event","event":17,"code":"import_differs","detail":""}"#;
/// assert_eq!(serde_json::to_string(&line).unwrap(), json);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportTold<'a> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// The line, from 1.
    pub line: u64,
    /// The record's kind; `null` where the line could not be read.
    #[serde(borrow)]
    pub kind: Option<Cow<'a, str>>,
    /// The event that it is or belongs to; `null` where it belongs to none.
    pub event: Option<i64>,
    /// The reason, stable, explained in `docs/EXPORT.md`.
    #[serde(borrow)]
    pub code: Cow<'a, str>,
    /// What it is about: a field, a word; may be empty.
    #[serde(borrow)]
    pub detail: Cow<'a, str>,
}

/// What became of the records of a kind, at the end: one line for each kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportKind<'a> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// The kind.
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
    /// How many were not there and are now.
    pub entered: u64,
    /// How many were there just so.
    pub same: u64,
    /// How many were there and have gone on since.
    pub kept: u64,
    /// How many contradict what is there.
    pub contradicting: u64,
}
