//! `show`: the story of one identity.

use std::fmt::Write as _;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::event::{EventType, Source};
use cola_ia_core::store::{ConflictView, DeliveryView, EventHistory};
use cola_ia_wire::Event;

use super::add::push_json;
use super::jobs::paint_of;
use super::{Problem, jobs::to_the_second};
use crate::lang::{Arg, Lang, Message};
use crate::print::{Paint, id_on_a_line, safe_line, safe_text};

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

impl ShowOptions {
    /// Nothing is known of this id: not an error of the store, but not what was asked for. `elsewhere`: events of other
    /// sources that have the id.
    pub fn not_found(&self, elsewhere: &[EventHistory]) -> Problem {
        let id = id_on_a_line(&self.id);
        let problem = match &self.source {
            Some(source) => Problem::failed(Message::new("show-not-found-in").with("id", id).with("source", source)),
            None => Problem::failed(Message::new("show-not-found").with("id", id)),
        };
        if elsewhere.is_empty() {
            return problem.hint(Message::new("show-not-found-hint"));
        }
        let sources: Vec<&str> = elsewhere.iter().map(|event| event.job.source.as_str()).collect();
        problem.hint(Message::new("show-elsewhere-hint").with("sources", sources.join(", ")))
    }
}

/// One [`Event`] a line.
pub fn as_json(events: &[EventHistory]) -> String {
    let mut out = String::new();
    for event in events {
        push_json(&mut out, &Event::new(event));
    }
    out
}

/// The story for people; one after another, with a blank line between, where several sources know the id.
pub fn as_story(lang: &Lang, events: &[EventHistory], colour: bool) -> String {
    events.iter().map(|event| story(lang, event, colour)).collect::<Vec<_>>().join("\n")
}

fn story(lang: &Lang, event: &EventHistory, colour: bool) -> String {
    let mut story = Story { lang, colour, out: String::new() };
    story.identity(event);
    story.text(&lang.t("show-text", &[]), event.text.as_deref());
    event.conflicts.iter().for_each(|conflict| story.conflict(conflict));
    story.deliveries(&event.deliveries);
    story.out
}

struct Story<'a> {
    lang: &'a Lang,
    colour: bool,
    out: String,
}

impl Story<'_> {
    fn identity(&mut self, event: &EventHistory) {
        let job = &event.job;
        let id = Paint::Head.on(&id_on_a_line(&job.id), self.colour);
        let state = paint_of(job.state).on(self.lang.state(job.state), self.colour);
        self.line(&format!("{id}  {state}"));
        let mut facts = vec![("show-source", job.source.to_string()), ("show-event", job.event.0.to_string())];
        facts.extend(job.event_type.as_ref().map(EventType::as_str).map(|kind| ("show-type", safe_line(kind).into())));
        if !job.reason.is_empty() {
            facts.push(("show-reason", safe_line(&job.reason).into()));
        }
        facts.push(("show-run", job.run.to_string()));
        facts.push(("show-attempts", job.attempts.to_string()));
        facts.extend(job.resource_id.as_deref().map(|resource| ("show-resource", id_on_a_line(resource).into())));
        facts.extend(job.time.map(|time| ("show-time", time.to_rfc3339())));
        facts.push(("show-received", self.received(job.received_at, job.time)));
        facts.extend(job.due_at.map(|due| ("show-due", due.to_rfc3339())));
        facts.push(("show-duplicates", event.duplicates.to_string()));
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

    fn conflict(&mut self, conflict: &ConflictView) {
        let args: &[(&str, Arg<'_>)] = &[("number", conflict.number.into()), ("count", conflict.count.into())];
        let head = self.lang.t("show-conflict", args);
        self.text(&Paint::Alarm.on(&head, self.colour), conflict.text.as_deref());
        self.facts(&[
            ("show-first", conflict.first_at.to_rfc3339()),
            ("show-last", conflict.last_at.to_rfc3339()),
            ("show-fingerprint", conflict.fingerprint.to_string()),
        ]);
    }

    fn text(&mut self, head: &str, text: Option<&str>) {
        self.line("");
        self.line(head);
        match text {
            Some(text) => safe_text(text).split('\n').for_each(|line| self.line(&format!("  │ {line}"))),
            None => self.line(&format!("  {}", self.lang.t("show-text-gone", &[]))),
        }
    }

    fn deliveries(&mut self, deliveries: &[DeliveryView]) {
        if deliveries.is_empty() {
            return;
        }
        self.line("");
        self.line(&self.lang.t("show-deliveries", &[]));
        let width = deliveries.iter().map(|one| self.lang.verdict(one.verdict).chars().count()).max().unwrap_or(0);
        for delivery in deliveries {
            let verdict = self.lang.verdict(delivery.verdict);
            let number = delivery.conflict.map(|number| format!("  #{number}")).unwrap_or_default();
            let origin = delivery.origin.as_deref().map(|at| format!("  {}", safe_line(at))).unwrap_or_default();
            let received = to_the_second(delivery.received_at);
            self.line(&format!("  {received}  {verdict:<width$}{number}{origin}"));
        }
    }

    fn line(&mut self, text: &str) {
        // Writing to a string cannot fail. Nothing ends in spaces: an empty line of a text would.
        let _ = writeln!(self.out, "{}", text.trim_end_matches(' '));
    }
}

/// A length of time as people read it, in its two largest units: `2 d 3 h`, `4 min 0 s`, `1.250 s`.
fn length(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    match seconds {
        0..60 => format!("{seconds}.{:03} s", micros / 1_000 % 1_000),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

#[cfg(test)]
mod tests;
