//! `shiftbook token add`: creates an API token.

use super::common::{Failure, open, print_line, role, token_scope};
use crate::config::{self, DatabaseFlags, ServeFlags};
use domain::role::{Role, TokenScope};
use ledger::Mode;

/// Commands on API tokens.
#[derive(Debug, clap::Subcommand)]
pub enum TokenCommand {
    /// Create an API token and print only the token on stdout; it is shown once
    ///
    /// The workspace is created if it does not exist. Works whether or not the server is running.
    Add(AddArgs),
}

/// Options of `token add`.
#[derive(Debug, clap::Args)]
pub struct AddArgs {
    /// Slug of the workspace
    #[arg(long, value_name = "SLUG")]
    tenant: String,
    /// Name of the token, such as the program that uses it
    #[arg(long)]
    name: String,
    /// admin, operator, reviewer or member
    #[arg(long, value_parser = role)]
    role: Role,
    /// Restrict the token: `worker` allows it to claim sessions and work on them, and little else
    #[arg(long, value_parser = token_scope)]
    scope: Option<TokenScope>,
    /// The member of the workspace who owns the token. It can read their activity, and the sessions that it starts are
    /// theirs
    #[arg(long, value_name = "EMAIL")]
    user: Option<String>,
    #[command(flatten)]
    database: DatabaseFlags,
}

/// Runs the command.
pub async fn run(TokenCommand::Add(args): TokenCommand) -> Result<(), Failure> {
    let settings = config::load(args.database.clone(), ServeFlags::default())?;
    let ledger = open(&settings, Mode::Tool).await?;
    let AddArgs { tenant, name, role, scope, user, .. } = args;
    let made = ledger::token::create_by_operator(&ledger, &tenant, &name, role, scope, user.as_deref()).await;
    ledger.close().await;
    let (_, secret) = made?;
    print_line(&secret)
}
