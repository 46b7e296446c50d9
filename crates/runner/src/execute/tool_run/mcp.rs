//! What is recorded of a call of an MCP server.

use super::{
    super::{limit, mcp::Fault},
    terms::{Failed, Terms},
};
use domain::{
    limit::PROGRESS_NOTE_CHARS_MAX,
    mcp::{Block, answer, error_text, line_text},
    tool::run::{MAY_HAVE_RUN, TIME_LIMIT},
};
use serde_json::Value;
use wire::worker::Progress;

/// Error code of a run whose tool reports an error, or whose server refuses the call.
const TOOL_ERROR: &str = "tool_error";
/// Error code of a run whose server answers with something that is not of the protocol.
const ANSWER_INVALID: &str = "answer_invalid";

/// The result of the run, or its failure if the tool reports an error.
///
/// # Errors
/// The failure.
pub(super) fn result(
    structured: Option<Value>,
    content: Vec<Block>,
    is_error: bool,
    terms: &Terms,
) -> Result<Value, Failed> {
    if is_error {
        let text = error_text(&content, |text| terms.redact(text), limit::TOOL_QUOTE_CHARS_MAX);
        let text = format!("the tool reports an error: {text}");
        return Err(Failed::final_one(TOOL_ERROR, text));
    }
    let recorded = answer(structured, content, &terms.secrets);
    recorded.map_err(|why| Failed::final_one("answer_too_large", format!("{why}.{}", terms.perhaps())))
}

/// Progress as followers of the session may see it: the note on one line, without secrets and private values.
pub(super) fn for_followers(progress: Progress, terms: &Terms) -> Progress {
    let note = progress.note.as_deref().map(|note| terms.private.redact(note));
    let note = note.and_then(|note| line_text(&note, |text| terms.secrets.redact(text), PROGRESS_NOTE_CHARS_MAX));
    Progress { note, ..progress }
}

/// The failure of a call that called no tool.
pub(super) fn not_sent(fault: &Fault, terms: &Terms) -> Failed {
    let text = format!("the tool was not called: {}", fault.explained(|text| terms.redact(text)));
    match fault {
        Fault::Refused(_) => Failed::final_one("call_refused", text),
        Fault::Status { status, .. } => of_status(*status, text),
        Fault::TooLarge(_) => Failed::final_one("answer_too_large", text),
        Fault::Denied(_) | Fault::Invalid(_) => Failed::final_one(ANSWER_INVALID, text),
        Fault::Unreachable(_) | Fault::Broken(_) => {
            Failed { is_retryable: true, ..Failed::final_one("unreachable", text) }
        }
        Fault::Time => {
            let seconds = terms.time_limit.as_secs();
            let text = format!("the tool was not called: no session began within {seconds} s");
            Failed { is_retryable: true, ..Failed::final_one(TIME_LIMIT, text) }
        }
    }
}

/// The failure of a call whose tool may have run.
pub(super) fn sent(fault: &Fault, terms: &Terms) -> Failed {
    let text = fault.quoted(|text| terms.redact(text));
    let perhaps = format!("{text}.{}", terms.perhaps());
    match fault {
        Fault::Status { status, .. } => of_status(*status, text),
        Fault::Denied(_) => Failed::final_one(TOOL_ERROR, text),
        Fault::TooLarge(_) => Failed::final_one("answer_too_large", perhaps),
        Fault::Invalid(_) => Failed::final_one(ANSWER_INVALID, perhaps),
        Fault::Time => terms.time_is_over(),
        Fault::Refused(_) | Fault::Unreachable(_) | Fault::Broken(_) => {
            let code = if terms.is_repeatable { "no_answer" } else { MAY_HAVE_RUN };
            Failed { is_retryable: true, ..Failed::final_one(code, perhaps) }
        }
    }
}

fn of_status(status: u16, text: String) -> Failed {
    let is_retryable = status == 429 || status >= 500;
    Failed { status: Some(status), is_retryable, ..Failed::final_one("http_status", text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::tool::{Secret, http::Secrets};
    use std::time::Duration;

    fn terms(is_repeatable: bool) -> Terms {
        let secret = |text: &str| Secrets::new([("a".to_owned(), Secret::new(text.to_owned()))]);
        Terms { secrets: secret("hush"), private: secret("Ada"), time_limit: Duration::from_secs(5), is_repeatable }
    }

    #[test]
    fn a_failure_says_whether_the_tool_may_have_run_and_has_no_secrets() {
        let broken = Fault::Broken("reset by hush for Ada".to_owned());
        let failed = sent(&broken, &terms(false));
        assert_eq!((failed.code.as_str(), failed.is_retryable), (MAY_HAVE_RUN, true));
        assert!(failed.text.starts_with("reset by [secret] for [secret].") && failed.text.contains("may have run"));
        assert_eq!(sent(&broken, &terms(true)).code, "no_answer");
        assert_eq!(not_sent(&broken, &terms(false)).code, "unreachable");
        assert!(!not_sent(&broken, &terms(false)).text.contains("may have run"));
        assert_eq!(sent(&Fault::Time, &terms(false)).code, TIME_LIMIT);
        let status = Fault::Status { status: 503, text: "busy hush".to_owned() };
        let failed = not_sent(&status, &terms(false));
        assert_eq!((failed.status, failed.is_retryable), (Some(503), true));
        assert!(!failed.text.contains("hush"), "{}", failed.text);
    }

    #[test]
    fn a_note_about_progress_is_one_line_without_secrets() {
        let of = |note: &str| Progress { attempt: 0, done: 1, total: None, note: Some(note.to_owned()) };
        let found = for_followers(of("\u{1b}[31mfor Ada\nwith hush"), &terms(false));
        assert_eq!(found.note.as_deref(), Some("for [secret] with [secret]"));
        assert_eq!(for_followers(of("\n\u{7}"), &terms(false)).note, None);
        assert_eq!(
            for_followers(of(&"x".repeat(900)), &terms(false)).note.map(|note| note.len()),
            Some(PROGRESS_NOTE_CHARS_MAX)
        );
    }

    #[test]
    fn a_tool_that_reports_an_error_fails_the_run_with_its_text() {
        let content = vec![Block::Text("no file for Ada\nat hush".to_owned())];
        let failed = result(None, content.clone(), true, &terms(false)).unwrap_err();
        assert_eq!(failed.text, "the tool reports an error: no file for [secret] at [secret]");
        assert_eq!((failed.code.as_str(), failed.is_retryable), (TOOL_ERROR, false));
        let found = result(None, content, false, &terms(false)).unwrap();
        assert_eq!(found["content"][0]["type"], "text");
    }
}
