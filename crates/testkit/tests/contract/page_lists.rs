//! Lists of pages: what their rows hold, and that more rows take no more queries.

use crate::webhook::subscribed;
use chrono::TimeDelta;
use domain::{
    action::ActionStatus,
    session::{Status, Type},
    work_queue::Bucket,
};
use ledger::{
    ActionRecord,
    action::{self, NewAction},
    page,
    session::{self, Failure, NewSession},
    work_queue::QueueScope,
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    the_list_of_tasks_reads_all_their_states_with_one_query,
    the_settings_read_the_messages_of_all_webhooks_with_one_query,
    every_agent_that_a_session_or_a_task_names_is_listed_with_its_open_work,
    today_counts_once_for_all_of_its_sections,
);

/// Returns the data of a page and the number of its statements, which only SQLite counts.
async fn counted<T>(f: &Fixture, page: impl Future<Output = ledger::Result<T>>) -> (T, u64) {
    let before = f.ledger.stats().statements;
    let read = page.await.unwrap();
    (read, f.ledger.stats().statements - before)
}

async fn task(f: &Fixture, name: &str, agent: Option<&str>) -> ActionRecord {
    let new = NewAction { name: name.into(), agent_slug: agent.map(str::to_owned), ..NewAction::default() };
    action::create(&f.ledger, &f.operator, new).await.unwrap()
}

async fn fail_next(f: &Fixture) {
    let claimed = f.claim(1, 60).await.pop().unwrap();
    let failure = Failure { attempt: claimed.attempt, message: "no".into(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, claimed.id, failure).await.unwrap();
}

async fn the_list_of_tasks_reads_all_their_states_with_one_query(f: Fixture) {
    let list = || page::action::list(&f.ledger, &f.member, ActionStatus::Active, None, None, None);
    let once = task(&f, "Once", None).await;
    action::trigger(&f.ledger, &f.operator, once.id, Default::default()).await.unwrap();
    fail_next(&f).await;
    f.clock.advance(TimeDelta::seconds(1));
    let newest = action::trigger(&f.ledger, &f.operator, once.id, Default::default()).await.unwrap();
    let (of_one, statements) = counted(&f, list()).await;
    assert_eq!((of_one.actions[0].1.session_id, of_one.actions[0].1.status), (Some(newest.id), Some(Status::Pending)));
    for n in 0..7 {
        let task = task(&f, &format!("Task {n}"), None).await;
        action::trigger(&f.ledger, &f.operator, task.id, Default::default()).await.unwrap();
    }
    let never = task(&f, "Never", None).await;
    let (of_nine, of_more) = counted(&f, list()).await;
    assert_eq!(of_more, statements, "more tasks take more queries");
    for (task, of) in &of_nine.actions {
        assert_eq!(of.action_id, task.id);
        assert_eq!(of.status, (task.id != never.id).then_some(Status::Pending), "{}", task.name);
    }
    f.done().await;
}

async fn today_counts_once_for_all_of_its_sections(f: Fixture) {
    let read = || page::today::read(&f.ledger, &f.operator, QueueScope::Mine, "UTC");
    let delegatable_and_running = async |number: usize| {
        for n in 0..number {
            let new = NewAction {
                name: format!("Task {n} of {number}"),
                agent_slug: Some("scout".into()),
                assigned_to: f.operator.user_id(),
                ..NewAction::default()
            };
            let made = action::create(&f.ledger, &f.operator, new).await.unwrap();
            if n.is_multiple_of(2) {
                action::trigger(&f.ledger, &f.operator, made.id, Default::default()).await.unwrap();
            }
        }
    };
    delegatable_and_running(2).await;
    let (page, statements) = counted(&f, read()).await;
    assert!(page.sections.iter().all(|section| section.total.is_none()));
    delegatable_and_running(60).await;
    let (page, of_more) = counted(&f, read()).await;
    assert_eq!(of_more, statements, "sections that are cut take more queries");
    let cut: Vec<_> = page.sections.iter().filter_map(|section| Some((section.bucket, section.total?))).collect();
    assert_eq!(cut, [(Bucket::Running, page.counts.running), (Bucket::Delegatable, page.counts.delegatable)]);
    assert_eq!((page.counts.running, page.counts.delegatable), (31, 31));
    f.done().await;
}

async fn the_settings_read_the_messages_of_all_webhooks_with_one_query(f: Fixture) {
    let read = || page::settings::read(&f.ledger, &f.admin, "");
    let url = || "http://127.0.0.1:9/".to_owned();
    let (first, _) = subscribed(&f, url(), &["session.failed"]).await;
    let (_, statements) = counted(&f, read()).await;
    let (quiet, _) = subscribed(&f, url(), &["approval.requested"]).await;
    let (second, _) = subscribed(&f, url(), &["session.failed"]).await;
    for _ in 0..9 {
        f.pending().await;
        fail_next(&f).await;
    }
    let (page, of_more) = counted(&f, read()).await;
    assert_eq!(of_more, statements, "more webhooks take more queries");
    let webhooks = page.administered.unwrap().webhooks;
    for (id, wanted) in [(first.id, 8), (quiet.id, 0), (second.id, 8)] {
        let shown = &webhooks.iter().find(|of| of.webhook.id == id).unwrap().deliveries;
        assert_eq!(shown.len(), wanted);
        assert!(shown.iter().all(|message| message.target_id == id.0) && shown.is_sorted_by(|a, b| a.id > b.id));
    }
    f.done().await;
}

async fn every_agent_that_a_session_or_a_task_names_is_listed_with_its_open_work(f: Fixture) {
    let agents = async || Ok(page::memory::agents(&f.ledger, &f.member).await?.agents);
    let start = async |agent: &str| {
        let new = NewSession { agent_slug: Some(agent.into()), ..NewSession::of_type(Type::Agent) };
        session::create(&f.ledger, &f.operator, new).await.unwrap()
    };
    assert!(agents().await.unwrap().is_empty());
    start("long-runner").await;
    f.claim(1, 60).await;
    start("refund-bot").await;
    fail_next(&f).await;
    for _ in 0..2 {
        start("support-triage-q").await;
    }
    task(&f, "Plan", Some("planner")).await;
    let (listed, statements) = counted(&f, agents()).await;
    let work: Vec<_> = listed.iter().map(|(slug, of)| (slug.as_str(), of.running, of.queued, of.failed)).collect();
    let wanted =
        [("long-runner", 1, 0, 0), ("planner", 0, 0, 0), ("refund-bot", 0, 0, 1), ("support-triage-q", 0, 2, 0)];
    assert_eq!(work, wanted);
    for n in 0..7 {
        start(&format!("more-{n}")).await;
    }
    let (listed, of_more) = counted(&f, agents()).await;
    assert_eq!((listed.len(), of_more), (11, statements));
    f.done().await;
}
