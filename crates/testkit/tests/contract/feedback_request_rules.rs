//! Deadlines, ends of sessions and other rules of requests.

use crate::feedback_request::{answer, answers, ask, request, says, state};
use crate::gate::{claim, gate_of, session_now, sweep_after};
use crate::graph::of_agent;
use crate::response::submission;
use crate::retention::{SECRET, columns_with, form_with_secret};
use crate::view_link_request::stranger;
use chrono::TimeDelta;
use domain::{
    feedback_request::{OnExpiry, Outcome, RequestState, RespondentKind},
    gate::{GateState, Verdict},
    response::Closed,
    session::{EndReason, Refusal, Status, YieldTo},
    view::{Gate, Publication},
};
use ledger::{
    Error, InstanceKey, LeaseClock, ListPage,
    feedback_request::{self, Form, NewAnswer, NewRequest, OpenPosition},
    gate,
    response::{DraftSave, Submission},
    retention,
    session::{self, NewSession, YieldRequest},
    view_link,
};
use serde_json::json;
use std::sync::Arc;
use testkit::{Engine, Fixture, on_both_engines};

on_both_engines!(
    an_agent_goes_on_when_nobody_answers_in_time,
    a_request_can_fail_the_session_when_nobody_answers,
    an_agent_that_did_not_wait_learns_that_nobody_answered,
    a_late_answer_is_kept_and_never_reaches_the_agent,
    a_repeat_after_the_deadline_returns_what_is_recorded,
    a_cancelled_session_withdraws_its_requests,
    a_stored_answer_is_found_before_the_session_waits_again,
    a_child_finds_the_answers_of_its_root,
    what_cannot_be_asked_is_refused_by_its_field,
    a_published_view_is_asked_by_its_own_rules,
    retention_erases_what_was_asked_and_answered,
    a_question_for_which_nobody_waits_is_listed_for_those_who_may_answer_until_it_ends,
    a_listed_question_is_answered_by_its_form,
    a_question_is_closed_without_an_answer_by_its_gate,
    an_open_question_is_an_item_for_those_who_may_answer_it_alone,
    pages_hear_of_an_open_question_its_answer_and_its_deadline,
    pages_of_another_server_hear_of_an_open_question,
);

fn in_an_hour(f: &Fixture, new: NewRequest) -> NewRequest {
    NewRequest { expires_at: Some(f.ledger.now() + TimeDelta::hours(1)), ..new }
}

async fn expire(f: &Fixture) -> u64 {
    feedback_request::expire(&f.ledger, &mut OpenPosition::default()).await.unwrap()
}

async fn an_agent_goes_on_when_nobody_answers_in_time(f: Fixture) {
    let session = f.running().await;
    let asked = ask(&f, &session, in_an_hour(&f, request(&session, "k", true))).await;
    assert_eq!(sweep_after(&f, 3_599).await, gate::Swept::default());
    assert_eq!(sweep_after(&f, 1).await.expired, 1);
    assert_eq!(state(&f, asked.request.id).await, RequestState::Expired);
    let claimed = claim(&f).await;
    let resume = claimed.resume.unwrap();
    let ended = resume.question.unwrap();
    assert_eq!((claimed.session.id, resume.decision), (session.id, Verdict::Deny));
    assert_eq!((ended.outcome, ended.respondent.kind), (Outcome::NobodyAnswered, RespondentKind::System));
    assert!(ended.block.contains("No one answered in time"), "{}", ended.block);
    let again = ask(&f, &claimed.session, request(&claimed.session, "k", true)).await;
    assert_eq!(again.answer.unwrap().outcome, Outcome::NobodyAnswered);
    assert_eq!(again.session.status(), Status::Running);
    f.assert_verified().await;
    f.done().await;
}

