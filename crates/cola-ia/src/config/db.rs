//! Where the store is: a file, or a schema of a database.

use std::fmt;
use std::path::{Path, PathBuf};

use cola_ia_store::postgres::Address;

/// Where the store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Db {
    /// A file of SQLite, as seen from the working folder.
    File(PathBuf),
    /// A schema of a database in PostgreSQL.
    Postgres(Box<Address>),
}

impl Db {
    /// The file, where it is one.
    pub fn file(&self) -> Option<&Path> {
        if let Self::File(path) = self { Some(path) } else { None }
    }

    /// The path that private files of this store stand beside: the file's own, or one in the working folder that is named after
    /// the schema.
    pub fn base(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            // A name of a schema can hold what means something in a path.
            Self::Postgres(address) => address
                .schema()
                .chars()
                .map(|c| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' })
                .collect::<String>()
                .into(),
        }
    }
}

/// For people, without a password.
impl fmt::Display for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(address) => address.fmt(f),
        }
    }
}

impl Default for Db {
    fn default() -> Self {
        Self::File(PathBuf::new())
    }
}
