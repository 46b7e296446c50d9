//! Reads what one run is about: the turns past the watermarks. The documents are read in `documents`.

use super::{SESSIONS_MAX, documents::documents, known, redacted};
use crate::{Ledger, Result, memory::Marks};
use domain::{
    Scope, Timestamp,
    chain::Digest,
    event::{Event, Known as EventKind},
    evidence::Evidence,
    id::{SessionId, TenantId, UserId},
    memory_writer::{
        channel::Channel,
        check::Window,
        dedupe::Known,
        limit::{WINDOW_CHARS_MAX, WINDOW_TURNS_MAX},
        prompt,
        run::RunCause,
        turn::{self, Content, KINDS, Participant, Taint, Turn},
    },
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap};
use store::{Conn, memory_writer::OpenSession};

/// Sequence of the event that records the creation of a session. The request of a task has no event of its own.
const REQUEST_SEQUENCE: u64 = 1;
/// Most messages and answers before the watermark among which the last one with a text is looked for.
const EARLIER_TURNS_MAX: u32 = 5;

/// Which of an agent's sessions with unread turns a run reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Those that the writer has found by itself.
    New,
    /// Those that a failed run left, as far as they can be tried again.
    Left,
    /// Those from before the writer, that someone asked for, and those that began while it was off.
    Backlog,
}

impl Part {
    /// All parts, in the order in which they are read. Neither what fails again and again nor a backlog of many days
    /// keeps new sessions waiting.
    pub const ALL: [Self; 3] = [Self::New, Self::Left, Self::Backlog];

    /// Reads the sessions of the next window at `now`, in the order in which they began.
    pub async fn sessions(
        self,
        conn: &mut Conn<'_>,
        tenant_id: TenantId,
        agent: &str,
        now: Timestamp,
    ) -> Result<Vec<OpenSession>> {
        Ok(match self {
            Self::New => store::memory_writer::fresh_sessions(conn, tenant_id, agent, false, SESSIONS_MAX).await?,
            Self::Left => store::memory_writer::left_sessions(conn, tenant_id, agent, now).await?,
            Self::Backlog => store::memory_writer::fresh_sessions(conn, tenant_id, agent, true, SESSIONS_MAX).await?,
        })
    }
}

/// Why an agent's writer has to run, and what it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DueRun {
    pub(super) cause: RunCause,
    /// The sessions that it reads.
    pub(super) part: Part,
}

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
    /// Whether new sessions are read before it: a failed run left its sessions, or they are of the backlog.
    pub is_after_new: bool,
    /// When its window was read (UTC).
    pub began: Timestamp,
    /// Events that the run covers, by session.
    pub ranges: Vec<Range>,
    /// Turns and documents.
    pub window: Window,
    /// The channels of the sessions, in the order of their first turn. A session whose channel is unknown has none.
    pub channels: Vec<(SessionId, Channel)>,
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

