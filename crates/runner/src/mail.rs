//! Sends notifications by e-mail, over the SMTP server that the operator configured.

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

/// Longest delivery of one e-mail. Several of these fit into the lease of a batch of messages.
const TIME: Duration = Duration::from_secs(15);

/// Encryption of the SMTP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailTls {
    /// TLS from the first byte (port 465).
    Implicit,
    /// STARTTLS, required (port 587).
    StartTls,
    /// No encryption, for a server on this machine.
    None,
}

/// The SMTP server and the sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSettings {
    /// Host name of the SMTP server.
    pub host: String,
    /// Port of the SMTP server.
    pub port: u16,
    /// Encryption of the connection.
    pub tls: MailTls,
    /// Sender, such as `Shiftbook <log@example.org>`.
    pub from: String,
    /// User name and password; `None` if the server needs none.
    pub credentials: Option<(String, String)>,
    /// Public address of this server, `https://host[:port]`: the beginning of links.
    pub public_origin: String,
}

/// Sends e-mail.
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    public_origin: String,
}

/// Why mail settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadMailSettings {
    /// The sender is not an e-mail address.
    #[error("smtp.from `{0}` is not an address such as Shiftbook <log@example.org>")]
    From(String),
    /// TLS cannot be set up: the host name is not valid, or the system has no certificates.
    #[error("smtp.host `{host}` cannot be used with TLS: {error}")]
    Tls {
        /// Host name of the SMTP server.
        host: String,
        /// Why the TLS library refuses it.
        error: lettre::transport::smtp::Error,
    },
}

impl Mailer {
    /// A mailer with these settings. It does not connect yet.
    ///
    /// # Errors
    /// If the sender is not an address or TLS cannot be set up.
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

    /// Sends a message to a person, within [`TIME`].
    pub(crate) async fn send(&self, message: &MessageRecord, email: &str, workspace: &str) -> Outcome {
        let email_message = match self.compose(message, email, workspace) {
            Ok(composed) => composed,
            Err(error) => return Outcome::Refused { error: format!("the e-mail cannot be written: {error}") },
        };
        match tokio::time::timeout(TIME, self.transport.send(email_message)).await {
            Ok(Ok(_)) => Outcome::Delivered,
            Ok(Err(error)) if error.is_permanent() => Outcome::Refused { error: error.to_string() },
            Ok(Err(error)) => Outcome::Failed { error: error.to_string(), retry_after_seconds: None },
            Err(_) => {
                Outcome::Failed { error: format!("no answer within {} s", TIME.as_secs()), retry_after_seconds: None }
            }
        }
    }

    /// The e-mail: agent and task, or the title of a form, and a link. It quotes no content of the session, because
    /// mail is stored for a long time elsewhere.
    fn compose(&self, message: &MessageRecord, email: &str, workspace: &str) -> Result<Message, Unwritable> {
        let data: Value = serde_json::from_str(&message.payload)?;
        let text = |field: &str| data.get(field).and_then(Value::as_str);
        let (origin, path) = (&self.public_origin, text("path").unwrap_or("/inbox"));
        let (subject, lines) = match message.topic {
            Topic::FormSubmitted => {
                let title = text("viewTitle").unwrap_or("A form");
                let lines =
                    format!("{title}: people submitted responses in {workspace}.\n\nRead them: {origin}{path}\n\n");
                ("A form was answered".to_owned(), lines)
            }
            Topic::SessionAssigned => {
                let lines =
                    format!("Sessions were assigned to you in {workspace}.\n\nLook after them: {origin}{path}\n\n");
                ("Sessions were assigned to you".to_owned(), lines)
            }
            Topic::RuleSuspended => {
                let who = text("agentSlug").unwrap_or("an agent");
                let lines = format!(
                    "A rule for {who} is suspended in {workspace}. People decide until it is resumed.\n\nSee why: \
                     {origin}{path}\n\n"
                );
                (format!("A rule is suspended: {who}"), lines)
            }
            topic => {
                let who = text("agentSlug").unwrap_or("An agent");
                let subject = match topic {
                    Topic::ApprovalReminder => format!("Reminder, waiting for your decision: {who}"),
                    Topic::ApprovalEscalated => format!("A decision is needed: {who}"),
                    _ => format!("Waiting for your decision: {who}"),
                };
                let task = text("actionName").map(|task| format!("Task: {task}\n")).unwrap_or_default();
                let lines =
                    format!("{who} is waiting for a decision in {workspace}.\n{task}\nDecide: {origin}{path}\n\n");
                (subject, lines)
            }
        };
        let body =
            format!("{lines}You receive this e-mail because you turned it on: {origin}/settings#notifications\n");
        let domain = self.from.email.domain();
        Ok(Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, email.parse()?))
            .subject(subject)
            // The id is that of the message, so that mail programs show a repeated delivery once.
            .message_id(Some(format!("<{}@{domain}>", message.id)))
            .header(ContentType::TEXT_PLAIN)
            .body(body)?)
    }
}

/// Why an e-mail cannot be built.
#[derive(Debug, thiserror::Error)]
enum Unwritable {
    #[error(transparent)]
    Payload(#[from] serde_json::Error),
    #[error(transparent)]
    Address(#[from] lettre::address::AddressError),
    #[error(transparent)]
    Letter(#[from] lettre::error::Error),
}
