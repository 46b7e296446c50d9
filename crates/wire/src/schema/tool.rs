//! Schemas of a tool's definition.

use super::{
    AnyJson, Description, McpToolName, Name, Named, Role, Slug, ToolKind, ToolMethod, ToolOnFailure, ToolPrivateField,
    named,
    shape::{boolean, closed, list, nullable, nullable_of, of_type, ready, reference},
};
use domain::limit::{
    TOOL_GROUPS_MAX, TOOL_HEADER_CHARS_MAX, TOOL_HEADERS_MAX, TOOL_PRIVATE_FIELDS_MAX, TOOL_RETRIES_MAX,
    TOOL_STEP_BACKOFF_SECONDS_MAX, TOOL_STEPS_MAX, TOOL_TIME_LIMIT_SECONDS_MAX, TOOL_TIME_LIMIT_SECONDS_MIN,
    TOOL_URL_BYTES_MAX,
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, OneOfBuilder, RefOr, Type,
        schema::{AdditionalProperties, Array, ArrayBuilder, Object, Schema, SchemaType},
    },
};

fn text() -> ObjectBuilder {
    of_type(Type::String)
}

fn built(object: ObjectBuilder) -> RefOr<Schema> {
    ready(Object::from(object))
}

fn whole(least: u32, most: u32) -> RefOr<Schema> {
    built(of_type(Type::Integer).minimum(Some(least)).maximum(Some(most)))
}

fn bounded(items: RefOr<Schema>, most: usize) -> RefOr<Schema> {
    ready(Array::from(ArrayBuilder::new().items(items).max_items(Some(most))))
}

/// A JSON Schema of an object.
#[derive(Debug)]
pub struct ToolInputSchema;

impl PartialSchema for ToolInputSchema {
    fn schema() -> RefOr<Schema> {
        let kind = text().enum_values(Some(["object"]));
        let object = ObjectBuilder::new().property("type", kind).required("type");
        object
            .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true)))
            .description(Some("A JSON Schema 2020-12 of an object. References stay inside of it."))
            .build()
            .into()
    }
}

impl ToSchema for ToolInputSchema {}

/// A JSON Schema.
#[derive(Debug)]
pub struct ToolOutputSchema;

impl PartialSchema for ToolOutputSchema {
    fn schema() -> RefOr<Schema> {
        let kind = SchemaType::from_iter([Type::Object, Type::Boolean]);
        let text = "A JSON Schema 2020-12. References stay inside of it.";
        ObjectBuilder::new().schema_type(kind).description(Some(text)).build().into()
    }
}

impl ToSchema for ToolOutputSchema {}

/// The body of a call.
#[derive(Debug)]
pub struct ToolHttpBody;

impl PartialSchema for ToolHttpBody {
    fn schema() -> RefOr<Schema> {
        let word = built(text().enum_values(Some(["none", "input"])));
        let template = closed("JSON with placeholders.", vec![("template", reference::<AnyJson>())], vec![]);
        let doc = "`none`; `input`, the whole input as JSON; or JSON in which a string that is exactly `{/pointer}` is \
             replaced by the value at that JSON Pointer of the input.";
        RefOr::T(Schema::OneOf(OneOfBuilder::new().description(Some(doc)).item(word).item(template).build()))
    }
}

impl ToSchema for ToolHttpBody {}

/// A call of an HTTP service.
#[derive(Debug)]
pub struct ToolHttpCall;

impl PartialSchema for ToolHttpCall {
    fn schema() -> RefOr<Schema> {
        let headers = of_type(Type::Object)
            .additional_properties(Some(built(text().max_length(Some(TOOL_HEADER_CHARS_MAX)))))
            .max_properties(Some(TOOL_HEADERS_MAX));
        let doc = "A call of an HTTP service. `{name}` in the URL and in headers is a top-level field of the input; \
             `{secret:NAME}` in headers is a secret of the tool.";
        closed(
            doc,
            vec![
                ("method", reference::<ToolMethod>()),
                ("url", built(text().min_length(Some(1)).max_length(Some(TOOL_URL_BYTES_MAX)))),
            ],
            vec![("headers", built(headers)), ("body", reference::<ToolHttpBody>())],
        )
    }
}

impl ToSchema for ToolHttpCall {}

/// A step of a composite tool.
#[derive(Debug)]
pub struct ToolStep;

impl PartialSchema for ToolStep {
    fn schema() -> RefOr<Schema> {
        let doc = "A run of another tool. `input` is JSON in which a string that is exactly `{/input/…}` or \
             `{/steps/NAME/…}` is replaced by the value at that place: of the input, or of what a step before it \
             returned. A published step names a version of its tool.";
        let optional = vec![
            ("version", built(of_type(Type::Integer).minimum(Some(1)))),
            ("input", reference::<AnyJson>()),
            ("after", bounded(reference::<Slug>(), TOOL_STEPS_MAX)),
            ("onFailure", reference::<ToolOnFailure>()),
            ("retries", whole(0, TOOL_RETRIES_MAX)),
            ("backoffSeconds", whole(0, TOOL_STEP_BACKOFF_SECONDS_MAX)),
        ];
        closed(doc, vec![("name", reference::<Slug>()), ("tool", reference::<Slug>())], optional)
    }
}

impl ToSchema for ToolStep {}

