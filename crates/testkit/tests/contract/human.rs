//! Human sessions: one running session per person, owned by that person only, ended once (P-23), shown to agents.

use chrono::TimeDelta;
use domain::{
    Scope,
    id::{ActionId, EventId, SessionId},
    session::{EndReason, Status},
};
use futures_util::future::join_all;
use ledger::{
    Error, Mode,
    action::{self, ActionChange, Assignee, ListActions, NewAction},
    event::{self as events, Append, Appended, NewEvent},
    human, session,
};
use serde_json::{Value, json};
use std::time::Duration;
use testkit::{Fixture, human as did, on_both_engines};

on_both_engines!(
    starting_stopping_and_switching_leaves_one_session_and_a_whole_log,
    tabs_that_race_leave_exactly_one_running_session,
    people_and_workspaces_do_not_disturb_each_other,
    only_the_owner_stops_a_working_session,
    a_task_that_is_archived_or_foreign_is_refused_precisely,
    no_one_else_can_end_or_take_over_a_working_session,
    a_session_left_open_is_abandoned_once_by_one_of_two_servers,
    a_batch_repeated_after_a_lost_answer_adds_nothing_however_it_is_grouped,
    the_day_adds_up_by_task_from_the_persons_own_midnight,
    tasks_are_found_by_assignee_and_by_part_of_their_name,
    tasks_are_found_by_words_agent_and_title,
    other_tabs_hear_of_start_switch_and_stop,
    everyone_creates_plain_tasks_for_themselves_and_nothing_more,
    a_task_is_created_once_for_each_key_of_a_person,
);

pub(crate) async fn task(f: &Fixture, name: &str) -> ActionId {
    let new = NewAction { name: name.into(), assigned_to: f.member.user_id(), ..Default::default() };
    action::create(&f.ledger, &f.operator, new).await.unwrap().id
}

async fn everyone_creates_plain_tasks_for_themselves_and_nothing_more(f: Fixture) {
    let own = |name: &str| NewAction { name: name.into(), assigned_to: f.member.user_id(), ..Default::default() };
    let made = action::create(&f.ledger, &f.member, own("Call Acme")).await.unwrap();
    assert_eq!((made.assigned_to, made.agent_slug.as_deref()), (f.member.user_id(), None));
    start(&f, &f.member, made.id).await;
    for (what, new) in [
        ("somebody else's", NewAction { assigned_to: f.other_member.user_id(), ..own("x") }),
        ("nobody's", NewAction { assigned_to: None, ..own("x") }),
        ("an agent's", NewAction { agent_slug: Some("scout".into()), ..own("x") }),
        ("a slug", NewAction { slug: Some("x".into()), ..own("x") }),
        ("a contract", NewAction { output_config: Some("{}".into()), ..own("x") }),
        ("settings", NewAction { metadata: Some("{}".into()), ..own("x") }),
    ] {
        let refused = action::create(&f.ledger, &f.member, new).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{what}: {refused:?}");
    }
    // A token has no tasks of its own, even if it acts for a person.
    let token = Scope { on_behalf_of: f.member.user_id(), token_scope: None, ..f.worker };
    let token = Scope { role: domain::role::Role::Member, ..token };
    assert!(matches!(action::create(&f.ledger, &token, own("x")).await, Err(Error::Forbidden(_))));
    f.done().await;
}

