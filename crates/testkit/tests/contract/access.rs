//! P-21: no caller can read or change data of another workspace, or do what their role or token does not permit.
//! `row_security.rs` tests that PostgreSQL enforces the border of a workspace too.

use domain::{
    Scope,
    role::{Role, TokenScope},
    session::{Status, Type},
};
use ledger::{
    Error, action,
    event::{self as events, Append, Read},
    member::{self, Withdrawal},
    session::{self, Completion, ListSessions, NewSession},
    token, work_queue,
};
use testkit::{Fixture, on_both_engines, text};

on_both_engines!(another_workspace_sees_nothing_and_changes_nothing, roles_and_scopes_bound_what_a_caller_may_do,);

fn not_found<T: std::fmt::Debug>(what: &str, result: Result<T, Error>) {
    assert!(matches!(result, Err(Error::NotFound(_))), "{what}: {result:?}");
}

async fn another_workspace_sees_nothing_and_changes_nothing(f: Fixture) {
    let session = f.running().await;
    let made = action::create(
        &f.ledger,
        &f.admin,
        action::NewAction { name: "Weekly".into(), agent_slug: Some("scout".into()), ..Default::default() },
    );
    let action = made.await.unwrap();
    let (key, _) = token::create(&f.ledger, &f.admin, "t", Role::Member, None).await.unwrap();
    let (l, s, id) = (&f.ledger, &f.stranger, session.id);
    let completion = Completion { attempt: 1, result: None, usage: None };
    not_found("get", session::get(l, s, id).await);
    not_found("cancel", session::cancel(l, s, id, None).await);
    not_found("retry", session::retry(l, s, id).await);
    not_found("heartbeat", session::heartbeat(l, s, id, 1).await);
    not_found("complete", session::complete(l, s, id, completion).await);
    not_found("release", session::release(l, s, id, 1).await);
    not_found(
        "append",
        events::append(l, s, Append { session_id: id, attempt: Some(1), events: vec![text("x")] }).await,
    );
    not_found("read", events::read(l, s, id, Read::default()).await);
    not_found("kinds", events::kind_counts(l, s, id).await);
    not_found("follow", events::follow(l, s, id, 0).await.map(drop));
    not_found("action", action::get(l, s, action.id).await);
    not_found("update", action::update(l, s, action.id, Default::default()).await);
    not_found("trigger", action::trigger(l, s, action.id, Default::default()).await);
    not_found("task status", action::task_status(l, s, action.id).await);
    not_found("token", token::revoke(l, s, key.id).await);
    let child =
        NewSession { parent_id: Some(id), agent_slug: Some("scout".into()), ..NewSession::of_type(Type::Agent) };
    not_found("child", session::create(l, s, child).await);
    assert!(session::list_by_ids(l, s, &[id]).await.unwrap().is_empty());
    for query in [
        ListSessions::default(),
        ListSessions { action_id: Some(action.id), ..Default::default() },
        ListSessions { parent_id: Some(id), ..Default::default() },
        ListSessions { status: Some(Status::Running), ..Default::default() },
    ] {
        assert!(session::list(l, s, query).await.unwrap().items.is_empty());
    }
    assert!(action::list(l, s, Default::default()).await.unwrap().items.is_empty());
    assert_eq!(
        work_queue::counts(l, s, work_queue::QueueScope::Mine, "UTC").await.unwrap(),
        work_queue::Counts::default()
    );
    assert_eq!(token::list(l, s).await.unwrap().len(), 0);
    assert_eq!(member::list(l, s).await.unwrap().len(), 1);
    let (invitation, _) = member::invite(l, &f.admin, "eve@acme.test", Role::Member).await.unwrap();
    assert!(member::list_invitations(l, s).await.unwrap().is_empty());
    not_found("invitation", member::withdraw_invitation(l, s, invitation.id).await);
    let mia = f.member.user_id().unwrap();
    not_found("member", member::get(l, s, mia).await);
    not_found("role", member::set_role(l, s, mia, Role::Admin).await);
    not_found("remove", member::withdraw(l, s, mia, Withdrawal::Remove).await);
    not_found("deactivate", member::withdraw(l, s, mia, Withdrawal::Deactivate).await);
    not_found("activate", member::activate(l, s, mia).await);
    not_found("reset link", member::reset_link(l, s, mia).await);
    let claim = session::Claim { agent_slugs: None, max: 10, lease_seconds: 60 };
    f.pending().await;
    assert!(session::claim(l, s, claim, std::time::Duration::ZERO).await.unwrap().is_empty());
    // The session is unchanged.
    let after = session::get(l, &f.admin, id).await.unwrap();
    assert_eq!((after.status(), after.head_sequence), (session.status(), session.head_sequence));
    f.done().await;
}

async fn roles_and_scopes_bound_what_a_caller_may_do(f: Fixture) {
    let reviewer = Scope { role: Role::Reviewer, ..f.member };
    let worker_admin = Scope { role: Role::Admin, token_scope: Some(TokenScope::Worker), ..f.worker };
    for low in [f.member, reviewer, worker_admin] {
        let new = action::NewAction { name: "x".into(), ..Default::default() };
        assert!(matches!(action::create(&f.ledger, &low, new).await, Err(Error::Forbidden(_))));
        assert!(matches!(token::create(&f.ledger, &low, "x", Role::Member, None).await, Err(Error::Forbidden(_))));
        let invited = member::invite(&f.ledger, &low, "e@x.test", Role::Admin).await;
        assert!(matches!(invited, Err(Error::Forbidden(_))));
        let somebody = f.other_member.user_id().unwrap();
        for how in [Withdrawal::Deactivate, Withdrawal::Remove] {
            let withdrawn = member::withdraw(&f.ledger, &low, somebody, how).await;
            assert!(matches!(withdrawn, Err(Error::Forbidden(_))));
        }
        assert!(matches!(member::activate(&f.ledger, &low, somebody).await, Err(Error::Forbidden(_))));
        assert!(matches!(member::set_role(&f.ledger, &low, somebody, Role::Admin).await, Err(Error::Forbidden(_))));
        assert!(matches!(member::reset_link(&f.ledger, &low, somebody).await, Err(Error::Forbidden(_))));
        assert!(matches!(member::list_invitations(&f.ledger, &low).await, Err(Error::Forbidden(_))));
    }
    let claim = session::Claim { agent_slugs: None, max: 1, lease_seconds: 60 };
    for low in [f.member, reviewer] {
        let refused = session::claim(&f.ledger, &low, claim.clone(), std::time::Duration::ZERO).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    }
    // An operator manages work but cannot give access.
    let made = token::create(&f.ledger, &f.operator, "x", Role::Member, None).await;
    assert!(matches!(made, Err(Error::Forbidden(_))), "{made:?}");
    session::claim(&f.ledger, &f.operator, claim, std::time::Duration::ZERO).await.unwrap();
    f.done().await;
}
