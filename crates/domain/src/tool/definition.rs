//! What a tool does: everything that a published version fixes.

use super::{Audience, Composite};
use crate::{
    json_pointer::{escaped, unescaped},
    limit::TOOL_TIME_LIMIT_SECONDS_DEFAULT,
    names::names,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// How a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The server calls an HTTP service.
    Http,
    /// A worker claims the run.
    Worker,
    /// The run starts runs of other tools.
    Composite,
    /// The server calls a tool of an MCP server.
    Mcp,
}

names!(Kind { Http = "http", Worker = "worker", Composite = "composite", Mcp = "mcp" });

/// Method of an HTTP call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Method {
    /// Reads; without a body.
    #[serde(rename = "GET")]
    Get,
    /// Creates or does something.
    #[serde(rename = "POST")]
    Post,
    /// Replaces.
    #[serde(rename = "PUT")]
    Put,
    /// Changes.
    #[serde(rename = "PATCH")]
    Patch,
    /// Removes what the URL names.
    #[serde(rename = "DELETE")]
    Delete,
}

names!(Method { Get = "GET", Post = "POST", Put = "PUT", Patch = "PATCH", Delete = "DELETE" });

/// Body of an HTTP call. In JSON: `"none"`, `"input"` or `{"template": …}`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// No body.
    #[default]
    None,
    /// The whole input as JSON.
    Input,
    /// This JSON. A string in it that is exactly `{/pointer}` is replaced by the value at that JSON Pointer of the
    /// input.
    Template(Value),
}

impl Body {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// A call of an HTTP service, with placeholders for parts of the input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpCall {
    /// Method of the call.
    pub method: Method,
    /// Absolute `https` or `http` URL. `{name}` after its host is replaced by the top-level field `name` of the input,
    /// percent-encoded.
    pub url: String,
    /// Values of headers by their names. `{name}` in a value is replaced as in the URL, but not encoded;
    /// `{secret:NAME}` is replaced by a secret of the tool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Body of the call, sent as `application/json` if there is one.
    #[serde(default, skip_serializing_if = "Body::is_none")]
    pub body: Body,
}

/// A call of a tool of an MCP server. The whole input is its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpCall {
    /// Slug of the MCP server.
    pub server: String,
    /// The name by which the server calls the tool.
    pub tool: String,
}

/// How a tool runs, with what its kind needs. In JSON: the member `kind`, and beside it a member with the kind's name
/// if the kind has settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Implementation {
    /// The server calls an HTTP service.
    Http {
        /// The call.
        http: HttpCall,
    },
    /// A worker claims the run as a session of the agent `tool:<slug>`.
    Worker {},
    /// The run starts runs of other tools.
    Composite {
        /// Its steps.
        composite: Composite,
    },
    /// The server calls a tool of an MCP server.
    Mcp {
        /// The call.
        mcp: McpCall,
    },
}

impl Implementation {
    /// The kind of the tool.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Http { .. } => Kind::Http,
            Self::Worker {} => Kind::Worker,
            Self::Composite { .. } => Kind::Composite,
            Self::Mcp { .. } => Kind::Mcp,
        }
    }
}

/// What a tool does. Publishing copies it to a version that never changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    /// Name that people read, 1 to 200 characters.
    pub name: String,
    /// What the tool does and when to use it, for people and models. At most 10,000 characters; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How the tool runs.
    #[serde(flatten)]
    pub implementation: Implementation,
    /// JSON Schema 2020-12 of the input, which is an object.
    pub input_schema: Value,
    /// JSON Schema 2020-12 of the result. `None` allows any result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Longest time of one attempt, seconds.
    #[serde(default = "default_time_limit")]
    pub time_limit_seconds: u32,
    /// Further attempts after the first one failed.
    #[serde(default)]
    pub retries: u32,
    /// Whether a call with an unknown outcome may be repeated: one that may have run, because a time limit, a lost
    /// connection or a crash hides its end.
    #[serde(default)]
    pub repeatable: bool,
    /// Whether a person must approve each run before the call.
    #[serde(default)]
    pub requires_confirmation: bool,
    /// Parts of the input that no log, list or shared page shows: names of top-level fields, or JSON Pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub private_fields: Vec<String>,
    /// Who may run the tool.
    #[serde(default, skip_serializing_if = "Audience::is_default")]
    pub audience: Audience,
}

const fn default_time_limit() -> u32 {
    TOOL_TIME_LIMIT_SECONDS_DEFAULT
}

impl Definition {
    /// The kind of the tool.
    pub const fn kind(&self) -> Kind {
        self.implementation.kind()
    }

    /// The steps of a composite tool; `None` for tools of other kinds.
    pub const fn composite(&self) -> Option<&Composite> {
        match &self.implementation {
            Implementation::Composite { composite } => Some(composite),
            Implementation::Http { .. } | Implementation::Worker {} | Implementation::Mcp { .. } => None,
        }
    }

