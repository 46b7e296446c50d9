//! Starting work on a task.

use super::person;
use crate::{
    ActionRecord, Error, Ledger, Result,
    commit::{self, Change, Minter},
};
use domain::{
    Scope,
    action::ActionStatus,
    event::kind::Created,
    human::{SOURCE, Switch, switch},
    id::{ActionId, SessionId, UserId},
    session::{Actor, Command, Refusal, Report, Session, Status, Type, decide},
};
use store::{WriteTx, session::Inserted};

/// How often a start is tried when another start of the same person was committed first. Each try waits for that
/// commit, so a start is only refused if the person starts tasks in this many tabs at the same time.
const TRIES: usize = 8;

/// The result of a start.
#[derive(Debug, Clone)]
pub struct Started {
    /// The new session, or the running one if it is already about this task.
    pub session: Session,
    /// Action that the person works on.
    pub task: ActionRecord,
    /// The session that ended because of the start.
    pub superseded: Option<SessionId>,
}

/// Why an attempt failed.
enum AttemptError {
    /// Another start of this person was committed first.
    AlreadyWorking,
    /// Any other error.
    Refused(Error),
}

impl From<Error> for AttemptError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<store::Error> for AttemptError {
    fn from(error: store::Error) -> Self {
        Self::Refused(error.into())
    }
}

impl From<Refusal> for AttemptError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.into())
    }
}

/// Starts the caller's work on a task. A running session of another task ends in the same transaction, as
/// completed and superseded. Starting the task of the running session returns that session.
///
/// Any number of tabs may start at once. Afterwards exactly one session runs, and each response was correct when
/// it was committed.
///
/// # Errors
/// [`Error::Forbidden`] if the caller is not a person; [`Error::NotFound`] if the workspace has no such task;
/// [`Error::Invalid`] if it is archived; [`Error::Unavailable`] if other starts of the person came first each time.
pub async fn start(ledger: &Ledger, scope: &Scope, task_id: ActionId) -> Result<Started> {
    let user_id = person(scope)?;
    for _ in 0..TRIES {
        match attempt(ledger, *scope, user_id, task_id).await {
            Ok(started) => return Ok(started),
            Err(AttemptError::Refused(error)) => return Err(error),
            Err(AttemptError::AlreadyWorking) => {}
        }
    }
    Err(Error::Unavailable("other starts of the same person kept coming first".into()))
}

async fn attempt(
    ledger: &Ledger,
    scope: Scope,
    user_id: UserId,
    task_id: ActionId,
) -> std::result::Result<Started, AttemptError> {
    let now = ledger.now();
    let id = SessionId::new(now, ledger.entropy());
    let (ending, beginning) = (Minter::new(ledger, now), Minter::new(ledger, now));
    ledger
        .write_or_refuse((&scope).into(), async move |tx| {
            let task = task(tx, &scope, task_id).await?;
            let running = store::human::active_locked(tx, scope.tenant_id, user_id).await?;
            let superseded = match (switch(running.as_ref().map(|s| s.action_id), task_id), running) {
                (Switch::Keep, Some(session)) => return Ok(Started { session, task, superseded: None }),
                (Switch::Supersede, Some(before)) => Some(supersede(tx, &scope, before, ending).await?),
                _ => None,
            };
            let session = begin(tx, &scope, (id, user_id), &task, beginning).await?;
            Ok(Started { session, task, superseded })
        })
        .await
}

/// Returns the task, which must be active.
async fn task(tx: &mut WriteTx<'_>, scope: &Scope, id: ActionId) -> Result<ActionRecord> {
    let task = store::action::find(tx.conn(), scope.tenant_id, id).await?.ok_or(Error::NotFound("task"))?;
    match task.status {
        ActionStatus::Active => Ok(task),
        ActionStatus::Archived => {
            Err(Error::invalid("taskId", "this task is archived; choose an active task, or set this one to active"))
        }
    }
}

async fn supersede(tx: &mut WriteTx<'_>, scope: &Scope, before: Session, minter: Minter) -> Result<SessionId> {
    let id = before.id;
    let transition = decide(commit::state(&before), Actor::Server, Command::Supersede)?;
    let change = Change {
        id,
        actor: Actor::Server,
        command: Command::Supersede,
        caller: scope.caller,
        reason: "superseded".into(),
        minter,
    };
    commit::write(tx, before, transition, change, Vec::new(), Report::default()).await?;
    Ok(id)
}

async fn begin(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    (id, user_id): (SessionId, UserId),
    task: &ActionRecord,
    mut minter: Minter,
) -> std::result::Result<Session, AttemptError> {
    let now = minter.at();
    let mut session = Session {
        action_id: Some(task.id),
        action_slug: Some(task.slug.clone()),
        user_id: Some(user_id),
        source: Some(SOURCE.into()),
        entity_id: task.target_entity_id,
        ..Session::draft(scope.tenant_id, id, Type::Mixed, task.name.clone(), scope.caller.to_string(), now)
    };
    session.start(Actor::Caller, now)?;
    let created = Created { task_id: Some(task.id), ..Created::of_type(session.session_type).by_source(Some(SOURCE)) };
    let events = [
        minter.session_created(&session, created)?,
        minter.status_change(Some(Status::Draft), session.status(), "started"),
    ];
    match store::session::insert(tx, &mut session, None, &events).await? {
        Inserted::New => Ok(session),
        Inserted::AlreadyWorking => Err(AttemptError::AlreadyWorking),
        Inserted::KeyTaken => {
            Err(AttemptError::Refused(Error::Internal("a session without a key found its key taken".into())))
        }
    }
}
