//! Money: what may be spent, what was, and what may have been.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use cola_ia_core::effect::{Begin, BeginAnswer, Decision, Evidence, Micros, Refused, UtcDay};
use cola_ia_core::event::Source;
use cola_ia_core::job::{Ending, JobState};
use cola_ia_core::store::export::Kind;
use cola_ia_core::store::{
    AttemptView, BudgetView, ClaimRequest, CostSums, Costs, CostsBy, CostsRequest, ErrorKind, Report,
};

use super::check::{cases, ensure, ensure_eq, refused};
use super::desk::{
    Desk, FAILED, LEASE, POLICY, SECOND, SETTLED, at, begin_id, hold, key, lookup, made, micros, name, retry,
};
use crate::events::{event, event_from, source};
use crate::harness::{Backend, Failure, Scratch, block_on};

cases![
    a_budget_is_set_replaced_and_taken_away,
    a_budget_is_never_overshot_by_callers_that_meet,
    without_room_nothing_is_begun,
    where_there_is_a_budget_a_cost_is_required,
    the_budget_is_asked_last,
    what_is_reserved_is_released_once_when_its_try_ends,
    money_that_was_released_leaves_no_line,
    what_may_have_happened_keeps_its_money,
    money_is_counted_in_the_day_in_which_it_was_reserved,
    a_resend_with_the_same_key_shares_its_money,
    what_was_not_told_is_counted_as_expected,
    the_cost_of_each_attempt_is_counted_once,
    the_cost_of_an_attempt_that_was_held_is_counted,
    what_is_told_after_the_end_is_counted_once,
    what_is_told_late_belongs_to_the_day_of_the_end,
    costs_are_told_by_source_model_and_day,
    costs_of_a_range_and_of_some_sources,
    results_that_are_used_again_are_counted,
    repeated_deliveries_are_counted_with_the_costs,
    a_currency_is_said_once,
];

const DAY: u64 = 86_400;
/// The store's clock starts at noon.
const MIDNIGHT: u64 = DAY / 2;

fn today() -> UtcDay {
    UtcDay::of(at(0))
}

fn set(scratch: &Scratch, name: &str, limit: Option<i64>) -> Result<(), Failure> {
    let limit = limit.map(micros);
    Ok(block_on(scratch.store().set_budget(scratch.op(), source(name), limit))?)
}

fn budgets(scratch: &Scratch) -> Result<Vec<BudgetView>, Failure> {
    Ok(block_on(scratch.store().budgets())?)
}

/// Spent and reserved of the default source's budget today.
fn taken(desk: &Desk) -> Result<(i64, i64), Failure> {
    let budgets = budgets(&desk.scratch)?;
    let own = budgets.iter().find(|budget| budget.source == Source::default());
    own.map(|budget| (budget.spent, budget.reserved)).ok_or_else(|| "there is a budget, and none is told".into())
}

pub(super) fn costs(scratch: &Scratch, by: CostsBy) -> Result<Costs, Failure> {
    let request = CostsRequest { by, sources: Vec::new(), since: None, until: None };
    Ok(block_on(scratch.store().costs(request))?)
}

/// All money that the store knows of.
pub(super) fn total(scratch: &Scratch) -> Result<CostSums, Failure> {
    Ok(costs(scratch, CostsBy::Source)?.total)
}

/// A desk of a source with this budget, whose tries may cost so much.
fn with_budget(
    backend: &dyn Backend,
    policy: cola_ia_core::effect::Policy,
    limit: i64,
    cost: i64,
) -> Result<Desk, Failure> {
    let mut desk = Desk::new(backend, policy)?;
    set(&desk.scratch, Source::DEFAULT, Some(limit))?;
    desk.expected = Some(micros(cost));
    Ok(desk)
}

fn paid(id: &str, cost: i64) -> Evidence {
    Evidence { cost: Some(micros(cost)), ..made(id) }
}

