//! Rows as records of an export.

use cola_ia_core::store::export::{Kind, Record, Shape, Value};
use tokio_postgres::Row;

use super::error::Fault;
use super::row::{Columns as _, unexpected};
use super::sql::{Param, param};
pub(super) use crate::common::records::{column, table};

/// The columns of a kind, for a `SELECT` from its table as `t`. A source is its name.
pub(super) fn columns(kind: Kind) -> String {
    let columns = kind.fields().iter().map(|field| match (kind, field.shape) {
        (Kind::Source, _) => "t.name".to_owned(),
        (_, Shape::Source) => "(SELECT s.name FROM sources s WHERE s.source = t.source)".to_owned(),
        _ => format!("t.{}", column(kind, field)),
    });
    columns.collect::<Vec<_>>().join(", ")
}

/// The record of a row that starts with [`columns`].
pub(super) fn read(kind: Kind, row: &Row) -> Result<Record, Fault> {
    let mut values = Vec::with_capacity(kind.fields().len());
    for (index, field) in kind.fields().iter().enumerate() {
        let value = match field.shape {
            Shape::Number | Shape::UpTo(_) | Shape::Instant | Shape::Day => {
                row.read::<Option<i64>>(index)?.map(Value::Number)
            }
            Shape::Flag => row.read::<Option<bool>>(index)?.map(|flag| Value::Number(flag.into())),
            Shape::Bytes(_) | Shape::Output => row.read::<Option<Vec<u8>>>(index)?.map(Value::Bytes),
            Shape::Text
            | Shape::Id
            | Shape::Type
            | Shape::Content
            | Shape::EffectName
            | Shape::Word(_)
            | Shape::Source => row.read::<Option<String>>(index)?.map(Value::Text),
        };
        values.push(value.unwrap_or(Value::Null));
    }
    Record::new(kind, values).map_err(|field| unexpected(field, "a value of another shape"))
}

/// Values of one column, as an array.
pub(super) enum Column<'a> {
    Numbers(Vec<Option<i64>>),
    Flags(Vec<Option<bool>>),
    Texts(Vec<Option<&'a str>>),
    Bytes(Vec<Option<&'a [u8]>>),
}

impl<'a> Column<'a> {
    /// Of a field of this shape. A source is no name here but its row.
    pub(super) fn of(shape: Shape, values: impl Iterator<Item = &'a Value>) -> Self {
        let number = |value: &Value| if let Value::Number(number) = value { Some(*number) } else { None };
        match shape {
            Shape::Number | Shape::UpTo(_) | Shape::Instant | Shape::Day | Shape::Source => {
                Self::Numbers(values.map(number).collect())
            }
            Shape::Flag => Self::Flags(values.map(|value| number(value).map(|flag| flag != 0)).collect()),
            Shape::Bytes(_) | Shape::Output => {
                let bytes = |value: &'a Value| if let Value::Bytes(bytes) = value { Some(&bytes[..]) } else { None };
                Self::Bytes(values.map(bytes).collect())
            }
            Shape::Text | Shape::Id | Shape::Type | Shape::Content | Shape::EffectName | Shape::Word(_) => {
                let text = |value: &'a Value| if let Value::Text(text) = value { Some(text.as_str()) } else { None };
                Self::Texts(values.map(text).collect())
            }
        }
    }

    pub(super) fn param(&self) -> Param<'_> {
        match self {
            Self::Numbers(values) => param(values),
            Self::Flags(values) => param(values),
            Self::Texts(values) => param(values),
            Self::Bytes(values) => param(values),
        }
    }
}

#[cfg(test)]
mod tests;
