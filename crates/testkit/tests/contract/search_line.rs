//! Search lines: which sessions each field and operator selects, in lists and beside words.

use crate::{
    search::{found_by, indexed, search_for},
    thread::new,
};
use chrono::TimeDelta;
use domain::{
    Scope,
    id::SessionId,
    search::Field,
    session::{Session, Type},
};
use ledger::{
    Error, Listed,
    action::{self, NewAction},
    auth,
    search::{SearchEvents, SearchLine, events},
    session::{self, Completion, Failure, ListSessions, NewSession},
    thread::{self, NewThread},
};
use serde_json::json;
use testkit::{Fixture, on_both_engines, text};

on_both_engines!(
    each_field_selects_sessions_by_its_own_rule,
    a_model_is_found_by_a_part_of_a_name_that_the_usage_has,
    words_are_found_in_titles_and_in_events,
    lists_of_many_sizes_are_narrowed_page_by_page,
    days_are_those_of_the_time_zone_that_is_named,
    people_are_found_by_name_word_address_and_me,
    nothing_of_others_is_found_by_any_line,
    a_line_that_is_none_is_refused_with_its_place_and_what_exists,
    hostile_values_are_only_values,
    events_are_narrowed_by_the_same_conditions,
);

fn asking(text: &str) -> ListSessions {
    let query = SearchLine { text: text.to_owned(), timezone: None };
    ListSessions { query: Some(query), limit: 1_000, ..ListSessions::default() }
}

async fn list(f: &Fixture, who: &Scope, text: &str) -> ledger::Result<Listed<Session>> {
    session::list(&f.ledger, who, asking(text)).await
}

async fn found(f: &Fixture, text: &str) -> Vec<SessionId> {
    let listed = list(f, &f.member, text).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
    listed.items.into_iter().map(|session| session.id).collect()
}

/// A new session. Each is made a second after the one before, so that their order is known.
async fn created(f: &Fixture, who: &Scope, agent: &str, title: &str) -> SessionId {
    f.clock.advance(TimeDelta::seconds(1));
    let new = NewSession {
        agent_slug: Some(agent.into()),
        title: Some(title.into()),
        ..NewSession::of_type(if agent == "tool" { Type::Tool } else { Type::Agent })
    };
    session::create(&f.ledger, who, new).await.unwrap().id
}

async fn completed(f: &Fixture, seconds: i64, usage: serde_json::Value) -> SessionId {
    let id = f.claim(1, 3_600).await.remove(0).id;
    // In steps that a lease lasts.
    for _ in 0..6 {
        f.clock.advance(TimeDelta::seconds(seconds / 6));
        session::heartbeat(&f.ledger, &f.worker, id, 1).await.unwrap();
    }
    let report = Completion { attempt: 1, result: None, usage: Some(usage.to_string()) };
    session::complete(&f.ledger, &f.worker, id, report).await.unwrap();
    id
}

async fn failed(f: &Fixture, message: &str, code: Option<&str>) -> SessionId {
    let id = f.claim(1, 3_600).await.remove(0).id;
    let failure = Failure { attempt: 1, message: message.into(), code: code.map(str::to_owned), usage: None };
    session::fail(&f.ledger, &f.worker, id, failure).await.unwrap();
    id
}

