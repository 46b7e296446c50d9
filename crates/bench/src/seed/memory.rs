//! Memory documents in bulk, as the server would have written them: words of a language in which few are common, as in
//! any other.

use crate::ids::{Ids, now_micros};
use anyhow::Result;
use rusqlite::{Connection, params};
use sqlx::{Connection as _, PgConnection};
use std::{collections::BTreeSet, path::Path};
use uuid::Uuid;

/// Documents of one transaction.
const CHUNK: usize = 5_000;
/// Words of the language; the word of rank `n` is about `1 / n` as frequent as the first.
const WORDS: usize = 30_000;
/// Length of a document, about as long as a note of a conversation.
const DOCUMENT_WORDS: usize = 60;
/// Words that every document has: six of the commonest of English.
const COMMON: &str = "and in is of that the";
const COMMON_WORDS: usize = 6;
const DIGEST: [u8; 32] = [7; 32];

const TENANT_SQLITE: &str = "SELECT id FROM tenants LIMIT 1";
const AGENT_SQLITE: &str = "INSERT INTO memory_agents (tenant_id, agent, documents, bytes, created_at, updated_at) \
     VALUES (?, ?, ?, ?, ?5, ?5)";
const DOCUMENT_SQLITE: &str = "INSERT INTO memory_documents (tenant_id, id, agent, path, path_folded, version, digest, bytes, \
     is_deleted, created_at, updated_at) VALUES (?, ?, ?, ?4, ?4, 1, ?5, ?6, 0, ?7, ?7)";
const VERSION_SQLITE: &str = "INSERT INTO memory_versions (tenant_id, document_id, version, id, agent, path, operation, body, digest, \
     source, author, reason, evidence, created_at) VALUES (?, ?, 1, ?, ?, ?, 'created', ?, ?, 'import', 'system', '', '[]', ?)";
const ROW_SQLITE: &str = "INSERT INTO memory_search_rows (tenant_id, document_id) VALUES (?, ?) RETURNING search_id";
const SCOPE_SQLITE: &str = "INSERT INTO memory_search_scopes (tenant_id, agent) VALUES (?, ?) RETURNING scope_id";
const WORDS_SQLITE: &str = "INSERT INTO memory_search (rowid, terms) VALUES (?, ?)";

const TENANT_POSTGRES: &str = "SELECT id FROM tenants LIMIT 1";
const AGENT_POSTGRES: &str = "INSERT INTO memory_agents (tenant_id, agent, documents, bytes, created_at, updated_at) \
     VALUES ($1, $2, $3, $4, $5, $5)";
const DOCUMENTS_POSTGRES: &str = "INSERT INTO memory_documents (tenant_id, id, agent, path, path_folded, version, digest, bytes, \
     is_deleted, created_at, updated_at) SELECT $1, d.id, $2, d.path, d.path, 1, $3, length(d.body), 0, $4, $4 \
     FROM UNNEST($5::uuid[], $6::text[], $7::text[]) AS d (id, path, body)";
const VERSIONS_POSTGRES: &str = "INSERT INTO memory_versions (tenant_id, document_id, version, id, agent, path, operation, body, \
     digest, source, author, reason, evidence, created_at) \
     SELECT $1, d.id, 1, gen_random_uuid(), $2, d.path, 'created', d.body, $3, 'import', 'system', '', '[]', $4 \
     FROM UNNEST($5::uuid[], $6::text[], $7::text[]) AS d (id, path, body)";
const LISTS_POSTGRES: &str = "INSERT INTO memory_search (tenant_id, document_id, agent, terms) \
     SELECT $1, d.id, $2, array_to_tsvector(string_to_array(d.terms, ' ')) FROM UNNEST($3::uuid[], $4::text[]) AS d (id, terms)";
const WORDS_POSTGRES: &str = "INSERT INTO memory_words (tenant_id, agent, term, document_id) \
     SELECT $1, $2, term, d.id FROM UNNEST($3::uuid[], $4::text[]) AS d (id, terms), \
     unnest(string_to_array(d.terms, ' ')) AS term";
// What autovacuum does after so many inserts. Without it each entry of an index is looked up in its table, and the
// planner takes the terms for so costly that it plans every search anew.
const VACUUM: [&str; 4] = [
    "VACUUM (ANALYZE) memory_agents",
    "VACUUM (ANALYZE) memory_documents",
    "VACUUM (ANALYZE) memory_versions",
    "VACUUM (ANALYZE) memory_words",
];

/// The words of the language and how they are drawn.
pub struct Language {
    random: fastrand::Rng,
    /// Sums of the frequencies up to each word.
    sums: Vec<f64>,
}

impl Language {
    /// The same language for the same seed.
    pub fn new(seed: u64) -> Self {
        let mut sum = 0.0;
        let sums = (1..=WORDS).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        Self { sums: sums.collect(), random: fastrand::Rng::with_seed(seed) }
    }

    /// A word, common ones more often. Its letters say its rank and nothing else.
    pub fn word(&mut self) -> String {
        let at = self.random.f64() * self.sums.last().copied().unwrap_or_default();
        spelled(self.sums.partition_point(|sum| *sum < at))
    }

