//! Reads the body of a request completely before a handler runs, with a limit on its size and its time.
//!
//! Who sends it is found out first. A sender who is not authenticated may send a form and no more. The bodies of all
//! senders together have a limit, and so have those of each sender ([`crate::body_memory`]).

use super::{
    body_limit::BodyLimit,
    encoding::{Coding, Undecodable},
};
use crate::{
    body_memory::{HeldBytes, NoRoom, Sender},
    extract::{identify, unauthenticated},
    form_limit::{address, network},
    problem::Problem,
    shares::Share,
    state::AppState,
};
use axum::{
    body::{Body, HttpBody},
    extract::{MatchedPath, Request},
    http::{HeaderMap, header, request::Parts},
};
use bytes::{Bytes, BytesMut};
use domain::{Caller, count::counted};
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::{
    sync::SemaphorePermit,
    time::{Instant, timeout_at},
};
use wire::Code;

/// Seconds after which a sender whose body found no room may try again.
const RETRY_AFTER_SECONDS: u64 = 5;
/// Bytes of a refused body that are read and discarded, so that its sender can read the response.
const LINGER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Time for which a refused body is read and discarded, in seconds.
const LINGER_SECONDS_MAX: u64 = 2;

/// What a body takes of the server until its request is answered.
#[derive(Default)]
pub struct Held<'a> {
    /// Its memory.
    _bytes: Option<HeldBytes<'a>>,
    /// If it has a card: one of the caller's places, and one among all requests with cards.
    _card: Option<(Share<'a, Caller>, SemaphorePermit<'a>)>,
}

/// Returns the request with its body in memory, decoded, and what it takes of the server.
///
/// # Errors
/// [`Code::NotFound`] for a path that no route has; [`Code::TooLarge`] and [`Code::RequestTimeout`];
/// [`Code::UnsupportedMediaType`] for an unknown encoding; [`Code::Unavailable`] if there is no room for the body.
/// Without credentials that is [`Code::TooManyRequests`], and a body that only callers with credentials may send is
/// [`Code::Unauthenticated`].
pub async fn buffer(state: &AppState, request: Request) -> Result<(Request, Held<'_>), Problem> {
    let limit = BodyLimit::of(request.method(), request.uri());
    let (mut parts, body) = request.into_parts();
    if HttpBody::is_end_stream(&body) {
        return Ok((Request::from_parts(parts, body), Held::default()));
    }
    // The answer does not depend on the body or its sender, so the body is not read.
    if parts.extensions.get::<MatchedPath>().is_none() {
        refuse_body(&parts.headers, body);
        return Err(Problem::nothing_at(parts.uri.path()));
    }
    let caller = sender(state, &parts).await?;
    let is_known = caller.is_some();
    let most = if is_known { limit.bytes } else { limit.anonymous_bytes };
    let announced = HttpBody::size_hint(&body).lower();
    if announced > most as u64 || most == 0 {
        refuse_body(&parts.headers, body);
        return Err(refused(limit, is_known, Some(announced)));
    }
    let coding = match Coding::of(&parts.headers) {
        Ok(coding) => coding,
        Err(problem) => {
            refuse_body(&parts.headers, body);
            return Err(problem);
        }
    };
    let share = match caller.filter(|_| limit.is_card).map(|caller| state.card_places.share(caller)).transpose() {
        Ok(share) => share,
        Err(problem) => {
            refuse_body(&parts.headers, body);
            return Err(problem);
        }
    };
    let mut held = match caller {
        Some(caller) => state.bodies.begin(Sender::Caller(caller)),
        None => state.anonymous_bodies.begin(Sender::Network(network_of(&parts))),
    };
    let mut bytes = read(body, limit, &mut held).await?;
    if coding != Coding::Identity {
        bytes = coding.decode(bytes, most).map_err(|why| match why {
            Undecodable::TooLarge => refused(limit, is_known, None),
            Undecodable::Broken => {
                Problem::detailed(Code::InvalidRequest, "the body is not what `content-encoding` says")
            }
        })?;
        held.add(bytes.len()).map_err(|why| no_room(is_known, &why))?;
        // The headers describe the body as it was sent.
        parts.headers.remove(header::CONTENT_ENCODING);
        parts.headers.insert(header::CONTENT_LENGTH, bytes.len().into());
    }
    let card = match share {
        Some(share) => Some((share, state.card_places.place().await?)),
        None => None,
    };
    Ok((Request::from_parts(parts, Body::from(bytes)), Held { _bytes: Some(held), _card: card }))
}

