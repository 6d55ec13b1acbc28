//! What may happen next.

use super::lab::{FLIGHT, LONG_AGO, Lab, TTL, number_of};
use super::labels::{Fate, Heard, Label};
use super::properties::{Bad, Property};
use super::world::{Answer, At, Call, Destination, Kind, Request, Saved, Scenario, Troubles, Verb, Worker, World};
use crate::effect::{EffectState, Rule};
use crate::job::JobState;

/// A step: what happened, the world after it, and what it broke.
pub(super) struct Step {
    pub(super) label: Label,
    pub(super) world: World,
    pub(super) bad: Option<Bad>,
}

impl Step {
    fn fine(label: Label, world: World) -> Self {
        Self { label, world, bad: None }
    }
}

pub(super) fn initial(lab: &mut Lab<'_>) -> World {
    let Scenario { jobs, reject, twin, late, cancel, replay, restore, raises, again, budget, .. } = *lab.scenario;
    World {
        cases: vec![lab.born(); jobs],
        owners: vec![0; jobs],
        workers: Vec::new(),
        wire: Vec::new(),
        dest: vec![Destination::default(); lab.scenario.destinations()],
        late: None,
        saved: None,
        left: Troubles { reject, twin, late, cancel, replay, restore, raises, again },
        reserved: 0,
        spent: 0,
        budget,
        pids: 0,
        restored: None,
    }
}

pub(super) fn steps(lab: &mut Lab<'_>, world: &World) -> Vec<Step> {
    let mut next = Vec::new();
    for place in 0..world.workers.len() {
        worker_steps(lab, world, place, &mut next);
    }
    network_steps(lab, world, &mut next);
    store_steps(lab, world, &mut next);
    person_steps(lab, world, &mut next);
    next.push(tick(lab, world));
    next
}

/// Runs a verb, and watches from outside that an ended lease changes nothing but evidence (S4).
fn call_ledger(lab: &mut Lab<'_>, world: &mut World, call: Call) -> (Answer, Option<Bad>) {
    let job = usize::from(call.job);
    let (case, owner) = (world.cases[job], world.owners[job]);
    let sums = (world.reserved, world.spent, world.budget);
    let done = lab.call(case, call, sums, world.restored);
    (world.cases[job], world.reserved, world.spent) = (done.case, done.reserved, done.spent);
    free_owners(lab, world);
    let evidence = matches!(call.verb, Verb::Done | Verb::Found);
    let mut bad = None;
    if evidence {
        let id = format!("r{}", call.x);
        let kept = lab
            .effect_of(done.case, call.run, call.eff)
            .is_some_and(|effect| effect.records.iter().any(|known| known.evidence.resource_id.as_ref() == Some(&id)));
        if !kept {
            bad = Some((Property::S4, format!("resource {id}, reported by w{}, is recorded nowhere", call.pid)));
        }
    }
    if call.pid != 0 && owner != call.pid {
        if matches!(done.answer, Answer::Go(..) | Answer::Check(_)) {
            bad = Some((Property::S4, format!("w{}, whose lease has ended, is answered {:?}", call.pid, done.answer)));
        } else if !evidence && (case, sums.0, sums.1) != (done.case, done.reserved, done.spent) {
            bad = Some((Property::S4, format!("w{}, whose lease has ended, changed the ledger", call.pid)));
        }
    }
    (done.answer, bad)
}

/// Nobody has a lease that is not there.
fn free_owners(lab: &Lab<'_>, world: &mut World) {
    for (owner, case) in world.owners.iter_mut().zip(&world.cases) {
        if lab.case(*case).job.lease.is_none() {
            *owner = 0;
        }
    }
}

