//! The HTML document of pages without the shell of the app: forms, and what was shared. It has one style sheet.

use crate::{
    render::write,
    shell::Theme,
    text::escape::{attribute, content},
};
use leptos::{IntoView, tachys::view::RenderFlags};

/// What a document has besides its page.
#[derive(Debug, Clone, Default)]
pub struct Head<'a> {
    /// Title of the page.
    pub title: &'a str,
    /// Path of the style sheet; empty if the site was not built.
    pub css_href: &'a str,
    /// The theme that the browser asked for.
    pub theme: Theme,
    /// Instructions for search engines.
    pub robots: &'static str,
    /// The referrer policy.
    pub referrer: &'static str,
    /// HTML at the end of the head.
    pub more: String,
    /// Attributes of the body as HTML, each with a space before it.
    pub body: String,
}

/// Renders a document.
pub fn bare_document(head: &Head<'_>, page: impl IntoView) -> String {
    let mut html = String::with_capacity(16 * 1024);
    html.push_str("<!DOCTYPE html><html lang=\"en\"");
    match head.theme {
        Theme::System => {}
        Theme::Light => html.push_str(" data-theme=\"light\""),
        Theme::Dark => html.push_str(" data-theme=\"dark\""),
    }
    html.push_str("><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>");
    content(&mut html, head.title);
    html.push_str("</title><meta name=\"color-scheme\" content=\"light dark\">");
    for (name, value) in [("robots", head.robots), ("referrer", head.referrer)] {
        html.push_str(&format!("<meta name=\"{name}\" content=\"{value}\">"));
    }
    if !head.css_href.is_empty() {
        html.push_str(&format!("<link rel=\"stylesheet\" href=\"{}\">", attribute(head.css_href)));
    }
    html.push_str("<link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\">");
    html.push_str(&head.more);
    html.push_str("</head><body");
    html.push_str(&head.body);
    html.push('>');
    write(&mut html, page, RenderFlags::new(true, false, false));
    html.push_str("</body></html>");
    html
}
