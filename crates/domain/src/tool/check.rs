//! Checks of a tool's definition that need no other rows.

use super::{Definition, Implementation, Kind, composition, definition::to_pointer, http, is_mcp_tool_name};
use crate::{
    event::json_depth,
    issue::Issue,
    json_pointer::{is_pointer, unescaped},
    limit::{
        DOCUMENT_BYTES_MAX, JSON_DEPTH_MAX, TOOL_GROUPS_MAX, TOOL_PRIVATE_FIELD_CHARS_MAX, TOOL_PRIVATE_FIELDS_MAX,
        TOOL_RETRIES_MAX, TOOL_SCHEMA_BYTES_MAX, TOOL_TIME_LIMIT_SECONDS_MAX, TOOL_TIME_LIMIT_SECONDS_MIN,
    },
    slug::is_slug,
};
use serde_json::Value;

/// The dialect of schemas. A schema that names no dialect has it too.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Returns every problem of a definition, with its path. The caller checks name and description, whether the schemas
/// compile and whether the groups exist.
pub fn check_definition(definition: &Definition) -> Vec<Issue> {
    let mut issues = Vec::new();
    check_schema(&mut issues, "inputSchema", &definition.input_schema);
    if definition.input_schema.get("type").and_then(Value::as_str) != Some("object") {
        issues.push(Issue::new("inputSchema.type", "`object`, because the input of a tool is an object"));
    }
    if let Some(schema) = &definition.output_schema {
        check_schema(&mut issues, "outputSchema", schema);
    }
    if !(TOOL_TIME_LIMIT_SECONDS_MIN..=TOOL_TIME_LIMIT_SECONDS_MAX).contains(&definition.time_limit_seconds) {
        let range = format!("{TOOL_TIME_LIMIT_SECONDS_MIN} to {TOOL_TIME_LIMIT_SECONDS_MAX} seconds");
        issues.push(Issue::new("timeLimitSeconds", range));
    }
    if definition.retries > TOOL_RETRIES_MAX {
        issues.push(Issue::new("retries", format!("0 to {TOOL_RETRIES_MAX}")));
    }
    if definition.requires_confirmation && definition.kind() == Kind::Worker {
        let why = "only calls that the server makes can wait for a person; a worker can ask by request_feedback";
        issues.push(Issue::new("requiresConfirmation", why));
    }
    if definition.kind() == Kind::Composite {
        if definition.requires_confirmation {
            let why = "a composite tool makes no call; the tools of its steps can wait for a person";
            issues.push(Issue::new("requiresConfirmation", why));
        }
        if definition.retries > 0 {
            issues.push(Issue::new("retries", "0: the steps of a composite tool have retries of their own"));
        }
        issues.extend(composition::check(definition));
    }
    if let Implementation::Http { http: call } = &definition.implementation {
        let placed = |issue: Issue| Issue::new(format!("http.{}", issue.field), issue.message);
        issues.extend(http::check(call, &definition.input_schema).into_iter().map(placed));
    }
    if let Some(call) = definition.mcp() {
        if !is_slug(&call.server) {
            issues.push(Issue::new("mcp.server", "the slug of an MCP server"));
        }
        if !is_mcp_tool_name(&call.tool) {
            let rule = "1 to 128 ASCII letters, digits, `_`, `-`, `.` and `/`: the name that the server lists";
            issues.push(Issue::new("mcp.tool", rule));
        }
    }
    check_private_fields(&mut issues, definition);
    check_audience(&mut issues, definition);
    if serde_json::to_string(definition).map_or(usize::MAX, |json| json.len()) > DOCUMENT_BYTES_MAX {
        issues.push(Issue::new("definition", format!("at most {DOCUMENT_BYTES_MAX} bytes as JSON")));
    }
    issues
}

fn check_schema(issues: &mut Vec<Issue>, field: &str, schema: &Value) {
    let dialect = schema.get("$schema").and_then(Value::as_str);
    if schema.get("$schema").is_some() && dialect.map(|text| text.trim_end_matches('#')) != Some(DIALECT) {
        issues.push(Issue::new(format!("{field}.$schema"), format!("`{DIALECT}`, or left out")));
    }
    let text = schema.to_string();
    if text.len() > TOOL_SCHEMA_BYTES_MAX {
        issues.push(Issue::new(field, format!("at most {TOOL_SCHEMA_BYTES_MAX} bytes as JSON")));
    }
    if json_depth(&text) > JSON_DEPTH_MAX {
        issues.push(Issue::new(field, format!("at most {JSON_DEPTH_MAX} levels deep")));
    }
}

