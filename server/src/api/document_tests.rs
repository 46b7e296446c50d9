//! What holds of the whole document.

use domain::limit;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn document() -> Value {
    serde_json::from_str(crate::api::document_json()).unwrap()
}

fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let named = paths.iter().flat_map(|(path, item)| {
        item.as_object().unwrap().iter().map(move |(method, op)| (format!("{method} {path}"), op))
    });
    named.collect()
}

#[test]
fn the_document_is_as_reviewed() {
    insta::assert_snapshot!(crate::api::document_json());
}

#[test]
fn every_operation_has_a_summary_an_id_of_its_own_a_tag_and_a_success() {
    let document = document();
    let mut ids = BTreeSet::new();
    for (name, operation) in operations(&document) {
        assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
        assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{name}: operationId is taken");
        assert_eq!(operation["tags"].as_array().unwrap().len(), 1, "{name}");
        let statuses = operation["responses"].as_object().unwrap();
        assert!(statuses.keys().any(|status| status.starts_with('2')), "{name}");
        assert!(statuses.contains_key("500"), "{name}");
    }
}

#[test]
fn a_code_is_named_at_its_own_status() {
    let document = document();
    for (name, operation) in operations(&document) {
        for (status, response) in operation["responses"].as_object().unwrap() {
            let description = response["description"].as_str().unwrap_or_default();
            for code in wire::Code::ALL.iter().filter(|code| description.contains(&format!("`{}`", code.as_str()))) {
                assert_eq!(code.http_status().to_string(), *status, "{name}: {}", code.as_str());
            }
        }
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn walk(value: &Value, document: &Value) {
        match value {
            Value::Object(map) => {
                if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                    let pointer = reference.strip_prefix('#').unwrap();
                    assert!(document.pointer(pointer).is_some(), "{reference}");
                }
                map.values().for_each(|value| walk(value, document));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(value, document)),
            _ => {}
        }
    }
    let document = document();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    walk(&document, &document);
}

#[test]
fn everything_under_api_but_this_document_needs_credentials() {
    let document = document();
    let open: Vec<_> = operations(&document)
        .into_iter()
        .filter(|(_, op)| op.get("security").is_some())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(open, ["get /api/openapi.json", "get /healthz", "get /metrics", "get /readyz"]);
}

/// Reviewed texts without a length limit: content of events, answers of agents, and texts that the product writes.
const UNBOUNDED: [&str; 39] = [
    // Returned as it was sent, so that a result can be matched with its decision.
    "DecideOne.id",
    "DecidedOne.id",
    // The size of the whole event is limited, in bytes.
    "EventContent",
    "Part.type",
    "StreamEvent.data",
    "Interaction.response",
    "Page_Interaction.items.response",
    "PromptMessage.content",
    // Texts of the log, cut to a limit of the ledger.
    "HistoryTurn.speaker",
    "HistoryTurn.text",
    "HistoryTurn.tool",
    // The product composes these from many limited texts.
    "ClaimedSession.context",
    "RecentActivity.text",
    "Resume.block",
    "SessionContext.block",
    // A part of a snippet of `SEARCH_SNIPPET_CHARS`, which ends with a whole word.
    "SnippetPiece.text",
    // The name of a task, a title, a path or a question, each bounded where it is written.
    "FoundRecord.name",
    "ForgottenInteractions.kept",
    "ForgottenPerson.kept",
    "ForgottenPerson.names",
    "ForgottenPerson.shortNames",
    "PlannedField.field",
    "RowError.field",
    "RowError.message",
    // These repeat what was sent.
    "FieldProblem.field",
    "FieldProblem.message",
    "Problem.detail",
    // Names of its members are slugs of the type's fields. Another one is refused.
    "PromoteResponse.fields",
    "PromoteToolSession.fields",
    // What an MCP server sends. The size of its whole list is limited, in bytes.
    "McpTool.description",
    "McpTool.name",
    "McpTool.title",
    "McpTools.gone",
    "RefusedMcpTool.name",
    "RefusedMcpTool.reason",
    // Names of headers, whose requests have a pattern for them.
    "McpServer.secretHeaders",
    "Page_McpServer.items.secretHeaders",
    // A text that is no name counts as none.
    "WorkerName",
    // Responses in plain text, such as metrics.
    "the body of an answer",
];

