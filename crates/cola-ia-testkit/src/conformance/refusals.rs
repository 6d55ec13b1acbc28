//! What could not become an event is answered and recorded, and nothing enters.

use cola_ia_core::intake::{Intake, Refusal, RefusalCode};
use cola_ia_core::limits::REFUSAL_DETAIL_MAX_BYTES;

use super::check::{cases, ensure_eq, words};
use crate::events::{event, line, refusal};
use crate::harness::{Backend, Failure, RecordedRefusal, Scratch};

cases![refusals_are_answered_in_their_place, refusals_touch_no_event, refusals_are_recorded_with_reason_and_place];

fn refusals_are_answered_in_their_place(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let accepted = scratch.accept(vec![
        refusal(RefusalCode::JsonSyntax, 1),
        event("a", "x"),
        refusal(RefusalCode::IdMissing, 3),
        refusal(RefusalCode::IdMissing, 3),
        event("a", "y"),
        refusal(RefusalCode::TextBlank, 6),
    ])?;
    ensure_eq!(words(&accepted), "invalid new invalid invalid conflict#1 invalid", "the verdicts");
    for receipt in [0, 2, 3, 5].map(|index: usize| accepted.receipts[index]) {
        ensure_eq!((receipt.event, receipt.conflict), (None, None), "a refusal has no event and no conflict");
    }
    Ok(())
}

fn refusals_touch_no_event(backend: &dyn Backend) -> Result<(), Failure> {
    let scratch = Scratch::new(backend)?;
    let all = || RefusalCode::ALL.iter().map(|code| refusal(*code, 1)).collect();
    scratch.accept(all())?;
    ensure_eq!(scratch.all_jobs()?, vec![], "jobs in a store that only saw refusals");
    scratch.accept(vec![event("a", "x")])?;
    let before = (scratch.all_jobs()?, scratch.find_one("a")?);
    scratch.accept(all())?;
    ensure_eq!((scratch.all_jobs()?, scratch.find_one("a")?), before, "jobs and event after more refusals");
    Ok(())
}

fn refusals_are_recorded_with_reason_and_place(backend: &dyn Backend) -> Result<(), Failure> {
    let mut scratch = Scratch::new(backend)?;
    let mut refusals: Vec<Refusal> = RefusalCode::ALL.iter().map(|code| Refusal::new(*code, line(7))).collect();
    refusals.extend([
        Refusal::new(RefusalCode::TextTooLong, line(1 << 40)).at_column(1 << 33).about("1048577"),
        Refusal::new(RefusalCode::IdNumber, line(9)).at_column(1).about(&"ñ'\"\u{1b}".repeat(REFUSAL_DETAIL_MAX_BYTES)),
        Refusal { count: 1_000_000_000_000, ..Refusal::new(RefusalCode::JsonSyntax, line(10_001)) },
        Refusal::new(RefusalCode::IdBlank, cola_ia_core::event::Origin { input: "-".into(), line: 1 }),
    ]);
    let mut expected = Vec::new();
    for part in refusals.chunks(5) {
        let received_at = scratch.clock().advance(1_000);
        let mut batch = vec![event("a", "x")];
        batch.extend(part.iter().cloned().map(Intake::Refusal));
        let accepted = scratch.accept(batch)?;
        for (refusal, receipt) in part.iter().zip(&accepted.receipts[1..]) {
            expected.push(RecordedRefusal::of(receipt.number, received_at, refusal));
        }
    }
    ensure_eq!(scratch.refusals()?, expected, "the recorded refusals");
    scratch.reopen()?;
    ensure_eq!(scratch.refusals()?, expected, "the recorded refusals after a reopen");
    Ok(())
}
