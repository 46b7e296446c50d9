//! Character cards, version 2 and 3: their JSON, unpacked to documents below `self/`.

use super::MemoryPath;
use crate::{
    event::json_depth,
    limit::{JSON_DEPTH_MAX, NAME_CHARS_MAX},
    line::{changes_direction, is_line},
    names::names,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// Fields that are texts. Each becomes a document of its own; an empty one becomes none.
const TEXTS: [&str; 11] = [
    "description",
    "personality",
    "scenario",
    "first_mes",
    "mes_example",
    "creator_notes",
    "system_prompt",
    "post_history_instructions",
    "creator",
    "character_version",
    "nickname",
];
/// Fields that are lists of texts.
const LISTS: [&str; 4] = ["alternate_greetings", "group_only_greetings", "tags", "source"];
/// The field that names the character.
const NAME: &str = "name";
/// The document with all other fields, as JSON.
const REST: &str = "card_fields";

/// The first bytes of a PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The format of a card's file. Its name is the content type of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CardFormat {
    /// A PNG with the card in a text chunk.
    #[serde(rename = "image/png")]
    Png,
    /// The card's JSON.
    #[serde(rename = "application/json")]
    Json,
}

names!(CardFormat { Png = "image/png", Json = "application/json" });

impl CardFormat {
    /// The format of a file whose type is not known, by its first bytes.
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.starts_with(PNG) { Self::Png } else { Self::Json }
    }
}

/// Why a card was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCard {
    /// The text is not JSON.
    #[error("This file is not valid JSON (line {line}).")]
    Json {
        /// Line of the first fault, from 1.
        line: usize,
    },
    /// The JSON is nested too deeply.
    #[error("the card is nested more than {JSON_DEPTH_MAX} levels deep")]
    Depth,
    /// The card has no known `spec`.
    #[error("the card's `spec` is {0}; cards of version 2 (`chara_card_v2`) and 3 (`chara_card_v3`) can be read")]
    Spec(String),
    /// A field is missing or has the wrong type.
    #[error("the card's `{field}` {problem}")]
    Field {
        /// Name of the field, as it is in the card.
        field: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The image is no PNG, or a damaged one.
    #[error("the image is not a whole PNG: {0}")]
    Png(&'static str),
    /// The image is too large when it is unpacked.
    #[error("the image has {width} × {height} pixels; a card has at most {max}")]
    Pixels {
        /// Width of the image.
        width: u32,
        /// Height of the image.
        height: u32,
        /// Most pixels.
        max: u64,
    },
    /// A part of the image unpacks to too much.
    #[error("the image's chunk `{packed}` unpacks to more than {max} bytes")]
    Unpacks {
        /// Compressed part of the image.
        packed: Packed,
        /// Most bytes: what the header announces for pixels, and what all texts and profiles may have together.
        max: u64,
    },
    /// The image has no card in it.
    #[error("the image has no text chunk `ccv3` or `chara`")]
    NoChunk,
    /// The chunk is not base64 of UTF-8.
    #[error("the chunk `{0}` is not base64 of UTF-8 text")]
    Chunk(&'static str),
}

/// A part of a PNG that is compressed, named by its chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packed {
    /// The rows of the image.
    Pixels,
    /// A text in Latin-1.
    Text,
    /// A text in UTF-8.
    InternationalText,
    /// The colour profile.
    Profile,
}

names!(Packed { Pixels = "IDAT", Text = "zTXt", InternationalText = "iTXt", Profile = "iCCP" });

/// A card that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Name of the character.
    pub name: String,
    /// Documents to write, with their texts.
    pub documents: Vec<(MemoryPath, String)>,
}

/// Reads the JSON of a card. A byte order mark before it is ignored.
///
/// # Errors
/// [`BadCard`]
pub fn read_card(json: &str) -> Result<Card, BadCard> {
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    if json_depth(json) > JSON_DEPTH_MAX {
        return Err(BadCard::Depth);
    }
    let card: Value = serde_json::from_str(json).map_err(|error| BadCard::Json { line: error.line() })?;
    let spec = card.get("spec").and_then(Value::as_str);
    if !matches!(spec, Some("chara_card_v2" | "chara_card_v3")) {
        let shown =
            spec.map_or("missing".to_owned(), |spec| format!("`{}`", spec.chars().take(40).collect::<String>()));
        return Err(BadCard::Spec(shown));
    }
    let wrong = |field: &str, problem| BadCard::Field { field: field.to_owned(), problem };
    let data = card.get("data").and_then(Value::as_object).ok_or_else(|| wrong("data", "is not an object"))?;
    let mut rest = data.clone();
    let name = text_of(&mut rest, NAME)?.unwrap_or_default();
    let name = name.trim().to_owned();
    if !is_line(&name, NAME_CHARS_MAX) {
        return Err(wrong("data.name", "has to be 1 to 200 characters on one line"));
    }
    if name.chars().any(changes_direction) {
        return Err(wrong("data.name", "has a character that changes the direction of text"));
    }
    let mut documents = vec![document(NAME, &format!("{name}\n"))?];
    for field in TEXTS {
        if let Some(text) = text_of(&mut rest, field)?.filter(|text| !text.trim().is_empty()) {
            documents.push(document(field, &ended(&text))?);
        }
    }
    for field in LISTS {
        let items = list_of(&mut rest, field)?;
        if items.is_empty() {
            continue;
        }
        let is_short = matches!(field, "tags" | "source");
        let text: String = if is_short {
            items.iter().map(|item| format!("- {}\n", item.replace('\n', " "))).collect()
        } else {
            items.iter().enumerate().map(|(at, item)| format!("## {}\n\n{}\n", at + 1, ended(item))).collect()
        };
        documents.push(document(field, &text)?);
    }
    if let Some(book) = rest.remove("character_book").filter(|book| !book.is_null()) {
        documents.push(document("character_book", &fenced(&book))?);
    }
    rest.retain(|_, value| !is_empty(value));
    if !rest.is_empty() {
        documents.push(document(REST, &fenced(&Value::Object(rest)))?);
    }
    Ok(Card { name, documents })
}

