//! Exports spans by OTLP: protobuf over HTTP, in batches, to the collector of the settings.
//!
//! Spans that end are put into a bounded queue, from which one task sends them. Nothing waits for the collector: what
//! it does not take, and what does not fit into the queue, is dropped and counted. Only the spans of requests and of
//! the store are exported, and no lines of the log, which can have texts in them.

use crate::{build_version::VERSION, config::otlp::OtlpSettings};
use domain::limit::SPANS_QUEUED_MAX;
use opentelemetry::{Context, KeyValue, trace::TracerProvider as _};
use opentelemetry_otlp::{WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{Sampler, SdkTracerProvider, Span, SpanData, SpanExporter, SpanProcessor},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use store::SPAN_TARGET;
use tokio::{sync::mpsc, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;
use tracing::{Metadata, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};

/// Most spans in one request to the collector.
const BATCH_SPANS_MAX: usize = 512;
/// Longest time that a span waits for others of its batch.
const BATCH_WAIT_MAX: Duration = Duration::from_secs(1);
/// Longest time for one batch, with its repetitions.
const EXPORT_MAX: Duration = Duration::from_secs(5);
/// Longest time for the spans that are left when the server stops. It is shorter than that for closing the database,
/// which runs at the same time.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// The export of spans.
pub struct Traces {
    provider: SdkTracerProvider,
    dropped: Arc<AtomicU64>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Traces {
    /// Starts the task that sends spans. No connection is made before the first span.
    ///
    /// # Errors
    /// A text for the operator, if the address or a standard variable of OTLP cannot be used.
    pub fn start(settings: &OtlpSettings) -> Result<Self, String> {
        let refused = |error: &dyn std::fmt::Display| format!("spans cannot be exported: {error}");
        let http = client::http_client(&settings.endpoint).map_err(|error| refused(&error))?;
        let mut exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(http)
            .with_endpoint(&settings.endpoint)
            .with_timeout(EXPORT_MAX)
            .build()
            .map_err(|error| refused(&error))?;
        let resource = Resource::builder()
            .with_service_name(settings.service_name.clone())
            .with_attribute(KeyValue::new("service.version", VERSION))
            .build();
        exporter.set_resource(&resource);
        Ok(Self::with_exporter(exporter, resource, settings.sample_ratio))
    }

    fn with_exporter(exporter: impl SpanExporter + 'static, resource: Resource, sample_ratio: f64) -> Self {
        let (sender, spans) = mpsc::channel(SPANS_QUEUED_MAX);
        let (dropped, stop) = (Arc::<AtomicU64>::default(), CancellationToken::new());
        let provider = SdkTracerProvider::builder()
            // A trace that another service began is exported if that service exports it.
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(sample_ratio))))
            .with_span_processor(Queue { spans: sender, dropped: dropped.clone() })
            .with_resource(resource)
            .build();
        let task = tokio::spawn(export(spans, exporter, stop.clone(), dropped.clone()));
        Self { provider, dropped, stop, task }
    }

    /// The layer that turns the product's spans into those of OTLP.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        let ours = filter_fn(is_exported).with_max_level_hint(LevelFilter::DEBUG);
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("shiftbook"))
            // Parents are found among the spans of the process. A context per thread would be a second road.
            .with_context_activation(false)
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(ours)
    }

    /// The number of spans so far that the collector did not get.
    pub fn dropped(&self) -> Arc<AtomicU64> {
        self.dropped.clone()
    }

    /// Sends the spans that are queued, for at most [`FLUSH_MAX`], and ends the export.
    pub async fn finish(mut self) {
        self.stop.cancel();
        if timeout(FLUSH_MAX, &mut self.task).await.is_err() {
            self.task.abort();
            tracing::warn!("the last spans were not exported: the collector did not take them in time");
        }
    }
}

/// Whether a span is exported. Events are not.
fn is_exported(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target().starts_with(SPAN_TARGET)
}

/// Puts spans that ended into the queue, or counts them as dropped if it is full.
#[derive(Debug)]
struct Queue {
    spans: mpsc::Sender<SpanData>,
    dropped: Arc<AtomicU64>,
}

