//! Renders views to HTML.

use leptos::{
    IntoView,
    tachys::{
        html::InertElement,
        view::{Position, RenderFlags, RenderHtml},
    },
};
use std::sync::OnceLock;

/// Renders a view without islands to HTML, without hydration markers.
pub fn to_html(view: impl IntoView) -> String {
    let mut html = String::new();
    append_html(&mut html, view);
    html
}

/// Appends a view without islands to a buffer, without hydration markers.
pub fn append_html(html: &mut String, view: impl IntoView) {
    write(html, view, RenderFlags::new(true, false, false));
}

/// Renders a view without islands to an inert element. Nesting it is cheap, and its type does not grow the page's
/// type.
pub fn static_html(view: impl IntoView) -> InertElement {
    InertElement::new(to_html(view))
}

/// Renders an island whose initial HTML is the same for everyone. It is rendered once per process.
pub fn static_island<V: IntoView>(once: &'static OnceLock<String>, island: impl FnOnce() -> V) -> InertElement {
    let html = once.get_or_init(|| {
        let mut html = String::new();
        write(&mut html, island(), RenderFlags::HYDRATE);
        html
    });
    InertElement::new(html.as_str())
}

/// Appends a view to a buffer.
pub(crate) fn write(html: &mut String, view: impl IntoView, flags: RenderFlags) {
    view.into_view().to_html_with_buf(html, &mut Position::FirstChild, flags, Vec::new());
}
