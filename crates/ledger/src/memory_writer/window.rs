//! Reads what one run is about: the turns past the watermarks, and the documents of those who take part.

use super::{SESSIONS_MAX, known, redacted};
use crate::{
    Ledger, Result,
    memory::{Marks, search_on},
};
use domain::{
    Scope, Timestamp,
    chain::Digest,
    id::{SessionId, TenantId, UserId},
    limit::PAGE_MAX,
    memory::{Folder, MemoryPath, Operation},
    memory_writer::{
        channel::Channel,
        check::{Shown, Window},
        dedupe::Known,
        evidence::Evidence,
        limit::{DOCUMENTS_LISTED_MAX, DOCUMENTS_SHOWN_MAX, WINDOW_CHARS_MAX, WINDOW_TURNS_MAX},
        prompt,
        run::RunCause,
        slot::session_path,
        turn::{self, KINDS, Participant, Taint, Turn},
    },
    thread::cut,
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::{Conn, memory_writer::OpenSession};

/// Most topics that are shown because the conversation has their words.
const TOPICS_MAX: u32 = 8;
/// Most characters of the card that the model is shown.
const CARD_CHARS_MAX: usize = 6_000;

/// The events of one session that a run covers: above `after` and up to `upto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Range {
    /// Whose log it is.
    pub session: SessionId,
    /// Its watermark before the run.
    pub after: u64,
    /// Its watermark after the run.
    pub upto: u64,
    /// Whether more turns can follow.
    #[serde(skip)]
    pub is_open: bool,
}

/// A run whose lease this server holds.
#[derive(Debug, Clone)]
pub struct RunWindow {
    /// Why the run is due.
    pub cause: RunCause,
    /// When its window was read (UTC).
    pub began: Timestamp,
    /// Events that the run covers, by session.
    pub ranges: Vec<Range>,
    /// Turns and documents.
    pub window: Window,
    /// The channels of the turns, in the order of their first turn.
    pub channels: Vec<Channel>,
    /// The text of the agent's character.
    pub card: String,
    /// Lines that are not proposed.
    pub known: Known,
    /// Number of reviewers who must approve a proposal.
    pub approvals: u32,
}

impl RunWindow {
    /// Digest of what the run covers and of the prompt's version.
    pub fn key(&self) -> Digest {
        let ranges = serde_json::to_string(&self.ranges).unwrap_or_default();
        Digest(Sha256::digest(format!("{}\n{ranges}", prompt::VERSION).as_bytes()).into())
    }
}

/// Reads the window of an agent whose lease this server holds.
pub(super) async fn read(
    ledger: &Ledger,
    tenant_id: TenantId,
    agent: &str,
    (cause, began): (RunCause, Timestamp),
) -> Result<RunWindow> {
    let (scope, agent, keeper) = (Scope::system(tenant_id), agent.to_owned(), ledger.clone());
    let read = ledger.snapshot(&scope, move |conn| {
        Box::pin(async move {
            let sessions = store::memory_writer::open_sessions(conn, tenant_id, &agent, SESSIONS_MAX).await?;
            let forgotten = Marks::read(conn, &keeper, tenant_id).await?;
            let mut reading = Reading { forgotten, ..Reading::default() };
            for session in &sessions {
                if !reading.has_room() {
                    break;
                }
                reading.session(conn, tenant_id, session).await?;
            }
            let known = known::read(conn, tenant_id, &agent, &sessions).await?;
            let (ranges, mut window, channels) = reading.done();
            let card = documents(conn, tenant_id, &agent, &mut window, &known).await?;
            Ok(RunWindow { cause, began, ranges, window, channels, card, known, approvals: 1 })
        })
    });
    read.await
}

#[derive(Default)]
struct Reading {
    ranges: Vec<Range>,
    window: Window,
    channels: HashMap<SessionId, Channel>,
    chars: usize,
    people: HashMap<UserId, Participant>,
    forgotten: Marks,
}

