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

/// Asks the operating system about the folder.
///
/// # Errors
/// What statfs(2) says.
#[cfg(target_os = "linux")]
pub fn probe(folder: &Path) -> io::Result<Filesystem> {
    let found = nix::sys::statfs::statfs(folder)?.filesystem_type().0;
    // The field is 32 bits wide on some machines and signed on others.
    let found = i64::from(found as u32);
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
