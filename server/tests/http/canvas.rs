//! Canvases over the API: changed by several callers, read at any version, ended.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
};
use reqwest::{Method, Response};
use serde_json::{Value, json};

async fn read(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    (status, response.json().await.unwrap())
}

async fn get(app: &App, path: &str) -> Value {
    let (status, found) = read(app.request(Who::Operator, Method::GET, path).send().await.unwrap()).await;
    assert_eq!(status, 200, "{found}");
    found
}

fn patch(op_id: &str, base: u64, ops: &Value) -> Value {
    json!({ "opId": op_id, "base": base, "ops": ops })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_canvas_is_made_changed_read_and_completed() {
    let app = App::start();
    let new = json!({ "title": "Plan", "document": { "text": "one two three", "items": { "i": { "n": 1 } } } });
    let made = app.post(Who::Member, "/api/canvases", new).await;
    let path = format!("/api/canvases/{}", made["id"].as_str().unwrap());
    assert_eq!((&made["version"], &made["status"], &made["role"]), (&json!(3), &json!("running"), &json!("edit")));
    let send = |body: Value| {
        let request = app.request(Who::Member, Method::POST, &format!("{path}/patches")).json(&body);
        async move { read(request.send().await.unwrap()).await }
    };

    let first = patch("m:1", 3, &json!([{ "op": "replace", "path": "/text", "value": "1 two three" }]));
    let (status, answer) = send(first.clone()).await;
    assert_eq!((status, &answer["committed"]["previous"], &answer["head"]), (200, &json!(3), &json!(4)), "{answer}");
    assert_eq!(send(first).await.1, answer, "the recorded answer");
    let other = send(patch("n:1", 3, &json!([{ "op": "replace", "path": "/text", "value": "one two 3" }]))).await.1;
    assert_eq!((&other["committed"]["ops"][0]["value"], &other["head"]), (&json!("1 two 3"), &json!(5)), "{other}");
    send(patch("m:2", 5, &json!([{ "op": "remove", "path": "/items/i" }]))).await;
    let (status, gone) = send(patch("n:2", 5, &json!([{ "op": "replace", "path": "/items/i/n", "value": 2 }]))).await;
    let rejected = &gone["rejected"];
    assert_eq!((status, &rejected["reason"], &gone["head"]), (200, &json!("target_gone"), &json!(6)), "{gone}");
    assert_eq!((&rejected["path"], &rejected["because"]["opId"]), (&json!("/items/i/n"), &json!("m:2")));

    assert_eq!(get(&app, &path).await["document"], json!({ "items": {}, "text": "1 two 3" }));
    assert_eq!(get(&app, &format!("{path}/state?version=4")).await["document"]["text"], "1 two three");
    let patches = get(&app, &format!("{path}/patches?after=3&limit=2")).await;
    let listed: Vec<_> = patches["patches"].as_array().unwrap().iter().map(|one| &one["opId"]).collect();
    assert_eq!((listed, &patches["hasMore"]), (vec![&json!("m:1"), &json!("n:1")], &json!(true)), "{patches}");
    // The log of the session is what its event stream sends.
    let log = get(&app, &format!("/api/sessions/{}/events?eventTypes=state.patch", made["id"].as_str().unwrap())).await;
    let part = &log["events"][1]["content"][0];
    assert_eq!((&part["type"], &part["data"]["opId"]), (&json!("data-canvas-patch"), &json!("m:1")), "{log}");
    assert_eq!(get(&app, "/api/canvases").await["items"][0]["title"], "Plan");

    let by = json!({ "actionId": made["id"] });
    let refused = app.request(Who::Member, Method::POST, &format!("{path}/complete")).json(&by).send().await.unwrap();
    let (status, text) = problem(refused).await;
    assert_eq!((status, &text["errors"][0]["field"]), (422, &json!("actionId")), "began with no entity: {text}");
    let done = app.post(Who::Member, &format!("{path}/complete"), json!({})).await;
    assert_eq!((&done["status"], &done["version"]), (&json!("completed"), &json!(6)));
    let late = app.request(Who::Member, Method::POST, &format!("{path}/patches"));
    let late = late.json(&patch("m:3", 6, &json!([{ "op": "remove", "path": "/text" }]))).send().await.unwrap();
    assert_eq!(problem(late).await.0, 409);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn participants_change_a_canvas_and_nobody_else_does() {
    let app = App::start();
    let admin = Browser::of(&app, "ada@acme.test").await;
    let made = app.post(Who::Member, "/api/canvases", json!({ "title": "Plan", "document": { "n": 0 } })).await;
    let path = format!("/api/canvases/{}", made["id"].as_str().unwrap());
    let change = json!([{ "op": "replace", "path": "/n", "value": 1 }]);
    let by_admin = |op_id: &str| {
        let request = admin.call(Method::POST, &format!("{path}/patches")).json(&patch(op_id, 3, &change));
        async move { request.send().await.unwrap().status().as_u16() }
    };
    assert_eq!(by_admin("a:1").await, 403);
    let me = read(admin.call(Method::GET, "/api/me").send().await.unwrap()).await.1;
    let participant = format!("user:{}", me["user"]["id"].as_str().unwrap());
    let put = |body: Value| {
        let request = app.request(Who::Member, Method::PUT, &format!("{path}/participants")).json(&body);
        async move { read(request.send().await.unwrap()).await }
    };
    let (status, found) = put(json!({ "participant": participant, "role": "edit" })).await;
    assert_eq!((status, &found["participants"][0]["role"]), (200, &json!("edit")), "{found}");
    assert_eq!(by_admin("a:1").await, 200);
    assert_eq!(put(json!({ "participant": participant })).await.1["participants"], json!([]));
    assert_eq!(by_admin("a:2").await, 403);
    for (body, field) in [
        (json!({ "participant": "ada", "role": "edit" }), "participant"),
        (json!({ "participant": participant, "role": "owner" }), "role"),
    ] {
        let (status, refused) = put(body).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!(field)), "{refused}");
    }
    let agent = put(json!({ "participant": "agent:scout", "role": "suggest" })).await.1;
    assert_eq!(agent["participants"][0]["participant"], "agent:scout", "{agent}");
    let running = app.request(Who::Member, Method::POST, "/api/canvases");
    let running = running.json(&json!({ "title": "Copy", "fromSession": made["id"] })).send().await.unwrap();
    let (status, text) = problem(running).await;
    assert_eq!((status, &text["errors"][0]["field"]), (422, &json!("fromSession")), "{text}");
    let refused = app.request(Who::Member, Method::POST, &format!("{path}/patches"));
    let moved = json!([{ "op": "move", "from": "/n", "path": "/m" }]);
    let (status, text) = problem(refused.json(&patch("m:1", 3, &moved)).send().await.unwrap()).await;
    assert_eq!((status, &text["errors"][0]["field"]), (422, &json!("ops[0].op")), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_canvas_is_written_by_plain_forms_and_hostile_text_stays_text() {
    let app = App::start();
    let admin = Browser::of(&app, "ada@acme.test").await;
    let send = |path: &str, fields: &[(&str, &str)]| {
        let request = admin.call(Method::POST, path).form(fields);
        async move { request.send().await.unwrap() }
    };
    assert_eq!(send("/canvases", &[("title", " ")]).await.status().as_u16(), 422);
    let made = send("/canvases", &[("title", "<b>Plan</b>")]).await;
    assert_eq!(made.status().as_u16(), 303);
    let to = made.headers()["location"].to_str().unwrap().split('?').next().unwrap().to_owned();
    let hostile = "<script>alert(1)</script>\n# no heading";
    let add = [("do", "add"), ("base", "3"), ("key", "k1"), ("kind", "text"), ("text", hostile)];
    for _ in 0..2 {
        assert_eq!(send(&to, &add).await.status().as_u16(), 303, "sent twice, added once");
    }
    let page = admin.page(&to).await;
    assert_eq!(page.matches("&lt;script&gt;alert(1)").count(), 2, "the block, and the form that edits it");
    assert!(!page.contains("<script>alert") && !page.contains("<b>Plan"), "{page}");
    let other = json!([{ "op": "remove", "path": "/blocks/bk1" }]);
    let api = format!("/api{to}/patches");
    let removed = admin.call(Method::POST, &api).json(&patch("a:1", 4, &other)).send().await.unwrap();
    assert_eq!(removed.status().as_u16(), 200);
    let edit = [("do", "edit"), ("base", "4"), ("key", "k2"), ("block", "bk1"), ("text", "typed")];
    let refused = send(&to, &edit).await;
    assert_eq!(refused.status().as_u16(), 409);
    let text = refused.text().await.unwrap();
    assert!(text.contains("Your text is kept.") && text.contains("typed</textarea>"), "{text}");
    let exported = admin.call(Method::GET, &format!("{to}/export?format=md")).send().await.unwrap();
    assert_eq!(exported.headers()["content-type"], "text/markdown; charset=utf-8");
    assert_eq!(exported.text().await.unwrap(), "# <b>Plan</b>\n");
    assert_eq!(send(&to, &[("do", "complete")]).await.status().as_u16(), 303);
    assert!(!admin.page(&to).await.contains("Add block"), "an ended canvas has no forms");
    assert!(admin.page("/canvases").await.contains("completed"));
}
