//! One pipe, read to its end.

use super::{
    super::{limit, outbox::Queue},
    lines::{Output, Reader, Said},
    split::{Line, Splitter},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    select,
    time::sleep,
};
use tokio_util::sync::CancellationToken;

/// What a pipe said besides events.
#[derive(Debug, Default)]
pub struct Heard {
    /// What was reported as the outcome; the last counts.
    pub outcome: Option<Output>,
    tail: Tail,
}

impl Heard {
    /// The end of what was said, bounded.
    pub fn tail(&self) -> String {
        self.tail.text()
    }
}

/// Reads one pipe to its end.
#[derive(Debug)]
pub struct Tap {
    reader: Reader,
    queue: Option<Queue>,
    heard: Heard,
}

impl Tap {
    /// What the reader makes of it goes into the queue.
    pub fn new(reader: Reader, queue: Queue) -> Self {
        Self { reader, queue: Some(queue), heard: Heard::default() }
    }

    /// Reads until the pipe closes, or stays silent for a while after the command has ended.
    pub async fn drain(mut self, mut pipe: impl AsyncRead + Unpin, exited: CancellationToken) -> Heard {
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
        self.heard
    }

    /// Once nobody sends any more, the pipe is still read, so that a command that is told to end is not stuck in a write.
    async fn take(&mut self, line: &Line) {
        self.heard.tail.push(line);
        for said in self.reader.read(line) {
            match said {
                Said::Result(outcome) => self.heard.outcome = Some(outcome),
                Said::Event(event) => {
                    if let Some(queue) = &self.queue
                        && queue.push(event).await.is_err()
                    {
                        self.queue = None;
                    }
                }
            }
        }
    }
}

/// The end of what was said, bounded.
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
