//! Writing a memory document.

use super::{check_agent, conflict::conflict, forgotten::Marks, origin};
use crate::{
    Error, Ledger, MemoryAgentRecord, MemoryDocumentRecord, Result,
    guard::{Fields, require},
    visibility::claimed_last,
};
use domain::{
    Caller, Scope, Timestamp,
    id::{MemoryDocumentId, MemoryVersionId, SessionId, TenantId, instant_of_v7, least_v7, v7_after},
    limit::{
        MEMORY_AGENT_BYTES_MAX, MEMORY_DOCUMENTS_MAX, MEMORY_EVIDENCE_MAX, MEMORY_EVIDENCE_SESSIONS_MAX,
        MEMORY_REASON_CHARS_MAX,
    },
    memory::{Document, Evidence, Folder, MemoryPath, Operation, Source, check_text, digest, fold, terms},
    memory_writer::turn::own_path,
    role::{Permission, TokenScope},
};
use store::{Conn, MemoryVersionRecord, MemoryVersionText, WriteTx};

/// The next version of a document.
#[derive(Debug, Clone)]
pub struct NewVersion {
    /// Slug of the agent.
    pub agent: String,
    /// Path of the document.
    pub path: MemoryPath,
    /// The version that the writer read; 0 to make a document.
    pub base_version: u64,
    /// The whole text with front matter.
    pub text: String,
    /// Kind of writer, such as a person, an agent or a character card.
    pub source: Source,
    /// Who writes it, as [`Caller`] is displayed.
    pub author: String,
    /// Why, at most [`MEMORY_REASON_CHARS_MAX`] characters.
    pub reason: String,
    /// Where its changed lines come from.
    pub evidence: Vec<Evidence>,
}

/// Time and ids of a version, which a transaction cannot make.
#[derive(Debug, Clone, Copy)]
pub struct Stamp {
    /// Time of the version (UTC).
    pub at: Timestamp,
    /// Id of the document, if it is new.
    pub document_id: MemoryDocumentId,
    /// Id of the new version. It gets a later time if the agent's newest version has the same time or a later one.
    pub version_id: MemoryVersionId,
}

impl Stamp {
    /// Makes the stamp of one version.
    pub fn new(ledger: &Ledger) -> Self {
        let (at, entropy) = (ledger.now(), ledger.entropy());
        Self { at, document_id: MemoryDocumentId::new(at, entropy), version_id: MemoryVersionId::new(at, entropy) }
    }

    /// Returns the stamp with a version id that sorts after those of the agent's versions, and sets the time of the
    /// totals to that of the id. The caller holds the lock of the agent and saves its totals with the version.
    pub(super) fn after(self, totals: &mut MemoryAgentRecord) -> Self {
        // The stamp was made before the lock, so versions with later times may have been written since. The clock may
        // have been set back too.
        let version_id = v7_after(self.version_id.0, least_v7(totals.updated_at));
        totals.updated_at = instant_of_v7(version_id).map_or(self.at, |at| at.max(self.at));
        Self { version_id: MemoryVersionId(version_id), ..self }
    }
}

/// The outcome of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The document at its newest version.
    pub document: MemoryDocumentRecord,
    /// Whether a version was written. A text that is there already writes none.
    pub is_new: bool,
}

/// What a caller wants to write, without what the server knows about the caller.
#[derive(Debug, Clone, Default)]
pub struct Write {
    /// The version that the caller read; 0 to make a document.
    pub base_version: u64,
    /// The whole text with front matter.
    pub text: String,
    /// Shown in the history.
    pub reason: String,
    /// Where its changed lines come from.
    pub evidence: Vec<Evidence>,
    /// The session that the agent works on. Required from a worker token.
    pub session_id: Option<SessionId>,
    /// Whether the text comes from a folder that is imported.
    pub is_import: bool,
}

