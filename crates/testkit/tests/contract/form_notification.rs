//! The owner of a form is notified of its responses, once for each, if the form and the owner want that.

use crate::{
    email::mailing,
    response::{answers, form, submission},
    view_link_request::stranger,
    webhook::subscribed,
};
use chrono::TimeDelta;
use domain::{
    Scope,
    id::ViewId,
    limit::FORM_EMAIL_SECONDS,
    notification::Topic,
    view::{Gate, Publication, Responses},
};
use ledger::{
    email,
    response::{self, DraftSave, Respondent},
    view_link,
};
use outbound::{Client, Policy};
use runner::outbox::OutboxWorker;
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines, receiver::Receiver, smtp::SmtpReceiver};

on_both_engines!(
    a_response_notifies_the_owner_and_webhooks_once,
    many_responses_in_a_short_time_send_one_e_mail,
    a_form_without_notifications_and_an_owner_without_e_mail_get_none,
    a_response_of_a_person_without_an_account_notifies_too,
);

fn config(notify: bool) -> Publication {
    Publication { responses: Responses::Many, notify, ..Publication::default() }
}

/// Lets the window of e-mails and the time after it pass.
fn window_ends(f: &Fixture) {
    f.clock.advance(TimeDelta::seconds(FORM_EMAIL_SECONDS + 10));
}

fn worker(f: &Fixture, smtp: &SmtpReceiver) -> OutboxWorker {
    OutboxWorker { http: Client::new(Policy::opening(&["127.0.0.1"]).unwrap()).unwrap(), ..mailing(f, smtp) }
}

async fn submit(f: &Fixture, who: &Scope, view: ViewId, id: &str) {
    let who = Respondent::member(who).unwrap();
    response::submit(&f.ledger, &who, view, submission(id, json!({ "name": "Secret" }))).await.unwrap();
}

async fn a_response_notifies_the_owner_and_webhooks_once(f: Fixture) {
    let (receiver, smtp) = (Receiver::start().await, SmtpReceiver::start().await);
    let worker = worker(&f, &smtp);
    subscribed(&f, receiver.url(), &[Topic::FormSubmitted.as_str()]).await;
    email::set_wanted(&f.ledger, &f.operator, true).await.unwrap();
    email::set_wanted(&f.ledger, &f.other_member, true).await.unwrap();
    let view = form(&f, config(true)).await;
    let save = DraftSave { answers: answers(json!({ "name": "x" })), ..DraftSave::default() };
    response::save_draft(&f.ledger, &Respondent::member(&f.member).unwrap(), view, save).await.unwrap();
    assert_eq!(worker.drain().await.unwrap(), 0, "a draft is reported to no one");
    submit(&f, &f.member, view, "one").await;
    assert_eq!(worker.drain().await.unwrap(), 1, "a message to the webhook at once");
    window_ends(&f);
    assert_eq!(worker.drain().await.unwrap(), 1, "an e-mail to the owner");
    submit(&f, &f.member, view, "one").await;
    assert_eq!(worker.drain().await.unwrap(), 0, "a repeat is no second response");
    submit(&f, &f.operator, view, "own").await;
    window_ends(&f);
    assert_eq!(worker.drain().await.unwrap(), 1, "the owner knows of their own response");
    let bodies: Vec<Value> =
        receiver.received().iter().map(|request| serde_json::from_str(&request.body).unwrap()).collect();
    assert_eq!(bodies.len(), 2);
    assert_eq!((&bodies[0]["type"], &bodies[0]["data"]["viewTitle"]), (&json!("form.submitted"), &json!("Check")));
    assert!(bodies.iter().all(|body| !body.to_string().contains("Secret")), "{bodies:?}");
    let mails = smtp.mails();
    assert_eq!(mails.len(), 1);
    // Long lines are folded, and the length of the slug says where.
    let mail = format!("{:?}", mails[0]).replace(r"=\r\n", "");
    assert!(mail.contains("Subject: A form was answered") && mail.contains("/responses"), "{mail}");
    assert!(!mail.contains("Secret"), "{mail}");
    f.done().await;
}

async fn many_responses_in_a_short_time_send_one_e_mail(f: Fixture) {
    let smtp = SmtpReceiver::start().await;
    let worker = worker(&f, &smtp);
    email::set_wanted(&f.ledger, &f.operator, true).await.unwrap();
    let (view, other) = (form(&f, config(true)).await, form(&f, config(true)).await);
    for number in 0..20 {
        submit(&f, &f.member, view, &format!("first-{number}")).await;
    }
    assert_eq!(worker.drain().await.unwrap(), 0, "the window is open");
    window_ends(&f);
    assert_eq!(worker.drain().await.unwrap(), 1);
    submit(&f, &f.member, view, "later").await;
    submit(&f, &f.member, other, "other").await;
    window_ends(&f);
    assert_eq!(worker.drain().await.unwrap(), 2, "a later response is reported, and each form for itself");
    assert_eq!(smtp.mails().len(), 3);
    f.done().await;
}

async fn a_form_without_notifications_and_an_owner_without_e_mail_get_none(f: Fixture) {
    let (receiver, smtp) = (Receiver::start().await, SmtpReceiver::start().await);
    let worker = worker(&f, &smtp);
    subscribed(&f, receiver.url(), &[Topic::FormSubmitted.as_str()]).await;
    let quiet = form(&f, config(false)).await;
    submit(&f, &f.member, quiet, "one").await;
    assert_eq!(worker.drain().await.unwrap(), 0);
    let loud = form(&f, config(true)).await;
    submit(&f, &f.member, loud, "one").await;
    window_ends(&f);
    assert_eq!(worker.drain().await.unwrap(), 1, "the webhook alone");
    assert!(smtp.mails().is_empty());
    f.done().await;
}

/// On PostgreSQL the narrowed transaction reads the form's owner and the webhooks, and writes to the outbox.
async fn a_response_of_a_person_without_an_account_notifies_too(f: Fixture) {
    let (receiver, smtp) = (Receiver::start().await, SmtpReceiver::start().await);
    let worker = worker(&f, &smtp);
    subscribed(&f, receiver.url(), &[Topic::FormSubmitted.as_str()]).await;
    email::set_wanted(&f.ledger, &f.operator, true).await.unwrap();
    for gate in [Gate::None, Gate::Lead] {
        let view = form(&f, Publication { gate, ..config(true) }).await;
        let (_, secret) = view_link::create(&f.ledger, &f.operator, view, 30).await.unwrap();
        let who = stranger(&f, &secret).await;
        let save = DraftSave { answers: answers(json!({ "name": "Secret" })), ..DraftSave::default() };
        response::save_draft(&f.ledger, &who, view, save).await.unwrap();
        assert_eq!(worker.drain().await.unwrap(), 0, "{gate}: a draft is reported to no one");
        response::submit(&f.ledger, &who, view, submission("one", json!({ "name": "Secret" }))).await.unwrap();
        assert_eq!(worker.drain().await.unwrap(), 1, "{gate}: a message to the webhook at once");
        window_ends(&f);
        assert_eq!(worker.drain().await.unwrap(), 1, "{gate}: an e-mail to the owner");
    }
    let bodies: Vec<Value> =
        receiver.received().iter().map(|request| serde_json::from_str(&request.body).unwrap()).collect();
    let kinds: Vec<_> = bodies.iter().map(|body| &body["data"]["respondentKind"]).collect();
    assert_eq!(kinds, [&json!("browser"), &json!("lead")]);
    assert!(bodies.iter().all(|body| !body.to_string().contains("Secret")), "{bodies:?}");
    assert_eq!(smtp.mails().len(), 2);
    f.done().await;
}
