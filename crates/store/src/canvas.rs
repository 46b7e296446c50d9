//! Rows of `canvases` and of the tables of their patches, snapshots, suggestions and participants.

use crate::{
    engine::{Conn, Page, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    canvas::{ParticipantRole, SuggestionState},
    chain::Digest,
    clock::to_micros,
    id::{SessionId, TenantId},
    session::Status,
};
use uuid::Uuid;

macro_rules! listed {
    ($rest:literal) => {
        concat!(
            "SELECT c.session_id, s.title, s.status, c.version, c.patches, c.changed_at, c.is_template, \
             s.created_by, s.created_at \
             FROM canvases c JOIN sessions s ON s.tenant_id = c.tenant_id AND s.id = c.session_id \
             WHERE c.tenant_id = $1 ",
            $rest
        )
    };
}

macro_rules! suggestion_select {
    ($rest:literal) => {
        concat!(
            "SELECT session_id, op_id, base, ops, is_strict, body_digest, author, at, state, decided_by, decided_at, \
             reason FROM canvas_suggestions WHERE tenant_id = $1 AND session_id = $2 AND ",
            $rest
        )
    };
}

statements! {
    const FIND: &str = "SELECT session_id, document, document_schema, version, patches, unkept_patches, unkept_bytes, \
         changed_at, is_template FROM canvases WHERE tenant_id = $1 AND session_id = $2";
    const INSERT: &str = "INSERT INTO canvases (tenant_id, session_id, document, document_schema, version, patches, \
         unkept_patches, unkept_bytes, changed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    const UPDATE: &str = "UPDATE canvases SET document = $3, version = $4, patches = $5, unkept_patches = $6, \
         unkept_bytes = $7, changed_at = $8 WHERE tenant_id = $1 AND session_id = $2";
    const LIST: &str = listed!("AND (c.session_id < $2 OR $2 IS NULL) ORDER BY c.session_id DESC LIMIT $3");
    const TEMPLATES: &str = listed!("AND c.is_template = 1 ORDER BY s.title, c.session_id LIMIT $2");
    const SET_TEMPLATE: &str = "UPDATE canvases SET is_template = $3 WHERE tenant_id = $1 AND session_id = $2";
    const LEFT: &str = "SELECT c.tenant_id, c.session_id FROM canvases c \
         JOIN sessions s ON s.tenant_id = c.tenant_id AND s.id = c.session_id \
         WHERE c.changed_at <= $1 AND s.status = 'running' ORDER BY c.changed_at LIMIT $2";
    const INSERT_PATCH: &str = "INSERT INTO canvas_patches (tenant_id, session_id, op_id, sequence, body_digest, author, at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    const PATCH: &str = "SELECT sequence, body_digest FROM canvas_patches \
         WHERE tenant_id = $1 AND session_id = $2 AND op_id = $3";
    const RECENT: &str = "SELECT COUNT(*) FROM canvas_patches \
         WHERE tenant_id = $1 AND session_id = $2 AND author = $3 AND at > $4";
    const INSERT_SNAPSHOT: &str =
        "INSERT INTO canvas_snapshots (tenant_id, session_id, version, document) VALUES ($1, $2, $3, $4)";
    const SNAPSHOT: &str = "SELECT version, document FROM canvas_snapshots \
         WHERE tenant_id = $1 AND session_id = $2 AND version <= $3 ORDER BY version DESC LIMIT 1";
    const KEPT: &str =
        "SELECT version FROM canvas_snapshots WHERE tenant_id = $1 AND session_id = $2 ORDER BY version";
    const PARTICIPANTS: &str = "SELECT participant, role, added_by, added_at FROM canvas_participants \
         WHERE tenant_id = $1 AND session_id = $2 ORDER BY participant LIMIT $3";
    const ROLE: &str =
        "SELECT role FROM canvas_participants WHERE tenant_id = $1 AND session_id = $2 AND participant = $3";
    const PUT_PARTICIPANT: &str = "INSERT INTO canvas_participants (tenant_id, session_id, participant, role, added_by, added_at) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant_id, session_id, participant) DO UPDATE SET role = excluded.role";
    const REMOVE_PARTICIPANT: &str =
        "DELETE FROM canvas_participants WHERE tenant_id = $1 AND session_id = $2 AND participant = $3";
    const REMOVE_FROM_ALL: &str = "DELETE FROM canvas_participants WHERE tenant_id = $1 AND participant = $2";
    const SUGGESTION: &str = suggestion_select!("op_id = $3");
    const SUGGESTIONS: &str = suggestion_select!("state = $3 ORDER BY at, op_id LIMIT $4");
    const DECLINED: &str =
        suggestion_select!("author = $3 AND state = 'declined' ORDER BY decided_at DESC, op_id LIMIT $4");
    const COUNT_OPEN_SUGGESTIONS: &str = "SELECT COUNT(*) FROM canvas_suggestions \
         WHERE tenant_id = $1 AND session_id = $2 AND state = 'open'";
    const INSERT_SUGGESTION: &str = "INSERT INTO canvas_suggestions (tenant_id, session_id, op_id, base, ops, is_strict, \
         body_digest, author, at, state) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'open')";
    const DECIDE_SUGGESTION: &str = "UPDATE canvas_suggestions SET state = $4, decided_by = $5, decided_at = $6, reason = $7 \
         WHERE tenant_id = $1 AND session_id = $2 AND op_id = $3";
    const REOPEN_SUGGESTION: &str = "UPDATE canvas_suggestions \
         SET state = 'open', decided_by = NULL, decided_at = NULL, reason = NULL \
         WHERE tenant_id = $1 AND session_id = $2 AND op_id = $3";
    const ERASE_SUGGESTIONS: &str = "DELETE FROM canvas_suggestions WHERE tenant_id = $1 AND session_id = $2";
    const ERASE: &str = "UPDATE canvases SET document = '{}', document_schema = NULL, is_template = 0 \
         WHERE tenant_id = $1 AND session_id = $2";
    const ERASE_PATCHES: &str = "DELETE FROM canvas_patches WHERE tenant_id = $1 AND session_id = $2";
    const ERASE_SNAPSHOTS: &str = "DELETE FROM canvas_snapshots WHERE tenant_id = $1 AND session_id = $2";
}

record! {
    /// The newest version of a canvas.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct CanvasRecord of "canvases" {
        /// Session of the canvas.
        pub session_id: SessionId,
        /// The document as JSON.
        pub document: String,
        /// JSON Schema of the document.
        pub document_schema: Option<String>,
        /// Sequence of the newest patch.
        pub version: u64,
        /// Number of patches.
        pub patches: u64,
        /// Number of patches since the document was kept last.
        pub unkept_patches: u64,
        /// Bytes of their operations.
        pub unkept_bytes: u64,
        /// Time of the newest patch (UTC).
        pub changed_at: Timestamp,
        /// 1 for a template of the workspace, otherwise 0.
        pub is_template: u64,
    }
}

