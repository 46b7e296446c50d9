//! The page /sessions/paced.

use super::{PATH, begun, state_word, total};
use crate::{
    document::render,
    shell::{RailEntry, Shell, frame},
    text::{
        escape::query,
        number::{counted, grouped},
    },
    ui::{
        empty::Empty,
        page_head::PageHead,
        pager::more,
        table::{Column, Table},
        time::moment,
    },
};
use leptos::prelude::*;
use wire::paced_run::PacedRun;

/// Data of the page.
#[derive(Debug, Clone)]
pub struct ListProps {
    /// The paced runs of this page.
    pub runs: Vec<PacedRun>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Paced runs", || {
        let ListProps { runs, next_cursor } = props;
        let list = if runs.is_empty() {
            let sentence = "A paced run runs sessions again a few at a time. There are none yet: select failed sessions, \
                            choose Run again, and then how many at a time.";
            view! { <Empty sentence=sentence link=Some(("Failures", "/failures".to_owned()))/> }.into_any()
        } else {
            table(&runs).into_any()
        };
        let more = more(next_cursor.map(|cursor| format!("{PATH}?cursor={}", query(&cursor))));
        let crumbs = vec![("Sessions".to_owned(), "/sessions".to_owned())];
        let page = view! {
            <PageHead title="Paced runs" crumbs=crumbs/>
            {list}
            {more}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn table(runs: &[PacedRun]) -> impl IntoView + use<> {
    let rows = runs.iter().map(|run| {
        let href = format!("{PATH}/{}", run.id);
        let turns = format!("{} of {}", grouped(begun(run)), grouped(total(run)));
        view! {
            <tr>
                <td class="table-main"><a class="quiet" href=href>{counted(total(run), "session")}" run again"</a></td>
                <td>{state_word(run.state)}</td>
                <td class="meta table-number">{turns}</td>
                <td class="meta">{moment(run.created_at)}</td>
            </tr>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    let columns =
        vec![Column::text("Paced run"), Column::text("State"), Column::number("Begun"), Column::text("Requested")];
    view! { <Table caption="Paced runs" columns=columns>{rows}</Table> }
}
