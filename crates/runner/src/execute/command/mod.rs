//! Runs an agent that is a command, once per session, and records its output as events.
//!
//! [`child`] starts and ends the process, [`pipe`] reads its output, [`split`] cuts it into lines, and [`lines`]
//! interprets a line ([`output`]). [`whole`] takes the output as one result. [`torn`] looks into a line that is no
//! JSON. [`claude_code`] and [`codex`] know the formats of those agents. [`variable`] writes what a claim has into the
//! environment, and [`usage`] adds up what runs report.

mod child;
mod claude_code;
mod codex;
mod lines;
mod output;
mod pipe;
mod split;
mod torn;
mod usage;
mod variable;
mod whole;

use super::{
    adapter::{Adapter, Failure, Job, JobContext, Outcome, timed_out},
    limit,
    prompt::Prompt,
    transcript::Transcript,
};
pub(super) use child::Child;
use domain::{
    feedback_request::Outcome as AnswerOutcome,
    gate::{GateKind, Verdict},
};
use lines::LineParser;
use pipe::{Asker, PipeOutput, PipeReader};
use serde::Deserialize;
use std::{
    ffi::OsString,
    fmt,
    future::Future,
    io,
    pin::{Pin, pin},
    process::ExitStatus,
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::AsyncWriteExt,
    process::ChildStdin,
    select,
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use usage::with_earlier_usage;
use wire::{
    feedback_request::{AskFeedback, Asked},
    worker::Resume,
};

/// Output format of a command.
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
    /// The whole output is the result: JSON, or a text.
    Result,
}

impl Format {
    /// All formats, by the names they have in settings.
    pub const ALL: [(&'static str, Self); 4] =
        [("lines", Self::Lines), ("claude-code", Self::ClaudeCode), ("codex", Self::Codex), ("result", Self::Result)];

    /// Whether the command gets the input alone. Coding agents get a prompt.
    pub const fn takes_input(self) -> bool {
        matches!(self, Self::Lines | Self::Result)
    }
}

/// Address and token with which a command can call the API.
#[derive(Clone, Default)]
pub struct ApiAccess {
    /// Base URL of the server.
    pub url: String,
    /// API token; `None` if commands get none.
    pub token: Option<String>,
}

impl fmt::Debug for ApiAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("url", &self.url).finish_non_exhaustive()
    }
}

/// An agent that is a command, run once per session.
#[derive(Debug)]
pub struct CommandAdapter {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Format of its standard output.
    pub format: Format,
    /// Address and token for its environment.
    pub api_access: ApiAccess,
    /// Instructions before the task, for coding agents.
    pub instructions: Option<String>,
    /// Longest run, seconds; unlimited if absent.
    pub seconds: Option<u64>,
    /// How long the output of processes that outlive the command is read. In production [`limit::OUTPUT_TIME_MAX`].
    pub output_time: Duration,
    /// Names of variables that it does not inherit: secrets of the server and of other agents.
    pub withheld: Vec<String>,
}

impl Adapter for CommandAdapter {
    fn run<'a>(&'a self, job: &'a Job, context: &'a JobContext) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(async move {
            let outcome = self.work(job, context).await;
            let earlier = if job.is_thread() { job.session.usage.as_ref() } else { job.spent.as_ref() };
            with_earlier_usage(outcome, earlier)
        })
    }
}

/// Why a command has ended.
enum Ended {
    ByItself(io::Result<ExitStatus>),
    StopRequested,
    OutOfTime(u64),
}

/// What a run of the command leads to.
enum Ran {
    /// The session has this outcome.
    Ended(Outcome),
    /// The command asked what people have answered before. This is their answer.
    Answered(Box<Resume>),
}

impl From<Outcome> for Ran {
    fn from(outcome: Outcome) -> Self {
        Self::Ended(outcome)
    }
}

impl CommandAdapter {
    /// Runs the command, and once more with the answer of people if it asks for one that its claim did not have: the
    /// claim after a denied output has no answer to an earlier question. All runs of an attempt share the time.
    async fn work(&self, job: &Job, context: &JobContext) -> Outcome {
        let resume = job.sent_resume.as_ref();
        let answer = match self.run_once(job, context, resume).await {
            Ran::Ended(outcome) => return outcome,
            Ran::Answered(answer) => answer,
        };
        if resume.is_none_or(|resume| resume.request_id != answer.request_id)
            && let Ran::Ended(outcome) = self.run_once(job, context, Some(&*answer)).await
        {
            return outcome;
        }
        repeated_request()
    }