record! {
    /// A canvas in a list.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ListedCanvas of "canvases" {
        /// Session of the canvas.
        pub session_id: SessionId,
        /// Title of the session.
        pub title: String,
        /// Status of the session: running until the canvas has ended.
        pub status: Status,
        /// Sequence of the newest patch.
        pub version: u64,
        /// Number of patches.
        pub patches: u64,
        /// Time of the newest patch (UTC).
        pub changed_at: Timestamp,
        /// 1 for a template of the workspace, otherwise 0.
        pub is_template: u64,
        /// Creator: `user:…` or `token:…`.
        pub created_by: String,
        /// Time it was created (UTC).
        pub created_at: Timestamp,
    }
}

record! {
    /// A patch that was accepted.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct KnownPatch of "canvas_patches" {
        /// Sequence of its event.
        pub sequence: u64,
        /// Digest of the request.
        pub body_digest: Digest,
    }
}

record! {
    /// A document that was kept.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SnapshotRecord of "canvas_snapshots" {
        /// Version of the document.
        pub version: u64,
        /// The document as JSON.
        pub document: String,
    }
}

record! {
    /// One who takes part in a canvas.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ParticipantRecord of "canvas_participants" {
        /// `user:…` or `token:…`
        pub participant: String,
        /// What they may do.
        pub role: ParticipantRole,
        /// Who gave them the role first.
        pub added_by: String,
        /// Time of that (UTC).
        pub added_at: Timestamp,
    }
}

