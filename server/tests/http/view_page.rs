//! The pages of a form for those who manage it: its responses, and its links. Pages are read as a browser without
//! scripts receives them.

use crate::{
    app::{App, Who},
    browser::{Browser, add_person, shown_at},
};
use reqwest::{Method, StatusCode, header::LOCATION};
use serde_json::{Value, json};

fn fields() -> Value {
    json!([
        { "key": "name", "label": "Your <b>name</b>?", "type": "short_text" },
        { "key": "team", "label": "Team?", "type": "single_choice", "options": [
            { "value": "r", "label": "Red" }, { "value": "b", "label": "Blue" }] },
        { "key": "mood", "label": "Mood?", "type": "scale", "minimum": 1, "maximum": 5 },
    ])
}

async fn published(app: &App, slug: &str, config: Value) -> String {
    let new = json!({ "title": "Check", "slug": slug, "fields": fields(), "publishConfig": config });
    let made = app.post(Who::Operator, "/api/views", new).await;
    let id = made["id"].as_str().unwrap().to_owned();
    app.post(Who::Operator, &format!("/api/views/{id}/publish"), json!({})).await;
    id
}

async fn answer(app: &App, view: &str, n: usize, answers: Value) {
    let body = json!({ "submissionId": format!("s{n}"), "answers": answers });
    app.post(Who::Member, &format!("/api/views/{view}/submit-interaction"), body).await;
}

#[tokio::test]
async fn responses_are_a_table_and_counts_of_the_answers() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let view = published(&app, "check", json!({ "responses": "many" })).await;
    let page = ada.page("/views/check/responses").await;
    assert!(page.contains("No one has answered this form yet.") && !page.contains("responses.csv"), "{page}");
    answer(&app, &view, 1, json!({ "name": "<script>alert(1)</script>", "team": "r", "mood": 2 })).await;
    answer(&app, &view, 2, json!({ "team": "r", "mood": 5 })).await;
    answer(&app, &view, 3, json!({ "team": "b" })).await;
    let page = ada.page("/views/check/responses").await;
    assert!(page.contains("3 responses submitted") && page.contains("Counted: 3 submitted responses."), "{page}");
    assert!(page.contains("3 answers to this question. Most frequent: Red (67%).") && page.contains("Mean: 3.50."));
    assert!(page.contains("var(--chart-accent)") && page.contains("Team?: chart."), "{page}");
    assert!(!page.contains("<script>alert") && !page.contains("<b>name</b>"), "{page}");
    assert!(page.contains("&lt;script>alert(1)&lt;/script>") || page.contains("&lt;script&gt;"), "{page}");
    assert!(page.contains(&format!("/api/views/{view}/responses.csv")), "{page}");
    let narrowed = ada.page("/views/check/responses?status=draft&version=&from=&to=").await;
    assert!(narrowed.contains("No response matches the filter.") && narrowed.contains("Clear"), "{narrowed}");
    let by_day = ada.page("/views/check/responses?from=2000-01-01&to=2000-01-02&version=1&status=odd").await;
    assert!(by_day.contains("No response matches the filter."), "{by_day}");
    assert_eq!(ada.ask(Method::GET, "/views/nothing/responses", &[]).await.status(), StatusCode::NOT_FOUND);
    let list = ada.page("/views").await;
    assert!(list.contains("href=\"/views/check/responses\"") && list.contains("3 responses"), "{list}");
}

