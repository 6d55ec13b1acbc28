//! The gate: how fast whole `cola-ia add` commands let events in, and with how much memory.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::measure::{self, Measured, Usage};
use super::options::Options;
use super::report::{self, Bound, Figures, Promise};
use super::{INNER, article, host, input, rows};
use crate::failure::{Attempt, Failure};
use crate::repository::Repository;

/// Seeds of the events: fixed, so that two benchmarks measure the same.
const SEED: u64 = 42;
const SAMPLE_SEED: u64 = 7;

/// Events of the loop that commits each one; its rate does not depend on how many they are.
const ARTICLE_EVENTS: u64 = 20_000;

/// Files of `--growth`.
const GROWTH_FILES: u64 = 5;

const MEMORY_LIMIT_MIB: f64 = 128.0;

/// Exit codes of a command that let in what it could: all, or all but refused lines.
const ENTERED: i32 = 0;
const ENTERED_SOME: i32 = 4;

/// Measures everything and prints it.
///
/// # Errors
/// If a command does not do what it should, or a promise is missed.
pub(crate) fn run(repository: &Repository, options: &Options) -> Result<(), Failure> {
    let bench = Bench::new(repository, options)?;
    println!("\nmachine: {}", host::describe(&bench.folder));
    println!("{} events a file, {} runs, each figure of whole commands\n", options.events, options.runs);
    let mut promises = bench.rates()?;
    promises.extend(bench.long_lines()?);
    if options.growth {
        promises.extend(bench.growth()?);
    }
    bench.remove_folder()?;
    report::check(&promises)
}

/// The program and the place of a benchmark.
pub(super) struct Bench<'a> {
    pub(super) options: &'a Options,
    pub(super) binary: PathBuf,
    pub(super) folder: PathBuf,
}

impl<'a> Bench<'a> {
    pub(super) fn new(repository: &Repository, options: &'a Options) -> Result<Self, Failure> {
        let built = repository.target().join("release").join(format!("cola-ia{}", std::env::consts::EXE_SUFFIX));
        let bench = Self {
            options,
            binary: options.binary.clone().unwrap_or(built),
            folder: repository.target().join("bench"),
        };
        bench.remove_folder()?;
        fs::create_dir_all(&bench.folder).attempt(|| format!("create {}", bench.folder.display()))?;
        Ok(bench)
    }

