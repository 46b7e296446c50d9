//! Links with which people without an account run a tool: who makes them, what they allow, and when they stop.

use crate::{
    audit::{Reading, detail},
    tool_run::echo,
};
use chrono::TimeDelta;
use domain::{
    audit::{Kind, TargetKind},
    id::{SessionId, ToolLinkId},
    limit::{TOOL_LINK_RUNS_PER_HOUR_MAX, TOOL_LINKS_MAX},
    session::{Session, Status},
};
use ledger::{
    Error,
    session::{self, Claim, Completion},
    tool::{self, NewTool, ToolChange},
    tool_link::{self, Cookies},
};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{Fixture, on_both_engines};
use uuid::Uuid;

on_both_engines!(
    a_link_runs_its_tool_and_shows_the_result_to_that_browser_alone,
    a_run_by_a_link_keeps_no_private_value,
    the_published_version_must_allow_links,
    a_composite_tool_has_links_if_each_of_its_tools_allows_them,
    a_link_that_is_unknown_expired_or_revoked_runs_nothing,
    a_posted_form_must_carry_the_key_of_its_browser_and_link,
    one_page_runs_once,
    a_link_begins_so_many_runs_in_an_hour,
    only_people_who_manage_tools_make_links,
    links_are_listed_revoked_and_audited,
    a_tool_has_so_many_links_that_work,
    a_link_that_works_is_listed_however_many_were_made_since,
);

/// Publishes a tool whose audience allows links, with these parts changed.
async fn published(f: &Fixture, slug: &str, more: Value) {
    let mut definition = echo(json!({ "audience": { "link": true } }));
    definition.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let definition = serde_json::from_value(definition).unwrap();
    tool::create(&f.ledger, &f.operator, NewTool { slug: Some(slug.to_owned()), definition }).await.unwrap();
    tool::publish(&f.ledger, &f.operator, slug, None).await.unwrap();
}

async fn link(f: &Fixture, slug: &str) -> (ToolLinkId, String) {
    let (made, secret) = tool_link::create(&f.ledger, &f.operator, slug, 7).await.unwrap();
    (made.id, secret)
}

/// A browser that opened a link.
struct Opener {
    browser: String,
    clearance: String,
}

impl Opener {
    async fn of(f: &Fixture, secret: &str) -> Self {
        let entered = tool_link::enter(&f.ledger, secret, None).await.unwrap();
        Self { browser: entered.browser, clearance: entered.clearance }
    }

    fn cookies(&self) -> Cookies<'_> {
        Cookies { browser: Some(&self.browser), clearance: Some(&self.clearance) }
    }

    async fn run_page(&self, f: &Fixture, id: ToolLinkId, input: Value, page: Option<&str>) -> ledger::Result<Session> {
        let opened = tool_link::open(&f.ledger, id, self.cookies(), None).await?;
        tool_link::run(&f.ledger, &opened, Some(input.to_string()), page).await
    }

    async fn run(&self, f: &Fixture, id: ToolLinkId, input: Value) -> ledger::Result<Session> {
        self.run_page(f, id, input, None).await
    }

    async fn result(&self, f: &Fixture, id: ToolLinkId, run: SessionId) -> ledger::Result<Session> {
        tool_link::result(&f.ledger, id, self.cookies(), run).await.map(|run| run.session)
    }
}

fn shows_nothing<T: std::fmt::Debug>(what: &str, found: ledger::Result<T>) {
    assert!(matches!(found, Err(Error::NotFound("page"))), "{what}: {found:?}");
}

