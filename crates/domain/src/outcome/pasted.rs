//! Finds errors of tools that a person has pasted. They are English in every conversation.

use std::borrow::Cow;

/// Beginnings of error messages of common tools.
const COMPLAINTS: [&str; 48] = [
    "traceback (most recent call last)",
    "error:",
    "error[e",
    "exception:",
    "exception in thread",
    "panicked at",
    "panic:",
    "fatal:",
    "segmentation fault",
    "core dumped",
    "syntaxerror",
    "typeerror",
    "valueerror",
    "nameerror",
    "keyerror",
    "attributeerror",
    "indexerror",
    "modulenotfounderror",
    "importerror",
    "referenceerror",
    "nullpointerexception",
    "undefined reference",
    "command not found",
    "no such file or directory",
    "permission denied",
    "exit code 1",
    "npm err!",
    "e: unable to",
    "failed because the",
    "failed with exit",
    "exit status",
    "cannot find module",
    "no module named",
    "is not defined",
    "is not a function",
    "unexpected token",
    "not recognized as an internal",
    "build failed",
    "connection refused",
    "internal server error",
    "bad gateway",
    "404 not found",
    "no matching distribution",
    "out of memory",
    "incorrect syntax near",
    "syntax error at or near",
    "you have an error in your sql",
    "ora-0",
];

/// Returns what in the text marks a pasted error: the beginning of a message, or the name of an exception.
pub(super) fn complaint(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let known = COMPLAINTS.into_iter().find(|complaint| lower.contains(complaint)).map(str::to_owned);
    known.or_else(|| text.split_whitespace().find_map(exception)).or_else(|| numbered(text))
}

/// Returns the number of a database's error: `ERROR 1093 (HY000)`, `Msg 102, Level 15`.
fn numbered(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_number = |word: &str| word.len() >= 2 && word.chars().all(|c| c.is_ascii_digit());
    let found = words.windows(3).find(|words| {
        let [name, number, next] = words else { return false };
        *name == "ERROR" && is_number(number) && next.starts_with('(')
            || *name == "Msg" && number.strip_suffix(',').is_some_and(is_number) && *next == "Level"
    })?;
    Some(found.join(" "))
}

/// Returns the name of an exception before its message: `IllegalStateException:`.
fn exception(word: &str) -> Option<String> {
    let name = word.strip_suffix(':')?.rsplit('.').next()?;
    let kinds = ["Error", "Exception"];
    let is_named = kinds.iter().any(|kind| name.ends_with(kind) && name.len() > kind.len());
    let is_word = name.starts_with(char::is_uppercase) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_named && is_word).then(|| name.to_owned())
}

/// Whether a line begins with the name of an exception, so that all of it is from a tool.
pub(super) fn begins_with_exception(line: &str) -> bool {
    line.split_whitespace().next().and_then(exception).is_some()
}

/// Returns the first error of a spreadsheet in the text: `#REF!`, `#DIV/0!`.
pub(super) fn cell_error(text: &str) -> Option<&str> {
    let is_letter = |c: char| c.is_uppercase() || c.is_ascii_digit() || c == '/';
    text.split_whitespace().find_map(|word| {
        let start = word.find('#')?;
        let rest = &word[start + 1..];
        let end = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
        let ends = rest[end..].starts_with(['!', '?']) || matches!(&rest[..end], "N/A" | "NV" | "Н/Д");
        (end >= 2 && ends && rest.starts_with(char::is_uppercase)).then(|| &word[start..start + 1 + end])
    })
}

/// Returns a line without the question mark of the error of a spreadsheet, which asks nothing: `#NAME?`.
pub(super) fn without_cell_mark(line: &str) -> Cow<'_, str> {
    match cell_error(line).map(|error| (error, format!("{error}?"))) {
        Some((error, marked)) if line.contains(&marked) => Cow::Owned(line.replace(&marked, error)),
        _ => Cow::Borrowed(line),
    }
}

/// Whether a line of a message is from a tool and not from the person: an error, or a line of a stack trace.
pub(super) fn is_from_a_tool(line: &str) -> bool {
    complaint(line).is_some() || line.starts_with("at ") && line.ends_with(')') || line.starts_with("File \"")
}

/// Whether a text has something that is typed into a computer: an option, a path, a call, a file.
pub(super) fn is_technical(text: &str) -> bool {
    let is_typed = |word: &str| {
        let word = word.trim_matches(['.', ',', ';', ':', '!', '?', '"']);
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_option = word.strip_prefix('-').is_some_and(|rest| rest.starts_with(['-']) || rest.len() == 1);
        let is_file = inner.split_once('.').is_some_and(|(name, kind)| {
            let is_name = |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic());
            is_name(name) && is_name(kind)
        });
        is_option || is_file || word.contains(['_', '=', '\\', '|', '{', '`', '<']) || word.contains("()")
    };
    text.split_whitespace().any(is_typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_tools_are_known_by_their_form() {
        for text in ["TypeError: x", "java.lang.IllegalStateException: closed", "E: Unable to locate package a"] {
            assert!(is_from_a_tool(text), "{text}");
        }
        for text in ["That was my Error", "an Exception to the rule", "it fails with ZeroDivisionError."] {
            assert!(!is_from_a_tool(text), "{text}");
        }
    }

    #[test]
    fn what_is_typed_into_a_computer_is_technical() {
        for text in ["Use list.sort(reverse).", "Run npm install --force", "set MAX_SIZE to 3"] {
            assert!(is_technical(text), "{text}");
        }
        assert!(!is_technical("It is installed. See you at 9.30 - or so."));
    }
}
