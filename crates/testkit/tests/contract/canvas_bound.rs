//! What bounds the participants of a canvas, and what the audit list says of them.

use crate::{
    audit::{Reading, detail},
    canvas::{commit, made, replace, sent},
};
use chrono::TimeDelta;
use domain::{
    audit::{Kind, TargetKind},
    canvas::{ParticipantRole, SuggestionState},
    limit::CANVAS_UNCOMMITTED_PER_MINUTE,
};
use ledger::{
    Error,
    canvas::{self, Decision, Outcome, SentPatch, SuggestionDecision},
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_participant_whose_patches_are_rejected_has_to_wait,
    a_participant_who_suggests_too_much_has_to_wait,
    participants_and_declined_suggestions_are_in_the_audit_list,
);

fn is_to_wait(outcome: &Result<Outcome, Error>, seconds: u64) -> bool {
    matches!(outcome, Err(Error::TooManyAttempts { retry_after_seconds }) if *retry_after_seconds == seconds)
}

async fn a_participant_whose_patches_are_rejected_has_to_wait(f: Fixture) {
    let id = made(&f, json!({ "a": 0 })).await;
    let operator = f.operator.caller.to_string();
    canvas::put_participant(&f.ledger, &f.member, id, &operator, ParticipantRole::Edit).await.unwrap();
    let first = commit(&f, &f.member, id, sent("m:1", 3, replace("/a", 1))).await;
    f.clock.advance(TimeDelta::seconds(2));
    let stale = || SentPatch { is_strict: true, ..sent("m:2", 3, replace("/a", 2)) };
    for _ in 0..CANVAS_UNCOMMITTED_PER_MINUTE {
        let outcome = canvas::patch(&f.ledger, &f.member, id, stale()).await.unwrap();
        assert!(matches!(outcome, Outcome::Rejected { .. }), "{outcome:?}");
    }
    f.clock.advance(TimeDelta::seconds(20));
    let newest = || sent("m:3", first.sequence, replace("/a", 3));
    let outcome = canvas::patch(&f.ledger, &f.member, id, newest()).await;
    assert!(is_to_wait(&outcome, 40), "{outcome:?}");
    let decided =
        canvas::decide_suggestion(&f.ledger, &f.member, id, SuggestionDecision::new("x", Decision::Accept)).await;
    assert!(is_to_wait(&decided, 40), "{decided:?}");
    // Others, and the same person on another canvas, do not wait.
    let other = canvas::patch(&f.ledger, &f.operator, id, stale()).await.unwrap();
    assert!(matches!(other, Outcome::Rejected { .. }), "{other:?}");
    let elsewhere = made(&f, json!({ "a": 0 })).await;
    commit(&f, &f.member, elsewhere, sent("m:1", 3, replace("/a", 1))).await;
    f.clock.advance(TimeDelta::seconds(40));
    commit(&f, &f.member, id, newest()).await;
    f.assert_verified().await;
    f.done().await;
}

async fn a_participant_who_suggests_too_much_has_to_wait(f: Fixture) {
    let id = made(&f, json!({ "a": 0 })).await;
    let worker = f.worker.caller.to_string();
    canvas::put_participant(&f.ledger, &f.member, id, &worker, ParticipantRole::Suggest).await.unwrap();
    let suggest = |n: u32| canvas::patch(&f.ledger, &f.worker, id, sent(&format!("w:{n}"), 3, replace("/a", n)));
    for n in 0..CANVAS_UNCOMMITTED_PER_MINUTE {
        assert_eq!(suggest(n).await.unwrap(), Outcome::Suggested(SuggestionState::Open));
    }
    let late = suggest(CANVAS_UNCOMMITTED_PER_MINUTE).await;
    assert!(is_to_wait(&late, 60), "{late:?}");
    f.clock.advance(TimeDelta::minutes(1));
    assert!(suggest(CANVAS_UNCOMMITTED_PER_MINUTE).await.is_ok());
    f.done().await;
}

async fn participants_and_declined_suggestions_are_in_the_audit_list(f: Fixture) {
    let mut reading = Reading::begin(&f).await;
    let id = made(&f, json!({ "a": 0 })).await;
    let worker = f.worker.caller.to_string();
    for role in [ParticipantRole::Edit, ParticipantRole::Suggest, ParticipantRole::Suggest] {
        canvas::put_participant(&f.ledger, &f.member, id, &worker, role).await.unwrap();
    }
    let entry = reading.expect(&f, &[Kind::CanvasParticipantSet, Kind::CanvasParticipantSet]).await;
    assert_eq!(detail(&entry), json!({ "participant": worker, "role": "suggest" }));
    assert_eq!((entry.actor, entry.target), (Some(f.member.caller.to_string()), Some((TargetKind::Session, id.0))));
    for op_id in ["w:1", "w:2"] {
        canvas::patch(&f.ledger, &f.worker, id, sent(op_id, 3, replace("/a", op_id))).await.unwrap();
    }
    let decide = async |op_id: &str, decision| {
        canvas::decide_suggestion(&f.ledger, &f.member, id, SuggestionDecision::new(op_id, decision)).await.unwrap()
    };
    decide("w:1", Decision::Accept).await;
    assert!(reading.next(&f).await.is_empty(), "the log has what was accepted");
    for _ in 0..2 {
        decide("w:2", Decision::Decline).await;
    }
    let entry = reading.expect(&f, &[Kind::CanvasSuggestionDeclined]).await;
    assert_eq!(detail(&entry), json!({ "author": worker }));
    for _ in 0..2 {
        canvas::remove_participant(&f.ledger, &f.member, id, &worker).await.unwrap();
    }
    let entry = reading.expect(&f, &[Kind::CanvasParticipantRemoved]).await;
    assert_eq!(detail(&entry), json!({ "participant": worker }));
    f.assert_verified().await;
    f.done().await;
}
