//! Searching memory documents.

use super::check_agent;
use crate::{
    Ledger, MemoryDocumentRecord, Result,
    guard::{Fields, require},
    memory_vector::{Meaning, Near},
};
use domain::{
    Scope,
    id::{MemoryDocumentId, TenantId},
    limit::{
        MEMORY_CANDIDATES, MEMORY_FORMS_DOCUMENTS, MEMORY_FOUND_MAX, MEMORY_HOLDERS_MAX, MEMORY_QUERY_CHARS_MAX,
        MEMORY_QUERY_TERMS_MAX, MEMORY_TERM_DOCUMENTS, MEMORY_VECTOR_AGENTS_MAX, MEMORY_VOCABULARY_MAX,
    },
    memory::{Forms, MemoryPath, SearchWord, SearchWords, fuse, query_words, rank, rarest, unheld},
    memory_writer::{select::passages, telling::telling_words},
    role::Permission,
};
use std::collections::HashMap;
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
    // Before the snapshot: a service can take half a second.
    let meaning = ledger.vectors().meaning(query).await;
    let (tenant_id, agent, query) = (scope.tenant_id, agent.map(str::to_owned), query.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        search_on(conn, tenant_id, agent.as_deref(), (&query, meaning.as_ref()), limit).await
    });
    read.await
}

/// Checks the query and the limit of a search. Returns the limit; 0 means the greatest.
fn check_search(query: &str, limit: u32) -> Result<u32> {
    let mut fields = Fields::default();
    fields.text("q", Some(query), MEMORY_QUERY_CHARS_MAX);
    if limit > MEMORY_FOUND_MAX {
        fields.refuse("limit", format!("at most {MEMORY_FOUND_MAX}"));
    }
    fields.check()?;
    Ok(if limit == 0 { MEMORY_FOUND_MAX } else { limit })
}

/// [`search`] on an open connection. Vectors are compared if there is a meaning; in the documents of all agents only if
/// at most [`MEMORY_VECTOR_AGENTS_MAX`] have any.
pub(crate) async fn search_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    (query, meaning): (&str, Option<&Meaning>),
    limit: u32,
) -> Result<Vec<FoundMemory>> {
    let words = with_forms(conn, tenant_id, agent, query, query_words(query)).await?;
    let compared = match (agent, meaning) {
        (_, None) => None,
        (Some(agent), Some(meaning)) => Some((vec![agent.to_owned()], meaning)),
        (None, Some(meaning)) => agents_compared(conn, tenant_id).await?.map(|agents| (agents, meaning)),
    };
    let found: Vec<Joined> = match compared {
        None => {
            let most = (limit, MEMORY_TERM_DOCUMENTS);
            let found = search_part(conn, tenant_id, agent, &words, most, Around::default()).await?;
            found.into_iter().map(|(document, score)| Joined { document, score, nearest: None }).collect()
        }
        Some((agents, meaning)) => {
            let most = (MEMORY_CANDIDATES, MEMORY_TERM_DOCUMENTS);
            // By its rank a document with a common word of the language would count like one about the question.
            let telling = Forms::of_text(query).without_common(&words);
            let found = search_part(conn, tenant_id, agent, &telling, most, Around::default()).await?;
            join(conn, (tenant_id, &agents), meaning, found, limit).await?
        }
    };
    let words = SearchWords::of(&words);
    let found = found.into_iter().map(|Joined { document: found, score, nearest }| {
        let text = found.document.to_text();
        let (line, excerpt) = excerpt(&text, &words, nearest);
        FoundMemory { document: found.record, score, line, excerpt, text }
    });
    Ok(found.collect())
}

