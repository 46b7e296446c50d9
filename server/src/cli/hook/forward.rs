//! Forwards one hook to the server.

use super::{
    args::ForwardArgs,
    limit,
    spool::{Entry, Spool},
};
use crate::ambient::{SystemClock, SystemEntropy};
use chrono::SecondsFormat;
use client::{Client, Error};
use domain::{
    Clock as _,
    hook::{Source, truncate_payload},
    id::EventId,
    limit::BATCH_BYTES_MAX,
};
use serde_json::value::RawValue;
use std::{io::Write as _, process::ExitCode, time::Duration};
use tokio::{
    io::AsyncReadExt as _,
    time::{Instant, timeout_at},
};
use wire::{Code, hook::HookAnswer};

/// Forwards the hook on standard input and prints the response. Ends with exit code 0 within a deadline, whatever
/// happens.
pub async fn run(source: Source, args: ForwardArgs) -> ExitCode {
    let wait = if takes_context(args.event.as_deref()) { limit::CONTEXT_DEADLINE } else { limit::DEADLINE };
    let deadline = Instant::now() + wait;
    let answer = forward(source, &args, deadline).await.unwrap_or_else(|why| {
        // Agents show standard error only in verbose mode.
        let _closed = writeln!(std::io::stderr(), "shiftbook hook: {why}");
        HookAnswer::default()
    });
    let text = serde_json::to_string(&answer).unwrap_or_else(|_| "{}".into());
    let _closed = writeln!(std::io::stdout(), "{text}");
    ExitCode::SUCCESS
}

/// Whether the agent waits for the response before a turn begins.
fn takes_context(event: Option<&str>) -> bool {
    matches!(event, Some("UserPromptSubmit" | "SessionStart"))
}

async fn forward(source: Source, args: &ForwardArgs, deadline: Instant) -> Result<HookAnswer, String> {
    let entry = entry(source, deadline).await?;
    let token = args.token.as_deref().filter(|token| !token.trim().is_empty());
    let token = token.ok_or("SHIFTBOOK_TOKEN is not set; nothing was recorded")?;
    let client = Client::new(&args.url, token).map_err(|error| error.to_string())?;
    let spool = Spool::find(args.state_dir.as_deref(), &args.url, token);
    let spool = match &spool {
        Some(spool) if !spool.is_empty() => spool,
        // The spool is empty: send the hook directly.
        other => {
            return match send(&client, &entry, deadline).await {
                Sent::Answered(answer) => Ok(answer),
                Sent::Refused(why) => Err(why),
                Sent::Away => match other {
                    Some(spool) => spool.add(&entry).map(|()| HookAnswer::default()),
                    None => Err("the server cannot be reached, and there is no folder to store hooks in".into()),
                },
            };
        }
    };
    // The hook is sent after those in the spool. Where they leave no room for it, sending them makes some.
    let full = spool.add(&entry).is_err();
    let answer = deliver(&client, spool, &entry, deadline).await;
    if full { spool.add(&entry).map(|()| HookAnswer::default()) } else { answer }
}

/// Sends the hooks in the spool, oldest first, until all are sent, the server cannot be reached, or the deadline has
/// passed.
async fn deliver(client: &Client, spool: &Spool, own: &Entry, deadline: Instant) -> Result<HookAnswer, String> {
    // The process that holds the lock sends this hook too.
    let Some(_lock) = spool.lock(deadline).await else { return Ok(HookAnswer::default()) };
    let (mut answer, mut refused) = (HookAnswer::default(), None);
    for name in spool.names() {
        let Some(entry) = spool.read(&name) else { continue };
        match send(client, &entry, deadline).await {
            Sent::Away => break,
            Sent::Answered(theirs) if entry.id == own.id => answer = theirs,
            Sent::Answered(_) => {}
            // A repeat would be refused again.
            Sent::Refused(why) => refused = Some(why),
        }
        spool.remove(&name);
    }
    refused.map_or(Ok(answer), Err)
}

/// Reads the hook on standard input and gives it an id and a time.
async fn entry(source: Source, deadline: Instant) -> Result<Entry, String> {
    let mut bytes = Vec::new();
    let mut stdin = tokio::io::stdin().take(limit::PAYLOAD_BYTES_MAX);
    let read = timeout_at(deadline, stdin.read_to_end(&mut bytes)).await;
    read.map_err(|_| "stdin did not end in time")?.map_err(|error| format!("stdin: {error}"))?;
    let text = String::from_utf8_lossy(&bytes);
    let payload = truncate_payload(text.trim(), BATCH_BYTES_MAX).ok_or("the hook on stdin is too large to send")?;
    let payload = RawValue::from_string(payload).map_err(|_| "stdin is not a hook's JSON object")?;
    let at = SystemClock.now();
    let id = EventId::new(at, &SystemEntropy).to_string();
    Ok(Entry { id, at: at.to_rfc3339_opts(SecondsFormat::Micros, true), source: source.as_str().to_owned(), payload })
}

/// The outcome of sending a hook.
enum Sent {
    Answered(HookAnswer),
    /// The server refuses the hook; a repeat would be refused again.
    Refused(String),
    /// The server cannot be reached, fails, or refuses the token; the hook is sent again later.
    Away,
}

async fn send(client: &Client, entry: &Entry, deadline: Instant) -> Sent {
    let left = deadline.saturating_duration_since(Instant::now());
    if left == Duration::ZERO {
        return Sent::Away;
    }
    let call = client.hook(&entry.source, Some(&entry.id), Some(&entry.at), entry.payload.get().to_owned(), left);
    match timeout_at(deadline, call).await {
        Err(_) => Sent::Away,
        Ok(Ok(answer)) => Sent::Answered(answer),
        // The server may fail about every hook. If it fails about this one alone, it must not hold up the others.
        Ok(Err(error)) if error.status().is_some_and(|status| status >= 500) && !entry.is_old() => Sent::Away,
        // With a valid token or the right address the hooks in the spool can be sent.
        Ok(Err(error)) if error.is_retryable() || error.code() == Some(Code::Unauthenticated) => Sent::Away,
        Ok(Err(Error::Protocol { .. })) => Sent::Away,
        Ok(Err(error)) => Sent::Refused(error.to_string()),
    }
}
