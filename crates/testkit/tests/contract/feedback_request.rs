//! Agents ask people: requests, their answers, and the claims that carry them.

use crate::gate::{at_once, claim, decide, gate_of, newest_kinds, session_now, sweep_after};
use chrono::TimeDelta;
use domain::{
    Scope,
    event::Known,
    feedback_request::{OnExpiry, Outcome, RequestState, RespondentKind},
    gate::{GateState, Verdict},
    id::{FeedbackRequestId, SessionId},
    response::Closed,
    session::{Session, Status},
    view::Gate,
};
use ledger::{
    AnswerRecord, Error, ListPage,
    feedback_request::{self, Answered, Form, ListAnswers, NewAnswer, NewRequest, RecordedRequest, TakenAnswers},
    gate::{self, NewDecision, Reply},
    response::{self, Respondent},
    session,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_blocking_request_parks_the_session_and_the_claim_has_the_answer_and_who_gave_it,
    a_question_with_fields_is_answered_in_the_inbox_after_the_undo_window,
    each_answer_to_an_elicitation_ends_the_request_in_its_own_way,
    answers_that_nobody_waits_for_are_taken_once_and_ten_at_a_time,
    a_running_worker_takes_answers_and_a_stale_one_does_not,
    a_call_that_is_repeated_gets_its_answers_again_and_no_other_call_does,
    a_session_may_get_an_answer_while_no_claim_has_it,
    a_repeat_is_answered_with_what_is_recorded,
    a_reply_that_names_its_request_never_answers_the_next_one,
    the_form_of_a_question_is_closed_to_who_answered_it_elsewhere,
    a_question_may_have_marks_of_direction,
);

pub fn three_fields() -> Form {
    let fields = json!([
        { "key": "region", "label": "Which region?", "type": "single_choice", "options": ["EU", "US"], "required": true },
        { "key": "why", "label": "Why?", "type": "long_text", "showIf": { "field": "region", "equals": "US" } },
        { "key": "seats", "label": "How many seats?", "type": "integer", "minimum": 1 },
    ]);
    Form::Fields(serde_json::from_value(fields).unwrap())
}

pub fn request(session: &Session, key: &str, blocking: bool) -> NewRequest {
    NewRequest {
        attempt: session.attempt,
        form: three_fields(),
        message: "Where do we start?".into(),
        blocking,
        access: None,
        audience: None,
        expires_at: None,
        on_expiry: OnExpiry::Resume,
        idempotency_key: key.into(),
    }
}

pub async fn ask(f: &Fixture, session: &Session, new: NewRequest) -> RecordedRequest {
    feedback_request::ask(&f.ledger, &f.worker, session.id, new).await.unwrap()
}

pub fn says(answers: Value) -> NewAnswer {
    NewAnswer { outcome: Outcome::Answered, answers: Some(answers.as_object().unwrap().clone()), note: None }
}

pub async fn answer(f: &Fixture, by: &Scope, id: FeedbackRequestId, new: NewAnswer) -> ledger::Result<Answered> {
    feedback_request::answer(&f.ledger, by, id, new).await
}

pub async fn answers(f: &Fixture, of: SessionId, unconsumed: bool) -> Vec<AnswerRecord> {
    let wanted = ListAnswers { unconsumed, page: ListPage::default() };
    feedback_request::answers(&f.ledger, &f.admin, of, wanted).await.unwrap().items
}

async fn a_question_may_have_marks_of_direction(f: Fixture) {
    let session = f.running().await;
    let new = NewRequest { message: "מה\u{200f} עכשיו?".into(), ..request(&session, "k", false) };
    assert_eq!(ask(&f, &session, new).await.request.message, "מה\u{200f} עכשיו?");
    f.done().await;
}

pub async fn state(f: &Fixture, id: FeedbackRequestId) -> RequestState {
    feedback_request::get(&f.ledger, &f.admin, id).await.unwrap().request.state
}

pub fn read(json: Option<&String>) -> Value {
    serde_json::from_str(json.unwrap()).unwrap()
}

