//! Forgetting a person: which lines of a memory document are about them, and what is left of it.

use crate::{
    limit::MEMORY_NAME_FOUND_CHARS_MIN,
    memory::{Document, MemoryPath, sections, terms},
    memory_writer::{
        limit::ALIKE_FROM,
        text::{likeness, normal, says_something},
    },
    names::names,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a line goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemovalReason {
    /// It comes from a turn of the person.
    Said,
    /// It names the person.
    Named,
    /// The heading above it names the person.
    Below,
    /// Its document goes.
    Whole,
}

names!(RemovalReason { Said = "said", Named = "named", Below = "below", Whole = "whole" });

/// The names of a person as sequences of words.
#[derive(Debug, Clone, Default)]
pub struct Names(Vec<Vec<String>>);

impl Names {
    /// The names, and the platform and id in the path of the person's document, which links to it have.
    pub fn new(path: &MemoryPath, names: &[String]) -> Self {
        let id = terms(path.name());
        let named = names.iter().filter(|name| is_long_enough(name)).map(|name| terms(name));
        Self(named.chain([id]).filter(|words| !words.is_empty()).collect())
    }

    /// Whether a text has one of the names, word by word.
    pub fn are_in(&self, text: &str) -> bool {
        let words = terms(text);
        self.0.iter().any(|name| words.windows(name.len()).any(|window| window == name))
    }
}

/// Whether a name is long enough to be looked for. A shorter one is found in texts about others.
pub fn is_long_enough(name: &str) -> bool {
    name.chars().filter(|c| c.is_alphanumeric()).count() >= MEMORY_NAME_FOUND_CHARS_MIN
}

/// Lines that come from the person's turns, in the form in which lines are compared.
#[derive(Debug, Clone, Default)]
pub struct PersonLines(Vec<String>);

impl PersonLines {
    /// Adds a line. Blank lines and headings say nothing.
    pub fn add(&mut self, line: &str) {
        let line_normal = normal(line);
        if says_something(line) && !self.0.contains(&line_normal) {
            self.0.push(line_normal);
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a line is one of them, or much like one: a line whose words were corrected by hand has no turns.
    pub fn has(&self, line: &str) -> bool {
        let line_normal = normal(line);
        let is_like = |one: &String| *one == line_normal || likeness(one, &line_normal) >= ALIKE_FROM;
        says_something(line) && self.0.iter().any(is_like)
    }
}

/// A line that is removed when a person is forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedLine {
    /// Number of the line, from 1.
    pub line: u32,
    /// What it says, without its line end.
    pub text: String,
    /// Why the line is removed.
    pub why: RemovalReason,
}

/// What is left of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped {
    /// The text without the lines that go.
    pub text: String,
    /// Number that each line of it had before, from 1.
    pub numbers: Vec<u32>,
    /// The lines that go, in order.
    pub dropped: Vec<RemovedLine>,
}

impl Stripped {
    /// Whether what is left says nothing: it has only headings and front matter.
    pub fn is_nothing(&self) -> bool {
        !Document::parse(&self.text).body.lines().any(says_something)
    }
}

/// Returns a text without the lines that come from the person's turns or name them. If a heading names them, its whole
/// section goes.
pub fn strip(text: &str, names: &Names, said: &PersonLines) -> Stripped {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut whys: Vec<Option<RemovalReason>> = lines
        .iter()
        .map(|line| {
            if said.has(line) {
                return Some(RemovalReason::Said);
            }
            names.are_in(line).then_some(RemovalReason::Named)
        })
        .collect();
    let body = Document::parse(text).body;
    let front = text.len() - body.len();
    let starts: Vec<usize> = lines
        .iter()
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(start)
        })
        .collect();
    for section in sections(&body).into_iter().filter(|section| names.are_in(&body[section.heading.clone()])) {
        let span = section.span.start + front..section.span.end + front;
        for (why, start) in whys.iter_mut().zip(&starts).filter(|(_, start)| span.contains(start)) {
            if why.is_none() && *start >= span.start {
                *why = Some(RemovalReason::Below);
            }
        }
    }
    let mut left = Stripped { text: String::new(), numbers: Vec::new(), dropped: Vec::new() };
    for ((line, why), number) in lines.iter().zip(whys).zip(1_u32..) {
        match why {
            Some(why) => left.dropped.push(RemovedLine { line: number, text: line.trim_end().to_owned(), why }),
            None => {
                left.text.push_str(line);
                left.numbers.push(number);
            }
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path() -> MemoryPath {
        MemoryPath::parse("people/discord-188.md").unwrap()
    }

    fn names(of: &[&str]) -> Names {
        Names::new(&path(), &of.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_found_as_whole_words_whatever_their_case_and_accents() {
        let names = names(&["Inés Koh", "ines", "Li"]);
        for line in ["INÉS was here", "- met ines.", "see [her](../people/discord-188.md)", "Ines Koh's garden"] {
            assert!(names.are_in(line), "{line}");
        }
        for line in ["business", "a machine's", "Li moved", "discord 1880", ""] {
            assert!(!names.are_in(line), "{line}");
        }
        assert!(!is_long_enough("Li") && is_long_enough("Ana"));
    }

    #[test]
    fn what_is_left_has_neither_her_words_nor_her_name() {
        let mut said = PersonLines::default();
        said.add("- Moved to Oslo in May");
        said.add("## Notes");
        let text = "---\nwith: ines\nkind: trip\n---\n# Trip\n\n- Bob booked\n- moved to Oslo, in May!\n\n## Ines\n\n- brings tea\n\n### Bags\n\n- two\n\n## Notes\n\n- By train\n";
        let left = strip(text, &names(&["Ines"]), &said);
        assert_eq!(left.text, "---\nkind: trip\n---\n# Trip\n\n- Bob booked\n\n## Notes\n\n- By train\n");
        let gone: Vec<_> = left.dropped.iter().map(|one| (one.line, one.why)).collect();
        assert_eq!(gone[..3], [(2, RemovalReason::Named), (8, RemovalReason::Said), (10, RemovalReason::Named)]);
        assert!(gone[3..].iter().all(|(_, why)| *why == RemovalReason::Below), "{gone:?}");
        assert_eq!(left.numbers, [1, 3, 4, 5, 6, 7, 9, 18, 19, 20]);
        assert!(!left.is_nothing());
        assert!(strip("---\na: b\n---\n# Ines\n\n- tea\n", &names(&["Ines"]), &said).is_nothing());
        assert!(strip("# Oslo\n\n- Moved to Oslo in May\n", &names(&[]), &said).is_nothing());
    }

    proptest! {
        #[test]
        fn what_is_left_is_not_stripped_again(text in "(# Ines\n|## b\n|- Ines x\n|- y\n|```\n|\n|---\n){0,14}") {
            let (names, mut said) = (names(&["Ines"]), PersonLines::default());
            said.add("- y");
            let once = strip(&text, &names, &said);
            prop_assert!(!names.are_in(&once.text));
            prop_assert_eq!(once.numbers.len() + once.dropped.len(), text.lines().count());
            prop_assert_eq!(&strip(&once.text, &names, &said).text, &once.text);
        }
    }
}
