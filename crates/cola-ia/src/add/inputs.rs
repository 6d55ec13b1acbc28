//! What is read: looked at before anything enters, opened one after the other.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::cli::Problem;
use crate::cli::add::Input;
use crate::lang::Message;
use crate::print::shell_path;

/// Looks at every input before the first is read: a misspelt name among many should not leave half of them entered.
///
/// Answers their size together, for a progress bar; `None` where one has none.
///
/// # Errors
/// One is missing, cannot be opened, is a folder, or is the store or the rejects file itself; or the rejects would go into
/// the store, into a folder or into one that is missing.
pub(super) fn check(inputs: &[Input], store: Option<&Path>, rejects: Option<&Path>) -> Result<Option<u64>, Problem> {
    if let (Some(rejects), Some(store)) = (rejects, store)
        && is_of_store(rejects, store)
    {
        return Err(Problem::failed(Message::new("rejects-is-store").with("path", rejects.display())));
    }
    if let Some(rejects) = rejects {
        may_be_written(rejects).map_err(|cause| rejects_not_writable(rejects, &cause))?;
    }
    let mut total = Some(0);
    for input in inputs {
        let Input::File(path) = input else {
            total = regular_size(io::stdin().as_fd().try_clone_to_owned().ok()).and_then(|size| Some(total? + size));
            continue;
        };
        let failed = |cause: io::Error| {
            Problem::failed(Message::new("input-not-readable").with("path", path.display()).caused_by(&cause))
        };
        let metadata = fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            let problem = Problem::failed(Message::new("input-is-folder").with("path", path.display()));
            let pasted = path.to_str().and_then(shell_path).map(|path| path.trim_end_matches('/').to_owned());
            return Err(match pasted {
                Some(path) => problem.hint(Message::new("input-is-folder-hint").with("path", path)),
                None => problem,
            });
        }
        for (other, key) in [(store, "input-is-store"), (rejects, "input-is-rejects")] {
            if other.is_some_and(|other| is_same_file(&metadata, other)) {
                return Err(Problem::failed(Message::new(key).with("path", path.display())));
            }
        }
        // A pipe must not be opened twice: its writer would see its reader go away.
        if metadata.is_file() {
            File::open(path).map_err(failed)?;
            total = total.map(|sum: u64| sum + metadata.len());
        } else {
            total = None;
        }
    }
    Ok(total)
}

/// Finds out early what would fail only at the first refused line, which may be the last of many.
fn may_be_written(rejects: &Path) -> io::Result<()> {
    match fs::metadata(rejects) {
        Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => match rejects.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => fs::metadata(folder).map(drop),
            _ => Ok(()),
        },
        found => found.map(drop),
    }
}

fn rejects_not_writable(path: &Path, cause: &io::Error) -> Problem {
    Problem::failed(Message::new("rejects-not-writable").with("path", path.display()).caused_by(cause))
}

/// Whether a path is the store's file or one that SQLite keeps beside it, there already or not.
fn is_of_store(path: &Path, store: &Path) -> bool {
    let (place, store_place) = (real_place(path), real_place(store));
    let is_beside = ["", "-wal", "-shm", "-journal"].iter().any(|ending| {
        let mut name = store_place.clone().into_os_string();
        name.push(ending);
        place == name
    });
    is_beside || fs::metadata(path).is_ok_and(|metadata| is_same_file(&metadata, store))
}

/// The path without links, also of a file that is not there yet.
fn real_place(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    fs::canonicalize(&absolute).unwrap_or_else(|_| match (absolute.parent(), absolute.file_name()) {
        (Some(folder), Some(name)) => fs::canonicalize(folder).map_or(absolute.clone(), |folder| folder.join(name)),
        _ => absolute,
    })
}

fn is_same_file(metadata: &fs::Metadata, other: &Path) -> bool {
    fs::metadata(other).is_ok_and(|other| (other.dev(), other.ino()) == (metadata.dev(), metadata.ino()))
}

fn regular_size(descriptor: Option<OwnedFd>) -> Option<u64> {
    let metadata = File::from(descriptor?).metadata().ok()?;
    metadata.is_file().then_some(metadata.len())
}

