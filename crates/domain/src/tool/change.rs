//! A definition in parts, as requests, files and pages send it.

use super::{Audience, Composite, Definition, HttpCall, Implementation, Kind, McpCall};
use crate::{issue::Issue, limit::TOOL_TIME_LIMIT_SECONDS_DEFAULT};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Parts of a definition. A part that is `None` keeps its value, or has its default in a new definition.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Change {
    /// Name that people read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the tool does and when to use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How the tool runs. Without `http`, `composite` or `mcp`, a tool that is of this kind already keeps its call or
    /// steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The call of an `http` tool, as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpCall>,
    /// The steps of a `composite` tool, as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub composite: Option<Composite>,
    /// The call of an `mcp` tool, as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpCall>,
    /// JSON Schema of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// JSON Schema of the result. `Some(None)`, in JSON `null`, removes it.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Option<Value>>,
    /// Longest time of one attempt, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit_seconds: Option<u32>,
    /// Further attempts after the first one failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// Whether a call with an unknown outcome may be repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeatable: Option<bool>,
    /// Whether a person must approve each run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_confirmation: Option<bool>,
    /// All private fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_fields: Option<Vec<String>>,
    /// Who may run the tool, as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

/// Reads a member that is there: `null` is a value.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Value>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl Change {
    /// Makes a new definition.
    ///
    /// # Errors
    /// One [`Issue`] for each part that is missing or does not fit the kind.
    pub fn define(self) -> Result<Definition, Vec<Issue>> {
        let mut issues = Vec::new();
        let mut missing = |field: &str| issues.push(Issue::new(field, "missing"));
        if self.name.is_none() {
            missing("name");
        }
        if self.kind.is_none() {
            missing("kind");
        }
        if self.input_schema.is_none() {
            missing("inputSchema");
        }
        let given = OfKind { http: self.http, composite: self.composite, mcp: self.mcp };
        let implementation = match self.kind.map(|kind| implementation(kind, given)) {
            Some(Ok(implementation)) => Some(implementation),
            Some(Err(issue)) => {
                issues.push(issue);
                None
            }
            None => None,
        };
        let (Some(name), Some(implementation), Some(input_schema)) = (self.name, implementation, self.input_schema)
        else {
            return Err(issues);
        };
        Ok(Definition {
            name,
            description: self.description.unwrap_or_default(),
            implementation,
            input_schema,
            output_schema: self.output_schema.flatten(),
            time_limit_seconds: self.time_limit_seconds.unwrap_or(TOOL_TIME_LIMIT_SECONDS_DEFAULT),
            retries: self.retries.unwrap_or_default(),
            repeatable: self.repeatable.unwrap_or_default(),
            requires_confirmation: self.requires_confirmation.unwrap_or_default(),
            private_fields: self.private_fields.unwrap_or_default(),
            audience: self.audience.unwrap_or_default(),
        })
    }

    /// Changes a definition.
    ///
    /// # Errors
    /// One [`Issue`] if the call or the steps do not fit the kind.
    pub fn apply(self, to: Definition) -> Result<Definition, Vec<Issue>> {
        let given = OfKind { http: self.http, composite: self.composite, mcp: self.mcp };
        let implementation = match (self.kind.unwrap_or(to.kind()), to.implementation) {
            (Kind::Http, kept @ Implementation::Http { .. })
            | (Kind::Composite, kept @ Implementation::Composite { .. })
            | (Kind::Mcp, kept @ Implementation::Mcp { .. })
                if given.is_nothing() =>
            {
                kept
            }
            (kind, _) => implementation(kind, given).map_err(|issue| vec![issue])?,
        };
        Ok(Definition {
            name: self.name.unwrap_or(to.name),
            description: self.description.unwrap_or(to.description),
            implementation,
            input_schema: self.input_schema.unwrap_or(to.input_schema),
            output_schema: self.output_schema.unwrap_or(to.output_schema),
            time_limit_seconds: self.time_limit_seconds.unwrap_or(to.time_limit_seconds),
            retries: self.retries.unwrap_or(to.retries),
            repeatable: self.repeatable.unwrap_or(to.repeatable),
            requires_confirmation: self.requires_confirmation.unwrap_or(to.requires_confirmation),
            private_fields: self.private_fields.unwrap_or(to.private_fields),
            audience: self.audience.unwrap_or(to.audience),
        })
    }
}

impl From<Definition> for Change {
    /// All parts of a definition.
    fn from(definition: Definition) -> Self {
        let kind = definition.kind();
        let given = match definition.implementation {
            Implementation::Http { http } => OfKind { http: Some(http), ..OfKind::default() },
            Implementation::Worker {} => OfKind::default(),
            Implementation::Composite { composite } => OfKind { composite: Some(composite), ..OfKind::default() },
            Implementation::Mcp { mcp } => OfKind { mcp: Some(mcp), ..OfKind::default() },
        };
        Self {
            name: Some(definition.name),
            description: Some(definition.description),
            kind: Some(kind),
            http: given.http,
            composite: given.composite,
            mcp: given.mcp,
            input_schema: Some(definition.input_schema),
            output_schema: Some(definition.output_schema),
            time_limit_seconds: Some(definition.time_limit_seconds),
            retries: Some(definition.retries),
            repeatable: Some(definition.repeatable),
            requires_confirmation: Some(definition.requires_confirmation),
            private_fields: Some(definition.private_fields),
            audience: Some(definition.audience),
        }
    }
}

