//! Checks the input of an action's sessions against `metadata.inputSchema`.

use crate::{
    ActionRecord, Error, Result,
    output::{check_schema, form_errors},
};
use domain::{
    action::{INPUT_SCHEMA, default_input},
    issue::Issue,
};
use serde_json::{Map, Value};

/// Path of the schema in an action, for error messages.
const FIELD: &str = "metadata.inputSchema";
/// Path of the input in a request, for error messages.
const ROOT: &str = "input";

fn schema_of(action: &ActionRecord) -> Option<Value> {
    let mut metadata: Map<String, Value> = serde_json::from_str(&action.metadata).unwrap_or_default();
    metadata.remove(INPUT_SCHEMA).filter(|schema| !schema.is_null())
}

/// Refuses an action whose input schema is not a usable JSON Schema.
pub(crate) fn check(action: &ActionRecord) -> Result<()> {
    let Some(schema) = schema_of(action) else { return Ok(()) };
    let wrong = match schema {
        Value::Object(_) => check_schema(&schema, FIELD),
        _ => Some(Issue::new(FIELD, "a JSON Schema, which is an object")),
    };
    wrong.map_or(Ok(()), |wrong| Err(Error::Invalid(vec![wrong])))
}

/// Checks the input of a new session of the action and returns what to store. If no input is given and
/// `is_queued` is true, the input is built from the schema's defaults.
///
/// If the action was stored with an unusable schema, any input is accepted and a warning is logged.
///
/// # Errors
/// [`Error::Invalid`] with the paths at which the input violates the schema.
pub(crate) fn accept(action: &ActionRecord, input: Option<String>, is_queued: bool) -> Result<Option<String>> {
    let Some(schema) = schema_of(action).filter(|_| input.is_some() || is_queued) else { return Ok(input) };
    if let Err(error) = check(action) {
        tracing::warn!(action = %action.id, %error, "the input schema of an action cannot be used: inputs are not checked");
        return Ok(input);
    }
    let given: Option<Value> = input
        .as_deref()
        .map(serde_json::from_str)
        .transpose()
        .map_err(|error| Error::invalid(ROOT, format!("not readable as JSON: {error}")))?;
    let value = given.filter(|given| !given.is_null());
    let (value, stored) = match value {
        Some(value) => (value, input),
        None => {
            let defaults = default_input(&schema);
            let stored = (!defaults.is_empty()).then(|| Value::from(defaults.clone()).to_string());
            (Value::Object(defaults), stored)
        }
    };
    let errors = form_errors(&schema, &value, ROOT);
    if errors.is_empty() { Ok(stored) } else { Err(Error::Invalid(errors)) }
}
