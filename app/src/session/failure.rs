//! Help with a failed session, and the button that acknowledges the failure.

use super::AcknowledgeFailure;
use crate::{
    server_function::page_fields,
    shell::Shell,
    ui::{button::Button, time::moment},
};
use domain::role::Permission;
use leptos::{prelude::*, server_fn::ServerFn as _};
use wire::failure::Failure;

/// The button that acknowledges a failure and continues with the page `next`, or when it was acknowledged.
pub fn acknowledge(shell: &Shell, failure: &Failure, next: &str) -> impl IntoView + use<> {
    if let Some(at) = failure.acknowledged_at {
        return view! { <span class="meta">"Seen "{moment(at)}</span> }.into_any();
    }
    if !shell.may(Permission::ManageSessions) {
        return ().into_any();
    }
    view! {
        <form method="post" action=AcknowledgeFailure::PATH>
            {page_fields(format!("{next}?notice=acknowledged"), format!("/sessions/{}", failure.session_id))}
            <input type="hidden" name="session_id" value=failure.session_id.to_string()/>
            <Button small=true about=failure.title.clone()>"Mark as seen"</Button>
        </form>
    }
    .into_any()
}

/// Remediation and acknowledgement, below the error in the header of a session.
pub fn failure_help(shell: &Shell, failure: &Failure) -> impl IntoView + use<> {
    view! {
        <div class="session-help">
            <p>{failure.remediation.clone()}</p>
            {acknowledge(shell, failure, &format!("/sessions/{}", failure.session_id))}
        </div>
    }
}
