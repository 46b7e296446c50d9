//! G11: one writer, many followers; and how long an event takes to a follower.

use super::{Bench, Site, append, transcript};
use crate::{
    histogram::micros,
    http::{Connection, Request, credentials},
    load::{self, AppendScript, Deliveries, Held, ProbeAppendScript, Script as _, claimed_sessions},
    process::ProbeProcess,
    report::{Bound, Finding, Rounds},
};
use anyhow::{Context as _, Result};

const FOLLOWERS: [usize; 2] = [100, 1_000];
/// `id: …`, `data: ` and line ends around what the probe was sent.
const FRAME_BYTES: usize = 20;

/// The rounds of one kind of broadcast.
#[derive(Default)]
struct Broadcasts {
    rate: Rounds,
    lost: u64,
    best: Option<Deliveries>,
}

impl Broadcasts {
    fn push(&mut self, done: Deliveries) {
        self.rate.push(done.per_second());
        self.lost += done.lost;
        if self.best.as_ref().is_none_or(|best| best.per_second() < done.per_second()) {
            self.best = Some(done);
        }
    }
}

pub async fn measure(bench: &mut Bench, site: &Site) -> Result<()> {
    let probe = ProbeProcess::start(&bench.work.join("probe"), None).await?;
    for followers in FOLLOWERS {
        let (mut ours, mut probes) = (Broadcasts::default(), Broadcasts::default());
        for _ in 0..bench.plan.rounds {
            let done = to_ours(bench, site, followers).await.context("broadcasting")?;
            let frame = usize::try_from(done.frame_bytes)?;
            ours.push(done);
            probes.push(to_probe(bench, &probe, followers, frame).await.context("broadcasting by the probe")?);
        }
        let what = format!("events delivered to {followers} followers");
        let facts = ours.best.as_ref().map(Deliveries::facts).unwrap_or_default();
        let theirs = probes.best.as_ref().map(Deliveries::facts).unwrap_or_default();
        let finding = Finding::highest("G11", what, "/s", &ours.rate)
            .against("probe", probes.rate.highest(), probes.rate.median())
            .goals(Bound::AtLeast(0.6), Bound::AtLeast(0.9))
            .broken_if(ours.lost > 0, format!("{} lost", ours.lost))
            .facts(format!("{facts}. The probe: {theirs}"));
        bench.found(finding);
    }
    probe.stop().await?;
    let (held, follow, after) = followed(site).await?;
    let next = writer(site, &held);
    let lag = load::lag(site.server.address(), &follow, after, bench.plan.lag_events, next).await?;
    let p50 = lag.from_request.quantile_us(0.5);
    let facts = format!("{}; after the writer's answer: {}", lag.from_request.summary(), lag.from_answer.summary());
    bench.found(Finding::new("G11", "one event from its request to a follower, p50", "µs", p50).facts(facts));
    eprintln!("      after the writer's answer p50 {}", micros(lag.from_answer.quantile_us(0.5)));
    Ok(())
}

/// A session with one event, the request that follows it, and its position.
async fn followed(site: &Site) -> Result<(Held, Request, u64)> {
    let (target, token) = (site.server.address(), &site.account.token);
    let held = claimed_sessions(target, token, 1).await?.remove(0);
    let after = transcript::fill(site, &held, 1).await?;
    let mut headers = credentials(token);
    headers.push("accept: text/event-stream".into());
    let path = format!("/api/sessions/{}/events/stream?afterSequence={after}", held.id);
    Ok((held, Request::get(target, &path, &headers), after))
}

fn writer(site: &Site, held: &Held) -> impl FnMut() -> Vec<u8> + use<> {
    let mut script = AppendScript::new(site.server.address(), &site.account.token, held, 1);
    move || script.request().map(<[u8]>::to_vec).unwrap_or_default()
}

async fn to_ours(bench: &Bench, site: &Site, followers: usize) -> Result<Deliveries> {
    let (held, follow, after) = followed(site).await?;
    let next = writer(site, &held);
    let (target, pid) = (site.server.address(), site.server.pid());
    load::deliver(target, &follow, after, followers, next, bench.plan.window, pid).await
}

async fn to_probe(bench: &Bench, probe: &ProbeProcess, followers: usize, frame: usize) -> Result<Deliveries> {
    let target = probe.address();
    let append = ProbeAppendScript::new(target, frame.saturating_sub(FRAME_BYTES)).into_request();
    let mut connection = Connection::open(target).await?;
    let after = append::probe_sequence(connection.call(&append).await?.body)?;
    let follow = Request::get(target, "/stream", &[]);
    let next = || append.bytes().to_vec();
    load::deliver(target, &follow, after, followers, next, bench.plan.window, probe.pid()).await
}
