//! Finds or creates the session of a hook.

use super::attempt::{AttemptError, Attempted};
use crate::{Error, Result, guard::require};
use domain::{
    Scope, Timestamp,
    event::kind::Created,
    hook::Source,
    id::{SessionId, TenantId},
    role::Permission,
    session::{Actor, Command, Report, Session, Type, decide},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use store::{
    Conn, WriteTx,
    session::{Idempotency, Inserted},
};

/// The result of looking for the session of a hook.
pub(super) enum SessionLookup {
    /// The session, locked.
    Session(Box<Session>),
    /// The hook is already recorded.
    Recorded,
    /// The session has ended or does not exist, and this hook starts none.
    Over,
}

/// Finds and locks the session of a hook, or creates it.
///
/// The agent's first session has the key `hook:<source>:<session id>`. An agent may continue after the end: a
/// resumed session, or one that was cancelled here. It then gets a new session whose parent is the first one.
/// The key of the new session is made from the session before it, so that simultaneous hooks create one session
/// on any number of servers.
pub(super) async fn find_or_create(
    tx: &mut WriteTx<'_>,
    hook: &mut Attempted,
) -> std::result::Result<SessionLookup, AttemptError> {
    let (tenant_id, source) = (hook.scope.tenant_id, hook.source.as_str());
    let key = first_key(hook.source, &hook.parsed.session_id);
    let Some((first, _)) = store::session::find_by_idempotency_key(tx.conn(), tenant_id, &key).await? else {
        return if hook.parsed.begins { make(tx, hook, key, None).await } else { Ok(SessionLookup::Over) };
    };
    require_owner(&hook.scope, hook.source, &first)?;
    let newest = store::session::newest_continuation(tx.conn(), tenant_id, first.id, source).await?;
    let mut last = locked(tx, &hook.scope, newest.map_or(first.id, |newest| newest.id)).await?;
    // Ids of the same millisecond have no order, so the keys determine which session is the last one.
    while last.status().is_final() {
        let after = key_after(hook.source, last.id);
        match store::session::find_by_idempotency_key(tx.conn(), tenant_id, &after).await? {
            Some((next, _)) => last = locked(tx, &hook.scope, next.id).await?,
            None => break,
        }
    }
    if let Some(external_id) = &hook.external_id {
        for session in [last.id, first.id] {
            if store::event::has_external(tx.conn(), tenant_id, session, external_id).await? {
                return Ok(SessionLookup::Recorded);
            }
        }
    }
    if !last.status().is_final() {
        return Ok(SessionLookup::Session(Box::new(last)));
    }
    if !hook.parsed.reopens {
        tracing::debug!(session = %last.id, hook = hook.parsed.event_name, "a hook after the end is not recorded");
        return Ok(SessionLookup::Over);
    }
    let key = key_after(hook.source, last.id);
    make(tx, hook, key, Some((first.id, last.id))).await
}

/// The session to which the hooks of an agent's session go, as far as it is known without locks; `None` if there is
/// none.
pub(super) async fn find_newest(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    source: Source,
    agents_session: &str,
) -> Result<Option<Session>> {
    let key = first_key(source, agents_session);
    let Some((first, _)) = store::session::find_by_idempotency_key(conn, tenant_id, &key).await? else {
        return Ok(None);
    };
    let newest = store::session::newest_continuation(conn, tenant_id, first.id, source.as_str()).await?;
    Ok(Some(newest.unwrap_or(first)))
}

fn first_key(source: Source, agents_session: &str) -> String {
    format!("hook:{}:{agents_session}", source.as_str())
}

fn key_after(source: Source, before: SessionId) -> String {
    format!("hook:{}:after:{before}", source.as_str())
}

async fn locked(tx: &mut WriteTx<'_>, scope: &Scope, id: SessionId) -> Result<Session> {
    store::session::find_locked(tx, scope.tenant_id, id).await?.ok_or(Error::NotFound("session"))
}

/// Refuses to write to a session of another source that has this key, or to the session of another person's
/// agent.
fn require_owner(scope: &Scope, source: Source, session: &Session) -> Result<()> {
    if session.source.as_deref() != Some(source.as_str()) {
        return Err(Error::IdConflict {
            detail: format!("the key of this agent's session made session {}", session.id),
        });
    }
    let own = session.created_by == scope.caller.to_string()
        || (session.user_id.is_some() && session.user_id == scope.acting_user());
    if own || scope.may(Permission::Work) { Ok(()) } else { require(scope, Permission::ManageSessions) }
}

/// Creates the session as running. `after` holds the agent's first session and the previous one.
async fn make(
    tx: &mut WriteTx<'_>,
    hook: &mut Attempted,
    key: String,
    after: Option<(SessionId, SessionId)>,
) -> std::result::Result<SessionLookup, AttemptError> {
    let digest = Sha256::digest(format!("hook\n{key}").as_bytes()).into();
    let now = hook.minter.at();
    let mut session = new_record(hook, after, now);
    let at = hook.at;
    let created = Created {
        continues: Some(after.map(|(_, last)| last)),
        ..Created::of_type(session.session_type).by_source(session.source.as_deref())
    };
    let mut events = vec![hook.minter.session_created(&session, created)?];
    for (command, reason) in [(Command::Start, "dispatched"), (Command::Begin, "runs outside, reports through hooks")] {
        let step = decide(crate::commit::state(&session), Actor::Server, command).map_err(Error::from)?;
        events.push(hook.minter.status_change(Some(session.status()), step.to(), reason));
        session.enter(step, Report::default(), now);
    }
    for event in &mut events {
        event.at = at;
    }
    match store::session::insert(tx, &mut session, Some(&Idempotency { key, digest }), &events).await? {
        Inserted::New => Ok(SessionLookup::Session(Box::new(session))),
        // `AlreadyWorking` cannot occur, because this is not a human session.
        Inserted::KeyTaken | Inserted::AlreadyWorking => Err(AttemptError::Again),
    }
}

fn new_record(hook: &Attempted, after: Option<(SessionId, SessionId)>, now: Timestamp) -> Session {
    let parsed = &hook.parsed;
    let mut metadata: Value = serde_json::from_str(&parsed.about).unwrap_or_else(|_| json!({}));
    if let Some((_, last)) = after {
        metadata["continues"] = json!(last);
    }
    let title = parsed.titled.clone().unwrap_or_else(|| parsed.folder.clone());
    let (tenant_id, created_by) = (hook.scope.tenant_id, hook.scope.caller.to_string());
    Session {
        agent_slug: Some(hook.source.as_str().to_owned()),
        user_id: hook.scope.acting_user(),
        source: Some(hook.source.as_str().to_owned()),
        metadata: metadata.to_string(),
        parent_id: after.map(|(first, _)| first),
        queued_at: Some(now),
        started_at: Some(now),
        ..Session::draft(tenant_id, hook.fresh, Type::Agent, title, created_by, now)
    }
}
