//! Converts tools.

use domain::tool::Change;
use ledger::{
    ToolRecord, ToolSecretRecord, ToolVersionRecord,
    tool::{NewTool, SecretCall, ToolChange},
};
use wire::tool::{CreateTool, Tool, ToolSecret, ToolSecretCall, ToolSecrets, ToolVersion, UpdateTool};

/// Converts a tool to its JSON type.
pub fn tool(record: ToolRecord) -> Tool {
    let changed = record.is_changed();
    Tool {
        id: record.id,
        slug: record.slug,
        definition: record.definition,
        state: record.state,
        version: record.version,
        revision: record.revision,
        changed,
        created_by: record.created_by,
        updated_by: record.updated_by,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}

/// Converts a version of a tool to its JSON type.
pub fn tool_version(record: ToolVersionRecord) -> ToolVersion {
    ToolVersion {
        tool_id: record.tool_id,
        version: record.version,
        definition: record.definition,
        published_by: record.published_by,
        published_at: record.published_at,
    }
}

/// Converts the secrets of a tool, without their values, and the calls that get them.
pub fn tool_secrets(secrets: Vec<ToolSecretRecord>, calls: Vec<SecretCall>) -> ToolSecrets {
    let call = |call: SecretCall| ToolSecretCall { version: call.version, method: call.method, url: call.url };
    ToolSecrets {
        secrets: secrets.into_iter().map(tool_secret).collect(),
        calls: calls.into_iter().map(call).collect(),
    }
}

/// Converts a secret of a tool to its JSON type, which has no value.
pub fn tool_secret(record: ToolSecretRecord) -> ToolSecret {
    ToolSecret { name: record.name, set_by: record.set_by, set_at: record.set_at }
}

/// Converts the body of a request that creates a tool.
pub fn new_tool(body: CreateTool) -> NewTool {
    let definition = Change {
        name: Some(body.name),
        description: Some(body.description),
        kind: Some(body.kind),
        http: body.http,
        composite: body.composite,
        mcp: body.mcp,
        input_schema: Some(body.input_schema),
        output_schema: Some(body.output_schema),
        time_limit_seconds: body.time_limit_seconds,
        retries: Some(body.retries),
        repeatable: Some(body.repeatable),
        requires_confirmation: Some(body.requires_confirmation),
        private_fields: Some(body.private_fields),
        audience: Some(body.audience),
    };
    NewTool { slug: body.slug, definition }
}

/// Converts the body of a request that changes a tool.
pub fn tool_change(body: UpdateTool) -> ToolChange {
    let definition = Change {
        name: body.name,
        description: body.description,
        kind: body.kind,
        http: body.http,
        composite: body.composite,
        mcp: body.mcp,
        input_schema: body.input_schema,
        output_schema: body.output_schema,
        time_limit_seconds: body.time_limit_seconds,
        retries: body.retries,
        repeatable: body.repeatable,
        requires_confirmation: body.requires_confirmation,
        private_fields: body.private_fields,
        audience: body.audience,
    };
    ToolChange { revision: body.revision, definition }
}
