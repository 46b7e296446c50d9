//! Links to forms for people without an account: what a link opens, what it does not, and when it stops.

use crate::{
    feedback_request::{ask, request},
    gate::claim,
    response::{answers, form, submission},
};
use chrono::TimeDelta;
use domain::{
    feedback_request::RespondentKind as AnsweredBy,
    id::{ViewId, ViewLinkId},
    limit::{REQUEST_LINKS_MAX, VIEW_LINKS_MAX},
    response::{Closed, RespondentKind},
    view::{Gate, Publication, Responses},
};
use ledger::{
    Error, entity,
    feedback_request::{Form, NewRequest},
    response::{self, DraftSave, Respondent, Submission},
    session, view,
    view_link::{self, Entered, Entry, NewLead},
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_link_lets_a_browser_answer_once,
    a_link_that_is_unknown_expired_or_revoked_opens_nothing,
    a_clearance_is_for_its_own_link_and_browser,
    a_revoked_link_stops_browsers_that_opened_it,
    a_form_for_members_is_not_answered_by_a_link,
    a_lead_gives_a_name_and_an_address_first,
    a_repeat_from_the_same_page_makes_one_lead,
    strangers_see_and_write_their_own_responses_alone,
    operators_and_admins_make_list_and_revoke_links,
    a_stranger_answers_an_agent_that_waits,
    the_form_of_a_question_is_for_that_question_alone,
    a_question_takes_answers_when_the_form_that_it_uses_is_full_or_over,
    links_of_questions_do_not_use_up_those_of_the_form,
    no_lead_is_recorded_for_a_question_that_was_cancelled,
);

fn open_to_all() -> Publication {
    Publication { gate: Gate::None, ..Publication::default() }
}

async fn link(f: &Fixture, view: ViewId) -> (ViewLinkId, String) {
    let (made, secret) = view_link::create(&f.ledger, &f.operator, view, 30).await.unwrap();
    (made.id, secret)
}

async fn enter(f: &Fixture, secret: &str) -> Entered {
    view_link::enter(&f.ledger, secret, None).await.unwrap()
}

fn entry(entered: &Entered) -> Entry<'_> {
    Entry { browser: Some(&entered.browser), clearance: Some(&entered.clearance), ..Entry::default() }
}

/// A person without an account who has just opened a link.
pub(crate) async fn someone(f: &Fixture, secret: &str) -> Respondent {
    let entered = enter(f, secret).await;
    respondent(f, entered.link.id, entry(&entered)).await.unwrap()
}

async fn respondent(f: &Fixture, id: ViewLinkId, entry: Entry<'_>) -> ledger::Result<Respondent> {
    Ok(view_link::respondent(&f.ledger, id, entry).await?.respondent)
}

async fn a_link_lets_a_browser_answer_once(f: Fixture) {
    let view = form(&f, open_to_all()).await;
    let (id, secret) = link(&f, view).await;
    assert!(secret.starts_with("sbf_") && secret.len() > 43);
    let one = enter(&f, &secret).await;
    let who = respondent(&f, id, entry(&one)).await.unwrap();
    assert_eq!(who.kind(), RespondentKind::Browser);
    let draft = DraftSave { answers: answers(json!({ "name": "Zoe" })), ..DraftSave::default() };
    let draft = response::save_draft(&f.ledger, &who, view, draft).await.unwrap();
    let sent = response::submit(&f.ledger, &who, view, submission("one", json!({ "name": "Zoe" }))).await.unwrap();
    assert_eq!((sent.response.session_id, sent.response.link_id), (draft.session_id, Some(id)));
    let row = session::get(&f.ledger, &f.member, draft.session_id).await.unwrap();
    assert_eq!((row.user_id, row.created_by.starts_with("respondent:")), (None, true));
    let again = view_link::enter(&f.ledger, &secret, Some(&one.browser)).await.unwrap();
    assert_eq!(again.browser, one.browser, "the same browser is known again");
    let repeat = response::submit(&f.ledger, &who, view, submission("two", json!({ "name": "Zed" }))).await.unwrap();
    assert_eq!((repeat.is_repeat, repeat.response), (true, sent.response));
    let other = enter(&f, &secret).await;
    let other = respondent(&f, id, entry(&other)).await.unwrap();
    let second = response::submit(&f.ledger, &other, view, submission("b", json!({ "name": "Ben" }))).await.unwrap();
    assert!(!second.is_repeat && other != who, "another browser is another respondent");
    let links = view_link::list(&f.ledger, &f.operator, view).await.unwrap();
    assert_eq!((links.len(), links[0].uses), (1, 3));
    f.assert_verified().await;
    f.done().await;
}

