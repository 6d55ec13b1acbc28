//! `show`: the story of one identity.

use std::fmt::Write as _;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::EffectState;
use cola_ia_core::event::{EventType, Source};
use cola_ia_core::store::{
    AttemptView, ConflictView, DecisionKind, DecisionView, EffectView, EventHistory, RevisionView, Store,
};
use cola_ia_core::verdict::Verdict;
use cola_ia_wire::Event;
use pollster::block_on;

use super::add::push_json;
use super::effect::{paint_of as effect_paint_of, told as effect_told, units};
use super::jobs::{paint_of_job, state_of, to_the_second};
use super::{Problem, why};
use crate::lang::{Arg, Lang, Message};
use crate::print::{Cell, Paint, Table, difference, id_on_a_line, safe_line, shell_word, short_line, short_text};

/// The options of `show`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowOptions {
    /// The id, byte for byte.
    pub id: String,
    /// `--source`
    pub source: Option<Source>,
    /// `--json`
    pub json: bool,
}

/// Nothing is known of this id: not an error of the store, but not what was asked for. Other sources may have the id.
///
/// # Errors
/// They cannot be looked at.
pub fn not_found(store: &dyn Store, source: Option<&Source>, id: &str) -> Result<Problem, Problem> {
    let elsewhere = match source {
        Some(_) => block_on(store.find_events(None, id.to_owned())).map_err(|error| Problem::from_store(&error))?,
        None => Vec::new(),
    };
    Ok(not_found_but(source, id, &elsewhere))
}

fn not_found_but(source: Option<&Source>, id: &str, elsewhere: &[EventHistory]) -> Problem {
    let id = id_on_a_line(id);
    let problem = match source {
        Some(source) => Problem::failed(Message::new("show-not-found-in").with("id", id).with("source", source)),
        None => Problem::failed(Message::new("show-not-found").with("id", id)),
    };
    if elsewhere.is_empty() {
        return problem.hint(Message::new("show-not-found-hint"));
    }
    let sources: Vec<&str> = elsewhere.iter().map(|event| event.job.source.as_str()).collect();
    problem.hint(Message::new("show-elsewhere-hint").with("sources", sources.join(", ")))
}

/// One [`Event`] a line.
pub fn as_json(events: &[EventHistory], now: Timestamp) -> String {
    let mut out = String::new();
    for event in events {
        push_json(&mut out, &Event::new(event, now));
    }
    out
}

/// The story for people; one after another, with a blank line between, where several sources know the id.
pub fn as_story(lang: &Lang, events: &[EventHistory], now: Timestamp, colour: bool) -> String {
    events.iter().map(|event| story(lang, event, now, colour)).collect::<Vec<_>>().join("\n")
}

fn story(lang: &Lang, event: &EventHistory, now: Timestamp, colour: bool) -> String {
    let mut story = Story { lang, colour, out: String::new() };
    story.identity(event, now);
    event.revisions.iter().for_each(|revision| story.revision(revision));
    story.newest(event);
    event.conflicts.iter().for_each(|conflict| story.conflict(event, conflict));
    story.receptions(event);
    story.attempts(&event.attempts);
    story.effects(event);
    story.out
}

struct Story<'a> {
    lang: &'a Lang,
    colour: bool,
    out: String,
}

