//! Ended turns become interactions: once each, with the feedback on them, and never for incognito sessions.

use crate::{
    entity::{acme, company},
    gate::{at_once, claim, complete, decide, edits, gate_of, gated, says, staged},
    hook::{payload, send},
    thread::{ENDING, new, turn},
};
use chrono::TimeDelta;
use datalake::{
    Collector, FeedbackRecord, InteractionRecord, Layout,
    export::{self, FileFormat, Format, Inputs, MinFeedback, Options},
};
use domain::{
    Clock as _,
    gate::Verdict,
    id::{InteractionId, SessionId},
    interaction::{Feedback, Source},
    message::{Message as ChatMessage, Role},
    outcome::Outcome,
    session::{Session, Status, Type, YieldTo},
};
use ledger::{
    Error,
    event::NewEvent,
    interaction::{self, EndedTurn, Line, Lines, ListInteractions, Stream, Turn, claim_ended_turns, record_turns},
    session::{self, Completion, NewSession, YieldRequest},
    thread::{self, Message},
};
use runner::capture::{TurnCapture, drain, mark, write_marks};
use serde_json::{Value, json};
use std::sync::Arc;
use testkit::{Fixture, event, on_both_engines, text};
use uuid::Uuid;

on_both_engines!(
    an_answer_is_due_once_and_kept_once,
    a_turn_whose_capture_was_not_recorded_is_due_again,
    reviewers_say_what_an_answer_is_worth,
    a_coding_agents_turns_are_captured_from_its_hooks,
    incognito_and_unworked_sessions_are_not_captured,
    what_waits_for_others_has_not_answered_and_what_an_incognito_session_starts_is_incognito,
    feedback_is_kept_by_those_whose_session_it_is_and_those_who_judge,
    interactions_come_in_pages_newest_first_and_by_what_is_known,
    each_turn_of_a_conversation_is_captured_once_and_judged_by_the_next,
    a_turn_that_failed_is_not_captured,
    an_interrupted_turn_is_not_captured_by_the_end,
    nothing_is_inferred_about_an_interrupted_turn,
    what_is_inferred_later_does_not_stand_over_a_persons_own_word,
    a_mark_that_could_not_be_written_is_written_later_from_the_database,
    a_crash_between_the_files_and_the_database_repeats_the_same_lines,
    what_cannot_be_written_is_counted_and_tried_again_and_sessions_go_on,
);

const LEASE: TimeDelta = TimeDelta::seconds(60);

pub async fn answered(f: &Fixture, input: &str, result: &Value) -> Session {
    answered_with(f, input, "{}", result).await
}

async fn answered_with(f: &Fixture, input: &str, metadata: &str, result: &Value) -> Session {
    let new = NewSession {
        agent_slug: Some("scout".into()),
        input: Some(json!(input).to_string()),
        metadata: Some(metadata.to_owned()),
        ..NewSession::of_type(Type::Agent)
    };
    session::create(&f.ledger, &f.operator, new).await.unwrap();
    let running = f.claim(1, 3_600).await.pop().unwrap();
    f.append(running.id, running.attempt, vec![text("I look it up.")]).await.unwrap();
    let completion =
        Completion { attempt: running.attempt, result: Some(result.to_string()), usage: Some("{}".into()) };
    session::complete(&f.ledger, &f.worker, running.id, completion).await.unwrap()
}

pub async fn due(f: &Fixture) -> Vec<EndedTurn> {
    let taken = claim_ended_turns(&f.ledger, LEASE, 32).await.unwrap();
    assert_eq!(taken.unreadable, 0);
    taken.due
}

pub async fn keep(f: &Fixture, due: &EndedTurn) {
    keep_all(f, std::slice::from_ref(due)).await;
}

pub async fn keep_all(f: &Fixture, due: &[EndedTurn]) {
    let lines = |due: &EndedTurn| {
        let line = |turn: &Turn| Line { about: turn.id, at: turn.at, record: json!(turn.answer).to_string() };
        Lines { interactions: due.turns.iter().map(line).collect(), ..Lines::default() }
    };
    record_turns(&f.ledger, due.iter().map(|due| (due, lines(due))).collect()).await.unwrap();
}

