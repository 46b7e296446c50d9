//! What continues a session that its worker left idle or waiting for a custom tool.

use crate::{gate::claim, graph::now, thread::rested};
use domain::{
    Scope,
    event::{EventRole, NewEvent},
    gate::PausedToolCall,
    id::EventId,
    limit::{CLAIM_MESSAGES_BYTES_MAX, CLAIM_MESSAGES_MAX, THREAD_MESSAGE_CHARS_MAX, TOOL_RESULTS_MAX},
    role::{Role, TokenScope},
    session::{EndReason, Refusal, Session, Status, Type, YieldTo},
};
use ledger::{
    Error,
    action::{self, NewAction, Trigger},
    auth,
    session::{self, Claimed, Completion, Failure, NewSession, ToolResult, ToolResults, YieldRequest},
    thread::{self, Message},
    token,
};
use serde_json::{Value, json, value::RawValue};
use testkit::{Fixture, event, on_both_engines, text};
use uuid::Uuid;

on_both_engines!(
    a_message_continues_an_idle_session_and_is_recorded_once,
    a_claim_has_the_first_of_many_messages_and_says_that_there_are_more,
    what_no_message_can_continue_says_why,
    the_worker_of_an_idle_session_takes_it_back_and_completes_or_fails_it,
    the_results_of_custom_tools_continue_a_session_and_are_in_the_next_claim,
    results_can_arrive_one_after_the_other,
    a_result_that_fits_no_wait_is_refused_with_the_reason,
    only_who_started_a_session_or_manages_it_supplies_results,
    a_decision_is_not_given_again_after_a_later_wait,
    the_worker_of_an_idle_session_completes_or_fails_it_without_taking_it_back,
    a_report_for_one_status_is_refused_in_any_other,
    an_idle_conversation_takes_no_report,
    an_idle_session_whose_result_needs_approval_is_taken_back_before_it_is_completed,
    a_result_that_breaks_its_contract_leaves_an_idle_session_idle_and_then_fails_it,
    a_response_or_mixed_session_is_not_created_by_itself,
);

fn say(text: &str) -> Message {
    Message { text: text.into(), id: None }
}

async fn parked(f: &Fixture, to: YieldTo) -> Session {
    let running = f.running().await;
    session::yield_to(&f.ledger, &f.worker, running.id, YieldRequest::at(1, to)).await.unwrap()
}

fn result(call: &str, output: &Value) -> ToolResult {
    ToolResult { tool_call_id: call.into(), tool_name: None, output: output.to_string(), is_error: false }
}

fn results(results: Vec<ToolResult>) -> ToolResults {
    ToolResults { results, more: false }
}

fn call(id: &str) -> NewEvent {
    let content = json!([{ "type": "tool-call", "toolCallId": id, "toolName": "build", "input": {} }]).to_string();
    NewEvent { content: Some(RawValue::from_string(content).unwrap()), ..event("agent.tool_call") }
}

async fn supply(f: &Fixture, by: &Scope, of: &Session, supplied: ToolResults) -> ledger::Result<Session> {
    session::supply_tool_results(&f.ledger, by, of.id, supplied).await
}

