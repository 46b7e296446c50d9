//! What the query in the address of a form does: answers that a link gives, and what has just happened.

use crate::{
    app::{App, Who},
    browser::Browser,
    form::{carried, enter, leads, open_form, publish, questions, responses, send},
};
use reqwest::{Method, StatusCode};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_answer_comes_from_the_address_that_was_opened_last() {
    let app = App::start();
    let fields = json!([
        { "key": "order", "label": "Order?", "type": "short_text", "hidden": true, "prefill": true },
        { "key": "name", "label": "Your name?", "type": "short_text", "required": true, "prefill": true },
    ]);
    let view = publish(&app, "acme", "orders", &json!({ "gate": "none" }), &fields).await;
    let made = app.post(Who::Operator, &format!("/api/views/{view}/links"), json!({})).await;
    let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let (browser, path) = enter(&app, &secret).await;
    let first = browser.page(&format!("{path}?order=1")).await;
    let saved = send(&browser, &format!("{path}/draft"), &first, &[("name", "Zoe")]).await;
    assert_eq!(saved.status(), StatusCode::SEE_OTHER);
    let again = browser.page(&leads(&saved)).await;
    assert!(again.contains("name=\"order\" value=\"1\""), "an address without the answer keeps it: {again}");

    let second = browser.page(&format!("{path}?order=2&name=Max")).await;
    assert!(second.contains("value=\"Zoe\"") && !second.contains("Max"), "what was typed stays: {second}");
    let sent = send(&browser, &path, &second, &[("name", "Zoe")]).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    assert_eq!(responses(&app, view).await[0]["answers"], json!({ "order": "2", "name": "Zoe" }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_was_passed_on_confirms_nothing() {
    let app = App::start();
    for kind in ["one", "many"] {
        let (_, secret, _) = open_form(&app, json!({ "gate": "none", "responses": kind })).await;
        let (browser, path) = enter(&app, &secret).await;
        let page = browser.page(&path).await;
        let saved = send(&browser, &format!("{path}/draft"), &page, &[("name", "Zoe")]).await;
        assert!(browser.page(&leads(&saved)).await.contains("Saved as a draft"), "{kind}");
        for state in ["_done", "_saved"] {
            let mut other = Browser::stranger(&app);
            let entered = other.ask_and_keep(Method::GET, &format!("/f/{secret}?{state}"), &[]).await;
            let shown = other.page(&leads(&entered)).await;
            assert!(shown.contains("Your name?"), "{kind}, {state}: {shown}");
            assert!(!shown.contains("are recorded") && !shown.contains("Saved as a draft"), "{kind}, {state}: {shown}");
        }
        let page = browser.page(&path).await;
        let sent = send(&browser, &path, &page, &[("name", "Zoe")]).await;
        assert!(browser.page(&leads(&sent)).await.contains("are recorded"), "{kind}");
    }
    publish(&app, "acme", "members", &json!({}), &questions()).await;
    let ada = Browser::of(&app, "ada@acme.test").await;
    let shown = ada.page("/views/members/answer?_done").await;
    assert!(shown.contains("Your name?") && !shown.contains("are recorded"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_link_gives_gets_past_the_page_that_asks_who_answers() {
    let app = App::start();
    let (_, secret, _) = open_form(&app, json!({ "gate": "lead" })).await;
    let mut browser = Browser::stranger(&app);
    let path = leads(&browser.ask_and_keep(Method::GET, &format!("/f/{secret}?name=Zoe"), &[]).await);
    let asks = browser.page(&path).await;
    let action = path.replace("?name=Zoe", "/lead?name=Zoe");
    assert!(asks.contains(&format!("action=\"{action}\"")), "{asks}");
    let key = carried(&asks).into_iter().find(|(name, _)| name == "_key").unwrap().1;
    let wrong = browser.post(&action, &[("_key", key.as_str()), ("name", "Z."), ("email", "z")]).await;
    assert!(wrong.text().await.unwrap().contains(&format!("action=\"{action}\"")));
    let passed = browser.post(&action, &[("_key", key.as_str()), ("name", "Z."), ("email", "z@example.org")]).await;
    assert_eq!(leads(&passed), path);
    assert!(browser.page(&path).await.contains("value=\"Zoe\""));
}
