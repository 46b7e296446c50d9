//! Dependencies between sessions: checks those of a new session, and starts sessions when they have nothing to
//! wait for.

use super::new_session::{DependsOn, NewSession};
use crate::{
    Error, Result,
    commit::{Change, Minter, state, write},
    visibility::can_see,
};
use domain::{
    Caller, Scope,
    event::kind::{Failure, SessionError},
    failure::DEPENDENCY_FAILED,
    id::SessionId,
    limit::{DEPENDENTS_MAX, GRAPH_WALK_MAX},
    session::{Actor, Command, IfDependencyFails, Refusal, Report, Session, Status, graph::Readiness},
    tool::run::ends_children,
};
use std::collections::HashMap;
use store::{WriteTx, session::graph as rows};

/// The parent and the dependencies of a new session, locked.
#[derive(Default)]
pub(crate) struct LockedRelations {
    pub(crate) parent: Option<Session>,
    pub(crate) dependencies: Vec<(Session, IfDependencyFails)>,
}

/// Finds and locks the parent and the dependencies of a new session, in the order of their ids. While they are
/// locked they cannot end or begin to wait.
///
/// # Errors
/// If a session is not in the workspace, if the parent was stopped, or if sessions would wait for each other in
/// a circle.
pub(crate) async fn lock_relations(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    new: &NewSession,
    is_retry: bool,
) -> Result<LockedRelations> {
    if new.parent_id.is_none() && new.depends_on.is_empty() {
        return Ok(LockedRelations::default());
    }
    let mut wanted: Vec<SessionId> = new.depends_on.iter().map(|on| on.session_id).chain(new.parent_id).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let found = rows::lock_many(tx, scope.tenant_id, &wanted).await?;
    let mut known = HashMap::new();
    for session in found {
        if can_see(tx.conn(), scope, &session).await? {
            known.insert(session.id, session);
        }
    }
    let found: HashMap<SessionId, Session> = known;
    let parent = match new.parent_id {
        None => None,
        Some(id) => Some(found.get(&id).cloned().ok_or(Error::NotFound("parent session"))?),
    };
    if let Some(parent) = &parent {
        // A parent that was stopped together with its children must not get new ones.
        if ends_children(parent) && !is_retry {
            return Err(Refusal::AlreadyFinal { status: parent.status() }.into());
        }
    }
    let mut dependencies = Vec::with_capacity(new.depends_on.len());
    for DependsOn { session_id, if_fails } in &new.depends_on {
        let on = found.get(session_id).cloned().ok_or(Error::NotFound("session that it depends on"))?;
        dependencies.push((on, *if_fails));
    }
    let place = LockedRelations { parent, dependencies };
    check_room(tx, &place).await?;
    check_circle(tx, &place).await?;
    Ok(place)
}

async fn check_room(tx: &mut WriteTx<'_>, place: &LockedRelations) -> Result<()> {
    for (on, _) in place.dependencies.iter().filter(|(on, _)| !on.status().is_final()) {
        if rows::dependents_count(tx.conn(), on.tenant_id, on.id).await? >= u64::from(DEPENDENTS_MAX) {
            return Err(Error::LimitReached(format!("at most {DEPENDENTS_MAX} sessions depend on one session")));
        }
    }
    Ok(())
}

/// Checks that the new session does not close a circle. A parent may wait for its children, so nothing that a
/// child depends on may wait for the parent. No session depends on the new child yet, so every circle contains
/// its parent.
async fn check_circle(tx: &mut WriteTx<'_>, place: &LockedRelations) -> Result<()> {
    let Some(parent) = place.parent.as_ref().filter(|parent| !parent.status().is_final()) else { return Ok(()) };
    let mut seen: Vec<SessionId> =
        place.dependencies.iter().filter(|(on, _)| !on.status().is_final()).map(|(on, _)| on.id).collect();
    let (mut next, mut alone) = (0, false);
    while let Some(&id) = seen.get(next) {
        if id == parent.id {
            let message = "one of these waits or can wait for the parent: parent and child would wait for each other";
            return Err(Error::invalid("dependsOn", message));
        }
        if seen.len() > GRAPH_WALK_MAX {
            return Err(Error::LimitReached(format!(
                "a child depends on sessions that wait for at most {GRAPH_WALK_MAX} others"
            )));
        }
        // As many others as the limit, together with this session, are more than the limit.
        let ahead = rows::list_awaited(tx.conn(), parent.tenant_id, id, GRAPH_WALK_MAX).await?;
        if !ahead.is_empty() && !alone {
            // Direct dependencies are locked and get no children in the meantime. Sessions further away are not
            // locked, so two sessions created at the same time could each add one half of a circle. Therefore
            // checks that look further run one at a time in a workspace, and each sees what the previous one
            // created.
            rows::lock_workspace_graph(tx, parent.tenant_id).await?;
            alone = true;
        }
        for ahead in ahead {
            if !seen.contains(&ahead) {
                seen.push(ahead);
            }
        }
        next += 1;
    }
    Ok(())
}

