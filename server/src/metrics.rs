//! Counters behind `/metrics`, in the text format of OpenMetrics.

use crate::build_version::VERSION;
use axum::http::{Method, StatusCode};
use ledger::{DatabaseUse, Ledger};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
        info::Info,
    },
    registry::Registry,
};
use runner::capture::TurnCapture;
use std::{
    sync::{Arc, OnceLock, atomic::AtomicU64},
    time::Duration,
};

/// Upper bound of the first latency bucket, in seconds. The last bucket ends at about 13 s.
const LATENCY_BUCKET_FIRST: f64 = 0.000_1;
const LATENCY_BUCKETS: u16 = 18;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    /// Pattern of the route.
    route: String,
    method: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    route: String,
    method: String,
    /// Class of the status: `2xx`, `4xx` …
    status: &'static str,
}

/// Why a sign-in was refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refusal {
    reason: &'static str,
}

/// State of a memory writer's run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RunLabel {
    state: &'static str,
}

/// Result of a rating of a memory: accepted, or why it does not count.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RatingLabel {
    result: &'static str,
}

/// All metrics of this server.
pub struct Metrics {
    registry: Registry,
    refused_sign_ins: Family<Refusal, Counter>,
    activity: Activity,
    database: DatabaseGauges,
    requests: Family<Outcome, Counter>,
    latency: Family<Route, Histogram, fn() -> Histogram>,
    streams: Gauge,
    claims: Counter,
    writer: Writer,
    captured: Captured,
    resident_bytes: Gauge,
    feedback_failures: Counter<u64, AtomicU64>,
    search_lag: Gauge<f64, AtomicU64>,
    spans_dropped: Counter<u64, AtomicU64>,
    /// Where the export of spans counts those that it drops. Not set if the server exports none.
    dropped_by_export: OnceLock<Arc<AtomicU64>>,
}

/// Counters of captured turns. They are updated when metrics are rendered.
#[derive(Default)]
struct Captured {
    answers: Counter<u64, AtomicU64>,
    failures: Counter<u64, AtomicU64>,
}

/// Counters of the ledger's writer. They are updated when metrics are rendered.
#[derive(Default)]
struct Writer {
    queue_items: Gauge,
    groups: Counter<u64, AtomicU64>,
    items: Counter<u64, AtomicU64>,
    events: Counter<u64, AtomicU64>,
}

/// Counts of the ledger. They are updated when metrics are rendered.
#[derive(Default)]
struct Activity {
    leases_expired: Counter<u64, AtomicU64>,
    messages_given_up: Counter<u64, AtomicU64>,
    writer_runs: Family<RunLabel, Counter<u64, AtomicU64>>,
    memory_ratings: Family<RatingLabel, Counter<u64, AtomicU64>>,
    vector_failures: Counter<u64, AtomicU64>,
}

impl Activity {
    fn register(&self, registry: &mut Registry) {
        let given_up = "Messages (webhooks, e-mail) given up";
        registry.register("leases_expired", "Sessions taken back from workers", self.leases_expired.clone());
        registry.register("messages_given_up", given_up, self.messages_given_up.clone());
        registry.register("memory_writer_runs", "Runs of memory writers", self.writer_runs.clone());
        registry.register("memory_ratings", "Ratings of memories by result", self.memory_ratings.clone());
        let no_vectors = "Times that no vectors of memories or of a search could be made";
        registry.register("memory_vector_failures", no_vectors, self.vector_failures.clone());
    }

    fn update(&self, counted: &ledger::Counted) {
        use std::sync::atomic::Ordering::Relaxed;
        self.leases_expired.inner().store(counted.leases_expired, Relaxed);
        self.messages_given_up.inner().store(counted.messages_given_up, Relaxed);
        for (state, runs) in counted.writer_runs {
            self.writer_runs.get_or_create(&RunLabel { state: state.as_str() }).inner().store(runs, Relaxed);
        }
        for (result, ratings) in counted.memory_ratings {
            self.memory_ratings.get_or_create(&RatingLabel { result }).inner().store(ratings, Relaxed);
        }
    }
}

