//! Schemas of MCP servers.

use super::{
    Named, Slug, ToolSecretValue, named,
    shape::{closed, nullable, of_type, ready, reference},
};
use domain::limit::{TOOL_HEADER_CHARS_MAX, TOOL_HEADERS_MAX, TOOL_URL_BYTES_MAX};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        OneOfBuilder, RefOr, Type,
        schema::{Object, Schema},
    },
};

fn word(value: &'static str) -> RefOr<Schema> {
    ready(Object::from(of_type(Type::String).enum_values(Some([value]))))
}

fn headers(value: RefOr<Schema>) -> RefOr<Schema> {
    let map = of_type(Type::Object).additional_properties(Some(value)).max_properties(Some(TOOL_HEADERS_MAX));
    ready(Object::from(map))
}

/// How an MCP server is reached.
#[derive(Debug)]
pub struct McpTransport;

impl PartialSchema for McpTransport {
    fn schema() -> RefOr<Schema> {
        let url = of_type(Type::String).min_length(Some(1)).max_length(Some(TOOL_URL_BYTES_MAX));
        let text = ready(Object::from(of_type(Type::String).max_length(Some(TOOL_HEADER_CHARS_MAX))));
        let http = closed(
            "Streamable HTTP.",
            vec![("kind", word("http")), ("url", ready(Object::from(url)))],
            vec![("headers", headers(text))],
        );
        let stdio = closed(
            "A program on the server's machine that its operator allows under this name.",
            vec![("kind", word("stdio")), ("program", reference::<Slug>())],
            vec![],
        );
        let doc = "How an MCP server is reached.";
        RefOr::T(Schema::OneOf(OneOfBuilder::new().description(Some(doc)).item(http).item(stdio).build()))
    }
}

impl ToSchema for McpTransport {}

/// Values of secret headers by their names.
#[derive(Debug)]
pub struct McpSecretHeaders;

impl PartialSchema for McpSecretHeaders {
    fn schema() -> RefOr<Schema> {
        headers(reference::<ToolSecretValue>())
    }
}

impl ToSchema for McpSecretHeaders {}

/// Secret headers to set, or with `null` to delete.
#[derive(Debug)]
pub struct McpSecretHeaderChanges;

impl PartialSchema for McpSecretHeaderChanges {
    fn schema() -> RefOr<Schema> {
        headers(nullable::<ToolSecretValue>())
    }
}

impl ToSchema for McpSecretHeaderChanges {}

pub(super) fn all() -> Vec<Named> {
    vec![named::<McpTransport>(), named::<McpSecretHeaders>(), named::<McpSecretHeaderChanges>()]
}
