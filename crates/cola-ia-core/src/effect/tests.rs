//! Each answer of each verb, by example. That they fit together is explored elsewhere.

use std::time::Duration;

use super::*;
use crate::clock::Timestamp;
use crate::job::{Ending, Job, JobState, LeaseToken, Outcome, RetryPolicy, Setback};

/// Ten minutes before midnight.
const START: Timestamp = Timestamp::from_micros(1_700_092_200_000_000);

/// What ends a lease.
type End = fn(&mut Desk);

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn micros(amount: i64) -> Option<Micros> {
    Micros::new(amount)
}

fn at(second: u64) -> Timestamp {
    START.after(seconds(second))
}

fn token(number: u16) -> LeaseToken {
    LeaseToken::new([7; 16], number)
}

fn key(ttl: u64) -> Policy {
    Policy { key_ttl: Some(seconds(ttl)), ..Policy::default() }
}

fn lookup() -> Policy {
    Policy { lookup: true, ..Policy::default() }
}

fn hold() -> Policy {
    Policy::default()
}

fn retry() -> Policy {
    Policy { otherwise: Otherwise::Retry, ..Policy::default() }
}

/// A job in the hands of a worker, and what is done about its effect `pay`. A try may be sent for 10 s and takes 20 s more; a
/// lookup settles in 60 s.
struct Desk {
    case: Case,
    second: u64,
    policy: Policy,
    lease: u16,
    expected: Option<Micros>,
    request: Option<RequestHash>,
    budget: Option<Budget>,
    restored_at: Option<Timestamp>,
}

impl Desk {
    fn new(policy: Policy) -> Self {
        let job = Job::born(START).claim(START, token(1), seconds(1)).unwrap();
        Self {
            case: Case::new(job, Vec::new()),
            second: 0,
            policy,
            lease: 1,
            expected: micros(5),
            request: None,
            budget: None,
            restored_at: None,
        }
    }

    fn ledger(&self) -> Ledger {
        let retry = RetryPolicy { max_attempts: 3, first_wait: Duration::ZERO, ..RetryPolicy::default() };
        Ledger::new(at(self.second), self.restored_at, retry)
    }

    fn at(mut self, second: u64) -> Self {
        self.second = second;
        self
    }

    fn name() -> EffectName {
        EffectName::new("pay").unwrap()
    }

    fn begin(&mut self, id: u8) -> BeginAnswer {
        let begin = Begin {
            lease: token(self.lease),
            name: Self::name(),
            begin_id: BeginId([id; 16]),
            policy: self.policy.clone(),
            request: self.request,
            expected: self.expected,
            send_within: seconds(10),
            call_time: seconds(20),
        };
        self.ledger().begin(&mut self.case, &begin, self.budget.as_ref())
    }

    fn begun(mut self, id: u8) -> Self {
        let answer = self.begin(id);
        assert!(matches!(answer, BeginAnswer::Go(_)), "{answer:?}");
        self
    }

    fn told(&self, number: u32) -> TryRef {
        TryRef { lease: token(self.lease), run: 1, name: Self::name(), number }
    }

    fn report(&mut self, number: u32, said: &str) -> ReportAnswer {
        let (ledger, told) = (self.ledger(), self.told(number));
        let case = &mut self.case;
        match said {
            "rejected" => ledger.failed(case, &told, true),
            "not sent" => ledger.failed(case, &told, false),
            "unknown" => ledger.unknown(case, &told),
            "absent" => ledger.absent(case, &told),
            found if found.starts_with("found ") => ledger.found(case, &told, &made(&found[6..])),
            id => ledger.done(case, &told, &made(id)),
        }
    }

    fn reported(mut self, number: u32, said: &str) -> Self {
        self.report(number, said);
        self
    }

    /// The lease is lost and the job is claimed again.
    fn claimed_again(mut self) -> Self {
        self.ledger().expire(&mut self.case).unwrap();
        self.lease += 1;
        self.case.job = self.case.job.claim(at(self.second + 10_000), token(self.lease), seconds(0)).unwrap();
        self
    }

    fn held(mut self) -> Self {
        assert!(matches!(self.begin(99), BeginAnswer::Held(_)));
        self
    }

    fn settle(&mut self, number: u32, decision: &Decision) -> SettleAnswer {
        self.ledger().settle(&mut self.case, &Self::name(), number, decision)
    }

    fn end(&mut self, ending: Ending, before: Option<Outcome>) -> Result<EndAnswer, EndRefused> {
        self.ledger().end(&mut self.case, token(self.lease), ending, before)
    }

    fn effect(&self) -> &Effect {
        self.case.effect(1, &Self::name()).expect("it was begun")
    }

    fn state(&self) -> EffectState {
        self.effect().state
    }

    /// What this verb and those before it added to what is reserved and spent.
    fn money(&self) -> (i64, i64) {
        self.case.money().fold((0, 0), |sum, one| (sum.0 + one.reserved, sum.1 + one.spent))
    }
}

/// `id:cost`, both optional.
fn made(text: &str) -> Evidence {
    let (id, cost) = text.split_once(':').unwrap_or((text, ""));
    Evidence {
        resource_id: (!id.is_empty()).then(|| id.to_owned()),
        cost: cost.parse().ok().and_then(micros),
        ..Evidence::default()
    }
}

