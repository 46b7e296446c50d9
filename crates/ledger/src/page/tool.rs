//! The pages /tools: the list, and one tool.

use super::{
    names::{People, people_on},
    row::{Row, rows},
    tool_result::{Targets, targets_on},
};
use crate::{
    Error, Ledger, ListPage, Listed, Result, SavedInputRecord, ToolDraftRecord, ToolRecord, ToolSecretRecord,
    ToolVersionRecord,
    guard::require,
    session::{self, ListSessions},
    tool::{self, get_on, may_run_on, needs_admin_on, published_on, versions_on},
    tool_run::{draft::newest_on, saved_on},
    visibility::can_see,
};
use domain::{
    Scope, Timestamp,
    id::{ActionId, EntityId, SessionId, TenantId},
    limit::TOOL_RUNS_COUNTED_MAX,
    mcp::{ListedTool, Listing},
    role::Permission,
    session::Session,
    tool::{
        Definition, Kind,
        run::{ToolRun, agent_of},
    },
};
use store::Conn;

/// Number of tools on a page.
const ROWS: u32 = 50;
/// Number of versions on a tool's page.
const VERSIONS: u32 = 20;
/// Number of recent runs on a tool's page.
const RUNS: u32 = 20;

/// The page of one tool.
#[derive(Debug)]
pub struct Page {
    /// The tool with its working copy.
    pub tool: ToolRecord,
    /// Its newest versions, newest first.
    pub versions: Vec<ToolVersionRecord>,
    /// Whether it has more versions.
    pub has_more_versions: bool,
    /// The version to compare and the one before it, if there is one.
    pub compared: Option<(ToolVersionRecord, Option<ToolVersionRecord>)>,
    /// Whether it is published, and the reader may run it.
    pub may_run: bool,
    /// Everyone who may have written it.
    pub people: People,
    /// Its secrets without values; `None` for everyone who may not manage them.
    pub secrets: Option<Vec<ToolSecretRecord>>,
    /// Whether only an admin may publish or test the working copy, and the viewer is none.
    pub needs_admin: bool,
    /// The version that new runs use; `None` if the tool is not published.
    pub published: Option<ToolVersionRecord>,
    /// The tasks by which the viewer can have the result of a run written; `None` if there is none.
    pub targets: Option<Targets>,
    /// The run whose input the form begins with: the one that the viewer chose.
    pub again: Option<Session>,
    /// The draft that the form continues: the one that the viewer chose.
    pub draft: Option<ToolDraftRecord>,
    /// The viewer's drafts of the tool, the one that was saved last first.
    pub drafts: Vec<ToolDraftRecord>,
    /// The saved input that the form begins with: the one that the viewer chose.
    pub chosen: Option<SavedInputRecord>,
    /// The inputs that the viewer saved for the tool, by name.
    pub saved: Vec<SavedInputRecord>,
    /// Its newest runs, newest first.
    pub runs: Vec<Row>,
    /// Whether it has more runs.
    pub has_more_runs: bool,
    /// How its newest runs ended.
    pub ended: EndedRuns,
    /// What its MCP server listed last, for operators and admins; `None` for a tool of another kind, and if the server
    /// was not asked yet.
    pub offered: Option<Offered>,
}

/// How runs of a tool ended, tests left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndedRuns {
    /// Number of runs that completed, failed or expired.
    pub ended: u64,
    /// Number of these that failed or expired.
    pub failed: u64,
    /// Whether there can be more runs than [`TOOL_RUNS_COUNTED_MAX`], of which the newest are counted.
    pub is_cut: bool,
}

/// The listed tool of an MCP server for a tool of the workspace.
#[derive(Debug)]
pub struct Offered {
    /// Time at which the server was asked (UTC).
    pub listed_at: Timestamp,
    /// The listed tool; `None` if the server does not list it any more.
    pub tool: Option<ListedTool>,
}

/// What a reader chose to see of a tool.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The version to compare with the one before it. A version that the tool does not have is not compared.
    pub compared: Option<u64>,
    /// The run whose input the form begins with. A session that is no run of the tool is ignored.
    pub again: Option<SessionId>,
    /// The draft that the form continues. One that is not the viewer's, or of another tool, is ignored.
    pub draft: Option<SessionId>,
    /// Name of the saved input that the form begins with. An unknown one is ignored.
    pub saved: Option<String>,
    /// The task that writes the result of the run, and the entity that it writes.
    pub output: Option<(ActionId, Option<EntityId>)>,
}

/// Reads one page of the list, of the tools that a search line finds.
///
/// # Errors
/// [`crate::Error::Invalid`] for a bad line; [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(
    ledger: &Ledger,
    scope: &Scope,
    line: Option<&str>,
    cursor: Option<String>,
) -> Result<Listed<ToolRecord>> {
    tool::list_matching(ledger, scope, line, ListPage { limit: ROWS, cursor }).await
}

