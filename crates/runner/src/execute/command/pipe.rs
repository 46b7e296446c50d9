//! Reads one pipe of a command to its end.

use super::{
    super::{
        event, event_queue::EventSender, lease::Lease, limit, notes::Notes, progress::ProgressSender,
        worker_api::WorkerApi,
    },
    lines::{self, LineParser},
    output::{Output, Parsed},
    split::{Line, Splitter},
};
use domain::decoding::StreamDecoder;
use domain::event::Known;
use domain::id::SessionId;
use domain::limit::KEY_CHARS_MAX;
use std::{pin::pin, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    select,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;
use wire::{
    canvas::{PatchAnswer, SendPatch},
    event::NewEvent,
    feedback_request::{AskFeedback, Asked},
    worker::Progress,
};

/// What a pipe carried besides events.
#[derive(Debug, Default)]
pub struct PipeOutput {
    /// The last outcome that was reported.
    pub outcome: Option<Output>,
    /// The last request to people for which the session has to wait. It is made when the command has ended.
    pub asked: Option<AskFeedback>,
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
    asker: Option<Asker>,
    progress: Option<ProgressSender>,
    /// Time before which no patch of a canvas is sent.
    next_patch: Option<Instant>,
    /// How long the pipe is read after the command has exited.
    output_time: Duration,
    output: PipeOutput,
}

/// Makes requests to people, and changes canvases, for a running command.
#[derive(Debug, Clone)]
pub struct Asker {
    /// API of the worker.
    pub api: Arc<dyn WorkerApi>,
    /// Lease of the session.
    pub lease: Arc<Lease>,
}

impl Asker {
    /// Makes a request. It is repeated while the lease is held.
    ///
    /// # Errors
    /// Those of [`Lease::retry_while_held`].
    pub async fn ask(&self, ask: &AskFeedback) -> client::Result<Asked> {
        let ask = AskFeedback { attempt: self.lease.attempt, ..ask.clone() };
        let lease = &self.lease;
        lease.retry_while_held(lease.backoff(), |_| self.api.ask_feedback(lease.session_id, &ask)).await
    }

    /// Changes a canvas. The patch is sent until it is answered, while the lease is held: under its id it is applied
    /// once.
    async fn patch(&self, id: SessionId, patch: &SendPatch) -> client::Result<PatchAnswer> {
        let lease = &self.lease;
        lease.retry_while_held(lease.backoff(), |_| self.api.patch_canvas(id, patch)).await
    }
}

impl PipeReader {
    /// Events go into `events`. `output_time` is how long the pipe is read after the command has exited.
    pub fn new(parser: LineParser, events: EventSender, output_time: Duration) -> Self {
        Self {
            parser,
            events: Some(events),
            asker: None,
            progress: None,
            next_patch: None,
            output_time,
            output: PipeOutput::default(),
        }
    }

    /// Lets the command ask people.
    #[must_use]
    pub fn asking(self, asker: Asker) -> Self {
        Self { asker: Some(asker), ..self }
    }

    /// Reads until the pipe is closed. After the command has exited, it also ends when the pipe is silent for
    /// [`limit::OUTPUT_GRACE`], and when nothing is left to read after the output time.
    pub async fn drain(mut self, mut pipe: impl AsyncRead + Unpin, exited: CancellationToken) -> PipeOutput {
        let mut decoder = StreamDecoder::default();
        let mut splitter = Splitter::new(self.parser.line_bytes_max());
        let mut bytes = vec![0; limit::READ_BYTES];
        let output_time = self.output_time;
        let mut end = pin!(async {
            exited.cancelled().await;
            sleep(output_time).await;
        });
        let (mut is_late, mut late_bytes) = (false, 0);
        loop {
            let grace = if is_late { Duration::ZERO } else { limit::OUTPUT_GRACE };
            let silence = async {
                exited.cancelled().await;
                sleep(grace).await;
            };
            let read = select! {
                biased;
                () = &mut end, if !is_late => {
                    is_late = true;
                    continue;
                }
                read = pipe.read(&mut bytes) => read.unwrap_or(0),
                () = silence => 0,
            };
            if is_late {
                late_bytes += read;
            }
            if read == 0 || late_bytes > limit::OUTPUT_LATE_BYTES {
                break;
            }
            for line in splitter.push(&decoder.push(&bytes[..read])) {
                self.take(&line, decoder.is_utf16()).await;
            }
        }
        for line in splitter.push(&decoder.finish()) {
            self.take(&line, decoder.is_utf16()).await;
        }
        if let Some(line) = splitter.finish() {
            self.take(&line, decoder.is_utf16()).await;
        }
        if let Some(outcome) = self.parser.finish() {
            self.output.outcome = Some(outcome);
        }
        self.output
    }

    /// Without a queue the pipe is still read, so that a command that is being stopped does not block on a write.
    async fn take(&mut self, line: &Line, is_utf16: bool) {
        self.output.tail.push(line);
        for parsed in self.parser.read(line, is_utf16) {
            match parsed {
                Parsed::Result(outcome) => self.output.outcome = Some(outcome),
                Parsed::Event(event) => self.record(event).await,
                Parsed::Ask(ask) if ask.blocking.unwrap_or(true) => {
                    // The session waits for one answer: the last request counts, as the last result does.
                    if let Some(earlier) = self.output.asked.replace(*ask) {
                        for event in lines::unasked(&earlier) {
                            self.record(event).await;
                        }
                    }
                }
                Parsed::Ask(ask) => self.ask_aside(&ask).await,
                Parsed::Progress(progress) => self.report(progress),
                Parsed::Patch(id, patch) => self.patch(id, &patch).await,
            }
        }
    }

    /// Publishes progress, if the command may ask: that pipe knows the lease.
    fn report(&mut self, progress: Progress) {
        let Some(asker) = &self.asker else { return };
        let lease = &asker.lease;
        self.progress.get_or_insert_with(|| ProgressSender::start(Arc::clone(lease))).push(progress);
    }

    async fn record(&mut self, event: NewEvent) {
        if let Some(events) = &self.events
            && events.push(event).await.is_err()
        {
            self.events = None;
        }
    }

    /// Makes a request for which the session does not wait. A refusal is recorded, and the command continues.
    async fn ask_aside(&mut self, ask: &AskFeedback) {
        let Some(asker) = &self.asker else { return };
        if let Err(error) = asker.ask(ask).await {
            let text = format!("a request to people was refused: {error}");
            self.warn(&text, &Notes { request_refused: true, ..Notes::default() }).await;
        }
    }

    /// Changes a canvas, at most five times a second: until then the command waits on its full pipe. A change that is
    /// not applied is recorded, and the command continues.
    async fn patch(&mut self, id: SessionId, patch: &SendPatch) {
        let Some(asker) = self.asker.clone().filter(|asker| asker.lease.loss().is_none()) else { return };
        if let Some(at) = self.next_patch {
            sleep_until(at).await;
        }
        let answer = asker.patch(id, patch).await;
        self.next_patch = Some(Instant::now() + limit::CANVAS_PATCH_PAUSE);
        let why = match answer {
            Ok(PatchAnswer { rejected: Some(rejected), .. }) => {
                format!("{} at {:?}", rejected.reason, rejected.path.to_string())
            }
            Ok(_) => return,
            Err(error) => error.to_string(),
        };
        let op_id: String = patch.op_id.chars().take(KEY_CHARS_MAX).collect();
        let text = format!("The change {op_id} of the canvas {id} was not applied: {why}");
        self.warn(&text, &Notes { patch_refused: true, ..Notes::default() }).await;
    }

    async fn warn(&mut self, text: &str, notes: &Notes) {
        for event in event::texts(Known::ExternalEvent.as_str(), text, notes) {
            self.record(event).await;
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
