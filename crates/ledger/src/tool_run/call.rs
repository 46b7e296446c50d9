//! What a server needs to run tools itself: the runs that wait for it, and the call of a run.

use crate::{
    Error, Ledger, Result,
    mcp_server::{self, Target},
    tool::{definition_of_run, run_gets_secrets, secret_values, secrets_of_call},
};
use domain::{
    Scope,
    id::{SessionId, TenantId},
    limit::CLAIM_AGENTS_MAX,
    tool::{Definition, http::Secrets, run::ToolRun},
};
use std::time::Duration;
use store::Access;

/// The call of a run, with the secrets of its tool.
#[derive(Debug, Clone)]
pub struct ServerRun {
    /// The version that the session names, or the working copy that it tests.
    pub run: ToolRun,
    /// The version or working copy that it runs.
    pub definition: Definition,
    /// Values for its headers.
    pub secrets: Secrets,
    /// The MCP server that a tool of the kind `mcp` calls.
    pub mcp: Option<Target>,
}

/// Returns workspaces with queued runs for a server, and the agents of these runs.
pub async fn waiting_runs(ledger: &Ledger) -> Result<Vec<(TenantId, Vec<String>)>> {
    // One claim takes sessions of so many agents. What is left out is found when these runs have been claimed.
    let max = u32::try_from(CLAIM_AGENTS_MAX).unwrap_or(u32::MAX);
    let read =
        ledger.store().read(Access::System, async move |conn| store::tool_run::waiting_for_server(conn, max).await);
    let mut found: Vec<(TenantId, Vec<String>)> = Vec::new();
    for (tenant_id, agent) in read.await? {
        match found.last_mut() {
            Some((last, agents)) if *last == tenant_id => agents.push(agent),
            _ => found.push((tenant_id, vec![agent])),
        }
    }
    Ok(found)
}

/// Waits until this process queues a run for a server, at most `wait`. A run that was queued since the last call
/// counts.
pub async fn run_queued(ledger: &Ledger, wait: Duration) {
    // Nothing happens at the end of the time but that the caller looks.
    let _ = tokio::time::timeout(wait, ledger.runs_for_server().notified()).await;
}

/// Returns what a session calls. For the server's own calls.
///
/// # Errors
/// [`Error::NotFound`] if the session runs no tool, or its MCP server is gone; [`Error::NotNow`] and
/// [`Error::NoInstanceKey`] if the secrets of the tool cannot be decrypted, or may not be sent with this call.
pub async fn server_run(ledger: &Ledger, tenant_id: TenantId, id: SessionId) -> Result<ServerRun> {
    let scope = Scope::system(tenant_id);
    let read = ledger.snapshot(&scope, async move |conn| {
        let Some(session) = store::session::find(conn, tenant_id, id).await? else { return Ok(None) };
        let Some((run, definition)) = definition_of_run(conn, &session).await? else { return Ok(None) };
        let gets_secrets = run_gets_secrets(conn, tenant_id, &run).await?;
        Ok(Some((run, definition, gets_secrets)))
    });
    let (run, definition, gets_secrets) = read.await?.ok_or(Error::NotFound("run of a tool"))?;
    let secrets = secrets_of_call(secret_values(ledger, &scope, run.id).await?, &definition, gets_secrets)?;
    let mcp = match definition.mcp() {
        Some(call) => Some(mcp_server::target(ledger, &scope, &call.server).await?),
        None => None,
    };
    Ok(ServerRun { run, definition, secrets, mcp })
}
