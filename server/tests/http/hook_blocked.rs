//! Hooks that cannot be sent: a large one over a slow connection or without one, and one that a proxy refuses.

use crate::{
    app::App,
    hook::{CLAUDE_CODE, Machine, files, free_address, names, recorded_hooks, session_of_hooks},
};
use serde_json::{Value, json};
use std::{net::SocketAddr, path::PathBuf, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy, copy_bidirectional},
    net::{TcpListener, TcpSocket, TcpStream},
    time::{sleep, timeout},
};

/// Forwards connections to the server, about 200 KB per second of what the agent sends.
async fn pass_on_slowly(listener: TcpListener, address: String) {
    loop {
        let (agent, _) = listener.accept().await.unwrap();
        let server = TcpStream::connect(&address).await.unwrap();
        tokio::spawn(async move {
            let ((mut from_agent, mut to_agent), (mut from_server, mut to_server)) =
                (agent.into_split(), server.into_split());
            let asking = tokio::spawn(async move {
                let mut part = [0; 10_000];
                while let Ok(size @ 1..) = from_agent.read(&mut part).await {
                    if to_server.write_all(&part[..size]).await.is_err() {
                        break;
                    }
                    sleep(Duration::from_millis(50)).await;
                }
            });
            let _ = copy(&mut from_server, &mut to_agent).await;
            asking.abort();
        });
    }
}

/// A hook that waits. The folder also has the number of prompts that got no context.
fn first_hook(machine: &Machine) -> PathBuf {
    let name = files(&machine.spool()).into_iter().find(|name| name.ends_with(".json")).unwrap();
    machine.spool().join(name)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_that_is_too_large_for_a_slow_connection_holds_up_no_others() {
    let app = App::start();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let machine = Machine::new(&app, &format!("http://{}", listener.local_addr().unwrap()));
    let proxy = tokio::spawn(pass_on_slowly(listener, app.address.clone()));
    let lines: Vec<_> = CLAUDE_CODE.lines().collect();
    let first: Value = serde_json::from_str(lines[0]).unwrap();
    let large = json!({
        "session_id": first["session_id"], "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_use_id": "large", "tool_response": { "stdout": "o".repeat(2_000_000) },
    });
    machine.hook("claude-code", &large.to_string()).await;
    for line in &lines {
        machine.hook("claude-code", line).await;
    }
    machine.settle("claude-code", lines.last().unwrap()).await;
    proxy.abort();
    let (_, events) = session_of_hooks(&app).await;
    let recorded = recorded_hooks(&events);
    assert_eq!(recorded[0], "PostToolUse");
    assert_eq!(recorded[1..], names(CLAUDE_CODE));
}

/// An address that does not answer: its listener has as many connections as it takes, so packets that would open
/// another one are dropped. This lasts until what is returned beside it is dropped.
async fn silent_address() -> (SocketAddr, TcpListener, Vec<TcpStream>) {
    /// Connections after which the listener must have taken as many as it does.
    const CONNECTIONS_MAX: usize = 100;
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(connected) = timeout(Duration::from_millis(500), TcpStream::connect(address)).await {
        waiting.push(connected.unwrap());
        assert!(waiting.len() < CONNECTIONS_MAX, "the listener takes any number of connections");
    }
    (address, listener, waiting)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_hook_stays_as_it_is_while_no_connection_can_be_made() {
    let app = App::start();
    let (address, _listener, _waiting) = silent_address().await;
    let machine = Machine::new(&app, &format!("http://{address}"));
    let ended = |id: &str, size: usize| {
        let hook = json!({
            "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": id,
            "tool_response": { "stdout": "o".repeat(size) },
        });
        hook.to_string()
    };
    machine.hook("claude-code", &ended("large", 100_000)).await;
    let large = first_hook(&machine);
    let kept = std::fs::read(&large).unwrap();
    for id in ["second", "third"] {
        machine.hook("claude-code", &ended(id, 1)).await;
    }
    assert_eq!(machine.waiting(), 3);
    assert!(std::fs::read(&large).unwrap() == kept, "the hook is as it was");
}

/// Forwards connections to the server, except those whose first request contains this text: a proxy's page
/// refuses them.
async fn refuse_one(listener: TcpListener, address: String, refused: String) {
    loop {
        let (mut agent, _) = listener.accept().await.unwrap();
        let (address, refused) = (address.clone(), refused.clone());
        tokio::spawn(async move {
            let (mut request, mut part) = (Vec::<u8>::new(), [0; 1024]);
            while !String::from_utf8_lossy(&request).contains("\r\n\r\n") {
                match agent.read(&mut part).await {
                    Ok(size @ 1..) => request.extend_from_slice(&part[..size]),
                    _ => return,
                }
            }
            if !String::from_utf8_lossy(&request).contains(&refused) {
                let mut server = TcpStream::connect(&address).await.unwrap();
                server.write_all(&request).await.unwrap();
                let _ = copy_bidirectional(&mut agent, &mut server).await;
                return;
            }
            let body = "<html>Forbidden</html>";
            let head = "HTTP/1.1 403 Forbidden\r\ncontent-type: text/html\r\nconnection: close";
            let _ = agent.write_all(format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).as_bytes()).await;
            // The rest of the request is read, so that the agent can read the answer.
            let _ = agent.shutdown().await;
            while agent.read(&mut part).await.is_ok_and(|size| size > 0) {}
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_that_a_proxy_refuses_waits_for_a_day_and_then_holds_up_no_others() {
    let app = App::start();
    let address = free_address().await;
    let machine = Machine::new(&app, &format!("http://{address}"));
    let lines: Vec<_> = CLAUDE_CODE.lines().collect();
    machine.hook("claude-code", lines[0]).await;
    let refused = first_hook(&machine);
    let mut entry: Value = serde_json::from_str(&std::fs::read_to_string(&refused).unwrap()).unwrap();
    let id = entry["id"].as_str().unwrap().to_owned();
    let listener = TcpListener::bind(address).await.unwrap();
    let proxy = tokio::spawn(refuse_one(listener, app.address.clone(), id));
    machine.hook("claude-code", lines[1]).await;
    assert_eq!(machine.waiting(), 2, "the proxy may refuse all");
    entry["at"] = "2020-11-21T09:00:00Z".into();
    std::fs::write(&refused, entry.to_string()).unwrap();
    for line in &lines[2..] {
        machine.hook("claude-code", line).await;
    }
    machine.settle("claude-code", lines.last().unwrap()).await;
    proxy.abort();
    assert_eq!(recorded_hooks(&session_of_hooks(&app).await.1), names(CLAUDE_CODE)[1..]);
}
