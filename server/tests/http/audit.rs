//! The audit list: over the API, on its page, and in `shiftbook verify`.

use crate::{
    app::{App, Who, problem},
    browser::{Browser, add_person},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::Raw;

const ADA: &str = "ada@acme.test";
const MIA: &str = "mia@acme.test";

async fn read(app: &App, query: &str) -> Value {
    let path = format!("/api/audit{query}");
    let answer = app.request(Who::Admin, Method::GET, &path).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    answer.json().await.unwrap()
}

async fn invite(app: &App, n: usize) {
    let body = json!({ "email": format!("guest-{n}@acme.test"), "role": "member" });
    app.post(Who::Admin, "/api/invitations", body).await;
}

#[tokio::test]
async fn admins_read_the_audit_list_page_by_page_and_others_do_not() {
    let app = App::start();
    for who in [Who::Member, Who::Reviewer, Who::Operator, Who::Worker] {
        let refused = app.request(who, Method::GET, "/api/audit").send().await.unwrap();
        let (status, problem) = problem(refused).await;
        assert_eq!((status, problem["code"].as_str()), (403, Some("forbidden")), "{who:?}");
    }
    for n in 0..7 {
        invite(&app, n).await;
    }
    let first = read(&app, "?kind=member.invited&limit=5").await;
    let items = first["items"].as_array().unwrap();
    assert_eq!(items.len(), 5);
    let sequences: Vec<_> = items.iter().map(|item| item["sequence"].as_u64().unwrap()).collect();
    assert!(sequences.windows(2).all(|pair| pair[0] == pair[1] + 1), "{sequences:?}");
    let newest = &items[0];
    assert_eq!((&newest["kind"], &newest["detail"]), (&json!("member.invited"), &json!({ "role": "member" })));
    assert!(newest["actor"].as_str().unwrap().starts_with("token:"), "{newest}");
    assert_eq!(
        (newest["target"]["kind"].as_str(), newest["digest"].as_str().unwrap().len()),
        (Some("access_link"), 64)
    );
    let cursor = first["nextCursor"].as_str().unwrap();
    let rest = read(&app, &format!("?kind=member.invited&limit=5&cursor={cursor}")).await;
    assert_eq!((rest["items"].as_array().unwrap().len(), &rest["nextCursor"]), (2, &Value::Null));
    let actor = newest["actor"].as_str().unwrap();
    assert_eq!(read(&app, &format!("?actor={actor}")).await["items"].as_array().unwrap().len(), 7);
    let after = items[1]["at"].as_str().unwrap();
    assert_eq!(read(&app, &format!("?after={after}")).await["items"].as_array().unwrap().len(), 1);
    for (query, field) in [
        ("?kind=made.up", "kind"),
        ("?actor=Ada", "actor"),
        ("?after=yesterday", "after"),
        ("?limit=0", "limit"),
        ("?cursor=x", "cursor"),
        ("?from=2026-01-01", "from"),
    ] {
        let answer = app.request(Who::Admin, Method::GET, &format!("/api/audit{query}")).send().await.unwrap();
        let (status, problem) = problem(answer).await;
        assert!(status == 400 || status == 422, "{query}: {problem}");
        assert!(problem.to_string().contains(field), "{query}: {problem}");
    }
}

/// Number of rows of the table of a page.
fn rows(page: &str) -> usize {
    page.matches("<tr>").count().saturating_sub(1)
}

/// The address of the link of the pager with this label.
fn link(page: &str, label: &str) -> Option<String> {
    let pager = page.split("aria-label=\"Pages\"").nth(1)?.split("</nav>").next()?;
    let before = &pager[..pager.find(label)?];
    let href = &before[before.rfind("href=\"")? + "href=\"".len()..];
    Some(href.split('"').next()?.replace("&amp;", "&"))
}

#[tokio::test]
async fn the_page_shows_fifty_entries_and_links_to_older_ones() {
    let app = App::start();
    let ada = Browser::of(&app, ADA).await;
    let invited = "/settings/audit?kind=member.invited&actor=";
    let empty = ada.page(invited).await;
    assert!(empty.contains("No entry matches this filter.") && rows(&empty) == 0, "{empty}");
    let mut made = 0;
    for count in [1, 2, 7, 60] {
        while made < count {
            invite(&app, made).await;
            made += 1;
        }
        let page = ada.page(invited).await;
        assert_eq!(rows(&page), count.min(50), "{count}");
        assert_eq!(link(&page, "Older").is_some(), count > 50, "{count}");
        assert!(link(&page, "Newest").is_none());
    }
    let page = ada.page(invited).await;
    assert!(page.contains("guest-59@acme.test") && !page.contains("guest-9@acme.test"), "newest first");
    let older = ada.page(&link(&page, "Older").unwrap()).await;
    assert_eq!((rows(&older), link(&older, "Older")), (10, None));
    assert_eq!(link(&older, "Newest").unwrap(), "/settings/audit?kind=member.invited");
    assert!(ada.page("/settings").await.contains("href=\"/settings/audit\""));
}

#[tokio::test]
async fn the_page_says_who_did_what_in_sentences_and_is_for_admins_alone() {
    let app = App::start();
    add_person(&app, MIA);
    let mut ada = Browser::of(&app, ADA).await;
    let mia = Browser::of(&app, MIA).await;
    assert_eq!(mia.ask(Method::GET, "/settings/audit", &[]).await.status(), StatusCode::FORBIDDEN);
    assert!(!mia.page("/settings").await.contains("/settings/audit"));
    ada.post("/settings/name", &[("name", "Ada <Lovelace>")]).await;
    let members: Value =
        app.request(Who::Admin, Method::GET, "/api/members").send().await.unwrap().json().await.unwrap();
    let members = members["members"].as_array().unwrap().clone();
    let id = members.iter().find(|one| one["email"] == MIA).unwrap()["id"].as_str().unwrap();
    ada.post(&format!("/settings/members/{id}/role"), &[("role", "reviewer")]).await;
    let page = ada.page("/settings/audit?kind=member.role_changed").await;
    let text = page.split("<tbody>").nth(1).unwrap().replace("<!>", "");
    assert!(text.contains("Ada &lt;Lovelace&gt;"), "{text}");
    let sentence = format!(
        "changed the role of <a dir=\"auto\" href=\"/settings/members/{id}\">{MIA}</a> from member to reviewer"
    );
    assert!(text.contains(&sentence), "{text}");
    ada.post(&format!("/settings/members/{id}/remove"), &[]).await;
    let page = ada.page("/settings/audit?kind=member.removed").await;
    let page = page.replace("<!>", "");
    assert!(page.contains(&format!("removed <span dir=\"auto\">{MIA}</span> from the workspace")), "{page}");
    let wrong = ada.ask(Method::GET, "/settings/audit?kind=made.up", &[]).await;
    assert!(wrong.status().is_client_error(), "{}", wrong.status());
}

#[tokio::test]
async fn a_refused_sign_in_is_recorded_with_its_address() {
    let app = App::start();
    let sign_in = async |email: &str| {
        let form = [("email", email), ("password", "wrong password")];
        let request = app.http.post(format!("{}/sign-in", app.url)).header("origin", &app.url).form(&form);
        request.header("x-forwarded-for", "203.0.113.7").send().await.unwrap().status()
    };
    for email in ["nobody@acme.test", ADA] {
        assert_eq!(sign_in(email).await, StatusCode::UNAUTHORIZED);
    }
    // The answer does not wait for the entry.
    let recorded = async {
        loop {
            let found = read(&app, "?kind=sign_in.refused").await;
            if found["items"].as_array().is_some_and(|items| !items.is_empty()) {
                return found;
            }
        }
    };
    let found = tokio::time::timeout(std::time::Duration::from_secs(20), recorded).await.expect("it is recorded");
    let items = found["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["actor"], &items[0]["target"]["kind"]), (1, &Value::Null, &json!("user")));
    assert_eq!(items[0]["detail"], json!({ "address": "203.0.113.7" }));
    let page = Browser::of(&app, ADA).await.page("/settings/audit?kind=sign_in.refused").await;
    assert!(page.contains("was refused a sign-in as") && page.contains("from 203.0.113.7"), "{page}");
}

#[tokio::test]
async fn a_download_of_responses_is_recorded_and_one_that_is_refused_or_sends_no_row_is_not() {
    let app = App::start();
    let fields = json!([{ "key": "name", "label": "Your name?", "type": "short_text" }]);
    let new = json!({ "title": "Feedback <2026>", "slug": "feedback", "fields": fields });
    let view = app.post(Who::Operator, "/api/views", new).await["id"].as_str().unwrap().to_owned();
    let path = format!("/api/views/{view}/responses.csv");
    let download = async |who: Who, query: &str| {
        app.request(who, Method::GET, &format!("{path}{query}")).send().await.unwrap().status()
    };
    assert_eq!(download(Who::Stranger, "").await, StatusCode::NOT_FOUND);
    assert_eq!(download(Who::Member, "?bom=x").await, StatusCode::UNPROCESSABLE_ENTITY);
    let head = app.request(Who::Member, Method::HEAD, &path).send().await.unwrap();
    assert_eq!(head.status(), StatusCode::OK);
    assert_eq!(read(&app, "?kind=responses.downloaded").await["items"], json!([]));
    assert_eq!(download(Who::Member, "").await, StatusCode::OK);
    let found = read(&app, "?kind=responses.downloaded").await;
    let items = found["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["target"]), (1, &json!({ "kind": "view", "id": view })));
    assert!(items[0]["actor"].as_str().unwrap().starts_with("token:"), "{found}");
    let page = Browser::of(&app, ADA).await.page("/settings/audit?kind=responses.downloaded").await.replace("<!>", "");
    let sentence = "downloaded the responses to <a dir=\"auto\" href=\"/views/feedback\">Feedback &lt;2026&gt;</a>";
    assert!(page.contains(sentence), "{page}");
}

#[tokio::test]
async fn verify_names_an_audit_entry_that_was_changed() {
    let mut app = App::start();
    invite(&app, 1).await;
    let sequence = read(&app, "?kind=member.invited").await["items"][0]["sequence"].as_u64().unwrap();
    app.terminate();
    app.wait();
    let verify = |app: &App| app.cli().arg("verify").output().unwrap();
    assert!(verify(&app).status.success());
    let mut raw = Raw::of_sqlite(&app.data_dir().join("shiftbook.sqlite3")).await;
    raw.forge_audit_entry(sequence).await;
    drop(raw);
    let output = verify(&app);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains(&format!("audit entry {sequence} was changed")), "{message}");
}
