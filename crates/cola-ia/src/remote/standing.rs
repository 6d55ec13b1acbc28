//! What the store is, how sources stand, and whether something was committed.

use cola_ia_wire::v1::filter::filter_pairs;
use cola_ia_wire::v1::stats::Stats as StatsShape;
use cola_ia_wire::v1::store::{Changes, Namespace, Resumed, Sources};

#[allow(clippy::wildcard_imports, reason = "the parts of one implementation")]
use super::*;
use crate::http::api::standing::{SOURCES_BY, STATS_BY};

/// See [`Store::stats`].
pub(super) async fn stats(store: &RemoteStore, filter: Filter) -> Result<Stats, StoreError> {
    store.ask::<StatsShape>(Ask::get("/stats", &filter_pairs(&filter, STATS_BY))).await.map(Into::into)
}

/// See [`Store::sources`].
pub(super) async fn sources(store: &RemoteStore, filter: Filter) -> Result<Vec<SourceView>, StoreError> {
    let found: Sources = store.ask(Ask::get("/sources", &filter_pairs(&filter, SOURCES_BY))).await?;
    Ok(found.sources.into_iter().map(Into::into).collect())
}

/// See [`Store::resume`].
pub(super) async fn resume(store: &RemoteStore, op: OpId, source: Source) -> Result<bool, StoreError> {
    let path = format!("/sources/{source}/resume");
    store.ask::<Resumed>(Ask::bare(&path).as_op(op)).await.map(|found| found.resumed)
}

/// See [`Store::changes`].
pub(super) async fn changes(store: &RemoteStore) -> Result<u64, StoreError> {
    store.ask::<Changes>(Ask::get("/changes", &[])).await.map(|found| found.changes)
}

impl RemoteStore {
    /// As [`Store::changes`], answered when the number is another one than this, or when that has been waited for so long: one
    /// request in place of many.
    ///
    /// # Errors
    /// As [`Store::changes`].
    pub async fn changes_after(&self, seen: u64, wait: Duration) -> Result<u64, StoreError> {
        let pairs = [("seen", seen.to_string()), ("wait_ms", wait.as_millis().to_string())];
        self.ask::<Changes>(Ask::get("/changes", &pairs).waiting(wait)).await.map(|found| found.changes)
    }
}

/// See [`Store::namespace`].
pub(super) async fn namespace(store: &RemoteStore) -> Result<[u8; 16], StoreError> {
    store.ask::<Namespace>(Ask::get("/namespace", &[])).await.map(|found| found.namespace.0)
}