async fn a_request_can_fail_the_session_when_nobody_answers(f: Fixture) {
    let session = f.running().await;
    let new = NewRequest { on_expiry: OnExpiry::Fail, ..in_an_hour(&f, request(&session, "k", true)) };
    let asked = ask(&f, &session, new).await;
    let item = gate_of(&f, session.id).await;
    assert_eq!(sweep_after(&f, 3_600).await.expired, 1);
    let ended = session_now(&f, session.id).await;
    assert_eq!((ended.status(), ended.end_reason()), (Status::Expired, Some(EndReason::TimedOut)));
    assert_eq!(ended.error_code(), Some("nobody_answered"));
    assert_eq!(state(&f, asked.request.id).await, RequestState::Expired);
    let closed = gate::get(&f.ledger, &f.admin, item.gate.id).await.unwrap();
    assert_eq!(closed.item.gate.state.name(), GateState::Expired);
    f.done().await;
}

async fn an_agent_that_did_not_wait_learns_that_nobody_answered(f: Fixture) {
    let session = f.running_for(3_600).await;
    let silent = ask(&f, &session, in_an_hour(&f, request(&session, "k1", false))).await;
    let heard = ask(&f, &session, in_an_hour(&f, request(&session, "k2", false))).await;
    answer(&f, &f.operator, heard.request.id, says(json!({ "region": "EU" }))).await.unwrap();
    f.clock.advance(TimeDelta::seconds(3_599));
    assert_eq!(expire(&f).await, 0);
    f.clock.advance(TimeDelta::seconds(1));
    assert_eq!(expire(&f).await, 2);
    assert_eq!(expire(&f).await, 0);
    assert_eq!(state(&f, silent.request.id).await, RequestState::Expired);
    assert_eq!(state(&f, heard.request.id).await, RequestState::Expired);
    let listed = answers(&f, session.id, true).await;
    let outcomes: Vec<_> = listed.iter().map(|answer| answer.outcome).collect();
    assert_eq!(outcomes, [Outcome::Answered, Outcome::NobodyAnswered]);
    let late = answer(&f, &f.operator, silent.request.id, says(json!({ "region": "EU" }))).await.unwrap();
    assert!(late.answer.late);
    f.done().await;
}

async fn a_late_answer_is_kept_and_never_reaches_the_agent(f: Fixture) {
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", true)).await;
    let first = answer(&f, &f.operator, asked.request.id, says(json!({ "region": "EU" }))).await.unwrap();
    let late = answer(&f, &f.admin, asked.request.id, says(json!({ "region": "US" }))).await.unwrap();
    assert!(!first.answer.late && late.answer.late && late.is_new);
    let again = answer(&f, &f.admin, asked.request.id, says(json!({ "region": "US" }))).await.unwrap();
    assert!(again.answer.late && !again.is_new);
    let claimed = claim(&f).await;
    assert_eq!(claimed.resume.unwrap().question.unwrap().answer_id, Some(first.answer.id));
    assert!(claimed.answers.answers.is_empty());
    let all = answers(&f, session.id, false).await;
    assert_eq!(all.iter().filter(|answer| answer.late && answer.consumed_at.is_none()).count(), 1);
    // A deadline that has passed makes an answer late before the sweep has seen it.
    let open = ask(&f, &claimed.session, in_an_hour(&f, request(&claimed.session, "k2", false))).await;
    f.clock.advance(TimeDelta::hours(1));
    let late = answer(&f, &f.operator, open.request.id, says(json!({ "region": "EU" }))).await.unwrap();
    assert!(late.answer.late);
    f.done().await;
}

async fn a_repeat_after_the_deadline_returns_what_is_recorded(f: Fixture) {
    for blocking in [true, false] {
        let session = f.running().await;
        let new = in_an_hour(&f, request(&session, "k", blocking));
        let first = ask(&f, &session, new.clone()).await;
        let given = answer(&f, &f.operator, first.request.id, says(json!({ "region": "EU" }))).await.unwrap();
        f.clock.advance(TimeDelta::hours(2));
        let again = ask(&f, &session, new.clone()).await;
        assert_eq!((again.request.id, again.is_new), (first.request.id, false), "blocking {blocking}");
        assert_eq!(again.answer.unwrap().id, given.answer.id, "blocking {blocking}");
        // The same deadline is refused for another request.
        let other = NewRequest { idempotency_key: "other".into(), ..new };
        let refused = feedback_request::ask(&f.ledger, &f.worker, session.id, other).await.unwrap_err();
        assert!(matches!(&refused, Error::Invalid(errors) if errors[0].field == "expiresAt"), "{refused:?}");
        session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
    }
    f.done().await;
}

