//! Output that is one result as a whole.

use super::{super::adapter::Failure, output::Output, split::Line};
use domain::limit::DOCUMENT_BYTES_MAX;
use serde_json::{Value, value::to_raw_value};

/// Collects the output of a command.
#[derive(Debug, Default)]
pub(super) struct Whole {
    bytes: Vec<u8>,
    is_too_large: bool,
}

impl Whole {
    /// Takes the next line, or part of a line.
    pub(super) fn push(&mut self, line: &Line) {
        if self.bytes.len() + line.bytes.len() > DOCUMENT_BYTES_MAX {
            self.is_too_large = true;
            return;
        }
        self.bytes.extend_from_slice(&line.bytes);
        if line.ends {
            self.bytes.push(b'\n');
        }
    }

    /// The result: JSON if the whole output is JSON, else the output as a text without white space at its end. No
    /// output is no result. An output that is larger than a result can be is a failure.
    pub(super) fn finish(&mut self) -> Output {
        if self.is_too_large {
            let why = format!("the output is larger than {DOCUMENT_BYTES_MAX} bytes");
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
    fn an_output_that_is_too_large_is_a_failure() {
        let half = "a".repeat(DOCUMENT_BYTES_MAX / 2 + 1);
        let failure = result(&[&half, &half]).failure.unwrap();
        assert_eq!(failure.code, "result_refused");
        assert!(result(&[&half]).failure.is_none());
    }
}
