//! Rules for approval: who may decide, how many approvals are needed, until when, and what reviewers are asked.

use crate::{
    entity::{acme, company, values},
    gate::{
        at_once, claim, complete, decide, edits, gate_of, gated, now, open, says, session_now, staged, sweep_after,
    },
    graph::changes,
    thread::{ENDING, new},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    gate::{GateKind, GateState, PausedToolCall, Question, Verdict},
    id::{GateId, SessionId},
    limit::REASON_CHARS_MAX,
    role::Role,
    session::{EndReason, Session, Status, Type, YieldTo},
};
use ledger::{
    Error,
    action::{self, NewAction},
    auth,
    event::NewEvent,
    gate::{self, GateFilter, ListGates, NewDecision, Reply},
    group::{self, NewGroup},
    page::inbox::{self, ListRequest, Selected},
    session::{self, NewSession, YieldRequest},
    thread::{self, Message, NewThread},
    token,
};
use serde_json::{Value, json, value::RawValue};
use testkit::{Fixture, event, on_both_engines};

on_both_engines!(
    of_fifty_decisions_at_once_one_is_recorded,
    a_repeat_answers_with_the_recorded_decision_and_another_decision_conflicts,
    only_assigned_reviewers_decide,
    a_group_decides_for_whom_it_names_and_a_quorum_needs_that_many,
    no_one_approves_their_own_request_if_the_task_forbids_it,
    no_one_approves_what_their_incognito_conversation_does_if_the_task_forbids_it,
    a_decision_is_bound_to_what_was_shown,
    a_paused_call_resumes_with_the_arguments_that_were_approved,
    a_decision_is_given_to_a_worker_again_only_until_its_call_has_a_result_or_its_turn_ends,
    a_question_is_answered_within_its_schema,
    a_gate_without_a_decision_is_reminded_escalated_and_expires,
    what_was_put_aside_comes_back,
    the_inbox_pages_by_deadline,
    closed_gates_are_listed_newest_first,
);

async fn of_fifty_decisions_at_once_one_is_recorded(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 1 })).await;
    let decisions = (0..50).map(|n| {
        let new = match n % 3 {
            0 => says(Verdict::Approve),
            1 => says(Verdict::Deny),
            _ => edits(&json!({ "size": 2 })),
        };
        let by = if n % 2 == 0 { f.operator } else { f.admin };
        let (ledger, id) = (f.ledger.clone(), item.gate.id);
        tokio::spawn(async move { (new.verdict, gate::decide(&ledger, &by, id, new).await) })
    });
    let decisions: Vec<_> = decisions.collect();
    let (mut taken, mut refused) = (Vec::new(), 0);
    for answer in decisions {
        match answer.await.unwrap() {
            (verdict, Ok(item)) => taken.push((verdict, item.last)),
            (_, Err(Error::AlreadyDecided(recorded))) => {
                refused += 1;
                assert_eq!(recorded.number, 1);
            }
            (_, Err(Error::Unavailable(_))) => {}
            (_, other) => panic!("{other:?}"),
        }
    }
    let first = taken[0].0;
    assert!(taken.iter().all(|(verdict, last)| *verdict == first && *last == Some(1)), "{taken:?}");
    assert!(refused > 0);
    let detail = gate::get(&f.ledger, &f.admin, item.gate.id).await.unwrap();
    assert_eq!(detail.item.decisions.len(), 1);
    let approvals = f.log(waiting.id).await.iter().filter(|event| event.kind == "user.output_approval").count();
    assert_eq!(approvals, 1);
    assert_eq!(now(&f, &acme).await.version, if first == Verdict::Deny { 1 } else { 2 });
    f.done().await;
}

async fn a_repeat_answers_with_the_recorded_decision_and_another_decision_conflicts(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let id = item.gate.id;
    decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
    for _ in 0..2 {
        let again = decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
        assert_eq!(again.decisions.len(), 1);
        let denied = decide(&f, &f.operator, id, says(Verdict::Deny)).await;
        assert!(matches!(denied, Err(Error::AlreadyDecided(_))), "{denied:?}");
        sweep_after(&f, 6).await;
    }
    assert_eq!(now(&f, &acme).await.version, 2);
    f.done().await;
}

