//! Views over the API, on the command line and on pages.

use crate::{
    app::{App, Who},
    browser::{Browser, add_person},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::process::Command;

async fn ask(app: &App, method: Method, path: &str, body: Value) -> (u16, Value) {
    let response = app.request(Who::Operator, method, path).json(&body).send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}

#[tokio::test]
async fn a_json_schema_becomes_a_view_and_comes_back_in_its_order() {
    let app = App::start();
    let schema = r#"{"type":"object","properties":{
        "zeal":{"type":"integer","title":"Zeal","minimum":1,"maximum":5},
        "area":{"type":"string","oneOf":[{"const":"n","title":"North"},{"const":"s","title":"South"}]},
        "mail":{"type":"string","format":"email"}},"required":["zeal"]}"#;
    // The body is sent as text: `json!` would sort the properties.
    let body = format!(r#"{{"title":"From a schema","schema":{schema}}}"#);
    let request = app.request(Who::Operator, Method::POST, "/api/views").header("content-type", "application/json");
    let response = request.body(body).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    let made: Value = response.json().await.unwrap();
    let keys: Vec<_> = made["fields"].as_array().unwrap().iter().map(|field| field["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["zeal", "area", "mail"]);
    let path = format!("/api/views/{}/schema", made["id"].as_str().unwrap());
    let exported = app.request(Who::Member, Method::GET, &path).send().await.unwrap().text().await.unwrap();
    let places = ["zeal", "area", "mail"].map(|key| exported.find(&format!("\"{key}\":")).unwrap());
    assert!(places.is_sorted(), "{exported}");
    let (status, refused) = ask(&app, Method::GET, &format!("{path}?version=1"), json!({})).await;
    assert_eq!((status, &refused["code"]), (404, &json!("not_found")));
    for (wrong, field) in [
        (
            json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "x" } } }),
            "schema.properties.a.pattern",
        ),
        (json!({ "type": "object", "properties": {}, "allOf": [] }), "schema.allOf"),
    ] {
        let (status, refused) = ask(&app, Method::POST, "/api/views", json!({ "title": "x", "schema": wrong })).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!(field)), "{refused}");
    }
    let both = json!({ "title": "x", "fields": [], "schema": { "type": "object", "properties": {} } });
    let (status, refused) = ask(&app, Method::POST, "/api/views", both).await;
    assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!("schema")));
}

#[tokio::test]
async fn an_edit_is_refused_with_the_current_revision_and_publication_follows_the_state() {
    let app = App::start();
    let why = json!([{ "key": "why", "label": "Why?", "type": "short_text" }]);
    let (status, made) = ask(&app, Method::POST, "/api/views", json!({ "title": "Why", "fields": why })).await;
    assert_eq!(
        (status, &made["state"], &made["revision"], made.get("version")),
        (201, &json!("draft"), &json!(1), None)
    );
    let path = format!("/api/views/{}", made["id"].as_str().unwrap());
    let (status, edited) = ask(&app, Method::PATCH, &path, json!({ "revision": 1, "title": "Why so" })).await;
    assert_eq!((status, &edited["revision"], &edited["changed"]), (200, &json!(2), &json!(true)));
    let (status, refused) = ask(&app, Method::PATCH, &path, json!({ "revision": 1, "title": "Other" })).await;
    assert_eq!((status, &refused["code"]), (409, &json!("stale_version")));
    assert!(refused["detail"].as_str().unwrap().ends_with("the newest is revision 2"), "{refused}");
    let (status, refused) = ask(&app, Method::POST, &format!("{path}/unpublish"), json!({})).await;
    assert_eq!((status, &refused["code"]), (409, &json!("wrong_status")));
    let (status, published) = ask(&app, Method::POST, &format!("{path}/publish"), json!({ "revision": 2 })).await;
    assert_eq!((status, &published["version"], &published["changed"]), (200, &json!(1), &json!(false)));
    let (status, refused) = ask(&app, Method::DELETE, &path, json!({})).await;
    assert_eq!((status, &refused["code"]), (409, &json!("wrong_status")));
    let (_, versions) = ask(&app, Method::GET, &format!("{path}/versions"), json!({})).await;
    assert_eq!(versions["items"][0]["title"], "Why so");
    let (_, found) = ask(&app, Method::GET, "/api/views?slug=why", json!({})).await;
    assert_eq!(found["items"][0]["id"], made["id"]);
    let (_, none) = ask(&app, Method::GET, "/api/views?slug=nothing", json!({})).await;
    assert_eq!(none["items"], json!([]));
}

