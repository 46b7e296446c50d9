//! One block of a canvas, and the forms that change it.

use super::{edit_form, hidden::Hidden};
use crate::{
    form::FormState,
    render::static_html,
    ui::{
        button::{Button, Look},
        field::{Field, TextArea},
        notice::Refused,
        table::{Column, Table},
    },
};
use domain::canvas::outline::{Block, CheckItem, Content};
use leptos::{prelude::*, tachys::html::InertElement};

/// The block at this position, with its forms where the viewer may change it.
pub(super) fn block_view(at: usize, block: &Block, hidden: Option<&Hidden>, form: &FormState) -> InertElement {
    let heading = (!block.heading.is_empty()).then(|| view! { <h2 dir="auto">{block.heading.clone()}</h2> });
    let content = match &block.content {
        Content::Heading(text) => view! { <h2 dir="auto">{text.clone()}</h2> }.into_any(),
        Content::Text(text) => view! { <p class="tool-about" dir="auto">{text.clone()}</p> }.into_any(),
        Content::Checklist(items) => checklist(block, items, hidden).into_any(),
        Content::Table(columns, rows) => table(block, columns, rows).into_any(),
        Content::Code(_, text) | Content::Other(text) => {
            view! { <pre class="error-text" tabindex="0">{text.clone()}</pre> }.into_any()
        }
    };
    let forms = hidden.filter(|_| !block.id.is_empty()).map(|hidden| edit(at, block, hidden, form));
    static_html(view! { <section class="section">{heading}{content}{forms}</section> })
}

fn checklist(block: &Block, items: &[CheckItem], hidden: Option<&Hidden>) -> impl IntoView + use<> {
    let items = items
        .iter()
        .map(|item| {
            let mark = if item.is_done { "☑ " } else { "☐ " };
            let state = if item.is_done { "done: " } else { "not done: " };
            let tick = hidden.map(|hidden| tick(block, item, hidden));
            view! {
                <li>
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
    let (value, label) = if item.is_done { ("false", "Not done") } else { ("true", "Done") };
    view! {
        <form method="post" action=hidden.action.clone()>
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
    let columns = columns.iter().map(|name| Column::text(name.clone())).collect::<Vec<_>>();
    let rows = rows
        .iter()
        .map(|cells| {
            let cells = cells.iter().map(|cell| view! { <td dir="auto">{cell.clone()}</td> }).collect::<Vec<_>>();
            view! { <tr>{cells}</tr> }
        })
        .collect::<Vec<_>>();
    view! { <Table caption=caption columns=columns focusable=true>{rows}</Table> }
}

/// The text of a block to edit, and its removal.
fn edit(at: usize, block: &Block, hidden: &Hidden, form: &FormState) -> InertElement {
    // Ids of blocks are any text, and those of controls have no spaces.
    let scope = format!("block-{at}");
    let form = form.of(&edit_form(&block.id));
    let text = match &block.content {
        Content::Heading(text) | Content::Text(text) | Content::Code(_, text) => Some(text.clone()),
        Content::Checklist(_) | Content::Table(..) | Content::Other(_) => None,
    };
    let editor = text.map(|text| {
        let field = Field::new("text", "Text");
        static_html(view! {
            <TextArea scope=&scope field=field form=&form value=text rows=6/>
            <Button name="do" value="edit">"Save"</Button>
        })
    });
    let is_open = form.is_refused();
    static_html(view! {
        <details class="tool-definition" open=is_open>
            <summary>"Change"<span class="hidden-text">" block "{block.id.clone()}</span></summary>
            <form method="post" action=hidden.action.clone()>
                <Refused messages=form.general(&["text"])/>
                {hidden.fields(&block.id)}
                <input type="hidden" name="block" value=block.id.clone()/>
                {editor}
                <Button name="do" value="remove" look=Look::Danger about=block.id.clone()>"Remove block"</Button>
            </form>
        </details>
    })
}