async fn only_assigned_reviewers_decide(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let reviewer = format!("user:{}", f.other_member.user_id().unwrap());
    let of = gated(&f, Some(acme.id), json!({ "reviewers": [reviewer] }), json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let id = item.gate.id;
    for by in [f.operator, f.admin, f.member, f.worker] {
        let refused = decide(&f, &by, id, says(Verdict::Approve)).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
        assert!(open(&f, &by, false).await.is_empty() || by == f.worker);
    }
    let elsewhere = decide(&f, &f.stranger, id, says(Verdict::Approve)).await;
    assert!(matches!(elsewhere, Err(Error::NotFound(_))), "{elsewhere:?}");
    assert!(matches!(gate::get(&f.ledger, &f.stranger, id).await, Err(Error::NotFound(_))));
    assert_eq!(gate::count(&f.ledger, &f.other_member, 100).await.unwrap(), 1);
    assert_eq!(gate::count(&f.ledger, &f.operator, 100).await.unwrap(), 0);
    decide(&f, &f.other_member, id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(now(&f, &acme).await.version, 2);
    f.done().await;
}

async fn a_group_decides_for_whom_it_names_and_a_quorum_needs_that_many(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let members = [f.member, f.other_member].iter().filter_map(Scope::user_id).collect();
    let new = NewGroup { name: "Legal".into(), slug: None, members };
    group::create(&f.ledger, &f.operator, new).await.unwrap();
    let policy = json!({ "reviewers": ["group:legal"], "quorum": 2 });
    let of = gated(&f, Some(acme.id), policy, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 1 })).await;
    let id = item.gate.id;
    let outsider = decide(&f, &f.operator, id, says(Verdict::Approve)).await;
    assert!(matches!(outsider, Err(Error::Forbidden(_))), "{outsider:?}");
    let one = decide(&f, &f.member, id, says(Verdict::Approve)).await.unwrap();
    assert_eq!((one.gate.state.name(), one.approvals), (GateState::Open, 1));
    assert!(one.is_approved_by_caller, "it waits for others");
    let seen = gate::get(&f.ledger, &f.other_member, id).await.unwrap().item;
    assert!(!seen.is_approved_by_caller, "it waits for the other reviewer");
    let again = decide(&f, &f.member, id, says(Verdict::Approve)).await.unwrap();
    assert_eq!((again.gate.state.name(), again.decisions.len()), (GateState::Open, 1));
    // An edit is a new proposal, so earlier approvals do not count for it.
    let edited = decide(&f, &f.other_member, id, edits(&json!({ "size": 2 }))).await.unwrap();
    assert_eq!((edited.gate.state.name(), edited.approvals), (GateState::Open, 1));
    let seen = gate::get(&f.ledger, &f.member, id).await.unwrap().item;
    assert!(!seen.is_approved_by_caller, "what they approved is not proposed any more");
    let agreed = NewDecision { digest: Some(edited.digest.to_string()), ..says(Verdict::Approve) };
    let done = decide(&f, &f.member, id, agreed).await.unwrap();
    assert_eq!(done.gate.state.name(), GateState::Settled);
    assert_eq!(json!(now(&f, &acme).await.fields), json!({ "stage": "Won", "size": 2 }));
    f.done().await;
}