impl Story<'_> {
    fn identity(&mut self, event: &EventHistory, now: Timestamp) {
        let job = &event.job;
        let id = Paint::Head.on(&id_on_a_line(&job.id), self.colour);
        let state = paint_of_job(job, now).on(&state_of(self.lang, job, now), self.colour);
        self.line(&format!("{id}  {state}"));
        for answer in [why::it_stands_so(event, now, self.lang), why::it_came_when(event)] {
            self.line(&format!("  {}", answer.in_prose(self.lang)));
        }
        self.line("");
        let mut facts = vec![("show-source", job.source.to_string()), ("show-event", job.event.0.to_string())];
        facts.extend(job.event_type.as_ref().map(EventType::as_str).map(|kind| ("show-type", safe_line(kind).into())));
        if !job.reason.is_empty() {
            facts.push(("show-reason", short_line(&job.reason, DETAIL_MAX).into()));
        }
        facts.extend(job.erased_at.map(|at| ("show-erased", at.to_rfc3339())));
        facts.push(("show-run", job.run.to_string()));
        facts.push(("show-attempts", job.attempts.to_string()));
        let resource = job.resource_id.as_deref();
        facts
            .extend(resource.map(|resource| ("show-resource", short_line(&id_on_a_line(resource), DETAIL_MAX).into())));
        let result = event.result.as_deref();
        facts.extend(result.map(|result| ("show-result", short_line(result, DETAIL_MAX).into())));
        facts.extend(job.time.map(|time| ("show-time", time.to_rfc3339())));
        facts.push(("show-received", self.received(job.received_at, job.time)));
        facts.extend(job.due_at.map(|due| ("show-due", due.to_rfc3339())));
        facts.extend(event.changed_at.map(|changed| ("show-changed", changed.to_rfc3339())));
        facts.push(("show-duplicates", event.duplicates.to_string()));
        facts.extend(event.pruned.map(|pruned| {
            let args: &[(&str, Arg<'_>)] = &[
                ("count", pruned.count.into()),
                ("first", to_the_second(pruned.first_at).into()),
                ("last", to_the_second(pruned.last_at).into()),
            ];
            ("show-pruned", self.lang.t("show-pruned-between", args))
        }));
        facts.push(("show-fingerprint", event.fingerprint.to_string()));
        self.facts(&facts);
    }

    /// The instant, and how long after the provider's own time that was.
    fn received(&self, received: Timestamp, time: Option<Timestamp>) -> String {
        let instant = received.to_rfc3339();
        match time.map(|time| received.as_micros().saturating_sub(time.as_micros())) {
            Some(late) if late >= 0 => {
                format!("{instant}  {}", self.lang.t("show-late", &[("time", length(late).into())]))
            }
            Some(early) => {
                let time = length(early.saturating_neg());
                format!("{instant}  {}", self.lang.t("show-early", &[("time", time.into())]))
            }
            None => instant,
        }
    }

    fn facts(&mut self, facts: &[(&'static str, String)]) {
        let labels: Vec<String> = facts.iter().map(|(key, _)| self.lang.t(key, &[])).collect();
        let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or_default();
        for (label, (_, value)) in labels.iter().zip(facts) {
            self.line(&format!("  {label:<width$}  {value}"));
        }
    }

    fn conflict(&mut self, event: &EventHistory, conflict: &ConflictView) {
        let args: &[(&str, Arg<'_>)] = &[("number", conflict.number.into()), ("count", conflict.count.into())];
        let head = Paint::Alarm.on(&self.lang.t("show-conflict", args), self.colour);
        match (&event.text, &conflict.text) {
            (Some(ours), Some(theirs)) => {
                self.line("");
                self.line(&head);
                for line in difference_lines(self.lang, ours, theirs, self.colour) {
                    self.line(&line);
                }
            }
            _ => self.text(&head, conflict.text.as_deref()),
        }
        self.facts(&[
            ("show-first", conflict.first_at.to_rfc3339()),
            ("show-last", conflict.last_at.to_rfc3339()),
            ("show-fingerprint", conflict.fingerprint.to_string()),
        ]);
        for decision in &conflict.decisions {
            let sentence = decided(decision).in_prose(self.lang);
            self.line(&format!("  {sentence}"));
        }
    }

    /// A content that a newer one has replaced.
    fn revision(&mut self, revision: &RevisionView) {
        let args: &[(&str, Arg<'_>)] =
            &[("number", revision.number.into()), ("time", to_the_second(revision.accepted_at).into())];
        let head = self.lang.t("show-revision", args);
        self.text(&head, revision.text.as_deref());
    }

    /// The content that workers get.
    fn newest(&mut self, event: &EventHistory) {
        let head = match event.revision {
            1 => self.lang.t("show-text", &[]),
            number => self.lang.t("show-text-revision", &[("number", number.into())]),
        };
        self.text(&head, event.text.as_deref());
    }

    fn text(&mut self, head: &str, text: Option<&str>) {
        self.line("");
        self.line(head);
        let Some(text) = text else {
            self.line(&format!("  {}", self.lang.t("show-text-gone", &[])));
            return;
        };
        let (shown, left_out) = short_text(text);
        shown.split('\n').for_each(|line| self.line(&format!("  │ {line}")));
        if left_out > 0 {
            let bytes = left_out.to_string();
            self.line(&format!("  {}", self.lang.t("show-text-cut", &[("bytes", bytes.into())])));
        }
    }

    /// Each reception in its order, with how late it was and how long after the one before.
    fn receptions(&mut self, event: &EventHistory) {
        self.line("");
        self.line(&self.lang.t("show-receptions", &[]));
        let heads = ["column-received", "column-verdict", "column-gap", "column-late", "column-detail"];
        let mut table = Table::new(heads.map(|key| Cell::new(self.lang.word(key))).into());
        let job = &event.job;
        let mut receive = |verdict, at: Timestamp, time: Option<Timestamp>, gap: Option<i64>, detail: String| {
            let since = |earlier: Timestamp| short_length(at.as_micros().saturating_sub(earlier.as_micros()));
            let dash = || "-".to_owned();
            table.push(vec![
                Cell::new(to_the_second(at)),
                Cell::new(self.lang.verdict(verdict)).painted(paint_of_verdict(verdict)),
                Cell::new(gap.map_or_else(dash, |gap| format!("+{}", short_length(gap)))),
                Cell::new(time.map_or_else(dash, since)),
                Cell::new(detail),
            ]);
        };
        receive(Verdict::New, job.received_at, job.time, None, String::new());
        let all = event.duplicates + event.conflicts.iter().map(|conflict| conflict.count).sum::<u64>();
        let missing = all.saturating_sub(event.deliveries.len() as u64);
        // Of those that are not listed, the last one is not known.
        let mut before = (missing == 0).then_some(job.received_at);
        for delivery in event.deliveries.iter().rev() {
            let gap = before.map(|before| delivery.received_at.as_micros().saturating_sub(before.as_micros()));
            let conflict = delivery.conflict.map(|number| format!("#{number}"));
            let origin = delivery.origin.as_deref().map(|origin| short_line(origin, DETAIL_MAX).into_owned());
            let replayed = delivery.replayed.then(|| "replayed_body".to_owned());
            let detail = conflict.into_iter().chain(replayed).chain(origin).collect::<Vec<_>>().join("  ");
            receive(delivery.verdict, delivery.received_at, delivery.time, gap, detail);
            before = Some(delivery.received_at);
        }
        self.table(&table);
        if missing > 0 {
            let count = missing.to_string();
            self.line(&format!("  {}", self.lang.t("show-receptions-more", &[("count", count.into())])));
        }
    }

    fn attempts(&mut self, attempts: &[AttemptView]) {
        if attempts.is_empty() {
            return;
        }
        self.line("");
        self.line(&self.lang.t("show-attempts-head", &[]));
        let heads = [
            "column-run",
            "column-attempt",
            "column-started",
            "column-took",
            "column-outcome",
            "column-worker",
            "column-detail",
        ];
        let mut table = Table::new(heads.map(|key| Cell::new(self.lang.word(key))).into());
        for attempt in attempts {
            let took = attempt
                .ended_at
                .map(|end| short_length(end.as_micros().saturating_sub(attempt.started_at.as_micros())));
            let outcome = attempt.outcome.as_deref().map(|word| self.lang.outcome(word));
            table.push(vec![
                Cell::new(attempt.run.to_string()),
                Cell::new(attempt.number.to_string()),
                Cell::new(to_the_second(attempt.started_at)),
                Cell::new(took.unwrap_or_else(|| "-".to_owned())),
                Cell::new(outcome.map_or_else(|| "-".to_owned(), |word| safe_line(&word).into_owned())),
                Cell::new(short_line(&attempt.worker, NAME_MAX)),
                Cell::new(how_it_ended(attempt)),
            ]);
        }
        self.table(&table);
        for attempt in attempts.iter().rev() {
            if let Some(said) = &attempt.late {
                let sentence = answered_late(attempt, said, attempts).in_prose(self.lang);
                self.line(&format!("  {sentence}"));
            }
        }
        let last = attempts.first().filter(|attempt| attempt.outcome.as_deref() != Some("done"));
        if let Some(said) = last.and_then(|attempt| attempt.stderr.as_deref()).filter(|said| !said.trim().is_empty()) {
            self.line(&format!("  {}", self.lang.t("show-stderr", &[])));
            let end: Vec<&str> = said.trim_end().lines().rev().take(STDERR_LINES).collect();
            end.iter().rev().for_each(|line| self.line(&format!("  │ {}", short_line(line, DETAIL_MAX))));
        }
    }

    /// Each effect: where it stands and why, what it made and cost, its tries, and what a person can do.
    fn effects(&mut self, event: &EventHistory) {
        for view in &event.effects {
            self.effect(event, view);
        }
    }

    fn effect(&mut self, event: &EventHistory, view: &EffectView) {
        let effect = &view.effect;
        let state = self.lang.effect(effect.state);
        let paint = effect_paint_of(effect.state, effect.alarm.is_some());
        self.line("");
        let args: &[(&str, Arg<'_>)] =
            &[("name", effect.name.as_str().into()), ("state", state.into()), ("run", effect.run.into())];
        let head = self.lang.t(if event.job.run > 1 { "show-effect-of-run" } else { "show-effect" }, args);
        self.line(&paint.on(&head, self.colour));
        if let Some(reason) = effect.reason {
            let why = effect_told::why(reason).in_prose(self.lang);
            self.line(&format!("  {why}"));
        }
        if let Some(alarm) = effect.alarm {
            let alarm = self.lang.t(&format!("show-effect-{}", alarm.as_str().replace('_', "-")), &[]);
            self.line(&format!("  {}", Paint::Alarm.on(&alarm, self.colour)));
        }
        let mut facts = Vec::new();
        for record in &effect.records {
            if let Some(id) = &record.evidence.resource_id {
                facts.push(("show-resource", short_line(&id_on_a_line(id), DETAIL_MAX).into()));
            }
            if let Some(result) = &record.evidence.result {
                facts.push(("show-result", short_line(result, DETAIL_MAX).into()));
            }
        }
        facts.extend(view.charged().filter(|cost| *cost > 0).map(|cost| ("show-effect-cost", units(cost))));
        facts.extend(Some(effect.at_risk()).filter(|held| *held > 0).map(|held| ("show-effect-at-risk", units(held))));
        if view.replays > 0 {
            facts.push(("show-effect-replays", view.replays.to_string()));
        }
        facts.push(("show-effect-key", view.key.clone()));
        facts.push(("show-changed", view.changed_at.to_rfc3339()));
        facts.extend(view.note.as_deref().map(|note| ("show-effect-note", short_line(note, DETAIL_MAX).into())));
        self.facts(&facts);
        let heads = ["column-try", "column-started", "column-send-before", "column-deadline", "column-outcome"];
        let mut table = Table::new(heads.map(|key| Cell::new(self.lang.word(key))).into());
        for (one, number) in effect.tries.iter().zip(1_u32..) {
            let outcome = match one.outcome {
                Some(outcome) => self.lang.word(&format!("try-{}", outcome.as_str().replace('_', "-"))),
                None if one.is_of_restore() => self.lang.word("try-restored"),
                None => self.lang.word("try-open"),
            };
            table.push(vec![
                Cell::new(number.to_string()),
                Cell::new(to_the_second(one.begun_at)),
                Cell::new(to_the_second(one.send_before)),
                Cell::new(to_the_second(one.deadline)),
                Cell::new(outcome),
            ]);
        }
        self.table(&table);
        if let Some(next) = what_next(event, view) {
            let next = next.in_prose(self.lang);
            self.line(&format!("  {next}"));
            if effect.state == EffectState::Held {
                self.how_to_settle(event, view);
            }
        }
    }

    /// The three commands for a person who has looked at the destination.
    fn how_to_settle(&mut self, event: &EventHistory, view: &EffectView) {
        let Some(id) = shell_word(&event.job.id) else { return };
        let dashes = if id.starts_with('-') { "-- " } else { "" };
        let (source, name, number) = (&event.job.source, &view.effect.name, view.effect.newest());
        let source = if source.as_str() == "default" { String::new() } else { format!(" --source {source}") };
        let happened = format!("--happened {}", self.lang.t("value-resource", &[]));
        for word in [&*happened, "--did-not-happen", "--abandon"] {
            self.line(&format!("    cola-ia effect resolve {word} --try {number}{source} {dashes}{id} {name}"));
        }
    }

    fn table(&mut self, table: &Table) {
        let lines = table.render(self.colour);
        lines.lines().for_each(|line| self.line(&format!("  {line}")));
    }

    fn line(&mut self, text: &str) {
        // Writing to a string cannot fail. Nothing ends in spaces: an empty line of a text would.
        let _ = writeln!(self.out, "{}", text.trim_end_matches(' '));
    }
}

/// What happens next with an effect, or what a person can do about it.
fn what_next(event: &EventHistory, view: &EffectView) -> Option<Message> {
    let effect = &view.effect;
    let of_this_run = effect.run == event.job.run;
    let settled = effect.settled_at().map(to_the_second);
    match effect.state {
        EffectState::Held if of_this_run => Some(match settled {
            Some(settled) => Message::new("show-effect-held").with("settled", settled),
            None => Message::new("show-effect-held-now"),
        }),
        EffectState::Unknown => Some(Message::new("show-effect-unknown")),
        EffectState::Abandoned if of_this_run => Some(Message::new("show-effect-abandoned")),
        _ => None,
    }
}

/// Characters of a name that are shown in a column.
const NAME_MAX: usize = 40;
/// Characters of what is told about something that are shown.
pub(super) const DETAIL_MAX: usize = 200;
/// Lines of what a failed attempt wrote last.
const STDERR_LINES: usize = 10;

/// The colour of a verdict.
pub(super) const fn paint_of_verdict(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::New => Paint::Good,
        Verdict::Duplicate => Paint::Faint,
        Verdict::Conflict => Paint::Alarm,
        Verdict::Invalid => Paint::Bad,
    }
}

/// What was decided, when and why.
pub(super) fn decided(decision: &DecisionView) -> Message {
    let key = match decision.kind {
        DecisionKind::Keep => "show-kept",
        DecisionKind::Accept => "show-accepted",
        DecisionKind::As => "show-entered",
    };
    let mut message = Message::new(key).with("time", to_the_second(decision.decided_at));
    if let Some(event) = decision.entered {
        message = message.with("event", event.0);
    }
    match &decision.note {
        Some(note) => {
            let note = short_line(note, DETAIL_MAX);
            Message::new("show-decided-note").message("decision", message).with("note", note)
        }
        None => message,
    }
}

/// The lines of a difference, indented, and a mark where it was cut.
pub(super) fn difference_lines(lang: &Lang, ours: &str, theirs: &str, colour: bool) -> Vec<String> {
    let found = difference(ours, theirs, colour);
    let cut = found.is_cut.then(|| lang.t("show-difference-cut", &[]));
    found.lines.into_iter().chain(cut).map(|line| format!("  {line}")).collect()
}

/// What an attempt said when its lease was lost, and the attempt that had taken its place by now. The newest is first.
fn answered_late(attempt: &AttemptView, said: &str, attempts: &[AttemptView]) -> Message {
    let newest = attempts.iter().find(|other| other.run == attempt.run).map_or(0, |newest| newest.number);
    let superseded = newest > attempt.number;
    let key = if superseded { "show-late-superseded" } else { "show-late-answer" };
    let message = Message::new(key).with("attempt", attempt.number).with("said", short_line(said, DETAIL_MAX));
    if superseded { message.with("by", newest) } else { message }
}

/// Exit code, signal, class and words of the error, as far as they are known.
pub(super) fn how_it_ended(attempt: &AttemptView) -> String {
    let exit = attempt.exit_code.map(|code| format!("exit {code}"));
    let signal = attempt.signal.map(|signal| format!("signal {signal}"));
    let said = attempt.error.clone().or_else(|| attempt.late.as_ref().map(|late| format!("late: {late}")));
    let class = attempt.error_class.as_ref().map(|class| format!("[{class}]"));
    let parts: Vec<String> = [class, exit, signal, said].into_iter().flatten().collect();
    short_line(&parts.join(" "), DETAIL_MAX).into_owned()
}

/// A length of time as people read it, in its two largest units: `2 d 3 h`, `4 min 0 s`, `1.250 s`.
pub(super) fn length(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    match seconds {
        0..60 => format!("{seconds}.{:03} s", micros / 1_000 % 1_000),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// The same for a column, without spaces: `2d3h`, `4m0s`, `1.250s`; `-` before a negative one.
pub(super) fn short_length(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    format!("{sign}{}", length(micros.saturating_abs()).replace("min", "m").replace(' ', ""))
}

#[cfg(test)]
mod tests;
