//! Drafts of runs of tools, and inputs that people save for themselves.

use crate::{
    at_once::one_is_over_the_limit,
    tool_run::{claim_one, echo, published},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    event::{Body, Event},
    id::SessionId,
    limit::{TOOL_DRAFTS_MAX, TOOL_SAVED_INPUTS_MAX},
    session::{EndReason, Session, Status},
    tool::draft::Fields,
};
use futures_util::future::join_all;
use ledger::{
    Error,
    group::{self, NewGroup},
    member::{self, Withdrawal},
    session, tool,
    tool_run::{
        self, SaveInput,
        draft::{self, BeginRun, ChangeFields, OpenDraft, SaveForm, ToolDraft},
    },
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_draft_is_filled_in_and_runs_in_the_same_session,
    a_draft_of_another_tab_is_not_overwritten,
    private_values_are_in_no_draft_and_reach_the_run,
    only_its_own_person_changes_and_runs_a_draft,
    a_draft_that_was_left_or_cancelled_is_gone,
    a_caller_has_a_bounded_number_of_drafts,
    the_form_of_a_page_is_kept_under_its_key_and_by_its_session,
    the_steps_of_a_composite_tool_begin_with_its_draft,
    inputs_are_saved_for_their_person_without_private_values,
);

const PRIVATE: &str = "hunter2-private-value";

fn fields(value: Value) -> Fields {
    let Value::Object(fields) = value else { panic!("{value}") };
    fields
}

async fn open(f: &Fixture, who: &Scope, with: Value) -> ledger::Result<ToolDraft> {
    draft::open(&f.ledger, who, "echo", OpenDraft { fields: fields(with), idempotency_key: None }).await
}

async fn change(f: &Fixture, who: &Scope, id: SessionId, rev: u64, to: Value) -> ledger::Result<ToolDraft> {
    draft::change_fields(&f.ledger, who, id, ChangeFields { rev, fields: fields(to), ..ChangeFields::default() }).await
}

async fn begin(f: &Fixture, who: &Scope, id: SessionId, rev: u64, with: Value) -> ledger::Result<Session> {
    draft::begin(&f.ledger, who, id, BeginRun { rev: Some(rev), fields: fields(with), output: None }).await
}

fn kinds(log: &[Event]) -> Vec<&str> {
    log.iter().map(|event| event.kind.as_str()).collect()
}

fn changes(log: &[Event]) -> Vec<(String, Option<Value>, Option<Value>)> {
    let of = |event: &Event| match event.body() {
        Body::ToolFieldChanged(change) => Some((change.field.unwrap(), change.old, change.new)),
        _ => None,
    };
    log.iter().filter_map(of).collect()
}

fn changed(field: &str, old: Option<Value>, new: Option<Value>) -> (String, Option<Value>, Option<Value>) {
    (field.to_owned(), old, new)
}

fn input(session: &Session) -> Value {
    serde_json::from_str(session.input.as_deref().unwrap()).unwrap()
}

async fn a_draft_is_filled_in_and_runs_in_the_same_session(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let opened = open(&f, &f.member, json!({ "text": "a" })).await.unwrap();
    let id = opened.session.id;
    assert_eq!((opened.session.status(), opened.session.input.as_deref()), (Status::Draft, None));
    assert_eq!(opened.draft.as_ref().unwrap().rev, 1);
    let typing = change(&f, &f.member, id, 1, json!({ "text": "ab", "times": "not yet" })).await.unwrap();
    assert_eq!(typing.draft.as_ref().unwrap().rev, 2);
    f.clock.advance(TimeDelta::seconds(10));
    // An edition of the tool that was published meanwhile is the one that runs.
    let edited: domain::tool::Change = serde_json::from_value(echo(json!({ "name": "Echo 2" }))).unwrap();
    tool::update(&f.ledger, &f.operator, "echo", tool::ToolChange { revision: 1, definition: edited }).await.unwrap();
    tool::publish(&f.ledger, &f.operator, "echo", None).await.unwrap();
    change(&f, &f.member, id, 2, json!({ "text": "abc" })).await.unwrap();
    let refused = begin(&f, &f.member, id, 3, json!({})).await;
    assert!(matches!(&refused, Err(Error::Invalid(errors)) if errors[0].field == "input/times"), "{refused:?}");
    let begun = begin(&f, &f.member, id, 3, json!({ "times": 2 })).await.unwrap();
    assert_eq!((begun.id, begun.status(), begun.title.as_str()), (id, Status::Pending, "Echo 2"));
    assert_eq!(input(&begun), json!({ "text": "abc", "times": 2 }));
    let repeat = begin(&f, &f.member, id, 3, json!({ "times": 2 })).await.unwrap();
    assert_eq!((repeat.id, repeat.head_sequence), (id, begun.head_sequence));
    let other = begin(&f, &f.member, id, 3, json!({ "times": 3 })).await;
    assert!(matches!(other, Err(Error::IdConflict { .. })), "{other:?}");
    let claimed = claim_one(&f).await;
    assert_eq!((claimed.id, input(&claimed)), (id, json!({ "text": "abc", "times": 2 })));
    let log = f.log(id).await;
    let field = "tool.field_changed";
    let begins = ["session.created", "tool.session_started", field, field, field, field, "session.status_change"];
    assert_eq!(kinds(&log)[..7], begins);
    let expected = [
        changed("text", None, Some(json!("a"))),
        changed("times", None, Some(json!("not yet"))),
        changed("text", Some(json!("a")), Some(json!("abc"))),
        changed("times", Some(json!("not yet")), Some(json!(2))),
    ];
    assert_eq!(changes(&log), expected);
    assert!(draft::get(&f.ledger, &f.member, id).await.unwrap().draft.is_none());
    f.assert_verified().await;
    f.done().await;
}

