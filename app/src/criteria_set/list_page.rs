//! The page /criteria-sets.

use super::editor::kind_word;
use crate::{
    document::render,
    shell::{RailEntry, Shell, frame},
    text::{escape::query, number::counted, shorten::one_line},
    ui::{
        button::{ButtonLink, Look},
        empty::Empty,
        page_head::PageHead,
        pager::more,
        table::{Column, Table},
        time::moment,
    },
};
use domain::role::Permission;
use leptos::prelude::*;
use wire::criteria_set::CriteriaSet;

/// Longest description in a row, characters.
const ABOUT_CHARS_MAX: usize = 140;

/// Data of the page /criteria-sets.
#[derive(Debug, Clone)]
pub struct ListProps {
    /// The sets of this page.
    pub sets: Vec<CriteriaSet>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Criteria sets", || {
        let ListProps { sets, next_cursor } = props;
        let manages = shell.may(Permission::ManageCriteriaSets);
        let head = manages.then(|| {
            view! {
                <ButtonLink look=Look::Quiet href="/bundles">"Install a bundle"</ButtonLink>
                <ButtonLink look=Look::Primary href="/criteria-sets/new">"New criteria set"</ButtonLink>
            }
        });
        let list = if sets.is_empty() {
            let sentence = "A criteria set says how an agent's output is checked before it is used. There are no criteria sets yet.";
            view! { <Empty sentence=sentence link=manages.then(|| ("New criteria set", "/criteria-sets/new".to_owned()))/> }.into_any()
        } else {
            table(&sets).into_any()
        };
        let more = more(next_cursor.map(|cursor| format!("/criteria-sets?cursor={}", query(&cursor))));
        let crumbs = vec![("Tasks".to_owned(), "/actions".to_owned())];
        frame(
            shell,
            RailEntry::Actions,
            view! { <PageHead title="Criteria sets" crumbs=crumbs>{head}</PageHead> {list} {more} },
        )
    })
}

fn table(sets: &[CriteriaSet]) -> impl IntoView + use<> {
    let rows = sets
        .iter()
        .map(|set| {
            let kinds: Vec<_> = set.dimensions.iter().map(|d| format!("{} ({})", d.name, kind_word(d.kind))).collect();
            let blocks = set.dimensions.iter().filter(|d| d.options.iter().any(|o| o.hard_block)).count() as u64;
            let blocks = if blocks == 0 { "none".to_owned() } else { counted(blocks, "dimension") };
            view! {
                <tr>
                    <td class="table-main">
                        <a class="quiet" dir="auto" href=format!("/criteria-sets/{}", set.id)>{set.name.clone()}</a>
                        <div class="meta" dir="auto">{one_line(&set.description, ABOUT_CHARS_MAX)}</div>
                    </td>
                    <td class="meta" dir="auto" data-label="Dimensions">{one_line(&kinds.join(", "), ABOUT_CHARS_MAX)}</td>
                    <td class="meta" data-label="Can block">{blocks}</td>
                    <td class="meta table-number" data-label="Version">{set.version}</td>
                    <td class="meta" data-label="Changed">{moment(set.updated_at)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    view! {
        <Table caption="Criteria sets, newest first" columns=vec![Column::text("Name"), Column::text("Dimensions"), Column::text("Can block"), Column::number("Version"), Column::text("Changed")] focusable=true>{rows}</Table>
    }
}
