//! The log on standard error, and what else subscribes to spans.
//!
//! A line carries the fields of the spans that it is logged in: below a request its id, method, route, workspace and
//! caller. Lines for people begin with time, level, target and message; the fields of spans come last, so that
//! programs that read lines find the beginning as it was. In JSON they are members of the line's object.
//!
//! Without an export of spans nothing subscribes to those of the store. Their callsites are then disabled for good, at
//! the cost of one atomic load each.

use crate::{request_span::REQUEST_SPAN_TARGET, traces::Traces};
use std::{fmt, io::IsTerminal as _};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_log::NormalizeEvent as _;
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    field::{RecordFields, VisitOutput as _},
    filter::{Directive, ParseError},
    fmt::{
        FmtContext, FormatEvent, FormatFields, FormattedFields, MakeWriter,
        format::{DefaultVisitor, Format, Json, JsonFields, Writer},
        time::{FormatTime as _, SystemTime},
    },
    layer::SubscriberExt as _,
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

/// The client of MCP servers logs what these send, which can be anything.
const OF_MCP: &str = "rmcp=off";

/// Begins the names of fields that are for the export of spans alone.
const EXPORT_ONLY: &str = "otel.";

/// What the log contains and how its lines are written.
pub struct LogSettings {
    filter: EnvFilter,
    format: LogFormat,
}

/// How a line of the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

impl LogFormat {
    /// An empty variable counts as not set.
    fn parse(text: Option<&str>) -> Result<Self, String> {
        match text.map(str::trim) {
            None | Some("" | "text") => Ok(Self::Text),
            Some("json") => Ok(Self::Json),
            Some(other) => Err(format!("--log-format `{other}`: text or json")),
        }
    }
}

impl LogSettings {
    /// Settings from the values of `--log` and `--log-format`.
    ///
    /// # Errors
    /// A text for the user, if one of them cannot be used.
    pub fn parse(filter: &str, format: Option<&str>) -> Result<Self, String> {
        let refused = |error: &dyn fmt::Display| format!("--log `{filter}`: {error}");
        let of_requests = format!("{REQUEST_SPAN_TARGET}=error");
        let of_requests: Directive = of_requests.parse().map_err(|error: ParseError| refused(&error))?;
        let of_mcp: Directive = OF_MCP.parse().map_err(|error: ParseError| refused(&error))?;
        // Whatever the filter, lines that are logged below a request carry its fields.
        let filter = EnvFilter::try_new(filter).map_err(|error| refused(&error))?.add_directive(of_requests);
        let filter = filter.add_directive(of_mcp);
        Ok(Self { filter, format: LogFormat::parse(format)? })
    }

    /// Begins to log on standard error, and to export spans if `traces` is given. Can be called once in a process.
    ///
    /// # Errors
    /// A text for the user, if something subscribes already.
    pub fn begin(self, traces: Option<&Traces>) -> Result<(), String> {
        let is_terminal = std::io::stderr().is_terminal();
        let Self { filter, format } = self;
        let begun = match traces {
            None => logging(filter, format, std::io::stderr, is_terminal).try_init(),
            Some(traces) => Registry::default()
                .with(traces.layer())
                .with(lines(format, std::io::stderr, is_terminal).with_filter(filter))
                .try_init(),
        };
        begun.map_err(|error| error.to_string())
    }
}

/// What subscribes when no spans are exported. The filter is that of the whole process, so what it refuses is disabled.
fn logging<W>(filter: EnvFilter, format: LogFormat, writer: W, is_terminal: bool) -> impl Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    Registry::default().with(filter).with(lines(format, writer, is_terminal))
}

/// The layer that writes lines.
fn lines<S, W>(format: LogFormat, writer: W, is_terminal: bool) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        // Otherwise it would report a closed standard error on standard error and panic, and the server could not even
        // be stopped.
        .log_internal_errors(false);
    match format {
        LogFormat::Text => layer.with_ansi(is_terminal).fmt_fields(TextFields).event_format(TextLines).boxed(),
        LogFormat::Json => {
            let json = Format::default().json().flatten_event(true).with_current_span(false).with_span_list(false);
            layer.with_ansi(false).fmt_fields(JsonFields::new()).event_format(JsonLines(json)).boxed()
        }
    }
}

/// Fields as `name=value`, without those that are for the export alone.
struct TextFields;

impl<'writer> FormatFields<'writer> for TextFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut visitor = WithoutExport(DefaultVisitor::new(writer, true));
        fields.record(&mut visitor);
        visitor.0.finish()
    }
}