/// An input that is open.
pub(crate) struct OpenInput {
    /// What people call it.
    pub(crate) name: Arc<str>,
    /// Its bytes.
    pub(crate) bytes: Waiting,
    /// Whether it may trickle: a pipe, a terminal, a socket. A regular file has all it has.
    pub(crate) trickles: bool,
}

/// Opens an input.
///
/// # Errors
/// What the operating system says.
pub(crate) fn open(input: &Input) -> io::Result<OpenInput> {
    let (name, file): (Arc<str>, File) = match input {
        Input::Stdin => ("-".into(), File::from(io::stdin().as_fd().try_clone_to_owned()?)),
        Input::File(path) => (path.to_string_lossy().into(), File::open(path)?),
    };
    let kind = file.metadata()?.file_type();
    let trickles = !kind.is_file() && !kind.is_block_device();
    Ok(OpenInput { name, bytes: Waiting { file, trickles, idle_said: false }, trickles })
}

/// How long a pipe may be silent before whoever holds something back is told, in milliseconds.
const SILENCE: u8 = 20;

/// A file that says `WouldBlock` once when it falls silent, and then waits for as long as it takes.
pub(crate) struct Waiting {
    file: File,
    trickles: bool,
    idle_said: bool,
}

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.trickles && !self.idle_said {
            let mut descriptors = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
            // Where it cannot be asked, reading itself waits.
            if let Ok(0) = poll(&mut descriptors, PollTimeout::from(SILENCE)) {
                self.idle_said = true;
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
        self.idle_said = false;
        self.file.read(buffer)
    }
}

/// Whether a file is empty or ends with a line feed. A pipe is taken as empty.
fn ends_a_line(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::FileExt as _;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.read_exact_at(&mut last, metadata.len() - 1)?;
    Ok(last == *b"\n")
}

/// The file of refused lines, made when the first comes, private, and appended to: what an earlier run left is not lost.
pub(super) struct Rejects {
    path: PathBuf,
    file: Option<io::BufWriter<File>>,
    /// Whether what was written last ended a line.
    at_line_start: bool,
    /// Nothing of the present input was written yet.
    at_input_start: bool,
    /// What could not be written; said when the command ends.
    failed: Option<io::Error>,
}

impl Rejects {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, file: None, at_line_start: true, at_input_start: true, failed: None }
    }

    /// Appends. After a failure nothing more is written.
    pub(super) fn write(&mut self, raw: &[u8]) {
        if self.failed.is_none()
            && let Err(cause) = self.try_write(raw)
        {
            self.failed = Some(cause);
        }
    }

    fn try_write(&mut self, raw: &[u8]) -> io::Result<()> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let file = match &mut self.file {
            Some(file) => file,
            place => {
                let file = fs::OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&self.path)?;
                self.at_line_start = ends_a_line(&file)?;
                place.insert(io::BufWriter::new(file))
            }
        };
        if !self.at_line_start && self.at_input_start {
            // What an earlier run or input left unended must not swallow this line.
            io::Write::write_all(file, b"\n")?;
        }
        self.at_input_start = false;
        self.at_line_start = raw.ends_with(b"\n");
        io::Write::write_all(file, raw)
    }

    /// Another input follows: its lines do not go on with what the last one left unended.
    pub(super) const fn next_input(&mut self) {
        self.at_input_start = true;
    }

    /// Hands what is buffered to the operating system.
    pub(super) fn flush(&mut self) {
        if let Some(file) = &mut self.file
            && let Err(cause) = io::Write::flush(file)
        {
            self.failed.get_or_insert(cause);
        }
    }

    /// On the disk, or why not.
    ///
    /// # Errors
    /// The first failure.
    pub(super) fn finish(mut self) -> Result<(), Problem> {
        self.flush();
        if let Some(file) = &self.file
            && let Err(cause) = file.get_ref().sync_all()
        {
            self.failed.get_or_insert(cause);
        }
        match self.failed {
            None => Ok(()),
            Some(cause) => Err(rejects_not_writable(&self.path, &cause)),
        }
    }
}
