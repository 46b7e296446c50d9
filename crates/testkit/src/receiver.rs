//! An HTTP receiver of webhooks that records requests and gives the answers that a test sets.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
};

/// One received request.
#[derive(Debug, Clone)]
pub struct Received {
    /// Path and query.
    pub target: String,
    /// Header names in lower case, with values.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
    /// The body as it was sent.
    pub bytes: Vec<u8>,
}

impl Received {
    /// Returns the value of a header, which must exist.
    pub fn header(&self, name: &str) -> &str {
        &self.headers.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no header {name}")).1
    }
}

/// A running receiver. It ends when dropped.
pub struct Receiver {
    /// Address on which it listens.
    pub address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    received: Mutex<Vec<Received>>,
    answers: Mutex<VecDeque<String>>,
    /// Open connections of a receiver that never answers; `None` for other receivers.
    unheard: Option<Mutex<Vec<TcpStream>>>,
    arrived: Notify,
}

impl Receiver {
    /// Starts a receiver that answers 204 by default.
    pub async fn start() -> Self {
        Self::at("127.0.0.1:0".parse().unwrap()).await
    }

    /// Starts a receiver at this address, which must be free.
    pub async fn at(address: SocketAddr) -> Self {
        Self::of(address, Shared::default()).await
    }

    /// Starts a receiver that accepts connections and never answers.
    pub async fn silent() -> Self {
        let shared = Shared { unheard: Some(Mutex::default()), ..Shared::default() };
        Self::of("127.0.0.1:0".parse().unwrap(), shared).await
    }

    async fn of(address: SocketAddr, shared: Shared) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(shared);
        let serving = shared.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A sender may close the connection early.
                let _ = serve(stream, &serving).await;
            }
        });
        Self { address, shared, task }
    }

    /// URL of the receiver.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Sets the answer to the next request: status code and reason, and further headers, such as `410 Gone`.
    pub fn answer_next(&self, answer: &str) {
        self.shared.answers.lock().unwrap().push_back(answer.to_owned());
    }

    /// Requests received so far, in order.
    pub fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }

    /// Waits until `count` requests have arrived.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        loop {
            let arrived = self.shared.arrived.notified();
            let received = self.received();
            if received.len() >= count {
                return received;
            }
            arrived.await;
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut text = Vec::new();
    let mut chunk = [0; 4096];
    let (head, length) = loop {
        let read = stream.read(&mut chunk).await?;
        if read == 0 {
            return Ok(());
        }
        text.extend_from_slice(&chunk[..read]);
        if let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&text[..end]).into_owned();
            break (head, end + 4);
        }
    };
    let headers: Vec<(String, String)> = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_lowercase(), value.trim().to_owned()))
        .collect();
    let body = headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, n)| n.parse().unwrap());
    while text.len() < length + body {
        let read = stream.read(&mut chunk).await?;
        if read == 0 {
            return Ok(());
        }
        text.extend_from_slice(&chunk[..read]);
    }
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let bytes = text[length..length + body].to_vec();
    let body = String::from_utf8_lossy(&bytes).into_owned();
    shared.received.lock().unwrap().push(Received { target, headers, body, bytes });
    if let Some(unheard) = &shared.unheard {
        unheard.lock().unwrap().push(stream);
        shared.arrived.notify_waiters();
        return Ok(());
    }
    let answer = shared.answers.lock().unwrap().pop_front().unwrap_or_else(|| "204 No Content".to_owned());
    stream.write_all(format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").as_bytes()).await?;
    stream.shutdown().await?;
    shared.arrived.notify_waiters();
    Ok(())
}
