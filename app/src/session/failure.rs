//! Help with a failed session, and the button that acknowledges the failure.

use crate::{
    shell::Shell,
    ui::{button::submit_small, time::moment},
};
use domain::role::Permission;
use leptos::prelude::*;
use wire::failure::Failure;

/// The button that acknowledges a failure and returns to `back`, or who has acknowledged it.
pub fn acknowledge(shell: &Shell, failure: &Failure, back: &'static str) -> impl IntoView + use<> {
    if let Some(at) = failure.acknowledged_at {
        return view! { <span class="meta">"Acknowledged "{moment(at)}</span> }.into_any();
    }
    if !shell.may(Permission::ManageSessions) {
        return ().into_any();
    }
    let target = format!("/sessions/{}/acknowledge", failure.session_id);
    view! {
        <form method="post" action=target>
            <input type="hidden" name="back" value=back/>
            {submit_small("Acknowledge", failure.title.clone())}
        </form>
    }
    .into_any()
}

/// Remediation and acknowledgement, below the error in the header of a session.
pub fn failure_help(shell: &Shell, failure: &Failure) -> impl IntoView + use<> {
    view! {
        <div class="session-help">
            <p>{failure.remediation.clone()}</p>
            {acknowledge(shell, failure, "")}
        </div>
    }
}
