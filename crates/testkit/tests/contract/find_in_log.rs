//! Finding a text in one log: which events have it, how they are counted, who may look, and what was erased.

use crate::{
    retention::key,
    search::{end, session_with},
    thread::new,
};
use chrono::TimeDelta;
use domain::{Scope, id::SessionId, limit::PAGE_MAX};
use ledger::{
    Error,
    event::{Find, FoundInLog, Items, NewEvent, find},
    page::{self, session::LogWindow},
    retention,
    thread::{self, NewThread},
};
use serde_json::{json, value::to_raw_value};
use testkit::{Fixture, event, on_both_engines, text};

on_both_engines!(
    all_events_of_a_long_log_are_found_and_each_is_on_its_page,
    a_text_is_found_as_it_is_written_and_shown,
    a_text_that_is_none_is_refused,
    only_who_sees_a_session_finds_something_in_it,
    erased_events_are_found_by_no_one,
);

const ALL: Items = Items::After { sequence: 0, limit: PAGE_MAX };

fn finding(text: &str, items: Items) -> Find {
    Find { text: text.to_owned(), kinds: Vec::new(), items }
}

async fn found(f: &Fixture, who: &Scope, id: SessionId, text: &str) -> ledger::Result<Vec<u64>> {
    let found = find(&f.ledger, who, id, finding(text, ALL)).await?;
    assert!(found.is_exact && !found.has_more);
    let places: Vec<u64> = found.places.iter().map(|place| place.sequence).collect();
    assert_eq!(found.items.iter().map(|item| item.sequence).collect::<Vec<_>>(), places);
    Ok(places)
}

async fn all_events_of_a_long_log_are_found_and_each_is_on_its_page(f: Fixture) {
    let session = f.running().await;
    for part in 0..3 {
        // Every 35th of 1,400 events: 40 in all, on several pages of the log.
        let said = |at: usize| text(&if at.is_multiple_of(35) { format!("zebra {at}") } else { format!("said {at}") });
        let from = part * 480;
        let events: Vec<NewEvent> = (from..(from + 480).min(1_400)).map(said).collect();
        f.append(session.id, session.attempt, events).await.unwrap();
    }
    let first = session.head_sequence + 1;
    let expected: Vec<u64> = (0..40).map(|number| first + number * 35).collect();
    assert_eq!(found(&f, &f.member, session.id, "ZEBRA").await.unwrap(), expected);
    assert_eq!(found(&f, &f.member, session.id, "zebra 35").await.unwrap(), [expected[1], expected[10]], "350 too");
    assert!(found(&f, &f.member, session.id, "giraffe").await.unwrap().is_empty());

    let read = async |items| find(&f.ledger, &f.member, session.id, finding("zebra", items)).await.unwrap();
    let sequences = |found: &FoundInLog| found.items.iter().map(|item| item.sequence).collect::<Vec<_>>();
    let page = read(Items::After { sequence: expected[9], limit: 10 }).await;
    assert_eq!((page.places.len(), page.has_more, sequences(&page)), (40, true, expected[10..20].to_vec()));
    let rest = read(Items::After { sequence: expected[29], limit: 10 }).await;
    assert_eq!((rest.places.len(), rest.has_more, sequences(&rest)), (40, false, expected[30..].to_vec()));
    for (number, sequence, has_more) in [(1, expected[0], true), (40, expected[39], false), (99, expected[39], false)] {
        let one = read(Items::Number(number)).await;
        assert_eq!((sequences(&one), one.has_more), (vec![sequence], has_more), "{number}");
    }
    assert!(read(Items::Number(0)).await.items.is_empty());

    let none = |_: &[(String, u64)]| Vec::new();
    for sequence in [expected[0], expected[20], expected[39]] {
        let window = LogWindow::Around(sequence);
        let page = page::session::read(&f.ledger, &f.member, session.id, window, none).await.unwrap();
        assert!(page.events.slice.events.iter().any(|event| event.sequence == sequence), "{sequence}");
    }
    f.done().await;
}

/// An event of an agent with this content.
fn of(kind: &str, content: &serde_json::Value) -> NewEvent {
    NewEvent { content: Some(to_raw_value(content).unwrap()), ..event(kind) }
}

