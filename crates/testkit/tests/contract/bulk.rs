//! One verb for several sessions: what a preview says, what happens to each, repeats, and who may do it.

use crate::{failure_cause::failed, graph::of_agent};
use chrono::TimeDelta;
use domain::{
    Scope,
    id::SessionId,
    limit::BULK_SESSIONS_MAX,
    session::{Status, Type},
};
use ledger::{
    Error,
    bulk::{self, BulkChange, BulkRequest, BulkSelection},
    search::SearchLine,
    session::{self, BulkOutcome, BulkResult, Completion, ListSessions, NewSession},
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    each_verb_reaches_each_of_many_sessions_once_however_often_it_is_sent,
    each_session_is_refused_for_its_own_reason,
    only_failures_are_acknowledged_and_only_work_that_ended_runs_again,
    a_child_that_ends_with_its_parent_is_no_refusal,
    all_of_a_search_are_what_the_caller_finds,
    wrong_selections_are_refused_before_anything_happens,
);

async fn run(f: &Fixture, who: &Scope, change: BulkChange, selection: BulkSelection, preview: bool) -> BulkResult {
    bulk::run(&f.ledger, who, BulkRequest { change, selection, preview }).await.unwrap()
}

fn chosen(ids: &[SessionId]) -> BulkSelection {
    BulkSelection::Chosen(ids.to_vec())
}

fn outcomes(result: BulkResult) -> Vec<BulkOutcome> {
    result.sessions.into_iter().map(|session| session.outcome).collect()
}

fn line(text: &str) -> BulkSelection {
    let query = Some(SearchLine { text: text.to_owned(), timezone: None });
    // Limit and cursor are those of a page, and no part of the selection.
    let list = ListSessions { query, limit: 1, cursor: Some("no cursor".into()), ..ListSessions::default() };
    BulkSelection::Listed(Box::new(list))
}

/// A queued session of this person. Each is made a second after the one before, so that their order is known.
async fn queued(f: &Fixture, who: &Scope) -> SessionId {
    f.clock.advance(TimeDelta::seconds(1));
    session::create(&f.ledger, who, of_agent("scout")).await.unwrap().id
}

async fn status(f: &Fixture, who: &Scope, id: SessionId) -> Status {
    session::get(&f.ledger, who, id).await.unwrap().status()
}

async fn number_of_sessions(f: &Fixture) -> i64 {
    f.engine.raw().await.number("SELECT COUNT(*) FROM sessions").await
}

async fn each_verb_reaches_each_of_many_sessions_once_however_often_it_is_sent(f: Fixture) {
    for count in [1, 2, 7, 40] {
        let mut ids = Vec::new();
        for number in 0..count {
            f.clock.advance(TimeDelta::seconds(1));
            ids.push(failed(&f, &format!("broken {number}")).await);
        }
        // A session that is named twice is one.
        let twice = [ids.clone(), ids.clone()].concat();
        let before = number_of_sessions(&f).await;
        for change in [BulkChange::Acknowledge, BulkChange::RunAgain] {
            let preview = run(&f, &f.operator, change, chosen(&twice), true).await;
            assert_eq!(preview.sessions.iter().map(|session| session.id).collect::<Vec<_>>(), ids);
            assert_eq!(outcomes(preview), vec![BulkOutcome::Ready; count]);
        }
        assert_eq!(number_of_sessions(&f).await, before, "a preview started something");

        let seen = run(&f, &f.operator, BulkChange::Acknowledge, chosen(&twice), false).await;
        assert_eq!(outcomes(seen), vec![BulkOutcome::Done(None); count]);
        let repeat = run(&f, &f.admin, BulkChange::Acknowledge, chosen(&ids), false).await;
        assert_eq!(outcomes(repeat), vec![BulkOutcome::Already(None); count]);

        let ran = outcomes(run(&f, &f.operator, BulkChange::RunAgain, chosen(&twice), false).await);
        let new: Vec<SessionId> = ran
            .iter()
            .map(|outcome| match outcome {
                BulkOutcome::Done(Some(new)) => *new,
                other => panic!("{other:?}"),
            })
            .collect();
        let repeat = outcomes(run(&f, &f.admin, BulkChange::RunAgain, chosen(&ids), false).await);
        assert_eq!(repeat, new.iter().map(|new| BulkOutcome::Already(Some(*new))).collect::<Vec<_>>());
        assert_eq!(number_of_sessions(&f).await, before + i64::try_from(count).unwrap());

        // Cancelling the new sessions undoes it.
        assert_eq!(
            outcomes(run(&f, &f.operator, BulkChange::Cancel, chosen(&new), false).await),
            vec![BulkOutcome::Done(None); count]
        );
        let repeat = run(&f, &f.operator, BulkChange::Cancel, chosen(&new), false).await;
        assert_eq!(outcomes(repeat), vec![BulkOutcome::Already(None); count]);
        for id in &new {
            assert_eq!(status(&f, &f.operator, *id).await, Status::Abandoned);
        }
    }
    f.assert_verified().await;
    f.done().await;
}

