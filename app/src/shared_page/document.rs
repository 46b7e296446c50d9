//! The document of these pages: one style sheet and no script.

use crate::{
    render::write,
    shell::Theme,
    text::escape::{attribute, content},
};
use leptos::{IntoView, tachys::view::RenderFlags};

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
    let mut html = String::with_capacity(16 * 1024);
    html.push_str("<!DOCTYPE html><html lang=\"en\"");
    match frame.theme {
        Theme::System => {}
        Theme::Light => html.push_str(" data-theme=\"light\""),
        Theme::Dark => html.push_str(" data-theme=\"dark\""),
    }
    html.push_str("><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>");
    content(&mut html, title);
    html.push_str("</title><meta name=\"color-scheme\" content=\"light dark\"><meta name=\"robots\" content=\"noindex, nofollow\"><meta name=\"referrer\" content=\"");
    html.push_str(frame.referrer);
    html.push_str("\">");
    if !frame.css_href.is_empty() {
        html.push_str(&format!("<link rel=\"stylesheet\" href=\"{}\">", attribute(&frame.css_href)));
    }
    html.push_str("<link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\"></head><body>");
    write(&mut html, page, RenderFlags::new(true, false, false));
    html.push_str("</body></html>");
    html
}
