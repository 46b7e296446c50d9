//! Closed loops: each connection sends its next request when the last one is answered.

mod append;
mod claim;
mod follow;
mod get;
mod patch;
mod submit;

pub use append::{
    AppendScript, Held, ProbeAppendScript, claim_and_wait, claimed, claimed_session, claimed_session_of,
    claimed_sessions, claimed_sessions_of,
};
pub use claim::{ClaimScript, CreateScript, PairScript, duplicates};
pub use follow::{Deliveries, deliver, lag};
pub use get::GetScript;
pub use patch::PatchScript;
pub use submit::{SubmitScript, open_form};

use crate::{
    histogram::{Histogram, micros},
    http::{Answer, Body, Connection},
    process::{Usage, own_usage, usage},
};
use anyhow::{Context as _, Result, bail};
use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};
use tokio::time::{sleep_until, timeout};

/// After this many refusals a connection gives up: the figure is worthless anyway.
const ERRORS_MAX: u64 = 50;
/// How long after its end a load may take to notice it.
const LATE_MAX: Duration = Duration::from_secs(30);

/// How long to run before counting, and how long to count.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub warm: Duration,
    pub measure: Duration,
}

impl Window {
    /// Counts from the first request on.
    pub fn cold(self) -> Self {
        Self { warm: Duration::ZERO, ..self }
    }
}

/// The requests of one connection.
pub trait Script: Send + 'static {
    /// The next request; `None` when there is nothing left to do.
    fn request(&mut self) -> Option<&[u8]>;
    /// Whether the answer's body is looked at.
    fn body(&self) -> Body {
        Body::Drop
    }
    /// Checks an answer and returns the number of completed units of work. An error counts as an error of the load.
    fn settle(&mut self, answer: &Answer<'_>) -> Result<u64>;
}

/// Outcome of a load.
#[derive(Clone)]
pub struct Load {
    pub units: u64,
    pub seconds: f64,
    pub latency: Histogram,
    pub errors: u64,
    pub first_error: Option<String>,
    pub server: Usage,
    pub generator: Usage,
}

impl Load {
    fn new() -> Result<Self> {
        Ok(Self {
            units: 0,
            seconds: 0.0,
            latency: Histogram::new()?,
            errors: 0,
            first_error: None,
            server: Usage::default(),
            generator: Usage::default(),
        })
    }

    pub fn per_second(&self) -> f64 {
        self.units as f64 / self.seconds.max(1e-9)
    }

    /// Units per second of the server's CPU time.
    pub fn per_cpu_second(&self) -> f64 {
        self.units as f64 / self.server.cpu_seconds().max(1e-9)
    }

    /// Latencies and CPU time as text.
    pub fn facts(&self, unit: &str) -> String {
        let each = |seconds: f64| micros(seconds * 1e6 / self.units.max(1) as f64);
        let mut facts = format!(
            "server CPU {} user + {} system per {unit} ({:.2} cores), generator {} ({:.2} cores), {} bytes written per {unit}; {}",
            each(self.server.user_seconds),
            each(self.server.system_seconds),
            self.server.cpu_seconds() / self.seconds.max(1e-9),
            each(self.generator.cpu_seconds()),
            self.generator.cpu_seconds() / self.seconds.max(1e-9),
            self.server.written_bytes / self.units.max(1),
            self.latency.summary(),
        );
        if let Some(error) = &self.first_error {
            facts.push_str(&format!("; {} errors, the first: {error}", self.errors));
        }
        facts
    }

    fn add(&mut self, part: Part) -> Result<()> {
        self.units += part.units;
        self.latency.merge(&part.latency)?;
        self.errors += part.errors;
        self.first_error = self.first_error.take().or(part.first_error);
        Ok(())
    }
}

