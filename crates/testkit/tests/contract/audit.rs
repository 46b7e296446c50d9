//! The audit list: each act leaves one entry in its own transaction, and the chain shows every change.

use crate::{
    entity::{acme, company},
    memory::put,
    memory_writer::AGENT,
    response::form,
    retention::key,
    thread::rested,
    webhook::subscribed,
};
use chrono::TimeDelta;
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    limit::AUDITED_REFUSALS_PER_MINUTE,
    role::Role,
    view::{Gate, Publication},
};
use futures_util::future::join_all;
use ledger::{
    Error, ListPage,
    audit::{self, EntryRecord, ListEntries},
    auth, bundle, entity,
    export_job::{self, ExportContent},
    gate, group,
    group::{GroupChange, NewGroup},
    interaction, member,
    member::Withdrawal,
    memory, memory_forget,
    memory_forget::Forget,
    retention, session, token, verify, view_link, webhook,
};
use serde_json::{Value, json};
use std::{
    net::{IpAddr, Ipv4Addr},
    path::Path,
};
use testkit::{Engine, Fixture, Raw, on_both_engines};
use uuid::Uuid;

on_both_engines!(
    sign_ins_and_acts_on_an_account_are_recorded_where_they_belong,
    acts_on_members_and_tokens_leave_one_entry_each,
    acts_on_the_workspace_leave_one_entry_each,
    erasing_and_exporting_leave_one_entry_each,
    an_act_that_is_refused_or_changes_nothing_leaves_no_entry,
    refused_sign_ins_are_listed_up_to_a_bound_and_counted_beyond_it,
    the_list_is_for_admins_and_its_pages_have_each_entry_once,
    the_list_is_narrowed_by_kind_actor_and_time,
    acts_at_the_same_time_leave_no_gap,
    an_entry_that_was_changed_removed_or_cut_off_is_named,
    nobody_changes_or_removes_an_entry,
);

pub const MIA: &str = "mia@acme.test";
pub const PASSWORD: &str = "correct horse battery";
const NEW: &str = "a better password";

/// All entries of the workspace of this scope, oldest first.
async fn entries(f: &Fixture, admin: &Scope) -> Vec<EntryRecord> {
    let page = ListPage { limit: 1_000, cursor: None };
    let listed = audit::list(&f.ledger, admin, ListEntries { page, ..ListEntries::default() }).await.unwrap();
    assert!(listed.next_cursor.is_none());
    listed.items.into_iter().rev().collect()
}

/// Takes the entries that were added since the last call.
pub struct Reading {
    seen: usize,
}

impl Reading {
    pub async fn begin(f: &Fixture) -> Self {
        Self { seen: entries(f, &f.admin).await.len() }
    }

    pub async fn next(&mut self, f: &Fixture) -> Vec<EntryRecord> {
        let new = entries(f, &f.admin).await.split_off(self.seen);
        self.seen += new.len();
        new
    }

    /// Expects entries of these kinds and no others. Returns the last one.
    pub async fn expect(&mut self, f: &Fixture, kinds: &[Kind]) -> EntryRecord {
        let new = self.next(f).await;
        assert_eq!(new.iter().map(|entry| entry.kind).collect::<Vec<_>>(), kinds);
        new.into_iter().next_back().unwrap()
    }
}

pub fn detail(entry: &EntryRecord) -> Value {
    serde_json::from_str(&entry.detail).unwrap()
}