async fn a_blocking_request_parks_the_session_and_the_claim_has_the_answer_and_who_gave_it(f: Fixture) {
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", true)).await;
    assert_eq!((asked.session.status(), asked.request.state), (Status::WaitingHuman, RequestState::Waiting));
    let kinds = newest_kinds(&f, session.id, 3).await;
    assert_eq!(
        kinds,
        [
            Known::SessionFeedbackRequested.as_str(),
            Known::SessionWaitingApproval.as_str(),
            Known::SessionStatusChange.as_str()
        ]
    );
    let wrong = answer(&f, &f.operator, asked.request.id, says(json!({ "region": "Mars" }))).await.unwrap_err();
    assert!(matches!(&wrong, Error::Invalid(fields) if fields[0].field == "content.region"), "{wrong:?}");
    for by in [f.other_member, f.stranger] {
        let refused = answer(&f, &by, asked.request.id, says(json!({ "region": "EU" }))).await;
        assert!(matches!(refused, Err(Error::Forbidden(_) | Error::NotFound(_))), "{refused:?}");
    }
    // The answer of a field that does not apply is dropped.
    let given = json!({ "region": "EU", "why": "</answers>", "seats": 3 });
    let done = answer(&f, &f.operator, asked.request.id, says(given)).await.unwrap();
    assert_eq!(read(done.answer.answers.as_ref()), json!({ "region": "EU", "seats": 3 }));
    assert_eq!(state(&f, asked.request.id).await, RequestState::Answered);
    assert_eq!(session_now(&f, session.id).await.status(), Status::Pending);

    let claimed = claim(&f).await;
    let resume = claimed.resume.unwrap();
    let ended = resume.question.unwrap();
    assert_eq!((resume.decision, ended.outcome), (Verdict::Respond, Outcome::Answered));
    assert_eq!((ended.respondent.kind, ended.request_id), (RespondentKind::User, Some(asked.request.id)));
    assert!(ended.block.contains("a member of the workspace who had signed in"), "{}", ended.block);
    assert!(ended.block.contains("\"Which region?\" (region):\n  | EU\n"), "{}", ended.block);
    assert_eq!(read(resume.answer.as_ref()), json!({ "region": "EU", "seats": 3 }));
    assert!(claimed.answers.answers.is_empty(), "it is the primary input, not one of the others");
    let [recorded] = answers(&f, session.id, false).await.try_into().unwrap();
    assert_eq!(recorded.consumed_attempt, Some(claimed.session.attempt));
    assert!(answers(&f, session.id, true).await.is_empty());
    // The view of the request is in no list.
    let listed = ledger::view::list(&f.ledger, &f.admin, ListPage::default()).await.unwrap();
    assert!(listed.items.is_empty());
    f.assert_verified().await;
    f.done().await;
}

async fn a_question_with_fields_is_answered_in_the_inbox_after_the_undo_window(f: Fixture) {
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", true)).await;
    let item = gate_of(&f, session.id).await;
    assert_eq!(item.gate.task.request_id(), Some(asked.request.id));
    let decision = |value: Value| NewDecision {
        verdict: Verdict::Respond,
        value: Some(value),
        note: Some("as agreed".into()),
        digest: None,
    };
    let wrong = decide(&f, &f.operator, item.gate.id, decision(json!({ "seats": 0 }))).await.unwrap_err();
    let Error::Invalid(fields) = wrong else { panic!("{wrong:?}") };
    let named: Vec<_> = fields.iter().map(|field| field.field.as_str()).collect();
    assert_eq!(named, ["value.region", "value.seats"]);
    let held = decide(&f, &f.operator, item.gate.id, decision(json!({ "region": "EU" }))).await.unwrap();
    assert_eq!(held.gate.state.name(), GateState::Held);
    // Until then the request waits, and the same person cannot answer twice.
    assert_eq!(state(&f, asked.request.id).await, RequestState::Waiting);
    let twice = answer(&f, &f.operator, asked.request.id, says(json!({ "region": "US" }))).await;
    assert!(matches!(twice, Err(Error::GateClosed { .. })), "{twice:?}");
    assert_eq!(sweep_after(&f, 6).await.settled, 1);
    let ended = claim(&f).await.resume.unwrap().question.unwrap();
    assert!(ended.block.contains("Note:\n  | as agreed\n"), "{}", ended.block);
    let [recorded] = answers(&f, session.id, false).await.try_into().unwrap();
    assert_eq!((recorded.outcome, recorded.respondent.user_id), (Outcome::Answered, f.operator.user_id()));
    assert_eq!(state(&f, asked.request.id).await, RequestState::Answered);
    f.done().await;
}

