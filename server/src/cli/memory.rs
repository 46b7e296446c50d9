//! `shiftbook memory`: exports, imports, lists and reverts an agent's documents through the API, and asks for a run of
//! its writer.

use super::{
    common::{Failure, print_line},
    memory_card,
    memory_folder::{self, left_over, refuse, save},
    memory_forget::{ForgetArgs, RememberArgs, forget, remember},
    memory_pending,
    memory_ranker::{self, RankersArgs, TrainArgs, UseArgs},
    memory_status::{StatusArgs, status},
};
use chrono::{NaiveDate, NaiveTime};
use clap::builder::NonEmptyStringValueParser;
use client::Client;
use domain::{
    count::counted,
    id::SessionId,
    memory::{CardFormat, MemoryPath, digest, fold},
};
use similar::{ChangeTag, TextDiff};
use std::{
    collections::{BTreeMap, HashMap},
    io::ErrorKind,
    path::PathBuf,
};
use wire::{
    Code,
    memory::{MemoryVersion, RevertMemory, WriteMemory},
    memory_revert::{RevertMemorySession, RevertedMemorySession},
};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The server, the token and the agent.
#[derive(Debug, clap::Args)]
pub struct Server {
    /// Slug of the agent
    #[arg(long, value_name = "SLUG", value_parser = NonEmptyStringValueParser::new())]
    pub agent: String,
    /// Address of the server
    #[arg(long, env = "SHIFTBOOK_URL", default_value = "http://127.0.0.1:4210", value_parser = NonEmptyStringValueParser::new())]
    url: String,
    /// API token; set it in the environment
    #[arg(long, env = "SHIFTBOOK_TOKEN", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    token: String,
}

impl Server {
    /// Returns a client of the server.
    pub fn client(&self) -> Result<Client, Failure> {
        Client::new(&self.url, &self.token).map_err(|error| Failure::Misused(error.to_string()))
    }
}

/// Commands on the memory of an agent.
#[derive(Debug, clap::Subcommand)]
pub enum MemoryCommand {
    /// Write an agent's documents to a folder, byte for byte, and its character card to self/
    ///
    /// Proposals that wait for a decision become diffs below sessions/.pending/. An import leaves them out. If the
    /// folder has documents that the agent does not have, nothing is written: an import would bring them back.
    Export(FolderArgs),
    /// Read documents and the character card from a folder in the same layout
    ///
    /// Without --apply it only prints what it would change. Documents that the folder lacks are kept, but for those of
    /// fields that another card lacks. Files that are no documents are named, and nothing is written then.
    Import(ImportArgs),
    /// List the last versions: when, who, and why
    Log(LogArgs),
    /// Ask for a run of the agent's memory writer
    Run(RunArgs),
    /// Write the text of an earlier version as the newest one, or take back what a session wrote
    ///
    /// With --session and without --apply it only prints what it would change.
    Revert(RevertArgs),
    /// Forget a person in the memories of all agents
    ///
    /// Without --apply it only prints what it would erase.
    Forget(ForgetArgs),
    /// Let a person who was forgotten be remembered again
    Remember(RememberArgs),
    /// Learn from labels in which order agents are given memories
    ///
    /// Opens the database itself, whether or not the server is running. A model is used only if it is better than the
    /// formula on the newest sessions.
    Train(TrainArgs),
    /// List the trained models, newest first, with what they are worth
    Rankers(RankersArgs),
    /// Use an earlier model, or the formula alone
    UseRanker(UseArgs),
    /// List how many documents of each agent have vectors, and how many are pending
    ///
    /// Opens the database itself, whether or not the server is running.
    Status(StatusArgs),
}

/// Options of `memory export`.
#[derive(Debug, clap::Args)]
pub struct FolderArgs {
    /// The folder; made if it is missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Remove files of documents that the agent does not have
    #[arg(long)]
    prune: bool,
    #[command(flatten)]
    server: Server,
}

/// Options of `memory import`.
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// The folder to read; it must exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write the changes, instead of printing them
    #[arg(long)]
    apply: bool,
    #[command(flatten)]
    server: Server,
}

/// Options of `memory log`.
#[derive(Debug, clap::Args)]
pub struct LogArgs {
    /// Only versions of this document
    #[arg(value_name = "PATH")]
    path: Option<String>,
    /// Most versions to list
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    max: u32,
    #[command(flatten)]
    server: Server,
}

/// Options of `memory run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Also read the sessions that began on this day (UTC) or later, however long before the writer's first start
    #[arg(long, value_name = "DATE")]
    since: Option<NaiveDate>,
    #[command(flatten)]
    server: Server,
}

