//! Full text search over events: what is found, what never is, and that the index neither loses nor doubles an event.

use crate::{
    human::{append, start, task},
    thread::{ENDING, new, turn},
};
use chrono::TimeDelta;
use domain::{Scope, id::SessionId, search::Piece, session::Status};
use ledger::{
    Error,
    event::NewEvent,
    search::{FoundEvents, Indexer, SearchEvents, events, rebuild_by_operator},
    session::{self, Completion, NewSession},
    thread::{self, NewThread},
};
use serde_json::{Value, json, value::RawValue};
use std::collections::BTreeSet;
use testkit::{Fixture, event, human, on_both_engines, text};

on_both_engines!(
    words_phrases_beginnings_and_names_of_code_are_found,
    other_forms_and_other_scripts_are_found,
    inputs_outputs_errors_and_questions_are_found_and_what_is_no_text_is_not,
    no_one_finds_what_is_of_another_workspace_or_incognito,
    an_indexer_that_stops_anywhere_loses_and_doubles_nothing,
    two_indexers_add_each_event_once,
    an_index_that_is_made_anew_gives_the_same_answers,
    pages_have_each_event_once,
    a_search_is_narrowed_by_agent_status_and_time,
    a_search_that_is_none_is_refused_with_its_place,
    what_was_just_recorded_is_found_after_the_next_step,
);

/// Makes everything that was recorded searchable. Returns the number of events that were added.
pub async fn catch_up(f: &Fixture, indexer: &mut Indexer) -> u64 {
    let mut events = 0;
    loop {
        let step = indexer.step(&f.ledger).await.unwrap();
        events += step.events;
        if !step.more {
            return events;
        }
    }
}

pub async fn indexed(f: &Fixture) -> u64 {
    catch_up(f, &mut Indexer::new(&f.ledger)).await
}

pub fn search_for(query: &str) -> SearchEvents {
    SearchEvents { query: query.to_owned(), ..SearchEvents::default() }
}

/// All pages of a search.
async fn pages(f: &Fixture, who: &Scope, search: SearchEvents) -> Vec<FoundEvents> {
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let page = events(&f.ledger, who, SearchEvents { cursor, ..search.clone() }).await.unwrap();
        cursor = page.next_cursor.clone();
        pages.push(page);
        if cursor.is_none() {
            return pages;
        }
    }
}

/// Sequences that a search shows, by session, in its order.
pub async fn found_by(f: &Fixture, who: &Scope, search: SearchEvents) -> Vec<(SessionId, u64)> {
    let pages = pages(f, who, search).await;
    let sessions = pages.into_iter().flat_map(|page| page.sessions);
    sessions.flat_map(|found| found.events.into_iter().map(move |event| (found.session.id, event.sequence))).collect()
}

pub async fn found(f: &Fixture, query: &str) -> Vec<u64> {
    found_by(f, &f.member, search_for(query)).await.into_iter().map(|(_, sequence)| sequence).collect()
}

fn marked(snippet: &[Piece]) -> String {
    let piece = |piece: &Piece| if piece.is_marked { format!("[{}]", piece.text) } else { piece.text.clone() };
    snippet.iter().map(piece).collect()
}

fn raw(json: Value) -> Option<Box<RawValue>> {
    Some(RawValue::from_string(json.to_string()).unwrap())
}

/// A running session with these messages. Returns it, and the sequence of the first of them.
pub async fn session_with(f: &Fixture, messages: &[&str]) -> (SessionId, u64) {
    let session = f.running().await;
    let done = f.append(session.id, 1, messages.iter().map(|message| text(message)).collect()).await.unwrap();
    (session.id, done.events[0].1)
}