async fn each_answer_to_an_elicitation_ends_the_request_in_its_own_way(f: Fixture) {
    at_once(&f).await;
    let accept = Reply::Accept(json!({ "region": "EU" }));
    for (reply, outcome) in
        [(accept, Outcome::Answered), (Reply::Decline, Outcome::Declined), (Reply::Cancel, Outcome::Cancelled)]
    {
        let session = f.running().await;
        let asked = ask(&f, &session, request(&session, "k", true)).await;
        gate::reply(&f.ledger, &f.operator, session.id, reply).await.unwrap();
        let claimed = claim(&f).await;
        assert_eq!(claimed.session.id, session.id);
        assert_eq!(claimed.resume.unwrap().question.unwrap().outcome, outcome);
        let [recorded] = answers(&f, session.id, false).await.try_into().unwrap();
        assert_eq!((recorded.outcome, recorded.answers.is_some()), (outcome, outcome == Outcome::Answered));
        assert_eq!(state(&f, asked.request.id).await, RequestState::Answered);
        session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
    }
    let session = f.running().await;
    ask(&f, &session, request(&session, "k", true)).await;
    let wrong = gate::reply(&f.ledger, &f.operator, session.id, Reply::Accept(json!({ "region": 1 }))).await;
    assert!(matches!(wrong, Err(Error::Invalid(_))), "{wrong:?}");
    f.done().await;
}

async fn answers_that_nobody_waits_for_are_taken_once_and_ten_at_a_time(f: Fixture) {
    let session = f.running().await;
    let mut given = Vec::new();
    for n in 1..=12 {
        let asked = ask(&f, &session, request(&session, &format!("k{n}"), false)).await;
        assert_eq!(asked.session.status(), Status::Running);
        f.clock.advance(TimeDelta::milliseconds(1));
        let done =
            answer(&f, &f.operator, asked.request.id, says(json!({ "region": "EU", "seats": n }))).await.unwrap();
        given.push(done.answer.id);
    }
    assert_eq!(answers(&f, session.id, true).await.len(), 12);
    let mut taken = Vec::new();
    for (attempt, expected) in [(2, 10), (3, 2), (4, 0)] {
        session::release(&f.ledger, &f.worker, session.id, attempt - 1).await.unwrap();
        let claimed = claim(&f).await;
        assert_eq!((claimed.session.attempt, claimed.answers.answers.len()), (attempt, expected));
        for answer in &claimed.answers.answers {
            assert_eq!(answer.consumed_attempt, Some(attempt));
            assert!(claimed.answers.block.contains(&format!("  | {}\n", read(answer.answers.as_ref())["seats"])));
        }
        let injected = f.log(session.id).await.into_iter().filter(|e| e.kind == Known::SessionContextInjected).count();
        assert_eq!(injected, if expected > 0 { attempt as usize - 1 } else { attempt as usize - 2 });
        taken.extend(claimed.answers.answers.iter().map(|answer| answer.id));
    }
    assert_eq!(taken, given, "each once, in the order in which they came");
    assert!(answers(&f, session.id, true).await.is_empty());
    // A stamp does not change.
    let mut raw = f.engine.raw().await;
    for set in ["consumed_attempt = 9", "consumed_by_call = 'other'", "answers = '{}'"] {
        assert!(raw.execute(&format!("UPDATE request_answers SET {set}")).await.is_err(), "{set}");
    }
    f.assert_verified().await;
    f.done().await;
}

