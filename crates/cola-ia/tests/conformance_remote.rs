//! The cases that every store must pass, on a store behind a server: `RemoteStore`, `/v1` and SQLite.

#[path = "../../cola-ia-store/tests/backend/mod.rs"]
mod backend;
#[path = "common/served.rs"]
mod served;

use std::sync::{Arc, Mutex};

use backend::Sqlite;
use cola_ia::remote::RemoteStore;
use cola_ia_core::clock::Timestamp;
use cola_ia_core::intake::EventNumber;
use cola_ia_core::job::JobState;
use cola_ia_core::store::Store;
use cola_ia_testkit::clock::{ManualClock, SeededEntropy};
use cola_ia_testkit::harness::{Backend, Failure, Place, RecordedRefusal};
use served::{Served, TOKEN};

fn main() -> std::process::ExitCode {
    cola_ia_testkit::runner::main(vec![Box::new(Remote(Sqlite { name: "sqlite", slot_bits: 64 }))])
}

struct Remote(Sqlite);

/// A store's place, and the server while the store is open.
struct Behind {
    place: Box<dyn Place>,
    served: Mutex<Option<Served>>,
}

impl Backend for Remote {
    fn name(&self) -> &'static str {
        "remote"
    }

    fn fresh(&self) -> Result<Box<dyn Place>, Failure> {
        Ok(Box::new(Behind { place: self.0.fresh()?, served: Mutex::default() }))
    }
}

impl Place for Behind {
    fn open(&self, clock: ManualClock, entropy: SeededEntropy) -> Result<Arc<dyn Store>, Failure> {
        let store = self.place.open(clock.clone(), entropy.clone())?;
        let served = Served::start(store, Arc::new(clock), Arc::new(entropy))?;
        let remote = RemoteStore::new(&served.url(), TOKEN)?;
        *self.served.lock().map_err(|_| "a test failed")? = Some(served);
        Ok(Arc::new(remote))
    }

    fn close(&self, store: Arc<dyn Store>) -> Result<(), Failure> {
        drop(store);
        let served = self.served.lock().map_err(|_| "a test failed")?.take();
        self.place.close(served.ok_or("the store is open")?.stop()?)
    }

    fn refusals(&self) -> Result<Vec<RecordedRefusal>, Failure> {
        self.place.refusals()
    }

    fn set_job(&self, event: EventNumber, state: JobState, at: Timestamp) -> Result<(), Failure> {
        self.place.set_job(event, state, at)
    }
}
