//! Recording that a worker is there.

use super::{CONNECTED_SECONDS, recent::EVERY_SECONDS};
use crate::{
    Ledger, Result,
    session::{Claim, Claimed, claim_until},
};
use chrono::TimeDelta;
use domain::{
    Caller, Scope, Timestamp,
    limit::{CLAIM_AGENTS_MAX, WORKER_NAME_CHARS_MAX, WORKER_ROWS_MAX},
    role::Permission,
    tool::run::is_agent,
};
use futures_util::future::{Either, select};
use std::{convert::Infallible, pin::pin, time::Duration};

/// Time for which a worker that is gone is kept, in hours.
const KEPT_HOURS: i64 = 24;
/// Time for which it is kept when there are too many, in minutes.
const KEPT_MINUTES: i64 = 5;

/// What a worker is recorded as: its own name if it has a usable one, else its caller.
fn name_of(ledger: &Ledger, scope: &Scope, given: Option<&str>) -> String {
    let is_usable = |name: &&str| {
        (1..=WORKER_NAME_CHARS_MAX).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
    };
    match (given.filter(is_usable), scope.caller) {
        (Some(name), _) => name.to_owned(),
        // Each server runs the agents of its settings.
        (None, caller @ Caller::Agent(_)) => format!("{caller} {}", ledger.instance()),
        (None, caller) => caller.to_string(),
    }
}

/// Records that a worker claims sessions of these agents, `None` for any. Nothing is recorded of a caller that is no
/// worker or of what is no agent. A failure is logged: the claim continues.
pub async fn see(ledger: &Ledger, scope: &Scope, name: Option<&str>, agents: Option<&[String]>) {
    if !scope.may(Permission::Work) {
        return;
    }
    let name = name_of(ledger, scope, name);
    let mut agents = agents.map_or_else(|| vec![String::new()], <[String]>::to_vec);
    // In one order, so that two servers do not wait for each other.
    agents.sort_unstable();
    agents.dedup();
    agents.truncate(CLAIM_AGENTS_MAX);
    let now = ledger.now();
    if agents.iter().any(|agent| !agent.is_empty() && !is_agent(agent))
        || !ledger.recently_seen().is_due(scope.tenant_id, &(&name, &agents), now)
    {
        return;
    }
    let tenant_id = scope.tenant_id;
    let written = ledger.write(scope.into(), async move |tx| {
        let mut rows = store::worker::prune(tx, tenant_id, now - TimeDelta::hours(KEPT_HOURS)).await?;
        if rows >= WORKER_ROWS_MAX {
            rows = store::worker::prune(tx, tenant_id, now - TimeDelta::minutes(KEPT_MINUTES)).await?;
        }
        if rows < WORKER_ROWS_MAX {
            for agent in &agents {
                store::worker::see(tx, tenant_id, (&name, agent), now).await?;
            }
        }
        Ok(())
    });
    log(written.await);
}

/// Claims sessions as [`claim_until`] does, and records while it waits that the worker is there.
///
/// # Errors
/// As [`claim_until`].
pub async fn claim_seen(
    ledger: &Ledger,
    scope: &Scope,
    name: Option<&str>,
    claim: Claim,
    wait: Duration,
    stop: impl Future<Output = ()>,
) -> Result<Vec<Claimed>> {
    let agents = claim.agent_slugs.clone();
    see(ledger, scope, name, agents.as_deref()).await;
    let claimed = pin!(claim_until(ledger, scope, claim, wait, stop));
    let seen = pin!(be_seen(ledger, scope, name, agents.as_deref()));
    let claimed = match select(claimed, seen).await {
        Either::Left((claimed, _)) => claimed?,
        Either::Right((never, _)) => match never {},
    };
    let ends = claimed.iter().filter_map(|one| one.session.lease_expires_at()).max();
    if let Some(ends) = ends.filter(|ends| counts_until(*ends) > ledger.now()) {
        see_again(ledger, scope, name, ends).await;
    }
    Ok(claimed)
}

/// Records that a worker which has claimed sessions is still there, and that it is connected until its lease ends:
/// heartbeats of a long lease are further apart than a connected worker is silent.
pub async fn see_again(ledger: &Ledger, scope: &Scope, name: Option<&str>, lease_expires_at: Timestamp) {
    let name = name_of(ledger, scope, name);
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    if !scope.may(Permission::Work) || !ledger.recently_seen().is_due(tenant_id, &name, now) {
        return;
    }
    let at = now.max(counts_until(lease_expires_at));
    let written =
        ledger.write(scope.into(), async move |tx| Ok(store::worker::see_again(tx, tenant_id, &name, at).await?));
    log(written.await);
}

/// The time at which a worker has to be recorded as seen to be connected until its lease ends.
fn counts_until(lease_expires_at: Timestamp) -> Timestamp {
    lease_expires_at - TimeDelta::seconds(CONNECTED_SECONDS)
}

/// Records a worker again and again, while its claim waits. Does not end.
async fn be_seen(ledger: &Ledger, scope: &Scope, name: Option<&str>, agents: Option<&[String]>) -> Infallible {
    loop {
        tokio::time::sleep(Duration::from_secs(EVERY_SECONDS.into())).await;
        see(ledger, scope, name, agents).await;
    }
}

fn log(written: Result<()>) {
    if let Err(error) = written {
        tracing::warn!(%error, "a connected worker could not be recorded");
    }
}