/// Options of `memory revert`.
#[derive(Debug, clap::Args)]
pub struct RevertArgs {
    /// The document
    #[arg(value_name = "PATH", required_unless_present = "session", conflicts_with = "session", requires = "to")]
    path: Option<String>,
    /// The version whose text is written again
    #[arg(long, value_name = "VERSION", conflicts_with = "session", value_parser = clap::value_parser!(u64).range(1..))]
    to: Option<u64>,
    /// Take out every line, of all documents, that comes from a turn of this session
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
    /// With --session: write the changes, instead of printing them
    #[arg(long, requires = "session")]
    apply: bool,
    /// Shown in the history
    #[arg(long, default_value = "")]
    reason: String,
    #[command(flatten)]
    server: Server,
}

/// Runs the command.
pub async fn run(command: MemoryCommand) -> Result<(), Failure> {
    match command {
        MemoryCommand::Export(args) => export(&args).await,
        MemoryCommand::Import(args) => import(&args).await,
        MemoryCommand::Log(args) => log(&args).await,
        MemoryCommand::Run(args) => ask(&args).await,
        MemoryCommand::Revert(args) => revert(&args).await,
        MemoryCommand::Forget(args) => forget(args).await,
        MemoryCommand::Remember(args) => remember(args).await,
        MemoryCommand::Train(args) => memory_ranker::train(args).await,
        MemoryCommand::Rankers(args) => memory_ranker::list(args).await,
        MemoryCommand::UseRanker(args) => memory_ranker::switch(args).await,
        MemoryCommand::Status(args) => status(args).await,
    }
}

fn failed(error: client::Error) -> Failure {
    Failure::Failed(error.to_string())
}

