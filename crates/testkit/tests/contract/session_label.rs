//! Tags and assignees of sessions: what their log says, who may change them, what a search line finds, bulk changes,
//! and what an erasure leaves.

use crate::{
    email::mailing,
    graph::of_agent,
    verify::{completed, key},
    webhook::subscribed,
};
use chrono::TimeDelta;
use domain::{
    Scope,
    event::{Body, Event, kind::AssigneeChange},
    id::{SessionId, UserId},
    limit::{ASSIGNED_EMAIL_SECONDS, SESSION_TAGS_MAX},
    notification::Topic,
};
use ledger::{
    Error,
    bulk::{self, BulkChange, BulkRequest, BulkSelection},
    email, page, retention,
    search::SearchLine,
    session::{self, BulkOutcome, ListSessions, NewSession, Tagging},
};
use outbound::{Client, Policy};
use runner::outbox::OutboxWorker;
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines, receiver::Receiver, smtp::SmtpReceiver};

on_both_engines!(
    tags_and_assignee_change_in_every_status_and_a_repeat_writes_nothing,
    a_label_hides_no_event_in_a_row_of_a_list,
    only_whoever_manages_a_session_labels_it,
    a_search_line_finds_tags_and_assignees,
    each_of_several_sessions_is_labelled_once_and_the_change_can_be_taken_back,
    sessions_are_given_back_to_whom_each_was_assigned_before,
    an_assignee_gets_one_e_mail_for_many_sessions_and_webhooks_one_message_each,
    an_erasure_takes_tags_and_assignee_and_nothing_is_added_after_it,
);

fn texts(tags: &[&str]) -> Vec<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}

fn adding(tags: &[&str]) -> Tagging {
    Tagging { add: texts(tags), remove: Vec::new() }
}

fn user(scope: &Scope) -> UserId {
    scope.acting_user().unwrap()
}

/// A queued session of this person. Each is made a second after the one before, so that their order is known.
async fn queued(f: &Fixture, who: &Scope) -> SessionId {
    f.clock.advance(TimeDelta::seconds(1));
    session::create(&f.ledger, who, of_agent("scout")).await.unwrap().id
}

async fn found(f: &Fixture, who: &Scope, text: &str) -> Vec<SessionId> {
    let query = Some(SearchLine { text: text.to_owned(), timezone: None });
    let listed = session::list(&f.ledger, who, ListSessions { query, ..ListSessions::default() }).await.unwrap();
    listed.items.iter().map(|session| session.id).collect()
}

async fn tags_and_assignee_change_in_every_status_and_a_repeat_writes_nothing(f: Fixture) {
    let ended = completed(&f).await;
    let waiting = queued(&f, &f.operator).await;
    for id in [ended, waiting] {
        let before = session::get(&f.ledger, &f.operator, id).await.unwrap();
        for _ in 0..2 {
            let tagged = session::tag(&f.ledger, &f.operator, id, adding(&["urgent", "billing"])).await.unwrap();
            assert_eq!(tagged.tags, texts(&["billing", "urgent"]));
            assert_eq!((tagged.status(), tagged.attempt), (before.status(), before.attempt));
        }
        let swap = Tagging { add: texts(&["acme"]), remove: texts(&["urgent", "unknown"]) };
        session::tag(&f.ledger, &f.operator, id, swap).await.unwrap();
        for _ in 0..2 {
            session::assign(&f.ledger, &f.operator, id, Some(user(&f.member))).await.unwrap();
        }
        let read = session::get(&f.ledger, &f.member, id).await.unwrap();
        assert_eq!((read.tags, read.assignee), (texts(&["acme", "billing"]), Some(user(&f.member))));
        assert_eq!(read.head_sequence, before.head_sequence + 3, "a repeat wrote an event");
        let last = f.log(id).await.pop().unwrap();
        let change = AssigneeChange { from: None, to: Some(user(&f.member)) };
        assert_eq!(last.body(), Body::SessionAssigneeChange(change));
        assert_eq!(last.actor, f.operator.caller.to_string());
        let free = session::assign(&f.ledger, &f.operator, id, None).await.unwrap();
        assert_eq!(free.assignee, None);
    }
    f.assert_verified().await;
    f.done().await;
}

