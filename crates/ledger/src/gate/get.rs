//! Reading one gate with the context that a reviewer needs.

use super::{
    context::{Denied, denials},
    decision_state,
    hand_over::{Handover, handovers},
    item::{GateItem, load},
    memory::{ChangedDocument, changed_document},
    not_found,
    quoted::quoted_turns,
    visibility::find_on,
};
use crate::{EntityRecord, EntityVersionRecord, Ledger, Result, guard::require, history::HistoryTurn};
use domain::{
    Scope, Timestamp,
    entity::FieldDef,
    gate::{Gate, GateState, Task},
    id::GateId,
    role::Permission,
    tool::run::ToolRun,
};
use serde_json::Value;
use store::Conn;

/// A gate, the entity that it is about, and earlier denials.
#[derive(Debug, Clone)]
pub struct GateDetail {
    /// The gate, its decisions, and whether the caller may decide it.
    pub item: GateItem,
    /// The entity as it is now.
    pub entity: Option<EntityRecord>,
    /// The entity as it was when the decision was recorded. `None` before a decision, and for decisions that do
    /// not record the entity's version.
    pub entity_then: Option<EntityVersionRecord>,
    /// Fields of the entity's type or, for new entities, of the type they will have.
    pub fields: Vec<FieldDef>,
    /// Earlier denials in the session.
    pub denials: Vec<Denied>,
    /// How it was handed over, oldest first.
    pub handovers: Vec<Handover>,
    /// Seconds for which a decision can be undone.
    pub undo_seconds: u32,
    /// The document of a proposal, if it has changed since.
    pub document: Option<ChangedDocument>,
    /// The turns that a proposal comes from, shortened.
    pub turns: Vec<HistoryTurn>,
    /// JSON Schema of the values that a reviewer may change, if it is known.
    pub schema: Option<Value>,
}

/// Returns a gate of the workspace with the context for a reviewer.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such gate or the caller may not see it.
pub async fn get(ledger: &Ledger, scope: &Scope, id: GateId) -> Result<GateDetail> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        let gate = find_on(conn, &reader, id).await?.ok_or_else(not_found)?;
        detail_on(conn, &reader, gate, now).await
    });
    read.await
}

/// Reads the context of a gate for a reviewer.
pub(crate) async fn detail_on(conn: &mut Conn<'_>, scope: &Scope, gate: Gate, now: Timestamp) -> Result<GateDetail> {
    let denials = denials(conn, &gate).await?;
    let handovers = handovers(conn, &gate).await?;
    let (entity, fields) = record(conn, &gate).await?;
    let entity_then = then(conn, &gate).await?;
    let undo_seconds = store::tenant::undo_seconds(conn, scope.tenant_id).await?;
    let item = load(conn, scope, vec![gate], now).await?.item(scope)?;
    let document = changed_document(conn, &item.gate, item.proposed.as_ref()).await?;
    let turns = quoted_turns(conn, scope, &item.gate).await?;
    let schema = values_schema(conn, &item.gate).await?;
    Ok(GateDetail { item, entity, entity_then, fields, denials, handovers, undo_seconds, document, turns, schema })
}

/// Returns the entity as it was at the last counted decision, if there is one.
async fn then(conn: &mut Conn<'_>, gate: &Gate) -> store::Result<Option<EntityVersionRecord>> {
    let Some(entity_id) = gate.entity_id.filter(|_| matches!(gate.state.name(), GateState::Held | GateState::Settled))
    else {
        return Ok(None);
    };
    let decisions = store::gate::decisions(conn, gate.tenant_id, &[gate.id]).await?;
    let decisions = decisions.into_values().next().unwrap_or_default();
    let last = decision_state(gate, &decisions).last.map(|vote| vote.number);
    let version = decisions.iter().find(|d| Some(d.number) == last).and_then(|d| d.entity_version);
    let Some(version) = version else { return Ok(None) };
    let page = store::entity::versions(conn, gate.tenant_id, entity_id, Some(version + 1), 1).await?;
    Ok(page.items.into_iter().find(|found| found.version == version))
}

/// Returns the entity that an approval writes, and the fields of its type.
async fn record(conn: &mut Conn<'_>, gate: &Gate) -> store::Result<(Option<EntityRecord>, Vec<FieldDef>)> {
    let tenant_id = gate.tenant_id;
    let entity = match gate.entity_id {
        Some(id) => store::entity::find(conn, tenant_id, id).await?,
        None => None,
    };
    let entity_type = match (&entity, gate.action_id) {
        (Some(entity), _) => store::entity_type::find(conn, tenant_id, entity.type_id).await?,
        (None, Some(action_id)) => match store::action::find(conn, tenant_id, action_id).await? {
            Some(action) => match super::open::new_type(&action) {
                Some(slug) => store::entity_type::find_by_slug(conn, tenant_id, &slug).await?,
                None => None,
            },
            None => None,
        },
        (None, None) => None,
    };
    Ok((entity, entity_type.map(|t| t.fields).unwrap_or_default()))
}

/// Returns the JSON Schema of the proposed values: the input schema of the tool that a session runs, or the schema of
/// the task's output. `None` without one, and for calls of tools that only the agent knows.
pub(super) async fn values_schema(conn: &mut Conn<'_>, gate: &Gate) -> Result<Option<Value>> {
    match &gate.task {
        Task::Tool(_) => {
            let session = store::session::find(conn, gate.tenant_id, gate.session_id).await?;
            let Some(run) = session.as_ref().and_then(ToolRun::of_session) else { return Ok(None) };
            let version = store::tool::version_of(conn, gate.tenant_id, run.id, run.version).await?;
            Ok(version.map(|version| version.definition.input_schema))
        }
        Task::Output(_) | Task::Fields(_) => {
            let Some(id) = gate.action_id else { return Ok(None) };
            let action = store::action::find(conn, gate.tenant_id, id).await?;
            let contract =
                action.and_then(|action| domain::output::read(action.output_type, &action.output_config).ok());
            Ok(contract.and_then(|contract| contract.schema))
        }
        Task::Question(_) | Task::Memory(_) => Ok(None),
    }
}