/// Writes the next version of a document for a caller of the API.
///
/// # Errors
///
/// - [`Error::NotFound`] if `agent` is not a slug.
/// - [`Error::MemoryConflict`] with both sides if the document is not at `base_version`, unless it has this text
///   already.
/// - [`Error::Invalid`] for a text, reason or origin that cannot be kept, and for a new path whose name is too long for
///   a file.
/// - [`Error::LimitReached`] for a full memory.
/// - [`Error::Forbidden`] for a worker that does not name the session of the agent that it has claimed, for an
///   incognito session, and for an agent that writes below `self/` or about a person who is forgotten.
pub async fn write(ledger: &Ledger, scope: &Scope, agent: &str, path: MemoryPath, write: Write) -> Result<Written> {
    let is_own = require_write(scope, &path)?;
    let mut fields = Fields::default();
    if write.evidence.len() > MEMORY_EVIDENCE_MAX {
        fields.refuse("evidence", format!("at most {MEMORY_EVIDENCE_MAX}"));
    }
    // Whoever corrects what is remembered of them says it here, and in no conversation.
    if is_own && !write.evidence.is_empty() {
        fields.refuse("evidence", "must be empty in a document about yourself");
    }
    fields.check()?;
    write_with_origin(ledger, scope, agent, path, write).await
}

/// Refuses a caller who may not write a document. Members may write the document about themselves, so that they can
/// correct it. Returns whether that is the only one that the caller may write.
fn require_write(scope: &Scope, path: &MemoryPath) -> Result<bool> {
    let Err(refused) = require(scope, Permission::WriteMemory) else { return Ok(false) };
    require(scope, Permission::Read)?;
    let is_own = scope.user_id().is_some_and(|user_id| path.folded() == fold(&own_path(user_id)));
    if is_own { Ok(true) } else { Err(refused) }
}

/// Writes as [`write`] does, with an origin that the server made: it may name an event for every line of a document.
pub(super) async fn write_with_origin(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    path: MemoryPath,
    write: Write,
) -> Result<Written> {
    let is_own = require_write(scope, &path)?;
    check_agent(agent)?;
    let (stamp, writer, agent) = (Stamp::new(ledger), *scope, agent.to_owned());
    let (tenant_id, keeper) = (scope.tenant_id, ledger.clone());
    let written = ledger.write(scope.into(), async move |tx| {
        let source = source_of(tx.conn(), &writer, &agent, write.session_id).await?;
        let may_import = writer.token_scope.is_none() && !matches!(writer.caller, Caller::Agent(_));
        refuse_forgotten(tx.conn(), &keeper, tenant_id, source, &path).await?;
        if is_own && Document::parse(&write.text).is_shared() {
            refuse_own_share(tx.conn(), tenant_id, &agent, &path).await?;
        }
        let source = if write.is_import && may_import { Source::Import } else { source };
        let Write { base_version, text, reason, evidence, .. } = write;
        let author = writer.caller.to_string();
        let new = NewVersion { agent, path, base_version, text, source, author, reason, evidence };
        write_on(tx, tenant_id, stamp, new).await
    });
    written.await
}

/// Refuses a member who shares the document about themselves: its text would be given to the conversations of others.
/// One that a reviewer has shared stays shared.
async fn refuse_own_share(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, path: &MemoryPath) -> Result<()> {
    let found = store::memory::find_by_path(conn, tenant_id, agent, path).await?.filter(|found| !found.is_deleted);
    let newest = match found {
        Some(found) => store::memory::text(conn, tenant_id, found.id, found.version).await?,
        None => None,
    };
    if newest.is_some_and(|newest| newest.document.is_shared()) {
        return Ok(());
    }
    Err(Error::invalid("text", "only reviewers may share a document with `shared: true`".to_owned()))
}

/// Refuses an agent that makes or changes the document of a person who is forgotten.
pub(super) async fn refuse_forgotten(
    conn: &mut Conn<'_>,
    ledger: &Ledger,
    tenant_id: TenantId,
    source: Source,
    path: &MemoryPath,
) -> Result<()> {
    if source == Source::Agent
        && path.folder() == Folder::People
        && Marks::read(conn, ledger, tenant_id).await?.has(path.as_str())
    {
        return Err(Error::Forbidden("this person is forgotten; an admin can allow to remember them"));
    }
    Ok(())
}

