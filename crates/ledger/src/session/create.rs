//! Creating a session.

mod plain;

use super::{
    graph::{LockedRelations, depend, lock_relations},
    new_session::NewSession,
};
use crate::{
    ActionRecord, Error, Ledger, Result, action_input::accept, commit::Minter, guard::require, visibility::can_see,
};
use domain::{
    Scope, Timestamp,
    action::ActionStatus,
    event::kind::{Created, ToolOpened},
    id::{ActionId, SessionId, TenantId},
    limit::PARENT_DEPTH_MAX,
    role::Permission,
    session::{Session, State, Status, TimeLimits, Type, UNTITLED, deadline},
    thread::{INCOGNITO, is_incognito},
    tool::run::ToolRun,
};
use store::{
    PreparedEvent, WriteTx,
    session::{Idempotency, Inserted},
};
/// Creates a session. A repeat with the same idempotency key returns the same session.
///
/// # Errors
/// [`Error::Invalid`] for wrong fields, an archived action, an input that the action's schema refuses, or a dependency
/// that waits for the parent; [`Error::NotFound`] for unknown references; [`Error::Refused`] if the parent was stopped;
/// [`Error::LimitReached`] if sessions nest too deeply or too many depend on one; [`Error::IdConflict`] if the key was
/// used for a different request.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewSession) -> Result<Session> {
    require(scope, Permission::StartSession)?;
    new.check()?;
    let now = ledger.now();
    let id = SessionId::new(now, ledger.entropy());
    let minter = Minter::new(ledger, now);
    if let Some(created) = plain::attempt(ledger, scope, id, minter.clone(), &new).await? {
        return Ok(created);
    }
    let scope = *scope;
    ledger.write((&scope).into(), async move |tx| insert(tx, scope, id, minter, new, None).await).await
}

/// Inserts a session with its first events, or returns the session that its idempotency key created.
pub(super) async fn insert(
    tx: &mut WriteTx<'_>,
    scope: Scope,
    id: SessionId,
    mut minter: Minter,
    new: NewSession,
    retry_of: Option<SessionId>,
) -> Result<Session> {
    let idempotency = new.idempotency_key.clone().map(|key| Idempotency { key, digest: new.digest() });
    if let Some(known) = repeated(tx, &scope, idempotency.as_ref()).await? {
        return Ok(known);
    }
    let place = lock_relations(tx, &scope, &new, retry_of.is_some()).await?;
    let is_queued = matches!(new.session_type, Type::Agent | Type::Tool);
    let (mut session, action) = draft(tx, scope, id, &minter, new, (retry_of, &place)).await?;
    // The input of a retry was accepted when the first session was created.
    if let (Some(action), None) = (&action, retry_of) {
        session.input = accept(action, session.input.take(), is_queued)?;
    }
    let events = opening(&mut minter, &mut session, &place)?;
    match store::session::insert(tx, &mut session, idempotency.as_ref(), &events).await? {
        Inserted::New => depend(tx, session, &place.dependencies, minter).await,
        // Only a server of an earlier version, which does not lock the key, can have taken it.
        Inserted::KeyTaken => Err(Error::Unavailable("the same request is still being handled; send it again".into())),
        Inserted::AlreadyWorking => Err(Error::Internal("a session without a source met a working session".into())),
    }
}

/// Returns the first events of a new session, and sets the bounds of a tool's run.
fn opening(minter: &mut Minter, session: &mut Session, place: &LockedRelations) -> Result<Vec<PreparedEvent>> {
    let created = Created {
        retry_of: Some(session.retry_of),
        depends_on: place.dependencies.iter().map(|(on, _)| on.id).collect(),
        ..Created::of_type(session.session_type)
    };
    ToolRun::bound(session);
    let mut events = vec![minter.session_created(session, created)?];
    if let Some(run) = ToolRun::of_session(session) {
        events.push(minter.event(&ToolOpened {
            tool: Some(run.slug),
            version: Some(run.version),
            ..ToolOpened::default()
        }));
    }
    if session.status() == Status::Pending {
        events.push(minter.status_change(Some(Status::Draft), Status::Pending, "dispatched"));
    }
    if session.status() == Status::Running {
        events.push(minter.status_change(Some(Status::Draft), Status::Running, "its steps begin"));
    }
    Ok(events)
}