async fn a_link_runs_its_tool_and_shows_the_result_to_that_browser_alone(f: Fixture) {
    published(&f, "echo", json!({})).await;
    let (id, secret) = link(&f, "echo").await;
    assert!(secret.starts_with("sbr_") && secret.len() > 43);
    let (ours, other) = (Opener::of(&f, &secret).await, Opener::of(&f, &secret).await);
    let run = ours.run(&f, id, json!({ "text": "hello" })).await.unwrap();
    assert_eq!((run.status(), run.agent_slug.as_deref()), (Status::Pending, Some("tool:echo")));
    assert!(run.created_by.starts_with("respondent:") && run.user_id.is_none(), "{run:?}");
    let seen = session::get(&f.ledger, &f.member, run.id).await.unwrap();
    assert_eq!(seen.created_by, run.created_by, "those who see the runs of the tool see it");
    let events = f.log(run.id).await;
    let opened = events.iter().find(|event| event.kind == "tool.session_started").unwrap();
    assert!(opened.metadata.contains(&format!("\"linkId\":\"{id}\"")), "{opened:?}");
    let claim = Claim { agent_slugs: Some(vec!["tool:echo".to_owned()]), max: 1, lease_seconds: 30 };
    session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap();
    let large = json!("x".repeat(300 * 1024)).to_string();
    let done = Completion { attempt: 1, result: Some(large.clone()), usage: None };
    session::complete(&f.ledger, &f.worker, run.id, done).await.unwrap();
    assert_eq!(ours.result(&f, id, run.id).await.unwrap().result(), Some(large.as_str()), "also a large one");
    shows_nothing("another browser", other.result(&f, id, run.id).await);
    let (second, second_secret) = link(&f, "echo").await;
    let by_second = Opener::of(&f, &second_secret).await;
    shows_nothing("another link", by_second.result(&f, second, run.id).await);
    let of_member = f.running().await;
    shows_nothing("a session of the workspace", ours.result(&f, id, of_member.id).await);
    let listed = tool_link::list(&f.ledger, &f.operator, "echo").await.unwrap();
    let first = listed.iter().find(|listed| listed.id == id).unwrap();
    assert_eq!((first.uses, first.runs, first.last_used_at.is_some()), (2, 1, true));
    f.assert_verified().await;
    f.done().await;
}

async fn a_run_by_a_link_keeps_no_private_value(f: Fixture) {
    published(&f, "echo", json!({ "privateFields": ["text"] })).await;
    let (id, secret) = link(&f, "echo").await;
    let ours = Opener::of(&f, &secret).await;
    let run = ours.run(&f, id, json!({ "text": "hunter2", "times": 2 })).await.unwrap();
    let shown = ours.result(&f, id, run.id).await.unwrap();
    assert!(!format!("{shown:?}").contains("hunter2"), "{shown:?}");
    assert!(shown.input.unwrap().contains("times"));
    let claim = Claim { agent_slugs: Some(vec!["tool:echo".to_owned()]), max: 1, lease_seconds: 30 };
    let claimed = session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap();
    assert!(format!("{claimed:?}").contains("hunter2"), "the worker gets it");
    f.done().await;
}

async fn the_published_version_must_allow_links(f: Fixture) {
    published(&f, "echo", json!({ "audience": {} })).await;
    let refused = tool_link::create(&f.ledger, &f.admin, "echo", 7).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    published(&f, "open", json!({ "audience": { "roles": ["admin"], "link": true } })).await;
    let (id, secret) = link(&f, "open").await;
    let ours = Opener::of(&f, &secret).await;
    let begun = ours.run(&f, id, json!({})).await.unwrap();
    let opened = tool_link::open(&f.ledger, id, ours.cookies(), None).await.unwrap();
    let closed = serde_json::from_value(json!({ "audience": {} })).unwrap();
    tool::update(&f.ledger, &f.operator, "open", ToolChange { revision: 1, definition: closed }).await.unwrap();
    ours.run(&f, id, json!({})).await.expect("the published version still allows it");
    ours.result(&f, id, begun.id).await.expect("the same for a result");
    tool::publish(&f.ledger, &f.operator, "open", None).await.unwrap();
    shows_nothing("a run", tool_link::run(&f.ledger, &opened, None, None).await);
    shows_nothing("the form", ours.run(&f, id, json!({})).await);
    shows_nothing("a result", ours.result(&f, id, begun.id).await);
    shows_nothing("the secret", tool_link::enter(&f.ledger, &secret, None).await);
    published(&f, "gone", json!({})).await;
    let (id, secret) = link(&f, "gone").await;
    let ours = Opener::of(&f, &secret).await;
    let begun = ours.run(&f, id, json!({})).await.unwrap();
    tool::unpublish(&f.ledger, &f.operator, "gone").await.unwrap();
    shows_nothing("an unpublished tool", ours.run(&f, id, json!({})).await);
    shows_nothing("a result of an unpublished tool", ours.result(&f, id, begun.id).await);
    tool::publish(&f.ledger, &f.operator, "gone", None).await.unwrap();
    ours.result(&f, id, begun.id).await.expect("published again");
    f.done().await;
}