async fn a_draft_of_another_tab_is_not_overwritten(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let id = open(&f, &f.member, json!({})).await.unwrap().session.id;
    change(&f, &f.member, id, 1, json!({ "text": "one" })).await.unwrap();
    let again = change(&f, &f.member, id, 1, json!({ "text": "one" })).await.unwrap();
    assert_eq!(again.draft.unwrap().rev, 2, "a repeat changes nothing");
    for refused in [
        change(&f, &f.member, id, 1, json!({ "text": "two" })).await.err(),
        begin(&f, &f.member, id, 1, json!({ "text": "two" })).await.err(),
        begin(&f, &f.member, id, 1, json!({})).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::StaleVersion { given: 1, current: 2 })), "{refused:?}");
    }
    let read = draft::get(&f.ledger, &f.other_member, id).await.unwrap();
    assert_eq!(Value::from(read.draft.unwrap().content.fields), json!({ "text": "one" }));
    let leaving = ChangeFields {
        rev: 2,
        fields: fields(json!({ "text": "three" })),
        is_leaving: true,
        ..ChangeFields::default()
    };
    draft::change_fields(&f.ledger, &f.member, id, leaving).await.unwrap();
    assert_eq!(changes(&f.log(id).await).len(), 2, "whoever leaves has every change recorded");
    f.done().await;
}

async fn private_values_are_in_no_draft_and_reach_the_run(f: Fixture) {
    published(&f, echo(json!({ "privateFields": ["text", "/person/email"] }))).await;
    let opened = open(&f, &f.member, json!({ "text": PRIVATE, "person": { "email": PRIVATE } })).await.unwrap();
    let id = opened.session.id;
    assert_eq!(Value::from(opened.draft.unwrap().content.fields), json!({ "person": {} }));
    assert_eq!(changes(&f.log(id).await), [changed("person", None, None), changed("text", None, None)]);
    change(&f, &f.member, id, 1, json!({ "text": PRIVATE })).await.unwrap();
    f.clock.advance(TimeDelta::seconds(20));
    change(&f, &f.member, id, 1, json!({ "text": PRIVATE, "times": 2 })).await.unwrap();
    assert_eq!(changes(&f.log(id).await).len(), 3, "the same private value is no change");
    let mut raw = f.engine.raw().await;
    let leaked = format!("SELECT COUNT(*) FROM tool_drafts WHERE content LIKE '%{PRIVATE}%'");
    assert_eq!(raw.number(&leaked).await, 0);
    let begun = begin(&f, &f.member, id, 2, json!({ "text": PRIVATE })).await.unwrap();
    assert_eq!(input(&begun), json!({ "person": {}, "times": 2 }));
    let claimed = claim_one(&f).await;
    assert_eq!(input(&claimed), json!({ "text": PRIVATE, "person": {}, "times": 2 }));
    let leaked = format!("SELECT COUNT(*) FROM session_events WHERE content || metadata LIKE '%{PRIVATE}%'");
    assert_eq!(raw.number(&leaked).await, 0);
    f.assert_verified().await;
    f.done().await;
}

