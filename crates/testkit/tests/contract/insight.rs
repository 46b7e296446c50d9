//! Insights: figures are sums over the log and contain nothing else.

use crate::entity::{acme, company};
use crate::gate::{at_once, decide, edits, gated, says, staged};
use crate::interaction::{answered, due, keep_all};
use crate::memory_writer::{AGENT, changes, finish, line, proposals, settle, take, talked, usage};
use crate::tool_run::{claim_one, complete, echo, published, run};
use chrono::TimeDelta;
use domain::gate::Verdict;
use domain::id::SessionId;
use domain::insight::{Decisions, Figures, Ratings};
use domain::memory_writer::plan::Policy;
use domain::session_feedback::{Label, Surface};
use ledger::{
    Error, feedback, insight,
    memory_writer::{self, ModelUsage, RunFailure, WriterTerms},
    page,
    session::{self, Completion, Failure, ListSessions},
    tool_run::{
        self, RunTool,
        draft::{self, OpenDraft},
    },
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    sessions_count_on_the_day_they_end_with_their_cost,
    decisions_and_the_time_that_agents_waited_are_counted,
    proposals_of_the_memory_writer_are_no_work_of_the_agent,
    tokens_of_runs_that_did_not_report_them_are_left_out_of_the_sum,
    ratings_count_as_they_were_given_and_silence_as_silence,
    runs_of_tools_are_counted_by_tool_and_apart_from_agents,
    a_window_has_bounds_and_a_workspace_sees_itself_alone,
    sessions_are_listed_by_the_day_on_which_they_ended,
    the_days_of_a_list_of_sessions_are_those_of_the_time_zone_that_it_names,
    sessions_are_listed_by_the_day_of_a_decision_or_an_answer,
);

async fn figures(f: &Fixture, days: u32) -> insight::InsightsRecord {
    insight::read_window(&f.ledger, &f.member, days).await.unwrap()
}

async fn completed(f: &Fixture, usage: Value) -> SessionId {
    let running = f.running().await;
    let completion = Completion { attempt: 1, result: None, usage: Some(usage.to_string()) };
    session::complete(&f.ledger, &f.worker, running.id, completion).await.unwrap();
    running.id
}

