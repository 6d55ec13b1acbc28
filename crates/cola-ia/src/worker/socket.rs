//! The socket on which a job's command speaks of its own job, without an address of the store and without a token.
//!
//! `extend` and what is said of effects go to the store at once. `complete`, `fail` and `release` are kept and recorded when the command has ended,
//! together with its exit code and its output; the first of them counts.

use std::borrow::Cow;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::filter::is_code;
use cola_ia_core::job::{Ending, LEASE_MAX, LeaseToken, RetryPolicy, Setback};
use cola_ia_core::price::Prices;
use cola_ia_core::store::{JobRun, LeaseLost, RESOURCE_ID_MAX_BYTES, RESULT_MAX_BYTES, Report, Store};
use cola_ia_wire::{EffectRequest, InsideAnswer, InsideRequest, VERSION};
use serde_json::to_vec;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

use super::verdict::{EffectsSeen, Said};
use super::voice::Voice;

/// Longest request: the longest result, escaped as JSON, and room for everything else.
const REQUEST_MAX_BYTES: u64 = 512 * 1024;
/// The shortest lease, as of the setting.
const LEASE_MIN: Duration = Duration::from_secs(1);
/// Connections of one job at a time; more wait.
const CONNECTIONS_MAX: usize = 16;

/// The socket of one job. Dropping it closes it and removes it.
#[derive(Debug)]
pub(super) struct Socket {
    path: PathBuf,
    job: Arc<JobLine>,
    accepting: JoinHandle<()>,
}

/// What the socket serves.
pub(super) struct JobLine {
    pub(super) store: Arc<dyn Store>,
    pub(super) token: LeaseToken,
    /// How long `extend` extends where it does not say.
    pub(super) lease: Duration,
    /// The job that the lease is of.
    pub(super) job: JobRun,
    pub(super) policy: RetryPolicy,
    pub(super) prices: Prices,
    pub(super) voice: Voice,
    /// Set where the ledger ends the lease.
    pub(super) settled: Arc<AtomicBool>,
    pub(super) said: Mutex<Option<Said>>,
    pub(super) effects: Mutex<EffectsSeen>,
}

impl std::fmt::Debug for JobLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobLine").field("token", &self.token).finish_non_exhaustive()
    }
}

