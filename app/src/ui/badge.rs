//! Badges: an icon, a word and a colour, always together, so that no information depends on colour alone.

use super::icon::{Icon, icon};
use domain::session::Status;
use leptos::prelude::*;

/// The status as the interface names it.
pub const fn word(status: Status) -> &'static str {
    match status {
        Status::Draft => "Draft",
        Status::Pending => "Pending",
        Status::Running => "Running",
        Status::WaitingHuman => "Needs a person",
        Status::AwaitingTool => "Awaiting tool",
        Status::Idle => "Idle",
        Status::Completed => "Completed",
        Status::Failed => "Failed",
        Status::Abandoned => "Abandoned",
        Status::Expired => "Expired",
    }
}

/// The icon of a status, for people who cannot tell the colours apart.
const fn shape(status: Status) -> Icon {
    match status {
        Status::Draft => Icon::Draft,
        Status::Pending => Icon::Pending,
        Status::Running => Icon::Running,
        Status::WaitingHuman => Icon::WaitingHuman,
        Status::AwaitingTool => Icon::AwaitingTool,
        Status::Idle => Icon::Idle,
        Status::Completed => Icon::Completed,
        Status::Failed => Icon::Failed,
        Status::Abandoned => Icon::Abandoned,
        Status::Expired => Icon::Expired,
    }
}

/// A badge in the colour of a status.
#[component]
pub fn Badge(
    /// The icon.
    picture: Icon,
    /// The word beside the icon.
    word: &'static str,
    /// The status whose colour it has.
    colour: Status,
    /// Whether it is in the header of a page.
    #[prop(optional)]
    large: bool,
) -> impl IntoView {
    view! {
        <span class="badge" data-size=large.then_some("large") data-status=colour.as_str()>
            {icon(picture)}
            <span>{word}</span>
        </span>
    }
}

/// The badge of a session's status.
#[component]
pub fn StatusBadge(
    /// Gives the icon, the word and the colour.
    status: Status,
    /// Whether it is in the header of a page.
    #[prop(optional)]
    large: bool,
) -> impl IntoView {
    view! { <Badge picture=shape(status) word=word(status) colour=status large=large/> }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_statuses_share_a_word_or_a_shape() {
        let words: BTreeSet<_> = Status::ALL.into_iter().map(word).collect();
        let shapes: BTreeSet<_> = Status::ALL.into_iter().map(|s| format!("{:?}", shape(s))).collect();
        assert_eq!((words.len(), shapes.len()), (10, 10));
    }
}