    /// What someone might ask: 2 to 10 words.
    pub fn question(&mut self) -> String {
        let words = self.random.usize(2..=10);
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    /// A question in sentences: 6 words between those that every document has.
    pub fn sentences(&mut self) -> String {
        let [one, two, three, four, five, six] = std::array::from_fn(|_| self.word());
        format!("Is the {one} of the {two} in {three}? That is the {four}, and {five} of {six}.")
    }

    fn body(&mut self) -> String {
        let mut line = |count: usize| (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ");
        let (title, first, heading) = (line(2), line(20 - COMMON_WORDS), line(1));
        let (second, third) = (line(15), line(DOCUMENT_WORDS - 38));
        format!("# {title}\n\n{COMMON} {first}\n\n## {heading}\n\n- {second}\n- {third}\n")
    }
}

fn spelled(mut rank: usize) -> String {
    let mut word = String::from("w");
    loop {
        word.push_str(["ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu"][rank % 10]);
        rank /= 10;
        if rank == 0 {
            return word;
        }
    }
}

struct Document {
    id: Uuid,
    path: String,
    body: String,
    /// Distinct words of path and body, separated by spaces.
    terms: String,
}

fn documents(count: usize) -> impl Iterator<Item = Document> {
    let (mut language, mut ids) = (Language::new(7), Ids::new());
    (0..count).map(move |number| {
        let (path, body) = (format!("topics/d{number}.md"), language.body());
        let words = format!("{path} {body}");
        let words: BTreeSet<&str> =
            words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let terms = words.into_iter().collect::<Vec<_>>().join(" ");
        Document { id: ids.next(), path, body, terms }
    })
}

/// Gives an agent this many documents, in the data directory of a stopped server.
pub fn sqlite(data_dir: &Path, agent: &str, count: usize) -> Result<()> {
    let connection = Connection::open(data_dir.join("shiftbook.sqlite3"))?;
    connection.pragma_update(None, "synchronous", "off")?;
    connection.pragma_update(None, "cache_size", -524_288)?;
    let tenant: [u8; 16] = connection.query_row(TENANT_SQLITE, [], |row| row.get(0))?;
    let scope: i64 = connection.query_row(SCOPE_SQLITE, params![tenant, agent], |row| row.get(0))?;
    let now = now_micros();
    connection
        .execute(AGENT_SQLITE, params![tenant, agent, i64::try_from(count)?, i64::try_from(count * 300)?, now])?;
    let mut all = documents(count).peekable();
    let mut ids = Ids::new();
    while all.peek().is_some() {
        connection.execute_batch("BEGIN")?;
        for document in all.by_ref().take(CHUNK) {
            let Document { id, path, body, terms } = document;
            let (id, version) = (*id.as_bytes(), *ids.next().as_bytes());
            let bytes = i64::try_from(body.len())?;
            let mut insert = connection.prepare_cached(DOCUMENT_SQLITE)?;
            insert.execute(params![tenant, id, agent, path, DIGEST, bytes, now])?;
            let mut insert = connection.prepare_cached(VERSION_SQLITE)?;
            insert.execute(params![tenant, id, version, agent, path, body, DIGEST, now])?;
            let row: i64 = connection.prepare_cached(ROW_SQLITE)?.query_row(params![tenant, id], |row| row.get(0))?;
            let scoped: Vec<String> = terms.split(' ').map(|term| format!("{scope}x{term}")).collect();
            connection.prepare_cached(WORDS_SQLITE)?.execute(params![row, scoped.join(" ")])?;
        }
        connection.execute_batch("COMMIT")?;
    }
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

/// Gives an agent this many documents, in a server's PostgreSQL database.
pub async fn postgres(url: &str, agent: &str, count: usize) -> Result<()> {
    let mut connection = PgConnection::connect(url).await?;
    let tenant: Uuid = sqlx::query_scalar(TENANT_POSTGRES).fetch_one(&mut connection).await?;
    let now = now_micros();
    let (total, bytes) = (i64::try_from(count)?, i64::try_from(count * 300)?);
    let insert = sqlx::query(AGENT_POSTGRES).bind(tenant).bind(agent).bind(total).bind(bytes).bind(now);
    insert.execute(&mut connection).await?;
    let mut all = documents(count).peekable();
    while all.peek().is_some() {
        let chunk: Vec<Document> = all.by_ref().take(CHUNK).collect();
        let ids: Vec<Uuid> = chunk.iter().map(|document| document.id).collect();
        let paths: Vec<&str> = chunk.iter().map(|document| document.path.as_str()).collect();
        let bodies: Vec<&str> = chunk.iter().map(|document| document.body.as_str()).collect();
        let terms: Vec<&str> = chunk.iter().map(|document| document.terms.as_str()).collect();
        for sql in [DOCUMENTS_POSTGRES, VERSIONS_POSTGRES] {
            let insert = sqlx::query(sql).bind(tenant).bind(agent).bind(DIGEST.to_vec()).bind(now);
            insert.bind(&ids).bind(&paths).bind(&bodies).execute(&mut connection).await?;
        }
        for sql in [LISTS_POSTGRES, WORDS_POSTGRES] {
            sqlx::query(sql).bind(tenant).bind(agent).bind(&ids).bind(&terms).execute(&mut connection).await?;
        }
    }
    for sql in VACUUM {
        sqlx::query(sql).execute(&mut connection).await?;
    }
    connection.close().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_words_are_common_and_documents_are_distinct() {
        let mut language = Language::new(1);
        let drawn: Vec<String> = (0..10_000).map(|_| language.word()).collect();
        let first = drawn.iter().filter(|word| **word == spelled(0)).count();
        assert!((500..1_500).contains(&first), "{first}");
        assert!(drawn.iter().collect::<BTreeSet<_>>().len() > 2_000);
        let made: Vec<Document> = documents(3).collect();
        assert_ne!(made[0].body, made[1].body);
        assert!(made[2].terms.split(' ').any(|word| word == "d2"));
        assert_eq!(COMMON.split(' ').count(), COMMON_WORDS);
        let is_in_all = |word: &str| made.iter().all(|one| one.terms.split(' ').any(|term| term == word));
        assert!(COMMON.split(' ').all(is_in_all));
    }
}