async fn words_phrases_beginnings_and_names_of_code_are_found(f: Fixture) {
    let (_, first) = session_with(
        &f,
        &[
            "The rate limit of zendesk was reached",
            "Limit the rate of zendesk",
            "error[E0277] in /src/main_loop.rs at foo_bar",
            "foo and bar; ECONNRESET",
            "refundBot answered: unauthorized",
        ],
    )
    .await;
    indexed(&f).await;
    let at = |places: &[u64]| places.iter().map(|place| first + place).collect::<Vec<_>>();
    for (query, places) in [
        ("rate limit", &[1, 0][..]),
        ("LIMIT zendesk", &[1, 0]),
        ("\"rate limit\"", &[0]),
        ("\"limit the rate\"", &[1]),
        ("rate -reached", &[1]),
        ("rate -\"rate limit\"", &[1]),
        ("unauth*", &[4]),
        ("zend* -lim*", &[]),
        ("E0277", &[2]),
        ("e027", &[]),
        ("foo_bar", &[2]),
        ("foo bar", &[3, 2]),
        ("main_loop", &[2]),
        ("/src/main_loop.rs", &[2]),
        ("src/main*", &[2]),
        ("loop", &[2]),
        ("ECONNRESET", &[3]),
        ("bot", &[4]),
        ("refundbot", &[4]),
        ("\"refund bot\"", &[]),
        ("zebra", &[]),
    ] {
        assert_eq!(found(&f, query).await, at(places), "{query}");
    }
    let page = events(&f.ledger, &f.member, search_for("zend* \"rate limit\"")).await.unwrap();
    let shown = marked(&page.sessions[0].events[0].snippet);
    assert_eq!(shown, "The [rate limit] of [zendesk] was reached");
    f.done().await;
}

async fn other_forms_and_other_scripts_are_found(f: Fixture) {
    let (_, first) = session_with(
        &f,
        &[
            "Refunded twice",
            "two refunds",
            "東京タワーの払い戻し",
            "Die Rechnungen für Größe 5",
            "Возврат лодки",
            "tokyo (東 京)",
        ],
    )
    .await;
    indexed(&f).await;
    let at = |places: &[u64]| places.iter().map(|place| first + place).collect::<Vec<_>>();
    for (query, places) in [
        ("refund", &[1, 0][..]),
        ("refunding", &[1, 0]),
        ("\"refunds\"", &[1]),
        ("refund -twice", &[1]),
        ("東京", &[5, 2]),
        ("東京タワー", &[2]),
        ("京東", &[]),
        ("払い戻し", &[2]),
        ("タワ*", &[2]),
        ("rechnung", &[3]),
        ("grosse", &[]),
        ("größe", &[3]),
        ("GROSS* Größ*", &[]),
        ("лодка", &[4]),
    ] {
        assert_eq!(found(&f, query).await, at(places), "{query}");
    }
    f.done().await;
}

async fn inputs_outputs_errors_and_questions_are_found_and_what_is_no_text_is_not(f: Fixture) {
    let session = f.running().await;
    let call = json!([{ "type": "tool-call", "toolCallId": "callnumber", "toolName": "search_repo",
        "input": { "query": "needlework", "customerId": "c-77" } }]);
    let result = json!([{ "type": "tool-result", "toolCallId": "callnumber", "toolName": "search_repo",
        "output": { "type": "json", "value": { "rows": [{ "path": "yarn.lock" }], "png": "QUJD".repeat(100) } } }]);
    let failed = json!({ "toolName": "curl", "error": "ECONNREFUSED", "code": "E42" });
    let new = [
        NewEvent { content: raw(call), ..event("agent.tool_call") },
        NewEvent { content: raw(result), ..event("agent.tool_result") },
        NewEvent { metadata: raw(failed), ..event("tool.invocation_failed") },
        NewEvent { metadata: raw(json!({ "usage": { "model": "modelname" } })), ..text("plain") },
        NewEvent { metadata: raw(json!({ "source": "cron", "note": "nightly" })), ..event("external.event") },
    ];
    let first = f.append(session.id, 1, new.into()).await.unwrap().events[0].1;
    let report = Completion { attempt: 1, result: None, usage: None };
    session::complete(&f.ledger, &f.worker, session.id, report).await.unwrap();
    indexed(&f).await;
    for (query, places) in [
        ("search_repo", &[1, 0][..]),
        ("needlework", &[0]),
        ("customerId", &[0]),
        ("customer", &[0]),
        ("yarn.lock", &[1]),
        ("econnrefused e42 curl", &[2]),
        ("nightly", &[4]),
        ("cron", &[4]),
        ("callnumber", &[]),
        ("modelname", &[]),
        ("QUJD*", &[]),
        // The session was claimed and completed, and its status changed.
        ("running", &[]),
        ("claimed", &[]),
        ("completed", &[]),
    ] {
        let at: Vec<u64> = places.iter().map(|place| first + place).collect();
        assert_eq!(found(&f, query).await, at, "{query}");
    }
    f.done().await;
}

