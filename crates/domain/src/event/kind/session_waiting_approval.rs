//! `session.waiting_approval`: people are asked to decide at a gate, for the first time or again.

use super::payload::{Payload, json_text, read_fields, text_content, text_of};
use crate::{
    Timestamp,
    gate::GateKind,
    id::{FeedbackRequestId, GateId},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A notice about a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingApproval {
    /// Title of the gate, or what the notice says. A title may be shortened.
    pub text: Option<String>,
    /// What there is to know.
    pub about: GateNotice,
}

/// Which gate a notice is about, and why it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GateNotice {
    /// Where people decide.
    pub gate_id: GateId,
    /// Why the notice was written.
    #[serde(flatten)]
    pub reason: NoticeReason,
}

/// Why a notice about a gate was written. The first that fits the members of an event is the one that was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum NoticeReason {
    /// The gate was opened.
    Opened {
        /// What it asks to decide on.
        kind: GateKind,
        /// Digest of the proposal, hexadecimal.
        digest: String,
        /// The proposal.
        task: Value,
        /// How many approvals it needs.
        quorum: u32,
        /// When it is due (UTC).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due_at: Option<Timestamp>,
        /// The request that opened it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<FeedbackRequestId>,
        /// The criteria sets that judge the proposal, as they were then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        criteria: Option<Value>,
    },
    /// No one decided for a while.
    Reminder {
        /// Always true.
        reminder: bool,
    },
    /// None of the reviewers is left, so admins may decide.
    AdminsMayDecide {
        /// Always true.
        admins_may_decide: bool,
        /// How many reviewers had been asked.
        reviewers_left: usize,
    },
    /// A person handed the gate over.
    HandedOver {
        /// Who is asked: `user:…` with an id, or `group:…` with a slug.
        handed_to: String,
        /// What the person wrote about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Further reviewers were asked.
    Escalated {
        /// Who was asked; `None` if the task names no one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        escalated_to: Option<String>,
    },
}

impl WaitingApproval {
    /// A notice with this text.
    pub fn new(gate_id: GateId, text: &str, reason: NoticeReason) -> Self {
        Self { text: Some(text.to_owned()), about: GateNotice { gate_id, reason } }
    }

    /// Whether a question was asked.
    pub const fn is_question(&self) -> bool {
        matches!(self.about.reason, NoticeReason::Opened { kind: GateKind::Question, .. })
    }

    /// The whole text of a question that was asked; the event's own text is a title and may be shortened.
    pub fn question(&self) -> Option<&str> {
        match &self.about.reason {
            NoticeReason::Opened { kind: GateKind::Question, task, .. } => {
                task.pointer("/question/message").and_then(Value::as_str).or(self.text.as_deref())
            }
            _ => None,
        }
    }
}

impl Payload for WaitingApproval {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self { text: text_of(content), about: read_fields(metadata)? })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        json_text(&self.about)
    }

    fn sentence(&self) -> Option<String> {
        let lead = if self.is_question() { "Asked" } else { "Waiting for approval" };
        Some(self.text.as_deref().map_or_else(|| lead.to_owned(), |text| format!("{lead}: {text}")))
    }
}
