//! P-43: with a full disk, writes are refused, `/readyz` reports it, and writes succeed again without a restart.

use crate::{
    app::{App, Who, binary},
    browser::Browser,
};
use reqwest::Method;
use serde_json::json;
use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
};
use tempfile::TempDir;
use testkit::not_tested;

/// A small file system in memory. Dropping it unmounts it.
pub struct SmallDisk(TempDir);

impl SmallDisk {
    /// `mode` has the permissions of its root. `None` if the test may not mount file systems.
    pub fn mount(mebibytes: u32, mode: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let options = format!("size={mebibytes}m,mode={mode}");
        match Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(dir.path()).output() {
            Ok(output) if output.status.success() => Some(Self(dir)),
            other => {
                not_tested(&format!("a full disk (P-43): a small disk cannot be mounted: {other:?}"));
                None
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file that uses all free space.
    pub fn fill(&self) {
        let mut ballast = File::options().append(true).create(true).open(self.ballast()).unwrap();
        for size in [64 * 1024, 4096, 1] {
            while ballast.write_all(&vec![1; size]).is_ok() {}
        }
    }

    /// Frees this many bytes of the space that [`Self::fill`] used.
    fn free(&self, bytes: u64) {
        let ballast = File::options().write(true).open(self.ballast()).unwrap();
        ballast.set_len(ballast.metadata().unwrap().len() - bytes).unwrap();
    }

    pub fn empty(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }

    fn ballast(&self) -> std::path::PathBuf {
        self.path().join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

pub async fn status(app: &App, path: &str) -> u16 {
    app.request(Who::Operator, Method::GET, path).send().await.unwrap().status().as_u16()
}

async fn create(app: &App) -> u16 {
    let new = json!({ "sessionType": "agent", "agentSlug": "scout", "input": "x".repeat(20_000) });
    app.request(Who::Operator, Method::POST, "/api/sessions").json(&new).send().await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_reported_writes_recover_and_a_start_on_it_names_the_cause() {
    let Some(disk) = SmallDisk::mount(8, "0700") else { return };
    let mut app = App::start_with("", &[], &[("SHIFTBOOK_DATA_DIR", disk.path().to_str().unwrap())]);
    assert_eq!((status(&app, "/readyz").await, create(&app).await), (200, 201));
    let new = json!({ "name": "Claims", "dimensions": [{ "slug": "claims", "name": "Claims", "type": "number" }] });
    let made = app.request(Who::Operator, Method::POST, "/api/criteria-sets").json(&new).send().await.unwrap();
    let made: serde_json::Value = made.json().await.unwrap();
    let set = format!("/criteria-sets/{}", made["id"].as_str().unwrap());
    let ada = Browser::of(&app, "ada@acme.test").await;
    disk.fill();
    let mut refused = None;
    for _ in 0..500 {
        let answer = create(&app).await;
        if answer != 201 {
            refused = Some(answer);
            break;
        }
    }
    assert_eq!(refused, Some(503), "{}", app.log());
    // The page of a refused form keeps the typed text, and the server's log has the cause.
    let description = "y".repeat(9_000);
    let form = [
        ("version", "1"),
        ("name", "Typed"),
        ("description", &description),
        ("dimensions[0].name", "Claims"),
        ("dimensions[0].type", "number"),
    ];
    let refused = ada.ask(Method::POST, &set, &form).await;
    assert_eq!(refused.status(), 503);
    assert!(refused.text().await.unwrap().contains("value=\"Typed\""));
    let log = app.log();
    let of_form: Vec<_> =
        log.lines().filter(|line| line.contains("request refused") && line.contains("criteria")).collect();
    assert!(!of_form.is_empty() && !log.contains("without a problem"), "{log}");
    assert_eq!((status(&app, "/readyz").await, status(&app, "/api/me").await), (503, 200), "{}", app.log());
    disk.empty();
    assert_eq!((status(&app, "/readyz").await, create(&app).await), (200, 201), "{}", app.log());
    app.terminate();
    app.wait();

    disk.fill();
    let expected = format!("the disk that holds {} is full: make room on it", disk.path().display());
    let mut command = binary(&disk.0);
    let mut child = command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    // Without space for the index of the write-ahead log the server ends. With it, the server answers reads.
    if let Some(url) = Some(first.trim()).filter(|url| !url.is_empty()) {
        let ready = app.http.get(format!("{url}/readyz")).send().await.unwrap().status();
        assert_eq!(ready, 503);
        child.kill().unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains(&expected), "{stderr}");
    if first.is_empty() {
        assert_eq!(output.status.code(), Some(1), "{stderr}");
    }
    disk.empty();
    app.serve_again();
    assert_eq!((status(&app, "/readyz").await, create(&app).await), (200, 201), "{}", app.log());
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_that_runs_out_of_room_leaves_no_file_and_the_server_goes_on() {
    let Some(disk) = SmallDisk::mount(32, "0700") else { return };
    let mut app = App::start_with("", &[], &[("SHIFTBOOK_DATA_DIR", disk.path().to_str().unwrap())]);
    for _ in 0..100 {
        assert_eq!(create(&app).await, 201);
    }
    // Closing the database moves everything from the write-ahead log into the file.
    app.terminate();
    app.wait();
    app.serve_again();
    let bytes = fs::metadata(disk.path().join("shiftbook.sqlite3")).unwrap().len();
    disk.fill();
    disk.free(bytes / 2);
    let output = app.cli().arg("backup").arg(disk.path().join("copy")).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let names = fs::read_dir(disk.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<_> = names.filter(|name| name.starts_with("copy")).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!((status(&app, "/readyz").await, create(&app).await), (200, 201), "{}", app.log());
}
