//! G23: tools: what a run adds to the bare call of a service, drafts of runs that are filled in field by field, and the
//! page of a run with the largest result.

use super::{Bench, Site, page::rendered};
use crate::{
    histogram::{Histogram, micros},
    http::{Connection, Request, credentials},
    load::{claim_and_wait, claimed},
    process::{ProbeProcess, ServerSpec},
    report::{Bound, Finding},
};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value, json};
use std::{fs, time::Instant};

pub const GOAL: &str = "G23";
/// Fields of a draft, each of which is saved by itself.
const FIELDS: u64 = 20;
/// Most drafts that a caller has of one tool.
const DRAFTS_OF_TOOL: u64 = 20;
/// A server that may call a service on this machine.
const SETTINGS: &str = "[outbound]\nallow_private = [\"127.0.0.1\"]\n";
/// What the service answers.
const ANSWER_BYTES: usize = 2_000;
/// Largest result of a tool, less a little for its quotation marks.
const RESULT_BYTES: usize = 1024 * 1024 - 100;
const RESULT_LINE: &str = "2026-11-30 order 4711: shipped to Oslo with the morning train\\n";

pub async fn measure(bench: &mut Bench) -> Result<()> {
    let config = bench.work.join("tools.toml");
    fs::write(&config, SETTINGS)?;
    let spec = ServerSpec { config: Some(config), ..bench.spec.clone() };
    let data_dir = bench.work.join("tools");
    let account = spec.account(&data_dir).await?;
    let site = Site::open(&spec, &data_dir, account).await?;
    added_to_a_call(bench, &site).await?;
    drafts(bench, &site).await?;
    result_page(bench, &site).await?;
    site.server.stop().await?;
    fs::remove_dir_all(&data_dir)?;
    Ok(())
}

/// Makes and publishes a tool of this kind.
async fn publish(site: &Site, slug: &str, kind: &Value) -> Result<()> {
    let (target, headers) = (site.server.address(), credentials(&site.account.token));
    let mut connection = Connection::open(target).await?;
    let mut tool = json!({ "slug": slug, "name": slug, "inputSchema": { "type": "object" } });
    if let (Some(tool), Some(kind)) = (tool.as_object_mut(), kind.as_object()) {
        tool.extend(kind.clone());
    }
    connection.call(&Request::post(target, "/api/tools", &headers, &tool.to_string())).await?;
    connection.call(&Request::post(target, &format!("/api/tools/{slug}/publish"), &headers, "{}")).await?;
    Ok(())
}

/// The bare call and the run of a tool that makes it, in turns, on one connection each.
async fn added_to_a_call(bench: &mut Bench, site: &Site) -> Result<()> {
    let answer = bench.work.join("tool-answer.txt");
    fs::write(&answer, "x".repeat(ANSWER_BYTES))?;
    let service = ProbeProcess::start(&bench.work.join("probe-tools"), Some(answer.as_path())).await?;
    let http = json!({ "method": "GET", "url": format!("http://{}/page", service.address()) });
    publish(site, "call", &json!({ "kind": "http", "http": http })).await?;
    let target = site.server.address();
    let (mut to_service, mut to_server) = (Connection::open(service.address()).await?, Connection::open(target).await?);
    let bare = Request::get(service.address(), "/page", &[]);
    let headers = credentials(&site.account.token);
    let run = Request::post(target, "/api/tools/call/run", &headers, r#"{"waitSeconds":30}"#);
    let (mut bare_times, mut run_times) = (Histogram::new()?, Histogram::new()?);
    for _ in 0..bench.plan.lag_events {
        let began = Instant::now();
        to_service.call(&bare).await?;
        bare_times.record(began.elapsed());
        let began = Instant::now();
        let ended = to_server.call(&run).await?;
        run_times.record(began.elapsed());
        let ended: Value = serde_json::from_slice(ended.body)?;
        ensure!(ended["status"] == "completed", "a run did not complete: {ended}");
    }
    service.stop().await?;
    let (bare, run) = (bare_times.quantile_us(0.5), run_times.quantile_us(0.5));
    let mut finding = Finding::new(GOAL, "a tool run beyond the bare HTTP call that it makes, p50", "µs", run - bare)
        .facts(format!("the run {}; the bare call p50 {}", run_times.summary(), micros(bare)));
    finding.must = Some(Bound::AtMost(5_000.0));
    bench.found(finding);
    Ok(())
}

/// Drafts of runs that a person fills in, one field at a time, and leaves. All of them stay open.
async fn drafts(bench: &mut Bench, site: &Site) -> Result<()> {
    let (target, headers) = (site.server.address(), credentials(&site.account.token));
    let names: Vec<String> = (0..FIELDS).map(|field| format!("field_{field}")).collect();
    let properties: Map<String, Value> = names.iter().map(|name| (name.clone(), json!({ "type": "string" }))).collect();
    let kind = json!({ "kind": "worker", "inputSchema": { "type": "object", "properties": properties } });
    let mut connection = Connection::open(target).await?;
    let (mut opened, mut saved) = (Histogram::new()?, Histogram::new()?);
    for number in 0..bench.plan.lag_events {
        let (tool, of_tool) = (number / DRAFTS_OF_TOOL, number % DRAFTS_OF_TOOL);
        if of_tool == 0 {
            publish(site, &format!("form-{tool}"), &kind).await?;
        }
        let began = Instant::now();
        let path = format!("/api/tools/form-{tool}/sessions");
        let draft = connection.call(&Request::post(target, &path, &headers, "{}")).await?;
        opened.record(began.elapsed());
        let draft: Value = serde_json::from_slice(draft.body)?;
        let path = format!("/api/tool-sessions/{}/fields", draft["id"].as_str().context("a draft has no id")?);
        for (rev, name) in (1u64..).zip(&names) {
            let body = json!({ "rev": rev, "fields": { name: "Oslo, the morning train" }, "leaving": rev == FIELDS });
            let save = Request::patch(target, &path, &headers, &body.to_string());
            let began = Instant::now();
            connection.call(&save).await?;
            saved.record(began.elapsed());
        }
    }
    let what = format!("saving a field of a draft of a run, {FIELDS} fields in each of the drafts, p50");
    let facts = format!("{} drafts; opening {}; saving {}", bench.plan.lag_events, opened.summary(), saved.summary());
    bench.found(Finding::new(GOAL, what, "µs", saved.quantile_us(0.5)).facts(facts));
    Ok(())
}

/// The page of a run whose result is as large as a result may be.
async fn result_page(bench: &mut Bench, site: &Site) -> Result<()> {
    publish(site, "large", &json!({ "kind": "worker" })).await?;
    let (target, headers) = (site.server.address(), credentials(&site.account.token));
    let mut connection = Connection::open(target).await?;
    connection.call(&Request::post(target, "/api/tools/large/run", &headers, "{}")).await?;
    let claim = Request::post(target, "/api/sessions/claim", &headers, &claim_and_wait("tool:large"));
    let held = claimed(connection.call(&claim).await?.body)?;
    let held = held.first().context("the run was not claimed")?;
    let lines = RESULT_LINE.repeat(RESULT_BYTES / RESULT_LINE.len());
    let body = format!("{{\"attempt\":{},\"result\":\"{lines}\"}}", held.attempt);
    let path = format!("/api/sessions/{}/complete", held.id);
    connection.call(&Request::post(target, &path, &headers, &body)).await?;
    let pages = rendered(bench, site, &format!("/sessions/{}", held.id)).await?;
    let what = "page of a run with a result of 1 MiB, the largest, per second of CPU time";
    bench.found(pages.finding(GOAL, what.to_owned()));
    Ok(())
}