struct WithoutExport<'a>(DefaultVisitor<'a>);

impl Visit for WithoutExport<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if !field.name().starts_with(EXPORT_ONLY) {
            self.0.record_str(field, value);
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        if !field.name().starts_with(EXPORT_ONLY) {
            self.0.record_error(field, value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if !field.name().starts_with(EXPORT_ONLY) {
            self.0.record_debug(field, value);
        }
    }
}

/// `TIME LEVEL target: message fields fields-of-spans`.
struct TextLines;

impl<S, N> FormatEvent<S, N> for TextLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, ctx: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        // Records of the `log` crate have their target in a field.
        let normalized = event.normalized_metadata();
        let metadata = normalized.as_ref().unwrap_or_else(|| event.metadata());
        let [dim, end] = if writer.has_ansi_escapes() { ["\u{1b}[2m", "\u{1b}[0m"] } else { [""; 2] };
        let color = if writer.has_ansi_escapes() { color(*metadata.level()) } else { "" };
        writer.write_str(dim)?;
        SystemTime.format_time(&mut writer)?;
        write!(writer, "{end} {color}{:>5}{end} {dim}{}:{end} ", metadata.level().as_str(), metadata.target())?;
        ctx.format_fields(writer.by_ref(), event)?;
        for span in ctx.event_scope().into_iter().flat_map(|spans| spans.from_root()) {
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<N>>().map_or("", |fields| fields.fields.trim());
            if !fields.is_empty() {
                write!(writer, " {fields}")?;
            }
        }
        writeln!(writer)
    }
}

const fn color(level: Level) -> &'static str {
    match level {
        Level::ERROR => "\u{1b}[31m",
        Level::WARN => "\u{1b}[33m",
        Level::INFO => "\u{1b}[32m",
        Level::DEBUG => "\u{1b}[34m",
        Level::TRACE => "\u{1b}[35m",
    }
}

