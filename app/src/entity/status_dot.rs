//! The dot that shows the status of work on a field or block: shape, word and colour together.

use crate::ui::icon::{Icon, icon};
use domain::block_status::BlockStatus;
use leptos::prelude::*;

/// The label of a status.
pub const fn word(status: BlockStatus) -> &'static str {
    match status {
        BlockStatus::InProgress => "In progress",
        BlockStatus::Complete => "Complete",
        BlockStatus::WaitingHuman => "Needs a person",
        BlockStatus::Failed => "Failed",
        BlockStatus::Pending => "Pending",
    }
}

const fn shape(status: BlockStatus) -> (Icon, &'static str) {
    match status {
        BlockStatus::InProgress => (Icon::Running, "in-progress"),
        BlockStatus::Complete => (Icon::Completed, "complete"),
        BlockStatus::WaitingHuman => (Icon::WaitingHuman, "waiting-human"),
        BlockStatus::Failed => (Icon::Failed, "failed"),
        BlockStatus::Pending => (Icon::Pending, "pending"),
    }
}

/// The dot; `None` without a status.
pub fn status_dot(status: Option<BlockStatus>) -> impl IntoView {
    status.map(|status| {
        let (picture, name) = shape(status);
        view! {
            <span class="status-dot" data-block=name title=word(status)>{icon(picture)}<span class="hidden-text">{word(status)}</span></span>
        }
    })
}
