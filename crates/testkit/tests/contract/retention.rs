//! P-9: retention erases the content of sessions and keeps the proof of what happened.

use crate::entity::{company, note};
use crate::feedback_request::{ask, request};
use crate::gate::{at_once, complete, decide, gated, says, staged};
use crate::response::{form, submission};
use crate::{
    interaction::{answered, due, keep_all},
    response_table::{rating, submit},
    thread::{ENDING, new, turn},
};
use chrono::TimeDelta;
use datalake::{Collector, Layout};
use domain::{
    gate::{GateState, Verdict},
    id::SessionId,
    interaction::Feedback,
    memory_writer::channel::{Channel, ChannelKind},
    session::{Status, Type},
    session_feedback::{Label, Surface},
    view::Publication,
};
use ledger::{
    Error, InstanceKey,
    entity::{self, NewEntity},
    event::NewEvent,
    feedback,
    feedback_request::{self, Form, NewRequest},
    gate::{self, NewDecision},
    interaction::{self, ListInteractions},
    response::{self, ListResponses, Respondent, Submission},
    retention::{self, Erased},
    session::{self, Failure, NewSession},
    thread::{self, Message, NewThread},
    view,
};
use runner::{
    capture::{TurnCapture, drain, mark},
    retention::erase_files,
};
use serde_json::{Value, json, value::RawValue};
use std::{path::Path, sync::Arc};
use testkit::{Fixture, on_both_engines, text};

on_both_engines!(
    old_sessions_lose_their_content_and_still_verify,
    history_is_erased_by_retention_alone_and_a_forged_erasure_is_found,
    what_ended_lately_or_goes_on_is_left_alone,
    an_incognito_session_stays_one_when_it_is_erased,
    an_erased_conversation_is_found_by_its_channel_no_more,
    the_page_of_an_agent_says_what_was_erased,
    a_response_loses_its_answers_and_the_scores_of_its_ratings,
    what_was_captured_is_erased_from_tables_and_from_files_of_any_day,
    a_capture_under_way_does_not_bring_back_what_is_erased,
    the_form_of_an_erased_question_loses_its_texts_and_a_form_of_people_keeps_them,
);

pub const SECRET: &str = "pineapple-upside-down";

/// Columns that have the secret before the sessions of [`talkative`], [`reviewed`] and a completed one are erased.
const COLUMNS: [&str; 11] = [
    "session_events.content",
    "session_events.metadata",
    "session_events.external_event_id",
    "sessions.title",
    "sessions.input",
    "sessions.metadata",
    "sessions.result",
    "sessions.error_message",
    "gates.task",
    "gate_decisions.note",
    "session_failures.message",
];

pub fn key() -> InstanceKey {
    InstanceKey::parse(&"ab".repeat(32)).unwrap()
}

async fn erase(f: &Fixture, days_old: i64) -> ledger::Result<Erased> {
    let older_than = f.ledger.now() - TimeDelta::days(days_old);
    retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await
}

/// A failed session with the secret in every text.
async fn talkative(f: &Fixture) -> SessionId {
    let said = json!({ "said": SECRET }).to_string();
    let new = NewSession {
        agent_slug: Some("scout".into()),
        title: Some(SECRET.into()),
        input: Some(said.clone()),
        metadata: Some(said.clone()),
        ..NewSession::of_type(Type::Agent)
    };
    session::create(&f.ledger, &f.operator, new).await.unwrap();
    let running = f.claim(1, 3_600).await.remove(0);
    let metadata = Some(RawValue::from_string(said).unwrap());
    let first = NewEvent { metadata, external_event_id: Some(SECRET.into()), ..text(SECRET) };
    f.append(running.id, 1, vec![first, text("and more")]).await.unwrap();
    let failure = Failure { attempt: 1, message: SECRET.into(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, running.id, failure).await.unwrap();
    running.id
}

/// A session whose output was denied with the secret, and whose second output was approved.
async fn reviewed(f: &Fixture) -> SessionId {
    at_once(f).await;
    company(f).await;
    let note = NewEntity { type_id: note(f).await.id, title: "Call".into(), fields: serde_json::Map::new() };
    let note = entity::create(&f.ledger, &f.member, note).await.unwrap();
    let of = gated(f, Some(note.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(f, &of, &json!({ "text": SECRET })).await;
    let denial = NewDecision { note: Some(SECRET.into()), ..says(Verdict::Deny) };
    decide(f, &f.operator, item.gate.id, denial).await.unwrap();
    session::cancel(&f.ledger, &f.operator, waiting.id, None).await.unwrap();
    waiting.id
}

async fn verified(f: &Fixture) -> ledger::verify::Verified {
    let verified = ledger::verify::all(&f.ledger, &[key()], |_| {}).await.unwrap();
    assert!(verified.bad.is_none(), "{:?}", verified.bad);
    verified
}

/// Returns those of the columns, each as `table.column`, that have the text in some row.
pub async fn columns_with<'a>(f: &Fixture, text: &str, columns: &[&'a str]) -> Vec<&'a str> {
    let mut raw = f.engine.raw().await;
    let mut found = Vec::new();
    for of in columns {
        let (table, column) = of.split_once('.').unwrap();
        if raw.number(&format!("SELECT COUNT(*) FROM {table} WHERE {column} LIKE '%{text}%'")).await > 0 {
            found.push(*of);
        }
    }
    found
}

