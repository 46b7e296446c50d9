//! P-29: links to tools, over HTTP. What only fetches an address learns nothing; a press of the button exchanges the
//! secret for cookies of one form; the run is shown to the browser that began it; and all of it is gone when the link
//! is.

use crate::{
    app::{App, Who},
    browser::{Browser, shown_at},
    tool_service::Service,
};
use domain::limit::TOOL_LINK_RUNS_OF_NETWORK_MAX;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

/// A published tool for workers that allows links, and the browser of an admin.
async fn weather(app: &App) -> Browser<'_> {
    weather_with(app, json!({})).await
}

/// The same with these parts changed.
async fn weather_with(app: &App, more: Value) -> Browser<'_> {
    let schema = json!({
        "type": "object", "required": ["city"],
        "properties": { "city": { "type": "string", "title": "City" }, "key": { "type": "string" } },
    });
    let mut tool = json!({
        "slug": "weather", "name": "Weather <b>now", "description": "Of a pineapple.", "kind": "worker",
        "inputSchema": schema, "privateFields": ["key"], "audience": { "roles": ["admin"], "link": true },
    });
    tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    app.post(Who::Operator, "/api/tools", tool).await;
    app.post(Who::Operator, "/api/tools/weather/publish", json!({})).await;
    Browser::of(app, "ada@acme.test").await
}

/// Makes a link with the API. Returns its secret and its id.
async fn link(ada: &Browser<'_>) -> (String, String) {
    let made = ada.call(Method::POST, "/api/tools/weather/links").json(&json!({ "days": 1 })).send().await.unwrap();
    assert_eq!(made.status(), StatusCode::CREATED);
    let made: Value = made.json().await.unwrap();
    let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    (secret, made["link"]["id"].as_str().unwrap().to_owned())
}

async fn listed(app: &App) -> Value {
    let listed = app.request(Who::Operator, Method::GET, "/api/tools/weather/links").send().await.unwrap();
    listed.json::<Value>().await.unwrap()["links"][0].take()
}

fn assert_guarded(response: &Response) {
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert!(header("x-robots-tag").starts_with("noindex, nofollow"), "{response:?}");
    let policy = header("content-security-policy");
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("script"), "{policy}");
    assert!(["no-referrer", "strict-origin"].contains(&header("referrer-policy").as_str()), "{response:?}");
}

