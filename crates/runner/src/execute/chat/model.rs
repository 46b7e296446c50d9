//! A chat model behind HTTP: one question, one whole answer, tried again where that may help.
//!
//! The crate `genai` speaks the two wires. Answers are streamed, although they are recorded whole: people read along, a
//! connection that breaks is told from a model that thinks, and proxies do not cut what is never silent.

use client::Backoff;
use futures_util::StreamExt;
use genai::{
    Client, Error as ModelError, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, StopReason, StreamEnd, Tool},
    resolver::{AuthData, Endpoint},
};
use serde::Deserialize;
use serde_json::Value;
use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use super::super::{adapter::Failure, limit, voice::Voice};

/// How a model is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// `POST {base_url}/chat/completions`
    #[serde(rename = "openai")]
    OpenAi,
    /// `POST {base_url}/messages`
    Anthropic,
}

impl Wire {
    /// The address of the company that made it up.
    pub const fn default_base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1/",
            Self::Anthropic => "https://api.anthropic.com/v1/",
        }
    }

    const fn kind(self) -> AdapterKind {
        match self {
            Self::OpenAi => AdapterKind::OpenAI,
            Self::Anthropic => AdapterKind::Anthropic,
        }
    }
}

/// A key that is nowhere shown.
#[derive(Clone, Default)]
pub struct Secret(String);

impl Secret {
    /// Takes a key into custody.
    pub const fn new(key: String) -> Self {
        Self(key)
    }

    /// The text without the key, should a service repeat it.
    fn taken_out_of(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "[key]") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

/// Waits for a while; tests do not.
pub type Pause = Arc<dyn Fn(Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// The usual way to wait.
pub fn real_pause() -> Pause {
    Arc::new(|duration| Box::pin(tokio::time::sleep(duration)))
}

/// One model at one address.
pub struct Model {
    client: Client,
    target: ServiceTarget,
    key: Secret,
    max_tokens: Option<u32>,
    pause: Pause,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("model", &self.target.model).field("key", &self.key).finish_non_exhaustive()
    }
}

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// Who it is.
    pub system: String,
    /// What was said so far.
    pub messages: Vec<ChatMessage>,
    /// What it may call.
    pub tools: Vec<Tool>,
}

/// One whole answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// What it says.
    pub text: String,
    /// What it thinks, where it shows that.
    pub thinking: String,
    /// What it calls: id, tool, input.
    pub calls: Vec<(String, String, Value)>,
    /// Whether it was cut off for its length.
    pub is_cut: bool,
    /// Tokens read.
    pub input_tokens: u64,
    /// Of these, tokens read from a cache.
    pub cached_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// One try that failed.
#[derive(Debug)]
struct Miss {
    failure: Failure,
    may_pass: bool,
    retry_after: Option<Duration>,
}