#[tokio::test]
async fn a_link_is_made_shown_once_and_revoked_on_the_page_of_the_form() {
    let app = App::start();
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    published(&app, "open", json!({ "gate": "none", "embedOrigins": ["https://a.example"] })).await;
    let (path, note) = ("/views/open", ("note", "Newsletter <i>May</i>"));
    for (days, message) in [("0", "1 to 366"), ("soon", "a whole number")] {
        let refused = ada.ask(Method::POST, path, &[("do", "link"), ("days", days), note]).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let page = refused.text().await.unwrap();
        assert!(page.contains("id=\"link-days-error\"") && page.contains(message), "{page}");
        assert!(page.contains("There are no links yet."), "{page}");
    }
    let made = ada.ask_and_keep(Method::POST, path, &[("do", "link"), ("days", "7"), note]).await;
    let address = shown_at(&made, path, "");
    let shown = ada.ask_and_keep(Method::GET, &address, &[]).await;
    assert_eq!(shown.headers()["cache-control"], "no-store");
    let shown = shown.text().await.unwrap();
    let secret = shown.split("/f/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(shown.contains("autofocus") && shown.contains("not shown again"), "{shown}");
    assert!(shown.contains(&format!("/embed/{secret}")), "the snippet of a form that is embedded: {shown}");
    assert!(!shown.contains("<i>May</i>") && shown.contains("Newsletter"), "{shown}");
    let again = ada.page(&address).await;
    assert!(!again.contains(&secret) && again.contains("never"), "a reload neither shows nor makes one: {again}");
    let stranger = Browser::stranger(&app);
    assert_eq!(stranger.ask(Method::GET, &format!("/f/{secret}"), &[]).await.status(), StatusCode::SEE_OTHER);
    let used = ada.page(path).await;
    assert!(used.contains("1 time") && used.contains(", last "), "{used}");
    let id = used.split("name=\"link\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let revoked = ada.ask(Method::POST, path, &[("do", "revoke"), ("link", &id)]).await;
    assert_eq!(revoked.status(), StatusCode::SEE_OTHER);
    let page = ada.page(path).await;
    assert!(page.contains("revoked ") && !page.contains("value=\"revoke\""), "{page}");
    assert_eq!(stranger.ask(Method::GET, &format!("/f/{secret}"), &[]).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn members_read_responses_and_neither_see_nor_make_links() {
    let app = App::start();
    let view = published(&app, "check", json!({ "responses": "many" })).await;
    answer(&app, &view, 1, json!({ "team": "r" })).await;
    add_person(&app, "mia@acme.test");
    let mia = Browser::of(&app, "mia@acme.test").await;
    assert!(mia.page("/views/check/responses").await.contains("1 response submitted"));
    let page = mia.page("/views/check").await;
    assert!(!page.contains("id=\"links\""), "{page}");
    let refused = mia.ask(Method::POST, "/views/check", &[("do", "link"), ("days", "7")]).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_name_of_a_lead_is_for_those_who_decide() {
    let app = App::start();
    let view = published(&app, "leads", json!({ "gate": "lead" })).await;
    let made = app.post(Who::Operator, &format!("/api/views/{view}/links"), json!({ "note": "x" })).await;
    assert_eq!((&made["link"]["note"], &made["link"]["uses"]), (&json!("x"), &json!(0)));
    let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap();
    let mut zoe = Browser::stranger(&app);
    let entered = zoe.ask_and_keep(Method::GET, &format!("/f/{secret}"), &[]).await;
    let path = entered.headers()[LOCATION].to_str().unwrap().to_owned();
    let carried = |page: &str| -> Vec<(String, String)> {
        let fields =
            page.split("<input type=\"hidden\"").skip(1).map(|rest| rest.split('>').next().unwrap().to_owned());
        let of = |field: &str, name: &str| {
            field.split(&format!(" {name}=\"")).nth(1).unwrap_or_default().split('"').next().unwrap().to_owned()
        };
        fields.map(|field| (of(&field, "name"), of(&field, "value"))).collect()
    };
    let page = zoe.page(&path).await;
    let action = page.split("method=\"post\" action=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let kept = carried(&page);
    let mut form: Vec<(&str, &str)> = kept.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    form.extend([("name", "Zoe Doe"), ("email", "zoe@example.org")]);
    zoe.ask_and_keep(Method::POST, &action, &form).await;
    let page = zoe.page(&path).await;
    let kept = carried(&page);
    let mut form: Vec<(&str, &str)> = kept.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    form.push(("team", "r"));
    let sent = zoe.ask(Method::POST, &path, &form).await;
    assert!(sent.status().is_success() || sent.status().is_redirection(), "{}", sent.status());
    let read =
        async |who, path: String| app.request(who, Method::GET, &path).send().await.unwrap().text().await.unwrap();
    for (who, knows) in
        [(Who::Admin, true), (Who::Operator, true), (Who::Reviewer, true), (Who::Member, false), (Who::Worker, false)]
    {
        let list = read(who, format!("/api/views/{view}/responses")).await;
        let list: Value = serde_json::from_str(&list).unwrap();
        let response = &list["items"][0];
        assert_eq!(response["respondentKind"], json!("lead"));
        let lead = knows.then(|| json!({ "name": "Zoe Doe", "email": "zoe@example.org" }));
        assert_eq!(response.get("lead"), lead.as_ref(), "{who:?}");
        assert_eq!(response.get("leadEntityId").is_some(), knows, "{who:?}");
        let one = read(who, format!("/api/responses/{}", response["id"].as_str().unwrap())).await;
        let csv = read(who, format!("/api/views/{view}/responses.csv")).await;
        for text in [one, csv] {
            assert_eq!(text.contains("zoe@example.org") && text.contains("Zoe Doe"), knows, "{who:?}: {text}");
        }
    }
    add_person(&app, "mia@acme.test");
    let (ada, mia) = (Browser::of(&app, "ada@acme.test").await, Browser::of(&app, "mia@acme.test").await);
    assert!(ada.page("/views/leads/responses").await.contains("zoe@example.org"));
    let page = mia.page("/views/leads/responses").await;
    assert!(page.contains("Someone who gave a name") && !page.contains("zoe@example.org"), "{page}");
}

#[tokio::test]
async fn responses_to_too_many_questions_begin_with_the_newest_version() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let view = published(&app, "long", json!({ "responses": "many" })).await;
    for version in 1..22 {
        let fields: Vec<Value> = (0..50)
            .map(|n| json!({ "key": format!("q{version}_{n}"), "label": "Why?", "type": "short_text" }))
            .collect();
        let path = format!("/api/views/{view}");
        let now: Value = app.request(Who::Operator, Method::GET, &path).send().await.unwrap().json().await.unwrap();
        let change = json!({ "revision": now["revision"], "fields": fields });
        let changed = app.request(Who::Operator, Method::PATCH, &path).json(&change).send().await.unwrap();
        assert_eq!(changed.status(), StatusCode::OK);
        app.post(Who::Operator, &format!("/api/views/{view}/publish"), json!({})).await;
        answer(&app, &view, version, json!({ (format!("q{version}_0")): "because" })).await;
    }
    let sent_on = ada.ask(Method::GET, "/views/long/responses", &[]).await;
    assert_eq!(sent_on.headers()[LOCATION], "/views/long/responses?version=22&notice=newest_version_only");
    let page = ada.page("/views/long/responses?version=22&notice=newest_version_only").await;
    assert!(page.contains("because") && page.contains("38 questions not shown here"), "{page}");
    assert!(page.contains("Only the newest version of the form is shown."), "{page}");
    assert!(!ada.page("/views/long/responses?version=22").await.contains("Only the newest version"));
    // The rest of the filter is kept.
    let filter = "status=submitted&version=&from=2000-01-01&to=2100-12-31";
    let sent_on = ada.ask(Method::GET, &format!("/views/long/responses?{filter}"), &[]).await;
    let kept = "status=submitted&version=22&from=2000-01-01&to=2100-12-31&notice=newest_version_only";
    assert_eq!(sent_on.headers()[LOCATION], format!("/views/long/responses?{kept}"));
}

#[tokio::test]
async fn an_entity_is_made_from_a_response_on_the_page_of_its_session() {
    let app = App::start();
    add_person(&app, "mia@acme.test");
    let mia = Browser::of(&app, "mia@acme.test").await;
    let view = published(&app, "check", json!({ "responses": "many" })).await;
    let of = app.post(Who::Operator, "/api/entity-types", json!({ "name": "Company", "slug": "company" })).await;
    let task = json!({
        "name": "Take over", "outputType": "entity", "outputConfig": { "entityType": "company" },
        "metadata": { "requiresApproval": true }
    });
    let task = app.post(Who::Operator, "/api/actions", task).await;
    let submitted = async |n: usize, answers: Value| {
        let body = json!({ "submissionId": format!("s{n}"), "answers": answers });
        let sent = app.post(Who::Member, &format!("/api/views/{view}/submit-interaction"), body).await;
        sent["response"]["id"].as_str().unwrap().to_owned()
    };
    let promote = async |id: &str, to: &str, title: &str| {
        let (next, page) = (format!("/sessions/{id}?notice=response_promoted"), format!("/sessions/{id}"));
        let fields = [("session_id", id), ("to", to), ("title", title), ("next", &next), ("page", &page)];
        mia.ask(Method::POST, "/fn/session/promote", &fields).await
    };
    let by_type = format!("type:{}", of["id"].as_str().unwrap());
    let by_task = format!("task:{}", task["id"].as_str().unwrap());

    let id = submitted(1, json!({ "team": "r" })).await;
    let page = mia.page(&format!("/sessions/{id}")).await;
    let groups = ["Create an entity", "At once, as", "By a task, with its rules and approval"];
    for part in groups.into_iter().chain([by_type.as_str(), by_task.as_str()]) {
        assert!(page.contains(part), "{part}: {page}");
    }
    for (to, title, message) in [
        ("", "Acme Inc.", "choose an entity type or a task"),
        ("type:x", "Acme Inc.", "is not a UUID"),
        (by_type.as_str(), "", "give a title"),
    ] {
        let refused = promote(&id, to, title).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{to}");
        let page = refused.text().await.unwrap();
        assert!(page.contains(message) && page.contains("aria-invalid=\"true\""), "{message}: {page}");
        assert_eq!(page.contains("value=\"Acme Inc.\""), !title.is_empty(), "what was typed is kept: {page}");
    }
    let nothing = promote(&id, "type:00000000-0000-7000-8000-000000000000", "Acme").await;
    assert_eq!(nothing.status(), StatusCode::NOT_FOUND);
    assert!(nothing.text().await.unwrap().contains("entity type not found"));
    let made = promote(&id, &by_type, "Acme").await;
    let next = format!("/sessions/{id}?notice=response_promoted");
    assert_eq!((made.status(), made.headers()[LOCATION].to_str().unwrap()), (StatusCode::SEE_OTHER, next.as_str()));
    let page = mia.page(&next).await;
    assert!(page.contains("What the response became") && page.contains(">Acme</a>"), "{page}");
    assert!(!page.contains("Create an entity"), "{page}");

    let id = submitted(2, json!({ "name": "Beta" })).await;
    assert_eq!(promote(&id, &by_task, "").await.status(), StatusCode::SEE_OTHER);
    let page = mia.page(&format!("/sessions/{id}")).await;
    assert!(page.contains("href=\"/inbox/") && page.contains("Waiting for approval"), "{page}");
    assert!(!page.contains("Create an entity"), "{page}");
}
