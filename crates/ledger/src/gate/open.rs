//! Opens gates, in the transaction that pauses their session.

use super::{announce::announce_gate, decision_event::rule_decision_event};
use crate::{
    ActionRecord, Error, Result,
    commit::{Change, Minter, append_server_events, state, write},
    rule,
};
use chrono::TimeDelta;
use domain::{
    Caller, Timestamp,
    action::OutputType,
    clock::to_micros,
    criteria_set::{Dimension, SafetyGate, evaluate_safety_gate},
    event::kind::{Failure, NoticeReason, SessionError, WaitingApproval},
    gate::{Gate, GateKind, PausedToolCall, Policy, Principal, Staged, State, Task, Verdict, canonical_digest},
    id::{GateId, UserId},
    issue::Issue,
    limit::TITLE_CHARS_MAX,
    notification::Topic,
    output::FIELD_ENTITIES,
    session::{Actor, Command, Report, Session, YieldTo, decide},
    tool::run::ToolRun,
};
use serde_json::{Map, Value, json};
use store::{Conn, CriteriaSetRecord, DecisionRecord, PreparedEvent, ReviewerRecord, WriteTx};

/// Code of a failure because of a safety rule.
const HARD_BLOCK: &str = "hard_block";

/// What the request of an agent says about the gate that it opens.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestTerms {
    /// Instant at which the gate expires; the action's rules decide without one.
    pub(crate) due_at: Option<Timestamp>,
    /// Slug of the group that is asked; the action's rules decide without one.
    pub(crate) audience: Option<String>,
}

/// Opens a gate for a session that is about to be paused. Returns the gate, and the event for the session's log. When
/// the session is paused, the caller passes the gate to [`ask_or_approve`].
///
/// The caller holds the session's lock, and the session waits at no other gate.
pub(crate) async fn pause(
    tx: &mut WriteTx<'_>,
    session: &Session,
    (id, task): (GateId, Task),
    of: RequestTerms,
    minter: &mut Minter,
) -> Result<(Gate, PreparedEvent)> {
    let action = action_of(tx.conn(), session).await?;
    let gate = open(tx, session, action.as_ref(), (id, task), &[], (of, minter.at())).await?;
    let event = opened(&gate, minter);
    Ok((gate, event))
}

/// Lets a rule of the workspace approve a gate that was opened in this transaction, or else asks its reviewers. The
/// session is paused, and the caller holds its lock.
pub(crate) async fn ask_or_approve(
    tx: &mut WriteTx<'_>,
    session: Session,
    gate: Gate,
    minter: Minter,
) -> Result<Session> {
    match rule::approving(tx, &session, &gate).await? {
        Some(approving) => approve(tx, session, gate, approving, minter).await,
        None => {
            announce_gate(tx, &minter, Topic::ApprovalRequested, &gate, None).await?;
            Ok(session)
        }
    }
}

/// Records the decision of a rule as that of a person is recorded. It takes effect after the undo window, at the next
/// sweep: a refusal by then opens the gate again, and does not concern the agent.
async fn approve(
    tx: &mut WriteTx<'_>,
    session: Session,
    mut gate: Gate,
    approving: rule::Approving,
    mut minter: Minter,
) -> Result<Session> {
    let (tenant_id, at) = (gate.tenant_id, minter.at());
    let caller = Caller::Rule(approving.rule.id);
    let decision = DecisionRecord {
        number: 1,
        user_id: None,
        actor: caller.to_string(),
        email: String::new(),
        verdict: Some(Verdict::Approve),
        undoes: None,
        value: None,
        value_digest: gate.task_digest,
        note: None,
        at,
        entity_version: None,
    };
    store::gate::add_decision(tx, tenant_id, gate.id, &decision).await?;
    rule::record_use(tx, &gate, &approving, at).await?;
    let undo_seconds = store::tenant::undo_seconds(tx.conn(), tenant_id).await?;
    gate.state = gate.state.hold(Verdict::Approve, at + TimeDelta::seconds(i64::from(undo_seconds)))?;
    store::gate::save(tx, &gate).await?;
    announce_gate(tx, &minter, Topic::ApprovalDecided, &gate, Some(&decision)).await?;
    let event = rule_decision_event(&mut minter, &gate, &decision, approving.rule);
    append_server_events(tx, session, vec![event], caller, at).await
}

async fn action_of(conn: &mut Conn<'_>, session: &Session) -> Result<Option<ActionRecord>> {
    match session.action_id {
        Some(id) => Ok(store::action::find(conn, session.tenant_id, id).await?),
        None => Ok(None),
    }
}

