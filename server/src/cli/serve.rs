//! `shiftbook serve`: starts the server and its background tasks, and stops them in order.

use super::{
    common::{Failure, open, print_line},
    instance_key,
};
use crate::{
    accept, agents,
    ambient::SystemEntropy,
    backups,
    build_version::VERSION,
    config::{self, Database, DatabaseFlags, ServeFlags, Settings},
    embedder, http_tools,
    log::LogSettings,
    memory_writers, router,
    setup_code::SetupState,
    state::AppState,
    traces::Traces,
};
use ledger::Mode;
use runner::{export::Exports, mail::Mailer, outbox::OutboxWorker, sweep::LeftFor};
use std::{io::Write as _, sync::Arc, time::Duration};
use tokio::{net::TcpListener, time::timeout};

/// Time for accepted writes to reach the disk when the server stops.
const CLOSE: Duration = Duration::from_millis(1_500);

/// Most paths that the warning about access by others names.
const WIDER_PATHS_NAMED: usize = 10;

/// Options of `serve`.
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    #[command(flatten)]
    database: DatabaseFlags,
    #[command(flatten)]
    serve: ServeFlags,
}

/// Warns of paths of this installation that other users of the machine can access. Nothing is changed: an operator may
/// have widened them on purpose, and older versions followed the umask.
fn warn_of_wider_paths(settings: &Settings) {
    let data_dir = match &settings.database {
        Database::Sqlite(data_dir) => Some(data_dir),
        Database::Postgres { .. } => None,
    };
    for root in data_dir.into_iter().chain(&settings.instance_key_file) {
        let found = private::wider(root, WIDER_PATHS_NAMED);
        if found.count == 0 {
            continue;
        }
        let named: Vec<_> = found.first.iter().map(|(path, mode)| format!("{} ({mode:04o})", path.display())).collect();
        let more = match found.count - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        tracing::warn!(
            "other users of this machine can access {}{more}; run `chmod -R go= {}` to prevent it",
            named.join(", "),
            root.display()
        );
    }
}

/// Prints the set-up code on standard error, whatever the log filter is: standard output has only the address, and the
/// program that reads it may have closed it.
fn print_set_up_code(set_up: &SetupState) {
    let text = "shiftbook: no one has set this server up. Browsers on other machines are asked for the set-up code:";
    let said = writeln!(std::io::stderr(), "{text} {}", set_up.grouped_code());
    if let Err(error) = said {
        tracing::warn!(%error, "the set-up code could not be printed; set the server up on this machine");
    }
}

/// Runs the server until SIGINT or SIGTERM. It begins to log with `log` when it has read its settings.
pub async fn run(args: ServeArgs, log: Option<LogSettings>) -> Result<(), Failure> {
    let settings = config::load(args.database, args.serve)?;
    let traces = settings.otlp.as_ref().map(Traces::start).transpose().map_err(Failure::Misused)?;
    if let Some(log) = log {
        log.begin(traces.as_ref()).map_err(Failure::Failed)?;
    }
    // Listens first, so that a port in use is reported before anything is migrated.
    let cannot_listen = Failure::io(format!("cannot listen on {}", settings.listen));
    let listener = TcpListener::bind(settings.listen).await.map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(Failure::io("cannot tell the bound address"))?;
    let agents =
        if settings.runs_agents { agents::prepare(&settings, &format!("http://{address}"))? } else { Vec::new() };
    let writers = if settings.runs_agents { memory_writers::prepare(&settings)? } else { Vec::new() };
    let embedder = embedder::prepare(&settings)?;
    let ledger = open(&settings, Mode::Server).await?;
    if let Some((embedder, similarity_min)) = embedder {
        ledger.use_embedder(embedder, similarity_min);
    }
    if let Some(key) = instance_key::load(&settings, &SystemEntropy)? {
        ledger.use_instance_key(key);
    }
    warn_of_wider_paths(&settings);
    let http = outbound::Client::new(settings.outbound.clone()).map_err(|error| Failure::Failed(error.to_string()))?;
    let mail = settings.smtp.clone().map(Mailer::new).transpose();
    let mail = mail.map_err(|error| Failure::Misused(error.to_string()))?;
    let exports =
        Exports::open(ledger.data_dir(), &SystemEntropy).map_err(Failure::io("cannot make room for exports"))?;
    let state = AppState::new(ledger, &settings, Arc::new(SystemEntropy), exports, http.clone());
    if let Some(traces) = &traces {
        state.metrics.count_dropped_spans(traces.dropped());
    }
    if state.set_up.is_open(&state.ledger).await? {
        print_set_up_code(&state.set_up);
    }
    // Before anybody knows the address: what is written from now on is not what a server left that died.
    let started = state.ledger.now();
    print_line(&format!("http://{address}"))?;
    tracing::info!(%address, version = VERSION, "serving");
    let left_for = LeftFor { draft: settings.forms.draft_left_for, canvas: settings.canvas_left_for };
    let sweeps = tokio::spawn(runner::sweep::run(state.ledger.clone(), left_for, state.shutdown.token()));
    let captures =
        tokio::spawn(runner::capture::run(state.ledger.clone(), state.turn_capture.clone(), state.shutdown.token()));
    let search = tokio::spawn(runner::search_index::run(state.ledger.clone(), state.shutdown.token()));
    let rankers = tokio::spawn(runner::memory_ranker::run(state.ledger.clone(), state.shutdown.token()));
    let vectors = tokio::spawn(runner::memory_vector::run(state.ledger.clone(), state.shutdown.token()));
    let imports = tokio::spawn(runner::import::run(state.ledger.clone(), state.shutdown.token()));
    let tools = tokio::spawn(http_tools::run(state.clone(), http.clone(), settings.runs_agents));
    let agents = tokio::spawn(agents::run(state.clone(), agents));
    let writers = tokio::spawn(memory_writers::run(state.clone(), writers, started));
    let backups = tokio::spawn(backups::run(state.clone(), settings.backups));
    let outbox_worker =
        OutboxWorker { ledger: state.ledger.clone(), http, mail, public_origin: state.public_origin.clone() };
    let messages = tokio::spawn(outbox_worker.run(state.shutdown.token()));
    let stop = tokio::spawn(accept::shut_down_on_signal(state.shutdown.clone()));
    accept::serve(listener, router::build(state.clone()), &state).await;
    stop.abort();
    for (task, what) in [
        (sweeps, "the sweep"),
        (search, "the search index"),
        (rankers, "the training of memory rankers"),
        (vectors, "the vectors of memories"),
        (imports, "the imports"),
        (backups, "the backups"),
        (tools, "the tools"),
        (agents, "the agents"),
        (writers, "the memory writers"),
        (captures, "capturing"),
        (messages, "the messages"),
    ] {
        if let Err(error) = task.await {
            tracing::error!(%error, "{what} ended badly");
        }
    }
    // Side by side, so that a collector that does not answer leaves the time of a stop as it is.
    let flush = async {
        if let Some(traces) = traces {
            traces.finish().await;
        }
    };
    let (closed, ()) = tokio::join!(timeout(CLOSE, state.ledger.close()), flush);
    if closed.is_err() {
        return Err(Failure::Failed("the database could not be closed in time; nothing acknowledged is lost".into()));
    }
    tracing::info!("stopped");
    Ok(())
}
