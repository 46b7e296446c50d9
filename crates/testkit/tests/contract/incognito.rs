//! An incognito conversation is visible only to its person and to the worker that has claimed it.

use crate::{
    feedback_request::request,
    response::{answers, form, submission},
    thread::{ENDING, new, turn},
    view_link::someone,
    webhook::subscribed,
};
use domain::{
    Scope,
    gate::{GateState, PausedToolCall, Principal, Question},
    id::{EntityTypeId, EventId, GateId, SessionId, ViewId},
    role::{Role, TokenScope},
    session::{Session, Status, Type, YieldTo},
    session_feedback::{Label, Surface},
    view::{Gate, Publication},
    work_queue::Bucket,
};
use ledger::{
    Error, auth, event, failure, feedback,
    feedback_request::{Form, NewRequest},
    gate::{self, GateFilter, ListGates},
    insight, live,
    member::{self, Withdrawal},
    page::{
        self,
        inbox::{ListRequest, Opened, Selected},
    },
    response::{self, DraftSave, ListResponses, Promote, PromoteTo, Submission},
    session::{self, Completion, Failure, ListSessions, NewSession, YieldRequest},
    thread::{self, Message, NewThread},
    token, view, view_link,
    work_queue::{self, Counts, QueueScope, Trend},
};
use serde_json::json;
use testkit::{Fixture, on_both_engines, receiver::Receiver, text};

on_both_engines!(
    no_one_else_can_find_an_incognito_conversation,
    the_agent_at_work_sees_what_it_works_on_and_what_it_starts,
    figures_and_lists_of_others_leave_it_out,
    a_question_in_an_incognito_conversation_is_for_its_person_only_and_sends_no_message,
    who_decides_by_role_hands_no_question_of_an_incognito_conversation_over,
    reviewers_open_what_an_incognito_conversation_needs_approval_for_without_its_log,
    what_a_stranger_answers_in_an_incognito_conversation_is_for_its_person_only,
);

async fn start_conversation(f: &Fixture, message: &str) -> Session {
    let new = NewThread { incognito: true, idempotency_key: Some("hush".into()), ..new(Some(message)) };
    thread::start(&f.ledger, &f.member, new).await.unwrap().session
}

fn hidden<T: std::fmt::Debug>(what: &str, result: Result<T, Error>) {
    assert!(matches!(&result, Err(Error::NotFound(_))), "{what}: {result:?}");
}

async fn listed(f: &Fixture, who: &Scope, parent_id: Option<SessionId>) -> Vec<SessionId> {
    let found = session::list(&f.ledger, who, ListSessions { parent_id, ..Default::default() }).await.unwrap();
    found.items.iter().map(|session| session.id).collect()
}

