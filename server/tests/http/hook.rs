//! Hooks of coding agents: the real binary between an agent and the server, with and without a reachable server.

use crate::app::{App, Who, problem};
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy},
    net::{TcpListener, TcpStream},
    process::Command,
};

pub const CLAUDE_CODE: &str = include_str!("../../../crates/domain/fixtures/hooks/claude-code.jsonl");
const CODEX: &str = include_str!("../../../crates/domain/fixtures/hooks/codex.jsonl");

/// A machine on which agents run: the address to call, a token, and a folder for state.
pub struct Machine<'a> {
    app: &'a App,
    url: String,
    token: String,
    state: TempDir,
}

impl<'a> Machine<'a> {
    pub fn new(app: &'a App, url: &str) -> Self {
        let token = app.token(Who::Member).unwrap().to_owned();
        Self { app, url: url.to_owned(), token, state: tempfile::tempdir().unwrap() }
    }

    /// Runs `shiftbook` as an agent does. Returns its exit code and its output.
    async fn call(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> (Option<i32>, String) {
        let output = self.output(args, stdin).await;
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }

    async fn output(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        let mut command = Command::from(self.app.cli());
        command
            .args(args)
            .env("SHIFTBOOK_URL", &self.url)
            .env("SHIFTBOOK_TOKEN", &self.token)
            .env("SHIFTBOOK_STATE_DIR", self.state.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that reads no input closes the pipe early.
        let _closed = child.stdin.take().unwrap().write_all(stdin.as_ref()).await;
        child.wait_with_output().await.unwrap()
    }

    /// Forwards a hook. The command must succeed in any case, so that the agent continues.
    pub async fn hook(&self, source: &str, payload: &str) -> Value {
        let read: Value = serde_json::from_str(payload).unwrap();
        let event = read["hook_event_name"].as_str().unwrap();
        let (code, answer) = self.call(&["hook", source, event], payload).await;
        assert_eq!(code, Some(0), "{payload}");
        serde_json::from_str(&answer).unwrap()
    }

    /// Repeats a hook that changes nothing until no hook waits. On a slow machine one call may not have the time to
    /// send all: the next one continues.
    pub async fn settle(&self, source: &str, last: &str) {
        for _ in 0..50 {
            if self.waiting() == 0 {
                return;
            }
            self.hook(source, last).await;
        }
        panic!("{} hooks wait although the server is there", self.waiting());
    }

    /// The folder of the hooks that wait for the server. There is one as soon as one has waited.
    pub fn spool(&self) -> PathBuf {
        std::fs::read_dir(self.state.path().join("hooks")).unwrap().next().unwrap().unwrap().path()
    }

    /// Number of hooks that wait for the server.
    pub fn waiting(&self) -> usize {
        files(self.state.path()).iter().filter(|name| name.ends_with(".json")).count()
    }
}

/// The names of all files below a folder.
pub fn files(dir: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            names.extend(files(&entry.path()));
        } else {
            names.push(entry.file_name().into_string().unwrap());
        }
    }
    names
}

