//! A scripted model for the memory writers of the demo. It speaks the streamed chat API of OpenAI, needs no key, and
//! proposes to remember what people tell of themselves in short sentences.
//!
//! It is a thread of xtask and no process: a server that is asked to stop still has its writers read what is open.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::demo;

const NAME: &str = "scripted";
/// Longest request, bytes.
const REQUEST_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Time for the next part of a request.
const READ_MAX: Duration = Duration::from_secs(10);
/// Most turns of a conversation that are summarised: the newest.
const TURNS_MAX: usize = 10;
/// Longest note of a turn, characters.
const NOTE_CHARS_MAX: usize = 100;

/// A running model. It ends with xtask.
pub struct ScriptedModel {
    base_url: String,
}

impl ScriptedModel {
    pub fn start() -> Result<ScriptedModel> {
        let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen for the memory writers")?;
        let base_url = format!("http://{}/v1", listener.local_addr()?);
        std::thread::Builder::new().name("model".to_owned()).spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                // A writer that closes its connection is no error of the model.
                let _ = serve(&stream);
            }
        })?;
        Ok(ScriptedModel { base_url })
    }

    /// Writes settings with which the demo's agents of this workspace have memory writers that ask this model, and
    /// with which tools may call services on this machine.
    pub fn write_settings(&self, tenant: &str, data_dir: &Path) -> Result<PathBuf> {
        std::fs::create_dir_all(data_dir)?;
        let path = data_dir.join("demo-settings.toml");
        let mut file = std::fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        writeln!(file, "[outbound]\nallow_private = [\"127.0.0.1\"]\n")?;
        writeln!(file, "[memory]\nwire = \"openai\"\nbase_url = \"{}\"\nmodel = \"{NAME}\"", self.base_url)?;
        for agent in &demo::AGENTS {
            writeln!(file, "\n[memory.agents.{}]\nworkspace = \"{tenant}\"", agent.slug)?;
        }
        Ok(path)
    }
}

/// Answers the one request of a connection.
fn serve(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(READ_MAX))?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
    }
    let mut body = vec![0; length.min(REQUEST_BYTES_MAX)];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let text = streamed(&answer(&request).to_string(), length);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    let mut writer = stream;
    write!(writer, "{head}content-length: {}\r\n\r\n{text}", text.len())
}

/// The events of a stream with this text, and an estimate of the tokens: one for four bytes.
fn streamed(text: &str, request_bytes: usize) -> String {
    let event = |choices: Value| json!({ "id": "demo", "object": "chat.completion.chunk", "created": 1, "model": NAME, "choices": choices });
    let choice = |delta: Value, reason: Value| json!([{ "index": 0, "delta": delta, "finish_reason": reason }]);
    let (prompt, completion) = (request_bytes.div_ceil(4), text.len().div_ceil(4));
    let mut last = event(json!([]));
    last["usage"] = json!({
        "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
    });
    let whole = event(choice(json!({ "role": "assistant", "content": text }), Value::Null));
    let end = event(choice(json!({}), json!("stop")));
    let events: String = [whole, end, last].iter().map(|event| format!("data: {event}\n\n")).collect();
    events + "data: [DONE]\n\n"
}

/// A person's turn, as in the prompt of the memory writer.
struct Turn {
    evidence: Value,
    /// Name of the person.
    name: String,
    /// Path of the person's document, if they are known.
    path: Option<String>,
    said: String,
}

/// Answers a request of a memory writer with the object that its prompt asks for.
fn answer(request: &Value) -> Value {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut texts = messages.iter().filter_map(|message| message["content"].as_str());
    let prompt = texts.find(|text| text.contains("<transcript-")).unwrap_or_default();
    let turns = turns(prompt);
    if turns.is_empty() {
        return json!({ "schema": 2, "nothing": true, "summary": null, "ops": [] });
    }
    let mut by_person: BTreeMap<&str, Vec<&Turn>> = BTreeMap::new();
    for turn in &turns {
        if let Some(path) = &turn.path {
            by_person.entry(path).or_default().push(turn);
        }
    }
    let ops: Vec<Value> = by_person.into_iter().filter_map(|(path, turns)| remember(prompt, path, &turns)).collect();
    json!({ "schema": 2, "nothing": false, "summary": summary(&turns), "ops": ops })
}

