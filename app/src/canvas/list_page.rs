//! The page /canvases.

use crate::{
    document::render,
    form::FormState,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{
        escape::query,
        number::{grouped, unit},
    },
    ui::{
        button::{Button, Look},
        empty::Empty,
        field::{Field, Input, Select},
        notice::Refused,
        page_head::PageHead,
        pager::Pager,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{limit::TITLE_CHARS_MAX, role::Permission, session::Status};
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
    /// Session whose result the new canvas begins with: its id and title.
    pub from_session: Option<(String, String)>,
    /// Templates of the workspace by title: id and title.
    pub templates: Vec<(String, String)>,
    /// Different for each page, so that a form that is sent twice creates one canvas.
    pub key: String,
    /// State of the form that creates one.
    pub form: FormState,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Canvases", || {
        let new = shell.may(Permission::StartSession).then(|| {
            let form = new_form(&props);
            view! { <Section name="new" title="New canvas">{form}</Section> }
        });
        let ListProps { canvases, is_newest, next_cursor, .. } = props;
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
            {new}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

/// The state of a canvas as a label of its own.
const fn state_label(status: Status) -> &'static str {
    match status {
        Status::Completed => "Completed",
        Status::Abandoned => "Abandoned",
        Status::Failed | Status::Expired => "Ended",
        Status::Draft
        | Status::Pending
        | Status::Running
        | Status::WaitingHuman
        | Status::AwaitingTool
        | Status::Idle => "Open",
    }
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
                    <td class="meta">{[state_label(canvas.status), if canvas.is_template { ", template" } else { "" }].concat()}</td>
                    <td class="meta table-number">{grouped(canvas.patches)}<span class="unit">{unit(canvas.patches, "change")}</span></td>
                    <td class="meta">{moment(canvas.changed_at)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let columns =
        vec![Column::text("Canvas"), Column::text("State"), Column::number("Changes"), Column::text("Changed")];
    view! { <Table caption="Canvases, newest first" columns=columns>{rows}</Table> }
}

fn new_form(props: &ListProps) -> InertElement {
    let form = &props.form;
    let title = Field::new("title", "Title").required();
    let template = (props.from_session.is_none() && !props.templates.is_empty()).then(|| {
        let mut options = vec![(String::new(), "Nothing".to_owned())];
        options.extend(props.templates.iter().cloned());
        static_html(
            view! { <Select scope="canvas" field=Field::new("fromCanvas", "Begin with") form=form options=options/> },
        )
    });
    let (id, of) = props.from_session.clone().unzip();
    let about = of.as_ref().map(|title| {
        let title = title.clone();
        view! { <p class="meta">"It begins with the result of "<span dir="auto">{title}</span>"."</p> }
    });
    static_html(view! {
        <form class="form" method="post" action=PATH>
            <Refused messages=form.general(&["title", "fromCanvas"])/>
            {about}
            {id.map(|id| view! { <input type="hidden" name="fromSession" value=id/> })}
            <input type="hidden" name="key" value=props.key.clone()/>
            <Input scope="canvas" field=title form=form value=of.unwrap_or_default() chars_max=TITLE_CHARS_MAX/>
            {template}
            <p class="form-actions"><Button look=Look::Primary>"Create canvas"</Button></p>
        </form>
    })
}
