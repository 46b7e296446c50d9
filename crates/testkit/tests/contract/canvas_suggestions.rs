//! Suggestions in the inbox of those who may decide: what each would change now, reasons, and undoing one.

use crate::{
    audit::Reading,
    canvas::{commit, replace, sent},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    audit::Kind,
    canvas::{ParticipantRole, SuggestionState},
    id::SessionId,
    limit::{CANVAS_UNDO_MINUTES, REASON_CHARS_MAX},
};
use ledger::{
    Error,
    canvas::{self, Decision, Outcome, SuggestionDecision, SuggestionInbox},
    live::{self, LiveSignal, Signals},
    page,
};
use serde_json::json;
use std::time::Duration;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    suggestions_wait_in_the_inbox_of_those_who_may_decide,
    what_was_not_shown_is_not_accepted,
    an_accepted_suggestion_is_undone_while_its_values_are_unchanged,
    no_author_chooses_the_id_of_a_patch_that_undoes_a_suggestion,
    a_declined_suggestion_waits_again_when_the_decline_is_undone,
    several_suggestions_are_decided_each_on_its_own,
    those_who_may_decide_get_the_digest_of_what_waits,
    more_suggestions_take_no_more_queries,
    suggestions_for_two_canvases_that_have_one_id_are_kept_apart,
    a_decision_tells_its_author_the_reason,
    a_suggestion_and_its_decision_are_signalled,
);

/// Longest wait for a signal in a test. None of them takes as long.
const WAIT: Duration = Duration::from_secs(10);

/// A canvas of the operator for which the worker may suggest changes.
async fn suggested_to(f: &Fixture) -> SessionId {
    let new = canvas::NewCanvas {
        title: "Plan".into(),
        document: Some(json!({ "a": "old", "b": 0 })),
        ..canvas::NewCanvas::default()
    };
    let id = canvas::create(&f.ledger, &f.operator, new).await.unwrap();
    let worker = f.worker.caller.to_string();
    canvas::put_participant(&f.ledger, &f.operator, id, &worker, ParticipantRole::Suggest).await.unwrap();
    id
}

async fn suggest(f: &Fixture, id: SessionId, op_id: &str, path: &str) {
    f.clock.advance(TimeDelta::seconds(1));
    let sent = canvas::patch(&f.ledger, &f.worker, id, sent(op_id, 3, replace(path, "new"))).await.unwrap();
    assert_eq!(sent, Outcome::Suggested(SuggestionState::Open));
}

async fn inbox(f: &Fixture, of: &Scope) -> SuggestionInbox {
    canvas::waiting(&f.ledger, of).await.unwrap()
}

async fn count(f: &Fixture, of: &Scope) -> u64 {
    page::inbox::count(&f.ledger, of, u32::MAX).await.unwrap().patches
}

async fn decide(f: &Fixture, id: SessionId, decision: SuggestionDecision) -> ledger::Result<Outcome> {
    canvas::decide_suggestion(&f.ledger, &f.operator, id, decision).await
}

async fn text(f: &Fixture, id: SessionId) -> String {
    let at = canvas::state(&f.ledger, &f.operator, id, None).await.unwrap();
    at.document.value()["a"].as_str().unwrap().to_owned()
}

async fn suggestions_wait_in_the_inbox_of_those_who_may_decide(f: Fixture) {
    let id = suggested_to(&f).await;
    suggest(&f, id, "w:1", "/a").await;
    suggest(&f, id, "w:2", "/b").await;
    let found = inbox(&f, &f.operator).await;
    let ids: Vec<_> = found.items.iter().map(|one| (one.session.id, one.record.op_id.as_str())).collect();
    assert_eq!((ids, found.count), (vec![(id, "w:1"), (id, "w:2")], 2), "oldest first");
    let preview = &found.items[0].preview;
    let after = &preview.verdict.as_ref().unwrap().document;
    assert_eq!((&preview.before.value()["a"], &after.value()["a"]), (&json!("old"), &json!("new")));
    for other in [&f.admin, &f.worker] {
        assert_eq!((inbox(&f, other).await, count(&f, other).await), (SuggestionInbox::default(), 0));
    }
    let admin = f.admin.caller.to_string();
    for (role, expected) in [(ParticipantRole::Suggest, 0), (ParticipantRole::Edit, 2)] {
        canvas::put_participant(&f.ledger, &f.operator, id, &admin, role).await.unwrap();
        assert_eq!((inbox(&f, &f.admin).await.items.len() as u64, count(&f, &f.admin).await), (expected, expected));
    }
    decide(&f, id, SuggestionDecision::new("w:1", Decision::Decline)).await.unwrap();
    assert_eq!(count(&f, &f.admin).await, 1);
    canvas::complete(&f.ledger, &f.operator, id, None).await.unwrap();
    assert_eq!((inbox(&f, &f.admin).await.items.len(), count(&f, &f.admin).await), (0, 0), "it has ended");
    f.assert_verified().await;
    f.done().await;
}

