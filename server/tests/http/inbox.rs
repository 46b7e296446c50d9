//! Fragments of the inbox that scripts get: only the parts that changed.

use crate::app::{App, Who};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

/// Creates sessions whose agent asks a question. Returns the ids of the inbox items.
async fn ask_questions(app: &App, questions: usize) -> Vec<String> {
    let action = json!({ "name": "Ask", "slug": "ask", "agentSlug": "scout" });
    let action = app.post(Who::Operator, "/api/actions", action).await;
    let trigger = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    for number in 0..questions {
        let session = app.post(Who::Member, &trigger, json!({})).await["id"].as_str().unwrap().to_owned();
        app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
        let asks =
            json!({ "attempt": 1, "status": "waiting_human", "question": { "message": format!("Which {number}?") } });
        app.post(Who::Worker, &format!("/api/sessions/{session}/yield"), asks).await;
    }
    let open: Value =
        app.request(Who::Admin, Method::GET, "/api/approvals").send().await.unwrap().json().await.unwrap();
    open["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

async fn html(request: RequestBuilder) -> String {
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    response.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_gets_what_can_be_undone_after_a_decision_and_the_rows_after_an_undo() {
    let app = App::start();
    let items = ask_questions(&app, 2).await;
    let cookie = app.cookie().await;
    let ask = |method: Method, path: &str| {
        let request = app.http.request(method, format!("{}{path}", app.url));
        request.header("cookie", &cookie).header("origin", &app.url)
    };
    let script = |method: Method, path: &str| ask(method, path).header("x-fragment", "1");
    let answer = [("decision", "respond"), ("answer", "The first.")];
    let decided = html(script(Method::POST, &format!("/inbox/{}/decision", items[0])).form(&answer)).await;
    assert!(decided.contains("data-part=\"held\"") && decided.contains("action=\"/inbox/undo\""), "{decided}");
    assert!(!decided.contains("inbox-rows") && !decided.contains(&items[1]), "{decided}");

    let undone = html(script(Method::POST, "/inbox/undo").form(&[(format!("item.{}", items[0]), "")])).await;
    assert!(items.iter().all(|id| undone.contains(&format!("data-id=\"{id}\""))), "{undone}");

    // When some decisions of a batch are refused, the answer contains the list, which says which ones.
    let settled = [("decision", "deny"), ("note", "No.")];
    let batch: Vec<_> = settled.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let with = |digest: &str| [batch.clone(), vec![(format!("item.{}", items[1]), digest.to_owned())]].concat();
    let refused = html(script(Method::POST, "/inbox/decisions").form(&with("another"))).await;
    assert!(refused.contains("inbox-rows") && refused.contains("field-error"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_count_stops_at_its_limit_and_is_in_the_title() {
    let app = App::start();
    ask_questions(&app, 3).await;
    for (query, open) in [("", 3), ("?atMost=2", 2), ("?atMost=9", 3), ("?atMost=0", 0)] {
        let request = app.http.get(format!("{}/api/approvals/count{query}", app.url));
        let counted: Value = request.header("cookie", app.cookie().await).send().await.unwrap().json().await.unwrap();
        assert_eq!(counted["open"], open, "{query}");
    }
    let page = html(app.http.get(format!("{}/inbox", app.url)).header("cookie", app.cookie().await)).await;
    assert!(page.contains("<title>(3) "), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_selects_nothing_decides_nothing_and_says_so() {
    let app = App::start();
    let items = ask_questions(&app, 2).await;
    let cookie = app.cookie().await;
    for (form, is_script) in [("decision=approve", false), ("decision=deny&note=No", true), ("snooze=3600", false)] {
        let request = app.http.post(format!("{}/inbox/decisions", app.url)).header("cookie", &cookie);
        let request = request.header("origin", &app.url).header("content-type", "application/x-www-form-urlencoded");
        let request = if is_script { request.header("x-fragment", "1") } else { request };
        let response = request.body(form).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        let html = response.text().await.unwrap();
        assert!(html.contains("No item was selected") && !html.contains("Decision recorded."), "{form}: {html}");
        assert!(items.iter().all(|id| html.contains(&format!("data-id=\"{id}\""))), "{form}: {html}");
        assert_eq!(html.contains("<title>"), !is_script, "{form}");
    }
}
