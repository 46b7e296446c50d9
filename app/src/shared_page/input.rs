//! What the run of a tool was given.

use crate::{render::static_html, session::shared_input};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::Value;
use wire::session::Session;

/// The section; `None` if the run was given nothing. `schema` is that of the input, if its titles may be shown.
pub(crate) fn input_section(session: &Session, schema: Option<&Value>) -> Option<InertElement> {
    let html = shared_input(session.input.as_deref(), schema)?;
    Some(static_html(view! {
        <section class="shared-part" aria-labelledby="input">
            <h2 id="input">"Input"</h2>
            <p class="meta">"Private values are left out."</p>
            <div inner_html=html></div>
        </section>
    }))
}
