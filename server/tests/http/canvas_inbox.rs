//! Suggestions for canvases in the inbox: shown, accepted, undone and declined by plain forms.

use crate::{
    app::{App, Who},
    browser::{Browser, add_person},
};
use reqwest::Method;
use serde_json::{Value, json};

/// A canvas of the person, and two suggestions of a token for it.
async fn suggested(app: &App, ada: &Browser<'_>) -> String {
    let new = json!({ "title": "<b>Plan</b>", "document": { "n": "old", "m": "old" } });
    let made: Value = ada.call(Method::POST, "/api/canvases").json(&new).send().await.unwrap().json().await.unwrap();
    let id = made["id"].as_str().unwrap().to_owned();
    let token = app.post(Who::Member, "/api/canvases", json!({ "title": "Own" })).await["createdBy"].clone();
    let role = json!({ "participant": token, "role": "suggest" });
    let put = ada.call(Method::PUT, &format!("/api/canvases/{id}/participants")).json(&role).send().await.unwrap();
    assert!(put.status().is_success());
    for (op_id, path) in [("w:1", "/n"), ("w:2", "/m")] {
        let ops = json!([{ "op": "replace", "path": path, "value": "new" }]);
        let patch = json!({ "opId": op_id, "base": 3, "ops": ops });
        let sent = app.post(Who::Member, &format!("/api/canvases/{id}/patches"), patch).await;
        assert_eq!(sent["suggested"], "open");
    }
    id
}

/// The value of the first hidden field with this name on the page.
fn hidden(page: &str, name: &str) -> String {
    let rest = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap().1;
    rest.split_once('"').unwrap().0.to_owned()
}

