//! Typed records of the tables' rows. A row that cannot be converted is an
//! [`Error::Inconsistent`](crate::Error::Inconsistent).

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

/// One page of a list that is read by keyset.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The items of the page, in the order of the list.
    pub items: Vec<T>,
    /// Whether more items follow this page.
    pub has_more: bool,
}

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantRecord {
    /// Identifies the workspace; never changes.
    pub id: TenantId,
    /// Name in URLs, unique in the installation.
    pub slug: String,
    /// Display name.
    pub name: String,
}

/// A person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// Identifies the person in all workspaces.
    pub id: UserId,
    /// Sign-in address, lower case.
    pub email: String,
    /// Display name; empty until the person sets it.
    pub name: String,
    /// Hash of the password, an argon2id PHC string.
    pub password_hash: String,
}

/// A person's membership in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRecord {
    /// The person.
    pub user_id: UserId,
    /// Sign-in address, lower case.
    pub email: String,
    /// Display name; empty until the person sets it.
    pub name: String,
    /// Their role.
    pub role: Role,
    /// Whether they may use the workspace.
    pub status: MemberStatus,
    /// Time the person joined (UTC).
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
    /// Identifies the sign-in where it is listed or ended. It is not the secret in the cookie.
    pub id: BrowserSessionId,
    /// The person.
    pub user_id: UserId,
    /// Sign-in address of the person, lower case.
    pub email: String,
    /// Display name of the person; empty until the person sets it.
    pub name: String,
    /// The workspace that the browser shows.
    pub tenant: TenantRecord,
    /// Role of the person in that workspace.
    pub role: Role,
    /// Time the sign-in ends, even if it is in use (UTC).
    pub expires_at: Timestamp,
    /// Time of the last use, to the minute (UTC).
    pub last_seen_at: Timestamp,
}

/// One of a person's sign-ins, as listed to that person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInRecord {
    /// Identifies the sign-in when it is ended.
    pub id: BrowserSessionId,
    /// Name of the workspace that the browser shows.
    pub workspace: String,
    /// Description of the browser; empty if it is unknown.
    pub browser: String,
    /// Time of the sign-in (UTC).
    pub created_at: Timestamp,
    /// Time of the last use, to the minute (UTC).
    pub last_seen_at: Timestamp,
    /// Whether the request that lists the sign-ins uses this one.
    pub is_current: bool,
}

/// An API token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// Identifies the token when it is revoked.
    pub id: TokenId,
    /// Display name, given when the token is made.
    pub name: String,
    /// First characters of the secret, to recognise the token by.
    pub hint: String,
    /// Role of the token in its workspace.
    pub role: Role,
    /// Restriction of the role, if any.
    pub scope: Option<TokenScope>,
    /// Time the token was made (UTC).
    pub created_at: Timestamp,
    /// Time of the last use, to the minute (UTC).
    pub last_used_at: Option<Timestamp>,
    /// Time the token was revoked (UTC).
    pub revoked_at: Option<Timestamp>,
    /// The person the token acts for; `None` for a token of the workspace.
    pub user_id: Option<UserId>,
}

/// An action: configured work. Pages call it a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRecord {
    /// Identifies the action.
    pub id: ActionId,
    /// Display name.
    pub name: String,
    /// Name in URLs, unique in the workspace.
    pub slug: String,
    /// Instructions: what is to be done.
    pub description: String,
    /// Slug of the agent that may claim the action's sessions.
    pub agent_slug: Option<String>,
    /// The person the action is assigned to.
    pub assigned_to: Option<UserId>,
    /// The entity that the action is about.
    pub target_entity_id: Option<EntityId>,
    /// What the action's sessions produce.
    pub output_type: OutputType,
    /// Settings of the output: a JSON object, as sent.
    pub output_config: String,
    /// Free data of the client: a JSON object, as sent.
    pub metadata: String,
    /// Whether it can be triggered.
    pub status: ActionStatus,
    /// Time the action was made (UTC).
    pub created_at: Timestamp,
    /// Time of the last change (UTC).
    pub updated_at: Timestamp,
}

/// The failure of a session that ended badly, and who has acknowledged it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureRecord {
    /// The event that ended the session.
    pub id: EventId,
    /// The session.
    pub session_id: SessionId,
    /// Title of the session.
    pub title: String,
    /// Status of the session: failed or expired.
    pub status: Status,
    /// Slug of the session's agent.
    pub agent_slug: Option<String>,
    /// The action that the session executed.
    pub action_id: Option<ActionId>,
    /// Machine-readable error code.
    pub code: String,
    /// What went wrong, for people.
    pub message: String,
    /// What a person can do about the failure.
    pub remediation: String,
    /// Time the session ended (UTC).
    pub at: Timestamp,
    /// Who acknowledged the failure.
    pub acknowledged_by: Option<String>,
    /// Time the failure was acknowledged (UTC).
    pub acknowledged_at: Option<Timestamp>,
}