async fn sessions_count_on_the_day_they_end_with_their_cost(f: Fixture) {
    completed(&f, json!({ "inputTokens": 100, "outputTokens": 10, "costUsd": 0.5 })).await;
    f.clock.advance(TimeDelta::days(2));
    completed(&f, json!({ "inputTokens": 7 })).await;
    let failed = f.running().await;
    let failure = Failure { attempt: 1, message: "no luck".into(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, failed.id, failure).await.unwrap();
    // A session that has not ended is not counted.
    f.pending().await;

    let record = figures(&f, 3).await;
    let days: Vec<_> = record.insights.days.iter().map(|(_, day)| (day.sessions, day.failed)).collect();
    assert_eq!((days.as_slice(), record.is_cut), ([(1, 0), (0, 0), (2, 1)].as_slice(), false));
    let total = &record.insights.total;
    assert_eq!((total.sessions, total.completed, total.failed, total.unrated), (3, 2, 1, 3));
    assert_eq!((total.input_tokens, total.output_tokens, total.cost_usd, total.priced), (107, 10, 0.5, 1));
    assert_eq!(total.metered, 2, "the third session reported no tokens");
    assert_eq!(record.insights.agents.len(), 1, "one agent did it all: {:?}", record.insights.agents);
    assert_eq!(record.insights.agents[0].figures, *total);
    // A window of one day does not count earlier days.
    assert_eq!(figures(&f, 1).await.insights.total.sessions, 2);
    f.done().await;
}

async fn decisions_and_the_time_that_agents_waited_are_counted(f: Fixture) {
    at_once(&f).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    for (minutes, decision) in
        [(1, says(Verdict::Approve)), (2, edits(&json!({ "stage": "Lead" }))), (10, says(Verdict::Deny))]
    {
        let (_, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
        f.clock.advance(TimeDelta::minutes(minutes));
        decide(&f, &f.operator, item.gate.id, decision).await.unwrap();
    }
    // An output that still waits is not counted.
    staged(&f, &of, &json!({ "stage": "Won" })).await;

    let insights = figures(&f, 1).await.insights;
    let Figures { decisions, waits, .. } = insights.total;
    assert_eq!(decisions, Decisions { approved: 1, edited: 1, denied: 1, ..Decisions::default() });
    assert_eq!((waits.count, waits.median_seconds, waits.p90_seconds, waits.total_seconds), (3, 120, 600, 780));
    let by_action: Vec<_> = insights.actions.iter().map(|part| (part.slug.clone(), part.figures.decisions)).collect();
    assert_eq!(by_action, [(Some(of.slug), decisions)]);
    f.done().await;
}

async fn proposals_of_the_memory_writer_are_no_work_of_the_agent(f: Fixture) {
    talked(&f, "I like trains.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let change = changes(&run, json!([line(&run, "Likes trains")]), Value::Null);
    finish(&f, run, change, Policy::Review).await.unwrap();
    let proposal = proposals(&f).await.remove(0).gate;
    decide(&f, &f.operator, proposal.id, says(Verdict::Deny)).await.unwrap();
    settle(&f).await;
    keep_all(&f, &due(&f).await).await;

    let total = figures(&f, 1).await.insights.total;
    assert_eq!(total.sessions, 1, "the conversation alone");
    assert_eq!((total.decisions, total.waits.count), (Decisions::default(), 0));
    let on = Some(f.ledger.now().date_naive());
    for wanted in [
        ListSessions { decided_on: on, ..ListSessions::default() },
        ListSessions { answered_on: on, ..ListSessions::default() },
    ] {
        let listed = session::list(&f.ledger, &f.member, wanted).await.unwrap().items;
        assert!(listed.iter().all(|session| session.id != proposal.session_id), "{listed:?}");
    }
    f.done().await;
}

async fn tokens_of_runs_that_did_not_report_them_are_left_out_of_the_sum(f: Fixture) {
    for (is_unreported, sum) in
        [(true, (1, None, None)), (false, (2, Some(100), Some(20))), (true, (3, Some(100), Some(20)))]
    {
        f.clock.advance(TimeDelta::seconds(1));
        talked(&f, "I like trains.").await;
        let run = take(&f, WriterTerms::default()).await.unwrap();
        let usage = ModelUsage { is_unreported, ..usage() };
        let failure = RunFailure { run, why: "it answered in verse".into(), is_outage: false, usage };
        let record = memory_writer::fail(&f.ledger, f.admin.tenant_id, AGENT, failure).await.unwrap();
        memory_writer::release(&f.ledger, f.admin.tenant_id, AGENT).await.unwrap();
        assert_eq!(record.input_tokens.is_none(), is_unreported);
        let listed = memory_writer::runs(&f.ledger, &f.admin, AGENT).await.unwrap().remove(0);
        assert_eq!((listed.input_tokens, listed.output_tokens), (record.input_tokens, record.output_tokens));
        let of = figures(&f, 1).await.writers.remove(0);
        assert_eq!((of.runs, of.input_tokens, of.output_tokens), sum);
    }
    f.done().await;
}

async fn ratings_count_as_they_were_given_and_silence_as_silence(f: Fixture) {
    let rated = completed(&f, json!({})).await;
    let skipped = completed(&f, json!({})).await;
    completed(&f, json!({})).await;
    for (who, id, label) in [
        (&f.member, rated, Label::Positive),
        (&f.other_member, rated, Label::Negative),
        (&f.member, skipped, Label::Skip),
    ] {
        feedback::record(&f.ledger, who, id, label, Surface::WebEnd).await.unwrap();
    }
    let total = figures(&f, 1).await.insights.total;
    assert_eq!(total.ratings, Ratings { positive: 1, negative: 1, skipped: 1 });
    assert_eq!((total.ratings.helpful(), total.sessions, total.unrated), (Some(0.5), 3, 1));
    feedback::undo(&f.ledger, &f.other_member, rated).await.unwrap();
    assert_eq!(figures(&f, 1).await.insights.total.ratings.helpful(), Some(1.0));
    f.done().await;
}

async fn runs_of_tools_are_counted_by_tool_and_apart_from_agents(f: Fixture) {
    published(&f, echo(json!({}))).await;
    for seconds in [2, 40, 1] {
        run(&f, &f.member, json!({})).await.unwrap();
        let claimed = claim_one(&f).await;
        f.clock.advance(TimeDelta::seconds(seconds));
        complete(&f, &claimed, json!({})).await;
    }
    run(&f, &f.member, json!({})).await.unwrap();
    let failing = claim_one(&f).await;
    let failure = Failure { attempt: failing.attempt, message: "no luck".into(), code: None, usage: None };
    session::fail(&f.ledger, &f.worker, failing.id, failure).await.unwrap();
    let cancelled = run(&f, &f.member, json!({})).await.unwrap();
    session::cancel(&f.ledger, &f.member, cancelled.id, None).await.unwrap();
    run(&f, &f.member, json!({})).await.unwrap();
    // Neither a draft that was not run nor a test of a tool is a run.
    let draft = draft::open(&f.ledger, &f.member, "echo", OpenDraft::default()).await.unwrap();
    session::cancel(&f.ledger, &f.member, draft.session.id, None).await.unwrap();
    let test = tool_run::test(&f.ledger, &f.operator, "echo", RunTool::default()).await.unwrap();
    session::cancel(&f.ledger, &f.operator, test.id, None).await.unwrap();

    let record = figures(&f, 1).await;
    assert_eq!(record.insights.total, Figures::default(), "runs of tools are no sessions of agents");
    let [tool] = record.insights.tools.as_slice() else { panic!("{:?}", record.insights.tools) };
    assert_eq!((tool.slug.as_str(), tool.runs, tool.completed, tool.failed), ("echo", 5, 3, 1));
    assert_eq!((tool.p50_ms, tool.p95_ms, tool.failure_rate()), (Some(2_000), Some(40_000), Some(0.25)));
    let page = page::insight::read(&f.ledger, &f.member, 1).await.unwrap();
    assert_eq!(page.tool_names.get("echo").map(String::as_str), Some("Echo"));
    let strangers = page::insight::read(&f.ledger, &f.stranger, 1).await.unwrap();
    assert!(strangers.tool_names.is_empty() && strangers.record.insights.tools.is_empty());
    f.done().await;
}

async fn a_window_has_bounds_and_a_workspace_sees_itself_alone(f: Fixture) {
    completed(&f, json!({})).await;
    for days in [0, 367] {
        let refused = insight::read_window(&f.ledger, &f.member, days).await;
        assert!(matches!(&refused, Err(Error::Invalid(fields)) if fields[0].field == "days"), "{refused:?}");
    }
    let strangers = insight::read_window(&f.ledger, &f.stranger, 366).await.unwrap();
    assert_eq!(strangers.insights.total, Figures::default());
    assert_eq!(figures(&f, 366).await.insights.total.sessions, 1);
    f.done().await;
}

async fn sessions_are_listed_by_the_day_on_which_they_ended(f: Fixture) {
    let first = completed(&f, json!({})).await;
    let begun = f.pending().await.id;
    let day = f.ledger.now().date_naive();
    f.clock.advance(TimeDelta::days(2));
    session::cancel(&f.ledger, &f.operator, begun, None).await.unwrap();
    for (after, expected) in [(0, vec![first]), (1, Vec::new()), (2, vec![begun])] {
        let ended_on = Some(day + TimeDelta::days(after));
        let wanted = ListSessions { ended_on, ..ListSessions::default() };
        let listed = session::list(&f.ledger, &f.member, wanted).await.unwrap().items;
        assert_eq!(listed.iter().map(|session| session.id).collect::<Vec<_>>(), expected, "day {after}");
    }
    for (on, since, expected) in [
        (None, 0, vec![begun, first]),
        (None, 1, vec![begun]),
        (None, 3, Vec::new()),
        (Some(0), 0, vec![first]),
        (Some(0), 1, Vec::new()),
    ] {
        let date = |after| day + TimeDelta::days(after);
        let (ended_on, ended_since) = (on.map(date), Some(date(since)));
        let wanted = ListSessions { ended_on, ended_since, ..ListSessions::default() };
        let listed = session::list(&f.ledger, &f.member, wanted).await.unwrap().items;
        let found: Vec<_> = listed.iter().map(|session| session.id).collect();
        let is_found = found.len() == expected.len() && expected.iter().all(|id| found.contains(id));
        assert!(is_found, "on {on:?}, since {since}: {found:?}");
    }
    f.done().await;
}

async fn the_days_of_a_list_of_sessions_are_those_of_the_time_zone_that_it_names(f: Fixture) {
    let ended = completed(&f, json!({})).await;
    // A day begins 25 hours earlier in the first zone than in the second, so no instant has the same date in both.
    for (zone, hours) in [("Pacific/Kiritimati", 14), ("Pacific/Pago_Pago", -11)] {
        let day = (f.ledger.now() + TimeDelta::hours(hours)).date_naive();
        for (after, expected) in [(-1, vec![]), (0, vec![ended]), (1, vec![])] {
            let (ended_on, timezone) = (Some(day + TimeDelta::days(after)), Some(zone.to_owned()));
            let wanted = ListSessions { ended_on, timezone, ..ListSessions::default() };
            let listed = session::list(&f.ledger, &f.member, wanted).await.unwrap().items;
            assert_eq!(listed.iter().map(|session| session.id).collect::<Vec<_>>(), expected, "{zone}, day {after}");
        }
    }
    let unknown = ListSessions { timezone: Some("Mars/Olympus".into()), ..ListSessions::default() };
    let refused = session::list(&f.ledger, &f.member, unknown).await;
    assert!(matches!(&refused, Err(Error::Invalid(fields)) if fields[0].field == "timezone"), "{refused:?}");
    f.done().await;
}

async fn sessions_are_listed_by_the_day_of_a_decision_or_an_answer(f: Fixture) {
    at_once(&f).await;
    let day = f.ledger.now().date_naive();
    let answer = answered(&f, "Which port?", &json!("5432")).await.id;
    keep_all(&f, &due(&f).await).await;
    let acme = acme(&f, &company(&f).await, "Acme").await;
    let of = gated(&f, Some(acme.id), Value::Null, json!({})).await;
    let (waiting, item) = staged(&f, &of, &json!({ "stage": "Won" })).await;
    f.clock.advance(TimeDelta::days(1));
    decide(&f, &f.operator, item.gate.id, says(Verdict::Approve)).await.unwrap();
    for (after, with_answer, with_decision) in
        [(-1, vec![], vec![]), (0, vec![answer], vec![]), (1, vec![], vec![waiting.id]), (2, vec![], vec![])]
    {
        let on = Some(day + TimeDelta::days(after));
        let by_answer = ListSessions { answered_on: on, ..ListSessions::default() };
        let by_decision = ListSessions { decided_on: on, ..ListSessions::default() };
        for (wanted, expected) in [(by_answer, with_answer), (by_decision, with_decision)] {
            let listed = session::list(&f.ledger, &f.member, wanted).await.unwrap().items;
            assert_eq!(listed.iter().map(|session| session.id).collect::<Vec<_>>(), expected, "day {after}");
        }
    }
    f.done().await;
}
