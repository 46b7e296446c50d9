//! Pages as a browser without scripts receives them.

use crate::{
    app::{App, Who},
    browser::Browser,
};
use chrono::{DateTime, TimeDelta, Utc};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// Number of events on one page of a transcript.
const PAGE_EVENTS: u64 = 200;

/// Appends messages with the numbers `from` to `to` (exclusive) to a session in its first attempt.
async fn say(app: &App, id: &str, from: u64, to: u64) {
    let message = |n| json!({ "type": "agent.message", "content": [{ "type": "text", "text": format!("said {n}.") }] });
    let events: Vec<_> = (from..to).map(message).collect();
    app.post(Who::Worker, &format!("/api/sessions/{id}/events"), json!({ "attempt": 1, "events": events })).await;
}

#[tokio::test]
async fn the_icon_is_served_where_every_page_says_it_is() {
    let app = App::start();
    let page = app.request(Who::Anonymous, Method::GET, "/sign-in").send().await.unwrap().text().await.unwrap();
    assert!(page.contains("href=\"/favicon.svg\""), "{page}");
    let icon = app.request(Who::Anonymous, Method::GET, "/favicon.svg").send().await.unwrap();
    assert_eq!((icon.status().as_u16(), &icon.headers()["content-type"]), (200, &"image/svg+xml".parse().unwrap()));
    assert_eq!(icon.headers()["cache-control"], "public, max-age=86400");
    assert!(icon.text().await.unwrap().contains("<svg"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transcript_opens_at_its_end_while_it_goes_on_and_at_its_start_when_it_has_ended() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let id = app.running(Who::Member).await;
    say(&app, &id, 0, 2 * PAGE_EVENTS).await;
    let path = format!("/sessions/{id}");
    let newest = format!("said {}.", 2 * PAGE_EVENTS - 1);

    let page = ada.page(&path).await;
    assert!(page.contains(" data-end") && page.contains(&newest) && !page.contains("said 0."));

    app.post(Who::Worker, &format!("{}/complete", path.replace("/sessions", "/api/sessions")), json!({ "attempt": 1 }))
        .await;
    let page = ada.page(&path).await;
    assert!(page.contains("said 0.") && !page.contains(&newest) && !page.contains(" data-end"));
    let later = page.split("id=\"later\" href=\"").nth(1).unwrap_or_else(|| panic!("{page}"));
    let later = later.split('"').next().unwrap().to_owned();
    let next = ada.page(&later).await;
    assert!(next.contains(&format!("said {}.", PAGE_EVENTS)) && !next.contains("said 0."), "{later}");
    assert!(next.contains("id=\"earlier\""));
    assert!(ada.page(&format!("{path}?at=end")).await.contains(&newest));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_session_opens_at_its_top_and_links_to_the_error_it_failed_with() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let id = app.running(Who::Member).await;
    say(&app, &id, 0, 2 * PAGE_EVENTS).await;
    let fail = json!({ "attempt": 1, "error": { "message": "The disk is full" } });
    app.post(Who::Worker, &format!("/api/sessions/{id}/fail"), fail).await;
    let page = ada.page(&format!("/sessions/{id}")).await;
    assert!(!page.contains(" data-end"));
    let error = page.split("class=\"session-error\"").nth(1).unwrap().split("data-part").next().unwrap();
    assert!(error.contains("The disk is full"), "{error}");
    let at = error.split("href=\"#").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let row = page.split(&format!("id=\"{at}\"")).nth(1).unwrap().split("</li>").next().unwrap();
    assert!(row.contains("session.error") && row.contains("The disk is full"), "{row}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_moving_parts_of_a_session_bring_counts_result_and_whether_it_is_queued() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let new = json!({ "sessionType": "agent", "agentSlug": "mover", "title": "Moves" });
    let made = app.post(Who::Member, "/api/sessions", new).await;
    let id = made["id"].as_str().unwrap();
    let parts = async || ada.page(&format!("/sessions/{id}/summary")).await;
    let shown = |html: &str, part: &str| {
        let part = html.split(&format!("data-part=\"{part}\"")).nth(1).unwrap_or_else(|| panic!("{part}: {html}"));
        part.split('>').nth(1).unwrap().split('<').next().unwrap().to_owned()
    };
    let page = ada.page(&format!("/sessions/{id}")).await;
    for html in [page, parts().await] {
        assert!(html.contains("Queued. Events appear here"), "{html}");
        assert_eq!(shown(&html, "kind-messages"), "0");
    }
    app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["mover"] })).await;
    say(&app, id, 0, 3).await;
    let running = parts().await;
    assert_eq!(shown(&running, "kind-messages"), "3");
    assert!(!running.contains("Queued. Events appear here") && !running.contains("Result"), "{running}");
    let done = json!({ "attempt": 1, "result": { "answer": "forty-two" } });
    app.post(Who::Worker, &format!("/api/sessions/{id}/complete"), done).await;
    let ended = parts().await;
    assert!(ended.contains("Result") && ended.contains("forty-two"), "{ended}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_sessions_tell_runs_of_one_action_apart() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let new = json!({ "name": "Weekly report", "slug": "weekly", "agentSlug": "weekly" });
    let action = app.post(Who::Operator, "/api/actions", new).await;
    let trigger = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    for week in [46, 47] {
        app.post(Who::Operator, &trigger, json!({ "input": { "week": week } })).await;
        let claimed = app.post(Who::Worker, "/api/sessions/claim", json!({ "agentSlugs": ["weekly"] })).await;
        let id = claimed["sessions"][0]["session"]["id"].as_str().unwrap().to_owned();
        if week == 46 {
            let fail = json!({ "attempt": 1, "error": { "message": "No figures yet" } });
            app.post(Who::Worker, &format!("/api/sessions/{id}/fail"), fail).await;
        } else {
            let done = json!({ "attempt": 1, "result": { "text": "Done" }, "usage": { "costUsd": 0.42 } });
            app.post(Who::Worker, &format!("/api/sessions/{id}/complete"), done).await;
        }
    }
    let page = ada.page("/sessions").await;
    for words in ["week: 46", "No figures yet", "week: 47", "$0.42"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[tokio::test]
async fn a_program_reads_the_settings_of_a_server_that_sends_e_mail() {
    let smtp = "[smtp]\nhost = \"127.0.0.1\"\nport = 2525\ntls = \"none\"\nfrom = \"Shiftbook <log@example.org>\"\n";
    let app = App::start_with(&format!("public_url = \"https://log.example.org\"\n{smtp}"), &[], &[]);
    let page = app.request(Who::Admin, Method::GET, "/settings").send().await.unwrap();
    let (status, page) = (page.status().as_u16(), page.text().await.unwrap());
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("API tokens get no e-mail") && page.contains("Invite"), "{page}");
    let ada = Browser::of(&app, "ada@acme.test").await.page("/settings").await;
    assert!(ada.contains("E-mail me when something needs my decision"), "{ada}");
}

/// The binary has the compressed forms alone. The name of a file changes with its content, so browsers keep it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_the_site_has_the_same_content_in_every_form_and_is_kept() {
    let app = App::start();
    let page = Browser::of(&app, "ada@acme.test").await.page("/today").await;
    for (ending, kind) in
        [(".css", "text/css; charset=utf-8"), (".js", "text/javascript; charset=utf-8"), (".wasm", "application/wasm")]
    {
        let path = page.split('"').find(|part| part.starts_with("/pkg/") && part.ends_with(ending));
        let path = path.unwrap_or_else(|| panic!("no {ending} in {page}"));
        let get = async |coding: &str| {
            let sent =
                app.http.get(format!("{}{path}", app.url)).header("accept-encoding", coding).send().await.unwrap();
            assert!(sent.status().is_success(), "{path}, {coding}: {}", sent.status());
            let header = |name: &str| sent.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
            assert_eq!(header("cache-control").as_deref(), Some("public, max-age=31536000, immutable"), "{path}");
            assert_eq!(header("content-type").as_deref(), Some(kind), "{path}");
            let (coded, tag) = (header("content-encoding"), header("etag").unwrap());
            (coded, tag, sent.bytes().await.unwrap())
        };
        // The client unpacks what is sent with gzip.
        let (plain_coding, plain_tag, plain) = get("identity").await;
        let (_, gzip_tag, unpacked) = get("gzip").await;
        let (brotli_coding, brotli_tag, packed) = get("gzip, br").await;
        assert_eq!((plain_coding, brotli_coding.as_deref()), (None, Some("br")), "{path}");
        assert!(plain_tag != gzip_tag && gzip_tag != brotli_tag, "{plain_tag} {gzip_tag} {brotli_tag}");
        assert!(unpacked == plain && plain.len() > packed.len(), "{path}: {} and {}", unpacked.len(), plain.len());
    }
}

#[tokio::test]
async fn a_file_of_the_site_without_compression_is_the_same_each_time_and_is_not_sent_to_who_has_it() {
    let app = App::start();
    let page = app.http.get(format!("{}/sign-in", app.url)).send().await.unwrap().text().await.unwrap();
    let path = page.split('"').find(|part| part.starts_with("/pkg/") && part.ends_with(".css")).unwrap().to_owned();
    let get = async |known: Option<&str>| {
        let mut request = app.http.get(format!("{}{path}", app.url)).header("accept-encoding", "identity");
        if let Some(tag) = known {
            request = request.header("if-none-match", tag);
        }
        let sent = request.send().await.unwrap();
        let (status, tag) = (sent.status().as_u16(), sent.headers()["etag"].to_str().unwrap().to_owned());
        (status, tag, sent.bytes().await.unwrap())
    };
    let (first, again) = (get(None).await, get(None).await);
    assert!(first.0 == 200 && !first.2.is_empty() && first == again, "{} and {}", first.1, again.1);
    for _ in 0..2 {
        let (status, tag, body) = get(Some(first.1.as_str())).await;
        assert_eq!((status, &tag, body.len()), (304, &first.1, 0));
    }
    let (status, tag, body) = get(Some("\"another\"")).await;
    assert_eq!((status, tag, body), first);
}

#[tokio::test]
async fn a_text_that_is_not_a_day_stays_in_a_field_that_became_a_date() {
    let app = App::start();
    let ada = Browser::of(&app, "ada@acme.test").await;
    let due = |kind: &str| json!([{ "slug": "due", "name": "Due", "type": kind }]);
    let new = json!({ "name": "Deal", "fields": due("text") });
    let of = app.post(Who::Operator, "/api/entity-types", new).await;
    let new = json!({ "typeId": of["id"], "title": "Acme", "fields": { "due": "next Friday" } });
    let made = app.post(Who::Operator, "/api/entities", new).await;
    let change = json!({ "version": of["version"], "fields": due("date") });
    let types = format!("/api/entity-types/{}", of["id"].as_str().unwrap());
    let changed = app.request(Who::Operator, Method::PATCH, &types).json(&change).send().await.unwrap();
    assert!(changed.status().is_success(), "{}", changed.text().await.unwrap());
    let path = format!("/entities/{}", made["id"].as_str().unwrap());
    let page = ada.page(&path).await;
    let (_, control) = page.split_once("name=\"fields.due\"").unwrap_or_else(|| panic!("{page}"));
    let control = control.split('>').next().unwrap();
    assert!(control.contains("value=\"next Friday\"") && !control.contains("type=\"date\""), "{control}");
    let form = [("version", "1"), ("title", "Acme Inc"), ("fields.due", "next Friday")];
    let saved = ada.ask(Method::POST, &path, &form).await;
    assert_eq!(saved.status(), StatusCode::SEE_OTHER);
    let entity = app.request(Who::Operator, Method::GET, &format!("/api{path}")).send().await.unwrap();
    let entity: Value = entity.json().await.unwrap();
    assert_eq!((&entity["title"], &entity["fields"]["due"]), (&json!("Acme Inc"), &json!("next Friday")));
}

#[tokio::test]
async fn days_of_the_list_of_sessions_are_the_readers_and_utc_without_a_known_time_zone() {
    let app = App::start();
    let cookie = app.cookie().await;
    let action = json!({ "name": "Look", "slug": "look", "agentSlug": "scout" });
    let action = app.post(Who::Operator, "/api/actions", action).await;
    let trigger = format!("/api/actions/{}/trigger", action["id"].as_str().unwrap());
    let session = app.post(Who::Member, &trigger, json!({})).await["id"].as_str().unwrap().to_owned();
    let cancelled = app.post(Who::Operator, &format!("/api/sessions/{session}/cancel"), json!({})).await;
    let ended: DateTime<Utc> = cancelled["completedAt"].as_str().unwrap().parse().unwrap();
    let read = async |query: &str, zone: &str| {
        let request = app.http.get(format!("{}/sessions?{query}", app.url));
        request.header("cookie", format!("{cookie}{zone}")).send().await.unwrap().text().await.unwrap()
    };
    let row = format!("data-session-id=\"{session}\"");
    // No instant has the same date in both.
    for (zone, hours) in [("Pacific/Kiritimati", 14), ("Pacific/Pago_Pago", -11)] {
        let own = format!("; timezone={zone}");
        for after in [-1, 0, 1] {
            let day = (ended + TimeDelta::hours(hours)).date_naive() + TimeDelta::days(after);
            let query = format!("ended={day}");
            let page = read(&query, &own).await;
            assert_eq!(page.contains(&row), after == 0, "{zone}, {day}: {page}");
            assert!(page.contains(&format!(">Ended on {day}<")), "{page}");
            // An address with a time zone shows everyone the same list.
            let shared = read(&format!("{query}&zone={zone}"), "").await;
            assert_eq!(shared.contains(&row), after == 0, "{zone}, {day}: {shared}");
            assert!(shared.contains(&format!(">Ended on {day} ({zone})<")), "{shared}");
        }
    }
    let day = ended.date_naive();
    for zone in ["", "; timezone=Mars/Olympus"] {
        let page = read(&format!("ended={day}"), zone).await;
        assert!(page.contains(&row) && page.contains(&format!(">Ended on {day} (UTC)<")), "{page}");
    }
}
