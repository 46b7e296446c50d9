//! Buttons that change a form.

use super::{
    begin::{start, write_part},
    draw::is_full,
    fields::{Fields, Mark, child, mark},
    fit,
    form::Form,
    place::{Found, find},
    read::read_part,
    shape::{Parts, Shape},
};
use crate::{
    issue::Issue,
    limit::{SCHEMA_FORM_PARTS_MAX, SCHEMA_FORM_ROWS_MAX},
};

/// Does what a button of the form says: `add`, `remove`, `up` or `down` a row, add an optional part (`on`) or take it
/// out (`off`), draw the chosen `variant`, and type a part as `json` or in `fields`; each with a colon and the name of
/// the part. What was typed is kept. Other texts change nothing. Returns the name of the part to go on with.
///
/// # Errors
/// Issues with the names of controls, if the form has no space for more parts, or a part cannot be read. The form is
/// unchanged then.
pub fn press(form: Form<'_>, fields: &mut Fields, step: &str) -> Result<String, Vec<Issue>> {
    let Some((what, name)) = step.split_once(':') else { return Ok(String::new()) };
    let before = fields.clone();
    let done = match what {
        "add" => add(form, fields, name),
        "remove" => remove(form, fields, name),
        "up" => swap(fields, name, true),
        "down" => swap(fields, name, false),
        "on" | "variant" => begin_part(form, fields, name),
        "off" => {
            fields.remove(&mark(name, Mark::Present));
            Some(Ok(name.to_owned()))
        }
        "json" => as_json(form, fields, name),
        "fields" => as_fields(form, fields, name),
        _ => None,
    };
    let grows = matches!(what, "add" | "on" | "variant");
    let done = match done.unwrap_or_else(|| Ok(String::new())) {
        Ok(_) if grows && is_full(form, fields) => {
            let most = format!("A form has at most {SCHEMA_FORM_PARTS_MAX} fields. Type this part as JSON.");
            Err(vec![Issue::new(name, most)])
        }
        done => done,
    };
    if done.is_err() {
        *fields = before;
    }
    done
}

/// The part to go on with, or why not; `None` if the form has no such part.
type Done = Option<Result<String, Vec<Issue>>>;

fn refused(name: &str, message: impl Into<String>) -> Done {
    Some(Err(vec![Issue::new(name, message)]))
}

fn add(form: Form<'_>, fields: &mut Fields, name: &str) -> Done {
    let parts = Parts::new(form);
    let around = name.strip_suffix(Mark::More.as_str()).and_then(|name| name.strip_suffix('.'));
    let Found { at, part, .. } = chosen(&parts, fields, around.unwrap_or(name))?;
    let (items, most) = match part.shape {
        Shape::Rows { items, most, .. } => (items, most),
        Shape::Map(values) => (values, SCHEMA_FORM_ROWS_MAX),
        Shape::Object { more: Some(values), .. } if around.is_some() => (values, SCHEMA_FORM_ROWS_MAX),
        _ => return None,
    };
    let count = fields.number(name, Mark::Rows);
    if count >= most {
        return refused(name, format!("At most {most}."));
    }
    let row = child(name, &count.to_string());
    fields.take(&row);
    start(&Parts::new(form), (&items, &at.row()), &row, fields, true);
    fields.set_mark(name, Mark::Rows, (count + 1).to_string());
    Some(Ok(row))
}

/// The part with this name; of one that has variants, the chosen variant.
fn chosen(parts: &Parts<'_>, fields: &Fields, name: &str) -> Option<Found> {
    let found = find(parts, fields, name)?;
    let Shape::Variants(variants) = &found.part.shape else { return Some(found) };
    let variant = variants.get(fields.number(name, Mark::Variant)).or_else(|| variants.first())?;
    let at = found.at.variant();
    let part = parts.part(&variant.schema, &at);
    Some(Found { schema: variant.schema.clone(), at, part })
}