fn word(answer: &BeginAnswer) -> String {
    let second = |at: Timestamp| (at.as_micros() - START.as_micros()) / 1_000_000;
    match answer {
        BeginAnswer::Go(go) => format!("go {} before {}", go.number, second(go.send_before)),
        BeginAnswer::Done(known) => format!("done {}", known.evidence.resource_id.as_deref().unwrap_or("-")),
        BeginAnswer::Check { ticket, begun_at } => {
            format!("check {ticket} from {}", begun_at.map_or("-".to_owned(), |at| second(at).to_string()))
        }
        BeginAnswer::Wait { until } => format!("wait {}", second(*until)),
        BeginAnswer::Held(reason) => format!("held {}", reason.as_str()),
        BeginAnswer::Used => "used".to_owned(),
        BeginAnswer::Refused(Refused::Budget { resets_at }) => format!("budget {}", second(*resets_at)),
        BeginAnswer::Refused(refused) => format!("{refused:?}"),
    }
}

/// A fact, what came before, the begin id of the call, and the answer.
type Row = (&'static str, fn() -> Desk, u8, &'static str);

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn begin_answers() {
    let table: &[Row] = &[
        ("the first one", || Desk::new(hold()), 1, "go 1 before 10"),
        ("the same call again, later", || Desk::new(hold()).begun(1).at(5), 1, "go 1 before 10"),
        (
            "by a lease that was never given",
            || {
                let mut desk = Desk::new(hold());
                desk.lease = 9;
                desk
            },
            1,
            "LeaseLost",
        ),
        (
            "the same call under an ended lease",
            || {
                let mut desk = Desk::new(key(300)).begun(1).at(5).claimed_again();
                desk.lease = 1;
                desk
            },
            1,
            "LeaseLost",
        ),
        ("after done", || Desk::new(hold()).begun(1).reported(1, "r1:3"), 2, "done r1"),
        ("after done without an id", || Desk::new(hold()).begun(1).reported(1, ""), 2, "done -"),
        ("after done, by the one that made it", || Desk::new(hold()).begun(1).reported(1, "r1:3"), 1, "done r1"),
        ("after rejected, by the same call", || Desk::new(hold()).begun(1).reported(1, "rejected"), 1, "used"),
        ("after unknown, by the same call", || Desk::new(key(300)).begun(1).reported(1, "unknown"), 1, "used"),
        ("hold: after rejected", || Desk::new(hold()).begun(1).reported(1, "rejected").at(3), 2, "go 2 before 13"),
        ("hold: unknown", || Desk::new(hold()).begun(1).reported(1, "unknown"), 2, "held nobody_can_tell"),
        ("hold: begun by another process", || Desk::new(hold()).begun(1), 2, "held nobody_can_tell"),
        ("hold: by the next attempt", || Desk::new(hold()).begun(1).at(2).claimed_again(), 2, "held nobody_can_tell"),
        ("retry: unknown", || Desk::new(retry()).begun(1).reported(1, "unknown").at(1), 2, "go 2 before 11"),
        ("lookup: too early", || Desk::new(lookup()).begun(1).reported(1, "unknown").at(89), 2, "wait 90"),
        ("lookup: settled", || Desk::new(lookup()).begun(1).reported(1, "unknown").at(90), 2, "check 1 from 0"),
        ("lookup: by the next attempt", || Desk::new(lookup()).begun(1).at(100).claimed_again(), 2, "check 1 from 0"),
        (
            "lookup: absent",
            || Desk::new(lookup()).begun(1).reported(1, "unknown").at(90).reported(1, "absent"),
            2,
            "go 2 before 100",
        ),
        (
            "lookup: found",
            || Desk::new(lookup()).begun(1).reported(1, "unknown").at(90).reported(1, "found r7"),
            2,
            "done r7",
        ),
        ("lookup: rejected, too early", || Desk::new(lookup()).begun(1).reported(1, "rejected").at(89), 2, "wait 90"),
        (
            "lookup: rejected, settled",
            || Desk::new(lookup()).begun(1).reported(1, "rejected").at(90),
            2,
            "check 1 from 0",
        ),
        ("lookup: not sent", || Desk::new(lookup()).begun(1).reported(1, "not sent").at(1), 2, "go 2 before 11"),
        (
            "lookup is asked before retry",
            || Desk::new(Policy { otherwise: Otherwise::Retry, ..lookup() }).begun(1).reported(1, "unknown"),
            2,
            "wait 90",
        ),
        ("key: inside its ttl", || Desk::new(key(100)).begun(1).at(70).claimed_again(), 2, "go 2 before 80"),
        (
            "key: its deadline would lie behind the ttl",
            || Desk::new(key(100)).begun(1).at(71).claimed_again(),
            2,
            "held nobody_can_tell",
        ),
        (
            "key: the ttl is that of the first open try",
            || Desk::new(key(100)).begun(1).at(50).begun(2).at(71),
            3,
            "held nobody_can_tell",
        ),
        (
            "key: nothing is open, the ttl begins anew",
            || Desk::new(key(100)).begun(1).reported(1, "rejected").at(999),
            2,
            "go 2 before 1009",
        ),
        (
            "key: behind the ttl it is looked up",
            || Desk::new(Policy { lookup: true, ..key(100) }).begun(1).at(95).claimed_again(),
            2,
            "check 1 from 0",
        ),
        (
            "key: behind the ttl it is tried again",
            || Desk::new(Policy { otherwise: Otherwise::Retry, ..key(100) }).begun(1).at(95).claimed_again(),
            2,
            "go 2 before 105",
        ),
        (
            "key: with something else",
            || {
                let mut desk = Desk::new(key(100));
                desk.request = Some([1; 32]);
                let mut desk = desk.begun(1).at(1).claimed_again();
                desk.request = Some([2; 32]);
                desk
            },
            2,
            "OtherRequest",
        ),
        (
            "hold: with something else, nothing open",
            || {
                let mut desk = Desk::new(hold());
                desk.request = Some([1; 32]);
                let mut desk = desk.begun(1).reported(1, "not sent");
                desk.request = Some([2; 32]);
                desk
            },
            2,
            "go 2 before 10",
        ),
        (
            "done comes before another request",
            || {
                let mut desk = Desk::new(key(100));
                desk.request = Some([1; 32]);
                let mut desk = desk.begun(1).reported(1, "r1");
                desk.request = Some([2; 32]);
                desk
            },
            2,
            "done r1",
        ),
        (
            "under another policy",
            || {
                let mut desk = Desk::new(hold()).begun(1).reported(1, "rejected");
                desk.policy = retry();
                desk
            },
            2,
            "OtherPolicy",
        ),
        (
            "the first policy is kept",
            || {
                let mut desk = Desk::new(lookup()).begun(1).reported(1, "unknown").at(95);
                desk.policy = hold();
                desk
            },
            2,
            "check 1 from 0",
        ),
        (
            "cheap: tried again",
            || Desk::new(Policy { retry_below: micros(6), ..hold() }).begun(1).reported(1, "unknown"),
            2,
            "go 2 before 10",
        ),
        (
            "not cheap enough",
            || Desk::new(Policy { retry_below: micros(5), ..hold() }).begun(1).reported(1, "unknown"),
            2,
            "held nobody_can_tell",
        ),
        (
            "nobody knows how cheap",
            || {
                let mut desk = Desk::new(Policy { retry_below: micros(9), ..hold() });
                desk.expected = None;
                let mut desk = desk.begun(1).reported(1, "unknown");
                desk.expected = micros(1);
                desk
            },
            2,
            "held nobody_can_tell",
        ),
    ];
    for (fact, before, id, expected) in table {
        assert_eq!(word(&before().begin(*id)), *expected, "{fact}");
    }
}

