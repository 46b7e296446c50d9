//! P-23: people write only `human.*` events, and only to their own running mixed session. On PostgreSQL, row-level
//! security enforces it too.

use domain::{
    Scope,
    event::{Author, Kind, Known, may_write},
    session::{Status, Type},
};
use ledger::{
    event::{self as events, Append},
    session::{self, NewSession},
};
use serde_json::{json, value::RawValue};
use testkit::{Fixture, event, human, on_both_engines};

on_both_engines!(
    people_write_only_human_events_to_their_own_running_mixed_session,
    a_human_event_of_the_wrong_shape_is_refused_by_its_field,
    a_path_is_recorded_without_its_query_once_however_often_it_is_sent,
);

/// The kinds that a browser writes.
const OF_PEOPLE: [&str; 4] = ["human.navigate", "human.entity_view", "human.marker", "human.task_switch"];

/// A valid event of this kind. It can only be refused because of its author.
fn proper(kind: &str) -> events::NewEvent {
    match kind {
        "human.entity_view" => human(kind, "/entities/01890000-0000-7000-8000-000000000001"),
        "human.navigate" | "human.marker" | "human.task_switch" => human(kind, "/x"),
        _ => event(kind),
    }
}

async fn people_write_only_human_events_to_their_own_running_mixed_session(f: Fixture) {
    let mut raw = f.engine.raw().await;
    let own_token = Scope { on_behalf_of: f.member.user_id(), ..f.worker };
    let callers = [
        ("owner", f.member),
        ("member", f.other_member),
        ("operator", f.operator),
        ("admin", f.admin),
        ("worker token", f.worker),
        ("the owner's token", own_token),
        ("stranger", f.stranger),
    ];
    let kinds: Vec<&str> =
        Known::ALL.map(Known::as_str).into_iter().chain(["human.custom", "humanoid.marker", "acme.human"]).collect();
    let mut accepted_count = 0;
    for session_type in Type::ALL {
        // A final row cannot be changed, so each final status needs its own session.
        for status in Status::ALL {
            let title = format!("{session_type} {status}");
            let new = NewSession {
                agent_slug: Some("scout".into()),
                title: Some(title.clone()),
                ..NewSession::of_type(Type::Agent)
            };
            let session = session::create(&f.ledger, &f.member, new).await.unwrap();
            // Not every type and status can be reached with commands, so the test changes the row itself.
            let change = format!("status = '{status}', session_type = '{session_type}'");
            raw.execute(&format!("UPDATE sessions SET {change} WHERE title = '{title}'")).await.unwrap();
            for (name, caller) in callers {
                for kind in &kinds {
                    let append = Append { session_id: session.id, attempt: None, events: vec![proper(kind)] };
                    let accepted = events::append(&f.ledger, &caller, append).await.is_ok();
                    let person = Author::Person { owner: name == "owner" };
                    let rule = may_write(person, session_type, status, &Kind::parse(kind).unwrap());
                    assert_eq!(accepted, rule.is_ok(), "{name} writing {kind} to {title}");
                    let expected = name == "owner" && OF_PEOPLE.contains(kind) && title == "mixed running";
                    assert_eq!(accepted, expected, "{name} writing {kind} to {title}");
                    accepted_count += usize::from(accepted);
                }
            }
        }
    }
    assert_eq!(accepted_count, 4, "the known kinds");
    f.done().await;
}

async fn a_human_event_of_the_wrong_shape_is_refused_by_its_field(f: Fixture) {
    let task = crate::human::task(&f, "Mine").await;
    let id = ledger::human::start(&f.ledger, &f.member, task).await.unwrap().session.id;
    let long = format!("/{}", "x".repeat(2_048));
    let ahead = |seconds| f.ledger.now() + chrono::TimeDelta::seconds(seconds);
    let noted = json!({ "pathname": "/x", "at": ahead(301) }).to_string();
    let early = events::NewEvent { metadata: Some(RawValue::from_string(noted).unwrap()), ..event("human.navigate") };
    let spoken = events::NewEvent { role: Some(domain::event::EventRole::Agent), ..proper("human.marker") };
    for (wrong, field) in [
        (human("human.navigate", "https://elsewhere.test/"), "events[1].metadata.pathname"),
        (human("human.navigate", &long), "events[1].metadata.pathname"),
        (human("human.entity_view", "/entities/acme-corp"), "events[1].metadata.entityId"),
        (human("human.marker", "  "), "events[1].content"),
        (human("human.marker", &"x".repeat(2_001)), "events[1].content"),
        (event("human.navigate"), "events[1].metadata.pathname"),
        (spoken, "events[1].role"),
        (human("human.scroll", "/x"), "events[1].type"),
        (early, "events[1].metadata.at"),
        (events::NewEvent { at: Some(ahead(301)), ..proper("human.marker") }, "events[1].at"),
    ] {
        let events = vec![proper("human.marker"), wrong];
        let refused = events::append(&f.ledger, &f.member, Append { session_id: id, attempt: None, events }).await;
        assert!(
            matches!(&refused, Err(ledger::Error::Invalid(fields)) if fields[0].field == field),
            "{field}: {refused:?}"
        );
    }
    assert_eq!(f.log(id).await.len(), 2, "nothing of a refused batch is recorded");
    f.done().await;
}