fn told(cost: i64, tokens: [i64; 2], model: &str) -> Report {
    Report {
        cost_micros: Some(cost),
        tokens_in: Some(tokens[0]),
        tokens_out: Some(tokens[1]),
        model: (!model.is_empty()).then(|| model.to_owned()),
        ..Report::default()
    }
}

fn a_budget_is_set_replaced_and_taken_away(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    ensure_eq!(budgets(&scratch)?, [], "the budgets of a new store");
    for (name, limit) in [("web", 10), ("default", 20), ("nobody", 0)] {
        set(&scratch, name, Some(limit))?;
    }
    let op = scratch.op();
    let again = |limit| block_on(scratch.store().set_budget(op, source("web"), limit));
    again(Some(micros(30)))?;
    let view = |name: &str, limit| BudgetView {
        source: source(name),
        limit: micros(limit),
        day: today(),
        spent: 0,
        reserved: 0,
    };
    let all = [view("default", 20), view("nobody", 0), view("web", 30)];
    ensure_eq!(budgets(&scratch)?, all, "budgets, sorted by source");
    set(&scratch, "web", Some(40))?;
    again(Some(micros(30)))?;
    ensure_eq!(budgets(&scratch)?[2], view("web", 40), "after the same call once more");
    refused("another budget under its op", again(None), ErrorKind::Conflict, "op_reused")?;
    set(&scratch, "web", None)?;
    set(&scratch, "stranger", None)?;
    scratch.reopen()?;
    ensure_eq!(budgets(&scratch)?, all[..2].to_vec(), "when one was taken away, and after a reopen");
    scratch.clock().set(at(MIDNIGHT));
    ensure_eq!(budgets(&scratch)?[0].day, today().next(), "the day, from midnight on");
    Ok(())
}

fn a_budget_is_never_overshot_by_callers_that_meet(backend: &dyn Backend) -> Result<(), Failure> {
    const CALLERS: usize = 6;
    let scratch = Scratch::new(backend)?;
    scratch.accept((0..CALLERS).map(|index| event(&index.to_string(), "x")).collect())?;
    set(&scratch, Source::DEFAULT, Some(10))?;
    let request = ClaimRequest { worker: "ana".to_owned(), lease: LEASE, limit: CALLERS as u32, source: None };
    let leases = block_on(scratch.store().claim(scratch.op(), request))?.leases;
    let ids = AtomicU32::new(0);
    let begin_each = |token| -> Result<u32, Failure> {
        let mut gone = 0;
        for effect in ["a", "b"] {
            let begin = Begin {
                lease: token,
                name: name(effect),
                begin_id: begin_id(ids.fetch_add(1, Ordering::SeqCst)),
                policy: hold(),
                request: None,
                expected: Some(micros(3)),
                send_within: 10 * SECOND,
                call_time: 20 * SECOND,
            };
            match block_on(scratch.store().effect_begin(begin, POLICY))?.answer {
                BeginAnswer::Go(_) => gone += 1,
                BeginAnswer::Refused(Refused::Budget { .. }) => {}
                other => return Err(format!("a begin is answered {other:?}").into()),
            }
        }
        Ok(gone)
    };
    let gone: u32 = thread::scope(|scope| {
        let callers: Vec<_> = leases.iter().map(|leased| scope.spawn(move || begin_each(leased.token))).collect();
        let each = callers.into_iter().map(|caller| caller.join().map_err(|_| Failure::from("a caller panicked"))?);
        each.sum::<Result<u32, Failure>>()
    })?;
    ensure_eq!(gone, 3, "begins of 3 that fit into 10");
    ensure_eq!(budgets(&scratch)?[0].reserved, 9, "reserved");
    Ok(())
}