impl Model {
    /// The model of this name. `http` is the way there; it brings its own TLS and time to connect.
    ///
    /// # Errors
    /// When there can be no such client.
    pub fn new(
        http: reqwest::Client,
        (wire, base_url, name): (Wire, &str, &str),
        key: Secret,
        max_tokens: Option<u32>,
        pause: Pause,
    ) -> Result<Self, String> {
        let base_url = format!("{}/", base_url.trim_end_matches('/'));
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(base_url),
            auth: AuthData::Key(key.0.clone()),
            model: ModelIden::new(wire.kind(), name.to_owned()),
        };
        let client = Client::builder().with_reqwest(http).build().map_err(|error| error.to_string())?;
        Ok(Self { client, target, key, max_tokens, pause })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.target.model.model_name
    }

    /// Asks until there is an answer, or no try is left. `told` hears of every try that failed, `speak` makes who hears a
    /// try's words as they come. `seed` spreads the pauses of sessions that fail together.
    ///
    /// # Errors
    /// The last try's.
    pub async fn ask<F: Future<Output = ()>>(
        &self,
        question: &Question,
        seed: u64,
        told: impl Fn(String) -> F,
        speak: impl Fn() -> Option<Voice>,
    ) -> Result<Reply, Failure> {
        let (base, cap) = limit::MODEL_PAUSE;
        let mut backoff = Backoff::new(seed).between(base, cap);
        loop {
            let miss = match self.try_once(question, self.max_tokens, speak()).await {
                Ok(reply) => return Ok(reply),
                Err(miss) => miss,
            };
            if !miss.may_pass {
                return Err(miss.failure);
            }
            if backoff.tries() + 1 >= limit::MODEL_TRIES_MAX {
                let tries = limit::MODEL_TRIES_MAX;
                let message = format!("{} ({tries} tries)", miss.failure.message);
                return Err(Failure { message, ..miss.failure });
            }
            let pause = backoff.pause_at_least(miss.retry_after.unwrap_or_default());
            told(format!("{}; asking again in {:.1} s", miss.failure.message, pause.as_secs_f32())).await;
            (self.pause)(pause).await;
        }
    }

    /// Asks once, for an answer of no more than so many tokens.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn ask_once(&self, question: &Question, tokens_max: u32) -> Result<Reply, Failure> {
        let tokens_max = self.max_tokens.map_or(tokens_max, |own| own.min(tokens_max));
        self.try_once(question, Some(tokens_max), None).await.map_err(|miss| miss.failure)
    }

    async fn try_once(
        &self,
        question: &Question,
        tokens_max: Option<u32>,
        voice: Option<Voice>,
    ) -> Result<Reply, Miss> {
        let request = ChatRequest::new(question.messages.clone()).with_tools(question.tools.clone());
        let request = if question.system.is_empty() { request } else { request.with_system(question.system.clone()) };
        let mut options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_reasoning_content(true)
            .with_capture_tool_calls(true)
            .with_stream_header_timeout(limit::MODEL_SILENCE_MAX)
            .with_stream_read_timeout(limit::MODEL_SILENCE_MAX);
        options.max_tokens = tokens_max;
        let answer = self.client.exec_chat_stream(self.target.clone(), request, Some(&options)).await;
        let mut stream = answer.map_err(|error| self.miss(error))?.stream;
        while let Some(event) = stream.next().await {
            match event {
                Ok(ChatStreamEvent::End(end)) => {
                    if let Some(voice) = voice {
                        voice.end().await;
                    }
                    return Ok(reply(end));
                }
                Ok(ChatStreamEvent::Chunk(chunk)) => {
                    if let Some(voice) = &voice {
                        voice.say(&chunk.content);
                    }
                }
                Ok(_) => {}
                Err(error) => return Err(self.miss(error)),
            }
        }
        let failure = Failure::new("model_unavailable", "the model's answer was cut off before its end");
        Err(Miss { failure, may_pass: true, retry_after: None })
    }

    /// What an error means for the next try.
    fn miss(&self, error: ModelError) -> Miss {
        let error = match error {
            ModelError::WebStream { error, cause, model_iden } => match error.downcast::<ModelError>() {
                Ok(inner) => *inner,
                Err(error) => ModelError::WebStream { error, cause, model_iden },
            },
            error => error,
        };
        let (message, may_pass) = match &error {
            ModelError::HttpError { status, body, .. } => {
                let status = status.as_u16();
                let may_pass = matches!(status, 408 | 409 | 425 | 429 | 500..);
                (format!("the model's service answered {status}: {}", shortened(body)), may_pass)
            }
            // An error in the middle of a stream says by its type whether it is about us.
            ModelError::ChatResponse { body, .. } => {
                let kind = [&body["error"]["type"], &body["type"]].into_iter().find_map(Value::as_str);
                let ours = kind.is_some_and(|kind| {
                    kind.starts_with("invalid") || kind.contains("authentication") || kind.contains("permission")
                });
                (format!("the model's service broke off: {}", shortened(&body.to_string())), !ours)
            }
            ModelError::StreamParse { serde_error, .. } => {
                (format!("the model's answer makes no sense: {serde_error}"), true)
            }
            ModelError::WebStream { cause, error, .. } => {
                (format!("the model cannot be reached: {}", with_causes(cause, &**error)), true)
            }
            other => (format!("the model cannot be asked: {}", shortened(&other.to_string())), false),
        };
        let code = if may_pass { "model_unavailable" } else { "model_refused" };
        let retry_after = error.headers().and_then(|headers| headers.get(reqwest::header::RETRY_AFTER));
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let retry_after = retry_after.map(|seconds| Duration::from_secs(seconds).min(limit::MODEL_RETRY_AFTER_MAX));
        Miss { failure: Failure::new(code, self.key.taken_out_of(&message)), may_pass, retry_after }
    }
}

/// An error with what is behind it, which reqwest keeps to itself.
fn with_causes(text: &str, error: &dyn std::error::Error) -> String {
    let mut text = text.to_owned();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// One line of what a service says.
fn shortened(text: &str) -> String {
    text.chars().take(limit::MODEL_QUOTE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn reply(end: StreamEnd) -> Reply {
    let mut reply = Reply { thinking: end.captured_reasoning_content.unwrap_or_default(), ..Reply::default() };
    reply.is_cut = matches!(end.captured_stop_reason, Some(StopReason::MaxTokens(_)));
    if let Some(usage) = end.captured_usage {
        let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or_default();
        reply.input_tokens = count(usage.prompt_tokens);
        reply.output_tokens = count(usage.completion_tokens);
        reply.cached_tokens = count(usage.prompt_tokens_details.and_then(|details| details.cached_tokens));
    }
    if let Some(content) = end.captured_content {
        reply.text = content.texts().concat();
        let calls = content.into_tool_calls().into_iter();
        reply.calls = calls.map(|call| (call.call_id, call.fn_name, call.fn_arguments)).collect();
    }
    reply
}
