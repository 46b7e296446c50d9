//! The values of an item as a table: the record's values, and the proposed values, which can be edited in place. For
//! a decided item the record's values are those at the time of the decision.

use super::{
    drafted::is_drafted,
    values::{Control, LINE_CHARS_MAX, Row},
};
use crate::{
    FormState,
    render::static_html,
    text::{markdown, number::shown_digits},
    ui::{
        field::{Field, Input, Select, TextArea},
        tooltip::Tooltip,
    },
};
use leptos::{prelude::*, tachys::html::InertElement};
use std::collections::BTreeMap;

/// Longest text in a one-line input, characters. It has room for these on a phone and beside the list.
const INPUT_CHARS_MAX: usize = 24;

/// How the values of an item are shown.
#[derive(Debug, Clone, Copy)]
pub struct TableOptions {
    /// Renders the proposed values as form fields.
    pub edits: bool,
    /// Labels the record's values as past ones.
    pub decided: bool,
    /// Which long texts are rendered as Markdown, with the source behind Edit.
    pub rendered: Rendered,
}

/// Which long texts are rendered as Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rendered {
    /// None: their source is what is decided.
    Nothing,
    /// Arguments of a tool that are drafted for people, with the addresses of their links. Others are shown as they are
    /// sent, because Markdown hides a part of them.
    Drafts,
    /// Every text of several lines.
    Texts,
}

/// One row for each value: what it is, what it was, and what is proposed for it. `parts` has the fields of values with
/// parts, by the name of their row.
pub fn value_table(
    rows: &[Row],
    shown: TableOptions,
    form: &FormState,
    parts: &BTreeMap<String, String>,
) -> impl IntoView + use<> {
    let decided = shown.decided;
    let has_now = rows.iter().any(|row| row.now.is_some());
    let look = |row: &Row| match shown.rendered {
        Rendered::Texts if row.control == Control::MultiLine => Some(markdown::Links::Words),
        Rendered::Drafts if is_drafted(row, rows) => Some(markdown::Links::Addresses),
        _ => None,
    };
    let lines = rows
        .iter()
        .map(|row| line(row, has_now, look(row), shown, (form, parts.get(&row.name))).into_any())
        .collect::<Vec<_>>();
    view! {
        <table class="gate-values" data-now=has_now.then_some("")>
            <caption class="hidden-text">"Values"</caption>
            <thead>
                <tr>
                    <th scope="col">"Field"</th>
                    {has_now.then(|| view! { <th scope="col">{now_word(decided)}</th> })}
                    <th scope="col">"Proposed"</th>
                </tr>
            </thead>
            <tbody>{lines}</tbody>
        </table>
    }
}

/// A value of a row as it reads: numbers have groups of three digits. The form field has the number as it is sent.
fn read(row: &Row, text: &str) -> String {
    if row.control == Control::Number { shown_digits(text) } else { text.to_owned() }
}

fn line(
    row: &Row,
    has_now: bool,
    look: Option<markdown::Links>,
    shown: TableOptions,
    (form, parts): (&FormState, Option<&String>),
) -> impl IntoView + use<> {
    let TableOptions { edits, decided, .. } = shown;
    let now = has_now.then(|| {
        let cell = match &row.now {
            None => {
                view! { <Tooltip id=format!("now-{}", row.name) word="—" text="Not a field of the entity"/> }.into_any()
            }
            Some(text) if text.is_empty() => view! { <span class="meta">"nothing"</span> }.into_any(),
            Some(text) if row.changes => view! { <del dir="auto">{read(row, text)}</del> }.into_any(),
            Some(text) => view! { <span class="gate-text" dir="auto">{read(row, text)}</span> }.into_any(),
        };
        view! { <td class="gate-now"><span class="unit">{now_word(decided)}": "</span>{cell}</td> }
    });
    let proposed = if let Some(links) = look.filter(|_| edits) {
        source(row, links, form).into_any()
    } else if let Some(fields) = parts.filter(|_| edits) {
        view! { <div inner_html=fields.clone()></div> }.into_any()
    } else if edits {
        control(row, form).into_any()
    } else if let Some(links) = look {
        rendered(&row.proposed, links).into_any()
    } else if row.proposed.is_empty() {
        view! { <span class="meta">"nothing"</span> }.into_any()
    } else if row.control == Control::Json {
        view! { <pre class="gate-text">{row.proposed.clone()}</pre> }.into_any()
    } else {
        view! { <span class="gate-text" dir="auto">{read(row, &row.display)}</span> }.into_any()
    };
    let staged = row.staged.as_ref().map(|staged| {
        let shown = if staged.is_empty() { "nothing".to_owned() } else { read(row, staged) };
        view! { <p class="meta">"The agent staged: "<span dir="auto">{crate::text::shorten::one_line(&shown, 200)}</span></p> }
    });
    view! {
        <tr data-changes=(row.changes && row.now.is_some()).then_some("")>
            <th scope="row">{row.label.clone()}</th>
            {now}
            <td>{proposed}{staged}</td>
        </tr>
    }
}

