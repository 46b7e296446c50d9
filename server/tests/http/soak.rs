//! Many requests, and many that are aborted: no panic, constant memory, and other clients are served.

use crate::app::App;
use futures_util::future::join_all;
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

fn aborted() -> usize {
    std::env::var("SHIFTBOOK_SOAK_REQUESTS").map_or(ABORTED, |text| text.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn aborted_page_requests_leave_nothing_behind() {
    let app = App::start();
    let cookie = app.cookie().await;
    let pages = ["/today", "/sessions", "/actions", "/settings"];
    let request =
        |n: usize| format!("GET {} HTTP/1.1\r\nhost: x\r\ncookie: {cookie}\r\naccept: text/html\r\n\r\n", pages[n % 4]);
    let abort = async |n: usize| {
        let mut stream = TcpStream::connect(&app.address).await.unwrap();
        stream.write_all(request(n).as_bytes()).await.unwrap();
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
    for path in pages {
        let response = app.http.get(format!("{}{path}", app.url)).header("cookie", &cookie).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert!(response.text().await.unwrap().ends_with("</html>"), "{path} is whole");
    }
    let grown = app.resident_kib().saturating_sub(warm);
    assert!(grown < GROWTH_KIB_MAX, "memory grew by {grown} KiB over {aborted} aborted requests");
    assert!(!app.log().contains("panicked at"), "{}", app.log());
}
