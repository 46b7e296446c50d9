//! The page /working-on: the picker's functions without scripts, and the person's own day.

use super::section::{Day, live_day};
use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{markdown::one_line, shorten},
    ui::{
        button::{Button, Look},
        empty::Empty,
        field::{Field, Input},
        notice::Refused,
        page_head::PageHead,
        popover::Sheet,
        section::Section,
    },
    working_on::{Active, CreateTask, StartWork, StopWork},
};
use domain::role::Permission;
use leptos::{prelude::*, server_fn::ServerFn as _};
use wire::action::Action;

/// Longest description in the list, characters.
const ABOUT_CHARS_MAX: usize = 120;

/// Data of the page /working-on.
#[derive(Debug, Clone)]
pub struct Props {
    /// The person's active tasks, newest first.
    pub tasks: Vec<Action>,
    /// Whether there are more tasks than these.
    pub has_more: bool,
    /// The text that task names are filtered by; empty for all.
    pub q: String,
    /// The person's day.
    pub day: Day,
    /// State of a refused form, named by the path of its server function.
    pub form: FormState,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, "Your day", || {
        let Props { tasks, has_more, q, day, form } = props;
        let now = shell.working_on.clone();
        let wrong: Vec<_> =
            [form.of(StartWork::PATH), form.of(StopWork::PATH)].iter().flat_map(|form| form.general(&[])).collect();
        let refused = view! { <Refused messages=wrong/> };
        let create = shell.may(Permission::StartSession).then(|| static_html(create_form(&form.of(CreateTask::PATH))));
        let page = view! {
            <PageHead title="Your day"/>
            {refused}
            {static_html(now_section(now.as_ref()))}
            {live_day(&day)}
            {static_html(tasks_section(tasks, has_more, &q, now.as_ref()))}
            {create}
        };
        frame(shell, RailEntry::Elsewhere, page)
    })
}

fn now_section(now: Option<&Active>) -> impl IntoView + use<> {
    let body = match now.cloned() {
        Some(active) => {
            let href = format!("/sessions/{}", active.session_id);
            view! {
                <div class="now">
                    <p>
                        "Working on "<a href=href dir="auto">{active.title}</a>", "
                        <time datetime=active.started_at data-time="since">"since "{active.started_words}</time>"."
                    </p>
                    <form method="post" action=StopWork::PATH>
                        <input type="hidden" name="next" value="/working-on?notice=working_stopped"/>
                        <input type="hidden" name="session_id" value=active.session_id/>
                        <Button>"Stop working"</Button>
                    </form>
                </div>
            }
            .into_any()
        }
        None => view! { <p>"You are not working on anything. Nothing is recorded."</p> }.into_any(),
    };
    view! {
        <Section name="now" title="Now">
            {body}
            <p class="meta">"While you work on a task, Shiftbook records the pages you open and the markers you write. It does not record what you type, scroll or hover over."</p>
        </Section>
    }
}

/// The button with which the viewer begins to work on a task. It leads to the viewer's day.
pub fn work_button(task: &Action) -> impl IntoView + use<> {
    view! {
        <form method="post" action=StartWork::PATH>
            <input type="hidden" name="next" value="/working-on?notice=working_started"/>
            <input type="hidden" name="task_id" value=task.id.to_string()/>
            <Button small=true about=task.name.clone()>"Work on this"</Button>
        </form>
    }
}

fn tasks_section(tasks: Vec<Action>, has_more: bool, q: &str, now: Option<&Active>) -> impl IntoView + use<> {
    let searched = !q.is_empty();
    let nothing = tasks.is_empty();
    let present = now.map(|active| active.task_id.clone());
    let rows: Vec<_> = tasks
        .into_iter()
        .map(|task| {
            let about = one_line(&task.description, ABOUT_CHARS_MAX);
            let is_now = present.as_ref() == Some(&task.id.to_string());
            let start = if is_now {
                view! { <span class="meta">"Working on it"</span> }.into_any()
            } else {
                work_button(&task).into_any()
            };
            view! {
                <li class="day-task">
                    <a class="quiet" href=format!("/actions/{}", task.id) dir="auto">{shorten::one_line(&task.name, 160)}</a>
                    <span class="meta" dir="auto">{about}</span>
                    <span class="day-time">{start}</span>
                </li>
            }
        })
        .collect();
    let more = has_more.then(|| view! { <p class="meta">"There are more tasks. Find one by its name."</p> });
    let find = (searched || has_more).then(|| {
        view! {
            <form class="find" method="get" action="/working-on" role="search">
                <input class="input" type="search" name="q" value=q.to_owned() aria-label="Find one of your tasks by name"/>
                <Button small=true>"Find"</Button>
            </form>
        }
    });
    let none = nothing.then(|| match searched {
        true => view! { <Empty sentence="None of your active tasks has that name." link=Some(("Show all", "/working-on".to_owned()))/> },
        false => view! { <Empty sentence="No active task is assigned to you." link=Some(("All tasks", "/actions".to_owned()))/> },
    });
    view! {
        <Section name="tasks" title="Your active tasks">
            {find}
            {none}
            <ul class="day">{rows}</ul>
            {more}
        </Section>
    }
}

fn create_form(form: &FormState) -> impl IntoView + use<> {
    view! {
        <Sheet summary="Create new task" open=form.is_refused()>
            <form class="form" method="post" action=CreateTask::PATH>
                <input type="hidden" name="next" value="/working-on?notice=working_started"/>
                <Refused messages=form.general(&["name"])/>
                <Input scope="create" field=Field::new("name", "Name").required() form=form/>
                <div class="form-actions"><Button look=Look::Primary>"Create and start"</Button></div>
            </form>
        </Sheet>
    }
}
