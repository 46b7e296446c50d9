//! Leads with a name or an address of a person: what someone without an account typed before a form, and the responses
//! that they gave.

use crate::Result;
use domain::{
    id::{EntityId, TenantId},
    limit::{MEMORY_FORGET_LEADS_MAX, PAGE_MAX},
};
use std::collections::{BTreeMap, BTreeSet};
use store::Conn;

/// A lead that is erased with their responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgottenLead {
    /// The entity with the name and the address.
    pub entity_id: EntityId,
    /// Name in the version that was found.
    pub name: String,
    /// E-mail address in that version, if there is one.
    pub email: Option<String>,
    /// Number of their responses that have their content, at most [`PAGE_MAX`].
    pub responses: u64,
}

/// Names and addresses are compared whole, without case.
fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Finds the leads of which any version has one of these names, as its name or its address. At most
/// [`MEMORY_FORGET_LEADS_MAX`].
pub(super) async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, names: &[String]) -> Result<Vec<ForgottenLead>> {
    let names: BTreeSet<String> = names.iter().map(|name| folded(name)).filter(|name| !name.is_empty()).collect();
    let mut found = BTreeMap::new();
    let mut after = None;
    while !names.is_empty() && found.len() < MEMORY_FORGET_LEADS_MAX {
        let page = store::entity::lead_versions(conn, tenant_id, after, PAGE_MAX).await?;
        let Some(last) = page.last() else { break };
        after = Some((last.id, last.version));
        for lead in page {
            let is_named = names.contains(&folded(&lead.name));
            if is_named || lead.email.as_deref().is_some_and(|email| names.contains(&folded(email))) {
                found.entry(lead.id).or_insert((lead.name, lead.email));
            }
        }
    }
    let mut leads = Vec::new();
    for (entity_id, (name, email)) in found.into_iter().take(MEMORY_FORGET_LEADS_MAX) {
        let responses = store::entity::responses_of_lead(conn, tenant_id, entity_id, PAGE_MAX).await?.len() as u64;
        leads.push(ForgottenLead { entity_id, name, email, responses });
    }
    Ok(leads)
}