/// The agents of a workspace with a memory; `None` if there are too many to compare the vectors of all.
async fn agents_compared(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<Option<Vec<String>>> {
    let before = (tenant_id, String::new());
    let agents = store::memory::agents_after(conn, Some(&before), MEMORY_VECTOR_AGENTS_MAX + 1).await?;
    let agents = agents.into_iter().take_while(|one| one.tenant_id == tenant_id).map(|one| one.agent);
    let agents: Vec<String> = agents.collect();
    Ok((agents.len() <= MEMORY_VECTOR_AGENTS_MAX as usize).then_some(agents))
}

/// A document that was found by words, by meaning, or by both.
struct Joined {
    document: FoundDocument,
    score: f64,
    /// Index of the first line of its nearest passage in the whole text.
    nearest: Option<usize>,
}

/// Joins what was found by words with what is near by meaning, by their ranks. The best `limit` documents.
async fn join(
    conn: &mut Conn<'_>,
    (tenant_id, agents): (TenantId, &[String]),
    meaning: &Meaning,
    by_words: Vec<(FoundDocument, f64)>,
    limit: u32,
) -> Result<Vec<Joined>> {
    let order: Vec<MemoryDocumentId> = by_words.iter().map(|(found, _)| found.record.id).collect();
    let known = by_words.iter().map(|(found, _)| (found.record.id, found.record.version)).collect();
    let most = (2 * limit).clamp(CANDIDATES_MIN, MEMORY_CANDIDATES) as usize;
    let (further, near) = near_beside(conn, (tenant_id, agents), meaning, (&known, None), most).await?;
    let nearest: Vec<MemoryDocumentId> = near.iter().map(|near| near.document_id).collect();
    let all = by_words.into_iter().map(|(found, _)| found).chain(further);
    let mut documents: HashMap<MemoryDocumentId, FoundDocument> = all.map(|found| (found.record.id, found)).collect();
    let joined =
        fuse(&[order.as_slice(), nearest.as_slice()]).into_iter().take(limit as usize).filter_map(|(id, score)| {
            let document = documents.remove(&id)?;
            let near = near.iter().find(|near| near.document_id == id);
            let nearest = near.and_then(|near| line_of(&document, near.passages.first()?.0));
            Some(Joined { document, score, nearest })
        });
    Ok(joined.collect())
}

/// The documents of these agents that are near to a meaning, at most `most`: those that are not known yet, and what is
/// near in all of them, the nearest first. `known` has versions of documents. What has changed since its vectors were
/// made is left out.
pub(crate) async fn near_beside(
    conn: &mut Conn<'_>,
    (tenant_id, agents): (TenantId, &[String]),
    meaning: &Meaning,
    (known, channel): (&HashMap<MemoryDocumentId, u64>, Option<(&str, &str)>),
    most: usize,
) -> Result<(Vec<FoundDocument>, Vec<Near>)> {
    let mut near = Vec::new();
    for agent in agents {
        near.extend(meaning.near(conn, tenant_id, agent).await?);
    }
    // Stable: those of one agent are in their order.
    near.sort_by(|one, other| other.nearest().total_cmp(&one.nearest()));
    near.truncate(most);
    let ids = near.iter().map(|one| one.document_id).filter(|id| !known.contains_key(id));
    let ids: Vec<MemoryDocumentId> = ids.collect();
    let mut further = store::memory::found_by_id(conn, tenant_id, &ids, channel).await?;
    let versions: HashMap<MemoryDocumentId, u64> =
        further.iter().map(|one| (one.record.id, one.record.version)).collect();
    let version_of = |id: &MemoryDocumentId| known.get(id).or_else(|| versions.get(id));
    near.retain(|one| version_of(&one.document_id) == Some(&one.version));
    further.retain(|found| near.iter().any(|near| near.document_id == found.record.id));
    Ok((further, near))
}

/// Index of the first line of a passage in the whole text of its document.
fn line_of(found: &FoundDocument, passage: usize) -> Option<usize> {
    let before = found.document.to_text().lines().count() - found.document.body.lines().count();
    passages(&found.document.body).get(passage).map(|passage| before + passage.line)
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
    let (words, _) = chosen(conn, tenant_id, agent, query_words(text)).await?;
    Ok(words.iter().map(|word| word.as_str().into()).collect())
}

/// The words of a message to which an agent is given memories, of [`telling_words`], with their other forms.
pub(crate) async fn telling_words_and_forms_of(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    message: &str,
) -> Result<Vec<SearchWord>> {
    with_forms(conn, tenant_id, Some(agent), message, telling_words(message)).await
}

/// Those of these words of a text that are looked for, as [`words_of`] chooses them, with the other forms that
/// documents have. Of many words, those that no document has are looked for too if documents have another form of them.
async fn with_forms(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    text: &str,
    words: Vec<String>,
) -> Result<Vec<SearchWord>> {
    let (words, unheld) = chosen(conn, tenant_id, agent, words).await?;
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

/// Those of these words that are looked for, and those of many that no document has.
async fn chosen(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    mut words: Vec<String>,
) -> Result<(Vec<String>, Vec<String>)> {
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

/// [`search_on`] for the words of [`words_of`] or [`telling_words_and_forms_of`]. It reads at most so many documents of
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

/// The line with most of the words, and its number. Of equal lines the first. Other forms of a word count less. If no
/// line has any, the line with the index `nearest`.
pub(super) fn excerpt(text: &str, words: &SearchWords<'_>, nearest: Option<usize>) -> (usize, String) {
    let nearest = nearest.and_then(|at| Some((0.0, at, text.lines().nth(at)?)));
    let mut best = nearest.unwrap_or((0.0, 0, ""));
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
