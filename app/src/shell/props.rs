//! Data that every page gets.

use crate::working_on::Active;
use domain::{
    Timestamp,
    role::{Permission, may},
};
use wire::me::{Me, Tenant};

/// The colour theme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    /// The theme of the operating system.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

impl Theme {
    /// All themes.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// The value of the cookie `theme` and of the form field.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Parses the cookie `theme`; an unknown value means the theme of the operating system.
    pub fn parse(text: &str) -> Self {
        match text {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }
}

/// A saved search in the navigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedEntry {
    /// What its person called it.
    pub name: String,
    /// Address of the list of sessions that it selects.
    pub href: String,
    /// Number of sessions, and whether there can be more. `None` for a search that is not counted.
    pub count: Option<(usize, bool)>,
}

/// Data that every page gets.
#[derive(Debug, Clone)]
pub struct Shell {
    /// Address of the bundled style sheet.
    pub css_href: String,
    /// Address of the style sheet of all pages but Today and the inbox.
    pub pages_css_href: String,
    /// Address of the JavaScript that loads the islands.
    pub js_href: String,
    /// Address of their WASM.
    pub wasm_href: String,
    /// Address of the script of trees of results.
    pub tree_js_href: String,
    /// Address of the script of the slider of a canvas's versions.
    pub scrub_js_href: String,
    /// The nonce of this response's Content-Security-Policy.
    pub nonce: String,
    /// The theme, from the cookie `theme`.
    pub theme: Theme,
    /// The signed-in principal; absent before sign-in. No script is loaded without one.
    pub viewer: Option<Me>,
    /// The workspaces of the viewer, including the current one.
    pub workspaces: Vec<Tenant>,
    /// The viewer's active working session. Absent for API tokens.
    pub working_on: Option<Active>,
    /// Number of inbox items that wait for the viewer.
    pub needs_me: u64,
    /// The first saved searches of the viewer, with counts that can be some seconds old.
    pub saved: Vec<SavedEntry>,
    /// The code of `?notice=`.
    pub notice: Option<String>,
    /// Position of the live stream when the page was rendered.
    pub live_mark: String,
    /// The server's clock when the page was rendered (UTC).
    pub now: Timestamp,
    /// Random per response; the idempotency keys of forms are derived from it.
    pub form_key: String,
}

impl Shell {
    /// Whether the viewer has a permission. It only hides controls; the server checks each request.
    pub fn may(&self, permission: Permission) -> bool {
        self.viewer.as_ref().is_some_and(|me| may(me.role, me.scope, permission))
    }
}
