//! Files in the repository that the program itself prints: committed for readers, and proved fresh by `cargo xtask ci`.

use std::fs;

use crate::failure::{Attempt, Failure};
use crate::repository::Repository;

/// A committed file and the example of `cola-ia` that prints it.
struct Generated {
    path: &'static str,
    example: &'static str,
}

const FILES: &[Generated] = &[Generated { path: "docs/openapi.json", example: "openapi" }];

/// Writes every generated file again.
pub(crate) fn write(repository: &Repository) -> Result<(), Failure> {
    for file in FILES {
        let path = repository.root().join(file.path);
        fs::write(&path, print(repository, file)?).attempt(|| format!("write {}", path.display()))?;
        println!("wrote {}", file.path);
    }
    Ok(())
}

/// Fails if a committed file is not what the program prints now.
pub(crate) fn check(repository: &Repository) -> Result<(), Failure> {
    let mut stale = Vec::new();
    for file in FILES {
        let path = repository.root().join(file.path);
        let committed = fs::read(&path).attempt(|| format!("read {}", path.display()))?;
        if committed != print(repository, file)? {
            stale.push(file.path);
        }
    }
    println!("{} generated files, {} stale", FILES.len(), stale.len());
    if stale.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(format!("not what the program prints now: {}", stale.join(", ")))
            .hint("`cargo xtask generate`, then commit"))
    }
}

fn print(repository: &Repository, file: &Generated) -> Result<Vec<u8>, Failure> {
    let mut command = repository.cargo(["run", "--quiet", "--locked", "--package", "cola-ia", "--example"]);
    let output = command.arg(file.example).output().attempt(|| format!("print {}", file.path))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(Failure::new(format!("print {}: {}", file.path, String::from_utf8_lossy(&output.stderr))))
    }
}
