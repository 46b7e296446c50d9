//! Tools: calls that people, programs and agents make by name, their versions and their secrets.

use domain::{
    Timestamp,
    id::ToolId,
    tool::{Audience, Composite, Definition, HttpCall, Kind, McpCall, Method, Secret, State},
};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, Unexpected},
};
use serde_json::Value;

/// A tool with its working copy.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// UUID of the tool.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: ToolId,
    /// URL name, unique in the workspace; never changes.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub slug: String,
    /// What the tool does.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolDefinition))]
    pub definition: Definition,
    /// Whether the tool can be run.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolState))]
    pub state: State,
    /// Number of the version published last; absent in a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Number of the working copy: 1 at first, one more with each change.
    pub revision: u64,
    /// Whether the working copy differs from the version published last.
    pub changed: bool,
    /// Creator of the tool: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Who changed, published or unpublished it last.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub updated_by: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time of the last change, publication or withdrawal.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// A tool as it was published once. It never changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolVersion {
    /// UUID of the tool.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub tool_id: ToolId,
    /// Number of the version, from 1.
    pub version: u64,
    /// What the tool does.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolDefinition))]
    pub definition: Definition,
    /// `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub published_by: String,
    /// Time of publication.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub published_at: Timestamp,
}

/// `POST /api/tools`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateTool {
    /// Default: derived from the name. `new` is refused, because a page has that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub slug: Option<String>,
    /// 1 to 200 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// What the tool does and when to use it, for people and models.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Description))]
    pub description: String,
    /// How the tool runs.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolKind))]
    pub kind: Kind,
    /// The call of a tool of the kind `http`; only and always with that kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ToolHttpCall>))]
    pub http: Option<HttpCall>,
    /// The steps of a tool of the kind `composite`; only and always with that kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ToolComposite>))]
    pub composite: Option<Composite>,
    /// The call of a tool of the kind `mcp`; only and always with that kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ToolMcpCall>))]
    pub mcp: Option<McpCall>,
    /// JSON Schema 2020-12 of the input, which is an object.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolInputSchema))]
    pub input_schema: Value,
    /// JSON Schema 2020-12 of the result. Default: any result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ToolOutputSchema>))]
    pub output_schema: Option<Value>,
    /// Longest time of one attempt, seconds. Default 60.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 86_400))]
    pub time_limit_seconds: Option<u32>,
    /// Further attempts after the first one failed. Default 0.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(maximum = 10))]
    pub retries: u32,
    /// Whether a call with an unknown outcome may be repeated. Default false.
    #[serde(default)]
    pub repeatable: bool,
    /// Whether a person must approve each run. Default false.
    #[serde(default)]
    pub requires_confirmation: bool,
    /// Parts of the input that no log, list or shared page shows: names of top-level fields, or JSON Pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::ToolPrivateField>, max_items = 50))]
    pub private_fields: Vec<String>,
    /// Who may run the tool. Default: everyone who may start sessions.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolAudience))]
    pub audience: Audience,
}

/// `PATCH /api/tools/{slug}`: absent fields stay. `null` is refused, but for the schema of the result.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateTool {
    /// The revision that was read; another one is refused with `stale_version`.
    pub revision: u64,
    /// 1 to 200 characters.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name, required = false))]
    pub name: Option<String>,
    /// What the tool does and when to use it, for people and models.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Description, required = false))]
    pub description: Option<String>,
    /// How the tool runs.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolKind, required = false))]
    pub kind: Option<Kind>,
    /// The call of a tool of the kind `http`, as a whole.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolHttpCall, required = false))]
    pub http: Option<HttpCall>,
    /// The steps of a tool of the kind `composite`, as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ToolComposite>))]
    pub composite: Option<Composite>,
    /// The call of a tool of the kind `mcp`, as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ToolMcpCall>))]
    pub mcp: Option<McpCall>,
    /// JSON Schema 2020-12 of the input, which is an object.
    #[serde(default, deserialize_with = "not_null_schema", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolInputSchema, required = false))]
    pub input_schema: Option<Value>,
    /// JSON Schema 2020-12 of the result; `null` allows any result.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ToolOutputSchema>))]
    pub output_schema: Option<Option<Value>>,
    /// Longest time of one attempt, seconds.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = u32, required = false, minimum = 1, maximum = 86_400))]
    pub time_limit_seconds: Option<u32>,
    /// Further attempts after the first one failed.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = u32, required = false, maximum = 10))]
    pub retries: Option<u32>,
    /// Whether a call with an unknown outcome may be repeated.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = bool, required = false))]
    pub repeatable: Option<bool>,
    /// Whether a person must approve each run.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = bool, required = false))]
    pub requires_confirmation: Option<bool>,
    /// All private fields.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(value_type = Vec<crate::schema::ToolPrivateField>, required = false, max_items = 50)
    )]
    pub private_fields: Option<Vec<String>>,
    /// Who may run the tool, as a whole.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolAudience, required = false))]
    pub audience: Option<Audience>,
}

/// Reads a field that is there. Nothing but the schema of the result can be taken out.
fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The same for a JSON document, which `null` is too.
fn not_null_schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Err(D::Error::invalid_type(Unexpected::Unit, &"a JSON Schema")),
        schema => Ok(Some(schema)),
    }
}

/// Tells `null` (clear it) from an absent field (leave it).
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Value>>, D::Error> {
    Option::<Value>::deserialize(deserializer).map(Some)
}

/// `POST /api/tools/{slug}/publish`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PublishTool {
    /// The revision that was read; another one is refused with `stale_version`. Absent: whatever is newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}

/// A secret of a tool, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolSecret {
    /// Name by which headers of the tool's call refer to the secret.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolSecretName))]
    pub name: String,
    /// Who set the value last.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub set_by: String,
    /// Time at which the value was set last.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub set_at: Timestamp,
}

/// A call that gets the secrets of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolSecretCall {
    /// The version that makes it as soon as the secrets are set; null for the working copy, which makes it when an
    /// admin tests or publishes it.
    pub version: Option<u64>,
    /// Method of the call.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolMethod))]
    pub method: Method,
    /// Its address, with the names of the fields that are put into it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolUrl))]
    pub url: String,
}

/// The secrets of a tool, and where they are sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolSecrets {
    /// The secrets by name, without their values.
    pub secrets: Vec<ToolSecret>,
    /// Where they are sent: by the version published last, and by the working copy.
    pub calls: Vec<ToolSecretCall>,
}

/// `PUT /api/tools/{slug}/secrets/{name}`
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetToolSecret {
    /// The value: one line of 1 to 8,192 ASCII characters. It is never returned.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolSecretValue))]
    pub value: Secret,
    /// The version published last, as it was read in `calls`; 0 for a tool that was never published. Another one is
    /// refused with `stale_version`. It can be absent if that version makes no HTTP call, or one that an admin has
    /// allowed.
    pub version: Option<u64>,
}
