//! Search lines of lists of gates. They are compared here and not by the database: a page reads gates with their tasks
//! anyway, and the open ones of a workspace are few.

use crate::{
    RequestRecord, Result,
    list_line::{among, contains, has, list_line, words},
};
use domain::{
    gate::{Gate, GateKind, Task},
    search::{Condition, Field, Test, value_text},
};
use store::session::{Among, Contains};

/// What a line asks for of gates. Empty: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GateLine {
    agents: Among,
    kinds: Among,
    titles: Contains,
    tools: Contains,
    texts: Contains,
}

impl GateLine {
    /// Reads a line.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] with the place at which it is none.
    pub(super) fn of(text: Option<&str>) -> Result<Self> {
        let line = list_line(text, &Field::OF_APPROVALS)?;
        let mut of = Self { texts: words(&line), ..Self::default() };
        for Condition { is_excluded, test } in line.conditions {
            match test {
                Test::Agent(slugs) => among(&mut of.agents, is_excluded, slugs),
                Test::Kind(kinds) => {
                    let names = kinds.into_iter().map(GateKind::as_str).map(str::to_owned);
                    among(&mut of.kinds, is_excluded, names.collect());
                }
                Test::Title(parts) => contains(&mut of.titles, is_excluded, &parts),
                Test::Tool(parts) => contains(&mut of.tools, is_excluded, &parts),
                // The line has no other fields.
                _ => {}
            }
        }
        Ok(of)
    }

    /// Whether the line asks for nothing.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a question for which no session waits has all that the line asks for. It has no tool, and of its agent
    /// only what asked is known.
    pub(super) fn finds_question(&self, asked: &RequestRecord) -> bool {
        is_among(&self.agents, asked.asked_by.strip_prefix("agent:"))
            && is_among(&self.kinds, Some(GateKind::Question.as_str()))
            && has(&self.titles, &asked.message)
            && has(&self.tools, "")
            && has(&self.texts, &asked.message)
    }

    /// Whether a gate has all that the line asks for.
    pub(super) fn finds(&self, gate: &Gate) -> bool {
        is_among(&self.agents, gate.agent_slug.as_deref())
            && is_among(&self.kinds, Some(gate.kind.as_str()))
            && (self.titles == Contains::default() || has(&self.titles, &titles_of(gate)))
            && has(&self.tools, tool_of(gate))
            && (self.texts == Contains::default() || has(&self.texts, &text_of(gate)))
    }
}

/// Name of the tool whose call waits; empty for other gates.
fn tool_of(gate: &Gate) -> &str {
    match &gate.task {
        Task::Tool(call) => &call.tool_name,
        Task::Output(_) | Task::Fields(_) | Task::Question(_) | Task::Memory(_) => "",
    }
}

/// The title of the gate and that of its entity, because rows show either.
fn titles_of(gate: &Gate) -> String {
    let entity = gate.entity_title.as_deref().unwrap_or_default();
    format!("{}\n{entity}", gate.title)
}

/// The titles, the name of the task, and the values of what is to be decided.
fn text_of(gate: &Gate) -> String {
    let mut task = gate.task.to_json();
    if let Some(members) = task.as_object_mut() {
        // It is a field of its own.
        members.remove("kind");
    }
    let action = gate.action_name.as_deref().unwrap_or_default();
    format!("{}\n{action}\n{}", titles_of(gate), value_text(&task.to_string()))
}

fn is_among(of: &Among, value: Option<&str>) -> bool {
    let is_one = |values: &[String]| value.is_some_and(|value| values.iter().any(|other| other == value));
    of.any_of.as_deref().is_none_or(is_one) && !is_one(&of.none_of)
}