/// A type of entities, with the definitions of its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityTypeRecord {
    /// Identifies the type.
    pub id: EntityTypeId,
    /// Name in URLs; never changes.
    pub slug: String,
    /// Display name of one entity.
    pub name: String,
    /// Field definitions, in the order of display.
    pub fields: Vec<FieldDef>,
    /// Version number: 1 at first, one more with each change.
    pub version: u64,
    /// Who made the type: `user:…`, `token:…` or `system`.
    pub created_by: String,
    /// Time the type was made (UTC).
    pub created_at: Timestamp,
    /// Time of the last change (UTC).
    pub updated_at: Timestamp,
}

/// An entity at its newest version.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityRecord {
    /// Identifies the entity.
    pub id: EntityId,
    /// The entity's type.
    pub type_id: EntityTypeId,
    /// Slug of the type.
    pub type_slug: String,
    /// Title shown to people.
    pub title: String,
    /// Values by field slug.
    pub fields: Values,
    /// Newest version number; the first is 1.
    pub version: u64,
    /// Who made the entity: `user:…`, `token:…` or `system`.
    pub created_by: String,
    /// Who wrote the newest version.
    pub updated_by: String,
    /// Time the entity was made (UTC).
    pub created_at: Timestamp,
    /// Time the newest version was written (UTC).
    pub updated_at: Timestamp,
}

/// One version of an entity.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityVersionRecord {
    /// Version number; the first is 1.
    pub version: u64,
    /// Title of the entity in this version.
    pub title: String,
    /// Values of this version by field slug.
    pub fields: Values,
    /// Who wrote this version: `user:…`, `token:…` or `system`.
    pub actor: String,
    /// The session that wrote this version, if one did.
    pub session_id: Option<SessionId>,
    /// Time this version was written (UTC).
    pub at: Timestamp,
}

/// A CSV import and its progress, without the file.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportRecord {
    /// The workspace.
    pub tenant_id: TenantId,
    /// Identifies the import.
    pub id: ImportId,
    /// The type of the entities that the import creates.
    pub type_id: EntityTypeId,
    /// Whether the import is running, completed or failed.
    pub status: ImportStatus,
    /// The field that each column of the file fills.
    pub columns: Vec<Column>,
    /// Rows in the file, without the header.
    pub rows_total: u64,
    /// Rows processed so far, from the top of the file.
    pub next_row: u64,
    /// Entities created so far.
    pub created_count: u64,
    /// Rows refused so far.
    pub failed_count: u64,
    /// Errors of refused rows. Only a bounded number is kept.
    pub errors: Vec<RowError>,
    /// Who started the import.
    pub actor: String,
    /// Time the import was started (UTC).
    pub created_at: Timestamp,
    /// Time of the last progress (UTC).
    pub updated_at: Timestamp,
}

/// The criteria by which outputs are evaluated, at one version.
#[derive(Debug, Clone, PartialEq)]
pub struct CriteriaSetRecord {
    /// Identifies the criteria set.
    pub id: CriteriaSetId,
    /// Name in URLs; never changes.
    pub slug: String,
    /// Display name.
    pub name: String,
    /// Purpose of the set, for people.
    pub description: String,
    /// The criteria, in the order of evaluation.
    pub dimensions: Vec<Dimension>,
    /// Number of this version; the first is 1.
    pub version: u64,
    /// Number of the set's newest version.
    pub newest_version: u64,
    /// Who made the set.
    pub created_by: String,
    /// Who wrote this version.
    pub updated_by: String,
    /// Time the set was made (UTC).
    pub created_at: Timestamp,
    /// Time this version was written (UTC).
    pub updated_at: Timestamp,
}

/// A group of people who review together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRecord {
    /// Identifies the group.
    pub id: GroupId,
    /// Name by which lists of reviewers refer to the group; never changes.
    pub slug: String,
    /// Display name.
    pub name: String,
    /// Members with their addresses, sorted by address.
    pub members: Vec<(UserId, String)>,
    /// Who made the group: `user:…`, `token:…` or `system`.
    pub created_by: String,
    /// Time the group was made (UTC).
    pub created_at: Timestamp,
    /// Time of the last change of its name or members (UTC).
    pub updated_at: Timestamp,
}

/// One event of a session's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRecord {
    /// Id of the event, unique in its session.
    pub id: EventId,
    /// The session.
    pub session_id: SessionId,
    /// Number of the event in its session; the first is 1.
    pub sequence: u64,
    /// Kind of the event, as stored. It may be unknown to this version.
    pub kind: String,
    /// Who the event is attributed to: user, agent or system.
    pub role: EventRole,
    /// JSON array, as sent.
    pub content: String,
    /// JSON object, as sent.
    pub metadata: String,
    /// The sub-thread within the session that the event is part of.
    pub thread_id: Option<String>,
    /// Id of the event in the system that it came from.
    pub external_event_id: Option<String>,
    /// Attempt of the worker that wrote the event; `None` if no worker did.
    pub attempt: Option<u32>,
    /// `user:…`, `token:…` or `system`.
    pub actor: String,
    /// Time it happened (UTC).
    pub at: Timestamp,
    /// Time it was recorded (UTC).
    pub recorded_at: Timestamp,
    /// Digest of content and metadata as they were recorded.
    pub body: Digest,
    /// Digest of the chain up to and including this event.
    pub digest: Digest,
}
