//! The document of a form's page: one style sheet and one small script.

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
    /// Path of the script; empty if the site was not built.
    pub js_href: String,
    /// The nonce that the content security policy asks of scripts.
    pub nonce: String,
    /// The theme that the browser asked for.
    pub theme: Theme,
    /// Address that the browser opens in place of the page, without a script.
    pub refresh_to: Option<String>,
    /// Origins of the pages that may embed this one. `None` for a page of its own. The script tells them the height.
    pub embedded_in: Option<Vec<String>>,
}

/// Renders a document. The title begins with `Error:` if the page shows errors.
pub fn document(frame: &Frame, title: &str, is_error: bool, page: impl IntoView) -> String {
    let mut html = String::with_capacity(16 * 1024);
    html.push_str("<!DOCTYPE html><html lang=\"en\"");
    match frame.theme {
        Theme::System => {}
        Theme::Light => html.push_str(" data-theme=\"light\""),
        Theme::Dark => html.push_str(" data-theme=\"dark\""),
    }
    html.push_str("><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>");
    if is_error {
        html.push_str("Error: ");
    }
    content(&mut html, title);
    html.push_str("</title><meta name=\"color-scheme\" content=\"light dark\"><meta name=\"robots\" content=\"noindex\"><meta name=\"referrer\" content=\"same-origin\">");
    if !frame.css_href.is_empty() {
        html.push_str(&format!("<link rel=\"stylesheet\" href=\"{}\">", attribute(&frame.css_href)));
    }
    if let Some(address) = &frame.refresh_to {
        html.push_str(&format!("<meta http-equiv=\"refresh\" content=\"0;url={}\">", attribute(address)));
    }
    html.push_str("<link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\">");
    if !frame.js_href.is_empty() {
        let (nonce, href) = (attribute(&frame.nonce), attribute(&frame.js_href));
        html.push_str(&format!("<script type=\"module\" nonce=\"{nonce}\" src=\"{href}\"></script>"));
    }
    html.push_str("</head><body");
    if let Some(origins) = &frame.embedded_in {
        html.push_str(&format!(" data-embedded-in=\"{}\"", attribute(&origins.join(" "))));
    }
    html.push('>');
    write(&mut html, page, RenderFlags::new(true, false, false));
    html.push_str("</body></html>");
    html
}
