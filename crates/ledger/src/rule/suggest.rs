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
use quick_cache::sync::Cache;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use store::Conn;

/// For how long suggestions are kept for a list that is read again after each change.
const KEPT: TimeDelta = TimeDelta::seconds(60);
/// Largest number of workspaces whose suggestions are kept.
const KEPT_MAX: usize = 256;

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

/// Suggestions of workspaces, with the time at which they were read.
pub(crate) struct KeptSuggestions(Cache<TenantId, (Timestamp, Arc<Vec<Suggestion>>)>);

impl KeptSuggestions {
    pub(crate) fn new() -> Self {
        Self(Cache::new(KEPT_MAX))
    }

    fn get(&self, tenant_id: TenantId, now: Timestamp) -> Option<Arc<Vec<Suggestion>>> {
        let (read_at, suggested) = self.0.get(&tenant_id)?;
        let age = now - read_at;
        (age >= TimeDelta::zero() && age < KEPT).then_some(suggested)
    }
}

/// Returns those suggestions that are about open gates with these keys; none for everyone but admins.
pub async fn suggestions_alike(ledger: &Ledger, scope: &Scope, keys: &HashSet<String>) -> Result<Vec<Suggestion>> {
    if keys.is_empty() || !scope.may(Permission::Administer) {
        return Ok(Vec::new());
    }
    let suggested = Arc::new(suggestions(ledger, scope).await?);
    ledger.kept_suggestions().0.insert(scope.tenant_id, (ledger.now(), Arc::clone(&suggested)));
    Ok(alike(&suggested, keys))
}

/// Does the same as [`suggestions_alike`] from what was read at most a minute ago.
pub async fn recent_suggestions_alike(
    ledger: &Ledger,
    scope: &Scope,
    keys: &HashSet<String>,
) -> Result<Vec<Suggestion>> {
    match ledger.kept_suggestions().get(scope.tenant_id, ledger.now()) {
        Some(suggested) if scope.may(Permission::Administer) => Ok(alike(&suggested, keys)),
        _ => suggestions_alike(ledger, scope, keys).await,
    }
}

fn alike(suggested: &[Suggestion], keys: &HashSet<String>) -> Vec<Suggestion> {
    suggested.iter().filter(|of| keys.contains(&of.similar_key)).cloned().collect()
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
