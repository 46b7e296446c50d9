//! Servers on this machine that count who connects, and a resolver with fixed answers.

use outbound::{Addresses, Client, Hosts, Method, Policy, Request, Resolver};
use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

/// A server that gives everyone the same answer and counts connections.
pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    /// What was sent to it, one request each.
    pub requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers with `answer` and closes. An empty answer is silence: the connection stays open.
    pub async fn start(ip: &str, answer: &str) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (counted, heard, answer) = (connections.clone(), requests.clone(), answer.to_owned());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let (heard, answer) = (heard.clone(), answer.clone());
                tokio::spawn(async move {
                    let mut buffer = vec![0; 64 * 1024];
                    let read = stream.read(&mut buffer).await.unwrap_or_default();
                    heard.lock().unwrap().push(String::from_utf8_lossy(&buffer[..read]).into_owned());
                    if answer.is_empty() {
                        std::future::pending::<()>().await;
                    }
                    // A client that has heard enough hangs up in the middle.
                    let _ = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        Self { address, connections, requests }
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// A resolver of fixed names. Each has its answer for the first lookup, the second and so on.
#[derive(Default)]
pub struct FakeResolver {
    names: HashMap<String, Vec<Vec<IpAddr>>>,
    lookups: AtomicUsize,
}

impl FakeResolver {
    pub fn name(mut self, name: &str, answers: &[&[&str]]) -> Self {
        let parse = |answer: &&[&str]| answer.iter().map(|ip| ip.parse().unwrap()).collect();
        self.names.insert(name.to_owned(), answers.iter().map(parse).collect());
        self
    }

    pub fn lookups(&self) -> usize {
        self.lookups.load(Ordering::SeqCst)
    }
}

impl Resolver for FakeResolver {
    fn addresses(&self, host: &str) -> Addresses {
        let times = self.lookups.fetch_add(1, Ordering::SeqCst);
        let answer = self.names.get(host).map(|answers| answers[times.min(answers.len() - 1)].clone());
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }
}

pub fn get(url: &str) -> Request {
    Request {
        method: Method::GET,
        url: url.to_owned(),
        headers: Vec::new(),
        body: Vec::new().into(),
        hosts: Hosts::any(),
    }
}

/// A client that may call 127.0.0.2, where the tests' servers are, and nothing else on this machine.
pub fn client(resolver: Arc<FakeResolver>) -> Client {
    Client::with_resolver(Policy::opening(&["127.0.0.2"]).unwrap(), resolver).unwrap()
}
