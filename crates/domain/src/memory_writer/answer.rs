//! The answer of the writer's model: its JSON Schema, and how it is parsed.

use super::{
    limit::{ANSWER_BYTES_MAX, BLOCKS_MAX, EVIDENCE_MAX, OP_REASON_CHARS_MAX, OPS_MAX},
    section::is_item,
};
use crate::names::names;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{borrow::Cow, fmt};

/// Version of the answer's shape that the model is asked for: each block of a text names its own turns.
pub const SCHEMA: u32 = 2;
/// The version before, in which a text is one `body` with one list of turns. It is read as a text of one block.
const SCHEMA_OF_BODIES: u32 = 1;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpKind {
    /// Makes a new document of the body.
    Create,
    /// Adds the body at the end of a section.
    AppendSection,
    /// Puts the body in place of what a section holds.
    ReplaceSection,
    /// Adds the body, a name, to the aliases of a person.
    AliasAdd,
    /// Adds the body, the path of another document, to the links of a document.
    LinkAdd,
    /// Removes a section.
    RetireSection,
}

names!(OpKind {
    Create = "create",
    AppendSection = "append_section",
    ReplaceSection = "replace_section",
    AliasAdd = "alias_add",
    LinkAdd = "link_add",
    RetireSection = "retire_section",
});

impl OpKind {
    /// Whether the operation only adds. Others always wait for a review.
    pub const fn only_adds(self) -> bool {
        match self {
            Self::Create | Self::AppendSection | Self::AliasAdd | Self::LinkAdd => true,
            Self::ReplaceSection | Self::RetireSection => false,
        }
    }
}

/// A turn as the model names it: the session by the short name of the prompt, or by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedTurn {
    /// `s1`, `s2`, … or the session's id.
    pub session: String,
    /// Sequence of the turn.
    pub sequence: u64,
}

/// Lines of a text that come from the same turns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Markdown.
    pub text: String,
    /// Turns that it comes from. Without any those of the operation count.
    #[serde(default)]
    pub evidence: Vec<NamedTurn>,
    /// Lines of a document that this contradicts, as the document has them.
    #[serde(default)]
    pub contradicts: Vec<String>,
}

/// The summary of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Title on one line.
    pub title: String,
    /// Markdown without the title: the text of the blocks.
    #[serde(default)]
    pub body: String,
    /// Its parts.
    #[serde(default)]
    pub blocks: Vec<Block>,
    /// Turns of the whole summary.
    #[serde(default)]
    pub evidence: Vec<NamedTurn>,
}

/// One change of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Op {
    /// Kind of the change.
    pub op: OpKind,
    /// Path of the document.
    pub path: String,
    /// Headings of the section, from the outermost to the innermost. Empty for the end of the document.
    #[serde(default)]
    pub heading: Vec<String>,
    /// Digest of the document as it was shown; `None` for a new one.
    #[serde(default)]
    pub base_sha256: Option<String>,
    /// Markdown to write: the text of the blocks. For an alias: the alias. For a link: path of the other document.
    /// Empty if a section is retired.
    #[serde(default)]
    pub body: String,
    /// The parts of the body.
    #[serde(default)]
    pub blocks: Vec<Block>,
    /// Turns of the whole operation.
    #[serde(default)]
    pub evidence: Vec<NamedTurn>,
    /// Why, for the person who reviews it.
    #[serde(default)]
    pub reason: String,
}

impl Op {
    /// Returns what the operation adds. The document has it as it is, or as an item of a list.
    pub fn added(&self) -> Cow<'_, str> {
        match self.op {
            OpKind::Create | OpKind::AppendSection | OpKind::ReplaceSection => Cow::Borrowed(&self.body),
            OpKind::AliasAdd => Cow::Borrowed(self.body.trim()),
            OpKind::LinkAdd => Cow::Owned(format!("[{0}](../{0})", self.body)),
            OpKind::RetireSection => Cow::Borrowed(""),
        }
    }
}

/// The answer of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Version of the format; must be [`SCHEMA`].
    pub schema: u32,
    /// Whether nothing of the conversation is worth keeping.
    #[serde(default)]
    pub nothing: bool,
    /// What the conversation was about; absent if nothing is worth keeping.
    #[serde(default)]
    pub summary: Option<Summary>,
    /// Changes of documents.
    #[serde(default)]
    pub ops: Vec<Op>,
    /// Paths of further documents that the model wants to see before it proposes anything.
    #[serde(default)]
    pub read: Vec<String>,
}

