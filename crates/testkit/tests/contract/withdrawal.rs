//! Withdrawn access: what ends, what is kept, and who cannot be removed.

use crate::{
    entity::{acme, company},
    gate::{at_once, claim, complete, decide, gate_of, gated, open, says, staged},
    human::task,
};
use chrono::TimeDelta;
use domain::{
    gate::{GateState, Question, Verdict},
    id::UserId,
    member::MemberStatus,
    role::{Role, TokenScope},
    session::{EndReason, Status, Type, YieldTo},
};
use ledger::{
    ActionRecord, Error, Mode, action, auth,
    event::{self as events, Append},
    gate::{self, MayDecide},
    group::{self, GroupChange, NewGroup},
    human,
    member::{self, Withdrawal},
    session::{self, NewSession, YieldRequest},
    token,
};
use serde_json::json;
use testkit::{Fixture, human as did, on_both_engines};

on_both_engines!(
    everything_of_a_removed_member_stops_and_what_they_did_keeps_their_name,
    an_activated_member_has_the_same_access_as_before,
    another_server_notices_within_a_second,
    open_streams_of_another_process_are_told_within_a_second,
    open_streams_are_told_of_a_sign_out_and_of_another_workspace,
    of_two_admins_who_remove_each_other_one_stays,
    the_last_admin_cannot_go,
    a_removed_person_goes_on_in_other_workspaces,
    a_question_to_a_person_who_has_left_can_be_answered_by_anyone,
    a_gate_whose_reviewer_has_left_is_given_to_the_admins_and_the_log_says_so,
    a_gate_of_a_group_that_was_emptied_is_given_to_the_admins,
    a_quorum_counts_who_approved_before_they_left,
    an_admin_does_not_decide_their_own_request_where_the_task_forbids_it,
    a_gate_with_an_able_reviewer_is_not_given_to_admins,
);

const PASSWORD: &str = "correct horse battery";
const MIA: &str = "mia@acme.test";

async fn everything_of_a_removed_member_stops_and_what_they_did_keeps_their_name(f: Fixture) {
    let mia = f.member.user_id().unwrap();
    let cookie = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap().secret;
    let (_, own) = token::create_personal(&f.ledger, &f.member, "laptop", Role::Member, None).await.unwrap();
    let people = NewGroup { name: "Compliance".into(), slug: None, members: vec![mia] };
    let people = group::create(&f.ledger, &f.admin, people).await.unwrap().id;
    let started = human::start(&f.ledger, &f.member, task(&f, "Review").await).await.unwrap().session;
    let did = Append { session_id: started.id, attempt: None, events: vec![did("human.marker", "looked at it")] };
    events::append(&f.ledger, &f.member, did).await.unwrap();
    member::reset_link(&f.ledger, &f.admin, mia).await.unwrap();

    member::withdraw(&f.ledger, &f.admin, mia, Withdrawal::Remove).await.unwrap();

    assert!(auth::by_cookie(&f.ledger, &cookie).await.unwrap().is_none(), "signed out");
    assert!(auth::by_token(&f.ledger, &own).await.unwrap().is_none(), "own tokens stop");
    let again = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.err();
    assert!(matches!(again, Some(Error::Forbidden(_))), "{again:?}");
    let ended = session::get(&f.ledger, &f.admin, started.id).await.unwrap();
    assert_eq!((ended.status(), ended.end_reason()), (Status::Abandoned, Some(EndReason::Cancelled)));
    assert!(group::get(&f.ledger, &f.admin, people).await.unwrap().members.is_empty());
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM access_links").await, 0, "links for them are gone");

    let log = f.log(started.id).await;
    let actor = format!("user:{mia}");
    assert!(log.iter().any(|event| event.kind == "human.marker" && event.actor == actor), "the log is as it was");
    let named = member::list_all(&f.ledger, &f.operator).await.unwrap();
    let named = named.into_iter().find(|member| member.user_id == mia).unwrap();
    assert_eq!((named.display_name(), named.status), (MIA, MemberStatus::Removed));
    let listed = member::list(&f.ledger, &f.operator).await.unwrap();
    assert!(listed.iter().all(|member| member.user_id != mia), "nobody chooses them any more");
    let new = human::start(&f.ledger, &f.operator, task_of(&f).await).await;
    assert!(new.is_ok(), "others go on");
    for again in [Withdrawal::Remove, Withdrawal::Deactivate] {
        let again = member::withdraw(&f.ledger, &f.admin, mia, again).await;
        assert!(matches!(again, Err(Error::NotFound("member"))), "{again:?}");
    }
    f.assert_verified().await;
    f.done().await;
}

