//! Removes secrets from messages and tools. In JSON, such as the arguments of calls, each value is checked by
//! itself and together with its name, because either can show that it is a secret.

use crate::{InvalidRule, Redactor, record::Message};
use serde_json::Value;
use std::borrow::Cow;

/// Replaces a value in which the secret cannot be separated from the rest.
const REMOVED: &str = "[REDACTED]";

/// Removes secrets from a message: from its text and from the arguments of its calls.
///
/// # Errors
/// [`InvalidRule`] if a rule that is needed cannot be used.
pub(super) fn redacted(message: &mut Message, redactor: &mut Redactor) -> Result<(), InvalidRule> {
    text(&mut message.content, redactor)?;
    for call in &mut message.tool_calls {
        for (name, argument) in &mut call.function.arguments {
            value(Some(name), argument, redactor)?;
        }
    }
    Ok(())
}

/// Removes secrets from a tool's schema, such as those in descriptions and examples.
///
/// # Errors
/// The errors of [`redacted`].
pub(super) fn redact_tools(tool: &mut Value, redactor: &mut Redactor) -> Result<(), InvalidRule> {
    value(None, tool, redactor)
}

fn text(text: &mut String, redactor: &mut Redactor) -> Result<bool, InvalidRule> {
    let found = match redactor.redact(text)? {
        Cow::Owned(without) => without,
        Cow::Borrowed(_) => return Ok(false),
    };
    *text = found;
    Ok(true)
}

fn value(name: Option<&str>, of: &mut Value, redactor: &mut Redactor) -> Result<(), InvalidRule> {
    match of {
        Value::Object(members) => members.iter_mut().try_for_each(|(name, member)| value(Some(name), member, redactor)),
        Value::Array(items) => items.iter_mut().try_for_each(|item| value(name, item, redactor)),
        Value::String(words) => {
            let is_changed = text(words, redactor)?;
            match name {
                Some(name) if !is_changed => beside_its_name(name, of, redactor),
                _ => Ok(()),
            }
        }
        Value::Number(_) => name.map_or(Ok(()), |name| beside_its_name(name, of, redactor)),
        Value::Bool(_) | Value::Null => Ok(()),
    }
}

/// Checks the value as the line `"name": value`, which is the form in a settings file.
fn beside_its_name(name: &str, of: &mut Value, redactor: &mut Redactor) -> Result<(), InvalidRule> {
    let name = format!("{}: ", Value::from(name));
    let line = format!("{name}{of}");
    if let Cow::Owned(without) = redactor.redact(&line)? {
        let rest = without.strip_prefix(&name);
        let kept = rest.and_then(|rest| serde_json::from_str::<String>(rest).ok());
        // The value is a number, or the secret includes a quotation mark.
        *of = Value::from(kept.unwrap_or_else(|| REMOVED.to_owned()));
    }
    Ok(())
}
