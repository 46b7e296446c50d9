//! `transfer-encoding: chunked`, decoded as the bytes arrive.

use anyhow::{Result, bail};

/// The part of the framing that the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Size,
    Extension,
    Data,
    DataEnd,
    Trailer { empty: bool },
    Done,
}

/// Strips the framing off a chunked body.
#[derive(Debug)]
pub struct Chunked {
    state: State,
    left: usize,
}

impl Default for Chunked {
    fn default() -> Self {
        Self { state: State::Size, left: 0 }
    }
}

impl Chunked {
    /// Whether the last chunk was read.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Takes bytes as read from the socket and hands their payload on.
    pub fn feed(&mut self, mut bytes: &[u8], mut payload: impl FnMut(&[u8])) -> Result<()> {
        while let Some((&byte, rest)) = bytes.split_first() {
            if self.state == State::Data {
                let (data, behind) = bytes.split_at(self.left.min(bytes.len()));
                payload(data);
                self.left -= data.len();
                bytes = behind;
                if self.left == 0 {
                    self.state = State::DataEnd;
                }
                continue;
            }
            bytes = rest;
            self.state = self.step(byte)?;
        }
        Ok(())
    }

    fn step(&mut self, byte: u8) -> Result<State> {
        Ok(match (self.state, byte) {
            (State::Size | State::Extension, b'\n') if self.left == 0 => State::Trailer { empty: true },
            (State::Size | State::Extension, b'\n') => State::Data,
            (State::Size, b'\r') => State::Size,
            (State::Size, b';') | (State::Extension, _) => State::Extension,
            (State::Size, digit) => {
                let Some(value) = char::from(digit).to_digit(16) else {
                    bail!("a chunk size has the byte {digit:#04x}")
                };
                self.left = self.left * 16 + value as usize;
                State::Size
            }
            (State::DataEnd, b'\n') => State::Size,
            (State::Trailer { empty: true }, b'\n') => State::Done,
            (State::Trailer { .. }, b'\n') => State::Trailer { empty: true },
            (State::Trailer { empty }, b'\r') => State::Trailer { empty },
            (State::Trailer { .. }, _) => State::Trailer { empty: false },
            (State::Done, _) => bail!("bytes after the last chunk"),
            (state, _) => state,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_is_the_same_wherever_the_bytes_break() {
        let wire = b"4\r\nWiki\r\n6;name=value\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\nx: y\r\n\r\n";
        for size in 1..=wire.len() {
            let (mut chunked, mut text) = (Chunked::default(), Vec::new());
            for part in wire.chunks(size) {
                chunked.feed(part, |data| text.extend_from_slice(data)).unwrap();
            }
            assert_eq!(text, b"Wikipedia in \r\n\r\nchunks.", "in parts of {size}");
            assert!(chunked.is_done());
        }
    }

    #[test]
    fn what_is_no_chunk_is_refused() {
        assert!(Chunked::default().feed(b"zz\r\n", |_| ()).is_err());
        assert!(Chunked::default().feed(b"0\r\n\r\nmore", |_| ()).is_err());
    }
}
