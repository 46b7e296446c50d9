//! `shiftbook telemetry`: whether a workspace shares numbers for training, and these numbers.

use super::{
    common::{Failure, open, print_line},
    instance_key::{self, KeyFlags},
};
use crate::config::Settings;
use ledger::{
    Ledger, Mode,
    telemetry::{self, TelemetryState},
};

/// Commands on training telemetry.
#[derive(Debug, clap::Subcommand)]
pub enum TelemetryCommand {
    /// Share numbers about the usefulness of memories for training
    ///
    /// They are kept here, and nothing is sent: `show` prints them.
    On(WorkspaceArgs),
    /// Share nothing, and let no agent ask
    Off(WorkspaceArgs),
    /// Print whether numbers are shared
    Status(WorkspaceArgs),
    /// Print the numbers that are shared, one JSON object for each session
    Show(WorkspaceArgs),
}

/// A workspace, by its database.
#[derive(Debug, clap::Args)]
pub struct WorkspaceArgs {
    /// Slug of the workspace
    #[arg(long, alias = "workspace", value_name = "SLUG")]
    tenant: String,
    #[command(flatten)]
    flags: KeyFlags,
}

/// Runs the command.
pub async fn run(command: TelemetryCommand) -> Result<(), Failure> {
    match command {
        TelemetryCommand::On(args) => answer(args, true).await,
        TelemetryCommand::Off(args) => answer(args, false).await,
        TelemetryCommand::Status(args) => status(args).await,
        TelemetryCommand::Show(args) => show(args).await,
    }
}

async fn answer(args: WorkspaceArgs, enabled: bool) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    let ledger = open(&settings, Mode::Tool).await?;
    let state = telemetry::answer_by_operator(&ledger, &args.tenant, enabled).await;
    ledger.close().await;
    print_line(described(&state?))
}

async fn status(args: WorkspaceArgs) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    let ledger = open(&settings, Mode::Tool).await?;
    let state = telemetry::state_by_operator(&ledger, &args.tenant).await;
    ledger.close().await;
    print_line(described(&state?))
}

const fn described(state: &TelemetryState) -> &'static str {
    match (state.is_forbidden, state.opt_in.enabled) {
        (true, _) => "off: the settings do not allow telemetry",
        (false, Some(true)) => "on: `shiftbook telemetry show` prints what is shared; nothing is sent",
        (false, Some(false)) => "off",
        (false, None) => "off: no one has answered yet",
    }
}

async fn show(args: WorkspaceArgs) -> Result<(), Failure> {
    let settings = args.flags.clone().settings()?;
    let ledger = open(&settings, Mode::Tool).await?;
    let shown = show_with(&ledger, &settings, &args.tenant).await;
    ledger.close().await;
    shown
}

async fn show_with(ledger: &Ledger, settings: &Settings, tenant: &str) -> Result<(), Failure> {
    let key = instance_key::find(settings)?;
    let missing = "there is no instance key, which identifies the sessions of the rows";
    ledger.use_instance_key(key.ok_or_else(|| Failure::Misused(missing.into()))?);
    if !telemetry::state_by_operator(ledger, tenant).await?.shares() {
        return Err(Failure::Failed("nothing is shared: telemetry is off".into()));
    }
    let mut next = None;
    loop {
        let shared = telemetry::share_by_operator(ledger, tenant, next).await?;
        for session in shared.sessions {
            let line = serde_json::to_string(&session).map_err(|error| Failure::Failed(error.to_string()))?;
            print_line(&line)?;
        }
        next = shared.next;
        if next.is_none() {
            return Ok(());
        }
    }
}
