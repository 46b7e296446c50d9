//! Webhooks and the outbox: committed changes are delivered at least once, signed, and never to internal
//! addresses.

use crate::{at_once::one_is_over_the_limit, graph};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use chrono::TimeDelta;
use domain::session::Session;
use hmac::{Hmac, KeyInit as _, Mac as _};
use ledger::{
    Error, Mode, WebhookRecord, action, human,
    outbox::{DeliverySlots, Outcome, claim, record_outcome},
    session::{self, Failure, NewSession},
    webhook::{self, NewWebhook},
};
use outbound::{Client, Policy};
use runner::outbox::OutboxWorker;
use serde_json::Value;
use testkit::{
    Fixture, on_both_engines,
    receiver::{Received, Receiver},
};

on_both_engines!(
    a_failure_is_delivered_signed_and_once,
    events_without_a_subscription_are_not_delivered,
    a_receiver_that_is_down_is_tried_again_until_it_answers,
    a_message_is_given_up_after_its_last_try_and_says_why,
    an_answer_with_control_characters_is_noted_without_them,
    a_message_whose_outcome_is_never_noted_is_given_up,
    a_receiver_that_is_gone_is_disabled,
    a_receiver_may_ask_for_more_time,
    a_message_outlives_a_restart,
    a_claimed_message_comes_back_when_its_server_dies_and_the_late_outcome_changes_nothing,
    two_servers_never_take_the_same_message,
    an_internal_address_is_refused_when_a_webhook_is_created_and_at_delivery,
    only_admins_of_the_workspace_have_webhooks,
    a_test_message_is_delivered_like_other_messages,
    old_messages_are_removed_and_waiting_ones_are_not,
    a_refused_change_delivers_nothing,
    a_silent_receiver_does_not_delay_others,
    a_workspace_with_many_messages_does_not_delay_the_others,
    every_end_of_a_session_is_delivered,
);

/// Permits receivers on this machine.
fn policy() -> Policy {
    Policy::opening(&["127.0.0.1"]).unwrap()
}

pub(crate) fn outbox_worker(f: &Fixture) -> OutboxWorker {
    OutboxWorker {
        ledger: f.ledger.clone(),
        http: Client::new(policy()).unwrap(),
        mail: None,
        public_origin: Some("https://log.example.org".into()),
    }
}

pub async fn subscribed(f: &Fixture, url: String, events: &[&str]) -> (WebhookRecord, String) {
    let new = NewWebhook { url, events: events.iter().map(|e| (*e).to_owned()).collect() };
    webhook::create(&f.ledger, &f.admin, &policy(), new).await.unwrap()
}

/// Creates a session and fails it.
async fn failed(f: &Fixture) -> Session {
    let running = f.running().await;
    let failure = Failure {
        attempt: running.attempt,
        message: "the secret cause".into(),
        code: Some("boom".into()),
        usage: None,
    };
    session::fail(&f.ledger, &f.worker, running.id, failure).await.unwrap()
}

fn is_signed(received: &Received, secret: &str) -> bool {
    let secret = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&secret).unwrap();
    mac.update(received.header("webhook-id").as_bytes());
    mac.update(format!(".{}.{}", received.header("webhook-timestamp"), received.body).as_bytes());
    let signature = received.header("webhook-signature").strip_prefix("v1,").unwrap();
    mac.verify_slice(&STANDARD.decode(signature).unwrap()).is_ok()
}

