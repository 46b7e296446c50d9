//! P-17: many pending sessions in one workspace starve neither other workspaces nor other agents.

use domain::{
    Scope,
    session::{Session, Type},
};
use futures_util::{StreamExt, future::join_all, stream};
use ledger::session::{self, Claim, Completion, NewSession};
use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_crowded_workspace_takes_no_more_than_its_share,
    an_agent_with_little_to_do_does_not_wait_behind_one_with_much,
);

/// Returns the number of sessions of the crowded workspace. The long test tier sets `SHIFTBOOK_CROWD=100000`.
fn crowd() -> usize {
    std::env::var("SHIFTBOOK_CROWD").map_or(600, |text| text.parse().unwrap())
}

/// Number of sessions that are created concurrently, so that they share transactions.
const TOGETHER: usize = 200;
/// Number of workspaces beside the crowded one, and number of sessions of each.
const OTHERS: usize = 20;
const JOBS: usize = 10;
/// Number of workers of the crowded workspace. Each of the others has one.
const CROWD_WORKERS: usize = 8;

async fn queue(f: &Fixture, scope: &Scope, agent: &str, count: usize) -> Vec<Session> {
    let make = |_| {
        let new = NewSession { agent_slug: Some(agent.into()), ..NewSession::of_type(Type::Agent) };
        async move { session::create(&f.ledger, scope, new).await.unwrap() }
    };
    let mut made: Vec<_> = stream::iter(0..count).map(make).buffer_unordered(TOGETHER).collect().await;
    made.sort_by_key(|session| session.id);
    made
}

async fn claim(f: &Fixture, scope: &Scope, agents: Option<&str>) -> Option<Session> {
    let claim = Claim { agent_slugs: agents.map(|agent| vec![agent.into()]), max: 1, lease_seconds: 3_600 };
    let mut claimed = session::claim(&f.ledger, scope, claim, Duration::ZERO).await.unwrap();
    claimed.pop().map(|claimed| claimed.session)
}

/// Claims and completes sessions until none is pending or `until` returns true. Records the scope of each
/// claim.
async fn work(f: &Fixture, scope: &Scope, claims: &Mutex<Vec<Scope>>, until: impl Fn() -> bool) {
    while !until() {
        let Some(session) = claim(f, scope, None).await else { return };
        claims.lock().unwrap().push(*scope);
        let done = Completion { attempt: session.attempt, result: None, usage: None };
        session::complete(&f.ledger, scope, session.id, done).await.unwrap();
    }
}

async fn a_crowded_workspace_takes_no_more_than_its_share(f: Fixture) {
    queue(&f, &f.operator, "scout", crowd()).await;
    let mut others = Vec::new();
    for n in 0..OTHERS {
        let scope = f.workspace(&format!("small-{n}")).await;
        queue(&f, &scope, "scout", JOBS).await;
        others.push(scope);
    }
    let claims = Mutex::new(Vec::new());
    let at_work = AtomicUsize::new(OTHERS);
    let small = join_all(others.iter().map(async |scope| {
        work(&f, scope, &claims, || false).await;
        at_work.fetch_sub(1, Ordering::Relaxed);
    }));
    let large =
        join_all((0..CROWD_WORKERS).map(|_| work(&f, &f.worker, &claims, || at_work.load(Ordering::Relaxed) == 0)));
    tokio::join!(small, large);

    let claims = claims.into_inner().unwrap();
    let of = |scope: &Scope| claims.iter().filter(|by| by.tenant_id == scope.tenant_id).count();
    assert!(others.iter().all(|scope| of(scope) == JOBS), "every small workspace got all of its sessions");
    let last = claims.iter().rposition(|by| by.tenant_id != f.worker.tenant_id).unwrap();
    // If workspaces took strict turns, the small ones would be done after this number of claims. The guarantee
    // is twice that.
    let share = (OTHERS + 1) * JOBS;
    assert!(last < 2 * share, "the last session of a small workspace was number {last}, its share is {share}");
    f.done().await;
}

async fn an_agent_with_little_to_do_does_not_wait_behind_one_with_much(f: Fixture) {
    queue(&f, &f.operator, "scout", crowd()).await;
    let few = queue(&f, &f.operator, "writer", JOBS).await;
    for made in few {
        assert_eq!(claim(&f, &f.worker, Some("writer")).await.map(|session| session.id), Some(made.id));
    }
    assert!(claim(&f, &f.worker, Some("writer")).await.is_none(), "nothing of the crowd is theirs");
    f.done().await;
}