async fn sign_ins_and_acts_on_an_account_are_recorded_where_they_belong(f: Fixture) {
    let mut reading = Reading::begin(&f).await;
    let mia = format!("user:{}", f.member.user_id().unwrap());
    let signed_in = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap();
    let entry = reading.expect(&f, &[Kind::SignInAccepted]).await;
    assert_eq!((entry.actor.as_deref(), entry.target, entry.detail.as_str()), (Some(mia.as_str()), None, "{}"));
    auth::sign_out(&f.ledger, &signed_in.secret).await.unwrap();
    assert_eq!(reading.expect(&f, &[Kind::SignInEnded]).await.actor, Some(mia.clone()));
    auth::sign_out(&f.ledger, &signed_in.secret).await.unwrap();
    assert!(reading.next(&f).await.is_empty(), "a repeat ends nothing");

    // A password is that of the account, in every workspace of the person.
    let (_, link) = member::invite(&f.ledger, &f.stranger, MIA, Role::Reviewer).await.unwrap();
    auth::use_link(&f.ledger, &link, "", PASSWORD, "").await.unwrap();
    let theirs = entries(&f, &f.stranger).await.split_off(2);
    let kinds: Vec<_> = theirs.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [Kind::MemberInvited, Kind::MemberJoined, Kind::SignInAccepted]);
    let sam = format!("user:{}", f.stranger.user_id().unwrap());
    let invitation = theirs[0].target.unwrap();
    assert_eq!(
        (invitation.0, detail(&theirs[1])),
        (TargetKind::AccessLink, json!({ "role": "reviewer", "invitation": invitation.1, "invitedBy": sam }))
    );
    assert!(reading.next(&f).await.is_empty(), "another workspace does not see it");

    let here = auth::sign_in(&f.ledger, MIA, PASSWORD, "").await.unwrap();
    let scope = here.identity.scope;
    auth::set_password(&f.ledger, &scope, &here.secret, PASSWORD, NEW).await.unwrap();
    auth::switch(&f.ledger, &here.secret, &scope, "other").await.unwrap();
    let other = auth::sign_in(&f.ledger, MIA, NEW, "").await.unwrap();
    auth::end_other_sign_ins(&f.ledger, &scope, &other.secret).await.unwrap();
    let ours = reading.next(&f).await;
    let kinds: Vec<_> = ours.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [Kind::SignInAccepted, Kind::PasswordChanged, Kind::SignInAccepted]);
    let theirs = entries(&f, &f.stranger).await.split_off(5);
    let kinds: Vec<_> = theirs.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [Kind::PasswordChanged, Kind::SignInAccepted, Kind::SignInEnded]);
    assert_eq!((detail(&theirs[1]), detail(&theirs[2])), (json!({ "switched": true }), json!({ "others": true })));
    f.assert_verified().await;
    f.done().await;
}

