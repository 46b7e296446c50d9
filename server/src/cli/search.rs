//! `shiftbook search`: finds events, and makes the index of the search anew.

use super::common::{Failure, open, print_line};
use crate::config::{self, DatabaseFlags, ServeFlags};
use clap::builder::NonEmptyStringValueParser;
use client::{Client, EventSearch, SessionFilter};
use domain::{
    count::counted,
    id::SessionId,
    limit::PAGE_MAX,
    search::Kind,
    session::{Sort, Status},
};
use ledger::Mode;
use std::io::{IsTerminal, Write};
use wire::search::FoundEvents;

/// Commands on the search over events.
#[derive(Debug, clap::Subcommand)]
pub enum SearchCommand {
    /// Print what has these words: tasks, entities, questions and memory, then events, newest first
    ///
    /// One line for each record: kind, id, time and name. At most 10, with --kind at most 50. One line for each event:
    /// session, sequence, time, kind and text. At most 20 sessions, with 3 events each. Beside the
    /// words there can be conditions on the session: agent, status, type, task, title, error, by, cost, duration, after
    /// and before, as in: token agent:scout status:failed,expired 'cost>0.5' after:fri
    Find(FindArgs),
    /// Print the sessions that a search line finds, newest first or in another order
    ///
    /// One line for each: session, status, time of creation, agent and title. The line has conditions, words, or both.
    /// Words are found in titles, and in the newest 4,000 events that have them. With no argument, all sessions.
    Sessions(SessionsArgs),
    /// Print the events of one session that have this text, oldest first
    ///
    /// One line for each: sequence, time, kind and text, at most 1,000, then their number. The text is found as it is
    /// written, in letters of either case, in the log itself: no index is needed.
    Log(LogArgs),
    /// Make the index anew from the log, in all workspaces
    ///
    /// Works whether or not the server is running. Meanwhile a search finds only what is in the index already.
    Rebuild(RebuildArgs),
}

/// Options of `search find`.
#[derive(Debug, clap::Args)]
pub struct FindArgs {
    /// Words, of which an event must have all; "a phrase", begin* and -not; and conditions
    #[arg(value_name = "WORDS", required = true, allow_hyphen_values = true)]
    words: Vec<String>,
    /// Only what is of this kind: task, entity, question, memory or event
    #[arg(long, value_parser = kind)]
    kind: Option<Kind>,
    /// Only sessions of this agent
    #[arg(long, value_name = "SLUG")]
    agent: Option<String>,
    /// Only sessions that have this status now
    #[arg(long, value_parser = status)]
    status: Option<Status>,
    #[command(flatten)]
    server: ServerArgs,
}

/// Options of `search sessions`.
#[derive(Debug, clap::Args)]
pub struct SessionsArgs {
    /// Conditions and words
    #[arg(value_name = "LINE", allow_hyphen_values = true)]
    line: Vec<String>,
    /// Order: newest, oldest, duration (longest first), cost (highest first) or activity (latest event first)
    #[arg(long, value_name = "ORDER", value_parser = sort)]
    sort: Option<Sort>,
    /// Most sessions to print
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    #[command(flatten)]
    server: ServerArgs,
}

/// Options of `search log`.
#[derive(Debug, clap::Args)]
pub struct LogArgs {
    /// Id of the session
    #[arg(value_name = "SESSION")]
    session: SessionId,
    /// The text to find
    #[arg(value_name = "TEXT", required = true, allow_hyphen_values = true)]
    text: Vec<String>,
    #[command(flatten)]
    access: AccessArgs,
}

/// The server, and whose days it counts by.
#[derive(Debug, clap::Args)]
pub struct ServerArgs {
    /// Time zone of days such as today and fri, as an IANA name; UTC without it
    #[arg(long, value_name = "ZONE", value_parser = NonEmptyStringValueParser::new())]
    timezone: Option<String>,
    #[command(flatten)]
    access: AccessArgs,
}

