//! The context of a person's work that agents receive (P-32 in the ledger), and who may read it.

use crate::hook::{payload, send};
use chrono::TimeDelta;
use domain::{
    Scope,
    event::Event,
    id::EntityId,
    limit::{ACTIVITY_LINES_MAX, HOOK_CONTEXT_UNITS_MAX},
    role::{Role, TokenScope},
    session::Type,
};
use ledger::{
    Error, action, auth,
    canvas::{self, NewCanvas},
    event::{self as events, Append, NewEvent},
    human, member,
    memory::{self, Write},
    session::{self, Claim, ListSessions, NewSession},
    token,
};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{Fixture, human as did, on_both_engines};

on_both_engines!(
    the_block_has_the_task_and_the_last_events_with_titles,
    the_block_names_the_canvas_that_the_person_works_on,
    a_personal_token_reads_the_activity_of_its_person_and_other_tokens_do_not,
    people_have_tokens_of_their_own_that_may_at_most_what_they_may,
    a_token_of_a_person_may_no_more_than_they_may_now,
    a_claim_has_the_context_of_the_person_and_the_transcript_shows_it,
    memories_come_after_the_recent_activity_in_a_claim_and_in_a_hook,
);

async fn work(f: &Fixture, name: &str, events: Vec<NewEvent>) {
    let task = crate::human::task(f, name).await;
    let session_id = human::start(&f.ledger, &f.member, task).await.unwrap().session.id;
    if !events.is_empty() {
        events::append(&f.ledger, &f.member, Append { session_id, attempt: None, events }).await.unwrap();
    }
}

/// An entity written with SQL. This test is only about its place in the context.
async fn entity(f: &Fixture, title: &str) -> EntityId {
    let (type_id, id) = (EntityId(uuid::Uuid::from_u128(0x71)), EntityId(uuid::Uuid::from_u128(0xe1)));
    let literal = |id: uuid::Uuid| match f.engine {
        testkit::Engine::Sqlite(_) => format!("x'{}'", id.simple()),
        testkit::Engine::Postgres { .. } => format!("'{id}'"),
    };
    let (tenant, kind) = (literal(f.member.tenant_id.0), literal(type_id.0));
    let mut raw = f.engine.raw().await;
    raw.execute(&format!(
        "INSERT INTO entity_types (tenant_id, id, slug, name, fields, version, created_by, created_at, updated_at) \
         VALUES ({tenant}, {kind}, 'companies', 'Companies', '[]', 1, 'system', 0, 0)"
    ))
    .await
    .unwrap();
    raw.execute(&format!(
        "INSERT INTO entities (tenant_id, id, type_id, title, fields, version, created_by, updated_by, created_at, updated_at) \
         VALUES ({tenant}, {}, {kind}, '{title}', '{{}}', 1, 'system', 'system', 0, 0)",
        literal(id.0)
    ))
    .await
    .unwrap();
    id
}

fn inside(block: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = block.lines().skip(2).collect();
    lines.pop();
    lines
}

async fn the_block_has_the_task_and_the_last_events_with_titles(f: Fixture) {
    let block = async || human::recent_activity::block(&f.ledger, &f.member).await.unwrap();
    assert_eq!(block().await, None, "without a session there is nothing to tell");
    let acme = entity(&f, "Acme <Corp>").await;
    let page = format!("/t/acme/companies/{acme}");
    let gone = "/entities/01890000-0000-7000-8000-000000000009";
    let events = vec![
        did("human.navigate", "/today"),
        did("human.navigate", &page),
        did("human.entity_view", &page),
        did("human.entity_view", gone),
        did("human.marker", "drafting\noutreach to **Acme**"),
    ];
    work(&f, "Q2 \"review\"", events).await;
    let context = block().await.unwrap();
    assert_eq!(
        inside(&context),
        [
            "Working on: **Q2 &quot;review&quot;** (started at 08:00 UTC)",
            "Recent events:",
            "- 08:00 navigate /today",
            "- 08:00 viewed **Acme &lt;Corp&gt;** (companies)",
            &format!("- 08:00 navigate {gone}"),
            "- 08:00 marker \"drafting outreach to &#42;&#42;Acme&#42;&#42;\"",
        ]
    );
    let again = block().await.unwrap();
    assert_eq!(inside(&again), inside(&context));
    assert_ne!(again.lines().next(), context.lines().next(), "each block has a delimiter of its own");
    assert_eq!(human::recent_activity::block(&f.ledger, &f.other_member).await.unwrap(), None);
    f.clock.advance(TimeDelta::minutes(1));
    work(&f, "Mail", Vec::new()).await;
    assert_eq!(inside(&block().await.unwrap()), ["Working on: **Mail** (started at 08:01 UTC)", "Recent events:"]);
    f.done().await;
}

