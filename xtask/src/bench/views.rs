//! Views: how long a command looks at a large store, from its start to its end.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rusqlite::Connection;

use super::gate::{Bench, Expected};
use super::measure::Measured;
use super::options::Options;
use super::report::{self, Bound, Figures, Promise};
use super::{host, input};
use crate::failure::{Attempt, Failure};
use crate::repository::Repository;

const SEED: u64 = 42;

/// Senders of the events, by turns.
const SOURCES: u64 = 8;

/// A store that is used all day has counts in every minute; one that was just made has them in a few.
const MINUTES: u32 = 2 * 24 * 60;

/// Deltas that wait to be added up, nearly the most.
const DELTAS: u32 = 4_000;

const FAST_MS: f64 = 50.0;
const STATS_MS: f64 = 200.0;

/// Makes the store and measures what looks at it.
///
/// # Errors
/// If a command does not do what it should, or a promise is missed.
pub(crate) fn run(repository: &Repository, options: &Options) -> Result<(), Failure> {
    let bench = Bench::new(repository, options)?;
    println!("\nmachine: {}", host::describe(&bench.folder));
    println!(
        "{} events and {} repeats, {} runs, each figure of whole commands",
        options.events, options.repeats, options.runs
    );
    let store = make(&bench)?;
    let mut promises = Vec::new();
    for look in looks(options)? {
        if !has_command(&bench.binary, look.arguments[0][0].as_str()) {
            println!("this cola-ia has no `{}`", look.arguments[0][0]);
            continue;
        }
        let mut figures = Figures::default();
        for run in 0..options.runs {
            let arguments = &look.arguments[run as usize % look.arguments.len()];
            figures.push(measure(&bench, &store, arguments)?);
        }
        promises.push(Promise::new(format!("ms, {}", look.name), figures, Bound::MedianBelow(look.below)));
    }
    bench.remove_folder()?;
    report::check(&promises)
}

/// What is measured: in each run, the next list of arguments.
struct Look {
    name: &'static str,
    arguments: Vec<Vec<String>>,
    below: f64,
}

fn looks(options: &Options) -> Result<Vec<Look>, Failure> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    // From all over the store, and among them repeated ones.
    let step = usize::try_from(options.events / u64::from(options.runs)).attempt(|| "count events".to_owned())?;
    let ids = input::events(SEED, options.events).map(|event| event.id).step_by(step.max(1));
    let shows = ids.map(|id| vec!["show".to_owned(), id]).collect();
    let once = |name, below| Look { name, arguments: vec![words(name)], below };
    Ok(vec![
        Look { name: "show ID", arguments: shows, below: FAST_MS },
        once("jobs", FAST_MS),
        once("jobs --state failed", FAST_MS),
        once("jobs --since 24h --source s3", FAST_MS),
        once("stats --since 24h", STATS_MS),
        once("stats --since 24h --source s3", STATS_MS),
        once("deliveries", FAST_MS),
        once("conflicts", FAST_MS),
    ])
}

fn make(bench: &Bench<'_>) -> Result<PathBuf, Failure> {
    let Options { events, repeats, .. } = *bench.options;
    let store = bench.folder.join("store.sqlite3");
    let (day, seconds) = now()?;
    for (name, count, verdict) in [("new", events, "nuevo"), ("again", repeats.min(events), "repetido")] {
        let file = bench.folder.join(format!("{name}.jsonl"));
        input::write_told_lines(&file, input::events(SEED, count), SOURCES, &day, seconds)?;
        let usage = bench.add(&bench.folder, &store, &file, Expected::All { count, verdict })?;
        println!("{count} times {verdict}: {:.1?}", usage.wall);
        std::fs::remove_file(&file).attempt(|| format!("remove {}", file.display()))?;
    }
    let rows = spread(&store).attempt(|| format!("spread the counts of {}", store.display()))?;
    println!("its counts were spread over two days: {rows} rows\n");
    Ok(store)
}

/// Today in UTC, and how many seconds of it are over.
fn now() -> Result<(String, u64), Failure> {
    let body = || -> rusqlite::Result<(String, u32)> {
        let clock = "SELECT date('now'), unixepoch('now') % 86400";
        Connection::open_in_memory()?.query_row(clock, [], |row| Ok((row.get(0)?, row.get(1)?)))
    };
    body().map(|(day, seconds)| (day, u64::from(seconds))).attempt(|| "ask for the time".to_owned())
}

/// Gives every minute of two days the counts that the commands left: how many rows there are decides how long it takes to
/// add them up, not what they say.
fn spread(store: &Path) -> rusqlite::Result<usize> {
    let connection = Connection::open(store)?;
    let numbers = "WITH RECURSIVE k (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM k WHERE k < ?1)";
    let minute = "60, at - at % 60000000 - k * 60000000";
    let counts = [
        format!(
            "counters (span, start, source, counter, n)
             SELECT {minute}, coalesce(source, 0), counter, n FROM counter_deltas JOIN k GROUP BY k, source, counter"
        ),
        format!(
            "counter_lateness (span, start, source, late)
             SELECT {minute}, coalesce(source, 0), late FROM counter_deltas JOIN k GROUP BY k, source"
        ),
        format!(
            "counter_numbers (span, start, first, last)
             SELECT {minute}, min(first), max(last) FROM counter_deltas JOIN k GROUP BY k"
        ),
    ];
    let mut rows = 0;
    for counts in counts {
        rows += connection.execute(&format!("{numbers} INSERT OR IGNORE INTO {counts}"), [MINUTES])?;
    }
    let deltas: u32 = connection.query_row("SELECT count(*) FROM counter_deltas", [], |row| row.get(0))?;
    connection.execute(
        &format!(
            "{numbers} INSERT INTO counter_deltas (at, source, counter, n, first, last, late)
             SELECT at, source, counter, 0, first, last, late FROM (SELECT * FROM counter_deltas LIMIT 1) JOIN k"
        ),
        [DELTAS.saturating_sub(deltas).max(1)],
    )?;
    Ok(rows)
}

fn has_command(binary: &Path, name: &str) -> bool {
    let mut help = Command::new(binary);
    help.args(["help", name]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    help.status().is_ok_and(|status| status.success())
}

/// Milliseconds of one command.
fn measure(bench: &Bench<'_>, store: &Path, arguments: &[String]) -> Result<f64, Failure> {
    let measured = Measured {
        program: &bench.binary,
        arguments: arguments.iter().map(Path::new).collect(),
        folder: &bench.folder,
        store,
    };
    let usage = measured.run()?;
    if usage.exit_code != 0 {
        let words = arguments.join(" ");
        return Err(Failure::new(format!(
            "`cola-ia {words}` ended with {}\n  {}",
            usage.exit_code,
            measured.complaint()
        )));
    }
    Ok(usage.wall.as_secs_f64() * 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_shows_another_id() {
        let options = Options::parse(&["views".to_owned(), "--events".to_owned(), "50".to_owned()]).unwrap().unwrap();
        let looks = looks(&options).unwrap();
        let shown: std::collections::BTreeSet<_> = looks[0].arguments.iter().map(|words| words[1].clone()).collect();
        assert_eq!((shown.len(), looks[0].arguments.len()), (5, 5));
    }

    #[test]
    fn now_is_a_day_and_a_part_of_it() {
        let (day, seconds) = now().unwrap();
        assert!(day.len() == 10 && seconds < 86_400, "{day} {seconds}");
    }
}
