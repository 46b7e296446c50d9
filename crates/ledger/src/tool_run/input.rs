//! The check of the input of a run.

use crate::{
    Error, Ledger, Result,
    tool::{get_on, input_errors, published_on},
};
use domain::{Scope, action::default_input, issue::Issue, tool::Definition};
use serde_json::{Map, Value};

/// What was found before the transaction, which other writers wait for.
pub(super) struct CheckedInput {
    /// The schema against which the input was checked.
    schema: Value,
    /// Problems of the input.
    errors: Vec<Issue>,
}

/// Checks an input against the version that is published, or the working copy for a test, before the transaction of the
/// run. `None` if there is no such tool, or it is not published, which the transaction says.
pub(super) async fn check_ahead(
    ledger: &Ledger,
    scope: &Scope,
    (slug, is_test): (&str, bool),
    input: Option<&Map<String, Value>>,
) -> Result<Option<CheckedInput>> {
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let found = if is_test {
            get_on(conn, tenant_id, &slug).await.map(|tool| tool.definition)
        } else {
            published_on(conn, tenant_id, &slug).await.map(|(_, version)| version.definition)
        };
        match found {
            Ok(definition) => Ok(Some(definition)),
            Err(Error::NotFound(_) | Error::WrongState { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    });
    let Some(definition) = read.await? else { return Ok(None) };
    let errors = input_errors(&definition, &whole(&definition, input.cloned()));
    Ok(Some(CheckedInput { schema: definition.input_schema, errors }))
}

/// The input of a run, with the defaults of the schema if none is given. It is checked again if the schema has changed
/// since it was checked.
///
/// # Errors
/// [`Error::Invalid`] for an input that the schema refuses.
pub(super) fn valid_input(
    definition: &Definition,
    input: Option<Map<String, Value>>,
    checked: Option<CheckedInput>,
) -> Result<Value> {
    let input = whole(definition, input);
    let errors = match checked {
        Some(checked) if checked.schema == definition.input_schema => checked.errors,
        Some(_) | None => input_errors(definition, &input),
    };
    if errors.is_empty() { Ok(input) } else { Err(Error::Invalid(errors)) }
}

fn whole(definition: &Definition, input: Option<Map<String, Value>>) -> Value {
    Value::Object(input.unwrap_or_else(|| default_input(&definition.input_schema)))
}
