//! The report as a table on the terminal and as docs/benchmarks.md.

use super::{Finding, Machine, Verdict, number};
use crate::process::machine_and_ours;
use anyhow::{Context as _, Result};
use std::{fmt::Write as _, fs, path::Path, time::Instant};

/// Begins the part that people write. The next run keeps it.
const BY_HAND: &str = "<!-- The part below was written by hand; `cargo xtask bench` keeps it. -->";
const NO_WORDS_YET: &str = "\n## Reasons and profiles\n\nNone written yet.\n";

/// Most characters of a line of prose, as in the other documents.
const LINE_CHARS_MAX: usize = 120;

/// Facts about the whole run.
pub struct Run {
    machine: Machine,
    command: String,
    began: Instant,
    cpu_seconds: (f64, f64),
    sync_us: (f64, f64),
    seconds: f64,
    others_cores: f64,
}

impl Run {
    /// Starts a run.
    pub fn begin(command: String, sync_us: f64) -> Result<Self> {
        Ok(Self {
            machine: Machine::look(),
            command,
            began: Instant::now(),
            cpu_seconds: machine_and_ours()?,
            sync_us: (sync_us, sync_us),
            seconds: 0.0,
            others_cores: 0.0,
        })
    }

    /// Ends a run after all of its processes have ended.
    pub fn end(mut self, sync_us: f64) -> Result<Self> {
        let (all, ours) = machine_and_ours()?;
        self.seconds = self.began.elapsed().as_secs_f64();
        self.others_cores = (all - self.cpu_seconds.0 - (ours - self.cpu_seconds.1)) / self.seconds;
        self.sync_us.1 = sync_us;
        Ok(self)
    }
}

