//! The number of turns of a session, and the time at which a session was queued.

use crate::{
    graph::{after, now, run},
    thread::{new, rested},
};
use domain::{
    id::SessionId,
    session::{Status, Type},
};
use ledger::{
    session::{self, NewSession},
    thread::{self, Message},
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_turn_is_a_message_of_a_person_or_else_an_attempt_of_an_agent,
    a_session_is_queued_when_it_is_created_or_when_it_waits_no_more,
);

async fn turns(f: &Fixture, id: SessionId) -> u64 {
    session::turns(&f.ledger, &f.operator, &now(f, id).await).await.unwrap()
}

async fn a_turn_is_a_message_of_a_person_or_else_an_attempt_of_an_agent(f: Fixture) {
    for (session_type, expected) in [(Type::Agent, 2), (Type::Tool, 0)] {
        let made = session::create(&f.ledger, &f.operator, NewSession::of_type(session_type)).await.unwrap();
        assert_eq!(turns(&f, made.id).await, 0, "{session_type}");
        f.claim(1, 60).await;
        session::release(&f.ledger, &f.worker, made.id, 1).await.unwrap();
        let held = f.claim(1, 60).await.pop().unwrap();
        assert_eq!((held.id, held.attempt), (made.id, 2));
        assert_eq!(turns(&f, made.id).await, expected, "{session_type}");
    }
    let talk = rested(&f).await;
    let said = Message { text: "And of Globex?".into(), id: None };
    thread::send_message(&f.ledger, &f.member, talk.id, said).await.unwrap();
    assert_eq!((now(&f, talk.id).await.attempt, turns(&f, talk.id).await), (1, 2));
    f.done().await;
}

async fn a_session_is_queued_when_it_is_created_or_when_it_waits_no_more(f: Fixture) {
    let first = after(&f, "one", &[]).await;
    assert_eq!((first.status(), first.queued_at), (Status::Pending, Some(f.ledger.now())));
    let second = after(&f, "two", &[first.id]).await;
    let draft = thread::start(&f.ledger, &f.operator, new(None)).await.unwrap().session;
    for made in [first, second.clone(), draft] {
        assert_eq!(now(&f, made.id).await.queued_at, made.queued_at);
        assert_eq!(made.queued_at.is_some(), made.status() == Status::Pending, "{made:?}");
    }
    run(&f, "one", &json!(1)).await;
    assert_eq!(now(&f, second.id).await.queued_at, Some(f.ledger.now()));
    f.done().await;
}
