//! `ask_person`: asks a person a question. The session waits until it is answered.

use domain::gate::Question;
use serde_json::{Value, json};

pub const DESCRIPTION: &str = "Asks a person and waits for the answer, which can take days. Ask only what you cannot \
find out yourself, one thing at a time. With `schema`, a JSON Schema of an object, the person gets a form.";

pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "message": { "type": "string", "minLength": 1, "maxLength": 4_000 },
            "schema": { "type": "object" },
        },
        "required": ["message"],
        "additionalProperties": false,
    })
}

/// The question of a call with validated input.
pub fn question(input: &Value) -> Question {
    let message = input["message"].as_str().unwrap_or_default().to_owned();
    Question::new(message, input.get("schema").cloned())
}

/// What the server would refuse in the question of a call with validated input; empty if people can be asked.
pub fn problems(input: &Value) -> Vec<String> {
    match ledger::session::check_question(&question(input)) {
        Ok(()) => Vec::new(),
        Err(ledger::Error::Invalid(issues)) => {
            issues.into_iter().map(|issue| format!("{}: {}", issue.field, issue.message)).collect()
        }
        Err(error) => vec![error.to_string()],
    }
}
