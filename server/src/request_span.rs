//! The span of a request. Lines of the log that are written below it carry its fields, and it is exported with the
//! spans below it if the server exports spans.

use crate::metrics::known_method;
use axum::http::{HeaderMap, Method, StatusCode};
use domain::Scope;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use std::cell::Cell;
use tracing::{
    Instrument as _, Span,
    field::{Empty, display},
};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// Target of the span. It is below that of the store's spans, and of level ERROR, so that the log can have the fields
/// of requests without the spans of the store.
pub const REQUEST_SPAN_TARGET: &str = "shiftbook::span::request";

tokio::task_local! {
    /// Whether the span of the request of this task knows its caller. A request is authenticated at several places.
    static KNOWS_CALLER: Cell<bool>;
}

/// The span of a request. Its name is the method and the pattern of the route: a path would have ids in it. If it is
/// exported, the trace of the caller (`traceparent`) goes on with it.
pub fn of(id: &str, method: &Method, route: &str, headers: &HeaderMap, is_exported: bool) -> Span {
    let span = tracing::error_span!(
        target: REQUEST_SPAN_TARGET,
        "request",
        otel.name = is_exported.then(|| format!("{} {route}", known_method(method))),
        otel.kind = "server",
        otel.status_code = Empty,
        request_id = %id,
        %method,
        route,
        workspace = Empty,
        caller = Empty,
        status = Empty,
    );
    if is_exported && headers.contains_key("traceparent") {
        let caller = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
        // It fails if the log has no such span either.
        let _ = span.set_parent(caller);
    }
    span
}

/// Runs a request inside its span.
pub async fn inside<T>(span: Span, request: impl Future<Output = T>) -> T {
    KNOWS_CALLER.scope(Cell::new(false), request.instrument(span)).await
}

/// Records for whom the current request is. Only ids: the caller as `user:…` or `token:…`.
pub fn record_caller(scope: &Scope) {
    let is_known = KNOWS_CALLER.try_with(|known| known.replace(true)).unwrap_or(true);
    if !is_known {
        let span = Span::current();
        span.record("workspace", display(scope.tenant_id));
        span.record("caller", display(scope.caller));
    }
}

/// Records the status of the answer. The request failed if the server is to blame.
pub fn record_status(status: StatusCode) {
    let span = Span::current();
    span.record("status", status.as_u16());
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
}
