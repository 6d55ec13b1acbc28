//! Filters as conditions of a statement.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{EventType, Source};
use cola_ia_core::filter::Filter;
use tokio_postgres::types::{ToSql, Type};

use super::sql::{Param, Typed};

/// Conditions that must all hold. Values are bound, never written into the statement.
#[derive(Default)]
pub(super) struct Conditions {
    conditions: Vec<String>,
    values: Vec<(Box<dyn ToSql + Sync + Send>, Type)>,
}

impl Conditions {
    /// A place for this value: `$7`.
    pub(super) fn bind<T: Typed + Send + 'static>(&mut self, value: T) -> String {
        self.values.push((Box::new(value), T::TYPE));
        format!("${}", self.values.len())
    }

    /// One more condition.
    pub(super) fn and(&mut self, condition: impl Into<String>) {
        self.conditions.push(condition.into());
    }

    /// `column` is one of these words; nothing where there are none.
    pub(super) fn one_of<'a>(&mut self, column: &str, words: impl IntoIterator<Item = &'a str>) {
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        if !words.is_empty() {
            let place = self.bind(words);
            self.and(format!("{column} = ANY({place})"));
        }
    }

    /// `column` is the row of one of the filter's sources.
    pub(super) fn of_sources(&mut self, column: &str, filter: &Filter) {
        let names: Vec<String> = filter.sources.iter().map(Source::as_str).map(str::to_owned).collect();
        if !names.is_empty() {
            let place = self.bind(names);
            self.and(format!("{column} IN (SELECT source FROM sources WHERE name = ANY({place}))"));
        }
    }

    /// `column` is one of the filter's types.
    pub(super) fn of_types(&mut self, column: &str, filter: &Filter) {
        self.one_of(column, filter.types.iter().map(EventType::as_str));
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
    pub(super) fn values(&self) -> Vec<Param<'_>> {
        self.values.iter().map(|(value, sql)| (&**value as &(dyn ToSql + Sync), sql.clone())).collect()
    }
}
