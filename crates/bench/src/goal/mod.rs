//! The measurements, one file per group of goals. Each measures the product and its reference in turns.

mod append;
pub mod browser;
mod canvas;
mod claim;
mod datalake;
mod figures;
mod footprint;
mod form;
mod history;
mod memory;
mod page;
mod postgres;
mod queue;
mod resume;
mod story;
mod stream;
mod tool;
mod transcript;

use crate::{
    load::{Load, Window},
    process::{Account, References, Server, ServerSpec},
    report::{Finding, Rounds},
    seed::sqlite::story::Sizes,
};
use anyhow::Result;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

/// How much to measure.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub rounds: usize,
    pub window: Window,
    /// Sessions of one round of claims.
    pub claims: usize,
    /// Events whose way to a follower is timed.
    pub lag_events: u64,
    pub starts: usize,
    pub sessions: (usize, usize),
    /// Events of the long history: when the start is measured, and in the end.
    pub events: (usize, usize),
    /// Lines of feedback that are brought together.
    pub feedback_lines: u64,
    /// Memory documents in which is searched.
    pub memory_documents: usize,
    /// What the installation of the two stories has.
    pub story: Sizes,
    /// Requests of each step of a story.
    pub story_requests: usize,
    /// Patches of the canvas that is opened: few, and many.
    pub canvas_patches: (u64, u64),
}

impl Plan {
    /// About two minutes.
    pub const QUICK: Self = Self {
        rounds: 3,
        window: Window { warm: Duration::from_millis(200), measure: Duration::from_millis(800) },
        claims: 2_000,
        lag_events: 200,
        starts: 3,
        sessions: (10_000, 100_000),
        events: (100_000, 200_000),
        feedback_lines: 1_000_000,
        memory_documents: 100_000,
        story: Sizes { sessions: 10_000, events: 100_000, items: 500 },
        story_requests: 50,
        canvas_patches: (100, 5_000),
    };
    /// At most twenty minutes.
    pub const FULL: Self = Self {
        rounds: 3,
        window: Window { warm: Duration::from_millis(700), measure: Duration::from_millis(3_500) },
        claims: 10_000,
        lag_events: 1_000,
        starts: 5,
        sessions: (10_000, 1_000_000),
        events: (1_000_000, 5_000_000),
        feedback_lines: 10_000_000,
        memory_documents: 100_000,
        story: Sizes { sessions: 100_000, events: 1_000_000, items: 5_000 },
        story_requests: 300,
        canvas_patches: (100, 100_000),
    };
}

/// A run of measurements.
pub struct Bench {
    pub plan: Plan,
    pub work: PathBuf,
    pub spec: ServerSpec,
    pub postgres_url: Option<String>,
    /// The program that renders a page and nothing else.
    pub renderer: Option<PathBuf>,
    /// The program that writes and reads training data and nothing else.
    pub datalake_probe: Option<PathBuf>,
    /// The program that scores candidates and nothing else.
    pub ranker_probe: Option<PathBuf>,
    /// The program that appends to UmaDB, each event by itself (`reference/umadb`).
    pub umadb: Option<PathBuf>,
    /// Folder of a static model that makes vectors of memories.
    pub embedding_model: Option<PathBuf>,
    /// Programs to compare with that are not ours.
    pub references: Option<References>,
    /// Empty for all.
    pub only: BTreeSet<String>,
    pub findings: Vec<Finding>,
}

/// A running server with its account.
pub struct Site {
    pub server: Server,
    pub data_dir: PathBuf,
    pub account: Account,
    pub cookie: String,
}

impl Site {
    /// A server on a data directory that already has this account.
    async fn open(spec: &ServerSpec, data_dir: &Path, account: Account) -> Result<Self> {
        let server = Server::start(spec, data_dir).await?;
        let cookie = server.sign_in().await?;
        Ok(Self { server, data_dir: data_dir.to_owned(), account, cookie })
    }

    /// The header lines of a request that the signed-in admin's browser sends.
    fn person(&self) -> [String; 2] {
        [self.cookie.clone(), format!("origin: http://{}", self.server.address())]
    }
}

