//! Follows a session's log, and reconnects when a connection is cut.

use crate::{Backoff, Client, Error, Result, limit, sse};
use domain::id::SessionId;
use reqwest::Response;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use wire::{
    event::Event,
    worker::{Delta, Progress},
};

/// An item of a followed log.
#[derive(Debug, Clone)]
pub enum StreamItem {
    /// The log's next event.
    Event(Box<Event>),
    /// A piece of a reply that is not in the log yet. Pieces can be missing and are not repeated.
    Delta(Delta),
    /// How far the worker is. Reports can be missing and are not repeated.
    Progress(Progress),
}

/// Follows a log from one sequence on: each event once, in order, until the session is final and its last event is
/// read.
#[derive(Debug)]
pub struct EventStream {
    client: Client,
    session_id: SessionId,
    position: u64,
    connection: Option<Connection>,
    backoff: Backoff,
    /// Age from which a connection that is cut does not count as failed. In production [`limit::STREAM_LASTING`].
    lasting: Duration,
    ended: bool,
}

#[derive(Debug)]
struct Connection {
    response: Response,
    parser: sse::Parser,
    opened: Instant,
}

impl EventStream {
    pub(crate) fn new(client: Client, session_id: SessionId, position: u64) -> Self {
        let seed = session_id.0.as_bytes().iter().fold(position, |seed, byte| seed.rotate_left(7) ^ u64::from(*byte));
        Self {
            client,
            session_id,
            position,
            connection: None,
            backoff: Backoff::new(seed),
            lasting: limit::STREAM_LASTING,
            ended: false,
        }
    }