async fn a_failure_is_delivered_signed_and_once(f: Fixture) {
    let receiver = Receiver::start().await;
    let (made, secret) =
        subscribed(&f, receiver.url(), &["session.failed", "approval.requested", "session.failed"]).await;
    let (_, other) = subscribed(&f, receiver.url(), &["approval.requested"]).await;
    assert_ne!(secret, other, "every webhook has a secret of its own");
    let session = failed(&f).await;
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1);
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 0);
    let received = receiver.received();
    assert_eq!(received.len(), 1);
    assert!(is_signed(&received[0], &secret) && !is_signed(&received[0], &other));
    let changed = Received { body: received[0].body.replace("boom", "bang"), ..received[0].clone() };
    assert!(!is_signed(&changed, &secret));
    let body: Value = serde_json::from_str(&received[0].body).unwrap();
    assert_eq!(body["type"], "session.failed");
    assert_eq!(body["data"]["sessionId"], session.id.to_string());
    assert_eq!(body["data"]["errorCode"], "boom");
    assert_eq!(body["data"]["url"], format!("https://log.example.org/sessions/{}", session.id));
    assert!(!received[0].body.contains("the secret cause"), "messages say what it is about, not what it says");
    assert_eq!(received[0].header("content-type"), "application/json");
    let deliveries = webhook::deliveries(&f.ledger, &f.admin, made.id).await.unwrap();
    assert_eq!(deliveries.len(), 1);
    assert_eq!(deliveries[0].id.to_string(), received[0].header("webhook-id"));
    assert!(deliveries[0].delivered_at.is_some() && deliveries[0].last_error.is_none());
    f.done().await;
}

async fn events_without_a_subscription_are_not_delivered(f: Fixture) {
    let receiver = Receiver::start().await;
    subscribed(&f, receiver.url(), &["approval.decided"]).await;
    let (gone, _) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    failed(&f).await;
    webhook::delete(&f.ledger, &f.admin, gone.id).await.unwrap();
    failed(&f).await;
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1, "one message was on its way when its webhook was removed");
    assert!(receiver.received().is_empty());
    f.done().await;
}

async fn a_receiver_that_is_down_is_tried_again_until_it_answers(f: Fixture) {
    let receiver = Receiver::start().await;
    let (made, secret) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    let address = receiver.address;
    drop(receiver);
    failed(&f).await;
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1);
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 0, "not before its time");
    let waiting = webhook::deliveries(&f.ledger, &f.admin, made.id).await.unwrap().remove(0);
    assert!(waiting.last_error.as_deref().unwrap().starts_with("no answer: "), "{:?}", waiting.last_error);
    assert!((waiting.delivered_at, waiting.dead_at, waiting.attempts) == (None, None, 1));
    let receiver = Receiver::at(address).await;
    receiver.answer_next("500 Oh");
    receiver.answer_next("302 Found\r\nlocation: http://127.0.0.1:1/");
    for expected in ["the receiver answered 500", "the receiver answered 302"] {
        f.clock.advance(TimeDelta::minutes(5));
        assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1);
        let waiting = webhook::deliveries(&f.ledger, &f.admin, made.id).await.unwrap().remove(0);
        assert_eq!(waiting.last_error.as_deref(), Some(expected));
    }
    f.clock.advance(TimeDelta::minutes(5));
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1);
    let received = receiver.received();
    assert_eq!(received.len(), 3);
    assert!(received.iter().all(|r| r.header("webhook-id") == waiting.id.to_string() && is_signed(r, &secret)));
    assert_ne!(received[0].header("webhook-timestamp"), received[2].header("webhook-timestamp"));
    let arrived = webhook::deliveries(&f.ledger, &f.admin, made.id).await.unwrap().remove(0);
    assert!(arrived.delivered_at.is_some() && arrived.last_error.is_none() && arrived.attempts == 4);
    f.done().await;
}

async fn a_message_is_given_up_after_its_last_try_and_says_why(f: Fixture) {
    let receiver = Receiver::start().await;
    let (made, _) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    failed(&f).await;
    let mut tries = 0;
    for _ in 0..30 {
        receiver.answer_next("503 Later");
        tries += outbox_worker(&f).drain().await.unwrap();
        f.clock.advance(TimeDelta::hours(8));
    }
    assert_eq!(tries, domain::limit::DELIVERY_ATTEMPTS_MAX as usize);
    let dead = webhook::deliveries(&f.ledger, &f.admin, made.id).await.unwrap().remove(0);
    assert!(dead.dead_at.is_some() && dead.delivered_at.is_none());
    assert_eq!(dead.last_error.as_deref(), Some("the receiver answered 503"));
    assert_eq!(f.ledger.counted().messages_given_up, 1);
    f.done().await;
}