/// Records the dependencies of a newly inserted session. Starts or skips the session if it has nothing to wait
/// for.
pub(super) async fn depend(
    tx: &mut WriteTx<'_>,
    session: Session,
    dependencies: &[(Session, IfDependencyFails)],
    minter: Minter,
) -> Result<Session> {
    if dependencies.is_empty() {
        return Ok(session);
    }
    let edges: Vec<_> = dependencies.iter().map(|(on, if_fails)| (on.id, *if_fails)).collect();
    rows::insert_dependencies(tx, session.tenant_id, session.id, &edges).await?;
    for (on, _) in dependencies.iter().filter(|(on, _)| !on.status().is_final() && !on.awaited) {
        rows::mark_awaited(tx, on.tenant_id, on.id).await?;
    }
    start_or_skip(tx, session, minter).await
}

/// Starts or skips a locked draft, if the status of its dependencies permits it. Otherwise returns it unchanged.
pub(super) async fn start_or_skip(tx: &mut WriteTx<'_>, before: Session, mut minter: Minter) -> Result<Session> {
    let dependencies = rows::dependencies(tx.conn(), before.tenant_id, before.id).await?;
    let states: Vec<_> = dependencies.iter().map(|on| (on.if_fails, on.status)).collect();
    match domain::session::graph::readiness(&states) {
        Readiness::Wait => Ok(before),
        Readiness::Start => {
            let completed = states.iter().all(|(_, status)| *status == Status::Completed);
            let word = if completed { "completed" } else { "ended" };
            let reason = format!("everything it depends on has {word}");
            step(tx, before, Command::Start, reason, minter).await
        }
        Readiness::Skip(at) => {
            let on = &dependencies[at];
            let message = format!("session {}, which it depends on, ended {}", on.id, on.status);
            let failure = Failure::Dependency { code: DEPENDENCY_FAILED.into(), session_id: on.id, status: on.status };
            let error = SessionError::new(&message, failure);
            let events = vec![minter.event(&error)];
            let change = change(&before, Command::Skip, message.clone(), minter);
            let transition = domain::session::decide(state(&before), change.actor, change.command)?;
            write(tx, before, transition, change, events, Report::error(message, DEPENDENCY_FAILED)).await
        }
    }
}

/// Queues a locked parent again if all of its children have ended.
pub(super) async fn resume_parent(tx: &mut WriteTx<'_>, before: Session, minter: Minter) -> Result<Session> {
    if !rows::children_unfinished(tx.conn(), before.tenant_id, before.id, 1).await?.is_empty() {
        return Ok(before);
    }
    step(tx, before, Command::Resume, "every session that it started has ended".into(), minter).await
}

/// Applies a command of the server to a locked session, without further events.
pub(super) async fn step(
    tx: &mut WriteTx<'_>,
    before: Session,
    command: Command,
    reason: String,
    minter: Minter,
) -> Result<Session> {
    let change = change(&before, command, reason, minter);
    let transition = domain::session::decide(state(&before), change.actor, change.command)?;
    write(tx, before, transition, change, Vec::new(), Report::default()).await
}

fn change(session: &Session, command: Command, reason: String, minter: Minter) -> Change {
    Change { id: session.id, actor: Actor::Server, command, caller: Caller::System, reason, minter }
}
