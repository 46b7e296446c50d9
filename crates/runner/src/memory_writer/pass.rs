//! One run: reads the window, asks the model, checks its answer, and has the result written in one transaction.

use super::MemoryWriter;
use crate::execute::{
    Failure,
    chat::{Message, Model, ModelReply, ModelRequest, Prices, Spent, Tokens},
};
use domain::{
    Timestamp,
    issue::Issue,
    memory_writer::{
        answer::{Answer, parse, shape, too_long},
        check::{Window, usable},
        dedupe::dedupe,
        limit::{ANSWER_BYTES_MAX, HOLD_EVERY_SECONDS, READ_ROUNDS_MAX},
        plan::{Change, plan},
        prompt::{Prompt, render, repair},
    },
};
use ledger::{
    Error, Ledger, Result,
    memory_writer::{self, Finished, ModelUsage, RunFailure, RunRecord, RunWindow},
};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use tokio::time::interval;

/// How often the lease of a run is extended.
const HOLD_EVERY: Duration = Duration::from_secs(HOLD_EVERY_SECONDS as u64);
/// Longest answer of the model, tokens.
const ANSWER_TOKENS_MAX: u32 = 16_000;

/// The model that a writer asks.
#[derive(Debug)]
pub struct WriterModel {
    /// Connection to the model.
    pub model: Model,
    /// Its prices; without them no cost is known.
    pub prices: Option<Prices>,
    /// Whether the service makes answers match the schema. It becomes `false` when the service refuses the schema.
    pub is_structured: AtomicBool,
}

impl WriterModel {
    /// Sends a request once. If the service refuses it with the schema and not without, later requests have none.
    async fn ask(&self, mut question: ModelRequest) -> std::result::Result<ModelReply, Failure> {
        if self.is_structured.load(Ordering::Relaxed) {
            question.reply_schema = Some(shape());
        }
        let refused = match self.model.ask_once(&question, ANSWER_TOKENS_MAX).await {
            Err(failure) if question.reply_schema.is_some() && failure.code == "model_refused" => failure,
            answered => return answered,
        };
        question.reply_schema = None;
        let reply = self.model.ask_once(&question, ANSWER_TOKENS_MAX).await?;
        tracing::warn!(why = refused.message, "the model of a memory writer takes no schema for its answers");
        self.is_structured.store(false, Ordering::Relaxed);
        Ok(reply)
    }
}

/// What [`run_once`] found.
#[derive(Debug)]
pub enum PassOutcome {
    /// Nothing was due or can be read yet, or another server works for the agent.
    NotDue,
    /// The window had no turns. Its watermarks have moved, so that the next window is another one.
    NoTurns,
    /// A run, with its row.
    Ran(Box<RunRecord>),
}

/// Runs the writer of an agent if a run is due. Sessions to which no one has written since `left_before` are due at
/// once.
///
/// # Errors
/// If the database cannot be read or written, or another server has taken the lease. Nothing is written then.
pub async fn run_once(ledger: &Ledger, writer: &MemoryWriter, left_before: Option<Timestamp>) -> Result<PassOutcome> {
    let MemoryWriter { tenant_id, agent, terms, writer_model } = writer;
    let run = memory_writer::take(ledger, *tenant_id, agent, terms, left_before).await?;
    let Some(run) = run else { return Ok(PassOutcome::NotDue) };
    let recorded = tokio::select! {
        recorded = carry_out(ledger, writer, run, writer_model) => recorded,
        lost = keep_lease(ledger, writer) => Err(lost),
    };
    memory_writer::release(ledger, *tenant_id, agent).await?;
    recorded
}

/// Extends the lease again and again. Ends with an error when it is lost: then the run is another server's.
async fn keep_lease(ledger: &Ledger, writer: &MemoryWriter) -> Error {
    let mut ticks = interval(HOLD_EVERY);
    loop {
        ticks.tick().await;
        match memory_writer::hold(ledger, writer.tenant_id, &writer.agent).await {
            Ok(true) => {}
            Ok(false) => return Error::Unavailable("another server writes this agent's memory".into()),
            // The lease is good for some more tries.
            Err(error) => tracing::warn!(%error, agent = writer.agent, "the lease of a memory writer was not extended"),
        }
    }
}

