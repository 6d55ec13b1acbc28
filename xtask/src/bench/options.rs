//! What `cargo xtask bench` can be asked.

use std::path::PathBuf;

use crate::failure::{Attempt, Failure};

pub(crate) const HELP: &str = "\
Usage: cargo xtask bench [gate] [OPTIONS]

Measures whole `cola-ia add` commands against plain loops, prints rates, ratios and peak memory, and fails if a
promise is missed.

  --events N       events of one file (default 1000000)
  --runs N         times everything is measured, in turn; medians are compared (default 3)
  --growth         also five files, one after another, into one store
  --binary PATH    measure this cola-ia instead of building one
";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) events: u64,
    pub(crate) runs: u32,
    pub(crate) growth: bool,
    pub(crate) binary: Option<PathBuf>,
}

impl Options {
    /// `None` where help was asked for.
    pub(crate) fn parse(arguments: &[String]) -> Result<Option<Self>, Failure> {
        let mut options = Self { events: 1_000_000, runs: 3, growth: false, binary: None };
        let mut arguments = arguments.iter();
        let mut first = true;
        while let Some(argument) = arguments.next() {
            let mut value =
                || arguments.next().ok_or_else(|| Failure::new(format!("`{argument}` needs a value after it")));
            match argument.as_str() {
                "gate" if first => {}
                "--events" => options.events = positive(argument, value()?)?,
                "--runs" => options.runs = positive(argument, value()?)?,
                "--growth" => options.growth = true,
                "--binary" => {
                    let path = value()?;
                    let path = std::path::absolute(path).attempt(|| format!("find {path}"))?;
                    options.binary = Some(path);
                }
                "-h" | "--help" => return Ok(None),
                other => {
                    return Err(Failure::new(format!("bench does not know `{other}`"))
                        .hint("`cargo xtask bench --help` lists what it knows"));
                }
            }
            first = false;
        }
        Ok(Some(options))
    }
}

fn positive<T: std::str::FromStr + Default + PartialEq>(name: &str, value: &str) -> Result<T, Failure> {
    match value.replace('_', "").parse() {
        Ok(number) if number != T::default() => Ok(number),
        _ => Err(Failure::new(format!("`{name}` takes a whole number above 0, got `{value}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Options>, Failure> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn defaults_are_a_million_events_three_times() {
        let defaults = Options { events: 1_000_000, runs: 3, growth: false, binary: None };
        assert_eq!(parse("").unwrap().as_ref(), Some(&defaults));
        assert_eq!(parse("gate").unwrap(), Some(defaults));
    }

    #[test]
    fn options_are_read_and_nonsense_is_refused() {
        let expected = Options { events: 5_000, runs: 1, growth: true, binary: Some("/bin/x".into()) };
        assert_eq!(parse("--events 5_000 --runs 1 --growth --binary /bin/x").unwrap(), Some(expected));
        assert_eq!(parse("--help").unwrap(), None);
        for line in ["--events", "--events 0", "--runs x", "--runs -1", "--growth gate", "other"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
