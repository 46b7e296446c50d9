//! Exports from files, and exports whose ratings cannot be read.

use crate::{
    app::{App, Who, binary, terminate},
    interaction::{asked_once, begin, captured, ended, seen},
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Write as _,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

fn line(workspace: &str, id: &str, answer: &str) -> String {
    let prompt = json!([{ "role": "user", "content": "Which port?" }]);
    let line = json!({
        "id": id, "timestamp": "2026-02-26T00:00:00Z", "tenant_id": workspace, "session_id": "s", "prompt": prompt,
        "response": answer,
    });
    format!("{line}\n")
}

fn export(app: &App, from: Option<&Path>, more: &[&str]) -> (Output, tempfile::TempDir) {
    let out = tempfile::tempdir().unwrap();
    let mut command = app.cli();
    command.args(["export", "training", "--format", "sft", "--min-feedback", "none", "--out"]).arg(out.path());
    if let Some(from) = from {
        command.arg("--from").arg(from);
    }
    (command.args(more).output().unwrap(), out)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_folder_is_refused_with_its_name() {
    let app = App::start();
    let data = tempfile::tempdir().unwrap();
    let missing = data.path().join("nowhere");
    fs::write(data.path().join("file"), "").unwrap();
    for (from, why) in [
        (missing.as_path(), "nowhere: there is no such folder"),
        (
            data.path(),
            "datalake/01-raw/interactions: there is no such folder; --from names the folder that holds `datalake`",
        ),
        (&data.path().join("file"), "file: not a folder"),
    ] {
        let (refused, out) = export(&app, Some(from), &[]);
        let stderr = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && stderr.contains(why), "{stderr}");
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "nothing is exported");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_chosen_by_time_and_agent_and_sessions_are_set_aside_for_validation() {
    let app = App::start();
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("datalake/01-raw/interactions");
    fs::create_dir_all(&folder).unwrap();
    let answer = |number: u32| {
        let (day, agent) = (number % 28 + 1, if number.is_multiple_of(2) { "scout" } else { "writer" });
        let line = json!({
            "id": format!("{number:03}"), "timestamp": format!("2026-02-{day:02}T12:00:00Z"), "tenant_id": "w",
            "session_id": format!("s{number}"), "agent": agent, "response": format!("It is {number}."),
            "prompt": [{ "role": "user", "content": "Which number?" }],
        });
        format!("{line}\n")
    };
    fs::write(folder.join("interactions_2026-02-28_aa.jsonl"), (0..56).map(answer).collect::<String>()).unwrap();
    let rows = |out: &tempfile::TempDir, name: &str| fs::read_to_string(out.path().join(name)).unwrap().lines().count();
    for (more, count) in [
        (&["--since", "2026-02-15"][..], 28),
        (&["--until", "2026-02-15T00:00:00Z", "--agent", "scout"], 14),
        (&["--agent", "scout", "--agent", "writer"], 56),
        (&["--action", "0193b0a0-0000-7000-8000-0000000000aa"], 0),
    ] {
        let (output, out) = export(&app, Some(data.path()), more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(rows(&out, "sft.jsonl"), count, "{more:?}");
    }
    let (output, out) = export(&app, Some(data.path()), &["--validation-share", "0.25", "--min-confidence", "800"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (train, validation) = (rows(&out, "sft.jsonl"), rows(&out, "sft-validation.jsonl"));
    assert!(train + validation == 56 && (4..28).contains(&validation), "{train} {validation}");
    for wrong in [["--validation-share", "2"], ["--since", "yesterday"], ["--min-confidence", "1001"]] {
        let (output, _) = export(&app, Some(data.path()), &wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
    let (output, _) = export(&app, Some(data.path()), &["--action", "none-such"]);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && why.contains("--action none-such: not an id"), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn actions_are_named_by_slug_or_id_and_an_unknown_one_is_refused_by_the_command_and_on_the_page() {
    let app = App::start();
    let new = json!({ "name": "Find the port", "slug": "find-port", "agentSlug": "scout" });
    let id = app.post(Who::Operator, "/api/actions", new).await["id"].as_str().unwrap().to_owned();
    for name in ["find-port", id.as_str()] {
        let (output, out) = export(&app, None, &["--tenant", "acme", "--action", name]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let manifest: Value = serde_json::from_slice(&fs::read(out.path().join("manifest.json")).unwrap()).unwrap();
        assert_eq!(manifest["filter"]["actions"], json!([id]));
    }
    let (output, out) = export(&app, None, &["--tenant", "acme", "--action", "find-prot"]);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && why.contains("\"find-prot\" is neither the slug nor the id"), "{why}");
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "nothing is left behind");

    let cookie = app.cookie().await;
    let chosen = |actions: &'static str| {
        [("format", "sft"), ("fileType", "jsonl"), ("source.manual", "on"), ("actions", actions), ("step", "preview")]
    };
    let (status, page) = begin(&app, &cookie, &chosen("find-port, find-prot")).await;
    assert_eq!(status, 422, "{page}");
    assert!(page.contains("&quot;find-prot&quot; is neither") || page.contains("\"find-prot\" is neither"), "{page}");
    let (status, made) = begin(&app, &cookie, &chosen("find-port")).await;
    assert_eq!(status, 303, "{made}");
    ended(&app, &cookie, &made).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_chooses_by_time_and_agent_and_offers_the_rows_for_validation_in_a_file_of_their_own() {
    // Sessions are set aside by their random ids. With half of 16, none or all of them are in one of 30,000 runs.
    const SESSIONS: usize = 16;
    let app = App::start();
    let cookie = app.cookie().await;
    let mut asked = Vec::new();
    for number in 0..SESSIONS {
        asked.push(asked_once(&app, &format!("Which port, number {number}?"), "5432").await);
    }
    for session in &asked {
        captured(&app, session, 1).await;
    }
    let all = [
        ("format", "sft"),
        ("fileType", "jsonl"),
        ("minFeedback", "none"),
        ("source.manual", "on"),
        ("step", "export"),
    ];
    for (more, count) in [
        (&[("since", "2999-01-01")][..], 0),
        (&[("until", "2000-01-01")], 0),
        (&[("since", "2000-01-01"), ("until", "2999-01-01")], SESSIONS),
        (&[("agents", "writer")], 0),
        (&[("agents", "writer, scout")], SESSIONS),
    ] {
        let (status, made) = begin(&app, &cookie, &[&all[..], more].concat()).await;
        assert_eq!(status, 303, "{more:?}: {made}");
        ended(&app, &cookie, &made).await;
        let manifest: Value = serde_json::from_str(&seen(&app, &cookie, &format!("{made}/manifest")).await.1).unwrap();
        assert_eq!(manifest["counts"]["rows"], count, "{more:?}: {manifest}");
        let none = seen(&app, &cookie, &format!("{made}/file?split=validation")).await;
        assert_eq!(none.0, 404, "no sessions are set aside unless asked for");
    }
    let (status, made) = begin(&app, &cookie, &[&all[..], &[("validationShare", "0.5")]].concat()).await;
    assert_eq!(status, 303, "{made}");
    let page = ended(&app, &cookie, &made).await;
    assert!(page.contains("Download sft.jsonl") && page.contains("Download sft-validation.jsonl"), "{page}");
    let mut rows = BTreeSet::new();
    for split in ["", "?split=validation"] {
        let head = app.http.head(format!("{}{made}/file{split}", app.url)).header("cookie", &cookie);
        assert_eq!(head.send().await.unwrap().status(), 200, "{split}");
        let (status, file) = seen(&app, &cookie, &format!("{made}/file{split}")).await;
        assert!(status == 200 && file.lines().count() > 0, "{split}: {status} {file}");
        rows.extend(file.lines().map(str::to_owned));
    }
    assert_eq!(rows.len(), SESSIONS, "each row is in one of the files");
    let entries = app.request(Who::Admin, Method::GET, "/api/audit?kind=export.downloaded").send().await.unwrap();
    let entries: Value = entries.json().await.unwrap();
    let files: Vec<_> = entries["items"].as_array().unwrap().iter().map(|entry| &entry["detail"]["file"]).collect();
    assert_eq!(
        files,
        ["sft-validation.jsonl", "sft.jsonl"],
        "each download is in the audit list, and no HEAD: {entries}"
    );
}

/// A turn of the conversation: the context of the model, a tool call with its result, and the answer.
async fn turn_with_tools(app: &App, thread: &str, word: &str) {
    let tool = json!({ "type": "function", "function": { "name": "find", "description": word } });
    let context = json!({ "modelContext": { "system": format!("Be {word}."), "tools": [tool] } });
    let part = |part: Value| json!([part]);
    let call = json!({ "type": "tool-call", "toolCallId": "c1", "toolName": "find", "input": { "of": word } });
    let found = json!({ "type": "tool-result", "toolCallId": "c1", "toolName": "find", "output": { "found": word } });
    let events = json!([
        { "type": "agent.tool_call", "content": part(call), "metadata": context },
        { "type": "agent.tool_result", "content": part(found) },
        { "type": "agent.message", "content": "Found." },
    ]);
    let claimed = app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
    assert_eq!(claimed["sessions"][0]["session"]["id"], thread);
    app.post(Who::Worker, &format!("/api/sessions/{thread}/events"), json!({ "attempt": 1, "events": events })).await;
    app.post(Who::Worker, &format!("/api/sessions/{thread}/yield"), json!({ "attempt": 1, "status": "idle" })).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_has_what_the_model_was_given_and_nothing_of_incognito_conversations() {
    let app = App::start();
    for (word, incognito) in [("hushed", true), ("brief", false)] {
        let new = json!({ "agent": "scout", "message": format!("Which {word} one?"), "incognito": incognito });
        let thread = app.post(Who::Member, "/api/threads", new).await["id"].as_str().unwrap().to_owned();
        turn_with_tools(&app, &thread, word).await;
        if !incognito {
            captured(&app, &thread, 1).await;
        }
    }
    let (output, out) = export(&app, None, &["--tenant", "acme"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(out.path().join("sft.jsonl")).unwrap();
    assert!(text.lines().count() == 1 && !text.contains("hushed"), "{text}");
    let row: Value = serde_json::from_str(&text).unwrap();
    let call =
        json!({ "id": "c1", "type": "function", "function": { "name": "find", "arguments": { "of": "brief" } } });
    let messages = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "Which brief one?" },
        { "role": "assistant", "content": "", "tool_calls": [call] },
        { "role": "tool", "content": "{\"found\":\"brief\"}", "tool_call_id": "c1", "name": "find" },
        { "role": "assistant", "content": "Found." },
    ]);
    assert_eq!(row["messages"], messages);
    assert_eq!(row["tools"][0]["function"]["name"], "find");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_several_workspaces_are_exported_one_by_one_or_not_at_all() {
    let app = App::start();
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("datalake/01-raw/interactions");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("interactions_2026-02-26_aa.jsonl"), line("w1", "a", "5432") + &line("w2", "b", "3306"))
        .unwrap();
    fs::write(folder.join("interactions_2026-02-27_aa.jsonl"), line("w1", "c", "5433")).unwrap();
    let rows = |out: &tempfile::TempDir| fs::read_to_string(out.path().join("sft.jsonl")).unwrap();
    for (more, exit, words) in [
        (&[][..], 2, "have data of 2 workspaces"),
        (&["--tenant", "w3"], 2, "no data of workspace w3"),
        (&["--tenant", "w2"], 0, ""),
        (&["--workspace", "w1"], 0, ""),
    ] {
        let (output, out) = export(&app, Some(data.path()), more);
        let why = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(exit), "{more:?}: {why}");
        assert!(why.contains(words), "{why}");
        match more {
            [_, "w1"] => assert!(rows(&out).lines().count() == 2 && !rows(&out).contains("3306"), "{}", rows(&out)),
            [_, "w2"] => assert!(rows(&out).lines().count() == 1 && rows(&out).contains("3306"), "{}", rows(&out)),
            _ => assert!(
                why.contains("w1 (2)") && why.contains("w2 (1)") && !out.path().join("sft.jsonl").exists(),
                "{why}"
            ),
        }
    }
    // Feedback on answers of other workspaces is left out, and is not counted as an orphan. An old line does not name
    // its workspace.
    let feedback = data.path().join("datalake/01-raw/feedback");
    fs::create_dir_all(&feedback).unwrap();
    let mark = |workspace: Option<&str>, id: &str| {
        let mut line = json!({
            "record_id": id, "feedback": "positive", "timestamp": "2026-02-26T00:00:01Z", "source": "manual",
        });
        if let Some(workspace) = workspace {
            line["tenant_id"] = json!(workspace);
        }
        format!("{line}\n")
    };
    let marks = [mark(Some("w1"), "a"), mark(Some("w1"), "c"), mark(Some("w2"), "b"), mark(None, "b"), mark(None, "a")];
    fs::write(feedback.join("2026-02-26_feedback.jsonl"), marks.concat()).unwrap();
    for (workspace, positive) in [("w1", 2), ("w2", 1)] {
        let (output, out) = export(&app, Some(data.path()), &["--tenant", workspace]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let manifest: Value = serde_json::from_slice(&fs::read(out.path().join("manifest.json")).unwrap()).unwrap();
        let counts = &manifest["counts"];
        // Only the old line about the other workspace's answer counts as an orphan, because it does not name its
        // workspace.
        assert_eq!((&counts["positive"], &counts["orphans"]), (&json!(positive), &json!(1)), "{manifest}");
    }
    // With files of one workspace, `--tenant` is not needed.
    fs::write(folder.join("interactions_2026-02-26_aa.jsonl"), line("w1", "a", "5432")).unwrap();
    let (output, out) = export(&app, Some(data.path()), &[]);
    assert!(output.status.success() && rows(&out).lines().count() == 2, "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_of_an_unknown_workspace_leave_no_file() {
    let app = App::start();
    let out = tempfile::tempdir().unwrap();
    let refused = app.cli().args(["export", "raw", "--tenant", "none-such", "--out"]).arg(out.path()).output().unwrap();
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && why.contains("workspace not found"), "{why}");
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "the corrected command finds no file in its way");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_are_written_as_a_whole_or_not_at_all() {
    let app = App::start();
    let out = tempfile::tempdir().unwrap();
    let raw = out.path().join("datalake/01-raw");
    let there = raw.join("outcomes/acme_outcomes.jsonl");
    fs::create_dir_all(raw.join("outcomes")).unwrap();
    fs::write(&there, "an earlier one").unwrap();
    let run = || app.cli().args(["export", "raw", "--tenant", "acme", "--out"]).arg(out.path()).output().unwrap();
    let refused = run();
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(1) && why.contains("acme_outcomes.jsonl"), "{why}");
    assert!(!raw.join("interactions").exists() && !raw.join("feedback").exists());
    assert_eq!(fs::read_to_string(&there).unwrap(), "an earlier one");
    fs::remove_file(&there).unwrap();
    let done = run();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for file in ["interactions/interactions_acme.jsonl", "feedback/acme_feedback.jsonl", "outcomes/acme_outcomes.jsonl"]
    {
        assert!(raw.join(file).exists(), "{file}");
    }
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(&raw).unwrap().count(), 3, "the temporary folder is left behind");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_are_written_where_datalake_is_on_another_file_system() {
    let app = App::start();
    // The first is in memory and the second is not, wherever other temporary files are.
    let [out, elsewhere] = ["/dev/shm", "/var/tmp"].map(|folder| tempfile::tempdir_in(folder).unwrap());
    symlink(elsewhere.path(), out.path().join("datalake")).unwrap();
    let done = app.cli().args(["export", "raw", "--tenant", "acme", "--out"]).arg(out.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(elsewhere.path().join("01-raw/outcomes/acme_outcomes.jsonl").exists());
}

/// A folder for streams, and the path of a file of interactions in it, which does not exist yet.
fn streams() -> (tempfile::TempDir, PathBuf) {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("datalake/01-raw/interactions");
    fs::create_dir_all(&folder).unwrap();
    (data, folder.join("interactions_2026-02-26_aa.jsonl"))
}

#[test]
fn a_folder_with_messages_that_a_killed_export_left_is_refused_with_its_name() {
    let (data, stream) = streams();
    fs::write(stream, line("w", "a", "5432")).unwrap();
    for name in ["export-abc", "datalake/01-raw/export-abc"] {
        let out = tempfile::tempdir().unwrap();
        let left = out.path().join(name).join("datalake/01-raw/interactions");
        fs::create_dir_all(&left).unwrap();
        fs::write(left.join("x.jsonl"), line("w", "a", "5432")).unwrap();
        let mut command = binary(&data);
        command.args(["export", "training", "--format", "sft", "--min-feedback", "none", "--out"]).arg(out.path());
        command.arg("--from").arg(data.path());
        let refused = command.output().unwrap();
        let why = String::from_utf8_lossy(&refused.stderr);
        assert!(refused.status.code() == Some(2) && why.contains(name), "{why}");
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 1, "nothing is exported");
        fs::remove_dir_all(out.path().join(name)).unwrap();
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn an_export_that_is_told_to_end_removes_what_it_has_written() {
    /// Lines after which an export that continues ends, because there are no more.
    const LINES_MAX: u32 = 1_000_000;
    let (data, stream) = streams();
    let next = data.path().join("next");
    for pipe in [&stream, &next] {
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let out = tempfile::tempdir().unwrap();
    let mut command = binary(&data);
    command.args(["export", "training", "--format", "sft", "--min-feedback", "none", "--out"]).arg(out.path());
    let child = command.arg("--from").arg(data.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The command first reads which workspaces there are. A pipe opens when both sides have opened it, so each of the
    // two readings has one of its own.
    let mut pipe = File::options().write(true).open(&stream).unwrap();
    fs::rename(&next, &stream).unwrap();
    pipe.write_all(line("w", "a", "5432").as_bytes()).unwrap();
    drop(pipe);
    let mut pipe = File::options().write(true).open(&stream).unwrap();
    terminate(&child);
    let further = line("w", "a", "5432");
    for _ in 0..LINES_MAX {
        if pipe.write_all(further.as_bytes()).is_err() {
            break;
        }
    }
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && why.contains("cancelled"), "{why}");
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "nothing is left behind");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_that_can_read_no_rating_says_so_and_writes_nothing() {
    let mut app = App::start();
    let id = asked_once(&app, "Which port?", "5432").await;
    captured(&app, &id, 1).await;
    let (output, _) = export(&app, None, &["--tenant", "acme"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    // Replaces the database of ratings with a file that is not a database.
    app.kill();
    let ratings = app.data_dir().join("session_feedback.sqlite3");
    for file in [ratings.clone(), ratings.with_extension("sqlite3-wal"), ratings.with_extension("sqlite3-shm")] {
        let _ = fs::remove_file(file);
    }
    fs::write(&ratings, "these are no ratings").unwrap();
    let (output, out) = export(&app, None, &["--tenant", "acme"]);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && why.contains("no rating of a session can be read"), "{why}");
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "nothing is left behind");
    let (output, out) = export(&app, None, &["--tenant", "acme", "--source", "manual"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(out.path().join("manifest.json").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_is_remembered_after_a_restart_and_becomes_the_same_again() {
    let mut app = App::start();
    let id = asked_once(&app, "Which port?", "5432").await;
    captured(&app, &id, 1).await;
    let cookie = app.cookie().await;
    let chosen = [("format", "sft"), ("fileType", "jsonl"), ("minFeedback", "none"), ("source.manual", "on")];
    let (status, made) = begin(&app, &cookie, &[&chosen[..], &[("step", "export")]].concat()).await;
    assert_eq!(status, 303, "{made}");
    ended(&app, &cookie, &made).await;
    let (_, file) = seen(&app, &cookie, &format!("{made}/file")).await;
    assert!(file.contains("5432"), "{file}");

    app.terminate();
    app.wait();
    app.serve_again();
    let (status, page) = seen(&app, &cookie, &made).await;
    assert_eq!(status, 200, "{page}");
    for part in
        ["SFT as JSON lines", "The export was done, with 1 row.", "Try again", "name=\"minFeedback\" value=\"none\""]
    {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!page.contains("data-running") && !page.contains("Download"), "{page}");
    for part in ["file", "manifest"] {
        assert_eq!(seen(&app, &cookie, &format!("{made}/{part}")).await.0, 404);
    }
    let (_, list) = seen(&app, &cookie, "/export").await;
    assert!(list.contains(&format!("href=\"{made}\"")) && list.contains("no longer available here"), "{list}");
    // The fields that the button sends.
    let (status, again) = begin(&app, &cookie, &[&chosen[..], &[("step", "export")]].concat()).await;
    assert_eq!(status, 303, "{again}");
    ended(&app, &cookie, &again).await;
    assert_eq!(seen(&app, &cookie, &format!("{again}/file")).await.1, file, "the same data, the same bytes");
    let unknown = "/exports/0193b0a0-0000-7000-8000-0000000000aa";
    assert_eq!(seen(&app, &cookie, unknown).await.0, 404);
    let elsewhere = app.request(Who::Stranger, Method::GET, &made).send().await.unwrap();
    assert_eq!(elsewhere.status(), 404, "another workspace's");
}
