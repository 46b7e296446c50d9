//! Canvases: one document that several people and agents change, its versions, who may change it, and its ends.

use crate::{
    entity::{acme, company},
    gate::{at_once, decide, gate_of, now, says, session_now},
    retention::key,
    tool_promotion::task,
    tool_run::complete,
};
use chrono::TimeDelta;
use domain::{
    Caller, Scope,
    canvas::{Committed, ParticipantRole, Reason, Rejected, SuggestionState},
    gate::Verdict,
    id::{EntityId, SessionId},
    limit::CANVAS_SNAPSHOT_PATCHES,
    session::{EndReason, Status},
};
use ledger::{
    Error, ListPage,
    canvas::{self, Decision, NewCanvas, Outcome, SentPatch, SuggestionDecision},
    member::{self, Withdrawal},
    retention, session,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_canvas_is_read_at_every_version_and_its_log_folds_to_it,
    a_patch_is_applied_once_and_its_id_is_taken,
    a_conflict_is_decided_by_the_order_of_the_log,
    a_wrong_patch_or_beginning_is_refused_with_its_place,
    only_its_creator_and_editors_change_a_canvas,
    a_suggestion_waits_for_an_editor,
    a_canvas_begins_with_an_entity_or_with_another_canvas,
    a_canvas_begins_with_the_result_of_a_session,
    what_was_changed_in_a_canvas_is_written_to_its_entity_by_a_task,
    a_canvas_that_cannot_be_written_stays_as_it_is,
    a_schema_holds_for_every_version,
    a_canvas_is_completed_or_abandoned,
    verify_finds_a_changed_document,
    retention_erases_a_canvas,
);

pub async fn made(f: &Fixture, document: Value) -> SessionId {
    let new = NewCanvas { title: "Plan".into(), document: Some(document), ..NewCanvas::default() };
    canvas::create(&f.ledger, &f.member, new).await.unwrap()
}

pub fn sent(op_id: &str, base: u64, ops: Value) -> SentPatch {
    SentPatch { op_id: op_id.into(), base, ops: ops.as_array().unwrap().clone(), is_strict: false }
}

pub fn replace(path: &str, value: impl Into<Value>) -> Value {
    json!([{ "op": "replace", "path": path, "value": value.into() }])
}

pub async fn commit(f: &Fixture, by: &Scope, id: SessionId, patch: SentPatch) -> Committed {
    f.clock.advance(TimeDelta::seconds(1));
    match canvas::patch(&f.ledger, by, id, patch).await.unwrap() {
        Outcome::Committed(committed) => committed,
        other => panic!("{other:?}"),
    }
}

async fn reject(f: &Fixture, by: &Scope, id: SessionId, patch: SentPatch) -> Rejected {
    match canvas::patch(&f.ledger, by, id, patch).await.unwrap() {
        Outcome::Rejected { rejected, .. } => rejected,
        other => panic!("{other:?}"),
    }
}

async fn document(f: &Fixture, id: SessionId, version: Option<u64>) -> Value {
    canvas::state(&f.ledger, &f.other_member, id, version).await.unwrap().document.value().clone()
}

async fn a_canvas_is_read_at_every_version_and_its_log_folds_to_it(f: Fixture) {
    let id = made(&f, json!({ "n": 0 })).await;
    let first = canvas::get(&f.ledger, &f.member, id).await.unwrap();
    assert_eq!(
        (first.session.status(), first.record.patches, first.role),
        (Status::Running, 1, Some(ParticipantRole::Edit))
    );
    let mut versions = vec![first.record.version];
    for n in 1..CANVAS_SNAPSHOT_PATCHES + 5 {
        let patch = sent(&format!("c:{n}"), *versions.last().unwrap(), replace("/n", n));
        versions.push(commit(&f, &f.member, id, patch).await.sequence);
    }
    for (n, version) in versions.iter().enumerate().step_by(17).chain(versions.iter().enumerate().skip(98)) {
        assert_eq!(document(&f, id, Some(*version)).await, json!({ "n": n }), "{version}");
    }
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM canvas_snapshots").await, 2, "the first document and one after 100");
    let page = canvas::patches(&f.ledger, &f.member, id, versions[2], 3).await.unwrap();
    let listed: Vec<u64> = page.patches.iter().map(|(patch, _)| patch.sequence).collect();
    assert_eq!((listed, page.has_more, page.head), (versions[3..6].to_vec(), true, *versions.last().unwrap()));
    let none = canvas::patches(&f.ledger, &f.member, id, u64::MAX, 0).await.unwrap();
    assert!(none.patches.is_empty() && !none.has_more);
    for version in [0, versions[0] - 1, versions.last().unwrap() + 1] {
        let wrong = canvas::state(&f.ledger, &f.member, id, Some(version)).await;
        assert!(matches!(wrong, Err(Error::Invalid(_))), "{version}: {wrong:?}");
    }
    let listed = canvas::list(&f.ledger, &f.worker, ListPage { limit: 1, cursor: None }).await.unwrap();
    assert_eq!((listed.items[0].session_id, listed.items[0].title.as_str(), listed.next_cursor), (id, "Plan", None));
    drop(raw);
    f.assert_verified().await;
    f.done().await;
}