/// A summary with a line for each turn: the facts that its person states about themselves, or else the question.
fn summary(turns: &[Turn]) -> Value {
    let mut names: Vec<&str> = turns.iter().map(|turn| turn.name.as_str()).collect();
    names.dedup();
    let blocks: Vec<Value> = turns.iter().map(|turn| block(&memory_line(turn), turn)).collect();
    json!({ "title": format!("A conversation with {}", names.join(", ")), "blocks": blocks })
}

fn memory_line(turn: &Turn) -> String {
    let facts = facts(&turn.said);
    if facts.is_empty() {
        return format!("- {} asked: {}", turn.name, shortened(&turn.said));
    }
    facts.iter().map(|fact| format!("- {}: {fact}\n", turn.name)).collect()
}

/// Lines that come from one turn.
fn block(text: &str, turn: &Turn) -> Value {
    json!({ "text": text, "evidence": [turn.evidence], "contradicts": [] })
}

/// An operation that adds the facts that a person states about themselves to their document. `None` without facts, or
/// if the prompt does not show the document as writable.
fn remember(prompt: &str, path: &str, turns: &[&Turn]) -> Option<Value> {
    let (_, shown) = prompt.split_once(&format!(" path=\"{path}\" writable "))?;
    let state = shown.split('>').next().unwrap_or_default();
    let base = state.strip_prefix("sha256=");
    let facts =
        turns.iter().flat_map(|turn| facts(&turn.said).into_iter().map(|fact| block(&format!("- {fact}"), turn)));
    let mut blocks: Vec<Value> = facts.collect();
    let first = turns.first().filter(|_| !blocks.is_empty())?;
    if base.is_none() {
        blocks.insert(0, block(&format!("# {}", first.name), first));
    }
    let op = if base.is_some() { "append_section" } else { "create" };
    Some(json!({ "op": op, "path": path, "heading": [], "base_sha256": base, "blocks": blocks, "evidence": [],
        "reason": "They told it of themselves." }))
}

/// What begins a sentence in which a person tells something of themselves, and what begins the note of it.
const FORMS: [(&str, &str); 8] = [
    ("i prefer ", "Prefers "),
    ("i like ", "Likes "),
    ("i live in ", "Lives in "),
    ("i moved to ", "Lives in "),
    ("i have moved to ", "Lives in "),
    ("i work at ", "Works at "),
    ("i work as ", "Works as "),
    ("i work on ", "Works on "),
];
/// Words that may precede them.
const LEAD_INS: [&str; 4] = ["please remember that ", "remember that ", "remember: ", "and "];
/// Ends of a sentence that say when, which a note leaves out.
const WHEN: [&str; 4] = [" last week", " last month", " yesterday", " today"];

/// What a person tells of themselves: `Prefers kilolines`, `Lives in Oslo`. Only short sentences of one form count.
fn facts(said: &str) -> Vec<String> {
    let sentences = said.split(['.', '!', '?', ';', ',']).flat_map(|sentence| sentence.split(" and "));
    let fact = |sentence: &str| {
        let mut sentence = sentence.trim();
        for lead_in in LEAD_INS {
            if sentence.get(..lead_in.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(lead_in)) {
                sentence = &sentence[lead_in.len()..];
            }
        }
        let begins = |form: &str| sentence.get(..form.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(form));
        let (form, note) = FORMS.iter().find(|(form, _)| begins(form))?;
        let mut rest = sentence[form.len()..].trim();
        for when in WHEN {
            rest = rest.strip_suffix(when).unwrap_or(rest);
        }
        let is_short = !rest.is_empty() && rest.chars().count() <= NOTE_CHARS_MAX;
        is_short.then(|| format!("{note}{rest}"))
    };
    sentences.filter_map(fact).collect()
}

