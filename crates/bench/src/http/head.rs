//! The head of an answer: status and how long the body is.

use anyhow::{Context as _, Result, bail};
use memchr::memmem;

/// How the end of a body is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    Length(usize),
    Chunked,
}

/// What an answer begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    pub framing: Framing,
    /// Its own length, the empty line included.
    pub bytes: usize,
}

impl Head {
    /// Reads the head, once all of it has arrived.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>> {
        let Some(end) = memmem::find(bytes, b"\r\n\r\n") else { return Ok(None) };
        let text = std::str::from_utf8(&bytes[..end]).context("an answer's head is not text")?;
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok());
        let Some(status) = status else { bail!("not HTTP/1.1: {:?}", text.lines().next()) };
        // 204 and 304 have no body and need not say so.
        let mut framing = Framing::Length(0);
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { continue };
            if name.eq_ignore_ascii_case("content-length") {
                framing = Framing::Length(value.trim().parse().context("content-length")?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                framing = Framing::Chunked;
            }
        }
        Ok(Some(Self { status, framing, bytes: end + 4 }))
    }
}

/// The value of a header, where the head has one.
pub fn header<'a>(head: &'a str, wanted: &str) -> Option<&'a str> {
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_once_it_is_whole() {
        let bytes = b"HTTP/1.1 201 Created\r\nContent-Length: 12\r\nx: y\r\n\r\nhello";
        assert_eq!(Head::parse(&bytes[..40]).unwrap(), None);
        let head = Head::parse(bytes).unwrap().unwrap();
        assert_eq!(head, Head { status: 201, framing: Framing::Length(12), bytes: bytes.len() - 5 });
        let chunked = Head::parse(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").unwrap().unwrap();
        assert_eq!(chunked.framing, Framing::Chunked);
        assert!(Head::parse(b"SSH-2.0-x\r\n\r\n").is_err());
    }

    #[test]
    fn header_names_have_no_case() {
        assert_eq!(header("HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/", "set-cookie"), Some("a=b; Path=/"));
        assert_eq!(header("HTTP/1.1 200 OK", "set-cookie"), None);
    }
}
