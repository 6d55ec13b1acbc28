//! Putting a backup in the place of a store.
//!
//! What is to stand there is made whole first, under another name in the same folder: copied, checked to its last page,
//! brought up to date, marked as restored. Then the old store is shut (nobody has it open, and nobody gets it), kept under a
//! name of its own, and one rename puts the new file in its place. A process that is killed at any moment leaves the old
//! store or the new one.
//!
//! What an old log holds belongs to the old file and would be played into the new one, so it must be gone before; and while
//! the old file stands there without its log, it lacks its last commits. So a copy of the old store with its log folded in
//! takes the old file's place first: with or without the log beside it, that copy is the same store.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::store::{ErrorKind, StoreError};

use super::backup::{Stage, as_backup, forget_cached};
use super::check::{self, Sound};
use super::connection::Wait;
use super::create::{self, FOLDED, RESTORE, Temporary};
use super::file::Found;
use super::locks::{self, Exclusive};
use super::{Options, connection, error, file, migrate, processes, refuse_network, restored, take_over};

/// A store that was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredFile {
    /// Where what stood there before is kept; `None` where there was nothing.
    pub kept: Option<PathBuf>,
    /// When the backup was taken: all that was answered before is in it. `None` where it does not say.
    pub taken_at: Option<Timestamp>,
    /// When the newest delivery in it was received; `None` where there is none.
    pub newest_at: Option<Timestamp>,
    /// The mark that the store bears from now on.
    pub restored_at: Timestamp,
    /// Jobs that were running when the backup was taken, and wait again.
    pub leases_voided: u64,
    /// Events in it.
    pub events: u64,
    /// The schema's version of the backup.
    pub schema_from: u32,
    /// The schema's version now.
    pub schema: u32,
}

/// Bytes copied at a time.
const CHUNK: u64 = 8 << 20;

/// Makes the backup `from` the store at `path`. The backup is only read, byte by byte; no side file of it is made.
///
/// What stands at `path` is kept as `NAME.before-restore-TIME`, its log beside it as `NAME.before-restore-TIME-wal`. A file
/// that is damaged, empty or no database is replaced too; the database of another program is not. `stage` is told before
/// each step.
///
/// # Errors
/// `store_in_use`; `backup_…` for what is wrong with the backup; `store_foreign`, `store_article` and others for what stands
/// at `path` and may not be replaced; why something cannot be read or written. The old store is then as it was.
pub fn restore(path: &Path, from: &Path, options: &Options, stage: &dyn Fn(Stage)) -> Result<RestoredFile, StoreError> {
    // A link stays: what it points to is replaced.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut restored = restore_real(&real, from, options, stage).map_err(|failed| match failed.fact("path") {
        Some(named) if Path::new(named) == real => about(path, failed),
        _ => failed,
    })?;
    if !path.is_symlink() {
        // Told as it was asked for.
        let name = restored.kept.as_ref().and_then(|kept| kept.file_name().map(OsStr::to_owned));
        restored.kept = name.map(|name| path.with_file_name(name));
    }
    Ok(restored)
}

fn restore_real(
    path: &Path,
    from: &Path,
    options: &Options,
    stage: &dyn Fn(Stage),
) -> Result<RestoredFile, StoreError> {
    refuse_target(path, &options.wait())?;
    refuse_network(path, options)?;
    inspect_backup(path, from, options)?;
    // To say so before much is copied; what counts is the second look.
    drop(shut(path)?);
    create::clear_abandoned(path, RESTORE);
    create::clear_abandoned(path, FOLDED);
    drop_second_names(path);

    let temporary = Temporary::new(path, RESTORE, options).map_err(|cause| error::io(path, &cause))?;
    copy_bytes(path, from, &temporary.path, options, stage)?;
    stage(Stage::Check);
    forget_cached(&temporary.path).map_err(|cause| error::io(path, &cause))?;
    let sound = check::whole(&temporary.path, &options.patience).map_err(|failed| as_backup(from, failed))?;
    stage(Stage::Prepare);
    let mark = prepare(&temporary.path, sound, options).map_err(|failed| about(path, failed))?;
    let kept = replace(path, &temporary.path, options, stage)?;
    Ok(RestoredFile {
        kept,
        taken_at: sound.backed_up_at.map(Timestamp::from_micros),
        newest_at: sound.newest_at.map(Timestamp::from_micros),
        restored_at: mark.restored_at.unwrap_or_else(|| options.clock.now()),
        leases_voided: mark.leases_voided,
        events: sound.events,
        schema_from: sound.version,
        schema: options.migrations.len() as u32,
    })
}