/// A call has three fates: it is answered; it is done but the answer is lost, and the caller calls again from where it is; a
/// copy of it stays on the way and arrives some time later. (Lost on the way there is the same as not called.)
fn calls(lab: &mut Lab<'_>, world: &World, place: usize, verb: Verb, n: u32, x: u8, next: &mut Vec<Step>) {
    let me = world.workers[place];
    let accepted = me.accepted && matches!(verb, Verb::Complete | Verb::Fail);
    let call = Call { verb, pid: me.pid, lease: me.lease, job: me.job, run: me.run, eff: me.eff, n, x, accepted };
    let mut after = world.clone();
    let (answer, mut bad) = call_ledger(lab, &mut after, call);
    if answer == Answer::LeaseLost && me.accepted && bad.is_none() {
        bad = Some((Property::I1, format!("w{}'s end was accepted; called again it is answered lease_lost", me.pid)));
    }
    let lost = (after.cases != world.cases).then(|| after.clone());
    advance(lab, &mut after, place, verb, answer);
    next.push(Step { label: Label::Calls(call, answer, Fate::Answered), world: after, bad: bad.clone() });
    if let Some(mut lost) = lost {
        let worker = &mut lost.workers[place];
        match (verb, answer) {
            (Verb::Begin, Answer::Go(..)) => worker.x = n as u8,
            (Verb::Fail, _) => (worker.at, worker.n, worker.x, worker.accepted) = (At::Failing, 0, x, true),
            (Verb::Complete, Answer::Ok) => worker.accepted = true,
            _ => {}
        }
        next.push(Step { label: Label::Calls(call, answer, Fate::AnswerIsLost), world: lost, bad });
    }
    // Those whose late copy could hurt while the lease is current.
    let copied = matches!(verb, Verb::Begin | Verb::Failed | Verb::Unknown | Verb::Absent);
    if copied && world.late.is_none() && world.left.late > 0 {
        let mut on_way = world.clone();
        on_way.left.late -= 1;
        on_way.late = Some(call);
        if verb == Verb::Begin {
            on_way.workers[place].x = n as u8;
        }
        next.push(Step::fine(Label::Calls(call, answer, Fate::ACopyStaysOnTheWay), on_way));
    }
}

/// The worker has its answer.
fn advance(lab: &Lab<'_>, world: &mut World, place: usize, verb: Verb, answer: Answer) {
    let effects = lab.scenario.effects as u8;
    let mut gone = false;
    let worker = &mut world.workers[place];
    match (verb, answer) {
        (Verb::Begin, Answer::Go(number, left)) => (worker.at, worker.n, worker.x) = (At::Go, number, left),
        (Verb::Begin, Answer::Check(ticket)) => (worker.at, worker.n, worker.x) = (At::Check, ticket, 0),
        (Verb::Begin, Answer::Done) | (Verb::Done | Verb::Found, Answer::Ok) => {
            // With the recorded result it goes on.
            (worker.n, worker.x) = (0, 0);
            if worker.eff + 1 < effects {
                (worker.at, worker.eff) = (At::Begin, worker.eff + 1);
            } else {
                (worker.at, worker.eff) = (At::Complete, 0);
            }
        }
        // Only without the rule that a person's giving up ends the job.
        (Verb::Begin, Answer::Abandoned) => (worker.at, worker.n, worker.x) = (At::Complete, 0, 0),
        (Verb::Begin, Answer::Wait | Answer::Used | Answer::Budget | Answer::Mismatch)
        | (Verb::Failed | Verb::Unknown, Answer::Ok)
        | (Verb::Absent, Answer::Ok | Answer::Wait | Answer::Void) => {
            (worker.at, worker.n, worker.x) = (At::Begin, 0, 0);
        }
        (Verb::Complete, Answer::Unresolved(open)) => (worker.at, worker.eff) = (At::Begin, open),
        (Verb::Complete | Verb::Fail, Answer::Ok)
        | (Verb::Begin, Answer::Held | Answer::Bound)
        | (_, Answer::LeaseLost) => gone = true,
        other => unreachable!("a worker does not know what to do: {other:?}"),
    }
    if gone {
        world.workers.remove(place);
    }
}