pub async fn lines_of(f: &Fixture, stream: Stream) -> Vec<String> {
    let page = interaction::page_by_operator(&f.ledger, "acme", stream, Uuid::nil(), 100).await.unwrap();
    page.into_iter().map(|(_, record)| record).collect()
}

async fn an_answer_is_due_once_and_kept_once(f: Fixture) {
    assert!(due(&f).await.is_empty());
    let session = answered(&f, "Which port?", &json!("5432")).await;
    let taken = due(&f).await;
    let [only] = taken.as_slice() else { panic!("one turn: {taken:?}") };
    assert_eq!((only.session.id, &only.judged), (session.id, &None));
    let [turn] = only.turns.as_slice() else { panic!("one answer: {only:?}") };
    // The result is the answer. Messages of the agent before it are only context.
    assert_eq!(turn.prompt, [ChatMessage::new(Role::User, "Which port?")]);
    assert_eq!((turn.answer.as_str(), &turn.judgement), ("5432", &None));
    keep(&f, only).await;
    keep(&f, only).await;
    f.clock.advance(LEASE * 2);
    assert!(due(&f).await.is_empty());
    assert_eq!(lines_of(&f, Stream::Interactions).await, [r#""5432""#]);
    f.done().await;
}

async fn a_turn_whose_capture_was_not_recorded_is_due_again(f: Fixture) {
    answered(&f, "Which port?", &json!({ "port": 5432 })).await;
    let first = due(&f).await.pop().unwrap();
    assert!(due(&f).await.is_empty(), "it is somebody else's for the length of the lease");
    f.clock.advance(LEASE + TimeDelta::seconds(1));
    let again = due(&f).await.pop().unwrap();
    assert_eq!(first.turns, again.turns);
    assert_eq!(serde_json::from_str::<Value>(&again.turns[0].answer).unwrap(), json!({ "port": 5432 }));
    f.done().await;
}

async fn reviewers_say_what_an_answer_is_worth(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 12 })).await;
    decide(&f, &f.operator, item.gate.id, says(Verdict::Deny)).await.unwrap();
    assert!(due(&f).await.is_empty(), "the agent works on");
    let again = claim(&f).await;
    complete(&f, &again.session, &json!({ "stage": "Won", "size": 12 })).await;
    let second = gate_of(&f, waiting.id).await;
    f.clock.advance(TimeDelta::seconds(1));
    decide(&f, &f.operator, second.gate.id, edits(&json!({ "size": 13 }))).await.unwrap();

    let taken = due(&f).await.pop().unwrap();
    let judged: Vec<_> = taken.turns.iter().map(|turn| turn.judgement.clone().unwrap()).collect();
    let [edited, denied] = judged.as_slice() else { panic!("two answers: {taken:?}") };
    assert!(!denied.approved && denied.edited.is_none());
    let made: Value = serde_json::from_str(edited.edited.as_deref().unwrap()).unwrap();
    assert_eq!((edited.approved, made), (true, json!({ "stage": "Won", "size": 13 })));
    for turn in &taken.turns {
        assert_eq!(serde_json::from_str::<Value>(&turn.answer).unwrap(), json!({ "stage": "Won", "size": 12 }));
        assert!(!turn.prompt.is_empty());
    }
    f.done().await;
}