fn not_now(refused: Result<impl std::fmt::Debug, Error>) -> &'static str {
    match refused {
        Err(Error::NotNow(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

async fn a_message_continues_an_idle_session_and_is_recorded_once(f: Fixture) {
    let idle = parked(&f, YieldTo::Idle).await;
    let message = Message { text: "Also look at Globex.".into(), id: Some(EventId(Uuid::from_u128(7))) };
    let send = async || thread::message_session(&f.ledger, &f.operator, idle.id, message.clone()).await.unwrap();
    let (sent, again) = (send().await, send().await);
    assert_eq!((sent.session.status(), sent.sequence), (Status::Pending, again.sequence));
    // One more while it is queued is recorded too.
    thread::message_session(&f.ledger, &f.admin, idle.id, say("And at Initech.")).await.unwrap();
    let log = f.log(idle.id).await;
    let said: Vec<_> = log.iter().filter(|event| event.kind == "user.message").collect();
    assert_eq!(said.len(), 2, "{log:#?}");
    assert!(said.iter().all(|event| event.role == EventRole::User && event.actor.starts_with("user:")));
    let claimed = claim(&f).await;
    assert_eq!((claimed.session.id, claimed.session.attempt), (idle.id, 2));
    assert!(claimed.resume.is_none() && claimed.tool_results.is_empty());
    assert_eq!(texts(&claimed), ["Also look at Globex.", "And at Initech."]);
    assert_eq!((claimed.messages[0].sequence, claimed.messages[0].by.as_str()), (sent.sequence, &*said[0].actor));
    let refused = thread::message_session(&f.ledger, &f.operator, idle.id, say("x")).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::WrongStatus { status: Status::Running }))), "{refused:?}");
    // A claim after a lost or released lease has them again, and one after a later wait has not.
    session::release(&f.ledger, &f.worker, idle.id, 2).await.unwrap();
    assert_eq!(texts(&claim(&f).await), ["Also look at Globex.", "And at Initech."]);
    f.append(idle.id, 3, vec![text("Done.")]).await.unwrap();
    session::yield_to(&f.ledger, &f.worker, idle.id, YieldRequest::at(3, YieldTo::Idle)).await.unwrap();
    thread::message_session(&f.ledger, &f.operator, idle.id, say("Thanks.")).await.unwrap();
    assert_eq!(texts(&claim(&f).await), ["Thanks."]);
    // A conversation takes messages in the same way. Its worker reads all of them.
    let talk = rested(&f).await;
    let sent = thread::message_session(&f.ledger, &f.member, talk.id, say("And of Globex?")).await.unwrap();
    assert_eq!((sent.session.status(), sent.turns), (Status::Pending, 2));
    assert!(texts(&claim(&f).await).is_empty());
    f.assert_verified().await;
    f.done().await;
}

fn texts(claimed: &Claimed) -> Vec<&str> {
    claimed.messages.iter().map(|message| message.text.as_str()).collect()
}

async fn a_claim_has_the_first_of_many_messages_and_says_that_there_are_more(f: Fixture) {
    let idle = parked(&f, YieldTo::Idle).await;
    for n in 0..=CLAIM_MESSAGES_MAX {
        thread::message_session(&f.ledger, &f.operator, idle.id, say(&n.to_string())).await.unwrap();
    }
    let claimed = claim(&f).await;
    assert_eq!((claimed.messages.len(), claimed.has_more_messages), (CLAIM_MESSAGES_MAX as usize, true));
    assert_eq!(claimed.messages[0].text, "0");
    session::yield_to(&f.ledger, &f.worker, idle.id, YieldRequest::at(2, YieldTo::Idle)).await.unwrap();
    let long = "é".repeat(THREAD_MESSAGE_CHARS_MAX);
    let fit = CLAIM_MESSAGES_BYTES_MAX / long.len();
    for _ in 0..=fit {
        thread::message_session(&f.ledger, &f.operator, idle.id, say(&long)).await.unwrap();
    }
    let claimed = claim(&f).await;
    assert_eq!((claimed.messages.len(), claimed.has_more_messages), (fit, true));
    f.done().await;
}

async fn what_no_message_can_continue_says_why(f: Fixture) {
    let unclaimed = f.pending().await;
    let refused = thread::message_session(&f.ledger, &f.operator, unclaimed.id, say("x")).await;
    assert!(not_now(refused).contains("a worker has claimed"));
    let parent = f.claim(1, 3_600).await.pop().unwrap();
    let child =
        NewSession { agent_slug: Some("other".into()), parent_id: Some(parent.id), ..NewSession::of_type(Type::Agent) };
    session::create(&f.ledger, &f.worker, child).await.unwrap();
    let waits = YieldRequest { waits_for_children: true, ..YieldRequest::at(1, YieldTo::Idle) };
    session::yield_to(&f.ledger, &f.worker, parent.id, waits).await.unwrap();
    let refused = thread::message_session(&f.ledger, &f.operator, parent.id, say("x")).await;
    assert!(not_now(refused).contains("sessions that it started"));
    let refused = thread::message_session(&f.ledger, &f.member, parent.id, say("x")).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let refused = thread::message_session(&f.ledger, &f.worker, parent.id, say("x")).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    session::cancel(&f.ledger, &f.operator, parent.id, None).await.unwrap();
    let refused = thread::message_session(&f.ledger, &f.operator, parent.id, say("x")).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::AlreadyFinal { .. }))), "{refused:?}");
    f.done().await;
}

