//! Sessions that are read or run again with others: those that a reader may not see, and those of a retry.

use crate::graph::{after, fail, now, run, take};
use domain::session::Status;
use ledger::session;
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    related_sessions_that_the_reader_may_not_see_are_left_out,
    a_retry_depends_once_on_each_session_that_took_the_place_of_others,
);

async fn related_sessions_that_the_reader_may_not_see_are_left_out(f: Fixture) {
    let (shown, private) = (after(&f, "one", &[]).await, after(&f, "two", &[]).await);
    let joined = after(&f, "three", &[shown.id, private.id]).await;
    for (id, expected) in [(shown.id, Value::Null), (joined.id, json!([shown.id, private.id]))] {
        let created: Value = serde_json::from_str(&f.log(id).await[0].metadata).unwrap();
        assert_eq!(created["dependsOn"], expected, "the log names them");
    }
    let (open, hidden) = (after(&f, "four", &[joined.id]).await, after(&f, "five", &[joined.id]).await);
    for session in [&private, &hidden] {
        let owner = f.operator.caller;
        let hide = format!("UPDATE sessions SET private_to = '{owner}' WHERE agent_slug = ");
        let agent = session.agent_slug.as_deref().unwrap();
        f.engine.raw().await.execute(&format!("{hide}'{agent}'")).await.unwrap();
    }
    for (reader, before, behind) in
        [(f.operator, vec![shown.id, private.id], vec![open.id, hidden.id]), (f.member, vec![shown.id], vec![open.id])]
    {
        let related = session::related(&f.ledger, &reader, joined.id).await.unwrap();
        assert_eq!(related.dependencies.iter().map(|on| on.id).collect::<Vec<_>>(), before);
        assert_eq!(related.dependents.iter().map(|on| on.id).collect::<Vec<_>>(), behind);
    }
    f.done().await;
}

async fn a_retry_depends_once_on_each_session_that_took_the_place_of_others(f: Fixture) {
    let (one, two) = (after(&f, "one", &[]).await, after(&f, "two", &[]).await);
    let both = after(&f, "join", &[one.id, two.id]).await;
    for slug in ["one", "two"] {
        fail(&f, &take(&f, slug).await.unwrap().session).await;
    }
    assert_eq!(now(&f, both.id).await.status(), Status::Abandoned);
    let again = session::retry(&f.ledger, &f.operator, one.id).await.unwrap();
    let retried = session::retry(&f.ledger, &f.operator, both.id).await.unwrap();
    let related = session::related(&f.ledger, &f.operator, retried.id).await.unwrap();
    assert_eq!(related.dependencies.iter().map(|on| on.id).collect::<Vec<_>>(), [again.id, two.id]);

    // A session may name a failed session and its retry. Both lead to the newest one.
    let named = after(&f, "named", &[one.id, again.id]).await;
    let newest = session::retry(&f.ledger, &f.operator, named.id).await.unwrap();
    let related = session::related(&f.ledger, &f.operator, newest.id).await.unwrap();
    assert_eq!(related.dependencies.iter().map(|on| on.id).collect::<Vec<_>>(), [again.id]);
    run(&f, "one", &json!("mended")).await;
    f.done().await;
}
