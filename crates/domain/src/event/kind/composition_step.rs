//! What the events of a composite tool's step have in common: `tool.composition_step.started` and `….completed`.

use super::payload::{Members, Payload, about, json_text, text_content, text_of};
use serde::Serialize;

/// A step of a composite tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompositionStep {
    /// What the writer says about it.
    #[serde(skip)]
    pub text: Option<String>,
    /// Name of the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Id of the session that runs the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Slug of the tool of the workspace that the step runs.
    #[serde(rename = "toolName", skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Number of the try; `None` for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
    /// Stable name of the failure, if the step failed.
    #[serde(rename = "failedWith", skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl CompositionStep {
    /// What pages call the step.
    pub(super) fn label(&self) -> Option<&str> {
        self.text.as_deref().or(self.step.as_deref())
    }

    /// What happened to the step, as a sentence. `lead` says what.
    pub(super) fn sentence(&self, lead: &str) -> String {
        let sentence = about(lead, self.label());
        self.attempt.map_or_else(|| sentence.clone(), |attempt| format!("{sentence} (attempt {attempt})"))
    }
}

impl Payload for CompositionStep {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        Some(Self {
            text: text_of(content),
            step: members.text(&["step", "stepName", "name"]),
            session_id: members.text(&["sessionId", "childSessionId"]),
            tool: members.text(&["toolName"]),
            attempt: members.number("attempt"),
            failure: members.text(&["failedWith"]),
        })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        json_text(self)
    }
}
