//! Followers of one session: how much arrives, whether all of it does, and how soon.

use super::Window;
use crate::{
    histogram::Histogram,
    http::{Body, Connection, Request, Scanner, Stream},
    process::{Usage, own_usage, usage},
};
use anyhow::{Context as _, Result, bail, ensure};
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

/// How long followers may take to read what was written.
const CATCH_UP_MAX: Duration = Duration::from_secs(60);
/// Pause between two events whose lag is measured: each is alone.
const ALONE: Duration = Duration::from_millis(4);

/// Outcome of a broadcast.
#[derive(Debug, Clone, Default)]
pub struct Deliveries {
    pub events: u64,
    pub delivered: u64,
    /// Events that did not arrive, or not in their place.
    pub lost: u64,
    pub seconds: f64,
    /// Size of one frame of the stream.
    pub frame_bytes: u64,
    pub server: Usage,
    pub generator: Usage,
}

impl Deliveries {
    pub fn per_second(&self) -> f64 {
        self.delivered as f64 / self.seconds.max(1e-9)
    }

    /// Throughput and CPU time as text.
    pub fn facts(&self) -> String {
        let each = |usage: Usage| usage.cpu_seconds() * 1e6 / self.delivered.max(1) as f64;
        format!(
            "{} events of {} bytes, each synced before it was sent; {} lost; server CPU {:.1} µs per delivery ({:.2} cores), generator {:.1} µs",
            self.events,
            self.frame_bytes,
            self.lost,
            each(self.server),
            self.server.cpu_seconds() / self.seconds.max(1e-9),
            each(self.generator),
        )
    }
}

/// One writer appends for the length of the window, one event after another; every follower reads all of it.
/// The time counts until the last follower has the last event.
pub async fn deliver(
    target: SocketAddr,
    follow: &Request,
    after: u64,
    followers: usize,
    mut next: impl FnMut() -> Vec<u8>,
    window: Window,
    server_pid: u32,
) -> Result<Deliveries> {
    let until = Arc::new(AtomicU64::new(u64::MAX));
    let mut readers = JoinSet::new();
    for _ in 0..followers {
        let stream = Stream::open(Connection::open(target).await?, follow, after).await?;
        readers.spawn(read_until(stream, until.clone()));
    }
    let mut writer = Connection::open(target).await?;
    let before = (usage(server_pid)?, own_usage()?);
    let began = Instant::now();
    let mut events = 0;
    while began.elapsed() < window.measure {
        let status = writer.exchange(&next(), Body::Drop).await?.status;
        ensure!(status == 201, "the append was answered with {status}");
        events += 1;
    }
    // One more event wakes followers that have everything, so that they see the end.
    until.store(after + events, Ordering::Release);
    let last = writer.exchange(&next(), Body::Drop).await?.status;
    ensure!(last == 201, "the last append was answered with {last}");
    let mut done = Deliveries { events, ..Deliveries::default() };
    let mut finished = began;
    let gathered = async {
        while let Some(reader) = readers.join_next().await {
            let (seen, at) = reader.context("a follower's task failed")??;
            done.delivered += seen.count.min(events);
            done.lost += events.saturating_sub(seen.count) + seen.gaps;
            done.frame_bytes = seen.bytes / seen.count.max(1);
            finished = finished.max(at);
        }
        anyhow::Ok(())
    };
    timeout(CATCH_UP_MAX, gathered).await.context("the followers did not catch up")??;
    done.seconds = (finished - began).as_secs_f64();
    done.server = usage(server_pid)?.since(before.0);
    done.generator = own_usage()?.since(before.1);
    Ok(done)
}

async fn read_until(mut stream: Stream, until: Arc<AtomicU64>) -> Result<(Scanner, Instant)> {
    while stream.seen.last < until.load(Ordering::Acquire) {
        stream.read().await?;
    }
    Ok((stream.seen, Instant::now()))
}

/// How long single events take from their request to a follower, and from their acknowledgement.
pub struct EachAlone {
    pub from_request: Histogram,
    /// 0 where the follower had the event before its writer had the answer.
    pub from_answer: Histogram,
}

/// Appends `count` events with pauses, one follower watching.
pub async fn lag(
    target: SocketAddr,
    follow: &Request,
    after: u64,
    count: u64,
    mut next: impl FnMut() -> Vec<u8>,
) -> Result<EachAlone> {
    let mut stream = Stream::open(Connection::open(target).await?, follow, after).await?;
    let reader = tokio::spawn(async move {
        let mut arrived = Vec::new();
        while (arrived.len() as u64) < count {
            stream.read().await?;
            arrived.resize(usize::try_from(stream.seen.count)?, Instant::now());
        }
        if stream.seen.gaps > 0 {
            bail!("{} events are missing from the stream", stream.seen.gaps);
        }
        anyhow::Ok(arrived)
    });
    let mut writer = Connection::open(target).await?;
    let mut written = Vec::new();
    for _ in 0..count {
        let request = next();
        let sent = Instant::now();
        let status = writer.exchange(&request, Body::Drop).await?.status;
        ensure!(status == 201, "the append was answered with {status}");
        written.push((sent, Instant::now()));
        sleep(ALONE).await;
    }
    let arrived = timeout(CATCH_UP_MAX, reader).await.context("the follower did not catch up")???;
    let mut lag = EachAlone { from_request: Histogram::new()?, from_answer: Histogram::new()? };
    for ((sent, answered), arrived) in written.into_iter().zip(arrived) {
        lag.from_request.record(arrived.saturating_duration_since(sent));
        lag.from_answer.record(arrived.saturating_duration_since(answered));
    }
    Ok(lag)
}
