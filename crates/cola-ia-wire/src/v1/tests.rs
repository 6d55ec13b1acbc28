//! Everything that is looked at goes over the wire and comes back as it was.

use std::fmt::Debug;
use std::time::Duration;

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{
    Alarm, BeginId, Effect, EffectName, EffectState, Evidence, Micros, Otherwise, Policy, Reason, Recorded,
    Reservation, Try, TryOutcome, UtcDay, Witness,
};
use cola_ia_core::event::{EventType, Fingerprint, Source};
use cola_ia_core::intake::{DeliveryNumber, EventNumber, RefusalCode};
use cola_ia_core::job::{JobState, LeaseToken, Streak};
use cola_ia_core::lateness::Lateness;
use cola_ia_core::store::{
    AttemptView, BothTexts, BudgetView, ConflictSummary, ConflictView, CostLine, CostSums, Costs, CostsBy,
    CostsRequest, Cursor, DecisionKind, DecisionView, DeliverySummary, DeliveryView, EffectSummary, EffectView,
    EraseRequest, Erased, EventHistory, Followed, JobPage, JobSummary, OpId, Page, PruneCursor, PruneRequest, Pruned,
    PrunedDeliveries, Restored, RestoredMark, RevisionView, SourceView, Stats, StatsGroup, TokenHash, TokenRequest,
    TokenScope, TokenView,
};
use cola_ia_core::verdict::Verdict;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::list::List;
use super::*;

const TEXT: &str = "ñ\u{202e}\u{1b}\n\"\\\u{1f980}%2F";

/// Through JSON and back.
fn check<W, C>(core: &C)
where
    W: From<C> + Into<C> + Serialize + DeserializeOwned,
    C: Clone + PartialEq + Debug,
{
    let json = serde_json::to_string(&W::from(core.clone())).unwrap();
    let wire: W = serde_json::from_str(&json).unwrap_or_else(|fault| panic!("{json}: {fault}"));
    assert_eq!(&wire.into(), core, "{json}");
}

const fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(1_769_860_800_000_000 + micros)
}

fn source() -> Source {
    Source::new("web.form_1-a").unwrap()
}

#[expect(clippy::unnecessary_wraps, reason = "nearly every text of a view may be missing")]
fn text() -> Option<String> {
    Some(TEXT.to_owned())
}

fn micros(micros: i64) -> Micros {
    Micros::new(micros).unwrap()
}

fn bare_job() -> JobSummary {
    JobSummary {
        event: EventNumber(1),
        source: Source::default(),
        id: " a/b%2F ".into(),
        erased_at: None,
        event_type: None,
        state: JobState::Pending,
        reason: String::new(),
        run: 1,
        attempts: 0,
        resource_id: None,
        time: None,
        received_at: Timestamp::from_micros(-1),
        due_at: None,
        lease_until: None,
    }
}

fn full_job(state: JobState) -> JobSummary {
    JobSummary {
        event: EventNumber(i64::MAX),
        source: source(),
        id: TEXT.into(),
        erased_at: Some(at(1)),
        event_type: Some(EventType::new("Página \"1\", ñ").unwrap()),
        state,
        reason: "attempts_used_up".into(),
        run: u32::MAX,
        attempts: 7,
        resource_id: text(),
        time: Some(Timestamp::from_micros(i64::MIN)),
        received_at: at(2),
        due_at: Some(Timestamp::from_micros(i64::MAX)),
        lease_until: Some(at(4)),
    }
}

fn evidence() -> Evidence {
    Evidence {
        resource_id: text(),
        result: Some("{\"a\":1}".into()),
        cost: Some(micros(12)),
        tokens_in: Some(i64::MAX),
        tokens_out: Some(-1),
        model: text(),
    }
}

