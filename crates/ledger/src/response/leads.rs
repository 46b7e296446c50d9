//! Names and e-mail addresses that people without an account gave before a form.

use crate::{Ledger, ResponseRecord, Result};
use domain::{Scope, id::EntityId, response::LEAD_EMAIL, role::Permission};
use serde_json::Value;
use std::collections::HashMap;
use store::entity::EntityValues;

/// What the entity of a lead says now. No one proved it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    /// The entity's title.
    pub name: String,
    /// E-mail address; `None` if the entity type has no field for it.
    pub email: Option<String>,
}

/// The leads of some responses, by entity.
pub type Leads = HashMap<EntityId, Lead>;

/// Removes the lead from a response, unless the caller may read the names and addresses of leads.
pub fn hide_lead(scope: &Scope, response: &mut ResponseRecord) {
    if !scope.may(Permission::ReadLeads) {
        response.lead_entity_id = None;
    }
}

/// Returns the leads of these responses, which are one page. Empty without [`Permission::ReadLeads`].
pub async fn leads(ledger: &Ledger, scope: &Scope, responses: &[ResponseRecord]) -> Result<Leads> {
    let ids: Vec<EntityId> = responses.iter().filter_map(|response| response.lead_entity_id).collect();
    if ids.is_empty() || !scope.may(Permission::ReadLeads) {
        return Ok(Leads::new());
    }
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), async move |conn| store::entity::values(conn, tenant_id, &ids).await);
    let lead = |EntityValues { id, title, values }: EntityValues| {
        let email = values.get(LEAD_EMAIL).and_then(Value::as_str).map(str::to_owned);
        (id, Lead { name: title, email })
    };
    Ok(read.await?.into_iter().map(lead).collect())
}
