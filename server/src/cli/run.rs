//! Reads the command line, and runs the command in a runtime.

use super::{
    agent, ask, backup, chat, check_config,
    common::{FAILED, Failure, MISUSED, report},
    connect, export, feedback, hook, install, mcp, memory, openapi, restore, retention, search, serve, telemetry,
    token, tool, user, verify, view, work,
};
use crate::{build_version::VERSION, log::LogSettings};
use clap::{Parser, Subcommand};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  shiftbook serve                                    a server on http://127.0.0.1:4210 with its data in ./shiftbook-data
  shiftbook serve --listen 127.0.0.1:0               on a free port; the first line on stdout says which
  shiftbook user add --tenant acme --email ann@example.org --role admin --password-stdin < password
  shiftbook token add --tenant acme --name ci --role operator --scope worker
  SHIFTBOOK_TOKEN=sbk_… shiftbook work --agent scout -- python agent.py
  SHIFTBOOK_TOKEN=sbk_… shiftbook chat --agent clerk  a conversation in the terminal
  shiftbook install bundle.yaml --apply              criteria sets, groups, entity types, forms and tasks
  shiftbook view push form.yaml --publish            a form that people answer
  shiftbook tool run weather --input city.json       a tool, with its result on stdout
  shiftbook connect claude-code                      let Claude Code report what it does, and give it its memories
  shiftbook export training --tenant acme --format dpo --out pairs
  shiftbook memory export backup --agent scout        an agent's memory as files
  shiftbook verify && shiftbook backup /backup/log.db
  shiftbook restore /backup/log.db --key /safe/instance.key
  shiftbook check-config --sample > shiftbook.toml    a settings file with every setting, as comments
  shiftbook feedback purge --before 2026-05-25       remove old ratings

Exit codes:
  0  done
  1  the command failed; `verify` found something wrong
  2  arguments or settings that cannot be used, or no database where they point

Settings come from flags, then SHIFTBOOK_* variables, then the TOML file of --config, then defaults.
Logs go to stderr. SHIFTBOOK_LOG=info,shiftbook::request=debug adds a line for every request, not only for refused ones.";

/// The shared work log of people and agents.
#[derive(Debug, Parser)]
#[command(name = "shiftbook", version = VERSION, after_help = EXAMPLES, propagate_version = true)]
struct Cli {
    /// How much to log on stderr: warn, info, debug, or a tracing filter [default: info for serve, warn otherwise]
    #[arg(long, global = true, env = "SHIFTBOOK_LOG", value_name = "FILTER")]
    log: Option<String>,
    /// Format of the log on stderr: text, or json for one object a line [default: text]
    #[arg(long, global = true, env = "SHIFTBOOK_LOG_FORMAT", value_name = "FORMAT")]
    log_format: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server
    Serve(serve::ServeArgs),
    /// Manage people
    #[command(subcommand)]
    User(user::UserCommand),
    /// Manage API tokens
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Check the hash chain of every session, its row, and the database file
    Verify(verify::VerifyArgs),
    /// Copy the database while the server runs (SQLite)
    Backup(backup::BackupArgs),
    /// Put a backup into a data directory that has no database (SQLite)
    Restore(restore::RestoreArgs),
    /// Check the settings of a server without starting it, and say what they come to
    CheckConfig(check_config::CheckConfigArgs),
    /// Erase the content of sessions that ended before a date; the log without content stays, and still verifies
    ///
    /// Without --apply it only prints what it would erase. On SQLite the server must be stopped.
    Retention(retention::RetentionArgs),
    /// Search the events of all sessions, and make the index of the search anew
    #[command(subcommand)]
    Search(search::SearchCommand),
    /// Count, list and purge people's ratings of sessions
    #[command(subcommand)]
    Feedback(feedback::FeedbackCommand),
    /// Ask people in the middle of a session
    Ask(ask::AskArgs),
    /// Install criteria sets, groups, entity types, forms and tasks from a file
    ///
    /// Without --apply it only prints what it would do.
    Install(install::InstallArgs),
    /// Create, change and list forms that people answer
    #[command(subcommand)]
    View(view::ViewCommand),
    /// List and run tools
    #[command(subcommand)]
    Tool(tool::ToolCommand),
    /// Export training data
    #[command(subcommand)]
    Export(export::ExportCommand),
    /// Run a command for each session of an agent
    Work(work::WorkArgs),
    /// Chat with an agent
    Chat(chat::ChatArgs),
    /// Connect a coding host: record its sessions, give its agent memories, take its ratings of them
    ///
    /// Shows each change of the host's settings and asks before it writes.
    Connect(connect::ConnectArgs),
    /// Offer the tool `rate_memories` to a coding host, by the Model Context Protocol on stdin and stdout
    Mcp,
    /// Record coding agents through their hooks
    #[command(subcommand)]
    Hook(hook::HookCommand),
    /// Export, import, list and revert the memory documents of an agent
    #[command(subcommand)]
    Memory(memory::MemoryCommand),
    /// Share numbers about the usefulness of memories for training, or not
    #[command(subcommand)]
    Telemetry(telemetry::TelemetryCommand),
    /// Give an agent a character card
    #[command(subcommand)]
    Agent(agent::AgentCommand),
    /// Print the OpenAPI document
    Openapi,
}

