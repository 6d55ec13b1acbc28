//! What this machine is: who runs here, how packages come in, and the line that a benchmark starts with.

use std::env;
use std::fs;
use std::path::PathBuf;

/// Where servers' programs are that no `PATH` names: Debian keeps each version of PostgreSQL apart.
const POSTGRES_VERSIONS: &str = "/usr/lib/postgresql";
const SYSTEM_FOLDERS: [&str; 2] = ["/usr/local/sbin", "/usr/sbin"];

/// The path of a program on `PATH`, as a shell would find it; else where the system keeps programs of servers.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let system = SYSTEM_FOLDERS.into_iter().map(PathBuf::from);
    let folders = env::split_paths(&path).chain(system).chain(postgres_folders());
    folders.map(|folder| folder.join(name)).find(|path| is_executable(path))
}

/// The folders of PostgreSQL's versions, the newest first.
fn postgres_folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(POSTGRES_VERSIONS).into_iter().flatten().flatten();
    newest_first(entries.map(|entry| entry.path()).collect()).into_iter().map(|folder| folder.join("bin")).collect()
}

fn newest_first(mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let version = |folder: &PathBuf| folder.file_name().and_then(|name| name.to_str()?.parse::<f64>().ok());
    folders.retain(|folder| version(folder).is_some());
    folders.sort_by(|one, other| version(other).partial_cmp(&version(one)).unwrap_or(std::cmp::Ordering::Equal));
    folders
}

#[cfg(unix)]
fn is_executable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &std::path::Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file())
}

/// Whether the effective user is root; `false` where the kernel does not say.
pub(crate) fn is_root() -> bool {
    effective_user(&fs::read_to_string("/proc/self/status").unwrap_or_default()) == Some(0)
}

/// `Uid:` of proc(5) lists real, effective, saved and filesystem user.
fn effective_user(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Whether packages are installed with apt here.
pub(crate) fn is_debian_like() -> bool {
    fs::exists("/etc/debian_version").unwrap_or(false) && find_program("apt-get").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effective_user_is_the_second_number() {
        assert_eq!(effective_user("Name:\tx\nUid:\t1000\t0\t1000\t1000\nGid:\t1\t1\t1\t1\n"), Some(0));
        assert_eq!(effective_user("Uid:\t0\t1000\t0\t0\n"), Some(1000));
        assert_eq!(effective_user(""), None);
    }

    #[test]
    fn newer_versions_come_first_and_other_folders_not_at_all() {
        let folders = ["/p/9.6", "/p/common", "/p/15", "/p/17"].map(PathBuf::from);
        assert_eq!(newest_first(folders.to_vec()), ["/p/17", "/p/15", "/p/9.6"].map(PathBuf::from));
    }

    #[test]
    fn program_is_found_on_the_path_and_a_folder_is_none() {
        assert!(find_program("sh").is_some());
        assert!(find_program(".").is_none());
        assert!(find_program("no-such-program-here").is_none());
    }
}
