//! The character card of an agent: kept as it was uploaded, and unpacked to documents below `self/`.

use super::{
    card_png::json_of,
    check_agent,
    write::{Attribution, NewState, NewVersion, Stamp, put, write_on},
};
use crate::{
    CardRecord, Error, Ledger, Result,
    guard::{require, require_for},
};
use domain::{
    Scope,
    chain::Digest,
    id::{CardId, TenantId, v7_after},
    limit::{MEMORY_CARD_BYTES_MAX, PAGE_MAX},
    memory::{Card, CardFormat, Folder, MemoryPath, Operation, Source, read_card},
    role::Permission,
};
use sha2::{Digest as _, Sha256};
use store::{WriteTx, memory::DocumentFilter};

/// Why others are refused.
pub(super) const CARDS: &str = "only operators and admins can give an agent a character card";
/// Why documents of a card were written.
const REASON: &str = "From the character card.";

/// A card that was uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadedCard {
    /// The card in use.
    pub card: CardRecord,
    /// Whether it is another one than before.
    pub is_new: bool,
    /// Paths of the documents that have new versions.
    pub changed: Vec<String>,
}

/// Gives an agent a card. Its bytes are kept unmodified; its fields become new versions of `self/*.md`. Documents of
/// fields that the card does not have any more are deleted. The same card again changes nothing.
///
/// # Errors
/// [`Error::NotFound`] if `agent` is not a slug; [`Error::TooLarge`] for too many bytes; [`Error::Invalid`] for the
/// field `card` with the reason, or for a field that cannot be a document; [`Error::LimitReached`] for a full memory;
/// [`Error::CardOverwrites`] if a document that it would change was changed otherwise since the last card.
pub async fn upload_card(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    format: CardFormat,
    original: Vec<u8>,
) -> Result<UploadedCard> {
    give(ledger, scope, agent, format, original, false).await
}

/// Gives an agent a card as [`upload_card`] does, and writes over documents that were changed otherwise since the last
/// card.
///
/// # Errors
/// As [`upload_card`], without [`Error::CardOverwrites`].
pub async fn overwrite_card(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    format: CardFormat,
    original: Vec<u8>,
) -> Result<UploadedCard> {
    give(ledger, scope, agent, format, original, true).await
}

async fn give(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    format: CardFormat,
    original: Vec<u8>,
    overwrite: bool,
) -> Result<UploadedCard> {
    let ready = ready(ledger, scope, agent, format, original)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let uploaded = ledger.write(scope.into(), async move |tx| {
        let (uploaded, edited) = unpack(tx, tenant_id, agent, ready).await?;
        if overwrite || edited.is_empty() { Ok(uploaded) } else { Err(Error::CardOverwrites(edited)) }
    });
    uploaded.await
}

/// A card that was read, with what writing it needs.
pub(super) struct ReadyCard {
    /// Its fields.
    pub(super) card: Card,
    record: CardRecord,
    original: Vec<u8>,
    /// One for each document that is written, and for each that may be deleted.
    stamps: Vec<Stamp>,
}

/// Checks that the caller may give an agent a card, and reads the card.
///
/// # Errors
/// [`Error::NotFound`] if `agent` is not a slug; [`Error::TooLarge`] for too many bytes; [`Error::Invalid`] for the
/// field `card` with the reason.
pub(super) fn ready(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    format: CardFormat,
    original: Vec<u8>,
) -> Result<ReadyCard> {
    require_for(scope, Permission::ManageActions, CARDS)?;
    check_agent(agent)?;
    if original.len() > MEMORY_CARD_BYTES_MAX {
        return Err(Error::TooLarge(format!("a card has at most {MEMORY_CARD_BYTES_MAX} bytes")));
    }
    let card = parse(format, &original)?;
    let now = ledger.now();
    let record = CardRecord {
        id: CardId::new(now, ledger.entropy()),
        format,
        digest: Digest(Sha256::digest(&original).into()),
        name: card.name.clone(),
        author: scope.caller.to_string(),
        created_at: now,
    };
    let stamps = (0..card.documents.len() + PAGE_MAX as usize).map(|_| Stamp::new(ledger)).collect();
    Ok(ReadyCard { card, record, original, stamps })
}

/// Reads a card from its bytes.
///
/// # Errors
/// [`Error::Invalid`] for the field `card` with the reason.
pub(super) fn parse(format: CardFormat, original: &[u8]) -> Result<Card> {
    let refused = |why: domain::memory::BadCard| Error::invalid("card", why.to_string());
    let not_utf8 = |_| Error::invalid("card", "the card is not UTF-8");
    match format {
        CardFormat::Png => read_card(&json_of(original).map_err(refused)?).map_err(refused),
        CardFormat::Json => read_card(std::str::from_utf8(original).map_err(not_utf8)?).map_err(refused),
    }
}