/// The name of the list of a row, the row's number and the number of rows.
fn row_of<'a>(fields: &Fields, row: &'a str) -> Option<(&'a str, usize, usize)> {
    let (name, index) = row.rsplit_once('.')?;
    let index = index.parse().ok()?;
    let count = fields.number(name, Mark::Rows).min(SCHEMA_FORM_ROWS_MAX);
    (index < count).then_some((name, index, count))
}

fn remove(form: Form<'_>, fields: &mut Fields, row: &str) -> Done {
    let (name, index, count) = row_of(fields, row)?;
    fields.take(row);
    for next in index + 1..count {
        let (from, to) = (child(name, &next.to_string()), child(name, &(next - 1).to_string()));
        let taken = fields.take(&from);
        fields.put(taken, (&from, &to));
    }
    fields.set_mark(name, Mark::Rows, (count - 1).to_string());
    // A list without rows is left out, if it can be.
    let is_list =
        chosen(&Parts::new(form), fields, name).is_some_and(|found| matches!(found.part.shape, Shape::Rows { .. }));
    let has_variants =
        find(&Parts::new(form), fields, name).is_some_and(|found| matches!(found.part.shape, Shape::Variants(_)));
    if count == 1 && is_list && !has_variants {
        fields.remove(&mark(name, Mark::Present));
    }
    Some(Ok(name.to_owned()))
}

fn swap(fields: &mut Fields, row: &str, is_up: bool) -> Done {
    let (name, index, count) = row_of(fields, row)?;
    let other = if is_up { index.checked_sub(1)? } else { index + 1 };
    if other >= count {
        return None;
    }
    let other = child(name, &other.to_string());
    let (own, others) = (fields.take(row), fields.take(&other));
    fields.put(own, (row, &other));
    fields.put(others, (&other, row));
    Some(Ok(other))
}

/// Adds an optional part, or the controls of the chosen variant that are not there yet.
fn begin_part(form: Form<'_>, fields: &mut Fields, name: &str) -> Done {
    let Found { schema: own, at, .. } = find(&Parts::new(form), fields, name)?;
    let mut new = Fields::default();
    new.set_mark(name, Mark::Variant, fields.text(&mark(name, Mark::Variant)));
    start(&Parts::new(form), (&own, &at), name, &mut new, true);
    fields.add(new);
    Some(Ok(name.to_owned()))
}

fn as_json(form: Form<'_>, fields: &mut Fields, name: &str) -> Done {
    let Found { schema: own, at, .. } = find(&Parts::new(form), fields, name)?;
    let value = match read_part(form, (&own, &at), name, fields) {
        Ok(value) => value,
        Err(issues) => return Some(Err(issues)),
    };
    let text = value.map(|value| serde_json::to_string_pretty(&value).unwrap_or_default()).unwrap_or_default();
    keep_key(fields, name);
    fields.set(name, text);
    fields.set_mark(name, Mark::Json, "1");
    Some(Ok(name.to_owned()))
}

fn as_fields(form: Form<'_>, fields: &mut Fields, name: &str) -> Done {
    let Found { schema: own, at, .. } = find(&Parts::new(form), fields, name)?;
    let text = fields.text(name).to_owned();
    let held = if text.trim().is_empty() {
        let mut new = Fields::default();
        start(&Parts::new(form), (&own, &at), name, &mut new, false);
        new
    } else {
        match fit::json(&text) {
            Ok(value) => write_part(&Parts::new(form).to_try(), (&own, &at), &value, name),
            Err(message) => return refused(name, message),
        }
    };
    if held.is(name, Mark::Json) {
        return refused(name, "No fields fit this value. Keep the JSON.");
    }
    keep_key(fields, name);
    fields.add(held);
    Some(Ok(name.to_owned()))
}

/// Takes out a part except the key of its row.
fn keep_key(fields: &mut Fields, name: &str) {
    let key_name = mark(name, Mark::Key);
    let key = fields.has(&key_name).then(|| fields.text(&key_name).to_owned());
    fields.take(name);
    if let Some(key) = key {
        fields.set(key_name, key);
    }
}
