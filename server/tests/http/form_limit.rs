//! The limits of forms: requests of an address, of a browser and of a link, and the size and fields of what is posted.

use crate::{
    app::{App, Who},
    browser::Browser,
    form::{enter, open_form, publish, responses, send},
};
use domain::limit::SELECT_OPTIONS_MAX;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_requests_too_large_bodies_and_programs_that_fill_in_everything_are_refused() {
    let app = App::start_with("[forms]\nrequests_per_minute = 6\n", &[], &[]);
    let (view, secret, _) = open_form(&app, json!({ "gate": "none", "responses": "many" })).await;
    let (browser, path) = enter(&app, &secret).await;
    let page = browser.page(&path).await;
    let large = "x".repeat(64 * 1024);
    let refused = send(&browser, &path, &page, &[("name", &large)]).await;
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let trapped = send(&browser, &path, &page, &[("name", "Bot"), ("_website", "x")]).await;
    assert_eq!(trapped.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(responses(&app, view).await.is_empty());
    let mut last = StatusCode::OK;
    for n in 0..8 {
        let answer = send(&browser, &path, &page, &[("name", &format!("Zoe {n}"))]).await;
        last = answer.status();
        if last == StatusCode::TOO_MANY_REQUESTS {
            assert_eq!(answer.headers()["retry-after"], "60");
            let kept = answer.text().await.unwrap();
            assert!(kept.contains(&format!("value=\"Zoe {n}\"")) && kept.contains("Nothing is lost"), "{kept}");
            break;
        }
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
    // One more is allowed each ten seconds.
    let mut statuses = Vec::new();
    while statuses.len() < 8 && !statuses.contains(&StatusCode::TOO_MANY_REQUESTS) {
        let guessed = Browser::stranger(&app).ask(Method::GET, &format!("/f/{secret}"), &[]).await;
        statuses.push(guessed.status());
    }
    assert!(statuses.contains(&StatusCode::TOO_MANY_REQUESTS), "guessing secrets is limited too: {statuses:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_lead_is_told_why_and_when_to_try_again() {
    let app = App::start_with("[forms]\nrequests_per_minute = 6\n", &[], &[]);
    let (_, secret, _) = open_form(&app, json!({ "gate": "lead" })).await;
    let (browser, path) = enter(&app, &secret).await;
    let page = browser.page(&path).await;
    let path = format!("{path}/lead");
    let who = [("name", "Bot"), ("email", "bot@example.org")];
    let trapped = send(&browser, &path, &page, &[who[0], who[1], ("_website", "x")]).await;
    assert_eq!(trapped.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let text = trapped.text().await.unwrap();
    assert!(text.contains("A field that has to stay empty was filled in") && text.contains("value=\"Bot\""), "{text}");
    for _ in 0..8 {
        let refused = send(&browser, &path, &page, &[("name", "Zoe"), ("email", "zoe")]).await;
        if refused.status() == StatusCode::TOO_MANY_REQUESTS {
            assert_eq!(refused.headers()["retry-after"], "60");
            let text = refused.text().await.unwrap();
            assert!(text.contains("Wait a minute and try again") && text.contains("value=\"Zoe\""), "{text}");
            return;
        }
    }
    panic!("a lead has no limit");
}

/// Opens a page from one address after the other until it is refused. `net` tells the addresses of calls apart. Returns
/// the refusal.
async fn refused_to_many(app: &App, net: u8, path: &str) -> Response {
    for n in 0..=255 {
        let request = app.http.get(format!("{}{path}", app.url)).header("accept", "text/html");
        let answer = request.header("x-forwarded-for", format!("203.0.{net}.{n}")).send().await.unwrap();
        if answer.status() == StatusCode::TOO_MANY_REQUESTS {
            return answer;
        }
    }
    panic!("{path} has no limit");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opening_a_form_is_limited_for_each_link_and_each_address() {
    let app = App::start_with("[forms]\nrequests_per_minute = 1\n", &[], &[]);
    let config = json!({ "gate": "none", "embedOrigins": ["https://a.example"] });
    let (_, secret, _) = open_form(&app, config.clone()).await;
    let (browser, path) = enter(&app, &secret).await;
    let refused = browser.ask(Method::GET, &path, &[]).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS, "the page with the questions");
    assert_eq!(refused.headers()["retry-after"], "60");
    let page = refused.text().await.unwrap();
    assert!(page.contains("Nothing is lost") && !page.contains("Check"), "{page}");

    let opened = refused_to_many(&app, 1, &format!("/f/{secret}")).await;
    assert_eq!(opened.headers()["referrer-policy"], "no-referrer");
    assert!(opened.text().await.unwrap().contains("Nothing is lost"));
    let (_, secret, _) = open_form(&app, config).await;
    let framed = refused_to_many(&app, 2, &format!("/embed/{secret}")).await;
    let policy = framed.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.ends_with("frame-ancestors *"), "the page is shown in its frame: {policy}");
    assert!(framed.text().await.unwrap().contains("Nothing is lost"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_option_of_a_large_form_is_recorded_and_more_fields_than_a_form_has_are_refused() {
    const CHOICES: usize = 25;
    let app = App::start();
    let options: Vec<String> = (0..SELECT_OPTIONS_MAX).map(|n| n.to_string()).collect();
    let choice = |key: &String| json!({ "key": key, "label": "?", "type": "multiple_choice", "options": options });
    let keys: Vec<String> = (0..CHOICES).map(|n| format!("c{n}")).collect();
    let mut fields: Vec<Value> = keys.iter().map(choice).collect();
    fields.push(json!({ "key": "name", "label": "?", "type": "short_text", "required": true }));
    let view = publish(&app, "acme", "large", &json!({ "gate": "none" }), &fields.into()).await;
    let made = app.post(Who::Operator, &format!("/api/views/{view}/links"), json!({})).await;
    let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let (browser, path) = enter(&app, &secret).await;
    let page = browser.page(&path).await;
    let pairs = keys.iter().flat_map(|key| options.iter().map(move |option| (key.as_str(), option.as_str())));
    let mut answers: Vec<(&str, &str)> = pairs.collect();
    answers.push(("name", "Zoe"));
    assert_eq!(send(&browser, &path, &page, &answers).await.status(), StatusCode::SEE_OTHER);
    let recorded = responses(&app, view).await;
    let recorded = &recorded[0]["answers"];
    assert_eq!(recorded["name"], "Zoe", "the last of {} fields", answers.len());
    assert_eq!(recorded["c24"].as_array().unwrap().len(), SELECT_OPTIONS_MAX);

    let refused = send(&browser, &path, &page, &vec![("x", ""); 6_000]).await;
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
}
