//! Runs a command for each session and turns its output into events.
//!
//! [`child`] starts and ends it, [`split`] cuts its output into lines, [`lines`] says what a line means; what coding
//! agents print is known to [`claude_code`] and [`codex`].

mod child;
mod claude_code;
mod codex;
mod lines;
mod split;
mod tap;

use super::{
    adapter::{Adapter, Failure, Hand, Job, Outcome, out_of_time},
    limit,
    prompt::Prompt,
    talk::Talk,
};
use child::Child;
use lines::Reader;
use serde::Deserialize;
use serde_json::{Map, Value, value::to_raw_value};
use std::{ffi::OsString, fmt, future::Future, io, pin::Pin, process::ExitStatus};
use tap::{Heard, Tap};
use tokio::{io::AsyncWriteExt, process::ChildStdin, select, time::timeout};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use wire::{session::SessionError, worker::Related};

/// How a command speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// The line protocol of `shiftbook work`: events, results and text.
    #[default]
    Lines,
    /// `claude -p --output-format stream-json --verbose`
    ClaudeCode,
    /// `codex exec --json -`
    Codex,
}

impl Format {
    /// All formats, by the names they have in settings.
    pub const ALL: [(&'static str, Self); 3] =
        [("lines", Self::Lines), ("claude-code", Self::ClaudeCode), ("codex", Self::Codex)];
}

/// How a command can call the API itself.
#[derive(Clone, Default)]
pub struct Api {
    /// The server's address.
    pub url: String,
    /// A token, where there is one to hand on.
    pub token: Option<String>,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("url", &self.url).finish_non_exhaustive()
    }
}

/// A command that is run once per session.
#[derive(Debug)]
pub struct CommandAdapter {
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// How it speaks.
    pub format: Format,
    /// How it can call back.
    pub api: Api,
    /// What coding agents are told before the task.
    pub instructions: Option<String>,
    /// How long one run may take.
    pub seconds: Option<u64>,
}

impl Adapter for CommandAdapter {
    fn run<'a>(&'a self, job: &'a Job, hand: &'a Hand) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(async move {
            let outcome = self.work(job, hand).await;
            if job.is_thread() { with_earlier_usage(outcome, job) } else { outcome }
        })
    }
}

/// Why a command is not running any more.
enum Ended {
    ByItself(io::Result<ExitStatus>),
    Told,
    OutOfTime(u64),
}

impl CommandAdapter {
    async fn work(&self, job: &Job, hand: &Hand) -> Outcome {
        let input = match self.input(job, hand).await {
            Ok(input) => input,
            Err(failure) => return Outcome::Failed(failure),
        };
        let (mut child, pipes) = match Child::start(&self.command, &self.environment(job)) {
            Ok(started) => started,
            Err(error) => {
                return Outcome::Failed(Failure::new("spawn_failed", format!("the command cannot start: {error}")));
            }
        };
        let feeding = AbortOnDropHandle::new(tokio::spawn(feed(pipes.stdin, input)));
        let exited = CancellationToken::new();
        let stdout = Tap::new(Reader::of_output(self.format), hand.queue.clone());
        let stderr = Tap::new(Reader::of_remarks(), hand.queue.clone());
        let stdout = AbortOnDropHandle::new(tokio::spawn(stdout.drain(pipes.stdout, exited.clone())));
        let stderr = AbortOnDropHandle::new(tokio::spawn(stderr.drain(pipes.stderr, exited.clone())));

        let ended = select! {
            biased;
            status = child.wait() => Ended::ByItself(status),
            () = hand.told_to_end() => Ended::Told,
            seconds = out_of_time(self.seconds) => Ended::OutOfTime(seconds),
        };
        if !matches!(ended, Ended::ByItself(_)) {
            child.stop(hand.told_to_end_at_once()).await;
        }
        exited.cancel();
        drop(feeding);
        let output = async {
            let heard = (stdout.await.unwrap_or_default(), stderr.await.unwrap_or_default());
            child.sweep();
            heard
        };
        match ended {
            Ended::ByItself(status) => select! {
                (stdout, stderr) = output => conclude(hand, status, stdout, &stderr).await,
                () = hand.told_to_end_at_once() => Outcome::Stopped,
            },
            Ended::Told => {
                // What it printed before is worth having, but not worth waiting for.
                let _ = timeout(limit::RELEASE_TIME, output).await;
                Outcome::Stopped
            }
            Ended::OutOfTime(seconds) => {
                let heard = timeout(limit::RELEASE_TIME, output).await;
                let why = format!("the command was ended: it had {seconds} s, and they were over");
                let usage = heard.ok().and_then(|(stdout, _)| stdout.outcome?.usage);
                Outcome::Failed(Failure::new("budget_seconds", why).having_cost(usage.as_ref()))
            }
        }
    }

    /// What it reads: the session's input, in a conversation what was said so far, and for a coding agent all that it is
    /// asked to do.
    async fn input(&self, job: &Job, hand: &Hand) -> Result<String, Failure> {
        let talk = if job.is_thread() { Some(Talk::read(hand).await?) } else { None };
        if let (Format::Lines, Some(talk)) = (self.format, &talk) {
            return Ok(format!("{}\n", talk.as_json()));
        }
        if self.format == Format::Lines {
            return Ok(job.input.as_ref().map_or_else(|| "null\n".to_owned(), |input| format!("{}\n", input.get())));
        }
        Ok(Prompt::of(job, hand, self.instructions.as_deref()).await?.as_one_text(job, talk.map(|talk| talk.as_text())))
    }

