//! G6: a transcript page of 1,000 events, open and sealed, beside the same bytes as a static file.

use super::{Bench, Series, Site, append};
use crate::{
    http::{Connection, Request, credentials},
    load::{self, AppendScript, GetScript, Held, Load, Script as _, claimed_sessions},
    process::{Nginx, ProbeProcess},
    report::Bound,
};
use anyhow::{Result, ensure};
use std::net::SocketAddr;

const EVENTS: usize = 1_000;
const BATCH: usize = 100;
const READERS: usize = 8;

/// Whoever serves the same bytes without us.
enum Static {
    Nginx(Nginx),
    Probe(ProbeProcess),
}

impl Static {
    async fn start(bench: &Bench, bytes: &[u8]) -> Result<(Self, SocketAddr, &'static str)> {
        if let Some(nginx) = Nginx::start(&bench.work, bytes).await? {
            let address = nginx.address;
            return Ok((Self::Nginx(nginx), address, "nginx, static file"));
        }
        let page = bench.work.join("page");
        std::fs::write(&page, bytes)?;
        let probe = ProbeProcess::start(&bench.work.join("static"), Some(&page)).await?;
        let address = probe.address();
        Ok((Self::Probe(probe), address, "axum from memory; nginx is not installed"))
    }

    async fn stop(self) -> Result<()> {
        match self {
            Self::Nginx(nginx) => nginx.stop().await,
            Self::Probe(probe) => probe.stop().await,
        }
    }
}

/// Adds `count` events to a session and returns its newest sequence.
pub async fn fill(site: &Site, held: &Held, count: usize) -> Result<u64> {
    let target = site.server.address();
    let mut connection = Connection::open(target).await?;
    let mut head = 0;
    for from in (0..count).step_by(BATCH) {
        let mut script = AppendScript::new(target, &site.account.token, held, BATCH.min(count - from));
        let request = script.request().map(<[u8]>::to_vec).unwrap_or_default();
        let answer = connection.exchange(&request, crate::http::Body::Keep).await?.require_success()?;
        head = append::head_sequence(answer.body)?;
    }
    Ok(head)
}

pub async fn measure(bench: &mut Bench, site: &Site) -> Result<()> {
    let (target, token) = (site.server.address(), &site.account.token);
    let held = claimed_sessions(target, token, 2).await?;
    let (open, sealed) = (&held[0], &held[1]);
    for session in [open, sealed] {
        fill(site, session, EVENTS).await?;
    }
    let mut connection = Connection::open(target).await?;
    let complete = format!("/api/sessions/{}/complete", sealed.id);
    let body = format!("{{\"attempt\":{}}}", sealed.attempt);
    connection.call(&Request::post(target, &complete, &credentials(token), &body)).await?;
    let page = |held: &Held| {
        let path = format!("/api/sessions/{}/events?afterSequence=0&limit={EVENTS}", held.id);
        Request::get(target, &path, &credentials(token))
    };
    let bytes = connection.call(&page(sealed)).await?.body.to_vec();
    ensure!(bytes.len() > EVENTS * 100, "a page of {EVENTS} events has only {} bytes", bytes.len());
    let (server, address, who) = Static::start(bench, &bytes).await?;
    let (mut opened, mut closed, mut plain) = (Series::default(), Series::default(), Series::default());
    for _ in 0..bench.plan.rounds {
        plain.push(read(bench, &Request::get(address, "/page", &[]), address, std::process::id()).await?);
        opened.push(read(bench, &page(open), target, site.server.pid()).await?);
        closed.push(read(bench, &page(sealed), target, site.server.pid()).await?);
    }
    server.stop().await?;
    for (series, kind) in [(&opened, "open"), (&closed, "sealed")] {
        let what = format!("transcript of {EVENTS} events, {kind}, {READERS} connections");
        let finding = series.finding("G6", what, "page").against(who, plain.rate.highest(), plain.rate.median());
        bench.found(finding.goals(Bound::AtLeast(0.10), Bound::AtLeast(0.5)));
    }
    Ok(())
}

async fn read(bench: &Bench, page: &Request, target: SocketAddr, pid: u32) -> Result<Load> {
    let readers = (0..READERS).map(|_| GetScript(page.clone())).collect();
    Ok(load::run(target, readers, bench.plan.window, pid).await?.0)
}
