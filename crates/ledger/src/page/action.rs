//! The pages /actions: a list of actions, and one action.

use super::{
    choice::{Choices, choices},
    row::{Row, rows},
};
use crate::{
    ActionRecord, CriteriaSetRecord, GroupRecord, Ledger, MemberRecord, Result,
    action::{self, ListActions, ListQuery, TaskStatus},
    guard::require,
    session::{self, ListSessions},
    worker,
};
use domain::{
    Scope, Timestamp,
    action::ActionStatus,
    id::{ActionId, EntityId, TenantId},
    limit::GROUPS_MAX,
    member::MemberStatus,
    role::Permission,
};
use std::collections::BTreeSet;
use store::Conn;

/// Number of actions on a page.
const ROWS: u32 = 50;
/// Number of recent sessions on an action's page.
const RUNS: u32 = 20;
/// Number of criteria sets in the form. An older set that the action uses stays selected.
const CRITERIA_SETS_MAX: u32 = 200;
/// Number of agents that the form suggests.
const AGENTS_MAX: u32 = 200;

/// Options in the form of an action.
#[derive(Debug)]
pub struct FormOptions {
    /// Active members.
    pub members: Vec<MemberRecord>,
    /// Groups of reviewers.
    pub groups: Vec<GroupRecord>,
    /// Criteria sets, newest first.
    pub criteria_sets: Vec<CriteriaSetRecord>,
    /// Entities that an action can be about, including its present target.
    pub targets: Choices,
    /// Agents that have sessions or workers, by slug.
    pub agents: Vec<String>,
}

/// The list page.
#[derive(Debug)]
pub struct List {
    /// The actions, newest first, with the status of the newest session of each.
    pub actions: Vec<(ActionRecord, TaskStatus)>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Options in the form of a new action.
    pub form_options: FormOptions,
}

/// The page of one action.
#[derive(Debug)]
pub struct Page {
    /// The action as it is recorded.
    pub action: ActionRecord,
    /// Status of its newest session.
    pub newest: TaskStatus,
    /// Its newest sessions.
    pub runs: Vec<Row>,
    /// Whether it has more sessions.
    pub has_more_runs: bool,
    /// People, agents, groups and entities that its form offers.
    pub form_options: FormOptions,
}

/// Reads one page of the list. `target` is the preselected target of a new action.
///
/// # Errors
/// [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(
    ledger: &Ledger,
    scope: &Scope,
    status: ActionStatus,
    line: Option<String>,
    cursor: Option<String>,
    target: Option<EntityId>,
) -> Result<List> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let asked = ListActions { status: Some(status), line, limit: ROWS, cursor, ..ListActions::default() };
    let asked = ListQuery::of(scope, asked)?;
    let read = ledger.snapshot(scope, async move |conn| {
        let listed = action::list_on(conn, &reader, asked).await?;
        let ids: Vec<_> = listed.items.iter().map(|action| action.id).collect();
        let newest = action::task_statuses_on(conn, reader.tenant_id, &ids, now).await?;
        let actions = listed.items.into_iter().zip(newest).collect();
        let form_options = form_options(conn, reader.tenant_id, target, now).await?;
        Ok(List { actions, next_cursor: listed.next_cursor, form_options })
    });
    read.await
}

/// Reads the page of one action.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such action.
pub async fn read(ledger: &Ledger, scope: &Scope, id: ActionId) -> Result<Page> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let runs = ListSessions { action_id: Some(id), limit: RUNS, ..ListSessions::default() };
    let runs = session::ListQuery::of(scope, runs, ledger.now())?;
    let read = ledger.snapshot(scope, async move |conn| {
        let action = action::get_on(conn, reader.tenant_id, id).await?;
        let runs = session::list_on(conn, &reader, runs).await?;
        Ok(Page {
            newest: action::task_status_on(conn, reader.tenant_id, id, now).await?,
            has_more_runs: runs.next_cursor.is_some(),
            runs: rows(conn, &reader, runs.items, now).await?,
            form_options: form_options(conn, reader.tenant_id, action.target_entity_id, now).await?,
            action,
        })
    });
    read.await
}

async fn form_options(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    target: Option<EntityId>,
    now: Timestamp,
) -> Result<FormOptions> {
    let mut members = store::user::members(conn, tenant_id).await?;
    members.retain(|member| member.status == MemberStatus::Active);
    let mut targets = choices(conn, tenant_id, None).await?;
    if let Some(id) = target.filter(|id| targets.options.iter().all(|(known, _)| known != id)) {
        let found = store::entity::titles(conn, tenant_id, &[id]).await?;
        targets.options.extend(found.into_iter().map(|found| (found.id, found.title)));
    }
    let mut agents: BTreeSet<String> =
        store::session::named_agents(conn, tenant_id, AGENTS_MAX).await?.into_iter().collect();
    let workers = worker::by_agent_on(conn, tenant_id, now).await?;
    agents.extend(workers.into_iter().map(|of| of.agent).filter(|agent| !agent.is_empty()));
    Ok(FormOptions {
        agents: agents.into_iter().take(AGENTS_MAX as usize).collect(),
        members,
        groups: store::group::list(conn, tenant_id, GROUPS_MAX).await?,
        criteria_sets: store::criteria_set::list(conn, tenant_id, None, CRITERIA_SETS_MAX).await?.items,
        targets,
    })
}
