//! The table of alike items: what is selected, what is decided, and what a refused form keeps.

use crate::{
    app::{App, Who},
    browser::Browser,
    inbox::{item, reviewer},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// An item that waits for a decision.
struct Waiting {
    id: String,
    digest: String,
    amount: u64,
    group: String,
}

impl Waiting {
    /// Name of the cell with the amount.
    fn cell(&self) -> String {
        format!("value.{}.amount", self.id)
    }
}

/// Lets an agent ask for refunds of these amounts. Returns the items in the order of the amounts.
async fn refunds(app: &App, amounts: &[u64]) -> Vec<Waiting> {
    for amount in amounts {
        let new = json!({ "sessionType": "agent", "agentSlug": "scout" });
        let session = app.post(Who::Member, "/api/sessions", new).await["id"].as_str().unwrap().to_owned();
        app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["scout"] })).await;
        let input = json!({ "amount": amount, "charge": format!("ch_{amount}"), "currency": "EUR" });
        let call = json!({ "toolCallId": "c", "toolName": "refund", "toolInput": input });
        let pause = json!({ "attempt": 1, "status": "awaiting_tool", "pausedToolCall": call });
        app.post(Who::Worker, &format!("/api/sessions/{session}/yield"), pause).await;
    }
    let open = app.request(Who::Admin, Method::GET, "/api/approvals?limit=1000").send().await.unwrap();
    let open: Value = open.json().await.unwrap();
    let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
    let mut waiting: Vec<Waiting> = open["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| Waiting {
            id: text(item, "id"),
            digest: text(item, "digest"),
            amount: item["proposed"]["amount"].as_u64().unwrap(),
            group: text(item, "similarKey"),
        })
        .collect();
    waiting.sort_by_key(|item| amounts.iter().position(|amount| *amount == item.amount));
    assert_eq!(waiting.len(), amounts.len());
    waiting
}

fn path(items: &[Waiting]) -> String {
    format!("/inbox/review?group={}", items[0].group)
}

/// Fields of the form: the shown digests of all items and their amounts, and the boxes of the selected ones.
fn fields(items: &[Waiting], selected: &[&Waiting], decision: &str) -> Vec<(String, String)> {
    let shown = items.iter().flat_map(|item| {
        [(format!("shown[{}]", item.id), item.digest.clone()), (item.cell(), item.amount.to_string())]
    });
    let boxes = selected.iter().map(|one| (item(&one.id), one.digest.clone()));
    shown.chain(boxes).chain([("decision".to_owned(), decision.to_owned())]).collect()
}

fn set(fields: &mut Vec<(String, String)>, name: &str, text: &str) {
    fields.retain(|(known, _)| known != name);
    fields.push((name.to_owned(), text.to_owned()));
}

/// Sends the form. Returns the status, and the page or the address of the next one.
async fn send(browser: &mut Browser<'_>, path: &str, fields: &[(String, String)]) -> (StatusCode, String) {
    let fields: Vec<_> = fields.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let answer = browser.post(path, &fields).await;
    let status = answer.status();
    match answer.headers().get("location").map(|to| to.to_str().unwrap().to_owned()) {
        Some(to) => (status, to),
        None => (status, answer.text().await.unwrap()),
    }
}

