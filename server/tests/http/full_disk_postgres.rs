//! P-43 on PostgreSQL: its tables are on a small disk. The log of writes is elsewhere, because PostgreSQL stops when
//! that one has no room.

use crate::{
    app::{App, Who},
    full_disk::{SmallDisk, status},
};
use reqwest::Method;
use serde_json::json;
use testkit::cluster::Cluster;

const REPORT: &str = "PostgreSQL's disk is full: make room on it";
/// Most sessions that fit into what the migrated tables have left.
const SESSIONS_MAX: usize = 500;

/// Creates a session whose input PostgreSQL cannot compress.
async fn create(app: &App) -> u16 {
    let input: String = std::iter::repeat_with(fastrand::alphanumeric).take(20_000).collect();
    let new = json!({ "sessionType": "agent", "agentSlug": "scout", "input": input });
    app.request(Who::Operator, Method::POST, "/api/sessions").json(&new).send().await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_of_postgresql_is_reported_and_writes_recover() {
    let Some(disk) = SmallDisk::mount(64, "0755") else { return };
    let Some(cluster) = Cluster::start().await else { return };
    cluster.create_databases(&["used", "fresh"], &disk.path().join("tables")).await;
    let mut app = App::start_on(&cluster.url("used"));
    assert_eq!((status(&app, "/readyz").await, create(&app).await), (200, 201), "{}", app.log());
    disk.fill();
    let mut refused = None;
    for _ in 0..SESSIONS_MAX {
        let answer = create(&app).await;
        if answer != 201 {
            refused = Some(answer);
            break;
        }
    }
    assert_eq!(refused, Some(503), "{}", app.log());
    app.until_logged(0, REPORT).await;
    // Asking does not make it ready.
    for _ in 0..3 {
        assert_eq!((status(&app, "/readyz").await, status(&app, "/api/me").await), (503, 200), "{}", app.log());
    }

    app.kill();
    let before = app.log().len();
    app.serve_again();
    assert_eq!((status(&app, "/readyz").await, status(&app, "/api/me").await), (503, 200), "{}", app.log());
    app.until_logged(before, REPORT).await;
    // A database that cannot be migrated is not served.
    let fresh = app
        .cli()
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("SHIFTBOOK_DATABASE_URL", cluster.url("fresh"))
        .output();
    let fresh = fresh.unwrap();
    let stderr = String::from_utf8_lossy(&fresh.stderr);
    assert!(fresh.status.code() == Some(1) && stderr.contains(REPORT), "{stderr}");

    disk.empty();
    assert_eq!((status(&app, "/readyz").await, create(&app).await), (200, 201), "{}", app.log());
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}
