//! Reads a model's reply from the frames of its stream.
//!
//! Services that are called compatible differ: in the numbers of tool calls, in the fields of reasoning, refusals and
//! usage. [`openai`] and [`anthropic`] know the frames of the two wire formats, [`calls`] joins tool calls.

mod anthropic;
mod calls;
mod openai;

use super::{
    super::{adapter::Failure, think::ThinkSplitter},
    Tokens,
    protocol::Wire,
};
use calls::Calls;
use domain::decoding::read_json;
use serde_json::Value;

/// One complete reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelReply {
    /// Text of the reply.
    pub text: String,
    /// Reasoning, where the service or the text of the model has it.
    pub thinking: String,
    /// Tool calls: id, name of the tool, input.
    pub calls: Vec<(String, String, Value)>,
    /// Whether the reply was cut off at the token limit.
    pub is_cut: bool,
    /// Why there is no answer, if the model declined or a filter withheld it.
    pub declined: Option<Declined>,
    /// Tokens of the reply; `None` if the service does not report them.
    pub tokens: Option<Tokens>,
}

/// A reply that is no answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declined {
    /// The service's stop reason, such as `refusal` or `content_filter`.
    pub stop_reason: String,
    /// The words in which the model declined, or the service's explanation; empty for none. It is not in
    /// [`ModelReply::text`].
    pub text: String,
}

impl ModelReply {
    /// Why the reply cannot be used: it is cut off or declined.
    pub fn failure(&self) -> Option<Failure> {
        if let Some(declined) = &self.declined {
            return Some(Failure::new("model_declined", declined.sentence(&self.text)));
        }
        self.is_cut.then(|| Failure::new("model_truncated", "the model's answer was cut off at its longest length"))
    }
}

impl Declined {
    /// What happened, with the stop reason and the words. `text` is the text before it.
    pub fn sentence(&self, text: &str) -> String {
        let Self { stop_reason, text: words } = self;
        let what = match stop_reason.as_str() {
            "content_filter" => "a content filter withheld the model's answer",
            _ => "the model declined to answer",
        };
        let words = [words.trim(), text.trim()].into_iter().find(|words| !words.is_empty());
        match words {
            Some(words) => format!("{what} (stop reason {stop_reason}): {words}"),
            None => format!("{what} (stop reason {stop_reason})"),
        }
    }
}

/// Reads the frames of one reply.
#[derive(Debug)]
pub(super) struct ReplyReader {
    wire: Wire,
    text: ThinkSplitter,
    /// Bytes of the text that [`ReplyReader::fresh_text`] has returned.
    shown: usize,
    thinking: String,
    refusal: String,
    explanation: String,
    calls: Calls,
    stop_reason: Option<String>,
    tokens: Option<Tokens>,
    /// Whether the stream marked the reply as complete.
    has_ended: bool,
}

/// A frame that is no part of a reply.
#[derive(Debug, PartialEq)]
pub(super) enum FrameFault {
    /// It is not JSON, for this reason.
    Unreadable(String),
    /// The service reports an error with this frame.
    Reported(Value),
}

/// Reasons of a stop at the largest number of tokens.
const CUT: [&str; 5] = ["length", "max_tokens", "model_length", "model_context_window_exceeded", "incomplete"];
/// Reasons of a stop by a filter or by the model itself, of both formats and of Gemini behind gateways.
const WITHHELD: [&str; 7] =
    ["content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii"];

impl ReplyReader {
    /// A reader of a reply in this format.
    pub fn new(wire: Wire) -> Self {
        Self {
            wire,
            text: ThinkSplitter::default(),
            shown: 0,
            thinking: String::new(),
            refusal: String::new(),
            explanation: String::new(),
            calls: Calls::default(),
            stop_reason: None,
            tokens: None,
            has_ended: false,
        }
    }

    /// Reads the data of the next frame.
    ///
    /// # Errors
    /// If the frame cannot be read or reports an error.
    pub fn read(&mut self, data: &str) -> Result<(), FrameFault> {
        let data = data.trim();
        if data == "[DONE]" {
            self.has_ended = true;
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        let (frame, _) = read_json::<Value>(data).map_err(|error| FrameFault::Unreadable(error.to_string()))?;
        // Some services send `"error": null` with every frame.
        if !frame["error"].is_null() || frame["type"] == "error" {
            return Err(FrameFault::Reported(frame));
        }
        match self.wire {
            Wire::OpenAi => openai::read(self, &frame),
            Wire::Anthropic => anthropic::read(self, &frame),
        }
        Ok(())
    }

    /// Whether the stream marked the reply as complete, so that nothing follows.
    pub const fn is_closed(&self) -> bool {
        self.has_ended
    }

    /// Bytes of what is kept of the reply: text, reasoning and the arguments of calls.
    pub fn size(&self) -> usize {
        self.text.size() + self.thinking.len() + self.refusal.len() + self.explanation.len() + self.calls.size()
    }

    /// Whether the reply is complete: the end of the stream or the reason of the stop was read.
    pub const fn has_ended(&self) -> bool {
        self.has_ended || self.stop_reason.is_some()
    }

    /// The text that has arrived since the last call, without reasoning.
    pub fn fresh_text(&mut self) -> String {
        let fresh = self.text.text().get(self.shown..).unwrap_or_default().to_owned();
        self.shown += fresh.len();
        fresh
    }

    /// The reply.
    pub fn finish(self) -> ModelReply {
        let split = self.text.finish();
        let thinking = [self.thinking.trim(), split.thinking.as_str()];
        let thinking: Vec<_> = thinking.into_iter().filter(|text| !text.is_empty()).collect();
        let stopped_by = |reasons: &[&str]| {
            let reason = self.stop_reason.as_deref().unwrap_or_default();
            reasons.iter().any(|known| reason.eq_ignore_ascii_case(known))
        };
        let is_cut = stopped_by(&CUT);
        let is_declined = !self.refusal.trim().is_empty() || stopped_by(&WITHHELD);
        let declined = is_declined.then(|| Declined {
            stop_reason: self.stop_reason.unwrap_or_else(|| "refusal".to_owned()),
            text: if self.refusal.trim().is_empty() { self.explanation } else { self.refusal },
        });
        ModelReply {
            text: split.text,
            thinking: thinking.join("\n"),
            calls: self.calls.finish(),
            is_cut,
            declined,
            tokens: self.tokens,
        }
    }
}

#[cfg(test)]
mod tests;
