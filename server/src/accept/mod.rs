//! Accepts connections. `axum::serve` sets no timers: a client that sends nothing would keep its
//! connection forever, and open streams would block a graceful stop.

mod connection;
mod deadline;
mod places;

use crate::{paced_log::PacedLog, shutdown::Shutdown, state::AppState};
use axum::Router;
use places::Places;
use std::{io, time::Duration};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};
use tokio_util::task::TaskTracker;

/// Most connections at a time, where the system allows as many open files.
const CONNECTIONS_MAX: usize = 16_384;
/// Open files kept for the database, the log and the standard streams.
const FILES_RESERVED: usize = 256;
/// Pause when the system has no file handle for a new connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time for running requests to finish once the server stops. Together with closing the ledger it
/// stays within the five seconds of a stop.
const DRAIN: Duration = Duration::from_millis(3_000);
/// Time for a refused client to read the response.
const TURN_AWAY: Duration = Duration::from_secs(1);
const TURNED_AWAY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Serves until the shutdown begins, then lets requests in flight finish.
pub async fn serve(listener: TcpListener, router: Router, state: &AppState) {
    let places = Places::new(connections_max());
    let refused = PacedLog::default();
    let tasks = TaskTracker::new();
    let stopping = state.shutdown.clone();
    loop {
        let (stream, peer) = tokio::select! {
            biased;
            () = stopping.begun() => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    pause_after(&error).await;
                    continue;
                }
            },
        };
        if let Some(place) = places.take(peer.ip()) {
            let connection = connection::serve(stream, peer, router.clone(), stopping.clone());
            tasks.spawn(async move {
                connection.await;
                drop(place);
            });
        } else {
            refused.warn("connections were refused: there are too many, or too many of one network");
            tasks.spawn(refuse_connection(stream));
        }
    }
    // From here on another process can listen on the port.
    drop(listener);
    tasks.close();
    if timeout(DRAIN, tasks.wait()).await.is_err() {
        tracing::warn!(connections = tasks.len(), "connections were cut: their requests took too long to finish");
    }
}

/// Logs an error of accepting and pauses. Connections that the client aborted are ignored.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::error!(%error, "cannot accept connections");
        sleep(ACCEPT_PAUSE).await;
    }
}

async fn refuse_connection(mut stream: TcpStream) {
    let goodbye = async {
        stream.write_all(TURNED_AWAY).await?;
        stream.shutdown().await
    };
    if !matches!(timeout(TURN_AWAY, goodbye).await, Ok(Ok(()))) {
        tracing::debug!("a client that was turned away did not stay to hear it");
    }
}

/// The named limit, or what the system's limit on open files leaves of it. Many systems start
/// processes with 1,024 and let them ask for more.
fn connections_max() -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        let wanted = (CONNECTIONS_MAX + FILES_RESERVED) as u64;
        let reachable = limit.maximum.map_or(wanted, |hard| hard.min(wanted));
        if limit.current.is_some_and(|soft| soft < reachable) {
            let raised = Rlimit { current: Some(reachable), ..limit };
            if setrlimit(Resource::Nofile, raised).is_ok() {
                limit = raised;
            }
        }
        let files = limit.current.map_or(usize::MAX, |soft| usize::try_from(soft).unwrap_or(usize::MAX));
        files.saturating_sub(FILES_RESERVED).clamp(FILES_RESERVED, CONNECTIONS_MAX)
    }
    #[cfg(not(unix))]
    CONNECTIONS_MAX
}

/// Begins the shutdown at the first signal. If the server cannot listen for signals, it stops at
/// once, because it could not be stopped later.
pub async fn shut_down_on_signal(shutdown: Shutdown) {
    match crate::shutdown::signalled().await {
        Ok(signal) => tracing::info!(signal, "stopping: no new connections, requests in flight finish"),
        Err(error) => tracing::error!(%error, "cannot listen for signals; stopping"),
    }
    shutdown.begin();
}
