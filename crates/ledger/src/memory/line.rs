//! Search lines of the pages of memories: conditions on the path, and words that are looked for as by [`search_on`].

use super::{
    FoundMemory,
    search::{excerpt, search_on},
};
use crate::{
    Ledger, Result,
    list_line::{contains, has, list_line},
    memory_vector::Meaning,
};
use domain::{
    id::{MemoryDocumentId, TenantId},
    limit::MEMORY_FOUND_MAX,
    memory::{SearchWord, SearchWords},
    search::{Condition, Field, Test},
};
use std::slice;
use store::{Conn, session::Contains};

/// What a line asks for of memory documents.
#[derive(Debug)]
pub(crate) struct MemorySearch {
    /// Parts of the path.
    paths: Contains,
    /// Phrases that the path or the text has, and texts that neither has.
    texts: Contains,
    /// The words that are looked for; empty without any.
    words: String,
    /// What the words mean, if vectors are made.
    meaning: Option<Meaning>,
}

impl MemorySearch {
    /// Reads a line. A service that makes vectors can take half a second, so it is called before a snapshot.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] with the place at which it is none.
    pub(crate) async fn of(ledger: &Ledger, text: &str) -> Result<Self> {
        let line = list_line(Some(text), &Field::OF_DOCUMENTS)?;
        let (mut paths, mut texts, mut words) = (Contains::default(), Contains::default(), Vec::new());
        for word in &line.words {
            if word.is_excluded || word.is_quoted {
                contains(&mut texts, word.is_excluded, slice::from_ref(&word.text));
            }
            if !word.is_excluded {
                words.push(word.text.as_str());
            }
        }
        for Condition { is_excluded, test } in &line.conditions {
            // The line has no other fields.
            if let Test::Title(parts) = test {
                contains(&mut paths, *is_excluded, parts);
            }
        }
        let words = words.join(" ");
        let meaning = if words.is_empty() { None } else { ledger.vectors().meaning(&words).await };
        Ok(Self { paths, texts, words, meaning })
    }

    fn keeps(&self, found: &FoundMemory) -> bool {
        let path = &found.document.path;
        has(&self.paths, path) && has(&self.texts, &format!("{path}\n{}", found.text))
    }
}

/// Searches the documents of an agent, or of all agents of the workspace. The best are first, or without words those
/// with the first path. Of these the first [`MEMORY_FOUND_MAX`] are compared with phrases and with what is excluded.
pub(crate) async fn find_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    search: &MemorySearch,
) -> Result<Vec<FoundMemory>> {
    let mut found = if search.words.is_empty() {
        by_path_on(conn, tenant_id, agent, &search.paths).await?
    } else {
        search_on(conn, tenant_id, agent, (&search.words, search.meaning.as_ref()), MEMORY_FOUND_MAX).await?
    };
    found.retain(|found| search.keeps(found));
    Ok(found)
}

/// The documents with these parts in the path, with the first line of each.
async fn by_path_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    paths: &Contains,
) -> Result<Vec<FoundMemory>> {
    let listed = store::memory::with_path(conn, tenant_id, agent, paths, MEMORY_FOUND_MAX).await?;
    let ids: Vec<MemoryDocumentId> = listed.iter().map(|document| document.id).collect();
    let found = store::memory::found_by_id(conn, tenant_id, &ids, None).await?;
    let no_words: [SearchWord; 0] = [];
    let words = SearchWords::of(&no_words);
    let found = found.into_iter().map(|found| {
        let text = found.document.to_text();
        let (line, excerpt) = excerpt(&text, &words, None);
        FoundMemory { document: found.record, score: 0.0, line, excerpt, text }
    });
    Ok(found.collect())
}
