//! `work`: what was asked for, and how it is said.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::Source;
use cola_ia_core::job::{JobState, Outcome};
use cola_ia_core::store::Ended;
use cola_ia_wire::{VERSION, Worked};
use nix::unistd::{AccessFlags, access};

use super::add::push_json;
use super::jobs::to_the_second;
use super::{Exit, Problem};
use crate::config::Environment;
use crate::effect::EffectCommand;
use crate::lang::{Lang, Message};
use crate::print::{id_on_a_line, safe_line, short_line};
use crate::worker::child::NotStarted;
use crate::worker::claiming::Left;
use crate::worker::verdict::last_line;
use crate::worker::voice::Finished;

/// The options of `work`. Those that are settings too are in the settings.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkOptions {
    /// The command, run once a job.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// `-j`: how many at a time, 1 to [`JOBS_MAX`].
    pub jobs: u32,
    /// `--source`
    pub source: Option<Source>,
    /// `--effect` and what belongs to it: the whole command is one effect.
    pub effect: Option<EffectCommand>,
    /// `--drain`
    pub drain: bool,
    /// `--stdin`
    pub stdin: StdinForm,
    /// `--show-output`
    pub show_output: bool,
    /// `--json`
    pub json: bool,
    /// Whether progress may be shown; it still needs a terminal.
    pub progress: bool,
}

/// The most commands at a time.
pub const JOBS_MAX: u32 = 1_000;

/// What the command reads on its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StdinForm {
    /// The text.
    #[default]
    Text,
    /// The whole job as one JSON object.
    Json,
}