impl Bench {
    /// Measures the selected goals, in an order that starts few servers. What cannot be measured is a finding too.
    pub async fn run(&mut self) {
        if self.wants(&["G1", "G2", "G4", "G6", "G8", "G10", "G11", "G13", "G14", "G15", "G16", "G17", "G19"]) {
            let measured = self.on_a_new_server().await;
            self.failed("G16", "a new server", measured);
        }
        if self.wants(&[form::GOAL]) {
            let measured = form::measure(self).await;
            self.failed(form::GOAL, "forms", measured);
        }
        if self.wants(&["G12", "G16", "G20"]) {
            let measured = history::measure(self).await;
            self.failed("G20", "a long history", measured);
        }
        if self.wants(&[story::GOAL]) {
            let measured = story::measure(self).await;
            self.failed(story::GOAL, "the two stories", measured);
        }
        if self.wants(&[tool::GOAL]) {
            let measured = tool::measure(self).await;
            self.failed(tool::GOAL, "tools", measured);
        }
        if self.wants(&[canvas::GOAL]) {
            let measured = canvas::measure(self).await;
            self.failed(canvas::GOAL, "canvases", measured);
        }
        if self.wants(&["G5", "G8", "G9"]) {
            let measured = postgres::measure(self).await;
            self.failed("G5", "PostgreSQL", measured);
        }
        if self.wants(&[datalake::GOAL]) {
            let measured = datalake::measure(self);
            self.failed(datalake::GOAL, "training data in files", measured);
        }
        if self.wants(&[memory::GOAL]) {
            let measured = memory::measure(self).await;
            self.failed(memory::GOAL, "memory", measured);
        }
        self.findings.sort_by_key(|finding| finding.goal.trim_start_matches('G').parse::<u32>().unwrap_or(u32::MAX));
    }

    async fn on_a_new_server(&mut self) -> Result<()> {
        let site = footprint::start(self).await?;
        if self.wants(&["G1", "G2", "G4", "G19"]) {
            let measured = append::measure(self, &site).await;
            self.failed("G1", "appends", measured);
        }
        if self.wants(&["G6"]) {
            let measured = transcript::measure(self, &site).await;
            self.failed("G6", "transcripts", measured);
        }
        if self.wants(&["G8"]) {
            let measured = claim::measure(self, &site).await;
            self.failed("G8", "claims", measured);
        }
        if self.wants(&["G10"]) {
            let measured = resume::measure(self, &site).await;
            self.failed("G10", "resumed claims", measured);
        }
        if self.wants(&["G11"]) {
            let measured = stream::measure(self, &site).await;
            self.failed("G11", "streams", measured);
        }
        if self.wants(&["G13", "G14"]) {
            let measured = page::measure(self, &site).await;
            self.failed("G13", "pages", measured);
        }
        footprint::end(self, site).await
    }

    /// Records that a group of measurements failed.
    fn failed(&mut self, goal: &'static str, what: &str, measured: Result<()>) {
        if let Err(error) = measured {
            let why = format!("{error:#}");
            eprintln!("{goal}: {what} could not be measured: {error:?}");
            self.findings.push(Finding::new(goal, format!("{what}: not measured"), "", 0.0).broken_if(true, why));
        }
    }

    /// Whether one of these goals was selected.
    fn wants(&self, goals: &[&str]) -> bool {
        self.only.is_empty() || goals.iter().any(|goal| self.only.contains(&goal.to_uppercase()))
    }

    /// Keeps a finding and prints it.
    fn found(&mut self, finding: Finding) {
        if self.wants(&[finding.goal]) {
            eprint!("{}", crate::report::line(&finding));
            self.findings.push(finding);
        }
    }
}

/// The rounds of one load, and the whole of the best.
#[derive(Default)]
struct Series {
    rate: Rounds,
    p50_us: Rounds,
    p99_us: Rounds,
    errors: u64,
    first_error: Option<String>,
    best: Option<Load>,
}

impl Series {
    fn push(&mut self, load: Load) {
        if self.best.as_ref().is_none_or(|best| best.per_second() < load.per_second()) {
            self.best = Some(load.clone());
        }
        self.rate.push(load.per_second());
        self.p50_us.push(load.latency.quantile_us(0.5));
        self.p99_us.push(load.latency.quantile_us(0.99));
        self.errors += load.errors;
        self.first_error = self.first_error.take().or(load.first_error);
    }

    fn facts(&self, unit: &str) -> String {
        self.best.as_ref().map(|best| best.facts(unit)).unwrap_or_default()
    }

    /// Ours at its best, with what went wrong in any round.
    fn finding(&self, goal: &'static str, what: impl Into<String>, unit: &str) -> Finding {
        let broken = format!("{} errors ({})", self.errors, self.first_error.as_deref().unwrap_or_default());
        Finding::highest(goal, what, "/s", &self.rate).facts(self.facts(unit)).broken_if(self.errors > 0, broken)
    }
}
