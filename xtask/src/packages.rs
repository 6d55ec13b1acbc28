//! What tests need that is no program of the machine: packages of Python and of Node, by lock files in the repository. Each set
//! is laid out in the output folder, and anew where its lock file is another one than it was made from.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Attempt, Failure};
use crate::repository::Repository;
use crate::run;

/// A virtual environment of Python with the packages of a lock file.
struct Python {
    /// Its folder below the output folder.
    folder: &'static str,
    /// The lock file, with a hash for each file.
    requirements: &'static str,
    /// A module that is there once it is whole.
    module: &'static str,
    /// Which tests need it.
    tests: &'static str,
    /// Tells the tests which Python has the packages.
    variable: &'static str,
}

const PYTHONS: &[Python] = &[
    Python {
        folder: "examples-python",
        requirements: "examples/requirements.txt",
        module: "openai",
        tests: "the tests of examples/analizar.py",
        variable: "COLA_IA_EXAMPLES_PYTHON",
    },
    Python {
        folder: "end-to-end-python",
        requirements: "tests/end-to-end/requirements.txt",
        module: "schemathesis",
        tests: "the tests of the API against its description",
        variable: "COLA_IA_SCHEMATHESIS_PYTHON",
    },
];

/// Packages of Node with a lock file.
const NODE: &str = "tests/end-to-end";
/// Tells the tests in which folder `node_modules` is.
const NODE_VARIABLE: &str = "COLA_IA_NODE_PACKAGES";

/// Lays out all sets, and says by which variables the tests find them.
///
/// # Errors
/// If packages cannot be installed: no test is left out for that.
pub(crate) fn require(repository: &Repository) -> Result<Vec<(&'static str, PathBuf)>, Failure> {
    let mut found = Vec::new();
    for python in PYTHONS {
        found.push((python.variable, python.lay_out(repository)?));
    }
    found.push((NODE_VARIABLE, node(repository)?));
    Ok(found)
}

impl Python {
    fn lay_out(&self, repository: &Repository) -> Result<PathBuf, Failure> {
        let folder = repository.target().join(self.folder);
        let program = folder.join("bin").join("python3");
        let import = format!("import {}", self.module);
        let works = || run::succeeds(repository.command(&program).args(["-c", &import]));
        lay_out(repository, &folder, &[self.requirements], self.tests, works, || {
            run::run(repository.command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
            let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];
            let locked = ["--require-hashes", "--only-binary", ":all:", "-r", self.requirements];
            run::run(repository.command(&program).args(pip).args(locked))
        })
        .map_err(|failure| {
            failure.hint(
                "pip fetches them: with no network, name a folder that has them in PIP_FIND_LINKS and set PIP_NO_INDEX=1; to \
                 run the other tests alone: cargo nextest run --workspace",
            )
        })?;
        Ok(program)
    }
}

fn node(repository: &Repository) -> Result<PathBuf, Failure> {
    let folder = repository.target().join("end-to-end-node");
    let files = ["package.json", "package-lock.json", ".npmrc"];
    let from: Vec<_> = files.iter().map(|file| format!("{NODE}/{file}")).collect();
    let from: Vec<_> = from.iter().map(String::as_str).collect();
    let works = || folder.join("node_modules").join("puppeteer-core").is_dir();
    lay_out(repository, &folder, &from, "the tests of webhooks and of the form in a browser", works, || {
        fs::create_dir_all(&folder).attempt(|| format!("make {}", folder.display()))?;
        for file in files {
            let (here, there) = (repository.root().join(NODE).join(file), folder.join(file));
            fs::copy(&here, &there).attempt(|| format!("copy {}", here.display()))?;
        }
        // Without scripts: none of these packages needs one, and one could fetch a browser.
        let install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"];
        run::run(repository.command("npm").args(install).current_dir(&folder))
    })
    .map_err(|failure| failure.hint("npm fetches them; to run the other tests alone: cargo nextest run --workspace"))?;
    Ok(folder)
}

fn lay_out(
    repository: &Repository,
    folder: &Path,
    from: &[&str],
    tests: &str,
    works: impl Fn() -> bool,
    install: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut wanted = Vec::new();
    for file in from {
        wanted.extend(fs::read(repository.root().join(file)).attempt(|| format!("read {file}"))?);
    }
    let from = from.join(", ");
    let made_from = folder.join("made-from.txt");
    if fs::read(&made_from).is_ok_and(|made_from| made_from == wanted) && works() {
        println!("  packages   ok                  those of {from} are in {}", folder.display());
        return Ok(());
    }
    println!("\ninstalling the packages of {from}, which {tests} need");
    install().map_err(|failure| {
        Failure::new(format!(
            "{tests} need the packages of {from}, which could not be installed here, and are not skipped\n  {failure}"
        ))
    })?;
    // Written last: a folder without it was not finished.
    fs::write(&made_from, wanted).attempt(|| format!("write {}", made_from.display()))
}