fn document(field: &str, text: &str) -> Result<(MemoryPath, String), BadCard> {
    let path = MemoryPath::parse(&format!("self/{field}.md"));
    let path = path.map_err(|_| BadCard::Field { field: field.to_owned(), problem: "has a name that is no path" })?;
    Ok((path, text.to_owned()))
}

fn text_of(data: &mut Map<String, Value>, field: &str) -> Result<Option<String>, BadCard> {
    match data.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(BadCard::Field { field: format!("data.{field}"), problem: "is not a text" }),
    }
}

fn list_of(data: &mut Map<String, Value>, field: &str) -> Result<Vec<String>, BadCard> {
    let wrong = || BadCard::Field { field: format!("data.{field}"), problem: "is not a list of texts" };
    match data.remove(field) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            let texts = items.into_iter().map(|item| match item {
                Value::String(text) => Ok(text),
                _ => Err(wrong()),
            });
            Ok(texts.collect::<Result<Vec<_>, _>>()?.into_iter().filter(|text| !text.trim().is_empty()).collect())
        }
        Some(_) => Err(wrong()),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn ended(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    if text.ends_with('\n') { text } else { text + "\n" }
}

fn fenced(value: &Value) -> String {
    // Indented code needs no fence that the JSON could close.
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    pretty.lines().map(|line| format!("    {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn card(data: Value) -> String {
        json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": data }).to_string()
    }

    #[test]
    fn the_fields_of_a_card_become_documents_and_unknown_ones_survive() {
        let read = read_card(&card(json!({
            "name": "Iris", "description": "A gardener.", "personality": "", "first_mes": "Hello\r\n",
            "alternate_greetings": ["Hi", "Good day"], "tags": ["calm"], "extensions": {}, "creation_date": 7,
            "character_book": { "entries": [] }, "assets": [],
        })))
        .unwrap();
        let shown: Vec<_> = read.documents.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(read.name, "Iris");
        assert_eq!(
            shown,
            [
                ("self/name.md", "Iris\n"),
                ("self/description.md", "A gardener.\n"),
                ("self/first_mes.md", "Hello\n"),
                ("self/alternate_greetings.md", "## 1\n\nHi\n\n## 2\n\nGood day\n\n"),
                ("self/tags.md", "- calm\n"),
                ("self/character_book.md", "    {\n      \"entries\": []\n    }\n"),
                ("self/card_fields.md", "    {\n      \"creation_date\": 7\n    }\n"),
            ]
        );
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_card() {
        let plain = card(json!({ "name": "Iris" }));
        assert_eq!(read_card(&format!("\u{feff}{plain}")), read_card(&plain));
    }

    #[test]
    fn malformed_cards_are_refused_by_name() {
        let refused = |json: &str| read_card(json).unwrap_err().to_string();
        assert_eq!(refused("{\n\"a\": \u{1}}"), "This file is not valid JSON (line 2).");
        assert!(refused(&"[".repeat(200)).contains("levels deep"));
        assert!(refused(r#"{"name":"x"}"#).contains("`spec` is missing"));
        assert!(refused(r#"{"spec":"chara_card_v9","data":{}}"#).contains("`chara_card_v9`"));
        assert!(refused(r#"{"spec":"chara_card_v2"}"#).contains("`data` is not an object"));
        assert!(refused(&card(json!({ "name": 7 }))).contains("`data.name` is not a text"));
        assert!(refused(&card(json!({ "name": " " }))).contains("1 to 200"));
        assert!(refused(&card(json!({ "name": "a\nb" }))).contains("1 to 200"));
        assert!(refused(&card(json!({ "name": "a\u{202e}b" }))).contains("changes the direction"));
        assert!(refused(&card(json!({ "name": "x", "tags": [1] }))).contains("`data.tags` is not a list"));
    }
}