async fn the_block_names_the_canvas_that_the_person_works_on(f: Fixture) {
    let new = NewCanvas { title: "Launch <plan>".into(), ..NewCanvas::default() };
    let made = canvas::create(&f.ledger, &f.member, new).await.unwrap();
    let running = f.running().await;
    let [page, versions] = [format!("/canvases/{made}"), format!("/canvases/{made}/versions")];
    let other = format!("/canvases/{}", running.id);
    let pages = [page.as_str(), versions.as_str(), other.as_str(), "/canvases/new"];
    work(&f, "Launch", pages.map(|page| did("human.navigate", page)).to_vec()).await;
    let context = human::recent_activity::block(&f.ledger, &f.member).await.unwrap().unwrap();
    let viewed = "- 08:00 viewed **Launch &lt;plan&gt;** (canvas)".to_owned();
    let navigated = [format!("- 08:00 navigate {other}"), "- 08:00 navigate /canvases/new".to_owned()];
    assert_eq!(inside(&context)[2..], [viewed.clone(), viewed, navigated[0].clone(), navigated[1].clone()]);
    f.done().await;
}

async fn a_personal_token_reads_the_activity_of_its_person_and_other_tokens_do_not(f: Fixture) {
    work(&f, "Secret plans", Vec::new()).await;
    let scope_of = async |secret: String| auth::by_token(&f.ledger, &secret).await.unwrap().unwrap().scope;
    let by_operator = token::create_by_operator(
        &f.ledger,
        "acme",
        "mia's laptop",
        Role::Member,
        Some(TokenScope::Worker),
        Some("mia@acme.test"),
    );
    let mias = scope_of(by_operator.await.unwrap().1).await;
    assert_eq!((mias.on_behalf_of, mias.user_id()), (f.member.user_id(), None));
    let context = human::recent_activity::block(&f.ledger, &mias).await.unwrap().unwrap();
    assert!(context.contains("Secret plans"));
    // A session that the token starts belongs to the person, but its creator is the token.
    let made = session::create(&f.ledger, &mias, NewSession::of_type(Type::Agent)).await.unwrap();
    assert_eq!((made.user_id, made.created_by.starts_with("token:")), (f.member.user_id(), true));
    let (record, secret) = token::create_personal(&f.ledger, &f.admin, "mine", Role::Admin, None).await.unwrap();
    assert_eq!(record.user_id, f.admin.user_id());
    let admins = scope_of(secret).await;
    assert_eq!(human::recent_activity::block(&f.ledger, &admins).await.unwrap(), None);
    let listed = token::list(&f.ledger, &f.admin).await.unwrap();
    assert_eq!(listed.iter().filter(|token| token.user_id.is_some()).count(), 2);
    let refused = human::recent_activity::block(&f.ledger, &f.worker).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let outsider = token::create_by_operator(&f.ledger, "acme", "x", Role::Member, None, Some("sam@other.test")).await;
    assert!(matches!(&outsider, Err(Error::Invalid(fields)) if fields[0].field == "user"), "{outsider:?}");
    // A token is not a person, even if it acts for one.
    let refused = token::create_personal(&f.ledger, &admins, "mine", Role::Member, None).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    f.done().await;
}

