//! What a card would change, shown before it is given to its agent. The bytes are kept for an hour, so that the person
//! does not choose the file again.

use super::{
    card::{CARDS, UploadedCard, parse, ready, unpack},
    check_agent,
    diff::{DiffLine, compare},
    origin::redacted,
};
use crate::{Error, Ledger, MemoryDocumentRecord, Result, guard::require_for};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    chain::Digest,
    id::TenantId,
    limit::{MEMORY_CARD_BYTES_MAX, MEMORY_CARD_DRAFT_MINUTES_MAX, PAGE_MAX},
    memory::{Card, CardFormat, Folder, MemoryPath, Source, check_text},
    role::Permission,
};
use sha2::{Digest as _, Sha256};
use store::{
    Conn, WriteTx,
    memory::{CardDraft, DocumentFilter},
};

/// Documents that a card would change.
#[derive(Debug, Clone, PartialEq)]
pub struct CardPreview {
    /// Name of the character.
    pub name: String,
    /// SHA-256 of the bytes, by which [`apply_card`] recognises the previewed card.
    pub digest: Digest,
    /// Digest of the versions that `changes` begins from, by which [`apply_card`] knows that they are still the newest.
    pub base: Digest,
    /// Whether the agent has this card already.
    pub is_same: bool,
    /// Documents that would have a new version or be deleted, by path.
    pub changes: Vec<CardChange>,
}

/// What a card would do to one document.
#[derive(Debug, Clone, PartialEq)]
pub struct CardChange {
    /// Path of the document.
    pub path: String,
    /// What would happen to it.
    pub kind: CardChangeKind,
    /// Its lines before and after.
    pub lines: Vec<DiffLine>,
}

/// What happens to a document of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardChangeKind {
    /// There is no document at the path yet.
    Made,
    /// It gets a new version.
    Changed,
    /// It is deleted, because the card has no such field any more.
    Deleted,
}

/// What became of a card that the caller saw in a preview.
#[derive(Debug, Clone, PartialEq)]
pub enum AppliedCard {
    /// The agent has it.
    Applied(UploadedCard),
    /// Nothing was changed, because documents have changed since the preview. What the card would change now.
    Moved(CardPreview),
}

/// Checks a card, keeps it for [`apply_card`], and returns what it would change. The agent is not changed.
///
/// # Errors
/// As [`super::overwrite_card`].
pub async fn preview_card(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    format: CardFormat,
    original: Vec<u8>,
) -> Result<CardPreview> {
    require_for(scope, Permission::ManageActions, CARDS)?;
    check_agent(agent)?;
    if original.len() > MEMORY_CARD_BYTES_MAX {
        return Err(Error::TooLarge(format!("a card has at most {MEMORY_CARD_BYTES_MAX} bytes")));
    }
    let card = parse(format, &original)?;
    for (path, text) in &card.documents {
        check_text(text).map_err(|why| Error::invalid("card", format!("{path}: {why}")))?;
    }
    let digest = Digest(Sha256::digest(&original).into());
    let draft = CardDraft { format, original, digest };
    let (tenant_id, author, now) = (scope.tenant_id, scope.caller.to_string(), ledger.now());
    let agent = agent.to_owned();
    let kept = ledger.write(scope.into(), async move |tx| {
        store::memory::expire_card_drafts(tx, tenant_id, now - lifetime()).await?;
        let preview = preview(tx.conn(), tenant_id, &agent, &card, digest).await?;
        if !preview.is_same {
            store::memory::save_card_draft(tx, tenant_id, (&agent, &author), &draft, now).await?;
        }
        Ok(preview)
    });
    kept.await
}

