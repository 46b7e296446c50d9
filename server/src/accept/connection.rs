//! Serves one connection: hyper's HTTP/1.1 with the time limits of [`Deadlines`]. It ends gracefully when the server
//! stops.

use super::deadline::{Deadlines, IDLE};
use crate::{host::Peer, shutdown::Shutdown};
use axum::{
    Router,
    body::{Body, HttpBody},
    http::{HeaderValue, Response, StatusCode, header},
};
use bytes::Bytes;
use futures_util::future::{Either, ready};
use hyper::{
    body::{Frame, Incoming, SizeHint},
    rt::{Read, ReadBufCursor, Write},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{
    future::{Future, poll_fn},
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{self, Context, Poll},
};
use tokio::{
    net::TcpStream,
    time::{Instant, sleep_until},
};
use tower::ServiceExt;

/// Largest header of a request, in bytes: request line, names and values.
const HEADER_BYTES_MAX: usize = 64 * 1024;
/// Largest read buffer before a header is complete, and largest write buffer for a client that does not read.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Serves one connection until it ends.
pub async fn serve(stream: TcpStream, peer: SocketAddr, router: Router, stopping: Shutdown) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection was gone before it began");
        return;
    }
    let deadlines = Arc::new(Deadlines::new(Instant::now()));
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        deadlines.request();
        request.extensions_mut().insert(Peer(peer));
        let deadlines = Arc::clone(&deadlines);
        // hyper's own limit only stops further reads. One read can exceed it, up to twice as much, so the size is
        // checked here.
        let answer = if header_bytes(&request) > HEADER_BYTES_MAX {
            Either::Left(ready(Ok(too_large())))
        } else {
            Either::Right(router.clone().oneshot(request.map(Body::new)))
        };
        async move { answer.await.map(|response: Response<Body>| response.map(|body| Answer { body, deadlines })) }
    });
    let io = Timed { stream: TokioIo::new(stream), deadlines: Arc::clone(&deadlines) };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // The outer limit. `Deadlines` is stricter where it can be.
        .header_read_timeout(IDLE)
        .max_buf_size(BUFFER_BYTES_MAX)
        .serve_connection(io, service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = guard(connection.as_mut(), &deadlines) => ended,
        () = stopping.begun() => {
            connection.as_mut().graceful_shutdown();
            guard(connection.as_mut(), &deadlines).await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Size of a header as it was sent, in bytes, without optional spaces.
fn header_bytes(request: &hyper::Request<Incoming>) -> usize {
    /// Bytes of `: ` and of the line end.
    const AROUND: usize = 4;
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let fields = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + AROUND);
    target + fields.sum::<usize>()
}

/// The same response that hyper gives to a header that exceeds its limit.
fn too_large() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Runs the connection until it ends or a deadline passes.
async fn guard(
    mut connection: Pin<&mut impl Future<Output = hyper::Result<()>>>,
    deadlines: &Deadlines,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut timer = pin!(sleep_until(Instant::now() + IDLE));
    poll_fn(|cx| {
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            return Poll::Ready(ended.map_err(Into::into));
        }
        loop {
            let next = deadlines.next();
            // The timer is only moved to an earlier time. While requests come and go it does not change.
            if let Some(next) = next
                && next < timer.deadline()
            {
                timer.as_mut().reset(next);
            }
            task::ready!(timer.as_mut().poll(cx));
            let now = Instant::now();
            match next {
                Some(next) if next <= now => return Poll::Ready(Err("the client took too long".into())),
                Some(next) => timer.as_mut().reset(next),
                None => timer.as_mut().reset(now + IDLE),
            }
        }
    })
    .await
}

/// The socket. Reports progress of reads and writes to [`Deadlines`].
struct Timed {
    stream: TokioIo<TcpStream>,
    deadlines: Arc<Deadlines>,
}

impl Timed {
    fn wrote(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &result {
            Poll::Pending => self.deadlines.blocked(Instant::now()),
            Poll::Ready(_) => self.deadlines.written(),
        }
        result
    }
}

impl Read for Timed {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let result = task::ready!(Pin::new(&mut self.stream).poll_read(cx, buf));
        self.deadlines.read(Instant::now());
        Poll::Ready(result)
    }
}

impl Write for Timed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.wrote(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.wrote(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The body of a response. The connection is idle when hyper drops it.
struct Answer {
    body: Body,
    deadlines: Arc<Deadlines>,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        HttpBody::size_hint(&self.body)
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.deadlines.answered(Instant::now());
    }
}