/// Creates the event that records the opened gate in the log.
pub(super) fn opened(gate: &Gate, minter: &mut Minter) -> PreparedEvent {
    let reason = NoticeReason::Opened {
        kind: gate.kind,
        digest: gate.task_digest.to_string(),
        task: gate.task.to_json(),
        quorum: gate.quorum,
        due_at: gate.due_at,
        request_id: gate.task.request_id(),
        criteria: gate.criteria.as_deref().map(|criteria| serde_json::from_str(criteria).unwrap_or_default()),
    };
    minter.event(&WaitingApproval::new(gate.id, &gate.title, reason))
}

/// Returns the criteria sets that judge an action's output, in the order in which its contract names them; empty if
/// it names none. If a named set does not exist, the inner result is an error and blocks the output, because its
/// safety rules are unknown.
pub(super) async fn criteria_of(
    conn: &mut Conn<'_>,
    action: &ActionRecord,
    session: &Session,
) -> Result<std::result::Result<Vec<CriteriaSetRecord>, String>> {
    let contract = match domain::output::read(action.output_type, &action.output_config) {
        Ok(contract) => contract,
        Err(issues) => {
            let named = issues.first().map(|issue| format!("{}: {}", issue.field, issue.message)).unwrap_or_default();
            return Ok(Err(format!("the task's output contract does not read: {named}")));
        }
    };
    let mut sets = Vec::new();
    for id in &contract.criteria_set_ids {
        match store::criteria_set::find(conn, session.tenant_id, *id).await? {
            Some(set) => sets.push(set),
            None => return Ok(Err(format!("criteria set {id} does not exist, so nothing can judge this output"))),
        }
    }
    Ok(Ok(sets))
}

/// Returns the dimensions of all sets, in their order. Two sets may have a dimension with the same slug: both
/// dimensions evaluate the value, so that neither set's hard blocks are lost.
fn dimensions_of(criteria: &[CriteriaSetRecord]) -> Vec<Dimension> {
    criteria.iter().flat_map(|set| set.dimensions.iter().cloned()).collect()
}

