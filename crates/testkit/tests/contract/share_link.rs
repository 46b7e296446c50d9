//! Links with which people without an account read one session: what they show, what not, and when they stop.

use crate::{
    audit::{Reading, detail},
    retention::key,
    thread::new,
};
use chrono::TimeDelta;
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{SessionId, ShareLinkId},
    limit::{SHARE_LINKS_MAX, SHARED_EVENTS_MAX},
    session::Type,
    share_link::Audience,
    tool::Change,
};
use ledger::{
    Error, ListPage, retention,
    session::{self, Claim, Completion, NewSession},
    share_link::{self, Shared},
    thread::{self, NewThread},
    tool::{self, NewTool},
    tool_run::{self, RunTool},
};
use serde_json::json;
use std::time::Duration;
use testkit::{Fixture, event, on_both_engines, text};

on_both_engines!(
    a_link_shows_a_session_and_its_log_in_parts,
    a_link_to_a_run_of_a_tool_shows_no_private_value,
    a_link_that_is_unknown_expired_or_revoked_shows_nothing,
    a_cookie_is_for_its_own_link,
    only_the_person_of_a_session_and_admins_share_it,
    private_sessions_are_not_shared,
    what_retention_erases_is_shown_no_more,
    links_are_listed_revoked_and_audited,
    a_session_has_so_many_links_that_work,
    no_secret_is_stored,
);

async fn link(f: &Fixture, by: &Scope, session: SessionId) -> (ShareLinkId, String) {
    let (made, secret) = share_link::create(&f.ledger, by, session, 7).await.unwrap();
    (made.id, secret)
}

/// The cookie of a browser that opens a link.
async fn cookie(f: &Fixture, secret: &str) -> String {
    share_link::enter(&f.ledger, secret).await.unwrap().clearance
}

async fn read(f: &Fixture, id: ShareLinkId, cookie: &str, after: u64) -> ledger::Result<Shared> {
    share_link::read(&f.ledger, id, Some(cookie), after).await
}

fn shows_nothing<T: std::fmt::Debug>(what: &str, found: ledger::Result<T>) {
    assert!(matches!(found, Err(Error::NotFound("page"))), "{what}: {found:?}");
}

async fn a_link_shows_a_session_and_its_log_in_parts(f: Fixture) {
    let session = f.running().await;
    let (id, secret) = link(&f, &f.admin, session.id).await;
    assert!(secret.starts_with("sbv_") && secret.len() > 43);
    let cookie = cookie(&f, &secret).await;
    let messages = (0..SHARED_EVENTS_MAX).map(|n| text(&format!("message {n}"))).collect();
    f.append(session.id, 1, messages).await.unwrap();
    f.append(session.id, 1, vec![event("acme.custom"), event("tool.used")]).await.unwrap();
    let first = read(&f, id, &cookie, 0).await.unwrap();
    assert_eq!((first.session.id, first.link.audience), (session.id, Audience::Session));
    let events = first.events.unwrap();
    assert_eq!((events.events.len(), events.has_more), (SHARED_EVENTS_MAX as usize, true));
    let last = events.events.last().unwrap().sequence;
    let rest = read(&f, id, &cookie, last).await.unwrap().events.unwrap();
    assert!(!rest.has_more && !rest.events.is_empty());
    let all: Vec<_> = events.events.iter().chain(&rest.events).collect();
    let said = all.iter().filter(|event| event.kind == "agent.message").count();
    assert_eq!(said, SHARED_EVENTS_MAX as usize, "each message once");
    for hidden in ["acme.custom", "tool.used", "session.claimed", "session.context_injected"] {
        assert!(all.iter().all(|event| event.kind != hidden), "{hidden}");
    }
    assert!(read(&f, id, &cookie, u64::MAX).await.unwrap().events.unwrap().events.is_empty());
    f.append(session.id, 1, vec![text("later")]).await.unwrap();
    let grown = read(&f, id, &cookie, last).await.unwrap().events.unwrap();
    assert_eq!(grown.events.len(), rest.events.len() + 1, "the log is the present one");
    share_link::enter(&f.ledger, &secret).await.unwrap();
    let listed = share_link::of_session(&f.ledger, &f.admin, session.id).await.unwrap();
    assert_eq!((listed.len(), listed[0].uses, listed[0].last_used_at.is_some()), (1, 2, true));
    f.assert_verified().await;
    f.done().await;
}

