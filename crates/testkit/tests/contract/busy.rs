//! A SQLite file whose write lock another process holds for longer than a server waits.

use ledger::{
    Error,
    session::{self, ListSessions, NewSession},
};
use testkit::Fixture;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_is_refused_because_the_file_is_locked_leaves_nothing() {
    let f = Fixture::sqlite().await;
    let (mut holder, mut other) = (f.engine.raw().await, f.engine.raw().await);
    holder.execute("BEGIN IMMEDIATE").await.unwrap();
    let (ledger, by) = (f.ledger.clone(), f.operator);
    let new = NewSession { agent_slug: Some("scout".into()), ..NewSession::of_type(domain::session::Type::Agent) };
    let creating = tokio::spawn(async move { session::create(&ledger, &by, new).await });
    // It waits as long as the server does, and begins later. So the server has given up its transaction by now.
    let late = other.execute("BEGIN IMMEDIATE").await;
    assert!(late.is_err(), "the file is locked");
    holder.execute("ROLLBACK").await.unwrap();
    let answer = creating.await.unwrap();
    let stored = session::list(&f.ledger, &f.operator, ListSessions::default()).await.unwrap().items.len();
    match answer {
        Ok(_) => assert_eq!(stored, 1),
        Err(Error::Unavailable(_)) => assert_eq!(stored, 0, "it was refused"),
        Err(other) => panic!("{other:?}"),
    }
    f.assert_verified().await;
    f.done().await;
}