async fn the_worker_of_an_idle_session_takes_it_back_and_completes_or_fails_it(f: Fixture) {
    let idle = parked(&f, YieldTo::Idle).await;
    let woken = session::wake(&f.ledger, &f.worker, idle.id, 1, Some(600)).await.unwrap();
    assert_eq!((woken.status(), woken.attempt, woken.lease_seconds()), (Status::Running, 1, Some(600)));
    f.append(idle.id, 1, vec![text("Back.")]).await.unwrap();
    session::yield_to(&f.ledger, &f.worker, idle.id, YieldRequest::at(1, YieldTo::Idle)).await.unwrap();
    let stale = session::wake(&f.ledger, &f.worker, idle.id, 9, None).await;
    assert!(matches!(stale, Err(Error::Refused(Refusal::StaleAttempt { current: 1, .. }))), "{stale:?}");
    let wrong = session::wake(&f.ledger, &f.worker, idle.id, 1, Some(0)).await;
    assert!(matches!(&wrong, Err(Error::Invalid(issues)) if issues[0].field == "leaseSeconds"), "{wrong:?}");
    session::wake(&f.ledger, &f.worker, idle.id, 1, None).await.unwrap();
    let again = session::wake(&f.ledger, &f.worker, idle.id, 1, None).await;
    assert!(matches!(again, Err(Error::Refused(Refusal::WrongStatus { .. }))), "{again:?}");
    let done = Completion { attempt: 1, result: Some("42".into()), usage: None };
    let completed = session::complete(&f.ledger, &f.worker, idle.id, done).await.unwrap();
    assert_eq!((completed.status(), completed.result()), (Status::Completed, Some("42")));
    let other = parked(&f, YieldTo::Idle).await;
    session::wake(&f.ledger, &f.worker, other.id, 1, None).await.unwrap();
    let failure = Failure { attempt: 1, message: "Nobody came.".into(), code: None, usage: None };
    let failed = session::fail(&f.ledger, &f.worker, other.id, failure).await.unwrap();
    assert_eq!((failed.status(), failed.end_reason()), (Status::Failed, Some(EndReason::Error)));
    let talk = rested(&f).await;
    let refused = session::wake(&f.ledger, &f.worker, talk.id, 1, None).await;
    assert!(not_now(refused).contains("message of its person"));
    f.assert_verified().await;
    f.done().await;
}

fn done() -> Completion {
    Completion { attempt: 1, result: Some("42".into()), usage: None }
}

fn task() -> NewAction {
    NewAction { name: "Report".into(), agent_slug: Some("scout".into()), ..NewAction::default() }
}

/// A session of a new action, which its worker left idle.
async fn rested_run(f: &Fixture, task: NewAction) -> Session {
    let action = action::create(&f.ledger, &f.operator, task).await.unwrap();
    action::trigger(&f.ledger, &f.operator, action.id, Trigger::default()).await.unwrap();
    let id = claim(f).await.session.id;
    session::yield_to(&f.ledger, &f.worker, id, YieldRequest::at(1, YieldTo::Idle)).await.unwrap()
}

fn gone() -> Failure {
    Failure { attempt: 1, message: "Nobody came.".into(), code: None, usage: None }
}

