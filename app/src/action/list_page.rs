//! The page /actions.

use super::{
    approval_form::ReviewOptions,
    form::{Targets, action_form},
};
use crate::{
    FormState,
    day::work_button,
    document::render,
    render::{static_html, to_html},
    shell::{RailEntry, Shell, frame},
    text::markdown::one_line,
    trigger::trigger_button,
    ui::{
        badge::StatusBadge,
        button::{ButtonLink, Look},
        empty::Empty,
        page_head::PageHead,
        popover::Sheet,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{action::ActionStatus, role::Permission};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::{
    access::Member,
    action::{Action, TaskStatus},
};

/// Longest description in the list, characters.
const ABOUT_CHARS_MAX: usize = 120;

/// Data of the page /actions.
#[derive(Debug, Clone, Default)]
pub struct ListProps {
    /// The tasks of this page, each with its latest session if the server has read it.
    pub actions: Vec<(Action, Option<TaskStatus>)>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// `?status=archived`: lists archived tasks.
    pub shows_archived: bool,
    /// Members that a task can be assigned to.
    pub members: Vec<Member>,
    /// Entities that a task can be about.
    pub targets: Targets,
    /// Options of the approval settings.
    pub reviewing: ReviewOptions,
    /// State of a refused `POST /actions` (form `create`).
    pub form: FormState,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Tasks", || {
        let ListProps { actions, next_cursor, shows_archived, members, targets, reviewing, form } = props;
        let form = form.of("create");
        let none_yet = actions.is_empty() && !shows_archived;
        let manages = shell.may(Permission::ManageActions);
        let viewer_id =
            shell.viewer.as_ref().and_then(|me| me.user.as_ref()).map_or_else(String::new, |user| user.id.to_string());
        let rows: String =
            actions.iter().map(|(action, newest)| to_html(row(shell, action, newest.as_ref()))).collect();
        let other = if shows_archived { ("Active", "/actions") } else { ("Archived", "/actions?status=archived") };
        let list = if actions.is_empty() && shows_archived {
            view! { <Empty sentence="No task is archived."/> }.into_any()
        } else if actions.is_empty() {
            view! { <Empty sentence="A task is work that you describe once and run as often as you like. There are no tasks yet."/> }
                .into_any()
        } else {
            let columns = vec![
                Column::text("Name"),
                Column::text("Agent"),
                Column::text("Latest session"),
                Column::text("Changed"),
                Column::hidden("Run"),
            ];
            view! {
                <Table caption="Tasks" columns=columns>{InertElement::new(rows)}</Table>
            }
            .into_any()
        };
        let more = next_cursor.map(|cursor| {
            let status = if shows_archived { "&status=archived" } else { "" };
            let href = format!("/actions?cursor={}{status}", crate::text::escape::query(&cursor));
            view! { <nav class="pager" aria-label="Pages"><ButtonLink small=true attr:rel="next" href=href>"More"</ButtonLink></nav> }
        });
        let create = manages.then(|| {
            let new_task = (viewer_id.as_str(), shell.form_key.as_str());
            view! {
                <Sheet summary="New task" open=none_yet || form.is_refused() || !targets.start.is_empty()>
                    // Inside the details element: a link to it opens the form.
                    <div id="new">{static_html(action_form(None, &members, new_task, &targets, &reviewing, &form))}</div>
                </Sheet>
            }
        });
        let head = view! {
            <ButtonLink look=Look::Quiet href="/views">"Forms"</ButtonLink>
            <ButtonLink look=Look::Quiet href="/tools">"Tools"</ButtonLink>
            <ButtonLink look=Look::Quiet href="/criteria-sets">"Criteria sets"</ButtonLink>
            <ButtonLink look=Look::Quiet href=other.1>{other.0}</ButtonLink>
            {manages.then(|| view! { <ButtonLink look=Look::Primary href="#new" title="New task (c)">"New task"</ButtonLink> })}
        };
        frame(
            shell,
            RailEntry::Actions,
            view! { <PageHead title=if shows_archived { "Archived tasks" } else { "Tasks" }.to_owned()>{head}</PageHead> {list} {more} {create} },
        )
    })
}

fn row(shell: &Shell, action: &Action, newest: Option<&TaskStatus>) -> impl IntoView + use<> {
    let href = format!("/actions/{}", action.id);
    let about = one_line(&action.description, ABOUT_CHARS_MAX);
    let run = newest.and_then(|n| Some((n.session_id?, n.status?)));
    // Hardly a worker takes sessions of a person's task that names no agent, so the person works on it.
    let is_for_person = action.agent_slug.is_none() && action.assigned_to.is_some();
    let trigger = (action.status == ActionStatus::Active).then(|| match is_for_person {
        true => work_button(action).into_any(),
        false => trigger_button(shell, action, "Run".to_owned()),
    });
    view! {
        <tr>
            <td class="table-main">
                <a class="quiet" href=href dir="auto">{action.name.clone()}</a>
                {(!about.is_empty()).then(|| view! { <div class="meta" dir="auto">{about}</div> })}
            </td>
            <td class="meta">{action.agent_slug.clone()}</td>
            <td>{run.map(|(id, status)| view! { <a class="quiet" href=format!("/sessions/{id}")><StatusBadge status=status/></a> })}</td>
            <td class="meta">{moment(action.updated_at)}</td>
            <td class="table-number">{trigger}</td>
        </tr>
    }
}
