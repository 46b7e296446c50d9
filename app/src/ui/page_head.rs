//! The header of a page: breadcrumbs, title and actions.

use crate::render::static_html;
use leptos::prelude::*;

/// The header of a page. Breadcrumbs are `(label, href)`, outermost first.
pub fn page_head(title: String, crumbs: Vec<(String, String)>, actions: impl IntoView) -> impl IntoView {
    static_html(view! {
        <header class="page-head">
            {(!crumbs.is_empty()).then(|| breadcrumbs(crumbs))}
            <h1>{title}</h1>
            <div class="page-actions">{actions}</div>
        </header>
    })
}

/// Links to the parent pages.
pub fn breadcrumbs(crumbs: Vec<(String, String)>) -> impl IntoView {
    view! {
        <nav class="crumbs" aria-label="Breadcrumbs">
            <ol>{crumbs.into_iter().map(|(label, href)| view! { <li><a class="quiet" href=href>{label}</a></li> }).collect::<Vec<_>>()}</ol>
        </nav>
    }
}
