use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::clock::{Clock as _, Timestamp};
use cola_ia_core::event::{EventType, Source};
use cola_ia_core::filter::Filter;
use cola_ia_core::store::{PageRequest, Store};
use cola_ia_core::verdict::Verdict;
use cola_ia_testkit::clock::{ManualClock, SeededEntropy};
use cola_ia_testkit::harness::{Backend as _, Place};
use cola_ia_testkit::model::ModelBackend;
use pollster::block_on;

use super::*;
use crate::config::ScheduleConfig;

fn at(text: &str) -> Timestamp {
    Timestamp::parse_rfc3339(text).unwrap()
}

/// The instants as `jiff` writes them, without the year.
fn shown(firings: &[Timestamp]) -> Vec<String> {
    firings.iter().map(|firing| firing.to_rfc3339()[5..16].to_owned()).collect()
}

fn fires(cron: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
    let plan = Plan::parse(cron, zone).unwrap();
    let later = std::iter::successors(plan.next(at(after)), |last| plan.next(*last));
    shown(&later.take(count).collect::<Vec<_>>())
}

#[test]
fn a_local_time_is_an_instant_in_its_zone() {
    assert_eq!(fires("0 9 * * 1-5", "Europe/Madrid", "2026-01-30T08:00:00Z", 2), ["02-02T08:00", "02-03T08:00"]);
    assert_eq!(fires("@daily", "UTC", "2026-01-31T23:59:59Z", 1), ["02-01T00:00"]);
    assert_eq!(fires("30 18 L * *", "America/Bogota", "2026-02-01T00:00:00Z", 2), ["02-28T23:30", "03-31T23:30"]);
    assert_eq!(fires("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", 1), ["02-29T00:00"]);
}

/// In Madrid the clock goes from 02:00 to 03:00 on 2026-03-29 (01:00Z), and from 03:00 to 02:00 on 2026-10-25 (01:00Z).
#[test]
fn each_local_time_is_one_firing_where_clocks_are_turned() {
    let madrid = "Europe/Madrid";
    // Left out: at the moment of the change, and several of them once.
    assert_eq!(fires("30 2 * * *", madrid, "2026-03-28T12:00:00Z", 2), ["03-29T01:00", "03-30T00:30"]);
    assert_eq!(
        fires("*/20 2,3 * * *", madrid, "2026-03-28T12:00:00Z", 4),
        ["03-29T01:00", "03-29T01:20", "03-29T01:40", "03-30T00:00"]
    );
    // Twice: the first time only.
    assert_eq!(fires("30 2 * * *", madrid, "2026-10-24T12:00:00Z", 2), ["10-25T00:30", "10-26T01:30"]);
    assert_eq!(fires("30 2 * * *", madrid, "2026-10-25T00:45:00Z", 1), ["10-26T01:30"]);
    assert_eq!(fires("30 2 * * *", madrid, "2026-10-25T01:10:00Z", 1), ["10-26T01:30"]);
    assert_eq!(
        fires("0,30 2,3 * * *", madrid, "2026-10-24T12:00:00Z", 4),
        ["10-25T00:00", "10-25T00:30", "10-25T02:00", "10-25T02:30"]
    );
    // Time that passes: every hour of it.
    assert_eq!(fires("0 * * * *", madrid, "2026-03-28T23:30:00Z", 3), ["03-29T00:00", "03-29T01:00", "03-29T02:00"]);
    assert_eq!(
        fires("*/30 * * * *", madrid, "2026-10-24T23:45:00Z", 6),
        ["10-25T00:00", "10-25T00:30", "10-25T01:00", "10-25T01:30", "10-25T02:00", "10-25T02:30"]
    );
    // A change by half an hour, and one at midnight, and a whole day that was left out.
    assert_eq!(fires("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", 2), ["10-03T15:30", "10-04T15:15"]);
    assert_eq!(fires("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", 2), ["04-23T22:00", "04-24T21:00"]);
    assert_eq!(
        fires("0 12 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", 3),
        ["12-29T22:00", "12-30T10:00", "12-30T22:00"]
    );
}