/// The parts of a change that only tools of one kind have.
#[derive(Default)]
struct OfKind {
    http: Option<HttpCall>,
    composite: Option<Composite>,
    mcp: Option<McpCall>,
}

impl OfKind {
    const fn is_nothing(&self) -> bool {
        self.http.is_none() && self.composite.is_none() && self.mcp.is_none()
    }
}

fn implementation(kind: Kind, OfKind { http, composite, mcp }: OfKind) -> Result<Implementation, Issue> {
    if http.is_some() && kind != Kind::Http {
        return Err(Issue::new("http", "only a tool of the kind `http` has a call"));
    }
    if composite.is_some() && kind != Kind::Composite {
        return Err(Issue::new("composite", "only a tool of the kind `composite` has steps"));
    }
    if mcp.is_some() && kind != Kind::Mcp {
        return Err(Issue::new("mcp", "only a tool of the kind `mcp` calls a tool of an MCP server"));
    }
    match kind {
        Kind::Http => {
            let missing = Issue::new("http", "missing: a tool of the kind `http` has a call");
            http.map(|http| Implementation::Http { http }).ok_or(missing)
        }
        Kind::Worker => Ok(Implementation::Worker {}),
        Kind::Composite => {
            let missing = Issue::new("composite", "missing: a tool of the kind `composite` has steps");
            composite.map(|composite| Implementation::Composite { composite }).ok_or(missing)
        }
        Kind::Mcp => {
            let missing = Issue::new("mcp", "missing: a tool of the kind `mcp` names a server and its tool");
            mcp.map(|mcp| Implementation::Mcp { mcp }).ok_or(missing)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn change(value: Value) -> Change {
        serde_json::from_value(value).unwrap()
    }

    fn refused(made: Result<Definition, Vec<Issue>>) -> Vec<String> {
        made.unwrap_err().into_iter().map(|issue| issue.field).collect()
    }

    #[test]
    fn a_new_definition_needs_a_name_a_kind_and_a_schema() {
        assert_eq!(refused(change(json!({})).define()), ["name", "kind", "inputSchema"]);
        assert_eq!(refused(change(json!({ "name": "A", "kind": "http", "inputSchema": {} })).define()), ["http"]);
        let http = json!({ "method": "GET", "url": "https://example.org" });
        let worker = json!({ "name": "A", "kind": "worker", "inputSchema": {}, "http": http });
        assert_eq!(refused(change(worker).define()), ["http"]);
        let steps = json!({ "steps": [] });
        for (kind, composite) in [("composite", json!(null)), ("worker", steps.clone()), ("http", steps)] {
            let mixed = json!({ "name": "A", "kind": kind, "inputSchema": {}, "composite": composite });
            assert_eq!(refused(change(mixed).define()), ["composite"], "{kind}");
        }
    }

    #[test]
    fn a_part_that_is_left_out_stays() {
        let http = json!({ "method": "GET", "url": "https://example.org" });
        let whole = json!({
            "name": "A", "description": "B", "kind": "http", "http": http, "inputSchema": { "type": "object" },
            "outputSchema": { "type": "string" }, "timeLimitSeconds": 5, "retries": 2, "repeatable": true,
            "requiresConfirmation": true, "privateFields": ["x"], "audience": { "roles": ["admin"] },
        });
        let definition = change(whole).define().unwrap();
        assert_eq!(Change::default().apply(definition.clone()), Ok(definition.clone()));
        assert_eq!(Change::from(definition.clone()).define(), Ok(definition.clone()));
        let kept = change(json!({ "kind": "http", "name": "C" })).apply(definition.clone()).unwrap();
        assert_eq!((kept.name.as_str(), &kept.implementation), ("C", &definition.implementation));
        assert_eq!(change(json!({ "outputSchema": null })).apply(definition.clone()).unwrap().output_schema, None);
        let worker = change(json!({ "kind": "worker" })).apply(definition).unwrap();
        assert_eq!(worker.kind(), Kind::Worker);
        assert_eq!(refused(change(json!({ "kind": "http" })).apply(worker.clone())), ["http"]);
        let composite = json!({ "kind": "composite", "composite": { "steps": [{ "name": "a", "tool": "b" }] } });
        let composite = change(composite).apply(worker).unwrap();
        assert_eq!(Change::from(composite.clone()).define(), Ok(composite.clone()));
        assert_eq!(change(json!({ "kind": "composite" })).apply(composite.clone()), Ok(composite.clone()));
        let mcp = json!({ "kind": "mcp", "mcp": { "server": "files", "tool": "read" } });
        let mcp = change(mcp).apply(composite).unwrap();
        assert_eq!(Change::from(mcp.clone()).define(), Ok(mcp.clone()));
        assert_eq!(change(json!({ "name": "A", "kind": "mcp" })).apply(mcp.clone()), Ok(mcp.clone()));
        assert_eq!(refused(change(json!({ "kind": "worker", "mcp": mcp.mcp() })).apply(mcp)), ["mcp"]);
    }

    #[test]
    fn a_part_that_is_none_is_refused() {
        let wrong = serde_json::from_value::<Change>(json!({ "inputschema": {} })).unwrap_err();
        assert!(wrong.to_string().contains("`inputschema`"), "{wrong}");
    }
}