async fn no_one_else_can_find_an_incognito_conversation(f: Fixture) {
    let l = &f.ledger;
    let id = start_conversation(&f, "A secret").await.id;
    turn(&f, "Hush.").await;
    // A worker that has not claimed the session has no more access than other callers.
    let made = token::create(l, &f.admin, "another", Role::Admin, Some(TokenScope::Worker)).await.unwrap();
    let other_worker = auth::by_token(l, &made.1).await.unwrap().unwrap().scope;
    for ended in [false, true] {
        for who in [&f.admin, &f.operator, &f.other_member, &f.stranger, &other_worker] {
            hidden("session", session::get(l, who, id).await);
            hidden("events", event::read(l, who, id, event::Read::default()).await);
            hidden("stream", event::follow(l, who, id, 0).await.map(drop));
            hidden("kinds", event::kind_counts(l, who, id).await);
            hidden("related", session::related(l, who, id).await);
            hidden("thread", thread::get(l, who, id).await);
            hidden("status", feedback::status(l, who, Some(id)).await);
            assert!(session::list_by_ids(l, who, &[id]).await.unwrap().is_empty());
            assert!(listed(&f, who, None).await.is_empty());
            let titled = ListSessions { title_contains: Some("scout".into()), ..Default::default() };
            assert!(session::list(l, who, titled).await.unwrap().items.is_empty());
            if who.tenant_id == f.member.tenant_id {
                assert_eq!(live::hidden(l, who, &[id]).await.unwrap(), [id]);
            }
        }
        for who in [&f.admin, &f.operator, &f.other_member] {
            let message = Message { text: "Who is there?".into(), id: None };
            hidden("say", thread::send_message(l, who, id, message).await);
            hidden("end", thread::end(l, who, id, ENDING).await);
            hidden("interrupt", thread::interrupt(l, who, id).await);
            hidden("cancel", session::cancel(l, who, id, None).await);
            hidden("retry", session::retry(l, who, id).await);
            hidden("rate", feedback::record(l, who, id, Label::Positive, Surface::WebEnd).await);
            let child = NewSession { parent_id: Some(id), ..NewSession::of_type(Type::Tool) };
            hidden("child", session::create(l, who, child).await);
        }
        let report = Completion { attempt: 1, result: None, usage: None };
        hidden("complete", session::complete(l, &f.operator, id, report).await);
        // Another person who uses the same idempotency key does not get the conversation.
        let again = NewThread { incognito: true, idempotency_key: Some("hush".into()), ..new(Some("A secret")) };
        let taken = thread::start(l, &f.other_member, again).await;
        assert!(matches!(taken, Err(Error::IdConflict { .. })), "{taken:?}");
        // The person of the conversation sees all of it.
        assert_eq!(session::get(l, &f.member, id).await.unwrap().id, id);
        assert!(!event::read(l, &f.member, id, event::Read::default()).await.unwrap().events.is_empty());
        assert_eq!(listed(&f, &f.member, None).await, [id]);
        assert!(live::hidden(l, &f.member, &[id]).await.unwrap().is_empty());
        if !ended {
            thread::end(l, &f.member, id, ENDING).await.unwrap();
        }
    }
    f.assert_verified().await;
    f.done().await;
}

async fn the_agent_at_work_sees_what_it_works_on_and_what_it_starts(f: Fixture) {
    let l = &f.ledger;
    let id = start_conversation(&f, "Look it up").await.id;
    let worked = f.claim(1, 60).await.remove(0);
    assert_eq!(session::get(l, &f.worker, id).await.unwrap().attempt, 1);
    assert!(!event::read(l, &f.worker, id, event::Read::default()).await.unwrap().events.is_empty());
    let child =
        NewSession { parent_id: Some(id), agent_slug: Some("helper".into()), ..NewSession::of_type(Type::Agent) };
    let child = session::create(l, &f.worker, child).await.unwrap();
    assert_eq!(child.private_to, Some(f.member.caller.to_string()));
    let helped = f.claim(1, 60).await.remove(0);
    assert_eq!(helped.id, child.id);
    let report = || Completion { attempt: 1, result: Some("\"found\"".into()), usage: None };
    session::complete(l, &f.worker, child.id, report()).await.unwrap();
    // The worker repeats its report, as it does after losing the answer.
    session::complete(l, &f.worker, child.id, report()).await.unwrap();
    assert_eq!(session::get(l, &f.worker, child.id).await.unwrap().result(), Some("\"found\""));
    assert_eq!(listed(&f, &f.worker, Some(id)).await, [child.id]);
    for who in [&f.admin, &f.other_member] {
        hidden("child", session::get(l, who, child.id).await);
        assert!(listed(&f, who, Some(id)).await.is_empty());
    }
    assert_eq!(listed(&f, &f.member, Some(id)).await, [child.id]);
    f.append(id, worked.attempt, vec![text("Found.")]).await.unwrap();
    session::yield_to(l, &f.worker, id, YieldRequest::at(worked.attempt, YieldTo::Idle)).await.unwrap();
    thread::end(l, &f.member, id, ENDING).await.unwrap();
    hidden("after the end", session::get(l, &f.worker, id).await);
    hidden("its child", session::get(l, &f.worker, child.id).await);
    f.done().await;
}

/// Asserts that the queue of the whole workspace has no session, whoever reads it.
async fn queue_of_everyone_is_empty(f: &Fixture, when: &str) {
    let (l, everyone) = (&f.ledger, QueueScope::Everyone);
    for who in [&f.admin, &f.other_member, &f.member] {
        assert_eq!(work_queue::counts(l, who, everyone, "UTC").await.unwrap(), Counts::default(), "{when}");
        for bucket in Bucket::ALL {
            let section = work_queue::section(l, who, everyone, bucket, "UTC", 10).await.unwrap();
            assert!(section.sessions.is_empty(), "{when}, {bucket:?}: {:?}", section.sessions);
        }
        let day = work_queue::day(l, who, everyone, "UTC").await.unwrap();
        let parts = [day.needs_me, day.running, day.failed, day.done_today];
        assert_eq!(parts, [Trend::default(); 4], "{when}");
    }
    let own = work_queue::section(l, &f.admin, QueueScope::Mine, Bucket::Failed, "UTC", 10).await.unwrap();
    assert_eq!(own.unassigned_failures, 0, "{when}");
}

