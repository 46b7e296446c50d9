//! `tool.composition_step.started`: a step of a composite tool started.

use super::{composition_step::CompositionStep, payload::Payload};

/// A step of a composite tool started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepStarted(pub CompositionStep);

impl Payload for StepStarted {
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
        Some(self.0.sentence("Step started"))
    }
}
