//! An interrupt stops between batches; a second one stops now.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cola_ia_store::sqlite::Patience;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::cli::{Exit, Session};
use crate::lang::Message;

/// Whether somebody asked to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on. At the first signal `stop` is called.
    ///
    /// # Errors
    /// What the operating system says.
    pub(crate) fn listen(stop: impl Fn() + Send + 'static) -> io::Result<Self> {
        let interrupt = Self::default();
        let asked = interrupt.clone();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        // Beyond a limit on file sizes a write is to fail, with a message, and not to kill.
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            for _ in signals.forever() {
                if asked.0.swap(true, Ordering::SeqCst) {
                    // A commit in flight is the store's own business: it is whole or it is not there.
                    std::process::exit(Exit::Interrupted.code().into());
                }
                stop();
            }
        })?;
        Ok(interrupt)
    }

    /// Whether a signal came.
    pub(crate) fn came(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// When a wait is first mentioned, and how often.
const FIRST_WORD: Duration = Duration::from_secs(2);
const NEXT_WORD: Duration = Duration::from_secs(10);

/// Says that a lock is waited for, and stops waiting at an interrupt.
pub(crate) struct LockWait {
    interrupt: Interrupt,
    session: Session,
    said: std::sync::Mutex<Option<Instant>>,
}

impl LockWait {
    pub(crate) fn new(interrupt: Interrupt, session: Session) -> Self {
        Self { interrupt, session, said: std::sync::Mutex::default() }
    }
}

impl Patience for LockWait {
    fn waiting(&self, waited: Duration) {
        let Ok(mut said) = self.said.lock() else { return };
        let due = said.map_or(waited >= FIRST_WORD, |last| last.elapsed() >= NEXT_WORD);
        if due {
            *said = Some(Instant::now());
            self.session.note(&Message::new("store-waiting").number("seconds", waited.as_secs()));
        }
    }

    fn is_over(&self) -> bool {
        self.interrupt.came()
    }
}
