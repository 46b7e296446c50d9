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
    decoding::{describe, read_json_document},
    hook::{Source, read, truncate_payload},
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
    let outcome = forward(source, &args, deadline).await;
    if takes_context(args.event.as_deref()) && !matches!(outcome, Ok(Some(_))) {
        count_missed(&args);
    }
    let answer = outcome.unwrap_or_else(|why| {
        // Agents show standard error only in verbose mode.
        let _closed = writeln!(std::io::stderr(), "shiftbook hook: {why}");
        None
    });
    let answer = answer.unwrap_or_default();
    let text = serde_json::to_string(&answer).unwrap_or_else(|_| "{}".into());
    let _closed = writeln!(std::io::stdout(), "{text}");
    ExitCode::SUCCESS
}

/// Whether the agent waits for the response before a turn begins.
fn takes_context(event: Option<&str>) -> bool {
    matches!(event, Some("UserPromptSubmit" | "BeforeAgent" | "SessionStart"))
}

/// Counts a prompt that goes on without context. A count that cannot be written is no reason to report another error.
fn count_missed(args: &ForwardArgs) {
    let token = args.token.as_deref().filter(|token| !token.trim().is_empty());
    let spool = token.and_then(|token| Spool::find(args.state_dir.as_deref(), &args.url, token));
    let _error = spool.map(|spool| spool.count_missed());
}

/// Sends the hook. Returns the response; `None` if the hook is stored to be sent later.
async fn forward(source: Source, args: &ForwardArgs, deadline: Instant) -> Result<Option<HookAnswer>, String> {
    let entry = entry(source, deadline).await?;
    let token = args.token.as_deref().filter(|token| !token.trim().is_empty());
    let token = token.ok_or("SHIFTBOOK_TOKEN is not set; nothing was recorded")?;
    let client = Client::with_connect_timeout(&args.url, token, limit::CONNECT_TIMEOUT);
    let client = client.map_err(|error| error.to_string())?;
    let spool = Spool::find(args.state_dir.as_deref(), &args.url, token);
    let spool = match &spool {
        Some(spool) if !spool.is_empty() => spool,
        // The spool is empty: send the hook directly.
        other => {
            return match send(&client, &entry, deadline).await {
                Sent::Answered(answer) => Ok(Some(answer)),
                Sent::Refused(why) => Err(why),
                Sent::Away | Sent::Late => match other {
                    Some(spool) => spool.add(&entry).map(|()| None),
                    None => Err("the server cannot be reached, and there is no folder to store hooks in".into()),
                },
            };
        }
    };
    // The hook is sent after those in the spool. Where they leave no room for it, sending them makes some.
    let full = spool.add(&entry).is_err();
    let answer = deliver(&client, spool, &entry, deadline).await;
    if full { spool.add(&entry).map(|()| None) } else { answer }
}

