//! Values of a claim as JSON for environment variables, shortened if they are too long.

use super::super::limit;
use serde::Serialize;
use serde_json::value::RawValue;
use wire::{
    feedback_request::{RequestAnswer, SessionContext},
    session::SessionError,
    worker::{ClaimedMessage, Related, Resume, ToolResult},
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

/// Results of custom tools as a JSON array; `None` if there are none. Outputs of results that do not fit into the
/// variable are null and marked with `leftOut`, from the last one on.
pub fn tool_results(results: &[ToolResult]) -> Option<String> {
    fitting(results, |result| ToolResult { output: RawValue::NULL.to_owned(), ..result.clone() })
}

/// Messages as a JSON array; `None` if there are none. Texts of messages that do not fit into the variable are empty
/// and marked with `leftOut`, from the first one on: the newest message is the one to answer.
pub fn messages(messages: &[ClaimedMessage]) -> Option<String> {
    let newest_first: Vec<_> = messages.iter().rev().cloned().collect();
    let all = fitting(&newest_first, |message| ClaimedMessage { text: String::new(), ..message.clone() })?;
    let oldest_first: Vec<Box<RawValue>> = serde_json::from_str(&all).ok()?;
    as_json(&oldest_first.iter().rev().collect::<Vec<_>>())
}

/// A list as a JSON array in which as many of the first entries as fit are whole, and the others `brief` and marked
/// with `leftOut`; `None` if it is empty, or if it is too long even so.
fn fitting<T: Serialize>(list: &[T], brief: impl Fn(&T) -> T) -> Option<String> {
    let (whole, brief): (Vec<String>, Vec<String>) = list
        .iter()
        .filter_map(|entry| {
            let short = serde_json::to_string(&Shortened::new(brief(entry))).ok()?;
            Some((serde_json::to_string(entry).ok()?, short))
        })
        .unzip();
    // The brackets; each entry has a comma.
    let mut bytes = 2 + brief.iter().map(|entry| entry.len() + 1).sum::<usize>();
    let fits = |at: &usize| {
        bytes = (bytes + whole[*at].len()).saturating_sub(brief[*at].len());
        bytes <= limit::VARIABLE_BYTES_MAX
    };
    let kept = (0..whole.len()).take_while(fits).count();
    let entries = whole.iter().take(kept).chain(brief.iter().skip(kept)).map(String::as_str);
    let json = format!("[{}]", entries.collect::<Vec<_>>().join(","));
    (!list.is_empty() && json.len() <= limit::VARIABLE_BYTES_MAX).then_some(json)
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
    fn results_and_messages_that_are_too_long_together_are_there_without_their_texts() {
        let half = "x".repeat(limit::VARIABLE_BYTES_MAX / 2);
        let result = |n: u32, output: &str| -> ToolResult {
            let result = json!({
                "toolCallId": format!("c{n}"), "toolName": "build", "output": output, "isError": false,
                "by": "system", "at": "2026-11-21T08:00:00Z",
            });
            serde_json::from_value(result).unwrap()
        };
        let whole = parsed(tool_results(&[result(1, "a"), result(2, "b")]));
        assert_eq!(whole[1], json!(result(2, "b")), "as in the claim");
        let cut = parsed(tool_results(&[result(1, "a"), result(2, &half), result(3, &half), result(4, "d")]));
        let shown: Vec<_> = cut.as_array().unwrap().iter().map(|one| (&one["toolCallId"], &one["leftOut"])).collect();
        let (no, yes) = (&Value::Null, &json!(true));
        assert_eq!(shown, [(&json!("c1"), no), (&json!("c2"), no), (&json!("c3"), yes), (&json!("c4"), yes)]);
        assert_eq!(cut[2]["output"], Value::Null);
        let many: Vec<_> = (0..100).map(|n| result(n, &half)).collect();
        assert_eq!(parsed(tool_results(&many)).as_array().unwrap().len(), 100);
        let message = |sequence: u64, text: &str| -> ClaimedMessage {
            let message = json!({ "sequence": sequence, "text": text, "by": "system", "at": "2026-11-21T08:00:00Z" });
            serde_json::from_value(message).unwrap()
        };
        let kept = parsed(messages(&[message(4, &half), message(5, &half), message(6, "Go on.")]));
        let shown: Vec<_> = kept.as_array().unwrap().iter().map(|one| (&one["sequence"], &one["leftOut"])).collect();
        assert_eq!(shown, [(&json!(4), yes), (&json!(5), no), (&json!(6), no)]);
        assert_eq!((tool_results(&[]), messages(&[])), (None, None));
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
