//! Gates of memory proposals. Each has a session of its own, which waits for the decision and ends with it.
//!
//! A proposal is bound to the version that it was made from. If the document has changed meanwhile, both changes are
//! joined when the decision takes effect. If they do not fit together, the gate opens again and says so.

use super::{announce::announce_gate, opened, settle_context::SettleContext};
use crate::{
    Error, Result,
    commit::{Change, Minter, state, write},
    memory::{NewVersion, Stamp, write_on},
};
use chrono::TimeDelta;
use domain::{
    Caller, Timestamp,
    clock::to_micros,
    event::kind::Created,
    evidence::Evidence as Turn,
    gate::{
        Gate, GateKind, GateState, HarmfulMemory, MEMORY_BASE, MEMORY_BODY, MemoryProposal, State, Task, Verdict,
        canonical_digest,
    },
    id::{GateId, SessionId, TenantId},
    issue::Issue,
    limit::{MEMORY_REASON_CHARS_MAX, TITLE_CHARS_MAX},
    memory::{Document, Evidence, MemoryPath, Source, check_text},
    memory_writer::{
        self,
        dedupe::{cut_out, denials},
        evidence::{Sources, of_lines},
        limit::PROPOSAL_DAYS_MAX,
        merge::{Merged, three_way},
    },
    notification::Topic,
    session::{Actor, Command, Report, Session, Type, decide},
    thread::cut,
};
use serde_json::{Map, Value, json};
use store::{
    Conn, DecisionRecord, MemoryDocumentRecord, ReviewerRecord, WriteTx, memory_writer::Denial, session::Inserted,
};
/// A change of a memory document to propose.
pub(crate) struct NewProposal {
    pub(crate) tenant_id: TenantId,
    pub(crate) session_id: SessionId,
    pub(crate) gate_id: GateId,
    /// Slug of the agent whose memory it is.
    pub(crate) agent: String,
    pub(crate) change: memory_writer::plan::Change,
    pub(crate) origin: Origin,
    /// The conversation, for people and for training data.
    pub(crate) transcript: String,
    /// Number of reviewers who must approve it.
    pub(crate) quorum: u32,
}

/// What proposes a change.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Origin {
    /// The run of the memory writer with this id.
    Run(String),
    /// Ratings of a memory. Decisions on these proposals are no training data of the writer.
    Ratings(HarmfulMemory),
}

impl Origin {
    /// What the metadata of the proposal's session says of it. Training data is captured of runs only.
    fn metadata(&self, path: &str) -> Value {
        match self {
            Self::Run(run_id) => json!({ "memory": { "path": path, "runId": run_id } }),
            Self::Ratings(ratings) => json!({ "memory": { "path": path, "ratings": ratings } }),
        }
    }

    const fn reason(&self) -> &'static str {
        match self {
            Self::Run(_) => "the memory writer proposes a change",
            Self::Ratings(_) => "ratings of a memory propose a change",
        }
    }
}

/// Opens a proposal for review. The session is created as waiting for its decision.
pub(crate) async fn propose(tx: &mut WriteTx<'_>, new: NewProposal, mut minter: Minter) -> Result<()> {
    let now = minter.at();
    let mut session = new_session(&new, now);
    let created = Created::of_type(session.session_type).by_source(session.source.as_deref());
    let mut events = vec![minter.session_created(&session, created)?];
    let steps = [
        (Command::Start, "proposed"),
        (Command::Begin, new.origin.reason()),
        (Command::Ask, "it waits for a decision"),
    ];
    for (command, reason) in steps {
        let step = decide(state(&session), Actor::Server, command)?;
        events.push(minter.status_change(Some(session.status()), step.to(), reason));
        session.enter(step, Report::default(), now);
    }
    let gate = new_gate(new, &session, now);
    events.push(opened(&gate, &mut minter));
    match store::session::insert(tx, &mut session, None, &events).await? {
        Inserted::New => {}
        Inserted::KeyTaken | Inserted::AlreadyWorking => {
            return Err(Error::Internal("a proposal met another session".into()));
        }
    }
    store::gate::insert(tx, &gate).await?;
    store::gate::add_reviewer(tx, gate.tenant_id, gate.id, &ReviewerRecord::Anyone).await?;
    announce_gate(tx, &minter, Topic::ApprovalRequested, &gate, None).await
}

