//! Parameters with their types. Statements are unnamed and say the types themselves, so that nothing is kept in a session: a
//! pooler between here and the server may hand each transaction to another connection.

use cola_ia_core::clock::Timestamp;
use tokio_postgres::types::{ToSql, Type};

/// A value on its way into a statement, with the type that the statement takes it as.
pub(super) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// What can be a parameter. Bytes are slices or vectors: an array of fixed length would be an array of SQL.
pub(super) trait Typed: ToSql + Sync {
    const TYPE: Type;
}

macro_rules! typed {
    ($($rust:ty => $sql:ident),* $(,)?) => { $(impl Typed for $rust { const TYPE: Type = Type::$sql; })* };
}

typed! {
    bool => BOOL, Option<bool> => BOOL,
    i64 => INT8, Option<i64> => INT8,
    String => TEXT, Option<String> => TEXT, &str => TEXT, Option<&str> => TEXT,
    Vec<u8> => BYTEA, Option<Vec<u8>> => BYTEA, &[u8] => BYTEA, Option<&[u8]> => BYTEA,
    Vec<bool> => BOOL_ARRAY, Vec<Option<bool>> => BOOL_ARRAY,
    Vec<i64> => INT8_ARRAY, &[i64] => INT8_ARRAY, Vec<Option<i64>> => INT8_ARRAY,
    Vec<String> => TEXT_ARRAY, Vec<Option<String>> => TEXT_ARRAY, Vec<&str> => TEXT_ARRAY, &[&str] => TEXT_ARRAY,
    Vec<Option<&str>> => TEXT_ARRAY,
    Vec<Vec<u8>> => BYTEA_ARRAY, Vec<&[u8]> => BYTEA_ARRAY, Vec<Option<&[u8]>> => BYTEA_ARRAY,
    Vec<Option<Vec<u8>>> => BYTEA_ARRAY,
}

/// The parameter of a value.
pub(super) fn param<T: Typed>(value: &T) -> Param<'_> {
    (value, T::TYPE)
}

/// `params![a, b]`: the parameters `$1`, `$2`, …
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::postgres::sql::param(&$value)),*] };
}
pub(super) use params;

/// Instants as a column of microseconds.
pub(super) fn micros(at: Option<Timestamp>) -> Option<i64> {
    at.map(Timestamp::as_micros)
}
