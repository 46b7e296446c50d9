//! Running the sessions of a cause again.

use crate::failure_cause::{failed, only};
use chrono::TimeDelta;
use domain::{
    Scope,
    failure::cause::Window,
    id::{CauseId, SessionId},
    limit::{BULK_CAUSES_MAX, RUN_AGAIN_MAX},
    session::{Status, Type},
};
use ledger::{
    Error, ListPage,
    action::{self, NewAction},
    failure::cause::{self, CausesAgain, ListCauses, RunAgain, When, WhichSessions},
    session::{self, BulkOutcome, BulkResult, BulkSession, Failure, NewSession},
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    selected_sessions_are_run_again_once_however_often_it_is_asked,
    the_sessions_of_a_time_range_are_run_again_batch_by_batch,
    what_cannot_be_run_again_says_why,
    wrong_selections_are_refused,
    the_failures_of_several_causes_are_planned_together_and_none_is_started,
);

async fn run(f: &Fixture, who: &Scope, id: CauseId, which: WhichSessions, preview: bool) -> BulkResult {
    cause::run_again(&f.ledger, who, id, RunAgain { which, preview }).await.unwrap()
}

fn week(limit: Option<u32>) -> WhichSessions {
    WhichSessions::Failed { when: When::window(Window::Week), limit }
}

fn started(result: &BulkResult) -> Vec<(SessionId, SessionId)> {
    let of = |session: &BulkSession| match session.outcome {
        BulkOutcome::Done(Some(new)) => Some((session.id, new)),
        _ => None,
    };
    result.sessions.iter().filter_map(of).collect()
}

async fn number_of_sessions(f: &Fixture) -> i64 {
    f.engine.raw().await.number("SELECT COUNT(*) FROM sessions").await
}

async fn selected_sessions_are_run_again_once_however_often_it_is_asked(f: Fixture) {
    let mut ids = Vec::new();
    for number in 0..3 {
        ids.push(failed(&f, &format!("broken {number}")).await);
        f.clock.advance(TimeDelta::seconds(1));
    }
    let id = only(&f).await.record.id;
    let chosen = || WhichSessions::Chosen(vec![ids[0], ids[2], ids[0]]);
    let before = number_of_sessions(&f).await;
    let preview = run(&f, &f.operator, id, chosen(), true).await;
    assert_eq!(preview.sessions.len(), 2, "a session is named once");
    assert_eq!(preview.count(|outcome| *outcome == BulkOutcome::Ready), 2);
    assert_eq!(number_of_sessions(&f).await, before, "a preview started something");
    let first = run(&f, &f.operator, id, chosen(), false).await;
    let new = started(&first);
    assert_eq!(new.iter().map(|(old, _)| *old).collect::<Vec<_>>(), [ids[0], ids[2]]);
    for (old, new) in &new {
        let session = session::get(&f.ledger, &f.member, *new).await.unwrap();
        assert_eq!((session.status(), session.retry_of), (Status::Pending, Some(*old)));
    }
    let second = run(&f, &f.admin, id, chosen(), false).await;
    let outcomes: Vec<_> = second.sessions.into_iter().map(|session| session.outcome).collect();
    assert_eq!(outcomes, [BulkOutcome::Already(Some(new[0].1)), BulkOutcome::Already(Some(new[1].1))]);
    assert_eq!(number_of_sessions(&f).await, before + 2);
    let listed = cause::sessions(&f.ledger, &f.member, id, ListPage::default()).await.unwrap().items;
    let retries: Vec<_> = listed.into_iter().rev().map(|caused| caused.retried_by).collect();
    assert_eq!(retries, [Some(new[0].1), None, Some(new[1].1)]);
    f.assert_verified().await;
    f.done().await;
}

async fn the_sessions_of_a_time_range_are_run_again_batch_by_batch(f: Fixture) {
    let mut ids = vec![failed(&f, "broken 0").await];
    f.clock.advance(TimeDelta::days(8));
    for number in 1..=5 {
        ids.push(failed(&f, &format!("broken {number}")).await);
        f.clock.advance(TimeDelta::seconds(1));
    }
    let id = only(&f).await.record.id;
    let preview = run(&f, &f.operator, id, week(Some(2)), true).await;
    assert_eq!((preview.sessions.len(), preview.has_more), (2, true));
    let mut seen = Vec::new();
    for (number, has_more) in [(2, true), (2, true), (1, false), (0, false)] {
        let result = run(&f, &f.operator, id, week(Some(2)), false).await;
        assert_eq!((started(&result).len(), result.has_more), (number, has_more));
        seen.extend(started(&result).into_iter().map(|(old, _)| old));
    }
    assert_eq!(seen, ids[1..], "the oldest of the range come first, and none before it");
    f.done().await;
}