#[tokio::test]
async fn the_command_line_creates_changes_publishes_and_lists_a_view() {
    let app = App::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("form.yaml");
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shiftbook"));
        command.args(args).env("SHIFTBOOK_URL", &app.url).env("SHIFTBOOK_TOKEN", app.token(Who::Operator).unwrap());
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr))
    };
    let path = file.to_str().unwrap();
    let field = "fields: [{ key: why, label: Why?, type: short_text }]\n";
    std::fs::write(&file, format!("title: Team check\n{field}")).unwrap();
    assert_eq!(run(&["view", "push", path]), (true, "created: team-check\tdraft\t-\tTeam check\n".into()));
    let published = (true, "unchanged: team-check\tpublished\tv1\tTeam check\n".to_owned());
    assert_eq!(run(&["view", "push", path, "--publish"]), published);
    std::fs::write(&file, format!("slug: team-check\ntitle: Weekly team check\n{field}")).unwrap();
    let changed = "team-check\tpublished\tv1\tWeekly team check\tunpublished changes\n";
    assert_eq!(run(&["view", "push", path]), (true, format!("changed: {changed}")));
    assert_eq!(run(&["view", "list"]), (true, changed.to_owned()));
    std::fs::write(&file, "title: Wrong\nfields: [{ key: why, label: Why?, type: file }]\n").unwrap();
    let (done, said) = run(&["view", "push", path]);
    assert!(!done && said.contains("unknown type `file`"), "{said}");
}

/// The controls of the editor with one question.
const EDITOR: [(&str, &str); 6] = [
    ("rows", "1"),
    ("title", "Team check"),
    ("fields[0].label", "How was it?"),
    ("fields[0].type", "scale"),
    ("fields[0].maximum", "7"),
    ("publishConfig.gate", "member"),
];

async fn pressed(browser: &Browser<'_>, path: &str, button: &str, controls: &[(&str, &str)]) -> (StatusCode, String) {
    let answer = browser.ask(Method::POST, path, &[controls, &[("do", button)]].concat()).await;
    (answer.status(), answer.text().await.unwrap())
}

#[tokio::test]
async fn the_editor_works_with_the_buttons_of_its_form_alone() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let (status, page) = pressed(&ada, "/views", "add", &EDITOR).await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("name=\"fields[1].label\"") && page.contains("value=\"How was it?\""), "{page}");
    let second = [("fields[1].label", "Why?"), ("fields[1].type", "long_text")];
    let two = [&[("rows", "2")][..], &EDITOR[1..], &second[..]].concat();
    let (_, page) = pressed(&ada, "/views", "up:1", &two).await;
    assert!(page.find("value=\"Why?\"").unwrap() < page.find("value=\"How was it?\"").unwrap(), "{page}");
    let (_, page) = pressed(&ada, "/views", "remove:0", &two).await;
    assert!(page.contains("value=\"Why?\"") && !page.contains("value=\"How was it?\""), "{page}");
    let wrong = [&two[..], &[("fields[0].minimum", "few")]].concat();
    let (status, page) = pressed(&ada, "/views", "save", &wrong).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.contains("id=\"edit-fields[0].minimum-error\"") && page.contains("value=\"few\""), "{page}");
    let answer = ada.ask(Method::POST, "/views", &[&two[..], &[("do", "save")]].concat()).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let page = ada.page("/views/team-check").await;
    assert!(page.contains("<code>how_was_it</code>") && page.contains("<code>why</code>"), "{page}");
    let publish = ada.ask(Method::POST, "/views/team-check", &[("do", "publish"), ("revision", "1")]).await;
    assert_eq!(publish.status(), StatusCode::SEE_OTHER);
    assert!(ada.page("/views").await.contains("Published"));
}

