//! Single-use links, and what people can change about their own account.

use crate::at_once::one_is_over_the_limit;
use chrono::TimeDelta;
use domain::{
    limit::{INVITATION_DAYS, INVITATIONS_MAX, RESET_LINK_HOURS},
    member::MemberStatus,
    role::Role,
};
use ledger::{
    Error,
    auth::{self, LinkUse, SignedIn},
    member::{self, Withdrawal},
    token,
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    an_invitation_is_accepted_once,
    an_invitation_ends_with_its_time_its_successor_and_its_withdrawal,
    an_invitation_leaves_an_accounts_password_alone,
    an_invitation_does_not_replace_a_role_that_was_given_later,
    a_reset_ends_every_sign_in_and_works_once,
    an_admin_makes_no_reset_link_for_people_of_other_workspaces,
    a_changed_password_ends_the_other_sign_ins,
    people_see_and_end_their_own_sign_ins,
    a_password_set_by_the_operator_ends_every_sign_in,
    links_stop_with_the_rights_of_who_made_them,
    a_person_who_joins_another_workspace_meanwhile_keeps_their_password,
    open_invitations_are_limited_also_when_two_are_made_at_once,
);

const PASSWORD: &str = "correct horse battery";
const NEW: &str = "a better password";
const EVE: &str = "eve@acme.test";
const MIA: &str = "mia@acme.test";

async fn accept(f: &Fixture, link: &str, password: &str) -> ledger::Result<SignedIn> {
    auth::use_link(&f.ledger, link, "Eve Online", password, "Firefox on Linux").await
}

fn is_gone<T>(what: ledger::Result<T>) -> bool {
    matches!(what, Err(Error::NotFound("link")))
}

async fn an_invitation_is_accepted_once(f: Fixture) {
    let (_, link) = member::invite(&f.ledger, &f.admin, " EVE@acme.test", Role::Reviewer).await.unwrap();
    let open = auth::find_link(&f.ledger, &link).await.unwrap().unwrap();
    assert_eq!((open.to, open.email.as_str(), open.tenant.slug.as_str()), (LinkUse::Join(Role::Reviewer), EVE, "acme"));
    assert!(matches!(accept(&f, &link, "short").await, Err(Error::Invalid(_))), "a refusal does not use it up");
    let nameless = auth::use_link(&f.ledger, &link, " ", NEW, "").await;
    assert!(matches!(nameless, Err(Error::Invalid(_))));
    let tries = (0..4).map(|_| accept(&f, &link, NEW));
    let tries = futures_util::future::join_all(tries).await;
    let (joined, late): (Vec<_>, Vec<_>) = tries.into_iter().partition(Result::is_ok);
    assert_eq!((joined.len(), late.len()), (1, 3));
    let joined = joined.into_iter().next().unwrap().unwrap();
    assert!(late.into_iter().all(is_gone));
    assert_eq!((joined.identity.scope.role, joined.identity.tenant.slug.as_str()), (Role::Reviewer, "acme"));
    assert_eq!(joined.identity.user.unwrap().name, "Eve Online");
    assert!(auth::by_cookie(&f.ledger, &joined.secret).await.unwrap().is_some());
    assert!(auth::find_link(&f.ledger, &link).await.unwrap().is_none());
    auth::sign_in(&f.ledger, EVE, NEW, "").await.unwrap();
    let again = member::invite(&f.ledger, &f.admin, EVE, Role::Admin).await.err();
    assert!(matches!(again, Some(Error::Invalid(_))), "{again:?}");
    f.done().await;
}

