//! From how a command ended to what is said of its job.

use std::collections::BTreeMap;
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::EffectName;
use cola_ia_core::job::{Ending, RetryPolicy, Setback};
use cola_ia_core::store::Report;
use nix::sys::signal::Signal;

use super::child::{Cause, Exit};
use super::result::{Fault, LeftResult};

/// The exit codes that mean something: `EX_TEMPFAIL` and `EX_DATAERR` of sysexits.h.
const LATER: i32 = 75;
const PERMANENT: i32 = 65;
/// "Again later" is later, whatever the settings say.
pub(super) const LATER_LEAST: Duration = Duration::from_secs(1);

/// What a command said of its job while it ran, through its socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) ending: Ending,
    pub(super) report: Report,
    /// The currency of the report's cost.
    pub(super) currency: Option<String>,
}

/// What the ledger answered a command while it ran, as far as its job's end depends on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct EffectsSeen {
    /// The job is held: the ledger has ended the attempt.
    pub(super) held: bool,
    /// Effects that are to be begun again later, and when.
    pub(super) waits: BTreeMap<EffectName, Timestamp>,
    /// The resource that the last effect which is done has made.
    pub(super) resource_id: Option<String>,
}

/// What is known when a command has ended.
pub(super) struct Facts<'a> {
    pub(super) exit: Exit,
    pub(super) said: Option<Said>,
    pub(super) effects: EffectsSeen,
    pub(super) left: LeftResult,
    pub(super) now: Timestamp,
    pub(super) policy: &'a RetryPolicy,
}

impl Facts<'_> {
    /// The currency of the cost that will be in the report, where it was told.
    pub(super) fn currency(&self) -> Option<String> {
        match &self.said {
            Some(said) if said.report.cost_micros.is_some() => said.currency.clone(),
            _ => self.left.file.currency.clone(),
        }
    }
}

/// What is told to the store. What the command said decides; else the exit code does, also where the worker asked it to end:
/// 0, 65 and 75 are the command's own words. Where its time was over it is `timed_out` whatever its exit code is.
pub(super) fn judge(facts: Facts<'_>) -> (Ending, Report) {
    let Facts { exit, said, effects, left: LeftResult { file, retry_after, fault }, now, policy } = facts;
    let error = file.error.clone().or_else(|| fault_text(fault.as_ref())).or_else(|| last_line(&exit.stderr));
    let mut report = Report {
        exit_code: exit.code,
        signal: exit.signal,
        error_class: None,
        error: None,
        resource_id: file.resource_id,
        result: file.rest,
        cost_micros: file.cost_micros,
        tokens_in: file.tokens_in,
        tokens_out: file.tokens_out,
        model: file.model,
        stdout: exit.stdout,
        stderr: exit.stderr,
    };
    if effects.held {
        // The store knows; said again it answers what became of the job. What it cost is told nowhere else.
        if let Some(said) = said {
            merge(&mut report, said.report);
        }
        return (Ending::Released, report);
    }
    if let Some(said) = said {
        merge(&mut report, said.report);
        fill_in(&mut report, said.ending, effects.resource_id);
        if said.ending != Ending::Done {
            report.error_class = report.error_class.or(file.error_class);
            report.error = report.error.or(error);
        }
        return (said.ending, report);
    }
    let first_wait = policy.first_wait.max(LATER_LEAST);
    let failed = |setback| Ending::Failed { setback, not_before: retry_after };
    let ending = match (exit.cause, exit.code) {
        (Cause::TimedOut, _) => failed(Setback::TimedOut),
        (_, Some(0)) => Ending::Done,
        (_, Some(LATER)) => {
            let waits = effects.waits.into_values().max();
            Ending::Later { not_before: retry_after.or(waits).unwrap_or_else(|| now.after(first_wait)) }
        }
        (_, Some(PERMANENT)) => failed(Setback::Permanent),
        (Cause::Stopped, _) => Ending::Released,
        (Cause::Itself, _) => failed(Setback::Error),
    };
    fill_in(&mut report, ending, effects.resource_id);
    match ending {
        Ending::Done => report.error = fault_text(fault.as_ref()),
        Ending::Released => {}
        _ => {
            let class = || class(exit.cause, exit.code, exit.signal);
            report.error_class = Some(file.error_class.unwrap_or_else(class));
            report.error = error;
        }
    }
    (ending, report)
}

/// A job that is done and names no resource has made what its last effect made.
fn fill_in(report: &mut Report, ending: Ending, resource_id: Option<String>) {
    if ending == Ending::Done {
        report.resource_id = report.resource_id.take().or(resource_id);
    }
}

