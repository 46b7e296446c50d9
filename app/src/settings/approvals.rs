//! The time in which decisions can be undone. Posts `undoSeconds` to /settings/approvals.

use crate::{
    FormState,
    ui::{
        button::Button,
        field::{Field, Input},
        notice::Refused,
        section::Section,
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
                <Refused messages=form.general(&["undoSeconds"])/>
                <Input scope="approvals" field=Field::new("undoSeconds", "Seconds to undo").hint(&hint).required() value=undo_seconds.to_string() form=form/>
                <div class="form-actions"><Button>"Save approvals"</Button></div>
            </form>
        }
    });
    view! {
        <Section name="approvals" id="approvals" title="Approvals">
            <p class="meta">{now}</p>
            {change}
        </Section>
    }
}
