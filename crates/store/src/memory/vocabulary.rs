//! The words that the documents of an agent have, by their beginnings. Nothing is kept for this: PostgreSQL reads
//! `memory_words`, SQLite the entries of its full-text index through the virtual table `memory_search_terms`.
//!
//! PostgreSQL has a row for each word and document. It reads the first row of each word and skips the others. Comparing
//! texts is leakproof, so row-level security lets it use the index for this.

use super::search::{HOLDERS_SQLITE, SCOPES_SQLITE, hexadecimal, scoped};
use crate::engine::{Conn, Result, SqliteConnection, statements};
use domain::{id::TenantId, memory::Prefixed};
use std::collections::BTreeSet;

macro_rules! first_word {
    ($agent:literal, $after:literal, $prefix:literal) => {
        concat!(
            "(SELECT m.term FROM memory_words m WHERE m.tenant_id = $1 AND m.agent = ",
            $agent,
            " AND m.term ",
            $after,
            " AND m.term < ",
            $prefix,
            " || U&'\\+10FFFF' ORDER BY m.term LIMIT 1)"
        )
    };
}
statements! {
    const WORDS_SQLITE: &str = "SELECT term FROM memory_search_terms WHERE term >= $1 AND term < $2 ORDER BY term LIMIT $3";
    const WORDS_POSTGRES: &str = concat!(
        "WITH RECURSIVE found (prefix, agent, term, number) AS (SELECT p.prefix, a.agent, ",
        first_word!("a.agent", ">= p.prefix", "p.prefix"),
        ", 1 FROM unnest($3::text[], $4::text[]) AS p (word, prefix) CROSS JOIN memory_agents a \
             WHERE a.tenant_id = $1 AND (a.agent = $2 OR $2 IS NULL) \
             AND (SELECT COUNT(*) FROM (SELECT FROM memory_words m WHERE m.tenant_id = $1 AND m.agent = a.agent \
                 AND m.term = p.word LIMIT $6) h) < $6 \
         UNION ALL SELECT f.prefix, f.agent, ",
        first_word!("f.agent", "> f.term", "f.prefix"),
        ", f.number + 1 FROM found f WHERE f.term IS NOT NULL AND f.number < $5) \
         SELECT DISTINCT term FROM found WHERE term IS NOT NULL"
    );
}

/// How much one word of a search makes [`vocabulary`] read.
#[derive(Debug, Clone, Copy)]
pub struct VocabularyBounds {
    /// Words of an agent that are read, the first in the order of their bytes.
    pub words: u32,
    /// Documents of an agent that have the word of the search, at which nothing is read.
    pub holders: u32,
}

/// The words of one agent's documents, or of all agents of the workspace, that begin as the forms of these words do.
/// Each word is returned once.
pub async fn vocabulary(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    of: &[Prefixed],
    bounds: VocabularyBounds,
) -> Result<Vec<String>> {
    if of.is_empty() {
        return Ok(Vec::new());
    }
    let words = match conn {
        Conn::Sqlite(c) => words_on_sqlite(c, tenant_id, agent, of, bounds)?,
        Conn::Postgres(c) => {
            let (words, prefixes): (Vec<&str>, Vec<&str>) =
                of.iter().map(|one| (one.word.as_str(), one.prefix.as_str())).unzip();
            let query = sqlx::query_as(WORDS_POSTGRES).bind(tenant_id.0).bind(agent).bind(words).bind(prefixes);
            let query = query.bind(i64::from(bounds.words)).bind(i64::from(bounds.holders));
            let words: Vec<(String,)> = query.fetch_all(&mut **c).await?;
            words.into_iter().map(|(word,)| word).collect()
        }
    };
    Ok(words.into_iter().collect())
}

fn words_on_sqlite(
    c: &mut SqliteConnection,
    tenant_id: TenantId,
    agent: Option<&str>,
    of: &[Prefixed],
    bounds: VocabularyBounds,
) -> Result<BTreeSet<String>> {
    let mut words = BTreeSet::new();
    for (scope,) in c.fetch_all::<(i64,)>(SCOPES_SQLITE, &[&tenant_id.0, &agent])? {
        for Prefixed { word, prefix } in of {
            let query = format!("\"{}\"", scoped(scope, word));
            let (holders,) = c.fetch_one::<(i64,)>(HOLDERS_SQLITE, &[&query, &i64::from(bounds.holders)])?;
            if holders < i64::from(bounds.holders) {
                words.extend(of_prefix(c, scope, prefix, bounds.words)?);
            }
        }
    }
    Ok(words)
}

/// The first `most` words of an agent that begin with these letters. A word is written as hexadecimal digits if any of
/// its letters is none of ASCII, so words that begin with ASCII letters are written in two ways.
fn of_prefix(c: &mut SqliteConnection, scope: i64, prefix: &str, most: u32) -> Result<Vec<String>> {
    let mut words = BTreeSet::new();
    let plain = prefix.is_ascii().then(|| (format!("{scope}x"), prefix.to_owned()));
    for (start, beginning) in plain.into_iter().chain([(format!("{scope}u"), hexadecimal(prefix))]) {
        let from = format!("{start}{beginning}");
        // After all letters and digits.
        let to = format!("{from}~");
        let found = c.fetch_all::<(String,)>(WORDS_SQLITE, &[&from, &to, &i64::from(most)])?;
        words.extend(found.iter().filter_map(|(word,)| {
            let word = word.strip_prefix(&start)?;
            if start.ends_with('x') { Some(word.to_owned()) } else { from_hexadecimal(word) }
        }));
    }
    Ok(words.into_iter().take(most as usize).collect())
}

/// The word that [`hexadecimal`] has written.
fn from_hexadecimal(digits: &str) -> Option<String> {
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_were_written() {
        for word in ["straße", "東", "новая", "\u{1f150}2x"] {
            assert_eq!(from_hexadecimal(&hexadecimal(word)).as_deref(), Some(word));
        }
        for word in ["e", "é9", "ff", "zz"] {
            assert_eq!(from_hexadecimal(word), None);
        }
    }
}
