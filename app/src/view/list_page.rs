//! The page /views.

use super::state_badge;
use crate::{
    document::render,
    shell::{RailEntry, Shell, frame},
    text::{number::counted, shorten::one_line},
    ui::{
        button::{ButtonLink, Look},
        empty::Empty,
        list_search::ListSearch,
        page_head::PageHead,
        pager::more,
        table::{Column, Table},
        time::moment,
    },
};
use domain::role::Permission;
use leptos::prelude::*;
use wire::view::View;

/// Longest introduction in a row, characters.
const ABOUT_CHARS_MAX: usize = 140;

/// One form of the list.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The form.
    pub view: View,
    /// Number of submitted responses.
    pub submitted: u64,
    /// Number of drafts that can still be submitted.
    pub drafts: u64,
}

/// Data of the page /views.
#[derive(Debug, Clone)]
pub struct ListProps {
    /// The views of this page.
    pub views: Vec<Entry>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// What is searched for.
    pub search: ListSearch,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Forms", || {
        let ListProps { views, next_cursor, search } = props;
        let manages = shell.may(Permission::ManageViews);
        let head = manages.then(|| view! { <ButtonLink look=Look::Primary href="/views/new">"New form"</ButtonLink> });
        // Without anything to search there is no search.
        let form = (!views.is_empty() || !search.q.is_empty()).then(|| search.view("/views", "Search forms"));
        let list = if views.is_empty() && !search.q.is_empty() {
            let sentence = "No form matches the search.";
            view! { <Empty sentence=sentence link=Some(("Show all", "/views".to_owned()))/> }.into_any()
        } else if views.is_empty() {
            let sentence = "A form asks people questions and keeps their answers. There are no forms yet.";
            view! { <Empty sentence=sentence link=manages.then(|| ("New form", "/views/new".to_owned()))/> }.into_any()
        } else {
            table(&views).into_any()
        };
        let more = more(next_cursor.map(|cursor| search.href("/views", &cursor)));
        let crumbs = vec![("Tasks".to_owned(), "/actions".to_owned())];
        frame(
            shell,
            RailEntry::Actions,
            view! { <PageHead title="Forms" crumbs=crumbs>{head}</PageHead> {form} {list} {more} },
        )
    })
}

fn table(views: &[Entry]) -> impl IntoView + use<> {
    let rows = views
        .iter()
        .map(|Entry { view: form, submitted, drafts }| {
            let drafts = (*drafts > 0).then(|| view! { <span class="meta">{format!(" · {}", counted(*drafts, "draft"))}</span> });
            let responses = view! { <a class="quiet" href=format!("/views/{}/responses", form.slug)>{counted(*submitted, "response")}</a>{drafts} };
            let version = form.version.map(|version| format!("v{version}")).unwrap_or_default();
            let changed = (form.changed && form.version.is_some())
                .then(|| view! { <span class="meta">" · unpublished changes"</span> });
            view! {
                <tr>
                    <td class="table-main">
                        <a class="quiet" dir="auto" href=format!("/views/{}", form.slug)>{one_line(&form.title, ABOUT_CHARS_MAX)}</a>
                        <div class="meta" dir="auto">{one_line(&form.introduction, ABOUT_CHARS_MAX)}</div>
                    </td>
                    <td>{state_badge(form.state)}{changed}</td>
                    <td class="meta">{counted(form.fields.len() as u64, "question")}</td>
                    <td class="meta">{responses}</td>
                    <td class="meta table-number">{version}</td>
                    <td class="meta">{moment(form.updated_at)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    view! {
        <Table caption="Forms, newest first" columns=vec![Column::text("Form"), Column::text("State"), Column::text("Questions"), Column::text("Responses"), Column::number("Version"), Column::text("Changed")] focusable=true>{rows}</Table>
    }
}
