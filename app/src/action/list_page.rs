//! The page /actions.

use super::{
    approval_form::ReviewOptions,
    bulk::{FORM, bar, undo_form},
    form::{Targets, action_form},
};
use crate::{
    FormState,
    day::work_button,
    document::render,
    render::{static_html, to_html},
    sessions::{LiveRows, tick},
    shell::{RailEntry, Shell, frame},
    text::{escape::query, markdown::one_line},
    trigger::trigger_button,
    ui::{
        badge::StatusBadge,
        button::{Button, ButtonLink, Look},
        empty::Empty,
        field::{Field, Input},
        list_search::{search_chips, suggestions},
        page_head::PageHead,
        pager::more,
        popover::Sheet,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{action::ActionStatus, limit::SEARCH_QUERY_CHARS_MAX, role::Permission, search};
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
    /// `?q=`: words and conditions; may be empty.
    pub q: String,
    /// Why the search was refused, and how it was typed.
    pub search: FormState,
    /// `?undo=`: ids of tasks that were just archived or restored in this list.
    pub undo: Vec<String>,
    /// State of a refused `POST /actions/decisions` (form `tasks`).
    pub bulk: FormState,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Tasks", || {
        let ListProps {
            actions,
            next_cursor,
            shows_archived,
            members,
            targets,
            reviewing,
            form,
            q,
            search,
            undo,
            bulk,
        } = props;
        let form = form.of("create");
        let none_yet = actions.is_empty() && !shows_archived && q.is_empty();
        let manages = shell.may(Permission::ManageActions);
        let viewer_id =
            shell.viewer.as_ref().and_then(|me| me.user.as_ref()).map_or_else(String::new, |user| user.id.to_string());
        let rows: String =
            actions.iter().map(|(action, newest)| to_html(row(shell, action, newest.as_ref(), manages))).collect();
        let other = if shows_archived { ("Active", "/actions") } else { ("Archived", "/actions?status=archived") };
        let here = here(&q, shows_archived);
        let is_searched = !q.is_empty() && !search.is_refused();
        let list = if actions.is_empty() {
            empty(is_searched, shows_archived).into_any()
        } else {
            let bar = manages.then(|| static_html(bar(&here, &q, shows_archived, &bulk)));
            view! { {bar}{static_html(table(rows, manages))} }.into_any()
        };
        let undo = (manages && !undo.is_empty()).then(|| static_html(undo_form(&here, undo, shows_archived)));
        let more = more(next_cursor.map(|cursor| {
            let status = if shows_archived { "&status=archived" } else { "" };
            let found = if is_searched { format!("&q={}", query(&q)) } else { String::new() };
            format!("/actions?cursor={}{status}{found}", query(&cursor))
        }));
        let create = manages.then(|| {
            let new_task = (viewer_id.as_str(), shell.form_key.as_str());
            view! {
                <Sheet summary="New task" open=none_yet || form.is_refused() || !targets.start.is_empty()>
                    // Inside the details element: a link to it opens the form.
                    <div id="new">{static_html(action_form(None, &members, new_task, &targets, &reviewing, &form))}</div>
                </Sheet>
            }
        });
        let finder = (!none_yet).then(|| static_html(search_form(&q, shows_archived, &search)));
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
            view! { <PageHead title=if shows_archived { "Archived tasks" } else { "Tasks" }.to_owned()>{head}</PageHead> {finder} <LiveRows>{undo}{list}</LiveRows> {more} {create} },
        )
    })
}

/// Why there are no tasks.
fn empty(is_searched: bool, shows_archived: bool) -> impl IntoView + use<> {
    if is_searched {
        let all = if shows_archived { "/actions?status=archived" } else { "/actions" };
        let link = Some(("Show all tasks", all.to_owned()));
        return view! { <Empty sentence="No task in this list is found by these words." link=link/> };
    }
    let sentence = if shows_archived {
        "No task is archived."
    } else {
        "A task is work that you describe once and run as often as you like. There are no tasks yet."
    };
    view! { <Empty sentence=sentence link=None/> }
}

/// The table of these rows, which can be selected by whoever manages tasks.
fn table(rows: String, manages: bool) -> impl IntoView + use<> {
    let mut columns = vec![
        Column::text("Name"),
        Column::text("Agent"),
        Column::text("Latest session"),
        Column::text("Changed"),
        Column::hidden("Run"),
    ];
    if manages {
        columns.insert(0, Column::hidden("Select"));
    }
    view! { <Table caption="Tasks" columns=columns>{InertElement::new(rows)}</Table> }
}

/// The address of the first page of the list.
fn here(q: &str, shows_archived: bool) -> String {
    let status = shows_archived.then(|| "status=archived".to_owned());
    let found = (!q.is_empty()).then(|| format!("q={}", query(q)));
    let pairs: Vec<String> = status.into_iter().chain(found).collect();
    if pairs.is_empty() { "/actions".to_owned() } else { format!("/actions?{}", pairs.join("&")) }
}

/// The search in the list, and a chip for each part of it. It keeps the status.
fn search_form(q: &str, shows_archived: bool, form: &FormState) -> impl IntoView + use<> {
    let field = Field::new("q", "Search tasks").hint("Words, agent:scout, title:\"weekly report\", -not");
    let set = search_chips(q, &search::Field::OF_TASKS, &|left| here(left, shows_archived));
    view! {
        <form class="filter" method="get" action="/actions" role="search">
            {shows_archived.then(|| view! { <input type="hidden" name="status" value="archived"/> })}
            <Input scope="search" field=field kind="search" wide=true chars_max=SEARCH_QUERY_CHARS_MAX suggestions=suggestions(q, &search::Field::OF_TASKS) value=q form=form/>
            <Button>"Search"</Button>
        </form>
        {set}
    }
}

fn row(shell: &Shell, action: &Action, newest: Option<&TaskStatus>, manages: bool) -> impl IntoView + use<> {
    let href = format!("/actions/{}", action.id);
    let about = one_line(&action.description, ABOUT_CHARS_MAX);
    let tick = manages.then(|| {
        let tick = tick((FORM, "task"), action.id.to_string(), &action.name, false);
        view! { <td class="table-tick">{tick}</td> }
    });
    let run = newest.and_then(|n| Some((n.session_id?, n.status?)));
    // Hardly a worker takes sessions of a person's task that names no agent, so the person works on it.
    let is_for_person = action.agent_slug.is_none() && action.assigned_to.is_some();
    let trigger = (action.status == ActionStatus::Active).then(|| match is_for_person {
        true => work_button(action).into_any(),
        false => trigger_button(shell, action, "Run".to_owned()),
    });
    view! {
        <tr>
            {tick}
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
