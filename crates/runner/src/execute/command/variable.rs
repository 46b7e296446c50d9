//! Values of a claim as JSON for environment variables, shortened if they are too long.

use super::super::limit;
use serde::Serialize;
use wire::{
    feedback_request::{RequestAnswer, SessionContext},
    session::SessionError,
    worker::{Related, Resume},
};

/// A value as JSON for an environment variable; `None` if it is longer than [`limit::VARIABLE_BYTES_MAX`].
fn as_json(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value).ok().filter(|json| json.len() <= limit::VARIABLE_BYTES_MAX)
}

/// A value without the parts that make it too long for a variable. `leftOut` in its JSON says so, and the command can
/// read them from the API.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shortened<T> {
    #[serde(flatten)]
    value: T,
    left_out: bool,
}

impl<T> Shortened<T> {
    const fn new(value: T) -> Self {
        Self { value, left_out: true }
    }
}

/// A decision as JSON. If it is too long for a variable, its texts and values are left out and marked as such.
pub fn resume(decision: &Resume) -> Option<String> {
    as_json(decision).or_else(|| {
        let brief = Resume { tool_input: None, note: None, answer: None, block: None, ..decision.clone() };
        as_json(&Shortened::new(brief))
    })
}

/// Answers of people as JSON; `None` if there are none. If they are too long for a variable, their texts and values are
/// left out and marked as such.
pub fn answers(taken: &SessionContext) -> Option<String> {
    if taken.input.is_empty() {
        return None;
    }
    let brief =
        |answer: &RequestAnswer| RequestAnswer { message: String::new(), answers: None, note: None, ..answer.clone() };
    as_json(taken).or_else(|| {
        let input = taken.input.iter().map(brief).collect();
        as_json(&Shortened::new(SessionContext { input, block: String::new() }))
    })
}

/// Related sessions as a JSON array. If it is longer than [`limit::VARIABLE_BYTES_MAX`], outputs are left out and
/// marked as such; `None` if it is too long even then.
pub fn related(sessions: &[Related]) -> Option<String> {
    if sessions.is_empty() {
        return None;
    }
    let whole = serde_json::to_string(sessions).ok()?;
    if whole.len() <= limit::VARIABLE_BYTES_MAX {
        return Some(whole);
    }
    let cut = |error: &SessionError| SessionError {
        message: error.message.chars().take(limit::RELATED_ERROR_CHARS_MAX).collect(),
        code: error.code.clone(),
    };
    let brief = |session: &Related| Related {
        output: None,
        output_left_out: session.output_left_out || session.output.is_some(),
        error: session.error.as_ref().map(cut),
        ..session.clone()
    };
    let brief = serde_json::to_string(&sessions.iter().map(brief).collect::<Vec<_>>()).ok()?;
    (brief.len() <= limit::VARIABLE_BYTES_MAX).then_some(brief)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const ID: &str = "0193b0a0-0000-7000-8000-0000000000aa";

    fn parsed(variable: Option<String>) -> Value {
        serde_json::from_str(&variable.unwrap()).unwrap()
    }

    #[test]
    fn a_decision_that_is_too_long_is_there_without_its_values() {
        let decision = |text: &str| -> Resume {
            let decision = json!({
                "gateId": ID, "kind": "tool", "toolCallId": "c1", "toolName": "send", "decision": "edit",
                "toolInput": { "text": text }, "note": null, "answer": null,
            });
            serde_json::from_value(decision).unwrap()
        };
        let whole = parsed(resume(&decision("Hello")));
        assert_eq!((&whole["toolInput"]["text"], &whole["leftOut"]), (&json!("Hello"), &Value::Null));
        let brief = parsed(resume(&decision(&"x".repeat(limit::VARIABLE_BYTES_MAX))));
        assert_eq!((&brief["toolInput"], &brief["leftOut"]), (&Value::Null, &json!(true)));
        assert_eq!((&brief["gateId"], &brief["toolCallId"]), (&json!(ID), &json!("c1")));
        assert_eq!(brief["decision"], "edit");
    }

    #[test]
    fn answers_that_are_too_long_are_there_without_their_texts() {
        let taken = |text: &str| -> SessionContext {
            let at = "2026-11-21T08:00:00Z";
            let answer = json!({
                "id": ID, "requestId": ID, "sessionId": ID, "responseSessionId": null, "message": "Which region?",
                "blocking": false, "viewId": ID, "version": 1,
                "respondent": { "kind": "user", "label": "ann@acme.test", "assurance": "signed_in" },
                "outcome": "answered", "answers": { "answer": text }, "note": null, "late": false,
                "depositedAt": at, "consumedAt": at, "consumedAttempt": 1,
            });
            serde_json::from_value(json!({ "input": [answer], "block": text })).unwrap()
        };
        let whole = parsed(answers(&taken("EU")));
        assert_eq!((&whole["block"], &whole["leftOut"]), (&json!("EU"), &Value::Null));
        let brief = parsed(answers(&taken(&"x".repeat(limit::VARIABLE_BYTES_MAX))));
        let answer = &brief["input"][0];
        assert_eq!((&answer["answers"], &brief["leftOut"]), (&Value::Null, &json!(true)));
        assert_eq!((&answer["requestId"], &answer["outcome"]), (&json!(ID), &json!("answered")));
        assert_eq!(answers(&SessionContext::default()), None);
    }
}