async fn figures_and_lists_of_others_leave_it_out(f: Fixture) {
    let l = &f.ledger;
    let id = start_conversation(&f, "A secret").await.id;
    queue_of_everyone_is_empty(&f, "pending").await;
    let worked = f.claim(1, 60).await.remove(0);
    queue_of_everyone_is_empty(&f, "running").await;
    let question = Some(Question::new("Which secret?".into(), None));
    let waits = YieldRequest { question, ..YieldRequest::at(worked.attempt, YieldTo::WaitingHuman) };
    session::yield_to(l, &f.worker, id, waits).await.unwrap();
    queue_of_everyone_is_empty(&f, "waiting").await;
    gate::reply(l, &f.member, id, gate::Reply::Accept("this one".into())).await.unwrap();
    turn(&f, "Hush.").await;
    thread::end(l, &f.member, id, ENDING).await.unwrap();
    queue_of_everyone_is_empty(&f, "completed").await;
    let another = NewThread { incognito: true, ..new(Some("Another secret")) };
    let another = thread::start(l, &f.member, another).await.unwrap().session.id;
    f.claim(1, 60).await.remove(0);
    thread::end(l, &f.member, another, ENDING).await.unwrap();
    assert_eq!(session::get(l, &f.member, another).await.unwrap().status(), Status::Abandoned);
    queue_of_everyone_is_empty(&f, "abandoned").await;
    let open = f.pending().await;
    session::cancel(l, &f.operator, open.id, None).await.unwrap();
    let total = insight::read_window(l, &f.admin, 1).await.unwrap().insights.total;
    assert_eq!(total.sessions, 1, "of the open one alone");
    let event_id = EventId::new(l.now(), &testkit::SeededEntropy::new(5));
    let message = Message { text: "A secret".into(), id: Some(event_id) };
    hidden("whether it is recorded", thread::is_recorded(l, &f.admin, id, &message).await);
    f.done().await;
}

async fn a_question_in_an_incognito_conversation_is_for_its_person_only_and_sends_no_message(f: Fixture) {
    let l = &f.ledger;
    let topics = ["session.failed", "session.ended", "approval.requested", "approval.decided"];
    let receiver = Receiver::start().await;
    subscribed(&f, receiver.url(), &topics).await;
    let id = start_conversation(&f, "A secret").await.id;
    let worked = f.claim(1, 60).await.remove(0);
    let question = Question::new("Which secret?".into(), None);
    let yield_request =
        YieldRequest { question: Some(question), ..YieldRequest::at(worked.attempt, YieldTo::WaitingHuman) };
    session::yield_to(l, &f.worker, id, yield_request).await.unwrap();
    let question = gate::of_sessions(l, &f.member, vec![id]).await.unwrap().remove(0).gate.id;
    for who in [&f.admin, &f.operator] {
        hidden("gate", gate::get(l, who, question).await.map(drop));
        assert!(gate::of_sessions(l, who, vec![id]).await.unwrap().is_empty());
        hidden("notification", page::inbox::waiting(l, who, id).await);
        hidden("id", gate::of_action(l, who, question.0, None).await);
        for seconds in [Some(60), None] {
            hidden("snooze", gate::snooze(l, who, question, seconds).await.map(drop));
        }
        let wanted =
            ListGates { filter: GateFilter::In(GateState::Open), kind: None, all: true, limit: 10, cursor: None };
        let listed = gate::list(l, who, wanted).await.unwrap();
        assert!(listed.items.is_empty(), "{:?}", listed.items);
        let answer = gate::Reply::Accept("mine".into());
        hidden("reply", gate::reply(l, who, id, answer).await.map(drop));
    }
    let to = Principal::User(f.operator.user_id().unwrap());
    let handed = gate::hand_over(l, &f.member, question, to, None).await;
    assert!(matches!(handed, Err(Error::Forbidden(_))), "its person answers and decides nothing: {handed:?}");
    let mia = f.member.user_id().unwrap();
    member::withdraw(l, &f.admin, mia, Withdrawal::Deactivate).await.unwrap();
    assert_eq!(gate::ask_admins(l).await.unwrap(), 0, "admins are not asked instead");
    member::activate(l, &f.admin, mia).await.unwrap();
    assert_eq!(gate::get(l, &f.member, question).await.unwrap().item.gate.title, "Which secret?");
    gate::reply(l, &f.member, id, gate::Reply::Accept("this one".into())).await.unwrap();
    let again = f.claim(1, 60).await.remove(0);
    let failure = Failure { attempt: again.attempt, message: "a secret cause".into(), code: None, usage: None };
    session::fail(l, &f.worker, id, failure).await.unwrap();
    let failures = failure::list(l, &f.admin, failure::ListFailures::default()).await.unwrap();
    assert!(failures.items.is_empty(), "{:?}", failures.items);
    hidden("failure", failure::acknowledge(l, &f.admin, id).await.map(drop));
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM outbox").await, 0);
    f.done().await;
}