/// A long text as it reads, and its source to edit. Once the source is open it stays so: what it reads like then is not
/// known here.
fn source(row: &Row, links: markdown::Links, form: &FormState) -> impl IntoView + use<> {
    let is_open = form.error(&row.name).is_some() || form.value(&row.name).is_some();
    view! {
        <details class="gate-source" open=is_open>
            <summary>"Edit the text"</summary>
            {control(row, form)}
        </details>
        {rendered(&row.proposed, links)}
    }
}

fn rendered(text: &str, links: markdown::Links) -> impl IntoView + use<> {
    let mut html = String::new();
    markdown::push_with(&mut html, text, markdown::Breaks::Kept, links);
    view! { <div class="prose gate-rendered" dir="auto" inner_html=html></div> }
}

/// Heading of the column with the record's values.
const fn now_word(decided: bool) -> &'static str {
    if decided { "Then" } else { "Now" }
}

fn control(row: &Row, form: &FormState) -> InertElement {
    let field = Field::new(&row.name, &row.label);
    let shown = form.value(&row.name).unwrap_or(&row.proposed).chars().count();
    match &row.control {
        // An input shows no more than its width, without a sign that there is more.
        Control::SingleLine if shown > INPUT_CHARS_MAX => {
            let rows = shown.min(LINE_CHARS_MAX).div_ceil(INPUT_CHARS_MAX) as u8;
            static_html(view! { <TextArea scope="gate" field=field rows=rows value=&row.proposed form=form/> })
        }
        Control::SingleLine | Control::Number => {
            static_html(view! { <Input scope="gate" field=field value=&row.proposed form=form/> })
        }
        Control::MultiLine => static_html(view! { <TextArea scope="gate" field=field value=&row.proposed form=form/> }),
        Control::Date => {
            static_html(view! { <Input scope="gate" field=field kind="date" value=&row.proposed form=form/> })
        }
        Control::Choice(options) => static_html(
            view! { <Select scope="gate" field=field options=options.clone() value=&row.proposed form=form/> },
        ),
        Control::Boolean => {
            let options = [("true", "True"), ("false", "False"), ("", "—")];
            static_html(
                view! { <Select scope="gate" field=field options=options.map(|(v, l)| (v.to_owned(), l.to_owned())).into() value=&row.proposed form=form/> },
            )
        }
        Control::Json => {
            static_html(view! { <TextArea scope="gate" field=field json=true value=&row.proposed form=form/> })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::{
        fixture::{detail, tool},
        values,
    };
    use serde_json::json;

    fn html(edits: bool, rendered: Rendered) -> String {
        let text = "**Sorry**\n\nWe send [it](https://acme.test/1) again.";
        let rows = values::rows(&detail(tool(1, json!({ "to": "kim@acme.test", "body": text, "command": text }))));
        let shown = TableOptions { edits, decided: !edits, rendered };
        crate::render::to_html(value_table(&rows, shown, &FormState::default(), &BTreeMap::new()))
    }

    #[test]
    fn a_drafted_argument_is_rendered_with_its_addresses_and_its_source_is_behind_edit() {
        let edited = html(true, Rendered::Drafts);
        assert_eq!(edited.matches("<strong>Sorry</strong>").count(), 1, "a command is shown as it is sent: {edited}");
        assert_eq!(edited.matches("<details class=\"gate-source\"><summary>").count(), 1, "{edited}");
        assert!(edited.contains(">it</a> (https://acme.test/1)"), "{edited}");
        assert!(edited.contains("name=\"value.body\"") && edited.contains("**Sorry**"), "{edited}");
        let decided = html(false, Rendered::Drafts);
        assert!(decided.contains("<strong>Sorry</strong>") && !decided.contains("gate-source"), "{decided}");
        assert!(!html(true, Rendered::Nothing).contains("<strong>"));
    }
}
