//! The fields of a tool's input. Buttons that change the form, such as those of rows, send it with the field `step`.

use crate::{
    FormState,
    render::static_html,
    text::label::slug_label,
    ui::field::{CheckBoxes, Field, Input, Select, TextArea},
};
use domain::{
    entity::display_text,
    limit::TOOL_FORM_FILE_BYTES_MAX,
    tool::form::{self, Control, Entry, Fields, Mark, Node, NodeKind, ROOT, Why, mark},
    view::{OFFSETS, UTC, join_instant},
};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::Value;
use std::{cell::RefCell, collections::BTreeSet};

/// Prefix of the ids of the fields.
const SCOPE: &str = "run";
/// Most texts of fields that are not drawn, such as those of another variant, which the form keeps.
const KEPT_MAX: usize = 400;

/// The fields of a form.
pub(super) struct Drawn {
    /// The fields, and a sentence if there are none.
    pub html: InertElement,
    /// Names of all parts, at which messages are shown.
    pub names: BTreeSet<String>,
    /// Whether a text file can be chosen.
    pub takes_files: bool,
    /// Whether the whole input can be typed as JSON instead.
    pub can_be_json: bool,
}

/// The typed texts of a form that was sent; `None` for a form that was not.
pub(super) fn typed_texts(form: &FormState) -> Option<Fields> {
    let texts = form.values.iter().map(|(name, text)| (name.clone(), text.replace("\r\n", "\n")));
    (!form.values.is_empty()).then(|| texts.collect())
}

/// Renders the fields of an input schema, which hold `texts`. Their buttons post to `target`. `form` has the messages;
/// the part with the name `focus` has the focus.
pub(super) fn input_fields(target: &str, schema: &Value, texts: &Fields, (form, focus): (&FormState, &str)) -> Drawn {
    let root = form::draw(schema, texts);
    let values = texts.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    draw(target, &root, &FormState { values, ..form.clone() }, focus)
}

/// The button that makes the whole input one text area for JSON.
pub(super) fn json_button(target: &str) -> InertElement {
    let (action, step) = (format!("{target}#{SCOPE}-{ROOT}"), format!("json:{ROOT}"));
    static_html(view! {
        <button class="button" type="submit" name="step" value=step formaction=action formnovalidate=true data-look="quiet">"Type the input as JSON"</button>
    })
}

/// Whether a form has no fields.
fn is_empty(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Object { members, more: None } if members.is_empty())
}

/// Renders the fields of a form. `form` has their texts.
fn draw(target: &str, root: &Node, form: &FormState, focus: &str) -> Drawn {
    let drawing = Drawing { target, form, focus, names: RefCell::default() };
    let fields = drawing.node(root, "Input");
    let names = drawing.names.take();
    let kept = form.values.iter().filter(|(name, _)| is_input(name) && !names.contains(*name));
    let kept = kept.take(KEPT_MAX).map(|(name, text)| hidden(name.clone(), text.clone())).collect::<Vec<_>>();
    let takes_files = names.iter().any(|name| name.ends_with(Mark::File.as_str()));
    let is_empty = is_empty(&root.kind);
    let none = is_empty.then(|| view! { <p class="meta">"This tool takes no input."</p> });
    // A form of one text area for JSON has its own button.
    let can_be_json = !matches!(root.kind, NodeKind::Json(_)) && !is_empty;
    Drawn { html: static_html((none, fields, kept)), names, takes_files, can_be_json }
}

fn is_input(name: &str) -> bool {
    name.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn hidden(name: String, value: String) -> impl IntoView {
    view! { <input type="hidden" name=name value=value/> }
}

/// Why a part is typed as JSON, in words.
const fn why_words(why: Why) -> &'static str {
    match why {
        Why::Any => "Any value, as JSON.",
        Why::Combined => "JSON, because its schema combines others.",
        Why::Reference => "JSON, because its schema refers to one that does not exist.",
        Why::Deep => "JSON, because it is nested too deep for fields.",
        Why::Large => "JSON, because the form has too many fields.",
        Why::Chosen => "JSON.",
    }
}

