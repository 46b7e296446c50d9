//! The page /inbox/{id}/hand-over: the people and groups that an item can be handed over to.

use crate::{
    Error, Ledger, Result,
    gate::{self, GateItem, MayDecide},
    guard::require,
};
use domain::{
    Scope, Timestamp,
    gate::{Gate, GateKind},
    id::{GateId, UserId},
    limit::GROUPS_MAX,
    member::MemberStatus,
    role::Permission,
};
use store::{Conn, GroupRecord, MemberRecord};

/// An item that the caller may hand over.
#[derive(Debug)]
pub struct Page {
    /// The approval that the caller may decide.
    pub item: GateItem,
    /// Other people who may see and decide it, by address. Empty if no one else may see it.
    pub people: Vec<MemberRecord>,
    /// Groups of the workspace, by name. Empty if no one else may see the item.
    pub groups: Vec<GroupRecord>,
}

/// Reads the page.
///
/// # Errors
/// [`Error::NotFound`] if there is no such gate or the caller may not see it; [`Error::Forbidden`] if the caller may
/// not decide it; [`Error::GateClosed`] if it is not open.
pub async fn read(ledger: &Ledger, scope: &Scope, id: GateId) -> Result<Page> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    ledger.snapshot(scope, async move |conn| read_on(conn, &reader, id, now).await).await
}

async fn read_on(conn: &mut Conn<'_>, scope: &Scope, id: GateId, now: Timestamp) -> Result<Page> {
    let gate = gate::find_on(conn, scope, id).await?.ok_or(Error::NotFound("approval"))?;
    let item = gate::detail_on(conn, scope, gate, now).await?.item;
    match item.may_decide {
        MayDecide::Yes => {}
        MayDecide::NotOpen => return Err(Error::GateClosed { state: item.gate.state.name() }),
        refused => return Err(Error::Forbidden(refused.reason().unwrap_or_default())),
    }
    if is_for_one_person(conn, &item.gate).await? {
        return Ok(Page { item, people: Vec::new(), groups: Vec::new() });
    }
    let members = store::user::members(conn, scope.tenant_id).await?;
    let people = members.into_iter().filter(|member| may_be_asked(member, &item.gate, scope.user_id())).collect();
    let groups = store::group::list(conn, scope.tenant_id, GROUPS_MAX).await?;
    Ok(Page { item, people, groups })
}

/// Whether only the person of an incognito conversation may see the item.
async fn is_for_one_person(conn: &mut Conn<'_>, gate: &Gate) -> Result<bool> {
    let session = store::session::find(conn, gate.tenant_id, gate.session_id).await?;
    Ok(gate.kind == GateKind::Question && session.is_some_and(|session| session.private_to.is_some()))
}

fn may_be_asked(member: &MemberRecord, gate: &Gate, caller: Option<UserId>) -> bool {
    let id = Some(member.user_id);
    member.status == MemberStatus::Active && id != caller && (gate.self_approval || gate.requester_id != id)
}
