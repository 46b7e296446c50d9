//! `tool.composition_step.completed`: a step of a composite tool has ended.

use super::{composition_step::CompositionStep, payload::Payload};

/// A step of a composite tool has ended: it is done, or failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepCompleted(pub CompositionStep);

impl Payload for StepCompleted {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        CompositionStep::read(content, metadata).map(Self)
    }

    fn content(&self) -> String {
        self.0.content()
    }

    fn metadata(&self) -> String {
        self.0.metadata()
    }

    fn sentence(&self) -> Option<String> {
        let lead = if self.0.failure.is_some() { "Step failed" } else { "Step completed" };
        Some(self.0.sentence(lead))
    }
}
