//! The full-text index of memory documents: FTS5 on SQLite, rows of words on PostgreSQL.
//!
//! Both index the words of [`domain::memory::terms`] and choose the same candidates: those with the largest sum of the
//! weights of their words, of equal ones the newest. The other forms of a word count together as one word that tells
//! less. [`domain::memory::rank`] orders the candidates.
//!
//! On SQLite each word has the number of its agent in front. A second word that names the agent would be in every
//! document, and FTS5 would read its whole list for each rare word.
//!
//! PostgreSQL has a B-tree over rows of agent, word and document, because row-level security lets the planner use an
//! index for leakproof operators only. Equality is one, the match operator of tsvector is not. The tsvector of a
//! document is the list of its words, by which they are taken out again.

use super::document::MemoryDocumentRecord;
use crate::{
    engine::{Conn, Error, Result, SqliteConnection, record, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    chain::Digest,
    id::{MemoryDocumentId, TenantId},
    memory::{Document, FORM_WORTH, MemoryPath, SearchWord, Source},
};
use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write,
};

macro_rules! found_select {
    ($with:literal, ($platform:literal, $channel:literal), $filter:literal, $($from:tt)+) => {
        concat!(
            $with,
            "SELECT d.id, d.agent, d.path, d.version, d.digest, d.bytes, d.is_deleted <> 0 AS is_deleted, d.created_at, d.updated_at, \
             v.source, v.author, v.front_matter, v.body, f.place, CAST(CASE WHEN EXISTS (SELECT 1 FROM memory_channels c \
             WHERE c.tenant_id = d.tenant_id AND c.document_id = d.id AND c.platform = ",
            $platform,
            " AND c.channel = ",
            $channel,
            ") THEN 1 ELSE 0 END AS bigint) AS is_of_channel, CAST(CASE WHEN EXISTS (SELECT 1 FROM memory_channels c \
             WHERE c.tenant_id = d.tenant_id AND c.document_id = d.id AND c.platform = 'shiftbook' \
             AND NOT (c.platform = COALESCE(",
            $platform,
            ", '') AND c.channel = COALESCE(",
            $channel,
            ", ''))) THEN 1 ELSE 0 END AS bigint) AS is_of_others FROM (",
            $($from)+,
            ") f JOIN memory_documents d ON d.tenant_id = f.tenant_id AND d.id = f.document_id \
             JOIN memory_versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version \
             WHERE d.is_deleted = 0 ",
            $filter,
            "ORDER BY f.place"
        )
    };
}
pub(super) use found_select;

/// The document of the agent `$2` at a path.
macro_rules! at_path {
    ($place:literal, $path:literal) => {
        concat!(
            "SELECT o.tenant_id, o.id AS document_id, ",
            $place,
            " AS place FROM memory_documents o \
             WHERE o.tenant_id = $1 AND o.agent = $2 AND o.is_deleted = 0 AND o.path_folded = ",
            $path
        )
    };
}