fn without_room_nothing_is_begun(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = with_budget(backend, hold(), 10, 6)?;
    ensure_eq!(desk.begin_of("first", 1)?, "go 1 before 10", "6 of 10");
    ensure_eq!(desk.begin(2)?, format!("budget {MIDNIGHT}"), "6 more");
    ensure_eq!(desk.effects()?.len(), 1, "effects");
    desk.expected = Some(micros(4));
    ensure_eq!(desk.begin(3)?, "go 1 before 10", "what is left");
    ensure_eq!(taken(&desk)?, (0, 10), "spent and reserved");
    desk.expected = Some(Micros::ZERO);
    ensure_eq!(desk.begin_of("free", 4)?, "go 1 before 10", "what costs nothing");
    desk.expected = Some(micros(1));
    ensure_eq!(desk.begin_of("dear", 5)?, format!("budget {MIDNIGHT}"), "a millionth too much");
    set(&desk.scratch, Source::DEFAULT, Some(11))?;
    ensure_eq!(desk.begin_of("dear", 5)?, "go 1 before 10", "the same begin, when there is room");
    // What was spent counts as what is reserved does.
    desk.done(1, paid("r1", 9))?;
    ensure_eq!(taken(&desk)?, (9, 7), "spent and reserved, when it cost more than was expected");
    set(&desk.scratch, Source::DEFAULT, Some(16))?;
    ensure_eq!(desk.begin_of("more", 6)?, format!("budget {MIDNIGHT}"), "beside all that");
    set(&desk.scratch, Source::DEFAULT, None)?;
    desk.expected = None;
    ensure_eq!(desk.begin_of("more", 7)?, "go 1 before 10", "without a budget");
    Ok(())
}

fn where_there_is_a_budget_a_cost_is_required(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = with_budget(backend, hold(), 10, 1)?;
    desk.expected = None;
    ensure_eq!(desk.begin(1)?, "CostRequired", "a begin that does not say what it may cost");
    ensure_eq!(desk.effects()?, [], "effects");
    set(&desk.scratch, "web", Some(10))?;
    set(&desk.scratch, Source::DEFAULT, None)?;
    ensure_eq!(desk.begin(1)?, "go 1 before 10", "where only another source has a budget");
    Ok(())
}

fn the_budget_is_asked_last(backend: &dyn Backend) -> Result<(), Failure> {
    type Before = fn(&mut Desk) -> Result<(), Failure>;
    let table: [(&str, cola_ia_core::effect::Policy, Before, u32, &str); 7] = [
        ("the same begin", hold(), |_| Ok(()), 1, "go 1 before 10"),
        ("what is done", hold(), |desk| desk.done(1, paid("r1", 5)).map(drop), 2, "done r1"),
        ("what must wait", lookup(), |desk| desk.unknown(1).map(drop), 2, "wait 90"),
        (
            "what must be looked up",
            lookup(),
            |desk| {
                desk.at(SETTLED);
                desk.unknown(1).map(drop)
            },
            2,
            "check 1 from 0",
        ),
        ("what a person must see", hold(), |desk| desk.unknown(1).map(drop), 2, "held nobody_can_tell"),
        ("a resend", key(300), |desk| desk.unknown(1).map(drop), 2, "go 2 before 10"),
        ("another try beside it", retry(), |desk| desk.unknown(1).map(drop), 2, "budget 43200"),
    ];
    for (what, policy, before, id, answer) in table {
        let mut desk = with_budget(backend, policy, 5, 5)?;
        desk.begin(1)?;
        before(&mut desk)?;
        set(&desk.scratch, Source::DEFAULT, Some(1))?;
        ensure_eq!(desk.begin(id)?, answer, "{what}, without room");
    }
    Ok(())
}

