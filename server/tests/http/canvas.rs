//! Canvases over the API: changed by several callers, read at any version, ended.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
};
use domain::limit::CANVAS_UNCOMMITTED_PER_MINUTE;
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
async fn patches_that_change_nothing_are_refused_after_so_many_in_a_minute() {
    let app = App::start();
    let new = json!({ "title": "Plan", "document": { "items": { "i": { "n": 1 } }, "n": 1 } });
    let made = app.post(Who::Member, "/api/canvases", new.clone()).await;
    let path = format!("/api/canvases/{}", made["id"].as_str().unwrap());
    let base = made["version"].as_u64().unwrap();
    let send = |path: &str, op_id: String, ops: Value| {
        let request = app.request(Who::Member, Method::POST, &format!("{path}/patches"));
        let request = request.json(&patch(&op_id, base, &ops));
        async move { request.send().await.unwrap() }
    };
    let removed = read(send(&path, "m:0".to_owned(), json!([{ "op": "remove", "path": "/items/i" }])).await).await;
    assert_eq!(removed.0, 200, "{}", removed.1);
    let into_nothing = json!([{ "op": "replace", "path": "/items/i/n", "value": 2 }]);
    for number in 1..=CANVAS_UNCOMMITTED_PER_MINUTE {
        let (status, answer) = read(send(&path, format!("m:{number}"), into_nothing.clone()).await).await;
        assert_eq!((status, &answer["rejected"]["reason"]), (200, &json!("not_found")), "{number}: {answer}");
    }
    let change = json!([{ "op": "replace", "path": "/n", "value": 2 }]);
    for ops in [into_nothing, change.clone()] {
        let refused = send(&path, "m:late".to_owned(), ops).await;
        let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        let (status, text) = problem(refused).await;
        assert_eq!((status, &text["code"]), (429, &json!("too_many_requests")), "{text}");
    }
    assert_eq!(get(&app, &path).await["document"]["n"], 1, "nothing was applied");
    let other = app.post(Who::Member, "/api/canvases", new).await;
    let other = format!("/api/canvases/{}", other["id"].as_str().unwrap());
    assert_eq!(read(send(&other, "m:1".to_owned(), change).await).await.0, 200, "another canvas takes patches");
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
    let new = admin.call(Method::GET, "/canvases/new").send().await.unwrap();
    assert_eq!(new.status().as_u16(), 303);
    assert_eq!(new.headers()["location"], "/canvases");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_show_versions_restore_one_and_change_who_takes_part() {
    let app = App::start();
    let admin = Browser::of(&app, "ada@acme.test").await;
    let send = |path: String, fields: &[(&str, &str)]| {
        let request = admin.call(Method::POST, &path).form(fields);
        async move { request.send().await.unwrap() }
    };
    let twice = [("title", "Plan"), ("key", "page-key")];
    let [made, again] = [send("/canvases".into(), &twice).await, send("/canvases".into(), &twice).await];
    let to = made.headers()["location"].to_str().unwrap().split('?').next().unwrap().to_owned();
    assert_eq!(made.headers()["location"], again.headers()["location"], "a form that is sent twice");
    for (base, key, text) in [("3", "k1", "<i>old"), ("4", "k2", "zweiter")] {
        let add = [("do", "add"), ("base", base), ("key", key), ("kind", "text"), ("text", text)];
        assert_eq!(send(to.clone(), &add).await.status().as_u16(), 303);
    }
    let newest = admin.page(&format!("{to}/versions")).await;
    assert!(newest.contains("Version 5, the newest") && newest.contains("&lt;i&gt;old"), "{newest}");
    assert!(newest.contains("Changed by") && !newest.contains("Restore this version"), "{newest}");
    assert!(newest.contains("#seq-5"), "a link into the log: {newest}");
    let earlier = admin.page(&format!("{to}/versions?at=4&from=3")).await;
    assert!(earlier.contains("Version 4 of 5") && earlier.contains("Restore this version"), "{earlier}");
    let missing = admin.call(Method::GET, &format!("{to}/versions?at=9")).send().await.unwrap();
    assert_eq!(missing.status().as_u16(), 422);
    let restore = [("at", "4"), ("base", "5"), ("key", "k3")];
    assert_eq!(send(format!("{to}/versions"), &restore).await.status().as_u16(), 303);
    assert!(!admin.page(&to).await.contains("zweiter"));
    let exported = admin.call(Method::GET, &format!("{to}/export?format=json&at=5")).send().await.unwrap();
    assert!(exported.text().await.unwrap().contains("zweiter"), "an earlier version can be exported");

    let own = app.post(Who::Member, "/api/canvases", json!({ "title": "Own" })).await;
    let token = own["createdBy"].as_str().unwrap();
    let people = format!("{to}/participants");
    assert!(admin.page(&people).await.contains(&format!("value=\"{token}\"")), "tokens are offered");
    for (who, name) in [("participant", token), ("agent", "scout")] {
        let put = send(people.clone(), &[("do", "put"), (who, name), ("role", "suggest")]).await;
        assert_eq!(put.status().as_u16(), 303);
    }
    let shown = admin.page(&to).await;
    let name = format!("&quot;{token}&quot;:&quot;Member (token)&quot;");
    assert!(shown.contains(&name), "the editor knows the names of those who take part: {shown}");
    let listed = admin.page(&people).await;
    assert!(listed.contains("the agent scout") && listed.contains("suggests changes"), "{listed}");
    let none = send(people.clone(), &[("do", "put"), ("role", "edit")]).await;
    assert_eq!(none.status().as_u16(), 422);
    assert_eq!(send(people.clone(), &[("do", "remove"), ("participant", token)]).await.status().as_u16(), 303);
    let left = get(&app, &format!("/api{to}/participants")).await;
    assert_eq!(left["participants"].as_array().unwrap().len(), 1, "{left}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_result_of_a_tool_has_one_form_on_the_page_and_in_the_editor() {
    let app = App::start();
    let admin = Browser::of(&app, "ada@acme.test").await;
    let rows = json!([{ "name": "<b>one", "size": 1 }, { "name": "two", "size": 2 }]);
    let (table, text) = ("r 1", "t");
    let blocks = json!({
        table: { "type": "result", "session": "no id", "value": rows, "order": "a0" },
        text: { "type": "text", "text": "x", "order": "a1" },
    });
    let new = json!({ "title": "Plan", "document": { "blocks": blocks } });
    let made = app.post(Who::Member, "/api/canvases", new).await;
    let path = format!("/canvases/{}", made["id"].as_str().unwrap());
    let shown = admin.page(&format!("{path}?block=r+1")).await;
    let result = shown.strip_prefix("<div class=\"canvas-result\">").unwrap();
    let (result, _) = result.split_once("<details").unwrap();
    assert!(result.contains("<table") && result.contains("&lt;b&gt;one") && !result.contains("<b>one"), "{shown}");
    assert!(!result.contains("no id"), "a session that is none has no link: {shown}");
    assert!(admin.page(&path).await.contains(result), "the page without scripts has the same");
    for other in [text, "gone"] {
        let missing = admin.call(Method::GET, &format!("{path}?block={other}")).send().await.unwrap();
        assert_eq!(missing.status().as_u16(), 404, "{other}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_canvas_begins_with_a_template_by_a_plain_form() {
    let app = App::start();
    let admin = Browser::of(&app, "ada@acme.test").await;
    let post = async |path: &str, fields: &[(&str, &str)]| {
        let sent = admin.call(Method::POST, path).form(fields).send().await.unwrap();
        assert_eq!(sent.status().as_u16(), 303);
        sent.headers()["location"].to_str().unwrap().split('?').next().unwrap().to_owned()
    };
    let report = post("/canvases", &[("title", "<i>Report</i>")]).await;
    let add = [("do", "add"), ("base", "3"), ("key", "k1"), ("kind", "text"), ("text", "What happened?")];
    post(&report, &add).await;
    assert!(!admin.page("/canvases").await.contains("Begin with"), "there is no template");
    post(&report, &[("do", "template")]).await;
    assert!(admin.page(&report).await.contains("Remove from templates"));
    let list = admin.page("/canvases").await;
    assert!(list.contains("Begin with") && list.contains("Open, template") && !list.contains("<i>Report"), "{list}");
    let id = report.rsplit('/').next().unwrap();
    let june = post("/canvases", &[("title", "June"), ("fromCanvas", id)]).await;
    let page = admin.page(&june).await;
    assert!(page.contains("What happened?") && page.contains("Make it a template"), "{page}");
    post(&report, &[("do", "no-template")]).await;
    assert!(!admin.page("/canvases").await.contains("Begin with"));
}
