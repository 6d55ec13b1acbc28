//! The programs of the machine that the tests need: one table, and how they are found or installed.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::failure::Failure;
use crate::machine;
use crate::run;

/// A program that tests run.
struct Tool {
    name: &'static str,
    /// Which tests need it.
    why: &'static str,
    /// The Debian package that has it.
    package: &'static str,
    /// Arguments with which it exits 0 exactly where it can do what the tests ask of it.
    probe: &'static [&'static str],
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "strace",
        why: "shows that the log is on disk before a verdict is printed",
        package: "strace",
        probe: &["-f", "-o", "/dev/null", "true"],
    },
    Tool {
        name: "unshare",
        why: "gives the disk-full and read-only tests a mount of their own",
        package: "util-linux",
        probe: &["--version"],
    },
    Tool {
        name: "mount",
        why: "mounts the small and read-only filesystems of those tests",
        package: "mount",
        probe: &["--version"],
    },
    Tool {
        name: "sqlite3",
        why: "looks at a store from outside the program",
        package: "sqlite3",
        probe: &["--version"],
    },
    Tool {
        name: "python3",
        why: "runs the article's own script, whose database is taken over",
        package: "python3",
        probe: &["-c", "import sqlite3, hashlib, json"],
    },
    Tool {
        name: "python3",
        why: "from 3.11 on, makes the virtual environment of examples/analizar.py",
        package: "python3-venv",
        probe: &["-c", "import sys, venv, ensurepip; assert sys.version_info >= (3, 11)"],
    },
    Tool { name: "bash", why: "runs the Bash worker of docs/WORKERS.md", package: "bash", probe: &["-c", "true"] },
    Tool { name: "curl", why: "asks model and blog for examples/publicar.sh", package: "curl", probe: &["--version"] },
    Tool { name: "jq", why: "reads their answers", package: "jq", probe: &["--version"] },
    Tool {
        name: "node",
        why: "runs the Node worker of docs/WORKERS.md",
        package: "nodejs",
        probe: &["-e", "process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)"],
    },
    Tool { name: "npm", why: "fetches what the end-to-end tests need", package: "npm", probe: &["--version"] },
    Tool {
        name: "chromium",
        why: "fills in the form of examples/form, twice at once",
        package: "chromium",
        probe: &["--version", "--no-sandbox"],
    },
    Tool {
        name: "initdb",
        why: "lays out the PostgreSQL that the store is tested on",
        package: "postgresql",
        probe: &["--version"],
    },
    Tool { name: "postgres", why: "is that PostgreSQL", package: "postgresql", probe: &["--version"] },
    Tool {
        name: "psql",
        why: "looks at it from outside the program",
        package: "postgresql-client",
        probe: &["--version"],
    },
    Tool { name: "pgbouncer", why: "stands before it as a pooler", package: "pgbouncer", probe: &["--version"] },
    Tool { name: "openssl", why: "makes its certificate", package: "openssl", probe: &["version"] },
];

/// Those of them that the servers of `cargo xtask postgres` are.
const OF_SERVERS: [&str; 4] = ["initdb", "postgres", "pgbouncer", "openssl"];

/// How a tool is on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Works,
    Broken,
    Absent,
}

impl Tool {
    fn presence(&self) -> Presence {
        match machine::find_program(self.name) {
            Some(program) if run::succeeds(Command::new(&program).args(self.probe)) => Presence::Works,
            Some(_) => Presence::Broken,
            None => Presence::Absent,
        }
    }
}

/// Prints the table and what of it is here.
pub(crate) fn list() {
    for tool in TOOLS {
        let presence = match tool.presence() {
            Presence::Works => "ok",
            Presence::Broken => "does not work here",
            Presence::Absent => "missing",
        };
        println!("  {:<10} {presence:<19} {} (Debian package {})", tool.name, tool.why, tool.package);
    }
}

