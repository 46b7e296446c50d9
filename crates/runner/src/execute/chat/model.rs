//! A chat model behind HTTP: sends one request, returns one complete reply, and repeats requests that failed for a
//! transient reason.
//!
//! The crate `genai` writes the requests of both wire formats; [`reply`](super::reply) reads the frames of the answer.
//! Replies are streamed although they are recorded whole: people can read along, a broken connection is distinguished
//! from a slow model, and proxies do not close a connection that is never silent.

use client::Backoff;
use futures_util::StreamExt;
use genai::{
    Client, Error as ModelError, ModelIden, ServiceTarget,
    chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, JsonSpec, Tool},
    resolver::{AuthData, Endpoint},
};
use serde_json::Value;
use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

use super::{
    super::{adapter::Failure, delta::DeltaSender, limit},
    bounded::Bounded,
    protocol::Wire,
    reply::{ModelReply, ReplyReader},
};

/// An API key. Its `Debug` output and errors do not show it.
#[derive(Clone, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key.
    pub const fn new(key: String) -> Self {
        Self(key)
    }

    /// Replaces the key in a text: services may quote it in errors.
    fn redact(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "[key]") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

/// Waits for a duration; tests return at once.
pub type Pause = Arc<dyn Fn(Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// Waits with the timer of tokio.
pub fn tokio_pause() -> Pause {
    Arc::new(|duration| Box::pin(tokio::time::sleep(duration)))
}

/// A model at an address.
pub struct Model {
    client: Client,
    target: ServiceTarget,
    key: Secret,
    wire: Wire,
    max_tokens: Option<u32>,
    pause: Pause,
    /// When the last reply came without its tokens; `None` if it had them.
    unreported_at: Mutex<Option<Instant>>,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("model", &self.target.model).field("key", &self.key).finish_non_exhaustive()
    }
}

/// What the model is sent for one reply.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// System prompt; empty for none.
    pub system: String,
    /// The conversation so far.
    pub messages: Vec<ChatMessage>,
    /// Tools that the model may call.
    pub tools: Vec<Tool>,
    /// JSON Schema that the service makes the reply match; `None` for a reply in any form.
    pub reply_schema: Option<Value>,
}

/// A request that failed.
#[derive(Debug)]
struct FailedTry {
    failure: Failure,
    is_transient: bool,
    retry_after: Option<Duration>,
}