fn check_private_fields(issues: &mut Vec<Issue>, definition: &Definition) {
    let fields = &definition.private_fields;
    if fields.len() > TOOL_PRIVATE_FIELDS_MAX {
        issues.push(Issue::new("privateFields", format!("at most {TOOL_PRIVATE_FIELDS_MAX}")));
        return;
    }
    let properties = definition.input_schema.get("properties").and_then(Value::as_object);
    for (index, field) in fields.iter().enumerate() {
        let at = format!("privateFields[{index}]");
        let pointer = to_pointer(field);
        let first = unescaped(pointer.split('/').nth(1).unwrap_or_default());
        if field.chars().count() > TOOL_PRIVATE_FIELD_CHARS_MAX {
            issues.push(Issue::new(at, format!("at most {TOOL_PRIVATE_FIELD_CHARS_MAX} characters")));
        } else if !is_pointer(&pointer) {
            issues.push(Issue::new(at, "a name of a top-level field, or a JSON Pointer such as `/person/email`"));
        } else if !properties.is_some_and(|properties| properties.contains_key(&first)) {
            issues.push(Issue::new(at, format!("there is no `{first}` in inputSchema.properties")));
        } else if fields.iter().take(index).any(|before| to_pointer(before) == pointer) {
            issues.push(Issue::new(at, "named twice"));
        }
    }
}

fn check_audience(issues: &mut Vec<Issue>, definition: &Definition) {
    let audience = &definition.audience;
    for (index, role) in audience.roles.iter().enumerate() {
        if audience.roles.iter().take(index).any(|before| before == role) {
            issues.push(Issue::new(format!("audience.roles[{index}]"), "named twice"));
        }
    }
    if audience.groups.len() > TOOL_GROUPS_MAX {
        issues.push(Issue::new("audience.groups", format!("at most {TOOL_GROUPS_MAX}")));
        return;
    }
    for (index, slug) in audience.groups.iter().enumerate() {
        let at = format!("audience.groups[{index}]");
        if !is_slug(slug) {
            issues.push(Issue::new(at, "the slug of a group"));
        } else if audience.groups.iter().take(index).any(|before| before == slug) {
            issues.push(Issue::new(at, "named twice"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn issues(change: Value) -> Vec<String> {
        let mut whole = json!({
            "name": "Echo", "kind": "worker",
            "inputSchema": { "type": "object", "properties": { "person": { "type": "object" }, "a/b": {} } },
        });
        whole.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let definition: Definition = serde_json::from_value(whole).unwrap();
        check_definition(&definition).into_iter().map(|issue| issue.field).collect()
    }

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!({}), |inner, _| json!({ "not": inner }))
    }

    #[test]
    fn each_wrong_part_of_a_definition_is_named() {
        for good in [
            json!({}),
            json!({ "inputSchema": { "$schema": DIALECT, "type": "object" } }),
            json!({ "outputSchema": true, "timeLimitSeconds": 1, "retries": 10 }),
            json!({ "outputSchema": nested(JSON_DEPTH_MAX - 1) }),
            json!({ "privateFields": ["a/b", "/person/email"] }),
            json!({ "audience": { "roles": ["admin", "member"], "groups": ["leads"] } }),
        ] {
            assert!(issues(good.clone()).is_empty(), "{good}");
        }
        for (bad, fields) in [
            (json!({ "inputSchema": true }), ["inputSchema.type"].as_slice()),
            (json!({ "inputSchema": { "type": ["object"] } }), &["inputSchema.type"]),
            (
                json!({ "inputSchema": { "$schema": "http://json-schema.org/draft-07/schema#", "type": "object" } }),
                &["inputSchema.$schema"],
            ),
            (json!({ "outputSchema": { "$schema": 1 } }), &["outputSchema.$schema"]),
            (json!({ "outputSchema": { "title": "x".repeat(TOOL_SCHEMA_BYTES_MAX) } }), &["outputSchema"]),
            (json!({ "outputSchema": nested(JSON_DEPTH_MAX) }), &["outputSchema"]),
            (json!({ "timeLimitSeconds": 0 }), &["timeLimitSeconds"]),
            (
                json!({ "kind": "mcp", "mcp": { "server": "A", "tool": "a b" }, "requiresConfirmation": true }),
                &["mcp.server", "mcp.tool"],
            ),
            (json!({ "timeLimitSeconds": TOOL_TIME_LIMIT_SECONDS_MAX + 1 }), &["timeLimitSeconds"]),
            (json!({ "retries": 11 }), &["retries"]),
            (json!({ "privateFields": ["street", "/person~2"] }), &["privateFields[0]", "privateFields[1]"]),
            (json!({ "privateFields": ["person", "/person"] }), &["privateFields[1]"]),
            (json!({ "privateFields": [format!("/person/{}", "x".repeat(500))] }), &["privateFields[0]"]),
            (json!({ "privateFields": vec!["person"; TOOL_PRIVATE_FIELDS_MAX + 1] }), &["privateFields"]),
            (json!({ "audience": { "roles": ["admin", "admin"] } }), &["audience.roles[1]"]),
            (json!({ "audience": { "groups": ["Leads", "a", "a"] } }), &["audience.groups[0]", "audience.groups[2]"]),
            (json!({ "audience": { "groups": vec!["a"; TOOL_GROUPS_MAX + 1] } }), &["audience.groups"]),
            (json!({ "description": "x".repeat(DOCUMENT_BYTES_MAX), "retries": 11 }), &["retries", "definition"]),
        ] {
            assert_eq!(issues(bad.clone()), fields, "{bad:.200}");
        }
    }
}
