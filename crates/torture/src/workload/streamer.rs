//! Stream readers that reconnect: after faults, and now and then of their own accord.

use super::{Phase, RoundContext};
use crate::{
    client::{Api, Stream, StreamItem},
    counters::Counters,
    history::{Answer, Op, Outcome, Seen},
};
use std::{sync::Arc, time::Duration};
use tokio::time::sleep_until;
use uuid::Uuid;

/// Most events noted as one stretch.
const STRETCH_MAX: usize = 200;
/// Longest wait for a stream's first byte.
const OPEN_MAX: Duration = Duration::from_secs(5);

/// The position of a reader in the log.
struct Reader {
    session: Uuid,
    reached: u64,
    connection: u32,
}

/// Follows one session from its first event to `end`, or to the end of the round.
pub async fn stream(context: RoundContext, process: u32, session: Uuid, counters: Arc<Counters>) {
    let mut api = context.api(process);
    let mut rng = context.rng(process);
    let mut reader = Reader { session, reached: 0, connection: 0 };
    while !context.is_over() {
        if follow(&context, &mut api, &mut rng, &mut reader).await {
            break;
        }
        reader.connection += 1;
        counters.reconnects.add(1);
        tokio::time::sleep(Duration::from_millis(rng.u64(10..120))).await;
    }
    let closed = api.recorder().begin(process, &Op::StreamClosed { session, after: reader.reached });
    api.recorder().end(closed, Outcome::Ok(Answer::Done));
}

/// One connection; true when the stream sent `end`.
async fn follow(context: &RoundContext, api: &mut Api, rng: &mut fastrand::Rng, reader: &mut Reader) -> bool {
    let op =
        |reader: &Reader| Op::Stream { session: reader.session, after: reader.reached, connection: reader.connection };
    let mut begun = api.recorder().begin(api.process, &op(reader));
    let Ok(mut stream) = Stream::open(&mut api.connection, reader.session, reader.reached, OPEN_MAX).await else {
        api.recorder().end(begun, Outcome::Fail { code: "not_opened".into() });
        // A stream holds its connection; the next try needs another.
        api.connection = api.connection.another();
        return false;
    };
    // A reader that leaves by itself, as browsers do.
    let patience = if context.is_loading() { rng.usize(20..3_000) } else { usize::MAX };
    let (mut events, mut total): (Vec<Seen>, usize) = (Vec::new(), 0);
    let ended = loop {
        let item = tokio::select! {
            item = stream.next() => item,
            () = over(context) => break false,
        };
        match item {
            Ok(StreamItem::Event(event)) => {
                events.push(event);
                total += 1;
            }
            Ok(StreamItem::End) => break true,
            Ok(StreamItem::Other) => {}
            Err(_) => break false,
        }
        if events.len() >= STRETCH_MAX {
            let last = events.last().map_or(reader.reached, |event| event.0);
            let delivered = Answer::Delivered { events: std::mem::take(&mut events), end: false };
            api.recorder().end(begun, Outcome::Ok(delivered));
            reader.reached = last;
            begun = api.recorder().begin(api.process, &op(reader));
        }
        if total >= patience {
            break false;
        }
    };
    let last = events.last().map_or(reader.reached, |event| event.0);
    api.recorder().end(begun, Outcome::Ok(Answer::Delivered { events, end: ended }));
    reader.reached = last;
    api.connection = api.connection.another();
    ended
}

/// Resolves when the round's drain is over.
async fn over(context: &RoundContext) {
    let mut phase = context.phase.clone();
    loop {
        let now = *phase.borrow_and_update();
        match now {
            Phase::Drain(deadline) => return sleep_until(deadline).await,
            Phase::Load => {
                if phase.changed().await.is_err() {
                    return;
                }
            }
        }
    }
}
