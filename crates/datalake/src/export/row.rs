//! Rows of training data, in the formats that the library TRL documents.

use super::redacted::{redact_tools, redacted};
use crate::{
    InvalidRule, Redactor,
    record::{InteractionRecord, Message, Role},
};
use domain::message::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The tools that an agent had, as function schemas; null if they are unknown.
pub type Tools = Option<Vec<Value>>;

/// A row of an export. Its JSON form is a line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Row {
    /// Supervised fine-tuning, in OpenAI's chat format.
    Sft {
        /// Conversation, with the answer as the last message.
        messages: Vec<Message>,
        /// Tools of the agent.
        tools: Tools,
    },
    /// A preference pair (DPO).
    Dpo {
        /// Conversation before the answer.
        prompt: Vec<Message>,
        /// Better answer, as one message.
        chosen: Vec<Message>,
        /// Worse answer, as one message.
        rejected: Vec<Message>,
        /// Tools of the agent.
        tools: Tools,
    },
    /// An answer with a label (KTO).
    Kto {
        /// Conversation before the answer.
        prompt: Vec<Message>,
        /// Answer, as one message.
        completion: Vec<Message>,
        /// Whether the answer helped.
        label: bool,
        /// Tools of the agent.
        tools: Tools,
    },
}

impl Row {
    /// Returns an SFT row.
    pub(super) fn sft(record: &InteractionRecord, answer: &str) -> Row {
        let mut messages = record.prompt.clone();
        messages.extend(answered(record, answer));
        Row::Sft { messages, tools: record.tools.clone() }
    }

    /// Returns a DPO row of a better and a worse answer, each with its record. The prompt is that of the better
    /// one.
    pub(super) fn dpo(chosen: (&InteractionRecord, &str), rejected: (&InteractionRecord, &str)) -> Row {
        let (record, tools) = (chosen.0, chosen.0.tools.clone());
        let (chosen, rejected) = (answered(record, chosen.1), answered(rejected.0, rejected.1));
        Row::Dpo { prompt: record.prompt.clone(), chosen, rejected, tools }
    }

    /// Returns a KTO row.
    pub(super) fn kto(record: &InteractionRecord, answer: &str, label: bool) -> Row {
        let (completion, tools) = (answered(record, answer), record.tools.clone());
        Row::Kto { prompt: record.prompt.clone(), completion, label, tools }
    }

    /// Returns the row without secrets.
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

    /// Returns the columns with messages, in order.
    pub(super) fn lists(&self) -> Vec<&[Message]> {
        match self {
            Row::Sft { messages, .. } => vec![messages],
            Row::Dpo { prompt, chosen, rejected, .. } => vec![prompt, chosen, rejected],
            Row::Kto { prompt, completion, .. } => vec![prompt, completion],
        }
    }

    /// Returns the label; `None` if the format has none.
    pub(super) fn label(&self) -> Option<bool> {
        match self {
            Row::Kto { label, .. } => Some(*label),
            _ => None,
        }
    }

    /// Tools of the agent.
    pub fn tools(&self) -> Option<&[Value]> {
        match self {
            Row::Sft { tools, .. } | Row::Dpo { tools, .. } | Row::Kto { tools, .. } => tools.as_deref(),
        }
    }
}

/// Returns an answer as one message: a call of a tool as a call, any other answer as a text.
fn answered(record: &InteractionRecord, answer: &str) -> Vec<Message> {
    let call = record.tool_call_id.as_deref().and_then(|id| call(id, answer));
    vec![call.map_or_else(|| Message::new(Role::Assistant, answer), |call| Message::calling(vec![call]))]
}

fn call(id: &str, answer: &str) -> Option<ToolCall> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ProposedCall {
        tool_name: String,
        tool_input: Map<String, Value>,
    }
    let shown: ProposedCall = serde_json::from_str(answer).ok()?;
    Some(ToolCall::new(id, shown.tool_name, shown.tool_input))
}
