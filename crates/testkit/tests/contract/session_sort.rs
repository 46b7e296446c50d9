//! The orders of the list of sessions: ties, pages, cursors, and who sees what.

use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    clock::to_micros,
    id::SessionId,
    session::{Session, Sort, Type, Usage},
};
use ledger::{
    Error,
    search::SearchLine,
    session::{self, Completion, ListSessions, NewSession},
    thread::{self, NewThread},
};
use serde_json::json;
use std::cmp::Reverse;
use testkit::{Fixture, on_both_engines, text};

on_both_engines!(
    forty_sessions_with_ties_are_listed_once_in_each_order_page_by_page,
    a_session_that_ends_between_two_pages_keeps_its_place_among_the_longest,
    the_latest_activity_is_that_of_the_newest_event,
    a_cursor_of_one_order_is_refused_in_every_other,
    no_order_shows_private_sessions_of_others_or_other_workspaces,
);

async fn created(f: &Fixture, agent: &str) -> SessionId {
    f.clock.advance(TimeDelta::seconds(1));
    let new = NewSession { agent_slug: Some(agent.into()), ..NewSession::of_type(Type::Agent) };
    session::create(&f.ledger, &f.operator, new).await.unwrap().id
}

async fn completed(f: &Fixture, id: SessionId, usage: Option<String>) {
    session::complete(&f.ledger, &f.worker, id, Completion { attempt: 1, result: None, usage }).await.unwrap();
}

/// 40 sessions: 20 completed ones, of which two each have the same duration and several the same cost, 10 running ones
/// and 10 that were never claimed.
async fn forty(f: &Fixture) {
    for _ in 0..40 {
        created(f, "scout").await;
    }
    for _ in 0..2 {
        for (place, running) in f.claim(10, 3_600).await.into_iter().enumerate() {
            if place % 2 == 0 {
                f.clock.advance(TimeDelta::seconds(60));
            }
            let cost = [0.0, 0.25, 1.5][place % 3];
            let usage = (place % 5 > 0).then(|| json!({ "costUsd": cost }).to_string());
            completed(f, running.id, usage).await;
        }
    }
    assert_eq!(f.claim(10, 3_600).await.len(), 10);
    f.clock.advance(TimeDelta::seconds(90));
}

fn asking(sort: Sort, line: &str) -> ListSessions {
    let query = (!line.is_empty()).then(|| SearchLine { text: line.to_owned(), timezone: None });
    ListSessions { sort, query, ..ListSessions::default() }
}

/// The pages of a list, as long as there is a next one.
async fn walk(f: &Fixture, wanted: ListSessions) -> Vec<Vec<Session>> {
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let page = ListSessions { limit: 7, cursor, ..wanted.clone() };
        let page = session::list(&f.ledger, &f.member, page).await.unwrap();
        pages.push(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return pages;
        }
    }
}

/// What a session is sorted by.
fn value(session: &Session, sort: Sort, now: Timestamp) -> i64 {
    match sort {
        Sort::Newest | Sort::Oldest => 0,
        Sort::Cost => Usage::read(session.usage.as_deref()).cost_micros().unwrap_or(-1),
        Sort::Activity => to_micros(session.updated_at),
        Sort::Duration => {
            let end = session.completed_at().unwrap_or(now);
            session.started_at.map_or(-1, |start| to_micros(end) - to_micros(start))
        }
    }
}

async fn forty_sessions_with_ties_are_listed_once_in_each_order_page_by_page(f: Fixture) {
    forty(&f).await;
    let now = f.ledger.now();
    let all = session::list(&f.ledger, &f.member, asking(Sort::Newest, "")).await.unwrap().items;
    assert_eq!(all.len(), 40);
    for sort in Sort::ALL {
        let mut expected = all.clone();
        expected.sort_by_key(|session| Reverse((value(session, sort, now), session.id.0)));
        if sort == Sort::Oldest {
            expected.reverse();
        }
        let ended: Vec<_> = expected.iter().filter(|session| session.completed_at().is_some()).cloned().collect();
        for (line, expected) in
            [("", &expected), ("agent:scout -status:failed", &expected), ("status:completed", &ended)]
        {
            let pages = walk(&f, asking(sort, line)).await;
            assert_eq!(pages.len(), expected.len().div_ceil(7), "{sort} {line}");
            let ids: Vec<_> = pages.concat().iter().map(|session| session.id).collect();
            assert_eq!(ids, expected.iter().map(|session| session.id).collect::<Vec<_>>(), "{sort} {line}");
        }
        let ties = expected.windows(2).filter(|pair| value(&pair[0], sort, now) == value(&pair[1], sort, now));
        assert!(ties.count() > 5, "{sort}: the order of equal values is tested");
    }
    f.done().await;
}