/// The steps of a composite tool.
#[derive(Debug)]
pub struct ToolComposite;

impl PartialSchema for ToolComposite {
    fn schema() -> RefOr<Schema> {
        let steps = ArrayBuilder::new().items(reference::<ToolStep>()).min_items(Some(1));
        let steps = ready(Array::from(steps.max_items(Some(TOOL_STEPS_MAX))));
        let doc = "Steps that run other tools: at the same time, unless one uses what another returned or names it in \
             `after`. Without `result`, the result is that of the last step.";
        closed(doc, vec![("steps", steps)], vec![("result", reference::<AnyJson>())])
    }
}

impl ToSchema for ToolComposite {}

/// A call of a tool of an MCP server.
#[derive(Debug)]
pub struct ToolMcpCall;

impl PartialSchema for ToolMcpCall {
    fn schema() -> RefOr<Schema> {
        let doc = "A call of a tool of an MCP server of the workspace. The input of a run is its arguments.";
        closed(doc, vec![("server", reference::<Slug>()), ("tool", reference::<McpToolName>())], vec![])
    }
}

impl ToSchema for ToolMcpCall {}

/// Who may run a tool.
#[derive(Debug)]
pub struct ToolAudience;

impl PartialSchema for ToolAudience {
    fn schema() -> RefOr<Schema> {
        let doc = "Callers with one of the roles, and members of one of the groups. Without both, everyone who may \
             start sessions. With `link`, also people without an account by a link.";
        let groups = bounded(reference::<Slug>(), TOOL_GROUPS_MAX);
        closed(doc, vec![], vec![("roles", list::<Role>()), ("groups", groups), ("link", boolean())])
    }
}

impl ToSchema for ToolAudience {}

/// What a tool does, as it is sent in answers.
#[derive(Debug)]
pub struct ToolDefinition;

impl PartialSchema for ToolDefinition {
    fn schema() -> RefOr<Schema> {
        let required = [
            ("name", reference::<Name>()),
            ("kind", reference::<ToolKind>()),
            ("inputSchema", reference::<ToolInputSchema>()),
            ("timeLimitSeconds", whole(TOOL_TIME_LIMIT_SECONDS_MIN, TOOL_TIME_LIMIT_SECONDS_MAX)),
            ("retries", whole(0, TOOL_RETRIES_MAX)),
            ("repeatable", boolean()),
            ("requiresConfirmation", boolean()),
        ];
        let optional = [
            ("description", reference::<Description>()),
            ("http", reference::<ToolHttpCall>()),
            ("composite", reference::<ToolComposite>()),
            ("mcp", reference::<ToolMcpCall>()),
            ("outputSchema", reference::<ToolOutputSchema>()),
            ("privateFields", bounded(reference::<ToolPrivateField>(), TOOL_PRIVATE_FIELDS_MAX)),
            ("audience", reference::<ToolAudience>()),
        ];
        let doc = "What a tool does. A member that is absent has its default; `http` is there for the kind `http`, `composite` \
             for the kind `composite`, `mcp` for the kind `mcp`.";
        let mut object = ObjectBuilder::new().description(Some(doc));
        for (name, schema) in required {
            object = object.property(name, schema).required(name);
        }
        for (name, schema) in optional {
            object = object.property(name, schema);
        }
        object.build().into()
    }
}

impl ToSchema for ToolDefinition {}

/// A tool in a bundle.
#[derive(Debug)]
pub struct BundledTool;

impl PartialSchema for BundledTool {
    fn schema() -> RefOr<Schema> {
        let doc = "A tool in a bundle. A new one needs `name`, `kind` and `inputSchema`. `publish` makes it the newest \
             version. Headers name secrets, whose values are set apart.";
        let time_limit = whole(TOOL_TIME_LIMIT_SECONDS_MIN, TOOL_TIME_LIMIT_SECONDS_MAX);
        let optional = vec![
            ("name", nullable::<Name>()),
            ("description", nullable::<Description>()),
            ("kind", nullable::<ToolKind>()),
            ("http", nullable::<ToolHttpCall>()),
            ("composite", nullable::<ToolComposite>()),
            ("mcp", nullable::<ToolMcpCall>()),
            ("inputSchema", nullable::<ToolInputSchema>()),
            ("outputSchema", nullable::<ToolOutputSchema>()),
            ("timeLimitSeconds", nullable_of(time_limit)),
            ("retries", nullable_of(whole(0, TOOL_RETRIES_MAX))),
            ("repeatable", nullable_of(boolean())),
            ("requiresConfirmation", nullable_of(boolean())),
            ("privateFields", nullable_of(bounded(reference::<ToolPrivateField>(), TOOL_PRIVATE_FIELDS_MAX))),
            ("audience", nullable::<ToolAudience>()),
            ("publish", boolean()),
        ];
        closed(doc, vec![("slug", reference::<Slug>())], optional)
    }
}

impl ToSchema for BundledTool {}

pub(super) fn all() -> Vec<Named> {
    vec![
        named::<ToolInputSchema>(),
        named::<ToolOutputSchema>(),
        named::<ToolHttpBody>(),
        named::<ToolHttpCall>(),
        named::<ToolStep>(),
        named::<ToolComposite>(),
        named::<ToolMcpCall>(),
        named::<ToolAudience>(),
        named::<ToolDefinition>(),
        named::<BundledTool>(),
    ]
}