fn what_is_reserved_is_released_once_when_its_try_ends(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = with_budget(backend, hold(), 100, 10)?;
    desk.begin_of("other", 9)?;
    for number in 1..=3 {
        desk.begin(number)?;
        ensure_eq!(taken(&desk)?, (0, 20), "spent and reserved by try {number}");
        for _ in 0..2 {
            desk.not_sent(number)?;
            ensure_eq!(taken(&desk)?, (0, 10), "spent and reserved when try {number} was not sent");
        }
    }
    desk.begin(4)?;
    for _ in 0..2 {
        desk.done(4, paid("r1", 7))?;
        ensure_eq!(taken(&desk)?, (7, 10), "spent and reserved when it is done");
    }
    let effect = desk.view()?.effect;
    ensure_eq!((effect.at_risk(), effect.records[0].charged), (0, micros(7)), "what the effect holds and cost");
    Ok(())
}

fn money_that_was_released_leaves_no_line(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = with_budget(backend, hold(), 100, 10)?;
    desk.begin(1)?;
    desk.not_sent(1)?;
    for by in [CostsBy::Source, CostsBy::Model, CostsBy::Day] {
        ensure_eq!(costs(&desk.scratch, by)?.lines, [], "lines of costs, {by:?}");
    }
    let money = desk.scratch.export_all(9)?.records.into_iter().filter(|record| record.kind() == Kind::Money);
    ensure_eq!(money.collect::<Vec<_>>(), [], "records of an export");
    Ok(())
}

fn what_may_have_happened_keeps_its_money(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = with_budget(backend, hold(), 100, 10)?;
    desk.begin(1)?;
    desk.unknown(1)?;
    ensure_eq!(taken(&desk)?, (0, 10), "spent and reserved while it is unknown");
    desk.begin(2)?;
    ensure_eq!(taken(&desk)?, (0, 10), "spent and reserved while it is held");
    ensure_eq!((total(&desk.scratch)?.at_risk, desk.view()?.effect.at_risk()), (10, 10), "at risk");
    desk.at(SETTLED);
    desk.settle(1, Decision::Absent)?;
    ensure_eq!(taken(&desk)?, (0, 0), "spent and reserved when it has not happened");
    let desk = with_budget(backend, hold(), 100, 10)?;
    desk.begin(1)?;
    desk.begin(2)?;
    desk.settle(1, Decision::Abandon)?;
    ensure_eq!(taken(&desk)?, (0, 10), "spent and reserved when it was given up");
    Ok(())
}

fn money_is_counted_in_the_day_in_which_it_was_reserved(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = with_budget(backend, lookup(), 10, 10)?;
    desk.at(MIDNIGHT - 1);
    desk.begin_of("one", 1)?;
    desk.at(MIDNIGHT);
    ensure_eq!(taken(&desk)?, (0, 0), "spent and reserved of the new day");
    ensure_eq!(desk.begin_of("two", 2)?, format!("go 1 before {}", MIDNIGHT + 10), "the new day's budget");
    desk.done_as(desk.of_effect("one", 1), paid("r1", 9))?;
    ensure_eq!(taken(&desk)?, (0, 10), "spent and reserved of the new day, when yesterday's is done");
    let sums = costs(&desk.scratch, CostsBy::Day)?;
    let days: Vec<_> = sums.lines.iter().map(|line| (line.name.as_str(), line.sums.spent, line.sums.at_risk)).collect();
    ensure_eq!(days, [("2026-01-31", 9, 0), ("2026-02-01", 0, 10)], "spent and at risk by day");
    ensure_eq!(desk.begin_of("three", 3)?, format!("budget {}", MIDNIGHT + DAY), "when the new day's is reserved");
    desk.expected = None;
    desk.at(MIDNIGHT + 5);
    desk.done_as(desk.of_effect("two", 1), made("r2"))?;
    ensure_eq!(taken(&desk)?, (10, 0), "spent and reserved, when it is done and no cost was told");
    Ok(())
}

