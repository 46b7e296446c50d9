//! Forms: the member's page, links for people without an account, and frames. Pages are read as a browser without
//! scripts receives them.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
};
use reqwest::{Method, Response, StatusCode, header::LOCATION};
use serde_json::{Value, json};
use testkit::Raw;
use uuid::Uuid;

/// Largest page of a form before its style sheet and script, bytes. All together must be at most 60 KiB.
const PAGE_BYTES_MAX: usize = 24 * 1024;

pub fn questions() -> Value {
    json!([
        { "key": "name", "label": "Your name?", "type": "short_text", "required": true, "prefill": true },
        { "key": "mood", "label": "Mood?", "type": "scale", "minimum": 1, "maximum": 5, "required": false },
        { "key": "tags", "label": "Tags?", "type": "multiple_choice", "options": ["a", "b", "c"], "required": false },
    ])
}

/// Publishes a view of a workspace.
pub async fn publish(app: &App, tenant: &str, slug: &str, config: &Value, fields: &Value) -> Uuid {
    let mut raw = Raw::of_sqlite(&app.data_dir().join("shiftbook.sqlite3")).await;
    raw.publish_view(tenant, slug, &config.to_string(), &fields.to_string()).await
}

/// Publishes a form with a link. Returns the view, the secret of the link and its id.
pub async fn open_form(app: &App, config: Value) -> (Uuid, String, String) {
    let slug = format!("check-{}", fastrand::u32(..));
    let view = publish(app, "acme", &slug, &config, &questions()).await;
    let made = app.post(Who::Operator, &format!("/api/views/{view}/links"), json!({})).await;
    let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    (view, secret, made["link"]["id"].as_str().unwrap().to_owned())
}

pub fn leads(answer: &Response) -> String {
    answer.headers().get(LOCATION).map_or_else(String::new, |to| to.to_str().unwrap().to_owned())
}

/// Values of the fields that a page carries.
pub fn carried(page: &str) -> Vec<(String, String)> {
    let fields = page.split("<input type=\"hidden\"").skip(1).map(|rest| rest.split('>').next().unwrap());
    let attribute = |field: &str, name: &str| {
        let text = field.split(&format!(" {name}=\"")).nth(1).unwrap_or_default();
        text.split('"').next().unwrap().to_owned()
    };
    fields.map(|field| (attribute(field, "name"), attribute(field, "value"))).collect()
}

/// Opens a link as a new browser. Returns the browser and the path of the form.
pub async fn enter<'a>(app: &'a App, secret: &str) -> (Browser<'a>, String) {
    let mut browser = Browser::stranger(app);
    let entered = browser.ask_and_keep(Method::GET, &format!("/f/{secret}"), &[]).await;
    assert_eq!(entered.status(), StatusCode::SEE_OTHER);
    assert_eq!(entered.headers()["referrer-policy"], "no-referrer");
    let path = leads(&entered);
    (browser, path)
}

pub async fn send(browser: &Browser<'_>, path: &str, page: &str, answers: &[(&str, &str)]) -> Response {
    try_send(browser, path, page, answers).await.unwrap()
}

/// The same to a server that may be killed meanwhile.
pub async fn try_send(
    browser: &Browser<'_>,
    path: &str,
    page: &str,
    answers: &[(&str, &str)],
) -> reqwest::Result<Response> {
    let carried = carried(page);
    let mut form: Vec<(&str, &str)> = carried.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    form.extend(answers);
    browser.try_ask(Method::POST, path, &form).await
}

/// Asks the questions in a session, which then waits. Returns the secret of the link.
pub async fn open_request(app: &App, session: &str) -> String {
    let ask = json!({
        "attempt": 1, "message": "Where do we start?", "gate": "none", "idempotencyKey": "k", "fields": questions(),
    });
    let asked = app.post(Who::Worker, &format!("/api/sessions/{session}/feedback-requests"), ask).await;
    asked["url"].as_str().unwrap().strip_prefix("/f/").unwrap().to_owned()
}

