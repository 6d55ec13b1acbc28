//! One job, from its lease to the record of its end.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cola_ia_core::clock::{Clock as _, SystemClock};
use cola_ia_core::effect::{EffectName, JOB_EFFECT, effect_key};
use cola_ia_core::event::{EventType, Fingerprint};
use cola_ia_core::job::{Ending, LeaseToken, Setback};
use cola_ia_core::store::{End, EndRefused, Ended, LeaseLost, Leased, Report, StoreError};

use super::Worker;
use super::child::{self, Exit, NotStarted, Spec};
use super::claiming::Place;
use super::cost;
use super::gather::Answer;
use super::guarded::{self, Guarded, end_of, job_run};
use super::held::Grip;
use super::inside::{LEASE_VAR, SOCKET_VAR};
use super::keeper::started;
use super::outage::{Backoff, can_pass};
use super::result::{self, Fault, LeftResult};
use super::socket::{JobLine, Socket};
use super::stop::Stopping;
use super::verdict::{EffectsSeen, Facts, Said, judge};
use super::voice::Finished;
use crate::cli::work::{StdinForm, not_started};
use crate::effect::{FINGERPRINT_VAR, Outcome};
use crate::lang::Message;
use crate::print::id_on_a_line;

/// A command that could not be started is not tried again sooner, whatever the settings say.
const NOT_STARTED_LEAST: Duration = Duration::from_secs(10);

/// What a run of the command left.
struct Ran {
    /// None where it was not run, because its effect had happened before or could not be sent now.
    command: Option<(Exit, LeftResult)>,
    /// With `--effect`.
    outcome: Option<Outcome>,
    said: Option<Said>,
    effects: EffectsSeen,
}

/// Why there is none.
enum NotRun {
    Command(NotStarted),
    /// What the command needs could not be made.
    Place(io::Error),
    Store(StoreError),
}

/// Runs the command for a job, when it is its turn, and tells the store how it ended. Its place is free again when the command
/// has ended.
pub(super) async fn work_on(worker: Arc<Worker>, leased: Leased, turn: impl Future<Output = Option<Place>>) {
    let token = leased.token;
    let grip = worker.held.take(token, leased.job.event, id_on_a_line(&leased.job.id).into_owned());
    // Stopping may have begun since the claim.
    worker.held.stop(worker.stopper.state());
    let place = tokio::select! {
        biased;
        place = turn => place,
        () = worker.stopper.reaches(Stopping::InOrder) => None,
    };
    if place.is_none() && worker.stopper.state() == Stopping::No {
        // It was claimed ahead, and what runs takes longer than was thought: whoever has a place may have it.
        worker.pace.is_slow();
        if !grip.is_lost() {
            let end = End { token, ending: Ending::Released, report: Report::default() };
            record(&worker, end, None).await;
        }
        worker.held.let_go(token);
        return;
    }
    let begun = Instant::now();
    let ran = match place {
        Some(_) => run(&worker, &leased, &grip).await,
        None => Err(NotRun::Command(NotStarted::Stopped)),
    };
    let took = begun.elapsed();
    match ran {
        Ok(ran) => {
            worker.pace.heard(took);
            worker.can_start();
            warn(&worker, &leased, &ran);
            let now = SystemClock.now();
            let was_stopped = ran.command.as_ref().is_some_and(|(exit, _)| exit.cause == child::Cause::Stopped);
            let Ran { command, outcome, said, effects } = ran;
            let settled = grip.settled.load(Ordering::SeqCst);
            let facts = command.map(|(exit, left)| Facts { exit, said, effects, left, now, policy: &worker.policy });
            let currency = facts.as_ref().and_then(Facts::currency);
            let (ending, mut report) = match (outcome, facts) {
                (Some(outcome), facts) => {
                    if let Outcome::NotBegun(problem) = &outcome
                        && worker.stopper.state() != Stopping::Now
                    {
                        worker.stopper.because(problem.clone());
                    }
                    end_of(&outcome, facts, now, &worker.policy)
                }
                (None, Some(facts)) => judge(facts),
                (None, None) => (Ending::Released, Report::default()),
            };
            // What is counted with an effect is not in it.
            cost::settle(&worker, &leased.job.id, &mut report, currency).await;
            // A command that was stopped because its lease is lost has nothing to report; the store knows.
            if settled || !(grip.is_lost() && was_stopped) {
                finish(&worker, leased, ending, report, took, place).await;
            }
        }
        // One that was lost before it was begun is not ours to give back.
        Err(NotRun::Command(NotStarted::Stopped)) if grip.is_lost() => {}
        Err(why) => give_back(&worker, leased, why, place).await,
    }
    worker.held.let_go(token);
}

