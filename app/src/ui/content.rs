//! The children of a component, rendered at once.

use crate::render::static_html;
use leptos::{children::ToChildren, prelude::*, tachys::html::InertElement};

/// Children that may borrow from the page's data. `leptos::children::Children` may not, because it is kept for the
/// browser. No island may be inside, because its markers would be lost.
pub struct Content(InertElement);

impl Content {
    /// The rendered children.
    pub fn view(self) -> InertElement {
        self.0
    }
}

impl<F: FnOnce() -> V, V: IntoView> ToChildren<F> for Content {
    fn to_children(children: F) -> Self {
        Self(static_html(children()))
    }
}