async fn a_cancelled_session_withdraws_its_requests(f: Fixture) {
    for blocking in [true, false] {
        let session = f.running().await;
        let asked = ask(&f, &session, request(&session, "k", blocking)).await;
        let closed = async || {
            let of = ledger::response::Respondent::member(&f.operator).unwrap();
            let (view, request) = (asked.request.view_id, Some(asked.request.id.0));
            ledger::response::read(&f.ledger, &of, view, request).await.unwrap().closed
        };
        assert_eq!(closed().await, None);
        session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
        assert_eq!(closed().await, Some(Closed::Cancelled), "its form says so before anything is typed");
        assert_eq!(state(&f, asked.request.id).await, RequestState::Cancelled);
        let refused = answer(&f, &f.operator, asked.request.id, says(json!({ "region": "EU" }))).await;
        assert!(
            matches!(refused, Err(Error::RequestClosed { state: RequestState::Cancelled })),
            "{blocking} {refused:?}"
        );
        assert!(answers(&f, session.id, false).await.is_empty());
        let of = ledger::response::Respondent::member(&f.operator).unwrap();
        let typed = [("region".to_owned(), json!("EU"))].into_iter().collect();
        let save = DraftSave { request_id: Some(asked.request.id.0), answers: typed, ..DraftSave::default() };
        let kept = ledger::response::save_draft(&f.ledger, &of, asked.request.view_id, save).await;
        assert!(matches!(kept, Err(Error::FormClosed(Closed::Cancelled))), "no draft is begun either: {kept:?}");
    }
    f.done().await;
}

async fn a_stored_answer_is_found_before_the_session_waits_again(f: Fixture) {
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", true)).await;
    // The answer to the worker's request is lost, so it repeats it.
    let repeated = ask(&f, &session, request(&session, "k", true)).await;
    assert_eq!((repeated.request.id, repeated.session.status()), (asked.request.id, Status::WaitingHuman));
    let given = answer(&f, &f.operator, asked.request.id, says(json!({ "region": "EU" }))).await.unwrap();
    // The next attempt does the same work again and asks again.
    let running = claim(&f).await.session;
    let found = ask(&f, &running, request(&running, "k", true)).await;
    assert_eq!((found.session.status(), found.answer.unwrap().id), (Status::Running, given.answer.id));
    f.done().await;
}

async fn a_child_finds_the_answers_of_its_root(f: Fixture) {
    let root = f.running().await;
    let new = NewSession { parent_id: Some(root.id), ..of_agent("scout") };
    let child = session::create(&f.ledger, &f.worker, new).await.unwrap();
    let asked = ask(&f, &root, request(&root, "k", false)).await;
    let given = answer(&f, &f.operator, asked.request.id, says(json!({ "region": "EU" }))).await.unwrap();
    let found = answers(&f, child.id, true).await;
    assert_eq!(found.iter().map(|answer| answer.id).collect::<Vec<_>>(), [given.answer.id]);
    // The session that asked gets it, not the child.
    let claimed = claim(&f).await;
    assert_eq!((claimed.session.id, claimed.answers.answers.len()), (child.id, 0));
    assert_eq!(feedback_request::take(&f.ledger, &f.worker, root.id, 1, None).await.unwrap().answers.len(), 1);
    f.done().await;
}

