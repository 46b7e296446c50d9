//! The commands of Anthropic's memory tool (`memory_20250818`), as functions from text to text, with the exact texts
//! of Anthropic's SDK for Python, version 2.14.

use crate::memory::{BadPath, Folder, MemoryPath};
use serde::{Deserialize, Deserializer, Serialize};

/// The root under which the tool names documents.
const ROOT: &str = "/memories";

/// A command of the memory tool. Unknown fields are refused, so that a misspelt one is not lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolCommand {
    /// Shows a folder, or a document with numbered lines.
    View {
        /// `/memories`, a folder below it, or a document.
        path: String,
        /// First and last line, from 1; -1 as the last means the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        view_range: Option<[i64; 2]>,
    },
    /// Makes a document.
    Create {
        /// Path of the document, below `/memories`.
        path: String,
        /// Its whole text.
        file_text: String,
    },
    /// Replaces a text that occurs once.
    StrReplace {
        /// Path of the document, below `/memories`.
        path: String,
        /// The text to find.
        old_str: String,
        /// The text to put in its place; nothing if left out or null.
        #[serde(default, deserialize_with = "text_or_nothing")]
        new_str: String,
    },
    /// Inserts lines.
    Insert {
        /// Path of the document, below `/memories`.
        path: String,
        /// The line after which the text is inserted; 0 for the start.
        insert_line: i64,
        /// New lines.
        insert_text: String,
    },
    /// Deletes a document.
    Delete {
        /// Path of the document, below `/memories`.
        path: String,
    },
    /// Gives a document another path.
    Rename {
        /// Present path of the document, below `/memories`.
        old_path: String,
        /// Its new path, at which no document may be.
        new_path: String,
    },
}

/// Reads a text of a command that may be null. Clients send null for what a model left out.
///
/// # Errors
/// Those of the deserializer.
pub fn text_or_nothing<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Option::<String>::deserialize(from).map(Option::unwrap_or_default)
}

/// What the tool answers instead of a result. The texts are those of Anthropic's SDK, except `Refused`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// No document or folder has this path.
    #[error("The path {0} does not exist. Please provide a valid path.")]
    Missing(String),
    /// No document or folder has the path that is to be deleted or renamed.
    #[error("The path {0} does not exist")]
    Absent(String),
    /// The path of a folder, where a document is needed.
    #[error("The path {0} is not a file.")]
    NotAFile(String),
    /// A path outside of the memory.
    #[error("Path must start with /memories, got: {0}")]
    Outside(String),
    /// A path that leads out of the memory.
    #[error("Path {0} would escape /memories directory")]
    Escapes(String),
    /// The root is to be deleted.
    #[error("Cannot delete the /memories directory itself")]
    DeletesRoot,
    /// The root is to be renamed.
    #[error("Cannot rename the /memories directory itself")]
    RenamesRoot,
    /// A document to be made exists.
    #[error("File {0} already exists")]
    Exists(String),
    /// The text to replace does not occur.
    #[error("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")]
    NotFound {
        /// The text that was looked for.
        old: String,
        /// Path of the document, below `/memories`.
        path: String,
    },
    /// The text to replace occurs more than once.
    #[error(
        "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. \
         Please ensure it is unique"
    )]
    Multiple {
        /// The text that was looked for.
        old: String,
        /// Numbers of the lines in which it begins, joined by `, `.
        lines: String,
    },
    /// The line to insert after does not exist.
    #[error("Invalid `insert_line` parameter: {line}. It should be within the range [0, {last}].")]
    InsertLine {
        /// The line that was named.
        line: i64,
        /// Number of lines of the document.
        last: usize,
    },
    /// A document has the new path already.
    #[error("The destination {0} already exists")]
    Destination(String),
    /// The path or the text is not one that this store keeps.
    #[error("Error: {0}")]
    Refused(String),
}

impl ToolError {
    /// The refusal of a path.
    pub fn path(path: &str, why: &BadPath) -> Self {
        Self::Refused(format!("the path {path} cannot be used: {why}"))
    }
}

/// Returns what follows `/memories` in a path, without slashes around it. Empty for the root.
///
/// # Errors
/// [`ToolError::Outside`], [`ToolError::Escapes`]
pub fn inside(path: &str) -> Result<&str, ToolError> {
    let inner = path.strip_prefix(ROOT).filter(|inner| inner.is_empty() || inner.starts_with('/'));
    let inner = inner.ok_or_else(|| ToolError::Outside(path.to_owned()))?;
    if inner.split('/').any(|part| part == "..") {
        return Err(ToolError::Escapes(path.to_owned()));
    }
    Ok(inner.trim_matches('/'))
}

/// Returns the document that the tool calls `path`.
///
/// # Errors
/// [`ToolError::Outside`] and [`ToolError::Escapes`] for a path that is not below `/memories`. [`ToolError::Refused`]
/// for one that is not the path of a document.
pub fn document_path(path: &str) -> Result<MemoryPath, ToolError> {
    inside(path)?;
    let inner = path.strip_prefix(ROOT).unwrap_or_default().trim_start_matches('/');
    MemoryPath::parse(inner).map_err(|why| ToolError::path(path, &why))
}

