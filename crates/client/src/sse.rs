//! Parses server-sent events as the WHATWG HTML standard defines them. No I/O.

use crate::{Error, Result, limit};
use std::collections::VecDeque;

/// A server-sent event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The field `event`; `message` if absent.
    pub event: String,
    /// The `data` fields, joined by line feeds.
    pub data: String,
    /// The last `id` field of the stream so far.
    pub id: Option<String>,
}

/// Parses frames from a byte stream that arrives in pieces.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    after_carriage_return: bool,
    has_started: bool,
    event: String,
    data: String,
    has_data: bool,
    id: Option<String>,
    frames: VecDeque<Frame>,
}

impl Parser {
    /// A parser at the beginning of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// [`Error::Protocol`] if a frame is larger than [`limit::FRAME_BYTES_MAX`].
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_carriage_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|b| matches!(b, b'\n' | b'\r')) else {
                self.grow(bytes)?;
                break;
            };
            self.grow(&bytes[..end])?;
            self.after_carriage_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.take_line(&String::from_utf8_lossy(&line));
        }
        Ok(())
    }

    /// The next complete frame, if there is one. A frame that the end of the stream cuts off is never returned.
    pub fn next_frame(&mut self) -> Option<Frame> {
        self.frames.pop_front()
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<()> {
        if self.line.len() + self.data.len() + bytes.len() > limit::FRAME_BYTES_MAX {
            return Err(Error::protocol(None, format!("a stream frame of more than {} bytes", limit::FRAME_BYTES_MAX)));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn take_line(&mut self, line: &str) {
        let line =
            if std::mem::replace(&mut self.has_started, true) { line } else { line.trim_start_matches('\u{feff}') };
        if line.is_empty() {
            self.dispatch();
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event),
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.has_data = true;
                self.data.push_str(value);
            }
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            // Comments (an empty field name), `retry` and unknown fields.
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        let event = std::mem::take(&mut self.event);
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            let event = if event.is_empty() { "message".to_owned() } else { event };
            self.frames.push_back(Frame { event, data, id: self.id.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{feff}: hello\r\nid: 1\r\nevent: event\r\ndata: {\"a\":\"ü\"}\r\n\r\ndata: x\ndata:  y\n\n\
                          event: none\n\nid: 2\rdata\r\rretry: 5\nunknown: z\nevent: end\ndata: {}\n\ndata: cut off";

    fn frames(pieces: impl Iterator<Item = Vec<u8>>) -> Vec<Frame> {
        let mut parser = Parser::new();
        for piece in pieces {
            parser.push(&piece).unwrap();
        }
        std::iter::from_fn(|| parser.next_frame()).collect()
    }

    #[test]
    fn frames_are_the_same_however_the_bytes_arrive() {
        let frame =
            |event: &str, data: &str, id: &str| Frame { event: event.into(), data: data.into(), id: Some(id.into()) };
        let expected = vec![
            frame("event", "{\"a\":\"ü\"}", "1"),
            frame("message", "x\n y", "1"),
            frame("message", "", "2"),
            frame("end", "{}", "2"),
        ];
        for size in 1..STREAM.len() {
            assert_eq!(frames(STREAM.as_bytes().chunks(size).map(<[u8]>::to_vec)), expected, "pieces of {size}");
        }
    }

    #[test]
    fn an_endless_frame_is_refused_before_it_fills_the_memory() {
        let mut parser = Parser::new();
        let piece = vec![b'x'; 64 * 1024];
        let refused = std::iter::repeat_n((), 100).find_map(|()| parser.push(&piece).err());
        assert!(matches!(refused, Some(Error::Protocol { .. })));
    }
}