fn effect(state: EffectState) -> EffectView {
    let one = |number: u8, outcome| Try {
        begin_id: Some(BeginId([number; 16])),
        lease: Some(LeaseToken([number; 18])),
        request: Some([number; 32]),
        begun_at: at(1),
        send_before: at(2),
        deadline: at(3),
        key_until: Some(at(4)),
        expected: Some(micros(5)),
        reserved: Some(Reservation { amount: micros(6), day: UtcDay(20_787) }),
        outcome,
    };
    let lost = Try {
        begin_id: None,
        lease: None,
        request: None,
        key_until: None,
        expected: None,
        reserved: None,
        ..one(0, None)
    };
    let outcomes = TryOutcome::ALL.map(|outcome| one(outcome as u8, Some(outcome)));
    let records = Witness::ALL.map(|witness| Recorded {
        evidence: if witness == Witness::Person { Evidence::default() } else { evidence() },
        number: (witness == Witness::Sender).then_some(3),
        at: at(5),
        witness,
        charged: Micros::ZERO,
        day: UtcDay(-3),
    });
    EffectView {
        key: "mG_2lExkAGbqjBx8aa8SKixK57ewjsQ5SdshRZRQQtY".into(),
        changed_at: at(9),
        note: text(),
        replays: 2,
        effect: Effect {
            run: 3,
            name: EffectName::new("publish.2").unwrap(),
            policy: Policy {
                key_ttl: Some(Duration::from_micros(1_000_001)),
                lookup: true,
                settle: Duration::from_micros(3),
                otherwise: Otherwise::Retry,
                retry_below: Some(micros(1)),
            },
            state,
            reason: Some(Reason::ALL[state as usize]),
            begun_at: at(0),
            tries: outcomes.into_iter().chain([lost]).collect(),
            records: records.to_vec(),
            look_first: true,
            alarm: Some(Alarm::ALL[state as usize % 2]),
        },
    }
}

fn bare_effect() -> EffectView {
    let view = effect(EffectState::Intended);
    EffectView {
        note: None,
        effect: Effect {
            policy: Policy { key_ttl: None, retry_below: None, ..Policy::default() },
            reason: None,
            tries: vec![],
            records: vec![],
            look_first: false,
            alarm: None,
            ..view.effect
        },
        ..view
    }
}

fn attempt() -> AttemptView {
    AttemptView {
        attempt: 4,
        event: EventNumber(2),
        source: source(),
        id: TEXT.into(),
        run: 2,
        number: 3,
        worker: TEXT.into(),
        started_at: at(0),
        ended_at: Some(at(1)),
        outcome: Some("lease_lost".into()),
        exit_code: Some(-1),
        signal: Some(9),
        error_class: text(),
        error: text(),
        cost_micros: Some(i64::MIN),
        tokens_in: Some(1),
        tokens_out: Some(2),
        model: text(),
        late: text(),
        stdout: text(),
        stderr: text(),
    }
}

fn decision(kind: DecisionKind) -> DecisionView {
    DecisionView {
        kind,
        decided_at: at(7),
        note: text(),
        entered: (kind == DecisionKind::As).then_some(EventNumber(9)),
    }
}

fn delivery(verdict: Verdict) -> DeliverySummary {
    DeliverySummary {
        number: DeliveryNumber(77),
        verdict,
        received_at: at(0),
        event: Some(EventNumber(8)),
        source: Some(source()),
        id: text(),
        event_type: Some(EventType::new("t").unwrap()),
        time: Some(at(-1)),
        conflict: Some(3),
        code: Some(RefusalCode::ALL[verdict as usize * 3]),
        detail: text(),
        origin: text(),
        count: u64::MAX,
    }
}

fn bare_delivery() -> DeliverySummary {
    DeliverySummary {
        event: None,
        source: None,
        id: None,
        event_type: None,
        time: None,
        conflict: None,
        code: None,
        detail: None,
        origin: None,
        ..delivery(Verdict::Invalid)
    }
}

#[test]
fn jobs_and_their_pages() {
    for state in JobState::ALL {
        check::<job::Job, _>(&full_job(state));
    }
    check::<job::Job, _>(&bare_job());
    for next in [None, Some(EventNumber(i64::MAX))] {
        let page = JobPage { jobs: vec![bare_job(), full_job(JobState::Held)], next };
        let json = serde_json::to_string(&List::from(page.clone())).unwrap();
        assert_eq!(serde_json::from_str::<List<job::Job>>(&json).unwrap().into_jobs(), Some(page));
    }
    assert_eq!(list::read_job_cursor("+1"), None);
}

#[test]
fn effects() {
    for state in EffectState::ALL {
        check::<effect::Effect, _>(&effect(state));
    }
    check::<effect::Effect, _>(&bare_effect());
    let item = |view| EffectSummary { event: EventNumber(1), source: source(), id: TEXT.into(), view };
    check::<effect::EffectItem, _>(&item(effect(EffectState::Held)));
    let page = Page { items: vec![item(bare_effect())], next: Some(Cursor("e.1".into())) };
    check::<List<effect::EffectItem>, _>(&page);
}

