//! A PostgreSQL and a PgBouncer of the tests' own, and `cargo xtask postgres`, which lends them to a person.
//!
//! They listen on loopback alone, on ports that the system chose, and live in a folder that goes when they go. A keeper, a
//! process of its own, starts them and watches a pipe from whoever asked for them: when that closes, however its holder ended,
//! the keeper stops them. This knows nothing of the product's tables: each test makes a schema of its own.

mod account;
mod config;
mod folder;
mod keeper;
mod running;
mod servers;

use crate::failure::Failure;
use crate::repository::Repository;
use crate::{run, tools};

pub(crate) use config::Flush;
pub(crate) use keeper::{KEEPER, run as keep};
pub(crate) use servers::Servers;

const HELP: &str = "\
Usage: cargo xtask postgres [--flush] [--name NAME] [-- COMMAND…]

Starts a PostgreSQL and a PgBouncer for the tests, and prints the variables by which tests find them; or runs COMMAND with
these. They are stopped when this is interrupted, or COMMAND has ended.

  --flush        with flushes, as in production: for measuring; without, the data are not safe and the tests faster
  --name NAME    another name for the folder, so that several can run at once [default: postgres]
";

/// What a person asked for.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    flush: Flush,
    name: String,
    command: Vec<String>,
}

impl Options {
    /// `None`: help was asked for.
    fn parse(arguments: &[String]) -> Result<Option<Self>, Failure> {
        let mut options = Self { flush: Flush::Off, name: "postgres".to_owned(), command: Vec::new() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--flush" => options.flush = Flush::On,
                "--name" => options.name = rest.next().cloned().unwrap_or_default(),
                "--" => options.command = rest.by_ref().cloned().collect(),
                "-h" | "--help" => return Ok(None),
                other => {
                    return Err(Failure::new(format!("no option `{other}`")).hint("`cargo xtask postgres --help`"));
                }
            }
        }
        // It becomes a folder's name.
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if options.name.is_empty() || !options.name.bytes().all(plain) {
            return Err(Failure::new(format!("`{}` is no name of letters, digits, `-` and `_`", options.name)));
        }
        Ok(Some(options))
    }
}

/// Starts them, and stays until it is interrupted or the command has ended.
///
/// # Errors
/// What the arguments are not; what stood in the servers' way; that the command failed.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), Failure> {
    let Some(options) = Options::parse(arguments)? else {
        print!("{HELP}");
        return Ok(());
    };
    tools::require_for_servers()?;
    let mut servers = Servers::start(repository, &options.name, options.flush)?;
    if let Some((program, arguments)) = options.command.split_first() {
        return run::run(repository.command(program).args(arguments).envs(servers.env()));
    }
    for (name, value) in servers.env() {
        println!("export {name}='{value}'");
    }
    println!("# until it is interrupted (Ctrl-C)");
    servers.wait()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Option<Options>, Failure> {
        Options::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn what_stands_behind_the_dashes_is_the_command() {
        let options = parse(&["--flush", "--name", "mine", "--", "env", "--name"]).unwrap().unwrap();
        let command = vec!["env".to_owned(), "--name".to_owned()];
        assert_eq!(options, Options { flush: Flush::On, name: "mine".to_owned(), command });
    }

    #[test]
    fn a_name_is_not_a_path() {
        for name in ["", "..", "a/b", "a b"] {
            assert!(parse(&["--name", name]).is_err(), "{name:?}");
        }
        assert!(parse(&["--name"]).is_err());
        assert!(parse(&["--fsync"]).is_err());
    }
}
