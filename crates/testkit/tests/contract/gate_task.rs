//! What a gate takes from the task of its session: reviewers, entity, safety rules, usage, and what it is grouped by.

use crate::{
    entity::{acme, company, values},
    gate::{at_once, claim, complete, decide, gate_of, gated, safety, says, staged},
    response::questions,
};
use chrono::TimeDelta;
use domain::{
    Scope,
    action::OutputType,
    gate::{GateKind, GateState, PausedToolCall, Question, Verdict},
    id::{EventId, FeedbackRequestId},
    session::{EndReason, Session, Status, YieldTo},
};
use ledger::{
    ActionRecord, Error, ReviewerRecord,
    action::{self, NewAction, Trigger},
    gate::{self, GateItem, NewDecision, Reply},
    page::inbox,
    session::{self, YieldRequest},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_call_and_a_question_ask_the_reviewers_of_the_task,
    a_gate_names_the_entity_that_its_approval_writes,
    each_entity_of_a_list_is_judged_alone,
    a_session_that_waits_or_is_blocked_keeps_its_usage,
    gates_are_alike_by_agent_tool_and_keys_of_the_values,
    questions_are_alike_only_with_the_same_text_and_form,
    a_question_is_not_approved,
    alike_gates_are_counted_on_all_pages,
    the_answer_of_a_decision_reaches_the_agent_with_its_author,
    a_question_that_was_answered_or_declined_is_not_closed_again,
    an_answer_with_the_id_of_another_event_is_refused,
    a_question_of_a_yield_has_no_form_of_fields,
    a_report_is_a_repeat_only_with_the_same_attempt_and_output,
    the_decision_of_a_gate_is_the_last_one_that_counts,
    the_log_says_whether_an_approved_output_has_a_result,
);

/// Creates an action that makes and changes companies, several at once, and waits for approval.
async fn lists(f: &Fixture, new: NewAction, mut config: Value) -> ActionRecord {
    config["entityType"] = "company".into();
    let new = NewAction {
        name: "Sort".into(),
        agent_slug: Some("scout".into()),
        output_type: Some(OutputType::Entities),
        output_config: Some(config.to_string()),
        metadata: Some(json!({ "requiresApproval": true }).to_string()),
        ..new
    };
    action::create(&f.ledger, &f.operator, new).await.unwrap()
}

/// Starts a session of the action as the member, and claims it.
async fn started(f: &Fixture, of: &ActionRecord) -> Session {
    action::trigger(&f.ledger, &f.member, of.id, Trigger::default()).await.unwrap();
    claim(f).await.session
}

async fn paused(f: &Fixture, session: &Session, call: PausedToolCall) -> GateItem {
    let pause =
        YieldRequest { paused_tool_call: Some(call), ..YieldRequest::at(session.attempt, YieldTo::AwaitingTool) };
    session::yield_to(&f.ledger, &f.worker, session.id, pause).await.unwrap();
    gate_of(f, session.id).await
}

