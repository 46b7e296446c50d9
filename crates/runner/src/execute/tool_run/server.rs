//! Tools that the server runs: calls of an HTTP service, through `outbound`, and of a tool of an MCP server.

use super::{
    super::{
        adapter::{Adapter, Decision, Failure, Job, JobContext, Outcome, Phase, YieldOutcome, wait_for_phase},
        limit,
        mcp::{Called, Mcp},
        progress::ProgressSender,
    },
    calls::Calls,
    mcp,
    terms::{Failed, Terms},
};
use client::Backoff;
use domain::{
    Scope,
    gate::PausedToolCall,
    id::{SessionId, TenantId},
    tool::{
        Implementation, Secret,
        http::{Answer, Request, Secrets, answer, render},
        run::{DENIED, MAY_HAVE_RUN, put_private, take_private},
    },
};
use ledger::{
    Ledger,
    mcp_server::Target,
    tool::input_errors,
    tool_run::{ServerRun, server_run, wait_for_end},
};
use outbound::{Client, Hosts};
use serde_json::{Map, Value, value::to_raw_value};
use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};
use tokio::{
    select,
    time::{sleep, timeout},
};
use wire::worker::YieldStatus;

/// Runs the `http` and `mcp` tools of one workspace.
pub struct ServerTool {
    /// Reads versions and secrets.
    pub ledger: Ledger,
    /// The workspace.
    pub tenant_id: TenantId,
    /// Calls HTTP services.
    pub http: Client,
    /// Calls MCP servers.
    pub mcp: Mcp,
}

impl fmt::Debug for ServerTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ServerTool").field(&self.tenant_id).finish()
    }
}

impl Adapter for ServerTool {
    fn run<'a>(&'a self, job: &'a Job, context: &'a JobContext) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        Box::pin(self.work(job, context))
    }
}

/// An input in two parts.
struct Input {
    /// What reviewers see.
    public: Value,
    private: Vec<(String, Value)>,
}

impl Input {
    fn of(job: &Job, server_run: &ServerRun) -> Self {
        let input = job.input.as_ref().and_then(|input| serde_json::from_str(input.get()).ok());
        let mut public = input.unwrap_or(Value::Object(Map::new()));
        let private = take_private(&mut public, server_run.definition.private_pointers());
        Self { public, private }
    }

    /// Every text and number among the private values, however deep, to be left out of messages.
    fn texts_of_private(&self) -> Secrets {
        let mut texts = Vec::new();
        self.private.iter().for_each(|(_, value)| push_texts(value, &mut texts));
        let named = |(n, text): (usize, String)| (n.to_string(), Secret::new(text));
        Secrets::new(texts.into_iter().enumerate().map(named))
    }