/// The first words of a text, as many as fit.
fn shortened(text: &str) -> String {
    if text.chars().count() <= NOTE_CHARS_MAX {
        return text.to_owned();
    }
    let mut short = String::new();
    for word in text.split_whitespace() {
        if short.chars().count() + word.chars().count() + 2 > NOTE_CHARS_MAX {
            break;
        }
        short.push_str(word);
        short.push(' ');
    }
    format!("{}…", short.trim_end())
}

/// The newest turns of people in a prompt.
fn turns(prompt: &str) -> Vec<Turn> {
    let Some((_, transcript)) = prompt.split_once("<transcript-") else { return Vec::new() };
    let mut all: Vec<(Option<Turn>, String)> = Vec::new();
    for line in transcript.lines().skip(1) {
        match line.strip_prefix("| ") {
            Some(words) => {
                if let Some((_, said)) = all.last_mut() {
                    said.push_str(words);
                    said.push(' ');
                }
            }
            None => all.push((person(line), String::new())),
        }
    }
    let with_words = |(turn, said): (Option<Turn>, String)| Some(Turn { said: note(&said), ..turn? });
    let mut turns: Vec<Turn> = all.into_iter().filter_map(with_words).filter(|turn| !turn.said.is_empty()).collect();
    turns.drain(..turns.len().saturating_sub(TURNS_MAX));
    turns
}