async fn no_one_approves_their_own_request_if_the_task_forbids_it(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let both: Vec<_> =
        [f.member, f.other_member].iter().filter_map(Scope::user_id).map(|id| format!("user:{id}")).collect();
    let of = gated(&f, Some(acme.id), json!({ "reviewers": both, "selfApproval": false }), json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    for (reviewer, to_decide) in [(f.member, 0), (f.other_member, 1)] {
        assert_eq!(gate::count(&f.ledger, &reviewer, 100).await.unwrap(), to_decide, "{reviewer:?}");
        assert_eq!(open(&f, &reviewer, false).await.len() as u64, to_decide, "{reviewer:?}");
    }
    let own = decide(&f, &f.member, item.gate.id, says(Verdict::Approve)).await;
    assert!(matches!(own, Err(Error::Forbidden(_))), "{own:?}");
    decide(&f, &f.other_member, item.gate.id, says(Verdict::Approve)).await.unwrap();
    f.done().await;
}

/// Yields the session with a call of `send_mail` that needs approval. Returns the gate.
async fn pause(f: &Fixture, session: &Session) -> GateId {
    let call = PausedToolCall {
        tool_call_id: "call-1".into(),
        tool_name: "send_mail".into(),
        tool_input: values(json!({ "to": "ada@acme.test" })),
    };
    let yield_request =
        YieldRequest { paused_tool_call: Some(call), ..YieldRequest::at(session.attempt, YieldTo::AwaitingTool) };
    session::yield_to(&f.ledger, &f.worker, session.id, yield_request).await.unwrap();
    gate_of(f, session.id).await.gate.id
}

async fn no_one_approves_what_their_incognito_conversation_does_if_the_task_forbids_it(f: Fixture) {
    at_once(&f).await;
    let metadata = json!({ "approval": { "selfApproval": false } }).to_string();
    let task = NewAction {
        name: "Write mails".into(),
        agent_slug: Some("scout".into()),
        metadata: Some(metadata),
        ..NewAction::default()
    };
    let task = action::create(&f.ledger, &f.operator, task).await.unwrap();
    let made = token::create_personal(&f.ledger, &f.operator, "laptop", Role::Operator, None).await.unwrap();
    let own_token = auth::by_token(&f.ledger, &made.1).await.unwrap().unwrap().scope;
    let is_refused = async |session: &Session| {
        let id = pause(&f, session).await;
        assert_eq!(gate::count(&f.ledger, &f.operator, 100).await.unwrap(), 0);
        assert_eq!(gate::count(&f.ledger, &f.admin, 100).await.unwrap(), 1);
        let own = decide(&f, &f.operator, id, says(Verdict::Approve)).await;
        assert!(matches!(own, Err(Error::Forbidden(_))), "{own:?}");
        decide(&f, &f.admin, id, says(Verdict::Approve)).await.unwrap();
        complete(&f, &claim(&f).await.session, &json!("sent")).await;
    };
    for starter in [&f.operator, &own_token] {
        let start = NewThread { agent: task.id.to_string(), incognito: true, ..new(Some("Write to Ada")) };
        let talk = thread::start(&f.ledger, starter, start).await.unwrap().session;
        assert_eq!(talk.user_id, None, "the session names no person");
        let working = claim(&f).await.session;
        assert_eq!(working.id, talk.id);
        let child =
            NewSession { parent_id: Some(talk.id), action_id: Some(task.id), ..NewSession::of_type(Type::Agent) };
        session::create(&f.ledger, &f.worker, child).await.unwrap();
        is_refused(&claim(&f).await.session).await;
        is_refused(&working).await;
    }
    f.done().await;
}

async fn a_decision_is_bound_to_what_was_shown(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), json!({ "quorum": 2 }), json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won", "size": 1 })).await;
    let (id, shown) = (item.gate.id, item.digest.to_string());
    let garbled = NewDecision { digest: Some("abc".into()), ..says(Verdict::Approve) };
    assert!(matches!(decide(&f, &f.admin, id, garbled).await, Err(Error::Invalid(_))));
    let too_long = NewDecision { note: Some("x".repeat(REASON_CHARS_MAX + 1)), ..says(Verdict::Approve) };
    let refused = decide(&f, &f.admin, id, too_long).await;
    assert!(matches!(&refused, Err(Error::Invalid(errors)) if errors[0].field == "note"), "{refused:?}");
    decide(&f, &f.operator, id, edits(&json!({ "size": 2 }))).await.unwrap();
    let stale = NewDecision { digest: Some(shown), ..says(Verdict::Approve) };
    let refused = decide(&f, &f.admin, id, stale).await;
    assert!(matches!(refused, Err(Error::StaleDecision { .. })), "{refused:?}");
    assert_eq!(gate::get(&f.ledger, &f.admin, id).await.unwrap().item.decisions.len(), 1);
    f.done().await;
}