/// Keeps the card and writes its documents. Returns also the paths of those that were changed otherwise since the last
/// card.
pub(super) async fn unpack(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: String,
    ready: ReadyCard,
) -> Result<(UploadedCard, Vec<String>)> {
    let ReadyCard { card, mut record, original, stamps } = ready;
    store::memory::lock_agent(tx, tenant_id, &agent, record.created_at).await?;
    let before = store::memory::card(tx.conn(), tenant_id, &agent).await?;
    if let Some(before) = before {
        if before.digest == record.digest {
            return Ok((UploadedCard { card: before, is_new: false, changed: Vec::new() }, Vec::new()));
        }
        // The card with the largest id is in use.
        record.id = CardId(v7_after(record.id.0, before.id.0));
    }
    store::memory::insert_card(tx, tenant_id, &agent, &record, &original).await?;
    let mut stamps = stamps.into_iter();
    let (mut changed, mut edited) = (Vec::new(), Vec::new());
    let kept: Vec<String> = card.documents.iter().map(|(path, _)| path.folded()).collect();
    for (path, text) in card.documents {
        let Some(stamp) = stamps.next() else { break };
        let found = store::memory::find_by_path(tx.conn(), tenant_id, &agent, &path).await?;
        let is_edited = found.as_ref().is_some_and(|found| !found.is_deleted && found.source != Source::Card);
        let new = NewVersion {
            agent: agent.clone(),
            path: path.clone(),
            base_version: found.map_or(0, |found| found.version),
            text,
            source: Source::Card,
            author: record.author.clone(),
            reason: REASON.to_owned(),
            evidence: Vec::new(),
        };
        let written = write_on(tx, tenant_id, stamp, new).await.map_err(|error| in_document(error, &path))?;
        if written.is_new {
            if is_edited {
                edited.push(written.document.path.clone());
            }
            changed.push(written.document.path);
        }
    }
    let listed =
        store::memory::list(tx.conn(), tenant_id, &agent, &DocumentFilter::of(Folder::Own), None, PAGE_MAX).await?;
    for gone in listed.items.into_iter().filter(|document| document.source == Source::Card) {
        let Ok(path) = MemoryPath::parse(&gone.path) else { continue };
        let Some(stamp) = stamps.next().filter(|_| !kept.contains(&path.folded())) else { continue };
        let mut totals = store::memory::lock_agent(tx, tenant_id, &agent, stamp.at).await?;
        totals.documents = totals.documents.saturating_sub(1);
        totals.bytes = totals.bytes.saturating_sub(gone.bytes);
        let stamp = stamp.after(&mut totals);
        changed.push(gone.path.clone());
        let by = Attribution {
            agent: agent.clone(),
            source: Source::Card,
            author: record.author.clone(),
            reason: REASON.to_owned(),
        };
        let operation = Operation::Deleted;
        let next = NewState { operation, path, text: String::new(), evidence: Vec::new(), is_deleted: true };
        put(tx, tenant_id, stamp, Some(gone), next, by).await?;
        store::memory::save_agent(tx, tenant_id, &totals).await?;
    }
    Ok((UploadedCard { card: record, is_new: true, changed }, edited))
}

/// Says in which document of the card a text cannot be kept.
fn in_document(error: Error, path: &MemoryPath) -> Error {
    match error {
        Error::Invalid(issues) => {
            let detail = issues.into_iter().map(|issue| issue.message).collect::<Vec<_>>().join("; ");
            Error::invalid("card", format!("{path}: {detail}"))
        }
        other => other,
    }
}

/// Returns the card of an agent; `None` if it has none.
///
/// # Errors
/// [`Error::NotFound`] if `agent` is not a slug.
pub async fn card(ledger: &Ledger, scope: &Scope, agent: &str) -> Result<Option<CardRecord>> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let read = ledger.snapshot(scope, async move |conn| Ok(store::memory::card(conn, tenant_id, &agent).await?));
    read.await
}

/// Returns the card of an agent with its bytes as they were uploaded.
///
/// # Errors
/// [`Error::NotFound`] if the agent has no card.
pub async fn original_card(ledger: &Ledger, scope: &Scope, agent: &str) -> Result<(CardRecord, Vec<u8>)> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let missing = || Error::NotFound("character card");
        let card = store::memory::card(conn, tenant_id, &agent).await?.ok_or_else(missing)?;
        let bytes = store::memory::original(conn, tenant_id, &agent, card.id).await?.ok_or_else(missing)?;
        Ok((card, bytes))
    });
    read.await
}
