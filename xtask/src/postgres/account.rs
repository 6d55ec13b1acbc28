//! Who the servers run as. PostgreSQL and PgBouncer refuse root, so root starts them as somebody who owns nothing else here.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::failure::{Attempt, Failure};
use crate::machine;
use crate::run;

/// Taken in this order.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

/// User and group; `None`: whoever runs this.
#[derive(Debug, Clone, Copy)]
pub(super) struct Account(Option<(u32, u32)>);

impl Account {
    /// The account that servers started from here have.
    ///
    /// # Errors
    /// If this is root and the machine knows nobody else.
    pub(super) fn of_servers() -> Result<Self, Failure> {
        if !machine::is_root() {
            return Ok(Self(None));
        }
        let users = fs::read_to_string("/etc/passwd").attempt(|| "read /etc/passwd".to_owned())?;
        let found = UNPRIVILEGED.iter().find_map(|name| ids(&users, name));
        found.map(|ids| Self(Some(ids))).ok_or_else(|| {
            Failure::new(format!(
                "PostgreSQL does not run as root, and there is no user {} to run it as",
                UNPRIVILEGED.join(" or ")
            ))
        })
    }

    /// A program run as this account in a folder, with nothing of this process's environment but where programs are: variables
    /// such as `PGOPTIONS` would make another server of it.
    pub(super) fn command(self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).env_clear().env("LC_ALL", "C");
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        if let Some((user, group)) = self.0 {
            // The standard library lets go of root's other groups with these.
            command.uid(user).gid(group);
        }
        command
    }

    /// Gives a file or folder to this account.
    pub(super) fn own(self, path: &Path) -> Result<(), Failure> {
        let Some((user, group)) = self.0 else { return Ok(()) };
        chown(path, Some(user), Some(group)).attempt(|| format!("give {} to another user", path.display()))
    }

    /// Whether this account gets as far as this folder and can write there: a clone may lie below one that is closed to it.
    pub(super) fn can_use(self, folder: &Path) -> bool {
        run::succeeds(self.command(Path::new("/bin/sh"), folder).args(["-c", "test -w \"$0\""]).arg(folder))
    }
}

/// User and group of a name in passwd(5).
fn ids(users: &str, name: &str) -> Option<(u32, u32)> {
    let mut fields = users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.split(':');
    let (user, group) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
    (user != 0).then_some((user, group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_group_are_read_by_the_whole_name() {
        let users = "root:x:0:0::/root:/bin/sh\npostgresql:x:7:8::/:/bin/sh\npostgres:x:101:104::/:/bin/sh\n";
        assert_eq!(ids(users, "postgres"), Some((101, 104)));
        assert_eq!(ids(users, "nobody"), None);
        assert_eq!(ids(users, "root"), None, "root under whatever name is not unprivileged");
    }
}
