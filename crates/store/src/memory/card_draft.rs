//! Rows of `memory_card_drafts`: cards that were uploaded for a preview and not yet given to their agent.

use super::card::card_format;
use crate::{
    engine::{Conn, Error, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{Timestamp, chain::Digest, clock::to_micros, id::TenantId, memory::CardFormat};

statements! {
    const SAVE: &str = "INSERT INTO memory_card_drafts (tenant_id, agent, author, media_type, original, digest, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant_id, agent, author) DO UPDATE SET \
         media_type = excluded.media_type, original = excluded.original, digest = excluded.digest, \
         created_at = excluded.created_at";
    const FIND: &str = "SELECT media_type, original, digest FROM memory_card_drafts \
         WHERE tenant_id = $1 AND agent = $2 AND author = $3 AND created_at > $4";
    const DROP: &str = "DELETE FROM memory_card_drafts WHERE tenant_id = $1 AND agent = $2 AND author = $3";
    const EXPIRE: &str = "DELETE FROM memory_card_drafts WHERE tenant_id = $1 AND created_at <= $2";
    const EXPIRE_ALL: &str = "DELETE FROM memory_card_drafts WHERE created_at <= $1";
}

/// A card in preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardDraft {
    /// Format of the file.
    pub format: CardFormat,
    /// The bytes as they were uploaded.
    pub original: Vec<u8>,
    /// SHA-256 of the bytes.
    pub digest: Digest,
}

record! {
    struct Row of "memory_card_drafts" {
        media_type: String,
        original: Vec<u8>,
        digest: Vec<u8>,
    }
}

/// Keeps a draft, in place of the one that the author had for this agent.
pub async fn save_card_draft(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (agent, author): (&str, &str),
    draft: &CardDraft,
    at: Timestamp,
) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        SAVE,
        tenant_id.0,
        agent,
        author,
        draft.format.as_str(),
        draft.original.clone(),
        draft.digest.0.to_vec(),
        to_micros(at),
    )?;
    Ok(())
}

/// The author's draft for an agent, if it was kept after `since`.
pub async fn card_draft(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (agent, author): (&str, &str),
    since: Timestamp,
) -> Result<Option<CardDraft>> {
    let Some(row) = run!(conn, fetch_optional Row, FIND, tenant_id.0, agent, author, to_micros(since))? else {
        return Ok(None);
    };
    let digest = Digest::from_slice(&row.digest);
    let digest = digest.ok_or_else(|| Error::inconsistent("memory_card_drafts", "digest", row.digest.len()))?;
    let format = card_format("memory_card_drafts", &row.media_type)?;
    Ok(Some(CardDraft { format, original: row.original, digest }))
}

/// Removes the author's draft for an agent.
pub async fn drop_card_draft(tx: &mut WriteTx<'_>, tenant_id: TenantId, (agent, author): (&str, &str)) -> Result<()> {
    run!(tx.conn(), execute, DROP, tenant_id.0, agent, author)?;
    Ok(())
}

/// Removes drafts of the workspace that were kept at `until` or before.
pub async fn expire_card_drafts(tx: &mut WriteTx<'_>, tenant_id: TenantId, until: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, EXPIRE, tenant_id.0, to_micros(until))?;
    Ok(())
}

/// Removes drafts of all workspaces that were kept at `until` or before.
pub async fn expire_all_card_drafts(tx: &mut WriteTx<'_>, until: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, EXPIRE_ALL, to_micros(until))?;
    Ok(())
}