fn a_resend_with_the_same_key_shares_its_money(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = with_budget(backend, key(300), 100, 10)?;
    desk.begin(1)?;
    desk.next_attempt(1)?;
    desk.begin(2)?;
    ensure_eq!(taken(&desk)?, (0, 10), "spent and reserved by two tries of one key");
    desk.not_sent(2)?;
    ensure_eq!(taken(&desk)?, (0, 10), "spent and reserved when one of them was not sent");
    desk.done(1, paid("r1", 8))?;
    ensure_eq!(taken(&desk)?, (8, 0), "spent and reserved when the effect is done");
    let desk = with_budget(backend, retry(), 100, 10)?;
    desk.begin(1)?;
    desk.begin(2)?;
    ensure_eq!(taken(&desk)?, (0, 20), "spent and reserved by two tries that may be two effects");
    desk.done(2, paid("r1", 8))?;
    ensure_eq!(taken(&desk)?, (8, 10), "spent and reserved when one is done");
    desk.done(1, paid("r2", 8))?;
    ensure_eq!(taken(&desk)?, (16, 0), "spent and reserved when both are");
    Ok(())
}

fn what_was_not_told_is_counted_as_expected(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = with_budget(backend, hold(), 100, 10)?;
    desk.begin(1)?;
    desk.done(1, made("r1"))?;
    ensure_eq!((taken(&desk)?, desk.view()?.charged()), ((10, 0), Some(10)), "spent and reserved, and charged");
    ensure_eq!(total(&desk.scratch)?.count, 1, "costs that were counted");
    let desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    desk.done(1, made("r1"))?;
    let sums = total(&desk.scratch)?;
    ensure_eq!((sums.count, sums.spent, sums.avoided()), (0, 0, None), "where nothing was expected either");
    Ok(())
}

fn the_cost_of_each_attempt_is_counted_once(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = with_budget(backend, hold(), 100, 1)?;
    let tell = |desk: &Desk, ending, cost| desk.tell(desk.leased.token, ending, told(cost, [10, 2], "small")).map(drop);
    for _ in 0..2 {
        tell(&desk, FAILED, 5)?;
        ensure_eq!(taken(&desk)?, (5, 0), "spent by an attempt that failed");
    }
    desk.claim_again()?;
    desk.begin(1)?;
    tell(&desk, Ending::Done, 7)?;
    ensure_eq!(taken(&desk)?, (5, 1), "spent when its end was refused");
    desk.done(1, paid("r1", 1))?;
    desk.at(MIDNIGHT);
    for _ in 0..2 {
        tell(&desk, Ending::Done, 7)?;
        ensure_eq!(taken(&desk)?, (7, 0), "spent today, the day of its end");
    }
    let sums = total(&desk.scratch)?;
    ensure_eq!((sums.count, sums.spent, sums.tokens_in, sums.tokens_out), (3, 13, 20, 4), "sums");
    let mut desk = with_budget(backend, hold(), 100, 1)?;
    let lost = desk.leased.token;
    desk.lose()?;
    desk.claim_again()?;
    for _ in 0..2 {
        ensure!(desk.tell(lost, Ending::Done, told(4, [1, 1], "small"))?.is_err(), "a lost lease completes its job");
        ensure_eq!(taken(&desk)?, (4, 0), "spent by an attempt that was lost, and tells it late");
    }
    let desk = Desk::new(backend, hold())?;
    desk.tell(desk.leased.token, Ending::Done, told(-5, [-1, -1], ""))?.ok();
    let sums = total(&desk.scratch)?;
    ensure_eq!((sums.count, sums.spent, sums.tokens_in, sums.tokens_out), (0, 0, 0, 0), "of what is below nothing");
    Ok(())
}

/// Costs counted, spent, tokens.
fn counted(scratch: &Scratch) -> Result<(u64, i64, i64, i64), Failure> {
    let sums = total(scratch)?;
    Ok((sums.count, sums.spent, sums.tokens_in, sums.tokens_out))
}