async fn acts_on_members_and_tokens_leave_one_entry_each(f: Fixture) {
    let mut reading = Reading::begin(&f).await;
    let (ada, mia) = (format!("user:{}", f.admin.user_id().unwrap()), f.member.user_id().unwrap());
    let (invitation, _) = member::invite(&f.ledger, &f.admin, "eve@acme.test", Role::Member).await.unwrap();
    let entry = reading.expect(&f, &[Kind::MemberInvited]).await;
    assert_eq!((entry.actor.as_deref(), detail(&entry)), (Some(ada.as_str()), json!({ "role": "member" })));
    assert_eq!(entry.target, Some((TargetKind::AccessLink, invitation.id.0)));
    member::withdraw_invitation(&f.ledger, &f.admin, invitation.id).await.unwrap();
    reading.expect(&f, &[Kind::InvitationWithdrawn]).await;
    member::set_role(&f.ledger, &f.admin, mia, Role::Reviewer).await.unwrap();
    let entry = reading.expect(&f, &[Kind::MemberRoleChanged]).await;
    assert_eq!(
        (entry.target, detail(&entry)),
        (Some((TargetKind::User, mia.0)), json!({ "from": "member", "to": "reviewer" }))
    );
    member::withdraw(&f.ledger, &f.admin, mia, Withdrawal::Deactivate).await.unwrap();
    reading.expect(&f, &[Kind::MemberDeactivated]).await;
    member::activate(&f.ledger, &f.admin, mia).await.unwrap();
    reading.expect(&f, &[Kind::MemberActivated]).await;
    let (_, link) = member::reset_link(&f.ledger, &f.admin, mia).await.unwrap();
    reading.expect(&f, &[Kind::PasswordLinkCreated]).await;
    auth::use_link(&f.ledger, &link, "", NEW, "").await.unwrap();
    reading.expect(&f, &[Kind::PasswordReset, Kind::SignInAccepted]).await;
    member::withdraw(&f.ledger, &f.admin, mia, Withdrawal::Remove).await.unwrap();
    reading.expect(&f, &[Kind::MemberRemoved]).await;
    member::add_by_operator(&f.ledger, "acme", MIA, Role::Member, PASSWORD).await.unwrap();
    let entry = reading.expect(&f, &[Kind::MemberAdded, Kind::PasswordChanged]).await;
    assert_eq!(entry.actor.as_deref(), Some("system"));

    let (made, secret) = token::create(&f.ledger, &f.admin, "build", Role::Operator, None).await.unwrap();
    let entry = reading.expect(&f, &[Kind::TokenCreated]).await;
    assert_eq!(entry.target, Some((TargetKind::Token, made.id.0)));
    assert_eq!(detail(&entry), json!({ "role": "operator", "scope": null, "user": null }));
    token::revoke(&f.ledger, &f.admin, made.id).await.unwrap();
    reading.expect(&f, &[Kind::TokenRevoked]).await;
    token::create_by_operator(&f.ledger, "acme", "cli", Role::Admin, None, Some(MIA)).await.unwrap();
    assert_eq!(reading.expect(&f, &[Kind::TokenCreated]).await.actor.as_deref(), Some("system"));
    let all = format!("{:?}", entries(&f, &f.admin).await);
    for text in [secret.as_str(), "build", "Ada", "acme.test", PASSWORD, NEW] {
        assert!(!all.contains(text), "{text} is in the list");
    }
    f.assert_verified().await;
    f.done().await;
}

async fn acts_on_the_workspace_leave_one_entry_each(f: Fixture) {
    let mut reading = Reading::begin(&f).await;
    let (mia, max) = (f.member.user_id().unwrap(), f.other_member.user_id().unwrap());
    let new = NewGroup { name: "Legal".into(), slug: None, members: vec![mia] };
    let made = group::create(&f.ledger, &f.operator, new).await.unwrap();
    let entry = reading.expect(&f, &[Kind::GroupCreated]).await;
    assert_eq!(detail(&entry), json!({ "added": [mia], "addedCount": 1, "removed": [], "removedCount": 0 }));
    let change = GroupChange { name: None, add_members: vec![max], remove_members: vec![mia] };
    group::update(&f.ledger, &f.operator, made.id, change).await.unwrap();
    let entry = reading.expect(&f, &[Kind::GroupChanged]).await;
    assert_eq!(entry.target, Some((TargetKind::Group, made.id.0)));
    assert_eq!(detail(&entry), json!({ "added": [max], "addedCount": 1, "removed": [mia], "removedCount": 1 }));
    let text = json!({ "groups": [
        { "slug": "legal", "name": "Legal", "members": [MIA] },
        { "slug": "risk", "name": "Risk" },
    ] });
    bundle::install(&f.ledger, &f.operator, &text.to_string(), bundle::Mode::DryRun).await.unwrap();
    assert!(reading.next(&f).await.is_empty(), "a dry run is no act");
    bundle::install(&f.ledger, &f.operator, &text.to_string(), bundle::Mode::Apply).await.unwrap();
    reading.expect(&f, &[Kind::GroupChanged, Kind::GroupCreated]).await;

    let (hook, _) = subscribed(&f, "http://127.0.0.1:9/".into(), &["session.failed"]).await;
    let entry = reading.expect(&f, &[Kind::WebhookCreated]).await;
    assert_eq!(detail(&entry), json!({ "events": ["session.failed"] }));
    webhook::delete(&f.ledger, &f.admin, hook.id).await.unwrap();
    reading.expect(&f, &[Kind::WebhookDeleted]).await;
    let before = gate::undo_seconds(&f.ledger, &f.admin).await.unwrap();
    gate::set_undo_seconds(&f.ledger, &f.admin, before + 1).await.unwrap();
    let entry = reading.expect(&f, &[Kind::WorkspaceChanged]).await;
    assert_eq!(detail(&entry), json!({ "setting": "undoSeconds", "from": before, "to": before + 1 }));
    let view = form(&f, Publication { gate: Gate::None, ..Publication::default() }).await;
    let (link, _) = view_link::create(&f.ledger, &f.operator, view, 30).await.unwrap();
    let entry = reading.expect(&f, &[Kind::LinkCreated]).await;
    assert_eq!(
        (entry.target, detail(&entry)),
        (Some((TargetKind::ViewLink, link.id.0)), json!({ "view": view, "days": 30 }))
    );
    view_link::revoke(&f.ledger, &f.operator, link.id).await.unwrap();
    reading.expect(&f, &[Kind::LinkRevoked]).await;
    f.assert_verified().await;
    f.done().await;
}

