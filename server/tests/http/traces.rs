//! Spans of requests: what a collector gets, what it never gets, and what log lines have of them.

use crate::app::{App, PASSWORD, Who, problem};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value as Any},
    trace::v1::{Span, span::SpanKind, status::StatusCode},
};
use prost::Message as _;
use reqwest::Method;
use serde_json::{Value, json};
use std::{net::TcpListener, time::Duration};
use testkit::{Engine, receiver::Receiver};
use tokio::time::timeout;

/// After this time a span that is waited for is missing.
const WAIT_MAX: Duration = Duration::from_secs(20);
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLERS_SPAN: &str = "b7ad6b7169203331";
/// Text of an event, a title that is searched for, and a body that is refused.
const SECRETS: [&str; 3] = ["words-of-an-event", "words-of-a-query", "words-of-a-refused-body"];

/// A collector that takes spans.
struct Collector(Receiver);

/// What one request to the collector had.
struct Export {
    resource: Vec<KeyValue>,
    spans: Vec<Span>,
}

impl Collector {
    async fn start() -> Self {
        Self(Receiver::start().await)
    }

    fn url(&self) -> String {
        format!("http://{}", self.0.address)
    }

    fn exports(&self) -> Vec<Export> {
        let requests = self.0.received();
        let exports = requests.iter().flat_map(|request| {
            assert_eq!(request.target, "/v1/traces");
            assert_eq!(request.header("content-type"), "application/x-protobuf");
            ExportTraceServiceRequest::decode(&*request.bytes).unwrap().resource_spans
        });
        let export = exports.map(|of| Export {
            resource: of.resource.unwrap().attributes,
            spans: of.scope_spans.into_iter().flat_map(|scope| scope.spans).collect(),
        });
        export.collect()
    }

    fn spans(&self) -> Vec<Span> {
        self.exports().into_iter().flat_map(|export| export.spans).collect()
    }

    /// All spans so far, as soon as those of `trace` have each of these names.
    async fn spans_with(&self, trace: &str, names: &[&str]) -> Vec<Span> {
        let waiting = async {
            loop {
                let requests = self.0.received().len();
                let spans = self.spans();
                let has = |name: &str| of_trace(&spans, trace).iter().any(|span| span.name == name);
                if names.iter().all(|name| has(name)) {
                    return spans;
                }
                self.0.wait_for(requests + 1).await;
            }
        };
        let found = timeout(WAIT_MAX, waiting).await;
        found.unwrap_or_else(|_| panic!("{names:?} of {trace} are not among {:#?}", self.spans()))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of_trace<'s>(spans: &'s [Span], trace: &str) -> Vec<&'s Span> {
    spans.iter().filter(|span| hex(&span.trace_id) == trace).collect()
}

fn named<'s>(spans: &[&'s Span], name: &str) -> &'s Span {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no span {name}"))
}

fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    let value = attributes.iter().find(|pair| pair.key == key)?.value.as_ref()?.value.as_ref()?;
    Some(match value {
        Any::StringValue(text) => text.clone(),
        Any::IntValue(number) => number.to_string(),
        other => panic!("{key} is {other:?}"),
    })
}

fn traceparent(trace: &str) -> String {
    format!("00-{trace}-{CALLERS_SPAN}-01")
}

/// Starts a server that exports to the collector, on SQLite or this PostgreSQL database.
fn exporting(collector: &str, arguments: &[&str], postgres: Option<&str>) -> App {
    let variables: Vec<_> = postgres.map(|url| ("SHIFTBOOK_DATABASE_URL", url)).into_iter().collect();
    App::start_with("", &[&["--otlp-endpoint", collector], arguments].concat(), &variables)
}

/// Appends an event and reads the session, as parts of the traces `TRACE` and its reverse. Returns all spans.
async fn spans_of_an_append_and_a_read(app: &App, collector: &Collector, statement: &str) -> Vec<Span> {
    let session = app.running(Who::Operator).await;
    let path = format!("/api/sessions/{session}/events");
    let events = json!({ "attempt": 1, "events": [{ "type": "agent.message", "content": SECRETS[0] }] });
    let append = app.request(Who::Worker, Method::POST, &path).json(&events);
    let append = append.header("traceparent", traceparent(TRACE)).header("x-request-id", "append-7");
    assert!(append.send().await.unwrap().status().is_success());
    let read = app.request(Who::Operator, Method::GET, &format!("/api/sessions/{session}?x={}", SECRETS[1]));
    let reversed: String = TRACE.chars().rev().collect();
    read.header("traceparent", traceparent(&reversed)).send().await.unwrap();
    let refused = app.request(Who::Worker, Method::POST, &path).body(SECRETS[2]);
    assert!(refused.send().await.unwrap().status().is_client_error());
    app.cookie().await;
    let (append, read) = ("POST /api/sessions/{id}/events", "GET /api/sessions/{id}");
    collector.spans_with(&reversed, &[read]).await;
    let spans = collector.spans_with(TRACE, &[append, "ledger::event::append", "lane", statement]).await;

    let of_read = of_trace(&spans, &reversed);
    let request = named(&of_read, read);
    let is_below = |span: &&&Span, above: &Span| span.parent_span_id == above.span_id;
    let use_case = of_read.iter().find(|span| is_below(span, request)).expect("a use case below the request");
    assert!(use_case.name.starts_with("ledger::"), "{}", use_case.name);
    let below = of_read.iter().find(|span| is_below(span, use_case)).expect("a statement below the use case");
    assert!(below.name.starts_with("store::"), "{}", below.name);
    assert!(attribute(&below.attributes, "rows").is_some());
    // The spans have no ids of what was read or written.
    assert!(!format!("{spans:?}").contains(&session));
    spans
}

