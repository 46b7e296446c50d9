//! Checks that TRL reads the training data: exports a server's log in every format and in both kinds of files, and runs
//! TRL's own functions over them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::build::Build;
use crate::prerequisites::trl_python;
use crate::process::{capture, pause};
use crate::progress::say;
use crate::served::{Admin, Client, Served, text};
use crate::workspace::command;

const TENANT: &str = "trl";
const AGENT: &str = "scout";
const EMAIL: &str = "reviewer@trl.test";
const PASSWORD: &str = "a long enough password";
/// Longest wait for a decision to take effect, in seconds. It can be undone for some of them.
const CLAIM_SECONDS_MAX: u64 = 30;
/// Longest wait until a turn is listed as an interaction, in seconds.
const CAPTURE_SECONDS_MAX: u64 = 30;
/// One answer, one call and one answer after it for each of three decisions, and a conversation.
const INTERACTIONS: usize = 8;

/// Decisions of a reviewer on proposed calls.
const DECISIONS: [&str; 3] = [
    r#"{"decision": "approve"}"#,
    r#"{"decision": "edit", "value": {"to": ["ann@b.test"], "text": "Dear Ann"}}"#,
    r#"{"decision": "deny", "note": "Not to him"}"#,
];

pub fn check(build: Build) -> Result<()> {
    let python = trl_python()?;
    let folder = tempfile::tempdir_in(crate::scratch::folder())?;
    let data = folder.path().join("data");
    let admin = Admin::new(build, &data, TENANT);
    admin.add_user(EMAIL, "admin", PASSWORD)?;
    let token = admin.add_token("maker", "admin", None)?;
    let server = Served::start(build, &data, "127.0.0.1:0")?;
    let client = server.client(&token);
    log(&client)?;
    let exports = exports(&admin, &folder.path().join("exports"))?;
    let mut check = command(python);
    // The files are local, so no model hub is needed.
    check.env("HF_HUB_OFFLINE", "1").env("HF_HUB_DISABLE_TELEMETRY", "1").env("HF_HOME", folder.path().join("hub"));
    let seen = capture(check.arg("examples/check_with_trl.py").args(exports))?;
    seen.lines().for_each(|line| say(&format!("    {line}")));
    Ok(())
}

/// What happens at work: calls of tools that a reviewer approves, edits and denies, answers with and without tools, a
/// conversation whose first answer helped, and marks of people.
fn log(client: &Client) -> Result<()> {
    let reviewer = client.sign_in(EMAIL, PASSWORD)?;
    for decision in DECISIONS {
        call_with_decision(client, &reviewer, &serde_json::from_str(decision)?)?;
    }
    conversation(client)?;
    let items = captured(client)?;
    for (at, item) in items.iter().filter(|item| item["feedback"].is_null()).enumerate() {
        let feedback = if at % 2 == 0 { "positive" } else { "negative" };
        let path = format!("/api/interactions/{}/feedback", text(item, "id")?);
        client.post(&path, &json!({ "feedback": feedback }))?;
    }
    Ok(())
}

fn tool(name: &str, properties: &Value) -> Value {
    let parameters = json!({ "type": "object", "properties": properties });
    json!({ "type": "function", "function": { "name": name, "description": "…", "parameters": parameters } })
}

/// What an agent notes beside its first answer.
fn context() -> Value {
    let tools = [
        tool("find", &json!({ "name": { "type": "string" } })),
        tool(
            "send",
            &json!({ "to": { "type": "array", "items": { "type": "string" } }, "text": { "type": "string" } }),
        ),
    ];
    json!({ "modelContext": { "system": "You answer mail. Umlaut: ä.", "tools": tools } })
}

fn part(kind: &str, part: &Value, metadata: Value) -> Value {
    json!({ "type": kind, "content": [part], "metadata": metadata })
}

