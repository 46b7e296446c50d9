//! The sign-in page: its redirects, its message after too many attempts, and floods.

use crate::{
    app::{App, PASSWORD},
    browser::Browser,
    people::{OWNER_HEADER, add},
};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use testkit::Raw;
use tokio::task::JoinSet;

const ADA: &str = "ada@acme.test";
/// Most attempts of the test. Each counted failure doubles the wait, so the block comes much earlier.
const ATTEMPTS_MAX: u32 = 30;
/// Sign-ins that are sent at once, each for another e-mail address.
const FLOOD: usize = 600;

#[tokio::test]
async fn a_slowed_down_sign_in_says_on_its_page_when_to_try_again() {
    let app = App::start();
    let browser = Browser::stranger(&app);
    for _ in 0..ATTEMPTS_MAX {
        let answer = browser.ask(Method::POST, "/sign-in", &[("email", ADA), ("password", "wrong")]).await;
        if answer.status() == StatusCode::UNAUTHORIZED {
            assert!(answer.headers().get("retry-after").is_none());
            continue;
        }
        assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
        let seconds: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=300).contains(&seconds), "{seconds}");
        assert!(answer.headers()["content-type"].to_str().unwrap().starts_with("text/html"));
        let page = answer.text().await.unwrap();
        assert!(page.contains(&format!("too many attempts; try again in {seconds} s")), "{page}");
        assert!(page.contains(&format!("value=\"{ADA}\"")), "what was typed is still there");
        return;
    }
    panic!("{ATTEMPTS_MAX} wrong passwords were not slowed down");
}

fn sign_in(app: &App, email: &str, password: &str) -> RequestBuilder {
    let form = [("email", email), ("password", password)];
    app.http.post(format!("{}/sign-in", app.url)).header("origin", &app.url).form(&form)
}

