//! Changing a canvas.

use super::{
    create::digest_of,
    document::{committed, document_at, events_of_patches, unreadable},
    find_locked, key, not_an_editor,
    undo::is_undo_id,
};
use crate::{
    Error, Ledger, Result,
    commit::{Minter, append_server_events},
    guard::require,
    output::pointer_errors,
    visibility::{canvas_role, is_own},
};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    canvas::{
        Accepted, Committed, Document, Head, Invalid, Operation, ParticipantRole, Patch, Path, Reason, Rejected,
        SuggestionState, decide, is_snapshot_due,
    },
    chain::Digest,
    event::kind::{CanvasPatch, Payload as _, StatePatch},
    id::SessionId,
    issue::Issue,
    limit::{
        CANVAS_AGENT_PATCHES_PER_SECOND, CANVAS_BEHIND_MAX, CANVAS_PATCHES_PER_SECOND, CANVAS_SUGGESTIONS_MAX,
        EVENT_BYTES_MAX, SESSION_EVENTS_MAX,
    },
    role::Permission,
    session::{Refusal, Session},
};
use serde_json::{Value, json};
use store::{CanvasRecord, Conn, SuggestionRecord, WriteTx, canvas::KnownPatch};

/// The request to change a canvas, whose operations are not checked yet.
#[derive(Debug, Clone, PartialEq)]
pub struct SentPatch {
    /// Made by the author, unique in the canvas.
    pub op_id: String,
    /// Version that the author saw.
    pub base: u64,
    /// The operations as JSON.
    pub ops: Vec<Value>,
    /// Whether it is rejected unless `base` is the newest version.
    pub is_strict: bool,
}

/// What a patch changes, or why it is rejected and how the document would violate its schema.
pub(super) type Verdict = std::result::Result<Accepted, (Rejected, Vec<Issue>)>;

/// Result of a patch.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was accepted, now or when it was sent before.
    Committed(Committed),
    /// It waits for the decision of an editor, or has got one. An accepted suggestion is committed.
    Suggested(SuggestionState),
    /// It was rejected. Nothing is recorded.
    Rejected {
        /// The reason, and what stays.
        rejected: Rejected,
        /// How the document would violate its schema.
        issues: Vec<Issue>,
        /// The newest version.
        head: u64,
    },
}

/// Changes a canvas by a patch. The same patch under the same id is applied once.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas; [`Error::Forbidden`] if the caller may not change it;
/// [`Error::Invalid`] for a patch that is too large or whose base does not exist; [`Error::IdConflict`] if its id was
/// used for another patch; [`Error::Refused`] if the canvas has ended; [`Error::TooManyAttempts`] for more patches in a
/// second than [`CANVAS_PATCHES_PER_SECOND`] of a person and [`CANVAS_AGENT_PATCHES_PER_SECOND`] of a program, and
/// after [`CANVAS_UNCOMMITTED_PER_MINUTE`](domain::limit::CANVAS_UNCOMMITTED_PER_MINUTE) of a minute that changed
/// nothing; [`Error::LimitReached`] if the log is full.
pub async fn patch(ledger: &Ledger, scope: &Scope, id: SessionId, sent: SentPatch) -> Result<Outcome> {
    require(scope, Permission::StartSession)?;
    let patch = read(sent).map_err(|invalid| Error::invalid(invalid.field, invalid.reason))?;
    let (minter, caller) = (Minter::new(ledger, ledger.now()), *scope);
    let written = ledger.write(scope.into(), async move |tx| apply(tx, &caller, id, patch, minter).await);
    counted(ledger, scope, id, written).await
}

/// Waits for the result of a patch, unless the caller sent too many to the canvas that changed nothing.
pub(super) async fn counted(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    written: impl Future<Output = Result<Outcome>>,
) -> Result<Outcome> {
    let (counts, key, now) = (ledger.uncommitted_patches(), (scope.tenant_id, id, scope.caller), ledger.now());
    counts.require_few(key, now)?;
    let outcome = written.await?;
    match &outcome {
        Outcome::Rejected { .. } | Outcome::Suggested(SuggestionState::Open) => counts.count(key, now),
        Outcome::Committed(_) | Outcome::Suggested(_) => {}
    }
    Ok(outcome)
}