async fn no_one_finds_what_is_of_another_workspace_or_incognito(f: Fixture) {
    const WORD: &str = "quetzalcoatlus";
    let talk = thread::start(&f.ledger, &f.member, NewThread { incognito: true, ..new(Some(WORD)) }).await.unwrap();
    turn(&f, WORD).await;
    let child = NewSession {
        parent_id: Some(talk.session.id),
        input: Some(json!(WORD).to_string()),
        ..NewSession::of_type(domain::session::Type::Tool)
    };
    session::create(&f.ledger, &f.member, child).await.unwrap();
    indexed(&f).await;
    for who in [&f.admin, &f.member, &f.worker, &f.operator, &f.stranger] {
        assert!(found_by(&f, who, search_for(WORD)).await.is_empty(), "{:?}", who.caller);
    }
    thread::end(&f.ledger, &f.member, talk.session.id, ENDING).await.unwrap();
    indexed(&f).await;
    assert_eq!(words_in_index(&f, WORD).await, 0, "an incognito conversation is in the index");
    // The same word in an open conversation is found by its workspace alone.
    let open = thread::start(&f.ledger, &f.member, new(Some(WORD))).await.unwrap().session.id;
    indexed(&f).await;
    assert_eq!(words_in_index(&f, WORD).await, 1, "the test would find it");
    for who in [&f.admin, &f.member, &f.other_member, &f.worker] {
        let found: BTreeSet<_> =
            found_by(&f, who, search_for(WORD)).await.into_iter().map(|(session, _)| session).collect();
        assert_eq!(found, BTreeSet::from([open]), "{:?}", who.caller);
    }
    assert!(found_by(&f, &f.stranger, search_for(WORD)).await.is_empty());
    // An entry that should not be there shows nothing to another workspace either.
    let cursor = events(&f.ledger, &f.stranger, search_for("que*")).await.unwrap();
    assert!(cursor.sessions.is_empty() && cursor.next_cursor.is_none());
    f.done().await;
}

/// How many blocks or rows of the index have a word in the clear. The beginning of a word can be stored with the word
/// before it, so a word with an unusual beginning is looked for.
pub async fn words_in_index(f: &Fixture, word: &str) -> i64 {
    let mut raw = f.engine.raw().await;
    if f.ledger.data_dir().is_none() {
        return raw.number(&format!("SELECT COUNT(*) FROM search_events WHERE terms::text LIKE '%{word}%'")).await;
    }
    let hex: String = word.bytes().map(|byte| format!("{byte:02X}")).collect();
    let blocks = format!("SELECT COUNT(*) FROM search_events_data WHERE instr(hex(block), '{hex}') > 0");
    raw.number(&blocks).await
}

/// The index is sound in itself. SQLite alone can say so.
pub async fn assert_sound(f: &Fixture) {
    if f.ledger.data_dir().is_some() {
        let check = "INSERT INTO search_events (search_events) VALUES ('integrity-check')";
        f.engine.raw().await.execute(check).await.unwrap();
    }
}

pub async fn end(f: &Fixture, session: SessionId) {
    let report = Completion { attempt: 1, result: None, usage: None };
    session::complete(&f.ledger, &f.worker, session, report).await.unwrap();
}

async fn an_indexer_that_stops_anywhere_loses_and_doubles_nothing(f: Fixture) {
    let mut expected = Vec::new();
    for number in 0..7 {
        let messages: Vec<String> = (0..70).map(|at| format!("tea cup{at}x{number}")).collect();
        let (session, first) = session_with(&f, &messages.iter().map(String::as_str).collect::<Vec<_>>()).await;
        expected.extend((first..first + 70).map(|sequence| (session, sequence)));
    }
    let mut events = 0;
    // Each of these stops after one step, and remembers nothing.
    loop {
        let step = Indexer::new(&f.ledger).step(&f.ledger).await.unwrap();
        events += step.events;
        if !step.more {
            break;
        }
        assert!(step.events <= 300, "one step has a bound");
    }
    assert_eq!(events, 490);
    for (number, of_session) in expected.chunks(70).enumerate() {
        for (at, event) in of_session.iter().enumerate().step_by(23) {
            assert_eq!(found_by(&f, &f.admin, search_for(&format!("cup{at}x{number}"))).await, [*event]);
        }
    }
    let pages = pages(&f, &f.admin, search_for("tea")).await;
    let count: u64 = pages.iter().flat_map(|page| &page.sessions).map(|of| of.events.len() as u64 + of.more).sum();
    assert_eq!(count, 490, "an event is in the index twice, or not at all");
    assert_sound(&f).await;
    f.done().await;
}

