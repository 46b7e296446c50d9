//! A tool call with its result: one line that unfolds to arguments and output.

use super::{
    part::{Answer, Call},
    view_model::Joined,
};
use crate::{
    result::{Look, Picture, Source, leading_text, unwrapped, write_shape, write_value},
    text::{duration, html::Html, json, number, shorten, terminal},
};
use serde_json::value::RawValue;

/// Longest list of arguments on the line, characters.
const ARGS_CHARS_MAX: usize = 120;
/// Longest single argument on the line, characters.
const ARG_CHARS_MAX: usize = 48;
/// Longest summary of a result on the line, characters.
const OUTCOME_CHARS_MAX: usize = 80;
/// Most plain values of a result on the line.
const VALUES_MAX: usize = 3;
/// How many bytes of a text are read for each character on the line: control sequences take some.
const BYTES_OF_CHAR: usize = 16;
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
            _ => value_words(raw, ARG_CHARS_MAX),
        };
    }
    let mut line = String::new();
    for (key, value) in members {
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(&key);
        line.push_str(": ");
        line.push_str(&value_words(value, ARG_CHARS_MAX));
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

/// A value on one line: a text in quotes, other values as JSON.
fn value_words(raw: &RawValue, chars_max: usize) -> String {
    match json::string(raw) {
        Some(text) => match Picture::of(&text) {
            Some(picture) => picture.words(),
            None => format!("\"{}\"", text_words(&text, chars_max)),
        },
        None => shorten::one_line(&json::readable(raw.get()), chars_max),
    }
}

/// A text on one line, without control sequences. Only its start is read.
fn text_words(text: &str, chars_max: usize) -> String {
    let head = shorten::head(text, chars_max.saturating_mul(BYTES_OF_CHAR));
    shorten::one_line(&terminal::plain(head), chars_max)
}

/// The number of items of an array.
fn size(raw: &RawValue) -> u64 {
    serde_json::from_str::<Vec<&RawValue>>(raw.get()).map_or(0, |items| items.len() as u64)
}

fn summary(raw: &RawValue) -> String {
    if raw.get().len() > LOOK_INTO_BYTES_MAX {
        return format!("{} KB", number::grouped(raw.get().len() as u64 / 1024));
    }
    if let Some(text) = leading_text(raw) {
        return match Picture::of(&text) {
            Some(picture) => picture.words(),
            None => text_words(&text, OUTCOME_CHARS_MAX),
        };
    }
    let raw = unwrapped(raw);
    match raw.get().as_bytes().first() {
        Some(b'[') => number::counted(size(raw), "item"),
        Some(b'{') => members_summary(raw),
        Some(b'n') => String::new(),
        _ => number::shown_digits(raw.get()),
    }
}

/// An object on one line: what it says, else how much it lists, else its first plain values.
fn members_summary(raw: &RawValue) -> String {
    let members = json::members(raw.get());
    let is_named = |key: &str| {
        matches!(key, "message" | "text" | "summary" | "error" | "content" | "output" | "stdout" | "stderr")
    };
    let mut said = members.iter().filter(|(key, _)| is_named(key)).filter_map(|(_, value)| leading_text(value));
    if let Some(text) = said.find(|text| !text.trim().is_empty()) {
        return text_words(&text, OUTCOME_CHARS_MAX);
    }
    if let Some((key, list)) = members.iter().find(|(_, value)| value.get().starts_with('[')) {
        let key = shorten::one_line(key, 24);
        let count = size(list);
        let key = if count == 1 { number::singular(&key) } else { key };
        return format!("{} {key}", number::grouped(count));
    }
    let plain = members.iter().filter(|(_, value)| !value.get().starts_with(['{', 'n']) && value.get() != "\"\"");
    let plain = plain.take(VALUES_MAX).map(|(key, value)| {
        let value = match json::string(value) {
            Some(text) => text_words(&text, ARG_CHARS_MAX),
            None => number::shown_digits(value.get()),
        };
        format!("{}: {value}", shorten::one_line(key, 24))
    });
    let words = plain.collect::<Vec<_>>().join(", ");
    if words.is_empty() {
        number::counted(members.len() as u64, "field")
    } else {
        shorten::one_line(&words, OUTCOME_CHARS_MAX)
    }
}

/// The end of the line: summary and duration.
pub fn outcome_line(answer: &Answer<'_>, duration_ms: Option<u64>) -> String {
    match duration_ms {
        Some(ms) => format!("{}, {}", outcome(answer), duration::words(ms)),
        None => outcome(answer),
    }
}

/// Writes a call, with its result if it is known. Otherwise leaves an empty element for it. `is_open` unfolds it.
pub fn write_call(html: &mut Html, call: &Call<'_>, joined: Option<&Joined<'_>>, is_open: bool, source: Source<'_>) {
    let state = match joined {
        None => "waiting",
        Some(joined) if joined.answer.is_error => "failed",
        Some(_) => "done",
    };
    write_details(html, is_open);
    html.raw(" data-tool-call-id=\"").text(&call.id).raw("\" data-state=\"").raw(state);
    html.raw("\"><summary><span class=\"tool-call\"><span class=\"tool-name\">").text(&call.name);
    html.raw("</span><span class=\"tool-args\">(")
        .text(&arguments(call.input))
        .raw(")</span></span><span class=\"tool-outcome\">");
    match joined {
        Some(joined) => html.text(&outcome_line(&joined.answer, joined.duration_ms)),
        None => html.raw("no answer yet"),
    };
    html.raw("</span></summary><div class=\"tool-sides\"><div class=\"tool-side\"><h3>Input");
    copy(html);
    html.raw("</h3>");
    write_value(html, call.input, Some(source));
    html.raw("</div><div class=\"tool-side tool-answer\"");
    if let Some(Joined { answer, sequence, .. }) = joined {
        html.raw(" id=\"seq-").number(*sequence).raw("\"");
        write_answer_side(html, answer, Source { sequence: *sequence, ..source });
    } else {
        html.raw("><h3>Output</h3><p class=\"meta\">Not yet.</p>");
    }
    html.raw("</div></div></details>");
}

/// Writes a result without its call. The browser moves it to its call if that is on the page. `is_open` unfolds it.
pub fn write_answer(html: &mut Html, answer: &Answer<'_>, is_open: bool, source: Source<'_>) {
    let state = if answer.is_error { "failed" } else { "done" };
    write_details(html, is_open);
    html.raw(" data-answers=\"").text(&answer.id).raw("\" data-state=\"").raw(state);
    html.raw("\"><summary><span class=\"tool-call\"><span class=\"tool-name\">");
    html.text(if answer.name.is_empty() { "tool" } else { &answer.name });
    html.raw("</span></span><span class=\"tool-outcome\">").text(&outcome(answer));
    html.raw("</span></summary><div class=\"tool-sides\"><div class=\"tool-side tool-answer\"");
    write_answer_side(html, answer, source);
    html.raw("</div></div></details>");
}

/// Writes the start of the tag of a call or result.
fn write_details(html: &mut Html, is_open: bool) {
    html.raw("<details class=\"tool\"").raw(if is_open { " open" } else { "" });
}

fn write_answer_side(html: &mut Html, answer: &Answer<'_>, source: Source<'_>) {
    html.raw("><h3>").raw(if answer.is_error { "Error" } else { "Output" });
    copy(html);
    html.raw("</h3>");
    if !answer.output.is_some_and(|output| write_shape(html, unwrapped(output), Look::Log)) {
        write_value(html, answer.output, Some(source));
    }
}

fn copy(html: &mut Html) {
    html.raw("<button class=\"button js-only\" type=\"button\" data-look=\"quiet\" data-size=\"small\" data-copy=\"\"><span>Copy</span></button>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn result_of(output: &str, is_error: bool) -> String {
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
    fn a_result_without_a_text_or_a_list_shows_its_first_values() {
        assert_eq!(result_of(r#"{"rows":41,"file":"src/m41.rs"}"#, false), "rows: 41, file: src/m41.rs");
        assert_eq!(result_of(r#"{"a":null,"b":{"c":1},"d":true}"#, false), "d: true");
        assert_eq!(
            result_of(r#"{"amount":1290000,"year":2026,"id":"1290000"}"#, false),
            "amount: 1,290,000, year: 2026, id: 1290000"
        );
        assert_eq!(result_of("-125000.5", false), "-125,000.5");
        assert_eq!(result_of(r#"{"b":{"c":1}}"#, false), "1 field");
    }

    #[test]
    fn escapes_of_json_are_decoded_on_the_line() {
        let given = r#"{"text":"Dear Kim, \u2026","to":{"name":"\u00dcmit"},"face":"\ud83d\ude00\n"}"#;
        assert_eq!(arguments(Some(&raw(given))), "text: \"Dear Kim, …\", to: {\"name\":\"Ümit\"}, face: \"😀\"");
    }

    #[test]
    fn outcomes_count_what_can_be_counted() {
        assert_eq!(result_of("[1,2,3]", false), "3 items");
        assert_eq!(result_of(r#"{"results":[1,2],"took":3}"#, false), "2 results");
        assert_eq!(result_of(r#"{"rows":[1]}"#, false), "1 row");
        assert_eq!(result_of(r#"{"matches":[]}"#, false), "0 matches");
        assert_eq!(result_of(r#"{"data":[1]}"#, false), "1 data");
        assert_eq!(result_of(r#"{"type":"json","value":[1]}"#, false), "1 item");
        assert_eq!(result_of(r#"{"stdout":"7 passed","stderr":"","interrupted":false}"#, false), "7 passed");
        assert_eq!(result_of(r#""two\nlines""#, false), "two lines");
        assert_eq!(result_of(r#"{"type":"text","value":"\u001b[31merror\u001b[0m[E0382]"}"#, false), "error[E0382]");
        assert_eq!(result_of(r#"{"content":[{"type":"text","text":"7 files"}],"isError":false}"#, false), "7 files");
        assert_eq!(result_of(r#"{"stdout":"","stderr":"no such file","code":2}"#, false), "no such file");
        assert_eq!(result_of(r#"{"type":"error-text","value":"no such file"}"#, true), "failed: no such file");
        assert_eq!(
            (result_of("null", false), result_of("null", true), result_of("true", false)),
            ("done".into(), "failed".into(), "true".into())
        );
    }
}
