//! The colour theme: set on the root element, in a cookie for the server, and in local storage for other tabs.

use super::dom;

/// The theme of this page.
pub fn current() -> &'static str {
    match dom::root().and_then(|root| root.get_attribute("data-theme")).as_deref() {
        Some("light") => "light",
        Some("dark") => "dark",
        _ => "system",
    }
}

/// Sets and stores the theme.
pub fn choose(theme: &str) {
    show(theme);
    dom::set_cookie("theme", theme);
    dom::store("theme", Some(theme));
}

fn show(theme: &str) {
    let Some(root) = dom::root() else { return };
    let _ = match theme {
        "light" | "dark" => root.set_attribute("data-theme", theme),
        _ => root.remove_attribute("data-theme"),
    };
}

/// Applies a theme that was chosen in another tab.
pub fn follow_other_tabs() {
    dom::on_stored("theme", || show(dom::stored("theme").as_deref().unwrap_or("system")));
}