async fn carry_out(
    ledger: &Ledger,
    writer: &MemoryWriter,
    run: RunWindow,
    writer_model: &WriterModel,
) -> Result<PassOutcome> {
    let (tenant_id, agent, policy) = (writer.tenant_id, writer.agent.as_str(), writer.terms.policy);
    if run.ranges.is_empty() {
        // All that is open are answers that can still be undone. A request for a run stays until they are read.
        return Ok(PassOutcome::NotDue);
    }
    if run.window.turns.is_empty() {
        let finished =
            Finished { run, changes: Vec::new(), policy, usage: ModelUsage::default(), left_out: Vec::new() };
        memory_writer::finish(ledger, tenant_id, agent, finished).await?;
        return Ok(PassOutcome::NoTurns);
    }
    let mut pass = Pass {
        ledger,
        writer,
        writer_model,
        usage: ModelUsage { model: writer_model.model.name().to_owned(), ..ModelUsage::default() },
        spent: Spent::default(),
    };
    let (run, proposed) = pass.propose(run).await?;
    let usage = pass.usage;
    let record = match proposed {
        Ok(Proposed { changes, left_out, .. }) => {
            let finished = Finished { run, changes, policy, usage, left_out };
            memory_writer::finish(ledger, tenant_id, agent, finished).await?
        }
        Err(NoAnswer { why, is_outage }) => {
            memory_writer::fail(ledger, tenant_id, agent, RunFailure { run, why, is_outage, usage }).await?
        }
    };
    Ok(PassOutcome::Ran(Box::new(record)))
}

/// What an answer proposes.
#[derive(Default)]
struct Proposed {
    /// The changes, one for each document.
    changes: Vec<Change>,
    /// Why operations are left out.
    left_out: Vec<Issue>,
    /// Whether any part of the answer passed the checks, or the answer says that nothing is worth keeping.
    is_usable: bool,
}

impl Proposed {
    /// Returns what counts of the first answer and of the second, which was asked for because the first was refused.
    fn or(self, second: Self) -> std::result::Result<Self, NoAnswer> {
        let takes_back = second.changes.is_empty() && !self.changes.is_empty();
        if second.is_usable && !takes_back {
            return Ok(second);
        }
        if self.is_usable {
            return Ok(self);
        }
        let named = second.left_out.iter().map(|issue| format!("{}: {}", issue.field, issue.message));
        let why = format!("the model's answer was refused twice: {}", named.collect::<Vec<_>>().join("; "));
        Err(NoAnswer::of_window(why))
    }
}

/// Why a run has no usable answer.
struct NoAnswer {
    /// Text for people.
    why: String,
    /// Whether the model could not be asked: its service is away, overloaded or broke off.
    is_outage: bool,
}

impl NoAnswer {
    /// The model was asked, and what it was asked or answered is at fault.
    const fn of_window(why: String) -> Self {
        Self { why, is_outage: false }
    }
}

impl From<Failure> for NoAnswer {
    fn from(failure: Failure) -> Self {
        let is_outage = failure.code == "model_unavailable";
        Self { why: format!("{}: {}", failure.code, failure.message), is_outage }
    }
}

struct Pass<'a> {
    ledger: &'a Ledger,
    writer: &'a MemoryWriter,
    writer_model: &'a WriterModel,
    usage: ModelUsage,
    /// Tokens of all answers.
    spent: Spent,
}

