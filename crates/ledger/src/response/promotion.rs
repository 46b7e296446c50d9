//! Making an entity from a response by a task: the answers are the task's output, in a session of their own. Safety
//! rules and approval apply as to the output of an agent. Results of tools and canvases are written in the same way.

use super::promoted_entity::{Mapping, values_of};
use crate::{
    ActionRecord, Error, Ledger, ResponseRecord, Result,
    commit::{Change, Minter, state, write},
    gate::{Judged, judge, stage_judged},
    output::{self, WriteBack, awaits_approval},
};
use domain::{
    Scope, Timestamp,
    action::{ActionStatus, OutputType},
    entity::FIELD_TITLE,
    event::kind::{Completed, Created},
    id::{ActionId, EntityId, GateId, SessionId, TenantId},
    issue::Issue,
    limit::TITLE_CHARS_MAX,
    response::PROMOTION_SOURCE,
    session::{Actor, Command, Report, Session, Type, decide},
};
use serde_json::{Map, Value, json};
use store::{Conn, Promotion, WriteTx, session::Inserted};

/// What a transaction cannot make itself.
#[derive(Clone)]
pub(crate) struct Ids {
    pub(super) entity_id: EntityId,
    session_id: SessionId,
    gate_id: GateId,
    pub(super) minter: Minter,
}

impl Ids {
    /// Creates new ids.
    pub(crate) fn new(ledger: &Ledger) -> Self {
        let (now, entropy) = (ledger.now(), ledger.entropy());
        Self {
            entity_id: EntityId::new(now, entropy),
            session_id: SessionId::new(now, entropy),
            gate_id: GateId::new(now, entropy),
            minter: Minter::new(ledger, now),
        }
    }
}