async fn erasing_and_exporting_leave_one_entry_each(f: Fixture) {
    let entity = acme(&f, &company(&f).await, "Acme").await;
    put(&f, &f.operator, "topics/garden.md", 0, "# Garden\n\n- Roses.\n").await.unwrap();
    let conversation = rested(&f).await;
    let mut reading = Reading::begin(&f).await;
    entity::erase(&f.ledger, &f.admin, entity.id).await.unwrap();
    assert_eq!(reading.expect(&f, &[Kind::EntityErased]).await.target, Some((TargetKind::Entity, entity.id.0)));
    memory_forget::erase(&f.ledger, &f.admin, AGENT, memory::path("topics/garden.md").unwrap()).await.unwrap();
    reading.expect(&f, &[Kind::DocumentErased]).await;
    let person = Forget { person: format!("shiftbook-{}", f.other_member.user_id().unwrap()), names: None };
    memory_forget::forget(&f.ledger, &f.admin, person.clone()).await.unwrap();
    let entry = reading.expect(&f, &[Kind::PersonForgotten]).await;
    let forgotten = f.other_member.user_id().unwrap().0;
    assert!(
        entry.target.is_some_and(|(kind, id)| kind == TargetKind::Forgetting && id != forgotten),
        "nobody is named"
    );
    memory_forget::lift(&f.ledger, &f.admin, &person.person).await.unwrap();
    reading.expect(&f, &[Kind::PersonRemembered]).await;
    interaction::forget_session(&f.ledger, &f.admin, conversation.id).await.unwrap();
    reading.expect(&f, &[Kind::SessionForgotten]).await;
    let id = Uuid::from_u128(7);
    export_job::begin(&f.ledger, &f.admin, id, "server".into(), (ExportContent::Training, "{}".into())).await.unwrap();
    assert_eq!(reading.expect(&f, &[Kind::ExportStarted]).await.target, Some((TargetKind::Export, id)));
    let folder = Path::new("/srv/raw");
    let noted = (folder, r#"{"since":"2026-01-01"}"#);
    export_job::record_by_operator(&f.ledger, "acme", ExportContent::Raw, noted).await.unwrap();
    let expected = json!({ "what": "raw", "folder": "/srv/raw", "options": { "since": "2026-01-01" } });
    assert_eq!(detail(&reading.expect(&f, &[Kind::ExportStarted]).await), expected);
    let unknown = export_job::record_by_operator(&f.ledger, "nowhere", ExportContent::Raw, (folder, "{}")).await;
    assert!(matches!(unknown, Err(Error::NotFound("workspace"))));

    for _ in 0..2 {
        let ended = f.pending().await;
        session::cancel(&f.ledger, &f.operator, ended.id, None).await.unwrap();
    }
    f.clock.advance(TimeDelta::days(40));
    let older_than = f.ledger.now() - TimeDelta::days(30);
    retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await.unwrap();
    let entry = reading.expect(&f, &[Kind::RetentionRun]).await;
    assert_eq!((entry.actor.as_deref(), detail(&entry)), (Some("system"), json!({ "olderThan": older_than })));
    retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await.unwrap();
    assert!(reading.next(&f).await.is_empty(), "a run that finds nothing erases nothing");
    f.assert_verified().await;
    f.done().await;
}

async fn an_act_that_is_refused_or_changes_nothing_leaves_no_entry(f: Fixture) {
    let (ada, mia) = (f.admin.user_id().unwrap(), f.member.user_id().unwrap());
    let mut reading = Reading::begin(&f).await;
    let last = member::set_role(&f.ledger, &f.admin, ada, Role::Member).await;
    assert!(matches!(last, Err(Error::LastAdmin)));
    let member = member::invite(&f.ledger, &f.admin, MIA, Role::Admin).await;
    assert!(matches!(member, Err(Error::Invalid(_))));
    assert!(member::withdraw(&f.ledger, &f.operator, mia, Withdrawal::Remove).await.is_err());
    let new = NewGroup { name: "Legal".into(), slug: None, members: vec![f.stranger.user_id().unwrap()] };
    assert!(group::create(&f.ledger, &f.admin, new).await.is_err());
    assert!(token::create(&f.ledger, &f.admin, "", Role::Member, None).await.is_err());
    assert!(auth::sign_in(&f.ledger, MIA, "wrong", "").await.is_err());
    member::set_role(&f.ledger, &f.admin, mia, Role::Member).await.unwrap();
    member::activate(&f.ledger, &f.admin, mia).await.unwrap();
    let seconds = gate::undo_seconds(&f.ledger, &f.admin).await.unwrap();
    gate::set_undo_seconds(&f.ledger, &f.admin, seconds).await.unwrap();
    assert!(reading.next(&f).await.is_empty());
    // If the entry cannot be written, the act is not done.
    let mut raw = f.engine.raw().await;
    raw.execute("ALTER TABLE audit_entries RENAME TO elsewhere").await.unwrap();
    assert!(member::set_role(&f.ledger, &f.admin, mia, Role::Reviewer).await.is_err());
    raw.execute("ALTER TABLE elsewhere RENAME TO audit_entries").await.unwrap();
    assert_eq!(member::get(&f.ledger, &f.admin, mia).await.unwrap().role, Role::Member);
    assert!(reading.next(&f).await.is_empty());
    drop(raw);
    f.assert_verified().await;
    f.done().await;
}

async fn refused_sign_ins_are_listed_up_to_a_bound_and_counted_beyond_it(f: Fixture) {
    let from = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));
    let mut reading = Reading::begin(&f).await;
    let refuse = async |email: &str| auth::record_refused_sign_in(&f.ledger, email, from).await.unwrap();
    for email in ["nobody@acme.test", "no address", "sam@other.test"] {
        refuse(email).await;
    }
    assert!(reading.next(&f).await.is_empty(), "no account of a member");
    for n in 0..AUDITED_REFUSALS_PER_MINUTE + 3 {
        refuse(if n % 2 == 0 { MIA } else { "ada@acme.test" }).await;
    }
    let listed = reading.next(&f).await;
    assert_eq!(listed.len(), AUDITED_REFUSALS_PER_MINUTE as usize);
    let mia = f.member.user_id().unwrap();
    assert_eq!((listed[0].actor.as_deref(), listed[0].target), (None, Some((TargetKind::User, mia.0))));
    assert_eq!(detail(&listed[0]), json!({ "address": "203.0.113.9" }));
    f.clock.advance(TimeDelta::minutes(1));
    refuse(" MIA@acme.test").await;
    refuse(MIA).await;
    let listed = reading.next(&f).await;
    let details: Vec<_> = listed.iter().map(detail).collect();
    let counted = json!({ "address": "203.0.113.9", "unlistedBefore": 3 });
    assert_eq!(details, [counted, json!({ "address": "203.0.113.9" })]);
    f.assert_verified().await;
    f.done().await;
}

