//! Search through the API, one reader, each time another question.

use super::{GOAL, MANY};
use crate::{
    goal::{Bench, Series, Site},
    http::{Answer, Request, credentials},
    load::{self, Script},
    report::{Bound, Finding},
    seed::memory::Language,
};
use anyhow::{Result, ensure};

/// Questions that are asked in turn.
const QUESTIONS: usize = 500;

/// A reader that asks one question after another.
struct SearchScript {
    requests: Vec<Request>,
    next: usize,
}

impl Script for SearchScript {
    fn request(&mut self) -> Option<&[u8]> {
        self.next = (self.next + 1) % self.requests.len();
        Some(self.requests[self.next].bytes())
    }

    fn settle(&mut self, answer: &Answer<'_>) -> Result<u64> {
        ensure!(answer.status == 200, "{} instead of 200", answer.status);
        Ok(1)
    }
}

pub async fn measure(bench: &mut Bench, site: &Site, engine: &str) -> Result<()> {
    let (target, headers) = (site.server.address(), credentials(&site.account.token));
    let mut language = Language::new(11);
    let requests: Vec<Request> = (0..QUESTIONS)
        .map(|_| {
            let question = language.question().replace(' ', "+");
            Request::get(target, &format!("/api/agents/{MANY}/memory/search?q={question}&limit=10"), &headers)
        })
        .collect();
    let mut series = Series::default();
    for _ in 0..bench.plan.rounds {
        let script = SearchScript { requests: requests.clone(), next: 0 };
        series.push(load::run(target, vec![script], bench.plan.window, site.server.pid()).await?.0);
    }
    let documents = bench.plan.memory_documents;
    let broken = format!("{} errors ({})", series.errors, series.first_error.as_deref().unwrap_or_default());
    let what = |quantile: &str| format!("search at {documents} documents on {engine}, {quantile}");
    bench.found(Finding::lowest(GOAL, what("p50"), "ms", &series.p50_us.scaled(1e-3)));
    let p99 = Finding::lowest(GOAL, what("p99"), "ms", &series.p99_us.scaled(1e-3)).facts(series.facts("search"));
    bench.found(p99.goals(Bound::AtMost(20.0), Bound::AtMost(10.0)).broken_if(series.errors > 0, broken));
    Ok(())
}
