//! `tool.composition_step.completed`: a step of a composite tool is done.

use super::{
    composition_step::CompositionStep,
    payload::{Payload, about},
};

/// A step of a composite tool is done.
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
        Some(about("Step completed", self.0.label()))
    }
}
