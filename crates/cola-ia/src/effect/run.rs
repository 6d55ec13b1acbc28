//! `effect run`: a command as one effect.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy, Timestamp};
use cola_ia_core::effect::{BeginId, EffectName, Evidence, Micros, ReportAnswer, request_hash};
use cola_ia_core::job::LeaseToken;
use cola_ia_core::price::Prices;
use cola_ia_core::store::EffectBegun;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::watch;

use super::holder::Holder;
use super::{
    BEGUN_VAR, Check, EffectCommand, FINGERPRINT_VAR, Judged, KEY_VAR, Keeper, Later, NOT_KEPT, Outcome, Permission,
    Plan, Seen, Sender, TRY_VAR, Unheard, Word, guard, judge, request_of, seen,
};
use crate::cli::effect::told;
use crate::cli::work::{check_program, not_started};
use crate::cli::{Exit, Problem, Session, print};
use crate::config::{Settings, Warning};
use crate::lang::Message;
use crate::print::id_on_a_line;
use crate::result_file::ResultFile;
use crate::worker::child::{self, Spec, Stop};
use crate::worker::folder::Folder;
use crate::worker::inside::{LEASE_VAR, SOCKET_VAR};
use crate::worker::result::{self, Fault};
use crate::worker::stop::{Stopper, Stopping};
use crate::worker::tail::is_cut;

/// The options of `effect run`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectRunOptions {
    /// The effect and its lookup.
    pub of: EffectCommand,
    /// `--lease`
    pub lease: Option<LeaseToken>,
    /// `--request`: what makes the request what it is, in place of the command's arguments.
    pub request: Option<OsString>,
    /// The command.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// How long an answer is waited for, where somebody holds the store or it cannot be reached.
const PATIENCE: Duration = Duration::from_mins(5);
/// The longest grace.
const GRACE_MAX: Duration = Duration::from_secs(5);
/// Parts of the command's stderr that wait to be written on.
const ECHOES: usize = 64;
/// So long is waited for the last of them.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// What a command gets of the environment that its job has, and is not of ours alone.
const OF_THE_JOB: [&str; 10] = [
    "COLA_IA_ID",
    "COLA_IA_SOURCE",
    "COLA_IA_TYPE",
    "COLA_IA_JOB",
    "COLA_IA_RUN",
    "COLA_IA_ATTEMPT",
    "COLA_IA_KEY",
    FINGERPRINT_VAR,
    LEASE_VAR,
    SOCKET_VAR,
];

/// Runs the command.
///
/// # Errors
/// It was not done.
pub fn run(session: &Session, options: &EffectRunOptions, settings: &Settings) -> Result<Exit, Problem> {
    check_program(&options.program, &session.environment)?;
    let system = |key: &'static str| move |cause: std::io::Error| Problem::failed(Message::new(key).caused_by(&cause));
    let folder = Folder::new().map_err(|cause| no_folder(&cause))?;
    let holder = Arc::new(Holder::of(session, settings, options.lease)?);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(system("work-no-threads"))?;
    let stopper = Stopper::new();
    {
        let _inside = runtime.enter();
        stopper.listen().map_err(system("signals-failed"))?;
    }
    // Inside a job it is the worker's, which ends us when it is over: the command has to have ended before.
    let grace = (settings.grace / 2).min(GRACE_MAX);
    let fingerprint = session.environment.var_os(FINGERPRINT_VAR);
    let request = match &options.request {
        Some(text) => request_hash([text.as_encoded_bytes()]),
        None => request_of(&options.program, &options.args, fingerprint.as_deref()),
    };
    let plan = options.of.plan(Some(request), grace);
    let (outcome, ended) = runtime.block_on(async {
        let (stop, told) = watch::channel(Stop::Run);
        let passing_on = tokio::spawn(pass_the_stop_on(Arc::clone(&stopper), stop));
        let keeping =
            (!holder.is_inside()).then(|| tokio::spawn(keep_the_lease(Arc::clone(&holder), settings.clone())));
        let keeper = Patient { holder: Arc::clone(&holder), stopper: Arc::clone(&stopper) };
        let mut sender = Process {
            session,
            options,
            grace,
            withheld: settings.secret_variables().into(),
            stopped: told,
            folder,
            ended: Ended::default(),
        };
        let outcome = guard(&keeper, &mut sender, &plan, (&SystemClock, &SystemEntropy)).await;
        if let Some(message) = holder.uncounted() {
            session.warn(&Warning { message, hint: None });
        }
        passing_on.abort();
        if let Some(keeping) = keeping {
            keeping.abort();
        }
        (outcome, sender.ended)
    });
    // A call that hangs in a store would keep the runtime.
    runtime.shutdown_background();
    end(session, &plan.name, outcome, ended, &settings.prices)
}

