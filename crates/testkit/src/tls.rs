//! A TLS front for a receiver that uses plain text. Its certificate is trusted only by systems that are configured for
//! it.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

/// When TLS begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// At the start of the connection.
    AtOnce,
    /// After an SMTP client has sent STARTTLS. The front closes the connection of a client that continues without it.
    StartTls,
}

/// A running front. It ends when dropped.
pub struct TlsFront {
    /// Address of the front, on this machine.
    pub address: SocketAddr,
    dir: TempDir,
    task: JoinHandle<()>,
}

impl TlsFront {
    /// Starts a front that forwards decrypted bytes to the receiver at `to`.
    pub async fn start(to: SocketAddr, begin: Begin) -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ca.pem"), made.cert.pem()).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A sender that does not trust the certificate closes the connection.
                let _ = pass(stream, &acceptor, to, begin).await;
            }
        });
        Self { address, dir, task }
    }

    /// Path of the certificate, a PEM file.
    pub fn certificate(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(stream: TcpStream, acceptor: &TlsAcceptor, to: SocketAddr, begin: Begin) -> std::io::Result<()> {
    let mut behind = BufReader::new(TcpStream::connect(to).await?);
    let stream = if begin == Begin::StartTls { asked_to_begin(stream).await? } else { stream };
    let mut stream = acceptor.accept(stream).await?;
    if begin == Begin::StartTls {
        // The client got a greeting before TLS, so the receiver's greeting is dropped.
        behind.read_line(&mut String::new()).await?;
    }
    copy_bidirectional(&mut stream, &mut behind).await?;
    Ok(())
}

/// Answers SMTP commands until STARTTLS.
async fn asked_to_begin(stream: TcpStream) -> std::io::Result<TcpStream> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 front\r\n").await?;
    let mut line = String::new();
    while stream.read_line(&mut line).await? > 0 {
        match line.trim_end() {
            "STARTTLS" => {
                stream.write_all(b"220 go on\r\n").await?;
                return Ok(stream.into_inner());
            }
            hello if hello.starts_with("EHLO") => stream.write_all(b"250-front\r\n250 STARTTLS\r\n").await?,
            _ => break,
        }
        line.clear();
    }
    Err(std::io::ErrorKind::ConnectionAborted.into())
}