statements! {
    const DOCUMENTS_OF_AGENT_SQLITE: &str =
        "SELECT agent, documents FROM memory_agents WHERE tenant_id = $1 AND (agent = $2 OR $2 IS NULL) ORDER BY agent";
    const HITS_SQLITE: &str =
        "SELECT rowid AS search_id FROM memory_search WHERE memory_search MATCH $1 ORDER BY rowid DESC LIMIT $2";
    pub(super) const HOLDERS_SQLITE: &str =
        "SELECT COUNT(*) AS holders FROM (SELECT rowid FROM memory_search WHERE memory_search MATCH $1 LIMIT $2)";
    const HOLDERS_POSTGRES: &str = "SELECT (SELECT COUNT(*) FROM (SELECT m.document_id FROM memory_words m \
             WHERE m.tenant_id = $1 AND m.agent = $2 AND m.term = w.term LIMIT $4) h) AS holders \
         FROM unnest($3::text[]) WITH ORDINALITY AS w (term, number) ORDER BY w.number";
    const FOUND_SQLITE: &str = found_select!(
        "",
        ("$4", "$5"),
        "AND (d.agent = $3 OR $3 IS NULL) ",
        "SELECT r.tenant_id, r.document_id, j.key AS place FROM json_each($2) j \
         CROSS JOIN memory_search_rows r ON r.search_id = j.value WHERE r.tenant_id = $1"
    );
    const BESIDE_SQLITE: &str = found_select!("", ("$4", "$5"), "", at_path!("0", "$3"));
    // Each text of `$3` is a word, or the other forms of a word; `$9` is what it counts. The newest documents of each
    // word and agent come from the end of their part of the index. Weights are integers, because the sum of bigints is
    // a numeric, which takes several times as long. Of a common word fewer documents are added up than read: adding up
    // is most of what is left of the statement's time.
    const FOUND_POSTGRES: &str = found_select!(
        "WITH total AS MATERIALIZED (SELECT COALESCE(SUM(a.documents), 0)::bigint AS documents FROM memory_agents a \
             WHERE a.tenant_id = $1 AND (a.agent = $2 OR $2 IS NULL)), \
         hits AS MATERIALIZED (SELECT w.number, w.worth, CASE WHEN strpos(w.terms, ' ') = 0 \
                 THEN ARRAY(SELECT m.document_id FROM memory_words m \
                     WHERE m.tenant_id = $1 AND m.agent = a.agent AND m.term = w.terms \
                     ORDER BY m.document_id DESC LIMIT $4) \
                 ELSE ARRAY(SELECT DISTINCT h.id FROM unnest(string_to_array(w.terms, ' ')) AS t (term) \
                     CROSS JOIN LATERAL (SELECT m.document_id AS id FROM memory_words m \
                         WHERE m.tenant_id = $1 AND m.agent = a.agent AND m.term = t.term \
                         ORDER BY m.document_id DESC LIMIT $4) h \
                     ORDER BY h.id DESC LIMIT $4) END AS ids \
             FROM unnest($3::text[], $9::double precision[]) WITH ORDINALITY AS w (terms, worth, number) \
             CROSS JOIN memory_agents a WHERE a.tenant_id = $1 AND (a.agent = $2 OR $2 IS NULL)), \
         counts AS (SELECT number, worth, SUM(cardinality(ids)) AS hits FROM hits GROUP BY number, worth), \
         holders AS (SELECT number, worth, t.documents::double precision AS total, \
                 GREATEST(hits, CASE WHEN hits >= $4 THEN t.documents / 2 ELSE 0 END)::double precision AS holders \
             FROM counts CROSS JOIN total t), \
         weights AS MATERIALIZED (SELECT number, CAST(ROUND(1000 * worth * LN(1 \
             + (GREATEST(total, holders) - holders + 0.5) / (holders + 0.5))) AS integer) AS weight FROM holders), \
         best AS MATERIALIZED (SELECT d.id AS document_id, SUM(w.weight) AS score FROM hits h \
             JOIN weights w ON w.number = h.number CROSS JOIN LATERAL unnest( \
                 CASE WHEN cardinality(h.ids) >= $4 THEN h.ids[1:$5] ELSE h.ids END) AS d (id) \
             GROUP BY d.id ORDER BY score DESC, d.id DESC LIMIT $5) ",
        ("$7", "$8"),
        "",
        "SELECT $1 AS tenant_id, b.document_id, ROW_NUMBER() OVER (ORDER BY b.score DESC, b.document_id DESC) AS place \
         FROM best b UNION ALL ",
        at_path!("$5 + 1", "$6"),
        " AND NOT EXISTS (SELECT FROM best b WHERE b.document_id = o.id)"
    );
    const ADD_ROW_SQLITE: &str = "INSERT INTO memory_search_rows (tenant_id, document_id) VALUES ($1, $2) \
         ON CONFLICT (tenant_id, document_id) DO NOTHING";
    const ROW_SQLITE: &str = "SELECT search_id FROM memory_search_rows WHERE tenant_id = $1 AND document_id = $2";
    const INDEX_SQLITE: &str = "INSERT OR REPLACE INTO memory_search (rowid, terms) VALUES ($1, $2)";
    const ADD_SCOPE_SQLITE: &str = "INSERT INTO memory_search_scopes (tenant_id, agent) VALUES ($1, $2) \
         ON CONFLICT (tenant_id, agent) DO NOTHING";
    pub(super) const SCOPES_SQLITE: &str = "SELECT scope_id FROM memory_search_scopes \
         WHERE tenant_id = $1 AND (agent = $2 OR $2 IS NULL) ORDER BY agent";
    const UNINDEX_SQLITE: &str = "DELETE FROM memory_search WHERE rowid = $1";
    const DROP_WORDS_POSTGRES: &str = "DELETE FROM memory_words w USING memory_search m \
         WHERE m.tenant_id = $1 AND m.document_id = $2 AND w.tenant_id = $1 AND w.agent = m.agent AND w.document_id = $2 \
         AND w.term = ANY (tsvector_to_array(m.terms)) AND NOT (w.term = ANY ($3::text[]))";
    const ADD_WORDS_POSTGRES: &str = "INSERT INTO memory_words (tenant_id, agent, term, document_id) \
         SELECT $1, $3, term, $2 FROM unnest($4::text[]) AS term ON CONFLICT DO NOTHING";
    const INDEX_POSTGRES: &str = "INSERT INTO memory_search (tenant_id, document_id, agent, terms) \
         VALUES ($1, $2, $3, array_to_tsvector($4::text[])) \
         ON CONFLICT (tenant_id, document_id) DO UPDATE SET agent = excluded.agent, terms = excluded.terms";
    const UNINDEX_POSTGRES: &str = "DELETE FROM memory_search WHERE tenant_id = $1 AND document_id = $2";
}

