//! Paths of memory documents: `sessions/<date>-<slot>.md`, `people/<platform>-<user id>.md`, `topics/<slug>.md` and
//! `self/<name>.md`.

use crate::limit::{MEMORY_NAME_BYTES_MAX, MEMORY_NAME_CHARS_MAX};
use chrono::NaiveDate;
use std::fmt;
use unicode_normalization::UnicodeNormalization;

/// The ending of every document's name.
const ENDING: &str = ".md";
/// Names that Windows takes for devices, whatever their ending.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The folders of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Folder {
    /// Summaries of conversations, one per session.
    Sessions,
    /// What is known about people.
    People,
    /// Recurring subjects.
    Topics,
    /// The character card of the agent, a document per field.
    Own,
}

impl Folder {
    /// Every folder, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::Sessions, Self::People, Self::Topics, Self::Own];

    /// The name of the folder in paths.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::People => "people",
            Self::Topics => "topics",
            Self::Own => "self",
        }
    }

    /// Returns the folder with this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|folder| folder.as_str() == text)
    }
}

/// Why a path was refused. The text names the part that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    /// The path does not have the form `folder/name.md`.
    #[error("a path is `folder/name.md` with one of the folders sessions, people, topics and self")]
    Form,
    /// The name is empty or too long.
    #[error("a name has 1 to {MEMORY_NAME_CHARS_MAX} characters before `.md`")]
    Length,
    /// The name is too long for a file.
    #[error("a new name has at most {MEMORY_NAME_BYTES_MAX} bytes with `.md`; most letters have 1 to 4 bytes")]
    Bytes,
    /// The name contains a character that is not safe in a file name.
    #[error("a name has letters, digits and `-_.@+`; it begins with a letter or digit and does not end with a dot")]
    Character,
    /// Windows takes the name for a device.
    #[error("`{0}` is the name of a device on Windows")]
    Device(String),
    /// A session's name is not a date and a slot.
    #[error("a session is `sessions/<year>-<month>-<day>-<slot>.md`")]
    Session,
    /// A person's name is not a platform and a user id.
    #[error("a person is `people/<platform>-<user id>.md`; a platform has lower-case letters and digits")]
    Person,
}

/// The path of a memory document, in NFC.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryPath {
    text: String,
    folder: Folder,
}

impl MemoryPath {
    /// Parses a path without a leading slash. Composed and decomposed letters are one: the path is in NFC.
    ///
    /// # Errors
    /// [`BadPath`], which names the part that is wrong.
    pub fn parse(text: &str) -> Result<Self, BadPath> {
        // Bounds the work of the normalisation: a character has at most 4 bytes, and composing shortens.
        if text.len() > 16 * (MEMORY_NAME_CHARS_MAX + 16) {
            return Err(BadPath::Length);
        }
        let text: String = text.nfc().collect();
        let (folder, file) = text.split_once('/').ok_or(BadPath::Form)?;
        let folder = Folder::parse(folder).ok_or(BadPath::Form)?;
        let name = file.strip_suffix(ENDING).ok_or(BadPath::Form)?;
        check_name(name)?;
        match folder {
            Folder::Sessions => check_session(name)?,
            Folder::People => check_person(name)?,
            Folder::Topics | Folder::Own => {}
        }
        Ok(Self { folder, text })
    }

    /// Checks that a file can have the name, which a new or renamed document needs to be exported. [`Self::parse`]
    /// takes longer names, so that documents of earlier versions can be read, renamed and erased.
    ///
    /// # Errors
    /// [`BadPath::Bytes`].
    pub fn check_new(&self) -> Result<(), BadPath> {
        if self.name().len() + ENDING.len() > MEMORY_NAME_BYTES_MAX { Err(BadPath::Bytes) } else { Ok(()) }
    }

    /// The whole path.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The folder of the path.
    pub const fn folder(&self) -> Folder {
        self.folder
    }

    /// The name without the folder and without `.md`.
    pub fn name(&self) -> &str {
        let file = self.text.split_once('/').map_or("", |(_, file)| file);
        file.strip_suffix(ENDING).unwrap_or(file)
    }

    /// The platform and the user id of a person; `None` for other paths.
    pub fn person(&self) -> Option<(&str, &str)> {
        (self.folder == Folder::People).then(|| self.name().split_once('-')).flatten()
    }

    /// The path as it is compared: two paths with the same folded form are one document.
    pub fn folded(&self) -> String {
        fold(&self.text)
    }
}

impl fmt::Display for MemoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the text without differences of case and of compatible forms, as file systems that ignore case compare
/// names. `ß` and `SS`, `ſ` and `s`, and `ﬁ` and `fi` become equal.
pub fn fold(text: &str) -> String {
    let upper: String = text.nfkc().flat_map(char::to_uppercase).collect();
    let lower: String = upper.chars().flat_map(char::to_lowercase).collect();
    // The dot that remains of a Turkish İ, and a final sigma, differ between languages only.
    lower.replace('\u{307}', "").replace('ς', "σ").nfkc().collect()
}

fn check_name(name: &str) -> Result<(), BadPath> {
    let count = name.chars().count();
    if count == 0 || count > MEMORY_NAME_CHARS_MAX {
        return Err(BadPath::Length);
    }
    let is_safe = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '+');
    let begins = name.chars().next().is_some_and(char::is_alphanumeric);
    if !name.chars().all(is_safe) || !begins || name.ends_with('.') || name.contains("..") {
        return Err(BadPath::Character);
    }
    let folded = fold(name);
    let stem = folded.split('.').next().unwrap_or_default();
    let port = ["com", "lpt"].iter().find_map(|port| stem.strip_prefix(port));
    let is_port = port.is_some_and(|number| number.len() == 1 && number.as_bytes()[0].is_ascii_digit());
    if is_port || DEVICES.contains(&stem) {
        return Err(BadPath::Device(stem.to_owned()));
    }
    Ok(())
}