async fn a_patch_is_applied_once_and_its_id_is_taken(f: Fixture) {
    let id = made(&f, json!({ "a": 0 })).await;
    let first = commit(&f, &f.member, id, sent("c:1", 3, replace("/a", 1))).await;
    assert_eq!((first.previous, first.by.clone()), (3, f.member.caller.to_string()));
    commit(&f, &f.member, id, sent("c:2", first.sequence, replace("/a", 2))).await;
    assert_eq!(commit(&f, &f.member, id, sent("c:1", 3, replace("/a", 1))).await, first);
    assert_eq!(document(&f, id, None).await, json!({ "a": 2 }));
    for other in
        [sent("c:1", 4, replace("/a", 1)), sent("c:1", 3, replace("/a", 5)), sent("start", 0, replace("/a", 5))]
    {
        let refused = canvas::patch(&f.ledger, &f.member, id, other).await;
        assert!(matches!(refused, Err(Error::IdConflict { .. })), "{refused:?}");
    }
    let both = [sent("c:3", 3, replace("/a", 3)), sent("c:3", 3, replace("/a", 3))];
    let [one, other] = both.map(|patch| canvas::patch(&f.ledger, &f.member, id, patch));
    let (one, other) = tokio::join!(one, other);
    assert_eq!(one.unwrap(), other.unwrap());
    // A person sends 20 patches in a second, a program 5.
    f.clock.advance(TimeDelta::seconds(2));
    let base = canvas::get(&f.ledger, &f.member, id).await.unwrap().record.version;
    for n in 0..20 {
        canvas::patch(&f.ledger, &f.member, id, sent(&format!("d:{n}"), base, replace("/a", n))).await.unwrap();
    }
    let late = canvas::patch(&f.ledger, &f.member, id, sent("d:20", base, replace("/a", 20))).await;
    assert!(matches!(late, Err(Error::TooManyAttempts { .. })), "{late:?}");
    commit(&f, &f.member, id, sent("d:20", base, replace("/a", 20))).await;
    f.assert_verified().await;
    f.done().await;
}

async fn a_conflict_is_decided_by_the_order_of_the_log(f: Fixture) {
    let id = made(&f, json!({ "text": "one two three", "items": { "i": { "text": "x" } }, "list": [1] })).await;
    canvas::put_participant(&f.ledger, &f.member, id, &f.operator.caller.to_string(), ParticipantRole::Edit)
        .await
        .unwrap();
    commit(&f, &f.operator, id, sent("o:1", 3, replace("/text", "1 two three"))).await;
    let joined = commit(&f, &f.member, id, sent("m:1", 3, replace("/text", "one two 3"))).await;
    assert_eq!((json!(joined.ops), joined.overwrote.len()), (replace("/text", "1 two 3"), 0));
    let last = commit(&f, &f.operator, id, sent("x:1", 3, replace("/text", "other"))).await;
    assert!(last.overwrote.iter().any(|one| one.sequence == joined.sequence && one.by == joined.by), "{last:?}");
    commit(&f, &f.operator, id, sent("o:2", last.sequence, json!([{ "op": "remove", "path": "/items/i" }]))).await;
    let gone = reject(&f, &f.member, id, sent("m:2", last.sequence, replace("/items/i/text", "y"))).await;
    assert_eq!((gone.reason, gone.because.unwrap().op_id), (Reason::TargetGone, "o:2".into()));
    let strict = SentPatch { is_strict: true, ..sent("m:3", 3, replace("/list/0", 2)) };
    assert_eq!(reject(&f, &f.member, id, strict).await.reason, Reason::Stale);
    assert_eq!(reject(&f, &f.member, id, sent("m:4", 3, replace("/list/0", 2))).await.reason, Reason::NeedsStrict);
    let head = canvas::get(&f.ledger, &f.member, id).await.unwrap().record.version;
    let strict = SentPatch { is_strict: true, ..sent("m:5", head, replace("/list/0", 2)) };
    commit(&f, &f.member, id, strict).await;
    assert_eq!(document(&f, id, None).await, json!({ "text": "other", "items": {}, "list": [2] }));
    f.assert_verified().await;
    f.done().await;
}

