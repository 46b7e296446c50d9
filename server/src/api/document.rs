//! The OpenAPI document: its general part, and the problems that each operation can answer with.

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        Components, Content, Info, OpenApi, OpenApiBuilder, Ref, RefOr, ResponseBuilder, SecurityRequirement,
        path::{Operation, ParameterIn, PathItem},
        schema::{AdditionalProperties, Schema},
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
        tag::TagBuilder,
    },
};

const PROBLEM: &str = "application/problem+json";
const DESCRIPTION: &str = "The shared work log of people and agents.\n\n\
    Authenticate with `Authorization: Bearer sbk_…`, or with the browser's cookie. JSON is camelCase, times are \
    RFC 3339 in UTC, ids are UUIDs, whole numbers have no fraction (`7`, not `7.0`). Requests with unknown fields or parameters are refused. Every error answer is \
    `application/problem+json`; decide on its `code`. Lists are paged: pass `nextCursor` as `cursor`.";

/// Tags of the operations and their descriptions, in the order of the API page.
const TAGS: [(&str, &str); 22] = [
    ("actions", "Configured work; the UI calls it a task."),
    ("sessions", "One execution each."),
    ("threads", "Conversations with agents: sessions that rest between turns."),
    ("feedback", "What people say of sessions that have ended. One label, nothing in words."),
    ("entities", "Records that work is about: types with typed fields, versioned values, imports."),
    ("memory", "What agents remember: versioned documents with their origin, and character cards."),
    ("criteria", "What outputs are judged by, and the groups of people who judge."),
    ("views", "Input forms that people answer: questions, publication, versions."),
    ("tools", "Calls that people, programs and agents make by name: definitions, versions, secrets."),
    ("events", "A session's append-only log."),
    ("worker", "What a worker calls: claim, heartbeat, complete, fail, yield, release."),
    ("approvals", "What waits for a person's decision, and deciding."),
    ("responses", "Answers to views, and links to forms for people without an account."),
    ("requests", "What agents ask people in the middle of their work, and the answers."),
    ("people", "Working sessions: what people work on, and what agents may be told of it."),
    ("hooks", "What coding agents report by themselves."),
    ("webhooks", "URLs of the workspace that are told what happens."),
    ("today", "The work queue, and wake-ups for live pages."),
    ("access", "Members, invitations, and the caller's own sign-ins."),
    ("workspace", "Settings of the workspace."),
    ("identity", "Who the caller is."),
    ("operation", "For load balancers and scrapers."),
];

/// Descriptions of the problem responses, by status.
const PROBLEMS: [(&str, &str); 11] = [
    ("400", "`invalid_id`, `invalid_json` or `invalid_cursor`"),
    ("401", "`unauthenticated`: no credentials, or ones that are not valid (any more)"),
    ("403", "`forbidden`: role or token scope do not allow it; `cross_origin`: another site's page asked"),
    ("404", "`not_found`: it does not exist, or not for this caller"),
    ("408", "`request_timeout`: the body took too long to arrive"),
    ("413", "`too_large`"),
    ("414", "`target_too_long`: path and query have more than 32 KiB. Without a body beyond 65,534 bytes"),
    ("415", "`unsupported_media_type`: send JSON"),
    ("422", "`invalid_request`: `errors` names the fields; `limit_reached`"),
    ("500", "`internal`: logged under `requestId`"),
    ("503", "`unavailable`: over capacity or stopping; try again after `Retry-After` seconds"),
];

/// Component name and description of the only problem response without a body: it is sent before the request is read.
const HEAD_TOO_LARGE: (&str, &str) =
    ("HeadTooLarge", "The request's first line and headers are larger than 64 KiB. The answer has no body");
/// The status of that response.
const HEAD_TOO_LARGE_STATUS: &str = "431";