fn check_session(name: &str) -> Result<(), BadPath> {
    let (date, slot) = name.split_at_checked("2026-01-31".len()).ok_or(BadPath::Session)?;
    let written = NaiveDate::parse_from_str(date, "%Y-%m-%d").map_err(|_| BadPath::Session)?;
    // chrono also reads `+2026` and `2026-1-31`.
    let is_plain = written.format("%Y-%m-%d").to_string() == date;
    let slot = slot.strip_prefix('-').ok_or(BadPath::Session)?;
    if is_plain && slot.chars().next().is_some_and(char::is_alphanumeric) { Ok(()) } else { Err(BadPath::Session) }
}

fn check_person(name: &str) -> Result<(), BadPath> {
    let (platform, user) = name.split_once('-').ok_or(BadPath::Person)?;
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let is_platform = !platform.is_empty() && platform.bytes().all(is_plain);
    if is_platform && !user.is_empty() { Ok(()) } else { Err(BadPath::Person) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_paths_of_a_memory_are_taken() {
        for good in [
            "sessions/2026-11-25-night.md",
            "sessions/2026-11-25-evening-2.md",
            "people/discord-188001.md",
            "people/mail-ines@example.org.md",
            "topics/garden.md",
            "topics/straßenbau.md",
            "topics/日本.md",
            "self/first_mes.md",
        ] {
            let path = MemoryPath::parse(good).unwrap_or_else(|why| panic!("{good}: {why}"));
            assert_eq!(path.as_str(), good);
        }
        let person = MemoryPath::parse("people/discord-188-001.md").unwrap();
        assert_eq!((person.person(), person.name()), (Some(("discord", "188-001")), "discord-188-001"));
    }

    #[test]
    fn hostile_paths_are_refused() {
        for bad in [
            "",
            "/",
            "topics",
            "topics/",
            "topics/.md",
            "topics/a",
            "/topics/a.md",
            "topics/../a.md",
            "topics/a/b.md",
            "topics/..md",
            "topics/a..md",
            "topics/a\\b.md",
            "topics/a b.md",
            "topics/-rf.md",
            "topics/.hidden.md",
            "self/.original.md",
            "topics/a%2e.md",
            "topics/a\u{0}.md",
            "topics/a\u{202e}b.md",
            "topics/a\u{200b}.md",
            "topics/a\u{2044}b.md",
            "topics/a:b.md",
            "topics/con.md",
            "topics/CON.x.md",
            "topics/com1.md",
            "topics/a.MD",
            "Topics/a.md",
            "other/a.md",
            "sessions/2026-02-30-night.md",
            "sessions/2026-1-30-night.md",
            "sessions/2026-11-25.md",
            "sessions/2026-11-25-.md",
            "sessions/night.md",
            "people/discord.md",
            "people/-1.md",
            "people/Discord-1.md",
            "people/discord-.md",
        ] {
            assert!(MemoryPath::parse(bad).is_err(), "{bad:?} was taken");
        }
        assert!(MemoryPath::parse(&format!("topics/{}.md", "x".repeat(MEMORY_NAME_CHARS_MAX))).is_ok());
        assert!(MemoryPath::parse(&format!("topics/{}.md", "x".repeat(MEMORY_NAME_CHARS_MAX + 1))).is_err());
    }

    #[test]
    fn a_new_name_can_be_that_of_a_file() {
        let new = |name: String| MemoryPath::parse(&format!("topics/{name}.md")).unwrap().check_new();
        assert_eq!(new("x".repeat(MEMORY_NAME_CHARS_MAX)), Ok(()));
        assert_eq!(new("日".repeat(84)), Ok(()));
        assert_eq!(new("日".repeat(85)), Err(BadPath::Bytes));
    }

    #[test]
    fn letters_that_look_alike_to_file_systems_are_one_document() {
        let folded = |path: &str| MemoryPath::parse(path).unwrap().folded();
        for (a, b) in [
            ("topics/Garden.md", "topics/garden.md"),
            ("topics/STRASSE.md", "topics/straße.md"),
            ("topics/cafe\u{301}.md", "topics/café.md"),
            ("topics/ΣΑΣ.md", "topics/σας.md"),
            ("topics/İstanbul.md", "topics/istanbul.md"),
        ] {
            assert_eq!(folded(a), folded(b), "{a} {b}");
        }
        assert_eq!(MemoryPath::parse("topics/cafe\u{301}.md").unwrap().as_str(), "topics/café.md");
    }

    proptest! {
        #[test]
        fn a_taken_path_stays_inside_and_parses_to_itself(text in "(topics|self|people|sessions)/\\PC{0,40}(\\.md)?") {
            if let Ok(path) = MemoryPath::parse(&text) {
                prop_assert_eq!(MemoryPath::parse(path.as_str()).unwrap(), path.clone());
                prop_assert_eq!(path.as_str().split('/').count(), 2);
                prop_assert!(!path.as_str().contains("..") && !path.as_str().contains('\\'));
                prop_assert_eq!(fold(&path.folded()), path.folded());
            }
        }
    }
}
