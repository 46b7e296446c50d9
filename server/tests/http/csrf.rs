//! P-24: a browser request from another site changes nothing, and neither does one from a page of another sign-in. The
//! tests send them to every unsafe route of the server.

use crate::{
    app::{App, PASSWORD, Who},
    people::{OWNER_HEADER, People, Person},
    prepare::{Prepared, Sent, prepare},
    routes::{Route, documented, pages},
};
use reqwest::{
    Method, RequestBuilder, StatusCode,
    header::{CONTENT_TYPE, HeaderMap},
};
use testkit::Raw;

/// Content types that a page of another site can send without a preflight request, and the one of the API.
const CONTENT_TYPES: [&str; 3] = ["application/x-www-form-urlencoded", "text/plain", "application/json"];

/// Tables that the server changes without a request, and why.
const CHANGED_BY_THE_SERVER: [(&str, &str); 17] = [
    ("captures_due", "turns are captured after a second"),
    ("failure_regroup", "failures of before an upgrade are grouped after the start"),
    ("interactions", "the same"),
    ("leases", "background jobs renew them"),
    ("search_events", "the index of the search follows the log"),
    ("search_events_config", "the same"),
    ("search_events_data", "the same"),
    ("search_events_idx", "the same"),
    ("search_names", "the same"),
    ("search_names_due", "the same"),
    ("search_scopes", "the same"),
    ("search_sessions", "the same"),
    ("search_state", "the same"),
    ("session_roll", "new sessions are entered every second"),
    ("session_roll_fill", "the same"),
    ("session_roll_heads", "the same"),
    ("session_unrolled", "the same"),
];

/// Columns with the time of last use, and columns of a message's delivery. The server changes them without a request.
const CHANGING_COLUMNS: [&str; 7] =
    ["last_seen_at", "last_used_at", "due_at", "attempts", "last_error", "delivered_at", "dead_at"];

/// Pages that count how often a link to a form was opened.
const COUNTS_A_USE: [&str; 2] = ["/embed/{secret}", "/f/{secret}"];

/// The page that remembers when the person last looked at it.
const REMEMBERS_A_VISIT: &str = "/failures";

/// Downloads of what people typed. Each is an entry of the audit list.
const AUDITED: [&str; 2] = ["/api/views/{id}/responses.csv", "/exports/{id}/file"];

/// Sets of headers that a browser may send for a page of another site.
fn foreign(app: &App) -> Vec<Vec<(&'static str, String)>> {
    let site = |value: &str| ("sec-fetch-site", value.to_owned());
    let origin = |value: &str| ("origin", value.to_owned());
    vec![
        vec![],
        vec![site("cross-site")],
        vec![site("same-site")],
        vec![site("cross-site"), origin(&app.url)],
        vec![site("same-site"), origin("null")],
        vec![origin("https://evil.test")],
        vec![origin(&format!("{}.evil.test", app.url))],
        vec![origin("http://127.0.0.1")],
        vec![origin("null")],
        vec![origin("")],
    ]
}

/// All rows of the database, without what the server changes by itself.
async fn everything(raw: &mut Raw) -> Vec<String> {
    let tables: Vec<_> = CHANGED_BY_THE_SERVER.iter().map(|(table, _)| *table).collect();
    raw.everything_but(&tables, &CHANGING_COLUMNS).await
}

/// Whether the text, of a problem or a page, is the refusal of a request from another site.
fn is_refusal(text: &str) -> bool {
    [
        "another site made this request",
        "needs an Origin or Sec-Fetch-Site header",
        "Origin header does not name this server",
    ]
    .iter()
    .any(|phrase| text.contains(phrase))
}

async fn answer(request: RequestBuilder) -> (StatusCode, String) {
    let answer = request.send().await.unwrap();
    (answer.status(), answer.text().await.unwrap())
}

/// Sends a request that a page of the server could send with the headers of another site, and asserts the refusal.
async fn refused_from_elsewhere(app: &App, people: &People, person: &Person, route: &Route) {
    let prepared = prepare(app, people, person, route).await;
    let mut raw = Raw::of_sqlite(&app.data_dir().join("shiftbook.sqlite3")).await;
    let before = everything(&mut raw).await;
    let (own_kind, body) = encoded(&prepared.sent);
    let cookies = [person.cookie(), prepared.cookie.clone()].into_iter().flatten().collect::<Vec<_>>().join("; ");
    for kind in CONTENT_TYPES.into_iter().chain(own_kind) {
        for headers in foreign(app) {
            let mut request = app.http.request(route.0.clone(), format!("{}{}", app.url, prepared.path));
            request = request.header("cookie", &cookies).header("content-type", kind).body(body.clone());
            for (name, value) in &headers {
                request = request.header(*name, value);
            }
            let (status, text) = answer(request).await;
            assert!(
                status == 403 && is_refusal(&text),
                "{} {} as {kind} with {headers:?}: {status} {text}",
                route.0,
                route.1
            );
        }
    }
    let after = everything(&mut raw).await;
    let changed: Vec<_> = after.iter().filter(|row| !before.contains(row)).collect();
    assert!(changed.is_empty() && after.len() == before.len(), "{} {} changed {changed:#?}", route.0, route.1);
    // The same request from a page of the server, or without a cookie from a program, gets past this check.
    let path = &prepared.path;
    let program =
        app.request(Who::Member, route.0.clone(), path).header("content-type", own_kind.unwrap_or(CONTENT_TYPES[2]));
    let (_, text) = answer(program.body(body.clone())).await;
    assert!(!is_refusal(&text), "{} {} of a program: {text}", route.0, route.1);
    let own = person.request(app, route.0.clone(), path).header("content-type", own_kind.unwrap_or(CONTENT_TYPES[0]));
    let (status, text) = answer(own.body(body)).await;
    assert!(!is_refusal(&text), "{} {} of our own page: {status} {text}", route.0, route.1);
    if !person.is_signed_in(app).await {
        person.sign_in(app).await;
    }
}

