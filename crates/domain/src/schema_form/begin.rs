//! The initial values of a form: the defaults of its schema, or a given value.

use super::{
    fields::{Fields, Mark, child, mark},
    fit,
    form::Form,
    read::read_within,
    shape::{At, Control, Parts, Shape},
    variant::Variant,
};
use crate::limit::SCHEMA_FORM_ROWS_MAX;
use serde_json::Value;

/// The form of a new value: defaults, and as many rows as a list must have.
pub fn begin(form: Form<'_>) -> Fields {
    let mut fields = Fields::default();
    start(&Parts::new(form), (form.schema, &At::root()), form.root, &mut fields, false);
    fields
}

/// The form with a value. A part that its controls cannot hold is JSON.
pub fn write(form: Form<'_>, value: &Value) -> Fields {
    write_part(&Parts::new(form).to_try(), (form.schema, &At::root()), value, form.root)
}

/// Adds the controls of a new part. One that can be left out is, unless it `is_wanted` or has a default.
pub(super) fn start(parts: &Parts<'_>, (schema, at): (&Value, &At), name: &str, fields: &mut Fields, is_wanted: bool) {
    let part = parts.part(schema, at);
    if let Some(default) = &part.default {
        fields.add(write_part(&parts.to_try(), (schema, at), default, name));
        // Ticking none of the boxes is a choice too.
        if matches!(part.shape, Shape::Control(Control::Many(_))) && default.is_array() {
            fields.set_mark(name, Mark::Present, "1");
        }
        return;
    }
    if !at.required && !is_wanted {
        return;
    }
    if is_container(&part.shape) && at.can_be_absent(&part) {
        fields.set_mark(name, Mark::Present, "1");
    }
    match part.shape {
        Shape::Object { members, .. } => {
            for member in &members {
                start(parts, (&member.schema, &at.member(member)), &child(name, &member.key), fields, false);
            }
        }
        Shape::Rows { items, least, .. } => {
            for index in 0..least {
                start(parts, (&items, &at.row()), &child(name, &index.to_string()), fields, false);
            }
            fields.set_mark(name, Mark::Rows, least.to_string());
        }
        Shape::Variants(variants) => {
            let chosen = fields.number(name, Mark::Variant);
            if let Some(variant) = variants.get(chosen).or_else(|| variants.first()) {
                start(parts, (&variant.schema, &at.variant()), name, fields, is_wanted);
            }
        }
        Shape::Map(_) | Shape::Control(_) | Shape::Const(_) | Shape::Json(_) => {}
    }
}

/// Whether a part that can be absent is there only if the form says so.
pub(super) const fn is_container(shape: &Shape) -> bool {
    matches!(shape, Shape::Object { .. } | Shape::Map(_) | Shape::Variants(_))
}

/// The controls of a part with a value.
pub(super) fn write_part(parts: &Parts<'_>, (schema, at): (&Value, &At), value: &Value, name: &str) -> Fields {
    let mut fields = Fields::default();
    let is_held = fill(parts, (schema, at), value, name, &mut fields).is_some()
        && holds(parts, (schema, at), value, name, &fields);
    if is_held {
        return fields;
    }
    let mut fields = Fields::default();
    fields.set(name, serde_json::to_string_pretty(value).unwrap_or_default());
    fields.set_mark(name, Mark::Json, "1");
    fields
}

/// Whether the controls of a part read as a value.
fn holds(parts: &Parts<'_>, part: (&Value, &At), value: &Value, name: &str, fields: &Fields) -> bool {
    match read_within(parts.again(), part, name, fields) {
        Ok(Some(read)) => has_all_of(&read, value),
        Ok(None) => value.is_null() && !part.1.required,
        Err(_) => false,
    }
}

/// Whether a value has all of another one, except members that are `null`. Members that it has besides are required
/// ones, which every form has.
fn has_all_of(read: &Value, wanted: &Value) -> bool {
    match (read, wanted) {
        (Value::Object(read), Value::Object(wanted)) => wanted.iter().all(|(key, wanted)| match read.get(key) {
            Some(read) => has_all_of(read, wanted),
            None => wanted.is_null(),
        }),
        (Value::Array(read), Value::Array(wanted)) => {
            read.len() == wanted.len() && read.iter().zip(wanted).all(|(read, wanted)| has_all_of(read, wanted))
        }
        _ => read == wanted,
    }
}

