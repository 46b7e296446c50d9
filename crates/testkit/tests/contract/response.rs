//! Responses: drafts with revisions, one submission of each respondent, and what becomes of a form that is left.

use chrono::TimeDelta;
use domain::{
    Scope,
    id::{SessionId, ViewId},
    limit::{DRAFT_EVENTS_MAX, VIEW_DRAFTS_MAX},
    response::{Closed, RespondentKind, ResponseStatus},
    session::{EndReason, Status, Type},
    view::{Answers, Field, Gate, Publication, Responses},
};
use futures_util::future::join_all;
use ledger::{
    Error, ListPage, ResponseRecord, ResponseState, entity, entity_type, feedback, group,
    response::{self, DraftSave, ListResponses, Promote, PromoteTo, Respondent, Submission, Submitted},
    session, view,
    view::{NewView, ViewChange},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_form_makes_no_row_until_something_changes,
    the_first_answer_runs_the_session_and_submitting_completes_it,
    two_tabs_never_overwrite_each_other_silently,
    drafts_of_a_person_are_found_on_another_device,
    saves_are_coalesced_into_few_events,
    a_repeated_submission_is_answered_with_what_is_recorded,
    of_submissions_at_once_one_is_recorded,
    a_view_with_many_responses_takes_more_of_each,
    a_form_takes_no_more_responses_than_it_says,
    a_form_takes_answers_only_while_it_is_open,
    who_has_answered_is_told_so_when_the_form_is_full_or_over,
    wrong_answers_are_refused_by_their_field,
    a_form_that_changed_meanwhile_keeps_what_fits,
    a_form_for_a_group_is_for_its_members,
    a_draft_that_was_left_is_abandoned_once,
    a_cancelled_session_closes_its_draft,
    workers_and_other_workspaces_answer_no_form,
    responses_are_listed_by_view_status_and_person,
    a_view_has_a_bounded_number_of_open_drafts,
    a_response_becomes_an_entity_once_and_each_names_the_other,
);

pub(crate) fn questions() -> Vec<Field> {
    serde_json::from_value(json!([
        { "key": "name", "label": "Your name?", "type": "short_text", "required": true },
        { "key": "mood", "label": "Mood?", "type": "scale", "minimum": 1, "maximum": 5 },
        { "key": "why", "label": "Why?", "type": "long_text", "showIf": { "field": "mood", "in": [1, 2] } },
    ]))
    .unwrap()
}

/// Publishes a view with these settings.
pub(crate) async fn form(f: &Fixture, publication: Publication) -> ViewId {
    let slug = Some(format!("check-{}", fastrand::u64(..)));
    let new = NewView { title: "Check".into(), slug, fields: questions(), publication, ..NewView::default() };
    let made = view::create(&f.ledger, &f.operator, new).await.unwrap();
    view::publish(&f.ledger, &f.operator, made.id, None).await.unwrap().id
}

pub(crate) fn answers(value: Value) -> Answers {
    value.as_object().unwrap().clone()
}

fn of(scope: &Scope) -> Respondent {
    Respondent::member(scope).unwrap()
}

async fn save(f: &Fixture, who: &Scope, view: ViewId, rev: u64, given: Value) -> ledger::Result<ResponseRecord> {
    let save = DraftSave { rev, answers: answers(given), ..DraftSave::default() };
    response::save_draft(&f.ledger, &of(who), view, save).await
}

pub(crate) fn submission(id: &str, given: Value) -> Submission {
    Submission { request_id: None, version: None, rev: None, submission_id: id.into(), answers: answers(given) }
}

async fn submit(f: &Fixture, who: &Scope, view: ViewId, id: &str, given: Value) -> ledger::Result<Submitted> {
    response::submit(&f.ledger, &of(who), view, submission(id, given)).await
}

fn many() -> Publication {
    Publication { responses: Responses::Many, ..Publication::default() }
}

async fn kinds(f: &Fixture, id: SessionId) -> Vec<String> {
    f.log(id).await.into_iter().map(|event| event.kind).collect()
}

async fn a_form_makes_no_row_until_something_changes(f: Fixture) {
    let view = form(&f, Publication::default()).await;
    for _ in 0..2 {
        let read = response::read(&f.ledger, &of(&f.member), view, None).await.unwrap();
        assert_eq!((read.closed, read.draft, read.submitted), (None, None, None));
    }
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM responses").await, 0);
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM sessions").await, 0);
    f.done().await;
}

