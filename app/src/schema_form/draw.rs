//! The fields of a form.

use crate::{
    FormState,
    render::static_html,
    text::label::slug_label,
    ui::field::{CheckBox, CheckBoxes, Field, Input, Select, TextArea},
};
use domain::{
    entity::display_text,
    limit::SCHEMA_FORM_FILE_BYTES_MAX,
    schema_form::{self, Control, Entry, Fields, Form, Mark, Node, NodeKind, Why, mark},
    view::{OFFSETS, UTC, join_instant},
};
use leptos::{prelude::*, tachys::html::InertElement};
use std::{cell::RefCell, collections::BTreeSet};

/// Most texts of fields that are not drawn, such as those of another variant, which the form keeps.
const KEPT_MAX: usize = 400;

/// Where a form is on its page, and where it is sent.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Prefix of the ids of its fields.
    pub scope: &'a str,
    /// Label of the whole value, if its schema has no title.
    pub label: &'a str,
    /// Address to which its buttons send it.
    pub target: &'a str,
    /// The sentence in place of the fields, if there are none.
    pub nothing: &'a str,
    /// Whether lists of groups keep their rows, as those of proposed values do.
    pub keeps_rows: bool,
}

/// The fields of a form.
pub struct Drawn {
    /// The fields, and a sentence if there are none.
    pub html: InertElement,
    /// Names of all parts, at which messages are shown.
    pub names: BTreeSet<String>,
    /// Whether a text file can be chosen.
    pub takes_files: bool,
    /// Whether it has groups, rows or files. Their styles are in `pages.css`, which the inbox does not load by itself.
    pub has_parts: bool,
    /// The button that makes the whole value one text area for JSON, if it has several fields.
    pub json_button: Option<InertElement>,
}

/// Renders the fields of a form, which hold `texts`. `state` has the messages; the part with the name `focus` has the
/// focus.
pub fn draw_fields(place: Place<'_>, form: Form<'_>, texts: &Fields, (state, focus): (&FormState, &str)) -> Drawn {
    draw_node(place, (form.root, &schema_form::draw(form, texts)), texts, (state, focus))
}

/// Renders the group of one member of the value, which has this name; `None` if the form has no such member.
pub fn draw_member(
    place: Place<'_>,
    form: Form<'_>,
    texts: &Fields,
    (state, focus): (&FormState, &str),
    name: &str,
) -> Option<Drawn> {
    let NodeKind::Object { members, .. } = schema_form::draw(form, texts).kind else { return None };
    let member = members.into_iter().find(|member| member.name == name)?;
    Some(draw_node(place, ("", &member), &texts.only(name), (state, focus)))
}

fn draw_node(
    place: Place<'_>,
    (root, node): (&str, &Node),
    texts: &Fields,
    (state, focus): (&FormState, &str),
) -> Drawn {
    let values = texts.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    let form = &FormState { values, ..state.clone() };
    Drawing { place, root, form, focus, names: RefCell::default() }.whole(node)
}

/// Whether a form has no fields.
fn is_empty(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Object { members, more: None } if members.is_empty())
}

/// Whether a form has more than one level of fields.
fn has_parts(root: &Node) -> bool {
    let is_field = |node: &Node| matches!(node.kind, NodeKind::Control(_) | NodeKind::Const(_) | NodeKind::Json(_));
    match &root.kind {
        NodeKind::Object { members, more } => more.is_some() || !members.iter().all(is_field),
        _ => !is_field(root),
    }
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
    place: Place<'a>,
    /// Name of the whole value.
    root: &'a str,
    /// The texts of the form, and no others, with its messages.
    form: &'a FormState,
    focus: &'a str,
    names: RefCell<BTreeSet<String>>,
}

