//! G5, G8, G9: the same server on PostgreSQL, beside PostgreSQL itself and beside graphile-worker.

use super::{Bench, Series, Site, append::append, claim::GraphileWorker, queue};
use crate::{
    load::{self, ClaimScript, claimed_sessions, duplicates},
    raw::postgres::{Databases, Raw},
    report::{Bound, Rounds},
    seed,
};
use anyhow::Result;

const CONNECTIONS: usize = 8;
/// A claim on the bare engine is cheap: it gets this many times the jobs that we get sessions.
const JOBS_PER_SESSION: usize = 4;

pub async fn measure(bench: &mut Bench) -> Result<()> {
    let Some(url) = bench.postgres_url.clone() else {
        eprintln!("G5, G9 and G8 on PostgreSQL need --postgres-url; skipped");
        return Ok(());
    };
    let mut databases = Databases::new(&url)?;
    let measured = on(bench, &mut databases).await;
    // Whatever happened, someone else's PostgreSQL is left as it was.
    databases.drop_all().await?;
    measured
}

async fn on(bench: &mut Bench, databases: &mut Databases) -> Result<()> {
    let raw = Raw::create(&databases.create("raw").await?, u32::try_from(CONNECTIONS)?).await?;
    let url = databases.create("shiftbook").await?;
    let spec = bench.spec.on_postgres(&url);
    let data_dir = bench.work.join("postgres");
    let account = spec.account(&data_dir).await?;
    let site = Site::open(&spec, &data_dir, account).await?;
    if bench.wants(&["G5"]) {
        appends(bench, &site, &raw).await?;
    }
    if bench.wants(&["G9"]) {
        claims(bench, &site, &raw, &url).await?;
    }
    if bench.wants(&["G8", "G9"]) {
        let reference = match bench.references.clone() {
            Some(references) => Some(GraphileWorker::new(references, databases.create("graphile_queue").await?)),
            None => None,
        };
        queue::measure(bench, &site, reference).await?;
    }
    raw.close().await;
    site.server.stop().await
}

async fn appends(bench: &mut Bench, site: &Site, raw: &Raw) -> Result<()> {
    let held = claimed_sessions(site.server.address(), &site.account.token, CONNECTIONS).await?;
    let (mut ours, mut bare) = (Series::default(), Rounds::default());
    for _ in 0..bench.plan.rounds {
        bare.push(raw.append(bench.plan.window).await?);
        ours.push(append(site, &held, 1, bench.plan.window).await?);
    }
    let what = format!("single appends on PostgreSQL, {CONNECTIONS} connections");
    let finding = ours.finding("G5", what, "event").against("raw UNNEST", bare.highest(), bare.median());
    bench.found(finding.goals(Bound::AtLeast(0.7), Bound::AtLeast(2.0)));
    Ok(())
}

async fn claims(bench: &mut Bench, site: &Site, raw: &Raw, url: &str) -> Result<()> {
    let (target, token) = (site.server.address(), &site.account.token);
    let (mut ours, mut bare, mut twice) = (Series::default(), Rounds::default(), 0);
    for _ in 0..bench.plan.rounds {
        bare.push(raw.claims(i64::try_from(bench.plan.claims * JOBS_PER_SESSION)?, bench.plan.window).await?);
        seed::postgres::pending(url, bench.plan.claims).await?;
        let claimers = (0..CONNECTIONS).map(|_| ClaimScript::new(target, token, seed::AGENT)).collect();
        let (load, claimers) = load::run(target, claimers, bench.plan.window.cold(), site.server.pid()).await?;
        twice += duplicates(claimers.iter().map(|claimer| &*claimer.held));
        ours.push(load);
    }
    let what = format!("claims on PostgreSQL, {CONNECTIONS} connections");
    let finding = ours.finding("G9", what, "claim").against("raw SKIP LOCKED", bare.highest(), bare.median());
    let finding = finding.goals(Bound::AtLeast(0.5), Bound::AtLeast(0.8));
    bench.found(finding.broken_if(twice > 0, format!("{twice} sessions were given out twice")));
    Ok(())
}
