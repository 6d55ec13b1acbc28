//! From how a command ended to what is said of its try.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{Evidence, Micros};
use cola_ia_core::store::{Failure, RESOURCE_ID_MAX_BYTES, RESULT_MAX_BYTES};

use super::guard::{Seen, Word};
use crate::result_file::ResultFile;
use crate::worker::child::{Cause, Exit, NotStarted};
use crate::worker::result::{Fault, LeftResult};
use crate::worker::tail::is_cut;
use crate::worker::verdict::last_line;

/// The exit codes of a command that mean something, as for `work`.
const REJECTED: i32 = 65;
const NOT_SENT: i32 = 75;
/// The exit code of a lookup that found nothing.
const ABSENT: i32 = 1;

/// What a try came to.
#[expect(clippy::enum_variant_names, reason = "`not_sent` is the word that is reported")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sent {
    Done(Evidence),
    /// The destination refused it for good; why, for people.
    Rejected(String),
    NotSent(String),
    Unknown(String),
}

/// A command's end as it is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) sent: Sent,
    /// Not to be tried again before then, as the command says.
    pub(crate) retry_after: Option<Timestamp>,
    /// The currency of what it cost, where one was told.
    pub(crate) currency: Option<String>,
    /// What a try cost that is not done: its attempt counts that.
    pub(crate) spent: Evidence,
    /// What of its result file was not used.
    pub(crate) fault: Option<Fault>,
}

impl Judged {
    pub(crate) fn of(sent: Sent) -> Self {
        Self { sent, retry_after: None, currency: None, spent: Evidence::default(), fault: None }
    }

    /// What is reported.
    pub(super) fn word(&self) -> Word {
        match &self.sent {
            Sent::Done(evidence) => Word::Done(evidence.clone(), self.currency.clone()),
            Sent::Rejected(why) => Word::Failed(Failure::Rejected, Some(why.clone())),
            Sent::NotSent(why) => Word::Failed(Failure::NotSent, Some(why.clone())),
            Sent::Unknown(why) => Word::Unknown(Some(why.clone())),
        }
    }

    /// Of a command that did not start: then nothing was sent.
    pub(crate) fn not_started(why: &NotStarted) -> Self {
        let why = match why {
            NotStarted::Other(cause) => cause.to_string(),
            other => format!("{other:?}"),
        };
        Self::of(Sent::NotSent(format!("the command was not started: {why}")))
    }
}

/// What is said of a try whose command ended so. 0, 65 and 75 are its own words, also where it was asked to end: it still had
/// time to say them. After anything else nobody knows what it had sent. `printed`: what it printed is its result, where it left
/// no other.
pub(crate) fn judge(exit: &Exit, left: LeftResult, printed: bool) -> Judged {
    let LeftResult { file, retry_after, fault } = left;
    let currency = file.currency.clone();
    let told = evidence(file.clone());
    let cost = Evidence { resource_id: None, result: None, ..told };
    let said = || file.error.clone().or_else(|| last_line(&exit.stderr));
    let why = |what: String| match said() {
        Some(said) => format!("{what}: {said}"),
        None => what,
    };
    let sent = match (exit.code, exit.signal, exit.cause) {
        (Some(0), ..) => {
            let mut evidence = evidence(file);
            // What it cost is no result.
            if printed && evidence.result.is_none() && evidence.resource_id.is_none() {
                evidence.result = text_as_result(&exit.stdout);
            }
            Sent::Done(evidence)
        }
        (Some(REJECTED), ..) => Sent::Rejected(why("exit 65".to_owned())),
        (Some(NOT_SENT), ..) => Sent::NotSent(why("exit 75".to_owned())),
        (_, _, Cause::TimedOut) => Sent::Unknown(why("its time was over".to_owned())),
        (Some(code), ..) => Sent::Unknown(why(format!("exit {code}"))),
        (_, Some(signal), _) => Sent::Unknown(why(format!("signal {signal}"))),
        (None, None, _) => Sent::Unknown(why("it could not be ended".to_owned())),
    };
    let is_nothing = matches!(sent, Sent::Rejected(_) | Sent::NotSent(_));
    Judged { sent, retry_after, currency, spent: if is_nothing { cost } else { Evidence::default() }, fault }
}

/// What a lookup saw whose command ended so. What it found is on its output, a line with the id, or in its result file. Only
/// the exit code 1 says that nothing is there; a lookup that failed has not seen that.
pub(crate) fn seen(exit: &Exit, left: LeftResult) -> Seen {
    match (exit.code, exit.cause) {
        (Some(0), Cause::Itself) => {
            let foreign = left.file.currency.is_some();
            let mut found = evidence(left.file);
            // Of what a lookup finds the cost is known to be in the store's currency, or it is not counted.
            found.cost = found.cost.filter(|_| !foreign);
            let printed = String::from_utf8_lossy(&exit.stdout);
            let printed = printed.trim();
            if found.resource_id.is_none() && !printed.is_empty() {
                if printed.contains(['\n', '\r']) {
                    return Seen::Nothing("it printed more than one line".to_owned());
                }
                found.resource_id = Some(printed.to_owned());
            }
            match found.resource_id.as_ref().map(String::len) {
                None => Seen::Nothing("it ended with 0 and named no resource".to_owned()),
                Some(bytes) if bytes > RESOURCE_ID_MAX_BYTES => Seen::Nothing("what it named is too long".to_owned()),
                Some(_) => Seen::Found(found),
            }
        }
        (Some(ABSENT), Cause::Itself) => Seen::Absent,
        (code, cause) => {
            let how = match (cause, code, exit.signal) {
                (Cause::TimedOut, ..) => "its time was over".to_owned(),
                (_, Some(code), _) => format!("exit {code}"),
                (_, _, Some(signal)) => format!("signal {signal}"),
                _ => "it could not be ended".to_owned(),
            };
            let said = last_line(&exit.stderr);
            Seen::Nothing(said.map_or_else(|| how.clone(), |said| format!("{how}: {said}")))
        }
    }
}

