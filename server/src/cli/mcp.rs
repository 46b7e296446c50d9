//! `shiftbook mcp`: a server of the Model Context Protocol on standard input and output, with the tool `rate_memories`.
//!
//! Coding agents without plugins get the tool from here. The tool itself does nothing: the host's hook reports the call
//! with its ratings, and names the session. So this program needs neither a server nor a token.

use super::common::{Failure, print_line};
use crate::build_version::VERSION;
use domain::relevance::RATE_DESCRIPTION;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _};

/// Longest message that is read, bytes. The rest of a longer one is no message and gets no answer.
const MESSAGE_BYTES_MAX: u64 = 1024 * 1024;
/// Version of the protocol for a client that names none.
const PROTOCOL: &str = "2025-06-18";
/// Codes of JSON-RPC.
const METHOD_NOT_FOUND: i32 = -32_601;
const INVALID_PARAMS: i32 = -32_602;
const TOOL: &str = "rate_memories";
const RATINGS: &str = "memory_feedback";

/// Answers messages until standard input ends.
pub fn run() -> Result<(), Failure> {
    let mut input = BufReader::new(std::io::stdin());
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut message = input.by_ref().take(MESSAGE_BYTES_MAX);
        if message.read_until(b'\n', &mut line).map_err(Failure::io("cannot read stdin"))? == 0 {
            return Ok(());
        }
        if let Some(answer) = answer(&line) {
            print_line(&answer.to_string())?;
        }
    }
}

/// Returns the answer to a request. `None` for what is no request: it gets no answer.
fn answer(line: &[u8]) -> Option<Value> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let id = message.get("id").filter(|id| !id.is_null())?;
    let method = message.get("method")?.as_str()?;
    let mut answer = json!({ "jsonrpc": "2.0", "id": id });
    match result(method, &message["params"]) {
        Ok(result) => answer["result"] = result,
        Err((code, why)) => answer["error"] = json!({ "code": code, "message": why }),
    }
    Some(answer)
}

fn result(method: &str, params: &Value) -> Result<Value, (i32, &'static str)> {
    match method {
        "initialize" => Ok(json!({
            "protocolVersion": params["protocolVersion"].as_str().unwrap_or(PROTOCOL),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "shiftbook", "version": VERSION },
        })),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": [tool()] })),
        "tools/call" if params["name"] == TOOL => Ok(called(&params["arguments"])),
        "tools/call" => Err((INVALID_PARAMS, "the only tool is rate_memories")),
        _ => Err((METHOD_NOT_FOUND, "unknown method")),
    }
}

fn tool() -> Value {
    json!({
        "name": TOOL,
        "description": RATE_DESCRIPTION,
        "inputSchema": {
            "type": "object",
            "properties": { RATINGS: { "type": "object" } },
            "required": [RATINGS],
            "additionalProperties": false,
        },
        "annotations": { "readOnlyHint": false, "destructiveHint": false, "openWorldHint": false },
    })
}

/// The result of a call. The host's hook has the ratings.
fn called(arguments: &Value) -> Value {
    let is_good = arguments[RATINGS].is_object();
    let text = if is_good { "Thank you." } else { "memory_feedback is an object that maps ids of memories to scores" };
    json!({ "content": [{ "type": "text", "text": text }], "isError": !is_good })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_to(message: &Value) -> Option<Value> {
        answer(message.to_string().as_bytes())
    }

    #[test]
    fn a_client_finds_the_tool_and_calls_it() {
        let first =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-11-25" } });
        assert_eq!(answer_to(&first).unwrap()["result"]["protocolVersion"], "2025-11-25");
        let listed = answer_to(&json!({ "id": "a", "method": "tools/list" })).unwrap();
        assert_eq!((&listed["id"], &listed["result"]["tools"][0]["name"]), (&json!("a"), &json!(TOOL)));
        for (arguments, is_error) in [(json!({ RATINGS: { "mem_0": 1 } }), false), (json!({}), true)] {
            let call = json!({ "id": 2, "method": "tools/call", "params": { "name": TOOL, "arguments": arguments } });
            assert_eq!(answer_to(&call).unwrap()["result"]["isError"], is_error);
        }
        let other = json!({ "id": 3, "method": "tools/call", "params": { "name": "rm" } });
        assert_eq!(answer_to(&other).unwrap()["error"]["code"], INVALID_PARAMS);
    }

    #[test]
    fn an_unknown_request_is_refused_and_what_is_no_request_gets_no_answer() {
        // Claude Code begins with it.
        let discover = answer_to(&json!({ "id": 1, "method": "server/discover" })).unwrap();
        assert_eq!(discover["error"]["code"], METHOD_NOT_FOUND);
        for message in [
            json!({ "method": "notifications/initialized" }),
            json!({ "id": null, "method": "ping" }),
            json!({ "id": 1, "result": {} }),
            json!(7),
        ] {
            assert_eq!(answer_to(&message), None, "{message}");
        }
        assert_eq!(answer(b"{ half a"), None);
    }
}
