//! G10: from an answer, or a decision, to the claim that continues with it. The claim waits, and is woken.

use super::{Bench, Site};
use crate::{
    histogram::Histogram,
    http::{Connection, Request, credentials},
    load::{self, claim_and_wait, claimed},
    report::{Bound, Finding},
};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Time that a claim gets to begin to wait, before the answer is sent.
const SETTLE: Duration = Duration::from_millis(5);

/// What a session waits for.
#[derive(Clone, Copy)]
enum Wait {
    Answer,
    Decision,
}

pub async fn measure(bench: &mut Bench, site: &Site) -> Result<()> {
    let target = site.server.address();
    let mut connection = Connection::open(target).await?;
    let at_once = Request::patch(target, "/api/workspace", &site.person(), r#"{"undoSeconds":0}"#);
    connection.call(&at_once).await.context("decisions take effect at once")?;
    for (wait, what) in [
        (Wait::Answer, "answer of a request to the claim that waits for it, p50"),
        (Wait::Decision, "decision on a tool call to the claim that waits for it, p50"),
    ] {
        let mut lag = Histogram::new()?;
        for _ in 0..bench.plan.lag_events {
            lag.record(once(site, wait).await?);
        }
        let finding = Finding::new("G10", what, "µs", lag.quantile_us(0.5))
            .goals(Bound::AtMost(5_000.0), Bound::AtMost(2_000.0))
            .facts(lag.summary());
        bench.found(finding);
    }
    Ok(())
}

/// Time from the request with the answer to the end of the claim's response.
async fn once(site: &Site, wait: Wait) -> Result<Duration> {
    let (target, token) = (site.server.address(), &site.account.token);
    let headers = credentials(token);
    let (agent, held) = load::claimed_session(target, token).await?;
    let mut connection = Connection::open(target).await?;
    let answer = match wait {
        Wait::Answer => {
            let path = format!("/api/sessions/{}/feedback-requests", held.id);
            let body = format!(r#"{{"attempt":{},"message":"Which?","idempotencyKey":"k"}}"#, held.attempt);
            let asked = connection.call(&Request::post(target, &path, &headers, &body)).await?;
            let asked: Value = serde_json::from_slice(asked.body)?;
            let id = asked["request"]["id"].as_str().context("the request has no id")?;
            let path = format!("/api/feedback-requests/{id}/answer");
            Request::post(target, &path, &headers, r#"{"content":{"answer":"EU"}}"#)
        }
        Wait::Decision => {
            let path = format!("/api/sessions/{}/yield", held.id);
            let call = r#"{"toolCallId":"c","toolName":"send","toolInput":{}}"#;
            let body = format!(r#"{{"attempt":{},"status":"awaiting_tool","pausedToolCall":{call}}}"#, held.attempt);
            connection.call(&Request::post(target, &path, &headers, &body)).await?;
            let list = Request::get(target, "/api/approvals?assignedTo=all&limit=1000", &headers);
            let list: Value = serde_json::from_slice(connection.call(&list).await?.body)?;
            let id = held.id.to_string();
            let items = list["items"].as_array().context("a list of approvals")?;
            let item = items.iter().find(|item| item["sessionId"] == id.as_str()).context("the approval")?;
            let path = format!("/api/approvals/{}/decision", item["id"].as_str().unwrap_or_default());
            Request::post(target, &path, &site.person(), r#"{"decision":"approve"}"#)
        }
    };
    let mut waiting = Connection::open(target).await?;
    let claim = Request::post(target, "/api/sessions/claim", &headers, &claim_and_wait(&agent));
    let claiming = async {
        let resumed = claimed(waiting.call(&claim).await?.body)?;
        let at = Instant::now();
        ensure!(resumed.first().is_some_and(|resumed| resumed.id == held.id), "the claim got another session");
        Ok::<_, anyhow::Error>(at)
    };
    let answering = async {
        sleep(SETTLE).await;
        let at = Instant::now();
        connection.call(&answer).await?;
        Ok::<_, anyhow::Error>(at)
    };
    let (resumed, sent): (Result<Instant>, Result<Instant>) = tokio::join!(claiming, answering);
    Ok(resumed?.saturating_duration_since(sent?))
}
