//! A chat model behind HTTP: sends one request, returns one complete reply, and repeats requests that failed for a
//! transient reason.
//!
//! [`request`](super::request) writes the request, [`frame`](super::frame) bounds the answer and cuts it into frames,
//! and [`reply`](super::reply) reads them.
//!
//! Replies are streamed although they are recorded whole: people can read along, a broken connection is distinguished
//! from a slow model, and proxies do not close a connection that is never silent.

use client::Backoff;
use domain::count::counted;
use reqwest::{Response, Url, header};
use serde_json::Value;
use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::{Instant, timeout};

use super::{
    super::{adapter::Failure, delta::DeltaSender, limit},
    frame::{Broken, Frames},
    message::ModelRequest,
    protocol::Wire,
    reply::{FrameFault, ModelReply, ReplyReader},
    request,
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
    http: reqwest::Client,
    url: Url,
    headers: header::HeaderMap,
    name: String,
    key: Secret,
    wire: Wire,
    max_tokens: Option<u32>,
    pause: Pause,
    /// When the last reply came without its tokens; `None` if it had them.
    unreported_at: Mutex<Option<Instant>>,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("model", &self.name).field("key", &self.key).finish_non_exhaustive()
    }
}

/// A request that failed.
#[derive(Debug)]
struct FailedTry {
    failure: Failure,
    is_transient: bool,
    retry_after: Option<Duration>,
}

/// How requests reach a model.
#[derive(Debug, Clone, Copy)]
pub struct ModelAddress<'a> {
    /// Format of requests and replies.
    pub wire: Wire,
    /// Address of the service, without the path of its requests.
    pub base_url: &'a str,
    /// Name of the model at its service.
    pub name: &'a str,
}

impl Model {
    /// The model at this address. `http` brings TLS and the connect timeout; `max_tokens` limits each reply.
    ///
    /// # Errors
    /// If the address or the key cannot be used.
    pub fn new(
        http: reqwest::Client,
        at: ModelAddress<'_>,
        key: Secret,
        max_tokens: Option<u32>,
        pause: Pause,
    ) -> Result<Self, String> {
        let ModelAddress { wire, base_url, name } = at;
        let mut url = Url::parse(base_url).map_err(|error| format!("the address `{base_url}`: {error}"))?;
        url.path_segments_mut()
            .map_err(|()| format!("the address `{base_url}` can have no path"))?
            .pop_if_empty()
            .extend(wire.path());
        let (headers, name) = (request::headers(wire, &key.0)?, name.to_owned());
        Ok(Self { http, url, headers, name, key, wire, max_tokens, pause, unreported_at: Mutex::default() })
    }

    /// Name of the model at its service.
    pub fn name(&self) -> &str {
        &self.name
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
        let mut frames = Frames::new(self.send(question, tokens_max).await?);
        let mut reader = ReplyReader::new(self.wire);
        while !reader.is_closed() {
            let frame = match frames.next().await {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                // What comes after the reason of the stop is not part of the reply.
                Err(_) if reader.has_ended() => break,
                Err(broken) => return Err(self.failed_try(&broken.into())),
            };
            let read = reader.read(&frame);
            let fresh = reader.fresh_text();
            if let Some(deltas) = deltas.as_ref().filter(|_| !fresh.is_empty()) {
                deltas.push(&fresh);
            }
            match read {
                Err(_) if reader.has_ended() => break,
                Err(fault) => return Err(self.failed_try(&fault.into())),
                Ok(()) if reader.size() > limit::MODEL_REPLY_BYTES_MAX => {
                    return Err(self.failed_try(&Fault::LongReply));
                }
                Ok(()) => {}
            }
        }
        drop(frames);
        if !reader.has_ended() {
            return Err(self.failed_try(&Fault::CutOff));
        }
        if let Some(deltas) = deltas {
            deltas.finish().await;
        }
        let reply = reader.finish();
        let unreported_at = reply.tokens.is_none().then(Instant::now);
        *self.unreported_at.lock().unwrap_or_else(PoisonError::into_inner) = unreported_at;
        Ok(reply)
    }