/// A task that is assigned to no one.
async fn task_of(f: &Fixture) -> domain::id::ActionId {
    let new = ledger::action::NewAction { name: "Mail".into(), ..Default::default() };
    ledger::action::create(&f.ledger, &f.operator, new).await.unwrap().id
}

async fn an_activated_member_has_the_same_access_as_before(f: Fixture) {
    let mia = f.member.user_id().unwrap();
    let cookie = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap().secret;
    let (_, own) = token::create_personal(&f.ledger, &f.member, "laptop", Role::Member, None).await.unwrap();
    let people = NewGroup { name: "Compliance".into(), slug: None, members: vec![mia] };
    let people = group::create(&f.ledger, &f.admin, people).await.unwrap().id;
    let (_, invitation) = {
        // Invitations of an admin end with the admin's access.
        member::set_role(&f.ledger, &f.admin, mia, Role::Admin).await.unwrap();
        let scope = auth::by_cookie(&f.ledger, &cookie).await.unwrap().unwrap().scope;
        member::invite(&f.ledger, &scope, "eve@acme.test", Role::Admin).await.unwrap()
    };

    member::withdraw(&f.ledger, &f.admin, mia, Withdrawal::Deactivate).await.unwrap();
    member::withdraw(&f.ledger, &f.admin, mia, Withdrawal::Deactivate).await.unwrap();
    assert!(auth::by_cookie(&f.ledger, &cookie).await.unwrap().is_none());
    assert!(auth::by_token(&f.ledger, &own).await.unwrap().is_none());
    assert!(auth::find_link(&f.ledger, &invitation).await.unwrap().is_none());
    assert!(auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.is_err());
    let invited = member::invite(&f.ledger, &f.admin, MIA, Role::Member).await.err();
    assert!(matches!(invited, Some(Error::Invalid(_))), "{invited:?}");
    let link = member::reset_link(&f.ledger, &f.admin, mia).await.err();
    assert!(matches!(link, Some(Error::Invalid(_))), "{link:?}");

    let back = member::activate_by_operator(&f.ledger, "acme", MIA).await.unwrap();
    assert_eq!((back.status, back.role), (MemberStatus::Active, Role::Admin));
    member::withdraw(&f.ledger, &f.admin, mia, Withdrawal::Deactivate).await.unwrap();
    let back = member::activate(&f.ledger, &f.admin, mia).await.unwrap();
    assert_eq!((back.status, back.role), (MemberStatus::Active, Role::Admin));
    assert!(auth::by_cookie(&f.ledger, &cookie).await.unwrap().is_none(), "they sign in anew");
    assert!(auth::by_token(&f.ledger, &own).await.unwrap().is_some());
    assert_eq!(group::get(&f.ledger, &f.admin, people).await.unwrap().members.len(), 1);
    auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap();
    f.done().await;
}

async fn another_server_notices_within_a_second(f: Fixture) {
    let cookie = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap().secret;
    let worker = Some(TokenScope::Worker);
    let (_, own) = token::create_personal(&f.ledger, &f.operator, "ci", Role::Member, worker).await.unwrap();
    assert!(auth::by_cookie(&f.ledger, &cookie).await.unwrap().is_some());
    assert!(auth::by_token(&f.ledger, &own).await.unwrap().is_some());
    let tool = f.second_ledger(Mode::Tool).await;
    member::withdraw_by_operator(&tool, "acme", " MIA@acme.test", Withdrawal::Deactivate).await.unwrap();
    member::withdraw_by_operator(&tool, "acme", "otto@acme.test", Withdrawal::Remove).await.unwrap();
    let stranger = member::withdraw_by_operator(&tool, "acme", "sam@other.test", Withdrawal::Remove).await.err();
    assert!(matches!(stranger, Some(Error::Invalid(_))), "{stranger:?}");
    f.clock.advance(TimeDelta::seconds(1));
    assert!(auth::by_cookie(&f.ledger, &cookie).await.unwrap().is_none());
    assert!(auth::by_token(&f.ledger, &own).await.unwrap().is_none());
    tool.close().await;
    f.done().await;
}

async fn open_streams_of_another_process_are_told_within_a_second(f: Fixture) {
    let mut changes = f.ledger.access_changes();
    let cookie = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap().secret;
    assert!(auth::by_cookie(&f.ledger, &cookie).await.unwrap().is_some());
    let tool = f.second_ledger(Mode::Tool).await;
    member::withdraw_by_operator(&tool, "acme", MIA, Withdrawal::Deactivate).await.unwrap();
    tool.close().await;
    // The clock is stopped, so only a notification, or the look at the file, ends what is remembered of the caller.
    while auth::by_cookie(&f.ledger, &cookie).await.unwrap().is_some() {
        changes.changed().await.unwrap();
    }
    f.done().await;
}

