//! Server-sent events, read frame by frame.

use super::{Connection, Reply, parse};
use crate::history::Seen;
use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{Method, Response, body::Incoming};
use std::{collections::VecDeque, time::Duration};
use tokio::time::timeout;
use uuid::Uuid;

/// Largest frame: more without an empty line is not a stream of ours.
const FRAME_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The server promises a heartbeat every 15 s.
pub const SILENCE_MAX: Duration = Duration::from_secs(45);

/// One dispatched event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// `id:`
    pub id: Option<String>,
    /// `event:`, `message` when absent.
    pub event: String,
    /// `data:` lines joined.
    pub data: String,
}

/// Cuts a byte stream into frames. Comments (heartbeats) are skipped.
#[derive(Default)]
pub struct Frames {
    rest: Vec<u8>,
    ready: VecDeque<Frame>,
}

impl Frames {
    /// Takes more bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.windows(2).position(|pair| pair == b"\n\n") {
            let block: Vec<u8> = self.rest.drain(..end + 2).collect();
            let block = std::str::from_utf8(&block).context("a frame is not UTF-8")?;
            if let Some(frame) = parse_frame(block) {
                self.ready.push_back(frame);
            }
        }
        if self.rest.len() > FRAME_BYTES_MAX {
            bail!("a frame is larger than {FRAME_BYTES_MAX} bytes");
        }
        Ok(())
    }

    /// The next whole frame.
    pub fn pop(&mut self) -> Option<Frame> {
        self.ready.pop_front()
    }
}

fn parse_frame(block: &str) -> Option<Frame> {
    let (mut id, mut event, mut data) = (None, None, Vec::new());
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => id = Some(value.to_owned()),
            "event" => event = Some(value.to_owned()),
            "data" => data.push(value),
            _ => {}
        }
    }
    // By the standard a frame without data is not dispatched; ours may end with a bare `event: end`.
    if data.is_empty() && event.is_none() {
        return None;
    }
    Some(Frame { id, event: event.unwrap_or_else(|| "message".into()), data: data.join("\n") })
}

/// The next item of a stream.
#[derive(Debug)]
pub enum StreamItem {
    /// An event of the log.
    Event(Seen),
    /// The session is final and read to its head.
    End,
    /// A frame that does not concern the log.
    Other,
}

/// An open stream of one session.
pub struct Stream {
    response: Response<Incoming>,
    frames: Frames,
}

impl Stream {
    /// Opens the stream, resuming after `after` the way browsers do.
    pub async fn open(
        connection: &mut Connection,
        session: Uuid,
        after: u64,
        answer_max: Duration,
    ) -> Result<Self, Reply> {
        let path = format!("/api/sessions/{session}/events/stream");
        let headers: Vec<(&str, String)> =
            if after == 0 { Vec::new() } else { vec![("last-event-id", after.to_string())] };
        let response = connection.open(Method::GET, &path, None, &headers, answer_max).await?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(Reply::Answered { status, body: Bytes::new() });
        }
        Ok(Self { response, frames: Frames::default() })
    }

    /// The next item.
    ///
    /// # Errors
    /// If the connection ended, was cut, or was silent for [`SILENCE_MAX`].
    pub async fn next(&mut self) -> Result<StreamItem> {
        loop {
            if let Some(frame) = self.frames.pop() {
                return parse_item(&frame);
            }
            let body = self.response.body_mut();
            let part = timeout(SILENCE_MAX, body.frame()).await.context("the stream fell silent")?;
            let part = part.context("the stream ended")?.context("the stream was cut")?;
            if let Some(bytes) = part.data_ref() {
                self.frames.push(bytes)?;
            }
        }
    }
}

fn parse_item(frame: &Frame) -> Result<StreamItem> {
    if frame.event == "end" {
        return Ok(StreamItem::End);
    }
    let Some(id) = frame.id.as_deref().and_then(|id| id.parse::<u64>().ok()) else { return Ok(StreamItem::Other) };
    let event: wire::event::Event = serde_json::from_str(&frame.data).context("stream data is not an event")?;
    let (sequence, event_id, digest) = parse::seen(&event);
    // A browser resumes from `id:`, so that is the position that counts.
    if id != sequence {
        bail!("a frame has id {id} and sequence {sequence}");
    }
    Ok(StreamItem::Event((sequence, event_id, digest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_cut_at_empty_lines_wherever_the_bytes_break() {
        let text = ": heartbeat\n\nid: 7\nevent: event\ndata: {\"a\":\ndata: 1}\n\nretry: 10\n\nevent: end\n\n";
        for size in 1..text.len() {
            let mut frames = Frames::default();
            for chunk in text.as_bytes().chunks(size) {
                frames.push(chunk).unwrap();
            }
            let first = frames.pop().unwrap();
            assert_eq!(
                (first.id.as_deref(), first.event.as_str(), first.data.as_str()),
                (Some("7"), "event", "{\"a\":\n1}")
            );
            assert_eq!(frames.pop().unwrap().event, "end");
            assert!(frames.pop().is_none());
        }
    }
}