async fn a_link_that_is_unknown_expired_or_revoked_opens_nothing(f: Fixture) {
    let view = form(&f, open_to_all()).await;
    let (id, secret) = link(&f, view).await;
    let mut changed = secret.clone().into_bytes();
    changed[10] = if changed[10] == b'a' { b'b' } else { b'a' };
    let changed = String::from_utf8(changed).unwrap();
    let closed = async |secret: &str| {
        let refused = view_link::enter(&f.ledger, secret, None).await;
        assert!(matches!(refused, Err(Error::NotFound("form"))), "{refused:?}");
    };
    for guessed in ["", "sbf_", "x", &changed, &secret.replace("sbf_", "sbl_"), &id.to_string()] {
        closed(guessed).await;
    }
    view::unpublish(&f.ledger, &f.operator, view).await.unwrap();
    closed(&secret).await;
    view::publish(&f.ledger, &f.operator, view, None).await.unwrap();
    enter(&f, &secret).await;
    view_link::revoke(&f.ledger, &f.operator, id).await.unwrap();
    closed(&secret).await;
    let (_, second) = link(&f, view).await;
    f.clock.advance(TimeDelta::days(30));
    closed(&second).await;
    let raw = f.engine.raw().await.texts("SELECT hint FROM view_links").await;
    assert!(raw.iter().all(|hint| !secret.ends_with(hint) && hint.len() == 10), "only a hint is stored");
    f.done().await;
}

async fn a_clearance_is_for_its_own_link_and_browser(f: Fixture) {
    let (one, two) = (form(&f, open_to_all()).await, form(&f, open_to_all()).await);
    let ((id, secret), (other_id, other_secret)) = (link(&f, one).await, link(&f, two).await);
    let (own, other) = (enter(&f, &secret).await, enter(&f, &other_secret).await);
    let stranger = form_of_stranger(&f).await;
    let (foreign_id, foreign_secret) = stranger;
    let foreign = enter(&f, &foreign_secret).await;
    assert!(respondent(&f, id, entry(&own)).await.is_ok());
    let key = view_link::respondent(&f.ledger, id, entry(&own)).await.unwrap().form_key;
    assert!(respondent(&f, id, Entry { form_key: Some(&key), ..entry(&own) }).await.is_ok());
    for (what, id, entry) in [
        ("no cookie", id, Entry::default()),
        ("no clearance", id, Entry { clearance: None, ..entry(&own) }),
        ("another view", other_id, entry(&own)),
        ("another workspace", foreign_id, entry(&own)),
        ("another workspace's clearance", id, entry(&foreign)),
        ("another link's clearance", id, Entry { clearance: Some(&other.clearance), ..entry(&own) }),
        ("another browser", id, Entry { browser: Some(&other.browser), ..entry(&own) }),
        ("a wrong form key", id, Entry { form_key: Some("x"), ..entry(&own) }),
        ("a replayed form key", other_id, Entry { form_key: Some(&key), ..entry(&other) }),
        ("a guess", ViewLinkId(uuid::Uuid::nil()), entry(&own)),
    ] {
        let refused = respondent(&f, id, entry).await;
        assert!(matches!(refused, Err(Error::NotFound("form"))), "{what}: {refused:?}");
    }
    f.clock.advance(TimeDelta::days(30));
    assert!(respondent(&f, id, entry(&own)).await.is_err(), "expired");
    f.done().await;
}

/// A link to a form of the other workspace.
async fn form_of_stranger(f: &Fixture) -> (ViewLinkId, String) {
    let new = view::NewView {
        title: "Theirs".into(),
        fields: crate::response::questions(),
        publication: open_to_all(),
        ..view::NewView::default()
    };
    let made = view::create(&f.ledger, &f.stranger, new).await.unwrap();
    view::publish(&f.ledger, &f.stranger, made.id, None).await.unwrap();
    let (made, secret) = view_link::create(&f.ledger, &f.stranger, made.id, 30).await.unwrap();
    (made.id, secret)
}