/// Collects the places of all string schemas without a length limit.
fn unbounded(value: &Value, place: &str, found: &mut BTreeSet<String>) {
    let Value::Object(map) = value else {
        if let Value::Array(items) = value {
            items.iter().for_each(|item| unbounded(item, place, found));
        }
        return;
    };
    let kind = map.get("type");
    let is_text =
        kind == Some(&json!("string")) || kind.and_then(Value::as_array).is_some_and(|k| k.contains(&json!("string")));
    let bounds = ["enum", "const", "format", "pattern", "maxLength"];
    if is_text && !bounds.iter().any(|bound| map.contains_key(*bound)) {
        found.insert(place.to_owned());
    }
    if let Some(Value::Object(properties)) = map.get("properties") {
        for (name, property) in properties {
            unbounded(property, &format!("{place}.{name}"), found);
        }
    }
    for (name, inner) in map {
        if name != "properties" && name != "example" && name != "examples" {
            unbounded(inner, place, found);
        }
    }
}

#[test]
fn every_text_has_a_bound_or_is_a_reviewed_exception() {
    let document = document();
    let mut found = BTreeSet::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        unbounded(schema, name, &mut found);
    }
    for (name, operation) in operations(&document) {
        unbounded(&operation["parameters"], &name, &mut found);
        unbounded(&operation["requestBody"], &name, &mut found);
        let mut answers = BTreeSet::new();
        unbounded(&operation["responses"], "the body of an answer", &mut answers);
        found.append(&mut answers);
    }
    let reviewed: BTreeSet<_> = UNBOUNDED.map(str::to_owned).into();
    assert_eq!(found, reviewed);
}

#[test]
fn what_has_an_id_in_its_path_may_be_not_found() {
    for (name, operation) in operations(&document()) {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let named = parameters.filter(|parameter| parameter["in"] == "path").count();
        assert!(named == 0 || operation["responses"].get("404").is_some(), "{name}");
        assert_eq!(named, name.matches('{').count(), "{name}: parameters of its path");
    }
}

#[test]
fn every_answer_with_a_body_says_what_it_is() {
    let document = document();
    for (name, operation) in operations(&document) {
        for (status, response) in operation["responses"].as_object().unwrap() {
            let response = match response.get("$ref").and_then(Value::as_str) {
                Some(reference) => document.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
                None => response,
            };
            let kinds = response.get("content").and_then(Value::as_object).map_or(0, serde_json::Map::len);
            // The answer to a deletion that is still to be made has no body either.
            let is_late = status == "202" && name.starts_with("delete ");
            let is_empty = is_late || matches!(status.as_str(), "204" | "304" | "431");
            assert_eq!(kinds == 0, is_empty, "{name}: {status}");
        }
        if let Some(body) = operation.get("requestBody") {
            assert!(body["content"].as_object().is_some_and(|content| !content.is_empty()), "{name}");
        }
    }
}