/// Returns the document that the tool calls `path` and that has to exist.
///
/// # Errors
/// [`ToolError::Missing`] for a path that no document can have, [`ToolError::NotAFile`] for a folder, and those of
/// [`inside`].
pub fn existing_path(path: &str) -> Result<MemoryPath, ToolError> {
    let inner = inside(path)?;
    if inner.is_empty() || Folder::parse(inner).is_some() {
        return Err(ToolError::NotAFile(path.to_owned()));
    }
    document_path(path).map_err(|_| ToolError::Missing(path.to_owned()))
}

/// Returns the path by which the tool names a document.
pub fn tool_path(path: &str) -> String {
    format!("{ROOT}/{path}")
}

/// A text after a change, and the lines that the change wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole text.
    pub text: String,
    /// First line of the new text, from 1.
    pub from: usize,
    /// Number of its lines.
    pub lines: usize,
}

/// Returns a document with numbered lines, or some of them. What follows the last line end is a line too. A range is
/// cut to the lines that there are; a last line below 0 counts from the end.
pub fn view(text: &str, range: Option<[i64; 2]>) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let [from, to] = range.unwrap_or([1, -1]);
    let from = usize::try_from(from).unwrap_or_default().max(1);
    let to = match usize::try_from(to) {
        Ok(to) => to.min(lines.len()),
        Err(_) if to == -1 => lines.len(),
        Err(_) => lines.len().saturating_sub(usize::try_from(to.unsigned_abs()).unwrap_or(usize::MAX)),
    };
    numbered(&lines, from, to)
}

/// The lines from one number to another with their numbers.
fn numbered(lines: &[&str], from: usize, to: usize) -> String {
    let shown = lines.iter().enumerate().take(to).skip(from - 1);
    shown.map(|(at, line)| format!("{:>6}\t{line}", at + 1)).collect::<Vec<_>>().join("\n")
}

/// Returns the lines of a text around one that was edited, with their numbers: two before it and two after it.
pub fn snippet(text: &str, edited: usize) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let edited = edited.max(1);
    numbered(&lines, edited.saturating_sub(2).max(1), (edited + 2).min(lines.len()))
}

/// Returns a size as the tool shows it: `0B`, `6B`, `1.5K`, `2M`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "K", "M", "G"];
    let power = (bytes.max(1).ilog2() / 10).min(3);
    let unit = 1_u64 << (10 * power);
    let name = UNITS[power as usize];
    if bytes.is_multiple_of(unit) {
        return format!("{}{name}", bytes / unit);
    }
    #[expect(clippy::cast_precision_loss, reason = "one digit behind the point is shown")]
    let share = bytes as f64 / unit as f64;
    format!("{share:.1}{name}")
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Replaces the one occurrence of `old`. `path` is quoted in errors.
///
/// # Errors
/// [`ToolError::NotFound`], [`ToolError::Multiple`]
pub fn str_replace(path: &str, text: &str, old: &str, new: &str) -> Result<Edited, ToolError> {
    let found: Vec<usize> =
        if old.is_empty() { Vec::new() } else { text.match_indices(old).map(|(at, _)| at).collect() };
    match found[..] {
        [] => Err(ToolError::NotFound { old: old.to_owned(), path: path.to_owned() }),
        [at] => Ok(Edited {
            text: [&text[..at], new, &text[at + old.len()..]].concat(),
            from: line_of(text, at),
            lines: new.matches('\n').count() + 1,
        }),
        _ => {
            let mut found = Vec::new();
            let mut from = 0;
            // Occurrences that overlap are named too.
            while let Some(at) = text[from..].find(old).map(|at| from + at) {
                found.push(at);
                from = at + text[at..].chars().next().map_or(1, char::len_utf8);
            }
            let lines: Vec<String> = found.iter().map(|at| line_of(text, *at).to_string()).collect();
            Err(ToolError::Multiple { old: old.to_owned(), lines: lines.join(", ") })
        }
    }
}