impl StdinForm {
    /// The words of the option.
    pub const WORDS: [&'static str; 2] = ["text", "json"];

    /// The form of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "text" => Some(Self::Text),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// How it is said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Speech {
    pub(crate) json: bool,
    pub(crate) show_output: bool,
    pub(crate) progress: bool,
}

impl WorkOptions {
    pub(crate) const fn speech(&self) -> Speech {
        Speech { json: self.json, show_output: self.show_output, progress: self.progress }
    }
}

/// Characters of what a command said that go on a line.
const SAID_MAX_CHARS: usize = 300;

/// The line for stdout: `ID STATE`, as the gate's answers are said; with `json` a [`Worked`]. A job that was somebody else's
/// by then has no state to tell.
pub(crate) fn line(lang: &Lang, json: bool, finished: &Finished) -> String {
    let Finished { job, attempt, outcome, answer, report, took } = finished;
    let mut out = String::new();
    if json {
        let outcome = if answer.is_ok() { *outcome } else { Outcome::LeaseLost };
        let ended = answer.as_ref().ok();
        let text = |text: &'_ Option<String>| text.clone().map(Cow::Owned);
        let worked = Worked {
            v: VERSION,
            event: job.event.0,
            source: Cow::Borrowed(job.source.as_str()),
            id: Cow::Borrowed(&job.id),
            run: job.run,
            attempt: *attempt,
            outcome: Cow::Borrowed(outcome.as_str()),
            state: ended.map(|ended| Cow::Borrowed(ended.state.as_str())),
            due_at: ended.and_then(|ended| ended.due_at).map(Timestamp::to_rfc3339),
            exit_code: report.exit_code,
            signal: report.signal,
            error_class: text(&report.error_class),
            error: text(&report.error),
            resource_id: text(&report.resource_id),
            cost_micros: report.cost_micros,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        };
        push_json(&mut out, &worked);
    } else if let Ok(ended) = answer {
        out.push_str(&id_on_a_line(&job.id));
        out.push(' ');
        out.push_str(lang.state(ended.state));
        out.push('\n');
    }
    out
}

/// The lines for stderr: why an attempt failed, what came too late, and with `--show-output` what the command said.
pub(crate) fn told(lang: &Lang, how: Speech, finished: &Finished) -> Vec<String> {
    let id = id_on_a_line(&finished.job.id);
    let mut lines = Vec::new();
    if how.show_output {
        for output in [&finished.report.stdout, &finished.report.stderr] {
            let text = String::from_utf8_lossy(output);
            lines.extend(text.lines().map(|line| format!("{id}: {}", safe_line(line))));
        }
    }
    let message = match &finished.answer {
        Err(lost) => Some(match lost.superseded_by {
            Some(newer) => Message::new("work-late-by").with("newer", newer),
            None => Message::new("work-late"),
        }),
        Ok(ended) => attempt_went_wrong(finished, *ended),
    };
    lines.extend(message.map(|message| message.with("id", id).with("attempt", finished.attempt).in_prose(lang)));
    lines
}

fn attempt_went_wrong(finished: &Finished, ended: Ended) -> Option<Message> {
    let report = &finished.report;
    let due = || ended.due_at.map(to_the_second).unwrap_or_default();
    if finished.outcome == Outcome::Released && ended.state == JobState::Held {
        return Some(Message::new("work-held"));
    }
    if finished.outcome == Outcome::Released
        && let (Some("effect_lookup"), Some(why)) = (report.error_class.as_deref(), &report.error)
    {
        // It may never be able to tell, and then it goes round for ever.
        let why = short_line(why, SAID_MAX_CHARS);
        return Some(Message::new("work-later-lookup").with("due", due()).with("why", why));
    }
    if finished.outcome == Outcome::Released {
        return Some(Message::new("work-later").with("due", due()));
    }
    if !matches!(finished.outcome, Outcome::Error | Outcome::TimedOut) {
        return None;
    }
    let said = report.error.clone().or_else(|| last_line(&report.stderr));
    let said = match &said {
        Some(line) => Message::new("work-said").with("line", short_line(line, SAID_MAX_CHARS)),
        None => Message::new("work-said-nothing"),
    };
    let class = report.error_class.clone().unwrap_or_else(|| finished.outcome.as_str().to_owned());
    let key = match ended.state {
        JobState::Pending => "work-failed-again",
        JobState::Held => "work-failed-held",
        _ => "work-failed-for-good",
    };
    Some(Message::new(key).with("class", class).message("said", said).with("due", due()))
}

/// What one `work` did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Jobs that are done.
    pub(crate) done: u64,
    /// Jobs that are not tried again.
    pub(crate) failed: u64,
    /// Jobs that wait for a person, because of an effect.
    pub(crate) held: u64,
    /// Attempts after which the job waits again.
    pub(crate) again: u64,
    /// Jobs that another worker had by then.
    pub(crate) lost: u64,
    /// Jobs that were given back.
    pub(crate) released: u64,
}

impl Tally {
    pub(crate) fn count(&mut self, finished: &Finished) {
        match &finished.answer {
            Err(_) => self.lost += 1,
            Ok(ended) => match ended.state {
                JobState::Done => self.done += 1,
                JobState::Pending => self.again += 1,
                JobState::Held => self.held += 1,
                _ => self.failed += 1,
            },
        }
    }

    /// The sentence for stderr: `12 done, 1 failed`.
    pub(crate) fn summary(&self) -> Message {
        let counted = |key: &'static str, count: u64| Message::new(key).number("count", count);
        let mut parts = counted("work-summary-done", self.done);
        for (key, count) in [
            ("work-summary-failed", self.failed),
            ("work-summary-held", self.held),
            ("work-summary-again", self.again),
            ("work-summary-released", self.released),
            ("work-summary-lost", self.lost),
        ] {
            if count > 0 {
                parts = Message::new("add-summary-and").message("before", parts).message("last", counted(key, count));
            }
        }
        parts
    }