async fn the_first_answer_runs_the_session_and_submitting_completes_it(f: Fixture) {
    let view = form(&f, Publication::default()).await;
    let draft = save(&f, &f.member, view, 0, json!({ "name": " " })).await.unwrap();
    let read = async |id| session::get(&f.ledger, &f.member, id).await.unwrap();
    let opened = read(draft.session_id).await;
    assert_eq!((opened.session_type, opened.status()), (Type::Response, Status::Draft), "nothing is answered yet");
    assert_eq!((opened.title.as_str(), opened.user_id), ("Check", f.member.user_id()));
    f.clock.advance(TimeDelta::seconds(11));
    let begun = save(&f, &f.member, view, draft.rev, json!({ "name": "Ada" })).await.unwrap();
    assert_eq!((begun.session_id, begun.rev, begun.state), (draft.session_id, 2, ResponseState::Draft));
    assert_eq!(read(draft.session_id).await.status(), Status::Running);
    let given = json!({ "name": "Ada", "mood": 4, "why": "left over" });
    let sent = submit(&f, &f.member, view, "one", given).await.unwrap();
    assert_eq!((sent.response.session_id, sent.is_repeat), (draft.session_id, false));
    assert_eq!(Value::from(sent.response.answers.clone()), json!({ "name": "Ada", "mood": 4 }), "why does not apply");
    let ended = read(draft.session_id).await;
    assert_eq!((ended.status(), ended.end_reason()), (Status::Completed, Some(EndReason::Done)));
    let prompt = feedback::prompt(&f.ledger, &f.member, &ended).await.unwrap();
    assert_eq!(prompt, feedback::Prompt::Silent, "nobody worked for the person");
    let result: Value = serde_json::from_str(ended.result().unwrap()).unwrap();
    assert_eq!(result, json!({ "viewId": view, "version": 1, "answers": { "name": "Ada", "mood": 4 } }));
    let expected = [
        "session.created",
        "user.form_draft",
        "user.form_draft",
        "session.status_change",
        "user.form_submit",
        "session.status_change",
    ];
    assert_eq!(kinds(&f, draft.session_id).await, expected);
    let log = f.log(draft.session_id).await;
    let submitted: Value = serde_json::from_str(&log[4].content).unwrap();
    assert_eq!(submitted[1], json!({ "type": "form_answers", "answers": { "name": "Ada", "mood": 4 } }));
    assert_eq!(log[4].actor, f.member.caller.to_string());
    f.assert_verified().await;
    f.done().await;
}

async fn two_tabs_never_overwrite_each_other_silently(f: Fixture) {
    let view = form(&f, Publication::default()).await;
    let first = save(&f, &f.member, view, 0, json!({ "name": "A" })).await.unwrap();
    let other = save(&f, &f.member, view, 0, json!({ "name": "B" })).await;
    assert!(matches!(other, Err(Error::StaleVersion { given: 0, current: 1 })), "{other:?}");
    let second = save(&f, &f.member, view, first.rev, json!({ "name": "AA" })).await.unwrap();
    let stale = save(&f, &f.member, view, first.rev, json!({ "name": "B" })).await;
    assert!(matches!(stale, Err(Error::StaleVersion { given: 1, current: 2 })), "{stale:?}");
    let lost = save(&f, &f.member, view, first.rev, json!({ "name": "AA" })).await.unwrap();
    assert_eq!(lost, second, "a repeat whose answer was lost changes nothing");
    let late = Submission { rev: Some(1), ..submission("one", json!({ "name": "B" })) };
    let late = response::submit(&f.ledger, &of(&f.member), view, late).await;
    assert!(matches!(late, Err(Error::StaleVersion { given: 1, current: 2 })), "{late:?}");
    // The same answers overwrite nothing, whatever was read before.
    let sent = Submission { rev: Some(1), ..submission("one", json!({ "name": "AA" })) };
    response::submit(&f.ledger, &of(&f.member), view, sent).await.unwrap();
    let closed = save(&f, &f.member, view, 2, json!({ "name": "B" })).await;
    assert!(matches!(closed, Err(Error::FormClosed(Closed::Answered))), "{closed:?}");
    f.done().await;
}

