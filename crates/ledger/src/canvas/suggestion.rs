//! Suggestions: patches that wait until an editor accepts them.

use super::{
    find, find_locked, key,
    patch::{Outcome, decided, repeated, require_room},
    require_editor,
};
use crate::{Error, Ledger, Result, commit::Minter, guard::require};
use domain::{
    Scope,
    canvas::{Operation, Patch, SuggestionState},
    id::SessionId,
    limit::CANVAS_SUGGESTIONS_MAX,
    role::Permission,
    session::Refusal,
};
use store::{SuggestionRecord, WriteTx};

/// Decision of an editor about a suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is applied to the document as it is now.
    Accept,
    /// It is not applied.
    Decline,
}

/// Returns the suggestions of a canvas that wait for a decision, oldest first.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas.
pub async fn suggestions(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Vec<SuggestionRecord>> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let session = store::session::find(conn, reader.tenant_id, id).await?;
        let (session, _) = find(conn, &reader, session).await?;
        Ok(store::canvas::open_suggestions(conn, key(&session), CANVAS_SUGGESTIONS_MAX).await?)
    });
    read.await
}

/// Accepts or declines a suggestion. A suggestion that is accepted is decided as a patch of its author: if it is
/// rejected, it stays open. A repeat returns the recorded result.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas or suggestion; [`Error::Forbidden`] if the caller may not change the
/// canvas; [`Error::Refused`] if the canvas has ended; [`Error::NotNow`] for another decision than the recorded one;
/// [`Error::IdConflict`] if an accepted patch has the same id; [`Error::LimitReached`] if the log is full.
pub async fn decide_suggestion(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    op_id: String,
    decision: Decision,
) -> Result<Outcome> {
    require(scope, Permission::StartSession)?;
    let (caller, minter) = (*scope, Minter::new(ledger, ledger.now()));
    let written =
        ledger.write(scope.into(), async move |tx| settle(tx, &caller, id, (op_id.as_str(), decision), minter).await);
    written.await
}

async fn settle(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    id: SessionId,
    (op_id, decision): (&str, Decision),
    minter: Minter,
) -> Result<Outcome> {
    let (session, canvas) = find_locked(tx, scope, id).await?;
    require_editor(tx.conn(), scope, &session).await?;
    // PostgreSQL takes no text with this character.
    let found = match op_id.contains('\0') {
        true => None,
        false => store::canvas::suggestion(tx.conn(), key(&session), op_id).await?,
    };
    let found = found.ok_or(Error::NotFound("suggestion"))?;
    match (found.state, decision) {
        (SuggestionState::Open, _) => {}
        (SuggestionState::Accepted, Decision::Accept) => {
            let known = store::canvas::patch(tx.conn(), key(&session), op_id).await?;
            let known = known.ok_or(Error::NotFound("patch"))?;
            return repeated(tx.conn(), &session, &known, found.body_digest).await;
        }
        (SuggestionState::Declined, Decision::Decline) => return Ok(Outcome::Suggested(found.state)),
        (SuggestionState::Accepted | SuggestionState::Declined, _) => {
            return Err(Error::NotNow("this suggestion has another decision already"));
        }
    }
    let place = (key(&session), scope.caller.to_string(), minter.at());
    if decision == Decision::Decline {
        store::canvas::decide_suggestion(tx, place.0, op_id, SuggestionState::Declined, (place.1.as_str(), place.2))
            .await?;
        return Ok(Outcome::Suggested(SuggestionState::Declined));
    }
    if session.status().is_final() {
        return Err(Refusal::AlreadyFinal { status: session.status() }.into());
    }
    require_room(&session)?;
    if store::canvas::patch(tx.conn(), place.0, op_id).await?.is_some() {
        return Err(Error::IdConflict { detail: "a patch of this canvas has the id of this suggestion".into() });
    }
    let digest = found.body_digest;
    let author = found.author.clone();
    let outcome = decided(tx, scope, (session, canvas), (patch_of(found)?, digest, author), minter).await?;
    if matches!(outcome, Outcome::Committed(_)) {
        store::canvas::decide_suggestion(tx, place.0, op_id, SuggestionState::Accepted, (place.1.as_str(), place.2))
            .await?;
    }
    Ok(outcome)
}

/// The patch of a suggestion.
fn patch_of(found: SuggestionRecord) -> Result<Patch> {
    let ops: Vec<Operation> = serde_json::from_str(&found.ops).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(Patch { op_id: found.op_id, base: found.base, ops, is_strict: found.is_strict != 0 })
}
