//! Conversations at rest: a search for the next window does not visit those that are read to their end, and finds each
//! one again when something is added to it, whoever adds it.

use crate::{
    feedback_request::request,
    memory_window::read_next,
    memory_writer::{AGENT, finish, take, talk, turn_of},
    response::submission,
    thread::{ENDING, turn},
    view_link::someone,
};
use chrono::TimeDelta;
use domain::{memory_writer::plan::Policy, view::Gate};
use ledger::{
    feedback_request::NewRequest,
    memory_writer::WriterTerms,
    response::{self, Submission},
    thread::{self, Message, NewThread},
    view_link,
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_conversation_at_rest_that_is_read_is_not_visited_until_it_goes_on,
    an_answer_to_a_conversation_at_rest_is_read_although_nobody_signed_in_for_it,
    a_message_that_comes_while_a_run_ends_is_read_by_the_next_one,
);

/// Number of sessions that a search for the next window visits.
async fn visited(f: &Fixture) -> i64 {
    let mut raw = f.engine.raw().await;
    raw.number("SELECT COUNT(*) FROM memory_watermarks WHERE is_open = 1 AND is_alone = 0").await
}

async fn a_conversation_at_rest_that_is_read_is_not_visited_until_it_goes_on(f: Fixture) {
    assert_eq!(read_next(&f).await, []);
    let id = talk(&f, "I like trains.", "Noted.").await.id;
    f.clock.advance(TimeDelta::hours(1));
    assert_eq!(read_next(&f).await, [id]);
    assert_eq!((visited(&f).await, read_next(&f).await), (0, vec![]));

    let said = Message { text: "I like ships.".into(), id: None };
    thread::send_message(&f.ledger, &f.member, id, said).await.unwrap();
    assert_eq!(visited(&f).await, 1);
    turn(&f, "Noted.").await;
    f.clock.advance(TimeDelta::hours(1));
    assert_eq!(read_next(&f).await, [id]);
    assert_eq!(visited(&f).await, 0);

    thread::end(&f.ledger, &f.member, id, ENDING).await.unwrap();
    assert_eq!(read_next(&f).await, [id], "its last events");
    assert_eq!((visited(&f).await, read_next(&f).await), (0, vec![]));
    f.done().await;
}

async fn an_answer_to_a_conversation_at_rest_is_read_although_nobody_signed_in_for_it(f: Fixture) {
    assert_eq!(read_next(&f).await, []);
    let new = NewThread { agent: AGENT.into(), message: Some("Ask Zoe.".into()), ..NewThread::default() };
    thread::start(&f.ledger, &f.member, new).await.unwrap();
    let session = f.claim(1, 60).await.remove(0);
    let ask = NewRequest { access: Some(Gate::None), ..request(&session, "k", false) };
    let (asked, secret) = view_link::ask(&f.ledger, &f.worker, session.id, ask).await.unwrap();
    turn_of(&f, &session, "I asked her.").await;
    f.clock.advance(TimeDelta::hours(1));
    assert_eq!(read_next(&f).await, [session.id]);
    assert_eq!(visited(&f).await, 0);

    let zoe = someone(&f, &secret.unwrap()).await;
    let given = Submission { request_id: Some(asked.request.id.0), ..submission("s", json!({ "region": "EU" })) };
    response::submit(&f.ledger, &zoe, asked.request.view_id, given).await.unwrap();
    f.clock.advance(TimeDelta::hours(1));
    assert_eq!(read_next(&f).await, [session.id]);
    f.done().await;
}

async fn a_message_that_comes_while_a_run_ends_is_read_by_the_next_one(f: Fixture) {
    assert_eq!(read_next(&f).await, []);
    let id = talk(&f, "Hello", "Noted.").await.id;
    for round in 0..10 {
        f.clock.advance(TimeDelta::hours(1));
        let run = take(&f, WriterTerms::default()).await.expect("what was said in the last round is due");
        let said = Message { text: format!("Round {round}"), id: None };
        let (finished, sent) = tokio::join!(
            finish(&f, run, Vec::new(), Policy::Review),
            thread::send_message(&f.ledger, &f.member, id, said)
        );
        finished.unwrap();
        sent.unwrap();
        turn(&f, "Noted.").await;
    }
    f.clock.advance(TimeDelta::hours(1));
    assert_eq!(read_next(&f).await, [id]);
    f.done().await;
}
