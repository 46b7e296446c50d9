//! Ratings of memories over HTTP: from the request in an agent's context to the exported label.

use crate::{
    app::{App, Who, problem},
    interaction::{begin, ended, seen},
};
use reqwest::Method;
use serde_json::{Value, json};

async fn read(app: &App, path: &str) -> Value {
    app.request(Who::Member, Method::GET, path).send().await.unwrap().json().await.unwrap()
}

/// Sends a hook of Claude Code. Returns the context.
async fn hook(app: &App, event: &str, more: Value) -> Option<String> {
    let mut payload = json!({ "session_id": "s", "hook_event_name": event });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = app.post(Who::Member, "/api/hooks/claude-code", payload).await;
    answer["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
}

/// The first id of a memory in a context.
fn memory_in(context: &str) -> String {
    let id = context.split("<item id=\"").nth(1).unwrap();
    id.split('"').next().unwrap().to_owned()
}

/// The request for ratings, word for word as its specification has it.
const SPECIFIED: &str = r#"<memory-feedback>
Rate how useful each injected memory was for your last response.
Respond with ONLY a JSON object mapping memory IDs to scores.
Scale: -1 (actively harmful/misleading) to 1 (directly shaped response).
0 = present but not used. Omit memories you can't evaluate.
Example: {"mem_abc": 0.8, "mem_def": -0.2, "mem_ghi": 0}
</memory-feedback>"#;

/// Writes the document about the launch, and sends a prompt about it. Returns the id of its memory and the session.
async fn prompted(app: &App) -> (String, String) {
    let document = "/api/agents/claude-code/memory/document?path=topics/launch.md";
    let write = json!({ "baseVersion": 0, "text": "# Launch\n\n- The launch is on Friday\n" });
    let written = app.request(Who::Operator, Method::PUT, document).json(&write).send().await.unwrap();
    assert!(written.status().is_success(), "{}", written.text().await.unwrap());
    let context = hook(app, "UserPromptSubmit", json!({ "prompt": "When is the launch?" })).await.unwrap();
    // After the memories come an empty line and the words of the specification: nothing else is added for ratings.
    assert!(context.ends_with(&format!("</item>\n</memory>\n\n{SPECIFIED}")), "{context}");
    let sessions = read(app, "/api/sessions?agentSlug=claude-code").await;
    (memory_in(&context), sessions["items"][0]["id"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ratings_of_memories_are_reported_one_by_one_and_exported_as_labels() {
    let app = App::start();
    let (id, session) = prompted(&app).await;
    let rating = format!("/api/sessions/{session}/memory-feedback");
    let ratings = json!({ "memory_feedback": { &id: 0.5, "mem_ffffffffffff": 1, "b": "good", "c": -7 } });
    let report = app.post(Who::Member, &rating, ratings).await;
    assert_eq!(report["accepted"][0]["id"], id, "{report}");
    assert_eq!((&report["accepted"][0]["score"], &report["notRead"]), (&json!(0.5), &json!(0)));
    let refused: Vec<_> = report["refused"].as_array().unwrap().iter().map(|one| one["reason"].clone()).collect();
    assert_eq!(refused, ["not_a_number", "out_of_range", "not_injected"], "{report}");
    for (body, field) in [
        (json!({ "memory_feedback": [{ &id: 1 }] }), "memory_feedback"),
        (json!({ "memory_feedback": "good" }), "memory_feedback"),
        (json!({ "memory_feedback": null }), "memory_feedback"),
    ] {
        let sent = app.request(Who::Member, Method::POST, &rating).json(&body).send().await.unwrap();
        let (status, problem) = problem(sent).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!(field)), "{problem}");
    }
    let stale = app.request(Who::Member, Method::POST, &rating);
    let stale = stale.json(&json!({ "attempt": 7, "memory_feedback": {} })).send().await.unwrap();
    let (status, problem) = problem(stale).await;
    assert_eq!((status, &problem["code"]), (409, &json!("stale_attempt")));

    let listed = read(&app, &format!("/api/sessions/{session}/memories?limit=1")).await;
    let one = &listed["items"][0];
    assert_eq!((&one["id"], &one["slot"], &one["kind"]), (&json!(id), &json!(1), &json!("topics")), "{listed}");
    assert_eq!((&one["agent_relevance_score"], &one["agent_feedback_count"]), (&json!(0.5), &json!(1)), "{listed}");
    let metrics = app.http.get(format!("{}/metrics", app.url)).send().await.unwrap().text().await.unwrap();
    for line in ["{result=\"accepted\"} 1", "{result=\"not_injected\"} 1", "{result=\"disabled\"} 0"] {
        assert!(metrics.contains(&format!("shiftbook_memory_ratings_total{line}")), "{line}");
    }

    // People see the text and the mean, and rate with plain forms.
    let address = format!("{}/sessions/{session}/memories", app.url);
    let cookie = app.cookie().await;
    let send = async |request: reqwest::RequestBuilder| {
        request.header("cookie", &cookie).header("origin", &app.url).send().await.unwrap()
    };
    let shown = send(app.http.get(&address)).await.text().await.unwrap();
    assert!(shown.contains("The launch is on Friday") && shown.contains("0.50, 1 rating"), "{shown}");
    let rated = send(app.http.post(&address).form(&[("memory", id.as_str()), ("value", "-1")])).await;
    assert_eq!(
        (rated.status().as_u16(), rated.headers()["location"].to_str().unwrap()),
        (303, &address[app.url.len()..])
    );
    let shown = send(app.http.get(&address)).await.text().await.unwrap();
    assert!(shown.contains("-0.25, 2 ratings"), "{shown}");
    // The page of the document has the same figures for its lines, with links to their sessions.
    let document = format!("{}/agents/claude-code/memory?path=topics/launch.md&view=usefulness", app.url);
    let shown = send(app.http.get(document)).await.text().await.unwrap();
    for words in
        ["Too few figures to tell", "Given with 1 prompt in 1 session", "2 ratings in 1 session: -0.25 on average"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(shown.matches(&format!("href=\"/sessions/{session}?before=")).count(), 2, "{shown}");
    // So they do in the transcript, to which they return. Other pages with its rows have no forms.
    let transcript = send(app.http.get(format!("{}/sessions/{session}", app.url))).await.text().await.unwrap();
    let mut fields = transcript.split("name=\"next\" value=\"").filter_map(|part| part.split('"').next());
    let next = fields.find(|next| next.contains("#seq-")).unwrap().to_owned();
    assert!(next.starts_with(&format!("/sessions/{session}")) && transcript.contains("Rate 1 memory"), "{next}");
    for (wanted, returned) in [(next.as_str(), next.as_str()), ("//evil.example", "/today")] {
        let form = [("memory", id.as_str()), ("value", "-1"), ("next", wanted)];
        let rated = send(app.http.post(&address).form(&form)).await;
        assert_eq!((rated.status().as_u16(), rated.headers()["location"].to_str().unwrap()), (303, returned));
    }
    let refused = send(app.http.post(&address).form(&[("memory", "x"), ("value", "1")])).await;
    assert_eq!(refused.status().as_u16(), 422);
    assert!(refused.text().await.unwrap().contains("this rating does not count: not_injected"));

    let folder = tempfile::tempdir().unwrap();
    for (run, file_type) in [("one", "jsonl"), ("two", "jsonl"), ("three", "parquet")] {
        let mut export = app.cli();
        export.args(["export", "labels", "--tenant", "acme", "--file-type", file_type, "--out"]);
        let output = export.arg(folder.path().join(run)).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let file = |run: &str, name: &str| std::fs::read(folder.path().join(run).join(name)).unwrap();
    assert_eq!(file("one", "labels.jsonl"), file("two", "labels.jsonl"));
    assert_eq!(file("one", "manifest.json"), file("two", "manifest.json"));
    assert!(file("three", "labels.parquet").starts_with(b"PAR1"));
    let text = String::from_utf8(file("one", "labels.jsonl")).unwrap();
    let row: Value = serde_json::from_str(text.trim()).unwrap();
    assert_eq!((&row["label"], &row["agent_n"], &row["continuity"]), (&json!(-0.25), &json!(2), &Value::Null), "{row}");
    assert!(!text.contains(&session) && !text.contains("Friday") && !text.contains("launch"), "{text}");

    // The page exports the same file and manifest.
    let (status, job) = begin(&app, &cookie, &[("fileType", "jsonl"), ("step", "labels")]).await;
    assert_eq!(status, 303, "{job}");
    let page = ended(&app, &cookie, &job).await;
    assert!(page.contains("Labels of memories as JSON lines") && page.contains("With a label"), "{page}");
    for (path, name) in [("file", "labels.jsonl"), ("manifest", "manifest.json")] {
        let (status, sent) = seen(&app, &cookie, &format!("{job}/{path}")).await;
        assert_eq!((status, sent.as_bytes()), (200, file("one", name).as_slice()), "{name}");
    }
    let (status, refused) = begin(&app, &cookie, &[("fileType", "csv"), ("step", "labels")]).await;
    assert!(status == 422 && refused.contains("jsonl or parquet"), "{status}: {refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_harmful_memory_waits_in_the_inbox_with_its_figures_and_a_link_to_the_session() {
    let app = App::start();
    let (id, session) = prompted(&app).await;
    for round in 0..3 {
        if round > 0 {
            hook(&app, "UserPromptSubmit", json!({ "prompt": "When is the launch?" })).await.unwrap();
        }
        app.post(
            Who::Member,
            &format!("/api/sessions/{session}/memory-feedback"),
            json!({ "memory_feedback": { &id: -1 } }),
        )
        .await;
    }
    let cookie = app.cookie().await;
    let page = async |path: &str| {
        let sent = app.http.get(format!("{}{path}", app.url)).header("cookie", &cookie).send().await.unwrap();
        sent.text().await.unwrap()
    };
    let inbox = page("/inbox").await;
    assert!(inbox.contains("Memory: topics/launch.md"), "{inbox}");
    let waiting = app.request(Who::Operator, Method::GET, "/api/approvals").send().await.unwrap();
    let waiting: Value = waiting.json().await.unwrap();
    let item = &waiting["items"][0];
    assert_eq!((&item["kind"], &item["task"]["ratings"]["ratings"]), (&json!("memory"), &json!(3)), "{waiting}");
    let shown = page(&format!("/inbox/{}", item["id"].as_str().unwrap())).await;
    assert!(shown.contains("Rated as harmful: -1.00 on average, 3 ratings in 1 session."), "{shown}");
    assert!(shown.contains("<del>- The launch is on Friday</del>"), "{shown}");
    assert!(shown.contains(&format!("href=\"/sessions/{session}?")), "a link to the rated turn: {shown}");
}

/// The names of the members of an object, in order.
fn names(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connector_that_does_not_know_ratings_reads_and_changes_nothing_new() {
    let app = App::start();
    let (_, session) = prompted(&app).await;
    // Hosts refuse members that they do not know, so the request is part of the context.
    let prompt = json!({ "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "When is the launch?" });
    let answer = app.post(Who::Member, "/api/hooks/claude-code", prompt).await;
    assert_eq!(names(&answer), ["hookSpecificOutput"], "{answer}");
    assert_eq!(names(&answer["hookSpecificOutput"]), ["additionalContext", "hookEventName"], "{answer}");
    let stop = json!({ "session_id": "s", "hook_event_name": "Stop", "last_assistant_message": "Let me look." });
    let answer = app.post(Who::Member, "/api/hooks/claude-code", stop).await;
    assert_eq!(answer, json!({}));
    let listed = read(&app, &format!("/api/sessions/{session}/memories")).await;
    let items = listed["items"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{listed}");
    for item in items {
        assert_eq!(
            (&item["agent_relevance_score"], &item["agent_feedback_count"]),
            (&Value::Null, &json!(0)),
            "{item}"
        );
    }
    let metrics = app.http.get(format!("{}/metrics", app.url)).send().await.unwrap().text().await.unwrap();
    let counted = metrics.lines().filter(|line| line.starts_with("shiftbook_memory_ratings_total{"));
    assert!(counted.clone().count() > 0 && counted.clone().all(|line| line.ends_with(" 0")), "{metrics}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ratings_of_others_and_of_other_memories_are_refused_and_change_nothing() {
    let app = App::start();
    let (id, session) = prompted(&app).await;
    let rating = format!("/api/sessions/{session}/memory-feedback");
    let body = json!({ "memory_feedback": { &id: -1 } });
    for (who, status) in [(Who::Anonymous, 401), (Who::Stranger, 404), (Who::OtherMember, 403)] {
        let sent = app.request(who, Method::POST, &rating).json(&body).send().await.unwrap();
        assert_eq!(sent.status().as_u16(), status, "{who:?}");
    }
    // The session of another workspace has the same name, and was not given this memory.
    let prompt = json!({ "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "When is the launch?" });
    app.post(Who::Stranger, "/api/hooks/claude-code", prompt).await;
    let theirs = app.request(Who::Stranger, Method::GET, "/api/sessions?agentSlug=claude-code").send().await.unwrap();
    let theirs: Value = theirs.json().await.unwrap();
    let theirs = format!("/api/sessions/{}/memory-feedback", theirs["items"][0]["id"].as_str().unwrap());
    let report = app.post(Who::Stranger, &theirs, body).await;
    assert_eq!(
        (&report["accepted"], &report["refused"][0]["reason"]),
        (&json!([]), &json!("not_injected")),
        "{report}"
    );
    let listed = read(&app, &format!("/api/sessions/{session}/memories")).await;
    assert_eq!(listed["items"][0]["agent_feedback_count"], 0, "{listed}");
}
