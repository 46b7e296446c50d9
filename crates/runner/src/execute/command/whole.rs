//! Output that is one result as a whole, but for lines of progress.

use super::{super::adapter::Failure, output::Output, split::Line};
use domain::{
    limit::{PROGRESS_NOTE_CHARS_MAX, TOOL_RESULT_BYTES_MAX},
    line::is_line,
};
use serde::Deserialize;
use serde_json::{Value, value::to_raw_value};
use wire::worker::Progress;

/// A line of progress: `{"type": "progress", "done": 3, "total": 10, "note": "…"}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgressLine {
    #[serde(rename = "type")]
    kind: String,
    done: u64,
    total: Option<u64>,
    note: Option<String>,
}

/// The progress on a line; `None` for a line of the result. A note that is none is left out.
fn progress(line: &Line) -> Option<Progress> {
    if !line.begins || !line.ends {
        return None;
    }
    let ProgressLine { kind, done, total, note } = serde_json::from_slice(&line.bytes).ok()?;
    let total = total.filter(|total| *total >= done);
    let note = note.filter(|note| is_line(note, PROGRESS_NOTE_CHARS_MAX));
    (kind == "progress").then_some(Progress { attempt: 0, done, total, note })
}

/// Collects the output of a command.
#[derive(Debug, Default)]
pub(super) struct Whole {
    bytes: Vec<u8>,
    is_too_large: bool,
}

impl Whole {
    /// Takes the next line, or part of a line. Returns the progress on it, which is no part of the result.
    pub(super) fn push(&mut self, line: &Line) -> Option<Progress> {
        if let Some(progress) = progress(line) {
            return Some(progress);
        }
        if self.bytes.len() + line.bytes.len() > TOOL_RESULT_BYTES_MAX {
            self.is_too_large = true;
            return None;
        }
        self.bytes.extend_from_slice(&line.bytes);
        if line.ends {
            self.bytes.push(b'\n');
        }
        None
    }

    /// The result: JSON if the whole output is JSON, else the output as a text without white space at its end. No
    /// output is no result. An output that is larger than a result can be is a failure.
    pub(super) fn finish(&mut self) -> Output {
        if self.is_too_large {
            let why = format!("the output is larger than {TOOL_RESULT_BYTES_MAX} bytes");
            return Output { failure: Some(Failure::new("result_refused", why)), ..Output::default() };
        }
        let bytes = std::mem::take(&mut self.bytes);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        if text.is_empty() {
            return Output::default();
        }
        let result = serde_json::from_str::<Value>(text).unwrap_or_else(|_| text.into());
        Output { result: to_raw_value(&result).ok(), ..Output::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(lines: &[&str]) -> Output {
        let mut whole = Whole::default();
        for line in lines {
            whole.push(&Line { bytes: line.as_bytes().to_vec(), begins: true, ends: true });
        }
        whole.finish()
    }

    #[test]
    fn the_whole_output_is_the_result() {
        let json = |lines: &[&str]| result(lines).result.map(|result| result.get().to_owned());
        assert_eq!(json(&["{", "  \"a\": 1", "}"]).as_deref(), Some("{\"a\":1}"));
        assert_eq!(json(&["42"]).as_deref(), Some("42"));
        assert_eq!(json(&["one", "two", ""]).as_deref(), Some("\"one\\ntwo\""));
        assert_eq!(json(&["{\"a\":"]).as_deref(), Some("\"{\\\"a\\\":\""));
        assert_eq!(json(&[]), None);
        assert_eq!(json(&["", ""]), None);
    }

    #[test]
    fn a_line_of_progress_is_no_part_of_the_result() {
        let mut whole = Whole::default();
        let mut read = |text: &str| whole.push(&Line { bytes: text.as_bytes().to_vec(), begins: true, ends: true });
        let found = read(r#"{"type":"progress","done":3,"total":10,"note":"reading"}"#).unwrap();
        assert_eq!((found.done, found.total, found.note.as_deref()), (3, Some(10), Some("reading")));
        let odd = read(r#"{ "type": "progress", "done": 3, "total": 2, "note": "two\nlines" }"#).unwrap();
        assert_eq!((odd.done, odd.total, odd.note), (3, None, None));
        for line in [r#"{"type":"progress"}"#, r#"{"type":"other","done":1}"#, r#"{"done":1}"#, "done"] {
            assert_eq!(read(line), None, "{line}");
        }
        assert!(whole.finish().result.unwrap().get().contains("done"));
    }

    #[test]
    fn an_output_that_is_too_large_is_a_failure() {
        let half = "a".repeat(TOOL_RESULT_BYTES_MAX / 2 + 1);
        let failure = result(&[&half, &half]).failure.unwrap();
        assert_eq!(failure.code, "result_refused");
        assert!(result(&[&half]).failure.is_none());
    }
}
