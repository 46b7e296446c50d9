//! Where the participants of a canvas are: who gets it, how often, for how long, and at which server.

use chrono::TimeDelta;
use domain::{
    Scope,
    canvas::{ParticipantRole, Presence, Selection},
    id::SessionId,
    limit::{CANVAS_KEY_BYTES_MAX, CANVAS_PRESENCE_MS_MAX},
};
use ledger::{
    Error, LeaseClock,
    canvas::{self, NewCanvas, Place, Present},
    event::{self as events, Follow, Following},
};
use std::{sync::Arc, time::Duration};
use testkit::{Fixture, on_both_engines};
use tokio::time::timeout;

on_both_engines!(
    participants_see_where_others_are_and_nobody_else_does,
    a_place_counts_for_30_s_and_is_sent_at_most_each_100_ms,
    a_wrong_place_is_refused,
);

/// Pause before a place is sent again that did not arrive.
const TRY_AGAIN: Duration = Duration::from_millis(200);
/// A place that has not arrived by then is lost.
const ARRIVAL_MAX: Duration = Duration::from_secs(20);

/// A canvas of the member in which the other member takes part as `role`.
async fn shared(f: &Fixture, role: ParticipantRole) -> SessionId {
    let new = NewCanvas { title: "Plan".into(), ..NewCanvas::default() };
    let id = canvas::create(&f.ledger, &f.member, new).await.unwrap();
    let other = f.other_member.caller.to_string();
    canvas::put_participant(&f.ledger, &f.member, id, &other, role).await.unwrap();
    id
}

fn at(block: &str) -> Place {
    Place { block: Some(block.into()), selection: Some(Selection { start: 1, end: 4 }), leaves: false }
}

async fn mark(f: &Fixture, by: &Scope, id: SessionId, place: Place) -> Present {
    f.clock.advance(TimeDelta::seconds(1));
    canvas::mark_presence(&f.ledger, by, id, place).await.unwrap()
}

async fn follow(f: &Fixture, by: &Scope, id: SessionId) -> Following {
    events::follow(&f.ledger, by, id, u64::MAX).await.unwrap()
}

async fn next(following: &mut Following) -> Presence {
    match following.next().await.unwrap() {
        Follow::Presence(presence) => presence.as_ref().clone(),
        other => panic!("no presence: {other:?}"),
    }
}

fn blocks(present: &Present) -> Vec<Option<&str>> {
    present.peers.iter().map(|peer| peer.block.as_deref()).collect()
}

async fn participants_see_where_others_are_and_nobody_else_does(f: Fixture) {
    let id = shared(&f, ParticipantRole::View).await;
    let before = f.log(id).await.len();
    let mut seen = follow(&f, &f.other_member, id).await;
    let mut unseen = follow(&f, &f.operator, id).await;
    assert!(mark(&f, &f.member, id, at("b1")).await.is_sent);
    let first = next(&mut seen).await;
    assert_eq!((first.by, first.block.as_deref()), (f.member.caller.to_string(), Some("b1")));
    assert_eq!((first.selection, first.is_here), (Some(Selection { start: 1, end: 4 }), true));
    assert!(!first.name.is_empty(), "others see a name");
    let gone = mark(&f, &f.member, id, Place { leaves: true, ..Place::default() }).await;
    assert!(gone.is_sent && gone.peers.is_empty());
    assert!(!next(&mut seen).await.is_here);

    let by_operator = canvas::mark_presence(&f.ledger, &f.operator, id, at("b1")).await;
    assert!(matches!(by_operator, Err(Error::Forbidden(_))), "{by_operator:?}");
    let elsewhere = canvas::mark_presence(&f.ledger, &f.stranger, id, at("b1")).await;
    assert!(matches!(elsewhere, Err(Error::NotFound("canvas"))), "{elsewhere:?}");
    let running = f.running().await;
    let no_canvas = canvas::mark_presence(&f.ledger, &f.member, running.id, at("b1")).await;
    assert!(matches!(no_canvas, Err(Error::NotFound("canvas"))), "{no_canvas:?}");
    assert_eq!(f.log(id).await.len(), before, "the log has none of it");
    // The next item of someone who takes no part is the end of the canvas.
    canvas::complete(&f.ledger, &f.member, id, None).await.unwrap();
    match unseen.next().await.unwrap() {
        Follow::Events(_) => {}
        other => panic!("not for them: {other:?}"),
    }
    f.done().await;
}

async fn a_place_counts_for_30_s_and_is_sent_at_most_each_100_ms(f: Fixture) {
    let id = shared(&f, ParticipantRole::Edit).await;
    let mut seen = follow(&f, &f.other_member, id).await;
    let mark_after = async |millis: i64, by: &Scope, block: &str| {
        f.clock.advance(TimeDelta::milliseconds(millis));
        canvas::mark_presence(&f.ledger, by, id, at(block)).await.unwrap()
    };
    assert!(mark_after(1_000, &f.member, "b1").await.is_sent);
    let early = mark_after(99, &f.member, "b2").await;
    assert_eq!((early.is_sent, blocks(&early)), (false, vec![Some("b1")]));
    assert!(mark_after(1, &f.member, "b3").await.is_sent);
    for block in ["b1", "b3"] {
        assert_eq!(next(&mut seen).await.block.as_deref(), Some(block));
    }
    let both = mark_after(CANVAS_PRESENCE_MS_MAX - 1, &f.other_member, "b4").await;
    assert_eq!(both.peers.len(), 2);
    let one = mark_after(1_000, &f.other_member, "b5").await;
    assert_eq!(blocks(&one), [Some("b5")]);
    f.done().await;
}

async fn a_wrong_place_is_refused(f: Fixture) {
    let id = shared(&f, ParticipantRole::Edit).await;
    let backwards = Place { selection: Some(Selection { start: 4, end: 1 }), ..at("b1") };
    for (place, field) in
        [(at(""), "block"), (at(&"x".repeat(CANVAS_KEY_BYTES_MAX + 1)), "block"), (backwards, "selection")]
    {
        let refused = canvas::mark_presence(&f.ledger, &f.member, id, place).await;
        assert!(matches!(&refused, Err(Error::Invalid(errors)) if errors[0].field == field), "{refused:?}");
    }
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_arrives_at_another_server() {
    let f = Fixture::postgres().await;
    let id = shared(&f, ParticipantRole::Edit).await;
    let other = f.server_with(&f.clock, LeaseClock::Process(Arc::new(f.clock.clone()))).await;
    let mut seen = events::follow(&other, &f.other_member, id, u64::MAX).await.unwrap();
    // What is sent before the other server listens is lost, so it is sent until it arrives.
    let arrived = async {
        loop {
            mark(&f, &f.member, id, at("b1")).await;
            if let Ok(found) = timeout(TRY_AGAIN, next(&mut seen)).await {
                return found;
            }
        }
    };
    let arrived = timeout(ARRIVAL_MAX, arrived).await.expect("nothing arrived");
    assert_eq!((arrived.by, arrived.block.as_deref()), (f.member.caller.to_string(), Some("b1")));
    let there = canvas::mark_presence(&other, &f.other_member, id, at("b2")).await.unwrap();
    assert_eq!(blocks(&there).len(), 2, "the other server knows who was there before");
    other.close().await;
    f.done().await;
}