async fn retention_erases_what_was_asked_and_answered(f: Fixture) {
    let session = f.running().await;
    // A message of several lines is the introduction of the form too.
    let message = format!("Where do we start with {SECRET}?\nIt is urgent.");
    let about = NewRequest { message, form: form_with_secret(), ..request(&session, "k", true) };
    let asked = ask(&f, &session, about).await;
    let given = NewAnswer { note: Some(SECRET.into()), ..says(json!({ "region": "US", "why": SECRET })) };
    answer(&f, &f.operator, asked.request.id, given).await.unwrap();
    let running = claim(&f).await.session;
    // Answers are listed in the order of their times.
    f.clock.advance(TimeDelta::seconds(1));
    let of_lead = NewRequest { access: Some(Gate::Lead), ..request(&running, "k2", false) };
    let first = asked.request.id;
    let (asked, secret) = view_link::ask(&f.ledger, &f.worker, session.id, of_lead).await.unwrap();
    let lead = stranger(&f, &secret.unwrap()).await;
    let given = Submission { request_id: Some(asked.request.id.0), ..submission("one", json!({ "region": "EU" })) };
    ledger::response::submit(&f.ledger, &lead, asked.request.view_id, given).await.unwrap();
    let columns = [
        "feedback_requests.message",
        "gates.title",
        "gates.task",
        "gate_decisions.value",
        "gate_decisions.note",
        "request_answers.answers",
        "request_answers.note",
        "session_events.content",
        "session_events.metadata",
        "views.title",
        "views.introduction",
        "views.fields",
        "view_versions.title",
        "view_versions.introduction",
        "view_versions.fields",
    ];
    assert_eq!(columns_with(&f, SECRET, &columns).await, columns, "the test would find it");
    let label = answers(&f, session.id, false).await.pop().unwrap().respondent.label;
    assert!(label.is_some_and(|label| label.contains("zoe@example.org")), "the lead says who they are");
    session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
    f.clock.advance(TimeDelta::days(100));
    let key = InstanceKey::parse(&"ab".repeat(32)).unwrap();
    let older_than = f.ledger.now() - TimeDelta::days(90);
    retention::erase_by_operator(&f.ledger, &key, older_than, |_| {}).await.unwrap();
    let [erased, of_lead] = answers(&f, session.id, false).await.try_into().unwrap();
    assert_eq!((erased.answers, erased.note, erased.message.as_str()), (None, None, "(erased)"));
    assert_eq!((erased.outcome, erased.consumed_attempt), (Outcome::Answered, Some(2)));
    assert_eq!((of_lead.answers, of_lead.respondent.label), (None, None));
    assert_eq!((of_lead.outcome, of_lead.respondent.kind), (Outcome::Answered, RespondentKind::Lead));
    assert!(columns_with(&f, SECRET, &columns).await.is_empty(), "the secret is still in a column");
    let late = answer(&f, &f.admin, first, says(json!({ "why": SECRET }))).await;
    assert!(matches!(late, Err(Error::RequestClosed { state: RequestState::Answered })), "{late:?}");
    let verified = ledger::verify::all(&f.ledger, std::slice::from_ref(&key), |_| {}).await.unwrap();
    assert!(verified.bad.is_none(), "{:?}", verified.bad);
    f.done().await;
}

async fn what_cannot_be_asked_is_refused_by_its_field(f: Fixture) {
    let session = f.running().await;
    let plain = request(&session, "k", true);
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "^x" } } });
    let past = f.ledger.now() - TimeDelta::seconds(1);
    for (new, field) in [
        (NewRequest { message: " ".into(), ..plain.clone() }, "message"),
        (NewRequest { idempotency_key: String::new(), ..plain.clone() }, "idempotencyKey"),
        (NewRequest { expires_at: Some(past), ..plain.clone() }, "expiresAt"),
        (NewRequest { on_expiry: OnExpiry::Fail, ..plain.clone() }, "onExpiry"),
        (NewRequest { form: Form::Fields(Vec::new()), ..plain.clone() }, "fields"),
        (
            NewRequest { form: Form::Schema(serde_json::from_value(schema).unwrap()), ..plain.clone() },
            "requestedSchema.properties.a.pattern",
        ),
        (NewRequest { audience: Some("nobody".into()), ..plain.clone() }, "publishConfig.audience"),
        (
            NewRequest { access: Some(Gate::None), audience: Some("team".into()), ..plain.clone() },
            "publishConfig.audience",
        ),
    ] {
        let refused = feedback_request::ask(&f.ledger, &f.worker, session.id, new).await.unwrap_err();
        assert!(matches!(&refused, Error::Invalid(errors) if errors[0].field == field), "{field}: {refused:?}");
    }
    let stale = NewRequest { attempt: 7, ..plain.clone() };
    let refused = feedback_request::ask(&f.ledger, &f.worker, session.id, stale).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::StaleAttempt { .. }))), "{refused:?}");
    let refused = feedback_request::ask(&f.ledger, &f.member, session.id, plain.clone()).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    assert!(
        feedback_request::list(&f.ledger, &f.admin, session.id, ListPage::default()).await.unwrap().items.is_empty()
    );
    session::yield_to(&f.ledger, &f.worker, session.id, YieldRequest::at(1, YieldTo::Idle)).await.unwrap();
    let refused = feedback_request::ask(&f.ledger, &f.worker, session.id, plain).await;
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    f.done().await;
}