async fn only_its_own_person_changes_and_runs_a_draft(f: Fixture) {
    let members = f.member.user_id().into_iter().collect();
    group::create(&f.ledger, &f.operator, NewGroup { name: "Team".into(), slug: None, members }).await.unwrap();
    published(&f, echo(json!({ "audience": { "groups": ["team"] } }))).await;
    let outside = open(&f, &f.other_member, json!({})).await;
    assert!(matches!(outside, Err(Error::Forbidden(_))), "{outside:?}");
    let id = open(&f, &f.member, json!({})).await.unwrap().session.id;
    for refused in [
        change(&f, &f.operator, id, 1, json!({ "text": "x" })).await.err(),
        begin(&f, &f.operator, id, 1, json!({})).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::Forbidden(_))), "{refused:?}");
    }
    for refused in [
        change(&f, &f.stranger, id, 1, json!({ "text": "x" })).await.err(),
        begin(&f, &f.stranger, id, 1, json!({})).await.err(),
        draft::get(&f.ledger, &f.stranger, id).await.err(),
        open(&f, &f.stranger, json!({})).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::NotFound(_))), "{refused:?}");
    }
    tool::unpublish(&f.ledger, &f.operator, "echo").await.unwrap();
    let withdrawn = begin(&f, &f.member, id, 1, json!({})).await;
    assert!(matches!(withdrawn, Err(Error::WrongState { .. })), "{withdrawn:?}");
    f.done().await;
}

async fn a_draft_that_was_left_or_cancelled_is_gone(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let left = open(&f, &f.member, json!({ "text": "a" })).await.unwrap().session.id;
    let cancelled = open(&f, &f.member, json!({})).await.unwrap().session.id;
    session::cancel(&f.ledger, &f.member, cancelled, None).await.unwrap();
    let day = TimeDelta::hours(24);
    f.clock.advance(TimeDelta::hours(23));
    assert_eq!(draft::sweep(&f.ledger, day).await.unwrap(), 0);
    f.clock.advance(TimeDelta::hours(1));
    let swept = join_all([draft::sweep(&f.ledger, day), draft::sweep(&f.ledger, day)]).await;
    assert_eq!(swept.into_iter().map(Result::unwrap).sum::<u64>(), 1);
    for (id, why) in [(left, EndReason::TimedOut), (cancelled, EndReason::Cancelled)] {
        let ended = draft::get(&f.ledger, &f.member, id).await.unwrap();
        assert_eq!((ended.session.status(), ended.session.end_reason()), (Status::Abandoned, Some(why)));
        assert!(ended.draft.is_none());
        let late = begin(&f, &f.member, id, 1, json!({})).await;
        assert!(matches!(late, Err(Error::Refused(_))), "{late:?}");
        let again = session::retry(&f.ledger, &f.member, id).await;
        assert!(matches!(&again, Err(Error::Invalid(errors)) if errors[0].field == "id"), "it has no input: {again:?}");
    }
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM tool_drafts").await, 0);
    f.assert_verified().await;
    f.done().await;
}

async fn a_caller_has_a_bounded_number_of_drafts(f: Fixture) {
    published(&f, echo(json!({}))).await;
    for _ in 0..TOOL_DRAFTS_MAX {
        open(&f, &f.member, json!({})).await.unwrap();
    }
    let refused = open(&f, &f.member, json!({})).await;
    assert!(matches!(refused, Err(Error::LimitReached(_))), "{refused:?}");
    open(&f, &f.other_member, json!({})).await.unwrap();
    let many: Fields = (0..=200).map(|n| (n.to_string(), json!(n))).collect();
    let refused = open(&f, &f.other_member, Value::Object(many)).await;
    assert!(matches!(&refused, Err(Error::Invalid(errors)) if errors[0].field == "fields"), "{refused:?}");
    f.done().await;
}

async fn the_form_of_a_page_is_kept_under_its_key_and_by_its_session(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let save = async |id: &str, rev: u64, text: &str| {
        let fields = fields(json!({ "text": text, "times": null }));
        let form = SaveForm { id: id.to_owned(), rev, fields, is_leaving: false };
        draft::save_form(&f.ledger, &f.member, "echo", form).await
    };
    for unknown in ["k", "k\0"] {
        assert_eq!(draft::of_form(&f.ledger, &f.member, unknown).await.unwrap(), None);
    }
    let first = save("k", 0, "a").await.unwrap();
    let lost = save("k", 0, "a").await.unwrap();
    assert_eq!(lost.draft, first.draft, "a save whose answer was lost is repeated");
    let second = save("k", 1, "ab").await.unwrap();
    assert_eq!((second.session.id, second.draft.unwrap().rev), (first.session.id, 2));
    let third = save(&first.session.id.to_string(), 2, "abc").await.unwrap();
    assert_eq!((third.session.id, third.draft.unwrap().rev), (first.session.id, 3));
    for id in ["k".to_owned(), first.session.id.to_string()] {
        let found = draft::of_form(&f.ledger, &f.member, &id).await.unwrap();
        assert_eq!(found.map(|session| session.id), Some(first.session.id));
        assert_eq!(draft::of_form(&f.ledger, &f.other_member, &id).await.unwrap(), None);
    }
    let stale = save("other", 3, "x").await;
    assert!(matches!(stale, Err(Error::StaleVersion { given: 3, current: 0 })), "{stale:?}");
    f.done().await;
}

