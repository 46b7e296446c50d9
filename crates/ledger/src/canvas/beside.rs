//! What the page of a canvas shows beside the document.

use super::{
    find, key,
    preview::{ShownSuggestion, with_digests},
};
use crate::{Ledger, Result, guard::require};
use domain::{
    Scope,
    canvas::SuggestionState,
    id::SessionId,
    limit::{CANVAS_DECLINED_MAX, CANVAS_PARTICIPANTS_MAX, CANVAS_SUGGESTIONS_MAX},
    role::Permission,
};
use store::{ParticipantRecord, SuggestionRecord};

/// Suggestions and participants of a canvas.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Beside {
    /// Suggestions that wait for a decision, oldest first, at most [`CANVAS_SUGGESTIONS_MAX`].
    pub suggestions: Vec<ShownSuggestion>,
    /// Suggestions of the reader that were declined, each with the reason. The newest decision comes first. At most
    /// [`CANVAS_DECLINED_MAX`].
    pub declined: Vec<SuggestionRecord>,
    /// Those who were added to the canvas.
    pub participants: Vec<ParticipantRecord>,
}

impl Beside {
    /// Whether there is nothing: the creator is alone on the canvas.
    pub fn is_empty(&self) -> bool {
        self.suggestions.is_empty() && self.declined.is_empty() && self.participants.is_empty()
    }
}

/// Returns the suggestions and the participants of a canvas.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) if there is no such canvas.
pub async fn beside(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Beside> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let session = store::session::find(conn, reader.tenant_id, id).await?;
        let (session, canvas) = find(conn, &reader, session).await?;
        let (place, author) = (key(&session), reader.caller.to_string());
        let open = store::canvas::suggestions(conn, place, SuggestionState::Open, CANVAS_SUGGESTIONS_MAX).await?;
        Ok(Beside {
            suggestions: with_digests(conn, &reader, (&session, &canvas), open).await?,
            declined: store::canvas::declined(conn, place, &author, CANVAS_DECLINED_MAX).await?,
            participants: store::canvas::participants(conn, place, CANVAS_PARTICIPANTS_MAX).await?,
        })
    });
    read.await
}