/// Refuses what may not be replaced: what is not ours and is sound, and what is no file.
fn refuse_target(path: &Path, wait: &Wait) -> Result<(), StoreError> {
    match file::inspect(path) {
        Ok(Found::Absent | Found::Store | Found::Claimed) => Ok(()),
        Ok(Found::Unsigned) => match take_over::recognise(path, wait)? {
            Some(_) => Err(error::at(path, ErrorKind::Invalid, "store_article")),
            None => Ok(()),
        },
        Err(failed) if ["store_empty_file", "store_not_sqlite", "store_wal_orphan"].contains(&failed.code) => Ok(()),
        Err(failed) => Err(failed),
    }
}

/// Refuses what cannot be a backup, by its name and its header.
fn inspect_backup(path: &Path, from: &Path, options: &Options) -> Result<(), StoreError> {
    if file::identity(from).is_some() && file::identity(from) == file::identity(path) {
        return Err(error::at(from, ErrorKind::Invalid, "backup_is_store"));
    }
    match file::inspect(from) {
        Ok(Found::Store | Found::Claimed) => {}
        Ok(Found::Absent) => return Err(error::at(from, ErrorKind::Invalid, "backup_missing")),
        Ok(Found::Unsigned) => return Err(error::at(from, ErrorKind::Corrupt, "backup_not_ours")),
        Err(failed) => {
            return Err(match failed.code {
                "store_parent_missing" => error::at(from, ErrorKind::Invalid, "backup_missing"),
                "store_empty_file" | "store_not_sqlite" | "store_foreign" | "store_not_a_file" | "store_wal_orphan" => {
                    error::at(from, ErrorKind::Corrupt, "backup_not_ours")
                }
                _ => as_backup(from, failed),
            });
        }
    }
    for ending in ["-wal", "-journal"] {
        if file::length_of_side(from, ending) > 0 {
            let log = file::beside(from, ending);
            return Err(error::at(from, ErrorKind::Invalid, "backup_has_log").with("wal", log.display()));
        }
    }
    let header = file::read_header(from).map_err(|cause| as_backup(from, error::read(from, &cause)))?;
    let found = header.map_or(0, |header| header.user_version);
    let known = options.migrations.len() as u32;
    if found > known {
        return Err(error::at(from, ErrorKind::Invalid, "backup_newer").with("found", found).with("known", known));
    }
    Ok(())
}

fn copy_bytes(path: &Path, from: &Path, to: &Path, options: &Options, stage: &dyn Fn(Stage)) -> Result<(), StoreError> {
    let mut source = File::open(from).map_err(|cause| as_backup(from, error::read(from, &cause)))?;
    let of = source.metadata().map_err(|cause| as_backup(from, error::read(from, &cause)))?.len();
    let mut target = OpenOptions::new().write(true).open(to).map_err(|cause| error::io(path, &cause))?;
    let mut done = 0;
    loop {
        stage(Stage::Copy { done, of });
        if options.patience.is_over() {
            return Err(StoreError::new(ErrorKind::Unavailable, "interrupted"));
        }
        match io::copy(&mut (&mut source).take(CHUNK), &mut target).map_err(|cause| error::io(path, &cause))? {
            0 => return Ok(()),
            copied => done += copied,
        }
    }
}

/// Makes a store of the copy: of the present schema, marked, at home in its file.
fn prepare(copy: &Path, sound: Sound, options: &Options) -> Result<cola_ia_core::store::Restored, StoreError> {
    let sqlite = |cause: rusqlite::Error| error::sqlite(copy, &cause);
    let connection = connection::open_writer(copy, &options.wait())?;
    let made_ready = || -> rusqlite::Result<_> {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for step in options.migrations.iter().skip(sound.version as usize) {
            migrate::apply(&connection, step)?;
        }
        let now = options.clock.now();
        let mark = restored::set(&connection, now, now, options.fold_after)?;
        super::home::settle(&connection, copy)?;
        connection.execute_batch("COMMIT")?;
        Ok(mark)
    };
    let mark = made_ready().map_err(sqlite)?;
    // As the only one it moves the log into the file and removes it.
    connection.close().map_err(|(_, cause)| sqlite(cause))?;
    File::open(copy).and_then(|file| file.sync_all()).map_err(|cause| error::io(copy, &cause))?;
    Ok(mark)
}