    async fn run_once(&self, job: &Job, context: &JobContext, resume: Option<&Resume>) -> Ran {
        let input = match self.input(job, context).await {
            Ok(input) => input,
            Err(failure) => return Outcome::Failed(failure).into(),
        };
        let (mut child, pipes) = match Child::start(&self.command, &self.environment(job, resume)) {
            Ok(started) => started,
            Err(error) => {
                let why = format!("the command cannot start: {error}");
                return Outcome::Failed(Failure::new("spawn_failed", why)).into();
            }
        };
        let feeding = AbortOnDropHandle::new(tokio::spawn(feed(pipes.stdin, input)));
        let exited = CancellationToken::new();
        let asker = Asker { api: Arc::clone(&context.api), lease: Arc::clone(&context.lease) };
        let reader = |parser| PipeReader::new(parser, context.events.clone(), self.output_time);
        let stdout = reader(LineParser::for_stdout(self.format)).asking(asker);
        let stderr = reader(LineParser::for_stderr());
        let stdout = AbortOnDropHandle::new(tokio::spawn(stdout.drain(pipes.stdout, exited.clone())));
        let stderr = AbortOnDropHandle::new(tokio::spawn(stderr.drain(pipes.stderr, exited.clone())));

        let mut out_of_time = pin!(timed_out(job.started, self.seconds));
        let ended = select! {
            biased;
            status = child.wait() => Ended::ByItself(status),
            () = context.stop_requested() => Ended::StopRequested,
            seconds = &mut out_of_time => Ended::OutOfTime(seconds),
        };
        if !matches!(ended, Ended::ByItself(_)) {
            child.stop(context.abort_requested()).await;
        }
        exited.cancel();
        drop(feeding);
        let output = pin!(async { (stdout.await.unwrap_or_default(), stderr.await.unwrap_or_default()) });
        match ended {
            Ended::ByItself(status) => match rest(&mut child, context, output, out_of_time).await {
                Some((stdout, stderr)) => conclude(context, status, stdout, &stderr).await,
                None => Outcome::Stopped.into(),
            },
            Ended::StopRequested => {
                // Its output so far is recorded as far as the time allows.
                let _ = timeout(limit::RELEASE_TIME, output).await;
                Outcome::Stopped.into()
            }
            Ended::OutOfTime(seconds) => {
                let outputs = timeout(limit::RELEASE_TIME, output).await;
                let why = format!("the command was ended: it had {seconds} s, and they were over");
                let usage = outputs.ok().and_then(|(stdout, _)| stdout.outcome?.usage);
                Outcome::Failed(Failure::new("budget_seconds", why).with_usage(usage.as_ref())).into()
            }
        }
    }

    /// The command's standard input: the session's input; in a conversation the transcript; for a coding agent the
    /// whole prompt.
    async fn input(&self, job: &Job, context: &JobContext) -> Result<String, Failure> {
        let transcript = if job.is_thread() { Some(Transcript::read(context).await?) } else { None };
        if let (true, Some(transcript)) = (self.format.takes_input(), &transcript) {
            return Ok(format!("{}\n", transcript.as_json()));
        }
        if self.format.takes_input() {
            return Ok(job.input.as_ref().map_or_else(|| "null\n".to_owned(), |input| format!("{}\n", input.get())));
        }
        Ok(Prompt::of(job, context, self.instructions.as_deref())
            .await?
            .as_one_text(job, transcript.map(|transcript| transcript.as_text())))
    }

    /// Environment variables of the command. `None` removes a variable that this worker may have inherited.
    fn environment(&self, job: &Job, resume: Option<&Resume>) -> Vec<(&str, Option<String>)> {
        let session = &job.session;
        let refused = (!job.refused.is_empty()).then(|| serde_json::to_string(&job.refused).unwrap_or_default());
        let mut variables: Vec<_> = self.withheld.iter().map(|name| (name.as_str(), None)).collect();
        variables.extend([
            ("SHIFTBOOK_SESSION_ID", Some(session.id.to_string())),
            ("SHIFTBOOK_URL", Some(self.api_access.url.clone())),
            ("SHIFTBOOK_TOKEN", self.api_access.token.clone()),
            ("SHIFTBOOK_ATTEMPT", Some(job.attempt.to_string())),
            ("SHIFTBOOK_ACTION_SLUG", session.action_slug.clone()),
            ("SHIFTBOOK_AGENT_SLUG", session.agent_slug.clone()),
            ("SHIFTBOOK_CONTEXT", job.activity.clone()),
            ("SHIFTBOOK_OUTPUT_ERRORS", refused),
            ("SHIFTBOOK_RESUME", resume.and_then(variable::resume)),
            ("SHIFTBOOK_TOOL_RESULTS", variable::tool_results(&job.tool_results)),
            ("SHIFTBOOK_MESSAGES", variable::messages(&job.messages)),
            ("SHIFTBOOK_ANSWERS", variable::answers(&job.answers)),
            ("SHIFTBOOK_DEPENDENCIES", variable::related(&job.dependencies)),
            ("SHIFTBOOK_CHILDREN", variable::related(&job.children)),
            // The server's secret, which agents must not get.
            ("SHIFTBOOK_DATABASE_URL", None),
        ]);
        variables
    }
}