/// No folder for sockets and result files can be made.
pub(crate) fn no_folder(cause: &std::io::Error) -> Problem {
    let folder = std::env::temp_dir();
    Problem::failed(Message::new("work-no-folder").with("path", folder.display()).caused_by(cause))
        .hint(Message::new("work-no-folder-hint"))
}

async fn pass_the_stop_on(stopper: Arc<Stopper>, stop: watch::Sender<Stop>) {
    for stage in [Stopping::InOrder, Stopping::Now] {
        stopper.reaches(stage).await;
        // Nobody runs any more: there is nothing to stop.
        let _ = stop.send(stage.of_child());
    }
    // Whose sender is gone would wait for ever.
    std::future::pending::<()>().await;
}

/// Outside of `work` nobody renews the lease while the command runs.
async fn keep_the_lease(holder: Arc<Holder>, settings: Settings) {
    let beat = settings.lease / 3;
    loop {
        // At first too: whoever claimed it may have taken its time, or asked for a short one.
        let (holder, settings) = (Arc::clone(&holder), settings.clone());
        // One that is lost is told with the report.
        let _ = tokio::task::spawn_blocking(move || holder.extend(&settings)).await;
        tokio::time::sleep(beat).await;
    }
}

/// What the command says on stderr goes on to ours as it comes, from a thread that may be held up.
fn echo() -> (SyncSender<Vec<u8>>, JoinHandle<()>) {
    let (heard, words) = sync_channel::<Vec<u8>>(ECHOES);
    let echo = std::thread::spawn(move || {
        for said in words {
            // Where stderr is closed there is nobody left to read it.
            let _ = std::io::stderr().write_all(&said);
        }
    });
    (heard, echo)
}

/// A keeper that is asked again for a while.
struct Patient {
    holder: Arc<Holder>,
    stopper: Arc<Stopper>,
}

impl Patient {
    /// Beside this thread, which passes signals on meanwhile.
    async fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Holder) -> Result<T, Unheard> + Send + 'static,
    ) -> Result<T, Unheard> {
        let holder = Arc::clone(&self.holder);
        tokio::task::spawn_blocking(move || call(&holder))
            .await
            .unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
    }
}

impl Keeper for Patient {
    async fn begin(&self, plan: &Plan, id: BeginId) -> Result<EffectBegun, Unheard> {
        let plan = plan.clone();
        self.ask(move |holder| holder.begin(&plan, id)).await
    }

    async fn report(&self, name: &EffectName, number: u32, word: &Word) -> Result<ReportAnswer, Unheard> {
        let (name, word) = (name.clone(), word.clone());
        self.ask(move |holder| holder.report(&name, number, &word)).await
    }

    async fn pause(&self, wait: Duration, waited: Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(wait) => waited < PATIENCE,
            () = self.stopper.reaches(Stopping::Now) => false,
        }
    }
}

/// The command and its lookup as processes of ours.
struct Process<'a> {
    session: &'a Session,
    options: &'a EffectRunOptions,
    grace: Duration,
    withheld: Arc<[String]>,
    stopped: watch::Receiver<Stop>,
    folder: Folder,
    ended: Ended,
}

