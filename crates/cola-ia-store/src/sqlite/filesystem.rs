//! Filesystems on which SQLite's locks or its shared memory cannot be trusted.

use std::io;
use std::path::Path;

/// What kind of filesystem holds a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filesystem {
    /// Of this machine, or not known to be otherwise.
    Local,
    /// Of another machine: two machines can hold "the lock" at once, and the write-ahead log needs memory that they share.
    Network(&'static str),
}

/// Magic numbers of statfs(2) and of the kernel's `linux/magic.h`. FUSE is left out: local ones are common, and what stands
/// behind one cannot be seen from here.
const NETWORK: [(i64, &str); 14] = [
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB2"),
    (0x564C, "NCP"),
    (0x5346_414F, "AFS"),
    (0x6B41_4653, "kAFS"),
    (0x7375_7245, "Coda"),
    (0x00C3_6400, "Ceph"),
    (0x0102_1997, "9P"),
    (0x0BD0_0BD0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x0116_1970, "GFS2"),
    (0x7461_636F, "OCFS2"),
];

/// Names of local ones, for people.
const LOCAL: [(i64, &str); 9] = [
    (0xEF53, "ext4"),
    (0x5846_5342, "XFS"),
    (0x9123_683E, "Btrfs"),
    (0xF2F5_2010, "F2FS"),
    (0x2FC1_2FC1, "ZFS"),
    (TMPFS, "tmpfs"),
    (OVERLAY, "overlayfs"),
    (FUSE, "FUSE"),
    (0x4D44, "FAT"),
];
const TMPFS: i64 = 0x0102_1994;
const OVERLAY: i64 = 0x794C_7630;
const FUSE: i64 = 0x6573_5546;

/// What kind of filesystem a folder is on, by its usual name; `None` where that is not known.
#[cfg(target_os = "linux")]
pub(super) fn name(folder: &Path) -> Option<&'static str> {
    let found = magic(folder).ok()?;
    NETWORK.iter().chain(&LOCAL).find(|(magic, _)| *magic == found).map(|(_, name)| *name)
}

/// Elsewhere nothing is known.
#[cfg(not(target_os = "linux"))]
pub(super) fn name(_folder: &Path) -> Option<&'static str> {
    let _ = (LOCAL, TMPFS, OVERLAY, FUSE);
    None
}

/// Whether a file keeps its number there for as long as it lives. Layered and FUSE filesystems make theirs up.
pub(super) fn keeps_inodes(folder: &Path) -> bool {
    !matches!(name(folder), Some("FUSE" | "overlayfs" | "FAT"))
}

#[cfg(target_os = "linux")]
fn magic(folder: &Path) -> io::Result<i64> {
    let found = nix::sys::statfs::statfs(folder)?.filesystem_type().0;
    // The field is 32 bits wide on some machines and signed on others.
    Ok(i64::from(found as u32))
}

/// Bytes that a user who is not root can still write in the folder.
///
/// # Errors
/// What statvfs(3) says.
pub(super) fn free_bytes(folder: &Path) -> io::Result<u64> {
    let found = nix::sys::statvfs::statvfs(folder)?;
    // Types differ between systems.
    #[allow(clippy::useless_conversion, clippy::unnecessary_cast, reason = "types differ between systems")]
    Ok((found.blocks_available() as u64).saturating_mul(found.fragment_size() as u64))
}

/// Asks the operating system about the folder.
///
/// # Errors
/// What statfs(2) says.
#[cfg(target_os = "linux")]
pub fn probe(folder: &Path) -> io::Result<Filesystem> {
    let found = magic(folder)?;
    let network = NETWORK.iter().find(|(magic, _)| *magic == found);
    Ok(network.map_or(Filesystem::Local, |(_, name)| Filesystem::Network(name)))
}

/// Elsewhere nothing is known.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn probe(_folder: &Path) -> io::Result<Filesystem> {
    let _ = NETWORK;
    Ok(Filesystem::Local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_this_machine_is_local() {
        assert_eq!(probe(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap(), Filesystem::Local);
    }
}
