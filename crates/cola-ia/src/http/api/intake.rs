//! Events that are handed over: one, many as lines, or a batch that is recorded as one.

use std::sync::Arc;

use axum::http::StatusCode;
use cola_ia_core::event::{Delivery, Origin, Source};
use cola_ia_core::intake::{Intake, Refusal, RefusalCode};
use cola_ia_core::store::TokenScope;
use cola_ia_core::verdict::Verdict;
use cola_ia_wire::v1::intake::{Batch, IntakeItem, LineAnswer, PreviewOf, Previews, Receipts};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use super::call::{json, json_as, query_malformed, refused, store_error, unsupported};
use super::lines;
use super::{Access, Answer, Body, Call, Doc, Endpoint, Param, Said, Schemas, Verb, schema};
use crate::http::Problem;
use crate::intake::{LineParser, ParsedLine, Settings};

/// Bytes of the body of a batch.
pub(crate) const BATCH_MAX_BYTES: usize = 64 << 20;
/// What deliveries of this API name as their input.
pub(super) const INPUT: &str = "v1/events";
/// The media type of lines, as it is described; some others are taken, too.
const LINES: &str = "application/x-ndjson";

const BODIES: [Body; 2] =
    [Body { media_type: "application/json", schema: input_line }, Body { media_type: LINES, schema: input_line }];

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Post,
        path: "/events",
        access: Access::Scoped(&[TokenScope::Ingest], |call| Box::pin(events(call))),
        doc: Doc {
            group: "intake",
            id: "add_events",
            summary: "Hand events over",
            text: "One JSON object, answered by the status; or lines of such objects (`application/x-ndjson`, also packed with gzip or \
                   zstd), answered line by line in their order while they come, with 200. A line is answered once it is durable. \
                   The rules are those of `cola-ia add`. Read the answers while you send, or send at most 100,000 lines at a \
                   time.",
            params: &[Param {
                name: "source",
                text: "The source of all the events; one that names another is refused.",
                required: false,
                many: false,
            }],
            op: false,
            bodies: &BODIES,
            answers: &[
                Said {
                    status: 200,
                    text: "`duplicate`; or an answer for each line.",
                    body: Some(Body::json(schema::<LineAnswer>)),
                },
                Said { status: 201, text: "`new`: it entered.", body: Some(Body::json(schema::<LineAnswer>)) },
                Said {
                    status: 409,
                    text: "`conflict`: this identity has another content. It is kept and shown; sending it again changes nothing.",
                    body: Some(Body::json(schema::<LineAnswer>)),
                },
            ],
            problems: &[(403, "source_not_allowed"), (408, "body_too_slow"), (422, "id_missing"), (503, "server_busy")],
        },
    },
    Endpoint {
        verb: Verb::Post,
        path: "/batches",
        access: Access::Scoped(&[TokenScope::Ingest], |call| Box::pin(batches(call))),
        doc: Doc {
            group: "intake",
            id: "add_batch",
            summary: "Hand a batch over that is recorded as one: all of it, or nothing",
            text: "",
            params: &[],
            op: true,
            bodies: &[Body::json(schema::<Batch>)],
            answers: &[Said {
                status: 200,
                text: "What the gate says to each member.",
                body: Some(Body::json(schema::<Receipts>)),
            }],
            problems: &[(403, "source_not_allowed"), (422, "batch_too_long"), (422, "text_too_long")],
        },
    },
    Endpoint {
        verb: Verb::Post,
        path: "/batches/preview",
        access: Access::Scoped(&[TokenScope::Ingest], |call| Box::pin(preview(call))),
        doc: Doc {
            group: "intake",
            id: "preview_batch",
            summary: "What the gate would say to a batch",
            text: "Members are compared with what the store holds now, and not with each other. Nothing is recorded.",
            params: &[],
            op: false,
            bodies: &[Body::json(schema::<Batch>)],
            answers: &[Said {
                status: 200,
                text: "What the gate would say to each member.",
                body: Some(Body::json(schema::<Previews>)),
            }],
            problems: &[(403, "source_not_allowed"), (422, "text_too_long")],
        },
    },
];

/// The shape of an input line, whose rules are those of a reader of its own.
fn input_line(_: &mut Schemas) -> RefOr<Schema> {
    let text = |about: &str| ObjectBuilder::new().schema_type(Type::String).description(Some(about)).build();
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("Every other field is ignored and not stored. The Spanish names `texto`, `tipo`, `fecha` and `origen` do as well."))
        .property("id", text("The sender's name for the event: not blank, at most 1,024 bytes, no control characters."))
        .property("text", text("What it says: not blank, at most 1 MiB unless the server is configured otherwise."))
        .property("type", text("What kind of event it is."))
        .property("time", text("When it happened at the provider, RFC 3339."))
        .property("source", text("Who sends: `[a-z0-9][a-z0-9._-]{0,63}`; `default` where none is named."))
        .required("id")
        .required("text")
        .into()
}

