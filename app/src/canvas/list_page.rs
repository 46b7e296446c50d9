//! The page /canvases.

use super::state_words;
use crate::{
    document::render,
    form::FormState,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{escape::query, number::grouped},
    ui::{
        button::{Button, Look},
        empty::Empty,
        field::{Field, Input},
        notice::Refused,
        page_head::PageHead,
        pager::Pager,
        table::{Column, Table},
        time::stamp,
    },
};
use domain::{limit::TITLE_CHARS_MAX, role::Permission};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::canvas::CanvasSummary;

/// Path of the page.
const PATH: &str = "/canvases";

/// Data of the page.
#[derive(Debug, Clone, Default)]
pub struct ListProps {
    /// The canvases, newest first.
    pub canvases: Vec<CanvasSummary>,
    /// Whether these are the newest ones.
    pub is_newest: bool,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// State of the form that creates one.
    pub form: FormState,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Canvases", || {
        let ListProps { canvases, is_newest, next_cursor, form } = props;
        let list = if canvases.is_empty() {
            let sentence = "A canvas is a document that people and agents edit together. There are none yet.";
            view! { <Empty sentence=sentence/> }.into_any()
        } else {
            table(&canvases).into_any()
        };
        let newest = (!is_newest).then(|| PATH.to_owned());
        let older = next_cursor.map(|cursor| format!("{PATH}?cursor={}", query(&cursor)));
        let page = view! {
            <PageHead title="Canvases" crumbs=vec![("Sessions".to_owned(), "/sessions".to_owned())]/>
            {list}
            <Pager newest=newest older=older/>
            {shell.may(Permission::StartSession).then(|| new_form(&form))}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn table(canvases: &[CanvasSummary]) -> impl IntoView + use<> {
    let rows = canvases
        .iter()
        .map(|canvas| {
            view! {
                <tr>
                    <td class="table-main">
                        <a class="quiet" dir="auto" href=format!("{PATH}/{}", canvas.id)>{canvas.title.clone()}</a>
                    </td>
                    <td>{state_words(canvas.status)}</td>
                    <td class="meta table-number">{grouped(canvas.patches)}</td>
                    <td class="meta">{stamp(canvas.changed_at)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let columns =
        vec![Column::text("Canvas"), Column::text("State"), Column::number("Changes"), Column::text("Changed")];
    view! { <Table caption="Canvases, newest first" columns=columns>{rows}</Table> }
}

fn new_form(form: &FormState) -> InertElement {
    let title = Field::new("title", "Title").required();
    static_html(view! {
        <form method="post" action=PATH>
            <Refused messages=form.general(&["title"])/>
            <Input scope="canvas" field=title form=form chars_max=TITLE_CHARS_MAX/>
            <p class="form-actions"><Button look=Look::Primary>"Create canvas"</Button></p>
        </form>
    })
}
