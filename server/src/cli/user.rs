//! `shiftbook user add`

use super::run::{Failure, open, print_line, role};
use crate::config::{self, DatabaseFlags, ServeFlags};
use domain::{limit::PASSWORD_BYTES_MAX, role::Role};
use ledger::Mode;
use std::io::Read;

/// Commands on people.
#[derive(Debug, clap::Subcommand)]
pub enum UserCommand {
    /// Add a person to a workspace, or change their role and password
    ///
    /// The workspace is made when it does not exist. Works whether or not the server is running.
    Add(AddArgs),
}

/// Options of `user add`.
#[derive(Debug, clap::Args)]
pub struct AddArgs {
    /// Slug of the workspace
    #[arg(long, value_name = "SLUG")]
    tenant: String,
    /// Sign-in address
    #[arg(long)]
    email: String,
    /// admin, operator, reviewer or member
    #[arg(long, value_parser = role)]
    role: Role,
    /// Read the password from stdin; a line break at its end is not part of it
    #[arg(long, required = true)]
    password_stdin: bool,
    #[command(flatten)]
    database: DatabaseFlags,
}

/// Runs the command.
pub async fn run(UserCommand::Add(args): UserCommand) -> Result<(), Failure> {
    let settings = config::load(args.database, ServeFlags::default())?;
    let password = read_password()?;
    let ledger = open(&settings, Mode::Tool).await?;
    let added = ledger::member::add_by_operator(&ledger, &args.tenant, &args.email, args.role, &password).await;
    ledger.close().await;
    let member = added?;
    print_line(&format!("{} is {} of {}", member.email, member.role.as_str(), args.tenant))
}

fn read_password() -> Result<String, Failure> {
    let mut password = String::new();
    // Two more for the line break, one to see that it is too long.
    let most = PASSWORD_BYTES_MAX as u64 + 3;
    std::io::stdin().take(most).read_to_string(&mut password).map_err(Failure::io("cannot read the password"))?;
    let end = password.trim_end_matches(['\r', '\n']).len();
    password.truncate(end);
    Ok(password)
}
