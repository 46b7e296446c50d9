//! What the events of a tool's call have in common: `tool.invocation_started`, `…_completed` and `…_failed`.

use super::{
    payload::{Members, Payload, text_content, text_of},
    tool_part::calls,
};
use serde_json::{Map, Value};

/// The call of a tool, as a worker reports it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Invocation {
    /// What the worker says about it.
    pub text: Option<String>,
    /// The events of one call have the same.
    pub tool_call_id: Option<String>,
    /// As the worker names it.
    pub tool_name: Option<String>,
    /// Arguments of the call.
    pub input: Option<Value>,
}

impl Payload for Invocation {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        // Some workers write the call as a part of the content, as in `agent.tool_call`.
        let part = calls(content).into_iter().next();
        let (id, name, input) = part.map_or((None, None, None), |part| (part.id, part.name, Some(part.input)));
        Some(Self {
            text: text_of(content),
            tool_call_id: members.text(&["toolCallId", "invocationId", "tool_call_id"]).or(id),
            tool_name: members.text(&["toolName", "tool", "tool_name"]).or(name),
            input: members.value("input").cloned().or(input),
        })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        let Self { tool_call_id, tool_name, input, .. } = self;
        let texts = [("toolCallId", tool_call_id), ("toolName", tool_name)];
        let texts = texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text.clone()?.into())));
        let input = input.clone().map(|input| ("input".to_owned(), input));
        Value::Object(texts.chain(input).collect::<Map<_, _>>()).to_string()
    }
}
