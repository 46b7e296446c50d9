//! Creating a session.

use super::graph::{LockedRelations, depend, lock_relations};
use crate::{
    ActionRecord, Error, Ledger, Result,
    action_input::accept,
    commit::EventFactory,
    guard::{Fields, require},
    visibility::can_see,
};
use domain::{
    Scope,
    action::ActionStatus,
    chain::Digest,
    event::Kind,
    id::{ActionId, SessionId, TenantId},
    limit::{ATTEMPTS_MAX, DEPENDENCIES_MAX, KEY_CHARS_MAX, PARENT_DEPTH_MAX, TITLE_CHARS_MAX},
    role::Permission,
    session::{IfDependencyFails, Session, State, Status, TimeLimits, Type, deadline},
    thread::{INCOGNITO, is_incognito},
};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use store::{
    Conn, WriteTx,
    session::{Idempotency, Inserted},
};

/// A session on which a new session depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DependsOn {
    /// Id of a session of the workspace.
    pub session_id: SessionId,
    /// What happens to the new session if this one does not complete.
    pub if_fails: IfDependencyFails,
}

/// The fields of a new session.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Agent and tool sessions are queued at once. Response and mixed sessions start as drafts.
    pub session_type: Type,
    /// Id of an action of the workspace.
    pub action_id: Option<ActionId>,
    /// Slug of the agent that may claim the session. Defaults to the agent of the action.
    pub agent_slug: Option<String>,
    /// Defaults to the action's name.
    pub title: Option<String>,
    /// Input for the worker, as JSON.
    pub input: Option<String>,
    /// A JSON object.
    pub metadata: Option<String>,
    /// Id of a session of the workspace.
    pub parent_id: Option<SessionId>,
    /// Sessions that must end before this one is queued. Only for agent and tool sessions.
    pub depends_on: Vec<DependsOn>,
    /// A repeat with the same key returns the session that the first request created.
    pub idempotency_key: Option<String>,
}

impl NewSession {
    /// Creates a session of this type without any other field.
    pub const fn of_type(session_type: Type) -> Self {
        Self {
            session_type,
            action_id: None,
            agent_slug: None,
            title: None,
            input: None,
            metadata: None,
            parent_id: None,
            depends_on: Vec::new(),
            idempotency_key: None,
        }
    }

    fn check(&self) -> Result<()> {
        let mut fields = Fields::default();
        if let Some(title) = &self.title {
            fields.name("title", title, TITLE_CHARS_MAX);
        }
        fields.slug("agentSlug", self.agent_slug.as_deref());
        fields.document("input", self.input.as_deref());
        fields.object("metadata", self.metadata.as_deref());
        fields.key("idempotencyKey", self.idempotency_key.as_deref(), KEY_CHARS_MAX);
        self.check_dependencies(&mut fields);
        fields.check()
    }

    fn check_dependencies(&self, fields: &mut Fields) {
        if self.depends_on.len() > DEPENDENCIES_MAX {
            fields.refuse("dependsOn", format!("at most {DEPENDENCIES_MAX} sessions"));
            return;
        }
        if !self.depends_on.is_empty() && !matches!(self.session_type, Type::Agent | Type::Tool) {
            fields.refuse("dependsOn", "only agent and tool sessions wait for others");
        }
        for (at, on) in self.depends_on.iter().enumerate() {
            if self.depends_on[..at].iter().any(|earlier| earlier.session_id == on.session_id) {
                fields.refuse(&format!("dependsOn[{at}]"), "names a session a second time");
            }
        }
    }

    /// Returns a digest of the request. Requests with the same key must have the same digest.
    fn digest(&self) -> [u8; 32] {
        let mut fields = json!([
            self.session_type,
            self.action_id,
            self.agent_slug,
            self.title,
            self.input,
            self.metadata,
            self.parent_id
        ]);
        // Dependencies are only added if there are any. This keeps the digest of other requests as it was in
        // earlier versions.
        for on in &self.depends_on {
            if let Some(fields) = fields.as_array_mut() {
                fields.push(json!([on.session_id, on.if_fails]));
            }
        }
        Sha256::digest(fields.to_string().as_bytes()).into()
    }
}

/// Largest number of events of a new session: created and queued, or created and skipped with an error.
pub(super) const EVENTS_MAX: usize = 3;

/// Creates a session. A repeat with the same idempotency key returns the same session.
///
/// # Errors
/// [`Error::Invalid`] for wrong fields, [`Error::NotFound`] for unknown references, [`Error::IdConflict`] if the
/// key was used for a different request.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewSession) -> Result<Session> {
    require(scope, Permission::StartSession)?;
    new.check()?;
    let now = ledger.now();
    let id = SessionId::new(now, ledger.entropy());
    let factory = EventFactory::new(ledger, now, EVENTS_MAX);
    let scope = *scope;
    ledger.write((&scope).into(), move |tx| Box::pin(insert(tx, scope, id, factory, new, None))).await
}