/// The value of a field that a page carries.
fn field(page: &str, name: &str) -> String {
    let rest = page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap_or_else(|| panic!("no {name}: {page}"));
    rest.split('"').next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_fetches_the_address_of_a_tool_learns_nothing_and_counts_as_no_visit() {
    let app = App::start();
    let ada = weather(&app).await;
    let (secret, id) = link(&ada).await;
    let crawler = Browser::stranger(&app);
    let mut pages = Vec::new();
    for guessed in [secret.as_str(), "sbr_guess"] {
        let answer = crawler.ask(Method::GET, &format!("/r/{guessed}"), &[]).await;
        assert_eq!((answer.status(), answer.headers().get("set-cookie")), (StatusCode::OK, None));
        assert_guarded(&answer);
        pages.push(answer.text().await.unwrap().replace(guessed, "SECRET"));
    }
    assert_eq!(pages[0], pages[1], "a wrong secret looks the same");
    assert!(!pages[0].contains("pineapple") && !pages[0].contains("<script"), "{}", pages[0]);
    assert_eq!(listed(&app).await["uses"], 0);
    for browser in [&crawler, &ada] {
        let closed = browser.ask(Method::GET, &format!("/tool-links/{id}"), &[]).await;
        assert_eq!(closed.status(), StatusCode::NOT_FOUND, "the id alone opens nothing, also for members");
        assert_guarded(&closed);
    }
    let guessed = crawler.ask(Method::POST, "/r/sbr_guess", &[]).await;
    assert_eq!(guessed.status(), StatusCode::NOT_FOUND);
    assert!(!app.log().contains(&secret), "{}", app.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_opened_a_link_runs_its_tool_and_reads_the_result_until_the_link_is_revoked() {
    let app = App::start();
    let ada = weather(&app).await;
    let (secret, id) = link(&ada).await;
    let path = format!("/tool-links/{id}");
    let mut reader = Browser::stranger(&app);
    let opened = reader.post(&format!("/r/{secret}"), &[]).await;
    assert_eq!(
        (opened.status(), opened.headers()["location"].to_str().unwrap()),
        (StatusCode::SEE_OTHER, path.as_str())
    );
    let page = reader.ask(Method::GET, &path, &[]).await;
    assert_guarded(&page);
    let page = page.text().await.unwrap();
    assert!(page.contains("pineapple") && !page.contains("<b>now"), "{page}");
    for unwanted in ["<script", "href=\"/tools", "href=\"/sessions", "href=\"/api", "Ada", &secret] {
        assert!(!page.contains(unwanted), "{unwanted}: {page}");
    }
    let (key, page_id) = (field(&page, "_key"), field(&page, "_id"));
    let typed = |key: &str, city: &str| {
        let fields = [("_key", key), ("_id", page_id.as_str()), ("input.city", city), ("input.key", "hunter2")];
        fields.map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let send = async |browser: &Browser<'_>, key: &str, city: &str| {
        let fields = typed(key, city);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        browser.ask(Method::POST, &path, &fields).await
    };
    assert_eq!(send(&reader, "", "Oslo").await.status(), StatusCode::NOT_FOUND, "without the key of the form");
    let refused = send(&reader, &key, "").await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert_guarded(&refused);
    let begun = send(&reader, &key, "Oslo").await;
    assert_eq!(begun.status(), StatusCode::SEE_OTHER);
    let run = begun.headers()["location"].to_str().unwrap().to_owned();
    assert!(run.starts_with(&format!("{path}/runs/")), "{run}");
    let repeat = send(&reader, &key, "Oslo").await;
    assert_eq!(repeat.headers()["location"].to_str().unwrap(), run, "the same page runs once");
    let changed = send(&reader, &key, "Rome").await;
    assert_eq!(changed.status(), StatusCode::CONFLICT);
    assert!(changed.text().await.unwrap().contains("with another input already"));
    let waiting = reader.page(&run).await;
    assert!(waiting.contains("The run has not ended") && waiting.contains("Oslo"), "{waiting}");
    assert!(waiting.contains(">City</dt>") && !waiting.contains("hunter2"), "{waiting}");
    assert_eq!(reader.ask(Method::GET, &format!("{run}/result"), &[]).await.status(), StatusCode::NOT_FOUND);
    let claim = json!({ "agentSlugs": ["tool:weather"] });
    let claimed = app.post(Who::Worker, "/api/sessions/claim", claim).await;
    assert!(claimed.to_string().contains("hunter2"), "the worker gets private values: {claimed}");
    let session = run.rsplit('/').next().unwrap();
    let complete = json!({ "attempt": 1, "result": { "sky": "<i>blue" } });
    app.post(Who::Worker, &format!("/api/sessions/{session}/complete"), complete).await;
    let ended = reader.page(&run).await;
    assert!(ended.contains("blue") && !ended.contains("<i>blue") && !ended.contains("has not ended"), "{ended}");
    let saved = reader.ask(Method::GET, &format!("{run}/result"), &[]).await;
    assert_eq!(saved.json::<Value>().await.unwrap(), json!({ "sky": "<i>blue" }));
    let mut other = Browser::stranger(&app);
    other.post(&format!("/r/{secret}"), &[]).await;
    assert_eq!(other.ask(Method::GET, &run, &[]).await.status(), StatusCode::NOT_FOUND, "a run of another browser");
    assert_eq!(send(&other, &key, "Oslo").await.status(), StatusCode::NOT_FOUND, "the key of another browser");
    let counted = listed(&app).await;
    assert_eq!((&counted["uses"], &counted["runs"]), (&json!(2), &json!(1)));
    let revoked = ada.call(Method::DELETE, &format!("/api/tool-links/{id}")).send().await.unwrap();
    assert_eq!(revoked.status(), StatusCode::NO_CONTENT);
    for gone in [&path, &run] {
        assert_eq!(reader.ask(Method::GET, gone, &[]).await.status(), StatusCode::NOT_FOUND, "{gone}");
    }
    assert_eq!(send(&reader, &key, "Oslo").await.status(), StatusCode::NOT_FOUND);
    assert!(!app.log().contains(&secret), "{}", app.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_a_tool_makes_a_link_once_and_revokes_it() {
    let app = App::start();
    let mut ada = weather(&app).await;
    let path = "/tools/weather/links";
    assert!(ada.page("/tools/weather").await.contains(&format!("href=\"{path}\"")));
    let refused = ada.ask(Method::POST, path, &[("do", "make"), ("days", "31")]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text().await.unwrap().contains("id=\"link-days-error\""));
    let made = ada.post(path, &[("do", "make"), ("days", "7")]).await;
    let address = shown_at(&made, path, "");
    let shown = ada.ask_and_keep(Method::GET, &address, &[]).await.text().await.unwrap();
    let secret = shown.split("/r/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(secret.starts_with("sbr_") && shown.contains("not shown again"), "{shown}");
    assert!(!ada.page(&address).await.contains(&secret), "it is shown once");
    let id = listed(&app).await["id"].as_str().unwrap().to_owned();
    let revoked = ada.ask(Method::POST, path, &[("do", "revoke"), ("link", &id)]).await;
    assert_eq!(revoked.status(), StatusCode::SEE_OTHER);
    assert!(ada.page(path).await.contains("revoked"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cookies_of_a_link_to_a_tool_open_its_form_alone() {
    let app = App::start();
    let ada = weather(&app).await;
    let (secret, id) = link(&ada).await;
    let mut reader = Browser::stranger(&app);
    let opened = reader.post(&format!("/r/{secret}"), &[]).await;
    assert_guarded(&opened);
    let cookies = opened.headers().get_all("set-cookie").iter().map(|cookie| cookie.to_str().unwrap());
    let cookies: Vec<_> = cookies.collect();
    let [known, clearance] = cookies[..] else { panic!("{cookies:?}") };
    assert!(known.starts_with("sbk_respondent=v1.") && known.contains("; Path=/;"), "{known}");
    let path = format!("; Path=/tool-links/{id};");
    assert!(clearance.starts_with("sbk_form=v1.") && clearance.contains(&path), "{clearance}");
    for cookie in [known, clearance] {
        assert!(cookie.contains("; HttpOnly; SameSite=Lax") && !cookie.contains(&secret), "{cookie}");
    }
    let (_, other) = link(&ada).await;
    let stolen = reader.jar.iter().map(|(pair, _)| pair.as_str()).collect::<Vec<_>>().join("; ");
    let ask = async |path: &str| {
        let asked = app.http.get(format!("{}{path}", app.url)).header("cookie", &stolen).send().await.unwrap();
        asked.status()
    };
    assert_eq!(ask(&format!("/tool-links/{id}")).await, StatusCode::OK);
    for closed in [format!("/tool-links/{other}"), format!("/forms/{id}"), format!("/shared/{id}")] {
        assert_eq!(ask(&closed).await, StatusCode::NOT_FOUND, "{closed}");
    }
    for closed in ["/api/tools/weather", "/api/sessions", "/api/tools/weather/links"] {
        assert_eq!(ask(closed).await, StatusCode::UNAUTHORIZED, "{closed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_network_begins_so_many_runs_and_others_still_use_the_link() {
    let app = App::start();
    let ada = weather(&app).await;
    let (secret, id) = link(&ada).await;
    let mut reader = Browser::stranger(&app);
    reader.post(&format!("/r/{secret}"), &[]).await;
    let path = format!("/tool-links/{id}");
    let key = field(&reader.page(&path).await, "_key");
    let cookie = reader.jar.iter().map(|(pair, _)| pair.as_str()).collect::<Vec<_>>().join("; ");
    let send = async |network: &str| {
        let request = app.http.post(format!("{}{path}", app.url)).header("x-forwarded-for", network);
        let request = request.header("cookie", &cookie).header("origin", &app.url).header("accept", "text/html");
        request.form(&[("_key", key.as_str()), ("input.city", "Oslo")]).send().await.unwrap()
    };
    let mut begun = 0;
    let over = loop {
        let answer = send("203.0.113.7").await;
        if answer.status() == StatusCode::TOO_MANY_REQUESTS {
            break answer;
        }
        assert_eq!(answer.status(), StatusCode::SEE_OTHER, "run {begun}");
        begun += 1;
    };
    assert!(begun >= TOOL_LINK_RUNS_OF_NETWORK_MAX, "{begun}");
    assert_eq!(over.headers()["retry-after"], "120");
    assert_guarded(&over);
    let page = over.text().await.unwrap();
    assert!(page.contains("Too many runs were begun from your network"), "{page}");
    assert!(page.contains("value=\"Oslo\""), "what was typed is kept: {page}");
    assert_eq!(send("203.0.113.8").await.status(), StatusCode::SEE_OTHER, "another network");
    assert_eq!(listed(&app).await["runs"], begun + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_by_a_link_waits_for_a_person_before_anything_is_called() {
    let settings = "[outbound]\nallow_private = [\"127.0.0.1\"]\n";
    let (app, service) = (App::start_with(settings, &[], &[]), Service::start().await);
    let call = json!({ "method": "GET", "url": service.url("/{city}?key={key}") });
    let ada = weather_with(&app, json!({ "kind": "http", "http": call, "requiresConfirmation": true })).await;
    let window = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&json!({ "undoSeconds": 0 }));
    assert!(window.send().await.unwrap().status().is_success());
    let (secret, id) = link(&ada).await;
    let path = format!("/tool-links/{id}");
    let mut reader = Browser::stranger(&app);
    reader.post(&format!("/r/{secret}"), &[]).await;
    let read = async |path: &str| {
        let answer = app.request(Who::Operator, Method::GET, path).send().await.unwrap();
        answer.json::<Value>().await.unwrap()
    };
    let until = async |run: &str, status: &str| {
        let session = format!("/api/sessions/{}", run.rsplit('/').next().unwrap());
        while read(&session).await["status"] != status {
            tokio::task::yield_now().await;
        }
    };
    let decide = async |decision: Value| {
        let open = read("/api/approvals").await;
        assert!(!open.to_string().contains("hunter2"), "{open}");
        let path = format!("/api/approvals/{}/decision", open["items"][0]["id"].as_str().unwrap());
        let decided = ada.call(Method::POST, &path).json(&decision).send().await.unwrap();
        assert!(decided.status().is_success(), "{}", decided.text().await.unwrap());
    };
    for (decision, status, shown, calls) in [
        (json!({ "decision": "deny", "note": "Not today." }), "failed", "A person did not allow the call.", 0),
        (json!({ "decision": "approve" }), "completed", "/Oslo", 1),
    ] {
        let page = reader.page(&path).await;
        assert!(page.contains("A person has to approve the call before it is made."), "{page}");
        let (key, page_id) = (field(&page, "_key"), field(&page, "_id"));
        let typed = [("_key", &*key), ("_id", &*page_id), ("input.city", "Oslo"), ("input.key", "hunter2")];
        let begun = reader.ask(Method::POST, &path, &typed).await;
        let run = begun.headers()["location"].to_str().unwrap().to_owned();
        until(&run, "awaiting_tool").await;
        let waiting = reader.page(&run).await;
        assert!(waiting.contains("A person has to approve the call before it is made."), "{waiting}");
        assert!(!waiting.contains("id=\"result\"") && !waiting.contains("hunter2"), "{waiting}");
        assert_eq!(service.seen().calls, 0, "nothing is called before a person approves");
        decide(decision).await;
        until(&run, status).await;
        let ended = reader.page(&run).await;
        assert!(ended.contains(shown) && !ended.contains("has to approve"), "{ended}");
        assert!(!ended.contains("Not today"), "a note for the people of the workspace: {ended}");
        assert_eq!(service.seen().calls, calls, "{status}");
    }
}
