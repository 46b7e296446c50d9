//! The document of these pages: one style sheet and no script.

use crate::{
    bare_document::{Head, bare_document},
    shell::Theme,
};
use leptos::IntoView;

/// Paths and settings of the page.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// Path of the style sheet; empty if the site was not built.
    pub css_href: String,
    /// The theme that the browser asked for.
    pub theme: Theme,
    /// The referrer policy of the page.
    pub referrer: &'static str,
}

/// Renders a document that search engines leave out.
pub fn document(frame: &Frame, title: &str, page: impl IntoView) -> String {
    let head = Head {
        title,
        css_href: &frame.css_href,
        theme: frame.theme,
        robots: "noindex, nofollow",
        referrer: frame.referrer,
        ..Head::default()
    };
    bare_document(&head, page)
}
