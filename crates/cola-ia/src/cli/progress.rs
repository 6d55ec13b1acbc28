//! What commands that take long have in common: an interrupt ends them, and a person at a terminal sees how far they are.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use cola_ia_core::store::StoreError;
use cola_ia_store::sqlite::{Options, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Exit, Problem, Session};
use crate::add::interrupt::{Interrupt, LockWait};
use crate::config::Settings;
use crate::lang::{Lang, Message};

/// How the settings say a store is opened, with an interrupt that ends every wait.
///
/// # Errors
/// Signals cannot be listened for.
pub(super) fn interruptible(session: &Session, settings: &Settings) -> Result<Options, Problem> {
    let interrupt =
        Interrupt::listen(|| ()).map_err(|cause| Problem::failed(Message::new("signals-failed").caused_by(&cause)))?;
    Ok(Options { patience: Arc::new(LockWait::new(interrupt, session.clone())), ..crate::store::options(settings) })
}

/// Why a command stopped that changes nothing until it ends.
pub(super) fn problem(error: &StoreError) -> Problem {
    if error.code == "interrupted" {
        return Problem::new(Exit::Interrupted, Message::new("keeping-interrupted"));
    }
    Problem::from_store(error)
}

/// A bar on stderr, or nothing where nobody sees it.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    lang: Lang,
}

impl Progress {
    pub(super) fn new(session: &Session, wanted: bool) -> Self {
        let shown = wanted && !session.quiet && std::io::stderr().is_terminal();
        let bar = shown.then(|| {
            let bar = ProgressBar::no_length();
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let progress = Self { bar, lang: session.lang.clone() };
        progress.style("{spinner} {msg}");
        progress
    }

    fn style(&self, template: &str) {
        if let (Some(bar), Ok(style)) = (&self.bar, ProgressStyle::with_template(template)) {
            bar.set_style(style);
        }
    }

    /// A stage of a backup or of a restore.
    pub(super) fn stage(&self, stage: Stage) {
        let Some(bar) = &self.bar else { return };
        if let Stage::Copy { done, of } = stage {
            if bar.length() != Some(of) {
                bar.set_length(of);
                self.style(
                    "{bar:30} {percent:>3} %  {binary_bytes}/{binary_total_bytes}  {binary_bytes_per_sec}  {eta}",
                );
            }
            bar.set_position(done);
        } else {
            let key = if stage == Stage::Check { "progress-check" } else { "progress-place" };
            self.say(&Message::new(key));
        }
    }

    /// Something without a length.
    pub(super) fn say(&self, message: &Message) {
        if let Some(bar) = &self.bar {
            self.style("{spinner} {msg}");
            bar.set_message(message.in_prose(&self.lang));
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Bytes as people read them: `1.50 MiB`.
pub(super) fn size(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}
