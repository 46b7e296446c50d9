//! P-29: links to sessions, over HTTP. What only fetches an address learns nothing; a press of the button exchanges the
//! secret for a cookie of one page; and that page is gone at once when the link is.

use crate::{
    app::{App, Who},
    browser::{Browser, shown_at},
    routes::{documented, pages},
};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

/// A session with a message, and the admin's browser.
async fn talk(app: &App) -> (String, Browser<'_>) {
    let session = app.running(Who::Member).await;
    let content = json!([{ "type": "text", "text": "pineapple <b>cake</b>" }]);
    let events = json!({ "attempt": 1, "events": [{ "type": "agent.message", "content": content }] });
    app.post(Who::Worker, &format!("/api/sessions/{session}/events"), events).await;
    (session, Browser::of(app, "ada@acme.test").await)
}

/// Makes a link with the API. Returns its secret and its id.
async fn link(ada: &Browser<'_>, session: &str) -> (String, String) {
    let path = format!("/api/sessions/{session}/share-links");
    let made: Value =
        ada.call(Method::POST, &path).json(&json!({ "days": 1 })).send().await.unwrap().json().await.unwrap();
    let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    (secret, made["link"]["id"].as_str().unwrap().to_owned())
}

fn assert_guarded(response: &Response, referrer: &str) {
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("cache-control"), "no-store");
    assert_eq!(header("referrer-policy"), referrer);
    assert!(header("x-robots-tag").starts_with("noindex, nofollow"), "{response:?}");
    let policy = header("content-security-policy");
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("script"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"), "{policy}");
}

