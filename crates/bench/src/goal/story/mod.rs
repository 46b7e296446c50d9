//! G22: the two stories of search, failures, inbox and rules. An operator finds the tool call that broke over the
//! weekend and runs its sessions again; a reviewer decides what is alike at once and makes a rule of it. Each step is
//! the request that a browser sends for it. Rows are made in bulk; see `seed`. The approvals that wait are made by
//! requests, because the server decides them.

mod operator;
mod reviewer;
mod step;

use super::{Bench, Site};
use crate::{
    http::{Connection, Request, credentials},
    load::claimed_sessions_of,
    process::ServerSpec,
    raw::postgres::Databases,
    report::Finding,
    seed::{self, sqlite::Seed},
};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::time::sleep;

pub const GOAL: &str = "G22";

/// The agent that asks for approvals.
const AGENT: &str = "bench-back-office";
/// The tool whose calls the reviewer decides together.
const REFUND: &str = "stripe_refund";
/// Tools of the calls that wait, and the number of calls.
const WAITING: [(&str, usize); 4] = [(REFUND, 120), ("send_email", 80), ("update_crm", 50), ("close_ticket", 30)];
/// What a form of a browser expects.
const HTML: &str = "text/html";
/// What a browser's script expects.
const JSON: &str = "application/json";
/// Longest time until the server has indexed the events and grouped the failures.
const READY_MAX: Duration = Duration::from_secs(900);
/// Pause between two looks at how far it is.
const POLL: Duration = Duration::from_millis(250);

pub async fn measure(bench: &mut Bench) -> Result<()> {
    let spec = bench.spec.clone();
    on(bench, &spec, None).await?;
    let Some(url) = bench.postgres_url.clone() else {
        eprintln!("{GOAL} on PostgreSQL needs --postgres-url; skipped");
        return Ok(());
    };
    let mut databases = Databases::new(&url)?;
    let measured = on_postgres(bench, &mut databases).await;
    // Whatever happened, someone else's PostgreSQL is left as it was.
    databases.drop_all().await?;
    measured
}

/// The same on PostgreSQL. The findings say so.
async fn on_postgres(bench: &mut Bench, databases: &mut Databases) -> Result<()> {
    let url = databases.create("story").await?;
    let (spec, before) = (bench.spec.on_postgres(&url), bench.findings.len());
    let measured = on(bench, &spec, Some(&url)).await;
    for finding in bench.findings.iter_mut().skip(before) {
        finding.what.push_str(", PostgreSQL");
    }
    measured
}

/// Measures a server that is started like this; `url` is its database, unless that is in its data directory.
async fn on(bench: &mut Bench, spec: &ServerSpec, url: Option<&str>) -> Result<()> {
    let (data_dir, sizes) = (bench.work.join("story"), bench.plan.story);
    let account = spec.account(&data_dir).await?;
    eprintln!("making {} sessions, {} events and {} approvals …", sizes.sessions, sizes.events, sizes.items);
    let site = Site::open(spec, &data_dir, account.clone()).await?;
    ask(&site).await?;
    site.server.stop().await?;
    match url {
        Some(url) => seed::postgres::story::story(url, sizes).await?,
        None => {
            let to_fill = data_dir.clone();
            tokio::task::spawn_blocking(move || Seed::open(&to_fill)?.story(sizes)).await??;
        }
    }
    let site = Site::open(spec, &data_dir, account).await?;
    let seconds = ready(&site).await?.as_secs_f64();
    let what = format!("index of the search from nothing, {} events", sizes.events);
    bench.found(Finding::new(GOAL, what, "s", seconds));
    operator::measure(bench, &site).await?;
    reviewer::measure(bench, &site).await?;
    site.server.stop().await?;
    std::fs::remove_dir_all(&data_dir)?;
    Ok(())
}

/// Lets an agent ask for the approvals that wait.
async fn ask(site: &Site) -> Result<()> {
    let (target, token) = (site.server.address(), &site.account.token);
    let headers = credentials(token);
    let count = WAITING.iter().map(|(_, count)| count).sum();
    let mut held = claimed_sessions_of(target, token, AGENT, count).await?.into_iter();
    let mut connection = Connection::open(target).await?;
    for (tool, count) in WAITING {
        for number in 0..count {
            let held = held.next().context("a claimed session")?;
            let input = json!({ "amount": 5 + number % 45, "currency": "EUR" });
            let call = json!({ "toolCallId": "c", "toolName": tool, "toolInput": input });
            let pause = json!({ "attempt": held.attempt, "status": "awaiting_tool", "pausedToolCall": call });
            let path = format!("/api/sessions/{}/yield", held.id);
            connection.call(&Request::post(target, &path, &headers, &pause.to_string())).await?;
        }
    }
    Ok(())
}

/// Waits until all events are indexed and all failures grouped. Returns how long that took.
async fn ready(site: &Site) -> Result<Duration> {
    let began = Instant::now();
    let mut connection = Connection::open(site.server.address()).await?;
    loop {
        let found = read(site, &mut connection, "/api/search?q=quarry").await?;
        let causes = read(site, &mut connection, "/api/failure-causes?window=weekend").await?;
        if !found["indexedUntil"].is_null() && causes["groupedPercent"] == 100 {
            return Ok(began.elapsed());
        }
        ensure!(began.elapsed() < READY_MAX, "events are indexed until {}, {causes}", found["indexedUntil"]);
        sleep(POLL).await;
    }
}

/// Reads JSON as the signed-in admin, outside of a step.
async fn read(site: &Site, connection: &mut Connection, path: &str) -> Result<Value> {
    let answer = connection.call(&Request::get(site.server.address(), path, &site.person())).await?;
    serde_json::from_slice(answer.body).with_context(|| format!("{path} is no JSON"))
}

/// A page as the signed-in admin's browser asks for it.
fn page(site: &Site, path: &str) -> Request {
    Request::get(site.server.address(), path, &[site.cookie.clone(), format!("accept: {HTML}")])
}

/// A form as the signed-in admin's browser sends it: for the next page, or for a script.
fn form(site: &Site, path: &str, accept: &str, fields: &str) -> Request {
    Request::form_with(site.server.address(), path, &[site.cookie.clone(), format!("accept: {accept}")], fields)
}
