//! One HTTP/1.1 connection, opened on demand. No pool and no hidden retries: both would blur outcomes.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Method, Request, Response,
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST},
};
use hyper_util::rt::TokioIo;
use std::{net::SocketAddr, time::Duration};
use tokio::{net::TcpStream, time::timeout};

/// Longest wait for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(2);
/// Longest wait for an answer; then its outcome is unknown.
pub const ANSWER_MAX: Duration = Duration::from_secs(5);
/// Largest answer: a page of 1,000 of our largest events.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Outcome of a request.
#[derive(Debug)]
pub enum Reply {
    /// Answered in full.
    Answered {
        /// HTTP status code of the answer.
        status: u16,
        /// The whole body.
        body: Bytes,
    },
    /// The request was not sent.
    NotSent(String),
    /// The request was sent, and no complete answer arrived.
    Unknown(String),
}

/// A client's connection to one address.
pub struct Connection {
    target: SocketAddr,
    token: String,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl Connection {
    /// Not connected yet.
    pub fn new(target: SocketAddr, token: String) -> Self {
        Self { target, token, sender: None }
    }

    /// The same identity on a connection of its own.
    pub fn another(&self) -> Self {
        Self::new(self.target, self.token.clone())
    }

    /// Sends one request and waits for its whole answer.
    pub async fn call(&mut self, method: Method, path: &str, body: Option<Vec<u8>>, answer_max: Duration) -> Reply {
        let response = match self.open(method, path, body, &[], answer_max).await {
            Ok(response) => response,
            Err(reply) => return reply,
        };
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect();
        match timeout(answer_max, body).await {
            Ok(Ok(body)) => Reply::Answered { status, body: body.to_bytes() },
            Ok(Err(error)) => self.lost(error.to_string()),
            Err(_) => self.lost("the answer stopped halfway".into()),
        }
    }

    /// Sends one request and returns the answer with its body still to come.
    pub async fn open(
        &mut self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
        headers: &[(&str, String)],
        answer_max: Duration,
    ) -> Result<Response<Incoming>, Reply> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.target.to_string())
            .header(AUTHORIZATION, format!("Bearer {}", self.token))
            .header(ACCEPT, "application/json, text/event-stream");
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request
            .body(Full::new(Bytes::from(body.unwrap_or_default())))
            .map_err(|error| Reply::NotSent(error.to_string()))?;
        let sender = self.ready().await?;
        match timeout(answer_max, sender.send_request(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.lost(error.to_string())),
            Err(_) => Err(self.lost("no answer in time".into())),
        }
    }

    async fn ready(&mut self) -> Result<&mut SendRequest<Full<Bytes>>, Reply> {
        let usable = match &mut self.sender {
            Some(sender) => matches!(timeout(CONNECT_MAX, sender.ready()).await, Ok(Ok(()))),
            None => false,
        };
        if !usable {
            self.sender = Some(connect(self.target).await.map_err(Reply::NotSent)?);
        }
        self.sender.as_mut().ok_or_else(|| Reply::NotSent("no connection".into()))
    }

    /// A connection that failed once is not used again.
    fn lost(&mut self, why: String) -> Reply {
        self.sender = None;
        Reply::Unknown(why)
    }
}

async fn connect(target: SocketAddr) -> Result<SendRequest<Full<Bytes>>, String> {
    let stream = match timeout(CONNECT_MAX, TcpStream::connect(target)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err("connecting took too long".into()),
    };
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    // Ends by itself when the sender is dropped or the peer closes.
    tokio::spawn(connection);
    Ok(sender)
}