async fn what_was_not_shown_is_not_accepted(f: Fixture) {
    let id = suggested_to(&f).await;
    suggest(&f, id, "w:1", "/a").await;
    let shown = async || inbox(&f, &f.operator).await.items[0].preview.digest;
    let accept =
        |digest| SuggestionDecision { shown: Some(digest), ..SuggestionDecision::new("w:1", Decision::Accept) };
    let first = shown().await;
    commit(&f, &f.operator, id, sent("o:1", 3, replace("/b", 1))).await;
    assert_eq!(shown().await, first, "another value has changed");
    commit(&f, &f.operator, id, sent("o:2", 4, replace("/a", "newer"))).await;
    let second = shown().await;
    let refused = decide(&f, id, accept(first)).await;
    assert!(matches!(&refused, Err(Error::StaleDecision { current }) if *current == second), "{refused:?}");
    assert_eq!(text(&f, id).await, "newer");
    let done = decide(&f, id, accept(second)).await.unwrap();
    assert!(matches!(done, Outcome::Committed(_)), "{done:?}");
    assert_eq!(decide(&f, id, accept(first)).await.unwrap(), done, "a repeat returns what was recorded");
    let late = decide(&f, id, SuggestionDecision::new("w:1", Decision::Decline)).await;
    assert!(matches!(late, Err(Error::NotNow(_))), "{late:?}");
    f.assert_verified().await;
    f.done().await;
}

async fn an_accepted_suggestion_is_undone_while_its_values_are_unchanged(f: Fixture) {
    let id = suggested_to(&f).await;
    for (op_id, path) in [("w:1", "/a"), ("w:2", "/b"), ("w:3", "/a")] {
        suggest(&f, id, op_id, path).await;
    }
    let undo = |op_id: &'static str| canvas::undo_decision(&f.ledger, &f.operator, id, op_id.to_owned());
    let open = undo("w:1").await;
    assert!(matches!(open, Err(Error::NotNow(_))), "{open:?}");
    for op_id in ["w:1", "w:2"] {
        f.clock.advance(TimeDelta::seconds(1));
        decide(&f, id, SuggestionDecision::new(op_id, Decision::Accept)).await.unwrap();
    }
    let offered = inbox(&f, &f.operator).await.decided;
    assert_eq!(offered.iter().map(|one| one.record.op_id.as_str()).collect::<Vec<_>>(), ["w:2", "w:1"]);
    let by_worker = canvas::undo_decision(&f.ledger, &f.worker, id, "w:1".into()).await;
    assert!(matches!(by_worker, Err(Error::Forbidden(_))), "{by_worker:?}");
    let undone = undo("w:1").await.unwrap();
    assert_eq!((text(&f, id).await, undo("w:1").await.unwrap()), ("old".to_owned(), undone), "once");
    assert_eq!(inbox(&f, &f.operator).await.decided.len(), 1);
    let head = canvas::get(&f.ledger, &f.operator, id).await.unwrap().record.version;
    commit(&f, &f.operator, id, sent("o:1", head, replace("/b", "mine"))).await;
    let changed = undo("w:2").await.unwrap();
    assert!(matches!(changed, Outcome::Rejected { .. }), "someone has changed it since: {changed:?}");
    f.clock.advance(TimeDelta::seconds(1));
    decide(&f, id, SuggestionDecision::new("w:3", Decision::Accept)).await.unwrap();
    f.clock.advance(TimeDelta::minutes(CANVAS_UNDO_MINUTES));
    let late = undo("w:3").await;
    assert!(matches!(late, Err(Error::NotNow(_))), "{late:?}");
    assert!(inbox(&f, &f.operator).await.decided.is_empty());
    f.assert_verified().await;
    f.done().await;
}

