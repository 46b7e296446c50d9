//! Granting and withdrawing access, as browsers and programs see it.

use crate::{
    app::{App, PASSWORD, Who, problem},
    browser::{Browser, add_person, add_person_to, shown_at},
};
use futures_util::FutureExt;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

const ADA: &str = "ada@acme.test";
const MIA: &str = "mia@acme.test";
const NEW: &str = "a better password";

/// Returns the secret with this prefix that a page shows.
fn secret(page: &str, prefix: &str) -> String {
    let at = page.find(prefix).unwrap_or_else(|| panic!("no {prefix} in {page}"));
    page[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}

/// Returns the secret of a new token from the answer of the settings page, which passes it on in a cookie.
fn new_token(answer: &Response) -> String {
    let cookies = answer.headers().get_all("set-cookie").iter().map(|cookie| cookie.to_str().unwrap());
    secret(&cookies.collect::<Vec<_>>().join("; "), "sbk_")
}

async fn id_of(app: &App, email: &str) -> String {
    let members: Value =
        app.request(Who::Admin, Method::GET, "/api/members").send().await.unwrap().json().await.unwrap();
    let found = members["members"].as_array().unwrap().iter().find(|member| member["email"] == email);
    found.unwrap()["id"].as_str().unwrap().to_owned()
}

fn leads(answer: &Response) -> (StatusCode, &str) {
    (answer.status(), answer.headers().get("location").map_or("nowhere", |to| to.to_str().unwrap()))
}

#[tokio::test]
async fn everything_of_a_removed_member_stops() {
    let app = App::start();
    add_person(&app, MIA);
    let mia = Browser::of(&app, MIA).await;
    let form = [("name", "laptop"), ("role", "member"), ("for_me", "yes")];
    let own = new_token(&mia.ask(Method::POST, "/settings/tokens", &form).await);
    let session = app.running(Who::Member).await;
    let follow = |path: String| {
        let cookie = mia.jar[0].0.clone();
        app.http.get(format!("{}{path}", app.url)).header("cookie", cookie).send()
    };
    let mut streams = Vec::new();
    for path in ["/api/live".to_owned(), format!("/api/sessions/{session}/events/stream")] {
        let stream = follow(path).await.unwrap();
        assert_eq!(stream.status(), StatusCode::OK);
        streams.push(stream);
    }
    let of_token = app.http.get(format!("{}/api/live", app.url)).bearer_auth(&own).send().await.unwrap();
    assert_eq!(of_token.status(), StatusCode::OK);
    streams.push(of_token);
    let waiting = app.http.post(format!("{}/api/sessions/claim", app.url)).bearer_auth(&own);
    let refused = waiting.json(&json!({ "agentSlugs": ["nobody"] })).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::FORBIDDEN, "a member's token claims nothing");

    let id = id_of(&app, MIA).await;
    let removed = app.request(Who::Admin, Method::DELETE, &format!("/api/members/{id}")).send().await.unwrap();
    assert_eq!(removed.status(), StatusCode::NO_CONTENT);

    // Each stream sends `bye` as its last event and ends.
    for stream in streams {
        let text = stream.text().await.unwrap();
        assert!(text.trim_end().ends_with("data: {}") && text.contains("event: bye"), "{text}");
    }
    assert_eq!(leads(&mia.ask(Method::GET, "/today", &[]).await).1, "/sign-in?next=%2Ftoday");
    let by_token = app.http.get(format!("{}/api/me", app.url)).bearer_auth(&own).send().await.unwrap();
    assert_eq!(by_token.status(), StatusCode::UNAUTHORIZED);
    let again = mia.ask(Method::POST, "/sign-in", &[("email", MIA), ("password", PASSWORD)]).await;
    assert_eq!(again.status(), StatusCode::FORBIDDEN);
    let ada = Browser::of(&app, ADA).await;
    let settings = ada.page("/settings").await;
    assert!(!settings.contains(&format!("/settings/members/{id}")), "no member any more");
    assert!(settings.contains(&format!("for {MIA}")), "her token keeps her name");
}