/// What is kept of the command, beside what became of the effect.
#[derive(Debug, Default)]
struct Ended {
    /// What a try cost that is not done, and its currency.
    spent: (Evidence, Option<String>),
    /// What it printed, where that is its result and is not kept with the effect.
    printed: Option<Vec<u8>>,
}

impl Process<'_> {
    fn env(&self, key: &str, result: &Path) -> Vec<(String, OsString)> {
        let of_the_job = OF_THE_JOB.iter().filter_map(|name| {
            let value = self.session.environment.var_os(name)?;
            Some(((*name).to_owned(), value))
        });
        let own = [(KEY_VAR.to_owned(), key.into()), ("COLA_IA_RESULT".to_owned(), result.into())];
        of_the_job.chain(own).collect()
    }

    fn warn(&self, message: Message) {
        self.session.warn(&Warning { message, hint: None });
    }
}

impl Sender for Process<'_> {
    async fn send(&mut self, permission: &Permission) -> Judged {
        let result = match self.folder.paths() {
            Ok((_, result)) => result,
            Err(cause) => {
                return Judged::of(super::Sent::NotSent(format!("there is no place for its result: {cause}")));
            }
        };
        let mut env = self.env(&permission.key, &result);
        env.push((TRY_VAR.to_owned(), permission.go.number.to_string().into()));
        let (heard, echo) = echo();
        let spec = Spec {
            program: self.options.program.clone(),
            args: self.options.args.clone(),
            env,
            withheld: Arc::clone(&self.withheld),
            stdin: String::new(),
            inherit: Some(heard),
            mark: None,
            time_limit: Some(self.options.of.effect.call_time),
            grace: self.grace,
        };
        let ended = child::run(spec, self.stopped.clone()).await;
        // Words that nobody takes are not waited for.
        let last = tokio::time::Instant::now() + LAST_WORDS;
        while !echo.is_finished() && tokio::time::Instant::now() < last {
            tokio::time::sleep(LAST_WORDS / 200).await;
        }
        let exit = match ended {
            Ok(exit) => exit,
            Err(why) => {
                match not_started(&self.options.program, &why) {
                    Ok((cause, _)) => self.warn(Message::new("effect-not-started").message("cause", cause)),
                    Err(problem) => self.session.problem(&problem),
                }
                return Judged::not_started(&why);
            }
        };
        let judged = judge(&exit, result::read(&result, SystemClock.now()), true);
        // What is not the result is for people.
        self.ended.spent = (judged.spent.clone(), judged.currency.clone());
        let result = match &judged.sent {
            super::Sent::Done(evidence) => evidence.result.as_deref(),
            _ => None,
        };
        if result == Some(NOT_KEPT) && !is_cut(&exit.stdout) {
            self.ended.printed = Some(exit.stdout);
        } else if result.is_none_or(|result| result == NOT_KEPT) {
            // Where stderr is closed there is nobody left to read it.
            let _ = std::io::stderr().write_all(&exit.stdout);
        }
        if let Some(fault) = &judged.fault {
            self.warn(match fault {
                Fault::NotAnObject(_) => Message::new("effect-result-no-object"),
                Fault::TooLong => Message::new("effect-result-too-long"),
                Fault::Unreadable(cause) => Message::new("effect-result-unreadable").cause("cause", cause),
                Fault::Field(name) => Message::new("effect-result-field").with("field", name),
            });
        }
        judged
    }

    async fn look(&mut self, check: &Check) -> Seen {
        // The policy says that there is one.
        let Some(line) = &self.options.of.lookup else { return Seen::Nothing("there is no lookup".to_owned()) };
        let result = match self.folder.paths() {
            Ok((_, result)) => result,
            Err(cause) => return Seen::Nothing(format!("there is no place for its result: {cause}")),
        };
        let mut env = self.env(&check.key, &result);
        env.push((BEGUN_VAR.to_owned(), check.begun_at.map(Timestamp::to_rfc3339).unwrap_or_default().into()));
        let spec = Spec {
            program: "sh".into(),
            args: EffectCommand::lookup_args(line, &check.key),
            env,
            withheld: Arc::clone(&self.withheld),
            stdin: String::new(),
            inherit: None,
            mark: None,
            time_limit: Some(self.options.of.effect.call_time),
            grace: self.grace,
        };
        match child::run(spec, self.stopped.clone()).await {
            Ok(exit) => {
                let _ = std::io::stderr().write_all(&exit.stderr);
                seen(&exit, result::read(&result, SystemClock.now()))
            }
            Err(why) => Seen::Nothing(format!("it was not started: {why:?}")),
        }
    }
}