async fn drafts_of_a_person_are_found_on_another_device(f: Fixture) {
    let view = form(&f, many()).await;
    let draft = save(&f, &f.member, view, 0, json!({ "name": "Ada", "mood": 2 })).await.unwrap();
    let again = response::read(&f.ledger, &of(&f.member), view, None).await.unwrap();
    assert_eq!(again.draft.unwrap().answers, draft.answers);
    let other = response::read(&f.ledger, &of(&f.other_member), view, None).await.unwrap();
    assert_eq!(other.draft, None, "another person has no draft");
    submit(&f, &f.member, view, "one", json!({ "name": "Ada" })).await.unwrap();
    let stale = save(&f, &f.member, view, draft.rev, json!({ "name": "old tab" })).await;
    assert!(matches!(stale, Err(Error::StaleVersion { given: 1, current: 0 })), "{stale:?}");
    f.done().await;
}

async fn saves_are_coalesced_into_few_events(f: Fixture) {
    let view = form(&f, Publication::default()).await;
    let mut draft = save(&f, &f.member, view, 0, json!({ "name": "0" })).await.unwrap();
    for n in 1..=20 {
        f.clock.advance(TimeDelta::seconds(1));
        draft = save(&f, &f.member, view, draft.rev, json!({ "name": n.to_string() })).await.unwrap();
    }
    let drafts = async |id| kinds(&f, id).await.into_iter().filter(|kind| kind == "user.form_draft").count();
    assert_eq!(drafts(draft.session_id).await, 3, "one at 0, 10 and 20 seconds");
    for n in 0..DRAFT_EVENTS_MAX + 5 {
        let answers = answers(json!({ "name": format!("leaving {n}") }));
        let save = DraftSave { rev: draft.rev, answers, is_leaving: true, ..DraftSave::default() };
        draft = response::save_draft(&f.ledger, &of(&f.member), view, save).await.unwrap();
    }
    assert_eq!(drafts(draft.session_id).await, DRAFT_EVENTS_MAX as usize, "a response has a bounded number of events");
    assert_eq!(draft.answers["name"], json!(format!("leaving {}", DRAFT_EVENTS_MAX + 4)));
    f.done().await;
}

async fn a_repeated_submission_is_answered_with_what_is_recorded(f: Fixture) {
    let view = form(&f, Publication::default()).await;
    let first = submit(&f, &f.member, view, "one", json!({ "name": "Ada" })).await.unwrap();
    let again = submit(&f, &f.member, view, "one", json!({ "name": "Ada" })).await.unwrap();
    assert_eq!((again.response.clone(), again.is_repeat), (first.response.clone(), true));
    let other = submit(&f, &f.member, view, "one", json!({ "name": "Mia" })).await;
    assert!(matches!(other, Err(Error::IdConflict { .. })), "{other:?}");
    let second = submit(&f, &f.member, view, "two", json!({ "name": "Mia" })).await.unwrap();
    assert_eq!((second.response, second.is_repeat), (first.response, true), "one response of each respondent");
    let foreign = submit(&f, &f.other_member, view, "one", json!({ "name": "Ada" })).await;
    assert!(matches!(foreign, Err(Error::IdConflict { .. })), "{foreign:?}");
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM responses").await, 1);
    f.done().await;
}

async fn of_submissions_at_once_one_is_recorded(f: Fixture) {
    let view = form(&f, Publication::default()).await;
    let tries = (0..8).map(|n| {
        let id = format!("try-{n}");
        let (f, member) = (&f, &f.member);
        async move { submit(f, member, view, &id, json!({ "name": "Ada" })).await }
    });
    let mut recorded = 0;
    for tried in join_all(tries).await {
        recorded += u32::from(!tried.unwrap().is_repeat);
    }
    assert_eq!(recorded, 1);
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM responses").await, 1);
    assert_eq!(f.engine.raw().await.number("SELECT submitted FROM response_counts").await, 1);
    f.assert_verified().await;
    f.done().await;
}