impl Reading {
    fn has_room(&self) -> bool {
        self.window.turns.len() < WINDOW_TURNS_MAX && self.chars < WINDOW_CHARS_MAX
    }

    async fn session(&mut self, conn: &mut Conn<'_>, tenant_id: TenantId, session: &OpenSession) -> Result<()> {
        let owner = self.owner(conn, tenant_id, session.user_id).await?;
        let kinds = KINDS.map(str::to_owned);
        let range = (session.sequence, session.head_sequence);
        let most = u32::try_from(WINDOW_TURNS_MAX).unwrap_or(u32::MAX);
        let page = store::event::after(conn, tenant_id, session.id, range, &kinds, most).await?;
        let mut upto = if page.has_more { None } else { Some(session.head_sequence) };
        let mut last = session.sequence;
        let before = self.window.turns.len();
        for event in &page.items {
            if !self.has_room() {
                upto = None;
                break;
            }
            last = event.sequence;
            let by = match turn::answerer(&event.kind, &event.actor) {
                Some(user_id) => self.owner(conn, tenant_id, Some(user_id)).await?,
                None => owner.clone(),
            };
            let read = turn::read(&event.kind, &event.actor, &event.content, &event.metadata, by.as_ref());
            let Some(content) = read else { continue };
            // Without a speaker it is an answer to the person of the session.
            let of = content.speaker.as_ref().or(owner.as_ref()).map(|speaker| speaker.path.as_str());
            // A mark of an earlier version stands for the path of that version.
            let earlier = content.earlier_paths.iter().map(String::as_str);
            if of.into_iter().chain(earlier).any(|path| self.forgotten.has(path)) {
                continue;
            }
            let text = redacted(&content.text)?;
            self.chars += text.chars().count();
            self.window.turns.push(Turn {
                at: Evidence { session: session.id, sequence: event.sequence },
                time: event.at,
                taint: content.taint,
                speaker: content.speaker,
                tool: content.tool,
                text,
            });
        }
        let is_whole = upto.is_some();
        let upto = upto.unwrap_or(last);
        let is_open = !(is_whole && session.status.is_final());
        if upto > session.sequence {
            self.ranges.push(Range { session: session.id, after: session.sequence, upto, is_open });
        }
        if self.window.turns.len() > before {
            let channel = Channel::of_session(&session.metadata, session.source.as_deref(), session.user_id);
            let person = owner.as_ref().map_or("", |owner| owner.name.as_str());
            self.channels.extend(channel.map(|channel| (session.id, channel.named(person))));
        }
        Ok(())
    }

    /// Puts the turns in the order of time: what was said on several channels at once is one conversation. Sessions and
    /// channels follow in the order of their first turn.
    fn done(self) -> (Vec<Range>, Window, Vec<Channel>) {
        let Self { ranges, mut window, mut channels, .. } = self;
        window.turns.sort_by_key(|turn| (turn.time, turn.at));
        let mut in_order = Vec::new();
        for turn in &window.turns {
            let session = turn.at.session;
            if window.sessions.iter().any(|(_, id)| *id == session) {
                continue;
            }
            let name = format!("s{}", window.sessions.len() + 1);
            window.sessions.push((name, session));
            in_order.extend(channels.remove(&session));
        }
        (ranges, window, in_order)
    }

    async fn owner(
        &mut self,
        conn: &mut Conn<'_>,
        tenant_id: TenantId,
        user_id: Option<UserId>,
    ) -> Result<Option<Participant>> {
        let Some(user_id) = user_id else { return Ok(None) };
        if let Some(known) = self.people.get(&user_id) {
            return Ok(Some(known.clone()));
        }
        let member = store::user::find_any_member(conn, tenant_id, user_id).await?;
        let name = member.map_or_else(|| "a person".to_owned(), |member| member.display_name().to_owned());
        let speaker = Participant { path: turn::own_path(user_id), name };
        self.people.insert(user_id, speaker.clone());
        Ok(Some(speaker))
    }
}

