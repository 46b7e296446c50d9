//! The controls of a form.

use super::{
    begin::is_container,
    fields::{Fields, Mark, child, mark},
    form::Form,
    read::is_present,
    shape::{At, Control, Member, Parts, Shape, Why},
};
use crate::{limit::SCHEMA_FORM_ROWS_MAX, line::without_overrides};
use serde_json::Value;

/// One part of a form. Its texts are in the [`Fields`] that it was drawn with.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Name of its control, or of the group of its controls.
    pub name: String,
    /// Its key as a text for people; empty for a row and for the whole value.
    pub key: String,
    /// Title of its schema; may be empty.
    pub title: String,
    /// Description of its schema; may be empty.
    pub hint: String,
    /// Whether its control has to be filled in.
    pub required: bool,
    /// Whether it is there and can be taken out.
    pub removable: bool,
    /// How it is typed.
    pub kind: NodeKind,
}

/// A row of a key and a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Name of the control of the key.
    pub key_name: String,
    /// The part with the value of the key.
    pub value: Node,
}

/// How a part is typed.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// It is not there, and can be added.
    Absent,
    /// A group with the fields of its members.
    Object {
        /// Members that the schema names.
        members: Vec<Node>,
        /// Other members; `None` if there can be none.
        more: Option<Vec<Entry>>,
    },
    /// An object whose keys are typed too.
    Map(Vec<Entry>),
    /// A list.
    Rows {
        /// One part for each row, in their order.
        rows: Vec<Node>,
        /// Whether a row can be added.
        can_grow: bool,
    },
    /// One of several schemas.
    Variants {
        /// Texts that people choose from, one for each variant.
        labels: Vec<String>,
        /// The number of the one that is drawn.
        chosen: usize,
        /// The drawn one, which has the same name.
        inner: Box<Node>,
    },
    /// A field for a value without parts.
    Control(Control),
    /// The only value that is valid. It has no control.
    Const(Value),
    /// A text area for JSON.
    Json(Why),
}

/// Returns the controls of a form.
pub fn draw(form: Form<'_>, fields: &Fields) -> Node {
    Drawer { parts: Parts::new(form), fields }.node(form.schema, &At::root(), form.root)
}

/// Whether a form has as many parts as it can have, so that some are drawn as JSON for that reason.
pub(super) fn is_full(form: Form<'_>, fields: &Fields) -> bool {
    let drawer = Drawer { parts: Parts::new(form), fields };
    drawer.node(form.schema, &At::root(), form.root);
    drawer.parts.is_full()
}

struct Drawer<'a> {
    parts: Parts<'a>,
    fields: &'a Fields,
}

impl Drawer<'_> {
    fn node(&self, schema: &Value, at: &At, name: &str) -> Node {
        let part = self.parts.part(schema, at);
        let can_be_absent = at.can_be_absent(&part);
        let is_part = is_container(&part.shape);
        let is_json = self.fields.is(name, Mark::Json);
        let is_there = is_json || !can_be_absent || !is_part || is_present(self.fields, &part.shape, name);
        let must_be_filled = !can_be_absent && !at.is_row && !part.begins_blank();
        let kind = match part.shape {
            Shape::Json(why) => NodeKind::Json(why),
            _ if is_json => NodeKind::Json(Why::Chosen),
            _ if !is_there => NodeKind::Absent,
            Shape::Object { members, more } => {
                let node = |member: &Member| self.node(&member.schema, &at.member(member), &child(name, &member.key));
                NodeKind::Object {
                    members: members.iter().map(node).collect(),
                    more: more.map(|values| self.entries(&values, at, &mark(name, Mark::More))),
                }
            }
            Shape::Map(values) => NodeKind::Map(self.entries(&values, at, name)),
            Shape::Rows { items, most, .. } => {
                let count = self.fields.number(name, Mark::Rows).min(SCHEMA_FORM_ROWS_MAX);
                let node = |index: usize| self.node(&items, &at.row(), &child(name, &index.to_string()));
                NodeKind::Rows { rows: (0..count).map(node).collect(), can_grow: count < most }
            }
            Shape::Variants(variants) => {
                let chosen = self.fields.number(name, Mark::Variant).min(variants.len() - 1);
                let inner = variants.get(chosen).map(|variant| self.node(&variant.schema, &at.variant(), name));
                match inner {
                    Some(inner) => NodeKind::Variants {
                        labels: variants.into_iter().map(|variant| variant.label).collect(),
                        chosen,
                        inner: Box::new(inner),
                    },
                    None => NodeKind::Json(Why::Combined),
                }
            }
            Shape::Control(control) => NodeKind::Control(control),
            Shape::Const(value) => NodeKind::Const(value),
        };
        Node {
            name: name.to_owned(),
            key: without_overrides(&at.key),
            title: part.title,
            hint: part.hint,
            required: must_be_filled,
            removable: can_be_absent && is_part && is_there && !is_json,
            kind,
        }
    }

    fn entries(&self, values: &Value, at: &At, name: &str) -> Vec<Entry> {
        let count = self.fields.number(name, Mark::Rows).min(SCHEMA_FORM_ROWS_MAX);
        let entry = |index: usize| {
            let row = child(name, &index.to_string());
            Entry { key_name: mark(&row, Mark::Key), value: self.node(values, &at.row(), &row) }
        };
        (0..count).map(entry).collect()
    }
}
