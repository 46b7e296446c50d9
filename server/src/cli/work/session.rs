//! One session, from its claim to its end.

use super::{
    child::{self, Child},
    lease::{Lease, Loss, may_pass},
    limit,
    lines::{self, Outcome, Reader, Said, Stream},
    outbox::{self, Queue},
    progress::Progress,
    split::{Line, Splitter},
};
use client::Client;
use domain::limit::REASON_CHARS_MAX;
use std::{ffi::OsString, process::ExitStatus, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::ChildStdin,
    select,
    sync::watch,
    time::{Instant, sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use wire::{session::Session, worker::ClaimedSession};

/// How far the worker is with stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Not at all.
    Working,
    /// Nothing new is claimed; running commands go on.
    Draining,
    /// Commands are asked to end; their sessions are released.
    Releasing,
    /// Commands are killed; their sessions are released.
    Aborting,
}

/// What all sessions of a worker share.
#[derive(Debug)]
pub struct Worker {
    /// How to reach the server.
    pub client: Client,
    /// Handed on to commands.
    pub token: String,
    /// What to run.
    pub command: Vec<OsString>,
    /// Length of a lease.
    pub lease: Duration,
    /// Where progress is told.
    pub progress: Arc<Progress>,
    /// How far it is with stopping.
    pub phase: watch::Receiver<Phase>,
}

/// How a session left this worker.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// Recorded as completed.
    Completed,
    /// Recorded as failed, with this code.
    Failed(String),
    /// Given back unfinished.
    Released,
    /// Not ours any more.
    Left(String),
}

impl Worker {
    /// Waits until the worker is at least this far with stopping.
    pub async fn reached(&self, phase: Phase) {
        // The sender lives as long as the process.
        let _ = self.phase.clone().wait_for(|now| *now >= phase).await;
    }

    /// Runs the command for a session just claimed.
    pub async fn run(&self, claimed: ClaimedSession) -> End {
        let started = Instant::now();
        let ClaimedSession { session, attempt, input, context, .. } = claimed;
        let progress = &self.progress;
        let name = session.action_slug.as_deref().unwrap_or("-");
        progress.say(&format!("{} claimed (attempt {attempt}, task {name})", session.id));
        progress.began();
        let lease = Lease::new(self.client.clone(), session.id.clone(), attempt, self.lease, started);
        let input = input.map_or_else(|| "null\n".to_owned(), |input| format!("{}\n", input.get()));
        let end = self.work(Arc::new(lease), &session, input, context).await;
        let seconds = started.elapsed().as_secs_f32();
        match &end {
            End::Completed => {
                progress.ended(true);
                progress.say(&format!("{} completed in {seconds:.1} s", session.id));
            }
            End::Failed(code) => {
                progress.ended(false);
                progress.say(&format!("{} failed after {seconds:.1} s ({code})", session.id));
            }
            End::Released => {
                progress.left();
                progress.say(&format!("{} released after {seconds:.1} s", session.id));
            }
            End::Left(why) => {
                progress.left();
                progress.say(&format!("{} left after {seconds:.1} s: {why}", session.id));
            }
        }
        end
    }

    async fn work(&self, lease: Arc<Lease>, session: &Session, input: String, context: Option<String>) -> End {
        let heartbeat = AbortOnDropHandle::new(tokio::spawn({
            let lease = Arc::clone(&lease);
            async move { lease.keep().await }
        }));
        let environment = self.environment(session, lease.attempt, context);
        let (mut child, pipes) = match Child::start(&self.command, &environment) {
            Ok(started) => started,
            Err(error) => return fail(&lease, format!("the command cannot start: {error}"), "spawn_failed").await,
        };
        let (queue, outbox) = outbox::open(Arc::clone(&lease), Arc::clone(&self.progress));
        let mut sending = AbortOnDropHandle::new(tokio::spawn(outbox.run()));
        let feeding = AbortOnDropHandle::new(tokio::spawn(feed(pipes.stdin, input)));
        let exited = CancellationToken::new();
        let tap = |stream| Tap { reader: Reader::new(stream), queue: Some(queue.clone()), heard: Heard::default() };
        let stdout = tokio::spawn(tap(Stream::Stdout).drain(pipes.stdout, exited.clone()));
        let stderr = tokio::spawn(tap(Stream::Stderr).drain(pipes.stderr, exited.clone()));
        let (stdout, stderr) = (AbortOnDropHandle::new(stdout), AbortOnDropHandle::new(stderr));

        let status = select! {
            biased;
            status = child.wait() => Some(status),
            () = lease.lost() => None,
            () = self.reached(Phase::Releasing) => None,
        };
        if status.is_none() {
            child.stop(self.reached(Phase::Aborting)).await;
        }
        exited.cancel();
        drop(feeding);

        let output = async {
            let heard = (stdout.await.unwrap_or_default(), stderr.await.unwrap_or_default());
            child.sweep();
            if let (Some(Ok(status)), Some(outcome)) = (&status, &heard.0.outcome)
                && !status.success()
            {
                for event in lines::unused_result(outcome) {
                    // A closed queue means a lost lease, which is seen below.
                    let _ = queue.push(event).await;
                }
            }
            drop(queue);
            // The outbox ends when all is sent or the lease is lost; it has nothing to report.
            let _ = (&mut sending).await;
            heard
        };
        let heard = match &status {
            Some(_) => select! {
                heard = output => Some(heard),
                () = self.reached(Phase::Aborting) => None,
            },
            None => timeout(limit::RELEASE_TIME, output).await.ok(),
        };
        // From here on a heartbeat could only learn of the end that is about to be reported.
        drop(heartbeat);
        match (status, heard, lease.loss()) {
            (_, _, Some(Loss::Unwritable(why))) => fail(&lease, why.clone(), "append_refused").await,
            (_, _, Some(loss)) => End::Left(loss.to_string()),
            (Some(status), Some((stdout, stderr)), None) => conclude(&lease, status, stdout, &stderr.tail).await,
            (_, _, None) => release(&lease).await,
        }
    }

