//! The leases in the worker's hands: who is to be kept alive, and who is to be stopped.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::LeaseToken;
use tokio::sync::watch;

use super::child::Stop;
use super::stop::Stopping;

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Held(Mutex<HashMap<LeaseToken, Hold>>);

#[derive(Debug)]
struct Hold {
    event: EventNumber,
    /// Its id as it is shown.
    id: String,
    stop: watch::Sender<Stop>,
    lost: Arc<AtomicBool>,
    /// The ledger has ended the lease itself: the job is held.
    settled: Arc<AtomicBool>,
    /// Its end is on its way to the store: a heartbeat behind it would come too late.
    ending: bool,
}

/// What the task of one job has of its lease.
#[derive(Debug)]
pub(super) struct Grip {
    pub(super) stop: watch::Receiver<Stop>,
    lost: Arc<AtomicBool>,
    /// Set when the ledger has answered `held`, and so has ended the lease.
    pub(super) settled: Arc<AtomicBool>,
}

impl Grip {
    /// Whether the store has said that the lease is lost.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }
}

impl Held {
    fn all(&self) -> MutexGuard<'_, HashMap<LeaseToken, Hold>> {
        // Each change is one insertion, removal or flag: a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take(&self, token: LeaseToken, event: EventNumber, id: String) -> Grip {
        let (stop, told) = watch::channel(Stop::Run);
        let lost = Arc::new(AtomicBool::new(false));
        let settled = Arc::new(AtomicBool::new(false));
        let grip = Grip { stop: told, lost: Arc::clone(&lost), settled: Arc::clone(&settled) };
        self.all().insert(token, Hold { event, id, stop, lost, settled, ending: false });
        grip
    }

    /// Whether the store has said that this lease is lost.
    pub(super) fn is_lost(&self, token: LeaseToken) -> bool {
        self.all().get(&token).is_some_and(|hold| hold.lost.load(Ordering::SeqCst))
    }

    pub(super) fn let_go(&self, token: LeaseToken) {
        self.all().remove(&token);
    }

    /// Whether the end of this one is on its way.
    pub(super) fn set_ending(&self, token: LeaseToken, ending: bool) {
        if let Some(hold) = self.all().get_mut(&token) {
            hold.ending = ending;
        }
    }

    /// Those that need heartbeats.
    pub(super) fn to_extend(&self) -> Vec<LeaseToken> {
        let live = |hold: &Hold| !hold.ending && !hold.lost.load(Ordering::SeqCst);
        self.all().iter().filter(|(_, hold)| live(hold)).map(|(token, _)| *token).collect()
    }

    /// The jobs that are still ours, as far as is known.
    pub(super) fn events(&self) -> HashSet<EventNumber> {
        self.all().values().filter(|hold| !hold.lost.load(Ordering::SeqCst)).map(|hold| hold.event).collect()
    }

    pub(super) fn count(&self) -> usize {
        self.all().len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// The store says that it is lost: its command is asked to end. Answers with the id, where that is news: it is none where the
    /// ledger ended it.
    pub(super) fn lose(&self, token: LeaseToken) -> Option<String> {
        let all = self.all();
        let hold = all.get(&token)?;
        if hold.lost.swap(true, Ordering::SeqCst) {
            return None;
        }
        raise(&hold.stop, Stop::Terminate);
        (!hold.settled.load(Ordering::SeqCst)).then(|| hold.id.clone())
    }

    /// Tells the commands how far stopping is.
    pub(super) fn stop(&self, stopping: Stopping) {
        self.all().values().for_each(|hold| raise(&hold.stop, stopping.of_child()));
    }
}

/// What was said is never taken back.
fn raise(stop: &watch::Sender<Stop>, to: Stop) {
    stop.send_if_modified(|said| {
        let is_more = matches!((*said, to), (Stop::Run, Stop::Terminate | Stop::Kill) | (Stop::Terminate, Stop::Kill));
        if is_more {
            *said = to;
        }
        is_more
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_never_taken_back_and_a_loss_is_told_once() {
        let held = Held::default();
        let token = LeaseToken::new([1; 16], 0);
        let grip = held.take(token, EventNumber(1), "a".to_owned());
        assert_eq!(held.to_extend(), [token]);
        held.stop(Stopping::No);
        assert_eq!(*grip.stop.borrow(), Stop::Run);
        held.stop(Stopping::Now);
        assert_eq!(held.lose(token).as_deref(), Some("a"));
        assert_eq!(*grip.stop.borrow(), Stop::Kill, "and not Terminate after it");
        assert!(grip.is_lost() && held.lose(token).is_none() && held.to_extend().is_empty());
        held.let_go(token);
        assert!(held.is_empty() && held.lose(token).is_none());
    }

    #[test]
    fn a_lease_that_the_ledger_ended_is_no_loss() {
        let held = Held::default();
        let token = LeaseToken::new([1; 16], 0);
        let grip = held.take(token, EventNumber(1), "a".to_owned());
        grip.settled.store(true, Ordering::SeqCst);
        assert_eq!(held.lose(token), None);
        assert_eq!(*grip.stop.borrow(), Stop::Terminate, "a command that goes on is asked to end all the same");
    }

    #[test]
    fn what_is_ending_gets_no_heartbeat_until_that_failed() {
        let held = Held::default();
        let token = LeaseToken::new([1; 16], 0);
        let _grip = held.take(token, EventNumber(1), "a".to_owned());
        held.set_ending(token, true);
        assert!(held.to_extend().is_empty() && held.events().contains(&EventNumber(1)));
        held.set_ending(token, false);
        assert_eq!(held.to_extend(), [token]);
    }
}
