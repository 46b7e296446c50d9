//! A section of a page, named by its heading.

use super::content::Content;
use leptos::prelude::*;

/// A part of a page with a heading of the second level.
#[component]
pub fn Section(
    /// Prefix of the heading's id.
    name: &'static str,
    /// The heading.
    #[prop(into)]
    title: String,
    /// Id of the section, if links lead to it.
    #[prop(optional)]
    id: Option<&'static str>,
    /// The content.
    children: Content,
) -> impl IntoView {
    let title_id = format!("{name}-title");
    let labelled_by = title_id.clone();
    view! {
        <section class="section" id=id aria-labelledby=labelled_by>
            <h2 id=title_id>{title}</h2>
            {children.view()}
        </section>
    }
}
