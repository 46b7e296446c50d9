//! Names of the ids and actors in events.

use super::proposed_values::field_names;
use crate::{Ledger, MemberRecord, Result, guard::require, human};
use domain::{
    Scope,
    event::{Body, Event, Known},
    id::{EntityId, TenantId, TokenId},
    limit::ENTITY_TITLES_MAX,
    role::Permission,
};
use std::collections::BTreeSet;
use store::Conn;

/// Everyone who may have written something.
#[derive(Debug)]
pub struct People {
    /// All present and former members.
    pub members: Vec<MemberRecord>,
    /// Ids and names of tokens.
    pub tokens: Vec<(TokenId, String)>,
}

impl People {
    /// The name of an actor, as `user:ID`, `token:ID` or `agent:SLUG`. `None` for others, and for those not known.
    pub fn name(&self, actor: &str) -> Option<String> {
        let (kind, id) = actor.split_once(':')?;
        match kind {
            "user" => {
                let member = self.members.iter().find(|member| member.user_id.to_string() == id);
                member.map(|member| member.display_name().to_owned())
            }
            "token" => self.tokens.iter().find(|(token, _)| token.to_string() == id).map(|(_, name)| name.clone()),
            "agent" => Some(id.to_owned()),
            _ => None,
        }
    }
}

/// Returns everyone who may have written something in the workspace.
pub async fn people(ledger: &Ledger, scope: &Scope) -> Result<People> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, async move |conn| people_on(conn, tenant_id).await).await
}

/// [`people`] on an open connection.
pub(super) async fn people_on(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<People> {
    let members = store::user::members(conn, tenant_id).await?;
    let tokens = store::token::list(conn, tenant_id, None).await?;
    Ok(People { members, tokens: tokens.into_iter().map(|token| (token.id, token.name)).collect() })
}

/// Returns names for the entities that were viewed, the people who decided in these events or were assigned, and the
/// fields of entities whose values they decided about. The key is the id or actor as it is in the event, and
/// `field:SLUG`.
pub(super) async fn names(conn: &mut Conn<'_>, tenant_id: TenantId, events: &[Event]) -> Result<Vec<(String, String)>> {
    let viewed = human::viewed(conn, tenant_id, events).await?;
    let mut names: Vec<_> = viewed.into_iter().map(|(id, title)| (id.to_string(), title)).collect();
    let deciders = events.iter().filter(|event| event.kind.starts_with("user."));
    let mut named: Vec<String> = deciders.map(|event| event.actor.clone()).collect();
    let assigned = events.iter().filter(|event| event.kind == Known::SessionAssigneeChange);
    named.extend(assigned.filter_map(|event| match event.body() {
        Body::SessionAssigneeChange(change) => change.to.map(|id| format!("user:{id}")),
        _ => None,
    }));
    if !named.is_empty() {
        let members = store::user::members(conn, tenant_id).await?;
        let called =
            members.iter().map(|member| (format!("user:{}", member.user_id), member.display_name().to_owned()));
        names.extend(called.filter(|(actor, _)| named.contains(actor)));
    }
    if events.iter().any(|event| event.kind == Known::UserOutputApproval) {
        let fields = field_names(conn, tenant_id).await?;
        names.extend(fields.into_iter().map(|(slug, name)| (format!("field:{slug}"), name)));
    }
    Ok(names)
}

/// Returns the titles of the first [`ENTITY_TITLES_MAX`] of these entities by id. Unknown ids are left out.
pub(super) async fn titles(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: BTreeSet<EntityId>,
) -> Result<Vec<(String, String)>> {
    let ids: Vec<EntityId> = ids.into_iter().take(ENTITY_TITLES_MAX).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let titles = store::entity::titles(conn, tenant_id, &ids).await?;
    Ok(titles.into_iter().map(|found| (found.id.to_string(), found.title)).collect())
}
