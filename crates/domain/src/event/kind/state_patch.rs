//! `state.patch`: shared state was changed by JSON Patch operations.

use super::payload::{Payload, Writer, about, text_content, text_of};
use crate::event::{EventRole, Group};

/// A change of shared state. What it changes is recorded as the worker sent it, and not interpreted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatePatch {
    /// What the worker says about it.
    pub text: Option<String>,
}

impl Payload for StatePatch {
    const WRITER: Writer = Writer::Worker;
    const ROLE: EventRole = EventRole::System;
    const GROUP: Group = Group::State;

    fn read(content: &str, _metadata: &str) -> Option<Self> {
        Some(Self { text: text_of(content) })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        "{}".into()
    }

    fn sentence(&self) -> Option<String> {
        Some(about("State changed", self.text.as_deref()))
    }
}
