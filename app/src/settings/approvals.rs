//! The time in which decisions can be undone. Posts `undoSeconds` to /settings/approvals.

use crate::{
    FormState,
    ui::{
        button::{Look, submit},
        field::{Field, input},
        notice,
    },
};
use domain::limit::UNDO_SECONDS_MAX;
use leptos::prelude::*;

/// The current setting, with a form to change it for admins.
pub fn approvals_section(undo_seconds: u32, administers: bool, form: &FormState) -> impl IntoView + use<> {
    let now = match undo_seconds {
        0 => "Decisions take effect immediately and cannot be undone.".to_owned(),
        seconds => format!("Decisions take effect after {seconds} s. Until then they can be undone."),
    };
    let hint = format!("0 to {UNDO_SECONDS_MAX}. With 0, decisions take effect immediately and cannot be undone.");
    let change = administers.then(|| {
        view! {
            <form class="form" method="post" action="/settings/approvals">
                {notice::refused(form.general(&["undoSeconds"]))}
                {input("approvals", Field::new("undoSeconds", "Seconds to undo").hint(&hint).required(), "text", &undo_seconds.to_string(), "off", form)}
                <div class="form-actions">{submit("Save approvals", Look::Plain)}</div>
            </form>
        }
    });
    view! {
        <section class="section" id="approvals" aria-labelledby="approvals-title">
            <h2 id="approvals-title">"Approvals"</h2>
            <p class="meta">{now}</p>
            {change}
        </section>
    }
}
