//! Canvases: the list, and the page of one with its blocks, which reads and changes without scripts.

mod block;
mod hidden;
mod list_page;
mod page;

pub use list_page::{ListProps, list_page};
pub use page::{Props, Suggestion, page};

use domain::{canvas::Reason, session::Status};

/// Name of the form that adds a block.
pub const ADD: &str = "add";

/// Name of the form that edits a block.
pub fn edit_form(block: &str) -> String {
    format!("edit-{block}")
}

/// Reason of a refused change, and what to do.
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