fn merge(report: &mut Report, said: Report) {
    let Report { error_class, error, resource_id, result, cost_micros, tokens_in, tokens_out, model, .. } = said;
    report.error_class = error_class;
    report.error = error;
    report.resource_id = resource_id.or(report.resource_id.take());
    report.result = result.or(report.result.take());
    report.cost_micros = cost_micros.or(report.cost_micros);
    report.tokens_in = tokens_in.or(report.tokens_in);
    report.tokens_out = tokens_out.or(report.tokens_out);
    report.model = model.or(report.model.take());
}

/// The class of an error of which nobody says more.
fn class(cause: Cause, code: Option<i32>, signal: Option<i32>) -> String {
    match (cause, code, signal) {
        (Cause::TimedOut, ..) => "timed_out".to_owned(),
        (_, Some(code), _) => format!("exit_{code}"),
        (_, _, Some(number)) => match Signal::try_from(number) {
            Ok(signal) => format!("signal_{}", signal.as_str()),
            Err(_) => format!("signal_{number}"),
        },
        // Not even KILL has ended it.
        (_, None, None) => "not_ended".to_owned(),
    }
}

/// The last line of an output that says anything.
pub(crate) fn last_line(output: &[u8]) -> Option<String> {
    let line = output.split(|byte| *byte == b'\n').rev().find(|line| !line.trim_ascii().is_empty())?;
    Some(String::from_utf8_lossy(line.trim_ascii()).into_owned())
}

