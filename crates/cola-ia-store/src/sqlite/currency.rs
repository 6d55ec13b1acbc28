//! The one currency of a store's amounts.

use cola_ia_core::store::{ErrorKind, StoreError, names_currency};
use rusqlite::Connection;

use super::writer::Scope;

/// See [`Store::set_currency`](cola_ia_core::store::Store::set_currency).
pub(super) fn set_currency(scope: &Scope<'_>, currency: &str) -> Result<(), StoreError> {
    let sqlite = |cause: rusqlite::Error| scope.error(&cause);
    if !names_currency(currency) {
        return Err(StoreError::new(ErrorKind::Invalid, "currency_malformed").with("currency", currency));
    }
    match self::currency(scope.connection).map_err(sqlite)? {
        Some(here) if here == currency => Ok(()),
        Some(here) => {
            Err(StoreError::new(ErrorKind::Conflict, "currency_other").with("currency", here).with("other", currency))
        }
        None => scope.connection.execute("UPDATE store SET currency = ?1", [currency]).map(drop).map_err(sqlite),
    }
}

/// See [`Store::currency`](cola_ia_core::store::Store::currency).
pub(super) fn currency(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT currency FROM store", [], |row| row.get(0))
}