async fn each_field_selects_sessions_by_its_own_rule(f: Fixture) {
    let cheap = created(&f, &f.operator, "scout", "Weekly report").await;
    assert_eq!(completed(&f, 60, json!({ "costUsd": 0.5 })).await, cheap);
    let dear = created(&f, &f.member, "clerk", "Weekly invoice, 100% off").await;
    assert_eq!(completed(&f, 7_200, json!({ "total_cost_usd": "2.25" })).await, dear);
    let broken = created(&f, &f.operator, "scout", "Daily report").await;
    assert_eq!(failed(&f, "429 Rate limit reached", Some("rate_limited")).await, broken);
    let lost = created(&f, &f.operator, "tool", "Übersicht").await;
    assert_eq!(failed(&f, "no answer", None).await, lost);
    let action = NewAction {
        slug: Some("tidy-up".into()),
        agent_slug: Some("maid".into()),
        name: "Tidy".into(),
        ..NewAction::default()
    };
    let action = action::create(&f.ledger, &f.operator, action).await.unwrap();
    // Sessions of one instant have no order.
    f.clock.advance(TimeDelta::seconds(1));
    let tasked = NewSession { action_id: Some(action.id), ..NewSession::of_type(Type::Agent) };
    let tasked = session::create(&f.ledger, &f.operator, tasked).await.unwrap().id;
    f.clock.advance(TimeDelta::hours(1));
    let running = created(&f, &f.operator, "scout", "Running").await;
    assert_eq!(f.claim(10, 3_600).await.len(), 2);
    f.clock.advance(TimeDelta::minutes(10));
    let all = [running, tasked, lost, broken, dear, cheap];
    for (line, sessions) in [
        ("", &all[..]),
        ("agent:scout", &[running, broken, cheap]),
        ("agent:scout,clerk", &[running, broken, dear, cheap]),
        ("-agent:scout", &[tasked, lost, dear]),
        ("-agent:scout,maid", &[lost, dear]),
        ("agent:scout agent:clerk", &[]),
        ("agent:nobody", &[]),
        ("status:failed", &[lost, broken]),
        ("status:failed,completed", &[lost, broken, dear, cheap]),
        ("-status:failed,completed", &[running, tasked]),
        ("status:failed agent:scout", &[broken]),
        ("status:failed,running agent:scout,maid", &[running, tasked, broken]),
        ("type:tool", &[lost]),
        ("-type:tool", &[running, tasked, broken, dear, cheap]),
        ("type:agent,tool status:failed", &[lost, broken]),
        ("task:tidy-up", &[tasked]),
        ("-task:tidy-up", &[running, lost, broken, dear, cheap]),
        ("title:weekly", &[dear, cheap]),
        ("title:weekly title:report", &[cheap]),
        ("title:weekly,daily", &[broken, dear, cheap]),
        ("-title:weekly,daily -title:running", &[tasked, lost]),
        ("title:100%", &[dear]),
        ("title:_eekly", &[]),
        ("title:\"invoice, 100\"", &[dear]),
        ("error:\"rate limit\"", &[broken]),
        ("error:rate_limited", &[broken]),
        ("error:\"LIMIT REACHED\",answer", &[lost, broken]),
        ("error:limit error:429", &[broken]),
        ("-error:limit status:failed", &[lost]),
        ("-error:limit", &[running, tasked, lost, dear, cheap]),
        ("cost>0.5", &[dear]),
        ("cost>=0.5", &[dear, cheap]),
        ("cost<2.25", &[cheap]),
        ("cost<=2.25", &[dear, cheap]),
        ("cost:2.25", &[dear]),
        ("cost>0.4 cost<1", &[cheap]),
        ("cost>99", &[]),
        ("duration>1m", &[running, tasked, dear]),
        ("duration>=1m", &[running, tasked, dear, cheap]),
        ("duration:2h", &[dear]),
        ("duration<1m", &[lost, broken]),
        // Both were claimed ten minutes ago and still run.
        ("duration>=10m duration<=10m", &[running, tasked]),
        ("after:1h", &[running]),
        ("before:1h", &[tasked, lost, broken, dear, cheap]),
        ("after:1h before:1h", &[]),
        ("after:2w before:30m status:failed", &[lost, broken]),
    ] {
        assert_eq!(found(&f, line).await, sessions, "{line}");
    }
    // Conditions in fields of their own hold too.
    let both = ListSessions { agent_slug: Some("scout".into()), ..asking("status:failed") };
    let listed = session::list(&f.ledger, &f.member, both).await.unwrap().items;
    assert_eq!(listed.iter().map(|session| session.id).collect::<Vec<_>>(), [broken]);
    f.done().await;
}

