//! One session with an MCP server.

use super::{
    super::{command::Child, limit},
    Mcp,
    fault::Fault,
    http::{HttpSession, NoRetry, Watch},
    progress::{Handler, Newest},
};
use domain::mcp::Transport;
use ledger::mcp_server::Target;
use rmcp::{
    RoleClient, serve_client,
    service::{ClientInitializeError, Peer, RunningService},
    transport::{
        StreamableHttpClientTransport, async_rw::AsyncRwTransport,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use std::{collections::BTreeMap, ffi::OsString, sync::Arc, time::Duration};
use tokio::io::{AsyncReadExt as _, copy, sink};
use tokio_util::task::AbortOnDropHandle;

/// A session that was initialized.
pub(super) struct Connection {
    running: RunningService<RoleClient, Handler>,
    pub watch: Arc<Watch>,
    /// The newest progress that the server reports of a call.
    pub progress: Newest,
    /// The program. Dropping it kills its process group.
    _program: Option<(Child, AbortOnDropHandle<()>)>,
}

impl Connection {
    /// Connects and initializes a session. `time` is the longest time of one request over HTTP; the caller limits the
    /// time of the whole.
    ///
    /// # Errors
    /// Why there is no session.
    pub async fn open(mcp: &Mcp, target: &Target, time: Duration) -> Result<Self, Fault> {
        match &target.definition.transport {
            Transport::Http { url, headers } => Self::over_http(mcp, target, (url.as_str(), headers), time).await,
            Transport::Stdio { program } => Self::with_program(mcp, target, program).await,
        }
    }

    async fn over_http(
        mcp: &Mcp,
        target: &Target,
        (url, headers): (&str, &BTreeMap<String, String>),
        time: Duration,
    ) -> Result<Self, Fault> {
        let secret = target.definition.secret_headers.iter();
        let secret = secret.filter_map(|name| Some((name.clone(), target.secrets.get(name)?.to_owned())));
        let public = headers.iter().map(|(name, value)| (name.clone(), value.clone()));
        let watch = Arc::new(Watch::default());
        let session = HttpSession {
            http: mcp.http.clone(),
            headers: Arc::new(public.chain(secret).collect()),
            time,
            watch: Arc::clone(&watch),
        };
        let mut config = StreamableHttpClientTransportConfig::with_uri(url)
            .reinit_on_expired_session(false)
            .control_request_timeout(limit::MCP_CLOSE);
        config.retry_config = Arc::new(NoRetry);
        let transport = StreamableHttpClientTransport::with_client(session, config);
        let (handler, progress) = Handler::new();
        let begun = serve_client(handler, transport).await;
        let running = begun.map_err(|error| watch.fault().unwrap_or_else(|| of_initialize(&error)))?;
        Ok(Self { running, watch, progress, _program: None })
    }

    async fn with_program(mcp: &Mcp, target: &Target, name: &str) -> Result<Self, Fault> {
        let allowed = mcp.programs.get(name).filter(|program| program.workspace == target.workspace);
        let Some(program) = allowed else {
            let why = "is not among the programs that the operator of the server allows this workspace";
            return Err(Fault::Refused(format!("`{name}` {why}")));
        };
        let withheld = mcp.withheld.iter().map(String::as_str).chain(["SHIFTBOOK_DATABASE_URL", "SHIFTBOOK_TOKEN"]);
        let withheld = withheld.filter(|name| !program.secret_env.iter().any(|kept| kept == name));
        let environment: Vec<_> = withheld.map(|name| (name, None)).collect();
        let command: Vec<OsString> = program.command.iter().map(OsString::from).collect();
        let started = Child::start(&command, &environment);
        let (child, pipes) =
            started.map_err(|error| Fault::Unreachable(format!("the program cannot be started: {error}")))?;
        let (input, output, mut log) = (pipes.stdin, pipes.stdout, pipes.stderr);
        // What it logs can have secrets of its own, so it is not kept.
        let drain = AbortOnDropHandle::new(tokio::spawn(async move {
            let _ = copy(&mut log, &mut sink()).await;
        }));
        let output = output.take(limit::MCP_PROGRAM_BYTES_MAX);
        let transport =
            AsyncRwTransport::new_client(output, input).with_max_line_length(outbound::limit::BODY_BYTES_MAX);
        let (handler, progress) = Handler::new();
        let running = serve_client(handler, transport).await.map_err(|error| of_initialize(&error))?;
        Ok(Self { running, watch: Arc::default(), progress, _program: Some((child, drain)) })
    }

    /// The connection for requests.
    pub fn peer(&self) -> &Peer<RoleClient> {
        self.running.peer()
    }

    /// Ends the session. A server that does not take part has [`limit::MCP_CLOSE`].
    pub async fn close(mut self) {
        // The result is known already.
        let _ = self.running.close_with_timeout(limit::MCP_CLOSE).await;
    }
}

fn of_initialize(error: &ClientInitializeError) -> Fault {
    Fault::Unreachable(format!("no session could begin: {error}"))
}
