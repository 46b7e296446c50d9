//! Causes of failures: which failures have the same one, what is counted, what people decide, and who sees it.

use crate::{
    retention::key,
    webhook::{outbox_worker, subscribed},
};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    failure::cause::{CauseState, RULE, Window},
    id::{CauseId, SessionId},
    session::Type,
};
use ledger::{
    Error, ListPage,
    event::NewEvent,
    failure::cause::{self, Cause, CauseList, ListCauses, When},
    page, retention,
    session::{self, Failure, NewSession},
};
use serde_json::{Value, json, value::RawValue};
use testkit::{Fixture, event, on_both_engines, receiver::Receiver};

on_both_engines!(
    failures_that_differ_in_values_have_one_cause_and_others_have_others,
    the_tool_and_the_step_that_failed_separate_causes,
    counts_agents_and_trends_are_those_of_the_time_range,
    causes_and_their_sessions_are_listed_page_by_page,
    causes_are_found_by_words_error_and_agent,
    a_resolved_cause_opens_again_when_it_comes_back,
    webhooks_are_sent_when_a_cause_is_new_or_comes_back,
    a_snoozed_cause_opens_again_when_its_time_is_over,
    an_acknowledged_cause_stays_seen_and_can_be_opened_again,
    people_see_what_failed_since_their_last_visit,
    an_incognito_session_has_no_cause,
    another_workspace_and_members_decide_nothing,
    the_text_of_a_cause_is_erased_with_its_last_failure,
    failures_of_before_are_grouped_and_grouped_again_by_a_new_rule,
);

/// A failed session of this agent.
pub async fn failed_as(f: &Fixture, agent: &str, code: Option<&str>, message: &str) -> SessionId {
    failed_after(f, agent, code, message, Vec::new()).await
}

async fn failed_after(f: &Fixture, agent: &str, code: Option<&str>, message: &str, events: Vec<NewEvent>) -> SessionId {
    let new = NewSession { agent_slug: Some(agent.into()), ..NewSession::of_type(Type::Agent) };
    session::create(&f.ledger, &f.operator, new).await.unwrap();
    let running = f.claim(1, 3_600).await.pop().unwrap();
    if !events.is_empty() {
        f.append(running.id, 1, events).await.unwrap();
    }
    let failure = Failure { attempt: 1, message: message.into(), code: code.map(str::to_owned), usage: None };
    session::fail(&f.ledger, &f.worker, running.id, failure).await.unwrap();
    running.id
}

pub async fn failed(f: &Fixture, message: &str) -> SessionId {
    failed_as(f, "scout", None, message).await
}

fn query(window: Window) -> ListCauses {
    ListCauses { when: When::window(window), state: None, line: None, limit: 0, cursor: None }
}

async fn list(f: &Fixture, who: &Scope, query: ListCauses) -> CauseList {
    cause::list(&f.ledger, who, query).await.unwrap()
}

/// The causes of seven days.
async fn causes(f: &Fixture) -> Vec<Cause> {
    list(f, &f.member, query(Window::Week)).await.causes.items
}