async fn a_task_is_created_once_for_each_key_of_a_person(f: Fixture) {
    let create = async |who: &Scope, name: &str, key: &str| {
        let new = NewAction { name: name.into(), assigned_to: who.user_id(), ..Default::default() };
        action::create_once(&f.ledger, who, new, key).await
    };
    let made = create(&f.member, "Call Acme", "k1").await.unwrap();
    let renamed = ActionChange { name: Some("Call Acme Corp".into()), ..Default::default() };
    action::update(&f.ledger, &f.operator, made.id, renamed).await.unwrap();
    let again = create(&f.member, "Call Acme", "k1").await.unwrap();
    assert_eq!((again.id, again.name.as_str()), (made.id, "Call Acme Corp"));
    let other = create(&f.member, "Call Beta", "k1").await;
    assert!(matches!(other, Err(Error::IdConflict { .. })), "{other:?}");
    let of_another = create(&f.other_member, "Call Acme", "k1").await.unwrap();
    let next = create(&f.member, "Call Acme", "k2").await.unwrap();
    assert!(of_another.id != made.id && next.id != made.id && of_another.id != next.id);
    assert_eq!(of_another.assigned_to, f.other_member.user_id());
    let empty = create(&f.member, "Call Acme", "").await;
    assert!(matches!(empty, Err(Error::Invalid(_))), "{empty:?}");

    // Repeats that arrive at the same time. One that meets another's commit is to be sent again.
    let repeats = join_all((0..8).map(|_| create(&f.member, "Race", "k3"))).await;
    let ids: Vec<_> = repeats.iter().filter_map(|made| made.as_ref().ok()).map(|made| made.id).collect();
    assert!(!ids.is_empty() && ids.iter().all(|id| *id == ids[0]), "{repeats:?}");
    let races = "SELECT COUNT(*) FROM actions WHERE name = 'Race'";
    assert_eq!(f.engine.raw().await.number(races).await, 1);
    f.done().await;
}

pub(crate) async fn start(f: &Fixture, who: &Scope, task: ActionId) -> human::Started {
    human::start(&f.ledger, who, task).await.unwrap()
}

pub(crate) async fn append(f: &Fixture, who: &Scope, id: SessionId, events: Vec<NewEvent>) -> ledger::Result<Appended> {
    events::append(&f.ledger, who, Append { session_id: id, attempt: None, events }).await
}

/// Number of running rows, counted in the database itself.
async fn running(f: &Fixture) -> i64 {
    let count = "SELECT COUNT(*) FROM sessions WHERE source = 'human-session-bridge' AND status = 'running'";
    f.engine.raw().await.number(count).await
}

async fn changes(f: &Fixture, id: SessionId) -> Vec<Value> {
    let log = f.log(id).await;
    let of_status = log.iter().filter(|e| e.kind == "session.status_change");
    of_status.map(|e| serde_json::from_str(&e.metadata).unwrap()).collect()
}

async fn starting_stopping_and_switching_leaves_one_session_and_a_whole_log(f: Fixture) {
    let (review, mail) = (task(&f, "Review").await, task(&f, "Mail").await);
    assert!(human::active(&f.ledger, &f.member).await.unwrap().is_none());
    let first = start(&f, &f.member, review).await;
    assert_eq!((first.session.status(), first.session.title.as_str()), (Status::Running, "Review"));
    assert_eq!(first.session.source.as_deref(), Some("human-session-bridge"));
    assert_eq!((first.session.action_id, first.session.user_id), (Some(review), f.member.user_id()));
    let again = start(&f, &f.member, review).await;
    assert_eq!((again.session.id, again.superseded), (first.session.id, None), "the task that runs is not begun anew");
    f.clock.advance(TimeDelta::minutes(5));
    let second = start(&f, &f.member, mail).await;
    assert_eq!(second.superseded, Some(first.session.id));
    let active = human::active(&f.ledger, &f.member).await.unwrap().unwrap();
    assert_eq!((active.session.id, active.task.id), (second.session.id, mail));
    let ended = session::get(&f.ledger, &f.member, first.session.id).await.unwrap();
    assert_eq!((ended.status(), ended.end_reason()), (Status::Completed, Some(EndReason::Superseded)));
    let mut recorded = changes(&f, first.session.id).await;
    let digest = recorded[1].as_object_mut().unwrap().remove("rowDigest");
    assert!(digest.is_some_and(|digest| digest.as_str().unwrap().starts_with("v1:")), "the end binds the row");
    assert_eq!(
        recorded,
        [
            json!({"from": "draft", "reason": "started", "to": "running"}),
            json!({"from": "running", "reason": "superseded", "to": "completed"}),
        ]
    );
    let stopped = human::stop(&f.ledger, &f.member, second.session.id).await.unwrap();
    assert_eq!((stopped.status(), stopped.end_reason()), (Status::Completed, Some(EndReason::Done)));
    f.clock.advance(TimeDelta::minutes(5));
    let repeated = human::stop(&f.ledger, &f.member, second.session.id).await.unwrap();
    assert_eq!(repeated, stopped, "a repeat answers with the recorded end");
    let late = human::stop(&f.ledger, &f.member, first.session.id).await.unwrap();
    assert_eq!(late.end_reason(), Some(EndReason::Superseded));
    assert!(human::active(&f.ledger, &f.member).await.unwrap().is_none());
    f.assert_verified().await;
    f.done().await;
}

