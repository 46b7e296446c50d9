//! Rules over the prose of the repository: comments in Rust code and Markdown files.
//!
//! Four checks: words that the glossary bans, lines over 120 characters, documentation comments that only repeat the
//! name of their item, and items whose name is a participle.

use super::token::{Token, is_string, tokens};
use super::{Finding, Sources};

pub const BANNED_RULE: &str = "banned-word";
pub const LENGTH_RULE: &str = "prose-length";
pub const ECHO_RULE: &str = "doc-echo";
pub const PARTICIPLE_RULE: &str = "participle-name";

const LINE_CHARS_MAX: usize = 120;
const GLOSSARY: &str = "docs/glossary.md";
const SECTION: &str = "Banned words";
/// Words without a meaning of their own in a documentation comment.
const EMPTY_WORDS: [&str; 28] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "how", "in", "is", "it", "its", "of", "on",
    "one", "that", "the", "this", "to", "what", "when", "where", "who", "why",
];
/// Keywords between a documentation comment and the name of its item.
const BEFORE_NAME: [&str; 13] =
    ["pub", "const", "async", "unsafe", "extern", "fn", "struct", "enum", "trait", "type", "mod", "static", "mut"];

/// Words that name no thing. As a part of a name they are allowed: `asked_at`, `a_late_answer_is_kept`.
const PARTICIPLES: [&str; 8] = ["asked", "given", "kept", "said", "shown", "standing", "stands", "told"];
/// Keywords before the name of an item that must name a thing or an act.
const NAMED_ITEMS: [&str; 6] = ["enum", "fn", "mod", "struct", "trait", "type"];

/// A word or phrase that the glossary bans, in lower case, and what it says to write instead.
#[derive(Debug, PartialEq, Eq)]
struct Banned {
    words: Vec<String>,
    instead: String,
}

/// Applies the checks to every Rust and Markdown file. The list of banned words is the section "Banned words" of
/// docs/glossary.md; without that section no word is banned.
pub fn check(sources: &Sources) -> Vec<Finding> {
    let banned = sources.get(GLOSSARY).map_or_else(Vec::new, |text| banned_words(text));
    let mut findings = Vec::new();
    for (path, text) in sources {
        let is_rust = path.ends_with(".rs");
        let is_markdown = path.ends_with(".md");
        if !is_rust && !is_markdown {
            continue;
        }
        let lines = if is_rust { comments(text) } else { markdown(text) };
        findings.extend(lines.iter().filter_map(|(line, text)| too_long(path, *line, text)));
        if path != GLOSSARY {
            for (line, text) in &lines {
                findings.extend(banned_in(path, *line, &words_of_prose(text), &banned));
            }
        }
        if is_rust && let Ok(tokens) = tokens(text) {
            findings.extend(banned_identifiers(path, &tokens, &banned));
            findings.extend(echoes(path, &tokens));
            findings.extend(participles(path, &tokens));
        }
    }
    findings
}

/// Reads the lines `- word: use X` of the section; other lines of it are explanation.
fn banned_words(glossary: &str) -> Vec<Banned> {
    let is_heading = |line: &&str| line.starts_with('#');
    let mut lines = glossary.lines().skip_while(|line| {
        let title = line.trim_start_matches('#').trim();
        !is_heading(line) || !title.eq_ignore_ascii_case(SECTION)
    });
    lines.next();
    let entries = lines.take_while(|line| !is_heading(line)).filter_map(|line| {
        let (word, instead) = line.strip_prefix("- ")?.split_once(": use ")?;
        let words = parts(word);
        (!words.is_empty()).then(|| Banned { words, instead: instead.trim().to_owned() })
    });
    entries.collect()
}

/// Lines that hold a comment and nothing else, with their numbers.
fn comments(text: &str) -> Vec<(usize, &str)> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| line.trim_start().starts_with("//"))
        .map(|(at, line)| (at + 1, line))
        .collect()
}

/// Lines of prose in a Markdown file: fenced blocks are code, and a row of a table cannot be broken.
fn markdown(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut is_fenced = false;
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_fenced = !is_fenced;
        } else if !is_fenced && !trimmed.starts_with('|') {
            lines.push((at + 1, line));
        }
    }
    lines
}

/// Finds a line that can be broken and is too long. A row of a table cannot be broken, nor can a line without a space,
/// such as a long address.
fn too_long(path: &str, line: usize, text: &str) -> Option<Finding> {
    let count = text.chars().count();
    let words = text.trim_start().trim_start_matches(['/', '!', '-', '*', '#', ' ']);
    let is_breakable = words.contains(' ') && !words.starts_with('|');
    let what = format!("{count} characters, more than {LINE_CHARS_MAX}");
    (count > LINE_CHARS_MAX && is_breakable).then(|| Finding::new(path, line, LENGTH_RULE, what))
}