    fn whole(self) -> Map<String, Value> {
        let mut input = self.public;
        put_private(&mut input, self.private);
        match input {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }
}

/// Appends the texts and numbers of a value. Names of members are not private.
fn push_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| push_texts(item, texts)),
        Value::Object(members) => members.values().for_each(|item| push_texts(item, texts)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// What a run calls.
enum Call {
    Http(Request),
    Mcp { target: Box<Target>, tool: String, arguments: Map<String, Value> },
}

/// What is made of a run.
struct Prepared {
    call: Call,
    terms: Terms,
}

/// How a call ended.
enum Ended {
    Answered {
        /// HTTP status code, if it was a call of an HTTP service.
        status: Option<u16>,
        result: Value,
    },
    Failed(Failed),
    /// The session has ended, or its lease is lost: nothing more can be recorded.
    Over,
    /// The server is stopping.
    Stopping,
}

impl ServerTool {
    async fn work(&self, job: &Job, context: &JobContext) -> Outcome {
        let found = match server_run(&self.ledger, self.tenant_id, job.session.id).await {
            Ok(found) => found,
            // The session goes back into the queue.
            Err(ledger::Error::Unavailable(_)) => return Outcome::Stopped,
            Err(error) => return failed("tool_unavailable", format!("the tool cannot be run: {error}")),
        };
        let input = match confirmed(Input::of(job, &found), job, &found) {
            Ok(input) => input,
            Err(outcome) => return outcome,
        };
        let private = input.texts_of_private();
        let (call, secrets) = match call_of(&found, input.whole()) {
            Ok(made) => made,
            Err(outcome) => return outcome,
        };
        let mut calls = match Calls::read(job, context, &found.run).await {
            Ok(calls) => calls,
            Err(failure) => return Outcome::Failed(failure),
        };
        match calls.refuse_repeat().await {
            Ok(None) => {}
            Ok(Some(earlier)) => return failed(&earlier.code, earlier.text),
            Err(_) => return Outcome::Stopped,
        }
        let time_limit = Duration::from_secs(found.run.time_limit_seconds.into());
        let terms = Terms { secrets, private, time_limit, is_repeatable: found.run.repeatable };
        let prepared = Prepared { call, terms };
        self.call_with_retries(job, context, (&prepared, found.run.retries), &mut calls).await
    }

    /// Calls until there is an answer, the failure is final, or the retries are used up.
    async fn call_with_retries(
        &self,
        job: &Job,
        context: &JobContext,
        (prepared, retries): (&Prepared, u32),
        calls: &mut Calls<'_>,
    ) -> Outcome {
        let (first, longest) = limit::TOOL_RETRY_PAUSE;
        let mut backoff = Backoff::new(context.lease.seed()).between(first, longest);
        loop {
            if calls.begin().await.is_err() {
                return Outcome::Stopped;
            }
            match self.call_once(job.session.id, context, prepared).await {
                Ended::Answered { status, result } => {
                    // A closed queue means that the lease is lost, which the worker sees by itself.
                    let _ = calls.complete(status).await;
                    return Outcome::Done { result: to_raw_value(&result).ok(), usage: None };
                }
                Ended::Over => return Outcome::Stopped,
                Ended::Stopping if prepared.terms.is_repeatable => return Outcome::Stopped,
                Ended::Stopping => {
                    let unknown = Failed::unknown("The server stopped during the call");
                    let _ = calls.fail(&unknown).await;
                    return failed(&unknown.code, unknown.text);
                }
                Ended::Failed(one) => {
                    let _ = calls.fail(&one).await;
                    let is_last = calls.count() > u64::from(retries);
                    if is_last || !prepared.terms.is_repeatable || !one.is_retryable {
                        return failed(&one.code, one.text);
                    }
                }
            }
            select! {
                () = sleep(backoff.pause_at_least(Duration::ZERO)) => {}
                () = self.ended(job.session.id) => return Outcome::Stopped,
                () = context.stop_requested() => return Outcome::Stopped,
            }
        }
    }

    /// Makes one call. It is broken off when the session ends: dropping the request closes its connection, and an MCP
    /// server is told.
    async fn call_once(&self, id: SessionId, context: &JobContext, prepared: &Prepared) -> Ended {
        let Prepared { call, terms } = prepared;
        match call {
            Call::Http(request) => {
                let fetched = timeout(terms.time_limit, self.fetch(request, terms));
                select! {
                    biased;
                    fetched = fetched => match fetched.unwrap_or_else(|_| Err(terms.time_is_over())) {
                        Ok(answer) => Ended::Answered { status: Some(answer.status), result: answer.to_result() },
                        Err(failed) => Ended::Failed(failed),
                    },
                    ended = self.broken_off(id, context) => ended,
                }
            }
            Call::Mcp { target, tool, arguments } => {
                let sender = ProgressSender::start(Arc::clone(&context.lease));
                let report = move |progress| sender.push(mcp::for_followers(progress, terms));
                let broken_off = (self.broken_off(id, context), report);
                match self.mcp.call(target, (tool.as_str(), arguments.clone()), terms.time_limit, broken_off).await {
                    Called::Answered { structured, content, is_error } => {
                        match mcp::result(structured, content, is_error, terms) {
                            Ok(result) => Ended::Answered { status: None, result },
                            Err(failed) => Ended::Failed(failed),
                        }
                    }
                    Called::NotSent(fault) => Ended::Failed(mcp::not_sent(&fault, terms)),
                    Called::Sent(fault) => Ended::Failed(mcp::sent(&fault, terms)),
                    Called::Stopped(ended) => ended,
                }
            }
        }
    }

    /// Waits until the call has to be broken off.
    async fn broken_off(&self, id: SessionId, context: &JobContext) -> Ended {
        select! {
            () = self.ended(id) => Ended::Over,
            () = context.lease.lost() => Ended::Over,
            () = wait_for_phase(&context.phase, Phase::Releasing) => Ended::Stopping,
        }
    }

    async fn fetch(&self, request: &Request, terms: &Terms) -> Result<Answer, Failed> {
        let Request { method, url, headers, body } = request.clone();
        let request = outbound::Request {
            method: method.as_str().parse().map_err(|_| Failed::final_one("call_invalid", "its method is unknown"))?,
            url,
            headers,
            body: body.unwrap_or_default().into(),
            // An operator chose the host; `outbound` refuses private addresses.
            hosts: Hosts::any(),
        };
        let fetched = self.http.fetch_within(request, terms.time_limit).await;
        let fetched = fetched.map_err(|error| of_exchange(&error, terms))?;
        let answer = answer(fetched.status, fetched.header("content-type"), &fetched.body, &terms.secrets);
        if answer.is_success() { Ok(answer) } else { Err(refused(&answer, terms)) }
    }

    /// Waits until the session has ended, such as because it was cancelled.
    async fn ended(&self, id: SessionId) {
        let scope = Scope::system(self.tenant_id);
        loop {
            let seen = wait_for_end(&self.ledger, &scope, id, limit::TOOL_END_WAIT, std::future::pending()).await;
            match seen {
                Ok(session) if session.status().is_final() => return,
                Ok(_) => {}
                // The lease shows it too.
                Err(_) => sleep(limit::TOOL_END_LOOK_AGAIN).await,
            }
        }
    }
}

fn failed(code: &str, text: impl Into<String>) -> Outcome {
    Outcome::Failed(Failure::new(code, text))
}

/// What a run calls, and the secrets that it sends.
fn call_of(found: &ServerRun, input: Map<String, Value>) -> Result<(Call, Secrets), Outcome> {
    match (&found.definition.implementation, &found.mcp) {
        (Implementation::Http { http }, _) => match render(http, &input, &found.secrets) {
            Ok(request) => Ok((Call::Http(request), found.secrets.clone())),
            Err(error) => Err(failed("call_invalid", found.secrets.redact(&error.to_string()))),
        },
        (Implementation::Mcp { mcp }, Some(target)) => {
            let call = Call::Mcp { target: Box::new(target.clone()), tool: mcp.tool.clone(), arguments: input };
            Ok((call, target.secrets.clone()))
        }
        (Implementation::Mcp { .. } | Implementation::Worker {} | Implementation::Composite { .. }, _) => {
            Err(failed("not_of_server", "the server does not run versions of this kind"))
        }
    }
}

/// The input that may be used: the one of the session, or the one that a person changed. `Err` is how the run goes on
/// instead: it waits for a person, or the person did not allow it.
fn confirmed(input: Input, job: &Job, found: &ServerRun) -> Result<Input, Outcome> {
    if !found.run.requires_confirmation {
        return Ok(input);
    }
    let Some(resume) = &job.resume else { return Err(Outcome::Yielded(Box::new(ask(input, found)))) };
    let changed = match &resume.decision {
        Decision::Approve(None) => return Ok(input),
        Decision::Approve(Some(changed)) => changed.clone(),
        Decision::Deny | Decision::Answer(_) => {
            let why = resume.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
            return Err(failed(DENIED, format!("a person did not allow the call{why}")));
        }
    };
    let input = Input { public: changed, private: input.private };
    let mut whole = input.public.clone();
    put_private(&mut whole, input.private.clone());
    match input_errors(&found.definition, &whole).first() {
        None => Ok(input),
        Some(wrong) => {
            let why = format!("the input that a person changed is not valid: {}: {}", wrong.field, wrong.message);
            Err(failed("input_invalid", why))
        }
    }
}

/// Waits for a person to approve the call. They see the input without its private values.
fn ask(input: Input, found: &ServerRun) -> YieldOutcome {
    let tool_input = match input.public {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    let tool_name = found.run.slug.clone();
    YieldOutcome {
        status: YieldStatus::AwaitingTool,
        detail: format!("{tool_name} is waiting for approval"),
        paused: Some(PausedToolCall { tool_call_id: "1".to_owned(), tool_name, tool_input }),
        question: None,
        for_children: false,
        usage: None,
    }
}

fn of_exchange(error: &outbound::Error, terms: &Terms) -> Failed {
    use outbound::Error;
    let text = terms.redact(&error.to_string());
    match error {
        Error::Address(_) | Error::NotAllowed(_) | Error::Inside { .. } | Error::Request(_) => {
            Failed::final_one("call_refused", format!("the call was not made: {text}"))
        }
        Error::Lookup { .. } | Error::Unreachable(_) => {
            Failed { is_retryable: true, ..Failed::final_one("unreachable", format!("the call was not made: {text}")) }
        }
        Error::Timeout => terms.time_is_over(),
        Error::TooLarge(_) => Failed::final_one("answer_too_large", format!("{text}.{}", terms.perhaps())),
        Error::Exchange(_) => {
            let code = if terms.is_repeatable { "no_answer" } else { MAY_HAVE_RUN };
            Failed { is_retryable: true, ..Failed::final_one(code, format!("{text}.{}", terms.perhaps())) }
        }
    }
}

/// The failure of a call whose answer reports none but success.
fn refused(answer: &Answer, terms: &Terms) -> Failed {
    let body = answer.body.as_str().map_or_else(|| answer.body.to_string(), str::to_owned);
    let quoted: String = terms.redact(&body).chars().take(limit::TOOL_QUOTE_CHARS_MAX).collect();
    let text = format!("the service answered {} {}", answer.status, quoted.trim()).trim_end().to_owned();
    let is_retryable = answer.status == 429 || answer.status >= 500;
    Failed { status: Some(answer.status), is_retryable, ..Failed::final_one("http_status", text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn private_texts_and_numbers_are_left_out_of_messages_however_deep_they_are() {
        let private = vec![
            ("/person".to_owned(), json!({ "email": "ada@example.org", "codes": [471_142, { "pin": "hunter2" }] })),
            ("/year".to_owned(), json!(1815)),
        ];
        let texts = Input { public: json!({}), private }.texts_of_private();
        let message = r#"400 {"email":"ada@example.org","codes":[471142,{"pin":"hunter2"}],"year":1815,"ok":true}"#;
        let shown = texts.redact(message);
        for value in ["ada@example.org", "471142", "hunter2", "1815"] {
            assert!(!shown.contains(value), "{shown}");
        }
        assert!(shown.contains("\"ok\":true"), "{shown}");
    }
}