/// Outcome of one connection.
struct Part {
    units: u64,
    latency: Histogram,
    errors: u64,
    first_error: Option<String>,
    finished: Option<Instant>,
    /// Work that was begun in time and done too late, and when.
    late: u64,
    late_at: Option<Instant>,
}

impl Part {
    fn new() -> Result<Self> {
        let latency = Histogram::new()?;
        Ok(Self { units: 0, latency, errors: 0, first_error: None, finished: None, late: 0, late_at: None })
    }
}

/// Runs each script on a connection of its own. Returns the outcome and the scripts.
pub async fn run<S: Script>(
    target: SocketAddr,
    scripts: Vec<S>,
    window: Window,
    server_pid: u32,
) -> Result<(Load, Vec<S>)> {
    let mut connections = Vec::with_capacity(scripts.len());
    for _ in &scripts {
        connections.push((Connection::open(target).await?, Part::new()?));
    }
    let start = Instant::now() + window.warm;
    let end = start + window.measure;
    let tasks: Vec<_> = connections
        .into_iter()
        .zip(scripts)
        .map(|((connection, part), script)| tokio::spawn(converse(connection, part, script, start, end)))
        .collect();
    sleep_until(start.into()).await;
    let before = (usage(server_pid)?, own_usage()?);
    let mut load = Load::new()?;
    let mut back = Vec::with_capacity(tasks.len());
    let (mut last, mut late, mut late_at) = (start, 0, start);
    let mut all_finished = true;
    let gathered = async {
        for task in tasks {
            let (part, script) = task.await.context("a connection's task failed")?;
            last = last.max(part.finished.unwrap_or(last));
            all_finished &= part.finished.is_some();
            late += part.late;
            late_at = late_at.max(part.late_at.unwrap_or(late_at));
            load.add(part)?;
            back.push(script);
        }
        anyhow::Ok(())
    };
    timeout(window.measure + LATE_MAX, gathered).await.context("the load did not end")??;
    load.server = usage(server_pid)?.since(before.0);
    load.generator = own_usage()?.since(before.1);
    // Scripts that run out of work before the end count until the last of them did.
    load.seconds = if all_finished { last - start } else { window.measure }.as_secs_f64();
    // What takes longer than the window is still a figure.
    if load.units == 0 && late > 0 {
        load.units = late;
        load.seconds = (late_at - start).as_secs_f64();
    }
    if load.units == 0 {
        bail!("nothing was done: {}", load.first_error.as_deref().unwrap_or("no answer in time"));
    }
    Ok((load, back))
}

async fn converse<S: Script>(
    mut connection: Connection,
    mut part: Part,
    mut script: S,
    start: Instant,
    end: Instant,
) -> (Part, S) {
    loop {
        let sent = Instant::now();
        if sent >= end {
            break;
        }
        let keep = script.body();
        let Some(request) = script.request() else {
            part.finished = Some(sent);
            break;
        };
        let settled = match connection.exchange(request, keep).await {
            Ok(answer) => script.settle(&answer),
            Err(error) => {
                part.errors += 1;
                part.first_error.get_or_insert(format!("{error:#}"));
                break;
            }
        };
        let done = Instant::now();
        match settled {
            Ok(units) if done >= start && done <= end => {
                part.units += units;
                part.latency.record(done - sent);
            }
            Ok(units) if done > end => {
                part.late += units;
                part.late_at = Some(done);
                if part.latency.is_empty() {
                    part.latency.record(done - sent);
                }
            }
            Ok(_) => {}
            Err(error) => {
                part.errors += 1;
                part.first_error.get_or_insert(format!("{error:#}"));
                if part.errors >= ERRORS_MAX {
                    break;
                }
            }
        }
    }
    (part, script)
}

/// The refusal in an answer that should have this status.
fn expect(answer: &Answer<'_>, status: u16) -> Result<()> {
    if answer.status != status {
        bail!("{} instead of {status}: {}", answer.status, answer.head.lines().next().unwrap_or_default());
    }
    Ok(())
}
