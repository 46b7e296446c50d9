//! One gate, with what a reviewer needs to decide.

use super::{
    context::{Denied, denials},
    item::{GateItem, load},
    not_found,
};
use crate::{EntityRecord, Ledger, Result, guard::require};
use domain::{Scope, entity::FieldDef, id::GateId, role::Permission};
use store::GateRecord;

/// A gate, the record it is about, and what happened before.
#[derive(Debug, Clone)]
pub struct GateDetail {
    /// The gate.
    pub item: GateItem,
    /// The record as it is now.
    pub entity: Option<EntityRecord>,
    /// Fields of that record's type, or of the type that new records have.
    pub fields: Vec<FieldDef>,
    /// Earlier denials in this session.
    pub denials: Vec<Denied>,
    /// For how long a decision can be undone.
    pub undo_seconds: u32,
}

/// A gate of the workspace, as it is stored.
pub(super) async fn find(ledger: &Ledger, scope: &Scope, id: GateId) -> Result<GateRecord> {
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(store::gate::find(conn, tenant_id, id)));
    read.await?.ok_or_else(not_found)
}

/// A gate of the workspace, for a reviewer.
pub async fn get(ledger: &Ledger, scope: &Scope, id: GateId) -> Result<GateDetail> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let read = ledger
        .store()
        .read(scope.into(), move |conn| {
            Box::pin(async move {
                let tenant_id = reader.tenant_id;
                let Some(gate) = store::gate::find(conn, tenant_id, id).await? else { return Ok(None) };
                let denials = denials(conn, &gate).await?;
                let (entity, fields) = record(conn, &gate).await?;
                let undo_seconds = store::tenant::undo_seconds(conn, tenant_id).await?;
                Ok(Some((load(conn, &reader, vec![gate], now).await?, entity, fields, denials, undo_seconds)))
            })
        })
        .await?;
    let (loaded, entity, fields, denials, undo_seconds) = read.ok_or_else(not_found)?;
    Ok(GateDetail { item: loaded.item(scope)?, entity, fields, denials, undo_seconds })
}

/// The record that an approval writes, and the fields it has.
async fn record(conn: &mut store::Conn<'_>, gate: &GateRecord) -> store::Result<(Option<EntityRecord>, Vec<FieldDef>)> {
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