/// Asserts that these reviewers can open this item, in their inbox and on its own, without the events of its session.
pub async fn opens_without_events(f: &Fixture, reviewers: &[&Scope], id: GateId) {
    for who in reviewers {
        for selected in [Selected::First, Selected::Item(id)] {
            let filter = GateFilter::In(GateState::Open);
            let request = ListRequest { filter, everyone: true, line: None, cursor: None };
            let (list, opened) = page::inbox::read(&f.ledger, who, request, selected).await.unwrap();
            assert_eq!(list.items.iter().map(|item| item.gate.id).collect::<Vec<_>>(), [id]);
            let Some(Opened::Gate(detail)) = opened else { panic!("{selected:?}: {opened:?}") };
            assert_eq!(detail.found.item.gate.id, id);
            assert!(detail.events.is_empty(), "{selected:?}: {:?}", detail.events);
        }
    }
}

async fn who_decides_by_role_hands_no_question_of_an_incognito_conversation_over(f: Fixture) {
    let l = &f.ledger;
    let own = NewThread { incognito: true, ..new(Some("Mine")) };
    let id = thread::start(l, &f.operator, own).await.unwrap().session.id;
    let attempt = f.claim(1, 60).await.remove(0).attempt;
    let question = Some(Question::new("Which secret?".into(), None));
    let asking = YieldRequest { question, ..YieldRequest::at(attempt, YieldTo::WaitingHuman) };
    session::yield_to(l, &f.worker, id, asking).await.unwrap();
    let question = gate::of_sessions(l, &f.operator, vec![id]).await.unwrap().remove(0).gate.id;
    let to = Principal::User(f.admin.user_id().unwrap());
    let handed = gate::hand_over(l, &f.operator, question, to, None).await;
    assert!(matches!(handed, Err(Error::Invalid(_))), "no one else may see it: {handed:?}");
    let offered = page::hand_over::read(l, &f.operator, question).await.unwrap();
    assert!(offered.people.is_empty() && offered.groups.is_empty(), "{offered:?}");
}

async fn reviewers_open_what_an_incognito_conversation_needs_approval_for_without_its_log(f: Fixture) {
    let l = &f.ledger;
    let id = start_conversation(&f, "A secret").await.id;
    let worked = f.claim(1, 60).await.remove(0);
    let call = PausedToolCall {
        tool_call_id: "call-1".into(),
        tool_name: "send_mail".into(),
        tool_input: answers(json!({ "to": "ada@acme.test" })),
    };
    let yield_request =
        YieldRequest { paused_tool_call: Some(call), ..YieldRequest::at(worked.attempt, YieldTo::AwaitingTool) };
    session::yield_to(l, &f.worker, id, yield_request).await.unwrap();
    let waiting = gate::of_sessions(l, &f.operator, vec![id]).await.unwrap().remove(0).gate.id;
    opens_without_events(&f, &[&f.operator, &f.admin], waiting).await;
    let section = page::today::section(l, &f.operator, QueueScope::Mine, Bucket::NeedsMe, "UTC").await.unwrap();
    let row = &section.rows[0];
    assert_eq!((row.session.id, &row.session.title), (id, &row.gate.as_ref().unwrap().gate.title));
    assert!(row.newest.is_none() && !format!("{row:?}").contains("A secret"), "{row:?}");
    let opened = page::inbox::opened(l, &f.member, waiting).await.unwrap();
    let Opened::Gate(detail) = opened else { panic!("{opened:?}") };
    assert!(!detail.events.is_empty(), "its person sees the log");
    f.done().await;
}