/// A document that a search found, with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDocument {
    /// The document at its newest version, without its text.
    pub record: MemoryDocumentRecord,
    /// Text of its newest version.
    pub document: Document,
    /// Whether it comes from the channel of [`Around`].
    pub is_of_channel: bool,
    /// Whether it comes from direct messages of a member on another channel than that of [`Around`].
    pub is_of_others: bool,
}

record! {
    pub(super) struct FoundRow of "memory_documents" {
        id: MemoryDocumentId,
        agent: String,
        path: String,
        version: u64,
        digest: Digest,
        bytes: u64,
        is_deleted: bool,
        created_at: Timestamp,
        updated_at: Timestamp,
        source: Source,
        author: String,
        front_matter: Option<String>,
        body: String,
        place: i64,
        is_of_channel: i64,
        is_of_others: i64,
    }
}

impl From<FoundRow> for FoundDocument {
    fn from(row: FoundRow) -> Self {
        let document = Document { front_matter: row.front_matter, body: row.body };
        let record = MemoryDocumentRecord {
            id: row.id,
            agent: row.agent,
            path: row.path,
            version: row.version,
            digest: row.digest,
            bytes: row.bytes,
            is_deleted: row.is_deleted,
            source: row.source,
            author: row.author,
            created_at: row.created_at,
            updated_at: row.updated_at,
        };
        Self { record, document, is_of_channel: row.is_of_channel != 0, is_of_others: row.is_of_others != 0 }
    }
}

type One<T> = (T,);
type AgentDocuments = (String, i64);

/// How much of the index one search reads.
#[derive(Debug, Clone, Copy)]
pub struct SearchBounds {
    /// Documents of each word and agent that are read, the newest. A word that has so many is common: it tells little,
    /// and is looked for in the newest `found` of them.
    pub documents_of_term: u32,
    /// Documents that are returned.
    pub found: u32,
}

/// What [`search_beside`] adds to the documents that have the words.
#[derive(Debug, Clone, Copy, Default)]
pub struct Around<'a> {
    /// The document of the agent at this path is returned too.
    pub beside: Option<&'a MemoryPath>,
    /// Platform and id of a channel. Each document tells whether it comes from there.
    pub channel: Option<(&'a str, &'a str)>,
}

/// A word as the index has it: behind the number of its agent, so that a search reads entries of that agent only.
///
/// FTS5 splits text at characters that its tables do not know as letters, and what follows could be the word of another
/// agent. A word with other characters than ASCII letters and digits is therefore written as the hexadecimal digits of
/// its bytes.
pub(crate) fn scoped(scope: i64, term: &str) -> String {
    if term.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return format!("{scope}x{term}");
    }
    format!("{scope}u{}", hexadecimal(term))
}