fn worker_steps(lab: &mut Lab<'_>, world: &World, place: usize, next: &mut Vec<Step>) {
    let me = world.workers[place];
    next.push(Step::fine(Label::Dies(me), world.without_worker(place)));
    if me.at == At::Failing {
        calls(lab, world, place, Verb::Fail, 0, me.x, next);
        return;
    }
    if me.at == At::Complete {
        calls(lab, world, place, Verb::Complete, 0, 0, next);
        if me.accepted {
            return;
        }
    }
    calls(lab, world, place, Verb::Fail, 0, 0, next); // its program may end anywhere
    if lab.scenario.permanent {
        calls(lab, world, place, Verb::Fail, 0, 1, next);
    }
    if world.left.twin > 0 && world.workers.len() < 2 {
        let mut joined = world.clone();
        joined.left.twin -= 1;
        joined.workers.push(Worker { twin: true, ..fresh(me.pid, me.lease, me.job, me.run) });
        next.push(Step::fine(Label::Joined(me), joined));
    }
    match me.at {
        At::Begin => begins(lab, world, place, next),
        At::Go if me.x > 0 || !lab.has(Rule::SendBefore) => {
            let mut sent = world.with_worker(place, |worker| (worker.at, worker.x) = (At::Sent, 0));
            sent.wire.push(Request { job: me.job, run: me.run, eff: me.eff, n: me.n, pid: me.pid, life: FLIGHT });
            sent.wire.sort_unstable();
            next.push(Step::fine(Label::Sends(me), sent));
        }
        At::Go => calls(lab, world, place, Verb::Failed, me.n, 0, next),
        At::Sent => {
            let lost = world.with_worker(place, |worker| worker.at = At::Lost);
            next.push(Step::fine(Label::WaitsNoLonger(me), lost));
        }
        At::Got => calls(lab, world, place, Verb::Done, me.n, me.x, next),
        At::Rejected => calls(lab, world, place, Verb::Failed, me.n, 1, next),
        At::Lost => {
            calls(lab, world, place, Verb::Unknown, me.n, 0, next);
            if lab.scenario.misknows {
                calls(lab, world, place, Verb::Failed, me.n, 1, next);
            }
        }
        At::Check => looks_up(lab, world, place, me.n, next),
        At::Found => calls(lab, world, place, Verb::Found, me.n, me.x, next),
        At::Absent => calls(lab, world, place, Verb::Absent, me.n, 0, next),
        At::Complete | At::Failing => {}
    }
}

fn begins(lab: &mut Lab<'_>, world: &World, place: usize, next: &mut Vec<Step>) {
    let me = world.workers[place];
    let id = if me.x > 0 { u32::from(me.x) } else { new_begin_id(lab, world, &me) };
    let request = if lab.scenario.changing { me.pid } else { 0 };
    calls(lab, world, place, Verb::Begin, id, request, next);
    let seen = lab.seen(world.cases[usize::from(me.job)], world.restored);
    let Some((state, newest)) = lab.effect_of(seen, me.run, me.eff).map(|effect| (effect.state, effect.newest()))
    else {
        return;
    };
    if me.x == 0 && (state.is_open() || state == EffectState::Abandoned) {
        calls(lab, world, place, Verb::Complete, 0, 0, next); // a careless worker: it must be refused
        if lab.scenario.skips && usize::from(me.eff) + 1 < lab.scenario.effects {
            let on = world.with_worker(place, |worker| worker.eff += 1);
            next.push(Step::fine(Label::GoesOnTo(me, me.eff + 1), on));
        }
    }
    if !lab.has(Rule::Ticket) && me.x == 0 && state == EffectState::Unknown && lab.scenario.looks_up() {
        looks_up(lab, world, place, newest, next); // nothing says that it must ask before it looks
    }
}

fn fresh(pid: u8, lease: u8, job: u8, run: u32) -> Worker {
    Worker { pid, lease, job, run, at: At::Begin, eff: 0, n: 0, x: 0, accepted: false, twin: false }
}

/// A number that no other process has; small, so that the search ends.
fn new_begin_id(lab: &Lab<'_>, world: &World, me: &Worker) -> u32 {
    if !lab.has(Rule::FreshId) {
        return 100 + u32::from(me.lease);
    }
    let case = world.cases[usize::from(me.job)];
    let tries = lab.effect_of(case, me.run, me.eff).map_or(&[][..], |effect| &effect.tries);
    let of_tries = tries.iter().filter_map(|one| one.begin_id).map(number_of);
    let of_workers = world
        .workers
        .iter()
        .filter(|other| other.at == At::Begin && (other.job, other.run, other.eff) == (me.job, me.run, me.eff));
    let of_copy = world.late.iter().filter(|call| call.verb == Verb::Begin).map(|call| call.n);
    1 + of_tries.chain(of_workers.map(|other| u32::from(other.x))).chain(of_copy).max().unwrap_or(0)
}

/// The destination is asked by key. It may miss what is younger than its lag.
fn looks_up(lab: &Lab<'_>, world: &World, place: usize, ticket: u32, next: &mut Vec<Step>) {
    let me = world.workers[place];
    let real = &world.dest[lab.scenario.place(me.job, me.run, me.eff)].real;
    let visible = real.iter().position(|lag| *lag == 0);
    if !real.is_empty() {
        let found = 1 + visible.unwrap_or(0) as u8;
        let world = world.with_worker(place, |worker| (worker.at, worker.n, worker.x) = (At::Found, ticket, found));
        next.push(Step::fine(Label::LooksUp(me, Some(found)), world));
    }
    if visible.is_none() {
        let world = world.with_worker(place, |worker| (worker.at, worker.n, worker.x) = (At::Absent, ticket, 0));
        next.push(Step::fine(Label::LooksUp(me, None), world));
    }
}