async fn what_a_stranger_answers_in_an_incognito_conversation_is_for_its_person_only(f: Fixture) {
    let l = &f.ledger;
    let receiver = Receiver::start().await;
    subscribed(&f, receiver.url(), &["form.submitted"]).await;
    let public = Publication { gate: Gate::None, notify: true, ..Publication::default() };
    let listed_view = form(&f, public).await;
    let id = start_conversation(&f, "A secret").await.id;
    let worked = f.claim(1, 60).await.remove(0);
    let ask = async |new: NewRequest| {
        let new = NewRequest { access: Some(Gate::None), ..new };
        let (asked, secret) = view_link::ask(l, &f.worker, id, new).await.unwrap();
        (asked.request, someone(&f, &secret.unwrap()).await)
    };
    let alone = async |of: SessionId, view: ViewId| {
        for who in [&f.admin, &f.operator, &f.other_member] {
            hidden("session", session::get(l, who, of).await);
            hidden("response", response::get(l, who, of).await);
            let to = PromoteTo::Type(EntityTypeId(uuid::Uuid::nil()));
            let promoted = Promote { to, title: None, fields: Default::default() };
            let promoted = response::promote(l, who, of, promoted).await;
            assert!(matches!(promoted, Err(Error::NotFound("response"))), "{promoted:?}");
            assert!(listed(&f, who, None).await.is_empty());
            for view_id in [None, Some(view)] {
                let query = ListResponses { view_id, ..ListResponses::default() };
                assert!(response::list(l, who, query).await.unwrap().items.is_empty());
            }
        }
        assert_eq!(response::get(l, &f.member, of).await.unwrap().session_id, of);
        let own = ListResponses { view_id: Some(view), ..ListResponses::default() };
        let own = response::list(l, &f.member, own).await.unwrap().items;
        assert_eq!(own.iter().map(|response| response.session_id).collect::<Vec<_>>(), [of]);
    };
    // The agent continues. A listed view is asked, and the answers are saved before they are sent.
    let (asked, zoe) = ask(NewRequest { form: Form::View(listed_view), ..request(&worked, "k1", false) }).await;
    let link = view_link::create_of_request(l, &f.operator, listed_view, asked.id, 1).await;
    hidden("a link to its question", link);
    let given = answers(json!({ "name": "Zoe" }));
    let draft = DraftSave { request_id: Some(asked.id.0), answers: given, ..DraftSave::default() };
    let draft = response::save_draft(l, &zoe, listed_view, draft).await.unwrap().session_id;
    alone(draft, listed_view).await;
    let given = Submission { request_id: Some(asked.id.0), ..submission("one", json!({ "name": "Zoe" })) };
    let sent = response::submit(l, &zoe, listed_view, given).await.unwrap().response;
    assert_eq!(sent.session_id, draft);
    alone(draft, listed_view).await;
    let slug = view::get(l, &f.admin, listed_view).await.unwrap().slug;
    let found = page::response::read(l, &f.admin, slug, ListResponses::default()).await.unwrap();
    let page::response::Found::Page(shown) = found else { panic!("{found:?}") };
    assert_eq!((shown.counts.submitted, shown.counts.drafts, shown.counted), (0, 0, 0));
    assert!(shown.versions.is_empty() && shown.responses.items.is_empty());
    // The agent waits, and the answers are sent at once.
    let (asked, ben) = ask(request(&worked, "k2", true)).await;
    let given = Submission { request_id: Some(asked.id.0), ..submission("two", json!({ "region": "EU" })) };
    let sent = response::submit(l, &ben, asked.view_id, given).await.unwrap().response;
    alone(sent.session_id, asked.view_id).await;
    assert_eq!(f.claim(1, 60).await.remove(0).id, id, "the agent has the answer");
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM outbox").await, 0);
    f.assert_verified().await;
    f.done().await;
}
