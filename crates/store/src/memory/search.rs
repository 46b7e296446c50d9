//! The full-text index of memory documents: FTS5 on SQLite, tsvector on PostgreSQL.
//!
//! Both index the words of [`domain::memory::terms`]. The engine chooses the candidates by its own rank, and
//! [`domain::memory::rank`] orders them.

use super::document::{MemoryDocumentRecord, Row};
use crate::{
    engine::{Conn, Error, Result, Texts, row, run},
    transaction::WriteTx,
};
use domain::{
    id::{MemoryDocumentId, TenantId},
    memory::Document,
};
use uuid::Uuid;

macro_rules! found_select {
    ($from:literal) => {
        concat!(
            "SELECT d.id, d.agent, d.path, d.version, d.digest, d.bytes, d.is_deleted, d.created_at, d.updated_at, \
             v.source, v.author, v.front_matter, v.body FROM (",
            $from,
            ") f JOIN memory_documents d ON d.tenant_id = f.tenant_id AND d.id = f.document_id \
             JOIN memory_versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version \
             WHERE d.is_deleted = 0"
        )
    };
}

const SEARCH_SQLITE: &str = found_select!(
    "SELECT r.tenant_id, r.document_id FROM memory_search JOIN memory_search_rows r ON r.search_id = memory_search.rowid \
     WHERE memory_search MATCH $2 AND r.tenant_id = $1 ORDER BY memory_search.rank LIMIT $3"
);
const SEARCH_POSTGRES: &str = found_select!(
    "SELECT m.tenant_id, m.document_id FROM memory_search m, to_tsquery('simple', $3) q \
     WHERE m.tenant_id = $1 AND (m.agent = $2 OR $2 IS NULL) AND m.terms @@ q \
     ORDER BY ts_rank_cd(m.terms, q) DESC, m.document_id LIMIT $4"
);
const ADD_ROW_SQLITE: &str = "INSERT INTO memory_search_rows (tenant_id, document_id) VALUES ($1, $2) \
     ON CONFLICT (tenant_id, document_id) DO NOTHING";
const ROW_SQLITE: &str = "SELECT search_id FROM memory_search_rows WHERE tenant_id = $1 AND document_id = $2";
const INDEX_SQLITE: &str = "INSERT OR REPLACE INTO memory_search (rowid, scope, terms) VALUES ($1, $2, $3)";
const UNINDEX_SQLITE: &str = "DELETE FROM memory_search WHERE rowid = $1";
const INDEX_POSTGRES: &str = "INSERT INTO memory_search (tenant_id, document_id, agent, terms) \
     VALUES ($1, $2, $3, to_tsvector('simple', $4)) \
     ON CONFLICT (tenant_id, document_id) DO UPDATE SET agent = excluded.agent, terms = excluded.terms";
const UNINDEX_POSTGRES: &str = "DELETE FROM memory_search WHERE tenant_id = $1 AND document_id = $2";

pub(crate) const SQLITE_SQL: Texts = &[
    ("memory::search::SEARCH_SQLITE", SEARCH_SQLITE),
    ("memory::search::ADD_ROW_SQLITE", ADD_ROW_SQLITE),
    ("memory::search::ROW_SQLITE", ROW_SQLITE),
    ("memory::search::INDEX_SQLITE", INDEX_SQLITE),
    ("memory::search::UNINDEX_SQLITE", UNINDEX_SQLITE),
];
pub(crate) const POSTGRES_SQL: Texts = &[
    ("memory::search::SEARCH_POSTGRES", SEARCH_POSTGRES),
    ("memory::search::INDEX_POSTGRES", INDEX_POSTGRES),
    ("memory::search::UNINDEX_POSTGRES", UNINDEX_POSTGRES),
];

/// A document that a search found, with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDocument {
    /// The document.
    pub record: MemoryDocumentRecord,
    /// Its text.
    pub document: Document,
}