/// Says what became of it: the result on stdout, everything else on stderr and in the file that the job's worker reads.
fn end(session: &Session, name: &EffectName, outcome: Outcome, ended: Ended, prices: &Prices) -> Result<Exit, Problem> {
    let outer = session.environment.var_os("COLA_IA_RESULT").map(PathBuf::from);
    if let Some(path) = &outer
        && let Err(cause) =
            leave(path, &for_the_job(name, &outcome, SystemClock.now()), &spent_of(&outcome, ended.spent), prices)
    {
        let message = Message::new("effect-outer-result").with("path", path.display()).caused_by(&cause);
        session.warn(&Warning { message, hint: None });
    }
    match outcome {
        Outcome::Done { evidence, replayed } => {
            if replayed {
                session.note(&told::replayed(name, &evidence));
            }
            say(session, name, &evidence, ended.printed)
        }
        Outcome::LeaseLost { done: Some(evidence) } => {
            say(session, name, &evidence, ended.printed)?;
            Err(told::late(name))
        }
        Outcome::Later(later) => {
            session.note(&told::later(name, &later));
            Ok(Exit::Later)
        }
        other => Err(told::problem(name, other)),
    }
}

/// Prints the result. `printed`: what the command has just printed, where that is more than is kept with the effect.
fn say(session: &Session, name: &EffectName, evidence: &Evidence, printed: Option<Vec<u8>>) -> Result<Exit, Problem> {
    if evidence.result.as_deref() != Some(NOT_KEPT) {
        return print(&result_line(evidence));
    }
    let message = Message::new("effect-output-not-kept").with("name", name);
    match printed {
        Some(printed) => {
            session.warn(&Warning { message, hint: None });
            let text = String::from_utf8_lossy(&printed);
            print(&format!("{}\n", text.trim_end_matches(['\n', '\r'])))
        }
        None => Err(Problem::failed(message).hint(Message::new("effect-output-not-kept-hint"))),
    }
}

/// What a try cost is counted with its effect where it is done, and with the job's attempt where nothing came of it.
fn spent_of(outcome: &Outcome, spent: (Evidence, Option<String>)) -> (Evidence, Option<String>) {
    match outcome {
        Outcome::Rejected(_) | Outcome::Later(Later::NotSent(..)) | Outcome::LeaseLost { done: None } => spent,
        _ => (Evidence::default(), None),
    }
}

/// What is known of what happened, the same whether it happened now or before: its result, or the id of what it made.
fn result_line(evidence: &Evidence) -> String {
    let said = match (&evidence.result, &evidence.resource_id) {
        (Some(result), _) => serde_json::from_str::<String>(result).unwrap_or_else(|_| one_line(result)),
        (None, Some(id)) => id_on_a_line(id).into_owned(),
        (None, None) => return String::new(),
    };
    said + "\n"
}

/// JSON on one line: line feeds stand between its tokens only.
pub(crate) fn one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

type Fields = BTreeMap<String, Box<RawValue>>;