async fn send(ada: &Browser<'_>, fields: &[(&str, &str)]) -> (u16, String) {
    let response = ada.call(Method::POST, "/inbox/patches").form(fields).send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

async fn value(ada: &Browser<'_>, id: &str, member: &str) -> Value {
    let found = ada.call(Method::GET, &format!("/api/canvases/{id}")).send().await.unwrap();
    found.json::<Value>().await.unwrap()["document"][member].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suggestion_is_accepted_as_it_was_shown_and_undone() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let id = suggested(&app, &ada).await;
    assert!(ada.page("/inbox").await.contains("Suggested changes (2)"));
    let count: Value = ada.call(Method::GET, "/api/approvals/count").send().await.unwrap().json().await.unwrap();
    assert_eq!(count["open"], 2, "{count}");
    let by_kind = ada.call(Method::GET, "/inbox?kind=patch").send().await.unwrap();
    assert_eq!(by_kind.headers()["location"], "/inbox/patches");

    let page = ada.page("/inbox/patches").await;
    assert!(page.contains("&lt;b&gt;Plan") && !page.contains("<b>Plan"), "{page}");
    assert!(page.contains("Suggested by") && page.contains("Accept selected"), "{page}");
    let old = hidden(&page, "digest");
    let ops = json!([{ "op": "replace", "path": "/n", "value": "other" }]);
    let change = json!({ "opId": "a:1", "base": 3, "ops": ops });
    let patched = ada.call(Method::POST, &format!("/api/canvases/{id}/patches")).json(&change).send().await.unwrap();
    assert!(patched.status().is_success());
    let accept = |digest: &str| {
        let named = [("decision", "accept"), ("canvas", id.as_str()), ("suggestion", "w:1"), ("digest", digest)];
        named.map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let fields = accept(&old);
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let (status, refused) = send(&ada, &fields).await;
    assert!(status == 409 && refused.contains("the proposal has changed"), "{status} {refused}");
    assert_eq!(value(&ada, &id, "n").await, "other");
    let fields = accept(&hidden(&refused, "digest"));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(send(&ada, &fields).await.0, 303);
    assert_eq!(value(&ada, &id, "n").await, "new");

    assert!(ada.page("/inbox/patches").await.contains("Decided by you in the last hour"));
    let undo = [("decision", "undo"), ("canvas", id.as_str()), ("suggestion", "w:1")];
    assert_eq!(send(&ada, &undo).await.0, 303);
    assert_eq!(value(&ada, &id, "n").await, "other");
    assert!(!ada.page("/inbox/patches").await.contains("Decided by you"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_suggestions_are_declined_with_one_reason() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let id = suggested(&app, &ada).await;
    let (status, none) = send(&ada, &[("decision", "decline-selected"), ("reason", "Too early")]).await;
    assert!(status == 422 && none.contains("Select at least one suggestion."), "{status} {none}");
    let (first, second) = (format!("{id} {0} w:1", "0".repeat(64)), format!("{id} {0} w:2", "0".repeat(64)));
    let both = [
        ("decision", "decline-selected"),
        ("reason", "Too early"),
        ("patch[0]", first.as_str()),
        ("patch[1]", second.as_str()),
    ];
    assert_eq!(send(&ada, &both).await.0, 303);
    let declined = ada.call(Method::GET, &format!("/api/canvases/{id}/suggestions?state=declined"));
    let declined: Value = declined.send().await.unwrap().json().await.unwrap();
    let reasons: Vec<_> = declined["suggestions"].as_array().unwrap().iter().map(|one| &one["reason"]).collect();
    assert_eq!(reasons, [&json!("Too early"), &json!("Too early")], "{declined}");
    assert!(ada.page("/inbox/patches").await.contains("No change of a canvas waits for you"));
    let gone = ("patch[0]", first.as_str());
    let (status, late) = send(&ada, &[("decision", "accept-selected"), gone]).await;
    assert!(status == 409 && late.contains("w:1: "), "the first decision counts: {status} {late}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_suggestions_among_several_stay_selected_and_declines_are_undone() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let id = suggested(&app, &ada).await;
    let page = ada.page("/inbox/patches").await;
    assert!(page.contains("data-keys=\"inbox\"") && page.contains("data-key=\"approve\""), "{page}");
    let stale = format!("{id} {} w:1", "0".repeat(64));
    let digests: Vec<_> = page.match_indices("name=\"digest\" value=\"").map(|(at, found)| at + found.len()).collect();
    let current = format!("{id} {} w:2", &page[digests[1]..digests[1] + 64]);
    let both = [("decision", "accept-selected"), ("patch[00]", stale.as_str()), ("patch[01]", current.as_str())];
    let (status, shown) = send(&ada, &both).await;
    assert!(status == 409 && shown.contains("1 of the 2 selected suggestions was decided, 1 not."), "{status} {shown}");
    assert!(shown.contains("the proposal has changed"), "{shown}");
    let (_, boxed) = shown.split_once("name=\"patch[00]\"").unwrap();
    assert!(boxed.split_once("aria-label").unwrap().0.contains("checked"), "what was refused stays selected: {boxed}");
    assert_eq!((value(&ada, &id, "n").await, value(&ada, &id, "m").await), (json!("old"), json!("new")));
    let unseen = [("decision", "accept"), ("canvas", id.as_str()), ("suggestion", "w:1")];
    assert_eq!(send(&ada, &unseen).await.0, 422, "without a digest nothing is accepted");
    let decline = [("decision", "decline"), ("canvas", id.as_str()), ("suggestion", "w:1")];
    assert_eq!(send(&ada, &decline).await.0, 303);
    assert!(ada.page("/inbox/patches").await.contains("No change of a canvas waits for you"));
    let undo = [("decision", "undo"), ("canvas", id.as_str()), ("suggestion", "w:1")];
    assert_eq!(send(&ada, &undo).await.0, 303);
    assert!(ada.page("/inbox/patches").await.contains("Suggested by"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_and_the_page_of_a_canvas_accept_what_was_seen() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let id = suggested(&app, &ada).await;
    let address = format!("/api/canvases/{id}/suggestions");
    let waiting: Value = ada.call(Method::GET, &address).send().await.unwrap().json().await.unwrap();
    let digest = |at: usize| waiting["suggestions"][at]["digest"].as_str().unwrap().to_owned();
    let call = async |path: &str, body: Value| {
        let response = ada.call(Method::POST, &format!("{address}{path}")).json(&body).send().await.unwrap();
        (response.status().as_u16(), response.json::<Value>().await.unwrap())
    };
    let one = |op_id: &str, digest: String| json!({ "opId": op_id, "accept": true, "digest": digest });
    let (status, no_digest) = call("", one("w:1", "x".into())).await;
    assert!(status == 422 && no_digest["errors"][0]["field"] == "digest", "{status} {no_digest}");
    let (status, stale) = call("", one("w:1", digest(1))).await;
    assert_eq!((status, &stale["code"]), (409, &json!("stale_decision")));
    let batch = json!({ "decisions": [one("w:1", digest(0)), one("w:2", digest(0))] });
    let (status, decided) = call("/decisions", batch).await;
    assert_eq!(status, 200, "{decided}");
    assert_eq!(decided["results"][0]["answer"]["committed"]["opId"], "w:1", "{decided}");
    assert_eq!(decided["results"][1]["problem"]["code"], "stale_decision", "{decided}");
    assert_eq!(call("/decisions", json!({ "decisions": [] })).await.0, 422);
    for id in ["", "a\u{9b}"] {
        let (status, refused) = call("/decisions", json!({ "decisions": [{ "opId": id, "accept": false }] })).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!("opId")), "{refused}");
    }
    let (status, undone) = call("/undo", json!({ "opId": "w:1" })).await;
    assert!(status == 200 && undone["committed"].is_object(), "{status} {undone}");
    assert_eq!(value(&ada, &id, "n").await, "old");

    let path = format!("/canvases/{id}");
    let shown = hidden(&ada.page(&path).await, "digest");
    assert_eq!(shown, digest(1));
    for (sent, expected) in [("", 422), (digest(0).as_str(), 409), (shown.as_str(), 303)] {
        let accept = [("do", "accept"), ("suggestion", "w:2"), ("digest", sent)];
        let response = ada.call(Method::POST, &path).form(&accept).send().await.unwrap();
        assert_eq!(response.status().as_u16(), expected);
    }
    assert_eq!(value(&ada, &id, "m").await, "new");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_author_of_a_declined_suggestion_reads_why() {
    let app = App::start();
    add_person(&app, "ben@acme.test");
    let (ada, ben) = (Browser::of(&app, "ada@acme.test").await, Browser::of(&app, "ben@acme.test").await);
    let id = suggested(&app, &ada).await;
    let me: Value = ben.call(Method::GET, "/api/me").send().await.unwrap().json().await.unwrap();
    let role = json!({ "participant": format!("user:{}", me["user"]["id"].as_str().unwrap()), "role": "suggest" });
    let put = ada.call(Method::PUT, &format!("/api/canvases/{id}/participants")).json(&role).send().await.unwrap();
    assert!(put.status().is_success());
    let page = format!("/canvases/{id}");
    // The newest five of six are shown.
    for at in 1..=6 {
        let ops = json!([{ "op": "replace", "path": "/n", "value": format!("of ben {at}") }]);
        let patch = json!({ "opId": format!("ben:{at}"), "base": 3, "ops": ops });
        let sent = ben.call(Method::POST, &format!("/api{page}/patches")).json(&patch).send().await.unwrap();
        assert!(sent.status().is_success());
        let op_id = format!("ben:{at}");
        let reason = format!("<b>Too</b> late {at}");
        let decline = [
            ("decision", "decline"),
            ("canvas", id.as_str()),
            ("suggestion", op_id.as_str()),
            ("reason", reason.as_str()),
        ];
        assert_eq!(send(&ada, &decline).await.0, 303);
    }
    let shown = ben.page(&page).await;
    let (_, list) = shown.split_once("Your declined suggestions").unwrap();
    assert_eq!(list.matches("Declined by").count(), 5, "{list}");
    for at in 2..=6 {
        assert!(list.contains(&format!("&lt;b&gt;Too&lt;/b&gt; late {at}")) && list.contains(&format!("of ben {at}")));
    }
    assert!(!list.contains("late 1") && !shown.contains("<b>Too"), "{list}");
    assert!(!ada.page(&page).await.contains("declined suggestions"), "others do not see them");
}