async fn an_answer_with_control_characters_is_noted_without_them(f: Fixture) {
    let receiver = Receiver::start().await;
    let (made, _) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    let answer = |status: &str| format!("{status}\r\ncontent-length: 7\r\nconnection: close\r\n\r\na\0b\u{1b}[1m");
    failed(&f).await;
    let mut tries = 0;
    for _ in 0..30 {
        if tries < domain::limit::DELIVERY_ATTEMPTS_MAX as usize {
            receiver.answer_next(&answer("500 Oh"));
        }
        tries += outbox_worker(&f).drain().await.unwrap();
        f.clock.advance(TimeDelta::hours(8));
    }
    assert_eq!(tries, domain::limit::DELIVERY_ATTEMPTS_MAX as usize);
    let dead = webhook::deliveries(&f.ledger, &f.admin, made.id).await.unwrap().remove(0);
    assert!(dead.dead_at.is_some() && dead.delivered_at.is_none());
    assert_eq!(dead.last_error.as_deref(), Some("the receiver answered 500 a b [1m"));

    receiver.answer_next(&answer("410 Gone"));
    failed(&f).await;
    outbox_worker(&f).drain().await.unwrap();
    let listed = webhook::list(&f.ledger, &f.admin).await.unwrap().remove(0);
    assert_eq!(listed.disabled_reason.as_deref(), Some("the receiver answered 410 a b [1m"));
    f.done().await;
}

async fn a_message_whose_outcome_is_never_noted_is_given_up(f: Fixture) {
    let receiver = Receiver::start().await;
    let (made, _) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    failed(&f).await;
    let mut taken = 0;
    for _ in 0..30 {
        taken += claim(&f.ledger, TimeDelta::seconds(60), 10, &mut DeliverySlots::default()).await.unwrap().len();
        f.clock.advance(TimeDelta::minutes(2));
    }
    assert_eq!(taken, domain::limit::DELIVERY_ATTEMPTS_MAX as usize);
    let dead = webhook::deliveries(&f.ledger, &f.admin, made.id).await.unwrap().remove(0);
    assert!(dead.dead_at.is_some() && dead.last_error.unwrap().contains("could not be noted"));
    assert_eq!(f.ledger.counted().messages_given_up, 1);
    f.done().await;
}

async fn a_receiver_that_is_gone_is_disabled(f: Fixture) {
    let receiver = Receiver::start().await;
    let (made, _) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    receiver.answer_next("410 Gone");
    failed(&f).await;
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1);
    let listed = webhook::list(&f.ledger, &f.admin).await.unwrap().remove(0);
    assert_eq!(listed.disabled_reason.as_deref(), Some("the receiver answered 410"));
    assert!(listed.disabled_at.is_some());
    failed(&f).await;
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 0);
    assert_eq!(receiver.received().len(), 1);
    let refused = webhook::test(&f.ledger, &f.admin, made.id).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    f.done().await;
}

async fn a_receiver_may_ask_for_more_time(f: Fixture) {
    let receiver = Receiver::start().await;
    subscribed(&f, receiver.url(), &["session.failed"]).await;
    receiver.answer_next("429 Slow\r\nretry-after: 600");
    failed(&f).await;
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1);
    f.clock.advance(TimeDelta::seconds(599));
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 0);
    f.clock.advance(TimeDelta::seconds(2));
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1);
    assert_eq!(receiver.received().len(), 2);
    f.done().await;
}

async fn a_message_outlives_a_restart(mut f: Fixture) {
    let receiver = Receiver::start().await;
    let (_, secret) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    failed(&f).await;
    f.restart().await;
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1);
    assert!(is_signed(&receiver.received()[0], &secret));
    f.done().await;
}

