//! The memory of agents: the page of one agent's documents, and the page that searches all of them.

mod change;
mod document;
mod erased;
mod forget;
mod home;
mod lines;
mod page;
mod props;
mod runs;
mod session;
mod stalled;
mod usefulness;

pub(crate) use lines::changed_lines;

pub use forget::{ForgetProps, forget_page};
pub use home::{AgentMemory, HomeProps, home_page};
pub use page::page;
pub use props::{Preview, Props, Selected, View};
pub use runs::{RunsProps, WriterSettings, WriterState, runs_page};
pub use session::{SessionProps, session_page};
pub use stalled::{StalledWriter, stalled};
pub use usefulness::{Figure, PassageFigure, Prompt, Usefulness};

use crate::{entity::People, text::escape::query};

/// What a document is called on pages: a person of the workspace by name, others by path.
pub fn document_name(people: &People, path: &str) -> String {
    let id = path.strip_prefix("people/shiftbook-").and_then(|rest| rest.strip_suffix(".md"));
    id.and_then(|id| people.0.get(&format!("user:{id}"))).cloned().unwrap_or_else(|| path.to_owned())
}

/// The address of a document, in one of its views.
pub fn document_href(agent: &str, path: &str, view: View) -> String {
    let view = view.query().map(|name| format!("&view={name}")).unwrap_or_default();
    format!("/agents/{agent}/memory?path={}{view}", query(path))
}