/// Keys of the open questions that this caller is shown.
async fn a_published_view_is_asked_by_its_own_rules(f: Fixture) {
    let session = f.running().await;
    let view = crate::response::form(&f, Publication { gate: Gate::None, ..Publication::default() }).await;
    let new =
        ledger::view::NewView { title: "Draft".into(), fields: crate::response::questions(), ..Default::default() };
    let draft = ledger::view::create(&f.ledger, &f.operator, new).await.unwrap().id;
    let plain = NewRequest { form: Form::View(view), ..request(&session, "k", true) };
    for (new, field) in [
        (NewRequest { access: Some(Gate::Member), ..plain.clone() }, "gate"),
        (NewRequest { audience: Some("legal".into()), ..plain.clone() }, "audience"),
        (NewRequest { form: Form::View(draft), ..plain.clone() }, "viewId"),
    ] {
        let refused = feedback_request::ask(&f.ledger, &f.worker, session.id, new).await.unwrap_err();
        assert!(matches!(&refused, Error::Invalid(errors) if errors[0].field == field), "{field}: {refused:?}");
    }
    let asked = ask(&f, &session, plain).await.request;
    assert_eq!((asked.view_id, asked.version, asked.access), (view, 1, Gate::None));
    answer(&f, &f.operator, asked.id, says(json!({ "name": "Ada" }))).await.unwrap();
    let resume = claim(&f).await.resume.unwrap();
    assert_eq!(crate::feedback_request::read(resume.answer.as_ref()), json!({ "name": "Ada" }));
    f.done().await;
}

async fn open_for(f: &Fixture, scope: &domain::Scope) -> Vec<String> {
    let open = feedback_request::open(&f.ledger, scope).await.unwrap();
    for request in &open {
        feedback_request::answerable(&f.ledger, scope, request.id).await.unwrap();
    }
    open.into_iter().map(|request| request.idempotency_key).collect()
}

/// Number of gates and of open questions in this person's own list. The count of the badge is the same.
async fn inbox_of(f: &Fixture, scope: &domain::Scope) -> (usize, usize) {
    let filter = gate::GateFilter::In(GateState::Open);
    let request = ledger::page::inbox::ListRequest { filter, everyone: false, line: None, cursor: None };
    let listed = ledger::page::inbox::list(&f.ledger, scope, request).await.unwrap();
    let counted = ledger::page::inbox::count(&f.ledger, scope, u32::MAX).await.unwrap();
    let (gates, questions) = (listed.items.len(), listed.questions.len());
    assert_eq!((counted.gates, counted.questions), (gates as u64, questions as u64));
    (gates, questions)
}

/// What the inbox shows under this id.
async fn opened(f: &Fixture, scope: &domain::Scope, id: uuid::Uuid) -> Result<bool, Error> {
    let opened = ledger::page::inbox::opened(&f.ledger, scope, domain::id::GateId(id)).await?;
    Ok(matches!(opened, ledger::page::inbox::Opened::Question(question) if !question.events.is_empty()))
}

