//! P-63: `verify` and `backup` read the data, find a damaged file, and create nothing in the data directory.

use crate::app::{App, binary};
use chrono::TimeDelta;
use ledger::session;
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
};
use testkit::{Engine, Fixture, INSTANCE_KEY, Raw};

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Names and sizes of the files in a folder.
fn listed(folder: &Path) -> BTreeMap<String, u64> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len())).collect()
}

/// A server with one session in its log, stopped.
async fn stopped() -> App {
    let mut app = App::start();
    app.running(crate::app::Who::Operator).await;
    app.terminate();
    app.wait();
    app
}

#[test]
fn a_folder_without_a_database_is_refused_and_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("mistyped");
    let target = dir.path().join("copy");
    for arguments in [vec!["verify"], vec!["backup", target.to_str().unwrap()]] {
        for (folder, words) in [(missing.as_path(), "is no folder"), (dir.path(), "holds no database")] {
            let mut command = binary(&dir);
            let output = command.args(&arguments).env("SHIFTBOOK_DATA_DIR", folder).output().unwrap();
            let message = text(&output);
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
            assert!(message.contains(words) && message.contains(folder.to_str().unwrap()), "{arguments:?}: {message}");
            assert!(listed(dir.path()).is_empty(), "{arguments:?} made {:?}", listed(dir.path()));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_no_database_of_ours_is_refused_by_every_command_and_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (file, target) = (dir.path().join("shiftbook.sqlite3"), dir.path().join("copy"));
    let foreign = async |sql: &str| {
        let _ = fs::remove_file(&file);
        Raw::create_sqlite(&file).await.execute(sql).await.unwrap();
    };
    let commands: [&[&str]; 6] = [
        &["serve", "--listen", "127.0.0.1:0"],
        &["verify"],
        &["backup", target.to_str().unwrap()],
        &["retention", "--before", "2025-01-01"],
        &["feedback", "count"],
        &["token", "add", "--tenant", "acme", "--name", "n", "--role", "admin"],
    ];
    for why in ["0 bytes", "not an SQLite file", "other tables", "another program", "an instance key"] {
        match why {
            "0 bytes" => fs::write(&file, "").unwrap(),
            "not an SQLite file" => fs::write(&file, "A text, longer than a header is.").unwrap(),
            "other tables" => foreign("CREATE TABLE notes (id INTEGER)").await,
            "another program" => foreign("CREATE TABLE notes (id INTEGER); PRAGMA application_id = 1").await,
            _ => {
                fs::write(&file, "").unwrap();
                fs::write(dir.path().join("instance.key"), "00".repeat(32)).unwrap();
            }
        }
        let before = fs::read(&file).unwrap();
        for arguments in commands {
            let output = binary(&dir).args(arguments).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{why}: {arguments:?}: {}", text(&output));
            assert!(text(&output).contains("no database of Shiftbook"), "{why}: {}", text(&output));
            assert_eq!(text(&output).contains("instance key beside it"), why == "an instance key");
            assert_eq!(fs::read(&file).unwrap(), before, "{why}: {arguments:?}");
            assert!(!target.exists());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_an_earlier_version_gets_our_number_and_so_do_its_copies() {
    let mut app = stopped().await;
    let file = app.data_dir().join("shiftbook.sqlite3");
    let number = async |file: &Path| Raw::of_sqlite(file).await.number("PRAGMA application_id").await;
    assert_eq!(number(&file).await, 0x5348_424B);
    Raw::of_sqlite(&file).await.execute("PRAGMA application_id = 0").await.unwrap();
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", text(&verified));
    assert_eq!(number(&file).await, 0, "what only reads changes nothing");
    app.serve_again();
    let out = tempfile::tempdir().unwrap();
    let copied = app.cli().arg("backup").arg(out.path().join("copy")).output().unwrap();
    assert!(copied.status.success(), "{}", text(&copied));
    for file in [file, out.path().join("copy")] {
        assert_eq!(number(&file).await, 0x5348_424B, "{}", file.display());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn verify_and_backup_create_nothing_beside_the_database() {
    let mut app = stopped().await;
    let out = tempfile::tempdir().unwrap();
    let before = listed(app.data_dir());
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success() && text(&verified).contains("1 session,"), "{}", text(&verified));
    let copied = app.cli().arg("backup").arg(out.path().join("copy")).output().unwrap();
    assert!(copied.status.success(), "{}", text(&copied));
    assert_eq!(listed(app.data_dir()), before);
    // A killed server leaves a write-ahead log, whose contents are verified too.
    app.serve_again();
    app.running(crate::app::Who::Operator).await;
    app.kill();
    let before: Vec<_> = listed(app.data_dir()).into_keys().collect();
    assert!(before.contains(&"shiftbook.sqlite3-wal".to_owned()));
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success() && text(&verified).contains("2 sessions"), "{}", text(&verified));
    assert_eq!(listed(app.data_dir()).into_keys().collect::<Vec<_>>(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_whose_ratings_cannot_be_copied_keeps_the_log_and_says_so() {
    let app = stopped().await;
    let ratings = app.data_dir().join("session_feedback.sqlite3");
    for file in [ratings.with_extension("sqlite3-wal"), ratings.with_extension("sqlite3-shm")] {
        let _ = fs::remove_file(file);
    }
    fs::write(&ratings, "these are no ratings").unwrap();
    let out = tempfile::tempdir().unwrap();
    let copied = app.cli().arg("backup").arg(out.path().join("copy")).output().unwrap();
    assert_eq!(copied.status.code(), Some(1), "{}", text(&copied));
    for words in ["wrote the whole log to", "the ratings could not be copied", "the copy of the log is complete"] {
        assert!(text(&copied).contains(words), "{}", text(&copied));
    }
    assert_eq!(listed(out.path()).into_keys().collect::<Vec<_>>(), ["copy"]);
    let restored = tempfile::tempdir().unwrap();
    fs::rename(out.path().join("copy"), restored.path().join("shiftbook.sqlite3")).unwrap();
    let verified = app.cli().arg("verify").env("SHIFTBOOK_DATA_DIR", restored.path()).output().unwrap();
    assert!(verified.status.success() && text(&verified).contains("1 session,"), "{}", text(&verified));
}

/// The command in a mount namespace where its folder is read-only. `None` if the test may not mount file systems.
fn on_read_only_media(command: &Command, folder: &Path) -> Option<Command> {
    let mount = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\"";
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "sh", "-c", mount]).arg(folder);
    let can_mount = shell.output().is_ok_and(|output| output.status.success());
    if !can_mount {
        return None;
    }
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "sh", "-c", &format!("{mount} && exec \"$@\"")]).arg(folder);
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    Some(shell)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_only_media_can_be_checked_and_copied() {
    let app = stopped().await;
    let out = tempfile::tempdir().unwrap();
    let target = out.path().join("copy");
    for arguments in [vec!["verify"], vec!["backup", target.to_str().unwrap()]] {
        let mut command = app.cli();
        command.args(&arguments);
        let mut mounted = on_read_only_media(&command, app.data_dir()).unwrap_or_else(|| {
            eprintln!("nothing can be mounted here: the folder has its write permission taken instead");
            fs::set_permissions(app.data_dir(), fs::Permissions::from_mode(0o500)).unwrap();
            command
        });
        let output = mounted.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
    }
    fs::set_permissions(app.data_dir(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::create_dir(out.path().join("restored")).unwrap();
    fs::rename(&target, out.path().join("restored/shiftbook.sqlite3")).unwrap();
    let output = app.cli().arg("verify").env("SHIFTBOOK_DATA_DIR", out.path().join("restored")).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_pages_are_found() {
    const PAGE: usize = 4_096;
    let app = stopped().await;
    let file = app.data_dir().join("shiftbook.sqlite3");
    let whole = fs::read(&file).unwrap();
    let pages = whole.len() / PAGE;
    let mut found = 0;
    for page in (pages / 4..pages).step_by(pages / 8) {
        let mut damaged = whole.clone();
        damaged[page * PAGE..][..PAGE].fill(0xAA);
        fs::write(&file, &damaged).unwrap();
        let output = app.cli().arg("verify").output().unwrap();
        assert_eq!(output.status.code(), Some(1), "page {page}: {}", text(&output));
        found += 1;
    }
    assert!(found >= 4, "{found} of {pages} pages were tried");
    fs::write(&file, &whole).unwrap();
    let output = app.cli().arg("verify").output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retention_and_verify_use_the_instance_key_that_the_environment_names() {
    let f = Fixture::sqlite().await;
    let Engine::Sqlite(dir) = &f.engine else { panic!("not SQLite") };
    f.clock.advance(-TimeDelta::days(1_000));
    let old = f.pending().await;
    session::cancel(&f.ledger, &f.operator, old.id, None).await.unwrap();
    f.ledger.close().await;
    let keys = tempfile::tempdir().unwrap();
    let key_file = |name: &str, key: &str| {
        let file = keys.path().join(name);
        fs::write(&file, format!("{key}\n")).unwrap();
        file
    };
    let (own, other) = (key_file("own", INSTANCE_KEY), key_file("other", &"ab".repeat(32)));
    let run = |arguments: &[&str], key: &Path| {
        binary(dir).args(arguments).env("SHIFTBOOK_INSTANCE_KEY_FILE", key).output().unwrap()
    };
    let erased = run(&["retention", "--before", "2025-01-01", "--apply"], &own);
    assert!(erased.status.success() && text(&erased).contains("in 1 session,"), "{}", text(&erased));
    assert!(!dir.path().join("instance.key").exists(), "a second key was made");
    let verified = run(&["verify"], &own);
    assert!(verified.status.success(), "{}", text(&verified));
    assert!(text(&verified).contains("; retention erased the content of"), "{}", text(&verified));
    let refused = run(&["verify"], &other);
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
    assert!(text(&refused).contains("its erasure was not sealed by this installation"), "{}", text(&refused));
    // Earlier versions sealed with a key of the data directory while the environment named another.
    fs::copy(&own, dir.path().join("instance.key")).unwrap();
    let verified = run(&["verify"], &other);
    assert!(verified.status.success(), "{}", text(&verified));
    let says = "; the erasures of 1 session were sealed with instance.key of the data directory";
    assert!(text(&verified).contains(says), "{}", text(&verified));
}
