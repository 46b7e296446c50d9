//! What a reviewer of a memory proposal is shown of the turns that it comes from.

use crate::{
    memory_people::open_window,
    memory_writer::{AGENT, changes, finish, line, proposals, take, talked},
    retention::key,
};
use chrono::TimeDelta;
use domain::{
    memory_writer::{plan::Policy, turn::Taint},
    session::Type,
};
use ledger::{
    gate,
    memory_writer::WriterTerms,
    retention,
    session::{self, NewSession},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_proposal_quotes_its_turns_as_long_as_the_log_has_them,
    a_proposal_quotes_the_request_of_a_task_with_the_member_who_made_it,
);

async fn a_proposal_quotes_its_turns_as_long_as_the_log_has_them(f: Fixture) {
    let said = format!("I like trains. {}", "And more of that. ".repeat(50));
    talked(&f, &said).await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let turn = run.window.turns.iter().find(|turn| turn.taint == Taint::Person).unwrap().clone();
    let first = changes(&run, json!([line(&run, "Likes trains")]), Value::Null);
    finish(&f, run, first, Policy::Review).await.unwrap();
    let id = proposals(&f).await.remove(0).gate.id;

    let quoted = gate::get(&f.ledger, &f.operator, id).await.unwrap().turns;
    assert_eq!(quoted.len(), 1, "{quoted:?}");
    assert_eq!((quoted[0].session_id, quoted[0].sequence), (turn.at.session, turn.at.sequence));
    assert_eq!((quoted[0].taint, &quoted[0].speaker), (Taint::Person, &turn.speaker.map(|speaker| speaker.name)));
    let text = &quoted[0].text;
    assert!(text.starts_with("I like trains. And more") && text.ends_with('…'), "{text}");
    assert!((190..=200).contains(&text.chars().count()), "{text}");

    // Nothing is kept beside the log.
    f.clock.advance(TimeDelta::days(2));
    let older_than = f.ledger.now() - TimeDelta::days(1);
    let erased = retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await.unwrap();
    assert!(erased.sessions >= 1, "{erased:?}");
    let item = gate::get(&f.ledger, &f.operator, id).await.unwrap();
    assert_eq!((item.turns, item.item.gate.id), (Vec::new(), id));
    f.done().await;
}

async fn a_proposal_quotes_the_request_of_a_task_with_the_member_who_made_it(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let input = Some(json!({ "city": "Oslo", "seats": 2 }).to_string());
    let new = NewSession { agent_slug: Some(AGENT.into()), input, ..NewSession::of_type(Type::Agent) };
    let id = session::create(&f.ledger, &f.member, new).await.unwrap().id;
    let run = open_window(&f).await;
    let planned = changes(&run, json!([line(&run, "Travels to Oslo")]), Value::Null);
    finish(&f, run, planned, Policy::Review).await.unwrap();
    let item = proposals(&f).await.remove(0).gate.id;

    let quoted = gate::get(&f.ledger, &f.operator, item).await.unwrap().turns;
    assert_eq!(quoted.len(), 1, "{quoted:?}");
    assert_eq!((quoted[0].session_id, quoted[0].sequence, quoted[0].taint), (id, 1, Taint::Person));
    assert_eq!(
        (quoted[0].speaker.as_deref(), quoted[0].text.as_str()),
        (Some("mia@acme.test"), "city: Oslo\nseats: 2")
    );
    f.done().await;
}
