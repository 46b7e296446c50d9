//! The header of a page: breadcrumbs, title and actions.

use super::content::Content;
use leptos::prelude::*;

/// The header of a page.
#[component]
pub fn PageHead(
    /// The heading of the page.
    #[prop(into)]
    title: String,
    /// The parent pages, `(label, href)`, outermost first.
    #[prop(optional)]
    crumbs: Vec<(String, String)>,
    /// What can be done with the whole page.
    #[prop(optional)]
    children: Option<Content>,
) -> impl IntoView {
    view! {
        <header class="page-head">
            {(!crumbs.is_empty()).then(|| view! { <Breadcrumbs crumbs=crumbs/> })}
            <h1>{title}</h1>
            <div class="page-actions">{children.map(Content::view)}</div>
        </header>
    }
}

/// Links to the parent pages.
#[component]
pub fn Breadcrumbs(
    /// The parent pages, `(label, href)`, outermost first.
    crumbs: Vec<(String, String)>,
) -> impl IntoView {
    view! {
        <nav class="crumbs" aria-label="Breadcrumbs">
            <ol>{crumbs.into_iter().map(|(label, href)| view! { <li><a class="quiet" href=href>{label}</a></li> }).collect::<Vec<_>>()}</ol>
        </nav>
    }
}