/// Reads the page of the tool with this slug.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no tool with this slug.
pub async fn read(ledger: &Ledger, scope: &Scope, slug: String, query: Query) -> Result<Page> {
    require(scope, Permission::Read)?;
    let (reader, now, Query { compared, again, draft, saved: chosen, output }) = (*scope, ledger.now(), query);
    let (tenant_id, is_admin) = (scope.tenant_id, scope.may(Permission::Administer));
    let manages = scope.may(Permission::ManageTools);
    let read = ledger.snapshot(scope, async move |conn| {
        let tool = get_on(conn, tenant_id, &slug).await?;
        let listed = versions_on(conn, tenant_id, tool.id, &ListPage { limit: VERSIONS, cursor: None }).await?;
        let compared = match compared {
            Some(version) => store::tool::version_of(conn, tenant_id, tool.id, version).await?,
            None => None,
        };
        let compared = match compared {
            Some(version) => {
                let number = version.version.saturating_sub(1);
                Some((version, store::tool::version_of(conn, tenant_id, tool.id, number).await?))
            }
            None => None,
        };
        let secrets = if is_admin { Some(store::tool::secrets(conn, tenant_id, tool.id).await?) } else { None };
        let needs_admin = needs_admin_on(conn, &reader, &tool).await?;
        let published = match published_on(conn, tenant_id, &slug).await {
            Ok((_, version)) => Some(version),
            Err(Error::WrongState { .. }) => None,
            Err(error) => return Err(error),
        };
        let may_run = match &published {
            Some(version) => may_run_on(conn, &reader, &version.definition).await?,
            None => false,
        };
        let schema = published.as_ref().and_then(|version| version.definition.output_schema.as_ref());
        let targets = if may_run { targets_on(conn, &reader, output, schema).await? } else { None };
        let people = people_on(conn, tenant_id).await?;
        let has_more_versions = listed.next_cursor.is_some();
        let again = again_on(conn, &reader, &slug, again).await?;
        let drafts = newest_on(conn, &reader, tool.id).await?;
        let draft = drafts.iter().find(|known| Some(known.session_id) == draft).cloned();
        let saved = saved_on(conn, &reader, tool.id).await?;
        let chosen = saved.iter().find(|known| Some(&known.name) == chosen.as_ref()).cloned();
        let (runs, has_more_runs) = runs_on(conn, &reader, &slug, now).await?;
        let ended = ended_on(conn, tenant_id, &slug).await?;
        let versions = listed.items;
        let offered = if manages { offered_on(conn, &reader, &tool.definition).await? } else { None };
        Ok(Page {
            tool,
            versions,
            has_more_versions,
            compared,
            people,
            secrets,
            needs_admin,
            published,
            may_run,
            targets,
            again,
            draft,
            drafts,
            chosen,
            saved,
            runs,
            has_more_runs,
            ended,
            offered,
        })
    });
    read.await
}

/// The newest list of the MCP server of a tool.
async fn offered_on(conn: &mut Conn<'_>, scope: &Scope, definition: &Definition) -> Result<Option<Offered>> {
    let Some(call) = definition.mcp() else { return Ok(None) };
    let Some(server) = store::mcp_server::find_by_slug(conn, scope.tenant_id, &call.server).await? else {
        return Ok(None);
    };
    let found = store::mcp_server::listing(conn, scope.tenant_id, server.id).await?;
    let listed = found.and_then(|found| found.listing.zip(found.listed_at));
    let of_tool = |(listing, listed_at): (Listing, Timestamp)| {
        let tool = listing.tools.into_iter().find(|tool| tool.name == call.tool);
        Offered { listed_at, tool }
    };
    Ok(listed.map(of_tool))
}

/// The session that the viewer chose, if they can see it and it is a run of the tool.
async fn again_on(conn: &mut Conn<'_>, scope: &Scope, slug: &str, id: Option<SessionId>) -> Result<Option<Session>> {
    let Some(id) = id else { return Ok(None) };
    let Some(session) = store::session::find(conn, scope.tenant_id, id).await? else { return Ok(None) };
    let is_run = ToolRun::of_session(&session).is_some_and(|run| run.slug == slug);
    Ok(if is_run && can_see(conn, scope, &session).await? { Some(session) } else { None })
}

/// How the newest runs of a tool ended. Versions of one tool can be of different kinds.
async fn ended_on(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str) -> Result<EndedRuns> {
    let mut found = EndedRuns::default();
    for kind in Kind::ALL {
        let of_kind = store::tool_run::ended(conn, tenant_id, &agent_of(kind, slug), TOOL_RUNS_COUNTED_MAX).await?;
        found.ended += of_kind.0;
        found.failed += of_kind.1;
        found.is_cut |= of_kind.0 >= u64::from(TOOL_RUNS_COUNTED_MAX);
    }
    Ok(found)
}

/// The newest runs of a tool, and whether there are more. Versions of one tool can be of different kinds.
async fn runs_on(conn: &mut Conn<'_>, scope: &Scope, slug: &str, now: Timestamp) -> Result<(Vec<Row>, bool)> {
    let mut found = Vec::new();
    let mut has_more = false;
    for kind in Kind::ALL {
        let agent_slug = Some(agent_of(kind, slug));
        let query = ListSessions { agent_slug, limit: RUNS, ..ListSessions::default() };
        let listed = session::list_on(conn, scope, session::ListQuery::of(scope, query, now)?).await?;
        has_more |= listed.next_cursor.is_some();
        found.extend(listed.items);
    }
    found.sort_by_key(|session| std::cmp::Reverse(session.id.0));
    has_more |= found.len() > RUNS as usize;
    found.truncate(RUNS as usize);
    // The page shows the result of the newest run that has one. The list leaves large results out.
    let newest =
        found.iter_mut().find(|run| run.result().is_some() || run.result_left_out() || run.error_message().is_some());
    if let Some(newest) = newest.filter(|run| run.result_left_out())
        && let Some(whole) = store::session::find(conn, scope.tenant_id, newest.id).await?
    {
        *newest = whole;
    }
    Ok((rows(conn, scope, found, now).await?, has_more))
}