async fn tabs_that_race_leave_exactly_one_running_session(f: Fixture) {
    let (one, two) = (task(&f, "One").await, task(&f, "Two").await);
    for round in 0..12 {
        // Rounds start without a session, with a session of the same task, and with one of another task.
        match round % 3 {
            0 => {
                if let Some(active) = human::active(&f.ledger, &f.member).await.unwrap() {
                    human::stop(&f.ledger, &f.member, active.session.id).await.unwrap();
                }
            }
            1 => drop(start(&f, &f.member, one).await),
            _ => drop(start(&f, &f.member, two).await),
        }
        let tasks = [one, two, one, two];
        let answers = join_all(tasks.map(|task| human::start(&f.ledger, &f.member, task))).await;
        for (answer, task) in answers.into_iter().zip(tasks) {
            let answer = answer.unwrap();
            assert_eq!((answer.task.id, answer.session.action_id), (task, Some(task)));
            assert_eq!(answer.session.status(), Status::Running);
        }
        assert_eq!(running(&f).await, 1, "round {round}");
    }
    let active = human::active(&f.ledger, &f.member).await.unwrap().unwrap();
    let stops = (0..4).map(|_| human::stop(&f.ledger, &f.member, active.session.id));
    let ends: Vec<_> = join_all(stops).await.into_iter().map(Result::unwrap).collect();
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
    assert_eq!(changes(&f, active.session.id).await.len(), 2);
    f.assert_verified().await;
    f.done().await;
}

async fn people_and_workspaces_do_not_disturb_each_other(f: Fixture) {
    let shared = task(&f, "Shared").await;
    let (mine, theirs) = (start(&f, &f.member, shared).await, start(&f, &f.other_member, shared).await);
    assert_ne!(mine.session.id, theirs.session.id);
    assert_eq!(running(&f).await, 2);
    assert!(human::active(&f.ledger, &f.stranger).await.unwrap().is_none());
    human::stop(&f.ledger, &f.other_member, theirs.session.id).await.unwrap();
    assert_eq!(human::active(&f.ledger, &f.member).await.unwrap().unwrap().session.id, mine.session.id);
    f.done().await;
}

async fn only_the_owner_stops_a_working_session(f: Fixture) {
    let mine = start(&f, &f.member, task(&f, "Mine").await).await.session;
    for other in [f.other_member, f.operator, f.admin] {
        let refused = human::stop(&f.ledger, &other, mine.id).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    }
    let foreign = human::stop(&f.ledger, &f.stranger, mine.id).await;
    assert!(matches!(foreign, Err(Error::NotFound(_))), "{foreign:?}");
    for program in [f.worker, Scope { on_behalf_of: f.member.user_id(), ..f.worker }] {
        for refused in [
            human::stop(&f.ledger, &program, mine.id).await.map(drop),
            human::start(&f.ledger, &program, task(&f, "x").await).await.map(drop),
            human::active(&f.ledger, &program).await.map(drop),
            human::today(&f.ledger, &program, "UTC").await.map(drop),
        ] {
            assert!(matches!(refused, Err(Error::Forbidden(why)) if why.contains("people")), "{refused:?}");
        }
    }
    let agents = f.running().await;
    let refused = human::stop(&f.ledger, &f.operator, agents.id).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "an agent's session is no working session: {refused:?}");
    assert_eq!(running(&f).await, 1);
    f.done().await;
}

