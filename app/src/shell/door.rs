//! Pages without the shell: sign-in, first run, and errors for visitors who are not signed in.

use crate::ui::icon::{Icon, icon};
use leptos::prelude::*;

/// A narrow page in the centre of the window. `wide` makes it wider for text.
pub fn door(wide: bool, inner: impl IntoView) -> impl IntoView {
    view! {
        <main class="door" id="main">
            <div class="door-inner" data-size=wide.then_some("wide")>
                <p class="door-brand">{icon(Icon::Mark)}"Shiftbook"</p>
                {inner}
            </div>
        </main>
    }
}
