//! Runs steps one after the other and prints a table of their outcomes.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::process::interrupted;
use crate::progress::{say, seconds};

/// Tests that ran inside a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub passed: u64,
    pub failed: u64,
}

impl Count {
    pub fn add(&mut self, other: Count) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

enum Verdict {
    Passed,
    Failed(String),
    /// A step that it needs has failed.
    NotRun,
}

struct Outcome {
    name: &'static str,
    took: Duration,
    verdict: Verdict,
    /// For steps that run tests of their own; every other step counts as one check.
    tests: Option<Count>,
}

#[derive(Default)]
pub struct Report {
    outcomes: Vec<Outcome>,
}

impl Report {
    /// Runs one step. Its tests, if it has any, are counted into the second argument of `work`.
    pub fn step(&mut self, name: &'static str, work: impl FnOnce(&mut Option<Count>) -> Result<()>) {
        if interrupted() {
            return;
        }
        say(&format!("\n==> {name}"));
        let started = Instant::now();
        let mut tests = None;
        let verdict = match work(&mut tests) {
            Ok(()) => Verdict::Passed,
            Err(error) => Verdict::Failed(format!("{error:#}")),
        };
        let took = started.elapsed();
        match &verdict {
            Verdict::Failed(why) => say(&format!("==> {name}: FAILED in {}: {why}", seconds(took))),
            _ => say(&format!("==> {name}: passed in {}", seconds(took))),
        }
        self.outcomes.push(Outcome { name, took, verdict, tests });
    }

    pub fn not_run(&mut self, name: &'static str) {
        self.outcomes.push(Outcome { name, took: Duration::ZERO, verdict: Verdict::NotRun, tests: None });
    }

    pub fn has_failed(&self) -> bool {
        self.outcomes.iter().any(|outcome| !matches!(outcome.verdict, Verdict::Passed))
    }

    /// Whether a step of this name ran and did not pass.
    pub fn failed(&self, name: &str) -> bool {
        self.outcomes.iter().any(|outcome| outcome.name == name && !matches!(outcome.verdict, Verdict::Passed))
    }

    /// All tests, plus one for each step that is a check by itself. A step that failed without a failing test,
    /// because it did not compile for instance, counts as one failure.
    fn total(&self) -> Count {
        let mut total = Count::default();
        for outcome in &self.outcomes {
            let passed = matches!(outcome.verdict, Verdict::Passed);
            total.add(match outcome.tests {
                Some(tests) if passed || tests.failed > 0 => tests,
                Some(tests) => Count { passed: tests.passed, failed: 1 },
                None => Count { passed: u64::from(passed), failed: u64::from(!passed) },
            });
        }
        total
    }

    /// The table, why each failed step failed, and alone on the last line `N passed, N failed`.
    pub fn summary(&self) -> String {
        let width = self.outcomes.iter().map(|outcome| outcome.name.len()).max().unwrap_or(0);
        let mut lines = String::from("\n");
        for Outcome { name, took, verdict, tests } in &self.outcomes {
            let verdict = match verdict {
                Verdict::Passed => "passed",
                Verdict::Failed(_) => "FAILED",
                Verdict::NotRun => "NOT RUN",
            };
            let tests =
                tests.map_or(String::new(), |tests| format!("{} passed, {} failed", tests.passed, tests.failed));
            let line = format!("    {name:width$}  {verdict:7}  {:>12}  {tests}", seconds(*took));
            lines.push_str(line.trim_end());
            lines.push('\n');
        }
        for Outcome { name, verdict, .. } in &self.outcomes {
            if let Verdict::Failed(why) = verdict {
                lines.push_str(&format!("\n{name}: {why}\n"));
            }
        }
        let total = self.total();
        lines.push_str(&format!("\n{} passed, {} failed", total.passed, total.failed));
        lines
    }
}

/// What runs tests, and prints how many passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// `cargo nextest run`: one line `Summary` at its end.
    Nextest,
    /// `cargo test`: one line `test result:` for each program.
    Cargo,
}

/// Reads the line in which a test runner counts tests. nextest shows the output of a test that failed twice, and that
/// output has a line of the other kind, because nextest runs the program that `cargo test` runs.
pub fn count_in_line(runner: Runner, line: &str) -> Option<Count> {
    let (figures, separator) = match runner {
        Runner::Cargo => (line.strip_prefix("test result: ")?.split_once(". ")?.1, ';'),
        Runner::Nextest => (line.strip_prefix("Summary [")?.split_once(" run: ")?.1, ','),
    };
    let number = |word: &str| {
        figures.split(separator).find_map(|figure| {
            let (number, what) = figure.trim().split_once(' ')?;
            (what.split_whitespace().next() == Some(word)).then(|| number.parse::<u64>().ok())?
        })
    };
    // nextest tells apart why a test did not pass; all of them are failures here.
    let failed = ["failed", "timed", "exec"].into_iter().filter_map(number).sum();
    Some(Count { passed: number("passed")?, failed })
}

