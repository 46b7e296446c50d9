//! G1, G2, G4, G19: appends over HTTP, beside group commit on the bare engine and beside UmaDB.

use super::{Bench, Series, Site};
use crate::{
    load::{self, AppendScript, Held, Load, ProbeAppendScript, Window, claimed_sessions},
    process::{ProbeProcess, figure},
    raw::sqlite::Raw,
    report::{Bound, Finding, Rounds},
};
use anyhow::Result;
use serde::Deserialize;
use tokio::process::Command;

/// Connections beyond the eight of the goals; 32 and 128 are G19's.
const CONNECTIONS: [usize; 4] = [8, 32, 64, 128];
/// What the probe stores of an event, about as much as we do.
const PROBE_BYTES: usize = 300;
const BATCH: usize = 100;
const BATCH_CONNECTIONS: usize = 8;

pub async fn measure(bench: &mut Bench, site: &Site) -> Result<()> {
    let raw = Raw::create(bench.work.join("raw.sqlite3"))?;
    let held = claimed_sessions(site.server.address(), &site.account.token, CONNECTIONS[3]).await?;
    if bench.wants(&["G1", "G2", "G19"]) {
        singles(bench, site, &raw, &held).await?;
    }
    if bench.wants(&["G4"]) {
        batches(bench, site, &raw, &held).await?;
    }
    Ok(())
}

/// Appends from the first of these sessions, one connection each.
pub async fn append(site: &Site, held: &[Held], batch: usize, window: Window) -> Result<Load> {
    let (target, token) = (site.server.address(), &site.account.token);
    let scripts = held.iter().map(|held| AppendScript::new(target, token, held, batch)).collect();
    Ok(load::run(target, scripts, window, site.server.pid()).await?.0)
}

/// The newest sequence in the answer to an append.
pub fn head_sequence(body: &[u8]) -> Result<u64> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Appended {
        head_sequence: u64,
    }
    Ok(serde_json::from_slice::<Appended>(body)?.head_sequence)
}

/// The same of the probe.
pub fn probe_sequence(body: &[u8]) -> Result<u64> {
    #[derive(Deserialize)]
    struct Appended {
        sequence: u64,
    }
    Ok(serde_json::from_slice::<Appended>(body)?.sequence)
}

/// The same load on the probe: what HTTP and one writer cost without our duties.
async fn to_probe(bench: &Bench, probe: &ProbeProcess, connections: usize) -> Result<Load> {
    let target = probe.address();
    let scripts = (0..connections).map(|_| ProbeAppendScript::new(target, PROBE_BYTES)).collect();
    Ok(load::run(target, scripts, bench.plan.window, probe.pid()).await?.0)
}

/// The same number of connections on UmaDB, with its own client and appends of so many events: events per second.
async fn to_umadb(bench: &Bench, connections: usize, events: usize) -> Result<Option<f64>> {
    let Some(program) = &bench.umadb else { return Ok(None) };
    let mut command = Command::new(program);
    command.args([connections.to_string(), bench.plan.window.measure.as_secs_f64().to_string()]);
    command.arg(&bench.work).arg(events.to_string());
    Ok(Some(figure(&mut command).await?))
}

async fn singles(bench: &mut Bench, site: &Site, raw: &Raw, held: &[Held]) -> Result<()> {
    let probe = ProbeProcess::start(&bench.work.join("probe-appends"), None).await?;
    let mut probes: [Series; 4] = Default::default();
    let mut ours: [Series; 4] = Default::default();
    let mut bare: [Rounds; 4] = Default::default();
    let mut umadb = Rounds::default();
    for _ in 0..bench.plan.rounds {
        for (at, connections) in CONNECTIONS.into_iter().enumerate() {
            bare[at].push(raw.group_commit(connections, bench.plan.window).await?);
            ours[at].push(append(site, &held[..connections], 1, bench.plan.window).await?);
            if connections == CONNECTIONS[0]
                && let Some(rate) = to_umadb(bench, connections, 1).await?
            {
                umadb.push(rate);
            }
            if matches!(connections, 8 | 128) {
                probes[at].push(to_probe(bench, &probe, connections).await?);
            }
        }
    }
    probe.stop().await?;
    for (at, connections) in CONNECTIONS.into_iter().enumerate() {
        let what = format!("single appends, {connections} connections");
        let (best, median) = (bare[at].highest(), bare[at].median());
        let finding =
            ours[at].finding("G1", what, "event").against(format!("raw, {connections} writers"), best, median);
        let goals = (Bound::AtLeast(0.6), Bound::AtLeast(0.8));
        bench.found(if connections == 8 { finding.goals(goals.0, goals.1) } else { finding });
        if probes[at].best.is_some() {
            let what = format!("the probe's appends, {connections} connections");
            let finding = probes[at].finding("G1", what, "event");
            bench.found(finding.against(format!("raw, {connections} writers"), best, median));
        }
    }
    if bench.umadb.is_some() {
        let what = format!("single appends, {} connections", CONNECTIONS[0]);
        let finding = Finding::highest("G2", what, "/s", &ours[0].rate);
        let finding = finding.against("UmaDB", umadb.highest(), umadb.median());
        bench.found(finding.goals(Bound::AtLeast(0.8), Bound::AtLeast(1.5)));
    }
    let errors = ours[1].errors + ours[3].errors;
    let first = ours[1].first_error.as_deref().or(ours[3].first_error.as_deref()).unwrap_or_default();
    let refused = Finding::new("G19", "errors and refusals, 32 and 128 connections", "", errors as f64);
    bench.found(refused.goals(Bound::AtMost(0.0), Bound::AtMost(0.0)).facts(first));
    let (few, many) = (&ours[0].p99_us, &ours[3].p99_us);
    let mut slow = Finding::lowest("G19", "p99 of an append, 128 connections", "µs", many);
    slow.aim = Some(Bound::AtMost(10.0));
    bench.found(slow.against("8 connections", few.lowest(), few.median()));
    Ok(())
}

async fn batches(bench: &mut Bench, site: &Site, raw: &Raw, held: &[Held]) -> Result<()> {
    let (mut ours, mut bare, mut umadb) = (Series::default(), Rounds::default(), Rounds::default());
    for _ in 0..bench.plan.rounds {
        bare.push(raw.batches(BATCH, bench.plan.window).await?);
        ours.push(append(site, &held[..BATCH_CONNECTIONS], BATCH, bench.plan.window).await?);
        if let Some(rate) = to_umadb(bench, BATCH_CONNECTIONS, BATCH).await? {
            umadb.push(rate);
        }
    }
    let what = format!("events in batches of {BATCH}, {BATCH_CONNECTIONS} connections");
    let finding = ours.finding("G4", what, "event").against("raw batches", bare.highest(), bare.median());
    bench.found(finding.goals(Bound::AtLeast(0.5), Bound::AtLeast(0.8)));
    if bench.umadb.is_some() {
        let what = format!("events in batches of {BATCH}, {BATCH_CONNECTIONS} connections");
        let finding = Finding::highest("G4", what, "/s", &ours.rate);
        let finding = finding.against("UmaDB", umadb.highest(), umadb.median());
        bench.found(finding.goals(Bound::AtLeast(0.6), Bound::AtLeast(1.0)));
    }
    Ok(())
}