/// Returns the authenticated caller of a request. A token with an owner counts as its owner, so that further tokens
/// give no one a larger share.
async fn sender(state: &AppState, parts: &Parts) -> Result<Option<Caller>, Problem> {
    let scope = identify(state, &parts.headers).await?.map(|identity| identity.scope);
    Ok(scope.map(|scope| scope.acting_user().map_or(scope.caller, Caller::User)))
}

fn network_of(parts: &Parts) -> std::net::IpAddr {
    network(address(parts.extensions.get().copied(), &parts.headers))
}

/// Reads a body. `held` counts its bytes.
async fn read(mut body: Body, limit: BodyLimit, held: &mut HeldBytes<'_>) -> Result<Bytes, Problem> {
    let (seconds, is_known) = (limit.seconds, held.is_of_caller());
    let most = if is_known { limit.bytes } else { limit.anonymous_bytes };
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let mut first = Bytes::new();
    let mut more = BytesMut::new();
    loop {
        let frame = match timeout_at(deadline, body.frame()).await {
            Err(_) => {
                let detail = format!("the whole body must arrive within {seconds} s");
                return Err(Problem::detailed(Code::RequestTimeout, detail));
            }
            Ok(None) => break,
            Ok(Some(Err(_))) => return Err(Problem::detailed(Code::InvalidJson, "the body did not arrive completely")),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(data) = frame.into_data() else { continue };
        if first.len() + more.len() + data.len() > most {
            drain_body(body);
            return Err(refused(limit, is_known, None));
        }
        if let Err(why) = held.add(data.len()) {
            drain_body(body);
            return Err(no_room(is_known, &why));
        }
        // Nearly every body is one frame, which is passed on without a copy.
        if first.is_empty() {
            first = data;
        } else {
            more.extend_from_slice(&data);
        }
    }
    if more.is_empty() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(first.len() + more.len());
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&more);
    Ok(whole.freeze())
}

/// The problem of a body for which there is no room among those of its sender or of all.
fn no_room(is_known: bool, why: &NoRoom) -> Problem {
    let (code, busy) = match (is_known, why) {
        (false, NoRoom::OfSender | NoRoom::OfAll) => {
            (Code::TooManyRequests, "the server reads too many requests without credentials now; send it again")
        }
        (true, NoRoom::OfSender) => {
            (Code::Unavailable, "your other requests use up the memory that one caller has; send it again")
        }
        (true, NoRoom::OfAll) => (Code::Unavailable, "the server reads too many requests now; send it again"),
    };
    Problem::detailed(code, busy).with_retry_after(RETRY_AFTER_SECONDS)
}

/// The problem of a body that is larger than its sender may send. `sent` is its size in bytes, if the request announces
/// it. Without credentials the size is only named where everyone has the same limit.
fn refused(limit: BodyLimit, is_known: bool, sent: Option<u64>) -> Problem {
    if is_known || limit.anonymous_bytes == limit.bytes {
        too_large(limit.bytes, limit.carried, sent)
    } else {
        unauthenticated()
    }
}