/// Gives an agent the card that the caller saw in the preview, given by its `digest` and its `base`. It writes over
/// what people wrote, because the preview showed it; unless a document has changed since.
///
/// # Errors
/// [`Error::Invalid`] for the field `card` if the preview is more than an hour old, or if the caller has previewed
/// another card since; otherwise as [`super::overwrite_card`].
pub async fn apply_card(ledger: &Ledger, scope: &Scope, agent: &str, digest: &str, base: &str) -> Result<AppliedCard> {
    require_for(scope, Permission::ManageActions, CARDS)?;
    check_agent(agent)?;
    let (tenant_id, author, now) = (scope.tenant_id, scope.caller.to_string(), ledger.now());
    let (of, by) = (agent.to_owned(), author.clone());
    let found = ledger.snapshot(scope, async move |conn| {
        Ok(store::memory::card_draft(conn, tenant_id, (&of, &by), now - lifetime()).await?)
    });
    let draft = found.await?.filter(|draft| draft.digest.to_string() == digest);
    let draft = draft.ok_or_else(|| Error::invalid("card", "the preview is over; choose the file again"))?;
    let digest = draft.digest;
    let ready = ready(ledger, scope, agent, draft.format, draft.original)?;
    let (agent, shown) = (agent.to_owned(), base.to_owned());
    let applied = ledger.write(scope.into(), async move |tx| {
        store::memory::lock_agent(tx, tenant_id, &agent, now).await?;
        if versions(tx.conn(), tenant_id, &agent, &ready.card).await?.to_string() != shown {
            let preview = preview(tx.conn(), tenant_id, &agent, &ready.card, digest).await?;
            return Ok(AppliedCard::Moved(preview));
        }
        let (uploaded, _) = unpack(tx, tenant_id, agent.clone(), ready).await?;
        store::memory::drop_card_draft(tx, tenant_id, (&agent, &author)).await?;
        Ok(AppliedCard::Applied(uploaded))
    });
    applied.await
}

/// Removes the cards of abandoned previews of all workspaces: those that are too old for [`apply_card`].
pub(crate) async fn expire_previews(tx: &mut WriteTx<'_>, now: Timestamp) -> Result<()> {
    Ok(store::memory::expire_all_card_drafts(tx, now - lifetime()).await?)
}

fn lifetime() -> TimeDelta {
    TimeDelta::minutes(i64::from(MEMORY_CARD_DRAFT_MINUTES_MAX))
}

async fn preview(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    card: &Card,
    digest: Digest,
) -> Result<CardPreview> {
    let base = versions(conn, tenant_id, agent, card).await?;
    let current = store::memory::card(conn, tenant_id, agent).await?;
    let is_same = current.is_some_and(|current| current.digest == digest);
    let mut changes = Vec::new();
    if !is_same {
        for (path, text) in &card.documents {
            let (text, _) = redacted(text.clone(), Vec::new())?;
            let before = text_at(conn, tenant_id, agent, path).await?;
            if before.as_ref() != Some(&text) {
                let kind = if before.is_some() { CardChangeKind::Changed } else { CardChangeKind::Made };
                let lines = compare(&before.unwrap_or_default(), &text);
                changes.push(CardChange { path: path.to_string(), kind, lines });
            }
        }
        for (path, gone) in lacked(conn, tenant_id, agent, card).await? {
            let before = text_at(conn, tenant_id, agent, &path).await?.unwrap_or_default();
            let lines = compare(&before, "");
            changes.push(CardChange { path: gone.path, kind: CardChangeKind::Deleted, lines });
        }
        changes.sort_by(|one, other| one.path.cmp(&other.path));
    }
    Ok(CardPreview { name: card.name.clone(), digest, base, is_same, changes })
}

/// The documents of the last card that a card deletes, because it has no such field.
async fn lacked(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    card: &Card,
) -> Result<Vec<(MemoryPath, MemoryDocumentRecord)>> {
    let kept: Vec<String> = card.documents.iter().map(|(path, _)| path.folded()).collect();
    let listed = store::memory::list(conn, tenant_id, agent, &DocumentFilter::of(Folder::Own), None, PAGE_MAX).await?;
    let listed = listed.items.into_iter().filter(|document| document.source == Source::Card);
    let listed = listed.filter_map(|document| Some((MemoryPath::parse(&document.path).ok()?, document)));
    Ok(listed.filter(|(path, _)| !kept.contains(&path.folded())).collect())
}

/// Digest of the versions of the documents that a card writes or deletes.
async fn versions(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, card: &Card) -> Result<Digest> {
    let mut all = String::new();
    for (path, _) in &card.documents {
        let found = store::memory::find_by_path(conn, tenant_id, agent, path).await?;
        let found = found.map(|found| format!("{} {}", found.id, found.version)).unwrap_or_default();
        all.push_str(&format!("{path} {found}\n"));
    }
    for (path, gone) in lacked(conn, tenant_id, agent, card).await? {
        all.push_str(&format!("{path} {} {}\n", gone.id, gone.version));
    }
    Ok(Digest(Sha256::digest(all).into()))
}

/// The text of a document that is not deleted.
async fn text_at(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, path: &MemoryPath) -> Result<Option<String>> {
    let found = store::memory::find_by_path(conn, tenant_id, agent, path).await?.filter(|found| !found.is_deleted);
    let Some(found) = found else { return Ok(None) };
    let text = store::memory::text(conn, tenant_id, found.id, found.version).await?;
    Ok(text.map(|text| text.document.to_text()))
}