async fn a_task_that_is_archived_or_foreign_is_refused_precisely(f: Fixture) {
    let old = task(&f, "Old").await;
    let archive = action::ActionChange { status: Some(domain::action::ActionStatus::Archived), ..Default::default() };
    action::update(&f.ledger, &f.operator, old, archive).await.unwrap();
    let refused = human::start(&f.ledger, &f.member, old).await;
    assert!(matches!(&refused, Err(Error::Invalid(fields)) if fields[0].field == "taskId"), "{refused:?}");
    for caller in [f.stranger, f.member] {
        let task = if caller == f.member { ActionId(uuid::Uuid::nil()) } else { task(&f, "Ours").await };
        let refused = human::start(&f.ledger, &caller, task).await;
        assert!(matches!(refused, Err(Error::NotFound("task"))), "{refused:?}");
    }
    assert_eq!(running(&f).await, 0);
    f.done().await;
}

async fn no_one_else_can_end_or_take_over_a_working_session(f: Fixture) {
    let mine = start(&f, &f.member, task(&f, "Mine").await).await.session;
    // No worker ever claimed the session, so attempt 0 gives no access either.
    for attempt in [0, 1] {
        let (l, id) = (&f.ledger, mine.id);
        for caller in [f.worker, f.operator, f.admin] {
            let completion = session::Completion { attempt, result: None, usage: None };
            let failure = session::Failure { attempt, message: "x".into(), code: None, usage: None };
            assert!(session::complete(l, &caller, id, completion).await.is_err());
            assert!(session::fail(l, &caller, id, failure).await.is_err());
            assert!(session::release(l, &caller, id, attempt).await.is_err());
            assert!(session::heartbeat(l, &caller, id, attempt).await.is_err());
            let yielded =
                session::yield_to(l, &caller, id, session::YieldRequest::at(attempt, domain::session::YieldTo::Idle))
                    .await;
            assert!(yielded.is_err());
            for kind in ["agent.message", "human.marker"] {
                let event = NewEvent { kind: kind.into(), ..did("human.marker", "x") };
                let append = Append { session_id: id, attempt: Some(attempt), events: vec![event] };
                assert!(events::append(l, &caller, append).await.is_err(), "{kind} under attempt {attempt}");
            }
        }
    }
    f.clock.advance(TimeDelta::hours(1));
    session::sweep(&f.ledger).await.unwrap();
    assert!(f.claim(10, 60).await.is_empty());
    let after = session::get(&f.ledger, &f.member, mine.id).await.unwrap();
    assert_eq!(after, mine);
    f.done().await;
}

async fn a_session_left_open_is_abandoned_once_by_one_of_two_servers(f: Fixture) {
    let shared = task(&f, "Shared").await;
    let left = start(&f, &f.member, shared).await.session;
    f.clock.advance(TimeDelta::hours(11));
    let fresh = start(&f, &f.other_member, shared).await.session;
    // A second process. SQLite permits only one server, so this is a tool, whose sweep is the same.
    let second = f.second_ledger(Mode::Tool).await;
    assert_eq!(human::sweep(&f.ledger).await.unwrap(), Some(0), "nothing is left open yet");
    assert_eq!(human::sweep(&second).await.unwrap(), None, "the first sweeps for both");
    f.clock.advance(TimeDelta::hours(1));
    let (a, b) = tokio::join!(human::sweep(&f.ledger), human::sweep(&second));
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!([a, b].into_iter().flatten().sum::<u64>(), 1, "{a:?} {b:?}");
    assert_eq!([a, b].into_iter().flatten().count(), 1, "only the holder of the lease looks: {a:?} {b:?}");
    assert_eq!(changes(&f, left.id).await.len(), 2, "abandoned once");
    let ended = session::get(&f.ledger, &f.member, left.id).await.unwrap();
    assert_eq!((ended.status(), ended.end_reason()), (Status::Abandoned, Some(EndReason::TimedOut)));
    assert_eq!(session::get(&f.ledger, &f.member, fresh.id).await.unwrap().status(), Status::Running);
    // The process with the sweep's lease stops. After the lease has expired the other one sweeps.
    f.clock.advance(TimeDelta::hours(11));
    let (a, b) = (human::sweep(&second).await.unwrap(), human::sweep(&f.ledger).await.unwrap());
    assert_eq!((a, b), (Some(1), None));
    let late = append(&f, &f.member, left.id, vec![did("human.marker", "too late")]).await;
    assert!(matches!(late, Err(Error::WriteRefused { .. })), "{late:?}");
    second.close().await;
    f.assert_verified().await;
    f.done().await;
}

