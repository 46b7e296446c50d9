//! Reads a model's reply from the frames of its stream.
//!
//! The crate `genai` makes the request and cuts the stream into frames. What they say is read here, because services
//! that are called compatible differ in ways that `genai` cannot be configured for: it joins tool calls by `index`
//! alone and drops those without one, and it leaves out refusals. [`openai`] and [`anthropic`] know the frames of the
//! two wire formats, [`calls`] joins tool calls.

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
use genai::chat::StopReason;
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
    /// Whether the last frame could be read and reports no error.
    is_understood: bool,
}

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
            is_understood: true,
        }
    }

    /// Reads the data of the next frame.
    pub fn read(&mut self, data: &str) {
        self.is_understood = true;
        let data = data.trim();
        if data == "[DONE]" {
            self.has_ended = true;
            return;
        }
        if data.is_empty() {
            return;
        }
        let Ok((frame, _)) = read_json::<Value>(data) else {
            self.is_understood = false;
            return;
        };
        // Some services send `"error": null` with every frame.
        if !frame["error"].is_null() || frame["type"] == "error" {
            self.is_understood = false;
            return;
        }
        match self.wire {
            Wire::OpenAi => openai::read(self, &frame),
            Wire::Anthropic => anthropic::read(self, &frame),
        }
    }

    /// Whether the last frame could be read and reports no error.
    pub const fn is_understood(&self) -> bool {
        self.is_understood
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
        let stop = self.stop_reason.clone().map(StopReason::from);
        let is_declined = !self.refusal.trim().is_empty() || matches!(stop, Some(StopReason::ContentFilter(_)));
        let declined = is_declined.then(|| Declined {
            stop_reason: self.stop_reason.unwrap_or_else(|| "refusal".to_owned()),
            text: if self.refusal.trim().is_empty() { self.explanation } else { self.refusal },
        });
        ModelReply {
            text: split.text,
            thinking: thinking.join("\n"),
            calls: self.calls.finish(),
            is_cut: matches!(stop, Some(StopReason::MaxTokens(_))),
            declined,
            tokens: self.tokens,
        }
    }
}

#[cfg(test)]
mod tests;
