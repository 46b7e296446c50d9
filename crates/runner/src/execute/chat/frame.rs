//! The frames of a streamed answer, bounded where their bytes arrive: one line, and the whole answer.
//!
//! Every byte is looked at once, so the time that an answer takes grows with its size alone, also for one line of
//! many megabytes that arrives in small parts. Unlike the specification of event streams, the frame that the end of the
//! stream cuts off is returned too: some services do not end their last one.

use super::super::limit;
use domain::count::counted;
use std::{collections::VecDeque, mem::take};
use tokio::time::timeout;

/// Why no further frame can be read.
#[derive(Debug)]
pub(super) enum Broken {
    /// The service sent nothing for [`limit::MODEL_SILENCE_MAX`].
    Silent,
    /// The connection failed.
    Lost(reqwest::Error),
    /// The answer is larger than a bound.
    TooLarge(Excess),
}

/// The bound that an answer exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excess {
    /// [`limit::MODEL_LINE_BYTES_MAX`], by one line.
    Line,
    /// The same bound, by the lines of one frame together.
    Frame,
    /// [`limit::MODEL_ANSWER_BYTES_MAX`].
    Answer,
}

impl Excess {
    /// What the service sent, as a sentence.
    pub fn sentence(self) -> String {
        let (what, most) = match self {
            Self::Line => ("a line", limit::MODEL_LINE_BYTES_MAX),
            Self::Frame => ("an event", limit::MODEL_LINE_BYTES_MAX),
            Self::Answer => ("an answer", limit::MODEL_ANSWER_BYTES_MAX),
        };
        format!("the model service sent {what} of more than {}", counted(most as u64, "byte"))
    }
}

/// The data of the frames of one answer.
#[derive(Debug)]
pub(super) struct Frames {
    response: reqwest::Response,
    reader: FrameReader,
    ready: VecDeque<String>,
    has_ended: bool,
}

impl Frames {
    /// Reads the body of this answer.
    pub fn new(response: reqwest::Response) -> Self {
        Self { response, reader: FrameReader::default(), ready: VecDeque::new(), has_ended: false }
    }

    /// The data of the next frame; `None` at the end of the answer.
    ///
    /// # Errors
    /// Why the answer cannot be read any further.
    pub async fn next(&mut self) -> Result<Option<String>, Broken> {
        while self.ready.is_empty() && !self.has_ended {
            let arrived = timeout(limit::MODEL_SILENCE_MAX, self.response.chunk()).await;
            match arrived.map_err(|_| Broken::Silent)?.map_err(Broken::Lost)? {
                Some(bytes) => self.reader.read(&bytes, &mut self.ready).map_err(Broken::TooLarge)?,
                None => {
                    self.has_ended = true;
                    self.reader.end(&mut self.ready).map_err(Broken::TooLarge)?;
                }
            }
        }
        Ok(self.ready.pop_front())
    }
}

/// Cuts the bytes of an event stream into the data of its frames. Names and ids of frames are left out: the data of
/// both wire formats has its own type.
#[derive(Debug, Default)]
struct FrameReader {
    /// The line that has not ended.
    line: Vec<u8>,
    /// Data of the frame that has not ended.
    data: Option<Vec<u8>>,
    /// Bytes of the whole answer so far.
    bytes: usize,
    /// Whether the last byte was a carriage return, with which a line feed makes one end of a line.
    follows_return: bool,
}

impl FrameReader {
    /// Reads the next bytes. Adds the data of the frames that they end.
    fn read(&mut self, mut bytes: &[u8], frames: &mut VecDeque<String>) -> Result<(), Excess> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > limit::MODEL_ANSWER_BYTES_MAX {
            return Err(Excess::Answer);
        }
        if !bytes.is_empty() && take(&mut self.follows_return) {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (part, rest) = bytes.split_at(end);
            self.append(part)?;
            self.end_line(frames)?;
            bytes = match rest {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.follows_return = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => &[],
            };
        }
        self.append(bytes)
    }

    /// Ends the stream, and with it the last line and frame.
    fn end(&mut self, frames: &mut VecDeque<String>) -> Result<(), Excess> {
        self.end_line(frames)?;
        self.end_frame(frames);
        Ok(())
    }

    fn append(&mut self, part: &[u8]) -> Result<(), Excess> {
        if self.line.len().saturating_add(part.len()) > limit::MODEL_LINE_BYTES_MAX {
            return Err(Excess::Line);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self, frames: &mut VecDeque<String>) -> Result<(), Excess> {
        let line = take(&mut self.line);
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
        if line.is_empty() {
            self.end_frame(frames);
        }
        let Some(value) = line.strip_prefix(b"data:") else { return Ok(()) };
        let data = self.data.get_or_insert_default();
        if data.len().saturating_add(value.len()) > limit::MODEL_LINE_BYTES_MAX {
            return Err(Excess::Frame);
        }
        if !data.is_empty() {
            data.push(b'\n');
        }
        data.extend_from_slice(value.trim_ascii());
        Ok(())
    }

    /// Bytes that are not UTF-8 are kept as U+FFFD: a broken character does not cost the reply.
    fn end_frame(&mut self, frames: &mut VecDeque<String>) {
        let data = self.data.take().filter(|data| !data.is_empty());
        frames.extend(data.map(|data| String::from_utf8_lossy(&data).into_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames of a stream that arrives in parts of this size.
    fn frames(stream: &[u8], size: usize) -> Result<Vec<String>, Excess> {
        let (mut reader, mut frames) = (FrameReader::default(), VecDeque::new());
        for part in stream.chunks(size) {
            reader.read(part, &mut frames)?;
        }
        reader.end(&mut frames)?;
        Ok(frames.into())
    }

    #[test]
    fn frames_are_the_same_with_every_end_of_line_however_they_arrive() {
        let stream =
            "\u{feff}: hello\nevent: x\ndata: {\"a\":\ndata: \"ünd\"}\n\nid: 7\n\n\ndata:[DONE]\n\n data: torn";
        let expected = ["{\"a\":\n\"ünd\"}", "[DONE]", "torn"];
        for end in ["\n", "\r\n", "\r"] {
            let stream = stream.replace('\n', end);
            for size in 1..=stream.len() {
                assert_eq!(frames(stream.as_bytes(), size).unwrap(), expected, "{end:?} in parts of {size}");
            }
        }
        assert_eq!(frames(b"data: a\xffb\n\n", 3).unwrap(), ["a\u{fffd}b"]);
        assert_eq!(frames(b"", 1).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_line_a_frame_and_an_answer_end_at_their_bounds() {
        let line = |bytes: usize| [b"data: ".to_vec(), vec![b'x'; bytes - 6]].concat();
        let most = limit::MODEL_LINE_BYTES_MAX;
        assert_eq!(frames(&line(most), 65_536).unwrap()[0].len(), most - 6);
        assert_eq!(frames(&line(most + 1), 65_536), Err(Excess::Line));
        let two = [line(most), b"\n".to_vec(), line(20), b"\n\n".to_vec()].concat();
        assert_eq!(frames(&two, 65_536), Err(Excess::Frame));
        // Small lines are bounded only together.
        let bytes = limit::MODEL_ANSWER_BYTES_MAX - 9;
        let (mut reader, mut ready) = (FrameReader { bytes, ..FrameReader::default() }, VecDeque::new());
        assert_eq!(reader.read(b"data: x\n\n", &mut ready), Ok(()));
        assert_eq!(reader.read(b"\n", &mut ready), Err(Excess::Answer));
        assert_eq!(Excess::Line.sentence(), "the model service sent a line of more than 4,194,304 bytes");
    }
}