/// The problem of a body that is too large. `sent` is its size in bytes, if the request announces it.
fn too_large(most: usize, carried: Option<(&'static str, usize)>, sent: Option<u64>) -> Problem {
    let bytes = |number: usize| counted(number as u64, "byte");
    let limit = match carried {
        Some((what, limit)) => format!("{what} has at most {}", bytes(limit)),
        None => format!("a request body can have at most {}", bytes(most)),
    };
    let size = match sent {
        Some(sent) => format!("this request has {}", counted(sent, "byte")),
        None => format!("this request has more than {}", bytes(most)),
    };
    Problem::detailed(Code::TooLarge, format!("{limit}; {size}"))
}

/// Leaves a body that is refused before it was read. A client that waits for "100 Continue" has sent nothing yet:
/// reading would ask it to send.
fn refuse_body(headers: &HeaderMap, body: Body) {
    if !headers.contains_key(header::EXPECT) {
        drain_body(body);
    }
}

/// Reads and discards the rest of a body for a short time. Closing at once would reset the
/// connection, and many senders would see the reset instead of the response.
fn drain_body(mut body: Body) {
    tokio::spawn(async move {
        let deadline = Instant::now() + Duration::from_secs(LINGER_SECONDS_MAX);
        let mut thrown_away = 0;
        while let Ok(Some(Ok(frame))) = timeout_at(deadline, body.frame()).await {
            thrown_away += frame.data_ref().map_or(0, Bytes::len);
            if thrown_away > LINGER_BYTES_MAX {
                break;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{super::body_limit::BODY_BYTES_MAX, *};
    use crate::body_memory::{BODIES_OF_CALLER_BYTES_MAX, BodyMemory};
    use axum::{http::Method, response::IntoResponse};
    use futures_util::{StreamExt, stream};
    use std::convert::Infallible;

    fn limit(path: &str) -> BodyLimit {
        BodyLimit::of(&Method::PUT, &path.parse().unwrap())
    }

    fn caller() -> Sender {
        Sender::Caller(Caller::System)
    }

    fn chunked(chunk_bytes: usize, chunks: usize) -> Body {
        let chunk = Bytes::from(vec![b'x'; chunk_bytes]);
        Body::from_stream(stream::repeat(chunk).take(chunks).map(Ok::<_, Infallible>))
    }

    #[tokio::test]
    async fn a_chunked_body_within_the_limit_arrives_whole() {
        let bodies = BodyMemory::of_callers();
        let mut held = bodies.begin(caller());
        assert_eq!(read(chunked(1000, 7), limit("/api/actions"), &mut held).await.unwrap().len(), 7000);
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused_whether_or_not_it_says_its_length() {
        let bodies = BodyMemory::of_callers();
        for body in [chunked(64 * 1024, 64), Body::from(vec![0; BODY_BYTES_MAX + 1])] {
            let refused = read(body, limit("/api/actions"), &mut bodies.begin(caller())).await.unwrap_err();
            assert_eq!(refused.code(), Code::TooLarge);
        }
    }

    #[tokio::test]
    async fn without_credentials_a_body_has_the_limit_of_forms_and_its_share_of_memory() {
        let bodies = BodyMemory::of_strangers();
        let network = Sender::Network([192, 0, 2, 1].into());
        for (path, code) in [("/api/actions", Code::Unauthenticated), ("/setup", Code::TooLarge)] {
            let refused = read(chunked(1024, 65), limit(path), &mut bodies.begin(network)).await;
            assert_eq!(refused.unwrap_err().code(), code, "{path}");
        }
        let mut held = Vec::new();
        let refused = loop {
            let mut bytes = bodies.begin(network);
            match read(chunked(1024, 64), limit("/setup"), &mut bytes).await {
                Ok(_) => held.push(bytes),
                Err(problem) => break problem,
            }
        };
        assert_eq!((refused.code(), held.len()), (Code::TooManyRequests, 128));
        held.pop();
        assert!(read(chunked(1024, 64), limit("/setup"), &mut bodies.begin(network)).await.is_ok());
    }

    #[test]
    fn the_limit_of_what_a_request_carries_is_named_with_its_size() {
        let refused = |path: &str, bytes: u64| format!("{:?}", refused(limit(path), true, Some(bytes)));
        let document = refused("/api/agents/scout/memory/document", 3_560_576);
        let says = "a memory document has at most 102,400 bytes; this request has 3,560,576 bytes";
        assert!(document.contains(says), "{document}");
        let card = refused("/api/agents/scout/card", 9_000_000);
        assert!(card.contains("a character card has at most 8,388,608 bytes"), "{card}");
    }

    #[tokio::test]
    async fn bodies_of_one_caller_have_their_share_of_memory_and_say_when_to_try_again() {
        let bodies = BodyMemory::of_callers();
        let mut others = bodies.begin(caller());
        assert_eq!(others.add(BODIES_OF_CALLER_BYTES_MAX - 1024), Ok(()));
        let refused = read(chunked(1025, 1), limit("/api/actions"), &mut bodies.begin(caller())).await.unwrap_err();
        let answer = refused.clone().into_response();
        assert_eq!(
            (refused.code(), &answer.headers()[header::RETRY_AFTER]),
            (Code::Unavailable, &"5".parse().unwrap())
        );
        drop(others);
        assert!(read(chunked(1025, 1), limit("/api/actions"), &mut bodies.begin(caller())).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stalls_is_cut_at_the_deadline() {
        let stalled = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let bodies = BodyMemory::of_callers();
        let cut = read(stalled, limit("/api/actions"), &mut bodies.begin(caller())).await;
        assert_eq!(cut.unwrap_err().code(), Code::RequestTimeout);
    }
}