/// What the job's result gets. Neither cost nor tokens: they are counted with the effect.
fn for_the_job(name: &EffectName, outcome: &Outcome, now: Timestamp) -> Fields {
    let mut fields = Fields::new();
    let mut put = |field: &str, value: &str| {
        // A text always has a JSON form.
        fields.extend(to_raw_value(value).ok().map(|value| (field.to_owned(), value)));
    };
    match outcome {
        Outcome::Done { evidence, .. } => {
            if let Some(id) = &evidence.resource_id {
                put("resource_id", id);
            }
            let result: Option<Fields> = evidence
                .result
                .as_deref()
                .filter(|result| *result != NOT_KEPT)
                .and_then(|result| serde_json::from_str(result).ok());
            fields.extend(result.unwrap_or_default());
        }
        Outcome::Later(later) => {
            let until = match later {
                Later::Wait(until) | Later::Budget(until) => Some(*until),
                Later::NotSent(_, until) => *until,
                Later::CouldNotTell(_) => None,
            };
            if let Some(until) = until {
                put("retry_after", &seconds_until(until, now).to_string());
            }
            put("error_class", later.class());
            if let Later::CouldNotTell(why) | Later::NotSent(why, _) = later {
                put("error", &format!("{name}: {why}"));
            }
        }
        Outcome::Rejected(why) => {
            put("error_class", "effect_rejected");
            put("error", &format!("{name}: {why}"));
        }
        Outcome::Unknown(why) => {
            put("error_class", "effect_unknown");
            put("error", &format!("{name}: {why}"));
        }
        Outcome::NotRecorded { .. } => put("error_class", "effect_unknown"),
        Outcome::Refused(refused) => put("error_class", told::refused_class(*refused)),
        Outcome::Held(_) | Outcome::LeaseLost { .. } | Outcome::NotBegun(_) => {}
    }
    fields
}

impl Later {
    /// A word for the kind of it, with the attempt.
    pub(crate) const fn class(&self) -> &'static str {
        match self {
            Self::Wait(_) => "effect_wait",
            Self::Budget(_) => "effect_budget",
            Self::CouldNotTell(_) => "effect_lookup",
            Self::NotSent(..) => "effect_not_sent",
        }
    }
}

/// Whole seconds, rounded up: never earlier.
pub(crate) fn seconds_until(until: Timestamp, now: Timestamp) -> u64 {
    (until.as_micros().saturating_sub(now.as_micros()).max(0) as u64).div_ceil(1_000_000)
}

/// Adds what a try cost to what the job tells of its cost already. Of two models neither is the job's: then the costs count.
fn add_spent(all: &mut Fields, (spent, currency): &(Evidence, Option<String>), prices: &Prices) {
    if *spent == Evidence::default() {
        return;
    }
    let found = serde_json::to_vec(all).unwrap_or_default();
    let (mut there, _) = ResultFile::read_what_can_be(&found).unwrap_or_default();
    let price = |model: &Option<String>, tokens_in, tokens_out| {
        model.as_ref().and_then(|model| prices.cost(model, tokens_in, tokens_out)).map(Micros::get)
    };
    let told = spent.cost.map(Micros::get);
    let more = told.or_else(|| price(&spent.model, spent.tokens_in, spent.tokens_out));
    let before = there.cost_micros.or_else(|| price(&there.model, there.tokens_in, there.tokens_out));
    let same = there.cost_micros.is_none() || there.currency == *currency || told.is_none() && there.currency.is_none();
    let sum = |one: Option<i64>, other: Option<i64>| match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    };
    let mut put = |field: &str, value: Option<Box<RawValue>>| {
        all.extend(value.map(|value| (field.to_owned(), value)));
    };
    if same && let Some(cost) = sum(before, more) {
        let text = format!("{}.{:06}", cost / 1_000_000, cost % 1_000_000);
        put("cost", to_raw_value(&text).ok());
        put("currency", currency.as_ref().and_then(|currency| to_raw_value(currency).ok()));
    }
    let number = |number: Option<i64>| number.and_then(|number| to_raw_value(&number).ok());
    put("tokens_in", number(sum(there.tokens_in, spent.tokens_in)));
    put("tokens_out", number(sum(there.tokens_out, spent.tokens_out)));
    let model = there.model.take().or_else(|| spent.model.clone());
    put("model", model.and_then(|model| to_raw_value(&model).ok()));
}

