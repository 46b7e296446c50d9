//! Lets admins decide gates that have too few reviewers left. Reviewers are lost when they are removed,
//! deactivated or taken out of their group. Without this the gate would wait until it expires.

use super::{announce::announce_gate, decision_state, decisions_of};
use crate::{
    Ledger, Result,
    commit::{Minter, append_server_events},
};
use domain::{
    Caller, Scope,
    event::kind::{NoticeReason, WaitingApproval},
    gate::lacks_reviewers,
    id::GateId,
    notification::Topic,
};
use store::{Access, ReviewerRecord, gate::Place};
use uuid::Uuid;

/// Largest number of gates that one read returns.
const BATCH: u32 = 200;
/// Text of the event in the session's log.
const WHY: &str = "too few of its reviewers are left: admins may decide";

/// Adds the admins as reviewers of every open gate that has too few reviewers left, and records an event in the
/// session's log. Returns the number of gates. Safe to run on several servers at once: each gate is checked
/// again under its session's lock.
///
/// The quorum does not change. If the action forbids self-approval, admins still cannot decide their own
/// requests.
///
/// # Errors
/// The error of the last gate that failed. It does not stop the others.
pub async fn ask_admins(ledger: &Ledger) -> Result<u64> {
    let (mut asked, mut failure) = (0, None);
    let mut after = GateId(Uuid::nil());
    loop {
        let found = ledger
            .store()
            .read(Access::System, async move |conn| store::gate::short_of_reviewers(conn, after, BATCH).await)
            .await?;
        for place in &found {
            match ask(ledger, *place).await {
                Ok(done) => asked += u64::from(done),
                // An error of one gate does not stop the others.
                Err(error) => failure = Some(error),
            }
        }
        match found.last() {
            Some(last) if found.len() == BATCH as usize => after = last.id,
            _ => return failure.map_or(Ok(asked), Err),
        }
    }
}

async fn ask(ledger: &Ledger, place: Place) -> Result<bool> {
    let Place { tenant_id, id, session_id } = place;
    let scope = Scope::system(tenant_id);
    let mut minter = Minter::new(ledger, ledger.now());
    ledger
        .write((&scope).into(), async move |tx| {
            let Some(session) = store::session::find_locked(tx, tenant_id, session_id).await? else {
                return Ok(false);
            };
            let Some(gate) = store::gate::find_locked(tx, tenant_id, id).await? else { return Ok(false) };
            let asked = store::gate::reviewers(tx.conn(), tenant_id, &[id]).await?.remove(&id).unwrap_or_default();
            let by_role = [ReviewerRecord::Anyone, ReviewerRecord::Admins];
            if !gate.state.is_open() || asked.iter().any(|reviewer| by_role.contains(reviewer)) {
                return Ok(false);
            }
            let decisions = decisions_of(tx.conn(), &gate).await?;
            let approved = decision_state(&gate, &decisions).approvals;
            let left = store::gate::reviewers_left(tx.conn(), tenant_id, id).await?;
            if !lacks_reviewers(&left, &approved, gate.quorum) {
                return Ok(false);
            }
            store::gate::add_reviewer(tx, tenant_id, id, &ReviewerRecord::Admins).await?;
            let reason = NoticeReason::AdminsMayDecide { admins_may_decide: true, reviewers_left: left.len() };
            announce_gate(tx, &minter, Topic::ApprovalEscalated, &gate, None).await?;
            let event = minter.event(&WaitingApproval::new(id, WHY, reason));
            append_server_events(tx, session, vec![event], Caller::System, minter.at()).await?;
            Ok(true)
        })
        .await
}