async fn the_list_is_for_admins_and_its_pages_have_each_entry_once(f: Fixture) {
    for other in [&f.operator, &f.member, &f.worker] {
        let refused = audit::list(&f.ledger, other, ListEntries::default()).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    }
    let admin = f.workspace("new").await;
    let mut count = entries(&f, &admin).await.len();
    for wanted in [2, 7, 60] {
        while count < wanted {
            token::create(&f.ledger, &admin, "t", Role::Member, None).await.unwrap();
            count += 1;
        }
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let page = ListPage { limit: 7, cursor };
            let listed = audit::list(&f.ledger, &admin, ListEntries { page, ..ListEntries::default() }).await.unwrap();
            assert!(listed.items.len() == 7 || listed.next_cursor.is_none());
            all.extend(listed.items.into_iter().map(|entry| entry.sequence));
            cursor = listed.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(all, (1..=wanted as u64).rev().collect::<Vec<_>>());
    }
    f.assert_verified().await;
    f.done().await;
}

async fn the_list_is_narrowed_by_kind_actor_and_time(f: Fixture) {
    f.clock.advance(TimeDelta::hours(1));
    let begun = f.ledger.now();
    for who in [&f.admin, &f.member] {
        f.clock.advance(TimeDelta::seconds(10));
        let role = Role::Member;
        token::create_personal(&f.ledger, who, "t", role, None).await.unwrap();
    }
    group::create(&f.ledger, &f.admin, NewGroup { name: "Legal".into(), ..NewGroup::default() }).await.unwrap();
    let ada = f.admin.caller.to_string();
    let count =
        async |wanted: ListEntries| audit::list(&f.ledger, &f.admin, wanted).await.map(|found| found.items.len());
    let (kind, after) = (Some(Kind::TokenCreated), Some(begun));
    let since = ListEntries { after, ..ListEntries::default() };
    assert_eq!(count(since.clone()).await.unwrap(), 3);
    assert_eq!(count(ListEntries { kind, ..since.clone() }).await.unwrap(), 2);
    assert_eq!(count(ListEntries { actor: Some(ada.clone()), ..since.clone() }).await.unwrap(), 2);
    assert_eq!(count(ListEntries { kind, actor: Some(ada.clone()), ..since.clone() }).await.unwrap(), 1);
    let before = Some(begun + TimeDelta::seconds(20));
    assert_eq!(count(ListEntries { before, ..since.clone() }).await.unwrap(), 1, "both ends are left out");
    assert_eq!(count(ListEntries { actor: Some("token:gone".into()), ..since.clone() }).await.unwrap(), 0);
    for actor in ["Ada", "user:", "user:%"] {
        let refused = count(ListEntries { actor: Some(actor.into()), ..since.clone() }).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{actor}: {refused:?}");
    }
    f.done().await;
}