/// The event that the row of a list shows.
async fn event_in_row(f: &Fixture, id: SessionId) -> Event {
    let (rows, _) = page::sessions::by_ids(&f.ledger, &f.operator, vec![id], false).await.unwrap();
    rows.into_iter().next().unwrap().newest.unwrap()
}

async fn a_label_hides_no_event_in_a_row_of_a_list(f: Fixture) {
    let id = queued(&f, &f.operator).await;
    let before = event_in_row(&f, id).await;
    session::tag(&f.ledger, &f.operator, id, adding(&["urgent"])).await.unwrap();
    session::assign(&f.ledger, &f.operator, id, Some(user(&f.member))).await.unwrap();
    assert_eq!(event_in_row(&f, id).await.sequence, before.sequence);
    f.done().await;
}

async fn only_whoever_manages_a_session_labels_it(f: Fixture) {
    let mine = queued(&f, &f.member).await;
    let incognito = json!({ "incognito": true }).to_string();
    let hidden = NewSession { metadata: Some(incognito), ..of_agent("scout") };
    let hidden = session::create(&f.ledger, &f.member, hidden).await.unwrap().id;
    session::tag(&f.ledger, &f.member, mine, adding(&["own"])).await.unwrap();
    session::tag(&f.ledger, &f.member, hidden, adding(&["own"])).await.unwrap();
    let refused = session::tag(&f.ledger, &f.other_member, mine, adding(&["theirs"])).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let refused = session::assign(&f.ledger, &f.other_member, mine, Some(user(&f.member))).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    for (who, id) in [(&f.operator, hidden), (&f.stranger, mine)] {
        let refused = session::tag(&f.ledger, who, id, adding(&["theirs"])).await;
        assert!(matches!(refused, Err(Error::NotFound("session"))), "{refused:?}");
    }
    // Someone of another workspace is no member, and no one else could see an incognito conversation.
    for (id, to) in [(mine, user(&f.stranger)), (hidden, user(&f.operator))] {
        let refused = session::assign(&f.ledger, &f.member, id, Some(to)).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    for tagging in [adding(&["Two words"]), Tagging::default(), adding(&[&"x".repeat(41)])] {
        let refused = session::tag(&f.ledger, &f.member, mine, tagging).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    let many: Vec<String> = (1..SESSION_TAGS_MAX).map(|number| format!("t{number}")).collect();
    let all = Tagging { add: many, remove: Vec::new() };
    assert_eq!(session::tag(&f.ledger, &f.member, mine, all).await.unwrap().tags.len(), SESSION_TAGS_MAX);
    let refused = session::tag(&f.ledger, &f.member, mine, adding(&["one-more"])).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    f.assert_verified().await;
    f.done().await;
}

async fn a_search_line_finds_tags_and_assignees(f: Fixture) {
    let (a, b, c) = (queued(&f, &f.operator).await, queued(&f, &f.operator).await, queued(&f, &f.operator).await);
    session::tag(&f.ledger, &f.operator, a, adding(&["acme", "urgent"])).await.unwrap();
    session::tag(&f.ledger, &f.operator, b, adding(&["acme"])).await.unwrap();
    session::assign(&f.ledger, &f.operator, b, Some(user(&f.member))).await.unwrap();
    for (line, expected) in [
        ("tag:acme", vec![b, a]),
        ("tag:acme tag:urgent", vec![a]),
        ("tag:urgent,other", vec![a]),
        // A part of a tag is no tag.
        ("tag:acm", vec![]),
        ("-tag:urgent", vec![c, b]),
        ("tag:acme -tag:urgent", vec![b]),
        ("-tag:acme", vec![c]),
        ("-assignee:me", vec![c, a]),
        ("assignee:none", vec![c, a]),
        ("-assignee:none", vec![b]),
        ("assignee:me,None", vec![c, b, a]),
        ("assignee:me assignee:none", vec![]),
    ] {
        assert_eq!(found(&f, &f.member, line).await, expected, "{line}");
    }
    assert_eq!(found(&f, &f.member, "assignee:me").await, [b]);
    assert!(found(&f, &f.operator, "assignee:me").await.is_empty());
    assert!(found(&f, &f.stranger, "tag:acme").await.is_empty());
    let sorted = ListSessions {
        query: Some(SearchLine { text: "tag:acme".into(), timezone: None }),
        sort: domain::session::Sort::Activity,
        ..ListSessions::default()
    };
    assert_eq!(session::list(&f.ledger, &f.member, sorted).await.unwrap().items.len(), 2);
    f.done().await;
}

async fn each_of_several_sessions_is_labelled_once_and_the_change_can_be_taken_back(f: Fixture) {
    for count in [1, 2, 7, 40] {
        let mut ids = Vec::new();
        for _ in 0..count {
            ids.push(queued(&f, &f.operator).await);
        }
        let to = Some(user(&f.member));
        for (change, back) in [
            (BulkChange::Tag("acme".into()), BulkChange::Untag("acme".into())),
            (BulkChange::Assign(to), BulkChange::Assign(None)),
        ] {
            let mut seen = Vec::new();
            for (change, preview) in [(&change, true), (&change, false), (&change, false), (&back, false)] {
                let (change, selection) = (change.clone(), BulkSelection::Chosen(ids.clone()));
                let result =
                    bulk::run(&f.ledger, &f.operator, BulkRequest { change, selection, preview }).await.unwrap();
                assert!(result.sessions.windows(2).all(|pair| pair[0].outcome == pair[1].outcome), "{result:?}");
                seen.push(result.sessions[0].outcome.clone());
            }
            let done = BulkOutcome::Done(None);
            assert_eq!(seen, [BulkOutcome::Ready, done.clone(), BulkOutcome::Already(None), done]);
        }
        for id in ids {
            let session = session::get(&f.ledger, &f.operator, id).await.unwrap();
            assert_eq!((session.tags.len(), session.assignee), (0, None));
        }
    }
    let wrong = [BulkChange::Tag("Two words".into()), BulkChange::Assign(Some(user(&f.stranger)))];
    let id = queued(&f, &f.operator).await;
    for change in wrong {
        let request = BulkRequest { change, selection: BulkSelection::Chosen(vec![id]), preview: true };
        let refused = bulk::run(&f.ledger, &f.operator, request).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    f.assert_verified().await;
    f.done().await;
}

async fn sessions_are_given_back_to_whom_each_was_assigned_before(f: Fixture) {
    let (ada, mia, otto) = (Some(user(&f.admin)), Some(user(&f.member)), Some(user(&f.operator)));
    let (a, b, c) = (queued(&f, &f.operator).await, queued(&f, &f.operator).await, queued(&f, &f.operator).await);
    session::assign(&f.ledger, &f.operator, a, mia).await.unwrap();
    session::assign(&f.ledger, &f.operator, b, ada).await.unwrap();
    let run = async |change: BulkChange, preview: bool| {
        let selection = BulkSelection::Chosen(vec![a, b, c]);
        let result = bulk::run(&f.ledger, &f.operator, BulkRequest { change, selection, preview }).await.unwrap();
        result.sessions.into_iter().map(|session| session.outcome).collect::<Vec<_>>()
    };
    let assignees = async || {
        let mut all = Vec::new();
        for id in [a, b, c] {
            all.push(session::get(&f.ledger, &f.operator, id).await.unwrap().assignee);
        }
        all
    };
    run(BulkChange::Assign(otto), false).await;
    assert_eq!(assignees().await, [otto, otto, otto]);
    // One is assigned to someone else since, and stays there.
    session::assign(&f.ledger, &f.operator, b, mia).await.unwrap();
    let (ready, done, already) = (BulkOutcome::Ready, BulkOutcome::Done(None), BulkOutcome::Already(None));
    assert_eq!(run(BulkChange::AssignBack(otto), true).await, [ready.clone(), already.clone(), ready]);
    assert_eq!(assignees().await, [otto, mia, otto], "a preview changed it");
    assert_eq!(run(BulkChange::AssignBack(otto), false).await, [done.clone(), already.clone(), done]);
    assert_eq!(assignees().await, [mia, mia, None]);
    assert_eq!(run(BulkChange::AssignBack(otto), false).await, vec![already; 3], "a repeat");
    assert_eq!(assignees().await, [mia, mia, None]);
    f.assert_verified().await;
    f.done().await;
}

async fn an_assignee_gets_one_e_mail_for_many_sessions_and_webhooks_one_message_each(f: Fixture) {
    let (receiver, smtp) = (Receiver::start().await, SmtpReceiver::start().await);
    let http = Client::new(Policy::opening(&["127.0.0.1"]).unwrap()).unwrap();
    let worker = OutboxWorker { http, ..mailing(&f, &smtp) };
    subscribed(&f, receiver.url(), &[Topic::SessionAssigned.as_str()]).await;
    email::set_wanted(&f.ledger, &f.member, true).await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..7 {
        ids.push(queued(&f, &f.operator).await);
    }
    let selection = BulkSelection::Chosen(ids.clone());
    let request = BulkRequest { change: BulkChange::Assign(Some(user(&f.member))), selection, preview: false };
    for _ in 0..2 {
        bulk::run(&f.ledger, &f.operator, request.clone()).await.unwrap();
    }
    let window_ends = || f.clock.advance(TimeDelta::seconds(2 * ASSIGNED_EMAIL_SECONDS));
    window_ends();
    assert_eq!(worker.drain().await.unwrap(), 8, "7 messages and an e-mail");
    let first: Value = serde_json::from_str(&receiver.received()[0].body).unwrap();
    assert_eq!(first["type"], "session.assigned");
    assert_eq!(first["data"]["assigneeId"], json!(user(&f.member)));
    assert_eq!(first["data"]["assignedBy"], json!(f.operator.caller.to_string()));
    assert_eq!(smtp.mails().len(), 1);
    let mail = format!("{:?}", smtp.mails()[0]).replace(r"=\r\n", "");
    assert!(mail.contains("Subject: Sessions were assigned to you"), "{mail}");
    // No one is notified of what they do themselves, of what they did not ask for, or of what they lose.
    let own = queued(&f, &f.member).await;
    session::assign(&f.ledger, &f.member, own, Some(user(&f.member))).await.unwrap();
    session::assign(&f.ledger, &f.operator, ids[0], Some(user(&f.other_member))).await.unwrap();
    session::assign(&f.ledger, &f.operator, ids[1], None).await.unwrap();
    window_ends();
    assert_eq!(worker.drain().await.unwrap(), 2, "to the webhook alone");
    assert_eq!(smtp.mails().len(), 1);
    f.done().await;
}

async fn an_erasure_takes_tags_and_assignee_and_nothing_is_added_after_it(f: Fixture) {
    let id = completed(&f).await;
    session::tag(&f.ledger, &f.operator, id, adding(&["secret-name"])).await.unwrap();
    session::assign(&f.ledger, &f.operator, id, Some(user(&f.member))).await.unwrap();
    f.clock.advance(TimeDelta::days(40));
    let before = f.ledger.now() - TimeDelta::days(30);
    assert_eq!(retention::erase_by_operator(&f.ledger, &key(), before, |_| {}).await.unwrap().sessions, 1);
    let erased = session::get(&f.ledger, &f.operator, id).await.unwrap();
    assert_eq!((erased.tags.len(), erased.assignee), (0, None));
    let refused = session::tag(&f.ledger, &f.operator, id, adding(&["late"])).await;
    assert!(matches!(refused, Err(Error::NotNow(_))), "{refused:?}");
    let selection = BulkSelection::Chosen(vec![id]);
    let request = BulkRequest { change: BulkChange::Tag("late".into()), selection, preview: true };
    let planned = bulk::run(&f.ledger, &f.operator, request).await.unwrap();
    assert!(matches!(planned.sessions[0].outcome, BulkOutcome::Refused(_)), "{planned:?}");
    f.assert_verified().await;
    f.done().await;
}