async fn run(worker: &Worker, leased: &Leased, grip: &Grip) -> Result<Ran, NotRun> {
    let (socket, result_path) = worker.folder.paths().map_err(NotRun::Place)?;
    let line = JobLine {
        store: Arc::clone(&worker.store),
        token: leased.token,
        lease: worker.lease,
        job: job_run(leased),
        policy: worker.policy,
        settled: Arc::clone(&grip.settled),
        prices: worker.prices.clone(),
        voice: worker.voice.clone(),
        said: Mutex::default(),
        effects: Mutex::default(),
    };
    let socket = Socket::open(socket, line).map_err(NotRun::Place)?;
    let env = environment(worker, leased, socket.path(), &result_path).await.map_err(NotRun::Store)?;
    let stdin = match worker.how.stdin {
        StdinForm::Text => leased.text.clone(),
        StdinForm::Json => as_json(leased),
    };
    let spec = || Spec {
        program: worker.how.program.clone(),
        args: worker.how.args.clone(),
        env: env.clone(),
        withheld: Arc::clone(&worker.withheld),
        stdin: stdin.clone(),
        inherit: None,
        mark: Some(LEASE_VAR),
        time_limit: worker.time_limit,
        grace: worker.grace,
    };
    let (command, outcome) = match &worker.how.effect {
        None => {
            let exit = child::run(spec(), grip.stop.clone()).await.map_err(NotRun::Command);
            let left = result::read(&result_path, SystemClock.now());
            // What stays is removed with the folder.
            let _ = std::fs::remove_file(&result_path);
            (Some((exit?, left)), None)
        }
        Some(of) => {
            let Guarded { outcome, ran, not_started } =
                guarded::run(worker, leased, grip, of, (spec, &leased.text, &result_path, || socket.said())).await;
            if let Some(why) = not_started {
                return Err(NotRun::Command(why));
            }
            (ran, Some(outcome))
        }
    };
    let (said, effects) = socket.close();
    Ok(Ran { command, outcome, said, effects })
}

/// What the command finds in its environment.
async fn environment(
    worker: &Worker,
    leased: &Leased,
    socket: &Path,
    result: &Path,
) -> Result<Vec<(String, OsString)>, StoreError> {
    let namespace = worker.namespace().await?;
    let job = &leased.job;
    let key = effect_key(&namespace, &job.source, &job.id, job.run, JOB_EFFECT);
    let event_type = job.event_type.as_ref().map(EventType::as_str).unwrap_or_default();
    let texts = [
        ("COLA_IA_ID", job.id.clone()),
        ("COLA_IA_SOURCE", job.source.as_str().to_owned()),
        ("COLA_IA_TYPE", event_type.to_owned()),
        ("COLA_IA_JOB", job.event.0.to_string()),
        ("COLA_IA_RUN", job.run.to_string()),
        ("COLA_IA_ATTEMPT", leased.attempt.to_string()),
        (LEASE_VAR, leased.token.to_string()),
        // For `effect run`: what it runs is to have ended before it is ended itself.
        ("COLA_IA_GRACE", format!("{}ms", worker.grace.as_millis())),
        ("COLA_IA_KEY", key),
        (FINGERPRINT_VAR, Fingerprint::of(&leased.text).to_string()),
    ];
    let texts = texts.into_iter().map(|(name, value)| (name, OsString::from(value)));
    let paths = [(SOCKET_VAR, socket.into()), ("COLA_IA_RESULT", result.into())];
    Ok(texts.chain(paths).map(|(name, value)| (name.to_owned(), value)).collect())
}

/// The whole job as one line, as `claim --json` prints it.
fn as_json(leased: &Leased) -> String {
    let line = cola_ia_wire::Lease::new(leased);
    // Texts, numbers and lists always have a JSON form.
    serde_json::to_string(&line).unwrap_or_default() + "\n"
}

/// What is odd about a run and changes nothing.
fn warn(worker: &Worker, leased: &Leased, ran: &Ran) {
    let about = |key: &'static str| Message::new(key).with("id", id_on_a_line(&leased.job.id));
    let Some((exit, left)) = &ran.command else { return };
    if exit.escaped {
        worker.voice.warn(about("work-escaped"));
    }
    if let Some(fault) = &left.fault {
        worker.voice.warn(match fault {
            Fault::NotAnObject(_) => about("work-result-no-object"),
            Fault::TooLong => about("work-result-too-long"),
            Fault::Unreadable(cause) => about("work-result-unreadable").cause("cause", cause),
            Fault::Field(name) => about("work-result-field").with("field", name),
        });
    }
}

