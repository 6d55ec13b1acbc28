//! Where things are: the repository's root and cargo's output folder.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Attempt, Failure};

/// The checkout that this program was started for.
pub(crate) struct Repository {
    root: PathBuf,
    target: PathBuf,
}

impl Repository {
    /// The root is the parent of this crate; the output folder is the one this program was built into, whatever decided that.
    pub(crate) fn find() -> Result<Self, Failure> {
        let manifest_folder =
            env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest_folder
            .parent()
            .map(Path::to_path_buf)
            .ok_or_else(|| Failure::new(format!("{} has no parent folder", manifest_folder.display())))?;
        let program = env::current_exe().attempt(|| "where is this program".to_owned())?;
        let target = program
            .parent()
            .and_then(Path::parent)
            .map(Path::to_path_buf)
            .ok_or_else(|| Failure::new(format!("{} is not in a build folder", program.display())))?;
        Ok(Self { root, target })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// The cargo that started this program, run from the root.
    pub(crate) fn cargo<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut cargo = self.command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(arguments);
        cargo
    }

    /// Any program, run from the root.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }
}