async fn no_author_chooses_the_id_of_a_patch_that_undoes_a_suggestion(f: Fixture) {
    let id = suggested_to(&f).await;
    suggest(&f, id, "w:1", "/a").await;
    decide(&f, id, SuggestionDecision::new("w:1", Decision::Accept)).await.unwrap();
    let undone = canvas::undo_decision(&f.ledger, &f.operator, id, "w:1".into()).await.unwrap();
    let Outcome::Committed(undone) = undone else { panic!("{undone:?}") };
    // The id depends on that of the suggestion alone, so its author can compute it before.
    let other = suggested_to(&f).await;
    for by in [&f.worker, &f.operator] {
        let taken = canvas::patch(&f.ledger, by, other, sent(&undone.op_id, 3, replace("/b", "new"))).await;
        assert!(matches!(&taken, Err(Error::Invalid(issues)) if issues[0].field == "opId"), "{taken:?}");
    }
    suggest(&f, other, "undo-1", "/a").await;
    f.done().await;
}

async fn a_declined_suggestion_waits_again_when_the_decline_is_undone(f: Fixture) {
    let id = suggested_to(&f).await;
    suggest(&f, id, "w:1", "/a").await;
    let mut reading = Reading::begin(&f).await;
    let early =
        || SuggestionDecision { reason: Some("Too early".into()), ..SuggestionDecision::new("w:1", Decision::Decline) };
    decide(&f, id, early()).await.unwrap();
    reading.expect(&f, &[Kind::CanvasSuggestionDeclined]).await;
    let offered = inbox(&f, &f.operator).await;
    assert_eq!((offered.items.len(), offered.decided.len()), (0, 1));
    let undo = async |by: &Scope| canvas::undo_decision(&f.ledger, by, id, "w:1".to_owned()).await;
    let by_worker = undo(&f.worker).await;
    assert!(matches!(by_worker, Err(Error::Forbidden(_))), "{by_worker:?}");
    assert_eq!(undo(&f.operator).await.unwrap(), Outcome::Suggested(SuggestionState::Open));
    let again = inbox(&f, &f.operator).await;
    assert_eq!((again.items.len(), again.count, again.decided.len()), (1, 1, 0));
    let record = &again.items[0].record;
    assert_eq!((record.reason.as_deref(), record.decided_by.as_deref(), record.decided_at), (None, None, None));
    assert!(canvas::beside(&f.ledger, &f.worker, id).await.unwrap().declined.is_empty());
    reading.expect(&f, &[Kind::CanvasSuggestionReopened]).await;
    let twice = undo(&f.operator).await;
    assert!(matches!(twice, Err(Error::NotNow(_))), "{twice:?}");
    decide(&f, id, early()).await.unwrap();
    f.clock.advance(TimeDelta::minutes(CANVAS_UNDO_MINUTES));
    let late = undo(&f.operator).await;
    assert!(matches!(late, Err(Error::NotNow(_))), "{late:?}");
    assert!(inbox(&f, &f.operator).await.decided.is_empty());
    f.assert_verified().await;
    f.done().await;
}

