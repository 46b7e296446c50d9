//! What the state of the editor consists of.

use domain::canvas::{Answer, Committed, Path, edit::Kind};

/// What one press of undo or redo does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Takes back the newest change of this person.
    Undo,
    /// Makes it again.
    Redo,
}

/// What arrives from the server.
#[derive(Debug, Clone)]
pub enum Arrival {
    /// A patch of any author.
    Patch(Committed),
    /// The answer to the patch with this id.
    Answer(String, Answer),
}

/// What the keyboard is in the middle of.
#[derive(Debug, Default)]
pub struct Typing {
    /// Whether an input method composes characters. No patch is made or applied meanwhile.
    pub is_composing: bool,
    /// What arrived and is not shown yet.
    pub held: Vec<Arrival>,
    /// Whether it is shown with the next frame.
    pub is_frame_due: bool,
    /// Number of changes of texts, so that the last one of a pause sends them.
    pub changes: u32,
    /// What is undone or done again when no change waits any more.
    pub wanted: Option<Step>,
    /// Whether the next Tab leaves the document.
    pub leaves_by_tab: bool,
}

/// What is to be read from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The patches after the newest version.
    Patches,
    /// The newest document, the status and the role.
    Document,
    /// The suggestions that wait for a decision.
    Suggestions,
}

/// The open menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slash {
    /// The block whose type is chosen.
    pub block: String,
    /// What was typed behind the slash.
    pub filter: String,
    /// Position of the chosen type among those that match.
    pub at: usize,
}

/// The name of a type.
pub const fn label(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "Text",
        Kind::Heading => "Heading",
        Kind::Checklist => "Checklist",
        Kind::Table => "Table",
        Kind::Code => "Code",
    }
}

impl Slash {
    /// The types whose name has what was typed.
    pub fn kinds(&self) -> Vec<Kind> {
        // The names are of ASCII letters.
        let typed = self.filter.to_ascii_lowercase();
        Kind::ALL.into_iter().filter(|kind| label(*kind).to_ascii_lowercase().contains(&typed)).collect()
    }
}

/// A handle that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drag {
    /// The block.
    pub id: String,
    /// Where the pointer was pressed, pixels from the top of the screen.
    pub from_y: i32,
    /// Whether it has moved since, so that it is no press.
    pub has_moved: bool,
}

/// Where a dragged block would be dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropPlace {
    /// The block behind the place; `None` at the end.
    pub before: Option<String>,
}

/// The block that a path is about.
pub fn block_of(path: &Path) -> Option<&str> {
    match path.keys() {
        [root, block, ..] if root == "blocks" => Some(block.as_str()),
        _ => None,
    }
}