async fn opened(f: &Fixture, session: &Session) -> GateItem {
    let question = Some(Question::new("When?".into(), None));
    let ask = YieldRequest { question, ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
    session::yield_to(&f.ledger, &f.worker, session.id, ask).await.unwrap();
    gate_of(f, session.id).await
}

fn call(tool: &str, input: Value) -> PausedToolCall {
    PausedToolCall { tool_call_id: "call-1".into(), tool_name: tool.into(), tool_input: values(input) }
}

async fn a_call_and_a_question_ask_the_reviewers_of_the_task(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let reviewer = f.other_member.user_id().unwrap();
    let policy = json!({ "reviewers": [format!("user:{reviewer}")], "quorum": 2, "expiresAfterSeconds": 60 });
    let of = gated(&f, Some(acme.id), policy, json!({})).await;
    let session = started(&f, &of).await;
    let of_call = paused(&f, &session, call("send_mail", json!({}))).await;
    let session = started(&f, &of).await;
    let of_question = opened(&f, &session).await;
    for item in [of_call, of_question] {
        assert_eq!((item.gate.quorum, item.gate.action_name.as_deref()), (2, Some("Qualify")));
        assert_eq!(item.gate.due_at, Some(item.gate.opened_at + chrono::TimeDelta::seconds(60)));
        assert!(matches!(item.reviewers[..], [ReviewerRecord::User { id, .. }] if id == reviewer), "{item:?}");
    }
    f.done().await;
}

async fn a_gate_names_the_entity_that_its_approval_writes(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let about = NewAction { target_entity_id: Some(acme.id), ..NewAction::default() };
    let of = lists(&f, about, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "entities": [{ "title": "New", "stage": "Lead" }] })).await;
    assert_eq!(item.gate.entity_id, None, "a list writes other entities than the one that the task is about");
    let detail = gate::get(&f.ledger, &f.operator, item.gate.id).await.unwrap();
    let fields: Vec<_> = detail.fields.iter().map(|field| field.slug.as_str()).collect();
    assert_eq!(fields, ["stage", "size", "parent"], "those of the type that is made");
    let session = started(&f, &of).await;
    let of_call = paused(&f, &session, call("send_mail", json!({}))).await;
    assert_eq!(of_call.gate.entity_id, Some(acme.id), "a call is about the entity of its task");
    f.done().await;
}

async fn each_entity_of_a_list_is_judged_alone(f: Fixture) {
    company(&f).await;
    let of = lists(&f, NewAction::default(), safety(&f).await).await;
    let one = |title: &str, claims: &str| json!({ "title": title, "stage": "Lead", "claim_safety": claims });
    let (_, item) = staged(&f, &of, &json!({ "entities": [one("A", "pass"), one("B", "soft")] })).await;
    assert_eq!((item.gate.score, item.gate.flags), (Some(0.75), vec!["2. claim_safety: soft".to_owned()]));
    for second in [one("B", "fail"), json!({ "title": "B", "stage": "Lead" })] {
        let session = started(&f, &of).await;
        let failed = complete(&f, &session, &json!({ "entities": [one("A", "pass"), second] })).await;
        assert_eq!((failed.status(), failed.end_reason()), (Status::Failed, Some(EndReason::HardBlock)));
    }
    // A list without entities has no value for the dimension that can block.
    let session = started(&f, &of).await;
    let failed = complete(&f, &session, &json!({ "entities": [] })).await;
    assert_eq!((failed.status(), failed.end_reason()), (Status::Failed, Some(EndReason::HardBlock)));
    f.done().await;
}

async fn a_session_that_waits_or_is_blocked_keeps_its_usage(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, safety(&f).await).await;
    for (claims, expected) in [("pass", Status::WaitingHuman), ("fail", Status::Failed)] {
        let session = started(&f, &of).await;
        let completion = session::Completion {
            attempt: session.attempt,
            result: Some(json!({ "stage": "Won", "claim_safety": claims }).to_string()),
            usage: Some(json!({ "inputTokens": 7 }).to_string()),
        };
        let after = session::complete(&f.ledger, &f.worker, session.id, completion).await.unwrap();
        let usage: Value = serde_json::from_str(after.usage.as_deref().unwrap()).unwrap();
        assert_eq!((after.status(), usage), (expected, json!({ "inputTokens": 7 })));
    }
    f.done().await;
}

async fn gates_are_alike_by_agent_tool_and_keys_of_the_values(f: Fixture) {
    let mut keys = Vec::new();
    for (tool, input) in [
        ("send_mail", json!({ "to": "ada" })),
        ("send_mail", json!({ "to": "max" })),
        ("send_mail", json!({ "to": "ada", "subject": "Hi" })),
        ("call", json!({ "to": "ada" })),
    ] {
        let session = f.running().await;
        keys.push(paused(&f, &session, call(tool, input)).await.gate.similar_key);
    }
    assert_eq!(keys[0], keys[1], "other values of the same keys");
    assert!(keys[2] != keys[0] && keys[3] != keys[0] && keys[3] != keys[2], "{keys:?}");
    f.done().await;
}

