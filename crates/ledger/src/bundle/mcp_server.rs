//! Installs an MCP server of a bundle.

use super::Context;
use crate::{
    Error, McpServerRecord, Result,
    audit::Act,
    mcp_server::{check, require_transport},
};
use domain::{
    audit::{Kind, TargetKind},
    bundle::{BundledMcpServer, Comparison, PlannedItem, PlannedKind},
    id::McpServerId,
    mcp::{Definition, Transport},
};
use serde_json::Value;
use std::collections::BTreeMap;
use store::{Conn, WriteTx};

pub(super) async fn install(
    tx: &mut WriteTx<'_>,
    context: &mut Context,
    wanted: &BundledMcpServer,
) -> Result<PlannedItem> {
    let before = store::mcp_server::find_locked(tx, context.tenant_id, &wanted.slug).await?;
    let mut comparison = Comparison::new(before.is_some());
    let was = before.as_ref().map(|before| &before.definition);
    let name = was.map(|was| was.name.as_str().into()).unwrap_or_default();
    comparison.field("name", name, wanted.name.as_str().into());
    let transport = was.map(|was| json(&was.transport)).unwrap_or_default();
    comparison.field("transport", transport, json(&wanted.transport));
    if comparison.differs() {
        require_program(tx.conn(), context, &wanted.transport).await?;
        write(tx, context, wanted, before).await?;
    }
    Ok(comparison.into_item(PlannedKind::McpServer, &wanted.slug))
}

/// Texts can always be written.
fn json(transport: &Transport) -> Value {
    serde_json::to_value(transport).unwrap_or_default()
}

/// Refuses a program that the operator of the server does not allow in the workspace: a bundle comes from elsewhere,
/// where another program may have the name.
async fn require_program(conn: &mut Conn<'_>, context: &Context, transport: &Transport) -> Result<()> {
    let Transport::Stdio { program } = transport else { return Ok(()) };
    let tenant = store::tenant::find(conn, context.tenant_id).await?.ok_or(Error::NotFound("workspace"))?;
    if context.ledger.allows_mcp_program(program, &tenant.slug) {
        return Ok(());
    }
    let why = format!("the operator of this server allows no program `{program}` in this workspace");
    Err(Error::invalid("transport.program", why))
}

async fn write(
    tx: &mut WriteTx<'_>,
    context: &mut Context,
    wanted: &BundledMcpServer,
    before: Option<McpServerRecord>,
) -> Result<()> {
    let (tenant_id, now, actor) = (context.tenant_id, context.now, context.actor.clone());
    let secret_headers = before.as_ref().map(|before| before.definition.secret_headers.clone());
    let definition = Definition {
        name: wanted.name.clone(),
        transport: wanted.transport.clone(),
        secret_headers: secret_headers.unwrap_or_default(),
    };
    let kind = if before.is_some() { Kind::McpServerChanged } else { Kind::McpServerCreated };
    let record = match before {
        Some(before) => {
            require_transport(&context.scope, &before.definition, &definition.transport)?;
            let revision = before.revision + 1;
            let record = McpServerRecord { definition, revision, updated_by: actor, updated_at: now, ..before };
            check(&record, &BTreeMap::new())?;
            let sealed = store::mcp_server::sealed(tx.conn(), tenant_id, record.id).await?;
            store::mcp_server::update(tx, tenant_id, &record, sealed.as_deref()).await?;
            record
        }
        None => {
            let record = new_record(context, &wanted.slug, definition);
            check(&record, &BTreeMap::new())?;
            if !store::mcp_server::insert(tx, tenant_id, &record, None).await? {
                return Err(Error::NameTaken("the slug"));
            }
            record
        }
    };
    context.acts.push(Act::new(kind, context.scope.caller, now).on(TargetKind::McpServer, record.id.0));
    Ok(())
}

fn new_record(context: &mut Context, slug: &str, definition: Definition) -> McpServerRecord {
    McpServerRecord {
        id: McpServerId(context.new_id()),
        slug: slug.to_owned(),
        definition,
        revision: 1,
        listed_at: None,
        tool_count: None,
        created_by: context.actor.clone(),
        updated_by: context.actor.clone(),
        created_at: context.now,
        updated_at: context.now,
    }
}
