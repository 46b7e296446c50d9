//! One answer to several questions of the inbox.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
    inbox::{ask, digest, html, item, reviewer},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const PATH: &str = "/fn/inbox/decide-many";

/// The fields that name these items as they are shown, and more.
async fn fields(browser: &Browser<'_>, items: &[String], more: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut fields: Vec<_> = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    for id in items {
        fields.push((item(id), digest(browser, id).await));
    }
    fields
}

async fn decisions(app: &App, id: &str) -> Value {
    let path = format!("/api/approvals/{id}");
    app.request(Who::Admin, Method::GET, &path).send().await.unwrap().json::<Value>().await.unwrap()["decisions"]
        .clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_that_are_alike_get_one_answer_and_each_is_a_decision_of_its_own() {
    let app = App::start();
    let items = ask(&app, &vec![json!({ "message": "Which region?" }); 3]).await;
    let mut ada = reviewer(&app).await;
    let names: Vec<_> = items.iter().map(|id| (item(id), String::new())).collect();
    let part = html(ada.call(Method::POST, "/inbox/selection").form(&names).header("x-fragment", "1")).await;
    assert!(part.contains("Answer all…") && part.contains(">Answer 3<"), "{part}");
    assert!(items.iter().all(|id| part.contains(&format!("/inbox/{id}"))), "all of them are listed: {part}");

    // Without an answer nothing is decided, and each says so.
    let empty = fields(&ada, &items, &[("decision", "respond"), ("answer", "  ")]).await;
    let (status, refused) = problem(ada.call(Method::POST, PATH).form(&empty).send().await.unwrap()).await;
    assert_eq!((status, refused["errors"].as_array().map(Vec::len)), (422, Some(3)), "{refused}");
    for id in &items {
        assert_eq!(decisions(&app, id).await, json!([]));
    }

    // One was shown otherwise than it is now: the others are answered, and it is named.
    let pages = [("next", "/inbox?notice=decided"), ("page", "/inbox")];
    let answer = [&pages[..], &[("decision", "respond"), ("answer", "The north.")]].concat();
    let mut form = fields(&ada, &items, &answer).await;
    form.last_mut().unwrap().1 = "another".into();
    let form: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let refused = ada.post(PATH, &form).await;
    assert!(refused.status().is_client_error(), "{}", refused.status());
    let page = refused.text().await.unwrap();
    assert!(page.contains("field-error") && page.contains("The north."), "{page}");
    assert!(page.contains(&format!("data-id=\"{}\"", items[2])) && page.contains(">Answer 1<"), "{page}");
    for id in &items[..2] {
        let decided = decisions(&app, id).await;
        assert_eq!(
            (decided.as_array().map(Vec::len), &decided[0]["decision"]),
            (Some(1), &json!("respond")),
            "{decided}"
        );
        assert_eq!(decided[0]["value"], json!("The north."), "{decided}");
    }
    assert_eq!(decisions(&app, &items[2]).await, json!([]));

    let rest = fields(&ada, &items[2..], &answer).await;
    let rest: Vec<_> = rest.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(ada.post(PATH, &rest).await.status(), StatusCode::SEE_OTHER);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_scripts_more_than_20_questions_are_answered_or_denied_by_a_second_press() {
    let app = App::start();
    let items = ask(&app, &vec![json!({ "message": "Which region?" }); 23]).await;
    let mut ada = reviewer(&app).await;
    let answer = [("next", "/inbox?notice=decided"), ("page", "/inbox"), ("decision", "respond"), ("answer", "North.")];
    let press = async |ada: &mut Browser<'_>, count: usize, confirmed: &str| {
        let form = fields(ada, &items[..count], &[&answer[..], &[("confirmed", confirmed)]].concat()).await;
        let form: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        ada.post(PATH, &form).await
    };
    // A press for another number of items is no press for these.
    for confirmed in ["", "Answer 22", "Approve 23"] {
        let asked = press(&mut ada, 23, confirmed).await;
        assert_eq!(asked.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let page = asked.text().await.unwrap();
        assert!(page.contains("Press the same button again: 23 questions get this answer."), "{page}");
        assert!(page.contains("name=\"confirmed\" value=\"Answer 23\"") && page.contains("North."), "{page}");
        assert_eq!(page.matches("aria-label=\"Selected: ").count(), 23, "{page}");
        assert!(page.contains("data-reason hidden") && !page.contains("field-error\">Press"), "{page}");
    }
    let denial = [("next", "/inbox?notice=decided"), ("page", "/inbox"), ("decision", "deny"), ("note", "Too early.")];
    let form = fields(&ada, &items, &denial).await;
    let form: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let asked = ada.post(PATH, &form).await;
    assert_eq!(asked.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let page = asked.text().await.unwrap();
    assert!(page.contains("Press the same button again: 23 items are denied."), "{page}");
    assert!(page.contains("name=\"confirmed\" value=\"Deny 23\"") && page.contains("Too early."), "{page}");
    for id in &items {
        assert_eq!(decisions(&app, id).await, json!([]));
    }
    // What a script sends was pressed twice there.
    let scripted = fields(&ada, &items[..1], &[("decision", "respond"), ("answer", "North.")]).await;
    assert!(ada.call(Method::POST, PATH).form(&scripted).send().await.unwrap().status().is_success());
    let rest = fields(&ada, &items[1..], &[&answer[..], &[("confirmed", "Answer 22")]].concat()).await;
    let rest: Vec<_> = rest.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(ada.post(PATH, &rest).await.status(), StatusCode::SEE_OTHER);
    for id in &items {
        assert_eq!(decisions(&app, id).await[0]["value"], json!("North."));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_to_a_form_goes_to_every_question_with_that_form_and_to_no_other() {
    let app = App::start();
    let schema = json!({
        "type": "object", "properties": { "days": { "type": "integer" } }, "required": ["days"],
    });
    let asks = json!({ "message": "How long?", "schema": schema });
    let items = ask(&app, &[asks.clone(), asks, json!({ "message": "How long, please?" })]).await;
    let ada = reviewer(&app).await;
    let answer = [("decision", "respond"), ("answer.days", "4")];
    let all = fields(&ada, &items, &answer).await;
    let (status, refused) = problem(ada.call(Method::POST, PATH).form(&all).send().await.unwrap()).await;
    assert_eq!(status, 422, "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("the same text and the same form"), "{refused}");
    for id in &items {
        assert_eq!(decisions(&app, id).await, json!([]), "nothing was sent");
    }

    let wrong = fields(&ada, &items[..2], &[("decision", "respond"), ("answer.days", "many")]).await;
    let (status, refused) = problem(ada.call(Method::POST, PATH).form(&wrong).send().await.unwrap()).await;
    assert_eq!((status, refused["errors"].as_array().map(Vec::len)), (422, Some(2)), "{refused}");

    let alike = fields(&ada, &items[..2], &answer).await;
    let offer: Value = ada.call(Method::POST, PATH).form(&alike).send().await.unwrap().json().await.unwrap();
    assert_eq!(offer["items"].as_array().map(Vec::len), Some(2), "{offer}");
    for id in &items[..2] {
        assert_eq!(decisions(&app, id).await[0]["value"], json!({ "days": 4 }));
    }
}