/// Returns what a caller's versions count as. A worker token, or an agent of the server's process, writes for the
/// agent whose session it claimed, and for no other.
///
/// # Errors
/// [`Error::Forbidden`] for a worker token without such a session, or with an incognito one.
pub(super) async fn source_of(
    conn: &mut Conn<'_>,
    scope: &Scope,
    agent: &str,
    session_id: Option<SessionId>,
) -> Result<Source> {
    if matches!(scope.caller, Caller::User(_) | Caller::System) {
        return Ok(Source::Person);
    }
    const WRONG: Error =
        Error::Forbidden("a worker writes to the memory of the agent whose running session it names and has claimed");
    let is_bound = scope.token_scope == Some(TokenScope::Worker) || matches!(scope.caller, Caller::Agent(_));
    let Some(session_id) = session_id else { return if is_bound { Err(WRONG) } else { Ok(Source::Agent) } };
    let session = store::session::find(conn, scope.tenant_id, session_id).await?.ok_or(WRONG)?;
    if session.agent_slug.as_deref() != Some(agent) {
        return Err(WRONG);
    }
    if session.private_to.is_some() {
        return Err(Error::Forbidden("an incognito conversation is not remembered"));
    }
    let works = !session.status().is_final() && claimed_last(conn, scope, &session).await?;
    if works || !is_bound { Ok(Source::Agent) } else { Err(WRONG) }
}

/// Writes the next version of a document inside a transaction. Every version goes through here: it checks the text,
/// replaces secrets, checks that the origin exists and that the document is at the base version, and indexes the words.
///
/// # Errors
/// As [`write`]. The caller lets them roll the transaction back.
pub async fn write_on(tx: &mut WriteTx<'_>, tenant_id: TenantId, stamp: Stamp, new: NewVersion) -> Result<Written> {
    write_from(tx, tenant_id, stamp, new, MEMORY_EVIDENCE_SESSIONS_MAX).await
}

/// Writes as [`write_on`] does, with an origin of at most `sessions_max` sessions.
///
/// # Errors
/// As [`write`].
pub(super) async fn write_from(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    stamp: Stamp,
    new: NewVersion,
    sessions_max: usize,
) -> Result<Written> {
    check_agent(&new.agent)?;
    if new.source == Source::Agent && new.path.folder() == Folder::Own {
        return Err(Error::Forbidden("documents below self/ come from the agent's card; people change them"));
    }
    let mut fields = Fields::default();
    fields.text("reason", Some(&new.reason), MEMORY_REASON_CHARS_MAX);
    if let Err(bad) = check_text(&new.text) {
        fields.refuse("text", bad.to_string());
    }
    fields.check()?;
    let (text, evidence) = origin::redacted(new.text, new.evidence)?;
    let mut totals = store::memory::lock_agent(tx, tenant_id, &new.agent, stamp.at).await?;
    let found = store::memory::find_by_path(tx.conn(), tenant_id, &new.agent, &new.path).await?;
    if found.is_none() {
        new.path.check_new().map_err(|why| Error::invalid("path", why.to_string()))?;
    }
    let live = found.as_ref().filter(|found| !found.is_deleted);
    if let Some(same) = live.filter(|live| live.digest == digest(&text)) {
        return Ok(Written { document: same.clone(), is_new: false });
    }
    let fits = match (&found, live) {
        (_, Some(live)) => new.base_version == live.version,
        (Some(deleted), None) => new.base_version == 0 || new.base_version == deleted.version,
        (None, None) => new.base_version == 0,
    };
    if !fits {
        let sides = conflict(tx, tenant_id, new.path.as_str(), found.as_ref(), new.base_version, text).await?;
        return Err(Error::MemoryConflict(Box::new(sides)));
    }
    let old_bytes = live.map_or(0, |live| live.bytes);
    totals.documents += u64::from(live.is_none());
    totals.bytes = totals.bytes.saturating_sub(old_bytes) + text.len() as u64;
    let stamp = stamp.after(&mut totals);
    if totals.documents > MEMORY_DOCUMENTS_MAX {
        return Err(Error::LimitReached(format!("an agent has at most {MEMORY_DOCUMENTS_MAX} memory documents")));
    }
    if totals.bytes > MEMORY_AGENT_BYTES_MAX {
        return Err(Error::LimitReached(format!("an agent's memory has at most {MEMORY_AGENT_BYTES_MAX} bytes")));
    }
    let channels = origin::check(tx, tenant_id, &text, &evidence, sessions_max).await?;
    let operation = if live.is_some() { Operation::Modified } else { Operation::Created };
    let next = NewState { operation, path: new.path, text, evidence, is_deleted: false };
    let by = Attribution { agent: new.agent, source: new.source, author: new.author, reason: new.reason };
    let document = put(tx, tenant_id, stamp, found, next, by).await?;
    for channel in channels {
        store::memory::add_channel(tx, tenant_id, document.id, (&channel.platform, &channel.id)).await?;
    }
    store::memory::save_agent(tx, tenant_id, &totals).await?;
    Ok(Written { document, is_new: true })
}