/// The only cause.
pub async fn only(f: &Fixture) -> Cause {
    let mut all = causes(f).await;
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

async fn in_state(f: &Fixture, state: CauseState) -> Vec<CauseId> {
    let found = list(f, &f.member, ListCauses { state: Some(state), ..query(Window::Week) }).await;
    found.causes.items.into_iter().map(|cause| cause.record.id).collect()
}

async fn causes_are_found_by_words_error_and_agent(f: Fixture) {
    failed_as(&f, "scout", Some("auth"), "token expired for zendesk").await;
    failed_as(&f, "clerk", Some("auth"), "token expired for zendesk").await;
    failed_as(&f, "clerk", Some("limit"), "rate limit of zendesk reached").await;
    failed_as(&f, "scout", Some("gone"), "100% of the disk is used").await;
    for (line, codes) in [
        ("", &["auth", "gone", "limit"][..]),
        ("ZENDESK", &["auth", "limit"]),
        ("zendesk token", &["auth"]),
        ("\"rate limit\"", &["limit"]),
        ("zen* -expired", &["limit"]),
        ("error:auth,gone", &["auth", "gone"]),
        ("-error:auth", &["gone", "limit"]),
        ("error:\"of the disk\"", &["gone"]),
        ("agent:scout", &["auth", "gone"]),
        ("agent:clerk token", &["auth"]),
        // The cause has a failure of another agent too.
        ("-agent:scout", &["auth", "limit"]),
        ("agent:nomad", &[]),
    ] {
        let query = ListCauses { line: Some(line.to_owned()), ..query(Window::Week) };
        let found = list(&f, &f.member, query).await.causes.items;
        let mut found: Vec<_> = found.into_iter().map(|cause| cause.record.code).collect();
        found.sort();
        assert_eq!(found, codes, "{line}");
    }
    for (line, part) in [("cost>1", "the fields are agent, error"), ("\"open", "character 1"), ("agent:No", "agent")] {
        let query = ListCauses { line: Some(line.to_owned()), ..query(Window::Week) };
        let refused = cause::list(&f.ledger, &f.member, query).await;
        assert!(
            matches!(&refused, Err(Error::Invalid(issues)) if issues[0].field == "q" && issues[0].message.contains(part)),
            "{line}: {refused:?}"
        );
    }
    f.done().await;
}

async fn failures_that_differ_in_values_have_one_cause_and_others_have_others(f: Fixture) {
    for number in [1, 2, 7, 40] {
        failed_as(&f, "scout", Some("auth"), &format!("token {number} expired for /srv/{number}/key.json")).await;
    }
    failed_as(&f, "scout", Some("auth"), "key 1 expired for /srv/1/key.json").await;
    failed_as(&f, "scout", Some("gone"), "token 1 expired for /srv/1/key.json").await;
    let mut found: Vec<_> = causes(&f).await.into_iter().map(|cause| cause.record).collect();
    found.sort_by_key(|record| std::cmp::Reverse(record.failures));
    let shown: Vec<_> = found.iter().map(|record| (record.failures, record.code.as_str())).collect();
    assert_eq!(shown[0], (4, "auth"));
    assert_eq!(shown.len(), 3, "{found:#?}");
    assert_eq!(found[0].message, "token ‹number› expired for ‹path›");
    assert_eq!((found[0].state, found[0].tool.as_deref()), (CauseState::Open, None));
    f.assert_verified().await;
    f.done().await;
}

fn raw(value: &serde_json::Value) -> Option<Box<RawValue>> {
    Some(RawValue::from_string(value.to_string()).unwrap())
}

fn answered(tool: &str, output: &serde_json::Value) -> NewEvent {
    let part = json!([{ "type": "tool-result", "toolCallId": "c", "toolName": tool, "output": output }]);
    NewEvent { content: raw(&part), ..event("agent.tool_result") }
}

async fn the_tool_and_the_step_that_failed_separate_causes(f: Fixture) {
    let error = json!({ "type": "error-text", "value": "no" });
    let fine = json!({ "type": "text", "value": "yes" });
    let step = |kind: &str, step: &str| NewEvent { metadata: raw(&json!({ "step": step })), ..event(kind) };
    let of = async |events: Vec<NewEvent>| failed_after(&f, "scout", None, "it did not work", events).await;
    of(vec![answered("search", &fine), answered("mail", &error)]).await;
    of(vec![answered("mail", &error), answered("search", &fine)]).await;
    of(vec![answered("search", &error)]).await;
    let began = step("tool.composition_step.started", "send");
    of(vec![step("tool.composition_step.started", "draft"), step("tool.composition_step.completed", "draft"), began])
        .await;
    let mut found: Vec<_> = causes(&f).await.into_iter().map(|cause| (cause.record.tool, cause.record.step)).collect();
    found.sort();
    let some = |name: &str| Some(name.to_owned());
    assert_eq!(found, [(None, None), (None, some("send")), (some("mail"), None), (some("search"), None)]);
    f.done().await;
}

async fn counts_agents_and_trends_are_those_of_the_time_range(f: Fixture) {
    failed_as(&f, "old", None, "broken 1").await;
    let first = f.ledger.now();
    f.clock.advance(TimeDelta::days(3));
    for (agent, times) in [("a", 4), ("b", 3), ("c", 2), ("d", 1)] {
        for _ in 0..times {
            failed_as(&f, agent, None, "broken 2").await;
        }
    }
    f.clock.advance(TimeDelta::hours(23));
    failed_as(&f, "a", None, "broken 3").await;
    let day = list(&f, &f.member, query(Window::Day)).await;
    let cause = &day.causes.items[0];
    assert_eq!((cause.record.failures, cause.more_agents), (11, 1));
    let agents: Vec<_> = cause.agents.iter().map(|(agent, count)| (agent.as_deref().unwrap(), *count)).collect();
    assert_eq!(agents, [("a", 5), ("b", 3), ("c", 2)]);
    assert_eq!(cause.trend, [10, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(cause.record.first_at, Some(first), "the first failure is the first of all");
    let week = only(&f).await;
    assert_eq!((week.record.failures, week.more_agents), (12, 2));
    // A range with two ends has only what is in it.
    let when = When {
        window: None,
        since: Some(first - TimeDelta::hours(1)),
        until: Some(first + TimeDelta::hours(1)),
        timezone: "UTC".into(),
    };
    let (cause, span) = cause::get(&f.ledger, &f.member, week.record.id, when.clone()).await.unwrap();
    assert_eq!((cause.record.failures, span.since), (1, first - TimeDelta::hours(1)));
    assert_eq!(list(&f, &f.member, ListCauses { when, ..query(Window::Day) }).await.causes.items[0].record.failures, 1);
    f.clock.advance(TimeDelta::days(2));
    assert!(list(&f, &f.member, query(Window::Day)).await.causes.items.is_empty());
    f.done().await;
}

async fn causes_and_their_sessions_are_listed_page_by_page(f: Fixture) {
    let names = ["one", "two", "three", "four", "five"];
    for name in names {
        failed(&f, &format!("no {name} there")).await;
        f.clock.advance(TimeDelta::seconds(1));
    }
    let mut newest = Vec::new();
    for _ in 0..5 {
        newest.push(failed(&f, "no one there").await);
        f.clock.advance(TimeDelta::seconds(1));
    }
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let page = list(&f, &f.member, ListCauses { limit: 2, cursor, ..query(Window::Week) }).await.causes;
        assert!(page.items.len() <= 2);
        seen.extend(page.items.into_iter().map(|cause| cause.record.message));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let expected = ["one", "five", "four", "three", "two"].map(|name| format!("no {name} there"));
    assert_eq!(seen, expected, "the newest failure comes first");
    let id = causes(&f).await[0].record.id;
    let (mut sessions, mut cursor) = (Vec::new(), None);
    loop {
        let page = cause::sessions(&f.ledger, &f.member, id, ListPage { limit: 2, cursor }).await.unwrap();
        sessions.extend(page.items.into_iter().map(|caused| caused.failure.session_id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    newest.reverse();
    assert_eq!((sessions.len(), &sessions[..5]), (6, &newest[..]));
    let of_other_list =
        cause::list(&f.ledger, &f.member, ListCauses { cursor: Some("K".into()), ..query(Window::Week) }).await;
    assert!(matches!(of_other_list, Err(Error::InvalidCursor)), "{of_other_list:?}");
    // The page of a session counts the others.
    let around = page::session::around(&f.ledger, &f.member, sessions[0]).await.unwrap();
    assert_eq!(around.alike.map(|alike| (alike.cause_id, alike.others)), Some((id, 5)));
    f.done().await;
}

async fn a_resolved_cause_opens_again_when_it_comes_back(f: Fixture) {
    failed(&f, "broken 1").await;
    let id = only(&f).await.record.id;
    f.clock.advance(TimeDelta::seconds(1));
    let resolved = cause::resolve(&f.ledger, &f.operator, id).await.unwrap();
    assert_eq!((resolved.current.state, resolved.current.reopened_at), (CauseState::Resolved, None));
    assert_eq!(resolved.record.decided_by, Some(f.operator.caller.to_string()));
    assert_eq!(in_state(&f, CauseState::Resolved).await, [id]);
    f.clock.advance(TimeDelta::seconds(1));
    let again = cause::resolve(&f.ledger, &f.admin, id).await.unwrap();
    assert_eq!(again.record.decided_at, resolved.record.decided_at, "a repeat changes nothing");
    failed(&f, "broken 2").await;
    let back = f.ledger.now();
    let cause = only(&f).await;
    assert_eq!((cause.current.state, cause.current.reopened_at), (CauseState::Open, Some(back)));
    assert_eq!(in_state(&f, CauseState::Open).await, [id]);
    assert!(in_state(&f, CauseState::Resolved).await.is_empty());
    f.clock.advance(TimeDelta::seconds(1));
    let resolved = cause::resolve(&f.ledger, &f.admin, id).await.unwrap();
    assert_eq!((resolved.current.state, resolved.current.reopened_at), (CauseState::Resolved, None));
    f.done().await;
}

async fn webhooks_are_sent_when_a_cause_is_new_or_comes_back(f: Fixture) {
    let receiver = Receiver::start().await;
    subscribed(&f, receiver.url(), &["failure_cause.opened"]).await;
    let mut sent = 0;
    for number in [1, 2, 7, 40] {
        failed(&f, &format!("broken {number}")).await;
        sent += outbox_worker(&f).drain().await.unwrap();
    }
    assert_eq!(sent, 1, "the first failure opens the cause");
    let other = failed_as(&f, "scout", Some("gone"), "no such place as 2").await;
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1);
    let id = causes(&f).await.into_iter().find(|cause| cause.record.code == "gone").unwrap().record.id;
    f.clock.advance(TimeDelta::seconds(1));
    cause::resolve(&f.ledger, &f.operator, id).await.unwrap();
    f.clock.advance(TimeDelta::seconds(1));
    let back = failed_as(&f, "scout", Some("gone"), "no such place as 3").await;
    failed_as(&f, "scout", Some("gone"), "no such place as 4").await;
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 1, "only the first failure since it was resolved");
    let received = receiver.received();
    let message = |index: usize| serde_json::from_str::<Value>(&received[index].body).unwrap();
    for (index, opening, session) in [(1, "new", other), (2, "back", back)] {
        let Value::Object(body) = message(index) else { panic!("{:?}", received[index]) };
        assert_eq!(body["type"], "failure_cause.opened");
        let data = &body["data"];
        assert_eq!((&data["opening"], &data["sessionId"]), (&json!(opening), &json!(session)));
        assert_eq!((&data["causeId"], &data["errorCode"]), (&json!(id), &json!("gone")));
        assert_eq!(data["url"], format!("https://log.example.org/failures/{id}"));
    }
    assert!(received.iter().all(|message| !message.body.contains("place")), "it does not quote the failure");
    // Grouping again, as after a change of the rule, is no news.
    let mut raw = f.engine.raw().await;
    raw.execute("DELETE FROM caused_failures").await.unwrap();
    raw.execute("DELETE FROM failure_causes").await.unwrap();
    raw.execute("UPDATE failure_regroup SET rule = 0, is_done = 0").await.unwrap();
    assert!(cause::regroup(&f.ledger).await.unwrap().is_done);
    assert_eq!(outbox_worker(&f).drain().await.unwrap(), 0);
    drop(raw);
    f.done().await;
}

async fn a_snoozed_cause_opens_again_when_its_time_is_over(f: Fixture) {
    failed(&f, "broken 1").await;
    let id = only(&f).await.record.id;
    let until = f.ledger.now() + TimeDelta::hours(2);
    let snoozed = cause::snooze(&f.ledger, &f.operator, id, until).await.unwrap();
    assert_eq!((snoozed.current.state, snoozed.record.snoozed_until), (CauseState::Snoozed, Some(until)));
    f.clock.advance(TimeDelta::hours(1));
    failed(&f, "broken 2").await;
    assert_eq!(in_state(&f, CauseState::Snoozed).await, [id], "it came back before its time");
    f.clock.advance(TimeDelta::hours(1));
    assert_eq!(in_state(&f, CauseState::Open).await, [id]);
    assert_eq!(only(&f).await.current.reopened_at, Some(until));
    let now = f.ledger.now();
    for wrong in [now, now - TimeDelta::days(1), now + TimeDelta::days(400)] {
        let refused = cause::snooze(&f.ledger, &f.operator, id, wrong).await;
        assert!(matches!(&refused, Err(Error::Invalid(issues)) if issues[0].field == "until"), "{refused:?}");
    }
    f.done().await;
}

async fn an_acknowledged_cause_stays_seen_and_can_be_opened_again(f: Fixture) {
    failed(&f, "broken 1").await;
    let id = only(&f).await.record.id;
    f.clock.advance(TimeDelta::seconds(1));
    let seen = cause::acknowledge(&f.ledger, &f.operator, id).await.unwrap();
    f.clock.advance(TimeDelta::seconds(1));
    failed(&f, "broken 2").await;
    let repeated = cause::acknowledge(&f.ledger, &f.admin, id).await.unwrap();
    assert_eq!(repeated.record.decided_by, seen.record.decided_by, "a repeat changed who acknowledged");
    assert_eq!(in_state(&f, CauseState::Acknowledged).await, [id]);
    let open = cause::reopen(&f.ledger, &f.admin, id).await.unwrap();
    assert_eq!((open.current.state, open.current.reopened_at), (CauseState::Open, None));
    f.done().await;
}

async fn since(f: &Fixture, who: &Scope) -> Timestamp {
    list(f, who, query(Window::Visit)).await.span.since
}

async fn people_see_what_failed_since_their_last_visit(f: Fixture) {
    let week = TimeDelta::days(7);
    assert_eq!(since(&f, &f.member).await, f.ledger.now() - week, "nobody has looked");
    let friday = f.ledger.now();
    cause::visit(&f.ledger, &f.member).await.unwrap();
    failed(&f, "broken 1").await;
    f.clock.advance(TimeDelta::days(2));
    assert_eq!(since(&f, &f.member).await, friday);
    cause::visit(&f.ledger, &f.member).await.unwrap();
    f.clock.advance(TimeDelta::minutes(20));
    assert_eq!(since(&f, &f.member).await, friday, "the visit goes on");
    cause::visit(&f.ledger, &f.member).await.unwrap();
    let left = f.ledger.now();
    f.clock.advance(TimeDelta::minutes(40));
    assert_eq!(since(&f, &f.member).await, left);
    assert!(list(&f, &f.member, query(Window::Visit)).await.causes.items.is_empty());
    assert_eq!(since(&f, &f.operator).await, f.ledger.now() - week, "each person has visits of their own");
    // A token has none.
    cause::visit(&f.ledger, &f.worker).await.unwrap();
    f.clock.advance(TimeDelta::hours(1));
    assert_eq!(since(&f, &f.worker).await, f.ledger.now() - week);
    f.done().await;
}

async fn an_incognito_session_has_no_cause(f: Fixture) {
    let public = failed(&f, "broken 1").await;
    let new = NewSession {
        agent_slug: Some("scout".into()),
        metadata: Some(json!({ "incognito": true }).to_string()),
        ..NewSession::of_type(Type::Agent)
    };
    session::create(&f.ledger, &f.member, new).await.unwrap();
    let hidden = f.claim(1, 3_600).await.pop().unwrap();
    assert!(hidden.private_to.is_some());
    let failure = Failure { attempt: 1, message: "a secret".into(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, hidden.id, failure).await.unwrap();
    assert_eq!(only(&f).await.record.failures, 1);
    assert_eq!(page::session::around(&f.ledger, &f.member, hidden.id).await.unwrap().alike, None);
    let others = page::session::around(&f.ledger, &f.member, public).await.unwrap().alike.unwrap().others;
    assert_eq!(others, 0);
    // The job leaves it out too.
    let mut raw = f.engine.raw().await;
    raw.execute("UPDATE failure_regroup SET rule = 0, is_done = 0").await.unwrap();
    assert!(cause::regroup(&f.ledger).await.unwrap().is_done);
    assert_eq!(raw.number("SELECT COUNT(*) FROM failure_causes WHERE message LIKE '%secret%'").await, 0);
    assert_eq!(raw.number("SELECT COUNT(*) FROM caused_failures").await, 1);
    drop(raw);
    f.done().await;
}

async fn another_workspace_and_members_decide_nothing(f: Fixture) {
    failed(&f, "broken 1").await;
    let id = only(&f).await.record.id;
    assert!(list(&f, &f.stranger, query(Window::Week)).await.causes.items.is_empty());
    let until = f.ledger.now() + TimeDelta::hours(1);
    let week = || When::window(Window::Week);
    let stranger = [
        cause::get(&f.ledger, &f.stranger, id, week()).await.map(drop),
        cause::sessions(&f.ledger, &f.stranger, id, ListPage::default()).await.map(drop),
        cause::acknowledge(&f.ledger, &f.stranger, id).await.map(drop),
        cause::resolve(&f.ledger, &f.stranger, id).await.map(drop),
        cause::reopen(&f.ledger, &f.stranger, id).await.map(drop),
        cause::snooze(&f.ledger, &f.stranger, id, until).await.map(drop),
    ];
    assert!(stranger.iter().all(|result| matches!(result, Err(Error::NotFound(_)))), "{stranger:?}");
    let member = [
        cause::acknowledge(&f.ledger, &f.member, id).await.map(drop),
        cause::resolve(&f.ledger, &f.member, id).await.map(drop),
        cause::reopen(&f.ledger, &f.member, id).await.map(drop),
        cause::snooze(&f.ledger, &f.member, id, until).await.map(drop),
    ];
    assert!(member.iter().all(|result| matches!(result, Err(Error::Forbidden(_)))), "{member:?}");
    assert_eq!(only(&f).await.record.decided_at, None);
    f.done().await;
}

async fn the_text_of_a_cause_is_erased_with_its_last_failure(f: Fixture) {
    failed(&f, "pineapple 1").await;
    f.clock.advance(TimeDelta::days(5));
    failed(&f, "pineapple 2").await;
    failed(&f, "another word").await;
    f.clock.advance(TimeDelta::days(2));
    let erase = async |days: i64| {
        let older_than = f.ledger.now() - TimeDelta::days(days);
        retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await.unwrap()
    };
    let mut raw = f.engine.raw().await;
    let texts = "SELECT COUNT(*) FROM failure_causes WHERE message LIKE '%pineapple%'";
    erase(4).await;
    assert_eq!(raw.number(texts).await, 1, "another failure has the cause");
    assert_eq!(raw.number("SELECT COUNT(*) FROM caused_failures").await, 2);
    f.clock.advance(TimeDelta::days(3));
    erase(4).await;
    assert_eq!(raw.number(texts).await, 0);
    assert_eq!(raw.number("SELECT COUNT(*) FROM failure_causes").await, 0);
    // What is erased is not grouped again.
    raw.execute("UPDATE failure_regroup SET rule = 0, is_done = 0").await.unwrap();
    assert!(cause::regroup(&f.ledger).await.unwrap().is_done);
    assert_eq!(raw.number("SELECT COUNT(*) FROM failure_causes").await, 0);
    drop(raw);
    f.done().await;
}

async fn failures_of_before_are_grouped_and_grouped_again_by_a_new_rule(f: Fixture) {
    for number in 0..7 {
        failed(&f, &format!("broken {number}")).await;
    }
    let id = only(&f).await.record.id;
    let mut raw = f.engine.raw().await;
    // As if an earlier version had recorded them.
    raw.execute("DELETE FROM caused_failures").await.unwrap();
    raw.execute("DELETE FROM failure_causes").await.unwrap();
    raw.execute("UPDATE failure_regroup SET rule = 0, is_done = 0").await.unwrap();
    assert!(!cause::progress(&f.ledger).await.unwrap().is_done);
    let done = cause::regroup(&f.ledger).await.unwrap();
    assert_eq!((done.is_done, done.failures, done.looked_at), (true, 7, 7));
    let grouped = only(&f).await;
    assert_eq!((grouped.record.id, grouped.record.failures), (id, 7), "as if they had failed just now");
    // As if an earlier rule had grouped them differently, and people had decided about that cause.
    cause::acknowledge(&f.ledger, &f.operator, id).await.unwrap();
    let other = if f.engine.file().is_some() {
        "x'00000000000080008000000000000001'"
    } else {
        "'00000000-0000-8000-8000-000000000001'"
    };
    raw.execute(&format!(
        "INSERT INTO failure_causes (tenant_id, id, rule, code, message, state, decided_by, decided_at) \
         SELECT tenant_id, {other}, 0, code, 'by the old rule', state, decided_by, decided_at FROM failure_causes"
    ))
    .await
    .unwrap();
    raw.execute(&format!("UPDATE caused_failures SET cause_id = {other}, rule = 0")).await.unwrap();
    raw.execute(&format!("DELETE FROM failure_causes WHERE rule = {RULE}")).await.unwrap();
    raw.execute("UPDATE failure_regroup SET rule = 0, is_done = 0").await.unwrap();
    assert!(cause::regroup(&f.ledger).await.unwrap().is_done);
    let grouped = only(&f).await;
    assert_eq!((grouped.record.id, grouped.record.failures), (id, 7));
    assert_eq!(grouped.current.state, CauseState::Acknowledged, "the decision is kept");
    assert_eq!(raw.number("SELECT COUNT(*) FROM failure_causes").await, 1, "the old cause is gone");
    drop(raw);
    f.done().await;
}