/// Checks the trace of the append, and that no span has a secret.
fn check(spans: &[Span], app: &App, statement: &str) {
    let of_append = of_trace(spans, TRACE);
    let request = named(&of_append, "POST /api/sessions/{id}/events");
    assert_eq!(hex(&request.parent_span_id), CALLERS_SPAN);
    assert_eq!(request.kind(), SpanKind::Server);
    let of_request = |key: &str| attribute(&request.attributes, key).unwrap_or_else(|| panic!("no {key}"));
    assert_eq!((of_request("request_id"), of_request("method")), ("append-7".to_owned(), "POST".to_owned()));
    assert_eq!(of_request("route"), "/api/sessions/{id}/events");
    assert!(of_request("caller").starts_with("token:"), "{}", of_request("caller"));
    assert_eq!(of_request("workspace").len(), 36);
    assert!(of_request("status").starts_with('2'));
    assert_ne!(request.status.as_ref().map(|status| status.code()), Some(StatusCode::Error));
    let use_case = named(&of_append, "ledger::event::append");
    assert_eq!(use_case.parent_span_id, request.span_id);
    let lane = named(&of_append, "lane");
    assert_eq!(lane.parent_span_id, use_case.span_id);
    assert_eq!(attribute(&lane.attributes, "items").as_deref(), Some("1"));
    assert!(attribute(&lane.attributes, "wait_us").is_some());
    assert_eq!(named(&of_append, statement).parent_span_id, lane.span_id);
    for span in spans {
        assert_eq!(span.events, [], "log lines are not exported: {span:?}");
    }
    let all = format!("{spans:?}");
    let tokens = Who::ALL.into_iter().filter_map(|who| app.token(who));
    for secret in SECRETS.into_iter().chain([PASSWORD, "ada@acme.test", "tenant_id = $1", "ON CONFLICT"]).chain(tokens)
    {
        assert!(!all.contains(secret), "a span has {secret}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_one_trace_with_its_use_cases_lanes_and_statements_and_no_content() {
    let collector = Collector::start().await;
    let app = exporting(&collector.url(), &["--otlp-service-name", "log-7"], None);
    let statement = "store::event::insert::INSERT_SQLITE";
    let spans = spans_of_an_append_and_a_read(&app, &collector, statement).await;
    check(&spans, &app, statement);
    for export in collector.exports() {
        assert_eq!(attribute(&export.resource, "service.name").as_deref(), Some("log-7"));
        assert!(attribute(&export.resource, "service.version").is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgresql_a_request_is_one_trace_too() {
    let engine = Engine::postgres().await;
    let Engine::Postgres { url, .. } = &engine else { unreachable!("asked for PostgreSQL") };
    let collector = Collector::start().await;
    // Databases of tests may be set to lose writes in a power cut.
    let app = exporting(&collector.url(), &["--i-accept-data-loss"], Some(url));
    let statement = "store::event::head_cache::APPEND_AT_HEADS_POSTGRES";
    let spans = spans_of_an_append_and_a_read(&app, &collector, statement).await;
    check(&spans, &app, statement);
    drop(app);
    engine.discard().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_share_of_the_settings_and_what_a_caller_samples_is_exported() {
    let collector = Collector::start().await;
    let app = exporting(&collector.url(), &["--otlp-sample-ratio", "0"], None);
    let get = || app.request(Who::Operator, Method::GET, "/api/me");
    for _ in 0..7 {
        assert_eq!(get().send().await.unwrap().status(), 200);
    }
    assert_eq!(get().header("traceparent", "not a traceparent").send().await.unwrap().status(), 200);
    assert_eq!(get().header("traceparent", traceparent(TRACE)).send().await.unwrap().status(), 200);
    let spans = collector.spans_with(TRACE, &["GET /api/me"]).await;
    assert_eq!(of_trace(&spans, TRACE).len(), spans.len());
}

/// The number of dropped spans that `/metrics` shows.
async fn dropped(app: &App) -> u64 {
    let text = app.http.get(format!("{}/metrics", app.url)).send().await.unwrap().text().await.unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("shiftbook_spans_dropped_total "));
    line.unwrap_or_else(|| panic!("no count in {text}")).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_served_without_a_collector_and_their_spans_are_counted_as_dropped() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut app = exporting(&format!("http://{free}"), &[], None);
    assert_eq!(dropped(&app).await, 0);
    let session = app.running(Who::Operator).await;
    for n in 0..40 {
        let events = json!({ "attempt": 1, "events": [{ "type": "agent.message", "content": n.to_string() }] });
        app.post(Who::Worker, &format!("/api/sessions/{session}/events"), events).await;
    }
    let waiting = async { while dropped(&app).await == 0 {} };
    assert!(timeout(WAIT_MAX, waiting).await.is_ok(), "nothing was dropped");
    app.terminate();
    assert_eq!(app.wait(), Some(0), "{}", app.log());
    assert_eq!(app.log().matches("spans are dropped").count(), 1, "{}", app.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_does_not_answer_does_not_keep_the_server_from_ending() {
    let silent = Receiver::silent().await;
    let mut app = exporting(&format!("http://{}", silent.address), &[], None);
    assert_eq!(app.request(Who::Operator, Method::GET, "/api/me").send().await.unwrap().status(), 200);
    silent.wait_for(1).await;
    app.terminate();
    assert_eq!(app.wait(), Some(0), "{}", app.log());
    assert!(app.log().contains("the last spans were not exported"), "{}", app.log());
    assert!(app.log().contains("stopped"), "{}", app.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_spans_that_are_queued_are_exported_when_the_server_ends() {
    let collector = Collector::start().await;
    let mut app = exporting(&collector.url(), &[], None);
    let get = app.request(Who::Operator, Method::GET, "/api/me").header("traceparent", traceparent(TRACE));
    assert_eq!(get.send().await.unwrap().status(), 200);
    app.terminate();
    assert_eq!(app.wait(), Some(0), "{}", app.log());
    let spans = collector.spans();
    assert!(of_trace(&spans, TRACE).iter().any(|span| span.name == "GET /api/me"), "{spans:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callers_request_id_is_kept_if_it_is_plain_and_replaced_otherwise() {
    let app = App::start();
    let ask = async |ids: &[&str]| {
        let mut request = app.request(Who::Operator, Method::GET, "/api/nothing-here");
        for id in ids {
            request = request.header("x-request-id", *id);
        }
        let response = request.send().await.unwrap();
        let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
        let (status, problem) = problem(response).await;
        assert_eq!((status, &problem["requestId"]), (404, &json!(id)));
        id
    };
    let longest = "x".repeat(64);
    for kept in ["a", "Req_7.b-C", &longest] {
        assert_eq!(ask(&[kept]).await, kept);
    }
    let longer = "x".repeat(65);
    let mut made = Vec::new();
    for refused in [&[][..], &[""], &["a b"], &["a\"b"], &["a;b=c"], &["../a"], &[&longer], &["a", "b"]] {
        let id = ask(refused).await;
        assert_eq!(id.len(), 36, "{refused:?}: {id}");
        made.push(id);
    }
    made.sort();
    made.dedup();
    assert_eq!(made.len(), 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_are_logged_below_a_request_have_its_fields() {
    let line = async |format: &str| {
        let app = App::start_with("", &[], &[("SHIFTBOOK_LOG_FORMAT", format)]);
        let form = [("email", "ada@acme.test"), ("password", "wrong")];
        let sign_in = app.http.post(format!("{}/sign-in", app.url)).header("origin", &app.url).form(&form);
        sign_in.header("x-request-id", "sign-in-7").send().await.unwrap();
        app.until_logged(0, "/sign-in").await;
        let log = app.log();
        log.lines().find(|line| line.contains("sign-in refused")).unwrap().to_owned()
    };
    let text = line("text").await;
    let (_time, rest) = text.split_once(' ').unwrap();
    // Programs that read the log look for this beginning.
    assert!(rest.starts_with(" WARN shiftbook::sign_in: sign-in refused address=127.0.0.1 account="), "{text}");
    assert!(rest.ends_with(" request_id=sign-in-7 method=POST route=\"/sign-in\""), "{text}");
    let json: Value = serde_json::from_str(&line("json").await).unwrap();
    assert_eq!((&json["target"], &json["request_id"]), (&json!("shiftbook::sign_in"), &json!("sign-in-7")));
    assert_eq!((&json["method"], &json["route"]), (&json!("POST"), &json!("/sign-in")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_line_of_a_refused_request_names_its_workspace_and_its_caller_once() {
    let app = App::start();
    let refused = app.request(Who::Member, Method::POST, "/api/sessions/claim").json(&json!({ "agentSlugs": [] }));
    let refused = refused.header("x-request-id", "claim-7").send().await.unwrap();
    assert!(refused.status().is_client_error());
    app.until_logged(0, "request_id=claim-7").await;
    let log = app.log();
    let line = log.lines().find(|line| line.contains("request_id=claim-7")).unwrap();
    for field in ["request_id=", "route=\"/api/sessions/claim\"", "workspace=", "caller=token:", "status=", "code="] {
        assert_eq!(line.matches(field).count(), 1, "{field} in {line}");
    }
}