/// An agent looks a person up and proposes an e-mail, a reviewer decides, and the agent completes the session.
fn call_with_decision(client: &Client, reviewer: &str, decision: &Value) -> Result<()> {
    let new = json!({ "sessionType": "agent", "agentSlug": AGENT, "input": "Greet Ann." });
    let id = text(&client.post("/api/sessions", &new)?, "id")?.to_owned();
    let attempt = claim(client, &id)?;
    let send = json!({ "to": ["ann@a.test"], "text": "Yo" });
    let call = |id: &str, name: &str, input: &Value| json!({ "type": "tool-call", "toolCallId": id, "toolName": name, "input": input });
    let found = json!({ "type": "json", "value": { "mail": "ann@a.test", "tags": [1, "two", null] } });
    let found = json!({ "type": "tool-result", "toolCallId": "c1", "toolName": "find", "output": found });
    let events = [
        part("agent.tool_call", &call("c1", "find", &json!({ "name": "Ann" })), context()),
        part("agent.tool_result", &found, json!({})),
        part("agent.tool_call", &call("c2", "send", &send), json!({})),
    ];
    client.post(&format!("/api/sessions/{id}/events"), &json!({ "attempt": attempt, "events": events }))?;
    let paused = json!({ "toolCallId": "c2", "toolName": "send", "toolInput": send });
    let parked = json!({ "attempt": attempt, "status": "awaiting_tool", "pausedToolCall": paused });
    client.post(&format!("/api/sessions/{id}/yield"), &parked)?;
    let open = client.get("/api/approvals?assignedTo=all")?;
    let approval = text(&open["items"][0], "id")?.to_owned();
    client.post_as(reviewer, &format!("/api/approvals/{approval}/decision"), decision)?;
    let attempt = claim(client, &id)?;
    let sent = json!({ "type": "tool-result", "toolCallId": "c2", "toolName": "send", "output": "done" });
    let events = [part("agent.tool_result", &sent, json!({}))];
    client.post(&format!("/api/sessions/{id}/events"), &json!({ "attempt": attempt, "events": events }))?;
    client
        .post(&format!("/api/sessions/{id}/complete"), &json!({ "attempt": attempt, "result": "Ann is greeted." }))?;
    Ok(())
}

/// Two turns. The message of the second one shows that the first answer helped.
fn conversation(client: &Client) -> Result<()> {
    let thread =
        text(&client.post("/api/threads", &json!({ "agent": AGENT, "message": "Who is Ann?" }))?, "id")?.to_owned();
    for (reply, next) in [("She owns Acme.", Some("Perfect, thanks! And Bob?")), ("He works for her.", None)] {
        let attempt = claim(client, &thread)?;
        let event = part("agent.message", &json!({ "type": "text", "text": reply }), json!({}));
        client.post(&format!("/api/sessions/{thread}/events"), &json!({ "attempt": attempt, "events": [event] }))?;
        client.post(&format!("/api/sessions/{thread}/yield"), &json!({ "attempt": attempt, "status": "idle" }))?;
        if let Some(next) = next {
            client.post(&format!("/api/threads/{thread}/messages"), &json!({ "text": next }))?;
        }
    }
    Ok(())
}

/// The attempt under which a session is held.
fn claim(client: &Client, session: &str) -> Result<u64> {
    let wanted = json!({ "agentSlugs": [AGENT], "leaseSeconds": 600, "waitSeconds": CLAIM_SECONDS_MAX });
    let claimed = client.post("/api/sessions/claim", &wanted)?;
    let first = &claimed["sessions"][0];
    if first["session"]["id"] != session {
        bail!("{session} was not claimed: {claimed}");
    }
    first["session"]["attempt"].as_u64().ok_or_else(|| anyhow::anyhow!("no attempt in {claimed}"))
}

fn captured(client: &Client) -> Result<Vec<Value>> {
    let started = Instant::now();
    loop {
        let listed = client.get("/api/interactions")?;
        if let Some(items) = listed["items"].as_array().filter(|items| items.len() >= INTERACTIONS) {
            return Ok(items.clone());
        }
        if started.elapsed() > Duration::from_secs(CAPTURE_SECONDS_MAX) {
            bail!("not {INTERACTIONS} interactions within {CAPTURE_SECONDS_MAX} s: {listed}");
        }
        pause(Duration::from_millis(100))?;
    }
}

/// One export of every format in both kinds of files, each in a folder of its own.
fn exports(admin: &Admin, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut made = Vec::new();
    for format in ["sft", "dpo", "kto"] {
        for file_type in ["jsonl", "parquet"] {
            let out = folder.join(format!("{format}-{file_type}"));
            let mut export = admin.command(&["export", "training", "--format", format, "--file-type", file_type]);
            capture(export.args(["--validation-share", "0.3", "--out"]).arg(&out))?;
            made.push(out);
        }
    }
    Ok(made)
}