async fn a_claimed_message_comes_back_when_its_server_dies_and_the_late_outcome_changes_nothing(f: Fixture) {
    let receiver = Receiver::start().await;
    let (made, _) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    failed(&f).await;
    let lost =
        claim(&f.ledger, TimeDelta::seconds(60), 10, &mut DeliverySlots::default()).await.unwrap().remove(0).message;
    assert!(claim(&f.ledger, TimeDelta::seconds(60), 10, &mut DeliverySlots::default()).await.unwrap().is_empty());
    f.clock.advance(TimeDelta::seconds(60));
    let again =
        claim(&f.ledger, TimeDelta::seconds(60), 10, &mut DeliverySlots::default()).await.unwrap().remove(0).message;
    assert_eq!((again.id, again.attempts), (lost.id, lost.attempts + 1));
    record_outcome(&f.ledger, lost, Outcome::Refused { error: "late".into() }).await.unwrap();
    let waiting = webhook::deliveries(&f.ledger, &f.admin, made.id).await.unwrap().remove(0);
    assert_eq!((waiting.dead_at, waiting.last_error), (None, None));
    record_outcome(&f.ledger, again, Outcome::Delivered).await.unwrap();
    let arrived = webhook::deliveries(&f.ledger, &f.admin, made.id).await.unwrap().remove(0);
    assert!(arrived.delivered_at.is_some());
    f.done().await;
}

async fn two_servers_never_take_the_same_message(f: Fixture) {
    let receiver = Receiver::start().await;
    subscribed(&f, receiver.url(), &["session.failed"]).await;
    for _ in 0..40 {
        failed(&f).await;
    }
    let mode = if f.engine.file().is_some() { Mode::Tool } else { Mode::Server };
    let other = f.second_ledger(mode).await;
    let lease = TimeDelta::seconds(60);
    let mut taken = Vec::new();
    loop {
        let (mut slots, mut other_slots) = (DeliverySlots::default(), DeliverySlots::default());
        let (one, two) =
            tokio::join!(claim(&f.ledger, lease, 3, &mut slots), claim(&other, lease, 3, &mut other_slots));
        let both: Vec<_> = one.unwrap().into_iter().chain(two.unwrap()).map(|outgoing| outgoing.message.id).collect();
        if both.is_empty() {
            break;
        }
        taken.extend(both);
    }
    let count = taken.len();
    taken.sort_unstable();
    taken.dedup();
    assert_eq!((taken.len(), count), (40, 40));
    other.close().await;
    f.done().await;
}

async fn an_internal_address_is_refused_when_a_webhook_is_created_and_at_delivery(f: Fixture) {
    let receiver = Receiver::start().await;
    let shut = Policy::default();
    for url in
        [receiver.url(), "http://169.254.169.254/".into(), "ftp://example.org/".into(), "x".into(), String::new()]
    {
        let new = NewWebhook { url, events: vec!["session.failed".into()] };
        let refused = webhook::create(&f.ledger, &f.admin, &shut, new).await;
        assert!(matches!(&refused, Err(Error::Invalid(fields)) if fields[0].field == "url"), "{:?}", refused.err());
    }
    let new = NewWebhook { url: receiver.url(), events: vec!["session.failed".into(), "webhook.test".into()] };
    let refused = webhook::create(&f.ledger, &f.admin, &policy(), new).await;
    assert!(matches!(&refused, Err(Error::Invalid(fields)) if fields[0].field == "events[1]"), "{:?}", refused.err());
    // The operator forbids addresses that were permitted when the webhook was created.
    let (made, _) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    failed(&f).await;
    let strict = OutboxWorker { http: Client::new(shut).unwrap(), ..outbox_worker(&f) };
    assert_eq!(strict.drain().await.unwrap(), 1);
    assert!(receiver.received().is_empty());
    let dead = webhook::deliveries(&f.ledger, &f.admin, made.id).await.unwrap().remove(0);
    assert_eq!(dead.last_error.as_deref(), Some("127.0.0.1 leads to 127.0.0.1: this machine itself"));
    assert!(dead.dead_at.is_some());
    f.done().await;
}

