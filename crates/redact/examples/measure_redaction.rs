//! Measures redaction on files of texts, one JSON object a line: texts with a secret (`text`, `secret`, `kind`), and
//! harmless texts (`text`).
//!
//! `cargo run -p redact --example measure_redaction -- SECRETS HARMLESS [--misses]` prints how many secrets are found
//! and how many harmless texts change. Texts are printed only with `--misses`, so that files can be measured unread.

use redact::{InvalidRule, Personal, Redactor};
use serde::{Deserialize, de::DeserializeOwned};
use std::{collections::BTreeMap, error::Error, fs};

#[derive(Deserialize)]
struct Secret {
    text: String,
    secret: String,
    kind: String,
}

#[derive(Deserialize)]
struct Harmless {
    text: String,
}

fn lines<T: DeserializeOwned>(path: &str) -> Result<Vec<T>, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let lines = text.lines().filter(|line| !line.is_empty());
    Ok(lines.map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn redacted(text: &str) -> Result<String, InvalidRule> {
    Ok(Redactor::built_in(Personal::default())?.redact(text)?.into_owned())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let lists_misses = arguments.iter().any(|argument| argument == "--misses");
    let paths: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let [secrets, harmless] = paths[..] else { return Err("usage: SECRETS HARMLESS [--misses]".into()) };
    let (secrets, harmless) = (lines::<Secret>(secrets)?, lines::<Harmless>(harmless)?);
    let mut missed = BTreeMap::<&str, Vec<(&str, String)>>::new();
    for Secret { text, secret, kind } in &secrets {
        let after = redacted(text)?;
        if after.contains(secret.as_str()) {
            missed.entry(kind).or_default().push((text, after));
        }
    }
    let mut changed = Vec::new();
    for Harmless { text } in &harmless {
        let after = redacted(text)?;
        if after != *text {
            changed.push(after);
        }
    }
    let misses = missed.values().map(Vec::len).sum::<usize>();
    let found = secrets.len() - misses;
    let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
    println!("recall {:.3} ({found}/{})", share(found, secrets.len()), secrets.len());
    println!("false positives {:.3} ({}/{})", share(changed.len(), harmless.len()), changed.len(), harmless.len());
    if lists_misses {
        for (kind, texts) in &missed {
            texts.iter().for_each(|(text, after)| println!("missed {kind}: {text:?}\n    {after:?}"));
        }
        changed.iter().for_each(|after| println!("changed: {after:?}"));
    }
    Ok(())
}
