//! A chat model with scripted replies, over HTTP: the OpenAI-compatible protocol at `/v1/chat/completions` and
//! Anthropic's at `/v1/messages`, both streamed, with their failures.

use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

/// The reply to one request.
#[derive(Debug, Clone)]
pub enum ScriptedReply {
    /// A reply with this text.
    Text(&'static str),
    /// A reply with this text and tool calls: id, name, and input as text, which may be invalid JSON.
    ToolCalls(&'static str, Vec<(&'static str, &'static str, String)>),
    /// A reply with this text that ends because it reached the largest number of tokens.
    Truncated(&'static str),
    /// An error with this status, a `retry-after` in seconds, and a message.
    Status(u16, Option<u32>, &'static str),
    /// The connection breaks in the middle of the reply.
    ConnectionLost,
    /// The stream ends normally, but without the end of the reply.
    EndsEarly,
    /// A chunk that is not JSON.
    InvalidJson,
    /// An error inside the stream ends the reply.
    Overloaded,
    /// A reply with this text whose stream never ends.
    Unfinished(&'static str),
    /// No reply. The connection stays open.
    NoAnswer,
    /// A reply with this text, once the test lets it go.
    Held(&'static str, Arc<Notify>),
    /// A stream with exactly these data of frames, ended by `[DONE]` where it is one of them.
    Frames(Vec<String>),
    /// A reply with the text that this function makes of the request's body.
    Of(fn(&Value) -> String),
}

impl ScriptedReply {
    /// A stream with these frames.
    pub fn frames(frames: &[Value]) -> Self {
        Self::Frames(
            frames.iter().map(|frame| frame.as_str().map_or_else(|| frame.to_string(), str::to_owned)).collect(),
        )
    }

    /// A reply with one tool call and no text.
    pub fn tool(id: &'static str, name: &'static str, input: &Value) -> Self {
        Self::ToolCalls("", vec![(id, name, input.to_string())])
    }
}

/// A request that the model received.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// Request line and headers, as received.
    pub head: String,
    /// The body as JSON.
    pub body: Value,
}

/// A running service. It ends with the test.
#[derive(Debug, Clone)]
pub struct ScriptedModel {
    /// Base URL with `/v1`, as settings need it.
    pub base_url: String,
    script: Arc<Mutex<VecDeque<ScriptedReply>>>,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

/// Token counts that every reply reports: input tokens, of these cached, output tokens.
pub const TOKENS: (u32, u32, u32) = (100, 40, 20);

impl ScriptedModel {
    /// Starts a service that gives these replies, one for each request. Further requests are refused.
    pub async fn start(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let script = Arc::new(Mutex::new(replies.into_iter().collect()));
        let model = Self { base_url, script, requests: Arc::default() };
        let playing = model.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let model = playing.clone();
                // A client that closes the connection is no error of the script.
                tokio::spawn(async move { drop(model.answer(stream).await) });
            }
        });
        model
    }

    /// Adds replies after those that are left.
    pub fn then(&self, replies: impl IntoIterator<Item = ScriptedReply>) {
        self.script.lock().unwrap().extend(replies);
    }

    /// Number of requests received so far.
    pub fn received(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// Requests received so far, in order.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    async fn answer(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).await? == 0 {
                return Ok(());
            }
        }
        let length = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body).await?;
        let is_openai = head.starts_with("POST /v1/chat/completions");
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        self.requests.lock().unwrap().push(ReceivedRequest { head, body: body.clone() });
        let next = self.script.lock().unwrap().pop_front();
        let next = match next.unwrap_or(ScriptedReply::Status(400, None, "the script is over")) {
            ScriptedReply::Held(text, go) => {
                go.notified().await;
                ScriptedReply::Text(text)
            }
            ScriptedReply::Of(make) => ScriptedReply::Text(make(&body).leak()),
            next => next,
        };
        send_reply(stream.into_inner(), is_openai, next).await
    }
}

async fn send_reply(mut stream: TcpStream, is_openai: bool, next: ScriptedReply) -> std::io::Result<()> {
    if let ScriptedReply::NoAnswer = next {
        return std::future::pending().await;
    }
    if let ScriptedReply::Status(status, retry_after, text) = next {
        let retry = retry_after.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
        let body = json!({ "type": "error", "error": { "type": "api_error", "message": text } }).to_string();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{retry}content-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        return stream.write_all(format!("{head}{body}").as_bytes()).await;
    }
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let frames = match &next {
        ScriptedReply::Frames(frames) => frames.iter().map(|data| raw_frame(data)).collect(),
        next if is_openai => openai(next),
        next => anthropic(next),
    };
    let text = frames.concat();
    // Pieces of 37 bytes split lines and characters, as a network may do. Those of large replies are as large as
    // packets.
    let size = if text.len() < 65_536 { 37 } else { 1_448 };
    for piece in text.as_bytes().chunks(size) {
        stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
        stream.write_all(piece).await?;
        stream.write_all(b"\r\n").await?;
    }
    if matches!(next, ScriptedReply::Unfinished(_)) {
        return std::future::pending().await;
    }
    if matches!(next, ScriptedReply::ConnectionLost) {
        return Ok(());
    }
    stream.write_all(b"0\r\n\r\n").await
}