async fn a_coding_agents_turns_are_captured_from_its_hooks(f: Fixture) {
    for (hook, more) in [
        ("SessionStart", json!({ "source": "startup" })),
        ("UserPromptSubmit", json!({ "prompt": "Fix the test in ledger.rs" })),
        ("Stop", json!({ "last_assistant_message": "It passes." })),
        ("UserPromptSubmit", json!({ "prompt": "It still does not work." })),
        ("Stop", json!({ "last_assistant_message": "Now it does." })),
        ("SessionEnd", json!({ "reason": "exit" })),
    ] {
        send(&f, &f.operator, payload(hook, more)).await.unwrap();
        f.clock.advance(TimeDelta::seconds(1));
    }
    let turn_capture = Arc::new(TurnCapture::default());
    drain(&f.ledger, &turn_capture).await.unwrap();
    let listed = interaction::list(&f.ledger, &f.operator, ListInteractions::default()).await.unwrap().items;
    let answers: Vec<_> = listed.iter().map(|item| (item.record.clone(), item.outcome, item.label)).collect();
    let [last, first] = answers.as_slice() else { panic!("two answers: {answers:?}") };
    assert!(last.0.contains("Now it does.") && first.0.contains("It passes."), "{answers:?}");
    assert_eq!((last.1, last.2), (None, None));
    assert_eq!((first.1, first.2), (Some(Outcome::Rejected), Some(Feedback::Negative)));
    f.done().await;
}