fn the_cost_of_an_attempt_that_was_held_is_counted(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    ensure_eq!(desk.begin(2)?, "held nobody_can_tell", "what ends the attempt");
    for _ in 0..2 {
        let answer = desk.tell(desk.leased.token, Ending::Released, told(5, [7, 1], "small"))?;
        ensure_eq!(answer.map(|ended| ended.state), Ok(JobState::Held), "where the job is");
        ensure_eq!(counted(&desk.scratch)?, (1, 5, 7, 1), "what it cost, told when it had been ended");
    }
    Ok(())
}

fn what_is_told_after_the_end_is_counted_once(backend: &dyn Backend) -> Result<(), Failure> {
    let tokens = Report { cost_micros: None, ..told(0, [7, 1], "small") };
    let mut desk = Desk::new(backend, hold())?;
    let lost = desk.leased.token;
    desk.lose()?;
    desk.claim_again()?;
    for _ in 0..2 {
        ensure!(desk.tell(lost, Ending::Done, tokens.clone())?.is_err(), "a lost lease completes its job");
        ensure_eq!(counted(&desk.scratch)?, (0, 0, 7, 1), "tokens of a free model, told late");
    }
    let desk = Desk::new(backend, hold())?;
    desk.tell(desk.leased.token, FAILED, tokens.clone())?.ok();
    for (report, expected) in [
        (tokens, (0, 0, 7, 1)),
        (Report::default(), (0, 0, 7, 1)),
        (told(5, [9, 9], "large"), (1, 5, 7, 1)),
        (told(6, [9, 9], "large"), (1, 5, 7, 1)),
    ] {
        for ending in [Ending::Done, FAILED] {
            desk.tell(desk.leased.token, ending, report.clone())?.ok();
            ensure_eq!(counted(&desk.scratch)?, expected, "what was told before stays");
        }
    }
    let told = |attempt: &AttemptView| (attempt.cost_micros, attempt.tokens_in, attempt.tokens_out);
    let attempts = desk.scratch.find_one("a")?.attempts;
    ensure_eq!(attempts.iter().map(told).collect::<Vec<_>>(), [(Some(5), Some(7), Some(1))], "with the attempt");
    let models = costs(&desk.scratch, CostsBy::Model)?;
    let names: Vec<_> = models.lines.iter().map(|line| line.name.as_str()).collect();
    ensure_eq!(names, ["small"], "the model that was told first");
    Ok(())
}

fn what_is_told_late_belongs_to_the_day_of_the_end(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    desk.lose()?;
    desk.at(MIDNIGHT);
    desk.tell(desk.leased.token, Ending::Done, told(5, [7, 1], "small"))?.ok();
    let days = |scratch: &Scratch| costs(scratch, CostsBy::Day).map(|costs| lines(&costs));
    let expected = [line("2026-01-31", 1, 5, 0, [7, 1]), line("total", 1, 5, 0, [7, 1])];
    ensure_eq!(days(&desk.scratch)?, expected, "by day");
    let all = desk.scratch.export_all(100)?;
    let copy = Scratch::new(backend)?;
    copy.import(all.namespace, &all.records)?;
    ensure_eq!(days(&copy)?, expected, "by day, of an import");
    Ok(())
}

/// What an attempt of `default` told on the first day with the model `small`; one of `web` with `large`, and one on the second
/// day without a model; and what an effect of `default` made then, with `small`.
fn some_costs(backend: &dyn Backend) -> Result<Desk, Failure> {
    let mut desk = Desk::new(backend, hold())?;
    desk.scratch.accept(vec![event_from("web", "x", "x"), event_from("web", "y", "y")])?;
    desk.tell(desk.leased.token, FAILED, told(5, [10, 1], "small"))?.ok();
    // The jobs of `web` are due before the one that failed.
    for (second, report) in [(1, told(7, [20, 2], "large")), (MIDNIGHT, told(11, [40, 4], ""))] {
        desk.at(second);
        let leased = super::desk::claim_of(&desk.scratch, Some("web"))?;
        desk.tell(leased.token, Ending::Done, report)?.ok();
    }
    desk.claim_again()?;
    desk.expected = Some(micros(30));
    desk.begin(1)?;
    let evidence =
        Evidence { tokens_in: Some(80), tokens_out: Some(8), model: Some("small".to_owned()), ..paid("r1", 13) };
    desk.done(1, evidence)?;
    desk.begin_of("open", 2)?;
    Ok(desk)
}