async fn an_open_question_is_an_item_for_those_who_may_answer_it_alone(f: Fixture) {
    let reviewer = domain::Scope { role: domain::role::Role::Reviewer, ..f.other_member };
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", false)).await.request;
    assert!(opened(&f, &reviewer, asked.id.0).await.unwrap());
    let refused = opened(&f, &f.stranger, asked.id.0).await;
    assert!(matches!(refused, Err(Error::NotFound("approval"))), "{refused:?}");
    let refused = opened(&f, &f.other_member, asked.id.0).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let parked = f.running().await;
    let blocking = ask(&f, &parked, request(&parked, "parks", true)).await.request;
    let refused = opened(&f, &f.operator, blocking.id.0).await;
    assert!(matches!(refused, Err(Error::NotFound("approval"))), "its gate is the item: {refused:?}");
    assert!(!opened(&f, &f.operator, blocking.gate_id.unwrap().0).await.unwrap());
    f.done().await;
}

async fn a_question_for_which_nobody_waits_is_listed_for_those_who_may_answer_until_it_ends(f: Fixture) {
    let reviewer = domain::Scope { role: domain::role::Role::Reviewer, ..f.other_member };
    let session = f.running().await;
    let group = ledger::group::NewGroup {
        name: "Legal".into(),
        slug: Some("legal".into()),
        members: vec![f.member.user_id().unwrap()],
    };
    ledger::group::create(&f.ledger, &f.admin, group).await.unwrap();
    let anyone = ask(&f, &session, request(&session, "anyone", false)).await.request;
    // Questions without a deadline are listed in the order in which they were asked, to the millisecond.
    f.clock.advance(chrono::TimeDelta::milliseconds(1));
    let stranger = NewRequest { access: Some(Gate::None), ..request(&session, "stranger", false) };
    ask(&f, &session, stranger).await;
    let legal = NewRequest { audience: Some("legal".into()), ..request(&session, "legal", false) };
    ask(&f, &session, legal).await;
    let soon = ask(&f, &session, in_an_hour(&f, request(&session, "soon", false))).await.request;
    assert_eq!(session_now(&f, session.id).await.status(), Status::Running, "the session goes on");

    for decides in [&f.admin, &f.operator] {
        assert_eq!(open_for(&f, decides).await, ["soon", "anyone", "stranger"]);
    }
    assert_eq!(open_for(&f, &reviewer).await, ["soon", "anyone"], "a stranger is asked, and who manages the session");
    assert_eq!(open_for(&f, &f.member).await, ["legal"]);
    for none in [&f.other_member, &f.stranger, &f.worker] {
        assert!(open_for(&f, none).await.is_empty());
    }
    let refused = feedback_request::answerable(&f.ledger, &f.other_member, anyone.id).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let refused = feedback_request::answerable(&f.ledger, &f.stranger, anyone.id).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    for scope in [&f.admin, &f.operator, &reviewer, &f.member, &f.other_member] {
        assert_eq!(inbox_of(&f, scope).await, (0, open_for(&f, scope).await.len()));
    }
    assert_eq!(ledger::page::inbox::count(&f.ledger, &f.worker, 10).await.unwrap().all(), 0, "a token has no inbox");
    assert_eq!(ledger::page::inbox::count(&f.ledger, &f.admin, 2).await.unwrap().all(), 2, "counting stops");
    let parked = f.running().await;
    ask(&f, &parked, request(&parked, "parks", true)).await;
    assert_eq!(inbox_of(&f, &f.operator).await, (1, 3), "whoever started a session answers what it waits for");
    let waiting = ledger::page::inbox::count(&f.ledger, &f.operator, 2).await.unwrap();
    assert_eq!((waiting.gates, waiting.questions), (1, 1), "both together stop at the limit");
    session::cancel(&f.ledger, &f.admin, parked.id, None).await.unwrap();

    answer(&f, &reviewer, anyone.id, says(json!({ "region": "EU" }))).await.unwrap();
    assert_eq!(open_for(&f, &reviewer).await, ["soon"], "an answer withdraws it");
    sweep_after(&f, 3_600).await;
    assert!(open_for(&f, &reviewer).await.is_empty(), "so does the deadline");
    assert_eq!(state(&f, soon.id).await, RequestState::Waiting, "before the sweep has closed it");
    session::cancel(&f.ledger, &f.admin, session.id, None).await.unwrap();
    assert!(open_for(&f, &f.admin).await.is_empty() && open_for(&f, &f.member).await.is_empty(), "so does the end");
    expire(&f).await;
    let closed = feedback_request::get(&f.ledger, &f.admin, soon.id).await.unwrap().request;
    assert!(closed.closed_at.is_some(), "the sweep closes the requests of ended sessions");
    f.done().await;
}