/// An error of the temporary file, about the store that it was for.
fn about(path: &Path, mut failed: StoreError) -> StoreError {
    for (name, value) in &mut failed.facts {
        if *name == "path" {
            *value = path.display().to_string();
        }
    }
    failed
}

/// Makes sure that nobody else has the store open, and that nobody gets it while the answer lives. `None`: there is no file.
fn shut(path: &Path) -> Result<Option<Exclusive>, StoreError> {
    let locked = match locks::exclude(path) {
        Ok(Some(lock)) => Some(lock),
        Ok(None) => return Err(in_use(path)),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => None,
        Err(cause) => return Err(error::io(path, &cause)),
    };
    // Who has opened it and has read nothing yet has no lock.
    if !processes::with_open(path).is_empty() {
        return Err(in_use(path));
    }
    Ok(locked)
}

/// Somebody has the store open: who, where the system tells.
fn in_use(path: &Path) -> StoreError {
    let open = processes::with_open(path);
    if open.is_empty() {
        return error::at(path, ErrorKind::Unavailable, "store_in_use_unseen");
    }
    error::at(path, ErrorKind::Unavailable, "store_in_use").with("who", processes::listed(&open))
}

/// What a restore wrote beside the store before it put anything in its place.
struct Kept {
    file: PathBuf,
    made: Vec<PathBuf>,
}

impl Kept {
    /// Takes back what was kept: the store still stands there itself.
    fn take_back(&self) {
        for made in &self.made {
            let _ = fs::remove_file(made);
        }
    }
}

fn replace(
    path: &Path,
    temporary: &Path,
    options: &Options,
    stage: &dyn Fn(Stage),
) -> Result<Option<PathBuf>, StoreError> {
    let io = |cause: io::Error| error::io(path, &cause);
    let lock = shut(path)?;
    if lock.is_none() {
        return place_anew(path, temporary, options, stage);
    }
    let folded = folded(path, options)?;
    stage(Stage::Keep);
    let kept = keep(path, options).map_err(io)?;
    let switched = switch(path, temporary, folded.as_ref(), stage);
    if switched.is_err() && file::identity(path).is_some() && file::identity(path) == file::identity(&kept.file) {
        kept.take_back();
    }
    switched.map_err(io)?;
    stage(Stage::Placed);
    drop(lock);
    Ok(Some(kept.file))
}

/// The steps that other processes can see. After each of them the old store or the new one stands there, whole.
fn switch(path: &Path, temporary: &Path, folded: Option<&Folded>, stage: &dyn Fn(Stage)) -> io::Result<()> {
    if let Some(folded) = folded {
        stage(Stage::Fold);
        fs::rename(&folded.temporary.path, path)?;
        sync_folder(path)?;
    }
    stage(Stage::Clear);
    clear_sides(path)?;
    stage(Stage::Place);
    fs::rename(temporary, path)?;
    sync_folder(path)
}

/// Where there was no file: a log that was left alone is kept, and nothing that appears meanwhile is replaced.
fn place_anew(
    path: &Path,
    temporary: &Path,
    options: &Options,
    stage: &dyn Fn(Stage),
) -> Result<Option<PathBuf>, StoreError> {
    let io = |cause: io::Error| error::io(path, &cause);
    stage(Stage::Keep);
    let name = free_name(path, options);
    let mut kept = None;
    for ending in ["-wal", "-journal"] {
        if file::length_of_side(path, ending) > 0 {
            let side = file::beside(&name, ending);
            fs::rename(file::beside(path, ending), &side).map_err(io)?;
            kept = Some(side);
        }
    }
    stage(Stage::Clear);
    clear_sides(path).map_err(io)?;
    stage(Stage::Place);
    if !create::publish(temporary, path).map_err(io)? {
        return Err(in_use(path));
    }
    stage(Stage::Placed);
    Ok(kept)
}

/// A copy of the old store with its log folded in, for this process alone.
struct Folded {
    temporary: Temporary,
    _lock: Exclusive,
}

