//! What a browser measured beside us: the benchmarks below `end2end/bench` leave their figures in a file.

use super::Bench;
use crate::report::{Bound, Finding};
use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::path::Path;

/// The goal that all of them belong to.
pub const GOAL: &str = "browser";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Figure {
    what: String,
    unit: String,
    ours: f64,
    /// What must be.
    at_most: Option<f64>,
    #[serde(default)]
    facts: String,
}

/// Takes the figures over as findings.
pub fn read(bench: &mut Bench, file: &Path) -> Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let figures: Vec<Figure> =
        serde_json::from_str(&text).with_context(|| format!("{} is not readable", file.display()))?;
    for figure in figures {
        bench.found(finding(figure));
    }
    Ok(())
}

fn finding(figure: Figure) -> Finding {
    let unit = match figure.unit.as_str() {
        "ms" => "ms",
        "s" => "s",
        _ => "",
    };
    let finding = Finding::new(GOAL, figure.what, unit, figure.ours).facts(figure.facts);
    match figure.at_most {
        // There is no second goal beyond it.
        Some(most) => finding.goals(Bound::AtMost(most), Bound::AtMost(most)),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;

    #[test]
    fn a_figure_is_judged_by_what_it_may_be_at_most() {
        let text = r#"[{"what":"a key","unit":"ms","ours":70.5,"atMost":60,"facts":"p50"},{"what":"rows","unit":"","ours":9}]"#;
        let figures: Vec<Figure> = serde_json::from_str(text).unwrap();
        let verdicts: Vec<_> = figures.into_iter().map(|figure| finding(figure).verdict()).collect();
        assert_eq!(verdicts, [Verdict::Missed, Verdict::Noted]);
    }
}
