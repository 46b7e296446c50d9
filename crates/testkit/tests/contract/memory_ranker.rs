//! A model that is better than the formula orders the memories that an agent is given, until an operator goes back.

use crate::{
    audit::{Reading, detail},
    memory::put,
    memory_block::{block_of, paths, talk},
};
use chrono::TimeDelta;
use domain::{
    audit::Kind,
    id::TenantId,
    limit::MEMORY_RANKERS_MAX,
    relevance::{self, Row},
};
use ledger::{
    Error,
    memory_ranker::{
        Learned, Refusal, Samples, due, learn, list_by_operator, samples_by_operator, store_by_operator,
        store_by_server, use_by_operator,
    },
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};
use uuid::Uuid;

on_both_engines!(a_better_model_orders_memories_until_an_operator_goes_back, old_versions_go_and_the_one_in_use_stays,);

const WORKSPACE: &str = "acme";
/// Sessions from which on a model counts most.
const SESSIONS: u64 = 520;
const CANDIDATES: u64 = 6;

/// A candidate of a session in which short memories are useful, and long ones harmful.
fn row(session: u64, candidate: u64) -> Row {
    let is_short = (session * 7 + candidate * 5).is_multiple_of(3);
    let value = if is_short { 1.0 } else { -1.0 };
    Row {
        id: Uuid::from_u64_pair(session, candidate),
        tenant: TenantId(Uuid::nil()),
        session_hmac: format!("{session:064x}"),
        turn: 3,
        memory_version: 1,
        query_group: Uuid::from_u64_pair(session, u64::MAX),
        bm25: (CANDIDATES - candidate) as f64,
        recency_d: 3.0,
        importance: 0.5,
        uses_30d: 0,
        same_person: false,
        same_channel: false,
        kind: relevance::Kind::Topics,
        tokens: if is_short { 12 } else { 120 },
        rank: u32::try_from(candidate).unwrap() + 1,
        slot: Some(u32::try_from(candidate).unwrap() + 1),
        injected: true,
        propensity: 1.0,
        holdout: false,
        similarity: None,
        agent_mean: Some(value),
        agent_n: 1,
        use_hits: u32::from(is_short),
        continuity: None,
        label: Some(value),
        weight: 0.5,
        ranker_version: "formula-1".into(),
    }
}

fn learned() -> Learned {
    let mut samples = Samples::default();
    for session in 0..SESSIONS {
        (0..CANDIDATES).for_each(|candidate| samples.push(row(session, candidate)));
    }
    learn(samples.finish(), 1, |_| ())
}

/// What ranked the memories of a new conversation, and the document that came first.
async fn first(f: &Fixture) -> (String, String) {
    let block = block_of(f, talk(None, "Is the launch on Friday?")).await.unwrap();
    (block["ranker"].as_str().unwrap().to_owned(), paths(&block)[0].to_owned())
}

async fn a_better_model_orders_memories_until_an_operator_goes_back(f: Fixture) {
    let long = format!("# Plan\n\nThe launch is on Friday, {}\n", "after much other work has been done, ".repeat(12));
    put(&f, &f.operator, "topics/long.md", 0, &long).await.unwrap();
    put(&f, &f.operator, "topics/short.md", 0, "# Note\n\nThe launch.\n").await.unwrap();
    let of = |ranker: &str, path: &str| (ranker.to_owned(), path.to_owned());
    assert_eq!(first(&f).await, of("formula-1", "topics/long.md"));
    // Nothing is labelled yet.
    assert_eq!(samples_by_operator(&f.ledger, WORKSPACE, |_| ()).await.unwrap(), []);
    let learned = learned();
    assert_eq!(learned.refusal, None, "{learned:?}");
    let mut reading = Reading::begin(&f).await;
    let stored = store_by_operator(&f.ledger, WORKSPACE, 1, &learned).await.unwrap().unwrap();
    let entry = reading.expect(&f, &[Kind::RankerSwitched]).await;
    let adopted = (Some("system"), json!({ "from": null, "to": 1 }));
    assert_eq!((entry.actor.as_deref(), detail(&entry)), adopted);
    assert!(stored.in_use && stored.version == 1 && stored.gain_low > 0.0, "{stored:?}");
    assert_eq!(first(&f).await, of("model-1", "topics/short.md"));
    // A model that is not better is kept, and not used.
    let better = learned.clone();
    let refused = Learned { refusal: Some(Refusal::NotBetter), ..learned };
    let second = store_by_operator(&f.ledger, WORKSPACE, 2, &refused).await.unwrap().unwrap();
    assert_eq!((second.version, second.in_use, second.refusal.as_deref()), (2, false, Some("not_better")));
    for version in [2, 9] {
        let used = use_by_operator(&f.ledger, WORKSPACE, Some(version)).await;
        assert!(matches!(used, Err(Error::Invalid(_))), "{used:?}");
    }
    assert_eq!(first(&f).await, of("model-1", "topics/short.md"), "what is refused changes nothing");
    for _ in 0..2 {
        use_by_operator(&f.ledger, WORKSPACE, None).await.unwrap();
    }
    let entry = reading.expect(&f, &[Kind::RankerSwitched]).await;
    let wanted = (Some("system"), json!({ "from": 1, "to": null }));
    assert_eq!((entry.actor.as_deref(), detail(&entry)), wanted, "a repeat changes nothing");
    assert_eq!(first(&f).await, of("formula-1", "topics/long.md"));
    // A server trains once a day, and does not change what an operator chose.
    assert_eq!(due(&f.ledger, "").await.unwrap(), Vec::<String>::new());
    f.clock.advance(TimeDelta::hours(25));
    assert_eq!(due(&f.ledger, "").await.unwrap(), [WORKSPACE]);
    assert_eq!(due(&f.ledger, WORKSPACE).await.unwrap(), Vec::<String>::new());
    let third = store_by_server(&f.ledger, WORKSPACE, 3, &better).await.unwrap().unwrap();
    assert!(third.refusal.is_none() && !third.in_use, "{third:?}");
    use_by_operator(&f.ledger, WORKSPACE, Some(1)).await.unwrap();
    assert_eq!(first(&f).await, of("model-1", "topics/short.md"));
    let listed = list_by_operator(&f.ledger, WORKSPACE).await.unwrap();
    assert_eq!(listed, [third, second, stored]);
    f.workspace("other").await;
    assert_eq!(list_by_operator(&f.ledger, "other").await.unwrap(), []);
    assert!(matches!(list_by_operator(&f.ledger, "nowhere").await, Err(Error::NotFound(_))));
    f.assert_verified().await;
    f.done().await;
}

async fn old_versions_go_and_the_one_in_use_stays(f: Fixture) {
    let learned = learned();
    let refused = Learned { refusal: Some(Refusal::NotBetter), ..learned.clone() };
    store_by_operator(&f.ledger, WORKSPACE, 1, &learned).await.unwrap();
    for seed in 0..MEMORY_RANKERS_MAX + 1 {
        store_by_operator(&f.ledger, WORKSPACE, seed, &refused).await.unwrap();
    }
    let listed = list_by_operator(&f.ledger, WORKSPACE).await.unwrap();
    assert_eq!(listed.len(), MEMORY_RANKERS_MAX as usize + 1);
    assert_eq!(listed.iter().filter(|one| one.in_use).map(|one| one.version).collect::<Vec<_>>(), [1]);
    let none = Learned { fitted: None, refusal: Some(Refusal::TooFewSessions) };
    assert_eq!(store_by_operator(&f.ledger, WORKSPACE, 1, &none).await.unwrap(), None);
    f.done().await;
}