async fn a_running_worker_takes_answers_and_a_stale_one_does_not(f: Fixture) {
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", false)).await;
    let take = |attempt| feedback_request::take(&f.ledger, &f.worker, session.id, attempt, None);
    assert!(take(1).await.unwrap().answers.is_empty());
    answer(&f, &f.operator, asked.request.id, says(json!({ "region": "EU" }))).await.unwrap();
    answer(&f, &f.admin, asked.request.id, says(json!({ "region": "US", "why": "Cheap" }))).await.unwrap();
    assert_eq!(state(&f, asked.request.id).await, RequestState::Waiting);
    assert!(matches!(take(2).await, Err(Error::Refused(_))));
    let taken = take(1).await.unwrap();
    assert_eq!(taken.answers.len(), 2);
    assert!(taken.block.contains("  | Cheap\n"), "{}", taken.block);
    assert!(take(1).await.unwrap().answers.is_empty());
    assert_eq!(newest_kinds(&f, session.id, 1).await, [Known::SessionContextInjected.as_str()]);
    f.done().await;
}

async fn a_call_that_is_repeated_gets_its_answers_again_and_no_other_call_does(f: Fixture) {
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", false)).await;
    let take =
        |attempt, key: &str| feedback_request::take(&f.ledger, &f.worker, session.id, attempt, Some(key.to_owned()));
    let ids = |taken: &TakenAnswers| taken.answers.iter().map(|answer| answer.id).collect::<Vec<_>>();
    // A call that took nothing has lost nothing: its repeat takes what has come since.
    assert!(take(1, "first").await.unwrap().answers.is_empty());
    answer(&f, &f.operator, asked.request.id, says(json!({ "region": "EU" }))).await.unwrap();
    let first = take(1, "first").await.unwrap();
    assert_eq!(first.answers.len(), 1);
    answer(&f, &f.admin, asked.request.id, says(json!({ "region": "US", "why": "Cheap" }))).await.unwrap();
    let again = take(1, "first").await.unwrap();
    assert_eq!(ids(&again), ids(&first));
    assert!(again.block.contains("  | EU\n") && !again.block.contains("Cheap"), "{}", again.block);
    let second = take(1, "second").await.unwrap();
    assert_eq!(second.answers.len(), 1);
    assert!(second.block.contains("  | Cheap\n"), "{}", second.block);
    for (key, taken) in [("first", &first), ("second", &second)] {
        assert_eq!(ids(&take(1, key).await.unwrap()), ids(taken), "{key}");
    }
    assert!(take(1, "third").await.unwrap().answers.is_empty());
    assert!(feedback_request::take(&f.ledger, &f.worker, session.id, 1, None).await.unwrap().answers.is_empty());
    assert!(matches!(take(1, "").await, Err(Error::Invalid(_))));
    let injected = f.log(session.id).await.into_iter().filter(|e| e.kind == Known::SessionContextInjected).count();
    assert_eq!(injected, 2, "a repeat records nothing");
    // The next attempt reads the log. A call of its own with the same key is another call.
    session::release(&f.ledger, &f.worker, session.id, 1).await.unwrap();
    assert_eq!(claim(&f).await.session.attempt, 2);
    assert!(matches!(take(1, "first").await, Err(Error::Refused(_))));
    assert!(take(2, "first").await.unwrap().answers.is_empty());
    f.assert_verified().await;
    f.done().await;
}

async fn a_session_may_get_an_answer_while_no_claim_has_it(f: Fixture) {
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", false)).await;
    session::release(&f.ledger, &f.worker, session.id, 1).await.unwrap();
    answer(&f, &f.operator, asked.request.id, says(json!({ "region": "EU" }))).await.unwrap();
    let claimed = claim(&f).await;
    assert_eq!(claimed.answers.answers.len(), 1);
    f.done().await;
}