fn network_steps(lab: &mut Lab<'_>, world: &World, next: &mut Vec<Step>) {
    for (place, request) in world.wire.iter().enumerate() {
        if place > 0 && world.wire[place - 1] == *request {
            continue;
        }
        let waits = |worker: &Worker| {
            (worker.pid, worker.job, worker.run, worker.eff, worker.at, worker.n)
                == (request.pid, request.job, request.run, request.eff, At::Sent, request.n)
        };
        let hearers: Vec<usize> = (0..world.workers.len()).filter(|at| waits(&world.workers[*at])).collect();
        let mut taken = world.clone();
        taken.wire.remove(place);
        let resource = take_effect(lab.scenario, &mut taken, request);
        next.push(Step::fine(Label::TakesEffect(*request, resource, Heard::Nobody), taken.clone()));
        for at in &hearers {
            let heard = taken.with_worker(*at, |worker| (worker.at, worker.x) = (At::Got, resource));
            next.push(Step::fine(Label::TakesEffect(*request, resource, Heard::By(*at as u8)), heard));
        }
        if world.left.reject > 0 {
            let mut refused = world.clone();
            refused.wire.remove(place);
            refused.left.reject -= 1;
            next.push(Step::fine(Label::IsRejected(*request, Heard::Nobody), refused.clone()));
            for at in &hearers {
                let heard = refused.with_worker(*at, |worker| worker.at = At::Rejected);
                next.push(Step::fine(Label::IsRejected(*request, Heard::By(*at as u8)), heard));
            }
        }
    }
    if let Some(call) = world.late {
        let mut arrived = world.clone();
        arrived.late = None;
        let (answer, bad) = call_ledger(lab, &mut arrived, call);
        next.push(Step { label: Label::LateCopyArrives(call, answer), world: arrived, bad });
    }
}

/// The number of the resource that the request made or was answered with.
fn take_effect(scenario: &Scenario, world: &mut World, request: &Request) -> u8 {
    let one = &mut world.dest[scenario.place(request.job, request.run, request.eff)];
    let keyed = scenario.kind == Kind::Key && scenario.honours;
    if keyed && one.memory > 0 {
        return one.remembered; // a known key: the first response again
    }
    one.real.push(if scenario.looks_up() { scenario.lag + 1 } else { 0 });
    let resource = one.real.len() as u8;
    (one.memory, one.remembered) = if keyed { (TTL, resource) } else { (0, 0) };
    resource
}

fn store_steps(lab: &mut Lab<'_>, world: &World, next: &mut Vec<Step>) {
    for job in 0..world.cases.len() {
        let of_job = &lab.case(world.cases[job]).job;
        let (state, attempts, run) = (of_job.state, of_job.attempts, of_job.run);
        if state == JobState::Pending && attempts < lab.scenario.attempts && world.workers.len() < 2 {
            let mut claimed = world.clone();
            claimed.pids += 1;
            let pid = claimed.pids;
            let lease = if lab.has(Rule::LeaseUnique) { pid } else { attempts as u8 + 1 };
            claimed.cases[job] = lab.claim(world.cases[job], lease);
            claimed.owners[job] = pid;
            claimed.workers.push(fresh(pid, lease, job as u8, run));
            next.push(Step::fine(Label::Claims(pid), claimed));
        }
        if state == JobState::Running {
            let mut lost = world.clone();
            lost.cases[job] = lab.expire(world.cases[job], world.restored);
            lost.owners[job] = 0;
            next.push(Step::fine(Label::LeaseIsLost(world.owners[job]), lost));
        }
    }
    if world.left.restore > 0 && world.saved.is_none() {
        let mut kept = world.clone();
        kept.left.restore -= 1;
        let Saved { cases, reserved, spent } =
            Saved { cases: world.cases.clone(), reserved: world.reserved, spent: world.spent };
        kept.saved = Some(Box::new(Saved { cases, reserved, spent }));
        next.push(Step::fine(Label::BackupIsTaken, kept));
    }
    if let Some(saved) = &world.saved {
        let mut restored = world.clone();
        restored.saved = None;
        restored.cases = saved.cases.iter().map(|case| lab.void_lease(*case)).collect();
        restored.owners.fill(0);
        (restored.reserved, restored.spent, restored.restored) = (saved.reserved, saved.spent, Some(0));
        next.push(Step::fine(Label::StoreIsRestored, restored));
    }
}

