//! Conversations: sessions that are idle between turns.

use crate::graph::after;
use domain::{
    id::{EventId, SessionId},
    limit::{ATTEMPTS_MAX, SUMMARY_QUOTE_CHARS_MAX, THREAD_MESSAGE_CHARS_MAX},
    session::{EndReason, Session, Status, Type, YieldTo},
    session_feedback::Surface,
};
use ledger::{
    Error, ListPage, action, human,
    session::{self, Claim, YieldRequest},
    thread::{self, Ending, Message, NewThread},
};
use std::time::Duration;
use testkit::{Fixture, on_both_engines, text};

on_both_engines!(
    a_conversation_is_idle_between_its_turns_and_ends_with_a_summary_of_its_log,
    a_message_is_recorded_once_and_refused_while_the_agent_works,
    an_interrupted_turn_is_taken_from_its_worker_and_the_next_message_begins_another,
    a_second_message_leaves_a_queued_conversation_its_place,
    lost_leases_are_counted_by_turn,
    ending_in_the_middle_of_a_turn_abandons_it_and_ending_again_changes_nothing,
    only_its_person_sends_messages_and_everyone_finds_their_own_conversations,
    an_incognito_conversation_has_no_name_and_no_context_of_its_person,
    what_cannot_be_a_conversation_is_refused_by_field,
    what_depends_on_a_conversation_goes_on_when_it_ends,
);

pub fn new(message: Option<&str>) -> NewThread {
    NewThread { agent: "scout".into(), message: message.map(str::to_owned), ..NewThread::default() }
}

pub const ENDING: Ending = Ending { feedback: None, source: Surface::ApiEnd, summary: true };

fn say(text: &str) -> Message {
    Message { text: text.into(), id: None }
}