async fn incognito_and_unworked_sessions_are_not_captured(f: Fixture) {
    answered_with(&f, "A secret", r#"{"incognito":true}"#, &json!("kept secret")).await;
    let unworked = f.pending().await;
    session::cancel(&f.ledger, &f.operator, unworked.id, None).await.unwrap();
    assert!(due(&f).await.is_empty());
    f.done().await;
}

async fn what_waits_for_others_has_not_answered_and_what_an_incognito_session_starts_is_incognito(f: Fixture) {
    for (metadata, answers) in [("{}", 2), (r#"{"incognito":true}"#, 0)] {
        let of_agent = |parent_id| NewSession {
            agent_slug: Some("scout".into()),
            input: Some(json!("Look into it").to_string()),
            parent_id,
            ..NewSession::of_type(Type::Agent)
        };
        let new = NewSession { metadata: Some(metadata.to_owned()), ..of_agent(None) };
        session::create(&f.ledger, &f.operator, new).await.unwrap();
        let parent = f.claim(1, 3_600).await.pop().unwrap();
        f.append(parent.id, 1, vec![text("I ask another.")]).await.unwrap();
        let child = session::create(&f.ledger, &f.operator, of_agent(Some(parent.id))).await.unwrap();
        crate::graph_children::wait(&f, &parent).await.unwrap();
        assert!(due(&f).await.is_empty(), "it waits: nothing was answered");
        let held = f.claim(1, 3_600).await.pop().unwrap();
        assert_eq!(held.id, child.id);
        for (id, attempt) in [(child.id, held.attempt), (parent.id, 2)] {
            if id == parent.id {
                assert_eq!(f.claim(1, 3_600).await.pop().unwrap().id, parent.id);
            }
            let completion = Completion { attempt, result: Some(json!("Done").to_string()), usage: None };
            session::complete(&f.ledger, &f.worker, id, completion).await.unwrap();
        }
        assert_eq!(due(&f).await.iter().map(|due| due.turns.len()).sum::<usize>(), answers);
    }
    f.done().await;
}

async fn feedback_is_kept_by_those_whose_session_it_is_and_those_who_judge(f: Fixture) {
    thread::start(&f.ledger, &f.member, new(Some("Which port?"))).await.unwrap();
    turn(&f, "5432").await;
    let taken = due(&f).await.pop().unwrap();
    keep(&f, &taken).await;
    let id = taken.turns[0].id;
    let mark = async |scope, id: InteractionId, feedback: Feedback| {
        interaction::mark(&f.ledger, scope, id, feedback, move |_| Ok(json!(feedback.as_str()).to_string()), None).await
    };
    let nobody = InteractionId(Uuid::nil());
    for (scope, id) in [(&f.stranger, id), (&f.operator, nobody)] {
        assert!(matches!(mark(scope, id, Feedback::Positive).await, Err(Error::NotFound(_))));
    }
    assert!(matches!(mark(&f.other_member, id, Feedback::Positive).await, Err(Error::Forbidden(_))));
    assert!(matches!(mark(&f.worker, id, Feedback::Positive).await, Err(Error::Forbidden(_))));
    mark(&f.member, id, Feedback::Positive).await.unwrap();
    f.clock.advance(TimeDelta::seconds(1));
    mark(&f.operator, id, Feedback::Negative).await.unwrap();

    let listed = interaction::list(&f.ledger, &f.member, ListInteractions::default()).await.unwrap();
    assert_eq!(listed.items[0].feedback.as_deref(), Some(r#""negative""#));
    assert_eq!(lines_of(&f, Stream::Feedback).await, [r#""positive""#, r#""negative""#]);
    let theirs = interaction::list(&f.ledger, &f.stranger, ListInteractions::default()).await.unwrap();
    assert!(theirs.items.is_empty());
    f.done().await;
}

async fn interactions_come_in_pages_newest_first_and_by_what_is_known(f: Fixture) {
    let mut ids = Vec::new();
    for number in 0..5 {
        answered(&f, "Next?", &json!(number.to_string())).await;
        f.clock.advance(TimeDelta::seconds(1));
    }
    for taken in due(&f).await {
        keep(&f, &taken).await;
        ids.push((taken.session.id, taken.turns[0].id, taken.turns[0].at));
    }
    ids.sort_by_key(|(_, id, _)| *id);
    let pages = async |of: ListInteractions| {
        let mut seen = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let query = ListInteractions { cursor: cursor.clone(), limit: 2, ..of.clone() };
            let page = interaction::list(&f.ledger, &f.operator, query).await.unwrap();
            assert!(page.items.len() <= 2);
            seen.extend(page.items.into_iter().map(|item| item.record));
            cursor = page.next_cursor;
            if cursor.is_none() {
                return seen;
            }
        }
    };
    let numbers =
        |numbers: &[&str]| -> Vec<String> { numbers.iter().map(|number| json!(number).to_string()).collect() };
    let all = ListInteractions::default();
    assert_eq!(pages(all.clone()).await, numbers(&["4", "3", "2", "1", "0"]));
    let good = Feedback::Positive;
    for (_, id, _) in &ids[1..3] {
        interaction::mark(&f.ledger, &f.operator, *id, good, |_| Ok("{}".into()), None).await.unwrap();
    }
    assert_eq!(pages(ListInteractions { feedback: Some(Some(good)), ..all.clone() }).await, numbers(&["2", "1"]));
    assert_eq!(pages(ListInteractions { feedback: Some(None), ..all.clone() }).await, numbers(&["4", "3", "0"]));
    assert!(pages(ListInteractions { outcome: Some(Some(Outcome::Accepted)), ..all.clone() }).await.is_empty());
    assert_eq!(pages(ListInteractions { session_id: Some(ids[3].0), ..all.clone() }).await, numbers(&["3"]));
    assert_eq!(pages(ListInteractions { since: Some(ids[3].2), ..all.clone() }).await, numbers(&["4", "3"]));
    f.done().await;
}

/// Ids of the interactions in the files of a folder.
fn written(layout: &Layout) -> Vec<String> {
    datalake::interactions(layout).map(|line| line.unwrap().id).collect()
}

async fn each_turn_of_a_conversation_is_captured_once_and_judged_by_the_next(f: Fixture) {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::below(folder.path());
    let turn_capture = Arc::new(TurnCapture::with_files(Collector::new(layout.clone(), "00000000")));
    let talk = thread::start(&f.ledger, &f.member, new(Some("What is the stage of Acme?"))).await.unwrap().session;
    turn(&f, "It is Lead.").await;
    assert_eq!(drain(&f.ledger, &turn_capture).await.unwrap(), 1);
    let query = ListInteractions { session_id: Some(talk.id), ..ListInteractions::default() };
    let listed = async || interaction::list(&f.ledger, &f.member, query.clone()).await.unwrap().items;
    // Without a next message a turn has no outcome and no feedback.
    let first = listed().await;
    assert_eq!((first.len(), &first[0].feedback, first[0].outcome), (1, &None, None));
    f.clock.advance(TimeDelta::seconds(5));
    let thanks = Message { text: "Perfect, thanks! And who owns it?".into(), id: None };
    thread::send_message(&f.ledger, &f.member, talk.id, thanks).await.unwrap();
    turn(&f, "Ann owns it.").await;
    // Another server with its own files captures the turn. The first server's files do not have it yet.
    let elsewhere = Arc::new(TurnCapture::default());
    assert_eq!(drain(&f.ledger, &elsewhere).await.unwrap(), 1);
    thread::end(&f.ledger, &f.member, talk.id, ENDING).await.unwrap();
    // Ending the conversation captures no turn again.
    assert_eq!((drain(&f.ledger, &turn_capture).await.unwrap(), turn_capture.captured()), (1, 1));

    let listed = listed().await;
    let [last, first] = listed.as_slice() else { panic!("two answers: {listed:?}") };
    let record: InteractionRecord = serde_json::from_str(&last.record).unwrap();
    let texts: Vec<_> = record.prompt.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(texts, ["What is the stage of Acme?", "It is Lead.", "Perfect, thanks! And who owns it?"]);
    assert_eq!((record.response.as_str(), last.outcome, &last.feedback), ("Ann owns it.", None, &None));
    assert_eq!(first.outcome, Some(Outcome::Accepted));
    let mark: FeedbackRecord = serde_json::from_str(first.feedback.as_deref().unwrap()).unwrap();
    assert_eq!((mark.feedback, mark.source), (Feedback::Positive, Source::OutcomeTracker));
    assert_eq!(written(&layout), [first.id.to_string()]);
    f.done().await;
}

/// The answers of the turns that are due. None of them says anything about an answer before.
async fn due_answers(f: &Fixture) -> Vec<String> {
    let taken = due(f).await;
    assert!(taken.iter().all(|due| due.judged.is_none()), "{taken:?}");
    taken.into_iter().flat_map(|due| due.turns).map(|turn| turn.answer).collect()
}

async fn a_turn_that_failed_is_not_captured(f: Fixture) {
    let id = thread::start(&f.ledger, &f.member, new(Some("Count to ten"))).await.unwrap().session.id;
    let work = async |events: Vec<NewEvent>| {
        let attempt = f.claim(1, 60).await.pop().unwrap().attempt;
        f.append(id, attempt, events).await.unwrap();
        session::yield_to(&f.ledger, &f.worker, id, YieldRequest::at(attempt, YieldTo::Idle)).await.unwrap();
    };
    work(vec![text("1, 2, 3,"), event("session.error")]).await;
    assert!(due_answers(&f).await.is_empty());
    let again = Message { text: "Count to ten".into(), id: None };
    thread::send_message(&f.ledger, &f.member, id, again).await.unwrap();
    // An error after which the agent continues is not the end of its turn.
    work(vec![event("session.error"), text("1 to 10")]).await;
    assert_eq!(due_answers(&f).await, ["1 to 10"]);
    f.done().await;
}

/// Starts a conversation and interrupts its first turn after the agent's first message.
async fn interrupted(f: &Fixture) -> SessionId {
    let id = thread::start(&f.ledger, &f.member, new(Some("Count to a million"))).await.unwrap().session.id;
    let running = f.claim(1, 60).await.pop().unwrap();
    f.append(id, running.attempt, vec![text("1, 2, 3,")]).await.unwrap();
    thread::interrupt(&f.ledger, &f.member, id).await.unwrap();
    id
}

async fn an_interrupted_turn_is_not_captured_by_the_end(f: Fixture) {
    thread::end(&f.ledger, &f.member, interrupted(&f).await, ENDING).await.unwrap();
    assert!(due_answers(&f).await.is_empty());
    f.done().await;
}

async fn nothing_is_inferred_about_an_interrupted_turn(f: Fixture) {
    let message = Message { text: "No, only to ten".into(), id: None };
    thread::send_message(&f.ledger, &f.member, interrupted(&f).await, message).await.unwrap();
    turn(&f, "1 to 10").await;
    assert_eq!(due_answers(&f).await, ["1 to 10"]);
    f.done().await;
}

async fn a_mark_that_could_not_be_written_is_written_later_from_the_database(f: Fixture) {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::below(folder.path());
    let turn_capture = Arc::new(TurnCapture::with_files(Collector::new(layout.clone(), "00000000")));
    let (l, m) = (&f.ledger, &f.member);
    thread::start(l, m, new(Some("What is the stage of Acme?"))).await.unwrap();
    turn(&f, "It is Lead.").await;
    drain(l, &turn_capture).await.unwrap();
    let answer = interaction::list(l, m, ListInteractions::default()).await.unwrap().items.remove(0).id;
    // A file at the path of the folder for feedback makes every write fail, as a full disk does.
    std::fs::write(layout.feedback(), "").unwrap();
    mark(l, &turn_capture, m, answer, Feedback::Negative, (true, Some("It is Won.".into()))).await.unwrap();
    f.clock.advance(TimeDelta::seconds(1));
    mark(l, &turn_capture, m, answer, Feedback::Positive, (false, None)).await.unwrap();
    assert_eq!(turn_capture.failures(), 2);
    assert_eq!(write_marks(l, &turn_capture).await.unwrap(), 0, "they are not due yet");
    f.clock.advance(TimeDelta::minutes(2));
    assert_eq!(
        (write_marks(l, &turn_capture).await.unwrap(), turn_capture.failures()),
        (0, 3),
        "the disk is still full"
    );
    std::fs::remove_file(layout.feedback()).unwrap();
    assert_eq!(write_marks(l, &turn_capture).await.unwrap(), 0, "it is tried again a minute later");
    f.clock.advance(TimeDelta::minutes(2));
    assert_eq!(write_marks(l, &turn_capture).await.unwrap(), 2);
    let in_files: Vec<FeedbackRecord> = datalake::feedback(&layout).map(Result::unwrap).collect();
    let in_database: Vec<FeedbackRecord> =
        lines_of(&f, Stream::Feedback).await.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(in_files.len(), 2);
    assert!(in_files.iter().all(|line| in_database.contains(line)), "{in_files:?} {in_database:?}");
    // A mark that is in its file has no job left. A mark that can be written at once never gets a job.
    mark(l, &turn_capture, m, answer, Feedback::Neutral, (false, None)).await.unwrap();
    f.clock.advance(TimeDelta::minutes(2));
    assert_eq!(write_marks(l, &turn_capture).await.unwrap(), 0);
    assert_eq!(datalake::feedback(&layout).count(), 3);
    f.done().await;
}

async fn what_is_inferred_later_does_not_stand_over_a_persons_own_word(f: Fixture) {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::below(folder.path());
    let turn_capture = Arc::new(TurnCapture::with_files(Collector::new(layout.clone(), "00000000")));
    let talk = thread::start(&f.ledger, &f.member, new(Some("What is the stage of Acme?"))).await.unwrap().session;
    turn(&f, "It is Lead.").await;
    drain(&f.ledger, &turn_capture).await.unwrap();
    let query = ListInteractions { session_id: Some(talk.id), ..ListInteractions::default() };
    let first = interaction::list(&f.ledger, &f.member, query.clone()).await.unwrap().items.remove(0);
    f.clock.advance(TimeDelta::seconds(5));
    mark(&f.ledger, &turn_capture, &f.member, first.id, Feedback::Negative, (false, None)).await.unwrap();
    // Two later messages of the person accept the answers. The outcomes are recorded, but the person's mark stays the
    // label.
    for (message, answer) in
        [("Perfect, thanks! And who owns it?", "Ann owns it."), ("Great. Since when?", "Since May.")]
    {
        f.clock.advance(TimeDelta::seconds(5));
        thread::send_message(&f.ledger, &f.member, talk.id, Message { text: message.into(), id: None }).await.unwrap();
        turn(&f, answer).await;
        drain(&f.ledger, &turn_capture).await.unwrap();
    }
    let listed = interaction::list(&f.ledger, &f.member, query).await.unwrap().items;
    let [_, second, first] = listed.as_slice() else { panic!("three answers: {listed:?}") };
    assert_eq!((first.label, first.outcome), (Some(Feedback::Negative), Some(Outcome::Accepted)));
    assert_eq!((second.label, second.outcome), (Some(Feedback::Positive), Some(Outcome::Accepted)), "nobody judged it");
    let marks: Vec<FeedbackRecord> = datalake::feedback(&layout).map(Result::unwrap).collect();
    let of_first: Vec<_> = marks.iter().filter(|mark| mark.record_id == first.id.to_string()).collect();
    assert_eq!((of_first.len(), of_first[0].source), (1, Source::Manual), "the files say the same: {marks:?}");
    f.done().await;
}

async fn a_crash_between_the_files_and_the_database_repeats_the_same_lines(f: Fixture) {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::below(folder.path());
    answered(&f, "Which port?", &json!("5432")).await;
    // A server has written its files and stopped before it recorded the capture: the turn is leased, and becomes due
    // again later.
    let taken = due(&f).await;
    let mut files = Collector::new(layout.clone(), "11111111");
    let line = |id: InteractionId| InteractionRecord { id: id.to_string(), ..sample() };
    files.write_through(&[line(taken[0].turns[0].id)], &[], &[], f.clock.now()).unwrap();
    f.clock.advance(LEASE + TimeDelta::seconds(1));
    let turn_capture = Arc::new(TurnCapture::with_files(Collector::new(layout.clone(), "22222222")));
    assert_eq!(drain(&f.ledger, &turn_capture).await.unwrap(), 1);
    assert_eq!(drain(&f.ledger, &turn_capture).await.unwrap(), 0);
    let ids = written(&layout);
    assert_eq!((ids.len(), &ids[0]), (2, &ids[1]), "the files hold it twice, under one id");
    let options = Options { min_feedback: MinFeedback::None, ..Options::new(Format::Sft, FileFormat::Jsonl) };
    let inputs = Inputs {
        interactions: Box::new(datalake::interactions(&layout)),
        feedback: Box::new(datalake::feedback(&layout)),
        rating: Box::new(|_| Ok(None)),
    };
    let preview = export::preview(inputs, &options, folder.path(), &mut |_| true).unwrap();
    assert_eq!((preview.manifest.counts.rows, preview.manifest.counts.repeated), (1, 1));
    assert_eq!(lines_of(&f, Stream::Interactions).await.len(), 1);
    f.done().await;
}

fn sample() -> InteractionRecord {
    serde_json::from_value(json!({
        "id": "", "timestamp": "2026-02-26T00:00:00Z", "tenant_id": "", "session_id": "",
        "prompt": [{ "role": "user", "content": "Which port?" }], "response": "5432",
    }))
    .unwrap()
}

async fn what_cannot_be_written_is_counted_and_tried_again_and_sessions_go_on(f: Fixture) {
    let folder = tempfile::tempdir().unwrap();
    // A file at the path of the folder: nothing can be written below it, even by root.
    std::fs::write(folder.path().join("datalake"), "in the way").unwrap();
    let turn_capture = Arc::new(TurnCapture::with_files(Collector::new(Layout::below(folder.path()), "00000000")));
    let session = answered(&f, "Which port?", &json!("5432")).await;
    assert_eq!(session.status(), Status::Completed);
    assert_eq!(
        (drain(&f.ledger, &turn_capture).await.unwrap(), turn_capture.failures(), turn_capture.captured()),
        (0, 1, 0)
    );
    answered(&f, "And MySQL?", &json!("3306")).await;
    assert_eq!((drain(&f.ledger, &turn_capture).await.unwrap(), turn_capture.failures()), (0, 2));
    std::fs::remove_file(folder.path().join("datalake")).unwrap();
    f.clock.advance(LEASE + TimeDelta::seconds(1));
    assert_eq!((drain(&f.ledger, &turn_capture).await.unwrap(), turn_capture.captured()), (2, 2));
    assert_eq!(written(&Layout::below(folder.path())).len(), 2);
    f.done().await;
}