async fn approval(browser: &Browser<'_>, id: &str) -> Value {
    let path = format!("/api/approvals/{id}");
    let found: Value = browser.call(Method::GET, &path).send().await.unwrap().json().await.unwrap();
    found["approval"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_extreme_is_not_selected_and_the_others_are_decided_together() {
    let app = App::start();
    let items = refunds(&app, &[5, 6, 7, 900, 8, 9, 10]).await;
    let mut ada = reviewer(&app).await;
    let list = ada.page("/inbox").await;
    assert!(list.contains(&format!("href=\"{}\"", path(&items))) && list.contains("Review as a table"), "{list}");
    let page = ada.page(&path(&items)).await;
    let (look, alike) = page.split_once("id=\"alike-title\"").unwrap();
    assert!(look.contains("Look at these") && look.contains("value=\"900\""), "{page}");
    assert_eq!((look.matches(" checked").count(), alike.matches(" checked").count()), (0, 6), "{page}");
    assert!(page.contains("Amount 5 to 900, sum 945"), "{page}");

    let selected: Vec<_> = items.iter().filter(|item| item.amount != 900).collect();
    let (status, result) = send(&mut ada, &path(&items), &fields(&items, &selected, "approve")).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "{result}");
    assert!(result.starts_with("/inbox/review/result?group="), "{result}");
    let page = ada.page(&result).await;
    assert!(page.contains("You decided 6 items.") && page.contains("Undo 6 decisions"), "{page}");
    let extreme = approval(&ada, &items[3].id).await;
    assert_eq!((&extreme["state"], &approval(&ada, &items[0].id).await["state"]), (&json!("open"), &json!("held")));

    let names: Vec<_> = selected.iter().map(|one| (item(&one.id), String::new())).collect();
    let (status, next) = send(&mut ada, "/fn/inbox/undo?next=%2Finbox%2Freview", &names).await;
    assert_eq!((status, next.as_str()), (StatusCode::SEE_OTHER, "/inbox/review"));
    assert_eq!(approval(&ada, &items[0].id).await["state"], "open");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_item_is_a_table_too_and_an_unknown_group_says_that_nothing_waits() {
    let app = App::start();
    let items = refunds(&app, &[5]).await;
    let mut ada = reviewer(&app).await;
    let page = ada.page(&path(&items)).await;
    assert_eq!((page.matches(" checked").count(), page.contains("Look at these")), (1, false), "{page}");
    let nothing = fields(&items, &[], "approve");
    let (status, page) = send(&mut ada, &path(&items), &nothing).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page.contains("No item was selected"), "{page}");
    let (status, result) = send(&mut ada, &path(&items), &fields(&items, &[&items[0]], "deny")).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "{result}");
    assert!(ada.page(&result).await.contains("You decided 1 item."));
    assert!(ada.page(&path(&items)).await.contains("Nothing of this group is waiting any more."));
    let unknown = ada.ask(Method::GET, "/inbox/review?group=nothing", &[]).await;
    assert_eq!(unknown.status(), StatusCode::OK);
    let (status, page) = send(&mut ada, "/inbox/review", &fields(&items, &[], "respond")).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cell_that_cannot_be_read_decides_nothing_and_the_others_keep_their_text() {
    let app = App::start();
    let items = refunds(&app, &[5, 6]).await;
    let mut ada = reviewer(&app).await;
    let selected: Vec<_> = items.iter().collect();
    let mut sent = fields(&items, &selected, "approve");
    set(&mut sent, &items[0].cell(), "many");
    set(&mut sent, &items[1].cell(), "66");
    let (status, page) = send(&mut ada, &path(&items), &sent).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{page}");
    assert!(page.contains("Enter a number.") && page.contains("value=\"many\""), "{page}");
    assert!(page.contains("value=\"66\"") && page.matches(" checked").count() == 2, "{page}");
    assert_eq!(approval(&ada, &items[1].id).await["state"], "open");

    // Another order decides nothing either, and keeps what was typed and selected.
    let mut arranged = sent.clone();
    set(&mut arranged, "arrange", "sort");
    let (status, page) = send(&mut ada, &format!("{}&sort=amount&order=desc", path(&items)), &arranged).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    assert!(page.contains("value=\"many\"") && page.contains("value=\"66\""), "{page}");
    assert_eq!(page.matches(" checked").count(), 2, "{page}");
    assert!(page.contains("aria-sort=\"descending\"") && !page.contains("Enter a number."), "{page}");
    for (how, selected) in [("select_none", 0), ("select_alike", 2)] {
        set(&mut arranged, "arrange", how);
        let (status, page) = send(&mut ada, &path(&items), &arranged).await;
        assert_eq!((status, page.matches(" checked").count()), (StatusCode::OK, selected), "{how}: {page}");
        assert!(page.contains("value=\"many\"") && page.contains("value=\"66\""), "{how}: {page}");
    }
    assert_eq!(approval(&ada, &items[1].id).await["state"], "open");

    set(&mut sent, &items[0].cell(), "4,5");
    let (status, result) = send(&mut ada, &path(&items), &sent).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "{result}");
    for (item, amount) in items.iter().zip([json!(4.5), json!(66)]) {
        let decision = approval(&ada, &item.id).await["decision"].clone();
        assert_eq!((&decision["decision"], &decision["value"]["amount"]), (&json!("edit"), &amount), "{decision}");
    }
    // The answer was lost: the same form again is the same decisions.
    let (status, again) = send(&mut ada, &path(&items), &sent).await;
    assert_eq!((status, again), (StatusCode::SEE_OTHER, result));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_reviewers_the_second_learns_what_became_of_each_item() {
    let app = App::start();
    app.user("mia@acme.test", "reviewer");
    let items = refunds(&app, &[5, 6, 7]).await;
    let (mut ada, mut mia) = (reviewer(&app).await, Browser::of(&app, "mia@acme.test").await);
    let mut first = fields(&items, &[&items[0]], "deny");
    set(&mut first, "note", "Not this one.");
    assert_eq!(send(&mut mia, &path(&items), &first).await.0, StatusCode::SEE_OTHER);

    let both = fields(&items, &[&items[0], &items[1]], "approve");
    let (status, result) = send(&mut ada, &path(&items), &both).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "{result}");
    let page = ada.page(&result).await;
    assert!(page.contains("Already denied by mia@acme.test") && page.contains("Undo 1 decision<"), "{page}");
    assert!(page.contains("You decided 1 item. 1 item was already decided or closed by others."), "{page}");

    // What was typed for an item that someone else decided is shown, and so is a row that is not selected.
    let mut typed = fields(&items, &[&items[0]], "approve");
    set(&mut typed, &items[0].cell(), "55");
    set(&mut typed, &items[2].cell(), "77");
    let (status, page) = send(&mut ada, &path(&items), &typed).await;
    assert_eq!(status, StatusCode::CONFLICT, "{page}");
    assert!(page.contains("You typed, and it was not used: Amount 55"), "{page}");
    assert!(page.contains("value=\"77\"") && !page.contains(" checked"), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_item_keeps_its_row_with_the_reason_while_the_others_are_decided() {
    let app = App::start();
    let items = refunds(&app, &[5, 6]).await;
    let mut ada = reviewer(&app).await;
    let mut sent = fields(&items, &[&items[0], &items[1]], "approve");
    let other = "0".repeat(64);
    set(&mut sent, &item(&items[0].id), &other);
    set(&mut sent, &format!("shown[{}]", items[0].id), &other);
    set(&mut sent, &items[0].cell(), "55");
    let (status, page) = send(&mut ada, &path(&items), &sent).await;
    assert_eq!(status, StatusCode::CONFLICT, "{page}");
    assert!(page.contains("the proposal has changed in the meantime") && page.contains("value=\"55\""), "{page}");
    assert!(page.contains("You decided 1 item.") && !page.contains(" checked"), "{page}");
    assert_eq!(approval(&ada, &items[1].id).await["state"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_items_are_asked_back_once_with_their_figures() {
    let app = App::start();
    let amounts: Vec<u64> = (0..40).map(|n| 100 + n).collect();
    let items = refunds(&app, &amounts).await;
    let mut ada = reviewer(&app).await;
    let page = ada.page(&path(&items)).await;
    assert_eq!(page.matches(" checked").count(), 40, "{page}");
    let selected: Vec<_> = items.iter().collect();
    let mut sent = fields(&items, &selected, "approve");
    set(&mut sent, &items[0].cell(), "1000");
    let (status, page) = send(&mut ada, &path(&items), &sent).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{page}");
    assert!(page.contains("Approve 40 items? Amount 101 to 1,000, sum 5,680."), "{page}");
    assert!(page.contains("value=\"1000\"") && page.contains("name=\"confirmed\" value=\"approve 40\""), "{page}");
    assert_eq!(approval(&ada, &items[0].id).await["state"], "open");

    set(&mut sent, "confirmed", "approve 39");
    assert_eq!(send(&mut ada, &path(&items), &sent).await.0, StatusCode::UNPROCESSABLE_ENTITY, "of another number");
    set(&mut sent, "confirmed", "approve 40");
    let (status, result) = send(&mut ada, &path(&items), &sent).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "{result}");
    assert!(ada.page(&result).await.contains("You decided 40 items."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_are_sorted_as_numbers_and_no_question_is_approved() {
    let app = App::start();
    let items = refunds(&app, &[1_000, 90, 500]).await;
    let mut ada = reviewer(&app).await;
    let page = ada.page(&format!("{}&sort=amount&order=desc", path(&items))).await;
    let at = |amount: &str| page.find(&format!(" value=\"{amount}\"")).unwrap();
    assert!(at("1000") < at("500") && at("500") < at("90"), "{page}");
    assert!(page.contains("aria-sort=\"descending\""), "{page}");

    let asked = crate::inbox::ask(&app, &[json!({ "message": "Which?" })]).await;
    let question = asked.iter().find(|id| items.iter().all(|item| item.id != **id)).unwrap();
    let found = approval(&ada, question).await;
    let (group, digest) = (found["similarKey"].as_str().unwrap(), found["digest"].as_str().unwrap());
    let path = format!("/inbox/review?group={group}");
    let page = ada.page(&path).await;
    assert!(!page.contains("value=\"approve\"") && page.contains("Refuse to answer"), "{page}");
    let sent = [(item(question), digest.to_owned()), ("decision".to_owned(), "approve".to_owned())];
    let (status, page) = send(&mut ada, &path, &sent).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{page}");
    assert!(page.contains("Questions need an answer."), "{page}");
}
