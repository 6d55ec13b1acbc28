//! Senders: those that are configured, the schemes that are known, and how a request was judged.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A line of `source list --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLine<'a> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// Its name.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// How it sends.
    #[serde(borrow)]
    pub scheme: Cow<'a, str>,
    /// Where its requests go, as it sees the server.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    /// Whether it is taken without a signature.
    pub unsigned: bool,
    /// Whether browsers send it from a form.
    pub form: bool,
    /// The names of the variables or files of its secrets, never a secret.
    pub secrets: Vec<Cow<'a, str>>,
    /// Where its events have their id.
    pub id: Vec<Cow<'a, str>>,
    /// Where they have their text.
    pub text: Vec<Cow<'a, str>>,
}

/// A line of `source list --schemes --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemeLine<'a> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// The name in configurations.
    #[serde(borrow)]
    pub scheme: Cow<'a, str>,
    /// The name for people.
    #[serde(borrow)]
    pub title: Cow<'a, str>,
    /// Whether signature and id were read in a source, and are not from memory.
    pub verified: bool,
    /// What was not.
    pub unverified: Vec<Cow<'a, str>>,
    /// How it signs.
    #[serde(borrow)]
    pub algorithm: Cow<'a, str>,
    /// Where its events have their id; empty where they have none.
    pub id: Vec<Cow<'a, str>>,
    /// The documented substitute of an id.
    pub fallback: Vec<Cow<'a, str>>,
    /// Where they have their text.
    pub text: Vec<Cow<'a, str>>,
    /// Where this was read.
    #[serde(borrow)]
    pub docs: Cow<'a, str>,
}

/// A line of `source check --json`: one step, in the order in which a request is judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLine<'a> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// What was looked at.
    #[serde(borrow)]
    pub step: Cow<'a, str>,
    /// Whether the request passes here.
    pub passed: bool,
    /// What was found. Never a secret, never an expected signature.
    pub facts: BTreeMap<Cow<'a, str>, String>,
}

/// The line of `source test --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleLine<'a> {
    /// [`VERSION`](crate::VERSION).
    pub v: u32,
    /// Of this source.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// The sample's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// The server's status.
    pub status: u16,
    /// `new`, `duplicate` or `conflict`; `null` where the answer does not say it.
    #[serde(borrow)]
    pub verdict: Option<Cow<'a, str>>,
}
