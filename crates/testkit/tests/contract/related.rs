//! Sessions that are read or run again with others: those that a reader may not see, and those of a retry.

use crate::graph::{after, fail, now, of_agent, on, run, take};
use domain::{
    id::SessionId,
    limit::{DEPENDENCIES_MAX, PAGE_MAX},
    session::{IfDependencyFails, Status},
};
use ledger::{
    Error,
    session::{self, ListSessions, NewSession},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    related_sessions_that_the_reader_may_not_see_are_left_out,
    a_retry_depends_once_on_each_session_that_took_the_place_of_others,
    a_session_depends_on_as_many_others_as_the_limit_says,
    at_most_a_page_of_sessions_is_read_by_id,
    sessions_are_listed_by_a_part_of_their_title,
    retries_of_a_private_session_are_listed_to_its_person_alone,
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

async fn at_most_a_page_of_sessions_is_read_by_id(f: Fixture) {
    let known = f.pending().await.id;
    let mut ids = vec![known];
    ids.resize_with(PAGE_MAX as usize, || SessionId(uuid::Uuid::from_u128(fastrand::u128(..))));
    let read = session::list_by_ids(&f.ledger, &f.member, &ids).await.unwrap();
    assert_eq!(read.iter().map(|session| session.id).collect::<Vec<_>>(), [known]);
    ids.push(known);
    let refused = session::list_by_ids(&f.ledger, &f.member, &ids).await;
    assert!(matches!(&refused, Err(Error::Invalid(errors)) if errors[0].field == "ids"), "{refused:?}");
    f.done().await;
}

async fn sessions_are_listed_by_a_part_of_their_title(f: Fixture) {
    let titled = |title: &str| NewSession { title: Some(title.into()), ..of_agent("scout") };
    let found = session::create(&f.ledger, &f.operator, titled("Weekly Report, Отчёт Über")).await.unwrap();
    session::create(&f.ledger, &f.operator, titled("Invoice")).await.unwrap();
    let parts = [("report", 1), ("Отчёт Über", 1), ("отчёт über", 1), ("ОТЧЁТ ÜBER", 1), ("", 2), ("nothing", 0)];
    for (text, expected) in parts {
        let query = ListSessions { title_contains: Some(text.into()), ..ListSessions::default() };
        let listed = session::list(&f.ledger, &f.member, query).await.unwrap().items;
        assert_eq!(listed.len(), expected, "{text}");
        assert!(text.is_empty() || listed.iter().all(|session| session.id == found.id));
    }
    f.done().await;
}

async fn retries_of_a_private_session_are_listed_to_its_person_alone(f: Fixture) {
    let first = f.pending().await;
    session::cancel(&f.ledger, &f.operator, first.id, None).await.unwrap();
    let again = session::retry(&f.ledger, &f.operator, first.id).await.unwrap();
    let hide =
        format!("UPDATE sessions SET private_to = '{}' WHERE attempt = 0 AND status = 'pending'", f.operator.caller);
    f.engine.raw().await.execute(&hide).await.unwrap();
    for (reader, expected) in [(&f.operator, vec![again.id]), (&f.member, vec![])] {
        let listed = session::retries(&f.ledger, reader, first.id, 0).await.unwrap();
        assert_eq!(listed.iter().map(|session| session.id).collect::<Vec<_>>(), expected);
    }
    f.done().await;
}

async fn a_session_depends_on_as_many_others_as_the_limit_says(f: Fixture) {
    let mut ids = Vec::new();
    for _ in 0..DEPENDENCIES_MAX {
        ids.push(f.pending().await.id);
    }
    let joined = after(&f, "join", &ids).await;
    assert_eq!((joined.status(), joined.dependency_count as usize), (Status::Draft, DEPENDENCIES_MAX));
    ids.push(joined.id);
    let new = NewSession { depends_on: on(&ids, IfDependencyFails::Abandon), ..of_agent("join") };
    let refused = session::create(&f.ledger, &f.operator, new).await;
    assert!(matches!(&refused, Err(Error::Invalid(errors)) if errors[0].field == "dependsOn"), "{refused:?}");
    f.done().await;
}