impl Model {
    /// The model `name` at `base_url`. `http` brings TLS and the connect timeout; `max_tokens` limits each reply.
    ///
    /// # Errors
    /// If no client can be built.
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
        Ok(Self { client, target, key, wire, max_tokens, pause, unreported_at: Mutex::default() })
    }

    /// Name of the model at its service.
    pub fn name(&self) -> &str {
        &self.target.model.model_name
    }

    /// Whether the service did not report the tokens of its last reply. After [`limit::USAGE_UNKNOWN_TIME`] this is
    /// forgotten: the service may have been changed.
    pub fn hides_usage(&self) -> bool {
        let at = *self.unreported_at.lock().unwrap_or_else(PoisonError::into_inner);
        at.is_some_and(|at| at.elapsed() < limit::USAGE_UNKNOWN_TIME)
    }

    /// Sends a request up to [`limit::MODEL_TRIES_MAX`] times. `on_retry` receives the error of each failed request
    /// that is repeated. `deltas` makes the publisher of each reply's text. Requests with different seeds are repeated
    /// at different times.
    ///
    /// # Errors
    /// The error of the last request.
    pub async fn ask<F: Future<Output = ()>>(
        &self,
        question: &ModelRequest,
        seed: u64,
        on_retry: impl Fn(String) -> F,
        deltas: impl Fn() -> Option<DeltaSender>,
    ) -> Result<ModelReply, Failure> {
        let (base, cap) = limit::MODEL_PAUSE;
        let mut backoff = Backoff::new(seed).between(base, cap);
        loop {
            let failed = match self.try_once(question, self.max_tokens, deltas()).await {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            if !failed.is_transient {
                return Err(failed.failure);
            }
            if backoff.tries() + 1 >= limit::MODEL_TRIES_MAX {
                let tries = limit::MODEL_TRIES_MAX;
                let message = format!("{} ({tries} tries)", failed.failure.message);
                return Err(Failure { message, ..failed.failure });
            }
            let pause = backoff.pause_at_least(failed.retry_after.unwrap_or_default());
            on_retry(format!("{}; asking again in {:.1} s", failed.failure.message, pause.as_secs_f32())).await;
            (self.pause)(pause).await;
        }
    }

    /// Sends a request once, for a reply of at most `tokens_max` tokens.
    ///
    /// # Errors
    /// Why there is no reply.
    pub async fn ask_once(&self, question: &ModelRequest, tokens_max: u32) -> Result<ModelReply, Failure> {
        let tokens_max = self.max_tokens.map_or(tokens_max, |own| own.min(tokens_max));
        self.try_once(question, Some(tokens_max), None).await.map_err(|failed| failed.failure)
    }

    /// Sends a request once. It takes at most [`limit::MODEL_REPLY_TIME_MAX`].
    async fn try_once(
        &self,
        question: &ModelRequest,
        tokens_max: Option<u32>,
        deltas: Option<DeltaSender>,
    ) -> Result<ModelReply, FailedTry> {
        let most = limit::MODEL_REPLY_TIME_MAX;
        let answered = tokio::time::timeout(most, self.try_without_end(question, tokens_max, deltas)).await;
        answered.unwrap_or_else(|_| {
            let message = format!("the model's answer was not complete after {} min", most.as_secs() / 60);
            let failure = Failure::new("model_unavailable", message);
            Err(FailedTry { failure, is_transient: false, retry_after: None })
        })
    }

    async fn try_without_end(
        &self,
        question: &ModelRequest,
        tokens_max: Option<u32>,
        deltas: Option<DeltaSender>,
    ) -> Result<ModelReply, FailedTry> {
        let request = ChatRequest::new(question.messages.clone()).with_tools(question.tools.clone());
        let request = if question.system.is_empty() { request } else { request.with_system(question.system.clone()) };
        let reader = Arc::new(Mutex::new(ReplyReader::new(self.wire)));
        let frames = Arc::clone(&reader);
        // The usage is not taken from `genai`, but with this it asks for it.
        let mut options = ChatOptions::default()
            .with_capture_usage(true)
            .with_raw_frame_fn(move |_, frame| locked(&frames).read(frame.data))
            .with_stream_header_timeout(limit::MODEL_SILENCE_MAX)
            .with_stream_read_timeout(limit::MODEL_SILENCE_MAX);
        options.max_tokens = tokens_max;
        if let Some(schema) = &question.reply_schema {
            options = options.with_response_format(JsonSpec::new("reply", schema.clone()));
        }
        let answer = self.client.exec_chat_stream(self.target.clone(), request, Some(&options)).await;
        let mut stream = Bounded::new(answer.map_err(|error| self.failed_try(error))?.stream);
        while let Some(event) = stream.next().await {
            let fresh = locked(&reader).fresh_text();
            if let Some(deltas) = deltas.as_ref().filter(|_| !fresh.is_empty()) {
                deltas.push(&fresh);
            }
            match event {
                Ok(ChatStreamEvent::End(_)) => break,
                Ok(_) => {}
                // `genai` refuses frames that the reader understands, such as those with `"error": null`.
                Err(error) if is_about_frame(&error) && locked(&reader).is_understood() => {}
                // What comes after the reason of the stop is not part of the reply.
                Err(_) if locked(&reader).has_ended() => break,
                Err(error) => return Err(self.failed_try(error)),
            }
        }
        drop(stream);
        let reader = std::mem::replace(&mut *locked(&reader), ReplyReader::new(self.wire));
        if !reader.has_ended() {
            let failure = Failure::new("model_unavailable", "the model's answer was cut off before its end");
            return Err(FailedTry { failure, is_transient: true, retry_after: None });
        }
        if let Some(deltas) = deltas {
            deltas.finish().await;
        }
        let reply = reader.finish();
        let unreported_at = reply.tokens.is_none().then(Instant::now);
        *self.unreported_at.lock().unwrap_or_else(PoisonError::into_inner) = unreported_at;
        Ok(reply)
    }

    /// Classifies an error: its message, whether it is transient, and the service's `Retry-After`.
    fn failed_try(&self, error: ModelError) -> FailedTry {
        let error = match error {
            ModelError::WebStream { error, cause, model_iden } => match error.downcast::<ModelError>() {
                Ok(inner) => *inner,
                Err(error) => ModelError::WebStream { error, cause, model_iden },
            },
            error => error,
        };
        let (message, is_transient) = match &error {
            ModelError::HttpError { status, body, .. } => {
                let status = status.as_u16();
                let is_transient = matches!(status, 408 | 409 | 425 | 429 | 500..);
                (format!("the model's service answered {status}: {}", shortened(body)), is_transient)
            }
            // The type of an error inside a stream tells whether the request was at fault.
            ModelError::ChatResponse { body, .. } => {
                let kind = [&body["error"]["type"], &body["type"]].into_iter().find_map(Value::as_str);
                let is_request_at_fault = kind.is_some_and(|kind| {
                    kind.starts_with("invalid") || kind.contains("authentication") || kind.contains("permission")
                });
                (format!("the model's service broke off: {}", shortened(&body.to_string())), !is_request_at_fault)
            }
            ModelError::StreamParse { serde_error, .. } => {
                (format!("the model's answer makes no sense: {serde_error}"), true)
            }
            ModelError::WebStream { cause, error, .. } => {
                (format!("the model cannot be reached: {}", with_causes(cause, &**error)), true)
            }
            other => (format!("the model cannot be asked: {}", shortened(&other.to_string())), false),
        };
        let code = if is_transient { "model_unavailable" } else { "model_refused" };
        let retry_after = error.headers().and_then(|headers| headers.get(reqwest::header::RETRY_AFTER));
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let retry_after = retry_after.map(|seconds| Duration::from_secs(seconds).min(limit::MODEL_RETRY_AFTER_MAX));
        FailedTry { failure: Failure::new(code, self.key.redact(&message)), is_transient, retry_after }
    }
}

/// An error with its causes, which reqwest's own text leaves out.
fn with_causes(text: &str, error: &dyn std::error::Error) -> String {
    let mut text = text.to_owned();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// The beginning of a service's error as one line.
fn shortened(text: &str) -> String {
    text.chars().take(limit::MODEL_QUOTE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn locked(reader: &Mutex<ReplyReader>) -> MutexGuard<'_, ReplyReader> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether an error is about one frame, so that the stream continues after it.
const fn is_about_frame(error: &ModelError) -> bool {
    !matches!(error, ModelError::WebStream { .. } | ModelError::HttpError { .. })
}