async fn the_worker_of_an_idle_session_completes_or_fails_it_without_taking_it_back(f: Fixture) {
    let idle = parked(&f, YieldTo::Idle).await;
    let stale = session::complete(&f.ledger, &f.worker, idle.id, Completion { attempt: 2, ..done() }).await;
    assert!(matches!(stale, Err(Error::Refused(Refusal::StaleAttempt { current: 1, .. }))), "{stale:?}");
    for _ in 0..2 {
        let completed = session::complete(&f.ledger, &f.worker, idle.id, done()).await.unwrap();
        assert_eq!((completed.status(), completed.result()), (Status::Completed, Some("42")));
    }
    for to in [YieldTo::Idle, YieldTo::AwaitingTool] {
        let parked = parked(&f, to).await;
        let failed = session::fail(&f.ledger, &f.worker, parked.id, gone()).await.unwrap();
        assert_eq!((failed.status(), failed.end_reason()), (Status::Failed, Some(EndReason::Error)));
    }
    // No session completes while it waits for a tool or a person, and none fails while it waits for a person.
    for to in [YieldTo::AwaitingTool, YieldTo::WaitingHuman] {
        let parked = parked(&f, to).await;
        let completed = session::complete(&f.ledger, &f.worker, parked.id, done()).await;
        assert!(matches!(completed, Err(Error::Refused(Refusal::WrongStatus { .. }))), "{completed:?}");
        let failed = session::fail(&f.ledger, &f.worker, parked.id, gone()).await;
        assert_eq!(failed.is_ok(), to == YieldTo::AwaitingTool);
    }
    f.assert_verified().await;
    f.done().await;
}

/// A command that yields its session and then ends is reported as completed or failed by the program that runs it.
async fn a_report_for_one_status_is_refused_in_any_other(f: Fixture) {
    for to in [YieldTo::Idle, YieldTo::AwaitingTool] {
        let parked = parked(&f, to).await;
        let completed = session::complete_in(&f.ledger, &f.worker, parked.id, done(), Some(Status::Running)).await;
        let failed = session::fail_in(&f.ledger, &f.worker, parked.id, gone(), Some(Status::Running)).await;
        for refused in [completed, failed] {
            assert!(matches!(refused, Err(Error::Refused(Refusal::WrongStatus { .. }))), "{refused:?}");
        }
        assert_eq!(now(&f, parked.id).await.status(), to.status());
    }
    let running = f.running().await;
    let refused = session::complete_in(&f.ledger, &f.worker, running.id, done(), Some(Status::Idle)).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::WrongStatus { status: Status::Running }))), "{refused:?}");
    session::complete_in(&f.ledger, &f.worker, running.id, done(), Some(Status::Running)).await.unwrap();
    f.done().await;
}

/// A worker whose turn was interrupted would otherwise end the conversation with its report.
async fn an_idle_conversation_takes_no_report(f: Fixture) {
    let talk = rested(&f).await;
    let completed = session::complete(&f.ledger, &f.worker, talk.id, done()).await;
    let failed = session::fail(&f.ledger, &f.worker, talk.id, gone()).await;
    for refused in [completed, failed] {
        assert!(matches!(refused, Err(Error::Refused(Refusal::WrongStatus { status: Status::Idle }))), "{refused:?}");
    }
    f.done().await;
}

