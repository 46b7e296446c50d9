//! `shiftbook memory` and `shiftbook agent card` against a real server.

use crate::{
    app::{App, Who},
    interaction::get,
    memory_training::{decide, proposals, settings},
    prepare_memory::card,
    writer_kill::talked_of,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Output},
};
use testkit::model::{ScriptedModel, ScriptedReply};

const GARDEN: &str = "---\nimportance: 0.9\n---\n# Garden\r\n\n- Roses\n- Tulips\n";
const INES: &str = "# Inés\n\n- Likes roses";

fn command(app: &App, who: Who, args: &[&str]) -> Command {
    let mut command = app.cli();
    command.args(args).env("SHIFTBOOK_URL", &app.url).env("SHIFTBOOK_TOKEN", app.token(who).unwrap());
    command
}

/// Runs a command that succeeds. Returns the lines that it printed.
fn printed(app: &App, who: Who, args: &[&str]) -> Vec<String> {
    let Output { status, stdout, stderr } = command(app, who, args).output().unwrap();
    assert!(status.success(), "{args:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Runs a command that fails. Returns what it says about it.
fn refused(app: &App, who: Who, args: &[&str]) -> String {
    let Output { status, stderr, .. } = command(app, who, args).output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{args:?}: {stderr}");
    stderr
}

/// Every file below a folder with its bytes, by its path inside.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let inside = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(inside, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Writes the next version of a document as the operator, with the turns that its lines come from.
async fn put(app: &App, path: &str, base_version: u64, text: &str, evidence: Value) {
    let body = json!({ "baseVersion": base_version, "text": text, "evidence": evidence });
    let to = format!("/api/agents/scout/memory/document?path={path}");
    let answer = app.request(Who::Operator, Method::PUT, &to).json(&body).send().await.unwrap();
    assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
}

/// An answer of the model that proposes a new topic with this body.
fn launch(body: &str) -> ScriptedReply {
    let op = json!({ "op": "create", "path": "topics/launch.md", "heading": [], "base_sha256": null, "body": body,
        "evidence": [{ "session": "s1", "sequence": 2 }], "reason": "Said." });
    let answer = json!({ "schema": 1, "nothing": false, "summary": null, "ops": [op] });
    ScriptedReply::Text(answer.to_string().leak())
}

async fn read(app: &App, agent: &str, path: &str) -> (u64, String) {
    let found = get(app, &format!("/api/agents/{agent}/memory/document?path={path}")).await;
    (found["version"].as_u64().unwrap(), found["text"].as_str().unwrap().to_owned())
}

/// Returns the last line, after a check that all of these are among the lines.
fn last<'l>(lines: &'l [String], wanted: &[&str]) -> &'l str {
    for line in wanted {
        assert!(lines.iter().any(|printed| printed == line), "{line}: {lines:#?}");
    }
    lines.last().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_memory_with_its_card_is_exported_byte_for_byte_and_imported_once_its_diff_was_shown() {
    let app = App::start();
    put(&app, "topics/garden.md", 0, GARDEN, json!([])).await;
    put(&app, "people/discord-1001.md", 0, INES, json!([])).await;
    let dir = tempfile::tempdir().unwrap();
    let (file, card) = (dir.path().join("matrix.json"), card().to_string());
    fs::write(&file, &card).unwrap();
    let give = ["agent", "card", file.to_str().unwrap(), "--agent", "scout"];
    let given = printed(&app, Who::Operator, &give);
    assert_eq!(last(&given, &["self/name.md", "self/description.md", "self/first_mes.md"]), "scout is Matrix now");
    assert_eq!(printed(&app, Who::Operator, &give), ["scout has this card already"]);

    let folder = dir.path().join("backup");
    let at = folder.to_str().unwrap();
    let export = ["memory", "export", at, "--agent", "scout"];
    assert_eq!(printed(&app, Who::Operator, &export), ["5 documents, 0 proposals"]);
    let exported = files(&folder);
    let expected = [
        ("people/discord-1001.md", INES),
        ("self/.original.json", card.as_str()),
        ("self/description.md", "A card.\n"),
        ("self/first_mes.md", "Hello.\n"),
        ("self/name.md", "Matrix\n"),
        ("topics/garden.md", GARDEN),
    ];
    let expected: BTreeMap<_, _> =
        expected.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect();
    assert_eq!(exported, expected);

    // The same folder for another agent: first the diff, which writes nothing, then all of it with the card.
    let import = ["memory", "import", at, "--agent", "otto"];
    let shown = printed(&app, Who::Operator, &import);
    let gets = "self/.original.json: the agent gets this character card before the documents";
    let wanted = [gets, "--- topics/garden.md", "+++ topics/garden.md", "+# Garden·", "+- Roses", "+# Inés"];
    let would = "the character card and 5 documents would be written; repeat it with --apply";
    assert_eq!(last(&shown, &wanted), would);
    assert_eq!(get(&app, "/api/agents/otto/memory").await["items"], json!([]));
    let shown = printed(&app, Who::Operator, &[&import[..], &["--apply"]].concat());
    assert_eq!(last(&shown, &wanted), "the character card and 5 documents written");
    let again = dir.path().join("again");
    let export = ["memory", "export", again.to_str().unwrap(), "--agent", "otto"];
    printed(&app, Who::Operator, &export);
    assert_eq!(files(&again), exported, "an import gives the documents and the card");
    assert_eq!(printed(&app, Who::Operator, &[&import[..], &["--apply"]].concat()), ["0 documents written"]);

    // Another agent has a card, and a change by hand that the card of the folder would overwrite.
    fs::write(&file, card.replace("A card.", "Another card.")).unwrap();
    let give = ["agent", "card", file.to_str().unwrap(), "--agent", "ada"];
    printed(&app, Who::Operator, &give);
    let hand = dir.path().join("hand");
    fs::create_dir_all(hand.join("self")).unwrap();
    fs::write(hand.join("self/first_mes.md"), "By hand.\n").unwrap();
    printed(&app, Who::Operator, &["memory", "import", hand.to_str().unwrap(), "--agent", "ada", "--apply"]);
    fs::remove_file(folder.join("self/first_mes.md")).unwrap();
    fs::write(folder.join("self/description.md"), "By hand, too.\n").unwrap();
    let import = ["memory", "import", at, "--agent", "ada", "--apply"];
    let why = refused(&app, Who::Operator, &import);
    assert!(why.contains("self/first_mes.md") && why.contains("Nothing was written"), "{why}");
    assert_eq!(read(&app, "ada", "self/description.md").await.1, "Another card.\n");
    // With the document in the folder, that is what stays.
    fs::write(folder.join("self/first_mes.md"), "By hand.\n").unwrap();
    let shown = printed(&app, Who::Operator, &import);
    assert_eq!(last(&shown, &[gets, "+By hand, too."]), "the character card and 3 documents written");
    assert_eq!(read(&app, "ada", "self/first_mes.md").await.1, "By hand.\n");
    assert_eq!(read(&app, "ada", "self/description.md").await.1, "By hand, too.\n");
    printed(&app, Who::Operator, &["memory", "export", again.to_str().unwrap(), "--agent", "ada"]);
    assert_eq!(files(&again)["self/.original.json"], card.as_bytes());

    // Documents that the folder lacks are written by the card alone.
    let alone = dir.path().join("alone");
    fs::create_dir_all(alone.join("self")).unwrap();
    fs::write(alone.join("self/.original.json"), &card).unwrap();
    fs::write(alone.join("self/name.md"), "By hand.\n").unwrap();
    let import = ["memory", "import", alone.to_str().unwrap(), "--agent", "ivy", "--apply"];
    assert_eq!(last(&printed(&app, Who::Operator, &import), &[gets]), "the character card and 3 documents written");
    assert_eq!(read(&app, "ivy", "self/name.md").await, (2, "By hand.\n".to_owned()));

    // Another workspace has an agent of the same name, with nothing in its memory.
    let strange = dir.path().join("strange");
    let export = ["memory", "export", strange.to_str().unwrap(), "--agent", "scout"];
    assert_eq!(printed(&app, Who::Stranger, &export), ["0 documents, 0 proposals"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_imported_logged_and_reverted() {
    let app = App::start();
    put(&app, "topics/garden.md", 0, GARDEN, json!([])).await;
    put(&app, "topics/other.md", 0, "# Other\n", json!([])).await;
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_str().unwrap();
    let agent = ["--agent", "scout"];
    let run = |args: &[&str]| printed(&app, Who::Operator, &[args, &agent].concat());
    run(&["memory", "export", at]);
    let changed = GARDEN.replace("Tulips", "Lilies");
    fs::write(dir.path().join("topics/garden.md"), &changed).unwrap();
    let shown = run(&["memory", "import", at]);
    let wanted = ["-- Tulips", "+- Lilies", " - Roses"];
    assert_eq!(last(&shown, &wanted), "1 document would be written; repeat it with --apply");
    assert_eq!(read(&app, "scout", "topics/garden.md").await, (1, GARDEN.to_owned()));
    assert_eq!(last(&run(&["memory", "import", at, "--apply"]), &wanted), "1 document written");
    assert_eq!(run(&["memory", "import", at, "--apply"]), ["0 documents written"]);
    assert_eq!(read(&app, "scout", "topics/garden.md").await, (2, changed));

    let log = run(&["memory", "log", "topics/garden.md"]);
    assert_eq!(log.len(), 2, "{log:?}");
    assert!(log[0].contains(" v2 modified topics/garden.md by import Operator "), "{log:?}");
    assert!(log[0].ends_with(" Imported from a folder."), "{log:?}");
    assert!(log[1].contains(" v1 created topics/garden.md by agent Operator"), "{log:?}");
    assert_eq!(run(&["memory", "log"]).len(), 3);
    assert_eq!(run(&["memory", "log", "--max", "1"]), log[..1]);

    let missing = ["memory", "revert", "topics/garden.md", "--to", "9", "--agent", "scout"];
    refused(&app, Who::Operator, &missing);
    let reverted = run(&["memory", "revert", "topics/garden.md", "--to", "1", "--reason", "Tulips it is."]);
    assert_eq!(reverted, ["topics/garden.md is at version 3 now"]);
    assert_eq!(read(&app, "scout", "topics/garden.md").await, (3, GARDEN.to_owned()));
    assert!(run(&["memory", "log", "--max", "1"])[0].ends_with(" Tulips it is."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_session_wrote_is_shown_and_then_taken_back() {
    let app = App::start();
    let session = talked_of(&app, "scout", "Ivy grows at the wall.").await;
    let before = "# Garden\n\n- Tulips\n";
    let with_ivy = format!("{before}- Ivy\n");
    put(&app, "topics/garden.md", 0, before, json!([])).await;
    let evidence = json!([{ "line": 4, "session": session, "sequence": 2 }]);
    put(&app, "topics/garden.md", 1, &with_ivy, evidence).await;
    let revert = ["memory", "revert", "--session", session.as_str(), "--agent", "scout"];
    let shown = printed(&app, Who::Operator, &revert);
    let wanted = ["topics/garden.md at version 2", "  -- Ivy"];
    assert_eq!(last(&shown, &wanted), "1 document would be reverted; repeat it with --apply");
    assert_eq!(read(&app, "scout", "topics/garden.md").await, (2, with_ivy));
    let shown = printed(&app, Who::Operator, &[&revert[..], &["--apply"]].concat());
    assert_eq!(last(&shown, &wanted), "1 document reverted");
    assert_eq!(read(&app, "scout", "topics/garden.md").await, (3, before.to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proposal_that_waits_is_a_file_beside_the_documents_until_it_is_decided() {
    let model = ScriptedModel::start([]).await;
    let app = App::start_with(&settings(&model), &[], &[]);
    model.then([launch("# Launch\n\n- It is on Friday\n")]);
    let session = talked_of(&app, "scout", "The launch is on Friday.").await;
    let (approval, _) = proposals(&app, 1).await.remove(0);

    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_str().unwrap();
    let export = ["memory", "export", at, "--agent", "scout"];
    assert_eq!(printed(&app, Who::Operator, &export), ["0 documents, 1 proposal"]);
    let found = files(dir.path());
    let name = format!("sessions/.pending/{approval}.diff");
    assert_eq!(found.keys().collect::<Vec<_>>(), [&name]);
    let diff = String::from_utf8(found[&name].clone()).unwrap();
    for line in [
        format!("proposal {approval}"),
        "document topics/launch.md at version 0".to_owned(),
        "why      Said.".to_owned(),
        format!("turn     {session} 2"),
        "+++ topics/launch.md".to_owned(),
        "+- It is on Friday".to_owned(),
    ] {
        assert!(diff.lines().any(|written| written == line), "{line}: {diff}");
    }
    let import = ["memory", "import", at, "--agent", "scout", "--apply"];
    assert_eq!(printed(&app, Who::Operator, &import), ["0 documents written"], "a proposal is no document");

    decide(&app, &app.cookie().await, &approval, &json!({ "decision": "deny", "note": "Not yet." })).await;
    assert_eq!(printed(&app, Who::Operator, &export), ["0 documents, 0 proposals"]);
    assert_eq!(files(dir.path()), BTreeMap::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_shown_then_forgotten_and_may_be_remembered_again() {
    let app = App::start();
    put(&app, "people/discord-1001.md", 0, INES, json!([])).await;
    put(&app, "topics/garden.md", 0, "# Garden\n\n- Inés waters it\n- Tulips\n", json!([])).await;
    let forget = ["memory", "forget", "--person", "discord-1001"];
    let shown = printed(&app, Who::Admin, &forget);
    let wanted = [
        "names: Inés",
        "scout/people/discord-1001.md: whole document, 1 version",
        "scout/topics/garden.md: lines, 1 version",
        "  -3 - Inés waters it (named)",
    ];
    assert_eq!(
        last(&shown, &wanted),
        "2 documents, 0 proposals and 0 captured answers would be erased; repeat it with --apply"
    );
    assert_eq!(read(&app, "scout", "people/discord-1001.md").await, (1, INES.to_owned()));
    refused(&app, Who::Operator, &[&forget[..], &["--apply"]].concat());

    let shown = printed(&app, Who::Admin, &[&forget[..], &["--apply"]].concat());
    assert_eq!(last(&shown, &wanted), "2 documents, 0 proposals and 0 captured answers erased");
    let gone = "/api/agents/scout/memory/document?path=people/discord-1001.md";
    let gone = app.request(Who::Operator, Method::GET, gone).send().await.unwrap();
    assert_eq!(gone.status(), 404);
    assert_eq!(read(&app, "scout", "topics/garden.md").await.1, "# Garden\n\n- Tulips\n");

    let remember = ["memory", "remember", "--person", "discord-1001"];
    let said = ["people/discord-1001.md: what they say from now on may be remembered"];
    assert_eq!(printed(&app, Who::Admin, &remember), said);
    refused(&app, Who::Admin, &remember);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_of_a_decided_proposal_is_sent_without_a_person_who_is_forgotten_also_where_it_was_cached() {
    let model = ScriptedModel::start([]).await;
    let app = App::start_with(&settings(&model), &[], &[]);
    let patch = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&json!({ "undoSeconds": 0 }));
    assert!(patch.send().await.unwrap().status().is_success());
    model.then([launch("# Launch\n\n- Inés presents\n")]);
    talked_of(&app, "scout", "Inés presents the launch.").await;
    let (approval, session) = proposals(&app, 1).await.remove(0);
    decide(&app, &app.cookie().await, &approval, &json!({ "decision": "deny", "note": "Not yet." })).await;
    let log = format!("/api/sessions/{session}/events");
    let sent = app.request(Who::Operator, Method::GET, &log).send().await.unwrap();
    let tag = sent.headers()["etag"].clone();
    let text = sent.text().await.unwrap();
    assert!(text.contains("Inés"), "{text}");

    put(&app, "people/discord-1001.md", 0, INES, json!([])).await;
    let shown = printed(&app, Who::Admin, &["memory", "forget", "--person", "discord-1001", "--apply"]);
    assert_eq!(last(&shown, &[]), "1 document, 1 proposal and 0 captured answers erased");
    for known in [None, Some(tag)] {
        let mut request = app.request(Who::Operator, Method::GET, &log);
        if let Some(tag) = known {
            request = request.header("if-none-match", tag);
        }
        let sent = request.send().await.unwrap();
        let (status, text) = (sent.status().as_u16(), sent.text().await.unwrap());
        assert!(status == 200 && !text.contains("Inés"), "{status} {text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_card_overwrites_what_people_changed_only_when_told_to() {
    let app = App::start();
    let dir = tempfile::tempdir().unwrap();
    let (file, backup) = (dir.path().join("matrix.json"), dir.path().join("backup"));
    let give = ["agent", "card", file.to_str().unwrap(), "--agent", "scout"];
    fs::write(&file, card().to_string()).unwrap();
    printed(&app, Who::Operator, &give);
    fs::create_dir_all(backup.join("self")).unwrap();
    fs::write(backup.join("self/description.md"), "Changed by hand.\n").unwrap();
    let import = ["memory", "import", backup.to_str().unwrap(), "--agent", "scout", "--apply"];
    printed(&app, Who::Operator, &import);

    fs::write(&file, card().to_string().replace("Hello.", "Good day.")).unwrap();
    let why = refused(&app, Who::Operator, &give);
    assert!(why.contains("self/description.md") && why.contains("--overwrite"), "{why}");
    assert_eq!(read(&app, "scout", "self/description.md").await, (2, "Changed by hand.\n".to_owned()));
    assert_eq!(read(&app, "scout", "self/first_mes.md").await, (1, "Hello.\n".to_owned()));
    let given = printed(&app, Who::Operator, &[&give[..], &["--overwrite"]].concat());
    assert_eq!(last(&given, &["self/description.md", "self/first_mes.md"]), "scout is Matrix now");
    assert_eq!(read(&app, "scout", "self/description.md").await, (3, "A card.\n".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_used_is_refused_by_name_and_changes_nothing() {
    let app = App::start();
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let file = root.join("card.json");
    fs::write(&file, "{\"spec\":\"chara_card_v9\"}").unwrap();
    let file = file.to_str().unwrap();
    let why = refused(&app, Who::Operator, &["agent", "card", file, "--agent", "scout"]);
    assert!(why.contains("chara_card_v9"), "{why}");
    let why = refused(&app, Who::Operator, &["agent", "card", "/no/such/card.png", "--agent", "scout"]);
    assert!(why.contains("cannot read /no/such/card.png"), "{why}");

    fs::create_dir(root.join("topics")).unwrap();
    fs::write(root.join("topics/fine.md"), "# Fine\n").unwrap();
    fs::write(root.join("topics/evil name.md"), "# Evil\n").unwrap();
    let import = ["memory", "import", root.to_str().unwrap(), "--agent", "scout", "--apply"];
    let why = refused(&app, Who::Operator, &import);
    assert!(why.contains("topics/evil name.md"), "{why}");
    assert_eq!(get(&app, "/api/agents/scout/memory").await["items"], json!([]));

    let output = app.cli().args(["memory", "log", "--agent", "scout"]).env_remove("SHIFTBOOK_TOKEN").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--token"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_can_be_requested_for_earlier_sessions_too() {
    let app = App::start();
    talked_of(&app, "scout", "Ivy grows at the wall.").await;
    let run =
        |args: &[&str]| printed(&app, Who::Operator, &[&["memory", "run", "--agent", "scout"][..], args].concat());
    let kept = run(&[]);
    assert!(kept.len() == 1 && kept[0].starts_with("the request is kept: no server at work"), "{kept:?}");
    for added in ["1 session added", "0 sessions added"] {
        assert_eq!(run(&["--since", "2020-01-01"])[0], added);
    }
}
