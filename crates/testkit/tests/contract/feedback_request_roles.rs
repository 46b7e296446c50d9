//! Who may answer a question: every way of answering it says the same.

use crate::{
    feedback_request::{answer, ask, request, says},
    response::{answers, submission},
    view_link::someone,
};
use domain::{Scope, role::Role, view::Gate};
use ledger::{
    Error, RequestRecord,
    feedback_request::{self, NewRequest},
    group::{self, NewGroup},
    response::{self, DraftSave, Respondent, Submission},
    thread::{self, NewThread},
    view_link,
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    every_way_of_answering_a_question_admits_the_same_people,
    a_question_of_an_incognito_session_is_answered_by_its_person_and_by_its_link,
    an_agent_does_not_answer_its_own_question,
);

/// Whether this person may answer. Nothing is answered: what is sent is wrong, which is looked at last.
async fn may(f: &Fixture, who: &Scope, asked: &RequestRecord) -> bool {
    let (l, of, view) = (&f.ledger, Some(asked.id.0), asked.view_id);
    let respondent = Respondent::member(who).unwrap();
    let wrong = json!({ "region": "Mars" });
    let draft = DraftSave { request_id: of, answers: answers(json!({ "region": "EU" })), ..DraftSave::default() };
    let sent = Submission { request_id: of, ..submission("wrong", wrong.clone()) };
    let answered = [
        ("page", feedback_request::answerable(l, who, asked.id).await.err()),
        ("form", response::read(l, &respondent, view, of).await.err()),
        ("draft", response::save_draft(l, &respondent, view, draft).await.err()),
        ("submission", response::submit(l, &respondent, view, sent).await.err()),
        ("answer", answer(f, who, asked.id, says(wrong)).await.err()),
    ];
    let is_refused = |error: &Option<Error>| matches!(error, Some(Error::Forbidden(_) | Error::NotFound(_)));
    let refused = answered.iter().filter(|(_, error)| is_refused(error)).count();
    if refused == 0 {
        for (way, error) in &answered {
            let is_wrong = ["submission", "answer"].contains(way);
            assert_eq!(matches!(error, Some(Error::Invalid(_))), is_wrong, "{way}: {error:?}");
            assert_eq!(error.is_some(), is_wrong, "{way}: {error:?}");
        }
    }
    assert!([0, answered.len()].contains(&refused), "{}: {answered:?}", who.caller);
    refused == 0
}

async fn every_way_of_answering_a_question_admits_the_same_people(f: Fixture) {
    let reviewer = Scope { role: Role::Reviewer, ..f.other_member };
    let legal =
        NewGroup { name: "Legal".into(), slug: Some("legal".into()), members: vec![f.member.user_id().unwrap()] };
    group::create(&f.ledger, &f.admin, legal).await.unwrap();
    let session = f.running().await;
    let goes_on = ask(&f, &session, request(&session, "goes on", false)).await.request;
    let of_legal = NewRequest { audience: Some("legal".into()), ..request(&session, "legal", false) };
    let of_legal = ask(&f, &session, of_legal).await.request;
    let public = NewRequest { access: Some(Gate::None), ..request(&session, "public", false) };
    let public = ask(&f, &session, public).await.request;
    let leads = NewRequest { access: Some(Gate::Lead), ..request(&session, "leads", false) };
    let leads = ask(&f, &session, leads).await.request;
    let waits = ask(&f, &session, request(&session, "waits", true)).await.request;
    // The operator has started the session.
    for (what, asked, [operator, admin, reviews, member, other]) in [
        ("goes on", &goes_on, [true, true, true, false, false]),
        ("waits", &waits, [true, true, false, false, false]),
        ("legal", &of_legal, [true, true, false, true, false]),
        ("public", &public, [true, true, true, true, true]),
        ("leads", &leads, [true, true, true, true, true]),
    ] {
        for (who, admitted) in [
            (&f.operator, operator),
            (&f.admin, admin),
            (&reviewer, reviews),
            (&f.member, member),
            (&f.other_member, other),
            (&f.stranger, false),
        ] {
            assert_eq!(may(&f, who, asked).await, admitted, "{what}: {} as {:?}", who.caller, who.role);
        }
    }
    f.done().await;
}

async fn a_question_of_an_incognito_session_is_answered_by_its_person_and_by_its_link(f: Fixture) {
    let new = NewThread { incognito: true, ..crate::thread::new(Some("A secret")) };
    let id = thread::start(&f.ledger, &f.member, new).await.unwrap().session.id;
    let session = f.claim(1, 3_600).await.remove(0);
    assert_eq!(session.id, id);
    let reviewer = Scope { role: Role::Reviewer, ..f.other_member };
    for (key, access) in [("members", Gate::Member), ("public", Gate::None)] {
        let new = NewRequest { access: Some(access), ..request(&session, key, false) };
        let (asked, secret) = view_link::ask(&f.ledger, &f.worker, id, new).await.unwrap();
        assert!(may(&f, &f.member, &asked.request).await, "{key}");
        for other in [&f.admin, &f.operator, &reviewer, &f.other_member, &f.stranger] {
            assert!(!may(&f, other, &asked.request).await, "{key}: {}", other.caller);
        }
        if let Some(secret) = secret {
            let zoe = someone(&f, &secret).await;
            let asked = asked.request;
            let given = Submission { request_id: Some(asked.id.0), ..submission("s", json!({ "region": "EU" })) };
            response::submit(&f.ledger, &zoe, asked.view_id, given).await.unwrap();
        }
    }
    f.done().await;
}

async fn an_agent_does_not_answer_its_own_question(f: Fixture) {
    let session = f.running().await;
    let public = NewRequest { access: Some(Gate::None), ..request(&session, "public", false) };
    let asked = ask(&f, &session, public).await.request;
    let refused = answer(&f, &f.worker, asked.id, says(json!({ "region": "EU" }))).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    f.done().await;
}