/// Parses an answer. A fence of code around it is accepted, because models often write one.
///
/// # Errors
/// What is wrong, for the request to repair it.
pub fn parse(text: &str) -> Result<Answer, String> {
    if text.len() > ANSWER_BYTES_MAX {
        return Err(too_long());
    }
    let mut answer: Answer = serde_json::from_str(unfenced(text.trim())).map_err(|error| unreadable(&error))?;
    if ![SCHEMA, SCHEMA_OF_BODIES].contains(&answer.schema) {
        return Err(format!("`schema` is {}; it must be {SCHEMA}", answer.schema));
    }
    for op in &mut answer.ops {
        op.reason = with_line_feeds(&op.reason);
        (op.body, op.blocks) = in_blocks(&op.body, std::mem::take(&mut op.blocks), &op.evidence);
        if matches!(op.op, OpKind::AliasAdd | OpKind::LinkAdd) {
            op.body = op.body.trim().to_owned();
        }
    }
    if let Some(summary) = &mut answer.summary {
        (summary.body, summary.blocks) =
            in_blocks(&summary.body, std::mem::take(&mut summary.blocks), &summary.evidence);
    }
    let proposes = answer.summary.is_some() || !answer.ops.is_empty();
    match (answer.nothing, proposes, answer.read.is_empty()) {
        (true, true, _) => Err("`nothing` is true, and there is a summary or an operation".to_owned()),
        (false, false, true) => Err("no summary, no operation, and `nothing` is not true".to_owned()),
        (_, true, false) => Err("`read` asks for documents; propose nothing in the same answer".to_owned()),
        _ => Ok(answer),
    }
}

/// Returns the text of a body and of its blocks, and the blocks. A body without blocks is one block. Two items of a
/// list that follow each other stay one list; other blocks have a blank line between them.
fn in_blocks(body: &str, mut blocks: Vec<Block>, evidence: &[NamedTurn]) -> (String, Vec<Block>) {
    if !body.trim().is_empty() {
        blocks.insert(0, Block { text: body.to_owned(), ..Block::default() });
    }
    let mut joined = String::new();
    for block in &mut blocks {
        block.text = with_line_feeds(&block.text);
        if block.evidence.is_empty() {
            block.evidence = evidence.to_vec();
        }
        let text = if joined.is_empty() { block.text.as_str() } else { block.text.trim_start_matches('\n') };
        if !joined.is_empty() {
            joined.truncate(joined.trim_end_matches('\n').len());
            let continues = joined.lines().last().is_some_and(is_item) && text.lines().next().is_some_and(is_item);
            joined.push_str(if continues { "\n" } else { "\n\n" });
        }
        joined.push_str(text);
    }
    (joined, blocks)
}

/// Returns a text whose lines end with a line feed each. Models also answer with those of Windows.
fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Says that an answer is longer than [`ANSWER_BYTES_MAX`].
pub fn too_long() -> String {
    format!("the answer has more than {ANSWER_BYTES_MAX} bytes")
}

/// Says of a text that is no JSON at all that it is none, because the parser's own message names only a place.
fn unreadable(error: &serde_json::Error) -> String {
    if error.is_data() { error.to_string() } else { format!("it is not JSON: {error}") }
}

fn unfenced(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    inner.strip_prefix("json").unwrap_or(inner).trim()
}

/// Returns the JSON Schema of the answer, which is a part of the prompt.
pub fn schema() -> Value {
    let turn = json!({
        "type": "object", "additionalProperties": false, "required": ["session", "sequence"],
        "properties": { "session": { "type": "string" }, "sequence": { "type": "integer", "minimum": 1 } }
    });
    let evidence = json!({ "type": "array", "maxItems": EVIDENCE_MAX, "items": turn });
    let blocks = json!({ "type": "array", "maxItems": BLOCKS_MAX, "items": {
        "type": "object", "additionalProperties": false, "required": ["text", "evidence", "contradicts"],
        "properties": {
            "text": { "type": "string" },
            "evidence": { "type": "array", "minItems": 1, "maxItems": EVIDENCE_MAX, "items": turn },
            "contradicts": { "type": "array", "items": { "type": "string" } }
        }
    } });
    json!({
        "type": "object", "additionalProperties": false, "required": ["schema", "nothing", "summary", "ops"],
        "properties": {
            "schema": { "type": "integer", "const": SCHEMA },
            "nothing": { "type": "boolean" },
            "summary": {
                "type": ["object", "null"], "additionalProperties": false, "required": ["title", "blocks"],
                "properties": { "title": { "type": "string" }, "blocks": blocks }
            },
            "ops": { "type": "array", "maxItems": OPS_MAX, "items": {
                "type": "object", "additionalProperties": false,
                "required": ["op", "path", "heading", "base_sha256", "blocks", "evidence", "reason"],
                "properties": {
                    "op": { "type": "string", "enum": OpKind::ALL },
                    "path": { "type": "string" },
                    "heading": { "type": "array", "items": { "type": "string" } },
                    "base_sha256": { "type": ["string", "null"] },
                    "blocks": blocks,
                    "evidence": evidence,
                    "reason": { "type": "string", "maxLength": OP_REASON_CHARS_MAX }
                }
            } },
            "read": { "type": "array", "items": { "type": "string" } }
        }
    })
}