#[tokio::test]
async fn a_removal_by_the_command_line_ends_open_streams_before_their_heartbeat() {
    let app = App::start();
    add_person(&app, MIA);
    let mia = Browser::of(&app, MIA).await;
    let session = app.running(Who::Member).await;
    let followed = format!("/api/sessions/{session}/events/stream");
    // Opened first, so that its heartbeat comes before those of the others.
    let mut still_open = app.request(Who::Member, Method::GET, &followed).send().await.unwrap();
    let mut streams = Vec::new();
    for path in ["/api/live".to_owned(), followed] {
        let follow = app.http.get(format!("{}{path}", app.url)).header("cookie", mia.jar[0].0.clone());
        streams.push(follow.send().await.unwrap());
    }
    let removed = app.cli().args(["user", "remove", "--tenant", "acme", "--email", MIA]).output().unwrap();
    assert!(removed.status.success(), "{}", String::from_utf8_lossy(&removed.stderr));
    for stream in streams {
        let text = stream.text().await.unwrap();
        assert!(text.contains("event: bye"), "{text}");
    }
    let mut read = String::new();
    while let Some(chunk) = still_open.chunk().now_or_never() {
        read.push_str(&String::from_utf8_lossy(&chunk.unwrap().unwrap()));
    }
    assert!(!read.lines().any(|line| line.starts_with(':')), "it took until a heartbeat: {read}");
}

#[tokio::test]
async fn a_sign_out_and_another_workspace_end_open_streams_before_their_heartbeat() {
    let app = App::start();
    add_person(&app, MIA);
    add_person_to(&app, "other", MIA);
    let session = app.running(Who::Member).await;
    let followed = format!("/api/sessions/{session}/events/stream");
    for (path, form) in [("/sign-out", vec![]), ("/workspace", vec![("slug", "other")])] {
        let mia = Browser::of(&app, MIA).await;
        // Opened first, so that its heartbeat comes before those of the others.
        let mut still_open = app.request(Who::Member, Method::GET, &followed).send().await.unwrap();
        let mut streams = Vec::new();
        for stream in ["/api/live", followed.as_str()] {
            let follow = app.http.get(format!("{}{stream}", app.url)).header("cookie", mia.jar[0].0.clone());
            streams.push(follow.send().await.unwrap());
        }
        assert_eq!(mia.ask(Method::POST, path, &form).await.status(), StatusCode::SEE_OTHER, "{path}");
        for stream in streams {
            let text = stream.text().await.unwrap();
            assert!(text.contains("event: bye"), "{path}: {text}");
        }
        let mut read = String::new();
        while let Some(chunk) = still_open.chunk().now_or_never() {
            read.push_str(&String::from_utf8_lossy(&chunk.unwrap().unwrap()));
        }
        assert!(!read.lines().any(|line| line.starts_with(':')), "{path}: it took until a heartbeat: {read}");
    }
}

#[tokio::test]
async fn a_stream_that_is_read_slowly_ends_before_the_rest_of_the_log() {
    let app = App::start();
    add_person(&app, MIA);
    let mia = Browser::of(&app, MIA).await;
    let session = app.running(Who::Member).await;
    // More than the buffers of a connection hold: 32 batches of almost 1 MiB.
    let text = "x".repeat(240 * 1024);
    let event = json!({ "type": "agent.message", "content": [{ "type": "text", "text": text }] });
    let batch = json!({ "attempt": 1, "events": vec![event; 4] });
    for _ in 0..32 {
        app.post(Who::Worker, &format!("/api/sessions/{session}/events"), batch.clone()).await;
    }
    let last = json!({ "type": "agent.message", "content": [{ "type": "text", "text": "the end of the log" }] });
    let last = json!({ "attempt": 1, "events": [last] });
    app.post(Who::Worker, &format!("/api/sessions/{session}/events"), last).await;
    let follow = app.http.get(format!("{}/api/sessions/{session}/events/stream", app.url));
    let stream = follow.header("cookie", mia.jar[0].0.clone()).send().await.unwrap();
    assert_eq!(stream.status(), StatusCode::OK);

    let id = id_of(&app, MIA).await;
    let removed = app.request(Who::Admin, Method::DELETE, &format!("/api/members/{id}")).send().await.unwrap();
    assert_eq!(removed.status(), StatusCode::NO_CONTENT);

    let read = stream.text().await.unwrap();
    assert!(read.contains("event: bye"), "{} bytes", read.len());
    assert!(!read.contains("the end of the log"), "{} bytes", read.len());
}