record! {
    /// A patch that an editor accepts or declines.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SuggestionRecord of "canvas_suggestions" {
        /// Session of the canvas.
        pub session_id: SessionId,
        /// Id that its author gave it.
        pub op_id: String,
        /// Version that its author had seen.
        pub base: u64,
        /// The operations as JSON.
        pub ops: String,
        /// 1 for a strict patch, otherwise 0.
        pub is_strict: u64,
        /// Digest of the request.
        pub body_digest: Digest,
        /// Its author: `user:…` or `token:…`.
        pub author: String,
        /// Time it was made (UTC).
        pub at: Timestamp,
        /// Whether it waits, was accepted, or was declined.
        pub state: SuggestionState,
        /// The editor who decided; `None` while it waits.
        pub decided_by: Option<String>,
        /// Time of the decision (UTC).
        pub decided_at: Option<Timestamp>,
        /// What the editor wrote to the author.
        pub reason: Option<String>,
    }
}

type One<T> = (T,);

/// The newest version of a canvas; `None` if the session is none. A writer holds the lock of the session.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<Option<CanvasRecord>> {
    Ok(run!(conn, fetch_optional CanvasRecord, FIND, tenant_id.0, id.0)?)
}

/// Adds a canvas, which is no template. Its session exists.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId, canvas: &CanvasRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        id.0,
        canvas.document.as_str(),
        canvas.document_schema.as_deref(),
        canvas.version.cast_signed(),
        canvas.patches.cast_signed(),
        canvas.unkept_patches.cast_signed(),
        canvas.unkept_bytes.cast_signed(),
        to_micros(canvas.changed_at),
    )?;
    Ok(())
}

/// Writes a changed canvas. The caller holds the lock of its session.
pub async fn update(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId, canvas: &CanvasRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        UPDATE,
        tenant_id.0,
        id.0,
        canvas.document.as_str(),
        canvas.version.cast_signed(),
        canvas.patches.cast_signed(),
        canvas.unkept_patches.cast_signed(),
        canvas.unkept_bytes.cast_signed(),
        to_micros(canvas.changed_at),
    )?;
    Ok(())
}

/// One page of canvases, newest first, starting after `before`.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Page<ListedCanvas>> {
    let rows = run!(conn, fetch_all ListedCanvas, LIST, tenant_id.0, before, i64::from(limit) + 1)?;
    Ok(Page::of(rows, limit))
}

/// The templates of a workspace by title, at most `max`.
pub async fn templates(conn: &mut Conn<'_>, tenant_id: TenantId, max: u32) -> Result<Vec<ListedCanvas>> {
    Ok(run!(conn, fetch_all ListedCanvas, TEMPLATES, tenant_id.0, i64::from(max))?)
}

/// Makes a canvas a template of its workspace, or no template. The caller holds the lock of the session.
pub async fn set_template(
    tx: &mut WriteTx<'_>,
    (tenant_id, id): (TenantId, SessionId),
    is_template: bool,
) -> Result<()> {
    run!(tx.conn(), execute, SET_TEMPLATE, tenant_id.0, id.0, i64::from(is_template))?;
    Ok(())
}

/// Canvases of every workspace that have not ended and were changed last at `until` or before, longest ago first.
pub async fn left(conn: &mut Conn<'_>, until: Timestamp, max: u32) -> Result<Vec<(TenantId, SessionId)>> {
    let rows = run!(conn, fetch_all(Uuid, Uuid), LEFT, to_micros(until), i64::from(max))?;
    Ok(rows.into_iter().map(|(tenant, id)| (TenantId(tenant), SessionId(id))).collect())
}

