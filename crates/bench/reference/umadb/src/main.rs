//! Goals G2 and G4: appends to UmaDB, each on the disk before it is answered.
//!
//! `umadb-append CONNECTIONS SECONDS [DIR [EVENTS]]` starts a server in a process of its own, on an empty database
//! below DIR, appends so many events at once (1 if not given) from so many connections and prints how many events were
//! answered per second.
//!
//! In its favour: no HTTP and no JSON (its client speaks gRPC), no token, no tenant, no hash chain, no idempotency (an
//! append without a condition is not looked up), no fencing of attempts. In ours: its generator is its own client,
//! which costs more than our load generator on the same cores.

use std::{
    error::Error,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use umadb_client::{AsyncUmaDbClient, UmaDbClient};
use umadb_dcb::{DcbEvent, DcbEventStoreAsync as _};
use uuid::Uuid;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Before what counts, as the other loads have it.
const WARM: Duration = Duration::from_millis(500);
/// Longest wait for the server.
const START_MAX: Duration = Duration::from_secs(10);
const TRY_AGAIN: Duration = Duration::from_millis(20);
const SERVE: &str = "serve";

/// About as long as the events that ours gets (`src/event.rs`).
const DATA: &str = "[{\"type\":\"text\",\"text\":\"The second supplier delivers within four days at 12.40 per piece, but only from 500 \
                    pieces on; the first one has no minimum and asks for 13.10. I will check the third before I compare.\"}]";

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == SERVE) {
        // It reads options from the second word on, as from a command line.
        let options = umadb::parse_cli_options(arguments).map_err(|error| error.to_string())?;
        return umadb::start_server_with_cli_options(options).map_err(|error| error.to_string().into());
    }
    let [connections, seconds, rest @ ..] = arguments.as_slice() else {
        return Err("usage: umadb-append CONNECTIONS SECONDS [DIR [EVENTS]]".into());
    };
    let parent = rest.first().map_or_else(std::env::temp_dir, PathBuf::from);
    let server = Server::start(&parent)?;
    // One thread, as our load generator: the server shares the cores.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let events = rest.get(1).map_or(Ok(1), |events| events.parse())?;
    let measure = Duration::from_secs_f64(seconds.parse()?);
    let rate = runtime.block_on(appends(&server, connections.parse()?, events, measure))?;
    println!("{rate:.1}");
    Ok(())
}

/// The server and its files; both are gone when it is dropped.
struct Server {
    child: Child,
    url: String,
    folder: PathBuf,
}

impl Server {
    fn start(parent: &Path) -> Outcome<Self> {
        // Free a moment ago: it has no option to choose a free port.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let folder = parent.join(format!("umadb-{}", Uuid::now_v7()));
        std::fs::create_dir_all(&folder)?;
        let address = format!("127.0.0.1:{port}");
        let child = Command::new(std::env::current_exe()?)
            .args([SERVE, "--listen", &address, "--db-path"])
            .arg(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Self { child, url: format!("http://{address}"), folder })
    }

    async fn connect(&self) -> Outcome<AsyncUmaDbClient> {
        let until = Instant::now() + START_MAX;
        loop {
            match UmaDbClient::new(self.url.clone()).connect_async().await {
                Ok(client) => return Ok(client),
                Err(error) if Instant::now() > until => return Err(error.to_string().into()),
                Err(_) => tokio::time::sleep(TRY_AGAIN).await,
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

async fn appends(server: &Server, connections: usize, events: usize, measure: Duration) -> Outcome<f64> {
    let mut clients = Vec::new();
    for _ in 0..connections {
        clients.push(server.connect().await?);
    }
    let from = Instant::now() + WARM;
    let until = from + measure;
    let running: Vec<_> =
        clients.into_iter().map(|client| tokio::spawn(one_connection(client, events, from, until))).collect();
    let mut answered = 0;
    for connection in running {
        answered += connection.await??;
    }
    Ok(answered as f64 / measure.as_secs_f64())
}

/// One append after the other; how many events were answered in the time that counts.
async fn one_connection(client: AsyncUmaDbClient, events: usize, from: Instant, until: Instant) -> Outcome<u64> {
    let session = format!("session:{}", Uuid::now_v7());
    let mut answered = 0;
    loop {
        let event = |_| {
            DcbEvent::default()
                .event_type("agent.message")
                .tags([session.as_str()])
                .data(DATA.as_bytes())
                .uuid(Uuid::now_v7())
        };
        let batch = (0..events).map(event).collect();
        client.append(batch, None, None).await.map_err(|error| error.to_string())?;
        let now = Instant::now();
        if now >= until {
            return Ok(answered);
        }
        answered += if now >= from { events as u64 } else { 0 };
    }
}