/// Makes sure that every tool is here and works, installing what it can.
///
/// # Errors
/// If a tool is missing and cannot be installed, or is there and does not work: tests are never left out for that.
pub(crate) fn require() -> Result<(), Failure> {
    list();
    if provide(|_| true)? {
        list();
    }
    Ok(())
}

/// [`require`] for the servers of `cargo xtask postgres` alone, silently where all is well.
pub(crate) fn require_for_servers() -> Result<(), Failure> {
    provide(|tool| OF_SERVERS.contains(&tool.name)).map(|_| ())
}

/// Installs what is missing of these tools; whether something was.
fn provide(wanted: impl Fn(&Tool) -> bool) -> Result<bool, Failure> {
    let missing = not_working(&wanted);
    if missing.is_empty() {
        return Ok(false);
    }
    let packages = packages(&missing);
    if machine::is_debian_like() && machine::is_root() {
        install(&packages)?;
    }
    let still_missing = not_working(&wanted);
    if still_missing.is_empty() { Ok(true) } else { Err(explain(&still_missing)) }
}

fn not_working(wanted: impl Fn(&Tool) -> bool) -> Vec<(&'static Tool, Presence)> {
    let wanted = TOOLS.iter().filter(|tool| wanted(tool));
    wanted.map(|tool| (tool, tool.presence())).filter(|(_, presence)| *presence != Presence::Works).collect()
}

fn packages(missing: &[(&'static Tool, Presence)]) -> Vec<&'static str> {
    let mut packages: Vec<_> = missing.iter().map(|(tool, _)| tool.package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

fn install(packages: &[&str]) -> Result<(), Failure> {
    let mut updated = false;
    if !has_package_lists() {
        run::run(apt_get().arg("update"))?;
        updated = true;
    }
    let install = || run::run(apt_get().args(["install", "-y", "--no-install-recommends"]).args(packages));
    match install() {
        // Lists that are older than the archive name files that are gone.
        Err(_) if !updated => {
            run::run(apt_get().arg("update"))?;
            install()
        }
        result => result,
    }
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").stdin(std::process::Stdio::null());
    command
}

fn has_package_lists() -> bool {
    fs::read_dir("/var/lib/apt/lists")
        .is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name().to_string_lossy().contains("_Packages")))
}

/// Says of each missing tool what it is for, and what to type.
fn explain(missing: &[(&'static Tool, Presence)]) -> Failure {
    let mut text = "the tests need tools that are not here; none of them is skipped".to_owned();
    for (tool, presence) in missing {
        let state = if *presence == Presence::Broken {
            format!("is here, but `{} {}` fails", tool.name, tool.probe.join(" "))
        } else {
            "is missing".to_owned()
        };
        let _ = write!(text, "\n  {} {state}; it {}", tool.name, tool.why);
    }
    let packages = packages(missing).join(" ");
    Failure::new(text).hint(if machine::is_debian_like() {
        format!("as root: apt-get update && apt-get install -y --no-install-recommends {packages}")
    } else {
        let names: Vec<_> = missing.iter().map(|(tool, _)| tool.name).collect();
        format!("install {} with this system's packages (on Debian they are in: {packages})", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_reason_and_package() {
        let tool = &TOOLS[0];
        let text = explain(&[(tool, Presence::Absent), (&TOOLS[1], Presence::Broken)]).to_string();
        for part in ["strace is missing", tool.why, "unshare is here, but `unshare --version` fails", "util-linux"] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
    }

    #[test]
    fn the_servers_programs_are_in_the_table() {
        for name in OF_SERVERS {
            assert!(TOOLS.iter().any(|tool| tool.name == name), "{name}");
        }
    }

    #[test]
    fn each_package_is_asked_for_once() {
        let twice = [(&TOOLS[0], Presence::Absent), (&TOOLS[0], Presence::Broken)];
        assert_eq!(packages(&twice), ["strace"]);
    }
}
