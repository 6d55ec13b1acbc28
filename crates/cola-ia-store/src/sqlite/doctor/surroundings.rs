//! The folder, the disk, the log, and who uses them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rusqlite::Connection;

use super::{Finding, Severity};
use crate::sqlite::processes::{self, Process};
use crate::sqlite::{create, file, filesystem, restore};

/// Below this a commit may find no room: the log alone may take 128 MiB.
const DISK_LOW: u64 = 256 << 20;
/// A log of more than this is not emptied as it should be: somebody reads an old state, or reads without a pause.
const LOG_LARGE: u64 = 256 << 20;
/// Of so much that was written since, a reader has kept the log from starting anew.
const READER_OLD: u64 = 64 << 20;

/// The filesystem, the room on it, and what killed processes left.
pub(super) fn folder(path: &Path, findings: &mut Vec<Finding>) {
    let folder = file::folder_of(path);
    let name = filesystem::name(folder);
    if let Some(name) = name {
        let (severity, code) = match name {
            "tmpfs" | "overlayfs" => (Severity::Note, "filesystem_passing"),
            "FUSE" => (Severity::Note, "filesystem_fuse"),
            _ => (Severity::Ok, "filesystem"),
        };
        findings.push(Finding::new(severity, code).text("filesystem", name));
    }

    if let Ok(free) = filesystem::free_bytes(folder) {
        let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
        let (severity, code) = match free {
            free if free < DISK_LOW => (Severity::Warning, "disk_low"),
            free if free < size => (Severity::Note, "disk_tight"),
            _ => (Severity::Ok, "disk"),
        };
        findings.push(Finding::new(severity, code).number("free_bytes", free));
    }
    for kind in [create::NEW, create::BACKUP, create::RESTORE, create::FOLDED] {
        for left in create::abandoned(path, kind) {
            let bytes = fs::metadata(&left).map_or(0, |metadata| metadata.len());
            findings.push(Finding::new(Severity::Note, "leftover").text("path", left.display()).number("bytes", bytes));
        }
    }
    for partial in partial_copies(path) {
        let bytes = fs::metadata(&partial).map_or(0, |metadata| metadata.len());
        findings.push(Finding::new(Severity::Note, "leftover").text("path", partial.display()).number("bytes", bytes));
    }
    for name in restore::second_names(path) {
        findings.push(Finding::new(Severity::Warning, "second_name").text("path", name.display()));
    }
    if fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o077 != 0) {
        findings.push(Finding::new(Severity::Note, "readable_by_others").text("path", path.display()));
    }
}

/// Copies before an upgrade or a take-over that nobody finished.
fn partial_copies(path: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs::read_dir(file::folder_of(path)) else { return Vec::new() };
    let Some(name) = path.file_name() else { return Vec::new() };
    let is_ours = |other: &[u8]| {
        other
            .strip_prefix(name.as_encoded_bytes())
            .is_some_and(|rest| rest.starts_with(b".") && rest.ends_with(b".partial"))
    };
    let is_old = |entry: &fs::DirEntry| {
        let age = entry.metadata().ok().and_then(|metadata| metadata.modified().ok()?.elapsed().ok());
        age.is_some_and(|age| age > create::ABANDONED_AFTER)
    };
    entries
        .flatten()
        .filter(|entry| is_ours(entry.file_name().as_encoded_bytes()) && is_old(entry))
        .map(|entry| entry.path())
        .collect()
}

/// Who has the store open, and who reads an old state of it.
pub(super) fn users(path: &Path, readers: &[(Process, u64)], findings: &mut Vec<Finding>) {
    let users = processes::with_open(path);
    if !users.is_empty() {
        findings.push(Finding::new(Severity::Ok, "in_use").text("who", processes::listed(&users)));
    }
    let page_bytes = file::read_header(path).ok().flatten().map_or(0, |header| header.page_bytes);
    for (reader, pages) in readers {
        let behind = pages.saturating_mul(page_bytes);
        if behind >= READER_OLD {
            findings
                .push(Finding::new(Severity::Warning, "reader_old").text("who", reader).number("behind_bytes", behind));
        }
    }
}

/// Whether the file is as long as it says. One that is in use may differ, for a moment, while its log is moved into it.
pub(super) fn size(path: &Path, findings: &mut Vec<Finding>) {
    let Ok(metadata) = fs::metadata(path) else { return };
    let Ok(Some(header)) = file::read_header(path) else { return };
    let expected = header.pages.saturating_mul(header.page_bytes);
    let has_log = file::length_of_side(path, "-wal") > 0;
    let finding = match metadata.len() {
        length if length == expected || has_log => Finding::new(Severity::Ok, "file"),
        length if length < expected => Finding::new(Severity::Error, "file_cut").number("expected_bytes", expected),
        _ => Finding::new(Severity::Warning, "file_longer").number("expected_bytes", expected),
    };
    findings.push(finding.number("bytes", metadata.len()));
}

/// How large the log is, and how much of it is not in the file yet.
pub(super) fn log(connection: &Connection, path: &Path, findings: &mut Vec<Finding>) {
    let bytes = file::length_of_side(path, "-wal");
    let waiting: Option<i64> = connection
        .query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?))
        .ok()
        .filter(|pages| *pages >= 0);
    let page_bytes = file::read_header(path).ok().flatten().map_or(0, |header| header.page_bytes as i64);
    let (severity, code) = if bytes > LOG_LARGE { (Severity::Warning, "log_large") } else { (Severity::Ok, "log") };
    let finding = Finding::new(severity, code).number("bytes", bytes);
    let waiting = waiting.map_or(0, |pages| pages.saturating_mul(page_bytes));
    let finding = finding.number("waiting_bytes", waiting);
    findings.push(finding);
}