/// A form with the secret in every text of its fields.
pub fn form_with_secret() -> Form {
    let label = format!("What about {SECRET}?");
    let fields = json!([
        {
            "key": "region", "label": label, "help": SECRET, "type": "single_choice", "options": ["EU", "US", SECRET],
            "default": SECRET, "required": true,
        },
        { "key": "why", "label": label, "type": "long_text", "showIf": { "field": "region", "in": ["US", SECRET] } },
        {
            "key": "mood", "label": label, "type": "scale", "minimum": 1, "maximum": 5, "lowLabel": SECRET,
            "highLabel": SECRET,
        },
        { "key": "tags", "label": label, "type": "multiple_choice", "options": [SECRET], "maxItems": 1 },
    ]);
    Form::Fields(serde_json::from_value(fields).unwrap())
}

/// Whether any file in the directory contains the secret.
fn is_in_files(dir: &Path) -> bool {
    let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files
        .map(|file| std::fs::read(file).unwrap())
        .any(|bytes| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()))
}

async fn old_sessions_lose_their_content_and_still_verify(f: Fixture) {
    let (failed, denied) = (talkative(&f).await, reviewed(&f).await);
    complete(&f, &f.running().await, &json!({ "text": SECRET })).await;
    let before: Vec<_> = f.log(failed).await.iter().map(|event| (event.id, event.digest)).collect();
    if let Some(dir) = f.ledger.data_dir() {
        assert!(is_in_files(dir), "the test would find it");
    }
    assert_eq!(columns_with(&f, SECRET, &COLUMNS).await, COLUMNS, "the test would find it");
    f.clock.advance(TimeDelta::days(40));
    let preview = retention::preview_by_operator(&f.ledger, f.ledger.now() - TimeDelta::days(30)).await.unwrap();
    let erased = erase(&f, 30).await.unwrap();
    assert_eq!((erased.sessions, erased.events), (preview.sessions, preview.events));
    assert_eq!(erased.sessions, 3);

    let log = f.log(failed).await;
    assert_eq!(log.iter().map(|event| (event.id, event.digest)).collect::<Vec<_>>(), before, "what happened stays");
    assert!(log.iter().all(|event| event.content == "[]" && event.metadata == "{}"));
    assert!(log.iter().all(|event| event.external_event_id.is_none()));
    let session = session::get(&f.ledger, &f.admin, failed).await.unwrap();
    assert_eq!((session.status(), session.title.as_str(), session.error_message()), (Status::Failed, "(erased)", None));
    assert_eq!(verified(&f).await.erased, erased.events);
    // Decisions are kept without their notes and values.
    let gates = gate::list(&f.ledger, &f.admin, settled()).await.unwrap().items;
    assert_eq!(gates.iter().map(|item| item.gate.session_id).collect::<Vec<_>>(), [denied]);
    assert!(gates[0].decisions.iter().all(|decision| decision.note.is_none() && decision.value.is_none()));

    // Neither the database file, its write-ahead log, nor a backup may contain the secret.
    if let Some(dir) = f.ledger.data_dir() {
        let copies = tempfile::tempdir().unwrap();
        ledger::backup::backup(&f.ledger, &copies.path().join("copy")).await.unwrap();
        for dir in [dir, copies.path()] {
            assert!(!is_in_files(dir), "the secret is still in a file of {}", dir.display());
        }
    }
    assert!(columns_with(&f, SECRET, &COLUMNS).await.is_empty(), "the secret is still in a column");
    // A second run finds nothing to erase.
    assert_eq!(erase(&f, 30).await.unwrap(), Erased::default());
    f.done().await;
}

