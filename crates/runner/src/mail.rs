//! One message to one person by e-mail, over the SMTP server that the operator configured.

use domain::notification::Topic;
use ledger::{MessageRecord, outbox::Outcome};
use lettre::{
    AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor,
    message::{Mailbox, header::ContentType},
    transport::smtp::{
        authentication::Credentials,
        client::{Tls, TlsParameters},
    },
};
use serde_json::Value;
use std::time::Duration;

/// From the connection to the server's last word. A batch of messages takes a few of these and stays within its lease.
const TIME: Duration = Duration::from_secs(15);

/// How the connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailTls {
    /// TLS from the first byte (port 465).
    Implicit,
    /// STARTTLS, and nothing without it (port 587).
    StartTls,
    /// In the clear, for a server on this machine.
    None,
}

/// The SMTP server and who writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSettings {
    /// Its name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How it is reached.
    pub tls: MailTls,
    /// Who writes, such as `Shiftbook <log@example.org>`.
    pub from: String,
    /// Name and password, where it asks for them.
    pub credentials: Option<(String, String)>,
    /// `https://host[:port]` where people see the server: what links begin with.
    pub public_origin: String,
}

/// Writes e-mail.
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    public_origin: String,
}

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadMailSettings {
    /// The sender is not an address.
    #[error("smtp.from `{0}` is not an address such as Shiftbook <log@example.org>")]
    From(String),
    /// The host cannot be verified, or the system has no certificates.
    #[error("smtp.host `{host}` cannot be used with TLS: {error}")]
    Tls {
        /// The host.
        host: String,
        /// Why.
        error: lettre::transport::smtp::Error,
    },
}

impl Mailer {
    /// A mailer for these settings. Nothing is connected to yet.
    pub fn new(settings: MailSettings) -> Result<Self, BadMailSettings> {
        let MailSettings { host, port, tls, from, credentials, public_origin } = settings;
        let from: Mailbox = from.parse().map_err(|_| BadMailSettings::From(from))?;
        let parameters =
            || TlsParameters::new(host.clone()).map_err(|error| BadMailSettings::Tls { host: host.clone(), error });
        let tls = match tls {
            MailTls::Implicit => Tls::Wrapper(parameters()?),
            MailTls::StartTls => Tls::Required(parameters()?),
            MailTls::None => Tls::None,
        };
        let mut transport =
            AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&host).port(port).tls(tls).timeout(Some(TIME));
        if let Some((name, password)) = credentials {
            transport = transport.credentials(Credentials::new(name, password));
        }
        Ok(Self { transport: transport.build(), from, public_origin })
    }

    /// Sends a message to a person.
    pub(crate) async fn send(&self, message: &MessageRecord, email: &str, workspace: &str) -> Outcome {
        let letter = match self.letter(message, email, workspace) {
            Ok(letter) => letter,
            Err(error) => return Outcome::Refused { error: format!("the e-mail cannot be written: {error}") },
        };
        match tokio::time::timeout(TIME, self.transport.send(letter)).await {
            Ok(Ok(_)) => Outcome::Delivered,
            Ok(Err(error)) if error.is_permanent() => Outcome::Refused { error: error.to_string() },
            Ok(Err(error)) => Outcome::Failed { error: error.to_string(), asked: None },
            Err(_) => Outcome::Failed { error: format!("no answer within {} s", TIME.as_secs()), asked: None },
        }
    }

    /// Who waits, for what task, and a link. Never what is staged: mail is kept in places that forget nothing.
    fn letter(&self, message: &MessageRecord, email: &str, workspace: &str) -> Result<Message, Unwritable> {
        let data: Value = serde_json::from_str(&message.payload)?;
        let text = |field: &str| data.get(field).and_then(Value::as_str);
        let who = text("agentSlug").unwrap_or("An agent");
        let subject = match message.topic {
            Topic::ApprovalReminder => format!("Reminder, waiting for your decision: {who}"),
            Topic::ApprovalEscalated => format!("A decision is needed: {who}"),
            _ => format!("Waiting for your decision: {who}"),
        };
        let task = text("actionName").map(|task| format!("Task: {task}\n")).unwrap_or_default();
        let (origin, path) = (&self.public_origin, text("path").unwrap_or("/inbox"));
        let body = format!(
            "{who} is waiting for a decision in {workspace}.\n{task}\nDecide: {origin}{path}\n\n\
             You receive this e-mail because you turned it on: {origin}/settings#notifications\n"
        );
        let domain = self.from.email.domain();
        Ok(Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, email.parse()?))
            .subject(subject)
            // Of the message, not of the try: mail programs show a repeat once.
            .message_id(Some(format!("<{}@{domain}>", message.id)))
            .header(ContentType::TEXT_PLAIN)
            .body(body)?)
    }
}

/// Why an e-mail cannot be written.
#[derive(Debug, thiserror::Error)]
enum Unwritable {
    #[error(transparent)]
    Payload(#[from] serde_json::Error),
    #[error(transparent)]
    Address(#[from] lettre::address::AddressError),
    #[error(transparent)]
    Letter(#[from] lettre::error::Error),
}
