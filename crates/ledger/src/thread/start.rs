//! Starting a conversation.

use super::send_message::{Message, check_text, message_event};
use crate::{
    Error, Ledger, Result,
    commit::{Minter, state},
    guard::{Fields, require},
    session::{
        NewSession,
        create::{draft, repeated},
        graph::LockedRelations,
    },
};
use domain::{
    Scope,
    event::kind::Created,
    id::{ActionId, SessionId},
    limit::{KEY_CHARS_MAX, NAME_CHARS_MAX, TITLE_CHARS_MAX},
    memory_writer::channel::{CHANNEL, Channel},
    role::Permission,
    session::{Actor, Command, Report, Session, State, Type, decide},
    slug::is_slug,
    thread::{SOURCE, title, untitled},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use store::{
    WriteTx,
    session::{Idempotency, Inserted},
};

/// A conversation to start.
#[derive(Debug, Clone, Default)]
pub struct NewThread {
    /// Slug of the agent, or id of an action that names one.
    pub agent: String,
    /// Whether the conversation is incognito: its rating stays in memory, and no user is stored on the session.
    pub incognito: bool,
    /// Derived from the first message when `None`. The title of an incognito conversation is never derived from
    /// a message.
    pub title: Option<String>,
    /// The first message.
    pub message: Option<String>,
    /// The channel on which it is held. An incognito conversation names none.
    pub channel: Option<Channel>,
    /// A repeat with the same key returns the conversation that the first request started.
    pub idempotency_key: Option<String>,
}

/// A conversation that was started.
#[derive(Debug, Clone)]
pub struct Started {
    /// The session of the new conversation.
    pub session: Session,
    /// Number of messages of the person.
    pub turns: u64,
}

/// The agent or action to converse with.
enum With {
    Agent(String),
    Action(ActionId),
}

impl NewThread {
    fn check(&self) -> Result<With> {
        let mut fields = Fields::default();
        if let Some(title) = &self.title {
            fields.title("title", title, TITLE_CHARS_MAX);
        }
        if let Some(message) = &self.message {
            check_text(&mut fields, "message", message);
        }
        if let Some(channel) = &self.channel {
            check_channel(&mut fields, channel);
            if self.incognito {
                fields.refuse("channel", "an incognito conversation names no channel");
            }
        }
        fields.key("idempotencyKey", self.idempotency_key.as_deref(), KEY_CHARS_MAX);
        let action: Option<ActionId> = self.agent.parse().ok();
        if action.is_none() && !is_slug(&self.agent) {
            fields.refuse("agent", "the slug of an agent, or the id of a task that names one");
        }
        fields.check()?;
        Ok(action.map_or_else(|| With::Agent(self.agent.clone()), With::Action))
    }

    /// Returns a digest of the request. Requests with the same key must have the same digest.
    fn digest(&self) -> [u8; 32] {
        let mut fields =
            vec![json!(SOURCE), json!(self.agent), json!(self.incognito), json!(self.title), json!(self.message)];
        // Requests without a channel keep the digest that they had before there were channels.
        fields.extend(self.channel.as_ref().map(|channel| json!(channel)));
        let fields = Value::from(fields);
        Sha256::digest(fields.to_string().as_bytes()).into()
    }
}

fn check_channel(fields: &mut Fields, channel: &Channel) {
    fields.slug("channel.platform", Some(&channel.platform));
    fields.key("channel.id", Some(&channel.id), KEY_CHARS_MAX);
    fields.line("channel.name", &channel.name, NAME_CHARS_MAX);
    if let Some(parent) = &channel.parent {
        fields.line("channel.parent", parent, NAME_CHARS_MAX);
    }
}

/// Starts a conversation with an agent. With a message, the first turn is queued. Without one, the conversation
/// is a draft that waits for the first message.
///
/// # Errors
/// [`Error::Invalid`] for wrong fields, an archived action, or an action that names no agent; [`Error::NotFound`] if
/// the workspace has no such action; [`Error::IdConflict`] if the key was used for a different request.
pub async fn start(ledger: &Ledger, scope: &Scope, new: NewThread) -> Result<Started> {
    require(scope, Permission::Converse)?;
    let with = new.check()?;
    let now = ledger.now();
    let id = SessionId::new(now, ledger.entropy());
    let minter = Minter::new(ledger, now);
    let scope = *scope;
    let started = ledger.write((&scope).into(), async move |tx| insert(tx, scope, id, minter, with, new).await);
    started.await
}

async fn insert(
    tx: &mut WriteTx<'_>,
    scope: Scope,
    id: SessionId,
    mut minter: Minter,
    with: With,
    new: NewThread,
) -> Result<Started> {
    let idempotency = new.idempotency_key.clone().map(|key| Idempotency { key, digest: new.digest() });
    if let Some(session) = repeated(tx, &scope, idempotency.as_ref()).await? {
        let turns = store::thread::messages(tx.conn(), scope.tenant_id, session.id).await?;
        return Ok(Started { session, turns });
    }
    let mut session = row(tx, &scope, id, &minter, with, &new).await?;
    let created =
        Created { incognito: Some(new.incognito), ..Created::of_type(session.session_type).by_source(Some(SOURCE)) };
    let mut events = vec![minter.session_created(&session, created)?];
    let turns = u64::from(new.message.is_some());
    if let Some(text) = new.message {
        let queued = decide(state(&session), Actor::Caller, Command::SendMessage)?;
        events.push(message_event(minter.clone(), &Message { text, id: None }, None));
        events.push(minter.status_change(Some(session.status()), queued.to(), "a person wrote"));
        session.enter(queued, Report::default(), minter.at());
        session.queued_at = Some(minter.at());
    }
    match store::session::insert(tx, &mut session, idempotency.as_ref(), &events).await? {
        Inserted::New => Ok(Started { session, turns }),
        // Only a server of an earlier version, which does not lock the key, can have taken it.
        Inserted::KeyTaken => Err(Error::Unavailable("the same request is still being handled; send it again".into())),
        Inserted::AlreadyWorking => Err(Error::Internal("a conversation met a working session".into())),
    }
}

/// Builds the row of a conversation without messages.
async fn row(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    id: SessionId,
    minter: &Minter,
    with: With,
    new: &NewThread,
) -> Result<Session> {
    let (action_id, agent_slug) = match with {
        With::Agent(slug) => (None, Some(slug)),
        With::Action(id) => (Some(id), None),
    };
    let blank = NewSession { action_id, agent_slug, ..NewSession::of_type(Type::Agent) };
    // The agent gets messages as its input, so the action's input schema does not apply.
    let (mut session, _) = draft(tx, *scope, id, minter, blank, (None, &LockedRelations::default())).await?;
    let Some(agent) = session.agent_slug.clone() else {
        return Err(Error::invalid("agent", "this task names no agent"));
    };
    session.state = State::Draft { waits_for_dependencies: false };
    session.queued_at = None;
    session.source = Some(SOURCE.into());
    let title_of_message = new.message.as_deref().filter(|_| !new.incognito).and_then(title);
    session.title = new.title.clone().or(title_of_message).unwrap_or_else(|| untitled(&agent));
    if let Some(channel) = &new.channel {
        session.metadata = json!({ CHANNEL: channel }).to_string();
    }
    if new.incognito {
        session.user_id = None;
        session.metadata = json!({ "incognito": true }).to_string();
        session.private_to = Some(session.created_by.clone());
    }
    Ok(session)
}
