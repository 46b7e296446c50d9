//! Lists without scripts: searching tasks, tools and forms, and archiving and restoring several tasks.

use crate::{
    app::{App, Who},
    browser::{Browser, add_person},
};
use reqwest::Method;
use serde_json::json;

async fn task(app: &App, name: &str) -> String {
    app.post(Who::Operator, "/api/actions", json!({ "name": name })).await["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_list_of_tasks_is_searched_and_says_what_is_wrong_with_a_search() {
    let app = App::start();
    let (found, other) = (task(&app, "Refund Acme").await, task(&app, "Clean up").await);
    let ada = Browser::of(&app, "ada@acme.test").await;
    let page = ada.page("/actions?q=refund").await;
    assert!(page.contains(&format!("/actions/{found}")) && !page.contains(&format!("/actions/{other}")), "{page}");
    assert!(page.contains("value=\"refund\""), "{page}");
    assert!(ada.page("/actions?q=zebra").await.contains("No task in this list is found by these words."));
    let refused = ada.ask(Method::GET, "/actions?q=cost%3E1", &[]).await;
    assert_eq!(refused.status(), 422);
    let page = refused.text().await.unwrap();
    assert!(page.contains("the fields are agent, title") && page.contains(&format!("/actions/{found}")), "{page}");
}

#[tokio::test]
async fn several_tasks_are_archived_and_restored_with_plain_forms() {
    let app = App::start();
    let mut ids = Vec::new();
    for number in 0..3 {
        ids.push(task(&app, &format!("Refund {number}")).await);
    }
    let kept = task(&app, "Clean up").await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let none = ada.post("/actions/decisions", &[("decision", "archive"), ("next", "/actions")]).await;
    assert_eq!(none.status(), 422);
    assert!(none.text().await.unwrap().contains("Select at least one task."));
    let two = [("decision", "archive"), ("next", "/actions"), ("task", ids[0].as_str()), ("task", ids[1].as_str())];
    let done = ada.post("/actions/decisions", &two).await;
    let to = done.headers()["location"].to_str().unwrap().to_owned();
    assert!(to.starts_with("/actions?undo=") && to.ends_with("&notice=tasks_archived"), "{to}");
    let page = ada.page(&to).await;
    let undo = page.split_once(">Undo<").unwrap().0.rsplit_once("<form").unwrap().1;
    assert!(undo.contains("value=\"restore\""), "{undo}");
    assert!(ids[..2].iter().all(|id| undo.contains(&format!("value=\"{id}\""))), "{undo}");
    assert!(!undo.contains(&format!("value=\"{}\"", ids[2])), "{undo}");
    // All of what is found, whatever is selected.
    let all = [("decision", "archive"), ("next", "/actions?q=refund"), ("q", "refund"), ("all", "on")];
    ada.post("/actions/decisions", &all).await;
    let archived = ada.page("/actions?status=archived").await;
    assert!(ids.iter().all(|id| archived.contains(&format!("/actions/{id}"))), "{archived}");
    assert!(!archived.contains(&format!("/actions/{kept}")), "{archived}");
    // What is sent again changes nothing and offers no undo.
    let again = ada.post("/actions/decisions", &two).await;
    assert_eq!(again.headers()["location"], "/actions?notice=tasks_archived");
    let restore = [("decision", "restore"), ("next", "/actions?status=archived"), ("task", ids[2].as_str())];
    let done = ada.post("/actions/decisions", &restore).await;
    let to = done.headers()["location"].to_str().unwrap().to_owned();
    assert!(to.starts_with("/actions?status=archived&undo="), "{to}");
    assert!(ada.page("/actions").await.contains(&format!("/actions/{}", ids[2])));
    add_person(&app, "mia@acme.test");
    let mut mia = Browser::of(&app, "mia@acme.test").await;
    assert_eq!(mia.post("/actions/decisions", &restore).await.status(), 403);
    assert!(!mia.page("/actions").await.contains("Archive selected"));
}

#[tokio::test]
async fn archiving_tasks_with_sessions_that_have_not_ended_says_so_first() {
    let app = App::start();
    let (busy, idle) = (task(&app, "Refund <b>Acme</b>").await, task(&app, "Clean up").await);
    for _ in 0..2 {
        app.post(Who::Operator, &format!("/api/actions/{busy}/trigger"), json!({})).await;
    }
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let both = [("decision", "archive"), ("next", "/actions"), ("task", busy.as_str()), ("task", idle.as_str())];
    let asked = ada.post("/actions/decisions", &both).await;
    assert_eq!(asked.status(), 200);
    let page = asked.text().await.unwrap();
    assert!(page.contains("2 tasks will be archived."), "{page}");
    assert!(page.contains("One of them has 2 sessions in the queue. They go on"), "{page}");
    assert!(page.contains("Refund &lt;b&gt;Acme") && page.contains(&format!("value=\"{idle}\"")), "{page}");
    assert!(ada.page("/actions").await.contains(&format!("/actions/{busy}")), "asking changes nothing");
    let confirmed = [&both[..], &[("confirmed", "on")][..]].concat();
    let done = ada.post("/actions/decisions", &confirmed).await;
    assert!(done.headers()["location"].to_str().unwrap().ends_with("&notice=tasks_archived"));
    assert!(ada.page("/actions?status=archived").await.contains(&format!("/actions/{busy}")));
}

#[tokio::test]
async fn the_lists_of_tools_and_forms_are_searched_and_say_what_is_wrong_with_a_search() {
    let app = App::start();
    for title in ["Weekly check", "Exit"] {
        app.post(Who::Operator, "/api/views", json!({ "title": title })).await;
    }
    let ada = Browser::of(&app, "ada@acme.test").await;
    let page = ada.page("/views?q=check").await;
    assert!(page.contains("/views/weekly-check") && !page.contains("/views/exit"), "{page}");
    assert!(page.contains("value=\"check\""), "{page}");
    assert!(ada.page("/views?q=zebra").await.contains("No form matches the search."));
    assert!(ada.page("/tools?q=zebra").await.contains("No tool matches the search."));
    assert!(!ada.page("/tools").await.contains("role=\"search\""), "an empty list has nothing to search");
    for path in ["/views", "/tools"] {
        let refused = ada.ask(Method::GET, &format!("{path}?q=cost%3E1"), &[]).await;
        assert_eq!(refused.status(), 422, "{path}");
        assert!(refused.text().await.unwrap().contains("the fields are title"), "{path}");
    }
}
