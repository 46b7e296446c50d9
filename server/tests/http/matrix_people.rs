//! P-21: every operation of the OpenAPI document and every page, requested by people with their cookies as a browser
//! sends them. The expected table is in the repository; a route without a prepared request fails.

use crate::{
    app::{App, Who},
    people::{People, Person},
    prepare::{Sent, prepare},
    routes::{Route, documented, pages},
};
use reqwest::{Method, header::LOCATION};
use std::fmt::Write as _;

/// Routes at which no one in the table succeeds, and why.
const NO_ONE_SUCCEEDS: [(&str, &str, &str); 6] = [
    ("GET", "/setup", "the workspace is set up; `setup.rs` tests the first time"),
    ("POST", "/setup", "the same"),
    ("POST", "/api/mcp-servers/{slug}/refresh", "no MCP server runs; `mcp.rs` asks one"),
    ("POST", "/api/mcp-servers/{slug}/import", "the server was never asked; `mcp.rs` imports tools"),
    ("POST", "/sessions/{id}/memories", "the session was given no memory; `relevance.rs` rates one"),
    ("POST", "/sign-out", "it leads to the sign-in page; `sign_in.rs` tests that it signs out"),
];

/// Routes that answer a removed person differently from an unknown one.
const REVEALS_ACCOUNTS: [&str; 1] = ["/sign-in"];

/// Text in the table for a redirect to the sign-in page.
const TO_SIGN_IN: &str = "in";

/// Prepares the objects of the request, sends it, and returns the status for the table.
async fn ask(app: &App, people: &People, person: &Person, route: &Route) -> String {
    let prepared = prepare(app, people, person, route).await;
    let mut request = person.request(app, route.0.clone(), &prepared.path);
    if let Some(cookie) = prepared.cookie {
        let own = person.cookie().map(|own| format!("{own}; ")).unwrap_or_default();
        // The builder would add a second cookie header.
        request = app.http.request(route.0.clone(), format!("{}{}", app.url, prepared.path));
        request = request.header("sec-fetch-site", "same-origin").header("cookie", format!("{own}{cookie}"));
    }
    let is_page = !["/api/", "/fn/"].iter().any(|program| route.1.starts_with(program));
    request = if is_page { request.header("accept", "text/html") } else { request };
    request = match prepared.sent {
        Sent::Nothing => request,
        Sent::Json(body) => request.json(&body),
        Sent::Form(fields) => request.form(&fields),
        Sent::Text(kind, body) => request.header("content-type", kind).body(body),
    };
    let may_end = prepared.ends_sign_in && person.is_signed_in(app).await;
    let answer = request.send().await.unwrap();
    let leads = answer.headers().get(LOCATION).map(|to| to.to_str().unwrap().to_owned()).unwrap_or_default();
    let status = answer.status();
    if status.is_server_error() {
        panic!("{} {} as {}: {status} {}", route.0, route.1, person.name, answer.text().await.unwrap());
    }
    if may_end && !person.is_signed_in(app).await {
        person.sign_in(app).await;
    }
    match leads.starts_with("/sign-in") {
        true => TO_SIGN_IN.to_owned(),
        false => status.as_u16().to_string(),
    }
}

fn succeeds(cell: &str) -> bool {
    cell.parse::<u16>().is_ok_and(|status| status < 400)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_answers_every_signed_in_person_as_reviewed() {
    // Everyone opens forms from the same address.
    let app = App::start_with("[forms]\nrequests_per_minute = 10000\n", &[], &[]);
    let people = People::of(&app).await;
    let undo = serde_json::json!({ "undoSeconds": 60 });
    let set = app.request(Who::Admin, Method::PATCH, "/api/workspace").json(&undo).send().await.unwrap();
    assert!(set.status().is_success());
    let mut routes = documented(&app).await;
    routes.extend(pages());
    let mut table = format!("{:<6} {:<42}", "", "");
    for person in &people.0 {
        write!(table, " {:<8}", person.name).unwrap();
    }
    let mut wrong = Vec::new();
    for route in &routes {
        let (method, path) = (route.0.as_str(), route.1.as_str());
        write!(table, "\n{method:<6} {path:<42}").unwrap();
        let mut cells = Vec::new();
        for person in &people.0 {
            let cell = ask(&app, &people, person, route).await;
            write!(table, " {cell:<8}").unwrap();
            cells.push(cell);
        }
        let excused = NO_ONE_SUCCEEDS.iter().any(|(m, p, _)| (*m, *p) == (method, path));
        if cells.iter().any(|cell| succeeds(cell)) == excused {
            wrong.push(format!("{method} {path}: nobody succeeds, or the list of such routes is wrong"));
        }
        let of = |name: &str| &cells[people.0.iter().position(|person| person.name == name).unwrap()];
        for gone in ["removed", "inactive"] {
            if of(gone) != of("nobody") && !REVEALS_ACCOUNTS.contains(&path) {
                wrong.push(format!("{method} {path}: {gone} hears {}, nobody hears {}", of(gone), of("nobody")));
            }
        }
    }
    let table: Vec<_> = table.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(table.join("\n"));
    assert!(wrong.is_empty(), "{wrong:#?}");
}