async fn a_paused_call_resumes_with_the_arguments_that_were_approved(f: Fixture) {
    at_once(&f).await;
    let call = || PausedToolCall {
        tool_call_id: "call-1".into(),
        tool_name: "send_mail".into(),
        tool_input: values(json!({ "to": "ada@acme.test", "subject": "Hello" })),
    };
    let edited = json!({ "to": "ada@acme.test", "subject": "Hi" });
    for (new, expected, reason) in [
        (says(Verdict::Approve), Some(json!({ "to": "ada@acme.test", "subject": "Hello" })), "approved"),
        (edits(&json!({ "subject": "Hi" })), Some(edited), "approved with changes"),
        (says(Verdict::Deny), None, "denied"),
    ] {
        let session = f.running().await;
        let yield_request =
            YieldRequest { paused_tool_call: Some(call()), ..YieldRequest::at(session.attempt, YieldTo::AwaitingTool) };
        let yielded = session::yield_to(&f.ledger, &f.worker, session.id, yield_request).await.unwrap();
        assert_eq!(yielded.status(), Status::AwaitingTool);
        let item = gate_of(&f, session.id).await;
        assert_eq!((item.gate.kind, item.gate.title.as_str()), (GateKind::Tool, "send_mail"));
        decide(&f, &f.operator, item.gate.id, new.clone()).await.unwrap();
        let why = changes(&f, session.id).await.pop().unwrap();
        assert_eq!(why, format!("awaiting_tool → pending: {reason}"));
        let resumed = claim(&f).await;
        assert_eq!((resumed.session.id, resumed.session.attempt), (session.id, session.attempt + 1));
        let resume = resumed.resume.unwrap();
        assert_eq!((resume.decision, resume.tool_call_id.as_deref()), (new.verdict, Some("call-1")));
        assert_eq!(resume.tool_input.map(Value::Object), expected);
        assert_eq!(resume.note, new.note);
        complete(&f, &resumed.session, &json!("done")).await;
    }
    let session = f.running().await;
    let wrong =
        YieldRequest { paused_tool_call: Some(call()), ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
    let refused = session::yield_to(&f.ledger, &f.worker, session.id, wrong).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    f.done().await;
}

/// Returns what a claim gets of a decision on a call, and whose session it is.
async fn resumed(f: &Fixture) -> (Session, Option<Verdict>) {
    let claimed = claim(f).await;
    (claimed.session, claimed.resume.map(|resume| resume.decision))
}

async fn a_decision_is_given_to_a_worker_again_only_until_its_call_has_a_result_or_its_turn_ends(f: Fixture) {
    at_once(&f).await;
    let approved = async || {
        let id = thread::start(&f.ledger, &f.member, new(Some("Write to Ada"))).await.unwrap().session.id;
        decide(&f, &f.operator, pause(&f, &claim(&f).await.session).await, says(Verdict::Approve)).await.unwrap();
        let (session, decision) = resumed(&f).await;
        assert_eq!((session.id, session.attempt, decision), (id, 2, Some(Verdict::Approve)));
        session
    };
    let lose_lease = async || {
        f.clock.advance(TimeDelta::hours(2));
        assert_eq!(session::sweep(&f.ledger).await.unwrap().requeued, 1);
    };
    let say = async |id: SessionId| {
        let message = Message { text: "Thank you".into(), id: None };
        thread::send_message(&f.ledger, &f.member, id, message).await.unwrap();
    };
    let ends = async |id: SessionId| {
        thread::end(&f.ledger, &f.member, id, ENDING).await.unwrap();
    };
    // The turn ends, or the person stops it.
    for stopped in [false, true] {
        let session = approved().await;
        if stopped {
            thread::interrupt(&f.ledger, &f.member, session.id).await.unwrap();
        } else {
            let yield_request = YieldRequest::at(session.attempt, YieldTo::Idle);
            session::yield_to(&f.ledger, &f.worker, session.id, yield_request).await.unwrap();
        }
        say(session.id).await;
        assert_eq!(resumed(&f).await.1, None, "stopped: {stopped}");
        lose_lease().await;
        assert_eq!(resumed(&f).await.1, None, "stopped: {stopped}, and then a lease is lost");
        ends(session.id).await;
    }
    // Leases are lost, and the person writes before the next claim. Then the call has a result.
    let session = approved().await;
    lose_lease().await;
    assert_eq!(resumed(&f).await.1, Some(Verdict::Approve));
    lose_lease().await;
    say(session.id).await;
    let (again, decision) = resumed(&f).await;
    assert_eq!((again.attempt, decision), (4, Some(Verdict::Approve)));
    let result = |call: &str| {
        let part = json!([{ "type": "tool-result", "toolCallId": call, "toolName": "send_mail", "output": "sent" }]);
        NewEvent { content: Some(RawValue::from_string(part.to_string()).unwrap()), ..event("agent.tool_result") }
    };
    f.append(again.id, again.attempt, vec![result("call-0")]).await.unwrap();
    lose_lease().await;
    let (again, decision) = resumed(&f).await;
    assert_eq!(decision, Some(Verdict::Approve), "another call has a result");
    f.append(again.id, again.attempt, vec![result("call-1")]).await.unwrap();
    lose_lease().await;
    assert_eq!(resumed(&f).await.1, None);
    f.assert_verified().await;
    f.done().await;
}

async fn a_question_is_answered_within_its_schema(f: Fixture) {
    let schema = json!({ "type": "object", "required": ["when"], "properties": { "when": { "type": "string" } } });
    let question = Question::new("When?".into(), Some(schema));
    let session = f.running().await;
    let yield_request =
        YieldRequest { question: Some(question), ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
    session::yield_to(&f.ledger, &f.worker, session.id, yield_request).await.unwrap();
    let item = gate_of(&f, session.id).await;
    assert_eq!((item.gate.kind, item.gate.title.as_str()), (GateKind::Question, "When?"));
    let approved = decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await;
    assert!(matches!(approved, Err(Error::Invalid(_))), "{approved:?}");
    for by in [f.other_member, f.stranger] {
        let refused = gate::reply(&f.ledger, &by, session.id, Reply::Accept(json!({"when": "now"}))).await;
        assert!(matches!(refused, Err(Error::Forbidden(_) | Error::NotFound(_))), "{refused:?}");
    }
    let wrong = gate::reply(&f.ledger, &f.operator, session.id, Reply::Accept(json!({"when": 7}))).await;
    assert!(matches!(wrong, Err(Error::Invalid(_))), "{wrong:?}");
    let answer = Reply::Accept(json!({ "when": "now" }));
    let queued = gate::reply(&f.ledger, &f.operator, session.id, answer.clone()).await.unwrap();
    assert_eq!(queued.status(), Status::Pending);
    let twice = gate::reply(&f.ledger, &f.operator, session.id, answer).await;
    assert!(matches!(twice, Err(Error::Refused(_))), "{twice:?}");
    let resume = claim(&f).await.resume.unwrap();
    assert_eq!(resume.answer.as_deref().map(|text| serde_json::from_str(text).unwrap()), Some(json!({"when": "now"})));
    f.done().await;
}

async fn a_gate_without_a_decision_is_reminded_escalated_and_expires(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let person = |scope: &Scope| format!("user:{}", scope.user_id().unwrap());
    let policy = json!({
        "reviewers": [person(&f.operator)], "remindAfterSeconds": 60, "escalateAfterSeconds": 120,
        "escalateTo": person(&f.other_member), "expiresAfterSeconds": 180,
    });
    let of = gated(&f, Some(acme.id), policy, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    assert_eq!(sweep_after(&f, 59).await, gate::Swept::default());
    assert_eq!(sweep_after(&f, 1).await, gate::Swept { reminded: 1, ..Default::default() });
    assert_eq!(gate::count(&f.ledger, &f.other_member, 100).await.unwrap(), 0);
    assert_eq!(sweep_after(&f, 60).await, gate::Swept { escalated: 1, ..Default::default() });
    assert_eq!(gate::count(&f.ledger, &f.other_member, 100).await.unwrap(), 1);
    assert_eq!(sweep_after(&f, 60).await, gate::Swept { expired: 1, ..Default::default() });
    assert_eq!(sweep_after(&f, 600).await, gate::Swept::default());
    let ended = session_now(&f, waiting.id).await;
    assert_eq!((ended.status(), ended.end_reason()), (Status::Expired, Some(EndReason::TimedOut)));
    let closed = decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await;
    assert!(matches!(closed, Err(Error::GateClosed { state: GateState::Expired })), "{closed:?}");
    f.done().await;
}

async fn what_was_put_aside_comes_back(f: Fixture) {
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    let id = item.gate.id;
    gate::snooze(&f.ledger, &f.operator, id, Some(60)).await.unwrap();
    assert_eq!(gate::count(&f.ledger, &f.operator, 100).await.unwrap(), 0);
    assert!(open(&f, &f.operator, false).await.is_empty());
    // Other reviewers still have the item in their inbox.
    assert_eq!(gate::count(&f.ledger, &f.admin, 100).await.unwrap(), 1);
    let wanted = ListGates { filter: GateFilter::Snoozed, kind: None, all: false, limit: 0, cursor: None };
    assert_eq!(gate::list(&f.ledger, &f.operator, wanted.clone()).await.unwrap().items.len(), 1);
    let of_token = gate::list(&f.ledger, &f.worker, wanted).await;
    assert!(matches!(of_token, Err(Error::Forbidden(_))), "a token puts nothing aside: {:?}", of_token.map(|_| ()));
    f.clock.advance(TimeDelta::seconds(60));
    assert_eq!(gate::count(&f.ledger, &f.operator, 100).await.unwrap(), 1);
    gate::snooze(&f.ledger, &f.operator, id, Some(60)).await.unwrap();
    gate::snooze(&f.ledger, &f.operator, id, None).await.unwrap();
    assert_eq!(gate::count(&f.ledger, &f.operator, 100).await.unwrap(), 1);
    decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
    let decided = gate::snooze(&f.ledger, &f.operator, id, Some(60)).await;
    assert!(matches!(decided, Err(Error::GateClosed { state: GateState::Held })), "{decided:?}");
    f.done().await;
}

/// Reads a list of outputs in pages of two.
async fn paged(f: &Fixture, filter: GateFilter, all: bool) -> Vec<GateId> {
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let wanted = ListGates { filter, kind: Some(GateKind::Output), all, limit: 2, cursor };
        let page = gate::list(&f.ledger, &f.operator, wanted).await.unwrap();
        seen.extend(page.items.iter().map(|item| item.gate.id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return seen;
        }
    }
}

async fn the_inbox_pages_by_deadline(f: Fixture) {
    let of_type = company(&f).await;
    let acme = acme(&f, &of_type, "Acme").await;
    let mut expected = Vec::new();
    for deadline in [Some(300), None, Some(100), Some(200), None] {
        let policy = deadline.map_or(Value::Null, |seconds| json!({ "expiresAfterSeconds": seconds }));
        let of = gated(&f, Some(acme.id), policy, json!({})).await;
        let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
        expected.push((deadline.unwrap_or(i64::MAX), item.gate.id, waiting.id));
        f.clock.advance(TimeDelta::milliseconds(10));
    }
    expected.sort();
    let seen = paged(&f, GateFilter::In(GateState::Open), false).await;
    assert_eq!(seen, expected.iter().map(|(_, id, _)| *id).collect::<Vec<_>>());
    assert_eq!(gate::count(&f.ledger, &f.operator, u32::MAX).await.unwrap(), 5);
    assert_eq!(gate::count(&f.ledger, &f.operator, 2).await.unwrap(), 2);
    f.done().await;
}

async fn closed_gates_are_listed_newest_first(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let stage = async |expires_after: Option<i64>| {
        f.clock.advance(TimeDelta::milliseconds(10));
        let policy = expires_after.map_or(Value::Null, |seconds| json!({ "expiresAfterSeconds": seconds }));
        let of = gated(&f, Some(acme.id), policy, json!({})).await;
        let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
        (waiting.id, item.gate.id)
    };
    let mut closed = Vec::new();
    for expires_after in [Some(600), Some(300), None] {
        let (_, id) = stage(expires_after).await;
        decide(&f, &f.operator, id, says(Verdict::Approve)).await.unwrap();
        closed.insert(0, (id, GateState::Settled));
    }
    let (session_id, withdrawn) = stage(None).await;
    session::cancel(&f.ledger, &f.operator, session_id, None).await.unwrap();
    closed.insert(0, (withdrawn, GateState::Withdrawn));
    let (_, expired) = stage(Some(60)).await;
    assert_eq!(sweep_after(&f, 60).await.expired, 1);
    closed.insert(0, (expired, GateState::Expired));
    let (_, waits) = stage(Some(60)).await;

    let ids = |of: &[(GateId, GateState)]| of.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    for all in [true, false] {
        assert_eq!(paged(&f, GateFilter::Closed, all).await, ids(&closed), "all: {all}");
        assert_eq!(paged(&f, GateFilter::In(GateState::Settled), all).await, ids(&closed[2..]), "all: {all}");
        assert_eq!(paged(&f, GateFilter::In(GateState::Withdrawn), all).await, [withdrawn], "all: {all}");
        assert_eq!(paged(&f, GateFilter::In(GateState::Expired), all).await, [expired], "all: {all}");
        assert_eq!(paged(&f, GateFilter::In(GateState::Open), all).await, [waits], "all: {all}");
    }
    let request = ListRequest { filter: GateFilter::Closed, everyone: true, line: None, cursor: None };
    let (list, _) = inbox::read(&f.ledger, &f.operator, request, Selected::First).await.unwrap();
    let listed: Vec<_> = list.items.iter().map(|item| (item.gate.id, item.gate.state.name())).collect();
    assert_eq!(listed, closed);
    f.done().await;
}
