//! Feedback is folded in bounded memory, whatever the number of lines is, and the latest of each record wins.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{collections::HashMap, path::Path, process::Command};

/// Number of lines. Together they are several times as large as the smaller budget below.
const LINES: u64 = 300_000;

/// Runs the probe and returns the figures that it printed, by name.
fn probe(words: &[&str], folder: &Path) -> HashMap<String, String> {
    let [command, more @ ..] = words else { panic!("a command") };
    let output =
        Command::new(env!("CARGO_BIN_EXE_datalake-probe")).arg(command).arg(folder).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split_once(": ")).map(|(name, figure)| (name.into(), figure.into())).collect()
}

#[test]
fn the_latest_of_each_record_is_found_within_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    probe(&["generate", &LINES.to_string()], folder.path());
    let mut peaks = Vec::new();
    for budget in ["2", "64"] {
        let found = probe(&["index", budget], folder.path());
        let figure = |name: &str| found[name].split(' ').next().unwrap().parse::<u64>().unwrap();
        // Every third line is about a record that has an earlier line, or about a record of its own.
        let records = LINES - LINES / 3 + LINES / 3 / 3;
        let counted = ["lines", "skipped", "records", "wrong"].map(figure);
        assert_eq!(counted, [LINES, 0, records, 0], "with {budget} MiB");
        peaks.extend(cfg!(target_os = "linux").then(|| figure("peak memory")));
    }
    // With a large budget everything is in memory; with 2 MiB it is not.
    if let [little, much] = peaks[..] {
        assert!(little + 12 * 1_024 < much, "{little} KiB and {much} KiB");
    }
    // No temporary file is left.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_is_appended_beside_the_bare_file_is_all_there() {
    let folder = tempfile::tempdir().unwrap();
    for batch in ["1", "16"] {
        let found = probe(&["append", "50", batch], folder.path());
        assert_eq!((found["lines"].as_str(), found["lost"].as_str()), ("50", "0"));
    }
    let feedback = folder.path().join("datalake/01-raw/feedback/1970-01-01_feedback.jsonl");
    assert_eq!(std::fs::read(feedback).unwrap(), std::fs::read(folder.path().join("bare.jsonl")).unwrap());
}
