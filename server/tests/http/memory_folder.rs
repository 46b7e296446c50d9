//! `shiftbook memory` against a server: exports over an earlier export, imports of a folder with mistakes, the log.

use crate::app::{App, Who};
use reqwest::{Method, StatusCode};
use serde_json::json;
use std::{fs, path::Path};

/// Runs the command. Returns whether it succeeded, its output and its error.
fn memory(app: &App, command: &str, folder: &Path, options: &[&str]) -> (bool, String, String) {
    memory_of("scout", app, command, folder, options)
}

fn memory_of(agent: &str, app: &App, command: &str, folder: &Path, options: &[&str]) -> (bool, String, String) {
    let mut cli = app.cli();
    cli.env("SHIFTBOOK_TOKEN", app.token(Who::Operator).unwrap()).env("SHIFTBOOK_URL", &app.url);
    let output = cli.args(["memory", command]).arg(folder).args(["--agent", agent]).args(options).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

async fn change(app: &App, method: Method, path: &str, base_version: u64) {
    let base = if method == Method::DELETE { format!("&baseVersion={base_version}") } else { String::new() };
    let url = format!("/api/agents/scout/memory/document?path={path}{base}");
    let request = app.request(Who::Operator, method.clone(), &url);
    let request = if method == Method::PUT {
        request.json(&json!({ "baseVersion": base_version, "text": "# Text\n", "reason": "Said." }))
    } else {
        request
    };
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_does_not_keep_deleted_documents_and_an_import_names_all_mistakes() {
    let app = App::start();
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("backup");
    let (done, _, why) = memory(&app, "import", &folder, &[]);
    assert!(!done && why.contains("backup does not exist"), "{why}");
    change(&app, Method::PUT, "topics/garden.md", 0).await;
    change(&app, Method::PUT, "topics/roof.md", 0).await;
    let (done, out, why) = memory(&app, "export", &folder, &[]);
    assert!(done && out.contains("2 documents"), "{out} {why}");

    // An import would bring the deleted document back.
    change(&app, Method::DELETE, "topics/garden.md", 1).await;
    change(&app, Method::PUT, "topics/new.md", 0).await;
    let (done, _, why) = memory(&app, "export", &folder, &[]);
    assert!(!done && why.contains("topics/garden.md") && why.contains("--prune"), "{why}");
    assert!(!folder.join("topics/new.md").exists(), "a refused export wrote a file");
    // Neither for another agent nor by an export that fails is anything removed.
    let (done, _, why) = memory_of("scuot", &app, "export", &folder, &["--prune"]);
    assert!(!done && why.contains("the agent scuot has no documents"), "{why}");
    fs::remove_file(folder.join("topics/roof.md")).unwrap();
    fs::create_dir(folder.join("topics/roof.md")).unwrap();
    let (done, _, why) = memory(&app, "export", &folder, &["--prune"]);
    assert!(!done && why.contains("cannot write"), "{why}");
    assert!(folder.join("topics/garden.md").exists());
    fs::remove_dir(folder.join("topics/roof.md")).unwrap();
    fs::write(folder.join("topics/note.txt"), "x").unwrap();
    let (done, _, why) = memory(&app, "export", &folder, &["--prune"]);
    assert!(done, "{why}");
    assert!(!folder.join("topics/garden.md").exists() && folder.join("topics/new.md").exists());
    assert!(folder.join("topics/note.txt").exists(), "a file that is no document was removed");

    // All mistakes are named, and nothing is written.
    fs::create_dir(folder.join("other")).unwrap();
    fs::write(folder.join("other/a.md"), "x").unwrap();
    fs::write(folder.join("topics/good.md"), "x").unwrap();
    let (done, _, why) = memory(&app, "import", &folder, &["--apply"]);
    assert!(!done && why.contains("other/a.md: ") && why.contains("topics/note.txt: "), "{why}");
    let read = app.request(Who::Operator, Method::GET, "/api/agents/scout/memory/document?path=topics/good.md");
    assert_eq!(read.send().await.unwrap().status(), StatusCode::NOT_FOUND);
    fs::remove_file(folder.join("topics/note.txt")).unwrap();
    fs::remove_dir_all(folder.join("other")).unwrap();
    let (done, out, why) = memory(&app, "import", &folder, &["--apply"]);
    assert!(done && out.contains("1 document written"), "{out} {why}");

    // The log has names, not ids.
    let (done, out, why) = memory(&app, "log", Path::new("topics/roof.md"), &[]);
    assert!(done && out.contains("by agent Operator Said."), "{out} {why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_names_documents_that_no_file_can_be_and_writes_the_others() {
    // Linux takes paths of 4,095 bytes: that of the short name fits, that of the long one does not.
    const FOLDER_BYTES: usize = 3_980;
    let app = App::start();
    let long = format!("topics/{}.md", "a".repeat(120));
    change(&app, Method::PUT, &long, 0).await;
    change(&app, Method::PUT, "topics/garden.md", 0).await;
    let root = tempfile::tempdir().unwrap();
    let mut folder = root.path().to_owned();
    while folder.as_os_str().len() < FOLDER_BYTES {
        folder.push("f".repeat(20));
    }
    let (done, out, why) = memory(&app, "export", &folder, &[]);
    assert!(!done && why.contains(&long) && why.contains("everything else was written"), "{out} {why}");
    assert!(out.contains("1 document,") && folder.join("topics/garden.md").exists(), "{out} {why}");
}
