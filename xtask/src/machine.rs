//! What this machine is: who runs here, how packages come in, and the line that a benchmark starts with.

use std::env;
use std::fs;
use std::path::PathBuf;

/// The path of a program on `PATH`, as a shell would find it.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| is_executable(path))
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
    fn program_is_found_on_the_path_and_a_folder_is_none() {
        assert!(find_program("sh").is_some());
        assert!(find_program(".").is_none());
        assert!(find_program("no-such-program-here").is_none());
    }
}
