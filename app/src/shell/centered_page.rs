//! Pages without the shell: sign-in, first run, and errors for visitors who are not signed in.

use crate::ui::icon::{Icon, icon};
use leptos::prelude::*;

/// A narrow page in the centre of the window. `wide` makes it wider for text.
pub fn centered_page(wide: bool, inner: impl IntoView) -> impl IntoView {
    view! {
        <main class="centered-page" id="main">
            <div class="centered-page-inner" data-size=wide.then_some("wide")>
                <p class="centered-page-brand">{icon(Icon::Mark)}"Shiftbook"</p>
                {inner}
            </div>
        </main>
    }
}