/// What the database takes: files of SQLite, or connections to PostgreSQL. The other two stay 0.
#[derive(Default)]
struct DatabaseGauges {
    bytes: Gauge,
    wal_bytes: Gauge,
    connections: Gauge,
    idle: Gauge,
}

impl DatabaseGauges {
    fn register(&self, registry: &mut Registry) {
        registry.register("database_bytes", "Size of the SQLite file", self.bytes.clone());
        registry.register("database_wal_bytes", "Size of SQLite's write-ahead log", self.wal_bytes.clone());
        registry.register("postgres_connections", "Connections of this process", self.connections.clone());
        registry.register("postgres_connections_idle", "Those that nothing uses", self.idle.clone());
    }

    fn update(&self, database: DatabaseUse) {
        let pairs = match database {
            DatabaseUse::Sqlite { bytes, wal_bytes } => [(&self.bytes, bytes), (&self.wal_bytes, wal_bytes)],
            DatabaseUse::Postgres { connections, idle } => [(&self.connections, connections), (&self.idle, idle)],
        };
        for (gauge, value) in pairs {
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        }
    }
}

/// Counts one open stream until it is dropped.
#[derive(Debug)]
pub struct StreamGauge(Gauge);

impl Drop for StreamGauge {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn latency_histogram() -> Histogram {
    Histogram::new(exponential_buckets(LATENCY_BUCKET_FIRST, 2.0, LATENCY_BUCKETS))
}

impl Metrics {
    /// Creates metrics that are all zero.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("shiftbook");
        let requests = Family::default();
        let latency = Family::new_with_constructor(latency_histogram as fn() -> Histogram);
        let (streams, claims, resident_bytes) = (Gauge::default(), Counter::default(), Gauge::default());
        let writer = Writer::default();
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register("http_request_seconds", "Time to the head of the answer", latency.clone());
        registry.register("open_streams", "Event streams open now", streams.clone());
        registry.register("sessions_claimed", "Sessions claimed by workers", claims.clone());
        registry.register("writer_queue_items", "Writes waiting for the writer", writer.queue_items.clone());
        registry.register("writer_groups_committed", "Transactions committed by the writer", writer.groups.clone());
        registry.register("writer_items_committed", "Writes, alone or in those transactions", writer.items.clone());
        registry.register("events_appended", "Events appended to logs", writer.events.clone());
        let captured = Captured::default();
        let missed = "Turns that could not be captured when it was tried; they are tried again";
        registry.register("interactions_captured", "Prompts with answers captured", captured.answers.clone());
        registry.register("interaction_capture_failures", missed, captured.failures.clone());
        registry.register("process_resident_bytes", "Memory of this process", resident_bytes.clone());
        let feedback_failures = Counter::<u64, AtomicU64>::default();
        let lost = "Ratings that could not be stored";
        registry.register("session_feedback_write_failures", lost, feedback_failures.clone());
        let search_lag = Gauge::<f64, AtomicU64>::default();
        let behind = "Seconds of events that cannot be searched yet; NaN where this is not known";
        registry.register("search_lag_seconds", behind, search_lag.clone());
        let spans_dropped = Counter::<u64, AtomicU64>::default();
        registry.register("spans_dropped", "Spans that the collector did not get", spans_dropped.clone());
        let refused_sign_ins = Family::default();
        registry.register("sign_ins_refused", "Sign-ins refused", refused_sign_ins.clone());
        let (activity, database) = (Activity::default(), DatabaseGauges::default());
        activity.register(&mut registry);
        database.register(&mut registry);
        registry.register("build", "This build", Info::new(vec![("version", VERSION)]));
        Self {
            registry,
            refused_sign_ins,
            activity,
            database,
            feedback_failures,
            search_lag,
            spans_dropped,
            dropped_by_export: OnceLock::new(),
            requests,
            latency,
            streams,
            claims,
            writer,
            captured,
            resident_bytes,
        }
    }