#[test]
fn begin_asks_the_budget_last() {
    let full = Some(Budget { limit: 10, spent: 3, reserved: 3 });
    let with = |mut desk: Desk| {
        desk.budget = full;
        desk
    };
    let table: &[Row] = &[
        ("no room", || Desk::new(hold()), 1, "budget 600"),
        (
            "no cost",
            || {
                let mut desk = Desk::new(hold());
                desk.expected = None;
                desk
            },
            1,
            "CostRequired",
        ),
        (
            "less",
            || {
                let mut desk = Desk::new(hold());
                desk.expected = micros(4);
                desk
            },
            1,
            "go 1 before 10",
        ),
        ("the same call", || Desk::new(hold()).begun(1), 1, "go 1 before 10"),
        ("done", || Desk::new(hold()).begun(1).reported(1, "r1"), 2, "done r1"),
        ("wait", || Desk::new(lookup()).begun(1).reported(1, "unknown"), 2, "wait 90"),
        ("check", || Desk::new(lookup()).begun(1).reported(1, "unknown").at(90), 2, "check 1 from 0"),
        ("held", || Desk::new(hold()).begun(1).reported(1, "unknown"), 2, "held nobody_can_tell"),
        ("a resend shares", || Desk::new(key(100)).begun(1).reported(1, "unknown"), 2, "go 2 before 10"),
        ("retry reserves again", || Desk::new(retry()).begun(1).reported(1, "unknown"), 2, "budget 600"),
    ];
    for (fact, before, id, expected) in table {
        assert_eq!(word(&with(before()).begin(*id)), *expected, "{fact}");
    }
    let mut refused = with(Desk::new(hold()));
    refused.begin(1);
    assert!(refused.case.effects.is_empty(), "what is refused leaves nothing");
}

#[test]
fn begin_in_a_restored_store_never_answers_plain_go() {
    let restored = |mut desk: Desk, second: u64| {
        desk.restored_at = Some(at(second));
        desk
    };
    let table: &[(&str, Policy, u64, &str)] = &[
        ("hold", hold(), 500, "held restored"),
        ("key", key(900), 500, "held restored"),
        ("lookup, too early", lookup(), 89, "wait 90"),
        ("lookup", lookup(), 90, "check 1 from -"),
        ("key and lookup", Policy { lookup: true, ..key(900) }, 90, "check 1 from -"),
        ("retry, by name", retry(), 500, "go 2 before 510"),
        ("cheap", Policy { retry_below: micros(6), ..hold() }, 500, "held restored"),
        ("cheap, and lookup", Policy { retry_below: micros(6), ..lookup() }, 90, "check 1 from -"),
    ];
    for (fact, policy, second, expected) in table {
        let answer = word(&restored(Desk::new(policy.clone()).at(*second), 0).begin(1));
        assert_eq!(answer, *expected, "{fact}");
    }
    let known = || Desk::new(lookup()).begun(1).reported(1, "not sent");
    assert_eq!(word(&restored(known(), 20).at(109).begin(2)), "wait 110", "a failed one may have been begun again");
    assert_eq!(word(&restored(known(), 20).at(110).begin(2)), "check 2 from 0");
    let mut looked = restored(known(), 20).at(110);
    looked.begin(2);
    assert_eq!(looked.report(2, "absent"), ReportAnswer::Recorded);
    assert_eq!(word(&looked.begin(2)), "go 3 before 120", "one look a restore");
    looked.report(3, "not sent");
    looked.restored_at = Some(at(111));
    assert_eq!(word(&looked.at(112).begin(3)), "wait 201", "restored once more");
    let done = Desk::new(hold()).begun(1).reported(1, "r1");
    assert_eq!(word(&restored(done, 20).begin(2)), "done r1");
    let cheap = Desk::new(Policy { retry_below: micros(6), ..hold() }).begun(1).reported(1, "unknown");
    assert_eq!(word(&restored(cheap, 20).begin(2)), "held nobody_can_tell", "beside the cheap one there is a lost one");
}