async fn a_view_with_many_responses_takes_more_of_each(f: Fixture) {
    let view = form(&f, many()).await;
    let first = submit(&f, &f.member, view, "one", json!({ "name": "Ada" })).await.unwrap();
    let second = submit(&f, &f.member, view, "two", json!({ "name": "Ada" })).await.unwrap();
    assert!(first.response.session_id != second.response.session_id && !second.is_repeat);
    let again = submit(&f, &f.member, view, "one", json!({ "name": "Ada" })).await.unwrap();
    assert_eq!((again.response, again.is_repeat), (first.response, true));
    f.done().await;
}

async fn a_form_takes_no_more_responses_than_it_says(f: Fixture) {
    let view = form(&f, Publication { max_responses: Some(2), ..many() }).await;
    let tries = (0..6).map(|n| {
        let (f, who) = (&f, if n % 2 == 0 { &f.member } else { &f.other_member });
        async move { submit(f, who, view, &format!("try-{n}"), json!({ "name": "Ada" })).await }
    });
    let done = join_all(tries).await;
    assert_eq!(done.iter().filter(|tried| tried.is_ok()).count(), 2, "{done:?}");
    for refused in done.into_iter().filter_map(Result::err) {
        assert!(matches!(refused, Error::FormClosed(Closed::Full)), "{refused:?}");
    }
    let full = save(&f, &f.operator, view, 0, json!({ "name": "x" })).await;
    assert!(matches!(full, Err(Error::FormClosed(Closed::Full))), "{full:?}");
    f.done().await;
}

async fn a_form_takes_answers_only_while_it_is_open(f: Fixture) {
    let now = f.ledger.now();
    let opens = Some(now + TimeDelta::hours(1));
    let view = form(&f, Publication { opens_at: opens, closes_at: Some(now + TimeDelta::hours(2)), ..many() }).await;
    let refusal = async |expected| {
        let read = response::read(&f.ledger, &of(&f.member), view, None).await.unwrap();
        assert_eq!(read.closed, Some(expected));
        for refused in [
            save(&f, &f.member, view, 0, json!({ "name": "x" })).await.err(),
            submit(&f, &f.member, view, "x", json!({ "name": "x" })).await.err(),
        ] {
            assert!(matches!(refused, Some(Error::FormClosed(closed)) if closed == expected), "{refused:?}");
        }
    };
    refusal(Closed::NotYet).await;
    f.clock.advance(TimeDelta::hours(1));
    submit(&f, &f.member, view, "one", json!({ "name": "x" })).await.unwrap();
    f.clock.advance(TimeDelta::hours(1));
    refusal(Closed::Over).await;
    view::unpublish(&f.ledger, &f.operator, view).await.unwrap();
    let gone = response::read(&f.ledger, &of(&f.member), view, None).await;
    assert!(matches!(gone, Err(Error::FormClosed(Closed::NotPublished))), "{gone:?}");
    f.done().await;
}

async fn who_has_answered_is_told_so_when_the_form_is_full_or_over(f: Fixture) {
    let closes_at = Some(f.ledger.now() + TimeDelta::hours(1));
    let full = form(&f, Publication { max_responses: Some(1), ..Publication::default() }).await;
    let over = form(&f, Publication { closes_at, ..Publication::default() }).await;
    let full_of_many = form(&f, Publication { max_responses: Some(1), ..many() }).await;
    for view in [full, over, full_of_many] {
        submit(&f, &f.member, view, "one", json!({ "name": "x" })).await.unwrap();
    }
    f.clock.advance(TimeDelta::hours(1));
    let read = async |who: &Scope, view: ViewId| response::read(&f.ledger, &of(who), view, None).await.unwrap();
    for (view, reason) in [(full, Closed::Full), (over, Closed::Over)] {
        let own = read(&f.member, view).await;
        assert_eq!((own.closed, own.submitted.is_some()), (Some(Closed::Answered), true), "{reason}");
        let other = read(&f.other_member, view).await;
        assert_eq!((other.closed, other.has_answered), (Some(reason), false));
        let again = submit(&f, &f.member, view, "one", json!({ "name": "x" })).await.unwrap();
        assert!(again.is_repeat, "{reason}");
    }
    let own = read(&f.member, full_of_many).await;
    assert_eq!((own.closed, own.has_answered, own.submitted), (Some(Closed::Full), true, None));
    f.done().await;
}

