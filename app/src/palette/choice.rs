//! The rows of the palette: which commands and pages match the typed text, and what the server found.

use super::catalog::Shortcut;
use crate::lowercase::lowercase;

/// Shortest text that the server is searched for, characters.
const CHARS_MIN: usize = 2;

/// Pages, and sections of the settings page, that have no shortcut.
const PAGES: [(&str, &str); 10] = [
    ("Go to criteria sets", "/criteria-sets"),
    ("Go to training data", "/export"),
    ("Settings: your account and password", "/settings#account"),
    ("Settings: members", "/settings#members"),
    ("Settings: groups", "/settings#groups"),
    ("Settings: approvals", "/settings#approvals"),
    ("Settings: tokens", "/settings#tokens"),
    ("Settings: notifications", "/settings#notifications"),
    ("Settings: appearance and theme", "/settings#appearance"),
    ("Settings: keyboard", "/settings#keyboard"),
];

/// A record that the server found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Title, as the list shows it.
    pub title: String,
    /// What it is, e.g. `task`.
    pub kind: String,
    /// Its address.
    pub href: String,
    /// Heading above it, unless the row before has the same.
    pub section: String,
}

/// One row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// A shortcut, by its index among all of them.
    Command(usize, Shortcut),
    /// A page without a shortcut, by its words and its address.
    Page(&'static str, &'static str),
    /// A record.
    Found(Found),
}

impl Row {
    /// What it says.
    pub fn words(&self) -> &str {
        match self {
            Self::Command(_, shortcut) => shortcut.words,
            Self::Page(words, _) => words,
            Self::Found(found) => &found.title,
        }
    }

    /// Heading above it, unless the row before has the same; empty for commands and pages.
    pub fn section(&self) -> &str {
        match self {
            Self::Found(found) => &found.section,
            Self::Command(..) | Self::Page(..) => "",
        }
    }

    /// The page that it opens; `None` for a command.
    pub fn href(&self) -> Option<&str> {
        match self {
            Self::Command(_, shortcut) => shortcut.href(),
            Self::Page(_, href) => Some(href),
            Self::Found(found) => Some(&found.href),
        }
    }
}

/// What the server has answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The text that it was asked for.
    pub asked: String,
    /// Matches of the newest answered query, best first.
    pub found: Vec<Found>,
    /// Why it found nothing; empty if it answered.
    pub failure: &'static str,
}

/// Whether the server is asked about this text.
pub fn is_asked(typed: &str) -> bool {
    typed.trim().chars().count() >= CHARS_MIN
}

/// The rows for the typed text: commands and pages that contain every word of it, then what the server found. A
/// record may match in a text that it does not show; until the answer to this text is there, it has to show the words.
pub fn rows(commands: &[(usize, Shortcut)], typed: &str, answer: &Answer) -> Vec<Row> {
    let words: Vec<String> = lowercase(typed).split_whitespace().map(str::to_owned).collect();
    let fits = |text: &str| {
        let text = lowercase(text);
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let commands = commands.iter().map(|(at, shortcut)| Row::Command(*at, *shortcut));
    let pages = PAGES.into_iter().map(|(words, href)| Row::Page(words, href));
    let found = if is_asked(typed) { answer.found.as_slice() } else { &[] };
    let is_answered = answer.asked == typed;
    let found = found.iter().filter(|found| is_answered || fits(&found.title)).cloned().map(Row::Found);
    commands.chain(pages).filter(|row| fits(row.words())).chain(found).collect()
}

/// The text below the rows: nothing while rows are shown or an answer is awaited.
pub fn status_text(typed: &str, has_rows: bool, answer: &Answer) -> &'static str {
    match is_asked(typed) {
        true if answer.asked != typed => "",
        true if !answer.failure.is_empty() => answer.failure,
        _ if has_rows => "",
        _ => "Nothing matches.",
    }
}

/// The index that lies `by` rows from `at` among `count`; beyond the last row comes the first.
pub fn moved(at: usize, by: isize, count: usize) -> usize {
    let count = count.max(1);
    at.wrapping_add_signed(by).wrapping_add(count) % count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::catalog::SHORTCUTS;

    fn words(typed: &str, answer: &Answer) -> Vec<String> {
        let commands: Vec<_> = SHORTCUTS.into_iter().enumerate().filter(|(_, s)| s.is_offered()).collect();
        rows(&commands, typed, answer).iter().map(|row| row.words().to_owned()).collect()
    }

    fn answer(asked: &str, title: &str) -> Answer {
        let (kind, href, section) = ("task".into(), "/actions/1".into(), "Tasks".into());
        let found = Found { title: title.into(), kind, href, section };
        Answer { asked: asked.into(), found: vec![found], failure: "" }
    }

    #[test]
    fn every_word_has_to_be_there() {
        assert_eq!(words("TOK set", &Answer::default()), ["Settings: tokens"]);
        assert_eq!(words("theme", &Answer::default()), ["Change the theme", "Settings: appearance and theme"]);
        assert_eq!(words("memory", &Answer::default()), ["Go to Memory"]);
        let hrefs: Vec<_> =
            rows(&[], "zz", &answer("zz", "Acme")).iter().map(|row| row.href().map(str::to_owned)).collect();
        assert_eq!(hrefs, [Some("/actions/1".to_owned())]);
        assert_eq!(words("go to", &Answer::default()).first().map(String::as_str), Some("Go to Today"));
        assert!(words("", &Answer::default()).len() > 30);
        assert!(words("next row", &Answer::default()).is_empty(), "moving by rows is no command of a dialog");
    }

    #[test]
    fn only_what_the_server_found_has_a_heading() {
        let sections: Vec<_> =
            rows(&[], "tok", &answer("tok", "Tokens")).iter().map(|row| row.section().to_owned()).collect();
        assert_eq!(sections, ["", "Tasks"]);
    }

    #[test]
    fn what_was_found_for_an_earlier_text_stays_if_it_shows_the_words() {
        assert_eq!(words("acm", &answer("acm", "Acme")), ["Acme"]);
        assert_eq!(words("acme", &answer("acm", "Acme")), ["Acme"]);
        assert_eq!(words("acmx", &answer("acm", "Acme")), Vec::<String>::new());
        assert_eq!(words("zz", &answer("zz", "Acme")), ["Acme"], "the server knows more than the title");
        assert!(!words("a", &answer("acm", "Acme")).contains(&"Acme".to_owned()));
    }

    #[test]
    fn nothing_matches_is_said_when_the_answer_is_there() {
        let none = |asked: &str| Answer { asked: asked.into(), ..Answer::default() };
        assert_eq!(status_text("zebra", false, &none("")), "");
        assert_eq!(status_text("zebra", false, &none("zebra")), "Nothing matches.");
        assert_eq!(status_text("z", false, &none("")), "Nothing matches.");
        assert_eq!(status_text("go", true, &none("go")), "");
        let failed = Answer { failure: "No.", ..none("go") };
        assert_eq!((status_text("go", true, &failed), status_text("goo", true, &failed)), ("No.", ""));
    }

    #[test]
    fn the_selection_goes_around() {
        assert_eq!((moved(0, 1, 3), moved(2, 1, 3), moved(0, -1, 3), moved(0, 1, 0)), (1, 0, 2, 0));
    }
}