async fn a_text_is_found_as_it_is_written_and_shown(f: Fixture) {
    let (id, first) = session_with(&f, &["100 % of a_b in a\nrow", "a-b and **bold** text", "東京タワー", "axb"]).await;
    let input = json!({ "query": "Umlaut Ä", "limit": 3 });
    let call = json!([{ "type": "tool-call", "toolCallId": "call_nine", "toolName": "search_repo", "input": input }]);
    let output = json!({ "type": "text", "value": "no such\tfile" });
    let part = json!({ "type": "tool-result", "toolCallId": "call_nine", "toolName": "search_repo", "output": output });
    let result = json!([part]);
    let thought = json!([{ "type": "text", "text": "Perhaps `main.rs`" }]);
    let more = vec![of("agent.tool_call", &call), of("agent.tool_result", &result), of("agent.thinking", &thought)];
    f.append(id, 1, more).await.unwrap();
    for (text, places) in [
        ("%", &[0][..]),
        ("a_b", &[0]),
        ("a row", &[0]),
        ("a-b", &[1]),
        ("and bold text", &[1]),
        ("**BOLD**", &[1]),
        ("text and", &[]),
        ("京タ", &[2]),
        ("search_repo", &[4, 5]),
        ("umlaut ä", &[4]),
        ("limit: 3", &[4]),
        ("no such file", &[5]),
        ("call_nine", &[]),
        ("perhaps main.rs", &[6]),
    ] {
        let expected: Vec<u64> = places.iter().map(|place| first + place).collect();
        assert_eq!(found(&f, &f.member, id, text).await.unwrap(), expected, "{text}");
    }
    // What only this log shows: the changes of its status.
    assert_eq!(found(&f, &f.member, id, "queued").await.unwrap().len(), 1);
    let of_kinds = Find { kinds: vec!["agent.tool_result".into()], ..finding("search_repo", ALL) };
    let of_kinds = find(&f.ledger, &f.member, id, of_kinds).await.unwrap();
    assert_eq!(of_kinds.places.len(), 1);
    let pieces = of_kinds.items[0].snippet.iter();
    let snippet: Vec<_> = pieces.map(|piece| (piece.text.as_str(), piece.is_marked)).collect();
    assert_eq!(snippet, [("search_repo", true), (" no such file", false)]);
    f.done().await;
}

async fn a_text_that_is_none_is_refused(f: Fixture) {
    let (id, _) = session_with(&f, &["tea"]).await;
    let long = "x".repeat(201);
    for (text, items, field, reason) in [
        ("", ALL, "q", "name what to find"),
        (" \n ", ALL, "q", "name what to find"),
        (long.as_str(), ALL, "q", "at most 200 characters"),
        ("tea", Items::After { sequence: 0, limit: PAGE_MAX + 1 }, "limit", "at most 1000"),
    ] {
        match find(&f.ledger, &f.member, id, finding(text, items)).await {
            Err(Error::Invalid(issues)) => {
                assert_eq!((issues[0].field.as_str(), issues[0].message.as_str()), (field, reason));
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    f.done().await;
}

async fn only_who_sees_a_session_finds_something_in_it(f: Fixture) {
    let (id, first) = session_with(&f, &["tea"]).await;
    for who in [&f.member, &f.other_member, &f.admin, &f.worker] {
        assert_eq!(found(&f, who, id, "tea").await.unwrap(), [first]);
    }
    let hush = NewThread { incognito: true, ..new(Some("A secret")) };
    let hush = thread::start(&f.ledger, &f.member, hush).await.unwrap().session.id;
    assert!(!found(&f, &f.member, hush, "secret").await.unwrap().is_empty(), "its own person finds it");
    for (who, id) in [(&f.stranger, id), (&f.other_member, hush), (&f.admin, hush), (&f.worker, hush)] {
        let hidden = found(&f, who, id, "e").await;
        assert!(matches!(hidden, Err(Error::NotFound(_))), "{hidden:?}");
    }
    f.done().await;
}

async fn erased_events_are_found_by_no_one(f: Fixture) {
    let (id, first) = session_with(&f, &["quetzal", "tea"]).await;
    assert_eq!(found(&f, &f.member, id, "quetzal").await.unwrap(), [first]);
    end(&f, id).await;
    f.clock.advance(TimeDelta::days(40));
    let older_than = f.ledger.now() - TimeDelta::days(30);
    assert_eq!(retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await.unwrap().sessions, 1);
    assert!(found(&f, &f.member, id, "quetzal").await.unwrap().is_empty());
    assert!(found(&f, &f.admin, id, "tea").await.unwrap().is_empty());
    f.done().await;
}
