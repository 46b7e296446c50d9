//! What every page gets.

use crate::working_on::Active;
use domain::{
    Timestamp,
    role::{Permission, may},
};
use wire::me::{Me, Tenant};

/// Light, dark, or as the system says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system says.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

impl Theme {
    /// The value of the cookie `theme` and of the form field.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// From the cookie `theme`; anything unknown is the system's choice.
    pub fn parse(text: &str) -> Self {
        match text {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }
}

/// What every page gets, whatever it shows.
#[derive(Debug, Clone)]
pub struct Shell {
    /// Address of the bundled style sheet.
    pub css_href: String,
    /// Address of the JavaScript that loads the islands.
    pub js_href: String,
    /// Address of their WASM.
    pub wasm_href: String,
    /// This answer's Content-Security-Policy nonce.
    pub nonce: String,
    /// From the cookie `theme`.
    pub theme: Theme,
    /// Who looks; absent before sign-in. Without a viewer no script is loaded.
    pub viewer: Option<Me>,
    /// Workspaces the viewer can switch to, the present one included.
    pub workspaces: Vec<Tenant>,
    /// What the viewer works on. Nothing also for programs.
    pub working_on: Option<Active>,
    /// How many items of the inbox wait for the viewer.
    pub needs_me: u64,
    /// The code of `?notice=`.
    pub notice: Option<String>,
    /// Where the live stream stood when this page was begun.
    pub live_mark: String,
    /// The server's time.
    pub now: Timestamp,
    /// Random per answer; idempotency keys of forms are made from it.
    pub form_key: String,
}

impl Shell {
    /// Whether the viewer may do it. The server decides again; this only hides what would be refused.
    pub fn may(&self, permission: Permission) -> bool {
        self.viewer.as_ref().is_some_and(|me| may(me.role, me.scope, permission))
    }
}