/// Whether a sign-in was refused with a time to wait. If not, its password must have been checked.
fn is_refused(answer: &Response) -> bool {
    if answer.status() == StatusCode::UNAUTHORIZED {
        return false;
    }
    assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
    let seconds: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_600_sign_ins_at_once_the_surplus_is_refused_and_people_get_in() {
    let app = App::start();
    let mut flood = JoinSet::new();
    for n in 0..FLOOD {
        let request = sign_in(&app, &format!("nobody-{n}@acme.test"), "wrong password");
        flood.spawn(async move { request.send().await.unwrap() });
    }
    let mut refusals = Vec::new();
    while !refusals.contains(&true) {
        let answer = flood.join_next().await.expect("one of the sign-ins is refused").unwrap();
        refusals.push(is_refused(&answer));
    }
    // The network of the flood has no place now. A person at another network needs no second attempt.
    let elsewhere = sign_in(&app, ADA, PASSWORD).header("x-forwarded-for", "203.0.113.7").send().await.unwrap();
    assert_eq!(leads(&elsewhere), (StatusCode::SEE_OTHER, "/today"));
    refusals.extend(flood.join_all().await.iter().map(is_refused));
    assert_eq!(refusals.len(), FLOOD);
    assert!(refusals.contains(&false), "some have a place");
    // Nor does a person at the same network once the flood is over.
    let here = sign_in(&app, ADA, PASSWORD).send().await.unwrap();
    assert_eq!(leads(&here), (StatusCode::SEE_OTHER, "/today"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_of_the_database_does_not_look_like_a_missing_sign_in() {
    let app = App::start();
    crate::form::publish(&app, "acme", "own-check", &serde_json::json!({}), &crate::form::questions()).await;
    // Signing in reads no credentials, so the server does not know this person yet.
    let browser = Browser::of(&app, ADA).await;
    let mut raw = Raw::of_sqlite(&app.data_dir().join("shiftbook.sqlite3")).await;
    raw.execute("ALTER TABLE browser_sessions RENAME TO unreadable").await.unwrap();
    for (method, path) in [
        (Method::GET, "/today"),
        (Method::POST, "/views/own-check/answer"),
        (Method::POST, "/views/own-check/answer/draft"),
        (Method::POST, "/workspace"),
    ] {
        let answer = browser.ask(method, path, &[("name", "Ada"), ("slug", "acme")]).await;
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR, "{path}");
        let page = answer.text().await.unwrap();
        assert!(!page.contains("signed out"), "{path}: {page}");
    }
    raw.execute("ALTER TABLE unreadable RENAME TO browser_sessions").await.unwrap();
    browser.page("/today").await;
    let stranger = Browser::stranger(&app).ask(Method::GET, "/views/own-check/answer", &[]).await;
    assert_eq!(leads(&stranger), (StatusCode::SEE_OTHER, "/sign-in?next=%2Fviews%2Fown-check%2Fanswer"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_of_memory_that_is_saved_after_signing_out_is_kept() {
    let app = App::start();
    let (path, text) = ("/agents/scout/memory", "Water\nthe roses");
    let new = [("step", "create"), ("path", "topics/garden.md"), ("baseVersion", "0"), ("text", text)];
    let mut browser = Browser::stranger(&app);
    let kept = browser.post(path, &new).await;
    assert_eq!(kept.status(), StatusCode::UNAUTHORIZED);
    let page = kept.text().await.unwrap();
    assert!(page.contains("It is kept") && page.contains(text), "{page}");
    let carried = crate::form::carried(&page);
    let mut fields: Vec<_> = carried.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    fields.extend([("email", ADA), ("password", PASSWORD)]);
    let signed_in = browser.post("/sign-in", &fields).await;
    assert_eq!(signed_in.status(), StatusCode::OK);
    let page = signed_in.text().await.unwrap();
    assert!(page.contains(&format!("action=\"{path}\"")) && page.contains(text), "{page}");
    let carried = crate::form::carried(&page);
    let mut fields: Vec<_> = carried.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    fields.push(("text", text));
    let saved = browser.post(path, &fields).await;
    let led = "/agents/scout/memory?path=topics%2Fgarden.md&notice=memory_saved";
    assert_eq!(leads(&saved), (StatusCode::SEE_OTHER, led));
    assert!(browser.page(led).await.contains("the roses"));

    // Only what is long to type is kept.
    let deletes = [("step", "delete"), ("path", "topics/garden.md"), ("baseVersion", "1")];
    let answer = Browser::stranger(&app).ask(Method::POST, path, &deletes).await;
    assert_eq!(leads(&answer), (StatusCode::SEE_OTHER, "/sign-in"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_is_created_after_signing_out_is_kept() {
    let app = App::start();
    let definition = r#"{"kind":"worker","inputSchema":{"type":"object"}}"#;
    let new =
        [("revision", "0"), ("name", "Echo"), ("slug", ""), ("description", "Says it"), ("definition", definition)];
    let mut browser = Browser::stranger(&app);
    let kept = browser.post("/tools", &new).await;
    assert_eq!(kept.status(), StatusCode::UNAUTHORIZED);
    let page = kept.text().await.unwrap();
    assert!(page.contains("It is kept"), "{page}");
    let carried = crate::form::carried(&page).into_iter().map(|(name, value)| (name, value.replace("&quot;", "\"")));
    let mut fields: Vec<(String, String)> = carried.collect();
    fields.extend([("email", ADA), ("password", PASSWORD)].map(|(name, value)| (name.to_owned(), value.to_owned())));
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let signed_in = browser.post("/sign-in", &fields).await;
    assert_eq!(signed_in.status(), StatusCode::OK);
    let page = signed_in.text().await.unwrap();
    assert!(page.contains("action=\"/tools\"") && page.contains("name=\"definition\""), "{page}");
    let carried = crate::form::carried(&page);
    let mut fields: Vec<_> = carried.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    fields.push(("definition", definition));
    let saved = browser.post("/tools", &fields).await;
    assert_eq!(leads(&saved), (StatusCode::SEE_OTHER, "/tools/echo?notice=tool_saved"));
    let edit = Browser::stranger(&app).ask(Method::POST, "/tools/echo/edit", &new).await;
    assert_eq!(edit.status(), StatusCode::UNAUTHORIZED);

    // Secrets are not, and inputs can be private.
    let secret = [("do", "set-secret"), ("name", "KEY"), ("password", "x")];
    for (path, form) in [("/tools/echo", &secret[..]), ("/tools/echo/run", &[("input.city", "Oslo")][..])] {
        let answer = Browser::stranger(&app).ask(Method::POST, path, form).await;
        assert_eq!(leads(&answer), (StatusCode::SEE_OTHER, "/sign-in"), "{path}");
    }
}

/// The owner that a page names in its HTML.
fn owner_of(page: &str) -> &str {
    let (_, rest) = page.split_once("data-owner=\"").unwrap();
    rest.split_once('"').unwrap().0
}

#[tokio::test]
async fn a_page_of_the_workspace_before_the_switch_changes_nothing() {
    let app = App::start();
    add(&app, ADA, "other", "admin");
    let browser = Browser::of(&app, ADA).await;
    let switched = browser.ask(Method::POST, "/workspace", &[("slug", "acme")]).await;
    assert_eq!(leads(&switched), (StatusCode::SEE_OTHER, "/today?notice=workspace_switched"));
    let owner = owner_of(&browser.page("/settings").await).to_owned();
    let invite = format!("/settings/invitations?{OWNER_HEADER}={}", owner.replace('/', "%2F"));
    let form = [("email", "zoe@acme.test"), ("role", "admin")];
    browser.ask(Method::POST, "/workspace", &[("slug", "other")]).await;
    assert_ne!(owner_of(&browser.page("/settings").await), owner);

    let refused = browser.ask(Method::POST, &invite, &form).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let page = refused.text().await.unwrap();
    for part in ["signed in as ada@acme.test in the workspace", "Nothing was changed", "Go to Today"] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    let call = browser.call(Method::POST, "/fn/working-on/create").header(OWNER_HEADER, &owner);
    let refused = call.form(&[("name", "Water the roses"), ("key", "")]).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let problem: Value = refused.json().await.unwrap();
    assert_eq!(problem["code"], json!("other_sign_in"));
    let invited = browser.page("/settings").await;
    assert!(!invited.contains("zoe@acme.test"), "nobody is invited to the other workspace");
    assert!(!browser.page("/actions").await.contains("Water the roses"), "no task is made");

    // The page may switch back, and works again then.
    let back = browser.ask(Method::POST, &format!("/workspace?{OWNER_HEADER}={owner}"), &[("slug", "acme")]).await;
    assert_eq!(leads(&back).0, StatusCode::SEE_OTHER);
    assert!(!browser.page("/settings").await.contains("zoe@acme.test"));
    assert_eq!(browser.ask(Method::POST, &invite, &form).await.status(), StatusCode::SEE_OTHER);
    assert!(browser.page("/settings").await.contains("zoe@acme.test"));
}

#[tokio::test]
async fn sign_in_leads_to_pages_of_this_server_only() {
    let app = App::start();
    let mut browser = Browser::of(&app, ADA).await;
    for (next, expected) in [
        ("/sessions?status=failed", "/sessions?status=failed"),
        ("/%09/evil.example", "/today"),
        ("/%0a/evil.example", "/today"),
        ("/%0d%0a/evil.example", "/today"),
        ("/%00", "/today"),
        ("%09//evil.example", "/today"),
        ("/%5Cevil.example", "/today"),
        ("/%E2%80%A8/evil.example", "/today"),
        ("//evil.example", "/today"),
        ("https://evil.example", "/today"),
        ("/..//evil.example", "/today"),
    ] {
        let encoded = next.replace('?', "%3F");
        let answer = browser.ask(Method::GET, &format!("/sign-in?next={encoded}"), &[]).await;
        assert_eq!(leads(&answer), (StatusCode::SEE_OTHER, expected), "{next}");
        // The field of the form contains the decoded path.
        let typed = percent_decoded(next);
        let form = [("email", ADA), ("password", PASSWORD), ("next", typed.as_str())];
        let answer = browser.post("/sign-in", &form).await;
        assert_eq!(leads(&answer), (StatusCode::SEE_OTHER, expected), "{next}");
    }
}

fn leads(answer: &Response) -> (StatusCode, &str) {
    (answer.status(), answer.headers().get("location").map_or("nowhere", |to| to.to_str().unwrap()))
}

fn percent_decoded(text: &str) -> String {
    form_urlencoded::parse(format!("x={text}").as_bytes()).next().unwrap().1.into_owned()
}

#[tokio::test]
async fn control_characters_in_an_address_are_no_error_of_ours() {
    let app = App::start();
    let browser = Browser::of(&app, ADA).await;
    for path in [
        "/%00",
        "/sessions/%00",
        "/pkg/%00",
        "/t/acme/%00/x",
        "/t/%00/x/y",
        "/sessions?q=%00",
        "/sessions?status=%00",
        "/sessions?cursor=%00",
        "/entities?q=%00",
        "/entities?type=%00",
        "/chat?cursor=%00",
        "/inbox?state=%00&assignedTo=%00&cursor=%00",
        "/today?bucket=%00",
        "/today?notice=%00",
        "/working-on/day?timezone=%00",
        "/criteria-sets?cursor=%00",
        "/insights?days=%00",
        "/sign-in?next=%00",
        "/api/entities?q=%00",
        "/api/sessions?q=%00",
        "/api/actions?q=%00",
        "/api/approvals?agentSlug=%00",
        "/api/threads?agent=%00",
    ] {
        let answer = browser.ask(Method::GET, path, &[]).await;
        assert!(answer.status().as_u16() < 500, "{path}: {}", answer.status());
    }
}