/// Name, costs counted, spent, at risk, tokens.
type Line = (String, u64, i64, i64, [i64; 2]);

fn lines(costs: &Costs) -> Vec<Line> {
    let line = |name: &str, sums: &CostSums| {
        (name.to_owned(), sums.count, sums.spent, sums.at_risk, [sums.tokens_in, sums.tokens_out])
    };
    let lines = costs.lines.iter().map(|one| line(&one.name, &one.sums));
    lines.chain([line("total", &costs.total)]).collect()
}

fn line(name: &str, count: u64, spent: i64, at_risk: i64, tokens: [i64; 2]) -> Line {
    (name.to_owned(), count, spent, at_risk, tokens)
}

fn costs_are_told_by_source_model_and_day(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = some_costs(backend)?;
    desk.scratch.reopen()?;
    let total = line("total", 4, 36, 30, [150, 15]);
    let by = |by| costs(&desk.scratch, by).map(|costs| lines(&costs));
    let sources = [line("default", 2, 18, 30, [90, 9]), line("web", 2, 18, 0, [60, 6]), total.clone()];
    ensure_eq!(by(CostsBy::Source)?, sources, "by source");
    let models = [
        line("", 1, 11, 30, [40, 4]),
        line("large", 1, 7, 0, [20, 2]),
        line("small", 2, 18, 0, [90, 9]),
        total.clone(),
    ];
    ensure_eq!(by(CostsBy::Model)?, models, "by model");
    let days = [line("2026-01-31", 2, 12, 0, [30, 3]), line("2026-02-01", 2, 24, 30, [120, 12]), total];
    ensure_eq!(by(CostsBy::Day)?, days, "by day");
    let empty = Scratch::new(backend)?;
    let nothing = Costs { currency: None, lines: Vec::new(), total: CostSums::default() };
    ensure_eq!(costs(&empty, CostsBy::Source)?, nothing, "of a new store");
    Ok(())
}

fn costs_of_a_range_and_of_some_sources(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = some_costs(backend)?;
    let of = |sources: &[&str], since, until| -> Result<Vec<Line>, Failure> {
        let sources = sources.iter().map(|name| source(name)).collect();
        let request = CostsRequest { by: CostsBy::Source, sources, since, until };
        Ok(lines(&block_on(desk.scratch.store().costs(request))?))
    };
    let (first, second) = (today(), today().next());
    let web = [line("web", 1, 7, 0, [20, 2]), line("total", 1, 7, 0, [20, 2])];
    ensure_eq!(of(&["web"], None, Some(second))?, web, "of one source, before the second day");
    let web = [line("web", 1, 11, 0, [40, 4]), line("total", 1, 11, 0, [40, 4])];
    ensure_eq!(of(&["web"], Some(second), None)?, web, "of one source, from the second day on");
    let both = of(&["web", "default"], Some(first), Some(second.next()))?;
    ensure_eq!(both.last(), Some(&line("total", 4, 36, 30, [150, 15])), "of both, and of both days");
    let nothing = [line("total", 0, 0, 0, [0, 0])];
    ensure_eq!(of(&["nobody"], None, None)?, nothing, "of a source that is not there");
    ensure_eq!(of(&[], Some(second), Some(second))?, nothing, "of no day");
    Ok(())
}

