//! Deciding in the inbox: what scripts hear, and what forms without scripts lead to.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

/// Names and values of a form's fields.
type Fields<'a> = &'a [(&'a str, &'a str)];

/// Creates sessions whose agent asks a question of its own each. Returns the ids of the inbox items.
async fn ask_questions(app: &App, questions: usize) -> Vec<String> {
    let questions: Vec<_> = (0..questions).map(|number| json!({ "message": format!("Which {number}?") })).collect();
    ask(app, &questions).await
}

/// Creates sessions whose agent asks these questions. Returns the ids of the inbox items.
pub async fn ask(app: &App, questions: &[Value]) -> Vec<String> {
    let action = json!({ "name": "Ask", "slug": "ask", "agentSlug": "scout" });
    let action = app.post(Who::Operator, "/api/actions", action).await;
    let trigger = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    for question in questions {
        let session = app.post(Who::Member, &trigger, json!({})).await["id"].as_str().unwrap().to_owned();
        app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
        let asks = json!({ "attempt": 1, "status": "waiting_human", "question": question });
        app.post(Who::Worker, &format!("/api/sessions/{session}/yield"), asks).await;
    }
    let open: Value =
        app.request(Who::Admin, Method::GET, "/api/approvals").send().await.unwrap().json().await.unwrap();
    open["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

pub async fn html(request: RequestBuilder) -> String {
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    response.text().await.unwrap()
}

/// A tool call with these arguments that waits for this many approvals; the id of the inbox item.
async fn called(app: &App, quorum: u32, input: Value) -> String {
    let metadata = json!({ "approval": { "quorum": quorum } });
    let action = json!({ "name": "Call", "slug": "call", "agentSlug": "caller", "metadata": metadata });
    let action = app.post(Who::Operator, "/api/actions", action).await;
    let trigger = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    let session = app.post(Who::Member, &trigger, json!({})).await["id"].as_str().unwrap().to_owned();
    app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["caller"] })).await;
    let call = json!({ "toolCallId": "c1", "toolName": "send", "toolInput": input });
    let waits = json!({ "attempt": 1, "status": "awaiting_tool", "pausedToolCall": call });
    app.post(Who::Worker, &format!("/api/sessions/{session}/yield"), waits).await;
    let open: Value =
        app.request(Who::Admin, Method::GET, "/api/approvals").send().await.unwrap().json().await.unwrap();
    open["items"][0]["id"].as_str().unwrap().to_owned()
}

