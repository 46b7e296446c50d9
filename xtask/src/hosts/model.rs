//! A scripted model that speaks the streamed APIs of the hosts. It answers from a list of steps: a call of the shell, a
//! call of the tool for ratings, and a last answer with a block of ratings.
//!
//! It is a thread of xtask, as the model of the demo is. A request without tools is for a title or the like: it takes
//! no step.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// The last answer without its ratings.
pub const ANSWER: &str = "LAST-ANSWER";
/// Command for the shell.
const SHELL: &str = "echo shell-$((40 + 2))";
/// Output of that command, which the command itself does not contain.
pub const PRINTED: &str = "shell-42";
/// Longest request, bytes.
const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Time for the next part of a request.
const READ_MAX: Duration = Duration::from_secs(10);
/// Begins the id of a memory, and how many hexadecimal digits follow.
const MEMORY: &str = "mem_";
const MEMORY_DIGITS: usize = 12;

/// Names of the tools in a host.
#[derive(Clone, Copy)]
pub struct Tools {
    /// The shell, and the argument with the command.
    pub shell: (&'static str, &'static str),
    /// The tool for ratings.
    pub rate: &'static str,
    /// Name of the MCP server, which Codex needs beside the name of the tool.
    pub namespace: Option<&'static str>,
}

#[derive(Default)]
struct State {
    steps: usize,
    memories: Vec<String>,
}

/// A running model. It ends with xtask.
pub struct Model {
    /// Address without a path.
    pub url: String,
    state: Arc<Mutex<State>>,
}

impl Model {
    pub fn start(tools: Tools) -> Result<Model> {
        let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen for the hosts")?;
        let url = format!("http://{}", listener.local_addr()?);
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let state = Arc::clone(&shared);
                // A host that closes its connection is no error of the model.
                std::thread::spawn(move || drop(serve(&stream, &tools, &state)));
            }
        });
        Ok(Model { url, state })
    }

    /// Number of steps that were taken.
    pub fn steps(&self) -> usize {
        locked(&self.state).steps
    }

    /// Ids of the memories in the first request.
    pub fn memories(&self) -> Vec<String> {
        locked(&self.state).memories.clone()
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers the one request of a connection.
fn serve(stream: &TcpStream, tools: &Tools, state: &Mutex<State>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(READ_MAX))?;
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut words = first.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(()) };
    let body = read_body(&mut reader)?;
    let path = target.split('?').next().unwrap_or_default();
    let mut writer = stream;
    match (method == "POST").then(|| answer(path, &body, tools, state)).flatten() {
        Some(text) => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
            write!(writer, "{head}content-length: {}\r\n\r\n{text}", text.len())
        }
        None => write!(writer, "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}"),
    }
}

fn read_body(reader: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let (mut length, mut is_chunked) = (0_usize, false);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
        is_chunked |= line.starts_with("transfer-encoding:") && line.contains("chunked");
    }
    let mut body = Vec::new();
    while is_chunked && body.len() < REQUEST_BYTES_MAX {
        let mut size = String::new();
        reader.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or_default();
        if size == 0 {
            return Ok(body);
        }
        // The chunk and the end of its line.
        let mut chunk = vec![0; size.min(REQUEST_BYTES_MAX) + 2];
        reader.read_exact(&mut chunk)?;
        body.extend_from_slice(&chunk[..chunk.len() - 2]);
    }
    body.resize(length.min(REQUEST_BYTES_MAX), 0);
    reader.read_exact(&mut body)?;
    Ok(body)
}

/// One answer of the model: a text, and perhaps a call.
struct Step {
    text: String,
    /// Name and input.
    call: Option<(&'static str, Value)>,
    namespace: Option<&'static str>,
    /// A number for the ids of this step.
    number: usize,
}

/// The answer to a request; `None` for one that no host needs.
fn answer(path: &str, body: &[u8], tools: &Tools, state: &Mutex<State>) -> Option<String> {
    let frames: fn(&Step) -> String = if path.ends_with("/messages") {
        anthropic
    } else if path.ends_with("/responses") {
        responses
    } else if path.ends_with("/chat/completions") {
        completions
    } else if path.ends_with(":streamGenerateContent") {
        gemini
    } else {
        return None;
    };
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let step = if has_tools {
        next(&String::from_utf8_lossy(body), tools, &mut locked(state))
    } else {
        Step { text: "ok".to_owned(), call: None, namespace: None, number: 0 }
    };
    Some(frames(&step))
}

fn next(body: &str, tools: &Tools, state: &mut State) -> Step {
    if state.steps == 0 {
        state.memories = memories(body);
    }
    state.steps += 1;
    let memory = |at: usize| state.memories.get(at).map_or("mem_000000000000", String::as_str);
    let (text, call, namespace) = match state.steps {
        1 => {
            let (shell, argument) = tools.shell;
            ("Looking.".to_owned(), Some((shell, json!({ argument: SHELL, "description": "run" }))), None)
        }
        2 => {
            let input = json!({ "memory_feedback": { memory(0): 1, memory(1): 0 } });
            ("Rating.".to_owned(), Some((tools.rate, input)), tools.namespace)
        }
        _ => {
            let block = format!("<memory-feedback>{{\"{}\": 0.5}}</memory-feedback>", memory(2));
            (format!("{ANSWER}\n\n{block}"), None, None)
        }
    };
    Step { text, call, namespace, number: state.steps }
}

/// The ids of memories in a text, each once.
fn memories(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, _) in text.match_indices(MEMORY) {
        let id: String = text[at..].chars().take(MEMORY.len() + MEMORY_DIGITS).collect();
        let digits = id.chars().skip(MEMORY.len()).filter(char::is_ascii_hexdigit).count();
        if digits == MEMORY_DIGITS && !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

/// An event with its type as its name.
fn named(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

fn anthropic(step: &Step) -> String {
    let mut frames = vec![json!({ "type": "message_start", "message": {
        "id": format!("msg_{}", step.number), "type": "message", "role": "assistant", "model": "scripted",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 10, "output_tokens": 1 },
    } })];
    let mut block = |index: u8, start: Value, delta: Value| {
        frames.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        frames.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        frames.push(json!({ "type": "content_block_stop", "index": index }));
    };
    block(0, json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": step.text }));
    if let Some((name, input)) = &step.call {
        let start = json!({ "type": "tool_use", "id": format!("toolu_{}", step.number), "name": name, "input": {} });
        block(1, start, json!({ "type": "input_json_delta", "partial_json": input.to_string() }));
    }
    let reason = if step.call.is_some() { "tool_use" } else { "end_turn" };
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    frames.push(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 5 } }));
    frames.push(json!({ "type": "message_stop" }));
    frames.iter().map(named).collect()
}

