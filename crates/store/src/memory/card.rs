//! Rows of `memory_cards`: character cards as they were uploaded.

use crate::{
    engine::{Conn, Error, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    chain::Digest,
    clock::to_micros,
    id::{CardId, TenantId},
    memory::CardFormat,
};

statements! {
    const NEWEST: &str = "SELECT id, media_type, digest, name, author, created_at FROM memory_cards \
         WHERE tenant_id = $1 AND agent = $2 ORDER BY id DESC LIMIT 1";
    const ORIGINAL: &str = "SELECT original FROM memory_cards WHERE tenant_id = $1 AND agent = $2 AND id = $3";
    const INSERT: &str = "INSERT INTO memory_cards (tenant_id, agent, id, media_type, original, digest, name, author, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
}

/// A character card, without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardRecord {
    /// Identifies the card. Newer cards have larger ids.
    pub id: CardId,
    /// Format of the file.
    pub format: CardFormat,
    /// SHA-256 of the original bytes.
    pub digest: Digest,
    /// Name of the character.
    pub name: String,
    /// Who uploaded it, as a caller is displayed, such as `user:…`.
    pub author: String,
    /// Time of the upload (UTC).
    pub created_at: Timestamp,
}

record! {
    struct Row of "memory_cards" {
        id: CardId,
        media_type: String,
        digest: Vec<u8>,
        name: String,
        author: String,
        created_at: Timestamp,
    }
}

/// The format of a file whose content type is stored in `table`.
pub(super) fn card_format(table: &str, media_type: &str) -> Result<CardFormat> {
    CardFormat::parse(media_type).ok_or_else(|| Error::inconsistent(table, "media_type", media_type))
}

/// The newest card of an agent.
pub async fn card(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str) -> Result<Option<CardRecord>> {
    let Some(row) = run!(conn, fetch_optional Row, NEWEST, tenant_id.0, agent)? else { return Ok(None) };
    let digest = Digest::from_slice(&row.digest);
    Ok(Some(CardRecord {
        id: row.id,
        digest: digest.ok_or_else(|| Error::inconsistent("memory_cards", "digest", row.digest.len()))?,
        format: card_format("memory_cards", &row.media_type)?,
        name: row.name,
        author: row.author,
        created_at: row.created_at,
    }))
}

type One<T> = (T,);

/// The bytes of a card as they were uploaded.
pub async fn original(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, id: CardId) -> Result<Option<Vec<u8>>> {
    Ok(run!(conn, fetch_optional One<Vec<u8>>, ORIGINAL, tenant_id.0, agent, id.0)?.map(|(bytes,)| bytes))
}

/// Adds a card. The caller holds the lock of the agent.
pub async fn insert_card(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    card: &CardRecord,
    original: &[u8],
) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        agent,
        card.id.0,
        card.format.as_str(),
        original.to_vec(),
        card.digest.0.to_vec(),
        card.name.as_str(),
        card.author.as_str(),
        to_micros(card.created_at),
    )?;
    Ok(())
}
