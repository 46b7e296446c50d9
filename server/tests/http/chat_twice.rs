//! The conversation page after requests that were sent twice, after changes by others, and after signing out. No
//! scripts.

use crate::{
    app::{App, PASSWORD, Who},
    browser::{Browser, add_person},
};
use reqwest::{Method, StatusCode, header::REFERER};
use serde_json::{Value, json};

/// Starts a conversation of the person with the scout, and claims its first turn. Returns the id and the attempt.
async fn begin(app: &App, of: &mut Browser<'_>, text: &str) -> (String, u64) {
    begin_with(app, of, "scout", text).await
}

/// The same with an action that names the scout.
async fn begin_with(app: &App, of: &mut Browser<'_>, agent: &str, text: &str) -> (String, u64) {
    let started = of.post("/chat", &[("agent", agent), ("message", text)]).await;
    assert_eq!(started.status(), StatusCode::SEE_OTHER);
    let id = started.headers()["location"].to_str().unwrap().strip_prefix("/chat/").unwrap().to_owned();
    (id, claim(app).await)
}

async fn claim(app: &App) -> u64 {
    let claim = json!({ "agentSlugs": ["scout"], "leaseSeconds": 3600 });
    let claimed = app.post(Who::Worker, "/api/sessions/claim", claim).await;
    claimed["sessions"][0]["attempt"].as_u64().unwrap_or_else(|| panic!("nothing to claim: {claimed}"))
}

async fn yields(app: &App, id: &str, body: Value) {
    app.post(Who::Worker, &format!("/api/sessions/{id}/yield"), body).await;
}

async fn asks(app: &App, id: &str, attempt: u64, question: &str) {
    let question = json!({ "message": question });
    yields(app, id, json!({ "attempt": attempt, "status": "waiting_human", "question": question })).await;
}

/// The value of the first input with this name after `mark` in the page.
fn value(page: &str, mark: &str, name: &str) -> String {
    let behind = &page[page.find(mark).unwrap_or_else(|| panic!("{mark} in {page}"))..];
    let wanted = format!("name=\"{name}\" value=\"");
    let at = behind.find(&wanted).unwrap_or_else(|| panic!("{name} in {behind}")) + wanted.len();
    behind[at..].split('"').next().unwrap().to_owned()
}

