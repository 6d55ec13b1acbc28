//! `jobs`: what was asked for, and the list.

use cola_ia_core::clock::Timestamp;
use cola_ia_core::filter::{Filter, Key};
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{JobPage, JobSummary, PageRequest, Store, StoreError};
use cola_ia_wire::Job;
use pollster::block_on;

use super::add::push_json;
use crate::lang::{Lang, Message};
use crate::print::{Paint, id_on_a_line};

/// The options of `jobs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobsOptions {
    /// `--filter`, `--state`, `--source`, …
    pub filter: Filter,
    /// `--limit`, `--after`
    pub page: PageRequest,
    /// `--json`
    pub json: bool,
}

/// What the list of jobs can be asked for.
pub const KEYS: [Key; 6] = [Key::Source, Key::State, Key::Type, Key::Since, Key::Until, Key::Reason];

/// The page that was asked for, as full as there are jobs: the store looks at a bounded number of them a call.
///
/// # Errors
/// The store's.
pub fn gather(store: &dyn Store, options: &JobsOptions) -> Result<JobPage, StoreError> {
    let mut page = JobPage { jobs: Vec::new(), next: options.page.below };
    loop {
        let limit = options.page.limit - page.jobs.len() as u32;
        let more = block_on(store.jobs(options.filter.clone(), PageRequest { below: page.next, limit }))?;
        page.jobs.extend(more.jobs);
        page.next = more.next;
        if page.next.is_none() || page.jobs.len() >= options.page.limit as usize {
            return Ok(page);
        }
    }
}

/// The job of this event; `None`: there is none.
///
/// # Errors
/// The store's.
pub(crate) async fn find(store: &dyn Store, event: EventNumber) -> Result<Option<JobSummary>, StoreError> {
    let below = Some(EventNumber(event.0.saturating_add(1)));
    let page = store.jobs(Filter::default(), PageRequest { below, limit: 1 }).await?;
    Ok(page.jobs.into_iter().find(|job| job.event == event))
}

/// One [`Job`] a line.
pub fn as_json(page: &JobPage, now: Timestamp) -> String {
    let mut out = String::new();
    for job in &page.jobs {
        push_json(&mut out, &Job::new(job, now));
    }
    out
}

/// The list for people: a head, then a line a job, in columns; nothing where there is no job. The id stands last, because
/// it alone may hold spaces. Words and heads are those of stdout, never changed by the locale.
pub fn as_table(lang: &Lang, page: &JobPage, now: Timestamp, colour: bool) -> String {
    if page.jobs.is_empty() {
        return String::new();
    }
    let head = ["column-event", "column-state", "column-source", "column-attempts", "column-received", "column-id"]
        .map(|key| lang.word(key));
    let rows: Vec<[String; 6]> = page
        .jobs
        .iter()
        .map(|job| {
            [
                job.event.0.to_string(),
                state_of(lang, job, now),
                job.source.to_string(),
                job.attempts.to_string(),
                to_the_second(job.received_at),
                id_on_a_line(&job.id).into_owned(),
            ]
        })
        .collect();
    let width =
        |column: usize| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [width(0), width(1), width(2), width(3), width(4)];
    let mut out = Paint::Head.on(&row(&head, &widths, str::to_owned), colour);
    out.push('\n');
    for (cells, job) in rows.iter().zip(&page.jobs) {
        out.push_str(&row(cells, &widths, |state| paint_of_job(job, now).on(state, colour)));
        out.push('\n');
    }
    out
}

/// Numbers to the right, words to the left. Padding is put outside the state's colour, whose codes have a length too.
fn row(cells: &[String; 6], widths: &[usize; 5], paint_state: impl Fn(&str) -> String) -> String {
    let [event, state, source, attempts, received, id] = cells;
    let [w_event, w_state, w_source, w_attempts, w_received] = *widths;
    let padding = " ".repeat(w_state - state.chars().count());
    let state = paint_state(state);
    format!(
        "{event:>w_event$}  {state}{padding}  {source:<w_source$}  {attempts:>w_attempts$}  {received:<w_received$}  {id}"
    )
}

/// The word for a job's state, with a mark where its lease has run out.
pub(super) fn state_of(lang: &Lang, job: &JobSummary, now: Timestamp) -> String {
    let state = lang.state(job.state);
    if job.is_expired(now) { format!("{state} ({})", lang.word("word-expired")) } else { state.to_owned() }
}

/// The colour of a job's state: one that has lost its worker is no running one.
pub(super) fn paint_of_job(job: &JobSummary, now: Timestamp) -> Paint {
    if job.is_expired(now) { Paint::Alarm } else { paint_of(job.state) }
}

/// The colour of a state.
pub(super) const fn paint_of(state: JobState) -> Paint {
    match state {
        JobState::Pending => Paint::Calm,
        JobState::Running => Paint::Head,
        JobState::Done => Paint::Good,
        JobState::Failed => Paint::Bad,
        JobState::Held => Paint::Alarm,
        JobState::Cancelled => Paint::Faint,
    }
}

/// `2026-01-31T21:00:00Z`: RFC 3339 without the fraction, cut.
pub(super) fn to_the_second(instant: Timestamp) -> String {
    let text = instant.to_rfc3339();
    text.split_once('.').map_or(text.clone(), |(seconds, _)| format!("{seconds}Z"))
}

/// For stderr: how many jobs of this page run on a lease that ran out. Their state is told as what it is, `running`.
pub fn expired(page: &JobPage, now: Timestamp) -> Option<Message> {
    let count = page.jobs.iter().filter(|job| job.is_expired(now)).count() as u64;
    (count > 0).then(|| Message::new("jobs-expired").number("count", count))
}

/// For stderr: how to get the next page.
pub fn next_page(page: &JobPage) -> Message {
    Message::new("jobs-more-hint").with("next", page.next.map_or(0, |next| next.0))
}

/// For stderr: that there is nothing. `source_known`: some event has come, of the source that was asked for if one was.
pub fn nothing(options: &JobsOptions, source_known: bool) -> Message {
    match &options.filter.sources[..] {
        [source] if !source_known => Message::new("jobs-no-source").with("source", source),
        _ => Message::new("jobs-none"),
    }
}
