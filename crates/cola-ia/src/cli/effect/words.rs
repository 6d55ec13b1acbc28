//! An answer for a shell: the word, and behind it what it carries as `name=value`, each value quoted where a shell needs it.
//!
//! `answer=$(cola-ia effect begin …); word=${answer%% *}; eval "${answer#"$word"}"` sets the variables.

use std::fmt::Display;

use cola_ia_core::clock::{Clock as _, SystemClock, Timestamp};
use cola_ia_core::effect::{BeginAnswer, Evidence, Micros, Refused, ReportAnswer};
use cola_ia_core::store::EffectBegun;
use cola_ia_wire::EffectAnswer;

use crate::effect::{one_line, seconds_until};
use crate::print::id_on_a_line;

/// A line that is being put together.
struct Words(String);

impl Words {
    fn of(word: &str) -> Self {
        Self(word.to_owned())
    }

    fn with(mut self, name: &str, value: impl Display) -> Self {
        self.0.push(' ');
        self.0.push_str(name);
        self.0.push('=');
        push_quoted(&mut self.0, &value.to_string());
        self
    }

    fn maybe(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    fn until(self, until: Timestamp) -> Self {
        self.with("until", until.to_rfc3339()).with("seconds", seconds_until(until, SystemClock.now()))
    }

    fn line(self) -> String {
        self.0 + "\n"
    }
}

/// As one word for a POSIX shell, whatever it holds.
fn push_quoted(out: &mut String, value: &str) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@,+%".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        out.push_str(value);
        return;
    }
    out.push('\'');
    out.push_str(&value.replace('\'', r"'\''"));
    out.push('\'');
}

/// Decimal units without zeros at the end: `0.25`.
pub(crate) fn units(micros: i64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The answer to `effect begin`.
pub(super) fn begun(answer: &EffectAnswer<'_>, begun: &EffectBegun) -> String {
    let said = Words::of(&answer.result);
    let keyed = |words: Words| words.with("key", &begun.key);
    match &begun.answer {
        BeginAnswer::Go(go) => keyed(said)
            .with("try", go.number)
            .with("send_before", go.send_before.to_rfc3339())
            .with("deadline", go.deadline.to_rfc3339())
            .maybe("key_until", go.key_until.map(Timestamp::to_rfc3339)),
        BeginAnswer::Done(recorded) => {
            let Evidence { resource_id, result, cost, .. } = &recorded.evidence;
            keyed(said)
                .maybe("resource_id", resource_id.as_deref().map(id_on_a_line))
                .maybe("result", result.as_deref().map(one_line))
                .maybe("cost", cost.map(Micros::get).map(units))
        }
        BeginAnswer::Check { ticket, begun_at } => {
            keyed(said).with("ticket", ticket).maybe("begun_at", begun_at.map(Timestamp::to_rfc3339))
        }
        BeginAnswer::Wait { until } => said.until(*until),
        BeginAnswer::Refused(Refused::Budget { resets_at }) => said.with("reason", "budget").until(*resets_at),
        BeginAnswer::Held(_) | BeginAnswer::Refused(_) => said.maybe("reason", answer.reason.as_deref()),
        BeginAnswer::Used => said,
    }
    .line()
}

/// The answer to a report.
pub(super) fn reported(answer: &EffectAnswer<'_>, report: ReportAnswer) -> String {
    let said = Words::of(&answer.result);
    match report {
        ReportAnswer::Wait { until } => said.until(until),
        _ => said,
    }
    .line()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use cola_ia_core::effect::{EffectName, Go, Reason, Recorded, UtcDay, Witness};

    use super::*;

    const AT: Timestamp = Timestamp::from_micros(1_700_000_000_123_456);

    fn said(answer: BeginAnswer) -> String {
        let name = EffectName::new("publish").unwrap();
        let of = EffectBegun { at: AT, key: "k-1_".to_owned(), answer };
        begun(&EffectAnswer::begun(&name, &of), &of)
    }

    #[test]
    fn an_answer_is_its_word_and_what_it_carries() {
        let go = Go { number: 2, send_before: AT, deadline: AT, key_until: None };
        let at = "2023-11-14T22:13:20.123456Z";
        assert_eq!(said(BeginAnswer::Go(go)), format!("go key=k-1_ try=2 send_before={at} deadline={at}\n"));
        assert_eq!(said(BeginAnswer::Check { ticket: 3, begun_at: None }), "check key=k-1_ ticket=3\n");
        assert_eq!(said(BeginAnswer::Wait { until: AT }), format!("wait until={at} seconds=0\n"));
        assert_eq!(said(BeginAnswer::Held(Reason::Restored)), "held reason=restored\n");
        assert_eq!(said(BeginAnswer::Used), "used\n");
        assert_eq!(said(BeginAnswer::Refused(Refused::CostRequired)), "refused reason=cost_required\n");
    }

    #[test]
    fn a_shell_takes_back_whatever_a_destination_called_it() {
        for id in ["post-9", "it's", "$(rm -rf x) `y`", "a b;c", "\\", "ñ\"", " "] {
            let evidence = Evidence { resource_id: Some(id.to_owned()), ..Evidence::default() };
            let charged = Micros::ZERO;
            let recorded =
                Recorded { evidence, number: None, at: AT, witness: Witness::Sender, charged, day: UtcDay::of(AT) };
            let line = said(BeginAnswer::Done(Box::new(recorded)));
            let script = "word=${1%% *}; eval \"${1#\"$word\"}\"; printf '%s|%s' \"$word\" \"$resource_id\"";
            let ran = Command::new("sh").args(["-c", script, "sh", line.trim_end_matches('\n')]).output().unwrap();
            let expected = format!("done|{}", id_on_a_line(id));
            assert_eq!(String::from_utf8(ran.stdout).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn money_is_units() {
        for (micros, text) in [(0, "0"), (250_000, "0.25"), (1, "0.000001"), (3_000_000, "3"), (12_300_000, "12.3")] {
            assert_eq!(units(micros), text);
        }
    }
}
