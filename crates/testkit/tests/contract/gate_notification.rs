//! Changes of a gate are sent to webhooks, and to reviewers who want e-mail. The messages never contain the
//! staged values.

use crate::{
    email::mailing,
    entity::{acme, company},
    gate::{at_once, decide, gated, says, staged, sweep_after},
    webhook::subscribed,
};
use domain::{
    Scope,
    gate::{Question, Verdict},
    limit::UNDO_SECONDS_MAX,
    notification::Topic,
    session::YieldTo,
};
use ledger::{
    email,
    gate::{self, Reply},
    session::{self, YieldRequest},
};
use outbound::{Client, Policy};
use runner::outbox::OutboxWorker;
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines, receiver::Receiver, smtp::SmtpReceiver};

on_both_engines!(
    webhooks_get_each_change_of_a_gate_and_reviewers_get_e_mail,
    a_decision_that_takes_effect_at_once_is_reported_as_settled,
    anyone_means_everyone_whose_role_decides_and_no_one_is_asked_for_their_own_request,
);

fn outbox_worker(f: &Fixture, smtp: &SmtpReceiver) -> OutboxWorker {
    OutboxWorker { http: Client::new(Policy::opening(&["127.0.0.1"]).unwrap()).unwrap(), ..mailing(f, smtp) }
}

fn user(scope: &Scope) -> String {
    format!("user:{}", scope.user_id().unwrap())
}

async fn webhooks_get_each_change_of_a_gate_and_reviewers_get_e_mail(f: Fixture) {
    let (receiver, smtp) = (Receiver::start().await, SmtpReceiver::start().await);
    let outbox_worker = outbox_worker(&f, &smtp);
    subscribed(&f, receiver.url(), &Topic::SUBSCRIBABLE.map(Topic::as_str)).await;
    for person in [&f.operator, &f.member, &f.other_member] {
        email::set_wanted(&f.ledger, person, true).await.unwrap();
    }
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let policy = json!({
        "reviewers": [user(&f.operator)], "remindAfterSeconds": 60, "escalateAfterSeconds": 120,
        "escalateTo": user(&f.other_member),
    });
    let of = gated(&f, Some(acme.id), policy, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    assert_eq!(outbox_worker.drain().await.unwrap(), 2);
    sweep_after(&f, 60).await;
    assert_eq!(outbox_worker.drain().await.unwrap(), 2);
    sweep_after(&f, 60).await;
    assert_eq!(outbox_worker.drain().await.unwrap(), 3);
    decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(outbox_worker.drain().await.unwrap(), 1, "a repeat is no news");
    gate::undo(&f.ledger, &f.operator, item.gate.id).await.unwrap();
    assert_eq!(outbox_worker.drain().await.unwrap(), 1);
    let received = receiver.received();
    let bodies: Vec<Value> = received.iter().map(|r| serde_json::from_str(&r.body).unwrap()).collect();
    let types: Vec<&str> = bodies.iter().map(|body| body["type"].as_str().unwrap()).collect();
    let expected =
        ["approval.requested", "approval.reminder", "approval.escalated", "approval.decided", "approval.undone"];
    assert_eq!(types, expected);
    for body in &bodies {
        assert_eq!(body["data"]["approvalId"], item.gate.id.to_string());
        assert_eq!(body["data"]["sessionId"], waiting.id.to_string());
        assert_eq!(body["data"]["path"], format!("/inbox/{}", item.gate.id));
    }
    assert_eq!((&bodies[3]["data"]["decision"], &bodies[3]["data"]["state"]), (&json!("approve"), &json!("held")));
    assert_eq!(bodies[3]["data"]["decidedBy"], user(&f.operator));
    assert!(received.iter().all(|r| !r.body.contains("Won")), "what is staged stays here");
    let mails = smtp.mails();
    let mut to: Vec<&str> = mails.iter().map(|mail| mail.to.as_str()).collect();
    to[2..].sort_unstable();
    assert_eq!(to, ["otto@acme.test", "otto@acme.test", "max@acme.test", "otto@acme.test"]);
    let link = format!("https://log.example.org/inbox/{}", item.gate.id);
    assert!(mails.iter().all(|mail| mail.text.contains(&link) && !mail.text.contains("Won")));
    f.done().await;
}

async fn a_decision_that_takes_effect_at_once_is_reported_as_settled(f: Fixture) {
    let (receiver, smtp) = (Receiver::start().await, SmtpReceiver::start().await);
    subscribed(&f, receiver.url(), &[Topic::ApprovalDecided.as_str()]).await;
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    // A reply takes effect at once, whatever the undo window.
    gate::set_undo_seconds(&f.ledger, &f.admin, UNDO_SECONDS_MAX).await.unwrap();
    let session = f.running().await;
    let question = Some(Question::new("Which one?".into(), None));
    let asks = YieldRequest { question, ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
    session::yield_to(&f.ledger, &f.worker, session.id, asks).await.unwrap();
    gate::reply(&f.ledger, &f.operator, session.id, Reply::Accept("this one".into())).await.unwrap();
    assert_eq!(outbox_worker(&f, &smtp).drain().await.unwrap(), 2);
    for received in receiver.received() {
        let body: Value = serde_json::from_str(&received.body).unwrap();
        let data = &body["data"];
        assert_eq!((&data["state"], &data["heldUntil"]), (&json!("settled"), &Value::Null), "{body}");
    }
    f.done().await;
}

async fn anyone_means_everyone_whose_role_decides_and_no_one_is_asked_for_their_own_request(f: Fixture) {
    let smtp = SmtpReceiver::start().await;
    for person in [&f.admin, &f.operator, &f.member, &f.stranger] {
        email::set_wanted(&f.ledger, person, true).await.unwrap();
    }
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), json!({ "reviewers": ["anyone"] }), json!({})).await;
    staged(&f, &of, &json!({ "stage": "Won" })).await;
    mailing(&f, &smtp).drain().await.unwrap();
    let mut to: Vec<String> = smtp.mails().into_iter().map(|mail| mail.to).collect();
    to.sort_unstable();
    assert_eq!(to, ["ada@acme.test", "otto@acme.test"]);
    // The member is a named reviewer but triggered the session, so they get no e-mail about it.
    let policy = json!({ "reviewers": [user(&f.member), user(&f.admin)], "selfApproval": false });
    let of = gated(&f, Some(acme.id), policy, json!({})).await;
    staged(&f, &of, &json!({ "stage": "Won" })).await;
    mailing(&f, &smtp).drain().await.unwrap();
    let to: Vec<String> = smtp.mails().into_iter().skip(2).map(|mail| mail.to).collect();
    assert_eq!(to, ["ada@acme.test"]);
    f.done().await;
}