    /// What the command is told; `None` is taken away, in case this worker was itself started by one.
    fn environment(&self, job: &Job) -> [(&'static str, Option<String>); 11] {
        let session = &job.session;
        let refused = (!job.refused.is_empty()).then(|| serde_json::to_string(&job.refused).unwrap_or_default());
        [
            ("SHIFTBOOK_SESSION_ID", Some(session.id.clone())),
            ("SHIFTBOOK_URL", Some(self.api.url.clone())),
            ("SHIFTBOOK_TOKEN", self.api.token.clone()),
            ("SHIFTBOOK_ATTEMPT", Some(job.attempt.to_string())),
            ("SHIFTBOOK_ACTION_SLUG", session.action_slug.clone()),
            ("SHIFTBOOK_AGENT_SLUG", session.agent_slug.clone()),
            ("SHIFTBOOK_CONTEXT", job.activity.clone()),
            ("SHIFTBOOK_OUTPUT_ERRORS", refused),
            ("SHIFTBOOK_DEPENDENCIES", related(&job.dependencies)),
            ("SHIFTBOOK_CHILDREN", related(&job.children)),
            // A server's own secret, which its agents have no business with.
            ("SHIFTBOOK_DATABASE_URL", None),
        ]
    }
}

/// Sessions around this one as a JSON array, as the claim told of them. The system bounds a variable, so what is too large
/// for one goes without outputs, and says so.
fn related(sessions: &[Related]) -> Option<String> {
    if sessions.is_empty() {
        return None;
    }
    let whole = serde_json::to_string(sessions).ok()?;
    if whole.len() <= limit::VARIABLE_BYTES_MAX {
        return Some(whole);
    }
    let cut = |error: &SessionError| SessionError {
        message: error.message.chars().take(limit::RELATED_ERROR_CHARS_MAX).collect(),
        code: error.code.clone(),
    };
    let brief = |session: &Related| Related {
        output: None,
        output_left_out: session.output_left_out || session.output.is_some(),
        error: session.error.as_ref().map(cut),
        ..session.clone()
    };
    let brief = serde_json::to_string(&sessions.iter().map(brief).collect::<Vec<_>>()).ok()?;
    (brief.len() <= limit::VARIABLE_BYTES_MAX).then_some(brief)
}

/// A run knows what it cost itself: what a conversation costs is the sum of its turns.
fn with_earlier_usage(outcome: Outcome, job: &Job) -> Outcome {
    let Some(usage) = outcome.usage() else { return outcome };
    let read = |json: &wire::Json| serde_json::from_str::<Map<String, Value>>(json.get()).unwrap_or_default();
    let earlier = job.session.usage.as_ref().map(read).unwrap_or_default();
    let mut sum = read(&usage);
    for (name, before) in earlier {
        let total = match (sum.get(&name), &before) {
            (None, before) => before.clone(),
            (Some(Value::Number(now)), Value::Number(before)) => match (now.as_u64(), before.as_u64()) {
                (Some(now), Some(before)) => now.saturating_add(before).into(),
                _ => (now.as_f64().unwrap_or_default() + before.as_f64().unwrap_or_default()).into(),
            },
            (Some(now), _) => now.clone(),
        };
        sum.insert(name, total);
    }
    let sum = to_raw_value(&sum).ok();
    match outcome {
        Outcome::Done { result, .. } => Outcome::Done { result, usage: sum },
        Outcome::Failed(failure) => Outcome::Failed(failure.having_cost(sum.as_ref())),
        other => other,
    }
}

/// Hands the command its input. A command that does not read it misses nothing.
async fn feed(mut stdin: ChildStdin, input: String) {
    let _ = stdin.write_all(input.as_bytes()).await;
    let _ = stdin.shutdown().await;
}

async fn conclude(hand: &Hand, status: io::Result<ExitStatus>, stdout: Heard, stderr: &Heard) -> Outcome {
    let status = match status {
        Ok(status) => status,
        Err(error) => {
            return Outcome::Failed(Failure::new("wait_failed", format!("the command cannot be waited for: {error}")));
        }
    };
    let outcome = stdout.outcome.unwrap_or_default();
    if !status.success() {
        if outcome.failure.is_none() && (outcome.result.is_some() || outcome.usage.is_some()) {
            // A closed queue means a lost lease, which the session sees by itself.
            let _ = hand.record(lines::unused_result(&outcome)).await;
        }
        let (sentence, code) = child::describe(status);
        let tail = stderr.tail();
        let said = outcome.failure.map(|failure| failure.message).unwrap_or_default();
        let more: Vec<_> = [said, tail].into_iter().filter(|text| !text.is_empty()).collect();
        let message = if more.is_empty() { sentence } else { format!("{sentence}:\n{}", more.join("\n")) };
        return Outcome::Failed(Failure::new(code, message).having_cost(outcome.usage.as_ref()));
    }
    match outcome.failure {
        Some(failure) => Outcome::Failed(failure.having_cost(outcome.usage.as_ref())),
        None => Outcome::Done { result: outcome.result, usage: outcome.usage },
    }
}