async fn a_model_is_found_by_a_part_of_a_name_that_the_usage_has(f: Fixture) {
    let usages = [
        json!({ "model": "claude-haiku-4-5", "costUsd": 0.1 }),
        json!({ "models": ["gpt-5", "Claude-Opus"], "costUsd": 0.1 }),
        // No name of a model, and a character that PostgreSQL's JSON lacks.
        json!({ "model": 5, "models": { "a": "haiku" }, "by": { "model": "haiku" }, "kind": "model" }),
        json!({ "model": "haiku", "note": "a\0b" }),
        json!({ "costUsd": 0.1 }),
    ];
    let mut made = Vec::new();
    for usage in usages {
        let id = created(&f, &f.operator, "scout", "Tea").await;
        assert_eq!(completed(&f, 60, usage).await, id);
        made.push(id);
    }
    let open = created(&f, &f.operator, "scout", "Tea").await;
    let [haiku, several, nameless, odd, modelless] = made[..] else { panic!("{made:?}") };
    let named = |found: Vec<SessionId>| found.into_iter().filter(|id| *id != odd).collect::<Vec<_>>();
    for (line, sessions) in [
        ("model:haiku", &[haiku][..]),
        ("model:CLAUDE", &[several, haiku]),
        ("model:claude model:gpt-5", &[several]),
        ("model:gpt,haiku", &[several, haiku]),
        ("-model:haiku", &[open, modelless, nameless, several]),
        ("model:claude -model:haiku cost<1", &[several]),
        ("model:5", &[several, haiku]),
    ] {
        assert_eq!(named(found(&f, line).await), sessions, "{line}");
    }
    let by_cost = ListSessions { sort: domain::session::Sort::Cost, ..asking("model:opus") };
    let listed = session::list(&f.ledger, &f.member, by_cost).await.unwrap().items;
    assert_eq!(listed.iter().map(|session| session.id).collect::<Vec<_>>(), [several]);
    f.done().await;
}

async fn words_are_found_in_titles_and_in_events(f: Fixture) {
    let titled = created(&f, &f.operator, "scout", "Refund for Acme").await;
    let said = created(&f, &f.operator, "scout", "Another").await;
    let quiet = created(&f, &f.operator, "clerk", "Nothing of it").await;
    for session in f.claim(10, 3_600).await {
        let message = if session.id == said { "The refund was refused by zendesk" } else { "all is well" };
        f.append(session.id, 1, vec![text(message)]).await.unwrap();
    }
    assert_eq!(found(&f, "refund").await, [titled], "events are not in the index yet");
    indexed(&f).await;
    for (line, sessions) in [
        ("refund", &[said, titled][..]),
        ("refunds", &[said]),
        ("\"refund for\"", &[titled]),
        ("refund -acme", &[said]),
        ("refund -zendesk", &[titled]),
        ("refund zendesk agent:scout", &[said]),
        ("refund agent:clerk", &[]),
        ("ref*", &[said, titled]),
        ("well", &[quiet, titled]),
        ("well status:running -agent:scout", &[quiet]),
        ("unheard", &[]),
    ] {
        assert_eq!(found(&f, line).await, sessions, "{line}");
    }
    f.done().await;
}

