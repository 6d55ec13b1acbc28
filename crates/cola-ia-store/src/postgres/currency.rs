//! The one currency of a store's amounts.

use cola_ia_core::store::{ErrorKind, StoreError, names_currency};

use super::error::Fault;
use super::row::Columns as _;
use super::sql::params;
use super::tx::Tx;

/// See [`Store::set_currency`](cola_ia_core::store::Store::set_currency).
pub(super) async fn set_currency(tx: &Tx, currency: &str) -> Result<(), Fault> {
    if !names_currency(currency) {
        return Err(StoreError::new(ErrorKind::Invalid, "currency_malformed").with("currency", currency).into());
    }
    match self::currency(tx).await? {
        Some(here) if here == currency => Ok(()),
        Some(here) => {
            let other = StoreError::new(ErrorKind::Conflict, "currency_other");
            Err(other.with("currency", here).with("other", currency).into())
        }
        None => tx.execute("UPDATE store SET currency = $1", params![currency]).await.map(drop),
    }
}

/// See [`Store::currency`](cola_ia_core::store::Store::currency).
pub(super) async fn currency(tx: &Tx) -> Result<Option<String>, Fault> {
    tx.one("SELECT currency FROM store", params![]).await?.read(0)
}
