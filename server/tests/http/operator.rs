//! What operators have: the log of sign-ins, its formats, metrics, the check of settings, backups and restoring them.

use crate::app::{App, PASSWORD, Who, binary};
use reqwest::Method;
use serde_json::Value;
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};
use tempfile::TempDir;

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Signs in from this address, as a proxy on this machine reports it. Returns the status.
async fn sign_in(app: &App, address: &str, email: &str, password: &str) -> u16 {
    let request = app.http.post(format!("{}/sign-in", app.url)).header("origin", &app.url);
    let request = request.header("x-forwarded-for", address);
    request.form(&[("email", email), ("password", password)]).send().await.unwrap().status().as_u16()
}

async fn metrics(app: &App) -> String {
    app.request(Who::Anonymous, Method::GET, "/metrics").send().await.unwrap().text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_sign_in_is_logged_with_its_address_and_counted() {
    let app = App::start();
    // What a stranger types cannot look like a line of its own or another address.
    let forged = "eve\" address=198.51.100.1\nWARN sign-in refused address=198.51.100.2 account=";
    assert_eq!(sign_in(&app, "203.0.113.9", forged, PASSWORD).await, 401);
    assert_eq!(sign_in(&app, "203.0.113.10", "ada@acme.test", "a wrong password").await, 401);
    assert_eq!(sign_in(&app, "203.0.113.11", "ada@acme.test", PASSWORD).await, 303);
    let escaped = r#"account="eve\" address=198.51.100.1\nWARN sign-in refused address=198.51.100.2 account=""#;
    app.until_logged(0, &format!("sign-in refused address=203.0.113.9 {escaped}")).await;
    app.until_logged(0, "sign-in refused address=203.0.113.10 account=\"ada@acme.test\" reason=\"wrong\"").await;
    app.until_logged(0, "signed in address=203.0.113.11 account=\"ada@acme.test\"").await;
    assert!(!app.log().contains("\nWARN") && !app.log().contains(PASSWORD), "{}", app.log());
    let metrics = metrics(&app).await;
    assert!(metrics.contains("shiftbook_sign_ins_refused_total{reason=\"wrong\"} 2"), "{metrics}");
    // The filter of the documentation is anchored: one word, and then the line as it is written.
    let docs = include_str!("../../../docs/operations.md");
    let filter = docs.lines().find_map(|line| line.strip_prefix("failregex = ")).unwrap();
    let written = filter.strip_prefix(r"^\s*(?:\S+\s+)?").unwrap();
    let log = app.log();
    let refused: Vec<_> = log.lines().filter(|line| line.contains("sign-in refused")).collect();
    assert_eq!(refused.len(), 2, "{refused:?}");
    for (line, address) in refused.into_iter().zip(["203.0.113.9", "203.0.113.10"]) {
        let (time, rest) = line.split_once(char::is_whitespace).unwrap();
        assert!(time.ends_with('Z') && rest.trim_start().starts_with(&written.replace("<HOST>", address)), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_json_log_has_one_object_a_line() {
    let app = App::start_with("", &[], &[("SHIFTBOOK_LOG_FORMAT", "json")]);
    assert_eq!(sign_in(&app, "203.0.113.9", "ada@acme.test", "wrong\npassword").await, 401);
    app.until_logged(0, "sign-in refused").await;
    app.until_logged(0, "/sign-in").await;
    let log = app.log();
    let whole = log.rfind('\n').map_or("", |end| &log[..end]);
    let lines: Vec<Value> = whole.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let refused = lines.iter().find(|line| line["message"] == "sign-in refused").unwrap();
    let found = (&refused["address"], &refused["reason"], &refused["level"], &refused["target"]);
    assert_eq!(found, (&"203.0.113.9".into(), &"wrong".into(), &"WARN".into(), &"shiftbook::sign_in".into()));
    assert!(refused["timestamp"].is_string(), "{refused}");
    let dir = tempfile::tempdir().unwrap();
    let wrong = binary(&dir).args(["--log-format", "xml", "verify"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong));
    assert!(text(&wrong).contains("--log-format `xml`: text or json"), "{}", text(&wrong));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_name_the_build_and_what_the_database_takes() {
    let app = App::start();
    app.running(Who::Operator).await;
    let metrics = metrics(&app).await;
    let value = |name: &str| {
        let line = metrics.lines().find(|line| line.starts_with(&format!("{name} ")));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
            .unwrap_or_else(|| panic!("{name}: {metrics}"))
    };
    assert!(metrics.contains(concat!("shiftbook_build_info{version=\"", env!("CARGO_PKG_VERSION"))), "{metrics}");
    assert!(value("shiftbook_database_bytes") >= 4_096 && value("shiftbook_database_wal_bytes") > 0);
    assert_eq!(value("shiftbook_postgres_connections"), 0);
    for counter in ["shiftbook_leases_expired_total", "shiftbook_messages_given_up_total"] {
        assert_eq!(value(counter), 0);
    }
    assert!(metrics.contains("shiftbook_memory_writer_runs_total{state=\"parked\"} 0"), "{metrics}");
}

#[test]
fn settings_are_checked_without_a_server_and_without_a_trace() {
    let (dir, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let check = |settings: &str, variables: &[(&str, &str)]| {
        let file = out.path().join("shiftbook.toml");
        fs::write(&file, settings).unwrap();
        let mut command = binary(&dir);
        command.args(["check-config", "--config", file.to_str().unwrap()]).envs(variables.iter().copied());
        command.output().unwrap()
    };
    let sample = binary(&dir).args(["check-config", "--sample"]).output().unwrap();
    let good = check(&String::from_utf8(sample.stdout).unwrap(), &[]);
    assert!(good.status.success(), "{}", text(&good));
    let folder = dir.path().display();
    for line in [format!("database: SQLite in {folder}, which the start makes"), "the settings can be used".to_owned()]
    {
        assert!(text(&good).lines().any(|shown| shown == line), "{}", text(&good));
    }
    let smtp = "public_url = \"https://log.example.org\"\n[smtp]\nhost = \"mail.example.org\"\n\
                from = \"Log <log@example.org>\"\nusername = \"log\"\npassword_env = \"OPS_SMTP\"\n";
    let agent = "[agents.a]\nadapter = \"command\"\nworkspace = \"acme\"\ncommand = [\"no-such-program-7\"]\n";
    for (settings, says) in [
        ("listen = \"x\"", "cannot listen on `x`"),
        ("lissten = \"x\"", ":1: unknown field `lissten`"),
        (smtp, "smtp.password_env: the variable OPS_SMTP is not set"),
        (agent, "agents.a: "),
        ("[backup]\nfolder = \"/b\"\nkeep = 0\n", ":3: "),
        ("[canvas]\nabandoned_after_days = 0\n", ":2: "),
        ("[backup]\nfolder = \"/etc/hostname\"\n", "backup.folder: /etc/hostname is no folder"),
        ("[otlp]\nendpoint = \"collector:4318\"\n", "otlp.endpoint is not of the form http[s]://host[:port]"),
        ("[otlp]\nendpoint = \"http://c:4318\"\nsample_ratio = 1.5\n", "otlp.sample_ratio `1.5` is not a number"),
        ("instance_key_file = \"/nonexistent/key\"", "cannot read /nonexistent/key"),
    ] {
        let refused = check(settings, &[]);
        assert_eq!(refused.status.code(), Some(2), "{settings}: {}", text(&refused));
        assert!(text(&refused).contains(says), "{settings}: {}", text(&refused));
    }
    let writer = "[memory]\nwire = \"openai\"\nbase_url = \"http://me:hush@127.0.0.1:9/v1\"\nmodel = \"m\"\n\
                  [memory.agents.a]\nworkspace = \"acme\"\n";
    let refused = check(writer, &[]);
    assert!(text(&refused).contains("127.0.0.1 carries a name or password"), "{}", text(&refused));
    assert!(!text(&refused).contains("hush"), "{}", text(&refused));
    let mailed = check(smtp, &[("OPS_SMTP", "a secret")]);
    assert!(mailed.status.success() && text(&mailed).contains("e-mail: mail.example.org"), "{}", text(&mailed));
    assert!(!text(&mailed).contains("a secret"));
    fs::write(dir.path().join("shiftbook.sqlite3"), "").unwrap();
    let refused = check("", &[]);
    assert!(text(&refused).contains("no database of Shiftbook"), "{}", text(&refused));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// A server with one session in its log, stopped, and a backup of it.
async fn backed_up() -> (App, TempDir) {
    let mut app = App::start();
    app.running(Who::Operator).await;
    app.terminate();
    app.wait();
    let out = tempfile::tempdir().unwrap();
    let copied = app.cli().arg("backup").arg(out.path().join("copy")).output().unwrap();
    assert!(copied.status.success(), "{}", text(&copied));
    (app, out)
}

/// `shiftbook restore` of this file into this data directory.
fn restore(app: &App, file: &Path, data_dir: &Path) -> Command {
    let mut command = app.cli();
    command.arg("restore").arg(file).env("SHIFTBOOK_DATA_DIR", data_dir);
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_is_restored_with_its_ratings_and_key_and_checked_first() {
    let (app, out) = backed_up().await;
    let (copy, key) = (out.path().join("copy"), app.data_dir().join("instance.key"));
    let target = out.path().join("new/data");
    let restored = restore(&app, &copy, &target).arg("--key").arg(&key).output().unwrap();
    assert!(restored.status.success(), "{}", text(&restored));
    assert!(text(&restored).contains(": 1 session, ") && text(&restored).contains("every link holds"));
    let mut names: Vec<_> =
        fs::read_dir(&target).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["instance.key", "session_feedback.sqlite3", "shiftbook.sqlite3"]);
    let verified = app.cli().arg("verify").env("SHIFTBOOK_DATA_DIR", &target).output().unwrap();
    assert!(verified.status.success(), "{}", text(&verified));

    let again = restore(&app, &copy, &target).output().unwrap();
    assert_eq!(again.status.code(), Some(2), "{}", text(&again));
    assert!(text(&again).contains("a restore replaces nothing"), "{}", text(&again));
    let keyless = restore(&app, &copy, &out.path().join("keyless")).output().unwrap();
    assert!(keyless.status.success() && text(&keyless).contains("there is no instance key"), "{}", text(&keyless));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_sound_backup_is_not_restored() {
    let (app, out) = backed_up().await;
    let (copy, damaged) = (out.path().join("copy"), out.path().join("damaged"));
    let mut bytes = fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..][..8_192].fill(0xAA);
    fs::write(&damaged, bytes).unwrap();
    fs::write(out.path().join("foreign"), "a text, longer than a header is").unwrap();
    fs::write(out.path().join("key"), "ab".repeat(32)).unwrap();
    for (file, code) in [("damaged", 1), ("foreign", 2), ("missing", 1)] {
        let target = out.path().join(format!("for-{file}"));
        let refused = restore(&app, &out.path().join(file), &target).output().unwrap();
        assert_eq!(refused.status.code(), Some(code), "{file}: {}", text(&refused));
        assert_eq!(fs::read_dir(&target).map_or(0, Iterator::count), 0, "{file}: {}", text(&refused));
    }
    // The newest events of a running server are in its log of changes.
    fs::copy(&copy, out.path().join("live")).unwrap();
    fs::write(out.path().join("live-wal"), "events").unwrap();
    let refused = restore(&app, &out.path().join("live"), &out.path().join("for-live")).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("live-wal has events that"), "{}", text(&refused));
    // The folder that a restore empties first.
    let stage = out.path().join("for-stage/restore.partial");
    fs::create_dir_all(&stage).unwrap();
    fs::copy(&copy, stage.join("copy")).unwrap();
    let refused = restore(&app, &stage.join("copy"), &out.path().join("for-stage")).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(stage.join("copy").exists(), "{}", text(&refused));
    let target = out.path().join("other-key");
    fs::create_dir(&target).unwrap();
    fs::copy(app.data_dir().join("instance.key"), target.join("instance.key")).unwrap();
    let refused = restore(&app, &copy, &target).arg("--key").arg(out.path().join("key")).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("is another key than"), "{}", text(&refused));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_ratings_are_named_and_the_rest_is_restored_without_them() {
    let (app, out) = backed_up().await;
    let (copy, ratings) = (out.path().join("copy"), out.path().join("copy.session_feedback.sqlite3"));
    let sound = fs::read(&ratings).unwrap();
    let with = |place: usize, bytes: usize| {
        let mut damaged = sound.clone();
        damaged[place..][..bytes].fill(0xAA);
        damaged
    };
    let damages = [
        ("a text", b"a text, longer than a header is".to_vec()),
        ("no header", with(0, 100)),
        ("a damaged schema", with(100, 3_000)),
        ("cut off", sound[..sound.len() / 2].to_vec()),
    ];
    for (number, (what, damaged)) in damages.into_iter().enumerate() {
        fs::write(&ratings, damaged).unwrap();
        let target = out.path().join(format!("for-{number}"));
        let refused = restore(&app, &copy, &target).output().unwrap();
        assert_eq!(refused.status.code(), Some(1), "{what}: {}", text(&refused));
        let said = text(&refused);
        assert!(said.contains(&format!("the ratings in {} are damaged", ratings.display())), "{what}: {said}");
        assert!(said.contains("Move that file elsewhere"), "{what}: {said}");
        assert_eq!(fs::read_dir(&target).map_or(0, Iterator::count), 0, "{what}: {said}");
    }
    fs::remove_file(&ratings).unwrap();
    let restored = restore(&app, &copy, &out.path().join("without")).output().unwrap();
    assert!(restored.status.success(), "{}", text(&restored));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_backs_up_by_its_schedule_and_a_start_continues_it() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("copies");
    fs::create_dir(&folder).unwrap();
    for old in ["shiftbook-2026-01-01T000000Z.sqlite3", "shiftbook-2026-01-02T000000Z.sqlite3"] {
        fs::write(folder.join(old), "old").unwrap();
    }
    fs::write(folder.join("shiftbook-2026-01-03T000000Z.sqlite3.partial"), "").unwrap();
    let settings = format!("[backup]\nfolder = \"{}\"\nkeep = 2\n", folder.display());
    let mut app = App::start_with(&settings, &[], &[]);
    app.until_logged(0, "removed an old backup").await;
    let copies = || {
        let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| !name.ends_with(".session_feedback.sqlite3")).collect();
        names.sort();
        names
    };
    let first = copies();
    assert_eq!(first.len(), 2, "{first:?}");
    assert_eq!(first[0], "shiftbook-2026-01-02T000000Z.sqlite3");
    app.terminate();
    app.wait();
    let from = app.log().len();
    app.serve_again();
    app.until_logged(from, "serving").await;
    app.terminate();
    app.wait();
    assert_eq!(copies(), first, "the next one is not due");
    let restored = restore(&app, &folder.join(&first[1]), &out.path().join("restored")).output().unwrap();
    assert!(restored.status.success(), "{}", text(&restored));
}