async fn an_invitation_ends_with_its_time_its_successor_and_its_withdrawal(f: Fixture) {
    let invite = async || member::invite(&f.ledger, &f.admin, EVE, Role::Member).await.unwrap();
    let (_, first) = invite().await;
    let (second, link) = invite().await;
    assert!(auth::find_link(&f.ledger, &first).await.unwrap().is_none(), "replaced by the second");
    assert!(auth::find_link(&f.ledger, &link).await.unwrap().is_some());
    assert_eq!(member::list_invitations(&f.ledger, &f.admin).await.unwrap(), std::slice::from_ref(&second));
    member::withdraw_invitation(&f.ledger, &f.admin, second.id).await.unwrap();
    assert!(is_gone(accept(&f, &link, NEW).await));
    let (_, link) = invite().await;
    f.clock.advance(TimeDelta::days(INVITATION_DAYS));
    assert!(auth::find_link(&f.ledger, &link).await.unwrap().is_none());
    assert!(is_gone(accept(&f, &link, NEW).await));
    assert!(member::list_invitations(&f.ledger, &f.admin).await.unwrap().is_empty());
    f.ledger.maintain().await.unwrap();
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM access_links").await, 0, "expired links are deleted");
    for junk in ["", "sbl_", "sbs_x", &link[1..], &f.worker_secret] {
        assert!(auth::find_link(&f.ledger, junk).await.unwrap().is_none(), "{junk}");
    }
    f.done().await;
}

async fn an_invitation_leaves_an_accounts_password_alone(f: Fixture) {
    let (_, link) = member::invite(&f.ledger, &f.admin, "sam@other.test", Role::Operator).await.unwrap();
    let open = auth::find_link(&f.ledger, &link).await.unwrap().unwrap();
    assert_eq!(open.to, LinkUse::JoinWithAccount(Role::Operator));
    assert!(matches!(accept(&f, &link, NEW).await, Err(Error::Invalid(_))), "another password joins nobody");
    let joined = accept(&f, &link, PASSWORD).await.unwrap();
    assert_eq!((joined.identity.tenant.slug.as_str(), joined.identity.scope.role), ("acme", Role::Operator));
    assert_eq!(joined.identity.scope.user_id(), f.stranger.user_id());
    assert_eq!(auth::list_workspaces(&f.ledger, &joined.identity.scope).await.unwrap().len(), 2);
    auth::sign_in(&f.ledger, "sam@other.test", PASSWORD, "").await.unwrap();
    // A removed member can be invited again.
    member::withdraw(&f.ledger, &f.admin, f.member.user_id().unwrap(), Withdrawal::Remove).await.unwrap();
    let (_, link) = member::invite(&f.ledger, &f.admin, MIA, Role::Member).await.unwrap();
    let back = accept(&f, &link, PASSWORD).await.unwrap();
    assert_eq!(back.identity.scope.user_id(), f.member.user_id());
    let mia = member::get(&f.ledger, &f.admin, f.member.user_id().unwrap()).await.unwrap();
    assert_eq!(mia.status, MemberStatus::Active);
    f.done().await;
}

async fn an_invitation_does_not_replace_a_role_that_was_given_later(f: Fixture) {
    const SAM: &str = "sam@other.test";
    let (_, link) = member::invite(&f.ledger, &f.admin, EVE, Role::Admin).await.unwrap();
    let (_, elsewhere) = member::invite(&f.ledger, &f.stranger, EVE, Role::Operator).await.unwrap();
    member::add_by_operator(&f.ledger, "acme", EVE, Role::Member, PASSWORD).await.unwrap();
    assert!(is_gone(accept(&f, &link, PASSWORD).await), "the operator of the server added her later");
    assert!(auth::find_link(&f.ledger, &elsewhere).await.unwrap().is_some(), "another workspace's stays");
    // A membership from another server, whose transaction did not see the invitation yet.
    let (_, link) = member::invite(&f.ledger, &f.admin, SAM, Role::Admin).await.unwrap();
    let mut raw = f.engine.raw().await;
    let joined = "INSERT INTO memberships (tenant_id, user_id, role, created_at) SELECT t.id, u.id, 'member', 1 \
         FROM tenants t, users u WHERE t.slug = 'acme' AND u.email = 'sam@other.test'";
    assert_eq!(raw.execute(joined).await.unwrap(), 1);
    assert!(is_gone(accept(&f, &link, PASSWORD).await), "he is a member");
    let sam = f.stranger.user_id().unwrap();
    assert_eq!(member::get(&f.ledger, &f.admin, sam).await.unwrap().role, Role::Member);
    let off = "UPDATE memberships SET status = 'deactivated' WHERE role = 'member' \
         AND user_id = (SELECT id FROM users WHERE email = 'sam@other.test')";
    assert_eq!(raw.execute(off).await.unwrap(), 1);
    assert!(is_gone(accept(&f, &link, PASSWORD).await), "only an admin activates him");
    f.done().await;
}