/// Newest versions among which documents are looked for that the model can ask for.
const VERSIONS_LOOKED_AT: u32 = 200;

/// Reads the documents of the people who take part and of topics that the conversation has words of. Returns the card.
async fn documents(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    window: &mut Window,
    known: &Known,
) -> Result<String> {
    let own = store::memory::list(conn, tenant_id, agent, Some(Folder::Own), false, None, PAGE_MAX).await?.items;
    let own: Vec<String> = own.into_iter().map(|document| document.path).collect();
    window.documents = store::memory::find_agent(conn, tenant_id, agent).await?.map_or(0, |found| found.documents);
    let speakers: BTreeSet<String> =
        window.turns.iter().filter_map(|turn| Some(turn.speaker.as_ref()?.path.clone())).collect();
    for path in speakers.into_iter().take(DOCUMENTS_SHOWN_MAX) {
        show(conn, tenant_id, agent, &path, window).await?;
        window.people.insert(path);
    }
    let said = window.turns.iter().filter(|turn| turn.taint == Taint::Person).map(|turn| turn.text.as_str());
    // The limits of the window bound it.
    let said = said.collect::<Vec<_>>().join("\n");
    for found in search_on(conn, tenant_id, Some(agent), &said, TOPICS_MAX * 2).await? {
        let path = found.document.path;
        if path.starts_with("topics/") && window.shown.len() < DOCUMENTS_SHOWN_MAX {
            show(conn, tenant_id, agent, &path, window).await?;
        }
        if can_read(&path) {
            window.listed.push(path);
        }
    }
    list_newest(conn, tenant_id, agent, window).await?;
    window.known.extend(window.listed.iter().cloned());
    let existing = window.shown.iter().filter(|(_, shown)| shown.version > 0).map(|(path, _)| path.clone());
    window.known.extend(existing);
    // The first turn is the earliest one.
    if let Some(first) = window.turns.first().map(|turn| turn.time) {
        window.session_path = free_path(conn, tenant_id, agent, first, known).await?;
    }
    card(conn, tenant_id, agent, &own).await
}

/// Whether the model may ask for a document.
fn can_read(path: &str) -> bool {
    path.starts_with("topics/") || path.starts_with("sessions/")
}

/// Adds the newest documents to those that the model can ask for.
async fn list_newest(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, window: &mut Window) -> Result<()> {
    let mut seen = BTreeSet::new();
    for version in store::memory::audit(conn, tenant_id, agent, None, VERSIONS_LOOKED_AT).await?.items {
        // Newest first: the first version of a document says what it is now.
        let is_newest = seen.insert(version.document_id.0);
        let is_gone = matches!(version.operation, Operation::Deleted | Operation::Erased);
        if is_newest && !is_gone && can_read(&version.path) && !window.listed.contains(&version.path) {
            window.listed.push(version.path);
        }
    }
    window.listed.truncate(DOCUMENTS_LISTED_MAX);
    Ok(())
}

/// Returns a path for this run's session document that no document and no proposal has.
async fn free_path(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    began: Timestamp,
    known: &Known,
) -> Result<String> {
    let mut taken = BTreeSet::new();
    loop {
        let path = session_path(began, |path| taken.contains(path) || known.pending.contains_key(path));
        if !exists(conn, tenant_id, agent, &path).await? || !taken.insert(path.clone()) {
            return Ok(path);
        }
    }
}

async fn exists(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, path: &str) -> Result<bool> {
    let Ok(path) = MemoryPath::parse(path) else { return Ok(false) };
    let found = store::memory::find_by_path(conn, tenant_id, agent, &path).await?;
    Ok(found.is_some_and(|found| !found.is_deleted))
}