async fn a_link_to_a_run_of_a_tool_shows_no_private_value(f: Fixture) {
    let definition = json!({
        "name": "Echo", "kind": "worker", "privateFields": ["key"],
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" }, "key": { "type": "string" } } },
    });
    let definition: Change = serde_json::from_value(definition).unwrap();
    let new = NewTool { slug: Some("echo".to_owned()), definition };
    tool::create(&f.ledger, &f.operator, new).await.unwrap();
    tool::publish(&f.ledger, &f.operator, "echo", None).await.unwrap();
    let input = json!({ "text": "shown", "key": "hunter2" }).to_string();
    let input = RunTool { input: Some(input), ..RunTool::default() };
    let run = tool_run::run(&f.ledger, &f.member, "echo", input).await.unwrap();
    let (id, secret) = link(&f, &f.member, run.id).await;
    let cookie = cookie(&f, &secret).await;
    let shared = read(&f, id, &cookie, 0).await.unwrap();
    assert_eq!((shared.link.audience, shared.events.is_none()), (Audience::ToolResult, true));
    let input = shared.session.input.clone().unwrap();
    assert!(input.contains("shown") && !format!("{shared:?}").contains("hunter2"), "{shared:?}");
    let claim = Claim { agent_slugs: Some(vec!["tool:echo".to_owned()]), max: 1, lease_seconds: 30 };
    session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap();
    let done = Completion { attempt: 1, result: Some("\"done\"".to_owned()), usage: None };
    session::complete(&f.ledger, &f.worker, run.id, done).await.unwrap();
    let shared = read(&f, id, &cookie, 0).await.unwrap();
    assert_eq!(shared.session.result(), Some("\"done\""));
    assert!(!format!("{shared:?}").contains("hunter2"), "{shared:?}");
    f.done().await;
}

async fn a_link_that_is_unknown_expired_or_revoked_shows_nothing(f: Fixture) {
    let session = f.running().await;
    let (id, secret) = link(&f, &f.admin, session.id).await;
    let mut changed = secret.clone().into_bytes();
    changed[10] = if changed[10] == b'a' { b'b' } else { b'a' };
    let changed = String::from_utf8(changed).unwrap();
    for guessed in ["", "sbv_", "x", &changed, &secret.replace("sbv_", "sbf_"), &id.to_string()] {
        shows_nothing(guessed, share_link::enter(&f.ledger, guessed).await);
    }
    let opened = cookie(&f, &secret).await;
    read(&f, id, &opened, 0).await.unwrap();
    share_link::revoke(&f.ledger, &f.admin, id).await.unwrap();
    shows_nothing("a revoked link", share_link::enter(&f.ledger, &secret).await);
    shows_nothing("a browser that opened it before", read(&f, id, &opened, 0).await);
    let (id, secret) = link(&f, &f.admin, session.id).await;
    let opened = cookie(&f, &secret).await;
    f.clock.advance(TimeDelta::days(7));
    shows_nothing("an expired link", share_link::enter(&f.ledger, &secret).await);
    shows_nothing("a browser that opened it before it expired", read(&f, id, &opened, 0).await);
    f.done().await;
}

async fn a_cookie_is_for_its_own_link(f: Fixture) {
    let (one, two) = (f.running().await, f.running().await);
    let ((id, secret), (other_id, other_secret)) = (link(&f, &f.admin, one.id).await, link(&f, &f.admin, two.id).await);
    let theirs = NewSession { agent_slug: Some("scout".into()), ..NewSession::of_type(Type::Agent) };
    let theirs = session::create(&f.ledger, &f.stranger, theirs).await.unwrap();
    let (foreign_id, foreign_secret) = link(&f, &f.stranger, theirs.id).await;
    let (own, other) = (cookie(&f, &secret).await, cookie(&f, &other_secret).await);
    let foreign = cookie(&f, &foreign_secret).await;
    assert_eq!(read(&f, id, &own, 0).await.unwrap().session.id, one.id);
    assert_eq!(read(&f, foreign_id, &foreign, 0).await.unwrap().session.id, theirs.id);
    for (what, id, cookie) in [
        ("another link", other_id, &own),
        ("another link's cookie", id, &other),
        ("another workspace", foreign_id, &own),
        ("another workspace's cookie", id, &foreign),
        ("a guess", ShareLinkId(uuid::Uuid::nil()), &own),
        ("a forged cookie", id, &own.replace("v1.", "v1.9")),
        ("the secret", id, &secret),
    ] {
        shows_nothing(what, read(&f, id, cookie, 0).await);
    }
    shows_nothing("no cookie", share_link::read(&f.ledger, id, None, 0).await);
    f.done().await;
}

