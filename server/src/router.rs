//! Builds the router: all routes, wrapped in the module `middleware`.

use crate::{api, assets, middleware, problem::Problem, protocol, server_function, state::AppState, web};
use axum::{
    Router,
    extract::{DefaultBodyLimit, Request},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
};
use tower_http::{
    CompressionLevel,
    compression::{
        CompressionLayer, Predicate,
        predicate::{NotForContentType, SizeAbove},
    },
};
use wire::Code;

/// Smallest response that is compressed, in bytes. A smaller one fits into one network packet
/// uncompressed.
const COMPRESS_BYTES_MIN: u64 = 1_024;
/// Gzip level for responses that are compressed for each request. This level gives most of the
/// reduction in little time. Brotli would make the responses a tenth smaller, but would take a
/// third of the time of a list request, most of it to clear its window (docs/benchmarks.md). Brotli
/// is only used for files that are compressed once.
const COMPRESS_LEVEL: i32 = 4;

/// Returns the router of the whole server.
pub fn build(state: AppState) -> Router {
    let worth_it = SizeAbove::new(COMPRESS_BYTES_MIN)
        .and(NotForContentType::SSE)
        .and(NotForContentType::const_new(protocol::json_lines::MEDIA_TYPE))
        .and(NotForContentType::const_new("image/"))
        .and(NotForContentType::const_new("application/wasm"));
    let compression =
        CompressionLayer::new().quality(CompressionLevel::Precise(COMPRESS_LEVEL)).compress_when(worth_it);
    Router::new()
        .merge(api::router())
        .merge(assets::router())
        .merge(web::router())
        .merge(server_function::router(web::router().with_state(state.clone())))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        // The middleware has already read and limited the body when a route gets the request.
        .layer(DefaultBodyLimit::disable())
        .layer(compression)
        .layer(from_fn_with_state(state.clone(), middleware::run))
        .with_state(state)
}

async fn unknown(request: Request) -> Response {
    Problem::nothing_at(request.uri().path()).into_response()
}

/// Answers 405. axum adds the Allow header.
async fn wrong_method(request: Request) -> Response {
    let detail = format!("the method {} is not allowed on {}", request.method(), request.uri().path());
    Problem::detailed(Code::MethodNotAllowed, detail).into_response()
}
