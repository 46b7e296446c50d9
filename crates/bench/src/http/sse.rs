//! A follower of a session: counts the events it is sent and sees that none is missing.

use super::{chunked::Chunked, connection::Connection, request::Request};
use anyhow::{Result, bail};
use memchr::memchr;
use tokio::{io::AsyncReadExt as _, net::TcpStream};

const READ_BYTES: usize = 64 * 1024;
/// `id: ` and the longest number.
const ID_LINE_BYTES_MAX: usize = 4 + 20;

/// Finds the `id:` lines of an event stream, wherever its bytes break. It parses nothing else, unlike `client::sse`:
/// thousands of followers share the machine with the server that is measured.
#[derive(Debug, Default)]
pub struct Scanner {
    /// The beginning of a line that has not ended yet; no more of it than an id line can have.
    line: Vec<u8>,
    /// The last sequence that arrived.
    pub last: u64,
    /// Events so far.
    pub count: u64,
    /// Events that did not follow the one before.
    pub gaps: u64,
    /// Bytes so far, without HTTP's framing.
    pub bytes: u64,
}

impl Scanner {
    /// A follower that has read up to `last`.
    pub fn after(last: u64) -> Self {
        Self { last, ..Self::default() }
    }

    /// Takes more of the stream.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            if self.line.is_empty() {
                self.take(line);
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(&line[..line.len().min(ID_LINE_BYTES_MAX)]);
                self.take(&whole);
            }
            bytes = &rest[1..];
        }
        let room = ID_LINE_BYTES_MAX.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn take(&mut self, line: &[u8]) {
        let Some(digits) = line.strip_prefix(b"id: ") else { return };
        let Some(id) = std::str::from_utf8(digits).ok().and_then(|text| text.trim_end().parse::<u64>().ok()) else {
            return;
        };
        self.count += 1;
        if id != self.last + 1 {
            self.gaps += 1;
        }
        self.last = id;
    }
}

/// An open stream.
pub struct Stream {
    socket: TcpStream,
    chunked: Chunked,
    buffer: Vec<u8>,
    /// What was seen so far.
    pub seen: Scanner,
}

impl Stream {
    /// Opens the stream that the request names, which begins behind `after`.
    pub async fn open(connection: Connection, request: &Request, after: u64) -> Result<Self> {
        let (socket, first) = connection.into_stream(request.bytes()).await?;
        let mut stream =
            Self { socket, chunked: Chunked::default(), buffer: vec![0; READ_BYTES], seen: Scanner::after(after) };
        stream.chunked.feed(&first, |data| stream.seen.feed(data))?;
        Ok(stream)
    }

    /// Reads what there is, at least one byte.
    pub async fn read(&mut self) -> Result<()> {
        let count = self.socket.read(&mut self.buffer).await?;
        if count == 0 || self.chunked.is_done() {
            bail!("the stream ended after event {}", self.seen.last);
        }
        let seen = &mut self.seen;
        self.chunked.feed(&self.buffer[..count], |data| seen.feed(data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_wherever_the_bytes_break() {
        let text = "retry: 2000\n\nid: 7\ndata: {\"id: 9\":1}\n\n: beat\n\nid: 8\ndata: x\n\nevent: end\ndata: {}\n\n";
        for size in 1..=text.len() {
            let mut scanner = Scanner::after(6);
            text.as_bytes().chunks(size).for_each(|part| scanner.feed(part));
            assert_eq!((scanner.count, scanner.last, scanner.gaps), (2, 8, 0), "in parts of {size}");
            assert_eq!(scanner.bytes, text.len() as u64);
        }
    }

    #[test]
    fn a_missing_or_repeated_event_is_a_gap() {
        let mut scanner = Scanner::after(0);
        scanner.feed(b"id: 1\n\nid: 3\n\nid: 3\n\nid: 4\n\n");
        assert_eq!((scanner.count, scanner.gaps), (4, 2));
    }
}
