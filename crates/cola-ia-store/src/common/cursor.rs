//! Places in lists.

use cola_ia_core::store::{Cursor, ErrorKind, StoreError};

/// The place behind a number.
pub(crate) fn of_number(number: i64) -> Cursor {
    Cursor(number.to_string())
}

/// The place behind several numbers.
pub(crate) fn of_numbers<const N: usize>(numbers: [i64; N]) -> Cursor {
    Cursor(numbers.map(|number| number.to_string()).join("."))
}

/// # Errors
/// `cursor_unknown`.
pub(crate) fn number(cursor: &Cursor) -> Result<i64, StoreError> {
    numbers::<1>(cursor).map(|[number]| number)
}

/// # Errors
/// `cursor_unknown`.
pub(crate) fn numbers<const N: usize>(cursor: &Cursor) -> Result<[i64; N], StoreError> {
    let unknown = || StoreError::new(ErrorKind::Invalid, "cursor_unknown").with("cursor", &cursor.0);
    let parts: Vec<i64> = cursor.0.split('.').map(str::parse).collect::<Result<_, _>>().map_err(|_| unknown())?;
    parts.try_into().map_err(|_| unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_and_nothing_else_is() {
        assert_eq!(number(&of_number(-7)).unwrap(), -7);
        assert_eq!(numbers(&of_numbers([1, -2, i64::MAX])).unwrap(), [1, -2, i64::MAX]);
        for wrong in ["", "x", "1.2", "1.", "9223372036854775808", " 1"] {
            assert_eq!(number(&Cursor(wrong.into())).unwrap_err().code, "cursor_unknown", "{wrong}");
        }
    }
}
