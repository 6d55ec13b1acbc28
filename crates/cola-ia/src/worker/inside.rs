//! A command inside of a job: what it says of the job goes to the worker that runs it, and needs no store.

use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::{Ending, LeaseToken, Setback};
use cola_ia_core::store::{LeaseLost, Report};
use cola_ia_wire::{InsideAnswer, InsideRequest, VERSION};
use serde::Serialize;

use crate::cli::Problem;
use crate::config::Environment;
use crate::lang::Message;

/// Variables that a worker gives its command.
pub(crate) const SOCKET_VAR: &str = "COLA_IA_SOCKET";
pub(crate) const LEASE_VAR: &str = "COLA_IA_LEASE";
/// How long an answer is waited for: a store that is locked can take its time, and a worker that was stopped too.
const PATIENCE: Duration = Duration::from_mins(2);

/// Why there was no answer.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) cause: io::ErrorKind,
    pub(crate) problem: Problem,
}

/// The job that this process is inside of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    socket: PathBuf,
    lease: LeaseToken,
}

impl Inside {
    /// The job that this process runs inside of, where `lease` is that job's or is left out. `None`: a store is needed.
    pub fn of(environment: &Environment, lease: Option<LeaseToken>) -> Option<Self> {
        let socket = PathBuf::from(environment.var_os(SOCKET_VAR)?);
        let own = LeaseToken::parse(&environment.var(LEASE_VAR)?)?;
        lease.is_none_or(|lease| lease == own).then_some(Self { socket, lease: own })
    }

    /// The job's lease.
    pub const fn lease(&self) -> LeaseToken {
        self.lease
    }

    /// Makes the lease last `length` from now on; `None`: as long as the worker's leases do. Answers until when.
    ///
    /// # Errors
    /// The worker does not answer, or its store cannot be used.
    pub fn extend(&self, length: Option<Duration>) -> Result<Result<Timestamp, LeaseLost>, Problem> {
        let lease_ms = length.map(|length| u64::try_from(length.as_millis()).unwrap_or(u64::MAX));
        let asked = self.ask(&InsideRequest { lease_ms, ..request("extend") });
        let text = asked.map_err(|asked| asked.problem)?;
        let answer = Self::understand(&text)?;
        Ok(match answer.lease_until.as_deref().and_then(Timestamp::parse_rfc3339) {
            Some(until) => Ok(until),
            None => Err(LeaseLost { superseded_by: answer.superseded_by }),
        })
    }

    /// Says how the job ends: recorded when the command has ended, whatever its exit code is. Of the report, what the worker
    /// itself sees (exit code, signal, outputs) is not sent.
    ///
    /// # Errors
    /// The worker does not answer.
    pub fn end(
        &self,
        ending: Ending,
        report: &Report,
        currency: Option<&str>,
    ) -> Result<Result<(), LeaseLost>, Problem> {
        let (verb, permanent, not_before) = match ending {
            Ending::Done => ("complete", false, None),
            Ending::Failed { setback, not_before } => ("fail", setback == Setback::Permanent, not_before),
            Ending::Later { not_before } => ("release", false, Some(not_before)),
            Ending::Released => ("release", false, None),
        };
        let text = |text: &'_ Option<String>| text.clone().map(Cow::Owned);
        let asked = self.ask(&InsideRequest {
            permanent,
            not_before: not_before.map(Timestamp::to_rfc3339),
            error_class: text(&report.error_class),
            error: text(&report.error),
            resource_id: text(&report.resource_id),
            result: text(&report.result),
            cost_micros: report.cost_micros,
            currency: currency.map(Cow::Borrowed),
            tokens_in: report.tokens_in,
            tokens_out: report.tokens_out,
            model: text(&report.model),
            ..request(verb)
        });
        let text = asked.map_err(|asked| asked.problem)?;
        let answer = Self::understand(&text)?;
        Ok(if answer.result == "ok" { Ok(()) } else { Err(LeaseLost { superseded_by: answer.superseded_by }) })
    }

    /// Sends one line and waits for the line that answers it.
    ///
    /// # Errors
    /// There is none, and of what kind the cause was.
    pub(crate) fn ask(&self, request: &impl Serialize) -> Result<String, Asked> {
        let asked = || -> io::Result<String> {
            let mut stream = UnixStream::connect(&self.socket)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            let mut line = serde_json::to_vec(request)?;
            line.push(b'\n');
            stream.write_all(&line)?;
            let mut answer = String::new();
            BufReader::new(stream).read_line(&mut answer)?;
            Ok(answer)
        };
        asked().map_err(|cause| {
            let message = Message::new("inside-no-worker").with("path", self.socket.display()).caused_by(&cause);
            let problem = Problem::failed(message).hint(Message::new("inside-no-worker-hint"));
            Asked { cause: cause.kind(), problem }
        })
    }

    /// `ok` and `lease_lost`; everything else is a problem.
    fn understand(text: &str) -> Result<InsideAnswer<'_>, Problem> {
        let refused = |why: &str| Problem::failed(Message::new("inside-refused").with("code", why));
        let answer: InsideAnswer<'_> = serde_json::from_str(text).map_err(|_| refused("no_answer"))?;
        match &*answer.result {
            "ok" | "lease_lost" => Ok(answer),
            other => Err(refused(answer.code.as_deref().unwrap_or(other))),
        }
    }
}

fn request(verb: &'static str) -> InsideRequest<'static> {
    InsideRequest {
        v: VERSION,
        verb: Cow::Borrowed(verb),
        lease_ms: None,
        permanent: false,
        not_before: None,
        error_class: None,
        error: None,
        resource_id: None,
        result: None,
        cost_micros: None,
        currency: None,
        tokens_in: None,
        tokens_out: None,
        model: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_inside_of_the_job_whose_lease_it_names_or_names_none() {
        let own = LeaseToken::new([1; 16], 0);
        let other = LeaseToken::new([2; 16], 0);
        let (text, socket) = (own.to_string(), (SOCKET_VAR, "/s"));
        let inside = Environment::with(&[socket, (LEASE_VAR, &text)]);
        let found = Some(Inside { socket: "/s".into(), lease: own });
        assert_eq!(Inside::of(&inside, None), found);
        assert_eq!(Inside::of(&inside, Some(own)), found);
        assert_eq!(Inside::of(&inside, Some(other)), None);
        for vars in [&[socket][..], &[(LEASE_VAR, &*text)], &[socket, (LEASE_VAR, "x")], &[]] {
            assert_eq!(Inside::of(&Environment::with(vars), None), None, "{vars:?}");
        }
    }
}
