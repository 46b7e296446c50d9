//! One example to learn from, in the shapes that TRL documents.

use crate::{
    record::{InteractionRecord, Message, Role},
    redact::{InvalidRule, Redactor},
};
use serde::{Deserialize, Serialize};

/// A row of an export. Its JSON is a line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Row {
    /// SFT, the chat format of OpenAI.
    Sft {
        /// The conversation, the answer last.
        messages: Vec<Message>,
    },
    /// DPO.
    Dpo {
        /// The conversation before the answer.
        prompt: Vec<Message>,
        /// The better answer.
        chosen: Vec<Message>,
        /// The worse answer.
        rejected: Vec<Message>,
    },
    /// KTO.
    Kto {
        /// The conversation before the answer.
        prompt: Vec<Message>,
        /// The answer.
        completion: Vec<Message>,
        /// Whether it helped.
        label: bool,
    },
}

impl Row {
    /// A conversation to imitate.
    pub(super) fn sft(record: &InteractionRecord, answer: &str) -> Row {
        let mut messages = record.prompt.clone();
        messages.extend(said(answer));
        Row::Sft { messages }
    }

    /// A better answer and a worse one.
    pub(super) fn dpo(prompt: &[Message], chosen: &str, rejected: &str) -> Row {
        Row::Dpo { prompt: prompt.to_vec(), chosen: said(chosen), rejected: said(rejected) }
    }

    /// An answer with a judgement.
    pub(super) fn kto(prompt: &[Message], answer: &str, label: bool) -> Row {
        Row::Kto { prompt: prompt.to_vec(), completion: said(answer), label }
    }

    /// The row without secrets.
    ///
    /// # Errors
    /// [`InvalidRule`] if a rule that is needed cannot be used.
    pub(super) fn redacted(mut self, redactor: &mut Redactor) -> Result<Row, InvalidRule> {
        let lists: Vec<&mut Vec<Message>> = match &mut self {
            Row::Sft { messages } => vec![messages],
            Row::Dpo { prompt, chosen, rejected } => vec![prompt, chosen, rejected],
            Row::Kto { prompt, completion, .. } => vec![prompt, completion],
        };
        for message in lists.into_iter().flatten() {
            if let std::borrow::Cow::Owned(text) = redactor.redact(&message.content)? {
                message.content = text;
            }
        }
        Ok(self)
    }

    /// The columns with messages, in order.
    pub(super) fn lists(&self) -> Vec<&[Message]> {
        match self {
            Row::Sft { messages } => vec![messages],
            Row::Dpo { prompt, chosen, rejected } => vec![prompt, chosen, rejected],
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
}

fn said(answer: &str) -> Vec<Message> {
    vec![Message { role: Role::Assistant, content: answer.to_owned() }]
}