fn new_session(new: &NewProposal, now: Timestamp) -> Session {
    let title: String = format!("Memory: {}", new.change.path).chars().take(TITLE_CHARS_MAX).collect();
    Session {
        agent_slug: Some(new.agent.clone()),
        source: Some(memory_writer::SOURCE.to_owned()),
        input: Some(json!(new.transcript).to_string()),
        metadata: new.origin.metadata(&new.change.path).to_string(),
        queued_at: Some(now),
        started_at: Some(now),
        ..Session::draft(new.tenant_id, new.session_id, Type::Agent, title, Caller::System.to_string(), now)
    }
}

fn new_gate(new: NewProposal, session: &Session, now: Timestamp) -> Gate {
    let change = new.change;
    let (run_id, ratings) = match new.origin {
        Origin::Run(run_id) => (run_id, None),
        Origin::Ratings(ratings) => (String::new(), Some(ratings)),
    };
    let due_at = now + TimeDelta::days(i64::from(PROPOSAL_DAYS_MAX));
    let base = (MEMORY_BASE.to_owned(), Value::from(change.base_version));
    let values = Map::from_iter([(MEMORY_BODY.to_owned(), Value::from(change.body)), base]);
    let task = Task::Memory(MemoryProposal {
        path: change.path,
        base_version: change.base_version,
        base: change.base,
        values,
        evidence: change.evidence,
        turns: change.turns,
        reason: change.reason,
        run_id,
        ratings,
    });
    let alike = match &task {
        Task::Memory(MemoryProposal { ratings: Some(_), .. }) => json!([task.kind(), new.agent, "ratings"]),
        _ => json!([task.kind(), new.agent]),
    };
    let alike = canonical_digest(&alike).to_string();
    Gate {
        tenant_id: new.tenant_id,
        id: new.gate_id,
        session_id: session.id,
        action_id: None,
        entity_id: None,
        agent_slug: Some(new.agent),
        kind: GateKind::Memory,
        state: State::Open,
        title: session.title.clone(),
        task_digest: canonical_digest(&task.bound_value()),
        similar_key: alike.chars().take(16).collect(),
        criteria: None,
        score: None,
        flags: change.flags,
        attempt: session.attempt,
        quorum: new.quorum,
        self_approval: true,
        requested_by: session.created_by.clone(),
        requester_id: None,
        opened_at: now,
        order_at: to_micros(due_at),
        due_at: Some(due_at),
        remind_at: None,
        reminded_at: None,
        escalate_at: None,
        escalate_to: None,
        escalated_at: None,
        task,
        action_name: None,
        entity_title: None,
    }
}

/// Checks the body that a reviewer approves, and the document that it makes now. A conflict with the present document
/// is not refused: the document can change again before the decision takes effect.
///
/// # Errors
/// [`Error::Invalid`] if the body is empty, or if it or the document cannot be kept.
pub(super) async fn check(conn: &mut Conn<'_>, gate: &Gate, values: &Map<String, Value>) -> Result<()> {
    if values.get(MEMORY_BASE).is_some_and(|base| base.as_u64().is_none()) {
        return Err(Error::invalid(format!("value.{MEMORY_BASE}"), "the number of a version"));
    }
    let body = MemoryProposal::body_of(values);
    let refused = |why: String| Error::invalid(format!("value.{MEMORY_BODY}"), why);
    check_text(&body).map_err(|why| refused(why.to_string()))?;
    if body.trim().is_empty() {
        return Err(refused("an empty document cannot be approved; deny the proposal".to_owned()));
    }
    let (Task::Memory(proposal), Some(agent)) = (&gate.task, gate.agent_slug.as_deref()) else { return Ok(()) };
    let joined = join(conn, gate.tenant_id, (agent, proposal), values).await?;
    let Some(body) = joined.body else { return Ok(()) };
    let text = Document { front_matter: joined.front_matter, body }.to_text();
    check_text(&text).map_err(|why| refused(why.to_string()))
}

