//! The text of a conversation, read from its log, for programs that keep no state between turns.

use super::{
    adapter::{Failure, JobContext},
    limit,
    log::{self, LogSource},
};
use domain::event::{Body, Known};
use domain::thread::text_of;
use serde::Serialize;
use serde_json::json;
use wire::event::Event;

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person who talks with the agent.
    User,
    /// The agent, or the program that runs as it.
    Assistant,
}

/// Consecutive text of one author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Author of the text.
    pub role: Role,
    /// The text; messages that follow each other are separated by a line break.
    pub text: String,
}

/// The newest messages of a conversation, within [`limit::THREAD_TURNS_SENT_MAX`] and [`limit::THREAD_BYTES_SENT_MAX`].
#[derive(Debug, Default)]
pub struct Transcript {
    messages: Vec<Message>,
    /// Whether older messages were left out.
    is_cut: bool,
}

impl Transcript {
    /// Reads a conversation's log and keeps its newest messages.
    ///
    /// # Errors
    /// If the log cannot be read or is too long, see [`log::for_each_event`].
    pub async fn read(context: &JobContext) -> Result<Self, Failure> {
        let mut transcript = Self::default();
        log::for_each_event(
            LogSource::of_job(context),
            &[Known::UserMessage.as_str(), Known::AgentMessage.as_str()],
            |event| transcript.add(event),
        )
        .await?;
        transcript.shorten();
        Ok(transcript)
    }

    fn add(&mut self, event: &Event) {
        let role = if event.kind == Known::UserMessage { Role::User } else { Role::Assistant };
        let text = text_of(event.content.get());
        match self.messages.last_mut() {
            Some(last) if last.role == role => {
                if !is_continuation(event) {
                    last.text.push('\n');
                }
                last.text.push_str(&text);
            }
            _ => self.messages.push(Message { role, text }),
        }
    }

    fn shorten(&mut self) {
        let sizes = self.messages.iter().map(|message| (message.role == Role::User, message.text.len()));
        let from = first_kept(&sizes.collect::<Vec<_>>());
        self.is_cut = from > 0;
        self.messages.drain(..from);
    }

    /// One line of JSON: `{"messages":[{"role":"user","text":"…"},…]}`, with `"cut":true` if older messages are left
    /// out.
    pub fn as_json(&self) -> String {
        let mut transcript = json!({ "messages": self.messages });
        if self.is_cut {
            transcript["cut"] = true.into();
        }
        transcript.to_string()
    }

    /// The conversation as the last part of a prompt.
    pub fn as_text(&self) -> String {
        let mut lines = vec!["You talk with a person. This was said so far; answer what they said last.".to_owned()];
        if self.is_cut {
            lines.push(CUT_NOTICE.to_owned());
        }
        lines.extend(self.messages.iter().map(|message| {
            let who = if message.role == Role::User { "Person" } else { "You" };
            format!("{who}: {}", message.text)
        }));
        lines.join("\n\n")
    }
}

/// Whether an event is a further part of a text that began in an earlier one.
pub fn is_continuation(event: &Event) -> bool {
    matches!(event.body(), Body::AgentMessage(message) if message.continues())
}

/// Replaces the messages that are left out.
pub const CUT_NOTICE: &str = "(The beginning of the conversation is left out: it is too long.)";

/// Index of the first entry to keep, so that the kept entries begin with a person's message and stay within the limits.
/// Each entry says whether it begins a person's turn, and its bytes. The last turn is always kept.
pub fn first_kept(entries: &[(bool, usize)]) -> usize {
    let (mut bytes, mut turns, mut from) = (0_usize, 0, entries.len());
    for (at, (begins_turn, size)) in entries.iter().enumerate().rev() {
        bytes = bytes.saturating_add(*size);
        if bytes > limit::THREAD_BYTES_SENT_MAX && from < entries.len() {
            break;
        }
        if *begins_turn {
            turns += 1;
            from = at;
            if turns == limit::THREAD_TURNS_SENT_MAX {
                break;
            }
        }
    }
    // Entries before the first message of a person are kept only if everything is.
    if turns < limit::THREAD_TURNS_SENT_MAX && bytes <= limit::THREAD_BYTES_SENT_MAX {
        0
    } else {
        from.min(entries.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_transcript_has_all_turns_that_fit_counted_from_the_end() {
        let turn = |size| [(true, size), (false, size)];
        let few: Vec<_> = (0..5).flat_map(|_| turn(10)).collect();
        assert_eq!(first_kept(&few), 0);
        assert_eq!(first_kept(&[]), 0);
        let many: Vec<_> = (0..limit::THREAD_TURNS_SENT_MAX + 3).flat_map(|_| turn(1)).collect();
        assert_eq!(first_kept(&many), 6);
        let half = limit::THREAD_BYTES_SENT_MAX / 2;
        let large: Vec<_> = (0..4).flat_map(|_| turn(half / 2)).collect();
        assert_eq!(first_kept(&large), 4);
        // The last message is always part of the transcript, at any length.
        assert_eq!(first_kept(&[(true, 5), (false, 5), (true, limit::THREAD_BYTES_SENT_MAX + 1)]), 2);
    }

    #[test]
    fn a_conversation_is_rendered_as_text_and_as_json() {
        let message = |role, text: &str| Message { role, text: text.into() };
        let messages = vec![message(Role::User, "a\nb"), message(Role::Assistant, "c"), message(Role::User, "d")];
        let transcript = Transcript { messages, is_cut: true };
        let text = transcript.as_text();
        assert!(text.ends_with("Person: a\nb\n\nYou: c\n\nPerson: d") && text.contains(CUT_NOTICE), "{text}");
        let json: Value = serde_json::from_str(&transcript.as_json()).unwrap();
        assert_eq!(json["messages"][1], json!({ "role": "assistant", "text": "c" }));
        assert_eq!(json["cut"], true);
    }
}