async fn acts_at_the_same_time_leave_no_gap(f: Fixture) {
    let mut reading = Reading::begin(&f).await;
    let makes = (0..12)
        .map(|n| token::create(&f.ledger, if n % 2 == 0 { &f.admin } else { &f.stranger }, "t", Role::Member, None));
    let signs = (0..4).map(|_| auth::sign_in(&f.ledger, MIA, PASSWORD, ""));
    let (made, signed) = tokio::join!(join_all(makes), join_all(signs));
    let done =
        made.iter().step_by(2).filter(|made| made.is_ok()).count() + signed.iter().filter(|one| one.is_ok()).count();
    let new = reading.next(&f).await;
    assert_eq!(new.len(), done);
    assert!(new.windows(2).all(|pair| pair[1].sequence == pair[0].sequence + 1));
    f.assert_verified().await;
    f.done().await;
}

/// Opens a database connection without triggers.
async fn intruder(f: &Fixture) -> Raw {
    let mut raw = f.engine.raw().await;
    match f.engine {
        Engine::Sqlite(_) => {
            for trigger in ["entries_no_update", "entries_no_delete", "heads_grow", "heads_no_delete"] {
                raw.execute(&format!("DROP TRIGGER audit_{trigger}")).await.unwrap();
            }
        }
        Engine::Postgres { .. } => {
            raw.execute("SET session_replication_role = replica").await.unwrap();
        }
    }
    raw
}