async fn a_token_of_a_person_may_no_more_than_they_may_now(f: Fixture) {
    let worker = Some(TokenScope::Worker);
    let (_, whole) = token::create_personal(&f.ledger, &f.operator, "all", Role::Operator, None).await.unwrap();
    let (narrowed, work) = token::create_personal(&f.ledger, &f.operator, "ci", Role::Member, worker).await.unwrap();
    assert_eq!(narrowed.role, Role::Operator, "the role of its person");
    let scope_of = async |secret: &str| auth::by_token(&f.ledger, secret).await.unwrap().map(|known| known.scope.role);
    assert_eq!((scope_of(&whole).await, scope_of(&work).await), (Some(Role::Operator), Some(Role::Operator)));

    let is_operator = |member: &ledger::MemberRecord| Some(member.user_id) == f.operator.user_id();
    let members = member::list(&f.ledger, &f.admin).await.unwrap();
    let operator = members.into_iter().find(is_operator).unwrap().user_id;
    member::set_role(&f.ledger, &f.admin, operator, Role::Reviewer).await.unwrap();
    f.clock.advance(TimeDelta::seconds(2));
    assert_eq!((scope_of(&whole).await, scope_of(&work).await), (Some(Role::Reviewer), None));
    f.done().await;
}

async fn people_have_tokens_of_their_own_that_may_at_most_what_they_may(f: Fixture) {
    let worker = Some(TokenScope::Worker);
    let (mine, secret) = token::create_personal(&f.ledger, &f.member, "laptop", Role::Member, None).await.unwrap();
    assert_eq!(mine.user_id, f.member.user_id());
    let scope = auth::by_token(&f.ledger, &secret).await.unwrap().unwrap().scope;
    assert_eq!((scope.role, scope.on_behalf_of), (Role::Member, f.member.user_id()));
    for (who, role, narrowed) in [
        (f.member, Role::Operator, None),
        (f.member, Role::Reviewer, None),
        (f.member, Role::Member, worker),
        (f.operator, Role::Admin, None),
    ] {
        let refused = token::create_personal(&f.ledger, &who, "more", role, narrowed).await;
        assert!(matches!(&refused, Err(Error::Invalid(fields)) if fields[0].field == "role"), "{refused:?}");
    }
    let (theirs, _) = token::create_personal(&f.ledger, &f.operator, "ci", Role::Operator, worker).await.unwrap();

    // Each person sees and revokes their own tokens. Admins see and revoke all.
    let names = async |who| {
        let listed = token::list(&f.ledger, who).await.unwrap();
        listed.into_iter().map(|token| token.name).collect::<Vec<_>>()
    };
    assert_eq!((names(&f.member).await, names(&f.operator).await), (vec!["laptop".to_owned()], vec!["ci".to_owned()]));
    assert!(names(&f.admin).await.len() >= 3);
    let stopped = token::revoke(&f.ledger, &f.member, theirs.id).await;
    assert!(matches!(stopped, Err(Error::NotFound("token"))), "{stopped:?}");
    assert!(token::list(&f.ledger, &f.operator).await.unwrap()[0].revoked_at.is_none());
    token::revoke(&f.ledger, &f.member, mine.id).await.unwrap();
    assert!(auth::by_token(&f.ledger, &secret).await.unwrap().is_none());
    token::revoke(&f.ledger, &f.admin, theirs.id).await.unwrap();
    let refused = token::list(&f.ledger, &f.worker).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    f.done().await;
}