/// Keywords that services refuse in the schema of an answer.
const BOUNDS: [&str; 4] = ["minItems", "maxItems", "minimum", "maxLength"];

/// Returns the JSON Schema of an answer for services that make answers match a schema: without its bounds, and with
/// every field required, as OpenAI's strict mode demands. The check of the answer keeps the bounds.
pub fn shape() -> Value {
    let mut shape = without_bounds(schema());
    let fields: Vec<_> =
        shape["properties"].as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect();
    shape["required"] = fields.into();
    shape
}

fn without_bounds(schema: Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(name, _)| !BOUNDS.contains(&name.as_str()));
            Value::Object(fields.map(|(name, value)| (name, without_bounds(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_bounds).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_answer_is_read_with_and_without_a_fence() {
        let text = r#"{"schema":1,"nothing":true,"summary":null,"ops":[]}"#;
        let plain = parse(text).unwrap();
        assert!(plain.nothing && plain.ops.is_empty());
        assert_eq!(parse(&format!("```json\n{text}\n```\n")).unwrap(), plain);
    }

    #[test]
    fn the_shape_of_an_answer_has_no_bounds_and_every_field() {
        let (schema, shape) = (schema().to_string(), shape().to_string());
        for bound in BOUNDS {
            assert!(schema.contains(bound) && !shape.contains(bound), "{bound}: {shape}");
        }
        for field in ["nothing", "summary", "evidence", "base_sha256", "read", "append_section"] {
            assert!(shape.contains(field), "{field}: {shape}");
        }
        let shape = super::shape();
        let required = shape["required"].as_array().unwrap();
        assert!(shape["properties"].as_object().unwrap().keys().all(|name| required.contains(&json!(name))), "{shape}");
    }

    #[test]
    fn what_is_malformed_or_contradicts_itself_is_named() {
        for (text, says) in [
            ("", "it is not JSON: EOF"),
            ("I have noted it.", "it is not JSON: expected value at line 1"),
            (r#"{"schema":3,"nothing":true}"#, "`schema` is 3"),
            (r#"{"schema":1,"nothing":false,"ops":[]}"#, "no summary"),
            (r#"{"schema":1,"nothing":true,"summary":{"title":"x","body":"y","evidence":[]}}"#, "`nothing` is true"),
            (r#"{"schema":1,"nothing":true,"extra":1}"#, "unknown field"),
            (r#"{"schema":1,"ops":[{"op":"delete","path":"x"}]}"#, "unknown variant"),
            (r#"{"schema":1,"read":["topics/x.md"],"ops":[{"op":"create","path":"x"}]}"#, "`read`"),
        ] {
            let refused = parse(text).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
        assert!(parse(&" ".repeat(ANSWER_BYTES_MAX + 1)).unwrap_err().contains("bytes"));
    }

    #[test]
    fn blocks_become_one_text_and_keep_their_turns() {
        let block = |text: &str, turns: &[u64]| {
            let evidence: Vec<_> = turns.iter().map(|n| json!({ "session": "s1", "sequence": n })).collect();
            json!({ "text": text, "evidence": evidence, "contradicts": [] })
        };
        let blocks =
            [block("# Mia\r\n", &[2]), block("\n- Likes tea\n", &[2]), block("- Sings", &[]), block("Bye.", &[4])];
        let op = json!({ "op": "create", "path": "x", "heading": [], "base_sha256": null, "blocks": blocks,
            "evidence": [{ "session": "s1", "sequence": 3 }], "reason": "a\rb" });
        let answer =
            parse(&json!({ "schema": 2, "nothing": false, "summary": null, "ops": [op] }).to_string()).unwrap();
        let op = &answer.ops[0];
        assert_eq!((op.body.as_str(), op.reason.as_str()), ("# Mia\n\n- Likes tea\n- Sings\n\nBye.", "a\nb"));
        let turns = op.blocks.iter().map(|block| block.evidence.iter().map(|turn| turn.sequence).collect::<Vec<_>>());
        assert_eq!(turns.collect::<Vec<_>>(), [[2], [2], [3], [4]]);
    }

    #[test]
    fn a_body_without_blocks_is_one_block() {
        let op =
            json!({ "op": "create", "path": "x", "body": "a\r\nb", "evidence": [{ "session": "s1", "sequence": 3 }] });
        let answer = parse(&json!({ "schema": 1, "summary": null, "ops": [op] }).to_string()).unwrap();
        let block = &answer.ops[0].blocks[0];
        assert_eq!((block.text.as_str(), block.evidence[0].sequence), ("a\nb", 3));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "(?s)\\PC{0,200}") {
            let _ = parse(&text);
        }
    }
}