async fn a_path_is_recorded_without_its_query_once_however_often_it_is_sent(f: Fixture) {
    let task = crate::human::task(&f, "Mine").await;
    let id = ledger::human::start(&f.ledger, &f.member, task).await.unwrap().session.id;
    let at = f.ledger.now() + chrono::TimeDelta::seconds(300);
    let sent = json!({ "at": at, "pathname": "/sessions?q=secret#top" }).to_string();
    let event_id = domain::id::EventId::new(f.ledger.now(), &testkit::SeededEntropy::new(7));
    for _ in 0..2 {
        let metadata = Some(RawValue::from_string(sent.clone()).unwrap());
        let visit = events::NewEvent { id: Some(event_id), metadata, ..event("human.navigate") };
        let append = Append { session_id: id, attempt: None, events: vec![visit] };
        events::append(&f.ledger, &f.member, append).await.unwrap();
    }
    let log = f.log(id).await;
    assert_eq!(log.len(), 3);
    let kept: serde_json::Value = serde_json::from_str(&log[2].metadata).unwrap();
    assert_eq!(kept, json!({ "at": at, "pathname": "/sessions" }));
    f.assert_verified().await;
    f.done().await;
}

/// PostgreSQL only: rows written over a direct connection with the application's role, workspace and person.
#[tokio::test]
async fn row_level_security_lets_only_the_owner_write_human_events() {
    let f = Fixture::postgres().await;
    let mut raw = f.engine.raw().await;
    let id_of = |who: &Scope| who.user_id().unwrap().to_string();
    let (acme, other) = (f.member.tenant_id.to_string(), f.stranger.tenant_id.to_string());
    // Workspace, person and system flag of the connection. Without a person, and as the system, it is no person.
    let speakers = [
        ("owner", &acme, id_of(&f.member), "off"),
        ("member", &acme, id_of(&f.other_member), "off"),
        ("operator", &acme, id_of(&f.operator), "off"),
        ("admin", &acme, id_of(&f.admin), "off"),
        ("nobody", &acme, String::new(), "off"),
        ("system", &acme, String::new(), "on"),
        ("stranger", &other, id_of(&f.stranger), "off"),
        ("owner elsewhere", &other, id_of(&f.member), "off"),
    ];
    let mut accepted = Vec::new();
    let mut sequence = 1_000;
    for session_type in Type::ALL {
        for status in Status::ALL {
            let new = NewSession { agent_slug: Some("scout".into()), ..NewSession::of_type(Type::Agent) };
            let session = session::create(&f.ledger, &f.member, new).await.unwrap();
            let change = format!("status = '{status}', session_type = '{session_type}'");
            raw.execute(&format!("UPDATE sessions SET {change} WHERE id = '{}'", session.id)).await.unwrap();
            for (name, tenant, user, system) in &speakers {
                for kind in OF_PEOPLE.into_iter().chain(["human.custom"]) {
                    sequence += 1;
                    let insert = format!(
                        "BEGIN; SET LOCAL ROLE shiftbook_app; SELECT set_config('app.tenant', '{tenant}', true), \
                         set_config('app.user', '{user}', true), set_config('app.system', '{system}', true); \
                         INSERT INTO session_events (tenant_id, session_id, sequence, event_id, event_type, role, content, \
                         metadata, actor, at, recorded_at, body_digest, digest) VALUES ('{acme}', '{}', {sequence}, \
                         gen_random_uuid(), '{kind}', 'user', '[]', '{{}}', 'user', 0, 0, ''::bytea, ''::bytea); COMMIT",
                        session.id
                    );
                    let inserted = raw.execute(&insert).await;
                    raw.execute("ROLLBACK").await.unwrap();
                    match inserted {
                        Ok(_) => accepted.push(format!("{name} {session_type}/{status} {kind}")),
                        Err(error) => assert!(error.to_string().contains("row-level security"), "{error}"),
                    }
                }
            }
        }
    }
    let expected: Vec<_> =
        OF_PEOPLE.into_iter().chain(["human.custom"]).map(|kind| format!("owner mixed/running {kind}")).collect();
    assert_eq!(accepted, expected);
    f.done().await;
}