pub async fn responses(app: &App, view: Uuid) -> Vec<Value> {
    let path = format!("/api/views/{view}/responses");
    let list: Value = app.request(Who::Operator, Method::GET, &path).send().await.unwrap().json().await.unwrap();
    list["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_answers_by_a_link_without_scripts() {
    let app = App::start();
    let (view, secret, _) = open_form(&app, json!({ "gate": "none", "thanks": "Many thanks" })).await;
    let (browser, path) = enter(&app, &secret).await;
    assert!(!path.contains(&secret), "the address of the form has no secret");
    let shown = browser.ask(Method::GET, &path, &[]).await;
    assert_eq!(shown.status(), StatusCode::OK);
    let page = shown.text().await.unwrap();
    assert!(page.contains("<title>Check &lt;b&gt;</title>") && !page.contains("Check <b>"), "{page}");
    assert!(page.len() < PAGE_BYTES_MAX && !page.contains("leptos-island") && !page.contains(".wasm"), "{page}");
    assert!(responses(&app, view).await.is_empty(), "opening a form makes no response");

    let refused = send(&browser, &path, &page, &[("mood", "9"), ("tags", "a"), ("tags", "c")]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let page = refused.text().await.unwrap();
    assert!(page.contains("<title>Error: Check"), "{page}");
    assert!(page.contains("href=\"#f-name\"") && page.contains("id=\"f-name\"") && page.contains("href=\"#f-mood\""));
    assert_eq!(page.matches(" checked").count(), 2, "what was typed stays: {page}");

    let saved = send(&browser, &format!("{path}/draft"), &page, &[("name", "Zo")]).await;
    assert_eq!(leads(&saved), format!("{path}?_saved"));
    let page = browser.page(&leads(&saved)).await;
    assert!(page.contains("Saved as a draft") && page.contains("value=\"Zo\""), "{page}");

    let sent = send(&browser, &path, &page, &[("name", "Zoe"), ("mood", "4"), ("tags", "b")]).await;
    assert_eq!((sent.status(), leads(&sent)), (StatusCode::SEE_OTHER, format!("{path}?_done")));
    let done = browser.page(&leads(&sent)).await;
    assert!(done.contains("Many thanks") && done.contains("Zoe"), "{done}");
    let again = send(&browser, &path, &page, &[("name", "Other")]).await;
    assert_eq!(again.status(), StatusCode::SEE_OTHER, "a repeat is answered with what is recorded");
    let recorded = responses(&app, view).await;
    assert_eq!(recorded.len(), 1);
    assert_eq!(recorded[0]["answers"], json!({ "name": "Zoe", "mood": 4, "tags": ["b"] }));
    assert_eq!((&recorded[0]["status"], &recorded[0]["respondentKind"]), (&json!("submitted"), &json!("browser")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_answers_an_agents_questions_by_the_link_of_the_request() {
    let app = App::start();
    let session = crate::feedback_request::running(&app).await;
    let secret = open_request(&app, &session).await;
    let (browser, path) = enter(&app, &secret).await;
    let page = browser.page(&path).await;
    assert!(page.contains("Where do we start?"), "{page}");
    let sent = send(&browser, &path, &page, &[("name", "Zoe"), ("mood", "4"), ("tags", "b")]).await;
    assert_eq!((sent.status(), leads(&sent)), (StatusCode::SEE_OTHER, format!("{path}?_done")));
    let claimed = crate::feedback_request::claim(&app).await;
    let resume = &claimed["resume"];
    assert_eq!(claimed["session"]["id"], session.as_str());
    assert_eq!(resume["answer"], json!({ "name": "Zoe", "mood": 4, "tags": ["b"] }), "{resume}");
    assert_eq!((&resume["outcome"], &resume["respondent"]["assurance"]), (&json!("answered"), &json!("unknown")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_answers_an_agents_question_too_late_reads_so() {
    let app = App::start();
    let session = crate::feedback_request::running(&app).await;
    let secret = open_request(&app, &session).await;
    let ((first, path), (second, other)) = (enter(&app, &secret).await, enter(&app, &secret).await);
    let (page, late_page) = (first.page(&path).await, second.page(&other).await);
    let sent = send(&first, &path, &page, &[("name", "Zoe")]).await;
    assert_eq!(leads(&sent), format!("{path}?_done"));
    assert!(!first.page(&leads(&sent)).await.contains("too late"));
    let late = send(&second, &other, &late_page, &[("name", "Yan")]).await;
    assert_eq!((late.status(), leads(&late)), (StatusCode::SEE_OTHER, format!("{other}?_done=late")));
    let done = second.page(&leads(&late)).await;
    assert!(done.contains("came too late") && done.contains("data-tone=\"wait\""), "{done}");
    assert_eq!(crate::feedback_request::claim(&app).await["resume"]["answer"], json!({ "name": "Zoe" }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_form_of_a_question_that_is_being_decided_comes_back_with_what_was_typed() {
    let app = App::start();
    let longest = json!({ "undoSeconds": 60 });
    let set = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&longest).send().await.unwrap();
    assert!(set.status().is_success());
    let session = crate::feedback_request::running(&app).await;
    let secret = open_request(&app, &session).await;
    let (browser, path) = enter(&app, &secret).await;
    let page = browser.page(&path).await;
    let asked = app.request(Who::Operator, Method::GET, &format!("/api/sessions/{session}/feedback-requests"));
    let asked: Value = asked.send().await.unwrap().json().await.unwrap();
    let item = format!("/api/approvals/{}", asked["items"][0]["gateId"].as_str().unwrap());
    let ada = Browser::of(&app, "ada@acme.test").await;
    let decision = json!({ "decision": "respond", "value": { "name": "Ada" } });
    let decided = ada.call(Method::POST, &format!("{item}/decision")).json(&decision).send().await.unwrap();
    assert_eq!(decided.status(), StatusCode::OK);
    let refused = send(&browser, &path, &page, &[("name", "Zoe"), ("mood", "4")]).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let page = refused.text().await.unwrap();
    assert!(page.contains("This question is being decided") && page.contains("value=\"Zoe\""), "{page}");
    let undone = ada.call(Method::POST, &format!("{item}/undo")).send().await.unwrap();
    assert_eq!(undone.status(), StatusCode::OK);
    let sent = send(&browser, &path, &page, &[("name", "Zoe"), ("mood", "4")]).await;
    assert_eq!((sent.status(), leads(&sent)), (StatusCode::SEE_OTHER, format!("{path}?_done")));
    let resume = crate::feedback_request::claim(&app).await["resume"].clone();
    assert_eq!(resume["answer"], json!({ "name": "Zoe", "mood": 4 }), "{resume}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_of_a_question_for_members_leads_to_the_question() {
    let app = App::start();
    let session = crate::feedback_request::running(&app).await;
    let ask = json!({
        "attempt": 1, "message": "Where do we start?", "blocking": false, "idempotencyKey": "k", "fields": questions(),
    });
    let asked = app.post(Who::Worker, &format!("/api/sessions/{session}/feedback-requests"), ask).await;
    let (request, view) = (asked["request"]["id"].as_str().unwrap(), asked["request"]["viewId"].as_str().unwrap());
    let made = app.post(Who::Operator, &format!("/api/views/{view}/links"), json!({ "requestId": request })).await;
    let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let path = leads(&ada.ask(Method::GET, &format!("/f/{secret}"), &[]).await);
    assert_eq!(path, format!("/questions/{request}"));
    let page = ada.page(&path).await;
    let sent = send(&ada, &path, &page, &[("name", "Ada")]).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    let answers = app.request(Who::Operator, Method::GET, &format!("/api/sessions/{session}/answers")).send();
    let answers: Value = answers.await.unwrap().json().await.unwrap();
    assert_eq!(answers["items"][0]["answers"]["name"], "Ada", "{answers}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_way_in_that_is_no_way_in_gets_the_same_page() {
    let app = App::start();
    let open = json!({ "gate": "none" });
    let (_, secret, id) = open_form(&app, open.clone()).await;
    let (_, _, other_id) = open_form(&app, open.clone()).await;
    let (_, over, _) = open_form(&app, json!({ "gate": "none", "closesAt": "2020-01-01T00:00:00Z" })).await;
    let (full_view, full, _) = open_form(&app, json!({ "gate": "none", "maxResponses": 1 })).await;
    let answer = json!({ "submissionId": "x", "answers": { "name": "Ada" } });
    app.post(Who::Member, &format!("/api/views/{full_view}/submit-interaction"), answer).await;
    let (_, revoked, revoked_id) = open_form(&app, open).await;
    let (stale, stale_path) = enter(&app, &revoked).await;
    let stale_page = stale.page(&stale_path).await;
    let answer = app.request(Who::Operator, Method::DELETE, &format!("/api/view-links/{revoked_id}"));
    assert_eq!(answer.send().await.unwrap().status(), StatusCode::NO_CONTENT);
    let (own, path) = enter(&app, &secret).await;

    let anybody = Browser::stranger(&app);
    let mut forged = Browser::stranger(&app);
    forged.jar = own.jar.iter().map(|(pair, of)| (pair.clone(), of.replace(&id, &other_id))).collect();
    let mut changed = Browser::stranger(&app);
    let other = |pair: &str| if pair.ends_with('0') { '1' } else { '0' };
    let change = |(pair, of): &(String, String)| (format!("{}{}", &pair[..pair.len() - 1], other(pair)), of.clone());
    changed.jar = own.jar.iter().map(change).collect();
    let mut guessed = secret.clone();
    guessed.replace_range(10..11, if &secret[10..11] == "a" { "b" } else { "a" });
    let (closed, closed_path) = enter(&app, &over).await;
    let (filled, filled_path) = enter(&app, &full).await;
    let unknown = "/forms/018f0000-0000-7000-8000-000000000000".to_owned();

    let mut seen = Vec::new();
    for (what, browser, at) in [
        ("a guess", &anybody, format!("/f/{guessed}")),
        ("nonsense", &anybody, "/f/x".to_owned()),
        ("a revoked link", &anybody, format!("/f/{revoked}")),
        ("a form without cookies", &anybody, path.clone()),
        ("another link's form", &forged, format!("/forms/{other_id}")),
        ("changed cookies", &changed, path.clone()),
        ("an unknown form", &own, unknown),
        ("no id", &own, "/forms/x".to_owned()),
        ("a clearance of a revoked link", &stale, stale_path.clone()),
        ("a form that is over", &closed, closed_path),
        ("a full form", &filled, filled_path),
        ("a frame that nobody may show", &anybody, format!("/embed/{secret}")),
    ] {
        let answer = browser.ask(Method::GET, &at, &[]).await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{what}");
        let page = answer.text().await.unwrap();
        let page = page.split("<body").nth(1).unwrap().to_owned();
        seen.push((what, page));
    }
    for (what, page) in &seen {
        assert_eq!(*page, seen[0].1, "{what}");
    }
    let late = send(&stale, &stale_path, &stale_page, &[("name", "Zoe")]).await;
    assert_eq!(late.status(), StatusCode::NOT_FOUND, "revoked at once");
    let page = own.page(&path).await;
    let without_key: Vec<_> = carried(&page).into_iter().filter(|(name, _)| name != "_key").collect();
    let form: Vec<_> = without_key.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let refused = own.ask(Method::POST, &path, &[&form[..], &[("name", "Zoe")]].concat()).await;
    assert_eq!(refused.status(), StatusCode::NOT_FOUND, "a form without its key");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_answer_of_a_form_is_confirmed_to_who_gave_it_and_to_no_one_else() {
    let app = App::start();
    let body = async |answer: Response| {
        assert_eq!(answer.status(), StatusCode::NOT_FOUND);
        answer.text().await.unwrap().split("<body").nth(1).unwrap().to_owned()
    };
    let nothing = body(Browser::stranger(&app).ask(Method::GET, "/f/x", &[]).await).await;
    for kind in ["one", "many"] {
        let config = json!({ "gate": "none", "responses": kind, "maxResponses": 1 });
        let (view, secret, _) = open_form(&app, config).await;
        let (browser, path) = enter(&app, &secret).await;
        let (other, _) = enter(&app, &secret).await;
        let (page, page_of_other) = (browser.page(&path).await, other.page(&path).await);
        // The first answer of the server may be lost, and the browser sends the form again.
        for what in ["first", "again"] {
            let sent = send(&browser, &path, &page, &[("name", "Zoe")]).await;
            let led = (sent.status(), leads(&sent));
            assert_eq!(led, (StatusCode::SEE_OTHER, format!("{path}?_done")), "{kind}, {what}");
        }
        let done = browser.page(&format!("{path}?_done")).await;
        assert!(done.contains("Your answers are recorded.") && !done.contains("Answer again"), "{kind}: {done}");
        for at in [path.clone(), format!("{path}?_done")] {
            assert_eq!(body(other.ask(Method::GET, &at, &[]).await).await, nothing, "{kind}");
        }
        assert_eq!(body(send(&other, &path, &page_of_other, &[("name", "Eve")]).await).await, nothing, "{kind}");
        assert_eq!(responses(&app, view).await.len(), 1, "{kind}");
    }
}

/// Answers a form with this page afterwards. Returns the browser, the path of the form, where the answer leads, and the
/// secret of the link.
async fn answered<'a>(app: &'a App, redirect_url: &str) -> (Browser<'a>, String, String, String) {
    let config = json!({ "gate": "none", "redirectUrl": redirect_url, "embedOrigins": ["https://a.example"] });
    let (_, secret, _) = open_form(app, config).await;
    let (browser, path) = enter(app, &secret).await;
    let page = browser.page(&path).await;
    let sent = send(&browser, &path, &page, &[("name", "Zoe")]).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER, "{redirect_url}");
    (browser, path, leads(&sent), secret)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_an_answer_a_form_leads_only_to_pages_that_the_operator_allows() {
    let app = App::start_with("[forms]\nredirect_hosts = [\"www.example.org\"]\n", &[], &[]);
    let refresh = "<meta http-equiv=\"refresh\" content=\"0;url=https://www.example.org/next?a=1&amp;b=2\">";
    let (browser, path, led, secret) = answered(&app, "https://www.example.org/next?a=1&b=2").await;
    assert_eq!(led, format!("{path}?_done"), "a redirect to another host would stop at `form-action`");
    let done = browser.page(&led).await;
    assert!(done.contains(refresh) && done.contains(">Continue to www.example.org</a>"), "{done}");
    assert!(done.contains("Your answers are recorded."), "{done}");
    let later = browser.page(&path).await;
    assert!(!later.contains("http-equiv=\"refresh\"") && later.contains(">Continue to www.example.org</a>"), "{later}");
    let (anybody, embedded) = (Browser::stranger(&app), format!("/embed/{secret}"));
    let page = anybody.page(&embedded).await;
    let sent = send(&anybody, &embedded, &page, &[("name", "Zoe")]).await.text().await.unwrap();
    assert!(sent.contains(refresh) && sent.contains("Your answers are recorded."), "{sent}");

    // The form was published before the operator removed the host.
    let (browser, _, led, _) = answered(&app, "https://old.example/next").await;
    let done = browser.page(&led).await;
    assert!(done.contains("Your answers are recorded.") && !done.contains("old.example"), "{done}");
    let (_, _, led, _) = answered(&app, "/today").await;
    assert_eq!(led, "/today");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lead_says_who_they_are_first() {
    let app = App::start();
    let (view, secret, _) = open_form(&app, json!({ "gate": "lead" })).await;
    let (mut browser, path) = enter(&app, &secret).await;
    let page = browser.page(&path).await;
    assert!(page.contains("name=\"email\"") && !page.contains("Your name?"), "{page}");
    let early = send(&browser, &path, &page, &[("name", "Zoe")]).await;
    assert_eq!(early.status(), StatusCode::NOT_FOUND, "the gate is in the write, not in the page");
    let wrong = send(&browser, &format!("{path}/lead"), &page, &[("name", "Zoe"), ("email", "zoe")]).await;
    assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let text = wrong.text().await.unwrap();
    assert!(text.contains("<title>Error:") && text.contains("href=\"#f-email\"") && text.contains("value=\"zoe\""));
    let carried = carried(&page);
    let mut form: Vec<_> = carried.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    form.extend([("name", "Zoe"), ("email", "zoe@example.org")]);
    for press in ["first", "doubled"] {
        let passed = browser.post(&format!("{path}/lead"), &form).await;
        assert_eq!(leads(&passed), path, "{press}");
    }
    let entities = app.request(Who::Member, Method::GET, "/api/entities").send().await.unwrap();
    assert_eq!(entities.json::<Value>().await.unwrap()["items"].as_array().unwrap().len(), 1);
    let page = browser.page(&path).await;
    let sent = send(&browser, &path, &page, &[("name", "Zoe")]).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    let recorded = responses(&app, view).await;
    let lead = recorded[0]["leadEntityId"].as_str().unwrap();
    let lead = app.request(Who::Member, Method::GET, &format!("/api/entities/{lead}"));
    let lead: Value = lead.send().await.unwrap().json().await.unwrap();
    assert_eq!((&lead["title"], &lead["fields"]["email"]), (&json!("Zoe"), &json!("zoe@example.org")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_is_for_its_origins_alone_and_answers_without_cookies() {
    let app = App::start();
    let origins = ["https://a.example", "https://b.example:8443"];
    let config = json!({ "gate": "none", "maxResponses": 1, "embedOrigins": origins });
    let (view, secret, _) = open_form(&app, config).await;
    let anybody = Browser::stranger(&app);
    let path = format!("/embed/{secret}");
    let shown = anybody.ask(Method::GET, &path, &[]).await;
    assert_eq!(shown.status(), StatusCode::OK);
    let policy = shown.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.ends_with("frame-ancestors https://a.example https://b.example:8443"), "{policy}");
    assert!(shown.headers().get("set-cookie").is_none());
    let page = shown.text().await.unwrap();
    assert!(page.contains("data-embedded-in=\"https://a.example https://b.example:8443\""), "{page}");
    let refused = send(&anybody, &path, &page, &[]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let policy = refused.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("frame-ancestors https://a.example"), "{policy}");
    for what in ["first", "sent again"] {
        let sent = send(&anybody, &path, &page, &[("name", "Zoe")]).await;
        assert_eq!(sent.status(), StatusCode::OK, "{what}");
        assert!(sent.text().await.unwrap().contains("Zoe"), "{what}");
    }
    assert_eq!(responses(&app, view).await.len(), 1);
    let elsewhere = anybody.ask(Method::GET, "/sign-in", &[]).await;
    let policy = elsewhere.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_of_a_form_that_asks_who_answers_links_to_a_tab() {
    let app = App::start();
    let anybody = Browser::stranger(&app);
    for (gate, why) in [("lead", "your name and e-mail address"), ("member", "people who sign in")] {
        let config = json!({ "gate": gate, "embedOrigins": ["https://a.example"] });
        let (view, secret, _) = open_form(&app, config).await;
        let shown = anybody.ask(Method::GET, &format!("/embed/{secret}?name=Zoe"), &[]).await;
        assert_eq!(shown.status(), StatusCode::OK, "{gate}");
        let policy = shown.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.ends_with("frame-ancestors https://a.example"), "{gate}: {policy}");
        assert!(shown.headers().get("set-cookie").is_none(), "{gate}");
        let page = shown.text().await.unwrap();
        let link = format!("href=\"/f/{secret}?name=Zoe\" target=\"_blank\" rel=\"noopener\"");
        assert!(page.contains(&link) && page.contains(why), "{gate}: {page}");
        assert!(!page.contains("Check") && !page.contains("Your name?"), "{gate} tells of the form: {page}");
        let led = leads(&anybody.ask(Method::GET, &format!("/f/{secret}?name=Zoe"), &[]).await);
        assert!(led.ends_with("?name=Zoe"), "{gate}: {led}");
        let form = [("_link", ""), ("_key", ""), ("_browser", ""), ("_clearance", ""), ("name", "Zoe")];
        let posted = anybody.ask(Method::POST, &format!("/embed/{secret}"), &form).await;
        assert_eq!(posted.status(), StatusCode::NOT_FOUND, "{gate}");
        assert!(responses(&app, view).await.is_empty(), "{gate}");
        // A form that no page may embed tells nothing.
        let (_, secret, _) = open_form(&app, json!({ "gate": gate })).await;
        let closed = anybody.ask(Method::GET, &format!("/embed/{secret}"), &[]).await;
        assert_eq!(closed.status(), StatusCode::NOT_FOUND, "{gate}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_answers_and_keeps_everything_through_a_lost_sign_in() {
    let app = App::start();
    let view = publish(&app, "acme", "own-check", &json!({}), &questions()).await;
    let ada = Browser::of(&app, "ada@acme.test").await;
    let path = "/views/own-check/answer";
    let page = ada.page(&format!("{path}?name=Ada&mood=4&other=x")).await;
    assert!(page.contains("value=\"Ada\"") && !page.contains(" checked"), "only what a field permits: {page}");
    let gone = Browser::stranger(&app);
    let kept = send(&gone, path, &page, &[("name", "Ada <3"), ("tags", "a"), ("tags", "b")]).await;
    assert_eq!(kept.status(), StatusCode::UNAUTHORIZED);
    let kept = kept.text().await.unwrap();
    assert!(kept.contains("value=\"Ada &lt;3\""), "{kept}");
    let carried: Vec<_> = carried(&kept).into_iter().filter(|(name, _)| name == "tags").collect();
    assert_eq!(carried.len(), 2, "every choice is kept");
    let sent = send(&ada, path, &kept.replace("&lt;", "<"), &[]).await;
    assert_eq!(leads(&sent), format!("{path}?_done"));
    let recorded = responses(&app, view).await;
    assert_eq!(recorded[0]["answers"], json!({ "name": "Ada <3", "tags": ["a", "b"] }));
    assert_eq!(recorded[0]["respondentKind"], "user");
    let id = recorded[0]["id"].as_str().unwrap();
    let one = app.request(Who::Member, Method::GET, &format!("/api/responses/{id}")).send().await.unwrap();
    assert_eq!(one.json::<Value>().await.unwrap()["id"], id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_tabs_are_told_of_each_other() {
    let app = App::start();
    let (_, secret, _) = open_form(&app, json!({ "gate": "none" })).await;
    let (browser, path) = enter(&app, &secret).await;
    let (one, two) = (browser.page(&path).await, browser.page(&path).await);
    let draft = format!("{path}/draft");
    assert_eq!(send(&browser, &draft, &one, &[("name", "One")]).await.status(), StatusCode::SEE_OTHER);
    let warned = send(&browser, &draft, &two, &[("name", "Two")]).await;
    assert_eq!(warned.status(), StatusCode::CONFLICT);
    let warned = warned.text().await.unwrap();
    assert!(warned.contains("another tab") && warned.contains("value=\"Two\"") && warned.contains("<title>Error:"));
    let decided = send(&browser, &draft, &warned, &[("name", "Two")]).await;
    assert_eq!(decided.status(), StatusCode::SEE_OTHER, "the second time it is meant");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_saves_drafts_and_learns_which_questions_apply() {
    let app = App::start();
    let mut fields = questions();
    fields[2]["showIf"] = json!({ "field": "mood", "equals": 1 });
    let view = publish(&app, "acme", "script", &json!({ "gate": "none" }), &fields).await;
    let made = app.post(Who::Operator, &format!("/api/views/{view}/links"), json!({ "days": 1 })).await;
    let secret = made["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let (browser, path) = enter(&app, &secret).await;
    let page = browser.page(&path).await;
    let save = async |rev: &str, mood: &str| {
        let mut form = carried(&page);
        form.retain(|(name, _)| name != "_rev");
        form.extend([("_rev".to_owned(), rev.to_owned()), ("mood".to_owned(), mood.to_owned())]);
        browser.call(Method::POST, &format!("{path}/draft")).form(&form).send().await.unwrap()
    };
    let first: Value = save("0", "2").await.json().await.unwrap();
    assert_eq!(first, json!({ "rev": 1, "off": ["tags"] }));
    let second: Value = save("1", "1").await.json().await.unwrap();
    assert_eq!(second, json!({ "rev": 2, "off": [] }));
    let (status, stale) = problem(save("1", "5").await).await;
    assert_eq!((status, stale["code"].as_str()), (409, Some("stale_version")));
}
