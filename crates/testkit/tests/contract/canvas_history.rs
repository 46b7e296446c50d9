//! A canvas over time: its versions, who changed each block last, restoring one, and waiting for the next.

use chrono::TimeDelta;
use domain::{
    Scope,
    canvas::{Committed, ParticipantRole, SuggestionState},
    id::SessionId,
    limit::CANVAS_HISTORY_PAGE,
};
use futures_util::future::join;
use ledger::{
    Error,
    canvas::{self, History, NewCanvas, Outcome, SentPatch, Versions},
};
use serde_json::{Value, json};
use std::{future::pending, time::Duration};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_version_is_shown_among_the_others_with_who_changed_each_block_last,
    a_version_that_does_not_exist_is_refused,
    an_earlier_version_is_restored_as_a_new_patch,
    a_canvas_is_created_once_for_a_key,
    a_request_for_patches_waits_for_the_next_one,
);

/// Longest wait for a patch in a test. None of them takes as long.
const WAIT: Duration = Duration::from_secs(30);

fn block(text: &str, order: &str) -> Value {
    json!({ "type": "text", "text": text, "order": order })
}

/// A canvas of the member with two blocks, which the other member edits too.
async fn shared(f: &Fixture) -> SessionId {
    let document = json!({ "blocks": { "a": block("first", "a0"), "b": block("second", "a1") } });
    let new = NewCanvas { title: "Plan".into(), document: Some(document), ..NewCanvas::default() };
    let id = canvas::create(&f.ledger, &f.member, new).await.unwrap();
    let other = f.other_member.caller.to_string();
    canvas::put_participant(&f.ledger, &f.member, id, &other, ParticipantRole::Edit).await.unwrap();
    id
}

async fn change(f: &Fixture, by: &Scope, id: SessionId, base: u64, path: &str, text: &str) -> Committed {
    f.clock.advance(TimeDelta::seconds(1));
    let ops = vec![json!({ "op": "replace", "path": path, "value": text })];
    let sent = SentPatch { op_id: format!("{path}-{base}:1"), base, ops, is_strict: false };
    match canvas::patch(&f.ledger, by, id, sent).await.unwrap() {
        Outcome::Committed(committed) => committed,
        other => panic!("{other:?}"),
    }
}

async fn history(f: &Fixture, id: SessionId, at: Option<u64>, from: Option<u64>) -> History {
    canvas::history(&f.ledger, &f.worker, id, Versions { at, from }).await.unwrap()
}

fn versions(history: &History) -> Vec<u64> {
    history.versions.iter().map(|one| one.version).collect()
}

async fn a_version_is_shown_among_the_others_with_who_changed_each_block_last(f: Fixture) {
    let id = shared(&f).await;
    let first = history(&f, id, None, None).await;
    assert_eq!((first.version, first.first, first.from, versions(&first)), (3, 3, None, vec![3]));
    assert_eq!(first.before.value(), &json!({}), "the first version is compared with nothing");
    let second = change(&f, &f.other_member, id, 3, "/blocks/a/text", "changed").await.sequence;
    let moved = change(&f, &f.member, id, second, "/blocks/b/order", "a2").await.sequence;

    let newest = history(&f, id, None, None).await;
    assert_eq!((newest.version, newest.from, versions(&newest)), (moved, Some(second), vec![moved, second, 3]));
    let by = |block: &str| (newest.blame[block].version, newest.blame[block].by.clone());
    assert_eq!(by("a"), (second, f.other_member.caller.to_string()));
    assert_eq!(by("b"), (3, f.member.caller.to_string()), "a move changes no text");
    let shown = history(&f, id, Some(second), Some(3)).await;
    assert_eq!((shown.document.value()["blocks"]["a"]["text"].as_str(), shown.from), (Some("changed"), Some(3)));
    assert_eq!(shown.before.value()["blocks"]["a"]["text"], "first");
    assert_eq!(versions(&shown), [moved, second, 3], "later ones are listed too");

    let mut head = moved;
    for n in 0..u64::from(CANVAS_HISTORY_PAGE) * 2 {
        head = change(&f, &f.member, id, head, "/blocks/b/text", &n.to_string()).await.sequence;
    }
    let middle = history(&f, id, Some(moved + u64::from(CANVAS_HISTORY_PAGE) - 1), None).await;
    assert!(middle.has_newer && middle.has_older, "{:?}", versions(&middle));
    assert_eq!(middle.versions.len(), CANVAS_HISTORY_PAGE as usize * 2);
    assert_eq!(middle.blame["a"].version, second, "it is found behind many other patches");
    f.done().await;
}

