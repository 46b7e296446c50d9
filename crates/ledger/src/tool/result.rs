//! Checks the input and the result of a run against the schemas of the version that it names.

use super::access::definition_of_run;
use crate::{
    Result,
    commit::{Change, state, write},
    output::{CODE, pointer_errors, refusal, sentence, shorten_all},
};
use domain::{
    event::kind::{Failure, SessionError},
    issue::Issue,
    session::{Command, Report, Session, decide},
    tool::Definition,
};
use serde_json::Value;
use store::{Conn, WriteTx};

/// Name of the result in error messages. The JSON Pointer of a part follows.
const RESULT: &str = "result";

/// Name of the input in error messages. The JSON Pointer of a part follows.
pub(crate) const INPUT: &str = "input";

/// Returns where an input violates the schema of a tool: `input`, and the JSON Pointer of the part.
pub fn input_errors(definition: &Definition, input: &Value) -> Vec<Issue> {
    let mut errors = pointer_errors(&definition.input_schema, input, INPUT);
    shorten_all(&mut errors);
    errors
}

/// Returns the schema that the result of a session must fulfil; `None` if it runs no tool, or one without such a
/// schema. It never changes: a run names its version.
///
/// # Errors
/// [`crate::Error::Internal`] if the version is not there.
pub(crate) async fn output_schema(conn: &mut Conn<'_>, session: &Session) -> Result<Option<Value>> {
    Ok(definition_of_run(conn, session).await?.and_then(|(_, definition)| definition.output_schema))
}

/// Returns where a result violates an output schema: `result`, and the JSON Pointer of the part.
pub(crate) fn schema_errors(schema: &Value, result: Option<&str>) -> Vec<Issue> {
    let result: Value = match result.map(serde_json::from_str).transpose() {
        Ok(result) => result.unwrap_or_default(),
        Err(error) => return vec![Issue::new(RESULT, format!("not readable as JSON: {error}"))],
    };
    let mut errors = pointer_errors(schema, &result, RESULT);
    shorten_all(&mut errors);
    errors
}

/// Fails a session whose result violates the output schema. `change` is the completion that the worker sent.
///
/// # Errors
/// [`crate::Error::Refused`] if the session cannot fail in its status.
pub(crate) async fn fail_result(
    tx: &mut WriteTx<'_>,
    before: Session,
    mut change: Change,
    (result, usage): (Option<&str>, Option<String>),
    errors: &[Issue],
) -> Result<Session> {
    let transition = decide(state(&before), change.actor, Command::Fail)?;
    let text = sentence(errors);
    let refused = Failure::Refused(refusal(before.attempt, result, errors));
    let event = change.minter.event(&SessionError::new(&text, refused));
    change.reason = "its result violates the output schema of the tool".into();
    let report = Report { usage, ..Report::error(text, CODE) };
    write(tx, before, transition, change, vec![event], report).await
}