async fn what_cannot_be_run_again_says_why(f: Fixture) {
    let new = NewAction {
        name: "Look".into(),
        slug: Some("look".into()),
        agent_slug: Some("scout".into()),
        ..NewAction::default()
    };
    let task = action::create(&f.ledger, &f.operator, new).await.unwrap();
    let new = NewSession { action_id: Some(task.id), ..NewSession::of_type(Type::Agent) };
    session::create(&f.ledger, &f.operator, new).await.unwrap();
    let running = f.claim(1, 3_600).await.pop().unwrap();
    let failure = Failure { attempt: 1, message: "broken 1".into(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, running.id, failure).await.unwrap();
    let other = failed(&f, "broken 2").await;
    let id = only(&f).await.record.id;
    let archived = "UPDATE actions SET status = 'archived'";
    f.engine.raw().await.execute(archived).await.unwrap();
    let result = run(&f, &f.operator, id, WhichSessions::Chosen(vec![running.id, other]), false).await;
    let refused = BulkOutcome::Refused("this task is archived, so it cannot be run".into());
    assert_eq!(result.sessions[0].outcome, refused);
    assert!(matches!(result.sessions[1].outcome, BulkOutcome::Done(Some(_))), "{result:?}");
    // A member may run their own sessions again, and these are the operator's.
    let third = failed(&f, "broken 3").await;
    let result = run(&f, &f.member, id, WhichSessions::Chosen(vec![third]), false).await;
    assert!(
        matches!(&result.sessions[0].outcome, BulkOutcome::Refused(why) if why.contains("operators")),
        "{result:?}"
    );
    f.done().await;
}

async fn wrong_selections_are_refused(f: Fixture) {
    failed(&f, "broken 1").await;
    let id = only(&f).await.record.id;
    let of_other_cause = failed(&f, "something else").await;
    let many = (0..=RUN_AGAIN_MAX as u128).map(|number| SessionId(uuid::Uuid::from_u128(number))).collect();
    for which in [
        WhichSessions::Chosen(Vec::new()),
        WhichSessions::Chosen(many),
        WhichSessions::Chosen(vec![of_other_cause]),
        week(Some(0)),
        week(Some(RUN_AGAIN_MAX as u32 + 1)),
    ] {
        for preview in [true, false] {
            let request = RunAgain { which: which.clone(), preview };
            let refused = cause::run_again(&f.ledger, &f.operator, id, request).await;
            assert!(matches!(refused, Err(Error::Invalid(_))), "{which:?}: {refused:?}");
        }
    }
    let stranger = cause::run_again(&f.ledger, &f.stranger, id, RunAgain { which: week(None), preview: true }).await;
    assert!(matches!(stranger, Err(Error::NotFound(_))), "{stranger:?}");
    f.done().await;
}

/// The sessions of each cause that would run again.
fn planned(plan: &CausesAgain) -> Vec<(CauseId, Vec<SessionId>)> {
    let ready = |result: &BulkResult| {
        let ready = result.sessions.iter().filter(|session| session.outcome == BulkOutcome::Ready);
        ready.map(|session| session.id).collect()
    };
    plan.causes.iter().map(|cause| (cause.id, ready(&cause.result))).collect()
}

async fn the_failures_of_several_causes_are_planned_together_and_none_is_started(f: Fixture) {
    let mut sessions = vec![failed(&f, "broken 0").await];
    f.clock.advance(TimeDelta::days(8));
    for message in ["broken 1", "broken 2", "the disk is full"] {
        sessions.push(failed(&f, message).await);
        f.clock.advance(TimeDelta::seconds(1));
    }
    let week = || When::window(Window::Week);
    let all = ListCauses { when: week(), state: None, line: None, limit: 0, cursor: None };
    let listed = cause::list(&f.ledger, &f.member, all).await.unwrap().causes.items;
    let [disk, broken] = [0, 1].map(|at: usize| listed[at].record.id);
    let missing = CauseId(uuid::Uuid::nil());
    let before = number_of_sessions(&f).await;
    let ids = vec![broken, disk, broken, missing];
    let plan = cause::plan_again(&f.ledger, &f.operator, ids.clone(), week()).await.unwrap();
    assert_eq!(planned(&plan), [(broken, sessions[1..3].to_vec()), (disk, vec![sessions[3]])], "those of the range");
    assert_eq!((plan.missing, plan.causes[0].message.as_str()), (1, "broken ‹number›"));
    assert!(plan.causes.iter().all(|cause| !cause.result.has_more), "{plan:?}");
    assert_eq!(number_of_sessions(&f).await, before, "a plan started something");
    run(&f, &f.operator, broken, WhichSessions::Chosen(vec![sessions[1]]), false).await;
    let plan = cause::plan_again(&f.ledger, &f.operator, ids.clone(), week()).await.unwrap();
    assert_eq!(planned(&plan)[0].1, [sessions[2]], "one was run again");
    let of_member = cause::plan_again(&f.ledger, &f.member, ids.clone(), week()).await.unwrap();
    assert!(planned(&of_member).iter().all(|(_, ready)| ready.is_empty()), "these are the operator's: {of_member:?}");
    let of_stranger = cause::plan_again(&f.ledger, &f.stranger, ids, week()).await.unwrap();
    assert_eq!((of_stranger.causes.len(), of_stranger.missing), (0, 3), "another workspace");
    let many = (0..=BULK_CAUSES_MAX as u128).map(|number| CauseId(uuid::Uuid::from_u128(number))).collect();
    for wrong in [Vec::new(), many] {
        let refused = cause::plan_again(&f.ledger, &f.operator, wrong, week()).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    f.done().await;
}
