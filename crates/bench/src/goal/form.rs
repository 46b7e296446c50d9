//! G21: forms for people without an account: submissions beside appends and the probe, and the page of the form.

use super::{Bench, Series, Site, append::append, page::Rendered};
use crate::{
    http::{Connection, Request, credentials},
    load::{self, ProbeAppendScript, SubmitScript, claimed_sessions, open_form},
    process::{ProbeProcess, ServerSpec},
    report::{Bound, Finding, Rounds},
};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::fs;

pub const GOAL: &str = "G21";
const CONNECTIONS: [usize; 2] = [8, 128];
/// What the probe stores of a submission, about as much as an event.
const PROBE_BYTES: usize = 300;
/// A server that does not limit the load: one address sends everything.
const SETTINGS: &str = "[forms]\nrequests_per_minute = 100000000\n";

pub async fn measure(bench: &mut Bench) -> Result<()> {
    let config = bench.work.join("forms.toml");
    fs::write(&config, SETTINGS)?;
    let spec = ServerSpec { config: Some(config), ..bench.spec.clone() };
    let data_dir = bench.work.join("forms");
    let account = spec.account(&data_dir).await?;
    let site = Site::open(&spec, &data_dir, account).await?;
    submissions(bench, &site).await?;
    form_page(bench, &site).await?;
    site.server.stop().await?;
    fs::remove_dir_all(&data_dir)?;
    Ok(())
}

/// Publishes a form with three questions under this slug. Returns the path of a link to it.
async fn publish(site: &Site, slug: &str) -> Result<String> {
    let (target, headers) = (site.server.address(), credentials(&site.account.token));
    let mut connection = Connection::open(target).await?;
    let fields = json!([
        { "key": "name", "label": "Your name?", "type": "short_text", "required": true },
        { "key": "mood", "label": "How was it?", "type": "scale", "minimum": 1, "maximum": 5 },
        { "key": "why", "label": "Why?", "type": "long_text" },
    ]);
    let config = json!({ "gate": "none", "responses": "many" });
    let body = json!({ "slug": slug, "title": "How was your week?", "fields": fields, "publishConfig": config });
    let body = body.to_string();
    let made = connection.call(&Request::post(target, "/api/views", &headers, &body)).await?;
    let made: Value = serde_json::from_slice(made.body)?;
    let id = made["id"].as_str().context("the view has no id")?.to_owned();
    connection.call(&Request::post(target, &format!("/api/views/{id}/publish"), &headers, "{}")).await?;
    let link = connection.call(&Request::post(target, &format!("/api/views/{id}/links"), &headers, "{}")).await?;
    let link: Value = serde_json::from_slice(link.body)?;
    let url = link["url"].as_str().context("the link has no address")?;
    let at = url.find("/f/").context("the address of the link")?;
    Ok(url[at..].to_owned())
}

/// Submissions, single appends and the probe in turns. Every connection is another browser.
async fn submissions(bench: &mut Bench, site: &Site) -> Result<()> {
    let target = site.server.address();
    let probe = ProbeProcess::start(&bench.work.join("probe-submissions"), None).await?;
    let held = claimed_sessions(target, &site.account.token, CONNECTIONS[1]).await?;
    let mut ours: [Series; 2] = Default::default();
    let mut probes: [Rounds; 2] = Default::default();
    let mut appends: [Rounds; 2] = Default::default();
    for round in 0..bench.plan.rounds {
        for (at, connections) in CONNECTIONS.into_iter().enumerate() {
            let link = publish(site, &format!("week-{round}-{connections}")).await?;
            let mut scripts = Vec::with_capacity(connections);
            for _ in 0..connections {
                scripts.push(SubmitScript::new(target, &open_form(target, &link).await?)?);
            }
            ours[at].push(load::run(target, scripts, bench.plan.window, site.server.pid()).await?.0);
            appends[at].push(append(site, &held[..connections], 1, bench.plan.window).await?.per_second());
            let scripts = (0..connections).map(|_| ProbeAppendScript::new(probe.address(), PROBE_BYTES)).collect();
            probes[at].push(load::run(probe.address(), scripts, bench.plan.window, probe.pid()).await?.0.per_second());
        }
    }
    probe.stop().await?;
    for (at, connections) in CONNECTIONS.into_iter().enumerate() {
        let (best, median) = (probes[at].highest(), probes[at].median());
        let what = format!("submissions of people without an account, {connections} connections");
        bench.found(ours[at].finding(GOAL, what, "submission").against("the probe's appends", best, median));
        // The ratio of submissions to the probe is to be 0.35 of the ratio of G1's appends to the same probe.
        let what = format!("the same beside single appends, {connections} connections");
        let mut finding = Finding::highest(GOAL, what, "/s", &ours[at].rate).against(
            "single appends",
            appends[at].highest(),
            appends[at].median(),
        );
        finding.must = Some(Bound::AtLeast(0.35));
        bench.found(finding);
    }
    Ok(())
}

/// The page of a form as a browser with a link gets it, per second of CPU time.
async fn form_page(bench: &mut Bench, site: &Site) -> Result<()> {
    let link = publish(site, "week-page").await?;
    let form = open_form(site.server.address(), &link).await?;
    let mut rendered = Rendered::default();
    for _ in 0..bench.plan.rounds {
        rendered.round_as(bench, site, &form.path, &form.cookie).await?;
    }
    bench.found(rendered.finding(GOAL, "page of a form of three questions, per second of CPU time".to_owned()));
    Ok(())
}
