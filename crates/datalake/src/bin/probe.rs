//! A program for tests and measurements of this crate. It captures until it is killed, generates feedback, and
//! folds it. It is not part of the product.

use chrono::{DateTime, TimeDelta};
use datalake::export::{self, FileFormat, Format, Inputs, Options};
use datalake::{Collector, Feedback, FeedbackRecord, Fold, InteractionRecord, Layout, Message, Role, Source};
use domain::{Timestamp, message::ToolCall, outcome::CONFIDENT_MIN};
use serde_json::{Map, Value, json};
use std::{
    error::Error,
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
    time::Instant,
};

const USAGE: &str = "datalake-probe capture DIR WRITER | generate DIR LINES | index DIR BUDGET_MIB | append DIR LINES BATCH | samples DIR";

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["capture", folder, writer] => capture(Path::new(folder), writer),
        ["generate", folder, lines] => generate(Path::new(folder), lines.parse()?),
        ["index", folder, budget] => index(Path::new(folder), budget.parse::<usize>()? << 20),
        ["append", folder, lines, batch] => append(Path::new(folder), lines.parse()?, batch.parse()?),
        ["samples", folder] => samples(Path::new(folder)),
        _ => Err(USAGE.into()),
    }
}

/// Captures and marks until the process is killed. A line on stdout acknowledges what is on disk.
fn capture(folder: &Path, writer: &str) -> Result<(), Box<dyn Error>> {
    let mut collector = Collector::new(Layout::below(folder), writer);
    let mut out = io::stdout().lock();
    for number in 0.. {
        let now = at(number);
        let batch = 1 + number % 7;
        let records: Vec<InteractionRecord> =
            (0..batch).map(|part| record(format!("{writer}-{number}-{part}"), now)).collect();
        collector.write_through(&records, &[], &[], now)?;
        for record in &records {
            writeln!(out, "captured {}", record.id)?;
        }
        collector.mark_feedback(&mark(records[0].id.clone(), now))?;
        writeln!(out, "marked {}", records[0].id)?;
        out.flush()?;
    }
    Ok(())
}

fn generate(folder: &Path, lines: u64) -> Result<(), Box<dyn Error>> {
    let layout = Layout::below(folder);
    std::fs::create_dir_all(layout.feedback())?;
    let mut file = BufWriter::new(File::create(layout.feedback_file(at(0)))?);
    for number in 0..lines {
        // Every third line is about a record with a much smaller number, most of which have an earlier line.
        let record = if number % 3 == 2 { number / 3 } else { number };
        let line = FeedbackRecord { feedback: label(number), ..mark(scattered(record), at(number)) };
        serde_json::to_writer(&mut file, &line)?;
        file.write_all(b"\n")?;
    }
    file.into_inner()?.sync_all()?;
    Ok(())
}

/// Folds the lines of `generate`, and checks for every record that the result is its latest line.
fn index(folder: &Path, budget: usize) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let mut fold = Fold::new(folder, budget);
    let (mut lines, mut skipped) = (0_u64, 0_u64);
    fold.extend(
        datalake::feedback(&Layout::below(folder)),
        |_| {
            lines += 1;
            true
        },
        |_| skipped += 1,
    )?;
    let (mut records, mut wrong) = (0_u64, 0_u64);
    for record in fold.finish()? {
        let record = record?;
        let number = number_of(&record.record_id).ok_or("an id of somebody else's")?;
        // The last line about this record.
        let latest = if number * 3 + 2 < lines { number * 3 + 2 } else { number };
        wrong += u64::from((record.timestamp, record.feedback) != (at(latest), label(latest)));
        records += 1;
    }
    report(&[("lines", lines), ("skipped", skipped), ("records", records), ("wrong", wrong)], started)
}

/// Measures the rate of the collector and the rate of appending to a plain file. Both write the same lines in
/// batches of the same size, in alternation.
fn append(folder: &Path, lines: u64, batch: u64) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let layout = Layout::below(folder);
    std::fs::create_dir_all(layout.feedback())?;
    let mut bare = File::options().append(true).create(true).open(folder.join("bare.jsonl"))?;
    let mut collector = Collector::new(layout, "probe");
    let (mut own_nanos, mut bare_nanos, mut lost) = (0, 0, 0_u64);
    for first in (0..lines).step_by(usize::try_from(batch)?.max(1)) {
        let marks: Vec<_> =
            (first..lines.min(first + batch)).map(|number| mark(scattered(number), at(number))).collect();
        let mut text = Vec::new();
        for line in &marks {
            serde_json::to_writer(&mut text, line)?;
            text.push(b'\n');
        }
        let begun = Instant::now();
        bare.write_all(&text)?;
        bare.sync_data()?;
        bare_nanos += begun.elapsed().as_nanos();
        let begun = Instant::now();
        let is_written = match marks.as_slice() {
            [only] => collector.mark_feedback(only).is_ok(),
            many => collector.write_through(&[], many, &[], at(0)).is_ok(),
        };
        own_nanos += begun.elapsed().as_nanos();
        lost += u64::from(!is_written);
    }
    let rate = |nanos: u128| u64::try_from(u128::from(lines) * 1_000_000_000 / nanos.max(1)).unwrap_or(u64::MAX);
    let rates = [("per_second", rate(own_nanos)), ("bare_per_second", rate(bare_nanos))];
    report(&[&[("lines", lines), ("lost", lost)], &rates[..]].concat(), started)
}

