//! `shiftbook memory train`, `memory rankers` and `memory use-ranker`: the model that orders memories.

use super::{
    common::{Failure, open, print_line},
    instance_key::{self, KeyFlags},
};
use crate::config::Settings;
use domain::{count::counted, relevance::Row};
use ledger::{
    Ledger, Mode,
    memory_ranker::{self, Learned, Progress, RankerRecord, Refusal, Report, Sample, Samples, Step},
};
use std::{
    fs::File,
    io::{BufRead, BufReader, IsTerminal, Read, Write},
    path::{Path, PathBuf},
};

/// Most bytes of a line of a file of labels.
const LINE_BYTES_MAX: u64 = 64 * 1024;
/// Parts of the bar that shows the progress.
const BAR: usize = 30;

/// Options of `memory train`.
#[derive(Debug, clap::Args)]
pub struct TrainArgs {
    /// Slug of the workspace
    #[arg(long, alias = "workspace", value_name = "SLUG")]
    tenant: String,
    /// Learn from this file instead: labels.jsonl, as `export labels` writes it
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Print what the model is worth, and store nothing
    #[arg(long)]
    dry_run: bool,
    /// The same labels and seed give the same model
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u32,
    #[command(flatten)]
    flags: KeyFlags,
}

/// Options of `memory rankers`.
#[derive(Debug, clap::Args)]
pub struct RankersArgs {
    /// Slug of the workspace
    #[arg(long, alias = "workspace", value_name = "SLUG")]
    tenant: String,
    #[command(flatten)]
    flags: KeyFlags,
}

/// Options of `memory use-ranker`.
#[derive(Debug, clap::Args)]
pub struct UseArgs {
    /// Number of a version that `memory rankers` lists as usable, or `formula` for none
    #[arg(value_name = "VERSION", value_parser = version)]
    ranker: Version,
    /// Slug of the workspace
    #[arg(long, alias = "workspace", value_name = "SLUG")]
    tenant: String,
    #[command(flatten)]
    flags: KeyFlags,
}

/// The order of memories to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// The formula alone.
    Formula,
    /// A model beside it.
    Model(u64),
}

fn version(text: &str) -> Result<Version, String> {
    match text {
        "formula" => Ok(Version::Formula),
        number => number.parse().map(Version::Model).map_err(|_| "the number of a version, or formula".to_owned()),
    }
}

/// Trains a model, prints what it is worth, and uses it if it is better than the formula.
pub async fn train(args: TrainArgs) -> Result<(), Failure> {
    let settings = args.flags.clone().settings()?;
    let ledger = open(&settings, Mode::Tool).await?;
    let trained = train_with(&ledger, &settings, &args).await;
    ledger.close().await;
    for line in trained? {
        print_line(&line)?;
    }
    Ok(())
}

async fn train_with(ledger: &Ledger, settings: &Settings, args: &TrainArgs) -> Result<Vec<String>, Failure> {
    let samples = match &args.labels {
        Some(file) => samples_of_file(file)?,
        None => {
            let key = instance_key::find(settings)?;
            let missing =
                "there is no instance key, from which ids of rows are made: set it, or name a file with --labels";
            ledger.use_instance_key(key.ok_or_else(|| Failure::Misused(missing.into()))?);
            memory_ranker::samples_by_operator(ledger, &args.tenant, show_rows).await?
        }
    };
    let mut lines = vec![format!("{} with a label", counted(samples.len() as u64, "memory"))];
    let learned = memory_ranker::learn(samples, args.seed.into(), show_progress);
    clear_progress();
    if let Some((_, report)) = &learned.fitted {
        lines.extend(described(report));
    }
    let stored = if args.dry_run {
        None
    } else {
        memory_ranker::store_by_operator(ledger, &args.tenant, args.seed, &learned).await?
    };
    lines.push(result(&learned, stored.as_ref()));
    Ok(lines)
}

/// Last line of the output of a training.
fn result(learned: &Learned, stored: Option<&RankerRecord>) -> String {
    let stored_as = stored.map(|record| format!("; stored as version {}", record.version)).unwrap_or_default();
    let what = match (learned.refusal, stored) {
        (None, Some(_)) => "the model orders memories from now on; servers follow within a minute",
        (None, None) => "the model is better than the formula; nothing is stored",
        (Some(refusal), _) => explained(refusal),
    };
    format!("{what}{stored_as}")
}

const fn explained(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::TooFewSessions => "no model: 50 sessions or fewer have labels, so the formula alone orders memories",
        Refusal::NothingToLearn => "no model: all labels are equal",
        Refusal::RatingsContradictUses => {
            "not used: memories that were used are rated lower than others, so the ratings cannot be right"
        }
        Refusal::NotBetter => "not used: it is not shown to be better than the formula",
    }
}

fn described(report: &Report) -> Vec<String> {
    let Report { formula, model, gain, .. } = report;
    vec![
        format!(
            "measured on the newest {} and {}; the formula counts {:.0} %",
            counted(report.sessions_measured, "session"),
            counted(report.prompts_measured, "prompt"),
            report.alpha * 100.0
        ),
        format!("NDCG@5 {:.4}, with the formula alone {:.4}", model.ndcg5, formula.ndcg5),
        format!("gain {:+.4}, 95 % interval {:+.4} to {:+.4}", gain.mean, gain.low, gain.high),
        format!("recall@8 {:.4}, with the formula alone {:.4}", model.recall8, formula.recall8),
        format!("calibration error {:.4}, of the formula {:.4}", model.calibration, formula.calibration),
    ]
}