/// Reads the rest of the output of a command that has exited by itself, and kills the processes that it left behind: at
/// once if the agent has to end or its time is over. `None` if the output is not read in time.
async fn rest(
    child: &mut Child,
    context: &JobContext,
    mut output: impl Future<Output = (PipeOutput, PipeOutput)> + Unpin,
    out_of_time: impl Future<Output = u64>,
) -> Option<(PipeOutput, PipeOutput)> {
    let read = select! {
        read = &mut output => Some(read),
        () = context.stop_requested() => None,
        _ = out_of_time => None,
    };
    // The pipes close with these processes.
    child.kill_group();
    if read.is_some() {
        return read;
    }
    let released = async {
        context.stop_requested().await;
        sleep(limit::RELEASE_TIME).await;
    };
    select! {
        read = output => Some(read),
        () = released => None,
        () = context.abort_requested() => None,
    }
}

/// Writes the command's input. A command that does not read it is no error.
async fn feed(mut stdin: ChildStdin, input: String) {
    let _ = stdin.write_all(input.as_bytes()).await;
    let _ = stdin.shutdown().await;
}

/// Makes the request for which the command ended. All events are recorded before, because a parked session takes none.
async fn park(context: &JobContext, ask: &AskFeedback) -> Ran {
    if context.events.flush().await.is_err() {
        return Outcome::Stopped.into();
    }
    let asker = Asker { api: Arc::clone(&context.api), lease: Arc::clone(&context.lease) };
    match asker.ask(ask).await {
        Ok(asked) if asked.waits => Outcome::Parked.into(),
        Ok(asked) => match recorded_answer(asked) {
            Some(answer) => Ran::Answered(Box::new(answer)),
            None => repeated_request().into(),
        },
        Err(error) => {
            Outcome::Failed(Failure::new("request_refused", format!("people cannot be asked: {error}"))).into()
        }
    }
}

fn repeated_request() -> Outcome {
    let why = "the command asked again what people have answered; SHIFTBOOK_RESUME has the answer";
    Outcome::Failed(Failure::new("asked_again", why))
}

/// The answer to a request that was made before, in the form that a claim has, without `block`. `None` if there is no
/// answer.
fn recorded_answer(asked: Asked) -> Option<Resume> {
    let (request, answer) = (asked.request, asked.answer?);
    let is_answered = answer.outcome == AnswerOutcome::Answered;
    Some(Resume {
        gate_id: request.gate_id?,
        kind: GateKind::Question,
        tool_call_id: None,
        tool_name: None,
        decision: if is_answered { Verdict::Respond } else { Verdict::Deny },
        tool_input: None,
        note: answer.note,
        answer: answer.answers,
        request_id: Some(request.id),
        outcome: Some(answer.outcome),
        respondent: Some(answer.respondent),
        block: None,
    })
}

async fn conclude(
    context: &JobContext,
    status: io::Result<ExitStatus>,
    stdout: PipeOutput,
    stderr: &PipeOutput,
) -> Ran {
    let status = match status {
        Ok(status) => status,
        Err(error) => {
            let why = format!("the command cannot be waited for: {error}");
            return Outcome::Failed(Failure::new("wait_failed", why)).into();
        }
    };
    let PipeOutput { outcome, asked, .. } = stdout;
    let outcome = outcome.unwrap_or_default();
    let asks = status.success() && outcome.failure.is_none();
    let has_result = outcome.failure.is_none() && (outcome.result.is_some() || outcome.usage.is_some());
    // A closed queue means that the lease is lost, which the worker sees by itself.
    if has_result && (!status.success() || asked.is_some()) {
        let _ = context.record(lines::unused_result(&outcome)).await;
    }
    if let Some(ask) = asked.as_ref().filter(|_| !asks) {
        let _ = context.record(lines::unasked(ask)).await;
    }
    if !status.success() {
        let (sentence, code) = child::describe(status);
        let tail = stderr.tail();
        let message = outcome.failure.map(|failure| failure.message).unwrap_or_default();
        let more: Vec<_> = [message, tail].into_iter().filter(|text| !text.is_empty()).collect();
        let message = if more.is_empty() { sentence } else { format!("{sentence}:\n{}", more.join("\n")) };
        return Outcome::Failed(Failure::new(code, message).with_usage(outcome.usage.as_ref())).into();
    }
    if let Some(ask) = asked.as_ref().filter(|_| asks) {
        return park(context, ask).await;
    }
    match outcome.failure {
        Some(failure) => Outcome::Failed(failure.with_usage(outcome.usage.as_ref())).into(),
        None => Outcome::Done { result: outcome.result, usage: outcome.usage }.into(),
    }
}