fn fields<T: std::fmt::Debug>(refused: ledger::Result<T>) -> Vec<String> {
    match refused {
        Err(Error::Invalid(issues)) => issues.into_iter().map(|issue| issue.field).collect(),
        other => panic!("{other:?}"),
    }
}

async fn a_wrong_patch_or_beginning_is_refused_with_its_place(f: Fixture) {
    let id = made(&f, json!({ "a": 0 })).await;
    for (patch, field) in [
        (sent("", 3, replace("/a", 1)), "opId"),
        (sent("c", 4, replace("/a", 1)), "base"),
        (sent("c", 3, json!([])), "ops"),
        (sent("c", 3, json!([{ "op": "move", "from": "/a", "path": "/b" }])), "ops[0].op"),
        (
            sent("c", 3, json!([{ "op": "remove", "path": "/a" }, { "op": "add", "path": "b", "value": 1 }])),
            "ops[1].path",
        ),
        (sent("c", 3, replace("/a", json!({ "__proto__": 1 }))), "ops[0].value"),
        (sent("c", 3, replace("/a", "x".repeat(70_000))), "ops"),
    ] {
        let title = format!("{:.80}", json!(patch.ops).to_string());
        assert_eq!(fields(canvas::patch(&f.ledger, &f.member, id, patch).await), [field], "{title}");
    }
    let plan = || NewCanvas { title: "Plan".into(), ..NewCanvas::default() };
    for (new, field) in [
        (NewCanvas { title: " ".into(), ..plan() }, "title"),
        (NewCanvas { document: Some(json!([])), ..plan() }, "document"),
        (NewCanvas { document: Some(json!({ "constructor": 1 })), ..plan() }, "document"),
        (NewCanvas { document: Some(json!({})), from_canvas: Some(id), ..plan() }, "document"),
        (NewCanvas { schema: Some(json!({ "type": "nothing" })), ..plan() }, "schema"),
        (NewCanvas { schema: Some(json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] })), ..plan() }, "schema"),
    ] {
        assert_eq!(fields(canvas::create(&f.ledger, &f.member, new).await), [field]);
    }
    assert_eq!(document(&f, id, None).await, json!({ "a": 0 }));
    f.done().await;
}

