//! The state that every handler can access.

use crate::{
    assets::Assets,
    body_memory::BodyMemory,
    card_places::CardPlaces,
    config::{Database, Settings},
    cookie::CookiePolicy,
    form_limit::FormLimits,
    metrics::Metrics,
    setup_code::SetupState,
    shutdown::Shutdown,
    sign_in_limit::SignInPlaces,
    transcript_cache::TranscriptCache,
    writer_settings::{self, WriterSettings},
};
use axum::http::{HeaderMap, header};
use domain::{Entropy, Scope};
use ledger::Ledger;
use runner::{capture::TurnCapture, execute::mcp::Mcp, export::Exports, thread_end::ThreadEndings};
use std::{ops::Deref, sync::Arc};

/// State shared by all requests. A clone is cheap.
#[derive(Clone)]
pub struct AppState(Arc<Shared>);

/// The parts of [`AppState`].
pub struct Shared {
    /// The database and the use cases.
    pub ledger: Ledger,
    /// Exports that people started on a page.
    pub exports: Exports,
    /// Writes the files of captured turns, if the server writes any.
    pub turn_capture: Arc<TurnCapture>,
    /// Counters and gauges of `/metrics`.
    pub metrics: Metrics,
    /// File names of the style sheet, scripts and WASM by logical name.
    pub assets: Assets,
    /// Whether the server is stopping.
    pub shutdown: Shutdown,
    /// Cache of rendered transcript pages of final sessions.
    pub transcripts: TranscriptCache,
    /// Name and attributes of the cookies.
    pub cookies: CookiePolicy,
    /// `https://host[:port]` under which browsers reach the server. `None` if it is not configured.
    pub public_origin: Option<String>,
    /// Whether the server has been set up, and the code that setting it up needs.
    pub set_up: SetupState,
    /// Random bytes for nonces and jitter.
    pub entropy: Arc<dyn Entropy>,
    /// Which addresses the server may call when people choose the address.
    pub outbound: outbound::Policy,
    /// Calls MCP servers.
    pub mcp: Mcp,
    /// Whether the server can send e-mail.
    pub sends_email: bool,
    /// Limits on what people without an account send.
    pub form_limits: FormLimits,
    /// The bodies in memory whose sender is not authenticated.
    pub anonymous_bodies: BodyMemory,
    /// The bodies in memory whose sender is authenticated.
    pub bodies: BodyMemory,
    /// The requests with character cards.
    pub card_places: CardPlaces,
    /// Whether the spans of requests are exported.
    pub exports_spans: bool,
    /// The sign-ins that are being checked, by network.
    pub sign_in_places: SignInPlaces,
    /// Ends conversations. It knows the agents in this server that are asked for a summary.
    pub thread_endings: ThreadEndings,
    /// The agents that run in this server, as pairs of workspace slug and agent name.
    pub agents: Vec<(String, String)>,
    /// The memory writers of the settings.
    pub memory_writers: Vec<WriterSettings>,
    /// Random number of this start. Live marks of pages that another start rendered do not match
    /// it.
    start: u64,
}

impl AppState {
    /// Creates the state of one server. `http` calls addresses that people choose.
    pub fn new(
        ledger: Ledger,
        settings: &Settings,
        entropy: Arc<dyn Entropy>,
        exports: Exports,
        http: outbound::Client,
    ) -> Self {
        let mut start = [0; 8];
        entropy.fill(&mut start);
        let shutdown = Shutdown::default();
        Self(Arc::new(Shared {
            start: u64::from_le_bytes(start),
            exports,
            turn_capture: Arc::new(turn_capture(settings, &*entropy)),
            metrics: Metrics::new(),
            assets: Assets::load(),
            transcripts: TranscriptCache::new(),
            cookies: CookiePolicy::new(settings.public_url.as_ref().is_some_and(|url| url.is_https())),
            public_origin: settings.public_url.as_ref().map(|url| url.origin().to_owned()),
            set_up: SetupState::new(&*entropy),
            entropy,
            outbound: settings.outbound.clone(),
            mcp: Mcp::new(http, settings.mcp.clone(), settings.secret_variables.clone()),
            sends_email: settings.smtp.is_some(),
            form_limits: FormLimits::new(settings.forms.requests_per_minute),
            anonymous_bodies: BodyMemory::of_strangers(),
            bodies: BodyMemory::of_callers(),
            card_places: CardPlaces::default(),
            exports_spans: settings.otlp.is_some(),
            sign_in_places: SignInPlaces::default(),
            thread_endings: ThreadEndings::new(ledger.clone(), shutdown.token()),
            shutdown,
            agents: agents(settings),
            memory_writers: writer_settings::described(settings),
            ledger,
        }))
    }
}

/// Opens the capture of turns as the settings require: with files on SQLite, without on PostgreSQL.
fn turn_capture(settings: &Settings, entropy: &dyn Entropy) -> TurnCapture {
    match &settings.database {
        Database::Sqlite(data_dir) => TurnCapture::below(data_dir, entropy),
        Database::Postgres { .. } => TurnCapture::default(),
    }
}

/// Returns the agents that run in this server, each with its workspace. Empty if the server runs no
/// agents.
fn agents(settings: &Settings) -> Vec<(String, String)> {
    let run = settings.agents.iter().filter(|_| settings.runs_agents);
    run.filter_map(|(slug, config)| Some((config.workspace.clone()?, slug.clone()))).collect()
}

impl Shared {
    /// Returns how the memory writer of an agent is set up in this server. `None` if the server has none for it.
    pub fn memory_writer(&self, workspace: &str, agent: &str) -> Option<&WriterSettings> {
        self.memory_writers.iter().find(|one| one.agent == agent && one.workspace == workspace)
    }

    /// Returns a mark of the position of the live stream of the caller's workspace. A page contains
    /// the mark of its rendering, and the stream sends the current one.
    pub fn live_mark(&self, scope: &Scope) -> String {
        format!("{:x}-{}", self.start, ledger::live::signal_count(&self.ledger, scope))
    }

    /// Returns the origin of this server without a slash at the end: the public origin if it is
    /// configured, otherwise the `Host` of the request.
    pub fn origin(&self, headers: &HeaderMap) -> String {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1:4210");
        self.public_origin.clone().unwrap_or_else(|| format!("http://{host}"))
    }
}

impl Deref for AppState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// Returns the URL of an invitation or of a password reset on the server at `origin`.
pub fn access_link_url(origin: &str, secret: &str) -> String {
    format!("{origin}/link/{secret}")
}
