//! An SMTP receiver that records e-mails and accepts them by default.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
};

/// One received e-mail.
#[derive(Debug, Clone)]
pub struct Mail {
    /// Recipient of the envelope.
    pub to: String,
    /// Headers and body.
    pub text: String,
}

/// A running server. It ends when dropped.
pub struct SmtpReceiver {
    /// Address on which it listens.
    pub address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    mails: Mutex<Vec<Mail>>,
    refusals: Mutex<VecDeque<String>>,
    arrived: Notify,
}

impl SmtpReceiver {
    /// Starts a receiver on a free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let serving = shared.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A sender may close the connection early.
                let _ = serve(stream, &serving).await;
            }
        });
        Self { address, shared, task }
    }

    /// Sets the answer to the next recipient, such as `450 later`.
    pub fn refuse_next(&self, answer: &str) {
        self.shared.refusals.lock().unwrap().push_back(answer.to_owned());
    }

    /// E-mails received so far, in order.
    pub fn mails(&self) -> Vec<Mail> {
        self.shared.mails.lock().unwrap().clone()
    }

    /// Waits until an e-mail has arrived. Returns the newest one.
    pub async fn wait(&self) -> Mail {
        loop {
            let arrived = self.shared.arrived.notified();
            if let Some(mail) = self.mails().pop() {
                return mail;
            }
            arrived.await;
        }
    }
}

impl Drop for SmtpReceiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 test\r\n").await?;
    let (mut line, mut to) = (String::new(), String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let answer = match line.split_whitespace().next().unwrap_or_default() {
            "RCPT" => {
                to = line.trim().trim_start_matches("RCPT TO:").trim_matches(['<', '>']).to_owned();
                shared.refusals.lock().unwrap().pop_front().unwrap_or_else(|| "250 ok".to_owned())
            }
            "DATA" => {
                stream.write_all(b"354 go on\r\n").await?;
                let mut text = String::new();
                while !text.ends_with("\r\n.\r\n") {
                    stream.read_line(&mut text).await?;
                }
                shared.mails.lock().unwrap().push(Mail { to: to.clone(), text });
                shared.arrived.notify_waiters();
                "250 taken".to_owned()
            }
            "QUIT" => {
                stream.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            _ => "250 ok".to_owned(),
        };
        stream.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
}