async fn only_its_creator_and_editors_change_a_canvas(f: Fixture) {
    let id = made(&f, json!({ "a": 0 })).await;
    let change = |by: Scope, n: u32| {
        let patch = sent(&format!("c:{n}"), 3, replace("/a", n));
        let ledger = f.ledger.clone();
        async move { canvas::patch(&ledger, &by, id, patch).await }
    };
    let put = |by: Scope, who: Scope, role| {
        let (ledger, who) = (f.ledger.clone(), who.caller.to_string());
        async move { canvas::put_participant(&ledger, &by, id, &who, role).await }
    };
    let agent = Scope { caller: Caller::Agent("scout"), ..f.operator };
    for (n, by) in (0..).zip([f.admin, f.operator, f.other_member, f.worker, agent]) {
        assert!(matches!(change(by, n).await, Err(Error::Forbidden(_))));
        assert!(matches!(canvas::complete(&f.ledger, &by, id, None).await, Err(Error::Forbidden(_))));
        assert_eq!(canvas::get(&f.ledger, &by, id).await.unwrap().role, None);
    }
    assert!(matches!(put(f.other_member, f.other_member, ParticipantRole::Edit).await, Err(Error::Forbidden(_))));
    put(f.member, f.other_member, ParticipantRole::View).await.unwrap();
    assert!(matches!(change(f.other_member, 10).await, Err(Error::Forbidden(_))));
    put(f.operator, f.other_member, ParticipantRole::Edit).await.unwrap();
    for who in [f.worker, agent] {
        put(f.member, who, ParticipantRole::Edit).await.unwrap();
    }
    for (n, by) in (20..).zip([f.member, f.other_member, f.worker, agent]) {
        assert!(matches!(change(by, n).await, Ok(Outcome::Committed(_))));
    }
    let found = canvas::participants(&f.ledger, &f.admin, id).await.unwrap();
    assert_eq!((found.len(), found[0].added_by.clone()), (3, f.member.caller.to_string()));
    for who in ["system", "user:x", &f.stranger.caller.to_string()] {
        let wrong = canvas::put_participant(&f.ledger, &f.member, id, who, ParticipantRole::Edit).await;
        assert_eq!(fields(wrong), ["participant"], "{who}");
    }
    canvas::remove_participant(&f.ledger, &f.member, id, &f.worker.caller.to_string()).await.unwrap();
    assert!(matches!(change(f.worker, 30).await, Err(Error::Forbidden(_))));
    assert!(matches!(change(f.stranger, 31).await, Err(Error::NotFound(_))));
    assert!(matches!(canvas::get(&f.ledger, &f.stranger, id).await, Err(Error::NotFound(_))));
    assert!(canvas::list(&f.ledger, &f.stranger, ListPage::default()).await.unwrap().items.is_empty());
    let person = f.other_member.user_id().unwrap();
    member::withdraw(&f.ledger, &f.admin, person, Withdrawal::Remove).await.unwrap();
    let left = canvas::participants(&f.ledger, &f.member, id).await.unwrap();
    let names: Vec<_> = left.iter().map(|one| one.participant.as_str()).collect();
    assert_eq!(names, ["agent:scout"], "whoever comes back is no editor any more");
    let other = f.running().await.id;
    assert!(matches!(canvas::get(&f.ledger, &f.member, other).await, Err(Error::NotFound(_))), "no canvas");
    f.assert_verified().await;
    f.done().await;
}

async fn a_suggestion_waits_for_an_editor(f: Fixture) {
    let id = made(&f, json!({ "a": 0, "b": 0 })).await;
    canvas::put_participant(&f.ledger, &f.member, id, &f.worker.caller.to_string(), ParticipantRole::Suggest)
        .await
        .unwrap();
    let suggest = |patch: SentPatch| canvas::patch(&f.ledger, &f.worker, id, patch);
    let unknown =
        canvas::decide_suggestion(&f.ledger, &f.member, id, SuggestionDecision::new("w\0", Decision::Accept)).await;
    assert!(matches!(unknown, Err(Error::NotFound(_))), "{unknown:?}");
    let open = Outcome::Suggested(SuggestionState::Open);
    for path in ["/a", "/b", "/b"] {
        assert_eq!(
            suggest(sent(&format!("w:{path}"), 3, replace(path, 1))).await.unwrap(),
            open,
            "once, also if repeated"
        );
    }
    let other = suggest(sent("w:/a", 3, replace("/a", 2))).await;
    assert!(matches!(other, Err(Error::IdConflict { .. })), "{other:?}");
    assert_eq!(document(&f, id, None).await, json!({ "a": 0, "b": 0 }));
    let waiting = canvas::suggestions(&f.ledger, &f.other_member, id, SuggestionState::Open).await.unwrap();
    assert_eq!(waiting.iter().map(|one| one.record.op_id.as_str()).collect::<Vec<_>>(), ["w:/a", "w:/b"]);
    let decide = |by: Scope, op_id: &str, decision| {
        let (ledger, op_id) = (f.ledger.clone(), op_id.to_owned());
        async move { canvas::decide_suggestion(&ledger, &by, id, SuggestionDecision::new(op_id, decision)).await }
    };
    for by in [f.worker, f.other_member] {
        assert!(matches!(decide(by, "w:/a", Decision::Accept).await, Err(Error::Forbidden(_))));
    }
    assert!(matches!(decide(f.member, "none", Decision::Accept).await, Err(Error::NotFound(_))));
    let accepted = decide(f.member, "w:/a", Decision::Accept).await.unwrap();
    let Outcome::Committed(committed) = &accepted else { panic!("{accepted:?}") };
    assert_eq!(committed.by, f.worker.caller.to_string(), "the author, not the editor");
    assert_eq!(decide(f.member, "w:/a", Decision::Accept).await.unwrap(), accepted);
    assert_eq!(suggest(sent("w:/a", 3, replace("/a", 1))).await.unwrap(), accepted);
    let declined = Outcome::Suggested(SuggestionState::Declined);
    assert_eq!(decide(f.member, "w:/b", Decision::Decline).await.unwrap(), declined);
    assert!(matches!(decide(f.member, "w:/b", Decision::Accept).await, Err(Error::NotNow(_))));
    assert_eq!(document(&f, id, None).await, json!({ "a": 1, "b": 0 }));
    let gone = suggest(sent("w:3", 3, json!([{ "op": "remove", "path": "/b" }]))).await.unwrap();
    assert_eq!(gone, open);
    commit(&f, &f.member, id, sent("m:1", committed.sequence, json!([{ "op": "remove", "path": "/b" }]))).await;
    let late = decide(f.member, "w:3", Decision::Accept).await.unwrap();
    assert!(matches!(late, Outcome::Rejected { .. }), "{late:?}");
    let left = canvas::suggestions(&f.ledger, &f.member, id, SuggestionState::Open).await.unwrap();
    assert_eq!(left.len(), 1, "it stays open");
    f.assert_verified().await;
    f.done().await;
}

