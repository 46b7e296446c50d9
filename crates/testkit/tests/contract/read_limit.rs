//! What is read in batches is read to its end. The walk that looks for circles of sessions and one page of a search by
//! title have a limit.

use crate::{
    entity::{acme, company},
    graph::{after, noted, of_agent, on},
};
use domain::{
    gate::Question,
    id::SessionId,
    limit::{ENTITIES_LOOKED_MAX, GRAPH_WALK_MAX, SESSIONS_LOOKED_MAX},
    session::{IfDependencyFails, Sort, YieldTo},
};
use futures_util::future::join_all;
use ledger::{
    Error,
    entity::{self, ListEntities},
    gate,
    member::{self, Withdrawal},
    page::find,
    session::{self, ListSessions, NewSession, YieldRequest},
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    the_walk_that_looks_for_circles_reads_so_many_sessions_at_most,
    a_page_of_a_search_by_title_looks_at_so_many_sessions_at_most_and_its_cursor_goes_on,
    a_page_of_a_search_by_title_looks_at_so_many_entities_at_most_and_its_cursor_goes_on,
    one_sweep_handles_more_endings_than_it_reads_at_once,
    one_sweep_gives_more_gates_to_the_admins_than_it_reads_at_once,
);

/// More sessions or gates than a sweep reads at once.
const CROWD: usize = 201;
/// Requests that are sent at the same time.
const TOGETHER: usize = 50;

/// Copies the only session of an agent until there are `count`.
async fn copy(f: &Fixture, agent: &str, count: usize) {
    let columns = "tenant_id, session_type, status, end_reason, agent_slug, title, metadata, parent_id, created_by, \
                   attempts_max, head_digest, created_at, updated_at, completed_at";
    copy_row(f, "sessions", columns, &format!("agent_slug = '{agent}'"), count).await;
}

/// Copies the only row of a table that a condition selects, with new ids, until there are `count`.
async fn copy_row(f: &Fixture, table: &str, columns: &str, of: &str, count: usize) {
    // Copied in the database, because a thousand requests take long.
    let id = if f.engine.file().is_some() { "randomblob(16)" } else { "gen_random_uuid()" };
    let copies = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) \
         INSERT INTO {table} (id, {columns}) SELECT {id}, {columns} FROM {table}, n WHERE {of}",
        count - 1
    );
    let mut raw = f.engine.raw().await;
    raw.execute(&copies).await.unwrap();
    let all = format!("SELECT COUNT(*) FROM {table} WHERE {of}");
    assert_eq!(raw.number(&all).await, i64::try_from(count).unwrap());
}

async fn the_walk_that_looks_for_circles_reads_so_many_sessions_at_most(f: Fixture) {
    let (first, parent) = (after(&f, "first", &[]).await, after(&f, "parent", &[]).await);
    let wide = after(&f, "wide", &[first.id, parent.id]).await;
    let start = async |agent: &str, by: SessionId, ids: &[SessionId]| {
        let depends_on = on(ids, IfDependencyFails::Abandon);
        session::create(&f.ledger, &f.operator, NewSession { parent_id: Some(by), depends_on, ..of_agent(agent) }).await
    };
    start("part", wide.id, &[]).await.unwrap();
    // With the session itself and its two dependencies the parts are as many as the walk may read. It reaches the
    // parent after the first dependency.
    copy(&f, "part", GRAPH_WALK_MAX - 3).await;
    let refused = start("joined", parent.id, &[wide.id]).await;
    assert!(matches!(&refused, Err(Error::Invalid(fields)) if fields[0].field == "dependsOn"), "{refused:?}");
    start("part", wide.id, &[]).await.unwrap();
    let refused = start("joined", parent.id, &[wide.id]).await;
    assert!(matches!(refused, Err(Error::LimitReached(_))), "{refused:?}");
    // A single list of parts that is longer than the limit is refused too, although it is not read to its end.
    let alone = after(&f, "alone", &[]).await;
    start("piece", alone.id, &[]).await.unwrap();
    copy(&f, "piece", GRAPH_WALK_MAX + 1).await;
    let refused = start("joined", parent.id, &[alone.id]).await;
    assert!(matches!(refused, Err(Error::LimitReached(_))), "{refused:?}");
    f.done().await;
}

async fn a_page_of_a_search_by_title_looks_at_so_many_sessions_at_most_and_its_cursor_goes_on(f: Fixture) {
    after(&f, "scout", &[]).await;
    copy(&f, "scout", SESSIONS_LOOKED_MAX as usize + 1).await;
    let oldest = "UPDATE sessions SET title = 'Zebra' WHERE id = (SELECT id FROM sessions ORDER BY id LIMIT 1)";
    f.engine.raw().await.execute(oldest).await.unwrap();
    let wanted = ListSessions { title_contains: Some("zebra".into()), ..ListSessions::default() };
    let by_agent = ListSessions { agent_slug: Some("scout".into()), ..wanted.clone() };
    for wanted in [wanted, by_agent] {
        let first = session::list(&f.ledger, &f.member, wanted.clone()).await.unwrap();
        assert!(first.items.is_empty() && first.next_cursor.is_some(), "{first:?}");
        let next = ListSessions { cursor: first.next_cursor, ..wanted };
        let next = session::list(&f.ledger, &f.member, next).await.unwrap();
        assert_eq!(next.items.iter().map(|session| session.title.as_str()).collect::<Vec<_>>(), ["Zebra"]);
        assert_eq!(next.next_cursor, None);
    }
    assert!(find::read(&f.ledger, &f.member, "zebra", 6).await.unwrap().sessions.is_empty());
    other_orders_look_at_so_many_sessions(&f).await;
    f.done().await;
}

