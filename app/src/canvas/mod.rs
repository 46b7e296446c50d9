//! Canvases: the list, the page of one with its blocks, which changes by forms and, with scripts, in an editor, its
//! versions and its participants. `offline` and `presence` are parts of the editor.

mod editor;
#[cfg(any(feature = "hydrate", all(test, feature = "ssr")))]
mod json;
#[cfg(any(feature = "hydrate", all(test, feature = "ssr")))]
pub mod offline;
#[cfg(any(feature = "hydrate", all(test, feature = "ssr")))]
pub mod presence;

#[cfg(feature = "ssr")]
mod block;
#[cfg(feature = "ssr")]
mod hidden;
#[cfg(feature = "ssr")]
mod list_page;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod participants;
#[cfg(feature = "ssr")]
mod versions;

#[cfg(feature = "ssr")]
pub use block::result_fragment;
pub use editor::CanvasEditor;
#[cfg(feature = "ssr")]
pub use list_page::{ListProps, list_page};
#[cfg(feature = "ssr")]
pub use page::{Declined, Props, Suggestion, page};
#[cfg(feature = "ssr")]
pub use participants::{ADD_PARTICIPANT, Participant, ParticipantsProps, participants_page};
#[cfg(feature = "ssr")]
pub use versions::{Version, VersionsProps, versions_page};

#[cfg(any(feature = "hydrate", feature = "ssr"))]
use domain::canvas::Reason;
#[cfg(feature = "ssr")]
use domain::session::Status;

/// Name of the form that adds a block.
#[cfg(feature = "ssr")]
pub const ADD: &str = "add";

/// Name of the form that completes the canvas.
#[cfg(feature = "ssr")]
pub const COMPLETE: &str = "complete";

/// Name of the form that makes the canvas a template.
#[cfg(feature = "ssr")]
pub const TEMPLATE: &str = "template";

/// Name of the form that edits a block.
#[cfg(feature = "ssr")]
pub fn edit_form(block: &str) -> String {
    format!("edit-{block}")
}

/// Name of the form that decides about a suggestion.
#[cfg(feature = "ssr")]
pub fn suggestion_form(op_id: &str) -> String {
    format!("suggestion-{op_id}")
}

/// Reason of a refused change, and what to do.
#[cfg(any(feature = "hydrate", feature = "ssr"))]
pub const fn rejected_words(reason: Reason) -> &'static str {
    match reason {
        Reason::TargetGone => "Someone removed or replaced this block meanwhile. Your text is kept.",
        Reason::SubtreeChanged => "Someone changed this block meanwhile. Look at it again, then remove it.",
        Reason::Exists => "Someone added a block at the same time. Send it again.",
        Reason::NotFound => "This block is not there any more. Your text is kept.",
        Reason::TestFailed | Reason::Stale => "Someone changed the canvas meanwhile. Send it again.",
        Reason::NeedsStrict => "This part changes only through the API.",
        Reason::TooLarge => "The canvas would be too large. Shorten the text.",
        Reason::Schema => "The canvas would not match its schema.",
    }
}

/// The state of a canvas in words.
#[cfg(feature = "ssr")]
const fn state_words(status: Status) -> &'static str {
    match status {
        Status::Completed => "completed",
        Status::Abandoned => "abandoned",
        Status::Failed | Status::Expired => "ended",
        Status::Draft
        | Status::Pending
        | Status::Running
        | Status::WaitingHuman
        | Status::AwaitingTool
        | Status::Idle => "open",
    }
}