async fn a_version_that_does_not_exist_is_refused(f: Fixture) {
    let id = shared(&f).await;
    for (at, from) in [(Some(2), None), (Some(4), None), (None, Some(0)), (None, Some(4))] {
        let refused = canvas::history(&f.ledger, &f.member, id, Versions { at, from }).await;
        assert!(matches!(&refused, Err(Error::Invalid(errors)) if errors[0].field == "version"), "{at:?} {from:?}");
    }
    let elsewhere = canvas::history(&f.ledger, &f.stranger, id, Versions::default()).await;
    assert!(matches!(elsewhere, Err(Error::NotFound("canvas"))));
    f.done().await;
}

async fn an_earlier_version_is_restored_as_a_new_patch(f: Fixture) {
    let id = shared(&f).await;
    let head = change(&f, &f.other_member, id, 3, "/blocks/a/text", "changed").await.sequence;
    f.clock.advance(TimeDelta::seconds(1));
    let restore =
        async |by: &Scope, of: (u64, u64), op_id: &str| canvas::restore(&f.ledger, by, id, of, op_id.to_owned()).await;
    let Outcome::Committed(done) = restore(&f.member, (3, head), "page-1:1").await.unwrap() else { panic!() };
    assert_eq!((done.previous, done.ops.len()), (head, 1), "only what differs is changed");
    let now = canvas::state(&f.ledger, &f.member, id, None).await.unwrap();
    let before = canvas::state(&f.ledger, &f.member, id, Some(3)).await.unwrap();
    assert_eq!((now.document, now.version), (before.document, done.sequence));
    let again = restore(&f.member, (3, head), "page-1:1").await.unwrap();
    assert_eq!(again, Outcome::Committed(done.clone()), "a form that is sent twice");
    let same = restore(&f.member, (3, done.sequence), "page-2:1").await;
    assert!(matches!(&same, Err(Error::Invalid(errors)) if errors[0].field == "version"), "{same:?}");
    let reader = restore(&f.operator, (head, done.sequence), "page-3:1").await;
    assert!(matches!(reader, Err(Error::Forbidden(_))), "{reader:?}");

    let other = f.other_member.caller.to_string();
    canvas::put_participant(&f.ledger, &f.member, id, &other, ParticipantRole::Suggest).await.unwrap();
    let suggested = restore(&f.other_member, (head, done.sequence), "page-4:1").await.unwrap();
    assert_eq!(suggested, Outcome::Suggested(SuggestionState::Open));
    f.assert_verified().await;
    f.done().await;
}

async fn a_canvas_is_created_once_for_a_key(f: Fixture) {
    let new =
        |title: &str| NewCanvas { title: title.into(), idempotency_key: Some("plan-1".into()), ..NewCanvas::default() };
    let made = canvas::create(&f.ledger, &f.member, new("Plan")).await.unwrap();
    assert_eq!(canvas::create(&f.ledger, &f.member, new("Plan")).await.unwrap(), made);
    let other = canvas::create(&f.ledger, &f.member, new("Other")).await;
    assert!(matches!(other, Err(Error::IdConflict { .. })), "{other:?}");
    let empty = NewCanvas { idempotency_key: Some(String::new()), ..new("Plan") };
    let refused = canvas::create(&f.ledger, &f.member, empty).await;
    assert!(matches!(&refused, Err(Error::Invalid(errors)) if errors[0].field == "idempotencyKey"), "{refused:?}");
    f.done().await;
}

async fn a_request_for_patches_waits_for_the_next_one(f: Fixture) {
    let id = shared(&f).await;
    let wait = async |after: u64, wait: Duration| {
        canvas::wait_for_patches(&f.ledger, &f.worker, id, (after, 0), wait, pending()).await.unwrap()
    };
    assert_eq!(wait(0, WAIT).await.patches.len(), 1, "those that are there are returned at once");
    assert!(wait(3, Duration::ZERO).await.patches.is_empty());
    let (found, made) = join(wait(3, WAIT), change(&f, &f.member, id, 3, "/blocks/a/text", "new")).await;
    assert_eq!(found.patches[0].0.sequence, made.sequence);
    let stopped =
        canvas::wait_for_patches(&f.ledger, &f.worker, id, (made.sequence, 0), WAIT, std::future::ready(())).await;
    assert!(stopped.unwrap().patches.is_empty(), "a server that stops waits for nothing");
    let end = async { canvas::complete(&f.ledger, &f.member, id, None).await.unwrap() };
    let (ended, ()) = join(wait(made.sequence, WAIT), end).await;
    assert!(ended.patches.is_empty(), "nothing comes after the end");
    f.done().await;
}