/// Carries out the decision on a proposal, and ends its session.
///
/// # Errors
/// [`Error::OutputInvalid`] if the document has changed in the same lines.
pub(super) async fn settle(
    tx: &mut WriteTx<'_>,
    session: Session,
    gate: &Gate,
    decision: &DecisionRecord,
    (verdict, values): (Verdict, Map<String, Value>),
    by: SettleContext,
) -> Result<Session> {
    let (Task::Memory(proposal), Some(agent)) = (&gate.task, gate.agent_slug.as_deref()) else {
        return Err(Error::Internal(format!("gate {} is no proposal of a memory", gate.id)));
    };
    let now = by.minter.at();
    let reason = match verdict {
        Verdict::Approve | Verdict::Edit => {
            let stamp = by.stamp.ok_or_else(|| Error::Internal("a proposal is settled without a stamp".into()))?;
            let version = accept(tx, gate, (agent, proposal), decision, &values, stamp).await?;
            let lines = cut_out(&proposal.base, &proposal.body(), &MemoryProposal::body_of(&values));
            deny(tx, gate, (agent, proposal), decision, lines, now).await?;
            format!("written to {} as version {version}", proposal.path)
        }
        Verdict::Deny | Verdict::Respond => {
            let lines = denials(&proposal.base, &proposal.body());
            deny(tx, gate, (agent, proposal), decision, lines, now).await?;
            format!("denied: {}", decision.note.as_deref().unwrap_or("no reason was given"))
        }
    };
    let transition = decide(state(&session), Actor::Server, Command::Finish)?;
    let (caller, minter) = (by.caller, by.minter);
    let change = Change { id: session.id, actor: Actor::Server, command: Command::Finish, caller, reason, minter };
    write(tx, session, transition, change, Vec::new(), Report::default()).await
}

/// Writes the approved body. Returns the document's version.
async fn accept(
    tx: &mut WriteTx<'_>,
    gate: &Gate,
    (agent, proposal): (&str, &MemoryProposal),
    decision: &DecisionRecord,
    values: &Map<String, Value>,
    stamp: Stamp,
) -> Result<u64> {
    let tenant_id = gate.tenant_id;
    // Locked first, so that the document stays as it is read here.
    store::memory::lock_agent(tx, tenant_id, agent, stamp.at).await?;
    let Joined { path, version, front_matter, current, body } =
        join(tx.conn(), tenant_id, (agent, proposal), values).await?;
    let Some(body) = body else {
        let why = format!("the document changed in the same lines; it is at version {version} now");
        let errors = vec![Issue::new(format!("value.{MEMORY_BODY}"), why)];
        return Err(Error::OutputInvalid { errors, failed: false });
    };
    let evidence = evidence(proposal, &current, &body, front_matter.as_deref());
    let new = NewVersion {
        agent: agent.to_owned(),
        path,
        base_version: version,
        text: Document { front_matter, body }.to_text(),
        source: if proposal.ratings.is_some() { Source::Person } else { Source::MemoryWriter },
        author: decision.actor.clone(),
        reason: cut(&proposal.reason.replace('\n', " "), MEMORY_REASON_CHARS_MAX),
        evidence,
    };
    Ok(write_on(tx, tenant_id, stamp, new).await?.document.version)
}

/// The document of a proposal as it is now, and the approved body joined to it.
struct Joined {
    path: MemoryPath,
    /// Its version; 0 if there is no document.
    version: u64,
    front_matter: Option<String>,
    /// Its present text without front matter.
    current: String,
    /// The body that an approval writes. `None` if the document changed in the same lines.
    body: Option<String>,
}

async fn join(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (agent, proposal): (&str, &MemoryProposal),
    values: &Map<String, Value>,
) -> Result<Joined> {
    let path = MemoryPath::parse(&proposal.path).map_err(|why| Error::Internal(why.to_string()))?;
    let found = store::memory::find_by_path(conn, tenant_id, agent, &path).await?;
    let live = found.filter(|found| !found.is_deleted);
    let document = match &live {
        Some(live) => store::memory::text(conn, tenant_id, live.id, live.version).await?.map(|text| text.document),
        None => None,
    };
    let Document { front_matter, body: current } = document.unwrap_or_default();
    let version = live.as_ref().map_or(0, |live| live.version);
    let base = base_of(conn, (tenant_id, live.as_ref()), proposal, values).await?;
    let body = match base.map(|base| three_way(&base, &current, &MemoryProposal::body_of(values))) {
        Some(Merged::Clean(body)) => Some(body),
        Some(Merged::Conflict(_)) | None => None,
    };
    Ok(Joined { path, version, front_matter, current, body })
}

