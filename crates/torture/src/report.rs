//! The tables a person reads at the end.

use crate::{counters::Counters, planted::Catch, run::Report};
use std::fmt::Write as _;

/// Violations shown; the history has them all.
const SHOWN_MAX: usize = 5;

/// The table of a run.
pub fn summary(report: &Report, counters: &Counters, seed: u64) -> String {
    let mut text = String::from("\n");
    for (label, value) in counters.rows() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {label:<40} {value:>12}");
    }
    let _ = writeln!(text, "  {:<40} {:>12}", "violations", report.violations.len());
    let _ = writeln!(text, "  {:<40} {:>12}", "seed", seed);
    let _ = writeln!(text, "  {:<40} {:>10.1} s", "elapsed", report.elapsed.as_secs_f64());
    for what in &report.not_tested {
        let _ = writeln!(text, "  not tested: {what}");
    }
    for violation in report.violations.iter().take(SHOWN_MAX) {
        let _ = writeln!(text, "  VIOLATION {violation}");
    }
    text
}

/// The table of a hunt.
pub fn hunt(catches: &[Catch]) -> String {
    let mut text = String::from("\n");
    for catch in catches {
        let verdict = if catch.is_good() { "ok" } else { "FAILED" };
        let seconds = catch.report.elapsed.as_secs_f64();
        let what = match (catch.bug, catch.report.violations.first()) {
            (Some(_), Some(violation)) => format!("found by {}", violation.check),
            (Some(_), None) => "not found".into(),
            (None, None) => "nothing planted, nothing found".into(),
            (None, Some(violation)) => format!("nothing planted, yet: {violation}"),
        };
        let name = catch.bug.unwrap_or("control");
        let _ = writeln!(text, "  {verdict:<7} {name:<22} {seconds:>7.1} s  {what}");
        for what in &catch.report.not_tested {
            let _ = writeln!(text, "          not tested: {what}");
        }
    }
    let planted = catches.iter().filter(|catch| catch.bug.is_some());
    let found = planted.clone().filter(|catch| catch.is_good()).count();
    let _ = writeln!(text, "  planted bugs found: {found} of {}", planted.count());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_could_not_be_tested_is_named_below_the_table() {
        let not_tested = vec!["power cuts (P-2): only root may mount".to_owned()];
        let report = Report { violations: Vec::new(), not_tested, ran: Vec::new(), elapsed: Duration::ZERO };
        let text = summary(&report, &Counters::default(), 1);
        assert!(text.ends_with("\n  not tested: power cuts (P-2): only root may mount\n"), "{text}");
    }
}
