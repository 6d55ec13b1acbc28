//! Pruning, exports and imports, the mark of a restored store, backups, and what is wrong with a store.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use cola_ia_core::store::export::EXPORT_PAGE_MAX_RECORDS;
use cola_ia_core::store::{ErrorKind, StoreError, TokenScope};
use cola_ia_store::sqlite::{self, BackedUp, doctor};
use cola_ia_wire::v1::export::{BodyFault, ExportPlace, Imported, read_batch, write_page};
use cola_ia_wire::v1::prune::{PruneStep, Pruned};
use cola_ia_wire::v1::restored::{MarkSaid, Restored, RestoredAt};
use cola_ia_wire::v1::store::{Finding, FindingFact, Findings};
use cola_ia_wire::v1::values::Instant;
use hyper::body::Frame;
use tokio::sync::mpsc;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use super::call::{json, query_malformed, refused, unsupported};
use super::query::{each, read};
use super::{Access, Answer, Body, Call, Doc, Endpoint, Param, Said, Schemas, Verb, schema};
use crate::http::Problem;

/// What a step of pruning or a mark may weigh.
const BODY_MAX_BYTES: usize = 4 << 10;
/// What a batch of an import may weigh: an event enters with all that belongs to it.
const IMPORT_MAX_BYTES: usize = 128 << 20;
/// The media type of lines.
pub(crate) const LINES: &str = "application/x-ndjson";
/// What a backup is.
pub(crate) const BACKUP: &str = "application/vnd.sqlite3";
/// The headers that tell of a backup.
pub(crate) const TAKEN_AT_HEADER: &str = "x-cola-ia-taken-at";
pub(crate) const SCHEMA_HEADER: &str = "x-cola-ia-schema";
pub(crate) const EVENTS_HEADER: &str = "x-cola-ia-events";
/// A backup is sent in pieces of this size.
const PIECE_BYTES: usize = 256 << 10;

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Post,
        path: "/prune",
        access: Access::Scoped(&[TokenScope::Admin], |call| Box::pin(prune(call))),
        doc: Doc {
            group: "keeping",
            id: "prune",
            summary: "One step of pruning",
            text: "Again with `after` set to the answer's `next`, until that is null. Identity, fingerprints and counts stay.",
            params: &[],
            op: true,
            bodies: &[Body::json(schema::<PruneStep>)],
            answers: &[Said { status: 200, text: "What went.", body: Some(Body::json(schema::<Pruned>)) }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Post,
        path: "/prune/preview",
        access: Access::Scoped(&[TokenScope::Admin], |call| Box::pin(prunable(call))),
        doc: Doc {
            group: "keeping",
            id: "previewPrune",
            summary: "What a step of pruning would let go of",
            text: "Nothing is changed.",
            params: &[],
            op: false,
            bodies: &[Body::json(schema::<PruneStep>)],
            answers: &[Said { status: 200, text: "What would go.", body: Some(Body::json(schema::<Pruned>)) }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/export",
        access: Access::Scoped(&[TokenScope::Admin], |call| Box::pin(export(call))),
        doc: Doc {
            group: "keeping",
            id: "export",
            summary: "One page of an export",
            text: "Lines as docs/EXPORT.md describes them: a header, the records, and a last line \
                   `{\"kind\":\"page\",\"next\":…}` that says what `cursor` takes to go on; null where it is over. A page without \
                   that line was cut.",
            params: &[
                Param { name: "limit", text: "About so many records: 1 to 10,000.", required: false, many: false },
                Param { name: "cursor", text: "The `next` of the page before.", required: false, many: false },
            ],
            op: false,
            bodies: &[],
            answers: &[Said { status: 200, text: "The page.", body: Some(Body { media_type: LINES, schema: lines }) }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Post,
        path: "/import",
        access: Access::Scoped(&[TokenScope::Admin], |call| Box::pin(import(call))),
        doc: Doc {
            group: "keeping",
            id: "import",
            summary: "Enter records of an export that are not there yet",
            text: "Lines as docs/EXPORT.md describes them: a header and at most 50,000 records, whole or not at all. Nothing is \
                   overwritten.",
            params: &[],
            op: true,
            bodies: &[Body { media_type: LINES, schema: lines }],
            answers: &[Said {
                status: 200,
                text: "What became of each record, in their order.",
                body: Some(Body::json(schema::<Imported>)),
            }],
            problems: &[
                (409, "import_other_namespace"),
                (409, "currency_other"),
                (422, "batch_too_long"),
                (422, "currency_malformed"),
                (422, "import_out_of_order"),
            ],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/restored",
        access: Access::Scoped(&[TokenScope::Read], |call| Box::pin(restored_at(call))),
        doc: Doc {
            group: "keeping",
            id: "restoredAt",
            summary: "When the store was restored, where it bears that mark",
            text: "",
            params: &[],
            op: false,
            bodies: &[],
            answers: &[Said { status: 200, text: "The mark.", body: Some(Body::json(schema::<RestoredAt>)) }],
            problems: &[],
        },
    },
    Endpoint {
        verb: Verb::Post,
        path: "/restored",
        access: Access::Scoped(&[TokenScope::Admin], |call| Box::pin(restored(call))),
        doc: Doc {
            group: "keeping",
            id: "markRestored",
            summary: "Mark the store as restored, or take the mark away",
            text: "A mark ends all leases, and every effect that is not done counts as begun with its outcome open.",
            params: &[],
            op: true,
            bodies: &[Body::json(schema::<MarkSaid>)],
            answers: &[Said { status: 200, text: "The mark now.", body: Some(Body::json(schema::<Restored>)) }],
            problems: &[(422, "restored_in_future")],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/backup",
        access: Access::Scoped(&[TokenScope::Admin], |call| Box::pin(backup(call))),
        doc: Doc {
            group: "keeping",
            id: "backup",
            summary: "A checked copy of the whole store",
            text: "One file, made and checked before the first byte is sent; `Content-Length` says how long it is. It holds \
                   everything: keep it as you keep the store.",
            params: &[],
            op: false,
            bodies: &[],
            answers: &[Said { status: 200, text: "The file.", body: Some(Body { media_type: BACKUP, schema: bytes }) }],
            problems: &[(503, "backup_full")],
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/doctor",
        access: Access::Scoped(&[TokenScope::Admin], |call| Box::pin(examine(call))),
        doc: Doc {
            group: "keeping",
            id: "doctor",
            summary: "What is wrong with the server's store, and with what is around it",
            text: "May take long: it reads all of the store.",
            params: &[Param {
                name: "quick",
                text: "`true`: look at the newest rows only.",
                required: false,
                many: false,
            }],
            op: false,
            bodies: &[],
            answers: &[Said { status: 200, text: "The findings.", body: Some(Body::json(schema::<Findings>)) }],
            problems: &[],
        },
    },
];

fn lines(_: &mut Schemas) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).into()
}

fn bytes(_: &mut Schemas) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).content_media_type(BACKUP).into()
}

async fn prune(mut call: Call) -> Answer {
    let op = call.op()?;
    let step: PruneStep = call.json(BODY_MAX_BYTES).await?;
    let pruned = call.app.store.prune(op, step.into()).await.map_err(|error| Problem::of_store(&error))?;
    json(&Pruned::from(pruned))
}

async fn prunable(mut call: Call) -> Answer {
    let step: PruneStep = call.json(BODY_MAX_BYTES).await?;
    let pruned = call.app.store.prunable(step.into()).await.map_err(|error| Problem::of_store(&error))?;
    json(&Pruned::from(pruned))
}

async fn export(call: Call) -> Answer {
    let (mut cursor, mut limit) = (None, EXPORT_PAGE_MAX_RECORDS);
    each(&call, |name, value| {
        match name {
            "limit" => limit = read(name, value)?,
            "cursor" => cursor = Some(ExportPlace::read(value).ok_or_else(|| query_malformed(name))?.0),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let page = call.app.store.export(cursor, limit).await.map_err(|error| Problem::of_store(&error))?;
    let body = write_page(page, call.app.clock.now());
    let mut response = Response::new(body.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(LINES));
    Ok(response)
}

async fn import(mut call: Call) -> Answer {
    let op = call.op()?;
    match call.media_type().as_deref() {
        Some(LINES) => {}
        other => return Err(unsupported(other.unwrap_or_default())),
    }
    let body = call.bytes(IMPORT_MAX_BYTES).await?;
    let batch = read_batch(&body.bytes).map_err(|BodyFault { line, fault }| {
        let detail = format!("line {line}: {} {}", fault.code, fault.detail);
        refused(cola_ia_core::intake::RefusalCode::BodyMalformed, 400, detail.trim_end())
    })?;
    let imported = call.app.store.import(op, batch.into()).await.map_err(|error| Problem::of_store(&error))?;
    json(&Imported::from(imported))
}

async fn restored_at(call: Call) -> Answer {
    let at = call.app.store.restored_at().await.map_err(|error| Problem::of_store(&error))?;
    json(&RestoredAt { restored_at: at.map(Instant) })
}

async fn restored(mut call: Call) -> Answer {
    let op = call.op()?;
    let said: MarkSaid = call.json(BODY_MAX_BYTES).await?;
    let restored = call.app.store.restored(op, said.into()).await.map_err(|error| Problem::of_store(&error))?;
    json(&Restored::from(restored))
}

/// Runs what takes long and blocks beside the runtime.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(StoreError::new(ErrorKind::Unavailable, "interrupted")))
        .map_err(|error| Problem::of_store(&error))
}

async fn examine(call: Call) -> Answer {
    let mut quick = false;
    each(&call, |name, value| {
        match name {
            "quick" => quick = read(name, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let app = call.app.clone();
    let findings = beside(move || {
        let settings = &app.settings;
        crate::store::examine(settings, &crate::store::options(settings), quick, &|_| {})
    })
    .await?;
    json(&Findings { findings: findings.iter().map(told).collect() })
}

fn told(finding: &doctor::Finding) -> Finding {
    let facts = finding.facts.iter().map(|(name, fact)| {
        let fact = match fact {
            doctor::Fact::Number(at) if name.ends_with("_at") => {
                FindingFact::Text(cola_ia_core::clock::Timestamp::from_micros(*at).to_rfc3339())
            }
            doctor::Fact::Number(number) => FindingFact::Number(*number),
            doctor::Fact::Text(text) => FindingFact::Text(text.clone()),
        };
        ((*name).to_owned(), fact)
    });
    Finding { severity: finding.severity.as_str().to_owned(), code: finding.code.to_owned(), facts: facts.collect() }
}

/// The copy is made beside the store, where there is room for what is as large as it, and is gone when it was sent.
async fn backup(call: Call) -> Answer {
    each(&call, |_, _| Ok(false))?;
    let options = crate::store::options(&call.app.settings);
    let path =
        crate::store::file(&call.app.settings, "backup").map_err(|error| Problem::of_store(&error))?.to_path_buf();
    let (sender, pieces) = mpsc::channel(2);
    let (made, folder) = beside(move || {
        let folder = scratch(&path)?;
        let made = sqlite::backup(&path, &folder.path().join("backup.sqlite3"), &options, &|_| {})?;
        Ok((made, folder))
    })
    .await?;
    let mut response = Response::new(axum::body::Body::new(Pieces(pieces)));
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(BACKUP));
    headers.insert(header::CONTENT_LENGTH, made.bytes.into());
    headers.insert(SCHEMA_HEADER, made.schema.into());
    headers.insert(EVENTS_HEADER, made.events.into());
    if let Ok(at) = HeaderValue::from_str(&made.taken_at.to_rfc3339()) {
        headers.insert(TAKEN_AT_HEADER, at);
    }
    tokio::task::spawn_blocking(move || send(&made, &sender, folder));
    Ok(response)
}

fn scratch(store: &std::path::Path) -> Result<tempfile::TempDir, StoreError> {
    let folder = store.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    tempfile::Builder::new().prefix(".cola-ia-backup-").tempdir_in(folder).map_err(|cause| {
        StoreError::new(ErrorKind::Unavailable, "backup_io").with("path", folder.display()).with("cause", cause)
    })
}

/// Sends the file piece by piece, as fast as it is taken. Whoever goes away ends it.
fn send(made: &BackedUp, to: &mpsc::Sender<std::io::Result<Bytes>>, folder: tempfile::TempDir) {
    use std::io::Read as _;
    let mut file = match std::fs::File::open(&made.path) {
        Ok(file) => file,
        Err(cause) => {
            let _ = to.blocking_send(Err(cause));
            return;
        }
    };
    // It is read from the open file alone: nothing is left where the process is killed meanwhile.
    drop(folder);
    loop {
        let mut piece = vec![0; PIECE_BYTES];
        let piece = match file.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => {
                piece.truncate(length);
                Ok(Bytes::from(piece))
            }
            Err(cause) => Err(cause),
        };
        let is_last = piece.is_err();
        if to.blocking_send(piece).is_err() || is_last {
            return;
        }
    }
}

/// A body of pieces that come from elsewhere.
struct Pieces(mpsc::Receiver<std::io::Result<Bytes>>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