async fn a_claim_has_the_context_of_the_person_and_the_transcript_shows_it(f: Fixture) {
    let claim = async || {
        let claim = Claim { agent_slugs: None, max: 10, lease_seconds: 60 };
        session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap()
    };
    let trigger = async |who: &Scope| {
        // Claims take the oldest session first.
        f.clock.advance(TimeDelta::milliseconds(1));
        let new = NewSession { agent_slug: Some("scout".into()), ..NewSession::of_type(Type::Agent) };
        session::create(&f.ledger, who, new).await.unwrap()
    };
    trigger(&f.member).await;
    let idle = claim().await.remove(0);
    assert_eq!(idle.context, None, "its person works on nothing");
    assert!(f.log(idle.session.id).await.iter().all(|e| e.kind != "session.context_injected"));
    work(&f, "Review", vec![did("human.marker", "numbers look odd")]).await;
    trigger(&f.member).await;
    trigger(&f.other_member).await;
    trigger(&f.worker).await;
    let claimed = claim().await;
    let [mine, theirs, programs] = &claimed[..] else { panic!("{claimed:?}") };
    assert_eq!((theirs.context.as_ref(), programs.context.as_ref()), (None, None));
    let context = mine.context.as_ref().unwrap();
    assert!(context.contains("marker \"numbers look odd\"") && context.contains("untrusted=\"true\""));
    let log = f.log(mine.session.id).await;
    let kinds: Vec<_> = log.iter().map(|e| e.kind.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "session.created",
            "session.status_change",
            "session.claimed",
            "session.context_injected",
            "session.status_change"
        ]
    );
    let parts: Value = serde_json::from_str(&log[3].content).unwrap();
    assert_eq!(parts[0]["text"].as_str(), Some(context.as_str()), "the transcript shows what the agent was told");
    let active = human::active(&f.ledger, &f.member).await.unwrap().unwrap();
    assert!(log[3].metadata.contains(&active.session.id.to_string()));
    // A session that a personal token creates belongs to the token's person.
    let own_token = Scope { on_behalf_of: f.member.user_id(), ..f.worker };
    trigger(&own_token).await;
    assert!(claim().await[0].context.is_some());
    assert!(action::list(&f.ledger, &f.member, Default::default()).await.unwrap().items.len() == 1);
    f.assert_verified().await;
    f.done().await;
}

/// Asserts that the agent was given the recent activity first, in its context and in the log.
fn assert_activity_first(context: &str, log: &[Event]) {
    let (activity, memory) = (context.find("Recent events:").unwrap(), context.find("<memory").unwrap());
    assert!(activity < memory, "{context}");
    let injected = log.iter().filter(|event| event.kind == "session.context_injected");
    let kinds: Vec<Value> = injected.map(|event| serde_json::from_str(&event.metadata).unwrap()).collect();
    assert_eq!(kinds.len(), 2, "{kinds:?}");
    assert!(kinds[0]["context"] != "memory" && kinds[1]["context"] == "memory", "{kinds:?}");
}

async fn memories_come_after_the_recent_activity_in_a_claim_and_in_a_hook(f: Fixture) {
    let text = format!("# Launch\n\n- The launch is on Friday {}\n", "at noon ".repeat(30));
    for agent in ["scout", "claude-code"] {
        for number in 0..8 {
            let path = memory::path(&format!("topics/launch{number}.md")).unwrap();
            let write = Write { text: text.clone(), ..Write::default() };
            memory::write(&f.ledger, &f.operator, agent, path, write).await.unwrap();
        }
    }
    let note = "*".repeat(70);
    work(&f, "Review", vec![did("human.marker", &note); ACTIVITY_LINES_MAX]).await;

    let title = Some("Plan the launch".to_owned());
    let new = NewSession { agent_slug: Some("scout".into()), title, ..NewSession::of_type(Type::Agent) };
    session::create(&f.ledger, &f.member, new).await.unwrap();
    let claim = Claim { agent_slugs: None, max: 1, lease_seconds: 60 };
    let claimed = session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap().remove(0);
    let whole = claimed.context.unwrap();
    assert_activity_first(&whole, &f.log(claimed.session.id).await);

    let prompt = payload("UserPromptSubmit", json!({ "prompt": "When is the launch?" }));
    let context = send(&f, &f.member, prompt).await.unwrap().additional_context.unwrap();
    let wanted = ListSessions { agent_slug: Some("claude-code".into()), ..ListSessions::default() };
    let listed = session::list(&f.ledger, &f.admin, wanted).await.unwrap().items;
    assert_activity_first(&context, &f.log(listed[0].id).await);
    let units = context.encode_utf16().count();
    assert!(units <= HOOK_CONTEXT_UNITS_MAX, "{units}");
    f.assert_verified().await;
    f.done().await;
}