/// Folds a copy. `None`: there is no log, or what stands there is so damaged that SQLite cannot read it.
fn folded(path: &Path, options: &Options) -> Result<Option<Folded>, StoreError> {
    let sides: Vec<&str> =
        ["-wal", "-journal"].into_iter().filter(|ending| file::length_of_side(path, ending) > 0).collect();
    if sides.is_empty() {
        return Ok(None);
    }
    let io = |cause: io::Error| error::io(path, &cause);
    let temporary = Temporary::new(path, FOLDED, options).map_err(io)?;
    let copy = &temporary.path;
    for ending in ["", "-wal", "-journal"].iter().filter(|ending| ending.is_empty() || sides.contains(ending)) {
        copy_file(&file::beside(path, ending), &file::beside(copy, ending)).map_err(io)?;
    }
    match fold(copy).map_err(|cause| error::sqlite(path, &cause)) {
        Ok(()) => {}
        Err(damaged) if damaged.kind == ErrorKind::Corrupt => return Ok(None),
        Err(other) => return Err(other),
    }
    File::open(copy).and_then(|file| file.sync_all()).map_err(io)?;
    let Some(lock) = locks::exclude(copy).map_err(io)? else { return Ok(None) };
    Ok(Some(Folded { temporary, _lock: lock }))
}

fn fold(copy: &Path) -> rusqlite::Result<()> {
    let connection = connection::open_plain(copy)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    connection.close().map_err(|(_, cause)| cause)
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut target = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to)?;
    io::copy(&mut File::open(from)?, &mut target)?;
    target.sync_all()
}

const KEPT: &str = ".before-restore-";

/// Gives what stands there a second name, or, where the filesystem has no such thing, a copy.
fn keep(path: &Path, options: &Options) -> io::Result<Kept> {
    let name = free_name(path, options);
    let mut kept = Kept { file: name.clone(), made: Vec::new() };
    let kept_all = ["-wal", "-journal", ""].into_iter().try_for_each(|ending| {
        if !ending.is_empty() && file::length_of_side(path, ending) == 0 {
            return Ok(());
        }
        let (from, to) = (file::beside(path, ending), file::beside(&name, ending));
        if fs::hard_link(&from, &to).is_err() {
            copy_file(&from, &to)?;
        }
        kept.made.push(to);
        Ok(())
    });
    match kept_all.and_then(|()| sync_folder(path)) {
        Ok(()) => Ok(kept),
        Err(failed) => {
            kept.take_back();
            Err(failed)
        }
    }
}

/// `NAME.before-restore-20260131T210000Z`, or with a number behind it.
fn free_name(path: &Path, options: &Options) -> PathBuf {
    let instant: String = options
        .clock
        .now()
        .to_rfc3339()
        .chars()
        .filter(|c| !matches!(c, '-' | ':'))
        .take_while(|c| *c != '.')
        .collect();
    let taken = |name: &Path| {
        ["", "-wal", "-journal"].iter().any(|ending| fs::symlink_metadata(file::beside(name, ending)).is_ok())
    };
    let first = file::beside(path, &format!("{KEPT}{instant}Z"));
    let numbered = (2..).map(|number: u32| file::beside(&first, &format!(".{number}")));
    std::iter::once(first.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(first)
}

/// Second names of the store as it stands there, which a restore left that was killed before it put anything in its place.
pub(super) fn second_names(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(file::folder_of(path)) else { return Vec::new() };
    let mut prefix = path.file_name().unwrap_or(OsStr::new("")).to_owned();
    prefix.push(KEPT);
    let is_ours = |name: &OsStr| name.as_encoded_bytes().starts_with(prefix.as_encoded_bytes());
    let mine: Vec<_> = ["", "-wal", "-journal"].iter().filter_map(|e| file::identity(&file::beside(path, e))).collect();
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| is_ours(&entry.file_name()))
        .map(|entry| entry.path())
        .filter(|name| file::identity(name).is_some_and(|identity| mine.contains(&identity)))
        .collect();
    found.sort_unstable();
    found
}

fn drop_second_names(path: &Path) {
    for name in second_names(path) {
        // What it names stays under the store's own name.
        let _ = fs::remove_file(name);
    }
}

fn clear_sides(path: &Path) -> io::Result<()> {
    for ending in ["-wal", "-shm", "-journal"] {
        match fs::remove_file(file::beside(path, ending)) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
            _ => {}
        }
    }
    sync_folder(path)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(file::folder_of(path))?.sync_all()
}
