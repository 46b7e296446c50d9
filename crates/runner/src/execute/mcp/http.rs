//! Streamable HTTP over `outbound`: addresses are checked, redirects are not followed, and bodies are bounded.
//!
//! The server is not asked for a stream of its own: it can only answer.

use super::fault::Fault;
use futures_util::{
    StreamExt as _,
    stream::{BoxStream, unfold},
};
use http::{HeaderName, HeaderValue};
use outbound::{Client, Hosts, Incoming, Method, Request};
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        common::client_side_sse::SseRetryPolicy,
        streamable_http_client::{SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse},
    },
};
use sse_stream::{Sse, SseStream};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

type Result<T> = std::result::Result<T, StreamableHttpError<Fault>>;

/// Faults of a connection that errors of the protocol do not have.
#[derive(Debug, Default)]
pub(super) struct Watch {
    fault: Mutex<Option<Fault>>,
}

impl Watch {
    /// The first fault, if there was one.
    pub fn fault(&self) -> Option<Fault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the first fault and returns the one that is given.
    fn note(&self, fault: Fault) -> Fault {
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| fault.clone());
        fault
    }
}

/// A stream that broke is not opened again.
#[derive(Debug)]
pub(super) struct NoRetry;

impl SseRetryPolicy for NoRetry {
    fn retry(&self, _times: usize) -> Option<Duration> {
        None
    }
}

/// The HTTP client of one session.
#[derive(Clone)]
pub(super) struct HttpSession {
    pub http: Client,
    /// Headers of the server's definition, with the values of the secret ones.
    pub headers: Arc<Vec<(String, String)>>,
    /// Longest time of one request.
    pub time: Duration,
    pub watch: Arc<Watch>,
}

impl HttpSession {
    async fn send(
        &self,
        method: Method,
        url: &str,
        session_id: Option<&str>,
        of_protocol: &HashMap<HeaderName, HeaderValue>,
        body: Vec<u8>,
    ) -> std::result::Result<Incoming, Fault> {
        let mut headers = self.headers.to_vec();
        headers.push(("accept".to_owned(), "application/json, text/event-stream".to_owned()));
        if !body.is_empty() {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        if let Some(id) = session_id {
            headers.push(("mcp-session-id".to_owned(), id.to_owned()));
        }
        let texts =
            of_protocol.iter().filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
        headers.extend(texts);
        // An operator of the workspace chose the host; `outbound` refuses private addresses.
        let request = Request { method, url: url.to_owned(), headers, body: body.into(), hosts: Hosts::any() };
        self.http.open_within(request, self.time).await.map_err(|error| self.watch.note(error.into()))
    }

    /// The answer to a request of the protocol.
    async fn answer(&self, incoming: Incoming) -> Result<StreamableHttpPostResponse> {
        let session_id = incoming.header("mcp-session-id").map(str::to_owned);
        let media_type = incoming.header("content-type").and_then(|header| header.split(';').next());
        match media_type.unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "text/event-stream" => Ok(StreamableHttpPostResponse::Sse(self.events(incoming), session_id)),
            "application/json" => {
                let body = incoming.whole().await.map_err(|error| self.fail(error.into()))?.body;
                let read = serde_json::from_slice::<ServerJsonRpcMessage>(&body);
                let message = read.map_err(|error| {
                    let what = format!("the answer is no message of the protocol ({error})");
                    self.fail(Fault::Invalid(what))
                })?;
                Ok(StreamableHttpPostResponse::Json(message, session_id))
            }
            other => Err(self.fail(Fault::Invalid(format!("the answer has the type `{other}`")))),
        }
    }

    /// The events of an answer.
    fn events(&self, incoming: Incoming) -> BoxStream<'static, std::result::Result<Sse, SseError>> {
        let watch = Arc::clone(&self.watch);
        let chunks = unfold(Some(incoming), move |incoming| {
            let watch = Arc::clone(&watch);
            async move {
                let mut incoming = incoming?;
                match incoming.chunk().await {
                    Ok(Some(bytes)) => Some((Ok(bytes), Some(incoming))),
                    Ok(None) => None,
                    Err(error) => Some((Err(watch.note(error.into())), None)),
                }
            }
        });
        SseStream::from_bytes_stream(chunks).boxed()
    }

    fn fail(&self, fault: Fault) -> StreamableHttpError<Fault> {
        StreamableHttpError::Client(self.watch.note(fault))
    }
}

impl StreamableHttpClient for HttpSession {
    type Error = Fault;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse> {
        let body = serde_json::to_vec(&message)?;
        let sent = self.send(Method::POST, &uri, session_id.as_deref(), &custom_headers, body).await;
        let incoming = sent.map_err(StreamableHttpError::Client)?;
        let is_success = (200..300).contains(&incoming.status);
        let awaits_answer = matches!(message, ClientJsonRpcMessage::Request(_));
        if is_success && (!awaits_answer || matches!(incoming.status, 202 | 204)) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if is_success {
            return self.answer(incoming).await;
        }
        let status = incoming.status;
        let text = match incoming.whole().await {
            Ok(response) => String::from_utf8_lossy(&response.body).into_owned(),
            // The status says enough.
            Err(_) => String::new(),
        };
        Err(self.fail(Fault::Status { status, text }))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<()> {
        // Many servers end a session by themselves and refuse this.
        let sent = self.send(Method::DELETE, &uri, Some(&session_id), &custom_headers, Vec::new()).await;
        sent.map(drop).map_err(StreamableHttpError::Client)
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        _session_id: Option<Arc<str>>,
        _last_event_id: Option<String>,
        _auth_header: Option<String>,
        _custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, std::result::Result<Sse, SseError>>> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}