async fn a_batch_repeated_after_a_lost_answer_adds_nothing_however_it_is_grouped(f: Fixture) {
    let id = start(&f, &f.member, task(&f, "Mine").await).await.session.id;
    let event = |n: u128| NewEvent {
        id: Some(EventId(uuid::Uuid::from_u128(n))),
        ..did("human.navigate", &format!("/page/{n}"))
    };
    let batch = |range: std::ops::Range<u128>| range.map(event).collect::<Vec<_>>();
    let sent = append(&f, &f.member, id, batch(0..4)).await.unwrap();
    assert_eq!(append(&f, &f.member, id, batch(0..4)).await.unwrap(), sent);
    let regrouped = append(&f, &f.member, id, batch(2..6)).await.unwrap();
    assert_eq!(regrouped.events[..2], sent.events[2..]);
    let both =
        join_all([batch(0..3), batch(3..8), batch(5..8), batch(0..8)].map(|b| append(&f, &f.member, id, b))).await;
    assert!(both.iter().all(Result::is_ok), "{both:?}");
    let log: Vec<_> = f.log(id).await.into_iter().filter(|e| e.kind == "human.navigate").collect();
    let expected: Vec<_> = (0..8).map(|n| EventId(uuid::Uuid::from_u128(n))).collect();
    assert_eq!(log.iter().map(|e| e.id).collect::<Vec<_>>(), expected, "each once, in the order sent");
    // After the end, a repeated request is answered and new events are refused.
    human::stop(&f.ledger, &f.member, id).await.unwrap();
    assert_eq!(append(&f, &f.member, id, batch(0..4)).await.unwrap().events, sent.events);
    assert!(matches!(append(&f, &f.member, id, batch(7..9)).await, Err(Error::WriteRefused { .. })));
    f.assert_verified().await;
    f.done().await;
}

async fn the_day_adds_up_by_task_from_the_persons_own_midnight(f: Fixture) {
    // The clock shows 2027-01-15T08:00:00Z, which is 09:00 in Berlin.
    let (review, mail) = (task(&f, "Review").await, task(&f, "Mail").await);
    start(&f, &f.other_member, review).await;
    start(&f, &f.member, review).await;
    f.clock.advance(TimeDelta::minutes(90));
    start(&f, &f.member, mail).await;
    f.clock.advance(TimeDelta::minutes(30));
    let last = start(&f, &f.member, review).await.session;
    f.clock.advance(TimeDelta::minutes(15));
    let today = human::today(&f.ledger, &f.member, "Europe/Berlin").await.unwrap();
    let minutes: Vec<_> = today.tasks.iter().map(|t| (t.title.as_str(), t.duration_ms / 60_000, t.stretches)).collect();
    assert_eq!(minutes, [("Review", 105, 2), ("Mail", 30, 1)]);
    assert_eq!((today.sessions.len(), today.sessions[0].id), (3, last.id));
    // Ten hours later it is 20:15 UTC; in Auckland the next day began at 11:00 UTC.
    f.clock.advance(TimeDelta::hours(10));
    let elsewhere = human::today(&f.ledger, &f.member, "Pacific/Auckland").await.unwrap();
    assert_eq!(elsewhere.sessions.len(), 1, "what ended before midnight belongs to the day before");
    assert_eq!(elsewhere.tasks[0].duration_ms, 9 * 3_600_000 + 15 * 60_000);
    let wrong = human::today(&f.ledger, &f.member, "Mars/Base").await;
    assert!(matches!(wrong, Err(Error::Invalid(_))), "{wrong:?}");
    f.done().await;
}

