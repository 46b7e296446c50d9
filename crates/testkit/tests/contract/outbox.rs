//! The outbox stays small: what is over is removed, however much of it there is.

use crate::webhook::subscribed;
use chrono::TimeDelta;
use domain::limit::MESSAGES_KEPT_DAYS;
use ledger::{outbox, webhook};
use testkit::{Fixture, on_both_engines, receiver::Receiver};

on_both_engines!(one_removal_removes_a_whole_backlog);

/// Messages beside the first one. More than two transactions of a removal take.
const BACKLOG: u64 = 2_500;

async fn one_removal_removes_a_whole_backlog(f: Fixture) {
    let receiver = Receiver::start().await;
    let (made, _) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    webhook::test(&f.ledger, &f.admin, made.id).await.unwrap();
    let id = if f.engine.file().is_some() { "randomblob(16)" } else { "gen_random_uuid()" };
    let copies = format!(
        "WITH RECURSIVE copies (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM copies WHERE number < {BACKLOG}) \
         INSERT INTO outbox (tenant_id, id, channel, target_id, topic, payload, created_at, due_at, attempts) \
         SELECT tenant_id, {id}, channel, target_id, topic, payload, created_at, due_at, attempts FROM outbox, copies"
    );
    let mut raw = f.engine.raw().await;
    raw.execute(&copies).await.unwrap();
    raw.execute("UPDATE outbox SET delivered_at = created_at").await.unwrap();
    webhook::test(&f.ledger, &f.admin, made.id).await.unwrap();
    f.clock.advance(TimeDelta::days(MESSAGES_KEPT_DAYS + 1));
    assert_eq!(outbox::prune(&f.ledger).await.unwrap(), BACKLOG + 1);
    assert_eq!(raw.number("SELECT COUNT(*) FROM outbox").await, 1, "the one that waits is left");
    drop(raw);
    f.done().await;
}
