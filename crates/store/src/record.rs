//! What the tables hold, typed. A row that does not fit is a typed "inconsistent row" error.

mod gate;

pub use domain::session::Session as SessionRecord;
pub use gate::{DecisionRecord, GateRecord, ReviewerRecord};

use domain::{
    Timestamp,
    action::{ActionStatus, OutputType},
    chain::Digest,
    criteria::Dimension,
    entity::{Column, FieldDef, ImportStatus, RowError, Values},
    event::EventRole,
    id::{
        ActionId, BrowserSessionId, CriteriaSetId, EntityId, EntityTypeId, EventId, GroupId, ImportId, SessionId,
        TenantId, TokenId, UserId,
    },
    member::MemberStatus,
    role::{Role, TokenScope},
    session::Status,
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
    /// What others see; empty until they say.
    pub name: String,
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
    /// Their name; empty until they say.
    pub name: String,
    /// Their role.
    pub role: Role,
    /// Whether they may use the workspace.
    pub status: MemberStatus,
    /// When they joined.
    pub created_at: Timestamp,
}

impl MemberRecord {
    /// What others call them: their name, or their address.
    pub fn display_name(&self) -> &str {
        if self.name.is_empty() { &self.email } else { &self.name }
    }
}

/// A browser's sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserSessionRecord {
    /// Names the sign-in where it is listed or ended; it is not the secret in the cookie.
    pub id: BrowserSessionId,
    /// The person.
    pub user_id: UserId,
    /// Their address.
    pub email: String,
    /// Their name; empty until they say.
    pub name: String,
    /// The workspace they look at.
    pub tenant: TenantRecord,
    /// Their role there.
    pub role: Role,
    /// Ends here however much it is used.
    pub expires_at: Timestamp,
    /// When it was last seen, to the minute.
    pub last_seen_at: Timestamp,
}

/// One of a person's sign-ins, as they see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInRecord {
    /// Id.
    pub id: BrowserSessionId,
    /// Name of the workspace it looks at.
    pub workspace: String,
    /// Which browser; empty when it is not known.
    pub browser: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_seen_at: Timestamp,
    /// Whether it is the one that asks.
    pub is_current: bool,
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
    /// The entity it is about.
    pub target_entity_id: Option<EntityId>,
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

/// What is to be known about a session that ended badly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureRecord {
    /// The event that ended it.
    pub id: EventId,
    /// The session.
    pub session_id: SessionId,
    /// Its title.
    pub title: String,
    /// Failed or expired.
    pub status: Status,
    /// Its agent.
    pub agent_slug: Option<String>,
    /// The action it executed.
    pub action_id: Option<ActionId>,
    /// For machines.
    pub code: String,
    /// What went wrong.
    pub message: String,
    /// What somebody could do about it.
    pub remediation: String,
    /// When it ended.
    pub at: Timestamp,
    /// Who took note of it.
    pub acknowledged_by: Option<String>,
    /// When.
    pub acknowledged_at: Option<Timestamp>,
}

/// A kind of entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityTypeRecord {
    /// Id.
    pub id: EntityTypeId,
    /// URL name; never changes.
    pub slug: String,
    /// Display name of one entity.
    pub name: String,
    /// In the order shown.
    pub fields: Vec<FieldDef>,
    /// Counts its changes, from 1.
    pub version: u64,
    /// `user:…`, `token:…` or `system`.
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A record that work is about, at its newest version.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityRecord {
    /// Id.
    pub id: EntityId,
    /// Its type.
    pub type_id: EntityTypeId,
    /// That type's slug.
    pub type_slug: String,
    /// What people call it.
    pub title: String,
    /// By field slug.
    pub fields: Values,
    /// Counts its versions, from 1.
    pub version: u64,
    /// Who made it.
    pub created_by: String,
    /// Who wrote the newest version.
    pub updated_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the newest version was written.
    pub updated_at: Timestamp,
}

/// What an entity was, from one write to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityVersionRecord {
    /// From 1.
    pub version: u64,
    /// The title then.
    pub title: String,
    /// The values then.
    pub fields: Values,
    /// Who wrote it.
    pub actor: String,
    /// The session that wrote it, where one did.
    pub session_id: Option<SessionId>,
    /// When.
    pub at: Timestamp,
}

/// One run of a CSV import, without the file.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportRecord {
    /// The workspace.
    pub tenant_id: TenantId,
    /// Id.
    pub id: ImportId,
    /// What its rows become.
    pub type_id: EntityTypeId,
    /// Where it stands.
    pub status: ImportStatus,
    /// What each column fills.
    pub columns: Vec<Column>,
    /// Rows of the file, the header not counted.
    pub rows_total: u64,
    /// Rows that are done, from the top.
    pub next_row: u64,
    /// Entities it made.
    pub created_count: u64,
    /// Rows it refused.
    pub failed_count: u64,
    /// What was wrong with them, as far as it is kept.
    pub errors: Vec<RowError>,
    /// Who imports.
    pub actor: String,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it last got on.
    pub updated_at: Timestamp,
}

/// What outputs are judged by, at one version.
#[derive(Debug, Clone, PartialEq)]
pub struct CriteriaSetRecord {
    /// Id.
    pub id: CriteriaSetId,
    /// URL name; never changes.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// In the order evaluated.
    pub dimensions: Vec<Dimension>,
    /// The version that this is, from 1.
    pub version: u64,
    /// The newest version that there is.
    pub newest_version: u64,
    /// Who made the set.
    pub created_by: String,
    /// Who wrote this version.
    pub updated_by: String,
    /// When the set was made.
    pub created_at: Timestamp,
    /// When this version was written.
    pub updated_at: Timestamp,
}

/// People who judge together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRecord {
    /// Id.
    pub id: GroupId,
    /// What reviewers are named by; never changes.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// Who is in it, by address.
    pub members: Vec<(UserId, String)>,
    /// Who made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its name or members last changed.
    pub updated_at: Timestamp,
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