/// The words of a text in lower case, without code in backticks.
fn words_of_prose(text: &str) -> Vec<String> {
    let prose: Vec<&str> = text.split('`').step_by(2).collect();
    let prose = prose.join(" ");
    prose.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The parts of a name in snake or Camel case, in lower case: `HTTPServer_of` has `http`, `server` and `of`.
fn parts(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut found = Vec::new();
    let mut part = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let is_lower = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_lowercase());
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| !before.is_uppercase() || is_lower(letters.get(at + 1)));
        if (begins || !letter.is_alphanumeric()) && !part.is_empty() {
            found.push(std::mem::take(&mut part));
        }
        if letter.is_alphanumeric() {
            part.extend(letter.to_lowercase());
        }
    }
    found.extend(Some(part).filter(|part| !part.is_empty()));
    found
}

fn banned_in(path: &str, line: usize, words: &[String], banned: &[Banned]) -> Vec<Finding> {
    let is_phrase = |found: &[String], entry: &Banned| found.iter().zip(&entry.words).all(|(a, b)| is_form_of(a, b));
    let is_used = |entry: &&Banned| words.windows(entry.words.len()).any(|found| is_phrase(found, entry));
    let finding = |entry: &Banned| {
        let what = format!("\"{}\" is banned: use {}", entry.words.join(" "), entry.instead);
        Finding::new(path, line, BANNED_RULE, what)
    };
    banned.iter().filter(is_used).map(finding).collect()
}

/// Whether a word is this one or its plural.
fn is_form_of(found: &str, word: &str) -> bool {
    let is_plural = |stem: &str, ending: &str| found.strip_prefix(stem).is_some_and(|rest| rest == ending);
    found == word
        || is_plural(word, "s")
        || is_plural(word, "es")
        || word.strip_suffix('y').is_some_and(|stem| is_plural(stem, "ies"))
}

fn banned_identifiers(path: &str, tokens: &[Token], banned: &[Banned]) -> Vec<Finding> {
    let is_name = |token: &&Token| token.text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_literal = |token: &&Token| is_string(&token.text) || token.text.contains(['"', '\'']);
    let names = tokens.iter().filter(is_name).filter(|token| !is_literal(token));
    names.flat_map(|token| banned_in(path, token.line, &parts(&token.text), banned)).collect()
}

/// Items whose whole name is a participle, which does not say what the thing is.
fn participles(path: &str, tokens: &[Token]) -> Vec<Finding> {
    let is_participle = |name: &Token| matches!(&parts(&name.text)[..], [one] if PARTICIPLES.contains(&one.as_str()));
    let finding = |name: &Token| {
        let what = format!("{} is a participle: name the thing, such as decision, request, state, answer", name.text);
        Finding::new(path, name.line, PARTICIPLE_RULE, what)
    };
    let named = tokens.iter().zip(tokens.iter().skip(1));
    let named = named.filter(|(keyword, name)| NAMED_ITEMS.contains(&keyword.text.as_str()) && is_participle(name));
    named.map(|(_, name)| finding(name)).collect()
}

/// Documentation of one line whose words all occur in the name of its item, or that has no word with a meaning.
fn echoes(path: &str, tokens: &[Token]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(docs) = docs_at(tokens, at) else {
            at += 1;
            continue;
        };
        if let ([(line, text)], Some(name)) = (docs.lines.as_slice(), item_name(tokens, docs.end))
            && is_echo(text, name)
        {
            let what = format!("\"{}\" repeats the name {name}: say what it holds", text.trim());
            findings.push(Finding::new(path, *line, ECHO_RULE, what));
        }
        at = docs.end;
    }
    findings
}

struct Docs {
    lines: Vec<(usize, String)>,
    /// The token after the last of them.
    end: usize,
}

/// Documentation that begins at this token. A comment of documentation arrives as `# [ doc = "…" ]`.
fn docs_at(tokens: &[Token], begin: usize) -> Option<Docs> {
    let mut docs = Docs { lines: Vec::new(), end: begin };
    while let Some([hash, open, doc, equals, text, close]) = tokens.get(docs.end..docs.end + 6) {
        let is_doc = [hash, open, doc, equals, close].map(|token| token.text.as_str()) == ["#", "[", "doc", "=", "]"];
        if !is_doc || !is_string(&text.text) {
            break;
        }
        docs.lines.push((hash.line, text.text.trim_start_matches(['r', '#']).trim_matches(['"', '#']).to_owned()));
        docs.end += 6;
    }
    (!docs.lines.is_empty()).then_some(docs)
}

/// The name of the item whose attributes begin at this token; `None` for blocks such as `impl`, which have none.
fn item_name(tokens: &[Token], begin: usize) -> Option<&str> {
    let mut at = begin;
    loop {
        let text = tokens.get(at)?.text.as_str();
        let is_attribute = text == "#" && tokens.get(at + 1)?.text == "[";
        let is_restricted = text == "pub" && tokens.get(at + 1)?.text == "(";
        if is_attribute || is_restricted {
            at = after_group(tokens, at + 1)?;
        } else if BEFORE_NAME.contains(&text) {
            at += 1;
        } else {
            let is_name = text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text != "impl" && text != "use";
            return is_name.then_some(text);
        }
    }
}