#[test]
fn a_restore_is_heeded_by_every_verb() {
    let restored = |desk: Desk| {
        let mut desk = desk.at(30);
        desk.restored_at = Some(at(20));
        desk
    };
    let not_sent = || restored(Desk::new(lookup()).begun(1).reported(1, "not sent"));
    let ends: [(&str, End); 3] = [
        ("cancel", |desk| desk.ledger().cancel(&mut desk.case).unwrap()),
        ("fail", |desk| ok(desk.end(failed(Setback::Permanent), None))),
        ("recover", |desk| {
            desk.case.job.crashes = 2;
            desk.ledger().expire(&mut desk.case).unwrap();
        }),
    ];
    for (fact, end) in ends {
        let mut desk = not_sent();
        end(&mut desk);
        assert_eq!((desk.case.job.state, desk.state()), (JobState::Held, EffectState::Held), "{fact}");
    }
    assert_eq!(not_sent().end(Ending::Done, None), Err(EndRefused::Unresolved));
    let mut seen = not_sent();
    seen.ledger().seen(&mut seen.case);
    assert_eq!((seen.state(), seen.effect().newest()), (EffectState::Unknown, 2));

    let mut looked = restored(Desk::new(lookup()).begun(1).reported(1, "rejected")).at(110);
    assert_eq!(word(&looked.begin(2)), "check 2 from 0");
    looked.report(2, "absent");
    assert_eq!(word(&looked.begin(2)), "go 3 before 120", "one look is enough");

    let mut sending = Desk::new(lookup()).begun(1).at(8);
    sending.restored_at = Some(at(5));
    assert_eq!(word(&sending.begin(1)), "go 1 before 10", "the lease holds, and its holder may send");
    sending.report(1, "not sent");
    assert_eq!(word(&sending.begin(2)), "wait 95");
}

#[test]
fn a_begin_id_makes_one_try_of_one_effect() {
    let mut desk = Desk::new(hold()).begun(1);
    assert_eq!(begin_mail(&mut desk, 1), "used");
    assert_eq!(begin_mail(&mut desk, 2), "go 1 before 1");
    assert_eq!(begin_mail(&mut desk, 1), "used");
    assert_eq!(desk.case.effects.len(), 2);
}

/// Another effect of the same job.
fn begin_mail(desk: &mut Desk, id: u8) -> String {
    let begin = Begin {
        lease: token(1),
        name: EffectName::new("mail").unwrap(),
        begin_id: BeginId([id; 16]),
        policy: hold(),
        request: None,
        expected: None,
        send_within: seconds(1),
        call_time: seconds(1),
    };
    word(&desk.ledger().begin(&mut desk.case, &begin, None))
}

#[test]
fn a_begin_that_is_held_leaves_no_other_effect_intended() {
    let mut desk = Desk::new(hold()).begun(1).reported(1, "unknown");
    begin_mail(&mut desk, 2);
    desk.begin(3);
    let states: Vec<_> = desk.case.effects.iter().map(|effect| effect.state).collect();
    assert_eq!(states, [EffectState::Held, EffectState::Unknown]);
}

#[test]
fn what_is_done_is_never_sent_again_though_nothing_else_was_kept() {
    let mut desk = Desk::new(retry()).begun(1).reported(1, "r1");
    desk.case.effects[0].records.clear();
    assert_eq!(word(&desk.begin(2)), "done -");
}

#[test]
fn a_begin_that_is_held_stops_the_job_and_costs_no_attempt() {
    let mut desk = Desk::new(hold()).begun(1).at(2).claimed_again();
    assert_eq!(desk.case.job.attempts, 2);
    desk.begin(2);
    let job = &desk.case.job;
    assert_eq!((job.state, job.attempts, job.lease, &*job.reason), (JobState::Held, 1, None, "effect_unknown"));
    assert_eq!(desk.state(), EffectState::Held);
    assert_eq!(desk.money(), (5, 0), "its money stays at risk");
}