fn person_steps(lab: &mut Lab<'_>, world: &World, next: &mut Vec<Step>) {
    for job in 0..world.cases.len() {
        decisions(lab, world, job, next);
        let state = lab.case(world.cases[job]).job.state;
        if world.left.cancel > 0 && matches!(state, JobState::Pending | JobState::Running | JobState::Held) {
            let mut cancelled = world.clone();
            cancelled.left.cancel -= 1;
            cancelled.cases[job] = lab.cancel(world.cases[job], world.restored);
            cancelled.owners[job] = 0;
            next.push(Step::fine(Label::PersonCancels(job as u8), cancelled));
        }
        if world.left.again > 0
            && let Some(tried_again) = lab.retry(world.cases[job], world.restored)
        {
            let mut ordered = world.clone();
            ordered.left.again -= 1;
            ordered.cases[job] = tried_again;
            next.push(Step::fine(Label::PersonHasItTriedAgain(job as u8), ordered));
        }
    }
    if world.left.replay > 0 {
        let case = world.cases[0];
        let mut renewed = world.clone();
        renewed.left.replay -= 1;
        if let Some(again) = lab.replay(case, world.restored) {
            let open = lab.case(case).open().next().is_some();
            let bad =
                open.then(|| (Property::R1, "a new run begins while an effect of the first one is open".to_owned()));
            renewed.cases[0] = again;
            next.push(Step { label: Label::PersonOrdersANewRun, world: renewed, bad });
        }
    }
    if world.left.raises > 0 {
        let mut raised = world.clone();
        raised.left.raises -= 1;
        raised.budget += 1;
        next.push(Step::fine(Label::PersonRaisesTheBudget, raised));
    }
}

/// The person looks at the destination and says what is there now, or gives up.
fn decisions(lab: &mut Lab<'_>, world: &World, job: usize, next: &mut Vec<Step>) {
    let seen = lab.seen(world.cases[job], world.restored);
    let of_job = &lab.case(seen).job;
    if of_job.state != JobState::Held {
        return;
    }
    let run = of_job.run;
    for eff in 0..lab.scenario.effects as u8 {
        let Some(effect) = lab.effect_of(seen, run, eff).filter(|effect| effect.state == EffectState::Held) else {
            continue;
        };
        let newest = effect.newest();
        let real = world.dest[lab.scenario.place(job as u8, run, eff)].real.len() as u8;
        let mut words = Vec::new();
        if real > 0 {
            words.push((Verb::SettleFound, real));
        } else if lab.scenario.says_absent {
            words.push((Verb::SettleAbsent, 0));
        }
        if lab.scenario.abandon {
            words.push((Verb::Abandon, 0));
        }
        for (verb, x) in words {
            let call = Call { verb, pid: 0, lease: 0, job: job as u8, run, eff, n: newest, x, accepted: false };
            let mut decided = world.clone();
            if call_ledger(lab, &mut decided, call).0 != Answer::Ok {
                continue;
            }
            next.push(Step::fine(Label::PersonDecides(call, Fate::Answered), decided.clone()));
            if verb == Verb::SettleAbsent && world.left.late > 0 && world.late.is_none() {
                decided.left.late -= 1;
                decided.late = Some(call);
                next.push(Step::fine(Label::PersonDecides(call, Fate::ACopyStaysOnTheWay), decided));
            }
        }
    }
}

fn tick(lab: &mut Lab<'_>, world: &World) -> Step {
    let mut next = world.clone();
    for case in &mut next.cases {
        *case = lab.tick(*case);
    }
    for case in next.saved.iter_mut().flat_map(|saved| &mut saved.cases) {
        *case = lab.tick(*case);
    }
    for worker in next.workers.iter_mut().filter(|worker| worker.at == At::Go) {
        worker.x = worker.x.saturating_sub(1);
    }
    for one in &mut next.dest {
        one.real.iter_mut().for_each(|lag| *lag = lag.saturating_sub(1));
        one.memory = one.memory.saturating_sub(1);
    }
    if lab.scenario.punctual {
        next.wire.retain(|request| request.life > 0);
        next.wire.iter_mut().for_each(|request| request.life -= 1);
    }
    next.restored = next.restored.map(|since| (since + 1).min(LONG_AGO));
    Step::fine(Label::Tick, next)
}