/// Reads the window of an agent whose lease this server holds: of the sessions of this part those whose turn it is.
pub(super) async fn read(
    ledger: &Ledger,
    tenant_id: TenantId,
    agent: &str,
    due: DueRun,
    began: Timestamp,
) -> Result<RunWindow> {
    let DueRun { cause, part } = due;
    let (scope, agent, keeper) = (Scope::system(tenant_id), agent.to_owned(), ledger.clone());
    let vectors = ledger.vectors();
    let read = ledger.snapshot(&scope, async move |conn| {
        let sessions = part.sessions(conn, tenant_id, &agent, began).await?;
        let forgotten = Marks::read(conn, &keeper, tenant_id).await?;
        let mut reading = Reading { forgotten, now: began, ..Reading::default() };
        for session in &sessions {
            if !reading.has_room() {
                break;
            }
            reading.session(conn, tenant_id, session).await?;
        }
        let known = known::read(conn, tenant_id, &agent, &sessions).await?;
        let (ranges, mut window, channels) = reading.done();
        let card = documents(conn, (tenant_id, &agent), &vectors, &mut window, &known).await?;
        let is_after_new = part != Part::New;
        Ok(RunWindow { cause, is_after_new, began, ranges, window, channels, card, known, approvals: 1 })
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
    /// Time of the run (UTC).
    now: Timestamp,
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
        let mut answers_forgotten = self.begins_with_answer(conn, tenant_id, session, owner.as_ref()).await?;
        if let Some(content) = self.request(conn, tenant_id, session).await? {
            answers_forgotten = self.forgets(&content, owner.as_ref());
            let at = Evidence { session: session.id, sequence: REQUEST_SEQUENCE };
            if !answers_forgotten && !self.add(at, session.created_at, content)? {
                return Ok(());
            }
            last = REQUEST_SEQUENCE;
        }
        let undone = turn::undone(&page.items);
        for event in &page.items {
            if !self.has_room() {
                upto = None;
                break;
            }
            if turn::can_be_undone(event, self.now) {
                // Its author can still undo it: the next run begins with it.
                upto = None;
                break;
            }
            last = event.sequence;
            if turn::is_undone(event, &undone) {
                continue;
            }
            let by = match turn::answerer(&event.kind, &event.actor) {
                Some(user_id) => self.owner(conn, tenant_id, Some(user_id)).await?,
                None => owner.clone(),
            };
            let read = turn::read(&event.kind, &event.actor, &event.content, &event.metadata, by.as_ref());
            let Some(content) = read else { continue };
            let is_forgotten = self.forgets(&content, owner.as_ref());
            if content.taint == Taint::Person {
                answers_forgotten = is_forgotten;
            }
            if is_forgotten || answers_forgotten {
                continue;
            }
            let at = Evidence { session: session.id, sequence: event.sequence };
            if !self.add(at, event.at, content)? {
                // The next run begins with it.
                (upto, last) = (None, event.sequence - 1);
                break;
            }
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

    /// Returns the request of a task, if a member made it and no run has read the session yet. What a program or
    /// another agent asks for is no one's word.
    async fn request(
        &mut self,
        conn: &mut Conn<'_>,
        tenant_id: TenantId,
        session: &OpenSession,
    ) -> Result<Option<Content>> {
        if session.sequence > 0 || session.source.is_some() {
            return Ok(None);
        }
        let found = store::session::find(conn, tenant_id, session.id).await?;
        // A retry of a session is no new turn of its input.
        let Some(found) = found.filter(|found| found.retry_of.is_none()) else { return Ok(None) };
        let speaker = self.owner(conn, tenant_id, turn::member(&found.created_by)).await?;
        Ok(speaker.zip(found.input).and_then(|(speaker, input)| turn::request(&input, speaker)))
    }

    /// Adds a turn, without secrets. Returns `false` if the window has no room for it.
    fn add(&mut self, at: Evidence, time: Timestamp, content: Content) -> Result<bool> {
        let text = redacted(&content.text)?;
        let chars = text.chars().count();
        if !self.window.turns.is_empty() && self.chars + chars > WINDOW_CHARS_MAX {
            return Ok(false);
        }
        self.chars += chars;
        let Content { taint, speaker, tool, .. } = content;
        self.window.turns.push(Turn { at, time, taint, speaker, tool, text });
        Ok(true)
    }

    /// Whether a turn is of a person who is forgotten, or of the agent or a tool in a session that is theirs.
    fn forgets(&self, content: &Content, owner: Option<&Participant>) -> bool {
        let of = content.speaker.as_ref().or(owner).map(|speaker| speaker.path.as_str());
        // A mark of an earlier version identifies the path of that version.
        let earlier = content.earlier_paths.iter().map(String::as_str);
        of.into_iter().chain(earlier).any(|path| self.forgotten.has(path))
    }

    /// Whether the agent's first turns past the watermark answer a person who is forgotten: the last person's turn that
    /// an earlier run has covered was theirs.
    async fn begins_with_answer(
        &self,
        conn: &mut Conn<'_>,
        tenant_id: TenantId,
        session: &OpenSession,
        owner: Option<&Participant>,
    ) -> Result<bool> {
        if self.forgotten.is_empty() || session.sequence == 0 {
            return Ok(false);
        }
        let kinds = [EventKind::UserMessage.as_str(), EventKind::UserFormSubmit.as_str()].map(str::to_owned);
        let end = session.sequence + 1;
        let page = store::event::before(conn, tenant_id, session.id, end, &kinds, EARLIER_TURNS_MAX).await?;
        let read = |event: &Event| turn::read(&event.kind, &event.actor, &event.content, &event.metadata, owner);
        let last = page.items.iter().rev().filter_map(read).find(|content| content.taint == Taint::Person);
        Ok(last.is_some_and(|content| self.forgets(&content, owner)))
    }

    /// Puts the turns in the order of time: turns on several channels at the same time are one conversation. Sessions
    /// and channels follow in the order of their first turn.
    fn done(self) -> (Vec<Range>, Window, Vec<(SessionId, Channel)>) {
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
            in_order.extend(channels.remove(&session).map(|channel| (session, channel)));
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
