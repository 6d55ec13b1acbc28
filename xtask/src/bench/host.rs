//! The line that says on which machine a benchmark ran.

use std::fs;
use std::path::Path;
use std::thread;

/// Cores, processor, kernel, SQLite and the filesystem that the stores are on.
pub(crate) fn describe(folder: &Path) -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cores = thread::available_parallelism().map_or_else(|_| "?".to_owned(), |cores| cores.to_string());
    format!(
        "{cores} cores ({}), {} {}, SQLite {}, {}",
        processor(&read("/proc/cpuinfo")).unwrap_or(std::env::consts::ARCH),
        std::env::consts::OS,
        read("/proc/sys/kernel/osrelease").trim(),
        rusqlite::version(),
        filesystem(&read("/proc/self/mountinfo"), folder).unwrap_or("unknown filesystem"),
    )
}

fn processor(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim())
}

/// The type of the mount that holds `folder`: of mountinfo's lines whose mount point is a parent, the longest; among equals the
/// last, which covers the others.
fn filesystem<'a>(mountinfo: &'a str, folder: &Path) -> Option<&'a str> {
    mountinfo
        .lines()
        .filter_map(|line| {
            let (mount, kind) = line.split_once(" - ")?;
            Some((Path::new(mount.split(' ').nth(4)?), kind.split(' ').next()?))
        })
        .filter(|(point, _)| folder.starts_with(point))
        .max_by_key(|(point, _)| point.components().count())
        .map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filesystem_is_that_of_the_nearest_mount() {
        let mountinfo = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
25 22 0:23 / /tmp rw - tmpfs tmpfs rw
26 22 0:24 / /home/a rw - overlay o rw
27 26 0:25 / /home/a rw - xfs x rw";
        let check = |folder: &str, kind| assert_eq!(filesystem(mountinfo, Path::new(folder)), Some(kind), "{folder}");
        check("/home/b/target", "ext4");
        check("/tmp/x", "tmpfs");
        check("/tmpx", "ext4");
        check("/home/a/x", "xfs");
    }
}