/// Sends the hooks in the spool, oldest first, until all are sent, the server cannot be reached, or the deadline has
/// passed. Returns the response to the hook `own`, if it was sent.
async fn deliver(client: &Client, spool: &Spool, own: &Entry, deadline: Instant) -> Result<Option<HookAnswer>, String> {
    // The process that holds the lock sends this hook too.
    let Some(_lock) = spool.lock(deadline).await else { return Ok(None) };
    let (mut answer, mut refused) = (None, None);
    let mut is_first = true;
    for name in spool.names() {
        let Some(entry) = spool.read(&name) else { continue };
        // The size of a hook is the reason for its delay only if it had most of the time of a call to itself. With more
        // time than opening a connection may take, it is late only if there was a connection.
        let left = deadline.saturating_duration_since(Instant::now());
        let had_time = std::mem::replace(&mut is_first, false) && left > limit::CONNECT_TIMEOUT;
        match send(client, &entry, deadline).await {
            Sent::Late if had_time && entry.payload.get().len() > limit::LATE_BYTES_MIN => match shortened(&entry) {
                Some(shorter) => {
                    spool.shorten(&shorter);
                    break;
                }
                None if entry.is_old() => refused = Some("a hook was too large to be sent in time".to_owned()),
                None => break,
            },
            Sent::Away | Sent::Late => break,
            Sent::Answered(theirs) if entry.id == own.id => answer = Some(theirs),
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
    let taken = timeout_at(deadline, stdin.read_to_end(&mut bytes)).await;
    taken.map_err(|_| "stdin did not end in time")?.map_err(|error| format!("stdin: {error}"))?;
    let (text, repairs) = read_json_document(&bytes);
    if !repairs.is_empty() {
        let _closed = writeln!(std::io::stderr(), "shiftbook hook: stdin was repaired: {}", describe(&repairs));
    }
    // The server shortens what has no long texts.
    let payload = truncate_payload(text.trim(), limit::SENT_BYTES_MAX)
        .or_else(|| truncate_payload(text.trim(), BATCH_BYTES_MAX))
        .ok_or("the hook on stdin is too large to send")?;
    let payload = RawValue::from_string(payload).map_err(|_| "stdin is not a hook's JSON object")?;
    let at = SystemClock.now();
    let id = EventId::new(at, &SystemEntropy).to_string();
    Ok(Entry { id, at: at.to_rfc3339_opts(SecondsFormat::Micros, true), source: source.as_str().to_owned(), payload })
}

/// Returns the hook with its payload truncated to half its size, but not below [`limit::LATE_BYTES_MIN`]. `None` if the
/// payload has too few long texts, or if the server would record the hook twice: the id of a prompt is made from its
/// text.
fn shortened(entry: &Entry) -> Option<Entry> {
    let source = Source::parse(&entry.source)?;
    let whole = entry.payload.get();
    let payload = truncate_payload(whole, (whole.len() / 2).max(limit::LATE_BYTES_MIN))?;
    let (before, after) = (read(source, whole).ok()?, read(source, &payload).ok()?);
    if before.external_id != after.external_id {
        return None;
    }
    let payload = RawValue::from_string(payload).ok()?;
    Some(Entry { id: entry.id.clone(), at: entry.at.clone(), source: entry.source.clone(), payload })
}

/// The outcome of sending a hook.
enum Sent {
    Answered(HookAnswer),
    /// The server refuses the hook; a repeat would be refused again.
    Refused(String),
    /// The server cannot be reached, fails, or refuses the token; the hook is sent again later.
    Away,
    /// There was no answer in time. The server is slow, or the payload is too large for the connection. With less time
    /// than [`limit::CONNECT_TIMEOUT`] there may have been no connection.
    Late,
}

async fn send(client: &Client, entry: &Entry, deadline: Instant) -> Sent {
    let left = deadline.saturating_duration_since(Instant::now());
    if left == Duration::ZERO {
        return Sent::Away;
    }
    let call = client.hook(&entry.source, Some(&entry.id), Some(&entry.at), entry.payload.get().to_owned(), left);
    match timeout_at(deadline, call).await {
        Err(_) | Ok(Err(Error::Timeout(_))) => Sent::Late,
        Ok(Ok(answer)) => Sent::Answered(answer),
        // The server may fail about every hook. If it fails about this one alone, it must not hold up the others.
        Ok(Err(error)) if error.status().is_some_and(|status| status >= 500) && !entry.is_old() => Sent::Away,
        // With a valid token or the right address the hooks in the spool can be sent.
        Ok(Err(error)) if error.is_retryable() || error.code() == Some(Code::Unauthenticated) => Sent::Away,
        // A proxy may refuse every hook or this one alone, as the server may fail.
        Ok(Err(Error::Protocol { status, .. })) if !(entry.is_old() && status.is_some_and(is_about_request)) => {
            Sent::Away
        }
        Ok(Err(error)) => Sent::Refused(error.to_string()),
    }
}

/// Whether a proxy's answer with this status can be about one request. 401 and 407 are about the credentials of all.
fn is_about_request(status: u16) -> bool {
    status >= 400 && status != 401 && status != 407
}
