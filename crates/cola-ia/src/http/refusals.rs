//! Refused requests on their way to the store: on record, bounded, and never in the way of an answer.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use cola_ia_core::clock::{Clock, Entropy, Timestamp};
use cola_ia_core::event::{Origin, Source};
use cola_ia_core::intake::{Intake, Refusal, RefusalCode};
use cola_ia_core::store::{OpId, Store};
use tokio::sync::{mpsc, oneshot};

use super::limits::REFUSALS_A_MINUTE;
use super::metrics::Metrics;

/// Refusals that wait for the store; more are only counted.
const WAITING_MAX: usize = 1_024;
/// In one call.
const BATCH_MAX: usize = 256;
const MINUTE: i64 = 60_000_000;

enum Note {
    Refused(Refusal),
    /// Everything before this is with the store once it is answered.
    Flush(oneshot::Sender<()>),
}

/// Takes refusals down.
pub struct Refusals {
    notes: mpsc::Sender<Note>,
    windows: Mutex<HashMap<Source, Window>>,
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
}

/// A minute of one source.
#[derive(Default)]
struct Window {
    minute: i64,
    singly: u32,
    /// Those that are only counted, by reason.
    counted: HashMap<RefusalCode, u64>,
}

impl Refusals {
    /// Starts the task that hands them to the store.
    pub fn start(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let (notes, waiting) = mpsc::channel(WAITING_MAX);
        tokio::spawn(hand_over(waiting, store, clock.clone(), entropy));
        Self { notes, windows: Mutex::default(), clock, metrics }
    }

    /// Takes one down. `detail` holds no body and no secret.
    pub fn note(&self, source: &Source, code: RefusalCode, detail: &str, remote: IpAddr) {
        self.metrics.refused(source, code);
        let now = self.clock.now();
        let (single, before) = {
            let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
            let window = windows.entry(source.clone()).or_default();
            let before = window.turn(now);
            window.singly += 1;
            let single = window.singly <= REFUSALS_A_MINUTE && self.notes.capacity() > 1;
            if !single {
                *window.counted.entry(code).or_default() += 1;
            }
            (single, before)
        };
        self.counted(source, before);
        if single {
            let origin = Origin { input: format!("in/{source} from {remote}").into(), line: 1 };
            let refusal = Refusal::new(code, origin).of(source.clone()).about(detail);
            let _ = self.notes.try_send(Note::Refused(refusal));
        }
    }

    /// Hands over what was only counted, and waits until the store has all.
    pub async fn flush(&self) {
        let all: Vec<_> = {
            let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
            windows.drain().map(|(source, window)| (source, window.counted)).collect()
        };
        for (source, counted) in all {
            self.counted(&source, counted);
        }
        let (done, flushed) = oneshot::channel();
        if self.notes.send(Note::Flush(done)).await.is_ok() {
            let _ = flushed.await;
        }
    }

    /// Those of minutes that are over: whoever calls this now and then hands them over in quiet times too.
    pub fn turn(&self) {
        let now = self.clock.now();
        let over: Vec<_> = {
            let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
            let turned = windows.iter_mut().map(|(source, window)| (source.clone(), window.turn(now)));
            turned.filter(|(_, counted)| !counted.is_empty()).collect()
        };
        for (source, counted) in over {
            self.counted(&source, counted);
        }
    }

    fn counted(&self, source: &Source, counted: HashMap<RefusalCode, u64>) {
        for (code, count) in counted {
            let origin = Origin { input: format!("in/{source}").into(), line: 1 };
            let refusal = Refusal { count, ..Refusal::new(code, origin).of(source.clone()) };
            let _ = self.notes.try_send(Note::Refused(refusal));
        }
    }
}

impl Window {
    /// Begins a new minute if it is time, and gives what the one before only counted.
    fn turn(&mut self, now: Timestamp) -> HashMap<RefusalCode, u64> {
        let minute = now.as_micros().div_euclid(MINUTE);
        if minute == self.minute {
            return HashMap::new();
        }
        (self.minute, self.singly) = (minute, 0);
        std::mem::take(&mut self.counted)
    }
}

async fn hand_over(
    mut waiting: mpsc::Receiver<Note>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
) {
    let mut notes = Vec::new();
    while waiting.recv_many(&mut notes, BATCH_MAX).await > 0 {
        let (mut batch, mut flushed) = (Vec::new(), Vec::new());
        for note in notes.drain(..) {
            match note {
                Note::Refused(refusal) => batch.push(Intake::Refusal(refusal)),
                Note::Flush(done) => flushed.push(done),
            }
        }
        if !batch.is_empty() {
            let count = batch.len();
            if let Err(error) = store.accept(OpId::new(&*clock, &*entropy), Arc::new(batch)).await {
                tracing::error!(code = error.code, count, "refusals could not be recorded");
            }
        }
        for done in flushed {
            let _ = done.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use cola_ia_core::clock::SystemEntropy;
    use cola_ia_core::filter::Filter;
    use cola_ia_core::store::ListRequest;
    use cola_ia_testkit::clock::ManualClock;
    use cola_ia_testkit::model::ModelMemory;

    use super::*;

    #[tokio::test]
    async fn so_many_a_minute_are_kept_singly_and_the_others_are_counted() {
        let clock = ManualClock::default();
        let store: Arc<dyn Store> = Arc::new(ModelMemory::default().store(Arc::new(clock.clone())));
        let metrics = Arc::new(Metrics::new(std::iter::empty()));
        let refusals = Refusals::start(store.clone(), Arc::new(clock.clone()), Arc::new(SystemEntropy), metrics);
        let (hook, web) = (Source::new("hook").unwrap(), Source::new("web").unwrap());
        let note = |source: &Source, code| refusals.note(source, code, "64 bytes", IpAddr::from([192, 0, 2, 1]));
        for _ in 0..REFUSALS_A_MINUTE + 40 {
            note(&hook, RefusalCode::SignatureInvalid);
        }
        note(&web, RefusalCode::BodyTooLarge);
        clock.advance(MINUTE);
        note(&hook, RefusalCode::SignatureMissing);
        refusals.flush().await;
        let listed = store.deliveries(Filter::default(), ListRequest { limit: 1_000, ..ListRequest::default() });
        let kept = listed.await.unwrap().items;
        let of = |source: &Source, code| {
            kept.iter().filter(|one| one.source.as_ref() == Some(source) && one.code == Some(code)).collect::<Vec<_>>()
        };
        let invalid = of(&hook, RefusalCode::SignatureInvalid);
        assert_eq!(invalid.len() as u32, REFUSALS_A_MINUTE + 1);
        assert_eq!(invalid.iter().map(|one| one.count).sum::<u64>(), u64::from(REFUSALS_A_MINUTE) + 40);
        assert_eq!(of(&hook, RefusalCode::SignatureMissing).len(), 1, "a new minute");
        let other = of(&web, RefusalCode::BodyTooLarge);
        assert_eq!(other.len(), 1, "another source has its own count");
        assert_eq!(other[0].origin.as_deref(), Some("in/web from 192.0.2.1:1"));
    }
}
