//! One block of a canvas, and the forms that change it.

use super::{edit_form, hidden::Hidden};
use crate::{
    form::FormState,
    render::{static_html, to_html},
    result::write_json_text,
    text::html::Html,
    ui::{
        button::{Button, Look},
        field::{Field, TextArea},
        notice::Refused,
        table::{Column, Table},
    },
};
use domain::{
    canvas::outline::{Block, CheckItem, Content},
    id::SessionId,
};
use leptos::{prelude::*, tachys::html::InertElement};

/// The block at this position, with its forms where the viewer may change it.
pub(super) fn block_view(at: usize, block: &Block, hidden: Option<&Hidden>, form: &FormState) -> InertElement {
    let field = (!block.field.is_empty()).then(|| view! { " "<span class="meta">{block.field.clone()}</span> });
    let heading = (!block.heading.is_empty()).then(|| view! { <h2 dir="auto">{block.heading.clone()}{field}</h2> });
    let content = match &block.content {
        Content::Heading(text) => view! { <h2 dir="auto">{text.clone()}</h2> }.into_any(),
        Content::Text(text) => view! { <p class="tool-about" dir="auto">{text.clone()}</p> }.into_any(),
        Content::Checklist(items) => checklist(block, items, hidden).into_any(),
        Content::Table(columns, rows) => table(block, columns, rows).into_any(),
        Content::Result(session, json) => result(session, json).into_any(),
        Content::Code(_, text) | Content::Other(text) => {
            view! { <pre class="error-text" tabindex="0">{text.clone()}</pre> }.into_any()
        }
    };
    let forms = hidden.filter(|_| !block.id.is_empty()).map(|hidden| edit(at, block, hidden, form));
    static_html(view! { <section class="section" data-indent=indent(block.indent)>{heading}{content}{forms}</section> })
}

/// The result of a tool in a block, as the editor shows it; `None` for a block of another type.
pub fn result_fragment(block: &Block) -> Option<String> {
    let Content::Result(session, json) = &block.content else { return None };
    let shown = result(session, json);
    Some(to_html(view! { <div class="canvas-result">{shown}</div> }))
}

/// What a run of a tool returned, as on the page of its session, and a link to that.
fn result(session: &str, json: &str) -> impl IntoView + use<> {
    let mut html = Html::default();
    if !write_json_text(&mut html, json) {
        html.raw("<pre class=\"error-text\" tabindex=\"0\">").text(json).raw("</pre>");
    }
    // Documents are written by programs too, so this can be any text.
    let link = session.parse::<SessionId>().ok().map(|id| {
        view! { <p class="meta"><a href=format!("/sessions/{id}")>"Session of this result"</a></p> }
    });
    view! { {InertElement::new(html.finish())}{link} }
}

/// The level of an indentation, if there is one.
fn indent(level: u8) -> Option<String> {
    (level > 0).then(|| level.to_string())
}

fn checklist(block: &Block, items: &[CheckItem], hidden: Option<&Hidden>) -> impl IntoView + use<> {
    let items = items
        .iter()
        .map(|item| {
            let mark = if item.is_done { "☑ " } else { "☐ " };
            let state = if item.is_done { "done: " } else { "not done: " };
            let tick = hidden.map(|hidden| tick(block, item, hidden));
            view! {
                <li data-indent=indent(item.indent)>
                    <span aria-hidden="true">{mark}</span>
                    <span class="hidden-text">{state}</span>
                    <span dir="auto">{item.text.clone()}</span>
                    {tick}
                </li>
            }
        })
        .collect::<Vec<_>>();
    view! { <ul class="tool-versions">{items}</ul> }
}

fn tick(block: &Block, item: &CheckItem, hidden: &Hidden) -> impl IntoView + use<> {
    let (value, label) = if item.is_done { ("false", "Mark as not done") } else { ("true", "Mark as done") };
    view! {
        <form class="canvas-forms" method="post" action=hidden.action.clone()>
            {hidden.fields(&format!("{}-{}", block.id, item.id))}
            <input type="hidden" name="do" value="tick"/>
            <input type="hidden" name="block" value=block.id.clone()/>
            <input type="hidden" name="item" value=item.id.clone()/>
            <Button small=true look=Look::Quiet name="value" value=value about=item.text.clone()>{label}</Button>
        </form>
    }
}

fn table(block: &Block, columns: &[String], rows: &[Vec<String>]) -> impl IntoView + use<> {
    let caption = if block.heading.is_empty() { "Table".to_owned() } else { block.heading.clone() };
    let rows = rows
        .iter()
        .map(|cells| {
            // A narrow screen shows no head: each cell says its column there.
            let cells = cells.iter().enumerate().map(|(at, cell)| {
                let label = columns.get(at).filter(|name| !name.is_empty()).cloned();
                view! { <td dir="auto" data-label=label>{cell.clone()}</td> }
            });
            let cells = cells.collect::<Vec<_>>();
            view! { <tr>{cells}</tr> }
        })
        .collect::<Vec<_>>();
    let columns = columns.iter().map(|name| Column::text(name.clone())).collect::<Vec<_>>();
    view! { <Table caption=caption columns=columns focusable=true>{rows}</Table> }
}

/// The text of a block to edit, and its removal.
fn edit(at: usize, block: &Block, hidden: &Hidden, form: &FormState) -> InertElement {
    // Ids of blocks are any text, and those of controls have no spaces.
    let scope = format!("block-{at}");
    let form = form.of(&edit_form(&block.id));
    let text = match &block.content {
        Content::Heading(text) | Content::Text(text) | Content::Code(_, text) => Some(text.clone()),
        Content::Checklist(_) | Content::Table(..) | Content::Result(..) | Content::Other(_) => None,
    };
    let save = text.is_some().then(|| view! { <Button name="do" value="edit">"Save"</Button> });
    let text = text.map(|text| {
        let field = Field::new("text", "Text");
        static_html(view! { <TextArea scope=&scope field=field form=&form value=text rows=6/> })
    });
    let is_open = form.is_refused();
    static_html(view! {
        <details class="tool-definition canvas-forms" open=is_open>
            <summary>"Change"<span class="hidden-text">" block "{block.id.clone()}</span></summary>
            <form class="form" method="post" action=hidden.action.clone()>
                <Refused messages=form.general(&["text"])/>
                {hidden.fields(&block.id)}
                <input type="hidden" name="block" value=block.id.clone()/>
                {text}
                <p class="form-actions">
                    {save}
                    <Button name="do" value="remove" look=Look::Danger about=block.id.clone()>"Remove block"</Button>
                </p>
            </form>
        </details>
    })
}
