//! P-33: bad input gets a precise problem with a status from 400 to 499, and never a 500.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
    prepare::{Sent, multipart},
};
use domain::limit;
use flate2::{Compression, write::GzEncoder};
use futures_util::future::join_all;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::io::Write;

#[tokio::test]
async fn each_bad_request_gets_a_precise_error() {
    let app = App::start();
    let id = app.running(Who::Operator).await;
    let none = "00000000-0000-7000-8000-000000000000";
    let json_cases = [
        ("/api/actions", json!({ "nme": "x" }), 422, "invalid_request"),
        ("/api/actions", json!({ "name": "" }), 422, "invalid_request"),
        ("/api/actions", json!({ "name": "x", "slug": "Not A Slug" }), 422, "invalid_request"),
        ("/api/actions", json!({ "name": "x", "metadata": [] }), 422, "invalid_request"),
        ("/api/actions", json!({ "name": "x", "assignedTo": none }), 422, "invalid_request"),
        ("/api/actions", json!([]), 422, "invalid_request"),
        ("/api/actions", json!({ "name": "x", "targetEntityId": none }), 422, "invalid_request"),
        ("/api/actions", json!({ "name": "x", "targetEntityId": "acme" }), 422, "invalid_request"),
        ("/api/entity-types", json!({ "name": "" }), 422, "invalid_request"),
        ("/api/entity-types", json!({ "name": "x", "fields": [{ "slug": "a", "name": "A" }] }), 422, "invalid_request"),
        (
            "/api/entity-types",
            json!({ "name": "x", "fields": [{ "slug": "a", "name": "A", "type": "colour" }] }),
            422,
            "invalid_request",
        ),
        (
            "/api/entity-types",
            json!({ "name": "x", "fields": [{ "slug": "a", "name": "A", "type": "select" }] }),
            422,
            "invalid_request",
        ),
        ("/api/entities", json!({ "typeId": none, "title": "x" }), 404, "not_found"),
        ("/api/criteria-sets", json!({ "name": "x", "dimensions": [] }), 422, "invalid_request"),
        ("/api/groups", json!({ "name": "x", "members": ["ann"] }), 422, "invalid_request"),
        ("/api/groups", json!({ "name": "x", "members": [none] }), 422, "invalid_request"),
        ("/api/entities", json!({ "typeId": "x", "title": "x" }), 422, "invalid_request"),
        ("/api/entities", json!({ "title": "x" }), 422, "invalid_request"),
        ("/api/sessions", json!({ "sessionType": "robot" }), 422, "invalid_request"),
        ("/api/sessions", json!({ "sessionType": "agent", "parentId": none }), 404, "not_found"),
        ("/api/sessions/claim", json!({ "max": 0 }), 422, "invalid_request"),
        ("/api/sessions/claim", json!({ "leaseSeconds": 1_000_000 }), 422, "invalid_request"),
    ];
    for (path, body, status, code) in json_cases {
        let response = app.request(Who::Operator, Method::POST, path).json(&body).send().await.unwrap();
        let (got, problem) = problem(response).await;
        assert_eq!((got, problem["code"].as_str().unwrap()), (status, code), "{path} {body}: {problem}");
        if status == 422 {
            assert!(
                problem["errors"].as_array().is_some_and(|e| !e.is_empty()) || problem["detail"].is_string(),
                "{problem}"
            );
        }
    }
    let append =
        |body: Value| app.request(Who::Worker, Method::POST, &format!("/api/sessions/{id}/events")).json(&body).send();
    for (body, status, field) in [
        (json!({ "attempt": 1, "events": [] }), 422, "events"),
        (json!({ "attempt": 1, "events": [{ "type": "agent.message" }, { "type": "x" }] }), 422, "events[1].type"),
        (json!({ "attempt": 1, "events": [{ "type": "agent.message", "content": 7 }] }), 422, "events[0].content"),
        (json!({ "attempt": 1, "events": [{ "type": "agent.message", "metadata": [] }] }), 422, "events[0].metadata"),
        (json!({ "attempt": 1, "events": [{ "type": "user.message" }] }), 403, "events[0].type"),
    ] {
        let (got, problem) = problem(append(body.clone()).await.unwrap()).await;
        assert_eq!(got, status, "{body}: {problem}");
        assert_eq!(problem["errors"][0]["field"], field, "{body}: {problem}");
    }
    let (status, stale) =
        problem(append(json!({ "attempt": 9, "events": [{ "type": "agent.message" }] })).await.unwrap()).await;
    assert_eq!((status, stale["code"].as_str()), (409, Some("stale_attempt")), "{stale}");
}

