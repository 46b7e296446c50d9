//! One keep-alive connection with at most one request on its way.

use super::{
    chunked::Chunked,
    head::{Framing, Head, header},
    request::Request,
};
use anyhow::{Context as _, Result, bail};
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// What one read takes at most: large answers arrive in few reads.
const READ_BYTES: usize = 256 * 1024;
/// Longest wait for a connection or, outside of loads, for an answer.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Whether anyone will look at the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    Keep,
    /// Read and counted, but not gathered.
    Drop,
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer<'a> {
    pub status: u16,
    /// Status line and headers.
    pub head: &'a str,
    /// Empty where it was dropped.
    pub body: &'a [u8],
    pub body_bytes: usize,
}

impl Answer<'_> {
    /// The answer, if its status is 200 to 399.
    ///
    /// # Errors
    /// The status and the first 300 bytes of any other answer.
    pub fn require_success(self) -> Result<Self> {
        if !(200..400).contains(&self.status) {
            bail!("{} {}", self.status, String::from_utf8_lossy(&self.body[..self.body.len().min(300)]));
        }
        Ok(self)
    }

    /// A header of the answer.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(self.head, name)
    }
}

/// A connection to the server.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Bodies that had to be put together.
    gathered: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub async fn open(target: SocketAddr) -> Result<Self> {
        let stream = timeout(WAIT_MAX, TcpStream::connect(target)).await.context("connecting took too long")??;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; READ_BYTES], gathered: Vec::new() })
    }

    /// Sends a request outside of a load and returns its good answer.
    pub async fn call(&mut self, request: &Request) -> Result<Answer<'_>> {
        let shown = || String::from_utf8_lossy(request.bytes()).lines().next().unwrap_or_default().to_owned();
        let answer = timeout(WAIT_MAX, self.exchange(request.bytes(), Body::Keep)).await;
        let answer = answer.with_context(|| format!("{}: no answer in time", shown()))?;
        answer.and_then(Answer::require_success).with_context(shown)
    }

    /// Sends a request and reads its answer to the end.
    pub async fn exchange(&mut self, request: &[u8], keep: Body) -> Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        let (head, filled) = self.read_head().await?;
        self.gathered.clear();
        let body_bytes = match head.framing {
            Framing::Length(length) => {
                self.read_length(head.bytes, filled, length, keep).await?;
                length
            }
            Framing::Chunked => self.read_chunked(head.bytes, filled, keep).await?,
        };
        let body = match (keep, head.framing) {
            (Body::Drop, _) => &[][..],
            (Body::Keep, Framing::Length(length)) => &self.buffer[head.bytes..head.bytes + length],
            (Body::Keep, Framing::Chunked) => &self.gathered,
        };
        let text = std::str::from_utf8(&self.buffer[..head.bytes]).context("an answer's head is not text")?;
        Ok(Answer { status: head.status, head: text, body, body_bytes })
    }

    async fn read_head(&mut self) -> Result<(Head, usize)> {
        let mut filled = 0;
        loop {
            filled += self.read_at(filled).await?;
            if let Some(head) = Head::parse(&self.buffer[..filled])? {
                return Ok((head, filled));
            }
            if filled == self.buffer.len() {
                bail!("an answer's head is larger than {filled} bytes");
            }
        }
    }

    async fn read_length(&mut self, head: usize, mut filled: usize, length: usize, keep: Body) -> Result<()> {
        let end = head + length;
        if keep == Body::Keep && self.buffer.len() < end {
            self.buffer.resize(end, 0);
        }
        while filled < end {
            // What no one looks at is read to the same place again and again, behind the head.
            let at = if keep == Body::Keep { filled } else { head };
            filled += self.read_at(at).await?;
        }
        if filled > end {
            bail!("{} bytes more than one answer", filled - end);
        }
        Ok(())
    }

    async fn read_chunked(&mut self, head: usize, mut filled: usize, keep: Body) -> Result<usize> {
        let mut chunked = Chunked::default();
        let mut total = 0;
        loop {
            let gathered = &mut self.gathered;
            chunked.feed(&self.buffer[head..filled], |data| {
                total += data.len();
                if keep == Body::Keep {
                    gathered.extend_from_slice(data);
                }
            })?;
            if chunked.is_done() {
                return Ok(total);
            }
            filled = head + self.read_at(head).await?;
        }
    }

    async fn read_at(&mut self, at: usize) -> Result<usize> {
        let count = self.stream.read(&mut self.buffer[at..]).await?;
        if count == 0 {
            bail!("the server closed the connection");
        }
        Ok(count)
    }

    /// Sends a request whose answer does not end; returns the socket and what came after the head.
    pub(super) async fn into_stream(mut self, request: &[u8]) -> Result<(TcpStream, Vec<u8>)> {
        self.stream.write_all(request).await?;
        let (head, filled) = self.read_head().await?;
        if head.status != 200 || head.framing != Framing::Chunked {
            let text = String::from_utf8_lossy(&self.buffer[..filled]);
            bail!("the stream was refused: {}", text.chars().take(400).collect::<String>());
        }
        Ok((self.stream, self.buffer[head.bytes..filled].to_vec()))
    }
}
