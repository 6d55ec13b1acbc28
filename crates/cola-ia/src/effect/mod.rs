//! An effect from its sender's side: ask before sending, look before repeating, say what happened.
//!
//! ```text
//! guard.rs    the protocol: begin, send or look, report; over whoever keeps the ledger and whoever sends
//! sent.rs     from how a command ended to what is said of its try
//! holder.rs   who keeps the ledger: a store, or inside of a job the worker that runs it
//! run.rs      `effect run`: a command as one effect
//! ```
//! `work --effect` is the same protocol inside of the worker.

mod guard;
pub(crate) mod holder;
mod run;
mod sent;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

use cola_ia_core::effect::{EffectName, Micros, Policy, RequestHash, request_hash};

pub(crate) use guard::{Check, Keeper, Later, Outcome, Permission, Plan, Seen, Sender, Unheard, Word, guard};
pub use run::{EffectRunOptions, run};
pub(crate) use run::{no_folder, one_line, seconds_until};
pub(crate) use sent::{Judged, NOT_KEPT, Sent, evidence, judge, seen};

/// How long after `begin` it may be sent, where nobody says.
pub const SEND_WITHIN: Duration = Duration::from_secs(30);
/// How long a call may take, where nobody says.
pub const CALL_TIME: Duration = Duration::from_mins(5);
/// The longest time that may be said of an effect.
pub const LONGEST: Duration = Duration::from_hours(366 * 24);
/// What a command that is killed may take to be gone, beside its grace.
pub(crate) const KILL_TIME: Duration = Duration::from_secs(3);
/// The key of the effect, for a command that sends it or looks it up.
pub(crate) const KEY_VAR: &str = "COLA_IA_EFFECT_KEY";
/// The number of the try, for a command that sends it.
pub(crate) const TRY_VAR: &str = "COLA_IA_EFFECT_TRY";
/// When it can have been sent first, for a lookup; empty where nobody knows.
pub(crate) const BEGUN_VAR: &str = "COLA_IA_EFFECT_BEGUN_AT";
/// SHA-256 of the job's text: what is sent is made of it, and it is the same on each attempt.
pub(crate) const FINGERPRINT_VAR: &str = "COLA_IA_FINGERPRINT";

/// What is said of an effect before it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectOptions {
    /// Its name.
    pub name: EffectName,
    /// `--key-ttl`, `--lookup`, `--settle`, `--otherwise`, `--retry-below`
    pub policy: Policy,
    /// `--max-cost`
    pub expected: Option<Micros>,
    /// `--send-within`
    pub send_within: Duration,
    /// `--call-time`, or `--timeout` of a command.
    pub call_time: Duration,
}

/// A command that is one effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectCommand {
    /// What is said of it before.
    pub effect: EffectOptions,
    /// `--lookup`: a line for the shell.
    pub lookup: Option<OsString>,
}

impl EffectCommand {
    /// The plan for a command that has its time and then this grace.
    pub(crate) fn plan(&self, request: Option<RequestHash>, grace: Duration) -> Plan {
        let EffectOptions { name, policy, expected, send_within, call_time } = self.effect.clone();
        Plan { name, policy, request, expected, send_within, call_time: call_time + grace + KILL_TIME }
    }

    /// How the lookup is run: the shell reads the line, and gives what it names the key as its last argument.
    pub(crate) fn lookup_args(line: &OsStr, key: &str) -> Vec<OsString> {
        let mut script = line.to_owned();
        script.push(" \"$@\"");
        vec!["-c".into(), script, "lookup".into(), key.into()]
    }
}

/// What tells one request of a command from another: what it runs, and the text of the job.
pub(crate) fn request_of(program: &OsStr, args: &[OsString], fingerprint: Option<&OsStr>) -> RequestHash {
    let words = [program].into_iter().chain(args.iter().map(OsString::as_os_str));
    request_hash(words.chain(fingerprint).map(OsStr::as_bytes))
}
