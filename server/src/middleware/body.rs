//! Reads the body of a request completely before a handler runs, with a limit on its size and its time.

use super::encoding::{Coding, Undecodable};
use crate::problem::Problem;
use axum::{
    body::{Body, HttpBody},
    extract::Request,
    http::{HeaderMap, Method, header},
};
use bytes::{Bytes, BytesMut};
use domain::{
    count::counted,
    limit::{
        BATCH_BYTES_MAX, BATCH_EVENTS_MAX, MEMORY_CARD_BYTES_MAX, MEMORY_CARD_REQUESTS_MAX, MEMORY_DOCUMENT_BYTES_MAX,
    },
};
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout, timeout_at},
};
use wire::Code;

/// Estimated bytes of an event in an append beside its content: field names, ids and punctuation.
const ENVELOPE_BYTES_PER_EVENT: usize = 1024;
/// Largest request body, in bytes. Stricter limits on content are checked by the use cases.
pub const BODY_BYTES_MAX: usize = BATCH_BYTES_MAX + BATCH_EVENTS_MAX * ENVELOPE_BYTES_PER_EVENT;
/// Largest body of a request with a character card, in bytes: the card, and what a form has around it.
const CARD_BODY_BYTES_MAX: usize = MEMORY_CARD_BYTES_MAX + 16 * 1024;
/// Time for the body of such a request to arrive, in seconds.
const CARD_BODY_SECONDS_MAX: u64 = 30;
/// Bounds the memory of requests with cards.
static CARD_REQUESTS: Semaphore = Semaphore::const_new(MEMORY_CARD_REQUESTS_MAX);
/// Longest wait for a place among the requests with cards, in seconds.
const CARD_WAIT_SECONDS_MAX: u64 = 5;
/// Time for a whole body to arrive, in seconds.
const BODY_SECONDS_MAX: u64 = 10;
/// Bytes of a refused body that are read and discarded, so that its sender can read the response.
const LINGER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Time for which a refused body is read and discarded, in seconds.
const LINGER_SECONDS_MAX: u64 = 2;

/// Whether a request carries a character card, which may be larger than other bodies.
pub fn carries_card(request: &Request) -> bool {
    let parts: Vec<&str> = request.uri().path().split('/').skip(1).collect();
    match parts[..] {
        ["api", "agents", _, "card"] => request.method() == Method::PUT,
        ["agents", _, "card"] => request.method() == Method::POST,
        _ => false,
    }
}

/// What a request of a kind that has a limit of its own carries, and that limit in bytes. For the message of a body
/// that is too large: the limit of all bodies says nothing to whoever wrote a text.
fn carried(request: &Request) -> Option<(&'static str, usize)> {
    if carries_card(request) {
        return Some(("a character card", MEMORY_CARD_BYTES_MAX));
    }
    let parts: Vec<&str> = request.uri().path().split('/').skip(1).collect();
    match parts[..] {
        ["api", "agents", _, "memory", "document" | "tool"] | ["agents", _, "memory"] => {
            Some(("a memory document", MEMORY_DOCUMENT_BYTES_MAX))
        }
        _ => None,
    }
}

/// A place among the requests with cards, if this is one. It is kept until the request is answered.
pub async fn place(is_card: bool) -> Result<Option<SemaphorePermit<'static>>, Problem> {
    if !is_card {
        return Ok(None);
    }
    let busy = || Problem::detailed(Code::Unavailable, "several cards are being read; send it again");
    let place = timeout(Duration::from_secs(CARD_WAIT_SECONDS_MAX), CARD_REQUESTS.acquire()).await;
    Ok(Some(place.map_err(|_| busy())?.map_err(|_| busy())?))
}

