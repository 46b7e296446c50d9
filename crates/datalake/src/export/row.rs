//! One example to learn from, in the shapes that TRL documents.

use super::redacted::{redact_tools, redacted};
use crate::{
    record::{InteractionRecord, Message, Role},
    redact::{InvalidRule, Redactor},
};
use domain::message::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Tools that an agent had, as function schemas; null where they are not known.
pub type Tools = Option<Vec<Value>>;

/// A row of an export. Its JSON is a line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Row {
    /// SFT, the chat format of OpenAI.
    Sft {
        /// The conversation, the answer last.
        messages: Vec<Message>,
        /// The tools of the agent.
        tools: Tools,
    },
    /// DPO.
    Dpo {
        /// The conversation before the answer.
        prompt: Vec<Message>,
        /// The better answer.
        chosen: Vec<Message>,
        /// The worse answer.
        rejected: Vec<Message>,
        /// The tools of the agent.
        tools: Tools,
    },
    /// KTO.
    Kto {
        /// The conversation before the answer.
        prompt: Vec<Message>,
        /// The answer.
        completion: Vec<Message>,
        /// Whether it helped.
        label: bool,
        /// The tools of the agent.
        tools: Tools,
    },
}

impl Row {
    /// A conversation to imitate.
    pub(super) fn sft(record: &InteractionRecord, answer: &str) -> Row {
        let mut messages = record.prompt.clone();
        messages.extend(answered(record, answer));
        Row::Sft { messages, tools: record.tools.clone() }
    }

    /// A better answer and a worse one, each with the record that it belongs to. The prompt is that of the better one.
    pub(super) fn dpo(chosen: (&InteractionRecord, &str), rejected: (&InteractionRecord, &str)) -> Row {
        let (record, tools) = (chosen.0, chosen.0.tools.clone());
        let (chosen, rejected) = (answered(record, chosen.1), answered(rejected.0, rejected.1));
        Row::Dpo { prompt: record.prompt.clone(), chosen, rejected, tools }
    }

    /// An answer with a judgement.
    pub(super) fn kto(record: &InteractionRecord, answer: &str, label: bool) -> Row {
        let (completion, tools) = (answered(record, answer), record.tools.clone());
        Row::Kto { prompt: record.prompt.clone(), completion, label, tools }
    }

    /// The row without secrets.
    ///
    /// # Errors
    /// [`InvalidRule`] if a rule that is needed cannot be used.
    pub(super) fn redacted(mut self, redactor: &mut Redactor) -> Result<Row, InvalidRule> {
        let (lists, tools): (Vec<&mut Vec<Message>>, _) = match &mut self {
            Row::Sft { messages, tools } => (vec![messages], tools),
            Row::Dpo { prompt, chosen, rejected, tools } => (vec![prompt, chosen, rejected], tools),
            Row::Kto { prompt, completion, tools, .. } => (vec![prompt, completion], tools),
        };
        for message in lists.into_iter().flatten() {
            redacted(message, redactor)?;
        }
        for tool in tools.iter_mut().flatten() {
            redact_tools(tool, redactor)?;
        }
        Ok(self)
    }

    /// The columns with messages, in order.
    pub(super) fn lists(&self) -> Vec<&[Message]> {
        match self {
            Row::Sft { messages, .. } => vec![messages],
            Row::Dpo { prompt, chosen, rejected, .. } => vec![prompt, chosen, rejected],
            Row::Kto { prompt, completion, .. } => vec![prompt, completion],
        }
    }

    /// The judgement, where the format has one.
    pub(super) fn label(&self) -> Option<bool> {
        match self {
            Row::Kto { label, .. } => Some(*label),
            _ => None,
        }
    }

    /// The tools of the agent.
    pub fn tools(&self) -> Option<&[Value]> {
        match self {
            Row::Sft { tools, .. } | Row::Dpo { tools, .. } | Row::Kto { tools, .. } => tools.as_deref(),
        }
    }
}

/// An answer as a message: a call of a tool as a call, everything else as a text.
fn answered(record: &InteractionRecord, answer: &str) -> Vec<Message> {
    let call = record.tool_call_id.as_deref().and_then(|id| call(id, answer));
    vec![call.map_or_else(|| Message::said(Role::Assistant, answer), |call| Message::calling(vec![call]))]
}

fn call(id: &str, answer: &str) -> Option<ToolCall> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Shown {
        tool_name: String,
        tool_input: Map<String, Value>,
    }
    let shown: Shown = serde_json::from_str(answer).ok()?;
    Some(ToolCall::new(id, shown.tool_name, shown.tool_input))
}
