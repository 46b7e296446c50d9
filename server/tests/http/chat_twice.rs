//! The conversation page after requests that were sent twice, after changes by others, and after signing out. No
//! scripts.

use crate::{
    app::{App, PASSWORD, Who},
    browser::{Browser, add_person},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// Starts a conversation of the person with the scout, and claims its first turn. Returns the id and the attempt.
async fn begin(app: &App, of: &mut Browser<'_>, text: &str) -> (String, u64) {
    begin_with(app, of, "scout", text).await
}

/// The same with an action that names the scout.
async fn begin_with(app: &App, of: &mut Browser<'_>, agent: &str, text: &str) -> (String, u64) {
    let begun = of.start_chat(&[("agent", agent), ("message", text)]).await;
    assert_eq!(begun.status(), StatusCode::SEE_OTHER);
    let id = begun.headers()["location"].to_str().unwrap().strip_prefix("/chat/").unwrap().to_owned();
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
    let failed = json!({ "type": "session.error", "content": "no such model", "metadata": { "code": "x" } });
    let events = json!({ "attempt": attempt, "events": [failed] });
    app.post(Who::Worker, &format!("/api/sessions/{id}/events"), events).await;
    yields(&app, &id, json!({ "attempt": attempt, "status": "idle" })).await;
    // The same button on two copies of the page has the same id.
    let again: Vec<String> =
        [mia.page(&path).await, mia.page(&path).await].iter().map(|page| value(page, "\"Find Acme\"", "id")).collect();
    assert_eq!(again[0], again[1]);
    for key in &again {
        let sent = mia.chat("send", &id, &[("text", "Find Acme"), ("id", key)]).await;
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
        assert_eq!(mia.chat("send", &id, &answer).await.status(), StatusCode::SEE_OTHER);
    }
    let all = ["Find Acme", "Find Acme", "The second"];
    assert_eq!(texts_of_people(&app, &id).await, all);
    // The repeated form is no answer to a question that the agent has asked since.
    let attempt = claim(&app).await;
    asks(&app, &id, attempt, "In which town?").await;
    assert_eq!(mia.chat("send", &id, &answer).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(texts_of_people(&app, &id).await, all);
    assert!(mia.page(&path).await.contains("scout asks you."));
    // The same form with another text is another answer.
    let other = [("text", "In Bern"), ("id", key.as_str())];
    assert_eq!(mia.chat("send", &id, &other).await.status(), StatusCode::SEE_OTHER);
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

    let typed = [("session_id", id.as_str()), ("text", text), ("id", key.as_str()), ("next", path.as_str())];

    // Someone without a session, on the page that they still have.
    let post = async |path: &str, fields: &[(&str, &str)]| {
        let request = app.http.post(format!("{}{path}", app.url)).header("origin", &app.url);
        request.header("accept", "text/html").form(fields).send().await.unwrap()
    };
    let turned = post("/fn/chat/send", &typed).await;
    assert_eq!(turned.status(), StatusCode::UNAUTHORIZED);
    let page = turned.text().await.unwrap();
    assert!(page.contains("It is kept") && page.contains("the second &lt;with&gt;"), "{page}");
    assert_eq!(value(&page, "<form", "next"), path);
    assert_eq!(value(&page, "<form", "kept-action"), "/fn/chat/send");
    assert_eq!(value(&page, "<form", "kept.id"), key);
    assert_eq!(texts_of_people(&app, &id).await, ["Find Acme"], "nothing was sent");

    // A wrong password loses nothing, and the right one leads back with the text.
    let sign_in = |password| {
        [
            ("email", "mia@acme.test"),
            ("password", password),
            ("next", path.as_str()),
            ("kept-action", "/fn/chat/send"),
            ("kept.text", text),
            ("kept.id", key.as_str()),
            ("kept.session_id", id.as_str()),
            ("kept.next", path.as_str()),
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
    assert!(page.contains("signed in as mia@acme.test") && page.contains("action=\"/fn/chat/send\""), "{page}");
    assert!(page.contains("Two lines,\nthe second &lt;with&gt;") && value(&page, "<form", "id") == key, "{page}");
    assert!(page.contains(&format!("href=\"{path}\"")) && !page.contains(PASSWORD), "{page}");
    let sent = app.http.post(format!("{}/fn/chat/send", app.url)).header("origin", &app.url).header("cookie", cookie);
    let sent = sent.header("accept", "text/html").form(&typed).send().await.unwrap();
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    assert_eq!(texts_of_people(&app, &id).await, ["Find Acme", text]);

    // Other forms lead back to the page that they were on, never to an address that only takes forms.
    let ending = post("/fn/chat/end", &[("session_id", &id), ("feedback", "positive"), ("next", &path)]).await;
    let location = ending.headers()["location"].to_str().unwrap();
    assert_eq!(location, format!("/sign-in?next=%2Fchat%2F{id}"));
    // Scripts hear it, and their page still has the typed text.
    let script = app.http.post(format!("{}/fn/chat/send", app.url)).header("origin", &app.url);
    let script = script.form(&typed).send().await.unwrap();
    assert_eq!(script.status(), StatusCode::UNAUTHORIZED);
    // Only some forms are kept, and only up to a size.
    let elsewhere = [("kept-action", "/settings/invitations"), ("kept.text", "x")];
    let person = [("email", "mia@acme.test"), ("password", PASSWORD)];
    let signed_in = post("/sign-in", &[&person[..], &elsewhere[..]].concat()).await;
    assert_eq!(signed_in.headers()["location"], "/today");
    let long = "x".repeat(130 * 1024);
    let turned =
        post("/fn/chat/start", &[("agent", "scout"), ("message", &long), ("next", "/chat/{id}"), ("page", "/chat")])
            .await;
    assert_eq!(turned.status(), StatusCode::SEE_OTHER);
}
