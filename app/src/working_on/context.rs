//! What the server says about the person on every page. The island of the picker takes no arguments, because a parser
//! of arguments would be a tenth of the WASM that every page loads: it reads the attributes of its own HTML.

use super::{Active, work::owner_of};

/// What the page says about the person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkingOnContext {
    /// Workspace and person, see [`owner_of`].
    pub owner: String,
    /// Whether the person may create tasks.
    pub may_create: bool,
    /// The active working session.
    pub active: Option<Active>,
}

impl WorkingOnContext {
    /// For a person of a workspace.
    pub fn new(tenant_id: &str, user_id: &str, may_create: bool, active: Option<Active>) -> Self {
        Self { owner: owner_of(tenant_id, user_id), may_create, active }
    }

    /// What was provided for this page.
    #[cfg(not(feature = "hydrate"))]
    pub fn of_page() -> Self {
        leptos::prelude::use_context().unwrap_or_default()
    }

    /// What the page was rendered with.
    #[cfg(feature = "hydrate")]
    pub fn of_page() -> Self {
        use crate::browser::dom;
        let Some(element) = dom::root().and_then(|root| dom::find(&root, "[data-owner]")) else {
            return Self::default();
        };
        Self {
            owner: element.get_attribute("data-owner").unwrap_or_default(),
            may_create: element.has_attribute("data-may-create"),
            active: element.get_attribute("data-active").and_then(|lines| Active::of_lines(&lines)),
        }
    }
}
