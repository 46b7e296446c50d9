//! A conversation in plain words, for programs that remember nothing: what was said so far, rebuilt from the log.

use super::{
    adapter::{Failure, Hand},
    limit,
    log::{self, Log},
};
use domain::thread::{MESSAGE, REPLY, text_of};
use serde::Serialize;
use serde_json::{Value, json};
use wire::event::Event;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The person.
    User,
    /// The agent.
    Assistant,
}

/// What was said without interruption.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Speech {
    /// Who.
    pub role: By,
    /// What.
    pub text: String,
}

/// What was said, as far as it is told.
#[derive(Debug, Default)]
pub struct Talk {
    speeches: Vec<Speech>,
    /// Whether the beginning was left out.
    is_cut: bool,
}

impl Talk {
    /// Reads a conversation's log, and keeps its end within the limits of what is told.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn read(hand: &Hand) -> Result<Self, Failure> {
        let mut talk = Self::default();
        log::each(Log::at(hand), &[MESSAGE, REPLY], |event| talk.hear(event)).await?;
        talk.shorten();
        Ok(talk)
    }

    fn hear(&mut self, event: &Event) {
        let role = if event.kind == MESSAGE { By::User } else { By::Assistant };
        let text = text_of(event.content.get());
        let metadata: Value = serde_json::from_str(event.metadata.get()).unwrap_or_default();
        let goes_on = metadata["part"].as_u64().is_some_and(|part| part > 1);
        match self.speeches.last_mut() {
            Some(last) if last.role == role => {
                if !goes_on {
                    last.text.push('\n');
                }
                last.text.push_str(&text);
            }
            _ => self.speeches.push(Speech { role, text }),
        }
    }

    fn shorten(&mut self) {
        let sizes = self.speeches.iter().map(|speech| (speech.role == By::User, speech.text.len()));
        let from = told_from(&sizes.collect::<Vec<_>>());
        self.is_cut = from > 0;
        self.speeches.drain(..from);
    }

    /// One line of JSON: `{"messages":[{"role":"user","text":"…"},…]}`; `"cut":true` where the beginning is left out.
    pub fn as_json(&self) -> String {
        let mut talk = json!({ "messages": self.speeches });
        if self.is_cut {
            talk["cut"] = true.into();
        }
        talk.to_string()
    }

    /// The end of a prompt.
    pub fn as_text(&self) -> String {
        let mut lines = vec!["You talk with a person. This was said so far; answer what they said last.".to_owned()];
        if self.is_cut {
            lines.push(CUT.to_owned());
        }
        lines.extend(self.speeches.iter().map(|speech| {
            let who = if speech.role == By::User { "Person" } else { "You" };
            format!("{who}: {}", speech.text)
        }));
        lines.join("\n\n")
    }
}

/// What is said in place of a beginning that is left out.
pub const CUT: &str = "(The beginning of the conversation is left out: it is too long.)";

/// Where to begin to tell, so that no more is told than the limits allow and a person speaks first. `entries` are all
/// there is: whether a person begins with it, and its bytes.
pub fn told_from(entries: &[(bool, usize)]) -> usize {
    let (mut bytes, mut turns, mut from) = (0_usize, 0, entries.len());
    for (at, (begins_turn, size)) in entries.iter().enumerate().rev() {
        bytes = bytes.saturating_add(*size);
        if bytes > limit::THREAD_BYTES_TOLD_MAX && from < entries.len() {
            break;
        }
        if *begins_turn {
            turns += 1;
            from = at;
            if turns == limit::THREAD_TURNS_TOLD_MAX {
                break;
            }
        }
    }
    // What comes before the first word of a person belongs to nobody's turn: told where all is told.
    if turns < limit::THREAD_TURNS_TOLD_MAX && bytes <= limit::THREAD_BYTES_TOLD_MAX {
        0
    } else {
        from.min(entries.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_told_while_it_fits_and_then_whole_turns_from_the_end() {
        let turn = |size| [(true, size), (false, size)];
        let few: Vec<_> = (0..5).flat_map(|_| turn(10)).collect();
        assert_eq!(told_from(&few), 0);
        assert_eq!(told_from(&[]), 0);
        let many: Vec<_> = (0..limit::THREAD_TURNS_TOLD_MAX + 3).flat_map(|_| turn(1)).collect();
        assert_eq!(told_from(&many), 6);
        let half = limit::THREAD_BYTES_TOLD_MAX / 2;
        let large: Vec<_> = (0..4).flat_map(|_| turn(half / 2)).collect();
        assert_eq!(told_from(&large), 4);
        // The last message is told however long it is.
        assert_eq!(told_from(&[(true, 5), (false, 5), (true, limit::THREAD_BYTES_TOLD_MAX + 1)]), 2);
    }

    #[test]
    fn a_talk_is_told_as_text_and_as_json() {
        let speech = |role, text: &str| Speech { role, text: text.into() };
        let speeches = vec![speech(By::User, "a\nb"), speech(By::Assistant, "c"), speech(By::User, "d")];
        let talk = Talk { speeches, is_cut: true };
        let text = talk.as_text();
        assert!(text.ends_with("Person: a\nb\n\nYou: c\n\nPerson: d") && text.contains(CUT), "{text}");
        let json: Value = serde_json::from_str(&talk.as_json()).unwrap();
        assert_eq!(json["messages"][1], json!({ "role": "assistant", "text": "c" }));
        assert_eq!(json["cut"], true);
    }
}