async fn wrong_answers_are_refused_by_their_field(f: Fixture) {
    let view = form(&f, Publication::default()).await;
    let refused = submit(&f, &f.member, view, "one", json!({ "mood": 9, "other": 1 })).await;
    let Err(Error::Invalid(issues)) = refused else { panic!("{refused:?}") };
    let named: Vec<_> = issues.iter().map(|issue| issue.field.as_str()).collect();
    assert_eq!(named, ["other", "name", "mood"]);
    let bad_id = submit(&f, &f.member, view, "a b", json!({ "name": "x" })).await;
    assert!(matches!(bad_id, Err(Error::Invalid(_))), "{bad_id:?}");
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM sessions").await, 0, "nothing was written");
    let kept = save(&f, &f.member, view, 0, json!({ "mood": "nine", "other": 1 })).await.unwrap();
    assert_eq!(Value::from(kept.answers), json!({ "mood": "nine" }), "a draft keeps what is not finished");
    f.done().await;
}

async fn a_form_that_changed_meanwhile_keeps_what_fits(f: Fixture) {
    let view = form(&f, Publication::default()).await;
    let draft = save(&f, &f.member, view, 0, json!({ "name": "Ada", "mood": 1, "why": "rain" })).await.unwrap();
    let fields = questions().into_iter().take(2).collect();
    let change = ViewChange { revision: 1, fields: Some(fields), ..ViewChange::default() };
    view::update(&f.ledger, &f.operator, view, change).await.unwrap();
    view::publish(&f.ledger, &f.operator, view, None).await.unwrap();
    let read = response::read(&f.ledger, &of(&f.member), view, None).await.unwrap();
    assert_eq!(read.version.version, 2);
    assert_eq!(Value::from(read.draft.unwrap().answers), json!({ "name": "Ada", "mood": 1 }));
    let old = Submission { version: Some(1), ..submission("one", json!({ "name": "Ada" })) };
    let old = response::submit(&f.ledger, &of(&f.member), view, old).await;
    assert!(matches!(old, Err(Error::FormChanged { current: 2 })), "{old:?}");
    let sent = submit(&f, &f.member, view, "one", json!({ "name": "Ada", "mood": 1 })).await.unwrap();
    assert_eq!((sent.response.session_id, sent.response.version), (draft.session_id, 2));
    f.done().await;
}

async fn a_form_for_a_group_is_for_its_members(f: Fixture) {
    let members = f.member.user_id().into_iter().collect();
    let new = group::NewGroup { name: "Team".into(), slug: None, members };
    group::create(&f.ledger, &f.operator, new).await.unwrap();
    let view = form(&f, Publication { audience: Some("team".into()), ..Publication::default() }).await;
    let outside = submit(&f, &f.other_member, view, "one", json!({ "name": "x" })).await;
    assert!(matches!(outside, Err(Error::FormClosed(Closed::WrongRespondent))), "{outside:?}");
    submit(&f, &f.member, view, "two", json!({ "name": "x" })).await.unwrap();
    f.done().await;
}

async fn a_draft_that_was_left_is_abandoned_once(f: Fixture) {
    let view = form(&f, Publication::default()).await;
    let left = save(&f, &f.member, view, 0, json!({ "name": "Ada" })).await.unwrap();
    let empty = save(&f, &f.other_member, view, 0, json!({})).await.unwrap();
    let day = TimeDelta::hours(24);
    f.clock.advance(TimeDelta::hours(23));
    assert_eq!(response::sweep(&f.ledger, day).await.unwrap(), 0);
    f.clock.advance(TimeDelta::hours(1));
    let swept = join_all([response::sweep(&f.ledger, day), response::sweep(&f.ledger, day)]).await;
    assert_eq!(swept.into_iter().map(Result::unwrap).sum::<u64>(), 2);
    for made in [&left, &empty] {
        let ended = session::get(&f.ledger, &f.member, made.session_id).await.unwrap();
        assert_eq!((ended.status(), ended.end_reason()), (Status::Abandoned, Some(EndReason::TimedOut)));
        let row = response::get(&f.ledger, &f.member, made.session_id).await.unwrap();
        assert_eq!(row.state, ResponseState::Abandoned);
    }
    let stale = save(&f, &f.member, view, left.rev, json!({ "name": "Ada L." })).await;
    assert!(matches!(stale, Err(Error::StaleVersion { given: 1, current: 0 })), "{stale:?}");
    let anew = save(&f, &f.member, view, 0, json!({ "name": "Ada L." })).await.unwrap();
    assert!(anew.session_id != left.session_id);
    f.assert_verified().await;
    f.done().await;
}

