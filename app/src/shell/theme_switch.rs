//! The button that switches between light, dark and system theme. The server reads the cookie on the next page.

use crate::ui::icon::{Icon, icon};
use leptos::prelude::*;

/// A button that cycles through the three themes.
#[island]
pub fn ThemeSwitch() -> impl IntoView {
    let theme = RwSignal::new("system");
    #[cfg(feature = "hydrate")]
    theme.set(crate::browser::theme::current());
    let turn = move |_| {
        let next = match theme.get_untracked() {
            "system" => "light",
            "light" => "dark",
            _ => "system",
        };
        theme.set(next);
        #[cfg(feature = "hydrate")]
        crate::browser::theme::choose(next);
    };
    let label = move || match theme.get() {
        "light" => "Theme: light",
        "dark" => "Theme: dark",
        _ => "Theme: as the system",
    };
    view! {
        <button class="button" type="button" data-look="quiet" data-shape="icon" data-key="theme" on:click=turn aria-label=label title=label>
            {icon(Icon::Theme)}
        </button>
    }
}
