//! G12, G16, G20: what a long history costs. Rows are made in bulk; see `seed`.

use super::{Bench, Series, Site, append::append, page::rendered};
use crate::{
    http::Request,
    load::{self, GetScript, claimed_sessions},
    process::Server,
    report::{Bound, Finding, Rounds},
    seed::sqlite::Seed,
};
use anyhow::Result;
use std::path::Path;

const CONNECTIONS: usize = 8;

pub async fn measure(bench: &mut Bench) -> Result<()> {
    let (few, many) = bench.plan.sessions;
    let (some, all) = bench.plan.events;
    let (small_dir, big_dir) = (bench.work.join("small"), bench.work.join("big"));
    let small_account = bench.spec.account(&small_dir).await?;
    let big_account = bench.spec.account(&big_dir).await?;
    eprintln!("making {many} sessions and {all} events …");
    filled(&small_dir, few, 0).await?;
    filled(&big_dir, if bench.wants(&["G12"]) { many } else { few }, some).await?;
    if bench.wants(&["G16"]) {
        start(bench, &big_dir, some).await?;
    }
    if bench.wants(&["G20"]) {
        filled(&big_dir, 0, all - some).await?;
    }
    let small = Site::open(&bench.spec, &small_dir, small_account).await?;
    let big = Site::open(&bench.spec, &big_dir, big_account).await?;
    if bench.wants(&["G12"]) {
        strip(bench, &small, &big).await?;
    }
    if bench.wants(&["G20"]) {
        appends(bench, &small, &big).await?;
    }
    // Last, because a server that takes long over its pages is busy with them for a while.
    if bench.wants(&["G12"]) {
        let mut cost = Vec::new();
        for (site, sessions) in [(&small, few), (&big, many)] {
            let measured = today(bench, site, sessions).await.map(|rounds| cost.push(rounds));
            bench.failed("G12", &format!("/today at {sessions} sessions"), measured);
        }
        if let [at_few, at_many] = &cost[..] {
            let what = format!("CPU time of /today at {many} sessions");
            let finding = Finding::lowest("G12", what, "µs", at_many);
            let finding = finding.against(format!("at {few} sessions"), at_few.lowest(), at_few.median());
            bench.found(finding.goals(Bound::AtMost(1.5), Bound::AtMost(1.1)));
        }
    }
    small.server.stop().await?;
    big.server.stop().await
}

async fn filled(data_dir: &Path, sessions: usize, events: usize) -> Result<()> {
    let data_dir = data_dir.to_owned();
    let seeding = move || {
        let mut seed = Seed::open(&data_dir)?;
        if sessions > 0 {
            seed.sessions(sessions)?;
        }
        seed.events(events)
    };
    tokio::task::spawn_blocking(seeding).await?
}

async fn start(bench: &mut Bench, data_dir: &Path, events: usize) -> Result<()> {
    let mut seconds = Rounds::default();
    for _ in 0..bench.plan.starts {
        let server = Server::start(&bench.spec, data_dir).await?;
        seconds.push(server.started_in.as_secs_f64());
        server.stop().await?;
    }
    let finding = Finding::lowest("G16", format!("start to first 200 with {events} events"), "s", &seconds);
    bench.found(finding.goals(Bound::AtMost(0.3), Bound::AtMost(0.08)));
    Ok(())
}

/// What the strip asks of `/today`'s two addresses: the counts, which have a goal, and the hours of the day.
async fn strip(bench: &mut Bench, small: &Site, big: &Site) -> Result<()> {
    let counts =
        at_both(bench, small, big, "five counts", "/api/today/work-queue-counts?timezone=Europe/Berlin").await?;
    bench.found(counts.goals(Bound::AtMost(2.0), Bound::AtMost(1.1)));
    let hours = at_both(bench, small, big, "the strip's hours", "/today/courses?timezone=Europe/Berlin").await?;
    bench.found(hours);
    Ok(())
}

/// One reader asks a small and a large workspace in turns.
async fn at_both(bench: &Bench, small: &Site, big: &Site, what: &str, path: &str) -> Result<Finding> {
    let (few, many) = bench.plan.sessions;
    let (mut at_few, mut at_many) = (Series::default(), Series::default());
    for _ in 0..bench.plan.rounds {
        for (site, series) in [(small, &mut at_few), (big, &mut at_many)] {
            let target = site.server.address();
            let reader = GetScript(Request::get(target, path, std::slice::from_ref(&site.cookie)));
            series.push(load::run(target, vec![reader], bench.plan.window, site.server.pid()).await?.0);
        }
    }
    let (few_us, many_us) = (&at_few.p50_us, &at_many.p50_us);
    let finding = Finding::lowest("G12", format!("{what}, p50 at {many} sessions"), "µs", many_us)
        .against(format!("at {few} sessions"), few_us.lowest(), few_us.median())
        .facts(at_many.facts("answer"));
    Ok(finding)
}

/// Returns the CPU time of a page in each round, microseconds.
async fn today(bench: &mut Bench, site: &Site, sessions: usize) -> Result<Rounds> {
    let pages = rendered(bench, site, "/today").await?;
    bench.found(pages.finding("G12", format!("/today at {sessions} sessions, per second of CPU time")));
    Ok(pages.cpu_us())
}

async fn appends(bench: &mut Bench, small: &Site, big: &Site) -> Result<()> {
    let mut held = Vec::new();
    for site in [small, big] {
        held.push(claimed_sessions(site.server.address(), &site.account.token, CONNECTIONS).await?);
    }
    let (mut at_none, mut at_many) = (Rounds::default(), Series::default());
    let mut cost = Rounds::default();
    for _ in 0..bench.plan.rounds {
        at_none.push(1e6 / append(small, &held[0], 1, bench.plan.window).await?.per_second());
        let load = append(big, &held[1], 1, bench.plan.window).await?;
        cost.push(1e6 / load.per_second());
        at_many.push(load);
    }
    let what = format!("cost of an append at {} events, {CONNECTIONS} connections", bench.plan.events.1);
    let finding = Finding::lowest("G20", what, "µs", &cost)
        .against("at 0 events", at_none.lowest(), at_none.median())
        .goals(Bound::AtMost(1.2), Bound::AtMost(1.05))
        .facts(at_many.facts("event"));
    bench.found(finding);
    Ok(())
}