/// Returns the request with its body in memory, decoded.
pub async fn buffer(request: Request) -> Result<Request, Problem> {
    let (most, seconds) = if carries_card(&request) {
        (CARD_BODY_BYTES_MAX, CARD_BODY_SECONDS_MAX)
    } else {
        (BODY_BYTES_MAX, BODY_SECONDS_MAX)
    };
    let carried = carried(&request);
    let (mut parts, body) = request.into_parts();
    if HttpBody::is_end_stream(&body) {
        return Ok(Request::from_parts(parts, body));
    }
    let coding = match Coding::of(&parts.headers) {
        Ok(coding) => coding,
        Err(problem) => {
            refuse_body(&parts.headers, body);
            return Err(problem);
        }
    };
    let announced = HttpBody::size_hint(&body).lower();
    if announced > most as u64 {
        refuse_body(&parts.headers, body);
        return Err(too_large(most, carried, Some(announced)));
    }
    let bytes = read(body, most, seconds, carried).await?;
    if coding == Coding::Identity {
        return Ok(Request::from_parts(parts, Body::from(bytes)));
    }
    let bytes = coding.decode(bytes, most).map_err(|why| match why {
        Undecodable::TooLarge => too_large(most, carried, None),
        Undecodable::Broken => Problem::detailed(Code::InvalidRequest, "the body is not what `content-encoding` says"),
    })?;
    // The headers describe the body as it was sent.
    parts.headers.remove(header::CONTENT_ENCODING);
    parts.headers.insert(header::CONTENT_LENGTH, bytes.len().into());
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

async fn read(
    mut body: Body,
    most: usize,
    seconds: u64,
    carried: Option<(&'static str, usize)>,
) -> Result<Bytes, Problem> {
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
            return Err(too_large(most, carried, None));
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
    use super::*;
    use futures_util::{StreamExt, stream};
    use std::convert::Infallible;

    fn chunked(chunk_bytes: usize, chunks: usize) -> Body {
        let chunk = Bytes::from(vec![b'x'; chunk_bytes]);
        Body::from_stream(stream::repeat(chunk).take(chunks).map(Ok::<_, Infallible>))
    }

    #[tokio::test]
    async fn a_chunked_body_within_the_limit_arrives_whole() {
        let request = buffer(Request::new(chunked(1000, 7))).await.unwrap();
        assert_eq!(request.into_body().collect().await.unwrap().to_bytes().len(), 7000);
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused_whether_or_not_it_says_its_length() {
        for body in [chunked(64 * 1024, 64), Body::from(vec![0; BODY_BYTES_MAX + 1])] {
            assert_eq!(buffer(Request::new(body)).await.unwrap_err().code(), Code::TooLarge);
        }
    }

    #[tokio::test]
    async fn only_requests_with_a_card_may_be_larger() {
        let sent = |method: &str, path: &str| {
            let request = Request::builder().method(method).uri(path);
            buffer(request.body(Body::from(vec![0; BODY_BYTES_MAX + 1])).unwrap())
        };
        for (method, path) in [("PUT", "/api/agents/scout/card"), ("POST", "/agents/scout/card")] {
            assert!(sent(method, path).await.is_ok(), "{method} {path}");
            let request = Request::builder().method(method).uri(path);
            let large = buffer(request.body(Body::from(vec![0; CARD_BODY_BYTES_MAX + 1])).unwrap()).await;
            assert_eq!(large.unwrap_err().code(), Code::TooLarge);
        }
        for (method, path) in [
            ("POST", "/api/agents/scout/card"),
            ("PUT", "/agents/scout/card"),
            ("PUT", "/api/agents/scout/card/original"),
            ("PUT", "/api/agents/scout/memory/document"),
            ("POST", "//agents/scout/card"),
        ] {
            assert_eq!(sent(method, path).await.unwrap_err().code(), Code::TooLarge, "{method} {path}");
        }
    }

    #[tokio::test]
    async fn the_limit_of_what_a_request_carries_is_named_with_its_size() {
        let refused = async |path: &str, bytes: usize| {
            let request = Request::builder().method("PUT").uri(path).body(Body::from(vec![0; bytes])).unwrap();
            format!("{:?}", buffer(request).await.unwrap_err())
        };
        let document = refused("/api/agents/scout/memory/document", 2_000_000 + BODY_BYTES_MAX).await;
        let size = counted((2_000_000 + BODY_BYTES_MAX) as u64, "byte");
        let says = format!("a memory document has at most 102,400 bytes; this request has {size}");
        assert!(document.contains(&says), "{document}");
        let card = refused("/api/agents/scout/card", CARD_BODY_BYTES_MAX + 1).await;
        assert!(card.contains("a character card has at most 8,388,608 bytes"), "{card}");
    }

    #[tokio::test]
    async fn few_cards_are_read_at_the_same_time() {
        let mut held = Vec::new();
        for _ in 0..MEMORY_CARD_REQUESTS_MAX {
            held.push(place(true).await.unwrap().unwrap());
        }
        tokio::time::pause();
        assert_eq!(place(true).await.unwrap_err().code(), Code::Unavailable);
        assert!(place(false).await.unwrap().is_none());
        held.pop();
        assert!(place(true).await.unwrap().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stalls_is_cut_at_the_deadline() {
        let stalled = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        assert_eq!(buffer(Request::new(stalled)).await.unwrap_err().code(), Code::RequestTimeout);
    }
}
