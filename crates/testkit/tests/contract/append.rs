//! P-3, P-4, P-5, P-7, P-10: the guarantees of an acknowledged append.

use domain::{Entropy as _, id::EventId};
use futures_util::future::join_all;
use ledger::{
    Error,
    event::{self as events, NewEvent, Read},
    session::{self, Completion},
};
use serde_json::value::RawValue;
use std::collections::HashSet;
use testkit::{Fixture, SeededEntropy, event, on_both_engines, text};

on_both_engines!(
    sequences_are_one_to_n_in_commit_order_under_concurrent_writers,
    a_retried_append_is_one_event,
    the_same_id_with_another_body_is_a_conflict,
    concurrent_retries_of_one_event_record_it_once,
    a_retry_is_answered_even_after_the_session_ended,
    an_external_id_is_recorded_once_per_session,
    a_batch_with_one_bad_event_records_nothing,
    content_is_stored_byte_for_byte,
    what_is_too_large_is_refused_and_nothing_is_cut,
    paging_in_both_directions_reads_every_event_once,
    counts_of_kinds_keep_up_with_the_log,
    the_log_survives_a_restart_and_its_chain_verifies,
    history_cannot_be_changed_behind_the_products_back,
    a_changed_row_is_named_by_verify,
);

fn id(seed: u64) -> EventId {
    let mut bytes = [0; 16];
    SeededEntropy::new(seed).fill(&mut bytes);
    EventId(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

fn with_id(seed: u64, body: &str) -> NewEvent {
    NewEvent { id: Some(id(seed)), ..text(body) }
}

async fn sequences_are_one_to_n_in_commit_order_under_concurrent_writers(f: Fixture) {
    let session = f.running().await;
    let before = session.head_sequence;
    let writer = async |writer: usize| {
        let mut last = 0;
        for n in 0..20 {
            let events = (0..=n % 3).map(|i| text(&format!("{writer}-{n}-{i}"))).collect();
            let done = f.append(session.id, 1, events).await.unwrap();
            let sequences: Vec<u64> = done.events.iter().map(|(_, sequence)| *sequence).collect();
            assert!(sequences.windows(2).all(|w| w[1] == w[0] + 1), "a batch is contiguous: {sequences:?}");
            assert!(sequences[0] > last, "an append that began after another ended comes after it");
            last = *sequences.last().unwrap();
        }
    };
    join_all((0..32).map(writer)).await;
    let log = f.log(session.id).await;
    let expected: Vec<u64> = (1..=log.len() as u64).collect();
    assert_eq!(log.iter().map(|e| e.sequence).collect::<Vec<_>>(), expected);
    let appended = log.iter().filter(|e| e.kind == "agent.message").count();
    assert_eq!(appended, 32 * (7 * 6 - 3), "every acknowledged event is there");
    assert_eq!(log.len() as u64, before + appended as u64);
    f.assert_verified().await;
    f.done().await;
}

async fn a_retried_append_is_one_event(f: Fixture) {
    let session = f.running().await;
    let batch = || vec![with_id(1, "a"), with_id(2, "b")];
    let first = f.append(session.id, 1, batch()).await.unwrap();
    let again = f.append(session.id, 1, batch()).await.unwrap();
    assert_eq!(first.events, again.events);
    // A retry that also contains a new event records only the new event.
    let mixed = f.append(session.id, 1, vec![with_id(2, "b"), with_id(3, "c")]).await.unwrap();
    assert_eq!(mixed.events[0], first.events[1]);
    assert_eq!(mixed.events[1], (id(3), first.head_sequence + 1));
    assert_eq!(f.log(session.id).await.iter().filter(|e| e.kind == "agent.message").count(), 3);
    f.done().await;
}

async fn the_same_id_with_another_body_is_a_conflict(f: Fixture) {
    let session = f.running().await;
    f.append(session.id, 1, vec![with_id(1, "a")]).await.unwrap();
    let refused = f.append(session.id, 1, vec![with_id(9, "new"), with_id(1, "other")]).await;
    assert!(matches!(&refused, Err(Error::IdConflict { detail }) if detail.contains("events[1]")), "{refused:?}");
    let log = f.log(session.id).await;
    assert_eq!(log.iter().filter(|e| e.kind == "agent.message").count(), 1, "the rest of the batch is not recorded");
    f.done().await;
}

async fn concurrent_retries_of_one_event_record_it_once(f: Fixture) {
    let session = f.running().await;
    for round in 0..10 {
        let appends = (0..16).map(|_| f.append(session.id, 1, vec![with_id(100 + round, "same")]));
        let landed: HashSet<u64> = join_all(appends).await.into_iter().map(|done| done.unwrap().events[0].1).collect();
        assert_eq!(landed.len(), 1, "{landed:?}");
    }
    assert_eq!(f.log(session.id).await.iter().filter(|e| e.kind == "agent.message").count(), 10);
    f.done().await;
}

async fn a_retry_is_answered_even_after_the_session_ended(f: Fixture) {
    let session = f.running().await;
    let first = f.append(session.id, 1, vec![with_id(1, "last words")]).await.unwrap();
    let completion = Completion { attempt: 1, result: None, usage: None };
    session::complete(&f.ledger, &f.worker, session.id, completion).await.unwrap();
    let again = f.append(session.id, 1, vec![with_id(1, "last words")]).await.unwrap();
    assert_eq!(first.events, again.events);
    let fresh = f.append(session.id, 1, vec![with_id(2, "more")]).await;
    assert!(matches!(fresh, Err(Error::Refused(_))), "{fresh:?}");
    f.done().await;
}

async fn an_external_id_is_recorded_once_per_session(f: Fixture) {
    let (one, two) = (f.running().await, f.running().await);
    let external = || vec![NewEvent { external_event_id: Some("gh-1".into()), ..event("external.event") }];
    let first = f.append(one.id, 1, external()).await.unwrap();
    assert_eq!(f.append(one.id, 1, external()).await.unwrap().events, first.events);
    f.append(two.id, 1, external()).await.unwrap();
    let other = vec![NewEvent { external_event_id: Some("gh-1".into()), ..text("other") }];
    assert!(matches!(f.append(one.id, 1, other).await, Err(Error::IdConflict { .. })));
    f.done().await;
}

async fn a_batch_with_one_bad_event_records_nothing(f: Fixture) {
    let session = f.running().await;
    for bad in ["user.message", "session.completed", "human.marker"] {
        let refused = f.append(session.id, 1, vec![text("ok"), event(bad), text("ok")]).await;
        assert!(matches!(refused, Err(Error::WriteRefused { index: 1, .. })), "{bad}: {refused:?}");
    }
    let malformed = f.append(session.id, 1, vec![text("ok"), event("Not A Kind")]).await;
    assert!(matches!(&malformed, Err(Error::Invalid(fields)) if fields[0].field == "events[1].type"), "{malformed:?}");
    assert_eq!(f.log(session.id).await.len() as u64, session.head_sequence);
    f.done().await;
}

async fn content_is_stored_byte_for_byte(f: Fixture) {
    let session = f.running().await;
    let bodies = [
        r#"[ {"type" : "text", "text":"\u0000 \ud83d\ude00 é 日本 \\u0041 </script>"} ]"#,
        r#"[{"type":"x","n":1.10,"big":123456789012345678901234567890,"e":1e-7,"dup":1,"dup":2}]"#,
        "[]",
    ];
    for body in bodies {
        let raw = RawValue::from_string(body.trim().to_owned()).unwrap();
        let metadata = RawValue::from_string(r#"{"z":1,"a":{"b":[1.0,2]}}"#.to_owned()).unwrap();
        let new = NewEvent { content: Some(raw), metadata: Some(metadata), ..event("agent.message") };
        f.append(session.id, 1, vec![new]).await.unwrap();
        let last = f.log(session.id).await.pop().unwrap();
        assert_eq!((last.content.as_str(), last.metadata.as_str()), (body, r#"{"z":1,"a":{"b":[1.0,2]}}"#));
    }
    f.assert_verified().await;
    f.done().await;
}

async fn what_is_too_large_is_refused_and_nothing_is_cut(f: Fixture) {
    let session = f.running().await;
    let overhead = r#"[{"text":"","type":"text"}]{}"#.len();
    let largest = "x".repeat(256 * 1024 - overhead);
    f.append(session.id, 1, vec![text(&largest)]).await.unwrap();
    assert!(f.log(session.id).await.pop().unwrap().content.contains(&largest));
    let refused = f.append(session.id, 1, vec![text(&format!("{largest}x"))]).await;
    assert!(matches!(refused, Err(Error::TooLarge(_))), "{refused:?}");
    let many = (0..501).map(|_| text("x")).collect();
    assert!(matches!(f.append(session.id, 1, many).await, Err(Error::Invalid(_))));
    let heavy = (0..5).map(|_| text(&largest)).collect();
    assert!(matches!(f.append(session.id, 1, heavy).await, Err(Error::TooLarge(_))));
    let full = (0..500).map(|n| text(&n.to_string())).collect();
    assert_eq!(f.append(session.id, 1, full).await.unwrap().events.len(), 500);
    f.done().await;
}

async fn paging_in_both_directions_reads_every_event_once(f: Fixture) {
    let session = f.running().await;
    let kinds = ["agent.message", "agent.thinking", "acme.custom"];
    for n in 0..100 {
        f.append(session.id, 1, vec![event(kinds[n % 3])]).await.unwrap();
    }
    for wanted in [vec![], vec!["agent.thinking".to_owned(), "acme.custom".to_owned()]] {
        let expected: Vec<u64> = f
            .log(session.id)
            .await
            .iter()
            .filter(|e| wanted.is_empty() || wanted.contains(&e.kind))
            .map(|e| e.sequence)
            .collect();
        let (mut forward, mut after) = (Vec::new(), 0);
        loop {
            let query = Read { after_sequence: Some(after), kinds: wanted.clone(), limit: 7, ..Read::default() };
            let slice = events::read(&f.ledger, &f.member, session.id, query).await.unwrap();
            forward.extend(slice.events.iter().map(|e| e.sequence));
            if !slice.has_more {
                break;
            }
            after = *forward.last().unwrap();
        }
        let (mut backward, mut before) = (Vec::new(), u64::MAX >> 1);
        loop {
            let query = Read { before_sequence: Some(before), kinds: wanted.clone(), limit: 7, ..Read::default() };
            let slice = events::read(&f.ledger, &f.member, session.id, query).await.unwrap();
            backward.splice(0..0, slice.events.iter().map(|e| e.sequence));
            if !slice.has_more {
                break;
            }
            before = backward[0];
        }
        assert_eq!(forward, expected);
        assert_eq!(backward, expected);
    }
    f.done().await;
}

async fn counts_of_kinds_keep_up_with_the_log(f: Fixture) {
    let session = f.running().await;
    for round in 0..4_usize {
        let events =
            (0..round * 2).map(|n| if n % 3 == 0 { event("tool.used") } else { text("x") }).collect::<Vec<_>>();
        if !events.is_empty() {
            f.append(session.id, 1, events).await.unwrap();
        }
        let mut expected = std::collections::BTreeMap::<String, u64>::new();
        for event in f.log(session.id).await {
            *expected.entry(event.kind).or_default() += 1;
        }
        for _ in 0..2 {
            let counted = events::kind_counts(&f.ledger, &f.operator, session.id).await.unwrap();
            assert_eq!(counted.into_iter().collect::<std::collections::BTreeMap<_, _>>(), expected);
        }
    }
}

async fn the_log_survives_a_restart_and_its_chain_verifies(mut f: Fixture) {
    let session = f.running().await;
    f.append(session.id, 1, vec![with_id(1, "before")]).await.unwrap();
    let before = f.log(session.id).await;
    f.restart().await;
    assert_eq!(f.log(session.id).await, before);
    f.append(session.id, 1, vec![with_id(1, "before"), with_id(2, "after")]).await.unwrap();
    assert_eq!(f.log(session.id).await.len(), before.len() + 1);
    f.assert_verified().await;
    f.done().await;
}

async fn history_cannot_be_changed_behind_the_products_back(f: Fixture) {
    let session = f.running().await;
    session::cancel(&f.ledger, &f.operator, session.id, None).await.unwrap();
    let mut raw = f.engine.raw().await;
    for attack in [
        "UPDATE session_events SET content = '[]'",
        "UPDATE session_events SET sequence = sequence + 1",
        "DELETE FROM session_events",
        "DELETE FROM sessions",
        "UPDATE sessions SET status = 'pending'",
    ] {
        let refused = raw.execute(attack).await;
        let text = refused.err().unwrap_or_else(|| panic!("{attack} was let through")).to_string();
        assert!(text.contains("append-only") || text.contains("kept") || text.contains("final"), "{attack}: {text}");
    }
    if matches!(f.engine, testkit::Engine::Postgres { .. }) {
        for attack in [
            "TRUNCATE session_events",
            "SET ROLE shiftbook_app; DROP TABLE session_events",
            "SET ROLE shiftbook_app; ALTER TABLE session_events DISABLE TRIGGER ALL",
            "SET ROLE shiftbook_app; SET session_replication_role = replica",
            // No row, so no trigger refuses: the role itself has no such right.
            "SET ROLE shiftbook_app; UPDATE session_events SET content = '[]' WHERE false",
            "SET ROLE shiftbook_app; DELETE FROM session_events WHERE false",
            "SET ROLE shiftbook_app; TRUNCATE session_events",
        ] {
            let refused = raw.execute(attack).await;
            let text = refused.err().unwrap_or_else(|| panic!("{attack} was let through")).to_string();
            let reason = match attack.starts_with("SET ROLE") {
                true => text.contains("permission denied") || text.contains("must be owner"),
                false => text.contains("append-only"),
            };
            assert!(reason, "{attack}: {text}");
            raw.execute("RESET ROLE").await.unwrap();
        }
    }
    f.assert_verified().await;
    f.done().await;
}

async fn a_changed_row_is_named_by_verify(f: Fixture) {
    let session = f.running().await;
    for n in 0..5 {
        f.append(session.id, 1, vec![text(&n.to_string())]).await.unwrap();
    }
    let target = f.log(session.id).await.len() as u64 - 2;
    let mut raw = f.engine.raw().await;
    // Tampers as an intruder with full access to the database would.
    match f.engine {
        testkit::Engine::Sqlite(_) => raw.execute("DROP TRIGGER session_events_no_update").await.unwrap(),
        testkit::Engine::Postgres { .. } => raw.execute("SET session_replication_role = replica").await.unwrap(),
    };
    let changes = [
        ("content = '[{\"type\":\"text\",\"text\":\"forged\"}]'", "content or metadata"),
        ("actor = 'user:nobody'", "digest"),
        ("at = at + 1", "digest"),
    ];
    for (change, problem) in changes {
        raw.execute("CREATE TABLE kept AS SELECT * FROM session_events").await.unwrap();
        raw.execute(&format!("UPDATE session_events SET {change} WHERE sequence = {target}")).await.unwrap();
        let (bad, sequence, text) =
            ledger::verify::all(&f.ledger, &[], |_| {}).await.unwrap().bad.expect("a forgery passed");
        assert_eq!((bad, sequence), (session.id, target), "{change}");
        assert!(text.contains(problem), "{change}: {text}");
        let column = change.split(' ').next().unwrap();
        raw.execute(&format!(
            "UPDATE session_events SET {column} = (SELECT k.{column} FROM kept k WHERE k.event_id = session_events.event_id)"
        ))
        .await
        .unwrap();
        raw.execute("DROP TABLE kept").await.unwrap();
        f.assert_verified().await;
    }
    f.done().await;
}