async fn a_cancelled_session_closes_its_draft(f: Fixture) {
    let view = form(&f, Publication::default()).await;
    let draft = save(&f, &f.member, view, 0, json!({ "name": "Ada" })).await.unwrap();
    session::cancel(&f.ledger, &f.member, draft.session_id, None).await.unwrap();
    let row = response::get(&f.ledger, &f.member, draft.session_id).await.unwrap();
    assert_eq!(row.state, ResponseState::Abandoned);
    let sent = submit(&f, &f.member, view, "one", json!({ "name": "Ada" })).await.unwrap();
    assert!(sent.response.session_id != draft.session_id, "a new response begins");
    f.done().await;
}

async fn workers_and_other_workspaces_answer_no_form(f: Fixture) {
    let view = form(&f, Publication { gate: Gate::None, ..many() }).await;
    assert!(matches!(Respondent::member(&f.worker), Err(Error::Forbidden(_))));
    assert_eq!(of(&f.member).kind(), RespondentKind::User);
    for refused in [
        save(&f, &f.stranger, view, 0, json!({ "name": "x" })).await.err(),
        submit(&f, &f.stranger, view, "one", json!({ "name": "x" })).await.err(),
        response::read(&f.ledger, &of(&f.stranger), view, None).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::NotFound(_))), "{refused:?}");
    }
    let made = submit(&f, &f.member, view, "one", json!({ "name": "x" })).await.unwrap();
    let hidden = response::get(&f.ledger, &f.stranger, made.response.session_id).await;
    assert!(matches!(hidden, Err(Error::NotFound(_))), "{hidden:?}");
    f.done().await;
}

async fn responses_are_listed_by_view_status_and_person(f: Fixture) {
    let (one, two) = (form(&f, many()).await, form_named(&f, "Other").await);
    let mut made = Vec::new();
    for n in 0..3 {
        f.clock.advance(TimeDelta::milliseconds(1));
        made.push(submit(&f, &f.member, one, &format!("{n}"), json!({ "name": "x" })).await.unwrap().response);
    }
    f.clock.advance(TimeDelta::milliseconds(1));
    let draft = save(&f, &f.other_member, two, 0, json!({ "name": "y" })).await.unwrap();
    let ids = async |query: ListResponses| {
        let listed = response::list(&f.ledger, &f.other_member, query).await.unwrap();
        listed.items.into_iter().map(|item| item.session_id).collect::<Vec<_>>()
    };
    let all = ids(ListResponses::default()).await;
    assert_eq!(all, [draft.session_id, made[2].session_id, made[1].session_id, made[0].session_id]);
    assert_eq!(ids(ListResponses { view_id: Some(two), ..ListResponses::default() }).await, [draft.session_id]);
    assert_eq!(ids(ListResponses { own: true, ..ListResponses::default() }).await, [draft.session_id]);
    let of_status = |status| ListResponses { status: Some(status), ..ListResponses::default() };
    assert_eq!(ids(of_status(ResponseStatus::Draft)).await, [draft.session_id]);
    assert_eq!(ids(of_status(ResponseStatus::Submitted)).await.len(), 3);
    assert!(
        ids(of_status(ResponseStatus::Promoted)).await.is_empty()
            && ids(of_status(ResponseStatus::Abandoned)).await.is_empty()
    );
    let page = ListPage { limit: 2, cursor: None };
    let first = ListResponses { view_id: Some(one), page, ..ListResponses::default() };
    let first = response::list(&f.ledger, &f.member, first).await.unwrap();
    let page = ListPage { limit: 2, cursor: first.next_cursor.clone() };
    let rest = ListResponses { view_id: Some(one), page, ..ListResponses::default() };
    let rest = response::list(&f.ledger, &f.member, rest).await.unwrap();
    assert_eq!((first.items.len(), rest.items.len(), rest.next_cursor), (2, 1, None));
    f.done().await;
}