/// Runs a turn as the scout: claims it, appends this reply, and yields with idle.
pub async fn turn(f: &Fixture, reply: &str) -> Session {
    let session = f.claim(1, 60).await.pop().expect("a turn is queued");
    f.append(session.id, session.attempt, vec![text(reply)]).await.unwrap();
    let yield_request =
        YieldRequest { usage: Some(r#"{"steps":1}"#.into()), ..YieldRequest::at(session.attempt, YieldTo::Idle) };
    session::yield_to(&f.ledger, &f.worker, session.id, yield_request).await.unwrap()
}

/// A conversation of the member after its first turn.
pub async fn rested(f: &Fixture) -> Session {
    thread::start(&f.ledger, &f.member, new(Some("What is the stage of Acme?"))).await.unwrap();
    turn(f, "It is Lead.").await
}

async fn what_depends_on_a_conversation_goes_on_when_it_ends(f: Fixture) {
    let talk = rested(&f).await;
    let waits = after(&f, "writer", &[talk.id]).await;
    assert_eq!(waits.status(), Status::Draft);
    thread::end(&f.ledger, &f.member, talk.id, ENDING).await.unwrap();
    // The change is immediate: no sweep has run.
    let now = session::get(&f.ledger, &f.operator, waits.id).await.unwrap();
    assert_eq!(now.status(), Status::Pending);
    f.done().await;
}

async fn a_conversation_is_idle_between_its_turns_and_ends_with_a_summary_of_its_log(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    let conversation = thread::start(l, m, new(None)).await.unwrap();
    assert_eq!((conversation.session.status(), conversation.turns), (Status::Draft, 0));
    assert_eq!(conversation.session.title, "Conversation with scout");
    assert!(f.claim(1, 60).await.is_empty(), "a draft is not claimed");
    let id = conversation.session.id;
    let receipt = thread::send_message(l, m, id, say("Hello\nthere")).await.unwrap();
    assert_eq!(
        (receipt.session.status(), receipt.turns, receipt.session.title.as_str()),
        (Status::Pending, 1, "Hello")
    );
    let rests = turn(&f, "Hello to you.").await;
    assert_eq!((rests.status(), rests.usage.as_deref()), (Status::Idle, Some(r#"{"steps":1}"#)));
    let more = thread::send_message(l, m, id, say("And now?")).await.unwrap();
    assert_eq!((more.session.status(), more.turns, more.session.title.as_str()), (Status::Pending, 2, "Hello"));
    let long = "é".repeat(SUMMARY_QUOTE_CHARS_MAX + 9);
    turn(&f, &long).await;
    f.clock.advance(chrono::TimeDelta::seconds(90));
    let ended = thread::end(l, m, id, ENDING).await.unwrap();
    assert_eq!((ended.session.status(), ended.session.end_reason()), (Status::Completed, Some(EndReason::Done)));
    let summary = ended.summary.clone().unwrap();
    assert_eq!((summary.title.as_str(), summary.turns, summary.duration_ms), ("Hello", 2, 90_000));
    assert_eq!(summary.first_request.as_deref(), Some("Hello\nthere"));
    let quoted = summary.last_reply.clone().unwrap();
    assert_eq!((quoted.chars().count(), quoted.ends_with('…')), (SUMMARY_QUOTE_CHARS_MAX, true));
    let (read, turns) = thread::get(l, &f.operator, id).await.unwrap();
    assert_eq!((thread::Summary::of(&read), turns), (Some(summary), 2));
    let kinds: Vec<_> = f.log(id).await.into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "user.message").count(), 2);
    assert!(kinds.iter().all(|kind| !kind.contains("feedback")), "{kinds:?}");
    f.assert_verified().await;
    f.done().await;
}

async fn a_message_is_recorded_once_and_refused_while_the_agent_works(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    let id = thread::start(l, m, new(None)).await.unwrap().session.id;
    let message =
        Message { text: "One".into(), id: Some(EventId::new(f.ledger.now(), &testkit::SeededEntropy::new(5))) };
    let first = thread::send_message(l, m, id, message.clone()).await.unwrap();
    let again = thread::send_message(l, m, id, message.clone()).await.unwrap();
    assert_eq!((first.event_id, first.sequence, first.turns), (again.event_id, again.sequence, again.turns));
    let other = thread::send_message(l, m, id, Message { text: "Two".into(), ..message.clone() }).await;
    assert!(matches!(other, Err(Error::IdConflict { .. })), "{other:?}");
    // While the turn is queued, further messages are accepted.
    let more = thread::send_message(l, m, id, say("And this")).await.unwrap();
    assert_eq!((more.session.status(), more.turns), (Status::Pending, 2));
    let running = f.claim(1, 60).await.remove(0);
    let refused = thread::send_message(l, m, id, say("Too early")).await;
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    // A repeated message is not recorded again, in any status of the conversation.
    assert_eq!(thread::send_message(l, m, id, message.clone()).await.unwrap().sequence, first.sequence);
    session::yield_to(l, &f.worker, id, YieldRequest::at(running.attempt, YieldTo::Idle)).await.unwrap();
    thread::end(l, m, id, ENDING).await.unwrap();
    let late = thread::send_message(l, m, id, say("Too late")).await;
    assert!(matches!(late, Err(Error::Refused(_))), "{late:?}");
    assert_eq!(thread::send_message(l, m, id, message).await.unwrap().sequence, first.sequence);
    f.done().await;
}

async fn an_interrupted_turn_is_taken_from_its_worker_and_the_next_message_begins_another(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    let id = thread::start(l, m, new(Some("Count to a million"))).await.unwrap().session.id;
    let queued = thread::interrupt(l, m, id).await;
    assert!(matches!(queued, Err(Error::Refused(_))), "{queued:?}");
    let running = f.claim(1, 60).await.remove(0);
    assert_eq!(thread::interrupt(l, m, id).await.unwrap().status(), Status::Idle);
    assert_eq!(thread::interrupt(l, m, id).await.unwrap().status(), Status::Idle);
    let late = f.append(id, running.attempt, vec![text("1, 2")]).await;
    assert!(matches!(late, Err(Error::Refused(_))), "{late:?}");
    thread::send_message(l, m, id, say("Only to ten")).await.unwrap();
    let rests = turn(&f, "1 to 10").await;
    assert_eq!((rests.id, rests.attempt, rests.status()), (id, 2, Status::Idle));
    let stale = f.append(id, running.attempt, vec![text("3, 4")]).await;
    assert!(matches!(stale, Err(Error::Refused(_))), "{stale:?}");
    f.done().await;
}

async fn a_second_message_leaves_a_queued_conversation_its_place(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    let queued = thread::start(l, m, new(Some("What is the stage of Acme?"))).await.unwrap().session;
    f.clock.advance(chrono::TimeDelta::seconds(1));
    f.pending().await;
    f.clock.advance(chrono::TimeDelta::seconds(1));
    let more = thread::send_message(l, m, queued.id, say("And of Globex?")).await.unwrap().session;
    assert_eq!((more.status(), more.queued_at), (Status::Pending, queued.queued_at));
    assert_eq!(f.claim(1, 60).await[0].id, queued.id);
    f.done().await;
}

async fn lost_leases_are_counted_by_turn(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    let mut session = rested(&f).await;
    for round in 0..4 {
        session = thread::send_message(l, m, session.id, say("more")).await.unwrap().session;
        assert_eq!(session.attempts_max, session.attempt + ATTEMPTS_MAX);
        f.claim(1, 1).await;
        f.clock.advance(chrono::TimeDelta::seconds(5));
        assert_eq!(session::sweep(l).await.unwrap().requeued, 1, "round {round}");
        session = turn(&f, "here").await;
    }
    assert!(session.attempt > 2 * ATTEMPTS_MAX);
    f.done().await;
}

async fn ending_in_the_middle_of_a_turn_abandons_it_and_ending_again_changes_nothing(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    for running in [false, true] {
        let id = thread::start(l, m, new(Some("Begin"))).await.unwrap().session.id;
        if running {
            f.claim(1, 60).await;
        }
        let ended = thread::end(l, m, id, Ending { summary: false, ..ENDING }).await.unwrap();
        assert_eq!(
            (ended.session.status(), ended.session.end_reason()),
            (Status::Abandoned, Some(EndReason::Cancelled))
        );
        assert_eq!((ended.summary, ended.session.result()), (None, None));
        let again = thread::end(l, m, id, ENDING).await.unwrap();
        assert_eq!(again.session, ended.session);
    }
    let empty = thread::start(l, m, new(None)).await.unwrap().session.id;
    let ended = thread::end(l, m, empty, ENDING).await.unwrap();
    assert_eq!((ended.session.status(), ended.turns), (Status::Abandoned, 0));
    assert_eq!(ended.summary.unwrap().first_request, None);
    f.assert_verified().await;
    f.done().await;
}

async fn ids(f: &Fixture, who: &domain::Scope) -> Vec<SessionId> {
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = thread::list(&f.ledger, who, ListPage { limit: 2, cursor }).await.unwrap();
        found.extend(page.items.iter().map(|session| session.id));
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return found,
        }
    }
}

async fn only_its_person_sends_messages_and_everyone_finds_their_own_conversations(f: Fixture) {
    let l = &f.ledger;
    let mut own = Vec::new();
    for n in 0..5 {
        f.clock.advance(chrono::TimeDelta::seconds(1));
        own.insert(0, thread::start(l, &f.member, new(Some("Mine"))).await.unwrap().session.id);
        f.clock.advance(chrono::TimeDelta::seconds(1));
        if n == 2 {
            thread::start(l, &f.other_member, new(Some("Theirs"))).await.unwrap();
        }
    }
    assert_eq!(ids(&f, &f.member).await, own);
    assert_eq!(ids(&f, &f.other_member).await.len(), 1);
    assert!(ids(&f, &f.stranger).await.is_empty() && ids(&f, &f.operator).await.is_empty());
    // A conversation that a person's own token starts belongs to the person.
    let token = domain::Scope { on_behalf_of: f.member.user_id(), token_scope: None, ..f.worker };
    let by_token = thread::start(l, &token, new(None)).await.unwrap().session.id;
    assert!(ids(&f, &f.member).await.contains(&by_token));
    thread::send_message(l, &f.member, by_token, say("From the browser")).await.unwrap();
    let id = own[0];
    for (who, is_found) in [(&f.other_member, true), (&f.operator, true), (&f.stranger, false)] {
        let refused = |result: Result<(), Error>| match result {
            Err(Error::Forbidden(_)) => is_found,
            Err(Error::NotFound(_)) => !is_found,
            _ => false,
        };
        assert!(refused(thread::send_message(l, who, id, say("x")).await.map(drop)));
        assert!(refused(thread::end(l, who, id, ENDING).await.map(drop)));
        assert!(refused(thread::interrupt(l, who, id).await.map(drop)));
        assert_eq!(thread::get(l, who, id).await.is_ok(), is_found);
    }
    assert!(matches!(thread::start(l, &f.worker, new(None)).await, Err(Error::Forbidden(_))));
    // Other sessions are not conversations.
    let plain = f.pending().await;
    assert!(matches!(thread::get(l, &f.operator, plain.id).await, Err(Error::NotFound("thread"))));
    assert!(matches!(thread::send_message(l, &f.operator, plain.id, say("x")).await, Err(Error::NotFound("thread"))));
    f.done().await;
}

async fn an_incognito_conversation_has_no_name_and_no_context_of_its_person(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    let task = action::NewAction { name: "Tidy up".into(), ..Default::default() };
    let task = action::create(l, &f.operator, task).await.unwrap();
    human::start(l, m, task.id).await.unwrap();
    let start_and_claim = async |incognito| {
        let new = NewThread { incognito, ..new(Some("A secret")) };
        let session = thread::start(l, m, new).await.unwrap().session;
        let claim = Claim { agent_slugs: None, max: 1, lease_seconds: 60 };
        let mut claimed = session::claim(l, &f.worker, claim, Duration::ZERO).await.unwrap();
        (session, claimed.remove(0).context)
    };
    let (open, context) = start_and_claim(false).await;
    assert_eq!((open.user_id, open.title.as_str(), context.is_some()), (m.user_id(), "A secret", true));
    let (hidden, context) = start_and_claim(true).await;
    assert_eq!((hidden.user_id, hidden.title.as_str(), context), (None, "Conversation with scout", None));
    assert_eq!(hidden.metadata, r#"{"incognito":true}"#);
    assert!(ids(&f, m).await.contains(&hidden.id), "who began it finds it");
    thread::end(l, m, hidden.id, ENDING).await.unwrap();
    f.done().await;
}

async fn what_cannot_be_a_conversation_is_refused_by_field(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    let wrong = async |new: NewThread| match thread::start(l, m, new).await {
        Err(Error::Invalid(fields)) => fields.into_iter().map(|field| field.field).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let long = "x".repeat(THREAD_MESSAGE_CHARS_MAX + 1);
    let all = NewThread { agent: "No slug".into(), title: Some(String::new()), ..new(Some(" ")) };
    assert_eq!(wrong(all).await, ["title", "message", "agent"]);
    assert_eq!(wrong(new(Some(&long))).await, ["message"]);
    let overrides = NewThread { title: Some("paid\u{202e}".into()), ..new(Some("Hello")) };
    assert_eq!(wrong(overrides).await, ["title"]);
    let unowned = action::NewAction { name: "Nobody's".into(), ..Default::default() };
    let unowned = action::create(l, &f.operator, unowned).await.unwrap();
    assert_eq!(wrong(NewThread { agent: unowned.id.to_string(), ..new(None) }).await, ["agent"]);
    let owned = action::NewAction { name: "Scout's".into(), agent_slug: Some("scout".into()), ..Default::default() };
    let owned = action::create(l, &f.operator, owned).await.unwrap();
    let conversation =
        thread::start(l, m, NewThread { agent: owned.id.to_string(), ..new(None) }).await.unwrap().session;
    assert_eq!((conversation.action_id, conversation.agent_slug.as_deref()), (Some(owned.id), Some("scout")));
    assert_eq!((conversation.session_type, conversation.source.as_deref()), (Type::Agent, Some("thread")));
    let keyed = || NewThread { idempotency_key: Some("chat-1".into()), ..new(Some("Once")) };
    let first = thread::start(l, m, keyed()).await.unwrap();
    let again = thread::start(l, m, keyed()).await.unwrap();
    assert_eq!((first.session.id, first.turns), (again.session.id, again.turns));
    let other = thread::start(l, m, NewThread { message: None, ..keyed() }).await;
    assert!(matches!(other, Err(Error::IdConflict { .. })), "{other:?}");
    f.done().await;
}