/// Writes one export for each pair of format and file format, each in its own folder.
fn samples(folder: &Path) -> Result<(), Box<dyn Error>> {
    let records = (0..60).map(|number| {
        let mut record = record(format!("record-{number}"), at(number));
        record.prompt[0].content = format!("Prompt {}: \"quoted\", ümläut, 🙏\n```\ncode\n```", number / 2);
        let message = |role, content: &str| Message::new(role, content);
        if number % 3 == 0 {
            let before =
                [message(Role::System, "Be brief."), message(Role::User, "Hi"), message(Role::Assistant, "Hello")];
            record.prompt.splice(0..0, before);
        }
        record.user_feedback = [Some(Feedback::Positive), Some(Feedback::Negative), None][number as usize % 3];
        record.was_edited = number % 10 == 0 && record.user_feedback == Some(Feedback::Positive);
        record.edited = record.was_edited.then(|| format!("Better {number}"));
        record.response = format!("Answer {number}");
        if number % 4 == 0 {
            with_tools(&mut record, number / 2);
        }
        record
    });
    let records: Vec<InteractionRecord> = records.collect();
    for format in Format::ALL {
        for file_format in FileFormat::ALL {
            let inputs = Inputs {
                interactions: Box::new(records.iter().cloned().map(Ok)),
                feedback: Box::new(std::iter::empty()),
                rating: Box::new(|_| Ok(None)),
            };
            let folder = folder.join(format!("{}-{}", format.as_str(), file_format.as_str()));
            export::export(inputs, &Options::new(format, file_format), &folder, &mut |_| true)?;
            println!("{}", folder.display());
        }
    }
    Ok(())
}

/// Adds a tool call with its answer to the prompt, and makes the response a proposed call. The arguments have
/// different shapes.
fn with_tools(record: &mut InteractionRecord, number: u64) {
    let tool = |name: &str, parameter: Value| {
        let parameters = json!({ "type": "object", "properties": { "of": parameter }, "required": ["of"] });
        json!({ "type": "function", "function": { "name": name, "description": "…", "parameters": parameters } })
    };
    let arguments = |of: Value| Map::from_iter([("of".to_owned(), of)]);
    let many = json!({ "type": "array", "items": { "enum": [1, "two", null] } });
    record.tools = Some(vec![tool("find", json!({ "type": "string" })), tool("send", many)]);
    let found = ToolCall::new(format!("find-{}", record.id), "find", arguments(format!("number {number}").into()));
    let answer = Message::answering(&found, r#"{"found": true}"#);
    record.prompt.extend([Message::calling(vec![found]), answer]);
    record.tool_call_id = Some(format!("send-{}", record.id));
    let proposed = |of: Value| json!({ "toolName": "send", "toolInput": arguments(of) }).to_string();
    record.response = proposed(json!([number, "two", null]));
    record.edited = record.was_edited.then(|| proposed(json!({ "number": number })));
}

fn report(figures: &[(&str, u64)], started: Instant) -> Result<(), Box<dyn Error>> {
    let seconds = started.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim();
    for (name, figure) in figures {
        println!("{name}: {figure}");
    }
    println!("seconds: {seconds:.2}\npeak memory: {peak}");
    Ok(())
}

fn at(number: u64) -> Timestamp {
    DateTime::UNIX_EPOCH + TimeDelta::milliseconds(i64::try_from(number).unwrap_or(i64::MAX))
}

fn mark(record_id: String, timestamp: Timestamp) -> FeedbackRecord {
    FeedbackRecord {
        record_id,
        tenant_id: Some("0198c0de-0000-7000-8000-000000000001".to_owned()),
        feedback: Feedback::Positive,
        was_edited: false,
        edited: None,
        timestamp,
        source: Source::OutcomeTracker,
        confidence: Some(CONFIDENT_MIN),
    }
}

/// Returns the feedback of the line with this number.
fn label(number: u64) -> Feedback {
    [Feedback::Negative, Feedback::Neutral, Feedback::Positive][(number / 7 % 3) as usize]
}

/// An odd factor. Multiplication by it maps different numbers to different numbers in no obvious order.
const SCATTER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns an id made from a number. The order of the ids differs from the order of the numbers.
fn scattered(number: u64) -> String {
    let bits = number.wrapping_mul(SCATTER);
    format!("0198c0de-0000-7000-{:04x}-{:012x}", bits >> 48, bits & 0xffff_ffff_ffff)
}

/// Returns the number from which [`scattered`] made an id.
fn number_of(id: &str) -> Option<u64> {
    let bits = u64::from_str_radix(&id.get(19..)?.replace('-', ""), 16).ok()?;
    // Newton's method for the multiplicative inverse modulo 2^64. Each step doubles the number of correct bits.
    let undo = (0..5).fold(SCATTER, |undo, _| undo.wrapping_mul(2_u64.wrapping_sub(SCATTER.wrapping_mul(undo))));
    Some(bits.wrapping_mul(undo))
}

fn record(id: String, timestamp: Timestamp) -> InteractionRecord {
    let length = 50 + id.len() * 37 % 3_000;
    InteractionRecord {
        id,
        timestamp,
        tenant_id: "tenant".to_owned(),
        session_id: "session".to_owned(),
        action_id: None,
        agent: Some("probe".to_owned()),
        user_id: None,
        prompt: vec![Message::new(Role::User, "How long is it?")],
        tools: None,
        response: "long ".repeat(length),
        tool_call_id: None,
        user_feedback: None,
        was_edited: false,
        edited: None,
        feedback_source: None,
        feedback_at: None,
        feedback_confidence: None,
    }
}
