//! Which control shows a part of a value.

use super::{
    fields::{Fields, Mark, child, key_of, mark},
    form::Form,
    read::is_present,
    shape::{At, Part, Parts, Shape},
};
use crate::{
    json_line::line_of,
    json_pointer::{escaped, unescaped},
};
use serde_json::Value;

/// Returns the name of the control for the part of a value at a JSON Pointer, and a text about the place
/// inside of it, such as `line 3, street: `; empty if it is the control of that part.
pub fn place(form: Form<'_>, fields: &Fields, pointer: &str) -> (String, String) {
    let parts = Parts::new(form);
    let keys: Vec<String> = pointer.split('/').skip(1).map(unescaped).collect();
    let (mut schema, mut at, mut name) = (form.schema.clone(), At::root(), form.root.to_owned());
    let mut rest = keys.as_slice();
    loop {
        let part = parts.part(&schema, &at);
        if fields.is(&name, Mark::Json) || matches!(part.shape, Shape::Json(_)) {
            let line = line_of(fields.text(&name), rest.iter().map(String::as_str)).filter(|_| !rest.is_empty());
            let line = line.map(|line| format!("line {line}, ")).unwrap_or_default();
            return (name, format!("{line}{}", inside(rest)));
        }
        if let Shape::Variants(_) = part.shape
            && let Some(next) = variant(&part, &at, fields, &name)
        {
            (schema, at) = next;
            continue;
        }
        let Some((key, below)) = rest.split_first() else { return (name, String::new()) };
        if at.can_be_absent(&part) && !is_present(fields, &part.shape, &name) {
            return (name, inside(rest));
        }
        match member(&part, &at, fields, (&name, key)) {
            Some(next) => (schema, at, name) = next,
            None => return (name, inside(rest)),
        }
        rest = below;
    }
}

/// Does the same as [`place`] for the path of a part, such as `.rows[0].street`: members after points, items in
/// brackets. A key with a point or a bracket leads to the part around it.
pub fn place_of_path(form: Form<'_>, fields: &Fields, path: &str) -> (String, String) {
    let keys = path.split(['.', '[']).skip(1).map(|key| key.trim_end_matches(']'));
    let pointer: String = keys.map(|key| format!("/{}", escaped(key))).collect();
    place(form, fields, &pointer)
}

fn inside(rest: &[String]) -> String {
    if rest.is_empty() { String::new() } else { format!("{}: ", rest.join("/")) }
}

/// The schema of the chosen variant of a part that has some, if the part is there.
fn variant(part: &Part, at: &At, fields: &Fields, name: &str) -> Option<(Value, At)> {
    let Shape::Variants(variants) = &part.shape else { return None };
    if at.can_be_absent(part) && !is_present(fields, &part.shape, name) {
        return None;
    }
    let chosen = variants.get(fields.number(name, Mark::Variant)).or_else(|| variants.first())?;
    Some((chosen.schema.clone(), at.variant()))
}

/// The schema, place and name of the member or item of a value with this key.
fn member(part: &Part, at: &At, fields: &Fields, (name, key): (&str, &str)) -> Option<(Value, At, String)> {
    let row = |values: &Value, name: &str| {
        let rows = (0..fields.number(name, Mark::Rows)).map(|index| child(name, &index.to_string()));
        let found =
            rows.take(crate::limit::SCHEMA_FORM_ROWS_MAX).find(|row| fields.text(&mark(row, Mark::Key)) == key)?;
        Some((values.clone(), at.row(), found))
    };
    match &part.shape {
        Shape::Object { members, more } => match members.iter().find(|member| member.key == key) {
            Some(member) => Some((member.schema.clone(), at.member(member), child(name, key))),
            None => row(more.as_ref()?, &mark(name, Mark::More)),
        },
        Shape::Map(values) => row(values, name),
        Shape::Rows { items, .. } => Some((items.clone(), at.row(), child(name, key))),
        Shape::Variants(_) | Shape::Control(_) | Shape::Const(_) | Shape::Json(_) => None,
    }
}

/// A part of a form, with what it was read from.
pub(super) struct Found {
    pub schema: Value,
    pub at: At,
    pub part: Part,
}

/// The part with this name. `None` for a name that the form does not have.
pub(super) fn find(parts: &Parts<'_>, fields: &Fields, wanted: &str) -> Option<Found> {
    let form = parts.form();
    let mut names = wanted.split('.');
    if names.next() != Some(form.root) {
        return None;
    }
    let mut names = names.peekable();
    let (mut schema, mut at, mut name) = (form.schema.clone(), At::root(), form.root.to_owned());
    loop {
        let part = parts.part(&schema, &at);
        if names.peek().is_none() {
            return Some(Found { schema, at, part });
        }
        if let Some(next) = variant(&part, &at, fields, &name) {
            (schema, at) = next;
            continue;
        }
        let segment = names.next()?;
        (schema, at, name) = match (&part.shape, segment) {
            (Shape::Object { more, .. }, segment) if segment == Mark::More.as_str() => {
                let row = child(&mark(&name, Mark::More), &names.next()?.parse::<usize>().ok()?.to_string());
                (more.clone()?, at.row(), row)
            }
            (Shape::Map(values), index) => (values.clone(), at.row(), child(&name, index)),
            (_, segment) => member(&part, &at, fields, (&name, &key_of(segment)))?,
        };
    }
}