/// A frame with this data. Frames of Anthropic's protocol are named by their type.
fn raw_frame(data: &str) -> String {
    let kind = serde_json::from_str::<Value>(data).ok().and_then(|data| data["type"].as_str().map(str::to_owned));
    let name = kind.map(|kind| format!("event: {kind}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}

/// Text and calls of a complete reply, or the text before the reply breaks off.
fn content(next: &ScriptedReply) -> (&'static str, &[(&'static str, &'static str, String)]) {
    match next {
        ScriptedReply::Text(text) | ScriptedReply::Truncated(text) | ScriptedReply::Unfinished(text) => (text, &[]),
        ScriptedReply::ToolCalls(text, calls) => (text, calls),
        _ => ("Half of", &[]),
    }
}

fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(7).map(|piece| piece.iter().collect()).collect()
}

fn openai(next: &ScriptedReply) -> Vec<String> {
    let frame = |data: Value| format!("data: {data}\n\n");
    let chunk = |delta: Value, reason: Value| {
        frame(json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }]
        }))
    };
    let (text, calls) = content(next);
    let mut frames = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    frames.extend(pieces(text).into_iter().map(|piece| chunk(json!({ "content": piece }), Value::Null)));
    for (index, (id, name, input)) in calls.iter().enumerate() {
        let function = json!({ "name": name, "arguments": "" });
        let call = json!({ "index": index, "id": id, "type": "function", "function": function });
        frames.push(chunk(json!({ "tool_calls": [call] }), Value::Null));
        for piece in pieces(input) {
            let call = json!({ "index": index, "function": { "arguments": piece } });
            frames.push(chunk(json!({ "tool_calls": [call] }), Value::Null));
        }
    }
    let reason = match next {
        ScriptedReply::Text(_) => "stop",
        ScriptedReply::Truncated(_) => "length",
        ScriptedReply::ToolCalls(..) => "tool_calls",
        ScriptedReply::InvalidJson => return [frames, vec!["data: {\"choices\": [{]\n\n".to_owned()]].concat(),
        ScriptedReply::Overloaded => {
            frames.push(frame(json!({ "error": { "type": "server_error", "message": "overloaded" } })));
            return frames;
        }
        _ => return frames,
    };
    frames.push(chunk(json!({}), reason.into()));
    let (input, cached, output) = TOKENS;
    let usage = json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": cached }
    });
    frames.push(frame(json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [], "usage": usage })));
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

fn anthropic(next: &ScriptedReply) -> Vec<String> {
    let frame = |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    let (text, calls) = content(next);
    let (input, cached, output) = TOKENS;
    let usage = json!({
        "input_tokens": input - cached, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0, "output_tokens": 1
    });
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": usage
    });
    let mut frames =
        vec![frame(json!({ "type": "message_start", "message": message })), frame(json!({ "type": "ping" }))];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        let mut made = vec![frame(json!({ "type": "content_block_start", "index": index, "content_block": start }))];
        let delta = |delta| frame(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        made.extend(deltas.into_iter().map(delta));
        made.push(frame(json!({ "type": "content_block_stop", "index": index })));
        index += 1;
        made
    };
    if !text.is_empty() {
        let deltas = pieces(text).into_iter().map(|piece| json!({ "type": "text_delta", "text": piece })).collect();
        frames.extend(block(json!({ "type": "text", "text": "" }), deltas));
    }
    for (id, name, input) in calls {
        let deltas =
            pieces(input).into_iter().map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        frames.extend(block(json!({ "type": "tool_use", "id": id, "name": name, "input": {} }), deltas.collect()));
    }
    let reason = match next {
        ScriptedReply::Text(_) => "end_turn",
        ScriptedReply::Truncated(_) => "max_tokens",
        ScriptedReply::ToolCalls(..) => "tool_use",
        ScriptedReply::InvalidJson => {
            frames.push(
                "event: content_block_delta\ndata: {\"type\": \"content_block_delta\", \"index\": 0, {]\n\n".to_owned(),
            );
            return frames;
        }
        ScriptedReply::Overloaded => {
            let error = json!({ "type": "overloaded_error", "message": "Overloaded" });
            frames.push(frame(json!({ "type": "error", "error": error })));
            return frames;
        }
        _ => return frames,
    };
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    frames.push(frame(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": output } })));
    frames.push(frame(json!({ "type": "message_stop" })));
    frames
}