row! {
    struct FoundRow {
        id: Uuid,
        agent: String,
        path: String,
        version: i64,
        digest: Vec<u8>,
        bytes: i64,
        is_deleted: i64,
        created_at: i64,
        updated_at: i64,
        source: String,
        author: String,
        front_matter: Option<String>,
        body: String,
    }
}

impl TryFrom<FoundRow> for FoundDocument {
    type Error = Error;

    fn try_from(row: FoundRow) -> Result<Self> {
        let document = Document { front_matter: row.front_matter, body: row.body };
        let record = MemoryDocumentRecord::try_from(Row {
            id: row.id,
            agent: row.agent,
            path: row.path,
            version: row.version,
            digest: row.digest,
            bytes: row.bytes,
            is_deleted: row.is_deleted,
            created_at: row.created_at,
            updated_at: row.updated_at,
            source: row.source,
            author: row.author,
        })?;
        Ok(Self { record, document })
    }
}

type One<T> = (T,);

/// Words for a workspace and for an agent in it. A slug has letters that the tokenizer separates, so its bytes are
/// written as digits.
fn scope_words(tenant_id: TenantId, agent: Option<&str>) -> String {
    let tenant = tenant_id.0.simple();
    match agent {
        None => format!("t{tenant}"),
        Some(agent) => {
            let name: String = agent.bytes().map(|byte| format!("{byte:02x}")).collect();
            format!("a{tenant}x{name}")
        }
    }
}

/// Documents that have one of the words, best first by the engine's own rank, at most `limit`. `agent` bounds the
/// search to the documents of one agent.
pub async fn search(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    terms: &[String],
    limit: u32,
) -> Result<Vec<FoundDocument>> {
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let limit = i64::from(limit);
    let rows = match conn {
        Conn::Sqlite(c) => {
            let words: Vec<String> = terms.iter().map(|term| format!("\"{term}\"")).collect();
            let query = format!("scope : {} AND terms : ({})", scope_words(tenant_id, agent), words.join(" OR "));
            c.fetch_all::<FoundRow>(SEARCH_SQLITE, &[&tenant_id.0, &query, &limit])?
        }
        Conn::Postgres(c) => {
            let words: Vec<String> = terms.iter().map(|term| format!("'{term}'")).collect();
            let query = sqlx::query_as::<_, FoundRow>(SEARCH_POSTGRES).bind(tenant_id.0).bind(agent);
            query.bind(words.join(" | ")).bind(limit).fetch_all(&mut **c).await?
        }
    };
    rows.into_iter().map(FoundDocument::try_from).collect()
}

/// Indexes a document by its words, in place of those it had.
pub async fn index(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    id: MemoryDocumentId,
    terms: &[String],
) -> Result<()> {
    let words = terms.join(" ");
    match tx.conn() {
        Conn::Sqlite(c) => {
            let scope = format!("{} {}", scope_words(tenant_id, None), scope_words(tenant_id, Some(agent)));
            c.execute(ADD_ROW_SQLITE, &[&tenant_id.0, &id.0])?;
            let (row,) = c.fetch_one::<One<i64>>(ROW_SQLITE, &[&tenant_id.0, &id.0])?;
            c.execute(INDEX_SQLITE, &[&row, &scope, &words])?;
        }
        Conn::Postgres(c) => {
            let query = sqlx::query(INDEX_POSTGRES).bind(tenant_id.0).bind(id.0).bind(agent).bind(words);
            query.execute(&mut **c).await?;
        }
    }
    Ok(())
}

/// Takes a document out of the index.
pub async fn unindex(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: MemoryDocumentId) -> Result<()> {
    match tx.conn() {
        Conn::Sqlite(c) => {
            if let Some((row,)) = c.fetch_optional::<One<i64>>(ROW_SQLITE, &[&tenant_id.0, &id.0])? {
                c.execute(UNINDEX_SQLITE, &[&row])?;
            }
        }
        Conn::Postgres(_) => {
            run!(tx.conn(), execute, UNINDEX_POSTGRES, tenant_id.0, id.0)?;
        }
    }
    Ok(())
}
