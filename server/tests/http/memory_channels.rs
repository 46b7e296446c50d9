//! An agent talks with three people on three channels. One run of its memory writer proposes three changes, and what
//! reviewers accept of them is what the next conversation begins with.

use crate::{
    app::{App, Who},
    interaction::{get, seen},
    memory_training::{decide, proposals, settings},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{
    Engine,
    model::{ScriptedModel, ScriptedReply},
};

/// Longest time from the end of a conversation to its proposals.
const PROPOSED_WITHIN: Duration = Duration::from_secs(60);

/// What a person says on a channel, and the document that the model makes of it.
struct Talk {
    channel: Value,
    author: Value,
    said: &'static str,
    path: &'static str,
    body: &'static str,
}

/// In the order of their documents.
fn talks() -> [Talk; 3] {
    [
        Talk {
            channel: json!({ "platform": "discord", "id": "7", "name": "general", "kind": "text" }),
            author: json!({ "platform": "discord", "id": "1001", "name": "Ada" }),
            said: "I present the launch.",
            path: "people/discord-1001.md",
            body: "# Ada\n\n- Presents the launch\n",
        },
        Talk {
            channel: json!({ "platform": "slack", "id": "C2", "name": "reports", "kind": "thread", "parent": "team" }),
            author: json!({ "platform": "slack", "id": "u2", "name": "Ben" }),
            said: "Keep reports short for me, please.",
            path: "people/slack-u2.md",
            body: "# Ben\n\n- Wants short reports\n",
        },
        Talk {
            channel: json!({ "platform": "telegram", "id": "9", "name": "Cleo", "kind": "dm" }),
            author: json!({ "platform": "telegram", "id": "9", "name": "Cleo" }),
            said: "The launch is on Friday.",
            path: "topics/launch.md",
            body: "# Launch\n\n- It is on Friday\n",
        },
    ]
}

/// The document of the last talk as the reviewer wants it.
const EDITED: &str = "# Launch\n\n- It is on Friday at nine\n";

/// Sends a message of a person, and answers it as the agent. Returns the sequence of the message and the context that
/// the agent was given.
async fn turn(app: &App, id: &str, author: &Value, text: &str) -> (u64, Value) {
    let message = json!({ "text": text, "author": author });
    let sent = app.post(Who::Operator, &format!("/api/threads/{id}/messages"), message).await;
    let claim = json!({ "agentSlugs": ["scout"], "leaseSeconds": 3600 });
    let mut claimed = app.post(Who::Worker, "/api/sessions/claim", claim).await["sessions"][0].take();
    assert_eq!(claimed["session"]["id"], id);
    let attempt = claimed["attempt"].as_u64().unwrap();
    let reply = json!({ "attempt": attempt, "events": [{ "type": "agent.message", "content": "Noted." }] });
    app.post(Who::Worker, &format!("/api/sessions/{id}/events"), reply).await;
    app.post(Who::Worker, &format!("/api/sessions/{id}/yield"), json!({ "attempt": attempt, "status": "idle" })).await;
    (sent["sequence"].as_u64().unwrap(), claimed["context"].take())
}

async fn start(app: &App, channel: &Value) -> String {
    let new = json!({ "agent": "scout", "channel": channel });
    app.post(Who::Operator, "/api/threads", new).await["id"].as_str().unwrap().to_owned()
}

/// An answer of the model: one new document for each talk, from the turn of that talk.
fn answer(talks: &[Talk], said: &[(String, u64)]) -> ScriptedReply {
    let ops: Vec<Value> = talks
        .iter()
        .zip(said)
        .map(|(talk, (session, sequence))| {
            json!({ "op": "create", "path": talk.path, "heading": [], "base_sha256": null, "body": talk.body,
                "evidence": [{ "session": session, "sequence": sequence }], "reason": "Said." })
        })
        .collect();
    let answer = json!({ "schema": 1, "nothing": false, "summary": null, "ops": ops });
    ScriptedReply::Text(answer.to_string().leak())
}

/// Waits until a document exists, and returns its text.
async fn written(app: &App, path: &str) -> String {
    let path = format!("/api/agents/scout/memory/document?path={path}");
    for _ in 0..1_500 {
        let answer = app.request(Who::Operator, Method::GET, &path).send().await.unwrap();
        if answer.status().is_success() {
            return answer.json::<Value>().await.unwrap()["text"].as_str().unwrap().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{path} was not written: {}", app.log())
}

async fn three_channels_teach_one_agent(app: &App, model: &ScriptedModel) {
    let cookie = app.cookie().await;
    let patch = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&json!({ "undoSeconds": 0 }));
    assert!(patch.send().await.unwrap().status().is_success());
    let talks = talks();
    let mut said = Vec::new();
    for talk in &talks {
        let id = start(app, &talk.channel).await;
        let (sequence, _) = turn(app, &id, &talk.author, talk.said).await;
        said.push((id, sequence));
    }
    // The first channel continues after the others, so the channels interleave.
    turn(app, &said[0].0, &talks[0].author, "That is all for today.").await;
    model.then([answer(&talks, &said)]);
    let ended = Instant::now();
    app.post(Who::Operator, &format!("/api/threads/{}/end", said[0].0), json!({ "feedback": "skip" })).await;
    let items = proposals(app, 3).await;
    assert!(ended.elapsed() < PROPOSED_WITHIN, "{:?}", ended.elapsed());

    let asked = model.requests();
    assert_eq!(asked.len(), 1, "interleaved channels of one agent are one window");
    let prompt = asked[0].body.to_string();
    for text in ["- #general", "- #team -> reports", "- DM:Cleo", "That is all for today."] {
        assert!(prompt.contains(text), "{text}: {prompt}");
    }
    let runs = get(app, "/api/agents/scout/memory/runs").await;
    let run = &runs["items"][0];
    assert_eq!((&run["cause"], &run["state"]), (&json!("end"), &json!("succeeded")), "{runs}");
    assert_eq!((&run["turns"], &run["proposals"]), (&json!(8), &json!(3)), "{runs}");
    assert_eq!(run["window"].as_array().unwrap().len(), 3, "{runs}");
    let (_, page) = seen(app, &cookie, "/agents/scout").await;
    let writer = page.split_once("Memory writer</dt>").expect("the writer's figures").1;
    assert!(writer.split("</div>").next().unwrap().contains("1 run"), "{page}");

    for (((approval, _), talk), (session, sequence)) in items.iter().zip(&talks).zip(&said) {
        let mut detail = get(app, &format!("/api/approvals/{approval}")).await;
        let quoted = json!([talk.author["name"], "person", talk.said]);
        let turn = &detail["turns"][0];
        assert_eq!(json!([turn["speaker"], turn["taint"], turn["text"]]), quoted, "{detail}");
        let shown = detail["approval"].take();
        let task = &shown["task"];
        assert_eq!((&task["path"], &task["values"]["body"]), (&json!(talk.path), &json!(talk.body)), "{shown}");
        let origin = |line: u32| json!({ "line": line, "session": session, "sequence": sequence });
        assert_eq!(task["evidence"], json!([origin(1), origin(3)]), "every line that is not blank has its turn");
        assert_eq!(shown["flags"], json!([]), "{shown}");
        let (status, page) = seen(app, &cookie, &format!("/inbox/{approval}")).await;
        let turn = format!("/sessions/{session}?before={}#seq-{sequence}", sequence + 100);
        assert!(status == 200 && page.contains(&turn), "{status} {page}");
        assert!(page.contains(&format!("{}</q>", talk.said)), "the words beside the line: {page}");
    }
    let edit = json!({ "decision": "edit", "value": { "body": EDITED } });
    for ((approval, _), decision) in
        items.iter().zip([json!({ "decision": "approve" }), json!({ "decision": "approve" }), edit])
    {
        decide(app, &cookie, approval, &decision).await;
    }
    for (talk, text) in talks.iter().zip([talks[0].body, talks[1].body, EDITED]) {
        assert_eq!(written(app, talk.path).await, text);
    }
    let blame = get(app, "/api/agents/scout/memory/blame?path=topics/launch.md").await;
    let lines = blame["lines"].as_array().unwrap();
    let edited = lines.iter().find(|line| line["text"].as_str().unwrap().contains("at nine")).unwrap();
    let origin = &edited["evidence"][0];
    assert_eq!((&origin["session"], &origin["sequence"]), (&json!(said[2].0), &json!(said[2].1)), "{blame}");

    let next = start(app, &talks[0].channel).await;
    let asks = "Who presents the launch, and does Ben still want short reports?";
    let (_, context) = turn(app, &next, &talks[0].author, asks).await;
    let context = context.as_str().unwrap();
    assert!(context.contains("<memory untrusted=\"true\">"), "{context}");
    for line in ["- Presents the launch\n", "- It is on Friday at nine\n"] {
        assert!(context.contains(line), "{line}: {context}");
    }
    assert!(!context.contains("Wants short reports"), "what is remembered of one person is not given to another");
    assert_eq!(model.received(), 1, "conversations without new turns are no window");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_three_channels_taught_begins_the_next_conversation_on_sqlite() {
    let model = ScriptedModel::start([]).await;
    let app = App::start_with(&settings(&model), &[], &[]);
    three_channels_teach_one_agent(&app, &model).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_three_channels_taught_begins_the_next_conversation_on_postgresql() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    let key = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(key.path(), format!("{}\n", testkit::INSTANCE_KEY)).unwrap();
    let key = key.path().to_str().unwrap();
    let model = ScriptedModel::start([]).await;
    let variables = [("SHIFTBOOK_DATABASE_URL", url.as_str()), ("SHIFTBOOK_INSTANCE_KEY_FILE", key)];
    let app = App::start_with(&settings(&model), &[], &variables);
    three_channels_teach_one_agent(&app, &model).await;
    drop(app);
    engine.discard().await;
}