async fn an_entry_that_was_changed_removed_or_cut_off_is_named(f: Fixture) {
    let count = entries(&f, &f.admin).await.len();
    assert!(count > 4, "{count}");
    let tenant = f.admin.tenant_id;
    let mut raw = intruder(&f).await;
    raw.execute("CREATE TABLE kept AS SELECT * FROM audit_entries").await.unwrap();
    raw.execute("CREATE TABLE kept_heads AS SELECT * FROM audit_heads").await.unwrap();
    let of = match f.engine {
        Engine::Sqlite(_) => format!("tenant_id = x'{}'", tenant.0.simple()),
        Engine::Postgres { .. } => format!("tenant_id = '{tenant}'"),
    };
    let last = format!("audit entry {count} is missing");
    for (attack, words) in [
        (format!("UPDATE audit_entries SET detail = '{{}} ' WHERE sequence = 3 AND {of}"), "audit entry 3 was changed"),
        (format!("UPDATE audit_entries SET at = at + 1 WHERE sequence = 2 AND {of}"), "audit entry 2 was changed"),
        (format!("UPDATE audit_entries SET actor = NULL WHERE sequence = 1 AND {of}"), "audit entry 1 was changed"),
        (
            format!("UPDATE audit_entries SET kind = 'token.created' WHERE sequence = 1 AND {of}"),
            "audit entry 1 was changed",
        ),
        (format!("UPDATE audit_entries SET kind = 'made.up' WHERE sequence = 1 AND {of}"), "kind is \"made.up\""),
        (format!("DELETE FROM audit_entries WHERE sequence = 2 AND {of}"), "audit entry 2 is missing"),
        (format!("DELETE FROM audit_entries WHERE sequence = {count} AND {of}"), last.as_str()),
        (format!("DELETE FROM audit_entries WHERE {of}"), "audit entry 1 is missing"),
        (format!("DELETE FROM audit_heads WHERE {of}"), "nothing says where it ends"),
        (format!("UPDATE audit_heads SET entries = entries - 1 WHERE {of}"), "ends with another entry"),
    ] {
        assert!(raw.execute(&attack).await.unwrap() > 0, "{attack}");
        let problems = verify::all(&f.ledger, &[], |_| {}).await.unwrap().problems;
        let named = problems.iter().any(|problem| problem.contains(words) && problem.contains(&tenant.to_string()));
        assert!(named, "{attack}: {problems:?}");
        for table in ["entries", "heads"] {
            raw.execute(&format!("DELETE FROM audit_{table}")).await.unwrap();
        }
        raw.execute("INSERT INTO audit_entries SELECT * FROM kept").await.unwrap();
        raw.execute("INSERT INTO audit_heads SELECT * FROM kept_heads").await.unwrap();
    }
    f.assert_verified().await;
    assert!(verify::all(&f.ledger, &[], |_| {}).await.unwrap().audited > count as u64, "of all workspaces");
    drop(raw);
    f.done().await;
}

async fn nobody_changes_or_removes_an_entry(f: Fixture) {
    let mut raw = f.engine.raw().await;
    for attack in [
        "UPDATE audit_entries SET detail = '{}'",
        "DELETE FROM audit_entries",
        "UPDATE audit_heads SET entries = 0",
        "UPDATE audit_heads SET digest = (SELECT digest FROM audit_entries WHERE sequence = 1 LIMIT 1)",
        "DELETE FROM audit_heads",
    ] {
        let refused = raw.execute(attack).await.err().unwrap_or_else(|| panic!("{attack} was let through"));
        assert!(refused.to_string().contains("append-only"), "{attack}: {refused}");
    }
    drop(raw);
    f.done().await;
}