/// Reads and checks a patch.
fn read(SentPatch { op_id, base, ops, is_strict }: SentPatch) -> std::result::Result<Patch, Invalid> {
    let patch = Patch { op_id, base, ops: Patch::read_ops(&ops)?, is_strict };
    patch.check()?;
    if is_undo_id(&patch.op_id) {
        let reason = "another id: this one is for a patch that undoes a suggestion".into();
        return Err(Invalid { field: "opId".into(), reason });
    }
    Ok(patch)
}

async fn apply(tx: &mut WriteTx<'_>, scope: &Scope, id: SessionId, patch: Patch, minter: Minter) -> Result<Outcome> {
    let (session, canvas) = find_locked(tx, scope, id).await?;
    let role = canvas_role(tx.conn(), scope, &session).await?;
    let digest = digest_of(&patch);
    match role {
        Some(ParticipantRole::Edit | ParticipantRole::Suggest) => {}
        Some(ParticipantRole::View) | None => return Err(not_an_editor()),
    }
    if let Some(known) = store::canvas::patch(tx.conn(), key(&session), &patch.op_id).await? {
        return repeated(tx.conn(), &session, &known, digest).await;
    }
    check(tx.conn(), scope, &session, &canvas, &patch, &minter).await?;
    if role == Some(ParticipantRole::Suggest) {
        return suggest(tx, scope, &session, (patch, digest), minter.at()).await;
    }
    let author = scope.caller.to_string();
    decided(tx, scope, (session, canvas), (patch, digest, author), minter).await
}

/// Records a patch as a suggestion. One that is sent again returns its state.
async fn suggest(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    session: &Session,
    (patch, body_digest): (Patch, Digest),
    at: Timestamp,
) -> Result<Outcome> {
    if let Some(known) = store::canvas::suggestion(tx.conn(), key(session), &patch.op_id).await? {
        if known.body_digest != body_digest {
            let detail = "this opId was used for another suggestion for this canvas".into();
            return Err(Error::IdConflict { detail });
        }
        return Ok(Outcome::Suggested(known.state));
    }
    require_few_open(tx.conn(), session).await?;
    let record = SuggestionRecord {
        session_id: session.id,
        op_id: patch.op_id,
        base: patch.base,
        ops: json!(patch.ops).to_string(),
        is_strict: u64::from(patch.is_strict),
        body_digest,
        author: scope.caller.to_string(),
        at,
        state: SuggestionState::Open,
        decided_by: None,
        decided_at: None,
        reason: None,
    };
    store::canvas::insert_suggestion(tx, key(session), &record).await?;
    // It is no event of the log: pages learn of it by this signal.
    tx.counts_changed(session.tenant_id);
    Ok(Outcome::Suggested(SuggestionState::Open))
}

/// Refuses another suggestion that waits if there are too many.
pub(super) async fn require_few_open(conn: &mut Conn<'_>, session: &Session) -> Result<()> {
    if store::canvas::count_open_suggestions(conn, key(session)).await? < u64::from(CANVAS_SUGGESTIONS_MAX) {
        return Ok(());
    }
    let detail = format!("a canvas has at most {CANVAS_SUGGESTIONS_MAX} suggestions that wait for a decision");
    Err(Error::LimitReached(detail))
}

/// Decides a patch of this author, and writes it if it is accepted.
pub(super) async fn decided(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    (session, canvas): (Session, CanvasRecord),
    (patch, digest, author): (Patch, Digest, String),
    minter: Minter,
) -> Result<Outcome> {
    let head = Document::read(&canvas.document).ok_or_else(|| unreadable(canvas.version))?;
    let accepted = match verdict(tx.conn(), (&session, &canvas, &head), (&patch, &author)).await? {
        Ok(accepted) => accepted,
        Err((why, issues)) => return Ok(rejected(why, issues, &canvas)),
    };
    commit(tx, scope, (session, canvas), (patch, digest, author, accepted), minter).await
}

