//! Many callers at once get what they would get one after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Barrier};
use std::thread;

use cola_ia_core::event::Fingerprint;
use cola_ia_core::intake::Intake;
use cola_ia_core::store::Preview;
use cola_ia_core::verdict::Verdict;

use super::check::{cases, count, ensure, ensure_eq, words};
use crate::events::{event, refusal};
use crate::harness::{Backend, Failure, Scratch};

cases![
    callers_at_once_make_one_event_of_an_identity,
    callers_at_once_agree_on_the_first_content,
    callers_at_once_get_numbers_of_their_own,
    the_same_op_at_once_gives_one_answer,
    views_at_once_see_whole_batches,
];

const THREADS: usize = 8;
/// A prime, so that every step of [`turned`] visits every id.
const IDS: usize = 23;

/// Runs the work on [`THREADS`] threads that start together; the results stand by thread.
fn at_once<T: Send>(work: impl Fn(usize) -> Result<T, Failure> + Sync) -> Result<Vec<T>, Failure> {
    let start = Barrier::new(THREADS);
    let run = |index| {
        start.wait();
        work(index)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|index| scope.spawn(move || run(index))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| Failure::from("a caller panicked"))?).collect()
    })
}

/// The ids in an order of the thread's own, so that threads meet in all orders.
fn turned(thread: usize) -> impl Iterator<Item = String> {
    (0..IDS).map(move |index| format!("id {}", (index * (2 * thread + 1) + thread) % IDS))
}

fn callers_at_once_make_one_event_of_an_identity(backend: &dyn Backend) -> Result<(), Failure> {
    const ROUNDS: usize = 3;
    let scratch = Scratch::new(backend)?;
    let answers = at_once(|thread| {
        let mut answers = Vec::new();
        for id in turned(thread) {
            answers.push(scratch.accept(vec![event(&id, "x")])?);
        }
        for _ in 1..ROUNDS {
            answers.push(scratch.accept(turned(thread).map(|id| event(&id, "x")).collect())?);
        }
        Ok(answers)
    })?;
    let total = |verdict| answers.iter().flatten().map(|accepted| count(accepted, verdict)).sum::<usize>();
    ensure_eq!(total(Verdict::New), IDS, "new events of {IDS} identities");
    ensure_eq!(total(Verdict::Duplicate), IDS * (THREADS * ROUNDS - 1), "duplicates");
    ensure_eq!(scratch.all_jobs()?.len(), IDS, "jobs");
    for index in 0..IDS {
        let found = scratch.find_one(&format!("id {index}"))?;
        ensure_eq!(found.duplicates, (THREADS * ROUNDS - 1) as u64, "duplicates of id {index}");
    }
    Ok(())
}

fn callers_at_once_agree_on_the_first_content(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let text = |thread: usize| format!("text of {thread}");
    let answers = at_once(|thread| {
        let one = |id: String| Ok((id.clone(), scratch.accept(vec![event(&id, &text(thread))])?.receipts[0]));
        turned(thread).map(one).collect::<Result<Vec<_>, Failure>>()
    })?;
    let mut said: BTreeMap<String, Vec<(String, Option<u32>)>> = BTreeMap::new();
    for (thread, receipts) in answers.into_iter().enumerate() {
        for (id, receipt) in receipts {
            ensure_eq!(receipt.verdict == Verdict::New, receipt.conflict.is_none(), "the verdict on {id}: {receipt:?}");
            said.entry(id).or_default().push((text(thread), receipt.conflict));
        }
    }
    for (id, mut said) in said {
        let found = scratch.find_one(&id)?;
        let mut kept = vec![(found.text.clone().unwrap_or_default(), None)];
        kept.extend(found.conflicts.iter().map(|known| (known.text.clone().unwrap_or_default(), Some(known.number))));
        said.sort_by_key(|(_, conflict)| *conflict);
        said.dedup();
        ensure_eq!(kept, said, "the first content of {id}, then its conflicts by number");
        let counted: u64 = found.duplicates + found.conflicts.iter().map(|conflict| conflict.count).sum::<u64>();
        ensure_eq!(counted, found.deliveries.len() as u64, "what came after the first of {id}");
        ensure_eq!(found.fingerprint, Fingerprint::of(&kept[0].0), "the fingerprint of {id}");
    }
    Ok(())
}

fn callers_at_once_get_numbers_of_their_own(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let answers = at_once(|thread| {
        let mut numbers = Vec::new();
        for round in 0..5 {
            let batch = vec![
                event(&format!("{thread} {round}"), "x"),
                event("shared", "x"),
                event("shared", &format!("y {thread}")),
                refusal(cola_ia_core::intake::RefusalCode::IdMissing, 4),
            ];
            numbers.extend(scratch.accept(batch)?.receipts.into_iter().map(|receipt| receipt.number));
        }
        Ok(numbers)
    })?;
    for (thread, numbers) in answers.iter().enumerate() {
        ensure!(
            numbers.is_sorted_by(|left, right| left < right),
            "the numbers of thread {thread} do not grow: {numbers:?}"
        );
    }
    let all: BTreeSet<_> = answers.iter().flatten().collect();
    ensure_eq!(all.len(), answers.iter().map(Vec::len).sum::<usize>(), "numbers that stand once");
    Ok(())
}

fn the_same_op_at_once_gives_one_answer(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    for round in 0..10 {
        let op = scratch.op();
        let id = format!("id {round}");
        let batch = Arc::new(vec![event(&id, "x"), event(&id, "x"), event(&id, "y"), event("shared", "x")]);
        let answers = at_once(|_| Ok(scratch.accept_as(op, &batch)?))?;
        for answer in &answers {
            ensure_eq!(*answer, answers[0], "the answers of round {round}");
        }
        let shared = if round == 0 { "new" } else { "duplicate" };
        ensure_eq!(words(&answers[0]), format!("new duplicate conflict#1 {shared}"), "the verdicts of round {round}");
        let found = scratch.find_one(&id)?;
        ensure_eq!((found.duplicates, found.deliveries.len()), (1, 2), "duplicates and deliveries of {id}");
    }
    ensure_eq!(scratch.find_one("shared")?.duplicates, 9, "duplicates of ten calls");
    Ok(())
}

fn views_at_once_see_whole_batches(backend: &dyn Backend) -> Result<(), Failure> {
    const ROUNDS: usize = 12;
    const SIZE: usize = 6;
    let scratch = Scratch::new(backend)?;
    let batch = |writer: usize, round: usize| -> Vec<Intake> {
        (0..SIZE).map(|member| event(&format!("{writer} {round} {member}"), "x")).collect()
    };
    at_once(|thread| {
        // Half of the threads write, each other one looks at what the writer before it does.
        let (writer, looks) = (thread - thread % 2, thread % 2 == 1);
        for round in 0..ROUNDS {
            if looks {
                let previews = scratch.preview(batch(writer, round))?;
                let known = previews.iter().filter(|preview| **preview != Preview::Unknown).count();
                ensure!(known == 0 || known == SIZE, "{known} of {SIZE} events of one batch are known");
                let jobs = scratch.all_jobs()?.len();
                ensure!(jobs % SIZE == 0, "{jobs} jobs of whole batches of {SIZE}");
            } else {
                scratch.accept(batch(writer, round))?;
            }
        }
        Ok(())
    })?;
    ensure_eq!(scratch.all_jobs()?.len(), THREADS / 2 * ROUNDS * SIZE, "jobs in the end");
    Ok(())
}