async fn open_streams_are_told_of_a_sign_out_and_of_another_workspace(f: Fixture) {
    member::add_by_operator(&f.ledger, "third", MIA, Role::Member, PASSWORD).await.unwrap();
    let mut changes = f.ledger.access_changes();
    let signed_in = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap();
    let (cookie, scope) = (&signed_in.secret, &signed_in.identity.scope);
    let shown = async || auth::by_cookie(&f.ledger, cookie).await.unwrap().map(|found| found.tenant.slug);
    let first = shown().await.unwrap();
    changes.borrow_and_update();
    let other = if first == "acme" { "third" } else { "acme" };
    auth::switch(&f.ledger, cookie, scope, other).await.unwrap();
    assert!(changes.has_changed().unwrap(), "streams look again when the workspace changes");
    assert_eq!(shown().await.as_deref(), Some(other));
    changes.borrow_and_update();
    auth::sign_out(&f.ledger, cookie).await.unwrap();
    assert!(changes.has_changed().unwrap(), "and at the sign-out");
    assert_eq!(shown().await, None);
    changes.borrow_and_update();
    auth::sign_out(&f.ledger, cookie).await.unwrap();
    // On PostgreSQL a connection for notifications that was just made counts as a change.
    if f.engine.file().is_some() {
        assert!(!changes.has_changed().unwrap(), "an unknown cookie tells no one");
    }
    f.done().await;
}

async fn of_two_admins_who_remove_each_other_one_stays(f: Fixture) {
    let (ada, otto) = (f.admin.user_id().unwrap(), f.operator.user_id().unwrap());
    for _ in 0..5 {
        member::add_by_operator(&f.ledger, "acme", "ada@acme.test", Role::Admin, PASSWORD).await.unwrap();
        member::add_by_operator(&f.ledger, "acme", "otto@acme.test", Role::Admin, PASSWORD).await.unwrap();
        let other = domain::Scope { role: Role::Admin, ..f.operator };
        let (one, two) = tokio::join!(
            member::withdraw(&f.ledger, &f.admin, otto, Withdrawal::Remove),
            member::withdraw(&f.ledger, &other, ada, Withdrawal::Remove),
        );
        let lost = [one, two].into_iter().filter_map(Result::err).collect::<Vec<_>>();
        assert!(matches!(lost[..], [Error::LastAdmin]), "{lost:?}");
    }
    f.done().await;
}

async fn the_last_admin_cannot_go(f: Fixture) {
    let ada = f.admin.user_id().unwrap();
    for how in [Withdrawal::Remove, Withdrawal::Deactivate] {
        let refused = member::withdraw(&f.ledger, &f.admin, ada, how).await.err();
        assert!(matches!(refused, Some(Error::LastAdmin)), "{refused:?}");
        let refused = member::withdraw_by_operator(&f.ledger, "acme", "ada@acme.test", how).await.err();
        assert!(matches!(refused, Some(Error::LastAdmin)), "{refused:?}");
    }
    for role in [Role::Operator, Role::Reviewer, Role::Member] {
        let refused = member::add_by_operator(&f.ledger, "acme", "ada@acme.test", role, PASSWORD).await.err();
        assert!(matches!(refused, Some(Error::LastAdmin)), "{refused:?}");
        let refused = member::set_role(&f.ledger, &f.admin, ada, role).await.err();
        assert!(matches!(refused, Some(Error::LastAdmin)), "{refused:?}");
    }
    member::set_role(&f.ledger, &f.admin, ada, Role::Admin).await.unwrap();
    // A deactivated admin does not count.
    let mia = f.member.user_id().unwrap();
    member::set_role(&f.ledger, &f.admin, mia, Role::Admin).await.unwrap();
    member::withdraw(&f.ledger, &f.admin, mia, Withdrawal::Deactivate).await.unwrap();
    assert!(matches!(member::set_role(&f.ledger, &f.admin, ada, Role::Member).await, Err(Error::LastAdmin)));
    member::activate(&f.ledger, &f.admin, mia).await.unwrap();
    let changed = member::set_role(&f.ledger, &f.admin, ada, Role::Member).await.unwrap();
    assert_eq!(changed.role, Role::Member);
    f.done().await;
}

