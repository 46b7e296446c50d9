//! Sending a message in a conversation.

use super::own;
use crate::{
    Error, Ledger, Result,
    commit::{Change, Minter, state, write_with_title},
    guard::{Fields, require},
    interaction::derived_id,
};
use domain::{
    Caller, Scope,
    event::{
        Body, Known,
        kind::{Payload, RelayedAuthor, UserMessage},
    },
    id::{EventId, SessionId},
    limit::{NAME_CHARS_MAX, SESSION_EVENTS_MAX, THREAD_MESSAGE_CHARS_MAX, THREAD_MESSAGES_MAX},
    memory_writer::{slot::earlier_person_path, turn::OWN_PLATFORM},
    role::Permission,
    session::{Actor, Command, Report, Session, Status, decide},
    slug::is_slug,
    thread::{is_incognito, title, untitled},
};
use store::{PreparedEvent, WriteTx, thread::KnownEvent};

/// A message of a person.
#[derive(Debug, Clone)]
pub struct Message {
    /// The text, 1 to 20,000 characters.
    pub text: String,
    /// Id made by the client, so that a repeat is detected.
    pub id: Option<EventId>,
}

/// Checks that the caller may relay messages, and that the author can be recorded.
fn check_author(author: &RelayedAuthor, scope: &Scope) -> Result<()> {
    let relays = matches!(scope.caller, Caller::Token(_))
        && scope.token_scope.is_none()
        && scope.on_behalf_of.is_none()
        && scope.may(Permission::ManageSessions);
    if !relays {
        return Err(Error::Forbidden(
            "only a token of the workspace with the role operator or admin, without a scope, names the author of a message",
        ));
    }
    let mut fields = Fields::default();
    if !is_slug(&author.platform) {
        fields.refuse("author.platform", "a slug, such as slack");
    }
    fields.line("author.id", &author.id, NAME_CHARS_MAX);
    if let Some(name) = &author.name {
        fields.line("author.name", name, NAME_CHARS_MAX);
    }
    // Another spelling would look like a member in the name of the document.
    if earlier_person_path(&author.platform, "x") == earlier_person_path(OWN_PLATFORM, "x") {
        fields.refuse("author.platform", "members of the workspace write for themselves");
    }
    fields.check()
}

/// The result of sending a message.
#[derive(Debug, Clone)]
pub struct MessageReceipt {
    /// Id of the message's event.
    pub event_id: EventId,
    /// Sequence of the message's event.
    pub sequence: u64,
    /// The conversation afterwards.
    pub session: Session,
    /// Number of messages of the person.
    pub turns: u64,
}

pub(super) fn check_text(fields: &mut Fields, field: &str, text: &str) {
    fields.text(field, Some(text), THREAD_MESSAGE_CHARS_MAX);
    if text.trim().is_empty() {
        fields.refuse(field, "needs a text");
    }
}

/// Creates the event of a message. Its id is the client's, if the client made one.
pub(super) fn message_event(minter: Minter, message: &Message, author: Option<&RelayedAuthor>) -> PreparedEvent {
    let said = UserMessage::new(&message.text, author.cloned());
    PreparedEvent { client_made: message.id.is_some(), ..minter.with_first_event(message.id).event(&said) }
}

/// Records a person's message and queues the agent's turn. A repeat with the same id returns the recorded
/// message.
///
/// While the turn is queued, further messages are accepted and answered together. While the agent works or waits
/// for someone, messages are refused.
///
/// # Errors
/// [`Error::Invalid`] for an empty text or one that is too long; [`Error::NotFound`] if there is no such conversation,
/// or if it is another person's incognito one; [`Error::Forbidden`] for any other conversation of another person;
/// [`Error::Refused`] while a turn runs or after the end; [`Error::IdConflict`] if the id was used for something else;
/// [`Error::LimitReached`] if the conversation has the largest number of messages.
pub async fn send_message(ledger: &Ledger, scope: &Scope, id: SessionId, message: Message) -> Result<MessageReceipt> {
    relay_message(ledger, scope, id, message, None).await
}