/// Finds out which of these documents exist, for the check of an answer that names them.
pub async fn note_named(
    ledger: &Ledger,
    tenant_id: TenantId,
    agent: &str,
    paths: Vec<String>,
    run: RunWindow,
) -> Result<RunWindow> {
    let (scope, agent) = (Scope::system(tenant_id), agent.to_owned());
    let read = ledger.snapshot(&scope, move |conn| {
        Box::pin(async move {
            let mut run = run;
            for path in paths {
                if exists(conn, tenant_id, &agent, &path).await? {
                    run.window.known.insert(path);
                }
            }
            Ok(run)
        })
    });
    read.await
}

async fn card(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, paths: &[String]) -> Result<String> {
    let mut card = String::new();
    for path in paths.iter().filter(|path| !path.contains("mes_example")) {
        let Ok(path) = MemoryPath::parse(path) else { continue };
        if let Some((_, shown)) = read_shown(conn, tenant_id, agent, &path).await? {
            card.push_str(&format!("{}:\n{}\n\n", path.name(), shown.body.trim()));
        }
        if card.chars().count() >= CARD_CHARS_MAX {
            break;
        }
    }
    Ok(cut(card.trim(), CARD_CHARS_MAX))
}

/// Adds a document to those that the model is shown.
async fn show(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, path: &str, window: &mut Window) -> Result<()> {
    let Ok(parsed) = MemoryPath::parse(path) else { return Ok(()) };
    let found = read_shown(conn, tenant_id, agent, &parsed).await?;
    let absent = || Shown { version: 0, sha256: String::new(), body: String::new() };
    window.shown.insert(path.to_owned(), found.map_or_else(absent, |(_, shown)| shown));
    Ok(())
}

async fn read_shown(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    path: &MemoryPath,
) -> Result<Option<(String, Shown)>> {
    let found = store::memory::find_by_path(conn, tenant_id, agent, path).await?.filter(|found| !found.is_deleted);
    let Some(found) = found else { return Ok(None) };
    let text = store::memory::text(conn, tenant_id, found.id, found.version).await?;
    let body = text.map(|text| text.document.body).unwrap_or_default();
    let shown = Shown { version: found.version, sha256: found.digest.to_string(), body };
    Ok(Some((found.path, shown)))
}

/// Reads further documents that the model asked for: topics and summaries of conversations. Others are left out.
/// Returns whether any was read.
pub async fn read_more(
    ledger: &Ledger,
    tenant_id: TenantId,
    agent: &str,
    paths: Vec<String>,
    run: RunWindow,
) -> Result<(RunWindow, bool)> {
    let (scope, agent) = (Scope::system(tenant_id), agent.to_owned());
    let read = ledger.snapshot(&scope, move |conn| {
        Box::pin(async move {
            let mut run = run;
            let before = run.window.shown.len();
            for path in paths {
                let window = &mut run.window;
                let is_new = !window.shown.contains_key(&path) && window.shown.len() < DOCUMENTS_SHOWN_MAX;
                if can_read(&path) && is_new && exists(conn, tenant_id, &agent, &path).await? {
                    show(conn, tenant_id, &agent, &path, window).await?;
                    window.known.insert(path);
                }
            }
            let is_more = run.window.shown.len() > before;
            Ok((run, is_more))
        })
    });
    read.await
}

/// The turns of a change as text, for its reviewers and for training data.
pub(super) fn transcript(window: &Window, turns: &[Evidence]) -> String {
    let mut by_session: BTreeMap<SessionId, Vec<&Turn>> = BTreeMap::new();
    for turn in turns.iter().filter_map(|at| window.find(*at)) {
        by_session.entry(turn.at.session).or_default().push(turn);
    }
    let line = |turn: &Turn| {
        let who = match (&turn.speaker, turn.taint) {
            (Some(speaker), _) => speaker.name.as_str(),
            (None, Taint::Agent) => "Agent",
            (None, Taint::Tool | Taint::Web) => turn.tool.as_deref().unwrap_or("Tool"),
            (None, Taint::Person) => "Person",
        };
        format!("{who}: {}", turn.text)
    };
    by_session.into_values().flatten().map(line).collect::<Vec<_>>().join("\n")
}
