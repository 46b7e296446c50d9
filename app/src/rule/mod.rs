//! Rules: the list with suggestions, the page of a rule, and the editor with its back-test.

mod editor;
mod list_page;
mod new_page;
mod page;
mod tested;

pub use editor::{ConditionRow, Draft, EditorProps, Test, editor_page};
pub use list_page::{ListProps, Suggested, list_page};
pub use new_page::new_page;
pub use page::{Props, Version, page};

use crate::ui::{badge::Badge, icon::Icon};
use domain::{
    Timestamp,
    rule::{State, SuspendedWhy},
    session::Status,
};
use leptos::prelude::*;
use wire::rule::Rule;

/// Whether a rule decides now, as a badge.
fn state_badge(rule: &Rule, now: Timestamp) -> impl IntoView + use<> {
    let (picture, word, colour) = match rule.state {
        State::Active if rule.limits.expires_at <= now => (Icon::Expired, "Expired", Status::Expired),
        State::Active => (Icon::Running, "Active", Status::Completed),
        State::Suspended => (Icon::Idle, "Suspended", Status::WaitingHuman),
        State::Deleted => (Icon::Abandoned, "Deleted", Status::Abandoned),
    };
    view! { <Badge picture=picture word=word colour=colour/> }
}

/// Why a rule is suspended, as a sentence.
const fn suspended_words(why: SuspendedWhy) -> &'static str {
    match why {
        SuspendedWhy::Differed => "A person decided an item differently.",
        SuspendedWhy::Undone => "A person undid its decision.",
        SuspendedWhy::Admin => "An admin suspended it.",
    }
}

/// Why a rule is suspended, with a link to the item whose decision suspended it; nothing unless it is.
fn suspended_note(rule: &Rule) -> Option<impl IntoView + use<>> {
    let why = suspended_words(rule.suspended_why?);
    let item = rule.suspended_approval.map(|id| {
        view! { " "<a href=format!("/inbox/{id}")>"The item"</a> }
    });
    Some(view! { <p class="meta">{why}{item}</p> })
}