/// What lines are measured against.
fn settings(call: &Call) -> Result<Settings, Problem> {
    let mut source = None;
    for (name, value) in call.pairs()? {
        match &*name {
            "source" if source.is_none() => {
                let named = Source::new(&value).map_err(|code| refused(code, 422, ""))?;
                may_ingest(call, &named)?;
                source = Some(named);
            }
            other => return Err(query_malformed(other)),
        }
    }
    let settings = &call.app.settings;
    Ok(Settings {
        max_line_bytes: settings.max_line_bytes,
        max_text_bytes: settings.max_text_bytes,
        source,
        default_source: settings.default_source.clone(),
        ..Settings::default()
    })
}

fn may_ingest(call: &Call, source: &Source) -> Result<(), Problem> {
    if call.caller.may_ingest(source) { Ok(()) } else { Err(not_allowed(source.as_str())) }
}

fn not_allowed(source: &str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "source_not_allowed").detail(source)
}

async fn events(mut call: Call) -> Answer {
    let settings = settings(&call)?;
    match call.media_type().as_deref() {
        Some("application/json") => one(&mut call, &settings).await,
        Some(LINES | "application/ndjson" | "application/jsonl" | "application/x-jsonl") => {
            lines::answer(call, settings).await
        }
        other => Err(unsupported(other.unwrap_or_default())),
    }
}

/// One event, as a line would be.
async fn one(call: &mut Call, settings: &Settings) -> Answer {
    let whole = call.bytes(settings.max_line_bytes).await?;
    let line = whole.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&whole.bytes);
    let origin = Origin { input: INPUT.into(), line: 1 };
    let item = match LineParser::new(settings).parse(line) {
        Ok(ParsedLine { source, id, content, event_type, time }) => {
            may_ingest(call, &source)?;
            Intake::Delivery(Delivery { source, id, content, event_type, time, origin, body: None })
        }
        Err(refusal) => {
            let mut told = Refusal::new(refusal.code, origin).about(&refusal.detail);
            told.column = refusal.column;
            told.source.clone_from(&settings.source);
            Intake::Refusal(told)
        }
    };
    let receipts = call.app.gate.enter(vec![item.clone()]).await.map_err(|error| store_error(&error))?;
    let receipt = receipts.first().ok_or_else(|| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "server_fault"))?;
    let answer = LineAnswer::new(&item, receipt);
    match receipt.verdict {
        Verdict::New => json_as(StatusCode::CREATED, &answer),
        Verdict::Duplicate => json(&answer),
        Verdict::Conflict => json_as(StatusCode::CONFLICT, &answer),
        Verdict::Invalid => {
            let Intake::Refusal(refusal) = &item else {
                return Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "server_fault"));
            };
            let mut problem = refused(refusal.code, 422, &refusal.detail);
            problem.body.facts.insert("delivery".to_owned(), receipt.number.0.to_string());
            Err(problem)
        }
    }
}

/// The members of a batch, all of sources that the caller may hand over.
async fn members(call: &mut Call) -> Result<Arc<Vec<Intake>>, Problem> {
    let batch: Batch = call.json(BATCH_MAX_BYTES).await?;
    let max = call.app.settings.max_text_bytes;
    let mut members = Vec::with_capacity(batch.intake.len());
    for (index, item) in batch.intake.into_iter().enumerate() {
        match item.source() {
            Some(source) => may_ingest(call, source)?,
            None if call.caller.is_bound() => return Err(not_allowed("")),
            None => {}
        }
        let member =
            IntakeItem::read(item, max).map_err(|code: RefusalCode| refused(code, 422, &format!("intake[{index}]")))?;
        members.push(member);
    }
    Ok(Arc::new(members))
}

async fn batches(mut call: Call) -> Answer {
    let op = call.op()?;
    let members = members(&mut call).await?;
    let accepted = call.app.store.accept(op, members).await.map_err(|error| store_error(&error))?;
    json(&Receipts::from(accepted))
}

async fn preview(mut call: Call) -> Answer {
    let members = members(&mut call).await?;
    let previews = call.app.store.preview(members).await.map_err(|error| store_error(&error))?;
    json(&Previews { previews: previews.into_iter().map(PreviewOf::from).collect() })
}
