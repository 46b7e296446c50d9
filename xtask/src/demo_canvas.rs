//! The canvas of the demo workspace: an agent writes about a document of this repository on it, while people watch and
//! write there too.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::process::pause;
use crate::progress::say;
use crate::served::{Client, text};

/// The agent of the demo that writes.
pub const AGENT: &str = "coauthor";
const FILE: &str = "README.md";
/// Time for the agent to finish.
const WRITE_MAX: Duration = Duration::from_secs(120);

/// Creates the canvas, lets the agent write on it, and checks what is there at the end. `editor` is the id of a person
/// who may write there too. Returns the path of its page.
pub fn play(client: &Client, worker: &Client, editor: Option<&str>, say_where: impl Fn(&str)) -> Result<String> {
    let welcome = "An agent writes below. You can write here too: nothing of either is lost.";
    let document = json!({ "blocks": { "welcome": { "type": "text", "text": welcome, "order": "a0" } } });
    let new = json!({ "title": "Notes about this repository", "document": document, "idempotencyKey": "demo-canvas" });
    let canvas = text(&client.post("/api/canvases", &new)?, "id")?.to_owned();
    let participants = format!("/api/canvases/{canvas}/participants");
    let agent = format!("token:{}", text(&worker.get("/api/me")?["token"], "id")?);
    for who in [Some(agent), editor.map(|id| format!("user:{id}"))].into_iter().flatten() {
        client.put(&participants, &json!({ "participant": who, "role": "edit" }))?;
    }
    let page = format!("/canvases/{canvas}");
    say_where(&page);
    let input = json!({ "canvasId": canvas, "file": FILE });
    let new = json!({ "sessionType": "agent", "agentSlug": AGENT, "title": "Write about the README", "input": input });
    let session = text(&client.post("/api/sessions", &new)?, "id")?.to_owned();
    let status = ended(client, &session)?;
    let found = client.get(&format!("/api/canvases/{canvas}"))?;
    check(&found["document"]["blocks"], &session, &status)?;
    say(&format!("    the agent {AGENT} made {} versions of the canvas {page}", found["patches"]));
    Ok(page)
}

/// Waits for the end of a session. Returns its status.
fn ended(client: &Client, session: &str) -> Result<String> {
    let started = Instant::now();
    loop {
        let status = text(&client.get(&format!("/api/sessions/{session}"))?, "status")?.to_owned();
        if !["draft", "pending", "running"].contains(&status.as_str()) {
            return Ok(status);
        }
        if started.elapsed() > WRITE_MAX {
            bail!("the agent {AGENT} still writes after {} s", WRITE_MAX.as_secs());
        }
        pause(Duration::from_millis(250))?;
    }
}

fn check(blocks: &Value, session: &str, status: &str) -> Result<()> {
    let block = |name: &str| &blocks[format!("{name}-{session}")];
    let items = block("parts")["items"].as_object().map(serde_json::Map::len).unwrap_or_default();
    let done = block("parts")["items"].as_object().into_iter().flatten().filter(|(_, item)| item["done"] == true);
    let has_summary = block("summary")["text"].as_str().is_some_and(|text| !text.is_empty());
    if status != "completed" || !has_summary || items == 0 || done.count() != items {
        bail!("the agent {AGENT} is {status} and left this on the canvas: {blocks}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_of_the_canvas_is_one_of_the_demo() {
        assert!(crate::demo::AGENTS.iter().any(|agent| agent.slug == AGENT));
        assert!(crate::workspace::root().join(FILE).is_file());
    }

    #[test]
    fn a_canvas_without_the_work_of_the_agent_is_refused() {
        let parts = |done: bool| json!({ "items": { "i0": { "text": "Run it", "done": done } } });
        let blocks = |done: bool| json!({ "summary-s": { "text": "x" }, "parts-s": parts(done) });
        assert!(check(&blocks(true), "s", "completed").is_ok());
        assert!(check(&blocks(false), "s", "completed").is_err());
        assert!(check(&blocks(true), "s", "failed").is_err());
        assert!(check(&json!({}), "s", "completed").is_err());
    }
}