/// One JSON object a line: that of the event, and the fields of its spans as further members.
struct JsonLines(Format<Json>);

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, ctx: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut line = String::new();
        self.0.format_event(ctx, Writer::new(&mut line), event)?;
        writer.write_str(line.trim_end().strip_suffix('}').ok_or(fmt::Error)?)?;
        for span in ctx.event_scope().into_iter().flat_map(|spans| spans.from_root()) {
            let extensions = span.extensions();
            let Some(fields) = extensions.get::<FormattedFields<N>>() else { continue };
            let fields: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(&fields.fields).unwrap_or_default();
            // A field of the event itself has precedence.
            let is_new = |name: &str| !name.starts_with(EXPORT_ONLY) && event.metadata().fields().field(name).is_none();
            for (name, value) in fields.into_iter().filter(|(name, _)| is_new(name)) {
                write!(writer, ",{}:{value}", serde_json::Value::String(name))?;
            }
        }
        writeln!(writer, "}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        collections::BTreeSet,
        io,
        sync::{Arc, Mutex},
    };
    use store::{Access, Store};
    use tracing::{
        Metadata,
        span::{Attributes, Id, Record},
        subscriber::Interest,
    };

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is logged while `work` runs.
    fn logged(filter: &str, format: LogFormat, work: impl FnOnce()) -> String {
        let written = Written::default();
        let sink = written.clone();
        let filter = LogSettings::parse(filter, None).unwrap().filter;
        tracing::subscriber::with_default(logging(filter, format, move || sink.clone(), false), work);
        String::from_utf8(written.0.lock().unwrap().clone()).unwrap()
    }

    fn warn_in_a_request() {
        let span = tracing::error_span!(
            target: REQUEST_SPAN_TARGET, "request",
            request_id = "r-1", otel.kind = "server", caller = tracing::field::Empty, status = 1
        );
        span.record("caller", tracing::field::display("user:7"));
        span.in_scope(|| tracing::warn!(target: "shiftbook::sign_in", status = 2, "sign-in refused"));
    }

    #[test]
    fn a_line_begins_with_level_target_and_message_and_ends_with_the_fields_of_its_request() {
        for filter in ["info", "warn", "shiftbook::sign_in=warn"] {
            let line = logged(filter, LogFormat::Text, warn_in_a_request);
            let (_time, rest) = line.split_once(' ').unwrap();
            let expected =
                " WARN shiftbook::sign_in: sign-in refused status=2 request_id=\"r-1\" status=1 caller=user:7\n";
            assert_eq!(rest, expected);
        }
    }

    #[test]
    fn a_line_in_json_has_the_fields_of_its_request_as_members() {
        let line = logged("info", LogFormat::Json, warn_in_a_request);
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&line["level"], &line["target"]), (&"WARN".into(), &"shiftbook::sign_in".into()));
        assert_eq!((&line["message"], &line["status"]), (&"sign-in refused".into(), &2.into()));
        assert_eq!((&line["request_id"], &line["caller"]), (&"r-1".into(), &"user:7".into()));
        assert_eq!(line.get("otel.kind"), None);
    }

    #[test]
    fn only_text_and_json_are_formats() {
        assert_eq!(LogFormat::parse(None), Ok(LogFormat::Text));
        assert_eq!(LogFormat::parse(Some(" json ")), Ok(LogFormat::Json));
        assert_eq!(LogFormat::parse(Some("xml")), Err("--log-format `xml`: text or json".to_owned()));
        assert!(LogSettings::parse("info,,=", None).is_err());
    }

    /// A subscriber, and what it was asked about the spans of the store.
    struct Probe<S> {
        inner: S,
        seen: Arc<Mutex<Seen>>,
    }

    #[derive(Default)]
    struct Seen {
        /// Names of the spans whose callsites were disabled for good, and of the others.
        disabled: BTreeSet<&'static str>,
        enabled: BTreeSet<&'static str>,
        /// Names of the spans that were made.
        made: BTreeSet<&'static str>,
    }

    fn is_of_store(metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target() == store::SPAN_TARGET
    }

    impl<S: Subscriber> Subscriber for Probe<S> {
        fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
            let interest = self.inner.register_callsite(metadata);
            if is_of_store(metadata) {
                let mut seen = self.seen.lock().unwrap();
                let names = if interest.is_never() { &mut seen.disabled } else { &mut seen.enabled };
                names.insert(metadata.name());
            }
            interest
        }

        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            self.inner.enabled(metadata)
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            if is_of_store(span.metadata()) {
                self.seen.lock().unwrap().made.insert(span.metadata().name());
            }
            self.inner.new_span(span)
        }

        fn record(&self, span: &Id, values: &Record<'_>) {
            self.inner.record(span, values);
        }

        fn record_follows_from(&self, span: &Id, follows: &Id) {
            self.inner.record_follows_from(span, follows);
        }

        fn event(&self, event: &Event<'_>) {
            self.inner.event(event);
        }

        fn enter(&self, span: &Id) {
            self.inner.enter(span);
        }

        fn exit(&self, span: &Id) {
            self.inner.exit(span);
        }

        fn clone_span(&self, id: &Id) -> Id {
            self.inner.clone_span(id)
        }

        fn try_close(&self, id: Id) -> bool {
            self.inner.try_close(id)
        }
    }

    /// What a subscriber with this filter is asked while the store reads and writes.
    fn probe(filter: &str) -> Seen {
        let seen = Arc::<Mutex<Seen>>::default();
        let filter = LogSettings::parse(filter, None).unwrap().filter;
        let inner = logging(filter, LogFormat::Text, io::sink, false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tracing::subscriber::with_default(Probe { inner, seen: seen.clone() }, || {
            runtime.block_on(async {
                let folder = tempfile::tempdir().unwrap();
                let database = store::Database::Sqlite { data_dir: folder.path().to_owned() };
                let store = Store::open(&database, store::Mode::Tool).await.unwrap();
                store.read(Access::System, async |conn| store::user::any(conn).await).await.unwrap();
                let wrote =
                    store.write::<_, store::Error, _>(Access::System, async |tx| store::roll::probe_write(tx).await);
                let _ = wrote.await.unwrap();
                store.close().await;
            });
        });
        std::mem::take(&mut *seen.lock().unwrap())
    }

    #[test]
    fn spans_of_the_store_are_disabled_for_good_unless_something_subscribes() {
        let all = BTreeSet::from(["lane", "statement", "use_case"]);
        let on = probe("info,shiftbook::span=debug");
        assert_eq!((on.enabled, on.disabled), (all.clone(), BTreeSet::new()));
        assert_eq!(on.made, all);
        // The callsites are known by now, so a new subscriber is asked about each.
        let off = probe("info");
        assert_eq!((off.disabled, off.enabled), (all, BTreeSet::new()));
        assert_eq!(off.made, BTreeSet::new());
    }
}
