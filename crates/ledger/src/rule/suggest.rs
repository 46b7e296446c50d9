//! Rules that are offered after many like decisions.

use super::{back_test::history, is_private, require_admin};
use crate::{Error, Ledger, Result};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    gate::Verdict,
    id::{GateId, TenantId},
    limit::{BACK_TEST_DAYS, RULE_DECISIONS_LOOKED_AT, RULE_LIKE_DECISIONS, RULE_SUGGESTIONS_MAX},
    role::Permission,
    rule::{Definition, Subject, suggest},
};
use std::collections::{HashMap, HashSet};
use store::Conn;

/// Gates that people have approved so often that a rule could do it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The newest of them, from which a rule can be drafted.
    pub gate_id: GateId,
    /// Key that such gates share.
    pub similar_key: String,
    /// What they have in common.
    pub subject: Subject,
    /// How many people have approved in the last 90 days, without another decision.
    pub approvals: u64,
}

/// Returns what rules could be made about: like gates of which people approved at least 20 in the last 90 days and
/// decided none otherwise, without those that a rule is about. Most approvals first.
///
/// # Errors
/// [`Error::Forbidden`] for everyone but admins.
pub async fn suggestions(ledger: &Ledger, scope: &Scope) -> Result<Vec<Suggestion>> {
    require_admin(scope)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    ledger.snapshot(scope, async move |conn| suggestions_on(conn, tenant_id, now).await).await
}

/// Returns those suggestions that are about open gates with these keys; none for everyone but admins.
pub async fn suggestions_alike(ledger: &Ledger, scope: &Scope, keys: &HashSet<String>) -> Result<Vec<Suggestion>> {
    if keys.is_empty() || !scope.may(Permission::Administer) {
        return Ok(Vec::new());
    }
    let mut suggested = suggestions(ledger, scope).await?;
    suggested.retain(|of| keys.contains(&of.similar_key));
    Ok(suggested)
}

/// [`suggestions`] on an open connection.
pub(crate) async fn suggestions_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    now: Timestamp,
) -> Result<Vec<Suggestion>> {
    let since = now - TimeDelta::days(BACK_TEST_DAYS);
    let mut alike: HashMap<String, (GateId, u64, u64)> = HashMap::new();
    for decided in store::gate::recently_decided(conn, tenant_id, since, RULE_DECISIONS_LOOKED_AT).await? {
        let (_, approvals, others) = alike.entry(decided.similar_key).or_insert((decided.id, 0, 0));
        *if decided.outcome == Some(Verdict::Approve) { approvals } else { others } += 1;
    }
    let mut often: Vec<_> = alike
        .into_iter()
        .filter(|(_, (_, approvals, others))| *others == 0 && *approvals >= RULE_LIKE_DECISIONS)
        .map(|(key, (id, approvals, _))| (approvals, id, key))
        .collect();
    often.sort_unstable_by(|one, other| other.cmp(one));
    let mut suggestions = Vec::new();
    for (approvals, gate_id, similar_key) in often {
        if suggestions.len() >= RULE_SUGGESTIONS_MAX {
            break;
        }
        let found = store::gate::find(conn, tenant_id, gate_id).await?;
        let Some(subject) = found.as_ref().and_then(Subject::of) else { continue };
        if store::rule::count(conn, tenant_id, &subject.key()).await?.1 == 0 {
            suggestions.push(Suggestion { gate_id, similar_key, subject, approvals });
        }
    }
    Ok(suggestions)
}

/// Returns a rule about the gates that are like this one. It covers what people approved in the last 90 days. Nothing
/// is written.
///
/// # Errors
/// [`Error::Forbidden`] for everyone but admins; [`Error::NotFound`] if there is no such gate; [`Error::Invalid`] if no
/// rule decides such gates.
pub async fn draft(ledger: &Ledger, scope: &Scope, from: GateId) -> Result<Definition> {
    require_admin(scope)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        let gate = store::gate::find(conn, tenant_id, from).await?.ok_or(Error::NotFound("approval"))?;
        let session = store::session::find(conn, tenant_id, gate.session_id).await?;
        let subject = Subject::of(&gate).filter(|_| session.is_some_and(|session| !is_private(&session)));
        let subject = subject.ok_or_else(|| Error::invalid("from", "people decide such items: no rule can"))?;
        let history = history(conn, tenant_id, &subject, now).await?;
        Ok(suggest(subject, &history.approved(), now))
    });
    read.await
}