/// The test that a runner reports as not passed. nextest writes
/// `FAIL [ 0.4s] (3/9) testkit::contract claim::one_winner`, with the name of the program; the harness of Rust writes
/// `claim::one_winner --- FAILED`.
pub fn failed_in_line(line: &str) -> Option<&str> {
    if let Some(name) = line.strip_suffix(" --- FAILED") {
        return name.split_whitespace().last();
    }
    let (status, test) = line.split_once("] ")?;
    let (word, _) = status.split_once(" [")?;
    let is_failure = word.starts_with("FAIL") || word.starts_with("TIMEOUT") || word.starts_with("SIG");
    // The count of tests so far comes before the name.
    let name = test.split_once(") ").map_or(test, |(_, name)| name);
    is_failure.then_some(name.trim())
}

/// The test that the harness of Rust reports as slow: `test claim::one_winner has been running for over 60 seconds`.
pub fn slow_in_line(line: &str) -> Option<&str> {
    line.split_once(" has been running for over ")?.0.split_whitespace().last()
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn nextest_and_cargo_test_are_both_understood() {
        let count = |passed, failed| Some(Count { passed, failed });
        let of_cargo = |line| count_in_line(Runner::Cargo, line);
        assert_eq!(of_cargo("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured"), count(12, 0));
        assert_eq!(of_cargo("test result: FAILED. 3 passed; 2 failed; 0 ignored"), count(3, 2));
        assert_eq!(of_cargo("running 12 tests"), None);
        let of_nextest = |line| count_in_line(Runner::Nextest, line);
        assert_eq!(of_nextest("Summary [   0.405s] 9 tests run: 9 passed, 0 skipped"), count(9, 0));
        assert_eq!(
            of_nextest("Summary [ 12.1s] 9/11 tests run: 5 passed (1 slow, 1 flaky), 3 failed, 1 timed out, 2 skipped"),
            count(5, 4)
        );
        assert_eq!(of_nextest("Starting 12 tests across 2 binaries"), None);
    }

    #[test]
    fn one_failed_test_is_counted_once() {
        // What nextest prints with `failure-output = "immediate-final"`.
        let result = "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 8 filtered out";
        let output = [
            "FAIL [   0.405s] (9/9) testkit::contract claim::one_winner",
            "stdout ───",
            "running 1 test",
            result,
            "────────────",
            "Summary [   0.405s] 9 tests run: 8 passed, 1 failed, 0 skipped",
            "FAIL [   0.405s] (9/9) testkit::contract claim::one_winner",
            "stdout ───",
            "running 1 test",
            result,
        ];
        let mut total = Count::default();
        for count in output.into_iter().filter_map(|line| count_in_line(Runner::Nextest, line)) {
            total.add(count);
        }
        assert_eq!(total, Count { passed: 8, failed: 1 });
    }

    #[test]
    fn tests_that_did_not_pass_are_named() {
        let name = Some("testkit::contract claim::one_winner");
        assert_eq!(failed_in_line("FAIL [   0.405s] ( 3/11) testkit::contract claim::one_winner"), name);
        assert_eq!(failed_in_line("TIMEOUT [ 120.0s] testkit::contract claim::one_winner"), name);
        assert_eq!(failed_in_line("SIGABRT [   0.1s] (11/11) testkit::contract claim::one_winner"), name);
        assert_eq!(failed_in_line("SLOW [> 30.0s] testkit::contract claim::one_winner"), None);
        assert_eq!(failed_in_line("claim::one_winner --- FAILED"), Some("claim::one_winner"));
        // After the dots and the count of those that passed.
        assert_eq!(failed_in_line("..... 5/1556 claim::one_winner --- FAILED"), Some("claim::one_winner"));
        let slow = "...test claim::one_winner has been running for over 60 seconds";
        assert_eq!(slow_in_line(slow), Some("claim::one_winner"));
        assert_eq!(failed_in_line("Summary [   0.405s] 9 tests run: 9 passed, 0 skipped"), None);
    }

    #[test]
    fn checks_and_tests_are_summed_and_the_last_line_is_separate() {
        let mut report = Report::default();
        report.step("fmt", |_| Ok(()));
        report.step("tests", |tests| {
            *tests = Some(Count { passed: 40, failed: 2 });
            bail!("2 tests failed")
        });
        report.not_run("e2e");
        assert!(report.has_failed() && report.failed("tests") && !report.failed("fmt"));
        assert_eq!(report.summary().lines().last(), Some("41 passed, 3 failed"));
        assert!(report.summary().contains("tests: 2 tests failed"), "the end of a long output says why");
    }

    #[test]
    fn tests_that_do_not_compile_are_a_failure() {
        let mut report = Report::default();
        report.step("tests", |tests| {
            *tests = Some(Count::default());
            bail!("does not compile")
        });
        assert_eq!(report.summary().lines().last(), Some("0 passed, 1 failed"));
    }
}