/// Returns the only session that hooks created, and its log.
pub async fn session_of_hooks(app: &App) -> (Value, Vec<Value>) {
    let get = async |path: String| -> Value {
        app.request(Who::Member, Method::GET, &path).send().await.unwrap().json().await.unwrap()
    };
    let sessions = get("/api/sessions".into()).await;
    let sessions = sessions["items"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let events = get(format!("/api/sessions/{}/events?limit=1000", sessions[0]["id"].as_str().unwrap())).await;
    (sessions[0].clone(), events["events"].as_array().unwrap().clone())
}

/// Names of the recorded hooks, in order.
pub fn recorded_hooks(events: &[Value]) -> Vec<String> {
    events.iter().filter_map(|event| event["metadata"]["hook"].as_str().map(str::to_owned)).collect()
}

pub fn names(lines: &str) -> Vec<String> {
    let name = |line| serde_json::from_str::<Value>(line).unwrap()["hook_event_name"].as_str().unwrap().to_owned();
    lines.lines().map(name).collect()
}

/// An address at which no one listens.
pub async fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

/// Forwards connections to the server. While `open` is false, the server's answers are dropped.
async fn pass_on(listener: TcpListener, address: String, open: Arc<AtomicBool>) {
    loop {
        let (agent, _) = listener.accept().await.unwrap();
        let server = TcpStream::connect(&address).await.unwrap();
        let open = open.clone();
        tokio::spawn(async move {
            let ((mut from_agent, mut to_agent), (mut from_server, mut to_server)) =
                (agent.into_split(), server.into_split());
            let asking = tokio::spawn(async move { copy(&mut from_agent, &mut to_server).await });
            if open.load(Ordering::SeqCst) {
                let _ = copy(&mut from_server, &mut to_agent).await;
            } else {
                let mut answer = [0; 1024];
                while from_server.read(&mut answer).await.is_ok_and(|n| n > 0) {}
            }
            asking.abort();
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recorded_session_that_the_binary_forwards_is_in_the_log() {
    for (source, lines) in [("claude-code", CLAUDE_CODE), ("codex", CODEX)] {
        let app = App::start();
        let machine = Machine::new(&app, &app.url);
        for line in lines.lines() {
            assert_eq!(machine.hook(source, line).await, json!({}), "{line}");
        }
        machine.settle(source, lines.lines().last().unwrap()).await;
        let (session, events) = session_of_hooks(&app).await;
        assert_eq!((&session["status"], &session["agentSlug"]), (&json!("completed"), &json!(source)));
        assert_eq!(recorded_hooks(&events), names(lines));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreachable_server_stops_no_agent_and_gets_every_hook_later_once_and_in_order() {
    let app = App::start();
    let address = free_address().await;
    let machine = Machine::new(&app, &format!("http://{address}"));
    let lines: Vec<_> = CLAUDE_CODE.lines().collect();
    let (while_down, while_up) = lines.split_at(10);
    for line in while_down {
        assert_eq!(machine.hook("claude-code", line).await, json!({}));
    }
    assert_eq!(machine.waiting(), while_down.len());
    // The server is reachable again, but its answers are dropped at first.
    let open = Arc::new(AtomicBool::new(false));
    let listener = TcpListener::bind(address).await.unwrap();
    let proxy = tokio::spawn(pass_on(listener, app.address.clone(), open.clone()));
    assert_eq!(machine.hook("claude-code", while_up[0]).await, json!({}));
    assert_eq!(machine.waiting(), while_down.len() + 1, "what was not acknowledged waits on");
    open.store(true, Ordering::SeqCst);
    for line in &while_up[1..] {
        machine.hook("claude-code", line).await;
    }
    machine.settle("claude-code", while_up.last().unwrap()).await;
    proxy.abort();
    let (session, events) = session_of_hooks(&app).await;
    assert_eq!(session["status"], "completed");
    assert_eq!(recorded_hooks(&events), names(CLAUDE_CODE));
    let at = |event: &Value| event["at"].as_str().unwrap().parse::<domain::Timestamp>().unwrap();
    let times: Vec<_> = events.iter().filter(|e| e["metadata"]["hook"].is_string()).map(at).collect();
    assert!(times.is_sorted(), "events happened when the agent called: {times:?}");
}

/// Answers every request with an internal error.
async fn fail_always(listener: TcpListener) {
    loop {
        let (mut agent, _) = listener.accept().await.unwrap();
        tokio::spawn(async move {
            let mut request = [0; 64 * 1024];
            let _ = agent.read(&mut request).await;
            let body = r#"{"code":"internal","title":"Internal error","status":500,"requestId":"r"}"#;
            let head =
                "HTTP/1.1 500 Internal Server Error\r\ncontent-type: application/problem+json\r\nconnection: close";
            let _ = agent.write_all(format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).as_bytes()).await;
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hooks_that_a_server_fails_about_wait_until_it_works_again() {
    let app = App::start();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let machine = Machine::new(&app, &format!("http://{address}"));
    let failing = tokio::spawn(fail_always(listener));
    let lines: Vec<_> = CLAUDE_CODE.lines().collect();
    for line in &lines[..3] {
        assert_eq!(machine.hook("claude-code", line).await, json!({}));
    }
    assert_eq!(machine.waiting(), 3);
    failing.abort();
    let _ended = failing.await;
    let open = Arc::new(AtomicBool::new(true));
    let proxy = tokio::spawn(pass_on(TcpListener::bind(address).await.unwrap(), app.address.clone(), open));
    for line in &lines[3..] {
        machine.hook("claude-code", line).await;
    }
    machine.settle("claude-code", lines.last().unwrap()).await;
    proxy.abort();
    assert_eq!(recorded_hooks(&session_of_hooks(&app).await.1), names(CLAUDE_CODE));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spool_that_is_full_is_sent_and_has_room_again() {
    let app = App::start();
    let address = free_address().await;
    let machine = Machine::new(&app, &format!("http://{address}"));
    let lines: Vec<_> = CLAUDE_CODE.lines().collect();
    machine.hook("claude-code", lines[0]).await;
    // As large as all hooks may be together.
    std::fs::File::create(machine.spool().join("z.json")).unwrap().set_len(64 * 1024 * 1024).unwrap();
    machine.hook("claude-code", lines[1]).await;
    assert_eq!(machine.waiting(), 2, "there is no room for another one");
    let open = Arc::new(AtomicBool::new(true));
    let proxy = tokio::spawn(pass_on(TcpListener::bind(address).await.unwrap(), app.address.clone(), open));
    for line in &lines[2..] {
        machine.hook("claude-code", line).await;
    }
    machine.settle("claude-code", lines.last().unwrap()).await;
    proxy.abort();
    let mut expected = names(CLAUDE_CODE);
    expected.remove(1);
    assert_eq!(recorded_hooks(&session_of_hooks(&app).await.1), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_never_answers_holds_no_agent() {
    let app = App::start();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let machine = Machine::new(&app, &format!("http://{}", silent.local_addr().unwrap()));
    for line in CLAUDE_CODE.lines().take(4) {
        assert_eq!(machine.hook("claude-code", line).await, json!({}));
    }
    let missed = std::fs::metadata(machine.spool().join("missed")).unwrap().len();
    assert_eq!((machine.waiting(), missed), (4, 2), "the start and the prompt had no context");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_error_stops_an_agent() {
    let app = App::start();
    let hook = r#"{"session_id":"s","hook_event_name":"Stop"}"#;
    let mut machine = Machine::new(&app, &app.url);
    for (args, stdin) in [
        (&["hook", "claude-code", "Stop"][..], ""),
        (&["hook", "claude-code", "Stop"], "not json"),
        (&["hook", "claude-code", "Stop"], "[1]"),
        (&["hook", "claude-code", "Stop"], "{}"),
        (&["hook", "claude-code"], hook),
        (&["--log", "no=such=filter", "hook", "claude-code", "Stop"], hook),
        (&["hook", "claude-code", "Stop", "--url", "https://nowhere"], hook),
        (&["hook", "claude-code", "Stop", "--url", ""], hook),
        (&["hook", "claude-code", "Stop", "--token", ""], hook),
        (&["hook", "claude-code", "Stop", "--token", "no token of this server"], hook),
        (&["hook", "claude-code", "Stop", "--state-dir", "/dev/null/nowhere"], hook),
    ] {
        let (code, answer) = machine.call(args, stdin).await;
        assert_eq!((code, answer.trim()), (Some(0), "{}"), "{args:?} {stdin}");
    }
    // Exit code 2 would stop the agent.
    for misspelt in [&["hook"][..], &["hook", "claude"], &["hook", "codex", "Stop", "--nonsense"]] {
        assert_eq!(machine.call(misspelt, hook).await.0, Some(1), "{misspelt:?}");
    }
    machine.token = app.token(Who::Stranger).unwrap().to_owned();
    assert_eq!(machine.hook("claude-code", hook).await, json!({}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_output_larger_than_a_request_is_cut_and_recorded() {
    let app = App::start();
    let machine = Machine::new(&app, &app.url);
    let payload = json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t",
        "tool_response": { "stdout": "o".repeat(5_000_000) },
    });
    machine.hook("claude-code", &payload.to_string()).await;
    machine.settle("claude-code", r#"{"session_id":"s","hook_event_name":"Stop"}"#).await;
    let (_, events) = session_of_hooks(&app).await;
    let result = events.iter().find(|event| event["type"] == "agent.tool_result").unwrap();
    assert!(result["content"][0]["output"]["stdout"].as_str().unwrap().contains("are not recorded]"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_with_half_of_a_surrogate_pair_is_recorded() {
    let app = App::start();
    let machine = Machine::new(&app, &app.url);
    let result = |id: &str, stdout: &str| {
        let call = r#""session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash""#;
        format!(r#"{{{call},"tool_use_id":"{id}","tool_response":{{"stdout":"{stdout}"}}}}"#)
    };
    let sent = app.request(Who::Member, Method::POST, "/api/hooks/claude-code");
    let sent = sent.header("content-type", "application/json").body(result("t-1", r"x\ud83d"));
    assert_eq!(sent.send().await.unwrap().status(), 200);
    let large = result("t-2", &format!(r"x\ud83d{}", "o".repeat(2_000_000)));
    assert_eq!(machine.call(&["hook", "claude-code", "PostToolUse"], &large).await.0, Some(0));
    machine.settle("claude-code", r#"{"session_id":"s","hook_event_name":"Stop"}"#).await;
    let (_, events) = session_of_hooks(&app).await;
    let results = events.iter().filter(|event| event["type"] == "agent.tool_result");
    let outputs: Vec<_> =
        results.map(|event| event["content"][0]["output"]["stdout"].as_str().unwrap().to_owned()).collect();
    assert_eq!(outputs.len(), 2);
    assert_eq!(outputs[0], "x\u{fffd}");
    assert!(outputs[1].starts_with("x\u{fffd}o") && outputs[1].contains("are not recorded]"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_in_another_encoding_is_recorded_and_its_bad_bytes_are_named() {
    let app = App::start();
    let machine = Machine::new(&app, &app.url);
    for (id, letters) in [1, 2, 7, 40].into_iter().enumerate() {
        let call = r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{},"#;
        let begin = format!("{call}\n\"tool_use_id\":\"t-{id}\",\"tool_response\":{{\"stdout\":\"");
        let hook = [begin.as_bytes(), &b"\xE9t".repeat(letters), b"\"}}"].concat();
        let output = machine.output(&["hook", "claude-code", "PostToolUse"], hook).await;
        assert_eq!(output.status.code(), Some(0));
        let warning = String::from_utf8(output.stderr).unwrap();
        assert_eq!(warning.matches("line 2, column ").count(), letters.min(5), "{warning}");
        assert!(warning.contains("line 2, column 48: bytes that are not UTF-8 became U+FFFD"), "{warning}");
        assert!(letters <= 5 || warning.contains(&format!("; and {} more", letters - 5)), "{warning}");
    }
    machine.settle("claude-code", r#"{"session_id":"s","hook_event_name":"Stop"}"#).await;
    let (_, events) = session_of_hooks(&app).await;
    let results = events.iter().filter(|event| event["type"] == "agent.tool_result");
    let outputs: Vec<_> = results.map(|event| event["content"][0]["output"]["stdout"].as_str().unwrap()).collect();
    assert_eq!(outputs, [1, 2, 7, 40].map(|letters| "\u{fffd}t".repeat(letters)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_in_utf_16_with_a_mark_or_with_numbers_that_json_lacks_is_recorded() {
    let app = App::start();
    let machine = Machine::new(&app, &app.url);
    let hook = |id: usize, input: &str| {
        let call = r#""session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash""#;
        format!(r#"{{{call},"tool_use_id":"t-{id}","tool_input":{{}},"tool_response":{{"stdout":"ü😀","n":{input}}}}}"#)
    };
    let mark = "\u{feff}";
    let utf16 = |text: String| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let sent = [
        format!("{mark}{}", hook(0, "1")).into_bytes(),
        utf16(format!("{mark}{}", hook(1, "1"))),
        utf16(hook(2, "1")),
        format!("{mark}{}", hook(3, "1")).encode_utf16().flat_map(u16::to_be_bytes).collect(),
        hook(4, "NaN").into_bytes(),
    ];
    for bytes in &sent {
        assert_eq!(machine.call(&["hook", "claude-code", "PostToolUse"], bytes).await.0, Some(0));
    }
    // An agent that calls the server itself.
    for (id, body) in [(5, format!("{mark}{}", hook(5, "-Infinity")).into_bytes()), (6, utf16(hook(6, "1")))] {
        let request = app.request(Who::Member, Method::POST, "/api/hooks/claude-code");
        let answer = request.header("content-type", "application/json").body(body).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{id}");
    }
    machine.settle("claude-code", r#"{"session_id":"s","hook_event_name":"Stop"}"#).await;
    let (_, events) = session_of_hooks(&app).await;
    let outputs: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "agent.tool_result")
        .map(|event| &event["content"][0]["output"])
        .collect();
    assert_eq!(outputs.len(), sent.len() + 2);
    assert!(outputs.iter().all(|output| output["stdout"] == "ü😀"), "{outputs:?}");
    assert_eq!(outputs.iter().filter(|output| output["n"].is_null()).count(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_settings_are_changed_only_on_request_and_the_old_file_is_kept() {
    let app = App::start();
    let machine = Machine::new(&app, &app.url);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("settings.json");
    let before = "{\n  \"model\": \"opus\"\n}\n";
    std::fs::write(&path, before).unwrap();
    let file = path.to_str().unwrap();
    let text = || std::fs::read_to_string(&path).unwrap();
    let (code, shown) = machine.call(&["hook", "install", "claude-code", "--settings", file], "").await;
    assert_eq!((code, text().as_str()), (Some(2), before), "nobody was there to agree");
    assert!(shown.contains("+    \"PreToolUse\": ["), "the change is shown: {shown}");
    let install = ["hook", "install", "claude-code", "--settings", file, "--yes"];
    assert_eq!(machine.call(&install, "").await.0, Some(0));
    let read: Value = serde_json::from_str(&text()).unwrap();
    assert_eq!(read["model"], "opus");
    let command = read["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.starts_with('/') && command.ends_with("shiftbook hook claude-code Stop"), "{command}");
    let kept = || files(dir.path()).into_iter().filter(|name| name.contains("before-shiftbook")).collect::<Vec<_>>();
    assert_eq!(std::fs::read_to_string(dir.path().join(&kept()[0])).unwrap(), before);
    let (code, output) = machine.call(&install, "").await;
    assert!(code == Some(0) && output.contains("nothing to change"), "{output}");
    assert_eq!(kept().len(), 1);
    // The installed command works in a shell without changes.
    let line = CLAUDE_CODE.lines().next().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env("SHIFTBOOK_URL", &machine.url).env("SHIFTBOOK_TOKEN", &machine.token);
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(line.as_bytes()).await.unwrap();
    assert_eq!(child.wait_with_output().await.unwrap().stdout, b"{}\n");
    assert_eq!(session_of_hooks(&app).await.0["agentSlug"], "claude-code");
    let uninstall = ["hook", "uninstall", "claude-code", "--settings", file, "--yes"];
    assert_eq!(machine.call(&uninstall, "").await.0, Some(0));
    assert_eq!(text(), before);
    std::fs::write(&path, "{ broken").unwrap();
    assert_eq!(machine.call(&install, "").await.0, Some(1));
    assert_eq!(text(), "{ broken");
}

#[tokio::test]
async fn a_bad_hook_gets_a_precise_error() {
    let app = App::start();
    let hook = json!({ "session_id": "s", "hook_event_name": "Stop" });
    for (path, body, status, code, field) in [
        ("/api/hooks/cursor", &hook, 404, "not_found", None),
        ("/api/hooks/codex?nonsense=1", &hook, 422, "invalid_request", Some("nonsense")),
        ("/api/hooks/codex?id=7", &hook, 422, "invalid_request", Some("id")),
        ("/api/hooks/codex?at=noon", &hook, 422, "invalid_request", Some("at")),
        ("/api/hooks/codex", &json!([]), 422, "invalid_request", Some("body")),
        ("/api/hooks/codex", &json!({ "session_id": 1 }), 422, "invalid_request", Some("session_id")),
        ("/api/hooks/codex", &json!({ "session_id": "s" }), 422, "invalid_request", Some("hook_event_name")),
    ] {
        let response = app.request(Who::Member, Method::POST, path).json(body).send().await.unwrap();
        let (got, problem) = problem(response).await;
        assert_eq!((got, problem["code"].as_str().unwrap()), (status, code), "{path} {body}: {problem}");
        if let Some(field) = field {
            assert_eq!(problem["errors"][0]["field"], field, "{path} {body}: {problem}");
        }
    }
    // An agent that sends hooks over HTTP itself (`"type": "http"`) only needs the token.
    assert_eq!(app.post(Who::Member, "/api/hooks/codex", hook).await, json!({}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agent_reads_what_its_person_works_on() {
    let app = App::start();
    let mut add = app.cli();
    add.args(["token", "add", "--tenant", "acme", "--name", "mine", "--role", "member", "--user", "ada@acme.test"]);
    let token = String::from_utf8(add.output().unwrap().stdout).unwrap().trim().to_owned();
    let task = app.post(Who::Admin, "/api/actions", json!({ "name": "Close the books" })).await;
    let start = app.http.post(format!("{}/api/sessions/human/start", app.url));
    let start = start.header("cookie", app.cookie().await).header("origin", &app.url);
    let started = start.json(&json!({ "taskId": task["id"] })).send().await.unwrap();
    assert!(started.status().is_success(), "{}", started.text().await.unwrap());
    let prompt = json!({ "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "go on" });
    let hook = app.http.post(format!("{}/api/hooks/claude-code", app.url)).bearer_auth(&token);
    let answer: Value = hook.json(&prompt).send().await.unwrap().json().await.unwrap();
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "UserPromptSubmit", "{answer}");
    assert!(output["additionalContext"].as_str().unwrap().contains("Close the books"), "{answer}");
    // Codex ignores an answer with a key that it does not know, and a bare key.
    let keys = |of: &Value| of.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    for source in ["claude-code", "codex"] {
        for event in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "Stop", "SessionEnd"] {
            let sent =
                json!({ "session_id": "keys", "hook_event_name": event, "prompt": "go on", "tool_name": "Bash" });
            let hook = app.http.post(format!("{}/api/hooks/{source}", app.url)).bearer_auth(&token);
            let answer: Value = hook.json(&sent).send().await.unwrap().json().await.unwrap();
            if matches!(event, "SessionStart" | "UserPromptSubmit") {
                assert_eq!(keys(&answer), BTreeSet::from(["hookSpecificOutput".to_owned()]), "{source} {event}");
                let known = ["additionalContext", "hookEventName"].map(str::to_owned);
                assert_eq!(keys(&answer["hookSpecificOutput"]), BTreeSet::from(known), "{source} {event}");
            } else {
                assert_eq!(answer, json!({}), "{source} {event}");
            }
        }
    }
}