    /// The sentence for the bar.
    pub(crate) fn progress(&self, running: usize, rate: f64, left: Option<Duration>) -> Message {
        let now = Message::new("work-progress")
            .number("done", self.done)
            .number("failed", self.failed)
            .number("running", running as u64)
            .with("rate", format!("{rate:.1}"));
        match left {
            Some(left) => Message::new("work-progress-left").message("now", now).with("left", clock_face(left)),
            None => now,
        }
    }
}

/// `0:42`, `1:23:45`.
fn clock_face(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// What is left when nothing is due.
pub(crate) fn left(left: &Left) -> Vec<Message> {
    let mut messages = Vec::new();
    if let Some(due) = left.next_due {
        messages.push(Message::new("work-left").number("count", left.waiting.max(1)).with("due", to_the_second(due)));
    }
    if left.elsewhere > 0 {
        messages.push(Message::new("work-left-elsewhere").number("count", left.elsewhere));
    }
    messages
}

/// Why a command was not started, in prose and as it is recorded. `Err`: it is the same for every job, and `work` stops.
pub(crate) fn not_started(program: &OsStr, why: &NotStarted) -> Result<(Message, String), Problem> {
    match why {
        NotStarted::NotFound => Err(missing(program)),
        NotStarted::NoInterpreter(interpreter) => {
            let message = Message::new("work-no-interpreter").with("program", program.display());
            let message = message.with("interpreter", interpreter.as_deref().unwrap_or(Path::new("?")).display());
            Err(Problem::failed(message).hint(Message::new("work-no-interpreter-hint")))
        }
        NotStarted::NoFormat => Err(Problem::failed(Message::new("work-no-format").with("program", program.display()))
            .hint(Message::new("work-no-format-hint"))),
        NotStarted::Denied => Ok((Message::new("work-cause-denied"), "it may not be executed".to_owned())),
        NotStarted::TooLong => {
            Ok((Message::new("work-cause-too-long"), "arguments and environment are too long".to_owned()))
        }
        NotStarted::Stopped => Ok((Message::new("work-cause-stopped"), "stopped".to_owned())),
        NotStarted::Other(cause) => Ok((Message::new("work-cause").caused_by(cause), cause.to_string())),
    }
}

fn missing(program: &OsStr) -> Problem {
    let shown = program.to_string_lossy();
    let problem = Problem::failed(Message::new("work-no-program").with("program", &shown));
    if shown.contains(' ') {
        // A line for a shell, in quotation marks.
        return problem.hint(Message::new("work-no-program-line").with("program", &shown));
    }
    if !shown.contains('/') && Path::new(program).is_file() {
        return problem.hint(Message::new("work-no-program-here").with("program", &shown));
    }
    problem.hint(Message::new("work-no-program-hint"))
}

/// Whether there is such a program, before the first job is claimed.
///
/// # Errors
/// There is none, or it may not be executed.
pub(crate) fn check_program(program: &OsStr, environment: &Environment) -> Result<(), Problem> {
    let can_run = |path: &Path| path.is_file() && access(path, AccessFlags::X_OK).is_ok();
    let denied = |path: &Path| {
        let message = Message::new("work-denied").with("program", path.display());
        Err(Problem::new(Exit::Failed, message).hint(Message::new("work-denied-hint").with("program", path.display())))
    };
    if program.as_encoded_bytes().contains(&b'/') {
        let path = Path::new(program);
        return match path.is_file() {
            _ if can_run(path) => Ok(()),
            true => denied(path),
            false => Err(missing(program)),
        };
    }
    let folders = environment.var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let found: Vec<PathBuf> =
        std::env::split_paths(&folders).map(|folder| folder.join(program)).filter(|path| path.is_file()).collect();
    match found.iter().find(|path| can_run(path)).or(found.first()) {
        Some(path) if can_run(path) => Ok(()),
        Some(path) => denied(path),
        None => Err(missing(program)),
    }
}

#[cfg(test)]
mod tests {
    use cola_ia_core::intake::EventNumber;
    use cola_ia_core::store::{JobSummary, LeaseLost, Report};

    use super::*;
    use crate::lang::Language;

    fn finished(outcome: Outcome, state: JobState) -> Finished {
        let job = JobSummary {
            event: EventNumber(7),
            source: Source::default(),
            id: "a b".to_owned(),
            erased_at: None,
            event_type: None,
            state: JobState::Running,
            reason: String::new(),
            run: 1,
            attempts: 1,
            resource_id: None,
            time: None,
            received_at: Timestamp::from_micros(0),
            due_at: None,
            lease_until: None,
        };
        let due_at = (state == JobState::Pending).then_some(Timestamp::from_micros(60_000_000));
        let report = Report {
            exit_code: Some(1),
            error_class: Some("exit_1".to_owned()),
            stderr: b"one\nred \x1b[31m\n".to_vec(),
            ..Report::default()
        };
        let (attempt, took) = (2, Duration::from_millis(5));
        Finished { job, attempt, outcome, answer: Ok(Ended { state, due_at }), report, took }
    }

    #[test]
    fn a_job_is_said_as_the_gate_says_its_verdicts() {
        let done = finished(Outcome::Done, JobState::Done);
        assert_eq!(line(&Lang::only(Language::Spanish), false, &done), "a b terminado\n");
        assert_eq!(line(&Lang::only(Language::English), false, &done), "a b done\n");
        let json = line(&Lang::only(Language::Spanish), true, &done);
        let start = r#"{"v":1,"event":7,"source":"default","id":"a b","run":1,"attempt":2,"outcome":"done","state":"done","due_at":null,"#;
        assert!(json.starts_with(start), "{json}");
        let lost = Finished { answer: Err(LeaseLost { superseded_by: Some(3) }), ..done };
        assert_eq!(line(&Lang::only(Language::English), false, &lost), "");
        assert!(line(&Lang::only(Language::English), true, &lost).contains(r#""outcome":"lease_lost","state":null"#));
    }

    #[test]
    fn what_went_wrong_is_one_line_that_steers_no_terminal() {
        let how = Speech { json: false, show_output: false, progress: false };
        let lines = |finished: &Finished| told(&Lang::only(Language::English), how, finished);
        assert!(lines(&finished(Outcome::Done, JobState::Done)).is_empty());
        let [again] = &lines(&finished(Outcome::Error, JobState::Pending))[..] else { panic!("one line") };
        assert_eq!(again, "a b: attempt 2 failed (exit_1): red \\u001b[31m; it is tried again at 1970-01-01T00:01:00Z");
        let [over] = &lines(&finished(Outcome::Error, JobState::Failed))[..] else { panic!("one line") };
        assert_eq!(
            over,
            "a b: attempt 2 failed (exit_1): red \\u001b[31m; it is not tried again and waits for a person"
        );
    }

    #[test]
    fn a_program_is_looked_for_where_it_would_be() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        std::fs::write(&plain, "").unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, "").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let environment = Environment::with(&[("PATH", folder.path().to_str().unwrap())]);
        let key = |program: &OsStr| match check_program(program, &environment) {
            Ok(()) => "ok".to_owned(),
            Err(problem) => problem.message().key().to_owned(),
        };
        for (program, expected) in [
            ("script", "ok"),
            ("plain", "work-denied"),
            ("none", "work-no-program"),
            ("script x", "work-no-program"),
            ("./script", "work-no-program"),
        ] {
            assert_eq!(key(program.as_ref()), expected, "{program}");
        }
        assert_eq!(key(script.as_ref()), "ok");
        assert_eq!(key(plain.as_ref()), "work-denied");
        assert_eq!(key(folder.path().as_ref()), "work-no-program");
    }

    #[test]
    fn time_left_is_a_clock_face() {
        let shown = |seconds| clock_face(Duration::from_secs(seconds));
        assert_eq!([shown(0), shown(62), shown(3_723)], ["0:00", "1:02", "1:02:03"]);
    }
}
