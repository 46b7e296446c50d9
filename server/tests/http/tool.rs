//! Tools over the API and on their pages. Pages are read as a browser without scripts receives them.

use crate::{
    app::{App, Who},
    browser::{Browser, add_person},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const SECRET: &str = "hunter2-s3cr3t-value";

async fn ask(app: &App, who: Who, method: Method, path: &str, body: Value) -> (u16, Value) {
    let response = app.request(who, method, path).json(&body).send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}

fn weather() -> Value {
    json!({
        "name": "Weather", "slug": "weather", "description": "The weather of a city.", "kind": "http",
        "http": {
            "method": "POST", "url": "https://example.org/cities/{city}",
            "headers": { "authorization": "Bearer {secret:API_KEY}" }, "body": { "template": { "days": "{/days}" } },
        },
        "inputSchema": {
            "type": "object", "properties": { "city": { "type": "string" }, "days": { "type": "integer" } },
            "required": ["city"],
        },
        "outputSchema": { "type": "object" }, "timeLimitSeconds": 5, "retries": 2, "repeatable": true,
        "requiresConfirmation": true, "privateFields": ["city"], "audience": { "roles": ["admin", "operator"] },
    })
}

#[tokio::test]
async fn a_tool_is_created_changed_published_and_withdrawn() {
    let app = App::start();
    let (status, made) = ask(&app, Who::Operator, Method::POST, "/api/tools", weather()).await;
    assert_eq!(
        (status, &made["state"], &made["revision"], made.get("version")),
        (201, &json!("draft"), &json!(1), None)
    );
    for (name, value) in weather().as_object().unwrap() {
        assert_eq!(&made[name], value, "{name} comes back as it was sent");
    }
    let path = "/api/tools/weather";
    let (status, edited) = ask(&app, Who::Operator, Method::PATCH, path, json!({ "revision": 1, "retries": 0 })).await;
    assert_eq!((status, &edited["revision"], &edited["changed"]), (200, &json!(2), &json!(true)));
    assert_eq!((&edited["retries"], &edited["http"]), (&json!(0), &made["http"]));
    let (status, refused) = ask(&app, Who::Operator, Method::PATCH, path, json!({ "revision": 1, "retries": 1 })).await;
    assert_eq!((status, &refused["code"]), (409, &json!("stale_version")));
    assert!(refused["detail"].as_str().unwrap().ends_with("the newest is revision 2"), "{refused}");
    let (status, refused) = ask(&app, Who::Operator, Method::POST, &format!("{path}/unpublish"), json!({})).await;
    assert_eq!((status, &refused["code"]), (409, &json!("wrong_status")));
    let (status, published) =
        ask(&app, Who::Operator, Method::POST, &format!("{path}/publish"), json!({ "revision": 2 })).await;
    assert_eq!((status, &published["version"], &published["changed"]), (200, &json!(1), &json!(false)));
    let (status, refused) = ask(&app, Who::Operator, Method::DELETE, path, json!({})).await;
    assert_eq!((status, &refused["code"]), (409, &json!("wrong_status")));
    let (_, versions) = ask(&app, Who::Member, Method::GET, &format!("{path}/versions"), json!({})).await;
    assert_eq!((&versions["items"][0]["version"], &versions["items"][0]["http"]), (&json!(1), &made["http"]));
    let (_, list) = ask(&app, Who::Member, Method::GET, "/api/tools", json!({})).await;
    assert_eq!(list["items"], json!([published]));
    let (status, gone) = ask(&app, Who::Operator, Method::POST, &format!("{path}/unpublish"), json!({})).await;
    assert_eq!((status, &gone["state"], &gone["version"]), (200, &json!("unpublished"), &json!(1)));
    let (status, cleared) =
        ask(&app, Who::Operator, Method::PATCH, path, json!({ "revision": 2, "outputSchema": null })).await;
    assert_eq!((status, cleared.get("outputSchema")), (200, None));
    for part in [
        "name",
        "description",
        "kind",
        "http",
        "inputSchema",
        "timeLimitSeconds",
        "retries",
        "repeatable",
        "requiresConfirmation",
        "privateFields",
        "audience",
    ] {
        let (status, refused) =
            ask(&app, Who::Operator, Method::PATCH, path, json!({ "revision": 3, part: null })).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!(part)), "{refused}");
        let message = refused["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains("null") || message.ends_with("is expected here"), "{part}: {message}");
    }
    for unknown in ["nothing", "Weather", "new", "a%2Fb"] {
        let (status, refused) = ask(&app, Who::Admin, Method::GET, &format!("/api/tools/{unknown}"), json!({})).await;
        assert_eq!((status, &refused["code"]), (404, &json!("not_found")), "{unknown}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_definition_is_named() {
    let app = App::start();
    for (part, status, field) in [
        (json!({ "kind": "ftp" }), 422, "kind"),
        (json!({ "http": { "method": "get", "url": "https://example.org" } }), 422, "http.method"),
        (json!({ "http": { "method": "GET", "url": "https://example.org", "proxy": 1 } }), 422, "http.proxy"),
        (json!({ "http": { "method": "GET", "url": "https://{city}.example.org" } }), 422, "http.url"),
        (json!({ "retries": -1 }), 422, "retries"),
        (json!({ "timeLimitSeconds": 0 }), 422, "timeLimitSeconds"),
        (json!({ "inputSchema": { "type": "object", "properties": 1 } }), 422, "inputSchema"),
        (json!({ "inputSchema": { "type": "string" } }), 422, "inputSchema.type"),
        (json!({ "audience": { "roles": ["king"] } }), 422, "audience.roles[0]"),
        (json!({ "secrets": { "API_KEY": SECRET } }), 422, "secrets"),
    ] {
        let mut new = weather();
        new.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        let (got, refused) = ask(&app, Who::Operator, Method::POST, "/api/tools", new).await;
        let fields: Vec<_> = refused["errors"].as_array().unwrap().iter().map(|error| &error["field"]).collect();
        assert!(got == status && fields.contains(&&json!(field)), "{part}: {got} {refused}");
    }
    let (_, list) = ask(&app, Who::Operator, Method::GET, "/api/tools", json!({})).await;
    assert_eq!(list["items"], json!([]));
}

#[tokio::test]
async fn the_value_of_a_secret_is_in_no_answer_and_in_no_log() {
    let app = App::start();
    ask(&app, Who::Operator, Method::POST, "/api/tools", weather()).await;
    let path = "/api/tools/weather/secrets/API_KEY";
    for who in [Who::Operator, Who::Member, Who::Worker] {
        let (status, refused) = ask(&app, who, Method::PUT, path, json!({ "value": SECRET })).await;
        assert_eq!((status, &refused["code"]), (403, &json!("forbidden")), "{who:?}");
    }
    for (body, field) in [
        (json!({ "value": format!("{SECRET}\n") }), "value"),
        (json!({ "value": SECRET, "of": 1 }), "of"),
        (json!({ "value": [SECRET] }), "value"),
    ] {
        let (status, refused) = ask(&app, Who::Admin, Method::PUT, path, body).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!(field)));
        assert!(!refused.to_string().contains(SECRET), "{refused}");
    }
    let (status, set) = ask(&app, Who::Admin, Method::PUT, path, json!({ "value": SECRET })).await;
    let sent = json!([{ "version": null, "method": weather()["http"]["method"], "url": weather()["http"]["url"] }]);
    assert_eq!((status, &set["secrets"][0]["name"], &set["calls"]), (200, &json!("API_KEY"), &sent));
    assert!(!set.to_string().contains(SECRET), "{set}");
    for value in ["schlüssel", "two\nlines", ""] {
        let (status, wrong) = ask(&app, Who::Admin, Method::PUT, path, json!({ "value": value })).await;
        assert_eq!((status, &wrong["errors"][0]["field"]), (422, &json!("value")), "{value}");
    }
    for name in ["2KEY", "k-1", "a%20b"] {
        let path = format!("/api/tools/weather/secrets/{name}");
        let (status, wrong) = ask(&app, Who::Admin, Method::PUT, &path, json!({ "value": SECRET })).await;
        let errors = json!([{ "field": "name",
            "message": "1 to 64 letters, digits and underscores of ASCII, a letter first" }]);
        assert_eq!((status, &wrong["code"], &wrong["errors"]), (422, &json!("invalid_request"), &errors), "{name}");
        let (status, missing) = ask(&app, Who::Admin, Method::DELETE, &path, json!({})).await;
        assert_eq!((status, &missing["code"]), (404, &json!("not_found")), "{name}");
        let (status, refused) = ask(&app, Who::Operator, Method::PUT, &path, json!({ "value": SECRET })).await;
        assert_eq!((status, &refused["code"]), (403, &json!("forbidden")), "{name}");
    }
    let (status, _) = ask(&app, Who::Admin, Method::POST, "/api/tools/weather/publish", json!({})).await;
    assert_eq!(status, 200);
    let mut shown_texts = String::new();
    for at in
        ["/api/tools/weather/secrets", "/api/tools/weather", "/api/tools/weather/versions", "/api/tools", "/api/audit"]
    {
        shown_texts.push_str(&ask(&app, Who::Admin, Method::GET, at, json!({})).await.1.to_string());
    }
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    for page in ["/tools/weather?version=1", "/tools/weather/edit", "/settings/audit"] {
        shown_texts.push_str(&ada.page(page).await);
    }
    let fields = [("do", "set-secret"), ("name", "not a name"), ("password", SECRET)];
    let refused = ada.post("/tools/weather", &fields).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    shown_texts.push_str(&refused.text().await.unwrap());
    assert!(shown_texts.contains("API_KEY") && shown_texts.contains("not a name"), "{shown_texts}");
    assert!(!shown_texts.contains(SECRET) && !app.log().contains(SECRET));
    let (_, listed) = ask(&app, Who::Admin, Method::GET, "/api/tools/weather/secrets", json!({})).await;
    assert_eq!(listed["secrets"].as_array().unwrap().len(), 1);
    assert_eq!(listed["secrets"][0]["name"], "API_KEY");
    let (status, _) = ask(&app, Who::Admin, Method::DELETE, path, json!({})).await;
    assert_eq!(status, 204);
    let (status, gone) = ask(&app, Who::Admin, Method::DELETE, path, json!({})).await;
    assert_eq!((status, &gone["code"]), (404, &json!("not_found")));
}