impl Drawing<'_> {
    fn whole(&self, node: &Node) -> Drawn {
        let fields = self.node(node, self.place.label);
        let names = self.names.take();
        let kept = self.form.values.iter().filter(|(name, _)| !names.contains(*name));
        let kept = kept.take(KEPT_MAX).map(|(name, text)| hidden(name.clone(), text.clone())).collect::<Vec<_>>();
        let takes_files = names.iter().any(|name| name.ends_with(Mark::File.as_str()));
        let is_empty = is_empty(&node.kind);
        let none = is_empty.then(|| view! { <p class="meta">{self.place.nothing.to_owned()}</p> });
        // A form of one text area for JSON has its own button, and one field needs none.
        let is_field = matches!(node.kind, NodeKind::Json(_) | NodeKind::Control(_) | NodeKind::Const(_));
        let json_button = (!is_field && !is_empty).then(|| self.json_button());
        let has_parts = takes_files || has_parts(node);
        Drawn { html: static_html((none, fields, kept)), names, takes_files, has_parts, json_button }
    }

    fn json_button(&self) -> InertElement {
        let action = format!("{}#{}", self.place.target, self.id(self.root));
        let words = format!("Type the {} as JSON", self.place.label.to_lowercase());
        static_html(view! {
            <button class="button" type="submit" name="step" value=format!("json:{}", self.root) formaction=action formnovalidate=true data-look="quiet">
                {words}
            </button>
        })
    }

    /// The id of a field or a group.
    fn id(&self, name: &str) -> String {
        format!("{}-{name}", self.place.scope)
    }

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
        let action = format!("{}#{}", self.place.target, self.id(name));
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
            let is_bare = node.name == self.root && node.hint.is_empty() && self.form.error(self.root).is_none();
            return if is_bare { content } else { self.group(node, &label, static_html((present, content))) };
        }
        match &node.kind {
            NodeKind::Control(control) => static_html((present, self.control(node, &label, control))),
            NodeKind::Json(why) => self.json(node, &label, *why),
            NodeKind::Const(value) => static_html(view! {
                <p class="meta" id=self.id(&node.name)>{label}": "<code>{display_text(value)}</code>{self.error(&node.name)}</p>
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
                let is_empty = members.is_empty() && more.is_none() && node.name != self.root;
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
        Some(static_html(view! { <p class="field-error" id=format!("{}-error", self.id(name))>{message}</p> }))
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
            <fieldset class="input-group" id=self.id(name) tabindex=is_first.then_some("-1") autofocus=is_first>
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
                <Select scope=self.place.scope field=Field::new(&name, &which) options=options value=chosen.to_string() form=&form/>
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
        let is_kept = self.place.keeps_rows && rows.iter().any(|row| matches!(row.kind, NodeKind::Object { .. }));
        let row = |(index, node): (usize, &Node)| {
            let label = format!("{} {}", list.label, index + 1);
            let buttons = (!is_kept).then(|| self.row_buttons(&node.name, &label, (index, rows.len())));
            static_html(view! { <div class="input-row">{self.node(node, &label)}{buttons}</div> })
        };
        let drawn = rows.iter().enumerate().map(row).collect::<Vec<_>>();
        if is_kept {
            return static_html((self.mark(list.name, Mark::Rows, rows.len().to_string()), drawn));
        }
        self.list(list, drawn)
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
                    <Input scope=self.place.scope field=field form=self.form/>
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
            <TextArea scope=self.place.scope field=field json=true rows=6 form=self.form/>
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
                static_html(view! { <TextArea scope=self.place.scope field=optional form=form/> })
            }
            Control::Line | Control::Number { .. } => {
                static_html(view! { <Input scope=self.place.scope field=field form=form/> })
            }
            Control::Lines => self.lines(optional),
            Control::Secret => {
                static_html(view! { <Input scope=self.place.scope field=field kind="password" form=form/> })
            }
            Control::Email => static_html(view! { <Input scope=self.place.scope field=field kind="email" form=form/> }),
            Control::Date => static_html(view! { <Input scope=self.place.scope field=field kind="date" form=form/> }),
            Control::Instant => self.instant(field),
            Control::Texts => static_html(view! { <TextArea scope=self.place.scope field=optional form=form/> }),
            Control::Boolean => {
                let options = [("", "—"), ("true", "Yes"), ("false", "No")];
                let options = options.map(|(value, label)| (value.to_owned(), label.to_owned()));
                static_html(view! { <Select scope=self.place.scope field=field options=options.into() form=form/> })
            }
            Control::One(choices) => {
                let options = choices.iter().map(|choice| (choice.text.clone(), choice.label.clone()));
                let options = std::iter::once((String::new(), "—".to_owned())).chain(options).collect();
                static_html(view! { <Select scope=self.place.scope field=field options=options form=form/> })
            }
            Control::Many(choices) => {
                let ticked: Vec<&str> = text.lines().map(str::trim).collect();
                let option = choices.iter().map(|choice| CheckBox {
                    value: choice.text.clone(),
                    label: choice.label.clone(),
                    is_ticked: ticked.contains(&choice.text.as_str()),
                });
                static_html(
                    view! { <CheckBoxes scope=self.place.scope field=optional options=option.collect() form=form/> },
                )
            }
        }
    }

    /// A text of several lines, or a text file.
    fn lines(&self, field: Field<'_>) -> InertElement {
        let name = mark(field.name, Mark::File);
        self.known(&name);
        let kilobytes = SCHEMA_FORM_FILE_BYTES_MAX / 1024;
        let label = format!("Or a text file of at most {kilobytes} KiB, in place of the text: {}", field.label);
        let id = self.id(&name);
        static_html(view! {
            <div class="input-lines">
                <TextArea scope=self.place.scope field=field form=self.form/>
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
                <Input scope=self.place.scope field=field kind=kind form=form/>
                <Select scope=self.place.scope field=Field::new(&zone, &label) options=options value=offset form=form/>
            </div>
        })
    }
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