/// Attributes take literal numbers only; this is where they meet the constants that the server enforces.
#[test]
fn the_documented_bounds_are_the_enforced_ones() {
    let document = document();
    for (name, property, bound, enforced) in [
        ("Append", "events", "minItems", 1),
        ("Append", "events", "maxItems", limit::BATCH_EVENTS_MAX),
        ("RunTool", "waitSeconds", "maximum", limit::TOOL_RUN_WAIT_SECONDS_MAX as usize),
        ("Claim", "agentSlugs", "minItems", 1),
        ("Claim", "agentSlugs", "maxItems", limit::CLAIM_AGENTS_MAX),
        ("Claim", "leaseSeconds", "maximum", limit::LEASE_SECONDS_MAX as usize),
        ("Claim", "leaseSeconds", "minimum", limit::LEASE_SECONDS_MIN as usize),
        ("Claim", "max", "maximum", limit::CLAIM_MAX as usize),
        ("Claim", "max", "minimum", 1),
        ("Claim", "waitSeconds", "maximum", limit::CLAIM_WAIT_SECONDS_MAX as usize),
        ("CreateCriteriaSet", "dimensions", "maxItems", limit::CRITERIA_DIMENSIONS_MAX),
        ("CreateEntityType", "fields", "maxItems", limit::ENTITY_FIELDS_MAX),
        ("CreateGroup", "members", "maxItems", limit::GROUP_MEMBERS_MAX),
        ("CreateSession", "dependsOn", "maxItems", limit::DEPENDENCIES_MAX),
        ("DecideMany", "decisions", "maxItems", limit::DECISIONS_BATCH_MAX),
        ("DecideMany", "decisions", "minItems", 1),
        ("RenameMemory", "baseVersion", "maximum", limit::SEQUENCE_MAX as usize),
        ("RevertMemory", "baseVersion", "maximum", limit::SEQUENCE_MAX as usize),
        ("RevertMemory", "toVersion", "maximum", limit::SEQUENCE_MAX as usize),
        ("Snooze", "seconds", "maximum", limit::SNOOZE_SECONDS_MAX as usize),
        ("Snooze", "seconds", "minimum", 1),
        ("SupplyToolResults", "results", "maxItems", limit::TOOL_RESULTS_MAX),
        ("SupplyToolResults", "results", "minItems", 1),
        ("Trigger", "dependsOn", "maxItems", limit::DEPENDENCIES_MAX),
        ("UpdateCriteriaSet", "dimensions", "maxItems", limit::CRITERIA_DIMENSIONS_MAX),
        ("UpdateEntityType", "fields", "maxItems", limit::ENTITY_FIELDS_MAX),
        ("UpdateGroup", "addMembers", "maxItems", limit::GROUP_MEMBERS_MAX),
        ("UpdateWorkspace", "undoSeconds", "maximum", limit::UNDO_SECONDS_MAX as usize),
        ("Wake", "leaseSeconds", "maximum", limit::LEASE_SECONDS_MAX as usize),
        ("Wake", "leaseSeconds", "minimum", limit::LEASE_SECONDS_MIN as usize),
        ("Workspace", "undoSeconds", "maximum", limit::UNDO_SECONDS_MAX as usize),
        ("WriteMemory", "baseVersion", "maximum", limit::SEQUENCE_MAX as usize),
        ("WriteMemory", "evidence", "maxItems", limit::MEMORY_EVIDENCE_MAX),
    ] {
        let documented = &document["components"]["schemas"][name]["properties"][property][bound];
        assert_eq!(documented.as_f64(), Some(enforced as f64), "{name}.{property} {bound}");
    }
    for (name, operation) in operations(&document) {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let maximum = parameter["schema"]["maximum"].as_f64();
            let enforced = match parameter["name"].as_str().unwrap() {
                "limit" if name.ends_with("/memory/search") => f64::from(limit::MEMORY_FOUND_MAX),
                "limit" if name.contains("/history/") => f64::from(limit::HISTORY_TURNS_MAX),
                "limit" if name.ends_with("/api/canvases/{id}/patches") => f64::from(limit::CANVAS_BEHIND_MAX),
                "waitSeconds" => f64::from(limit::CANVAS_WAIT_SECONDS_MAX),
                "limit" if maximum.is_some() => f64::from(limit::PAGE_MAX),
                "days" => f64::from(limit::INSIGHT_DAYS_MAX),
                "version" | "baseVersion" | "from" | "to" | "sequence"
                    if name.contains("/memory/") || name.contains("/responses") =>
                {
                    limit::SEQUENCE_MAX as f64
                }
                _ => {
                    assert_eq!(maximum, None, "{name}: nobody compares this maximum");
                    continue;
                }
            };
            assert_eq!(maximum, Some(enforced), "{name}");
        }
    }
}
