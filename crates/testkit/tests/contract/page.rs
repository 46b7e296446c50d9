//! What pages read: everything that belongs on them, as of one moment.

use crate::{
    entity::{acme, company},
    gate::{decide, gated, says, staged},
};
use chrono::TimeDelta;
use domain::{gate::Verdict, limit::UNDO_SECONDS_MAX, session::Status};
use ledger::{gate, session};
use serde_json::{Value, json};
use store::{Access, Mode, Store};
use testkit::{Fixture, on_both_engines, text};
use tokio::sync::oneshot;

on_both_engines!(
    a_snapshot_shows_one_moment_whatever_is_committed_while_it_is_read,
    a_sessions_retries_are_found_behind_any_number_of_newer_sessions,
    what_a_person_can_undo_is_found_behind_any_number_of_others_decisions,
);

/// The commit comes between two queries of a snapshot.
async fn a_snapshot_shows_one_moment_whatever_is_committed_while_it_is_read(f: Fixture) {
    let session = f.running().await;
    let (tenant_id, id, access) = (session.tenant_id, session.id, Access::from(&f.member));
    let store = Store::open(&f.engine.database(), Mode::Tool).await.unwrap();
    let (looked, has_looked) = oneshot::channel();
    let (wrote, has_written) = oneshot::channel::<()>();
    let reader = store.clone();
    let reading = tokio::spawn(async move {
        let read = reader.snapshot::<_, store::Error, _>(access, move |conn| {
            Box::pin(async move {
                let first = store::session::find(conn, tenant_id, id).await?.unwrap();
                looked.send(()).unwrap();
                has_written.await.unwrap();
                let again = store::session::find(conn, tenant_id, id).await?.unwrap();
                let log = store::event::before(conn, tenant_id, id, first.head_sequence + 9, &[], 9).await?;
                Ok((first, again, log.items.last().map(|event| event.sequence)))
            })
        });
        read.await.unwrap()
    });
    has_looked.await.unwrap();
    // A row and its log change in one transaction.
    f.append(id, session.attempt, vec![text("meanwhile")]).await.unwrap();
    wrote.send(()).unwrap();
    let (first, again, newest) = reading.await.unwrap();
    assert_eq!(first, again);
    assert_eq!((newest, first.head_sequence), (Some(session.head_sequence), session.head_sequence));
    // The connection is in no transaction any more: the next read sees what was written.
    let now = store.read(access, move |conn| Box::pin(store::session::find(conn, tenant_id, id))).await.unwrap();
    assert_eq!(now.unwrap().head_sequence, session.head_sequence + 1);
    store.close().await;
    f.done().await;
}

async fn a_sessions_retries_are_found_behind_any_number_of_newer_sessions(f: Fixture) {
    let old = f.pending().await;
    session::cancel(&f.ledger, &f.operator, old.id, None).await.unwrap();
    let mut repeats = Vec::new();
    for _ in 0..2 {
        f.clock.advance(TimeDelta::seconds(1));
        repeats.insert(0, session::retry(&f.ledger, &f.operator, old.id).await.unwrap().id);
    }
    f.clock.advance(TimeDelta::seconds(1));
    let newer = [f.pending().await, f.pending().await, f.pending().await];
    let found = session::retries(&f.ledger, &f.member, old.id, 3).await.unwrap();
    assert_eq!(found.iter().map(|session| session.id).collect::<Vec<_>>(), repeats);
    let newest = session::retries(&f.ledger, &f.member, old.id, 1).await.unwrap();
    assert_eq!(newest.iter().map(|session| session.id).collect::<Vec<_>>(), repeats[..1]);
    assert_eq!(session::retries(&f.ledger, &f.member, newer[0].id, 3).await.unwrap(), []);
    let elsewhere = session::retries(&f.ledger, &f.stranger, old.id, 3).await;
    assert!(matches!(elsewhere, Err(ledger::Error::NotFound(_))), "{elsewhere:?}");
    f.done().await;
}

async fn what_a_person_can_undo_is_found_behind_any_number_of_others_decisions(f: Fixture) {
    gate::set_undo_seconds(&f.ledger, &f.admin, UNDO_SECONDS_MAX).await.unwrap();
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let mut mine = Vec::new();
    for by in [f.admin, f.admin, f.admin, f.operator, f.operator] {
        f.clock.advance(TimeDelta::seconds(1));
        let (session, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
        assert_eq!(session.status, Status::WaitingHuman);
        decide(&f, &by, item.gate.id, says(Verdict::Approve)).await.unwrap();
        if by == f.operator {
            mine.insert(0, item.gate.id);
        }
    }
    let held = async |scope, limit| {
        let held = gate::held(&f.ledger, scope, limit).await.unwrap();
        held.into_iter().map(|item| item.gate.id).collect::<Vec<_>>()
    };
    assert_eq!(held(&f.operator, 3).await, mine);
    assert_eq!(held(&f.operator, 1).await, mine[..1]);
    assert_eq!(held(&f.admin, 9).await.len(), 3);
    assert_eq!((held(&f.member, 3).await, held(&f.worker, 3).await), (vec![], vec![]));
    gate::undo(&f.ledger, &f.operator, mine[0]).await.unwrap();
    assert_eq!(held(&f.operator, 3).await, mine[1..]);
    // Over, although no sweep has come yet.
    f.clock.advance(TimeDelta::seconds(i64::from(UNDO_SECONDS_MAX)));
    assert_eq!(held(&f.operator, 3).await, []);
    f.done().await;
}