/// Tells the store how the command ended, and people what the store says.
async fn finish(worker: &Worker, leased: Leased, ending: Ending, report: Report, took: Duration, place: Option<Place>) {
    let end = End { token: leased.token, ending, report };
    let (answer, end) = record(worker, end, place).await;
    let Some(answer) = answer else { return };
    if ending == Ending::Released && answer.is_ok() && worker.stopper.state() != Stopping::No {
        worker.count_released();
        return;
    }
    let Leased { job, attempt, .. } = leased;
    let outcome = ending.outcome();
    worker.voice.finished(Finished { job, attempt, outcome, answer, report: end.report, took }).await;
}

/// A job whose command was not run goes back; that costs no attempt.
async fn give_back(worker: &Worker, leased: Leased, why: NotRun, place: Option<Place>) {
    let wait = worker.policy.first_wait.max(NOT_STARTED_LEAST);
    let later = Ending::Later { not_before: SystemClock.now().after(wait) };
    let (ending, error) = match why {
        NotRun::Command(NotStarted::Stopped) => (Ending::Released, None),
        NotRun::Command(why) => match not_started(&worker.how.program, &why) {
            // It is the same for every job.
            Err(problem) => {
                worker.stopper.because(problem);
                (Ending::Released, None)
            }
            Ok(cause) => (later, Some(cause)),
        },
        NotRun::Place(cause) => (later, Some((Message::new("work-cause").caused_by(&cause), cause.to_string()))),
        NotRun::Store(error) if can_pass(&error) => {
            worker.outage.failed(&error);
            (Ending::Released, None)
        }
        NotRun::Store(error) => {
            worker.stopper.because(crate::cli::Problem::from_store(&error));
            (Ending::Released, None)
        }
    };
    let mut report = Report::default();
    if let Some((message, text)) = error {
        worker.cannot_start(&leased.job.id, &text, message);
        report.error_class = Some("not_started".to_owned());
        report.error = Some(text);
    }
    if let (Some(Ok(_)), _) = record(worker, End { token: leased.token, ending, report }, place).await {
        worker.count_released();
    }
}

/// Records an end, however long that takes: it is kept until the store takes it, or says that the lease is lost. `None`: the
/// store will never take it, or there is no time left to ask.
pub(super) async fn record(worker: &Worker, end: End, place: Option<Place>) -> (Option<Result<Ended, LeaseLost>>, End) {
    let token: LeaseToken = end.token;
    let (mut end, mut place) = (end, place);
    let mut backoff = Backoff::default();
    let answer = loop {
        match recorded(worker, &end, &mut place).await {
            Ok(answer) => {
                worker.outage.is_over();
                match answer {
                    Err(EndRefused::Unresolved(names)) => end = unresolved(token, &end.report, &names),
                    Err(EndRefused::LeaseLost(lost)) => break Some(Err(lost)),
                    Ok(ended) => break Some(Ok(ended)),
                }
            }
            Err(error) if can_pass(&error) => {
                worker.held.set_ending(token, false);
                if worker.stopper.state() == Stopping::Now {
                    break None;
                }
                worker.outage.failed(&error);
                backoff.wait(&worker.stopper).await;
            }
            Err(error) => {
                worker.stopper.because(crate::cli::Problem::from_store(&error));
                break None;
            }
        }
    };
    (answer, end)
}

/// One try to record it. The place goes to whoever waits for it once the end stands in line.
async fn recorded(worker: &Worker, end: &End, place: &mut Option<Place>) -> Answer {
    let is_alone = place.as_ref().is_some_and(Place::is_alone);
    if worker.pace.is_short(worker.how.jobs) && !is_alone && worker.stopper.state() == Stopping::No {
        drop(place.take());
        return worker.gather.end(worker, end.clone()).await;
    }
    let (call, first) = {
        let order = worker.order.lock().await;
        worker.held.set_ending(end.token, true);
        let mut call = worker.store.end(Arc::new(vec![end.clone()]), worker.policy);
        let first = started(&mut call).await;
        drop(order);
        (call, first)
    };
    // A claim stands behind the end and may share its commit.
    drop(place.take_if(|place| !place.is_alone()));
    let mut answers = match first {
        Some(answers) => answers,
        None => call.await,
    }?;
    // One for each end.
    Ok(answers.pop().unwrap_or(Err(EndRefused::LeaseLost(LeaseLost { superseded_by: None }))))
}

/// The end of an attempt that says it is done while nobody knows what became of its effects: a further one finds out, by their
/// policies.
fn unresolved(token: LeaseToken, report: &Report, names: &[EffectName]) -> End {
    let names: Vec<&str> = names.iter().map(EffectName::as_str).collect();
    let report = Report {
        error_class: Some("effects_unresolved".to_owned()),
        error: Some(format!("it ended well, and nobody knows what became of its effects: {}", names.join(", "))),
        ..report.clone()
    };
    End { token, ending: Ending::Failed { setback: Setback::Error, not_before: None }, report }
}