#[test]
fn the_history_of_an_event() {
    let fingerprint = Fingerprint::of(TEXT);
    let full = EventHistory {
        job: full_job(JobState::Running),
        text: text(),
        fingerprint,
        changed_at: Some(at(5)),
        worker: text(),
        result: text(),
        revision: 2,
        revisions: vec![
            RevisionView { number: 1, fingerprint, accepted_at: at(0), conflict: None, text: None },
            RevisionView { number: 2, fingerprint, accepted_at: at(1), conflict: Some(1), text: text() },
        ],
        duplicates: u64::MAX,
        pruned: Some(PrunedDeliveries { count: 5, first_at: at(1), last_at: at(2) }),
        conflicts: vec![ConflictView {
            number: 1,
            fingerprint,
            text: text(),
            count: 3,
            first_at: at(0),
            last_at: at(9),
            decisions: DecisionKind::ALL.map(decision).to_vec(),
        }],
        deliveries: Verdict::ALL
            .map(|verdict| DeliveryView {
                number: DeliveryNumber(3),
                verdict,
                received_at: at(1),
                time: Some(at(0)),
                conflict: Some(1),
                origin: text(),
            })
            .to_vec(),
        attempts: vec![attempt()],
        effects: vec![effect(EffectState::Unknown), bare_effect()],
    };
    check::<event::Event, _>(&full);
    let bare = EventHistory {
        job: bare_job(),
        text: None,
        changed_at: None,
        worker: None,
        result: None,
        revisions: vec![],
        pruned: None,
        conflicts: vec![],
        deliveries: vec![],
        attempts: vec![],
        effects: vec![],
        ..full
    };
    check::<event::Event, _>(&bare);
}

#[test]
fn lists() {
    let deliveries = Verdict::ALL.map(delivery).into_iter().chain([bare_delivery()]).collect::<Vec<_>>();
    let page = Page { items: deliveries.clone(), next: Some(Cursor("d:77".into())) };
    check::<List<delivery::Delivery>, _>(&page);
    let followed = Followed { items: deliveries, cursor: Cursor("f:1".into()), more: true, rewound: true };
    check::<delivery::Followed, _>(&followed);
    let conflict = ConflictSummary {
        event: EventNumber(1),
        source: source(),
        id: TEXT.into(),
        number: 2,
        fingerprint: Fingerprint::of("x"),
        event_type: Some(EventType::new("t").unwrap()),
        time: Some(at(0)),
        count: 4,
        first_at: at(1),
        last_at: at(2),
        decision: Some(decision(DecisionKind::Keep)),
        texts: Some(BothTexts { event: text(), conflict: None }),
    };
    let bare = ConflictSummary { event_type: None, time: None, decision: None, texts: None, ..conflict.clone() };
    check::<List<conflict::Conflict>, _>(&Page { items: vec![conflict, bare], next: None });
    let going_on = AttemptView {
        ended_at: None,
        outcome: None,
        exit_code: None,
        signal: None,
        error_class: None,
        error: None,
        cost_micros: None,
        tokens_in: None,
        tokens_out: None,
        model: None,
        late: None,
        stdout: None,
        stderr: None,
        ..attempt()
    };
    check::<List<attempt::Attempt>, _>(&Page { items: vec![attempt(), going_on], next: None });
}

#[test]
fn counts_and_money() {
    let mut lateness = Lateness::default();
    for micros in [0, 1, 7, 8, 1 << 40, i64::MAX, -1, -9_000_000] {
        lateness.add(Timestamp::from_micros(micros), Timestamp::from_micros(0));
    }
    let group = StatsGroup {
        source: Some(source()),
        deliveries: [1, 2, 3, u64::MAX],
        lateness,
        jobs: [1, 2, 3, 4, 5, u64::MAX],
    };
    let stats = Stats {
        since: Some(at(0)),
        until: Some(at(1)),
        total: StatsGroup { source: None, ..group.clone() },
        groups: vec![group, StatsGroup::default()],
        more: 3,
    };
    check::<stats::Stats, _>(&stats);
    let standing = SourceView {
        source: source(),
        streak: Some(Streak { class: TEXT.into(), count: 3, since: at(0), event: EventNumber(4) }),
        paused_at: Some(at(1)),
        expired: 2,
        due_at: Some(at(2)),
    };
    check::<stats::SourceStanding, _>(&standing);
    check::<stats::SourceStanding, _>(&SourceView { streak: None, paused_at: None, due_at: None, ..standing });
    let sums = CostSums {
        count: 1,
        spent: i64::MAX,
        at_risk: -3,
        tokens_in: 4,
        tokens_out: 5,
        replays: 6,
        replayed: 7,
        new: 8,
        repeated: 9,
    };
    let lines = vec![CostLine { name: TEXT.into(), sums }, CostLine { name: String::new(), sums: CostSums::default() }];
    check::<money::Costs, _>(&Costs { currency: Some("EUR".into()), lines, total: sums });
    check::<money::Costs, _>(&Costs { currency: None, lines: vec![], total: sums });
    let budget =
        BudgetView { source: source(), limit: micros(9), day: UtcDay(20_787), spent: i64::MIN, reserved: i64::MAX };
    check::<money::Budget, _>(&budget);
    for by in [CostsBy::Source, CostsBy::Model, CostsBy::Day] {
        let full = CostsRequest {
            by,
            sources: vec![source(), Source::default()],
            since: Some(UtcDay(0)),
            until: Some(UtcDay(20_787)),
        };
        for request in [full, CostsRequest { by, sources: vec![], since: None, until: None }] {
            let pairs = money::CostsQuery(request.clone()).pairs();
            let read = money::CostsQuery::read(pairs.iter().map(|(name, value)| (*name, value.as_str())));
            assert_eq!(read.map(|query| query.0), Ok(request));
        }
    }
    assert_eq!(money::CostsQuery::read([("by", "hour")]), Err("by".to_owned()));
}