fn responses(step: &Step) -> String {
    let number = step.number;
    let content = json!([{ "type": "output_text", "text": step.text, "annotations": [] }]);
    let mut output = vec![json!({
        "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
        "content": content,
    })];
    if let Some((name, input)) = &step.call {
        let mut call = json!({
            "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"), "name": name,
            "arguments": input.to_string(), "status": "completed",
        });
        if let Some(namespace) = step.namespace {
            call["namespace"] = json!(namespace);
        }
        output.push(call);
    }
    let usage = json!({
        "input_tokens": 10, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 5,
        "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 15,
    });
    let response = |status: &str, output: &[Value], usage: Value| {
        let id = format!("resp_{number}");
        json!({
            "id": id, "object": "response", "created_at": 1, "status": status, "model": "scripted", "output": output,
            "usage": usage,
        })
    };
    let created = response("in_progress", &[], Value::Null);
    let mut frames = vec![json!({ "type": "response.created", "response": created })];
    for (index, item) in output.iter().enumerate() {
        frames.push(json!({ "type": "response.output_item.added", "output_index": index, "item": item }));
        if item["type"] == "message" {
            frames.push(json!({
                "type": "response.output_text.delta", "item_id": item["id"], "output_index": index, "content_index": 0,
                "delta": step.text,
            }));
        }
        frames.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    }
    let completed = response("completed", &output, usage);
    frames.push(json!({ "type": "response.completed", "response": completed }));
    frames.iter().map(named).collect()
}

fn completions(step: &Step) -> String {
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        json!({
            "id": format!("chatcmpl-{}", step.number), "object": "chat.completion.chunk", "created": 1,
            "model": "scripted", "choices": [choice],
        })
    };
    let mut frames = vec![chunk(json!({ "role": "assistant", "content": step.text }), Value::Null)];
    if let Some((name, input)) = &step.call {
        let function = json!({ "name": name, "arguments": input.to_string() });
        let call =
            json!({ "index": 0, "id": format!("call_{}", step.number), "type": "function", "function": function });
        frames.push(chunk(json!({ "tool_calls": [call] }), Value::Null));
    }
    let reason = if step.call.is_some() { "tool_calls" } else { "stop" };
    let mut last = chunk(json!({}), json!(reason));
    last["usage"] = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    frames.push(last);
    let frames: String = frames.iter().map(|frame| format!("data: {frame}\n\n")).collect();
    frames + "data: [DONE]\n\n"
}

fn gemini(step: &Step) -> String {
    let mut parts = vec![json!({ "text": step.text })];
    if let Some((name, input)) = &step.call {
        let id = format!("fc_{}", step.number);
        parts.push(json!({ "functionCall": { "id": id, "name": name, "args": input } }));
    }
    let candidate = json!({ "content": { "role": "model", "parts": parts }, "finishReason": "STOP", "index": 0 });
    let usage = json!({ "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 });
    let id = format!("r{}", step.number);
    let whole = json!({
        "candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted", "responseId": id,
    });
    format!("data: {whole}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: Tools = Tools { shell: ("bash", "command"), rate: "rate_memories", namespace: None };

    #[test]
    fn the_steps_are_taken_by_requests_with_tools_and_rate_what_the_first_one_had() {
        let state = Mutex::new(State::default());
        let text = "mem_abc mem_0123456789ab mem_0123456789ab mem_ba9876543210 mem_00ff00ff00ff mem_";
        let request = json!({ "tools": [{}], "m": text });
        let request = request.to_string();
        let of = |path: &str, body: &str| answer(path, body.as_bytes(), &TOOLS, &state);
        assert!(of("/v1/chat/completions", "{}").unwrap().contains("\"content\":\"ok\""));
        assert!(of("/v1/chat/completions", &request).unwrap().contains("\"bash\""));
        assert!(of("/v1/messages", &request).unwrap().contains("mem_0123456789ab"));
        for path in ["/v1/responses", "/v1beta/models/m:streamGenerateContent"] {
            let last = of(path, &request).unwrap();
            assert!(last.contains(ANSWER) && last.contains("mem_00ff00ff00ff"), "{last}");
        }
        assert_eq!(of("/v1/models", &request), None);
        assert_eq!(locked(&state).steps, 4);
    }

    #[test]
    fn a_body_is_read_with_its_length_or_in_chunks() {
        for sent in
            ["Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"]
        {
            assert_eq!(read_body(&mut sent.as_bytes()).unwrap(), b"hello");
        }
        assert_eq!(read_body(&mut "host: a\r\n\r\n".as_bytes()).unwrap(), b"");
    }
}