async fn tasks_are_found_by_words_agent_and_title(f: Fixture) {
    let made = async |name: &str, description: &str, agent: Option<&str>| {
        let description = Some(description.to_owned());
        let agent_slug = agent.map(str::to_owned);
        let new = NewAction { name: name.into(), description, agent_slug, ..Default::default() };
        action::create(&f.ledger, &f.operator, new).await.unwrap();
        f.clock.advance(chrono::TimeDelta::seconds(1));
    };
    made("Weekly report", "Lists refunds", Some("scout")).await;
    made("Refund Acme", "Call the bank", Some("clerk")).await;
    made("Clean up", "", None).await;
    let list = async |line: &str| {
        let query = ListActions { line: Some(line.to_owned()), ..Default::default() };
        action::list(&f.ledger, &f.member, query).await
    };
    for (line, names) in [
        ("", &["Clean up", "Refund Acme", "Weekly report"][..]),
        ("REFUND", &["Refund Acme", "Weekly report"]),
        ("refund bank", &["Refund Acme"]),
        ("title:refund", &["Refund Acme"]),
        ("refund -title:acme", &["Weekly report"]),
        ("agent:scout,clerk -title:acme", &["Weekly report"]),
        // A task without an agent stays.
        ("-agent:scout", &["Clean up", "Refund Acme"]),
        ("zebra", &[]),
    ] {
        let found = list(line).await.unwrap().items;
        assert_eq!(found.iter().map(|action| action.name.as_str()).collect::<Vec<_>>(), names, "{line}");
    }
    let refused = list("status:failed").await;
    assert!(
        matches!(&refused, Err(Error::Invalid(issues)) if issues[0].message.contains("the fields are agent, title")),
        "{refused:?}"
    );
    f.done().await;
}

async fn tasks_are_found_by_assignee_and_by_part_of_their_name(f: Fixture) {
    let mine = task(&f, "Review 100% of Q2, Отчёт Über").await;
    let unassigned = NewAction { name: "Review nothing".into(), ..Default::default() };
    action::create(&f.ledger, &f.operator, unassigned).await.unwrap();
    let list = async |who: &Scope, assigned_to, part: Option<&str>| {
        let query = ListActions { assigned_to, name_contains: part.map(str::to_owned), ..Default::default() };
        action::list(&f.ledger, who, query).await.map(|listed| listed.items.len())
    };
    assert_eq!(list(&f.member, Some(Assignee::Me), None).await.unwrap(), 1);
    assert_eq!(list(&f.other_member, Some(Assignee::Me), None).await.unwrap(), 0);
    assert_eq!(list(&f.operator, f.member.user_id().map(Assignee::User), None).await.unwrap(), 1);
    assert_eq!(list(&f.member, None, Some("rEVIEW")).await.unwrap(), 2);
    assert_eq!(list(&f.member, None, Some("100%")).await.unwrap(), 1);
    for part in ["Отчёт Über", "отчёт über", "ОТЧЁТ ÜBER"] {
        assert_eq!(list(&f.member, None, Some(part)).await.unwrap(), 1, "{part}");
    }
    assert_eq!(list(&f.member, Some(Assignee::Me), Some("nothing")).await.unwrap(), 0);
    let own_token = Scope { on_behalf_of: f.member.user_id(), ..f.worker };
    assert_eq!(list(&own_token, Some(Assignee::Me), None).await.unwrap(), 1);
    let refused = list(&f.worker, Some(Assignee::Me), None).await;
    assert!(matches!(&refused, Err(Error::Invalid(fields)) if fields[0].field == "assignedTo"), "{refused:?}");
    start(&f, &f.member, mine).await;
    f.done().await;
}

async fn other_tabs_hear_of_start_switch_and_stop(f: Fixture) {
    let (one, two) = (task(&f, "One").await, task(&f, "Two").await);
    let mut signals = ledger::live::subscribe(&f.ledger, &f.member);
    let counts = async |signals: &mut ledger::live::Signals| {
        let wait = async { while signals.recv().await != Some(ledger::live::LiveSignal::CountsChanged) {} };
        tokio::time::timeout(Duration::from_secs(10), wait).await.expect("no wake-up came");
    };
    start(&f, &f.member, one).await;
    counts(&mut signals).await;
    let second = start(&f, &f.member, two).await.session;
    counts(&mut signals).await;
    counts(&mut signals).await;
    human::stop(&f.ledger, &f.member, second.id).await.unwrap();
    counts(&mut signals).await;
    f.done().await;
}
