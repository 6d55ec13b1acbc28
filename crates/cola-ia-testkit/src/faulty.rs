//! A store whose calls go wrong on their way, and the caller that the trait asks for, who repeats them.
//!
//! A call goes wrong before it reaches the store, or after the store has done it, when only its answer is lost. Both look the same
//! to the caller: `Unavailable` does not say which it was, and a repeat under the same op id, lease token or begin id is to give
//! the answer that was lost; there are few that no repeat gives again. [`Troubled`] puts both around a backend, so that every case shows whether it does.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cola_ia_core::clock::Timestamp;
use cola_ia_core::effect::{BeginAnswer, ReportAnswer};
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::{EffectBegun, ErrorKind, Store, StoreError};

use crate::clock::{ManualClock, SeededEntropy};
use crate::harness::{Backend, Failure, Place, RecordedRefusal};
use crate::wrapped::{Around, Call, Wrapped};

/// How often a caller repeats before it gives up. With a fault in every second call this never happens in a test.
const TRIES: u32 = 100;

/// Whether a repeat does not give this answer again. It is never lost here, because a case asks for it; what a caller hears
/// instead, and why that does no harm, is told by the tests in `conformance/repeats.rs`.
fn is_told_once(verb: &str, answer: &dyn Any) -> bool {
    let held = |begun: &EffectBegun| matches!(begun.answer, BeginAnswer::Held(_));
    match verb {
        // A repeat finds what ran out since.
        "recover" => true,
        // It ended the lease.
        "effect_begin" => answer.downcast_ref().is_some_and(held),
        // An absence that counted is over.
        "effect_resolve" => answer.downcast_ref() == Some(&ReportAnswer::Recorded),
        _ => false,
    }
}

/// Which way a call goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// None: the answer arrives.
    Spared,
    /// It does not reach the store.
    Before,
    /// The store does it, and the answer does not arrive, unless it is one that no repeat gives again.
    After,
}

/// Says of each call, by its verb, which way it goes.
pub trait Faults: Send + Sync + 'static {
    /// The next call's way.
    fn next(&self, verb: &'static str) -> Fault;
}

/// One call in two arrives; of the others half do not reach the store, and half are done.
impl Faults for SeededEntropy {
    fn next(&self, _: &'static str) -> Fault {
        match self.next_u64() % 4 {
            0 => Fault::Before,
            1 => Fault::After,
            _ => Fault::Spared,
        }
    }
}

impl<F: Fn(&'static str) -> Fault + Send + Sync + 'static> Faults for F {
    fn next(&self, verb: &'static str) -> Fault {
        self(verb)
    }
}

/// How many calls went which way.
#[derive(Debug, Clone, Default)]
pub struct Counts(Arc<[AtomicU64; 2]>);

impl Counts {
    /// Calls that did not reach the store.
    pub fn before(&self) -> u64 {
        self.0[0].load(Ordering::SeqCst)
    }

    /// Calls that were done and whose answer was lost.
    pub fn after(&self) -> u64 {
        self.0[1].load(Ordering::SeqCst)
    }
}

struct Faulty {
    faults: Box<dyn Faults>,
    counts: Counts,
}

fn lost() -> StoreError {
    StoreError::new(ErrorKind::Unavailable, "store_io").with("cause", "a planted fault")
}

impl Around for Faulty {
    async fn around<'a, T: Send + 'static>(
        &'a self,
        verb: &'static str,
        call: impl Call<'a, T>,
    ) -> Result<T, StoreError> {
        match self.faults.next(verb) {
            Fault::Spared => call().await,
            Fault::Before => {
                self.counts.0[0].fetch_add(1, Ordering::SeqCst);
                Err(lost())
            }
            Fault::After => {
                let answer = call().await;
                if answer.as_ref().is_ok_and(|answer| is_told_once(verb, answer)) {
                    return answer;
                }
                self.counts.0[1].fetch_add(1, Ordering::SeqCst);
                Err(lost())
            }
        }
    }
}

/// A store whose calls go wrong as `faults` says, and how many did.
pub fn faulty(store: Arc<dyn Store>, faults: impl Faults) -> (Arc<dyn Store>, Counts) {
    let counts = Counts::default();
    let around = Faulty { faults: Box::new(faults), counts: counts.clone() };
    (Arc::new(Wrapped { inner: store, around }), counts)
}

struct Retrying;

impl Around for Retrying {
    async fn around<'a, T: Send + 'static>(&'a self, _: &'static str, call: impl Call<'a, T>) -> Result<T, StoreError> {
        for _ in 1..TRIES {
            match call().await {
                Err(error) if error.kind == ErrorKind::Unavailable => {}
                answer => return answer,
            }
        }
        call().await
    }
}

/// A store that repeats calls that were `Unavailable`, with the same op ids and tokens and without a pause, up to 100 times.
pub fn retrying(store: Arc<dyn Store>) -> Arc<dyn Store> {
    Arc::new(Wrapped { inner: store, around: Retrying })
}

/// A backend behind [`faulty`] behind [`retrying`].
pub struct Troubled {
    name: &'static str,
    backend: Box<dyn Backend>,
    seed: u64,
}

impl Troubled {
    /// The faults of each of its stores are those of this seed.
    pub fn new(name: &'static str, backend: impl Backend, seed: u64) -> Self {
        Self { name, backend: Box::new(backend), seed }
    }
}

impl fmt::Debug for Troubled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Troubled").field("name", &self.name).field("seed", &self.seed).finish_non_exhaustive()
    }
}