async fn form_named(f: &Fixture, title: &str) -> ViewId {
    let new = NewView { title: title.into(), fields: questions(), ..NewView::default() };
    let made = view::create(&f.ledger, &f.operator, new).await.unwrap();
    view::publish(&f.ledger, &f.operator, made.id, None).await.unwrap().id
}

async fn a_view_has_a_bounded_number_of_open_drafts(f: Fixture) {
    let view = form(&f, many()).await;
    let first = save(&f, &f.member, view, 0, json!({ "name": "x" })).await.unwrap();
    // Rows of others are copied, since making a thousand people takes long.
    let mut raw = f.engine.raw().await;
    let columns = "tenant_id, view_id, version, respondent_kind, state, rev, answers, once, late, draft_events, \
                   created_at, saved_at";
    raw.execute("CREATE TABLE copied AS SELECT * FROM responses").await.unwrap();
    let id = if f.engine.file().is_none() { "gen_random_uuid()" } else { "randomblob(16)" };
    if f.engine.file().is_none() {
        raw.execute("ALTER TABLE responses DISABLE TRIGGER ALL").await.unwrap();
    } else {
        raw.execute("PRAGMA foreign_keys = OFF").await.unwrap();
    }
    raw.execute(&format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) \
         INSERT INTO responses (session_id, respondent, {columns}) SELECT {id}, {id}, {columns} FROM copied, n",
        VIEW_DRAFTS_MAX - 1
    ))
    .await
    .unwrap();
    let refused = save(&f, &f.other_member, view, 0, json!({ "name": "x" })).await;
    assert!(matches!(refused, Err(Error::LimitReached(_))), "{refused:?}");
    save(&f, &f.member, view, first.rev, json!({ "name": "xx" })).await.unwrap();
    submit(&f, &f.other_member, view, "one", json!({ "name": "x" })).await.unwrap();
    f.done().await;
}

async fn a_response_becomes_an_entity_once_and_each_names_the_other(f: Fixture) {
    let view = form(&f, many()).await;
    let fields = serde_json::from_value(json!([
        { "slug": "mood", "name": "Mood", "type": "number" },
        { "slug": "note", "name": "Note", "type": "text" },
    ]));
    let new = entity_type::NewEntityType { name: "Person".into(), slug: None, fields: fields.unwrap() };
    let of_type = entity_type::create(&f.ledger, &f.operator, new).await.unwrap();
    let draft = save(&f, &f.member, view, 0, json!({ "name": "Ada" })).await.unwrap();
    let to = |mapping: &[(&str, &str)]| Promote {
        to: PromoteTo::Type(of_type.id),
        title: None,
        fields: mapping.iter().map(|(slug, key)| ((*slug).to_owned(), (*key).to_owned())).collect(),
    };
    let early = response::promote(&f.ledger, &f.operator, draft.session_id, to(&[])).await;
    assert!(matches!(early, Err(Error::Invalid(_))), "{early:?}");
    let given = json!({ "name": "Ada", "mood": 2, "why": "rain" });
    let sent = submit(&f, &f.member, view, "one", given).await.unwrap().response;
    let wrong = response::promote(&f.ledger, &f.operator, sent.session_id, to(&[("other", "why")])).await;
    assert!(matches!(wrong, Err(Error::Invalid(_))), "{wrong:?}");
    let made = response::promote(&f.ledger, &f.operator, sent.session_id, to(&[("note", "why")])).await.unwrap();
    let entity_id = made.promotion.clone().unwrap().entity_id;
    let made_of = entity::get(&f.ledger, &f.member, entity_id).await.unwrap();
    assert_eq!((made_of.title.as_str(), Value::from(made_of.fields)), ("Ada", json!({ "mood": 2, "note": "rain" })));
    let versions = entity::list_versions(&f.ledger, &f.member, entity_id, ListPage::default()).await.unwrap();
    assert_eq!(versions.items[0].session_id, Some(sent.session_id), "the entity names the response");
    let again = response::promote(&f.ledger, &f.operator, sent.session_id, to(&[])).await.unwrap();
    assert_eq!(again.promotion, made.promotion, "a repeat makes nothing");
    let query = ListResponses { status: Some(ResponseStatus::Promoted), ..ListResponses::default() };
    let listed = response::list(&f.ledger, &f.member, query).await.unwrap();
    assert_eq!(listed.items, [made], "the response names the entity");
    f.done().await;
}
