//! What the examples need that is no program of the machine: a Python with the packages of `examples/requirements.txt`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Attempt, Failure};
use crate::repository::Repository;
use crate::run;

/// Tells the tests which Python has the packages.
pub(crate) const PYTHON: &str = "COLA_IA_EXAMPLES_PYTHON";

const REQUIREMENTS: &str = "examples/requirements.txt";

/// A virtual environment in the output folder, made anew where the lock file is another one than it was made from.
///
/// # Errors
/// If the packages cannot be installed: no test is left out for that.
pub(crate) fn python(repository: &Repository) -> Result<PathBuf, Failure> {
    let folder = repository.target().join("examples-python");
    let program = folder.join("bin").join("python3");
    let wanted = fs::read(repository.root().join(REQUIREMENTS)).attempt(|| format!("read {REQUIREMENTS}"))?;
    let made_from = folder.join("made-from.txt");
    let is_fresh = fs::read(&made_from).is_ok_and(|made_from| made_from == wanted);
    if is_fresh && run::succeeds(repository.command(&program).args(["-c", "import openai"])) {
        println!("  examples   ok                  the packages of {REQUIREMENTS} are in {}", folder.display());
        return Ok(program);
    }
    println!("\ninstalling the packages of {REQUIREMENTS}, which the tests of examples/analizar.py need");
    install(repository, &folder, &program).map_err(|failure| explained(&failure))?;
    // Written last: a folder without it was not finished.
    fs::write(&made_from, wanted).attempt(|| format!("write {}", made_from.display()))?;
    Ok(program)
}

fn install(repository: &Repository, folder: &Path, program: &Path) -> Result<(), Failure> {
    run::run(repository.command("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];
    let locked = ["--require-hashes", "--only-binary", ":all:", "-r", REQUIREMENTS];
    run::run(repository.command(program).args(pip).args(locked))
}

fn explained(failure: &Failure) -> Failure {
    Failure::new(format!(
        "the tests of examples/analizar.py need the packages of {REQUIREMENTS}, which could not be installed here, and \
         are not skipped\n  {failure}"
    ))
    .hint(
        "pip fetches them: with no network, name a folder that has them in PIP_FIND_LINKS and set PIP_NO_INDEX=1; to run \
         the other tests alone: cargo nextest run --workspace",
    )
}
