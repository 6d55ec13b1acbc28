//! Asked of a server.

use super::*;

/// See [`Store::find_events`].
pub(super) async fn find_events(
    _store: &RemoteStore,
    _source: Option<Source>,
    _id: String,
) -> Result<Vec<EventHistory>, StoreError> {
    todo!()
}
