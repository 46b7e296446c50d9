//! `cargo xtask test`: everything that must hold before a commit; `.ci/run` runs the same.

use anyhow::{Context, Result, bail};

use crate::beside::Beside;
use crate::build::{self, Build};
use crate::postgres::Postgres;
use crate::process::{interrupted, run};
use crate::steps::{Count, Report};
use crate::torture::Tier;
use crate::workspace::cargo;
use crate::{
    e2e, embedding, examples, footprint, hosts, prerequisites, rust_tests, schemathesis, scratch, site, tidy, torture,
    trl,
};

/// The search for planted bugs: a minute for each, of which they took half at most.
const PLANTED: [&str; 3] = ["planted", "--minutes", "1"];

#[derive(clap::Args)]
pub struct Options {
    /// Run only this step, with the steps that it needs.
    #[arg(long, value_enum, value_name = "STEP")]
    only: Option<Step>,
    /// Leave out what needs the site: its size, Schemathesis, torture, browsers, examples.
    #[arg(long, conflicts_with = "only")]
    quick: bool,
    /// Torture, browsers and examples on the binary as it ships, which takes longer to build than all the rest. The
    /// steps `planted`, `trl`, `embedding` and `hosts` and more phases of Schemathesis are added.
    #[arg(long, conflicts_with = "quick")]
    release: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Step {
    Prerequisites,
    Fmt,
    Tidy,
    Site,
    Compile,
    Clippy,
    Postgres,
    Tests,
    Release,
    Budget,
    Torture,
    /// Only with `--release` or by name: it compiles the server once more.
    Planted,
    E2e,
    Examples,
    Schemathesis,
    /// Only with `--release` or by name: it installs TRL.
    Trl,
    /// Only with `--release` or by name: it installs a sentence encoder and distils it, which takes minutes.
    Embedding,
    /// Only with `--release` or by name: it installs six coding hosts.
    Hosts,
}

impl Step {
    const ALL: [Step; 18] = [
        Step::Fmt,
        Step::Tidy,
        Step::Compile,
        // These are done beside the steps before them. The server of the tests reads the site from its folder.
        Step::Prerequisites,
        Step::Site,
        Step::Clippy,
        Step::Postgres,
        Step::Tests,
        Step::Release,
        Step::Budget,
        Step::Schemathesis,
        Step::E2e,
        Step::Examples,
        // It begins before the examples, which leave a core to it.
        Step::Torture,
        Step::Planted,
        Step::Trl,
        Step::Embedding,
        Step::Hosts,
    ];

    fn name(self) -> &'static str {
        match self {
            Step::Prerequisites => "prerequisites",
            Step::Fmt => "fmt",
            Step::Tidy => "tidy",
            Step::Site => "site",
            Step::Compile => "compile",
            Step::Clippy => "clippy",
            Step::Postgres => "postgres",
            Step::Tests => "tests",
            Step::Release => "release",
            Step::Budget => "budget",
            Step::Torture => "torture",
            Step::Planted => "planted",
            Step::E2e => "e2e",
            Step::Examples => "examples",
            Step::Schemathesis => "schemathesis",
            Step::Trl => "trl",
            Step::Embedding => "embedding",
            Step::Hosts => "hosts",
        }
    }

    /// Steps that must have passed before this one is run.
    fn needs(self) -> &'static [Step] {
        match self {
            Step::Prerequisites | Step::Fmt | Step::Tidy | Step::Site | Step::Compile => &[],
            Step::Clippy => &[Step::Compile],
            // Prerequisites only installs; a machine that has everything needs nothing from it.
            Step::Postgres => &[Step::Prerequisites],
            Step::Tests => &[Step::Compile, Step::Postgres],
            Step::Release | Step::Budget | Step::Planted => &[Step::Site],
            Step::Torture => &[Step::Site, Step::Compile, Step::Postgres],
            Step::Trl | Step::Embedding | Step::Hosts => &[Step::Site, Step::Compile],
            Step::E2e | Step::Examples | Step::Schemathesis => &[Step::Prerequisites, Step::Site, Step::Compile],
        }
    }

    /// The part of the step that can be done while the tests are compiled.
    fn beside(self) -> Option<fn() -> Result<()>> {
        match self {
            Step::Prerequisites => Some(prerequisites::ensure),
            Step::Site => Some(|| site::build(site::LINTED)),
            // What runs in the browser. One call would unify the features `ssr` and `hydrate` of `app`.
            Step::Clippy => Some(site::lint),
            _ => None,
        }
    }

    fn is_quick(self) -> bool {
        !matches!(
            self,
            Step::Site
                | Step::Release
                | Step::Budget
                | Step::Torture
                | Step::Planted
                | Step::E2e
                | Step::Examples
                | Step::Schemathesis
                | Step::Trl
                | Step::Embedding
                | Step::Hosts
        )
    }

    /// Whether the step runs only with `--release` or if it is named.
    fn is_long(self) -> bool {
        matches!(self, Step::Planted | Step::Trl | Step::Embedding | Step::Hosts)
    }

    /// Whether this step runs if only `goal` is named.
    fn serves(self, goal: Step) -> bool {
        self == goal || goal.needs().iter().any(|need| self.serves(*need))
    }

    fn is_wanted(self, options: &Options) -> bool {
        let usual = (!self.is_long() || options.release) && (!options.quick || self.is_quick());
        let is_selected = options.only.map_or(usual, |goal| self.serves(goal));
        is_selected && (self != Step::Release || options.release)
    }
}

