//! What the tables hold, typed. A row that does not fit is a typed "inconsistent row" error.

use domain::{
    Timestamp,
    action::{ActionStatus, OutputType},
    chain::Digest,
    event::EventRole,
    id::{ActionId, BrowserSessionId, EventId, SessionId, TenantId, TokenId, UserId},
    role::{Role, TokenScope},
    session::{EndReason, Status, Type},
};

/// One keyset page, and the position after it.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// Whether more follow.
    pub has_more: bool,
}

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantRecord {
    /// Id.
    pub id: TenantId,
    /// URL name.
    pub slug: String,
    /// Display name.
    pub name: String,
}

/// A person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// Id.
    pub id: UserId,
    /// Sign-in address, lower case.
    pub email: String,
    /// argon2id PHC string.
    pub password_hash: String,
}

/// A person's place in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRecord {
    /// The person.
    pub user_id: UserId,
    /// Their address.
    pub email: String,
    /// Their role.
    pub role: Role,
    /// When they joined.
    pub created_at: Timestamp,
}

/// A browser's sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserSessionRecord {
    /// Id.
    pub id: BrowserSessionId,
    /// The person.
    pub user_id: UserId,
    /// Their address.
    pub email: String,
    /// The workspace they look at.
    pub tenant: TenantRecord,
    /// Their role there.
    pub role: Role,
    /// Ends here however much it is used.
    pub expires_at: Timestamp,
    /// When it was last seen, to the minute.
    pub last_seen_at: Timestamp,
}

/// An API token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// Id.
    pub id: TokenId,
    /// Name.
    pub name: String,
    /// First characters of the secret.
    pub hint: String,
    /// Role.
    pub role: Role,
    /// Narrowing.
    pub scope: Option<TokenScope>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it stopped working.
    pub revoked_at: Option<Timestamp>,
    /// The person it speaks for, where it is one person's own.
    pub user_id: Option<UserId>,
}

/// Configured work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRecord {
    /// Id.
    pub id: ActionId,
    /// Display name.
    pub name: String,
    /// URL name.
    pub slug: String,
    /// What is to be done.
    pub description: String,
    /// The agent that may claim its sessions.
    pub agent_slug: Option<String>,
    /// Whose task it is.
    pub assigned_to: Option<UserId>,
    /// What its sessions produce.
    pub output_type: OutputType,
    /// JSON object, as sent.
    pub output_config: String,
    /// JSON object, as sent.
    pub metadata: String,
    /// Whether it can be triggered.
    pub status: ActionStatus,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// One execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// The workspace.
    pub tenant_id: TenantId,
    /// Id.
    pub id: SessionId,
    /// What kind of work.
    pub session_type: Type,
    /// Where it stands.
    pub status: Status,
    /// Why it ended.
    pub end_reason: Option<EndReason>,
    /// The action it executes.
    pub action_id: Option<ActionId>,
    /// That action's slug when the session was made.
    pub action_slug: Option<String>,
    /// The agent that may claim it.
    pub agent_slug: Option<String>,
    /// The person it belongs to: a human session's owner, or who made it.
    pub user_id: Option<UserId>,
    /// What made it, e.g. `human-session-bridge`.
    pub source: Option<String>,
    /// For people.
    pub title: String,
    /// JSON, as sent.
    pub input: Option<String>,
    /// JSON object, as sent.
    pub metadata: String,
    /// JSON, as the worker sent it.
    pub result: Option<String>,
    /// JSON object, as the worker sent it.
    pub usage: Option<String>,
    /// What went wrong.
    pub error_message: Option<String>,
    /// What went wrong, for machines.
    pub error_code: Option<String>,
    /// The session that started this one.
    pub parent_id: Option<SessionId>,
    /// The session this one repeats.
    pub retry_of: Option<SessionId>,
    /// `user:…`, `token:…` or `system`.
    pub created_by: String,
    /// Claims so far.
    pub attempt: u32,
    /// Claims after which a lost lease fails it.
    pub attempts_max: u32,
    /// How long a heartbeat extends the lease, while running under a worker.
    pub lease_seconds: Option<u32>,
    /// When the lease runs out, while running under a worker.
    pub lease_expires_at: Option<Timestamp>,
    /// Sequence of the newest event.
    pub head_sequence: u64,
    /// Digest of the newest event.
    pub head_digest: Digest,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the row last changed.
    pub updated_at: Timestamp,
    /// When it last joined the queue.
    pub queued_at: Option<Timestamp>,
    /// When it was first claimed or begun.
    pub started_at: Option<Timestamp>,
    /// When it became final.
    pub completed_at: Option<Timestamp>,
}

/// One row of a session's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRecord {
    /// Id.
    pub id: EventId,
    /// The session.
    pub session_id: SessionId,
    /// Position, from 1.
    pub sequence: u64,
    /// Kind, as stored: unknown kinds are possible.
    pub kind: String,
    /// Who speaks.
    pub role: EventRole,
    /// JSON array, as sent.
    pub content: String,
    /// JSON object, as sent.
    pub metadata: String,
    /// Sub-thread.
    pub thread_id: Option<String>,
    /// Id in the system it came from.
    pub external_event_id: Option<String>,
    /// The worker's attempt.
    pub attempt: Option<u32>,
    /// `user:…`, `token:…` or `system`.
    pub actor: String,
    /// When it happened.
    pub at: Timestamp,
    /// When it was recorded.
    pub recorded_at: Timestamp,
    /// Digest of content and metadata as they were recorded.
    pub body: Digest,
    /// Its link of the chain.
    pub digest: Digest,
}