/// Evaluates the safety rules of an output. For a list of entities, each entity is evaluated together with the
/// values of the list's object.
pub(super) fn check_output_safety(
    output_type: OutputType,
    output: &Map<String, Value>,
    criteria: &[CriteriaSetRecord],
) -> SafetyGate {
    if criteria.is_empty() {
        return SafetyGate::Passed { score: None, flags: Vec::new() };
    }
    let dimensions = dimensions_of(criteria);
    let listed = (output_type == OutputType::Entities).then(|| output.get(FIELD_ENTITIES).and_then(Value::as_array));
    let Some(items) = listed.flatten().filter(|items| !items.is_empty()) else {
        return evaluate_safety_gate(output, &dimensions);
    };
    let (mut scores, mut all) = (Vec::new(), Vec::new());
    for (at, item) in items.iter().enumerate() {
        let mut values = output.clone();
        values.extend(item.as_object().cloned().unwrap_or_default());
        match evaluate_safety_gate(&values, &dimensions) {
            blocked @ SafetyGate::Blocked { .. } => return blocked,
            SafetyGate::Passed { score, flags } => {
                scores.extend(score);
                all.extend(flags.into_iter().map(|flag| format!("{}. {flag}", at + 1)));
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a handful of scores")]
    let mean = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
    SafetyGate::Passed { score: mean, flags: all }
}

/// An output that fulfils its contract and needs a person's approval.
pub(crate) struct Stage<'a> {
    pub(crate) gate_id: GateId,
    pub(crate) action: &'a ActionRecord,
    pub(crate) output: Value,
    pub(crate) usage: Option<String>,
}

/// Stages an output and pauses its session. If a safety rule blocks the output, the session fails and no gate is
/// opened.
///
/// `change` is the completion that the worker sent. It is decided already, and the caller holds the session's
/// lease.
pub(crate) async fn stage(
    tx: &mut WriteTx<'_>,
    before: Session,
    mut change: Change,
    stage: Stage<'_>,
) -> Result<Session> {
    let Stage { gate_id, action, output, usage } = stage;
    let criteria = match criteria_of(tx.conn(), action, &before).await? {
        Ok(criteria) => criteria,
        Err(reason) => return block(tx, before, change, reason, None, usage).await,
    };
    let staged = Staged::of(output);
    let (score, flags) = match check_output_safety(action.output_type, &staged.staged_output, &criteria) {
        SafetyGate::Passed { score, flags } => (score, flags),
        blocked => {
            let reason = blocked.refusal().unwrap_or_default();
            return block(tx, before, change, reason, Some(json!(blocked)), usage).await;
        }
    };
    let staged = Staged { criteria_score: score, safety_flags: flags, ..staged };
    let task = if action.output_type == OutputType::Fields { Task::Fields(staged) } else { Task::Output(staged) };
    let now = change.minter.at();
    let of = (RequestTerms::default(), now);
    let gate = open(tx, &before, Some(action), (gate_id, task), &criteria, of).await?;
    let events = vec![opened(&gate, &mut change.minter)];
    change.reason = "its output is waiting for approval".into();
    let transition = decide(state(&before), change.actor, Command::Yield(YieldTo::WaitingHuman))?;
    let minter = change.minter.clone();
    let waiting = write(tx, before, transition, change, events, Report { usage, ..Report::default() }).await?;
    ask_or_approve(tx, waiting, gate, minter).await
}

async fn block(
    tx: &mut WriteTx<'_>,
    before: Session,
    mut change: Change,
    reason: String,
    verdict: Option<Value>,
    usage: Option<String>,
) -> Result<Session> {
    let failure = Failure::Blocked { code: HARD_BLOCK.into(), attempt: before.attempt, safety_gate: verdict };
    let blocked = SessionError::new(&reason, failure);
    let events = vec![change.minter.event(&blocked)];
    change.reason = format!("blocked: {reason}");
    change.actor = Actor::Server;
    let transition = decide(state(&before), Actor::Server, Command::Block)?;
    write(tx, before, transition, change, events, Report { usage, ..Report::error(reason, HARD_BLOCK) }).await
}

/// Returns the type slug of the entities that an output creates.
pub(super) fn new_type(action: &ActionRecord) -> Option<String> {
    domain::output::read(action.output_type, &action.output_config).ok()?.entity_type
}

pub(super) async fn open(
    tx: &mut WriteTx<'_>,
    session: &Session,
    action: Option<&ActionRecord>,
    (id, task): (GateId, Task),
    criteria: &[CriteriaSetRecord],
    (of, now): (RequestTerms, Timestamp),
) -> Result<Gate> {
    let mut policy = policy(action)?;
    let after = |seconds: Option<i64>| seconds.map(|seconds| now + TimeDelta::seconds(seconds));
    let due_at = of.due_at.or(after(policy.expires_after));
    if let Some(slug) = of.audience {
        policy.reviewers = vec![Principal::Group(slug)];
    }
    let (score, flags) = match &task {
        Task::Output(staged) | Task::Fields(staged) => (staged.criteria_score, staged.safety_flags.clone()),
        Task::Tool(_) | Task::Question(_) | Task::Memory(_) => (None, Vec::new()),
    };
    let writes_it = action.is_none_or(|a| matches!(a.output_type, OutputType::Entity | OutputType::Fields));
    let is_output = matches!(task, Task::Output(_));
    let requester_id = requester(tx.conn(), session, policy.self_approval, task.kind()).await?;
    let gate = Gate {
        tenant_id: session.tenant_id,
        id,
        session_id: session.id,
        action_id: session.action_id,
        entity_id: session.entity_id.filter(|_| !is_output || writes_it),
        agent_slug: session.agent_slug.clone(),
        kind: task.kind(),
        state: State::Open,
        title: title(&task, session),
        task_digest: canonical_digest(&task.bound_value()),
        similar_key: similar_key(&task, session),
        criteria: kept_criteria(criteria),
        score,
        flags,
        attempt: session.attempt,
        quorum: policy.quorum,
        self_approval: policy.self_approval,
        requested_by: session.created_by.clone(),
        requester_id,
        opened_at: now,
        order_at: due_at.map_or(i64::MAX, to_micros),
        due_at,
        remind_at: after(policy.remind_after),
        reminded_at: None,
        escalate_at: after(policy.escalate_after),
        escalate_to: policy.escalate_to.clone(),
        escalated_at: None,
        task,
        action_name: action.map(|action| action.name.clone()),
        entity_title: None,
    };
    store::gate::insert(tx, &gate).await?;
    for reviewer in reviewers(tx.conn(), session, action, &policy, gate.kind).await? {
        store::gate::add_reviewer(tx, session.tenant_id, id, &reviewer).await?;
    }
    Ok(gate)
}

/// Returns the person whose request the gate is. The gate of a private session names the person to whom the session
/// belongs only if that keeps them from approving their own request. Its questions are for that person alone, so the
/// rule does not apply to them.
async fn requester(
    conn: &mut Conn<'_>,
    session: &Session,
    self_approval: bool,
    kind: GateKind,
) -> Result<Option<UserId>> {
    let owner = session.private_to.as_deref().filter(|_| !self_approval && kind != GateKind::Question);
    let Some(owner) = owner else { return Ok(session.user_id) };
    let (caller, id) = owner.split_once(':').unwrap_or_default();
    let person: Option<UserId> = match (caller, id.parse(), id.parse()) {
        ("user", Ok(id), _) => Some(id),
        ("token", _, Ok(id)) => {
            let token = store::token::find_by_id(conn, session.tenant_id, id).await?;
            token.and_then(|token| token.user_id)
        }
        _ => None,
    };
    Ok(person.or(session.user_id))
}

/// Returns the criteria as the gate keeps them: the first set, with the dimensions of all sets. `others` lists the
/// further sets; it is absent if there are none.
fn kept_criteria(criteria: &[CriteriaSetRecord]) -> Option<String> {
    let named = |set: &CriteriaSetRecord| json!({ "setId": set.id, "slug": set.slug, "name": set.name, "version": set.version });
    let (first, others) = criteria.split_first()?;
    let mut kept = named(first);
    kept["dimensions"] = json!(dimensions_of(criteria));
    if !others.is_empty() {
        kept["others"] = others.iter().map(named).collect();
    }
    Some(kept.to_string())
}

fn policy(action: Option<&ActionRecord>) -> Result<Policy> {
    let Some(action) = action else { return Ok(Policy::default()) };
    let metadata: Map<String, Value> = serde_json::from_str(&action.metadata)
        .map_err(|error| Error::Internal(format!("metadata of action {}: {error}", action.id)))?;
    Policy::of(&metadata).map_err(|issues| {
        Error::Invalid(issues.into_iter().map(|i| Issue::new(format!("action.{}", i.field), i.message)).collect())
    })
}

/// Returns the reviewers: those named by the action, else its assignee, else (for a question) the person of the
/// session, else anyone.
async fn reviewers(
    conn: &mut Conn<'_>,
    session: &Session,
    action: Option<&ActionRecord>,
    policy: &Policy,
    kind: GateKind,
) -> Result<Vec<ReviewerRecord>> {
    let mut named = Vec::new();
    for principal in &policy.reviewers {
        named.extend(reviewer(conn, session, principal).await?);
    }
    if !named.is_empty() {
        return Ok(named);
    }
    let own = session.user_id.filter(|_| kind == GateKind::Question);
    let asked = match action.and_then(|action| action.assigned_to).or(own) {
        // A person who left the workspace cannot answer. In this case anyone may.
        Some(id) => reviewer(conn, session, &Principal::User(id)).await?,
        None => None,
    };
    Ok(vec![asked.unwrap_or(ReviewerRecord::Anyone)])
}

/// Converts a principal to a reviewer. Returns `None` if the person left the workspace or the group does not
/// exist.
pub(super) async fn reviewer(
    conn: &mut Conn<'_>,
    session: &Session,
    principal: &Principal,
) -> Result<Option<ReviewerRecord>> {
    Ok(match principal {
        Principal::Anyone => Some(ReviewerRecord::Anyone),
        Principal::User(id) => store::user::find_member(conn, session.tenant_id, *id)
            .await?
            .map(|member| ReviewerRecord::User { id: member.user_id, email: member.email }),
        Principal::Group(slug) => store::group::find_by_slug(conn, session.tenant_id, slug)
            .await?
            .map(|group| ReviewerRecord::Group { id: group.id, name: group.name }),
    })
}

fn title(task: &Task, session: &Session) -> String {
    let text = match task {
        Task::Tool(call) if is_own_call(call, session) => session.title.as_str(),
        Task::Tool(call) => call.tool_name.as_str(),
        Task::Question(question) => question.message.as_str(),
        Task::Output(_) | Task::Fields(_) | Task::Memory(_) => session.title.as_str(),
    };
    text.chars().take(TITLE_CHARS_MAX).collect()
}

/// Whether a call is that of the tool that the session runs. The call names the tool by its slug, and the title of the
/// session by the name that people gave it. A worker can ask for a call of another tool.
fn is_own_call(call: &PausedToolCall, session: &Session) -> bool {
    ToolRun::of_session(session).is_some_and(|run| run.slug == call.tool_name)
}

/// Returns a key that is equal for gates that a person can decide together: same agent, kind, tool and keys of
/// the values; of questions, the same text and the same form. The action is not part of it, because work on many
/// entities often has one action for each.
fn similar_key(task: &Task, session: &Session) -> String {
    let keys: Vec<&String> = task.editable().map(|values| values.keys().collect()).unwrap_or_default();
    let alike = match task {
        Task::Question(asked) => {
            json!([task.kind(), session.agent_slug, asked.message, asked.schema, asked.fields])
        }
        Task::Tool(call) => json!([task.kind(), session.agent_slug, call.tool_name, keys]),
        Task::Output(_) | Task::Fields(_) | Task::Memory(_) => {
            json!([task.kind(), session.agent_slug, null, keys])
        }
    };
    canonical_digest(&alike).to_string().chars().take(16).collect()
}
