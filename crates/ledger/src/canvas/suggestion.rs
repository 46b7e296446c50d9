//! Suggestions: patches that wait until an editor accepts them.

use super::{
    find, find_locked, key,
    patch::{Outcome, counted, decided, repeated, require_room},
    preview::{ShownSuggestion, patch_of, preview, with_digests},
    require_editor,
};
use crate::{
    Error, Ledger, Result,
    audit::Act,
    commit::Minter,
    guard::{Fields, require},
};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    canvas::SuggestionState,
    chain::Digest,
    id::SessionId,
    limit::{CANVAS_SUGGESTIONS_MAX, REASON_CHARS_MAX},
    role::Permission,
    session::{Refusal, Session},
};
use serde_json::json;
use store::{CanvasRecord, SuggestionRecord, WriteTx};

/// Decision of an editor about a suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is applied to the document as it is now.
    Accept,
    /// It is not applied.
    Decline,
}

/// A decision about one suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestionDecision {
    /// Id that the author gave the suggestion.
    pub op_id: String,
    /// Whether it is applied.
    pub decision: Decision,
    /// For the author, at most [`REASON_CHARS_MAX`] characters.
    pub reason: Option<String>,
    /// Digest of what the editor was shown, see [`Preview`](super::Preview). A suggestion that would change something
    /// else now is not accepted. `None` to accept it whatever it changes now.
    pub shown: Option<Digest>,
}

impl SuggestionDecision {
    /// A decision without a reason, whatever the suggestion changes now.
    pub fn new(op_id: impl Into<String>, decision: Decision) -> Self {
        Self { op_id: op_id.into(), decision, reason: None, shown: None }
    }
}

/// Returns the suggestions of a canvas in a state, oldest first, at most [`CANVAS_SUGGESTIONS_MAX`]. Those that the
/// reader may decide about have the digest of what they would change now.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas.
pub async fn suggestions(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    state: SuggestionState,
) -> Result<Vec<ShownSuggestion>> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let session = store::session::find(conn, reader.tenant_id, id).await?;
        let (session, canvas) = find(conn, &reader, session).await?;
        let found = store::canvas::suggestions(conn, key(&session), state, CANVAS_SUGGESTIONS_MAX).await?;
        with_digests(conn, &reader, (&session, &canvas), found).await
    });
    read.await
}

/// Accepts or declines a suggestion. A suggestion that is accepted is decided as a patch of its author: if it is
/// rejected, it stays open. A suggestion for a canvas that has ended can only be declined. A repeat returns the
/// recorded result.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas or suggestion; [`Error::Forbidden`] if the caller may not change the
/// canvas; [`Error::NotNow`] for another decision than the recorded one; [`Error::Invalid`] for a reason that is too
/// long. To accept one: [`Error::Refused`] if the canvas has ended; [`Error::StaleDecision`] if it would change
/// something else than the editor was shown; [`Error::IdConflict`] if an accepted patch has the same id;
/// [`Error::LimitReached`] if the log is full; [`Error::TooManyAttempts`] as for a patch.
pub async fn decide_suggestion(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    decision: SuggestionDecision,
) -> Result<Outcome> {
    require(scope, Permission::StartSession)?;
    let mut fields = Fields::default();
    fields.text("reason", decision.reason.as_deref(), REASON_CHARS_MAX);
    fields.check()?;
    let (caller, minter) = (*scope, Minter::new(ledger, ledger.now()));
    let written = ledger.write(scope.into(), async move |tx| settle(tx, &caller, id, &decision, minter).await);
    counted(ledger, scope, id, written).await
}

/// Decides about several suggestions of a canvas in their order, each on its own: one that is refused does not stop the
/// others. The result has one entry for each, with the errors of [`decide_suggestion`].
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas; [`Error::Forbidden`] if the caller may not change it.
pub async fn decide_suggestions(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    decisions: Vec<SuggestionDecision>,
) -> Result<Vec<Result<Outcome>>> {
    require(scope, Permission::StartSession)?;
    let caller = *scope;
    let checked = ledger.snapshot(scope, async move |conn| {
        let session = store::session::find(conn, caller.tenant_id, id).await?;
        let (session, _) = find(conn, &caller, session).await?;
        require_editor(conn, &caller, &session).await
    });
    checked.await?;
    let mut results = Vec::with_capacity(decisions.len());
    for decision in decisions {
        results.push(decide_suggestion(ledger, scope, id, decision).await);
    }
    Ok(results)
}