async fn only_the_person_of_a_session_and_admins_share_it(f: Fixture) {
    let new = NewSession { agent_slug: Some("scout".into()), ..NewSession::of_type(Type::Agent) };
    let own = session::create(&f.ledger, &f.member, new).await.unwrap();
    for (who, may) in [(&f.member, true), (&f.admin, true), (&f.operator, false), (&f.other_member, false)] {
        let made = share_link::create(&f.ledger, who, own.id, 1).await;
        assert_eq!(made.is_ok(), may, "{who:?}: {made:?}");
        assert_eq!(share_link::may_share(who, &own), may, "{who:?}");
        assert!(may || matches!(made, Err(Error::Forbidden(_))), "{who:?}: {made:?}");
    }
    let by_token = share_link::create(&f.ledger, &f.worker, own.id, 1).await;
    assert!(matches!(by_token, Err(Error::Forbidden(_))), "{by_token:?}");
    let by_system = share_link::create(&f.ledger, &Scope::system(f.admin.tenant_id), own.id, 1).await;
    assert!(matches!(by_system, Err(Error::Forbidden(_))), "{by_system:?}");
    let foreign = share_link::create(&f.ledger, &f.stranger, own.id, 1).await;
    assert!(matches!(foreign, Err(Error::NotFound("session"))), "{foreign:?}");
    for days in [0, 31] {
        let refused = share_link::create(&f.ledger, &f.member, own.id, days).await;
        let Err(Error::Invalid(issues)) = refused else { panic!("{refused:?}") };
        assert_eq!(issues[0].field, "days");
    }
    f.done().await;
}

async fn private_sessions_are_not_shared(f: Fixture) {
    // The claim takes the only session that is queued.
    let open = f.running().await;
    let hush = NewThread { incognito: true, ..new(Some("between us")) };
    let session = thread::start(&f.ledger, &f.member, hush).await.unwrap().session;
    let own = share_link::create(&f.ledger, &f.member, session.id, 1).await;
    assert!(matches!(own, Err(Error::Forbidden("private sessions cannot be shared"))), "{own:?}");
    assert!(!share_link::may_share(&f.member, &session));
    let by_admin = share_link::create(&f.ledger, &f.admin, session.id, 1).await;
    assert!(matches!(by_admin, Err(Error::NotFound(_))), "an admin does not learn of it: {by_admin:?}");
    // A link to a session that is private in spite of all shows nothing.
    let (id, secret) = link(&f, &f.admin, open.id).await;
    let opened = cookie(&f, &secret).await;
    let mut raw = f.engine.raw().await;
    raw.execute("UPDATE sessions SET private_to = 'user:x' WHERE status = 'running'").await.unwrap();
    drop(raw);
    shows_nothing("a private session", read(&f, id, &opened, 0).await);
    shows_nothing("a private session", share_link::enter(&f.ledger, &secret).await);
    f.done().await;
}

async fn what_retention_erases_is_shown_no_more(f: Fixture) {
    let session = f.running().await;
    f.append(session.id, 1, vec![text("pineapple")]).await.unwrap();
    let done = Completion { attempt: 1, result: Some("\"pineapple\"".to_owned()), usage: None };
    session::complete(&f.ledger, &f.worker, session.id, done).await.unwrap();
    let (_, secret) = link(&f, &f.admin, session.id).await;
    f.clock.advance(TimeDelta::days(3));
    let (id, late) = link(&f, &f.admin, session.id).await;
    let opened = cookie(&f, &late).await;
    assert!(format!("{:?}", read(&f, id, &opened, 0).await.unwrap()).contains("pineapple"));
    let older_than = f.ledger.now() - TimeDelta::days(2);
    retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await.unwrap();
    for secret in [&secret, &late] {
        shows_nothing("an erased session", share_link::enter(&f.ledger, secret).await);
    }
    shows_nothing("a browser that opened it before", read(&f, id, &opened, 0).await);
    let links = share_link::of_session(&f.ledger, &f.admin, session.id).await.unwrap();
    assert!(links.iter().all(|link| link.revoked_at.is_some()), "{links:?}");
    let again = share_link::create(&f.ledger, &f.admin, session.id, 1).await;
    assert!(matches!(again, Err(Error::Forbidden(_))), "{again:?}");
    f.assert_verified().await;
    f.done().await;
}