/// A person who may decide everything, in a browser.
pub async fn reviewer(app: &App) -> Browser<'_> {
    Browser::of(app, "ada@acme.test").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_hears_what_it_can_undo_after_a_decision() {
    let app = App::start();
    let items = ask_questions(&app, 2).await;
    let ada = reviewer(&app).await;
    let call = async |name: &str, fields: &[(&str, &str)]| {
        ada.call(Method::POST, &format!("/fn/inbox/{name}")).form(fields).send().await.unwrap()
    };
    let answer = [("id", items[0].as_str()), ("decision", "respond"), ("answer", "The first.")];
    let offer: Value = call("decide", &answer).await.json().await.unwrap();
    assert_eq!((&offer["items"], &offer["title"]), (&json!([items[0]]), &json!("Answered: Which 0?")), "{offer}");
    assert!(offer["seconds_left"].as_u64().is_some_and(|left| left > 0), "{offer}");

    let undone: Value = call("undo", &[(&item(&items[0]), "")]).await.json().await.unwrap();
    assert_eq!(undone, Value::Null);
    let list = ada.page("/inbox/list").await;
    assert!(items.iter().all(|id| list.contains(&format!("data-id=\"{id}\""))), "{list}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_of_a_batch_are_decided_each_on_its_own_and_a_refusal_names_the_others() {
    let app = App::start();
    let items = ask_questions(&app, 2).await;
    let mut ada = reviewer(&app).await;
    let (good, bad) = (item(&items[0]), item(&items[1]));
    let digest = digest(&ada, &items[0]).await;
    let fields = [("decision", "deny"), ("note", "Not now."), (good.as_str(), digest.as_str()), (&bad, "another")];
    let page = "/inbox?state=open";
    let form = [&fields[..], &[("next", "/inbox?notice=decided"), ("page", page)]].concat();
    let refused = ada.post("/fn/inbox/decide-many", &form).await;
    let status = refused.status();
    let html = refused.text().await.unwrap();
    assert!(status.is_client_error(), "{status}: {html}");
    // The list with the reason, the typed text and what was selected.
    assert!(html.contains("<title>") && html.contains("field-error") && html.contains("Not now."), "{html}");
    assert!(html.contains(&format!("data-id=\"{}\"", items[1])) && !html.contains("Decision recorded."), "{html}");
    assert!(!html.contains(&format!("data-id=\"{}\"", items[0])) && html.contains("Denied: Which 0?"), "{html}");
    // In the list, and in the selection beside it.
    assert_eq!(html.matches(" checked").count(), 2, "{html}");
    assert!(html.contains("id=\"selection\"") && html.contains("Refuse to answer 1"), "{html}");

    let (status, problem) =
        problem(ada.call(Method::POST, "/fn/inbox/decide-many").form(&fields).send().await.unwrap()).await;
    assert!((400..500).contains(&status), "{problem}");
    let named: Vec<_> = problem["errors"].as_array().unwrap().iter().map(|error| error["field"].clone()).collect();
    assert_eq!(named, [json!(bad)], "the item that is denied already stays denied");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_selection_is_shown_before_it_is_decided_and_no_question_is_approved_with_others() {
    let app = App::start();
    let items = ask_questions(&app, 2).await;
    let ada = reviewer(&app).await;
    let names: Vec<String> = items.iter().map(|id| item(id)).collect();
    let fields = [(names[0].as_str(), ""), (names[1].as_str(), ""), ("items[no id]", "")];
    let select = || ada.call(Method::POST, "/inbox/selection?state=open").form(&fields);
    let page = html(select()).await;
    assert!(page.contains("<title>") && page.contains("id=\"selection\"") && page.contains("data-opened"), "{page}");
    assert_eq!(page.matches(" checked").count(), 4, "in the list, and in the selection: {page}");
    let part = html(select().header("x-fragment", "1")).await;
    assert!(!part.contains("<title>") && part.contains("2 items") && part.contains("Refuse to answer 2"), "{part}");
    assert!(!part.contains("value=\"approve\""), "{part}");
    assert!(part.contains("1 of the selected items cannot be decided here any more."), "{part}");

    let digest = digest(&ada, &items[0]).await;
    let approve = [("decision", "approve"), (names[0].as_str(), digest.as_str())];
    let (status, refused) =
        problem(ada.call(Method::POST, "/fn/inbox/decide-many").form(&approve).send().await.unwrap()).await;
    let why = "Questions need an answer. Select only approvals, or use Answer.";
    assert_eq!((status, &refused["errors"][0]["message"]), (422, &json!(why)), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_leads_to_the_next_item_and_a_refused_one_back_with_what_was_typed() {
    let app = App::start();
    let items = ask_questions(&app, 2).await;
    let mut ada = reviewer(&app).await;
    let (next, page) = (format!("/inbox/{}?notice=decided", items[1]), format!("/inbox/{}", items[0]));
    let pages = [("next", next.as_str()), ("page", page.as_str())];
    let shown = ada.page(&page).await;
    assert!(shown.contains(&format!("name=\"next\" value=\"{next}\"")), "{shown}");

    let stale = "0".repeat(64);
    let fields = [("id", items[0].as_str()), ("digest", &stale), ("decision", "respond"), ("answer", "Typed.")];
    let refused = ada.post("/fn/inbox/decide", &[&fields[..], &pages].concat()).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let html = refused.text().await.unwrap();
    assert!(html.contains("\nTyped.</textarea>") && html.contains("role=\"alert\""), "{html}");
    let fields = [("id", items[0].as_str()), ("decision", "respond"), ("answer", " ")];
    let refused = ada.post("/fn/inbox/decide", &[&fields[..], &pages].concat()).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text().await.unwrap().contains("id=\"gate-answer-error\""));
    let first = item(&items[0]);
    for (until, at, why) in [
        ("soon", "2026-12-24T09:00", "later, tomorrow, monday or at"),
        ("at", "2026-02-30T09:00", "enter a date and a time"),
        ("at", "2020-01-31T09:00", "in the future, and within 90 days"),
    ] {
        let snoozed = [(&*first, ""), ("until", until), ("at", at), ("timezone", "Europe/Berlin")];
        let refused = ada.post("/fn/inbox/snooze", &[&snoozed[..], &pages].concat()).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{at}");
        let html = refused.text().await.unwrap();
        assert!(html.contains(why), "{why}: {html}");
        // What was typed is still there.
        let kept = format!("name=\"at\" type=\"datetime-local\" value=\"{at}\"");
        assert!(html.contains(&kept), "{kept}: {html}");
    }

    let fields = [("id", items[0].as_str()), ("decision", "respond"), ("answer", "Typed.")];
    let decided = ada.post("/fn/inbox/decide", &[&fields[..], &pages].concat()).await;
    assert_eq!((decided.status(), decided.headers()["location"].to_str().unwrap()), (StatusCode::SEE_OTHER, &*next));
    // A button of the batch names its own next page.
    let snooze = "/fn/inbox/snooze?next=%2Finbox%3Fnotice%3Dsnoozed";
    let fields = [("until", "later"), (&*item(&items[1]), ""), ("next", "/inbox?notice=decided")];
    let snoozed = ada.post(snooze, &fields).await;
    assert_eq!(snoozed.headers()["location"], "/inbox?notice=snoozed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_names_the_control_of_any_key() {
    let app = App::start();
    let approval = called(&app, 1, json!({ "a[b]": 1, "to%5B": "x", "plain": 2 })).await;
    let ada = reviewer(&app).await;
    let page = ada.page(&format!("/inbox/{approval}")).await;
    let names = ["value.a%5Bb%5D", "value.to%255B", "value.plain"];
    assert!(names.iter().all(|name| page.contains(&format!("name=\"{name}\""))), "{page}");
    let call = async |fields: &[(&str, &str)]| {
        let fields = [&[("id", approval.as_str()), ("decision", "approve")][..], fields].concat();
        ada.call(Method::POST, "/fn/inbox/decide").form(&fields).send().await.unwrap()
    };
    let (status, refused) = problem(call(&[(names[0], "many"), (names[1], "y"), (names[2], "")]).await).await;
    assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!(names[0])), "{refused}");
    let decided = call(&[(names[0], "5"), (names[1], "y"), (names[2], "2"), ("next", "/inbox")]).await;
    assert_eq!(decided.status(), StatusCode::OK);
    let path = format!("{}/api/approvals/{approval}", app.url);
    let item: Value =
        app.http.get(path).header("cookie", app.cookie().await).send().await.unwrap().json().await.unwrap();
    assert_eq!(item["approval"]["decision"]["value"], json!({ "a[b]": 5, "to%5B": "y" }), "{item}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_of_an_outdated_proposal_comes_back_with_what_both_reviewers_changed() {
    let app = App::start();
    app.user("mia@acme.test", "reviewer");
    let approval = called(&app, 2, json!({ "amount": 2, "note": "a", "to": "x" })).await;
    let (mut ada, mut mia) = (reviewer(&app).await, Browser::of(&app, "mia@acme.test").await);
    let path = format!("/inbox/{approval}");
    let shown = digest(&ada, &approval).await;
    let form = |digest: &str, [amount, note, to]: [&str; 3]| {
        let own = [("id", approval.as_str()), ("decision", "approve"), ("next", "/inbox"), ("page", &path)];
        let values = [("digest", digest), ("value.amount", amount), ("value.note", note), ("value.to", to)];
        let fields = own.into_iter().chain(values);
        fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<Vec<_>>()
    };
    let post = async |browser: &mut Browser<'_>, fields: Vec<(String, String)>| {
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        browser.post("/fn/inbox/decide", &fields).await
    };
    let edited = post(&mut mia, form(&shown, ["2", "b", "y"])).await;
    assert_eq!(edited.status(), StatusCode::SEE_OTHER);

    let refused = post(&mut ada, form(&shown, ["3", "c", "x"])).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
    let html = refused.text().await.unwrap();
    for (name, value) in [("amount", "3"), ("note", "c"), ("to", "y")] {
        let control = format!("name=\"value.{name}\" type=\"text\" value=\"{value}\"");
        assert!(html.contains(&control), "{control}: {html}");
    }
    assert!(html.contains("the proposal has changed in the meantime"), "{html}");
    assert!(html.contains("id=\"gate-value.note-error\"") && html.contains("changed to “b”"), "{html}");
    assert!(!html.contains("id=\"gate-value.amount-error\""), "{html}");

    let now = digest(&ada, &approval).await;
    let second = post(&mut ada, form(&now, ["3", "c", "y"])).await;
    assert_eq!(second.status(), StatusCode::SEE_OTHER);
    let item: Value =
        ada.call(Method::GET, &format!("/api/approvals/{approval}")).send().await.unwrap().json().await.unwrap();
    assert_eq!(item["approval"]["proposed"], json!({ "amount": 3, "note": "c", "to": "y" }), "{item}");
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
    let mut ada = reviewer(&app).await;
    let deny = [("decision", "deny"), ("note", "No")];
    let forms: [(&str, Fields); 4] = [
        ("decide-many", &[("decision", "approve")]),
        ("decide-many", &deny),
        ("snooze", &[("until", "later")]),
        ("undo", &[]),
    ];
    for (name, fields) in forms {
        let path = format!("/fn/inbox/{name}");
        let form = [fields, &[("next", "/inbox?notice=decided"), ("page", "/inbox")]].concat();
        let response = ada.post(&path, &form).await;
        assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY, "{name}");
        let html = response.text().await.unwrap();
        assert!(html.contains("No item was selected") && !html.contains("Decision recorded."), "{name}: {html}");
        assert!(items.iter().all(|id| html.contains(&format!("data-id=\"{id}\""))), "{name}: {html}");
        let (status, _) = problem(ada.call(Method::POST, &path).form(fields).send().await.unwrap()).await;
        assert_eq!(status, 422, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_with_arguments_that_mean_nothing_is_refused() {
    let app = App::start();
    let items = ask_questions(&app, 1).await;
    let ada = reviewer(&app).await;
    let many: Vec<_> = (0..201).map(|n| (format!("items[01890a5d-ac96-774b-bcce-{n:012x}]"), String::new())).collect();
    let many: Vec<_> = many.iter().map(|(name, digest)| (name.as_str(), digest.as_str())).collect();
    let cases: [(&str, Fields, u16); 7] = [
        ("decide", &[("id", "x"), ("decision", "approve")], 422),
        ("decide", &[("id", &items[0]), ("decision", "later")], 422),
        ("decide", &[("id", &items[0])], 422),
        ("decide", &[("id", "01890a5d-ac96-774b-bcce-000000000000"), ("decision", "deny")], 404),
        ("decide-many", &[("decision", "respond"), (&*item(&items[0]), "")], 422),
        ("undo", &[("items[x]", "")], 422),
        ("undo", &many, 413),
    ];
    for (name, fields, expected) in cases {
        let sent = ada.call(Method::POST, &format!("/fn/inbox/{name}")).form(fields).send().await.unwrap();
        assert_eq!(problem(sent).await.0, expected, "{name} {fields:?}");
    }
}

/// The fields that a page carries, as a browser sends them: with CR LF as line ends.
fn as_sent(page: &str) -> Vec<(String, String)> {
    let carried = crate::form::carried(page).into_iter();
    carried.map(|(name, value)| (name, value.replace('\n', "\r\n"))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_sent_after_signing_out_is_kept_with_every_chosen_option() {
    let app = App::start();
    let (session, id) = ask_and_go_on(&app).await;
    let (path, next) = (format!("/inbox/{id}"), "/inbox?notice=decided");
    let typed = [
        ("id", id.as_str()),
        ("decision", "respond"),
        ("answer.where", "EU"),
        ("answer.seats", "2"),
        ("answer.zones", "A"),
        ("answer.zones", "C"),
        ("next", next),
        ("page", path.as_str()),
    ];
    let mut browser = Browser::stranger(&app);
    let kept = browser.post("/fn/inbox/decide", &typed).await;
    assert_eq!(kept.status(), StatusCode::UNAUTHORIZED);
    let page = kept.text().await.unwrap();
    assert!(page.contains("It is kept") && page.contains("<dt>zones</dt>"), "{page}");
    let carried = as_sent(&page);
    let mut fields: Vec<_> = carried.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    fields.extend([("email", "ada@acme.test"), ("password", crate::app::PASSWORD)]);
    let signed_in = browser.post("/sign-in", &fields).await;
    assert_eq!(signed_in.status(), StatusCode::OK);
    let page = signed_in.text().await.unwrap();
    assert!(page.contains("<dt>where</dt>") && page.contains("action=\"/fn/inbox/decide\""), "{page}");
    let carried = as_sent(&page);
    let fields: Vec<_> = carried.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let sent = browser.post("/fn/inbox/decide", &fields).await;
    assert_eq!((sent.status(), sent.headers()["location"].to_str().unwrap()), (StatusCode::SEE_OTHER, next));
    let answers = app.request(Who::Operator, Method::GET, &format!("/api/sessions/{session}/answers")).send();
    let answers: Value = answers.await.unwrap().json().await.unwrap();
    assert_eq!(answers["items"][0]["answers"], json!({ "where": "EU", "seats": 2, "zones": ["A", "C"] }));
}

/// The counts that the badge shows.
async fn waiting(app: &App) -> Value {
    let request = app.http.get(format!("{}/api/approvals/count", app.url)).header("cookie", app.cookie().await);
    request.send().await.unwrap().json().await.unwrap()
}

/// A running session whose agent asks without waiting. Returns the ids of the session and of the request.
async fn ask_and_go_on(app: &App) -> (String, String) {
    let action = json!({ "name": "Ask", "slug": "ask", "agentSlug": "scout" });
    let action = app.post(Who::Operator, "/api/actions", action).await;
    let trigger = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    let session = app.post(Who::Member, &trigger, json!({})).await["id"].as_str().unwrap().to_owned();
    app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
    let fields = json!([
        { "key": "where", "label": "Which <region>?", "type": "single_choice", "options": ["EU", "US"], "required": true },
        { "key": "seats", "label": "How many seats?", "type": "integer", "minimum": 1 },
        { "key": "zones", "label": "Which zones?", "type": "multiple_choice", "options": ["A", "B", "C"],
          "showIf": { "field": "where", "equals": "EU" } },
    ]);
    let asks = json!({ "attempt": 1, "message": "Where <b>first</b>?", "blocking": false, "idempotencyKey": "k", "fields": fields });
    let asked = app.post(Who::Worker, &format!("/api/sessions/{session}/feedback-requests"), asks).await;
    (session, asked["request"]["id"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_of_an_agent_that_goes_on_is_counted_and_answered_in_the_inbox() {
    let app = App::start();
    let (session, id) = ask_and_go_on(&app).await;
    let mut ada = reviewer(&app).await;
    assert_eq!(waiting(&app).await, json!({ "open": 1, "questions": 1 }));
    let path = format!("/inbox/{id}");
    for address in ["/inbox", &path] {
        let page = ada.page(address).await;
        assert!(page.contains("<title>(1) ") && page.contains(&format!("data-id=\"{id}\"")), "{page}");
        assert!(page.contains("name=\"answer.where\"") && page.contains("&lt;b&gt;first"), "{page}");
        assert!(!page.contains("<b>first") && !page.contains("Which <region>"), "{page}");
    }
    assert!(ada.page("/today").await.contains(&format!("href=\"{path}\"")));

    let call = async |fields: &[(&str, &str)]| {
        let fields = [&[("id", id.as_str())][..], fields].concat();
        ada.call(Method::POST, "/fn/inbox/decide").form(&fields).send().await.unwrap()
    };
    for (fields, at) in [
        (&[("decision", "respond"), ("answer.where", "EU"), ("answer.seats", "0")][..], "answer.seats"),
        (&[("decision", "respond"), ("answer.where", "EU"), ("answer.seats", "many")], "answer.seats"),
        (&[("decision", "respond"), ("answer.where", ""), ("answer.seats", "2")], "answer.where"),
        (&[("decision", "approve")], "decision"),
    ] {
        let (status, refused) = problem(call(fields).await).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!(at)), "{refused}");
    }
    assert_eq!(waiting(&app).await["questions"], 1, "a refused answer answers nothing");

    let pages = [("next", "/inbox?notice=decided"), ("page", path.as_str())];
    let zones = [("answer.zones", "A"), ("answer.zones", "C")];
    let typed = [("id", id.as_str()), ("decision", "respond"), ("answer.where", "EU"), ("answer.seats", "0")];
    let typed = [&typed[..], &zones].concat();
    let refused = ada.post("/fn/inbox/decide", &[&typed[..], &pages].concat()).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let html = refused.text().await.unwrap();
    assert!(html.contains("id=\"f-answer-seats-error\""), "{html}");
    for value in ["EU", "A", "C"] {
        assert!(html.contains(&format!("value=\"{value}\" checked")), "{html}");
    }
    assert!(!html.contains("value=\"B\" checked"), "{html}");
    let typed = [("id", id.as_str()), ("decision", "respond"), ("answer.where", "EU"), ("answer.seats", "2")];
    let typed = [&typed[..], &zones].concat();
    let sent = ada.post("/fn/inbox/decide", &[&typed[..], &pages].concat()).await;
    assert_eq!((sent.status(), sent.headers()["location"].to_str().unwrap()), (StatusCode::SEE_OTHER, pages[0].1));

    let answers = app.request(Who::Operator, Method::GET, &format!("/api/sessions/{session}/answers")).send();
    let answers: Value = answers.await.unwrap().json().await.unwrap();
    let [answer] = answers["items"].as_array().unwrap().as_slice() else { panic!("{answers}") };
    assert_eq!(
        (&answer["answers"], &answer["outcome"]),
        (&json!({ "where": "EU", "seats": 2, "zones": ["A", "C"] }), &json!("answered"))
    );
    assert_eq!(waiting(&app).await, json!({ "open": 0, "questions": 0 }));
    assert!(ada.page(&path).await.contains("This question has an answer."));
    let again = ada.call(Method::POST, "/fn/inbox/decide").form(&typed).send().await.unwrap();
    assert_eq!(again.status(), StatusCode::OK, "a repeat is answered with what is recorded");
    let other = [("id", id.as_str()), ("decision", "deny"), ("note", "No.")];
    let other = ada.call(Method::POST, "/fn/inbox/decide").form(&other).send().await.unwrap();
    assert_eq!(problem(other).await.0, 409);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_closed_without_an_answer_whether_or_not_a_session_waits() {
    let app = App::start();
    let ada = reviewer(&app).await;
    let close = async |id: &str| {
        let fields = [("id", id), ("decision", "cancel")];
        ada.call(Method::POST, "/fn/inbox/decide").form(&fields).send().await.unwrap()
    };
    let call = called(&app, 1, json!({ "to": "x" })).await;
    let (status, refused) = problem(close(&call).await).await;
    assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!("decision")), "{refused}");
    let (session, id) = ask_and_go_on(&app).await;
    assert!(ada.page(&format!("/inbox/{id}")).await.contains("Close without an answer"));
    for what in ["first", "sent again"] {
        assert_eq!(close(&id).await.status(), StatusCode::OK, "{what}");
    }
    let answers = app.request(Who::Operator, Method::GET, &format!("/api/sessions/{session}/answers")).send();
    let answers: Value = answers.await.unwrap().json().await.unwrap();
    assert_eq!(answers["items"][0]["outcome"], "cancelled", "{answers}");
    assert_eq!(waiting(&app).await["questions"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_not_closed_while_a_reason_is_typed() {
    let app = App::start();
    let mut ada = reviewer(&app).await;
    let (_, id) = ask_and_go_on(&app).await;
    let path = format!("/inbox/{id}");
    let typed = [("id", id.as_str()), ("decision", "cancel"), ("note", "Ask in Berlin.")];
    let sent = ada.call(Method::POST, "/fn/inbox/decide").form(&typed).send().await.unwrap();
    let (status, refused) = problem(sent).await;
    assert_eq!((status, &refused["errors"][0]["field"]), (422, &json!("note")), "{refused}");
    let why = "Closing without an answer sends no reason. Use Deny to send a reason";
    assert!(refused["errors"][0]["message"].as_str().unwrap().starts_with(why), "{refused}");
    assert_eq!(waiting(&app).await["questions"], 1);

    // Without scripts the form comes back with the text and the reason of the refusal.
    let pages = [("next", "/inbox?notice=decided"), ("page", path.as_str())];
    let refused = ada.post("/fn/inbox/decide", &[&typed[..], &pages].concat()).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let html = refused.text().await.unwrap();
    assert!(html.contains(why) && html.contains("\nAsk in Berlin.</textarea>"), "{html}");
    let blank = [("id", id.as_str()), ("decision", "cancel"), ("note", " ")];
    let closed = ada.call(Method::POST, "/fn/inbox/decide").form(&blank).send().await.unwrap();
    assert_eq!((closed.status(), &waiting(&app).await["questions"]), (StatusCode::OK, &json!(0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_hears_which_questions_do_not_apply() {
    let app = App::start();
    let (_, id) = ask_and_go_on(&app).await;
    let ada = reviewer(&app).await;
    for (place, off) in [("EU", json!([])), ("US", json!(["zones"])), ("", json!(["zones"]))] {
        let fields = [("id", id.as_str()), ("answer.where", place), ("answer.zones", "A"), ("answer.zones", "B")];
        let heard = ada.call(Method::POST, "/fn/inbox/questions-off").form(&fields).send().await.unwrap();
        assert_eq!(heard.json::<Value>().await.unwrap(), off, "{place}");
    }
    assert_eq!(waiting(&app).await["questions"], 1, "it changes nothing");
}

pub fn item(id: &str) -> String {
    format!("items[{id}]")
}

pub async fn digest(browser: &Browser<'_>, id: &str) -> String {
    let path = format!("/api/approvals/{id}");
    let found: Value = browser.call(Method::GET, &path).send().await.unwrap().json().await.unwrap();
    found["approval"]["digest"].as_str().unwrap().to_owned()
}