async fn a_listed_question_is_answered_by_its_form(f: Fixture) {
    let reviewer = domain::Scope { role: domain::role::Role::Reviewer, ..f.other_member };
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", false)).await.request;
    let of = ledger::response::Respondent::member(&reviewer).unwrap();
    let given = ledger::response::Submission {
        request_id: Some(asked.id.0),
        version: None,
        rev: None,
        submission_id: "s1".into(),
        answers: json!({ "region": "EU" }).as_object().unwrap().clone(),
    };
    let sent = ledger::response::submit(&f.ledger, &of, asked.view_id, given).await.unwrap().response;
    assert!(!sent.late);
    assert!(feedback_request::open(&f.ledger, &reviewer).await.unwrap().is_empty());
    let [known] = answers(&f, session.id, true).await.try_into().unwrap();
    assert_eq!(known.response_session_id, Some(sent.session_id));
    assert_eq!(session_now(&f, session.id).await.status(), Status::Running);
    f.assert_verified().await;
    f.done().await;
}

async fn a_question_is_closed_without_an_answer_by_its_gate(f: Fixture) {
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", true)).await.request;
    let gate_id = asked.gate_id.unwrap();
    let foreign = gate::cancel_question(&f.ledger, &f.stranger, gate_id).await;
    assert!(matches!(foreign, Err(Error::NotFound(_))), "{foreign:?}");
    for what in ["first", "sent again"] {
        let closed = gate::cancel_question(&f.ledger, &f.admin, gate_id).await;
        assert!(closed.is_ok(), "{what}: {closed:?}");
    }
    let claimed = claim(&f).await;
    let ended = claimed.resume.unwrap().question.unwrap();
    assert_eq!((claimed.session.id, ended.outcome), (session.id, Outcome::Cancelled));
    let recorded = answers(&f, session.id, false).await;
    assert_eq!(recorded.iter().map(|answer| answer.outcome).collect::<Vec<_>>(), [Outcome::Cancelled]);
    f.assert_verified().await;
    f.done().await;
}

async fn until_counts(signals: &mut ledger::live::Signals) {
    let wait = async { while signals.recv().await != Some(ledger::live::LiveSignal::CountsChanged) {} };
    tokio::time::timeout(std::time::Duration::from_secs(10), wait).await.expect("no wake-up came");
}

async fn pages_hear_of_an_open_question_its_answer_and_its_deadline(f: Fixture) {
    let session = f.running_for(3_600).await;
    let mut signals = ledger::live::subscribe(&f.ledger, &f.admin);
    let asked = ask(&f, &session, request(&session, "k", false)).await.request;
    until_counts(&mut signals).await;
    answer(&f, &f.admin, asked.id, says(json!({ "region": "EU" }))).await.unwrap();
    until_counts(&mut signals).await;
    ask(&f, &session, in_an_hour(&f, request(&session, "k2", false))).await;
    until_counts(&mut signals).await;
    f.clock.advance(TimeDelta::seconds(3_600));
    assert_eq!(expire(&f).await, 1);
    until_counts(&mut signals).await;
    assert_eq!(session_now(&f, session.id).await.status(), Status::Running);
    f.done().await;
}

async fn pages_of_another_server_hear_of_an_open_question(f: Fixture) {
    // SQLite has one server.
    if matches!(f.engine, Engine::Sqlite(_)) {
        return f.done().await;
    }
    let session = f.running().await;
    let mut signals = ledger::live::subscribe(&f.ledger, &f.admin);
    let other = f.server_with(&f.clock, LeaseClock::Process(Arc::new(f.clock.clone()))).await;
    let new = request(&session, "k", false);
    feedback_request::ask(&other, &f.worker, session.id, new).await.unwrap();
    until_counts(&mut signals).await;
    other.close().await;
    f.done().await;
}
