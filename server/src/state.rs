//! What every handler can reach.

use crate::{
    assets::Assets, config::Settings, cookie::CookiePolicy, exports::Exports, metrics::Metrics, problem::Problem,
    sealed::Sealed, setup_code::SetupState, shutdown::Shutdown, summary_agents::SummaryAgents,
};
use axum::http::{HeaderMap, header};
use domain::{Entropy, Scope};
use ledger::{InstanceKey, Ledger};
use runner::capture::TurnCapture;
use std::{ops::Deref, sync::Arc};
use wire::Code;

/// Shared by all requests; cheap to clone.
#[derive(Clone)]
pub struct AppState(Arc<Shared>);

/// The parts of [`AppState`].
pub struct Shared {
    /// The use cases.
    pub ledger: Ledger,
    /// Exports that were asked for on a page.
    pub exports: Exports,
    /// Where captured turns go.
    pub turn_capture: Arc<TurnCapture>,
    /// Counters behind `/metrics`.
    pub metrics: Metrics,
    /// Style sheet, scripts and WASM, by logical name.
    pub assets: Assets,
    /// Whether the server is stopping.
    pub shutdown: Shutdown,
    /// Rendered pages of final sessions' transcripts.
    pub sealed: Sealed,
    /// How the session cookie is named and marked.
    pub cookies: CookiePolicy,
    /// `https://host[:port]` where browsers see the server, when the configuration says so.
    pub public_origin: Option<String>,
    /// Whether the server has been set up, and the code for doing it.
    pub set_up: SetupState,
    /// Random bytes for nonces and jitter.
    pub entropy: Arc<dyn Entropy>,
    /// What leads inside, for addresses that people choose.
    pub outbound: outbound::Policy,
    /// Whether people can be written to.
    pub sends_email: bool,
    /// Agents of this server that are asked for a summary when a conversation ends.
    pub summary_agents: SummaryAgents,
    /// The agents of this server: workspace and name.
    pub agents: Vec<(String, String)>,
    /// Signs what goes to webhooks, and names what ratings are about.
    instance_key: Option<InstanceKey>,
    /// Random for each start: what a page remembers of another server means nothing here.
    start: u64,
}

impl AppState {
    /// The state of one server.
    pub fn new(
        ledger: Ledger,
        settings: &Settings,
        entropy: Arc<dyn Entropy>,
        instance_key: Option<InstanceKey>,
        exports: Exports,
    ) -> Self {
        let mut start = [0; 8];
        entropy.fill(&mut start);
        Self(Arc::new(Shared {
            start: u64::from_le_bytes(start),
            ledger,
            exports,
            turn_capture: Arc::new(crate::stream_dump::open(settings, &*entropy)),
            metrics: Metrics::new(),
            assets: Assets::load(),
            shutdown: Shutdown::default(),
            sealed: Sealed::new(),
            cookies: CookiePolicy::new(settings.public_url.as_ref().is_some_and(|url| url.is_https())),
            public_origin: settings.public_url.as_ref().map(|url| url.origin().to_owned()),
            set_up: SetupState::new(&*entropy),
            entropy,
            outbound: settings.outbound.clone(),
            sends_email: settings.smtp.is_some(),
            summary_agents: SummaryAgents::default(),
            agents: agents(settings),
            instance_key,
        }))
    }
}

/// The agents that run here, each in its workspace.
fn agents(settings: &Settings) -> Vec<(String, String)> {
    let run = settings.agents.iter().filter(|_| settings.runs_agents);
    run.filter_map(|(slug, config)| Some((config.workspace.clone()?, slug.clone()))).collect()
}

impl Shared {
    /// Where the live stream of the caller's workspace stands. A page carries it, and the stream names it.
    pub fn live_mark(&self, scope: &Scope) -> String {
        format!("{:x}-{}", self.start, ledger::live::signal_count(&self.ledger, scope))
    }

    /// Where the asker sees this server, without a slash at the end.
    pub fn origin(&self, headers: &HeaderMap) -> String {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1:4210");
        self.public_origin.clone().unwrap_or_else(|| format!("http://{host}"))
    }

    /// The instance's key.
    ///
    /// # Errors
    /// Says what the operator has to do where there is none.
    pub fn instance_key(&self) -> Result<&InstanceKey, Problem> {
        let missing = "this needs the instance key: set `instance_key_file` in the settings file";
        self.instance_key.as_ref().ok_or_else(|| Problem::detailed(Code::Unavailable, missing))
    }
}

impl Deref for AppState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// The address of an invitation or a reset, on a server whose address is `origin`.
pub fn access_link_url(origin: &str, secret: &str) -> String {
    format!("{origin}/link/{secret}")
}
