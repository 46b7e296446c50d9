//! Listing the tools of an MCP server.

use super::{Mcp, connection::Connection, fault::Fault};
use domain::{
    id::TenantId,
    limit::{MCP_LIST_PAGES_MAX, MCP_LIST_SECONDS_MAX, MCP_TOOLS_MAX},
    mcp::OfferedTool,
};
use ledger::mcp_server::Target;
use rmcp::{
    ServiceError,
    model::{PaginatedRequestParams, Tool},
};
use serde_json::Value;
use std::{borrow::Cow, time::Duration};
use tokio::time::timeout;

/// Time for connecting and all pages.
const TIME: Duration = Duration::from_secs(MCP_LIST_SECONDS_MAX);

impl Mcp {
    /// Returns the tools of a server of a workspace, and whether it has more than it was asked for.
    ///
    /// # Errors
    /// Why it gave no list.
    pub(super) async fn list(&self, tenant_id: TenantId, target: &Target) -> Result<(Vec<OfferedTool>, bool), Fault> {
        timeout(TIME, self.list_in_turn(tenant_id, target)).await.unwrap_or(Err(Fault::Time))
    }

    async fn list_in_turn(&self, tenant_id: TenantId, target: &Target) -> Result<(Vec<OfferedTool>, bool), Fault> {
        let _turn = self.lists.take(tenant_id).await;
        let connection = Connection::open(self, target, TIME).await?;
        let listed = pages(&connection).await;
        connection.close().await;
        listed
    }
}

async fn pages(connection: &Connection) -> Result<(Vec<OfferedTool>, bool), Fault> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..MCP_LIST_PAGES_MAX {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = connection.peer().list_tools(Some(params)).await.map_err(|error| fault_of(connection, &error))?;
        tools.extend(page.tools.into_iter().map(offered));
        cursor = page.next_cursor;
        if cursor.is_none() || tools.len() > MCP_TOOLS_MAX {
            break;
        }
    }
    Ok((tools, cursor.is_some()))
}

fn offered(tool: Tool) -> OfferedTool {
    OfferedTool {
        name: tool.name.into_owned(),
        title: tool.title,
        description: tool.description.map(Cow::into_owned),
        input_schema: Value::Object(tool.input_schema.as_ref().clone()),
        output_schema: tool.output_schema.map(|schema| Value::Object(schema.as_ref().clone())),
    }
}

fn fault_of(connection: &Connection, error: &ServiceError) -> Fault {
    match error {
        ServiceError::McpError(error) if connection.watch.fault().is_none() => Fault::Denied(error.message.to_string()),
        ServiceError::UnexpectedResponse => Fault::Invalid("the answer is no list of tools".to_owned()),
        other => connection.watch.fault().unwrap_or_else(|| Fault::Broken(other.to_string())),
    }
}
