//! Asked of a server.

use super::*;

/// See [`Store::accept`].
pub(super) async fn accept(_store: &RemoteStore, _op: OpId, _batch: Arc<Vec<Intake>>) -> Result<Accepted, StoreError> {
    todo!()
}

/// See [`Store::preview`].
pub(super) async fn preview(_store: &RemoteStore, _batch: Arc<Vec<Intake>>) -> Result<Vec<Preview>, StoreError> {
    todo!()
}