/// What a result file proves of an effect.
pub(crate) fn evidence(file: ResultFile) -> Evidence {
    Evidence {
        cost: file.cost_micros.and_then(Micros::new),
        // An empty one names nothing.
        resource_id: file.resource_id.filter(|id| !id.trim().is_empty()),
        result: file.rest,
        tokens_in: file.tokens_in,
        tokens_out: file.tokens_out,
        model: file.model,
    }
}

/// In place of a text that does not fit: whoever asks again is told, and does not go on with an empty text.
pub(crate) const NOT_KEPT: &str = r#"{"cola_ia_output":"not_kept"}"#;

/// A text as a result: a JSON string, without the line feeds at its end. `None` where there is none; [`NOT_KEPT`] where it does
/// not fit.
fn text_as_result(printed: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(printed);
    let text = text.trim_end_matches(['\n', '\r']);
    if text.is_empty() {
        return None;
    }
    let json = serde_json::Value::from(text).to_string();
    let fits = json.len() <= RESULT_MAX_BYTES && !is_cut(printed);
    Some(if fits { json } else { NOT_KEPT.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(code: Option<i32>, signal: Option<i32>, cause: Cause, stdout: &str) -> Exit {
        let stderr = b"one\nwhat it said\n".to_vec();
        Exit { code, signal, cause, stdout: stdout.as_bytes().to_vec(), stderr, escaped: false }
    }

    fn left(resource_id: Option<&str>) -> LeftResult {
        let file = ResultFile { resource_id: resource_id.map(str::to_owned), ..ResultFile::default() };
        LeftResult { file, ..LeftResult::default() }
    }

    #[test]
    fn only_three_exit_codes_say_what_happened() {
        use Cause::{Itself, Stopped, TimedOut};
        let word = |code, signal, cause| match judge(&exit(code, signal, cause, ""), left(None), false).sent {
            Sent::Done(_) => "done",
            Sent::Rejected(_) => "rejected",
            Sent::NotSent(_) => "not_sent",
            Sent::Unknown(_) => "unknown",
        };
        for cause in [Itself, Stopped, TimedOut] {
            assert_eq!(word(Some(0), None, cause), "done");
            assert_eq!(word(Some(65), None, cause), "rejected");
            assert_eq!(word(Some(75), None, cause), "not_sent");
            for (code, signal) in [(Some(1), None), (Some(2), None), (Some(127), None), (None, Some(9)), (None, None)] {
                assert_eq!(word(code, signal, cause), "unknown", "{code:?} {signal:?} {cause:?}");
            }
        }
        let said = judge(&exit(Some(3), None, Itself, ""), left(None), false).sent;
        assert_eq!(said, Sent::Unknown("exit 3: what it said".to_owned()));
    }

    #[test]
    fn what_was_printed_is_the_result_of_one_that_left_no_other() {
        let done = |printed: &str, resource, counts| {
            let ended = exit(Some(0), None, Cause::Itself, printed);
            match judge(&ended, left(resource), counts).sent {
                Sent::Done(evidence) => (evidence.resource_id, evidence.result),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(done("a \"text\"\n\n", None, true), (None, Some(r#""a \"text\"""#.to_owned())));
        assert_eq!(done("noise\n", Some("post-9"), true), (Some("post-9".to_owned()), None));
        assert_eq!(done("a text\n", None, false), (None, None));
        assert_eq!(done("\n", None, true), (None, None));
        assert_eq!(
            done(&"x".repeat(RESULT_MAX_BYTES - 2), None, true).1.map(|text| text.len()),
            Some(RESULT_MAX_BYTES)
        );
        assert_eq!(
            done(&"x".repeat(RESULT_MAX_BYTES), None, true),
            (None, Some(NOT_KEPT.to_owned())),
            "it does not fit"
        );
        let file = ResultFile { cost_micros: Some(20_000), model: Some("m".to_owned()), ..ResultFile::default() };
        let judged =
            judge(&exit(Some(0), None, Cause::Itself, "a text\n"), LeftResult { file, ..LeftResult::default() }, true);
        let Sent::Done(evidence) = judged.sent else { panic!("{judged:?}") };
        assert_eq!(evidence.result.as_deref(), Some(r#""a text""#), "what it cost is no result");
    }

    #[test]
    fn a_lookup_that_failed_has_seen_nothing() {
        use Cause::{Itself, Stopped, TimedOut};
        let of = |code, cause, printed: &str, file| match seen(&exit(code, None, cause, printed), left(file)) {
            Seen::Found(found) => found.resource_id.unwrap(),
            Seen::Absent => "absent".to_owned(),
            Seen::Nothing(why) => format!("? {why}"),
        };
        assert_eq!(of(Some(0), Itself, " post-9\n", None), "post-9");
        assert_eq!(of(Some(0), Itself, "noise\nmore\n", Some("post-8")), "post-8");
        assert_eq!(of(Some(1), Itself, "", None), "absent");
        for (code, cause, printed) in [
            (Some(0), Itself, ""),
            (Some(0), Itself, "a\nb"),
            (Some(0), TimedOut, "post-9"),
            (Some(1), TimedOut, ""),
            (Some(1), Stopped, ""),
            (Some(2), Itself, ""),
            (Some(127), Itself, ""),
            (None, Itself, ""),
        ] {
            assert!(of(code, cause, printed, None).starts_with('?'), "{code:?} {cause:?} {printed:?}");
        }
    }
}