/// The server.
#[derive(Debug, clap::Args)]
pub struct AccessArgs {
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

fn kind(text: &str) -> Result<Kind, String> {
    Kind::parse(text).ok_or_else(|| format!("one of {}", Kind::ALL.map(Kind::as_str).join(", ")))
}

fn sort(text: &str) -> Result<Sort, String> {
    Sort::parse(text).ok_or_else(|| format!("one of {}", Sort::ALL.map(Sort::as_str).join(", ")))
}

/// Runs the command.
pub async fn run(command: SearchCommand) -> Result<(), Failure> {
    match command {
        SearchCommand::Find(args) => find(args).await,
        SearchCommand::Sessions(args) => sessions(args).await,
        SearchCommand::Log(args) => log(args).await,
        SearchCommand::Rebuild(args) => rebuild(args).await,
    }
}

async fn find(args: FindArgs) -> Result<(), Failure> {
    let (client, timezone) = args.server.client()?;
    let (query, kind, agent, status) = (args.words.join(" "), args.kind, args.agent, args.status);
    let search = EventSearch { query, kind, agent, status, timezone, ..EventSearch::default() };
    let found = client.search_events(&search).await?;
    for line in lines(&found) {
        print_line(&line)?;
    }
    Ok(())
}

impl ServerArgs {
    /// A client of the server, and the time zone.
    fn client(self) -> Result<(Client, Option<String>), Failure> {
        Ok((self.access.client()?, self.timezone))
    }
}

impl AccessArgs {
    fn client(&self) -> Result<Client, Failure> {
        Client::new(&self.url, &self.token).map_err(|error| Failure::Misused(error.to_string()))
    }
}

async fn log(args: LogArgs) -> Result<(), Failure> {
    let found = args.access.client()?.find_events(args.session, &args.text.join(" "), 0, Some(PAGE_MAX)).await?;
    for event in &found.items {
        let text: String = event.snippet.iter().map(|piece| piece.text.as_str()).collect();
        let at = event.recorded_at.format("%Y-%m-%dT%H:%M:%SZ");
        print_line(&format!("{} {at} {} {text}", event.sequence, event.event_type))?;
    }
    let least = if found.total_is_exact { "" } else { "at least " };
    print_line(&format!("{least}{} with this text", counted(found.total, "event")))
}

async fn sessions(args: SessionsArgs) -> Result<(), Failure> {
    let (client, timezone) = args.server.client()?;
    let (line, mut left, mut cursor, mut is_empty) = (args.line.join(" "), args.limit, None, true);
    loop {
        let (query, timezone) = (Some(line.clone()), timezone.clone());
        let filter =
            SessionFilter { query, timezone, sort: args.sort, limit: Some(left), cursor, ..SessionFilter::default() };
        let page = client.list_sessions(&filter).await?;
        for session in &page.items {
            let at = session.created_at.format("%Y-%m-%dT%H:%M:%SZ");
            let agent = session.agent_slug.as_deref().unwrap_or("-");
            print_line(&format!("{} {} {at} {agent} {}", session.id, session.status.as_str(), session.title))?;
        }
        is_empty &= page.items.is_empty();
        left = left.saturating_sub(u32::try_from(page.items.len()).unwrap_or(u32::MAX));
        cursor = page.next_cursor;
        if left == 0 && cursor.is_some() {
            return print_line("there may be more sessions");
        }
        if left == 0 || cursor.is_none() {
            return if is_empty { print_line("no session is found") } else { Ok(()) };
        }
    }
}

/// A line for each record and each event, and what else there is to know.
fn lines(found: &FoundEvents) -> Vec<String> {
    let mut lines = Vec::new();
    for record in &found.records {
        let at = record.changed_at.format("%Y-%m-%dT%H:%M:%SZ");
        lines.push(format!("{} {} {at} {}", record.kind, record.id, record.name));
    }
    if found.has_more_records {
        lines.push("there are more records with these words".to_owned());
    }
    if found.has_older_records {
        lines.push("records older than the newest 5,000 of their kind are found by their names alone".to_owned());
    }
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
        lines.push("nothing has these words".to_owned());
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