#[test]
fn there_are_at_most_so_many_tries_and_names() {
    let mut desk = Desk::new(hold());
    for number in 1..=TRIES_MAX as u32 {
        let mut id = [0; 16];
        id[..4].copy_from_slice(&number.to_be_bytes());
        desk.report(number - 1, "not sent");
        desk.case.effects.truncate(1);
        let begin = |desk: &mut Desk, id| {
            let begin = Begin {
                lease: token(1),
                name: Desk::name(),
                begin_id: BeginId(id),
                policy: hold(),
                request: None,
                expected: None,
                send_within: seconds(1),
                call_time: seconds(1),
            };
            desk.ledger().begin(&mut desk.case, &begin, None)
        };
        assert!(matches!(begin(&mut desk, id), BeginAnswer::Go(_)), "{number}");
    }
    desk.report(TRIES_MAX as u32, "not sent");
    assert_eq!(word(&desk.begin(255)), "TooMany");

    let mut desk = Desk::new(hold());
    for number in 0..EFFECTS_MAX {
        let name = EffectName::new(&number.to_string()).unwrap();
        desk.case.effects.push(Effect::new(1, name, hold(), START, EffectState::Failed));
    }
    assert_eq!(word(&desk.begin(1)), "TooMany");
    let of = |run, name: &str| TryRef { lease: token(1), run, name: EffectName::new(name).unwrap(), number: 1 };
    let made = |name: String| Evidence { resource_id: Some(name), cost: micros(1), ..Evidence::default() };
    let ledger = desk.ledger();
    let mut done = |one, id: usize| ledger.done(&mut desk.case, &one, &made(id.to_string()));
    assert_eq!(done(of(1, "another"), 1), ReportAnswer::Missing);
    assert_eq!(done(of(2, "another"), 1), ReportAnswer::Recorded, "another run has its own");
    for id in 0..RECORDS_MAX + 5 {
        assert_eq!(done(of(1, "7"), id), ReportAnswer::Recorded);
    }
    let effect = desk.case.effect(1, &EffectName::new("7").unwrap()).unwrap();
    assert_eq!((effect.records.len(), effect.alarm), (RECORDS_MAX, Some(Alarm::DoubleEffect)));
}

/// What was reported, of which try; the answer, the effect's state then, and money reserved and spent in all.
type Report = (&'static str, fn() -> Desk, u32, &'static str, ReportAnswer, EffectState, (i64, i64));

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn reports_answer() {
    use EffectState::{Done, Failed, Intended, Unknown};
    use ReportAnswer::{LeaseLost, Missing, Recorded, Void, Wait};
    let one = || Desk::new(hold()).begun(1);
    let stale = || {
        let mut desk = Desk::new(retry()).begun(1).at(2).claimed_again();
        desk.lease = 1;
        desk
    };
    let two: fn() -> Desk = || Desk::new(retry()).begun(1).begun(2);
    let resent: fn() -> Desk = || Desk::new(key(100)).begun(1).begun(2);
    let looking: fn() -> Desk = || Desk::new(lookup()).begun(1).reported(1, "unknown");
    let table: &[Report] = &[
        ("done", one, 1, "r1:3", Recorded, Done, (0, 3)),
        ("done, the cost not told", one, 1, "r1", Recorded, Done, (0, 5)),
        ("done again", || Desk::new(hold()).begun(1).reported(1, "r1:3"), 1, "r1:3", Recorded, Done, (0, 3)),
        (
            "done again, first without an id",
            || Desk::new(hold()).begun(1).reported(1, ":3"),
            1,
            "r1:3",
            Recorded,
            Done,
            (0, 3),
        ),
        ("done under an ended lease", stale, 1, "r1:3", LeaseLost, Done, (0, 3)),
        ("done by one of two", two, 1, "r1:3", Recorded, Done, (5, 3)),
        ("done by one of two of one key", resent, 1, "r1:3", Recorded, Done, (0, 3)),
        ("done of a try nobody knows", one, 7, "r1:3", Recorded, Done, (5, 3)),
        ("rejected", one, 1, "rejected", Recorded, Failed, (0, 0)),
        (
            "rejected again",
            || Desk::new(hold()).begun(1).reported(1, "rejected"),
            1,
            "rejected",
            Recorded,
            Failed,
            (0, 0),
        ),
        ("rejected under an ended lease", stale, 1, "rejected", LeaseLost, Unknown, (5, 0)),
        ("the first of two was rejected", two, 1, "rejected", Recorded, Intended, (5, 0)),
        ("the second of two was rejected", two, 2, "rejected", Recorded, Unknown, (5, 0)),
        ("the second of one key was rejected", resent, 2, "rejected", Recorded, Unknown, (5, 0)),
        (
            "both were rejected",
            || Desk::new(retry()).begun(1).begun(2).reported(2, "rejected"),
            1,
            "rejected",
            Recorded,
            Failed,
            (0, 0),
        ),
        ("rejected after done", || Desk::new(hold()).begun(1).reported(1, "r1"), 1, "rejected", Recorded, Done, (0, 5)),
        ("rejected, of no try", one, 2, "rejected", Missing, Intended, (5, 0)),
        ("rejected, of try 0", one, 0, "rejected", Missing, Intended, (5, 0)),
        ("unknown", one, 1, "unknown", Recorded, Unknown, (5, 0)),
        (
            "unknown again",
            || Desk::new(hold()).begun(1).reported(1, "unknown"),
            1,
            "unknown",
            Recorded,
            Unknown,
            (5, 0),
        ),
        ("unknown of an earlier try", two, 1, "unknown", Recorded, Intended, (10, 0)),
        ("unknown after done", || Desk::new(hold()).begun(1).reported(1, "r1"), 1, "unknown", Recorded, Done, (0, 5)),
        ("unknown under an ended lease", stale, 1, "unknown", LeaseLost, Unknown, (5, 0)),
        ("unknown, of no try", one, 3, "unknown", Missing, Intended, (5, 0)),
        ("found", looking, 1, "found r7:2", Recorded, Done, (0, 2)),
        (
            "absent, too early",
            looking,
            1,
            "absent",
            Wait { until: START.after(Duration::from_secs(90)) },
            Unknown,
            (5, 0),
        ),
        (
            "absent",
            || Desk::new(lookup()).begun(1).reported(1, "unknown").at(90),
            1,
            "absent",
            Recorded,
            Failed,
            (0, 0),
        ),
        (
            "absent again",
            || Desk::new(lookup()).begun(1).reported(1, "unknown").at(90).reported(1, "absent"),
            1,
            "absent",
            Void,
            Failed,
            (0, 0),
        ),
        (
            "absent, with another try's ticket",
            || Desk::new(lookup()).begun(1).reported(1, "unknown").at(90),
            2,
            "absent",
            Void,
            Unknown,
            (5, 0),
        ),
        (
            "absent, of what somebody may send",
            || Desk::new(lookup()).begun(1).at(90),
            1,
            "absent",
            Void,
            Intended,
            (5, 0),
        ),
        (
            "absent after done",
            || Desk::new(lookup()).begun(1).reported(1, "r1:3").at(90),
            1,
            "absent",
            Void,
            Done,
            (0, 3),
        ),
        (
            "absent after rejected",
            || Desk::new(lookup()).begun(1).reported(1, "rejected").at(90),
            1,
            "absent",
            Recorded,
            Failed,
            (0, 0),
        ),
    ];
    for (fact, before, number, said, answer, state, money) in table {
        let mut desk = before();
        assert_eq!((desk.report(*number, said), desk.state(), desk.money()), (*answer, *state, *money), "{fact}");
    }
    let mut other = Desk::new(hold());
    assert_eq!(other.report(1, "rejected"), Missing);
    assert_eq!(other.report(1, "absent"), Missing);
}

