//! What reviewers do with proposals of the memory writer becomes training data: from a conversation over the review to
//! the exported pair, by the public surface alone.

use crate::{
    app::{App, Who},
    interaction::{captured, exported, get},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{
    Engine,
    model::{ScriptedModel, ScriptedReply},
};

const SAID: &str = "The launch is on Friday. Ann presents.";
const PROPOSED: &str = "# Launch\n\n- It is on Friday\n";
const EDITED: &str = "# Launch\n\n- It is on Friday, Ann presents\n";
const MADE_UP: &str = "# Budget\n\n- There is no limit\n";

/// An answer of the model with two new topics.
fn answer() -> ScriptedReply {
    let topic = |path: &str, body: &str| {
        json!({ "op": "create", "path": path, "heading": [], "base_sha256": null, "body": body,
            "evidence": [{ "session": "s1", "sequence": 2 }], "reason": "Said." })
    };
    let ops = [topic("topics/budget.md", MADE_UP), topic("topics/launch.md", PROPOSED)];
    let answer = json!({ "schema": 1, "nothing": false, "summary": null, "ops": ops });
    ScriptedReply::Text(answer.to_string().leak())
}

/// Settings with a memory writer for the agent `scout`.
pub fn settings(model: &ScriptedModel) -> String {
    let url = &model.base_url;
    let memory = format!("[memory]\nwire = \"openai\"\nbase_url = \"{url}\"\nmodel = \"small\"\n");
    format!("{memory}[memory.agents.scout]\nworkspace = \"acme\"\n")
}

/// Waits for the proposals of the writer. Returns id and session of each, by title.
pub async fn proposals(app: &App, count: usize) -> Vec<(String, String)> {
    for _ in 0..1_500 {
        let open = get(app, "/api/approvals?assignedTo=all&kind=memory").await;
        let mut items = open["items"].as_array().unwrap().clone();
        if items.len() == count {
            items.sort_by_key(|item| item["title"].to_string());
            let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
            return items.iter().map(|item| (text(item, "id"), text(item, "sessionId"))).collect();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("there are no {count} proposals: {}", app.log())
}

/// Decides a proposal as the person with this cookie.
pub async fn decide(app: &App, cookie: &str, approval: &str, decision: &Value) {
    let sent = app.http.post(format!("{}/api/approvals/{approval}/decision", app.url));
    let sent = sent.header("cookie", cookie).header("sec-fetch-site", "same-origin").json(decision);
    let answer = sent.send().await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
}

async fn reviews_become_pairs(app: &App, model: &ScriptedModel) {
    model.then([answer()]);
    let cookie = app.cookie().await;
    let patch = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&json!({ "undoSeconds": 0 }));
    assert!(patch.send().await.unwrap().status().is_success());
    crate::writer_kill::talked_of(app, "scout", SAID).await;
    let items = proposals(app, 2).await;
    let [(budget, budget_session), (launch, launch_session)] = items.as_slice() else { panic!("{items:?}") };
    decide(app, &cookie, budget, &json!({ "decision": "deny", "note": "Nobody said so." })).await;
    decide(app, &cookie, launch, &json!({ "decision": "edit", "value": { "body": EDITED } })).await;
    let judged = captured(app, launch_session, 1).await.remove(0)["feedback"].clone();
    assert_eq!((&judged["feedback"], &judged["source"]), (&json!("positive"), &json!("memory_writer")), "{judged}");
    let judged = captured(app, budget_session, 1).await.remove(0)["feedback"].clone();
    assert_eq!((&judged["feedback"], &judged["source"]), (&json!("negative"), &json!("memory_writer")), "{judged}");

    let (rows, manifest) = exported(app, &["--format", "dpo", "--source", "memory_writer"]);
    assert_eq!(manifest["bySource"]["memory_writer"], 2, "{manifest}");
    let [pair] = rows.as_slice() else { panic!("one proposal was edited: {rows:?}") };
    let text = |name: &str| pair[name][0]["content"].as_str().unwrap().to_owned();
    assert!(text("chosen").contains("Ann presents") && !text("rejected").contains("Ann presents"), "{pair}");
    assert!(text("rejected").contains("It is on Friday"), "{pair}");
    assert!(pair["prompt"].to_string().contains(SAID), "{pair}");
    // The denied proposal is a bad answer, the edited text a good one, and the text that was edited a bad one.
    let (rows, _) = exported(app, &["--format", "kto", "--source", "memory_writer"]);
    let bad: Vec<String> = rows.iter().filter(|row| row["label"] == false).map(Value::to_string).collect();
    assert_eq!((rows.len(), bad.len()), (3, 2), "{rows:?}");
    assert_eq!(bad.iter().filter(|row| row.contains("There is no limit")).count(), 1, "{bad:?}");
    let (rows, _) = exported(app, &["--format", "sft", "--source", "memory_writer"]);
    assert!(rows.len() == 1 && rows[0].to_string().contains("Ann presents"), "{rows:?}");
    let (rows, _) = exported(app, &["--format", "kto", "--source", "reviewer"]);
    assert!(rows.is_empty(), "proposals are a source of their own: {rows:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edited_and_a_denied_proposal_are_exported_as_training_data_on_sqlite() {
    let model = ScriptedModel::start([]).await;
    let app = App::start_with(&settings(&model), &[], &[]);
    reviews_become_pairs(&app, &model).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edited_and_a_denied_proposal_are_exported_as_training_data_on_postgresql() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    let key = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(key.path(), format!("{}\n", testkit::INSTANCE_KEY)).unwrap();
    let key = key.path().to_str().unwrap();
    let model = ScriptedModel::start([]).await;
    let variables = [("SHIFTBOOK_DATABASE_URL", url.as_str()), ("SHIFTBOOK_INSTANCE_KEY_FILE", key)];
    let app = App::start_with(&settings(&model), &[], &variables);
    reviews_become_pairs(&app, &model).await;
    drop(app);
    engine.discard().await;
}