/// A list of rows: its name, its label, and whether one more can be added.
#[derive(Clone, Copy)]
struct List<'a> {
    name: &'a str,
    label: &'a str,
    can_grow: bool,
}

struct Drawing<'a> {
    target: &'a str,
    form: &'a FormState,
    focus: &'a str,
    names: RefCell<BTreeSet<String>>,
}

impl Drawing<'_> {
    /// Notes that a field or a group is drawn.
    fn known(&self, name: &str) {
        self.names.borrow_mut().insert(name.to_owned());
    }

    fn mark(&self, name: &str, of: Mark, value: String) -> InertElement {
        let name = mark(name, of);
        self.known(&name);
        static_html(hidden(name, value))
    }

    /// A button that changes the form. The page that answers it begins at the part.
    fn step(&self, what: &str, name: &str, (words, about): (&'static str, &str), is_off: bool) -> InertElement {
        let action = format!("{}#{SCOPE}-{name}", self.target);
        let look = matches!(what, "remove" | "off").then_some("danger");
        let about = format!(" {about}");
        static_html(view! {
            <button
                class="button"
                type="submit"
                name="step"
                value=format!("{what}:{name}")
                formaction=action
                formnovalidate=true
                data-look=look
                data-size="small"
                disabled=is_off
            >
                {words}
                <span class="hidden-text">{about}</span>
            </button>
        })
    }

    fn node(&self, node: &Node, of_key: &str) -> InertElement {
        let label = match (node.title.is_empty(), node.key.is_empty()) {
            (false, _) => node.title.clone(),
            (true, false) => slug_label(&node.key),
            (true, true) => of_key.to_owned(),
        };
        self.known(&node.name);
        let present = self.present(&node.name);
        if let Some(content) = self.content(node, &label) {
            let is_bare = node.name == ROOT && node.hint.is_empty() && self.form.error(ROOT).is_none();
            return if is_bare { content } else { self.group(node, &label, static_html((present, content))) };
        }
        match &node.kind {
            NodeKind::Control(control) => static_html((present, self.control(node, &label, control))),
            NodeKind::Json(why) => self.json(node, &label, *why),
            NodeKind::Const(value) => static_html(view! {
                <p class="meta" id=format!("{SCOPE}-{}", node.name)>{label}": "<code>{display_text(value)}</code>{self.error(&node.name)}</p>
            }),
            NodeKind::Variants { labels, chosen, inner } => {
                let which = static_html((present, self.variants(node, &label, (labels, *chosen))));
                match self.content(inner, &label) {
                    Some(content) => self.group(node, &label, static_html((which, Self::hint(inner), content))),
                    // The control of the variant has the id and the error of the part.
                    None => {
                        let fields = (Self::hint(node), which, self.node(inner, &label), self.removal(node, &label));
                        self.plain_group(&format!("{}.~form", node.name), &label, static_html(fields))
                    }
                }
            }
            NodeKind::Absent | NodeKind::Object { .. } | NodeKind::Map(_) | NodeKind::Rows { .. } => {
                let add = self.step("on", &node.name, ("Add", &label), false);
                self.group(node, &label, static_html(view! { <div class="form-actions">{add}</div> }))
            }
        }
    }

    /// Says that a part is there which can be absent, once.
    fn present(&self, name: &str) -> Option<InertElement> {
        let field = mark(name, Mark::Present);
        let is_present = self.form.value(&field).is_some_and(|text| !text.is_empty());
        let is_new = is_present && !self.names.borrow().contains(&field);
        is_new.then(|| self.mark(name, Mark::Present, "1".to_owned()))
    }

    /// The fields of a part that has several; `None` for other parts.
    fn content(&self, node: &Node, label: &str) -> Option<InertElement> {
        Some(match &node.kind {
            NodeKind::Object { members, more } => {
                let members = members.iter().map(|member| self.node(member, "")).collect::<Vec<_>>();
                let is_empty = members.is_empty() && more.is_none() && node.name != ROOT;
                let none = is_empty.then(|| view! { <p class="meta">"No fields."</p> });
                let name = mark(&node.name, Mark::More);
                let more = more.as_deref().map(|entries| {
                    let list = List { name: &name, label: "Other fields", can_grow: true };
                    self.plain_group(list.name, list.label, self.entries(list, entries))
                });
                static_html((none, members, more))
            }
            NodeKind::Map(entries) => self.entries(List { name: &node.name, label, can_grow: true }, entries),
            NodeKind::Rows { rows, can_grow } => self.rows(List { name: &node.name, label, can_grow: *can_grow }, rows),
            NodeKind::Absent
            | NodeKind::Variants { .. }
            | NodeKind::Control(_)
            | NodeKind::Const(_)
            | NodeKind::Json(_) => return None,
        })
    }

    fn error(&self, name: &str) -> Option<InertElement> {
        let message = self.form.error(name)?.to_owned();
        Some(static_html(view! { <p class="field-error" id=format!("{SCOPE}-{name}-error")>{message}</p> }))
    }

    fn hint(node: &Node) -> Option<InertElement> {
        let hint = node.hint.clone();
        (!hint.is_empty()).then(|| static_html(view! { <p class="field-hint">{hint}</p> }))
    }

    /// The button that takes a part out.
    fn removal(&self, node: &Node, label: &str) -> Option<InertElement> {
        node.removable.then(|| {
            let remove = self.step("off", &node.name, ("Remove", label), false);
            static_html(view! { <div class="form-actions">{remove}</div> })
        })
    }

    /// A part with its error and its hint.
    fn group(&self, node: &Node, label: &str, content: InertElement) -> InertElement {
        let fields = (self.error(&node.name), Self::hint(node), content, self.removal(node, label));
        self.plain_group(&node.name, label, static_html(fields))
    }

    fn plain_group(&self, name: &str, label: &str, content: InertElement) -> InertElement {
        self.known(name);
        let is_first = self.focus == name;
        static_html(view! {
            <fieldset class="input-group" id=format!("{SCOPE}-{name}") tabindex=is_first.then_some("-1") autofocus=is_first>
                <legend class="field-label" dir="auto">{label.to_owned()}</legend>
                {content}
            </fieldset>
        })
    }

    fn variants(&self, node: &Node, label: &str, (labels, chosen): (&[String], usize)) -> InertElement {
        let name = mark(&node.name, Mark::Variant);
        self.known(&name);
        let options = labels.iter().enumerate().map(|(index, label)| (index.to_string(), label.clone())).collect();
        let which = format!("Form of: {label}");
        let show = self.step("variant", &node.name, ("Show its fields", label), false);
        // What is drawn counts, also if the form had a number that is none of them.
        let form = FormState::default();
        static_html(view! {
            <div class="input-variant">
                <Select scope=SCOPE field=Field::new(&name, &which) options=options value=chosen.to_string() form=&form/>
                {show}
            </div>
        })
    }

    /// The number of rows, the rows, and the button that adds one.
    fn list(&self, list: List<'_>, rows: Vec<InertElement>) -> InertElement {
        let count = self.mark(list.name, Mark::Rows, rows.len().to_string());
        let add = self.step("add", list.name, ("Add a row", list.label), !list.can_grow);
        static_html(view! {
            {count}
            {rows}
            <div class="form-actions">{add}</div>
        })
    }

    fn rows(&self, list: List<'_>, rows: &[Node]) -> InertElement {
        let row = |(index, node): (usize, &Node)| {
            let label = format!("{} {}", list.label, index + 1);
            let buttons = self.row_buttons(&node.name, &label, (index, rows.len()));
            static_html(view! { <div class="input-row">{self.node(node, &label)}{buttons}</div> })
        };
        self.list(list, rows.iter().enumerate().map(row).collect())
    }

    fn entries(&self, list: List<'_>, entries: &[Entry]) -> InertElement {
        let row = |(index, entry): (usize, &Entry)| {
            let label = format!("{} {}", list.label, index + 1);
            let (key, value) = (format!("Key of: {label}"), format!("Value of: {label}"));
            self.known(&entry.key_name);
            let field = Field::new(&entry.key_name, &key).required();
            let buttons = self.row_buttons(&entry.value.name, &label, (index, entries.len()));
            static_html(view! {
                <div class="input-row">
                    <Input scope=SCOPE field=field form=self.form/>
                    {self.node(&entry.value, &value)}
                    {buttons}
                </div>
            })
        };
        self.list(list, entries.iter().enumerate().map(row).collect())
    }

    fn row_buttons(&self, name: &str, label: &str, (index, count): (usize, usize)) -> InertElement {
        let up = self.step("up", name, ("Move up", label), index == 0);
        let down = self.step("down", name, ("Move down", label), index + 1 == count);
        let remove = self.step("remove", name, ("Remove", label), false);
        static_html(view! { <div class="form-actions">{up}{down}{remove}</div> })
    }

    fn json(&self, node: &Node, label: &str, why: Why) -> InertElement {
        let hint = format!("{} {}", node.hint, why_words(why));
        let field = Field { name: &node.name, label, hint: hint.trim_start(), required: false };
        let chosen = (why == Why::Chosen).then(|| {
            let mark = self.mark(&node.name, Mark::Json, "1".to_owned());
            let fields = self.step("fields", &node.name, ("Use fields", label), false);
            view! { {mark}<div class="form-actions">{fields}</div> }
        });
        static_html(view! {
            <TextArea scope=SCOPE field=field json=true rows=6 form=self.form/>
            {chosen}
        })
    }

    fn control(&self, node: &Node, label: &str, control: &Control) -> InertElement {
        let lines = match control {
            Control::Texts => format!("{} One on each line.", node.hint),
            _ => node.hint.clone(),
        };
        let field = Field { name: &node.name, label, hint: lines.trim_start(), required: node.required };
        let (form, optional) = (self.form, Field { required: false, ..field });
        let text = form.value(&node.name).unwrap_or_default();
        match control {
            // A one-line input would join the lines.
            Control::Line if text.contains('\n') => {
                static_html(view! { <TextArea scope=SCOPE field=optional form=form/> })
            }
            Control::Line | Control::Number { .. } => static_html(view! { <Input scope=SCOPE field=field form=form/> }),
            Control::Lines => self.lines(optional),
            Control::Secret => static_html(view! { <Input scope=SCOPE field=field kind="password" form=form/> }),
            Control::Email => static_html(view! { <Input scope=SCOPE field=field kind="email" form=form/> }),
            Control::Date => static_html(view! { <Input scope=SCOPE field=field kind="date" form=form/> }),
            Control::Instant => self.instant(field),
            Control::Texts => static_html(view! { <TextArea scope=SCOPE field=optional form=form/> }),
            Control::Boolean => {
                let options = [("", "—"), ("true", "Yes"), ("false", "No")];
                let options = options.map(|(value, label)| (value.to_owned(), label.to_owned()));
                static_html(view! { <Select scope=SCOPE field=field options=options.into() form=form/> })
            }
            Control::One(choices) => {
                let options = choices.iter().map(|choice| (choice.text.clone(), choice.label.clone()));
                let options = std::iter::once((String::new(), "—".to_owned())).chain(options).collect();
                static_html(view! { <Select scope=SCOPE field=field options=options form=form/> })
            }
            Control::Many(choices) => {
                let ticked: Vec<&str> = text.lines().map(str::trim).collect();
                let option = choices
                    .iter()
                    .map(|choice| (choice.text.clone(), choice.label.clone(), ticked.contains(&choice.text.as_str())));
                static_html(view! { <CheckBoxes scope=SCOPE field=optional options=option.collect() form=form/> })
            }
        }
    }

    /// A text of several lines, or a text file.
    fn lines(&self, field: Field<'_>) -> InertElement {
        let name = mark(field.name, Mark::File);
        self.known(&name);
        let kilobytes = TOOL_FORM_FILE_BYTES_MAX / 1024;
        let label = format!("Or a text file of at most {kilobytes} KiB, in place of the text: {}", field.label);
        let id = format!("{SCOPE}-{name}");
        static_html(view! {
            <div class="input-lines">
                <TextArea scope=SCOPE field=field form=self.form/>
                <label class="field-hint" for=id.clone()>{label}</label>
                <input class="input" id=id type="file" name=name/>
            </div>
        })
    }

    /// A date and time with its offset. A text that is no local time is shown as it was typed.
    fn instant(&self, field: Field<'_>) -> InertElement {
        let form = self.form;
        let zone = mark(field.name, Mark::Zone);
        self.known(&zone);
        let text = form.value(field.name).unwrap_or_default();
        let kind = if text.is_empty() || join_instant(text, UTC).is_some() { "datetime-local" } else { "text" };
        let offset = form.value(&zone).filter(|offset| !offset.is_empty()).unwrap_or(UTC).to_owned();
        let label = format!("Time zone of: {}", field.label);
        let options = OFFSETS.map(|offset| (offset.to_owned(), format!("UTC{offset}").replace("UTC+00:00", "UTC")));
        let other = (!OFFSETS.contains(&offset.as_str())).then(|| (offset.clone(), format!("UTC{offset}")));
        let options: Vec<_> = options.into_iter().chain(other).collect();
        static_html(view! {
            <div class="instant">
                <Input scope=SCOPE field=field kind=kind form=form/>
                <Select scope=SCOPE field=Field::new(&zone, &label) options=options value=offset form=form/>
            </div>
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;
    use domain::tool::form::{begin, draw as nodes, write};
    use serde_json::json;

    fn html_of(schema: &Value, value: Option<&Value>) -> String {
        let fields = value.map_or_else(|| begin(schema), |value| write(schema, value));
        let values = fields.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        let form = FormState { form: "run".to_owned(), values, errors: Vec::new() };
        to_html(draw("/tools/order/run", &nodes(schema, &fields), &form, "").html)
    }

    #[test]
    fn each_id_and_each_name_is_there_once() {
        let variants = json!({ "anyOf": [{ "type": "string" }, { "type": "object", "properties": { "a": { "type": "number" } } }] });
        let schema = json!({
            "type": "object",
            "properties": { "text": variants, "parts": variants, "rows": { "type": "array", "items": variants } },
            "additionalProperties": { "type": "object", "properties": { "due": { "type": "string", "format": "date-time" } } },
        });
        let value = json!({ "text": "x", "parts": { "a": 1 }, "rows": ["y", { "a": 2 }], "more": { "due": "2026-03-01T09:30:00Z" } });
        let html = html_of(&schema, Some(&value));
        for attribute in [" id=\"", " name=\"input"] {
            let mut all: Vec<&str> =
                html.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert!(count > 10 && all.len() == count, "{attribute}: {html}");
        }
    }

    #[test]
    fn what_a_schema_says_is_text() {
        let evil = "<script>alert(1)</script>";
        let schema = json!({ "type": "object", "required": ["kind"], "properties": {
            "kind": { "const": evil }, "list": { "title": evil, "description": evil, "enum": [evil, "b"] },
            evil: { "type": "object", "properties": { evil: { "default": evil, "type": "string" } } } } });
        for html in [html_of(&schema, None), html_of(&schema, Some(&json!({ evil: { evil: evil } })))] {
            assert!(!html.contains("<script") && html.contains("&lt;script"), "{html}");
        }
    }
}
