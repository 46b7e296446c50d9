//! What the query in the address of a form does: answers that a link gives, and what has just happened.

use crate::{
    app::{App, Who},
    form::{enter, leads, publish, responses, send},
};
use reqwest::StatusCode;
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
