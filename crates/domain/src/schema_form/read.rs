//! The value that a form holds.

use super::{
    fields::{Fields, Mark, child, key_of, mark},
    fit,
    form::Form,
    shape::{At, Control, Member, Parts, Shape},
};
use crate::{issue::Issue, limit::SCHEMA_FORM_ROWS_MAX};
use serde_json::{Map, Value};

/// Returns the value of a form; `None` if nothing was typed.
///
/// # Errors
/// One [`Issue`] for each control whose text cannot be read, with the name of the control.
pub fn read(form: Form<'_>, fields: &Fields) -> Result<Option<Value>, Vec<Issue>> {
    read_part(form, (form.schema, &At::root()), form.root, fields)
}

/// Returns the members of the object that a form has so far, for a draft. A member whose only control has a text that
/// cannot be read is this text; deeper parts that cannot be read are left out.
pub fn read_so_far(form: Form<'_>, fields: &Fields) -> Map<String, Value> {
    let mut reader = Reader { parts: Parts::new(form), fields, issues: Vec::new() };
    let mut members = match reader.value(form.schema, &At::root(), form.root) {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    for issue in &reader.issues {
        let part = issue.field.strip_prefix(form.root).and_then(|rest| rest.strip_prefix('.'));
        if let Some(part) = part.filter(|part| !part.contains('.')) {
            members.insert(key_of(part), Value::from(fields.text(&issue.field)));
        }
    }
    members
}

/// Returns the value of a part of a form.
pub(super) fn read_part(
    form: Form<'_>,
    (schema, at): (&Value, &At),
    name: &str,
    fields: &Fields,
) -> Result<Option<Value>, Vec<Issue>> {
    read_within(Parts::new(form), (schema, at), name, fields)
}

/// Does the same with parts that count together with others.
pub(super) fn read_within(
    parts: Parts<'_>,
    (schema, at): (&Value, &At),
    name: &str,
    fields: &Fields,
) -> Result<Option<Value>, Vec<Issue>> {
    let mut reader = Reader { parts, fields, issues: Vec::new() };
    let value = reader.value(schema, at, name);
    if reader.issues.is_empty() { Ok(value) } else { Err(reader.issues) }
}

/// Whether the form has a part that can be absent.
pub(super) fn is_present(fields: &Fields, shape: &Shape, name: &str) -> bool {
    let has_text = || !fields.text(name).trim().is_empty();
    match shape {
        Shape::Object { .. } | Shape::Map(_) | Shape::Variants(_) => fields.is(name, Mark::Present),
        Shape::Rows { .. } => fields.is(name, Mark::Present) || fields.number(name, Mark::Rows) > 0,
        Shape::Control(Control::Many(_) | Control::Texts) => fields.is(name, Mark::Present) || has_text(),
        Shape::Control(_) | Shape::Json(_) => has_text(),
        Shape::Const(_) => true,
    }
}

struct Reader<'a> {
    parts: Parts<'a>,
    fields: &'a Fields,
    issues: Vec<Issue>,
}

impl Reader<'_> {
    fn refuse(&mut self, name: impl Into<String>, message: impl Into<String>) {
        self.issues.push(Issue::new(name, message));
    }

    fn value(&mut self, schema: &Value, at: &At, name: &str) -> Option<Value> {
        let part = self.parts.part(schema, at);
        if self.fields.is(name, Mark::Json) || matches!(part.shape, Shape::Json(_)) {
            return self.json(name);
        }
        if part.begins_blank() && self.fields.text(name).is_empty() {
            return Some(Value::from(""));
        }
        if at.can_be_absent(&part) && !is_present(self.fields, &part.shape, name) {
            return (at.required && part.is_nullable).then_some(Value::Null);
        }
        match part.shape {
            Shape::Object { members, more } => {
                let mut object = Map::new();
                for member in &members {
                    if let Some(value) = self.value(&member.schema, &at.member(member), &child(name, &member.key)) {
                        object.insert(member.key.clone(), value);
                    }
                }
                if let Some(values) = more {
                    self.entries(&values, at, (&mark(name, Mark::More), &members), &mut object);
                }
                Some(Value::Object(object))
            }
            Shape::Map(values) => {
                let mut object = Map::new();
                self.entries(&values, at, (name, &[]), &mut object);
                Some(Value::Object(object))
            }
            Shape::Rows { items, .. } => Some(Value::Array(self.rows(&items, at, name))),
            Shape::Variants(variants) => {
                let chosen = self.fields.number(name, Mark::Variant).min(variants.len() - 1);
                let variant = variants.get(chosen)?;
                self.value(&variant.schema, &at.variant(), name)
            }
            Shape::Control(control) => self.control(&control, at, name),
            Shape::Const(value) => Some(value),
            Shape::Json(_) => None,
        }
    }

    fn json(&mut self, name: &str) -> Option<Value> {
        let text = self.fields.text(name);
        if text.trim().is_empty() {
            return None;
        }
        fit::json(text).map_err(|message| self.refuse(name, message)).ok()
    }

    fn control(&mut self, control: &Control, at: &At, name: &str) -> Option<Value> {
        match fit::value(control, name, self.fields) {
            // A row of a list of texts is there, even if it is empty.
            Ok(None) if at.is_row && matches!(control, Control::Line | Control::Lines) => Some(Value::from("")),
            Ok(value) => value,
            Err(message) => {
                self.refuse(name, message);
                None
            }
        }
    }

    fn count(&self, name: &str) -> usize {
        self.fields.number(name, Mark::Rows).min(SCHEMA_FORM_ROWS_MAX)
    }

    fn rows(&mut self, items: &Value, at: &At, name: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        for index in 0..self.count(name) {
            let row = child(name, &index.to_string());
            let before = self.issues.len();
            match self.value(items, &at.row(), &row) {
                Some(value) => rows.push(value),
                None if self.issues.len() > before => {}
                None => self.refuse(row, "Fill this in, or remove the row."),
            }
        }
        rows
    }

    /// Reads rows of keys and values. `named` are members that have controls of their own.
    fn entries(&mut self, values: &Value, at: &At, (name, named): (&str, &[Member]), object: &mut Map<String, Value>) {
        for index in 0..self.count(name) {
            let row = child(name, &index.to_string());
            let key_name = mark(&row, Mark::Key);
            let key = self.fields.text(&key_name).to_owned();
            let before = self.issues.len();
            let value = self.value(values, &at.row(), &row);
            if key.is_empty() {
                self.refuse(key_name, "Enter a key, or remove the row.");
            } else if named.iter().any(|member| member.key == key) {
                self.refuse(key_name, "This key has a field of its own.");
            } else if object.contains_key(&key) {
                self.refuse(key_name, "Another row has this key.");
            } else if let Some(value) = value {
                object.insert(key, value);
            } else if self.issues.len() == before {
                self.refuse(row, "Fill this in, or remove the row.");
            }
        }
    }
}
