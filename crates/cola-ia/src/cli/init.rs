//! `init`: a commented `cola-ia.toml` and a store, ready to use.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use cola_ia_core::store::StoreError;

use super::{Exit, Problem, Session};
use crate::config::{CONFIG_VAR, DEFAULT_FILE, Db, Flags, Origin, Settings, Value, commented_file};
use crate::lang::Message;

/// Whether the store was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreMade {
    /// It was made.
    Created,
    /// It was there and can be used.
    AlreadyThere,
}

/// Makes the store where there is none, and then writes the file where there is none: where the store cannot be used, no file
/// is left that names it. Nothing that exists is changed, so that calling twice does nothing more.
///
/// `make_store` opens the store of these settings, or makes it.
///
/// # Errors
/// The file cannot be written, or what `make_store` says.
pub fn run(
    session: &Session,
    flags: &Flags,
    settings: &Settings,
    make_store: impl FnOnce(&Settings) -> Result<StoreMade, StoreError>,
) -> Result<Exit, Problem> {
    let key = match make_store(settings).map_err(|error| Problem::from_store(&error))? {
        StoreMade::Created => "init-store-made",
        StoreMade::AlreadyThere => "init-store-there",
    };
    session.note(&Message::new(key).with("path", &settings.db));
    let file = file_to_write(session, flags);
    let written = write_file(session, &file, settings)?;
    let key = if written { "init-file-written" } else { "init-file-there" };
    session.note(&Message::new(key).with("path", file.display()));
    session.hint(&Message::new("init-next-hint"));
    Ok(Exit::Done)
}

/// The file that `--config` or its variable names, else the one in the working folder.
pub(super) fn file_to_write(session: &Session, flags: &Flags) -> PathBuf {
    let named = flags.config.clone().or_else(|| session.environment.var_os(CONFIG_VAR).map(PathBuf::from));
    named.unwrap_or_else(|| DEFAULT_FILE.into())
}

/// `false` where something is there already. Mode 0600: the file may come to hold secrets.
fn write_file(session: &Session, path: &Path, settings: &Settings) -> Result<bool, Problem> {
    let failed = |error: &std::io::Error| {
        let problem = Problem::failed(Message::new("init-file-failed").with("path", path.display()).caused_by(error));
        if error.kind() == ErrorKind::NotFound { problem.hint(Message::new("init-file-failed-hint")) } else { problem }
    };
    let text = commented_file(&session.lang, &chosen_store(path, settings));
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| failed(&error))?;
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(&error)),
    }
}

/// A store that `--db` names is written down, so that the next command finds it. A path in the file is relative to the
/// file's folder, so it is made absolute where that is not the working one.
fn chosen_store(file: &Path, settings: &Settings) -> Vec<(&'static str, Value)> {
    let by_flag = settings.resolved.iter().any(|one| one.setting.name == "db" && matches!(one.origin, Origin::Flag(_)));
    if !by_flag {
        return Vec::new();
    }
    let beside = file.parent().is_none_or(|folder| folder.as_os_str().is_empty());
    let path = match &settings.db {
        Db::File(path) if beside => path.clone(),
        Db::File(path) => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
        // Without its password, which has a variable.
        Db::Postgres(address) => address.to_string().into(),
    };
    vec![("db", Value::Path(path))]
}
