//! Small disks, read-only ones: in a mount namespace of their own, seen by one shell script each.

use std::fs;

use nix::unistd::Uid;

use super::{PROGRAM, Place, check_exit, has_tool};

/// Runs a script that may mount: `mnt` is an empty folder in it, `$PROGRAM` the program.
///
/// Answers whether it could be run.
pub(crate) fn run_with_mounts(place: &Place, script: &str) -> bool {
    let unshare = || {
        let mut command = place.tool("unshare");
        command.args(if Uid::effective().is_root() { &["-m"][..] } else { &["-r", "-m"] });
        command
    };
    let probe = "mkdir -p probe && mount -t tmpfs -o size=1m none probe && umount probe";
    if !has_tool("unshare with mount", unshare().args(["sh", "-c", probe])) {
        return false;
    }
    fs::create_dir(place.path("mnt")).unwrap();
    let mut command = unshare();
    let output = command.args(["sh", "-eu", "-c", script]).env("PROGRAM", PROGRAM).output().unwrap();
    check_exit(&output, 0);
    true
}