async fn several_suggestions_are_decided_each_on_its_own(f: Fixture) {
    let id = suggested_to(&f).await;
    for (op_id, path) in [("w:1", "/a"), ("w:2", "/b"), ("w:3", "/a")] {
        suggest(&f, id, op_id, path).await;
    }
    let shown: Vec<_> = inbox(&f, &f.operator).await.items.into_iter().map(|one| one.preview.digest).collect();
    let accept = |op_id: &str, shown| SuggestionDecision {
        shown: Some(shown),
        ..SuggestionDecision::new(op_id, Decision::Accept)
    };
    let all = vec![
        accept("w:1", shown[0]),
        accept("none", shown[0]),
        SuggestionDecision::new("w:2", Decision::Decline),
        accept("w:3", shown[2]),
    ];
    f.clock.advance(TimeDelta::seconds(1));
    let results = canvas::decide_suggestions(&f.ledger, &f.operator, id, all.clone()).await.unwrap();
    assert_eq!(results.len(), all.len());
    assert!(matches!(&results[0], Ok(Outcome::Committed(_))), "{results:?}");
    assert!(matches!(&results[1], Err(Error::NotFound(_))), "{results:?}");
    assert!(matches!(&results[2], Ok(Outcome::Suggested(SuggestionState::Declined))), "{results:?}");
    assert!(matches!(&results[3], Err(Error::StaleDecision { .. })), "w:1 has changed its value: {results:?}");
    let waiting = inbox(&f, &f.operator).await.items;
    assert_eq!(waiting.iter().map(|one| one.record.op_id.as_str()).collect::<Vec<_>>(), ["w:3"]);
    let by_worker = canvas::decide_suggestions(&f.ledger, &f.worker, id, all.clone()).await;
    assert!(matches!(by_worker, Err(Error::Forbidden(_))), "{by_worker:?}");
    let by_stranger = canvas::decide_suggestions(&f.ledger, &f.stranger, id, all).await;
    assert!(matches!(by_stranger, Err(Error::NotFound(_))), "{by_stranger:?}");
    f.assert_verified().await;
    f.done().await;
}

async fn those_who_may_decide_get_the_digest_of_what_waits(f: Fixture) {
    let id = suggested_to(&f).await;
    suggest(&f, id, "w:1", "/a").await;
    suggest(&f, id, "w:2", "/b").await;
    let digests = async |of: &Scope, state: SuggestionState| {
        let found = canvas::suggestions(&f.ledger, of, id, state).await.unwrap();
        found.into_iter().map(|one| one.digest).collect::<Vec<_>>()
    };
    let shown: Vec<_> = inbox(&f, &f.operator).await.items.into_iter().map(|one| Some(one.preview.digest)).collect();
    assert_eq!(digests(&f.operator, SuggestionState::Open).await, shown);
    let beside = canvas::beside(&f.ledger, &f.operator, id).await.unwrap().suggestions;
    assert_eq!(beside.into_iter().map(|one| one.digest).collect::<Vec<_>>(), shown);
    assert_eq!(digests(&f.worker, SuggestionState::Open).await, [None, None]);
    decide(&f, id, SuggestionDecision::new("w:1", Decision::Decline)).await.unwrap();
    assert_eq!(digests(&f.operator, SuggestionState::Declined).await, [None]);
    canvas::complete(&f.ledger, &f.operator, id, None).await.unwrap();
    assert_eq!(digests(&f.operator, SuggestionState::Open).await, [None], "it has ended");
    f.done().await;
}

async fn more_suggestions_take_no_more_queries(f: Fixture) {
    let id = suggested_to(&f).await;
    // Only SQLite counts statements.
    let listed = async || {
        let before = f.ledger.stats().statements;
        let found = canvas::suggestions(&f.ledger, &f.operator, id, SuggestionState::Open).await.unwrap();
        (found, f.ledger.stats().statements - before)
    };
    let in_inbox = async || {
        let before = f.ledger.stats().statements;
        let found = inbox(&f, &f.operator).await;
        (found, f.ledger.stats().statements - before)
    };
    let decline = async |op_id: &str| {
        suggest(&f, id, op_id, "/a").await;
        decide(&f, id, SuggestionDecision::new(op_id, Decision::Decline)).await.unwrap();
    };
    decline("d:1").await;
    suggest(&f, id, "w:1", "/a").await;
    let (_, statements) = listed().await;
    let (_, of_inbox) = in_inbox().await;
    for n in 2..8 {
        decline(&format!("d:{n}")).await;
    }
    for base in 3..9 {
        commit(&f, &f.operator, id, sent(&format!("o:{base}"), base, replace("/b", base))).await;
        let (op_id, path) = (format!("w:{base}"), if base % 2 == 0 { "/b" } else { "/a" });
        let suggested = canvas::patch(&f.ledger, &f.worker, id, sent(&op_id, base, replace(path, base))).await.unwrap();
        assert_eq!(suggested, Outcome::Suggested(SuggestionState::Open));
    }
    let (found, of_more) = listed().await;
    assert_eq!(of_more, statements, "each suggestion takes queries");
    let (waiting, of_more) = in_inbox().await;
    assert_eq!((waiting.items.len(), waiting.decided.len(), of_more), (7, 7, of_inbox), "each takes queries");
    let shown: Vec<_> = waiting.items.into_iter().map(|one| Some(one.preview.digest)).collect();
    assert_eq!(found.into_iter().map(|one| one.digest).collect::<Vec<_>>(), shown, "both lists compare alike");
    f.done().await;
}