async fn a_reset_ends_every_sign_in_and_works_once(f: Fixture) {
    let mia = f.member.user_id().unwrap();
    let old = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap().secret;
    let (made, first) = member::reset_link(&f.ledger, &f.admin, mia).await.unwrap();
    assert_eq!((made.email.as_str(), made.expires_at - made.created_at), (MIA, TimeDelta::hours(RESET_LINK_HOURS)));
    let (_, link) = member::reset_link(&f.ledger, &f.admin, mia).await.unwrap();
    assert!(is_gone(accept(&f, &first, NEW).await), "replaced by the second");
    assert!(auth::by_cookie(&f.ledger, &old).await.unwrap().is_some(), "making a link ends nothing");
    // Wrong attempts block the sign-in. The new password clears the block.
    while auth::sign_in(&f.ledger, MIA, "wrong", "").await.is_err_and(|e| matches!(e, Error::BadCredentials)) {}
    let fresh = accept(&f, &link, NEW).await.unwrap();
    assert!(auth::by_cookie(&f.ledger, &old).await.unwrap().is_none());
    assert!(auth::by_cookie(&f.ledger, &fresh.secret).await.unwrap().is_some());
    assert!(is_gone(accept(&f, &link, NEW).await));
    let wrong = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.err();
    assert!(matches!(wrong, Some(Error::BadCredentials)), "{wrong:?}");
    auth::sign_in(&f.ledger, MIA, NEW, "").await.unwrap();
    let (_, late) = member::reset_link(&f.ledger, &f.admin, mia).await.unwrap();
    f.clock.advance(TimeDelta::hours(RESET_LINK_HOURS));
    assert!(is_gone(accept(&f, &late, NEW).await));
    f.done().await;
}

async fn an_admin_makes_no_reset_link_for_people_of_other_workspaces(f: Fixture) {
    let mia = f.member.user_id().unwrap();
    let (_, link) = member::reset_link(&f.ledger, &f.admin, mia).await.unwrap();
    member::add_by_operator(&f.ledger, "other", MIA, Role::Member, PASSWORD).await.unwrap();
    let refused = member::reset_link(&f.ledger, &f.admin, mia).await.err();
    assert!(matches!(refused, Some(Error::Forbidden(_))), "{refused:?}");
    assert!(is_gone(accept(&f, &link, NEW).await), "one from before does not work any more either");
    let foreign = member::reset_link(&f.ledger, &f.admin, f.stranger.user_id().unwrap()).await.err();
    assert!(matches!(foreign, Some(Error::NotFound("member"))), "{foreign:?}");
    let (_, link) = member::reset_link_by_operator(&f.ledger, "acme", MIA).await.unwrap();
    accept(&f, &link, NEW).await.unwrap();
    f.done().await;
}

async fn a_changed_password_ends_the_other_sign_ins(f: Fixture) {
    let other = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap().secret;
    let here = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap().secret;
    let (_, link) = member::reset_link(&f.ledger, &f.admin, f.member.user_id().unwrap()).await.unwrap();
    let change = async |current: &str, new: &str| auth::set_password(&f.ledger, &f.member, &here, current, new).await;
    assert!(matches!(change("wrong", NEW).await, Err(Error::Invalid(_))));
    // A right password is no failed attempt, whatever becomes of the new one.
    for _ in 0..7 {
        assert!(matches!(change(PASSWORD, "short").await, Err(Error::Invalid(_))));
    }
    assert!(auth::by_cookie(&f.ledger, &other).await.unwrap().is_some());
    change(PASSWORD, NEW).await.unwrap();
    assert!(auth::by_cookie(&f.ledger, &here).await.unwrap().is_some());
    assert!(auth::by_cookie(&f.ledger, &other).await.unwrap().is_none());
    assert!(is_gone(accept(&f, &link, PASSWORD).await), "a link from before would undo it");
    auth::sign_in(&f.ledger, MIA, NEW, "").await.unwrap();
    // A person at an open browser cannot guess the password in the form that changes it.
    let guesses = std::iter::repeat_with(|| change("wrong", PASSWORD)).take(8);
    let guesses = futures_util::future::join_all(guesses).await;
    assert!(guesses.into_iter().any(|guess| matches!(guess, Err(Error::TooManyAttempts { .. }))));
    let program = auth::set_password(&f.ledger, &f.worker, "", PASSWORD, NEW).await;
    assert!(matches!(program, Err(Error::Forbidden(_))));
    f.done().await;
}