#[tokio::test]
async fn a_worker_that_waits_with_a_removed_members_token_gets_nothing() {
    let app = App::start();
    add_person(&app, MIA);
    let id = id_of(&app, MIA).await;
    let operator = json!({ "role": "operator" });
    app.request(Who::Admin, Method::PATCH, &format!("/api/members/{id}")).json(&operator).send().await.unwrap();
    let mia = Browser::of(&app, MIA).await;
    let form = [("name", "laptop"), ("role", "operator"), ("scope", "worker"), ("for_me", "yes")];
    let own = new_token(&mia.ask(Method::POST, "/settings/tokens", &form).await);
    let claim = json!({ "agentSlugs": ["scout"], "waitSeconds": 5 });
    let waiting = app.http.post(format!("{}/api/sessions/claim", app.url)).bearer_auth(&own).json(&claim).send();
    let work = async {
        app.request(Who::Admin, Method::DELETE, &format!("/api/members/{id}")).send().await.unwrap();
        app.post(Who::Operator, "/api/sessions", json!({ "sessionType": "agent", "agentSlug": "scout" })).await
    };
    let (claimed, made) = tokio::join!(waiting, work);
    assert_eq!(claimed.unwrap().status(), StatusCode::UNAUTHORIZED);
    let session = app.request(Who::Operator, Method::GET, &format!("/api/sessions/{}", made["id"].as_str().unwrap()));
    let session: Value = session.send().await.unwrap().json().await.unwrap();
    assert_eq!(session["status"], "pending", "it waits for somebody else");
}