impl Socket {
    /// Listens at `path`, mode 0600, from now on.
    pub(super) fn open(path: PathBuf, job: JobLine) -> io::Result<Self> {
        let listener = UnixListener::bind(&path)?;
        let job = Arc::new(job);
        let accepting = tokio::spawn(accept(listener, Arc::clone(&job)));
        let socket = Self { path, job, accepting };
        // Until then the folder keeps others out.
        fs::set_permissions(&socket.path, Permissions::from_mode(0o600))?;
        Ok(socket)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What was said until now.
    pub(super) fn said(&self) -> Option<Said> {
        self.job.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was said, and what the ledger answered. From then on nothing is heard.
    pub(super) fn close(self) -> (Option<Said>, EffectsSeen) {
        let said = self.job.said.lock().unwrap_or_else(PoisonError::into_inner).take();
        (said, std::mem::take(&mut *self.job.effects.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.accepting.abort();
        // What stays is removed with the folder.
        let _ = fs::remove_file(&self.path);
    }
}

async fn accept(listener: UnixListener, job: Arc<JobLine>) {
    // With this task its connections end.
    let mut connections = JoinSet::new();
    loop {
        if connections.len() >= CONNECTIONS_MAX {
            connections.join_next().await;
        }
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let job = Arc::clone(&job);
                    connections.spawn(async move { job.serve(stream).await });
                }
                // No descriptor is free: one will be.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

impl JobLine {
    async fn serve(&self, stream: UnixStream) {
        let (reading, mut writing) = stream.into_split();
        let mut lines = BufReader::new(reading);
        loop {
            let mut line = Vec::new();
            match (&mut lines).take(REQUEST_MAX_BYTES).read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let is_whole = line.ends_with(b"\n");
            let Ok(mut text) = (if is_whole { self.answer(&line).await } else { to_vec(&invalid("request_too_long")) })
            else {
                return;
            };
            text.push(b'\n');
            if writing.write_all(&text).await.is_err() || !is_whole {
                return;
            }
        }
    }

    async fn answer(&self, line: &[u8]) -> serde_json::Result<Vec<u8>> {
        if let Ok(request) = serde_json::from_slice::<EffectRequest<'_>>(line)
            && request.verb.starts_with("effect_")
        {
            return self.answer_of_effects(&request).await;
        }
        if is_of_effects(line) {
            return to_vec(&invalid("request_syntax"));
        }
        to_vec(&self.answer_of_job(line).await)
    }

    async fn answer_of_job(&self, line: &[u8]) -> InsideAnswer<'static> {
        let Ok(request) = serde_json::from_slice::<InsideRequest<'_>>(line) else { return invalid("request_syntax") };
        if request.v != VERSION {
            return invalid("request_version");
        }
        if request.verb == "extend" {
            let length = request.lease_ms.map_or(self.lease, Duration::from_millis);
            // As `--lease`.
            if !(LEASE_MIN..=LEASE_MAX).contains(&length) {
                return invalid("lease_range");
            }
            return self.extend(length).await;
        }
        match said(&request) {
            Ok(said) => self.keep(said),
            Err(code) => invalid(code),
        }
    }

    async fn extend(&self, length: Duration) -> InsideAnswer<'static> {
        match self.store.extend(vec![self.token], length).await {
            Ok(answers) => match answers.first() {
                Some(Ok(until)) => InsideAnswer { lease_until: Some(until.to_rfc3339()), ..answer("ok") },
                Some(Err(lost)) => lease_lost(*lost),
                None => invalid("request_syntax"),
            },
            Err(error) => InsideAnswer { code: Some(Cow::Borrowed(error.code)), ..answer("unavailable") },
        }
    }

    fn keep(&self, said: Said) -> InsideAnswer<'static> {
        let mut kept = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            // As from a store: the same word again is answered the same, another one comes too late.
            Some(first) if first.ending.outcome() != said.ending.outcome() => {
                lease_lost(LeaseLost { superseded_by: None })
            }
            Some(_) => answer("ok"),
            None => {
                *kept = Some(said);
                answer("ok")
            }
        }
    }
}

/// Whether its verb is one of effects, whatever the rest is like.
fn is_of_effects(line: &[u8]) -> bool {
    let request = serde_json::from_slice::<serde_json::Value>(line).ok();
    request.as_ref().and_then(|request| request["verb"].as_str()).is_some_and(|verb| verb.starts_with("effect_"))
}

fn said(request: &InsideRequest<'_>) -> Result<Said, &'static str> {
    let not_before = match &request.not_before {
        Some(text) => Some(Timestamp::parse_rfc3339(text).ok_or("not_before_syntax")?),
        None => None,
    };
    let setback = if request.permanent { Setback::Permanent } else { Setback::Error };
    let ending = match (&*request.verb, not_before) {
        ("complete", None) => Ending::Done,
        ("fail", not_before) => Ending::Failed { setback, not_before },
        ("release", Some(not_before)) => Ending::Later { not_before },
        ("release", None) => Ending::Released,
        _ => return Err("verb_unknown"),
    };
    let text = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
    if request.error_class.as_deref().is_some_and(|class| !is_code(class)) {
        return Err("error_class_syntax");
    }
    let report = Report {
        error_class: text(&request.error_class),
        error: text(&request.error),
        resource_id: resource_id(request.resource_id.as_deref())?,
        result: result(request.result.as_deref())?,
        cost_micros: not_negative(request.cost_micros, "cost_range")?,
        tokens_in: not_negative(request.tokens_in, "tokens_range")?,
        tokens_out: not_negative(request.tokens_out, "tokens_range")?,
        model: text(&request.model),
        ..Report::default()
    };
    Ok(Said { ending, report, currency: text(&request.currency) })
}

/// A resource's id: one that were cut would name another resource.
pub(super) fn resource_id(id: Option<&str>) -> Result<Option<String>, &'static str> {
    match id {
        Some(id) if id.len() > RESOURCE_ID_MAX_BYTES => Err("resource_id_too_long"),
        id => Ok(id.map(str::to_owned)),
    }
}

/// A result: JSON that fits. Cut it would be no JSON any more.
pub(super) fn result(result: Option<&str>) -> Result<Option<String>, &'static str> {
    match result {
        Some(result) if result.len() > RESULT_MAX_BYTES => Err("result_too_long"),
        Some(result) if serde_json::from_str::<&RawValue>(result).is_err() => Err("result_syntax"),
        result => Ok(result.map(str::to_owned)),
    }
}

pub(super) fn not_negative(number: Option<i64>, code: &'static str) -> Result<Option<i64>, &'static str> {
    if number.is_some_and(i64::is_negative) { Err(code) } else { Ok(number) }
}

const fn answer(result: &'static str) -> InsideAnswer<'static> {
    InsideAnswer { v: VERSION, result: Cow::Borrowed(result), lease_until: None, superseded_by: None, code: None }
}

fn invalid(code: &'static str) -> InsideAnswer<'static> {
    InsideAnswer { code: Some(Cow::Borrowed(code)), ..answer("invalid") }
}

fn lease_lost(lost: LeaseLost) -> InsideAnswer<'static> {
    InsideAnswer { superseded_by: lost.superseded_by, ..answer("lease_lost") }
}
