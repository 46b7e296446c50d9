//! The page of an agent: cards as a browser uploads them, the filter of sessions, channels of conversations.

use crate::{
    app::{App, Who},
    browser::{Browser, add_person},
    prepare_memory::card,
};
use domain::limit::MEMORY_CARD_BYTES_MAX;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// Posts the form of a card as a browser does. Returns the status and the page.
async fn post(app: &App, cookie: &str, fields: &[(&str, &[u8])]) -> (StatusCode, String) {
    let mut body = Vec::new();
    for (name, value) in fields {
        let file = if *name == "card" { "; filename=\"card\"\r\ncontent-type: image/png" } else { "" };
        body.extend(format!("--edge\r\ncontent-disposition: form-data; name=\"{name}\"{file}\r\n\r\n").as_bytes());
        body.extend(*value);
        body.extend(b"\r\n");
    }
    body.extend(b"--edge--\r\n");
    let request = app.http.post(format!("{}/agents/iris/card", app.url)).header("cookie", cookie);
    let request = request.header("origin", &app.url).header("content-type", "multipart/form-data; boundary=edge");
    let answer = request.body(body).send().await.unwrap();
    (answer.status(), answer.text().await.unwrap())
}

async fn page(app: &App, cookie: &str, path: &str) -> String {
    let answer = app.http.get(format!("{}{path}", app.url)).header("cookie", cookie).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    answer.text().await.unwrap()
}

