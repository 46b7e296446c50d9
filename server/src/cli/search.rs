//! `shiftbook search`: finds events, and makes the index of the search anew.

use super::common::{Failure, open, print_line};
use crate::config::{self, DatabaseFlags, ServeFlags};
use clap::builder::NonEmptyStringValueParser;
use client::{Client, EventSearch};
use domain::{count::counted, session::Status};
use ledger::Mode;
use std::io::{IsTerminal, Write};
use wire::search::FoundEvents;

/// Commands on the search over events.
#[derive(Debug, clap::Subcommand)]
pub enum SearchCommand {
    /// Print the events that have these words, newest first
    ///
    /// One line for each: session, sequence, time, kind and text. At most 20 sessions, with 3 events each.
    Find(FindArgs),
    /// Make the index anew from the log, in all workspaces
    ///
    /// Works whether or not the server is running. Meanwhile a search finds only what is in the index already.
    Rebuild(RebuildArgs),
}

/// Options of `search find`.
#[derive(Debug, clap::Args)]
pub struct FindArgs {
    /// Words, of which an event must have all; "a phrase", begin* and -not
    #[arg(value_name = "WORDS", required = true, allow_hyphen_values = true)]
    words: Vec<String>,
    /// Only sessions of this agent
    #[arg(long, value_name = "SLUG")]
    agent: Option<String>,
    /// Only sessions that have this status now
    #[arg(long, value_parser = status)]
    status: Option<Status>,
    /// Address of the server
    #[arg(long, env = "SHIFTBOOK_URL", default_value = "http://127.0.0.1:4210", value_parser = NonEmptyStringValueParser::new())]
    url: String,
    /// API token; set it in the environment
    #[arg(long, env = "SHIFTBOOK_TOKEN", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    token: String,
}

/// Options of `search rebuild`.
#[derive(Debug, clap::Args)]
pub struct RebuildArgs {
    #[command(flatten)]
    database: DatabaseFlags,
}

fn status(text: &str) -> Result<Status, String> {
    Status::parse(text).ok_or_else(|| format!("one of {}", Status::ALL.map(Status::as_str).join(", ")))
}

/// Runs the command.
pub async fn run(command: SearchCommand) -> Result<(), Failure> {
    match command {
        SearchCommand::Find(args) => find(args).await,
        SearchCommand::Rebuild(args) => rebuild(args).await,
    }
}

async fn find(args: FindArgs) -> Result<(), Failure> {
    let client = Client::new(&args.url, &args.token).map_err(|error| Failure::Misused(error.to_string()))?;
    let search =
        EventSearch { query: args.words.join(" "), agent: args.agent, status: args.status, ..EventSearch::default() };
    let found = client.search_events(&search).await?;
    for line in lines(&found) {
        print_line(&line)?;
    }
    Ok(())
}

/// A line for each event, and what else there is to know.
fn lines(found: &FoundEvents) -> Vec<String> {
    let mut lines = Vec::new();
    for session in &found.items {
        for event in &session.events {
            let text: String = event.snippet.iter().map(|piece| piece.text.as_str()).collect();
            let at = event.recorded_at.format("%Y-%m-%dT%H:%M:%SZ");
            lines.push(format!("{} {} {at} {} {text}", session.session_id, event.sequence, event.event_type));
        }
        if session.more_events > 0 {
            lines.push(format!(
                "{} has {} with these words",
                session.session_id,
                counted(session.more_events, "more event")
            ));
        }
    }
    if found.next_cursor.is_some() {
        lines.push("there may be older events with these words".to_owned());
    } else if lines.is_empty() {
        lines.push("no event has these words".to_owned());
    }
    lines
}

/// Shows the count so far, on terminals only.
fn show_progress(events: u64) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // A terminal that went away does not stop the work.
        let _gone = write!(terminal, "\r{} …", counted(events, "event"));
    }
}

async fn rebuild(args: RebuildArgs) -> Result<(), Failure> {
    let settings = config::load(args.database, ServeFlags::default())?;
    let ledger = open(&settings, Mode::Tool).await?;
    let rebuilt = ledger::search::rebuild_by_operator(&ledger, show_progress).await;
    ledger.close().await;
    print_line(&format!("the index is made anew: {} can be found", counted(rebuilt?, "event")))
}
