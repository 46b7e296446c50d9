//! One step of a story: requests of one reader, one after another.

use super::GOAL;
use crate::{
    goal::Bench,
    histogram::Histogram,
    http::{Connection, Request},
    report::{Bound, Finding},
};
use anyhow::Result;
use std::time::Instant;

/// A step, and how long its requests took.
pub struct Step {
    what: String,
    latency: Histogram,
    requests: usize,
}

impl Step {
    /// A step without requests.
    pub fn new(what: impl Into<String>) -> Result<Self> {
        Ok(Self { what: what.into(), latency: Histogram::new()?, requests: 0 })
    }

    /// Sends a request, and counts the time until its whole answer has arrived. Returns the body.
    pub async fn take(&mut self, connection: &mut Connection, request: &Request) -> Result<String> {
        let began = Instant::now();
        let answer = connection.call(request).await?;
        self.latency.record(began.elapsed());
        self.requests += 1;
        Ok(String::from_utf8_lossy(answer.body).into_owned())
    }

    /// Reports the step. The time of its slowest requests is judged.
    pub fn found(self, bench: &mut Bench) {
        let Self { what, latency, requests } = self;
        let [p50, p99] = [0.5, 0.99].map(|share| latency.quantile_us(share) / 1e3);
        bench.found(Finding::new(GOAL, format!("{what}, p50"), "ms", p50));
        let facts = format!("{requests} requests; {}", latency.summary());
        let finding = Finding::new(GOAL, format!("{what}, p99"), "ms", p99).facts(facts);
        bench.found(finding.goals(Bound::AtMost(100.0), Bound::AtMost(50.0)));
    }
}
