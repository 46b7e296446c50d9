//! HTML that the server renders and the browser puts in as it is.
//!
//! Markdown, highlighting, differences and forms of items never ship as code: the server renders them, and a fragment
//! shows the result. It knows what that takes: the HTML of the page is not sent a second time for hydration, an update
//! keeps nodes, focus and scroll position, and times are shown in the reader's time zone.

use leptos::{html, prelude::*};

/// Where a fragment is shown. A copy is the same place.
#[derive(Clone, Copy, Default)]
pub struct Slot {
    node: NodeRef<html::Div>,
}

/// Shows HTML of the server. `at` changes it afterwards.
#[component]
pub fn Fragment(
    /// What the page shows at first. The browser needs none: the page has it.
    html: String,
    /// Name of the part of a server's answer that it shows, as `data-part`.
    #[prop(optional)]
    part: Option<&'static str>,
    /// The place, to change its content.
    at: Slot,
) -> impl IntoView {
    view! { <div class="fragment" data-part=part node_ref=at.node inner_html=html></div> }
}

/// Shows HTML that an island was given by the page around it. `at` changes it afterwards.
#[component]
pub fn FragmentOfPage(
    /// The HTML.
    children: Children,
    /// The place, to change its content.
    at: Slot,
) -> impl IntoView {
    view! { <div class="fragment" node_ref=at.node>{children()}</div> }
}

/// Reads the fragment at this address. `None` if the server cannot be reached or refuses.
#[cfg(feature = "hydrate")]
pub async fn read(address: &str) -> Option<crate::browser::dom::HtmlElement> {
    crate::browser::fetch::get_text(address).await.ok().and_then(|html| element(&html))
}

/// The first element of a fragment's HTML.
#[cfg(feature = "hydrate")]
pub fn element(html: &str) -> Option<crate::browser::dom::HtmlElement> {
    use crate::browser::patch;
    patch::parse(html).and_then(|fragment| patch::children(&fragment).into_iter().next())
}

#[cfg(feature = "hydrate")]
mod live {
    use super::Slot;
    use crate::browser::{
        dom::{self, HtmlElement},
        patch, times,
    };
    use leptos::prelude::*;

    impl Slot {
        /// The element that holds the fragment. `None` before it is mounted.
        pub fn root(self) -> Option<HtmlElement> {
            self.node.get_untracked().map(Into::into)
        }

        /// The element that the fragment consists of.
        pub fn child(self) -> Option<HtmlElement> {
            self.root().and_then(|root| patch::children(&root).into_iter().next())
        }

        /// The first element of the fragment that matches a selector.
        pub fn find(self, selector: &str) -> Option<HtmlElement> {
            self.root().and_then(|root| dom::find(&root, selector))
        }

        /// All elements of the fragment that match a selector.
        pub fn find_all(self, selector: &str) -> Vec<HtmlElement> {
            self.root().map(|root| dom::find_all(&root, selector)).unwrap_or_default()
        }

        /// Replaces the fragment by HTML of the server.
        pub fn show(self, html: &str) {
            self.replace(|root| root.set_inner_html(html));
        }

        /// Replaces the fragment by an element that was made before.
        pub fn put(self, element: &HtmlElement) {
            self.replace(|root| {
                root.set_text_content(None);
                let _ = root.append_child(element);
            });
        }

        /// A replaced fragment is shown from its top. If it had the focus, its title gets it.
        fn replace(self, fill: impl FnOnce(&HtmlElement)) {
            let Some(root) = self.root() else { return };
            let had_focus = self.contains_focus();
            fill(&root);
            times::refine(&root);
            if let Some(pane) = root.parent_element() {
                pane.set_scroll_top(0);
            }
            if had_focus {
                self.focus_title();
            }
        }

        /// Whether an element of the fragment has the focus.
        pub fn contains_focus(self) -> bool {
            self.root().is_some_and(|root| root.contains(dom::document().active_element().as_deref()))
        }

        /// Moves the focus to the title: the first element that only scripts can focus.
        pub fn focus_title(self) {
            if let Some(title) = self.find("[tabindex='-1']") {
                let _ = title.focus();
            }
        }

        /// Updates the fragment from its part of a server's answer. Unchanged HTML is left alone, and the focus stays.
        pub fn update(self, answer: &HtmlElement) {
            let Some(root) = self.root() else { return };
            let selector = ["[data-part=", &root.get_attribute("data-part").unwrap_or_default(), "]"].concat();
            if let Some(now) = dom::find(answer, &selector) {
                patch::update(&root, &now);
            }
        }
    }
}
