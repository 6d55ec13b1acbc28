//! What is known of an identity.

use cola_ia_wire::v1::event::Events;

#[allow(clippy::wildcard_imports, reason = "the parts of one implementation")]
use super::*;

/// See [`Store::find_events`].
pub(super) async fn find_events(
    store: &RemoteStore,
    source: Option<Source>,
    id: String,
) -> Result<Vec<EventHistory>, StoreError> {
    let mut pairs = vec![("id", id)];
    pairs.extend(source.map(|source| ("source", source.to_string())));
    let found: Events = store.ask(Ask::get("/events", &pairs)).await?;
    Ok(found.events.into_iter().map(Into::into).collect())
}