/// Records a patch. The caller holds the lock of the session.
pub async fn insert_patch(
    tx: &mut WriteTx<'_>,
    (tenant_id, id): (TenantId, SessionId),
    op_id: &str,
    patch: &KnownPatch,
    (author, at): (&str, Timestamp),
) -> Result<()> {
    let (sequence, digest) = (patch.sequence.cast_signed(), patch.body_digest.0.to_vec());
    run!(tx.conn(), execute, INSERT_PATCH, tenant_id.0, id.0, op_id, sequence, digest, author, to_micros(at))?;
    Ok(())
}

/// The patch with this id, if it was accepted.
pub async fn patch(
    conn: &mut Conn<'_>,
    (tenant_id, id): (TenantId, SessionId),
    op_id: &str,
) -> Result<Option<KnownPatch>> {
    Ok(run!(conn, fetch_optional KnownPatch, PATCH, tenant_id.0, id.0, op_id)?)
}

/// Number of patches of an author since a time.
pub async fn recent(
    conn: &mut Conn<'_>,
    (tenant_id, id): (TenantId, SessionId),
    author: &str,
    since: Timestamp,
) -> Result<u64> {
    let (count,) = run!(conn, fetch_one One<i64>, RECENT, tenant_id.0, id.0, author, to_micros(since))?;
    Ok(count.max(0).cast_unsigned())
}

/// Keeps the document of a version.
pub async fn keep(
    tx: &mut WriteTx<'_>,
    (tenant_id, id): (TenantId, SessionId),
    version: u64,
    document: &str,
) -> Result<()> {
    run!(tx.conn(), execute, INSERT_SNAPSHOT, tenant_id.0, id.0, version.cast_signed(), document)?;
    Ok(())
}

/// The newest document that was kept at a version or before it.
pub async fn snapshot(
    conn: &mut Conn<'_>,
    (tenant_id, id): (TenantId, SessionId),
    version: u64,
) -> Result<Option<SnapshotRecord>> {
    let version = version.min(i64::MAX.cast_unsigned()).cast_signed();
    Ok(run!(conn, fetch_optional SnapshotRecord, SNAPSHOT, tenant_id.0, id.0, version)?)
}

/// The versions whose documents were kept, oldest first.
pub async fn kept_versions(conn: &mut Conn<'_>, (tenant_id, id): (TenantId, SessionId)) -> Result<Vec<u64>> {
    let rows = run!(conn, fetch_all One<i64>, KEPT, tenant_id.0, id.0)?;
    Ok(rows.into_iter().map(|(version,)| version.max(0).cast_unsigned()).collect())
}

/// The participants of a canvas, at most `max`.
pub async fn participants(
    conn: &mut Conn<'_>,
    (tenant_id, id): (TenantId, SessionId),
    max: u32,
) -> Result<Vec<ParticipantRecord>> {
    Ok(run!(conn, fetch_all ParticipantRecord, PARTICIPANTS, tenant_id.0, id.0, i64::from(max))?)
}

record! {
    struct RoleRow of "canvas_participants" {
        role: ParticipantRole,
    }
}

/// The role of a caller; `None` if they are no participant.
pub async fn role(
    conn: &mut Conn<'_>,
    (tenant_id, id): (TenantId, SessionId),
    participant: &str,
) -> Result<Option<ParticipantRole>> {
    let row = run!(conn, fetch_optional RoleRow, ROLE, tenant_id.0, id.0, participant)?;
    Ok(row.map(|row| row.role))
}

/// Adds a participant, or changes their role.
pub async fn put_participant(
    tx: &mut WriteTx<'_>,
    (tenant_id, id): (TenantId, SessionId),
    one: &ParticipantRecord,
) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        PUT_PARTICIPANT,
        tenant_id.0,
        id.0,
        one.participant.as_str(),
        one.role.as_str(),
        one.added_by.as_str(),
        to_micros(one.added_at),
    )?;
    Ok(())
}

/// Removes a participant. Returns whether there was one.
pub async fn remove_participant(
    tx: &mut WriteTx<'_>,
    (tenant_id, id): (TenantId, SessionId),
    participant: &str,
) -> Result<bool> {
    Ok(run!(tx.conn(), execute, REMOVE_PARTICIPANT, tenant_id.0, id.0, participant)? > 0)
}

