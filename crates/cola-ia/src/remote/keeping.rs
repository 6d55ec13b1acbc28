//! Pruning, erasing, the mark of a restored store, backups, and what is wrong with a store.

use cola_ia_store::sqlite::doctor;
use cola_ia_wire::v1::erase::{EraseAnswer, EraseStep};
use cola_ia_wire::v1::prune::{PruneStep, Pruned as PrunedShape};
use cola_ia_wire::v1::restored::{MarkSaid, Restored as RestoredShape, RestoredAt};
use cola_ia_wire::v1::store::{FindingFact, Findings};
use http_body_util::BodyExt as _;

#[allow(clippy::wildcard_imports, reason = "the parts of one implementation")]
use super::*;
use crate::http::api::keeping::{EVENTS_HEADER, SCHEMA_HEADER, TAKEN_AT_HEADER};

/// How long a server may take until it has made a backup, or has looked at all of its store.
const LONG: Duration = Duration::from_hours(1);

/// See [`Store::prune`].
pub(super) async fn prune(store: &RemoteStore, op: OpId, request: PruneRequest) -> Result<Pruned, StoreError> {
    store.ask::<PrunedShape>(Ask::post("/prune", &PruneStep::from(request)).as_op(op)).await.map(Into::into)
}

/// See [`Store::prunable`].
pub(super) async fn prunable(store: &RemoteStore, request: PruneRequest) -> Result<Pruned, StoreError> {
    store.ask::<PrunedShape>(Ask::post("/prune/preview", &PruneStep::from(request))).await.map(Into::into)
}

/// See [`Store::erase`].
pub(super) async fn erase(store: &RemoteStore, op: OpId, request: EraseRequest) -> Result<Option<Erased>, StoreError> {
    let ask = Ask::post("/events/erase", &EraseStep::from(request)).as_op(op);
    Ok(store.ask::<EraseAnswer>(ask).await?.erased.map(Into::into))
}

/// See [`Store::restored`].
pub(super) async fn restored(store: &RemoteStore, op: OpId, mark: RestoredMark) -> Result<Restored, StoreError> {
    store.ask::<RestoredShape>(Ask::post("/restored", &MarkSaid::from(mark)).as_op(op)).await.map(Into::into)
}

/// See [`Store::restored_at`].
pub(super) async fn restored_at(store: &RemoteStore) -> Result<Option<Timestamp>, StoreError> {
    let found: RestoredAt = store.ask(Ask::get("/restored", &[])).await?;
    Ok(found.restored_at.map(|at| at.0))
}

/// What a server told of a backup that it sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Its bytes.
    pub bytes: u64,
    /// All that was answered before this instant is in it.
    pub taken_at: Timestamp,
    /// The schema's version.
    pub schema: u32,
    /// Events in it.
    pub events: u64,
}

impl RemoteStore {
    /// Receives a backup of the server's store, piece by piece. `take` is given each with the size of the whole, and stops it by
    /// an error.
    ///
    /// # Errors
    /// The server's; `server_unreachable` where it ends too early; that of `take`.
    pub async fn backup<E: From<StoreError>>(
        &self,
        mut take: impl FnMut(&[u8], u64) -> Result<(), E>,
    ) -> Result<Received, E> {
        // Its pieces are awaited here, and the connection is driven by the runtime of this store.
        let (transport, ask) = (self.transport.clone(), Ask::get("/backup", &[]).waiting(LONG));
        let response = self.inside(async move { transport.stream(&ask).await }).await?;
        let headers = response.headers();
        let number = |name: &str| headers.get(name)?.to_str().ok()?.parse::<u64>().ok();
        let at = headers.get(TAKEN_AT_HEADER).and_then(|at| Timestamp::parse_rfc3339(at.to_str().ok()?));
        let (Some(bytes), Some(schema), Some(events), Some(taken_at)) =
            (number("content-length"), number(SCHEMA_HEADER), number(EVENTS_HEADER), at)
        else {
            return Err(error::nonsense(self.server(), &"no backup").into());
        };
        let mut body = response.into_body();
        let mut received = 0;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|cause| error::unreachable(self.server(), &error::Chain(&cause)))?;
            if let Some(piece) = frame.data_ref() {
                received += piece.len() as u64;
                take(piece, bytes)?;
            }
        }
        if received != bytes {
            return Err(error::unreachable(self.server(), &"the backup was cut").into());
        }
        Ok(Received { bytes, taken_at, schema: u32::try_from(schema).unwrap_or(u32::MAX), events })
    }

    /// What is wrong with the server's store. `quick`: only of the newest rows.
    ///
    /// # Errors
    /// The server's.
    pub async fn examine(&self, quick: bool) -> Result<Vec<doctor::Finding>, StoreError> {
        let found: Findings = self.ask(Ask::get("/doctor", &[("quick", quick.to_string())]).waiting(LONG)).await?;
        let known = |finding: cola_ia_wire::v1::store::Finding| {
            let facts = finding.facts.into_iter().map(|(name, fact)| {
                let fact = match fact {
                    FindingFact::Number(number) => doctor::Fact::Number(number),
                    // Instants are numbers on this side.
                    FindingFact::Text(text) => {
                        match Timestamp::parse_rfc3339(&text).filter(|_| name.ends_with("_at")) {
                            Some(at) => doctor::Fact::Number(at.as_micros()),
                            None => doctor::Fact::Text(text),
                        }
                    }
                };
                (error::word(&name), fact)
            });
            let severity = match &*finding.severity {
                "ok" => doctor::Severity::Ok,
                "note" => doctor::Severity::Note,
                "warning" => doctor::Severity::Warning,
                _ => doctor::Severity::Error,
            };
            doctor::Finding { code: error::word(&finding.code), severity, facts: facts.collect() }
        };
        Ok(found.findings.into_iter().map(known).collect())
    }
}
