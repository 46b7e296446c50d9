//! A link that was just made.

use crate::{
    render::static_html,
    ui::{
        button::{Button, Press},
        icon::Icon,
    },
};
use leptos::{prelude::*, tachys::html::InertElement};

/// The address of a new link, and what follows it. The field has the focus, so that it can be copied at once, also
/// without scripts.
pub fn new_link(url: &str, more: Option<InertElement>) -> InertElement {
    let url = url.to_owned();
    static_html(view! {
        <div class="secret" id="new-link" role="group" aria-labelledby="new-link-title">
            <p><strong id="new-link-title">"Copy the link now. It is not shown again."</strong></p>
            <div class="copy-field">
                <input class="input" id="new-link-url" type="text" readonly="" autofocus="" value=url.clone() aria-labelledby="new-link-title"/>
                <Button press=Press::Script script_only=true picture=Icon::Copy attr:data-copy=url attr:aria-label="Copy the link">
                    <span>"Copy"</span>
                </Button>
            </div>
            {more}
        </div>
    })
}
