//! A tool call with its result: one line that unfolds to arguments and output.

use super::part::{Answer, Call};
use crate::text::{
    duration,
    html::Html,
    json::{self, PAYLOAD_CHARS_MAX},
    number, shorten,
};
use serde_json::value::RawValue;

/// Longest list of arguments on the line, characters.
const ARGS_CHARS_MAX: usize = 120;
/// Longest single argument on the line, characters.
const ARG_CHARS_MAX: usize = 48;
/// Longest summary of a result on the line, characters.
const OUTCOME_CHARS_MAX: usize = 80;
/// Larger inputs and outputs are not parsed for the line, bytes.
const LOOK_INTO_BYTES_MAX: usize = 64 * 1024;

/// The arguments on one line: `query: "x", limit: 5`.
pub fn arguments(input: Option<&RawValue>) -> String {
    let Some(raw) = input else { return String::new() };
    if raw.get().len() > LOOK_INTO_BYTES_MAX {
        return "…".to_owned();
    }
    let members = json::members(raw.get());
    if members.is_empty() {
        return match raw.get() {
            "{}" | "null" | "[]" => String::new(),
            text => shorten::one_line(text, ARG_CHARS_MAX),
        };
    }
    let mut line = String::new();
    for (key, value) in members {
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(&key);
        line.push_str(": ");
        line.push_str(&shorten::one_line(value.get(), ARG_CHARS_MAX));
        if line.len() > ARGS_CHARS_MAX {
            break;
        }
    }
    shorten::one_line(&line, ARGS_CHARS_MAX)
}

/// A summary of the result: `12 results`, `ok`, `failed: not found`.
pub fn outcome(answer: &Answer<'_>) -> String {
    let said = answer.output.map(summary).unwrap_or_default();
    if answer.is_error {
        return if said.is_empty() { "failed".to_owned() } else { format!("failed: {said}") };
    }
    if said.is_empty() { "done".to_owned() } else { said }
}

fn summary(raw: &RawValue) -> String {
    let text = raw.get();
    if text.len() > LOOK_INTO_BYTES_MAX {
        return format!("{} KB", number::grouped(text.len() as u64 / 1024));
    }
    let size = |raw: &RawValue| serde_json::from_str::<Vec<&RawValue>>(raw.get()).map_or(0, |items| items.len() as u64);
    match text.as_bytes().first() {
        Some(b'[') => number::counted(size(raw), "item"),
        Some(b'{') => {
            let members = json::members(text);
            // The AI SDK wraps an output as {type, value}.
            if let [(first, _), (second, value)] = members.as_slice()
                && first == "type"
                && second == "value"
            {
                return summary(value);
            }
            let named = members.iter().find(|(key, _)| {
                matches!(&**key, "message" | "text" | "summary" | "error" | "content" | "output" | "stdout")
            });
            if let Some(text) = named.and_then(|(_, value)| json::string(value)) {
                return shorten::one_line(&text, OUTCOME_CHARS_MAX);
            }
            if let Some((key, list)) = members.iter().find(|(_, value)| value.get().starts_with('[')) {
                let key = shorten::one_line(key, 24);
                let count = size(list);
                let key = if count == 1 { number::singular(&key) } else { key };
                return format!("{} {key}", number::grouped(count));
            }
            number::counted(members.len() as u64, "field")
        }
        Some(b'n') => String::new(),
        _ => json::string(raw).map_or_else(|| text.to_owned(), |text| shorten::one_line(&text, OUTCOME_CHARS_MAX)),
    }
}

/// The end of the line: summary and duration.
pub fn outcome_line(answer: &Answer<'_>, duration_ms: Option<u64>) -> String {
    match duration_ms {
        Some(ms) => format!("{}, {}", outcome(answer), duration::words(ms)),
        None => outcome(answer),
    }
}

/// Writes a call, with its result if it is known. Otherwise leaves an empty element for it.
pub fn write_call(html: &mut Html, call: &Call<'_>, joined: Option<(&Answer<'_>, u64, Option<u64>)>) {
    let state = match joined {
        None => "waiting",
        Some((answer, ..)) if answer.is_error => "failed",
        Some(_) => "done",
    };
    html.raw("<details class=\"tool\" data-tool-call-id=\"").text(&call.id).raw("\" data-state=\"").raw(state);
    html.raw("\"><summary><span class=\"tool-call\"><span class=\"tool-name\">").text(&call.name);
    html.raw("</span><span class=\"tool-args\">(")
        .text(&arguments(call.input))
        .raw(")</span></span><span class=\"tool-outcome\">");
    match joined {
        Some((answer, _, duration_ms)) => html.text(&outcome_line(answer, duration_ms)),
        None => html.raw("no answer yet"),
    };
    html.raw("</span></summary><div class=\"tool-sides\"><div class=\"tool-side\"><h3>Input");
    copy(html);
    html.raw("</h3>");
    payload(html, call.input);
    html.raw("</div><div class=\"tool-side tool-answer\"");
    if let Some((answer, sequence, _)) = joined {
        html.raw(" id=\"seq-").number(sequence).raw("\"");
        write_answer_side(html, answer);
    } else {
        html.raw("><h3>Output</h3><p class=\"meta\">Not yet.</p>");
    }
    html.raw("</div></div></details>");
}