impl Pass<'_> {
    /// Asks the model until its answer is usable: with further documents if it wants to read some, and once more if
    /// any part of its answer is refused. If the second answer has nothing usable, what is usable of the first counts.
    /// The inner error says why there is no usable answer.
    async fn propose(&mut self, mut run: RunWindow) -> Result<(RunWindow, std::result::Result<Proposed, NoAnswer>)> {
        // One delimiter for the whole run: it is random, and no text of the window is from after its making.
        let delimiter = memory_writer::delimiter(self.ledger);
        let mut prompt = render(&run.window, &run.channels, &run.card, &delimiter);
        let mut messages = vec![Message::user(prompt.user.clone())];
        let mut rounds = 0;
        let mut first: Option<Proposed> = None;
        loop {
            let text = match self.ask(&prompt, &messages).await {
                Ok(text) => text,
                Err(why) => return Ok((run, Err(why))),
            };
            let issues = match parse(&text) {
                Ok(answer) if !answer.read.is_empty() && rounds < READ_ROUNDS_MAX => {
                    rounds += 1;
                    let (tenant_id, agent) = (self.writer.tenant_id, self.writer.agent.as_str());
                    let (more, is_more) =
                        memory_writer::read_more(self.ledger, tenant_id, agent, answer.read, run).await?;
                    run = more;
                    prompt = render(&run.window, &run.channels, &run.card, &delimiter);
                    messages = vec![Message::user(prompt.user.clone())];
                    if !is_more {
                        messages.push(Message::agent(text));
                        messages.push(Message::user(NOTHING_MORE.to_owned()));
                    }
                    continue;
                }
                Ok(answer) if !answer.read.is_empty() => {
                    vec![Issue::new("read", "no further documents can be read; propose or answer `nothing`")]
                }
                Ok(answer) => {
                    let (tenant_id, agent) = (self.writer.tenant_id, self.writer.agent.as_str());
                    run = memory_writer::note_named(self.ledger, tenant_id, agent, Window::named(&answer), run).await?;
                    let proposed = proposed(answer, &run);
                    if proposed.left_out.is_empty() && first.is_none() {
                        return Ok((run, Ok(proposed)));
                    }
                    let Some(first) = first.take() else {
                        messages.push(Message::agent(text));
                        messages.push(Message::user(repair(&proposed.left_out)));
                        first = Some(proposed);
                        continue;
                    };
                    return Ok((run, first.or(proposed)));
                }
                Err(why) => vec![Issue::new("answer", why)],
            };
            if let Some(first) = first {
                return Ok((run, first.or(Proposed { left_out: issues, ..Proposed::default() })));
            }
            first = Some(Proposed::default());
            messages.push(Message::agent(text));
            messages.push(Message::user(repair(&issues)));
        }
    }

    /// Counts an answer. If the service does not report its tokens, neither tokens nor cost of the run are known.
    fn count(&mut self, tokens: Option<Tokens>) {
        self.spent.add(tokens);
        if let Some(tokens) = tokens {
            self.usage.input_tokens += tokens.input;
            self.usage.output_tokens += tokens.output;
        } else {
            self.usage.is_unreported = true;
            let agent = self.writer.agent.as_str();
            tracing::warn!(agent, "the model of a memory writer reports no tokens: only the number of runs is limited");
        }
        self.usage.cost_usd = self.writer_model.prices.and_then(|prices| self.spent.cost(&prices));
    }

    /// Asks once. Returns the text of the answer without secrets.
    async fn ask(&mut self, prompt: &Prompt, messages: &[Message]) -> std::result::Result<String, NoAnswer> {
        let (system, messages) = (prompt.system.clone(), messages.to_vec());
        let question = ModelRequest { system, messages, tools: Vec::new(), reply_schema: None };
        let reply: ModelReply = self.writer_model.ask(question).await?;
        self.count(reply.tokens);
        if let Some(failure) = reply.failure() {
            return Err(NoAnswer::of_window(failure.message));
        }
        if reply.text.len() > ANSWER_BYTES_MAX {
            return Err(NoAnswer::of_window(too_long()));
        }
        memory_writer::redacted(&reply.text).map_err(|error| NoAnswer::of_window(error.to_string()))
    }
}

/// The answer to a model that requested documents that it has or cannot have.
const NOTHING_MORE: &str =
    "There are no further documents to read under these paths. Propose operations, or answer `nothing`.";

fn proposed(answer: Answer, run: &RunWindow) -> Proposed {
    if answer.nothing {
        return Proposed { is_usable: true, ..Proposed::default() };
    }
    let (checked, mut left_out) = usable(answer, &run.window);
    let is_usable = checked.summary.is_some() || !checked.ops.is_empty();
    let (checked, dropped) = dedupe(checked, &run.window, &run.known);
    if !dropped.is_empty() {
        tracing::debug!(lines = dropped.len(), "lines of a memory answer are known already");
    }
    let (changes, impossible) = plan(&checked, &run.window);
    // The path can name a person, and the row of a run is not erased with their documents.
    left_out.extend(impossible.iter().map(|left| Issue::new("ops", left.why.to_string())));
    Proposed { changes, left_out, is_usable }
}