#[tokio::test]
async fn what_is_not_even_json_and_what_is_nowhere() {
    let app = App::start();
    let raw = |path: &str, kind: &str, body: &str| {
        let request = app.request(Who::Operator, Method::POST, path);
        request.header("content-type", kind).body(body.to_owned()).send()
    };
    for (path, kind, body, status, code) in [
        ("/api/actions", "application/json", "{", 400, "invalid_json"),
        ("/api/actions", "application/json", "", 400, "invalid_json"),
        ("/api/actions", "text/plain", "{}", 415, "unsupported_media_type"),
        ("/api/actions/nonsense/trigger", "application/json", "{}", 400, "invalid_id"),
    ] {
        let (got, problem) = problem(raw(path, kind, body).await.unwrap()).await;
        assert_eq!((got, problem["code"].as_str().unwrap()), (status, code), "{path} {body:?}: {problem}");
    }
    for (path, status, code) in [
        ("/api/nothing", 404, "not_found"),
        ("/api/sessions/x", 400, "invalid_id"),
        ("/api/sessions/00000000-0000-7000-8000-000000000000", 404, "not_found"),
        ("/api/sessions?cursor=x", 400, "invalid_cursor"),
        ("/api/sessions?limit=0", 422, "invalid_request"),
        ("/api/sessions?limit=1001", 422, "invalid_request"),
        ("/api/sessions?nonsense=1", 422, "invalid_request"),
        ("/api/entities?cursor=x", 400, "invalid_cursor"),
        ("/api/entities?typeId=x", 400, "invalid_id"),
        ("/api/entities?limit=0", 422, "invalid_request"),
        ("/api/entity-types/x", 400, "invalid_id"),
        ("/api/criteria-sets/x", 400, "invalid_id"),
        ("/api/criteria-sets/00000000-0000-7000-8000-000000000000?version=x", 422, "invalid_request"),
        ("/api/imports/00000000-0000-7000-8000-000000000000", 404, "not_found"),
        ("/api/insights?days=0", 422, "invalid_request"),
        ("/api/insights?days=367", 422, "invalid_request"),
        ("/api/insights?days=many", 422, "invalid_request"),
        ("/api/sessions?status=sleeping", 422, "invalid_request"),
        ("/api/today/work-queue-counts?timezone=Mars/Base", 422, "invalid_request"),
        ("/api/approvals/count?atMost=1000001", 422, "invalid_request"),
        (
            "/api/sessions/00000000-0000-7000-8000-000000000000/events?afterSequence=9007199254740992",
            422,
            "invalid_request",
        ),
        (
            "/api/sessions/00000000-0000-7000-8000-000000000000/events?beforeSequence=9007199254740992",
            422,
            "invalid_request",
        ),
    ] {
        let (got, problem) = problem(app.request(Who::Operator, Method::GET, path).send().await.unwrap()).await;
        assert_eq!((got, problem["code"].as_str().unwrap()), (status, code), "{path}: {problem}");
    }
    let (status, problem) =
        problem(app.request(Who::Operator, Method::DELETE, "/api/actions").send().await.unwrap()).await;
    assert_eq!((status, problem["code"].as_str()), (405, Some("method_not_allowed")));
}