async fn a_revoked_link_stops_browsers_that_opened_it(f: Fixture) {
    let view = form(&f, open_to_all()).await;
    let (id, secret) = link(&f, view).await;
    let entered = enter(&f, &secret).await;
    assert!(respondent(&f, id, entry(&entered)).await.is_ok());
    view_link::revoke(&f.ledger, &f.operator, id).await.unwrap();
    view_link::revoke(&f.ledger, &f.operator, id).await.unwrap();
    assert!(matches!(respondent(&f, id, entry(&entered)).await, Err(Error::NotFound(_))));
    let foreign = view_link::revoke(&f.ledger, &f.stranger, id).await;
    assert!(matches!(foreign, Err(Error::NotFound(_))), "{foreign:?}");
    f.done().await;
}

async fn a_form_for_members_is_not_answered_by_a_link(f: Fixture) {
    let view = form(&f, Publication::default()).await;
    let (id, secret) = link(&f, view).await;
    let entered = enter(&f, &secret).await;
    assert_eq!(entered.gate, Gate::Member);
    let who = respondent(&f, id, entry(&entered)).await.unwrap();
    let save = DraftSave { answers: answers(json!({ "name": "x" })), ..DraftSave::default() };
    for refused in [
        response::save_draft(&f.ledger, &who, view, save).await.err(),
        response::submit(&f.ledger, &who, view, submission("x", json!({ "name": "x" }))).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::FormClosed(Closed::WrongRespondent))), "{refused:?}");
    }
    f.done().await;
}

async fn a_lead_gives_a_name_and_an_address_first(f: Fixture) {
    let view = form(&f, Publication { gate: Gate::Lead, ..Publication::default() }).await;
    let (id, secret) = link(&f, view).await;
    let entered = enter(&f, &secret).await;
    let unknown = respondent(&f, id, entry(&entered)).await.unwrap();
    let refused = response::submit(&f.ledger, &unknown, view, submission("x", json!({ "name": "x" }))).await;
    assert!(matches!(refused, Err(Error::FormClosed(Closed::WrongRespondent))), "{refused:?}");
    let wrong = NewLead { name: " ".into(), email: "zoe".into() };
    let wrong = view_link::capture_lead(&f.ledger, id, entry(&entered), wrong).await;
    let Err(Error::Invalid(issues)) = wrong else { panic!("{wrong:?}") };
    assert_eq!(issues.iter().map(|issue| issue.field.as_str()).collect::<Vec<_>>(), ["name", "email"]);
    let new = NewLead { name: "Zoe".into(), email: "Zoe@Example.org".into() };
    let cookie = view_link::capture_lead(&f.ledger, id, entry(&entered), new).await.unwrap();
    let known = respondent(&f, id, Entry { lead: Some(&cookie), ..entry(&entered) }).await.unwrap();
    assert_eq!(known.kind(), RespondentKind::Lead);
    let sent = response::submit(&f.ledger, &known, view, submission("x", json!({ "name": "x" }))).await.unwrap();
    let lead = entity::get(&f.ledger, &f.member, sent.response.lead_entity_id.unwrap()).await.unwrap();
    assert_eq!((lead.type_slug.as_str(), lead.title.as_str()), ("lead", "Zoe"));
    assert_eq!(lead.fields["email"], json!("zoe@example.org"));
    let log = f.log(sent.response.session_id).await;
    let event = log.iter().find(|event| event.kind == "user.form_submit").unwrap();
    let metadata: serde_json::Value = serde_json::from_str(&event.metadata).unwrap();
    assert_eq!(metadata["leadEntityId"], json!(lead.id), "the identity travels with the event");
    let forged = respondent(&f, id, Entry { lead: Some("v1.x.y"), ..entry(&entered) }).await.unwrap();
    assert_eq!(forged.kind(), RespondentKind::Browser, "a forged cookie is no lead");
    f.done().await;
}