async fn an_idle_session_whose_result_needs_approval_is_taken_back_before_it_is_completed(f: Fixture) {
    let gated = NewAction { metadata: Some(r#"{"requiresApproval":true}"#.into()), ..task() };
    let claimed = rested_run(&f, gated).await;
    let result = Completion { result: Some("\"Done.\"".into()), ..done() };
    let refused = session::complete(&f.ledger, &f.worker, claimed.id, result.clone()).await;
    assert!(not_now(refused).contains("wake"));
    session::wake(&f.ledger, &f.worker, claimed.id, 1, None).await.unwrap();
    let staged = session::complete(&f.ledger, &f.worker, claimed.id, result).await.unwrap();
    assert_eq!(staged.status(), Status::WaitingHuman);
    f.done().await;
}

async fn a_result_that_breaks_its_contract_leaves_an_idle_session_idle_and_then_fails_it(f: Fixture) {
    let short = json!({ "schema": { "type": "string", "maxLength": 2 } }).to_string();
    let claimed = rested_run(&f, NewAction { output_config: Some(short), ..task() }).await;
    for (result, status) in [("\"Done.\"", Status::Idle), ("\"Done.\"", Status::Idle), ("\"Over.\"", Status::Failed)] {
        let wrong = Completion { result: Some(result.into()), ..done() };
        let refused = session::complete(&f.ledger, &f.worker, claimed.id, wrong).await;
        assert!(matches!(refused, Err(Error::OutputInvalid { .. })), "{refused:?}");
        assert_eq!(now(&f, claimed.id).await.status(), status);
    }
    f.assert_verified().await;
    f.done().await;
}

async fn the_results_of_custom_tools_continue_a_session_and_are_in_the_next_claim(f: Fixture) {
    let running = f.running().await;
    f.append(running.id, 1, vec![call("c1"), call("c2")]).await.unwrap();
    let waiting = YieldRequest::at(1, YieldTo::AwaitingTool);
    let waits = session::yield_to(&f.ledger, &f.worker, running.id, waits_of(waiting)).await.unwrap();
    let broken = ToolResult { is_error: true, ..result("c2", &json!("no disk")) };
    let both = results(vec![result("c1", &json!({ "ok": 1.0 })), broken]);
    let queued = supply(&f, &f.operator, &waits, both.clone()).await.unwrap();
    assert_eq!(queued.status(), Status::Pending);
    let recorded: Vec<_> = f.log(waits.id).await.into_iter().filter(|e| e.kind == "user.tool_result").collect();
    assert_eq!(recorded.len(), 2);
    assert!(recorded.iter().all(|e| e.role == EventRole::User && e.actor.starts_with("user:")), "{recorded:#?}");
    let part: Value = serde_json::from_str(&recorded[0].content).unwrap();
    let named = json!([{
        "type": "tool-result", "toolCallId": "c1", "toolName": "build", "output": { "ok": 1.0 }, "isError": false,
    }]);
    assert_eq!(part, named);
    // The claim has them, and so has the next one if the lease is lost or released.
    for attempt in [2, 3] {
        let claimed = claim(&f).await;
        assert_eq!(claimed.session.attempt, attempt);
        let given: Vec<_> =
            claimed.tool_results.iter().map(|given| (&*given.result.tool_call_id, given.result.is_error)).collect();
        assert_eq!(given, [("c1", false), ("c2", true)]);
        assert_eq!(claimed.tool_results[0].result.tool_name.as_deref(), Some("build"));
        // A repeat changes nothing, whatever became of the session.
        let again = supply(&f, &f.operator, &waits, both.clone()).await.unwrap();
        assert_eq!(again.head_sequence, claimed.session.head_sequence);
        if attempt == 2 {
            session::release(&f.ledger, &f.worker, waits.id, 2).await.unwrap();
        }
    }
    session::yield_to(&f.ledger, &f.worker, waits.id, YieldRequest::at(3, YieldTo::Idle)).await.unwrap();
    thread::message_session(&f.ledger, &f.operator, waits.id, say("Go on.")).await.unwrap();
    assert!(claim(&f).await.tool_results.is_empty(), "they belong to an earlier wait");
    f.assert_verified().await;
    f.done().await;
}

fn waits_of(request: YieldRequest) -> YieldRequest {
    YieldRequest { detail: Some("The build runs elsewhere.".into()), ..request }
}

async fn results_can_arrive_one_after_the_other(f: Fixture) {
    let waits = parked(&f, YieldTo::AwaitingTool).await;
    let first = ToolResults { more: true, ..results(vec![result("a", &json!(1))]) };
    let still = supply(&f, &f.operator, &waits, first.clone()).await.unwrap();
    assert_eq!(still.status(), Status::AwaitingTool);
    let again = supply(&f, &f.operator, &waits, first).await.unwrap();
    assert_eq!(again.head_sequence, still.head_sequence);
    let other = supply(&f, &f.operator, &waits, results(vec![result("a", &json!(2))])).await;
    assert!(matches!(other, Err(Error::IdConflict { .. })), "{other:?}");
    let last = supply(&f, &f.operator, &waits, results(vec![result("b", &json!(null))])).await.unwrap();
    assert_eq!(last.status(), Status::Pending);
    let given: Vec<_> = claim(&f).await.tool_results.into_iter().map(|given| given.result.output).collect();
    assert_eq!(given, ["1", "null"]);
    f.done().await;
}

async fn a_result_that_fits_no_wait_is_refused_with_the_reason(f: Fixture) {
    let fields = |refused: Result<Session, Error>| match refused {
        Err(Error::Invalid(issues)) => issues.into_iter().map(|issue| (issue.field, issue.message)).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let running = f.running().await;
    let refused = supply(&f, &f.operator, &running, results(vec![result("c", &json!(1))])).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::WrongStatus { status: Status::Running }))), "{refused:?}");
    f.append(running.id, 1, vec![call("c1")]).await.unwrap();
    let call = PausedToolCall { tool_call_id: "c1".into(), tool_name: "build".into(), tool_input: Default::default() };
    let asks = YieldRequest { paused_tool_call: Some(call), ..YieldRequest::at(1, YieldTo::AwaitingTool) };
    session::yield_to(&f.ledger, &f.worker, running.id, asks).await.unwrap();
    let refused = supply(&f, &f.operator, &running, results(vec![result("c1", &json!(1))])).await;
    assert!(not_now(refused).contains("inbox"));
    session::cancel(&f.ledger, &f.operator, running.id, None).await.unwrap();
    let refused = supply(&f, &f.operator, &running, results(vec![result("c1", &json!(1))])).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::AlreadyFinal { .. }))), "{refused:?}");

    let waits = f.running().await;
    f.append(waits.id, 1, vec![self::call("c1")]).await.unwrap();
    session::yield_to(&f.ledger, &f.worker, waits.id, YieldRequest::at(1, YieldTo::AwaitingTool)).await.unwrap();
    let wrong = fields(supply(&f, &f.operator, &waits, results(vec![result("c9", &json!(1))])).await);
    assert_eq!(wrong.len(), 1);
    assert_eq!((&*wrong[0].0, &*wrong[0].1), ("results[0].toolCallId", "the session waits for the results of: c1"));
    let twice = results(vec![result("c1", &json!(1)), result("c1", &json!(1))]);
    assert_eq!(fields(supply(&f, &f.operator, &waits, twice).await)[0].0, "results[1].toolCallId");
    assert_eq!(fields(supply(&f, &f.operator, &waits, results(Vec::new())).await)[0].0, "results");
    let many = (0..=TOOL_RESULTS_MAX).map(|n| result(&n.to_string(), &json!(n))).collect();
    assert_eq!(fields(supply(&f, &f.operator, &waits, results(many)).await)[0].0, "results");
    assert_eq!(now(&f, waits.id).await.status(), Status::AwaitingTool);
    let large = json!("x".repeat(255 * 1024));
    let big = result("c1", &large);
    supply(&f, &f.operator, &waits, results(vec![big])).await.unwrap();
    session::cancel(&f.ledger, &f.operator, waits.id, None).await.unwrap();
    let waits = parked(&f, YieldTo::AwaitingTool).await;
    let much = (0..5).map(|n| result(&n.to_string(), &large)).collect();
    let refused = supply(&f, &f.operator, &waits, results(much)).await;
    assert!(matches!(refused, Err(Error::TooLarge(_))), "{refused:?}");
    f.done().await;
}