    pub(super) fn remove_folder(&self) -> Result<(), Failure> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).attempt(|| format!("remove {}", self.folder.display()))?;
        }
        Ok(())
    }

    /// New events, repeats and the two loops, in turn, as often as asked.
    fn rates(&self) -> Result<Vec<Promise>, Failure> {
        let count = self.options.events;
        let file = self.folder.join("events.jsonl");
        input::write_lines(&file, input::events(SEED, count))?;
        let samples = self.samples()?;
        let (mut new, mut repeats, mut plain, mut article) =
            (Figures::default(), Figures::default(), Figures::default(), Figures::default());
        let (mut peak_new, mut peak_repeats) = (Figures::default(), Figures::default());
        for run in 1..=self.options.runs {
            let scratch = self.scratch("run")?;
            let store = scratch.join("store.sqlite3");
            let added = self.add(&scratch, &store, &file, Expected::All { count, verdict: "nuevo" })?;
            let repeated = self.add(&scratch, &store, &file, Expected::All { count, verdict: "repetido" })?;
            let plain_took = self.plain_loop(&scratch, &samples, run == 1)?;
            let article_count = count.min(ARTICLE_EVENTS);
            let article_took = Self::article_loop(&scratch, article_count, run == 1)?;
            new.push(rate(count, added.wall));
            repeats.push(rate(count, repeated.wall));
            plain.push(rate(count, plain_took));
            article.push(rate(article_count, article_took));
            peak_new.push(mib(added.peak_kib));
            peak_repeats.push(mib(repeated.peak_kib));
            println!(
                "run {run}: new {:.2?}, repeats {:.2?}, plain loop {plain_took:.2?}, one a commit {article_took:.2?}",
                added.wall, repeated.wall
            );
            remove(&scratch)?;
        }
        println!("\n  {:<44} {:>10} {:>10} {:>10}", "events a second", "least", "median", "most");
        println!("{}", report::rates("a  cola-ia add, all new", &new));
        println!("{}", report::rates("b  cola-ia add, all repeats", &repeats));
        println!("{}", report::rates("c  plain loop, ready rows, batches of 10,000", &plain));
        println!("{}", report::rates("d  one INSERT OR IGNORE a transaction", &article));
        Ok(vec![
            Promise::new("a/c  new over the plain loop", new.over(&plain), Bound::AtLeast(0.5)),
            Promise::new("a/d  new over one a transaction", new.over(&article), Bound::AtLeast(120.0)),
            Promise::new("b/a  repeats over new", repeats.over(&new), Bound::AtLeast(1.5)),
            Promise::new("peak MiB, new", peak_new, Bound::Below(MEMORY_LIMIT_MIB)),
            Promise::new("peak MiB, repeats", peak_repeats, Bound::Below(MEMORY_LIMIT_MIB)),
        ])
    }

    /// Peak memory where lines are long: refused ones and the longest that enter.
    fn long_lines(&self) -> Result<Vec<Promise>, Failure> {
        const MIB: usize = 1 << 20;
        let cases = [
            ("peak MiB, lines of 60 MB", 4, 60_000_000, ENTERED_SOME),
            ("peak MiB, lines of 8 MiB", 32, 8 * MIB, ENTERED_SOME),
            ("peak MiB, texts of nearly 1 MiB", 256, MIB - 64, ENTERED),
        ];
        let mut promises = Vec::new();
        for (name, count, len, exit_code) in cases {
            let scratch = self.scratch("long")?;
            let file = scratch.join("long.jsonl");
            input::write_long_lines(&file, count, len)?;
            let usage = self.add(&scratch, &scratch.join("store.sqlite3"), &file, Expected::Exit(exit_code))?;
            let mut peak = Figures::default();
            peak.push(mib(usage.peak_kib));
            promises.push(Promise::new(name, peak, Bound::Below(MEMORY_LIMIT_MIB)));
            remove(&scratch)?;
        }
        Ok(promises)
    }

    /// The rate of each of five files that go into one store.
    fn growth(&self) -> Result<Vec<Promise>, Failure> {
        let count = self.options.events;
        let mut files = Vec::new();
        for number in 0..GROWTH_FILES {
            let file = self.folder.join(format!("growth-{number}.jsonl"));
            input::write_lines(&file, input::events(SEED + 1 + number, count))?;
            files.push(file);
        }
        let mut figures = vec![Figures::default(); files.len()];
        let mut peak = Figures::default();
        for run in 1..=self.options.runs {
            let scratch = self.scratch("growth")?;
            let store = scratch.join("store.sqlite3");
            for (file, figures) in files.iter().zip(&mut figures) {
                let usage = self.add(&scratch, &store, file, Expected::All { count, verdict: "nuevo" })?;
                figures.push(rate(count, usage.wall));
                peak.push(mib(usage.peak_kib));
            }
            println!("growth run {run}: done");
            remove(&scratch)?;
        }
        println!("\n  {:<44} {:>10} {:>10} {:>10}", "events a second, successive files", "least", "median", "most");
        for (number, figures) in (1..).zip(&figures) {
            println!("{}", report::rates(&format!("file {number}"), figures));
        }
        let last_over_first = match figures.as_slice() {
            [first, .., last] => last.over(first),
            _ => Figures::default(),
        };
        Ok(vec![
            Promise::new("growth, last file over first", last_over_first, Bound::AtLeast(1.0 / 3.0)),
            Promise::new("peak MiB, growth", peak, Bound::Below(MEMORY_LIMIT_MIB)),
        ])
    }

    /// One `cola-ia add FILE`, checked to have answered what it should.
    pub(super) fn add(&self, folder: &Path, store: &Path, file: &Path, expected: Expected) -> Result<Usage, Failure> {
        let measured = Measured { program: &self.binary, arguments: vec![Path::new("add"), file], folder, store };
        let usage = measured.run()?;
        let exit_code = match expected {
            Expected::All { .. } => ENTERED,
            Expected::Exit(code) => code,
        };
        if usage.exit_code != exit_code {
            return Err(Failure::new(format!(
                "`cola-ia add {}` ended with {}, not {exit_code}\n  {}",
                file.display(),
                usage.exit_code,
                measured.complaint()
            )));
        }
        if let Expected::All { count, verdict } = expected {
            check_verdicts(&measured.stdout(), count, verdict)?;
        }
        Ok(usage)
    }

    /// Two small stores of the program, which show the loop what an event writes.
    fn samples(&self) -> Result<Samples, Failure> {
        let scratch = self.scratch("sample")?;
        let store = |name: &str, count: u64| -> Result<PathBuf, Failure> {
            let (file, store) = (scratch.join(format!("{name}.jsonl")), scratch.join(format!("{name}.sqlite3")));
            input::write_lines(&file, input::events(SAMPLE_SEED, count))?;
            self.add(&scratch, &store, &file, Expected::All { count, verdict: "nuevo" })?;
            Ok(store)
        };
        Ok(Samples { small: store("small", rows::SAMPLE)?, large: store("large", rows::SAMPLE + rows::SAMPLE_MORE)? })
    }

    fn plain_loop(&self, folder: &Path, samples: &Samples, show: bool) -> Result<Duration, Failure> {
        let store = folder.join("plain.sqlite3");
        let mut command = inner(rows::PART)?;
        command.args([&samples.small, &samples.large]).arg(SAMPLE_SEED.to_string());
        command.arg(&store).args([SEED.to_string(), self.options.events.to_string()]);
        timed("c, the plain loop", &mut command, show)
    }

    fn article_loop(folder: &Path, count: u64, show: bool) -> Result<Duration, Failure> {
        let mut command = inner(article::PART)?;
        command.arg(folder.join("article.sqlite3")).args([SEED.to_string(), count.to_string()]);
        timed("d, one INSERT OR IGNORE a transaction", &mut command, show)
    }

    fn scratch(&self, name: &str) -> Result<PathBuf, Failure> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder).attempt(|| format!("create {}", folder.display()))?;
        Ok(folder)
    }
}