async fn a_repeat_from_the_same_page_makes_one_lead(f: Fixture) {
    let view = form(&f, Publication { gate: Gate::Lead, ..Publication::default() }).await;
    let (id, secret) = link(&f, view).await;
    let (own, other) = (enter(&f, &secret).await, enter(&f, &secret).await);
    let (page, later) = (f.ledger.request_id().to_string(), f.ledger.request_id().to_string());
    let capture = async |entered: &Entered, page: Option<&str>, name: &str| {
        let new = NewLead { name: name.to_owned(), email: "zoe@example.org".to_owned() };
        let entry = Entry { page_id: page, ..entry(entered) };
        let cookie = view_link::capture_lead(&f.ledger, id, entry, new).await.unwrap();
        cookie.split('.').nth(1).unwrap().to_owned()
    };
    let page = Some(page.as_str());
    let (one, two) = tokio::join!(capture(&own, page, "Zoe"), capture(&own, page, "Zoe"));
    assert_eq!(one, two, "a doubled press");
    assert_eq!(capture(&own, page, "Zoe").await, one, "the first answer was lost");
    let leads = [
        one,
        capture(&own, page, "Zoe B.").await,
        capture(&own, Some(&later), "Zoe").await,
        capture(&own, None, "Zoe").await,
        capture(&own, Some("x"), "Zoe").await,
        capture(&other, page, "Zoe").await,
    ];
    let different: std::collections::BTreeSet<_> = leads.iter().collect();
    assert_eq!(different.len(), leads.len(), "another page or browser gets no earlier lead");
    let listed = entity::list(&f.ledger, &f.member, entity::ListEntities::default()).await.unwrap().items;
    assert_eq!(listed.iter().filter(|entity| entity.type_slug == "lead").count(), leads.len());
    f.done().await;
}

async fn strangers_see_and_write_their_own_responses_alone(f: Fixture) {
    let view = form(&f, Publication { gate: Gate::None, responses: Responses::Many, ..Publication::default() }).await;
    let (id, secret) = link(&f, view).await;
    let (one, two) = (enter(&f, &secret).await, enter(&f, &secret).await);
    let (one, two) = (respondent(&f, id, entry(&one)).await.unwrap(), respondent(&f, id, entry(&two)).await.unwrap());
    let save = |name: &str| DraftSave { answers: answers(json!({ "name": name })), ..DraftSave::default() };
    let draft = response::save_draft(&f.ledger, &one, view, save("Zoe")).await.unwrap();
    let seen = response::read(&f.ledger, &two, view, None).await.unwrap();
    assert_eq!((seen.draft, seen.submitted), (None, None));
    let other = response::save_draft(&f.ledger, &two, view, save("Ben")).await.unwrap();
    assert!(other.session_id != draft.session_id);
    let taken = response::submit(&f.ledger, &one, view, submission("same", json!({ "name": "Zoe" }))).await.unwrap();
    let refused = response::submit(&f.ledger, &two, view, submission("same", json!({ "name": "Zoe" }))).await;
    assert!(matches!(refused, Err(Error::IdConflict { .. })), "{refused:?}");
    assert_eq!(taken.response.session_id, draft.session_id);
    if f.engine.file().is_none() {
        // The policy of the table: a transaction that acts for a respondent sees no other row.
        let mut raw = f.engine.raw().await;
        let tenant = f.operator.tenant_id;
        let begin = format!(
            "BEGIN; SET LOCAL ROLE shiftbook_app; SELECT set_config('app.tenant', '{tenant}', true), \
             set_config('app.respondent', '{}', true)",
            other.respondent
        );
        raw.execute(&begin).await.unwrap();
        assert_eq!(raw.number("SELECT COUNT(*) FROM responses").await, 1);
        assert_eq!(raw.number("SELECT COUNT(*) FROM sessions").await, 1, "its own session");
        let sessions = format!("SELECT COUNT(*) FROM session_events WHERE session_id <> '{}'", other.session_id);
        assert_eq!(raw.number(&sessions).await, 0, "no event of another session");
        assert!(raw.number("SELECT COUNT(*) FROM session_events").await > 0, "its own events");
        let changed = raw.execute("UPDATE responses SET answers = '{}' WHERE state = 'submitted'").await.unwrap();
        assert_eq!(changed, 0);
        raw.execute("ROLLBACK").await.unwrap();
    }
    f.done().await;
}