    /// What the command is told; `None` is taken away, in case this worker was itself started by one.
    fn environment(
        &self,
        session: &Session,
        attempt: u32,
        context: Option<String>,
    ) -> [(&'static str, Option<String>); 7] {
        [
            ("SHIFTBOOK_SESSION_ID", Some(session.id.clone())),
            ("SHIFTBOOK_URL", Some(self.client.base_url().to_owned())),
            ("SHIFTBOOK_TOKEN", Some(self.token.clone())),
            ("SHIFTBOOK_ATTEMPT", Some(attempt.to_string())),
            ("SHIFTBOOK_ACTION_SLUG", session.action_slug.clone()),
            ("SHIFTBOOK_AGENT_SLUG", session.agent_slug.clone()),
            ("SHIFTBOOK_CONTEXT", context),
        ]
    }
}

/// Hands the command its input. A command that does not read it misses nothing.
async fn feed(mut stdin: ChildStdin, input: String) {
    let _ = stdin.write_all(input.as_bytes()).await;
    let _ = stdin.shutdown().await;
}

/// What a pipe said besides events.
#[derive(Debug, Default)]
struct Heard {
    outcome: Option<Outcome>,
    tail: Tail,
}

/// Reads one pipe to its end.
struct Tap {
    reader: Reader,
    queue: Option<Queue>,
    heard: Heard,
}

impl Tap {
    async fn drain(mut self, mut pipe: impl AsyncRead + Unpin, exited: CancellationToken) -> Heard {
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

async fn conclude(lease: &Lease, status: std::io::Result<ExitStatus>, stdout: Heard, stderr: &Tail) -> End {
    let status = match status {
        Ok(status) => status,
        Err(error) => return fail(lease, format!("the command cannot be waited for: {error}"), "wait_failed").await,
    };
    if !status.success() {
        let (sentence, code) = child::describe(status);
        let tail = stderr.text();
        let message = if tail.is_empty() { sentence } else { format!("{sentence}:\n{tail}") };
        return fail(lease, message, &code).await;
    }
    let Outcome { result, usage, refused } =
        stdout.outcome.unwrap_or(Outcome { result: None, usage: None, refused: None });
    if let Some(why) = refused {
        return fail(lease, why, "result_refused").await;
    }
    let complete = lease.insist(lease.backoff(), |_| {
        lease.client.complete(&lease.session_id, lease.attempt, result.clone(), usage.clone())
    });
    match complete.await {
        Ok(_) => End::Completed,
        Err(error) => match Loss::of(&error) {
            Some(loss) => End::Left(loss.to_string()),
            None if may_pass(&error) => End::Left(error.to_string()),
            // The command has ended: nobody is left who could make a better one.
            None if error.code() == Some(wire::Code::OutputInvalid) => {
                fail(lease, error.to_string(), "output_invalid").await
            }
            None => fail(lease, format!("the result was refused: {error}"), "result_refused").await,
        },
    }
}

async fn fail(lease: &Lease, message: String, code: &str) -> End {
    let message: String = message.chars().take(REASON_CHARS_MAX).collect();
    let fail =
        lease.insist(lease.backoff(), |_| lease.client.fail(&lease.session_id, lease.attempt, &message, Some(code)));
    ended(fail.await, End::Failed(code.to_owned()))
}

async fn release(lease: &Lease) -> End {
    let release = lease.insist(lease.backoff(), |_| lease.client.release(&lease.session_id, lease.attempt));
    match timeout(limit::RELEASE_TIME, release).await {
        // A repeat after an answer that got lost finds the session in the queue already.
        Ok(Err(error)) if Loss::of(&error) == Some(Loss::Parked) => End::Released,
        Ok(answer) => ended(answer, End::Released),
        Err(_) => End::Left("the server is out of reach; the lease will run out".into()),
    }
}

fn ended(answer: client::Result<Session>, end: End) -> End {
    match answer {
        Ok(_) => end,
        Err(error) => End::Left(Loss::of(&error).map_or_else(|| error.to_string(), |loss| loss.to_string())),
    }
}