/// The bytes of a word as hexadecimal digits.
pub(crate) fn hexadecimal(term: &str) -> String {
    let mut digits = String::with_capacity(2 * term.len());
    for byte in term.bytes() {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// What is looked for, and what it counts: each word alone, and its other forms together, of which a document needs
/// one.
fn alternatives(words: &[SearchWord]) -> Vec<(Vec<&str>, f64)> {
    let mut all = Vec::with_capacity(words.len());
    for word in words {
        all.push((vec![word.word.as_str()], 1.0));
        if !word.forms.is_empty() {
            all.push((word.forms.iter().map(String::as_str).collect(), FORM_WORTH));
        }
    }
    all
}

/// What [`search_beside`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Documents that have one of the words, best first.
    pub best: Vec<FoundDocument>,
    /// The document that was asked for by its path, unless it is among the best.
    pub beside: Option<FoundDocument>,
}

/// Documents that have one of the words, best first. `agent` bounds the search to the documents of one agent.
pub async fn search(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    words: &[SearchWord],
    bounds: SearchBounds,
) -> Result<Vec<FoundDocument>> {
    Ok(search_beside(conn, tenant_id, agent, words, bounds, Around::default()).await?.best)
}

/// [`search`], and what `around` adds to it. On PostgreSQL it is one statement, because a claim waits for it.
pub async fn search_beside(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    words: &[SearchWord],
    bounds: SearchBounds,
    around: Around<'_>,
) -> Result<Found> {
    if words.is_empty() && around.beside.is_none() {
        return Ok(Found { best: Vec::new(), beside: None });
    }
    let beside = around.beside.map(MemoryPath::folded);
    let (platform, channel) = around.channel.unzip();
    let (of_term, found) = (i64::from(bounds.documents_of_term), i64::from(bounds.found));
    let (best, beside): (Vec<FoundRow>, Vec<FoundRow>) = match conn {
        Conn::Sqlite(c) => {
            let best = best_on_sqlite(c, tenant_id, agent, words, bounds)?;
            let best = c.fetch_all::<FoundRow>(FOUND_SQLITE, &[&tenant_id.0, &best, &agent, &platform, &channel])?;
            let mut at_path = match &beside {
                Some(path) => {
                    let binds: [&dyn rusqlite::ToSql; 5] = [&tenant_id.0, &agent, path, &platform, &channel];
                    c.fetch_all::<FoundRow>(BESIDE_SQLITE, &binds)?
                }
                None => Vec::new(),
            };
            at_path.retain(|row| best.iter().all(|one| one.id != row.id));
            (best, at_path)
        }
        Conn::Postgres(c) => {
            let words = alternatives(words).into_iter().map(|(terms, worth)| (terms.join(" "), worth));
            let (terms, worth): (Vec<String>, Vec<f64>) = words.unzip();
            let query = sqlx::query_as::<_, FoundRow>(FOUND_POSTGRES).bind(tenant_id.0).bind(agent).bind(terms);
            let query = query.bind(of_term).bind(found).bind(beside).bind(platform).bind(channel).bind(worth);
            let rows = query.fetch_all(&mut **c).await?;
            rows.into_iter().partition(|row| row.place <= found)
        }
    };
    Ok(Found {
        best: best.into_iter().map(FoundDocument::from).collect(),
        beside: beside.into_iter().next().map(FoundDocument::from),
    })
}

/// How many documents of an agent have each word. Counting ends at `most`.
pub async fn holders(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    terms: &[String],
    most: u32,
) -> Result<Vec<u32>> {
    let most = i64::from(most);
    let counts: Vec<One<i64>> = match conn {
        Conn::Sqlite(c) => {
            let scope = c.fetch_optional::<One<i64>>(SCOPES_SQLITE, &[&tenant_id.0, &Some(agent)])?;
            let Some((scope,)) = scope else { return Ok(vec![0; terms.len()]) };
            let mut counts = Vec::with_capacity(terms.len());
            for term in terms {
                let query = format!("\"{}\"", scoped(scope, term));
                counts.push(c.fetch_one::<One<i64>>(HOLDERS_SQLITE, &[&query, &most])?);
            }
            counts
        }
        Conn::Postgres(c) => {
            let query = sqlx::query_as(HOLDERS_POSTGRES).bind(tenant_id.0).bind(agent).bind(terms).bind(most);
            query.fetch_all(&mut **c).await?
        }
    };
    Ok(counts.into_iter().map(|(count,)| u32::try_from(count).unwrap_or(u32::MAX)).collect())
}

/// The best documents as a JSON array of their rows in the index.
fn best_on_sqlite(
    c: &mut SqliteConnection,
    tenant_id: TenantId,
    agent: Option<&str>,
    words: &[SearchWord],
    bounds: SearchBounds,
) -> Result<String> {
    let agents = c.fetch_all::<AgentDocuments>(DOCUMENTS_OF_AGENT_SQLITE, &[&tenant_id.0, &agent])?;
    let total: i64 = agents.iter().map(|(_, documents)| *documents).sum();
    let scopes = c.fetch_all::<One<i64>>(SCOPES_SQLITE, &[&tenant_id.0, &agent])?;
    let mut scores: HashMap<i64, i64> = HashMap::new();
    for (terms, worth) in alternatives(words) {
        let (mut hits, mut holders): (Vec<One<i64>>, usize) = (Vec::new(), 0);
        for (scope,) in &scopes {
            let terms: Vec<String> = terms.iter().map(|term| format!("\"{}\"", scoped(*scope, term))).collect();
            let query = terms.join(" OR ");
            let mut of_agent = c.fetch_all::<One<i64>>(HITS_SQLITE, &[&query, &i64::from(bounds.documents_of_term)])?;
            holders += of_agent.len();
            if of_agent.len() >= bounds.documents_of_term as usize {
                of_agent.truncate(bounds.found as usize);
            }
            hits.extend(of_agent);
        }
        let weight = weight((total, holders), bounds.documents_of_term, worth);
        hits.into_iter().for_each(|(row,)| *scores.entry(row).or_default() += weight);
    }
    let mut best: Vec<(i64, i64)> = scores.into_iter().map(|(row, score)| (score, row)).collect();
    best.sort_unstable_by(|one, other| other.cmp(one));
    best.truncate(bounds.found as usize);
    let rows: Vec<i64> = best.into_iter().map(|(_, row)| row).collect();
    serde_json::to_string(&rows).map_err(|why| Error::Database(why.to_string()))
}

/// How much a word tells that `hits` of `total` documents have, in thousandths of its worth. Of a word that was not
/// counted to its end, half of all documents are taken to have it, so that common words do not hide rare ones.
fn weight((total, hits): (i64, usize), counted: u32, worth: f64) -> i64 {
    let hits = i64::try_from(hits).unwrap_or(i64::MAX);
    let holders = if hits >= i64::from(counted) { hits.max(total / 2) } else { hits };
    #[expect(clippy::cast_precision_loss, reason = "a number of documents")]
    let (others, holders) = ((total.max(holders) - holders) as f64, holders as f64);
    #[expect(clippy::cast_possible_truncation, reason = "at most some thousands")]
    let weight = (1_000.0 * worth * (1.0 + (others + 0.5) / (holders + 0.5)).ln()).round() as i64;
    weight
}

/// Indexes a document by its words, in place of those it had.
pub async fn index(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    id: MemoryDocumentId,
    terms: &[String],
) -> Result<()> {
    match tx.conn() {
        Conn::Sqlite(c) => {
            c.execute(ADD_ROW_SQLITE, &[&tenant_id.0, &id.0])?;
            let (row,) = c.fetch_one::<One<i64>>(ROW_SQLITE, &[&tenant_id.0, &id.0])?;
            c.execute(ADD_SCOPE_SQLITE, &[&tenant_id.0, &agent])?;
            let (scope,) = c.fetch_one::<One<i64>>(SCOPES_SQLITE, &[&tenant_id.0, &Some(agent)])?;
            let words: Vec<String> = terms.iter().map(|term| scoped(scope, term)).collect();
            c.execute(INDEX_SQLITE, &[&row, &words.join(" ")])?;
        }
        Conn::Postgres(c) => {
            let words: BTreeSet<&str> = terms.iter().map(String::as_str).collect();
            let words: Vec<&str> = words.into_iter().collect();
            let dropped = sqlx::query(DROP_WORDS_POSTGRES).bind(tenant_id.0).bind(id.0).bind(&words);
            dropped.execute(&mut **c).await?;
            for sql in [ADD_WORDS_POSTGRES, INDEX_POSTGRES] {
                sqlx::query(sql).bind(tenant_id.0).bind(id.0).bind(agent).bind(&words).execute(&mut **c).await?;
            }
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
        Conn::Postgres(c) => {
            let none: &[&str] = &[];
            let dropped = sqlx::query(DROP_WORDS_POSTGRES).bind(tenant_id.0).bind(id.0).bind(none);
            dropped.execute(&mut **c).await?;
            sqlx::query(UNINDEX_POSTGRES).bind(tenant_id.0).bind(id.0).execute(&mut **c).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_index_are_ascii_letters_and_digits() {
        assert_eq!(scoped(12, "tea42"), "12xtea42");
        assert_eq!(scoped(12, "東"), "12ue69db1");
        for term in ["\u{1f150}2xrefund", "\u{1f170}", "\u{1cf2}x", "a b", "\""] {
            assert!(scoped(1, term).bytes().all(|byte| byte.is_ascii_alphanumeric()), "{term}");
        }
    }
}