/// How a patch of this author is decided on the newest document. Nothing is written.
async fn verdict(
    conn: &mut Conn<'_>,
    (session, canvas, head): (&Session, &CanvasRecord, &Document),
    (patch, author): (&Patch, &str),
) -> Result<Verdict> {
    let since = since(conn, session, patch.base, canvas.version).await?;
    verdict_after(conn, (session, canvas, head), (patch, author), since.as_deref()).await
}

/// [`verdict`] with the patches after the base of the patch, see [`since`].
pub(super) async fn verdict_after(
    conn: &mut Conn<'_>,
    (session, canvas, head): (&Session, &CanvasRecord, &Document),
    (patch, author): (&Patch, &str),
    since: Option<&[Committed]>,
) -> Result<Verdict> {
    let Some(since) = since else { return Ok(Err((of_whole(Reason::Stale), Vec::new()))) };
    let before = if joins(patch, since) { base_of(conn, session, patch.base).await? } else { None };
    let found = Head { document: head, version: canvas.version, before: before.as_ref() };
    let accepted = match decide(found, author, patch, since) {
        Ok(accepted) => accepted,
        Err(why) => return Ok(Err((why, Vec::new()))),
    };
    let issues = violations(canvas, &accepted.document)?;
    if issues.is_empty() { Ok(Ok(accepted)) } else { Ok(Err((of_whole(Reason::Schema), issues))) }
}

/// Refuses a patch whatever it changes.
pub(super) async fn check(
    conn: &mut Conn<'_>,
    scope: &Scope,
    session: &Session,
    canvas: &CanvasRecord,
    patch: &Patch,
    minter: &Minter,
) -> Result<()> {
    if session.status().is_final() {
        return Err(Refusal::AlreadyFinal { status: session.status() }.into());
    }
    if patch.base > canvas.version {
        return Err(Error::invalid("base", format!("at most {}, the newest version", canvas.version)));
    }
    if patch.ops.iter().any(|operation| operation.writes() && operation.path().is_root()) && !is_own(scope, session) {
        return Err(Error::Forbidden("only the creator of a canvas can replace its whole document"));
    }
    require_room(session)?;
    let is_person = scope.user_id().is_some();
    let max = if is_person { CANVAS_PATCHES_PER_SECOND } else { CANVAS_AGENT_PATCHES_PER_SECOND };
    let since = minter.at() - TimeDelta::seconds(1);
    if store::canvas::recent(conn, key(session), &scope.caller.to_string(), since).await? >= max {
        return Err(Error::TooManyAttempts { retry_after_seconds: 1 });
    }
    Ok(())
}

/// Refuses a patch for which the log has no space.
pub(super) fn require_room(session: &Session) -> Result<()> {
    if session.head_sequence < SESSION_EVENTS_MAX {
        return Ok(());
    }
    Err(Error::LimitReached(format!("a session has at most {SESSION_EVENTS_MAX} events")))
}

/// The recorded result of a patch that is sent again.
pub(super) async fn repeated(
    conn: &mut Conn<'_>,
    session: &Session,
    known: &KnownPatch,
    digest: Digest,
) -> Result<Outcome> {
    if known.body_digest != digest {
        return Err(Error::IdConflict { detail: "this opId was used for another patch of this canvas".into() });
    }
    let range = (known.sequence.saturating_sub(1), known.sequence);
    let (events, _) = events_of_patches(conn, key(session), range, 1).await?;
    let patch = events.first().and_then(committed);
    patch.map(Outcome::Committed).ok_or_else(|| unreadable(known.sequence))
}