async fn only_who_started_a_session_or_manages_it_supplies_results(f: Fixture) {
    let made = async |name: &str, role, scope| {
        let (_, secret) = token::create(&f.ledger, &f.admin, name, role, scope).await.unwrap();
        auth::by_token(&f.ledger, &secret).await.unwrap().unwrap().scope
    };
    let (member_token, other_worker) =
        (made("program", Role::Member, None).await, made("other", Role::Operator, Some(TokenScope::Worker)).await);
    let waits = async |by: &Scope| {
        let new = NewSession { agent_slug: Some("scout".into()), ..NewSession::of_type(Type::Agent) };
        let id = session::create(&f.ledger, by, new).await.unwrap().id;
        claim(&f).await;
        session::yield_to(&f.ledger, &f.worker, id, YieldRequest::at(1, YieldTo::AwaitingTool)).await.unwrap()
    };
    let one = || results(vec![result("c", &json!(1))]);
    for (starts, supplies, accepted) in [
        (&f.member, &f.member, true),
        (&f.member, &f.operator, true),
        (&f.member, &f.other_member, false),
        (&f.member, &member_token, false),
        (&member_token, &member_token, true),
        // The worker that claimed the session is its agent, even if it started it.
        (&f.worker, &f.worker, false),
        (&f.member, &f.worker, false),
        (&other_worker, &other_worker, true),
        (&f.member, &other_worker, false),
    ] {
        let of = waits(starts).await;
        let supplied = supply(&f, supplies, &of, one()).await;
        match supplied {
            Ok(session) => {
                assert!(accepted && session.status() == Status::Pending, "{} {}", starts.caller, supplies.caller)
            }
            Err(Error::Forbidden(_)) => assert!(!accepted, "{} {}", starts.caller, supplies.caller),
            other => panic!("{other:?}"),
        }
        session::cancel(&f.ledger, &f.operator, of.id, None).await.unwrap();
    }
    let of = waits(&f.member).await;
    let refused = supply(&f, &f.stranger, &of, one()).await;
    assert!(matches!(refused, Err(Error::NotFound("session"))), "{refused:?}");
    f.done().await;
}

