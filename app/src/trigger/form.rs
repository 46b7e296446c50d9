//! What every form that runs a task has in common.

use super::TriggerAction;
use crate::{
    server_function::page_fields,
    shell::Shell,
    ui::button::{Button, ButtonLink},
};
use domain::action::needs_input;
use leptos::{prelude::*, server_fn::ServerFn as _};
use wire::action::Action;

/// The hidden fields of a form that runs the task and continues with the new session.
pub fn trigger_fields(shell: &Shell, action: &Action) -> impl IntoView + use<> {
    let notice = if action.agent_slug.is_some() { "" } else { "?notice=triggered_unclaimed" };
    view! {
        {page_fields(["/sessions/{id}", notice].concat(), format!("/actions/{}", action.id))}
        <input type="hidden" name="action_id" value=action.id.to_string()/>
        <input type="hidden" name="idempotency_key" value=format!("{}-{}", shell.form_key, action.id)/>
    }
}

/// A form of one small button that runs the task. A task that cannot run without an input gets a link to the form for
/// its input instead.
pub fn trigger_button(shell: &Shell, action: &Action, label: String) -> AnyView {
    if needs_input(&serde_json::from_str(action.metadata.get()).unwrap_or_default()) {
        let href = format!("/actions/{}#run", action.id);
        return view! { <ButtonLink href=href small=true about=action.name.clone()>{label}</ButtonLink> }.into_any();
    }
    view! {
        <form method="post" action=TriggerAction::PATH>
            {trigger_fields(shell, action)}
            <Button small=true about=action.name.clone()>{label}</Button>
        </form>
    }
    .into_any()
}