/// Messages and answers of people in the log, in order.
async fn texts_of_people(app: &App, id: &str) -> Vec<String> {
    let path = format!("/api/sessions/{id}/events?eventTypes=user.message,user.form_submit");
    let log: Value = app.request(Who::Operator, Method::GET, &path).send().await.unwrap().json().await.unwrap();
    let text = |event: &Value| {
        let text = event["content"][0]["text"].as_str().or(event["metadata"]["value"].as_str());
        text.unwrap_or_else(|| panic!("{event}")).to_owned()
    };
    log["events"].as_array().unwrap().iter().map(text).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_button_that_is_pressed_twice_sends_once() {
    let app = App::start();
    add_person(&app, "mia@acme.test");
    let mut mia = Browser::of(&app, "mia@acme.test").await;
    let (id, attempt) = begin(&app, &mut mia, "Find Acme").await;
    let path = format!("/chat/{id}");
    let messages = format!("{path}/messages");
    let failed = json!({ "type": "session.error", "content": "no such model", "metadata": { "code": "x" } });
    let events = json!({ "attempt": attempt, "events": [failed] });
    app.post(Who::Worker, &format!("/api/sessions/{id}/events"), events).await;
    yields(&app, &id, json!({ "attempt": attempt, "status": "idle" })).await;
    // The same button on two copies of the page has the same id.
    let again: Vec<String> =
        [mia.page(&path).await, mia.page(&path).await].iter().map(|page| value(page, "\"Find Acme\"", "id")).collect();
    assert_eq!(again[0], again[1]);
    for key in &again {
        let sent = mia.post(&messages, &[("text", "Find Acme"), ("id", key)]).await;
        assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    }
    assert_eq!(texts_of_people(&app, &id).await, ["Find Acme", "Find Acme"]);

    // An answer to a question, sent with the message field.
    let attempt = claim(&app).await;
    asks(&app, &id, attempt, "Which Acme?").await;
    let page = mia.page(&path).await;
    let key = value(&page, "id=\"composer\"", "id");
    let answer = [("text", "The second"), ("id", key.as_str())];
    for _ in 0..2 {
        assert_eq!(mia.post(&messages, &answer).await.status(), StatusCode::SEE_OTHER);
    }
    let all = ["Find Acme", "Find Acme", "The second"];
    assert_eq!(texts_of_people(&app, &id).await, all);
    // The repeated form is no answer to a question that the agent has asked since.
    let attempt = claim(&app).await;
    asks(&app, &id, attempt, "In which town?").await;
    assert_eq!(mia.post(&messages, &answer).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(texts_of_people(&app, &id).await, all);
    assert!(mia.page(&path).await.contains("scout asks you."));
    // The same form with another text is another answer.
    let other = [("text", "In Bern"), ("id", key.as_str())];
    assert_eq!(mia.post(&messages, &other).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(texts_of_people(&app, &id).await, [&all[..], &["In Bern"]].concat());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_a_colleague_has_their_name() {
    let app = App::start();
    add_person(&app, "mia@acme.test");
    let mut mia = Browser::of(&app, "mia@acme.test").await;
    // The action says who may answer the agent's questions.
    let approval = json!({ "approval": { "reviewers": ["anyone"] } });
    let action = json!({ "name": "Find", "agentSlug": "scout", "metadata": approval });
    let action = app.post(Who::Operator, "/api/actions", action).await["id"].as_str().unwrap().to_owned();
    let (id, attempt) = begin_with(&app, &mut mia, &action, "Find Acme").await;
    asks(&app, &id, attempt, "Which Acme?").await;
    let open: Value = app
        .request(Who::Operator, Method::GET, "/api/approvals?assignedTo=all")
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let gate = open["items"][0]["id"].as_str().unwrap().to_owned();
    let decision = json!({ "decision": "respond", "value": "The <first>" });
    let cookie = app.cookie().await;
    let decided = app.http.post(format!("{}/api/approvals/{gate}/decision", app.url)).header("cookie", cookie);
    let decided = decided.header("sec-fetch-site", "same-origin").json(&decision).send().await.unwrap();
    assert!(decided.status().is_success(), "{}", decided.text().await.unwrap());
    let page = mia.page(&format!("/chat/{id}")).await;
    let answer = page.find("The &lt;first&gt;").unwrap_or_else(|| panic!("{page}"));
    let item = &page[page[..answer].rfind("<li").unwrap()..answer];
    assert!(item.contains("<span>ada@acme.test</span>") && !item.contains("<span>You</span>"), "{item}");
    let own = page.find(">Find Acme</p>").unwrap_or_else(|| panic!("{page}"));
    assert!(page[page[..own].rfind("<li").unwrap()..own].contains("<span>You</span>"), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_sent_after_signing_out_is_kept_and_sent_after_signing_in() {
    let app = App::start();
    add_person(&app, "mia@acme.test");
    let mut mia = Browser::of(&app, "mia@acme.test").await;
    let (id, attempt) = begin(&app, &mut mia, "Find Acme").await;
    yields(&app, &id, json!({ "attempt": attempt, "status": "idle" })).await;
    let path = format!("/chat/{id}");
    let key = value(&mia.page(&path).await, "id=\"composer\"", "id");
    let text = "Two lines,\nthe second <with> \"marks\"";

    // Requests without a sign-in, from a page that is still open.
    let post = async |path: &str, fields: &[(&str, &str)]| {
        let request = app.http.post(format!("{}{path}", app.url)).header("origin", &app.url);
        request.header(REFERER, format!("{}/chat/{id}?before=9", app.url)).form(fields).send().await.unwrap()
    };
    let answer = post(&format!("{path}/messages"), &[("text", text), ("id", &key)]).await;
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    let page = answer.text().await.unwrap();
    assert!(page.contains("It is kept") && page.contains("the second &lt;with&gt;"), "{page}");
    assert_eq!(value(&page, "<form", "next"), format!("{path}?before=9"));
    assert_eq!(value(&page, "<form", "kept-action"), format!("{path}/messages"));
    assert_eq!(value(&page, "<form", "kept.id"), key);
    assert_eq!(texts_of_people(&app, &id).await, ["Find Acme"], "nothing was sent");

    // A wrong password keeps the text. The right one leads back to the page with the text.
    let back = format!("{path}?before=9");
    let action = format!("{path}/messages");
    let sign_in = |password| {
        [
            ("email", "mia@acme.test"),
            ("password", password),
            ("next", back.as_str()),
            ("kept-action", action.as_str()),
            ("kept.text", text),
            ("kept.id", key.as_str()),
        ]
    };
    let wrong = post("/sign-in", &sign_in("wrong password")).await;
    assert!(wrong.status().is_client_error());
    let page = wrong.text().await.unwrap();
    assert!(page.contains("the second &lt;with&gt;") && value(&page, "<form", "kept.id") == key, "{page}");
    let signed_in = post("/sign-in", &sign_in(PASSWORD)).await;
    assert_eq!(signed_in.status(), StatusCode::OK);
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let page = signed_in.text().await.unwrap();
    assert!(
        page.contains("signed in as mia@acme.test") && page.contains(&format!("action=\"{path}/messages\"")),
        "{page}"
    );
    assert!(page.contains("Two lines,\nthe second &lt;with&gt;") && value(&page, "<form", "id") == key, "{page}");
    assert!(page.contains(&format!("href=\"{back}\"")) && !page.contains(PASSWORD), "{page}");
    let sent = app.http.post(format!("{}{path}/messages", app.url)).header("origin", &app.url).header("cookie", cookie);
    let sent = sent.form(&[("text", text), ("id", &key)]).send().await.unwrap();
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    assert_eq!(texts_of_people(&app, &id).await, ["Find Acme", text]);

    // Signing in after another form leads to the page of the form, never to a path that only accepts POST.
    let ending = post(&format!("{path}/end"), &[("feedback", "positive")]).await;
    let location = ending.headers()["location"].to_str().unwrap();
    assert_eq!(location, format!("/sign-in?next=%2Fchat%2F{id}%3Fbefore%3D9"));
    // A script gets an error, and its page still has the typed text.
    let script = app.http.post(format!("{}{path}/messages", app.url)).header("origin", &app.url);
    let script = script.header("x-fragment", "1").form(&[("text", text)]).send().await.unwrap();
    assert_eq!(script.status(), StatusCode::UNAUTHORIZED);
    // Only forms of conversations are kept, and only up to a size.
    let elsewhere = [("kept-action", "/settings/invitations"), ("kept.text", "x")];
    let person = [("email", "mia@acme.test"), ("password", PASSWORD)];
    let signed_in = post("/sign-in", &[&person[..], &elsewhere[..]].concat()).await;
    assert_eq!(signed_in.headers()["location"], "/today");
    let long = "x".repeat(130 * 1024);
    let answer = post("/chat", &[("agent", "scout"), ("message", &long)]).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
}