/// Reads a file of rows, one JSON object on each line.
fn samples_of_file(path: &Path) -> Result<Vec<Sample>, Failure> {
    let failed = || Failure::io(path.display().to_string());
    let mut file = BufReader::new(File::open(path).map_err(failed())?);
    let (mut samples, mut line, mut number) = (Samples::default(), Vec::new(), 0_u64);
    loop {
        line.clear();
        number += 1;
        if (&mut file).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(failed())? == 0 {
            return Ok(samples.finish());
        }
        let row: Row = serde_json::from_slice(&line)
            .map_err(|error| Failure::Misused(format!("{}, line {number}: {error}", path.display())))?;
        samples.push(row);
        if number.is_multiple_of(10_000) {
            show_rows(number);
        }
    }
}

/// Lists the versions of a workspace.
pub async fn list(args: RankersArgs) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    let ledger = open(&settings, Mode::Tool).await?;
    let found = memory_ranker::list_by_operator(&ledger, &args.tenant).await;
    ledger.close().await;
    let found = found?;
    if found.is_empty() {
        return print_line("no model was trained; the formula orders memories");
    }
    for record in found {
        let at = record.created_at.format("%Y-%m-%d %H:%M");
        let state = match (record.in_use, record.refusal.as_deref()) {
            (true, _) => "in use",
            (false, None) => "usable",
            (false, Some(refusal)) => refusal,
        };
        print_line(&format!(
            "{}  {at}  NDCG@5 {:.4}, formula {:.4}, gain {:+.4} ({:+.4} to {:+.4})  {}  {state}",
            record.version,
            record.model_ndcg5,
            record.formula_ndcg5,
            record.gain,
            record.gain_low,
            record.gain_high,
            counted(record.sessions, "session"),
        ))?;
    }
    Ok(())
}

/// Changes what orders the memories of a workspace.
pub async fn switch(args: UseArgs) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    let ledger = open(&settings, Mode::Tool).await?;
    let version = match args.ranker {
        Version::Formula => None,
        Version::Model(version) => Some(version),
    };
    let done = memory_ranker::use_by_operator(&ledger, &args.tenant, version).await;
    ledger.close().await;
    done?;
    print_line(&match version {
        None => "the formula alone orders memories; servers follow within a minute".to_owned(),
        Some(version) => format!("version {version} orders memories; servers follow within a minute"),
    })
}

/// Shows the number of rows so far, on terminals only.
fn show_rows(rows: u64) {
    show(&format!("{} read", counted(rows, "row")));
}

/// Shows a bar, on terminals only.
fn show_progress(progress: Progress) {
    let step = match progress.step {
        Step::Fit => "fitting",
        Step::Measure => "measuring",
        Step::Interval => "interval",
    };
    let done = (BAR * progress.done / progress.total.max(1)).min(BAR);
    show(&format!("{step:9} [{}{}]", "#".repeat(done), ".".repeat(BAR - done)));
}

fn clear_progress() {
    show(&" ".repeat(BAR + 12));
    show("");
}

/// Overwrites the line. Errors are ignored, so a closed terminal does not stop the work.
fn show(text: &str) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        let _gone = write!(terminal, "\r{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_number_or_the_formula() {
        assert_eq!(version("formula"), Ok(Version::Formula));
        assert_eq!(version("12"), Ok(Version::Model(12)));
        assert!(version("newest").is_err() && version("-1").is_err());
    }

    #[test]
    fn a_file_of_labels_is_read_line_by_line_and_a_wrong_line_is_named() {
        let row = r#"{"id":"01a31849-87c0-77e3-b1cc-9a62c6b90a41","tenant":"01a31849-87c0-77e3-b1cc-9a62c6b90a42",
            "session_hmac":"ab","turn":3,"memory_version":1,"query_group":"01a31849-87c0-77e3-b1cc-9a62c6b90a43",
            "bm25":2.5,"recency_d":1.0,"importance":0.5,"uses_30d":0,"same_person":false,"same_channel":false,
            "kind":"topics","tokens":20,"rank":1,"slot":1,"injected":true,"propensity":1.0,"holdout":false,
            "agent_mean":0.5,"agent_n":1,"use_hits":0,"continuity":null,"label":0.5,"weight":0.5,
            "ranker_version":"formula-1"}"#;
        let row = row.replace('\n', "");
        let unlabelled = row.replace(r#""label":0.5"#, r#""label":null"#);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.jsonl");
        std::fs::write(&path, format!("{row}\n{unlabelled}\n")).unwrap();
        let samples = samples_of_file(&path).unwrap();
        assert_eq!((samples.len(), samples[0].label.to_bits()), (1, 0.5_f32.to_bits()));
        std::fs::write(&path, format!("{row}\n{{}}\n")).unwrap();
        let refused = samples_of_file(&path).unwrap_err().to_string();
        assert!(refused.contains("line 2"), "{refused}");
    }
}