    /// Counts one response and its latency.
    pub fn request(&self, route: &str, method: &Method, status: StatusCode, latency: Duration) {
        let (route, method) = (route.to_owned(), known_method(method).to_owned());
        let outcome = Outcome { route: route.clone(), method: method.clone(), status: class(status) };
        self.requests.get_or_create(&outcome).inc();
        self.latency.get_or_create(&Route { route, method }).observe(latency.as_secs_f64());
    }

    /// Counts a stream as open until the returned value is dropped.
    pub fn stream(&self) -> StreamGauge {
        self.streams.inc();
        StreamGauge(self.streams.clone())
    }

    /// Counts a refused sign-in. `reason` is one of few.
    pub fn refused_sign_in(&self, reason: &'static str) {
        self.refused_sign_ins.get_or_create(&Refusal { reason }).inc();
    }

    /// Counts sessions that workers claimed.
    pub fn record_claims(&self, sessions: usize) {
        self.claims.inc_by(sessions as u64);
    }

    /// Shows this count of spans that were not exported. Only the first call has an effect.
    pub fn count_dropped_spans(&self, dropped: Arc<AtomicU64>) {
        let _ = self.dropped_by_export.set(dropped);
    }

    /// Returns the text for a scraper.
    pub fn render(&self, ledger: &Ledger, turn_capture: &TurnCapture) -> Result<String, std::fmt::Error> {
        use std::sync::atomic::Ordering::Relaxed;
        let stats = ledger.stats();
        self.writer.queue_items.set(i64::try_from(stats.queue_items).unwrap_or(i64::MAX));
        self.writer.groups.inner().store(stats.groups_committed, Relaxed);
        self.writer.items.inner().store(stats.items_committed, Relaxed);
        self.writer.events.inner().store(stats.events_appended, Relaxed);
        self.activity.update(&ledger.counted());
        self.activity.vector_failures.inner().store(ledger::memory_vector::failures(ledger), Relaxed);
        self.database.update(ledger.database_use());
        self.feedback_failures.inner().store(ledger::feedback::failures(ledger), Relaxed);
        if let Some(dropped) = self.dropped_by_export.get() {
            self.spans_dropped.inner().store(dropped.load(Relaxed), Relaxed);
        }
        self.captured.answers.inner().store(turn_capture.captured(), Relaxed);
        self.captured.failures.inner().store(turn_capture.failures(), Relaxed);
        let lag = ledger::search::lag(ledger).map(|lag| lag.as_seconds_f64());
        self.search_lag.set(lag.unwrap_or(f64::NAN));
        if let Some(bytes) = resident_bytes() {
            self.resident_bytes.set(bytes);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// Returns the method as a label. Methods that clients invent become "other", so that the number of
/// labels, and of names of spans, is bounded.
pub fn known_method(method: &Method) -> &str {
    match *method {
        Method::GET | Method::HEAD | Method::POST | Method::PUT | Method::PATCH | Method::DELETE | Method::OPTIONS => {
            method.as_str()
        }
        _ => "other",
    }
}

const fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        0..200 => "1xx",
        200..300 => "2xx",
        300..400 => "3xx",
        400..500 => "4xx",
        _ => "5xx",
    }
}

/// Returns the resident memory in bytes, on Linux only.
fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: i64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_streams_are_counted_under_the_route_pattern() {
        let metrics = Metrics::new();
        let post = Method::POST;
        metrics.request("/api/sessions/{id}/events", &post, StatusCode::CREATED, Duration::from_millis(3));
        metrics.request("-", &Method::from_bytes(b"BREW").unwrap(), StatusCode::NOT_FOUND, Duration::ZERO);
        let open = metrics.stream();
        let mut text = String::new();
        encode(&mut text, &metrics.registry).unwrap();
        for line in [
            r#"shiftbook_http_requests_total{route="/api/sessions/{id}/events",method="POST",status="2xx"} 1"#,
            r#"shiftbook_http_requests_total{route="-",method="other",status="4xx"} 1"#,
            "shiftbook_open_streams 1",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
        drop(open);
        assert_eq!(metrics.streams.get(), 0);
    }
}
