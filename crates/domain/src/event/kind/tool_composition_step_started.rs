//! `tool.composition_step.started`: a step of a composite tool started.

use super::payload::{Members, Payload, about, text_content, text_of};
use serde_json::json;

/// A step of a composite tool started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepStarted {
    /// What the worker says about it.
    pub text: Option<String>,
    /// Name of the step.
    pub step: Option<String>,
}

impl Payload for StepStarted {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self { text: text_of(content), step: Members::read(metadata).text(&["step", "stepName", "name"]) })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        self.step.as_ref().map_or_else(|| "{}".into(), |step| json!({ "step": step }).to_string())
    }

    fn sentence(&self) -> Option<String> {
        Some(about("Step started", self.text.as_deref().or(self.step.as_deref())))
    }
}
