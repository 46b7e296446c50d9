//! Measures inferred outcomes on a file of labelled turns, one JSON object a line, at the confidence that exports use.
//! The fields are those of `tests/outcome/pairs.jsonl`, or `lang`, `answer`, `reply` and `label`.
//!
//! `cargo run -p domain --example measure_outcomes -- FILE [--misses]` prints figures by language. Turns are printed
//! only with `--misses`, so that a file can be measured without being read. With `--tables=FOLDER` the tables of that
//! folder are used instead of the built-in ones, so that a table can be tried without compiling.

use domain::outcome::{CONFIDENT_MIN, Inferred, Language, Languages, Outcome, infer};
use serde::Deserialize;
use std::{collections::BTreeSet, error::Error, fs};

#[derive(Deserialize)]
struct Line {
    #[serde(alias = "lang")]
    language: String,
    #[serde(default)]
    prompt: String,
    /// The answer, in files that have `next`; the message after it in others.
    reply: String,
    answer: Option<String>,
    next: Option<String>,
    label: Outcome,
}

struct Turn {
    language: String,
    answer: String,
    next: String,
    label: Outcome,
    exported: Outcome,
    inferred: Inferred,
}

impl Turn {
    fn read(languages: &Languages, line: &str) -> serde_json::Result<Turn> {
        let Line { language, prompt, reply, answer, next, label } = serde_json::from_str(line)?;
        let (answer, next) = match (answer, next) {
            (Some(answer), _) => (answer, reply),
            (None, next) => (reply, next.unwrap_or_default()),
        };
        let inferred = infer(languages, &prompt, &answer, &next);
        // The default export leaves a doubtful outcome out.
        let exported = if inferred.confidence >= CONFIDENT_MIN { inferred.outcome } else { Outcome::Neutral };
        Ok(Turn { language, answer, next, label, exported, inferred })
    }
}

/// Returns the built-in languages, or those of a folder.
fn languages(folder: Option<&str>) -> Result<Languages, Box<dyn Error>> {
    let built_in = Languages::built_in();
    let Some(folder) = folder else { return Ok(built_in.clone()) };
    let read = |code: &str| -> Result<Language, Box<dyn Error>> {
        Ok(Language::read(code, &fs::read_to_string(format!("{folder}/{code}.toml"))?)?)
    };
    Ok(built_in.with(built_in.codes().into_iter().map(read).collect::<Result<_, _>>()?))
}

fn share(right: usize, of: usize) -> String {
    match of {
        0 => format!("  -  ({right}/{of})"),
        _ => format!("{:.3} ({right}/{of})", right as f64 / of as f64),
    }
}

fn figures(name: &str, turns: &[&Turn]) -> String {
    let count = |keep: &dyn Fn(&Turn) -> bool| turns.iter().filter(|turn| keep(turn)).count();
    let one = |class: Outcome| {
        let right = count(&|turn| turn.label == class && turn.exported == class);
        let (exported, labelled) = (count(&|turn| turn.exported == class), count(&|turn| turn.label == class));
        format!("precision {:15} recall {:15}", share(right, exported), share(right, labelled))
    };
    let other = count(&|turn| turn.inferred.evidence.language.as_ref().is_some_and(|found| *found != turn.language));
    let unknown = count(&|turn| turn.inferred.evidence.language.is_none());
    let (accepted, rejected) = (one(Outcome::Accepted), one(Outcome::Rejected));
    format!("{name:4} accepted {accepted} rejected {rejected} language unknown {unknown}, mistaken {other}")
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let lists_misses = arguments.iter().any(|argument| argument == "--misses");
    let path = arguments.iter().find(|argument| !argument.starts_with("--")).ok_or("usage: FILE [--misses]")?;
    let text = fs::read_to_string(path)?;
    let folder = arguments.iter().find_map(|argument| argument.strip_prefix("--tables="));
    let known = languages(folder)?;
    let lines = text.lines().filter(|line| !line.is_empty());
    let turns = lines.map(|line| Turn::read(&known, line)).collect::<Result<Vec<Turn>, _>>()?;
    let languages: BTreeSet<&str> = turns.iter().map(|turn| turn.language.as_str()).collect();
    for language in languages {
        let own: Vec<&Turn> = turns.iter().filter(|turn| turn.language == language).collect();
        println!("{}", figures(language, &own));
    }
    println!("{}", figures("all", &turns.iter().collect::<Vec<_>>()));
    for turn in turns.iter().filter(|turn| lists_misses && turn.exported != turn.label) {
        let Turn { language, answer, next, label, exported, inferred } = turn;
        println!("{language} {label} as {exported}: {next:?}\n    answer {answer:?}\n    {:?}", inferred.evidence);
    }
    Ok(())
}