async fn questions_are_alike_only_with_the_same_text_and_form(f: Fixture) {
    let mut keys = Vec::new();
    let yes_or_no = || Some(json!({ "type": "boolean" }));
    for (message, schema) in [("When?", None), ("When?", None), ("May I?", None), ("When?", yes_or_no())] {
        let session = f.running().await;
        let question = Some(Question::new(message.into(), schema));
        let ask = YieldRequest { question, ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
        session::yield_to(&f.ledger, &f.worker, session.id, ask).await.unwrap();
        keys.push(gate_of(&f, session.id).await.gate.similar_key);
    }
    assert_eq!(keys[0], keys[1], "the same text and form");
    assert!(keys[2] != keys[0] && keys[3] != keys[0] && keys[3] != keys[2], "{keys:?}");
    f.done().await;
}

async fn a_question_is_not_approved(f: Fixture) {
    let session = f.running().await;
    let item = opened(&f, &session).await;
    for verdict in [Verdict::Approve, Verdict::Edit] {
        let Err(Error::Invalid(issues)) = decide(&f, &f.operator, item.gate.id, says(verdict)).await else {
            panic!("{verdict} was recorded")
        };
        assert!(issues[0].message.starts_with("Questions need an answer"), "{issues:?}");
    }
    assert_eq!(gate_of(&f, session.id).await.gate.state.name(), GateState::Open);
    f.done().await;
}

async fn alike_gates_are_counted_on_all_pages(f: Fixture) {
    for to in ["ada", "max", "kim"] {
        let session = f.running().await;
        paused(&f, &session, call("send_mail", json!({ "to": to }))).await;
    }
    // Gates of one instant are ordered by random ids, and the first page has to end with a mail.
    f.clock.advance(TimeDelta::milliseconds(1));
    let session = f.running().await;
    let other = opened(&f, &session).await.gate.similar_key;
    for everyone in [true, false] {
        let filter = gate::GateFilter::In(GateState::Open);
        let first = gate::ListGates { filter, kind: None, all: everyone, limit: 1, cursor: None };
        let first = gate::list(&f.ledger, &f.operator, first).await.unwrap();
        let mails = first.items[0].gate.similar_key.clone();
        let list = async |cursor| {
            let request = inbox::ListRequest { filter, everyone, line: None, cursor };
            inbox::list(&f.ledger, &f.operator, request).await.unwrap()
        };
        let rest = list(first.next_cursor).await;
        assert_eq!((rest.items.len(), rest.alike.get(&mails), rest.alike.get(&other)), (3, Some(&3), Some(&1)));
        assert!(list(None).await.alike.is_empty(), "one page has all of them");
    }
    f.done().await;
}

async fn the_answer_of_a_decision_reaches_the_agent_with_its_author(f: Fixture) {
    at_once(&f).await;
    let session = f.running().await;
    let item = opened(&f, &session).await;
    let answer = NewDecision { value: Some(json!("now")), ..says(Verdict::Respond) };
    decide(&f, &f.operator, item.gate.id, answer).await.unwrap();
    let resume = claim(&f).await.resume.unwrap();
    assert_eq!((resume.kind, resume.answer.as_deref()), (GateKind::Question, Some("\"now\"")));
    let given = resume.question.unwrap();
    assert_eq!(given.respondent.label.as_deref(), Some("otto@acme.test"));
    assert!(given.block.contains("otto@acme.test") && given.block.contains("now"), "{}", given.block);
    f.done().await;
}

async fn a_question_that_was_answered_or_declined_is_not_closed_again(f: Fixture) {
    at_once(&f).await;
    let closes = async |by: &Scope, item: &GateItem| gate::cancel_question(&f.ledger, by, item.gate.id).await;
    let is_closed = |closed: ledger::Result<()>| {
        matches!(closed, Err(Error::GateClosed { state: GateState::Settled })).then_some(()).ok_or(closed)
    };

    let session = f.running().await;
    let cancelled = opened(&f, &session).await;
    closes(&f.operator, &cancelled).await.unwrap();
    closes(&f.operator, &cancelled).await.unwrap();
    is_closed(closes(&f.admin, &cancelled).await).unwrap();

    let session = claim(&f).await.session;
    let declined = opened(&f, &session).await;
    decide(&f, &f.operator, declined.gate.id, says(Verdict::Deny)).await.unwrap();
    is_closed(closes(&f.operator, &declined).await).unwrap();

    let session = claim(&f).await.session;
    let answered = opened(&f, &session).await;
    gate::reply(&f.ledger, &f.operator, session.id, Reply::Accept(json!("now"))).await.unwrap();
    is_closed(closes(&f.operator, &answered).await).unwrap();
    f.done().await;
}

async fn an_answer_with_the_id_of_another_event_is_refused(f: Fixture) {
    let session = f.running().await;
    opened(&f, &session).await;
    let used = f.log(session.id).await.pop().unwrap().id;
    let answer = || Reply::Accept(json!("now"));
    let refused = gate::reply_as(&f.ledger, &f.operator, session.id, Some(used), answer()).await;
    assert!(matches!(refused, Err(Error::IdConflict { .. })), "{refused:?}");
    let fresh = Some(EventId(uuid::Uuid::from_u128(fastrand::u128(..))));
    gate::reply_as(&f.ledger, &f.operator, session.id, fresh, answer()).await.unwrap();
    f.done().await;
}

/// The server makes questions with fields and of requests itself, from feedback requests.
async fn a_question_of_a_yield_has_no_form_of_fields(f: Fixture) {
    let session = f.running().await;
    let plain = || Question::new("When?".into(), None);
    let request_id = Some(FeedbackRequestId(uuid::Uuid::from_u128(fastrand::u128(..))));
    for question in [Question { fields: questions(), ..plain() }, Question { request_id, ..plain() }] {
        let ask = YieldRequest { question: Some(question), ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
        let refused = session::yield_to(&f.ledger, &f.worker, session.id, ask).await;
        assert!(matches!(&refused, Err(Error::Invalid(errors)) if errors[0].field == "question"), "{refused:?}");
    }
    opened(&f, &session).await;
    f.done().await;
}

async fn a_report_is_a_repeat_only_with_the_same_attempt_and_output(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, _) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    for (attempt, stage, is_repeat) in [(1, "Won", true), (1, "Lead", false), (2, "Won", false)] {
        let result = Some(json!({ "stage": stage }).to_string());
        let completion = session::Completion { attempt, result, usage: None };
        let reported = session::complete(&f.ledger, &f.worker, waiting.id, completion).await;
        assert_eq!(reported.is_ok(), is_repeat, "attempt {attempt}, {stage}: {reported:?}");
    }
    f.done().await;
}

async fn the_decision_of_a_gate_is_the_last_one_that_counts(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), json!({ "quorum": 2 }), json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let id = item.gate.id;
    assert_eq!(item.decision(), None);
    let one = decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(one.decision().map(|decision| decision.number), Some(1));
    let two = decide(&f, &f.admin, id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(two.decision().map(|decision| decision.number), Some(2));
    let undone = gate::undo(&f.ledger, &f.admin, id).await.unwrap();
    assert_eq!(undone.decision().map(|decision| decision.number), Some(1));
    f.done().await;
}

async fn the_log_says_whether_an_approved_output_has_a_result(f: Fixture) {
    at_once(&f).await;
    let new = NewAction {
        name: "Say".into(),
        agent_slug: Some("scout".into()),
        metadata: Some(json!({ "requiresApproval": true }).to_string()),
        ..NewAction::default()
    };
    let of = action::create(&f.ledger, &f.operator, new).await.unwrap();
    for (output, has_result) in [(json!("Done."), true), (Value::Null, false)] {
        let (waiting, item) = staged(&f, &of, &output).await;
        decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
        let log = f.log(waiting.id).await;
        let completed = log.iter().find(|event| event.kind == "session.completed").unwrap();
        let metadata: Value = serde_json::from_str(&completed.metadata).unwrap();
        assert_eq!(metadata["hasResult"], has_result, "{output}");
    }
    f.done().await;
}
