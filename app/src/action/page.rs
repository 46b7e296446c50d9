//! The page /actions/{id}.

use super::{
    approval_form::ReviewOptions,
    approval_summary::{ApprovalSummary, approval_summary},
    form::{Targets, action_form},
    input::{InputFields, input_fields},
};
use crate::{
    FormState,
    document::render,
    render::static_html,
    sessions::{LiveRows, SessionEntry, session_table},
    shell::{RailEntry, Shell, frame},
    text::{duration, error_text, escape::query, html::Html},
    trigger::{TriggerAction, trigger_fields},
    ui::{
        badge::StatusBadge,
        button::{Button, Look},
        empty::Empty,
        notice::Refused,
        page_head::PageHead,
        popover::Sheet,
        section::Section,
    },
};
use domain::{action::ActionStatus, role::Permission};
use leptos::{prelude::*, server_fn::ServerFn as _};
use wire::{
    access::Member,
    action::{Action, TaskStatus},
};

/// Longest error of the latest session, characters.
const ERROR_CHARS_MAX: usize = 300;

/// Data of the page /actions/{id}.
#[derive(Debug, Clone)]
pub struct Props {
    /// The task.
    pub action: Action,
    /// Its latest session; absent if there is none.
    pub task_status: Option<TaskStatus>,
    /// Recent sessions, newest first.
    pub runs: Vec<SessionEntry>,
    /// Whether there are more sessions than these.
    pub has_more_runs: bool,
    /// Members that the task can be assigned to.
    pub members: Vec<Member>,
    /// Entities that it can be about, including its own.
    pub targets: Targets,
    /// Options of the approval settings.
    pub reviewing: ReviewOptions,
    /// State of a refused `POST /actions/{id}` (form `edit`) or of a refused [`TriggerAction`] (named by its path).
    pub form: FormState,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let title = props.action.name.clone();
    render(shell, &title, || {
        let Props { action, task_status, runs, has_more_runs, members, targets, reviewing, form } = props;
        let manages = shell.may(Permission::ManageActions);
        let crumbs = vec![("Tasks".to_owned(), "/actions".to_owned())];
        let about = (!action.description.is_empty()).then(|| {
            let mut html = Html::default();
            html.markdown(&action.description);
            view! { <div class="prose" inner_html=html.finish()></div> }
        });
        let list = if runs.is_empty() {
            view! { <Empty sentence="This task has not been run yet. Run it to see its first session here."/> }
                .into_any()
        } else {
            let table = static_html(session_table(&runs, shell.now, "Recent sessions, newest first"));
            view! { <LiveRows>{table}</LiveRows> }.into_any()
        };
        let more = has_more_runs.then(|| {
            view! { <p><a href=format!("/sessions?actionId={}", query(&action.id.to_string()))>"All sessions"</a></p> }
        });
        let edit = manages.then(|| {
            let edit = form.of("edit");
            let inner = static_html(action_form(Some(&action), &members, ("", ""), &targets, &reviewing, &edit));
            view! {
                <Sheet summary="Edit" open=edit.is_refused()>
                    <div>{inner}</div>
                </Sheet>
            }
        });
        let trigger = static_html(trigger_form(shell, &action, runs.first(), &form.of(TriggerAction::PATH)));
        let page = view! {
            <PageHead title=title.clone() crumbs=crumbs/>
            {static_html(facts(&action, task_status.as_ref(), &members, &targets))}
            <div class="split">
                <div class="section">
                    {about}
                    {edit}
                </div>
                <Section name="trigger" id="run" title="Run this task">
                    {trigger}
                </Section>
            </div>
            <Section name="runs" title="Recent sessions">
                {list}
                {more}
            </Section>
        };
        frame(shell, RailEntry::Actions, page)
    })
}

fn facts(action: &Action, newest: Option<&TaskStatus>, members: &[Member], targets: &Targets) -> impl IntoView + use<> {
    let fact = |term: &'static str, value: AnyView| view! { <div><dt>{term}</dt><dd>{value}</dd></div> };
    let person = action.assigned_to.as_ref().map(|id| {
        let email =
            members.iter().find(|m| m.id == *id).map_or_else(|| "a former member".to_owned(), |m| m.email.clone());
        fact("Assigned to", email.into_any())
    });
    let about = action.target_entity_id.as_ref().map(|id| {
        let title = targets.choices.label(&id.to_string()).unwrap_or("an entity").to_owned();
        fact("About", view! { <a href=format!("/entities/{id}") dir="auto">{title}</a> }.into_any())
    });
    let run = newest.and_then(|n| {
        let (id, status) = (n.session_id?, n.status?);
        let lasted = n.duration_ms.map(|ms| format!(" {}", duration::words(ms)));
        Some(fact(
            "Latest session",
            view! { <a class="quiet" href=format!("/sessions/{id}")><StatusBadge status=status/></a>{lasted} }
                .into_any(),
        ))
    });
    let ApprovalSummary { what, who } = approval_summary(action, members);
    let error = newest.and_then(|n| n.error.as_ref()).map(|error| {
        let error = error_text::one_line(error, ERROR_CHARS_MAX);
        view! { <div class="session-error"><span dir="auto">{error}</span></div> }
    });
    view! {
        <dl class="facts">
            {(action.status == ActionStatus::Archived).then(|| fact("Status", "archived".into_any()))}
            {action.agent_slug.clone().map(|agent| fact("Agent", agent.into_any()))}
            {person}
            {about}
            {fact("Slug", view! { <code>{action.slug.clone()}</code> }.into_any())}
            {fact("Output", action.output_type.as_str().into_any())}
            {fact("Approval", what.into_any())}
            {fact("Approved by", view! { <span dir="auto">{who}</span> }.into_any())}
            {run}
        </dl>
        {error}
    }
}

fn trigger_form(
    shell: &Shell,
    action: &Action,
    newest: Option<&SessionEntry>,
    form: &FormState,
) -> impl IntoView + use<> {
    if action.status == ActionStatus::Archived {
        return view! { <p class="meta">"This task is archived. Set its status to active to run it."</p> }.into_any();
    }
    let last = newest.and_then(|run| run.session.input.as_deref()).filter(|input| input.get() != "null");
    let again = last.is_some().then(|| view! { <p class="meta">"Filled in with the input of the latest session."</p> });
    let InputFields { html: fields, names, takes_files, json_button } = input_fields(action, last, form);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let no_agent = action.agent_slug.is_none().then(|| {
        view! { <p class="meta">"This task names no agent. Its sessions wait for a worker that takes sessions without an agent name."</p> }
    });
    view! {
        <form class="form" method="post" action=TriggerAction::PATH enctype=takes_files.then_some("multipart/form-data") data-address=format!("/actions/{}", action.id)>
            // Enter in a field presses the first button, which must not be one that changes the form.
            <button class="hidden-text" type="submit" tabindex="-1" aria-hidden="true">"Run"</button>
            {trigger_fields(shell, action)}
            <Refused messages=form.general(&names)/>
            {fields}
            {again}
            {no_agent}
            <div class="form-actions"><Button look=Look::Primary attr:data-key="run">"Run"</Button>{json_button}</div>
        </form>
    }
    .into_any()
}
