//! Searching memory documents.

use super::check_agent;
use crate::{
    Ledger, MemoryDocumentRecord, Result,
    guard::{Fields, require},
};
use domain::{
    Scope,
    id::TenantId,
    limit::{
        MEMORY_CANDIDATES, MEMORY_FOUND_MAX, MEMORY_QUERY_CHARS_MAX, MEMORY_QUERY_TERMS_MAX, MEMORY_TERM_DOCUMENTS,
    },
    memory::{rank, terms},
    role::Permission,
};
use std::collections::BTreeSet;
use store::{Conn, memory::SearchBounds};

/// Longest excerpt of a document, characters.
const EXCERPT_CHARS: usize = 240;
/// Fewest documents that are ordered, however few are wanted.
const CANDIDATES_MIN: u32 = 40;

/// A document that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundMemory {
    /// At its newest version.
    pub document: MemoryDocumentRecord,
    /// Its score, to be compared within one search.
    pub score: f64,
    /// Number of the line that has most of the words, from 1.
    pub line: usize,
    /// That line, shortened.
    pub excerpt: String,
    /// The whole text.
    pub text: String,
}

/// Searches the documents of an agent, or of all agents of the workspace. The best are first.
///
/// # Errors
/// [`crate::Error::Invalid`] for a query that is too long.
pub async fn search(
    ledger: &Ledger,
    scope: &Scope,
    agent: Option<&str>,
    query: &str,
    limit: u32,
) -> Result<Vec<FoundMemory>> {
    require(scope, Permission::Read)?;
    agent.map(check_agent).transpose()?;
    let mut fields = Fields::default();
    fields.text("q", Some(query), MEMORY_QUERY_CHARS_MAX);
    if limit > MEMORY_FOUND_MAX {
        fields.refuse("limit", format!("at most {MEMORY_FOUND_MAX}"));
    }
    fields.check()?;
    let limit = if limit == 0 { MEMORY_FOUND_MAX } else { limit };
    let (tenant_id, agent, query) = (scope.tenant_id, agent.map(str::to_owned), query.to_owned());
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move { search_on(conn, tenant_id, agent.as_deref(), &query, limit).await })
    });
    read.await
}

/// [`search`] on an open connection.
pub async fn search_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    query: &str,
    limit: u32,
) -> Result<Vec<FoundMemory>> {
    search_part(conn, tenant_id, agent, query, (limit, MEMORY_TERM_DOCUMENTS)).await
}

/// [`search_on`] that reads at most so many documents of each word.
pub(crate) async fn search_part(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    query: &str,
    (limit, documents_of_term): (u32, u32),
) -> Result<Vec<FoundMemory>> {
    let mut seen = BTreeSet::new();
    let words = terms(query).into_iter().filter(|word| seen.insert(word.clone())).take(MEMORY_QUERY_TERMS_MAX);
    let words: Vec<String> = words.collect();
    let candidates = (2 * limit).clamp(CANDIDATES_MIN, MEMORY_CANDIDATES);
    let bounds = SearchBounds { documents_of_term, found: candidates };
    let found = store::memory::search(conn, tenant_id, agent, &words, bounds).await?;
    let texts: Vec<String> = found.iter().map(|one| one.document.to_text()).collect();
    let candidates: Vec<(&str, &str)> =
        found.iter().zip(&texts).map(|(one, text)| (one.record.path.as_str(), text.as_str())).collect();
    let ranked = rank(query, &candidates).into_iter().take(limit as usize).map(|ranked| {
        let (line, excerpt) = excerpt(&texts[ranked.at], &words);
        let document = found[ranked.at].record.clone();
        FoundMemory { document, score: ranked.score, line, excerpt, text: texts[ranked.at].clone() }
    });
    Ok(ranked.collect())
}

/// The line with most of the words, and its number. Of equal lines the first.
fn excerpt(text: &str, words: &[String]) -> (usize, String) {
    let score = |line: &str| {
        let here: BTreeSet<String> = terms(line).into_iter().collect();
        words.iter().filter(|word| here.contains(*word)).count()
    };
    let mut best = (0, 0, "");
    for (at, line) in text.lines().enumerate() {
        let count = score(line);
        if count > best.0 || (best.2.is_empty() && !line.trim().is_empty()) {
            best = (count, at, line);
        }
    }
    let line = best.2.trim();
    let cut: String = line.chars().take(EXCERPT_CHARS).collect();
    (best.1 + 1, if cut.len() < line.len() { format!("{cut}…") } else { cut })
}
