//! What `cargo xtask bench` can be asked.

use std::path::PathBuf;

use crate::failure::{Attempt, Failure};

pub(crate) const HELP: &str = "\
Usage: cargo xtask bench [gate] [OPTIONS]
       cargo xtask bench api [OPTIONS]
       cargo xtask bench http [OPTIONS]
       cargo xtask bench jobs [OPTIONS]
       cargo xtask bench postgres [OPTIONS]
       cargo xtask bench views [OPTIONS]
       cargo xtask bench wal [OPTIONS]

gate measures whole `cola-ia add` commands against plain loops, prints rates, ratios and peak memory, and fails if a
promise is missed. api measures workers that claim and complete over HTTP. http measures signed webhooks against a server that says hello, slow clients beside them, and memory.
postgres measures a store in PostgreSQL, on a server of its own with its usual settings, against one in a file and
against another job queue.
jobs measures leases in the store, and `cola-ia work -- true` against a plain loop that starts `true`.
views makes a large store and measures what looks at it. wal lets a file in beside commands that
look, again and again, and tells how large the write-ahead log became.

  --events N       events of one file (default: gate and postgres 1000000, views 5000000, wal 2000000, jobs 3000,
                   http 20000 requests)
  --runs N         times everything is measured, in turn; medians are compared (default: gate, http, jobs and postgres 3, views 5)
  --growth         gate: also five files, one after another, into one store
  --repeats N      views: of the events so many are delivered again (default 1000000)
  --view COMMAND   wal: look with this, such as \"stats --since 24h\"; several times: beside each other
                   (default: jobs, show ID and stats)
  --binary PATH    measure this cola-ia instead of building one
";

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Api,
    Gate,
    Http,
    Jobs,
    Postgres,
    Views,
    Wal,
}

impl Part {
    /// The name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Gate => "gate",
            Self::Http => "http",
            Self::Jobs => "jobs",
            Self::Postgres => "postgres",
            Self::Views => "views",
            Self::Wal => "wal",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Api, Self::Gate, Self::Http, Self::Jobs, Self::Postgres, Self::Views, Self::Wal]
            .into_iter()
            .find(|part| part.name() == name)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) part: Part,
    pub(crate) events: u64,
    pub(crate) runs: u32,
    pub(crate) growth: bool,
    pub(crate) repeats: u64,
    pub(crate) views: Vec<String>,
    pub(crate) binary: Option<PathBuf>,
}

impl Options {
    fn of(part: Part) -> Self {
        let (events, runs) = match part {
            Part::Api => (100_000, 3),
            Part::Gate | Part::Postgres => (1_000_000, 3),
            Part::Http => (20_000, 3),
            Part::Jobs => (3_000, 3),
            Part::Views => (5_000_000, 5),
            Part::Wal => (2_000_000, 1),
        };
        Self { part, events, runs, growth: false, repeats: 1_000_000, views: Vec::new(), binary: None }
    }

    /// `None` where help was asked for.
    pub(crate) fn parse(arguments: &[String]) -> Result<Option<Self>, Failure> {
        let named = arguments.first().and_then(|name| Part::from_name(name));
        let part = named.unwrap_or(Part::Gate);
        let mut options = Self::of(part);
        let mut arguments = arguments.iter().skip(usize::from(named.is_some()));
        while let Some(argument) = arguments.next() {
            let mut value =
                || arguments.next().ok_or_else(|| Failure::new(format!("`{argument}` needs a value after it")));
            match (argument.as_str(), part) {
                ("--events", _) => options.events = positive(argument, value()?)?,
                ("--runs", Part::Gate | Part::Http | Part::Jobs | Part::Postgres | Part::Views) => {
                    options.runs = positive(argument, value()?)?;
                }
                ("--growth", Part::Gate) => options.growth = true,
                ("--repeats", Part::Views) => options.repeats = positive(argument, value()?)?,
                ("--view", Part::Wal) => options.views.push(value()?.clone()),
                ("--binary", _) => {
                    let path = value()?;
                    let path = std::path::absolute(path).attempt(|| format!("find {path}"))?;
                    options.binary = Some(path);
                }
                ("-h" | "--help", _) => return Ok(None),
                (other, _) => {
                    return Err(Failure::new(format!("bench {} does not know `{other}`", part.name()))
                        .hint("`cargo xtask bench --help` lists what it knows"));
                }
            }
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
        let defaults = Options::of(Part::Gate);
        assert_eq!((defaults.events, defaults.runs), (1_000_000, 3));
        assert_eq!(parse("").unwrap().as_ref(), Some(&defaults));
        assert_eq!(parse("gate").unwrap(), Some(defaults));
    }

    #[test]
    fn each_part_has_its_defaults() {
        let views = parse("views").unwrap().unwrap();
        assert_eq!((views.part, views.events, views.repeats, views.runs), (Part::Views, 5_000_000, 1_000_000, 5));
        assert_eq!(parse("wal").unwrap(), Some(Options::of(Part::Wal)));
    }

    #[test]
    fn options_are_read_and_nonsense_is_refused() {
        let expected =
            Options { events: 5_000, runs: 1, growth: true, binary: Some("/bin/x".into()), ..Options::of(Part::Gate) };
        assert_eq!(parse("--events 5_000 --runs 1 --growth --binary /bin/x").unwrap(), Some(expected));
        let expected = Options { views: vec!["jobs".into(), "tail".into()], ..Options::of(Part::Wal) };
        assert_eq!(parse("wal --view jobs --view tail").unwrap(), Some(expected));
        assert_eq!(parse("--help").unwrap(), None);
        for line in [
            "--events",
            "--events 0",
            "--runs x",
            "--runs -1",
            "--growth gate",
            "other",
            "views --growth",
            "--repeats 5",
            "wal --runs 2",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