/// Inserts a text after a line.
///
/// # Errors
/// [`ToolError::InsertLine`]
pub fn insert(text: &str, line: i64, inserted: &str) -> Result<Edited, ToolError> {
    let last = text.lines().count();
    let after = usize::try_from(line).ok().filter(|after| *after <= last);
    let after = after.ok_or(ToolError::InsertLine { line, last })?;
    let at: usize = text.split_inclusive('\n').take(after).map(str::len).sum();
    let (before, rest) = text.split_at(at);
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let end = if rest.is_empty() || inserted.ends_with('\n') { "" } else { "\n" };
    let lines = inserted.lines().count().max(1);
    Ok(Edited { text: [before, gap, inserted, end, rest].concat(), from: after + 1, lines })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commands_have_the_arguments_of_the_sdk() {
        let read = |json: &str| serde_json::from_str::<ToolCommand>(json);
        let view = read(r#"{"command":"view","path":"/memories","view_range":[1,-1]}"#).unwrap();
        assert_eq!(view, ToolCommand::View { path: "/memories".into(), view_range: Some([1, -1]) });
        assert!(read(r#"{"command":"create","path":"/memories/topics/a.md","file_text":"x"}"#).is_ok());
        let absent = read(r#"{"command":"str_replace","path":"p","old_str":"a"}"#).unwrap();
        let null = read(r#"{"command":"str_replace","path":"p","old_str":"a","new_str":null}"#).unwrap();
        assert_eq!(absent, null);
        assert!(read(r#"{"command":"insert","path":"p","insert_line":0,"insert_text":"x"}"#).is_ok());
        assert!(read(r#"{"command":"delete","path":"p"}"#).is_ok());
        assert!(read(r#"{"command":"rename","old_path":"a","new_path":"b"}"#).is_ok());
        for bad in
            [r#"{"command":"undo","path":"p"}"#, r#"{"command":"delete"}"#, r#"{"command":"delete","path":"p","x":1}"#]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn errors_have_the_texts_of_the_sdk() {
        let text = "a\nb\na\n";
        let refused = str_replace("/memories/x", text, "a", "c").unwrap_err().to_string();
        assert_eq!(
            refused,
            "No replacement was performed. Multiple occurrences of old_str `a` in lines: 1, 3. Please ensure it is unique"
        );
        let refused = str_replace("/memories/x", text, "z", "c").unwrap_err().to_string();
        assert_eq!(refused, "No replacement was performed, old_str `z` did not appear verbatim in /memories/x.");
        assert!(str_replace("p", text, "", "c").is_err());
        let refused = insert(text, 4, "x").unwrap_err().to_string();
        assert_eq!(refused, "Invalid `insert_line` parameter: 4. It should be within the range [0, 3].");
        assert!(insert(text, -1, "x").is_err());
    }

    #[test]
    fn texts_are_shown_replaced_and_inserted() {
        assert_eq!(view("a\nb\n", None), "     1\ta\n     2\tb\n     3\t");
        assert_eq!(view("a\nb\nc", Some([2, -1])), "     2\tb\n     3\tc");
        assert_eq!(view("a\nb\nc", Some([0, 1])), "     1\ta");
        assert_eq!(view("a\nb\nc", Some([2, 99])), view("a\nb\nc", Some([2, 3])));
        assert_eq!(view("a\nb\nc", Some([1, -3])), "");
        assert_eq!((view("a", Some([5, 2])), view("", None)), (String::new(), "     1\t".to_owned()));
        assert_eq!(snippet("a\nb\nc\nd\ne\nf\n", 3), "     1\ta\n     2\tb\n     3\tc\n     4\td\n     5\te");
        assert_eq!(snippet("a\n", 1), "     1\ta\n     2\t");
        let sizes = [0, 6, 1_023, 1_024, 1_536, 102_400, 1_048_576, 1_153_434].map(size);
        assert_eq!(sizes, ["0B", "6B", "1023B", "1K", "1.5K", "100K", "1M", "1.1M"]);
        let refused = str_replace("p", "aaaa", "aa", "c").unwrap_err().to_string();
        assert!(refused.contains("in lines: 1, 1, 1."), "{refused}");
        let edited = str_replace("p", "a\nb\nc\n", "b", "x\ny").unwrap();
        assert_eq!(edited, Edited { text: "a\nx\ny\nc\n".into(), from: 2, lines: 2 });
        assert_eq!(insert("a\nb", 2, "c\n").unwrap().text, "a\nb\nc\n");
        assert_eq!(insert("a\nb\n", 1, "c").unwrap(), Edited { text: "a\nc\nb\n".into(), from: 2, lines: 1 });
        assert_eq!(insert("", 0, "c").unwrap().text, "c");
    }

    #[test]
    fn paths_outside_of_the_memory_are_refused() {
        assert_eq!(document_path("/memories/topics/a.md").unwrap().as_str(), "topics/a.md");
        for (path, says) in [
            ("topics/a.md", "Path must start with /memories, got: topics/a.md"),
            ("/memoriesx/topics/a.md", "Path must start with /memories, got: /memoriesx/topics/a.md"),
            ("/memories/../etc/passwd", "Path /memories/../etc/passwd would escape /memories directory"),
        ] {
            assert_eq!(document_path(path).unwrap_err().to_string(), says);
            assert_eq!(existing_path(path).unwrap_err().to_string(), says);
        }
        for path in ["/memories", "/memories/a.txt"] {
            assert!(matches!(document_path(path), Err(ToolError::Refused(_))), "{path}");
        }
        for path in ["/memories", "/memories/topics/"] {
            assert_eq!(existing_path(path).unwrap_err().to_string(), format!("The path {path} is not a file."));
        }
    }

    proptest! {
        #[test]
        fn an_insertion_keeps_every_line(text in "[ab\n]{0,10}", line in -1_i64..6, inserted in "[c\n]{0,4}") {
            if let Ok(edited) = insert(&text, line, &inserted) {
                let without: String = edited.text.chars().filter(|c| matches!(c, 'a' | 'b')).collect();
                let before: String = text.chars().filter(|c| matches!(c, 'a' | 'b')).collect();
                prop_assert_eq!(without, before);
            }
        }
    }
}