async fn a_composite_tool_has_links_if_each_of_its_tools_allows_them(f: Fixture) {
    published(&f, "echo", json!({ "audience": {} })).await;
    let steps = json!({ "kind": "composite", "composite": { "steps": [{ "name": "one", "tool": "echo" }] } });
    published(&f, "both", steps).await;
    let refused = tool_link::create(&f.ledger, &f.admin, "both", 7).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    f.done().await;
}

async fn a_link_that_is_unknown_expired_or_revoked_runs_nothing(f: Fixture) {
    published(&f, "echo", json!({})).await;
    let (id, secret) = link(&f, "echo").await;
    for guessed in ["", "sbr_", "x", &secret.replace("sbr_", "sbf_"), &secret.replace("sbr_", "sbv_"), &id.to_string()]
    {
        shows_nothing(guessed, tool_link::enter(&f.ledger, guessed, None).await);
    }
    let ours = Opener::of(&f, &secret).await;
    let run = ours.run(&f, id, json!({})).await.unwrap();
    shows_nothing("no cookies", tool_link::open(&f.ledger, id, Cookies::default(), None).await);
    tool_link::revoke(&f.ledger, &f.operator, id).await.unwrap();
    shows_nothing("revoked", tool_link::enter(&f.ledger, &secret, None).await);
    shows_nothing("revoked", ours.run(&f, id, json!({})).await);
    shows_nothing("revoked", ours.result(&f, id, run.id).await);
    let (id, secret) = link(&f, "echo").await;
    let ours = Opener::of(&f, &secret).await;
    let opened = tool_link::open(&f.ledger, id, ours.cookies(), None).await.unwrap();
    f.clock.advance(TimeDelta::days(7));
    shows_nothing("expired", tool_link::enter(&f.ledger, &secret, None).await);
    shows_nothing("expired", ours.run(&f, id, json!({})).await);
    shows_nothing("expired while the form was open", tool_link::run(&f.ledger, &opened, None, None).await);
    f.done().await;
}

async fn a_posted_form_must_carry_the_key_of_its_browser_and_link(f: Fixture) {
    published(&f, "echo", json!({})).await;
    let (id, secret) = link(&f, "echo").await;
    let (ours, other) = (Opener::of(&f, &secret).await, Opener::of(&f, &secret).await);
    let key = tool_link::open(&f.ledger, id, ours.cookies(), None).await.unwrap().form_key;
    tool_link::open(&f.ledger, id, ours.cookies(), Some(&key)).await.unwrap();
    shows_nothing("without a key", tool_link::open(&f.ledger, id, ours.cookies(), Some("")).await);
    shows_nothing("of another browser", tool_link::open(&f.ledger, id, other.cookies(), Some(&key)).await);
    let mixed = Cookies { clearance: Some(&ours.clearance), ..other.cookies() };
    shows_nothing("the clearance of another browser", tool_link::open(&f.ledger, id, mixed, None).await);
    let again = tool_link::enter(&f.ledger, &secret, Some(&ours.browser)).await.unwrap();
    assert_eq!(again.browser, ours.browser, "a browser that opens the link again is known");
    f.done().await;
}

async fn one_page_runs_once(f: Fixture) {
    published(&f, "echo", json!({})).await;
    let (id, secret) = link(&f, "echo").await;
    let (ours, other) = (Opener::of(&f, &secret).await, Opener::of(&f, &secret).await);
    let page = Uuid::from_u128(7).to_string();
    let input = json!({ "text": "a" });
    let first = ours.run_page(&f, id, input.clone(), Some(&page)).await.unwrap();
    let repeat = ours.run_page(&f, id, input.clone(), Some(&page)).await.unwrap();
    assert_eq!(repeat.id, first.id);
    let changed = ours.run_page(&f, id, json!({ "text": "b" }), Some(&page)).await;
    assert!(matches!(changed, Err(Error::IdConflict { .. })), "{changed:?}");
    let of_other = other.run_page(&f, id, input, Some(&page)).await.unwrap();
    assert_ne!(of_other.id, first.id, "a page of another browser");
    assert_eq!(tool_link::list(&f.ledger, &f.operator, "echo").await.unwrap()[0].runs, 2);
    f.done().await;
}