/// Inserts a session with its first events, or returns the session that its idempotency key created.
pub(super) async fn insert(
    tx: &mut WriteTx<'_>,
    scope: Scope,
    id: SessionId,
    mut factory: EventFactory,
    new: NewSession,
    retry_of: Option<SessionId>,
) -> Result<Session> {
    let idempotency = new.idempotency_key.clone().map(|key| Idempotency { key, digest: new.digest() });
    if let Some(known) = repeated(tx.conn(), &scope, idempotency.as_ref()).await? {
        return Ok(known);
    }
    let place = lock_relations(tx, &scope, &new, retry_of.is_some()).await?;
    let is_queued = matches!(new.session_type, Type::Agent | Type::Tool);
    let (mut session, action) = draft(tx, scope, id, &factory, new, (retry_of, &place)).await?;
    // The input of a retry was accepted when the first session was created.
    if let (Some(action), None) = (&action, retry_of) {
        session.input = accept(action, session.input.take(), is_queued)?;
    }
    let mut metadata = json!({ "sessionType": session.session_type, "retryOf": retry_of });
    if !place.dependencies.is_empty() {
        metadata["dependsOn"] = place.dependencies.iter().map(|(on, _)| json!(on.id)).collect();
    }
    let mut events = vec![factory.event(Kind::SESSION_CREATED, None, &metadata)?];
    if session.status() == Status::Pending {
        events.push(factory.status_change(Some(Status::Draft), Status::Pending, "dispatched")?);
    }
    match store::session::insert(tx, &mut session, idempotency.as_ref(), &events).await? {
        Inserted::New => depend(tx, session, &place.dependencies, factory).await,
        // Another server handled a request with the same key at the same time, and its transaction was committed
        // first.
        Inserted::KeyTaken => Err(Error::Unavailable("the same request is still being handled; send it again".into())),
        Inserted::AlreadyWorking => Err(Error::Internal("a session without a source met a working session".into())),
    }
}

pub(crate) async fn repeated(
    conn: &mut Conn<'_>,
    scope: &Scope,
    idempotency: Option<&Idempotency>,
) -> Result<Option<Session>> {
    let Some(idempotency) = idempotency else { return Ok(None) };
    match store::session::find_by_idempotency_key(conn, scope.tenant_id, &idempotency.key).await? {
        None => Ok(None),
        Some((session, _)) if !can_see(conn, scope, &session).await? => {
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
    factory: &EventFactory,
    new: NewSession,
    (retry_of, place): (Option<SessionId>, &LockedRelations),
) -> Result<(Session, Option<ActionRecord>)> {
    let tenant_id = scope.tenant_id;
    let action = match new.action_id {
        None => None,
        Some(id) => Some(runnable_action(tx, tenant_id, id).await?),
    };
    let mut entity_id = action.as_ref().and_then(|a| a.target_entity_id);
    if let Some(parent) = &place.parent {
        // A child session is about the same entity as its parent, unless its action says otherwise.
        entity_id = entity_id.or(parent.entity_id);
        if store::session::depth(tx.conn(), tenant_id, parent.id).await? >= PARENT_DEPTH_MAX {
            return Err(Error::LimitReached(format!("sessions nest at most {PARENT_DEPTH_MAX} deep")));
        }
    }
    let now = factory.at();
    let waits_for_dependencies = !place.dependencies.is_empty();
    let time_limits = action.as_ref().map_or(Ok(TimeLimits::default()), time_limits_of)?;
    let agent_slug = new.agent_slug.or_else(|| action.as_ref().and_then(|a| a.agent_slug.clone()));
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
    let title = new.title.or_else(|| action.as_ref().map(|a| a.name.clone()));
    let session = Session {
        tenant_id,
        id,
        session_type: new.session_type,
        queued_at: (state.status() == Status::Pending).then_some(now),
        state,
        action_id: new.action_id,
        action_slug: action.as_ref().map(|a| a.slug.clone()),
        agent_slug,
        user_id: scope.acting_user(),
        source: None,
        entity_id,
        title: title.unwrap_or_else(|| "Untitled".into()),
        input: new.input,
        metadata,
        usage: None,
        parent_id: new.parent_id,
        retry_of,
        created_by,
        attempt: 0,
        attempts_max: ATTEMPTS_MAX,
        head_sequence: 0,
        head_digest: Digest::GENESIS,
        created_at: now,
        updated_at: now,
        started_at: None,
        time_limits,
        dependency_count: u32::try_from(place.dependencies.len()).unwrap_or(u32::MAX),
        awaited: false,
        private_to,
    };
    Ok((session, action))
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
