//! The document of a form's page: one style sheet and one small script.

use crate::{
    bare_document::{Head, bare_document},
    shell::Theme,
    text::escape::attribute,
};
use leptos::IntoView;

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
    let title = if is_error { format!("Error: {title}") } else { title.to_owned() };
    let (mut more, mut body) = (String::new(), String::new());
    if let Some(address) = &frame.refresh_to {
        more.push_str(&format!("<meta http-equiv=\"refresh\" content=\"0;url={}\">", attribute(address)));
    }
    if !frame.js_href.is_empty() {
        let (nonce, href) = (attribute(&frame.nonce), attribute(&frame.js_href));
        more.push_str(&format!("<script type=\"module\" nonce=\"{nonce}\" src=\"{href}\"></script>"));
    }
    if let Some(origins) = &frame.embedded_in {
        body.push_str(&format!(" data-embedded-in=\"{}\"", attribute(&origins.join(" "))));
    }
    let head = Head {
        title: &title,
        css_href: &frame.css_href,
        theme: frame.theme,
        robots: "noindex",
        referrer: "same-origin",
        more,
        body,
    };
    bare_document(&head, page)
}