async fn two_indexers_add_each_event_once(f: Fixture) {
    let (_, _) = session_with(&f, &["tea"; 60]).await;
    let (mut one, mut other) = (Indexer::new(&f.ledger), Indexer::new(&f.ledger));
    let (a, b) = tokio::join!(one.step(&f.ledger), other.step(&f.ledger));
    a.unwrap();
    b.unwrap();
    for indexer in [&mut one, &mut other] {
        catch_up(&f, indexer).await;
    }
    let page = events(&f.ledger, &f.admin, search_for("tea")).await.unwrap();
    assert_eq!(page.sessions[0].events.len() as u64 + page.sessions[0].more, 60);
    assert_sound(&f).await;
    f.done().await;
}

async fn an_index_that_is_made_anew_gives_the_same_answers(f: Fixture) {
    for number in 0..25_i64 {
        let (session, _) = session_with(&f, &[&format!("tea number {number}"), "milk", "東京 tea"]).await;
        f.clock.advance(TimeDelta::hours(number * number));
        // Sessions end, and say more, in another order than they began.
        f.append(session, 1, vec![text("late tea")]).await.unwrap();
        indexed(&f).await;
    }
    let mut before = Vec::new();
    for query in ["tea", "tea -late", "\"late tea\"", "東京", "num* milk", "numbers"] {
        before.push((query, found_by(&f, &f.member, search_for(query)).await));
    }
    let mut progress = Vec::new();
    assert_eq!(rebuild_by_operator(&f.ledger, |events| progress.push(events)).await.unwrap(), 100);
    assert!(progress.is_sorted() && progress.last() == Some(&100), "{progress:?}");
    for (query, found) in before {
        assert!(!found.is_empty() || query == "num* milk", "{query}");
        assert_eq!(found_by(&f, &f.member, search_for(query)).await, found, "{query}");
    }
    assert_sound(&f).await;
    f.done().await;
}

async fn pages_have_each_event_once(f: Fixture) {
    // 40 sessions with one event each, then one session with 1, 2, 7 and 40.
    let mut sessions = Vec::new();
    for number in 0..40 {
        sessions.push(session_with(&f, &[&format!("cup {number}")]).await.0);
        f.clock.advance(TimeDelta::seconds(1));
    }
    for (word, count) in [("one", 1), ("two", 2), ("seven", 7), ("forty", 40)] {
        session_with(&f, &vec![word; count]).await;
    }
    indexed(&f).await;
    let found = pages(&f, &f.member, search_for("cup")).await;
    assert_eq!(found.iter().map(|page| page.sessions.len()).collect::<Vec<_>>(), [20, 20]);
    let order: Vec<SessionId> = found.iter().flat_map(|page| &page.sessions).map(|found| found.session.id).collect();
    assert_eq!(order, sessions.into_iter().rev().collect::<Vec<_>>(), "the newest is first, each is there once");
    for (word, shown, more) in [("one", 1, 0), ("two", 2, 0), ("seven", 3, 4), ("forty", 3, 37)] {
        let page = events(&f.ledger, &f.member, search_for(&format!("\"{word}\""))).await.unwrap();
        assert_eq!((page.sessions.len(), page.next_cursor), (1, None), "{word}");
        let session = &page.sessions[0];
        let sequences: Vec<u64> = session.events.iter().map(|event| event.sequence).collect();
        assert_eq!((sequences.len(), session.more), (shown, more), "{word}");
        assert!(sequences.is_sorted_by(|newer, older| newer > older), "{word}: {sequences:?}");
    }
    let other =
        events(&f.ledger, &f.stranger, SearchEvents { cursor: found[0].next_cursor.clone(), ..search_for("cup") })
            .await;
    assert!(other.unwrap().sessions.is_empty(), "a cursor opens nothing");
    let bad = events(&f.ledger, &f.member, SearchEvents { cursor: Some("AAAA".into()), ..search_for("cup") }).await;
    assert!(matches!(bad, Err(Error::InvalidCursor)), "{bad:?}");
    f.done().await;
}

