//! The conditions of a statement whose shape depends on a filter, and the values in their places.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::filter::Filter;
use rusqlite::types::Value;

/// Conditions that must all hold. Values are bound, never written into the statement.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    /// A place for this value: `?7`.
    pub(super) fn bind(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    /// One more condition.
    pub(super) fn and(&mut self, condition: impl Into<String>) {
        self.conditions.push(condition.into());
    }

    /// `column` is one of these words; nothing where there are none.
    pub(super) fn one_of<'a>(&mut self, column: &str, words: impl IntoIterator<Item = &'a str>) {
        let places: Vec<String> = words.into_iter().map(|word| self.bind(word.to_owned())).collect();
        if !places.is_empty() {
            self.and(format!("{column} IN ({})", places.join(", ")));
        }
    }

    /// `column` is the row of one of the filter's sources.
    pub(super) fn of_sources(&mut self, column: &str, filter: &Filter) {
        let places: Vec<String> = filter.sources.iter().map(|source| self.bind(source.as_str().to_owned())).collect();
        if !places.is_empty() {
            self.and(format!("{column} IN (SELECT source FROM sources WHERE name IN ({}))", places.join(", ")));
        }
    }

    /// `column` is one of the filter's types.
    pub(super) fn of_types(&mut self, column: &str, filter: &Filter) {
        self.one_of(column, filter.types.iter().map(cola_ia_core::event::EventType::as_str));
    }

    /// `column` is an instant between the filter's.
    pub(super) fn within(&mut self, column: &str, filter: &Filter) {
        if let Some(since) = filter.since.map(Timestamp::as_micros) {
            let since = self.bind(since);
            self.and(format!("{column} >= {since}"));
        }
        if let Some(until) = filter.until.map(Timestamp::as_micros) {
            let until = self.bind(until);
            self.and(format!("{column} < {until}"));
        }
    }

    /// Whether everything is let through.
    pub(super) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// What stands behind `WHERE`.
    pub(super) fn sql(&self) -> String {
        if self.conditions.is_empty() { "true".to_owned() } else { self.conditions.join(" AND ") }
    }

    /// The values, in their places.
    pub(super) fn values(self) -> impl rusqlite::Params {
        rusqlite::params_from_iter(self.values)
    }

    /// The values, for a statement that is run more than once.
    pub(super) fn into_values(self) -> Vec<Value> {
        self.values
    }
}
