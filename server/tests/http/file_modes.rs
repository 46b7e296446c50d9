//! Only the owner can read what the server and the command line write. The binary under test always runs with a umask
//! that removes no permissions.

use crate::{
    app::App,
    browser::Browser,
    interaction::{asked_once, begin, captured, ended},
};
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// All files and folders below a folder, with their permission bits.
fn tree(root: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        // Another process may have removed it: a journal of SQLite, or a temporary file.
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        found.push((path.clone(), metadata.permissions().mode() & 0o777));
        if metadata.is_dir() {
            found.append(&mut tree(&path));
        }
    }
    found
}

/// Asserts that only the owner has access to files below `root`, except `others_own`, and that each name of `expected`
/// is part of a path there.
fn assert_private(root: &Path, others_own: &[&str], expected: &[&str]) {
    let found = tree(root);
    let names: Vec<_> =
        found.iter().map(|(path, mode)| (path.strip_prefix(root).unwrap().to_str().unwrap(), mode)).collect();
    for name in expected {
        assert!(names.iter().any(|(path, _)| path.contains(name)), "{name} is not among {names:?}");
    }
    let wide: Vec<_> = names.iter().filter(|(path, mode)| **mode & 0o077 != 0 && !others_own.contains(path)).collect();
    assert!(wide.is_empty(), "{wide:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_that_is_written_is_private_to_its_owner() {
    let app = App::start();
    let id = asked_once(&app, "Which port?", "5432").await;
    captured(&app, &id, 1).await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let rated = ada.post("/fn/session/rate", &[("session_id", &id), ("label", "positive")]).await;
    assert_eq!(rated.status(), 303);
    let cookie = app.cookie().await;
    let chosen = [("format", "sft"), ("fileType", "jsonl"), ("minFeedback", "none"), ("source.manual", "on")];
    let (status, made) = begin(&app, &cookie, &[&chosen[..], &[("step", "export")]].concat()).await;
    assert_eq!(status, 303, "{made}");
    ended(&app, &cookie, &made).await;
    let written = [
        "shiftbook.sqlite3",
        "shiftbook.sqlite3-wal",
        "shiftbook.sqlite3-shm",
        "session_feedback.sqlite3",
        "session_feedback.sqlite3-wal",
        "serve.lock",
        "migrate.lock",
        "instance.key",
        "datalake/01-raw/interactions/interactions_",
        "exports/",
        "sft.jsonl",
        "manifest.json",
    ];
    // The test itself wrote the settings file.
    assert_private(app.data_dir(), &["shiftbook.toml"], &written);

    let out = tempfile::tempdir().unwrap();
    let copy = out.path().join("copy.sqlite3");
    for (arguments, target) in [
        (&["backup"][..], copy),
        (&["export", "raw", "--tenant", "acme", "--out"], out.path().join("raw")),
        (
            &["export", "training", "--tenant", "acme", "--format", "sft", "--min-feedback", "none", "--out"],
            out.path().join("training"),
        ),
    ] {
        let output = app.cli().args(arguments).arg(target).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let written = ["copy.sqlite3", "copy.sqlite3.session_feedback.sqlite3", "raw/datalake", "training/manifest.json"];
    assert_private(out.path(), &[], &written);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_names_what_others_can_use_and_leaves_it() {
    let mut app = App::start();
    assert!(!app.log().contains("shiftbook.sqlite3 ("), "{}", app.log());
    app.terminate();
    app.wait();
    let database = app.data_dir().join("shiftbook.sqlite3");
    fs::set_permissions(&database, Permissions::from_mode(0o640)).unwrap();
    app.serve_again();
    app.terminate();
    app.wait();
    let words = format!("other users of this machine can access {}", app.data_dir().display());
    assert!(app.log().contains(&words) && app.log().contains("shiftbook.sqlite3 (0640)"), "{}", app.log());
    assert_eq!(fs::metadata(&database).unwrap().permissions().mode() & 0o777, 0o640);
}