fn is_refused(outcome: &BulkOutcome, reason: &str) -> bool {
    matches!(outcome, BulkOutcome::Refused(why) if why.contains(reason))
}

async fn each_session_is_refused_for_its_own_reason(f: Fixture) {
    let done = queued(&f, &f.member).await;
    f.claim(1, 3_600).await;
    let report = Completion { attempt: 1, result: None, usage: None };
    session::complete(&f.ledger, &f.worker, done, report).await.unwrap();
    let (mine, theirs, cancelled) =
        (queued(&f, &f.member).await, queued(&f, &f.operator).await, queued(&f, &f.member).await);
    session::cancel(&f.ledger, &f.member, cancelled, None).await.unwrap();
    let incognito = json!({ "incognito": true }).to_string();
    let hidden = NewSession { metadata: Some(incognito), ..of_agent("scout") };
    let hidden = session::create(&f.ledger, &f.other_member, hidden).await.unwrap().id;
    let foreign = session::create(&f.ledger, &f.stranger, of_agent("scout")).await.unwrap().id;
    let unknown = SessionId(uuid::Uuid::from_u128(7));
    let all = [mine, theirs, done, cancelled, hidden, foreign, unknown];
    let preview = run(&f, &f.member, BulkChange::Cancel, chosen(&all), true).await;
    let result = run(&f, &f.member, BulkChange::Cancel, chosen(&all), false).await;
    let titles: Vec<bool> = result.sessions.iter().map(|session| session.title.is_some()).collect();
    assert_eq!(titles, [true, true, true, true, false, false, false]);
    for (result, of_mine) in [(outcomes(preview), BulkOutcome::Ready), (outcomes(result), BulkOutcome::Done(None))] {
        assert_eq!((&result[0], &result[3]), (&of_mine, &BulkOutcome::Already(None)));
        assert!(is_refused(&result[1], "only operators and admins"), "{result:?}");
        assert!(is_refused(&result[2], "completed and final"), "{result:?}");
        for other in &result[4..] {
            assert_eq!(*other, BulkOutcome::Refused("session not found".into()), "nothing says that it exists");
        }
    }
    assert_eq!(status(&f, &f.member, mine).await, Status::Abandoned);
    assert_eq!(status(&f, &f.member, theirs).await, Status::Pending);
    assert_eq!(status(&f, &f.other_member, hidden).await, Status::Pending);
    assert_eq!(status(&f, &f.stranger, foreign).await, Status::Pending);
    // Operators cancel sessions of others, and no private ones.
    let result = outcomes(run(&f, &f.operator, BulkChange::Cancel, chosen(&[theirs, hidden]), false).await);
    assert_eq!(result, [BulkOutcome::Done(None), BulkOutcome::Refused("session not found".into())]);
    f.assert_verified().await;
    f.done().await;
}