fn results_that_are_used_again_are_counted(backend: &dyn Backend) -> Result<(), Failure> {
    let mut desk = Desk::new(backend, hold())?;
    desk.begin(1)?;
    desk.done(1, Evidence { model: Some("small".to_owned()), ..paid("r1", 8) })?;
    desk.begin(2)?;
    let avoided = |desk: &Desk| -> Result<_, Failure> {
        let sums = total(&desk.scratch)?;
        Ok((desk.view()?.replays, sums.replays, sums.replayed, sums.avoided()))
    };
    ensure_eq!(avoided(&desk)?, (0, 0, 0, Some(0)), "by the attempt that made it");
    desk.next_attempt(1)?;
    for id in [3, 4, 4] {
        desk.begin(id)?;
        ensure_eq!(avoided(&desk)?, (1, 1, 8, Some(8)), "by a later attempt, however often it asks");
    }
    desk.next_attempt(2)?;
    desk.begin(5)?;
    ensure_eq!(avoided(&desk)?, (2, 2, 16, Some(16)), "by one more");
    let models = costs(&desk.scratch, CostsBy::Model)?;
    let small = models.lines.iter().map(|line| (line.name.as_str(), line.sums.replays)).collect::<Vec<_>>();
    ensure_eq!(small, [("small", 2)], "by model");
    ensure_eq!(total(&desk.scratch)?.spent, 8, "spent");
    Ok(())
}

fn repeated_deliveries_are_counted_with_the_costs(backend: &dyn Backend) -> Result<(), Failure> {
    let desk = Desk::new(backend, hold())?;
    let again = || vec![event("a", "text of a"), event("a", "another"), event("b", "x"), event_from("web", "c", "x")];
    desk.scratch.accept(again())?;
    desk.scratch.clock().set(at(MIDNIGHT));
    desk.scratch.accept(again())?;
    desk.tell(desk.leased.token, FAILED, told(30, [0, 0], "small"))?.ok();
    let sums = |costs: &Costs, name: &str| {
        let line = costs.lines.iter().find(|line| line.name == name);
        line.map(|line| (line.sums.new, line.sums.repeated, line.sums.avoided()))
    };
    let sources = costs(&desk.scratch, CostsBy::Source)?;
    // Two events entered and three deliveries were repetitions: 30 / 2 for each of those.
    ensure_eq!(sums(&sources, Source::DEFAULT), Some((2, 3, Some(45))), "by source");
    // What `web` repeats would not have been paid.
    ensure_eq!(sums(&sources, "web"), None, "a source of which no cost is known");
    let of_total = (sources.total.new, sources.total.repeated, sources.total.avoided());
    ensure_eq!(of_total, (2, 3, Some(45)), "of the sources that cost something");
    ensure_eq!(sums(&costs(&desk.scratch, CostsBy::Model)?, "small"), Some((0, 0, Some(0))), "by model");
    ensure_eq!(sums(&costs(&desk.scratch, CostsBy::Day)?, "2026-02-01"), Some((0, 2, Some(0))), "by day");
    Ok(())
}

fn a_currency_is_said_once(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let say = |scratch: &Scratch, currency: &str| block_on(scratch.store().set_currency(currency.to_owned()));
    let said = |scratch: &Scratch| block_on(scratch.store().currency());
    ensure_eq!(said(&scratch)?, None, "of a new store");
    for wrong in ["", "EU", "EURO", "eur", "E R", "ÉU", "€"] {
        refused(wrong, say(&scratch, wrong), ErrorKind::Invalid, "currency_malformed")?;
    }
    say(&scratch, "EUR")?;
    say(&scratch, "EUR")?;
    let Err(other) = say(&scratch, "USD") else { return Err("another currency is taken".into()) };
    ensure_eq!((other.kind, other.code), (ErrorKind::Conflict, "currency_other"), "another currency");
    ensure_eq!(other.fact("currency"), Some("EUR"), "the one that it has");
    scratch.reopen()?;
    ensure_eq!(said(&scratch)?.as_deref(), Some("EUR"), "after a reopen");
    ensure_eq!(costs(&scratch, CostsBy::Source)?.currency.as_deref(), Some("EUR"), "with the costs");
    Ok(())
}
