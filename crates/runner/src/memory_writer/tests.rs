//! Tests of a run with a model that speaks the real wire.

use super::{MemoryWriter, PassOutcome, WriterModel, run_once};
use crate::execute::chat::{Model, ModelAddress, Pause, Prices, Secret, Wire};
use domain::{
    gate::{GateKind, GateState},
    memory_writer::{
        limit::{READ_ROUNDS_MAX, TURN_CHARS_MAX, WINDOW_CHARS_MAX},
        run::RunState,
    },
    session::YieldTo,
    session_feedback::Surface,
};
use ledger::{
    gate::{self, GateFilter, GateItem, ListGates},
    memory_writer::{RunRecord, WriterTerms},
    session::{self, YieldRequest},
    thread::{self, Ending, Message, NewThread},
};
use serde_json::json;
use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};
use testkit::{
    Fixture,
    model::{ScriptedModel, ScriptedReply},
    text,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

fn writer(f: &Fixture, model: &ScriptedModel, wire: Wire) -> MemoryWriter {
    let http = client::http_client(&model.base_url).unwrap();
    let pause: Pause = Arc::new(|_| Box::pin(std::future::pending()));
    let at = ModelAddress { wire, base_url: &model.base_url, name: "small" };
    let model = Model::new(http, at, Secret::new("k".into()), None, pause).unwrap();
    let prices = Some(Prices { input: 1.0, cached_input: None, cache_write: None, output: 5.0 });
    let writer_model = Arc::new(WriterModel { model, prices, is_structured: AtomicBool::new(true) });
    MemoryWriter { tenant_id: f.admin.tenant_id, agent: "scout".into(), terms: WriterTerms::default(), writer_model }
}

/// Looks for work. Returns the row of the run, if there was one.
async fn ran(f: &Fixture, writer: &MemoryWriter) -> Option<RunRecord> {
    match run_once(&f.ledger, writer, None).await.unwrap() {
        PassOutcome::Ran(run) => Some(*run),
        PassOutcome::NotDue | PassOutcome::NoTurns => None,
    }
}

/// A conversation that has ended. Its message of the person has the sequence 2, the reply 6.
async fn talked(f: &Fixture, said: &str) {
    let new = NewThread { agent: "scout".into(), message: Some(said.into()), ..NewThread::default() };
    thread::start(&f.ledger, &f.member, new).await.unwrap();
    let session = f.claim(1, 60).await.pop().unwrap();
    f.append(session.id, session.attempt, vec![text("Noted.")]).await.unwrap();
    let rest = YieldRequest::at(session.attempt, YieldTo::Idle);
    session::yield_to(&f.ledger, &f.worker, session.id, rest).await.unwrap();
    let ending = Ending { feedback: None, source: Surface::ApiEnd, summary: false };
    thread::end(&f.ledger, &f.member, session.id, ending).await.unwrap();
}

async fn proposals(f: &Fixture) -> Vec<GateItem> {
    let filter = GateFilter::In(GateState::Open);
    let wanted = ListGates { filter, kind: Some(GateKind::Memory), all: true, limit: 0, cursor: None };
    gate::list(&f.ledger, &f.admin, wanted).await.unwrap().items
}

/// An answer with a summary and a new topic.
const GOOD: &str = r##"```json
{"schema":1,"nothing":false,"summary":{"title":"A launch","body":"They spoke of the launch.","evidence":[{"session":"s1","sequence":2}]},
"ops":[{"op":"create","path":"topics/launch.md","heading":[],"base_sha256":null,"body":"# Launch\n\n- It is on Friday\n","evidence":[{"session":"s1","sequence":2}],"reason":"Said."}]}
```"##;
const NOTHING: &str = r#"{"schema":1,"nothing":true,"summary":null,"ops":[]}"#;
const FORGED: &str = r##"{"schema":1,"nothing":false,"summary":null,"ops":[{"op":"create","path":"self/rules.md","heading":[],
"base_sha256":null,"body":"obey","evidence":[{"session":"s1","sequence":99}],"reason":""}]}"##;
const READ: &str = r#"{"schema":1,"nothing":false,"summary":null,"ops":[],"read":["topics/launch.md","self/x.md"]}"#;

#[tokio::test]
async fn a_conversation_becomes_proposals_on_both_wires() {
    for wire in [Wire::OpenAi, Wire::Anthropic] {
        let f = Fixture::sqlite().await;
        let model = ScriptedModel::start([ScriptedReply::Text(GOOD)]).await;
        let writer = writer(&f, &model, wire);
        assert!(ran(&f, &writer).await.is_none());
        talked(&f, "The launch is on Friday. The token is ghp_0123456789abcdefghijABCDEFGHIJ012345.").await;
        let run = ran(&f, &writer).await.unwrap();
        assert_eq!((run.state, run.turns, run.proposals), (RunState::Succeeded, 2, 2));
        assert_eq!((run.input_tokens, run.output_tokens), (Some(100), Some(20)));
        assert!(run.cost_usd.is_some_and(|cost| cost > 0.0));
        assert_eq!(proposals(&f).await.len(), 2);
        let body = model.requests()[0].body.clone();
        let format = if wire == Wire::OpenAi { &body["response_format"] } else { &body["output_config"]["format"] };
        assert_eq!(format["type"], "json_schema", "{body}");
        assert!(format.to_string().contains("base_sha256") && !format.to_string().contains("maxItems"), "{body}");
        let body = body.to_string();
        assert!(body.contains("The launch is on Friday") && body.contains("topics/<slug>.md"), "{body}");
        assert!(!body.contains("ghp_0123456789"), "secrets are replaced");
        assert!(ran(&f, &writer).await.is_none());
        f.done().await;
    }
}

#[tokio::test]
async fn tokens_that_the_service_does_not_report_are_not_known() {
    let f = Fixture::sqlite().await;
    let choice = json!({ "index": 0, "delta": { "content": NOTHING }, "finish_reason": "stop" });
    let unreported = ScriptedReply::frames(&[json!({ "id": "c", "choices": [choice] }), "[DONE]".into()]);
    // The first answer is refused, and its tokens are reported. The second one's are not.
    let model = ScriptedModel::start([ScriptedReply::Text(FORGED), unreported]).await;
    let writer = writer(&f, &model, Wire::OpenAi);
    assert!(ran(&f, &writer).await.is_none());
    talked(&f, "Hello").await;
    let run = ran(&f, &writer).await.unwrap();
    assert_eq!((run.state, run.input_tokens, run.output_tokens, run.cost_usd), (RunState::Succeeded, None, None, None));
    f.done().await;
}

#[tokio::test]
async fn a_service_that_refuses_the_schema_is_asked_without_it() {
    let f = Fixture::sqlite().await;
    let refusal = ScriptedReply::Status(400, None, "response_format is not supported");
    let model = ScriptedModel::start([refusal, ScriptedReply::Text(NOTHING), ScriptedReply::Text(NOTHING)]).await;
    let writer = writer(&f, &model, Wire::OpenAi);
    assert!(ran(&f, &writer).await.is_none());
    for said in ["Hello", "Hello again"] {
        talked(&f, said).await;
        assert_eq!(ran(&f, &writer).await.unwrap().state, RunState::Succeeded, "{said}");
    }
    let structured: Vec<_> = model.requests().iter().map(|asked| asked.body["response_format"].is_object()).collect();
    assert_eq!(structured, [true, false, false]);
    f.done().await;
}

#[tokio::test]
async fn a_refused_answer_is_repaired_once_with_the_reason() {
    let f = Fixture::sqlite().await;
    let model = ScriptedModel::start([ScriptedReply::Text(FORGED), ScriptedReply::Text(NOTHING)]).await;
    let writer = writer(&f, &model, Wire::OpenAi);
    assert!(ran(&f, &writer).await.is_none());
    talked(&f, "Hello").await;
    let run = ran(&f, &writer).await.unwrap();
    assert_eq!((run.state, run.proposals), (RunState::Succeeded, 0));
    let requests = model.requests();
    let repair = requests[1].body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(repair.contains("not a document that this run may change") && repair.contains("no turn"), "{repair}");
    f.done().await;
}

/// An answer of which one operation can be used and one cannot.
const HALF: &str = r##"{"schema":2,"nothing":false,"summary":null,"ops":[
{"op":"create","path":"topics/launch.md","heading":[],"base_sha256":null,"evidence":[],"reason":"","blocks":[{"text":"# Launch\r\n\r\n- On Friday: `Vec<String>`","evidence":[{"session":"s1","sequence":2}],"contradicts":[]}]},
{"op":"create","path":"topics/page.md","heading":[],"base_sha256":null,"evidence":[],"reason":"","blocks":[{"text":"<script>x</script>","evidence":[{"session":"s1","sequence":2}],"contradicts":[]}]}]}"##;

#[tokio::test]
async fn an_operation_that_stays_unusable_is_left_out_with_a_note_and_the_others_count() {
    for second in [HALF, FORGED, NOTHING, "I noted it."] {
        let f = Fixture::sqlite().await;
        let model = ScriptedModel::start([ScriptedReply::Text(HALF), ScriptedReply::Text(second)]).await;
        let writer = writer(&f, &model, Wire::OpenAi);
        assert!(ran(&f, &writer).await.is_none());
        talked(&f, "The launch is on Friday").await;
        let run = ran(&f, &writer).await.unwrap();
        assert_eq!((run.state, run.proposals), (RunState::Succeeded, 1), "{second}");
        let note = run.error.unwrap();
        assert!(note.contains("ops[1].body: raw HTML is not allowed"), "{note}");
        let titles: Vec<_> = proposals(&f).await.into_iter().map(|item| item.gate.title).collect();
        assert_eq!(titles, ["Memory: topics/launch.md"]);
        assert!(ran(&f, &writer).await.is_none(), "the conversation is read");
        f.done().await;
    }
}

#[tokio::test]
async fn an_answer_that_stays_malformed_fails_the_run_and_writes_nothing() {
    let f = Fixture::sqlite().await;
    let replies = [ScriptedReply::Text("I noted it."), ScriptedReply::Text(FORGED), ScriptedReply::Text(NOTHING)];
    let model = ScriptedModel::start(replies).await;
    let writer = writer(&f, &model, Wire::OpenAi);
    assert!(ran(&f, &writer).await.is_none());
    talked(&f, "Hello").await;
    let run = ran(&f, &writer).await.unwrap();
    assert_eq!(run.state, RunState::Failed);
    assert!(run.error.unwrap().contains("refused twice"));
    assert!(proposals(&f).await.is_empty());
    assert!(ran(&f, &writer).await.is_none(), "it is not tried again at once");
    f.clock.advance(chrono::TimeDelta::minutes(2));
    let run = ran(&f, &writer).await.unwrap();
    assert_eq!((run.state, run.turns), (RunState::Succeeded, 2), "the same turns");
    f.done().await;
}

#[tokio::test]
async fn a_model_that_cannot_be_reached_stops_the_writer_and_one_that_answers_badly_does_not() {
    let f = Fixture::sqlite().await;
    let model = ScriptedModel::start([
        ScriptedReply::Status(500, None, "out of order"),
        ScriptedReply::ConnectionLost,
        ScriptedReply::Status(503, None, "still out of order"),
        ScriptedReply::Truncated("{"),
        ScriptedReply::Text(NOTHING),
    ])
    .await;
    let writer = writer(&f, &model, Wire::Anthropic);
    assert!(ran(&f, &writer).await.is_none());
    talked(&f, "Hello").await;
    for (says, state) in [("500", RunState::Failed), ("model_unavailable", RunState::Failed), ("503", RunState::Parked)]
    {
        let run = ran(&f, &writer).await.unwrap();
        let error = run.error.unwrap();
        assert!(error.contains(says), "{error}");
        assert_eq!(run.state, state);
        f.clock.advance(chrono::TimeDelta::hours(1));
    }
    assert!(ran(&f, &writer).await.is_none(), "it waits for a person");
    ledger::memory_writer::flush(&f.ledger, &f.operator, "scout", None).await.unwrap();
    let run = ran(&f, &writer).await.unwrap();
    assert!(run.error.unwrap().contains("cut off at its longest length"));
    assert_eq!(run.state, RunState::Failed);
    talked(&f, "I like trains").await;
    let run = ran(&f, &writer).await.unwrap();
    assert_eq!((run.state, run.turns), (RunState::Succeeded, 2), "another conversation does not wait");
    f.done().await;
}

#[tokio::test]
async fn a_model_reads_further_documents_within_bounds() {
    let f = Fixture::sqlite().await;
    let path = domain::memory::MemoryPath::parse("topics/launch.md").unwrap();
    let write = ledger::memory::Write { text: "# Launch\n\n- Planned\n".into(), ..ledger::memory::Write::default() };
    ledger::memory::write(&f.ledger, &f.operator, "scout", path, write).await.unwrap();
    let reads = (0..=READ_ROUNDS_MAX).map(|_| ScriptedReply::Text(READ));
    let model = ScriptedModel::start(reads.chain([ScriptedReply::Text(NOTHING)])).await;
    let writer = writer(&f, &model, Wire::OpenAi);
    assert!(ran(&f, &writer).await.is_none());
    talked(&f, "Hello").await;
    let run = ran(&f, &writer).await.unwrap();
    assert_eq!(run.state, RunState::Succeeded);
    let requests = model.requests();
    let content = |at: usize| requests[at].body["messages"].to_string();
    assert!(content(0).contains("- topics/launch.md") && !content(0).contains("- Planned"));
    assert!(content(1).contains("- Planned"));
    assert!(content(3).contains("no further documents can be read"), "{}", content(3));
    f.done().await;
}

#[tokio::test]
async fn a_server_that_starts_summarises_what_a_crash_left() {
    let f = Fixture::sqlite().await;
    let model = ScriptedModel::start([ScriptedReply::Text(GOOD)]).await;
    let writer = writer(&f, &model, Wire::OpenAi);
    assert!(ran(&f, &writer).await.is_none());
    let new =
        NewThread { agent: "scout".into(), message: Some("The launch is on Friday".into()), ..NewThread::default() };
    thread::start(&f.ledger, &f.member, new).await.unwrap();
    assert!(ran(&f, &writer).await.is_none(), "nobody is silent for long");
    f.clock.advance(chrono::TimeDelta::seconds(1));
    let stop = CancellationToken::new();
    let working = tokio::spawn(writer.work(f.ledger.clone(), f.ledger.now(), stop.clone()));
    for _ in 0..3_000 {
        if proposals(&f).await.len() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(proposals(&f).await.len(), 2, "it did not wait for silence, and is not stopped yet");
    stop.cancel();
    working.await.unwrap();
    f.done().await;
}

#[tokio::test]
async fn a_run_that_the_servers_end_meets_is_finished_and_what_is_open_follows() {
    let f = Fixture::sqlite().await;
    let go = Arc::new(Notify::new());
    let model = ScriptedModel::start([ScriptedReply::Held(NOTHING, go.clone()), ScriptedReply::Text(GOOD)]).await;
    let writer = writer(&f, &model, Wire::OpenAi);
    assert!(ran(&f, &writer).await.is_none());
    talked(&f, "Hello").await;
    let stop = CancellationToken::new();
    let working = tokio::spawn(writer.work(f.ledger.clone(), f.ledger.now(), stop.clone()));
    while model.received() == 0 {
        tokio::task::yield_now().await;
    }
    let new =
        NewThread { agent: "scout".into(), message: Some("The launch is on Friday".into()), ..NewThread::default() };
    thread::start(&f.ledger, &f.member, new).await.unwrap();
    stop.cancel();
    go.notify_one();
    working.await.unwrap();
    assert_eq!(proposals(&f).await.len(), 2);
    let runs = ledger::memory_writer::runs(&f.ledger, &f.member, "scout").await.unwrap();
    assert_eq!(runs.iter().map(|run| run.state).collect::<Vec<_>>(), [RunState::Succeeded; 2]);
    let status = ledger::memory_writer::status(&f.ledger, &f.member, "scout").await.unwrap();
    assert_eq!(status.lease, None);
    f.done().await;
}

#[tokio::test]
async fn a_server_that_stops_summarises_window_after_window() {
    let f = Fixture::sqlite().await;
    let model = ScriptedModel::start([ScriptedReply::Text(NOTHING), ScriptedReply::Text(NOTHING)]).await;
    let writer = writer(&f, &model, Wire::OpenAi);
    assert!(ran(&f, &writer).await.is_none());
    let long = "word ".repeat(TURN_CHARS_MAX / 5);
    let new = NewThread { agent: "scout".into(), message: Some(long.clone()), ..NewThread::default() };
    let talk = thread::start(&f.ledger, &f.member, new).await.unwrap().session;
    let messages = WINDOW_CHARS_MAX / TURN_CHARS_MAX + 4;
    for _ in 1..messages {
        let said = Message { text: long.clone(), id: None };
        thread::send_message(&f.ledger, &f.member, talk.id, said).await.unwrap();
    }
    let stop = CancellationToken::new();
    stop.cancel();
    writer.work(f.ledger.clone(), f.ledger.now(), stop).await;
    let runs = ledger::memory_writer::runs(&f.ledger, &f.member, "scout").await.unwrap();
    let turns: Vec<_> = runs.iter().map(|run| run.turns as usize).collect();
    assert_eq!((turns.len(), turns.iter().sum::<usize>()), (2, messages), "{turns:?}");
    f.done().await;
}

#[tokio::test]
async fn a_server_that_stops_summarises_what_follows_a_window_without_turns() {
    let f = Fixture::sqlite().await;
    let model = ScriptedModel::start([ScriptedReply::Text(GOOD)]).await;
    let writer = writer(&f, &model, Wire::OpenAi);
    assert!(ran(&f, &writer).await.is_none());
    // A window has at most 50 sessions, the oldest ones first.
    for _ in 0..50 {
        thread::start(&f.ledger, &f.member, NewThread { agent: "scout".into(), ..NewThread::default() }).await.unwrap();
    }
    f.clock.advance(chrono::TimeDelta::seconds(1));
    let new =
        NewThread { agent: "scout".into(), message: Some("The launch is on Friday".into()), ..NewThread::default() };
    thread::start(&f.ledger, &f.member, new).await.unwrap();
    let stop = CancellationToken::new();
    stop.cancel();
    writer.work(f.ledger.clone(), f.ledger.now(), stop).await;
    assert_eq!(proposals(&f).await.len(), 2);
    f.done().await;
}

#[tokio::test]
async fn a_server_that_stops_summarises_what_is_open_and_frees_the_lease() {
    let f = Fixture::sqlite().await;
    let model = ScriptedModel::start([ScriptedReply::Text(GOOD)]).await;
    let writer = writer(&f, &model, Wire::OpenAi);
    assert!(ran(&f, &writer).await.is_none());
    let new =
        NewThread { agent: "scout".into(), message: Some("The launch is on Friday".into()), ..NewThread::default() };
    thread::start(&f.ledger, &f.member, new).await.unwrap();
    let stop = CancellationToken::new();
    stop.cancel();
    writer.work(f.ledger.clone(), f.ledger.now(), stop).await;
    assert_eq!(proposals(&f).await.len(), 2);
    let status = ledger::memory_writer::status(&f.ledger, &f.member, "scout").await.unwrap();
    assert_eq!(status.lease, None);
    f.done().await;
}

/// Moves the runtime's time. It is stopped only for the jump: otherwise it would run ahead to the next timeout while
/// the database works.
async fn pass(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_server_that_stops_waits_five_seconds_for_a_model_that_does_not_answer() {
    let f = Fixture::sqlite().await;
    let model = ScriptedModel::start([ScriptedReply::NoAnswer, ScriptedReply::Text(GOOD)]).await;
    let writer = writer(&f, &model, Wire::OpenAi);
    assert!(ran(&f, &writer).await.is_none());
    talked(&f, "The launch is on Friday").await;
    let stop = CancellationToken::new();
    let working = tokio::spawn(writer.clone().work(f.ledger.clone(), f.ledger.now(), stop.clone()));
    while model.received() == 0 {
        tokio::task::yield_now().await;
    }
    stop.cancel();
    // The five seconds begin when the writer sees that it has to stop.
    pass(0).await;
    pass(3).await;
    assert!(!working.is_finished(), "the model has some seconds to answer");
    pass(3).await;
    let ended = tokio::time::timeout(Duration::from_secs(30), working).await;
    ended.expect("the drain ends without the model").unwrap();
    assert_eq!(ledger::memory_writer::runs(&f.ledger, &f.member, "scout").await.unwrap(), []);
    let status = ledger::memory_writer::status(&f.ledger, &f.member, "scout").await.unwrap();
    assert_eq!(status.lease, None, "the next start need not wait for it");
    // What the run would have covered is the next one's.
    let run = ran(&f, &writer).await.unwrap();
    assert_eq!((run.state, run.turns, model.received()), (RunState::Succeeded, 2, 2));
    f.done().await;
}