async fn a_repeat_is_answered_with_what_is_recorded(f: Fixture) {
    for blocking in [true, false] {
        let session = f.running().await;
        let asked = ask(&f, &session, request(&session, "k", blocking)).await;
        let id = asked.request.id;
        let first = answer(&f, &f.operator, id, says(json!({ "region": "EU" }))).await.unwrap();
        assert!(first.is_new);
        let again = answer(&f, &f.operator, id, says(json!({ "region": "EU" }))).await.unwrap();
        assert_eq!((again.answer.id, again.is_new), (first.answer.id, false));
        let other = answer(&f, &f.operator, id, says(json!({ "region": "US" }))).await;
        assert!(matches!(&other, Err(Error::AlreadyAnswered(a)) if a.id == first.answer.id), "{other:?}");
        let declined = NewAnswer { outcome: Outcome::Declined, answers: None, note: None };
        let other = answer(&f, &f.operator, id, declined).await;
        assert!(matches!(other, Err(Error::AlreadyAnswered(_))), "{other:?}");
        // The key of the agent names one request, whatever became of it.
        let same = ask(&f, &session, request(&session, "k", blocking)).await;
        assert_eq!((same.request.id, same.is_new, same.answer.unwrap().id), (id, false, first.answer.id));
        let changed = NewRequest { message: "Something else?".into(), ..request(&session, "k", blocking) };
        let refused = feedback_request::ask(&f.ledger, &f.worker, session.id, changed).await;
        assert!(matches!(refused, Err(Error::IdConflict { .. })), "{refused:?}");
        assert_eq!(asked.request.access, Gate::Member);
        session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
    }
    f.done().await;
}

async fn a_reply_that_names_its_request_never_answers_the_next_one(f: Fixture) {
    let other = f.running().await;
    let elsewhere = ask(&f, &other, request(&other, "k", false)).await.request;
    let session = f.running().await;
    let first = ask(&f, &session, request(&session, "one", true)).await.request;
    let reply = |id: FeedbackRequestId, region: &str| {
        feedback_request::reply(&f.ledger, &f.operator, session.id, id, says(json!({ "region": region })))
    };
    let foreign = reply(elsewhere.id, "EU").await;
    assert!(matches!(foreign, Err(Error::NotFound("feedback request"))), "{foreign:?}");
    assert_eq!(reply(first.id, "EU").await.unwrap().status(), Status::Pending);
    assert_eq!(reply(first.id, "EU").await.unwrap().status(), Status::Pending, "a repeat before the claim");
    let resumed = claim(&f).await.session;
    assert_eq!(resumed.id, session.id);
    let second = ask(&f, &resumed, request(&resumed, "two", true)).await.request;
    assert_eq!(reply(first.id, "EU").await.unwrap().status(), Status::WaitingHuman, "a repeat after the next request");
    assert_eq!(state(&f, second.id).await, RequestState::Waiting);
    let changed = reply(first.id, "US").await;
    assert!(matches!(changed, Err(Error::AlreadyAnswered(_))), "{changed:?}");
    let late = says(json!({ "region": "US" }));
    let late = feedback_request::reply(&f.ledger, &f.admin, session.id, first.id, late).await;
    assert!(matches!(late, Err(Error::RequestClosed { state: RequestState::Answered })), "{late:?}");
    assert_eq!(answers(&f, session.id, false).await.len(), 1, "a late reply is not kept");
    // A reply that names nothing answers what waits now, and its repeat may name it.
    let unnamed = Reply::Accept(json!({ "region": "EU" }));
    gate::reply(&f.ledger, &f.operator, session.id, unnamed).await.unwrap();
    assert_eq!(reply(second.id, "EU").await.unwrap().status(), Status::Pending);
    assert_eq!(answers(&f, session.id, false).await.len(), 2);
    f.assert_verified().await;
    f.done().await;
}

async fn the_form_of_a_question_is_closed_to_who_answered_it_elsewhere(f: Fixture) {
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", false)).await.request;
    let declined = NewAnswer { outcome: Outcome::Declined, answers: None, note: None };
    for (who, given) in [(f.operator, says(json!({ "region": "EU" }))), (f.admin, declined)] {
        let respondent = Respondent::member(&who).unwrap();
        let read = || response::read(&f.ledger, &respondent, asked.view_id, Some(asked.id.0));
        assert_eq!(read().await.unwrap().closed, None, "others may still answer");
        answer(&f, &who, asked.id, given).await.unwrap();
        let closed = read().await;
        assert!(matches!(closed, Err(Error::FormClosed(Closed::Answered))), "{closed:?}");
    }
    f.done().await;
}
