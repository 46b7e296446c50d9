//! Calling a tool of an MCP server.

use super::{super::limit, Mcp, connection::Connection, fault::Fault, progress::pass_on};
use domain::mcp::Block;
use ledger::mcp_server::Target;
use rmcp::{
    ServiceError,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ContentBlock, ResourceContents,
        ServerResult,
    },
    service::PeerRequestOptions,
};
use serde_json::{Map, Value};
use std::{future::Future, pin::pin, time::Duration};
use tokio::{
    select,
    time::{Instant, sleep_until, timeout, timeout_at},
};
use wire::worker::Progress;

/// How the call of a tool ended. `S` is what broke it off.
#[derive(Debug)]
pub enum Called<S> {
    /// The server ran the tool.
    Answered {
        /// The structured result, if there is one.
        structured: Option<Value>,
        /// The parts of the result.
        content: Vec<Block>,
        /// Whether the tool reports an error.
        is_error: bool,
    },
    /// There is no result, and the tool was not called.
    NotSent(Fault),
    /// The tool was called, and there is no result. It may have run, unless the fault says otherwise.
    Sent(Fault),
    /// The caller broke the call off. The server was told.
    Stopped(S),
}

impl Mcp {
    /// Calls a tool. When `time` is over or `stop` is ready, the server gets `notifications/cancelled`. `report` takes
    /// how far the call is, whenever the server says it; notes can have anything.
    pub async fn call<S>(
        &self,
        target: &Target,
        (tool, arguments): (&str, Map<String, Value>),
        time: Duration,
        (stop, report): (impl Future<Output = S>, impl Fn(Progress)),
    ) -> Called<S> {
        let deadline = Instant::now() + time;
        let mut stop = pin!(stop);
        let opening = timeout_at(deadline, Connection::open(self, target, time));
        let mut connection = select! {
            biased;
            opened = opening => match opened {
                Ok(Ok(connection)) => connection,
                Ok(Err(fault)) => return Called::NotSent(fault),
                Err(_) => return Called::NotSent(Fault::Time),
            },
            stopped = &mut stop => return Called::Stopped(stopped),
        };
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let called = ask(&mut connection, CallToolRequest::new(params), deadline, (stop, report)).await;
        connection.close().await;
        called
    }
}

/// How the wait for an answer ended.
#[expect(clippy::large_enum_variant, reason = "it is matched where it is made")]
enum Waited<S> {
    Answer(Result<Result<ServerResult, ServiceError>, tokio::sync::oneshot::error::RecvError>),
    Time,
    Stop(S),
}

async fn ask<S>(
    connection: &mut Connection,
    request: CallToolRequest,
    deadline: Instant,
    (stop, report): (impl Future<Output = S>, impl Fn(Progress)),
) -> Called<S> {
    let request = ClientRequest::CallToolRequest(request);
    let sent = connection.peer().send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let Ok(mut handle) = sent else {
        return Called::NotSent(fault_of(connection, "the server closed the connection"));
    };
    let waited = select! {
        biased;
        answer = &mut handle.rx => Waited::Answer(answer),
        () = sleep_until(deadline) => Waited::Time,
        stopped = stop => Waited::Stop(stopped),
        never = pass_on(&mut connection.progress, report) => match never {},
    };
    match waited {
        Waited::Answer(Ok(Ok(ServerResult::CallToolResult(result)))) => answered(result),
        Waited::Answer(Ok(Ok(_))) => Called::Sent(Fault::Invalid("the answer is no result of a tool".to_owned())),
        Waited::Answer(Ok(Err(ServiceError::McpError(error)))) if connection.watch.fault().is_none() => {
            Called::Sent(Fault::Denied(error.message.into_owned()))
        }
        Waited::Answer(Ok(Err(error))) => sent_or_not(fault_of(connection, &error.to_string())),
        Waited::Answer(Err(_)) => sent_or_not(fault_of(connection, "the server closed the connection")),
        Waited::Time => {
            cancel(handle, "the time is over").await;
            Called::Sent(Fault::Time)
        }
        Waited::Stop(stopped) => {
            cancel(handle, "the run was ended").await;
            Called::Stopped(stopped)
        }
    }
}

async fn cancel(handle: rmcp::service::RequestHandle<rmcp::RoleClient>, reason: &str) {
    // A server that does not take it loses its connection.
    let _ = timeout(limit::MCP_CLOSE, handle.cancel(Some(reason.to_owned()))).await;
}

fn fault_of(connection: &Connection, otherwise: &str) -> Fault {
    connection.watch.fault().unwrap_or_else(|| Fault::Broken(otherwise.to_owned()))
}

/// A request that was refused here, or for which there was no connection, called nothing.
fn sent_or_not<S>(fault: Fault) -> Called<S> {
    match fault {
        Fault::Refused(_) | Fault::Unreachable(_) => Called::NotSent(fault),
        fault => Called::Sent(fault),
    }
}

fn answered<S>(result: CallToolResult) -> Called<S> {
    Called::Answered {
        structured: result.structured_content,
        content: result.content.into_iter().map(block).collect(),
        is_error: result.is_error.unwrap_or_default(),
    }
}

fn block(content: ContentBlock) -> Block {
    match content {
        ContentBlock::Text(text) => Block::Text(text.text),
        ContentBlock::Image(image) => Block::Image { mime_type: image.mime_type, data: image.data },
        ContentBlock::ResourceLink(link) => Block::Link { uri: link.uri, name: link.name, mime_type: link.mime_type },
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                Block::Resource { uri, mime_type, text }
            }
            _ => Block::Other,
        },
        _ => Block::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_part_of_a_result_is_read_by_its_kind() {
        let result: CallToolResult = serde_json::from_value(json!({
            "content": [
                { "type": "text", "text": "a" },
                { "type": "image", "data": "AAAA", "mimeType": "image/png" },
                { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
                { "type": "resource_link", "uri": "file:///a", "name": "a" },
                { "type": "resource", "resource": { "uri": "file:///b", "text": "b" } },
                { "type": "resource", "resource": { "uri": "file:///c", "blob": "AAAA" } },
            ],
            "isError": true,
        }))
        .unwrap();
        let Called::Answered { structured, content, is_error } = answered::<()>(result) else { panic!("no answer") };
        assert!(structured.is_none() && is_error);
        let link = Block::Link { uri: "file:///a".to_owned(), name: "a".to_owned(), mime_type: None };
        let resource = Block::Resource { uri: "file:///b".to_owned(), mime_type: None, text: "b".to_owned() };
        let image = Block::Image { mime_type: "image/png".to_owned(), data: "AAAA".to_owned() };
        let text = Block::Text("a".to_owned());
        assert_eq!(content, [text, image, Block::Other, link, resource, Block::Other]);
    }
}