pub fn test(options: &Options) -> Result<()> {
    let mut report = Report::default();
    // Dropped after the database inside it.
    let scratch = scratch::in_memory();
    let mut postgres: Option<Postgres> = None;
    let mut running = Running { beside: beside(options), torture: None };
    let build = if options.release { Build::Release } else { Build::Tests };
    for step in Step::ALL.into_iter().filter(|step| step.is_wanted(options)) {
        let is_before_torture = step == Step::Examples && Step::Torture.is_wanted(options) && !interrupted();
        if is_before_torture && !is_hopeless(Step::Torture, &report) {
            // If it does not start, the step itself tries again and says why.
            running.torture = url(&postgres).and_then(|url| Tier::start(build, &url)).ok();
        }
        if is_hopeless(step, &report) {
            report.not_run(step.name());
        } else {
            report.step(step.name(), |tests| perform(step, build, &mut postgres, &mut running, tests));
        }
    }
    // After an interrupt they still run.
    let _ = running.torture.map(Tier::finish);
    drop(running.beside);
    drop(postgres);
    drop(scratch);
    if interrupted() {
        bail!("interrupted");
    }
    println!("{}", report.summary());
    if report.has_failed() {
        // The table shows the failures; an error message would follow the line that must be the last.
        std::process::exit(1);
    }
    Ok(())
}

/// The steps that are done while the tests are compiled, if those are.
fn beside(options: &Options) -> Option<Beside> {
    let works = Step::ALL.into_iter().filter(|step| step.is_wanted(options)).filter_map(Step::beside).collect();
    Step::Compile.is_wanted(options).then(|| Beside::start(works))
}

/// What runs beside other steps, and is waited for by its own.
struct Running {
    beside: Option<Beside>,
    torture: Option<Tier>,
}

/// Whether a step that this one needs has failed. A missing prerequisite does not stop other steps: those that need it
/// fail themselves.
fn is_hopeless(step: Step, report: &Report) -> bool {
    step.needs().iter().any(|need| *need != Step::Prerequisites && report.failed(need.name()))
}

fn perform(
    step: Step,
    build: Build,
    postgres: &mut Option<Postgres>,
    running: &mut Running,
    tests: &mut Option<Count>,
) -> Result<()> {
    match step {
        Step::Prerequisites | Step::Site => match (&mut running.beside, step.beside()) {
            (Some(beside), _) => beside.next(),
            (None, work) => work.map_or(Ok(()), |work| work()),
        },
        Step::Fmt => run(cargo().args(["fmt", "--all", "--check"])),
        Step::Tidy => tidy::command(&tidy::Options::default()),
        Step::Compile => build::build_tests(),
        Step::Clippy => {
            build::check_warnings()?;
            running.beside.as_mut().map_or_else(site::lint, Beside::next)
        }
        Step::Postgres => {
            *postgres = Some(Postgres::start()?);
            Ok(())
        }
        Step::Tests => rust_tests::check(&url(postgres)?, tests),
        Step::Release => build::build(),
        Step::Budget => {
            site::check_budget()?;
            if build == Build::Release { footprint::check() } else { Ok(()) }
        }
        Step::Torture => match running.torture.take() {
            Some(running) => running.finish(),
            None => Tier::start(build, &url(postgres)?)?.finish(),
        },
        Step::Planted => torture::command(&PLANTED.map(str::to_owned)),
        Step::E2e => {
            let outcome = e2e::e2e(build, &[]);
            *tests = Some(e2e::count().unwrap_or_default());
            outcome
        }
        Step::Examples => examples::check(build, tests),
        Step::Schemathesis => schemathesis::check(build, tests),
        Step::Trl => trl::check(build),
        Step::Embedding => embedding::check(build),
        Step::Hosts => hosts::check(build, tests),
    }
}

fn url(postgres: &Option<Postgres>) -> Result<String> {
    Ok(postgres.as_ref().context("PostgreSQL is not running")?.url())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_alone_brings_what_it_needs_and_no_more() {
        let names = |goal: Step| {
            Step::ALL.into_iter().filter(|step| step.serves(goal)).map(Step::name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(Step::Fmt), "fmt");
        assert_eq!(names(Step::Tests), "compile prerequisites postgres tests");
        assert_eq!(names(Step::E2e), "compile prerequisites site e2e");
        assert_eq!(names(Step::Schemathesis), "compile prerequisites site schemathesis");
        assert_eq!(names(Step::Torture), "compile prerequisites site postgres torture");
        assert_eq!(names(Step::Planted), "site planted");
        assert_eq!(names(Step::Trl), "compile site trl");
        assert_eq!(names(Step::Embedding), "compile site embedding");
        assert_eq!(names(Step::Hosts), "compile site hosts");
    }

    #[test]
    fn a_long_step_runs_only_where_it_is_named_and_before_a_release() {
        let options = |only, release| Options { only, quick: false, release };
        for step in [Step::Planted, Step::Trl, Step::Embedding, Step::Hosts] {
            assert!(!step.is_wanted(&options(None, false)));
            assert!(step.is_wanted(&options(None, true)));
            assert!(step.is_wanted(&options(Some(step), false)));
        }
        let examples = options(Some(Step::Examples), false);
        assert!(Step::Examples.is_wanted(&options(None, false)) && !Step::Trl.is_wanted(&examples));
    }

    #[test]
    fn needs_come_before_those_that_need_them() {
        for (at, step) in Step::ALL.into_iter().enumerate() {
            assert!(step.needs().iter().all(|need| Step::ALL[..at].contains(need)), "{}", step.name());
        }
    }
}