/// Puts fields into the object in a file, and adds what was spent. What is no object is left alone: its worker says so.
fn leave(path: &Path, fields: &Fields, spent: &(Evidence, Option<String>), prices: &Prices) -> std::io::Result<()> {
    if fields.is_empty() && spent.0 == Evidence::default() {
        return Ok(());
    }
    let found = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(cause) => return Err(cause),
    };
    let mut all: Fields = if found.trim_ascii().is_empty() {
        Fields::new()
    } else {
        match serde_json::from_slice(&found) {
            Ok(all) => all,
            Err(_) => return Ok(()),
        }
    };
    all.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
    add_spent(&mut all, spent, prices);
    // Killed in between it leaves what was there.
    let mut next = path.as_os_str().to_owned();
    next.push(".next");
    std::fs::write(&next, serde_json::to_vec(&all)?)?;
    std::fs::rename(&next, path)
}

#[cfg(test)]
mod tests {
    use cola_ia_core::effect::Refused;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000);

    fn left_by(outcome: &Outcome) -> String {
        let name = EffectName::new("publish").unwrap();
        serde_json::to_string(&for_the_job(&name, outcome, NOW)).unwrap()
    }

    #[test]
    fn a_job_gets_what_its_effect_made_but_not_its_cost_a_second_time() {
        let evidence = Evidence {
            resource_id: Some("post-9".to_owned()),
            result: Some(r#"{"title":"x","n":1.10}"#.to_owned()),
            cost: cola_ia_core::effect::Micros::new(5),
            tokens_in: Some(7),
            ..Evidence::default()
        };
        let done = Outcome::Done { evidence, replayed: true };
        assert_eq!(left_by(&done), r#"{"n":1.10,"resource_id":"post-9","title":"x"}"#);
        let until = Timestamp::from_micros(2_000_001);
        assert_eq!(left_by(&Outcome::Later(Later::Wait(until))), r#"{"error_class":"effect_wait","retry_after":"2"}"#);
        assert_eq!(left_by(&Outcome::Refused(Refused::OtherRequest)), r#"{"error_class":"effect_mismatch"}"#);
    }

    #[test]
    fn fields_are_put_beside_those_that_are_there_and_no_other_file_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        let fields: Fields = serde_json::from_str(r#"{"resource_id":"post-9"}"#).unwrap();
        let after = |before: Option<&str>| {
            let _ = std::fs::remove_file(&path);
            if let Some(before) = before {
                std::fs::write(&path, before).unwrap();
            }
            leave(&path, &fields, &(Evidence::default(), None), &Prices::default()).unwrap();
            std::fs::read_to_string(&path).unwrap()
        };
        assert_eq!(after(None), r#"{"resource_id":"post-9"}"#);
        assert_eq!(after(Some(" \n")), r#"{"resource_id":"post-9"}"#);
        assert_eq!(after(Some(r#"{"z":1e400,"resource_id":1}"#)), r#"{"resource_id":"post-9","z":1e400}"#);
        assert_eq!(after(Some("oops")), "oops");
    }

    #[test]
    fn the_line_is_the_same_for_what_happened_now_and_before() {
        let line = |resource: Option<&str>, result: Option<&str>| {
            let (resource_id, result) = (resource.map(str::to_owned), result.map(str::to_owned));
            result_line(&Evidence { resource_id, result, ..Evidence::default() })
        };
        assert_eq!(line(Some("post-9"), None), "post-9\n");
        assert_eq!(line(Some("post-9"), Some("{\"a\":\n1}")), "{\"a\": 1}\n");
        assert_eq!(line(None, Some(r#""two\nlines""#)), "two\nlines\n");
        assert_eq!(line(None, None), "");
    }
}