/// The value of a hidden field of the preview.
fn hidden(page: &str, name: &str) -> String {
    let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\"")).expect("the preview has the field");
    rest.split('"').next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_of_agents_count_their_connected_workers() {
    let app = App::start();
    let cookie = app.cookie().await;
    let claim = async |name: Option<&str>, agents: Value| {
        let claim = app.request(Who::Worker, Method::POST, "/api/sessions/claim");
        let claim = if let Some(name) = name { claim.header("shiftbook-worker", name) } else { claim };
        assert_eq!(claim.json(&agents).send().await.unwrap().status(), StatusCode::OK);
    };
    assert!(page(&app, &cookie, "/agents/scout").await.contains("No worker of this agent was seen"));
    for name in ["one", "two", "two"] {
        claim(Some(name), json!({ "agentSlugs": ["scout", "clerk"] })).await;
    }
    let (list, one) = (page(&app, &cookie, "/agents").await, page(&app, &cookie, "/agents/scout").await);
    assert_eq!(list.matches("connected, 2 workers, seen <time").count(), 2, "{list}");
    assert!(one.contains("connected, 2 workers, seen <time"), "{one}");
    let tasks = page(&app, &cookie, "/actions").await;
    assert!(tasks.contains("<option value=\"scout\">") && tasks.contains("list=\"create-agentSlug-known\""), "{tasks}");
    // Workers with one token and without a name are one.
    for _ in 0..2 {
        claim(None, json!({})).await;
    }
    let list = page(&app, &cookie, "/agents").await;
    assert!(list.contains("of any agent: <span>connected, 1 worker, seen <time"), "{list}");
    // What is refused records nothing.
    let wrong =
        app.request(Who::Worker, Method::POST, "/api/sessions/claim").json(&json!({ "agentSlugs": ["No slug"] }));
    assert_eq!(wrong.send().await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(!page(&app, &cookie, "/agents").await.contains("No slug"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_card_is_previewed_and_then_given() {
    let app = App::start();
    let cookie = app.cookie().await;
    let empty = page(&app, &cookie, "/agents/iris").await;
    assert!(empty.contains("This agent has no character card.") && empty.contains("remembers nothing yet"));
    let bytes = card().to_string();
    let (status, shown) = post(&app, &cookie, &[("step", b"preview"), ("card", bytes.as_bytes())]).await;
    assert_eq!(status, StatusCode::OK, "{shown}");
    assert!(shown.contains("Preview of the card") && shown.contains("self/description.md"), "{shown}");
    // A preview changes nothing.
    let read = app.request(Who::Operator, Method::GET, "/api/agents/iris/card").send().await.unwrap();
    assert_eq!(read.status(), StatusCode::NOT_FOUND);
    let (digest, base) = (hidden(&shown, "digest"), hidden(&shown, "base"));
    let (status, refused) = post(&app, &cookie, &[("step", b"apply"), ("digest", b"00")]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.contains("choose the file again"), "{refused}");
    let apply: [(&str, &[u8]); 3] = [("step", b"apply"), ("digest", digest.as_bytes()), ("base", base.as_bytes())];
    let (status, moved) = post(&app, &cookie, &apply[..2]).await;
    assert_eq!(status, StatusCode::CONFLICT, "a form that does not say which versions it showed");
    assert!(moved.contains("have changed since you saw the preview") && hidden(&moved, "base") == base, "{moved}");
    let (status, _) = post(&app, &cookie, &apply).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let shown = page(&app, &cookie, "/agents/iris?notice=card_given").await;
    assert!(shown.contains("The agent has the card.") && shown.contains(&digest), "{shown}");
    let original = app.request(Who::Operator, Method::GET, "/api/agents/iris/card/original").send().await.unwrap();
    assert_eq!(original.text().await.unwrap(), bytes);
    // The draft is used up, and the same card again says so.
    let (status, _) = post(&app, &cookie, &apply).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let (_, again) = post(&app, &cookie, &[("step", b"preview"), ("card", bytes.as_bytes())]).await;
    assert!(again.contains("has this card of Matrix already"), "{again}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cards_that_cannot_be_read_are_refused_beside_the_form() {
    let app = App::start();
    let cookie = app.cookie().await;
    for (file, why) in [
        (&b""[..], "choose a file"),
        (b"{", "This file is not valid JSON (line 1)."),
        (b"\x89PNG\r\n\x1a\nno image", "not a whole PNG"),
        (b"{\"spec\":\"chara_card_v9\"}", "chara_card_v9"),
    ] {
        let (status, shown) = post(&app, &cookie, &[("step", b"preview"), ("card", file)]).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{why}");
        assert!(shown.contains(why) && shown.contains("id=\"card-card\""), "{why}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_card_may_be_larger_than_other_bodies() {
    let app = App::start();
    let put = async |bytes: Vec<u8>| {
        let request = app.request(Who::Operator, Method::PUT, "/api/agents/iris/card");
        request.header("content-type", "application/json").body(bytes).send().await.unwrap()
    };
    let mut bytes = card().to_string().into_bytes();
    bytes.resize(MEMORY_CARD_BYTES_MAX, b' ');
    assert_eq!(put(bytes.clone()).await.status(), StatusCode::OK);
    let original = app.request(Who::Operator, Method::GET, "/api/agents/iris/card/original").send().await.unwrap();
    assert_eq!(original.bytes().await.unwrap().len(), MEMORY_CARD_BYTES_MAX);
    bytes.push(b' ');
    assert_eq!(put(bytes.clone()).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
    bytes.resize(MEMORY_CARD_BYTES_MAX + 1024 * 1024, b' ');
    assert_eq!(put(bytes).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_filtered_by_their_agent() {
    let app = App::start();
    let cookie = app.cookie().await;
    for (agent, title) in [("iris", "Water the plants"), ("otto", "Mend the fence")] {
        let new = json!({ "sessionType": "agent", "agentSlug": agent, "title": title });
        app.post(Who::Operator, "/api/sessions", new).await;
    }
    let shown = page(&app, &cookie, "/sessions?agent=iris").await;
    assert!(shown.contains("Water the plants") && !shown.contains("Mend the fence"), "{shown}");
    let listed = app.request(Who::Operator, Method::GET, "/api/sessions?agentSlug=otto").send().await.unwrap();
    let listed: Value = listed.json().await.unwrap();
    let titles: Vec<_> = listed["items"].as_array().unwrap().iter().map(|one| one["title"].clone()).collect();
    assert_eq!(titles, ["Mend the fence"]);
    let refused = app.request(Who::Operator, Method::GET, "/api/sessions?agentSlug=No%20slug").send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(page(&app, &cookie, "/agents/iris").await.contains("href=\"/sessions?q=agent%3Airis\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_is_started_on_a_channel() {
    let app = App::start();
    let channel = json!({ "platform": "discord", "id": "7", "name": "general", "kind": "text" });
    let new = json!({ "agent": "iris", "message": "Hi", "channel": channel });
    let begun = app.post(Who::Operator, "/api/threads", new).await;
    assert_eq!(begun["channel"], channel);
    let wrong = json!({ "agent": "iris", "channel": { "platform": "discord", "id": "7", "name": "", "kind": "text" } });
    let refused = app.request(Who::Operator, Method::POST, "/api/threads").json(&wrong).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let problem: Value = refused.json().await.unwrap();
    assert_eq!(problem["errors"][0]["field"], "channel.name");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_no_server_can_do_says_why() {
    let app = App::start();
    let cookie = app.cookie().await;
    let asked = app.post(Who::Operator, "/api/agents/iris/memory/flush", json!({})).await;
    assert_eq!((&asked["hasWriter"], &asked["waitsFor"]), (&json!(false), &json!("writer")), "{asked}");
    assert!(asked["reason"].as_str().unwrap().contains("[memory] of the settings file"), "{asked}");
    let shown = page(&app, &cookie, "/agents/iris/memory/runs?notice=memory_run_waits").await;
    assert!(shown.contains("cannot start yet: no server at work has a memory writer for this agent"), "{shown}");
    assert!(!shown.contains("within seconds"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_form_of_a_run_names_a_day_from_which_older_sessions_are_read() {
    let app = App::start();
    app.post(Who::Operator, "/api/threads", json!({ "agent": "iris", "message": "I like ships." })).await;
    let ada = Browser::of(&app, "ada@acme.test").await;
    let path = "/agents/iris/memory/runs";
    let wrong = [("2999-01-01", "in the future"), ("2026-02-30", "day that exists"), ("31.1.2026", "day that exists")];
    for (typed, says) in wrong {
        let refused = ada.ask(Method::POST, path, &[("step", "flush"), ("since", typed)]).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{typed}");
        let shown = refused.text().await.unwrap();
        for part in [says, &format!("value=\"{typed}\""), "id=\"run-since-error\"", "Run now"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
    assert!(!ada.page(path).await.contains("A run was requested"), "a form that is refused asks for nothing");
    let asked = async |fields: &[(&str, &str)]| {
        let answer = ada.ask(Method::POST, path, fields).await;
        assert_eq!(answer.status(), StatusCode::SEE_OTHER, "{fields:?}");
        ada.page(answer.headers()["location"].to_str().unwrap()).await
    };
    let since = [("step", "flush"), ("since", " 2020-01-31 ")];
    assert!(asked(&since[..]).await.contains("Added 1 session that the writer had not read."));
    let again = asked(&since[..]).await;
    for part in ["No session since that day was left to add.", "cannot start yet"] {
        assert!(again.contains(part), "{part}: {again}");
    }
    let plain = asked(&[("step", "flush"), ("since", "")][..]).await;
    assert!(!plain.contains("Added") && !plain.contains("left to add"), "{plain}");

    add_person(&app, "mia@acme.test");
    let mia = Browser::of(&app, "mia@acme.test").await;
    assert!(!mia.page(path).await.contains("name=\"since\""));
    for typed in ["2020-01-31", "2999-01-01"] {
        let refused = mia.ask(Method::POST, path, &[("step", "flush"), ("since", typed)]).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{typed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erased_document_has_a_page_that_says_who_erased_it_and_nothing_of_what_it_said() {
    let app = App::start();
    let cookie = app.cookie().await;
    let path = "people/discord-777.md";
    let to = format!("/api/agents/iris/memory/document?path={path}");
    let write = json!({ "baseVersion": 0, "text": "# Zanzibar\n", "reason": "Zanzibar said so." });
    let written = app.request(Who::Operator, Method::PUT, &to).json(&write).send().await.unwrap();
    assert!(written.status().is_success(), "{}", written.text().await.unwrap());
    app.post(Who::Admin, "/api/agents/iris/memory/erase", json!({ "path": path })).await;

    let listed = page(&app, &cookie, "/agents/iris/memory").await;
    let (_, rest) = listed.split_once("href=\"/agents/iris/memory?path=erased").expect("the list links to it");
    let address = format!("/agents/iris/memory?path=erased{}", rest.split('"').next().unwrap());
    let shown = page(&app, &cookie, &address).await;
    for part in ["An erased document", "No reason was recorded.", "1 version", "Version <!>2", "Version <!>1"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("Zanzibar") && !shown.contains("discord-777"), "{shown}");
    let strange = address.replace("/agents/iris/", "/agents/otto/");
    for gone in [to.replace("/api/", "/").replace("/document?", "?"), strange, format!("{address}0")] {
        let answer = app.http.get(format!("{}{gone}", app.url)).header("cookie", &cookie).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{gone}");
    }
}

/// Makes the next version of a document over the API. `base` is the version before it.
async fn put(app: &App, path: &str, base: u64, text: &str) {
    let write = json!({ "baseVersion": base, "text": text });
    let to = format!("/api/agents/iris/memory/document?path={path}");
    let written = app.request(Who::Operator, Method::PUT, &to).json(&write).send().await.unwrap();
    assert!(written.status().is_success(), "{base}: {}", written.text().await.unwrap());
}

/// Posts a form of a document that is refused because of a conflict. Returns the page.
async fn conflict(browser: &Browser<'_>, form: &[(&str, &str)]) -> String {
    let refused = browser.ask(Method::POST, "/agents/iris/memory", form).await;
    assert_eq!(refused.status(), StatusCode::CONFLICT, "{form:?}");
    refused.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revert_rename_or_deletion_that_someone_overtook_says_what_to_do() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let path = ("path", "topics/tea.md");
    put(&app, path.1, 0, "green tea").await;
    put(&app, path.1, 1, "black coffee").await;

    let revert = [("step", "revert"), path, ("baseVersion", "1"), ("toVersion", "1")];
    let shown = conflict(&ada, &revert).await;
    assert!(shown.contains("\ngreen tea</textarea>"), "{shown}");
    assert!(shown.contains("has the text of version 1") && !shown.contains("keeps your text"), "{shown}");
    assert!(shown.contains("name=\"baseVersion\" value=\"2\""), "{shown}");

    let delete = [("step", "delete"), path, ("baseVersion", "1")];
    let rename = [("step", "rename"), path, ("baseVersion", "1"), ("newPath", "topics/drinks.md")];
    for form in [&delete[..], &rename[..]] {
        let shown = conflict(&ada, form).await;
        assert!(!shown.contains("Saving again replaces it"), "{shown}");
        for part in ["Nothing was renamed or deleted.", "black coffee", "name=\"baseVersion\" value=\"2\""] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
    assert!(conflict(&ada, &rename).await.contains("value=\"topics/drinks.md\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_whose_document_was_renamed_or_erased_meanwhile_is_kept_in_the_form() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    for path in ["topics/tea.md", "topics/coffee.md"] {
        put(&app, path, 0, "before").await;
    }
    let rename = json!({ "path": "topics/tea.md", "newPath": "topics/drinks.md", "baseVersion": 1 });
    app.post(Who::Operator, "/api/agents/iris/memory/rename", rename).await;
    app.post(Who::Admin, "/api/agents/iris/memory/erase", json!({ "path": "topics/coffee.md" })).await;
    for path in ["topics/tea.md", "topics/coffee.md"] {
        for step in ["save", "preview"] {
            let typed = [("text", "long typed words"), ("reason", "typed reason")];
            let form = [&[("step", step), ("path", path), ("baseVersion", "1")][..], &typed[..]].concat();
            let shown = conflict(&ada, &form).await;
            let value = format!("value=\"{path}\"");
            let says = "This document was renamed or erased meanwhile.";
            for part in [says, "\nlong typed words</textarea>", "value=\"typed reason\"", &value, "value=\"create\""] {
                assert!(shown.contains(part), "{step} {part}: {shown}");
            }
        }
        let gone = ada.ask(Method::GET, &format!("/agents/iris/memory?path={path}"), &[]).await;
        assert_eq!(gone.status(), StatusCode::NOT_FOUND, "nothing was saved at {path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_of_a_document_leads_to_its_first_version() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    for base in 0..52 {
        put(&app, "topics/tea.md", base, &format!("Cup {base}")).await;
    }
    let history = "/agents/iris/memory?path=topics%2Ftea.md&view=history";
    let newest = ada.page(history).await;
    let first = "name=\"toVersion\" value=\"1\"";
    let older = format!("{history}&before=3");
    let link = format!("href=\"{}\"", older.replace('&', "&amp;"));
    assert!(newest.contains(&link) && newest.contains("Older versions") && !newest.contains(first), "{newest}");
    let oldest = ada.page(&older).await;
    assert!(oldest.contains(first) && oldest.contains("Newest versions"), "{oldest}");
    assert!(!oldest.contains("Older versions") && oldest.contains("Version 2 beside version 1"), "{oldest}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_see_and_correct_what_is_remembered_of_them_and_ask_to_be_forgotten() {
    let app = App::start();
    add_person(&app, "mia@acme.test");
    let mia = Browser::of(&app, "mia@acme.test").await;
    let me: Value = serde_json::from_str(&mia.page("/api/me").await).unwrap();
    let id = me["user"]["id"].as_str().unwrap();
    assert!(mia.page("/memory").await.contains("No agent has a document about you."));
    let path = format!("people/shiftbook-{id}.md");
    let write = json!({ "baseVersion": 0, "text": "# Mia\n\n- Lives in Oslo\n", "reason": "" });
    let to = format!("/api/agents/iris/memory/document?path={path}");
    let written = app.request(Who::Operator, Method::PUT, &to).json(&write).send().await.unwrap();
    assert!(written.status().is_success(), "{}", written.text().await.unwrap());

    let shown = mia.page("/memory").await;
    assert!(shown.contains("remembers of you") && shown.contains("Correct it"), "{shown}");
    let page = "/agents/iris/memory";
    let typed = [
        ("step", "save"),
        ("path", path.as_str()),
        ("baseVersion", "1"),
        ("text", "# Mia\n\n- Lives in Bergen\n"),
        ("reason", ""),
    ];
    let saved = mia.ask(Method::POST, page, &typed).await;
    assert_eq!(saved.status(), StatusCode::SEE_OTHER);
    let read = app.request(Who::Operator, Method::GET, &to).send().await.unwrap().text().await.unwrap();
    assert!(read.contains("Lives in Bergen"), "{read}");
    let other = [("step", "create"), ("path", "topics/x.md"), ("baseVersion", "0"), ("text", "x"), ("reason", "")];
    assert_eq!(mia.ask(Method::POST, page, &other).await.status(), StatusCode::FORBIDDEN);

    let ada = Browser::of(&app, "ada@acme.test").await;
    for (step, says, is_listed) in [
        ("ask", "You asked to be forgotten", true),
        ("withdraw", "Your request is withdrawn.", false),
        ("ask", "An admin is told", true),
    ] {
        let answer = mia.ask(Method::POST, "/memory/forget-me", &[("step", step)]).await;
        assert_eq!(answer.status(), StatusCode::SEE_OTHER, "{step}");
        let shown = mia.page(answer.headers()["location"].to_str().unwrap()).await;
        assert!(shown.contains(says), "{step}: {shown}");
        assert!(!shown.contains("asks to be forgotten."), "only admins are told: {shown}");
        assert_eq!(ada.page("/memory").await.contains("1 person asks to be forgotten."), is_listed, "{step}");
        let listed = ada.page("/memory/forget").await;
        assert_eq!(listed.contains(&format!("/memory/forget?person=shiftbook-{id}")), is_listed, "{step}: {listed}");
    }
}
