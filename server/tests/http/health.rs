//! What load balancers ask.

use crate::app::App;
use testkit::{Engine, Raw};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_database_does_not_answer_is_alive_and_not_ready() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    // Not set up: requests for pages ask whether there is an account.
    let app = App::start_empty("", &[], &[("SHIFTBOOK_DATABASE_URL", url.as_str())]);
    let mut locked: Raw = engine.raw().await;
    locked.execute("BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let ask = |path: &str| {
        let request = app.http.get(format!("{}{path}", app.url)).header("accept", "text/html");
        request.header("cookie", "sbk_session=sbc_unknown").body("a body").send()
    };
    assert_eq!(ask("/setup").await.unwrap().status(), 503, "the database answers");
    let alive = ask("/healthz").await.unwrap();
    assert_eq!((alive.status().as_u16(), alive.text().await.unwrap().as_str()), (200, "ok\n"));
    assert_eq!(ask("/metrics").await.unwrap().status(), 200);
    locked.execute("ROLLBACK").await.unwrap();
    assert_eq!(ask("/readyz").await.unwrap().status(), 200);
    drop(app);
    drop(locked);
    engine.discard().await;
}