/// A result file that cannot be used is kept as text.
fn fault_text(fault: Option<&Fault>) -> Option<String> {
    match fault? {
        Fault::NotAnObject(text) => Some(format!("COLA_IA_RESULT is no JSON object: {text}")),
        Fault::TooLong => Some("COLA_IA_RESULT is too long".to_owned()),
        Fault::Unreadable(cause) => Some(format!("COLA_IA_RESULT cannot be read: {cause}")),
        Fault::Field(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result_file::ResultFile;

    const NOW: Timestamp = Timestamp::from_micros(0);

    fn exit(cause: Cause, code: Option<i32>, signal: Option<i32>) -> Exit {
        let stderr = b"first\nwhat went wrong\n\n".to_vec();
        Exit { code, signal, cause, stdout: Vec::new(), stderr, escaped: false }
    }

    fn judged(exit: Exit, said: Option<Said>, left: LeftResult) -> (Ending, Report) {
        judged_with(exit, said, EffectsSeen::default(), left)
    }

    fn judged_with(exit: Exit, said: Option<Said>, effects: EffectsSeen, left: LeftResult) -> (Ending, Report) {
        judge(Facts { exit, said, effects, left, now: NOW, policy: &RetryPolicy::default() })
    }

    const fn failed(setback: Setback) -> Ending {
        Ending::Failed { setback, not_before: None }
    }

    #[test]
    fn the_exit_code_decides() {
        use Cause::{Itself, Stopped, TimedOut};
        let in_ten = Ending::Later { not_before: NOW.after(Duration::from_secs(10)) };
        let table = [
            (Itself, Some(0), None, Ending::Done, None),
            (Itself, Some(1), None, failed(Setback::Error), Some("exit_1")),
            (Itself, Some(65), None, failed(Setback::Permanent), Some("exit_65")),
            (Itself, Some(75), None, in_ten, Some("exit_75")),
            (Itself, Some(255), None, failed(Setback::Error), Some("exit_255")),
            (Itself, None, Some(9), failed(Setback::Error), Some("signal_SIGKILL")),
            (Itself, None, Some(64), failed(Setback::Error), Some("signal_64")),
            (TimedOut, None, Some(15), failed(Setback::TimedOut), Some("timed_out")),
            (TimedOut, Some(0), None, failed(Setback::TimedOut), Some("timed_out")),
            (TimedOut, None, None, failed(Setback::TimedOut), Some("timed_out")),
            (Stopped, None, Some(15), Ending::Released, None),
            (Stopped, Some(143), None, Ending::Released, None),
            (Stopped, Some(0), None, Ending::Done, None),
            (Stopped, Some(65), None, failed(Setback::Permanent), Some("exit_65")),
            (Stopped, Some(75), None, in_ten, Some("exit_75")),
        ];
        for (cause, code, signal, ending, class) in table {
            let (judged, report) = judged(exit(cause, code, signal), None, LeftResult::default());
            assert_eq!((judged, report.error_class.as_deref()), (ending, class), "{cause:?} {code:?} {signal:?}");
            assert_eq!((report.exit_code, report.signal), (code, signal));
            assert_eq!(report.error.as_deref(), class.map(|_| "what went wrong"));
        }
    }

    #[test]
    fn the_file_tells_more_of_what_the_code_says() {
        let at = NOW.after(Duration::from_mins(5));
        let file = ResultFile {
            error_class: Some("busy".to_owned()),
            error: Some("come back".to_owned()),
            resource_id: Some("r".to_owned()),
            ..ResultFile::default()
        };
        let file = LeftResult { file, retry_after: Some(at), fault: None };
        let (ending, report) = judged(exit(Cause::Itself, Some(75), None), None, file.clone());
        assert_eq!(ending, Ending::Later { not_before: at });
        assert_eq!((report.error_class.as_deref(), report.error.as_deref()), (Some("busy"), Some("come back")));
        let (ending, _) = judged(exit(Cause::Itself, Some(1), None), None, file.clone());
        assert_eq!(ending, Ending::Failed { setback: Setback::Error, not_before: Some(at) });
        let (ending, report) = judged(exit(Cause::Itself, Some(0), None), None, file);
        assert_eq!((ending, report.error_class, report.error), (Ending::Done, None, None));
        assert_eq!(report.resource_id.as_deref(), Some("r"));
    }

    #[test]
    fn what_was_said_decides_over_the_exit_code() {
        let said = |ending| {
            let report = Report { resource_id: Some("said".to_owned()), ..Report::default() };
            Some(Said { ending, report, currency: None })
        };
        let file = ResultFile { resource_id: Some("file".to_owned()), cost_micros: Some(7), ..ResultFile::default() };
        let file = LeftResult { file, ..LeftResult::default() };
        for cause in [Cause::Itself, Cause::Stopped, Cause::TimedOut] {
            let (ending, report) = judged(exit(cause, Some(3), None), said(Ending::Done), file.clone());
            assert_eq!((ending, report.exit_code, report.error), (Ending::Done, Some(3), None));
            assert_eq!((report.resource_id.as_deref(), report.cost_micros), (Some("said"), Some(7)));
        }
        let (ending, report) = judged(exit(Cause::Itself, Some(0), None), said(Ending::Released), file);
        assert_eq!((ending, report.error.as_deref()), (Ending::Released, Some("what went wrong")));
    }

    #[test]
    fn what_the_ledger_answered_counts() {
        let name = |name| EffectName::new(name).unwrap();
        let at = |seconds| NOW.after(Duration::from_secs(seconds));
        let seen = EffectsSeen {
            waits: BTreeMap::from([(name("a"), at(70)), (name("b"), at(50))]),
            resource_id: Some("post-9".to_owned()),
            ..EffectsSeen::default()
        };
        let of = |code, seen: &EffectsSeen, left| {
            judged_with(exit(Cause::Itself, Some(code), None), None, seen.clone(), left)
        };
        let (ending, report) = of(75, &seen, LeftResult::default());
        assert_eq!((ending, report.resource_id), (Ending::Later { not_before: at(70) }, None));
        let told = LeftResult { retry_after: Some(at(5)), ..LeftResult::default() };
        assert_eq!(of(75, &seen, told).0, Ending::Later { not_before: at(5) }, "the command's own word counts");
        assert_eq!(of(0, &seen, LeftResult::default()).1.resource_id.as_deref(), Some("post-9"));
        let file = ResultFile { resource_id: Some("mine".to_owned()), ..ResultFile::default() };
        let left = LeftResult { file, ..LeftResult::default() };
        assert_eq!(of(0, &seen, left).1.resource_id.as_deref(), Some("mine"));
        let held = EffectsSeen { held: true, ..seen };
        for code in [0, 1, 9, 65, 75] {
            assert_eq!(of(code, &held, LeftResult::default()).0, Ending::Released, "{code}");
        }
        let told = Report { cost_micros: Some(5), tokens_in: Some(7), ..Report::default() };
        let said = Said { ending: Ending::Done, report: told, currency: None };
        let left = LeftResult::default();
        let (ending, report) = judged_with(exit(Cause::Itself, Some(0), None), Some(said), held, left);
        assert_eq!((ending, report.cost_micros, report.tokens_in), (Ending::Released, Some(5), Some(7)));
    }

    #[test]
    fn a_file_that_is_no_object_changes_nothing_but_the_error() {
        let file = || LeftResult { fault: Some(Fault::NotAnObject("oops".to_owned())), ..LeftResult::default() };
        let (ending, report) = judged(exit(Cause::Itself, Some(0), None), None, file());
        assert_eq!((ending, report.error.as_deref()), (Ending::Done, Some("COLA_IA_RESULT is no JSON object: oops")));
        let (ending, _) = judged(exit(Cause::Itself, Some(1), None), None, file());
        assert_eq!(ending, failed(Setback::Error));
    }

    #[test]
    fn the_last_line_is_the_last_that_says_anything() {
        for (output, line) in [("", None), (" \n\r\n", None), ("a", Some("a")), ("a\nb \r\n\n", Some("b"))] {
            assert_eq!(last_line(output.as_bytes()).as_deref(), line, "{output:?}");
        }
        assert_eq!(last_line(b"\xff!").as_deref(), Some("\u{fffd}!"));
    }
}