    /// Sends a request and returns the answer once its status is known and good.
    async fn send(&self, question: &ModelRequest, tokens_max: Option<u32>) -> Result<Response, FailedTry> {
        let body = request::body(self.wire, &self.name, question, tokens_max);
        let sent = self.http.post(self.url.clone()).headers(self.headers.clone()).json(&body).send();
        let answered = timeout(limit::MODEL_SILENCE_MAX, sent).await;
        let answered = answered.map_err(|_| Broken::Silent).and_then(|sent| sent.map_err(Broken::Lost));
        let mut response = answered.map_err(|broken| self.failed_try(&broken.into()))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let retry_after = response.headers().get(header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let retry_after = retry_after.map(|seconds| Duration::from_secs(seconds).min(limit::MODEL_RETRY_AFTER_MAX));
        let text = beginning(&mut response).await;
        Err(FailedTry { retry_after, ..self.failed_try(&Fault::Status(status.as_u16(), text)) })
    }

    /// Classifies a fault: its code and message, and whether it is transient.
    fn failed_try(&self, fault: &Fault) -> FailedTry {
        let (message, is_transient) = match fault {
            Fault::Status(status, text) => {
                let is_transient = matches!(*status, 408 | 409 | 425 | 429 | 500..);
                (format!("the model's service answered {status}: {}", shortened(text)), is_transient)
            }
            // The type of an error inside a stream tells whether the request was at fault.
            Fault::Frame(FrameFault::Reported(frame)) => {
                let kind = [&frame["error"]["type"], &frame["type"]].into_iter().find_map(Value::as_str);
                let is_request_at_fault = kind.is_some_and(|kind| {
                    kind.starts_with("invalid") || kind.contains("authentication") || kind.contains("permission")
                });
                (format!("the model's service broke off: {}", shortened(&frame.to_string())), !is_request_at_fault)
            }
            Fault::Frame(FrameFault::Unreadable(why)) => (format!("the model's answer makes no sense: {why}"), true),
            Fault::Broken(Broken::Silent) => {
                let seconds = limit::MODEL_SILENCE_MAX.as_secs();
                (format!("the model cannot be reached: its service sent nothing for {seconds} s"), true)
            }
            Fault::Broken(Broken::Lost(error)) => {
                (format!("the model cannot be reached: {}", with_causes(&error.to_string(), error)), true)
            }
            Fault::Broken(Broken::TooLarge(excess)) => (excess.sentence(), false),
            Fault::LongReply => {
                let most = counted(limit::MODEL_REPLY_BYTES_MAX as u64, "byte");
                (format!("the model's answer has more than {most} of text, reasoning and tool input"), false)
            }
            Fault::CutOff => ("the model's answer was cut off before its end".to_owned(), true),
        };
        let code = match fault {
            Fault::Broken(Broken::TooLarge(_)) | Fault::LongReply => "model_answer_too_large",
            _ if is_transient => "model_unavailable",
            _ => "model_refused",
        };
        FailedTry { failure: Failure::new(code, self.key.redact(&message)), is_transient, retry_after: None }
    }
}

/// Why a request has no reply.
enum Fault {
    /// The service answered with this status and text.
    Status(u16, String),
    /// The answer cannot be read any further.
    Broken(Broken),
    /// A frame of the answer.
    Frame(FrameFault),
    /// The reply has more than [`limit::MODEL_REPLY_BYTES_MAX`].
    LongReply,
    /// The answer ended before the reply.
    CutOff,
}

impl From<Broken> for Fault {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl From<FrameFault> for Fault {
    fn from(fault: FrameFault) -> Self {
        Self::Frame(fault)
    }
}

/// The beginning of a service's error, at most [`limit::MODEL_ERROR_BYTES_MAX`]; what of it arrives.
async fn beginning(response: &mut Response) -> String {
    let mut text = Vec::new();
    while text.len() < limit::MODEL_ERROR_BYTES_MAX
        && let Ok(Ok(Some(bytes))) = timeout(limit::MODEL_SILENCE_MAX, response.chunk()).await
    {
        text.extend_from_slice(&bytes);
    }
    text.truncate(limit::MODEL_ERROR_BYTES_MAX);
    String::from_utf8_lossy(&text).into_owned()
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
