//! Reads one pipe of a command to its end.

use super::{
    super::{event_queue::EventSender, limit},
    lines::{LineParser, Output, Parsed},
    split::{Line, Splitter},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    select,
    time::sleep,
};
use tokio_util::sync::CancellationToken;

/// What a pipe carried besides events.
#[derive(Debug, Default)]
pub struct PipeOutput {
    /// The last outcome that was reported.
    pub outcome: Option<Output>,
    tail: Tail,
}

impl PipeOutput {
    /// The last [`limit::STDERR_TAIL_BYTES`] of the output.
    pub fn tail(&self) -> String {
        self.tail.text()
    }
}

/// Reads one pipe and records its events.
#[derive(Debug)]
pub struct PipeReader {
    parser: LineParser,
    events: Option<EventSender>,
    output: PipeOutput,
}

impl PipeReader {
    /// Events go into `events`.
    pub fn new(parser: LineParser, events: EventSender) -> Self {
        Self { parser, events: Some(events), output: PipeOutput::default() }
    }

    /// Reads until the pipe is closed, or is silent for [`limit::OUTPUT_GRACE`] after the command has exited.
    pub async fn drain(mut self, mut pipe: impl AsyncRead + Unpin, exited: CancellationToken) -> PipeOutput {
        let mut splitter = Splitter::new();
        let mut bytes = vec![0; limit::READ_BYTES];
        loop {
            let silence = async {
                exited.cancelled().await;
                sleep(limit::OUTPUT_GRACE).await;
            };
            let read = select! {
                biased;
                read = pipe.read(&mut bytes) => read.unwrap_or(0),
                () = silence => 0,
            };
            if read == 0 {
                break;
            }
            for line in splitter.push(&bytes[..read]) {
                self.take(&line).await;
            }
        }
        if let Some(line) = splitter.finish() {
            self.take(&line).await;
        }
        self.output
    }

    /// Without a queue the pipe is still read, so that a command that is being stopped does not block on a write.
    async fn take(&mut self, line: &Line) {
        self.output.tail.push(line);
        for parsed in self.parser.read(line) {
            match parsed {
                Parsed::Result(outcome) => self.output.outcome = Some(outcome),
                Parsed::Event(event) => {
                    if let Some(events) = &self.events
                        && events.push(event).await.is_err()
                    {
                        self.events = None;
                    }
                }
            }
        }
    }
}

/// The end of the output, at most [`limit::STDERR_TAIL_BYTES`] bytes.
#[derive(Debug, Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn push(&mut self, line: &Line) {
        let from = line.bytes.len().saturating_sub(limit::STDERR_TAIL_BYTES);
        self.0.extend_from_slice(&line.bytes[from..]);
        if line.ends {
            self.0.push(b'\n');
        }
        if self.0.len() > 2 * limit::STDERR_TAIL_BYTES {
            self.0.drain(..self.0.len() - limit::STDERR_TAIL_BYTES);
        }
    }

    fn text(&self) -> String {
        let from = self.0.len().saturating_sub(limit::STDERR_TAIL_BYTES);
        String::from_utf8_lossy(&self.0[from..]).trim().to_owned()
    }
}
