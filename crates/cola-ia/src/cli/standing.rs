//! What is to be said of sources whose jobs fail one after the other, or that are paused.

use cola_ia_core::event::Source;
use cola_ia_core::job::Streak;
use cola_ia_core::store::{SourceView, Store, StoreError};

use super::jobs::{self, to_the_second};
use crate::config::Warning;
use crate::lang::Message;
use crate::print::id_on_a_line;

/// A warning for each source that is paused, and for each whose failures are worth one.
///
/// # Errors
/// The store's.
pub(super) async fn warnings(store: &dyn Store, views: &[SourceView]) -> Result<Vec<Warning>, StoreError> {
    let mut warnings = Vec::new();
    for view in views {
        if let Some(streak) = view.worth_a_warning() {
            warnings.push(failing(store, &view.source, streak).await?);
        }
        warnings.extend(paused(view));
    }
    Ok(warnings)
}

/// That jobs of the source fail one after the other.
///
/// # Errors
/// The store's.
pub(crate) async fn failing(store: &dyn Store, source: &Source, streak: &Streak) -> Result<Warning, StoreError> {
    let last = match jobs::find(store, streak.event).await {
        // A token that may work need not be one that may look.
        Err(error) if error.code == "server_forbidden" => None,
        found => found?,
    };
    let message = Message::new("source-failing")
        .number("count", u64::from(streak.count))
        .with("source", source)
        .with("class", &streak.class)
        .with("since", to_the_second(streak.since))
        .with("last", last.map_or_else(|| "?".to_owned(), |job| id_on_a_line(&job.id).into_owned()));
    Ok(Warning { message, hint: Some(Message::new("source-failing-hint").with("source", source)) })
}

/// That no job of the source is given to workers, if that is so.
pub(crate) fn paused(view: &SourceView) -> Option<Warning> {
    let since = to_the_second(view.paused_at?);
    let message = |key| Message::new(key).with("source", &view.source).with("since", since);
    let message = match &view.streak {
        Some(streak) => {
            message("source-paused-after").number("count", u64::from(streak.count)).with("class", &streak.class)
        }
        // What was held has ended well since.
        None => message("source-paused"),
    };
    Some(Warning { message, hint: Some(Message::new("source-paused-hint").with("source", &view.source)) })
}