/// Everything but the paths.
pub fn head() -> OpenApi {
    let mut info = Info::new("Shiftbook", env!("CARGO_PKG_VERSION"));
    info.description = Some(DESCRIPTION.to_owned());
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("sbk_…")
        .description(Some("An API token, made on the settings page or by `shiftbook token add`."))
        .build();
    let cookie =
        ApiKeyValue::with_description("sbk_session", "The browser's sign-in; `__Host-sbk_session` behind https.");
    let mut components = Components::new();
    components.add_security_scheme("token", SecurityScheme::Http(bearer));
    components.add_security_scheme("cookie", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    let mut schemas = vec![(wire::Problem::name().into_owned(), wire::Problem::schema())];
    wire::Problem::schemas(&mut schemas);
    components.schemas.extend(schemas);
    components.schemas.extend(wire::schema::all());
    for (status, description) in PROBLEMS {
        let content = Content::new(Some(Ref::from_schema_name(wire::Problem::name())));
        let response = ResponseBuilder::new().description(description).content(PROBLEM, content).build();
        components.responses.insert(response_name(status), response.into());
    }
    let (name, description) = HEAD_TOO_LARGE;
    let response = ResponseBuilder::new().description(description).build();
    components.responses.insert(name.to_owned(), response.into());
    let none: [&str; 0] = [];
    let security = [SecurityRequirement::new("token", none), SecurityRequirement::new("cookie", none)];
    let tags = TAGS.map(|(name, text)| TagBuilder::new().name(name).description(Some(text)).build());
    OpenApiBuilder::new().info(info).components(Some(components)).security(Some(security)).tags(Some(tags)).build()
}

/// Request whose variants refuse unknown fields. The derived schema of a tagged enum leaves their objects open.
const CLOSED_VARIANTS: &str = "MemoryToolCommand";

fn close_variants(document: &mut OpenApi) {
    let schemas = document.components.iter_mut().flat_map(|components| components.schemas.get_mut(CLOSED_VARIANTS));
    for schema in schemas {
        let RefOr::T(Schema::OneOf(variants)) = schema else { continue };
        for variant in &mut variants.items {
            if let RefOr::T(Schema::Object(object)) = variant {
                object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
            }
        }
    }
}

/// Renders the document as JSON, with the problem responses added to each operation.
pub fn json(mut document: OpenApi) -> String {
    close_variants(&mut document);
    for item in document.paths.paths.values_mut() {
        for operation in operations(item) {
            for status in statuses(operation) {
                let refusal = RefOr::Ref(Ref::from_response_name(response_name(status)));
                operation.responses.responses.entry(status.to_owned()).or_insert(refusal);
            }
            let too_large = RefOr::Ref(Ref::from_response_name(HEAD_TOO_LARGE.0));
            operation.responses.responses.insert(HEAD_TOO_LARGE_STATUS.to_owned(), too_large);
        }
    }
    document.to_pretty_json().unwrap_or_default()
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete].into_iter().flatten()
}

fn response_name(status: &str) -> String {
    format!("Problem{status}")
}

/// Returns the statuses of the operation's problem responses. They follow from its parameters and its body.
fn statuses(operation: &Operation) -> Vec<&'static str> {
    let takes = |place: ParameterIn| {
        operation.parameters.iter().flatten().any(|p| matches!(p, RefOr::T(p) if p.parameter_in == place))
    };
    let open = operation.security.is_some();
    let body = operation.request_body.is_some();
    let (path, query) = (takes(ParameterIn::Path), takes(ParameterIn::Query));
    let mut statuses = vec!["414", "500", "503"];
    if !open {
        statuses.extend(["401", "403"]);
    }
    if path || body {
        statuses.extend(["400", "404"]);
    }
    if query || body {
        statuses.extend(["400", "422"]);
    }
    if body {
        statuses.extend(["408", "413", "415"]);
    }
    statuses
}

/// Read the OpenAPI document
#[utoipa::path(
    get, path = "/api/openapi.json", operation_id = "openapi", tag = "operation", security(()),
    responses(
        (status = 200, description = "OpenAPI 3.1", body = Object),
    ),
)]
pub async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], super::document_json()).into_response()
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
