//! The probe: axum over one SQLite writer with group commit, and nothing else. It has no callers, ids, rules
//! or chain; it broadcasts each event after its commit. How near the server comes to it is goal G11.

use crate::{
    ids::Ids,
    raw::sqlite::{Row, commit_groups},
};
use anyhow::Result;
use axum::{
    Router,
    body::Body,
    extract::State,
    http::header,
    response::{IntoResponse as _, Response},
    routing::{get, post},
    serve::ListenerExt as _,
};
use bytes::Bytes;
use futures_util::stream;
use std::{
    convert::Infallible,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};
use tokio::{
    net::TcpListener,
    sync::{broadcast, oneshot},
};

/// Frames a follower may lag behind before it is cut off; what is written in one window fits.
const BEHIND_MAX: usize = 1 << 16;

type Pending = Row<oneshot::Sender<i64>>;

struct Probe {
    /// The lock keeps the order of sequences and of rows one.
    rows: Mutex<(i64, Sender<Pending>, Ids)>,
    frames: broadcast::Sender<Bytes>,
    page: Bytes,
}

/// Serves on a listener, with its database in this directory. `/page` answers these bytes.
pub async fn serve(listener: TcpListener, data_dir: PathBuf, page: Bytes) -> Result<()> {
    let (sender, rows) = channel();
    let frames = broadcast::Sender::new(BEHIND_MAX);
    let committed = frames.clone();
    thread::spawn(move || write(&data_dir, &rows, &committed));
    let probe = Arc::new(Probe { rows: Mutex::new((0, sender, Ids::new())), frames, page });
    let router = Router::new()
        .route("/append", post(append))
        .route("/stream", get(follow))
        .route("/page", get(|State(probe): State<Arc<Probe>>| async move { probe.page.clone() }))
        .with_state(probe);
    let listener = listener.tap_io(|stream| {
        // Without it each frame would wait for the acknowledgement of the last one; a figure shows that at once.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await?;
    Ok(())
}

fn write(data_dir: &std::path::Path, rows: &Receiver<Pending>, frames: &broadcast::Sender<Bytes>) -> Result<()> {
    commit_groups(&data_dir.join("probe"), rows, |group| {
        for row in group.drain(..) {
            // Errors say that no one follows, or that the client went away.
            let _ = frames.send(format!("id: {}\ndata: {}\n\n", row.sequence, row.content).into());
            let _ = row.done.send(row.sequence);
        }
    })
}

async fn append(State(probe): State<Arc<Probe>>, content: String) -> Response {
    let (done, committed) = oneshot::channel();
    {
        let mut rows = probe.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, sender, ids) = &mut *rows;
        *last += 1;
        let row = Row {
            session_id: uuid::Uuid::nil(),
            sequence: *last,
            event_id: ids.next(),
            kind: "probe",
            content: content.into(),
            done,
        };
        // Where the writer is gone, the answer below says so.
        let _ = sender.send(row);
    }
    let (status, body) = match committed.await {
        Ok(sequence) => (201, format!("{{\"sequence\":{sequence}}}")),
        Err(_) => (500, String::new()),
    };
    // A status and a text are always a response.
    Response::builder().status(status).body(Body::from(body)).unwrap_or_default()
}

async fn follow(State(probe): State<Arc<Probe>>) -> Response {
    let frames = stream::unfold(probe.frames.subscribe(), |mut frames| async {
        let frame = frames.recv().await.ok()?;
        Some((Ok::<_, Infallible>(frame), frames))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(frames)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        http::{Connection, Request},
        load::{self, GetScript, ProbeAppendScript, Window},
    };
    use std::{net::SocketAddr, time::Duration};

    const WINDOW: Window = Window { warm: Duration::from_millis(20), measure: Duration::from_millis(200) };

    async fn start() -> (SocketAddr, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, dir.path().to_owned(), Bytes::from(vec![b'x'; 600_000])));
        (address, dir)
    }

    #[tokio::test]
    async fn the_generator_appends_and_reads() {
        let (address, _dir) = start().await;
        let own = std::process::id();
        let scripts = (0..4).map(|_| ProbeAppendScript::new(address, 300)).collect();
        let (load, scripts) = load::run(address, scripts, WINDOW, own).await.unwrap();
        assert_eq!((scripts.len(), load.errors), (4, 0), "{:?}", load.first_error);
        assert!(load.units > 0 && load.latency.quantile_us(0.5) > 0.0);
        let page = || GetScript(Request::get(address, "/page", &[]));
        let (load, _) = load::run(address, vec![page(), page()], WINDOW, own).await.unwrap();
        assert!(load.units > 0 && load.errors == 0);
        let mut connection = Connection::open(address).await.unwrap();
        let answer = connection.call(&page().0).await.unwrap();
        assert_eq!((answer.body.len(), answer.body_bytes), (600_000, 600_000));
    }

    #[tokio::test]
    async fn a_refusal_is_an_error_and_not_a_unit() {
        let (address, _dir) = start().await;
        let missing = GetScript(Request::get(address, "/nothing", &[]));
        let error = load::run(address, vec![missing], WINDOW, std::process::id()).await.map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("404"), "{error:#}");
    }

    #[tokio::test]
    async fn every_follower_gets_every_event() {
        let (address, _dir) = start().await;
        let append = ProbeAppendScript::new(address, 300).into_request();
        let stream = Request::get(address, "/stream", &[]);
        let next = || append.bytes().to_vec();
        let done = load::deliver(address, &stream, 0, 10, next, WINDOW, std::process::id()).await.unwrap();
        assert_eq!((done.lost, done.delivered), (0, done.events * 10));
        let after = done.events + 1;
        let lag = load::lag(address, &stream, after, 5, next).await.unwrap();
        assert!(lag.from_request.max_us() > lag.from_answer.max_us());
    }
}