/// Sets the controls of a part. `None` if they cannot hold the value.
fn fill(parts: &Parts<'_>, (schema, at): (&Value, &At), value: &Value, name: &str, fields: &mut Fields) -> Option<()> {
    let part = parts.part(schema, at);
    if let Shape::Json(_) = part.shape {
        fields.set(name, serde_json::to_string_pretty(value).unwrap_or_default());
        // Whoever reads the form later finds controls here.
        if parts.is_spent() {
            fields.set_mark(name, Mark::Json, "1");
        }
        return Some(());
    }
    if value.is_null() && part.is_nullable {
        return Some(());
    }
    if is_container(&part.shape) && at.can_be_absent(&part) {
        fields.set_mark(name, Mark::Present, "1");
    }
    match part.shape {
        Shape::Object { members, more } => {
            let object = value.as_object()?;
            for member in &members {
                if let Some(value) = object.get(&member.key) {
                    let place = (&member.schema, &at.member(member));
                    fields.add(write_part(parts, place, value, &child(name, &member.key)));
                }
            }
            let others = object.iter().filter(|(key, _)| !members.iter().any(|member| member.key == **key));
            let others: Vec<_> = others.collect();
            match more {
                Some(values) => fill_entries(parts, (&values, at), &others, &mark(name, Mark::More), fields)?,
                None if others.is_empty() => {}
                None => return None,
            }
        }
        Shape::Map(values) => {
            let all: Vec<_> = value.as_object()?.iter().collect();
            fill_entries(parts, (&values, at), &all, name, fields)?;
        }
        Shape::Rows { items, .. } => {
            let rows = value.as_array().filter(|rows| rows.len() <= SCHEMA_FORM_ROWS_MAX)?;
            for (index, row) in rows.iter().enumerate() {
                fields.add(write_part(parts, (&items, &at.row()), row, &child(name, &index.to_string())));
            }
            fields.set_mark(name, Mark::Rows, rows.len().to_string());
            if rows.is_empty() {
                fields.set_mark(name, Mark::Present, "1");
            }
        }
        Shape::Variants(variants) => fill_variant(parts, (variants.as_slice(), at), value, name, fields)?,
        Shape::Control(control) => fit::show(&control, value, name, fields)?,
        Shape::Const(only) if only == *value => {}
        Shape::Const(_) | Shape::Json(_) => return None,
    }
    Some(())
}

/// Chooses the first variant whose controls hold all of the value, or else the first that holds some of it.
fn fill_variant(
    parts: &Parts<'_>,
    (variants, at): (&[Variant], &At),
    value: &Value,
    name: &str,
    fields: &mut Fields,
) -> Option<()> {
    // A free-form variant holds every value as JSON, also one of another type.
    let mut by_type: Vec<_> = variants.iter().enumerate().collect();
    by_type.sort_by_key(|(_, variant)| !is_of_type(value, &variant.schema));
    let mut fitting: Vec<_> = Vec::new();
    for (index, variant) in by_type {
        let held = write_part(parts, (&variant.schema, &at.variant()), value, name);
        let is_whole = !held.iter().any(|(name, _)| name.ends_with(Mark::Json.as_str()));
        if is_whole {
            fitting.insert(0, (index, held));
            break;
        }
        if !held.is(name, Mark::Json) {
            fitting.push((index, held));
        }
    }
    let (index, held) = fitting.into_iter().next()?;
    fields.set_mark(name, Mark::Variant, index.to_string());
    fields.add(held);
    Some(())
}

/// Whether a value has the type that a schema names, if it names a single one.
fn is_of_type(value: &Value, schema: &Value) -> bool {
    match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("number" | "integer") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => true,
    }
}

fn fill_entries(
    parts: &Parts<'_>,
    (values, at): (&Value, &At),
    entries: &[(&String, &Value)],
    name: &str,
    fields: &mut Fields,
) -> Option<()> {
    if entries.len() > SCHEMA_FORM_ROWS_MAX {
        return None;
    }
    for (index, (key, value)) in entries.iter().enumerate() {
        let row = child(name, &index.to_string());
        fields.set_mark(&row, Mark::Key, key.as_str());
        fields.add(write_part(parts, (values, &at.row()), value, &row));
    }
    fields.set_mark(name, Mark::Rows, entries.len().to_string());
    Some(())
}
