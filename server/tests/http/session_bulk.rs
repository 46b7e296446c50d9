//! `/sessions/bulk` and `POST /api/sessions/bulk`, without scripts: preview, confirmation, the page of what happened.

use crate::{
    app::{App, Who, problem},
    browser::Browser,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// A failed session that the operator started.
async fn failed(app: &App) -> String {
    let session = app.running(Who::Operator).await;
    let failure = json!({ "attempt": 1, "error": { "message": "The disk is full" } });
    app.post(Who::Worker, &format!("/api/sessions/{session}/fail"), failure).await;
    session
}

async fn status(app: &App, session: &str) -> Value {
    let request = app.request(Who::Operator, Method::GET, &format!("/api/sessions/{session}"));
    request.send().await.unwrap().json::<Value>().await.unwrap()["status"].clone()
}

/// The ids that a preview confirms.
fn confirmed(preview: &str) -> Vec<String> {
    let fields = preview.split("name=\"session\" value=\"").skip(1);
    fields.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn selected_sessions_are_cancelled_after_a_preview_and_a_reload_sends_nothing() {
    let app = App::start();
    let (running, other) = (app.running(Who::Member).await, app.running(Who::Member).await);
    let ended = failed(&app).await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let list = ada.page("/sessions?q=title%3Azebra").await;
    assert!(!list.contains("id=\"bulk\""), "a list without a row has no bar: {list}");
    let list = ada.page("/sessions").await;
    for session in [&running, &other, &ended] {
        assert!(list.contains(&format!("form=\"bulk\" name=\"session\" value=\"{session}\"")), "{list}");
    }
    let rows = ada.page(&format!("/sessions/rows?select=on&ids={running}")).await;
    assert!(rows.contains(&format!("value=\"{running}\"")), "{rows}");
    assert!(!ada.page(&format!("/sessions/rows?ids={running}")).await.contains("checkbox"), "other lists have none");

    let ticked = [("verb", "cancel"), ("session", running.as_str()), ("session", ended.as_str())];
    let selected = [&ticked[..], &[("next", "/sessions?q=type%3Aagent")]].concat();
    let preview = ada.post("/sessions/bulk", &selected).await;
    assert_eq!(preview.status(), StatusCode::OK);
    let preview = preview.text().await.unwrap();
    assert!(preview.contains("2 sessions: 1 will be cancelled, 1 cannot be cancelled."), "{preview}");
    assert!(preview.contains("cannot be undone") && preview.contains("Cannot: the session is failed"), "{preview}");
    assert_eq!(confirmed(&preview), std::slice::from_ref(&running));
    assert_eq!(status(&app, &running).await, "running", "a preview cancelled it");

    let confirm = [&selected[..1], &[("session", running.as_str()), ("step", "run")], &selected[3..]].concat();
    for sentence in ["1 session: 1 is cancelled.", "1 session: 0 are cancelled, 1 was cancelled before."] {
        let done = ada.post("/sessions/bulk", &confirm).await;
        assert_eq!(done.status(), StatusCode::SEE_OTHER);
        let address = done.headers()["location"].to_str().unwrap().to_owned();
        for _ in 0..2 {
            let page = ada.page(&address).await;
            assert!(page.contains(sentence) && page.contains("Is cancelled"), "{page}");
            assert!(page.contains("href=\"/sessions?q=type%3Aagent\"") && !page.contains("Undo"), "{page}");
        }
    }
    assert_eq!((status(&app, &running).await, status(&app, &other).await), (json!("abandoned"), json!("running")));
    // An address that names nothing leads to the list, and one of another server is not led to.
    let nothing = ada.ask(Method::GET, "/sessions/bulk?verb=cancel", &[]).await;
    assert_eq!(nothing.status(), StatusCode::SEE_OTHER);
    assert_eq!(nothing.headers()["location"], "/sessions");
    let elsewhere = [&ticked[..], &[("next", "https://example.org/")]].concat();
    assert!(!ada.post("/sessions/bulk", &elsewhere).await.text().await.unwrap().contains("example.org"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_that_match_run_again_as_shown_and_undo_cancels_the_new_ones() {
    let app = App::start();
    let ids = [failed(&app).await, failed(&app).await];
    let running = app.running(Who::Operator).await;
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let all = [("verb", "run_again"), ("all", "on"), ("q", "status:failed"), ("session", running.as_str())];
    let preview = ada.post("/sessions/bulk", &all).await.text().await.unwrap();
    assert!(preview.contains("2 sessions: 2 will be run again.") && preview.contains("Run 2 again"), "{preview}");
    assert_eq!(confirmed(&preview), [ids[1].clone(), ids[0].clone()]);
    // What fails after the preview is not run.
    let later = failed(&app).await;
    let mut confirm = vec![("verb", "run_again"), ("step", "run")];
    confirm.extend(ids.iter().map(|id| ("session", id.as_str())));
    let done = ada.post("/sessions/bulk", &confirm).await;
    let page = ada.page(done.headers()["location"].to_str().unwrap()).await;
    assert!(page.contains("2 sessions: 2 are run again.") && page.matches(">Runs again<").count() == 2, "{page}");
    assert!(page.contains("Undo: cancel 2 new sessions") && !page.contains(&later), "{page}");
    let new = confirmed(&page);
    assert_eq!(new.len(), 2);
    let mut undo = vec![("verb", "cancel"), ("step", "run")];
    undo.extend(new.iter().map(|id| ("session", id.as_str())));
    ada.post("/sessions/bulk", &undo).await;
    for id in &new {
        assert_eq!(status(&app, id).await, "abandoned");
    }
    // The same confirmation once more starts nothing, and offers no undo.
    let again = ada.post("/sessions/bulk", &confirm).await;
    let page = ada.page(again.headers()["location"].to_str().unwrap()).await;
    assert!(page.contains("0 are run again, 2 were run again before.") && !page.contains("Undo"), "{page}");

    for (form, why) in [
        (vec![("verb", "cancel")], "Select at least one session."),
        (vec![("verb", "cancel"), ("session", "x")], "is not a UUID"),
        (
            vec![("verb", "delete"), ("session", running.as_str())],
            "one of run_again, cancel, acknowledge, tag, untag, assign, unassign",
        ),
        (vec![("verb", "cancel"), ("all", "on"), ("q", "colour:red")], "there is no field colour"),
        (vec![("verb", "cancel"), ("all", "on"), ("q", "by:unknown")], "no member of the workspace"),
    ] {
        let refused = ada.post("/sessions/bulk", &form).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{why}");
        let page = refused.text().await.unwrap();
        assert!(page.contains(why) && page.contains("Back to the list"), "{why}: {page}");
    }
    assert_eq!(status(&app, &running).await, "running");
}

#[tokio::test]
async fn the_api_answers_for_each_session() {
    let app = App::start();
    let (mine, theirs, broken) = (app.running(Who::Member).await, app.running(Who::Operator).await, failed(&app).await);
    let path = "/api/sessions/bulk";
    let both = json!([mine, theirs]);
    let dry = json!({ "verb": "cancel", "sessionIds": both, "dryRun": true });
    let preview = app.post(Who::Member, path, dry).await;
    let counts = |answer: &Value| ["ready", "done", "already", "refused"].map(|name| answer[name].as_u64().unwrap());
    assert_eq!((counts(&preview), &preview["hasMore"]), ([1, 0, 0, 1], &json!(false)));
    let cancel = json!({ "verb": "cancel", "sessionIds": both });
    let done = app.post(Who::Member, path, cancel.clone()).await;
    assert_eq!(counts(&done), [0, 1, 0, 1]);
    assert_eq!((&done["sessions"][0]["sessionId"], &done["sessions"][0]["outcome"]), (&json!(mine), &json!("done")));
    assert!(done["sessions"][1]["reason"].as_str().unwrap().contains("only operators"), "{done}");
    assert_eq!(counts(&app.post(Who::Member, path, cancel.clone()).await), [0, 0, 1, 1]);
    let stranger = app.post(Who::Stranger, path, cancel).await;
    assert_eq!((counts(&stranger), &stranger["sessions"][0]["title"]), ([0, 0, 0, 2], &Value::Null));

    let found = json!({ "verb": "run_again", "q": "status:failed", "timezone": "Europe/Berlin" });
    let ran = app.post(Who::Operator, path, found.clone()).await;
    assert_eq!((counts(&ran), &ran["sessions"][0]["sessionId"]), ([0, 1, 0, 0], &json!(broken)));
    let new = ran["sessions"][0]["newSessionId"].as_str().unwrap();
    assert_eq!(status(&app, new).await, "pending");
    let repeat = app.post(Who::Operator, path, found).await;
    assert_eq!((counts(&repeat), &repeat["sessions"][0]["newSessionId"]), ([0, 0, 1, 0], &json!(new)));

    for (body, field) in [
        (json!({ "verb": "cancel" }), "sessionIds"),
        (json!({ "verb": "cancel", "sessionIds": [] }), "sessionIds"),
        (json!({ "verb": "cancel", "sessionIds": both, "q": "status:failed" }), "sessionIds"),
        (json!({ "verb": "cancel", "q": " " }), "q"),
        (json!({ "verb": "cancel", "q": "colour:red" }), "q"),
        (json!({ "verb": "cancel", "q": "status:failed", "timezone": "Mars" }), "timezone"),
        (json!({ "verb": "cancel", "sessionIds": both, "timezone": "UTC" }), "timezone"),
        (json!({ "verb": "delete", "sessionIds": both }), "verb"),
    ] {
        let answer = app.request(Who::Operator, Method::POST, path).json(&body).send().await.unwrap();
        let (status, problem) = problem(answer).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!(field)), "{body}: {problem}");
    }
    assert_eq!(status(&app, &theirs).await, "running");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn selected_sessions_are_tagged_and_assigned_and_undo_takes_it_back() {
    let app = App::start();
    let ids = [failed(&app).await, failed(&app).await];
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let read = async |session: &str| -> Value {
        let request = app.request(Who::Operator, Method::GET, &format!("/api/sessions/{session}"));
        request.send().await.unwrap().json().await.unwrap()
    };
    // The check boxes of the page of a cause have names of their own.
    let (first, second) = (format!("items[{}]", ids[0]), format!("items[{}]", ids[1]));
    let of_cause = [("verb", "tag"), (first.as_str(), "on"), (second.as_str(), "on")];
    let choice = ada.post("/sessions/bulk", &of_cause).await.text().await.unwrap();
    assert!(choice.contains("2 sessions are selected.") && choice.contains("Add the tag…"), "{choice}");
    assert_eq!(confirmed(&choice).len(), 2, "{choice}");

    let sessions = [("session", ids[0].as_str()), ("session", ids[1].as_str())];
    let tag = [&[("verb", "tag"), ("tag", "Needs a look")][..], &sessions].concat();
    let preview = ada.post("/sessions/bulk", &tag).await.text().await.unwrap();
    assert!(preview.contains("2 sessions: 2 will be tagged needs-a-look."), "{preview}");
    assert_eq!(read(&ids[0]).await["tags"], json!([]), "a preview tagged it");
    // One has the tag already, so undo leaves it there.
    app.post(Who::Operator, &format!("/api/sessions/{}/tags", ids[1]), json!({ "add": ["needs-a-look"] })).await;
    let run = [&tag[..], &[("step", "run")]].concat();
    let done = ada.post("/sessions/bulk", &run).await;
    let page = ada.page(done.headers()["location"].to_str().unwrap()).await;
    assert!(page.contains("1 is tagged needs-a-look, 1 was tagged needs-a-look before."), "{page}");
    assert_eq!(confirmed(&page), std::slice::from_ref(&ids[0]));
    let undo = [("verb", "untag"), ("tag", "needs-a-look"), ("session", ids[0].as_str()), ("step", "run")];
    ada.post("/sessions/bulk", &undo).await;
    assert_eq!((&read(&ids[0]).await["tags"], &read(&ids[1]).await["tags"]), (&json!([]), &json!(["needs-a-look"])));

    let refused = ada.post("/sessions/bulk", &[&[("verb", "tag"), ("tag", "東京")][..], &sessions].concat()).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let page = refused.text().await.unwrap();
    assert!(page.contains("lower-case letters") && page.contains("value=\"東京\""), "{page}");
    assert_eq!(confirmed(&page).len(), 2, "the selection is lost: {page}");

    let choice =
        ada.post("/sessions/bulk", &[&[("verb", "assign")][..], &sessions].concat()).await.text().await.unwrap();
    let member = choice
        .split_once("name=\"userId\"")
        .unwrap()
        .1
        .split("<option value=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    let assign = [&[("verb", "assign"), ("userId", member.as_str()), ("step", "run")][..], &sessions].concat();
    let done = ada.post("/sessions/bulk", &assign).await;
    let page = ada.page(done.headers()["location"].to_str().unwrap()).await;
    assert!(page.contains("2 are assigned to ") && page.contains("value=\"assign_back\""), "{page}");
    assert_eq!(read(&ids[1]).await["assigneeId"], json!(member));
    // Others are assigned to someone else then, and undo assigns each to whom it was assigned before.
    let none = [&[("verb", "assign"), ("userId", "none"), ("step", "run")][..], &sessions[..1]].concat();
    ada.post("/sessions/bulk", &none).await;
    let back = [&[("verb", "assign_back"), ("userId", "none"), ("step", "run")][..], &sessions].concat();
    let done = ada.post("/sessions/bulk", &back).await;
    let page = ada.page(done.headers()["location"].to_str().unwrap()).await;
    assert!(page.contains("2 sessions: 1 is assigned back, 1 was assigned back before."), "{page}");
    assert_eq!(read(&ids[0]).await["assigneeId"], json!(member));
    let listed = ada.page("/sessions?q=tag%3Aneeds-a-look").await;
    assert!(listed.contains(&ids[1]) && !listed.contains(&ids[0]), "{listed}");

    // Over the API the tag or the member is part of the request.
    let api = json!({ "verb": "unassign", "sessionIds": ids });
    let answer: Value = app.post(Who::Operator, "/api/sessions/bulk", api).await;
    assert_eq!(answer["done"], 2, "{answer}");
    for (body, field) in [
        (json!({ "verb": "tag", "sessionIds": ids }), "tag"),
        (json!({ "verb": "assign", "sessionIds": ids }), "assigneeId"),
        (json!({ "verb": "cancel", "tag": "x", "sessionIds": ids }), "tag"),
    ] {
        let refused = app.request(Who::Operator, Method::POST, "/api/sessions/bulk").json(&body).send().await.unwrap();
        let (status, problem) = problem(refused).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!(field)), "{body}");
    }
}

#[tokio::test]
async fn the_page_of_labels_changes_only_what_differs_from_what_it_showed() {
    let app = App::start();
    let session = app.running(Who::Operator).await;
    let path = format!("/sessions/{session}/labels");
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    app.post(Who::Operator, &format!("/api/sessions/{session}/tags"), json!({ "add": ["old", "kept"] })).await;
    let page = ada.page(&path).await;
    assert!(page.contains("name=\"shownTags\" value=\"kept old\""), "{page}");
    // Someone else tags it while the page is open.
    app.post(Who::Operator, &format!("/api/sessions/{session}/tags"), json!({ "add": ["urgent"] })).await;
    let form = [("shownTags", "kept old"), ("tags", "kept new"), ("shownUserId", "none"), ("userId", "none")];
    assert_eq!(ada.post(&path, &form).await.status(), StatusCode::SEE_OTHER);
    let read = app.request(Who::Operator, Method::GET, &format!("/api/sessions/{session}"));
    let read = read.send().await.unwrap().json::<Value>().await.unwrap();
    assert_eq!(read["tags"], json!(["kept", "new", "urgent"]));
}

/// The fields of the form between two parts.
fn next_part(page: &str) -> Vec<(String, String)> {
    let form = page.split_once("data-continue").unwrap().1.split_once("</form>").unwrap().0;
    let fields = form.split("<input type=\"hidden\" name=\"").skip(1);
    let field = |text: &str| {
        let (name, rest) = text.split_once("\" value=\"").unwrap();
        (name.to_owned(), rest.split_once('"').unwrap().0.to_owned())
    };
    fields.map(field).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sessions_are_changed_part_by_part_and_a_part_that_is_sent_again_counts_once() {
    let app = App::start();
    let mut ids = Vec::new();
    for _ in 0..120 {
        let made =
            app.post(Who::Operator, "/api/sessions", json!({ "sessionType": "agent", "agentSlug": "maid" })).await;
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    let mut ada = Browser::of(&app, "ada@acme.test").await;
    let cancelled = async || {
        let request = app.request(Who::Operator, Method::GET, "/api/sessions?q=status:abandoned&limit=200");
        request.send().await.unwrap().json::<Value>().await.unwrap()["items"].as_array().unwrap().len()
    };
    let mut form = vec![("verb".to_owned(), "cancel".to_owned()), ("step".to_owned(), "run".to_owned())];
    form.push(("next".to_owned(), "/sessions?q=agent%3Amaid".to_owned()));
    form.extend(ids.iter().map(|id| ("session".to_owned(), id.clone())));
    for (part, so_far) in [(1, 50), (2, 100)] {
        let sent: Vec<(&str, &str)> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut pages = Vec::new();
        // Loading the page again sends its form again.
        for _ in 0..2 {
            let answer = ada.post("/sessions/bulk", &sent).await;
            assert_eq!(answer.status(), StatusCode::OK, "part {part}");
            pages.push(answer.text().await.unwrap());
            assert!(pages.iter().all(|page| page.contains(&format!("{so_far} of 120 sessions."))), "part {part}");
            assert_eq!(cancelled().await, so_far, "part {part}");
        }
        form = next_part(&pages[0]);
        assert_eq!(form.iter().filter(|(name, _)| name == "session").count(), 120 - so_far);
    }
    let sent: Vec<(&str, &str)> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let sentences = ["120 sessions: 120 are cancelled.", "120 sessions: 100 are cancelled, 20 were cancelled before."];
    for sentence in sentences {
        let done = ada.post("/sessions/bulk", &sent).await;
        assert_eq!(done.status(), StatusCode::SEE_OTHER);
        let page = ada.page(done.headers()["location"].to_str().unwrap()).await;
        assert!(page.contains(sentence) && page.contains("And 80 more."), "{page}");
        assert_eq!(cancelled().await, 120);
    }
}
