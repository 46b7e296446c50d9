//! The server is killed at a random time while answers are submitted, repeatedly: to an agent's question by a person
//! with a link, and to a form by a program. Both repeat the submission. It is recorded once, and the answer reaches the
//! agent once.

use crate::{
    app::{App, Who},
    browser::Browser,
    feedback_request::{claim, running},
    form::{enter, open_request, try_send},
    kills::Kills,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::cell::Cell;
use testkit::Engine;

/// Default number of rounds per engine. `SHIFTBOOK_SUBMIT_KILL_ROUNDS` sets another one; the long tier runs 1,000.
const ROUNDS: usize = 12;

fn rounds() -> usize {
    std::env::var("SHIFTBOOK_SUBMIT_KILL_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap())
}

async fn get(app: &App, path: &str) -> Value {
    let response = app.request(Who::Admin, Method::GET, path).send().await.unwrap();
    assert!(response.status().is_success(), "GET {path}: {}", response.status());
    response.json().await.unwrap()
}

/// One question of one session, and what is submitted to it.
pub struct Round {
    pub session: String,
    jar: Vec<(String, String)>,
    path: String,
    page: String,
}

impl Round {
    async fn new(app: &App) -> Self {
        let session = running(app).await;
        let secret = open_request(app, &session).await;
        Self::of(app, session, &secret).await
    }

    /// A question of a session, in a browser that has opened this link to it.
    pub async fn of(app: &App, session: String, secret: &str) -> Self {
        let (browser, path) = enter(app, secret).await;
        let page = browser.page(&path).await;
        Self { session, jar: browser.jar.clone(), path, page }
    }

    /// Submits as a browser without scripts does. Returns whether an answer came back.
    pub async fn submit(&self, app: &App) -> bool {
        let mut browser = Browser::stranger(app);
        browser.jar.clone_from(&self.jar);
        match try_send(&browser, &self.path, &self.page, &[("name", "Zoe")]).await {
            Ok(answer) => {
                assert!(answer.status().is_redirection(), "{}", answer.status());
                true
            }
            Err(_) => false,
        }
    }
}

/// Submits a response to a plain form as a program does. Returns whether an answer came back.
async fn submit_interaction(app: &App, view: &str, id: &str) -> bool {
    let path = format!("/api/views/{view}/submit-interaction");
    let body = json!({ "submissionId": id, "answers": { "name": "Zoe" } });
    match app.request(Who::Member, Method::POST, &path).json(&body).send().await {
        Ok(answer) => {
            assert!(answer.status().is_success(), "{}", answer.status());
            true
        }
        Err(_) => false,
    }
}

async fn a_view(app: &App) -> String {
    let fields = json!([{ "key": "name", "label": "?", "type": "short_text", "required": true }]);
    let body = json!({ "title": "Kill", "fields": fields, "publishConfig": { "responses": "many" } });
    let view = app.post(Who::Operator, "/api/views", body).await["id"].as_str().unwrap().to_owned();
    app.post(Who::Operator, &format!("/api/views/{view}/publish"), json!({})).await;
    view
}

/// The session of the newest response to a view; null if there is none.
async fn newest(app: &App, view: &str) -> Value {
    get(app, &format!("/api/views/{view}/responses?limit=1")).await["items"][0]["id"].clone()
}

async fn killed_at_any_instant(mut app: App) {
    let view = a_view(&app).await;
    let mut kills = Kills::default();
    // Nothing disturbs the first round.
    for round in 0..=rounds() {
        let of = Round::new(&app).await;
        let id = format!("round-{round}");
        let before = newest(&app, &view).await;
        let (by_link, by_program) = (Cell::new(false), Cell::new(false));
        let both = async {
            let of_link = async { by_link.set(of.submit(&app).await) };
            let of_program = async { by_program.set(submit_interaction(&app, &view, &id).await) };
            tokio::join!(of_link, of_program)
        };
        kills.interrupt(both).await;
        app.kill();
        app.serve_again();
        let answers_of = format!("/api/sessions/{}/answers", of.session);
        kills.count(by_link.get(), get(&app, &answers_of).await["items"][0].is_object());
        kills.count(by_program.get(), newest(&app, &view).await != before);
        // Both repeat what they do not know to be done.
        assert!(of.submit(&app).await, "round {round}");
        assert!(submit_interaction(&app, &view, &id).await, "round {round}");

        let session = &of.session;
        let claimed = claim(&app).await;
        let resumed = (&claimed["session"]["id"], &claimed["resume"]["answer"]["name"]);
        assert_eq!(resumed, (&json!(session), &json!("Zoe")), "round {round}, killed after {:?}", kills.after);
        let all = get(&app, &answers_of).await;
        let items = all["items"].as_array().unwrap();
        assert_eq!((items.len(), &items[0]["late"]), (1, &json!(false)), "round {round}: {all}");
        let log = get(&app, &format!("/api/sessions/{session}/events")).await;
        let count = |kind: &str| log["events"].as_array().unwrap().iter().filter(|e| e["type"] == kind).count();
        assert_eq!(count("user.form_submit"), 1, "round {round}: {log}");
        // The agent cannot be given the answer again.
        let take = json!({ "attempt": claimed["attempt"] });
        let taken = app.post(Who::Worker, &format!("/api/sessions/{session}/answers/take"), take).await;
        assert_eq!(taken["input"].as_array().map_or(0, Vec::len), 0, "round {round}: {taken}");
        let done = json!({ "attempt": claimed["attempt"], "result": {} });
        app.post(Who::Worker, &format!("/api/sessions/{session}/complete"), done).await;
    }
    let path = format!("/api/views/{view}/responses?limit=1000");
    let recorded = get(&app, &path).await["items"].as_array().unwrap().len();
    assert_eq!(recorded, (rounds() + 1).min(1_000), "one of each round");
    kills.report();
    app.kill();
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    app.serve_again();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submission_is_recorded_and_injected_once_however_the_server_is_killed_on_sqlite() {
    killed_at_any_instant(App::start()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submission_is_recorded_and_injected_once_however_the_server_is_killed_on_postgresql() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    // There is no default key on PostgreSQL, and no link without one.
    let key = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(key.path(), format!("{}\n", testkit::INSTANCE_KEY)).unwrap();
    let key_file = key.path().to_str().unwrap();
    let variables = [("SHIFTBOOK_DATABASE_URL", url.as_str()), ("SHIFTBOOK_INSTANCE_KEY_FILE", key_file)];
    killed_at_any_instant(App::start_with("", &[], &variables)).await;
    engine.discard().await;
}
