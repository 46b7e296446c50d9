//! A writer that is killed at any time loses no acknowledged line, and leaves files that can be read.

use datalake::Layout;
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

const ROUNDS: u64 = 100;

#[test]
fn a_hundred_kills_lose_no_acknowledged_line() {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::below(folder.path());
    let mut random = fastrand::Rng::with_seed(2_026);
    let (mut captured, mut marked) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..ROUNDS {
        // Half of the writers share a file of interactions with others. All writers share the file of feedback.
        let writer = format!("{:08}", round % 50);
        let mut child = Command::new(env!("CARGO_BIN_EXE_datalake-probe"))
            .args(["capture", &folder.path().display().to_string(), &writer])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let patience = random.usize(1..40);
        let mut heard: Vec<String> = lines.by_ref().take(patience).map(Result::unwrap).collect();
        // The writer continues meanwhile, so the kill interrupts a write.
        (0..random.u32(0..20_000)).for_each(|_| std::hint::spin_loop());
        child.kill().unwrap();
        child.wait().unwrap();
        heard.extend(lines.map_while(Result::ok));
        for line in heard {
            match line.split_once(' ') {
                Some(("captured", id)) => captured.insert(id.to_owned()),
                Some(("marked", id)) => marked.insert(id.to_owned()),
                _ => true,
            };
        }
    }
    let mut torn = 0;
    let mut good = |line: Result<String, datalake::Warning>| line.inspect_err(|_| torn += 1).ok();
    let stored: BTreeSet<String> =
        datalake::interactions(&layout).filter_map(|line| good(line.map(|record| record.id))).collect();
    let noted: BTreeSet<String> =
        datalake::feedback(&layout).filter_map(|line| good(line.map(|record| record.record_id))).collect();
    assert!(
        captured.len() as u64 > ROUNDS && !marked.is_empty(),
        "{} captured, {} marked",
        captured.len(),
        marked.len()
    );
    assert_eq!(captured.difference(&stored).count(), 0, "of {} acknowledged records", captured.len());
    assert_eq!(marked.difference(&noted).count(), 0, "of {} acknowledged marks", marked.len());
    // A kill leaves at most one incomplete line in each of the two files.
    assert!(torn <= 2 * ROUNDS, "{torn} torn lines");
}
