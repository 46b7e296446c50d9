//! Forms made from a JSON Schema that are sent to a server function: answers, and inputs of tasks. Without scripts.

use crate::{
    app::{App, Who},
    browser::{Browser, with_file},
    inbox::{ask, digest, item, reviewer},
};
use reqwest::{
    Method, Response, StatusCode,
    header::{ACCEPT, HeaderMap, HeaderValue},
};
use serde_json::{Value, json};

const TRIGGER: &str = "/fn/action/trigger";

fn trip() -> Value {
    json!({
        "type": "object", "required": ["days", "pay"],
        "properties": {
            "days": { "type": "integer" },
            "stops": { "type": "array", "items": { "type": "object", "required": ["city"], "properties": {
                "city": { "type": "string", "minLength": 2 }, "nights": { "type": "integer", "minimum": 1 } } } },
            "pay": { "oneOf": [
                { "type": "object", "required": ["kind", "card"], "properties": {
                    "kind": { "const": "card" }, "card": { "type": "string" } } },
                { "type": "object", "required": ["kind", "iban"], "properties": {
                    "kind": { "const": "bank" }, "iban": { "type": "string" } } },
            ] },
            "content": { "type": "string" },
        },
    })
}

async fn answered(app: &App, id: &str) -> Value {
    let path = format!("/api/approvals/{id}");
    let found: Value = app.request(Who::Admin, Method::GET, &path).send().await.unwrap().json().await.unwrap();
    found["decisions"][0]["value"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_with_rows_and_variants_is_filled_in_by_buttons() {
    let app = App::start();
    let id = ask(&app, &[json!({ "message": "Where to?", "schema": trip() })]).await.remove(0);
    let mut ada = reviewer(&app).await;
    let page = format!("/inbox/{id}");
    let shown = digest(&ada, &id).await;
    let own =
        [("id", id.as_str()), ("digest", shown.as_str()), ("next", "/inbox?notice=decided"), ("page", page.as_str())];
    let fresh = ada.page(&page).await;
    for part in
        ["value=\"add:answer.stops\"", "formaction=\"/fn/inbox/decide#gate-answer.stops\"", "answer.pay.~variant"]
    {
        assert!(fresh.contains(part), "{part}: {fresh}");
    }
    let mut typed = vec![("answer.days", "3"), ("answer.pay.~variant", "0"), ("answer.pay.card", "4111")];
    let changed = ada.post("/fn/inbox/decide", &[&own[..], &typed[..], &[("step", "add:answer.stops")]].concat()).await;
    assert_eq!(changed.status(), StatusCode::OK);
    let changed = changed.text().await.unwrap();
    for kept in [
        "name=\"answer.stops.0.city\"",
        "value=\"3\"",
        "value=\"4111\"",
        "id=\"gate-answer.stops.0\" tabindex=\"-1\" autofocus",
    ] {
        assert!(changed.contains(kept), "{kept}: {changed}");
    }
    assert_eq!(answered(&app, &id).await, Value::Null, "a button that changes the form decides nothing");

    // What the schema refuses is at the control of its part, in a row and in the chosen variant.
    typed.extend([("answer.stops.~rows", "1"), ("answer.stops.0.city", "O"), ("answer.stops.0.nights", "0")]);
    typed.retain(|(name, _)| !name.starts_with("answer.pay"));
    typed.push(("answer.pay.~variant", "1"));
    let respond = [("decision", "respond")];
    let refused = ada.post("/fn/inbox/decide", &[&own[..], &typed[..], &respond].concat()).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let refused = refused.text().await.unwrap();
    for name in ["answer.stops.0.city", "answer.stops.0.nights", "answer.pay.iban"] {
        assert!(refused.contains(&format!("id=\"gate-{name}-error\"")), "{name}: {refused}");
    }
    let right = [("answer.stops.0.city", "Oslo"), ("answer.stops.0.nights", "2"), ("answer.pay.iban", "NO1")];
    typed.retain(|(name, _)| right.iter().all(|(other, _)| name != other));
    typed.extend(right);
    let decided = ada.post("/fn/inbox/decide", &[&own[..], &typed[..], &respond].concat()).await;
    assert_eq!(decided.status(), StatusCode::SEE_OTHER, "{}", decided.text().await.unwrap());
    let expected =
        json!({ "days": 3, "stops": [{ "city": "Oslo", "nights": 2 }], "pay": { "kind": "bank", "iban": "NO1" } });
    assert_eq!(answered(&app, &id).await, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_answer_with_rows_is_given_to_several_questions() {
    let app = App::start();
    let items = ask(&app, &vec![json!({ "message": "Where to?", "schema": trip() }); 2]).await;
    let mut ada = reviewer(&app).await;
    let digests = [digest(&ada, &items[0]).await, digest(&ada, &items[1]).await];
    let names = [item(&items[0]), item(&items[1])];
    let selected = [(names[0].as_str(), digests[0].as_str()), (names[1].as_str(), digests[1].as_str())];
    let pages = [("next", "/inbox?notice=decided"), ("page", "/inbox")];
    let typed = [("answer.days", "3"), ("answer.pay.card", "4111")];
    let fields = [&selected[..], &pages, &typed].concat();
    let changed = ada.post("/fn/inbox/decide-many", &[&fields[..], &[("step", "add:answer.stops")]].concat()).await;
    assert_eq!(changed.status(), StatusCode::OK);
    let changed = changed.text().await.unwrap();
    for part in ["name=\"answer.stops.0.city\"", ">Answer 2<", "data-opened", "value=\"4111\""] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
    let rows = [("answer.stops.~rows", "1"), ("answer.stops.0.city", "Oslo"), ("decision", "respond")];
    let decided = ada.post("/fn/inbox/decide-many", &[&fields[..], &rows].concat()).await;
    assert_eq!(decided.status(), StatusCode::SEE_OTHER, "{}", decided.text().await.unwrap());
    for id in &items {
        let expected = json!({ "days": 3, "stops": [{ "city": "Oslo" }], "pay": { "kind": "card", "card": "4111" } });
        assert_eq!(answered(&app, id).await, expected);
    }
}

/// A task with this input schema.
async fn task(app: &App, schema: Value) -> String {
    let new = json!({ "name": "Trip", "slug": "trip", "agentSlug": "scout", "metadata": { "inputSchema": schema } });
    app.post(Who::Operator, "/api/actions", new).await["id"].as_str().unwrap().to_owned()
}

async fn input_of(ada: &Browser<'_>, begun: &Response) -> Value {
    assert_eq!(begun.status(), StatusCode::SEE_OTHER);
    let path = format!("/api{}", begun.headers()["location"].to_str().unwrap());
    let session: Value = ada.call(Method::GET, &path).send().await.unwrap().json().await.unwrap();
    session["input"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_input_of_a_task_has_rows_and_can_be_typed_as_json() {
    let app = App::start();
    let id = task(&app, trip()).await;
    let mut ada = reviewer(&app).await;
    let page = format!("/actions/{id}");
    let own = [("action_id", id.as_str()), ("next", "/sessions/{id}"), ("page", page.as_str())];
    let post = async |ada: &mut Browser<'_>, more: &[(&str, &str)]| ada.post(TRIGGER, &[&own[..], more].concat()).await;
    let fresh = ada.page(&page).await;
    assert!(fresh.contains("value=\"add:input.stops\"") && fresh.contains("Type the input as JSON"), "{fresh}");
    let typed = [("input.days", "3"), ("input.pay.card", "4111")];
    let changed = post(&mut ada, &[&typed[..], &[("step", "add:input.stops")]].concat()).await.text().await.unwrap();
    assert!(changed.contains("name=\"input.stops.0.city\"") && changed.contains("value=\"4111\""), "{changed}");
    let row = [("input.stops.~rows", "1"), ("input.stops.0.city", "O")];
    let refused = post(&mut ada, &[&typed[..], &row].concat()).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let refused = refused.text().await.unwrap();
    assert!(refused.contains("id=\"trigger-input.stops.0.city-error\""), "{refused}");
    let row = [("input.stops.~rows", "1"), ("input.stops.0.city", "Oslo")];
    let begun = post(&mut ada, &[&typed[..], &row].concat()).await;
    let expected = json!({ "days": 3, "stops": [{ "city": "Oslo" }], "pay": { "kind": "card", "card": "4111" } });
    assert_eq!(input_of(&ada, &begun).await, expected);
    // The form begins with it, and can be one text of JSON, which an error of the schema names by its line.
    assert!(ada.page(&page).await.contains("value=\"Oslo\""));
    let json = "{\n  \"days\": \"many\",\n  \"pay\": { \"kind\": \"card\", \"card\": \"1\" }\n}";
    let refused = post(&mut ada, &[("input", json), ("input.~json", "1")]).await.text().await.unwrap();
    assert!(refused.contains("line 2, days: "), "{refused}");
    let right = json.replace("\"many\"", "5");
    let begun = post(&mut ada, &[("input", right.as_str()), ("input.~json", "1")]).await;
    assert_eq!(input_of(&ada, &begun).await, json!({ "days": 5, "pay": { "kind": "card", "card": "1" } }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_file_is_the_text_of_its_field() {
    let app = App::start();
    let id = task(&app, json!({ "type": "object", "properties": { "content": { "type": "string" } } })).await;
    let ada = reviewer(&app).await;
    let page = format!("/actions/{id}");
    assert!(ada.page(&page).await.contains("enctype=\"multipart/form-data\""));
    let own =
        [("action_id", id.as_str()), ("next", "/sessions/{id}"), ("page", page.as_str()), ("input.content", "typed")];
    for (bytes, status) in
        [(b"from a file".to_vec(), StatusCode::SEE_OTHER), (vec![0xff, 0xfe], StatusCode::UNPROCESSABLE_ENTITY)]
    {
        let body = with_file(own, ("input.content.~file", &bytes[..]));
        let accept = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/html"))]);
        let request = ada.call(Method::POST, TRIGGER).headers(accept).body(body);
        let sent = request.header("content-type", "multipart/form-data; boundary=edge").send().await.unwrap();
        assert_eq!(sent.status(), status);
        match status {
            StatusCode::SEE_OTHER => {
                assert_eq!(input_of(&ada, &sent).await, json!({ "content": "from a file" }));
            }
            _ => assert!(sent.text().await.unwrap().contains("id=\"trigger-input.content-error\"")),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_of_objects_in_the_input_of_a_tool_is_edited_in_rows() {
    let app = App::start();
    let line =
        json!({ "type": "object", "properties": { "sku": { "type": "string" }, "count": { "type": "integer" } } });
    let schema = json!({ "type": "object", "properties": {
        "stage": { "type": "string" }, "lines": { "type": "array", "items": line } } });
    let tool = json!({
        "name": "Order", "slug": "order", "kind": "http", "requiresConfirmation": true, "inputSchema": schema,
        "http": { "method": "POST", "url": "https://example.org/orders", "body": { "template": { "of": "{/stage}" } } },
    });
    app.post(Who::Operator, "/api/tools", tool).await;
    app.post(Who::Operator, "/api/tools/order/publish", json!({})).await;
    let input = json!({ "stage": "new", "lines": [{ "sku": "a", "count": 1 }, { "sku": "b" }] });
    app.post(Who::Operator, "/api/tools/order/run", json!({ "input": input, "idempotencyKey": "1", "waitSeconds": 1 }))
        .await;
    let open: Value =
        app.request(Who::Admin, Method::GET, "/api/approvals").send().await.unwrap().json().await.unwrap();
    let id = open["items"][0]["id"].as_str().unwrap().to_owned();
    let mut ada = reviewer(&app).await;
    let (page, shown) = (format!("/inbox/{id}"), digest(&ada, &id).await);
    let fresh = ada.page(&page).await;
    assert!(fresh.contains("name=\"value.lines.1.sku\"") && fresh.contains("name=\"value.stage\""), "{fresh}");
    let own = [("id", id.as_str()), ("digest", shown.as_str()), ("next", "/inbox?notice=decided"), ("page", &page)];
    let typed = [
        ("value.stage", "new"),
        ("value.lines.~rows", "2"),
        ("value.lines.0.sku", "a"),
        ("value.lines.0.count", "1"),
        ("value.lines.1.sku", "b"),
        ("value.lines.1.count", "many"),
    ];
    let approve = [("decision", "approve")];
    let refused = ada.post("/fn/inbox/decide", &[&own[..], &typed, &approve].concat()).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text().await.unwrap().contains("id=\"gate-value.lines.1.count-error\""));
    assert!(
        !fresh.contains("remove:value.lines.0") && !fresh.contains("add:value.lines"),
        "a list of objects keeps its length"
    );
    let typed = [
        ("value.stage", "new"),
        ("value.lines.~rows", "2"),
        ("value.lines.0.sku", "a"),
        ("value.lines.0.count", "1"),
        ("value.lines.1.sku", "c"),
    ];
    let decided = ada.post("/fn/inbox/decide", &[&own[..], &typed, &approve].concat()).await;
    assert_eq!(decided.status(), StatusCode::SEE_OTHER, "{}", decided.text().await.unwrap());
    let lines = json!([{ "sku": "a", "count": 1 }, { "sku": "c" }]);
    assert_eq!(answered(&app, &id).await, json!({ "lines": lines }));
}