async fn people_see_and_end_their_own_sign_ins(f: Fixture) {
    f.clock.advance(TimeDelta::minutes(1));
    let this_browser = auth::sign_in(&f.ledger, MIA, PASSWORD, "Firefox on Linux").await.unwrap().secret;
    f.clock.advance(TimeDelta::minutes(1));
    let other_browser = auth::sign_in(&f.ledger, MIA, PASSWORD, "Safari on iPhone").await.unwrap().secret;
    let list = async || auth::list_sign_ins(&f.ledger, &f.member, &this_browser).await.unwrap();
    let listed = list().await;
    let seen: Vec<_> = listed.iter().map(|s| (s.browser.as_str(), s.workspace.as_str(), s.is_current)).collect();
    // The third sign-in is the fixture's.
    assert_eq!(seen, [("Safari on iPhone", "acme", false), ("Firefox on Linux", "acme", true), ("", "acme", false)]);
    let foreign = auth::end_sign_in(&f.ledger, &f.other_member, listed[0].id).await;
    assert!(matches!(foreign, Err(Error::NotFound("sign-in"))), "nobody ends what is not theirs");
    auth::end_sign_in(&f.ledger, &f.member, listed[0].id).await.unwrap();
    assert!(auth::by_cookie(&f.ledger, &other_browser).await.unwrap().is_none());
    auth::end_other_sign_ins(&f.ledger, &f.member, &this_browser).await.unwrap();
    assert_eq!(list().await.len(), 1);
    assert!(auth::by_cookie(&f.ledger, &this_browser).await.unwrap().is_some());
    let program = auth::list_sign_ins(&f.ledger, &f.worker, "").await;
    assert!(matches!(program, Err(Error::Forbidden(_))));
    auth::set_name(&f.ledger, &f.member, " Mia ").await.unwrap();
    assert_eq!(auth::by_cookie(&f.ledger, &this_browser).await.unwrap().unwrap().user.unwrap().name, "Mia");
    assert!(matches!(auth::set_name(&f.ledger, &f.member, "a\nb").await, Err(Error::Invalid(_))));
    f.clock.advance(TimeDelta::hours(13));
    assert!(list().await.is_empty(), "what is unused for long does not work and is not listed");
    f.done().await;
}

async fn a_password_set_by_the_operator_ends_every_sign_in(f: Fixture) {
    let cookie = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap().secret;
    member::add_by_operator(&f.ledger, "acme", MIA, Role::Member, NEW).await.unwrap();
    assert!(auth::by_cookie(&f.ledger, &cookie).await.unwrap().is_none());
    auth::sign_in(&f.ledger, MIA, NEW, "").await.unwrap();
    f.done().await;
}

/// The admin links of a person and of a token of theirs, all for an admin's rights: invitations, and a reset for ada.
async fn links_of(f: &Fixture, email: &str) -> Vec<String> {
    let by_cookie = auth::sign_in(&f.ledger, email, PASSWORD, "").await.unwrap().identity.scope;
    let (_, secret) = token::create_personal(&f.ledger, &by_cookie, "laptop", Role::Admin, None).await.unwrap();
    let by_token = auth::by_token(&f.ledger, &secret).await.unwrap().unwrap().scope;
    let mut links = Vec::new();
    for (number, maker) in [by_cookie, by_token].iter().enumerate() {
        let invited = format!("eve{number}@acme.test");
        links.push(member::invite(&f.ledger, maker, &invited, Role::Admin).await.unwrap().1);
    }
    links.push(member::reset_link(&f.ledger, &by_token, f.admin.user_id().unwrap()).await.unwrap().1);
    links
}