/// The session that a request with this key created before. A request that is being handled is waited for.
pub(crate) async fn repeated(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    idempotency: Option<&Idempotency>,
) -> Result<Option<Session>> {
    let Some(idempotency) = idempotency else { return Ok(None) };
    store::session::lock_idempotency_key(tx, scope.tenant_id, &idempotency.key).await?;
    match store::session::find_by_idempotency_key(tx.conn(), scope.tenant_id, &idempotency.key).await? {
        None => Ok(None),
        Some((session, _)) if !can_see(tx.conn(), scope, &session).await? => {
            Err(Error::IdConflict { detail: "this idempotency key is already used".into() })
        }
        Some((session, digest)) if digest == idempotency.digest => Ok(Some(session)),
        Some((session, _)) => Err(Error::IdConflict {
            detail: format!("this idempotency key already created session {} from a different request", session.id),
        }),
    }
}

/// Builds the row and checks it against its action and parent. Also returns the action.
pub(crate) async fn draft(
    tx: &mut WriteTx<'_>,
    scope: Scope,
    id: SessionId,
    minter: &Minter,
    new: NewSession,
    (retry_of, place): (Option<SessionId>, &LockedRelations),
) -> Result<(Session, Option<ActionRecord>)> {
    let tenant_id = scope.tenant_id;
    let action = match new.action_id {
        None => None,
        Some(id) => Some(runnable_action(tx, tenant_id, id).await?),
    };
    if let Some(parent) = &place.parent
        && store::session::depth(tx.conn(), tenant_id, parent.id).await? >= PARENT_DEPTH_MAX
    {
        return Err(Error::LimitReached(format!("sessions nest at most {PARENT_DEPTH_MAX} deep")));
    }
    let session = build(scope, (id, minter.at()), new, (retry_of, place), action.as_ref())?;
    Ok((session, action))
}

/// Builds the row of a session whose action and relations were read.
fn build(
    scope: Scope,
    (id, now): (SessionId, Timestamp),
    new: NewSession,
    (retry_of, place): (Option<SessionId>, &LockedRelations),
    action: Option<&ActionRecord>,
) -> Result<Session> {
    // A child session is about the same entity as its parent, unless its action says otherwise.
    let of_parent = place.parent.as_ref().and_then(|parent| parent.entity_id);
    let entity_id = action.and_then(|a| a.target_entity_id).or(of_parent);
    let waits_for_dependencies = !place.dependencies.is_empty();
    let time_limits = action.map_or(Ok(TimeLimits::default()), time_limits_of)?;
    let agent_slug = new.agent_slug.or_else(|| action.and_then(|a| a.agent_slug.clone()));
    let state = match new.session_type {
        Type::Agent | Type::Tool if !waits_for_dependencies => {
            State::Pending { deadline_at: deadline(&time_limits, Status::Pending, now) }
        }
        Type::Agent | Type::Tool | Type::Response | Type::Mixed => State::Draft { waits_for_dependencies },
    };
    let metadata = metadata(new.metadata, place.parent.as_ref());
    let created_by = scope.caller.to_string();
    let of_parent = place.parent.as_ref().and_then(|parent| parent.private_to.clone());
    let private_to = of_parent.or_else(|| is_incognito(&metadata).then(|| created_by.clone()));
    let title = new.title.or_else(|| action.map(|a| a.name.clone())).unwrap_or_else(|| UNTITLED.into());
    Ok(Session {
        queued_at: (state.status() == Status::Pending).then_some(now),
        state,
        action_id: new.action_id,
        action_slug: action.map(|a| a.slug.clone()),
        agent_slug,
        user_id: scope.acting_user(),
        entity_id,
        input: new.input,
        metadata,
        parent_id: new.parent_id,
        retry_of,
        time_limits,
        dependency_count: u32::try_from(place.dependencies.len()).unwrap_or(u32::MAX),
        private_to,
        ..Session::draft(scope.tenant_id, id, new.session_type, title, created_by, now)
    })
}

/// Returns an action of which a session may be created.
async fn runnable_action(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ActionId) -> Result<ActionRecord> {
    let action = store::action::find(tx.conn(), tenant_id, id).await?.ok_or(Error::NotFound("action"))?;
    if action.status == ActionStatus::Archived {
        return Err(Error::invalid("actionId", "this task is archived, so it cannot be run"));
    }
    Ok(action)
}

/// Returns the metadata of a new session. Children of an incognito session are incognito too.
fn metadata(own: Option<String>, parent: Option<&Session>) -> String {
    let own = own.unwrap_or_else(|| "{}".into());
    if !parent.is_some_and(|parent| is_incognito(&parent.metadata)) {
        return own;
    }
    let mut notes: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&own).unwrap_or_default();
    notes.insert(INCOGNITO.into(), true.into());
    serde_json::Value::Object(notes).to_string()
}

/// Returns the time limits in the metadata of an action.
fn time_limits_of(action: &ActionRecord) -> Result<TimeLimits> {
    let metadata = serde_json::from_str(&action.metadata).unwrap_or_default();
    Ok(TimeLimits::of_metadata(&metadata)?)
}