/// SQLite calls block their thread while they wait for the disk; other threads must be free meanwhile.
const WORKERS_PER_CORE: usize = 2;
/// Fewest threads on machines with few cores.
const WORKERS_MIN: usize = 4;

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    let is_call = hook::is_call(std::env::args_os());
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _closed = error.print();
            let misused = if is_call { FAILED } else { MISUSED };
            return if error.use_stderr() { ExitCode::from(misused) } else { ExitCode::SUCCESS };
        }
    };
    let default_level = if matches!(cli.command, Command::Serve(_)) { "info" } else { "warn" };
    let filter = cli.log.filter(|filter| !filter.trim().is_empty()).unwrap_or_else(|| default_level.to_owned());
    let log = match LogSettings::parse(&filter, cli.log_format.as_deref()) {
        // The server begins to log when it has read its settings, which say whether spans are exported.
        Ok(log) if matches!(cli.command, Command::Serve(_)) => Ok(Some(log)),
        Ok(log) => log.begin(None).map(|()| None),
        Err(message) => Err(message),
    };
    let log = match log {
        Ok(log) => log,
        Err(_) if is_call => None,
        Err(message) => return report(&Failure::Misused(message)),
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads((threads * WORKERS_PER_CORE).max(WORKERS_MIN))
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return report(&Failure::Io { context: "cannot start".into(), error }),
    };
    let code = runtime.block_on(dispatch(cli.command, log));
    // Does not wait for blocking reads of standard input or name lookups.
    runtime.shutdown_background();
    code
}

async fn dispatch(command: Command, log: Option<LogSettings>) -> ExitCode {
    let outcome = match command {
        Command::Serve(args) => serve::run(args, log).await,
        Command::User(command) => user::run(command).await,
        Command::Token(command) => token::run(command).await,
        Command::Verify(args) => verify::run(args).await,
        Command::Backup(args) => backup::run(args).await,
        Command::Restore(args) => restore::run(args).await,
        Command::CheckConfig(args) => check_config::run(args).await,
        Command::Retention(args) => retention::run(args).await,
        Command::Chat(args) => chat::run(args).await,
        Command::Search(command) => search::run(command).await,
        Command::Feedback(command) => feedback::run(command).await,
        Command::Ask(args) => ask::run(args).await,
        Command::Install(args) => install::run(args).await,
        Command::View(command) => view::run(command).await,
        Command::Tool(command) => tool::run(command).await,
        Command::Export(command) => export::run(command).await,
        Command::Connect(args) => connect::run(args).await,
        Command::Mcp => mcp::run(),
        Command::Hook(command) => return hook::run(command).await,
        Command::Memory(command) => memory::run(command).await,
        Command::Telemetry(command) => telemetry::run(command).await,
        Command::Agent(command) => agent::run(command).await,
        Command::Openapi => openapi::run(),
        Command::Work(args) => return work::run(args).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_document_for_operators_has_a_row_for_every_command() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operations.md");
        let text = std::fs::read_to_string(file).unwrap();
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let begin = format!("| `shiftbook {name}");
            let rows: Vec<_> = text.lines().filter(|line| line.starts_with(&begin)).collect();
            assert!(!rows.is_empty(), "docs/operations.md has no row for `{name}`");
            for part in command.get_subcommands().map(clap::Command::get_name) {
                assert!(rows.iter().any(|row| row.contains(part)), "no row for `{name} {part}`");
            }
        }
    }
}