/// The token after the group whose bracket opens at this one.
pub(super) fn after_group(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

fn is_echo(doc: &str, name: &str) -> bool {
    // Code in backticks is information: a format, an example, another item.
    if doc.contains('`') {
        return false;
    }
    let stem = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    let known: Vec<String> = parts(name).iter().map(|part| stem(part)).collect();
    let words = words_of_prose(doc);
    words.iter().filter(|word| !EMPTY_WORDS.contains(&word.as_str())).all(|word| known.contains(&stem(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# Glossary\n\n## Banned words\n\nSay what a thing is.\n\n- desk: use API\n- `hand over`: use pass\n\n## Other\n\n- session: use session\n";

    fn rules(files: &[(&str, &str)]) -> Vec<(String, usize, &'static str)> {
        let sources = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        check(&sources).into_iter().map(|finding| (finding.file, finding.line, finding.rule)).collect()
    }

    fn lines(text: &str, glossary: &str, rule: &str) -> Vec<usize> {
        let found = rules(&[("a.rs", text), (GLOSSARY, glossary)]);
        found.into_iter().filter(|(_, _, of)| *of == rule).map(|(_, line, _)| line).collect()
    }

    #[test]
    fn the_glossary_bans_words_in_its_own_section_only() {
        let found = banned_words(LIST);
        let words: Vec<_> = found.iter().map(|banned| (banned.words.join(" "), banned.instead.as_str())).collect();
        assert_eq!(words, [("desk".to_owned(), "API"), ("hand over".to_owned(), "pass")]);
        assert_eq!(banned_words("# Glossary\n\n- desk: use API\n"), []);
        assert_eq!(banned_words("## Banned words\n"), []);
        assert_eq!(banned_words(""), []);
    }

    #[test]
    fn banned_words_are_found_in_names_and_comments() {
        let text = "// A desk.\nstruct LocalDesk;\nfn hand_over(desktop: u8) {}\n/// Hand over the `desk`.\nfn f() { let a = \"desk\"; }\n";
        assert_eq!(lines(text, LIST, BANNED_RULE), [1, 4, 2, 3]);
        assert_eq!(lines(text, "", BANNED_RULE), [0; 0]);
    }

    #[test]
    fn the_plural_of_a_banned_word_is_banned() {
        let list = "## Banned words\n\n- desk: use API\n- crutch: use aid\n- beneficiary: use acting user\n";
        let text = "// Desks, crutches\n// and beneficiaries.\n// A desktop, deskess, a benefice.\nstruct TwoDesks;\n";
        assert_eq!(lines(text, list, BANNED_RULE), [1, 1, 2, 4]);
    }

    #[test]
    fn banned_words_are_found_in_markdown_but_not_in_its_code() {
        let text = "The desk.\n`desk`\n```\ndesk\n```\n| desk |\n";
        let found = rules(&[("a.md", text), (GLOSSARY, LIST)]);
        assert_eq!(found, [("a.md".to_owned(), 1, BANNED_RULE)]);
    }

    #[test]
    fn names_have_parts() {
        assert_eq!(parts("local_desk_v2"), ["local", "desk", "v2"]);
        assert_eq!(parts("HTTPServerOf"), ["http", "server", "of"]);
        assert_eq!(parts("LIMIT_MAX"), ["limit", "max"]);
        assert_eq!(parts("_"), [""; 0]);
    }

    #[test]
    fn long_lines_of_prose_are_found() {
        let long = format!("a {}", "x".repeat(LINE_CHARS_MAX));
        let address = "x".repeat(LINE_CHARS_MAX + 1);
        let text = format!("{long}\n{address}\n| {long} |\n```\n{long}\n```\nshort\n");
        assert_eq!(rules(&[("a.md", &text)]), [("a.md".to_owned(), 1, LENGTH_RULE)]);
        let text = format!("// {long}\nconst A: &str = \"{long}\";\n/// {address}\n/// | {long} |\nfn f() {{}}\n");
        assert_eq!(lines(&text, "", LENGTH_RULE), [1]);
    }

    #[test]
    fn items_that_are_named_by_a_participle_are_found() {
        let text =
            "struct Told;\nfn kept() {}\nmod asked;\nfn kept_since() {}\nlet shown = 1;\nstruct A { said: u8 }\n";
        assert_eq!(lines(text, "", PARTICIPLE_RULE), [1, 2, 3]);
    }

    #[test]
    fn documentation_that_repeats_a_name_is_found() {
        for echo in [
            "struct A {\n    /// Its id.\n    pub id: u8,\n}",
            "struct A {\n    /// When.\n    at: u8,\n}",
            "enum A {\n    /// Failed.\n    #[default]\n    Failed,\n}",
            "\n/// The sessions.\npub(crate) const fn session() {}",
        ] {
            assert_eq!(lines(echo, "", ECHO_RULE), [2], "{echo}");
        }
        for informative in [
            "/// Time of the decision, UTC.\nstruct At;",
            "/// `POST /id`\nfn id() {}",
            "/// Its id.\n/// A UUIDv7.\nfn id() {}",
            "/// Id.\nimpl Id {}",
            "// Id.\nstruct Id;",
        ] {
            assert_eq!(lines(informative, "", ECHO_RULE), [0; 0], "{informative}");
        }
    }
}
