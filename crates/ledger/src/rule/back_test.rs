//! What a rule would have decided in the last 90 days.

use super::{create::checked, is_private, require_admin};
use crate::{Ledger, Result};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    gate::{Gate, Verdict},
    id::{GateId, SessionId, TenantId, UserId},
    limit::{BACK_TEST_DAYS, BACK_TEST_GATES_MAX, BACK_TEST_LISTED_MAX},
    rule::{Case, Definition, Outcome, Past, Subject, Tested, back_test as test},
};
use std::collections::{HashMap, HashSet};
use store::Conn;
use uuid::Uuid;

/// What a rule would have decided.
#[derive(Debug, Clone)]
pub struct BackTested {
    /// The earliest time at which a gate that was looked at can have opened (UTC).
    pub from: Timestamp,
    /// Whether there were more gates than are looked at. The newest are.
    pub is_cut: bool,
    /// Gates that it would have approved and a person did not.
    pub differed: u64,
    /// Gates that it would have approved and a person did.
    pub agreed: u64,
    /// Gates that it would have approved and no person decided.
    pub undecided: u64,
    /// Gates about which it would have asked a person.
    pub asked: u64,
    /// The gates: differences first, then in the order of the counts above, newest first. At most
    /// [`BACK_TEST_LISTED_MAX`].
    pub gates: Vec<TestedGate>,
}

/// What a rule would have done with one gate.
#[derive(Debug, Clone)]
pub struct TestedGate {
    /// Which gate it is.
    pub gate_id: GateId,
    /// The session that waited at it.
    pub session_id: SessionId,
    /// Title of the gate.
    pub title: String,
    /// Time the gate opened (UTC).
    pub opened_at: Timestamp,
    /// What a person decided, if a person did.
    pub verdict: Option<Verdict>,
    /// What the rule would have done.
    pub tested: Tested,
}

/// Compares a rule with the gates of the last 90 days, as if it had been active all the time. Nothing is written. Gates
/// of private and incognito sessions are left out, because no rule decides them.
///
/// # Errors
/// [`crate::Error::Forbidden`] for everyone but admins; [`crate::Error::Invalid`] for a wrong definition.
pub async fn back_test(ledger: &Ledger, scope: &Scope, definition: Definition) -> Result<BackTested> {
    require_admin(scope)?;
    let now = ledger.now();
    let definition = checked(definition, now)?;
    let (tenant_id, made_by) = (scope.tenant_id, scope.acting_user().unwrap_or(UserId(Uuid::nil())));
    let read = ledger.snapshot(scope, async move |conn| {
        let history = history(conn, tenant_id, &definition.subject, now).await?;
        Ok(tested(&definition, &history, made_by))
    });
    read.await
}

/// Gates of a subject that are no one's secret, in the order in which they opened.
pub(super) struct History {
    from: Timestamp,
    is_cut: bool,
    gates: Vec<Gate>,
    by_rule: HashSet<GateId>,
    private: HashSet<SessionId>,
}

impl History {
    /// The gates that a person approved as they were.
    pub(super) fn approved(&self) -> Vec<&Gate> {
        let is_approved = |gate: &&Gate| self.verdict(gate) == Some(Verdict::Approve);
        self.gates.iter().filter(is_approved).filter(|gate| !self.private.contains(&gate.session_id)).collect()
    }

    /// What a person decided. The decision of a rule is none, unless a person decided differently after an undo.
    fn verdict(&self, gate: &Gate) -> Option<Verdict> {
        let by_rule = self.by_rule.contains(&gate.id);
        gate.state.verdict().filter(|verdict| !by_rule || *verdict != Verdict::Approve)
    }
}

/// Reads the gates of the last 90 days.
pub(super) async fn history(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    subject: &Subject,
    now: Timestamp,
) -> Result<History> {
    let from = now - TimeDelta::days(BACK_TEST_DAYS);
    let mut gates = store::gate::of_subject(conn, tenant_id, subject, from, BACK_TEST_GATES_MAX).await?;
    let is_cut = gates.len() as u64 >= u64::from(BACK_TEST_GATES_MAX);
    gates.retain(|gate| Subject::of(gate).as_ref() == Some(subject));
    gates.reverse();
    let ids: Vec<SessionId> = gates.iter().map(|gate| gate.session_id).collect();
    let sessions = store::session::list_by_ids(conn, tenant_id, &ids).await?;
    let incognito: HashSet<SessionId> =
        sessions.iter().filter(|session| session.is_private()).map(|session| session.id).collect();
    gates.retain(|gate| !incognito.contains(&gate.session_id));
    let ids: Vec<GateId> = gates.iter().map(|gate| gate.id).collect();
    let by_rule = store::rule::decided_among(conn, tenant_id, &ids).await?.into_iter().collect();
    let private = sessions.iter().filter(|session| is_private(session)).map(|session| session.id).collect();
    Ok(History { from, is_cut, gates, by_rule, private })
}

fn tested(definition: &Definition, history: &History, made_by: UserId) -> BackTested {
    let past = history.gates.iter().map(|gate| Past {
        case: Case { gate, is_private: history.private.contains(&gate.session_id), made_by },
        verdict: history.verdict(gate),
    });
    let result = test(definition, past);
    let mut gates: HashMap<Outcome, Vec<TestedGate>> = HashMap::new();
    for (gate, tested) in history.gates.iter().zip(&result.tested).rev() {
        gates.entry(tested.outcome).or_default().push(TestedGate {
            gate_id: gate.id,
            session_id: gate.session_id,
            title: gate.title.clone(),
            opened_at: gate.opened_at,
            verdict: history.verdict(gate),
            tested: *tested,
        });
    }
    let listed = Outcome::ALL.into_iter().flat_map(|outcome| gates.remove(&outcome).unwrap_or_default());
    BackTested {
        from: history.from,
        is_cut: history.is_cut,
        differed: result.count(Outcome::Differed),
        agreed: result.count(Outcome::Agreed),
        undecided: result.count(Outcome::Undecided),
        asked: result.count(Outcome::Asked),
        gates: listed.take(BACK_TEST_LISTED_MAX).collect(),
    }
}