impl SpanProcessor for Queue {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, span: SpanData) {
        if span.span_context.is_sampled() && self.spans.try_send(span).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        // `Traces::finish` flushes.
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// Sends batches until the export stops and the queue is empty. A batch that the collector does not take is dropped.
async fn export(
    mut spans: mpsc::Receiver<SpanData>,
    exporter: impl SpanExporter,
    stop: CancellationToken,
    dropped: Arc<AtomicU64>,
) {
    let mut is_failing = false;
    loop {
        let batch = next_batch(&mut spans, &stop).await;
        if batch.is_empty() {
            return;
        }
        let count = batch.len() as u64;
        let failure = match timeout(EXPORT_MAX, exporter.export(batch)).await {
            Ok(exported) => exported.err().map(|error| error.to_string()),
            Err(_) => Some("the collector does not answer".to_owned()),
        };
        // One line when it begins to fail and one when it works again, however many batches are between them.
        if let Some(error) = &failure {
            dropped.fetch_add(count, Ordering::Relaxed);
            if !is_failing {
                tracing::warn!(error, "spans are dropped");
            }
        } else if is_failing {
            tracing::info!("spans are exported again");
        }
        is_failing = failure.is_some();
    }
}

/// Waits for spans, and takes those that end soon after. Empty only if the export has stopped and nothing is left.
async fn next_batch(spans: &mut mpsc::Receiver<SpanData>, stop: &CancellationToken) -> Vec<SpanData> {
    let mut batch = Vec::new();
    let collect = async {
        spans.recv_many(&mut batch, BATCH_SPANS_MAX).await;
        let rest = async {
            while batch.len() < BATCH_SPANS_MAX {
                let free = BATCH_SPANS_MAX - batch.len();
                if spans.recv_many(&mut batch, free).await == 0 {
                    break;
                }
            }
        };
        // A batch that does not become full in time is sent as it is.
        let _ = timeout(BATCH_WAIT_MAX, rest).await;
    };
    let is_complete = tokio::select! {
        biased;
        () = stop.cancelled() => false,
        () = collect => true,
    };
    if !is_complete {
        spans.close();
        let free = BATCH_SPANS_MAX - batch.len();
        spans.recv_many(&mut batch, free).await;
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry_sdk::error::OTelSdkError;
    use tracing::{Level, span};
    use tracing_subscriber::{Registry, layer::SubscriberExt as _};

    /// A collector that counts spans, or refuses them.
    #[derive(Debug, Clone, Default)]
    struct Collector {
        taken: Arc<AtomicU64>,
        refuses: bool,
    }

    impl SpanExporter for Collector {
        async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
            assert!(batch.len() <= BATCH_SPANS_MAX);
            if self.refuses {
                return Err(OTelSdkError::InternalFailure("refused".into()));
            }
            self.taken.fetch_add(batch.len() as u64, Ordering::Relaxed);
            Ok(())
        }
    }

    /// Makes spans while nothing is sent, then ends the export. Returns how many were taken and dropped.
    async fn exported(collector: Collector, spans: usize) -> (u64, u64) {
        let (taken, traces) =
            (collector.taken.clone(), Traces::with_exporter(collector, Resource::builder_empty().build(), 1.0));
        let dropped = traces.dropped();
        tracing::subscriber::with_default(Registry::default().with(traces.layer()), || {
            for _ in 0..spans {
                let span = tracing::debug_span!(target: SPAN_TARGET, "statement");
                span.in_scope(|| tracing::error!(target: SPAN_TARGET, "a line of the log"));
            }
            drop(span!(target: "sqlx::query", Level::ERROR, "of a library"));
        });
        traces.finish().await;
        (taken.load(Ordering::Relaxed), dropped.load(Ordering::Relaxed))
    }

    #[tokio::test]
    async fn what_is_queued_is_exported_at_the_end_and_what_does_not_fit_is_counted() {
        for spans in [0, 1, 2, 7, 40, BATCH_SPANS_MAX + 1] {
            assert_eq!(exported(Collector::default(), spans).await, (spans as u64, 0));
        }
        let more = SPANS_QUEUED_MAX + 7;
        assert_eq!(exported(Collector::default(), more).await, (SPANS_QUEUED_MAX as u64, 7));
    }

    #[tokio::test]
    async fn what_the_collector_refuses_is_counted() {
        let collector = Collector { refuses: true, ..Collector::default() };
        assert_eq!(exported(collector, BATCH_SPANS_MAX + 7).await, (0, BATCH_SPANS_MAX as u64 + 7));
    }
}
