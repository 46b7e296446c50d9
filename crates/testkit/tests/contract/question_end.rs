//! How a question ends that no request opened, the form of a question, and what a task's status tells.

use crate::gate::claim;
use domain::{
    event::{EventRole, NewEvent},
    feedback_request::Outcome,
    gate::Question,
    limit::TASK_STATUS_EVENTS_MAX,
    session::{Session, YieldTo},
    view::to_schema,
};
use ledger::{
    action::{self, NewAction, Trigger},
    feedback_request::{self, Form, NewRequest},
    gate::{self, Reply},
    session::{self, YieldRequest},
};
use serde_json::{Value, json};
use testkit::{Fixture, event, on_both_engines, text};

on_both_engines!(
    a_cancelled_question_reaches_the_agent_as_cancelled_and_a_declined_one_as_declined,
    the_form_of_a_question_is_read_with_its_request,
    the_role_of_an_agents_event_is_the_agents,
    the_status_of_a_task_has_the_newest_events_of_its_newest_session,
);

async fn question_of(f: &Fixture) -> Session {
    let running = f.running().await;
    let question = Some(Question::new("Which one?".into(), None));
    let yields = YieldRequest { question, ..YieldRequest::at(1, YieldTo::WaitingHuman) };
    session::yield_to(&f.ledger, &f.worker, running.id, yields).await.unwrap()
}

/// Outcome of the newest answer in the log.
async fn logged(f: &Fixture, of: &Session) -> Value {
    let log = f.log(of.id).await;
    let answer = log.iter().rev().find(|event| event.kind == "user.form_submit").unwrap();
    serde_json::from_str::<Value>(&answer.metadata).unwrap()["outcome"].clone()
}

async fn a_cancelled_question_reaches_the_agent_as_cancelled_and_a_declined_one_as_declined(f: Fixture) {
    for (reply, outcome, in_log) in [
        (Reply::Cancel, Outcome::Cancelled, json!("cancelled")),
        (Reply::Decline, Outcome::Declined, Value::Null),
        (Reply::Accept("EU".into()), Outcome::Answered, Value::Null),
    ] {
        let of = question_of(&f).await;
        gate::reply(&f.ledger, &f.operator, of.id, reply).await.unwrap();
        assert_eq!(logged(&f, &of).await, in_log);
        let given = claim(&f).await.resume.unwrap().question.unwrap();
        assert_eq!(given.outcome, outcome);
        session::cancel(&f.ledger, &f.operator, of.id, None).await.unwrap();
    }
    // The inbox closes a question without an answer in the same way, and a later question of the session is another.
    let of = question_of(&f).await;
    let gates = gate::of_sessions(&f.ledger, &f.admin, vec![of.id]).await.unwrap();
    gate::cancel_question(&f.ledger, &f.operator, gates[0].gate.id).await.unwrap();
    assert_eq!(claim(&f).await.resume.unwrap().question.unwrap().outcome, Outcome::Cancelled);
    let question = Some(Question::new("And now?".into(), None));
    let again = YieldRequest { question, ..YieldRequest::at(2, YieldTo::WaitingHuman) };
    session::yield_to(&f.ledger, &f.worker, of.id, again).await.unwrap();
    gate::reply(&f.ledger, &f.operator, of.id, Reply::Decline).await.unwrap();
    assert_eq!(claim(&f).await.resume.unwrap().question.unwrap().outcome, Outcome::Declined);
    f.assert_verified().await;
    f.done().await;
}

async fn the_form_of_a_question_is_read_with_its_request(f: Fixture) {
    let fields = json!([{
        "key": "region", "label": "Where?", "type": "single_choice", "options": ["EU", "US"], "required": true,
    }]);
    for (number, blocking) in [false, true].into_iter().enumerate() {
        for form in [Form::Fields(serde_json::from_value(fields.clone()).unwrap()), Form::Text] {
            let key = if matches!(form, Form::Text) { "answer" } else { "region" };
            let running = f.running().await;
            let new = NewRequest {
                attempt: 1,
                form,
                message: "Where do we start?".into(),
                blocking,
                access: None,
                audience: None,
                expires_at: None,
                on_expiry: Default::default(),
                idempotency_key: format!("k{number}"),
            };
            let made = feedback_request::ask(&f.ledger, &f.worker, running.id, new.clone()).await.unwrap();
            let again = feedback_request::ask(&f.ledger, &f.worker, running.id, new).await.unwrap();
            let read = feedback_request::get(&f.ledger, &f.member, made.request.id).await.unwrap();
            let listed = feedback_request::list(&f.ledger, &f.member, running.id, Default::default()).await.unwrap();
            for fields in [made.fields, again.fields, read.fields, listed.items[0].fields.clone()] {
                assert_eq!(fields.len(), 1);
                assert_eq!(fields[0].key, key);
                assert!(serde_json::to_value(to_schema(&fields)).unwrap()["properties"][key].is_object());
            }
        }
    }
    f.done().await;
}

async fn the_role_of_an_agents_event_is_the_agents(f: Fixture) {
    let running = f.running().await;
    let posing = |kind: &str| NewEvent { role: Some(EventRole::User), ..event(kind) };
    let events = vec![posing("agent.message"), posing("acme.note"), event("external.event"), text("Done.")];
    f.append(running.id, 1, events).await.unwrap();
    let log = f.log(running.id).await;
    let roles: Vec<EventRole> = log[log.len() - 4..].iter().map(|event| event.role).collect();
    assert_eq!(roles, [EventRole::Agent, EventRole::Agent, EventRole::System, EventRole::Agent]);
    f.assert_verified().await;
    f.done().await;
}

async fn the_status_of_a_task_has_the_newest_events_of_its_newest_session(f: Fixture) {
    let new = NewAction { name: "Count".into(), agent_slug: Some("scout".into()), ..NewAction::default() };
    let task = action::create(&f.ledger, &f.operator, new).await.unwrap().id;
    let status = action::task_status(&f.ledger, &f.member, task).await.unwrap();
    assert!(status.status.session_id.is_none() && status.recent_events.is_empty());
    let id = action::trigger(&f.ledger, &f.operator, task, Trigger::default()).await.unwrap().id;
    claim(&f).await;
    for said in 0..40 {
        f.append(id, 1, vec![text(&said.to_string())]).await.unwrap();
    }
    let status = action::task_status(&f.ledger, &f.member, task).await.unwrap();
    assert_eq!(status.status.session_id, Some(id));
    let log = f.log(id).await;
    assert_eq!(status.recent_events, log[log.len() - TASK_STATUS_EVENTS_MAX as usize..]);
    // Private sessions are not part of the status of a task.
    let hide = format!("UPDATE sessions SET private_to = '{}'", f.operator.caller);
    f.engine.raw().await.execute(&hide).await.unwrap();
    let hidden = action::task_status(&f.ledger, &f.member, task).await.unwrap();
    assert_eq!((hidden.status.session_id, hidden.recent_events.len()), (None, 0));
    f.done().await;
}
