//! What a run needs of a tool: its published version, whether the caller may run it, and its secrets.

use super::{get_on, secret, steps::versions_used};
use crate::{Error, Ledger, Result, ToolRecord, ToolVersionRecord, guard::require};
use domain::{
    Caller, Scope,
    id::{TenantId, ToolId},
    role::Permission,
    session::Session,
    tool::{
        Definition, State,
        http::Secrets,
        run::{ToolRun, tested_definition},
    },
};
use store::Conn;

/// The version of a tool that new runs use.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::WrongState`] if it is not published.
pub(crate) async fn published_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    slug: &str,
) -> Result<(ToolRecord, ToolVersionRecord)> {
    let tool = get_on(conn, tenant_id, slug).await?;
    let refused = Error::WrongState { what: "tool", rule: "only a published tool can be run", state: tool.state };
    let Some(version) = tool.version.filter(|_| tool.state == State::Published) else { return Err(refused) };
    let found = store::tool::version_of(conn, tenant_id, tool.id, version).await?;
    let version = found.ok_or_else(|| Error::Internal(format!("tool {} has no version {version}", tool.id)))?;
    Ok((tool, version))
}

/// Whether the caller may run a tool: they may start sessions, and are in its audience. A token counts as a member of
/// the groups of the person for whom it acts. A person without an account comes by a link, which the tool must allow.
pub(crate) async fn may_run_on(conn: &mut Conn<'_>, scope: &Scope, definition: &Definition) -> Result<bool> {
    if !scope.may(Permission::StartSession) {
        return Ok(false);
    }
    if matches!(scope.caller, Caller::Respondent(_)) {
        return Ok(definition.audience.link);
    }
    let mut groups = Vec::new();
    if let Some(user_id) = scope.acting_user() {
        for slug in &definition.audience.groups {
            let found = store::group::find_by_slug(conn, scope.tenant_id, slug).await?;
            let is_member = found.is_some_and(|group| group.members.iter().any(|(id, _)| *id == user_id));
            groups.extend(is_member.then_some(slug.as_str()));
        }
    }
    Ok(definition.audience.admits(scope.role, groups))
}

/// Refuses a caller who may not run a tool, or one of the tools that a composite tool runs.
///
/// # Errors
/// [`Error::Forbidden`] for a caller outside of an audience.
pub(crate) async fn require_audience(conn: &mut Conn<'_>, scope: &Scope, definition: &Definition) -> Result<()> {
    if !may_run_on(conn, scope, definition).await? {
        return Err(Error::Forbidden("this tool is for people of other roles or groups"));
    }
    for used in versions_used(conn, scope.tenant_id, definition).await?.values() {
        if !may_run_on(conn, scope, &used.definition).await? {
            return Err(Error::Forbidden("this tool runs a tool that is for people of other roles or groups"));
        }
    }
    Ok(())
}

/// What the session of a run says about the version that it runs.
pub(crate) fn run_of(slug: &str, version: &ToolVersionRecord, has_private_input: bool) -> ToolRun {
    let definition = &version.definition;
    ToolRun {
        id: version.tool_id,
        slug: slug.to_owned(),
        version: version.version,
        revision: None,
        repeatable: definition.repeatable,
        time_limit_seconds: definition.time_limit_seconds,
        retries: definition.retries,
        requires_confirmation: definition.requires_confirmation,
        has_private_input,
        test_gets_secrets: false,
    }
}

/// What the session of a run runs: the version that it names, or the working copy that it tests. `None` if it runs no
/// tool.
///
/// # Errors
/// [`Error::Internal`] if the version is not there.
pub(crate) async fn definition_of_run(conn: &mut Conn<'_>, session: &Session) -> Result<Option<(ToolRun, Definition)>> {
    let Some(run) = ToolRun::of_session(session) else { return Ok(None) };
    if let Some(definition) = tested_definition(session) {
        return Ok(Some((run, definition)));
    }
    let version = store::tool::version_of(conn, session.tenant_id, run.id, run.version).await?;
    let version = version.ok_or_else(|| Error::Internal(format!("tool {} has no version {}", run.id, run.version)))?;
    Ok(Some((run, version.definition)))
}

/// Refuses to run a version again that the caller could not run now.
///
/// # Errors
/// [`Error::WrongState`] if the tool is not published; [`Error::Forbidden`] for a caller outside of the version's
/// audience; [`Error::Invalid`] if the run had private values, or was a test.
pub(crate) async fn check_run_again(conn: &mut Conn<'_>, scope: &Scope, run: &ToolRun) -> Result<()> {
    if run.revision.is_some() {
        return Err(Error::invalid("id", "this was a test of the tool: test it again from its editor"));
    }
    let (tool, _) = published_on(conn, scope.tenant_id, &run.slug).await?;
    let version = store::tool::version_of(conn, scope.tenant_id, tool.id, run.version).await?;
    let version = version.ok_or(Error::NotFound("tool in that version"))?;
    require_audience(conn, scope, &version.definition).await?;
    if run.has_private_input {
        return Err(Error::invalid("id", "its private values are not kept: run the tool again with them"));
    }
    Ok(())
}

/// Returns the version of a tool that new runs use; `None` if the workspace has no such tool, or it is not published.
pub async fn find_published(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<Option<ToolVersionRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| match published_on(conn, tenant_id, &slug).await {
        Ok((_, version)) => Ok(Some(version)),
        Err(Error::NotFound(_) | Error::WrongState { .. }) => Ok(None),
        Err(error) => Err(error),
    });
    read.await
}

/// Whether the caller may run the published version of a tool.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::WrongState`] if it is not published.
pub async fn may_run(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<bool> {
    require(scope, Permission::Read)?;
    let (scope, slug) = (*scope, slug.to_owned());
    let read = ledger.snapshot(&scope, async move |conn| {
        let (_, version) = published_on(conn, scope.tenant_id, &slug).await?;
        may_run_on(conn, &scope, &version.definition).await
    });
    read.await
}

/// Returns the secrets of a tool with their values, for a call of the server. They must not leave the call.
///
/// # Errors
/// [`Error::Forbidden`] for everyone but the server itself; [`Error::NoInstanceKey`] if the tool has secrets and there
/// is no key; [`Error::NotNow`] if one was encrypted with another key.
pub async fn secret_values(ledger: &Ledger, scope: &Scope, id: ToolId) -> Result<Secrets> {
    if scope.caller != Caller::System {
        return Err(Error::Forbidden("the values of secrets are for the server's own calls"));
    }
    let tenant_id = scope.tenant_id;
    let sealed =
        ledger.snapshot(scope, async move |conn| Ok(store::tool::sealed_secrets(conn, tenant_id, id).await?)).await?;
    let open = |(name, sealed): (String, Vec<u8>)| {
        let value = secret::open(ledger.instance_key()?, (tenant_id, id, &name), &sealed)?;
        Ok((name, value))
    };
    Ok(Secrets::new(sealed.into_iter().map(open).collect::<Result<Vec<_>>>()?))
}