/// An output that the server has prepared for a task.
pub(crate) struct Prepared {
    /// Session from which the output was made. It is the parent of the task's session.
    pub(crate) parent_id: SessionId,
    /// The only person who can see the task's session; `None` if the workspace can see it.
    pub(crate) private_to: Option<String>,
    /// Entity that the session is about.
    pub(crate) entity_id: Option<EntityId>,
    /// Input of the session, as JSON.
    pub(crate) input: Option<String>,
    /// Metadata of the session, a JSON object.
    pub(crate) metadata: String,
    /// Values for the entity, in the form of the task's output.
    pub(crate) output: Map<String, Value>,
    /// Further values that the safety rules judge.
    pub(crate) judged_too: Map<String, Value>,
    /// Why the session starts, and why it begins, for people.
    pub(crate) reasons: [&'static str; 2],
}

/// A running session with an output that may be written.
pub(crate) struct Begun {
    /// The session of the task.
    pub(crate) session: Session,
    judged: Judged,
    output: Map<String, Value>,
    minter: Minter,
}

/// Checks a prepared output against the contract and the safety rules of a task, and starts the session for it.
///
/// # Errors
/// [`Error::Invalid`] for an output that the contract refuses; [`Error::HardBlock`] if the safety rules block it.
pub(crate) async fn begin_task(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    action: &ActionRecord,
    prepared: Prepared,
    ids: &Ids,
) -> Result<Begun> {
    let mut session = new_session(scope, &prepared, action, (ids.session_id, ids.minter.at()));
    let Prepared { output, judged_too, reasons, .. } = prepared;
    let text = Value::Object(output.clone()).to_string();
    let errors = output::check(tx.conn(), scope.tenant_id, action, &session, Some(&text)).await?;
    if !errors.is_empty() {
        return Err(Error::Invalid(errors));
    }
    let judged = judge(tx.conn(), action, &session, output.clone(), &judged_too).await?;
    let mut minter = ids.minter.clone();
    insert(tx, &mut session, reasons, &mut minter).await?;
    Ok(Begun { session, judged, output, minter })
}

/// Writes the output of a session that has begun, or opens its gate. Returns the session, and the entity if it is
/// written.
///
/// # Errors
/// [`Error::Invalid`] if the task would write no entity.
pub(crate) async fn settle_task(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    action: &ActionRecord,
    begun: Begun,
    ids: &Ids,
) -> Result<(Session, Option<Promotion>)> {
    let Begun { session, judged, output, minter } = begun;
    if awaits_approval(action, &session) {
        return Ok((pause(tx, scope, session, ids.gate_id, action, judged, minter).await?, None));
    }
    let (session, promotion) = finish(tx, scope, session, (action, Value::Object(output)), minter).await?;
    Ok((session, Some(promotion)))
}

/// A task that can have an output.
///
/// # Errors
/// [`Error::NotFound`] for an unknown task; [`Error::Invalid`] for one that is archived.
pub(crate) async fn active_task(conn: &mut Conn<'_>, tenant_id: TenantId, id: ActionId) -> Result<ActionRecord> {
    let action = store::action::find(conn, tenant_id, id).await?.ok_or(Error::NotFound("task"))?;
    if action.status != ActionStatus::Active {
        return Err(Error::invalid("actionId", "this task is archived"));
    }
    Ok(action)
}

/// Whether the output of a task is one entity.
pub(crate) const fn writes_one_entity(action: &ActionRecord) -> bool {
    matches!(action.output_type, OutputType::Entity | OutputType::Fields | OutputType::RelationEntity)
}

/// The session in which this task has written what another session prepared to this entity, or waits to do so. A denied
/// one has ended without a result.
pub(crate) async fn written_before(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    from: SessionId,
    (action_id, entity_id): (ActionId, Option<EntityId>),
) -> Result<Option<Session>> {
    for id in store::response::promotion_sessions(conn, tenant_id, from).await? {
        let Some(session) = store::session::find(conn, tenant_id, id).await? else { continue };
        let is_same = session.action_id == Some(action_id) && session.entity_id == entity_id;
        if is_same && (!session.status().is_final() || session.result().is_some()) {
            return Ok(Some(session));
        }
    }
    Ok(None)
}

/// Whether a task that was given the response waits for approval.
pub(crate) async fn waits(conn: &mut Conn<'_>, tenant_id: TenantId, response: &ResponseRecord) -> Result<bool> {
    let Some(id) = response.promotion_session_id else { return Ok(false) };
    let session = store::session::find(conn, tenant_id, id).await?;
    Ok(session.is_some_and(|session| !session.status().is_final()))
}

/// Starts the session of a task with the answers as its output. Writes the entity, or opens the gate. The session is as
/// private as that of the response.
///
/// # Errors
/// As [`super::promote`].
pub(super) async fn begin(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    (response, private_to): (ResponseRecord, Option<String>),
    action_id: ActionId,
    mapping: Mapping<'_>,
    ids: Ids,
) -> Result<ResponseRecord> {
    let tenant_id = scope.tenant_id;
    let action = active_task(tx.conn(), tenant_id, action_id).await?;
    let output = output_of(tx.conn(), scope, &action, &response, mapping).await?;
    let of = json!({ "response": { "sessionId": response.session_id, "viewId": response.view_id } });
    let prepared = Prepared {
        parent_id: response.session_id,
        private_to,
        entity_id: action.target_entity_id,
        input: Some(Value::Object(response.answers.clone()).to_string()),
        metadata: of.to_string(),
        output,
        judged_too: response.answers.clone(),
        reasons: ["a response is promoted", "its answers are the output"],
    };
    let begun = begin_task(tx, scope, &action, prepared, &ids).await?;
    store::response::promote_by(tx, tenant_id, response.session_id, begun.session.id).await?;
    let response = ResponseRecord { promotion_session_id: Some(begun.session.id), ..response };
    let (_, promotion) = settle_task(tx, scope, &action, begun, &ids).await?;
    Ok(ResponseRecord { promotion, ..response })
}

/// The answers in the form of the task's output: the title, the values of the entity's fields, and those of the
/// dimensions of its criteria sets, which are rated or asked for by a question with the dimension's name.
async fn output_of(
    conn: &mut Conn<'_>,
    scope: &Scope,
    action: &ActionRecord,
    response: &ResponseRecord,
    mapping: Mapping<'_>,
) -> Result<Map<String, Value>> {
    let contract = domain::output::read(action.output_type, &action.output_config).map_err(Error::Invalid)?;
    let slug = match (contract.entity_type, action.target_entity_id) {
        (Some(slug), _) => Some(slug),
        (None, Some(id)) => store::entity::find(conn, scope.tenant_id, id).await?.map(|entity| entity.type_slug),
        (None, None) => None,
    };
    let of_type = match slug.filter(|_| writes_one_entity(action)) {
        Some(slug) => store::entity_type::find_by_slug(conn, scope.tenant_id, &slug).await?,
        None => None,
    };
    let of_type = of_type.ok_or_else(|| Error::invalid("actionId", "the output of this task is not one entity"))?;
    let (title, values) = values_of(&of_type, &response.answers, mapping)?;
    let mut output = Map::new();
    for id in &contract.criteria_set_ids {
        let set = store::criteria_set::find(conn, scope.tenant_id, *id).await?;
        for dimension in set.into_iter().flat_map(|set| set.dimensions) {
            let rated = |answer: &Value| answer.as_object().and_then(|rating| rating.get(&dimension.slug)).cloned();
            let plain = || {
                let answer = response.answers.get(&dimension.slug.replace('-', "_"));
                answer.filter(|answer| !answer.is_object()).cloned()
            };
            if let Some(value) = response.answers.values().find_map(rated).or_else(plain) {
                output.insert(dimension.slug, value);
            }
        }
    }
    output.extend(values);
    if let Some(title) = title.filter(|_| action.output_type != OutputType::Fields) {
        output.insert(FIELD_TITLE.to_owned(), title.into());
    }
    Ok(output)
}

fn new_session(
    scope: &Scope,
    prepared: &Prepared,
    action: &ActionRecord,
    (id, now): (SessionId, Timestamp),
) -> Session {
    let title: String = action.name.chars().take(TITLE_CHARS_MAX).collect();
    Session {
        action_id: Some(action.id),
        action_slug: Some(action.slug.clone()),
        user_id: scope.acting_user(),
        source: Some(PROMOTION_SOURCE.to_owned()),
        entity_id: prepared.entity_id,
        input: prepared.input.clone(),
        metadata: prepared.metadata.clone(),
        parent_id: Some(prepared.parent_id),
        queued_at: Some(now),
        started_at: Some(now),
        private_to: prepared.private_to.clone(),
        ..Session::draft(scope.tenant_id, id, Type::Agent, title, scope.caller.to_string(), now)
    }
}

/// Inserts the session as running. No worker can claim it.
async fn insert(
    tx: &mut WriteTx<'_>,
    session: &mut Session,
    [starts, begins]: [&'static str; 2],
    minter: &mut Minter,
) -> Result<()> {
    let created = Created::of_type(session.session_type).by_source(session.source.as_deref());
    let mut events = vec![minter.session_created(session, created)?];
    for (command, reason) in [(Command::Start, starts), (Command::Begin, begins)] {
        let step = decide(state(session), Actor::Server, command)?;
        events.push(minter.status_change(Some(session.status()), step.to(), reason));
        session.enter(step, Report::default(), minter.at());
    }
    match store::session::insert(tx, session, None, &events).await? {
        Inserted::New => Ok(()),
        Inserted::KeyTaken | Inserted::AlreadyWorking => Err(Error::Internal("a promotion met another session".into())),
    }
}

async fn pause(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    session: Session,
    gate_id: GateId,
    action: &ActionRecord,
    judged: Judged,
    mut minter: Minter,
) -> Result<Session> {
    let events = vec![stage_judged(tx, &session, (gate_id, action), judged, &mut minter).await?];
    let change = change(scope, &session, Command::Ask, "its output is waiting for approval", minter);
    let transition = decide(state(&session), Actor::Server, Command::Ask)?;
    write(tx, session, transition, change, events, Report::default()).await
}

async fn finish(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    session: Session,
    (action, output): (&ActionRecord, Value),
    mut minter: Minter,
) -> Result<(Session, Promotion)> {
    let (actor, now) = (scope.caller.to_string(), minter.at());
    let back = WriteBack { action, session: &session, output: &output, actor: &actor, minter: &minter };
    let written = output::write_back(tx, back).await?;
    let nothing = || Error::Invalid(vec![Issue::new("actionId", "this task would write no entity")]);
    let to = written.0.first().map(|entity| entity.entity_id).ok_or_else(nothing)?;
    let promotion = Promotion { entity_id: to, by: actor, at: now };
    store::response::promoted_by(tx, session.tenant_id, session.id, &promotion).await?;
    let completed = Completed {
        attempt: Some(session.attempt),
        has_result: true,
        written: Some(written.0),
        ..Completed::default()
    };
    let events = vec![minter.event(&completed)];
    let change = change(scope, &session, Command::Finish, "its output was written", minter);
    let transition = decide(state(&session), Actor::Server, Command::Finish)?;
    let report = Report { result: Some(output.to_string()), ..Report::default() };
    let session = write(tx, session, transition, change, events, report).await?;
    Ok((session, promotion))
}

fn change(scope: &Scope, session: &Session, command: Command, reason: &str, minter: Minter) -> Change {
    let (actor, caller) = (Actor::Server, scope.caller);
    Change { id: session.id, actor, command, caller, reason: reason.into(), minter }
}