async fn operators_and_admins_make_list_and_revoke_links(f: Fixture) {
    let view = form(&f, open_to_all()).await;
    let (id, _) = link(&f, view).await;
    for who in [&f.member, &f.worker] {
        let made = view_link::create(&f.ledger, who, view, 1).await;
        let listed = view_link::list(&f.ledger, who, view).await;
        let revoked = view_link::revoke(&f.ledger, who, id).await;
        for refused in [made.err(), listed.err(), revoked.err()] {
            assert!(matches!(refused, Some(Error::Forbidden(_))), "{refused:?}");
        }
    }
    for days in [0, 367] {
        let refused = view_link::create(&f.ledger, &f.admin, view, days).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    let foreign = view_link::create(&f.ledger, &f.stranger, view, 1).await;
    assert!(matches!(foreign, Err(Error::NotFound("view"))), "{foreign:?}");
    let foreign = view_link::list(&f.ledger, &f.stranger, view).await;
    assert!(matches!(foreign, Err(Error::NotFound("view"))), "{foreign:?}");
    let new = view::NewView { title: "Draft".into(), fields: crate::response::questions(), ..view::NewView::default() };
    let draft = view::create(&f.ledger, &f.operator, new).await.unwrap();
    let refused = view_link::create(&f.ledger, &f.operator, draft.id, 1).await;
    assert!(matches!(refused, Err(Error::WrongState { .. })), "{refused:?}");
    view::delete(&f.ledger, &f.operator, draft.id).await.unwrap();
    f.done().await;
}

async fn a_stranger_answers_an_agent_that_waits(f: Fixture) {
    let session = f.running().await;
    let new = NewRequest { access: Some(Gate::None), ..request(&session, "k", true) };
    let asked = ask(&f, &session, new).await.request;
    let made = view_link::create_of_request(&f.ledger, &f.operator, asked.view_id, asked.id, 1).await.unwrap();
    let plain = form(&f, open_to_all()).await;
    let foreign = view_link::create_of_request(&f.ledger, &f.operator, plain, asked.id, 1).await;
    assert!(matches!(foreign, Err(Error::NotFound("request"))), "{foreign:?}");
    let (id, entered) = (made.0.id, enter(&f, &made.1).await);
    let visitor = view_link::respondent(&f.ledger, id, entry(&entered)).await.unwrap();
    let (found, who) = (visitor.link, visitor.respondent);
    let given = |region: &str| Submission {
        request_id: found.request_id,
        ..submission("one", json!({ "region": region, "seats": 3 }))
    };
    let sent = response::submit(&f.ledger, &who, asked.view_id, given("EU")).await.unwrap();
    assert!(!sent.response.late && sent.response.request_id == Some(asked.id.0));
    if f.engine.file().is_none() {
        // The policies of the tables: the transaction of the answer queues the session and does not read its log.
        let mut raw = f.engine.raw().await;
        let begin = format!(
            "BEGIN; SET LOCAL ROLE shiftbook_app; SELECT set_config('app.tenant', '{}', true), \
             set_config('app.respondent', '{}', true), set_config('app.asking_session', '{}', true)",
            f.operator.tenant_id, sent.response.respondent, session.id
        );
        raw.execute(&begin).await.unwrap();
        let of_session =
            |table: &str, column: &str| format!("SELECT COUNT(*) FROM {table} WHERE {column} = '{}'", session.id);
        assert_eq!(raw.number(&of_session("sessions", "id")).await, 1);
        assert_eq!(raw.number(&of_session("session_events", "session_id")).await, 0);
        assert!(raw.number("SELECT COUNT(*) FROM session_events").await > 0, "its own events");
        raw.execute("ROLLBACK").await.unwrap();
    }
    let again = response::submit(&f.ledger, &who, asked.view_id, given("EU")).await.unwrap();
    assert_eq!((again.is_repeat, again.response), (true, sent.response.clone()));
    let claimed = claim(&f).await;
    assert_eq!(claimed.session.id, session.id, "the agent goes on");
    let resume = claimed.resume.unwrap();
    assert_eq!(crate::feedback_request::read(resume.answer.as_ref()), json!({ "region": "EU", "seats": 3 }));
    let ended = resume.question.unwrap();
    assert_eq!((ended.request_id, ended.respondent.kind), (Some(asked.id), AnsweredBy::Browser));
    let late = enter(&f, &made.1).await;
    let late = respondent(&f, id, entry(&late)).await.unwrap();
    let after = Submission { submission_id: "two".into(), ..given("US") };
    let after = response::submit(&f.ledger, &late, asked.view_id, after).await.unwrap();
    assert!(after.response.late, "kept, and not sent to the agent");
    f.assert_verified().await;
    f.done().await;
}

async fn the_form_of_a_question_is_for_that_question_alone(f: Fixture) {
    let session = f.running().await;
    let asked = ask(&f, &session, request(&session, "k", false)).await.request;
    let view = asked.view_id;
    let given = || submission("one", json!({ "region": "EU" }));
    let who = Respondent::member(&f.operator).unwrap();
    let save = DraftSave { answers: given().answers, ..DraftSave::default() };
    for refused in [
        response::submit(&f.ledger, &who, view, given()).await.err(),
        response::save_draft(&f.ledger, &who, view, save).await.err(),
        response::read(&f.ledger, &who, view, None).await.err(),
    ] {
        assert!(matches!(refused, Some(Error::NotFound("form"))), "the agent would wait for ever: {refused:?}");
    }
    let refused = view_link::create(&f.ledger, &f.operator, view, 1).await;
    assert!(matches!(refused, Err(Error::NotFound("view"))), "{refused:?}");
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM responses").await, 0);
    let named = Submission { request_id: Some(asked.id.0), ..given() };
    response::submit(&f.ledger, &who, view, named).await.unwrap();
    assert!(view_link::create_of_request(&f.ledger, &f.operator, view, asked.id, 1).await.is_ok());
    f.done().await;
}

async fn a_question_takes_answers_when_the_form_that_it_uses_is_full_or_over(f: Fixture) {
    let closes_at = Some(f.ledger.now() + TimeDelta::hours(1));
    let view = form(&f, Publication { max_responses: Some(1), closes_at, ..open_to_all() }).await;
    let session = f.running().await;
    let mut open = Vec::new();
    for key in ["first", "full", "over"] {
        let new = NewRequest { form: Form::View(view), ..request(&session, key, false) };
        let (asked, secret) = view_link::ask(&f.ledger, &f.worker, session.id, new).await.unwrap();
        open.push((key, asked.request.id, secret.unwrap()));
    }
    let member = Respondent::member(&f.member).unwrap();
    for (key, id, secret) in open {
        if key == "over" {
            f.clock.advance(TimeDelta::hours(1));
        }
        let who = someone(&f, &secret).await;
        let read = response::read(&f.ledger, &who, view, Some(id.0)).await.unwrap();
        assert_eq!(read.closed, None, "{key}");
        let given = Submission { request_id: Some(id.0), ..submission(key, json!({ "name": "Zoe" })) };
        let sent = response::submit(&f.ledger, &who, view, given).await.unwrap().response;
        assert!(!sent.late, "{key}");
        let plain = response::submit(&f.ledger, &member, view, submission("plain", json!({ "name": "Mia" }))).await;
        let is_closed = matches!(plain, Err(Error::FormClosed(Closed::Full | Closed::Over)));
        assert!(is_closed, "the form itself takes no more answers: {plain:?}");
    }
    f.done().await;
}

async fn links_of_questions_do_not_use_up_those_of_the_form(f: Fixture) {
    let view = form(&f, open_to_all()).await;
    let (plain, _) = link(&f, view).await;
    let session = f.running().await;
    let ask = async |key: &str| {
        let new = NewRequest { form: Form::View(view), ..request(&session, key, false) };
        view_link::ask(&f.ledger, &f.worker, session.id, new).await.unwrap().1
    };
    for question in 0..VIEW_LINKS_MAX / REQUEST_LINKS_MAX {
        let key = format!("k{question}");
        for _ in 0..REQUEST_LINKS_MAX {
            assert!(ask(&key).await.is_some(), "{key}");
        }
        assert!(ask(&key).await.is_none(), "a question has its own limit");
    }
    assert!(ask("one more").await.is_some());
    assert!(view_link::create(&f.ledger, &f.operator, view, 1).await.is_ok());
    let listed = view_link::list(&f.ledger, &f.operator, view).await.unwrap();
    assert_eq!(listed.len(), VIEW_LINKS_MAX as usize);
    assert!(listed.iter().any(|link| link.id == plain), "the links of the form itself are all listed");
    assert!(listed.is_sorted_by_key(|link| std::cmp::Reverse(link.id)), "newest first");
    f.done().await;
}

async fn no_lead_is_recorded_for_a_question_that_was_cancelled(f: Fixture) {
    let session = f.running().await;
    let new = NewRequest { access: Some(Gate::Lead), ..request(&session, "k", false) };
    let (_, secret) = view_link::ask(&f.ledger, &f.worker, session.id, new).await.unwrap();
    let entered = enter(&f, &secret.unwrap()).await;
    let zoe = || NewLead { name: "Zoe".into(), email: "zoe@example.org".into() };
    let capture = || view_link::capture_lead(&f.ledger, entered.link.id, entry(&entered), zoe());
    assert!(capture().await.is_ok());
    session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
    let refused = capture().await;
    assert!(matches!(refused, Err(Error::FormClosed(Closed::Cancelled))), "{refused:?}");
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM entities").await, 1);
    f.done().await;
}
