//! Names and texts of the controls of a form.

use std::collections::BTreeMap;

/// What a control beside those for values is about. Its name ends with a point and this word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The part is there though it could be left out, or has no items.
    Present,
    /// How many rows a list has.
    Rows,
    /// The number of the chosen variant, from 0.
    Variant,
    /// The part is typed as JSON, in the control with the name of the part.
    Json,
    /// The key of a row.
    Key,
    /// The members that the schema does not name. They are rows.
    More,
    /// The offset from UTC of a time.
    Zone,
    /// A text file whose text is the value.
    File,
}

impl Mark {
    /// The last part of the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Present => "~present",
            Self::Rows => "~rows",
            Self::Variant => "~variant",
            Self::Json => "~json",
            Self::Key => "~key",
            Self::More => "~more",
            Self::Zone => "~zone",
            Self::File => "~file",
        }
    }
}

/// The name of a control about the part with this name.
pub fn mark(name: &str, mark: Mark) -> String {
    format!("{name}.{}", mark.as_str())
}

/// The name of a member or a row of the part with this name.
pub(super) fn child(name: &str, key: &str) -> String {
    let mut child = format!("{name}.");
    for c in key.chars() {
        match c {
            '%' => child.push_str("%25"),
            '.' => child.push_str("%2E"),
            '[' => child.push_str("%5B"),
            ']' => child.push_str("%5D"),
            '~' => child.push_str("%7E"),
            c => child.push(c),
        }
    }
    child
}

/// The key of one part of a name.
pub(super) fn key_of(part: &str) -> String {
    let plain = part.replace("%7E", "~").replace("%5D", "]").replace("%5B", "[").replace("%2E", ".");
    plain.replace("%25", "%")
}

/// Whether a control is the one with the name `above`, or below it.
fn is_below(name: &str, above: &str) -> bool {
    name.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The texts of a form's controls, by name. Of a group of check boxes the texts of those that are ticked are lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(BTreeMap<String, String>);

impl FromIterator<(String, String)> for Fields {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl Fields {
    /// The texts of the form whose whole value has the name `root`, among all texts that were sent. Line ends are LF.
    pub fn sent<'a>(root: &str, texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let own = texts.into_iter().filter(|(name, _)| is_below(name, root));
        own.map(|(name, text)| (name.to_owned(), text.replace("\r\n", "\n"))).collect()
    }

    /// Whether the form has no control.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The controls of the part with this name.
    pub fn only(&self, name: &str) -> Self {
        let own = self.0.iter().filter(|(other, _)| is_below(other, name));
        own.map(|(name, text)| (name.clone(), text.clone())).collect()
    }

    /// The same controls, with others in place of those of the part with this name.
    pub fn with(&self, name: &str, others: Self) -> Self {
        let mut all = self.clone();
        all.take(name);
        all.0.extend(others.0);
        all
    }

    /// The names and texts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The text of a control; empty if the form does not have it.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn is(&self, name: &str, of: Mark) -> bool {
        !self.text(&mark(name, of)).is_empty()
    }

    pub(super) fn number(&self, name: &str, of: Mark) -> usize {
        self.text(&mark(name, of)).parse().unwrap_or_default()
    }

    pub(super) fn set(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.0.insert(name.into(), text.into());
    }

    pub(super) fn set_mark(&mut self, name: &str, of: Mark, text: impl Into<String>) {
        self.0.insert(mark(name, of), text.into());
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Adds the controls that are not there yet.
    pub(super) fn add(&mut self, others: Self) {
        for (name, text) in others.0 {
            self.0.entry(name).or_insert(text);
        }
    }

    /// Takes out the control with this name and those below it.
    pub(super) fn take(&mut self, name: &str) -> Self {
        let (taken, kept) = std::mem::take(&mut self.0).into_iter().partition(|(other, _)| is_below(other, name));
        self.0 = kept;
        Self(taken)
    }

    /// Adds controls that were taken from `before` at another name.
    pub(super) fn put(&mut self, taken: Self, (before, after): (&str, &str)) {
        for (name, text) in taken.0 {
            if let Some(rest) = name.strip_prefix(before) {
                self.0.insert(format!("{after}{rest}"), text);
            }
        }
    }
}