#[tokio::test]
async fn an_invitation_is_a_link_that_works_once_and_leaks_nowhere() {
    let app = App::start_with("", &[], &[("SHIFTBOOK_LOG", "debug")]);
    let mut ada = Browser::of(&app, ADA).await;
    let made = ada.post("/settings/invitations", &[("email", "eve@acme.test"), ("role", "reviewer")]).await;
    let address = shown_at(&made, "/settings", "#new-link");
    assert!(!ada.page("/settings").await.contains("sbl_"), "another address does not show it");
    let shown = ada.ask_and_keep(Method::GET, &address, &[]).await;
    let page = shown.text().await.unwrap();
    assert!(page.contains("Send it to eve@acme.test yourself"), "{page}");
    let link = secret(&page, "sbl_");
    assert!(page.contains(&format!("{}/link/{link}", app.url)));
    let again = ada.page(&address).await;
    assert!(!again.contains(&link), "it is shown once");
    assert_eq!(again.matches("/withdraw").count(), 1, "loading the page again invites nobody");

    let mut eve = Browser::stranger(&app);
    let entered = eve.ask_and_keep(Method::GET, &format!("/link/{link}"), &[]).await;
    assert_eq!(leads(&entered), (StatusCode::SEE_OTHER, "/link"));
    assert_eq!(entered.headers()["referrer-policy"], "no-referrer");
    assert_eq!(entered.headers()["cache-control"], "no-store");
    let page = eve.page("/link").await;
    assert!(page.contains("Join acme") && page.contains("eve@acme.test") && !page.contains(&link), "{page}");
    let short = eve.ask(Method::POST, "/link", &[("name", "Eve"), ("password", "short")]).await;
    assert_eq!(short.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let page = short.text().await.unwrap();
    assert!(page.contains("value=\"Eve\"") && !page.contains("short"), "{page}");
    let mut copied = Browser::stranger(&app);
    copied.jar = eve.jar.clone();
    let joined = eve.post("/link", &[("name", "Eve"), ("password", NEW)]).await;
    assert_eq!(leads(&joined), (StatusCode::SEE_OTHER, "/today?notice=joined"));
    assert!(eve.jar.iter().any(|(pair, _)| pair == "sbk_link="), "the browser forgets the link");
    eve.jar.retain(|(pair, _)| pair.starts_with("sbk_session="));
    assert!(eve.page("/settings").await.contains("Eve"));

    let late = copied.ask(Method::POST, "/link", &[("name", "Mallory"), ("password", NEW)]).await;
    assert_eq!(late.status(), StatusCode::GONE);
    let junk = copied.ask(Method::GET, "/link/sbl_no;thing", &[]).await;
    assert_eq!(junk.status(), StatusCode::GONE);
    let log = app.log();
    assert!(log.contains("/link/{secret}") && !log.contains(&link), "the log names the route alone");
}

#[tokio::test]
async fn of_two_tabs_that_make_a_secret_at_the_same_time_each_shows_its_own() {
    let app = App::start();
    let mut ada = Browser::of(&app, ADA).await;
    let mut tabs = Vec::new();
    for name in ["one", "two"] {
        let made = ada.post("/settings/tokens", &[("name", name), ("role", "member"), ("for_me", "yes")]).await;
        tabs.push((shown_at(&made, "/settings", "#new-token"), new_token(&made)));
    }
    // Both forms are answered before either tab follows its redirect.
    let [(first, of_first), (second, of_second)] = &tabs[..] else { panic!("{tabs:?}") };
    assert_ne!(of_first, of_second);
    for (address, own, other) in [(first, of_first, of_second), (second, of_second, of_first)] {
        let shown = ada.ask_and_keep(Method::GET, address, &[]).await.text().await.unwrap();
        assert!(shown.contains(own) && !shown.contains(other), "{shown}");
        assert!(!ada.page(address).await.contains(own), "it is shown once");
    }
    ada.page("/settings?made=no;id&made=%00").await;
}

#[tokio::test]
async fn a_reset_link_ends_all_other_sign_ins() {
    let app = App::start();
    add_person(&app, MIA);
    let old = Browser::of(&app, MIA).await;
    let words = ["user", "reset-link", "--tenant", "acme", "--email", MIA, "--public-url", &app.url];
    let output = app.cli().args(words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let link = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let path = link.strip_prefix(&app.url).unwrap();
    let mut fresh = Browser::stranger(&app);
    fresh.ask_and_keep(Method::GET, path, &[]).await;
    assert!(fresh.page("/link").await.contains("Choose a new password"));
    let done = fresh.post("/link", &[("password", NEW)]).await;
    assert_eq!(leads(&done), (StatusCode::SEE_OTHER, "/today?notice=password_changed"));
    assert_eq!(old.ask(Method::GET, "/today", &[]).await.status(), StatusCode::SEE_OTHER, "signed out");
    fresh.jar.retain(|(pair, _)| pair.starts_with("sbk_session="));
    fresh.page("/today").await;
    for (password, expected) in [(PASSWORD, StatusCode::UNAUTHORIZED), (NEW, StatusCode::SEE_OTHER)] {
        let answer = old.ask(Method::POST, "/sign-in", &[("email", MIA), ("password", password)]).await;
        assert_eq!(answer.status(), expected);
    }
    for (word, done) in [("deactivate", "is deactivated in acme"), ("activate", "is active in acme, as member")] {
        let output = app.cli().args(["user", word, "--tenant", "acme", "--email", MIA]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{MIA} {done}\n"));
    }
    let removed = app.cli().args(["user", "remove", "--tenant", "acme", "--email", MIA]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&removed.stdout), format!("{MIA} is removed from acme\n"));
    let unknown = app.cli().args(["user", "deactivate", "--tenant", "acme", "--email", MIA]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(1));
}

#[tokio::test]
async fn people_look_after_their_own_account() {
    let app = App::start();
    let other = Browser::of(&app, ADA).await;
    let mut ada = Browser::of(&app, ADA).await;
    let listed: Value = ada.ask(Method::GET, "/api/sign-ins", &[]).await.json().await.unwrap();
    let listed = listed["signIns"].as_array().unwrap();
    assert_eq!(listed.iter().filter(|sign_in| sign_in["isCurrent"] == true).count(), 1);
    let (status, _) = problem(app.request(Who::Admin, Method::GET, "/api/sign-ins").send().await.unwrap()).await;
    assert_eq!(status, 403, "a token has none");
    let ended = listed.iter().find(|sign_in| sign_in["isCurrent"] == false).unwrap()["id"].as_str().unwrap();
    let ended = ada.ask(Method::POST, &format!("/settings/sign-ins/{ended}/end"), &[]).await;
    assert_eq!(leads(&ended).1, "/settings?notice=sign_in_ended");
    assert_eq!(other.ask(Method::GET, "/today", &[]).await.status(), StatusCode::SEE_OTHER);

    ada.post("/settings/name", &[("name", "Ada <Lovelace>")]).await;
    assert!(ada.page("/today").await.contains("Ada &lt;Lovelace&gt;"));
    let wrong = ada.ask(Method::POST, "/settings/password", &[("current_password", "wrong"), ("password", NEW)]).await;
    assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text().await.unwrap().contains("is not your password"));
    let other = Browser::of(&app, ADA).await;
    let changed = ada.post("/settings/password", &[("current_password", PASSWORD), ("password", NEW)]).await;
    assert_eq!(leads(&changed).1, "/settings?notice=password_changed");
    assert_eq!(other.ask(Method::GET, "/today", &[]).await.status(), StatusCode::SEE_OTHER);
    ada.page("/today").await;
}

#[tokio::test]
async fn the_last_admin_stays_and_members_see_no_pages_of_members() {
    let app = App::start();
    add_person(&app, MIA);
    let (ada, mia) = (Browser::of(&app, ADA).await, Browser::of(&app, MIA).await);
    let (ada_id, mia_id) = (id_of(&app, ADA).await, id_of(&app, MIA).await);
    for (what, form) in [("remove", &[][..]), ("deactivate", &[]), ("role", &[("role", "member")])] {
        let refused = ada.ask(Method::POST, &format!("/settings/members/{ada_id}/{what}"), form).await;
        assert_eq!(refused.status(), StatusCode::CONFLICT, "{what}");
        assert!(refused.text().await.unwrap().contains("a workspace needs an admin"), "{what}");
    }
    let refused = app.request(Who::Admin, Method::DELETE, &format!("/api/members/{ada_id}")).send().await.unwrap();
    let (status, refusal) = problem(refused).await;
    assert_eq!((status, &refusal["code"]), (409, &json!("last_admin")));
    for path in [format!("/settings/members/{mia_id}"), format!("/settings/members/{ada_id}")] {
        assert_eq!(mia.ask(Method::GET, &path, &[]).await.status(), StatusCode::NOT_FOUND);
        ada.page(&path).await;
    }
    for what in ["remove", "deactivate", "activate", "reset-link"] {
        let refused = mia.ask(Method::POST, &format!("/settings/members/{mia_id}/{what}"), &[]).await;
        assert!([StatusCode::FORBIDDEN, StatusCode::NOT_FOUND].contains(&refused.status()), "{what}");
    }
    let (mut ada, page) = (ada, format!("/settings/members/{mia_id}"));
    let reset = ada.post(&format!("{page}/reset-link"), &[]).await;
    let address = shown_at(&reset, &page, "#new-link");
    let shown = ada.ask_and_keep(Method::GET, &address, &[]).await.text().await.unwrap();
    assert!(shown.contains("/link/sbl_") && shown.contains(&format!("Send it to {MIA} yourself")), "{shown}");
    assert!(!ada.page(&address).await.contains("/link/sbl_"), "it is shown once");
    let off = ada.ask(Method::POST, &format!("/settings/members/{mia_id}/deactivate"), &[]).await;
    assert_eq!(leads(&off).1, format!("/settings/members/{mia_id}?notice=member_deactivated"));
    assert!(ada.page(&format!("/settings/members/{mia_id}")).await.contains("Activate"));
}