async fn links_stop_with_the_rights_of_who_made_them(f: Fixture) {
    let mia = f.member.user_id().unwrap();
    let rounds: [&str; 4] = ["removed", "deactivated", "lowered", "lowered by the operator"];
    for round in rounds {
        member::add_by_operator(&f.ledger, "acme", MIA, Role::Admin, PASSWORD).await.unwrap();
        let links = links_of(&f, MIA).await;
        for link in &links {
            assert!(auth::find_link(&f.ledger, link).await.unwrap().is_some(), "{round}");
        }
        assert_eq!(member::list_invitations(&f.ledger, &f.admin).await.unwrap().len(), 2, "{round}");
        match round {
            "removed" => member::withdraw(&f.ledger, &f.admin, mia, Withdrawal::Remove).await.unwrap(),
            "deactivated" => member::withdraw(&f.ledger, &f.admin, mia, Withdrawal::Deactivate).await.unwrap(),
            "lowered" => drop(member::set_role(&f.ledger, &f.admin, mia, Role::Operator).await.unwrap()),
            _ => drop(member::add_by_operator(&f.ledger, "acme", MIA, Role::Member, PASSWORD).await.unwrap()),
        }
        for link in &links {
            assert!(auth::find_link(&f.ledger, link).await.unwrap().is_none(), "{round}");
            assert!(is_gone(accept(&f, link, NEW).await), "{round}");
        }
        assert_eq!(member::list_invitations(&f.ledger, &f.admin).await.unwrap(), [], "{round}");
    }
    // The rights of a token of the workspace end when it is revoked.
    let (made, secret) = token::create(&f.ledger, &f.admin, "directory", Role::Admin, None).await.unwrap();
    let directory = auth::by_token(&f.ledger, &secret).await.unwrap().unwrap().scope;
    let (_, link) = member::invite(&f.ledger, &directory, EVE, Role::Admin).await.unwrap();
    assert!(auth::find_link(&f.ledger, &link).await.unwrap().is_some());
    token::revoke(&f.ledger, &f.admin, made.id).await.unwrap();
    assert!(is_gone(accept(&f, &link, NEW).await));
    let (_, link) = member::invite(&f.ledger, &f.admin, EVE, Role::Admin).await.unwrap();
    accept(&f, &link, NEW).await.unwrap();
    f.done().await;
}

async fn a_person_who_joins_another_workspace_meanwhile_keeps_their_password(f: Fixture) {
    let mia = f.member.user_id().unwrap();
    let (_, reset) = member::reset_link(&f.ledger, &f.admin, mia).await.unwrap();
    let (_, invitation) = member::invite(&f.ledger, &f.stranger, MIA, Role::Member).await.unwrap();
    // Whichever is first: after both, an admin of one workspace has not set the password of a member of two.
    let (joined, set) = tokio::join!(accept(&f, &invitation, PASSWORD), accept(&f, &reset, NEW));
    match (joined, set) {
        (Ok(_), set) => assert!(is_gone(set)),
        (Err(_), set) => assert!(set.is_ok()),
    }
    f.done().await;
}

async fn open_invitations_are_limited_also_when_two_are_made_at_once(f: Fixture) {
    let invite = async |name: String| {
        member::invite(&f.ledger, &f.admin, &format!("{name}@acme.test"), Role::Member).await.map(drop)
    };
    for n in 1..INVITATIONS_MAX {
        invite(format!("guest{n}")).await.unwrap();
    }
    let (one, other) = tokio::join!(invite("one".into()), invite("other".into()));
    one_is_over_the_limit(one, other);
    invite("guest1".into()).await.expect("a new link for a person who is invited");
    f.done().await;
}