/// Records a message that a program brings from another platform, as [`send_message`] does. `author` is the person who
/// wrote it there. Agents and workers cannot name an author: the author of a message decides about whom it is
/// remembered.
///
/// # Errors
/// As [`send_message`]. [`Error::Forbidden`] for an author, unless the caller is a token of the workspace with the role
/// operator or admin and without a scope.
pub async fn relay_message(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    message: Message,
    author: Option<RelayedAuthor>,
) -> Result<MessageReceipt> {
    require(scope, Permission::Converse)?;
    if let Some(author) = &author {
        check_author(author, scope)?;
    }
    let mut fields = Fields::default();
    check_text(&mut fields, "text", &message.text);
    fields.check()?;
    let now = ledger.now();
    let event = message_event(Minter::new(ledger, now), &message, author.as_ref());
    let change = Change {
        id,
        actor: Actor::Caller,
        command: Command::SendMessage,
        caller: scope.caller,
        reason: "a person wrote".into(),
        minter: Minter::new(ledger, now),
    };
    let scope = *scope;
    let receipt = ledger.write((&scope).into(), async move |tx| add(tx, &scope, change, message, event).await);
    receipt.await
}

pub(super) async fn add(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    change: Change,
    message: Message,
    event: PreparedEvent,
) -> Result<MessageReceipt> {
    let found = store::session::find_locked(tx, scope.tenant_id, change.id).await?;
    let before = own(scope, found)?;
    let turns = store::thread::messages(tx.conn(), scope.tenant_id, before.id).await?;
    let event_id = event.id;
    if let Some(sequence) = recorded(tx, scope, &before, &message, &event).await? {
        return Ok(MessageReceipt { event_id, sequence, session: before, turns });
    }
    let transition = decide(state(&before), change.actor, change.command)?;
    if turns >= THREAD_MESSAGES_MAX || before.head_sequence + 2 > SESSION_EVENTS_MAX {
        let full = format!("a conversation has at most {THREAD_MESSAGES_MAX} messages: end it and start a new one");
        return Err(Error::LimitReached(full));
    }
    let has_default_title = before.agent_slug.as_deref().map(untitled).is_some_and(|title| title == before.title);
    let fresh_title = Some(&message.text)
        .filter(|_| before.status() == Status::Draft && has_default_title && !is_incognito(&before.metadata))
        .and_then(|text| title(text));
    let sequence = before.head_sequence + 1;
    let step = (transition, fresh_title);
    let session = write_with_title(tx, before, step, change, vec![event], Report::default()).await?;
    Ok(MessageReceipt { event_id, sequence, session, turns: turns + 1 })
}

/// Returns the sequence of this message if it is already recorded.
pub(super) async fn recorded(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    session: &Session,
    message: &Message,
    event: &PreparedEvent,
) -> Result<Option<u64>> {
    let Some(id) = message.id else { return Ok(None) };
    match store::thread::known(tx.conn(), scope.tenant_id, session.id, id).await? {
        KnownEvent::New => Ok(None),
        KnownEvent::Message(sequence, content) if content == event.content => Ok(Some(sequence)),
        KnownEvent::Answer(sequence, metadata) if is_answer(&metadata, &message.text) => Ok(Some(sequence)),
        KnownEvent::Message(..) | KnownEvent::Answer(..) | KnownEvent::Other => {
            Err(Error::IdConflict { detail: "this id is already recorded with a different text".into() })
        }
    }
}

/// Returns whether this message, or this answer to a question of the agent, is recorded with its id.
///
/// # Errors
/// [`Error::NotFound`] if there is no such conversation or the caller cannot see it.
pub async fn is_recorded(ledger: &Ledger, scope: &Scope, id: SessionId, message: &Message) -> Result<bool> {
    let (session, _) = super::get(ledger, scope, id).await?;
    let Some(event_id) = message.id else { return Ok(false) };
    let tenant_id = scope.tenant_id;
    let read = ledger
        .store()
        .read(scope.into(), async move |conn| store::thread::known(conn, tenant_id, session.id, event_id).await);
    Ok(match read.await? {
        KnownEvent::Message(_, content) => content == UserMessage::new(&message.text, None).content(),
        KnownEvent::Answer(_, metadata) => is_answer(&metadata, &message.text),
        KnownEvent::New | KnownEvent::Other => false,
    })
}

fn is_answer(metadata: &str, text: &str) -> bool {
    match Body::read(Known::UserFormSubmit.as_str(), "[]", metadata) {
        Body::UserFormSubmit(submitted) => submitted.value().is_some_and(|value| value == text),
        _ => false,
    }
}

/// Returns the id of the message that is sent again after a turn of this idle conversation has failed. The id is
/// derived from the log, so sending it again from one page or several has no further effect.
pub fn resend_id(session: &Session) -> EventId {
    let parts: [&[u8]; 3] = [b"again", session.id.0.as_bytes(), &session.head_sequence.to_be_bytes()];
    EventId(derived_id(session.created_at, &parts))
}