fn settled() -> gate::ListGates {
    gate::ListGates { filter: gate::GateFilter::In(GateState::Settled), kind: None, all: true, limit: 0, cursor: None }
}

async fn history_is_erased_by_retention_alone_and_a_forged_erasure_is_found(f: Fixture) {
    let (old, other) = (talkative(&f).await, talkative(&f).await);
    let mut raw = f.engine.raw().await;
    let erasing = "UPDATE session_events SET content = '[]', metadata = '{}'";
    assert!(raw.execute(erasing).await.is_err(), "history was erased without an erasure");
    f.clock.advance(TimeDelta::days(40));
    erase(&f, 30).await.unwrap();
    assert!(
        raw.execute("UPDATE session_events SET content = '[1]'").await.is_err(),
        "an erased event was written again"
    );
    assert!(raw.execute("DELETE FROM erasures").await.is_err(), "an erasure was forgotten");
    verified(&f).await;
    // An attacker with the database but without the key forges an erasure by retention.
    let other_key = InstanceKey::parse(&"cd".repeat(32)).unwrap();
    let bad = ledger::verify::all(&f.ledger, std::slice::from_ref(&other_key), |_| {}).await.unwrap().bad.unwrap();
    assert!([old, other].contains(&bad.0) && bad.2.contains("not sealed"), "{bad:?}");
    f.done().await;
}

async fn an_incognito_session_stays_one_when_it_is_erased(f: Fixture) {
    let conversation =
        thread::start(&f.ledger, &f.member, NewThread { incognito: true, ..new(Some(SECRET)) }).await.unwrap();
    let id = conversation.session.id;
    thread::end(&f.ledger, &f.member, id, ENDING).await.unwrap();
    f.clock.advance(TimeDelta::days(40));
    erase(&f, 30).await.unwrap();
    let rated = feedback::record(&f.ledger, &f.member, id, Label::Positive, Surface::WebEnd).await.unwrap().rating;
    assert_eq!(rated.user_id_or_null, None, "a rating after the erasure names somebody");
    assert!(feedback::list_by_operator(&f.ledger, id).await.unwrap().is_empty(), "it outlives the process");
    f.done().await;
}

async fn an_erased_conversation_is_found_by_its_channel_no_more(f: Fixture) {
    let (platform, id, name) = ("slack".into(), "C1".into(), "general".into());
    let channel = Some(Channel { platform, id, name, kind: ChannelKind::Text, parent: None });
    let talk = thread::start(&f.ledger, &f.member, NewThread { channel, ..new(Some(SECRET)) }).await.unwrap().session;
    thread::end(&f.ledger, &f.member, talk.id, ENDING).await.unwrap();
    let mut raw = f.engine.raw().await;
    let of_channel = "SELECT COUNT(*) FROM sessions WHERE channel IS NOT NULL";
    assert_eq!(raw.number(of_channel).await, 1, "the test would find it");
    f.clock.advance(TimeDelta::days(40));
    assert_eq!(erase(&f, 30).await.unwrap().sessions, 1);
    assert_eq!(raw.number(of_channel).await, 0);
    let read = session::get(&f.ledger, &f.admin, talk.id).await.unwrap();
    assert_eq!(Channel::of_metadata(&read.metadata), None);
    verified(&f).await;
    f.done().await;
}

async fn the_page_of_an_agent_says_what_was_erased(f: Fixture) {
    let erased = async |agent: &str| ledger::page::memory::agent(&f.ledger, &f.member, agent).await.unwrap().erased;
    let agent = session::get(&f.ledger, &f.admin, talkative(&f).await).await.unwrap().agent_slug.unwrap();
    talkative(&f).await;
    assert_eq!(erased(&agent).await, Default::default(), "nothing is erased yet");
    // An incognito conversation of the same agent is no one's to count.
    let hushed = NewThread { agent: agent.clone(), incognito: true, ..new(Some(SECRET)) };
    let hushed = thread::start(&f.ledger, &f.member, hushed).await.unwrap().session;
    session::cancel(&f.ledger, &f.member, hushed.id, None).await.unwrap();
    f.clock.advance(TimeDelta::days(40));
    let due = f.ledger.now() - TimeDelta::days(30);
    assert_eq!(erase(&f, 30).await.unwrap().sessions, 3);
    let found = erased(&agent).await;
    assert_eq!((found.sessions, found.older_than, found.at), (2, Some(due), Some(f.ledger.now())));
    let each = f.engine.raw().await.number("SELECT MAX(head_sequence) FROM erasures").await.cast_unsigned();
    assert_eq!(found.events, 2 * each);
    assert_eq!(erased("nobody").await, Default::default());
    f.assert_verified().await;
    f.done().await;
}

