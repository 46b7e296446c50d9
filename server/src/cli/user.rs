//! `shiftbook user add`, `remove`, `deactivate`, `activate` and `reset-link`

use super::common::{Failure, open, print_line, role};
use crate::{
    config::{self, DatabaseFlags, ServeFlags},
    state::access_link_url,
};
use domain::{limit::PASSWORD_BYTES_MAX, role::Role};
use ledger::{
    Mode,
    member::{self, Withdrawal},
};
use std::io::Read;

/// Commands on people.
#[derive(Debug, clap::Subcommand)]
pub enum UserCommand {
    /// Add a person to a workspace, or change their role and password
    ///
    /// The workspace is created if it does not exist. Works whether or not the server is running.
    ///
    /// A password that replaces another one ends every sign-in of that person. The last admin of a workspace keeps
    /// their role.
    Add(AddArgs),
    /// Remove a person from a workspace; what they did stays in the log
    ///
    /// Their sign-ins, their own tokens and the streams that they follow stop within a second, also in a running
    /// server.
    Remove(WhoArgs),
    /// Take a person's access away until they are activated again
    Deactivate(WhoArgs),
    /// Give a deactivated person their access back: their role, groups and own tokens work as before
    Activate(WhoArgs),
    /// Print a link, alone, on stdout, by which a person chooses a new password: it works once, within 24 hours
    ResetLink(ResetArgs),
}

/// Options of commands on one member.
#[derive(Debug, clap::Args)]
pub struct WhoArgs {
    /// Slug of the workspace
    #[arg(long, value_name = "SLUG")]
    tenant: String,
    /// Sign-in address
    #[arg(long)]
    email: String,
    #[command(flatten)]
    database: DatabaseFlags,
}

/// Options of `user reset-link`.
#[derive(Debug, clap::Args)]
pub struct ResetArgs {
    #[command(flatten)]
    who: WhoArgs,
    /// The address that browsers see [default: the file's, or the one that the file has the server listen on]
    #[arg(long, env = "SHIFTBOOK_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
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
pub async fn run(command: UserCommand) -> Result<(), Failure> {
    match command {
        UserCommand::Add(args) => add(args).await,
        UserCommand::Remove(args) => withdraw(args, Withdrawal::Remove).await,
        UserCommand::Deactivate(args) => withdraw(args, Withdrawal::Deactivate).await,
        UserCommand::Activate(args) => activate(args).await,
        UserCommand::ResetLink(args) => reset_link(args).await,
    }
}

async fn withdraw(args: WhoArgs, how: Withdrawal) -> Result<(), Failure> {
    let settings = config::load(args.database, ServeFlags::default())?;
    let ledger = open(&settings, Mode::Tool).await?;
    let done = member::withdraw_by_operator(&ledger, &args.tenant, &args.email, how).await;
    ledger.close().await;
    let now = match how {
        Withdrawal::Deactivate => "is deactivated in",
        Withdrawal::Remove => "is removed from",
    };
    print_line(&format!("{} {now} {}", done?.email, args.tenant))
}

async fn activate(args: WhoArgs) -> Result<(), Failure> {
    let settings = config::load(args.database, ServeFlags::default())?;
    let ledger = open(&settings, Mode::Tool).await?;
    let done = member::activate_by_operator(&ledger, &args.tenant, &args.email).await;
    ledger.close().await;
    let member = done?;
    print_line(&format!("{} is active in {}, as {}", member.email, args.tenant, member.role.as_str()))
}

async fn reset_link(ResetArgs { who, public_url }: ResetArgs) -> Result<(), Failure> {
    let settings = config::load(who.database, ServeFlags { public_url, ..ServeFlags::default() })?;
    let ledger = open(&settings, Mode::Tool).await?;
    let made = member::reset_link_by_operator(&ledger, &who.tenant, &who.email).await;
    ledger.close().await;
    let (_, secret) = made?;
    let origin =
        settings.public_url.map_or_else(|| format!("http://{}", settings.listen), |url| url.origin().to_owned());
    print_line(&access_link_url(&origin, &secret))
}

async fn add(args: AddArgs) -> Result<(), Failure> {
    let settings = config::load(args.database, ServeFlags::default())?;
    let password = read_password()?;
    let ledger = open(&settings, Mode::Tool).await?;
    let added = member::add_by_operator(&ledger, &args.tenant, &args.email, args.role, &password).await;
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