async fn suggestions_for_two_canvases_that_have_one_id_are_kept_apart(f: Fixture) {
    let (first, second) = (suggested_to(&f).await, suggested_to(&f).await);
    commit(&f, &f.operator, second, sent("o:1", 3, replace("/a", "other"))).await;
    for id in [first, second] {
        suggest(&f, id, "w:1", "/b").await;
    }
    let items = inbox(&f, &f.operator).await.items;
    let shown: Vec<_> = items.iter().map(|one| (one.session.id, one.preview.before.value()["a"].clone())).collect();
    assert_eq!(shown, [(first, json!("old")), (second, json!("other"))]);
    for id in [first, second] {
        f.clock.advance(TimeDelta::seconds(1));
        decide(&f, id, SuggestionDecision::new("w:1", Decision::Accept)).await.unwrap();
    }
    canvas::undo_decision(&f.ledger, &f.operator, first, "w:1".to_owned()).await.unwrap();
    let decided = inbox(&f, &f.operator).await.decided;
    assert_eq!(decided.iter().map(|one| one.session.id).collect::<Vec<_>>(), [second], "the first one was undone");
    f.done().await;
}

async fn a_decision_tells_its_author_the_reason(f: Fixture) {
    let id = suggested_to(&f).await;
    suggest(&f, id, "w:1", "/a").await;
    let because = |reason: String| SuggestionDecision {
        reason: Some(reason),
        ..SuggestionDecision::new("w:1", Decision::Decline)
    };
    let long = decide(&f, id, because("x".repeat(REASON_CHARS_MAX + 1))).await;
    assert!(matches!(long, Err(Error::Invalid(_))), "{long:?}");
    decide(&f, id, because("Too early".into())).await.unwrap();
    let found = canvas::suggestions(&f.ledger, &f.worker, id, SuggestionState::Declined).await.unwrap();
    let decision = &found[0].record;
    let told = (decision.reason.as_deref(), decision.decided_by.as_deref());
    assert_eq!(told, (Some("Too early"), Some(f.operator.caller.to_string().as_str())));
    assert!(canvas::suggestions(&f.ledger, &f.worker, id, SuggestionState::Open).await.unwrap().is_empty());
    suggest(&f, id, "w:2", "/b").await;
    f.clock.advance(TimeDelta::seconds(1));
    decide(&f, id, SuggestionDecision::new("w:2", Decision::Decline)).await.unwrap();
    let own = canvas::beside(&f.ledger, &f.worker, id).await.unwrap();
    assert_eq!(
        own.declined.iter().map(|one| one.op_id.as_str()).collect::<Vec<_>>(),
        ["w:2", "w:1"],
        "the newest first"
    );
    let other = canvas::beside(&f.ledger, &f.operator, id).await.unwrap();
    assert_eq!((other.declined, other.suggestions, other.participants.len()), (Vec::new(), Vec::new(), 1));
    f.assert_verified().await;
    f.done().await;
}

async fn a_suggestion_and_its_decision_are_signalled(f: Fixture) {
    let id = suggested_to(&f).await;
    let mut signals = live::subscribe(&f.ledger, &f.operator);
    let counts = async |signals: &mut Signals| {
        let wait = async { while signals.recv().await != Some(LiveSignal::CountsChanged) {} };
        tokio::time::timeout(WAIT, wait).await.expect("no signal came");
    };
    for (op_id, decision) in [("w:1", Decision::Decline), ("w:2", Decision::Accept)] {
        suggest(&f, id, op_id, "/a").await;
        counts(&mut signals).await;
        f.clock.advance(TimeDelta::seconds(1));
        decide(&f, id, SuggestionDecision::new(op_id, decision)).await.unwrap();
        counts(&mut signals).await;
    }
    f.done().await;
}