#[test]
fn evidence_is_recorded_in_every_state_and_from_any_lease() {
    let alarm = |desk: &Desk| desk.effect().alarm;
    let mut late = Desk::new(hold()).begun(1).reported(1, "rejected");
    late.report(1, "r1:3");
    assert_eq!((late.state(), alarm(&late), late.money()), (EffectState::Done, Some(Alarm::LateEvidence), (0, 3)));

    let mut twice = Desk::new(retry()).begun(1).begun(2).reported(1, "r1:3");
    assert_eq!(alarm(&twice), None);
    twice.report(2, "r2:4");
    assert_eq!((alarm(&twice), twice.effect().records.len(), twice.money()), (Some(Alarm::DoubleEffect), 2, (0, 7)));
    twice.report(2, "r2:4");
    assert_eq!((twice.effect().records.len(), twice.money()), (2, (0, 7)), "told again it is known");
    assert_eq!(word(&twice.begin(3)), "done r1");

    let mut nameless = Desk::new(retry()).begun(1).begun(2).reported(1, ":3").reported(1, ":3");
    assert_eq!((alarm(&nameless), nameless.money()), (None, (5, 3)));
    nameless.report(2, ":3");
    assert_eq!(alarm(&nameless), Some(Alarm::DoubleEffect), "two tries happened");
    let keyed = Desk::new(key(100)).begun(1).begun(2).reported(1, ":3").reported(2, ":3");
    assert_eq!((alarm(&keyed), keyed.money()), (None, (0, 3)), "one key, one effect");

    let mut unheard = Desk::new(hold());
    unheard.lease = 9;
    assert_eq!(unheard.report(4, "r1:3"), ReportAnswer::LeaseLost);
    assert_eq!((unheard.state(), unheard.money()), (EffectState::Done, (0, 3)));
}

#[test]
fn evidence_of_an_earlier_run_leaves_the_job_alone() {
    let mut desk = Desk::new(hold()).begun(1).at(2).claimed_again().held();
    desk.second = 90;
    assert_eq!(desk.settle(1, &Decision::Abandon), SettleAnswer::Recorded);
    desk.ledger().replay(&mut desk.case).unwrap();
    let job = desk.case.job.claim(at(95), token(9), seconds(9)).unwrap();
    desk.case.job = job.clone();
    desk.lease = 1;
    assert_eq!(desk.report(1, "r1"), ReportAnswer::LeaseLost);
    assert_eq!((desk.state(), desk.effect().alarm), (EffectState::Done, Some(Alarm::LateEvidence)));
    assert_eq!(desk.case.job, job);
}

#[test]
fn money_stays_in_the_day_it_was_reserved_in() {
    let day = UtcDay::of(START);
    let mut desk = Desk::new(hold()).at(599).begun(1);
    let second_before = desk.case.money.clone();
    desk.second = 700;
    desk.report(1, "r1:3");
    let moves: Vec<_> = desk.case.money().collect();
    assert_eq!(moves, [MoneyMove { day, reserved: 0, spent: 3 }]);
    assert_eq!(second_before.moves().collect::<Vec<_>>(), [MoneyMove { day, reserved: 5, spent: 0 }]);
    assert_eq!(desk.effect().records[0].day, day);
}

