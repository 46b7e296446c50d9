//! E-mail to people who want it, through a real SMTP receiver. A message has a link and does not contain the
//! staged values.

use chrono::TimeDelta;
use domain::{
    Clock as _, Scope,
    id::MessageId,
    notification::{DeliveryMethod, Topic},
};
use ledger::{email, page};
use outbound::{Client, Policy};
use runner::{
    mail::{MailSettings, MailTls, Mailer},
    outbox::OutboxWorker,
};
use serde_json::json;
use store::{Access, MessageRecord, Mode, Store};
use testkit::{Fixture, SeededEntropy, on_both_engines, smtp::SmtpReceiver};

on_both_engines!(
    a_person_who_wants_e_mail_gets_one_with_a_link,
    a_person_who_has_turned_e_mail_off_gets_none,
    an_e_mail_that_was_not_taken_is_sent_again_and_one_that_was_refused_is_not,
    only_people_have_a_choice,
);

/// Returns an outbox worker that sends e-mail through this receiver.
pub fn mailing(f: &Fixture, smtp: &SmtpReceiver) -> OutboxWorker {
    let settings = MailSettings {
        host: "127.0.0.1".into(),
        port: smtp.address.port(),
        tls: MailTls::None,
        from: "Shiftbook <log@example.org>".into(),
        credentials: None,
        public_origin: "https://log.example.org".into(),
    };
    OutboxWorker {
        ledger: f.ledger.clone(),
        http: Client::new(Policy::default()).unwrap(),
        mail: Some(Mailer::new(settings).unwrap()),
        public_origin: None,
    }
}

/// Writes the message to this person that a gate would write.
async fn waits_for(f: &Fixture, person: &Scope) -> MessageId {
    let now = f.clock.now();
    let payload = json!({
        "agentSlug": "scout", "actionName": "Größe prüfen", "staged": "SECRET", "title": "SECRET", "path": "/inbox/7",
    });
    let message = MessageRecord {
        tenant_id: person.tenant_id,
        id: MessageId::new(now, &SeededEntropy::new(now.timestamp().cast_unsigned())),
        method: DeliveryMethod::Email,
        target_id: person.user_id().unwrap().0,
        topic: Topic::ApprovalRequested,
        payload: payload.to_string(),
        created_at: now,
        due_at: now,
        attempts: 0,
        last_error: None,
        delivered_at: None,
        dead_at: None,
    };
    let id = message.id;
    let store = Store::open(&f.engine.database(), Mode::Tool).await.unwrap();
    let pushed =
        store.write::<_, store::Error, _>(Access::System, async move |tx| store::outbox::push(tx, &message).await);
    assert!(pushed.await.unwrap().endings.is_empty());
    store.close().await;
    id
}

async fn wants_email(f: &Fixture, who: &Scope) -> bool {
    page::settings::read(&f.ledger, who, "").await.unwrap().own.unwrap().wants_email
}

async fn a_person_who_wants_e_mail_gets_one_with_a_link(f: Fixture) {
    let smtp = SmtpReceiver::start().await;
    assert!(!wants_email(&f, &f.member).await, "nobody is written to who did not ask");
    email::set_wanted(&f.ledger, &f.member, true).await.unwrap();
    assert!(wants_email(&f, &f.member).await);
    assert!(!wants_email(&f, &f.other_member).await);
    let id = waits_for(&f, &f.member).await;
    assert_eq!(mailing(&f, &smtp).drain().await.unwrap(), 1);
    assert_eq!(mailing(&f, &smtp).drain().await.unwrap(), 0);
    let mail = smtp.mails().remove(0);
    assert_eq!(mail.to, "mia@acme.test");
    for part in [
        "From: Shiftbook <log@example.org>\r\n",
        "To: mia@acme.test\r\n",
        "Subject: Waiting for your decision: scout\r\n",
        &format!("Message-ID: <{id}@example.org>\r\n"),
        "https://log.example.org/inbox/7",
        "scout is waiting for a decision in acme.",
    ] {
        assert!(mail.text.contains(part), "{part} is not in {}", mail.text);
    }
    assert!(!mail.text.contains("SECRET"), "{}", mail.text);
    f.done().await;
}

async fn a_person_who_has_turned_e_mail_off_gets_none(f: Fixture) {
    let smtp = SmtpReceiver::start().await;
    email::set_wanted(&f.ledger, &f.member, true).await.unwrap();
    waits_for(&f, &f.member).await;
    email::set_wanted(&f.ledger, &f.member, false).await.unwrap();
    assert_eq!(mailing(&f, &smtp).drain().await.unwrap(), 1);
    f.clock.advance(TimeDelta::days(1));
    assert_eq!(mailing(&f, &smtp).drain().await.unwrap(), 0);
    assert!(smtp.mails().is_empty());
    f.done().await;
}

async fn an_e_mail_that_was_not_taken_is_sent_again_and_one_that_was_refused_is_not(f: Fixture) {
    let smtp = SmtpReceiver::start().await;
    email::set_wanted(&f.ledger, &f.member, true).await.unwrap();
    waits_for(&f, &f.member).await;
    smtp.refuse_next("450 try later");
    assert_eq!(mailing(&f, &smtp).drain().await.unwrap(), 1);
    f.clock.advance(TimeDelta::minutes(1));
    assert_eq!(mailing(&f, &smtp).drain().await.unwrap(), 1);
    assert_eq!(smtp.mails().len(), 1);
    waits_for(&f, &f.member).await;
    smtp.refuse_next("550 nobody here");
    assert_eq!(mailing(&f, &smtp).drain().await.unwrap(), 1);
    f.clock.advance(TimeDelta::days(1));
    assert_eq!(mailing(&f, &smtp).drain().await.unwrap(), 0);
    assert_eq!(smtp.mails().len(), 1);
    f.done().await;
}

async fn only_people_have_a_choice(f: Fixture) {
    assert!(matches!(email::set_wanted(&f.ledger, &f.worker, true).await, Err(ledger::Error::Forbidden(_))));
    assert!(page::settings::read(&f.ledger, &f.worker, "").await.unwrap().own.is_none());
    f.done().await;
}