async fn a_decision_is_not_given_again_after_a_later_wait(f: Fixture) {
    crate::gate::at_once(&f).await;
    let running = f.running().await;
    let call = PausedToolCall { tool_call_id: "c1".into(), tool_name: "send".into(), tool_input: Default::default() };
    let asks = YieldRequest { paused_tool_call: Some(call), ..YieldRequest::at(1, YieldTo::AwaitingTool) };
    session::yield_to(&f.ledger, &f.worker, running.id, asks).await.unwrap();
    let gates = ledger::gate::of_sessions(&f.ledger, &f.admin, vec![running.id]).await.unwrap();
    crate::gate::decide(&f, &f.operator, gates[0].gate.id, crate::gate::says(domain::gate::Verdict::Approve))
        .await
        .unwrap();
    let claimed = claim(&f).await;
    assert_eq!(claimed.resume.unwrap().tool_call_id.as_deref(), Some("c1"));
    session::yield_to(&f.ledger, &f.worker, running.id, YieldRequest::at(2, YieldTo::AwaitingTool)).await.unwrap();
    supply(&f, &f.operator, &running, results(vec![result("c2", &json!(1))])).await.unwrap();
    let claimed = claim(&f).await;
    assert!(claimed.resume.is_none(), "{:?}", claimed.resume);
    assert_eq!(claimed.tool_results.len(), 1);
    f.done().await;
}

async fn a_response_or_mixed_session_is_not_created_by_itself(f: Fixture) {
    for (session_type, instead) in
        [(Type::Response, "/api/views/{id}/submit-interaction"), (Type::Mixed, "/api/sessions/human/start")]
    {
        let refused = session::create(&f.ledger, &f.admin, NewSession::of_type(session_type)).await;
        let Err(Error::Invalid(issues)) = refused else { panic!("{refused:?}") };
        assert_eq!(issues[0].field, "sessionType");
        assert!(issues[0].message.contains(instead), "{}", issues[0].message);
    }
    f.done().await;
}