#[test]
fn a_resend_takes_the_money_over_and_the_last_of_one_key_gives_it_back() {
    let mut desk = Desk::new(key(100)).begun(1).begun(2);
    let reserved = |desk: &Desk| desk.effect().tries.iter().map(|one| one.reserved.is_some()).collect::<Vec<_>>();
    assert_eq!((reserved(&desk), desk.money()), (vec![false, true], (5, 0)));
    desk.report(2, "rejected");
    assert_eq!((reserved(&desk), desk.money()), (vec![true, false], (5, 0)));
    desk.report(1, "rejected");
    assert_eq!((reserved(&desk), desk.money(), desk.state()), (vec![false, false], (0, 0), EffectState::Failed));
}

#[test]
fn behind_the_ttl_each_key_window_has_its_own_money() {
    let policy = Policy { otherwise: Otherwise::Retry, ..key(100) };
    let mut desk = Desk::new(policy).begun(1).begun(2).at(95).begun(3);
    assert_eq!(desk.money(), (10, 0), "the first two share");
    desk.report(3, "r3:3");
    assert_eq!((desk.state(), desk.money()), (EffectState::Done, (5, 3)), "the others may be another effect");
    desk.report(2, "not sent");
    assert_eq!(desk.money(), (5, 3), "the first one may have happened");
    desk.report(1, "r1:4");
    assert_eq!((desk.money(), desk.effect().alarm), ((0, 7), Some(Alarm::DoubleEffect)));
}

#[test]
fn a_resend_that_the_restored_store_lost_may_have_taken_the_money_over() {
    let restored = |policy| {
        let mut desk = Desk::new(policy).begun(1).reported(1, "unknown").at(30);
        desk.restored_at = Some(at(20));
        desk.reported(1, "rejected")
    };
    let keyed = restored(key(100));
    assert_eq!((keyed.state(), keyed.money()), (EffectState::Unknown, (5, 0)));
    let looked_up = restored(lookup());
    assert_eq!((looked_up.state(), looked_up.money()), (EffectState::Unknown, (0, 0)));
}

#[test]
fn a_person_settles_what_is_held() {
    use SettleAnswer::{Missing, Recorded, Void, Wait};
    let held = || Desk::new(hold()).begun(1).at(2).claimed_again().held();
    let found = |ids: &[&str]| Decision::Found(ids.iter().map(|id| made(id)).collect());
    let table: &[(&str, u64, u32, Decision, SettleAnswer, EffectState, JobState)] = &[
        ("found", 2, 1, found(&["r1"]), Recorded, EffectState::Done, JobState::Pending),
        ("found nothing", 2, 1, found(&[]), Void, EffectState::Held, JobState::Held),
        ("absent, too early", 89, 1, Decision::Absent, Wait { until: at(90) }, EffectState::Held, JobState::Held),
        ("absent", 90, 1, Decision::Absent, Recorded, EffectState::Failed, JobState::Pending),
        ("given up", 2, 1, Decision::Abandon, Recorded, EffectState::Abandoned, JobState::Failed),
        ("of another try", 90, 2, Decision::Absent, Void, EffectState::Held, JobState::Held),
    ];
    for (fact, second, number, decision, answer, state, job) in table {
        let mut desk = held().at(*second);
        let settled = desk.settle(*number, decision);
        assert_eq!((settled, desk.state(), desk.case.job.state), (*answer, *state, *job), "{fact}");
        if settled == Recorded {
            assert_eq!(desk.settle(*number, decision), Void, "{fact}, said again");
        }
    }
    let mut unknown = Desk::new(hold()).begun(1).reported(1, "unknown").at(90);
    assert_eq!(unknown.settle(1, &Decision::Absent), Void, "it is not held");
    assert_eq!(Desk::new(hold()).settle(1, &Decision::Absent), Missing);

    let mut doubled = Desk::new(hold()).begun(1).at(2).claimed_again().held().at(90);
    assert_eq!(doubled.settle(1, &found(&["r1:3", "r2:4"])), Recorded);
    assert_eq!((doubled.effect().alarm, doubled.money()), (Some(Alarm::DoubleEffect), (0, 7)));
}

#[test]
fn a_late_done_wakes_the_job() {
    let mut desk = Desk::new(hold()).begun(1).at(2).claimed_again().held();
    desk.lease = 1;
    assert_eq!(desk.report(1, "r1"), ReportAnswer::LeaseLost);
    assert_eq!((desk.state(), desk.case.job.state), (EffectState::Done, JobState::Pending));
    let mut other = Desk::new(hold());
    other.case.job = Job { state: JobState::Held, lease: None, reason: "taken_over".into(), ..other.case.job };
    other.report(1, "r1");
    assert_eq!(other.case.job.state, JobState::Held, "it was not held for an effect");
}

#[test]
fn every_end_of_a_lease_makes_intended_unknown() {
    let ends: [(&str, End, JobState); 6] = [
        ("fail", |desk| ok(desk.end(failed(Setback::Error), None)), JobState::Pending),
        ("release", |desk| ok(desk.end(Ending::Released, None)), JobState::Pending),
        ("later", |desk| ok(desk.end(Ending::Later { not_before: at(9) }, None)), JobState::Pending),
        ("recover", |desk| desk.ledger().expire(&mut desk.case).unwrap(), JobState::Pending),
        ("cancel", |desk| desk.ledger().cancel(&mut desk.case).unwrap(), JobState::Held),
        ("restore", |desk| desk.ledger().void_lease(&mut desk.case), JobState::Pending),
    ];
    for (fact, end, job) in ends {
        let mut desk = Desk::new(lookup()).begun(1).at(2);
        end(&mut desk);
        let state = if job == JobState::Held { EffectState::Held } else { EffectState::Unknown };
        assert_eq!((desk.state(), desk.case.job.state), (state, job), "{fact}");
        assert_eq!(desk.money(), (5, 0), "{fact}");
    }
}

