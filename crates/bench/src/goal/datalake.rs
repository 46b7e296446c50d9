//! Training data in files: lines appended beside the bare file, and the memory that bringing feedback together takes.

use super::{Bench, figures::Figures};
use crate::report::{Bound, Finding, Rounds};
use anyhow::Result;
use std::{path::Path, process::Command};

/// The goal that all of them belong to.
pub const GOAL: &str = "datalake";

/// Writes of one round; each is on the disk before the next.
const WRITES: u64 = 300;
/// Lines of one write, as a server captures them when much is due.
const BATCH: u64 = 64;
/// What an export sorts with, in MiB: `SORT_BYTES` of `crates/datalake/src/export/run.rs`.
const BUDGET_MIB: &str = "64";
const KIB_PER_MIB: f64 = 1_024.0;

/// Runs `datalake-probe`, which links the crate that is measured: nothing here does.
pub fn measure(bench: &mut Bench) -> Result<()> {
    let Some(probe) = bench.datalake_probe.clone() else {
        bench.found(Finding::new(GOAL, "training data in files", "", 0.0).broken_if(true, "needs --datalake-probe"));
        return Ok(());
    };
    for batch in [1, BATCH] {
        append(bench, &probe, batch)?;
    }
    index(bench, &probe)
}

/// Both write the same lines and take turns, write by write.
fn append(bench: &mut Bench, probe: &Path, batch: u64) -> Result<()> {
    let (mut ours, mut bare, mut lost) = (Rounds::default(), Rounds::default(), 0.0);
    for round in 0..bench.plan.rounds {
        let folder = bench.work.join(format!("lake-append-{batch}-{round}"));
        std::fs::create_dir_all(&folder)?;
        let size = [WRITES * batch, batch].map(|number| number.to_string());
        let figures = Figures::of(Command::new(probe).arg("append").arg(&folder).args(size))?;
        ours.push(figures.get("per_second")?);
        bare.push(figures.get("bare_per_second")?);
        lost += figures.get("lost")?;
        std::fs::remove_dir_all(folder)?;
    }
    let what = match batch {
        1 => "append beside raw file, each line on the disk".to_owned(),
        _ => format!("append beside raw file, {batch} lines at a time on the disk"),
    };
    let facts = format!(
        "{WRITES} writes a round, an fdatasync each on either side; the raw file stays open and its lines are ready, ours is \
         opened, locked, looked at and closed for each write, and its lines are made from records"
    );
    let finding = Finding::highest(GOAL, what, "/s", &ours).against("raw file", bare.highest(), bare.median());
    let finding = finding.goals(Bound::AtLeast(0.5), Bound::AtLeast(0.8)).facts(facts);
    bench.found(finding.broken_if(lost > 0.0, format!("{lost} writes lost")));
    Ok(())
}

fn index(bench: &mut Bench, probe: &Path) -> Result<()> {
    let lines = bench.plan.feedback_lines;
    let folder = bench.work.join("lake-index");
    std::fs::create_dir_all(&folder)?;
    Figures::of(Command::new(probe).arg("generate").arg(&folder).arg(lines.to_string()))?;
    let figures = Figures::of(Command::new(probe).arg("index").arg(&folder).arg(BUDGET_MIB))?;
    std::fs::remove_dir_all(folder)?;
    let [read, skipped, records, wrong] = ["lines", "skipped", "records", "wrong"].map(|name| figures.get(name));
    let (read, skipped, records, wrong) = (read?, skipped?, records?, wrong?);
    let facts = format!(
        "{read} lines of {records} records in {:.1} s, sorted in {BUDGET_MIB} MiB and merged from the disk",
        figures.get("seconds")?
    );
    let what = format!("{} million lines index: peak memory", lines / 1_000_000);
    let finding = Finding::new(GOAL, what, "MiB", figures.get("peak memory")? / KIB_PER_MIB);
    let is_broken = read != lines as f64 || skipped + wrong > 0.0;
    let why = format!("{read} lines read, {skipped} skipped, {wrong} records with another feedback than their latest");
    bench.found(finding.goals(Bound::AtMost(128.0), Bound::AtMost(80.0)).facts(facts).broken_if(is_broken, why));
    Ok(())
}