async fn a_session_that_ends_between_two_pages_keeps_its_place_among_the_longest(f: Fixture) {
    for _ in 0..3 {
        created(&f, "scout").await;
        f.clock.advance(TimeDelta::seconds(10));
        f.claim(1, 3_600).await;
    }
    let page = ListSessions { limit: 1, ..asking(Sort::Duration, "") };
    let first = session::list(&f.ledger, &f.member, page.clone()).await.unwrap();
    let all = session::list(&f.ledger, &f.member, asking(Sort::Duration, "")).await.unwrap().items;
    f.clock.advance(TimeDelta::minutes(30));
    completed(&f, all[1].id, None).await;
    created(&f, "scout").await;
    let second = ListSessions { cursor: first.next_cursor, limit: 9, ..page };
    let second = session::list(&f.ledger, &f.member, second).await.unwrap().items;
    let places: Vec<_> = second.iter().map(|session| session.id).collect();
    assert_eq!((first.items[0].id, &places[..2]), (all[0].id, &[all[1].id, all[2].id][..]));
    f.done().await;
}

async fn the_latest_activity_is_that_of_the_newest_event(f: Fixture) {
    let quiet = f.running().await.id;
    f.clock.advance(TimeDelta::seconds(1));
    let newer = f.running().await.id;
    let order = async || {
        let listed = session::list(&f.ledger, &f.member, asking(Sort::Activity, "")).await.unwrap();
        listed.items.into_iter().map(|session| session.id).collect::<Vec<_>>()
    };
    assert_eq!(order().await, [newer, quiet]);
    f.clock.advance(TimeDelta::seconds(1));
    f.append(quiet, 1, vec![text("Still here")]).await.unwrap();
    assert_eq!(order().await, [quiet, newer]);
    f.done().await;
}

async fn a_cursor_of_one_order_is_refused_in_every_other(f: Fixture) {
    for _ in 0..2 {
        created(&f, "scout").await;
    }
    for sort in Sort::ALL {
        let page = ListSessions { limit: 1, ..asking(sort, "") };
        let cursor = session::list(&f.ledger, &f.member, page).await.unwrap().next_cursor.unwrap();
        for other in Sort::ALL {
            let next = ListSessions { cursor: Some(cursor.clone()), ..asking(other, "") };
            let next = session::list(&f.ledger, &f.member, next).await;
            if other == sort {
                assert_eq!(next.unwrap().items.len(), 1, "{sort}");
            } else {
                assert!(matches!(next, Err(Error::InvalidCursor)), "{sort} in {other}: {next:?}");
            }
        }
    }
    f.done().await;
}

async fn no_order_shows_private_sessions_of_others_or_other_workspaces(f: Fixture) {
    let incognito = NewThread { incognito: true, ..crate::thread::new(Some("alone")) };
    let talk = thread::start(&f.ledger, &f.member, incognito).await.unwrap().session.id;
    let open = created(&f, "scout").await;
    for sort in Sort::ALL {
        let seen = async |who: &Scope| {
            let listed = session::list(&f.ledger, who, asking(sort, "")).await.unwrap();
            listed.items.into_iter().map(|session| session.id).collect::<Vec<_>>()
        };
        for who in [&f.admin, &f.other_member, &f.worker] {
            assert_eq!(seen(who).await, [open], "{sort}");
        }
        assert!(seen(&f.member).await.contains(&talk), "{sort}: their own person sees it");
        assert!(seen(&f.stranger).await.is_empty(), "{sort}");
    }
    f.done().await;
}