const DEFINITION: &str = r#"{
  "kind": "http",
  "http": { "method": "GET", "url": "https://example.org/{city}",
    "headers": { "authorization": "{secret:API_KEY}" } },
  "inputSchema": { "type": "object", "properties": { "city": {} } }
}"#;

#[tokio::test]
async fn a_tool_is_made_edited_and_published_on_its_pages() {
    let app = App::start();
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    assert!(ada.page("/tools").await.contains("There are no tools yet."));
    assert!(ada.page("/actions").await.contains("href=\"/tools\""));
    assert!(ada.page("/tools/new").await.contains("name=\"definition\""));
    let new = |definition: &str| {
        [("name", "Weather <b>"), ("slug", "weather"), ("description", "Line 1\nLine 2"), ("definition", definition)]
            .map(|(name, value)| (name, value.to_owned()))
    };
    for (wrong, message) in [
        (DEFINITION.replace("\"http\",", "\"ftp\","), "line 2"),
        (DEFINITION.replace("{city}\"", "{town}\""), "line 3, http.url: "),
        (DEFINITION.replace("\"city\": {}", "\"city\": { \"type\": 1 }"), "line 5, inputSchema: "),
        (DEFINITION.replace("\"kind\": \"http\",", ""), "kind: missing"),
    ] {
        let fields = new(&wrong);
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let refused = ada.post("/tools", &fields).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let page = refused.text().await.unwrap();
        assert!(page.contains(message), "{message}: {page}");
        assert!(
            page.contains("Weather &lt;b>") || page.contains("Weather &lt;b&gt;"),
            "the typed name is kept: {page}"
        );
    }
    let fields = new(DEFINITION);
    let made = ada.post("/tools", &fields.each_ref().map(|(name, value)| (*name, value.as_str()))).await;
    assert_eq!(
        (made.status(), made.headers()["location"].to_str().unwrap()),
        (StatusCode::SEE_OTHER, "/tools/weather?notice=tool_saved")
    );
    let page = ada.page("/tools/weather").await;
    assert!(page.contains("https://example.org/{city}") && page.contains("It was never published."), "{page}");
    assert!(page.contains("secrets that are not set: API_KEY") && !page.contains("<b>"), "{page}");
    ada.post("/tools/weather", &[("do", "set-secret"), ("name", "API_KEY"), ("password", SECRET)]).await;
    ada.post("/tools/weather", &[("do", "publish"), ("revision", "1")]).await;
    let changed = DEFINITION.replace("\"GET\"", "\"POST\"");
    let fields = [("revision", "1"), ("name", "Weather"), ("description", ""), ("definition", changed.as_str())];
    ada.post("/tools/weather/edit", &fields).await;
    let stale = ada.post("/tools/weather/edit", &[&fields[..1], &[("name", "Other")], &fields[2..]].concat()).await;
    assert_eq!(stale.status(), StatusCode::CONFLICT);
    ada.post("/tools/weather", &[("do", "publish"), ("revision", "2")]).await;
    let page = ada.page("/tools/weather?version=2").await.replace("<!>", "");
    assert!(page.contains("What version 2 changed") && !page.contains("are not set"), "{page}");
    assert!(page.contains("<del>GET</del>") || page.contains("data-change=\"removed\""), "{page}");
    assert!(!page.contains(SECRET));
    let list = ada.page("/tools").await;
    assert!(list.contains("href=\"/tools/weather\"") && list.contains("v2") && list.contains("Everyone"), "{list}");
    let wrong = ada.ask(Method::GET, "/tools/weather?version=first", &[]).await;
    assert!(wrong.status().is_client_error());
    assert_eq!(ada.ask(Method::GET, "/tools/nothing", &[]).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_member_sees_what_a_tool_does_and_cannot_change_it() {
    let app = App::start();
    add_person(&app, "mia@acme.test");
    ask(&app, Who::Operator, Method::POST, "/api/tools", weather()).await;
    let (status, _) =
        ask(&app, Who::Admin, Method::PUT, "/api/tools/weather/secrets/API_KEY", json!({ "value": SECRET })).await;
    assert_eq!(status, 200);
    let mut mia = Browser::of(&app, "mia@acme.test").await;
    let page = mia.page("/tools/weather").await;
    assert!(page.contains("The weather of a city.") && page.contains("Admin, Operator"), "{page}");
    for hidden in ["/tools/weather/edit", "value=\"publish\"", "id=\"secrets\"", "New tool"] {
        assert!(!page.contains(hidden) && !mia.page("/tools").await.contains(hidden), "{hidden}");
    }
    for path in ["/tools/new", "/tools/weather/edit"] {
        assert_eq!(mia.ask(Method::GET, path, &[]).await.status(), StatusCode::FORBIDDEN, "{path}");
    }
    let refused = mia.post("/tools/weather", &[("do", "publish")]).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let strangers = app.request(Who::Stranger, Method::GET, "/api/tools/weather").send().await.unwrap();
    assert_eq!(strangers.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_operator_sees_why_only_an_admin_publishes_a_changed_call() {
    let app = App::start();
    app.user("otto@acme.test", "operator");
    ask(&app, Who::Operator, Method::POST, "/api/tools", weather()).await;
    ask(&app, Who::Operator, Method::POST, "/api/tools/weather/publish", json!({})).await;
    let secret = "/api/tools/weather/secrets/API_KEY";
    let stale = ask(&app, Who::Admin, Method::PUT, secret, json!({ "value": SECRET, "version": 0 })).await;
    assert_eq!((stale.0, &stale.1["code"]), (409, &json!("stale_version")));
    let mut admin = Browser::of(&app, "ada@acme.test").await;
    assert!(admin.page("/tools/weather").await.contains("name=\"version\" value=\"1\""));
    let fields = [("do", "set-secret"), ("name", "API_KEY"), ("password", SECRET), ("version", "0")];
    let stale = admin.post("/tools/weather", &fields).await;
    assert_eq!(stale.status(), StatusCode::CONFLICT);
    let page = stale.text().await.unwrap();
    assert!(page.contains("Another version was published in the meantime") && !page.contains(SECRET), "{page}");
    assert_eq!(ask(&app, Who::Admin, Method::PUT, secret, json!({ "value": SECRET, "version": 1 })).await.0, 200);
    let mut otto = Browser::of(&app, "otto@acme.test").await;
    let mut http = weather()["http"].clone();
    http["url"] = "https://elsewhere.test/{city}".into();
    let edit = json!({ "revision": 1, "http": http });
    assert_eq!(ask(&app, Who::Operator, Method::PATCH, "/api/tools/weather", edit).await.0, 200);
    for (path, body) in [("publish", json!({})), ("test", json!({ "input": { "city": "Oslo" } }))] {
        let path = format!("/api/tools/weather/{path}");
        let (status, refused) = ask(&app, Who::Operator, Method::POST, &path, body).await;
        assert_eq!((status, &refused["code"]), (403, &json!("forbidden")), "{path}: {refused}");
        assert!(refused["detail"].as_str().unwrap().contains("only an admin can test or publish it"), "{refused}");
    }
    let page = otto.page("/tools/weather").await;
    assert!(page.contains("Only an admin can publish or test the working copy"), "{page}");
    assert!(!page.contains("value=\"publish\""), "{page}");
    let editor = otto.page("/tools/weather/edit").await;
    assert!(editor.contains("Only an admin can publish or test the working copy"), "{editor}");
    assert!(!editor.contains("action=\"/tools/weather/test#try\""), "{editor}");
    let refused = otto.post("/tools/weather", &[("do", "publish")]).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let (_, set) = ask(&app, Who::Admin, Method::GET, "/api/tools/weather/secrets", json!({})).await;
    let sent = |version: Value, url: &Value| json!({ "version": version, "method": "POST", "url": url });
    let elsewhere = json!("https://elsewhere.test/{city}");
    assert_eq!(set["calls"], json!([sent(1.into(), &weather()["http"]["url"]), sent(Value::Null, &elsewhere)]));
    let ada = Browser::of(&app, "ada@acme.test").await;
    let page = ada.page("/tools/weather").await;
    assert!(page.contains("Version 1 sends the secrets with this call"), "{page}");
    assert!(page.contains("The working copy sends them with this call"), "{page}");
    assert_eq!(ask(&app, Who::Admin, Method::POST, "/api/tools/weather/publish", json!({})).await.0, 200);
    assert!(!ada.page("/tools/weather").await.contains("sends the secrets with this call"));
}