/// Path, version and SHA-256 of every document of the agent.
async fn listed(client: &Client, agent: &str) -> Result<BTreeMap<String, (u64, String)>, Failure> {
    let mut all = BTreeMap::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = client.list_memory(agent, cursor.as_deref()).await.map_err(failed)?;
        all.extend(page.items.into_iter().map(|document| (document.path, (document.version, document.sha256))));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

async fn export(args: &FolderArgs) -> Result<(), Failure> {
    let client = args.server.client()?;
    let agent = &args.server.agent;
    let all = listed(&client, agent).await?;
    let old = left_over(&args.folder, |path| all.contains_key(path))?;
    if args.prune {
        if all.is_empty() && !old.is_empty() {
            return Err(Failure::Failed(format!(
                "the agent {agent} has no documents, and --prune would empty the folder; nothing was removed. Correct \
                 the name of the agent, or name another folder"
            )));
        }
    } else {
        let what = "the folder has documents that the agent does not have, and an import would bring them back; nothing \
                    was written. Repeat it with --prune to remove them, or name another folder";
        refuse(what, old.iter().map(|(path, _)| path.to_string()).collect())?;
    }
    // Old files are removed last: if the export fails before, the folder still has them.
    let mut stale: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for (path, file) in old {
        stale.entry(path.folded()).or_default().push(file);
    }
    let remove_all = |files: Vec<PathBuf>| files.iter().try_for_each(|file| memory_folder::remove(file));
    let mut unwritten = Vec::new();
    for path in all.keys() {
        // The server's paths are checked again: they become paths of this machine.
        let checked = MemoryPath::parse(path).map_err(|why| Failure::Failed(format!("{path}: {why}")))?;
        let found = client.get_memory(agent, checked.as_str()).await.map_err(failed)?;
        // A file whose name differs in case only is the same file on some systems.
        remove_all(stale.remove(&checked.folded()).unwrap_or_default())?;
        match save(&args.folder, checked.as_str(), found.text.as_bytes()) {
            Err(Failure::Io { error, .. }) if error.kind() == ErrorKind::InvalidFilename => {
                unwritten.push(format!("{path}: {error}"));
            }
            saved => saved?,
        }
    }
    let original = |ending: &str| format!("self/.original.{ending}");
    // The original of an earlier card may have the other ending.
    let old = match client.get_card(agent).await {
        Ok(card) => {
            let is_image = card.media_type == CardFormat::Png;
            let (ending, other) = if is_image { ("png", "json") } else { ("json", "png") };
            let bytes = client.download_card(agent).await.map_err(failed)?;
            save(&args.folder, &original(ending), &bytes)?;
            vec![other]
        }
        Err(error) if error.code() == Some(Code::NotFound) => vec!["png", "json"],
        Err(error) => return Err(failed(error)),
    };
    old.into_iter().try_for_each(|ending| memory_folder::remove(&args.folder.join(original(ending))))?;
    let pending = memory_pending::export(&client, agent, &args.folder).await?;
    stale.into_values().try_for_each(remove_all)?;
    let documents = counted((all.len() - unwritten.len()) as u64, "document");
    print_line(&format!("{documents}, {}", counted(pending as u64, "proposal")))?;
    let what = "documents whose names are too long for the folder; everything else was written. Rename them and repeat \
                the export";
    refuse(what, unwritten)
}

async fn import(args: &ImportArgs) -> Result<(), Failure> {
    let documents = memory_folder::read(&args.folder)?;
    let original = memory_card::read(&args.folder)?;
    let client = args.server.client()?;
    let agent = &args.server.agent;
    let all = listed(&client, agent).await?;
    let called: HashMap<String, &String> = all.keys().map(|path| (fold(path), path)).collect();
    let other = documents.iter().filter_map(|(path, _)| {
        let known = called.get(&path.folded()).filter(|known| known.as_str() != path.as_str())?;
        Some(format!("{path}: the agent has this document as {known}"))
    });
    refuse("files that cannot be imported; nothing was written", other.collect())?;
    let original = match original {
        Some(card) if card.is_new(&client, agent).await? => Some(card),
        _ => None,
    };
    if let Some(card) = &original {
        print_line(&format!("{}: the agent gets this character card before the documents", card.path))?;
    }
    let mut changed = 0_u64;
    for (path, text) in &documents {
        let before = all.get(path.as_str());
        if is_at(before, text) {
            continue;
        }
        changed += 1;
        let old = match before {
            Some(_) => client.get_memory(agent, path.as_str()).await.map_err(failed)?.text,
            None => String::new(),
        };
        for line in unified(path.as_str(), &old, text) {
            print_line(&line)?;
        }
    }
    let mut has_card = original.is_some();
    if args.apply {
        let mut current = all.clone();
        if let Some(card) = original {
            let has = |lost: &str| documents.iter().any(|(path, _)| path.as_str() == lost);
            has_card = card.give(&client, agent, has).await?;
            // The card has written documents below self/. Of others the version stays that the diff was made of.
            let is_own = |path: &str| path.starts_with("self/");
            current.retain(|path, _| !is_own(path));
            current.extend(listed(&client, agent).await?.into_iter().filter(|(path, _)| is_own(path)));
            // The diff has the documents of the folder. The card can have written others.
            let others = current.iter().filter(|(path, of)| is_own(path) && !has(path) && all.get(*path) != Some(*of));
            changed += others.count() as u64;
        }
        write_all(&client, agent, &current, documents).await?;
    }
    let card = if has_card { "the character card and " } else { "" };
    let word = if args.apply { "written" } else { "would be written; repeat it with --apply" };
    print_line(&format!("{card}{} {word}", counted(changed, "document")))
}

/// Whether a document has this text.
fn is_at(document: Option<&(u64, String)>, text: &str) -> bool {
    document.is_some_and(|(_, sha256)| *sha256 == digest(text).to_string())
}

/// Asks for a run of the agent's writer.
async fn ask(args: &RunArgs) -> Result<(), Failure> {
    let since = args.since.map(|day| day.and_time(NaiveTime::MIN).and_utc());
    let asked = args.server.client()?.flush_memory(&args.server.agent, since).await.map_err(failed)?;
    if let Some(added) = asked.added_sessions {
        print_line(&format!("{} added", counted(added, "session")))?;
    }
    match asked.reason {
        None => print_line("asked; the run begins within seconds"),
        Some(reason) => print_line(&format!("the request is kept: {reason}")),
    }
}

/// Writes the documents that differ from those of the agent.
async fn write_all(
    client: &Client,
    agent: &str,
    all: &BTreeMap<String, (u64, String)>,
    documents: Vec<(MemoryPath, String)>,
) -> Result<(), Failure> {
    let mut count = 0;
    for (path, text) in documents {
        let before = all.get(path.as_str());
        if is_at(before, &text) {
            continue;
        }
        let base_version = before.map_or(0, |(version, _)| *version);
        let reason = "Imported from a folder.".to_owned();
        let write = WriteMemory { base_version, text, reason, is_import: true, ..WriteMemory::default() };
        client.write_memory(agent, path.as_str(), &write).await.map_err(|error| {
            let before = counted(count, "document");
            Failure::Failed(format!("{path}: {error}. The import ended there; {before} written before it"))
        })?;
        count += 1;
    }
    Ok(())
}

/// The change of one document as `diff -u` shows it. Control characters are shown as `·`.
fn unified(path: &str, old: &str, new: &str) -> Vec<String> {
    let visible = |text: &str| text.trim_end_matches('\n').replace(|c: char| c.is_control() && c != '\t', "·");
    let mut lines = vec![format!("--- {path}"), format!("+++ {path}")];
    let diff = TextDiff::from_lines(old, new);
    for group in diff.grouped_ops(CONTEXT) {
        lines.push("@@".to_owned());
        for op in group {
            for change in diff.iter_changes(&op) {
                let sign = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Insert => '+',
                    ChangeTag::Delete => '-',
                };
                lines.push(format!("{sign}{}", visible(change.value())));
            }
        }
    }
    lines
}