async fn links_are_listed_revoked_and_audited(f: Fixture) {
    let new = || NewSession { agent_slug: Some("scout".into()), ..NewSession::of_type(Type::Agent) };
    let own = session::create(&f.ledger, &f.member, new()).await.unwrap();
    let mut reading = Reading::begin(&f).await;
    let (first, _) = link(&f, &f.member, own.id).await;
    let entry = reading.expect(&f, &[Kind::ShareCreated]).await;
    assert_eq!(entry.target, Some((TargetKind::Session, own.id.0)));
    assert_eq!(detail(&entry), json!({ "link": first, "audience": "session", "days": 7 }));
    // Ids of one millisecond have no order.
    f.clock.advance(TimeDelta::milliseconds(1));
    let (second, _) = link(&f, &f.admin, own.id).await;
    reading.expect(&f, &[Kind::ShareCreated]).await;
    let listed = async |who: &Scope, limit: u32, cursor: Option<String>| {
        share_link::list(&f.ledger, who, ListPage { limit, cursor }).await.unwrap()
    };
    let ids = |links: &[ledger::ShareLinkRecord]| links.iter().map(|link| link.id).collect::<Vec<_>>();
    assert_eq!(ids(&listed(&f.member, 0, None).await.items), [first], "one's own");
    let page = listed(&f.admin, 1, None).await;
    assert_eq!(ids(&page.items), [second], "newest first");
    assert_eq!(ids(&listed(&f.admin, 1, page.next_cursor).await.items), [first]);
    for nobody in [&f.other_member, &f.operator, &f.stranger, &f.worker] {
        assert!(listed(nobody, 0, None).await.items.is_empty(), "{nobody:?}");
        let refused = share_link::revoke(&f.ledger, nobody, first).await;
        assert!(matches!(refused, Err(Error::NotFound("link"))), "{refused:?}");
    }
    let refused = share_link::revoke(&f.ledger, &f.member, second).await;
    assert!(matches!(refused, Err(Error::NotFound("link"))), "that of an admin: {refused:?}");
    share_link::revoke(&f.ledger, &f.admin, first).await.unwrap();
    share_link::revoke(&f.ledger, &f.member, first).await.unwrap();
    let entry = reading.expect(&f, &[Kind::ShareRevoked]).await;
    assert_eq!((entry.target, detail(&entry)), (Some((TargetKind::Session, own.id.0)), json!({ "link": first })));
    assert_eq!(ids(&share_link::of_session(&f.ledger, &f.member, own.id).await.unwrap()), [first]);
    assert_eq!(ids(&share_link::of_session(&f.ledger, &f.admin, own.id).await.unwrap()), [second, first]);
    let foreign = share_link::of_session(&f.ledger, &f.stranger, own.id).await;
    assert!(matches!(foreign, Err(Error::NotFound("session"))), "{foreign:?}");
    f.done().await;
}

async fn a_session_has_so_many_links_that_work(f: Fixture) {
    let session = f.running().await;
    let (first, _) = link(&f, &f.admin, session.id).await;
    for _ in 1..SHARE_LINKS_MAX {
        link(&f, &f.admin, session.id).await;
    }
    let refused = share_link::create(&f.ledger, &f.admin, session.id, 1).await;
    assert!(matches!(refused, Err(Error::LimitReached(_))), "{refused:?}");
    share_link::revoke(&f.ledger, &f.admin, first).await.unwrap();
    link(&f, &f.admin, session.id).await;
    f.done().await;
}

async fn no_secret_is_stored(f: Fixture) {
    let session = f.running().await;
    let (_, secret) = link(&f, &f.admin, session.id).await;
    let opened = cookie(&f, &secret).await;
    let mut raw = f.engine.raw().await;
    for column in ["hint", "created_by", "audience"] {
        let texts = raw.texts(&format!("SELECT {column} FROM share_links")).await;
        assert!(texts.iter().all(|text| text.len() < 43 && !opened.contains(text.as_str())), "{texts:?}");
    }
    let written = raw.texts("SELECT detail FROM audit_entries").await;
    assert!(written.iter().all(|text| !text.contains("sbv_")), "{written:?}");
    drop(raw);
    f.done().await;
}
