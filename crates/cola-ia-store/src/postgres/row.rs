//! Columns in the types of the core. A value that we never wrote is damage, and is said so.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::error::Fault;

/// Reads columns by their place in the `SELECT`.
pub(super) trait Columns {
    /// The column as this type.
    fn read<'a, T: FromSql<'a>>(&'a self, column: usize) -> Result<T, Fault>;

    /// A whole number that is never negative and fits.
    fn count<T: TryFrom<i64>>(&self, column: usize) -> Result<T, Fault> {
        let number: i64 = self.read(column)?;
        T::try_from(number).map_err(|_| unexpected("number", &number.to_string()))
    }

    /// The same, or nothing.
    fn maybe_count<T: TryFrom<i64>>(&self, column: usize) -> Result<Option<T>, Fault> {
        let number: Option<i64> = self.read(column)?;
        number.map(|number| T::try_from(number).map_err(|_| unexpected("number", &number.to_string()))).transpose()
    }

    /// Microseconds.
    fn time(&self, column: usize) -> Result<Timestamp, Fault> {
        self.read(column).map(Timestamp::from_micros)
    }

    /// Microseconds, or nothing.
    fn maybe_time(&self, column: usize) -> Result<Option<Timestamp>, Fault> {
        Ok(self.read::<Option<i64>>(column)?.map(Timestamp::from_micros))
    }

    /// Bytes of this very length.
    fn bytes<const N: usize>(&self, column: usize) -> Result<[u8; N], Fault> {
        let bytes: &[u8] = self.read(column)?;
        bytes.try_into().map_err(|_| unexpected("bytes", &bytes.len().to_string()))
    }

    /// The name of a source.
    fn source(&self, column: usize) -> Result<Source, Fault> {
        let name: &str = self.read(column)?;
        Source::new(name).map_err(|_| unexpected("source", name))
    }
}

impl Columns for Row {
    fn read<'a, T: FromSql<'a>>(&'a self, column: usize) -> Result<T, Fault> {
        Ok(self.try_get(column)?)
    }
}

/// A value that no version of ours writes.
pub(super) fn unexpected(column: &str, value: &str) -> Fault {
    Fault::Damage(format!("unexpected {column}: {value:?}"))
}