async fn the_steps_of_a_composite_tool_begin_with_its_draft(f: Fixture) {
    published(&f, echo(json!({}))).await;
    let twice: domain::tool::Change = serde_json::from_value(json!({
        "name": "Twice", "kind": "composite", "timeLimitSeconds": 60,
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
        "composite": { "steps": [{ "name": "one", "tool": "echo", "input": { "text": "{/input/text}" } }] },
    }))
    .unwrap();
    let new = tool::NewTool { slug: Some("twice".to_owned()), definition: twice };
    tool::create(&f.ledger, &f.operator, new).await.unwrap();
    tool::publish(&f.ledger, &f.operator, "twice", None).await.unwrap();
    let opened = draft::open(&f.ledger, &f.member, "twice", OpenDraft::default()).await.unwrap();
    f.clock.advance(TimeDelta::hours(1));
    let begun = begin(&f, &f.member, opened.session.id, 1, json!({ "text": "a" })).await.unwrap();
    assert_eq!((begun.status(), begun.started_at), (Status::Running, Some(f.ledger.now())));
    assert_eq!(begun.deadline_at(), Some(f.ledger.now() + TimeDelta::seconds(60)));
    assert_eq!(input(&claim_one(&f).await), json!({ "text": "a" }));
    f.assert_verified().await;
    f.done().await;
}

async fn inputs_are_saved_for_their_person_without_private_values(f: Fixture) {
    published(&f, echo(json!({ "privateFields": ["/person/email"] }))).await;
    let save = async |who: &Scope, name: &str, with: Value| {
        let input = SaveInput { name: name.to_owned(), fields: fields(with) };
        tool_run::save_input(&f.ledger, who, "echo", input).await
    };
    let names = async |who: &Scope| -> Vec<String> {
        let saved = tool_run::saved_inputs(&f.ledger, who, "echo").await.unwrap();
        saved.into_iter().map(|input| input.name).collect()
    };
    save(&f.member, "b", json!({ "text": "x", "person": { "email": PRIVATE, "name": "Ada" } })).await.unwrap();
    let saved = save(&f.member, "a", json!({ "times": 1 })).await.unwrap();
    let replaced = save(&f.member, "a", json!({ "times": 2 })).await.unwrap();
    assert_eq!((saved.name, replaced.fields.as_str()), ("a".to_owned(), r#"{"times":2}"#));
    assert_eq!(names(&f.member).await, ["a", "b"]);
    assert!(names(&f.other_member).await.is_empty());
    let stored = tool_run::saved_inputs(&f.ledger, &f.member, "echo").await.unwrap().pop().unwrap();
    let kept: Value = serde_json::from_str(&stored.fields).unwrap();
    assert_eq!(kept, json!({ "text": "x", "person": { "name": "Ada" } }));
    let bad = save(&f.member, "two\nlines", json!({})).await;
    assert!(matches!(&bad, Err(Error::Invalid(errors)) if errors[0].field == "name"), "{bad:?}");
    for n in 3..TOOL_SAVED_INPUTS_MAX {
        save(&f.member, &format!("n{n}"), json!({})).await.unwrap();
    }
    let (one, other) = tokio::join!(save(&f.member, "one", json!({})), save(&f.member, "other", json!({})));
    one_is_over_the_limit(one, other);
    save(&f.member, "a", json!({})).await.unwrap();
    tool_run::delete_input(&f.ledger, &f.member, "echo", "a").await.unwrap();
    for refused in [
        tool_run::delete_input(&f.ledger, &f.member, "echo", "a").await.err(),
        tool_run::delete_input(&f.ledger, &f.other_member, "echo", "b").await.err(),
        tool_run::delete_input(&f.ledger, &f.member, "echo", "b\0").await.err(),
        tool_run::saved_inputs(&f.ledger, &f.stranger, "echo").await.err(),
    ] {
        assert!(matches!(refused, Some(Error::NotFound(_))), "{refused:?}");
    }
    let person = f.member.user_id().unwrap();
    member::withdraw(&f.ledger, &f.admin, person, Withdrawal::Remove).await.unwrap();
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM tool_saved_inputs").await, 0);
    f.done().await;
}