async fn lists_of_many_sizes_are_narrowed_page_by_page(f: Fixture) {
    assert!(found(&f, "cup").await.is_empty() && found(&f, "cost>0").await.is_empty(), "with no session");
    let mut made = Vec::new();
    for count in [1, 2, 7, 40] {
        while made.len() < count {
            let title = if made.len() % 2 == 0 { "Even cup" } else { "Odd cup" };
            made.push(created(&f, &f.operator, "scout", title).await);
        }
        let newest_first: Vec<SessionId> = made.iter().rev().copied().collect();
        let even: Vec<SessionId> = made.iter().step_by(2).rev().copied().collect();
        assert_eq!(found(&f, "cup").await, newest_first, "{count}");
        assert_eq!(found(&f, "status:pending,draft -title:odd").await, even, "{count}");
        let (mut pages, mut cursor) = (Vec::new(), None);
        loop {
            let page = ListSessions { limit: 3, cursor, ..asking("even -agent:clerk") };
            let page = session::list(&f.ledger, &f.member, page).await.unwrap();
            assert!(page.items.len() <= 3);
            pages.extend(page.items.iter().map(|session| session.id));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(pages, even, "{count}: each session once");
    }
    f.done().await;
}

async fn days_are_those_of_the_time_zone_that_is_named(f: Fixture) {
    let id = created(&f, &f.operator, "scout", "Now").await;
    let now = f.ledger.now();
    for (zone, hours) in [("Pacific/Kiritimati", 14), ("UTC", 0), ("Pacific/Pago_Pago", -11)] {
        let day = (now + TimeDelta::hours(hours)).date_naive();
        let next = day.succ_opt().unwrap();
        for (line, is_found) in [
            (format!("after:{day}"), true),
            (format!("after:{next}"), false),
            (format!("before:{next}"), true),
            (format!("before:{day}"), false),
            ("after:today".into(), true),
            ("after:yesterday before:today".into(), false),
            (format!("after:{}", day.format("%a")), true),
        ] {
            let query = Some(SearchLine { text: line.clone(), timezone: Some(zone.into()) });
            let wanted = ListSessions { query, ..ListSessions::default() };
            let listed = session::list(&f.ledger, &f.member, wanted).await.unwrap().items;
            assert_eq!(listed.iter().any(|session| session.id == id), is_found, "{line} in {zone}");
        }
    }
    let query = Some(SearchLine { text: "after:today".into(), timezone: Some("Mars/Olympus".into()) });
    let unknown = session::list(&f.ledger, &f.member, ListSessions { query, ..ListSessions::default() }).await;
    assert!(matches!(unknown, Err(Error::Invalid(_))), "{unknown:?}");
    f.done().await;
}

async fn people_are_found_by_name_word_address_and_me(f: Fixture) {
    auth::set_name(&f.ledger, &f.operator, "Otto von Bismarck").await.unwrap();
    let ottos = created(&f, &f.operator, "scout", "a").await;
    let mias = created(&f, &f.member, "scout", "b").await;
    for (line, sessions) in [
        ("by:otto", &[ottos][..]),
        ("by:\"otto von bismarck\"", &[ottos]),
        ("by:OTTO@acme.test", &[ottos]),
        ("by:me", &[mias]),
        ("by:me,otto", &[mias, ottos]),
        ("-by:me", &[ottos]),
        ("by:otto by:me", &[]),
    ] {
        assert_eq!(found(&f, line).await, sessions, "{line}");
    }
    for nobody in ["by:ott", "by:sam@other.test", "by:zoe"] {
        let refused = list(&f, &f.member, nobody).await;
        let Err(Error::Invalid(issues)) = refused else { panic!("{nobody}: {refused:?}") };
        assert!(issues[0].field == "q" && issues[0].message.contains("no member of the workspace"), "{issues:?}");
    }
    f.done().await;
}

async fn nothing_of_others_is_found_by_any_line(f: Fixture) {
    const WORD: &str = "quetzalcoatlus";
    let talk = thread::start(&f.ledger, &f.member, NewThread { incognito: true, ..new(Some(WORD)) }).await.unwrap();
    let open = created(&f, &f.operator, "scout", WORD).await;
    indexed(&f).await;
    let lines = Field::ALL.map(Field::example).into_iter().chain([
        WORD,
        "",
        "-status:failed",
        "-agent:nobody",
        "before:today after:1w",
    ]);
    for line in lines {
        for who in [&f.admin, &f.operator, &f.other_member, &f.worker, &f.stranger] {
            let listed = list(&f, who, line).await.unwrap().items;
            let seen: Vec<SessionId> = listed.into_iter().map(|session| session.id).collect();
            assert!(!seen.contains(&talk.session.id), "{line}: {:?}", who.caller);
            assert!(who.tenant_id == f.admin.tenant_id || seen.is_empty(), "{line}: another workspace");
        }
    }
    // Their own person sees the conversation in lists, as without a line, but not by its words.
    assert_eq!(found(&f, WORD).await, [open]);
    assert!(found(&f, "type:agent").await.contains(&talk.session.id));
    f.done().await;
}

async fn a_line_that_is_none_is_refused_with_its_place_and_what_exists(f: Fixture) {
    for (line, part) in [
        ("tea foo:bar", "at character 5: there is no field foo; the fields are agent, status, type, task, title"),
        ("status:done", "at character 8: \"done\" is no status; one of draft, pending"),
        ("cost>much", "at character 6"),
        ("\"open", "the quotation mark at character 1 has no second one"),
        ("-tea", "name at least one word"),
        ("a\0b", "a control character at character 2"),
        (&"x".repeat(501), "at most 500 characters"),
    ] {
        for refused in
            [list(&f, &f.member, line).await.map(drop), events(&f.ledger, &f.member, search_for(line)).await.map(drop)]
        {
            let Err(Error::Invalid(issues)) = refused else { panic!("{line}: {refused:?}") };
            assert!(issues[0].field == "q" && issues[0].message.contains(part), "{line}: {issues:?}");
        }
    }
    let fields_alone = events(&f.ledger, &f.member, search_for("status:failed")).await;
    assert!(matches!(fields_alone, Err(Error::Invalid(_))), "{fields_alone:?}");
    f.done().await;
}

async fn hostile_values_are_only_values(f: Fixture) {
    let titles = ["a' OR '1'='1", "100%_\\", "(a+)+$", "\u{200f}evil\u{200e} 👩‍👩‍👧", "[\"json\"]", "back\\\\slash"];
    let mut sessions = Vec::new();
    for title in titles {
        sessions.push(created(&f, &f.operator, "scout", title).await);
    }
    for (title, id) in titles.into_iter().zip(sessions) {
        if !title.contains('"') {
            assert_eq!(found(&f, &format!("title:\"{title}\"")).await, [id], "{title}");
        }
    }
    for line in [
        "title:[",
        "error:%",
        "title:'; DROP TABLE sessions; --",
        "-title:\\",
        "title:$1",
        "error:\\u0000",
        "((((((((",
        "title:*",
    ] {
        list(&f, &f.member, line).await.unwrap_or_else(|error| panic!("{line}: {error:?}"));
    }
    assert_eq!(found(&f, "").await.len(), titles.len());
    f.done().await;
}

async fn events_are_narrowed_by_the_same_conditions(f: Fixture) {
    let mut sessions = Vec::new();
    for (agent, cost) in [("scout", 0.5), ("clerk", 3.0), ("scout", 4.0)] {
        let id = created(&f, &f.operator, agent, "Tea").await;
        f.claim(1, 3_600).await;
        f.append(id, 1, vec![text("tea")]).await.unwrap();
        f.clock.advance(TimeDelta::minutes(30));
        let report = Completion { attempt: 1, result: None, usage: Some(json!({ "cost": cost }).to_string()) };
        session::complete(&f.ledger, &f.worker, id, report).await.unwrap();
        f.clock.advance(TimeDelta::minutes(30 * 60 - 30));
        sessions.push(id);
    }
    indexed(&f).await;
    let [first, second, third] = sessions[..] else { panic!("three") };
    for (line, expected) in [
        ("tea agent:scout", &[third, first][..]),
        ("tea -agent:scout", &[second]),
        ("tea cost>1", &[third, second]),
        ("tea cost>1 agent:scout,nobody", &[third]),
        ("tea duration>=30m status:completed", &[third, second, first]),
        ("tea title:tea by:otto@acme.test", &[third, second, first]),
        // When the event was recorded, not when the session ended.
        ("tea after:2d", &[third]),
        ("tea before:2d", &[second, first]),
        ("tea after:3d before:2d", &[second]),
        ("tea status:failed", &[]),
    ] {
        let found: Vec<_> = found_by(&f, &f.member, search_for(line)).await.into_iter().map(|(id, _)| id).collect();
        assert_eq!(found, expected, "{line}");
    }
    let both = SearchEvents { agent_slug: Some("scout".into()), ..search_for("tea cost>1") };
    assert_eq!(found_by(&f, &f.member, both).await.len(), 1);
    f.done().await;
}
