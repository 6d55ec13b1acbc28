//! PostgreSQL's errors in the words of the store, and what can be done about each.

use cola_ia_core::store::{ErrorKind, StoreError};
use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

/// Why a call did not succeed.
#[derive(Debug)]
pub(super) enum Fault {
    /// The server said so, or the connection to it broke.
    Server(tokio_postgres::Error),
    /// There was no connection to be had.
    Pool(PoolError),
    /// What is stored is none of ours.
    Damage(String),
    /// The answer of the store.
    Refused(StoreError),
    /// The same call was repeated while it ran, and the other one was the first. It runs again, and gets that one's answer.
    Overtaken,
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

impl From<PoolError> for Fault {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => Self::Server(error),
            other => Self::Pool(other),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

/// What to do about a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    /// The whole transaction again, on the same connection.
    Again,
    /// The whole transaction again, on another connection: it is not known whether it was committed, and each call tells by
    /// itself whether it was.
    Reconnect,
    /// Nothing: this is the answer.
    Nothing,
}

impl Fault {
    pub(super) fn remedy(&self) -> Remedy {
        match self {
            Self::Overtaken | Self::Pool(PoolError::Timeout(_)) => Remedy::Again,
            Self::Damage(_) | Self::Refused(_) | Self::Pool(_) => Remedy::Nothing,
            Self::Server(error) => match error.code() {
                None => of_connection(error),
                Some(code) => of_state(code),
            },
        }
    }

    /// The answer, for a store at this address.
    pub(super) fn answer(self, address: &str) -> StoreError {
        let at = |kind, code| StoreError::new(kind, code).with("path", address);
        match self {
            Self::Refused(error) => error,
            Self::Damage(what) => at(ErrorKind::Corrupt, "store_damaged").with("cause", what),
            Self::Overtaken => at(ErrorKind::Unavailable, "store_locked"),
            Self::Pool(error) => at(ErrorKind::Unavailable, "store_unreachable").with("cause", error),
            Self::Server(error) => {
                let (kind, code) = word(&error);
                at(kind, code).with("cause", cause(&error))
            }
        }
    }
}

/// What became of a connection.
fn of_connection(error: &tokio_postgres::Error) -> Remedy {
    // A value that does not fit its Rust type is not the connection's fault; all else that has no code is.
    if is_conversion(error) { Remedy::Nothing } else { Remedy::Reconnect }
}

/// Whether a value was of a type that we do not write.
fn is_conversion(error: &tokio_postgres::Error) -> bool {
    let said = error.to_string();
    said.starts_with("error deserializing column") || said.starts_with("error serializing parameter")
}

fn of_state(code: &SqlState) -> Remedy {
    if [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::TOO_MANY_CONNECTIONS,
    ]
    .contains(code)
    {
        return Remedy::Again;
    }
    // The server stops, starts, or is no longer the one that takes writes; a pooler lost its server (08).
    let reconnects = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::READ_ONLY_SQL_TRANSACTION,
    ];
    if reconnects.contains(code) || code.code().starts_with("08") { Remedy::Reconnect } else { Remedy::Nothing }
}

fn word(error: &tokio_postgres::Error) -> (ErrorKind, &'static str) {
    let Some(code) = error.code() else {
        return match error {
            error if is_conversion(error) => (ErrorKind::Corrupt, "store_damaged"),
            error if error.to_string().starts_with("error performing TLS handshake") => {
                (ErrorKind::Unavailable, "store_tls")
            }
            error if error.to_string().starts_with("authentication error") => (ErrorKind::Invalid, "store_refuses"),
            _ => (ErrorKind::Unavailable, "store_unreachable"),
        };
    };
    match code.code() {
        super::moved::REFUSED => (ErrorKind::Conflict, "store_moved"),
        "53100" => (ErrorKind::Unavailable, "store_full"),
        "40001" | "40P01" | "55P03" => (ErrorKind::Unavailable, "store_locked"),
        "25006" => (ErrorKind::Unavailable, "store_not_writable"),
        "3D000" => (ErrorKind::Invalid, "store_no_database"),
        "42501" | "28000" | "28P01" => (ErrorKind::Invalid, "store_refuses"),
        // A table that is gone, a broken constraint, a page that cannot be read.
        "XX001" | "XX002" => (ErrorKind::Corrupt, "store_damaged"),
        code if code.starts_with("23") || code.starts_with("42") || code.starts_with("22") => {
            (ErrorKind::Corrupt, "store_damaged")
        }
        _ => (ErrorKind::Unavailable, "store_unreachable"),
    }
}

/// The server's sentence with its code, by which its manual is searched; or what became of the connection.
fn cause(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => {
            let place = said.constraint().or(said.table()).map(|name| format!(", {name}")).unwrap_or_default();
            format!("{} (PostgreSQL {}{place})", said.message(), said.code().code())
        }
        None => {
            let mut words = error.to_string();
            let mut source = std::error::Error::source(error);
            while let Some(cause) = source {
                let more = cause.to_string();
                if !words.contains(&more) {
                    words = format!("{words}: {more}");
                }
                source = cause.source();
            }
            words
        }
    }
}
