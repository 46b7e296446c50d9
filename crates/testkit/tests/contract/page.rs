//! What pages read: everything that belongs on them, as of one moment.

use crate::{
    entity::{acme, company},
    gate::{decide, gated, says, staged},
};
use chrono::TimeDelta;
use domain::{gate::Verdict, limit::UNDO_SECONDS_MAX, session::Status};
use ledger::{gate, session};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_sessions_retries_are_found_behind_any_number_of_newer_sessions,
    what_a_person_can_undo_is_found_behind_any_number_of_others_decisions,
);

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