/// Stores of the program with few events.
struct Samples {
    small: PathBuf,
    large: PathBuf,
}

/// What a measured command must have done.
#[derive(Clone, Copy)]
pub(super) enum Expected {
    /// Exit 0, and this verdict for each of so many events.
    All { count: u64, verdict: &'static str },
    /// This exit code.
    Exit(i32),
}

fn inner(part: &str) -> Result<Command, Failure> {
    let this = std::env::current_exe().attempt(|| "where is this program".to_owned())?;
    let mut command = Command::new(this);
    command.args([INNER, part]);
    Ok(command)
}

/// Runs a loop in a process of its own; its last line is the time it took, what comes before is its SQL.
fn timed(name: &str, command: &mut Command, show: bool) -> Result<Duration, Failure> {
    measure::quiet_disk()?;
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().attempt(|| format!("run {name}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (sql, micros) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
    if show {
        println!("SQL of {name}:\n{sql}\n");
    }
    let micros = micros.parse().attempt(|| format!("run {name}, which said `{micros}`"))?;
    Ok(Duration::from_micros(micros))
}

fn check_verdicts(stdout: &Path, count: u64, verdict: &str) -> Result<(), Failure> {
    let file = File::open(stdout).attempt(|| format!("open {}", stdout.display()))?;
    let ending = format!(" {verdict}");
    let mut right = 0;
    for line in BufReader::new(file).lines() {
        let line = line.attempt(|| format!("read {}", stdout.display()))?;
        if !line.ends_with(&ending) {
            return Err(Failure::new(format!("`cola-ia add` answered `{line}`, not `{verdict}`")));
        }
        right += 1;
    }
    if right == count {
        Ok(())
    } else {
        Err(Failure::new(format!("`cola-ia add` answered {right} events of {count} with `{verdict}`")))
    }
}

fn remove(folder: &Path) -> Result<(), Failure> {
    fs::remove_dir_all(folder).attempt(|| format!("remove {}", folder.display()))
}

pub(super) fn rate(events: u64, took: Duration) -> f64 {
    events as f64 / took.as_secs_f64()
}

fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}