#[tokio::test]
async fn an_edit_of_an_older_revision_is_refused_once_and_saved_when_it_is_sent_again() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    assert_eq!(pressed(&ada, "/views", "save", &EDITOR).await.0, StatusCode::SEE_OTHER);
    let path = "/views/team-check/edit";
    let edit = |title, revision| [&EDITOR[..1], &[("title", title), ("revision", revision)], &EDITOR[2..]].concat();
    for what in ["first", "the same sent twice"] {
        let (status, page) = pressed(&ada, path, "save", &edit("By another", "1")).await;
        assert_eq!(status, StatusCode::SEE_OTHER, "{what}: {page}");
    }
    let (status, page) = pressed(&ada, path, "save", &edit("Typed", "1")).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(page.contains("Someone else saved this in the meantime"), "{page}");
    assert!(page.contains("name=\"revision\" value=\"2\"") && page.contains("value=\"Typed\""), "{page}");
    let (status, page) = pressed(&ada, path, "save", &edit("Typed", "2")).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "{page}");
    assert!(ada.page("/views/team-check").await.contains("Typed"));
}

#[tokio::test]
async fn the_editor_keeps_the_seconds_of_a_time_and_the_lines_of_an_answer() {
    let app = App::start();
    let why = json!([{ "key": "why", "label": "Why?", "type": "long_text", "default": "one\ntwo" }]);
    let config = json!({ "opensAt": "2030-01-01T09:30:00Z", "closesAt": "2030-01-31T23:59:59.999Z" });
    let new = json!({ "title": "Why", "fields": why, "publishConfig": config });
    let (_, made) = ask(&app, Method::POST, "/api/views", new).await;
    let ada = Browser::of(&app, "ada@acme.test").await;
    let page = ada.page("/views/why/edit").await;
    assert!(page.contains("value=\"2030-01-01T09:30\"") && page.contains("\none\ntwo</textarea>"), "{page}");
    assert!(page.contains("value=\"2030-01-31T23:59:59.999\"") && page.contains("step=\"0.001\""), "{page}");
    let shown = [
        ("revision", "1"),
        ("rows", "1"),
        ("title", "Why"),
        ("fields[0].key", "why"),
        ("fields[0].label", "Why?"),
        ("fields[0].type", "long_text"),
        ("fields[0].default", "one\r\ntwo"),
        ("publishConfig.opensAt", "2030-01-01T09:30"),
        ("publishConfig.closesAt", "2030-01-31T23:59:59.999"),
        ("do", "save"),
    ];
    let saved = ada.ask(Method::POST, "/views/why/edit", &shown).await;
    assert_eq!(saved.status(), StatusCode::SEE_OTHER);
    let path = format!("/api/views/{}", made["id"].as_str().unwrap());
    let (_, same) = ask(&app, Method::GET, &path, json!({})).await;
    assert_eq!((&same["fields"], &same["publishConfig"]), (&made["fields"], &made["publishConfig"]));
    assert_eq!(same["revision"], 1, "nothing was changed");
}

#[tokio::test]
async fn a_script_gets_the_preview_alone_and_hostile_texts_stay_texts() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let form = [("rows", "1"), ("title", "<script>alert(1)</script>"), ("fields[0].label", "\"><img src=x>")];
    let request = ada.call(Method::POST, "/views").header("x-fragment", "1").form(&form);
    let preview = request.send().await.unwrap().text().await.unwrap();
    assert!(preview.starts_with("<fieldset") && !preview.contains("<html"), "{preview}");
    assert!(!preview.contains("<script>") && !preview.contains("<img"), "{preview}");
    let (_, page) = pressed(&ada, "/views", "preview", &form).await;
    assert!(!page.contains("<script>alert") && !page.contains("<img src=x>"), "{page}");
}

#[tokio::test]
async fn who_may_not_change_views_reads_their_pages_only() {
    let app = App::start();
    let why = json!([{ "key": "why", "label": "Why?", "type": "short_text" }]);
    app.post(Who::Operator, "/api/views", json!({ "title": "Why", "fields": why })).await;
    add_person(&app, "mia@acme.test");
    let mia = Browser::of(&app, "mia@acme.test").await;
    let page = mia.page("/views/why").await;
    assert!(
        page.contains("Why?") && !page.contains("/views/why/edit") && !page.contains("value=\"publish\""),
        "{page}"
    );
    for path in ["/views/new", "/views/why/edit"] {
        assert_eq!(mia.ask(Method::GET, path, &[]).await.status(), StatusCode::FORBIDDEN, "{path}");
    }
    let publish = mia.ask(Method::POST, "/views/why", &[("do", "publish")]).await;
    assert_eq!(publish.status(), StatusCode::FORBIDDEN);
    assert_eq!(mia.ask(Method::GET, "/views/nothing", &[]).await.status(), StatusCode::NOT_FOUND);
}