/// Returns a suggestion of a canvas.
///
/// # Errors
/// [`Error::NotFound`] if there is none with this id.
pub(super) async fn find_suggestion(tx: &mut WriteTx<'_>, session: &Session, op_id: &str) -> Result<SuggestionRecord> {
    // PostgreSQL takes no text with this character.
    let found = match op_id.contains('\0') {
        true => None,
        false => store::canvas::suggestion(tx.conn(), key(session), op_id).await?,
    };
    found.ok_or(Error::NotFound("suggestion"))
}

async fn settle(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    id: SessionId,
    decision: &SuggestionDecision,
    minter: Minter,
) -> Result<Outcome> {
    let (session, canvas) = find_locked(tx, scope, id).await?;
    require_editor(tx.conn(), scope, &session).await?;
    let found = find_suggestion(tx, &session, &decision.op_id).await?;
    match (found.state, decision.decision) {
        (SuggestionState::Open, Decision::Accept) => {
            accept(tx, scope, (session, canvas), (found, decision), minter).await
        }
        (SuggestionState::Open, Decision::Decline) => decline(tx, scope, &session, (found, decision), &minter).await,
        (SuggestionState::Accepted, Decision::Accept) => {
            let known = store::canvas::patch(tx.conn(), key(&session), &found.op_id).await?;
            let known = known.ok_or(Error::NotFound("patch"))?;
            repeated(tx.conn(), &session, &known, found.body_digest).await
        }
        (SuggestionState::Declined, Decision::Decline) => Ok(Outcome::Suggested(found.state)),
        (SuggestionState::Accepted | SuggestionState::Declined, _) => {
            Err(Error::NotNow("this suggestion has another decision already"))
        }
    }
}

async fn decline(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    session: &Session,
    (found, decision): (SuggestionRecord, &SuggestionDecision),
    minter: &Minter,
) -> Result<Outcome> {
    let (caller, at) = (scope.caller.to_string(), minter.at());
    let by = (caller.as_str(), at, decision.reason.as_deref());
    store::canvas::decide_suggestion(tx, key(session), &found.op_id, SuggestionState::Declined, by).await?;
    // An accepted one is an event of the log.
    let act = Act::new(Kind::CanvasSuggestionDeclined, scope.caller, at).on(TargetKind::Session, session.id.0);
    act.with(json!({ "author": found.author })).record(tx, scope.tenant_id).await?;
    tx.counts_changed(scope.tenant_id);
    Ok(Outcome::Suggested(SuggestionState::Declined))
}

async fn accept(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    (session, canvas): (Session, CanvasRecord),
    (found, decision): (SuggestionRecord, &SuggestionDecision),
    minter: Minter,
) -> Result<Outcome> {
    if session.status().is_final() {
        return Err(Refusal::AlreadyFinal { status: session.status() }.into());
    }
    require_room(&session)?;
    let place = key(&session);
    if store::canvas::patch(tx.conn(), place, &found.op_id).await?.is_some() {
        return Err(Error::IdConflict { detail: "a patch of this canvas has the id of this suggestion".into() });
    }
    if let Some(shown) = decision.shown {
        let current = preview(tx.conn(), (&session, &canvas), &found).await?.digest;
        if shown != current {
            return Err(Error::StaleDecision { current });
        }
    }
    let (op_id, digest, author) = (found.op_id.clone(), found.body_digest, found.author.clone());
    let (caller, at) = (scope.caller.to_string(), minter.at());
    let outcome = decided(tx, scope, (session, canvas), (patch_of(found)?, digest, author), minter).await?;
    if matches!(outcome, Outcome::Committed(_)) {
        let by = (caller.as_str(), at, decision.reason.as_deref());
        store::canvas::decide_suggestion(tx, place, &op_id, SuggestionState::Accepted, by).await?;
        tx.counts_changed(scope.tenant_id);
    }
    Ok(outcome)
}
