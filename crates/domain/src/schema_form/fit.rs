//! The text of a control for a value, and the value of a text.

use super::{
    choice::Choice,
    fields::{Fields, Mark, mark},
    shape::Control,
};
use crate::{
    typed_number::{two_meanings, typed_number},
    view::{UTC, join_instant, split_instant},
};
use serde_json::Value;

/// Sets the texts with which a control shows a value. `None` if no text does.
pub(super) fn show(control: &Control, value: &Value, name: &str, fields: &mut Fields) -> Option<()> {
    let text = match control {
        Control::Line | Control::Lines | Control::Secret | Control::Email | Control::Date => value.as_str()?.to_owned(),
        Control::Number { .. } => value.as_number()?.to_string(),
        Control::Boolean => value.as_bool()?.to_string(),
        Control::Instant => {
            let text = value.as_str()?;
            match split_instant(text) {
                Some((local, zone)) if join_instant(&local, &zone).as_deref() == Some(text) => {
                    fields.set_mark(name, Mark::Zone, zone);
                    local
                }
                _ => text.to_owned(),
            }
        }
        Control::One(choices) => text_of(choices, value)?.to_owned(),
        Control::Many(choices) => {
            let list = value.as_array()?;
            list.iter().map(|one| text_of(choices, one)).collect::<Option<Vec<_>>>()?.join("\n")
        }
        Control::Texts => {
            let list = value.as_array()?;
            list.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?.join("\n")
        }
    };
    if value.as_array().is_some_and(Vec::is_empty) {
        fields.set_mark(name, Mark::Present, "1");
    }
    fields.set(name, text);
    Some(())
}

fn text_of<'a>(choices: &'a [Choice], value: &Value) -> Option<&'a str> {
    choices.iter().find(|choice| choice.value == *value).map(|choice| choice.text.as_str())
}

fn value_of(choices: &[Choice], text: &str) -> Result<Value, String> {
    let found = choices.iter().find(|choice| choice.text == text);
    found.map(|choice| choice.value.clone()).ok_or_else(|| "Choose one of the options.".to_owned())
}

/// Reads a control. `None` for one that is empty, unless it is a list.
pub(super) fn value(control: &Control, name: &str, fields: &Fields) -> Result<Option<Value>, String> {
    let text = fields.text(name);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    match control {
        Control::Many(choices) => {
            return lines()
                .map(|line| value_of(choices, line))
                .collect::<Result<Vec<_>, _>>()
                .map(|all| Some(all.into()));
        }
        Control::Texts => return Ok(Some(lines().collect())),
        _ if text.trim().is_empty() => return Ok(None),
        _ => {}
    }
    let value = match control {
        Control::Line | Control::Lines | Control::Secret => Value::from(text),
        Control::Email | Control::Date => Value::from(text.trim()),
        Control::Number { .. } => {
            let wrong = || match two_meanings(text) {
                Some(both) => format!("Enter {both}."),
                None => "Enter a number.".to_owned(),
            };
            Value::Number(typed_number(text).ok_or_else(wrong)?)
        }
        Control::Boolean => Value::Bool(text.trim().parse::<bool>().map_err(|_| "Choose yes or no.")?),
        Control::Instant if split_instant(text.trim()).is_some() => Value::from(text.trim()),
        Control::Instant => {
            let zone = fields.text(&mark(name, Mark::Zone));
            let zone = if zone.is_empty() { UTC } else { zone };
            Value::from(join_instant(text, zone).ok_or("Enter a date and a time.")?)
        }
        Control::One(choices) => value_of(choices, text)?,
        Control::Many(_) | Control::Texts => return Ok(None),
    };
    Ok(Some(value))
}

/// Reads JSON. The message names the line.
pub(super) fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
        format!("This is not valid JSON. Line {}, column {}: {what}.", error.line(), error.column())
    })
}
