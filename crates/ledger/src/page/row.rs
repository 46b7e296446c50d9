//! A session as a row in a list.

use super::proposed_values::{labels, unchanged};
use crate::{
    FailureRecord, Result,
    gate::{self, GateItem},
    visibility::can_see,
};
use domain::{
    Scope, Timestamp,
    action::ActionStatus,
    event::Event,
    id::{ActionId, SessionId},
    session::{Session, Status},
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::Conn;

/// A session with everything that its row shows.
#[derive(Debug)]
pub struct Row {
    /// The session as it is recorded.
    pub session: Session,
    /// The newest event that is not just a change of status, tags or assignee.
    pub newest: Option<Event>,
    /// Its failure, if it failed.
    pub failure: Option<FailureRecord>,
    /// The gate at which it waits.
    pub gate: Option<GateItem>,
    /// Names of the fields that its gate would change, by slug.
    pub labels: BTreeMap<String, String>,
    /// Keys of values that its gate proposes and the entity has already.
    pub unchanged: BTreeSet<String>,
    /// Name of the session's action.
    pub action_name: Option<String>,
    /// The status of the session's action. An ended session can be run again unless the action is archived.
    pub action_status: Option<ActionStatus>,
}

/// Returns rows for these sessions in the same order, with at most eight queries and one for each private session.
/// What a private session says is not in the row of someone who may only decide at its gate.
pub(super) async fn rows(
    conn: &mut Conn<'_>,
    scope: &Scope,
    sessions: Vec<Session>,
    now: Timestamp,
) -> Result<Vec<Row>> {
    if sessions.is_empty() {
        return Ok(Vec::new());
    }
    let tenant_id = scope.tenant_id;
    let ids_in = |statuses: [Status; 2]| -> Vec<SessionId> {
        let of = sessions.iter().filter(|session| statuses.contains(&session.status()));
        of.map(|session| session.id).collect()
    };
    let ids: Vec<SessionId> = sessions.iter().map(|session| session.id).collect();
    let newest = store::event::newest(conn, tenant_id, &ids).await?;
    let mut newest: HashMap<_, _> = newest.into_iter().map(|event| (event.session_id, event)).collect();
    let failed = ids_in([Status::Failed, Status::Expired]);
    let failures = match failed.as_slice() {
        [] => Vec::new(),
        failed => store::failure::of_sessions(conn, tenant_id, failed).await?,
    };
    let mut failures: HashMap<_, _> = failures.into_iter().map(|known| (known.session_id, known)).collect();
    let waiting = ids_in([Status::WaitingHuman, Status::AwaitingTool]);
    let gates = gate::of_sessions_on(conn, scope, &waiting, now).await?;
    let labels = labels(conn, tenant_id, gates.iter()).await?;
    let mut unchanged = unchanged(conn, tenant_id, gates.iter()).await?;
    let mut gates: HashMap<_, _> = gates.into_iter().map(|item| (item.gate.session_id, item)).collect();
    let actions: Vec<ActionId> = sessions.iter().filter_map(|session| session.action_id).collect();
    let actions = match actions.as_slice() {
        [] => HashMap::new(),
        actions => store::action::briefs(conn, tenant_id, actions).await?,
    };
    let mut shown = Vec::with_capacity(sessions.len());
    for session in sessions {
        if can_see(conn, scope, &session).await? {
            shown.push(session);
        } else {
            newest.remove(&session.id);
            failures.remove(&session.id);
            let gate = gates.get(&session.id);
            shown.push(without_words(session, gate));
        }
    }
    let mut row = |session: Session, (action_name, action_status)| Row {
        action_name,
        action_status,
        newest: newest.remove(&session.id),
        failure: failures.remove(&session.id),
        unchanged: gates.get(&session.id).and_then(|item| unchanged.remove(&item.gate.id)).unwrap_or_default(),
        labels: if gates.contains_key(&session.id) { labels.clone() } else { BTreeMap::new() },
        gate: gates.remove(&session.id),
        session,
    };
    let with_action = |session: Session| {
        let action = session.action_id.and_then(|id| actions.get(&id).cloned());
        row(session, action.unzip())
    };
    Ok(shown.into_iter().map(with_action).collect())
}

/// A private session for someone who may decide at its gate and may not read it: with the title of the gate.
fn without_words(mut session: Session, gate: Option<&GateItem>) -> Session {
    session.title = gate.map(|item| item.gate.title.clone()).unwrap_or_default();
    session.input = None;
    session.metadata = "{}".into();
    session.tags.clear();
    session
}