async fn a_search_is_narrowed_by_agent_status_and_time(f: Fixture) {
    let begin = f.ledger.now();
    let (scouts, _) = session_with(&f, &["tea"]).await;
    f.clock.advance(TimeDelta::days(3));
    let new = NewSession { agent_slug: Some("clerk".into()), ..NewSession::of_type(domain::session::Type::Agent) };
    session::create(&f.ledger, &f.operator, new).await.unwrap();
    let clerks = f.claim(1, 3_600).await.remove(0).id;
    f.append(clerks, 1, vec![text("tea")]).await.unwrap();
    end(&f, clerks).await;
    f.clock.advance(TimeDelta::days(400));
    let (newest, _) = session_with(&f, &["tea"]).await;
    indexed(&f).await;
    let day = |days: i64| Some(begin + TimeDelta::days(days));
    let tea = || search_for("tea");
    for (what, search, sessions) in [
        ("all", tea(), &[newest, clerks, scouts][..]),
        ("agent", SearchEvents { agent_slug: Some("scout".into()), ..tea() }, &[newest, scouts]),
        ("unknown agent", SearchEvents { agent_slug: Some("nobody".into()), ..tea() }, &[]),
        ("status", SearchEvents { status: Some(Status::Completed), ..tea() }, &[clerks]),
        ("after", SearchEvents { after: day(2), ..tea() }, &[newest, clerks]),
        ("at", SearchEvents { after: day(3), before: day(4), ..tea() }, &[clerks]),
        ("before", SearchEvents { before: day(3), ..tea() }, &[scouts]),
        ("before all", SearchEvents { before: day(0), ..tea() }, &[]),
        ("after all", SearchEvents { after: day(404), ..tea() }, &[]),
        ("none", SearchEvents { after: day(4), before: day(2), ..tea() }, &[]),
    ] {
        let found: Vec<_> = found_by(&f, &f.member, search).await.into_iter().map(|(session, _)| session).collect();
        assert_eq!(found, sessions, "{what}");
    }
    f.done().await;
}

async fn a_search_that_is_none_is_refused_with_its_place(f: Fixture) {
    for (query, message) in [
        ("", "name at least one word to find"),
        ("-tea", "name at least one word to find"),
        ("ab \"cd", "the quotation mark at character 4 has no second one"),
        ("a*", "the * at character 2 needs at least 2 letters or digits before it"),
        ("\0", "there is a control character at character 1"),
    ] {
        match events(&f.ledger, &f.member, search_for(query)).await {
            Err(Error::Invalid(issues)) => {
                assert_eq!((issues[0].field.as_str(), issues[0].message.as_str()), ("q", message), "{query}");
            }
            other => panic!("{query}: {other:?}"),
        }
    }
    let agent = SearchEvents { agent_slug: Some("No Slug".into()), ..search_for("tea") };
    assert!(matches!(events(&f.ledger, &f.member, agent).await, Err(Error::Invalid(_))));
    // What could be taken for the language of an engine is only words.
    session_with(&f, &["tea AND (milk) NEAR words : x' & | ! <-> \u{1f600}"]).await;
    indexed(&f).await;
    for query in ["tea AND milk", "near", "\"words:x\"", "tea & | ! <-> ( ) '", "\"x' & | !\" \u{1f600}", "{words}:x"] {
        assert_eq!(found(&f, query).await.len(), 1, "{query}");
    }
    assert!(found(&f, "tea OR zebra").await.is_empty());
    f.done().await;
}

async fn what_was_just_recorded_is_found_after_the_next_step(f: Fixture) {
    let (session, first) = session_with(&f, &["tea"]).await;
    let before = events(&f.ledger, &f.member, search_for("tea")).await.unwrap();
    assert!(before.sessions.is_empty() && before.indexed_until.is_none(), "nothing was indexed yet");
    assert_eq!(ledger::search::lag(&f.ledger), None);
    let mut indexer = Indexer::new(&f.ledger);
    catch_up(&f, &mut indexer).await;
    let until = f.ledger.now();
    assert_eq!(events(&f.ledger, &f.member, search_for("tea")).await.unwrap().indexed_until, Some(until));
    f.clock.advance(TimeDelta::seconds(7));
    f.append(session, 1, vec![text("more tea")]).await.unwrap();
    assert_eq!(ledger::search::lag(&f.ledger), Some(TimeDelta::seconds(7)));
    assert_eq!(catch_up(&f, &mut indexer).await, 1);
    let page = events(&f.ledger, &f.member, search_for("tea")).await.unwrap();
    assert_eq!(page.indexed_until, Some(f.ledger.now()));
    let sequences: Vec<u64> = page.sessions[0].events.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, [first + 1, first]);
    assert_eq!(ledger::search::lag(&f.ledger), Some(TimeDelta::zero()));
    // A note of a person is found, the pages that they opened are not.
    let task = task(&f, "Tidy up").await;
    let working = start(&f, &f.member, task).await.session.id;
    let noted = vec![human("human.navigate", "/settings"), human("human.marker", "look at teapots")];
    append(&f, &f.member, working, noted).await.unwrap();
    catch_up(&f, &mut indexer).await;
    assert_eq!(found(&f, "teapot").await.len(), 1);
    assert!(found(&f, "settings").await.is_empty());
    f.done().await;
}