    /// The call of an HTTP service; `None` for tools of other kinds.
    pub const fn http(&self) -> Option<&HttpCall> {
        match &self.implementation {
            Implementation::Http { http } => Some(http),
            Implementation::Worker {} | Implementation::Composite { .. } | Implementation::Mcp { .. } => None,
        }
    }

    /// The call of a tool of an MCP server; `None` for tools of other kinds.
    pub const fn mcp(&self) -> Option<&McpCall> {
        match &self.implementation {
            Implementation::Mcp { mcp } => Some(mcp),
            Implementation::Http { .. } | Implementation::Worker {} | Implementation::Composite { .. } => None,
        }
    }

    /// JSON Pointers of the parts of the input that are private.
    pub fn private_pointers(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.private_fields.iter().map(|field| to_pointer(field))
    }

    /// Whether a top-level field of the input is private, or a part of it is.
    pub fn has_private_part(&self, field: &str) -> bool {
        let is_of_field = |pointer: Cow<'_, str>| {
            let first = pointer.strip_prefix('/').and_then(|rest| rest.split('/').next());
            first.is_some_and(|first| unescaped(first) == field)
        };
        self.private_pointers().any(is_of_field)
    }
}

/// The JSON Pointer of a private field. A text that begins with `/` is a pointer already.
pub(super) fn to_pointer(field: &str) -> Cow<'_, str> {
    if field.starts_with('/') {
        return field.into();
    }
    format!("/{}", escaped(field)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::Role;
    use serde_json::json;

    fn read(value: Value) -> Definition {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_definition_has_one_form_in_the_database_and_in_json() {
        let short = read(json!({ "name": "Echo", "kind": "worker", "inputSchema": { "type": "object" } }));
        assert_eq!((short.time_limit_seconds, short.retries, short.repeatable), (60, 0, false));
        assert_eq!(short.kind(), Kind::Worker);
        let whole = json!({
            "name": "Weather", "description": "Tells the weather.", "kind": "http",
            "http": {
                "method": "POST", "url": "https://example.org/{city}",
                "headers": { "authorization": "Bearer {secret:KEY}" }, "body": { "template": { "days": "{/days}" } },
            },
            "inputSchema": { "type": "object" }, "outputSchema": true, "timeLimitSeconds": 5, "retries": 2,
            "repeatable": true, "requiresConfirmation": true, "privateFields": ["city"],
            "audience": { "roles": ["admin"], "groups": ["leads"] },
        });
        let definition = read(whole.clone());
        assert_eq!(serde_json::to_value(&definition).unwrap(), whole);
        assert_eq!(
            definition.audience,
            Audience { roles: vec![Role::Admin], groups: vec!["leads".to_owned()], link: false }
        );
        let by_link = json!({ "name": "Echo", "kind": "worker", "inputSchema": {}, "audience": { "link": true } });
        assert_eq!(serde_json::to_value(read(by_link)).unwrap()["audience"], json!({ "link": true }));
        for (text, body) in [(json!("none"), Body::None), (json!("input"), Body::Input)] {
            assert_eq!(serde_json::from_value::<Body>(text).unwrap(), body);
        }
    }

    #[test]
    fn a_composite_definition_has_the_same_form_in_the_database_and_in_json() {
        let whole = json!({
            "name": "Trip", "kind": "composite",
            "composite": {
                "steps": [
                    { "name": "place", "tool": "geocode", "input": { "city": "{/input/city}" } },
                    {
                        "name": "weather", "tool": "weather", "version": 3, "input": { "at": "{/steps/place/at}" },
                        "after": ["place"], "onFailure": "continue", "retries": 2, "backoffSeconds": 5,
                    },
                ],
                "result": { "weather": "{/steps/weather}" },
            },
            "inputSchema": { "type": "object" }, "timeLimitSeconds": 5, "retries": 0, "repeatable": false,
            "requiresConfirmation": false,
        });
        let definition = read(whole.clone());
        assert_eq!(serde_json::to_value(&definition).unwrap(), whole);
        let steps = &definition.composite().unwrap().steps;
        assert_eq!((steps[0].retries, steps[0].version, &steps[0].after), (0, None, &vec![]));
        let unknown = json!({ "steps": [{ "name": "a", "tool": "b", "onfailure": "stop" }] });
        assert!(serde_json::from_value::<Composite>(unknown).is_err());
    }

    #[test]
    fn a_private_field_is_a_name_or_a_pointer() {
        let mut definition = read(json!({ "name": "Echo", "kind": "worker", "inputSchema": {} }));
        definition.private_fields = ["city", "a/b~c", "/home/street"].map(str::to_owned).to_vec();
        let pointers: Vec<_> = definition.private_pointers().collect();
        assert_eq!(pointers, ["/city", "/a~1b~0c", "/home/street"]);
        let private = ["city", "a/b~c", "home", "street", ""].map(|field| definition.has_private_part(field));
        assert_eq!(private, [true, true, true, false, false]);
    }
}
