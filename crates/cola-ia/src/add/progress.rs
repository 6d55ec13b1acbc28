//! What a person sees while a long input is read: bytes done, rate, time left.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::Session;
use crate::cli::add::{AddOptions, Tally};
use crate::lang::Lang;

/// A bar on stderr, or nothing where nobody sees it.
///
/// Only where stdout goes elsewhere: on a screen that shows the answers themselves a bar would be in their way.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    bytes: Arc<AtomicU64>,
    lang: Lang,
}

impl Progress {
    /// `size`: of all inputs together, where they have one.
    pub(super) fn new(session: &Session, options: &AddOptions, size: Option<u64>) -> Self {
        let shown =
            options.progress && !session.quiet && std::io::stderr().is_terminal() && !std::io::stdout().is_terminal();
        let bar = shown.then(|| {
            let (bar, template) = match size {
                Some(size) => (
                    ProgressBar::new(size),
                    "{bar:30} {percent:>3} %  {binary_bytes}/{binary_total_bytes}  {binary_bytes_per_sec}  {eta}  {msg}",
                ),
                None => (ProgressBar::no_length(), "{spinner} {binary_bytes}  {binary_bytes_per_sec}  {msg}"),
            };
            bar.set_draw_target(ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { bar, bytes: Arc::default(), lang: session.lang.clone() }
    }

    /// Counts the bytes that were read, as packed.
    pub(super) const fn bytes(&self) -> &Arc<AtomicU64> {
        &self.bytes
    }

    /// A batch is stored and answered.
    pub(super) fn batch(&self, tally: &Tally) {
        if let Some(bar) = &self.bar {
            bar.set_position(self.bytes.load(Ordering::Relaxed));
            bar.set_message(tally.summary(false).in_prose(&self.lang));
        }
    }

    /// Runs something that writes to the terminal, with the bar out of its way.
    pub(super) fn hidden<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