/// Of the sessions of the test above, of which the oldest is called Zebra.
async fn other_orders_look_at_so_many_sessions(f: &Fixture) {
    let mut raw = f.engine.raw().await;
    raw.execute("UPDATE sessions SET cost_micros = 5 WHERE title = 'Zebra'").await.unwrap();
    let newest = "UPDATE sessions SET title = 'Yak' WHERE id = (SELECT id FROM sessions ORDER BY id DESC LIMIT 1)";
    raw.execute(newest).await.unwrap();
    let by_cost = ListSessions { sort: Sort::Cost, limit: 1, ..ListSessions::default() };
    let by_cost = session::list(&f.ledger, &f.member, by_cost).await.unwrap();
    assert_eq!(by_cost.items[0].title, "Yak", "the most expensive one is older than those that are looked at");
    let wanted = ListSessions {
        sort: Sort::Oldest,
        title_contains: Some("yak".into()),
        agent_slug: Some("scout".into()),
        ..ListSessions::default()
    };
    let first = session::list(&f.ledger, &f.member, wanted.clone()).await.unwrap();
    assert!(first.items.is_empty() && first.next_cursor.is_some(), "{first:?}");
    let next = ListSessions { cursor: first.next_cursor, ..wanted };
    let next = session::list(&f.ledger, &f.member, next).await.unwrap();
    assert_eq!((next.items.len(), next.next_cursor), (1, None));
}

async fn a_page_of_a_search_by_title_looks_at_so_many_entities_at_most_and_its_cursor_goes_on(f: Fixture) {
    let of = company(&f).await;
    acme(&f, &of, "Acme").await;
    let columns = "tenant_id, type_id, title, fields, version, created_by, updated_by, created_at, updated_at";
    copy_row(&f, "entities", columns, "title = 'Acme'", ENTITIES_LOOKED_MAX as usize + 1).await;
    let oldest = "UPDATE entities SET title = 'Zebra' WHERE id = (SELECT id FROM entities ORDER BY id LIMIT 1)";
    f.engine.raw().await.execute(oldest).await.unwrap();
    let wanted = ListEntities { title_contains: Some("zebra".into()), ..ListEntities::default() };
    let by_type = ListEntities { type_id: Some(of.id), ..wanted.clone() };
    for wanted in [wanted, by_type] {
        let first = entity::list(&f.ledger, &f.member, wanted.clone()).await.unwrap();
        assert!(first.items.is_empty() && first.next_cursor.is_some(), "{first:?}");
        let next = ListEntities { cursor: first.next_cursor, ..wanted };
        let next = entity::list(&f.ledger, &f.member, next).await.unwrap();
        assert_eq!(next.items.iter().map(|entity| entity.title.as_str()).collect::<Vec<_>>(), ["Zebra"]);
        assert_eq!(next.next_cursor, None);
    }
    assert!(find::read(&f.ledger, &f.member, "zebra", 6).await.unwrap().entities.is_empty());
    f.done().await;
}

async fn one_sweep_handles_more_endings_than_it_reads_at_once(f: Fixture) {
    let ended = after(&f, "ended", &[]).await;
    session::cancel(&f.ledger, &f.operator, ended.id, None).await.unwrap();
    copy(&f, "ended", CROWD).await;
    let record = "INSERT INTO session_endings (tenant_id, session_id, at) SELECT tenant_id, id, 0 FROM sessions";
    f.engine.raw().await.execute(record).await.unwrap();
    assert_eq!(session::sweep(&f.ledger).await.unwrap().followed, CROWD as u64);
    assert_eq!(noted(&f).await, 0);
    f.done().await;
}

async fn one_sweep_gives_more_gates_to_the_admins_than_it_reads_at_once(f: Fixture) {
    for _ in 0..CROWD {
        session::create(&f.ledger, &f.other_member, of_agent("scout")).await.unwrap();
    }
    let mut held = Vec::new();
    while held.len() < CROWD {
        let claimed = f.claim(100, 3_600).await;
        assert!(!claimed.is_empty());
        held.extend(claimed);
    }
    for part in held.chunks(TOGETHER) {
        let asks = part.iter().map(|session| {
            let question = Some(Question::new("When?".into(), None));
            let ask = YieldRequest { question, ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
            session::yield_to(&f.ledger, &f.worker, session.id, ask)
        });
        for waiting in join_all(asks).await {
            waiting.unwrap();
        }
    }
    let asked = f.other_member.user_id().unwrap();
    member::withdraw(&f.ledger, &f.admin, asked, Withdrawal::Deactivate).await.unwrap();
    assert_eq!(gate::ask_admins(&f.ledger).await.unwrap(), CROWD as u64);
    assert_eq!(gate::ask_admins(&f.ledger).await.unwrap(), 0, "once");
    f.done().await;
}
