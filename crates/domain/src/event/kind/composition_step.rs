//! What the events of a composite tool's step have in common: `tool.composition_step.started` and `….completed`.

use super::payload::{Members, Payload, text_content, text_of};
use serde_json::{Map, Value};

/// A step of a composite tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompositionStep {
    /// What the writer says about it.
    pub text: Option<String>,
    /// Name of the step.
    pub step: Option<String>,
    /// Id of the session that runs the step.
    pub session_id: Option<String>,
}

impl CompositionStep {
    /// What pages call the step.
    pub(super) fn label(&self) -> Option<&str> {
        self.text.as_deref().or(self.step.as_deref())
    }
}

impl Payload for CompositionStep {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        Some(Self {
            text: text_of(content),
            step: members.text(&["step", "stepName", "name"]),
            session_id: members.text(&["sessionId", "childSessionId"]),
        })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        let members = [("step", &self.step), ("sessionId", &self.session_id)];
        let members = members.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text.clone()?.into())));
        Value::Object(members.collect::<Map<_, _>>()).to_string()
    }
}
