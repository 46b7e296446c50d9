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
        MEMORY_CANDIDATES, MEMORY_FORMS_DOCUMENTS, MEMORY_FOUND_MAX, MEMORY_HOLDERS_MAX, MEMORY_QUERY_CHARS_MAX,
        MEMORY_QUERY_TERMS_MAX, MEMORY_TERM_DOCUMENTS, MEMORY_VOCABULARY_MAX,
    },
    memory::{Forms, MemoryPath, SearchWord, SearchWords, query_words, rank, rarest, unheld},
    role::Permission,
};
use store::{
    Conn,
    memory::{Around, Found, FoundDocument, SearchBounds, VocabularyBounds},
};

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
    /// Text of that line, cut after 240 characters.
    pub excerpt: String,
    /// The whole text.
    pub text: String,
}

/// Searches the documents of an agent, or of all agents of the workspace. The best are first.
///
/// # Errors
/// [`crate::Error::NotFound`] if `agent` is not a slug; [`crate::Error::Invalid`] for a query that is too long or a
/// `limit` above [`MEMORY_FOUND_MAX`].
pub async fn search(
    ledger: &Ledger,
    scope: &Scope,
    agent: Option<&str>,
    query: &str,
    limit: u32,
) -> Result<Vec<FoundMemory>> {
    require(scope, Permission::Read)?;
    agent.map(check_agent).transpose()?;
    let limit = check_search(query, limit)?;
    let (tenant_id, agent, query) = (scope.tenant_id, agent.map(str::to_owned), query.to_owned());
    let read =
        ledger.snapshot(scope, async move |conn| search_on(conn, tenant_id, agent.as_deref(), &query, limit).await);
    read.await
}

/// Checks the query and the limit of a search. Returns the limit; 0 means the greatest.
pub(crate) fn check_search(query: &str, limit: u32) -> Result<u32> {
    let mut fields = Fields::default();
    fields.text("q", Some(query), MEMORY_QUERY_CHARS_MAX);
    if limit > MEMORY_FOUND_MAX {
        fields.refuse("limit", format!("at most {MEMORY_FOUND_MAX}"));
    }
    fields.check()?;
    Ok(if limit == 0 { MEMORY_FOUND_MAX } else { limit })
}

/// [`search`] on an open connection.
pub async fn search_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    query: &str,
    limit: u32,
) -> Result<Vec<FoundMemory>> {
    let words = words_and_forms_of(conn, tenant_id, agent, query).await?;
    let found = search_part(conn, tenant_id, agent, &words, (limit, MEMORY_TERM_DOCUMENTS), Around::default()).await?;
    let words = SearchWords::of(&words);
    let found = found.into_iter().map(|(found, score)| {
        let text = found.document.to_text();
        let (line, excerpt) = excerpt(&text, &words);
        FoundMemory { document: found.record, score, line, excerpt, text }
    });
    Ok(found.collect())
}

/// The words of a text that are looked for, each once, without other forms. Of many words, those that the fewest
/// documents of the agent have. Over all agents documents are not counted, which would be done for each agent: the
/// longest words count.
pub(crate) async fn words_of(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    text: &str,
) -> Result<Vec<SearchWord>> {
    let (words, _) = chosen(conn, tenant_id, agent, text).await?;
    Ok(words.iter().map(|word| word.as_str().into()).collect())
}

/// [`words_of`], with the other forms of these words that documents have. Of many words, those that no document has are
/// looked for too if documents have another form of them.
pub(crate) async fn words_and_forms_of(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    text: &str,
) -> Result<Vec<SearchWord>> {
    let (words, unheld) = chosen(conn, tenant_id, agent, text).await?;
    let held = words.len();
    let words = [words, unheld].concat();
    let forms = Forms::of_text(text);
    let bounds = VocabularyBounds { words: MEMORY_VOCABULARY_MAX, holders: MEMORY_FORMS_DOCUMENTS };
    let vocabulary = store::memory::vocabulary(conn, tenant_id, agent, &forms.prefixes(&words), bounds).await?;
    let mut words = forms.group(words, &vocabulary);
    let without_documents = words.split_off(held);
    words.extend(without_documents.into_iter().filter(|word| !word.forms.is_empty()));
    Ok(words)
}

/// The words of a text that are looked for, and those of a long text that no document has.
async fn chosen(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    text: &str,
) -> Result<(Vec<String>, Vec<String>)> {
    let mut words = query_words(text);
    match agent {
        Some(agent) if words.len() > MEMORY_QUERY_TERMS_MAX => {
            let holders = store::memory::holders(conn, tenant_id, agent, &words, MEMORY_HOLDERS_MAX).await?;
            let unheld = unheld(&words, &holders);
            Ok((rarest(words, &holders), unheld))
        }
        _ => {
            words.truncate(MEMORY_QUERY_TERMS_MAX);
            Ok((words, Vec::new()))
        }
    }
}

/// [`search_on`] for the words of [`words_of`] or [`words_and_forms_of`]. It reads at most so many documents of
/// each word, and says of each document only its score. The document that `around` asks for is the last one, with
/// the score 0, if there is one and it was not found.
pub(crate) async fn search_part(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    words: &[SearchWord],
    (limit, documents_of_term): (u32, u32),
    around: Around<'_>,
) -> Result<Vec<(FoundDocument, f64)>> {
    let bounds = SearchBounds { documents_of_term, found: (2 * limit).clamp(CANDIDATES_MIN, MEMORY_CANDIDATES) };
    let Found { best, beside: other } =
        store::memory::search_beside(conn, tenant_id, agent, words, bounds, around).await?;
    let texts: Vec<String> = best.iter().map(|one| one.document.to_text()).collect();
    let candidates: Vec<(&str, &str)> =
        best.iter().zip(&texts).map(|(one, text)| (one.record.path.as_str(), text.as_str())).collect();
    let ranked = rank(words, &candidates);
    let mut best: Vec<Option<FoundDocument>> = best.into_iter().map(Some).collect();
    let mut found: Vec<(FoundDocument, f64)> = ranked
        .into_iter()
        .take(limit as usize)
        .filter_map(|ranked| Some((best[ranked.at].take()?, ranked.score)))
        .collect();
    // What is left was not good enough for a place of its own.
    let folded = around.beside.map(MemoryPath::folded);
    let is_beside =
        |one: &FoundDocument| MemoryPath::parse(&one.record.path).is_ok_and(|at| Some(at.folded()) == folded);
    found.extend(other.or_else(|| best.into_iter().flatten().find(is_beside)).map(|document| (document, 0.0)));
    Ok(found)
}

/// The line with most of the words, and its number. Of equal lines the first. Other forms of a word count less.
fn excerpt(text: &str, words: &SearchWords<'_>) -> (usize, String) {
    let mut best = (0.0, 0, "");
    for (at, line) in text.lines().enumerate() {
        let worth = words.worth_in(line);
        if worth > best.0 || (best.2.is_empty() && !line.trim().is_empty()) {
            best = (worth, at, line);
        }
    }
    let line = best.2.trim();
    let cut: String = line.chars().take(EXCERPT_CHARS).collect();
    (best.1 + 1, if cut.len() < line.len() { format!("{cut}…") } else { cut })
}
