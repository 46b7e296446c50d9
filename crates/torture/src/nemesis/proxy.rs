//! A TCP proxy that cuts connections while the answer is on its way back: the request took effect, and the client
//! cannot know it (P-4 of docs/reliability.md).

use crate::counters::Counters;
use anyhow::Result;
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinHandle,
};

/// Connections at a time.
const CONNECTIONS_MAX: usize = 512;
/// How long a blackholed answer is withheld: longer than any client waits.
const BLACKHOLE: Duration = Duration::from_secs(8);

/// A running proxy; it ends when dropped.
pub struct Proxy {
    /// Where clients connect.
    pub address: SocketAddr,
    orders: Arc<Orders>,
    task: JoinHandle<()>,
}

struct Orders {
    /// Answers still to be cut.
    cuts: AtomicU64,
    /// Cuts so far; chooses the kind of the next one.
    done: AtomicU64,
    counters: Arc<Counters>,
}

impl Proxy {
    /// Forwards to `target`.
    pub async fn start(target: SocketAddr, counters: Arc<Counters>) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let orders = Arc::new(Orders { cuts: AtomicU64::new(0), done: AtomicU64::new(0), counters });
        let task = tokio::spawn(accept(listener, target, orders.clone()));
        Ok(Self { address, orders, task })
    }

    /// Cuts the next `count` answers.
    pub fn cut(&self, count: u64) {
        self.orders.cuts.fetch_add(count, Ordering::Relaxed);
    }

    /// Drops the cuts that were ordered and not made.
    pub fn clear(&self) {
        self.orders.cuts.store(0, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Orders {
    /// Takes one order; which cut of the run it is.
    fn take(&self) -> Option<u64> {
        let taken = self.cuts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |cuts| cuts.checked_sub(1));
        taken.ok()?;
        self.counters.connection_cuts.add(1);
        Some(self.done.fetch_add(1, Ordering::Relaxed))
    }
}

async fn accept(listener: TcpListener, target: SocketAddr, orders: Arc<Orders>) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(slot) = slots.clone().acquire_owned().await else { return };
        let Ok((client, _)) = listener.accept().await else { continue };
        let orders = orders.clone();
        tokio::spawn(async move {
            // A connection that fails is a fault like any other.
            if let Ok(server) = TcpStream::connect(target).await {
                let _ = forward(client, server, &orders).await;
            }
            drop(slot);
        });
    }
}

async fn forward(mut client: TcpStream, mut server: TcpStream, orders: &Orders) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut from_client, mut from_server) = (vec![0; 16 * 1024], vec![0; 16 * 1024]);
    loop {
        tokio::select! {
            count = client.read(&mut from_client) => {
                let count = count?;
                if count == 0 {
                    return Ok(());
                }
                server.write_all(&from_client[..count]).await?;
            }
            count = server.read(&mut from_server) => {
                let count = count?;
                if count == 0 {
                    return Ok(());
                }
                let Some(kind) = orders.take() else {
                    client.write_all(&from_server[..count]).await?;
                    continue;
                };
                match kind % 8 {
                    // Half an answer.
                    0..=2 => client.write_all(&from_server[..count / 2]).await?,
                    // Silence: the client has to time out.
                    3 => tokio::time::sleep(BLACKHOLE).await,
                    // Nothing at all.
                    _ => {}
                }
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn echo() -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut buffer = [0; 64];
                    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                        stream.write_all(&buffer[..count]).await.unwrap();
                    }
                });
            }
        });
        address
    }

    #[tokio::test]
    async fn it_forwards_until_told_to_cut_an_answer() {
        let counters = Arc::new(Counters::default());
        let proxy = Proxy::start(echo().await, counters.clone()).await.unwrap();
        let mut client = TcpStream::connect(proxy.address).await.unwrap();
        let mut buffer = [0; 64];
        client.write_all(b"ping").await.unwrap();
        assert_eq!(client.read(&mut buffer).await.unwrap(), 4);

        proxy.cut(1);
        client.write_all(b"ping").await.unwrap();
        // Half of the answer, then the end.
        assert_eq!(client.read(&mut buffer).await.unwrap(), 2);
        assert_eq!(client.read(&mut buffer).await.unwrap_or(0), 0);
        assert_eq!(counters.connection_cuts.get(), 1);

        let mut next = TcpStream::connect(proxy.address).await.unwrap();
        next.write_all(b"ping").await.unwrap();
        assert_eq!(next.read(&mut buffer).await.unwrap(), 4);
    }
}
