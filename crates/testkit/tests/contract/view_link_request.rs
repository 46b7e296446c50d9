//! People without an account answer agents by the links of their requests, whether or not the session waits.

use crate::{
    feedback_request::{answer, answers, request, says},
    gate::{claim, decide, gate_of},
    response::submission,
};
use domain::{
    Scope,
    event::Known,
    feedback_request::RespondentKind,
    gate::{GateState, Verdict},
    session::Status,
    view::Gate,
};
use ledger::{
    Error, RequestRecord,
    feedback_request::NewRequest,
    gate::{self, NewDecision},
    response::{self, Respondent, Submission},
    session,
    view_link::{self, Entry, NewLead},
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    the_answer_of_a_stranger_reaches_the_agent_once_whether_or_not_it_waits,
    an_answer_while_a_decision_can_be_undone_is_refused_and_taken_after_the_undo,
);

/// Opens a link in a new browser, and gives a name and an e-mail address if the form asks for them.
pub async fn stranger(f: &Fixture, secret: &str) -> Respondent {
    let entered = view_link::enter(&f.ledger, secret, None).await.unwrap();
    let link = entered.link.id;
    let (browser, clearance) = (Some(entered.browser.as_str()), Some(entered.clearance.as_str()));
    let unknown = Entry { browser, clearance, ..Entry::default() };
    let lead = match entered.gate {
        Gate::Lead => {
            let new = NewLead { name: "Zoe".into(), email: "zoe@example.org".into() };
            Some(view_link::capture_lead(&f.ledger, link, unknown, new).await.unwrap())
        }
        Gate::None | Gate::Member => None,
    };
    view_link::respondent(&f.ledger, link, Entry { lead: lead.as_deref(), ..unknown }).await.unwrap().respondent
}

async fn the_answer_of_a_stranger_reaches_the_agent_once_whether_or_not_it_waits(f: Fixture) {
    for (access, kind) in [(Gate::None, RespondentKind::Browser), (Gate::Lead, RespondentKind::Lead)] {
        for blocking in [true, false] {
            let case = format!("gate {access}, blocking {blocking}");
            let session = f.running().await;
            let new = NewRequest { access: Some(access), ..request(&session, "k", blocking) };
            let (asked, secret) = view_link::ask(&f.ledger, &f.worker, session.id, new).await.unwrap();
            let waits = asked.session.status() == Status::WaitingHuman;
            assert_eq!(waits, blocking, "{case}");
            let asked = asked.request;
            let who = stranger(&f, &secret.unwrap()).await;
            assert_eq!(who.kind(), kind, "{case}");

            let given = || Submission {
                request_id: Some(asked.id.0),
                ..submission("one", json!({ "region": "EU", "seats": 3 }))
            };
            let sent = response::submit(&f.ledger, &who, asked.view_id, given()).await.unwrap();
            assert!(!sent.response.late, "{case}");
            let again = response::submit(&f.ledger, &who, asked.view_id, given()).await.unwrap();
            assert_eq!((again.is_repeat, &again.response), (true, &sent.response), "{case}");
            let [deposited] = answers(&f, session.id, true).await.try_into().unwrap();
            assert_eq!((deposited.respondent.kind, deposited.consumed_at), (kind, None), "{case}");
            assert_eq!(deposited.response_session_id, Some(sent.response.session_id), "{case}");

            if !blocking {
                session::release(&f.ledger, &f.worker, session.id, 1).await.unwrap();
            }
            let claimed = claim(&f).await;
            assert_eq!((claimed.session.id, claimed.session.attempt), (session.id, 2), "{case}");
            let aside = claimed.answers.answers.len();
            assert_eq!((claimed.resume.is_some(), aside), (blocking, usize::from(!blocking)), "{case}");
            let block = match claimed.resume {
                Some(resume) => resume.question.unwrap().block,
                None => claimed.answers.block,
            };
            assert!(block.contains("  | EU\n"), "{case}: {block}");
            assert_eq!(block.contains("Zoe"), access == Gate::Lead, "{case}: {block}");
            let [taken] = answers(&f, session.id, false).await.try_into().unwrap();
            assert_eq!((taken.id, taken.consumed_attempt), (deposited.id, Some(2)), "{case}");

            // No later claim takes it again.
            session::release(&f.ledger, &f.worker, session.id, 2).await.unwrap();
            assert!(claim(&f).await.answers.answers.is_empty(), "{case}");
            let log = f.log(session.id).await;
            let count = |kind: &str| log.iter().filter(|event| event.kind == kind).count();
            if !blocking {
                let recorded = (count(Known::UserFormSubmit.as_str()), count(Known::SessionContextInjected.as_str()));
                assert_eq!(recorded, (1, 1), "{case}");
            }
            session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
        }
    }
    f.assert_verified().await;
    f.done().await;
}

/// Answers as the program or, without one, as the person without an account. Returns whether the answer was late.
async fn send(f: &Fixture, asked: &RequestRecord, who: &Respondent, program: Option<&Scope>) -> ledger::Result<bool> {
    let given = json!({ "region": "EU", "seats": 3 });
    if let Some(program) = program {
        return Ok(answer(f, program, asked.id, says(given)).await?.answer.late);
    }
    let given = Submission { request_id: Some(asked.id.0), ..submission("one", given) };
    Ok(response::submit(&f.ledger, who, asked.view_id, given).await?.response.late)
}

async fn an_answer_while_a_decision_can_be_undone_is_refused_and_taken_after_the_undo(f: Fixture) {
    let program = Scope { token_scope: None, ..f.worker };
    for kind in [RespondentKind::Browser, RespondentKind::Token] {
        let session = f.running().await;
        let new = NewRequest { access: Some(Gate::None), ..request(&session, "k", true) };
        let (asked, secret) = view_link::ask(&f.ledger, &f.worker, session.id, new).await.unwrap();
        let (asked, who) = (asked.request, stranger(&f, &secret.unwrap()).await);
        let program = (kind == RespondentKind::Token).then_some(&program);
        let gate_id = gate_of(&f, session.id).await.gate.id;
        let value = Some(json!({ "region": "US" }));
        let decision = NewDecision { verdict: Verdict::Respond, value, note: None, digest: None };
        decide(&f, &f.operator, gate_id, decision).await.unwrap();
        let refused = send(&f, &asked, &who, program).await;
        assert!(matches!(refused, Err(Error::GateClosed { state: GateState::Held })), "{kind}: {refused:?}");
        assert!(answers(&f, session.id, false).await.is_empty(), "{kind}");
        gate::undo(&f.ledger, &f.operator, gate_id).await.unwrap();
        assert!(!send(&f, &asked, &who, program).await.unwrap(), "{kind}");
        let [recorded] = answers(&f, session.id, false).await.try_into().unwrap();
        assert_eq!((recorded.respondent.kind, recorded.late), (kind, false));
        let ended = claim(&f).await.resume.unwrap().question.unwrap();
        assert!(ended.block.contains("  | EU\n"), "{kind}: {}", ended.block);
        session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
    }
    f.assert_verified().await;
    f.done().await;
}