async fn log(args: &LogArgs) -> Result<(), Failure> {
    let client = args.server.client()?;
    let page = client.list_memory_versions(&args.server.agent, args.path.as_deref(), args.max).await;
    page.map_err(failed)?.items.iter().try_for_each(|version| print_line(&log_line(version)))
}

/// One version as a line. Control characters are shown as `·`.
fn log_line(version: &MemoryVersion) -> String {
    let at = version.created_at.format("%Y-%m-%dT%H:%M:%SZ");
    let MemoryVersion { operation, path, source, reason, .. } = version;
    let author = version.author_name.as_ref().unwrap_or(&version.author);
    let line = format!("{at} v{} {operation} {path} by {source} {author} {reason}", version.version);
    line.trim_end().replace(|c: char| c.is_control() && c != '\t', "·")
}

async fn revert(args: &RevertArgs) -> Result<(), Failure> {
    let client = args.server.client()?;
    let agent = &args.server.agent;
    if let Some(session_id) = args.session {
        let revert = RevertMemorySession { session_id, reason: args.reason.clone(), apply: args.apply };
        let reverted = client.revert_memory_session(agent, &revert).await.map_err(failed)?;
        return report(&reverted).iter().try_for_each(|line| print_line(line));
    }
    let (Some(path), Some(to_version)) = (&args.path, args.to) else {
        return Err(Failure::Misused("name a document and the version, or a session".into()));
    };
    let newest = client.list_memory_versions(agent, Some(path), 1).await.map_err(failed)?;
    let base_version = newest.items.first().map_or(0, |version| version.version);
    let revert =
        RevertMemory { path: path.clone(), to_version, base_version, reason: args.reason.clone(), session_id: None };
    let written = client.revert_memory(agent, &revert).await.map_err(failed)?;
    print_line(&format!("{} is at version {} now", written.path, written.version))
}

/// The answer as lines: of each document the lines that change. Control characters are shown as `·`.
fn report(reverted: &RevertedMemorySession) -> Vec<String> {
    let visible = |text: &str| text.replace(|c: char| c.is_control() && c != '\t', "·");
    let mut lines = Vec::new();
    for document in &reverted.documents {
        let what = if document.is_whole { ": deleted" } else { "" };
        lines.push(format!("{} at version {}{what}", visible(&document.path), document.version));
        for line in document.lines.iter().filter(|line| line.old.is_none() || line.new.is_none()) {
            let sign = if line.new.is_none() { '-' } else { '+' };
            let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
            lines.push(format!("  {sign}{}", visible(&text)));
        }
    }
    let word = if reverted.applied { "reverted" } else { "would be reverted; repeat it with --apply" };
    lines.push(format!("{} {word}", counted(reverted.documents.len() as u64, "document")));
    if reverted.has_more {
        lines.push("more documents name the session; they follow when these are reverted".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_as_diff_shows_it() {
        let lines = unified("topics/a.md", "a\nb\n", "a\nc\u{1b}\n");
        assert_eq!(lines, ["--- topics/a.md", "+++ topics/a.md", "@@", " a", "-b", "+c·"]);
    }

    #[test]
    fn a_version_names_its_author() {
        let version = serde_json::json!({
            "documentId": "0193b0a0-0000-7000-8000-000000000001", "version": 2, "path": "topics/a.md",
            "operation": "modified", "sha256": "0".repeat(64), "source": "person",
            "author": "user:0193b0a0-0000-7000-8000-000000000002", "authorName": "Mia\u{1b}", "reason": "Typo.",
            "createdAt": "2026-11-25T10:00:00Z",
        });
        let mut version: MemoryVersion = serde_json::from_value(version).unwrap();
        let line = log_line(&version);
        assert_eq!(line, "2026-11-25T10:00:00Z v2 modified topics/a.md by person Mia· Typo.");
        version.author_name = None;
        assert!(log_line(&version).contains("by person user:0193b0a0"));
    }
}