/// Writes a result without its call. The browser moves it to its call if that is on the page.
pub fn write_answer(html: &mut Html, answer: &Answer<'_>) {
    let state = if answer.is_error { "failed" } else { "done" };
    html.raw("<details class=\"tool\" data-answers=\"").text(&answer.id).raw("\" data-state=\"").raw(state);
    html.raw("\"><summary><span class=\"tool-call\"><span class=\"tool-name\">");
    html.text(if answer.name.is_empty() { "tool" } else { &answer.name });
    html.raw("</span></span><span class=\"tool-outcome\">").text(&outcome(answer));
    html.raw("</span></summary><div class=\"tool-sides\"><div class=\"tool-side tool-answer\"");
    write_answer_side(html, answer);
    html.raw("</div></div></details>");
}

fn write_answer_side(html: &mut Html, answer: &Answer<'_>) {
    html.raw("><h3>").raw(if answer.is_error { "Error" } else { "Output" });
    copy(html);
    html.raw("</h3>");
    payload(html, answer.output);
}

fn copy(html: &mut Html) {
    html.raw("<button class=\"button js-only\" type=\"button\" data-look=\"quiet\" data-size=\"small\" data-copy=\"\"><span>Copy</span></button>");
}

/// Writes JSON as a block; a JSON string as plain text.
pub fn payload(html: &mut Html, raw: Option<&RawValue>) {
    let Some(raw) = raw else {
        html.raw("<p class=\"meta\">Nothing.</p>");
        return;
    };
    html.raw("<pre class=\"payload\" tabindex=\"0\">");
    let cut = if let Some(text) = json::string(raw) {
        html.text(shorten::head(&text, PAYLOAD_CHARS_MAX));
        text.len() > PAYLOAD_CHARS_MAX
    } else {
        let (text, cut) = json::indented(raw.get(), PAYLOAD_CHARS_MAX);
        html.text(&text);
        cut
    };
    html.raw("</pre>");
    if cut {
        html.raw("<p class=\"meta\">Only part is shown. The event as JSON has all of it.</p>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn said(output: &str, is_error: bool) -> String {
        let output = raw(output);
        let answer = Answer {
            id: Cow::Borrowed("a"),
            name: Cow::Borrowed("t"),
            output: Some(&output),
            is_error,
            duration_ms: None,
        };
        outcome(&answer)
    }

    #[test]
    fn arguments_are_one_short_line_in_the_order_sent() {
        assert_eq!(arguments(Some(&raw(r#"{"query":"a b","limit":5}"#))), r#"query: "a b", limit: 5"#);
        assert_eq!(arguments(Some(&raw("{}"))), "");
        assert!(arguments(Some(&raw(&format!("{{\"x\":\"{}\"}}", "é".repeat(10_000))))).chars().count() < 60);
    }

    #[test]
    fn outcomes_count_what_can_be_counted() {
        assert_eq!(said("[1,2,3]", false), "3 items");
        assert_eq!(said(r#"{"results":[1,2],"took":3}"#, false), "2 results");
        assert_eq!(said(r#"{"rows":[1]}"#, false), "1 row");
        assert_eq!(said(r#"{"matches":[]}"#, false), "0 matches");
        assert_eq!(said(r#"{"data":[1]}"#, false), "1 data");
        assert_eq!(said(r#"{"type":"json","value":[1]}"#, false), "1 item");
        assert_eq!(said(r#"{"stdout":"7 passed","stderr":"","interrupted":false}"#, false), "7 passed");
        assert_eq!(said(r#""two\nlines""#, false), "two lines");
        assert_eq!(said(r#"{"type":"error-text","value":"no such file"}"#, true), "failed: no such file");
        assert_eq!(
            (said("null", false), said("null", true), said("true", false)),
            ("done".into(), "failed".into(), "true".into())
        );
    }
}
