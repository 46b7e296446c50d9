//! What commands share: their failures and exit codes, the opening of the ledger, names of roles.

use crate::{
    ambient::{SteadyClock, SystemClock, SystemEntropy},
    config::{self, Settings},
};
use domain::Clock;
use ledger::{LeaseClock, Ledger, McpProgram, MemoryBounds, Mode, PasswordCost};
use runner::export::DumpError;
use std::{
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

/// The command could not do its work, or `verify` found something wrong.
pub(super) const FAILED: u8 = 1;
/// The arguments or settings cannot be used, or name no database. clap exits with the same code.
pub(super) const MISUSED: u8 = 2;

/// Why a command failed, as text for its user.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Settings that cannot be used.
    #[error(transparent)]
    Settings(#[from] config::Error),
    /// Arguments that cannot be used.
    #[error("{0}")]
    Misused(String),
    /// The use case refused, or the database failed.
    #[error("{}", explain(.0))]
    Ledger(#[from] ledger::Error),
    /// An operation on a file, socket or stream failed.
    #[error("{context}: {error}")]
    Io {
        /// The operation that failed.
        context: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// The command failed for another reason, or `verify` found something wrong.
    #[error("{0}")]
    Failed(String),
}

impl From<client::Error> for Failure {
    fn from(error: client::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<DumpError> for Failure {
    fn from(error: DumpError) -> Self {
        match error {
            DumpError::Ledger(error) => Self::Ledger(error),
            DumpError::Io(context, error) => Self::Io { context, error },
            DumpError::Stopped => Self::Failed(error.to_string()),
        }
    }
}

impl Failure {
    /// Adds the operation that was attempted to an I/O error.
    pub fn io(context: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let context = context.into();
        move |error| Self::Io { context, error }
    }

    const fn code(&self) -> u8 {
        match self {
            Self::Settings(_) | Self::Misused(_) | Self::Ledger(ledger::Error::Unusable(_)) => MISUSED,
            Self::Ledger(_) | Self::Io { .. } | Self::Failed(_) => FAILED,
        }
    }
}

/// The text of an error. Its details are shown: the user has access to the database.
fn explain(error: &ledger::Error) -> String {
    match error {
        ledger::Error::Invalid(fields) => {
            let fields: Vec<_> = fields.iter().map(|e| format!("{}: {}", e.field, e.message)).collect();
            fields.join("\n")
        }
        other => other.to_string(),
    }
}

pub(super) fn report(failure: &Failure) -> ExitCode {
    // A failure to write to standard error leaves the exit code.
    let _closed = writeln!(std::io::stderr(), "shiftbook: {failure}");
    ExitCode::from(failure.code())
}

/// Prints one line on standard output. A closed output is a failure, because the answer is lost.
pub fn print_line(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(Failure::io("cannot write to stdout"))
}

/// Tests sign in so often that hashing was a quarter of their processor time.
const PASSWORD_COST: PasswordCost =
    if cfg!(feature = "cheap-passwords") { PasswordCost::Least } else { PasswordCost::Full };

/// Opens the ledger with these settings, for the server or for a tool beside it.
pub async fn open(settings: &Settings, mode: Mode) -> Result<Ledger, Failure> {
    let steady = Arc::new(SteadyClock::start());
    let (clock, lease_clock): (Arc<dyn Clock>, _) = match settings.database {
        config::Database::Postgres { .. } => (steady, LeaseClock::Database),
        config::Database::Sqlite(_) => (Arc::new(SystemClock), LeaseClock::Process(steady)),
    };
    let options = ledger::Options {
        database: settings.database.clone().into(),
        mode,
        clock,
        lease_clock,
        entropy: Arc::new(SystemEntropy),
        password_cost: PASSWORD_COST,
        settings: ledger_settings(settings),
    };
    Ok(Ledger::open(options).await?)
}

/// The settings that the use cases read.
fn ledger_settings(settings: &Settings) -> ledger::Settings {
    let programs = settings.mcp.iter();
    let programs =
        programs.map(|(name, program)| McpProgram { name: name.clone(), workspace: program.workspace.clone() });
    let memory_bounds = settings.memory.as_ref().map(|memory| {
        let (common, agents) = memory.bounds();
        let (reviewers, of_agents) = memory.approvals();
        MemoryBounds::new(common, agents).with_approvals(reviewers, of_agents)
    });
    ledger::Settings {
        redirect_hosts: settings.redirect_hosts.clone(),
        mcp_programs: programs.collect(),
        memory_bounds: memory_bounds.unwrap_or_default(),
        relevance: settings.relevance,
    }
}

/// The name of a role on the command line.
pub fn role(text: &str) -> Result<domain::role::Role, String> {
    domain::role::Role::parse(text).ok_or_else(|| "admin, operator, reviewer or member".to_owned())
}

/// The name of a token scope on the command line.
pub fn token_scope(text: &str) -> Result<domain::role::TokenScope, String> {
    domain::role::TokenScope::parse(text).ok_or_else(|| "worker".to_owned())
}

/// The whole path of the folder that is written into, as the audit list has it.
pub fn folder_of(out: &Path) -> PathBuf {
    std::path::absolute(out).unwrap_or_else(|_| out.to_owned())
}