async fn a_response_loses_its_answers_and_the_scores_of_its_ratings(f: Fixture) {
    let view = rating(&f).await;
    let rated = submit(&f, view, "one", json!({ "rate": { "tone": "cold" } })).await;
    let mut raw = f.engine.raw().await;
    let chosen = "SELECT COUNT(*) FROM responses WHERE answers LIKE '%cold%' AND scores LIKE '%cold%'";
    assert_eq!(raw.number(chosen).await, 1, "the test would find it");
    f.clock.advance(TimeDelta::days(40));
    assert_eq!(erase(&f, 30).await.unwrap().sessions, 1);
    let read = response::get(&f.ledger, &f.admin, rated.session_id).await.unwrap();
    assert!(read.answers.is_empty() && read.scores.is_empty(), "{read:?}");
    let left = "SELECT COUNT(*) FROM responses WHERE answers LIKE '%cold%' OR scores LIKE '%cold%'";
    assert_eq!(raw.number(left).await, 0);
    verified(&f).await;
    f.done().await;
}

async fn what_was_captured_is_erased_from_tables_and_from_files_of_any_day(f: Fixture) {
    const KEPT: &str = "rhubarb";
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::below(folder.path());
    let turn_capture = Arc::new(TurnCapture::with_files(Collector::new(layout.clone(), "00000000")));
    let (l, m) = (&f.ledger, &f.member);
    let talk = thread::start(l, m, new(Some(SECRET))).await.unwrap().session.id;
    turn(&f, SECRET).await;
    drain(l, &turn_capture).await.unwrap();
    let of_talk = ListInteractions { session_id: Some(talk), ..ListInteractions::default() };
    let answer = interaction::list(l, m, of_talk).await.unwrap().items.remove(0);
    f.clock.advance(TimeDelta::seconds(5));
    let thanks = format!("Perfect, thanks! Now do the same for {SECRET}.");
    thread::send_message(l, m, talk, Message { text: thanks, id: None }).await.unwrap();
    turn(&f, SECRET).await;
    drain(l, &turn_capture).await.unwrap();
    thread::end(l, m, talk, ENDING).await.unwrap();
    // A conversation of the same day that has not ended.
    thread::start(l, m, new(Some(KEPT))).await.unwrap();
    turn(&f, KEPT).await;
    drain(l, &turn_capture).await.unwrap();
    // Feedback on the answer, weeks later.
    f.clock.advance(TimeDelta::days(20));
    mark(l, &turn_capture, &f.operator, answer.id, Feedback::Negative, (true, Some(SECRET.into()))).await.unwrap();
    f.clock.advance(TimeDelta::days(20));
    let tables = ["interactions", "interaction_feedback", "interaction_outcomes"];
    let mut raw = f.engine.raw().await;
    for table in tables {
        assert!(raw.number(&format!("SELECT COUNT(*) FROM {table} WHERE session_id IS NOT NULL")).await > 0, "{table}");
    }
    let folders = [layout.interactions(), layout.feedback(), layout.outcomes()];
    assert!(folders.iter().take(2).all(|folder| is_in_files(folder)), "the test would find it");

    assert_eq!(erase(&f, 30).await.unwrap().sessions, 1);
    for (table, left) in tables.into_iter().zip([1, 0, 0]) {
        let rows = raw.number(&format!("SELECT COUNT(*) FROM {table}")).await;
        let found = raw.number(&format!("SELECT COUNT(*) FROM {table} WHERE record LIKE '%{SECRET}%'")).await;
        assert_eq!((rows, found), (left, 0), "{table}");
    }
    assert_eq!(raw.number("SELECT COUNT(*) FROM captures_due").await, 0);
    let late = mark(l, &turn_capture, &f.operator, answer.id, Feedback::Positive, (false, None)).await;
    assert!(matches!(late, Err(Error::NotFound(_))), "{late:?}");

    let last = (l.now() - TimeDelta::days(30)).date_naive();
    let erased = erase_files(l, &layout, last).await.unwrap();
    // Two answers, the inferred feedback and the outcome of the first, and the late mark.
    assert_eq!((erased.lines, erased.unreadable), (5, 0));
    assert!(!folders.iter().any(|folder| folder.exists() && is_in_files(folder)), "the secret is still in a file");
    let left: Vec<_> = datalake::interactions(&layout).map(Result::unwrap).collect();
    assert_eq!(left.iter().map(|line| line.response.as_str()).collect::<Vec<_>>(), [KEPT]);
    assert_eq!(erase_files(l, &layout, last).await.unwrap(), datalake::Erased::default());
    f.done().await;
}

