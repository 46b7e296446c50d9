//! What the server finds for the palette. The browser reads it from HTML, so that no parser of JSON is loaded for it.

#[cfg(feature = "hydrate")]
use super::choice::Found;

/// A record that matches the typed text, as a link.
#[cfg(feature = "ssr")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResult {
    /// Title, as the list shows it.
    pub title: String,
    /// What it is, e.g. `task`.
    pub kind: String,
    /// Its address.
    pub href: String,
    /// Heading above it, unless the result before has the same.
    pub section: &'static str,
}

/// Search results as links.
#[cfg(feature = "ssr")]
pub fn results_fragment(found: &[SearchResult]) -> String {
    use leptos::prelude::*;
    let links = found.iter().map(|found| {
        let SearchResult { title, kind, href, section } = found.clone();
        view! { <a href=href data-kind=kind data-section=section>{title}</a> }
    });
    crate::render::to_html(links.collect::<Vec<_>>())
}

/// Searches the server.
#[cfg(feature = "hydrate")]
pub async fn read(text: &str) -> Result<Vec<Found>, crate::browser::fetch::Failed> {
    use crate::browser::{fetch, patch};
    let query = String::from(js_sys::encode_uri_component(text));
    let html = fetch::get_text(&["/find?q=", &query].concat()).await?;
    let links = patch::parse(&html).map(|links| patch::children(&links)).unwrap_or_default();
    let found = links.into_iter().map(|link| Found {
        title: link.text_content().unwrap_or_default(),
        kind: link.get_attribute("data-kind").unwrap_or_default(),
        href: link.get_attribute("href").unwrap_or_default(),
        section: link.get_attribute("data-section").unwrap_or_default(),
    });
    Ok(found.collect())
}

/// The text if the server could not be searched.
#[cfg(feature = "hydrate")]
pub const fn why(failed: crate::browser::fetch::Failed) -> &'static str {
    use crate::browser::fetch::Failed;
    match failed {
        Failed::Unreachable => "The server cannot be reached, so names were not searched.",
        Failed::Status(401) => "You are signed out, so names were not searched.",
        Failed::Status(_) => "Names could not be searched. Please type again.",
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_is_text() {
        let (kind, href) = ("entity".into(), "/entities/1".into());
        let found = SearchResult { title: "<b>Acme</b>".into(), kind, href, section: "Entities" };
        let html = results_fragment(&[found]);
        assert_eq!(
            html,
            "<a href=\"/entities/1\" data-kind=\"entity\" data-section=\"Entities\">&lt;b&gt;Acme&lt;/b&gt;</a>"
        );
    }
}