async fn only_admins_of_the_workspace_have_webhooks(f: Fixture) {
    let receiver = Receiver::start().await;
    let (made, _) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    for scope in [&f.operator, &f.member, &f.worker] {
        let new = NewWebhook { url: receiver.url(), events: vec!["session.failed".into()] };
        let created = webhook::create(&f.ledger, scope, &policy(), new).await.map(|_| ());
        for refused in [
            created,
            webhook::list(&f.ledger, scope).await.map(|_| ()),
            webhook::deliveries(&f.ledger, scope, made.id).await.map(|_| ()),
            webhook::test(&f.ledger, scope, made.id).await.map(|_| ()),
            webhook::delete(&f.ledger, scope, made.id).await,
        ] {
            assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
        }
    }
    assert!(webhook::list(&f.ledger, &f.stranger).await.unwrap().is_empty());
    for refused in [
        webhook::deliveries(&f.ledger, &f.stranger, made.id).await.map(|_| ()),
        webhook::test(&f.ledger, &f.stranger, made.id).await.map(|_| ()),
        webhook::delete(&f.ledger, &f.stranger, made.id).await,
    ] {
        assert!(matches!(refused, Err(Error::NotFound("webhook"))), "{refused:?}");
    }
    for _ in 2..domain::limit::WEBHOOKS_MAX {
        subscribed(&f, receiver.url(), &["session.failed"]).await;
    }
    let (policy, new) = (policy(), NewWebhook { url: receiver.url(), events: vec!["session.failed".into()] });
    let [one, other] = [new.clone(), new].map(|new| webhook::create(&f.ledger, &f.admin, &policy, new));
    let (one, other) = tokio::join!(one, other);
    one_is_over_the_limit(one, other);
    f.done().await;
}

async fn a_test_message_is_delivered_like_other_messages(f: Fixture) {
    let receiver = Receiver::start().await;
    let (made, secret) = subscribed(&f, receiver.url(), &["approval.decided"]).await;
    let sent = webhook::test(&f.ledger, &f.admin, made.id).await.unwrap();
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1);
    let received = receiver.received().remove(0);
    assert!(is_signed(&received, &secret));
    assert_eq!(received.header("webhook-id"), sent.id.to_string());
    assert_eq!(serde_json::from_str::<Value>(&received.body).unwrap()["type"], "webhook.test");
    f.done().await;
}

async fn old_messages_are_removed_and_waiting_ones_are_not(f: Fixture) {
    let receiver = Receiver::start().await;
    let (made, _) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    failed(&f).await;
    outbox_worker(&f).drain().await.unwrap();
    f.clock.advance(TimeDelta::days(domain::limit::MESSAGES_KEPT_DAYS - 1));
    assert_eq!(ledger::outbox::prune(&f.ledger).await.unwrap(), 0);
    failed(&f).await;
    f.clock.advance(TimeDelta::days(60));
    assert_eq!(ledger::outbox::prune(&f.ledger).await.unwrap(), 1);
    let left = webhook::deliveries(&f.ledger, &f.admin, made.id).await.unwrap();
    assert!(left.len() == 1 && left[0].delivered_at.is_none());
    f.done().await;
}

async fn a_refused_change_delivers_nothing(f: Fixture) {
    let receiver = Receiver::start().await;
    subscribed(&f, receiver.url(), &["session.failed"]).await;
    let session = failed(&f).await;
    let failure = Failure { attempt: session.attempt, message: "again".into(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, session.id, failure.clone()).await.unwrap();
    let running = f.running().await;
    let stale = Failure { attempt: running.attempt + 1, ..failure };
    assert!(session::fail(&f.ledger, &f.worker, running.id, stale).await.is_err());
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1, "a repeat and a stale attempt are no news");
    f.done().await;
}

async fn a_silent_receiver_does_not_delay_others(f: Fixture) {
    let (silent, receiver) = (Receiver::silent().await, Receiver::start().await);
    let (stuck, _) = subscribed(&f, silent.url(), &["session.failed"]).await;
    for _ in 0..80 {
        webhook::test(&f.ledger, &f.admin, stuck.id).await.unwrap();
    }
    f.clock.advance(TimeDelta::seconds(1));
    let (prompt, _) = subscribed(&f, receiver.url(), &["session.failed"]).await;
    for _ in 0..30 {
        webhook::test(&f.ledger, &f.admin, prompt.id).await.unwrap();
    }
    let outbox_worker = outbox_worker(&f);
    let draining = outbox_worker.drain();
    tokio::select! {
        tried = draining => panic!("{tried:?} although a receiver is silent"),
        arrived = receiver.wait_for(30) => assert_eq!(arrived.len(), 30),
    }
    let at_once = domain::limit::DELIVERIES_TO_WEBHOOK as usize;
    assert_eq!(silent.received().len(), at_once, "a silent receiver holds its own places and no more");
    f.done().await;
}