async fn a_removed_person_goes_on_in_other_workspaces(f: Fixture) {
    member::add_by_operator(&f.ledger, "third", "boss@third.test", Role::Admin, PASSWORD).await.unwrap();
    member::add_by_operator(&f.ledger, "third", MIA, Role::Reviewer, PASSWORD).await.unwrap();
    let here = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap();
    assert_eq!(here.identity.tenant.slug, "acme");
    let other_sign_in = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap();
    auth::switch(&f.ledger, &other_sign_in.secret, &other_sign_in.identity.scope, "third").await.unwrap();
    member::withdraw(&f.ledger, &f.admin, f.member.user_id().unwrap(), Withdrawal::Remove).await.unwrap();
    assert!(auth::by_cookie(&f.ledger, &here.secret).await.unwrap().is_none());
    let still = auth::by_cookie(&f.ledger, &other_sign_in.secret).await.unwrap().unwrap();
    assert_eq!(still.tenant.slug, "third");
    let back = auth::switch(&f.ledger, &other_sign_in.secret, &still.scope, "acme").await.err();
    assert!(matches!(back, Some(Error::NotFound("workspace"))), "{back:?}");
    let again = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap();
    assert_eq!(again.identity.tenant.slug, "third", "they sign in to what is left");
    f.done().await;
}

async fn a_question_to_a_person_who_has_left_can_be_answered_by_anyone(f: Fixture) {
    let new = NewSession { agent_slug: Some("scout".into()), ..NewSession::of_type(Type::Agent) };
    let made = session::create(&f.ledger, &f.member, new).await.unwrap();
    assert_eq!(made.user_id, f.member.user_id());
    member::withdraw(&f.ledger, &f.admin, f.member.user_id().unwrap(), Withdrawal::Remove).await.unwrap();
    let session = f.claim(1, 60).await.pop().unwrap();
    let question = Some(Question::new("When?".into(), None));
    let yield_request = YieldRequest { question, ..YieldRequest::at(session.attempt, YieldTo::WaitingHuman) };
    session::yield_to(&f.ledger, &f.worker, session.id, yield_request).await.unwrap();
    let reviewers = gate_of(&f, made.id).await.reviewers;
    assert!(matches!(reviewers[..], [ledger::ReviewerRecord::Anyone]), "{reviewers:?}");
    f.done().await;
}

fn user(scope: &domain::Scope) -> UserId {
    scope.user_id().unwrap()
}

/// An action about a company whose outputs need a decision of these reviewers, with further settings.
async fn reviewed_by(f: &Fixture, reviewers: &[String], more: serde_json::Value) -> ActionRecord {
    at_once(f).await;
    let acme = acme(f, &company(f).await, "Acme").await;
    let mut approval = more;
    approval["reviewers"] = reviewers.into();
    gated(f, Some(acme.id), approval, json!({})).await
}

async fn a_gate_whose_reviewer_has_left_is_given_to_the_admins_and_the_log_says_so(f: Fixture) {
    let max = user(&f.other_member);
    let of = reviewed_by(&f, &[format!("user:{max}")], json!({})).await;
    for how in [Withdrawal::Deactivate, Withdrawal::Remove] {
        member::activate(&f.ledger, &f.admin, max).await.unwrap();
        let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
        assert_eq!(gate::ask_admins(&f.ledger).await.unwrap(), 0, "its reviewer is there");
        assert!(open(&f, &f.admin, false).await.is_empty());
        member::withdraw(&f.ledger, &f.admin, max, how).await.unwrap();
        assert_eq!(gate::ask_admins(&f.ledger).await.unwrap(), 1);
        assert_eq!(gate::ask_admins(&f.ledger).await.unwrap(), 0, "once");

        let event = f.log(waiting.id).await.pop().unwrap();
        assert_eq!((event.kind.as_str(), event.actor.as_str()), ("session.waiting_approval", "system"));
        assert!(event.content.contains("too few of its reviewers are left: admins may decide"), "{}", event.content);
        let metadata: serde_json::Value = serde_json::from_str(&event.metadata).unwrap();
        assert_eq!(metadata, json!({ "gateId": item.gate.id, "adminsMayDecide": true, "reviewersLeft": 0 }));
        assert_eq!(gate::count(&f.ledger, &f.admin, 10).await.unwrap(), 1);
        let shown = open(&f, &f.admin, false).await.pop().unwrap();
        assert!(shown.reviewers.contains(&ledger::ReviewerRecord::Admins));
        assert_eq!(shown.may_decide, MayDecide::Yes);
        let to_others = gate::get(&f.ledger, &f.operator, item.gate.id).await.unwrap().item;
        assert_eq!(to_others.may_decide, MayDecide::NotAReviewer);
        for other in [f.operator, f.member] {
            assert!(open(&f, &other, false).await.is_empty());
            let refused = decide(&f, &other, item.gate.id, says(Verdict::Approve)).await;
            assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
        }
        let decided = decide(&f, &f.admin, item.gate.id, says(Verdict::Approve)).await.unwrap();
        assert_eq!(decided.gate.state.name(), GateState::Settled);
    }
    f.assert_verified().await;
    f.done().await;
}

