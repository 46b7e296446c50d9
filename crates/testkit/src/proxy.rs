//! A TCP proxy that can stop forwarding without closing connections.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, tcp},
    sync::Notify,
};

/// A running proxy. It ends with the async runtime.
pub struct Proxy {
    /// Address to connect to instead of the target.
    pub address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    silent: AtomicBool,
    changed: Notify,
}

impl Proxy {
    /// Starts a proxy that forwards to `target`.
    pub async fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let shared = state.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let shared = shared.clone();
                tokio::spawn(async move {
                    let Ok(server) = TcpStream::connect(target).await else { return };
                    let (client_in, client_out) = client.into_split();
                    let (server_in, server_out) = server.into_split();
                    tokio::spawn(pump(client_in, server_out, shared.clone()));
                    tokio::spawn(pump(server_in, client_out, shared));
                });
            }
        });
        Self { address, state }
    }

    /// Stops forwarding in both directions. Connections stay open.
    pub fn go_silent(&self) {
        self.state.silent.store(true, Ordering::SeqCst);
    }

    /// Forwards again, including what was received meanwhile.
    pub fn recover(&self) {
        self.state.silent.store(false, Ordering::SeqCst);
        self.state.changed.notify_waiters();
    }
}

async fn pump(mut from: tcp::OwnedReadHalf, mut to: tcp::OwnedWriteHalf, state: Arc<State>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read) = from.read(&mut buffer).await {
        if read == 0 {
            return;
        }
        loop {
            let changed = state.changed.notified();
            if !state.silent.load(Ordering::SeqCst) {
                break;
            }
            changed.await;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