async fn a_workspace_with_many_messages_does_not_delay_the_others(f: Fixture) {
    let receiver = Receiver::start().await;
    // The workspace with many messages also has the smaller id, so it comes first when only ids decide.
    let (mut first, mut second) = (&f.admin, &f.stranger);
    if first.tenant_id > second.tenant_id {
        (first, second) = (second, first);
    }
    let new = || NewWebhook { url: receiver.url(), events: vec!["session.failed".into()] };
    let (loud, _) = webhook::create(&f.ledger, first, &policy(), new()).await.unwrap();
    for _ in 0..200 {
        webhook::test(&f.ledger, first, loud.id).await.unwrap();
    }
    f.clock.advance(TimeDelta::seconds(1));
    let (quiet, _) = webhook::create(&f.ledger, second, &policy(), new()).await.unwrap();
    for _ in 0..10 {
        webhook::test(&f.ledger, second, quiet.id).await.unwrap();
    }
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 210);
    let quiet = quiet.id.to_string();
    let last = receiver.received().iter().rposition(|received| received.body.contains(&quiet)).unwrap();
    // If two workspaces take turns, ten messages of one are sent among the first twenty. The promise is twice that.
    assert!(last < 40, "the last of ten came as number {last} of 210");
    f.done().await;
}

async fn every_end_of_a_session_is_delivered(f: Fixture) {
    let receiver = Receiver::start().await;
    subscribed(&f, receiver.url(), &["session.ended"]).await;
    // A session that fails, one that depends on it, and one that depends on that.
    let running = f.running().await;
    let skipped = graph::after(&f, "two", &[running.id]).await;
    let skipped_too = graph::after(&f, "three", &[skipped.id]).await;
    graph::fail(&f, &running).await;
    // A cancelled session and its child.
    let parent = f.running().await;
    let new = NewSession { parent_id: Some(parent.id), ..graph::of_agent("child") };
    let child = session::create(&f.ledger, &f.worker, new).await.unwrap();
    session::cancel(&f.ledger, &f.operator, parent.id, None).await.unwrap();
    let done = f.running().await;
    graph::complete(&f, &done, &Value::Null).await;
    // A human session is not reported.
    let plan = action::NewAction { name: "A secret plan".into(), ..Default::default() };
    let plan = action::create(&f.ledger, &f.operator, plan).await.unwrap();
    let working = human::start(&f.ledger, &f.member, plan.id).await.unwrap();
    human::stop(&f.ledger, &f.member, working.session.id).await.unwrap();

    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 6);
    let mut delivered: Vec<_> = receiver
        .received()
        .iter()
        .map(|received| {
            let body: Value = serde_json::from_str(&received.body).unwrap();
            assert_eq!(body["type"], "session.ended");
            let text = |name: &str| body["data"][name].as_str().unwrap().to_owned();
            (text("sessionId"), text("status"), text("endReason"))
        })
        .collect();
    let expected =
        |session: &Session, status: &str, reason: &str| (session.id.to_string(), status.to_owned(), reason.to_owned());
    let mut ended = vec![
        expected(&running, "failed", "error"),
        expected(&skipped, "abandoned", "dependency_failed"),
        expected(&skipped_too, "abandoned", "dependency_failed"),
        expected(&parent, "abandoned", "cancelled"),
        expected(&child, "abandoned", "cancelled"),
        expected(&done, "completed", "done"),
    ];
    delivered.sort();
    ended.sort();
    assert_eq!(delivered, ended);
    f.done().await;
}
