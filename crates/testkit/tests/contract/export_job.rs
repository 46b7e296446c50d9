//! The states of export jobs, which are remembered by workspace.

use chrono::TimeDelta;
use domain::{interaction::ExportState, limit::EXPORT_JOBS_REMEMBERED};
use ledger::{
    Error,
    export_job::{Ending, ExportContent, begin, end, find, list},
};
use testkit::{Fixture, on_both_engines};
use uuid::Uuid;

on_both_engines!(an_export_is_remembered_by_its_workspace_until_there_are_newer_ones,);

async fn an_export_is_remembered_by_its_workspace_until_there_are_newer_ones(f: Fixture) {
    let (l, o) = (&f.ledger, &f.operator);
    let id = |n: u32| Uuid::from_u128(0x0193_b0a0_0000_7000_8000_0000_0000_0000 + u128::from(n));
    let options = || r#"{"format":"sft"}"#.to_owned();
    let of_turns = || (ExportContent::Training, options());
    begin(l, o, id(0), "s1".into(), of_turns()).await.unwrap();
    let started = find(l, o, id(0)).await.unwrap().unwrap();
    assert_eq!((started.state, started.server.as_str(), started.options), (ExportState::Running, "s1", options()));
    assert_eq!((started.asked_by, started.ended_at), (o.caller.to_string(), None));
    f.clock.advance(TimeDelta::seconds(3));
    let done = Ending { counts: Some(r#"{"rows":3}"#.into()), error: None };
    end(l, o, id(0), ExportState::Done, done.clone()).await.unwrap();
    // The end of a job is recorded once.
    end(l, o, id(0), ExportState::Failed, Ending { error: Some("late".into()), ..done.clone() }).await.unwrap();
    let ended = find(l, o, id(0)).await.unwrap().unwrap();
    assert_eq!((ended.state, ended.counts, ended.error), (ExportState::Done, done.counts, None));
    assert!(ended.ended_at.is_some_and(|at| at > started.begun_at));

    assert!(matches!(list(l, &f.member, 10).await, Err(Error::Forbidden(_))));
    assert!(matches!(begin(l, &f.member, id(1), "s1".into(), of_turns()).await, Err(Error::Forbidden(_))));
    assert_eq!(find(l, &f.stranger, id(0)).await.unwrap(), None, "another workspace's");
    for n in 1..=EXPORT_JOBS_REMEMBERED {
        begin(l, o, id(n), "s2".into(), of_turns()).await.unwrap();
    }
    assert_eq!(find(l, o, id(0)).await.unwrap(), None);
    let newest = list(l, o, 2).await.unwrap();
    assert_eq!(newest.iter().map(|job| job.id).collect::<Vec<_>>(), [id(50), id(49)]);
    f.done().await;
}
