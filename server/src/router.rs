//! All routes under the one shield.

use crate::{api, assets, problem::Problem, shield, state::AppState, web};
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

/// Smaller answers fit a packet as they are, bytes.
const COMPRESS_BYTES_MIN: u64 = 1_024;
/// Gzip level for answers made on the fly: most of the gain for little time. Brotli would make them a tenth smaller and
/// take a third of a list's time, most of it to clear its window (docs/benchmarks.md); it is for what is packed once.
const COMPRESS_LEVEL: i32 = 4;

/// The whole server as one service.
pub fn build(state: AppState) -> Router {
    let worth_it = SizeAbove::new(COMPRESS_BYTES_MIN)
        .and(NotForContentType::SSE)
        .and(NotForContentType::const_new("image/"))
        .and(NotForContentType::const_new("application/wasm"));
    let compression =
        CompressionLayer::new().quality(CompressionLevel::Precise(COMPRESS_LEVEL)).compress_when(worth_it);
    Router::new()
        .merge(api::router())
        .merge(assets::router())
        .merge(web::router())
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        // The shield has read and limited every body before a route sees it.
        .layer(DefaultBodyLimit::disable())
        .layer(compression)
        .layer(from_fn_with_state(state.clone(), shield::shield))
        .with_state(state)
}

async fn unknown(request: Request) -> Response {
    Problem::detailed(Code::NotFound, format!("there is nothing at {}", request.uri().path())).into_response()
}

/// axum adds the Allow header.
async fn wrong_method(request: Request) -> Response {
    let detail = format!("the method {} is not allowed on {}", request.method(), request.uri().path());
    Problem::detailed(Code::MethodNotAllowed, detail).into_response()
}
