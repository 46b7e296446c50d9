//! Tags and assignees of sessions, as several pages show them.

use leptos::prelude::*;

/// The value of the option that assigns a session to no one.
pub const NO_ONE: &str = "none";

/// Tags as links to the sessions that have them.
pub(crate) fn tag_links(tags: &[String]) -> Vec<impl IntoView + use<>> {
    let link = |(place, tag): (usize, &String)| {
        let comma = (place > 0).then_some(", ");
        // A tag is a slug, so it needs no encoding.
        view! { {comma}<a href=format!("/sessions?q=tag%3A{tag}")>{tag.clone()}</a> }
    };
    tags.iter().enumerate().map(link).collect()
}