    /// Opens the connection if there is none. From then on no piece of a reply is missed, so a caller that sends a
    /// message and wants its whole reply connects first. One try: [`Self::next_item`] tries again.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub async fn connect(&mut self) -> Result<()> {
        if self.connection.is_none() && !self.ended {
            let path = ["api", "sessions", &self.session_id.to_string(), "events", "stream"];
            let query = [("afterSequence", Some(self.position.to_string()))];
            let response = self.client.open(&path, &query, self.position).await?;
            self.connection = Some(Connection { response, parser: sse::Parser::new(), opened: Instant::now() });
        }
        Ok(())
    }

    /// Sequence of the last event that was returned.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// The next event, as [`Self::next_item`] but without the pieces.
    ///
    /// # Errors
    /// See [`Self::next_item`].
    pub async fn next(&mut self) -> Result<Option<Event>> {
        loop {
            match self.next_item().await? {
                Some(StreamItem::Event(event)) => return Ok(Some(*event)),
                Some(StreamItem::Delta(_) | StreamItem::Progress(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// The next event or piece of a reply; `None` once the server has announced the end.
    ///
    /// A connection that is cut or silent is opened again after the last event, up to [`limit::STREAM_RECONNECTS_MAX`]
    /// times in a row. One that brought an item, or that was cut after [`limit::STREAM_LASTING`], begins a new row. The
    /// method is cancel-safe.
    ///
    /// # Errors
    /// If the connection cannot be opened again, or the server's answer is not a stream of this API.
    pub async fn next_item(&mut self) -> Result<Option<StreamItem>> {
        loop {
            if self.ended {
                return Ok(None);
            }
            match self.step().await {
                Ok(Some(item)) => {
                    self.backoff.reset();
                    return Ok(Some(item));
                }
                Ok(None) => {}
                Err(error) => {
                    // One that was silent until the time-out counts as failed, however old it is.
                    let is_cut = !matches!(error, Error::Timeout(_));
                    if self.connection.take().is_some_and(|cut| is_cut && cut.opened.elapsed() >= self.lasting) {
                        self.backoff.reset();
                    }
                    if !error.is_retryable() || self.backoff.tries() >= limit::STREAM_RECONNECTS_MAX {
                        return Err(error);
                    }
                    let pause = self.backoff.pause(&error);
                    sleep(pause).await;
                }
            }
        }
    }

    /// Connects, returns a received frame, or waits for bytes.
    async fn step(&mut self) -> Result<Option<StreamItem>> {
        let Some(Connection { response, parser, .. }) = &mut self.connection else {
            self.connect().await?;
            return Ok(None);
        };
        if let Some(frame) = parser.next_frame() {
            return self.take(&frame);
        }
        let chunk = timeout(limit::STREAM_IDLE, response.chunk())
            .await
            .map_err(|_| Error::Timeout(limit::STREAM_IDLE))?
            .map_err(|error| Error::of_exchange(error, limit::STREAM_IDLE))?
            .ok_or_else(|| Error::Transport("the stream was cut off".into()))?;
        parser.push(&chunk)?;
        Ok(None)
    }

    fn take(&mut self, frame: &sse::Frame) -> Result<Option<StreamItem>> {
        match frame.event.as_str() {
            "end" => {
                self.ended = true;
                self.connection = None;
                Ok(None)
            }
            "message" | "event" => {
                let event: Event = serde_json::from_str(&frame.data)
                    .map_err(|error| Error::protocol(None, format!("not an event: {error}")))?;
                if event.sequence <= self.position {
                    return Ok(None);
                }
                if event.sequence != self.position + 1 {
                    return Err(Error::protocol(
                        None,
                        format!("the stream went from sequence {} to {}", self.position, event.sequence),
                    ));
                }
                self.position = event.sequence;
                Ok(Some(StreamItem::Event(Box::new(event))))
            }
            "delta" => {
                let delta = serde_json::from_str(&frame.data)
                    .map_err(|error| Error::protocol(None, format!("not a piece of an answer: {error}")))?;
                Ok(Some(StreamItem::Delta(delta)))
            }
            "progress" => {
                let progress = serde_json::from_str(&frame.data)
                    .map_err(|error| Error::protocol(None, format!("no progress: {error}")))?;
                Ok(Some(StreamItem::Progress(progress)))
            }
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::{
        io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
        net::TcpListener,
    };

    const SESSION: SessionId = SessionId(uuid::Uuid::nil());
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

    fn frame(sequence: u64) -> String {
        let event = serde_json::json!({
            "id": "0193b0a0-0000-7000-8000-000000000001", "sequence": sequence, "type": "agent.message", "role": "agent",
            "content": [], "metadata": {}, "actor": "system", "at": "2026-11-21T08:00:00Z",
            "recordedAt": "2026-11-21T08:00:00Z", "digest": ""
        });
        format!("id: {sequence}\nevent: event\ndata: {event}\n\n")
    }

    /// Answers one connection after the other, and tells what each asked to resume from.
    async fn serve(answers: Vec<String>) -> (Client, tokio::task::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = Client::new(&format!("http://{}", listener.local_addr().unwrap()), "t").unwrap();
        let serving = tokio::spawn(async move {
            let mut resumed = Vec::new();
            for answer in answers {
                let (mut socket, _) = listener.accept().await.unwrap();
                let mut lines = BufReader::new(&mut socket).lines();
                while let Some(line) = lines.next_line().await.unwrap().filter(|line| !line.is_empty()) {
                    resumed.extend(line.strip_prefix("last-event-id: ").map(str::to_owned));
                }
                socket.write_all(answer.as_bytes()).await.unwrap();
            }
            resumed
        });
        (client, serving)
    }

    #[tokio::test]
    async fn a_stream_that_is_cut_goes_on_where_it_was_and_ends_once() {
        let half_a_frame = &frame(4)[..20];
        let end = "event: end\ndata: {}\n\n";
        let (client, serving) = serve(vec![
            format!("{HEAD}retry: 2000\n\n{}{}{half_a_frame}", frame(2), frame(3)),
            "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".into(),
            format!("{HEAD}: beat\n\n{}{}event: bye\ndata: {{}}\n\n", frame(3), frame(4)),
            format!("{HEAD}{}{end}{}", frame(5), frame(6)),
        ])
        .await;
        let mut stream = client.stream(SESSION, 1);
        let mut seen = Vec::new();
        while let Some(event) = stream.next().await.unwrap() {
            seen.push(event.sequence);
        }
        assert_eq!(seen, [2, 3, 4, 5]);
        assert!(stream.next().await.unwrap().is_none());
        assert_eq!(serving.await.unwrap(), ["1", "3", "3", "4"]);
    }

    #[tokio::test]
    async fn connections_that_last_and_bring_nothing_are_opened_again_without_end() {
        let empty = format!("{HEAD}: beat\n\n");
        let mut answers = vec![empty; limit::STREAM_RECONNECTS_MAX as usize + 1];
        answers.push(format!("{HEAD}{}event: end\ndata: {{}}\n\n", frame(1)));
        let (client, _serving) = serve(answers).await;
        let mut stream = client.stream(SESSION, 0);
        stream.lasting = Duration::ZERO;
        assert_eq!(stream.next().await.unwrap().unwrap().sequence, 1);
        assert!(stream.next().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn pieces_of_an_answer_are_heard_where_they_are_asked_for() {
        let delta = "event: delta\ndata: {\"attempt\":1,\"offset\":0,\"text\":\"Hel\"}\n\n";
        let answer = || format!("{HEAD}{delta}{}event: end\ndata: {{}}\n\n", frame(1));
        let (client, _serving) = serve(vec![answer(), answer()]).await;
        let mut stream = client.stream(SESSION, 0);
        let Some(StreamItem::Delta(item)) = stream.next_item().await.unwrap() else { panic!("no piece") };
        assert_eq!(item, Delta { attempt: 1, offset: 0, text: "Hel".into() });
        assert!(matches!(stream.next_item().await.unwrap(), Some(StreamItem::Event(event)) if event.sequence == 1));
        assert!(stream.next_item().await.unwrap().is_none());
        assert_eq!(client.stream(SESSION, 0).next().await.unwrap().unwrap().sequence, 1);
    }

    #[tokio::test]
    async fn a_gap_in_the_sequence_is_an_error() {
        let (client, _serving) = serve(vec![format!("{HEAD}{}{}", frame(1), frame(3))]).await;
        let mut stream = client.stream(SESSION, 0);
        assert_eq!(stream.next().await.unwrap().unwrap().sequence, 1);
        assert!(matches!(stream.next().await, Err(Error::Protocol { .. })));
    }
}