/// The findings, aligned for a terminal.
pub fn table(findings: &[Finding]) -> String {
    let rows: Vec<[String; 8]> =
        std::iter::once(HEADINGS.map(str::to_owned)).chain(findings.iter().map(cells)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; 8] = std::array::from_fn(width);
    let line = |row: &[String; 8]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// One finding as a line of the terminal.
pub fn line(finding: &Finding) -> String {
    let [goal, what, ours, reference, ratio, must, _, verdict] = cells(finding);
    let parts = [ours, reference, ratio, must, verdict];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{goal:<4}  {what}: {}\n", parts.join(" · "))
}

const HEADINGS: [&str; 8] = ["goal", "what", "ours", "reference", "ratio", "must", "aim", "verdict"];

fn cells(finding: &Finding) -> [String; 8] {
    let bound = |bound: Option<super::Bound>| bound.map(super::Bound::text).unwrap_or_default();
    let reference = finding.reference.as_ref();
    let verdict = match finding.verdict() {
        Verdict::MetAim => "met aim",
        Verdict::MetMust => "met must",
        Verdict::Missed => "missed",
        Verdict::MissedAim => "missed aim",
        Verdict::Noted => "",
    };
    [
        finding.goal.to_owned(),
        finding.what.clone(),
        with_unit(finding.ours, finding.unit),
        reference.map(|reference| format!("{} ({})", number(reference.value), reference.what)).unwrap_or_default(),
        ratios(finding),
        bound(finding.must),
        bound(finding.aim),
        finding.broken.as_ref().map_or_else(|| verdict.to_owned(), |why| format!("{verdict}: {why}")),
    ]
}

/// The best rounds' ratio, and the medians' where it tells something else.
fn ratios(finding: &Finding) -> String {
    let (Some(best), Some(median)) = (finding.ratio(), finding.median_ratio()) else { return String::new() };
    let (best, median) = (number(best), number(median));
    if best == median { best } else { format!("{best} (median {median})") }
}

fn with_unit(value: f64, unit: &str) -> String {
    if unit.starts_with('/') { format!("{}{unit}", number(value)) } else { format!("{} {unit}", number(value)) }
}

/// Writes the report; what a person wrote at its end stays.
pub fn write(path: &Path, run: &Run, findings: &[Finding]) -> Result<()> {
    let before = fs::read_to_string(path).unwrap_or_default();
    let by_hand = before.split_once(BY_HAND).map_or(NO_WORDS_YET, |(_, words)| words);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let text =
        format!("{}{BY_HAND}\n{}\n", markdown(run, findings), by_hand.trim_end().trim_start_matches('\n').trim_end());
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn markdown(run: &Run, findings: &[Finding]) -> String {
    let machine = &run.machine;
    let mut text = format!(
        "# Benchmarks\n\nMeasured by `{}` on {}, commit {}.\n",
        run.command,
        machine.date,
        machine.commit.as_deref().unwrap_or("unknown"),
    );
    let about = format!(
        "Machine: {} cores of {}, {} GiB, Linux {}. The run took {} s; other programs, PostgreSQL among them, kept {} \
         cores busy meanwhile; an fdatasync of 4 KiB took {} µs before and {} µs after.",
        machine.cores,
        machine.cpu,
        number(machine.memory_gib),
        machine.kernel,
        number(run.seconds),
        number(run.others_cores),
        number(run.sync_us.0),
        number(run.sync_us.1),
    );
    text.push_str(&wrapped(&about, ""));
    text.push_str("\n\n");
    text.push_str(NOTES);
    text.push_str(&row(&HEADINGS.map(str::to_owned)));
    text.push_str("|---|---|---:|---|---|---|---|---|\n");
    findings.iter().for_each(|finding| text.push_str(&row(&cells(finding))));
    text.push_str("\n## What falls short\n\n");
    let mut missed = findings.iter().filter(|finding| finding.verdict() == Verdict::Missed).peekable();
    if missed.peek().is_none() {
        text.push_str("Every must holds.\n");
    }
    for finding in missed {
        // Writing to a string cannot fail.
        let item = format!("- **{} {}**: {}", finding.goal, finding.what, shortfall(finding));
        let _ = writeln!(text, "{}", wrapped(&item, "  "));
    }
    text.push_str("\n## Where the time went\n\n");
    for finding in findings.iter().filter(|finding| finding.verdict() != Verdict::Missed && !finding.facts.is_empty()) {
        let item = format!("- {} {}: {}", finding.goal, finding.what, ending_with_stop(&finding.facts));
        let _ = writeln!(text, "{}", wrapped(&item, "  "));
    }
    text.push('\n');
    text
}

const NOTES: &str = "\
Server, load generator and bare engines share these cores and this disk, so only ratios within one run count: while
something compiles, an fdatasync takes up to 40 times as long and durable rates fall 2 to 15 times. Ours and its
reference take turns, three rounds each; the best round counts, the medians' ratio is shown beside it where it differs.
Ours carries token, tenant check, validation, idempotency, hash chain and synchronous FULL. *Raw* is the bare driver
without HTTP, with one narrow table; *probe* is axum over one SQLite writer and nothing else; the *raw file* is open,
and written and synced in one go. *graphile-worker* is one Node process on the same PostgreSQL and *Svelte* a page of
the same events rendered in Node, both from their npm packages in this run, in turns like the rest; ours is judged by
graphile-worker's plain configuration, a claim and a completion for each job like ours. *UmaDB* is its server with its
defaults in a process of its own, driven by its own gRPC client. A reference that is called a constant did not run here:
such a ratio says little.

";

fn row(cells: &[String; 8]) -> String {
    format!("| {} |\n", cells.each_ref().map(|cell| cell.replace('|', "\\|")).join(" | "))
}

/// Breaks a paragraph or an item of a list at its spaces. All lines but the first begin with `indent`.
fn wrapped(text: &str, indent: &str) -> String {
    let mut units: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match units.last_mut() {
            Some(last) if would_begin_list(word) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => units.push(word.to_owned()),
        }
    }
    let (mut lines, mut width) = (String::new(), 0);
    for unit in units {
        let count = unit.chars().count();
        if width > 0 && width + 1 + count > LINE_CHARS_MAX {
            lines.push('\n');
            lines.push_str(indent);
            width = indent.len();
        } else if width > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(&unit);
        width += count;
    }
    lines
}

/// Whether a word at the start of a line begins an item of a list in Markdown.
fn would_begin_list(word: &str) -> bool {
    let number = word.strip_suffix('.').unwrap_or_default();
    matches!(word, "+" | "-" | "*") || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The figure that is judged and its bound, what is broken beside it, and the facts.
fn shortfall(finding: &Finding) -> String {
    let judged = match finding.ratio() {
        Some(ratio) => format!("ratio {}", number(ratio)),
        None => with_unit(finding.ours, finding.unit).trim_end().to_owned(),
    };
    let bound = finding.must.map(|must| format!("{judged}, must be {}", must.text()));
    let parts = [bound, finding.broken.clone(), Some(finding.facts.clone()).filter(|facts| !facts.is_empty())];
    ending_with_stop(&parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

fn ending_with_stop(text: &str) -> String {
    format!("{}.", text.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::super::Bound;
    use super::*;

    fn findings() -> Vec<Finding> {
        let goals = (Bound::AtLeast(0.4), Bound::AtLeast(0.75));
        vec![
            Finding::new("G1", "appends, 8 connections", "/s", 5_000.0)
                .against("raw", 20_000.0, 25_000.0)
                .goals(goals.0, goals.1)
                .facts("server CPU 60 µs"),
            Finding::new("G17", "binary", "MiB", 12.0).goals(Bound::AtMost(46.0), Bound::AtMost(18.0)),
        ]
    }

    #[test]
    fn the_terminal_shows_every_finding_on_a_line() {
        let text = table(&findings());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].contains("0.25 (median 0.20)") && lines[1].ends_with("missed"), "{text}");
        assert!(lines[2].contains("12.0 MiB") && lines[2].ends_with("met aim"), "{text}");
    }

    #[test]
    fn long_lines_of_prose_are_broken_where_no_list_begins() {
        let item = format!("- a {} + 38 µs and {}", "x".repeat(LINE_CHARS_MAX - 5), "y ".repeat(70).trim_end());
        let text = wrapped(&item, "  ");
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), item.split(' ').collect::<Vec<_>>());
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert!(lines.len() > 1 && lines.iter().all(|line| line.starts_with("  ")), "{text}");
        assert!(!lines.iter().any(|line| line.trim_start().starts_with('+')), "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= LINE_CHARS_MAX), "{text}");
        let run = Run::begin("bench".into(), 90.0).unwrap().end(95.0).unwrap();
        let report = markdown(&run, &[findings().remove(0).facts("server CPU 60 µs, ".repeat(20).trim_end())]);
        let long: Vec<&str> = report.lines().filter(|line| line.chars().count() > LINE_CHARS_MAX).collect();
        assert!(long.iter().all(|line| line.starts_with('|')), "{long:#?}");
    }

    #[test]
    fn what_a_person_wrote_survives_the_next_report() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("docs/benchmarks.md");
        let run = Run::begin("bench --quick".into(), 90.0).unwrap().end(95.0).unwrap();
        write(&path, &run, &findings()).unwrap();
        let first = fs::read_to_string(&path).unwrap();
        assert!(
            first.contains("- **G1 appends, 8 connections**: ratio 0.25, must be ≥ 0.40; server CPU 60 µs.\n"),
            "{first}"
        );
        fs::write(&path, first.replace("None written yet.", "The writer waits for the disk.")).unwrap();
        for _ in 0..2 {
            write(&path, &run, &findings()).unwrap();
        }
        let second = fs::read_to_string(&path).unwrap();
        assert_eq!(second.matches("The writer waits for the disk.").count(), 1);
        assert_eq!(second, first.replace("None written yet.", "The writer waits for the disk."));
    }
}
