//! What is to be known about a session that ended badly, and the button that says that somebody knows.

use crate::{
    shell::Shell,
    ui::{button::submit_small, time::moment},
};
use domain::role::Permission;
use leptos::prelude::*;
use wire::failure::Failure;

/// Acknowledges a failure and comes back to `back`; when somebody has, says so.
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

/// The remediation and the button, under the error in a session's head.
pub fn failure_help(shell: &Shell, failure: &Failure) -> impl IntoView + use<> {
    view! {
        <div class="session-help">
            <p>{failure.remediation.clone()}</p>
            {acknowledge(shell, failure, "")}
        </div>
    }
}