/// What a version makes of its document.
pub(super) struct NewState {
    pub operation: Operation,
    pub path: MemoryPath,
    pub text: String,
    pub evidence: Vec<Evidence>,
    pub is_deleted: bool,
}

/// Who writes a version, and why.
pub(super) struct Attribution {
    pub agent: String,
    pub source: Source,
    pub author: String,
    pub reason: String,
}

/// Writes the document's row, the version and the index. The caller holds the lock of the agent and has checked
/// everything.
pub(super) async fn put(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    stamp: Stamp,
    found: Option<MemoryDocumentRecord>,
    next: NewState,
    by: Attribution,
) -> Result<MemoryDocumentRecord> {
    // A document keeps the spelling of its path until it is renamed or made again.
    let keeps = next.operation == Operation::Modified || next.operation == Operation::Deleted;
    let path = found.as_ref().filter(|_| keeps).map_or_else(|| next.path.as_str().to_owned(), |doc| doc.path.clone());
    let document = MemoryDocumentRecord {
        id: found.as_ref().map_or(stamp.document_id, |doc| doc.id),
        agent: by.agent,
        path,
        version: found.as_ref().map_or(1, |doc| doc.version + 1),
        digest: digest(&next.text),
        bytes: next.text.len() as u64,
        is_deleted: next.is_deleted,
        source: by.source,
        author: by.author,
        created_at: found.as_ref().map_or(stamp.at, |doc| doc.created_at),
        updated_at: stamp.at,
    };
    let folded = next.path.folded();
    if found.is_some() {
        store::memory::save_document(tx, tenant_id, &document, &folded).await?;
    } else {
        store::memory::insert_document(tx, tenant_id, &document, &folded).await?;
    }
    store::memory::empty_vectors(tx, tenant_id, document.id).await?;
    if next.is_deleted {
        store::memory::unindex(tx, tenant_id, document.id).await?;
    } else {
        let words = [terms(&document.path), terms(&next.text)].concat();
        store::memory::index(tx, tenant_id, &document.agent, document.id, &words).await?;
    }
    let version = MemoryVersionRecord {
        document_id: document.id,
        version: document.version,
        id: stamp.version_id,
        agent: document.agent.clone(),
        path: document.path.clone(),
        operation: next.operation,
        digest: document.digest,
        source: document.source,
        author: document.author.clone(),
        reason: by.reason,
        evidence: next.evidence,
        created_at: stamp.at,
        erased_at: None,
    };
    let new = MemoryVersionText { version, document: Document::parse(&next.text) };
    store::memory::insert_version(tx, tenant_id, &new).await?;
    Ok(document)
}
