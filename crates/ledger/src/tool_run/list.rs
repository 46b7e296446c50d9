//! The sessions of tools, apart from other sessions.

use crate::{
    Error, Ledger, ListPage, Listed, Result,
    cursor::List,
    guard::{Fields, require},
    session,
};
use domain::{
    Scope,
    id::SessionId,
    limit::SESSIONS_LOOKED_MAX,
    role::Permission,
    session::{Session, Status, Type},
    tool::{Kind, RunState, run::agent_of},
};
use store::session::{Among, Filter, Matching};

/// Which runs to list.
#[derive(Debug, Clone, Default)]
pub struct ListRuns {
    /// Only runs of the tool with this slug, in any of its versions.
    pub tool: Option<String>,
    /// Only runs in this state.
    pub state: Option<RunState>,
    /// Only runs that this session started.
    pub parent_id: Option<SessionId>,
    /// Size of the page, and where it begins.
    pub page: ListPage,
}

/// Lists the sessions of tools that the caller can see, newest first. With a tool or a state, a page looks at no more
/// than [`SESSIONS_LOOKED_MAX`] sessions, so it can hold few or none and still have a next page.
///
/// # Errors
/// [`Error::Invalid`] for a wrong slug or a limit above 1,000; [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListRuns) -> Result<Listed<Session>> {
    require(scope, Permission::Read)?;
    let mut fields = Fields::default();
    fields.slug("tool", query.tool.as_deref());
    fields.check()?;
    let (before, limit) = query.page.before_id(List::ToolSessions)?;
    let (tenant_id, before) = (scope.tenant_id, before.map(SessionId));
    let filter = filter(scope, &query);
    let read = ledger.snapshot(scope, async move |conn| {
        let looked = if filter.matching.is_open() {
            None
        } else {
            store::session::last_looked(conn, tenant_id, &filter, before, SESSIONS_LOOKED_MAX).await?
        };
        let filter = Filter { oldest: looked, ..filter };
        let page = store::session::list(conn, tenant_id, &filter, before, limit).await?;
        let looked = looked.map(|id| id.0);
        Ok(Listed::of_search(page, List::ToolSessions, looked, |session: &Session| session.id.0))
    });
    read.await
}

fn filter(scope: &Scope, query: &ListRuns) -> Filter {
    let one_of = |names: Vec<String>| Among { any_of: Some(names), ..Among::default() };
    let agents = query.tool.as_deref().map(|slug| one_of(Kind::ALL.map(|kind| agent_of(kind, slug)).into()));
    let statuses: Option<Vec<Status>> = query.state.map(|state| state.statuses().collect());
    // One status leads the list, because it has an index.
    let (status, statuses) = match statuses.as_deref() {
        Some([one]) => (Some(*one), None),
        Some(several) => (None, Some(one_of(several.iter().map(ToString::to_string).collect()))),
        None => (None, None),
    };
    let matching =
        Matching { agents: agents.unwrap_or_default(), statuses: statuses.unwrap_or_default(), ..Matching::default() };
    Filter {
        session_type: Some(Type::Tool),
        status,
        parent_id: query.parent_id,
        private_to: Some(scope.caller.to_string()),
        matching,
        ..Filter::default()
    }
}

/// Returns the session of a tool.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session, the caller cannot see it, or it is of another type.
pub async fn get(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Session> {
    let found = session::get(ledger, scope, id).await?;
    if found.session_type == Type::Tool { Ok(found) } else { Err(Error::NotFound("session of a tool")) }
}
