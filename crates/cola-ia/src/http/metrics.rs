//! What is counted: for Prometheus, at `/metrics`.
//!
//! What passes through this server is counted here and begins at 0 with it. What stands in the store is asked of the store, at
//! most every few seconds however often somebody looks. No label is an id; sources are those of the configuration, and the
//! others together are one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::EffectState;
use cola_ia_core::event::Source;
use cola_ia_core::filter::Filter;
use cola_ia_core::intake::RefusalCode;
use cola_ia_core::job::{JobState, Outcome};
use cola_ia_core::store::{
    Costs, CostsBy, CostsRequest, EffectFilter, EffectListRequest, ListRequest, Store, StoreError, TokenScope,
};
use cola_ia_core::verdict::Verdict;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use tokio::sync::Mutex;

use super::{App, Problem};

/// How long what the store said is shown.
const FRESH: Duration = Duration::from_secs(5);
/// Sources that are told apart.
const SOURCES_MAX: usize = 200;
/// The name of the others together; no source can have it.
const OTHERS: &str = "(others)";
/// Open effects of a state that are counted; a gauge that shows so many may mean more.
const EFFECTS_MAX: u32 = 1_000;
/// Effects in these states wait for somebody.
const OPEN_EFFECTS: [EffectState; 3] = [EffectState::Intended, EffectState::Unknown, EffectState::Held];
/// The form in which counts are written.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Amount = Gauge<f64, AtomicU64>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfSource {
    source: String,
    verdict: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfRefusal {
    source: String,
    code: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfState {
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfOutcome {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfCost {
    source: String,
    kind: &'static str,
    currency: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfRequest {
    route: String,
    method: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfRoute {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfTask {
    task: &'static str,
}

/// What is said of an effect: by its worker, by a lookup, by a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectOutcome {
    /// Its worker says that it happened.
    Done,
    /// Its worker says that it did not happen by this try.
    Failed,
    /// Its worker does not know.
    Unknown,
    /// A lookup found it.
    Found,
    /// A lookup did not find it.
    Absent,
    /// A person says that it happened.
    DecidedFound,
    /// A person says that it did not happen.
    DecidedAbsent,
    /// A person says that nobody will find out.
    Abandoned,
}

impl EffectOutcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Found => "found",
            Self::Absent => "absent",
            Self::DecidedFound => "decided_found",
            Self::DecidedAbsent => "decided_absent",
            Self::Abandoned => "abandoned",
        }
    }
}

/// A source that is told apart.
struct Counted {
    label: String,
    verdicts: [Counter; 4],
    lateness: Histogram,
}

/// All that is counted.
pub struct Metrics {
    registry: Registry,
    sources: BTreeMap<Source, Counted>,
    others: Counted,
    refusals: Family<OfRefusal, Counter>,
    requests: Family<OfRequest, Counter>,
    durations: Family<OfRoute, Histogram, fn() -> Histogram>,
    commits: Histogram,
    groups: Histogram,
    waiting: Gauge,
    connections: Gauge,
    turned_away: Counter,
    attempts: Family<OfOutcome, Counter>,
    effects: Family<OfOutcome, Counter>,
    done: Family<OfTask, Counter>,
    failed: Family<OfTask, Counter>,
    stored: Stored,
}

/// What the store says.
#[derive(Default)]
struct Stored {
    looked_at: Mutex<Option<Instant>>,
    up: Gauge,
    jobs: Family<OfState, Gauge>,
    oldest_pending: Amount,
    paused: Gauge,
    expired: Gauge,
    effects: Family<OfState, Gauge>,
    costs: Family<OfCost, Amount>,
}

/// Seconds, from half a millisecond to half a minute.
fn latency() -> Histogram {
    Histogram::new(exponential_buckets(0.0005, 2.0, 16))
}

/// Seconds, from a tenth to a week.
fn lateness() -> Histogram {
    Histogram::new([0.1, 1.0, 5.0, 30.0, 60.0, 300.0, 1_800.0, 3_600.0, 21_600.0, 86_400.0, 604_800.0])
}

impl Metrics {
    /// Counts of nothing yet, with these sources told apart.
    pub fn new<'a>(sources: impl Iterator<Item = &'a Source>) -> Self {
        let mut registry = Registry::with_prefix("cola_ia");
        let deliveries = Family::<OfSource, Counter>::default();
        let late =
            Family::<[(&'static str, String); 1], Histogram>::new_with_constructor(lateness as fn() -> Histogram);
        let counted = |label: &str| Counted {
            label: label.to_owned(),
            verdicts: Verdict::ALL.map(|verdict| {
                deliveries.get_or_create_owned(&OfSource { source: label.to_owned(), verdict: verdict.as_str() })
            }),
            lateness: late.get_or_create_owned(&[("source", label.to_owned())]),
        };
        let metrics = Self {
            sources: sources.take(SOURCES_MAX).map(|source| (source.clone(), counted(source.as_str()))).collect(),
            others: counted(OTHERS),
            refusals: Family::default(),
            requests: Family::default(),
            durations: Family::new_with_constructor(latency),
            commits: latency(),
            groups: Histogram::new(exponential_buckets(1.0, 2.0, 10)),
            waiting: Gauge::default(),
            connections: Gauge::default(),
            turned_away: Counter::default(),
            attempts: Family::default(),
            effects: Family::default(),
            done: Family::default(),
            failed: Family::default(),
            stored: Stored::default(),
            registry: Registry::default(),
        };
        registry.register("deliveries", "Deliveries by source and verdict", deliveries);
        registry.register("lateness_seconds", "From an event's own time to its reception", late);
        registry.register("refusals", "Refused deliveries by source and reason", metrics.refusals.clone());
        registry.register("http_requests", "Requests by route, method and status", metrics.requests.clone());
        registry.register("http_request_seconds", "From a request's head to its answer", metrics.durations.clone());
        registry.register("commit_seconds", "A group of requests, until it was durable", metrics.commits.clone());
        registry.register("group_size", "Requests that shared one commit", metrics.groups.clone());
        registry.register("waiting_requests", "Requests that wait for the store", metrics.waiting.clone());
        registry.register("connections", "Open connections", metrics.connections.clone());
        registry.register("connections_refused", "Connections over the limit", metrics.turned_away.clone());
        registry.register("attempts", "Attempts that ended through this server, by outcome", metrics.attempts.clone());
        registry.register(
            "effect_outcomes",
            "What became of effects, as it was recorded through this server, by outcome; what is said again counts again",
            metrics.effects.clone(),
        );
        registry.register("maintenance_done", "Maintenance that did something, by task", metrics.done.clone());
        registry.register("maintenance_failed", "Maintenance that failed, by task", metrics.failed.clone());
        metrics.stored.register(&mut registry);
        Self { registry, ..metrics }
    }

    fn of(&self, source: &Source) -> &Counted {
        self.sources.get(source).unwrap_or(&self.others)
    }

    /// A delivery was judged.
    pub fn entered(&self, source: &Source, verdict: Verdict) {
        self.of(source).verdicts[verdict as usize].inc();
    }

    /// A delivery says when it happened. One whose clock is ahead is not late.
    pub fn late(&self, source: &Source, time: Timestamp, received_at: Timestamp) {
        let micros = received_at.as_micros().saturating_sub(time.as_micros());
        self.of(source).lateness.observe(Duration::from_micros(micros.max(0).unsigned_abs()).as_secs_f64());
    }

    /// A delivery was refused.
    pub fn refused(&self, source: &Source, code: RefusalCode) {
        let counted = self.of(source);
        counted.verdicts[Verdict::Invalid as usize].inc();
        self.refusals.get_or_create(&OfRefusal { source: counted.label.clone(), code: code.as_str() }).inc();
    }

    /// A request was answered. `route` is that of the table of routes, never the path.
    pub fn request(&self, route: &str, method: &Method, status: StatusCode, took: Duration) {
        let route = route.to_owned();
        self.durations.get_or_create(&OfRoute { route: route.clone() }).observe(took.as_secs_f64());
        self.requests.get_or_create(&OfRequest { route, method: word(method), status: status.as_u16() }).inc();
    }

    /// A group was committed, or could not be.
    pub fn commit(&self, took: Duration) {
        self.commits.observe(took.as_secs_f64());
    }

    /// So many requests share a commit.
    pub fn group_size(&self, requests: usize) {
        self.groups.observe(requests as f64);
    }

    /// So many requests wait for the store now.
    pub fn waiting(&self, requests: usize) {
        self.waiting.set(requests as i64);
    }

    /// A connection is open until what this gives is dropped.
    pub fn connection(&self) -> Connected {
        self.connections.inc();
        Connected(self.connections.clone())
    }

    /// A connection was refused: there are too many.
    pub fn turned_away(&self) {
        self.turned_away.inc();
    }

    /// An attempt ended.
    pub fn attempt(&self, outcome: Outcome) {
        self.attempts.get_or_create(&OfOutcome { outcome: outcome.as_str() }).inc();
    }

    /// What became of an effect was recorded.
    pub fn effect(&self, outcome: EffectOutcome) {
        self.effects.get_or_create(&OfOutcome { outcome: outcome.as_str() }).inc();
    }

    /// Maintenance did something, so many times.
    pub fn maintained(&self, task: &'static str, count: u64) {
        self.done.get_or_create(&OfTask { task }).inc_by(count);
    }

    /// Maintenance failed.
    pub fn maintenance_failed(&self, task: &'static str) {
        self.failed.get_or_create(&OfTask { task }).inc();
    }

    /// Asks the store, unless it was asked a moment ago.
    async fn look(&self, store: &dyn Store, now: Timestamp) {
        // Who comes meanwhile waits for the same answer.
        let mut looked_at = self.stored.looked_at.lock().await;
        if looked_at.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        let up = match self.stored.look(store, now).await {
            Ok(()) => 1,
            Err(error) => {
                tracing::warn!(code = error.code, "the store could not be asked for metrics");
                0
            }
        };
        self.stored.up.set(up);
        *looked_at = Some(Instant::now());
    }

    fn encode(&self) -> String {
        let mut out = String::new();
        // A String takes all that is written.
        let _ = text::encode(&mut out, &self.registry);
        out
    }
}

impl Stored {
    fn register(&self, registry: &mut Registry) {
        registry.register("store_up", "1: the store answered when it was last asked", self.up.clone());
        registry.register("jobs", "Jobs by state", self.jobs.clone());
        registry.register(
            "oldest_pending_seconds",
            "How long the job that is due longest has been due; 0: none is due",
            self.oldest_pending.clone(),
        );
        registry.register("paused_sources", "Sources whose jobs are not leased", self.paused.clone());
        registry.register("expired_leases", "Running jobs whose lease has run out", self.expired.clone());
        registry.register(
            "open_effects",
            "Effects that wait for an outcome or a person, by state; 1000: or more",
            self.effects.clone(),
        );
        registry.register("cost", "Money by source and kind, in the store's currency", self.costs.clone());
    }

    async fn look(&self, store: &dyn Store, now: Timestamp) -> Result<(), StoreError> {
        let stats = store.stats(Filter::default()).await?;
        for state in JobState::ALL {
            let count = i64::try_from(stats.total.jobs_in(state)).unwrap_or(i64::MAX);
            self.jobs.get_or_create(&OfState { state: state.as_str() }).set(count);
        }
        let sources = store.sources(Filter::default()).await?;
        let due_at = sources.iter().filter_map(|source| source.due_at).min();
        let age = due_at.map_or(0, |due_at| now.as_micros().saturating_sub(due_at.as_micros()).max(0));
        self.oldest_pending.set(Duration::from_micros(age.unsigned_abs()).as_secs_f64());
        self.paused.set(sources.iter().filter(|source| source.paused_at.is_some()).count() as i64);
        self.expired.set(sources.iter().map(|source| source.expired).sum::<u64>() as i64);
        for state in OPEN_EFFECTS {
            let filter = EffectFilter { states: vec![state], ..EffectFilter::default() };
            let page = ListRequest { limit: EFFECTS_MAX, ..ListRequest::default() };
            let found = store.effect_list(EffectListRequest { filter, page }).await?;
            self.effects.get_or_create(&OfState { state: state.as_str() }).set(found.items.len() as i64);
        }
        let request = CostsRequest { by: CostsBy::Source, sources: Vec::new(), since: None, until: None };
        self.cost(&store.costs(request).await?);
        Ok(())
    }

    fn cost(&self, costs: &Costs) {
        let currency = costs.currency.clone().unwrap_or_default();
        let set = |source: &str, kind, micros: i64| {
            let of = OfCost { source: source.to_owned(), kind, currency: currency.clone() };
            self.costs.get_or_create(&of).set(micros as f64 / 1e6);
        };
        self.costs.clear();
        let (mut spent, mut at_risk) = (0_i64, 0_i64);
        for (at, line) in costs.lines.iter().enumerate() {
            if at < SOURCES_MAX {
                set(&line.name, "spent", line.sums.spent);
                set(&line.name, "at_risk", line.sums.at_risk);
            } else {
                spent = spent.saturating_add(line.sums.spent);
                at_risk = at_risk.saturating_add(line.sums.at_risk);
            }
        }
        if costs.lines.len() > SOURCES_MAX {
            set(OTHERS, "spent", spent);
            set(OTHERS, "at_risk", at_risk);
        }
    }
}

/// An open connection, counted.
pub struct Connected(Gauge);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Methods are words of their senders: only those that are known are labels.
fn word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        _ => "other",
    }
}

/// `GET /metrics`, for who may read.
pub(super) async fn show(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Problem> {
    app.tokens.caller(&headers).await?.must(TokenScope::Read)?;
    app.metrics.look(&*app.store, app.now()).await;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], app.metrics.encode()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_bounded() {
        let sources: Vec<Source> = (0..SOURCES_MAX + 5).map(|n| Source::new(&format!("s{n:03}")).unwrap()).collect();
        let metrics = Metrics::new(sources.iter());
        for source in &sources {
            metrics.entered(source, Verdict::New);
        }
        metrics.refused(&Source::new("nobody").unwrap(), RefusalCode::BodyTooLarge);
        metrics.request("/in/{source}", &Method::from_bytes(b"BREW").unwrap(), StatusCode::OK, Duration::ZERO);
        let text = metrics.encode();
        for line in [
            "cola_ia_deliveries_total{source=\"s000\",verdict=\"new\"} 1",
            "cola_ia_deliveries_total{source=\"(others)\",verdict=\"new\"} 5",
            "cola_ia_refusals_total{source=\"(others)\",code=\"body_too_large\"} 1",
            "cola_ia_http_requests_total{route=\"/in/{source}\",method=\"other\",status=\"200\"} 1",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
        assert!(!text.contains("s200"));
    }

    #[tokio::test]
    async fn both_pages_list_every_metric_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sqlite3");
        let (store, _) =
            cola_ia_store::sqlite::SqliteStore::open(&path, &cola_ia_store::sqlite::Options::default()).unwrap();
        let web = Source::new("web").unwrap();
        let metrics = Metrics::new([&web].into_iter());
        // What has not happened is not shown.
        metrics.refused(&web, RefusalCode::BodyTooLarge);
        metrics.request("/", &Method::GET, StatusCode::OK, Duration::ZERO);
        metrics.attempt(Outcome::Done);
        metrics.effect(EffectOutcome::Done);
        metrics.maintained("prune", 1);
        metrics.maintenance_failed("prune");
        metrics.look(&store, Timestamp::from_micros(0)).await;
        let of = OfCost { source: String::new(), kind: "spent", currency: String::new() };
        metrics.stored.costs.get_or_create(&of).set(0.0);
        let text = metrics.encode();
        let described = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let mut shown: Vec<String> = described
            .map(|line| {
                let (name, kind) = line.split_once(' ').unwrap();
                if kind == "counter" { format!("{name}_total") } else { name.to_owned() }
            })
            .collect();
        shown.sort_unstable();
        for page in [include_str!("../../../../docs/OPERATIONS.md"), include_str!("../../../../docs/OPERACION.md")] {
            let rows = page.lines().filter(|line| line.starts_with("| `cola_ia_"));
            let cells = rows.map(|line| line.split('|').nth(1).unwrap());
            let mut listed: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
            listed.sort_unstable();
            assert_eq!(listed, shown);
        }
    }

    #[test]
    fn a_connection_is_counted_while_it_is_open() {
        let metrics = Metrics::new(std::iter::empty());
        let open = metrics.connection();
        assert_eq!(metrics.connections.get(), 1);
        drop(open);
        assert_eq!(metrics.connections.get(), 0);
    }
}