impl Backend for Troubled {
    fn name(&self) -> &'static str {
        self.name
    }

    fn fresh(&self) -> Result<Box<dyn Place>, Failure> {
        let faults = SeededEntropy::new(self.seed);
        Ok(Box::new(Behind { open: Mutex::default(), place: self.backend.fresh()?, faults }))
    }
}

/// A place, and the store itself while it is open.
struct Behind {
    // Before `place`, so that the store is closed before its place is removed.
    open: Mutex<Option<Arc<dyn Store>>>,
    place: Box<dyn Place>,
    faults: SeededEntropy,
}

impl Behind {
    fn open(&self) -> MutexGuard<'_, Option<Arc<dyn Store>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place for Behind {
    fn open(&self, clock: ManualClock, entropy: SeededEntropy) -> Result<Arc<dyn Store>, Failure> {
        let store = self.place.open(clock, entropy)?;
        *self.open() = Some(Arc::clone(&store));
        Ok(retrying(faulty(store, self.faults.clone()).0))
    }

    fn close(&self, store: Arc<dyn Store>) -> Result<(), Failure> {
        drop(store);
        let store = self.open().take();
        store.map_or(Ok(()), |store| self.place.close(store))
    }

    fn refusals(&self) -> Result<Vec<RecordedRefusal>, Failure> {
        self.place.refusals()
    }

    fn set_job(&self, event: EventNumber, state: JobState, at: Timestamp) -> Result<(), Failure> {
        self.place.set_job(event, state, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::event;
    use crate::harness::block_on;
    use crate::model::ModelMemory;
    use cola_ia_core::clock::SystemEntropy;
    use cola_ia_core::store::OpId;

    fn model() -> Arc<dyn Store> {
        Arc::new(ModelMemory::default().store(Arc::new(ManualClock::default())))
    }

    fn op() -> OpId {
        OpId::new(&ManualClock::default(), &SystemEntropy)
    }

    /// Whether a batch entered, and how many events the store has then.
    fn accept_once(fault: Fault) -> (bool, usize) {
        let store = model();
        let (troubled, counts) = faulty(Arc::clone(&store), move |_| fault);
        let answer = block_on(troubled.accept(op(), Arc::new(vec![event("1", "x")])));
        let counted = (counts.before(), counts.after());
        assert_eq!(counted, (u64::from(fault == Fault::Before), u64::from(fault == Fault::After)));
        let found = block_on(store.find_events(None, "1".to_owned())).unwrap().len();
        (answer.is_ok(), found)
    }

    #[test]
    fn a_fault_is_before_or_after_the_store() {
        assert_eq!(accept_once(Fault::Spared), (true, 1));
        assert_eq!(accept_once(Fault::Before), (false, 0));
        assert_eq!(accept_once(Fault::After), (false, 1));
    }

    #[test]
    fn a_repeat_hears_the_answer_that_was_lost() {
        let calls = AtomicU64::new(0);
        let faults = move |_| if calls.fetch_add(1, Ordering::SeqCst) < 3 { Fault::After } else { Fault::Spared };
        let (troubled, counts) = faulty(model(), faults);
        let store = retrying(troubled);
        let (op, batch) = (op(), Arc::new(vec![event("1", "x")]));
        let accepted = block_on(store.accept(op, Arc::clone(&batch))).unwrap();
        assert_eq!(counts.after(), 3);
        assert_eq!(accepted, block_on(store.accept(op, batch)).unwrap());
        assert_eq!(block_on(store.find_events(None, "1".to_owned())).unwrap()[0].duplicates, 0);
    }

    #[test]
    fn a_caller_gives_up_at_last_and_repeats_nothing_that_is_wrong() {
        let (troubled, counts) = faulty(model(), |_| Fault::Before);
        let error = block_on(retrying(troubled).namespace()).unwrap_err();
        assert_eq!((error.kind, counts.before()), (ErrorKind::Unavailable, u64::from(TRIES)));
        let calls = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&calls);
        let (troubled, _) = faulty(model(), move |_| {
            seen.fetch_add(1, Ordering::SeqCst);
            Fault::Spared
        });
        let error = block_on(retrying(troubled).set_currency("euro".to_owned())).unwrap_err();
        assert_eq!((error.kind, calls.load(Ordering::SeqCst)), (ErrorKind::Invalid, 1));
    }

    #[test]
    fn a_seed_plants_every_fault() {
        let faults = SeededEntropy::new(7);
        let drawn: std::collections::HashSet<_> = (0..100).map(|_| faults.next("accept")).collect();
        assert_eq!(drawn.len(), 3);
    }
}
