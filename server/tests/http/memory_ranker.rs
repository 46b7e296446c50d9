//! The order of memories is learned from a file of labels, and telemetry answered, with the program beside its server.

use crate::{
    app::{App, Who},
    interaction::seen,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{fmt::Write as _, process::Output};

/// A file of labels in which short memories are useful, and long ones are not.
fn labels(sessions: u64) -> String {
    let mut lines = String::new();
    for session in 0..sessions {
        for candidate in 0..6_u64 {
            let is_short = (session * 7 + candidate * 5).is_multiple_of(3);
            let value = if is_short { 1.0 } else { -1.0 };
            let line = json!({
                "id": format!("00000000-0000-7000-8000-{session:06x}{candidate:06x}"),
                "tenant": "00000000-0000-7000-8000-000000000000", "session_hmac": format!("{session:064x}"), "turn": 3,
                "memory_version": 1, "query_group": format!("00000000-0000-7000-9000-{session:012x}"),
                "bm25": (6 - candidate) as f64, "recency_d": 3.0, "importance": 0.5, "uses_30d": 0,
                "same_person": false, "same_channel": false, "kind": "topics", "tokens": if is_short { 12 } else { 120 },
                "rank": candidate + 1, "slot": candidate + 1, "injected": true, "propensity": 1.0, "holdout": false,
                "agent_mean": value, "agent_n": 1, "use_hits": u64::from(is_short), "continuity": null, "label": value,
                "weight": 0.5, "ranker_version": "formula-1",
            });
            writeln!(lines, "{line}").unwrap();
        }
    }
    lines
}

fn run(app: &App, arguments: &[&str]) -> Output {
    app.cli().args(arguments).args(["--tenant", "acme"]).output().unwrap()
}

fn printed(app: &App, arguments: &[&str]) -> String {
    let output = run(app, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ranker_is_trained_from_a_file_and_telemetry_is_answered_beside_the_server() {
    let app = App::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("labels.jsonl");
    let file = file.to_str().unwrap();
    std::fs::write(file, labels(120)).unwrap();
    assert!(printed(&app, &["memory", "rankers"]).contains("the formula orders memories"));
    let dry = printed(&app, &["memory", "train", "--labels", file, "--dry-run"]);
    assert!(dry.starts_with("720 memories with a label\n") && dry.contains("nothing is stored"), "{dry}");
    assert!(printed(&app, &["memory", "rankers"]).contains("no model was trained"));
    let trained = printed(&app, &["memory", "train", "--labels", file]);
    assert!(trained.contains("stored as version 1") && trained.contains("NDCG@5"), "{trained}");
    assert!(printed(&app, &["memory", "rankers"]).trim_end().ends_with("in use"));
    printed(&app, &["memory", "use-ranker", "formula"]);
    assert!(printed(&app, &["memory", "rankers"]).trim_end().ends_with("usable"));
    printed(&app, &["memory", "use-ranker", "1"]);
    let refused = run(&app, &["memory", "use-ranker", "7"]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("no such version"));
    std::fs::write(file, labels(20)).unwrap();
    assert!(printed(&app, &["memory", "train", "--labels", file]).contains("50 sessions or fewer"));

    assert_eq!(printed(&app, &["telemetry", "status"]), "off: no one has answered yet\n");
    assert!(!run(&app, &["telemetry", "show"]).status.success());
    let answered = app.post(Who::Admin, "/api/telemetry/opt-in", json!({ "enabled": true })).await;
    assert_eq!((&answered["enabled"], &answered["isForbidden"]), (&json!(true), &json!(false)), "{answered}");
    assert!(printed(&app, &["telemetry", "status"]).starts_with("on"));
    assert_eq!(printed(&app, &["telemetry", "show"]), "", "nothing was considered");
    assert_eq!(printed(&app, &["telemetry", "off"]), "off\n");
    let request = app.request(Who::Admin, Method::POST, "/api/telemetry/opt-in").json(&json!({ "enabled": true }));
    let refused = request.send().await.unwrap();
    assert_eq!(refused.status(), 422);
    let problem: Value = refused.json().await.unwrap();
    assert_eq!(problem["errors"][0]["field"], "enabled", "{problem}");
    // A person may turn a no into a yes, with the form of the settings.
    let cookie = app.cookie().await;
    for (fields, now) in [(vec![("enabled", "yes")], "Numbers are shared."), (Vec::new(), "Nothing is shared.")] {
        let form = app.http.post(format!("{}/settings/telemetry", app.url)).header("cookie", &cookie);
        let saved = form.header("origin", &app.url).form(&fields).send().await.unwrap();
        assert_eq!(saved.status(), 303);
        let (_, page) = seen(&app, &cookie, "/settings").await;
        assert!(page.contains(now), "{now}: {page}");
    }
}