async fn uses(app: &App, session: &str) -> u64 {
    let path = format!("/api/sessions/{session}/share-links");
    let listed: Value = app.request(Who::Admin, Method::GET, &path).send().await.unwrap().json().await.unwrap();
    listed["links"].as_array().unwrap().iter().map(|link| link["uses"].as_u64().unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_fetches_the_address_learns_nothing_and_counts_as_no_visit() {
    let app = App::start();
    let (session, ada) = talk(&app).await;
    let (secret, id) = link(&ada, &session).await;
    let crawler = Browser::stranger(&app);
    let mut pages = Vec::new();
    for guessed in [secret.as_str(), "sbv_guess"] {
        for method in [Method::GET, Method::HEAD] {
            let answer = crawler.ask(method, &format!("/s/{guessed}"), &[]).await;
            assert_eq!(answer.status(), StatusCode::OK);
            assert_guarded(&answer, "strict-origin");
            assert!(answer.headers().get("set-cookie").is_none(), "{answer:?}");
            pages.push(answer.text().await.unwrap().replace(guessed, "SECRET"));
        }
    }
    assert_eq!((&pages[0], pages[1].as_str()), (&pages[2], ""), "a wrong secret looks the same");
    assert!(pages[0].contains("method=\"post\" action=\"/s/SECRET\"") && pages[0].contains("noindex"), "{}", pages[0]);
    assert!(!pages[0].contains("pineapple") && !pages[0].contains("<script"), "{}", pages[0]);
    assert_eq!(uses(&app, &session).await, 0);
    let closed = crawler.ask(Method::GET, &format!("/shared/{id}"), &[]).await;
    assert_eq!(closed.status(), StatusCode::NOT_FOUND, "the id alone opens nothing");
    assert_guarded(&closed, "no-referrer");
    let member = ada.ask(Method::GET, &format!("/shared/{id}"), &[]).await;
    assert_eq!(member.status(), StatusCode::NOT_FOUND, "a sign-in is not looked at");
    assert!(!app.log().contains(&secret), "{}", app.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_secret_is_exchanged_for_a_cookie_of_one_page_that_ends_with_the_link() {
    let app = App::start();
    let (session, ada) = talk(&app).await;
    let (secret, id) = link(&ada, &session).await;
    let mut reader = Browser::stranger(&app);
    let opened = reader.post(&format!("/s/{secret}"), &[]).await;
    let (status, path) = (opened.status(), format!("/shared/{id}"));
    assert_eq!((status, opened.headers()["location"].to_str().unwrap()), (StatusCode::SEE_OTHER, path.as_str()));
    assert_guarded(&opened, "no-referrer");
    let cookie = opened.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("sbk_shared=v1.") && !cookie.contains(&secret), "{cookie}");
    for part in [&format!("; Path={path};"), "; HttpOnly", "; SameSite=Lax", "; Max-Age="] {
        assert!(cookie.contains(part), "{part}: {cookie}");
    }
    let page = reader.ask(Method::GET, &path, &[]).await;
    assert_eq!(page.status(), StatusCode::OK);
    assert_guarded(&page, "no-referrer");
    let page = page.text().await.unwrap();
    assert!(page.contains("pineapple") && !page.contains("<b>cake"), "{page}");
    for unwanted in ["<script", "href=\"/sessions", "href=\"/api", "ada@acme.test", "Ada", &secret, &session] {
        assert!(!page.contains(unwanted), "{unwanted}: {page}");
    }
    assert_eq!(uses(&app, &session).await, 1);
    let (_, other) = link(&ada, &session).await;
    let stolen = reader.jar[0].0.clone();
    let asked = app.http.get(format!("{}/shared/{other}", app.url)).header("cookie", stolen).send().await.unwrap();
    assert_eq!(asked.status(), StatusCode::NOT_FOUND, "the cookie of another link");
    let revoked = ada.call(Method::DELETE, &format!("/api/share-links/{id}")).send().await.unwrap();
    assert_eq!(revoked.status(), StatusCode::NO_CONTENT);
    let gone = reader.ask(Method::GET, &path, &[]).await;
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
    assert!(gone.text().await.unwrap().contains("There is nothing to show"));
    let again = reader.post(&format!("/s/{secret}"), &[]).await;
    assert_eq!((again.status(), again.headers().get("set-cookie")), (StatusCode::NOT_FOUND, None));
    assert!(!app.log().contains(&secret), "{}", app.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_is_saved_as_it_was_recorded_by_whoever_sees_its_session() {
    let app = App::start();
    let (session, ada) = talk(&app).await;
    let (secret, id) = link(&ada, &session).await;
    let (of_session, shared) = (format!("/api/sessions/{session}/result"), format!("/shared/{id}/result"));
    let mut reader = Browser::stranger(&app);
    reader.post(&format!("/s/{secret}"), &[]).await;
    let early = app.request(Who::Member, Method::GET, &of_session).send().await.unwrap();
    assert_eq!(early.status(), StatusCode::NOT_FOUND, "it has not ended");
    assert_eq!(reader.ask(Method::GET, &shared, &[]).await.status(), StatusCode::NOT_FOUND);
    let result = json!({ "html": "<script>alert(1)</script>", "n": 1.50, "long": "x".repeat(20_000) });
    let complete = json!({ "attempt": 1, "result": result });
    app.post(Who::Worker, &format!("/api/sessions/{session}/complete"), complete).await;
    let page = ada.page(&format!("/sessions/{session}")).await;
    assert!(page.contains(&format!("href=\"{of_session}\" download=\"session-{session}-result.json\"")), "{page}");
    let page = reader.page(&format!("/shared/{id}")).await;
    assert!(page.contains(&format!("href=\"{shared}\"")), "{page}");
    let saved = app.request(Who::Member, Method::GET, &of_session).send().await.unwrap();
    let name = format!("attachment; filename=\"session-{session}-result.json\"");
    assert_eq!(as_file(saved).await, (name, result.clone()));
    let saved = reader.ask(Method::GET, &shared, &[]).await;
    assert_guarded(&saved, "no-referrer");
    assert_eq!(as_file(saved).await, ("attachment; filename=\"result.json\"".to_owned(), result));
    let stranger = Browser::stranger(&app).ask(Method::GET, &shared, &[]).await;
    assert_eq!(stranger.status(), StatusCode::NOT_FOUND, "the id alone opens nothing");
    let foreign = app.request(Who::Stranger, Method::GET, &of_session).send().await.unwrap();
    assert_eq!(foreign.status(), StatusCode::NOT_FOUND);
    ada.call(Method::DELETE, &format!("/api/share-links/{id}")).send().await.unwrap();
    assert_eq!(reader.ask(Method::GET, &shared, &[]).await.status(), StatusCode::NOT_FOUND);
}

/// What a browser saves: the disposition, and the JSON.
async fn as_file(answer: Response) -> (String, Value) {
    assert_eq!(answer.status(), StatusCode::OK);
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!([header("content-type"), header("x-content-type-options")], ["application/json", "nosniff"]);
    (header("content-disposition"), answer.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_log_is_shown_in_parts_and_wrong_secrets_are_limited() {
    let app = App::start_with("[forms]\nrequests_per_minute = 8\n", &[], &[]);
    let (session, ada) = talk(&app).await;
    let (secret, id) = link(&ada, &session).await;
    let message =
        |n: u32| json!({ "type": "agent.message", "content": [{ "type": "text", "text": format!("word{n}.") }] });
    let events: Vec<_> = (0..220).map(message).collect();
    let events = json!({ "attempt": 1, "events": events });
    app.post(Who::Worker, &format!("/api/sessions/{session}/events"), events).await;
    let mut reader = Browser::stranger(&app);
    reader.post(&format!("/s/{secret}"), &[]).await;
    let first = reader.page(&format!("/shared/{id}")).await;
    assert!(first.contains("word0.") && !first.contains("word219.") && !first.contains("Beginning"), "{first}");
    let next = first.split(&format!("href=\"/shared/{id}?after=")).nth(1).unwrap().split('"').next().unwrap();
    let last = reader.page(&format!("/shared/{id}?after={next}")).await;
    assert!(last.contains("word219.") && !last.contains("word0.") && !last.contains("Next part"), "{last}");
    assert!(last.contains("Beginning"), "{last}");
    let mut statuses = Vec::new();
    while statuses.len() < 10 && !statuses.contains(&StatusCode::TOO_MANY_REQUESTS) {
        statuses.push(Browser::stranger(&app).ask(Method::POST, "/s/sbv_guess", &[]).await.status());
    }
    assert_eq!(statuses.last(), Some(&StatusCode::TOO_MANY_REQUESTS), "{statuses:?}");
    let asks = Browser::stranger(&app).ask(Method::GET, "/s/sbv_guess", &[]).await;
    assert_eq!(asks.status(), StatusCode::OK, "what reads nothing is not counted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_of_members_say_what_is_shown_make_a_link_once_and_revoke_it() {
    let app = App::start();
    let (session, mut ada) = talk(&app).await;
    let of_session = ada.page(&format!("/sessions/{session}")).await;
    let path = format!("/sessions/{session}/share");
    assert!(of_session.contains(&format!("href=\"{path}\"")), "{of_session}");
    let page = ada.page(&path).await;
    assert!(page.contains("Whoever has the link sees") && page.contains("its log as it is now"), "{page}");
    for (days, message) in [("31", "1 to 30"), ("soon", "a whole number")] {
        let refused = ada.ask(Method::POST, &path, &[("do", "share"), ("days", days)]).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let page = refused.text().await.unwrap();
        assert!(page.contains("id=\"share-days-error\"") && page.contains(message), "{page}");
    }
    let made = ada.post(&path, &[("do", "share"), ("days", "7")]).await;
    let address = shown_at(&made, &path, "");
    let shown = ada.ask_and_keep(Method::GET, &address, &[]).await.text().await.unwrap();
    assert!(shown.contains("autofocus") && shown.contains("not shown again"), "{shown}");
    let secret = shown.split("/s/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(secret.starts_with("sbv_"), "{secret}");
    let again = ada.page(&address).await;
    assert!(!again.contains(&secret), "it is shown once: {again}");
    let list = ada.page("/settings/share-links").await;
    assert!(list.contains(&secret[..10]) && list.contains("never") && !list.contains(&secret), "{list}");
    assert!(ada.page("/settings").await.contains("href=\"/settings/share-links\""));
    let id = list.split("name=\"link\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let revoked = ada.post("/settings/share-links", &[("do", "revoke"), ("link", &id)]).await;
    assert_eq!(revoked.headers()["location"], "/settings/share-links?notice=share_link_revoked");
    let list = ada.page("/settings/share-links").await;
    assert!(list.contains("revoked ") && !list.contains("value=\"revoke\""), "{list}");
    let unknown = ada.post("/settings/share-links", &[("link", "x")]).await;
    assert_eq!(unknown.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let gone = Browser::stranger(&app).ask(Method::POST, &format!("/s/{secret}"), &[]).await;
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
    let audit = ada.page("/settings/audit").await;
    assert!(audit.contains("created a link to") && audit.contains("revoked a link to"), "{audit}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_is_for_people_and_refuses_what_it_does_not_know() {
    let app = App::start();
    let (session, ada) = talk(&app).await;
    let path = format!("/api/sessions/{session}/share-links");
    for who in [Who::Member, Who::Admin, Who::Worker] {
        let refused = app.request(who, Method::POST, &path).json(&json!({})).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::FORBIDDEN, "a token of {who:?}");
    }
    let ask = async |body: Value| {
        let answer = ada.call(Method::POST, &path).json(&body).send().await.unwrap();
        (answer.status(), answer.json::<Value>().await.unwrap())
    };
    let (status, problem) = ask(json!({ "days": 31 })).await;
    assert_eq!((status, problem["errors"][0]["field"].as_str()), (StatusCode::UNPROCESSABLE_ENTITY, Some("days")));
    assert_eq!(ask(json!({ "hours": 3 })).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let (status, made) = ask(json!({})).await;
    assert_eq!((status, made["link"]["audience"].as_str()), (StatusCode::CREATED, Some("session")));
    assert!(made["url"].as_str().unwrap().starts_with(&format!("{}/s/sbv_", app.url)), "{made}");
    let listed: Value = ada.call(Method::GET, "/api/share-links?limit=1").send().await.unwrap().json().await.unwrap();
    assert_eq!(listed["items"][0]["id"], made["link"]["id"], "{listed}");
    assert!(!listed.to_string().contains(made["url"].as_str().unwrap()), "{listed}");
    let wrong = ada.call(Method::GET, "/api/share-links?cursor=x").send().await.unwrap();
    assert_eq!(wrong.status(), StatusCode::BAD_REQUEST);
}

/// A path with an id in the place of each parameter.
fn concrete(path: &str, id: &str) -> String {
    let part = |part: &str| if part.starts_with('{') { id.to_owned() } else { part.to_owned() };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_of_a_link_is_nobody_at_every_other_route() {
    // Everyone opens forms from the same address.
    let app = App::start_with("[forms]\nrequests_per_minute = 10000\n", &[], &[]);
    let (session, ada) = talk(&app).await;
    let (secret, id) = link(&ada, &session).await;
    let mut reader = Browser::stranger(&app);
    reader.post(&format!("/s/{secret}"), &[]).await;
    let cookie = reader.jar[0].0.clone();
    let ask = async |method: &Method, path: &str, cookie: Option<&str>| {
        let request = app.http.request(method.clone(), format!("{}{path}", app.url));
        let request = request.header("sec-fetch-site", "same-origin");
        let request = cookie.map_or(request.try_clone().unwrap(), |cookie| request.header("cookie", cookie));
        request.send().await.unwrap().status()
    };
    let own = format!("/shared/{id}");
    assert_eq!(ask(&Method::GET, &own, Some(&cookie)).await, StatusCode::OK);
    assert_eq!(ask(&Method::GET, &own, None).await, StatusCode::NOT_FOUND);
    let mut routes = documented(&app).await;
    routes.extend(pages());
    assert!(routes.len() > 200, "{}", routes.len());
    for (method, path) in &routes {
        let path = concrete(path, &session);
        let (with, without) = (ask(method, &path, Some(&cookie)).await, ask(method, &path, None).await);
        assert_eq!(with, without, "{method} {path}");
    }
    // Nothing was changed by anyone of them.
    assert_eq!(ask(&Method::GET, &own, Some(&cookie)).await, StatusCode::OK);
}