fn ok(ended: Result<EndAnswer, EndRefused>) {
    assert!(matches!(ended, Ok(EndAnswer::Now(_))), "{ended:?}");
}

fn failed(setback: Setback) -> Ending {
    Ending::Failed { setback, not_before: None }
}

#[test]
fn a_job_is_not_done_while_an_effect_is_open() {
    let mut desk = Desk::new(hold()).begun(1);
    assert_eq!(desk.end(Ending::Done, None), Err(EndRefused::Unresolved));
    assert_eq!((desk.case.job.state, desk.state()), (JobState::Running, EffectState::Intended));
    desk.report(1, "r1");
    assert_eq!(desk.end(Ending::Done, None), Ok(EndAnswer::Now(Outcome::Done)));
    assert_eq!(desk.case.job.state, JobState::Done);
    assert_eq!(desk.end(Ending::Done, None), Err(EndRefused::LeaseLost));
    assert_eq!(desk.end(Ending::Done, Some(Outcome::Done)), Ok(EndAnswer::Before));
    assert_eq!(desk.end(failed(Setback::Error), Some(Outcome::Done)), Err(EndRefused::LeaseLost));
}

#[test]
fn a_verdict_is_kept_until_the_effects_are_settled() {
    let verdicts: [(&str, End, &str, JobState, &str); 4] = [
        ("for good", |desk| ok(desk.end(failed(Setback::Permanent), None)), "permanent", JobState::Failed, "permanent"),
        ("cancelled", |desk| desk.ledger().cancel(&mut desk.case).unwrap(), "cancelled", JobState::Cancelled, ""),
        (
            "attempts used up",
            |desk| {
                desk.case.job.attempts = 3;
                ok(desk.end(failed(Setback::Error), None));
            },
            "attempts_exhausted",
            JobState::Failed,
            "attempts_exhausted",
        ),
        (
            "workers lost",
            |desk| {
                desk.case.job.crashes = 2;
                desk.ledger().expire(&mut desk.case).unwrap();
            },
            "crashes_exhausted",
            JobState::Failed,
            "crashes_exhausted",
        ),
    ];
    for (fact, end, reason, state, then) in verdicts {
        let mut desk = Desk::new(lookup()).begun(1).at(2);
        end(&mut desk);
        let job = &desk.case.job;
        assert_eq!((job.state, &*job.reason, job.ends_as()), (JobState::Held, reason, Some(state)), "{fact}");
        desk.second = 90;
        assert_eq!(desk.settle(1, &Decision::Absent), SettleAnswer::Recorded, "{fact}");
        assert_eq!((desk.case.job.state, &*desk.case.job.reason), (state, then), "{fact}");
    }
    let mut both = Desk::new(lookup()).begun(1).at(2);
    both.end(failed(Setback::Permanent), None).unwrap();
    both.ledger().cancel(&mut both.case).unwrap();
    assert_eq!(both.case.job.ends_as(), Some(JobState::Cancelled), "the later word counts");
}

#[test]
fn orders_heed_effects() {
    let mut held = Desk::new(hold()).begun(1).at(2).claimed_again().held();
    assert_eq!(held.ledger().retry(&mut held.case), Err(OrderDenied::EffectsOpen));
    assert_eq!(held.ledger().replay(&mut held.case), Err(OrderDenied::State(JobState::Held)));
    assert_eq!(held.ledger().rerun(&mut held.case), Err(OrderDenied::EffectsOpen));
    held.settle(1, &Decision::Abandon);
    assert_eq!((held.case.job.state, &*held.case.job.reason), (JobState::Failed, "effect_abandoned"));
    assert_eq!(held.ledger().retry(&mut held.case), Err(OrderDenied::Abandoned), "such a job is never done");
    assert_eq!(held.ledger().replay(&mut held.case), Ok(()));
    assert_eq!((held.case.job.run, held.case.job.state), (2, JobState::Pending));

    let mut unknown = Desk::new(lookup()).begun(1).at(2);
    unknown.end(failed(Setback::Error), None).unwrap();
    assert_eq!(unknown.ledger().retry(&mut unknown.case), Ok(()), "the next begin looks");
    assert_eq!(unknown.state(), EffectState::Unknown);
    let mut running = Desk::new(lookup()).begun(1);
    assert_eq!(running.ledger().rerun(&mut running.case), Err(OrderDenied::EffectsOpen));
    let mut failed_one = Desk::new(hold()).begun(1).reported(1, "rejected");
    failed_one.end(failed(Setback::Permanent), None).unwrap();
    assert_eq!(failed_one.ledger().retry(&mut failed_one.case), Ok(()));
    assert_eq!(failed_one.ledger().replay(&mut failed_one.case), Err(OrderDenied::State(JobState::Pending)));
}

#[test]
fn what_may_be_sent_is_decided_by_the_clock() {
    let BeginAnswer::Go(go) = Desk::new(key(100)).begin(1) else { panic!("the first one goes") };
    assert_eq!((go.number, go.deadline, go.key_until), (1, at(30), Some(at(100))));
    assert!(go.may_send(at(9)) && !go.may_send(at(10)));
}