/// The patches after a base, oldest first; `None` if there are too many to compare.
pub(super) async fn since(
    conn: &mut Conn<'_>,
    session: &Session,
    base: u64,
    head: u64,
) -> Result<Option<Vec<Committed>>> {
    let (events, has_more) = events_of_patches(conn, key(session), (base, head), CANVAS_BEHIND_MAX).await?;
    if has_more {
        return Ok(None);
    }
    let patches = events.iter().map(|event| committed(event).ok_or_else(|| unreadable(event.sequence)));
    patches.collect::<Result<_>>().map(Some)
}

/// Whether the patch replaces a text that others replaced since, so that the document at its base is needed.
fn joins(patch: &Patch, since: &[Committed]) -> bool {
    let is_changed = |path: &Path| since.iter().any(|one| one.ops.iter().any(|change| change.path() == path));
    patch
        .ops
        .iter()
        .any(|operation| matches!(operation, Operation::Replace { path, value: Value::String(_) } if is_changed(path)))
}

/// The document at the base of a patch; `None` before the first version.
async fn base_of(conn: &mut Conn<'_>, session: &Session, base: u64) -> Result<Option<Document>> {
    match document_at(conn, key(session), base).await {
        Ok((document, _)) => Ok(Some(document)),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// How a document violates the schema of its canvas.
fn violations(canvas: &CanvasRecord, document: &Document) -> Result<Vec<Issue>> {
    let Some(schema) = &canvas.document_schema else { return Ok(Vec::new()) };
    let schema: Value = serde_json::from_str(schema).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(pointer_errors(&schema, document.value(), "document"))
}

fn rejected(rejected: Rejected, issues: Vec<Issue>, canvas: &CanvasRecord) -> Outcome {
    Outcome::Rejected { rejected, issues, head: canvas.version }
}

/// A rejection that is about the whole document.
fn of_whole(reason: Reason) -> Rejected {
    Rejected { reason, at: 0, path: Path::default(), kept: None, because: None }
}

/// Writes an accepted patch: its event, the document and the id.
async fn commit(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    (session, mut canvas): (Session, CanvasRecord),
    (patch, digest, author, accepted): (Patch, Digest, String, Accepted),
    mut minter: Minter,
) -> Result<Outcome> {
    let now = minter.at();
    let Accepted { ops, document, overwrote, .. } = accepted;
    let suggested_by = (author != scope.caller.to_string()).then(|| author.clone());
    let (op_id, base, previous) = (patch.op_id, patch.base, canvas.version);
    let recorded = CanvasPatch { op_id, base, previous, ops, overwrote, suggested_by };
    let payload = StatePatch { text: None, patch: Some(recorded) };
    if payload.content().len() > EVENT_BYTES_MAX {
        return Ok(rejected(of_whole(Reason::TooLarge), Vec::new(), &canvas));
    }
    let event = minter.event(&payload);
    let session = append_server_events(tx, session, vec![event], scope.caller, now).await?;
    let StatePatch { patch: Some(recorded), .. } = payload else { return Err(unreadable(session.head_sequence)) };
    let committed = Committed {
        sequence: session.head_sequence,
        previous: recorded.previous,
        op_id: recorded.op_id,
        by: author,
        ops: recorded.ops,
        overwrote: recorded.overwrote,
    };
    canvas.document = document.text();
    canvas.version = committed.sequence;
    canvas.patches += 1;
    canvas.unkept_patches += 1;
    canvas.unkept_bytes += serde_json::to_string(&committed.ops).map_or(0, |text| text.len() as u64);
    canvas.changed_at = now;
    if is_snapshot_due(canvas.unkept_patches, canvas.unkept_bytes) {
        (canvas.unkept_patches, canvas.unkept_bytes) = (0, 0);
        store::canvas::keep(tx, key(&session), canvas.version, &canvas.document).await?;
    }
    store::canvas::update(tx, session.tenant_id, session.id, &canvas).await?;
    let known = KnownPatch { sequence: committed.sequence, body_digest: digest };
    store::canvas::insert_patch(tx, key(&session), &committed.op_id, &known, (committed.by.as_str(), now)).await?;
    Ok(Outcome::Committed(committed))
}
