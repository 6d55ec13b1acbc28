//! Why an event stands where it stands and came when it came, in a sentence each.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::job::JobState;
use cola_ia_core::store::EventHistory;

use super::show::{DETAIL_MAX, how_it_ended, length};
use crate::lang::{Lang, Message};
use crate::print::short_line;

/// A delay from which on it is said where it arose: below it there is nothing to find out.
const LATE_MICROS: i64 = 60_000_000;

/// Why the job did or did not run.
pub(super) fn it_stands_so(event: &EventHistory, now: Timestamp, lang: &Lang) -> Message {
    let job = &event.job;
    let since = event.changed_at.unwrap_or(job.received_at);
    let ago = |at: Timestamp| length(now.as_micros().saturating_sub(at.as_micros()).max(0));
    let failed = |key| Message::new(key).with("attempts", job.attempts).with("last", last_attempt(event, lang));
    match job.state {
        JobState::Pending => match job.due_at.filter(|due| *due > now) {
            Some(due) => {
                let time = length(due.as_micros().saturating_sub(now.as_micros()));
                let key = if job.attempts > 0 { "why-later-again" } else { "why-later" };
                failed(key).with("due", due).with("time", time)
            }
            None if job.attempts > 0 => failed("why-waits-again").with("time", ago(job.due_at.unwrap_or(since))),
            None => Message::new("why-waits").with("time", ago(job.due_at.unwrap_or(since))),
        },
        JobState::Running => {
            let worker = event.worker.as_deref().map_or_else(|| "?".into(), |worker| short_line(worker, DETAIL_MAX));
            let message = |key| Message::new(key).with("worker", &worker).with("time", ago(since));
            match job.lease_until {
                Some(until) if until <= now => message("why-running-lapsed").with("until", until),
                _ => message("why-running"),
            }
        }
        JobState::Done => Message::new("why-done").with("time", since),
        JobState::Failed => failed("why-failed").with("reason", reason(event)).with("time", since),
        JobState::Held => Message::new("why-held").with("reason", reason(event)).with("time", since),
        JobState::Cancelled => Message::new("why-cancelled").with("reason", reason(event)).with("time", since),
    }
}

/// How late the event came, and what that says of where it was delayed.
pub(super) fn it_came_when(event: &EventHistory) -> Message {
    let Some(time) = event.job.time else { return Message::new("why-time-unknown") };
    let late = event.job.received_at.as_micros().saturating_sub(time.as_micros());
    let key = match late {
        ..0 => "why-early",
        LATE_MICROS.. => "why-late",
        _ => "why-on-time",
    };
    Message::new(key).with("time", length(late.saturating_abs()))
}

fn reason(event: &EventHistory) -> String {
    let reason = short_line(&event.job.reason, DETAIL_MAX);
    if reason.is_empty() { "-".to_owned() } else { reason.into_owned() }
}

/// How the last attempt ended: `error [http_500] exit 1`; `-` where none is known.
fn last_attempt(event: &EventHistory, lang: &Lang) -> String {
    let Some(last) = event.attempts.first() else { return "-".to_owned() };
    let outcome = last.outcome.as_deref().map(|word| lang.outcome(word)).unwrap_or_default();
    format!("{outcome} {}", how_it_ended(last)).trim().to_owned()
}