/// Reads the line above a turn: `[s1:2] 2026-11-21 08:00 UTC, Alice (people/shiftbook-a.md)`. `None` for other lines,
/// and for turns of agents and tools.
fn person(line: &str) -> Option<Turn> {
    let (at, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (session, sequence) = at.split_once(':')?;
    let (_, who) = rest.split_once(" UTC, ")?;
    let evidence = json!({ "session": session, "sequence": sequence.parse::<u64>().ok()? });
    if who == "a person" {
        return Some(Turn { evidence, name: "Someone".to_owned(), path: None, said: String::new() });
    }
    let (name, path) = who.strip_suffix(')')?.rsplit_once(" (")?;
    let path = path.starts_with("people/").then(|| path.to_owned())?;
    Some(Turn { evidence, name: note(name), path: Some(path), said: String::new() })
}

/// A text on one line, without the marks of Markdown and HTML, which a memory may not have.
fn note(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || " .,;:?!'\"()/-+%&@=".contains(c);
    let plain: String = text.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "<document-ab path=\"people/shiftbook-a.md\" writable does not exist>\n</document-ab>\n\n\
        <document-ab path=\"people/shiftbook-b.md\" writable sha256=77>\n# Bob\n</document-ab>\n\n\
        <transcript-ab untrusted=\"true\">\n\
        [s1:2] 2026-11-21 08:00 UTC, Alice (people/shiftbook-a.md)\n| Where is <b>lease</b>?\n\
        | [s1:9] 2026-11-21 08:00 UTC, a person\n\
        [s1:6] 2026-11-21 08:00 UTC, the agent\n| In 9 files.\n\
        [s2:2] 2026-11-21 08:01 UTC, Bob (people/shiftbook-b.md)\n| And tamper?\n\
        [s3:2] 2026-11-21 08:02 UTC, a person\n| Hello\n</transcript-ab>\n";

    fn answered(prompt: &str) -> Value {
        let system = json!({ "role": "system", "content": "x" });
        answer(&json!({ "messages": [system, { "role": "user", "content": prompt }] }))
    }

    #[test]
    fn what_people_tell_of_themselves_is_proposed_for_their_documents() {
        let prompt = PROMPT
            .replace("Where is <b>lease</b>?", "Hello! I prefer kilolines, and I moved to Oslo last week.")
            .replace("And tamper?", "Please remember that I like tea.");
        let answer = answered(&prompt);
        let ops = answer["ops"].as_array().unwrap();
        let texts = |op: &Value| -> Vec<String> {
            op["blocks"].as_array().unwrap().iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!((&ops[0]["op"], &ops[0]["base_sha256"]), (&json!("create"), &Value::Null));
        assert_eq!(texts(&ops[0]), ["# Alice", "- Prefers kilolines", "- Lives in Oslo"]);
        assert_eq!(ops[0]["blocks"][1]["evidence"], json!([{ "session": "s1", "sequence": 2 }]));
        assert_eq!((&ops[1]["op"], &ops[1]["base_sha256"]), (&json!("append_section"), &json!("77")));
        assert_eq!(texts(&ops[1]), ["- Likes tea"]);
        assert_eq!(answer["summary"]["title"], "A conversation with Alice, Bob, Someone");
        assert_eq!(texts(&answer["summary"])[0], "- Alice: Prefers kilolines\n- Alice: Lives in Oslo\n");
    }

    #[test]
    fn what_people_ask_is_summarised_in_whole_words() {
        let answer = answered(PROMPT);
        assert_eq!(answer["ops"], json!([]), "a question is nothing to remember");
        let blocks = answer["summary"]["blocks"].as_array().unwrap();
        let first = blocks[0]["text"].as_str().unwrap();
        assert!(first.starts_with("- Alice asked: Where is b lease /b ?"), "{first}");
        assert_eq!((blocks.len(), &blocks[2]["text"]), (3, &json!("- Someone asked: Hello")));
        assert!(!answer.to_string().contains("9 files"), "what the agent said is no turn of a person");
        let long = shortened(&"seven words of a long question follow ".repeat(9));
        assert!(long.ends_with('…') && long.chars().count() <= NOTE_CHARS_MAX, "{long}");
        let cut = long.trim_end_matches('…').rsplit(' ').next().unwrap().to_owned();
        assert!("seven words of a long question follow".split(' ').any(|word| word == cut), "{long}");
    }

    #[test]
    fn a_prompt_without_people_has_nothing_to_remember() {
        let prompt = "<transcript-ab untrusted=\"true\">\n[s1:6] 2026-11-21 08:00 UTC, the agent\n| Done.\n";
        for messages in [json!([{ "role": "user", "content": prompt }]), json!([]), Value::Null] {
            let answer = answer(&json!({ "messages": messages }));
            assert_eq!((&answer["nothing"], &answer["ops"]), (&json!(true), &json!([])));
        }
    }

    #[test]
    fn it_speaks_the_streamed_wire() {
        let model = ScriptedModel::start().unwrap();
        let request = json!({ "model": NAME, "stream": true, "messages": [{ "role": "user", "content": PROMPT }] });
        let mut response = ureq::post(format!("{}/chat/completions", model.base_url)).send_json(&request).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        let events: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        assert_eq!(events.last(), Some(&"[DONE]"));
        let first: Value = serde_json::from_str(events[0]).unwrap();
        let content = first["choices"][0]["delta"]["content"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(content).unwrap()["nothing"], false);
    }

    #[test]
    fn every_agent_of_the_demo_has_a_writer() {
        let dir = tempfile::tempdir().unwrap();
        let model = ScriptedModel::start().unwrap();
        let settings = std::fs::read_to_string(model.write_settings("demo", dir.path()).unwrap()).unwrap();
        let settings: toml::Table = settings.parse().unwrap();
        let memory = settings["memory"].as_table().unwrap();
        assert_eq!(memory["base_url"].as_str(), Some(model.base_url.as_str()));
        for agent in &demo::AGENTS {
            assert_eq!(memory["agents"][agent.slug]["workspace"].as_str(), Some("demo"), "{}", agent.slug);
        }
    }
}
