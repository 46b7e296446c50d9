//! What a suggestion would change, for those who decide about it.

use super::{
    document::unreadable,
    patch::{Verdict, since, verdict_after},
};
use crate::{Error, Result, visibility::canvas_role};
use domain::{
    Scope,
    canvas::{Committed, Document, Operation, ParticipantRole, Patch, SuggestionState},
    chain::{Digest, body_digest},
    session::Session,
};
use serde_json::json;
use std::collections::BTreeSet;
use store::{CanvasRecord, Conn, SuggestionRecord};

/// What a suggestion would change now.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// The newest document.
    pub before: Document,
    /// The document if the suggestion is accepted, or why it would be rejected.
    pub verdict: Verdict,
    /// Identifies the suggestion, the values that it writes, and the values that are there now.
    pub digest: Digest,
}

/// What a suggestion would change now.
pub(super) async fn preview(
    conn: &mut Conn<'_>,
    (session, canvas): (&Session, &CanvasRecord),
    record: &SuggestionRecord,
) -> Result<Preview> {
    let newest = Newest::read(conn, session, canvas, BTreeSet::from([record.base])).await?;
    newest.preview(conn, record).await
}

/// The newest version of a canvas, with what suggestions for it are compared with.
pub(super) struct Newest<'a> {
    pub(super) session: &'a Session,
    canvas: &'a CanvasRecord,
    document: Document,
    patches: PatchesAfter,
}

impl<'a> Newest<'a> {
    /// Reads what is needed for suggestions with these bases.
    pub(super) async fn read(
        conn: &mut Conn<'_>,
        session: &'a Session,
        canvas: &'a CanvasRecord,
        bases: BTreeSet<u64>,
    ) -> Result<Self> {
        let document = Document::read(&canvas.document).ok_or_else(|| unreadable(canvas.version))?;
        let patches = PatchesAfter::read(conn, session, canvas.version, bases).await?;
        Ok(Self { session, canvas, document, patches })
    }

    /// What a suggestion with one of the bases would change now.
    pub(super) async fn preview(&self, conn: &mut Conn<'_>, record: &SuggestionRecord) -> Result<Preview> {
        let verdict = self.verdict(conn, record).await?;
        let digest = digest_of_change(&self.document, record, &verdict);
        Ok(Preview { before: self.document.clone(), verdict, digest })
    }

    async fn verdict(&self, conn: &mut Conn<'_>, record: &SuggestionRecord) -> Result<Verdict> {
        let (patch, since) = (patch_of(record.clone())?, self.patches.after(record.base));
        verdict_after(conn, (self.session, self.canvas, &self.document), (&patch, &record.author), since).await
    }
}

/// A suggestion with the digest of what it would change now.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownSuggestion {
    /// Who suggests what, and what became of it.
    pub record: SuggestionRecord,
    /// See [`Preview::digest`]. `None` if it does not wait, or if the reader may not decide about it.
    pub digest: Option<Digest>,
}

/// These suggestions with their digests, if the reader may decide about them.
pub(super) async fn with_digests(
    conn: &mut Conn<'_>,
    scope: &Scope,
    (session, canvas): (&Session, &CanvasRecord),
    records: Vec<SuggestionRecord>,
) -> Result<Vec<ShownSuggestion>> {
    let may_decide = !session.status().is_final()
        && records.iter().any(|record| record.state == SuggestionState::Open)
        && canvas_role(conn, scope, session).await? == Some(ParticipantRole::Edit);
    if !may_decide {
        return Ok(records.into_iter().map(|record| ShownSuggestion { record, digest: None }).collect());
    }
    let open = records.iter().filter(|record| record.state == SuggestionState::Open);
    let newest = Newest::read(conn, session, canvas, open.map(|record| record.base).collect()).await?;
    let mut shown = Vec::with_capacity(records.len());
    for record in records {
        let digest = match record.state {
            SuggestionState::Open => {
                let verdict = newest.verdict(conn, &record).await?;
                Some(digest_of_change(&newest.document, &record, &verdict))
            }
            SuggestionState::Accepted | SuggestionState::Declined => None,
        };
        shown.push(ShownSuggestion { record, digest });
    }
    Ok(shown)
}

/// The patches after the bases of several suggestions.
struct PatchesAfter {
    /// The oldest base after which there are not too many patches to compare; `None` if there is no such base.
    oldest: Option<u64>,
    /// The patches after it, oldest first.
    patches: Vec<Committed>,
}

impl PatchesAfter {
    /// Reads them. The number of queries hardly depends on the number of bases: after a later base there are never more
    /// patches than after an earlier one, so the oldest base with few enough is found by halves.
    async fn read(conn: &mut Conn<'_>, session: &Session, head: u64, bases: BTreeSet<u64>) -> Result<Self> {
        let bases: Vec<u64> = bases.into_iter().collect();
        let (mut low, mut high, mut patches) = (0, bases.len(), Vec::new());
        // Nearly always there are few enough after all of them.
        let mut at = 0;
        while low < high {
            match since(conn, session, bases[at], head).await? {
                Some(found) => (high, patches) = (at, found),
                None => low = at + 1,
            }
            at = usize::midpoint(low, high);
        }
        Ok(Self { oldest: bases.get(high).copied(), patches })
    }

    /// The patches after one of the bases; `None` if there are too many to compare.
    fn after(&self, base: u64) -> Option<&[Committed]> {
        self.oldest.filter(|oldest| *oldest <= base)?;
        self.patches.get(self.patches.partition_point(|patch| patch.sequence <= base)..)
    }
}

/// The digest of what a suggestion would change now.
fn digest_of_change(before: &Document, record: &SuggestionRecord, verdict: &Verdict) -> Digest {
    match verdict {
        Ok(accepted) => {
            let now: Vec<_> = accepted.ops.iter().map(|op| op.path().of(before.value())).collect();
            body_digest(&json!([record.op_id, accepted.ops]).to_string(), &json!(now).to_string())
        }
        Err((why, _)) => body_digest(&json!([record.op_id]).to_string(), why.reason.as_str()),
    }
}

/// The patch of a suggestion.
pub(super) fn patch_of(found: SuggestionRecord) -> Result<Patch> {
    let ops: Vec<Operation> = serde_json::from_str(&found.ops).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(Patch { op_id: found.op_id, base: found.base, ops, is_strict: found.is_strict != 0 })
}