/// The content type and the text of a body.
fn encoded(sent: &Sent) -> (Option<&'static str>, String) {
    match sent {
        Sent::Nothing => (None, String::new()),
        Sent::Json(body) => (Some("application/json"), body.to_string()),
        Sent::Form(fields) => (Some(CONTENT_TYPES[0]), urlencoded(fields)),
        Sent::Text(kind, body) => (Some(*kind), body.clone()),
    }
}

/// The fields as `a=b&c=d`, escaped.
fn urlencoded(fields: &[(String, String)]) -> String {
    let url = reqwest::Url::parse_with_params("http://x", fields).unwrap();
    url.query().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_unsafe_route_refuses_requests_of_other_sites_and_they_change_nothing() {
    let app = App::start();
    let people = People::of(&app).await;
    let mut routes = documented(&app).await;
    routes.extend(pages());
    let unsafe_routes: Vec<_> = routes.into_iter().filter(|(method, _)| method != Method::GET).collect();
    assert!(unsafe_routes.len() > 80, "{unsafe_routes:?}");
    for route in &unsafe_routes {
        refused_from_elsewhere(&app, &people, people.named("admin"), route).await;
    }
}

/// Sends a request as a script and as a form of a page that was opened under another sign-in, and asserts the refusal.
/// The same request of a page of this sign-in is not refused for this reason.
async fn refused_of_another_owner(app: &App, people: &People, person: &Person, route: &Route, owners: [&str; 2]) {
    let [own, other] = owners;
    let prepared = prepare(app, people, person, route).await;
    let mut raw = Raw::of_sqlite(&app.data_dir().join("shiftbook.sqlite3")).await;
    let before = everything(&mut raw).await;
    let (kind, body) = encoded(&prepared.sent);
    let kind = kind.unwrap_or(CONTENT_TYPES[0]);
    let (method, path) = (&route.0, &prepared.path);
    let request = |to: &str| person.request(app, method.clone(), to).header("content-type", kind).body(body.clone());
    let joint = if path.contains('?') { '&' } else { '?' };
    let of_form = format!("{path}{joint}{OWNER_HEADER}={other}");
    for refused in [request(path).header(OWNER_HEADER, other), request(&of_form)] {
        let (status, text) = answer(refused).await;
        assert!(status == 409 && text.contains("other_sign_in"), "{} {}: {status} {text}", route.0, route.1);
    }
    let after = everything(&mut raw).await;
    let changed: Vec<_> = after.iter().filter(|row| !before.contains(row)).collect();
    assert!(changed.is_empty() && after.len() == before.len(), "{} {} changed {changed:#?}", route.0, route.1);
    let (_, text) = answer(request(path).header(OWNER_HEADER, own)).await;
    assert!(!text.contains("other_sign_in"), "{} {} of its own page: {text}", route.0, route.1);
    if !person.is_signed_in(app).await {
        person.sign_in(app).await;
    }
}

/// The routes that change who is signed in, and in which workspace. Pages of every sign-in may send them.
const CHANGES_THE_SIGN_IN: [&str; 4] = ["/setup", "/sign-in", "/sign-out", "/workspace"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_unsafe_route_refuses_pages_of_another_sign_in_and_they_change_nothing() {
    let app = App::start();
    let people = People::of(&app).await;
    let admin = people.named("admin");
    let (own, other) = (admin.owner(&app).await, people.named("owner").owner(&app).await);
    let mut routes = documented(&app).await;
    routes.extend(pages());
    routes.retain(|(method, path)| method != Method::GET && !CHANGES_THE_SIGN_IN.contains(&path.as_str()));
    assert!(routes.len() > 80, "{routes:?}");
    for route in &routes {
        refused_of_another_owner(&app, &people, admin, route, [&own, &other]).await;
    }
}

#[tokio::test]
async fn the_cookie_of_a_sign_in_is_for_this_site_and_no_script() {
    let app = App::start();
    let response = app
        .http
        .post(format!("{}/sign-in", app.url))
        .header("origin", &app.url)
        .form(&[("email", "ada@acme.test"), ("password", PASSWORD)])
        .send()
        .await
        .unwrap();
    let cookie = response.headers()["set-cookie"].to_str().unwrap();
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age="] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
}

/// What a GET was answered with.
struct Got {
    status: StatusCode,
    headers: HeaderMap,
    /// The body. Empty for a stream, which has no end.
    text: String,
}

impl Got {
    /// Whether this is a whole page, not a part of one that a script asks for.
    fn is_page(&self) -> bool {
        self.text.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("<!doctype"))
    }
}

/// Sends a prepared GET with the person's cookies as a browser does that shows a page, or that runs a script of it if
/// only scripts ask for the path.
async fn got(app: &App, person: &Person, prepared: &Prepared) -> Got {
    let cookies = [person.cookie(), prepared.cookie.clone()].into_iter().flatten().collect::<Vec<_>>().join("; ");
    let request = app.http.get(format!("{}{}", app.url, prepared.path)).header("cookie", cookies);
    let accept = if prepared.path.starts_with("/fn/") { "application/json" } else { "text/html" };
    let response = request.header("sec-fetch-site", "same-origin").header("accept", accept).send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let is_stream = headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let text = if is_stream { String::new() } else { response.text().await.unwrap() };
    Got { status, headers, text }
}

async fn get_routes(app: &App) -> Vec<Route> {
    let mut routes = documented(app).await;
    routes.extend(pages());
    routes.retain(|(method, _)| method == Method::GET);
    routes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_get_changes_anything() {
    let app = App::start();
    let people = People::of(&app).await;
    let routes = get_routes(&app).await;
    assert!(routes.len() > 100, "{routes:?}");
    let mut raw = Raw::of_sqlite(&app.data_dir().join("shiftbook.sqlite3")).await;
    for route in &routes {
        let mut requests = Vec::new();
        for person in ["nobody", "owner", "admin"].map(|name| people.named(name)) {
            let prepared = prepare(&app, &people, person, route).await;
            requests.push((person, prepared));
        }
        // Imports and exports that were prepared write in the background.
        while raw.runs_jobs().await {
            tokio::task::yield_now().await;
        }
        let before = everything(&mut raw).await;
        let mut succeeds = false;
        for (person, prepared) in &requests {
            succeeds |= got(&app, person, prepared).await.status.as_u16() < 400;
        }
        assert!(succeeds, "GET {} of nobody, the owner and the admin", route.1);
        let after = everything(&mut raw).await;
        let counts = COUNTS_A_USE.contains(&route.1.as_str());
        let is_audited = AUDITED.contains(&route.1.as_str());
        let may_change = |row: &str| {
            (counts && row.starts_with("view_links: "))
                || (route.1 == REMEMBERS_A_VISIT && row.starts_with("failure_visits: "))
                || (is_audited && (row.starts_with("audit_entries: ") || row.starts_with("audit_heads: ")))
        };
        let kept = |rows: &[String]| rows.iter().filter(|row| !may_change(row)).count();
        let changed: Vec<_> = after.iter().filter(|row| !before.contains(row) && !may_change(row)).collect();
        assert!(changed.is_empty() && kept(&after) == kept(&before), "GET {} changed {changed:#?}", route.1);
    }
    let admin = people.named("admin");
    for path in ["/sign-out", "/settings/tokens", "/workspace"] {
        let status = admin.request(&app, Method::GET, path).send().await.unwrap().status();
        assert!(status == 405 || status == 404, "GET {path} answered {status}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_carries_the_headers() {
    let app = App::start();
    let people = People::of(&app).await;
    let mut routes = pages();
    routes.retain(|(method, _)| method == Method::GET);
    let mut checked = 0;
    for route in &routes {
        for person in ["nobody", "admin"].map(|name| people.named(name)) {
            let got = got(&app, person, &prepare(&app, &people, person, route).await).await;
            let path = &route.1;
            assert_eq!(got.headers["x-content-type-options"], "nosniff", "{path}");
            assert!(got.headers.contains_key("x-request-id"), "{path}");
            if got.is_page() {
                assert_page_headers(path, &got.headers);
                checked += 1;
            }
        }
    }
    assert!(checked > 35, "{checked} pages");
    let nowhere = Prepared { path: "/nowhere".into(), sent: Sent::Nothing, cookie: None, ends_sign_in: false };
    let got = got(&app, people.named("admin"), &nowhere).await;
    assert!(got.status == 404 && got.is_page(), "{}", got.text);
    assert_page_headers("/nowhere", &got.headers);
}

fn assert_page_headers(path: &str, headers: &HeaderMap) {
    let policy = headers["content-security-policy"].to_str().unwrap();
    // The origins that may frame a form are tested with the form.
    let frames = if path.starts_with("/embed/") { "frame-ancestors" } else { "frame-ancestors 'none'" };
    // Shared pages, and those of links to tools, have no scripts at all.
    let has_none = ["/s/", "/shared/", "/r/", "/tool-links/"].iter().any(|start| path.starts_with(start));
    let scripts = if has_none { "style-src 'self'" } else { "'nonce-" };
    for part in ["default-src 'none'", scripts, "object-src 'none'", "base-uri 'none'", frames] {
        assert!(policy.contains(part), "{path}: {policy}");
    }
    assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{path}: {policy}");
    assert_eq!(headers["cache-control"], "no-store", "{path}");
}
