//! Separates the reasoning that open models write into their text, between `<think>` and `</think>`, from the answer.
//!
//! Only reasoning before the answer counts. The same tags later in a text are the answer's own words.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Reasoning and answer of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// The reasoning without its tags; empty for none.
    pub thinking: String,
    /// The answer.
    pub text: String,
}

/// Separates the reasoning of a whole text.
pub fn split(text: &str) -> Split {
    let mut splitter = ThinkSplitter::default();
    splitter.push(text);
    splitter.finish()
}

/// Separates the reasoning of a text that arrives in pieces.
#[derive(Debug, Default)]
pub struct ThinkSplitter {
    place: Place,
    /// The end of what has arrived, which may be the beginning of a tag.
    held: String,
    thinking: String,
    text: String,
    has_thought: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the answer.
    #[default]
    Beginning,
    Thinking,
    Answer,
}

impl ThinkSplitter {
    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) {
        if self.place == Place::Answer {
            self.text.push_str(piece);
            return;
        }
        self.held.push_str(piece);
        loop {
            match self.place {
                Place::Beginning => {
                    let begins = self.held.trim_start();
                    if let Some(rest) = begins.strip_prefix(OPEN) {
                        self.held = rest.to_owned();
                        self.place = Place::Thinking;
                        self.has_thought = true;
                        continue;
                    }
                    if !OPEN.starts_with(begins) {
                        // The line breaks after the reasoning are not the answer's.
                        let answer = if self.has_thought { begins } else { self.held.as_str() };
                        self.text.push_str(answer);
                        self.held.clear();
                        self.place = Place::Answer;
                    }
                    return;
                }
                Place::Thinking => {
                    if let Some((before, after)) = self.held.split_once(CLOSE) {
                        self.thinking.push_str(before);
                        self.thinking.push('\n');
                        self.held = after.to_owned();
                        self.place = Place::Beginning;
                        continue;
                    }
                    let safe = self.held.floor_char_boundary(self.held.len().saturating_sub(CLOSE.len() - 1));
                    self.thinking.extend(self.held.drain(..safe));
                    return;
                }
                Place::Answer => return,
            }
        }
    }

    /// The answer as far as it has arrived. It only grows.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Bytes that have arrived, without the tags.
    pub const fn size(&self) -> usize {
        self.held.len() + self.thinking.len() + self.text.len()
    }

    /// Ends the text. Reasoning without its end is reasoning up to the end of the text.
    pub fn finish(mut self) -> Split {
        match self.place {
            Place::Thinking => self.thinking.push_str(&self.held),
            Place::Beginning if !self.has_thought => self.text.push_str(&self.held),
            Place::Beginning => self.text.push_str(self.held.trim_start()),
            Place::Answer => {}
        }
        if !self.has_thought
            && let Some((thinking, text)) = unopened(&self.text)
        {
            return Split { thinking: thinking.trim().to_owned(), text: text.trim_start().to_owned() };
        }
        Split { thinking: self.thinking.trim().to_owned(), text: self.text }
    }
}

/// Reasoning whose first tag is in the prompt, as templates of some models have it: the reply begins inside. Its end
/// is on a line of its own and not in a code block; anything else is a text about the tag.
fn unopened(text: &str) -> Option<(&str, &str)> {
    let (before, after) = text.split_once(CLOSE)?;
    let begins_line = before.is_empty() || before.ends_with('\n');
    let ends_line = after.is_empty() || after.starts_with(['\n', '\r']);
    let is_in_code = before.matches("```").count() % 2 == 1;
    (begins_line && ends_line && !is_in_code && !before.contains(OPEN)).then_some((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_separated_however_the_text_arrives() {
        for (whole, thinking, text) in [
            ("<think>Hm — ünd?</think>\n\nYes.", "Hm — ünd?", "Yes."),
            ("\n<think>\na\n</think>\n<think>b</think>Yes.", "a\n\nb", "Yes."),
            ("<think></think>Yes.", "", "Yes."),
            ("<think>never ends </thin", "never ends </thin", ""),
            ("First, look.\n</think>\n\nYes.", "First, look.", "Yes."),
            ("</think>\nYes.", "", "Yes."),
            ("Plain.", "", "Plain."),
            ("  Plain.", "", "  Plain."),
            ("<thin", "", "<thin"),
            ("<thinking>x</thinking>", "", "<thinking>x</thinking>"),
            ("It writes <think>x</think> first.", "", "It writes <think>x</think> first."),
            ("The tag is `</think>`.", "", "The tag is `</think>`."),
            ("```\na\n</think>\n```", "", "```\na\n</think>\n```"),
            ("", "", ""),
        ] {
            for size in 1..=whole.chars().count().max(1) {
                let letters: Vec<char> = whole.chars().collect();
                let mut splitter = ThinkSplitter::default();
                let mut shown = String::new();
                for piece in letters.chunks(size) {
                    splitter.push(&piece.iter().collect::<String>());
                    assert!(splitter.text().starts_with(&shown), "{whole}");
                    shown = splitter.text().to_owned();
                }
                let expected = Split { thinking: thinking.into(), text: text.into() };
                assert_eq!(splitter.finish(), expected, "{whole:?} in pieces of {size}");
            }
        }
    }
}