#[test]
fn a_budget_is_not_taken_away_by_what_is_not_said() {
    assert!(serde_json::from_str::<money::BudgetLimit>("{}").is_err());
    let none: money::BudgetLimit = serde_json::from_str(r#"{"limit_micros":null}"#).unwrap();
    assert_eq!(none, money::BudgetLimit::from(None));
}

#[test]
fn keeping() {
    let places = [
        None,
        Some(PruneCursor::Ops(OpId([0xa5; 16]))),
        Some(PruneCursor::Deliveries(DeliveryNumber(i64::MAX))),
        Some(PruneCursor::Events(EventNumber(-1))),
    ];
    for place in places {
        let request = PruneRequest { texts: Some(Duration::from_micros(1)), deliveries: None, after: place };
        check::<prune::PruneStep, _>(&request);
        check::<prune::PruneStep, _>(&PruneRequest { texts: None, deliveries: Some(Duration::ZERO), after: place });
        check::<prune::Pruned, _>(&Pruned { events: 1, deliveries: 2, ops: 3, next: place });
    }
    for after in [None, Some(DeliveryNumber(3))] {
        check::<erase::EraseStep, _>(&EraseRequest { source: source(), id: TEXT.into(), after });
        let erased = Erased { event: EventNumber(1), erased_at: at(0), cancelled: true, gone: false, next: after };
        check::<erase::Erased, _>(&erased);
    }
    for mark in [RestoredMark::At(at(0)), RestoredMark::Cleared] {
        check::<restored::MarkSaid, _>(&mark);
    }
    check::<restored::Restored, _>(&Restored { restored_at: Some(at(0)), leases_voided: 4 });
    check::<restored::Restored, _>(&Restored { restored_at: None, leases_voided: 0 });
}

#[test]
fn tokens() {
    let view = TokenView {
        name: TEXT.into(),
        scopes: TokenScope::ALL.to_vec(),
        sources: vec![source()],
        created_at: at(0),
        expires_at: Some(at(1)),
        revoked_at: Some(at(2)),
    };
    check::<token::Token, _>(&view);
    check::<token::Token, _>(&TokenView { sources: vec![], expires_at: None, revoked_at: None, ..view.clone() });
    let request = TokenRequest {
        name: "n".into(),
        hash: TokenHash([0xab; 32]),
        scopes: vec![TokenScope::Ingest],
        sources: vec![source()],
        expires_at: None,
    };
    let wanted = token::TokenWanted::from(request);
    let json = serde_json::to_string(&wanted).unwrap();
    assert_eq!(serde_json::from_str::<token::TokenWanted>(&json).unwrap(), wanted);
    assert!(json.contains(&"ab".repeat(32)), "{json}");
    let made = token::TokenMade { token: view.into(), secret: Some("cia_secret".into()) };
    assert!(!format!("{made:?}").contains("cia_secret"));
}

#[test]
fn who_writes_may_leave_out_what_says_nothing_and_add_what_nobody_knows() {
    let json = r#"{"source":"web","id":"a","more":[1]}"#;
    let step: erase::EraseStep = serde_json::from_str(json).unwrap();
    assert_eq!(step.after, None);
    assert!(serde_json::from_str::<prune::PruneStep>("{}").is_ok());
}