async fn a_canvas_begins_with_an_entity_or_with_another_canvas(f: Fixture) {
    let entity = acme(&f, &company(&f).await, "Acme").await;
    let new = NewCanvas { title: "Acme".into(), from_entity: Some(entity.id), ..NewCanvas::default() };
    let id = canvas::create(&f.ledger, &f.member, new).await.unwrap();
    let found = document(&f, id, None).await;
    assert_eq!(found["blocks"]["stage"]["text"], "Lead");
    assert_eq!(session::get(&f.ledger, &f.member, id).await.unwrap().entity_id, Some(entity.id));
    let copy = NewCanvas { title: "Copy".into(), from_canvas: Some(id), ..NewCanvas::default() };
    let copy = canvas::create(&f.ledger, &f.other_member, copy).await.unwrap();
    assert_eq!(document(&f, copy, None).await, found);
    for new in [
        NewCanvas { title: "x".into(), from_canvas: Some(SessionId(entity.id.0)), ..NewCanvas::default() },
        NewCanvas { title: "x".into(), from_entity: Some(EntityId(id.0)), ..NewCanvas::default() },
    ] {
        assert!(matches!(canvas::create(&f.ledger, &f.member, new).await, Err(Error::NotFound(_))));
    }
    f.assert_verified().await;
    f.done().await;
}

async fn a_canvas_begins_with_the_result_of_a_session(f: Fixture) {
    let from = |id: SessionId| {
        let new = NewCanvas { title: "Draft".into(), from_session: Some(id), ..NewCanvas::default() };
        canvas::create(&f.ledger, &f.member, new)
    };
    let running = f.running().await;
    assert_eq!(fields(from(running.id).await), ["fromSession"], "no result yet");
    complete(&f, &running, json!({ "n": 1 })).await;
    let id = from(running.id).await.unwrap();
    assert_eq!(document(&f, id, None).await, json!({ "n": 1 }));
    let canvas = session::get(&f.ledger, &f.member, id).await.unwrap();
    let metadata: Value = serde_json::from_str(&canvas.metadata).unwrap();
    assert_eq!(metadata, json!({ "fromSession": running.id }));
    let written = f.running().await;
    complete(&f, &written, json!("Dear Ada")).await;
    let id = from(written.id).await.unwrap();
    assert_eq!(document(&f, id, None).await["blocks"]["result"]["text"], "Dear Ada");
    let hide = format!("UPDATE sessions SET private_to = '{}' WHERE session_type = 'agent'", f.member.caller);
    f.engine.raw().await.execute(&hide).await.unwrap();
    assert_eq!(fields(from(written.id).await), ["fromSession"], "everyone would read it");
    let unknown = canvas::create(
        &f.ledger,
        &f.stranger,
        NewCanvas { title: "x".into(), from_session: Some(running.id), ..NewCanvas::default() },
    );
    assert!(matches!(unknown.await, Err(Error::NotFound(_))));
    f.done().await;
}