/// Removes a participant from every canvas of a workspace.
pub async fn remove_from_all(tx: &mut WriteTx<'_>, tenant_id: TenantId, participant: &str) -> Result<()> {
    run!(tx.conn(), execute, REMOVE_FROM_ALL, tenant_id.0, participant)?;
    Ok(())
}

/// The suggestion with this id.
pub async fn suggestion(
    conn: &mut Conn<'_>,
    (tenant_id, id): (TenantId, SessionId),
    op_id: &str,
) -> Result<Option<SuggestionRecord>> {
    Ok(run!(conn, fetch_optional SuggestionRecord, SUGGESTION, tenant_id.0, id.0, op_id)?)
}

/// Suggestions in a state, oldest first, at most `max`.
pub async fn suggestions(
    conn: &mut Conn<'_>,
    (tenant_id, id): (TenantId, SessionId),
    state: SuggestionState,
    max: u32,
) -> Result<Vec<SuggestionRecord>> {
    Ok(run!(conn, fetch_all SuggestionRecord, SUGGESTIONS, tenant_id.0, id.0, state.as_str(), i64::from(max))?)
}

/// Declined suggestions of an author, the newest decision first, at most `max`.
pub async fn declined(
    conn: &mut Conn<'_>,
    (tenant_id, id): (TenantId, SessionId),
    author: &str,
    max: u32,
) -> Result<Vec<SuggestionRecord>> {
    Ok(run!(conn, fetch_all SuggestionRecord, DECLINED, tenant_id.0, id.0, author, i64::from(max))?)
}

/// Number of suggestions that wait for a decision.
pub async fn count_open_suggestions(conn: &mut Conn<'_>, (tenant_id, id): (TenantId, SessionId)) -> Result<u64> {
    let (count,) = run!(conn, fetch_one One<i64>, COUNT_OPEN_SUGGESTIONS, tenant_id.0, id.0)?;
    Ok(count.max(0).cast_unsigned())
}

/// Adds a suggestion, which is open. The caller holds the lock of the session.
pub async fn insert_suggestion(
    tx: &mut WriteTx<'_>,
    (tenant_id, id): (TenantId, SessionId),
    one: &SuggestionRecord,
) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT_SUGGESTION,
        tenant_id.0,
        id.0,
        one.op_id.as_str(),
        one.base.cast_signed(),
        one.ops.as_str(),
        one.is_strict.cast_signed(),
        one.body_digest.0.to_vec(),
        one.author.as_str(),
        to_micros(one.at),
    )?;
    Ok(())
}

/// Records what became of a suggestion.
pub async fn decide_suggestion(
    tx: &mut WriteTx<'_>,
    (tenant_id, id): (TenantId, SessionId),
    op_id: &str,
    state: SuggestionState,
    (by, at, reason): (&str, Timestamp, Option<&str>),
) -> Result<()> {
    run!(tx.conn(), execute, DECIDE_SUGGESTION, tenant_id.0, id.0, op_id, state.as_str(), by, to_micros(at), reason)?;
    Ok(())
}

/// Makes a suggestion wait again. The caller holds the lock of the session.
pub async fn reopen_suggestion(
    tx: &mut WriteTx<'_>,
    (tenant_id, id): (TenantId, SessionId),
    op_id: &str,
) -> Result<()> {
    run!(tx.conn(), execute, REOPEN_SUGGESTION, tenant_id.0, id.0, op_id)?;
    Ok(())
}

/// Erases the document of a session and all that was kept of it. Participants stay: they are no content.
pub(crate) async fn erase(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, ERASE_PATCHES, tenant_id.0, id.0)?;
    run!(tx.conn(), execute, ERASE_SNAPSHOTS, tenant_id.0, id.0)?;
    run!(tx.conn(), execute, ERASE_SUGGESTIONS, tenant_id.0, id.0)?;
    run!(tx.conn(), execute, ERASE, tenant_id.0, id.0)?;
    Ok(())
}
