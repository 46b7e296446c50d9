//! What happens if the selected tasks are archived, before they are. Only tasks with sessions that have not ended need
//! it: archiving any other can be undone without a trace.

use crate::{
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{number::counted, shorten::one_line},
    ui::{
        button::{Button, ButtonLink, Look},
        page_head::PageHead,
        table::{Column, Table},
    },
};
use leptos::prelude::*;

/// Longest name in the table, characters.
const NAME_CHARS: usize = 160;

/// A task with sessions that have not ended.
#[derive(Debug, Clone)]
pub struct OpenTask {
    /// Id of the task.
    pub id: String,
    /// Display name, as its page shows it.
    pub name: String,
    /// Number of its sessions in the queue.
    pub pending: u64,
    /// Number of its other sessions that have not ended.
    pub others: u64,
}

/// Data of the page.
#[derive(Debug, Clone)]
pub struct ArchiveProps {
    /// Ids of all tasks of the request.
    pub tasks: Vec<String>,
    /// Number of tasks that would be archived.
    pub total: u64,
    /// Those with sessions that have not ended.
    pub open: Vec<OpenTask>,
    /// The address of the list.
    pub next: String,
}

/// Renders the page.
pub fn archive_page(shell: &Shell, props: ArchiveProps) -> String {
    render(shell, "Archive?", || {
        let crumbs = vec![("Tasks".to_owned(), props.next.clone())];
        let content = (static_html(summary(&props)), static_html(form(&props)), static_html(table(&props.open)));
        frame(shell, RailEntry::Actions, view! { <PageHead title="Archive?" crumbs=crumbs/>{content} })
    })
}

/// What happens to the tasks.
fn tasks_sentence(total: u64) -> String {
    let cannot = if total == 1 { "It cannot" } else { "They cannot" };
    format!("{} will be archived. {cannot} be run until restored.", counted(total, "task"))
}

/// What happens to their sessions.
fn sessions_sentence(total: u64, open: &[OpenTask]) -> String {
    let pending: u64 = open.iter().map(|task| task.pending).sum();
    let others: u64 = open.iter().map(|task| task.others).sum();
    let have = match (open.len(), total) {
        (1, 1) => "It has".to_owned(),
        (1, _) => "One of them has".to_owned(),
        (some, _) => format!("{some} of them have"),
    };
    let numbers = match (pending, others) {
        (pending, 0) => format!("{} in the queue", counted(pending, "session")),
        (0, others) => format!("{} in progress", counted(others, "session")),
        (pending, others) => format!("{} in the queue and {others} in progress", counted(pending, "session")),
    };
    let go_on = if pending + others == 1 { "It goes on" } else { "They go on" };
    format!("{have} {numbers}. {go_on}, because archiving cancels no session.")
}

fn summary(props: &ArchiveProps) -> impl IntoView + use<> {
    view! {
        <p>{tasks_sentence(props.total)}</p>
        <p>{sessions_sentence(props.total, &props.open)}</p>
    }
}

/// The confirmation. It names the tasks that were counted.
fn form(props: &ArchiveProps) -> impl IntoView + use<> {
    let fields = props.tasks.iter().map(|id| view! { <input type="hidden" name="task" value=id.clone()/> });
    let fields = fields.collect::<Vec<_>>();
    view! {
        <form class="form-actions" method="post" action="/actions/decisions">
            <input type="hidden" name="next" value=props.next.clone()/>
            <input type="hidden" name="confirmed" value="on"/>
            {fields}
            <Button look=Look::Primary name="decision" value="archive">{format!("Archive {}", counted(props.total, "task"))}</Button>
            <ButtonLink href=props.next.clone()>"Back to the list"</ButtonLink>
        </form>
    }
}

fn table(open: &[OpenTask]) -> impl IntoView + use<> {
    let rows = open.iter().map(|task| {
        view! {
            <tr>
                <td class="table-main"><a class="quiet" dir="auto" href=format!("/actions/{}", task.id)>{one_line(&task.name, NAME_CHARS)}</a></td>
                <td class="table-number">{task.pending}</td>
                <td class="table-number">{task.others}</td>
            </tr>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    view! {
        <Table caption="Tasks with sessions that have not ended" columns=vec![Column::text("Task"), Column::number("In the queue"), Column::number("In progress")]>{rows}</Table>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    fn open(count: usize, pending: u64, others: u64) -> Vec<OpenTask> {
        let task = OpenTask { id: "t".into(), name: "<b>Refunds".into(), pending, others };
        vec![task; count]
    }

    #[test]
    fn the_sentences_are_right_for_one_and_for_many() {
        assert_eq!(tasks_sentence(1), "1 task will be archived. It cannot be run until restored.");
        for total in [2, 7, 40] {
            let sentence = tasks_sentence(total);
            assert_eq!(sentence, format!("{total} tasks will be archived. They cannot be run until restored."));
        }
        for (total, open, sentence) in [
            (1, open(1, 1, 0), "It has 1 session in the queue. It goes on, because archiving cancels no session."),
            (7, open(1, 0, 2), "One of them has 2 sessions in progress. They go on,"),
            (40, open(7, 1, 3), "7 of them have 7 sessions in the queue and 21 in progress. They go on,"),
        ] {
            assert!(sessions_sentence(total, &open).starts_with(sentence), "{}", sessions_sentence(total, &open));
        }
    }

    #[test]
    fn the_confirmation_names_each_task_and_the_table_those_with_sessions() {
        let props = ArchiveProps {
            tasks: vec!["a".into(), "b".into()],
            total: 2,
            open: open(1, 1, 1),
            next: "/actions?q=refund".into(),
        };
        let html = to_html(form(&props));
        assert!(html.matches("name=\"task\"").count() == 2 && html.contains("name=\"confirmed\""), "{html}");
        assert!(to_html(table(&props.open)).contains("&lt;b&gt;Refunds"));
    }
}