async fn a_link_begins_so_many_runs_in_an_hour(f: Fixture) {
    published(&f, "echo", json!({})).await;
    let (id, secret) = link(&f, "echo").await;
    let ours = Opener::of(&f, &secret).await;
    for _ in 0..TOOL_LINK_RUNS_PER_HOUR_MAX {
        ours.run(&f, id, json!({})).await.unwrap();
    }
    let other = Opener::of(&f, &secret).await;
    let over = other.run(&f, id, json!({})).await;
    assert!(matches!(over, Err(Error::LimitReached(_))), "the limit is that of the link: {over:?}");
    let (second, second_secret) = link(&f, "echo").await;
    Opener::of(&f, &second_secret).await.run(&f, second, json!({})).await.expect("another link has its own");
    f.clock.advance(TimeDelta::hours(1));
    ours.run(&f, id, json!({})).await.expect("an hour later it begins runs again");
    f.done().await;
}

async fn only_people_who_manage_tools_make_links(f: Fixture) {
    published(&f, "echo", json!({})).await;
    for (who, caller) in [("a member", &f.member), ("a worker", &f.worker)] {
        let refused = tool_link::create(&f.ledger, caller, "echo", 7).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{who}: {refused:?}");
        let listed = tool_link::list(&f.ledger, caller, "echo").await;
        assert!(matches!(listed, Err(Error::Forbidden(_))), "{who}: {listed:?}");
    }
    for days in [0, 31] {
        let refused = tool_link::create(&f.ledger, &f.operator, "echo", days).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{days}: {refused:?}");
    }
    let (id, _) = link(&f, "echo").await;
    let refused = tool_link::revoke(&f.ledger, &f.member, id).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    f.done().await;
}

async fn links_are_listed_revoked_and_audited(f: Fixture) {
    published(&f, "echo", json!({})).await;
    let mut reading = Reading::begin(&f).await;
    let (id, secret) = link(&f, "echo").await;
    let made = reading.expect(&f, &[Kind::ToolLinkCreated]).await;
    assert_eq!(made.target.map(|(kind, _)| kind), Some(TargetKind::Tool));
    assert_eq!(detail(&made), json!({ "link": id, "days": 7 }));
    assert!(!format!("{made:?}").contains(&secret));
    for _ in 0..2 {
        tool_link::revoke(&f.ledger, &f.admin, id).await.unwrap();
    }
    let revoked = reading.expect(&f, &[Kind::ToolLinkRevoked]).await;
    assert_eq!(detail(&revoked), json!({ "link": id }));
    let listed = tool_link::list(&f.ledger, &f.operator, "echo").await.unwrap();
    assert!(listed.len() == 1 && listed[0].revoked_at.is_some(), "{listed:?}");
    let unknown = tool_link::revoke(&f.ledger, &f.admin, ToolLinkId(Uuid::nil())).await;
    assert!(matches!(unknown, Err(Error::NotFound("link"))), "{unknown:?}");
    f.done().await;
}

async fn a_tool_has_so_many_links_that_work(f: Fixture) {
    published(&f, "echo", json!({})).await;
    let (first, _) = link(&f, "echo").await;
    for _ in 1..TOOL_LINKS_MAX {
        link(&f, "echo").await;
    }
    let over = tool_link::create(&f.ledger, &f.operator, "echo", 7).await;
    assert!(matches!(over, Err(Error::LimitReached(_))), "{over:?}");
    tool_link::revoke(&f.ledger, &f.operator, first).await.unwrap();
    link(&f, "echo").await;
    f.done().await;
}

async fn a_link_that_works_is_listed_however_many_were_made_since(f: Fixture) {
    published(&f, "echo", json!({})).await;
    let (first, _) = link(&f, "echo").await;
    // Links of one moment are in no order.
    f.clock.advance(TimeDelta::milliseconds(2));
    for _ in 0..100 {
        let (id, _) = link(&f, "echo").await;
        tool_link::revoke(&f.ledger, &f.operator, id).await.unwrap();
    }
    let listed = async || tool_link::list(&f.ledger, &f.operator, "echo").await.unwrap();
    let links = listed().await;
    assert_eq!((links.len(), links[100].id), (101, first));
    tool_link::revoke(&f.ledger, &f.operator, first).await.unwrap();
    let links = listed().await;
    assert!(links.len() == 100 && links.iter().all(|link| link.id != first), "the newest alone");
    f.done().await;
}