async fn only_failures_are_acknowledged_and_only_work_that_ended_runs_again(f: Fixture) {
    let broken = failed(&f, "broken").await;
    let (mine, own) = (queued(&f, &f.operator).await, queued(&f, &f.member).await);
    let all = [broken, mine, own];
    let seen = outcomes(run(&f, &f.member, BulkChange::Acknowledge, chosen(&all), false).await);
    assert!(is_refused(&seen[0], "only operators") && is_refused(&seen[1], "only operators"), "{seen:?}");
    assert_eq!(seen[2], BulkOutcome::Refused("it has not failed".into()));
    let seen = outcomes(run(&f, &f.operator, BulkChange::Acknowledge, chosen(&all), false).await);
    assert_eq!(seen[0], BulkOutcome::Done(None));
    let ran = outcomes(run(&f, &f.operator, BulkChange::RunAgain, chosen(&all), false).await);
    assert!(matches!(ran[0], BulkOutcome::Done(Some(_))), "{ran:?}");
    assert_eq!(ran[1..], vec![BulkOutcome::Refused("it has not ended".into()); 2]);
    f.done().await;
}

async fn a_child_that_ends_with_its_parent_is_no_refusal(f: Fixture) {
    let parent = queued(&f, &f.operator).await;
    f.claim(1, 3_600).await;
    f.clock.advance(TimeDelta::seconds(1));
    let child = NewSession { parent_id: Some(parent), ..of_agent("part") };
    let child = session::create(&f.ledger, &f.worker, child).await.unwrap().id;
    let result = outcomes(run(&f, &f.operator, BulkChange::Cancel, chosen(&[child, parent]), false).await);
    assert_eq!(result, [BulkOutcome::Already(None), BulkOutcome::Done(None)], "the parent is cancelled first");
    assert_eq!(status(&f, &f.operator, child).await, Status::Abandoned);
    f.done().await;
}

async fn all_of_a_search_are_what_the_caller_finds(f: Fixture) {
    let mut ids = Vec::new();
    for _ in 0..40 {
        ids.push(queued(&f, &f.member).await);
    }
    let incognito = json!({ "incognito": true }).to_string();
    let hidden = NewSession { metadata: Some(incognito), ..of_agent("scout") };
    session::create(&f.ledger, &f.other_member, hidden).await.unwrap();
    session::create(&f.ledger, &f.member, of_agent("clerk")).await.unwrap();
    ids.reverse();
    for preview in [true, false] {
        let result = run(&f, &f.operator, BulkChange::Cancel, line("agent:scout status:pending"), preview).await;
        assert_eq!(result.sessions.iter().map(|session| session.id).collect::<Vec<_>>(), ids, "newest first");
        assert!(!result.has_more);
    }
    // What is done is found no more.
    let result = run(&f, &f.operator, BulkChange::Cancel, line("agent:scout status:pending"), false).await;
    assert_eq!((result.sessions.len(), result.has_more), (0, false));
    assert!(run(&f, &f.stranger, BulkChange::Cancel, line("agent:scout"), true).await.sessions.is_empty());
    let clerks = ListSessions { agent_slug: Some("clerk".into()), ..ListSessions::default() };
    let queue = session::list(&f.ledger, &f.operator, clerks).await.unwrap().items;
    assert_eq!((queue.len(), queue[0].status(), queue[0].session_type), (1, Status::Pending, Type::Agent));
    f.done().await;
}

async fn wrong_selections_are_refused_before_anything_happens(f: Fixture) {
    let id = queued(&f, &f.operator).await;
    let many: Vec<SessionId> =
        (0..=BULK_SESSIONS_MAX as u128).map(|number| SessionId(uuid::Uuid::from_u128(number))).collect();
    for selection in [chosen(&[]), BulkSelection::Chosen(many), line("colour:red"), line("by:unknown")] {
        for preview in [true, false] {
            let request = BulkRequest { change: BulkChange::Cancel, selection: selection.clone(), preview };
            let refused = bulk::run(&f.ledger, &f.operator, request).await;
            assert!(matches!(refused, Err(Error::Invalid(_))), "{selection:?}: {refused:?}");
        }
    }
    assert_eq!(status(&f, &f.operator, id).await, Status::Pending);
    f.done().await;
}