#[test]
fn firings_go_forward_whatever_the_zone() {
    let zones = ["Europe/Madrid", "America/Santiago", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo", "UTC"];
    for zone in zones {
        for cron in ["30 2 * * *", "0,45 0-3 * * *", "0 0 * * *", "*/15 23 * * *", "*/40 */3 * * *"] {
            let plan = Plan::parse(cron, zone).unwrap();
            let mut last = at("2026-01-01T00:00:00Z");
            let end = at("2027-01-01T00:00:00Z");
            let mut days = 0;
            while let Some(next) = plan.next(last).filter(|next| *next < end) {
                assert!(next > last, "{zone} {cron}: {next:?} after {last:?}");
                // A moment before it, it is the next one as well.
                assert_eq!(plan.next(Timestamp::from_micros(next.as_micros() - 1)), Some(next), "{zone} {cron}");
                last = next;
                days += 1;
            }
            assert!(days >= 364, "{zone} {cron}: {days}");
        }
    }
}

#[test]
fn what_is_no_plan_is_told() {
    let fault = |cron, zone| Plan::parse(cron, zone).unwrap_err();
    assert_eq!(fault("0 9 * *", "UTC"), PlanFault::Fields(4));
    assert_eq!(fault("0 0 9 * * *", "UTC"), PlanFault::Fields(6));
    assert_eq!(fault("", "UTC"), PlanFault::Fields(0));
    assert_eq!(fault("@often", "UTC"), PlanFault::Fields(1));
    assert_eq!(fault("0 0 30 2 *", "UTC"), PlanFault::Never);
    assert_eq!(fault("0 9 * * *", "Europe/Atlantis"), PlanFault::Zone("Europe/Atlantis".into()));
    for cron in ["60 9 * * *", "0 24 * * *", "x 9 * * *", "0 9 * * MOON", "*/0 * * * *", "5-1 * * * *"] {
        assert!(matches!(fault(cron, "UTC"), PlanFault::Cron(why) if !why.is_empty()), "{cron}");
    }
}

#[test]
fn the_last_firings_are_found_however_rare() {
    let now = at("2026-06-15T12:00:00Z");
    let last = |cron: &str, limit| shown(&Plan::parse(cron, "UTC").unwrap().last(now, limit));
    assert_eq!(last("* * * * *", 3), ["06-15T11:58", "06-15T11:59", "06-15T12:00"]);
    assert_eq!(last("0 0 1 1 *", 2), ["01-01T00:00", "01-01T00:00"]);
    assert_eq!(Plan::parse("* * * * *", "UTC").unwrap().last(now, LOOK_BACK_MAX).len(), LOOK_BACK_MAX);
    assert_eq!(last("* * 31 12 *", LOOK_BACK_MAX).len(), LOOK_BACK_MAX);
}

/// Servers over one model store, with one clock.
struct Servers {
    store: Arc<dyn Store>,
    clock: ManualClock,
    _place: Box<dyn Place>,
}

impl Servers {
    fn at(now: &str) -> Self {
        let clock = ManualClock::at(at(now));
        let place = ModelBackend.fresh().unwrap();
        let store = place.open(clock.clone(), SeededEntropy::new(7)).unwrap();
        Self { store, clock, _place: place }
    }

    fn start(&self, schedule: &ScheduleConfig) -> Scheduler {
        let entropy = Arc::new(SeededEntropy::new(self.clock.now().as_micros() as u64));
        Scheduler::new(
            std::slice::from_ref(schedule),
            1 << 20,
            Arc::clone(&self.store),
            Arc::new(self.clock.clone()),
            entropy,
        )
    }

    fn turn(&self, scheduler: &mut Scheduler, now: &str) -> Duration {
        self.clock.set(at(now));
        block_on(scheduler.turn())
    }

    /// The ids that entered, oldest first.
    fn entered(&self) -> Vec<String> {
        let page = block_on(self.store.jobs(Filter::default(), PageRequest { below: None, limit: 1_000 })).unwrap();
        page.jobs.into_iter().rev().map(|job| job.id).collect()
    }

    fn duplicates(&self) -> u64 {
        let stats = block_on(self.store.stats(Filter::default())).unwrap();
        stats.total.of(Verdict::Duplicate)
    }
}

fn daily(catch_up: u32) -> ScheduleConfig {
    schedule("0 9 * * *", catch_up)
}

fn schedule(cron: &str, catch_up: u32) -> ScheduleConfig {
    ScheduleConfig {
        name: Source::new("daily").unwrap(),
        plan: Plan::parse(cron, "UTC").unwrap(),
        text: "write the summary".into(),
        source: Source::new("schedule").unwrap(),
        event_type: Some(EventType::new("summary").unwrap()),
        catch_up,
        lines: Vec::new(),
    }
}

#[test]
fn a_firing_is_an_event_with_its_instant() {
    let servers = Servers::at("2026-01-31T08:59:50Z");
    let mut server = servers.start(&daily(1));
    assert_eq!(servers.turn(&mut server, "2026-01-31T08:59:50Z"), Duration::from_secs(10));
    assert_eq!(servers.entered(), Vec::<String>::new());
    assert_eq!(servers.turn(&mut server, "2026-01-31T09:00:00Z"), Duration::from_secs(15));
    assert_eq!(servers.entered(), ["daily@2026-01-31T09:00:00Z"]);
    let event = block_on(servers.store.find_events(None, "daily@2026-01-31T09:00:00Z".into())).unwrap().remove(0);
    assert_eq!(event.text.as_deref(), Some("write the summary"));
    assert_eq!(event.job.source.as_str(), "schedule");
    assert_eq!(event.job.event_type.unwrap().as_str(), "summary");
    assert_eq!(event.job.time, Some(at("2026-01-31T09:00:00Z")));
}

#[test]
fn several_servers_and_restarts_never_double_a_firing() {
    let servers = Servers::at("2026-01-31T08:59:00Z");
    let (mut one, mut other) = (servers.start(&daily(5)), servers.start(&daily(5)));
    for now in ["2026-01-31T08:59:00Z", "2026-01-31T09:00:01Z", "2026-01-31T09:00:16Z"] {
        servers.turn(&mut one, now);
        servers.turn(&mut other, now);
    }
    let mut again = servers.start(&ScheduleConfig { text: "other words".into(), ..daily(5) });
    servers.turn(&mut again, "2026-01-31T09:00:30Z");
    assert_eq!(servers.entered(), ["daily@2026-01-31T09:00:00Z"]);
    assert_eq!(servers.duplicates(), 0);
}

#[test]
fn a_restart_at_the_very_minute_does_not_lose_it() {
    let servers = Servers::at("2026-01-31T08:59:50Z");
    let mut server = servers.start(&schedule("* * * * *", 0));
    servers.turn(&mut server, "2026-01-31T08:59:50Z");
    servers.turn(&mut server, "2026-01-31T09:00:00Z");
    drop(server);
    let mut server = servers.start(&schedule("* * * * *", 0));
    servers.turn(&mut server, "2026-01-31T09:01:20Z");
    assert_eq!(servers.entered(), ["daily@2026-01-31T09:00:00Z", "daily@2026-01-31T09:01:00Z"]);
}

#[test]
fn what_was_due_while_no_server_ran_is_made_up_for_within_bounds() {
    for (catch_up, made_up) in
        [(0, &[][..]), (1, &["08"]), (3, &["06", "07", "08"]), (1_000, &["02", "03", "04", "05", "06", "07", "08"])]
    {
        let servers = Servers::at("2026-02-01T08:59:59Z");
        let mut server = servers.start(&daily(catch_up));
        servers.turn(&mut server, "2026-02-01T08:59:59Z");
        servers.turn(&mut server, "2026-02-01T09:00:00Z");
        let mut later = servers.start(&daily(catch_up));
        servers.turn(&mut later, "2026-02-08T12:00:00Z");
        let entered: Vec<String> = servers.entered().iter().skip(1).map(|id| id[14..16].to_owned()).collect();
        assert_eq!(entered, made_up, "{catch_up}");
    }
}

#[test]
fn a_schedule_that_the_store_has_never_seen_begins_now() {
    let servers = Servers::at("2026-01-31T09:00:30Z");
    let mut server = servers.start(&daily(1_000));
    servers.turn(&mut server, "2026-01-31T09:00:30Z");
    assert_eq!(servers.entered(), Vec::<String>::new());
    servers.turn(&mut server, "2026-02-01T09:00:00Z");
    assert_eq!(servers.entered(), ["daily@2026-02-01T09:00:00Z"]);
}

#[test]
fn a_machine_that_slept_and_a_clock_that_is_set_neither_skip_nor_double() {
    let servers = Servers::at("2026-01-31T08:00:00Z");
    let mut server = servers.start(&daily(1));
    servers.turn(&mut server, "2026-01-31T08:00:00Z");
    // Suspended over three firings: the newest is made up for.
    servers.turn(&mut server, "2026-02-02T20:00:00Z");
    assert_eq!(servers.entered(), ["daily@2026-02-02T09:00:00Z"]);
    // Set back by a day and a half, and the same firing comes again.
    for now in ["2026-02-01T08:00:00Z", "2026-02-01T09:00:00Z", "2026-02-02T09:00:00Z", "2026-02-03T09:00:00Z"] {
        servers.turn(&mut server, now);
    }
    let ids = ["daily@2026-02-02T09:00:00Z", "daily@2026-02-01T09:00:00Z", "daily@2026-02-03T09:00:00Z"];
    assert_eq!(servers.entered(), ids);
    // A year too far by mistake, and corrected: the schedule goes on.
    servers.turn(&mut server, "2027-02-03T10:00:00Z");
    servers.turn(&mut server, "2026-02-03T10:00:00Z");
    servers.turn(&mut server, "2026-02-04T09:00:00Z");
    assert_eq!(servers.entered().last().unwrap(), "daily@2026-02-04T09:00:00Z");
    assert_eq!(servers.duplicates(), 0);
}

#[test]
fn an_outage_of_the_store_delays_a_firing_and_loses_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ia.db");
    let options = cola_ia_store::sqlite::Options { lock_wait: Duration::ZERO, ..Default::default() };
    let (store, _) = cola_ia_store::sqlite::SqliteStore::init(&path, &options).unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    let clock = ManualClock::at(at("2026-01-31T08:59:50Z"));
    let entropy = Arc::new(SeededEntropy::new(7));
    let mut server = Scheduler::new(&[daily(0)], 1 << 20, Arc::clone(&store), Arc::new(clock.clone()), entropy);
    block_on(server.turn());
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    clock.set(at("2026-01-31T09:00:00Z"));
    assert_eq!(block_on(server.turn()), Duration::from_secs(5));
    assert!(block_on(store.find_events(None, "daily@2026-01-31T09:00:00Z".into())).unwrap().is_empty());
    other.execute_batch("ROLLBACK").unwrap();
    // An hour later it is late, and it was due all the same.
    clock.set(at("2026-01-31T10:00:00Z"));
    block_on(server.turn());
    assert_eq!(block_on(store.find_events(None, "daily@2026-01-31T09:00:00Z".into())).unwrap().len(), 1);
}