#[tokio::test]
async fn a_body_with_an_encoding_is_decoded_within_its_limit_or_refused() {
    let app = App::start();
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let send = |encoding: &str, body: Vec<u8>| {
        let request = app.request(Who::Operator, Method::POST, "/api/actions");
        request.header("content-type", "application/json").header("content-encoding", encoding).body(body).send()
    };
    let created = send("gzip", gzip(br#"{"name":"Zipped"}"#)).await.unwrap();
    assert!(created.status().is_success(), "{}", created.status());
    assert_eq!(created.json::<Value>().await.unwrap()["name"], "Zipped");
    assert!(send("identity", br#"{"name":"Plain"}"#.to_vec()).await.unwrap().status().is_success());
    let bomb = gzip(&vec![b' '; 40_000_000]);
    let torn = gzip(br#"{"name":"x"}"#)[..12].to_vec();
    for (encoding, body, status, code) in [
        ("br", b"{}".to_vec(), 415, "unsupported_media_type"),
        ("gzip, gzip", gzip(b"{}"), 415, "unsupported_media_type"),
        ("gzip", bomb, 413, "too_large"),
        ("gzip", torn, 422, "invalid_request"),
        ("deflate", b"{}".to_vec(), 422, "invalid_request"),
        ("gzip", gzip(b"{"), 400, "invalid_json"),
    ] {
        let (got, problem) = problem(send(encoding, body).await.unwrap()).await;
        assert_eq!((got, problem["code"].as_str().unwrap()), (status, code), "{encoding}: {problem}");
    }
}

#[tokio::test]
async fn bad_entities_and_files_get_an_error_for_each_field() {
    let app = App::start();
    let fields = json!([
        { "slug": "stage", "name": "Stage", "type": "select", "options": ["Lead", "Won"] },
        { "slug": "closes", "name": "Closes", "type": "date", "required": true },
    ]);
    let of = app.post(Who::Operator, "/api/entity-types", json!({ "name": "Deal", "fields": fields })).await;
    let new = |fields: Value| json!({ "typeId": of["id"], "title": "Big one", "fields": fields });
    let wrong = new(json!({ "stage": "Maybe", "size": 1 }));
    let response = app.request(Who::Member, Method::POST, "/api/entities").json(&wrong).send().await.unwrap();
    let (status, refused) = problem(response).await;
    let named: Vec<_> = refused["errors"].as_array().unwrap().iter().map(|e| e["field"].as_str().unwrap()).collect();
    assert_eq!((status, named), (422, vec!["fields.size", "fields.stage", "fields.closes"]), "{refused}");

    let made = app.post(Who::Member, "/api/entities", new(json!({ "closes": "2026-12-01" }))).await;
    let path = format!("/api/entities/{}", made["id"].as_str().unwrap());
    let patch = |version: u64| {
        let body = json!({ "version": version, "fields": { "stage": "Won" } });
        app.request(Who::OtherMember, Method::PATCH, &path).json(&body).send()
    };
    assert_eq!(patch(1).await.unwrap().status(), 200);
    let (status, stale) = problem(patch(1).await.unwrap()).await;
    assert_eq!((status, stale["code"].as_str()), (409, Some("stale_version")), "{stale}");
    assert!(stale["detail"].as_str().unwrap().contains("version 2"), "{stale}");

    let imports = format!("/api/entity-types/{}/imports", of["id"].as_str().unwrap());
    let send = |query: &str, kind: &str, body: Vec<u8>| {
        let path = format!("{imports}{query}");
        app.request(Who::Member, Method::POST, &path).header("content-type", kind.to_owned()).body(body).send()
    };
    let too_large = vec![b'x'; limit::IMPORT_BYTES_MAX + 1];
    for (query, kind, body, status, code) in [
        ("", "application/json", b"{}".to_vec(), 415, "unsupported_media_type"),
        ("", "text/csv", b"\xff\xfe".to_vec(), 422, "invalid_request"),
        ("", "text/csv", Vec::new(), 422, "invalid_request"),
        ("", "text/csv", too_large, 413, "too_large"),
        ("?mapping=x", "text/csv", b"Name\nx\n".to_vec(), 422, "invalid_request"),
        ("?mapping=%7B%22Nope%22%3A%22title%22%7D", "text/csv", b"Name\nx\n".to_vec(), 422, "invalid_request"),
        ("?dryrun=true", "text/csv", b"Name\nx\n".to_vec(), 422, "invalid_request"),
    ] {
        let (got, refused) = problem(send(query, kind, body).await.unwrap()).await;
        assert_eq!((got, refused["code"].as_str().unwrap()), (status, code), "{query} {kind}: {refused}");
    }
}

#[tokio::test]
async fn a_file_is_previewed_and_then_imported_in_the_background() {
    let app = App::start();
    let fields = json!([{ "slug": "size", "name": "Size", "type": "number" }]);
    let of = app.post(Who::Operator, "/api/entity-types", json!({ "name": "Deal", "fields": fields })).await;
    let imports = format!("/api/entity-types/{}/imports", of["id"].as_str().unwrap());
    let mut source = "Deal,Size\nbad,x\n".to_owned();
    for n in 0..1_000 {
        source.push_str(&format!("Deal {n},{n}\n"));
    }
    let send = |query: &str| {
        let request = app.request(Who::Member, Method::POST, &format!("{imports}{query}"));
        request.header("content-type", "text/csv; charset=utf-8").body(source.clone()).send()
    };
    let response = send("?dryRun=true").await.unwrap();
    assert_eq!(response.status(), 200);
    let preview: Value = response.json().await.unwrap();
    assert_eq!(preview["columns"][0], json!({ "column": "Deal", "field": "title" }));
    assert_eq!((&preview["rowsTotal"], &preview["failedCount"]), (&json!(1_001), &json!(1)));
    assert_eq!(preview["errors"][0], json!({ "row": 2, "field": "size", "message": "a number" }));
    let response = send("").await.unwrap();
    assert_eq!(response.status(), 201);
    let import: Value = response.json().await.unwrap();
    let done = ended(&app, &format!("/api/imports/{}", import["id"].as_str().unwrap())).await;
    assert_eq!((&done["status"], &done["rowsDone"]), (&json!("completed"), &json!(1_001)), "{done}");
    assert_eq!((&done["createdCount"], &done["failedCount"]), (&json!(1_000), &json!(1)));
    let found: Value = app
        .request(Who::Member, Method::GET, "/api/entities?q=%22deal%20999%22")
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(found["items"][0]["fields"], json!({ "size": 999 }));
}

/// Waits for the end of an import, which is at this path, and returns it.
async fn ended(app: &App, path: &str) -> Value {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let now: Value = app.request(Who::Member, Method::GET, path).send().await.unwrap().json().await.unwrap();
        if now["status"] != "running" {
            return now;
        }
        assert!(tokio::time::Instant::now() < deadline, "{now}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_preview_that_is_sent_twice_imports_its_rows_once() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let of = app.post(Who::Operator, "/api/entity-types", json!({ "name": "Deal" })).await;
    let path = format!("/entity-types/{}/import", of["id"].as_str().unwrap());
    let send = async |fields: &[(&str, &str)]| {
        let Sent::Text(kind, body) = multipart(fields) else { panic!("a form with a file is text") };
        ada.call(Method::POST, &path).header("content-type", kind).body(body).send().await.unwrap()
    };
    let source = ("source", "Name\nAcme\nBeta\n");
    let preview = send(&[source, ("step", "preview")][..]).await.text().await.unwrap();
    let (_, key) = preview.split_once("name=\"key\" value=\"").unwrap_or_else(|| panic!("{preview}"));
    let key = key.split('"').next().unwrap();
    let columns = [("column.0", "Name"), ("map.0", "title"), ("key", key), ("step", "import")];
    let mut begun = Vec::new();
    for _ in 0..2 {
        let sent = send(&[&[source][..], &columns].concat()[..]).await;
        assert_eq!(sent.status(), StatusCode::SEE_OTHER);
        begun.push(sent.headers()["location"].to_str().unwrap().to_owned());
    }
    assert_eq!(begun[0], begun[1]);
    let done = ended(&app, &format!("/api{}", begun[0])).await;
    assert_eq!((&done["status"], &done["createdCount"]), (&json!("completed"), &json!(2)), "{done}");
    let found = app.request(Who::Member, Method::GET, "/api/entities").send().await.unwrap();
    let found: Value = found.json().await.unwrap();
    assert_eq!(found["items"].as_array().unwrap().len(), 2, "{found}");
    // Another file under the key of the preview is another request.
    let other = send(&[&[("source", "Name\nGamma\n")][..], &columns].concat()[..]).await;
    assert_eq!(other.status(), StatusCode::CONFLICT);
}

#[tokio::test]
async fn a_wrong_dimension_is_named_by_its_path() {
    let app = App::start();
    for (dimension, field) in [
        (json!({ "slug": "a", "type": "colour" }), "dimensions[1].type"),
        (
            json!({ "slug": "a", "type": "select", "options": [{ "value": "x", "style": "red" }] }),
            "dimensions[1].options[0].style",
        ),
        (
            json!({ "slug": "a", "type": "select", "options": ["x"], "optionStyles": { "y": { "hardBlock": true } } }),
            "dimensions[1]",
        ),
        (json!({ "slug": "a", "type": "scale", "min": 1 }), "dimensions[1].max"),
    ] {
        let body = json!({ "name": "x", "dimensions": [{ "slug": "why", "type": "text" }, dimension] });
        let response = app.request(Who::Operator, Method::POST, "/api/criteria-sets").json(&body).send().await.unwrap();
        let (status, refused) = problem(response).await;
        assert_eq!((status, refused["errors"][0]["field"].as_str()), (422, Some(field)), "{refused}");
    }
    // The short form keeps the style, score and hard block of an option.
    let safety = json!({ "slug": "phi_safety", "type": "select", "options": ["pass", "fail"],
        "optionStyles": { "fail": { "style": "negative", "score": 0, "hardBlock": true } } });
    let made = app.post(Who::Operator, "/api/criteria-sets", json!({ "name": "Safety", "dimensions": [safety] })).await;
    let fail = json!({ "value": "fail", "label": "fail", "style": "negative", "score": 0.0, "hardBlock": true });
    assert_eq!(made["dimensions"][0]["options"][1], fail);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_leads_nowhere_asks_only_those_to_sign_in_who_have_not() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let stranger = Browser::stranger(&app);
    for (browser, offered, other) in
        [(&ada, "href=\"/today\"", "href=\"/sign-in\""), (&stranger, "href=\"/sign-in\"", "href=\"/today\"")]
    {
        let nowhere = browser.ask(Method::GET, "/nowhere", &[]).await;
        assert_eq!(nowhere.status(), StatusCode::NOT_FOUND);
        let html = nowhere.text().await.unwrap();
        assert!(html.contains(offered) && !html.contains(other), "{html}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_of_a_page_with_a_wrong_number_is_refused_by_a_page_that_names_it() {
    let app = App::start();
    let id = app.running(Who::Operator).await;
    let ada = Browser::of(&app, "ada@acme.test").await;
    for (path, field) in [
        (format!("/sessions/{id}?before=x"), "before"),
        (format!("/sessions/{id}/rows?afterSequence=-1"), "afterSequence"),
        (format!("/chat/{id}?before=1.5"), "before"),
        (format!("/criteria-sets/{id}?version=first"), "version"),
    ] {
        let refused = ada.ask(Method::GET, &path, &[]).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{path}");
        let html = refused.text().await.unwrap();
        assert!(html.contains(&format!("{field}: ")) && html.contains("href=\"/today\""), "{path}: {html}");
    }
}

#[tokio::test]
async fn documented_maxima_are_enforced() {
    let app = App::start();
    let long = |count: usize| "a".repeat(count);
    let get = |path: String| app.request(Who::Admin, Method::GET, &path).send();
    for (path, status, field) in [
        (format!("/api/sessions?cursor={}", long(limit::CURSOR_CHARS_MAX + 1)), 400, "cursor"),
        (format!("/api/approvals?cursor={}", long(limit::CURSOR_CHARS_MAX + 1)), 400, "cursor"),
        (format!("/api/sessions?title={}", long(limit::TITLE_CHARS_MAX + 1)), 422, "title"),
        (format!("/api/today/work-queue-counts?timezone={}", long(limit::TIMEZONE_CHARS_MAX + 1)), 422, "timezone"),
        (format!("/api/approvals/count?atMost={}", limit::COUNT_AT_MOST_MAX + 1), 422, "atMost"),
    ] {
        let (got, refused) = problem(get(path.clone()).await.unwrap()).await;
        assert_eq!((got, refused["errors"][0]["field"].as_str()), (status, Some(field)), "{path}: {refused}");
    }
    let url = format!("https://hooks.invalid/{}", long(limit::WEBHOOK_URL_BYTES_MAX));
    let body = json!({ "url": url, "events": ["session.ended"] });
    let response = app.request(Who::Admin, Method::POST, "/api/webhooks").json(&body).send().await.unwrap();
    let (got, refused) = problem(response).await;
    assert_eq!((got, &refused["errors"][0]["message"]), (422, &json!("at most 2048 bytes")), "{refused}");
    let of = app.post(Who::Operator, "/api/entity-types", json!({ "name": "Deal" })).await;
    let mapping = long(limit::IMPORT_MAPPING_BYTES_MAX + 1);
    let path = format!("/api/entity-types/{}/imports?mapping={mapping}", of["id"].as_str().unwrap());
    let import = app.request(Who::Operator, Method::POST, &path).header("content-type", "text/csv").body("Name\nx\n");
    let (got, refused) = problem(import.send().await.unwrap()).await;
    assert_eq!((got, &refused["errors"][0]["message"]), (422, &json!("at most 16384 bytes")), "{refused}");
}

#[tokio::test]
async fn inputs_and_results_are_any_json() {
    let app = App::start();
    for any in [json!("text"), json!(7.5), json!(true), json!([1, null]), json!({ "a": { "b": [] } })] {
        let body = json!({ "sessionType": "agent", "agentSlug": "scout", "input": any });
        let session = app.post(Who::Operator, "/api/sessions", body).await;
        assert_eq!(session["input"], any);
        let claimed = app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
        assert_eq!(claimed["sessions"][0]["input"], any);
        let path = format!("/api/sessions/{}/complete", session["id"].as_str().unwrap());
        let ended = app.post(Who::Worker, &path, json!({ "attempt": 1, "result": any })).await;
        assert_eq!(ended["result"], any);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_repeats_what_cannot_be_recorded_costs_others_no_error() {
    const AT_ONCE: usize = 16;
    let app = App::start();
    let (own, of_others) = (app.running(Who::Operator).await, app.running(Who::Operator).await);
    let append = async |session: &str, events: Value| {
        let request = app.request(Who::Worker, Method::POST, &format!("/api/sessions/{session}/events"));
        request.json(&json!({ "attempt": 1, "events": events })).send().await.unwrap().status().as_u16()
    };
    let event = |id: &str, text: &str| json!({ "type": "external.event", "externalEventId": id, "content": text });
    let equal = json!([event("z", "x"), event("z", "x")]);
    let contradiction = json!([event("y", "a"), event("y", "b")]);
    for round in 0..4 {
        let refused = (0..AT_ONCE).map(|_| append(own.as_str(), contradiction.clone()));
        let repeated = (0..AT_ONCE).map(|_| append(own.as_str(), equal.clone()));
        let others = (0..AT_ONCE).map(|n| append(of_others.as_str(), json!([event(&format!("{round}-{n}"), "x")])));
        let (refused, repeated, others) = tokio::join!(join_all(refused), join_all(repeated), join_all(others));
        assert_eq!(refused, [422_u16; AT_ONCE]);
        assert_eq!((repeated, others), (vec![201; AT_ONCE], vec![201; AT_ONCE]));
    }
}