/// A canvas of an entity, in which the block of its size has this text.
async fn sized(f: &Fixture, entity: EntityId, text: &str) -> SessionId {
    let new = NewCanvas { title: "Acme".into(), from_entity: Some(entity), ..NewCanvas::default() };
    let id = canvas::create(&f.ledger, &f.member, new).await.unwrap();
    let add = json!([{ "op": "add", "path": "/blocks/size", "value": { "type": "text", "text": text } }]);
    commit(f, &f.member, id, sent("c:1", 3, add)).await;
    id
}

async fn what_was_changed_in_a_canvas_is_written_to_its_entity_by_a_task(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let by = task(&f, json!({ "requiresApproval": true })).await;
    let id = sized(&f, acme.id, " 12 ").await;
    let write = async || {
        canvas::complete(&f.ledger, &f.member, id, Some(by)).await.unwrap();
        canvas::get(&f.ledger, &f.member, id).await.unwrap().write_back_id.unwrap()
    };
    let first = write().await;
    assert_eq!(write().await, first, "a repeat writes nothing");
    let session = session_now(&f, first).await;
    let about = (session.status(), session.parent_id, session.entity_id);
    assert_eq!(about, (Status::WaitingHuman, Some(id), Some(acme.id)));
    let gate = gate_of(&f, first).await;
    assert_eq!(json!(gate.proposed), json!({ "size": 12 }), "only what was changed");
    decide(&f, &f.admin, gate.gate.id, says(Verdict::Deny)).await.unwrap();
    assert_eq!(now(&f, &acme).await.version, 1, "nothing is written");
    // Ids of one millisecond have no order.
    f.clock.advance(TimeDelta::seconds(1));
    let second = write().await;
    assert_ne!(second, first, "what was denied can be written again");
    decide(&f, &f.admin, gate_of(&f, second).await.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(json!(now(&f, &acme).await.fields), json!({ "stage": "Lead", "size": 12 }));
    assert_eq!(write().await, second);
    f.assert_verified().await;
    f.done().await;
}

async fn a_canvas_that_cannot_be_written_stays_as_it_is(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let by = task(&f, json!({})).await;
    let (other, wrong) = (made(&f, json!({})).await, sized(&f, acme.id, "many").await);
    let same = NewCanvas { title: "Acme".into(), from_entity: Some(acme.id), ..NewCanvas::default() };
    let same = canvas::create(&f.ledger, &f.member, same).await.unwrap();
    for (id, field) in [(other, "actionId"), (same, "actionId"), (wrong, "result.size")] {
        assert_eq!(fields(canvas::complete(&f.ledger, &f.member, id, Some(by)).await), [field]);
        assert_eq!(session::get(&f.ledger, &f.member, id).await.unwrap().status(), Status::Running);
    }
    commit(&f, &f.member, wrong, sent("c:2", 4, replace("/blocks/size/text", "7"))).await;
    canvas::complete(&f.ledger, &f.member, wrong, Some(by)).await.unwrap();
    let found = canvas::get(&f.ledger, &f.member, wrong).await.unwrap();
    assert_eq!(found.session.status(), Status::Completed);
    assert_eq!(session_now(&f, found.write_back_id.unwrap()).await.status(), Status::Completed);
    assert_eq!(json!(now(&f, &acme).await.fields), json!({ "stage": "Lead", "size": 7 }));
    f.assert_verified().await;
    f.done().await;
}

async fn a_schema_holds_for_every_version(f: Fixture) {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let new = |document: Value| NewCanvas {
        title: "Numbers".into(),
        document: Some(document),
        schema: Some(schema.clone()),
        ..NewCanvas::default()
    };
    assert_eq!(fields(canvas::create(&f.ledger, &f.member, new(json!({}))).await), ["document/n"]);
    let id = canvas::create(&f.ledger, &f.member, new(json!({ "n": 1 }))).await.unwrap();
    let wrong = canvas::patch(&f.ledger, &f.member, id, sent("c:1", 3, replace("/n", "x"))).await.unwrap();
    let Outcome::Rejected { rejected, issues, head } = wrong else { panic!("{wrong:?}") };
    assert_eq!((rejected.reason, issues[0].field.as_str(), head), (Reason::Schema, "document/n", 3));
    commit(&f, &f.member, id, sent("c:2", 3, replace("/n", 2))).await;
    f.done().await;
}

async fn a_canvas_is_completed_or_abandoned(f: Fixture) {
    let (id, left) = (made(&f, json!({ "a": 0 })).await, made(&f, json!({ "a": 0 })).await);
    let last = commit(&f, &f.member, id, sent("c:1", 3, replace("/a", 1))).await.sequence;
    for _ in 0..2 {
        canvas::complete(&f.ledger, &f.member, id, None).await.unwrap();
    }
    let ended = session::get(&f.ledger, &f.member, id).await.unwrap();
    assert_eq!(
        (ended.status(), ended.result()),
        (Status::Completed, Some(json!({ "version": last }).to_string().as_str()))
    );
    let late = canvas::patch(&f.ledger, &f.member, id, sent("c:2", last, replace("/a", 2))).await;
    assert!(matches!(late, Err(Error::Refused(_))), "{late:?}");
    let left_for = TimeDelta::days(7);
    f.clock.advance(TimeDelta::days(6));
    assert_eq!(canvas::sweep(&f.ledger, left_for).await.unwrap(), 0);
    let kept = made(&f, json!({})).await;
    f.clock.advance(TimeDelta::days(1));
    assert_eq!(canvas::sweep(&f.ledger, left_for).await.unwrap(), 1);
    let left = session::get(&f.ledger, &f.member, left).await.unwrap();
    assert_eq!((left.status(), left.end_reason()), (Status::Abandoned, Some(EndReason::TimedOut)));
    assert_eq!(session::get(&f.ledger, &f.member, kept).await.unwrap().status(), Status::Running);
    f.assert_verified().await;
    f.done().await;
}

async fn verify_finds_a_changed_document(f: Fixture) {
    let id = made(&f, json!({ "a": 0 })).await;
    commit(&f, &f.member, id, sent("c:1", 3, replace("/a", 1))).await;
    f.assert_verified().await;
    let mut raw = f.engine.raw().await;
    for (change, undo, what) in [
        ("canvases SET document = '{\"a\":2}'", "canvases SET document = '{\"a\":1}'", "the document of its canvas"),
        ("canvas_snapshots SET document = '{}'", "canvas_snapshots SET document = '{\"a\":0}'", "version 3"),
    ] {
        raw.execute(&format!("UPDATE {change}")).await.unwrap();
        let found = ledger::verify::all(&f.ledger, &[], |_| {}).await.unwrap().bad.unwrap();
        assert!(found.0 == id && found.2.contains(what), "{found:?}");
        raw.execute(&format!("UPDATE {undo}")).await.unwrap();
    }
    drop(raw);
    f.assert_verified().await;
    f.done().await;
}

async fn retention_erases_a_canvas(f: Fixture) {
    let id = made(&f, json!({ "a": "pineapple" })).await;
    commit(&f, &f.member, id, sent("pineapple:1", 3, replace("/a", "pineapple pie"))).await;
    canvas::complete(&f.ledger, &f.member, id, None).await.unwrap();
    f.clock.advance(TimeDelta::days(40));
    let before = f.ledger.now() - TimeDelta::days(30);
    assert_eq!(retention::erase_by_operator(&f.ledger, &key(), before, |_| {}).await.unwrap().sessions, 1);
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.texts("SELECT document FROM canvases").await, ["{}"]);
    for table in ["canvas_patches", "canvas_snapshots", "canvas_suggestions"] {
        assert_eq!(raw.number(&format!("SELECT COUNT(*) FROM {table}")).await, 0, "{table}");
    }
    drop(raw);
    assert!(canvas::patches(&f.ledger, &f.member, id, 0, 0).await.unwrap().patches.is_empty());
    assert_eq!(document(&f, id, None).await, json!({}));
    f.assert_verified().await;
    f.done().await;
}
