//! The stream of a session, read frame by frame.

use super::{Connection, Reply, parse};
use crate::history::Seen;
use ::client::sse::{Frame, Parser};
use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{Method, Response, body::Incoming};
use std::time::Duration;
use tokio::time::timeout;
use uuid::Uuid;

/// The server promises a heartbeat every 15 s.
pub const SILENCE_MAX: Duration = Duration::from_secs(45);

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
    frames: Parser,
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
        Ok(Self { response, frames: Parser::new() })
    }

    /// The next item.
    ///
    /// # Errors
    /// If the connection ended, was cut, or was silent for [`SILENCE_MAX`].
    pub async fn next(&mut self) -> Result<StreamItem> {
        loop {
            if let Some(frame) = self.frames.next_frame() {
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
    match frame.event.as_str() {
        "end" => return Ok(StreamItem::End),
        // A frame without a name, as an event of the log is sent.
        "message" => {}
        _ => return Ok(StreamItem::Other),
    }
    let id = frame.id.as_deref().and_then(|id| id.parse::<u64>().ok()).context("an event has no numeric id")?;
    let event: wire::event::Event = serde_json::from_str(&frame.data).context("stream data is not an event")?;
    let (sequence, event_id, digest) = parse::seen(&event);
    // A browser resumes from `id:`, so that is the position that counts.
    if id != sequence {
        bail!("a frame has id {id} and sequence {sequence}");
    }
    Ok(StreamItem::Event((sequence, event_id, digest)))
}
