//! What all calls of an opened store share: connections, the clock, and the patience with a server that cannot just now.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cola_ia_core::clock::{Clock, Entropy};
use cola_ia_core::store::{ErrorKind, StoreError};
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};

use super::address::Address;
use super::due::Watermarks;
use super::error::{Fault, Remedy};
use super::options::Options;
use super::tx::{Begins, Kind, Tx};
use crate::common::digest::digest;

/// What a verb gives back: it runs inside a transaction and borrows it.
pub(super) type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;

/// A verb: what it does with what was asked.
pub(super) type Verb<A, T> = for<'a> fn(&'a Tx, &'a A) -> Work<'a, T>;

/// The first pause before a call runs again; each further one is twice as long, up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

pub(super) struct Shared {
    pub(super) pool: Pool,
    pub(super) address: Address,
    pub(super) begins: Begins,
    /// In the place of the server's clock.
    pub(super) clock: Option<Arc<dyn Clock>>,
    pub(super) entropy: Arc<dyn Entropy>,
    pub(super) fold_after: u32,
    pub(super) names: Names,
    /// How far claims of this process have come.
    pub(super) watermarks: Watermarks,
    patience: Duration,
    /// Whether the server was ever there: an address that is wrong is told at once.
    met: AtomicBool,
}

impl Shared {
    /// Connects to nobody yet.
    pub(super) fn new(address: &Address, options: &Options) -> Result<Self, StoreError> {
        let mut config = address.config.clone();
        // A server that is gone without a word is noticed.
        config.keepalives_idle(Duration::from_secs(30)).tcp_user_timeout(Duration::from_secs(30));
        let connector = address.tls.connector(&address.to_string())?;
        let manager =
            Manager::from_config(config, connector, ManagerConfig { recycling_method: RecyclingMethod::Fast });
        let wait = Some(options.patience.max(Duration::from_secs(1)));
        let timeouts = Timeouts { wait, create: wait, recycle: wait };
        let pool = Pool::builder(manager)
            .max_size(options.connections.max(2))
            .timeouts(timeouts)
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|cause| Fault::Damage(cause.to_string()).answer(&address.to_string()))?;
        Ok(Self {
            pool,
            begins: Begins::new(&quoted(&address.schema), lock_of(&address.schema)),
            address: address.clone(),
            clock: options.clock.clone(),
            entropy: Arc::clone(&options.entropy),
            fold_after: options.fold_after,
            names: Names::default(),
            watermarks: Watermarks::default(),
            patience: options.patience,
            met: AtomicBool::new(false),
        })
    }

    /// Runs a verb in a transaction and answers after its commit. Where the server, a lock or the network is in the way it runs
    /// again, whole: `work` must change nothing but the database, and a repetition of what was committed must give the first
    /// answer.
    pub(super) async fn run<A, T>(self: &Arc<Self>, kind: Kind, asked: &A, work: Verb<A, T>) -> Result<T, StoreError> {
        let until = Instant::now() + self.patience;
        let mut pause = PAUSE;
        loop {
            let fault = match self.once(kind, asked, work).await {
                Ok(answer) => {
                    if kind == Kind::Alone {
                        // What was imported, or whose source goes on, has been due for long.
                        self.watermarks.forget();
                    }
                    return Ok(answer);
                }
                Err(fault) => fault,
            };
            let remedy = fault.remedy();
            if remedy == Remedy::Reconnect {
                // The server may be another one now, with a state of its own.
                self.names.forget();
            }
            let gives_up = match remedy {
                Remedy::Nothing => true,
                Remedy::Again => false,
                Remedy::Reconnect => !self.met.load(Ordering::Relaxed),
            };
            if gives_up || Instant::now() + pause > until {
                let answer = fault.answer(&self.address.to_string());
                return Err(if answer.code == "store_locked" {
                    answer.with("seconds", self.patience.as_secs())
                } else {
                    answer
                });
            }
            tokio::time::sleep(shaken(pause)).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn once<A, T>(self: &Arc<Self>, kind: Kind, asked: &A, work: Verb<A, T>) -> Result<T, Fault> {
        let tx = Tx::begin(self, kind).await?;
        self.met.store(true, Ordering::Relaxed);
        match work(&tx, asked).await {
            Ok(answer) => tx.commit().await.map(|()| answer),
            Err(fault) => {
                tx.roll_back().await;
                Err(fault)
            }
        }
    }
}

/// Half to all of a pause: those who got in each other's way do not meet again.
fn shaken(pause: Duration) -> Duration {
    let mut random = [0_u8; 2];
    // Not the store's randomness: how often calls are repeated must not change what it gives.
    let _ = getrandom::fill(&mut random);
    pause / 2 + pause.mul_f64(f64::from(u16::from_le_bytes(random)) / f64::from(u16::MAX) / 2.0)
}

/// The answer of a store that is gone.
pub(super) fn closed() -> StoreError {
    StoreError::new(ErrorKind::Unavailable, "store_closed")
}

/// A name in SQL.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The advisory lock of a schema's store. Two schemas of a database that share one only wait for each other.
pub(super) fn lock_of(schema: &str) -> i64 {
    digest(&[b"cola-ia", schema.as_bytes()])
}

/// Rows of sources by their names. They never change, so they are read once.
#[derive(Default)]
pub(super) struct Names(Mutex<HashMap<String, i64>>);

/// Names that are kept: beyond it all are read again.
const NAMES_MAX: usize = 10_000;

impl Names {
    /// Those that are known, and the names of the others.
    pub(super) fn known<'a>(&self, names: &[&'a str]) -> (HashMap<String, i64>, Vec<&'a str>) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut known, mut missing) = (HashMap::new(), Vec::new());
        for name in names {
            match all.get(*name) {
                Some(row) => drop(known.insert((*name).to_owned(), *row)),
                None => missing.push(*name),
            }
        }
        (known, missing)
    }

    pub(super) fn learn(&self, rows: &HashMap<String, i64>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() > NAMES_MAX {
            all.clear();
        }
        all.extend(rows.iter().map(|(name, row)| (name.clone(), *row)));
    }

    pub(super) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
