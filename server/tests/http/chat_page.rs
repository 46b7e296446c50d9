//! Conversations in the browser, as plain forms: start, send, stop, fail, end, rate; and who may see them.

use crate::{
    app::{App, Who},
    browser::{Browser, add_person, ratings},
};
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use testkit::model::{ScriptedModel, ScriptedReply};

const ASKED: &str = "Did this help?";

/// Returns the id of the conversation that a redirect leads to.
fn conversation_id(response: &Response) -> String {
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let location = response.headers()["location"].to_str().unwrap();
    location.strip_prefix("/chat/").unwrap_or_else(|| panic!("{location}")).to_owned()
}

async fn claim(app: &App, agent: &str) -> u64 {
    let claim = json!({ "agentSlugs": [agent], "leaseSeconds": 3600 });
    let claimed = app.post(Who::Worker, "/api/sessions/claim", claim).await;
    claimed["sessions"][0]["attempt"].as_u64().unwrap_or_else(|| panic!("nothing to claim: {claimed}"))
}

/// Appends this event as the worker, and yields with `idle`.
async fn reply(app: &App, id: &str, attempt: u64, event: Value) {
    app.post(Who::Worker, &format!("/api/sessions/{id}/events"), json!({ "attempt": attempt, "events": [event] }))
        .await;
    let idle = json!({ "attempt": attempt, "status": "idle" });
    app.post(Who::Worker, &format!("/api/sessions/{id}/yield"), idle).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_converses_stops_a_turn_retries_a_failed_turn_and_rates() {
    let app = App::start();
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let empty = ada.page("/chat").await;
    assert!(empty.contains("No agent in this workspace can chat yet") && empty.contains("shiftbook work"), "{empty}");
    app.post(Who::Operator, "/api/actions", json!({ "name": "Greet", "agentSlug": "scout" })).await;
    let list = ada.page("/chat").await;
    assert!(list.contains("scout · Greet") && list.contains("You have no conversations yet."), "{list}");

    let begin = [("agent", "scout"), ("message", "Hello **you**"), ("key", "k1")];
    let id = conversation_id(&ada.start_chat(&begin).await);
    assert_eq!(conversation_id(&ada.start_chat(&begin).await), id, "sent twice is begun once");
    let path = format!("/chat/{id}");
    let queued = ada.page(&path).await;
    assert!(queued.contains("Waiting for scout") && queued.contains("Hello **you**"), "{queued}");
    assert!(queued.contains("http-equiv=\"refresh\"") && queued.contains("composer js-only"), "nothing typed is lost");

    let first = claim(&app, "scout").await;
    let thinking = ada.page(&path).await;
    assert!(thinking.contains("scout is thinking") && thinking.contains("/fn/chat/interrupt"));
    // A message in the middle of a turn is refused, and the typed text is still there.
    let early = ada.chat("send", &id, &[("text", "Not <yet>")]).await;
    assert_eq!(early.status(), StatusCode::CONFLICT);
    let kept = early.text().await.unwrap();
    assert!(kept.contains("Not &lt;yet&gt;</textarea>") && !kept.contains("http-equiv=\"refresh\""), "{kept}");
    assert_eq!(ada.chat("interrupt", &id, &[]).await.status(), StatusCode::SEE_OTHER);
    assert!(ada.page(&path).await.contains("You stopped this turn."));
    let stale = json!({ "attempt": first, "events": [{ "type": "agent.message" }] });
    let stale = app.request(Who::Worker, Method::POST, &format!("/api/sessions/{id}/events")).json(&stale).send().await;
    assert_eq!(stale.unwrap().status(), StatusCode::CONFLICT);

    let again = "00000000-0000-7000-8000-00000000c0de";
    for _ in 0..2 {
        let said = ada.chat("send", &id, &[("text", "Once more"), ("id", again)]).await;
        assert_eq!(conversation_id(&said), id);
    }
    // The same form filled in again is another message.
    assert_eq!(conversation_id(&ada.chat("send", &id, &[("text", "And this"), ("id", again)]).await), id);
    let failed = json!({ "type": "session.error", "content": "no such model", "metadata": { "code": "x" } });
    reply(&app, &id, claim(&app, "scout").await, failed).await;
    let page = ada.page(&path).await;
    assert!(
        page.contains("The turn failed") && page.contains("no such model") && page.contains("Send it again"),
        "{page}"
    );
    assert_eq!(page.matches(">Once more</p>").count(), 1);
    assert!(page.contains("name=\"text\" value=\"And this\""), "{page}");
    ada.chat("send", &id, &[("text", "And this")]).await;
    reply(&app, &id, claim(&app, "scout").await, json!({ "type": "agent.message", "content": "Hello to **you**" }))
        .await;

    let rested = ada.page(&path).await;
    assert!(rested.contains("Hello to <strong>you</strong>") && !rested.contains("Send it again"), "{rested}");
    let listed = ada.page("/chat").await;
    assert!(listed.contains(&format!("href=\"{path}\"")) && listed.contains("Hello to you"), "{listed}");
    let wrong = ada.chat("end", &id, &[("feedback", "great")]).await;
    assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(ada.page(&path).await.contains("id=\"composer\""), "it goes on");
    assert_eq!(conversation_id(&ada.chat("end", &id, &[("feedback", "positive")]).await), id);
    let ended = ada.page(&path).await;
    for part in
        ["The conversation has ended.", "4 messages in", "First request", "You said that this helped.", "1 rating"]
    {
        assert!(ended.contains(part), "{part} in {ended}");
    }
    assert!(!ended.contains("id=\"composer\"") && !ended.contains(ASKED));
    let kept = ratings(&app, &id);
    assert_eq!((kept.len(), &kept[0]["label"], &kept[0]["source"]), (1, &json!("positive"), &json!("web_end")));
    assert_eq!(kept[0]["turn_count_at_end"], 4);
    let undone = ada.post("/fn/session/undo-rating", &[("session_id", &id), ("next", &path)]).await;
    assert_eq!(conversation_id(&undone), id);
    assert!(ada.page(&path).await.contains(ASKED) && ratings(&app, &id).is_empty());
    // It is over: a message is refused now, and nothing is lost.
    let late = ada.chat("send", &id, &[("text", "Too late")]).await;
    assert_eq!(late.status(), StatusCode::CONFLICT);
    let late = late.text().await.unwrap();
    assert!(late.contains("Too late</textarea>"), "{late}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_an_end_without_a_rating_no_question_follows_and_incognito_conversations_have_no_name() {
    let app = App::start();
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let id = conversation_id(&ada.start_chat(&[("agent", "scout"), ("message", "Hello")]).await);
    reply(&app, &id, claim(&app, "scout").await, json!({ "type": "agent.message", "content": "Hi" })).await;
    ada.chat("end", &id, &[("feedback", "")]).await;
    for path in [format!("/chat/{id}"), format!("/sessions/{id}")] {
        let page = ada.page(&path).await;
        assert!(!page.contains(ASKED) && !page.contains("Thank you."), "{path}");
        assert!(!page.contains("Run again"), "{path}: a conversation cannot be run again");
    }
    assert!(ratings(&app, &id).is_empty());

    let form = [("agent", "scout"), ("message", "A secret"), ("incognito", "true")];
    let id = conversation_id(&ada.start_chat(&form).await);
    reply(&app, &id, claim(&app, "scout").await, json!({ "type": "agent.message", "content": "Hush" })).await;
    let session: Value = serde_json::from_str(&ada.page(&format!("/api/sessions/{id}")).await).unwrap();
    assert_eq!(session["metadata"]["incognito"], true);
    assert!(!session["title"].as_str().unwrap().contains("secret"));
    ada.chat("end", &id, &[("feedback", "negative")]).await;
    let page = ada.page(&format!("/chat/{id}")).await;
    assert!(page.contains("You said that this did not help.") && page.contains("1 rating"), "{page}");
    assert!(ratings(&app, &id).is_empty(), "in memory alone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_persons_conversation_looks_like_none_and_bad_input_is_refused_with_its_field() {
    let app = App::start();
    add_person(&app, "mia@acme.test");
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let mut mia = Browser::of(&app, "mia@acme.test").await;
    app.post(Who::Operator, "/api/actions", json!({ "name": "Greet", "agentSlug": "scout" })).await;
    let id = conversation_id(&mia.start_chat(&[("agent", "scout"), ("message", "Mine alone")]).await);
    let path = format!("/chat/{id}");
    for (method, path) in [
        (Method::GET, path.clone()),
        (Method::GET, format!("{path}/live")),
        (Method::POST, "/fn/chat/send".to_owned()),
        (Method::POST, "/fn/chat/interrupt".to_owned()),
        (Method::POST, "/fn/chat/end".to_owned()),
        (Method::GET, "/chat/00000000-0000-7000-8000-000000000000".to_owned()),
        (Method::GET, format!("/chat/{}", app.running(Who::Member).await)),
    ] {
        let answer = ada.ask(method.clone(), &path, &[("session_id", id.as_str()), ("text", "x")]).await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{method} {path}");
    }
    let rows = ada.page(&format!("/chat/rows?ids={id},nonsense")).await;
    assert!(rows.is_empty() && !ada.page("/chat").await.contains("Mine alone"), "{rows}");
    assert!(mia.page(&format!("/chat/rows?ids={id}")).await.contains("Mine alone"));
    let read: Value = app
        .request(Who::Operator, Method::GET, &format!("/api/sessions/{id}"))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(read["status"], "pending", "nothing was done to it");

    let long = "x".repeat(20_001);
    for (agent, message, field) in [
        ("scout", " \n", "begin-message-error"),
        ("scout", &long, "begin-message-error"),
        ("No Slug", "Hello", "begin-agent-error"),
    ] {
        let refused = ada.start_chat(&[("agent", agent), ("message", message), ("incognito", "true")]).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let page = refused.text().await.unwrap();
        assert!(
            page.contains(field) && page.contains("name=\"incognito\" value=\"true\" checked"),
            "{field} in {page}"
        );
    }
    for text in ["", "   ", &long] {
        let refused = mia.chat("send", &id, &[("text", text)]).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{}", text.len());
    }
    // Scripts get the reason.
    let refused = mia.call(Method::POST, "/fn/chat/send").form(&[("session_id", id.as_str()), ("text", " ")]);
    let refused = refused.send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let refused: Value = refused.json().await.unwrap();
    assert_eq!(refused["errors"], json!([{ "field": "text", "message": "needs a text" }]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_of_the_server_can_be_chosen_and_its_question_is_answered_in_the_conversation() {
    let script = [
        ScriptedReply::tool("c1", "ask_person", &json!({ "message": "Which of the two <teams>?" })),
        ScriptedReply::Text("The first it is."),
        ScriptedReply::Text("You chose the <first> team."),
    ];
    let model = ScriptedModel::start(script).await;
    let settings = format!(
        "[agents.clerk]\nadapter = \"chat\"\nworkspace = \"acme\"\nwire = \"openai\"\nbase_url = \"{}\"\nmodel = \"m-1\"\n\
         instructions = \"You are a clerk.\"\ntools = [\"ask_person\"]\n",
        model.base_url
    );
    let app = App::start_with(&settings, &[], &[]);
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    assert!(ada.page("/chat").await.contains("value=\"clerk\""));
    let id = conversation_id(&ada.start_chat(&[("agent", "clerk"), ("message", "Choose a team")]).await);
    let path = format!("/chat/{id}");
    let asked = until(&ada, &path, "clerk asks you.").await;
    assert!(asked.contains("Which of the two &lt;teams&gt;?") && asked.contains("/inbox/"), "{asked}");
    assert_eq!(conversation_id(&ada.chat("send", &id, &[("text", "The first")]).await), id);
    let answered = until(&ada, &path, "The first it is.").await;
    assert!(answered.contains(">The first</p>"), "{answered}");
    until(&ada, &path, "data-state=\"rest\"").await;
    ada.chat("end", &id, &[("feedback", "skip")]).await;
    let ended = ada.page(&path).await;
    assert!(ended.contains("You chose the &lt;first&gt; team.") && ended.contains("Summary by clerk."), "{ended}");
}

/// Reads the page until it contains this text, and returns it.
async fn until(browser: &Browser<'_>, path: &str, wanted: &str) -> String {
    loop {
        let page = browser.page(path).await;
        if page.contains(wanted) {
            return page;
        }
        assert!(!page.contains("data-state=\"ended\""), "it ended without {wanted}: {page}");
        tokio::task::yield_now().await;
    }
}
