//! Messages and tool calls in OpenAI's chat format, and the context that a model was given with them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The instructions to the agent.
    System,
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// A tool that answers a call.
    Tool,
}

impl Role {
    /// Name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// A message in OpenAI's chat format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Author of the message.
    pub role: Role,
    /// Text of the message. It is empty if an agent only calls tools.
    pub content: String,
    /// Calls of an agent's message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Id of the call that a tool's message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Name of the tool that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Message {
    /// Returns a message with a text and no calls.
    pub fn new(role: Role, content: impl Into<String>) -> Message {
        Message { role, content: content.into(), tool_calls: Vec::new(), tool_call_id: None, name: None }
    }

    /// Returns an agent's message with calls and an empty text.
    pub fn calling(calls: Vec<ToolCall>) -> Message {
        Message { tool_calls: calls, ..Message::new(Role::Assistant, "") }
    }

    /// Returns the message of a tool that answers `call`.
    pub fn answering(call: &ToolCall, content: impl Into<String>) -> Message {
        let (tool_call_id, name) = (Some(call.id.clone()), Some(call.function.name.clone()));
        Message { tool_call_id, name, ..Message::new(Role::Tool, content) }
    }
}

/// The type of a call. The format has only one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallType {
    /// A call of a function.
    #[default]
    Function,
}

/// A tool that the model wants to use, with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Id of the call, unique in its session.
    pub id: String,
    /// Always `function`.
    #[serde(default)]
    pub r#type: CallType,
    /// Tool and arguments.
    pub function: FunctionCall,
}

impl ToolCall {
    /// Returns a call of the tool `name`.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Map<String, Value>) -> ToolCall {
        let function = FunctionCall { name: name.into(), arguments };
        ToolCall { id: id.into(), r#type: CallType::Function, function }
    }
}

/// A tool and the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// Name of the tool.
    pub name: String,
    /// Arguments as an object, not as its JSON text.
    pub arguments: Map<String, Value>,
}

/// The context that a model was given beside the messages. It is stored in the metadata of an `agent.*` event
/// under [`ModelContext::KEY`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelContext {
    /// System prompt: `None` if it is unknown, empty if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Tools as function schemas: `{"type": "function", "function": {"name", "description", "parameters"}}`.
    /// `None` if they are unknown, empty if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Value>>,
}

impl ModelContext {
    /// Key of the context in an event's metadata.
    pub const KEY: &'static str = "modelContext";

    /// Reads the context from an event's metadata. Workers write it, so a field with another shape counts as
    /// absent. A list of tools counts as absent if one entry is not a function schema.
    pub fn of(metadata: &str) -> Option<ModelContext> {
        // Most events have no context. Their metadata is not parsed.
        if !metadata.contains(Self::KEY) {
            return None;
        }
        let metadata: Value = serde_json::from_str(metadata).ok()?;
        let context = metadata.get(Self::KEY)?;
        let system = context["system"].as_str().map(str::to_owned);
        let tools = context["tools"].as_array().filter(|tools| tools.iter().all(is_function)).cloned();
        (system.is_some() || tools.is_some()).then_some(ModelContext { system, tools })
    }
}

fn is_function(tool: &Value) -> bool {
    tool["type"] == "function" && tool["function"]["name"].as_str().is_some_and(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_have_the_shape_of_the_chat_format() {
        let arguments = json!({ "to": "ann" }).as_object().unwrap().clone();
        let call = ToolCall::new("c1", "send", arguments);
        let call_json =
            json!({ "id": "c1", "type": "function", "function": { "name": "send", "arguments": { "to": "ann" } } });
        for (message, expected) in [
            (Message::new(Role::User, "Hi"), json!({ "role": "user", "content": "Hi" })),
            (
                Message::answering(&call, "sent"),
                json!({ "role": "tool", "content": "sent", "tool_call_id": "c1", "name": "send" }),
            ),
            (Message::calling(vec![call]), json!({ "role": "assistant", "content": "", "tool_calls": [call_json] })),
        ] {
            assert_eq!(serde_json::to_value(&message).unwrap(), expected);
            assert_eq!(serde_json::from_value::<Message>(expected).unwrap(), message);
        }
    }

    #[test]
    fn a_context_of_another_shape_is_not_known() {
        let tool = json!({ "type": "function", "function": { "name": "send" } });
        let of = |context: Value| ModelContext::of(&json!({ "modelContext": context }).to_string());
        let known = ModelContext { system: Some("Be brief.".into()), tools: Some(vec![tool.clone()]) };
        assert_eq!(of(json!({ "system": "Be brief.", "tools": [tool] })), Some(known));
        assert_eq!(of(json!({ "tools": [] })), Some(ModelContext { system: None, tools: Some(Vec::new()) }));
        let only_system = Some(ModelContext { system: Some(String::new()), tools: None });
        assert_eq!(of(json!({ "system": "", "tools": [tool, "send"] })), only_system);
        for wrong in [json!(null), json!("x"), json!({}), json!({ "system": 1, "tools": { "a": 1 } })] {
            assert_eq!(of(wrong), None);
        }
        assert_eq!(ModelContext::of("{}"), None);
        assert_eq!(ModelContext::of("modelContext"), None);
    }
}