/// The body that the values are based on: that of the proposal, or of a newer version that a reviewer has seen. `None`
/// if the document has no such version, or its text is erased.
async fn base_of(
    conn: &mut Conn<'_>,
    (tenant_id, live): (TenantId, Option<&MemoryDocumentRecord>),
    proposal: &MemoryProposal,
    values: &Map<String, Value>,
) -> Result<Option<String>> {
    let version = proposal.base_of(values);
    if version == proposal.base_version {
        return Ok(Some(proposal.base.clone()));
    }
    let Some(live) = live else { return Ok((version == 0).then(String::new)) };
    let text = store::memory::text(conn, tenant_id, live.id, version).await?;
    Ok(text.filter(|text| text.version.erased_at.is_none()).map(|text| text.document.body))
}

/// The document of a proposal as it is now, if it has changed since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedDocument {
    /// Its version; 0 if there is none any more.
    pub version: u64,
    /// The text of that version without front matter.
    pub body: String,
    /// Whether the change and the proposal are about the same lines: then an approval is refused, unless it names this
    /// version as its base.
    pub conflicts: bool,
    /// What an approval writes, without front matter: both changes together. `None` if they conflict.
    pub joined: Option<String>,
}

/// Returns the document of a proposal that waits, if it is not at the version that `values` are based on.
pub(super) async fn changed_document(
    conn: &mut Conn<'_>,
    gate: &Gate,
    values: Option<&Map<String, Value>>,
) -> Result<Option<ChangedDocument>> {
    let (Task::Memory(proposal), Some(agent)) = (&gate.task, gate.agent_slug.as_deref()) else { return Ok(None) };
    let waits = matches!(gate.state.name(), GateState::Open | GateState::Held);
    let Ok(path) = MemoryPath::parse(&proposal.path) else { return Ok(None) };
    let (Some(values), true) = (values, waits) else { return Ok(None) };
    let found = store::memory::find_by_path(conn, gate.tenant_id, agent, &path).await?;
    let live = found.filter(|found| !found.is_deleted);
    let version = live.as_ref().map_or(0, |live| live.version);
    if version == proposal.base_of(values) {
        return Ok(None);
    }
    let body = match &live {
        Some(live) => store::memory::text(conn, gate.tenant_id, live.id, version).await?,
        None => None,
    };
    let body = body.map(|text| text.document.body).unwrap_or_default();
    let base = base_of(conn, (gate.tenant_id, live.as_ref()), proposal, values).await?;
    let wanted = MemoryProposal::body_of(values);
    let joined = match base.map(|base| three_way(&base, &body, &wanted)) {
        Some(Merged::Clean(joined)) => Some(joined),
        Some(Merged::Conflict(_)) | None => None,
    };
    Ok(Some(ChangedDocument { version, body, conflicts: joined.is_none(), joined }))
}

/// The turns of each new line of the body that is written, with the numbers of the lines of the whole text.
fn evidence(proposal: &MemoryProposal, current: &str, body: &str, front_matter: Option<&str>) -> Vec<Evidence> {
    let proposed = proposal.body();
    let lines: Vec<&str> = proposed.lines().collect();
    let mut sources = Sources::new();
    for one in &proposal.evidence {
        let Some(text) = lines.get(one.line as usize - 1) else { continue };
        let turn = Turn { session: one.session, sequence: one.sequence };
        sources.entry((*text).to_owned()).or_default().push(turn);
    }
    // Two lines of dashes are around the front matter.
    let offset = front_matter.map_or(0, |front| u32::try_from(front.lines().count()).unwrap_or(u32::MAX - 2) + 2);
    let moved = |one: domain::evidence::LineEvidence| Evidence {
        line: one.line.saturating_add(offset),
        session: one.session,
        sequence: one.sequence,
    };
    of_lines(current, body, &sources).into_iter().map(moved).collect()
}

/// Remembers what a reviewer denied, so that neither these lines nor the removal of others is proposed again.
async fn deny(
    tx: &mut WriteTx<'_>,
    gate: &Gate,
    (agent, proposal): (&str, &MemoryProposal),
    decision: &DecisionRecord,
    lines: Vec<String>,
    now: Timestamp,
) -> Result<()> {
    let reason = decision.note.as_deref().unwrap_or_default();
    for line in lines {
        let denial = Denial { gate_id: gate.id, path: proposal.path.as_str(), line: &line, reason };
        store::memory_writer::deny(tx, gate.tenant_id, agent, denial, now).await?;
    }
    Ok(())
}