async fn a_gate_of_a_group_that_was_emptied_is_given_to_the_admins(f: Fixture) {
    let members = vec![user(&f.member), user(&f.other_member)];
    let people = NewGroup { name: "Legal".into(), slug: None, members: members.clone() };
    let people = group::create(&f.ledger, &f.admin, people).await.unwrap();
    let of = reviewed_by(&f, &["group:legal".into()], json!({})).await;
    staged(&f, &of, &json!({ "stage": "Won" })).await;
    let without = |gone: UserId| GroupChange { name: None, add_members: vec![], remove_members: vec![gone] };
    group::update(&f.ledger, &f.admin, people.id, without(members[0])).await.unwrap();
    assert_eq!(gate::ask_admins(&f.ledger).await.unwrap(), 0);
    group::update(&f.ledger, &f.admin, people.id, without(members[1])).await.unwrap();
    assert_eq!(gate::ask_admins(&f.ledger).await.unwrap(), 1);
    assert_eq!(open(&f, &f.admin, false).await.len(), 1);
    f.done().await;
}

async fn a_quorum_counts_who_approved_before_they_left(f: Fixture) {
    let both = [&f.operator, &f.other_member].map(|scope| format!("user:{}", user(scope)));
    let of = reviewed_by(&f, &both, json!({ "quorum": 2 })).await;
    let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    member::withdraw(&f.ledger, &f.admin, user(&f.operator), Withdrawal::Remove).await.unwrap();
    assert_eq!(gate::ask_admins(&f.ledger).await.unwrap(), 0, "one approved, one is left");
    member::withdraw(&f.ledger, &f.admin, user(&f.other_member), Withdrawal::Remove).await.unwrap();
    assert_eq!(gate::ask_admins(&f.ledger).await.unwrap(), 1);
    let decided = decide(&f, &f.admin, item.gate.id, says(Verdict::Approve)).await.unwrap();
    assert_eq!((decided.gate.state.name(), decided.approvals), (GateState::Settled, 2));
    f.done().await;
}

async fn an_admin_does_not_decide_their_own_request_where_the_task_forbids_it(f: Fixture) {
    let max = user(&f.other_member);
    let of = reviewed_by(&f, &[format!("user:{max}")], json!({ "selfApproval": false })).await;
    action::trigger(&f.ledger, &f.admin, of.id, action::Trigger::default()).await.unwrap();
    let claimed = claim(&f).await.session;
    let waiting = complete(&f, &claimed, &json!({ "stage": "Won" })).await;
    let id = gate_of(&f, waiting.id).await.gate.id;
    member::withdraw(&f.ledger, &f.admin, max, Withdrawal::Deactivate).await.unwrap();
    assert_eq!(gate::ask_admins(&f.ledger).await.unwrap(), 1);
    let own = decide(&f, &f.admin, id, says(Verdict::Approve)).await;
    assert!(matches!(own, Err(Error::Forbidden(why)) if why.contains("someone else")), "{own:?}");
    let other = domain::Scope { role: Role::Admin, ..f.operator };
    let decided = decide(&f, &other, id, says(Verdict::Approve)).await.unwrap();
    assert_eq!(decided.gate.state.name(), GateState::Settled);
    f.done().await;
}

async fn a_gate_with_an_able_reviewer_is_not_given_to_admins(f: Fixture) {
    // The requester is the only reviewer, and may decide their own request.
    let own = reviewed_by(&f, &[format!("user:{}", user(&f.member))], json!({})).await;
    staged(&f, &own, &json!({ "stage": "Won" })).await;
    let anyone = gated(&f, own.target_entity_id, json!({ "reviewers": ["anyone"] }), json!({})).await;
    staged(&f, &anyone, &json!({ "stage": "Lead" })).await;
    assert_eq!(gate::ask_admins(&f.ledger).await.unwrap(), 0);
    // A decided gate is not passed on to admins.
    let item = open(&f, &f.member, false).await.remove(0);
    decide(&f, &f.member, item.gate.id, says(Verdict::Deny)).await.unwrap();
    member::withdraw(&f.ledger, &f.admin, user(&f.member), Withdrawal::Remove).await.unwrap();
    assert_eq!(gate::ask_admins(&f.ledger).await.unwrap(), 0);
    f.done().await;
}
