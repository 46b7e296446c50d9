//! Pages without the shell: before sign-in, and errors of strangers.

use crate::ui::icon::{Icon, icon};
use leptos::prelude::*;

/// A small page in the middle. `wide` gives text more room.
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
