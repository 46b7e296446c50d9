//! Which arguments of a tool are texts that an agent drafted for people, such as the body of an e-mail.
//!
//! A reviewer approves exactly what is sent, so such a text is rendered only if rendering leaves out nothing but
//! markup.

use super::values::{Control, Row};
use crate::text::markdown;

/// Arguments that hold words for people. Arguments of any other name may be code, a query or a file.
const NAMES: [&str; 14] = [
    "body",
    "text",
    "message",
    "markdown",
    "content",
    "comment",
    "description",
    "summary",
    "note",
    "notes",
    "reply",
    "answer",
    "draft",
    "post",
];

/// Whether the value of `row` is such a text. `rows` are all arguments of the call: beside a path or the name of a
/// file, a content is a file.
pub fn is_drafted(row: &Row, rows: &[Row]) -> bool {
    let writes_file = rows.iter().any(|row| {
        let key = row.key.to_ascii_lowercase();
        key.contains("path") || key.contains("file")
    });
    row.control == Control::MultiLine
        && NAMES.contains(&last_word(&row.key).as_str())
        && !writes_file
        && markdown::shows_all(&row.proposed)
}

/// The last word of a key, in lower case: `body` of `email_body` and `emailBody`.
fn last_word(key: &str) -> String {
    let begins = |(at, letter): (usize, char)| (letter.is_uppercase() || !letter.is_alphanumeric()).then_some(at);
    let from = key.char_indices().filter_map(begins).next_back().unwrap_or_default();
    key.get(from..).unwrap_or_default().trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use crate::inbox::{
        fixture::{detail, tool},
        values::rows,
    };
    use serde_json::{Value, json};

    fn drafted(input: Value) -> Vec<String> {
        let rows = rows(&detail(tool(1, input)));
        rows.iter().filter(|row| super::is_drafted(row, &rows)).map(|row| row.key.clone()).collect()
    }

    #[test]
    fn only_words_for_people_are_drafted_texts() {
        let text = "**Sorry**\n\nWe send the [invoice](https://acme.test/1) again.";
        assert_eq!(drafted(json!({ "to": "kim@acme.test", "body": text })), ["body"]);
        assert_eq!(drafted(json!({ "emailBody": text, "reply_text": text, "Message": text })).len(), 3);
        let none: [Value; 5] = [
            json!({ "command": text }),
            json!({ "path": "a.md", "content": text }),
            json!({ "file_name": "a", "text": text }),
            json!({ "body": "Short." }),
            // The reader of the rendered text would not see the title of this link.
            json!({ "body": "See\n\n[this](https://acme.test/1 \"hidden\")" }),
        ];
        for input in none {
            assert!(drafted(input.clone()).is_empty(), "{input}");
        }
    }
}