async fn a_capture_under_way_does_not_bring_back_what_is_erased(f: Fixture) {
    answered(&f, SECRET, &json!(SECRET)).await;
    let taken = due(&f).await;
    assert_eq!(taken[0].turns[0].answer, SECRET);
    f.clock.advance(TimeDelta::days(40));
    assert_eq!(erase(&f, 30).await.unwrap().sessions, 1);
    keep_all(&f, &taken).await;
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM interactions").await, 0);
    f.done().await;
}

async fn what_ended_lately_or_goes_on_is_left_alone(f: Fixture) {
    let waiting = f.running().await;
    f.append(waiting.id, 1, vec![text(SECRET)]).await.unwrap();
    f.clock.advance(TimeDelta::days(20));
    let lately = talkative(&f).await;
    f.clock.advance(TimeDelta::days(20));
    assert_eq!(erase(&f, 30).await.unwrap(), Erased::default());
    for id in [waiting.id, lately] {
        let log = f.log(id).await;
        assert!(log.iter().any(|event| event.content.contains(SECRET)));
    }
    assert_eq!(verified(&f).await.erased, 0);
    let refused = erase(&f, 0).await;
    assert!(matches!(&refused, Err(Error::Invalid(fields)) if fields[0].field == "before"), "{refused:?}");
    f.done().await;
}

async fn the_form_of_an_erased_question_loses_its_texts_and_a_form_of_people_keeps_them(f: Fixture) {
    let made = form(&f, Publication::default()).await;
    let kept = view::get_version(&f.ledger, &f.member, made, 1).await.unwrap();
    let session = f.running().await;
    let own = NewRequest { form: form_with_secret(), ..request(&session, "own", false) };
    let own = ask(&f, &session, own).await.request;
    let of_people = NewRequest { form: Form::View(made), ..request(&session, "people", false) };
    ask(&f, &session, of_people).await;
    let respondent = Respondent::member(&f.operator).unwrap();
    let given = Submission { request_id: Some(own.id.0), ..submission("one", json!({ "region": "EU", "mood": 2 })) };
    let given = response::submit(&f.ledger, &respondent, own.view_id, given).await.unwrap().response;
    session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
    let mut raw = f.engine.raw().await;
    for table in ["views", "view_versions"] {
        let with_secret = format!("SELECT COUNT(*) FROM {table} WHERE fields LIKE '%{SECRET}%'");
        assert_eq!(raw.number(&with_secret).await, 1, "the test would find it");
    }
    f.clock.advance(TimeDelta::days(40));
    assert_eq!(erase(&f, 30).await.unwrap().sessions, 2);

    let erased = json!([
        { "key": "region", "label": "(erased)", "type": "single_choice", "options": [], "required": true },
        { "key": "why", "label": "(erased)", "type": "long_text", "required": false },
        { "key": "mood", "label": "(erased)", "type": "scale", "minimum": 1, "maximum": 5, "required": false },
        {
            "key": "tags", "label": "(erased)", "type": "multiple_choice", "options": [], "maxItems": 1,
            "required": false,
        },
    ]);
    let question = feedback_request::answerable(&f.ledger, &f.operator, own.id).await.unwrap();
    assert_eq!(serde_json::to_value(question.fields).unwrap(), erased);
    let shown = response::read(&f.ledger, &respondent, own.view_id, Some(own.id.0)).await.unwrap();
    assert_eq!((shown.version.title.as_str(), shown.version.introduction.as_str()), ("(erased)", ""));
    let query = ListResponses::default();
    let columns = response::columns(&f.ledger, &f.operator, own.view_id, &query).await.unwrap();
    let labels: Vec<_> = columns.iter().map(|column| (column.key.as_str(), column.label.as_str())).collect();
    assert_eq!(labels, ["region", "why", "mood", "tags"].map(|key| (key, "(erased)")));
    assert!(response::get(&f.ledger, &f.admin, given.session_id).await.unwrap().answers.is_empty());
    assert_eq!(view::get_version(&f.ledger, &f.member, made, 1).await.unwrap(), kept);
    let rewritten = raw.execute("UPDATE view_versions SET title = '(erased)', introduction = ''").await;
    assert!(rewritten.is_err(), "a version was erased without an erasure");
    verified(&f).await;
    f.done().await;
}
