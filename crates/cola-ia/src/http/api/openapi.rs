//! `/v1` described, as `OpenAPI` has it: made of the table of endpoints.

use std::collections::BTreeMap;

use cola_ia_core::store::TokenScope;
use cola_ia_wire::Problem as ProblemShape;
use utoipa::openapi::content::Content;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, Paths};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder, ResponsesBuilder};
use utoipa::openapi::schema::{ArrayBuilder, ComponentsBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{InfoBuilder, OpenApi, OpenApiBuilder, RefOr, Required};

use super::call::json;
use super::describe::{Schemas, schema};
use super::{Access, Answer, Body, Doc, Endpoint, Said, Verb, endpoints};
use crate::http::App;

/// The name of the security scheme.
const SCHEME: &str = "token";

pub(super) const ENDPOINTS: &[Endpoint] = &[Endpoint {
    verb: Verb::Get,
    path: "/openapi.json",
    access: Access::Open(describe),
    doc: Doc {
        group: "description",
        id: "openapi",
        summary: "This description",
        text: "Open to everybody: it tells nothing of the store.",
        params: &[],
        op: false,
        bodies: &[],
        answers: &[Said { status: 200, text: "The description.", body: Some(Body::json(any_object)) }],
        problems: &[],
    },
}];

fn any_object(_: &mut Schemas) -> RefOr<Schema> {
    ObjectBuilder::new().into()
}

fn describe(_: &App) -> Answer {
    json(&openapi())
}

/// The description of all endpoints.
pub fn openapi() -> OpenApi {
    let mut schemas = Schemas::new();
    let problem = schema::<ProblemShape>(&mut schemas);
    let mut paths = Paths::new();
    for endpoint in endpoints() {
        let operation = operation(endpoint, &mut schemas, &problem);
        let method = match endpoint.verb {
            Verb::Get => HttpMethod::Get,
            Verb::Post => HttpMethod::Post,
            Verb::Put => HttpMethod::Put,
        };
        paths.add_path_operation(format!("/v1{}", endpoint.path), vec![method], operation);
    }
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("cia_…").description(Some(
        "A token of `cola-ia token create`. Its scopes: `ingest` (hand events over; a token may name the sources), `work` \
         (claim jobs and say what became of them and of their effects), `read` (look at everything but tokens), `operate` \
         (resolve, retry, cancel, replay, resume, budgets), `admin` (everything).",
    ));
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("cola-ia")
                .version("v1")
                .description(Some("The inbox that lets an event into an AI pipeline once. See docs/API.md."))
                .build(),
        )
        .paths(paths)
        .components(Some(
            ComponentsBuilder::new()
                .schemas_from_iter(schemas)
                .security_scheme(SCHEME, SecurityScheme::Http(scheme.build()))
                .build(),
        ))
        .build()
}

fn operation(endpoint: &Endpoint, schemas: &mut Schemas, problem: &RefOr<Schema>) -> Operation {
    let doc = &endpoint.doc;
    let mut responses: BTreeMap<u16, Response> = BTreeMap::new();
    for said in doc.answers {
        responses.insert(said.status, answer(said, schemas));
    }
    for (status, codes) in problems(endpoint) {
        let text =
            format!("A problem: {}.", codes.iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", "));
        let content = Content::new(Some(problem.clone()));
        // Where a status is an answer too, its body says which.
        let response = responses.entry(status).or_insert_with(|| Response::new(text.clone()));
        response.content.insert("application/problem+json".to_owned(), content.into());
    }
    let responses = responses.into_iter().map(|(status, response)| (status.to_string(), response));
    let mut operation = OperationBuilder::new()
        .tag(doc.group)
        .operation_id(Some(doc.id))
        .summary(Some(doc.summary))
        .responses(ResponsesBuilder::new().responses_from_iter(responses).build());
    if !doc.text.is_empty() {
        operation = operation.description(Some(doc.text));
    }
    for parameter in parameters(endpoint) {
        operation = operation.parameter(parameter);
    }
    if !doc.bodies.is_empty() {
        operation = operation.request_body(Some(body(doc.bodies, schemas)));
    }
    if let Access::Scoped(scopes, _) = endpoint.access {
        // Any one of them will do, and `admin` always does.
        let admin = (!scopes.contains(&TokenScope::Admin)).then_some(&TokenScope::Admin);
        for scope in scopes.iter().chain(admin) {
            operation = operation.security(SecurityRequirement::new(SCHEME, [scope.as_str()]));
        }
    }
    operation.build()
}

fn answer(said: &Said, schemas: &mut Schemas) -> Response {
    let response = ResponseBuilder::new().description(said.text);
    match &said.body {
        Some(body) => response.content(body.media_type, Content::new(Some((body.schema)(schemas)))).build(),
        None => response.build(),
    }
}

fn body(bodies: &[Body], schemas: &mut Schemas) -> RequestBody {
    let mut built = RequestBodyBuilder::new().required(Some(Required::True));
    for body in bodies {
        built = built.content(body.media_type, Content::new(Some((body.schema)(schemas))));
    }
    built.build()
}

fn parameters(endpoint: &Endpoint) -> Vec<Parameter> {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let mut parameters: Vec<Parameter> = Vec::new();
    for param in endpoint.doc.params {
        let in_path = endpoint.path.contains(&format!("{{{}}}", param.name));
        let built = ParameterBuilder::new()
            .name(param.name)
            .description(Some(param.text))
            .parameter_in(if in_path { ParameterIn::Path } else { ParameterIn::Query })
            .required(if in_path || param.required { Required::True } else { Required::False });
        let built = if param.many {
            built.schema(Some(ArrayBuilder::new().items(text()).build()))
        } else {
            built.schema(Some(text().build()))
        };
        parameters.push(built.build());
    }
    if endpoint.doc.op {
        let about = "32 hexadecimal digits, drawn at random by the caller: the same call again with the same ones changes \
                     nothing and gets the first answer. Without it the server draws one, and a repetition is another call.";
        let schema = text().pattern(Some("^[0-9a-fA-F]{32}$")).build();
        parameters.push(
            ParameterBuilder::new()
                .name("Idempotency-Key")
                .description(Some(about))
                .parameter_in(ParameterIn::Header)
                .required(Required::False)
                .schema(Some(schema))
                .build(),
        );
    }
    parameters
}

/// The statuses of an endpoint's problems with their codes: its own, and those that follow from what it takes.
fn problems(endpoint: &Endpoint) -> BTreeMap<u16, Vec<&'static str>> {
    let doc = &endpoint.doc;
    let mut problems: BTreeMap<u16, Vec<&'static str>> = BTreeMap::new();
    let mut add = |status: u16, code: &'static str| problems.entry(status).or_default().push(code);
    if let Access::Scoped(..) = endpoint.access {
        add(401, "token_needed");
        add(403, "scope_missing");
        add(503, "store_locked");
        add(500, "store_damaged");
    }
    if doc.params.iter().any(|param| !endpoint.path.contains(&format!("{{{}}}", param.name))) {
        add(400, "query_malformed");
    }
    if doc.op {
        add(400, "op_malformed");
        add(409, "op_reused");
    }
    if !doc.bodies.is_empty() {
        add(400, "body_malformed");
        add(413, "body_too_large");
        add(415, "media_type_unsupported");
    }
    for (status, code) in doc.problems {
        add(*status, code);
    }
    problems
}
