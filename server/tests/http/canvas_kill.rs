//! The server is killed at a random time while three people change one canvas, repeatedly. Each sends what was not
//! answered again under its id. Every change is applied once, and all see the document that the log folds to.

use crate::{
    app::App,
    browser::{Browser, add_person},
    kills::Kills,
};
use domain::{
    canvas::{Answer, Client, Committed, Document, Overwritten, Patch, Received},
    chain::body_digest,
};
use reqwest::{Method, RequestBuilder};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use testkit::Engine;
use wire::canvas::{CanvasPatch, CanvasPatches, PatchAnswer};

/// Default number of rounds per engine. `SHIFTBOOK_CANVAS_KILL_ROUNDS` sets another one; the long tier runs 1,000.
const ROUNDS: usize = 20;
/// Patches of each person in a round.
const PATCHES: usize = 3;
const NAMES: [&str; 3] = ["ada", "ben", "cem"];

fn rounds() -> usize {
    std::env::var("SHIFTBOOK_CANVAS_KILL_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap())
}

/// A text that all of them replace, and lines of which each belongs to one of them.
fn first_document() -> Value {
    let lines = NAMES.iter().flat_map(|name| (1..PATCHES).map(move |line| (format!("{name}-{line}"), json!("none"))));
    let lines: Map<String, Value> = lines.collect();
    json!({ "text": "none", "lines": lines })
}

fn committed(CanvasPatch { sequence, previous, op_id, by, ops, overwrote, .. }: CanvasPatch) -> Committed {
    let overwrote = overwrote
        .into_iter()
        .map(|one| Overwritten { path: one.path, sequence: one.sequence, op_id: one.op_id, by: one.by })
        .collect();
    Committed { sequence, previous, op_id, by, ops, overwrote }
}

/// A patch of the current round.
struct Sent {
    op_id: String,
    /// The version that it made; `None` without an answer.
    version: Option<u64>,
}

/// A person with the client of an editor.
struct Writer {
    name: &'static str,
    actor: String,
    cookie: String,
    path: String,
    client: Client,
    sent: Vec<Sent>,
}

impl Writer {
    fn request(&self, app: &App, method: Method, rest: &str) -> RequestBuilder {
        let request = app.http.request(method, format!("{}{}{rest}", app.url, self.path));
        request.header("cookie", &self.cookie).header("sec-fetch-site", "same-origin")
    }

    /// Makes the changes of a round, each after the answer to the one before, until the server answers no more.
    async fn write(&mut self, app: &App, round: usize) {
        self.sent.clear();
        for line in 0..PATCHES {
            let path = if line == 0 { "/text".to_owned() } else { format!("/lines/{}-{line}", self.name) };
            let value = format!("{} {round} {line}", self.name);
            let change = json!({ "op": "replace", "path": path, "value": value });
            self.client.edit(Patch::read_ops(&[change]).unwrap()).unwrap();
            let patch = self.client.next_patch().unwrap();
            self.sent.push(Sent { op_id: patch.op_id.clone(), version: None });
            let Some(version) = self.send(app, &patch).await else { return };
            self.sent.last_mut().unwrap().version = Some(version);
            // The patches of others before it did not arrive any more.
            if self.client.waiting() > 0 {
                return;
            }
        }
    }

    /// Sends a patch and takes its answer. Returns the version that it made; `None` without an answer.
    async fn send(&mut self, app: &App, patch: &Patch) -> Option<u64> {
        let body = json!({ "opId": patch.op_id, "base": patch.base, "ops": patch.ops, "strict": patch.is_strict });
        let response = self.request(app, Method::POST, "/patches").json(&body).send().await.ok()?;
        let status = response.status();
        let answer: Value = response.json().await.ok()?;
        assert_eq!(status, 200, "{answer}");
        let answer: PatchAnswer = serde_json::from_value(answer).unwrap();
        let patch = committed(answer.committed.expect("no change of these is rejected"));
        let (op_id, version) = (patch.op_id.clone(), patch.sequence);
        let received = self.client.answer(&op_id, Answer::Committed(patch));
        if matches!(received, Received::Gap(_)) {
            self.catch_up(app).await;
        }
        Some(version)
    }

    /// Takes the patches that the client lacks, if the server answers.
    async fn catch_up(&mut self, app: &App) {
        let query = format!("/patches?after={}", self.client.version());
        let Ok(response) = self.request(app, Method::GET, &query).send().await else { return };
        let Ok(found) = response.json::<CanvasPatches>().await else { return };
        for patch in found.patches.into_iter().map(committed) {
            let received = self.client.receive(&patch);
            assert!(matches!(received, Received::Taken(_)), "{}: {received:?}", self.name);
        }
    }

    /// Sends what waits again, twice. The repetition gets the recorded answer.
    async fn repeat(&mut self, app: &App) {
        if let Some(patch) = self.client.again() {
            let version = self.send(app, &patch).await;
            assert!(version.is_some(), "{}: a server that runs answers", self.name);
            assert_eq!(self.send(app, &patch).await, version, "{}: {}", self.name, patch.op_id);
            let sent = self.sent.iter_mut().find(|sent| sent.op_id == patch.op_id).unwrap();
            sent.version = version;
        }
    }
}

/// A canvas, and the three who edit it.
async fn writers(app: &App) -> Vec<Writer> {
    let ada = Browser::of(app, "ada@acme.test").await;
    let new = json!({ "title": "Plan", "document": first_document() });
    let made: Value = ada.call(Method::POST, "/api/canvases").json(&new).send().await.unwrap().json().await.unwrap();
    let path = format!("/api/canvases/{}", made["id"].as_str().unwrap());
    let (document, version) =
        (Document::read(&made["document"].to_string()).unwrap(), made["version"].as_u64().unwrap());
    let mut all = Vec::new();
    for name in NAMES {
        let email = format!("{name}@acme.test");
        if name != "ada" {
            add_person(app, &email);
        }
        let browser = Browser::of(app, &email).await;
        let me: Value = browser.call(Method::GET, "/api/me").send().await.unwrap().json().await.unwrap();
        let actor = format!("user:{}", me["user"]["id"].as_str().unwrap());
        if name != "ada" {
            let role = json!({ "participant": actor, "role": "edit" });
            let put = ada.call(Method::PUT, &format!("{path}/participants")).json(&role).send().await.unwrap();
            assert!(put.status().is_success(), "{}", put.status());
        }
        let cookie = browser.jar[0].0.clone();
        let client = Client::new(name, document.clone(), version);
        all.push(Writer { name, actor, cookie, path: path.clone(), client, sent: Vec::new() });
    }
    all
}

/// What the log says: the fold of it, and the version and the author of each patch.
struct Log {
    folded: Document,
    version: u64,
    patches: BTreeMap<String, (u64, String)>,
}

impl Log {
    /// Takes the patches of a round, none of which it has.
    fn take(&mut self, patches: &[Committed]) {
        for patch in patches {
            assert_eq!(patch.previous, self.version, "{patch:?}");
            self.folded.fold(&patch.ops).unwrap();
            self.version = patch.sequence;
            let known = self.patches.insert(patch.op_id.clone(), (patch.sequence, patch.by.clone()));
            assert_eq!(known, None, "{} is in the log twice", patch.op_id);
        }
    }
}

/// Repeats what was not answered, and compares what each of them has with the log and with the server.
async fn settle(app: &App, all: &mut [Writer], log: &mut Log, kills: &mut Kills) {
    let mut reader = Client::new("reader", log.folded.clone(), log.version);
    for writer in all.iter_mut() {
        writer.catch_up(app).await;
        let waits = writer.client.again().map(|patch| patch.op_id);
        for sent in &writer.sent {
            kills.count(sent.version.is_some(), waits.as_ref() != Some(&sent.op_id));
        }
        writer.repeat(app).await;
    }
    let query = format!("/patches?after={}", log.version);
    let found = all[0].request(app, Method::GET, &query).send().await.unwrap();
    let patches: Vec<_> = found.json::<CanvasPatches>().await.unwrap().patches.into_iter().map(committed).collect();
    log.take(&patches);
    for patch in &patches {
        assert_eq!(reader.receive(patch), Received::Taken(Vec::new()), "someone who only reads");
    }
    assert_eq!(reader.document(), &log.folded);
    let server: Value = all[0].request(app, Method::GET, "").send().await.unwrap().json().await.unwrap();
    let digest = |document: &Document| body_digest(&document.text(), "");
    let stored = Document::read(&server["document"].to_string()).unwrap();
    assert_eq!((digest(&stored), server["version"].as_u64()), (digest(&log.folded), Some(log.version)));
    for writer in all.iter_mut() {
        writer.catch_up(app).await;
        let shown = (digest(writer.client.document()), writer.client.version(), writer.client.waiting());
        assert_eq!(shown, (digest(&log.folded), log.version, 0), "{}", writer.name);
        for Sent { op_id, version } in &writer.sent {
            let recorded = log.patches.get(op_id).unwrap_or_else(|| panic!("{op_id} is lost"));
            assert_eq!(recorded, &(version.unwrap_or(recorded.0), writer.actor.clone()), "{op_id}");
        }
    }
}

async fn killed_at_any_instant(mut app: App) {
    let mut all = writers(&app).await;
    let (folded, version) = (all[0].client.document().clone(), all[0].client.version());
    let mut log = Log { folded, version, patches: BTreeMap::new() };
    let mut kills = Kills::default();
    // Nothing disturbs the first round.
    for round in 0..=rounds() {
        let [ada, ben, cem] = all.as_mut_slice() else { unreachable!("there are three of them") };
        let calls = async { tokio::join!(ada.write(&app, round), ben.write(&app, round), cem.write(&app, round)) };
        kills.interrupt(calls).await;
        app.kill();
        app.serve_again();
        settle(&app, &mut all, &mut log, &mut kills).await;
    }
    kills.report();
    app.kill();
    let verified = app.cli().arg("verify").output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    app.serve_again();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_see_one_document_however_the_server_is_killed_on_sqlite() {
    killed_at_any_instant(App::start()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_see_one_document_however_the_server_is_killed_on_postgresql() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    killed_at_any_instant(App::start_on(url)).await;
    engine.discard().await;
}
