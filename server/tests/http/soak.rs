//! Many requests, and many that are aborted: no panic, constant memory, and other clients are served.

use crate::{
    app::App,
    people::People,
    prepare::prepare,
    routes::{Route, pages},
};
use futures_util::future::join_all;
use reqwest::{Method, StatusCode};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Requests that are aborted before their answer is complete. `SHIFTBOOK_SOAK_REQUESTS` sets another number; the long
/// tier aborts 20,000.
const ABORTED: usize = 3_000;
/// Requests that are aborted at the same time.
const PARALLEL: usize = 32;
/// Largest growth of memory, KiB, for the allocator and caches. A leak of one page per request would be ten times that.
const GROWTH_KIB_MAX: u64 = 48 * 1024;
/// Least number of pages and fragments, so that a list of few does not pass.
const PAGES_MIN: usize = 50;

fn aborted() -> usize {
    std::env::var("SHIFTBOOK_SOAK_REQUESTS").map_or(ABORTED, |text| text.parse().unwrap())
}

/// A request that is aborted again and again.
struct Wanted {
    path: String,
    cookie: String,
    /// A form that is refused and shown again; `None` for a page.
    form: Option<String>,
}

impl Wanted {
    fn text(&self, app: &App) -> String {
        let Self { path, cookie, form } = self;
        let address = &app.address;
        let head = format!("{path} HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\naccept: text/html\r\n");
        match form {
            None => format!("GET {head}\r\n"),
            Some(form) => format!(
                "POST {head}sec-fetch-site: same-origin\r\norigin: {}\r\n\
                 content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
                app.url,
                form.len()
            ),
        }
    }

    /// The whole answer: its status and its text.
    async fn answer(&self, app: &App) -> (StatusCode, String) {
        let method = if self.form.is_some() { Method::POST } else { Method::GET };
        let request = app.http.request(method, format!("{}{}", app.url, self.path)).header("accept", "text/html");
        let mut request = request.header("cookie", &self.cookie).header("sec-fetch-site", "same-origin");
        if let Some(form) = &self.form {
            request = request.header("origin", &app.url).header("content-type", "application/x-www-form-urlencoded");
            request = request.body(form.clone());
        }
        let answer = request.send().await.unwrap();
        (answer.status(), answer.text().await.unwrap_or_default())
    }
}

/// Every page, as the owner of its object or else the admin opens it.
async fn openable(app: &App, people: &People) -> Vec<Wanted> {
    const NO_PAGES: [&str; 3] = ["/pkg/", "/fn/", "/favicon"];
    let mut found = Vec::new();
    let is_page = |(method, path): &Route| method == Method::GET && !NO_PAGES.iter().any(|no| path.starts_with(no));
    for route in pages().iter().filter(|route| is_page(route)) {
        for name in ["owner", "admin"] {
            let person = people.named(name);
            let prepared = prepare(app, people, person, route).await;
            let own = person.cookie().unwrap_or_default();
            let cookie = prepared.cookie.map_or(own.clone(), |cookie| format!("{own}; {cookie}"));
            let request = app.http.get(format!("{}{}", app.url, prepared.path)).header("cookie", &cookie);
            let answer = request.header("accept", "text/html").send().await.unwrap();
            if answer.status() == StatusCode::OK {
                // As it is sent: the client has encoded what no path can have.
                let query = answer.url().query().map(|query| format!("?{query}")).unwrap_or_default();
                found.push(Wanted { path: format!("{}{query}", answer.url().path()), cookie, form: None });
                break;
            }
        }
    }
    found
}

/// Forms of the inbox that are refused, so that their page is rendered again.
async fn refused(app: &App, people: &People) -> Vec<Wanted> {
    let owner = people.named("owner");
    let item = prepare(app, people, owner, &(Method::GET, "/inbox/{id}".to_owned())).await.path;
    let id = item.rsplit('/').next().unwrap();
    let post = |function: &str, form: String| Wanted {
        path: format!("/fn/inbox/{function}"),
        cookie: owner.cookie().unwrap(),
        form: Some(form),
    };
    vec![
        post("decide", format!("id={id}&digest=x&decision=approve&next=/inbox&page={item}")),
        post("decide-many", "decision=approve&next=/inbox&page=/inbox".to_owned()),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aborted_requests_of_any_page_leave_nothing_behind() {
    // Every form is opened from the same address.
    let app = App::start_with("[forms]\nrequests_per_minute = 10000\n", &[], &[]);
    let people = People::of(&app).await;
    let mut wanted = openable(&app, &people).await;
    assert!(wanted.len() > PAGES_MIN, "{} pages can be opened", wanted.len());
    wanted.extend(refused(&app, &people).await);
    let abort = async |n: usize| {
        let mut stream = TcpStream::connect(&app.address).await.unwrap();
        // Each page is asked for three times in a row, once for each way to leave.
        let wanted = &wanted[n / 3 % wanted.len()];
        stream.write_all(wanted.text(&app).as_bytes()).await.unwrap();
        if n.is_multiple_of(3) {
            // A third of the clients leave after the first bytes, the others before any.
            let mut some = [0; 64];
            let _ = stream.read(&mut some).await;
        }
    };
    let round = async |from: usize, count: usize| {
        for start in (from..from + count).step_by(PARALLEL) {
            join_all((start..start + PARALLEL).map(abort)).await;
        }
    };
    round(0, 500).await;
    let warm = app.resident_kib();
    let aborted = aborted();
    round(500, aborted).await;
    for one in &wanted {
        let (status, text) = one.answer(&app).await;
        let expected = if one.form.is_some() { status.is_client_error() } else { status == StatusCode::OK };
        assert!(expected, "{}: {status} {text}", one.path);
        let is_whole = !text.starts_with("<!DOCTYPE html>") || text.ends_with("</html>");
        assert!(is_whole, "{} is whole", one.path);
        assert!(one.form.is_none() || text.ends_with("</html>"), "{} shows its page again: {text}", one.path);
    }
    let grown = app.resident_kib().saturating_sub(warm);
    assert!(grown < GROWTH_KIB_MAX, "memory grew by {grown} KiB over {aborted} aborted requests");
    assert!(!app.log().contains("panicked at"), "{}", app.log());
}
