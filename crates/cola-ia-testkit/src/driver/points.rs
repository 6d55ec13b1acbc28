//! The points at which a worker can be stopped: before and after each call of a store verb and each request to a destination.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use cola_ia_core::store::{ErrorKind, Store, StoreError};

use super::{Interruption, Plan};
use crate::clock::ManualClock;
use crate::harness::block_on;
use crate::wrapped::{Around, Call, Wrapped};

/// How long a step takes.
const STEP: Duration = Duration::from_millis(1);

/// On which side of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// A point that was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    worker: usize,
    side: Side,
    call: &'static str,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.side == Side::Before { "before" } else { "after" };
        write!(f, "worker {}, {side} {}", self.worker, self.call)
    }
}

#[derive(Debug, Default)]
struct State {
    plan: Plan,
    points: Vec<Point>,
    dead: BTreeSet<usize>,
    frozen: BTreeMap<usize, u32>,
    restore: bool,
}

/// What all points of a run share.
#[derive(Debug)]
pub(super) struct Gate {
    state: Mutex<State>,
    clock: ManualClock,
}

impl Gate {
    pub(super) fn new(plan: Plan, clock: ManualClock) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { plan, ..State::default() }), clock })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn points(&self) -> Vec<Point> {
        self.state().points.clone()
    }

    /// Whether this worker is frozen.
    pub(super) fn stands(&self, worker: usize) -> bool {
        self.state().frozen.contains_key(&worker)
    }

    pub(super) fn is_dead(&self, worker: usize) -> bool {
        self.state().dead.contains(&worker)
    }

    /// A round is over.
    pub(super) fn thaw(&self) {
        self.state().frozen.retain(|_, rounds| {
            *rounds = rounds.saturating_sub(1);
            *rounds > 0
        });
    }

    /// Whether everything is to be restored now.
    pub(super) fn takes_restore(&self) -> bool {
        std::mem::take(&mut self.state().restore)
    }

    /// Nobody lives who was here.
    pub(super) fn forget(&self) {
        self.state().frozen.clear();
    }

    /// Before a call. Whether it is not to be made.
    pub(super) async fn before(&self, worker: usize, call: &'static str) -> bool {
        self.pass(Point { worker, side: Side::Before, call }).await
    }

    /// After a call. Whether its answer is not to be heard.
    pub(super) async fn after(&self, worker: usize, call: &'static str) -> bool {
        self.pass(Point { worker, side: Side::After, call }).await
    }

    async fn pass(&self, point: Point) -> bool {
        self.clock.advance(STEP.as_micros() as i64);
        let planned = {
            let mut state = self.state();
            let number = state.points.len();
            state.points.push(point);
            let planned = state.plan.remove(&number);
            match planned {
                Some(Interruption::Kill) => drop(state.dead.insert(point.worker)),
                Some(Interruption::Freeze(rounds)) => drop(state.frozen.insert(point.worker, rounds)),
                Some(Interruption::Restore) => state.restore = true,
                Some(Interruption::Lose) | None => {}
            }
            planned
        };
        match planned {
            // Whoever polled it lets go of it.
            Some(Interruption::Kill | Interruption::Restore) => pending().await,
            Some(Interruption::Lose) => return true,
            Some(Interruption::Freeze(_)) | None => {}
        }
        // The other worker's turn; a frozen one is not polled.
        let mut waited = false;
        poll_fn(|_| if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
        false
    }
}

/// What one worker meets on its way to the store: a point before each verb and one after.
struct Interrupting {
    gate: Arc<Gate>,
    worker: usize,
}

/// A store as this worker sees it.
pub(super) fn interrupting(inner: Arc<dyn Store>, gate: Arc<Gate>, worker: usize) -> Arc<dyn Store> {
    Arc::new(Wrapped { inner, around: Interrupting { gate, worker } })
}

fn lost() -> StoreError {
    StoreError::new(ErrorKind::Unavailable, "store_io")
}

impl Around for Interrupting {
    async fn around<'a, T: Send + 'static>(
        &'a self,
        verb: &'static str,
        call: impl Call<'a, T>,
    ) -> Result<T, StoreError> {
        if self.gate.before(self.worker, verb).await {
            return Err(lost());
        }
        // Here and now: which worker moves next is decided at the points alone.
        let answer = block_on(call());
        if self.gate.after(self.worker, verb).await {
            return Err(lost());
        }
        answer
    }
}
